"""Random programs, in modules full of misleading names: both modes against finite differences.

S2SAD_EXAMPLES says how many; when it is set outside CI, they are new ones every time.
"""

from __future__ import annotations

import inspect
import os
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, note, settings

import s2sad
from s2sad.transforms.errors import InternalError
from tests.random.programs import Case, decisions, programs
from tests.support.build import build_hostile
from tests.support.compare import assert_same, check_program, directions, shifted

SEARCHING = "S2SAD_EXAMPLES" in os.environ and "CI" not in os.environ
STEPS = (-4e-4, -2e-4, 2e-4, 4e-4)  # where numeric_jvp evaluates

PROFILE = settings(
    max_examples=int(os.environ.get("S2SAD_EXAMPLES", "25")),
    derandomize=not SEARCHING,
    database=None,
    deadline=None,
    # Shrinking takes minutes, so it is left to searches: those are run to find a small program.
    phases=[Phase.generate, Phase.shrink] if SEARCHING else [Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def stays_on_its_path(case: Case) -> bool:
    """Whether the points of the finite differences take the case's own branches, none near a boundary."""
    path = decisions(case.text, case.args, 1e-4)
    tangents = directions(case.args, case.wrt, 0)
    return path is not None and all(
        decisions(case.text, shifted(case.args, case.wrt, tangents, step), 0.0) == path for step in STEPS
    )


def verdict(case: Case) -> str:
    """Checks a case: "right", or "refused"; raises what else there is."""
    f = build_hostile(case.text)
    assert inspect.getsource(f).startswith("def program(")
    assert_same(f(*case.args), f(*case.args))
    assume(stays_on_its_path(case))
    try:
        check_program(f, case.args, case.wrt)
    except InternalError:
        raise
    except s2sad.S2sadError:
        return "refused"
    return "right"


def test_random_programs(capsys: pytest.CaptureFixture[str]) -> None:
    verdicts: Counter[str] = Counter()

    @PROFILE
    @given(programs())
    def check(case: Case) -> None:
        note(str(case))
        verdicts[verdict(case)] += 1

    check()
    total = sum(verdicts.values())
    with capsys.disabled():
        print(f"\n{total} programs, {verdicts['refused'] / total:.1%} refused")
    assert verdicts["refused"] <= 0.1 * total


BRANCHY = """
def program(x, z):
    y = 0.0
    if x > 0.5 and z[1] < 1.0:
        y = x * x
    return y
"""


@pytest.mark.parametrize(("x", "stays"), [(0.7, True), (0.3, True), (0.50005, False), (0.49995, False)])
def test_boundaries_are_seen(x: float, stays: bool) -> None:
    assert stays_on_its_path(Case(BRANCHY, (x, np.array([3.0, 0.2])), (0,))) is stays
