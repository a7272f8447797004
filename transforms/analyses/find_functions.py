"""Which nested functions the names of a program may hold.

Form: the normal form. A nested function may be an item of a display, be chosen by a branch, or have several
names; while it does not escape, all its calls are known. A name holds a *value*: a set of functions by name
(OTHER for any other object), the items of a display, or the join of the items of a list or dict.

    steps = [scale, shift]          steps: Items of {scale} and {shift}
    for step in steps:              step: {scale, shift}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import gast

from ..trees.nodes import (
    assigned_names,
    binding_counts,
    blocks_of,
    find_nodes,
    is_atom,
    names_read,
    target_names,
)
from ..trees.program import Program
from ..trees.rebuild import parameters

__all__ = ["OTHER", "Functions", "Items", "Value", "find_functions", "functions_in"]

OTHER = ""
MANY_ROUNDS = 12


@dataclass(frozen=True)
class Items:
    """The values of a display's items, by position or key; `keys` is None for tuples and lists."""

    values: tuple[Value, ...]
    keys: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class Many:
    """The join of the items of a list."""

    value: Value


Value = frozenset[str] | Items | Many
ELSE: Value = frozenset({OTHER})
NONE: Value = frozenset()


@dataclass(frozen=True)
class Functions:
    """`held` maps names to values with functions in them; `known` are the functions whose calls are all
    known.
    """

    held: Mapping[str, Value]
    known: frozenset[str]

    def called(self, name: str) -> frozenset[str]:
        """The functions that a call of this name may run."""
        value = self.held.get(name)
        return value if isinstance(value, frozenset) else frozenset({OTHER})


def functions_in(value: Value) -> frozenset[str]:
    if isinstance(value, frozenset):
        return value - {OTHER}
    items = value.values if isinstance(value, Items) else (value.value,)
    return frozenset().union(*map(functions_in, items))


def find_functions(program: Program) -> Functions:
    """The functions that names may hold."""
    return _Finder(program).run()


class _Finder:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.held: dict[str, Value] = {}
        self.lost: set[str] = set()
        self.grown: set[str] = set()  # lists with an `append`
        functions = [f.name for f in find_nodes(program.tree, gast.FunctionDef)]
        self.functions = frozenset(functions)
        self.bound = binding_counts(program.tree)
        self.repeated: dict[str, list[Any]] = {}  # functions defined in loops, with the rest of the block

    def run(self) -> Functions:
        given = frozenset(p.id for p in parameters(self.program.tree))
        for _ in range(MANY_ROUNDS):
            before = dict(self.held), len(self.lost), len(self.grown)
            self.block(self.program.tree.body, given, frozenset())
            if (self.held, len(self.lost), len(self.grown)) == before:
                break
        else:
            self.lose(*self.held.values())
        holding = {n: v for n, v in self.held.items() if functions_in(v)}
        for repeated, rest in self.repeated.items():
            self.check_iteration(repeated, rest, holding)
        made = frozenset(n for v in holding.values() for n in functions_in(v))
        return Functions(holding, made - self.lost)

    def check_iteration(self, made: str, rest: list[Any], holding: Mapping[str, Value]) -> None:
        """Marks a function that a loop defines as lost if it may outlive the iteration: unless all its
        aliases are assigned after it in its block.
        """
        own = Counter(n for s in rest for n in assigned_there(s))
        if any(made in functions_in(v) and own[n] != self.bound[n] for n, v in holding.items()):
            self.lost.add(made)

    # ------------------------------------------------------------ values

    def lose(self, *values: Value) -> Value:
        self.lost.update(*map(functions_in, values))
        return ELSE

    def lose_all(self, node: Any) -> Value:
        """The value of an expression or statement through which functions escape."""
        return self.lose(*(self.held[n] for n in names_read(node) if n in self.held))

    def join(self, a: Value, b: Value) -> Value:
        if a == b or b == NONE:
            return a
        if a == NONE:
            return b
        match a, b:
            case frozenset(), frozenset():
                return a | b
            case Items(keys=None), Items(keys=None) if len(a.values) == len(b.values):
                return Items(tuple(map(self.join, a.values, b.values)))
            case ((Items(keys=None) | Many()), (Items(keys=None) | Many())):
                return Many(self.join(self.item(a), self.item(b)))
        return self.lose(a, b)

    def item(self, value: Value) -> Value:
        """The join of the items of a value."""
        match value:
            case Items(values=values):
                return reduce(self.join, values, NONE)
            case Many(value=inner):
                return inner
        return self.lose(value)

    def define(self, name: str, value: Value) -> None:
        self.held[name] = self.join(self.held.get(name, NONE), value)

    # ------------------------------------------------------------ statements

    def block(self, statements: list[Any], sure: frozenset[str], varying: frozenset[str]) -> frozenset[str]:
        """Records the assignments of a block; `sure` are the names bound before it, the result those bound
        after it, `varying` those that the loops around it assign.
        """
        for k, s in enumerate(statements):
            match s:
                case gast.FunctionDef():
                    self.function(s)
                    if varying.intersection(names_read(s)):
                        self.repeated[s.name] = statements[k:]
                    sure |= {s.name}
                case gast.Assign(targets=[gast.Name(id=name)], value=value):
                    found = self.value(value, sure)
                    is_shared = name in self.grown and not isinstance(value, gast.List)
                    self.define(name, self.lose(found) if is_shared else found)
                    sure |= {name}
                case gast.Assign(targets=[gast.Tuple(elts=elts) as target], value=value):
                    self.bind(target, self.value(value, sure))
                    sure |= {t.id for t in elts}
                case gast.Expr(
                    value=gast.Call(
                        func=gast.Attribute(value=gast.Name(id=name), attr="append"),
                        args=[added],
                        keywords=[],
                    )
                ) if name in self.held:
                    found = self.value(added, sure)
                    if functions_in(found) or functions_in(self.held[name]):
                        self.grown.add(name)
                        self.define(name, Many(found))
                case gast.Expr(value=value):
                    self.value(value, sure)
                case gast.For():
                    inner = varying | set(assigned_names(s))
                    self.bind(s.target, self.element(s.iter, sure))
                    self.block(s.body, sure | set(target_names(s.target)), inner)
                case gast.While():
                    self.block(s.body, sure, varying | set(assigned_names(s)))
                case gast.If(test=test):
                    if not isinstance(test, gast.Name):
                        self.value(test, sure)
                    sure = self.block(s.body, sure, varying) & self.block(s.orelse, sure, varying)
                case gast.With() | gast.Try():
                    for held in s.items if isinstance(s, gast.With) else ():
                        self.lose_all(held.context_expr)
                    ways = [self.block(b, sure, varying) for b in blocks_of(s)]
                    sure = self.after_try(s, ways) if isinstance(s, gast.Try) else ways[0]
                case gast.AugAssign(target=target):
                    self.lose(*(self.held[n] for n in target_names(target) if n in self.held))
                    self.lose_all(s)
                case _:
                    self.lose_all(s)
        return sure

    def after_try(self, s: Any, ways: list[frozenset[str]]) -> frozenset[str]:
        """The names bound after a `try`: those of its body and `else` that each handler binds, too."""
        body, *handlers = ways[: 1 + len(s.handlers)]
        rest = ways[1 + len(s.handlers) :]
        if s.orelse:
            body |= rest[0]
        return body.intersection(*handlers) | (rest[-1] if s.finalbody else set())

    def function(self, s: Any) -> None:
        """Notes a nested function: it may call others, and itself, by their names."""
        called = {id(c.func) for c in find_nodes(s, gast.Call)}
        for n in find_nodes(s, gast.Name):
            if isinstance(n.ctx, gast.Load) and not (n.id in self.functions and id(n) in called):
                self.lose(self.held.get(n.id, NONE))
        self.define(s.name, frozenset({s.name}))
        if self.bound[s.name] != 1:
            self.lost.add(s.name)

    def bind(self, target: Any, value: Value) -> None:
        if isinstance(target, gast.Name):
            self.define(target.id, value)
            return
        parts = value.values if isinstance(value, Items) and value.keys is None else ()
        if len(parts) != len(target.elts):
            parts = (self.item(value) if functions_in(value) else ELSE,) * len(target.elts)
        for t, v in zip(target.elts, parts, strict=True):
            self.bind(t, v)

    # ------------------------------------------------------------ expressions

    def value(self, node: Any, sure: frozenset[str]) -> Value:
        match node:
            case gast.Name(id=name):
                found = self.read(name, sure)
                return self.lose(found) if name in self.grown else found
            case gast.Tuple(elts=elts) | gast.List(elts=elts):
                return Items(tuple(self.value(e, sure) for e in elts))
            case gast.Dict(keys=keys, values=values) if all(isinstance(k, gast.Constant) for k in keys):
                names = tuple(k.value for k in keys)
                if len(set(names)) == len(names):
                    return Items(tuple(self.value(v, sure) for v in values), names)
            case gast.Subscript(value=gast.Name(id=base), slice=index) if is_atom(index):
                self.lose_all(index)
                return self.picked(self.read(base, sure), index)
            case gast.Compare(
                left=gast.Name(), ops=[gast.Is() | gast.IsNot()], comparators=[gast.Constant(value=None)]
            ):
                return ELSE
            case gast.Call():
                return self.call(node, sure)
        return self.lose_all(node)

    def read(self, name: str, sure: frozenset[str]) -> Value:
        found = self.held.get(name, ELSE)
        return found if name in sure or not functions_in(found) else self.lose(found)

    def picked(self, base: Value, index: Any) -> Value:
        if not functions_in(base):
            return ELSE
        if isinstance(base, Items) and isinstance(index, gast.Constant):
            keys = range(len(base.values)) if base.keys is None else base.keys
            if index.value in keys:
                return base.values[list(keys).index(index.value)]
        return self.item(base)

    def call(self, node: Any, sure: frozenset[str]) -> Value:
        match node:
            case gast.Call(func=gast.Name(), args=[gast.Name(id=base)], keywords=[]) if self.program.resolve(
                node.func
            ) in (list, tuple, len):
                value = self.read(base, sure)
                if self.program.resolve(node.func) is len or not functions_in(value):
                    return ELSE
                return value if is_sequence(value) else self.lose(value)
            case gast.Call(func=gast.Name(id=name), keywords=keywords):
                called = self.read(name, sure)
                if not isinstance(called, frozenset) or any(k.arg is None for k in keywords):
                    self.lose(called)
            case gast.Call(
                func=gast.Attribute(value=gast.Name(id=name), attr=attr), args=args, keywords=[]
            ) if isinstance(self.held.get(name), Items):
                base = self.read(name, sure)
                if isinstance(base, Items) and base.keys is not None:
                    match attr, args:
                        case "items", []:
                            return Many(Items((ELSE, self.item(base))))
                        case "values", []:
                            return Many(self.item(base))
                        case "keys", []:
                            return ELSE
                        case "get", [key, *rest] if len(rest) < 2:
                            self.lose_all(key)
                            other = self.value(rest[0], sure) if rest else ELSE
                            return self.join(self.item(base), other)
                self.lose(base)
            case _:
                self.lose_all(node.func)
        return self.lose_all([*node.args, *(k.value for k in node.keywords)])

    def element(self, node: Any, sure: frozenset[str]) -> Value:
        """The value of the elements of a loop's iterable."""
        match node:
            case gast.Name(id=name):
                value = self.read(name, sure)
                is_keys = isinstance(value, Items) and value.keys is not None
                return self.item(value) if functions_in(value) and not is_keys else ELSE
            case gast.Call(func=gast.Name(), args=args, keywords=[]):
                found = self.program.resolve(node.func)
                if found is enumerate and len(args) == 1:
                    return Items((ELSE, self.element(args[0], sure)))
                if found is zip:
                    return Items(tuple(self.element(a, sure) for a in args))
                if found is reversed:
                    return self.element(args[0], sure)
        return self.lose_all(node)


def assigned_there(s: Any) -> list[str]:
    """The names that a statement binds in every run of its block, and those that a loop in it does."""
    match s:
        case gast.FunctionDef(name=name):
            return [name]
        case gast.Assign(targets=[target]):
            return target_names(target)
        case gast.For(target=target, body=body):
            return target_names(target) + [n for b in body for n in assigned_there(b)]
    return []


def is_sequence(value: Value) -> bool:
    return isinstance(value, Many) or (isinstance(value, Items) and value.keys is None)
