"""A server of grpc.testing.TestService by grpcio, which asks its clients for certificates.

    secured_server.py CERTIFICATE KEY AUTHORITY   prints its port; ends when its input does. AUTHORITY has issued the certificates of
                                                  clients
"""

import sys
from concurrent import futures
from pathlib import Path

import grpc


def call(request, context):
    context.send_initial_metadata((("hostname", "grpcio"),))
    # A response without any field.
    return b""


def main():
    certificate, key, authority = (Path(path).read_bytes() for path in sys.argv[1:4])
    credentials = grpc.ssl_server_credentials([(key, certificate)], authority, require_client_auth=True)
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
    handlers = {"UnaryCall": grpc.unary_unary_rpc_method_handler(call)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("grpc.testing.TestService", handlers),))
    port = server.add_secure_port("127.0.0.1:0", credentials)
    server.start()
    print(port, flush=True)
    sys.stdin.read()
    server.stop(None)


if __name__ == "__main__":
    main()
