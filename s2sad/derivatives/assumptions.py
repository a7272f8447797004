"""The assumptions of generated code about the outer names that a function reads."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, MethodWrapperType, ModuleType
from typing import Any

import gast
import numpy as np

from ..analysis.outer_bindings import StoredGlobals, stored_globals
from ..kinds.abstraction import form_of, kind_of_free
from ..kinds.class_members import is_fixed
from ..kinds.lattice import UNKNOWN, Literal, Random, Record
from ..primitives.record import count_declared
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.operations import Call
from ..transforms.normal_form.desugar_globals import assigned_outside, key_of
from ..transforms.trees.modules import name_key
from ..transforms.trees.nodes import dotted, find_nodes
from ..transforms.trees.program import MISSING, Program, Scope
from ..values.code_state import FunctionState, state_of

__all__ = [
    "Assumption",
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

CONTAINERS = (list, dict, tuple)  # the kind of such an object can change
METHODS = frozenset(dir(np.ndarray)) | frozenset(dir(str))


@dataclass(frozen=True)
class Capture:
    """An outer name that generated code makes an assumption about: see `capture_key`."""

    scope: Scope
    name: str
    path: tuple[str, ...] = ()  # of attributes of a module or class

    def value(self) -> Any:
        found = self.scope.lookup(self.name)
        for attribute in self.path:
            found = getattr(found, attribute, MISSING)
        return found

    def lookup(self) -> Callable[[], Any]:
        """A fast function that looks the name up again; it returns MISSING for a deleted name."""
        names = self.scope.globals
        is_global = self.name in names and self.name not in self.scope.cells and not self.path
        return partial(names.get, self.name, MISSING) if is_global else self.value

    def name_key(self) -> tuple[int, str]:
        """The scope, module or class that binds the name, or the last of the path, and that name."""
        if not self.path:
            return key_of(self.scope, self.name)
        owner = Capture(self.scope, self.name, self.path[:-1]).value()
        return name_key(owner, self.path[-1])

    def may_be_assigned(self, declared: Container[str]) -> bool:
        """Whether some function may assign the name at run time; `declared` are the names in the `global` and
        `nonlocal` statements of the files that were read.
        """
        value = self.value()
        is_missing = value is MISSING and bool(self.path)  # an attribute that objects of the class have
        if is_missing or callable(value) or isinstance(value, (ModuleType, property)):
            return False
        if self.path or self.name in declared:
            return True
        return self.name not in self.scope.cells and self.name in stored_globals(self.scope.globals)

    def key(self) -> Any:
        return id(self.scope.globals), id(self.scope.cells.get(self.name)), self.name, self.path


@dataclass(frozen=True)
class Stored(Capture):
    """The assumption that functions assign, or do not assign, one of these globals; `path` has their names.
    """

    def __init__(self, scope: Scope, names: tuple[str, ...]) -> None:
        super().__init__(scope, "", names)

    def value(self) -> bool:
        """Whether a function assigns one of them now."""
        return self.lookup()()

    def lookup(self) -> Callable[[], bool]:
        names = {n for n in self.path if n not in self.scope.cells}
        stored = StoredGlobals(self.scope.globals)
        return lambda: not names.isdisjoint(stored())

    def name_key(self) -> tuple[int, str]:
        return key_of(self.scope, self.name)

    def may_be_assigned(self, declared: Container[str]) -> bool:
        return False


@dataclass(frozen=True)
class Declared(Capture):
    """The assumption that no rule was declared since a refusal."""

    def __init__(self) -> None:
        super().__init__(Scope({}), "", (str(count_declared()),))

    def value(self) -> bool:
        """Whether the assumption holds."""
        return self.path[0] == str(count_declared())

    def name_key(self) -> tuple[int, str]:
        return key_of(self.scope, self.name)

    def may_be_assigned(self, declared: Container[str]) -> bool:
        return False

    def key(self) -> Any:
        return Declared, self.path


def capture_key(value: Any, name: str) -> Any:
    """The assumption about the value of an outer name: the identity of a builtin, module or class, the state
    of a function, the kind of any other value.
    """
    if isinstance(value, FunctionType):
        return state_of(value)
    if isinstance(value, (BuiltinFunctionType, ModuleType, type, property)):
        return value
    if isinstance(value, MethodType):  # a class method is bound anew at each lookup
        function = value.__func__
        return state_of(function) if isinstance(function, FunctionType) else function
    if isinstance(value, MethodWrapperType):  # as is a method of a metaclass
        return value.__name__, id(value.__self__)
    if isinstance(value, bool):
        return Literal(value)
    kind = kind_of_free(value, name)
    if kind is UNKNOWN:
        return id(value) if callable(value) else type(value)
    return kind


class Assumption:
    """An outer name: how to look it up, the object last seen there, and its key."""

    __slots__ = ("_form", "_is_settled", "_lookup", "_state", "capture", "key", "seen")

    def __init__(self, capture: Capture) -> None:
        self.capture, self._lookup = capture, capture.lookup()
        self.seen = value = capture.value()
        self.key = key = capture_key(value, capture.name)
        self._state = key if type(key) is FunctionState else None
        self._is_settled = not isinstance(value, CONTAINERS) and type(key) is not Record
        self._form = None if self._is_settled else form_of(value)

    def holds(self) -> bool:
        """Whether the name surely has the same key as before."""
        value = self._lookup()
        if value is not self.seen:  # the kind of a number depends on its type alone
            is_number = type(value) in (int, float) and type(value) is type(self.seen)
            return is_number or (type(value) is MethodWrapperType and value == self.seen)
        if self._state is not None:
            return self._state.is_of(value)
        return self._is_settled or (self._form is not None and form_of(value) == self._form)


def captured(program: Program) -> Iterator[Capture]:
    """The outer names that a program reads."""
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
    """The names of modules, classes and outer scopes that a program, in any form, assigns."""
    yield from (key_of(program.scope, name) for name in assigned_outside(program.tree, program.scope))
    for n in find_nodes(program.tree, gast.Attribute):
        if not isinstance(n.ctx, gast.Load):
            owner = program.resolve(n.value)
            if isinstance(owner, (ModuleType, type)):
                yield name_key(owner, n.attr)


def calls_unknown(facts: Facts) -> bool:
    """Whether a program has a dynamic callee that may be a user's function."""
    program = facts.program
    own = program.locals - {f.name for f in find_nodes(program.tree, gast.FunctionDef)}

    def is_unknown(node: Any) -> bool:
        match node.func:
            case gast.Name(id=name):
                return name in own and not isinstance(facts.kind(node.func), Literal)
            case gast.Attribute(attr=attr) if program.resolve(node.func) is MISSING and attr not in METHODS:
                if isinstance(facts.kind(node.func.value), Random):
                    return False
                operation = facts.operation(node)
                return isinstance(operation, Call) and operation.function is MISSING
        return False

    return any(map(is_unknown, find_nodes(program.tree, gast.Call)))


def unassigned(captures: list[Capture], rebound: Container[tuple[int, str]]) -> Iterator[Stored]:
    """For each module, the assumption that no function assigns the captured globals."""
    scopes = {id(c.scope.globals): c.scope for c in captures if not c.path}
    for number, scope in scopes.items():
        own = [c for c in captures if not c.path and id(c.scope.globals) == number]
        yield Stored(scope, tuple(c.name for c in own if c.name_key() not in rebound))


def updated_in(program: Program) -> Iterator[Capture]:
    """The outer names that a program, as written, updates by `+=` and the like: their kinds decide whether
    this changes an object in place.
    """
    assigned = assigned_outside(program.tree, program.scope)
    for s in find_nodes(program.tree, gast.AugAssign):
        match s.target:
            case gast.Name(id=name) if name in assigned:
                yield Capture(program.scope, name)
            case gast.Attribute(value=owner) if isinstance(program.resolve(owner), (ModuleType, type)):
                root, *path = dotted(s.target)
                yield Capture(program.scope, root, tuple(path))
