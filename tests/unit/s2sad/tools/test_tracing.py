"""Traces: the operations of one run, with their values, as text, as graphs, and as a program."""

from __future__ import annotations

import copy
import hashlib
import re
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad import NonDifferentiableError, UnsupportedSyntaxError, trace
from tests.programs import corpus
from tests.support.compare import assert_same

SOME = [p for p in corpus.PROGRAMS if int(hashlib.md5(p.name.encode()).hexdigest(), 16) % 12 == 0]


def relax(u: Any, steps: int) -> Any:
    for _ in range(steps):
        if u[0] > 0:
            u[1:] = 0.5 * (u[1:] + u[:-1])
        else:
            u[0] = 1.0
    return np.sum(u)


def test_steps() -> None:
    def f(x: Any, y: Any) -> Any:
        z = x * y + 1.0
        return np.sin(z)

    traced = trace(f, 2.0, 3.0)
    texts = ["x", "y", "z_1 = x * y", "z = z_1 + 1.0", "out = np.sin(z)"]
    assert [step.text for step in traced.steps] == texts
    assert [step.value for step in traced.steps] == [2.0, 3.0, 6.0, 7.0, np.sin(7.0)]
    assert [step.reads for step in traced.steps] == [(), (), (0, 1), (2,), (3,)]
    first = f.__code__.co_firstlineno
    assert [step.line for step in traced.steps] == [None, None, first + 1, first + 1, first + 2]
    assert traced.result == np.sin(7.0) and repr(traced) == "<trace of f: 5 steps>"
    assert str(traced).splitlines()[2] == "z_1 = x * y      # 6.0"
    assert traced.source == (
        "def f(x, y):\n    z_1 = x * y\n    z = z_1 + 1.0\n    out = np.sin(z)\n    return out\n"
    )


def test_changes_in_place_are_seen_by_later_steps() -> None:
    u = np.array([0.0, 2.0, 4.0])
    traced = trace(relax, u.copy(), 2)
    stores = [(k, step) for k, step in enumerate(traced.steps) if step.text.startswith("u[")]
    assert [step.text.split(" = ")[0] for _, step in stores] == ["u[0]", "u[1:]"]
    np.testing.assert_array_equal(stores[0][1].value, [1.0, 2.0, 4.0])
    np.testing.assert_array_equal(stores[1][1].value, [1.0, 1.5, 3.0])
    np.testing.assert_array_equal(traced.steps[0].value, u)
    last = traced.steps[-1]
    assert last.text == "out = np.sum(u)" and last.reads == (stores[1][0],)


def test_it_can_be_run_again_where_the_branches_are_the_same() -> None:
    traced = trace(relax, np.array([0.0, 2.0, 4.0]), 2)
    other = np.array([-1.0, 7.0, 3.0])
    assert traced.function(other.copy(), 2) == relax(other.copy(), 2)
    for args in ((np.ones(3), 2), (other.copy(), 3)):
        with pytest.raises(AssertionError):
            traced.function(*args)
    with pytest.raises(StopIteration):
        traced.function(other.copy(), 1)


@pytest.mark.parametrize("program", SOME, ids=lambda p: p.name)
def test_programs_of_the_corpus(program: Any) -> None:
    try:
        expected = program.function(*copy.deepcopy(program.args))
    except Exception:
        pytest.skip("raises")
    try:
        traced = trace(program.function, *copy.deepcopy(program.args))
    except UnsupportedSyntaxError:
        pytest.skip("refused")
    assert_same(traced.result, expected)
    assert all(read < k for k, step in enumerate(traced.steps) for read in step.reads)
    try:
        function = traced.function
    except UnsupportedSyntaxError as error:
        assert "no straight line" in str(error)
    else:
        assert_same(function(*copy.deepcopy(program.args)), expected)


def test_graphs() -> None:
    def f(table: Any, k: Any) -> Any:
        return table[k] * 2.0 if "<b>" in table else 0.0

    traced = trace(f, {'a"b\\': 3.0, "<b>": 1.0}, 'a"b\\')
    for text, arrow in ((traced.dot(), "->"), (traced.mermaid(), "-->")):
        nodes = set(re.findall(r"^  (n\d+)", text, re.M))
        edges = re.findall(rf"^  (n\d+) {arrow} (n\d+)", text, re.M)
        assert nodes == {f"n{k}" for k in range(len(traced.steps))} and edges
        assert {end for edge in edges for end in edge} <= nodes
    labels = re.findall(r'label="((?:[^"\\]|\\.)*)"\];$', traced.dot(), re.M)
    assert len(labels) == len(traced.steps)
    inner = re.findall(r'\["(.*)"\]$', traced.mermaid(), re.M)
    assert len(inner) == len(traced.steps)
    assert not any(set('"&') & set(label) or "<b>" in label for label in inner)
    assert traced.dot().startswith('digraph "f" {\n') and traced.mermaid().startswith("flowchart TD\n")


def test_derivatives_methods_and_functions_of_libraries() -> None:
    class Model:
        rate = 2.0

        def loss(self, x: float) -> float:
            return x * self.rate

    assert trace(Model().loss, 3.0).result == 6.0
    assert trace(np.sin, 0.5).result == np.sin(0.5)
    slope = s2sad.grad(lambda x: x * x * x)
    assert trace(slope, 2.0).result == slope(2.0)

    def called(x: float) -> float:
        return Model().loss(x) + 1.0

    assert trace(called, 3.0).result == 7.0


def test_what_is_refused() -> None:
    def generator(x: float) -> Any:
        yield x

    with pytest.raises(UnsupportedSyntaxError, match="generator function"):
        trace(generator, 1.0)
    with pytest.raises(NonDifferentiableError, match="more than 10000 operations"):
        trace(relax, np.ones(3), 100_000)
    with pytest.raises(TypeError):
        trace(relax)

    def has_block(x: float) -> float:
        try:
            return x * x
        except ZeroDivisionError:
            return 0.0

    traced = trace(has_block, 2.0)
    assert traced.result == 4.0
    with pytest.raises(UnsupportedSyntaxError, match="has a `try`"):
        traced.source  # noqa: B018


def test_exceptions_of_the_function_are_its_own() -> None:
    def fails(x: float) -> float:
        return x / (x - x)

    with pytest.raises(ZeroDivisionError):
        trace(fails, 1.0)
