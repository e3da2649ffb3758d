"""The other side of PeerTraceTests and CollectorTests: PyPI's OpenTelemetry, as a client, a server and a collector.

    telemetry_peer.py inner             serves echo.Echo/Get and prints its port, then a line for each span:
                                        "span NAME KIND TRACE SPAN PARENT", where PARENT may be "none"
    telemetry_peer.py outer TARGET      calls echo.Echo/Get with a baggage of "tenant=blue", and prints its span
    telemetry_peer.py collector MODE    serves OTLP over gRPC, prints its port, then what it gets: "span SERVICE NAME TRACE
                                        SPAN PARENT", "metric NAME KIND POINTS", "log SERVICE SEVERITY TEXT TRACE"; MODE is
                                        "ok", or a way to misbehave: "slow", "refuse", "nonsense", "partial"
    telemetry_peer.py web MODE          the same over HTTP, for protobuf and JSON; "late" asks for a second try first

Both take the files of a certificate and its key after the MODE, for TLS.

Each ends when its input does.
"""

import gzip
import json
import os
import ssl
import sys
import threading
import time
from concurrent import futures
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import grpc
from google.protobuf import json_format
from opentelemetry import baggage, context
from opentelemetry.instrumentation.grpc import client_interceptor, server_interceptor
from opentelemetry.instrumentation.grpc.grpcext import intercept_channel
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2, logs_service_pb2_grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

GET = "/echo.Echo/Get"
lock = threading.Lock()


def say(*words):
    with lock:
        print(*words, flush=True)


def identity(value):
    return value


# Client and server.


class Printing(SpanExporter):
    def export(self, spans):
        for span in spans:
            parent = f"{span.parent.span_id:016x}" if span.parent else "none"
            own = span.get_span_context()
            say("span", span.name, span.kind.name, f"{own.trace_id:032x}", f"{own.span_id:016x}", parent)
        return SpanExportResult.SUCCESS


def provider():
    made = TracerProvider()
    made.add_span_processor(SimpleSpanProcessor(Printing()))
    return made


def inner():
    def get(request, call):
        metadata = dict(call.invocation_metadata())
        say("headers", metadata.get("baggage", "none"), metadata.get("tenant", "none"))
        return request

    handler = grpc.method_handlers_generic_handler(
        "echo.Echo", {"Get": grpc.unary_unary_rpc_method_handler(get, identity, identity)})
    server = grpc.server(futures.ThreadPoolExecutor(4), interceptors=[server_interceptor(provider())])
    server.add_generic_rpc_handlers((handler,))
    say(server.add_insecure_port("127.0.0.1:0"))
    server.start()
    sys.stdin.read()
    server.stop(None).wait()


def outer(target):
    context.attach(baggage.set_baggage("tenant", "blue"))
    with grpc.insecure_channel(target) as plain:
        channel = intercept_channel(plain, client_interceptor(provider()))
        call = channel.unary_unary(GET, identity, identity)
        answer = call(b"\n\x05hello", timeout=20, metadata=[("tenant", "red")])
        say("answer", answer[2:].decode())


# The collectors.


def attribute(resource, name):
    return next((a.value.string_value for a in resource.attributes if a.key == name), "none")


def tell_spans(request):
    for group in request.resource_spans:
        service = attribute(group.resource, "service.name")
        for scope in group.scope_spans:
            for span in scope.spans:
                assert len(span.trace_id) == 16 and len(span.span_id) == 8, span
                assert span.start_time_unix_nano <= span.end_time_unix_nano, span
                parent = span.parent_span_id.hex() or "none"
                say("span", service, span.name, span.trace_id.hex(), span.span_id.hex(), parent)


def tell_metrics(request):
    for group in request.resource_metrics:
        for scope in group.scope_metrics:
            for metric in scope.metrics:
                kind = metric.WhichOneof("data")
                say("metric", metric.name, kind, len(getattr(metric, kind).data_points))


def tell_logs(request):
    for group in request.resource_logs:
        service = attribute(group.resource, "service.name")
        for scope in group.scope_logs:
            for record in scope.log_records:
                say("log", service, record.severity_text, record.body.string_value, record.trace_id.hex() or "none")


SIGNALS = {
    "/v1/traces": (trace_service_pb2.ExportTraceServiceRequest, trace_service_pb2.ExportTraceServiceResponse,
                   tell_spans, "rejected_spans"),
    "/v1/metrics": (metrics_service_pb2.ExportMetricsServiceRequest, metrics_service_pb2.ExportMetricsServiceResponse,
                    tell_metrics, "rejected_data_points"),
    "/v1/logs": (logs_service_pb2.ExportLogsServiceRequest, logs_service_pb2.ExportLogsServiceResponse,
                 tell_logs, "rejected_log_records"),
}


def answer_to(response, rejected, mode):
    made = response()
    if mode == "partial":
        setattr(made.partial_success, rejected, 1)
        made.partial_success.error_message = "one was too old"
    return made


def collector(mode, certificate=None, key=None):
    def handler(path):
        request_type, response, show, rejected = SIGNALS[path]

        def export(data, call):
            if mode == "slow":
                time.sleep(3600)
            if mode == "refuse":
                call.abort(grpc.StatusCode.PERMISSION_DENIED, "not you")
            if mode == "nonsense":
                return b"\xff\xff\xff\xff"
            show(request_type.FromString(data))
            return answer_to(response, rejected, mode).SerializeToString()

        return grpc.unary_unary_rpc_method_handler(export, identity, identity)

    server = grpc.server(futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers(tuple(
        grpc.method_handlers_generic_handler(service, {"Export": handler(path)})
        for service, path in [
            ("opentelemetry.proto.collector.trace.v1.TraceService", "/v1/traces"),
            ("opentelemetry.proto.collector.metrics.v1.MetricsService", "/v1/metrics"),
            ("opentelemetry.proto.collector.logs.v1.LogsService", "/v1/logs"),
        ]))
    if certificate:
        pair = (open(key, "rb").read(), open(certificate, "rb").read())
        say(server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([pair])))
    else:
        say(server.add_insecure_port("127.0.0.1:0"))
    server.start()
    sys.stdin.read()
    # Some of its threads may sleep.
    os._exit(0)


def from_json(request_type, data):
    """OTLP's JSON has identities in hexadecimal; protobuf's has base64."""
    import base64

    def convert(value):
        if isinstance(value, list):
            return [convert(one) for one in value]
        if isinstance(value, dict):
            return {key: base64.b64encode(bytes.fromhex(one)).decode()
                    if key in ("traceId", "spanId", "parentSpanId") else convert(one)
                    for key, one in value.items()}
        return value

    return json_format.ParseDict(convert(json.loads(data)), request_type())


def web(mode, certificate=None, key=None):
    tried = set()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_POST(self):
            data = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                data = gzip.decompress(data)
            if mode == "late" and self.path not in tried:
                tried.add(self.path)
                self.send_response(503)
                self.send_header("retry-after", "0")
                self.send_header("content-length", "0")
                self.end_headers()
                return
            if mode == "refuse":
                self.send_response(403)
                self.end_headers()
                return
            if mode == "nonsense":
                self.wfile.write(b"\xff\x00 nonsense\r\n\r\n")
                self.close_connection = True
                return
            request_type, response, show, rejected = SIGNALS[self.path]
            is_json = self.headers["content-type"] == "application/json"
            show(from_json(request_type, data) if is_json else request_type.FromString(data))
            say("headers", self.headers.get("x-token", "none"), self.headers["content-type"])
            made = answer_to(response, rejected, mode)
            body = json_format.MessageToJson(made).encode() if is_json else made.SerializeToString()
            self.send_response(200)
            self.send_header("content-type", self.headers["content-type"])
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if certificate:
        security = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        security.load_cert_chain(certificate, key)
        server.socket = security.wrap_socket(server.socket, server_side=True)
    say(server.server_port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    {"inner": inner, "outer": outer, "collector": collector, "web": web}[sys.argv[1]](*sys.argv[2:])
