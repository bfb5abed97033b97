"""Takes jobs, works on up to four at a time, and says what came out. Lines of JSON.

    dispatch.py [FAULT]
"""
import json
import math
import queue
import random
import sys
import threading
import time

FAULT = sys.argv[1] if len(sys.argv) > 1 else None

jobs = queue.Queue()
talk = threading.Lock()


def work(number):
    while True:
        job = jobs.get()
        time.sleep(random.random() * 0.02)
        divisor = math.gcd(job["x"], job["y"])
        if FAULT == "gcd" and divisor > 1:
            divisor = min(d for d in range(2, divisor + 1) if divisor % d == 0)
        shown = 5 if FAULT == "fifth" and number == 4 else number
        done = {"id": job["id"], "processor": shown, "gcd": divisor}
        with talk:
            if FAULT == "fails" and job["x"] == job["y"]:
                print("FINISH", json.dumps({"Error": {"reason": "equal"}}), flush=True)
            else:
                print("FINISH", json.dumps({"Done": done}), flush=True)


for n in range(1, 5):
    threading.Thread(target=work, args=(n,), daemon=True).start()
print("READY", flush=True)
for line in sys.stdin:
    word, _, text = line.partition(" ")
    if word == "JOB":
        jobs.put(json.loads(text))
