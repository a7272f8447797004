"""Stores that may hit what was read: never fewer than do, and no more in loops of factorisations."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from random import Random
from typing import Any

import gast
import numpy as np
import pytest

from s2sad.analysis.primitive_table import PRIMITIVES
from s2sad.kinds import domain
from s2sad.transforms.analyses.facts import Facts
from s2sad.transforms.analyses.find_overlaps import Overlaps, has_solution
from s2sad.transforms.trees.nodes import walk
from s2sad.transforms.trees.program import Program, Scope, program_of

SIZE = 6


class Recorder:
    """An array that notes which elements are read and written, in order."""

    def __init__(self) -> None:
        self.places = np.arange(SIZE * SIZE).reshape(SIZE, SIZE)
        self.events: list[tuple[str, frozenset[int]]] = []

    def __getitem__(self, index: Any) -> float:
        self.events.append(("read", frozenset(np.ravel(self.places[index]).tolist())))
        return 0.0

    def __setitem__(self, index: Any, value: Any) -> None:
        self.events.append(("write", frozenset(np.ravel(self.places[index]).tolist())))

    def overlaps(self) -> bool:
        reads: frozenset[int] = frozenset()
        for what, elements in self.events:
            if what == "read":
                reads |= elements
            elif reads & elements:
                return True
        return False


def read(text: str) -> Program:
    return program_of(text, Scope({"range": range}))


def says(program: Program) -> bool:
    """Whether a store may hit what the assignment to `r` read."""
    overlaps = Overlaps(Facts(program, dict.fromkeys("ijknm", domain.INTEGER), PRIMITIVES, domain))
    statements = [n for n in walk(program.tree) if isinstance(n, gast.Assign)]
    (reading,) = [s for s in statements if isinstance(s.targets[0], gast.Name) and s.targets[0].id == "r"]
    stores = [s for s in statements if isinstance(s.targets[0], gast.Subscript)]
    return any(overlaps.may_hit(reading.value, reading, s) for s in stores)


def happens(text: str, n: int) -> bool:
    scope: dict[str, Any] = {}
    exec(text, scope)
    recorder = Recorder()
    with suppress(IndexError):
        scope["f"](recorder, n)
    return recorder.overlaps()


FINAL = [
    "for i in range(n):\n    for j in range(i):\n        r = A[i, :j]\n        A[i, j] = 1.0",
    "for i in range(n):\n    for j in range(i):\n        r = A[:j, j]\n        A[i, j] = 1.0\n"
    "    for k in range(i, n):\n        A[i, k] = 2.0",
    "for i in range(n):\n    for j in range(i):\n        r = A[j, j]\n        A[i, j] = 1.0\n"
    "    for k in range(i, n):\n        A[i, k] = 2.0",
    "for i in range(n - 1, -1, -1):\n    r = A[i + 1:, 0]\n    A[i, 0] = 1.0",
    "m = n - 1\nfor i in range(1, m):\n    r = A[0, i]\n    A[1:, i] = 1.0",
    "A[0, 0] = 1.0\nr = A[0, 0]\nA[1, 0] = 2.0",
    "for i in range(n):\n    for j in range(3):\n        A[i] = 1.0\n    r = A[i]",
]
HIT = [
    "for i in range(n):\n    for j in range(i):\n        r = A[i, :j + 1]\n        A[i, j] = 1.0",
    "for i in range(n):\n    r = A[i, 0]\n    A[n - 1, 0] = 1.0",
    "for i in range(n):\n    r = A[i - 1, 0]\n    A[i, 0] = 1.0",  # the last element, at first
    "for i in range(n):\n    r = A[0, :n]\n    A[i, i] = 1.0",
    "for k in range(2):\n    for i in range(n):\n        r = A[i, 0]\n    A[:, 0] = 2.0",
    "while n > 0:\n    n = n - 1\n    r = A[0, n]\n    A[0, n - 1] = 1.0",
    "B = A\nr = A[0, 0]\nB[0, 0] = 1.0",
]


def function(body: str) -> str:
    return "def f(A, n):\n" + "\n".join("    " + line for line in body.splitlines()) + "\n    return A\n"


@pytest.mark.parametrize("body", FINAL)
def test_what_stays(body: str) -> None:
    assert not says(read(function(body)))
    assert not any(happens(function(body), n) for n in range(SIZE))


@pytest.mark.parametrize("body", HIT)
def test_what_is_changed(body: str) -> None:
    assert says(read(function(body)))


def random_program(rng: Random) -> str:
    def bound(names: list[str]) -> str:
        name = rng.choice([*names, "n", "0", "3"])
        return name if rng.random() < 0.6 else f"{name} {rng.choice('+-')} {rng.randint(1, 2)}"

    def part(names: list[str]) -> str:
        if rng.random() < 0.5:
            return bound(names)
        low, high = (rng.choice(["", bound(names)]) for _ in range(2))
        return f"{low}:{high}" + rng.choice(["", "", "", ":2", ":-1"])

    def index(names: list[str]) -> str:
        return ", ".join(part(names) for _ in range(rng.choice([1, 2, 2, 2])))

    def loop(name: str, names: list[str]) -> str:
        ends = [bound(names) for _ in range(rng.choice([1, 2]))]
        step = rng.choice(["", ", -1", ", 2"]) if len(ends) == 2 else ""
        return f"for {name} in range({', '.join(ends)}{step}):"

    lines, names, indent = [], [], ""
    statements = ["r = A[{}]"] + ["A[{}] = 1.0"] * rng.randint(1, 2)
    rng.shuffle(statements)
    for name in rng.sample(["i", "j", "k"], rng.randint(1, 3)):
        while len(statements) > 1 and rng.random() < 0.2:
            lines.append(indent + statements.pop().format(index(names)))
        lines.append(indent + loop(name, names))
        names.append(name)
        indent += "    "
    lines += [indent + s.format(index(names)) for s in statements]
    return function("\n".join(lines))


def test_random_programs() -> None:
    rng = Random(0)
    final = 0
    for _ in range(1500):
        text = random_program(rng)
        hit = any(happens(text, n) for n in range(SIZE))
        told = says(read(text))
        assert told or not hit, text
        final += not told
    assert final > 100


def test_elimination() -> None:
    rng = Random(1)
    without = 0
    for _ in range(500):
        system = [
            {s: rng.randint(-2, 2) for s in ("a", "b", "c", "")} for _ in range(rng.randint(1, 6))
        ]
        among_integers = any(
            all(e["a"] * a + e["b"] * b + e["c"] * c + e[""] >= 0 for e in system)
            for a, b, c in product(range(-4, 5), repeat=3)
        )
        found = has_solution([{s: c for s, c in e.items() if c or not s} for e in system])
        assert found or not among_integers
        without += not found
    assert without > 10
