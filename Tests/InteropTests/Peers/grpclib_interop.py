"""gRPC's interoperability tests with grpclib, gRPC in Python over its own HTTP/2 (h2) and without a line of grpcio.

    grpclib_interop.py server --port=PORT [--use_tls=true --tls_cert_file=FILE --tls_key_file=FILE]
    grpclib_interop.py client --server_port=PORT --test_case=CASE [--use_tls=true --ca_file=FILE]

The messages are the modules that protoc makes of src/proto/grpc/testing in gRPC's source. grpclib does not compress.
"""

import argparse
import asyncio
import ssl
import sys

from grpclib.client import Channel, StreamStreamMethod, StreamUnaryMethod, UnaryStreamMethod, UnaryUnaryMethod
from grpclib.config import Configuration
from grpclib.const import Cardinality, Handler, Status
from grpclib.exceptions import GRPCError
from grpclib.server import Server
from src.proto.grpc.testing import empty_pb2 as empty
from src.proto.grpc.testing import messages_pb2 as messages

SERVICE = "grpc.testing.TestService"
INITIAL, TRAILING = "x-grpc-test-echo-initial", "x-grpc-test-echo-trailing-bin"
SIMPLE = messages.SimpleRequest, messages.SimpleResponse
OUTPUT = messages.StreamingOutputCallRequest, messages.StreamingOutputCallResponse
INPUT = messages.StreamingInputCallRequest, messages.StreamingInputCallResponse
METHODS = {
    "EmptyCall": (UnaryUnaryMethod, Cardinality.UNARY_UNARY, empty.Empty, empty.Empty),
    "UnaryCall": (UnaryUnaryMethod, Cardinality.UNARY_UNARY, *SIMPLE),
    "StreamingOutputCall": (UnaryStreamMethod, Cardinality.UNARY_STREAM, *OUTPUT),
    "StreamingInputCall": (StreamUnaryMethod, Cardinality.STREAM_UNARY, *INPUT),
    "FullDuplexCall": (StreamStreamMethod, Cardinality.STREAM_STREAM, *OUTPUT),
    "HalfDuplexCall": (StreamStreamMethod, Cardinality.STREAM_STREAM, *OUTPUT),
}


# ---- The server ------------------------------------------------------------------------------------


class TestService:
    def __mapping__(self):
        return {
            f"/{SERVICE}/{name}": Handler(getattr(self, name), cardinality, request, response)
            for name, (_, cardinality, request, response) in METHODS.items()
        }

    async def echo(self, stream):
        if INITIAL in stream.metadata:
            await stream.send_initial_metadata(metadata={INITIAL: stream.metadata[INITIAL]})

    async def end(self, stream):
        if TRAILING in stream.metadata:
            await stream.send_trailing_metadata(metadata={TRAILING: stream.metadata[TRAILING]})

    def refuse(self, request):
        if request.response_status.code:
            raise GRPCError(Status(request.response_status.code), request.response_status.message)

    async def EmptyCall(self, stream):
        await stream.recv_message()
        await stream.send_message(empty.Empty())

    async def UnaryCall(self, stream):
        request = await stream.recv_message()
        await self.echo(stream)
        self.refuse(request)
        payload = messages.Payload(body=bytes(request.response_size))
        await stream.send_message(messages.SimpleResponse(payload=payload))
        await self.end(stream)

    async def respond(self, stream, request):
        for parameters in request.response_parameters:
            await asyncio.sleep(parameters.interval_us / 1e6)
            payload = messages.Payload(body=bytes(parameters.size))
            await stream.send_message(messages.StreamingOutputCallResponse(payload=payload))

    async def StreamingOutputCall(self, stream):
        await self.respond(stream, await stream.recv_message())

    async def StreamingInputCall(self, stream):
        size = 0
        async for request in stream:
            size += len(request.payload.body)
        await stream.send_message(messages.StreamingInputCallResponse(aggregated_payload_size=size))

    async def FullDuplexCall(self, stream):
        await self.echo(stream)
        async for request in stream:
            self.refuse(request)
            await self.respond(stream, request)
        await self.end(stream)

    async def HalfDuplexCall(self, stream):
        for request in [request async for request in stream]:
            await self.respond(stream, request)


async def serve(arguments):
    context = None
    if arguments.use_tls:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(arguments.tls_cert_file, arguments.tls_key_file)
        context.set_alpn_protocols(["h2"])
    server = Server([TestService()])
    await server.start("localhost", arguments.port, ssl=context)
    await server.wait_closed()


# ---- The client ------------------------------------------------------------------------------------


def check(seen, wanted, what):
    if seen != wanted:
        raise SystemExit(f"{what}: {seen!r}, not {wanted!r}")


def large_request():
    return messages.SimpleRequest(response_size=314159, payload=messages.Payload(body=bytes(271828)))


def output_request(*sizes, body=0):
    request = messages.StreamingOutputCallRequest(payload=messages.Payload(body=bytes(body)))
    for size in sizes:
        request.response_parameters.add(size=size)
    return request


REQUEST_SIZES, RESPONSE_SIZES = (27182, 8, 1828, 45904), (31415, 9, 2653, 58979)


class Cases:
    def __init__(self, channel):
        self.channel = channel

    def method(self, name, service=SERVICE, like=None):
        kind, _, request, response = METHODS[like or name]
        return kind(self.channel, f"/{service}/{name}", request, response)

    async def refused(self, status, message, call):
        try:
            await call
        except GRPCError as error:
            check(error.status, status, "the status")
            if message is not None:
                check(error.message, message, "the status message")
        else:
            raise SystemExit("a call that was to be refused succeeded")

    async def empty_unary(self):
        check(await self.method("EmptyCall")(empty.Empty()), empty.Empty(), "the response")

    async def large_unary(self):
        response = await self.method("UnaryCall")(large_request())
        check(response.payload.body, bytes(314159), "the response")

    async def concurrent_large_unary(self):
        await asyncio.gather(*(self.large_unary() for _ in range(100)))

    async def client_streaming(self):
        payloads = [messages.Payload(body=bytes(size)) for size in REQUEST_SIZES]
        requests = [messages.StreamingInputCallRequest(payload=payload) for payload in payloads]
        response = await self.method("StreamingInputCall")(requests)
        check(response.aggregated_payload_size, sum(REQUEST_SIZES), "the size that the server saw")

    async def server_streaming(self):
        responses = await self.method("StreamingOutputCall")(output_request(*RESPONSE_SIZES))
        check([len(response.payload.body) for response in responses], list(RESPONSE_SIZES), "the responses' sizes")

    async def half_duplex(self):
        responses = await self.method("HalfDuplexCall")([output_request(size) for size in RESPONSE_SIZES])
        check([len(response.payload.body) for response in responses], list(RESPONSE_SIZES), "the responses' sizes")

    async def ping_pong(self):
        async with self.method("FullDuplexCall").open() as stream:
            for asked, sent in zip(RESPONSE_SIZES, REQUEST_SIZES):
                await stream.send_message(output_request(asked, body=sent))
                check(len((await stream.recv_message()).payload.body), asked, "a response's size")
            await stream.end()
            check(await stream.recv_message(), None, "what follows the last response")

    async def empty_stream(self):
        check(await self.method("FullDuplexCall")([]), [], "the responses")

    async def cancel_after_begin(self):
        async with self.method("StreamingInputCall").open() as stream:
            await stream.send_request()
            await stream.cancel()

    async def cancel_after_first_response(self):
        async with self.method("FullDuplexCall").open() as stream:
            await stream.send_message(output_request(31415, body=27182))
            check(len((await stream.recv_message()).payload.body), 31415, "the response's size")
            await stream.cancel()

    async def timeout_on_sleeping_server(self):
        request = output_request(31415, body=27182)
        request.response_parameters[0].interval_us = 10_000_000
        try:
            async with self.method("FullDuplexCall").open(timeout=0.001) as stream:
                await stream.send_message(request)
                await stream.recv_message()
        except asyncio.TimeoutError:
            return
        except GRPCError as error:
            check(error.status, Status.DEADLINE_EXCEEDED, "the status")
            return
        raise SystemExit("a response came before the deadline")

    async def custom_metadata(self):
        sent = {INITIAL: "test_initial_metadata_value", TRAILING: b"\xab\xab\xab"}
        calls = ("UnaryCall", large_request()), ("FullDuplexCall", output_request(314159, body=271828))
        for name, request in calls:
            async with self.method(name).open(metadata=sent) as stream:
                await stream.send_message(request, end=True)
                check(len((await stream.recv_message()).payload.body), 314159, "the response's size")
                await stream.recv_trailing_metadata()
                check(stream.initial_metadata.get(INITIAL), sent[INITIAL], "the initial metadata")
                check(stream.trailing_metadata.get(TRAILING), sent[TRAILING], "the trailing metadata")

    async def status_code_and_message(self):
        status = messages.EchoStatus(code=2, message="test status message")
        unary = messages.SimpleRequest(response_status=status)
        duplex = messages.StreamingOutputCallRequest(response_status=status)
        await self.refused(Status.UNKNOWN, status.message, self.method("UnaryCall")(unary))
        await self.refused(Status.UNKNOWN, status.message, self.method("FullDuplexCall")([duplex]))

    async def special_status_message(self):
        text = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n"
        request = messages.SimpleRequest(response_status=messages.EchoStatus(code=2, message=text))
        await self.refused(Status.UNKNOWN, text, self.method("UnaryCall")(request))

    async def unimplemented_method(self):
        method = self.method("UnimplementedCall", like="EmptyCall")
        await self.refused(Status.UNIMPLEMENTED, None, method(empty.Empty()))

    async def unimplemented_service(self):
        method = self.method("UnimplementedCall", service="grpc.testing.UnimplementedService", like="EmptyCall")
        await self.refused(Status.UNIMPLEMENTED, None, method(empty.Empty()))


async def run(arguments):
    context = None
    if arguments.use_tls:
        context = ssl.create_default_context(cafile=arguments.ca_file)
        context.set_alpn_protocols(["h2"])
    configuration = Configuration(ssl_target_name_override=arguments.server_host_override or None)
    async with Channel(arguments.server_host, arguments.server_port, ssl=context, config=configuration) as channel:
        await getattr(Cases(channel), arguments.test_case)()


def main(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=("server", "client"))
    for name in ("port", "server_port"):
        parser.add_argument(f"--{name}", type=int)
    for name in ("server_host", "server_host_override", "test_case", "ca_file", "tls_cert_file", "tls_key_file"):
        parser.add_argument(f"--{name}")
    for name in ("use_tls", "use_test_ca"):
        parser.add_argument(f"--{name}", type=lambda word: word == "true")
    arguments = parser.parse_args(words)
    asyncio.run(serve(arguments) if arguments.mode == "server" else run(arguments))


if __name__ == "__main__":
    main(sys.argv[1:])
