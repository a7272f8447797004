"""Minus signs of what is added to derivatives: where they go, and where they stay."""

from __future__ import annotations

import gast
import numpy as np
import pytest

from s2sad.transforms.simplification.code import apply_rules
from s2sad.transforms.simplification.move_signs import move_sign, read_operands_uncopied, subtract
from s2sad.transforms.trees.printer import to_source
from s2sad.transforms.trees.program import program_of
from tests.support.generated_facts import generated_facts

MOVED = {
    """
def f(d, y, dx):
    dx += -d * y
    return dx
""": """
def f(d, y, dx):
    dx -= d * y
    return dx
""",
    """
def f(d, y, dx):
    dx[1:] += np.sum(-d, axis=0) * y[1:]
    dx[0] -= -y[0]
    return dx
""": """
def f(d, y, dx):
    dx[1:] -= np.sum(d, axis=0) * y[1:]
    dx[0] += y[0]
    return dx
""",
    """
def f(d, y, dx):
    dt = -d * 0.5
    dx[1:] += dt[1:] * 0
    return dx
""": None,  # a part of it is read
    """
def f(d, y, dx):
    dt = -d * 0.5
    dx += dt
    dx += -dt * y
    return dx
""": """
def f(d, y, dx):
    dt = d * 0.5
    dx -= dt
    dx += dt * y
    return dx
""",
    """
def f(d, y, dx):
    dt = -d * 0.5
    du = dt * y
    dx += du
    dx += -dt
    return dx
""": """
def f(d, y, dx):
    dt = d * 0.5
    du = dt * y
    dx -= du
    dx += dt
    return dx
""",
    """
def f(d, y, dx):
    dt = -d * 0.5
    du = dt * y
    dx += du
    return dx, dt
""": None,
    """
def f(d, y, dx):
    dt = -d * 0.5
    du = dt * y
    dx += du
    return dx, du
""": None,
    """
def f(d, y, dx):
    dt = -d
    dx += dt
    d[0] = 5.0
    dx += dt
    return dx
""": None,  # it would be another name of the array
    """
def f(d, y, dx):
    dt = -d * 2.0
    dx += dt * dt
    dx += dt + y
    return dx
""": None,
    """
def f(d, y, dx):
    dt = -d[1:].copy() * 2.0
    du = dt * y[1:]
    dx[1:] += du
    dx[1:] -= du * y[1:]
    return dx
""": """
def f(d, y, dx):
    dt = d[1:] * 2.0
    du = dt * y[1:]
    dx[1:] -= du
    dx[1:] += du * y[1:]
    return dx
""",
    """
def f(d, y, dx):
    dt = -d * 0.5
    du = -dt * y
    dx += du
    return dx
""": """
def f(d, y, dx):
    dt = d * 0.5
    du = dt * y
    dx += du
    return dx
""",
    """
def f(d, y, dx):
    for k in range(3):
        dt = -d * k
        if k > 1:
            dx += dt
        else:
            dx -= dt * y
    return dx
""": """
def f(d, y, dx):
    for k in range(3):
        dt = d * k
        if k > 1:
            dx -= dt
        else:
            dx += dt * y
    return dx
""",
    """
def f(d, y, dx):
    dt = -d * 0.5
    for k in range(3):
        y += dt
        dx += dt
    return dx, y
""": None,  # y is no derivative
}


def derivatives(name: str) -> bool:
    return name.startswith("d")


def is_sum(call: gast.Call) -> bool:
    return isinstance(call.func, gast.Attribute) and call.func.attr == "sum"


def moved(source: str) -> str:
    facts = generated_facts(is_derivative=derivatives, may_go=derivatives, is_odd=is_sum)
    rules = {
        gast.Assign: (read_operands_uncopied, move_sign),
        gast.AugAssign: (read_operands_uncopied, subtract),
    }
    return to_source(apply_rules(program_of(source).tree, facts, rules)).strip()


def result(source: str) -> bytes:
    rng = np.random.default_rng(0)
    scope: dict[str, object] = {"np": np}
    exec(source, scope)
    d, y, dx = rng.normal(size=(3, 5))
    d[1], y[2] = 0.0, -0.0
    out = scope["f"](d, y, dx)  # type: ignore[operator]
    return b"".join(np.asarray(part).tobytes() for part in (out if isinstance(out, tuple) else (out,)))


@pytest.mark.parametrize("source", MOVED)
def test_signs(source: str) -> None:
    expected = MOVED[source] or source
    assert moved(source) == expected.strip()
    assert result(moved(source)) == result(source)
