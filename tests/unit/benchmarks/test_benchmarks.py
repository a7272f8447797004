"""What the benchmarks time are the same gradients, generated and written by hand; nothing is timed here."""
from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import s2sad
from benchmarks import by_hand_numba, generation, report
from benchmarks.__main__ import Result
from benchmarks.programs import PROGRAMS, Program
from benchmarks.tools import TOOLS, assert_agreement
from s2sad.kinds.lattice import LARGE

EACH = {program.name: program for program in PROGRAMS}



def gradient(tool: str, program: Program, size: Mapping[str, int]) -> Any:
    return TOOLS[tool].make(program, program.arguments(size))()


@pytest.mark.parametrize("name", EACH)
def test_gradients_by_hand_and_generated_agree(name: str) -> None:
    program = EACH[name]
    larger = {key: n if key == "steps" else n + LARGE for key, n in program.small.items()}
    for size in (program.small, larger):
        assert_agreement(name, gradient("by hand", program, size), gradient("s2sad", program, size))


@pytest.mark.parametrize("name", [name for name in EACH if hasattr(by_hand_numba, name)])
def test_gradients_by_hand_for_numba_agree(name: str) -> None:
    """As Python runs them: compiling them is for the benchmark."""
    program = EACH[name]
    found = by_hand_numba.without_compiling(name)(*program.arguments(program.small))
    assert_agreement(name, gradient("by hand", program, program.small), found)


@pytest.mark.parametrize("tool", ["autograd", "MyGrad", "PyTorch", "JAX"])
def test_gradients_of_other_tools_agree(tool: str) -> None:
    """Where they take a program: stores into arrays, and functions that a library lacks, are refused."""
    pytest.importorskip(TOOLS[tool].module.partition(".")[0])
    taken = 0
    for name, program in EACH.items():
        try:
            found = gradient(tool, program, program.small)
        except (AttributeError, RuntimeError, TypeError, ValueError):
            continue
        assert_agreement(f"{name}: {tool}", gradient("by hand", program, program.small), found)
        taken += 1
    assert taken >= 20


def test_a_wrong_gradient_is_noticed() -> None:
    program = EACH["logistic"]
    dw, db = gradient("by hand", program, program.small)
    with pytest.raises(AssertionError, match=r"logistic regression: wrong"):
        assert_agreement("logistic regression: wrong", (dw, db), (dw, db + 1e-6))


def test_programs_without_stores_are_the_programs() -> None:
    from benchmarks import without_stores
    for name, program in EACH.items():
        if hasattr(without_stores, name):
            args = program.arguments(program.small)
            found = getattr(without_stores, name)(*args)
            np.testing.assert_allclose(found, program.primal(*args), rtol=1e-12)


def test_the_report_says_where_s2sad_loses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(report, "costs", lambda tools: {})
    seconds = {"by hand": [1.0, 2.0, 1.0], "s2sad": [1.5, 3.1, 1.4], "JAX": [1.0, 2.0, 1.1]}
    first = dict.fromkeys(seconds, 0.1)
    results = [Result(EACH["lu"], seconds, first, {"s2sad": 8000}, {"autograd": "no stores"}),
               Result(EACH["mlp"], {"by hand": [1.0], "s2sad": [1.1]}, first)]
    report.write(str(tmp_path / "page"), results, list(TOOLS.values()), [TOOLS["MyGrad"]], "1")
    page = (tmp_path / "page.md").read_text()
    assert "1.50 (1.45-1.52)" in page
    assert "1.2 times the time of by hand on 1 of 2 programs (geometric mean 1.28): lu 1.50" in page
    assert "s2sad: slower than JAX on 1 of 1 programs (geometric mean 1.50): lu 1.50" in page
    assert "- lu, autograd: no stores\n- MyGrad: not installed; pip install mygrad" in page
    assert json.loads((tmp_path / "page.json").read_text())["programs"][0]["seconds"] == seconds
    assert EACH["mlp"].title in (tmp_path / "page.svg").read_text()


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
