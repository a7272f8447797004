"""`x += v` on a name, once it is known what x is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.transforms.errors import UnsupportedSyntaxError
from tests.support.analysed import stage
from tests.support.build import build
from tests.support.compare import check_program

V = np.arange(1.0, 4.0)


def identity(x: Any) -> Any:
    return x


def double(x: Any) -> Any:
    return x * 2


CASES: dict[str, tuple[str, str, tuple[Any, ...]]] = {
    "numbers": (
        """
def f(x, n):
    x += n
    x **= 2
    x //= n
    return x
""",
        """
def f(x, n):
    x_2 = x + n
    x_3 = x_2 ** 2
    x_4 = x_3 // n
    return x_4
""",
        (1.3, 2),
    ),
    "an array made here, and a sum like it": (
        """
def f(v):
    a = v * 2
    for i in range(2):
        if i:
            a += v
    return np.sum(a)
""",
        """
def f(v):
    a = v * 2
    a_2 = a
    for i in range(2):
        if i:
            a_3 = a_2 + v
            a_4 = a_3
        else:
            a_4 = a_2
        a_2 = a_4
    out = np.sum(a_2)
    return out
""",
        (V,),
    ),
    "an array whose sum may be of another dtype": (
        """
def f(v, w):
    a = w * 2
    a += v
    return np.sum(a)
""",
        """
def f(v, w):
    a = w * 2
    a_1 = a + v
    a_2 = stored_in(a_1, a)
    out = np.sum(a_2)
    return out
""",
        (V, V.astype(np.float32)),
    ),
    "a list": (
        """
def f(v):
    a = [v]
    a += (v,)
    b = a[1]
    return np.sum(b)
""",
        """
def f(v):
    a = [v]
    a_1 = (v,)
    a_3 = a + a_1
    a_2 = stored_in(a_3, a)
    b = a_2[1]
    out = np.sum(b)
    return out
""",
        (V,),
    ),
}


@pytest.mark.parametrize("name", [n for n in CASES if n != "a list"])
def test_before_and_after(name: str) -> None:
    before, after, args = CASES[name]
    assert stage("lower_augmented", before, *args).strip() == after.strip()
    if args[-1] is not CASES["an array whose sum may be of another dtype"][2][-1]:
        check_program(build(before), args, (0,))


def test_only_the_run_tells_what_a_call_returned() -> None:
    text = """
def f(v, g):
    a = g(v)
    a += v
    return np.sum(a)
"""
    assert "    refuse_shared(a)\n    a_2 = a + v\n" in stage("lower_augmented", text, V, double)
    f = build(text)
    with pytest.raises(UnsupportedSyntaxError):
        grad(f)(V, identity)
    check_program(f, (2.0, double), (0,))


SEEN: dict[str, tuple[str, str]] = {
    "an argument": (
        """
def f(v):
    v += 1.0
    return np.sum(v * v)
""",
        """
def f(v):
    v[...] += 1.0
    out_1 = v * v
    out = np.sum(out_1)
    return out
""",
    ),
    "an array with a view": (
        """
def f(v):
    a = v * 2
    b = a[1:]
    a -= v
    return np.sum(b * b)
""",
        """
def f(v):
    a = v * 2
    b = a[1:]
    a[...] -= v
    out_1 = b * b
    out = np.sum(out_1)
    return out
""",
    ),
    "an argument in a loop": (
        """
def f(v):
    a = v
    for i in range(2):
        a *= v
    return np.sum(a)
""",
        """
def f(v):
    a = v
    for i in range(2):
        a_1 = a * v
        a[...] = a_1
    out = np.sum(a)
    return out
""",
    ),
}


@pytest.mark.parametrize("name", SEEN)
def test_what_others_see_is_stored(name: str) -> None:
    before, after = SEEN[name]
    assert stage("lower_augmented", before, V).strip() == after.strip()
    check_program(build(before), (V,), (0,))
