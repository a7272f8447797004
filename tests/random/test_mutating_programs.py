"""Random programs that write into arrays, alias and view them: their run, and both modes against differences.

S2SAD_EXAMPLES says how many; when it is set outside CI, they are new ones every time. A program that s2sad
refuses counts as such, and the share of these is printed; a wrong derivative or another exception fails.
"""

from __future__ import annotations

import os
from collections import Counter
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, note, settings

import s2sad
from s2sad.transforms.errors import InternalError
from tests.random.mutating_programs import Case, programs
from tests.random.programs import decisions
from tests.support.build import build, build_hostile
from tests.support.compare import random_like
from tests.support.compare_mutation import check_changing, check_changing_second, moved, numeric_tangent

SEARCHING = "S2SAD_EXAMPLES" in os.environ and "CI" not in os.environ
PROFILE = settings(
    max_examples=int(os.environ.get("S2SAD_EXAMPLES", "15")),
    derandomize=not SEARCHING,
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink] if SEARCHING else [Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def is_regular(case: Case) -> bool:
    """Whether the program runs, and is smooth along the check's tangents: same path, no kink near."""
    f = build(case.text)
    try:
        path = decisions(case.text, deepcopy(case.args), 1e-4)
    except (TypeError, ValueError):  # as for an element of a tuple that is assigned
        return False
    rng = np.random.default_rng(0)
    tangents = tuple(random_like(case.args[i], rng) for i in case.wrt)
    return (
        path is not None
        and all(
            decisions(case.text, moved(case.args, case.wrt, tangents, step), 0.0) == path
            for step in (-4e-4, -2e-4, 2e-4, 4e-4)
        )
        and numeric_tangent(f, case.args, case.wrt, tangents, case.outputs) is not None
    )


def verdict(case: Case, second: bool = False) -> str:
    """Checks a case: "right", or "refused"; raises what else there is."""
    f = build_hostile(case.text)
    try:
        check_changing(f, case.args, case.wrt, case.outputs)
        if second and not case.outputs and "return (" not in case.text:
            check_changing_second(f, case.args, case.wrt, may_be_rough=True)
    except InternalError:
        raise
    except s2sad.S2sadError:
        return "refused"
    return "right"


@pytest.mark.parametrize("outputs", [False, True], ids=["results", "changed arguments"])
def test_programs_that_write(outputs: bool, capsys: pytest.CaptureFixture[str]) -> None:
    verdicts: Counter[str] = Counter()

    @PROFILE
    @given(programs(outputs))
    def check(case: Case) -> None:
        note(str(case))
        assume(is_regular(case))
        verdicts[verdict(case, second=sum(verdicts.values()) % 4 == 0)] += 1

    check()
    total = sum(verdicts.values())
    with capsys.disabled():
        print(f"\n{total} programs, {verdicts['refused'] / total:.0%} refused")


BRANCHY = """
def program(x, y, A, B, s, n):
    x[x > 0.5] = 2.0 * s
    return np.sum(x * x)
"""


@pytest.mark.parametrize(("first", "regular"), [(0.7, True), (0.3, True), (0.50005, False)])
def test_boundaries_are_seen(first: float, regular: bool) -> None:
    x = np.array([first, 0.1, 0.9, -0.3])
    case = Case(BRANCHY, (x, x.copy(), np.ones((3, 4)), np.ones((2, 3, 4)), 0.4, 1), (0, 4), ())
    assert is_regular(case) is regular


def test_what_is_wrong_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("def program(x):\n    y = x * 1.0\n    y[1:] *= x[:-1]\n    return np.sum(y)\n",
                (np.array([0.3, 0.8, 1.1]),), (0,), ())  # fmt: skip
    assert verdict(case) == "right"
    right = s2sad.vjp

    def off_by_little(f, **options):
        def derivative(*args):
            out, bprop = right(f, **options)(*args)
            return out, lambda d: tuple(g + 1e-3 * d for g in bprop(d))

        return derivative

    monkeypatch.setattr(s2sad, "vjp", off_by_little)
    with pytest.raises(AssertionError, match="bprop against differences"):
        verdict(case)
