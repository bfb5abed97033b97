"""The control connection of a small FTP server (RFC 959), with replies of several lines."""
import socket
import sys
import threading

PORT = int(sys.argv[1])
BUG = sys.argv[2] if len(sys.argv) > 2 else "none"


def serve(connection):
    stream = connection.makefile("rwb", buffering=0)

    def reply(code, *texts):
        for text in texts[:-1]:
            stream.write(f"{code}-{text}\r\n".encode())
        stream.write(f"{code} {texts[-1]}\r\n".encode())

    def features():
        # RFC 2389: lines between the first and the last begin with a space, and may look like replies.
        stream.write(b"211-Features:\r\n UTF8\r\n 211 is no end\r\n211 End\r\n")

    user = logged_in = renaming = False
    reply(220, "ftp.example", "Nobody is logged in.", "ready")
    while line := stream.readline():
        verb, _, word = line.decode("latin-1").strip().partition(" ")
        verb = verb.upper()
        after_rnfr, renaming = renaming, BUG == "patient" and renaming
        if verb == "USER":
            user, logged_in = True, False
            reply(331, "password?")
        elif verb == "PASS" and user:
            logged_in = word == "secret"
            user = BUG == "again" and not logged_in  # Bug: a password may be tried twice for one USER.
            reply(230, "Welcome.", "You are logged in.") if logged_in else reply(530, "wrong password")
        elif verb == "PASS":
            reply(503, "USER first")
        elif verb == "FEAT":
            features()
        elif not logged_in:
            reply(530, "log in first")
        elif verb == "PWD":
            reply(257, '"/" is the current directory')
        elif verb == "RNFR":
            renaming = True
            reply(350, "to what?")
        elif verb == "RNTO" and after_rnfr:
            renaming = False
            reply(250, "renamed")
        elif verb == "RNTO":
            reply(503, "RNFR first")
        else:
            reply(502, "not implemented")


def session(connection):
    with connection:
        try:
            serve(connection)
        except OSError:
            pass


with socket.create_server(("127.0.0.1", PORT)) as server:
    print("listening", flush=True)
    while True:
        connection, _ = server.accept()
        threading.Thread(target=session, args=(connection,), daemon=True).start()
