"""The other side of TLSErrorTests: a TLS peer that has never heard of ALPN.

    tls_peer.py client PORT CA            connects; prints what comes of it
    tls_peer.py server CERTIFICATE KEY    prints its port, then serves handshakes until its input ends
"""

import socket
import ssl
import sys
import threading


def client(port, authority):
    context = ssl.create_default_context(cafile=authority)
    try:
        with socket.create_connection(("127.0.0.1", int(port))) as plain:
            with context.wrap_socket(plain, server_hostname="localhost") as secure:
                print(f"connected, then {secure.recv(100)!r}", flush=True)
    except (ssl.SSLError, OSError) as error:
        print(error, flush=True)


def greet(context, plain):
    try:
        with context.wrap_socket(plain, server_side=True) as secure:
            secure.recv(100)
    except (ssl.SSLError, OSError):
        pass


def server(certificate, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            greet(context, listener.accept()[0])

    threading.Thread(target=serve, daemon=True).start()
    print(listener.getsockname()[1], flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    {"client": client, "server": server}[sys.argv[1]](*sys.argv[2:])
