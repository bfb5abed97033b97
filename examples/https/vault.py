"""A vault behind HTTPS: whoever logs in gets a cookie, and with it the secret."""
import json
import pathlib
import secrets
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = int(sys.argv[1])
BUG = sys.argv[2] if len(sys.argv) > 2 else "none"
HERE = pathlib.Path(__file__).parent
SESSIONS = set()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body, cookie=None):
        data = json.dumps(body).encode()
        self.send_response(status)
        if cookie:
            self.send_header("Set-Cookie", f"session={cookie}; Secure; HttpOnly")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def session(self):
        name, _, value = self.headers.get("Cookie", "").partition("=")
        if BUG == "careless" and name == "session" and value:
            return value  # Bug: any cookie will do.
        return value if value in SESSIONS else None

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/login":
            if json.loads(body) == {"user": "ann", "pin": 1234}:
                token = secrets.token_hex(16)
                SESSIONS.add(token)
                self.answer(200, {"user": {"name": "ann", "id": 7}}, token)
            else:
                self.answer(401, {"error": "wrong pin"})
        elif self.path == "/logout" and self.session():
            if BUG != "immortal":  # Bug: the cookie works after logout.
                SESSIONS.discard(self.session())
            self.answer(200, {"bye": True})
        else:
            self.answer(403, {"error": "forbidden"})

    def do_GET(self):
        if self.path == "/secret" and self.session():
            self.answer(200, {"secret": 42})
        else:
            self.answer(403, {"error": "forbidden"})

    def log_message(self, *args):
        pass


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(HERE / "server.pem", HERE / "server.key")
server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
# The handshake belongs to the connection's own thread.
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print("listening", flush=True)
server.serve_forever()
