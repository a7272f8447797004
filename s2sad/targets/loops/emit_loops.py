"""Writes the function of the loops of a group.

Broadcasting is NumPy's: where lengths turn out to differ, each statement runs in a loop of its own, in which
an axis of length one stands still.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ..array_types import DTYPES, Array, Number
from .gather_sums import Gather, find_gathers
from .measure_axes import Axes, merged
from .read_expressions import OPERATORS
from .steps import Group, Step
from .write_elements import Elements

__all__ = ["Emitter", "Loops"]

EMPTY = "zero-size array to reduction operation which has no identity"
BLOCK = 1024  # elements whose terms are computed before they are added
START = {"sum": "0.0", "mean": "0.0", "prod": "1.0", "max": "-inf", "min": "inf"}


@dataclass(frozen=True)
class Loops:
    """A function of loops: its name, its text, the line of the first statement that it stands for, and the
    names in it of NumPy, of elementary functions that are vectorized, and of the sum of a block.
    """

    name: str
    text: str
    line: int
    names: Mapping[str, str]


class Emitter(Elements):
    """Writes the function of the loops of a group."""

    def __init__(self, lowering: Axes, steps: list[Step], name: str) -> None:
        self.lowering, self.steps, self.name = lowering, steps, name
        self.rank = len(steps[0].sizes)
        self.lines: list[str] = []
        inside = Counter(
            n.id for s in steps for n in ast.walk(s.value) if isinstance(n, ast.Name)
        )
        self.made = {s.target for s in steps if s.is_computed}
        self.local = {
            n
            for n in self.made
            if lowering.stores[n] == 1
            and lowering.loads[n] == inside[n]
            and lowering.updates[n] == sum(s.is_store and s.target == n for s in steps)
        }  # no array is filled with them
        kept = [s.target for s in steps if not s.is_store and s.target not in self.local]
        texts = [t for s in steps for size in s.sizes for t in size]
        names = {n.id for t in texts for n in ast.walk(ast.parse(t)) if isinstance(n, ast.Name)}
        names = (names - {"max", "min"}).union(*(s.names for s in steps))
        again = {s.target for s in steps if s.is_computed and s.target in s.names}  # of arrays given to it
        parameters = sorted(names - (self.made - again))
        self.mark = "_"  # what the names end in that the loop has for itself
        while any(n.endswith(self.mark) for n in {*names, *self.made, *kept}):
            self.mark += "_"
        self.names: dict[str, str] = {}
        self.numpy = self.name_for("numpy")
        self.arrays = {n: self.own("new", n) for n in again}  # the arrays that the loop makes, by their names
        self.current: dict[str, str] = {}  # what a name means by now, where that is another array
        together = self.together()
        self.lines.append(f"def {name}({', '.join(parameters)}):")
        if together:
            self.write(1, f"if {' and '.join(together)}:")
            self.fused(2)
            self.current = {}
            self.write(1, "else:")
            for s in steps:
                self.alone(2, s)
        else:
            self.fused(1)
        result = ", ".join(kept)
        self.write(1, f"return {', '.join(self.arrays.get(n, n) for n in kept)}")
        self.call = f"{f'{result} = ' if kept else ''}{name}({', '.join(parameters)})"
        self.loops = Loops(name, "\n".join(self.lines) + "\n", steps[0].statement.lineno, self.names)

    def write(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def lengths(self) -> list[list[str]]:
        """For each axis of the loop the texts of all lengths that must agree."""
        return [list(dict.fromkeys(t for s in self.steps for t in s.sizes[k])) for k in range(self.rank)]

    def together(self) -> list[str]:
        """The conditions under which all steps run over the same elements."""
        return [f"{texts[0]} == {t}" for texts in self.lengths() for t in texts[1:]]

    # ------------------------------------------------------------ all in one loop

    def fused(self, depth: int) -> None:
        for k, texts in enumerate(self.lengths()):
            self.write(depth, f"{self.own('n', k)} = {texts[0] if texts else '1'}")
        indices = [self.own("i", k) for k in range(self.rank)]
        lengths = [self.own("n", k) for k in range(self.rank)]
        for s in self.steps:
            self.begin(depth, s, lengths, s.target in self.local)
        blocked = [s for s in self.steps if self.is_blocked(s)]
        if blocked:
            terms = self.own("terms", "")
            self.write(depth, f"{terms} = {self.numpy}.empty({BLOCK * len(blocked)})")
        for k in range(self.rank - 1):
            self.write(depth, f"for {indices[k]} in range({lengths[k]}):")
            depth += 1
        for s in self.steps:
            if self.is_row_sum(s):
                self.write(depth, f"{self.own('sum', s.target)} = {self.start(s)}")
        gathers = find_gathers(self.steps, self.lowering.types)
        for g in gathers:
            for k in range(1, g.span + 1):
                self.write(depth, f"{self.own('next', f'{g.name}_{k}')} = {g.zero}")
        first, stop, inner = "", lengths[-1], depth
        if blocked:
            first, stop = self.own("first", ""), self.own("stop", "")
            self.write(depth, f"for {first} in range(0, {lengths[-1]}, {BLOCK}):")
            inner += 1
            self.write(inner, f"{stop} = min({first} + {BLOCK}, {lengths[-1]})")
        bounds = f"{first}, {stop}" if blocked else stop
        self.write(inner, f"for {indices[-1]} in range({bounds}):")
        values: dict[str, str] = {}
        for s in self.steps:
            text = self.text(s.value, indices, values, lambda k, text: "")
            if s.is_computed or s.target in values:
                value = values[s.target] = self.own("at", s.target)
                self.write(inner + 1, f"{value} {'' if s.op is None else OPERATORS[type(s.op)]}= {text}")
                if s.target not in self.local:
                    array = self.arrays.get(s.target, s.target)
                    self.write(inner + 1, f"{array}[{', '.join(indices)}] = {value}")
            elif gather := next((g for g in gathers if s in g.steps), None):
                self.gather(inner + 1, gather, s, text, indices)
            elif s in blocked:
                offset = f" + {BLOCK * blocked.index(s)}" if s is not blocked[0] else ""
                place = f"{indices[-1]} - {first}{offset}"
                self.write(inner + 1, f"{terms}[{place}] = {text}")
            else:
                self.finish(inner + 1, s, text, indices)
        for k, s in enumerate(blocked):
            total = self.own("sum", s.target) if self.is_row_sum(s) else s.target
            block = f"{self.name_for('block_sum')}({terms}, {BLOCK * k}, {stop} - {first})"
            self.write(inner, f"{total} += {block}")
        for s in self.steps:
            if self.is_row_sum(s):
                row = [*indices[:-1], *(["0"] if s.keeps else [])]
                self.write(depth, f"{s.target}[{', '.join(row)}] = {self.own('sum', s.target)}")
        for g in gathers:
            self.write(depth, f"if {lengths[-1]} > 0:")
            for k in range(1, g.span + 1):
                place = self.place_of(g.first, [*indices[:-1], f"{lengths[-1]} + {k - 1}"])
                self.write(depth + 1, f"{place} += {self.own('next', f'{g.name}_{k}')}")
        depth -= self.rank - 1
        for s in self.steps:
            self.end(depth, s, lengths)

    def gather(self, depth: int, g: Gather, s: Step, text: str, indices: list[str]) -> None:
        """Adds an element of a store to what is kept for its place; the first store moves on by one place,
        and the last one adds to the array.
        """
        shift = g.shift(s)
        kept = [self.own("next", f"{g.name}_{k}") for k in range(g.span + 1)]
        sign = OPERATORS[type(s.op)]  # type: ignore[index]
        if s is g.steps[0]:
            self.write(depth, f"{kept[0]} = {kept[1]}")
            for k in range(1, g.span):
                self.write(depth, f"{kept[k]} = {kept[k + 1]}")
            self.write(depth, f"{kept[-1]} = {g.zero}")
        self.write(depth, f"{kept[shift]} = {kept[shift]} {sign} {text}")
        if s is g.steps[-1]:
            self.write(depth, f"{self.place_of(g.first, indices)} += {kept[0]}")

    def is_blocked(self, s: Step) -> bool:
        """Whether it is a sum of real numbers into one variable: its terms are computed a block at a time, so
        that their loop is vectorized.
        """
        found = self.lowering.types.names[s.target]
        is_real = isinstance(found, (Array, Number)) and found.kind == "f"
        is_one = isinstance(found, Number) or self.is_row_sum(s)
        return s.reduction in ("sum", "mean") and is_real and is_one

    def start(self, s: Step) -> str:
        """The text of what a reduction starts from."""
        found = self.lowering.types.names[s.target]
        if isinstance(found, (Array, Number)) and found.kind == "c":
            return "0j"
        return START[s.reduction].replace("inf", f"{self.numpy}.inf")

    def is_row_sum(self, s: Step) -> bool:
        """Whether it is a sum over the last of several axes: it is kept in a variable."""
        return s.reduction in ("sum", "mean") and s.axes == (self.rank - 1,) and self.rank > 1

    # ------------------------------------------------------------ each in a loop of its own

    def alone(self, depth: int, s: Step) -> None:
        """A step with NumPy's broadcasting."""
        lengths, standing = [], {}
        own = [] if s.place is None else self.lowering.sizes(s.place, Group())
        sizes = merged([own, self.lowering.sizes(s.value, Group())])
        for k, texts in enumerate(sizes):
            n = self.own("n", k)
            lengths.append(n)
            known = {t: self.length_now(t) for t in texts or ["1"]}
            target = self.length_now(next(iter(own[k]), "1")) if own else None
            first, *others = known.values()
            self.write(depth, f"{n} = {target or first}")
            for t in others if target is None else []:
                self.write(depth, f"if {n} == 1:")
                self.write(depth + 1, f"{n} = {t}")
            for j, (text, t) in enumerate(known.items() if others else []):
                self.write(depth, f"if {t} != {n} and {t} != 1:")
                self.write(depth + 1, 'raise ValueError("operands could not be broadcast together")')
                factor = self.own("m", f"{k}_{j}")
                self.write(depth, f"{factor} = 1 if {t} == {n} else 0")
                standing[k, text] = f" * {factor}"
        self.begin(depth, s, lengths, False)
        indices = [self.own("i", k) for k in range(len(lengths))]
        for k, n in enumerate(lengths):
            if k == self.rank - 1 and self.is_row_sum(s):
                self.write(depth, f"{self.own('sum', s.target)} = {self.start(s)}")
            self.write(depth, f"for {indices[k]} in range({n}):")
            depth += 1
        text = self.text(s.value, indices, None, lambda k, text: standing.get((k, text), ""))
        if s.is_computed:
            self.current[s.target] = self.arrays.get(s.target, s.target)
            self.write(depth, f"{self.current[s.target]}[{', '.join(indices)}] = {text}")
        else:
            self.finish(depth, s, text, indices)
        depth -= 1
        if self.is_row_sum(s):
            row = [*indices[:-1], *(["0"] if s.keeps else [])]
            self.write(depth, f"{s.target}[{', '.join(row)}] = {self.own('sum', s.target)}")
        depth -= len(lengths) - 1
        self.end(depth, s, lengths)

    def length_now(self, text: str) -> str:
        """The text of a length, with the arrays that names mean by now."""
        return re.sub(r"\w+(?=\.shape)", lambda found: self.current.get(found[0], found[0]), text)

    # ------------------------------------------------------------ parts

    def begin(self, depth: int, s: Step, lengths: list[str], is_local: bool) -> None:
        """What stands before the loop: the array that is filled, or the start of a reduction."""
        found = self.lowering.types.names[s.target]
        assert isinstance(found, (Array, Number))
        dtype = f"{self.numpy}.{DTYPES[found.kind]}"
        if s.is_computed and not is_local:
            array = self.arrays.get(s.target, s.target)
            self.write(depth, f"{array} = {self.numpy}.empty({shape_text(lengths)}, {dtype})")
        if s.reduction in ("max", "min"):
            for n in [n for k, n in enumerate(lengths) if k in s.axes]:
                self.write(depth, f"if {n} == 0:")
                self.write(depth + 1, f'raise ValueError("{EMPTY}")')
        if s.reduction and isinstance(found, Array):
            shape = ["1" if k in s.axes else n for k, n in enumerate(lengths) if s.keeps or k not in s.axes]
            start = self.start(s)
            self.write(depth, f"{s.target} = {self.numpy}.full({shape_text(shape)}, {start}, {dtype})")
        elif s.reduction:
            self.write(depth, f"{s.target} = {self.start(s)}")

    def finish(self, depth: int, s: Step, text: str, indices: list[str]) -> None:
        """What a store or a reduction does with an element."""
        if s.place is not None:
            place = self.place_of(s, indices)
            op = f"{OPERATORS[type(s.op)]}=" if s.op is not None else "="
            self.write(depth, f"{place} {op} {text}")
            return
        kept = [("0" if k in s.axes else i) for k, i in enumerate(indices) if s.keeps or k not in s.axes]
        total = f"{s.target}[{', '.join(kept)}]" if kept else s.target
        if self.is_row_sum(s):
            total = self.own("sum", s.target)
        match s.reduction:
            case "sum" | "mean":
                self.write(depth, f"{total} += {text}")
            case "prod":
                self.write(depth, f"{total} *= {text}")
            case _:
                sign = ">" if s.reduction == "max" else "<"
                value = self.own("at", s.target)
                self.write(depth, f"{value} = {text}")
                self.write(depth, f"if {value} {sign} {total} or {value} != {value}:")
                self.write(depth + 1, f"{total} = {value}")

    def end(self, depth: int, s: Step, lengths: list[str]) -> None:
        """What stands behind the loop."""
        if s.reduction == "mean":
            count = " * ".join(n for k, n in enumerate(lengths) if k in s.axes)
            if isinstance(self.lowering.types.names[s.target], Number):
                self.write(depth, f"{s.target} = {s.target} / ({count})")
            else:
                k = self.own("k", "")
                self.write(depth, f"for {k} in range({s.target}.size):")
                self.write(depth + 1, f"{s.target}.flat[{k}] /= {count}")


def shape_text(lengths: list[str]) -> str:
    return f"({', '.join(lengths)},)"
