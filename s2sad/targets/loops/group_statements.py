"""Groups statements that share a nest of loops: `a = np.exp(x); b = a * y; s = np.sum(b)` is one that fills
no more arrays than what is read later.

Invariant: no statement of a loop reads an element that the loop writes in another iteration, or writes one
that is read or written in another iteration, but for sums, whose order does not matter.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from ..array_types import Array, Number, Types, are_alike
from .emit_loops import Emitter, Loops
from .emit_parallel import ParallelEmitter, is_independent
from .find_accesses import Accesses
from .measure_axes import BOUND, merged, names_in
from .read_expressions import OPERATORS, Meaning, is_computed, is_number_text
from .steps import Access, Group, Loop, Step, are_sums, is_sum, shift_of

__all__ = ["Grouping"]

PURE = (
    ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple,
)  # fmt: skip
ATOMS = (ast.Name, ast.Constant)


class Grouping(Accesses):
    """Groups the split statements, and makes a loop of each group."""

    def __init__(
        self,
        function: ast.FunctionDef,
        types: Types,
        meaning: Meaning,
        fresh: Callable[[str], str],
        has_one_path: bool,
        parallel: bool,
    ) -> None:
        super().__init__(function, types, meaning, fresh)
        self.has_one_path, self.parallel = has_one_path, parallel
        self.made: list[Loops] = []

    # ------------------------------------------------------------ blocks

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        group = Group()
        for s in statements:
            for name, inner in ast.iter_fields(s):
                if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                    setattr(s, name, self.block(inner))
            step = self.step(s)
            if step is None:
                if not self.moved(group, s):
                    done += self.closed(group)
                    done.append(s)
                    group = Group()
                continue
            if step.is_store and self.meets_itself(step):
                made = self.made_before(step)
                group = self.joined(group, made, done)
            group = self.joined(group, step, done)
        return [*done, *self.closed(group)]

    def step(self, s: ast.stmt) -> Step | None:
        match s:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if not are_alike(self.types.names.get(name), self.types.of(value)):
                    return None
                found = self.reduction(value)
                if found is not None:
                    reduction = found.name if found.axes else ""
                    step = Step(s, name, found.value, None, None, reduction, found.axes, found.keeps)
                    step.like, step.of_product, step.core = found.like, found.of_product, found.core
                    known = self.known(step) if self.is_operand(found.value) else None
                    return known if known and not (reduction and name in known.names) else None
                is_new = is_computed(value, self) and self.is_array(value)
                return self.known(Step(s, name, value)) if is_new else None
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name)) as place], value=value):
                if self.is_storable(place, value):
                    return self.known(Step(s, name, value, place))
            case ast.AugAssign(target=ast.Name(id=name) as place, op=op, value=value):
                if self.is_storable(place, value) and type(op) in OPERATORS:
                    return self.known(Step(s, name, value, place, op))
            case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name)) as place, op=op, value=value):
                if self.is_storable(place, value) and type(op) in OPERATORS:
                    return self.known(Step(s, name, value, place, op))
        return None

    def is_storable(self, place: ast.expr, value: ast.expr) -> bool:
        """Whether a loop can store a value to a part of an array."""
        target, stored = self.types.of(place), self.types.of(value)
        if not isinstance(target, Array) or not (isinstance(place, ast.Name) or self.is_region(place)):
            return False
        if isinstance(stored, Array):  # with the axes of length one that the target has
            start = target.rank - stored.rank
            if start < 0 or not target.ones <= {*range(start), *(start + k for k in stored.ones)}:
                return False
        return target.rank > 0 and self.is_operand(value)

    def is_operand(self, node: ast.expr) -> bool:
        """Whether a value is a number or computed element by element, or an array as it is."""
        if isinstance(node, (ast.Name, ast.Constant)) or is_number_text(node):
            return self.is_array(node) or self.is_number(node)
        if isinstance(node, ast.Attribute):
            return node.attr == "T" and isinstance(node.value, ast.Name) and self.is_array(node)
        return self.is_region(node) or (self.is_array(node) and is_computed(node, self))

    def known(self, step: Step) -> Step:
        """The step with the lengths and elements that it has by itself."""
        parts = [p for p in (step.value, step.place, step.like) if p is not None]
        step.names = {n.id for part in parts for n in ast.walk(part) if isinstance(n, ast.Name)}
        step.names = {n for n in step.names if n in self.types.names}
        step.needs = set()
        self.measure(step, Group())
        return step

    def measure(self, step: Step, group: Group) -> None:
        """Notes the lengths and the elements of a step in a group."""
        parts = [self.sizes(part, group) for part in (step.value, step.place) if part is not None]
        if step.like is not None:  # its axes are the last ones, as those of all parts are
            parts.append(self.sizes(step.like, group))
        step.sizes = merged(parts)
        self.find_accesses(step, group)
        texts = [t for size in step.sizes for t in size]
        for access in step.accesses:
            texts += [t for p in access.places for t in (p.form.format(0), p.size) if t]
        step.needs = step.needs.union(*map(names_in, texts))

    def meets_itself(self, step: Step) -> bool:
        """Whether a store changes what its value reads at other elements."""
        assert step.written is not None
        own = [(p, p.size) for p in step.written.places]
        return any(
            self.may_share(step.target, r.name)
            and (r.name != step.target or [(p, p.size) for p in r.places] != own)
            for r in step.reads
        )

    def made_before(self, step: Step) -> Step:
        """The step that computes what a store stores, which is changed to store it."""
        name = self.fresh("part")
        found = self.types.of(step.value)
        assert found is not None
        self.types.names[name] = found
        self.loads[name] = self.stores[name] = 1
        self.stable.add(name)
        self.memory[name] = {name}
        self.values[name] = step.value
        value, statement = step.value, step.statement
        assert isinstance(statement, (ast.Assign, ast.AugAssign))
        statement.value = step.value = ast.copy_location(ast.Name(name, ast.Load()), value)
        self.known(step)
        new = ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), statement)
        if not is_computed(value, self):  # a copy of it
            value = new.value = ast.copy_location(ast.UnaryOp(ast.UAdd(), value), value)
        return self.known(Step(new, name, value))

    def moved(self, group: Group, s: ast.stmt) -> bool:
        """Whether a statement that has no loop could be put before or behind that of the group."""
        if not group.steps or not isinstance(s, ast.Assign) or not isinstance(s.targets[0], ast.Name):
            return False
        target, value = s.targets[0].id, s.value
        if target in group.seen or not self.is_pure(value):
            return False
        names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
        made = {step.target for step in group.steps}
        changed = [step.target for step in group.steps if step.is_store]
        is_view = self.is_region(value) or (isinstance(value, ast.Attribute) and value.attr == "T")
        arrays = [n for n in names if isinstance(self.types.names.get(n), Array)]
        if any(self.may_share(a, c) for a in arrays for c in changed) and not is_view:
            return False
        if names & (made | group.late):
            is_there = is_view or (self.is_number(value) and not names & (made - group.late))
            if not is_there:
                return False
            group.after.append(s)
            group.late.add(target)
        else:
            group.before.append(s)
        group.seen |= {target, *names}
        return True

    def is_pure(self, node: ast.expr) -> bool:
        """Whether an expression may be evaluated earlier or later, with the same operands."""
        for n in ast.walk(node):
            if isinstance(n, ast.Call):
                function = self.meaning(n.func)
                is_copy = isinstance(n.func, ast.Attribute) and n.func.attr == "copy" and not n.args
                if not (is_copy or function in (len, abs, float, int, min, max) or is_numerical(function)):
                    return False
            elif isinstance(n, ast.expr) and not isinstance(n, (*PURE, *ATOMS)):
                return False
        found = self.types.of(node)
        return isinstance(found, (Number, Array))

    # ------------------------------------------------------------ groups

    def joined(self, group: Group, step: Step, done: list[ast.stmt]) -> Group:
        """The group with this step; if it does not fit, a new one, and `done` gets those of the old one."""
        path = self.path_of(group, step) if group.steps else []
        if not path:
            done += self.closed(group)
            group = Group()
            self.measure(step, group)
            path = [group.root]
        for level in range(len(path), step.rank):
            loop = Loop(level)
            path[-1].body.append(loop)
            path.append(loop)
        path[-1].body.append(step)
        step.path = path
        group.steps.append(step)
        group.seen |= {step.target, *step.names}
        if step.reduction and isinstance(self.types.names[step.target], Number):
            group.late.add(step.target)
        return group

    def path_of(self, group: Group, step: Step) -> list[Loop]:
        """The loops of a group that a step can share, from the outermost one on."""
        self.measure(step, group)
        if step.names & group.late or (step.target in group.seen and not step.is_store):
            return []
        if step.rank != group.steps[0].rank and not step.names & group.seen:
            return []  # it would gain nothing
        maker = group.made_by(step.target)
        is_update = isinstance(step.place, ast.Name) and step.op is not None
        if maker is not None and not (is_update and maker.is_computed):
            return []
        path: list[Loop] = []
        loop: Loop | Step = group.root
        while isinstance(loop, Loop) and loop.level < step.rank:
            if not all(self.may_share_loop(other, step, loop.level) for other in loop.steps):
                break
            path.append(loop)
            loop = loop.body[-1]
        if maker is not None and (path != maker.path or step.sizes != maker.sizes):
            return []  # an array that the group makes is changed element by element, where these are made
        return path

    def may_share_loop(self, first: Step, second: Step, level: int) -> bool:
        """Whether iterations of a loop can do what both steps do, one after the other."""
        mine, others = ({*map(shortened, s.sizes[level])} for s in (second, first))
        if not (mine & others or mine == others):
            return False
        assert first.written is not None
        assert second.written is not None
        is_again = first.is_computed and first.target in first.names & second.names
        if is_again and max(map(len, second.sizes)) > 1:
            return False
        if second.is_store and second.op is None and first.is_store and first.target == second.target:
            return False  # what was added before is lost
        pairs = [(first.written, r) for r in second.reads]
        if second.is_store:
            pairs += [(r, second.written) for r in first.reads]
        if second.is_store and not self.may_be_added(first, second):
            pairs.append((first.written, second.written))
        return all(self.do_not_meet(a, b, level) for a, b in pairs)

    def do_not_meet(self, a: Access, b: Access, level: int) -> bool:
        """Whether two accesses are to the same element only in one iteration of the loop of a level."""
        if a.name != b.name:
            return not self.may_share(a.name, b.name)
        return a.place_of(level) is not None and a.place_of(level) == b.place_of(level)

    def may_be_added(self, first: Step, second: Step) -> bool:
        """Whether two stores add to one array at places that are the same but for a shift along the last
        axis; the first one may also set the places that come first.
        """
        if not are_sums(first, second):
            return False
        (rest, shift), (others, other) = shift_of(first), shift_of(second)
        is_near = shift is not None and other is not None and abs(shift - other) <= 4
        is_first = is_sum(first) or (is_near and (shift or 0) <= (other or 0))
        return (is_sum(first) and first.rank == 1) or (rest == others and is_near and is_first)

    # ------------------------------------------------------------ loops

    def closed(self, group: Group) -> list[ast.stmt]:
        """The statements of a group: what stands before, the call of its loop, and what stands behind."""
        if not group.steps:
            return []
        is_parallel = self.parallel and is_independent(group, self)
        made_by = ParallelEmitter if is_parallel else Emitter
        emitter = made_by(self, group, self.fresh("loop"), self.has_one_path)
        self.made.append(emitter.loops)
        call = ast.parse(emitter.call).body[0]
        for n in ast.walk(call):
            ast.copy_location(n, group.steps[0].statement)
        return [*group.before, call, *group.after]


def shortened(length: str) -> str:
    """The text of a length, without that of the axis that a variable bound cuts: they may well agree."""
    return length.partition(",")[0] if length.startswith(BOUND) else length


def is_numerical(function: Any) -> bool:
    """Whether a function of a library computes, and does nothing else."""
    module = (getattr(function, "__module__", "") or "").partition(".")[0]
    return isinstance(function, np.ufunc) or module in ("numpy", "math")
