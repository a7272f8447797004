"""Each rule of a function on arrays with nested lists for arrays: values and derivatives are the same, and
derivatives have the structure of what was passed.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.special
import scipy.stats

from s2sad import jvp, vjp
from s2sad.primitives.record import Rule, rules, takes_arrays
from tests.support.build import build
from tests.support.compare import (
    EVERY_FORM,
    assert_close,
    assert_like,
    flatten,
    number_of,
    random_like,
)

# Imported, so that their rules are there.
LIBRARIES = (
    *(scipy.fft, scipy.integrate, scipy.linalg, scipy.ndimage, scipy.optimize, scipy.signal, scipy.special),
    scipy.stats,
)
LONGEST = 16  # of longer tuples the kinds of the items are not told apart


def nested(x: Any, kind: type) -> Any:
    """Nested lists or tuples for an array; containers of such."""
    if isinstance(x, np.ndarray):
        kind = kind if x.size <= LONGEST else list
        return kind(nested(v, kind) for v in x) if x.ndim else x
    if type(x) in (list, tuple):
        return type(x)(nested(v, kind) for v in x)
    return x.item() if isinstance(x, np.generic) else x


def samples() -> list[Any]:
    """The first sample of each rule of a function on arrays."""
    found = []
    for rule in filter(lambda r: takes_arrays(r.functions[0]), rules()):
        module = rule.template.function.__module__.rpartition(".")[2]
        if rule.samples and callable(rule.samples[0]):
            found.append(pytest.param(rule, rule.samples[0], id=f"{module}-{rule.name}"))
    return found


def agree(f: Any, args: Any, lists: Any, keywords: Any) -> bool:
    """Whether NumPy takes lists for the arrays."""
    try:
        values = [flatten(f(*copy.deepcopy(a), **keywords)) for a in (args, lists)]
    except (TypeError, ValueError, AttributeError, IndexError):
        return False
    shapes = [[np.shape(v) for v in leaves] for leaves in values]
    return bool(values[0]) and shapes[0] == shapes[1] and all(map(np.allclose, *values))


def wanted(rule: Rule, args: tuple[Any, ...]) -> tuple[int, ...]:
    """The arguments that carry derivatives."""
    slots = rule.template.gradients if rule.template.vararg is None else len(args)
    refused = {k for k, p in enumerate(rule.template.parameters) if p in rule.refused}
    return tuple(k for k, a in enumerate(args[:slots]) if flatten(a) and k not in refused)


def holds_integers(x: Any) -> bool:
    """Whether there are lists of integers, of which there is no gradient, within a container."""
    return any(map(holds_integers, x)) if type(x) in (list, tuple) else isinstance(x, (int, np.integer))


def flat(x: Any) -> Any:
    return np.concatenate([np.ravel(v) for v in flatten(x)] or [np.zeros(0)])


def shaped(numbers: Any, like: Any) -> Any:
    """The numbers, in the structure of a value."""
    left = iter(numbers)

    def taken(x: Any) -> Any:
        if type(x) in (list, tuple):
            return type(x)(taken(v) for v in x)
        if isinstance(x, np.ndarray):
            return np.reshape(np.array([next(left) for _ in range(x.size)], x.dtype), x.shape)
        return type(x)(next(left)) if isinstance(x, (float, complex)) else None

    return taken(like)


@pytest.mark.parametrize(("rule", "sample"), samples())
def test_lists_have_the_derivatives_of_arrays(rule: Rule, sample: Any) -> None:
    kinds = [list, tuple]
    for kind in kinds if EVERY_FORM else kinds[number_of(rule.template.function) % 2 :][:1]:
        check_sequences(rule, sample, kind)


def check_sequences(rule: Rule, sample: Any, kind: type) -> None:
    args, keywords = sample(np.random.default_rng(5))
    lists = tuple(nested(a, kind) for a in args)
    function = rule.functions[0]
    wrt = wanted(rule, args)
    if not wrt or not agree(function, args, lists, keywords):
        pytest.skip("NumPy takes no lists here, or nothing carries a derivative")
    names = [f"a{k}" for k in range(len(args))]
    passed = [*names, *(f"{k}={k}" for k in keywords)]
    out = function(*copy.deepcopy(args), **keywords)
    result = "".join(f"out[{k}], " for k in range(len(out))) if hasattr(out, "_fields") else "out"
    text = f"def call({', '.join(names)}):\n    out = function({', '.join(passed)})\n    return {result}\n"
    f = build(text, function=function, **keywords)
    value, bprop = vjp(f, *args, argnums=wrt)
    dout = random_like(value, np.random.default_rng(4))
    expected = bprop(dout)
    found = vjp(f, *lists, argnums=wrt)[1](dout)
    for k, g, e in zip(wrt, found, expected, strict=True):
        assert_close(flat(g), flat(e), 1e-6, "the gradient of lists")
        if not holds_integers(lists[k]):
            assert_like(g, lists[k], "the gradient")
    tangents = tuple(random_like(args[k], np.random.default_rng(k)) for k in wrt)
    listed = tuple(shaped(flat(t), lists[k]) for t, k in zip(tangents, wrt, strict=True))
    change = jvp(f, lists, listed, argnums=wrt)[1]
    assert_close(flat(change), flat(jvp(f, args, tangents, argnums=wrt)[1]), 1e-6, "the tangent of lists")
