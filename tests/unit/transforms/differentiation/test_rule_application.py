"""What both modes share: names and objects for generated code, zeros, sums, and rules bound to calls."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np
import pytest

from s2sad.transforms.analyses.template_slots import carrying_operands, differentiable_slots
from s2sad.transforms.differentiation.generation import Task
from s2sad.transforms.differentiation.rule_application import Emitter
from s2sad.transforms.errors import MissingRuleError
from s2sad.transforms.trees.nodes import load
from tests.support.analysed import analysed
from tests.support.before_after import text_of

V, M = np.arange(3.0), np.ones((2, 3))
TEXT = """
def f(x, n, v, m, u):
    a = x * n
    b = v + m
    c = x * 2
    d = [v, x]
    len = 1
    e = np.unwrap(v, x)
    g = np.where(n, x, v)
    h = np.concatenate((v, v))
    i = np.sum(m, axis=(0, -1))
    return a
"""


@pytest.fixture
def emitter() -> Emitter:
    found = analysed(TEXT, 1.0, 2, V, M, object(), other=sum)
    link: Any = None
    return Emitter(found, Task("grad", ("x", "v", "m"), link))


def written(node: Any) -> str:
    return text_of(node).strip()


def test_objects_are_read_under_a_name_that_means_them(emitter: Emitter) -> None:
    assert emitter.bind("np", np) == "np" and "np" not in emitter.bindings
    assert emitter.bind("range", range) == "range"
    assert emitter.bind("other", sum) == "other"
    helper = object()
    assert emitter.bind("helper", helper) == "helper" == emitter.bind("again", helper)
    assert emitter.bindings["helper"] is helper


def test_a_name_that_means_something_else_is_numbered(emitter: Emitter) -> None:
    assert emitter.bind("len", __builtins__["len"] if isinstance(__builtins__, dict) else len) == "len_1"
    assert emitter.bind("other", max) == "other_1"
    assert emitter.bindings["other_1"] is max


def test_origins_are_of_variables(emitter: Emitter) -> None:
    emitter.note_origin("dx_3", "x")
    emitter.note_origin("dx_1_2", "x_1")
    assert emitter.origins["dx_3"] == "dx" and "dx_1_2" not in emitter.origins


@pytest.mark.parametrize(
    ("name", "zero"),
    [("x", "0.0"), ("n", "0.0"), ("v", "np.zeros_like(v)"), ("u", "zeros_like(u)"), ("d", "zeros_like(d)")],
)
def test_zeros(emitter: Emitter, name: str, zero: str) -> None:
    assert written(emitter.zero(name)) == zero


@pytest.mark.parametrize(
    ("name", "total"), [("x", "p + q"), ("v", "p + q"), ("d", "add(p, q)"), ("u", "add(p, q)")]
)
def test_sums(emitter: Emitter, name: str, total: str) -> None:
    assert written(emitter.plus(load("p"), load("q"), name)) == total


def operation(emitter: Emitter, name: str) -> Any:
    for s in emitter.program.tree.body:
        if isinstance(s, gast.Assign) and s.targets[0].id == name:
            return emitter.operation(s.value)
    raise AssertionError(name)


@pytest.mark.parametrize(
    ("out", "operand", "plan"),
    [("c", "x", "none"), ("a", "x", "none"), ("b", "v", ("axes", (0,))), ("b", "m", "none")],
)
def test_shape_plans(emitter: Emitter, out: str, operand: str, plan: Any) -> None:
    assert emitter.shape_plan(operation(emitter, out), load(operand), out) == plan


def test_arguments_are_bound_as_in_a_call(emitter: Emitter) -> None:
    where = operation(emitter, "g")
    rule = emitter.rule(where)
    bound, slots = emitter.arguments(where, rule.template, rule)
    assert [written(a) for a in list(bound.values())[:3]] == ["n", "x", "v"]
    assert [(s.name, s.gradient) for s in slots] == [("x", 1), ("v", 2)]
    assert differentiable_slots(rule.template) == {1, 2}
    assert [written(a) for a in carrying_operands(where, rule)] == ["x", "v"]


def test_tuples_of_literals_are_known_to_templates(emitter: Emitter) -> None:
    where = operation(emitter, "i")
    rule = emitter.rule(where)
    bound, _ = emitter.arguments(where, rule.template, rule)
    assert written(bound["axis"]) in ("0, -1", "(0, -1)")
    _, results = emitter.inline(rule.template, {**bound, "out": load("i"), "dout": load("di")}, [0], "i")
    assert written(results[0]) == "unreduce(di, m, (0, -1))"


def test_a_derivative_that_a_rule_has_not_is_refused(emitter: Emitter) -> None:
    total = operation(emitter, "e")
    rule = emitter.rule(total)
    with pytest.raises(MissingRuleError, match="a derivative with respect to `discont`") as caught:
        emitter.arguments(total, rule.template, rule)
    assert caught.value.where is not None and caught.value.where.line == 8


def test_operations_are_read_once(emitter: Emitter) -> None:
    assert operation(emitter, "a") is operation(emitter, "a")
