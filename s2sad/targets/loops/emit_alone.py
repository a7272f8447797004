"""Writes steps in loops of their own, with NumPy's broadcasting: an axis of length one stands still, and
lengths that do not fit raise an error. A product of arrays runs as it is written.
"""

from __future__ import annotations

import ast
import copy
import re

from ..array_types import DTYPES, Array, Number
from .find_accesses import Accesses
from .measure_axes import PLACE, merged
from .read_expressions import OPERATORS
from .steps import Access, Group, Place, Step
from .write_elements import Elements

__all__ = ["Alone"]

EMPTY = "zero-size array to reduction operation which has no identity"
START = {"sum": "0.0", "mean": "0.0", "prod": "1.0", "max": "-inf", "min": "inf"}


class Alone(Elements):
    """Writes the loops of one step at a time, in an order in which each array is made before it is read."""

    lines: list[str]
    arrays: dict[str, str]
    has_one_path: bool  # where lengths that meet are equal

    def __init__(self, lowering: Accesses, group: Group, taken: set[str]) -> None:
        super().__init__(lowering, group, taken)
        self.current: dict[str, str] = {}  # what a name means by now, where that is another array
        self.hoisted: dict[str, str] = {}  # what is computed once, by its text

    def write(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def index(self, place: Place) -> str:
        text = super().index(place)
        if not text.startswith(PLACE):
            return text
        name = self.own("at", len(self.hoisted)) if text not in self.hoisted else ""
        if name:
            self.hoisted[text] = f"    {name} = {text}"
        return self.hoisted[text].split(" = ")[0].strip()

    def alone(self, depth: int, s: Step) -> None:
        """A step with NumPy's broadcasting."""
        self.is_vector = True
        if s.of_product:
            self.write(depth, ast.unparse(self.renamed(s.statement)))
            return
        lowering, none = self.lowering, Group()
        lengths: list[str] = []
        standing: dict[tuple[int, str], str] = {}
        own = [] if s.place is None else lowering.sizes(s.place, none)
        like = [] if s.like is None else lowering.sizes(s.like, none)
        sizes = merged([own, lowering.sizes(s.value, none), like])
        for k, texts in enumerate(sizes):
            n = self.own("n", k)
            lengths.append(n)
            known = {t: self.length_now(t) for t in texts or ["1"]}
            target = self.length_now(next(iter(own[k]), "1")) if own else None
            first, *others = [*known.values()][: 1 if self.has_one_path else None]
            for t in others if k == s.core else []:
                self.write(depth, f"if {t} != {first}:")
                self.write(depth + 1, 'raise ValueError("operands have a mismatch in their core dimension")')
            joined = target or first
            for t in others if target is None else []:
                joined = f"{self.name_for('joined')}({joined}, {t})"
            self.write(depth, f"{n} = {joined}")
            for j, (text, t) in enumerate(known.items() if others else []):
                if t != target:
                    standing[k, text] = f" * {self.own('m', f'{k}_{j}')}"
                    self.write(depth, f"{self.own('m', f'{k}_{j}')} = {self.name_for('step')}({t}, {n})")
        self.check(depth, s, lengths)
        start = depth
        found = lowering.types.names[s.target]
        assert isinstance(found, (Array, Number))
        known_as = self.arrays if s.is_computed else self.current
        target = known_as.get(s.target, s.target)
        if isinstance(found, Array) and not s.is_store:
            left = ["1" if k in s.axes else n for k, n in enumerate(lengths) if s.keeps or k not in s.axes]
            shape, dtype = f"({', '.join(left)},)", f"{self.numpy}.{DTYPES[found.kind]}"
            begun = f"full({shape}, {self.start(s)}" if s.reduction else f"empty({shape}"
            self.write(depth, f"{target} = {self.numpy}.{begun}, {dtype})")
        elif s.reduction:
            self.write(depth, f"{target} = {self.start(s)}")
        for k, n in enumerate(lengths):
            self.write(depth, f"for {self.own('i', k)} in range({n}):")
            depth += 1

        def element(access: Access) -> str:
            def of(p: Place) -> str:
                factor = "" if p.level is None else standing.get((p.level, p.size), "")
                return self.index(Place(p.level, p.form.replace("{}", f"{{}}{factor}"), p.size))

            return f"{self.current.get(access.name, access.name)}[{', '.join(map(of, access.places))}]"

        text = self.text(s.value, range(len(lengths)), element, none)
        assert s.written is not None
        if s.is_store:
            access = lowering.access(s.place, range(len(lengths)), none)  # type: ignore[arg-type]
            op = f"{OPERATORS[type(s.op)]}=" if s.op is not None else "="
            self.write(depth, f"{target}[{', '.join(map(self.index, access.places))}] {op} {text}")
        elif s.is_computed:
            indices = [self.own("i", k) for k in range(len(lengths))]
            self.write(depth, f"{target}[{', '.join(indices)}] = {text}")
            self.current[s.target] = target
        else:
            axes = [k for k in range(len(lengths)) if s.keeps or k not in s.axes]
            left = ["0" if k in s.axes else self.own("i", k) for k in axes]
            self.reduce(depth, s, f"{target}[{', '.join(left)}]" if left else target, text)
        if s.reduction == "mean":
            count = " * ".join(n for k, n in enumerate(lengths) if k in s.axes)
            self.divide(start, s, target, count)
        if s.like is not None and not self.has_one_path:
            of = ast.unparse(self.renamed(s.like))
            self.write(start, f"{target} = {self.name_for('unbroadcast')}({target}, {of})")

    def divide(self, depth: int, s: Step, target: str, count: str) -> None:
        """Divides the sums of a mean."""
        if isinstance(self.lowering.types.names[s.target], Number):
            self.write(depth, f"{target} = {target} / ({count})")
        else:
            k = self.own("k", "")
            self.write(depth, f"for {k} in range({target}.size):")
            self.write(depth + 1, f"{target}.flat[{k}] /= {count}")

    def renamed(self, node: ast.AST) -> ast.AST:
        """A node, with the names that arrays have by now."""
        new = copy.deepcopy(node)
        for n in ast.walk(new):
            if isinstance(n, ast.Name):
                n.id = self.current.get(n.id, n.id)
        return new

    def length_now(self, text: str) -> str:
        """The text of a length, with the arrays that names mean by now."""
        return re.sub(r"\w+(?=\.shape)", lambda found: self.current.get(found[0], found[0]), text)

    # ------------------------------------------------------------ reductions

    def start(self, s: Step) -> str:
        """The text of what a reduction starts from."""
        found = self.lowering.types.names[s.target]
        if isinstance(found, (Array, Number)) and found.kind == "c":
            return "0j"
        return START[s.reduction].replace("inf", f"{self.numpy}.inf")

    def check(self, depth: int, s: Step, lengths: list[str] | None = None) -> None:
        """Raises NumPy's error for the largest of no elements."""
        if s.reduction in ("max", "min"):
            for k in s.axes:
                n = lengths[k] if lengths else next(iter(s.sizes[k]), "1")
                if n != "1":
                    self.write(depth, f"if {n} == 0:")
                    self.write(depth + 1, f'raise ValueError("{EMPTY}")')

    def reduce(self, depth: int, s: Step, total: str, text: str) -> None:
        """What a reduction does with an element."""
        match s.reduction:
            case "sum" | "mean":
                self.write(depth, f"{total} += {text}")
            case "prod":
                self.write(depth, f"{total} *= {text}")
            case _:
                sign = ">" if s.reduction == "max" else "<"
                value = self.own("each", s.target)
                self.write(depth, f"{value} = {text}")
                self.write(depth, f"if {value} {sign} {total} or {value} != {value}:")
                self.write(depth + 1, f"{total} = {value}")
