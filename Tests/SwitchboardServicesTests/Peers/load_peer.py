"""The other side of LoadPeerTests: load reports of grpcio, whose messages are those of xds-protos.

    load_peer.py client TARGET TRAILER...   compares the reports of a server with what it should say, those in trailers
                                      and those besides calls; prints what is wrong, "streaming" once it has the first
                                      report besides calls, then "done"
    load_peer.py servers WEIGHT...          runs a server for each weight and prints their ports; each reports a load of this
                                      weight with calls, and one in the reverse order besides
    load_peer.py hostile                    runs three servers that report nothing that makes sense

The servers answer echo.Echo/Get with their numbers, and end when their input does.
"""

import base64
import os
import random
import sys
import time
from concurrent import futures

import grpc
from xds.data.orca.v3.orca_load_report_pb2 import OrcaLoadReport
from xds.service.orca.v3.orca_pb2 import OrcaLoadReportRequest

TRAILER = "endpoint-load-metrics-bin"
GET = "/echo.Echo/Get"
STREAM = "/xds.service.orca.v3.OpenRcaService/StreamCoreMetrics"
# How many times a stream reports before it only stays open.
HOSTILE_REPORTS = 50


def text_message(text):
    """An EchoRequest or an EchoResponse."""
    return bytes([0x0A, len(text)]) + text.encode()


# The client.


def expect(what, found, wanted):
    if found != wanted:
        print(f"{what}: {found!r} instead of {wanted!r}", flush=True)


def client(target, *trailers):
    server = OrcaLoadReport(
        cpu_utilization=0.75,
        mem_utilization=0.5,
        application_utilization=1.5,
        rps_fractional=10,
        eps=1,
        utilization={"disk": 0.125},
        named_metrics={"credit": -2},
    )
    of_call = OrcaLoadReport()
    of_call.CopyFrom(server)
    of_call.cpu_utilization = 0.25
    of_call.request_cost["rows"] = 3
    for trailer in trailers:
        expect("report of a call", OrcaLoadReport.FromString(base64.b64decode(trailer + "=" * (-len(trailer) % 4))), of_call)
    with grpc.insecure_channel(target) as channel:
        # A call with such a trailer is a call like others.
        get = channel.unary_unary(GET)
        expect("answer", get(text_message("hello")), text_message("hello"))
        try:
            get(text_message("fail"))
            print("a call did not fail", flush=True)
        except grpc.RpcError as error:
            expect("code", error.code(), grpc.StatusCode.ABORTED)
            expect("other trailers", dict(error.trailing_metadata()).get("note"), "kept")

        stream = channel.unary_stream(
            STREAM,
            request_serializer=OrcaLoadReportRequest.SerializeToString,
            response_deserializer=OrcaLoadReport.FromString,
        )
        request = OrcaLoadReportRequest()
        request.report_interval.FromMilliseconds(20)
        reports = stream(request)
        expect("first report", next(reports), server)
        print("streaming", flush=True)
        changed = next(report for report in reports if report != server)
        server.cpu_utilization = 0.875
        expect("later report", changed, server)
        reports.cancel()
    print("done", flush=True)


# The servers.


def load(weight):
    return OrcaLoadReport(rps_fractional=100, application_utilization=100 / weight).SerializeToString()


def nonsense(dice, size):
    """Bytes of a report that must not change a thing."""
    kind = dice.randrange(4)
    if kind == 0:
        return dice.randbytes(dice.randrange(300))
    if kind == 1:
        numbers = [dice.choice([float("nan"), float("inf"), float("-inf"), -1.0, -1e308, 0.0]) for _ in range(4)]
        return OrcaLoadReport(
            cpu_utilization=numbers[0], application_utilization=numbers[1], rps_fractional=numbers[2], eps=numbers[3]
        ).SerializeToString()
    report = OrcaLoadReport()
    if kind == 2:
        for number in range(size):
            report.named_metrics[str(number)] = float("nan")
        return report.SerializeToString()
    # An entry of a map, without name or number, again and again.
    return bytes([0x2A, 0]) * (size * 5)


def serve(number, report, stream_reports):
    def get(_, context):
        context.set_trailing_metadata(((TRAILER, report()),))
        return text_message(str(number))

    executor = futures.ThreadPoolExecutor(max_workers=16)
    server = grpc.server(executor)
    handlers = {GET: grpc.unary_unary_rpc_method_handler(get), STREAM: grpc.unary_stream_rpc_method_handler(stream_reports)}

    class Handler(grpc.GenericRpcHandler):
        def service(self, details):
            return handlers.get(details.method)

    server.add_generic_rpc_handlers((Handler(),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, port


def repeat(report, context, request):
    interval = OrcaLoadReportRequest.FromString(request).report_interval.ToTimedelta().total_seconds()
    while context.is_active():
        yield report
        time.sleep(interval)


def run(started):
    print(*(port for _, port in started), flush=True)
    sys.stdin.read()
    # Streams sleep between reports, and their threads would be waited for.
    os._exit(0)


def servers(*weights):
    weights = [float(weight) for weight in weights]

    def start(number):
        besides = load(weights[-1 - number])
        of_call = load(weights[number])
        return serve(number, lambda: of_call, lambda request, context: repeat(besides, context, request))

    run([start(number) for number in range(len(weights))])


def hostile():
    def start(number):
        dice = random.Random(number)

        def stream(request, context):
            for _ in range(HOSTILE_REPORTS):
                yield nonsense(dice, 1000)
            yield from repeat(b"", context, request)

        # Trailers are limited.
        return serve(number, lambda: nonsense(dice, 100), stream)

    run([start(number) for number in range(3)])


if __name__ == "__main__":
    {"client": client, "servers": servers, "hostile": hostile}[sys.argv[1]](*sys.argv[2:])
