"""A server by grpcio with switchboard.testing.Kinds, health and reflection (v1alpha): kinds_peer.py PROTOS. Prints its port, and
ends with its standard input.
"""

import importlib
import os
import sys
import tempfile
import threading
from concurrent import futures

import grpc
import grpc_tools
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from grpc_tools import protoc


def generated(protos, folder):
    bundled = os.path.join(os.path.dirname(grpc_tools.__file__), "_proto")
    # Its options are those of googleapis-common-protos, which the health service has imported.
    files = ["testing/kinds_service.proto", "testing/all_kinds_2.proto", "testing/all_kinds_3.proto"]
    words = ["protoc", f"-I{protos}", f"-I{bundled}", f"--python_out={folder}", f"--grpc_python_out={folder}", *files]
    if protoc.main(words) != 0:
        raise SystemExit("protoc failed")
    sys.path.insert(0, folder)
    return importlib.import_module("testing.kinds_service_pb2"), importlib.import_module("testing.kinds_service_pb2_grpc")


def kinds(messages, stubs):
    class Kinds(stubs.KindsServicer):
        def EchoThree(self, request, context):
            return request

        def EchoTwo(self, request, context):
            return request

        def Say(self, word, context):
            if word.text == "fail":
                context.abort(grpc.StatusCode.NOT_FOUND, "no such word")
            if word.text == "wait":
                over = threading.Event()
                context.add_callback(over.set)
                over.wait(600)
            if word.text == "metadata":
                metadata = dict(context.invocation_metadata())
                context.send_initial_metadata((("served-by", "grpcio"),))
                context.set_trailing_metadata((("tenant-was", metadata.get("tenant", "none")),))
            return word

        def Join(self, words, context):
            return messages.Word(text=" ".join(word.text for word in words))

        def Repeat(self, word, context):
            for number in range(word.count or 1_000_000):
                yield messages.Word(text=word.text, count=number)

        def Talk(self, words, context):
            for word in words:
                yield messages.Word(text=f"you said {word.text}")

        def Former(self, word, context):
            return word

    return Kinds()


def main():
    with tempfile.TemporaryDirectory() as folder:
        messages, stubs = generated(sys.argv[1], folder)
        server = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
        stubs.add_KindsServicer_to_server(kinds(messages, stubs), server)
        checks = health.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(checks, server)
        checks.set("switchboard.testing.Kinds", health_pb2.HealthCheckResponse.SERVING)
        names = ["switchboard.testing.Kinds", health.SERVICE_NAME, reflection.SERVICE_NAME]
        reflection.enable_server_reflection(names, server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        print(port, flush=True)
        sys.stdin.read()
        server.stop(0)


if __name__ == "__main__":
    main()
