"""Says who is lucky. One line of JSON for each visitor, one answer for each.

    lucky.py [FAULT]
"""
import json
import sys

FAULT = sys.argv[1] if len(sys.argv) > 1 else None

before, row = "Male", 0
print("READY", flush=True)
for line in sys.stdin:
    word, _, text = line.partition(" ")
    if word != "PERSON":
        continue
    p = json.loads(text)
    long_row = 6 if FAULT == "late" else 5
    same_letter = p["first"][0] == p["last"][-1 if FAULT == "name" else 0].upper()
    same_day = p["day"] == p["month"]
    lucky = (p["sex"] != before and row >= long_row) or same_letter or same_day
    print("LUCKY", str(lucky).lower(), flush=True)
    row = row + 1 if p["sex"] == before else 1
    before = p["sex"]
