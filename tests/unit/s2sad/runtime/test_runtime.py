"""The helpers of derivatives: shapes and dtypes, structures, in-place sums, results that have no gradient."""
from __future__ import annotations

import math
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import mutually_broadcastable_shapes

from s2sad.rules.choices import kept_where, zeroed_where
from s2sad.runtime.adjoints import (
    add,
    add_at,
    broadcast_like,
    conform,
    copy_adjoint,
    like,
    take_at,
    unbroadcast,
    unit_cotangent,
    unreduce,
    zeros_like,
    zeros_of,
)
from s2sad.runtime.builtin_reductions import gather, spread
from s2sad.runtime.mutation import with_zeros, without_integers
from s2sad.transforms.errors import NonDifferentiableError

Pair = namedtuple("Pair", "left right")


@dataclass(frozen=True)
class Layer:
    w: Any
    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError("a name")


# ---------------------------------------------------------------- shapes

@given(mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=3, min_side=0))
@settings(max_examples=100, deadline=None)
def test_unbroadcast_is_the_transpose_of_broadcasting(shapes: Any) -> None:
    small, shape = shapes.input_shapes[0], shapes.result_shape
    rng = np.random.default_rng(0)
    x, dout = rng.normal(size=small), rng.normal(size=shape)
    dx = unbroadcast(dout, x)
    assert np.shape(dx) == small
    np.testing.assert_allclose(np.sum(dx * x), np.sum(dout * np.broadcast_to(x, shape)), atol=1e-12)
    np.testing.assert_array_equal(broadcast_like(x, dout), np.broadcast_to(x, shape))


def test_what_fits_is_passed_on_as_it_is() -> None:
    dx = np.ones((2, 3))
    assert unbroadcast(dx, np.zeros((2, 3))) is dx
    assert broadcast_like(dx, np.zeros((2, 3))) is dx


@pytest.mark.parametrize(("dx", "x", "kind"), [
    (np.ones((2, 3)), 1.0, float), (np.float32(2), 1.0, float), (2, 1.0, float), (1 + 1j, 1.0, float),
    (np.ones(3), 1 + 1j, complex), (np.ones(3), np.float32(1), np.float32), (1.0, np.float64(1), np.float64),
    (1j, np.float64(1), np.float64),
])
def test_scalars_get_scalars_of_their_own_type(dx: Any, x: Any, kind: type) -> None:
    assert type(unbroadcast(dx, x)) is kind
    assert unbroadcast(dx, x) == (np.sum(dx) if kind is complex else np.sum(dx).real)


@pytest.mark.parametrize(("dx", "x"), [
    (np.ones((2, 3)), np.zeros(3, "float32")), (np.ones(3) * (1 + 2j), np.zeros(3)),
    (np.ones(3), np.zeros(3, complex)),
    (1.0, np.zeros(())), (np.ones((4, 1)), np.zeros((1, 1), "float32")),
])
def test_the_gradient_has_the_shape_and_dtype_of_the_argument(dx: Any, x: Any) -> None:
    assert (np.shape(unbroadcast(dx, x)), unbroadcast(dx, x).dtype) == (x.shape, x.dtype)


def test_integers_leave_the_dtype_alone() -> None:
    assert unbroadcast(np.full((2, 3), 0.5), np.zeros(3, int)).tolist() == [1.0, 1.0, 1.0]
    assert unbroadcast(np.full(3, 0.5), 2) == 1.5


@pytest.mark.parametrize("x", [[1.0], (1.0,), {"a": 1.0}, None, object()])
def test_containers_are_no_operands(x: Any) -> None:
    with pytest.raises(NonDifferentiableError):
        unbroadcast(np.ones(3), x)
    with pytest.raises(NonDifferentiableError):
        unbroadcast(x, np.ones(3))
    with pytest.raises(NonDifferentiableError):
        unbroadcast(x, 1.0)


def test_a_cotangent_of_too_few_dimensions_is_refused() -> None:
    with pytest.raises(ValueError, match="does not belong"):
        unbroadcast(np.ones(3), np.zeros((2, 3)))


@pytest.mark.parametrize(("axis", "keepdims"),
                         [(None, False), (0, False), (-1, True), ((0, 2), False), (1, False)])
def test_unreduce_is_the_transpose_of_a_sum(axis: Any, keepdims: bool) -> None:
    x = np.zeros((2, 3, 4), "float32")
    dout = np.random.default_rng(0).normal(size=np.sum(x, axis=axis, keepdims=keepdims).shape)
    dx = unreduce(dout, x, axis, keepdims)
    assert dx.shape == x.shape and dx.dtype == x.dtype and dx.flags.writeable
    expected = np.sum(np.ones_like(x), axis=axis, keepdims=keepdims) * dout
    np.testing.assert_allclose(np.sum(dx, axis=axis, keepdims=keepdims), expected, rtol=1e-6)


def test_the_new_array_is_not_the_cotangent() -> None:
    dout = np.ones(3)
    assert not np.shares_memory(unreduce(dout, np.zeros((2, 3)), 0), dout)


# ---------------------------------------------------------------- structures

VALUE: dict[str, Any] = {"w": [np.ones((2, 2)), 1.5], "pair": Pair(1 + 2j, np.float32(3)), "n": 3,
                         "f": math.sin,
         "layer": Layer(np.ones(2), "first"), "nothing": None, "counts": np.arange(3)}


def test_zeros_mirror_the_value() -> None:
    zeros = zeros_like(VALUE)
    assert zeros["f"] is None and zeros["nothing"] is None
    assert zeros["n"] == 0.0 and zeros["counts"].tolist() == [0.0, 0.0, 0.0]
    assert zeros["w"][0].tolist() == [[0, 0], [0, 0]] and zeros["w"][1] == 0.0
    assert zeros["pair"] == Pair(0j, np.float32(0)) and type(zeros["pair"].right) is np.float32
    assert type(zeros["layer"]) is Layer and zeros["layer"].w.tolist() == [0,
                                                                           0] and zeros["layer"].name is None


@pytest.mark.parametrize("x",
                         ["a", None, math.sin, int, np.array(["a"]), np.array([None]), object(),
                          like(np.ones(2))])
def test_what_is_no_number_has_no_zero(x: Any) -> None:
    assert zeros_like(x) is None


@pytest.mark.parametrize("x", [True, 3, np.int64(3), np.bool_(True)])
def test_zeros_of_integers_are_floats(x: Any) -> None:
    assert type(zeros_like(x)) is float and zeros_like(x) == 0.0


def test_users_get_none_for_integers() -> None:
    x = {"a": [1, 2.0, True], "b": (np.arange(2), 1.5), "c": Pair(np.ones(2), 3)}
    found = without_integers({"a": [0.5, 1.0, 2.0], "b": (np.ones(2), 3.0), "c": Pair(np.ones(2), 4.0)}, x)
    assert found["a"] == [None, 1.0, None] and found["b"] == (None, 3.0)
    assert found["c"].left.tolist() == [1.0, 1.0] and found["c"].right is None
    back = with_zeros(found, x)
    assert back["a"] == [0.0, 1.0, 0.0] and back["b"][0].tolist() == [0.0, 0.0] and back["c"].right == 0.0


@pytest.mark.parametrize("x", [1.5, np.float64(1.5), np.float32(1.5), 1j, np.complex64(1j)])
def test_zeros_of_scalars_are_of_their_type(x: Any) -> None:
    assert type(zeros_like(x)) is type(x) and zeros_like(x) == 0


def test_sums_of_structures() -> None:
    total = add(VALUE["w"], [np.ones((2, 2)), None])
    assert total[0].tolist() == [[2, 2], [2, 2]] and total[1] == 1.5
    assert add(Pair(1.0, 2.0), Pair(3.0, None)) == Pair(4.0, 2.0)
    assert add({"a": 1.0}, {"b": 2.0}) == {"a": 1.0, "b": 2.0}
    layer = add(zeros_like(Layer(1.5, "first")), zeros_like(Layer(1.5, "first")))
    assert type(layer) is Layer and layer.w == 0.0 and layer.name is None
    assert add(None, 1.0) == 1.0 and add(1.0, None) == 1.0 and add(None, None) is None
    assert add(0.0, np.ones(2)).tolist() == [1, 1]


@pytest.mark.parametrize(("a", "b"),
                         [([1.0], [1.0, 2.0]), ([1.0], (1.0,)), ([1.0], 1.0), (1.0, [1.0]), ({}, [])])
def test_structures_that_differ_are_refused(a: Any, b: Any) -> None:
    with pytest.raises(NonDifferentiableError):
        add(a, b)


def test_sums_change_nothing_and_copies_share_nothing() -> None:
    a, b = [np.ones(2)], [np.ones(2)]
    add(a, b)[0][:] = 9
    assert a[0].tolist() == b[0].tolist() == [1, 1]
    copied = copy_adjoint(VALUE["w"])
    copied[0][:] = 9
    assert VALUE["w"][0].tolist() == [[1, 1], [1, 1]] and copied[1] == 1.5
    assert copy_adjoint(None) is None


# ---------------------------------------------------------------- in place

@pytest.mark.parametrize("index", [
    0, -1, slice(1, None), (0, 1), (slice(None), 1), [0, 0, 1], np.array([1, 1, 1]), ([0, 0], [1, 1]),
    np.array([True, False]), (slice(None), [1, 1]), (None, 0), ..., (np.array([[0, 1]]), 0),
])
def test_adding_at_is_the_transpose_of_reading(index: Any) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 3))
    v = rng.normal(size=x[index].shape)
    buffer = np.zeros((2, 3))
    da = add_at(buffer, index, v)
    assert da is buffer
    np.testing.assert_allclose(np.sum(da * x), np.sum(v * x[index]))
    np.testing.assert_array_equal(np.shape(take_at(da, index, v)), np.shape(v))


def test_adding_to_containers() -> None:
    items = [1.0, None, 2.0]
    assert add_at(items, -1, 0.5) is items and items == [1.0, None, 2.5]
    assert add_at(items, slice(0, 2), [1.0, 3.0]) == [2.0, 3.0, 2.5]
    assert add_at(items, slice(0, 2), None) == [2.0, 3.0, 2.5]
    assert add_at({"a": 1.0}, "a", 2.0) == {"a": 3.0}
    with pytest.raises(KeyError):  # a dict that lacks a key has no value to differentiate
        add_at({"a": 1.0}, "b", 2.0)
    assert add_at((1.0, 2.0), 1, 1.0) == (1.0, 3.0)
    assert add_at(Pair(1.0, 2.0), 0, 1.0) == Pair(2.0, 2.0)
    assert add_at(np.ones(2), 0, None).tolist() == [1, 1]
    assert add_at(None, 0, None) is None


@pytest.mark.parametrize("da", [None, "text"])
def test_nothing_is_added_to_what_carries_no_derivative(da: Any) -> None:
    with pytest.raises(NonDifferentiableError):
        add_at(da, 0, 1.0)


def test_what_is_taken_is_a_copy_of_the_shape_that_was_added() -> None:
    da = np.ones((2, 3))
    taken = take_at(da, 0, np.zeros(3))
    taken[:] = 9
    assert da.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert take_at(da, slice(None), 0.5) == 6.0
    assert conform([np.ones((2, 2))], [np.zeros(2)])[0].tolist() == [2, 2]


def test_sums_of_sequences() -> None:
    assert spread(1.5, [0.0, 1, np.zeros(2)][:2]) == [1.5, 1.5]
    assert spread(np.ones((2, 3)), (np.zeros(3),))[0].tolist() == [2, 2, 2]
    assert spread(np.ones(3), np.zeros((2, 3))).shape == (2, 3)
    assert gather([1.0, None, 2.0], 0.0) == 3.0
    assert spread(1.0, {2.0: 1.5}) == {2.0: 0.0}  # whose keys are summed
    with pytest.raises(NonDifferentiableError):
        spread(1.0, {1.5})


# ---------------------------------------------------------------- results

ARRAYS_OF_ONE = [np.ones(1), np.ones((1, 1), dtype="float32")]


@pytest.mark.parametrize("out", [1.5, np.float64(1.5), np.float32(1.5), np.array(1.5), *ARRAYS_OF_ONE])
def test_a_real_number_has_a_gradient(out: Any) -> None:
    unit = unit_cotangent(out)
    assert unit == 1 and np.asarray(unit).dtype == np.asarray(out).dtype and np.shape(unit) == np.shape(out)


@pytest.mark.parametrize(("out", "named"), [
    (np.ones(2), "jacobian"), (np.ones(0), "jacobian"), (1j, "np.abs"), (np.complex64(1j), "np.abs"),
    (3, "float"), (True, "float"),
    (np.arange(3), "float"), (None, "return"), ("text", "vjp"), ([1.0], "vjp"), (np.array(["a"]), "vjp"),
])
def test_other_results_are_refused_with_what_to_do(out: Any, named: str) -> None:
    with pytest.raises(NonDifferentiableError, match=named):
        unit_cotangent(out)


@pytest.mark.parametrize("x", [np.ones((2, 3)), np.ones(2, dtype="float32"), np.ma.masked_array(np.ones(2))])
def test_zeros_of_what_an_array_was(x: Any) -> None:
    zeros = zeros_of(like(x))
    assert type(zeros) is type(x) and zeros.dtype == x.dtype
    np.testing.assert_array_equal(zeros, np.zeros_like(x))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("function", [kept_where, zeroed_where])
def test_choices_by_bits(dtype: str, function: Any) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 30)).astype(dtype)
    x[3], x[:, 4] = np.nan, -np.inf
    masks = [rng.random((40, 30)) < 0.5, rng.random((40, 1)) < 0.5, rng.integers(0, 200, 30, "u1").view(bool)]
    for mask in masks:
        for part in (x, x.T.copy().T, x[:1], x[:, :1]):
            kept = mask if function is kept_where else np.logical_not(mask)
            wanted = np.where(kept, part, 0)
            found = function(mask, part)
            assert found.dtype == x.dtype and found.flags.writeable and found.flags.owndata
            np.testing.assert_array_equal(found, wanted)
            np.testing.assert_array_equal(np.signbit(found.real), np.signbit(wanted.real))
