"""The other side of ConnectPeerTests: the Connect implementation for Python, with JSON and binary messages.

    connect_peer.py client ORIGIN   calls every method of echo.Echo in several ways; prints what is wrong, then "done"
    connect_peer.py server          serves echo.Echo; prints its port; ends when its input does
"""

import asyncio
import sys

from connectrpc.client import ConnectClientSync
from connectrpc.code import Code
from connectrpc.compression.gzip import GzipCompression
from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo
from connectrpc.protocol import ProtocolType
from connectrpc.request import Headers
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory


def messages():
    """The messages of echo.proto, made from a description: the tests generate no Python."""
    file = descriptor_pb2.FileDescriptorProto(name="echo.proto", package="echo", syntax="proto3")
    for name in ("EchoRequest", "EchoResponse"):
        field = file.message_type.add(name=name).field.add(name="text", number=1, json_name="text")
        field.type = descriptor_pb2.FieldDescriptorProto.TYPE_STRING
        field.label = descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return [
        message_factory.GetMessageClass(pool.FindMessageTypeByName(f"echo.{name}"))
        for name in ("EchoRequest", "EchoResponse")
    ]


Request, Response = messages()


def method(name, idempotency=IdempotencyLevel.UNKNOWN):
    return MethodInfo(
        name=name, service_name="echo.Echo", input=Request, output=Response, idempotency_level=idempotency
    )


def expect(what, found, wanted):
    if found != wanted:
        print(f"{what}: {found!r} instead of {wanted!r}", flush=True)


def client(origin):
    ways = [(protocol, json) for protocol in (ProtocolType.CONNECT, ProtocolType.GRPC_WEB) for json in (False, True)]
    for protocol, json in ways:
        with ConnectClientSync(
            origin, protocol=protocol, proto_json=json, send_compression=GzipCompression()
        ) as caller:
            what = f"{protocol.name} {'JSON' if json else 'binary'} "
            call_everything(what, caller)
            if protocol == ProtocolType.CONNECT:
                safe = method("Get", IdempotencyLevel.NO_SIDE_EFFECTS)
                answer = caller.execute_unary(request=Request(text="got"), method=safe, use_get=True)
                expect(what + "GET", answer.text, "get: got")
    print("done", flush=True)


def call_everything(what, caller):
    for text in ("", "hello", "x" * 100000):
        answer = caller.execute_unary(request=Request(text=text), method=method("Get"))
        expect(what + "Get", answer.text, f"get: {text}")
    words = list(caller.execute_server_stream(request=Request(text="a b c"), method=method("Expand")))
    expect(what + "Expand", [word.text for word in words], ["a", "b", "c"])
    requests = (Request(text=word) for word in "abc")
    answer = caller.execute_client_stream(request=requests, method=method("Collect"))
    expect(what + "Collect", answer.text, "a b c")
    requests = (Request(text=word) for word in "abc")
    words = list(caller.execute_bidi_stream(request=requests, method=method("Update")))
    expect(what + "Update", [word.text for word in words], ["a", "b", "c"])
    for call in (
        lambda: caller.execute_unary(request=Request(text="fail"), method=method("Get")),
        lambda: list(caller.execute_server_stream(request=Request(text="fail"), method=method("Expand"))),
    ):
        try:
            call()
            print(f"{what}: a failure is missing", flush=True)
        except ConnectError as error:
            expect(what + "code", error.code, Code.NOT_FOUND)
            expect(what + "message", error.message, "nothing \"here\" ü")
            expect(what + "details", [detail.value for detail in error.details], [b"\x08\x07"])
    try:
        caller.execute_unary(request=Request(text="sleep"), method=method("Get"), timeout_ms=100)
        print(f"{what}: a deadline is missing", flush=True)
    except ConnectError as error:
        expect(what + "deadline", error.code, Code.DEADLINE_EXCEEDED)


if sys.argv[1] == "client":
    client(sys.argv[2])


async def get(request, context):
    if request.text == "fail":
        raise ConnectError(Code.NOT_FOUND, 'nothing "here" ü', [Request(text="detail")])
    if request.text == "sleep":
        await asyncio.sleep(5)
    context.response_headers()["one"] = "head"
    context.response_trailers()["two"] = "tail"
    return Response(text=f"get: {request.text}")


async def expand(request, context):
    if request.text == "fail":
        raise ConnectError(Code.NOT_FOUND, 'nothing "here" ü', [Request(text="detail")])
    context.response_trailers()["two"] = "tail"
    for word in request.text.split():
        yield Response(text=word)


async def collect(requests, context):
    return Response(text=" ".join([request.text async for request in requests]))


async def update(requests, context):
    async for request in requests:
        yield Response(text=request.text)


async def server():
    import socket

    from connectrpc.server import ConnectASGIApplication, Endpoint
    from hypercorn.asyncio import serve
    from hypercorn.config import Config

    class Application(ConnectASGIApplication):
        path = "/echo.Echo"

    safe = method("Get", IdempotencyLevel.NO_SIDE_EFFECTS)
    endpoints = {
        "/echo.Echo/Get": Endpoint.unary(safe, get),
        "/echo.Echo/Expand": Endpoint.server_stream(method("Expand"), expand),
        "/echo.Echo/Collect": Endpoint.client_stream(method("Collect"), collect),
        "/echo.Echo/Update": Endpoint.bidi_stream(method("Update"), update),
    }
    application = Application(service=None, endpoints=lambda _: endpoints)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = Config()
    config.bind = [f"127.0.0.1:{port}"]
    config.errorlog = None
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.run_in_executor(None, lambda: (sys.stdin.read(), loop.call_soon_threadsafe(ended.set)))
    task = asyncio.create_task(serve(application, config, shutdown_trigger=ended.wait))
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            break
        except OSError:
            await asyncio.sleep(0.05)
    print(port, flush=True)
    await task


if sys.argv[1] == "server":
    asyncio.run(server())
