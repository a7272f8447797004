"""Checks the derivative of a function with a rule of the user's."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from ..derivatives.argnums import Argnums
from ..derivatives.derivative import Derivative
from ..runtime.border import at_border
from ..values.pytree import flatten, map_structure
from .check_grads import _called, _random_like, check_grads

__all__ = ["check_rule"]


@at_border
def check_rule(
    f: Callable[..., Any],
    *args: Any,
    order: int = 2,
    argnums: Argnums = None,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
) -> None:
    """Raises AssertionError if the rule of `f` is wrong at these arguments; `f` has a rule, or calls
    functions that have one.

    It checks what `check_grads` does: the value, both modes against finite differences and each other, up to
    the derivatives of this `order`. Beyond that: arguments and cotangents are not changed in place; `bprop`
    gives the same when it is called again, also after its gradients were changed in place; it is linear.
    For a rule that is not to be differentiated itself, use `order=1`.

    >>> check_rule(np.hypot, 3.0, np.array([1.0, 4.0]))
    """
    check_grads(f, args, order, argnums=argnums, rtol=rtol, atol=atol, seed=seed)
    called, given = _called(f, args)
    rng = np.random.default_rng(seed)
    name = getattr(f, "__qualname__", repr(f))
    if argnums is None:
        argnums = tuple(k for k, x in enumerate(given) if flatten(x))
    before = deepcopy(given)
    out, bprop = Derivative(called, "vjp", argnums)(*given)
    _expect_same(given, before, f"check_rule of {name}: it changes its arguments in place")
    kept = deepcopy(out)
    dout = _random_like(out, rng)
    cotangent = deepcopy(dout)
    gradients = bprop(dout)
    first = deepcopy(gradients)
    _expect_same(dout, cotangent, f"check_rule of {name}: bprop changes its cotangent in place")
    _expect_same(out, kept, f"check_rule of {name}: bprop changes the result in place")
    _expect_same(given, before, f"check_rule of {name}: bprop changes the arguments in place")
    for leaf in flatten(gradients):
        if isinstance(leaf, np.ndarray) and leaf.flags.writeable:
            leaf[...] = np.nan
    _expect_same(bprop(dout), first, f"check_rule of {name}: a second call of bprop gives something else")
    twice = bprop(map_structure(lambda d: None if d is None else 2 * d, dout))
    for a, b in zip(flatten(twice), flatten(first), strict=True):
        close = np.allclose(a, 2 * np.asarray(b), rtol=1e-6 if rtol is None else rtol)
        assert close, f"check_rule of {name}: bprop is not linear in the cotangent: {a!r} for twice {b!r}"


def _expect_same(found: Any, expected: Any, what: str) -> None:
    pairs = list(zip(flatten(found), flatten(expected), strict=True))
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in pairs), what
