"""All stages of a few programs, as they are expected: golden/NAME.txt, each also executed and checked.

`S2SAD_REGENERATE=1 pytest tests/programs/test_golden.py` writes the files anew; read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import s2sad
from s2sad.explanation import Explanation, explain
from tests.programs.golden_programs import PROGRAMS
from tests.support.build import build
from tests.support.compare import assert_close, assert_same, check_program, directions, is_real_scalar

GOLDEN = Path(__file__).parent / "golden"


def stages(name: str) -> dict[str, Explanation]:
    """The stages of a program's gradient (its bprop, where the result is no number) and of its jvp."""
    text, args, wrt = PROGRAMS[name]
    f = build(text)
    forms = ("grad" if is_real_scalar(f(*args)) else "vjp", "jvp")
    return {form: explain(f, *args, argnums=wrt, form=form) for form in forms}


def page(text: str, found: dict[str, Explanation]) -> str:
    """The function, and what each pass makes of it that changes something."""
    parts = [text.strip()]
    for form, explanation in found.items():
        before = text.lstrip("\n")
        for name, stage in explanation.stages.items():
            if stage.source.strip() != before.strip() and (form != "jvp" or not stage.is_primal):
                parts += [f"# ---- {form}: {name}", stage.source.strip()]
            before = stage.source
    return "\n\n".join(parts) + "\n"


@pytest.mark.parametrize("name", PROGRAMS)
def test_stages_are_as_expected(name: str) -> None:
    file = GOLDEN / f"{name}.txt"
    written = page(PROGRAMS[name][0], stages(name))
    if os.environ.get("S2SAD_REGENERATE"):
        file.write_text(written)
    assert written == file.read_text()


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_stage_runs(name: str) -> None:
    """Those before differentiation give the result exactly, those after it what the transform gives."""
    text, args, wrt = PROGRAMS[name]
    f = build(text)
    tangents = directions(args, wrt, 0)
    for form, explanation in stages(name).items():
        for stage in explanation.stages.values():
            if stage.is_primal:
                assert_same(stage.function(*args), f(*args))
            elif form == "jvp":
                assert_close(
                    stage.function(*args, *tangents),
                    s2sad.jvp(f, argnums=wrt)(*args, *tangents),
                    1e-12,
                    stage.name,
                )
            elif form == "grad":
                assert_close(stage.function(*args), s2sad.grad(f, argnums=wrt)(*args), 1e-12, stage.name)
            else:
                out, _ = stage.function(*args)
                assert_same(out, f(*args))


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_are_right(name: str) -> None:
    text, args, wrt = PROGRAMS[name]
    check_program(build(text), args, wrt)


def test_there_is_a_program_for_each_page() -> None:
    assert {file.stem for file in GOLDEN.iterdir()} == set(PROGRAMS)
