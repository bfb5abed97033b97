"""A shop over HTTP with JSON bodies.

    shop.py PORT [FAULT]
"""
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

FAULTS = {
    "floats": "money is a floating-point number",
    "discount-late": "the discount starts after 100 instead of at it",
    "rounds-up": "a tenth is rounded up",
    "keeps-basket": "what is paid stays in the basket",
    "takes-none": "an order of no pieces is taken",
    "short-change": "no change from an overpaid bill",
}
PORT = int(sys.argv[1])
FAULT = sys.argv[2] if len(sys.argv) > 2 else None
if FAULT is not None and FAULT not in FAULTS:
    sys.exit("faults: " + ", ".join(FAULTS))
PRICE = {"PEN": 2, "BOOK": 15, "LAMP": 49}


class Basket:
    pieces = 0
    total = 0

    def reduced(self):
        return self.total > 100 if FAULT == "discount-late" else self.total >= 100

    def due(self):
        if not self.reduced():
            return self.total
        tenth = -(-self.total // 10) if FAULT == "rounds-up" else self.total // 10
        if FAULT == "floats":
            return int(self.total - float(tenth))
        return self.total - tenth

    def add(self, order):
        least = 0 if FAULT == "takes-none" else 1
        if order["pieces"] < least:
            return 422, {"error": "no pieces"}
        self.pieces += order["pieces"]
        self.total += order["pieces"] * PRICE[order["item"]]
        return 201, {"order": order, "pieces": self.pieces}

    def bill(self):
        return 200, {"pieces": self.pieces, "total": self.due(), "discount": self.reduced()}

    def pay(self, amount):
        if amount < self.due():
            return 402, {"error": "too little"}
        change = 0 if FAULT == "short-change" else amount - self.due()
        if FAULT != "keeps-basket":
            self.pieces = self.total = 0
        return 200, {"change": change}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    basket = Basket()

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
            Handler.basket = Basket()
            self.answer(200, {"reset": True})
        elif self.path == "/orders":
            self.answer(*Handler.basket.add(json.loads(body)))
        elif self.path == "/payments":
            self.answer(*Handler.basket.pay(json.loads(body)["amount"]))
        else:
            self.answer(404, {"error": "no such place"})

    def do_GET(self):
        if self.path == "/bill":
            self.answer(*Handler.basket.bill())
        else:
            self.answer(404, {"error": "no such place"})

    def log_message(self, *args):
        pass


HTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
