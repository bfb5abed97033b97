"""The system under test: an HTTP service with one turnstile."""
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from machine import Turnstile

PORT = int(sys.argv[1])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    turnstile = Turnstile(broken="broken" in sys.argv)

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/reset":
            Handler.turnstile = Turnstile(broken="broken" in sys.argv)
            said = "reset"
        else:
            said = Handler.turnstile.handle(self.path.removeprefix("/"))
        body = json.dumps({"said": said}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


HTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
