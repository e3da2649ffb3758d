"""TLS before a server that speaks plaintext, for tests.

    tls_front.py PORT CERTIFICATE KEY     listens on 127.0.0.1, on a free port, which it prints, and passes what comes on to the port

For each line of its input, it prints in JSON which names clients have asked for (SNI) since the one before, null for a connection
without one. It ends with its input.
"""

import asyncio
import json
import ssl
import sys

ASKED = []


async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def main():
    port, certificate, key = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["h2"])
    context.sni_callback = lambda connection, name, context: ASKED.append(name)

    async def serve(reader, writer):
        back_reader, back_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pump(reader, back_writer), pump(back_reader, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(ASKED), flush=True)
        ASKED.clear()
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
