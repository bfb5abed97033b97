"""A login service over standard input and output: one command a line, strings as JSON.

    login.py [FAULT]
"""
import json
import re
import sys

FAULT = sys.argv[1] if len(sys.argv) > 1 else None


def valid(name):
    if FAULT == "unanchored":  # Accepts whatever starts like a name.
        return re.match("[a-z][a-z0-9]{2,7}", name) is not None
    return re.fullmatch("[a-z][a-z0-9]{2,7}", name) is not None


def strings(text):
    """The JSON strings of a line, one after the other."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(text):
        if text[at] == " ":
            at += 1
        else:
            value, at = decoder.raw_decode(text, at)
            found.append(value)
    return found


class Service:
    def __init__(self):
        self.user = self.secret = None
        self.wrong = 0

    def register(self, name, password):
        if not valid(name):
            return "REFUSED BAD_NAME"
        self.user, self.secret = name, password
        return "REGISTERED " + json.dumps(name)

    def matches(self, password):
        if FAULT == "prefix":  # Old systems looked at the first characters alone.
            return password[:4] == self.secret[:4]
        return password == self.secret

    def login(self, name, password):
        limit = 4 if FAULT == "locks-late" else 3
        if self.wrong >= limit:
            return "REFUSED LOCKED"
        if name == self.user and self.matches(password):
            if FAULT != "counts-on":  # Wrong passwords of the past still count.
                self.wrong = 0
            return "WELCOME " + json.dumps("hello " + name)
        self.wrong += 1
        return "REFUSED LOCKED" if self.wrong >= limit else "REFUSED WRONG"


service = Service()
print("READY", flush=True)
for line in sys.stdin:
    command, _, rest = line.rstrip("\n").partition(" ")
    if command == "REGISTER":
        print(service.register(*strings(rest)), flush=True)
    elif command == "LOGIN":
        print(service.login(*strings(rest)), flush=True)
    elif command == "LOGOUT":
        print("BYE", flush=True)
