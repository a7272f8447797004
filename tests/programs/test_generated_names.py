"""Names of variables in derivatives beside those of the user's module, its closures and builtins."""

from __future__ import annotations

import contextlib
import copy
import math
import os
from collections.abc import Callable
from typing import Any

import gast
import numpy as np
import pytest

import s2sad
from s2sad.transforms import SIMPLIFY
from s2sad.transforms.analyses.find_unbound import find_unbound, refuse_unbound
from s2sad.transforms.errors import InternalError
from s2sad.transforms.trees.program import Scope, program_of
from tests.support.build import POISON, build
from tests.support.compare import assert_same, check_program

# What this module calls its numbers: a grid spacing, and all that a derivative may want to call its own.
dx = dx_1 = dx_2 = ds = dp = da = a = b = x_1 = x_2 = p_1 = k_1 = s_1 = out = out_1 = dout = dout_1 = POISON
trace = trips = heap = value = item = index = key = place = done = stop = context_1 = q_a = e_a = d_b = POISON
unbroadcast = zeros_like = add = like = range_1 = np_1 = pair_1 = val_1 = POISON


def element(x: Any, s: Any) -> Any:
    val = math.sqrt(x[1] + 1.0)
    return val * s


def index_after_loop(x: Any) -> Any:
    s = 0.0
    for k in range(3):
        s += x[k] * k
    return s * (k + 1) + x[k] ** 2


def index_after_two_loops(x: Any) -> Any:
    s = 0.0
    for k in range(2):
        for j in range(3):
            s += x[j] * k + x[k] * x[j]
        s = s * (j + 1)
    return s * (k + 1) * x[j] + x[k] ** 2


def backwards(x: Any) -> Any:
    s = 1.0
    for k in range(2, -1, -1):
        s = s * x[k] + k
    return s * x[k] * (k + 2)


def item_of_item(x: Any) -> Any:
    p = {"a": 2.0}
    q = {"a": p["a"]}
    return x * q["a"]


def items_of_items(x: Any) -> Any:
    d = {"a": 2.0 * x, "b": x}
    e = {"a": d["a"], "b": d["b"]}
    f = {"b": e["a"], "a": e["b"], "c": d["b"]}
    return e["a"] * f["b"] + f["a"] * f["c"] ** 2


def items_of_items_set(x: Any) -> Any:
    d = {"a": 2.0 * x, "b": x}
    e = {"a": d["a"], "b": d["b"]}
    e["a"] = e["a"] * d["b"]
    d["b"] = e["a"]
    return e["a"] * d["b"] + e["b"] * d["a"]


def copied(x: Any) -> Any:
    d = copy.deepcopy({"a": 2.0, "b": x})
    e = copy.copy(d)
    return d["a"] * e["b"] * d["b"]


def pairs(x: Any) -> Any:
    first = (x, 2.0)
    second = [first[1], first[0]]
    pair = {"a": second[1], "b": (second[0], first[0])}
    return pair["a"] * pair["b"][0] * pair["b"][1]


def opened(x: Any) -> Any:
    with open(os.devnull) as h:
        y = x * x + len(h.read())
    with contextlib.nullcontext(y) as z, np.errstate(all="ignore"):
        return y * z


def shadowing(x: Any) -> Any:
    dx = x * 2.0
    out = [dx, x]
    trace = [v * dx for v in out]
    return trace[0] * trace[1] + dx


def around(x: Any) -> Any:
    def inner(b: Any) -> Any:
        dout = b * x
        return dout * dout + a_of(b)

    def a_of(b: Any) -> Any:
        return b * x * x

    return inner(x) * inner(2.0)


def while_loop(x: Any) -> Any:
    done = 0
    s = x
    while s < 5.0:
        s = s * s + 1.0
        done = done + 1
    return s * done


ONE = 0.7
THREE = np.array([0.3, 1.2, -0.4])
PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (element, (THREE, 1.0)),
    (index_after_loop, (THREE,)),
    (index_after_two_loops, (THREE,)),
    (backwards, (THREE,)),
    *[(f, (ONE,)) for f in (item_of_item, items_of_items, items_of_items_set, copied, pairs)],
    *[(f, (ONE,)) for f in (opened, shadowing, around, while_loop)],
]


@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_names_of_the_module(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    check_program(f, args, (0,))


def test_variables_of_derivatives_are_no_names_of_the_module() -> None:
    for form in (s2sad.vjp, s2sad.grad, s2sad.value_and_grad):
        source = form(index_after_loop).source_for(THREE)
        assert find_unbound(gast.parse(source).body[0]).free <= {"np", "range"}
        assert not {"dx =", "dx_1 =", "out =", "k_1 ="} & {line.strip()[:6] for line in source.splitlines()}


def test_a_free_variable_of_a_closure() -> None:
    def made(dx: float, k_1: float) -> Callable[[Any], Any]:
        def f(x: Any) -> Any:
            s = 0.0
            for k in range(3):
                s += x[k] * k * dx
            return s * k + x[k] * k_1

        return f

    check_program(made(0.1, 3.0), (THREE,), (0,))


@pytest.mark.parametrize("name", ["len", "range", "max", "zip", "abs"])
def test_a_builtin_that_the_module_defines_later(name: str) -> None:
    f = build("""
def program(x, y):
    s = 0.0
    for v, w in zip(x, y[::-1]):
        s = s + abs(v) * w
    for v in x:
        s = s * v
    for k in range(3):
        s = s + max(x[k], y[k]) * len(y)
    return s
""")
    x, y = np.array([0.5, 1.5, 2.0]), np.array([2.5, 1.0, 0.3])
    gradient = s2sad.grad(f)
    gradient(x, y)
    replacement: dict[str, Any] = {
        "len": lambda a: 2.5,
        "range": lambda n: [0, 2],
        "max": lambda a, b: a * b,
        "zip": lambda a, b: [(a[0], b[1])],
        "abs": lambda a: a * a,
    }
    f.__globals__[name] = replacement[name]
    check_program(f, (x, y), (0, 1))
    assert_same(gradient(x, y), s2sad.grad(f)(x, y))


class TestNet:
    @pytest.mark.parametrize(
        ("text", "free", "early"),
        [
            ("x = y", {"y"}, set()),
            ("if a:\n        z = 1\n    b = z", {"a"}, set()),
            ("b = z\n    z = 1", set(), {"z"}),
            ("for k in x:\n        if k:\n            b = z\n        z = 1", set(), set()),
            ("while test:\n        test = x", set(), set()),
            ("def g(dy):\n        return dy + z\n    z = 1\n    return g", set(), set()),
            ("def g(dy):\n        dy[k] += 1\n        for k in x:\n            dy\n    k = 1", set(), {"k"}),
            ("def g(dy):\n        return w\n    return g", {"w"}, set()),
            ("return [v * u for v in x]", {"u"}, set()),
            ("try:\n        z = x()\n    except E as e:\n        b = z, e\n    return b", {"E"}, set()),
            ("with x as z, y:\n        b = z\n    return b", {"y"}, set()),
            ("z += 1", set(), {"z"}),
            ("return lambda v, w=z: v + w + x", {"z"}, set()),
        ],
    )
    def test_unbound(self, text: str, free: set[str], early: set[str]) -> None:
        found = find_unbound(gast.parse(f"def f(x, a=None):\n    {text}\n").body[0])
        assert (found.free - {"a"}, found.early) == (free - {"a"}, early)

    def test_it_can_fail(self) -> None:
        before = program_of("def f(x):\n    y = x * 2.0\n    return y\n", Scope({"y": POISON}))
        lost = before.with_tree(program_of("def f(x):\n    return y\n").tree)
        assert refuse_unbound(before, before) == []
        with pytest.raises(InternalError, match="nothing binds `y`"):
            refuse_unbound(lost, before)

    def test_a_pass_that_loses_a_definition(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def lose(tree: Any, facts: Any) -> Any:
            return type(tree)(**{**vars(tree), "body": tree.body[1:]})

        monkeypatch.setattr(s2sad.transforms, "SIMPLIFY", (*SIMPLIFY, lose))
        with pytest.raises(InternalError, match="nothing binds `val"):
            s2sad.grad(element)(THREE, 1.0)
