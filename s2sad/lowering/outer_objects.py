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
from collections.abc import Callable
from types import CellType, FunctionType, ModuleType
from typing import Any

import gast

from ..analysis.heap_facts import ON_HEAP
from ..analysis.open_calls import may_run_users_code
from ..kinds.class_members import FIXED
from ..kinds.memory import Memory
from ..runtime.object_graph import outer_object
from ..transforms.analyses.facts import Facts
from ..transforms.errors import UnsupportedSyntaxError
from ..transforms.normal_form.desugar_globals import key_of
from ..transforms.trees.bind_objects import Objects
from ..transforms.trees.helpers import merged
from ..transforms.trees.nodes import assign, call, dotted, find_nodes, load, statements_in
from ..transforms.trees.printer import to_source
from ..transforms.trees.program import EMPTY, MISSING, Program
from ..transforms.trees.rebuild import map_children, rebuilt, rewritten
from ..values.objects import is_plain, lookup

__all__ = [
    "changes_outer_objects",
    "outer_objects_first",
    "reads_outer_objects",
    "refuse_open_calls",
    "with_outer_objects",
]

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
    """Whether a function is a run-time helper that generated code calls."""
    module = str(getattr(function, "__module__", None))
    return module == merged.__module__ or module.startswith(outer_object.__module__.rpartition(".")[0])


def refuse_open_calls(
    facts: Facts, memory: Memory | None, normal_form: Callable[[FunctionType], Program]
) -> None:
    """Refuses calls of functions that are not put in their place, in a program with a heap: they may read
    objects of outer scopes. Where a function has no `normal_form`, the error is the one that says why.
    """
    program = facts.program
    raised = [n for s in find_nodes(program.tree, gast.Raise) for n in find_nodes(s, gast.Call)]
    for node in find_nodes(program.tree, gast.Call):
        if any(node is n for n in raised):
            continue
        function = program.resolve(node.func)
        if function in EMPTY or is_helper(function) or function in ON_HEAP or type(function) is CellType:
            continue
        if may_run_users_code(facts, node, memory):
            called = lookup(function, "__init__") if isinstance(function, type) else function
            if isinstance(called, FunctionType):
                normal_form(called)
            callee = written_name(program, function, node)
            raise UnsupportedSyntaxError(
                f"the call of `{callee}`, among changes of objects of outer scopes",
                program.where(node),
                "the function may read these objects, which is not followed there",
                "pass the objects as arguments",
            )


def written_name(program: Program, function: Any, call: Any) -> str:
    """The name of a function that is called; of a dynamic one that which the call has for it."""
    where = program.where(call)
    written = re.match(r"[\w.]+(?=\()", where.text[where.column :])
    if function is MISSING:
        return written[0] if written else to_source(call.func).strip()
    return str(getattr(function, "__name__", None) or to_source(call.func).strip())


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
