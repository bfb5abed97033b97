"""A lift that runs: calls come as lines, movements go out as lines.

With `careless` it now and then moves while its door is open.
"""

import select
import sys

careless = "careless" in sys.argv
floor, is_open, calls, rides, direction = 0, False, set(), 0, "up"
while True:
    # Calls first, then one movement.
    moves = is_open or calls
    ready, _, _ = select.select([sys.stdin], [], [], 0.001 if moves else None)
    if ready:
        line = sys.stdin.readline()
        if not line:
            break
        calls.add(int(line[len("call(") : line.index(")")]))
        continue
    rides += 1
    if is_open and not (careless and rides % 7 == 0 and calls - {floor}):
        is_open = False
        print("close", flush=True)
    elif floor in calls and not is_open:
        calls.discard(floor)
        is_open = True
        print("open", flush=True)
    else:
        above = any(called > floor for called in calls)
        below = any(called < floor for called in calls)
        direction = direction if (above and below) else "up" if above else "down"
        floor += 1 if direction == "up" else -1
        print(direction, flush=True)
