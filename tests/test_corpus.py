"""The corpus: all stages and both modes of every program, second derivatives of those marked."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import s2sad
from tests.compare import assert_same, check_program, check_second, directions, flatten, numeric_jvp
from tests.corpus import FAMILIES, PROGRAMS, Program
from tests.corpus_programs.declare import declared

every = pytest.mark.parametrize("p", PROGRAMS, ids=lambda p: p.name)


def test_there_are_programs_of_every_family() -> None:
    assert all(declared(family.__name__) for family in FAMILIES)
    assert len({p.function for p in PROGRAMS}) >= 170


@every
def test_program_is_smooth_at_its_arguments(p: Program) -> None:
    kept = copy.deepcopy(p.args)
    tangents = directions(p.args, p.wrt, 0)
    fine, coarse = (numeric_jvp(p.function, p.args, p.wrt, tangents, step) for step in (2e-4, 8e-4))
    for a, b in zip(flatten(fine), flatten(coarse), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
    assert_same(p.args, kept)


@every
def test_stages(p: Program) -> None:
    expected = p.function(*copy.deepcopy(p.args))
    stages = s2sad.explain(p.function, *copy.deepcopy(p.args)).stages
    assert any(stage.is_primal for stage in stages.values())
    for name, stage in stages.items():
        if stage.is_primal:
            try:
                assert_same(stage.function(*copy.deepcopy(p.args)), expected)
            except Exception as error:
                error.add_note(f"in stage {name}:\n{stage.source}")
                raise


@every
def test_first_order(p: Program) -> None:
    check_program(p.function, p.args, p.wrt)


@pytest.mark.parametrize("p", [p for p in PROGRAMS if p.second], ids=lambda p: p.name)
def test_second_order(p: Program) -> None:
    check_second(p.function, p.args, p.wrt)
