"""A till over standard input and output, in JSON.

    till.py
"""
import json
import sys
from decimal import ROUND_HALF_UP, Decimal

prices = {"apples": Decimal("2.45"), "nuts": Decimal("12.90"), "salt": Decimal("0.35")}
reduced = set()
net = Decimal(0)


def rounded(amount, places):
    return amount.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


print("READY", flush=True)
for text in sys.stdin:
    word, _, rest = text.partition(" ")
    args = json.loads(rest, parse_float=Decimal, parse_int=Decimal) if rest.strip() else None
    if word == "PRICE":
        name, price = args
        prices[name] = price
        pairs = (f"{json.dumps(n)}: {p}" for n, p in reversed(prices.items()))
        print("PRICES {" + ", ".join(pairs) + "}", flush=True)
    elif word == "REDUCE":
        reduced = set(args)
    elif word == "WEIGH":
        name, weight = args
        due = rounded(prices[name] * weight, 3)
        due = rounded(rounded(due * (Decimal("0.5") if name in reduced else 1), 3), 2)
        net += due
        print("LINE", due, flush=True)
    elif word.strip() == "PAY":
        print(f"TOTAL {net} {rounded(net * Decimal('0.19'), 2)}", flush=True)
        net = Decimal(0)
