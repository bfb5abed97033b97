"""A news service on WebSocket [RFC 6455], with nothing but the standard library."""
import base64
import hashlib
import select
import socket
import sys

PORT = int(sys.argv[1])
BUG = sys.argv[2] if len(sys.argv) > 2 else "none"
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def read(conn, count):
    data = b""
    while len(data) < count:
        piece = conn.recv(count - len(data))
        if not piece:
            raise ConnectionError
        data += piece
    return data


def handshake(conn):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += read(conn, 1)
    key = next(
        line.split(b":", 1)[1].strip()
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"sec-websocket-key:")
    )
    accept = base64.b64encode(hashlib.sha1(key + GUID).digest())
    conn.sendall(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
        b"Connection: Upgrade\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n"
    )


def read_message(conn):
    first, second = read(conn, 2)
    length = second & 127
    if length == 126:
        length = int.from_bytes(read(conn, 2), "big")
    mask = read(conn, 4)
    data = bytes(b ^ mask[i % 4] for i, b in enumerate(read(conn, length)))
    if first & 15 == 8:
        raise ConnectionError
    return data.decode()


def say(conn, text):
    conn.sendall(bytes([0x81, len(text)]) + text.encode())


def serve(conn):
    conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    handshake(conn)
    subscribed = False
    while True:
        ready, _, _ = select.select([conn], [], [], 0.02 if subscribed else None)
        if not ready:
            say(conn, "news")
            continue
        wish = read_message(conn)
        if wish == "subscribe":
            subscribed = True
            say(conn, "hello")
        elif wish == "leave":
            subscribed = False
            say(conn, "bye")
            if BUG == "late":
                say(conn, "news")  # Bug: one more after the goodbye.


server = socket.create_server(("127.0.0.1", PORT))
while True:
    connection, _ = server.accept()
    with connection:
        try:
            serve(connection)
        except ConnectionError:
            pass
