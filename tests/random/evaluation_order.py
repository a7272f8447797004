"""Random functions that consist of assignments, in which the order of evaluation shows.

A function `f(log, x)` has the variables a, b and c, a list `x`, a function `t` that notes its argument in
`log` and returns it, and `m`, which changes `x`. Its text holds every kind of target and expression, `:=`
included.
"""

from __future__ import annotations

import random

__all__ = ["random_assignments"]

HEADER = """
def f(log, x):
    a, b, c = 1, 2, 3
    def t(v):
        log.append(v)
        return v
    def m(v):
        x[0], x[1] = x[1] + 1, x[0]
        log.append((v, a))
        return v
"""


def random_assignments(seed: int) -> str:
    """The text of a function."""
    rng = random.Random(seed)
    lines = [f"    {statement(rng)}" for _ in range(rng.randrange(2, 7))]
    return HEADER + "\n".join(lines) + "\n    return a, b, c, x, log\n"


def statement(rng: random.Random) -> str:
    kind = rng.choice(
        ("assign", "assign", "parallel", "parallel", "chain", "augmented", "unpack", "effect", "assert")
    )
    match kind:
        case "assign":
            return f"{target(rng)} = {expression(rng, 3)}"
        case "parallel":
            count = rng.choice((2, 2, 3))
            return (
                ", ".join(target(rng) for _ in range(count))
                + " = "
                + ", ".join(expression(rng, 2) for _ in range(count))
            )
        case "chain":
            return f"{target(rng)} = {target(rng)} = {expression(rng, 2)}"
        case "augmented":
            return f"{rng.choice(('a', 'b', f'x[{index(rng)}]'))} {rng.choice('+-*')}= {expression(rng, 2)}"
        case "unpack":
            return rng.choice(
                (
                    f"{target(rng)}, ({target(rng)}, {target(rng)}) = {expression(rng, 1)}, x[:2]",
                    f"{target(rng)}, *{target(rng)} = {rng.choice(('x[:]', f'[{expression(rng, 2)}]'))}",
                    f"({target(rng)}, *{target(rng)}, {target(rng)}), {target(rng)}"
                    f" = [x[1:], {expression(rng, 2)}]",
                )
            )
        case "assert":
            return f"assert {expression(rng, 2)} != 99, t(5)"
        case _:
            return expression(rng, 3)


def target(rng: random.Random) -> str:
    return rng.choice(("a", "b", "c", f"x[{index(rng)}]"))


def index(rng: random.Random) -> str:
    return rng.choice(("0", "1", "t(2)", "-1", "m(0)", "(a := 1)", "b % 3", "t(0) or 1"))


def expression(rng: random.Random, depth: int) -> str:
    if depth <= 0:
        return rng.choice(
            ("a", "b", "c", "4", "-2", "x[0]", "t(a)", "m(3)", f"({rng.choice('abc')} := 7)", "x[-1]")
        )

    def e() -> str:
        return expression(rng, depth - rng.choice((1, 1, 2)))

    match rng.randrange(15):
        case 0 | 1 | 2:
            return f"({e()} {rng.choice('+-*')} {e()})"
        case 3:
            return f"({e()} {rng.choice(('and', 'or'))} {e()})"
        case 4:
            return f"({e()} if {e()} else {e()})"
        case 5:
            return f"({e()} < {e()} <= {e()})"
        case 6:
            return f"t({e()})"
        case 7:
            return f"m({e()})"
        case 8:
            return f"({rng.choice('abc')} := {e()})"
        case 9:
            return f"[{e()}, {e()}][{rng.choice(('0', '1', '-1'))}]"
        case 10:
            value, width = (
                expression(rng, 0),
                expression(rng, 0),
            )  # simple: quotes do not nest before Python 3.12
            return f"len(f'{{{value}:>{{{width} if a == -1 else 3}}}}')"
        case 11:
            return f"(lambda v, w={e()}: v + w + a)({e()})"
        case 12:
            return f"{{{e()}: {e()}, 'k': {e()}}}['k']"
        case 13:
            return f"x[{e()} % 3:][:{e()}].count({e()})"
        case _:
            return f"(not {e()})"
