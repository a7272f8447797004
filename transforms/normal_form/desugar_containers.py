"""Methods that add several items to a list or dict, as statements that add one each.

Form in: a function with resolved names. Form out: `items.extend(xs)` and `items += xs` are loops of
`items.append(x)`, `d.update(...)` stores of items, and `x = d.setdefault(k, v)` a branch, where the function
made the list or dict and it has no alias.

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> print(to_source(desugar_containers(program_of('''
... def f(x, y):
...     items = [x]
...     items.extend([y, x])
...     d = {}
...     d.update(a=x)
...     return items, d
... ''')).tree), end="")
def f(x, y):
    items = [x]
    items.append(y)
    items.append(x)
    d = {}
    d["a"] = x
    return items, d
"""

from __future__ import annotations

import operator
from typing import Any

import gast

from ..trees.bind_objects import Objects
from ..trees.nodes import (
    assign,
    attribute,
    call,
    constant,
    find_nodes,
    is_atom,
    load,
    located,
    names_read,
    store,
    tuple_of,
    walk,
)
from ..trees.program import Program
from ..trees.rebuild import Rewriter, parameters
from .desugar_list_stores import CHANGES, changed_list, made_anew, named_once
from .desugar_stars import has_star
from .expand_item_updates import index_value

__all__ = ["desugar_containers"]

Node = Any  # gast publishes no types

LISTS = (gast.List, gast.ListComp)
DICTS = (gast.Dict, gast.DictComp)
FEW = 8  # items of a display that are appended one by one


def desugar_containers(program: Program) -> Program:
    """The program whose own lists and dicts are changed by one item at a time."""
    methods = {n.attr for n in find_nodes(program.tree, gast.Attribute)}
    if not methods & {"extend", "update", "setdefault", *CHANGES} and not any(
        isinstance(n, (gast.AugAssign, gast.Delete)) for n in walk(program.tree)
    ):
        return program
    writer = _Writer(program)
    tree = writer.function(program.tree)
    return program.with_tree(
        tree,
        names=writer.objects.names,
        bindings=writer.objects.all_bindings(),
    )


class _Writer(Rewriter):
    nested = True

    def __init__(self, program: Program) -> None:
        self.objects = Objects(program, program.names.copy())
        self.program = program
        given = {p.id for p in parameters(program.tree)}
        self.lists = _made(program, LISTS, list) - given
        self.own = named_once(program, self.lists)
        self.made_anew = made_anew(program)
        self.dicts = _made(program, DICTS, dict) - given

    def statement(self, s: Node) -> list[Node]:
        return [located(new, s) for new in self.written(s)]

    def written(self, s: Node) -> list[Node]:
        """The statements that replace a statement."""
        match s:
            case gast.Delete(targets=targets):
                return [new for t in targets for new in self.deleted(t)]
            case gast.Expr(
                value=gast.Call(
                    func=gast.Attribute(value=gast.Name(id=name), attr="extend"), args=[items], keywords=[]
                )
            ) if name in self.lists and not isinstance(items, gast.Starred):
                return self.extended(name, items)
            case gast.AugAssign(target=gast.Name(id=name), op=gast.Add(), value=items) if name in self.lists:
                return self.extended(name, items)
            case gast.Expr(
                value=gast.Call(
                    func=gast.Attribute(value=gast.Name(id=name), attr="update"), args=args, keywords=named
                )
            ) if name in self.dicts and self.are_dicts(args) and all(k.arg for k in named):
                return self.updated(name, args, named)
            case gast.Assign(
                targets=[gast.Name() as target],
                value=gast.Call(
                    func=gast.Attribute(value=gast.Name(id=name), attr="setdefault"),
                    args=[key, value],
                    keywords=[],
                ),
            ) if name in self.dicts and is_atom(key):
                return self.defaulted(target, name, key, value)
            case (
                gast.Expr(value=gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=attr)))
                | gast.Assign(
                    targets=[gast.Name()],
                    value=gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=attr)),
                )
            ) if attr in CHANGES and name in self.own:
                found = changed_list(self.objects, s, name, name in self.made_anew)
                if found is not None:
                    return found
        return [self.inside(s)]

    def deleted(self, target: Node) -> list[Node]:
        """`del` of one target, as a call if it is no name."""
        match target:
            case gast.Tuple(elts=elts) | gast.List(elts=elts):
                return [new for e in elts for new in self.deleted(e)]
            case gast.Attribute(value=owner, attr=attr):
                return [gast.Expr(value=call(self.objects.name(delattr), owner, constant(attr)))]
            case gast.Subscript(value=gast.Name(id=name), slice=index) if (
                name in self.own and not isinstance(index, gast.Slice)
            ):
                pop = gast.Expr(value=call(attribute(load(name), "pop"), index))
                return changed_list(self.objects, pop, name, True) or [pop]
            case gast.Subscript(value=owner, slice=index):
                place = index_value(index, self.objects.name(slice))
                return [gast.Expr(value=call(self.objects.name(operator.delitem), owner, place))]
        return [gast.Delete(targets=[target])]

    def extended(self, name: str, items: Node) -> list[Node]:
        """Appends in a loop; its iterable is copied where the loop might see the appended items."""
        few = isinstance(items, (gast.List, gast.Tuple)) and len(items.elts) <= FEW
        if few and name not in names_read(items) and not has_star(items):
            return [gast.Expr(value=call(attribute(load(name), "append"), e)) for e in items.elts]
        item = self.objects.names.fresh("item")
        if not isinstance(items, (*LISTS, gast.Tuple, gast.GeneratorExp)):
            items = call(self.objects.name(list), items)
        append = gast.Expr(value=call(attribute(load(name), "append"), load(item)))
        return [
            gast.For(
                target=store(item), iter=items, body=[located(append, items)], orelse=[], type_comment=None
            )
        ]

    def are_dicts(self, args: list[Node]) -> bool:
        return len(args) < 2 and all(
            isinstance(a, DICTS) or (isinstance(a, gast.Name) and a.id in self.dicts) for a in args
        )

    def updated(self, name: str, args: list[Node], named: list[Node]) -> list[Node]:
        result: list[Node] = []
        for other in args:
            keys = other.keys if isinstance(other, gast.Dict) else [None]
            if all(isinstance(k, gast.Constant) for k in keys):
                given = [self.objects.names.temporary(name) for _ in keys]
                result += map(assign, given, other.values)
                result += [self.put(name, k, load(g)) for k, g in zip(keys, given, strict=True)]
                continue
            key, value = self.objects.names.fresh("key"), self.objects.names.fresh("item")
            items = call(self.objects.name(list), call(attribute(other, "items")))
            put = self.put(name, load(key), load(value))
            target = tuple_of([store(key), store(value)], gast.Store())
            result.append(
                gast.For(target=target, iter=items, body=[located(put, other)], orelse=[], type_comment=None)
            )
        return [*result, *(self.put(name, constant(k.arg), k.value) for k in named)]

    def put(self, name: str, key: Node, value: Node) -> Node:
        return assign(gast.Subscript(value=load(name), slice=key, ctx=gast.Store()), value)

    def defaulted(self, target: Node, name: str, key: Node, value: Node) -> list[Node]:
        given = self.objects.names.temporary(name)
        missing = gast.Compare(left=key, ops=[gast.NotIn()], comparators=[load(name)])
        put = located(self.put(name, key, load(given)), key)
        return [
            assign(given, value),
            gast.If(test=missing, body=[put], orelse=[]),
            assign(target, gast.Subscript(value=load(name), slice=key, ctx=gast.Load())),
        ]


def _made(program: Program, displays: tuple[type, ...], builtin: Any) -> set[str]:
    """The names that are only bound to new lists, or dicts."""
    found: set[str] = set()
    others: set[str] = set()

    def is_made(value: Node, name: str) -> bool:
        match value:
            case gast.Call(func=func):
                return bool(program.resolve(func) is builtin)
            case gast.Name(id=other):
                return bool(other == name)
            case gast.BinOp(left=left, op=gast.Add(), right=right) if builtin is list:
                return is_made(left, name) and is_made(right, name)
            case gast.BinOp(left=left, op=gast.Mult(), right=gast.Constant(value=int())) if builtin is list:
                return is_made(left, name)
        return isinstance(value, displays)

    for n in gast.walk(program.tree):
        match n:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                (found if is_made(value, name) else others).add(name)
            case gast.AugAssign(target=gast.Name(id=name), op=op):
                if not isinstance(op, gast.Add) or builtin is dict:
                    others.add(name)
            case gast.Assign(targets=targets):
                others |= {m.id for t in targets for m in gast.walk(t) if _binds(m)}
            case gast.For(target=target) | gast.comprehension(target=target) | gast.NamedExpr(target=target):
                others |= {m.id for m in gast.walk(target) if _binds(m)}
            case gast.With(items=items):
                others |= {m.id for i in items for m in gast.walk(i) if _binds(m)}
            case gast.FunctionDef() | gast.Lambda() if n is not program.tree:
                others |= {m.id for m in gast.walk(n) if isinstance(m, gast.Name)}
    return found - others


def _binds(node: Node) -> bool:
    return isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store)
