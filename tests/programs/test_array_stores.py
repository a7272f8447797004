"""Every way of writing into an array that NumPy has: the derivative runs as the function does, and is right.

Each body runs in three functions: on an array of the function's own (to second order too), on an argument
with a result beside it, and on an argument that is itself the result. What is refused today is listed in
`array_stores_refused.txt`, and has to be refused; S2SAD_REGENERATE=1 writes the list anew.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import s2sad
from tests.programs.array_stores import ALIASES, AUGMENTED, CALLS, CONSTANTS, FUNCTIONS, STORES, VIEWS
from tests.support.build import build
from tests.support.compare_mutation import check_changing, check_changing_second

LIST = Path(__file__).with_name("array_stores_refused.txt")
REGENERATING = "S2SAD_REGENERATE" in os.environ
REFUSED: set[str] = set() if REGENERATING else set(LIST.read_text().splitlines())

FORMS = {
    "made": """
def f(x, v, w, s):
    a = x.copy()
    before = a * v
BODY
    return np.sum(W * np.sin(a)) + np.sum(before * before)
""",
    "argument": """
def f(a, v, w, s):
    base = a
    before = a * v
BODY
    return np.sum(W * np.sin(a)) + np.sum(before * before) + np.sum(W * base * base)
""",
}
FORMS["second"] = FORMS["made"]
FORMS["result"] = """
def f(a, v, w, s):
BODY
"""
GROUPS = {
    "store": STORES,
    "augmented": AUGMENTED,
    "function": FUNCTIONS,
    "view": VIEWS,
    "alias": ALIASES,
    "call": CALLS,
}
SPARSE = ("second", "argument")  # forms in which one body in three is run, always the same ones
CASES = {
    f"{form} {group} {' | '.join(body.splitlines())}": (form, group, body)
    for form in FORMS
    for group, bodies in GROUPS.items()
    for body in bodies
    if form not in SPARSE or zlib.crc32(body.encode()) % 3 == 0
}


def program(form: str, group: str, body: str) -> Callable[..., Any]:
    """The function of a form with this body; what a call needs is defined before it."""
    lines = body.splitlines()
    last = max((k for k, line in enumerate(lines) if line.startswith(("def ", "class "))), default=-1)
    while group == "call" and (lines[last].startswith(("def ", "class ", " "))):
        last += 1
    module = lines[:last] if group == "call" else []
    inside = "\n".join("    " + line for line in lines[len(module) :])
    return build("\n".join(module) + FORMS[form].replace("BODY", inside), **CONSTANTS)


def arguments() -> tuple[Any, ...]:
    rng = np.random.default_rng(5)
    return rng.uniform(0.5, 1.5, (3, 4)), rng.uniform(0.5, 1.5, 4), rng.uniform(0.5, 1.5, 3), 0.7


@pytest.fixture(scope="module")
def refused() -> Iterator[set[str]]:
    """Collects what is refused; writes the list when it is to be regenerated."""
    found: set[str] = set()
    yield found
    if REGENERATING:
        LIST.write_text("".join(f"{case}\n" for case in CASES if case in found))


@pytest.mark.parametrize("case", CASES)
def test_bodies(case: str, refused: set[str]) -> None:
    form, group, body = CASES[case]
    f = program(form, group, body)
    outputs = ("a",) if form == "result" else ()
    try:
        if form == "second":
            check_changing_second(f, arguments(), (0, 1, 2, 3))
        else:
            check_changing(f, arguments(), (0, 1, 2, 3), outputs)
    except s2sad.S2sadError as error:
        refused.add(case)
        if case not in REFUSED and not REGENERATING:
            raise
        assert error.where is not None or error.why, f"the refusal says neither where nor why: {error}"
        pytest.xfail(str(error).splitlines()[0])
    assert case not in REFUSED, "no longer refused: take it off the list"


def test_the_list_is_of_cases() -> None:
    assert set(CASES) >= REFUSED


def test_resize_is_refused() -> None:
    f = build("def f(x):\n    a = x.copy()\n    a.resize(2, refcheck=False)\n    return np.sum(a * a)\n")
    with pytest.raises(s2sad.S2sadError):
        s2sad.grad(f)(np.array([0.3, 0.8, 1.1]))
