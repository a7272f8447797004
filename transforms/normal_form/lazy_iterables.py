"""Lazy iterables as generator expressions.

`map`, `filter`, `zip`, `enumerate` and `reversed` are calls whose result is consumed once, item by item.
Where that happens in place, `generator_of` turns them into loops.

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> program = program_of("def f(xs, ys): return map(g, xs, ys)")
>>> objects = Objects(program, program.names)
>>> to_source(generator_of(objects, program.tree.body[0].value, lambda f: f))
'(g(xs_1, ys_1) for xs_1, ys_1 in zip(xs, ys))'
"""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable
from typing import Any

import gast

from ..trees.bind_objects import Objects
from ..trees.helpers import gives_items_lazily, refuse_iterator
from ..trees.nodes import call, load, located, store, tuple_of
from ..trees.program import MISSING, Program
from ..trees.rebuild import rebuilt
from .lazy_itertools import is_itertools, itertools_generator

__all__ = ["base_name", "check_is_made", "collected", "generator_of", "is_call", "is_lazy", "with_made"]

Node = Any  # gast publishes no types

MAPPING = ("map", "filter")
PAIRING = ("zip", "enumerate", "reversed")


def is_call(program: Program, node: Node, name: str) -> bool:
    """Whether the expression is a call of the builtin of that name."""
    return (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Name)
        and node.func.id == name
        and program.resolve(node.func) is getattr(builtins, name)
    )


def is_lazy(program: Program, node: Node, names: tuple[str, ...] = MAPPING + PAIRING) -> bool:
    """Whether the expression is a generator, or a call of one of these that can be written as one."""
    if isinstance(node, gast.GeneratorExp) or is_itertools(program, node):
        return True
    name = next((n for n in names if is_call(program, node, n)), None)
    if name is None or any(isinstance(a, gast.Starred) for a in node.args):
        return False
    count = len(node.args)
    keywords = [k.arg for k in node.keywords]
    match name:
        case "map":
            return count > 1 and not keywords
        case "filter":
            return count == 2 and not keywords
        case "reversed":
            return count == 1 and not keywords
        case "enumerate":
            return (count == 1 and keywords in ([], ["start"])) or (count == 2 and not keywords)
        case _:
            return count > 0 and keywords in ([], ["strict"])


def with_made(objects: Objects, source: Node, hold: Callable[[Node], Node], checks: list[Node]) -> Node:
    """An iterable whose items are read early: what it goes over is held, and `checks` gains for each part the
    check that reading its items runs no code, which kinds decide. A generator that may run code is refused.
    """
    program = objects.program
    match source:
        case gast.GeneratorExp():
            refuse_lazy(program, source)
        case gast.Starred(value=value):
            return rebuilt(source, value=hold(value))
        case gast.Call() if is_lazy(program, source):
            found = program.resolve(source.func)
            if found is map or found is filter:
                refuse_lazy(program, source)
            first, count = (1, 1) if found is itertools.takewhile else (0, len(source.args))
            count = 1 if found in (itertools.accumulate, itertools.islice, enumerate) else count
            args = list(source.args)
            for k in range(first, first + count):
                args[k] = with_made(objects, args[k], hold, checks)
            return rebuilt(source, args=args)
        case gast.Name() | gast.Call() | gast.Attribute() | gast.Subscript() | gast.IfExp():
            held = hold(source)
            checks += check_is_made(objects, held, source)
            return held
    return source


def check_is_made(objects: Objects, held: Node, like: Node) -> list[Node]:
    """The check that reading the items of something runs no code."""
    if objects.program.resolve(held) is not MISSING or not isinstance(held, gast.Name):
        return []
    refusal = located(gast.Expr(value=call(objects.name(refuse_iterator), held)), like)
    test = call(objects.name(gives_items_lazily), held)
    return [located(gast.If(test=test, body=[refusal], orelse=[]), like)]


def refuse_lazy(program: Program, source: Node) -> None:
    program.refuse(
        source,
        "items that are computed one by one, where they are read early, are not differentiated",
        "what computes them may read or change what the loop does",
        "make a list first: `list(...)`",
    )


def generator_of(objects: Objects, node: Node, hold: Callable[[Node], Node]) -> Node:
    """The generator expression that equals a lazy iterable.

    `hold(expression)` is a name or literal with the expression's value: a mapped function is evaluated once.
    """
    program, names = objects.program, objects.names
    if isinstance(node, gast.GeneratorExp):
        return node
    if is_itertools(program, node):
        return itertools_generator(objects, node, hold)
    args = node.args
    if is_call(program, node, "map"):
        function, sources = hold(args[0]), list(args[1:])
        items = [names.temporary(base_name(source)) for source in sources]
        elt = gast.Call(func=function, args=[load(n) for n in items], keywords=[])
        whole = (
            sources[0]
            if len(sources) == 1
            else gast.Call(func=load(objects.name(zip)), args=sources, keywords=[])
        )
        return generator(elt, target_of(items), whole)
    if is_call(program, node, "filter"):
        function, source = hold(args[0]), args[1]
        name = names.temporary(base_name(source))
        is_none = isinstance(function, gast.Constant) and function.value is None
        test = load(name) if is_none else gast.Call(func=function, args=[load(name)], keywords=[])
        return generator(load(name), store(name), source, [test])
    if is_call(program, node, "reversed"):
        name = names.temporary(base_name(args[0]))
        return generator(load(name), store(name), node)
    if is_call(program, node, "enumerate"):
        items = [names.temporary("k"), names.temporary(base_name(args[0]))]
    else:
        items = [names.temporary(base_name(source)) for source in args]
    return generator(
        tuple_of([load(n) for n in items]), tuple_of([store(n) for n in items], gast.Store()), node
    )


def target_of(items: list[str]) -> Node:
    return store(items[0]) if len(items) == 1 else tuple_of([store(n) for n in items], gast.Store())


def generator(elt: Node, target: Node, source: Node, tests: list[Node] | None = None) -> Node:
    loop = gast.comprehension(target=target, iter=source, ifs=tests or [], is_async=0)
    return gast.GeneratorExp(elt=elt, generators=[loop])


def collected(node: Node) -> Node:
    """The list comprehension of a generator expression."""
    return located(gast.ListComp(elt=node.elt, generators=node.generators), node)


def base_name(target: Node) -> str:
    """The first name in an expression, after which its temporaries are named."""
    return next((n.id for n in gast.walk(target) if isinstance(n, gast.Name)), "item")
