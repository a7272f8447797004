"""What a primal statement computes: the right-hand sides of the normal form, classified."""

from __future__ import annotations

import operator
from typing import Any

import gast
import numpy as np
import pytest

from s2sad.transforms.analyses.operations import (
    OPERATORS,
    Alias,
    Apply,
    Build,
    Call,
    Field,
    Inert,
    Item,
    Opaque,
    index_items,
)
from s2sad.transforms.trees.program import MISSING
from tests.support.analysed import analysed
from tests.support.before_after import text_of


class Model:
    rate = 0.5

    def scaled(self, x: float) -> float:
        return self.rate * x


def helper(x: float) -> float:
    return x


FOUND = analysed(
    "def f(x, v, g, o):\n    t = x, v\n    d = {'k': x}\n    return x",
    1.0,
    np.arange(3.0),
    len,
    object(),
    helper=helper,
    model=Model(),
)


def classified(text: str) -> Any:
    return FOUND.operation(gast.parse(text, mode="eval").body)


@pytest.mark.parametrize("text", ["x", "2", "-2.5", "np.pi"])
def test_aliases(text: str) -> None:
    assert isinstance(classified(text), Alias)


@pytest.mark.parametrize(
    ("text", "function", "args"),
    [
        ("x + 2", operator.add, ["x", "2"]),
        ("v @ v", operator.matmul, ["v", "v"]),
        ("-x", operator.neg, ["x"]),
        ("not x", operator.not_, ["x"]),
        ("x < 2", operator.lt, ["x", "2"]),
        ("np.sin(x)", np.sin, ["x"]),
        ("np.sum(v)", np.sum, ["v"]),
        ("len(v)", len, ["v"]),
        ("v.sum()", np.sum, ["v"]),
        ("v.T", np.transpose, ["v"]),
        ("v.reshape(3, 1)", None, ["v", "3", "1"]),
    ],
)
def test_functions_with_rules(text: str, function: Any, args: list[str]) -> None:
    operation = classified(text)
    assert isinstance(operation, Apply)
    assert function is None or operation.function is function
    assert [text_of(a).strip() for a in operation.args] == args


def test_keywords_are_operands_too() -> None:
    operation = classified("np.sum(v, axis=x)")
    assert [n for n, _ in operation.keywords] == ["axis"]
    assert [text_of(o).strip() for o in operation.operands()] == ["v", "x"]


def test_calls_of_functions_without_rules() -> None:
    known = classified("helper(x)")
    assert isinstance(known, Call) and known.function is helper
    assert [text_of(o).strip() for o in known.operands()] == ["x"]


@pytest.mark.parametrize(
    ("text", "operands"),
    [("g(x)", ["g", "x"]), ("o.run(x, k=v)", ["o", "x", "v"])],
)
def test_calls_of_what_only_the_run_knows(text: str, operands: list[str]) -> None:
    """The callee, or the object of a method, may carry a derivative as the arguments do."""
    operation = classified(text)
    assert isinstance(operation, Call) and operation.function is MISSING
    assert [text_of(o).strip() for o in operation.operands()] == operands


def test_parts_and_containers() -> None:
    item = classified("v[1:]")
    assert isinstance(item, Item) and item.base.id == "v"
    assert len(index_items(item.index)) == 1 and len(index_items(classified("v[1:, x]").index)) == 2
    pair, mapping = classified("(x, 2)"), classified("{'k': x}")
    assert isinstance(pair, Build) and len(pair.items) == 2 and pair.keys == ()
    assert isinstance(mapping, Build) and [k.value for k in mapping.keys] == ["k"]


def test_what_carries_no_derivative_and_what_is_not_known() -> None:
    assert isinstance(classified("f'{x}'"), Inert)
    assert isinstance(classified("v.dtype"), Inert)
    assert isinstance(classified("v.flat"), Opaque)
    assert isinstance(classified("{x, 2}"), Opaque)


def test_attributes_and_methods_of_objects() -> None:
    unknown = classified("o.rate")
    assert isinstance(unknown, Field) and unknown.base.id == "o" and unknown.name == "rate"
    method = classified("model.scaled(x)")
    assert isinstance(method, Call) and method.function is Model.scaled
    assert [text_of(o).strip() for o in method.operands()] == ["model", "x"]
    value = classified("model.scaled")
    assert isinstance(value, Alias) and value.source.id == "model"


def test_every_operator_has_a_function_that_does_the_same() -> None:
    bases = gast.operator, gast.unaryop, gast.cmpop
    assert set(OPERATORS) == {
        v for v in vars(gast).values() if isinstance(v, type) and issubclass(v, bases)
    } - {*bases}
    for node in ("x + y", "x // y", "x << y", "x ^ y", "x >= y", "x is not y"):
        tree = gast.parse(node, mode="eval").body
        kind = type(tree.op if isinstance(tree, gast.BinOp) else tree.ops[0])
        assert OPERATORS[kind](7, 2) == eval(node, {"x": 7, "y": 2})
