"""Comprehensions, and calls that consume a generator, as loops: part of `to_anf`, which keeps the order of
evaluation.

- `[e for x in xs if t]` appends to a new list, a set comprehension adds to a set, a dict comprehension stores
  items.
- A call such as `sum(e for x in xs)` is passed the list of the items; `any` and `all` stop at the first item
  that decides, and `reduce` becomes a loop.
- `map`, `filter`, `zip`, `enumerate` and `reversed` in their place are generators.

Contract: `rewritten` returns an equivalent expression or None; `collect` and `consume` write statements that
assign an expression's value to a name, and return that name.
"""

from __future__ import annotations

import functools
import keyword
import math
from collections import OrderedDict, defaultdict, deque
from types import FunctionType
from typing import Any

import gast

from ..trees.generators import KEEPERS, METHODS, READERS, makes_generator
from ..trees.helpers import order_of, place_of_max, place_of_min
from ..trees.nodes import (
    assign,
    attribute,
    call,
    constant,
    is_atom,
    load,
    located,
    names_read,
    param,
    store,
    walk,
)
from ..trees.program import MISSING, Program
from ..trees.rebuild import parameters, rebuilt
from .lazy_iterables import base_name, check_is_made, collected, generator_of, is_call, is_lazy
from .lazy_itertools import is_endless, is_itertools
from .statement_writer import StatementWriter

__all__ = [
    "collect",
    "consume",
    "consumes",
    "is_iterator",
    "kept_generator",
    "listed",
    "named_generator",
    "reads_iterables",
    "refuse_kept_generator",
    "rewritten",
]

Node = Any  # gast publishes no types

TAKERS = (*KEEPERS, *READERS, deque, OrderedDict)
SUM_OF_PRODUCTS = getattr(math, "sumprod", ())  # from Python 3.12 on
DISPLAYS = (gast.List, gast.ListComp)


def listed(w: StatementWriter, node: Node) -> Node:
    """The expression; a lazy iterable as a list comprehension."""
    if not is_lazy(w.program, node):
        return node
    return collected(generator_of(w.objects, node, w.held))


def rewritten(w: StatementWriter, node: Node) -> Node | None:
    """A call with a list or comprehension for the generator that it consumes; None when it consumes none."""
    if any(isinstance(a, gast.Starred) for a in node.args):
        return None
    if w.program.resolve(node.func) is getattr:
        return attribute_of(w, node)
    if node.keywords and len(node.args) < 2:
        made = w.program.resolve(node.func)
        if made is dict:
            return dict_of_keywords(node)
        if made is OrderedDict:
            return located(gast.Call(func=node.func, args=[dict_of_keywords(node)], keywords=[]), node)
    if not node.args:
        return None if node.keywords else empty_display(w.program.resolve(node.func))
    if (
        isinstance(node.func, gast.Attribute)
        and node.func.attr in METHODS
        and w.program.resolve(node.func) is MISSING
    ):
        return with_first(node, listed(w, node.args[0])) if is_lazy(w.program, node.args[0]) else None
    found = w.program.resolve(node.func)
    if found is SUM_OF_PRODUCTS and any(is_lazy(w.program, a) for a in node.args):
        return rebuilt(node, args=[listed(w, a) for a in node.args])
    if w.program.library.takes_items(found):
        is_list = isinstance(node.args[0], DISPLAYS) or is_call(w.program, node.args[0], "list")
        is_whole = not any(is_endless(w.program, n) for n in walk(node.args[0]))
        return with_first(node, rewritten_list(w, node.args[0])) if is_whole and not is_list else None
    if found is defaultdict and len(node.args) > 1 and is_lazy(w.program, node.args[1]):
        return rebuilt(node, args=[node.args[0], listed(w, node.args[1])])
    if not any(found is f for f in TAKERS) or not is_lazy(w.program, node.args[0]):
        return None
    items = listed(w, node.args[0])
    if len(node.args) == 1 and not node.keywords:
        if found is list:
            return items
        if found is set:
            return gast.SetComp(elt=items.elt, generators=items.generators)
        if found is dict and isinstance(items.elt, gast.Tuple) and len(items.elt.elts) == 2:
            key, value = items.elt.elts
            if not any(isinstance(e, gast.Starred) for e in (key, value)):
                return gast.DictComp(key=key, value=value, generators=items.generators)
    return with_first(node, items)


def attribute_of(w: StatementWriter, node: Node) -> Node | None:
    """`getattr(x, "a")` as `x.a`, and `getattr(x, "a", b)` as `x.a if hasattr(x, "a") else b`; None for a
    name that is no literal.
    """
    match node:
        case gast.Call(args=[owner, gast.Constant(value=str(name)), *default], keywords=[]):
            if not name.isidentifier() or keyword.iskeyword(name) or len(default) > 1:
                return None
            if not default:
                return located(attribute(owner, name), node)
            owner, other = w.atoms([owner, *default])
            test = call(w.objects.name(hasattr), owner, constant(name))
            return located(gast.IfExp(test=test, body=attribute(owner, name), orelse=other), node)
    return None


def dict_of_keywords(node: Node) -> Node:
    """`dict(x, k=v)` as `{**x, "k": v}`."""
    keys = [None] * len(node.args) + [k.arg and constant(k.arg) for k in node.keywords]
    first = [located(gast.Call(func=node.func, args=node.args, keywords=[]), node)] * len(node.args)
    return located(gast.Dict(keys=keys, values=[*first, *(k.value for k in node.keywords)]), node)


def empty_display(function: Any) -> Node | None:
    """`list()` as `[]`, and so on; None for functions that no empty display replaces."""
    if function is list:
        return gast.List(elts=[], ctx=gast.Load())
    if function is tuple:
        return gast.Tuple(elts=[], ctx=gast.Load())
    return gast.Dict(keys=[], values=[]) if function is dict else None


def with_first(node: Node, first: Node) -> Node:
    return rebuilt(node, args=[first, *node.args[1:]])


# ---------------------------------------------------------------- comprehensions


def collect(w: StatementWriter, name: str | None, node: Node) -> str:
    """Assigns a comprehension's value to the name, or to a temporary; returns the name."""
    target = own_name(w, name, node)
    match node:
        case gast.ListComp():
            empty: Node = gast.List(elts=[], ctx=gast.Load())
            body = added(w, target, "append", node.elt)
        case gast.SetComp():
            empty = call(w.objects.name(set))
            body = added(w, target, "add", node.elt)
        case _:
            empty = gast.Dict(keys=[], values=[])
            body = []
            key = node.key
            if not is_atom(key):  # a store would evaluate it after the value
                key = load(w.names.temporary("key"))
                body.append(assign(key.id, node.key))
            place = gast.Subscript(value=load(target), slice=key, ctx=gast.Store())
            body.append(gast.Assign(targets=[place], value=node.value, type_comment=None))
    w.run([assign(target, empty), *loops(node.generators, body)])
    return settle(w, name, target)


def added(w: StatementWriter, target: str, method: str, item: Node) -> list[Node]:
    """Statements that add an item to the container of a name; temporaries are named after it."""
    if is_atom(item):
        return [gast.Expr(value=call(attribute(load(target), method), item))]
    name = w.names.temporary(target)
    return [assign(name, item), gast.Expr(value=call(attribute(load(target), method), load(name)))]


def own_name(w: StatementWriter, name: str | None, node: Node) -> str:
    """The name itself, if it may be assigned before the expression is evaluated; else a temporary."""
    if name is None or name in names_read(node) or name in w.captured:
        return w.names.temporary(name or w.base)
    return name


def settle(w: StatementWriter, name: str | None, target: str) -> str:
    if name is not None and target != name:
        w.assign(name, load(target))
    return name or target


def loops(generators: list[Node], body: list[Node], after: list[Node] | None = None) -> list[Node]:
    """The loops of a comprehension around a body; `after` ends the body of each loop."""
    for g in reversed(generators):
        for test in reversed(g.ifs):
            body = [gast.If(test=test, body=body, orelse=[])]
        body = [
            gast.For(target=g.target, iter=g.iter, body=[*body, *(after or [])], orelse=[], type_comment=None)
        ]
    return body


# ---------------------------------------------------------------- calls that are loops


def consumes(w: StatementWriter, node: Node) -> bool:
    """Whether `consume` writes the call as statements."""
    if not isinstance(node, gast.Call) or any(isinstance(a, gast.Starred) for a in node.args):
        return False
    found = w.program.resolve(node.func)
    keywords = {k.arg for k in node.keywords}
    if found is max or found is min:
        return bool(keywords) and bool(node.args) and keywords <= {"key", "default"}
    if found is sorted:
        keys = [k.value for k in node.keywords if k.arg == "key" and not isinstance(k.value, gast.Constant)]
        return len(node.args) == 1 and bool(keys) and keywords <= {"key", "reverse"}
    if found is any or found is all:
        return len(node.args) == 1 and not keywords and is_lazy(w.program, node.args[0], ("map", "filter"))
    if found is next:
        lazy = bool(node.args) and (is_lazy(w.program, node.args[0]) or begun(w, node.args[0]) is not None)
        return lazy and len(node.args) <= 2 and not keywords
    return found is functools.reduce and len(node.args) in (2, 3) and not keywords


def consume(w: StatementWriter, name: str | None, node: Node) -> str:
    """Assigns the value of a call for which `consumes` is true to the name, or to a temporary; returns the
    name.
    """
    found = w.program.resolve(node.func)
    if found is functools.reduce:
        return reduce(w, name, node)
    if found is max or found is min:
        return extremum(w, name, node)
    if found is sorted:
        return in_order(w, name, node)
    if found is next:
        return first(w, name, node)
    items = generator_of(w.objects, node.args[0], w.held)
    is_any = found is any
    flag = own_name(w, name, node) if is_any else w.names.temporary("failed")
    test = items.elt if is_any else gast.UnaryOp(op=gast.Not(), operand=items.elt)
    body = [gast.If(test=test, body=[assign(flag, constant(True))], orelse=[])]
    leave = gast.If(test=load(flag), body=[gast.Break()], orelse=[])
    w.assign(flag, constant(False))
    w.run(loops(items.generators, body, [leave]))
    if is_any:
        return settle(w, name, flag)
    name = name or w.names.temporary(w.base)
    w.assign(name, gast.UnaryOp(op=gast.Not(), operand=load(flag)))
    return name


def begun(w: StatementWriter, node: Node) -> Node | None:
    """The iterable of `iter(iterable)`."""
    is_one = is_call(w.program, node, "iter") and len(node.args) == 1 and not node.keywords
    return node.args[0] if is_one else None


def first(w: StatementWriter, name: str | None, node: Node) -> str:
    """`next` of a generator, or of an iterator expression: no item after the first is computed."""
    iterable = begun(w, node.args[0])
    if iterable is not None and not is_lazy(w.program, iterable):
        if isinstance(iterable, gast.Call) and makes_generator(w.program, iterable):
            return w.into(name, rebuilt(node, args=[iterable, *node.args[1:]]))
        held = w.held(iterable) if isinstance(iterable, (gast.Name, gast.Call, gast.Attribute)) else iterable
        w.run(check_is_made(w.objects, held, w.like))
        iterable = held
        items, *default = w.atoms([rewritten_list(w, iterable), *node.args[1:]])
        item: Node = gast.Subscript(value=items, slice=constant(0), ctx=gast.Load())
        if default:
            return w.into(name, gast.IfExp(test=items, body=item, orelse=default[0]))
        w.run([unless(items, no_item(w))])
        return w.into(name, item)
    default = w.atoms(node.args[1:])
    target, found = own_name(w, name, node), w.names.temporary("found")
    items = generator_of(w.objects, node.args[0] if iterable is None else iterable, w.held)
    body = [assign(target, items.elt), assign(found, constant(True))]
    leave = gast.If(test=load(found), body=[gast.Break()], orelse=[])
    w.assign(found, constant(False))
    if default:
        w.assign(target, default[0])
    w.run(loops(items.generators, body, [leave]))
    if not default:
        w.run([unless(load(found), no_item(w))])
    return settle(w, name, target)


def no_item(w: StatementWriter) -> Node:
    return gast.Raise(exc=call(w.objects.name(StopIteration)), cause=None)


def unless(test: Node, statement: Node) -> Node:
    """`if not test: statement`."""
    return gast.If(test=gast.UnaryOp(op=gast.Not(), operand=test), body=[statement], orelse=[])


def extremum(w: StatementWriter, name: str | None, node: Node) -> str:
    """`max` or `min` with a key or a default: the item at the position of the largest key."""
    single = len(node.args) == 1
    given = rewritten_list(w, node.args[0]) if single else gast.List(elts=node.args, ctx=gast.Load())
    items, options = with_options(w, given, node)
    key = options.get("key")
    if key is None or (isinstance(key, gast.Constant) and key.value is None):
        found = located(gast.Call(func=node.func, args=[items], keywords=[]), node)
    else:
        place = w.objects.name(place_of_max if w.program.resolve(node.func) is max else place_of_min)
        keys = keys_of(w, items, key)
        found = gast.Subscript(value=items, slice=located(call(place, keys), node), ctx=gast.Load())
    if "default" in options:
        found = gast.IfExp(test=items, body=found, orelse=options["default"])
    return w.into(name, found)


def in_order(w: StatementWriter, name: str | None, node: Node) -> str:
    """`sorted` with a key: the items in the order of their keys, each computed once."""
    items, options = with_options(w, rewritten_list(w, node.args[0]), node)
    reverse = [options["reverse"]] if "reverse" in options else []
    order = call(w.objects.name(order_of), keys_of(w, items, options["key"]), *reverse)
    place = w.names.temporary("place")
    loop = gast.comprehension(target=store(place), iter=located(order, node), ifs=[], is_async=0)
    item = gast.Subscript(value=items, slice=load(place), ctx=gast.Load())
    return w.into(name, gast.ListComp(elt=item, generators=[loop]))


def with_options(w: StatementWriter, items: Node, node: Node) -> tuple[Node, dict[str, Node]]:
    """Atoms for some items and for a call's keywords; a lookup of a method stays."""
    looked = {k.arg: k.value for k in node.keywords if k.arg == "key" and is_look_up(w, k.value)}
    others = {k.arg: k.value for k in node.keywords if k.arg not in looked}
    found, *atoms = w.atoms([items, *others.values()])
    return found, looked | dict(zip(others, atoms, strict=True))


def is_look_up(w: StatementWriter, key: Node) -> bool:
    if not isinstance(key, gast.Attribute) or key.attr not in ("get", "__getitem__"):
        return False
    return isinstance(key.value, gast.Name) and w.program.resolve(key) is MISSING


def keys_of(w: StatementWriter, items: Node, key: Node) -> Node:
    """The list of the keys of the items; `key` may be None."""
    item = w.names.temporary(items.id)
    value: Node = gast.Call(func=key, args=[load(item)], keywords=[])
    if isinstance(key, gast.Attribute) and key.attr == "__getitem__":
        value = gast.Subscript(value=key.value, slice=load(item), ctx=gast.Load())
    elif isinstance(key, gast.Attribute):
        pass
    elif w.program.resolve(key) is MISSING and key.id in {p.id for p in parameters(w.program.tree)}:
        is_none = gast.Compare(left=key, ops=[gast.Is()], comparators=[constant(None)])
        value = gast.IfExp(test=is_none, body=load(item), orelse=value)
    loop = gast.comprehension(target=store(item), iter=items, ifs=[], is_async=0)
    return gast.ListComp(elt=value, generators=[loop])


def reduce(w: StatementWriter, name: str | None, node: Node) -> str:
    """`functools.reduce(function, items[, start])`."""
    function = w.held(node.args[0])
    target = own_name(w, name, node)
    item = w.names.temporary(base_name(node.args[1]))
    step = assign(target, gast.Call(func=function, args=[load(target), load(item)], keywords=[]))
    if len(node.args) == 3:
        items, start = w.atoms([listed(w, node.args[1]), node.args[2]])
        w.assign(target, start)
    else:
        items = w.atom(rewritten_list(w, node.args[1]))
        message = "reduce() of empty iterable with no initial value"
        fail = gast.Raise(exc=call(w.objects.name(TypeError), constant(message)), cause=None)
        w.run([unless(items, fail)])
        w.assign(target, gast.Subscript(value=items, slice=constant(0), ctx=gast.Load()))
        rest = gast.Slice(lower=constant(1), upper=None, step=None)
        items = gast.Subscript(value=items, slice=rest, ctx=gast.Load())
    w.run([gast.For(target=store(item), iter=items, body=[step], orelse=[], type_comment=None)])
    return settle(w, name, target)


def rewritten_list(w: StatementWriter, node: Node) -> Node:
    """The list of the items of any iterable."""
    if is_lazy(w.program, node):
        return listed(w, node)
    return node if isinstance(node, DISPLAYS) else located(call(w.objects.name(list), node), node)


def refuse_kept_generator(w: StatementWriter, node: Node) -> None:
    """Raises UnsupportedSyntaxError for a generator that is not consumed in its place."""
    w.program.refuse(
        node,
        "a generator expression that is stored or passed on is not differentiated",
        "when its items are computed is known at run time only",
        "make it a list: `[...]` in place of `(...)`",
    )


def named_generator(w: StatementWriter, node: Node) -> Node:
    """A generator expression with a name, as the call of a nested generator function. What a lazy iterable in
    it reads may change before it is consumed: that is refused.
    """
    if is_lazy(w.program, node.generators[0].iter):
        refuse_kept_generator(w, node)
    return kept_generator(w, node)


def is_iterator(program: Program, node: Node) -> bool:
    """Whether an expression is a generator expression, or a call of a builtin that can be written as one."""
    is_written = is_lazy(program, node) and not is_itertools(program, node)
    return is_written and not is_call(program, node, "reversed")  # it has the length of now


def reads_iterables(function: Any) -> bool:
    """Whether a called object, or MISSING, may be written in Python, and so be put in place of the call."""
    inner = getattr(function, "__init__" if isinstance(function, type) else "__func__", function)
    return function is MISSING or isinstance(inner, FunctionType)


def kept_generator(w: StatementWriter, node: Node) -> Node:
    """A generator expression that a function gets, as the call of a nested generator function."""
    first, *others = node.generators
    given: dict[str, Node] = {}

    def taken(source: Node) -> Node:
        """The iterable, with parameters for what is evaluated when it is made."""
        match source:
            case gast.Constant():
                return source
            case gast.Starred(value=value):
                return rebuilt(source, value=taken(value))
            case gast.GeneratorExp(generators=[inner, *rest]):
                return rebuilt(source, generators=[rebuilt(inner, iter=taken(inner.iter)), *rest])
            case gast.Call() if is_call(w.program, source, "reversed"):
                return refuse_kept_generator(w, node)
            case gast.Call() if is_lazy(w.program, source) or is_call(w.program, source, "range"):
                keywords = [rebuilt(k, value=taken(k.value)) for k in source.keywords]
                return rebuilt(source, args=list(map(taken, source.args)), keywords=keywords)
            case _ if callable(w.program.resolve(source)):
                return source
        name = w.names.temporary("source")
        given[name] = w.atom(source)
        return load(name)

    loop = rebuilt(first, iter=taken(first.iter))
    name = w.names.temporary("items")
    body = loops([loop, *others], [gast.Expr(value=gast.Yield(value=node.elt))])
    made = gast.FunctionDef(
        name=name,
        args=gast.arguments(
            args=[*map(param, given)],
            posonlyargs=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[],
        ),
        body=[*body, gast.Return(value=constant(None))],
        decorator_list=[],
        returns=None,
        type_comment=None,
        type_params=[],
    )  # fmt: skip
    w.run([made])
    return located(call(name, *given.values()), node)
