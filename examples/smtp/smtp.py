"""A small mail server: replies of several lines, a text that ends with a dot."""
import socket
import sys

PORT = int(sys.argv[1])
BUG = sys.argv[2] if len(sys.argv) > 2 else "none"


def serve(connection):
    stream = connection.makefile("rwb", buffering=0)

    def reply(*lines):
        code, texts = lines[0], lines[1:]
        for text in texts[:-1]:
            stream.write(f"{code}-{text}\r\n".encode())
        stream.write(f"{code} {texts[-1]}\r\n".encode())

    sender = recipient = False
    reply(220, "mail.example ready")
    while line := stream.readline():
        verb = line.decode("latin-1").strip().upper()
        if verb.startswith("EHLO"):
            reply(250, "mail.example", "PIPELINING", "8BITMIME")
        elif verb.startswith("MAIL FROM:"):
            sender, recipient = True, False
            reply(250, "ok")
        elif verb.startswith("RCPT TO:") and sender:
            recipient = True
            reply(250, "ok")
        elif verb == "DATA" and recipient:
            reply(354, "end with a line of one dot")
            while (text := stream.readline()) and text != b".\r\n":
                if BUG == "dots" and text == b"..\r\n":
                    break  # Bug: a line of two dots, which stands for one dot, ends the text.
            sender = recipient = False
            reply(250, "queued as 1")
        elif verb == "RSET":
            if BUG != "remembers":  # Bug: the sender survives a reset.
                sender = recipient = False
            reply(250, "ok")
        else:
            reply(503, "out of order")


with socket.create_server(("127.0.0.1", PORT)) as server:
    print("listening", flush=True)
    while True:
        connection, _ = server.accept()
        with connection:
            try:
                serve(connection)
            except OSError:
                pass
