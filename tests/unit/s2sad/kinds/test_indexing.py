"""The kinds of parts of arrays."""

from __future__ import annotations

from itertools import product

import pytest

from s2sad.kinds.indexing import SliceItem, subscript_kind
from s2sad.kinds.lattice import LARGE, Array, Sym


@pytest.mark.parametrize("offset", [0, -1, -3])
@pytest.mark.parametrize("is_large", [False, True])
def test_the_length_of_a_slice_is_right_for_all_lengths_of_the_axis(is_large: bool, offset: int) -> None:
    least = LARGE if is_large else 0
    dim = Sym("n", offset, least + offset >= 2, is_large)
    bounds = (None, *range(-LARGE - 2, LARGE + 3))
    for lower, upper in product(bounds, bounds):
        match subscript_kind(Array("float64", (dim,)), [SliceItem(lower, upper, None)]):
            case Array("float64", (found,)) if found is not None:
                pass
            case _:
                continue
        for n in range(least, 2 * LARGE + 4):
            wanted = len(range(*slice(lower, upper).indices(max(0, n + offset))))
            number = found if isinstance(found, int) else found.number
            offset_of = 0 if isinstance(found, int) else found.offset
            assert wanted == (max(0, n + offset_of) if number is None else number), (lower, upper, n)
            assert wanted != 1 or isinstance(found, int) or not found.not_one


def test_parts_near_the_ends_of_a_large_axis_have_a_known_length() -> None:
    rows = Array("float64", (None, Sym("n", 0, True, True)))
    for part in (SliceItem(None, 3, None), SliceItem(3, 6, None), SliceItem(-3, None, None)):
        found = subscript_kind(rows, [SliceItem(None, None, None), part])
        assert found == Array("float64", (None, Sym("=3", 0, True)))
