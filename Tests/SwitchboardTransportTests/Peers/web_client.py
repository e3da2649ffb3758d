"""Makes one call of gRPC-Web over TLS and HTTP/1.1: web_client.py PORT AUTHORITY PROTOCOLS.

Prints the protocol that the server chose, then the status of its answer and the body in hexadecimal.
"""

import http.client
import ssl
import sys

port, authority, protocols = sys.argv[1:]
context = ssl.create_default_context(cafile=authority)
if protocols:
    context.set_alpn_protocols(protocols.split(","))
connection = http.client.HTTPSConnection("localhost", int(port), context=context, timeout=20)
connection.connect()
chosen = connection.sock.selected_alpn_protocol()
print(chosen, flush=True)
if chosen != "h2":
    connection.request(
        "POST",
        "/test.Test/Get",
        b"\0\0\0\0\3\1\2\3",
        {"content-type": "application/grpc-web"},
    )
    response = connection.getresponse()
    print(response.status, response.read().hex(), flush=True)
