"""The kind of every name: what is said, and that the values of a run are of the kinds that were found."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np
import pytest

from s2sad.kinds.abstraction import contains
from s2sad.kinds.lattice import UNKNOWN, Array, Dict, List, Literal, Scalar, Tuple
from tests.support.analysed import analysed, locals_of

V, M = np.arange(3.0), np.ones((2, 3))

PROGRAMS: dict[str, tuple[str, tuple[Any, ...], dict[str, str]]] = {
    "scalars": (
        "def f(x, n):\n    y = x * 2\n    k = n + 1\n    z = x / n\n    c = x > n\n    s = 'a'\n    return y",
        (1.0, 2),
        {"x": "float", "y": "float", "k": "int", "z": "float", "c": "bool", "s": "'a'"},
    ),
    "arrays and their items": (
        "def f(m):\n    r = m[0]\n    e = m[0, 1]\n    c = m[:, 1]\n    s = np.sum(m, axis=0)\n    t = m.T\n"
        "    n = m.shape[0]\n    return r",
        (M,),
        {
            "m": "float64[2]",
            "r": "float64[1]",
            "e": "float",
            "c": "float64[1]",
            "s": "float64[1]",
            "t": "float64[2]",
        },
    ),
    "containers": (
        "def f(x, v):\n    t = x, v\n    a, b = t\n    d = {'k': v}\n    e = d['k']\n"
        "    i = [1.0, x]\n    g = i[0]\n"
        "    return a",
        (1.0, V),
        {
            "t": "(float, float64[1])",
            "a": "float",
            "b": "float64[1]",
            "d": "{float64[1]}",
            "e": "float64[1]",
            "i": "[float]",
        },
    ),
    "a join is above both arms": (
        "def f(c, x, v):\n    if c:\n        y = x\n    else:\n        y = v\n    return y",
        (True, 1.0, V),
        {"y": "float", "y_2": "float64[1]", "y_3": "Numeric"},
    ),
    "a loop is run until its kinds stay": (
        "def f(x, n):\n    s = 0\n    for i in range(n):\n        s = s + x\n    return s",
        (1.0, 3),
        {"s": "0", "s_2": "real", "s_3": "float", "i": "int"},
    ),
    "a loop whose kinds never stay": (
        "def f(n):\n    t = ()\n    for i in range(n):\n        t = (t,)\n    return t",
        (3,),
        {"t": "()", "t_2": "Unknown"},
    ),
    "loop variables": (
        "def f(v, m):\n    s = 0.0\n    for k, x in enumerate(v):\n        s = s + x\n"
        "    for a, r in zip(v, m):\n        s = s + a\n    for q in reversed(v):\n"
        "        s = s + q\n    return s",
        (V, M),
        {"k": "int", "x": "float", "a": "float", "r": "float64[1]", "q": "float"},
    ),
    "what is put into a list": (
        "def f(x, v):\n    a = []\n    a.append(x)\n    b = []\n    b.append(x)\n"
        "    b.append(v)\n    c = b[0]\n"
        "    return c",
        (1.0, V),
        {"a": "[float]", "b": "[Numeric]", "c": "Numeric"},
    ),
    "a store of another kind": (
        "def f(x, v):\n    a = [x, x]\n    a[0] = v\n    b = a[1]\n    return b",
        (1.0, V),
        {"b": "Numeric"},
    ),
    "a call that changes a container": (
        "def f(x):\n    a = [x, 2.0]\n    c = a\n    a.insert(0, 'b')\n    b = c[0]\n    return x",
        (1.0,),
        {"a": "Unknown", "b": "Unknown"},
    ),
    "an in-place operator on a name": (
        "def f(x, v):\n    x += v\n    v *= 2\n    return x",
        (1.0, V.copy()),
        {"x_2": "float64[1]", "v_2": "float64[1]"},
    ),
}


def brief(kind: Any) -> str:
    """A kind without its sizes."""
    match kind:
        case Scalar(dtype=dtype):
            return dtype
        case Array(dtype=dtype, dims=dims):
            return f"{dtype}[{'?' if dims is None else len(dims)}]"
        case Literal(value=value):
            return repr(value)
        case Tuple(items=items):
            return f"({', '.join(map(brief, items))})"
        case List(element=element):
            return f"[{brief(element)}]"
        case Dict(items=items) if items:
            return f"{{{', '.join(brief(v) for _, v in items)}}}"
    return type(kind).__name__


@pytest.mark.parametrize("name", PROGRAMS)
def test_kinds(name: str) -> None:
    text, args, expected = PROGRAMS[name]
    found = analysed(text, *args)
    assert {n: brief(found.kinds[n]) for n in expected} == expected


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_values_of_a_run_are_of_their_kinds(name: str) -> None:
    text, args, _ = PROGRAMS[name]
    found = analysed(text, *args)
    values = locals_of(found.program, args)
    assert set(values) <= set(found.kinds)
    for n, value in values.items():
        assert contains(found.kinds[n], value), f"{n}: {value!r} is no {found.kinds[n]}"


def test_a_wrong_kind_would_be_noticed() -> None:
    assert not contains(Scalar("int"), 1.0) and not contains(Array("float64", (None,)), M)


def test_a_call_asks_what_the_function_returns() -> None:
    asked = []

    def call_kind(operation: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
        asked.append((operation.function, args, keywords))
        return Scalar("float")

    def g(x: float, y: float) -> float:
        return x * y

    found = analysed("def f(x, n):\n    y = g(x, y=n)\n    return y", 1.0, 2, g=g, call_kind=call_kind)
    assert brief(found.kinds["y"]) == "float"
    assert asked == [(g, [Scalar("float")], {"y": Scalar("int")})]


def test_globals_and_what_is_not_known() -> None:
    found = analysed(
        "def f(x):\n    a = WEIGHTS\n    b = np.pi\n    c = unknown\n    return x", 1.0, WEIGHTS=V
    )
    assert [brief(found.kinds[n]) for n in "abc"] == ["float64[1]", "float", "Unknown"]
    assert found.kind(gast.parse("unknown", mode="eval").body) is UNKNOWN
