"""Checks polyhedra against the Parma Polyhedra Library (pplpy), for tests/domains_ppl.rs.

Reads one JSON case a line and prints a line for each disagreement, then "checked N".
"""

import json
import sys

import ppl


def expression(row):
    e = ppl.Linear_Expression(row[0])
    for i, a in enumerate(row[1:]):
        e += a * ppl.Variable(i)
    return e


def polyhedron(dims, constraints):
    p = ppl.C_Polyhedron(dims, "universe")
    for equal, row in constraints:
        e = expression(row)
        if all(a == 0 for a in row[1:]):
            # A constant: pplpy wants a variable in a constraint.
            if row[0] < 0 or (equal and row[0] != 0):
                return ppl.C_Polyhedron(dims, "empty")
            continue
        p.add_constraint(e == 0 if equal else e >= 0)
    return p


def same(p, q):
    return p.contains(q) and q.contains(p)


def check(case):
    dims = case["dims"]
    made = lambda name: polyhedron(dims, case[name])
    a, b = made("a"), made("b")
    yield "empty", a.is_empty() == case["empty"]
    yield "leq", b.contains(a) == case["leq"]
    for name in ("a", "b"):
        minimal = made(name).minimized_constraints()
        yield "minimal " + name, len(minimal) == len(case[name]) or made(name).is_empty()
    hull = ppl.C_Polyhedron(a)
    hull.poly_hull_assign(b)
    yield "join", same(hull, made("join"))
    if not a.is_empty():
        widened = ppl.C_Polyhedron(hull)
        widened.H79_widening_assign(a)
        yield "widen", same(widened, made("widen"))
    x = ppl.Variable(case["x"])
    free = ppl.C_Polyhedron(a)
    free.unconstrain(x)
    yield "forget", same(free, made("forget"))
    image = ppl.C_Polyhedron(a)
    image.affine_image(x, expression(case["rhs"]))
    yield "assign", same(image, made("assign"))
    # A guard may round to integers, and so cut off more than over the rationals, never less.
    met = ppl.C_Polyhedron(a)
    met.intersection_assign(b)
    yield "meet", met.contains(made("meet"))
    kept = ppl.C_Polyhedron(a)
    kept.remove_higher_space_dimensions(dims - 1)
    yield "keep", same(kept, polyhedron(dims - 1, case["keep"]))


def main():
    count = 0
    for line in sys.stdin:
        case = json.loads(line)
        for what, right in check(case):
            if not right:
                print("seed", case["seed"], "disagrees on", what, line.strip())
        count += 1
    print("checked", count)


main()
