"""A controller over standard input and output, a message a line.

It ticks once by itself, after a random time, and answers `ask`: `ok` before the tick, `late` after it.
It looks at its clock before it looks at its input, so a question can be under way while it ticks.

Kinds: `right`; `stale` answers `ok` although it has ticked; `twice` ticks twice; `deaf` does not answer
after the tick.
"""

import random
import select
import sys
import time

kind = sys.argv[1] if len(sys.argv) > 1 else "right"
delay = float(sys.argv[2]) / 1000 if len(sys.argv) > 2 else 0.0


def say(message):
    time.sleep(delay)
    print(message, flush=True)


print("ready", flush=True)
due = time.monotonic() + random.uniform(0.0, 0.02)
ticks = 2 if kind == "twice" else 1
ticked = False
while True:
    wait = max(0.0, due - time.monotonic()) if ticks else None
    ready, _, _ = select.select([sys.stdin], [], [], wait)
    if ticks and time.monotonic() >= due:
        ticks -= 1
        ticked = True
        say("tick")
        continue
    if ready:
        line = sys.stdin.readline()
        if not line:
            break
        if not ticked or kind == "stale":
            say("ok")
        elif kind != "deaf":
            say("late")
