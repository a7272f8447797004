"""Methods that are looked up by a text, as a chain of tests by name.

    action = getattr(account, side)     if side == "buy":
    action(x)                               action = account.buy
                                        elif side == "sell":
                                            action = account.sell
                                        else:
                                            raise unnamed_method(account, side)
                                        action(x)

Form in and out: the normal form. The methods are those that texts of the program and of its module name; any
other one is refused when it is looked up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from itertools import chain, islice
from types import CodeType, FunctionType
from typing import Any

import gast

from ..kinds.class_members import member_of
from ..kinds.lattice import Instance, Kind, Literal, Record
from ..runtime.object_graph import unnamed_method
from ..transforms.analyses.facts import Facts
from ..transforms.trees.bind_objects import Objects
from ..transforms.trees.nodes import assign, attribute, call, constant, find_nodes, load, located, read_counts
from ..transforms.trees.program import MISSING, Program
from ..transforms.trees.rebuild import rewritten
from ..values.objects import is_plain

__all__ = ["looked_up", "name_methods", "names_called_only"]

DEPTH, LENGTH = 4, 1000  # of containers of the module whose texts are looked at


def name_methods(facts: Facts) -> Program:
    """The program with such a chain for each look-up of a method, of an object of a known class, that is only
    called; the program itself without any.
    """
    program = facts.program
    if not any(program.resolve(c.func) is getattr for c in find_nodes(program.tree, gast.Call)):
        return program
    names = program.names.copy()
    objects = Objects(program, names)
    only_called = names_called_only(program)
    texts: set[str] = set()

    def statement(s: Any) -> list[Any] | None:
        x, key = looked_up(s, program, only_called) or (None, None)
        kind = facts.kind(x)
        if x is None or not isinstance(kind, (Record, Instance)) or not is_plain(kind.cls):
            return None
        told = facts.kind(key)
        if isinstance(told, Literal) and isinstance(told.value, str):
            known = methods_of(kind, {told.value})
            return [assign(s.targets[0].id, attribute(x, told.value), s)] if told.value in known else None
        texts.update(texts or texts_of(program))
        found = methods_of(kind, texts)
        return tests(s, x, key, found) if found else None

    def tests(s: Any, x: Any, key: Any, methods: list[str]) -> list[Any]:
        if not methods:
            return [located(gast.Raise(exc=call(objects.name(unnamed_method), x, key), cause=None), s)]
        test = names.temporary("is_named")
        is_one = located(gast.Compare(left=key, ops=[gast.Eq()], comparators=[constant(methods[0])]), s)
        body = [assign(s.targets[0].id, attribute(x, methods[0]), s)]
        branch = gast.If(test=load(test), body=body, orelse=tests(s, x, key, methods[1:]))
        return [assign(test, is_one, s), located(branch, s)]

    tree = rewritten(program.tree, statement)
    if tree is program.tree:
        return program
    return program.with_tree(tree, bindings=objects.all_bindings(), names=names)


def names_called_only(program: Program) -> set[str]:
    """The names that are read as functions of calls alone."""
    called = Counter(getattr(c.func, "id", "") for c in find_nodes(program.tree, gast.Call))
    return {name for name, count in read_counts(program.tree).items() if count == called[name]}


def looked_up(s: Any, program: Program, only_called: Container[str]) -> tuple[Any, Any] | None:
    """The object and the text of a statement that looks up what is only called; None for others."""
    match s:
        case gast.Assign(
            targets=[gast.Name(id=target)],
            value=gast.Call(func=func, args=[gast.Name() as x, gast.Name() | gast.Constant() as key]),
        ) if program.resolve(func) is getattr and target in only_called and not s.value.keywords:
            return x, key
    return None


def methods_of(kind: Record | Instance, texts: set[str]) -> list[str]:
    """The methods of an object that texts name, each as a whole or in two parts."""

    def is_named(name: str) -> bool:
        return name in texts or any(name[:k] in texts and name[k:] in texts for k in range(1, len(name)))

    names = sorted({n for c in kind.cls.__mro__ for n in vars(c) if not n.startswith("__")})
    return [n for n in names if is_method(kind, n) and is_named(n)]


def is_method(kind: Kind, name: str) -> bool:
    member = member_of(kind, name)
    return member is not None and member.role in ("method", "static")


def texts_of(program: Program) -> set[str]:
    """The texts in a program, in functions and classes of its module, and in what the module holds; what
    Python keeps of the module itself, as its loader, aside.
    """
    constants = (n.value for n in find_nodes(program.tree, gast.Constant))
    found = {value for value in constants if isinstance(value, str)}
    names = {n.id for n in find_nodes(program.tree, gast.Name)}
    held = [program.resolve(load(n)) for n in names if n not in program.locals]
    own = [v for n, v in program.scope.globals.items() if not (n.startswith("__") and n.endswith("__"))]
    for value in [*own, *held]:
        if value is not MISSING:
            found.update(texts_in(value, DEPTH))
    return found


def texts_in(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, FunctionType):
        yield from texts_of_code(value.__code__)
    elif isinstance(value, type) and is_plain(value):
        for member in vars(value).values():
            function = getattr(member, "__func__", member)
            if isinstance(function, FunctionType):
                yield from texts_of_code(function.__code__)
    elif depth and isinstance(value, (list, tuple, set, frozenset)):
        for item in islice(value, LENGTH):
            yield from texts_in(item, depth - 1)
    elif depth and isinstance(value, dict):
        for item in islice(chain.from_iterable(value.items()), LENGTH):
            yield from texts_in(item, depth - 1)
    elif depth and is_plain(type(value)):
        yield from texts_in(list(getattr(value, "__dict__", {}).values()), depth)


def texts_of_code(code: CodeType) -> Iterator[str]:
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from texts_of_code(value)
        else:
            yield from texts_in(value, DEPTH)
