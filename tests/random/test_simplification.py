"""The simplification passes on random programs: whatever their order, results and effects stay."""
from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad.transforms.analyses.find_live import Live
from s2sad.transforms.simplification.fold_constants import fold_constants
from s2sad.transforms.simplification.inline_temporaries import inline_temporaries
from s2sad.transforms.simplification.merge_copies import merge_copies
from s2sad.transforms.simplification.remove_dead_code import remove_dead_code
from tests.support.before_after import Node, parse, run, text_of
from tests.support.generated_facts import generated_facts

OWNED = frozenset({"buf", "trace"})
TRACES = frozenset({"trace"})
ARRAYS = ["arr", "al", "am", "buf", "t_900"]
PURE = {"minimum", "range", "sum", "zeros_like"}


def purity(node: Node) -> bool:
    func = getattr(node, "func", None)
    return func is None or getattr(func, "attr", getattr(func, "id", "")) in PURE


def is_temporary(name: str) -> bool:
    return re.match(r"[tc]_\d+$", name) is not None


ALIKE: dict[str, Any] = {"alike": lambda a, b: True, "nature": lambda name: name}
FACTS = generated_facts(
    is_pure=purity, traces=OWNED, is_temporary=is_temporary,
    is_float=lambda node: getattr(node, "id", None) in ARRAYS,
)  # fmt: skip
PASSES: dict[str, Callable[[Node], Node]] = {
    "remove": lambda t: remove_dead_code(t, FACTS),
    "merge": lambda t: merge_copies(t, generated_facts(is_pure=purity, traces=TRACES, **ALIKE)),
    "inline": lambda t: inline_temporaries(t, FACTS),
    "fold": lambda t: fold_constants(t, FACTS),
}


class Writer:
    """Writes one function of scalars, arrays that share memory, a buffer, a trace, effects and functions."""

    def __init__(self, seed: int) -> None:
        self.random, self.lines, self.count = random.Random(seed), list[str](), 0

    def program(self) -> str:
        self.lines = ["def f(x, y, arr):", "    buf = np.zeros_like(arr)", "    trace = []",
                      "    al = arr[:2]", "    am = arr", "    t_900 = arr"]
        known = self.block(self.block(["x", "y"], 1, 2), 1, 2)
        results = [self.atom(known) for _ in range(3)] + self.random.choice([[], ["buf"], ["trace"]])
        self.lines.append(f"    return {', '.join(results)}")
        return "\n".join(self.lines) + "\n"

    def atom(self, known: list[str]) -> str:
        return self.random.choice([*known, "1.0", "2.0", "-1.0"])

    def fresh(self) -> str:
        self.count += 1
        return self.random.choice([f"t_{self.count}", f"v_{self.count}", *"abcd"])

    def expression(self, known: list[str]) -> str:
        a, b = self.atom(known), self.atom(known)
        item = f"{self.random.choice(ARRAYS)}[{self.random.choice([0, 1])}]"
        return self.random.choice([
            f"{a} {self.random.choice('+-*')} {b}", f"{a} - {b}", a, a, f"-{a}", f"np.minimum({a}, {b})",
            f"effect({a})", item, f"np.sum(arr) * {a}"])

    def block(self, known: list[str], indent: int, depth: int, in_loop: bool = False) -> list[str]:
        known, pad = list(known), "    " * indent
        for _ in range(self.random.randint(1, 6)):
            a, b, r = self.atom(known), self.atom(known), self.random.random()
            array = self.random.choice(ARRAYS)
            source = self.random.choice(["arr", "buf[:2]", "am", "1.0 * am"])
            if r < 0.5:
                value, name = self.expression(known), self.fresh()
                self.lines.append(f"{pad}{name} = {value}")
                known.append(name)
            elif r < 0.68:
                self.lines.append(pad + self.random.choice([
                    f"{array}[{self.random.choice([0, 1])}] = {a}", f"{array}[0] += {a}", f"{array} *= {a}",
                    f"trace.append(({a}, {b}))", f"effect({array})", "'# comment'", "t_900 = 1.0 * al",
                    f"{self.random.choice(['al', 'am'])} = {source}",
                    f"{self.random.choice(known)} += {a}"]))
            elif r < 0.76 and in_loop:
                self.lines += [f"{pad}if {a} > 1.5:", f"{pad}    {self.random.choice(['break', 'continue'])}"]
            elif depth:
                self.compound(known, indent, depth, in_loop)
        self.lines.append(f"{pad}pass")
        return known

    def compound(self, known: list[str], indent: int, depth: int, in_loop: bool) -> None:
        pad, a = "    " * indent, self.atom(known)
        self.count += 1
        k = self.count
        kind = self.random.choice(["if", "if", "range", "values", "trace", "while", "def"])
        if kind == "if":
            self.lines.append(f"{pad}if {self.random.choice([f'{a} > 1.0', f'not {a} > 0.5', a])}:")
            self.block(known, indent + 1, depth - 1, in_loop)
            if self.random.random() < 0.6:
                self.lines.append(f"{pad}else:")
                self.block(known, indent + 1, depth - 1, in_loop)
        elif kind == "def":
            # its own names are its own; it reads those of the function around it
            self.lines += [f"{pad}def g_{k}(w):", f"{pad}    n_{k} = w * {a}", f"{pad}    m_{k} = n_{k}",
                           f"{pad}    return m_{k} + {self.atom(known)}", f"{pad}t_{k} = g_{k}({a})"]
            known.append(f"t_{k}")
        elif kind == "while":
            self.lines += [f"{pad}k_{k} = 0.0", f"{pad}while True:", f"{pad}    c_{k} = k_{k} < 3.0",
                           f"{pad}    if not c_{k}:", f"{pad}        break", f"{pad}    k_{k} = k_{k} + 1.0"]
            self.block(known, indent + 1, depth - 1, True)
        else:
            target, values = {"range": (f"i_{k}", "range(3)"),
                              "values": (self.random.choice("abcd"), "[1.0, 0.25]"),
                              "trace": (f"p_{k}, {self.random.choice('ab')}", "trace[::-1]")}[kind]
            self.lines.append(f"{pad}for {target} in {values}:")
            self.block([*known, *target.split(", ")], indent + 1, depth - 1, True)


def results(tree: Node) -> Any:
    """What the function does, or None if it reads a name that has no value yet."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return run(tree, (1.25, 0.75, np.array([0.5, 1.5, 2.5])))
        except (UnboundLocalError, NameError, TypeError, ValueError, OverflowError):
            return None


def count_failures(seeds: range) -> tuple[int, int]:
    """The number of programs that run, and of those that some pass has changed."""
    ran = failed = 0
    for seed in seeds:
        tree = parse(Writer(seed).program())
        expected = results(tree)
        if expected is None:
            continue
        ran += 1
        order = random.Random(seed).sample(list(PASSES), len(PASSES))
        for name in (*order, *order[:2]):
            tree = PASSES[name](tree)
            try:
                np.testing.assert_equal(results(tree), expected)
            except AssertionError:
                failed += 1
                break
    return ran, failed


def test_random_programs_stay_the_same() -> None:
    ran, failed = count_failures(range(100))
    assert ran > 30
    assert failed == 0


def test_the_check_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a liveness that forgets what is read after a statement, programs change."""
    of = Live.of
    monkeypatch.setattr(Live, "of", lambda self, names: of(self, [n for n in names if n != "a"]))
    assert count_failures(range(60))[1] > 0


def test_passes_are_deterministic() -> None:
    for seed in range(40):
        first, second = parse(Writer(seed).program()), parse(Writer(seed).program())
        for transform in PASSES.values():
            first, second = transform(first), transform(second)
            assert text_of(first) == text_of(second)
