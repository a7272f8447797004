"""Type parameters and aliases (Python 3.12) mean nothing when a function runs."""

from __future__ import annotations

import sys

import pytest

import s2sad
from tests.support.build import build
from tests.support.compare import check_program

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")

TEXT = """
type Pair[T] = tuple[T, T]

def total[*Ts](*xs: *Ts) -> float:
    return sum(x * x for x in xs)

def called[**P, R](f, *args: P.args, **named: P.kwargs) -> R:
    return f(*args, **named)

class Scale[T]:
    unit = 2.0

    def __init__(self, factor: T):
        self.factor = factor

    def apply[S: float](self, x: S) -> S:
        return self.factor * x * self.unit

    @classmethod
    def of_class[S](cls, x: S) -> S:
        return cls.unit * x

def f[T: float](x: T, y: T) -> T:
    type Item = T
    def square[S](z: S) -> S:
        type Other[Q] = list[Q]
        return z * z
    for k in range(2):
        type Count = int
        z: Item = square(x) * called(total, x, y)
        x = x * y if T.__name__ == "T" else z
    return Scale[float](x).apply(z) + Scale.of_class(total(x, y))
"""

READ = """
def f(x):
    type Item = float
    return x * x if Item.__value__ is float else x
"""


def test_they_have_no_effect() -> None:
    check_program(build(TEXT), (0.7, 1.3), (0, 1))


def test_an_alias_that_is_read_is_refused() -> None:
    with pytest.raises(s2sad.UnsupportedSyntaxError, match="the type alias `Item`, which the function reads"):
        s2sad.grad(build(READ))(2.0)
