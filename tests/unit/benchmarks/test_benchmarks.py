"""What the benchmarks time are the same gradients, generated and written by hand; nothing is timed here."""
from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import s2sad
from benchmarks import by_hand_numba, generation
from benchmarks.programs import PROGRAMS, Program
from benchmarks.tools import TOOLS, assert_agreement
from s2sad.kinds.lattice import LARGE

EACH = {program.name: program for program in PROGRAMS}



def calls_of(program: Program, size: dict[str, int], *tools: str) -> dict[str, Any]:
    return {name: TOOLS[name].make(program, program.arguments(size)) for name in ("by hand", *tools)}


@pytest.mark.parametrize("name", EACH)
def test_gradients_by_hand_and_generated_agree(name: str) -> None:
    program = EACH[name]
    assert_agreement(program.title, calls_of(program, program.small, "s2sad"))
    larger = {key: n if key == "steps" else n + LARGE for key, n in program.small.items()}
    assert_agreement(program.title, calls_of(program, larger, "s2sad"))


@pytest.mark.parametrize("name", [name for name in EACH if hasattr(by_hand_numba, name)])
def test_gradients_by_hand_for_numba_agree(name: str) -> None:
    """As Python runs them: compiling them is for the benchmark."""
    program = EACH[name]
    wanted = TOOLS["by hand"].make(program, program.arguments(program.small))
    args = program.arguments(program.small)
    found = by_hand_numba.without_compiling(name)(*args)
    assert_agreement(name, {"by hand": wanted, "by hand, Numba": lambda: found})


def test_a_wrong_gradient_is_noticed() -> None:
    program = EACH["logistic"]
    calls = calls_of(program, program.small, "s2sad")
    dw, db = calls["s2sad"]()
    with pytest.raises(AssertionError, match=r"logistic regression: wrong"):
        calls = {"by hand": calls["by hand"], "wrong": lambda: (dw, db + 1e-6)}
        assert_agreement("logistic regression", calls)


def test_programs_without_stores_are_the_programs() -> None:
    from benchmarks import without_stores
    for name, program in EACH.items():
        if hasattr(without_stores, name):
            args = program.arguments(program.small)
            found = getattr(without_stores, name)(*args)
            np.testing.assert_allclose(found, program.primal(*args), rtol=1e-12)


def test_generation_grows_with_the_code(tmp_path: Path) -> None:
    def calls_for(lines: int) -> int:
        """How many Python functions are called while the gradient of so many lines is generated."""
        text = generation.text_of(generation.loops, lines, in_loop=True)
        function = generation.function_of(text, tmp_path / f"of_{lines}.py")
        count = 0

        def note(frame: Any, event: str, argument: Any) -> None:
            nonlocal count
            count += event == "call"

        x, a = np.linspace(0.1, 1.0, 10), np.linspace(0.2, 1.1, 10)
        sys.setprofile(note)
        try:
            s2sad.grad(function).function_for(x, a)
        finally:
            sys.setprofile(None)
        return count

    calls_for(24)
    assert calls_for(288) < 4.8 * calls_for(72)  # 16 times where each statement looks at all others
