"""Groups statements that share a loop: `a = np.exp(x); b = a * y; s = np.sum(b)` is one that fills no more
arrays than what is read later.

Invariant: no statement of a loop reads an element that the loop writes in another iteration.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from ..array_types import Array, Number, Types
from .emit_loops import Emitter, Loops
from .measure_axes import Axes, merged
from .read_expressions import (
    OPERATORS,
    WHOLE,
    Meaning,
    array_reads,
    is_computed,
    is_number_text,
    is_slice,
)
from .steps import Group, Step, are_sums

__all__ = ["Grouping"]

PURE = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Attribute, ast.Subscript, ast.Tuple)
ATOMS = (ast.Name, ast.Constant)


class Grouping(Axes):
    """Groups the split statements, and makes a loop of each group."""

    def __init__(
        self, function: ast.FunctionDef, types: Types, meaning: Meaning, fresh: Callable[[str], str]
    ) -> None:
        super().__init__(function, types, meaning, fresh)
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
                found = self.reduction(value)
                if self.types.names.get(name) != self.types.of(value):
                    return None
                if found is not None and isinstance(value, ast.Call):
                    function, axes, keeps = found
                    step = Step(s, name, value.args[0], reduction=function, axes=axes, keeps=keeps)
                    return self.known(step)
                is_new = is_computed(value, self) and self.is_array(value)
                return self.known(Step(s, name, value)) if is_new else None
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name)) as place], value=value):
                if is_slice(place.slice) and self.is_storable(place, value):
                    return self.known(Step(s, name, value, ast.dump(place.slice), place))
            case ast.AugAssign(target=ast.Name(id=name) as place, op=op, value=value):
                if self.is_storable(place, value) and type(op) in OPERATORS:
                    return self.known(Step(s, name, value, WHOLE, place, op))
            case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name)) as place, op=op, value=value):
                if is_slice(place.slice) and self.is_storable(place, value) and type(op) in OPERATORS:
                    return self.known(Step(s, name, value, ast.dump(place.slice), place, op))
        return None

    def is_storable(self, place: ast.expr, value: ast.expr) -> bool:
        """Whether a loop can store a value to a part of an array."""
        fits = self.rank_of(value) <= self.rank_of(place)
        return fits and self.is_array(place) and self.is_operand(value)

    def is_operand(self, node: ast.expr) -> bool:
        """Whether a value is a number or computed element by element, or an array as it is."""
        if isinstance(node, (ast.Name, ast.Constant)) or is_number_text(node):
            return self.is_array(node) or self.is_number(node)
        if isinstance(node, ast.Subscript):
            return self.is_array(node) and isinstance(node.value, ast.Name) and is_slice(node.slice)
        return self.is_array(node) and is_computed(node, self)

    def known(self, step: Step) -> Step:
        step.reads = list(dict.fromkeys(array_reads(step.value, self)))
        parts = [step.value, *([step.place] if step.place is not None else [])]
        step.names = {n.id for part in parts for n in ast.walk(part) if isinstance(n, ast.Name)}
        step.names = {n for n in step.names if n in self.types.names}
        return step

    def meets_itself(self, step: Step) -> bool:
        """Whether a store changes what its value reads at other elements."""
        return any(
            self.may_share(step.target, name) and (name, region) != (step.target, step.region)
            for name, region in step.reads
        )

    def made_before(self, step: Step) -> Step:
        """The step that computes what a store stores, which is changed to store it."""
        name = self.fresh("part")
        found = self.types.of(step.value)
        assert found is not None
        self.types.names[name] = found
        self.loads[name] = 1
        self.stores[name] = 1
        self.stable.add(name)
        self.owned.add(name)
        self.values[name] = step.value
        value, statement = step.value, step.statement
        assert isinstance(statement, (ast.Assign, ast.AugAssign))
        statement.value = step.value = ast.copy_location(ast.Name(name, ast.Load()), value)
        self.known(step)
        new = ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), statement)
        if isinstance(value, (ast.Name, ast.Subscript)):  # a copy of it
            value = new.value = ast.BinOp(value, ast.Mult(), ast.Constant(1))
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
        arrays = [n for n in names if isinstance(self.types.names.get(n), Array)]
        if any(self.may_share(a, c) for a in arrays for c in changed):
            return False
        if names & (made | group.late):
            if not self.is_number(value) or any(n in made and n not in group.late for n in names):
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

    def fits(self, group: Group, step: Step) -> bool:
        """Whether a step can share the loop of a group."""
        step.sizes = self.sizes(step.value, group)
        if step.place is not None:
            step.sizes = merged([self.sizes(step.place, group), step.sizes])
        if not group.steps:
            return bool(step.sizes)
        first = group.steps[0]
        if len(step.sizes) != len(first.sizes):
            return False
        for mine, others in zip(step.sizes, first.sizes, strict=True):
            if not (mine.keys() & others.keys() or not mine or not others):
                return False
        if step.names & group.late or (step.target in group.seen and not step.is_store):
            return False
        for other in group.steps:
            written = other.target
            if written in other.names & step.names and other.is_computed and max(map(len, step.sizes)) > 1:
                return False
            if other.is_computed and any(n == written and r != WHOLE for n, r in step.reads):
                return False
            if other.is_store and any(
                self.may_share(n, written) and (n, r) != (written, other.region) for n, r in step.reads
            ):
                return False
            meets = other.reads if are_sums(step, other) else [*other.reads, *other.writes]
            if step.is_store and any(
                self.may_share(n, step.target) and (n, r) != (step.target, step.region) for n, r in meets
            ):
                return False
            if step.is_store and written == step.target and not other.is_store and (
                step.region != WHOLE or step.op is None or step.sizes != other.sizes
            ):
                return False
        return True

    def joined(self, group: Group, step: Step, done: list[ast.stmt]) -> Group:
        """The group with this step; if it does not fit, a new one, and `done` gets those of the old one."""
        if not self.fits(group, step):
            done += self.closed(group)
            group = Group()
            parts = [step.value, *([step.place] if step.place is not None else [])]
            step.sizes = merged([self.sizes(part, group) for part in parts])
        group.steps.append(step)
        group.seen |= {step.target, *step.names}
        if step.reduction:
            group.late.add(step.target)
        return group

    # ------------------------------------------------------------ loops

    def closed(self, group: Group) -> list[ast.stmt]:
        """The statements of a group: what stands before, the call of its loop, and what stands behind."""
        if not group.steps:
            return []
        emitter = Emitter(self, group.steps, self.fresh("loop"))
        self.made.append(emitter.loops)
        call = ast.parse(emitter.call).body[0]
        for n in ast.walk(call):
            ast.copy_location(n, group.steps[0].statement)
        return [*group.before, call, *group.after]


def is_numerical(function: Any) -> bool:
    """Whether a function of a library computes, and does nothing else."""
    module = (getattr(function, "__module__", "") or "").partition(".")[0]
    return isinstance(function, np.ufunc) or module in ("numpy", "math")
