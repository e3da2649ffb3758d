"""gRPC's interoperability tests with grpcio: what the Swift ones are tried against.

    grpcio_interop.py server ACCOUNT [CERTIFICATE KEY]  prints its port; ends when its input does
    grpcio_interop.py client ACCOUNT TARGET CA CASE...  runs the cases in turn and prints a line for each; CA is
                                                        a file, or - for plaintext

ACCOUNT is a service account's JSON. The messages come from Protos/, compiled when this starts.
"""

import base64
import importlib.util
import json
import queue
import subprocess
import sys
import tempfile
import time
from concurrent import futures
from pathlib import Path

import grpc
from grpc_tools import protoc

ROOT = Path(__file__).resolve().parents[3]


def load_messages():
    """Compiles the .proto files into a folder that is gone when the messages have been imported."""
    with tempfile.TemporaryDirectory() as folder:
        files = [f"grpc/testing/{name}.proto" for name in ("empty", "messages")]
        words = ["protoc", f"-I{ROOT}/Protos", f"--python_out={folder}", *files]
        if protoc.main(words) != 0:
            raise SystemExit("the .proto files do not compile")
        # Not by their package's name, which is also that of grpcio itself.
        for name in ("empty", "messages"):
            path = Path(f"{folder}/grpc/testing/{name}_pb2.py")
            spec = importlib.util.spec_from_file_location(f"interop_{name}_pb2", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            globals()[name] = module


class Service:
    """The methods, each with its kind and its messages, by the name of the file that has them."""

    NAME = "grpc.testing.TestService"

    def __init__(self):
        simple = messages.SimpleRequest, messages.SimpleResponse
        output = messages.StreamingOutputCallRequest, messages.StreamingOutputCallResponse
        inputs = messages.StreamingInputCallRequest, messages.StreamingInputCallResponse
        self.methods = {
            "EmptyCall": ("unary_unary", empty.Empty, empty.Empty),
            "UnaryCall": ("unary_unary", *simple),
            "CacheableUnaryCall": ("unary_unary", *simple),
            "StreamingOutputCall": ("unary_stream", *output),
            "StreamingInputCall": ("stream_unary", *inputs),
            "FullDuplexCall": ("stream_stream", *output),
            "HalfDuplexCall": ("stream_stream", *output),
        }


# ---- Tokens ----------------------------------------------------------------------------------------


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Account:
    """Signs tokens and checks them, by way of the openssl command."""

    def __init__(self, path):
        fields = json.loads(Path(path).read_text())
        self.email, self.key_id = fields["client_email"], fields["private_key_id"]
        self.key = fields["private_key"].encode()

    def sign(self, data):
        # The file exists only while openssl reads it, because tests kill this process when they end.
        with tempfile.NamedTemporaryFile(suffix=".pem") as file:
            file.write(self.key)
            file.flush()
            words = ["openssl", "dgst", "-sha256", "-sign", file.name]
            return subprocess.run(words, input=data, capture_output=True, check=True).stdout

    def token(self, scope):
        now = int(time.time())
        header = {"alg": "RS256", "typ": "JWT", "kid": self.key_id}
        claims = {"iss": self.email, "sub": self.email, "iat": now, "exp": now + 3600}
        if scope:
            claims["scope"] = scope
        signed = ".".join(encode(json.dumps(part).encode()) for part in (header, claims))
        return signed + "." + encode(self.sign(signed.encode()))

    def claims(self, token):
        """RS256 signs the same bytes the same way each time, so signing again is to check."""
        signed, _, signature = token.rpartition(".")
        if self.sign(signed.encode()) != decode(signature):
            return None
        claims = json.loads(decode(signed.split(".")[1]))
        return claims if claims["iat"] <= time.time() < claims["exp"] else None


# ---- The server ------------------------------------------------------------------------------------


class Server:
    def __init__(self, account):
        self.account = account

    def echo(self, context):
        metadata = context.invocation_metadata()
        for name, value in metadata:
            if name == "x-grpc-test-echo-initial":
                context.send_initial_metadata(((name, value),))
            if name == "x-grpc-test-echo-trailing-bin":
                context.set_trailing_metadata(((name, value),))

    def end(self, request, context):
        if request.HasField("response_status") and request.response_status.code:
            # No name of grpcio's is in the way of codes, whose values are pairs.
            codes = {code.value[0]: code for code in grpc.StatusCode}
            context.abort(codes[request.response_status.code], request.response_status.message)

    def EmptyCall(self, request, context):
        return empty.Empty()

    def UnaryCall(self, request, context):
        if request.response_compressed.value:
            context.set_compression(grpc.Compression.Gzip)
        self.echo(context)
        self.end(request, context)
        response = messages.SimpleResponse()
        response.payload.body = bytes(request.response_size)
        if request.fill_username or request.fill_oauth_scope:
            header = dict(context.invocation_metadata()).get("authorization", "")
            claims = self.account.claims(header.removeprefix("Bearer "))
            if claims is None:
                context.abort(grpc.StatusCode.UNAUTHENTICATED, "the token is not believed")
            response.username = claims["sub"] if request.fill_username else ""
            response.oauth_scope = claims.get("scope", "") if request.fill_oauth_scope else ""
        return response

    def CacheableUnaryCall(self, request, context):
        response = messages.SimpleResponse()
        response.payload.body = str(time.monotonic_ns()).encode()
        return response

    def responses(self, request, context):
        for parameters in request.response_parameters:
            if not parameters.compressed.value:
                context.disable_next_message_compression()
            response = messages.StreamingOutputCallResponse()
            response.payload.body = bytes(parameters.size)
            yield response

    def StreamingOutputCall(self, request, context):
        if any(parameters.compressed.value for parameters in request.response_parameters):
            context.set_compression(grpc.Compression.Gzip)
        yield from self.responses(request, context)
        self.end(request, context)

    def StreamingInputCall(self, requests, context):
        size = sum(len(request.payload.body) for request in requests)
        return messages.StreamingInputCallResponse(aggregated_payload_size=size)

    def FullDuplexCall(self, requests, context):
        self.echo(context)
        for request in requests:
            self.end(request, context)
            yield from self.responses(request, context)

    def HalfDuplexCall(self, requests, context):
        for request in list(requests):
            yield from self.responses(request, context)


def serve(account, certificate=None, key=None):
    service, implementation = Service(), Server(Account(account))
    handlers = {}
    for name, (kind, request, response) in service.methods.items():
        make = getattr(grpc, f"{kind}_rpc_method_handler")
        handlers[name] = make(
            getattr(implementation, name),
            request_deserializer=request.FromString,
            response_serializer=response.SerializeToString,
        )
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=16))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(Service.NAME, handlers),))
    if certificate:
        pair = Path(key).read_bytes(), Path(certificate).read_bytes()
        port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([pair]))
    else:
        port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    sys.stdin.read()
    server.stop(0)


# ---- The client ------------------------------------------------------------------------------------

SCOPE = "switchboard.interop"
REQUEST_SIZES = (27182, 8, 1828, 45904)
RESPONSE_SIZES = (31415, 9, 2653, 58979)
SPECIAL_MESSAGE = "\t\ntest with whitespace\r\nand Unicode BMP \u263a and non-BMP \U0001f608\t\n"


def expect(what, found, wanted):
    if found != wanted:
        raise AssertionError(f"{what}: {found!r}, not {wanted!r}")


def failure(call):
    try:
        call()
    except grpc.RpcError as error:
        return error
    raise AssertionError("the call succeeded")


class Client:
    def __init__(self, account, target, authority):
        self.account, self.target, self.authority = Account(account), target, authority
        self.use(self.connect())

    def connect(self):
        if self.authority == "-":
            return grpc.insecure_channel(self.target)
        roots = Path(self.authority).read_bytes()
        options = (("grpc.ssl_target_name_override", "foo.test.google.fr"),)
        return grpc.secure_channel(self.target, grpc.ssl_channel_credentials(roots), options)

    def use(self, channel):
        self.channel = channel
        for name, (kind, request, response) in Service().methods.items():
            make = getattr(channel, kind)
            path = f"/{Service.NAME}/{name}"
            setattr(self, name, make(path, request.SerializeToString, response.FromString))

    def request(self, size=271828, response_size=314159, **fields):
        request = messages.SimpleRequest(response_size=response_size, **fields)
        request.payload.body = bytes(size)
        return request

    def duplex_request(self, size, *response_sizes):
        request = messages.StreamingOutputCallRequest()
        request.payload.body = bytes(size)
        for response_size in response_sizes:
            request.response_parameters.add(size=response_size)
        return request

    def empty_unary(self):
        expect("response", self.EmptyCall(empty.Empty()), empty.Empty())

    def large_unary(self):
        expect("size", len(self.UnaryCall(self.request()).payload.body), 314159)

    def client_compressed_unary(self):
        lie = self.request(expect_compressed=messages.BoolValue(value=True))
        error = failure(lambda: self.UnaryCall(lie))
        expect("code", error.code(), grpc.StatusCode.INVALID_ARGUMENT)
        self.UnaryCall(lie, compression=grpc.Compression.Gzip)
        self.UnaryCall(self.request(expect_compressed=messages.BoolValue(value=False)))

    def client_streaming(self):
        requests = []
        for size in REQUEST_SIZES:
            requests.append(messages.StreamingInputCallRequest())
            requests[-1].payload.body = bytes(size)
        expect("size", self.StreamingInputCall(iter(requests)).aggregated_payload_size, 74922)

    def server_streaming(self):
        responses = self.StreamingOutputCall(self.duplex_request(0, *RESPONSE_SIZES))
        expect("sizes", tuple(len(response.payload.body) for response in responses), RESPONSE_SIZES)

    def ping_pong(self):
        pipe = Pipe()
        call = self.FullDuplexCall(pipe)
        for size, response_size in zip(REQUEST_SIZES, RESPONSE_SIZES):
            pipe.put(self.duplex_request(size, response_size))
            expect("size", len(next(call).payload.body), response_size)
        pipe.close()
        expect("rest", list(call), [])

    def empty_stream(self):
        expect("responses", list(self.FullDuplexCall(iter(()))), [])

    def custom_metadata(self):
        sent = (
            ("x-grpc-test-echo-initial", "test_initial_metadata_value"),
            ("x-grpc-test-echo-trailing-bin", b"\xab\xab\xab"),
        )
        _, unary = self.UnaryCall.with_call(self.request(), metadata=sent)
        duplex = self.FullDuplexCall(iter([self.duplex_request(271828, 314159)]), metadata=sent)
        expect("size", [len(response.payload.body) for response in duplex], [314159])
        for call in (unary, duplex):
            expect("initial metadata", dict(call.initial_metadata()).get(sent[0][0]), sent[0][1])
            expect("trailers", dict(call.trailing_metadata()).get(sent[1][0]), sent[1][1])

    def ends_with(self, call, message):
        error = failure(call)
        expect("code", error.code(), grpc.StatusCode.UNKNOWN)
        expect("message", error.details(), message)

    def status_code_and_message(self):
        status = messages.EchoStatus(code=2, message="test status message")
        self.ends_with(
            lambda: self.UnaryCall(messages.SimpleRequest(response_status=status)), status.message
        )
        request = messages.StreamingOutputCallRequest(response_status=status)
        self.ends_with(lambda: list(self.FullDuplexCall(iter([request]))), status.message)

    def special_status_message(self):
        status = messages.EchoStatus(code=2, message=SPECIAL_MESSAGE)
        self.ends_with(
            lambda: self.UnaryCall(messages.SimpleRequest(response_status=status)), SPECIAL_MESSAGE
        )

    def unimplemented(self, service):
        call = self.channel.unary_unary(
            f"/{service}/UnimplementedCall", empty.Empty.SerializeToString, empty.Empty.FromString
        )
        expect("code", failure(lambda: call(empty.Empty())).code(), grpc.StatusCode.UNIMPLEMENTED)

    def unimplemented_method(self):
        self.unimplemented(Service.NAME)

    def unimplemented_service(self):
        self.unimplemented("grpc.testing.UnimplementedService")

    def cancel_after_begin(self):
        pipe = Pipe()
        call = self.StreamingInputCall.future(pipe)
        call.cancel()
        expect("cancelled", call.cancelled(), True)
        expect("code", call.code(), grpc.StatusCode.CANCELLED)
        pipe.close()

    def cancel_after_first_response(self):
        pipe = Pipe()
        call = self.FullDuplexCall(pipe)
        pipe.put(self.duplex_request(27182, 31415))
        expect("size", len(next(call).payload.body), 31415)
        call.cancel()
        expect("code", failure(lambda: next(call)).code(), grpc.StatusCode.CANCELLED)
        pipe.close()

    def timeout_on_sleeping_server(self):
        pipe = Pipe()
        pipe.put(self.duplex_request(27182))
        call = self.FullDuplexCall(pipe, timeout=0.001)
        expect("code", failure(lambda: next(call)).code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        pipe.close()

    def concurrent_large_unary(self):
        calls = [self.UnaryCall.future(self.request()) for _ in range(50)]
        for call in calls:
            expect("size", len(call.result().payload.body), 314159)

    def rpc_soak(self):
        for _ in range(10):
            self.large_unary()

    def channel_soak(self):
        for _ in range(10):
            before = self.channel
            self.use(self.connect())
            before.close()
            self.large_unary()

    def long_lived_channel(self):
        self.large_unary()
        self.large_unary()

    def pick_first_unary(self):
        for _ in range(20):
            self.UnaryCall(messages.SimpleRequest(fill_server_id=True))

    def expect_account(self, scope, for_one_call=False):
        request = self.request(fill_username=True, fill_oauth_scope=bool(scope))
        token = self.account.token(scope)
        # grpcio itself sends tokens over TLS only.
        if for_one_call and self.authority != "-":
            credentials = grpc.access_token_call_credentials(token)
            response = self.UnaryCall(request, credentials=credentials)
        else:
            response = self.UnaryCall(request, metadata=(("authorization", f"Bearer {token}"),))
        expect("username", response.username, self.account.email)
        expect("scope", response.oauth_scope, scope)

    def oauth2_auth_token(self):
        self.expect_account(SCOPE)

    def per_rpc_creds(self):
        self.expect_account(SCOPE, for_one_call=True)

    def jwt_token_creds(self):
        self.expect_account("")


class Pipe:
    """An iterator that others write to."""

    END = object()

    def __init__(self):
        self.queue = queue.Queue()

    def put(self, item):
        self.queue.put(item)

    def close(self):
        self.queue.put(Pipe.END)

    def __iter__(self):
        return self

    def __next__(self):
        item = self.queue.get()
        if item is Pipe.END:
            raise StopIteration
        return item


def call(account, target, authority, *cases):
    client = Client(account, target, authority)
    for case in cases:
        try:
            getattr(client, case)()
            print(f"{case}: passed", flush=True)
        except (AssertionError, AttributeError, grpc.RpcError) as error:
            reason = " ".join(str(error).split())
            print(f"{case}: failed: {reason}", flush=True)


if __name__ == "__main__":
    load_messages()
    {"server": serve, "client": call}[sys.argv[1]](*sys.argv[2:])
