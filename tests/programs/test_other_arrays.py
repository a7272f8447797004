"""Programs on arrays of strict libraries: their derivatives are those for NumPy's arrays, or are refused."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import s2sad
from tests.programs.corpus import PROGRAMS, Program
from tests.support.compare import is_sampled, random_like
from tests.support.foreign_arrays import Lazy, Strict, plain, wrapped
from tests.support.same import as_result, own_type, same


def holds_array(x: Any) -> bool:
    """Whether a value is an array with axes, or a list, tuple or dict that holds one."""
    if isinstance(x, (list, tuple, dict)):
        return any(map(holds_array, x.values() if isinstance(x, dict) else x))
    return isinstance(x, np.ndarray) and x.ndim > 0


CHOSEN = [p for p in PROGRAMS if is_sampled(p.function) and any(holds_array(p.args[k]) for k in p.wrt)]


@pytest.mark.parametrize("p", [pytest.param(p, id=p.name) for p in CHOSEN])
def test_programs_of_the_corpus_are_right_or_refused(p: Program) -> None:
    out, bprop = s2sad.vjp(p.function, argnums=p.wrt)(*copy.deepcopy(p.args))
    dout = random_like(out, np.random.default_rng(1))
    expected = bprop(dout)
    for cls in (Strict, Lazy):
        args = wrapped(copy.deepcopy(p.args), cls)
        try:
            p.function(*copy.deepcopy(args))
        except (TypeError, ValueError, AttributeError):
            continue  # the function itself does not take them
        try:
            out, bprop = s2sad.vjp(p.function, argnums=p.wrt)(*args)
            found = bprop(as_result(out, dout, cls))
        except s2sad.InternalError:
            raise
        except s2sad.S2sadError:
            continue
        assert same(plain(found), expected)
        assert all(own_type(g, args[k], cls) for g, k in zip(found, p.wrt, strict=True))


def test_most_programs_are_right() -> None:
    """The comparison above passes over what is refused: most programs of arrays are not."""
    wanted = [p for p in CHOSEN if p.function.__module__.endswith(("elementwise", "reductions", "shaping"))]
    right = 0
    for p in wanted:
        try:
            s2sad.vjp(p.function, argnums=p.wrt)(*wrapped(copy.deepcopy(p.args), Strict))
            right += 1
        except (s2sad.S2sadError, TypeError, AttributeError):
            continue
    assert len(wanted) > 8 and right > 0.8 * len(wanted)


# ---------------------------------------------------------------- single programs


def scaled(b, x):
    return np.sum(b * x)


def as_float(x):
    return float(np.sum(x * x))


def changed(x):
    y = np.zeros_like(x)
    y[0] = x[1]
    y += x
    return np.sum(y**2)


def aliased(x):
    y = x * 2.0
    z = y[1:]
    z[0] = 1.0
    return np.sum(y) + np.sum(z)


def converted(x):
    return np.sum(np.asarray(x))


def two_libraries(x, y):
    return np.sum(x) * np.sum(y)


X = np.arange(6.0).reshape(3, 2) + 0.5


@pytest.mark.parametrize("f", [as_float, changed])
def test_what_eager_arrays_allow(f: Any) -> None:
    np.testing.assert_allclose(plain(s2sad.grad(f)(Strict(X))), s2sad.grad(f)(X))


def test_the_gradient_of_a_float_is_a_float() -> None:
    db = s2sad.grad(scaled)(1.5, Strict(X))
    assert type(db) is float and db == X.sum()
    with pytest.raises(s2sad.UnsupportedSyntaxError, match="`b`, which carries a derivative"):
        s2sad.grad(scaled)(1.5, Lazy(X))


@pytest.mark.parametrize("cls", [Strict, Lazy])
@pytest.mark.parametrize(("f", "words"), [(aliased, "that others may hold"), (converted, "numpy.asarray")])
def test_refusals_name_the_operation(f: Any, words: str, cls: Any) -> None:
    with pytest.raises(s2sad.UnsupportedSyntaxError, match=words):
        s2sad.grad(f)(cls(X))


def test_two_libraries_are_refused() -> None:
    with pytest.raises(s2sad.UnsupportedSyntaxError, match=r"arrays of .*Lazy and .*Strict"):
        s2sad.grad(two_libraries)(Strict(X), Lazy(X))


REFUSED: dict[str, Any] = {
    "a Jacobian": lambda x: s2sad.jacobian(np.sin)(x),
    "compiled code": lambda x: s2sad.grad(as_float, compile="numba")(x),
    "a check of gradients": lambda x: s2sad.check_grads(np.sin, (x,)),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_of_numpy_alone_is_refused(what: str) -> None:
    with pytest.raises(s2sad.NonDifferentiableError, match=f"{what} was asked of an array of .*Strict"):
        REFUSED[what](Strict(X))
