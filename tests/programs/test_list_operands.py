"""Lists and tuples of numbers as operands of functions on arrays: what NumPy takes for arrays is one."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.analysed import stage
from tests.support.build import build
from tests.support.compare import check_program, check_second

CALLS = (
    "np.dot(xs, xs)",
    "np.dot(xs, [1.0, 2.0, 3.0])",
    "np.vdot(xs, xs)",
    "np.inner([2.0, x, 1.0], xs)",
    "np.sum(np.outer(xs, (x, 2.0)))",
    "np.sum(np.kron(xs, xs))",
    "np.tensordot(xs, xs, 1)",
    "np.sum(np.multiply(xs, xs))",
    "np.sum(np.add(xs, x)) * x",
    "np.sum(np.power(xs, 2))",
    "np.sum(np.power([1.0, 2.0, 3.0], xs))",
    "np.sum(np.arctan2(xs, [1, 2, 3]))",
    "np.hypot(xs, xs).sum()",
    "np.sum(np.exp((x, x * x)))",
    "np.array([1.0, 2.0, 3.0]) @ xs",
    "np.sum(np.array([1.0, 2.0, 3.0]) * xs)",
    "np.sum((1.0, x, 3.0) ** np.asarray(xs))",
    "np.average(xs, weights=[1.0, 2.0, 3.0])",
    "np.interp(0.3, [0.0, 1.0, 2.0], xs)",
    "np.polyval(xs, x)",
    "np.linalg.norm(xs)",
    "np.dot([[x, 1.0], [2.0, x]], [x, x]).sum()",
    "np.max(xs) * np.mean(xs)",
)


def program(call: str) -> str:
    return (
        "def f(x, n):\n    xs = []\n    for i in range(n):\n        xs.append(np.sin(x) * (i + 1) + x)\n"
        f"    return {call}\n"
    )


@pytest.mark.parametrize("call", CALLS)
def test_a_list_is_an_array(call: str) -> None:
    check_program(build(program(call)), (0.7, 3), (0,))
    check_second(build(program(call)), (0.7, 3), (0,))


def test_an_array_is_made_of_a_list() -> None:
    code = stage("lower_augmented", program("np.dot(xs, [x, 1.0, x]) * sum(xs * 2)"), 0.7, 3)
    assert code.count("np.asarray(xs)") == 1  # `xs * 2` repeats a list


def test_what_rules_do_with_lists_stays() -> None:
    found = stage("lower_augmented", program("np.sum(np.stack(xs)) + np.array(xs)[0]"), 0.7, 3)
    assert "asarray" not in found


REPEATED = ("sum(2 * xs)", "sum(xs * 2)", "sum(2 * (x, x * x)) * x", "sum(n * [x, x * x])")


@pytest.mark.parametrize("call", REPEATED)
def test_a_list_is_repeated(call: str) -> None:
    check_program(build(program(call)), (0.7, 3), (0,))
    check_second(build(program(call)), (0.7, 3), (0,))


UNKNOWN = (
    "np.mean(ys)",
    "np.std(ys)",
    "np.sum(np.sin(ys))",
    "np.dot(ys, [1.0, 2.0]) + np.linalg.norm(ys)",
    "np.sum(np.arange(2.0) * ys)",
    "np.sum(np.cumsum(ys) ** 2) + np.interp(0.5, [0.0, 1.0], ys)",
    "np.sum(np.mean([(y, x) for y in ys], axis=0) ** 2)",
    "np.mean([1, *ys, 3])",
    "np.var(tuple(ys))",
)


@pytest.mark.parametrize("call", UNKNOWN)
def test_a_list_of_unknown_items_is_an_array(call: str) -> None:
    code = f"def f(x, gs):\n    ys = [g(x) for g in gs]\n    return {call}\n"
    f = build(code)
    for check in (check_program, check_second):
        check(f, (1.3, [np.sin, np.square]), (0,))


HELD = """
class Log:
    def __init__(self):
        self.kept = {"a": [], "b": []}
    def put(self, key, value):
        self.kept[key].append(value)

def f(x, gs):
    log = Log()
    for i, g in enumerate(gs):
        log.put("ab"[i], g(x))
        log.put("b", x)
    return sum(np.mean(log.kept[key]) ** 2 for key in log.kept)
"""


def test_a_list_that_an_object_holds_is_an_array() -> None:
    for check in (check_program, check_second):
        check(build(HELD), (1.3, [np.sin, np.square]), (0,))


def test_an_array_changes_in_place_by_a_list() -> None:
    f = build("def f(x):\n    r = np.ones(2)\n    r -= [x, x * x]\n    return np.sum(r**2)\n")
    for check in (check_program, check_second):
        check(f, (1.3,), (0,))
