"""Serves web_page.html on a port of 127.0.0.1 that it prints, until its input ends.

What the page loads from /wait comes once the page has posted to /done.
"""

import http.server
import pathlib
import sys
import threading

page = pathlib.Path(__file__).with_suffix(".html").read_bytes()

done = threading.Event()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/wait":
            done.wait(60)
            return self.answer(b"", "image/png")
        self.answer(page, "text/html; charset=utf-8")

    def do_POST(self):
        done.set()
        self.answer(b"", "text/plain")

    def answer(self, body, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
