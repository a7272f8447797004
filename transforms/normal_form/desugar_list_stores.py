"""Changes of lists by position or as a whole, as new lists, where the list has no alias.

    v = items.pop(0)        v = items[0]
                      ->    items = [*items[:0], *items[1:]]
"""

from __future__ import annotations

import builtins
from typing import Any

import gast

from ..trees.bind_objects import Objects
from ..trees.nodes import assign, attribute, blocks_of, call, constant, load, names_read, store, walk
from ..trees.program import Program

__all__ = ["CHANGES", "changed_list", "made_anew", "named_once"]

Node = Any  # gast publishes no types
CHANGES = frozenset({"insert", "pop", "clear", "reverse", "sort"})
READERS = frozenset(
    {"all", "any", "enumerate", "len", "list", "max", "min", "reversed", "sorted", "sum", "tuple", "zip"}
)


def named_once(program: Program, names: set[str]) -> set[str]:
    """Those of the names whose lists have no alias, and are not changed in a loop over them or in a `try`."""
    held: set[str] = set()

    def visit(node: Node) -> None:
        match node:
            case gast.Name(id=name, ctx=gast.Load()):
                held.add(name)
                return
            case gast.Subscript(value=gast.Name()) | gast.Attribute(value=gast.Name()):
                parts = [node.slice] if isinstance(node, gast.Subscript) else []
            case gast.Call(func=gast.Name(id=function), args=args) if function in READERS and (
                program.resolve(node.func) is getattr(builtins, function)
            ):
                parts = [a for a in args if not isinstance(a, gast.Name)] + [k.value for k in node.keywords]
            case gast.For(iter=gast.Name()) | gast.comprehension(iter=gast.Name()):
                parts = [n for n in gast.iter_child_nodes(node) if n is not node.iter]
            case gast.Return(value=gast.Name()):
                parts = []
            case gast.If(test=gast.Name()) | gast.While(test=gast.Name()):
                parts = [s for block in blocks_of(node) for s in block]
            case _:
                parts = list(gast.iter_child_nodes(node))
        for part in parts:
            visit(part)

    for s in program.tree.body:
        visit(s)
    for loop in walk(program.tree):
        if isinstance(loop, gast.For):
            held |= {n for n in names_read(loop.iter) if any(_changes(s, n) for s in walk(loop))}
        elif isinstance(loop, gast.Try):  # a handler would see how far it got
            held |= {n for n in names if any(_changes(s, n) for s in walk(loop))}
    return names - held


def _changes(node: Node, name: str) -> bool:
    match node:
        case gast.Call(func=gast.Attribute(value=gast.Name(id=base))):
            return bool(base == name)
        case gast.Subscript(value=gast.Name(id=base), ctx=gast.Del()):
            return bool(base == name)
    return False


def made_anew(program: Program) -> set[str]:
    """The names of lists with a change that makes a new list."""
    found: set[str] = set()
    for n in walk(program.tree):
        match n:
            case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=attr), args=args) if (
                attr in CHANGES and (attr != "pop" or args)
            ):
                found.add(name)
            case gast.Subscript(value=gast.Name(id=name), ctx=gast.Del()):
                found.add(name)
    return found


def changed_list(objects: Objects, s: Node, name: str, new: bool) -> list[Node] | None:
    """The statements that replace a method call on the list `name`; None for a call that stays.

    With `new` every change makes a new list.
    """
    node, target = s.value, getattr(s, "targets", [None])[0]
    method, args = node.func.attr, node.args
    if any(isinstance(a, gast.Starred) for a in args) or (node.keywords and method != "sort"):
        return None
    if method == "pop" and len(args) == 1:
        place = load(objects.names.temporary("place"))
        item = store(objects.names.temporary(name)) if target is None else target
        after = gast.BinOp(left=place, op=gast.Add(), right=constant(1))
        kept = _display(_rest(name, upper=place), _rest(name, lower=after))
        first = [assign(place.id, args[0]), assign(item, _item(name, place))]
        return [*first, *_from_the_front(objects, place, args[0], name), assign(name, kept)]
    if method == "pop" and not args and new:
        last = constant(-1)
        item = store(objects.names.temporary(name)) if target is None else target
        return [assign(item, _item(name, last)), assign(name, _display(_rest(name, upper=last)))]
    if method == "pop" and not args and target is None:
        return [assign(objects.names.temporary(name), call(attribute(load(name), "pop")))]
    if target is not None:
        return None
    if method == "insert" and len(args) == 2:
        value = objects.names.temporary(name)
        if isinstance(args[0], gast.Constant) and args[0].value == 0:
            whole = gast.Starred(value=load(name), ctx=gast.Load())
            return [assign(value, args[1]), assign(name, _display(load(value), whole))]
        place = objects.names.temporary("place")
        kept = _display(_rest(name, upper=load(place)), load(value), _rest(name, lower=load(place)))
        return [assign(place, args[0]), assign(value, args[1]), assign(name, kept)]
    if method == "clear" and not args:
        return [assign(name, _display())]
    if method == "reverse" and not args:
        backwards = gast.Slice(lower=None, upper=None, step=constant(-1))
        return [assign(name, _item(name, backwards))]
    if method == "sort" and not args:
        ordered = load(objects.name(sorted))
        return [assign(name, gast.Call(func=ordered, args=[load(name)], keywords=node.keywords))]
    return None


def _from_the_front(objects: Objects, place: Node, index: Node, name: str) -> list[Node]:
    """The statements that turn the position of an item into one from the front."""
    if isinstance(index, gast.Constant):  # it is never negative
        return []
    negative = gast.Compare(left=place, ops=[gast.Lt()], comparators=[constant(0)])
    moved = gast.BinOp(left=place, op=gast.Add(), right=call(objects.name(len), load(name)))
    return [gast.If(test=negative, body=[assign(place.id, moved)], orelse=[])]


def _display(*items: Node) -> Node:
    return gast.List(elts=list(items), ctx=gast.Load())


def _rest(name: str, lower: Node = None, upper: Node = None) -> Node:
    return gast.Starred(value=_item(name, gast.Slice(lower=lower, upper=upper, step=None)), ctx=gast.Load())


def _item(name: str, place: Node) -> Node:
    return gast.Subscript(value=load(name), slice=place, ctx=gast.Load())
