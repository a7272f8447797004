"""Makes variables of the objects of outer scopes, where a function changes such objects.

    def loss(x):                            def loss(x):
        MODEL.set(x)                            MODEL_1 = outer_object(MODEL)
        return MODEL.run()                      MODEL_1.set(x)
                                                return MODEL_1.run()

What they hold is read as it is then, not as it was when the derivative was generated.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from types import CellType, ModuleType
from typing import Any

import gast

from ..analysis.heap_facts import ON_HEAP
from ..kinds.class_members import FIXED
from ..kinds.lattice import Instance, Literal, Random, Unknown
from ..kinds.memory import Memory
from ..primitives.record import takes_arrays
from ..runtime.object_graph import outer_object
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.operations import Apply, Call
from ..transforms.errors import UnsupportedSyntaxError
from ..transforms.normal_form.desugar_globals import key_of
from ..transforms.trees.bind_objects import Objects
from ..transforms.trees.nodes import assign, call, dotted, find_nodes, load, statements_in
from ..transforms.trees.printer import to_source
from ..transforms.trees.program import EMPTY, MISSING, Program
from ..transforms.trees.rebuild import map_children, rebuilt, rewritten
from ..values.objects import is_plain

__all__ = [
    "changes_outer_objects",
    "outer_objects_first",
    "reads_outer_objects",
    "refuse_open_calls",
    "with_outer_objects",
]

# Functions that call no argument.
CALLING_NONE = {abs, bool, complex, float, getattr, id, int, isinstance, len, print, range, round, setattr}
CALLING_NONE |= {dict, enumerate, list, reversed, set, str, sum, tuple, type, zip}
CHANGING: dict[type, set[str]] = {  # the methods of containers that change them
    list: {"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"},
    dict: {"clear", "pop", "popitem", "setdefault", "update"},
    deque: {"append", "appendleft", "clear", "extend", "extendleft", "insert", "pop", "popleft", "remove"}
    | {"reverse", "rotate"},
}


def is_outer_object(node: Any, program: Program) -> bool:
    """Whether an expression is a name, or an attribute of a module or class, that is bound to an object with
    attributes or items that can be set.
    """
    if not isinstance(node, (gast.Name, gast.Attribute)) or not isinstance(node.ctx, gast.Load):
        return False
    value = program.resolve(node)
    if value is MISSING or dotted(node)[0] in program.bindings:
        return False
    if isinstance(node, gast.Name) and key_of(program.scope, node.id) in program.scope.rebound:
        return False
    if isinstance(value, (type, ModuleType)) or is_of_library(type(value)):
        return False
    return isinstance(value, (list, dict, deque)) or is_plain(type(value))


def reads_outer_objects(program: Program) -> bool:
    return any(is_outer_object(n, program) for n in find_nodes(program.tree, gast.Name, gast.Attribute))


def is_of_library(cls: type) -> bool:
    root = cls.__module__.partition(".")[0]
    return cls not in CHANGING and (root in FIXED or root in sys.stdlib_module_names)


def changes_outer_objects(program: Program) -> bool:
    """Whether a function sets an attribute or item of an object of an outer scope, or calls a method that
    does so, by its name.
    """

    def is_change(s: Any) -> bool:
        match s:
            case (
                gast.Assign(targets=[gast.Attribute(value=x) | gast.Subscript(value=x)])
                | gast.AugAssign(target=gast.Attribute(value=x) | gast.Subscript(value=x))
            ):
                return is_outer_object(x, program)
            case gast.Assign(value=gast.Call(func=gast.Attribute(value=x, attr=attr))) | gast.Expr(
                value=gast.Call(func=gast.Attribute(value=x, attr=attr))
            ) if is_outer_object(x, program):
                is_open = isinstance(x, gast.Attribute) and is_plain(type(program.resolve(x)))
                return is_open or attr in CHANGING.get(type(program.resolve(x)), set())
        return False

    return any(map(is_change, statements_in(program.tree.body)))


def is_helper(function: Any) -> bool:
    module = getattr(function, "__module__", None) or ""
    return module.startswith(outer_object.__module__.rpartition(".")[0])


def refuse_open_calls(facts: Facts, memory: Memory | None) -> None:
    """Refuses calls of functions that are not put in their place, in a program with a heap: they may read
    objects of outer scopes.
    """

    def may_be_called(node: Any) -> bool:
        kind = facts.kind(node)
        if memory is not None and isinstance(node, gast.Name) and node.id in memory.names:
            held = memory.names[node.id]
            return not held.is_object or not memory.functions.keys().isdisjoint(held.sites or ())
        is_open = isinstance(kind, Unknown) and not isinstance(kind, Instance)
        return is_open or (isinstance(kind, Literal) and callable(kind.value))

    program = facts.program
    raised = [n for s in find_nodes(program.tree, gast.Raise) for n in find_nodes(s, gast.Call)]
    for node in find_nodes(program.tree, gast.Call):
        if any(node is n for n in raised):
            continue
        function = program.resolve(node.func)
        if function in EMPTY or is_helper(function) or function in ON_HEAP or type(function) is CellType:
            continue
        match facts.operation(node):
            case Apply(function=function) as operation:
                calls_none = takes_arrays(function) or function in CALLING_NONE
                if calls_none or not any(map(may_be_called, operation.operands())):
                    continue
            case Call() if isinstance(node.func, gast.Attribute) and isinstance(
                facts.kind(node.func.value), Random
            ):
                continue
            case Call():
                pass
            case _:
                continue
        where = program.where(node)
        written = re.match(r"[\w.]+", where.text[where.column :])
        callee = written[0] if written else to_source(node.func).strip()
        raise UnsupportedSyntaxError(
            f"the call of `{callee}`, among changes of objects of outer scopes",
            where,
            "the function may read these objects, which is not followed there",
            "pass the objects as arguments",
        )


def outer_objects_first(program: Program) -> Program:
    """The program with all variables for objects of outer scopes at its beginning, one for each object."""
    first: dict[tuple[str, ...], Any] = {}

    def statement(s: Any) -> list[Any] | None:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call(func=func, args=[x, *_])) if (
                program.resolve(func) is outer_object
            ):
                path = tuple(dotted(x))
                if path not in first:
                    first[path] = assign(names.temporary(path[-1]), s.value, program.tree.body[0])
                return [assign(name, load(first[path].targets[0].id), s)]
        return None

    names = program.names.copy()
    tree = rewritten(program.tree, statement)
    if not first:
        return program
    return program.with_tree(rebuilt(tree, body=[*first.values(), *tree.body]), names=names)


def with_outer_objects(program: Program) -> Program:
    """The program, in normal form, with variables for the objects of outer scopes; itself without any."""
    names = program.names.copy()
    objects = Objects(program, names)
    own: dict[tuple[str, ...], tuple[str, list[Any]]] = {}

    def renamed(node: Any) -> Any:
        if not is_outer_object(node, program):
            return map_children(node, renamed)
        path = tuple(dotted(node))
        if path not in own:
            cls = type(program.resolve(node))
            known = [load(objects.name(cls))] if is_plain(cls) else []
            own[path] = names.temporary(path[-1]), [node, *known]
        return load(own[path][0])

    body = [renamed(s) for s in program.tree.body]
    if not own:
        return program
    mark, first = objects.name(outer_object), program.tree.body[0]
    start = [assign(new, call(mark, *given), first) for new, given in own.values()]
    origins = {**program.origins, **{new: ".".join(path) for path, (new, _) in own.items()}}
    tree = rebuilt(program.tree, body=[*start, *body])
    return program.with_tree(tree, names=names, bindings=objects.all_bindings(), origins=origins)
