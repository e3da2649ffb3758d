"""A server by grpcio for the tests of the command `switchboard`.

    command_peer.py PROTOS [--tls CERT KEY [CLIENT_ROOTS]] [--no-reflection] [--unix PATH]

Serves shop.Shop, health and reflection (v1alpha), and prints its port; ends with its standard input.
"""

import argparse
import importlib
import sys
import tempfile
from concurrent import futures

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from grpc_status import rpc_status
from grpc_tools import protoc
import os


def generated(protos, folder):
    bundled = os.path.join(os.path.dirname(protoc.__file__), "_proto")
    words = ["protoc", f"-I{protos}", f"-I{bundled}", f"--python_out={folder}", f"--grpc_python_out={folder}", "shop.proto"]
    if protoc.main(words) != 0:
        raise SystemExit("protoc failed")
    sys.path.insert(0, folder)
    return importlib.import_module("shop_pb2"), importlib.import_module("shop_pb2_grpc")


def refuse(messages, context, item):
    """Ends the call with a detail that everyone knows, one of our own, and one that nobody knows."""
    known, own = any_pb2.Any(), any_pb2.Any()
    known.Pack(error_details_pb2.BadRequest(field_violations=[{"field": "item", "description": "not sold here"}]))
    own.Pack(messages.SoldOut(item=item))
    unknown = any_pb2.Any(type_url="type.googleapis.com/nobody.Knows", value=b"\x08\x01")
    context.abort_with_status(
        rpc_status.to_status(status_pb2.Status(code=5, message=f"no {item} left", details=[known, own, unknown]))
    )


def shop(messages, stubs):
    class Shop(stubs.ShopServicer):
        def Buy(self, order, context):
            metadata = dict(context.invocation_metadata())
            context.send_initial_metadata((("served-by", "grpcio"),))
            context.set_trailing_metadata((("cost-bin", b"\x01\x02"),))
            if order.item == "unicorn":
                refuse(messages, context, order.item)
            if order.item == "headers":
                shown = [f"{name}={metadata[name]!r}" for name in ("tenant", "trace-bin", "user-agent") if name in metadata]
                return messages.Receipt(text=" ".join(shown))
            if order.item == "authority":
                return messages.Receipt(text=context.peer())
            if order.item == "deadline":
                return messages.Receipt(text=str(context.time_remaining() is not None))
            return messages.Receipt(text=f"{order.count or 1} {order.item}", total=9007199254740993)

        def BuyAll(self, orders, context):
            return messages.Receipt(text=" ".join(order.item for order in orders))

        def Watch(self, order, context):
            for number in range(order.count or 3):
                yield messages.Receipt(text=f"{order.item} {number}")
            if order.item == "forever":
                import time
                while context.is_active():
                    time.sleep(0.05)

        def Talk(self, orders, context):
            for order in orders:
                yield messages.Receipt(text=f"you said {order.item}")

    return Shop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("protos")
    parser.add_argument("--tls", nargs="+")
    parser.add_argument("--no-reflection", action="store_true")
    parser.add_argument("--unix")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        messages, stubs = generated(arguments.protos, folder)
        server = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
        stubs.add_ShopServicer_to_server(shop(messages, stubs), server)
        checks = health.HealthServicer()
        checks.set("shop.Shop", health_pb2.HealthCheckResponse.SERVING)
        checks.set("shop.Closed", health_pb2.HealthCheckResponse.NOT_SERVING)
        health_pb2_grpc.add_HealthServicer_to_server(checks, server)
        if not arguments.no_reflection:
            names = ("shop.Shop", "grpc.health.v1.Health", reflection.SERVICE_NAME)
            reflection.enable_server_reflection(names, server)
        if arguments.unix:
            port = server.add_insecure_port(f"unix:{arguments.unix}")
        elif arguments.tls:
            files = [open(name, "rb").read() for name in arguments.tls]
            roots = files[2] if len(files) > 2 else None
            credentials = grpc.ssl_server_credentials([(files[1], files[0])], roots, roots is not None)
            port = server.add_secure_port("127.0.0.1:0", credentials)
        else:
            port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        print(port, flush=True)
        for line in sys.stdin:
            if line.strip() == "close":
                checks.set("shop.Shop", health_pb2.HealthCheckResponse.NOT_SERVING)
        server.stop(0)


if __name__ == "__main__":
    main()
