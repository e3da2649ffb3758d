"""The other side of GRPCIOTests: grpcio as a client of our server, or as a server for our client.

    grpcio_peer.py client TARGET [CA]        makes every kind of call; prints what is wrong, then "done"
    grpcio_peer.py server [CERTIFICATE KEY]  prints its port; ends when its input does
"""

import sys
import threading
from concurrent import futures

import grpc


def raw(data):
    return data


class Checks:
    """Calls TestService as it is written in Swift, and says where the answers are not what they should be."""

    def __init__(self, channel):
        self.channel = channel

    def expect(self, what, found, wanted):
        if found != wanted:
            print(f"{what}: {found!r} instead of {wanted!r}", flush=True)

    def unary(self, method):
        return self.channel.unary_unary(f"/test.Test/{method}", raw, raw)

    def run(self):
        self.simple()
        self.streams()
        self.failures()
        self.metadata()
        self.compression()
        self.deadline()

    def simple(self):
        for size in (0, 1, 1000, 100_000, 4_000_000):
            payload = bytes(i * 31 % 256 for i in range(size))
            self.expect(f"Get of {size}", self.unary("Get")(payload) == payload, True)

    def streams(self):
        expand = self.channel.unary_stream("/test.Test/Expand", raw, raw)
        self.expect("Expand", list(expand(bytes(range(200)))), [bytes([i]) for i in range(200)])
        collect = self.channel.stream_unary("/test.Test/Collect", raw, raw)
        parts = [bytes([i % 256]) * i for i in range(500)]
        self.expect("Collect", collect(iter(parts)) == b"".join(parts), True)
        update = self.channel.stream_stream("/test.Test/Update", raw, raw)
        self.expect("Update", list(update(iter(parts))) == parts, True)

    def failure(self, call):
        try:
            call()
        except grpc.RpcError as error:
            return error
        return None

    def failures(self):
        error = self.failure(lambda: self.unary("Fail")("50% of ü".encode()))
        self.expect("Fail's code", error.code(), grpc.StatusCode.FAILED_PRECONDITION)
        self.expect("Fail's message", error.details(), "50% of ü")
        self.expect("Fail's trailers", ("why", "asked to") in error.trailing_metadata(), True)
        error = self.failure(lambda: self.unary("Missing")(b""))
        self.expect("Missing", error.code(), grpc.StatusCode.UNIMPLEMENTED)
        error = self.failure(lambda: self.unary("Get")(bytes(5_000_000)))
        self.expect("a message too large", error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        ignore = self.channel.stream_unary("/test.Test/Ignore", raw, raw)
        error = self.failure(lambda: ignore(bytes(100) for _ in range(100_000)))
        self.expect("Ignore", error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)

    def metadata(self):
        sent = (("one", "1"), ("two-bin", b"\x00\xff"))
        _, call = self.unary("Reflect").with_call(b"", metadata=sent, timeout=10)
        for pair in sent:
            self.expect(f"initial metadata {pair}", pair in call.initial_metadata(), True)
            self.expect(f"trailing metadata {pair}", pair in call.trailing_metadata(), True)

    def compression(self):
        for algorithm in (grpc.Compression.Gzip, grpc.Compression.Deflate):
            payload = b"again and " * 10_000
            answer = self.unary("Get")(payload, compression=algorithm)
            self.expect(f"compression {algorithm}", answer == payload, True)

    def deadline(self):
        error = self.failure(lambda: self.unary("Hang")(b"", timeout=0.2))
        self.expect("the deadline", error.code(), grpc.StatusCode.DEADLINE_EXCEEDED)


class Handlers(grpc.GenericRpcHandler):
    """TestService again, for our client."""

    def service(self, details):
        name = details.method.rsplit("/", 1)[-1]
        kinds = {
            "Get": grpc.unary_unary_rpc_method_handler,
            "Fail": grpc.unary_unary_rpc_method_handler,
            "Reflect": grpc.unary_unary_rpc_method_handler,
            "Hang": grpc.unary_unary_rpc_method_handler,
            "Expand": grpc.unary_stream_rpc_method_handler,
            "Collect": grpc.stream_unary_rpc_method_handler,
            "Ignore": grpc.stream_unary_rpc_method_handler,
            "Update": grpc.stream_stream_rpc_method_handler,
            "Flaky": grpc.unary_unary_rpc_method_handler,
            "FlakyUpdate": grpc.stream_stream_rpc_method_handler,
        }
        if name not in kinds:
            return None
        return kinds[name](getattr(self, name.lower()), raw, raw)

    def attempts(self, context):
        """How often the call was made before; refuses it the first two times."""
        attempts = dict(context.invocation_metadata()).get("grpc-previous-rpc-attempts", "0")
        if int(attempts) < 2:
            context.set_trailing_metadata((("grpc-retry-pushback-ms", "1"),))
            context.abort(grpc.StatusCode.UNAVAILABLE, "not yet")
        return attempts.encode()

    def flaky(self, request, context):
        return request + self.attempts(context)

    def flakyupdate(self, requests, context):
        first = next(requests)
        attempts = self.attempts(context)
        yield first + attempts
        yield from requests

    def get(self, request, context):
        return request

    def fail(self, request, context):
        context.set_trailing_metadata((("why", "asked to"),))
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, request.decode())

    def reflect(self, request, context):
        mirrored = [pair for pair in context.invocation_metadata() if pair[0] in ("one", "two-bin")]
        context.send_initial_metadata(mirrored)
        context.set_trailing_metadata(mirrored)
        return context.peer().split("%")[0].encode()

    def hang(self, request, context):
        ended = threading.Event()
        context.add_callback(ended.set)
        ended.wait(120)
        return request

    def expand(self, request, context):
        return (bytes([byte]) for byte in request)

    def collect(self, requests, context):
        return b"".join(requests)

    def ignore(self, requests, context):
        context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "enough")

    def update(self, requests, context):
        return requests


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def client(target, authority=None):
    options = [("grpc.max_receive_message_length", 5_000_000)]
    if authority:
        credentials = grpc.ssl_channel_credentials(contents(authority))
        channel = grpc.secure_channel(target, credentials, options)
    else:
        channel = grpc.insecure_channel(target, options)
    with channel:
        Checks(channel).run()
    print("done", flush=True)


def server(certificate=None, key=None):
    options = [("grpc.max_receive_message_length", 5_000_000)]
    serving = grpc.server(futures.ThreadPoolExecutor(8), [Handlers()], options=options)
    if certificate:
        credentials = grpc.ssl_server_credentials([(contents(key), contents(certificate))])
        port = serving.add_secure_port("127.0.0.1:0", credentials)
    else:
        port = serving.add_insecure_port("127.0.0.1:0")
    serving.start()
    print(port, flush=True)
    sys.stdin.read()
    serving.stop(None)


if __name__ == "__main__":
    {"client": client, "server": server}[sys.argv[1]](*sys.argv[2:])
