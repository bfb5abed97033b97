"""An HTTP service with one session and JSON bodies."""
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

PORT = int(sys.argv[1])
BUG = sys.argv[2] if len(sys.argv) > 2 else "none"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    logged_in = False

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/reset":
            Handler.logged_in = False
            self.answer(200, {"reset": True})
        elif self.path == "/login" and json.loads(body)["user"] == "ann":
            Handler.logged_in = True
            self.answer(200, {"welcome": "ann"})
        elif self.path == "/logout" and Handler.logged_in:
            Handler.logged_in = BUG == "ghost"  # Bug: nobody is ever logged out.
            self.answer(200, {"bye": "ann"})
        else:
            self.answer(403, {"error": "forbidden"})

    def do_GET(self):
        if self.path == "/secret" and Handler.logged_in:
            self.answer(200, {"secret": 42})
        else:
            self.answer(403, {"error": "forbidden"})

    def log_message(self, *args):
        pass


HTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
