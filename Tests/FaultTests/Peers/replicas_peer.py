"""The other side of the tests of replicas: grpcio as one of several servers, or as the client of all.

    replicas_peer.py server ADDRESS NAME [UTILIZATION]   prints its address; on SIGTERM, calls in progress may finish
    replicas_peer.py client TARGET CONFIG CALLS SERVERS  once SERVERS have answered, and a second has passed, makes
                                                         CALLS one after the other, with the metadata "user: 0" and so
                                                         on, and prints who answered
    replicas_peer.py callers TARGET CONFIG CALLERS       prints who answers each call of CALLERS that make one after the
                                                         other, or "failed" and why; ends when its input does
"""

import os
import signal
import struct
import sys
import threading
import time
from concurrent import futures

# The header whose value `ring_hash` takes (gRFC A76) is off by default.
os.environ["GRPC_EXPERIMENTAL_RING_HASH_SET_REQUEST_HASH_KEY"] = "true"

import grpc

METHOD = "/echo.Echo/Get"


def raw(data):
    return data


def message(text):
    """The bytes of an EchoRequest or EchoResponse: their only field has the number 1."""
    return bytes([0x0A, len(text)]) + text.encode()


def load_report(utilization):
    """An OrcaLoadReport with an application utilization (9) and queries per second (6)."""
    return struct.pack("<BdBd", 9 << 3 | 1, utilization, 6 << 3 | 1, 100.0)


def server(address, name, utilization=None):
    def get(request, context):
        if utilization:
            report = load_report(float(utilization))
            context.set_trailing_metadata((("endpoint-load-metrics-bin", report),))
        return message(name)

    class Handlers(grpc.GenericRpcHandler):
        def service(self, details):
            if details.method == METHOD:
                return grpc.unary_unary_rpc_method_handler(get, raw, raw)
            return None

    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    serving = grpc.server(futures.ThreadPoolExecutor(8), [Handlers()])
    serving.add_insecure_port(address)
    serving.start()
    print(address, flush=True)
    ended.wait()
    serving.stop(10).wait()


def open_channel(target, config):
    options = [
        ("grpc.service_config", config),
        ("grpc.enable_http_proxy", 0),
        ("grpc.initial_reconnect_backoff_ms", 50),
        ("grpc.max_reconnect_backoff_ms", 100),
    ]
    return grpc.insecure_channel(target, options)


def client(target, config, calls, servers):
    with open_channel(target, config) as channel:
        get = channel.unary_unary(METHOD, raw, raw)

        def call(number):
            metadata = (("user", str(number)),)
            return get(message("who?"), metadata=metadata, wait_for_ready=True)[2:].decode()

        # Reported loads are turned into weights only now and then.
        seen, number, end = set(), 0, time.monotonic() + 1
        while len(seen) < int(servers) or time.monotonic() < end:
            seen.add(call(number))
            number += 1
        for number in range(int(calls)):
            print(call(number), flush=False)
    print("done", flush=True)


def callers(target, config, count):
    ended = threading.Event()

    def make(get):
        while not ended.is_set():
            try:
                line = get(message("who?"))[2:].decode()
            except grpc.RpcError as error:
                line = f"failed {error.code()} {error.details()}"
            sys.stdout.write(line + "\n")
            sys.stdout.flush()

    with open_channel(target, config) as channel:
        get = channel.unary_unary(METHOD, raw, raw)
        threads = [threading.Thread(target=make, args=(get,)) for _ in range(int(count))]
        for thread in threads:
            thread.start()
        sys.stdin.read()
        ended.set()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    {"callers": callers, "client": client, "server": server}[sys.argv[1]](*sys.argv[2:])
