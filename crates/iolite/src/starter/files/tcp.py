"""The system under test: a server with a turnstile for each connection."""
import socketserver
import sys

from machine import Turnstile

PORT = int(sys.argv[1])


class Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        turnstile = Turnstile(broken="broken" in sys.argv)
        for line in self.rfile:
            answer = turnstile.handle(line.decode().strip().lower())
            self.wfile.write((answer.upper() + "\n").encode())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


with Server(("127.0.0.1", PORT), Handler) as server:
    server.serve_forever()
