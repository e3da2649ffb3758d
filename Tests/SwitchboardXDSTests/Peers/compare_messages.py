"""Compares the messages of Protos/xds/envoy with those of xds-protos.

    compare_messages.py ROOT     ROOT is the repository; prints each difference, then the number of fields that are the same
"""

import importlib
import pathlib
import sys
import tempfile

from google.protobuf import descriptor_pb2, descriptor_pool
from grpc_tools import protoc

MODULES = [
    "envoy.service.discovery.v3.ads_pb2",
    "envoy.service.load_stats.v3.lrs_pb2",
    "envoy.service.status.v3.csds_pb2",
    "envoy.config.listener.v3.listener_pb2",
    "envoy.config.route.v3.route_pb2",
    "envoy.config.cluster.v3.cluster_pb2",
    "envoy.config.endpoint.v3.endpoint_pb2",
    "envoy.extensions.clusters.aggregate.v3.cluster_pb2",
    "envoy.extensions.filters.http.fault.v3.fault_pb2",
    "envoy.extensions.filters.http.stateful_session.v3.stateful_session_pb2",
    "envoy.extensions.filters.network.http_connection_manager.v3.http_connection_manager_pb2",
    "envoy.extensions.http.stateful_session.cookie.v3.cookie_pb2",
    "envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.client_side_weighted_round_robin_pb2",
    "envoy.extensions.load_balancing_policies.least_request.v3.least_request_pb2",
    "envoy.extensions.load_balancing_policies.pick_first.v3.pick_first_pb2",
    "envoy.extensions.load_balancing_policies.ring_hash.v3.ring_hash_pb2",
    "envoy.extensions.load_balancing_policies.round_robin.v3.round_robin_pb2",
    "envoy.extensions.load_balancing_policies.wrr_locality.v3.wrr_locality_pb2",
    "envoy.extensions.transport_sockets.http_11_proxy.v3.upstream_http_11_connect_pb2",
    "envoy.extensions.transport_sockets.tls.v3.tls_pb2",
    "envoy.extensions.upstreams.http.v3.http_protocol_options_pb2",
    "xds.type.v3.typed_struct_pb2",
    "udpa.type.v1.typed_struct_pb2",
]


def compiled(root):
    protos = pathlib.Path(root) / "Protos"
    files = sorted(str(path) for path in (protos / "xds" / "envoy").glob("*.proto"))
    with tempfile.NamedTemporaryFile() as output:
        arguments = ["protoc", f"-I{protos}", "-I/usr/include", "--include_imports", f"--descriptor_set_out={output.name}"]
        if protoc.main(arguments + files) != 0:
            sys.exit("the .proto files do not compile")
        descriptors = descriptor_pb2.FileDescriptorSet.FromString(output.read())
    return [file for file in descriptors.file if file.name.startswith("xds/envoy/")]


def field_of(message, field):
    """All that a field is, as text."""
    oneof = message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else ""
    return f"{field.number} {field.label} {field.type} {field.type_name} {field.proto3_optional} {oneof!r}"


def compare_enum(name, enum, reference, report):
    wanted = {value.name: value.number for value in reference.value}
    for value in enum.value:
        if wanted.get(value.name) != value.number:
            report(f"{name}.{value.name} = {value.number}, and not {wanted.get(value.name)}")
    return len(enum.value)


def compare(prefix, message, report):
    name = f"{prefix}.{message.name}"
    reference = descriptor_pb2.DescriptorProto()
    try:
        descriptor_pool.Default().FindMessageTypeByName(name).CopyToProto(reference)
    except KeyError:
        report(f"{name} is unknown")
        return 0
    wanted = {field.name: field_of(reference, field) for field in reference.field}
    count = len(message.field)
    for field in message.field:
        if wanted.get(field.name) != field_of(message, field):
            report(f"{name}.{field.name}: {field_of(message, field)}, and not {wanted.get(field.name)}")
    enums = {enum.name: enum for enum in reference.enum_type}
    for enum in message.enum_type:
        count += compare_enum(f"{name}.{enum.name}", enum, enums[enum.name], report)
    return count + sum(compare(name, inner, report) for inner in message.nested_type)


def main():
    for module in MODULES:
        importlib.import_module(module)
    count = 0
    for file in compiled(sys.argv[1]):
        for message in file.message_type:
            count += compare(file.package, message, print)
        for enum in file.enum_type:
            reference = descriptor_pb2.EnumDescriptorProto()
            descriptor_pool.Default().FindEnumTypeByName(f"{file.package}.{enum.name}").CopyToProto(reference)
            count += compare_enum(f"{file.package}.{enum.name}", enum, reference, print)
        for service in file.service:
            reference = descriptor_pb2.ServiceDescriptorProto()
            descriptor_pool.Default().FindServiceByName(f"{file.package}.{service.name}").CopyToProto(reference)
            for method in service.method:
                wanted = next(other for other in reference.method if other.name == method.name)
                facts = [(one.input_type, one.output_type, one.client_streaming, one.server_streaming) for one in (method, wanted)]
                if facts[0] != facts[1]:
                    print(f"{service.name}.{method.name}: {facts[0]}, and not {facts[1]}")
                count += 1
    print(f"{count} are the same")


if __name__ == "__main__":
    main()
