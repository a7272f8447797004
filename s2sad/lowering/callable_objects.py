"""Callables as objects: classes for closures, methods that are read as values, and partial applications.

    step = body.rhs             ->      step = rhs_of(body)  # which has the slot `self`

Form of programs: the normal form, in and out. What is called is known by the class then.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

import gast

from ..kinds.class_members import member_of
from ..kinds.lattice import UNKNOWN, Dict, Instance, Kind, List, Record
from ..primitives.record import find_rule, takes_arrays
from ..runtime.cells import Cell, absent
from ..runtime.heap import heap_copy, heap_object
from ..runtime.object_graph import reference
from ..source.compiling import make_function
from ..source.forwarders import forwarder
from ..source.read import code_of_tree
from ..transforms.analyses.facts import Facts
from ..transforms.trees.bind_objects import Objects
from ..transforms.trees.nodes import (
    assign,
    bound_counts,
    call,
    find_nodes,
    has_stars,
    load,
    located,
    names_read,
)
from ..transforms.trees.program import MISSING, Program, Scope
from ..transforms.trees.rebuild import rewritten
from ..values.code_state import own_signature

__all__ = ["CLASSES", "makes_callables", "methods_to_objects", "refuse_changing_callables"]


class _Classes:
    """The classes of closures, and of other callables that hold values."""

    cell, absent = Cell, staticmethod(absent)

    def made(self, program: Program, tree: Any, slots: list[str]) -> type:
        cells = dict(program.scope.cells)
        cells |= {n: CellType(program.bindings[n]) for n in names_read(tree) if n in program.bindings}
        cells |= {"absent": CellType(absent)} if "absent" in names_read(tree) else {}
        code = code_of_tree(tree, program.filename, cells, program.lines)
        scope: Any = program.scope.globals
        values = tuple(getattr(d, "value", absent) for d in tree.args.defaults)
        function = FunctionType(code, scope, tree.name, values, tuple(cells[n] for n in code.co_freevars))
        named = zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True)
        function.__kwdefaults__ = {p.id: getattr(d, "value", absent) for p, d in named if d is not None}
        return _class(tree.name, function, slots, scope.get("__name__", ""))

    def partial(self, program: Program, node: Any) -> type | None:
        if program.resolve(node.func) is not functools.partial or has_stars(node) or not node.args:
            return None
        return _partial_class(len(node.args) - 1, tuple(k.arg for k in node.keywords))

    def keeps(self, program: Program, node: Any) -> bool:
        function = program.resolve(node.func)
        return function is MISSING or not (takes_arrays(function) or any(function is f for f in CALLING))


CALLING = (map, filter, functools.reduce)  # what calls a function and does not keep it
CLASSES: Any = _Classes()


def makes_callables(program: Program) -> bool:
    """Whether a function has nested functions or partial applications."""
    nested = find_nodes(program.tree, gast.FunctionDef, gast.Lambda)
    return len(nested) > 1 or any(CLASSES.partial(program, n) for n in find_nodes(program.tree, gast.Call))


def _class(name: str, function: FunctionType, slots: list[str], module: str) -> type:
    """A class of objects that are made of the values of their slots and call a function."""
    stores = "".join(f"    this.{s} = {s}\n" for s in slots) or "    pass\n"
    text = f"def __init__({', '.join(['this', *slots])}):\n{stores}"
    init = make_function(text, "__init__", Scope({}), {})
    return type(f"{name}_closure", (), {"__init__": init, "__call__": function, "__module__": module})


@functools.lru_cache(maxsize=1024)
def _method_class(function: FunctionType) -> type:
    """The class of the bound methods of a function."""
    _, *rest = own_signature(function).parameters.values()
    names = [p.name for p in rest]
    this, called = (next(n for n in (name, f"{name}_") if n not in names) for name in ("this", "called"))
    made = forwarder("__call__", inspect.Signature(rest), called, f"{this}.self", {called: function}, (this,))
    return _class(function.__name__, made, ["self"], function.__module__)


@functools.lru_cache(maxsize=1024)
def _container_class(name: str) -> type:
    """The class of the bound methods of lists and dicts with a name."""
    text = f"def __call__(this, *args, **kwargs):\n    return this.self.{name}(*args, **kwargs)\n"
    return _class(name, make_function(text, "__call__", Scope({}), {}), ["self"], "builtins")


@functools.lru_cache(maxsize=1024)
def _partial_class(count: int, names: tuple[str, ...]) -> type:
    """The class of partial applications of a function to `count` arguments and others by name."""
    slots = ["called", *(f"arg_{k}" for k in range(count)), *names]
    given = [*(f"this.arg_{k}" for k in range(count)), "*args", *(f"{n}=this.{n}" for n in names), "**kwargs"]
    text = f"def __call__(this, *args, **kwargs):\n    return this.called({', '.join(given)})\n"
    return _class("partial", make_function(text, "__call__", Scope({}), {}), slots, "functools")


def methods_to_objects(facts: Facts) -> Program:
    """The program with objects for the methods that it reads as values, of objects of known classes; itself
    where it has none.
    """
    program, names = facts.program, facts.program.names.copy()
    objects = Objects(program, names)
    bound = bound_counts(program.tree)
    once = [
        (s.targets[0].id, s.value)
        for s in find_nodes(program.tree, gast.Assign)
        if isinstance(s.targets[0], gast.Name) and bound[s.targets[0].id] == 1
    ]
    known: dict[str, Kind] = {  # of names of new containers, and of objects whose classes are checked
        name: List(None, UNKNOWN) if isinstance(value, gast.List) else Dict(())
        for name, value in once
        if isinstance(value, (gast.List, gast.Dict))
    }
    known |= {
        name: Instance(program.resolve(value.args[1]))
        for name, value in once
        if isinstance(value, gast.Call) and value.args[1:] and program.resolve(value.func) is reference
    }

    def made(s: Any) -> Any:
        """The expression that makes the object that a statement reads or makes; None for other statements."""
        match s:
            case gast.Assign(targets=[gast.Name()], value=gast.Attribute(value=base, attr=attr)):
                owner = known.get(getattr(base, "id", "")) or facts.kind(base)
                member = member_of(owner, attr) if isinstance(owner, (Instance, Record)) else None
                if member is not None and member.role == "method" and isinstance(member.value, FunctionType):
                    return call(objects.name(_method_class(member.value)), base)
                if member is not None and member.role == "static" and isinstance(member.value, FunctionType):
                    return load(objects.name(member.value))
                cls: Any = list if isinstance(owner, List) else dict if isinstance(owner, Dict) else object
                if not hasattr(object, attr) and hasattr(cls, attr) and program.resolve(s.value) is MISSING:
                    return call(objects.name(_container_class(attr)), base)
        return None

    def statement(s: Any) -> list[Any] | None:
        value = made(s)
        return None if value is None else [assign(s.targets[0].id, located(value, s.value), s)]

    tree = rewritten(program.tree, statement)
    if tree is program.tree:
        return program
    return program.with_tree(tree, bindings=objects.all_bindings(), names=names)


def refuse_changing_callables(facts: Facts, changes: Callable[[FunctionType], bool]) -> None:
    """Raises UnsupportedSyntaxError where a primitive is given an object that, called, changes something, by
    `changes(function)`: it is not followed.
    """
    program = facts.program
    values = {
        s.targets[0].id: s.value
        for s in find_nodes(program.tree, gast.Assign)
        if isinstance(s.targets[0], gast.Name)
    }

    def class_of(node: Any) -> Any:
        """The class of an object, or of the one that a view is of."""
        for _ in values:
            kind = facts.kind(node)
            if isinstance(kind, (Instance, Record)):
                return kind.cls
            value = values.get(getattr(node, "id", ""))
            if isinstance(value, gast.Call) and value.args:
                helper, cls = program.resolve(value.func), program.resolve(value.args[-1])
                if (helper is reference or helper is heap_object) and isinstance(cls, type):
                    return cls
                place = 0 if helper is reference else 1 if helper is heap_copy else len(value.args)
                value = next(iter(value.args[place:]), None)
            if not isinstance(value, gast.Name):
                return None
            node = value
        return None

    for node in find_nodes(program.tree, gast.Call):
        function = program.resolve(node.func)
        if function is MISSING or find_rule(function) is None or not takes_arrays(function):
            continue
        for a in (*node.args, *(k.value for k in node.keywords)):
            cls = class_of(a) if isinstance(a, gast.Name) else None
            member = None if cls is None else member_of(Instance(cls), "__call__")
            called = None if member is None else member.value
            if isinstance(called, FunctionType) and changes(called):
                program.refuse(
                    node,
                    f"`{function.__name__}` calls `{a.id}`, which changes something",
                    "when it is called, and how often, is not followed",
                    "return the new value from the function",
                )
