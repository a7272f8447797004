"""The corpus: all stages and both modes of every program, second derivatives of those marked."""

from __future__ import annotations

import ast
import copy
import os
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import s2sad
from tests.programs import globals_set
from tests.programs.corpus import FAMILIES, PROGRAMS, Program
from tests.programs.declare import declared
from tests.support.build import hostile_names
from tests.support.compare import (
    assert_same,
    check_program,
    check_second,
    directions,
    flatten,
    numeric_jvp,
    random_like,
)

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


def among_misleading_names(f: Any) -> Any:
    """The function with globals beside its own that have the names of generated variables."""
    names = hostile_names(ast.parse(Path(f.__code__.co_filename).read_text()))
    own = FunctionType(f.__code__, {**names, **f.__globals__}, f.__name__, f.__defaults__, f.__closure__)
    own.__kwdefaults__, own.__module__ = f.__kwdefaults__, f.__module__
    return own


# Programs that set globals set those of their module, and one shares an array of it with what it calls.
APART = [*(p.name for p in declared(globals_set.__name__)), "work_array_of_the_module"]
RERUN = [p for p in PROGRAMS if p.name not in APART]
RERUN = RERUN if "S2SAD_EXAMPLES" in os.environ else RERUN[::8]


@pytest.mark.parametrize("p", RERUN, ids=lambda p: p.name)
def test_misleading_names_around(p: Program) -> None:
    results = []
    for f in (p.function, among_misleading_names(p.function)):
        out, bprop = s2sad.vjp(f, argnums=p.wrt)(*copy.deepcopy(p.args))
        results.append((out, bprop(random_like(out, np.random.default_rng(0)))))
    assert_same(*results)


@pytest.mark.parametrize("p", [p for p in PROGRAMS if p.second], ids=lambda p: p.name)
def test_second_order(p: Program) -> None:
    check_second(p.function, p.args, p.wrt)
