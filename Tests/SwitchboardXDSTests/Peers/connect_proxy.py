"""An HTTP proxy that opens tunnels, for tests.

    connect_proxy.py [STATUS]     listens on 127.0.0.1, on a free port, which it prints. It answers each CONNECT with the status, 200
                                  unless one is given; with another there is no tunnel

For each line of its input, it prints in JSON what it was asked for since the one before. It ends with its input.
"""

import json
import socket
import sys
import threading

ASKED = []
LOCK = threading.Lock()


def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def serve(client, status):
    head = b""
    while b"\r\n\r\n" not in head:
        data = client.recv(4096)
        if not data:
            return client.close()
        head += data
    head, rest = head.split(b"\r\n\r\n", 1)
    method, authority = head.split(b"\r\n", 1)[0].decode().split(" ")[:2]
    with LOCK:
        ASKED.append(authority if method == "CONNECT" else head.decode())
    if status != "200":
        client.sendall(f"HTTP/1.1 {status} Not Today\r\n\r\n".encode())
        return client.close()
    host, port = authority.rsplit(":", 1)
    server = socket.create_connection((host.strip("[]"), int(port)))
    client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    server.sendall(rest)
    threading.Thread(target=pump, args=(server, client), daemon=True).start()
    pump(client, server)


def accept(listener, status):
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client, status), daemon=True).start()


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    status = sys.argv[1] if len(sys.argv) > 1 else "200"
    threading.Thread(target=accept, args=(listener, status), daemon=True).start()
    for _ in sys.stdin:
        with LOCK:
            print(json.dumps(ASKED), flush=True)
            ASKED.clear()


if __name__ == "__main__":
    main()
