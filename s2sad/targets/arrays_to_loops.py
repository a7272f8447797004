"""Statements on arrays as loops over elements.

Form: the tree of a derivative of one sweep, in and out. A run of statements that compute element by element
becomes one call of a function of loops: `a = np.exp(x); b = a * y; s = np.sum(b)` one loop that fills no more
arrays than what is read later. Broadcasting is NumPy's: where lengths turn out to differ, each statement runs
in a loop of its own, in which an axis of length one stands still.

Invariant: no statement of a loop reads an element that the loop writes in another iteration. Aliases are
decided by names: an array that the function made and bound to one name has none, all others may be aliases.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .array_types import (
    CHOICES,
    DTYPES,
    ELEMENTWISE,
    REDUCTIONS,
    Array,
    Number,
    Type,
    Types,
    axes_of,
    is_choice,
)
from .split_variables import split_variables

__all__ = ["Loops", "with_loops"]

WHOLE = ""  # the region of a whole array
TURNED = "T"  # the region of an array that is read at other indices
LIKE = frozenset(("zeros_like", "ones_like", "full_like", "empty_like", "copy"))  # as their first argument
FRESH = frozenset(("zeros", "ones", "empty", "outer", *LIKE))
OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
PURE = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Attribute, ast.Subscript, ast.Tuple)
ATOMS = (ast.Name, ast.Constant)
SIGNS: dict[type[ast.AST], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "not "}
Meaning = Callable[[ast.expr], Any]


@dataclass(frozen=True)
class Loops:
    """A function of loops: its name, its text, the line of the first statement that it stands for, and the
    names in it of NumPy, of elementary functions that are vectorized, and of the sum of a block.
    """

    name: str
    text: str
    line: int
    names: Mapping[str, str]


def with_loops(
    function: ast.FunctionDef, given: Mapping[str, Type], meaning: Meaning, fresh: Callable[[str], str]
) -> list[Loops]:
    """Changes the function in place, given the types of its parameters; returns the functions that it calls
    now. `meaning` tells what an expression of names means outside, and `fresh` makes names.
    """
    split_variables(function, fresh)
    types = Types(function, dict(given), meaning)
    splitter = _Splitter(types, meaning, fresh)
    function.body = splitter.block(function.body)
    lowering = _Lowering(function, types, meaning, fresh)
    function.body = lowering.block(function.body)
    ast.fix_missing_locations(function)
    return lowering.made


def is_slice(index: ast.expr) -> bool:
    """Whether an index selects by slices and new axes alone."""
    indices = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(
        isinstance(i, ast.Slice) or (isinstance(i, ast.Constant) and i.value in (None, ...)) for i in indices
    ) and all(is_plain_slice(i) for i in indices if isinstance(i, ast.Slice))


def is_plain_slice(node: ast.Slice) -> bool:
    """Whether a slice has literal bounds and the step 1, or turns the axis around."""
    if step_of(node) == -1:
        return node.lower is None and node.upper is None
    return step_of(node) == 1 and all(b is None or integer(b) is not None for b in (node.lower, node.upper))


def step_of(node: ast.Slice) -> int | None:
    return 1 if node.step is None else integer(node.step)


def integer(node: ast.expr) -> int | None:
    """The value of an integer literal."""
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) is int else None


class _Reader:
    """What both steps ask of expressions."""

    def __init__(self, types: Types, meaning: Meaning, fresh: Callable[[str], str]) -> None:
        self.types, self.meaning, self.fresh = types, meaning, fresh

    def is_array(self, node: ast.expr) -> bool:
        found = self.types.of(node)
        return isinstance(found, Array) and found.rank > 0

    def rank_of(self, node: ast.expr) -> int:
        found = self.types.of(node)
        return found.rank if isinstance(found, Array) else 0

    def is_number(self, node: ast.expr) -> bool:
        return isinstance(self.types.of(node), Number)

    def numpy_name(self, node: ast.expr) -> str:
        """The name of NumPy's function, or of a helper that chooses elements, that an expression means."""
        function = self.meaning(node)
        name = getattr(function, "__name__", "")
        is_known = function is not None and (getattr(np, name, None) is function or is_choice(function))
        return name if is_known else ""

    def elementwise_call(self, node: ast.Call) -> bool:
        name = "abs" if self.meaning(node.func) is abs else self.numpy_name(node.func)
        is_other = name in CHOICES or (name in ("where", "outer") and len(node.args) >= 2)
        return (name in ELEMENTWISE or is_other) and not node.keywords

    def is_lowered(self, node: ast.expr) -> bool:
        """Whether an operation means the same for the elements as for the arrays."""
        found = self.types.of(node)
        if isinstance(node, ast.UnaryOp):
            is_flag = isinstance(found, Array) and found.kind == "b"
            return isinstance(node.op, ast.Invert) if is_flag else isinstance(node.op, (ast.USub, ast.UAdd))
        if isinstance(node, ast.Compare):
            return len(node.ops) == 1 and type(node.ops[0]) in OPERATORS
        if not isinstance(node, ast.BinOp):
            return False
        if isinstance(node.op, ast.Pow):
            return isinstance(found, Array) and found.kind in "fc"
        return type(node.op) in OPERATORS and isinstance(found, Array)

    def reduction(self, node: ast.expr) -> tuple[str, tuple[int, ...], bool] | None:
        """The name, the axes and whether they are kept, of a reduction of an array."""
        if not (isinstance(node, ast.Call) and node.args and self.is_array(node.args[0])):
            return None
        name, operand = self.numpy_name(node.func), self.types.of(node.args[0])
        if name not in REDUCTIONS or self.types.of(node) == Type() or not isinstance(operand, Array):
            return None
        options = {k.arg: k.value for k in node.keywords}
        axes = axes_of(node.args[1] if len(node.args) == 2 else options.get("axis"), operand.rank)
        keeps = options.get("keepdims")
        if axes is None or operand.kind not in "fc" or (operand.kind == "c" and name not in ("sum", "mean")):
            return None
        return name.removeprefix("a") if name in ("amax", "amin") else name, axes, bool(keeps and keeps.value)  # type: ignore[attr-defined]


# ---------------------------------------------------------------- statements of one operation on arrays


class _Splitter(_Reader):
    """Takes statements apart, so that each is a reduction, a computation element by element, or none of
    these with names for all arrays in it.
    """

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for s in statements:
            self.before: list[ast.stmt] = []
            self.at = s
            new = self.statement(s)
            found += [*self.before, *([new] if new is not None else [])]
        return found

    def statement(self, s: ast.stmt) -> ast.stmt | None:
        match s:
            case ast.Assign(targets=[ast.Name()], value=value):
                s.value = self.operation(value)
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                s.value = self.stored(target, value)
            case ast.AugAssign(target=ast.Name() | ast.Subscript() as target, value=value):
                s.value = self.stored(target, value)
            case ast.Return(value=ast.expr() as value):
                s.value = self.named(value)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append")) as call):
                call.args = [self.named(a) for a in call.args]
            case ast.For() | ast.While() | ast.If():
                kept = self.before
                s.body = self.block(s.body)
                s.orelse = self.block(s.orelse)
                self.before = kept
        return s

    def stored(self, target: ast.Name | ast.Subscript, value: ast.expr) -> ast.expr:
        is_region = isinstance(target, ast.Name) or is_slice(target.slice)
        if not (is_region and self.is_array(target)):
            return self.named(value)
        return self.operation(value)

    def named(self, node: ast.expr) -> ast.expr:
        """The expression, with names for what it computes of arrays."""
        if isinstance(node, ast.Tuple):
            node.elts = [self.named(e) for e in node.elts]
            return node
        if self.is_array(node):
            new = self.operation(node)
            return self.name_of(new) if self.is_elementwise(new) or self.reduction(new) else new
        return self.inner(node)

    def name_of(self, node: ast.expr) -> ast.expr:
        """A name for the value of an expression."""
        if isinstance(node, (ast.Name, ast.Constant)):
            return node
        name = self.fresh("part")
        found = self.types.of(node)
        assert found is not None
        self.types.names[name] = found
        self.before.append(ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], node), self.at))
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def operation(self, node: ast.expr) -> ast.expr:
        """An expression of one kind: elementwise, a reduction of such a one, or another one of names."""
        if self.reduction(node) is not None:
            assert isinstance(node, ast.Call)
            node.args[0] = self.elements(node.args[0])
            return node
        if not self.is_array(node):
            return self.scalar(node)
        return self.elements(node, is_whole=True)

    def elements(self, node: ast.expr, is_whole: bool = False) -> ast.expr:
        """The expression with names for what is not computed element by element; with `is_whole` it may be
        so itself.
        """
        if not self.is_array(node):
            is_literal = is_number_text(node) or not self.is_number(node)
            return node if is_literal else self.name_of(self.scalar(node))
        match node:
            case ast.BinOp() if self.is_lowered(node):
                node.left, node.right = self.elements(node.left), self.elements(node.right)
                return node
            case ast.UnaryOp() if self.is_lowered(node):
                node.operand = self.elements(node.operand)
                return node
            case ast.Compare() if self.is_lowered(node):
                node.left, node.comparators = self.elements(node.left), [self.elements(node.comparators[0])]
                return node
            case ast.Call() if self.elementwise_call(node):
                node.args = [self.elements(a) for a in node.args]
                return node
            case ast.Name():
                return node
            case ast.Subscript(value=ast.Name() as base) if self.is_array(base) and is_slice(node.slice):
                return node
            case ast.Subscript(value=base) if self.is_array(base) and is_slice(node.slice):
                node.value = self.name_of(self.operation(base))
                return node
            case ast.Attribute(attr="T", value=base) if self.is_array(base):
                node.value = self.name_of(self.operation(base))
                return node
        new = self.scalar(node) if self.reduction(node) is None else self.operation(node)
        return new if is_whole else self.name_of(new)

    def scalar(self, node: ast.expr) -> ast.expr:
        """An expression that is no elementwise one, with names for the parts of it that are, and for
        reductions.
        """
        for name, old in ast.iter_fields(node):
            if isinstance(old, ast.expr):
                setattr(node, name, self.inner(old))
            elif isinstance(old, list) and not isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.BoolOp)):
                setattr(node, name, [self.inner(x) if isinstance(x, ast.expr) else x for x in old])
        return node

    def inner(self, node: ast.expr) -> ast.expr:
        if isinstance(node, (ast.IfExp, ast.BoolOp, ast.Lambda)):
            return node  # not all of it is evaluated
        if self.reduction(node) is not None:
            return self.name_of(self.operation(node))
        if self.is_array(node) and not isinstance(node, (ast.Name, ast.Subscript, ast.Attribute)):
            new = self.operation(node)
            return self.name_of(new) if self.is_elementwise(new) else new
        return self.scalar(node)

    def is_elementwise(self, node: ast.expr) -> bool:
        return self.is_array(node) and is_computed(node, self)


def is_computed(node: ast.expr, reader: _Reader) -> bool:
    """Whether an expression computes, and does so element by element."""
    match node:
        case ast.BinOp() | ast.UnaryOp() | ast.Compare():
            return reader.is_lowered(node)
        case ast.Call():
            return reader.elementwise_call(node)
    return False


def array_reads(node: ast.expr, reader: _Reader, is_turned: bool = False) -> Iterator[tuple[str, str]]:
    """The arrays that an elementwise expression reads, and at which region."""
    match node:
        case ast.Name(id=name):
            if reader.is_array(node):
                yield name, TURNED if is_turned else WHOLE
        case ast.Subscript(value=ast.Name(id=name)):
            yield name, TURNED if is_turned else ast.dump(node.slice)
        case ast.Attribute(value=base) | ast.Subscript(value=base):
            yield from array_reads(base, reader, True)
        case _:
            turns = is_turned or (isinstance(node, ast.Call) and reader.numpy_name(node.func) == "outer")
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    yield from array_reads(child, reader, turns)


# ---------------------------------------------------------------- groups of statements that share a loop


@dataclass
class _Step:
    """A statement on arrays: `target` (at a `region`) is assigned what `value` is element by element, or its
    reduction.
    """

    statement: ast.stmt
    target: str
    value: ast.expr
    region: str = WHOLE
    place: ast.expr | None = None  # the target of a store
    op: ast.operator | None = None  # of a store that updates
    reduction: str = ""
    axes: tuple[int, ...] = ()
    keeps: bool = False
    reads: list[tuple[str, str]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    sizes: list[dict[str, None]] = field(default_factory=list)  # for each axis the texts of its lengths

    @property
    def is_store(self) -> bool:
        return self.place is not None

    @property
    def writes(self) -> list[tuple[str, str]]:
        """The array that it changes, and at which region."""
        return [(self.target, self.region)] if self.is_store else []

    @property
    def is_computed(self) -> bool:
        """Whether it makes an array that is read element by element."""
        return not self.is_store and not self.reduction


@dataclass
class _Group:
    """Steps that share a loop, with the statements that were between them: those that stand before and those
    that stand behind the loop.
    """

    steps: list[_Step] = field(default_factory=list)
    before: list[ast.stmt] = field(default_factory=list)
    after: list[ast.stmt] = field(default_factory=list)
    late: set[str] = field(default_factory=set)  # names that are there behind the loop only
    seen: set[str] = field(default_factory=set)  # names that it reads or binds


class _Lowering(_Reader):
    """Groups the split statements, and makes a loop of each group."""

    def __init__(
        self, function: ast.FunctionDef, types: Types, meaning: Meaning, fresh: Callable[[str], str]
    ) -> None:
        super().__init__(types, meaning, fresh)
        self.made: list[Loops] = []
        self.function = function
        nodes = [n for s in function.body for n in ast.walk(s)]
        self.loads = Counter(n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
        updates = [n.target for n in nodes if isinstance(n, ast.AugAssign)]
        self.updates = Counter(n.id for n in updates if isinstance(n, ast.Name))
        self.updated = set(map(id, updates))
        self.stores = Counter(
            n.id
            for n in nodes
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and id(n) not in self.updated
        )
        parameters = [a.arg for a in function.args.args]
        self.stable = {n for n, count in self.stores.items() if count == 1 and n not in parameters}
        self.stable |= {n for n in parameters if n not in self.stores}
        loops = [n for n in nodes if isinstance(n, (ast.For, ast.While))]
        again = {t.id for loop in loops for t in ast.walk(loop) if isinstance(t, ast.Name)
                 and isinstance(t.ctx, ast.Store) and id(t) not in self.updated}  # fmt: skip
        self.constant = self.stable - again  # what means one array throughout a call
        self.values: dict[str, ast.expr] = {}  # of the names that are assigned once
        for n in nodes:
            match n:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in self.stable:
                    self.values[name] = value
        self.owned = self._owned(nodes)

    # ------------------------------------------------------------ which arrays may be one

    def _owned(self, nodes: list[ast.AST]) -> set[str]:
        """The names of arrays that the function made, and that nothing else is known to hold."""
        made: set[str] = set()
        shared: set[str] = {a.arg for a in self.function.args.args}
        harmless: set[int] = set()
        for n in nodes:
            match n:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    if self._makes(value):
                        made.add(name)
                    else:
                        shared.add(name)
                case ast.Assign(targets=[target]) | ast.For(target=target):
                    targets = [t for t in ast.walk(target) if isinstance(t, ast.Name)]
                    shared |= {t.id for t in targets if isinstance(t.ctx, ast.Store)}
            if isinstance(n, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign)) or (
                isinstance(n, ast.Call) and self.meaning(n.func) is not None
            ):
                harmless |= {id(c) for c in ast.iter_child_nodes(n)}
            elif isinstance(n, (ast.Subscript, ast.Attribute)):
                harmless.add(id(n.value))
            elif isinstance(n, ast.Return):
                harmless |= {id(c) for c in ast.walk(n)}
        # A view has a name of its own: what is assigned a part of an array shares with it.
        for n in nodes:
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and id(n) not in harmless:
                shared.add(n.id)
            elif isinstance(n, ast.Assign) and not self._makes(n.value):
                shared |= {c.id for c in ast.walk(n.value) if isinstance(c, ast.Name)}
        return made - shared

    def _makes(self, value: ast.expr) -> bool:
        """Whether an expression makes a new array."""
        if is_computed(value, self) or self.reduction(value) is not None or isinstance(value, ast.BinOp):
            return True
        if isinstance(value, ast.Call):
            if isinstance(value.func, ast.Attribute) and value.func.attr == "copy":
                return True
            return self.numpy_name(value.func) in FRESH
        return False

    def may_share(self, a: str, b: str) -> bool:
        return a == b or not (a in self.owned or b in self.owned)

    # ------------------------------------------------------------ blocks

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        group = _Group()
        for s in statements:
            for name, inner in ast.iter_fields(s):
                if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                    setattr(s, name, self.block(inner))
            step = self.step(s)
            if step is None:
                if not self.moved(group, s):
                    done += self.closed(group)
                    done.append(s)
                    group = _Group()
                continue
            if step.is_store and self.meets_itself(step):
                made = self.made_before(step)
                group = self.joined(group, made, done)
            group = self.joined(group, step, done)
        return [*done, *self.closed(group)]

    def step(self, s: ast.stmt) -> _Step | None:
        match s:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found = self.reduction(value)
                if self.types.names.get(name) != self.types.of(value):
                    return None
                if found is not None and isinstance(value, ast.Call):
                    function, axes, keeps = found
                    step = _Step(s, name, value.args[0], reduction=function, axes=axes, keeps=keeps)
                    return self.known(step)
                is_new = is_computed(value, self) and self.is_array(value)
                return self.known(_Step(s, name, value)) if is_new else None
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name)) as place], value=value):
                if is_slice(place.slice) and self.is_storable(place, value):
                    return self.known(_Step(s, name, value, ast.dump(place.slice), place))
            case ast.AugAssign(target=ast.Name(id=name) as place, op=op, value=value):
                if self.is_storable(place, value) and type(op) in OPERATORS:
                    return self.known(_Step(s, name, value, WHOLE, place, op))
            case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name)) as place, op=op, value=value):
                if is_slice(place.slice) and self.is_storable(place, value) and type(op) in OPERATORS:
                    return self.known(_Step(s, name, value, ast.dump(place.slice), place, op))
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

    def known(self, step: _Step) -> _Step:
        step.reads = list(dict.fromkeys(array_reads(step.value, self)))
        parts = [step.value, *([step.place] if step.place is not None else [])]
        step.names = {n.id for part in parts for n in ast.walk(part) if isinstance(n, ast.Name)}
        step.names = {n for n in step.names if n in self.types.names}
        return step

    def meets_itself(self, step: _Step) -> bool:
        """Whether a store changes what its value reads at other elements."""
        return any(
            self.may_share(step.target, name) and (name, region) != (step.target, step.region)
            for name, region in step.reads
        )

    def made_before(self, step: _Step) -> _Step:
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
        return self.known(_Step(new, name, value))

    def moved(self, group: _Group, s: ast.stmt) -> bool:
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

    def fits(self, group: _Group, step: _Step) -> bool:
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

    def joined(self, group: _Group, step: _Step, done: list[ast.stmt]) -> _Group:
        """The group with this step; if it does not fit, a new one, and `done` gets those of the old one."""
        if not self.fits(group, step):
            done += self.closed(group)
            group = _Group()
            parts = [step.value, *([step.place] if step.place is not None else [])]
            step.sizes = merged([self.sizes(part, group) for part in parts])
        group.steps.append(step)
        group.seen |= {step.target, *step.names}
        if step.reduction:
            group.late.add(step.target)
        return group

    def sizes(self, node: ast.expr, group: _Group) -> list[dict[str, None]]:
        """For each axis of an elementwise expression the texts of the lengths that meet there."""
        match node:
            case ast.Name(id=name):
                if not self.is_array(node):
                    return []
                for step in reversed(group.steps):
                    if step.target == name and step.is_computed:
                        return step.sizes
                return [{text: None} for text in self.shape(name)]
            case ast.Subscript(value=base, slice=index):
                return self.sliced(base, index, group)
            case ast.Attribute(attr="T", value=base):
                return self.sizes(base, group)[::-1]
            case ast.Call() if self.numpy_name(node.func) == "outer":
                return [*self.sizes(node.args[0], group), *self.sizes(node.args[1], group)]
        children = [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
        if isinstance(node, ast.Call):
            children = node.args
        return merged([self.sizes(c, group) for c in children])

    def sliced(self, base: ast.expr, index: ast.expr, group: _Group) -> list[dict[str, None]]:
        axes = list(self.sizes(base, group))
        found: list[dict[str, None]] = []
        indices = list(index.elts) if isinstance(index, ast.Tuple) else [index]
        used = sum(isinstance(i, ast.Slice) for i in indices)
        for i in indices:
            if isinstance(i, ast.Slice):
                (text,) = list(axes.pop(0)) or ["1"]
                found.append({length_of(i, text): None})
            elif isinstance(i, ast.Constant) and i.value is None:
                found.append({})
            else:
                count = len(self.sizes(base, group)) - used
                found += [axes.pop(0) for _ in range(count)]
        return found + axes

    def shape(self, name: str) -> list[str]:
        """The texts of the lengths of an array: those of another one that is sure to have the same."""
        found = self.types.names[name]
        assert isinstance(found, Array)
        own = [f"{name}.shape[{k}]" for k in range(found.rank)]
        value = self.values.get(name)
        if name not in self.stable or value is None:
            return own
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name() as base, attr="copy"), args=[]):
                sizes = self.sizes(base, _Group())
            case ast.Call(args=[ast.Name() as base, *_]) if self.numpy_name(value.func) in LIKE:
                sizes = self.sizes(base, _Group())
            case _ if is_computed(value, self) or is_view(value):
                sizes = self.sizes(value, _Group())
            case _:
                return own
        texts = [next(iter(s)) if len(s) == 1 and self.is_kept(s) else "" for s in sizes]
        return [t or o for t, o in zip(texts, own, strict=True)] if len(texts) == len(own) else own

    def is_kept(self, texts: Iterable[str]) -> bool:
        """Whether texts of lengths name arrays that mean the same throughout a call, and that are not made by
        a loop.
        """
        nodes = [n for t in texts for n in ast.walk(ast.parse(t))]
        names = {n.id for n in nodes if isinstance(n, ast.Name)} - {"max", "min"}
        return all(n in self.constant and not self.is_filled(n) for n in names)

    def is_filled(self, name: str) -> bool:
        """Whether a loop fills the array of this name."""
        return name in self.values and is_computed(self.values[name], self)

    # ------------------------------------------------------------ loops

    def closed(self, group: _Group) -> list[ast.stmt]:
        """The statements of a group: what stands before, the call of its loop, and what stands behind."""
        if not group.steps:
            return []
        emitter = _Emitter(self, group.steps, self.fresh("loop"))
        self.made.append(emitter.loops)
        call = ast.parse(emitter.call).body[0]
        for n in ast.walk(call):
            ast.copy_location(n, group.steps[0].statement)
        return [*group.before, call, *group.after]


def are_sums(a: _Step, b: _Step) -> bool:
    """Whether two stores add to one array at regions that are the same but for a shift along the last axis:
    in which order they add does not matter.
    """
    if not (a.is_store and b.is_store and a.target == b.target):
        return False
    is_sum = all(isinstance(s.op, (ast.Add, ast.Sub)) for s in (a, b))
    (first, shift), (second, other) = shift_of(a), shift_of(b)
    return is_sum and first == second and None not in (shift, other) and abs((shift or 0) - (other or 0)) <= 4


def shift_of(s: _Step) -> tuple[str, int | None]:
    """The region of a store in all axes but the last, and where it starts in that; None if it is not told."""
    if not isinstance(s.place, ast.Subscript):
        return "", 0
    index = s.place.slice
    *rest, last = index.elts if isinstance(index, ast.Tuple) else [index]
    if not isinstance(last, ast.Slice) or step_of(last) != 1:
        return "", None
    lower = 0 if last.lower is None else integer(last.lower)
    return " ".join(map(ast.dump, rest)), lower if lower is not None and lower >= 0 else None


def is_view(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and is_slice(node.slice)


def merged(parts: list[list[dict[str, None]]]) -> list[dict[str, None]]:
    """The lengths that meet when arrays are broadcast together."""
    rank = max(map(len, parts), default=0)
    found: list[dict[str, None]] = [{} for _ in range(rank)]
    for part in parts:
        for k, texts in enumerate(part, rank - len(part)):
            found[k].update(texts)
    return found


def is_number_text(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)


def is_numerical(function: Any) -> bool:
    """Whether a function of a library computes, and does nothing else."""
    module = (getattr(function, "__module__", "") or "").partition(".")[0]
    return isinstance(function, np.ufunc) or module in ("numpy", "math")


def length_of(node: ast.Slice, whole: str) -> str:
    """The text of the length of a slice of an axis of this length: `max(n - 2, 0)` for `1:-1`."""
    if step_of(node) == -1:
        return whole
    lower = 0 if node.lower is None else integer(node.lower) or 0
    upper = None if node.upper is None else integer(node.upper)
    if lower >= 0 and (upper is None or upper < 0):
        cut = lower - (upper or 0)
        if (known := _CUT.fullmatch(whole)) is not None:
            whole, cut = known[1], cut + int(known[2])
        return f"max({whole} - {cut}, 0)" if cut else whole
    stop = whole if upper is None else bound_text(upper, whole)
    return f"max({stop} - {bound_text(lower, whole)}, 0)"


_CUT = re.compile(r"max\(([^ ]*) - (\d+), 0\)")


def bound_text(bound: int, whole: str) -> str:
    """The text of where a bound of a slice stands on an axis."""
    return f"min({bound}, {whole})" if bound >= 0 else f"max({whole} - {-bound}, 0)"


# ---------------------------------------------------------------- the text of a loop


@dataclass
class _Gather:
    """Stores that add to one array at several shifts along the last axis."""

    name: str
    zero: str
    steps: list[_Step]

    @property
    def first(self) -> _Step:
        """The one that starts first."""
        return min(self.steps, key=lambda s: shift_of(s)[1] or 0)

    @property
    def span(self) -> int:
        return max(map(self.shift, self.steps))

    def shift(self, s: _Step) -> int:
        """How much later than the first one it starts."""
        return (shift_of(s)[1] or 0) - (shift_of(self.first)[1] or 0)


class _Emitter:
    """Writes the function of the loops of a group."""

    def __init__(self, lowering: _Lowering, steps: list[_Step], name: str) -> None:
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

    def name_for(self, of: str) -> str:
        """The name in the text of something that loops call."""
        name = f"{of}{self.mark}"
        self.names[name] = of
        return name

    def own(self, what: str, of: int | str) -> str:
        """A name of the loop's own."""
        return f"{what}{'_' if isinstance(of, str) else ''}{of}{self.mark}"

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
        gathers = self.gathers()
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

    def gathers(self) -> list[_Gather]:
        """The stores that add to one array at several shifts along the last axis. The loop adds to each
        element once: what belongs to the next ones is kept until it is there.
        """
        found: list[_Gather] = []
        for s in self.steps:
            for g in found:
                if are_sums(g.steps[0], s):
                    g.steps.append(s)
                    break
            else:
                is_complex = getattr(self.lowering.types.names[s.target], "kind", "") == "c"
                if s.is_store and shift_of(s)[1] is not None and isinstance(s.op, (ast.Add, ast.Sub)):
                    found.append(_Gather(f"{s.target}_{len(found)}", "0j" if is_complex else "0.0", [s]))
        return [g for g in found if g.span > 0]

    def gather(self, depth: int, g: _Gather, s: _Step, text: str, indices: list[str]) -> None:
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

    def place_of(self, s: _Step, indices: list[str]) -> str:
        """The text of the element that a store stores to."""
        assert s.place is not None
        return self.text(s.place, indices, {}, lambda k, text: "")

    def is_blocked(self, s: _Step) -> bool:
        """Whether it is a sum of real numbers into one variable: its terms are computed a block at a time, so
        that their loop is vectorized.
        """
        found = self.lowering.types.names[s.target]
        is_real = isinstance(found, (Array, Number)) and found.kind == "f"
        is_one = isinstance(found, Number) or self.is_row_sum(s)
        return s.reduction in ("sum", "mean") and is_real and is_one

    def start(self, s: _Step) -> str:
        """The text of what a reduction starts from."""
        found = self.lowering.types.names[s.target]
        if isinstance(found, (Array, Number)) and found.kind == "c":
            return "0j"
        return START[s.reduction].replace("inf", f"{self.numpy}.inf")

    def is_row_sum(self, s: _Step) -> bool:
        """Whether it is a sum over the last of several axes: it is kept in a variable."""
        return s.reduction in ("sum", "mean") and s.axes == (self.rank - 1,) and self.rank > 1

    # ------------------------------------------------------------ each in a loop of its own

    def alone(self, depth: int, s: _Step) -> None:
        """A step with NumPy's broadcasting."""
        lengths, standing = [], {}
        own = [] if s.place is None else self.lowering.sizes(s.place, _Group())
        sizes = merged([own, self.lowering.sizes(s.value, _Group())])
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

    def begin(self, depth: int, s: _Step, lengths: list[str], is_local: bool) -> None:
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

    def finish(self, depth: int, s: _Step, text: str, indices: list[str]) -> None:
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

    def end(self, depth: int, s: _Step, lengths: list[str]) -> None:
        """What stands behind the loop."""
        if s.reduction == "mean":
            count = " * ".join(n for k, n in enumerate(lengths) if k in s.axes)
            if isinstance(self.lowering.types.names[s.target], Number):
                self.write(depth, f"{s.target} = {s.target} / ({count})")
            else:
                k = self.own("k", "")
                self.write(depth, f"for {k} in range({s.target}.size):")
                self.write(depth + 1, f"{s.target}.flat[{k}] /= {count}")

    # ------------------------------------------------------------ elements

    def text(
        self,
        node: ast.expr,
        indices: list[str],
        values: Mapping[str, str] | None,
        standing: Callable[[int, str], str],
    ) -> str:
        """The text of the element of an expression at indices. `values` are the variables that hold elements
        of arrays that the loop makes (None: they are arrays), `standing` what an index is multiplied by on an
        axis, where arrays of a length stand still.
        """
        lowering, group = self.lowering, _Group([] if values is None else self.steps)

        def of(n: ast.expr, own: list[str]) -> str:
            if not lowering.is_array(n):
                return f"({ast.unparse(n)})" if isinstance(n, ast.UnaryOp) else ast.unparse(n)
            match n:
                case ast.Name(id=name):
                    if values and name in values:
                        return values[name]
                    placed = ", ".join(self.placed(n, own, indices, standing, group))
                    return f"{self.current.get(name, name)}[{placed}]"
                case ast.Subscript(value=base, slice=index):
                    return self.sliced(base, index, self.placed(n, own, indices, standing, group), of)
                case ast.Attribute(value=base):
                    return of(base, own[::-1])
                case ast.BinOp(left=left, op=op, right=right):
                    return f"({of(left, own)} {OPERATORS[type(op)]} {of(right, own)})"
                case ast.UnaryOp(op=op, operand=operand):
                    return f"({SIGNS[type(op)]}{of(operand, own)})"
                case ast.Compare(left=left, ops=[op], comparators=[right]):
                    return f"({of(left, own)} {OPERATORS[type(op)]} {of(right, own)})"
                case ast.Call(func=func, args=args):
                    name = lowering.numpy_name(func)
                    if name == "outer":
                        return f"({of(args[0], own[:1])} * {of(args[1], own[1:])})"
                    if name == "where":
                        return f"({of(args[1], own)} if {of(args[0], own)} else {of(args[2], own)})"
                    if name in VECTORIZED and lowering.types.of(n) == Array(lowering.rank_of(n), "f"):
                        return f"{self.name_for(name)}({', '.join(of(a, own) for a in args)})"
                    if name in CHOICES:
                        return f"({CHOICES[name].format(*(of(a, own) for a in args))})"
                    return f"{ast.unparse(func)}({', '.join(of(a, own) for a in args)})"
            raise AssertionError(ast.dump(n))

        return of(node, indices)

    def placed(
        self,
        node: ast.expr,
        own: list[str],
        indices: list[str],
        standing: Callable[[int, str], str],
        group: _Group,
    ) -> list[str]:
        """The indices of an operand: the last ones, which stand still where it has the length one."""
        sizes = self.lowering.sizes(node, group)
        placed = []
        for index, texts in zip(own[len(own) - len(sizes) :], sizes, strict=True):
            if not texts or next(iter(texts)) == "1":
                placed.append("0")
                continue
            axis = indices.index(index) if index in indices else 0
            placed.append(f"{index}{''.join(dict.fromkeys(standing(axis, t) for t in texts))}")
        return placed

    def sliced(
        self, base: ast.expr, index: ast.expr, own: list[str], of: Callable[[ast.expr, list[str]], str]
    ) -> str:
        entries = list(index.elts) if isinstance(index, ast.Tuple) else [index]
        found = self.lowering.types.of(base)
        assert isinstance(found, Array)
        used = sum(isinstance(i, ast.Slice) for i in entries)
        rest = [ast.Slice() for _ in range(found.rank - used)]
        if not any(isinstance(i, ast.Constant) and i.value is ... for i in entries):
            entries.append(ast.Constant(...))
        own = list(own)
        placed: list[str] = []
        for i in entries:
            if isinstance(i, ast.Constant) and i.value is None:
                own.pop(0)
                continue
            for s in rest if isinstance(i, ast.Constant) else [i]:
                assert isinstance(s, ast.Slice)
                k = len(placed)
                whole = f"{ast.unparse(base)}.shape[{k}]"
                position = own.pop(0)
                if step_of(s) == -1:
                    position = f"{whole} - 1 - {position}"
                elif s.lower is not None and (lower := integer(s.lower)):
                    position += f" + {lower}" if lower > 0 else f" + max({whole} - {-lower}, 0)"
                placed.append(position)
        if isinstance(base, ast.Name):
            return f"{base.id}[{', '.join(placed)}]"
        return of(base, placed)


EMPTY = "zero-size array to reduction operation which has no identity"
VECTORIZED = frozenset(("exp", "expm1", "log", "log1p", "tanh"))
BLOCK = 1024  # elements whose terms are computed before they are added
START = {"sum": "0.0", "mean": "0.0", "prod": "1.0", "max": "-inf", "min": "inf"}


def shape_text(lengths: list[str]) -> str:
    return f"({', '.join(lengths)},)"
