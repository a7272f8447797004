"""Kinds contain the values that they are made of, and plans leave out no guard that is needed."""
from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given

import s2sad
from s2sad.kinds.abstraction import Names, _kinds_of, contains, kind_of, kinds_of
from s2sad.kinds.join import join
from s2sad.kinds.lattice import (
    LARGE,
    NOT_ONE,
    NOTHING,
    NUMERIC,
    TEXT,
    UNKNOWN,
    Array,
    Dict,
    List,
    Literal,
    OtherArray,
    Scalar,
    Tuple,
)
from s2sad.kinds.shape_relations import is_differentiable, unbroadcast_plan, zero_plan
from tests.unit.s2sad.kinds.kind_values import BOOL, FLOAT, INT, array, fast, random_value, seeds, sym

F32, N, M = array("n", dtype="float32"), array("n"), array("n", "m")


# ---------------------------------------------------------------- kinds of values

@pytest.mark.parametrize(("value", "kind"), [
    (1.5, FLOAT), (np.float64(1), FLOAT), (3, INT), (True, BOOL), (np.True_, BOOL), (1j, Scalar("complex")),
    (np.float32(1), Scalar("float32")), (np.int64(1), Scalar("int64")), (None, Literal(None)),
    ("relu", Literal("relu")), ("x" * 100, TEXT), ({"a": "x" * 99}, Dict((("a", TEXT),))),
    (np.ones((3, 1)), array("x.0", 1)),
    (np.array(1.0), Array("float64", ())), (np.ones(2, np.int32), array("x.0", dtype="int32")),
    (np.ones(2).view(np.matrix), OtherArray(np.matrix)), (np.ma.ones(2), OtherArray(np.ma.MaskedArray)),
    (np.array(["a"]), UNKNOWN),
    (np.array([None]), UNKNOWN), (np.ones(2, ">f8"), Array(None, (sym("x.0"),))), (bytearray(), UNKNOWN),
    ((1.0, 2), Tuple((FLOAT, INT))), ([1.0, 2.0], List(None, FLOAT)),
    ([1.0, 2], List(None, Scalar("real"))),
    ([], List(None, NOTHING)), ([1.0] * 100, List(None, FLOAT)), ((1.0,) * 100, UNKNOWN),
    ({"a": 1.0, "b": [2]}, Dict((("a", FLOAT), ("b", List(None, INT))))),
    ([np.ones(2), np.ones(2)], List(None, array("x[].0"))),
    ([np.ones(2), np.ones(3)], List(None, Array("float64", (NOT_ONE,)))),
    ([np.ones(2), np.ones(1)], List(None, Array("float64", (None,)))),
], ids=repr)
def test_kind_of_value(value, kind):
    assert kind_of(value, "x") is kind
    assert contains(kind, value)


def test_axes_that_are_equally_long_have_one_name():
    kinds = kinds_of((np.ones((4, 3)), [np.ones(3)], np.ones((1, 4, 4)), 2.0), ("x", "y", "z", "t"))
    assert kinds == (array("x.0", "x.1"), List(None, array("x.1")), array(1, "x.0", "x.0"), FLOAT)
    assert kinds_of((np.ones((5, 2)), [np.ones(2)], np.ones((1, 5, 5)), 1.0), ("x", "y", "z", "t")) == kinds
    assert kinds_of((np.ones(3), np.ones(3)), ("x", "y")) != kinds_of((np.ones(3), np.ones(4)), ("x", "y"))


def test_kinds_that_are_equal_are_one_object():
    kind = kind_of(([np.ones((2, 3))], {"a": 1}), "x")
    assert kind is kind_of(([np.zeros((5, 4))], {"a": 2}), "x")
    assert pickle.loads(pickle.dumps(kind)) is kind
    assert len({Literal(1), Literal(True), Literal(1.0), Literal(0.0), Literal(-0.0)}) == 5
    assert Literal(slice(1, None)) is Literal(slice(1, None))


def test_kind_of_value_that_contains_itself():
    loop = [1.0]
    loop.append(loop)
    assert contains(kind_of(loop, "x"), loop)


def test_names_of_axes_are_not_confused():
    """Axis 0 of `x1` and axis 10 of `x` have different names."""
    many = kind_of(np.ones((2,) * 11), "x").dims
    assert not {d.name for d in many} & {d.name for d in kind_of(np.ones(2), "x1").dims}


@pytest.mark.parametrize(("a", "b", "both"), [
    (INT, FLOAT, Scalar("real")), (INT, Scalar("int64"), Scalar("integer")),
    (FLOAT, Scalar("float32"), Scalar("number")),
    (Literal(0.0), FLOAT, FLOAT), (Literal(0), Literal(1), INT), (Literal(0), Literal(0), Literal(0)),
    (FLOAT, array("n"), NUMERIC), (NUMERIC, FLOAT, NUMERIC), (FLOAT, UNKNOWN, UNKNOWN),
    (NOTHING, FLOAT, FLOAT),
    (array("n", "m"), array("n", "k"), Array("float64", (sym("n"), NOT_ONE))),
    (array("n", "m"), array("n", 1), array("n", None)),
    (array("n"), Array("float64", (NOT_ONE,)), Array("float64", (NOT_ONE,))),
    (Array("float64", (NOT_ONE,)), Array("float64", (sym("n", -1),)), array(None)),
    (array("n"), array("n", "m"), Array("float64", None)),
    (array("n"), array("n", dtype="float32"), array("n", dtype=None)), (Literal(None), FLOAT, UNKNOWN),
    (Tuple((FLOAT, INT)), Tuple((FLOAT, FLOAT)), Tuple((FLOAT, Scalar("real")))),
    (Tuple((FLOAT,)), Tuple(()), UNKNOWN), (List(None, FLOAT), List((FLOAT,), FLOAT), List(None, FLOAT)),
    (Dict((("a", INT),)), Dict((("a", FLOAT),)), Dict((("a", Scalar("real")),))),
    (Dict((("a", INT),)), Dict((("b", INT),)), UNKNOWN),
    (Scalar("int", sym("n")), Scalar("int", sym("n")), Scalar("int", sym("n"))),
    (Scalar("int", sym("n")), INT, INT),
], ids=repr)
def test_join(a, b, both):
    assert join(a, b) is both
    assert join(b, a) is both


def test_chains_of_joins_end():
    """A loop that wraps a value again and again reaches a kind that no longer changes."""
    for wrap in (lambda k: Tuple((k, FLOAT)), lambda k: List(None, k), lambda k: Dict((("a", k),))):
        kind = wrap(FLOAT)
        for _ in range(20):
            previous, kind = kind, join(kind, wrap(kind))
        assert kind is previous


@fast
@given(seeds)
def test_join_contains_the_values_of_both(rng):
    a, b = random_value(rng), random_value(rng)
    both = join(kind_of(a, "a"), kind_of(b, "b"))
    assert contains(kind_of(a, "a"), a) and contains(both, a) and contains(both, b)
    assert join(both, kind_of(a, "a")) is both


def test_contains_checks_lengths():
    square = array("n", "n")
    assert contains(square, np.ones((3, 3))) and not contains(square, np.ones((3, 2)))
    assert not contains(array("n"), np.ones(1))
    cut = Array("float64", (sym("n", -2),))
    assert contains(cut, np.ones(3), {"n": 5}) and not contains(cut, np.ones(3), {"n": 4})
    assert contains(cut, np.ones(0), {"n": 1})
    large = kind_of(np.ones(LARGE), "n")
    assert contains(large, np.ones(LARGE)) and not contains(large, np.ones(LARGE - 1))
    (n,) = large.dims
    assert n.moved(2 - LARGE).not_one and not n.moved(1 - LARGE).not_one and n.moved(0) is n
    assert contains(Array("float64", (n.moved(-2),)), np.ones(LARGE - 2))
    assert not contains(Array("float64", (n.moved(-2),)), np.ones(LARGE - 3))
    assert contains(array("=3"), np.ones(3)) and not contains(array("=3"), np.ones(4))
    assert not contains(FLOAT, np.float32(1)) and not contains(array("n"),
    [1.0]) and not contains(NOTHING, 1)


# ---------------------------------------------------------------- plans

@pytest.mark.parametrize(("x", "out", "plan"), [
    (FLOAT, FLOAT, "none"), (Scalar("real"), FLOAT, "none"), (FLOAT, N, "sum"), (FLOAT, F32, "guard"),
    (FLOAT, Scalar("complex"), "guard"),
    (Scalar("float32"), F32, "sum"), (FLOAT, Scalar("number"), "guard"),
    (Scalar("number"), Scalar("number"), "guard"), (N, N, "none"),
    (N, array("m"), "none"), (array("n"), array("k", "n"), ("axes", (0,))), (array(1), N, ("kept", (0,))),
    (array(1), array(1), "none"),
    (array(None), array(None), "guard"), (F32, N, "guard"),
    (N, array("n", dtype="complex128"), "guard"), (array("n", 1), M, ("kept", (1,))),
    (Array("float64", (sym("n", -1),)), Array("float64", (sym("n", -1),)), "none"),
    (array("n", dtype=None), array("n", dtype=None), "guard"),
    (Array("float64", (sym("n", -1),)), N, "guard"), (Array("float64", ()), N, "guard"),
    (Array("float64", ()), Array("float64", ()), "guard"),
    (Array("float64", None), Array("float64", None), "guard"), (UNKNOWN, N, "guard"),
    (N, UNKNOWN, "guard"), (NUMERIC, NUMERIC, "guard"),
], ids=repr)
def test_unbroadcast_plan(x, out, plan):
    assert unbroadcast_plan(x, out) == plan


@pytest.mark.parametrize(("x", "out", "others", "plan"), [
    (array(None), array(None), [FLOAT, INT], "none"), (array(None), array(None), [array(None)], "guard"),
    (array(None), array(None), [array(1)], "none"), (array(None), array(None), [array("n")], "guard"),
    (array(None, "n"), array(None, "n"), [array("n")], "none"), (array("n", None), M, [array(1)], "none"),
    (array(None), array("n", None), [array("n", 1)], ("axes", (0,))),
    (array(None), array(None), [UNKNOWN], "guard"), (array(None), array(None), [NUMERIC], "guard"),
    (array(None, dtype="float32"), array(None), [FLOAT], "guard"),
    (Array("float64", (sym("n", -1),)), Array("float64", (sym("n", -1),)), [array(None)], "none"),
    (Array("float64", (sym("n", -1),)), array(None), [Array("float64", (sym("n", -1),))], "none"),
    (Array("float64", ()), Array("float64", ()), [FLOAT], "guard"),
], ids=repr)
def test_other_operands_tell_where_nothing_was_broadcast(x, out, others, plan):
    assert unbroadcast_plan(x, out, others) == plan


@pytest.mark.parametrize(("kind", "plan", "differentiable"), [
    (FLOAT, "0.0", True), (Scalar("real"), "0.0", True), (Scalar("float32"), "zeros_like", True),
    (Scalar("complex"), "zeros_like", True),
    (N, "array", True), (array("n", dtype=None), "zeros_like", None),
    (array("n", dtype="int64"), "zeros_like", False),
    (INT, "0.0", False), (BOOL, "0.0", False), (Literal(1.0), "zeros_like", False),
    (Scalar("number"), "zeros_like", None),
    (Tuple((INT, FLOAT)), "zeros_like", True), (Tuple((INT, Literal(None))), "zeros_like", False),
    (Tuple((INT, UNKNOWN)), "zeros_like", None),
    (List(None, FLOAT), "zeros_like", True), (List(None, INT), "zeros_like", False),
    (Dict((("a", N),)), "zeros_like", True),
    (NUMERIC, "zeros_like", None), (UNKNOWN, "zeros_like", None),
    (Scalar("longdouble"), "zeros_like", True),
], ids=repr)
def test_zero_plan_and_differentiability(kind, plan, differentiable):
    assert zero_plan(kind) == plan
    assert is_differentiable(kind) is differentiable


TABLE = [2.0] * 2000


def from_table(x):  # type: ignore[no-untyped-def]
    return read_table(x) * x


def read_table(x):  # type: ignore[no-untyped-def]
    return np.sum(x * TABLE[3]) + len(TABLE)


def test_a_long_list_of_the_module_may_change_between_calls() -> None:
    gradient = s2sad.grad(from_table)
    assert gradient(1.5) == 2 * 2.0 * 1.5 + 2000
    TABLE[3] = np.array([1.0, 3.0])  # type: ignore[call-overload]
    try:
        assert gradient(1.5) == 2 * 4.0 * 1.5 + 2000
        TABLE[3] = 5
        assert gradient(1.5) == 2 * 5.0 * 1.5 + 2000
    finally:
        TABLE[3] = 2.0
    del TABLE[1000:]
    assert gradient(1.5) == 2 * 2.0 * 1.5 + 1000


def test_kinds_of_containers_are_found_again_by_what_they_hold():
    a, b, c = np.ones(3), np.ones((3, 1)), np.ones(3, np.float32)
    values = [
        (a, b), (a, c), [a, b], (a, (b, 1.0)), (a, (b, 1)), {"u": a}, {"v": a}, {1: a}, {"u": a, "v": b},
        {"v": b, "u": a}, ("left", a), ("right", a), "left", (), [], {}, (None, True), (1, 1.0), [1, 1.0],
        (np.ones(1),), [(a,)] * 20, ([[[[[[a]]]]]],), {True: a}, {"a": [b, b]}, (len, a), (a, a.copy()),
    ]
    for _ in range(2):
        for value in values:
            assert kinds_of((value, a), ("x", "y")) == _kinds_of((value, a), ("x", "y"), Names())
    loop = [a]
    loop.append(loop)
    assert kinds_of((loop,), ("x",)) == _kinds_of((loop,), ("x",), Names())
