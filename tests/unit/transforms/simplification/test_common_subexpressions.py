"""Values that are computed several times: which are computed once."""

from __future__ import annotations

import gast
import numpy as np
import pytest

from s2sad.transforms.simplification.code import apply_rules
from s2sad.transforms.simplification.common_subexpressions import read_uncopied, share_value
from s2sad.transforms.trees.printer import to_source
from s2sad.transforms.trees.program import program_of
from tests.support.generated_facts import generated_facts

SHARED = {
    """
def f(d, x):
    a = d[1:].copy()
    b = a * 0.5
    x[1:] += b
    c = a * 0.5
    x[:-1] += c
    return x
""": """
def f(d, x):
    a = d[1:].copy()
    b = a * 0.5
    x[1:] += b
    x[:-1] += b
    return x
""",
    """
def f(d, x):
    a = d + x
    b = -a
    c = b * 2.0
    x += c
    e = -a
    g = e * 2.0
    for k in range(2):
        x -= g
    return x
""": """
def f(d, x):
    a = d + x
    b = -a
    c = b * 2.0
    x += c
    for k in range(2):
        x -= c
    return x
""",
    """
def f(d, x):
    b = d * 0.5
    x += b
    d[0] = 3.0
    c = d * 0.5
    x += c
    return x
""": None,  # d is changed, and may be in any case
    """
def f(d, x):
    a = d + x
    b = a * 0.5
    x += b
    c = a * 0.5
    c[0] = 1.0
    return x + c
""": None,
    """
def f(d, x):
    a = d + x
    b = a * 0.5
    x += b
    c = a * 0.5
    return x, c
""": None,
    """
def f(d, x):
    a = d + x
    b = a * 0.5
    if x[0] > 0:
        c = a * 0.5
        x += c
    return x + b
""": None,
    """
def f(d, x):
    a = d + x
    b = a * 0.5
    x += b
    for k in range(3):
        c = a * 0.5
        x += c
        a = a + c
    return x
""": None,
    """
def f(d, x):
    a = d + x
    b = -a
    x += b
    c = -a
    x += c
    return x
""": None,  # they are subtracted
    """
def f(d, x):
    a = d + x
    if x[1] > -9:
        b = a * 0.5
        x += b
        c = a * 0.5
    x += c
    return x
""": None,  # it is read outside of the block
}


PRODUCTS_WITH_ONE = {
    """
def f(d, x):
    a = 1.0 * x
    b = a * d
    d[0] += 2.0
    c = b - a
    return b + c
""": """
def f(d, x):
    b = x * d
    d[0] += 2.0
    c = b - x
    return b + c
""",
    """
def f(d, x):
    a = 1.0 * x
    b = a * d
    x[0] += 2.0
    return b + a
""": None,
    """
def f(d, x):
    a = 1.0 * x
    b = a * d
    x = x * 2.0
    c = a * x
    return b + c
""": None,
    """
def f(d, x):
    b = d * 2.0
    a = 1.0 * d
    b += a
    c = a * x
    return b + c
""": None,  # derivatives may share memory
    """
def f(d, x):
    a = 1.0 * x
    b = [a, d]
    c = a * d
    return b[0] + c
""": None,
    """
def f(d, x):
    a = 1.0 * x
    b = a * d
    if b[0] > 0.0:
        x[:] = 0.0
    c = a + b
    return c * d
""": None,
}


NUMBERS = {
    """
def f(d, x):
    k = 0.0
    for _ in range(3):
        a = 0.1 * k
        k = k + 1.0 + a
        b = 0.1 * k
        x = x + b
    return x
""": None,  # k has another value by then
    """
def f(d, x):
    k = 0.5
    for j in range(3):
        a = 0.1 * k
        x = x + a
        for _ in range(2):
            k = k * 0.5
        b = 0.1 * k
        x = x - b
        c = 0.1 * k
        x = x * c
    return x
""": """
def f(d, x):
    k = 0.5
    for j in range(3):
        a = 0.1 * k
        x = x + a
        for _ in range(2):
            k = k * 0.5
        b = 0.1 * k
        x = x - b
        x = x * b
    return x
""",
}


def shared(source: str) -> str:
    tree = program_of(source).tree
    facts = generated_facts(
        may_go=lambda name: True,
        holds_number=lambda name: name == "k",
        is_float=lambda node: node.id in ("d", "x"),
        is_derivative=lambda name: name in ("b", "d"),
    )
    return to_source(apply_rules(tree, facts, {gast.Assign: (share_value, read_uncopied)})).strip()


def result(source: str) -> bytes:
    rng = np.random.default_rng(0)
    scope: dict[str, object] = {"np": np}
    exec(source, scope)
    out = scope["f"](*rng.normal(size=(2, 5)))  # type: ignore[operator]
    return b"".join(np.asarray(part).tobytes() for part in (out if isinstance(out, tuple) else (out,)))


@pytest.mark.parametrize("source", SHARED | PRODUCTS_WITH_ONE | NUMBERS)
def test_values(source: str) -> None:
    assert shared(source) == ((SHARED | PRODUCTS_WITH_ONE | NUMBERS)[source] or source).strip()
    assert result(shared(source)) == result(source)
