"""A stack behind a TCP port. Each connection has a stack of its own.

    stack.py PORT [FAULT]
"""
import socketserver
import sys

PORT = int(sys.argv[1])
FAULT = sys.argv[2] if len(sys.argv) > 2 else None
CAPACITY = 5


class Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def answer(self, text):
        self.wfile.write((text + "\n").encode())

    def handle(self):
        stack = []
        for line in self.rfile:
            words = line.decode().split()
            if words[0] == "PUSH":
                value = int(words[1])
                if FAULT == "wraps":
                    value = (value + 2**31) % 2**32 - 2**31  # A machine word of 32 bits.
                if len(stack) < CAPACITY:
                    stack.append(value)
                elif FAULT != "forgets":  # Drops what does not fit, and says nothing.
                    self.answer("FULL")
            elif words[0] == "POP":
                if not stack:
                    self.answer("EMPTY")
                elif FAULT == "queue":
                    self.answer(f"POPPED {stack.pop(0)}")
                else:
                    self.answer(f"POPPED {stack.pop()}")
            elif words[0] == "SIZE":
                extra = 1 if FAULT == "miscounts" and len(stack) == CAPACITY else 0
                self.answer(f"HOLDS {len(stack) + extra}")


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


with Server(("127.0.0.1", PORT), Handler) as server:
    server.serve_forever()
