"""Values that are computed several times: which are computed once."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad.transforms.simplification.share_values import share_values
from s2sad.transforms.trees.printer import to_source
from s2sad.transforms.trees.program import program_of

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


def shared(source: str) -> str:
    return to_source(share_values(program_of(source).tree, lambda n: True, lambda n: False)).strip()


def result(source: str) -> bytes:
    rng = np.random.default_rng(0)
    scope: dict[str, object] = {"np": np}
    exec(source, scope)
    out = scope["f"](*rng.normal(size=(2, 5)))  # type: ignore[operator]
    return b"".join(np.asarray(part).tobytes() for part in (out if isinstance(out, tuple) else (out,)))


@pytest.mark.parametrize("source", SHARED)
def test_values(source: str) -> None:
    assert shared(source) == (SHARED[source] or source).strip()
    assert result(shared(source)) == result(source)
