"""The free names that a derivative was generated under an assumption of."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import gast
import numpy as np

from ..analysis.outer_bindings import stored_globals
from ..kinds.abstraction import kind_of_free
from ..kinds.class_members import is_fixed
from ..kinds.lattice import UNKNOWN, Literal
from ..primitives.record import count_declared
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.operations import Call
from ..transforms.normal_form.desugar_globals import assigned_outside, key_of
from ..transforms.trees.modules import name_key
from ..transforms.trees.nodes import dotted, find_nodes
from ..transforms.trees.program import MISSING, Program, Scope
from ..values.code_state import state_of
from .argnums import check_type

__all__ = [
    "Capture",
    "Declared",
    "Stored",
    "calls_unknown",
    "capture_key",
    "captured",
    "rebound_in",
    "unassigned",
    "updated_in",
]

METHODS = frozenset(dir(np.ndarray)) | frozenset(dir(str))


@dataclass(frozen=True)
class Capture:
    """A free name that a derivative was generated under the assumption of."""

    scope: Scope
    name: str
    path: tuple[str, ...] = ()  # of attributes of a module or class

    def value(self) -> Any:
        found = self.scope.lookup(self.name)
        for attribute in self.path:
            found = getattr(found, attribute, MISSING)
        return found

    def lookup(self) -> Callable[[], Any]:
        """What looks the name up again, fast: it may say MISSING of one that has gone."""
        if self.path or self.name in self.scope.cells:
            return self.value
        builtin = MISSING if self.name in self.scope.globals else self.scope.lookup(self.name)
        return partial(self.scope.globals.get, self.name, builtin)

    def name_key(self) -> tuple[int, str]:
        """Where the name, or the last of the path, is bound."""
        if not self.path:
            return key_of(self.scope, self.name)
        owner = Capture(self.scope, self.name, self.path[:-1]).value()
        return name_key(owner, self.path[-1])

    def may_be_assigned(self, declared: Container[str]) -> bool:
        """Whether some function may assign the name, and not only define what it means: `declared` are names
        that the files in question declare.
        """
        value = self.value()
        if callable(value) or isinstance(value, (ModuleType, property)):
            return False
        if self.path or self.name in declared:
            return True
        return self.name not in self.scope.cells and self.name in stored_globals(self.scope.globals)

    def key(self) -> Any:
        return id(self.scope.globals), id(self.scope.cells.get(self.name)), self.name, self.path


@dataclass(frozen=True)
class Stored(Capture):
    """Whether functions assign one of these globals: the `path` has their names."""

    def __init__(self, scope: Scope, names: tuple[str, ...]) -> None:
        super().__init__(scope, "", names)

    def value(self) -> bool:
        """True or False, which is what a derivative assumes."""
        names = {n for n in self.path if n not in self.scope.cells}
        return not names.isdisjoint(stored_globals(self.scope.globals))

    def name_key(self) -> tuple[int, str]:
        return key_of(self.scope, self.name)

    def may_be_assigned(self, declared: Container[str]) -> bool:
        return False


@dataclass(frozen=True)
class Declared(Capture):
    """Whether so many functions are declared as when something was refused: a rule may be there by now."""

    def __init__(self) -> None:
        super().__init__(Scope({}), "", (str(count_declared()),))

    def value(self) -> bool:
        """True or False, which is what a derivative assumes."""
        return self.path[0] == str(count_declared())

    def name_key(self) -> tuple[int, str]:
        return key_of(self.scope, self.name)

    def may_be_assigned(self, declared: Container[str]) -> bool:
        return False

    def key(self) -> Any:
        return Declared, self.path


def capture_key(value: Any, name: str) -> Any:
    """What a derivative assumes of the object that a free name means: a builtin or module itself, of a
    function its state, else only the kind.
    """
    if isinstance(value, FunctionType):
        return state_of(value)
    if isinstance(value, (BuiltinFunctionType, ModuleType, type, property)):
        return value
    if isinstance(value, MethodType):  # a class method: bound anew whenever it is looked up
        function = value.__func__
        return state_of(function) if isinstance(function, FunctionType) else function
    if isinstance(value, bool):
        return Literal(value)
    kind = kind_of_free(value, name)
    if kind is UNKNOWN:
        check_type(name, value)
        return id(value) if callable(value) else type(value)
    return kind


def captured(program: Program) -> Iterator[Capture]:
    """What a program reads from around it."""
    scope = program.scope
    for name in dict.fromkeys(n.id for n in find_nodes(program.tree, gast.Name)):
        is_own = name in program.locals or name in program.bindings
        if not is_own and scope.lookup(name) is not MISSING:
            yield Capture(scope, name)
    for n in find_nodes(program.tree, gast.Attribute):
        if program.resolve(n) is not MISSING:
            root, *path = dotted(n)
            if not is_fixed(program.scope.lookup(root)):
                yield Capture(program.scope, root, tuple(path))


def rebound_in(program: Program) -> Iterator[tuple[int, str]]:
    """The names of modules and classes that a program assigns, whatever form it has."""
    yield from (key_of(program.scope, name) for name in assigned_outside(program.tree, program.scope))
    for n in find_nodes(program.tree, gast.Attribute):
        if not isinstance(n.ctx, gast.Load):
            owner = program.resolve(n.value)
            if isinstance(owner, (ModuleType, type)):
                yield name_key(owner, n.attr)


def calls_unknown(facts: Facts) -> bool:
    """Whether a program, its kinds known, calls what only the run finds and may be a user's function."""
    program = facts.program
    own = program.locals - {f.name for f in find_nodes(program.tree, gast.FunctionDef)}

    def is_unknown(node: Any) -> bool:
        match node.func:
            case gast.Name(id=name):
                return name in own and not isinstance(facts.kind(node.func), Literal)
            case gast.Attribute(attr=attr) if program.resolve(node.func) is MISSING and attr not in METHODS:
                operation = facts.operation(node)
                return isinstance(operation, Call) and operation.function is MISSING
        return False

    return any(map(is_unknown, find_nodes(program.tree, gast.Call)))


def unassigned(captures: list[Capture], rebound: Container[tuple[int, str]]) -> Iterator[Stored]:
    """What is assumed of the globals among captures that no function assigns, for each module."""
    scopes = {id(c.scope.globals): c.scope for c in captures if not c.path}
    for number, scope in scopes.items():
        own = [c for c in captures if not c.path and id(c.scope.globals) == number]
        yield Stored(scope, tuple(c.name for c in own if c.name_key() not in rebound))


def updated_in(program: Program) -> Iterator[Capture]:
    """The names of modules and classes that a program, as it was written, updates by `+=` and the like: what
    kind they are of says whether this changes an object.
    """
    assigned = assigned_outside(program.tree, program.scope)
    for s in find_nodes(program.tree, gast.AugAssign):
        match s.target:
            case gast.Name(id=name) if name in assigned:
                yield Capture(program.scope, name)
            case gast.Attribute(value=owner) if isinstance(program.resolve(owner), (ModuleType, type)):
                root, *path = dotted(s.target)
                yield Capture(program.scope, root, tuple(path))
