"""Arrays that are not NumPy's: what the helpers of the run do exactly, or refuse."""

from __future__ import annotations

import array
from collections import deque
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.runtime import adjoints as runtime
from s2sad.runtime import mutation as updates
from s2sad.runtime.heap_arrays import holders_of
from tests.support.compare import check_program


class Foreign(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of another library: it dispatches NumPy's functions, and adds once where an index repeats."""

    def __init__(self, data: Any) -> None:
        self.data = np.asarray(data)

    shape = property(lambda self: self.data.shape)
    dtype = property(lambda self: self.data.dtype)
    ndim = property(lambda self: self.data.ndim)

    def copy(self) -> Foreign:
        return Foreign(self.data.copy())

    def astype(self, dtype: Any, copy: bool = True) -> Foreign:
        return Foreign(self.data.astype(dtype, copy=copy))

    def __getitem__(self, index: Any) -> Any:
        return Foreign(self.data[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        self.data[index] = value.data if isinstance(value, Foreign) else value

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [x.data if isinstance(x, Foreign) else x for x in inputs]
        out = options.pop("out", (None,))[0]
        made = getattr(ufunc, method)(*plain, **options)
        if out is None:
            return Foreign(made)
        out.data[...] = made
        return out

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        plain = [x.data if isinstance(x, Foreign) else x for x in args]
        return Foreign(function(*plain, **options))


class Sequence_:
    def __init__(self, *items: int) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, k: int) -> int:
        return self.items[k]


REPEATED: list[Any] = [
    [0, 0],
    np.array([1, 1]),
    ([0, 0], 1),
    (slice(None), np.array([1, 1])),
    deque([0, 0]),
    ((0, 0), 1),
    Foreign(np.array([0, 0])),
]
SINGLE: list[Any] = [1, np.int8(1), slice(0, 2), (0, slice(None)), ..., np.array([True, False]), np.array(1)]


@pytest.mark.parametrize("index", REPEATED, ids=lambda x: type(x).__name__)
def test_indices_that_may_repeat_are_refused(index: Any) -> None:
    x = Foreign(np.ones((2, 2)))
    for helper in (runtime.add_at, runtime.take_stored, runtime.stored_alone):
        with pytest.raises(s2sad.NonDifferentiableError, match="Foreign"):
            helper(x, index, 1.0)


@pytest.mark.parametrize("index", SINGLE, ids=repr)
def test_indices_of_single_places_are_exact(index: Any) -> None:
    x = Foreign(np.ones((2, 2)))
    expected = np.ones((2, 2))
    expected[index] += 2.0
    np.testing.assert_array_equal(runtime.add_at(x, index, 2.0).data, expected)


def test_updates_keep_shape_and_dtype() -> None:
    x = Foreign(np.ones(3, np.float32))
    assert updates.stored_in(Foreign(np.ones(3)), x).dtype == np.float32
    with pytest.raises(ValueError, match="does not fit"):
        updates.stored_in(Foreign(np.ones((2, 3))), x)


def test_changes_among_objects_are_refused() -> None:
    with pytest.raises(s2sad.UnsupportedSyntaxError, match="Foreign"):
        holders_of(None, Foreign(np.ones(2)))


def chosen(x: Any, index: Any) -> Any:
    return np.sum(x[index] * x[index])


def kept(x: Any, index: Any) -> Any:
    y = np.zeros_like(x)
    y[index] = x[index] * 2.0
    return np.sum(y * y * x)


INDICES = [deque([1, 1, 0]), array.array("i", [1, 1]), Sequence_(0, 0), range(2), ((0, 0), 1), ((1, 1),)]


@pytest.mark.parametrize("index", INDICES, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("f", [chosen, kept])
def test_any_sequence_may_name_a_place_of_a_numpy_array_twice(f: Any, index: Any) -> None:
    x = np.arange(6.0).reshape(2, 3) + 0.5
    check_program(lambda x: f(x, index), (x,), (0,))
