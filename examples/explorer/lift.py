"""A lift as a function: which steps does a state have?

Iolite asks it over a pipe (docs/explorers.md), so that the model is explored only as far as a test goes:
iolite test "explore:python3 lift.py 4" --sut …
"""

import json
import sys


def labels(floors):
    calls = [f"?call({floor})" for floor in range(floors)]
    return calls + ["!up", "!down", "!open", "!close"]


def initial():
    return {"floor": 0, "open": False, "calls": []}


def successors(state, floors):
    floor, is_open, calls = state["floor"], state["open"], state["calls"]
    for called in range(floors):
        yield f"?call({called})", {**state, "calls": sorted({*calls, called})}
    if is_open:
        yield "!close", {**state, "open": False}
    elif floor in calls:
        yield "!open", {**state, "open": True, "calls": [c for c in calls if c != floor]}
    else:
        if any(called > floor for called in calls):
            yield "!up", {**state, "floor": floor + 1}
        if any(called < floor for called in calls):
            yield "!down", {**state, "floor": floor - 1}


def main():
    floors = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    for line in sys.stdin:
        question = json.loads(line)
        if question["ask"] == "initial":
            answer = {"explorer": 1, "labels": labels(floors), "initial": initial()}
        else:
            answer = {"successors": list(successors(question["state"], floors))}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
