"""Functions that are only linked into their callers run there, and wherever others link or call them."""

from __future__ import annotations

from typing import Any

import pytest

numba = pytest.importorskip("numba")
from s2sad.targets.numba_linking import Linked, linked  # noqa: E402

INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def library_of(dispatcher: Any) -> Any:
    (found,) = dispatcher.overloads.values()
    return found.library


def test_what_is_linked_has_no_machine_code() -> None:
    inner = numba.njit(**INNER)(lambda x: x + 1.0)
    outer = numba.njit(lambda x: inner(x) * 2.0)
    with linked():
        outer.compile((numba.float64,))
    assert outer(3.0) == 8.0
    assert library_of(outer).is_made
    assert not library_of(inner).is_made
    later = numba.njit(lambda x: inner(x) + 1.0)  # of others
    assert later(3.0) == 5.0
    assert not isinstance(library_of(later), Linked)


def test_what_python_may_call_has_machine_code() -> None:
    inner = numba.njit(lambda x: x + 1.0)
    outer = numba.njit(lambda x: inner(x) * 2.0)
    with linked():
        outer.compile((numba.float64,))
    assert inner(1.0) == 2.0
    applied = numba.njit(lambda f, x: f(x))
    assert applied(inner, 1.0) == 2.0


def test_errors_that_tell_values_are_raised_in_all_callers() -> None:
    @numba.njit(**INNER)
    def positive(x: Any) -> Any:
        if x < 0.0:
            raise ValueError("negative", x)
        return x

    first, later = numba.njit(lambda x: positive(x) + 1.0), numba.njit(lambda x: positive(x) + 2.0)
    with linked():
        first.compile((numba.float64,))
    for f in (first, later):
        with pytest.raises(ValueError, match=r"negative.*-2\.0"):
            f(-2.0)


def test_recursive_functions() -> None:
    @numba.njit(**INNER)
    def factorial(n: int) -> int:
        return 1 if n <= 1 else n * factorial(n - 1)

    outer = numba.njit(lambda n: factorial(n) + 1)
    with linked():
        outer.compile((numba.int64,))
    assert outer(5) == 121
