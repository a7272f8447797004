"""Writes the function of the loops of a group.

Where all lengths that meet turn out to be the same, it runs the nest of loops that the steps share. Otherwise
it raises LengthsDiffer, if it has one path; or else broadcasting is NumPy's (`emit_alone.py`).
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ..array_types import DTYPES, Array, Number
from .check_angles import Angles
from .find_accesses import Accesses
from .gather_sums import Gather, find_gathers
from .measure_axes import BOUND, PLACE
from .read_expressions import OPERATORS
from .steps import Access, Group, Loop, Step

__all__ = ["Emitter", "Loops"]

BLOCK = 1024  # elements that are added before their sum is
SMALL = 64  # columns of a matrix from which on a product of it is left to a library


@dataclass(frozen=True)
class Loops:
    """A function of loops: its name, its text, the line of the first statement that it stands for, and the
    names in it of NumPy and of what loops call. `parts` are the names of the functions in the text that it
    calls: the one that does a block, the one that does all, and this one in several threads.
    """

    name: str
    text: str
    line: int
    names: Mapping[str, str]
    parts: tuple[str, ...] = ()


class Emitter(Angles):
    """Writes the function of the loops of a group."""

    functions: tuple[str, ...] = ()  # the lines of other functions in the text
    parts: tuple[str, ...] = ()  # their names

    def __init__(self, lowering: Accesses, group: Group, name: str, has_one_path: bool) -> None:
        steps = self.steps = group.steps
        read = [part for s in steps for part in (s.value, s.like) if part is not None]
        inside = Counter(n.id for part in read for n in ast.walk(part) if isinstance(n, ast.Name))
        made = {s.target: s for s in steps if not s.is_store}
        self.local = {
            n
            for n in made
            if lowering.stores[n] == 1
            and lowering.loads[n] == inside[n]
            and lowering.updates[n] == sum(s.is_store and s.target == n for s in steps)
        }  # which nothing reads but these steps
        kept = [s.target for s in steps if not s.is_store and s.target not in self.local]
        names = set[str]().union(*(s.names | s.needs for s in steps))
        again = {n for n, s in made.items() if s.is_computed and n in s.names}  # of arrays given to it
        parameters = self.parameters = sorted(names - (made.keys() - again))
        super().__init__(lowering, group, {*names, *made, *kept})
        self.has_one_path = has_one_path
        self.arrays = {n: self.own("new", n) for n in again}  # the arrays that the loop makes, by their names
        self.first = {s.target: self.first_axis(s) for s in made.values()}
        self.lines: list[str] = []
        pairs, small = self.together(), self.small()
        if pairs and has_one_path:
            self.write(1, f"if {' or '.join(f'{a} != {b}' for a, b in pairs)}:")
            self.write(2, f"raise {self.name_for('LengthsDiffer')}")
            pairs = []
        conditions = [*(f"{a} == {b}" for a, b in pairs), *small]
        if conditions:
            self.write(1, f"if {' and '.join(conditions)}:")
            self.fused(2)
            self.write(1, "else:")
            for s in steps:
                self.alone(2, s)
        else:
            self.fused(1)
        result = ", ".join(kept)
        self.write(1, f"return {', '.join(self.arrays.get(n, n) for n in kept)}")
        self.call = f"{f'{result} = ' if kept else ''}{name}({', '.join(parameters)})"
        arrays = {*parameters} - {s.target for s in steps if not s.is_store}
        body = self.with_names("\n".join([*self.hoisted.values(), *self.lines]), arrays)
        text = "\n".join([f"def {name}({', '.join(parameters)}):", body, *self.functions]) + "\n"
        for helper in (BOUND, PLACE):
            if helper in text:
                text = text.replace(helper, self.name_for(helper.rstrip("_")))
        self.loops = Loops(name, text, steps[0].statement.lineno, self.names, self.parts)

    def with_names(self, body: str, arrays: set[str]) -> str:
        """The body with names for the lengths of these arrays, which stay what they are, and for bounds."""
        names: dict[str, str] = {}

        def name_of(found: re.Match[str]) -> str:
            return names.setdefault(found[0], self.own("length", len(names)))

        if arrays:
            lengths = rf"\b(?:{'|'.join(sorted(arrays))})\.shape\[\d+\]"
            body = re.sub(lengths, name_of, body)
            body = re.sub(rf"{BOUND}\([^()]*, length\d+{self.mark}\)", name_of, body)
        return "\n".join([*(f"    {name} = {value}" for value, name in names.items()), body])

    def together(self) -> list[tuple[str, str]]:
        """The lengths that are equal where the nest of loops does what the steps do."""
        found = {(texts[0], t): None for loop in self.loops_in(self.group.root)
                 for texts in [self.texts_of(loop)] for t in texts[1:]}  # fmt: skip
        return list(found)

    def small(self) -> list[str]:
        """The conditions under which loops are faster than a library."""
        products = [s for s in self.steps if s.of_product and s.rank > 1]
        return list(dict.fromkeys(f"{next(iter(s.sizes[1]), '1')} <= {SMALL}" for s in products))

    def loops_in(self, loop: Loop) -> list[Loop]:
        return [loop, *(x for part in loop.body if isinstance(part, Loop) for x in self.loops_in(part))]

    def texts_of(self, loop: Loop) -> list[str]:
        """The texts of the lengths that meet in a loop."""
        return list(dict.fromkeys(t for s in loop.steps for t in s.sizes[loop.level]))

    # ------------------------------------------------------------ where values are

    def first_axis(self, s: Step) -> int | None:
        """The first axis along which what a step makes is kept in an array; None for a variable."""
        if s.target not in self.local:
            return 0 if isinstance(self.lowering.types.names[s.target], Array) else None
        readers = [r for r in self.steps if any(x.name == s.target for x in r.reads)]
        shared = [r.shared(s) for r in readers if r.shared(s) < s.depth]
        if s.reduction and not s.is_last:
            return min([s.depth, *shared])
        return min(shared) if shared else None

    def element(self, access: Access, reader: Step) -> str:
        """The text of an element that a step reads."""
        s = self.group.made_by(access.name)
        is_new = s is None or s.target not in self.arrays or self.steps.index(s) < self.steps.index(reader)
        if s is None or not is_new:
            return f"{access.name}[{', '.join(map(self.index, access.places))}]"
        if reader.shared(s) >= s.depth and (s.is_last or not s.reduction):
            return self.value_of(s)
        return self.stored(s, access)

    def value_of(self, s: Step) -> str:
        """The variable of an element that a step makes."""
        is_number = isinstance(self.lowering.types.names[s.target], Number)
        return s.target if is_number else self.own("at", s.target)

    def stored(self, s: Step, access: Access) -> str:
        """The text of an element of the array that a step fills."""
        places = access.places[self.first[s.target] :]
        return f"{self.array_of(s)}[{', '.join(map(self.index, places)) or '0'}]"

    def array_of(self, s: Step) -> str:
        """The name of the array that a step fills."""
        name = self.own("row", s.target) if self.first[s.target] else s.target
        return self.arrays.get(s.target, name)

    # ------------------------------------------------------------ the nest of loops

    def fused(self, depth: int) -> None:
        for s in self.steps:
            self.check(depth, s)
            if not s.is_store and self.first[s.target] is not None:
                self.allocate(depth, s)
        self.loop(depth, self.group.root)

    def allocate(self, depth: int, s: Step) -> None:
        """Makes the array that a step fills."""
        shape = ", ".join(self.shape_of(s))
        self.write(depth, f"{self.array_of(s)} = {self.numpy}.empty(({shape},), {self.dtype_of(s)})")

    def shape_of(self, s: Step) -> list[str]:
        """The texts of the lengths of the array that a step fills."""
        return ["1" if k is None else self.length(s, k) for k in s.left[self.first[s.target] :]] or ["1"]

    def dtype_of(self, s: Step) -> str:
        """The text of the dtype of what a step makes."""
        found = self.lowering.types.names[s.target]
        assert isinstance(found, (Array, Number))
        return f"{self.numpy}.{DTYPES[found.kind]}"

    def bounds(self, loop: Loop) -> tuple[str, str]:
        """The texts of the first index of a loop, and of the one behind the last."""
        return "0", next(iter(self.texts_of(loop)), "1")

    def length(self, s: Step, level: int) -> str:
        return next(iter(s.sizes[level]), "1")

    def loop(self, depth: int, loop: Loop) -> None:
        """Writes a loop, with what starts before it and what is there behind it."""
        started = [s for s in loop.steps if s.reduction and s.axes[0] == loop.level]
        for s in started:
            self.begin(depth, s)
        direct = [s for s in loop.body if isinstance(s, Step)]
        gathers = find_gathers(direct, self.lowering.types)
        for g in gathers:
            for k in range(1, g.span + 1):
                self.write(depth, f"{self.own('next', f'{g.name}_{k}')} = {g.zero}")
        (start, n), i = self.bounds(loop), self.own("i", loop.level)
        sums = [s for s in direct if self.is_partial(s) and (loop.level == 0 or s.depth < loop.level)]
        inner, bounds = depth, f"{start}, {n}" if start != "0" else n
        has_angles = self.may_check_angles(loop, direct)
        if (sums or has_angles) and loop.level == 0:
            first, stop = self.own("first", loop.level), self.own("stop", loop.level)
            self.write(depth, f"for {first} in range({start}, {n}, {BLOCK}):")
            inner += 1
            self.write(inner, f"{stop} = min({first} + {BLOCK}, {n})")
            bounds = f"{first}, {stop}"
        for s in sums:
            self.write(inner, f"{self.own('block', s.target)} = 0.0")
        header = f"for {i} in range({bounds}):"
        if has_angles:
            self.write(inner, f"{(far := self.own('far', loop.level))} = False")
            self.write(inner, header)
            self.check_angles(inner + 1, direct, far)
            self.write(inner, f"if {far}:")
            self.body(inner + 1, header, loop, gathers)
            self.write(inner, "else:")
            self.angles = []
            self.body(inner + 1, header, loop, gathers)
            self.angles = None
        else:
            self.body(inner, header, loop, gathers)
        for s in sums:
            self.write(inner, f"{self.value_of(s)} += {self.own('block', s.target)}")
        for g in gathers:
            self.write(depth, f"if {n} > 0:")
            for k in range(1, g.span + 1):
                place = self.place_of(g.first).replace(self.index_of(loop), f"{n} + {k - 1}")
                self.write(depth + 1, f"{place} += {self.own('next', f'{g.name}_{k}')}")
        for s in started:
            self.end(depth, s)

    def body(self, depth: int, header: str, loop: Loop, gathers: list[Gather]) -> None:
        """Writes a loop alone."""
        self.write(depth, header)
        for part in loop.body:
            if isinstance(part, Loop):
                self.loop(depth + 1, part)
            elif gather := next((g for g in gathers if part in g.steps), None):
                self.gather(depth + 1, gather, part)
            else:
                self.step(depth + 1, part)

    def index_of(self, loop: Loop) -> str:
        return self.own("i", loop.level)

    def is_partial(self, s: Step) -> bool:
        """Whether it is a sum of real numbers into a variable: in any order, and a row or a block at a time.
        """
        found = self.lowering.types.names[s.target]
        is_real = isinstance(found, (Array, Number)) and found.kind == "f"
        return s.reduction in ("sum", "mean") and is_real and s.is_last

    def begin(self, depth: int, s: Step) -> None:
        """What a reduction starts from."""
        if s.is_last:
            self.write(depth, f"{self.value_of(s)} = {self.start(s)}")
            return
        moving = [k for k in s.left if k is not None and k > s.axes[0]]
        for k in moving:
            self.write(depth, f"for {self.own('i', k)} in range({self.length(s, k)}):")
            depth += 1
        assert s.written is not None
        self.write(depth, f"{self.stored(s, s.written)} = {self.start(s)}")

    def step(self, depth: int, s: Step) -> None:
        """An iteration of a step."""
        text = self.value_text(s)
        maker = self.group.made_by(s.target)
        assert s.written is not None
        if s.is_computed or (s.is_store and maker is not None):
            assert maker is not None
            self.write(depth, f"{self.assigned(s)} {text}")
            if self.first[s.target] is not None:
                self.write(depth, f"{self.stored(maker, s.written)} = {self.own('at', s.target)}")
        elif s.is_store:
            op = f"{OPERATORS[type(s.op)]}=" if s.op is not None else "="
            self.write(depth, f"{self.place_of(s)} {op} {text}")
        elif self.is_partial(s):
            is_row = 0 < s.depth == s.rank - 1
            total = self.value_of(s) if is_row else self.own("block", s.target)
            self.write(depth, f"{total} = {self.name_for('plus')}({total}, {text})")
        else:
            self.reduce(depth, s, self.value_of(s) if s.is_last else self.stored(s, s.written), text)

    def value_text(self, s: Step) -> str:
        """The text of what an iteration of a step computes."""
        self.is_vector = all(isinstance(part, Step) for part in s.path[-1].body)
        return self.text(s.value, range(s.rank), lambda access: self.element(access, s), self.group)

    def end(self, depth: int, s: Step) -> None:
        """What stands behind the loops of a reduction."""
        assert s.written is not None
        if s.is_last:
            if s.reduction == "mean":
                self.write(depth, f"{self.value_of(s)} /= {self.count(s)}")
            if self.first[s.target] is not None:
                self.write(depth, f"{self.stored(s, s.written)} = {self.value_of(s)}")
        elif s.reduction == "mean":
            for k in [k for k in s.left if k is not None and k > s.axes[0]]:
                self.write(depth, f"for {self.own('i', k)} in range({self.length(s, k)}):")
                depth += 1
            self.write(depth, f"{self.stored(s, s.written)} /= {self.count(s)}")

    def count(self, s: Step) -> str:
        """The text of the number of elements that a reduction takes together."""
        return f"({' * '.join(self.length(s, k) for k in s.axes)})"

    def place_of(self, s: Step) -> str:
        """The text of the element that a store stores to."""
        assert s.written is not None
        return f"{s.target}[{', '.join(map(self.index, s.written.places))}]"

    def gather(self, depth: int, g: Gather, s: Step) -> None:
        """Adds an element of a store to what is kept for its place; the first store moves on by one place,
        and the last one sets the element of the array, or adds to it.
        """
        text = self.value_text(s)
        shift = g.shift(s)
        kept = [self.own("next", f"{g.name}_{k}") for k in range(g.span + 1)]
        sign = "+" if s.op is None else OPERATORS[type(s.op)]
        if s is g.steps[0]:
            self.write(depth, f"{kept[0]} = {kept[1]}")
            for k in range(1, g.span):
                self.write(depth, f"{kept[k]} = {kept[k + 1]}")
            self.write(depth, f"{kept[-1]} = {g.zero}")
        self.write(depth, f"{kept[shift]} = {kept[shift]} {sign} {text}")
        if s is g.steps[-1]:
            op = "=" if g.steps[0].op is None else "+="
            self.write(depth, f"{self.place_of(g.first)} {op} {kept[0]}")
