"""Takes customers and orders, and reports after each change. Lines of JSON.

    orders.py [FAULT]
"""
import json
import sys

FAULT = sys.argv[1] if len(sys.argv) > 1 else None

customers, orders = [], []


def report():
    print("REPORT", json.dumps({"customers": customers, "orders": orders}), flush=True)


print("READY", flush=True)
report()
for line in sys.stdin:
    word, _, text = line.partition(" ")
    if word == "CUSTOMER":
        customer = json.loads(text)
        if FAULT == "no-fax":
            customer["fax"] = "NoFax"
        customers.insert(len(customers) if FAULT == "order" else 0, customer)
        report()
    elif word == "ORDER":
        if FAULT != "forgets":
            orders.insert(0, json.loads(text))
        report()
