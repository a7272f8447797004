"""Traces: what a forward loop keeps for its reverse loop, where nothing else will do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.analysed import stage
from tests.support.build import build
from tests.support.compare import check_program

V = np.arange(1.0, 4.0)

PAIRS: dict[str, tuple[str, str, str, tuple[Any, ...]]] = {
    "one value is an entry by itself": (
        "def f(x, n):\n    for i in range(n):\n        x = x * x\n    return x",
        "trace.append(x_2)\nx_2 = x_3",
        "for x_2 in trace[::-1]:",
        (1.1, 3),
    ),
    "several are a tuple, in the order of the program": (
        "def f(x, n):\n    for i in range(n):\n        y = np.sin(x)\n        x = x * y\n    return x",
        "trace.append((y, x_2))\nx_2 = x_3",
        "for y, x_2 in trace[::-1]:",
        (1.1, 3),
    ),
    "a range with step one is run backwards": (
        "def f(x, n):\n    for i in range(n):\n        x = x * i\n    return x",
        "for i in range(n):\n    x_3 = x_2 * i\n    x_2 = x_3",
        "for i in range(n - 1, -1, -1):",
        (1.1, 3),
    ),
    "from where it began": (
        "def f(x, n):\n    for i in range(2, n):\n        x = x * i\n    return x",
        "for i in range(2, n):\n    x_3 = x_2 * i\n    x_2 = x_3",
        "for i in range(n - 1, 1, -1):",
        (1.1, 5),
    ),
    "and forwards when it ran backwards": (
        "def f(x, n):\n    for i in range(n, 0, -1):\n        x = x * i\n    return x",
        "for i in range(n, 0, -1):\n    x_3 = x_2 * i\n    x_2 = x_3",
        "for i in range(1, n + 1, 1):",
        (1.1, 5),
    ),
    "other steps are kept": (
        "def f(x, n):\n    for i in range(0, n, 2):\n        x = x * i\n    return x",
        "trace.append(i)",
        "for i in trace[::-1]:",
        (1.1, 5),
    ),
    "the range's end is what it was before the loop": (
        "def f(x, n):\n    for i in range(n):\n        n = n + i\n        x = x * i\n    return x * n",
        "for i in range(n):\n    n_3 = n_2 + i",
        "for i in range(n - 1, -1, -1):",
        (1.1, 3),
    ),
    "a sequence whose elements are not read is counted": (
        "def f(v, c):\n    s = 0.0\n    for x in v:\n        s = s + x * 2\n    return s * c",
        "for x in v:\n    s_1 = x * 2",
        "for k in range(len(v) - 1, -1, -1):",
        (V, 2.0),
    ),
    "trips are counted when only their number is needed": (
        "def f(x, y):\n    while x < 10.0:\n        x = x * 2\n    return x * y",
        "trips = trips + 1",
        "for _ in range(trips):",
        (1.1, 2.0),
    ),
    "index arithmetic is done again": (
        "def f(v, n):\n    s = 1.0\n    for i in range(n):\n        j = n - i\n"
        "        k = j - 1\n        s = s * v[i] * v[k] * j\n"
        "    return s",
        "trace.append((i, s_2, s_5))\ns_5 = s_6",
        "for i, s_2, s_5 in trace[::-1]:\n    j_1 = n - i\n    k_1 = j_1 - 1\n    s_7 = v[i]",
        (V, 3),
    ),
    "an inner trace is a value of the outer": (
        "def f(x, n):\n    for i in range(n):\n        for j in range(i):\n"
        "            x = x * x\n    return x",
        "trace_2.append(trace)",
        "for trace in trace_2[::-1]:",
        (1.1, 3),
    ),
    "a break ends the trace with its iteration": (
        "def f(v, limit):\n    s = 1.0\n    for x in v:\n        s = s * x\n"
        "        if s > limit:\n            break\n"
        "    return s",
        "trace.append((x, s_2))\ns_2 = s_3\nif stop:\n    break",
        "for k in range(len(trace) - 1, -1, -1):\n    x, s_2 = trace[k]",
        (V, 2.5),
    ),
    "what one arm alone assigns has a placeholder in the other": (
        "def f(v, n):\n    s = 1.0\n    for i in range(n):\n        if v[i] > 1.5:\n"
        "            t = np.sin(v[i])\n"
        "            s = s * t\n    return s",
        "else:\n    t = 0.0\n    t_1 = 0.0\n    s_4 = s_2",
        "for i, test_2, t_1, t, s_2 in trace[::-1]:",
        (V, 3),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_traces(name: str) -> None:
    text, ahead, back, args = PAIRS[name]
    wrt = tuple(k for k, a in enumerate(args) if not isinstance(a, int))
    code = stage("differentiate", text, *args, wrt=wrt)
    for expected in (ahead, back):
        assert indented(expected) & set(windows(code, expected.count("\n") + 1)), code
    check_program(build(text), args, wrt)


def windows(code: str, size: int) -> list[tuple[str, ...]]:
    """All runs of so many lines of the code."""
    lines = code.split("\n")
    return [tuple(lines[k : k + size]) for k in range(len(lines))]


def indented(expected: str) -> set[tuple[str, ...]]:
    """The lines at any depth."""
    return {tuple(" " * depth + line for line in expected.split("\n")) for depth in range(0, 20, 4)}


def test_an_entry_does_not_hold_what_the_reverse_body_makes_itself() -> None:
    code = stage("differentiate", PAIRS["index arithmetic is done again"][0], V, 3)
    assert ".append((i, s_" in code and "k, " not in code and "j, " not in code


def test_bprop_walks_its_trace_any_number_of_times() -> None:
    """In the split form what the reverse loop reads after the loop has a name of its own there."""
    code = stage(
        "differentiate",
        "def f(x, n):\n    for i in range(n):\n        x = x * x\n    return x * x",
        1.1,
        3,
        form="vjp",
    )
    assert "for x_1 in trace[::-1]:" in code and "pop" not in code


def test_loops_that_carry_no_derivative_have_no_trace() -> None:
    code = stage(
        "differentiate",
        "def f(x, n):\n    k = 0\n    for i in range(n):\n        k = k + i\n    return x * k",
        1.1,
        3,
    )
    assert "trace" not in code and code.count("for ") == 1
