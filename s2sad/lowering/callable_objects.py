"""Callables as objects: classes for closures, methods that are read as values, and partial applications.

    step = body.rhs             ->      step = rhs_of(body)  # which has the slot `self`

Form of programs: the normal form, in and out. What is called is known by the class then.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Hashable
from types import CellType, FunctionType
from typing import Any

import gast

from ..analysis.constructors import makes_empty
from ..kinds.class_members import member_of
from ..kinds.lattice import UNKNOWN, Dict, Instance, Kind, List, Record
from ..primitives.code_reach import is_library_code
from ..primitives.record import find_rule, takes_arrays
from ..runtime.cells import absent
from ..runtime.checkpoints import check_states, run_steps
from ..runtime.heap import heap_copy, heap_object
from ..runtime.object_graph import reference
from ..source.compiling import make_function
from ..source.forwarders import forwarder
from ..source.read import code_of_tree
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_functions import find_functions
from ..transforms.analyses.liveness import free_names
from ..transforms.lowering.name_functions import defined_apart
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
from ..transforms.trees.rebuild import parameter_names, rewritten
from ..values.code_state import own_signature

__all__ = [
    "CallableClasses", "are_named", "methods_to_objects", "refuse_changing_callables",
    "refuse_changing_specials",
]  # fmt: skip

# Special methods that Python calls by itself, of which no call is written in their place; and those that are
# followed where an operator stands, but not where functions and containers compare their items.
SPECIAL = (
    "__bool__", "__contains__", "__str__", "__repr__", "__format__", "__int__", "__index__", "__complex__",
    "__round__", "__trunc__", "__ceil__", "__floor__", "__hash__",
)  # fmt: skip
COMPARING = ("__eq__", "__ne__", "__lt__", "__gt__", "__le__", "__ge__")
SORTING = (max, min, sorted, set, frozenset, dict)
SEARCHING = ("sort", "index", "remove", "count")


class CallableClasses:
    """The classes of closures, and of other callables that hold values; `recursive` gains the methods that
    may reach themselves.
    """

    def __init__(self, recursive: set[Any]) -> None:
        self.recursive = recursive

    absent = staticmethod(absent)

    def cell(self, name: str) -> type:
        return _cell_class(name)

    def made(self, program: Program, tree: Any, slots: list[str], is_recursive: bool) -> type:
        cells = dict(program.scope.cells)
        cells |= {n: CellType(program.bindings[n]) for n in names_read(tree) if n in program.bindings}
        cells |= {"absent": CellType(absent)} if "absent" in names_read(tree) else {}
        code = code_of_tree(tree, program.filename, cells, program.lines)
        scope: Any = program.scope.globals
        values = tuple(getattr(d, "value", absent) for d in tree.args.defaults)
        function = FunctionType(code, scope, tree.name, values, tuple(cells[n] for n in code.co_freevars))
        named = zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True)
        function.__kwdefaults__ = {p.id: getattr(d, "value", absent) for p, d in named if d is not None}
        if is_recursive:
            self.recursive.add(function)
        return _class(tree.name, function, slots, scope.get("__name__", ""))

    def partial(self, program: Program, node: Any) -> tuple[type, list[Any]] | None:
        if program.resolve(node.func) is not functools.partial or has_stars(node) or not node.args:
            return None
        function, names = program.resolve(node.args[0]), tuple(k.arg for k in node.keywords)
        is_known = isinstance(function, Hashable) and callable(function)
        cls = _partial_class(function if is_known else MISSING, len(node.args) - 1, names)
        return cls, [*node.args[is_known:], *(k.value for k in node.keywords)]

    def is_function(self, program: Program, node: Any) -> bool:
        return isinstance(program.resolve(node.func), FunctionType)

    def keeps(self, program: Program, node: Any) -> bool:
        function = program.resolve(node.func)
        return function is MISSING or not (takes_arrays(function) or any(function is f for f in CALLING))


# What calls a function and does not keep it.
CALLING = (map, filter, functools.reduce, sorted, min, max, run_steps, check_states)


def _class(name: str, function: FunctionType, slots: list[str], module: str) -> type:
    """A class of objects that are made of the values of their slots and call a function."""
    stores = "".join(f"    this.{s} = {s}\n" for s in slots) or "    pass\n"
    text = f"def __init__({', '.join(['this', *slots])}):\n{stores}"
    init = make_function(text, "__init__", Scope({}), {})
    return type(f"{name}_closure", (), {"__init__": init, "__call__": function, "__module__": module})


def are_named(program: Program) -> bool:
    """Whether nested functions that are values stay functions: some may change captured arrays, and all calls
    of all of them are known by their names. So the arrays are changed as they stand.
    """
    program = defined_apart(program, lambda function: True)
    nested = {f.name: f for f in find_nodes(program.tree, gast.FunctionDef) if f is not program.tree}
    calls = find_nodes(program.tree, gast.Call)
    called = {id(c.func) for c in calls}
    read = [n for n in find_nodes(program.tree, gast.Name) if isinstance(n.ctx, gast.Load)]
    values = {n.id for n in read if n.id in nested and id(n) not in called}
    if not any(_may_change_arrays(program, nested[name]) for name in values):
        return False
    return values <= find_functions(program).known


def _may_change_arrays(program: Program, function: Any) -> bool:
    """Whether a nested function may store into captured variables that are no list or dict."""
    targets = [n.value for n in find_nodes(function, gast.Subscript) if isinstance(n.ctx, gast.Store)]
    targets += [k.value for c in find_nodes(function, gast.Call) for k in c.keywords if k.arg == "out"]
    stored = {n.id for n in targets if isinstance(n, gast.Name)} & free_names(function) & program.locals
    made = [s for s in find_nodes(program.tree, gast.Assign) if isinstance(s.targets[0], gast.Name)]
    arrays = {s.targets[0].id for s in made if not isinstance(s.value, (gast.List, gast.Dict, gast.Set))}
    return bool(stored & (arrays | set(parameter_names(program.tree))))


@functools.lru_cache(maxsize=1024)
def _cell_class(name: str) -> type:
    """The class of the cells of a variable."""
    text = f"def put(self, value):\n    self.{name} = value\n    return True\n"
    put = make_function(text, "put", Scope({}), {})
    return type(f"cell_of_{name}", (), {"put": put, "__module__": "builtins"})


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
def _partial_class(function: Any, count: int, names: tuple[str, ...]) -> type:
    """The class of partial applications of a function to `count` arguments and others by name; with a slot
    for the function if it is MISSING.
    """
    own = ("this", "args", "kwargs", "called", "absent")
    this, args, kwargs, called, none = (n if n not in names else f"{n}_" for n in own)
    slots = [*(["called"] if function is MISSING else []), *(f"arg_{k}" for k in range(count)), *names]
    given = [*(f"{this}.arg_{k}" for k in range(count)), f"*{args}", *(f"{n}={n}" for n in names)]
    defaults = "".join(f"    if {n} is {none}:\n        {n} = {this}.{n}\n" for n in names)
    parameters = ", ".join([this, f"*{args}", *(f"{n}={none}" for n in names), f"**{kwargs}"])
    callee = f"{this}.called" if function is MISSING else called
    text = f"def __call__({parameters}):\n{defaults}    return {callee}({', '.join(given)}, **{kwargs})\n"
    bindings = {called: function, none: absent}
    call = make_function(text, "__call__", Scope({}), bindings, None, dict.fromkeys(names, absent))
    return _class("partial", call, slots, "functools")


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


def refuse_changing_specials(
    facts: Facts, written: Program, changes: Callable[[FunctionType], bool]
) -> None:
    """Raises UnsupportedSyntaxError for objects with special methods that change something, by
    `changes(function)`, where Python may call them by itself in the function as it is `written`.
    """
    program = facts.program
    names = find_nodes(program.tree, gast.Name, gast.Attribute)
    classes = {id(c): c for c in map(program.resolve, names) if isinstance(c, type)}
    classes |= {id(k.cls): k.cls for k in facts.kinds.values() if isinstance(k, (Instance, Record))}
    own = [c for c in classes.values() if makes_empty(c) and c.__module__ not in sys.stdlib_module_names]
    if not own:
        return
    compares = any(map(_compares_items(program), find_nodes(program.tree, gast.Call, gast.Compare)))
    compares |= any(map(_compares_items(written), find_nodes(written.tree, gast.Call, gast.Compare)))
    for cls in own:
        for name in (*SPECIAL, *COMPARING) if compares else SPECIAL:
            member = member_of(Instance(cls), name)
            called = None if member is None else member.value
            if not isinstance(called, FunctionType) or is_library_code(called):
                continue
            if changes(called):
                program.refuse(
                    program.tree,
                    f"`{cls.__name__}.{name}`, which changes something",
                    "Python calls it by itself: when, and how often, is not followed",
                    "make it a method of another name, and call it",
                )


def _compares_items(program: Program) -> Callable[[Any], bool]:
    """Whether an expression may compare the items of a container."""

    def compares(node: Any) -> bool:
        if isinstance(node, gast.Compare):
            return isinstance(node.ops[0], (gast.In, gast.NotIn))
        function = program.resolve(node.func)
        is_method = function is MISSING and getattr(node.func, "attr", "") in SEARCHING
        return is_method or any(function is f for f in SORTING)

    return compares


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
