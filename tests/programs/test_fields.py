"""Programs of many fields, as people write them there: first and second derivatives against differences."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import s2sad
from tests.programs.fields import (
    differential_equations,
    inference,
    lattices,
    learning,
    mechanics,
    numerics,
    photonics,
    survival,
    thermodynamics,
)
from tests.support.compare import assert_close, check_program, directions, numeric_jvp

FIELDS = (
    differential_equations,
    inference,
    lattices,
    learning,
    mechanics,
    numerics,
    photonics,
    survival,
    thermodynamics,
)
PROGRAMS = [program for field in FIELDS for program in field.PROGRAMS]
SECOND = [
    *("bpm", "black_scholes", "cox_efron", "fdtd_2d", "gmm_loglik", "hmm_forward", "ising_mean_field"),
    *("phi4_action", "su2_action"),
]


def name_of(program: Any) -> str:
    return str(program[0].__name__)


def test_programs_have_names_of_their_own() -> None:
    names = [name_of(p) for p in PROGRAMS]
    assert len(set(names)) == len(names) and set(SECOND) <= set(names)


@pytest.mark.parametrize("program", PROGRAMS, ids=name_of)
def test_first_derivatives(program: Any) -> None:
    function, args, argnums = program
    s2sad.check_grads(function, args, order=1, argnums=argnums)


def test_a_program_that_changes_its_arguments() -> None:
    check_program(*lattices.CHANGING)


@pytest.mark.parametrize("program", [p for p in PROGRAMS if name_of(p) in SECOND], ids=name_of)
def test_second_derivatives(program: Any) -> None:
    function, args, argnums = program
    gradient, tangents = s2sad.grad(function, argnums=argnums), directions(args, argnums, 0)
    _, product = s2sad.jvp(gradient, argnums=argnums)(*copy.deepcopy(args), *tangents)
    expected = numeric_jvp(gradient, args, argnums, tangents)
    assert_close(product, expected, 1e-6, "jvp of grad against differences")
