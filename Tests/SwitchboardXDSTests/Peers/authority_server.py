"""A server of echo.Echo that tells its clients which authority they have: by grpcio, or of Connect over HTTP/1.1.

    authority_server.py [--fails | --connect] [CERTIFICATE KEY]   prints its port; ends when its input does. Its answers have the
                                                                  authority of the call as text. One that fails answers
                                                                  UNAVAILABLE, with the authority as message
"""

import sys
import threading
from concurrent import futures
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import grpc


def answer(authority):
    return b"\x0a" + bytes([len(authority)]) + authority


class Connect(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def read_body(self):
        if self.headers["Transfer-Encoding"] != "chunked":
            return self.rfile.read(int(self.headers["Content-Length"]))
        while length := int(self.rfile.readline(), 16):
            self.rfile.read(length + 2)
        return self.rfile.readline()

    def do_POST(self):
        self.read_body()
        body = answer(self.headers["Host"].encode())
        self.send_response(200)
        self.send_header("Content-Type", "application/proto")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def main():
    arguments = sys.argv[1:]
    if arguments == ["--connect"]:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Connect)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(server.server_address[1], flush=True)
        sys.stdin.read()
        return
    fails = arguments[:1] == ["--fails"]
    files = [Path(path).read_bytes() for path in arguments[1 if fails else 0:]]

    def get(request, context):
        # Nothing public has it.
        authority = context._rpc_event.call_details.host
        if fails:
            context.abort(grpc.StatusCode.UNAVAILABLE, authority.decode())
        return answer(authority)

    server = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
    handlers = {"Get": grpc.unary_unary_rpc_method_handler(get)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("echo.Echo", handlers),))
    if files:
        port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(files[1], files[0])]))
    else:
        port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    sys.stdin.read()
    server.stop(None)


if __name__ == "__main__":
    main()
