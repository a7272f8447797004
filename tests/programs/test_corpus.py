"""The corpus: all stages and both modes of every program, second derivatives of those marked."""

from __future__ import annotations

import ast
import copy
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.explanation import Stage
from tests.programs import globals_set
from tests.programs.corpus import FAMILIES, PROGRAMS, Program
from tests.programs.declare import declared
from tests.support.build import hostile_names
from tests.support.compare import (
    EVERY_FORM,
    assert_same,
    check_program,
    check_second,
    directions,
    flatten,
    is_sampled,
    number_of,
    numeric_jvp,
    random_like,
)
from tests.support.watch import watching

# Programs that set globals set those of their module, and one shares an array of it with what it calls.
APART = [*(p.name for p in declared(globals_set.__name__)), "work_array_of_the_module"]


def test_there_are_programs_of_every_family() -> None:
    assert all(declared(family.__name__) for family in FAMILIES)
    assert len({p.function for p in PROGRAMS}) >= 170


@pytest.mark.parametrize(
    "p", [pytest.param(p, marks=[pytest.mark.quick] * p.quick, id=p.name) for p in PROGRAMS]
)
def test_program(p: Program) -> None:
    """All that is checked of a program, which is derived once for it."""
    check_smoothness(p)
    with watching() as made:
        s2sad.vjp(p.function, argnums=p.wrt)(*copy.deepcopy(p.args))
    name = p.function.__name__
    finished = [g for g in made if "differentiate" in g.passes and g.first.function.__name__ == name]
    if finished or p.name == name:  # for more arguments of the same kinds nothing is made
        check_stages(p, finished[0].primal_stages(p.function, p.args))
    check_program(p.function, p.args, p.wrt)
    if p.second and is_sampled(p.function):
        check_second(p.function, p.args, p.wrt)
    if p.name not in APART and (EVERY_FORM or number_of(p.function) % 8 == 0):
        check_among_misleading_names(p)


def check_smoothness(p: Program) -> None:
    """That differences tell the derivatives at the arguments of the program."""
    kept = copy.deepcopy(p.args)
    tangents = directions(p.args, p.wrt, 0)
    fine, coarse = (numeric_jvp(p.function, p.args, p.wrt, tangents, step) for step in (2e-4, 8e-4))
    for a, b in zip(flatten(fine), flatten(coarse), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
    assert_same(p.args, kept)


def check_stages(p: Program, stages: list[Stage]) -> None:
    """That each stage before differentiation gives what the program gives."""
    expected = p.function(*copy.deepcopy(p.args))
    assert stages
    for stage in stages:
        try:
            assert_same(stage.function(*copy.deepcopy(p.args)), expected)
        except Exception as error:
            error.add_note(f"in stage {stage.name}:\n{stage.source}")
            raise


def among_misleading_names(f: Any) -> Any:
    """The function with globals beside its own that have the names of generated variables."""
    names = hostile_names(ast.parse(Path(f.__code__.co_filename).read_text()))
    own = FunctionType(f.__code__, {**names, **f.__globals__}, f.__name__, f.__defaults__, f.__closure__)
    own.__kwdefaults__, own.__module__ = f.__kwdefaults__, f.__module__
    return own


def check_among_misleading_names(p: Program) -> None:
    results = []
    for f in (p.function, among_misleading_names(p.function)):
        out, bprop = s2sad.vjp(f, argnums=p.wrt)(*copy.deepcopy(p.args))
        results.append((out, bprop(random_like(out, np.random.default_rng(0)))))
    assert_same(*results)
