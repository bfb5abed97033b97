"""A queue behind a TCP port. Each connection has a queue of its own."""
import socketserver
import sys
from collections import deque

PORT = int(sys.argv[1])
BUG = sys.argv[2] if len(sys.argv) > 2 else "none"


class Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        queue = deque()
        for line in self.rfile:
            words = line.decode().split()
            if words[0] == "PUT":
                queue.append(words[1])
            elif words[0] == "GET":
                if not queue:
                    answer = "NONE"
                elif BUG == "stack":
                    answer = "GOT " + queue.pop()  # Bug: last in, first out.
                else:
                    answer = "GOT " + queue.popleft()
                self.wfile.write((answer + "\n").encode())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


with Server(("127.0.0.1", PORT), Handler) as server:
    server.serve_forever()
