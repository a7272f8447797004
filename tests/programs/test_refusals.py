"""Each refusal that users meet: which error it is, where it points, why, and what to write instead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import s2sad
from tests.programs.refusals import Row, table

ROWS = table()


def reverse(f: Any, x: Any) -> Any:
    return s2sad.grad(f)(x)


def forward(f: Any, x: Any) -> Any:
    return s2sad.jvp(f)(x, np.ones_like(x))


def test_there_are_rows_of_every_section() -> None:
    assert len({row.section for row in ROWS}) == 5 and len(ROWS) >= 45
    assert len({row.body for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.body)
def test_a_refusal_says_what_it_says_in_the_table(row: Row) -> None:
    assert row.met(reverse) == row.expected


@pytest.mark.parametrize("row", [row for row in ROWS if row.mode != "reverse"], ids=lambda row: row.body)
def test_forward_mode_says_the_same(row: Row) -> None:
    assert row.met(forward) == row.expected


def test_every_refusal_has_a_way_out() -> None:
    assert all(row.expected.what and row.expected.instead for row in ROWS)
