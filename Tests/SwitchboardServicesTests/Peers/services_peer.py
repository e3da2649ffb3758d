"""The other side of ServicesPeerTests: grpcio's own clients for the services that come with the library.

    services_peer.py TARGET PROTOS   asks the services of a server, and compares what they say with the sources in
                                     the folder PROTOS; prints what is wrong, then "done"

It prints "watching" once it has seen the server serve, and waits for it to say that it does not.
"""

import importlib
import os
import sys
import tempfile

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from grpc_status import rpc_status
from grpc_tools import protoc

SERVICES = {
    "echo.Echo": "echo/echo.proto",
    "grpc.health.v1.Health": "grpc/health/v1/health.proto",
    "grpc.channelz.v1.Channelz": "grpc/channelz/v1/channelz.proto",
    "grpc.reflection.v1.ServerReflection": "grpc/reflection/v1/reflection.proto",
}
OLD_REFLECTION = "grpc.reflection.v1alpha.ServerReflection"


def expect(what, found, wanted):
    if found != wanted:
        print(f"{what}: {found!r} instead of {wanted!r}", flush=True)


def failure(call):
    try:
        call()
    except grpc.RpcError as error:
        return error
    return None


def compile_with_protoc(protos, *arguments):
    bundled = os.path.join(os.path.dirname(protoc.__file__), "_proto")
    if protoc.main(["protoc", f"-I{protos}", f"-I{bundled}", *arguments]) != 0:
        raise SystemExit("protoc failed")


def source_pool(protos, folder):
    """The descriptors of the sources, as protoc makes them."""
    path = os.path.join(folder, "all.pb")
    compile_with_protoc(protos, "--include_imports", f"--descriptor_set_out={path}", *SERVICES.values())
    pool = descriptor_pool.DescriptorPool()
    with open(path, "rb") as file:
        for descriptor in descriptor_pb2.FileDescriptorSet.FromString(file.read()).file:
            pool.Add(descriptor) if hasattr(pool, "Add") else pool.AddSerializedFile(descriptor.SerializeToString())
    return pool


def text_of(file):
    proto = descriptor_pb2.FileDescriptorProto()
    file.CopyToProto(proto)
    return proto


def compare_files(what, found, wanted, seen):
    if wanted.name in seen:
        return
    seen.add(wanted.name)
    expect(f"{what}: {wanted.name}", text_of(found), text_of(wanted))
    for inner, outer in zip(found.dependencies, wanted.dependencies):
        compare_files(what, inner, outer, seen)


def reflection(channel, sources):
    database = ProtoReflectionDescriptorDatabase(channel)
    expect("services", sorted(database.get_services()), sorted([*SERVICES, OLD_REFLECTION]))
    pool = descriptor_pool.DescriptorPool(database)
    seen = set()
    for service in SERVICES:
        found, wanted = pool.FindServiceByName(service), sources.FindServiceByName(service)
        compare_files(service, found.file, wanted.file, seen)
    expect("old reflection", [m.name for m in pool.FindServiceByName(OLD_REFLECTION).methods], ["ServerReflectionInfo"])
    expect("well-known imports", {"google/protobuf/timestamp.proto"} <= seen, True)

    # A call that nothing but the server's own descriptors was needed for.
    method = pool.FindServiceByName("echo.Echo").methods_by_name["Get"]
    request = message_factory.GetMessageClass(method.input_type)(text="found by reflection")
    call = channel.unary_unary(
        f"/{method.containing_service.full_name}/{method.name}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=message_factory.GetMessageClass(method.output_type).FromString,
    )
    expect("a dynamic call", call(request).text, "found by reflection")
    return call, type(request)


def health(channel):
    stub = health_pb2_grpc.HealthStub(channel)
    serving = health_pb2.HealthCheckResponse.SERVING
    not_serving = health_pb2.HealthCheckResponse.NOT_SERVING
    check = lambda name: stub.Check(health_pb2.HealthCheckRequest(service=name)).status
    expect("health of the server", check(""), serving)
    expect("health of a service", check("echo.Echo"), serving)
    expect("health of what is not there", failure(lambda: check("none")).code(), grpc.StatusCode.NOT_FOUND)
    listed = stub.List(health_pb2.HealthListRequest()).statuses
    expect("list", {name: listed[name].status for name in listed}, {"": serving, "echo.Echo": serving})
    watch = stub.Watch(health_pb2.HealthCheckRequest(service="echo.Echo"))
    expect("watch, at first", next(watch).status, serving)
    print("watching", flush=True)
    expect("watch, later", next(watch).status, not_serving)
    watch.cancel()
    expect("health after that", check("echo.Echo"), not_serving)


def details(call, request):
    error = failure(lambda: call(request(text="refuse")))
    status = rpc_status.from_call(error)
    expect("code", status.code, grpc.StatusCode.INVALID_ARGUMENT.value[0])
    expect("message", status.message, "no")
    found = error_details_pb2.BadRequest()
    expect("kind of detail", status.details[0].Unpack(found), True)
    violations = [(violation.field, violation.description) for violation in found.field_violations]
    expect("violations", violations, [("text", "\u00fc is not allowed")])


def counts(data):
    return data.calls_started, data.calls_succeeded, data.calls_failed


def channelz(channel, call, request, protos, folder):
    path = SERVICES["grpc.channelz.v1.Channelz"]
    compile_with_protoc(protos, f"--python_out={folder}", f"--grpc_python_out={folder}", path)
    # Not `import grpc.channelz`: that would be looked for in grpcio itself.
    os.rename(os.path.join(folder, "grpc"), os.path.join(folder, "generated"))
    stub_file = os.path.join(folder, "generated/channelz/v1/channelz_pb2_grpc.py")
    with open(stub_file) as file:
        text = file.read().replace("from grpc.channelz.v1", "from generated.channelz.v1")
    with open(stub_file, "w") as file:
        file.write(text)
    sys.path.insert(0, folder)
    messages = importlib.import_module("generated.channelz.v1.channelz_pb2")
    stub = importlib.import_module("generated.channelz.v1.channelz_pb2_grpc").ChannelzStub(channel)

    listed = stub.GetServers(messages.GetServersRequest())
    expect("servers", ([server.ref.name for server in listed.server], listed.end), (["echo"], True))
    server = listed.server[0].ref.server_id
    before = counts(stub.GetServer(messages.GetServerRequest(server_id=server)).server.data)
    for _ in range(3):
        call(request(text="hello"))
    for _ in range(2):
        failure(lambda: call(request(text="refuse")))
    after = counts(stub.GetServer(messages.GetServerRequest(server_id=server)).server.data)
    # Each look sees its own call as one that has begun.
    expect("counts", tuple(b - a for a, b in zip(before, after)), (6, 4, 2))

    sockets = stub.GetServerSockets(messages.GetServerSocketsRequest(server_id=server))
    expect("sockets", (len(sockets.socket_ref), sockets.end), (1, True))
    socket = stub.GetSocket(messages.GetSocketRequest(socket_id=sockets.socket_ref[0].socket_id)).socket
    expect("address", socket.local.tcpip_address.ip_address, bytes([127, 0, 0, 1]))
    expect("streams", socket.data.streams_started - socket.data.streams_succeeded - socket.data.streams_failed, 1)
    expect("channels", len(stub.GetTopChannels(messages.GetTopChannelsRequest()).channel), 1)
    channel_id = stub.GetTopChannels(messages.GetTopChannelsRequest()).channel[0].ref.channel_id
    shown = stub.GetChannel(messages.GetChannelRequest(channel_id=channel_id)).channel
    below = stub.GetSubchannel(messages.GetSubchannelRequest(subchannel_id=shown.subchannel_ref[0].subchannel_id))
    expect("subchannel", below.subchannel.data.target, below.subchannel.ref.name)
    for name, method, wrong in [
        ("server", stub.GetServer, messages.GetServerRequest(server_id=99)),
        ("sockets", stub.GetServerSockets, messages.GetServerSocketsRequest(server_id=99)),
        ("channel", stub.GetChannel, messages.GetChannelRequest(channel_id=99)),
        ("subchannel", stub.GetSubchannel, messages.GetSubchannelRequest(subchannel_id=99)),
        ("socket", stub.GetSocket, messages.GetSocketRequest(socket_id=99)),
    ]:
        expect(f"no such {name}", failure(lambda: method(wrong)).code(), grpc.StatusCode.NOT_FOUND)


def main(target, protos):
    with grpc.insecure_channel(target) as channel, tempfile.TemporaryDirectory() as folder:
        call, request = reflection(channel, source_pool(protos, folder))
        health(channel)
        details(call, request)
        channelz(channel, call, request, protos, folder)
    print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
