"""Small constructors and queries for gast trees, shared by all passes.

Passes never change a tree that they were given; new nodes carry the line and column of the user's statement
that they stem from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Set
from typing import Any

import gast

from .children import children, fields_of, located, walk
from .remember import remembered
from .statements import (
    assigned_names,
    blocks_of,
    bound_here,
    bound_in_header,
    header_expressions,
    header_of,
    own_statements,
    places_of,
    statements_in,
    target_names,
)

__all__ = [
    "Comment",
    "assign",
    "assigned_names",
    "attribute",
    "binding_counts",
    "blocks_of",
    "bound_counts",
    "bound_here",
    "bound_in_header",
    "call",
    "children",
    "classes_in",
    "constant",
    "defaults_of",
    "dotted",
    "fields_of",
    "find_nodes",
    "for_each",
    "function",
    "has_nested",
    "header_expressions",
    "header_of",
    "is_atom",
    "is_copy",
    "load",
    "loads",
    "located",
    "names_in",
    "names_read",
    "own_statements",
    "param",
    "parameters",
    "places_of",
    "read_counts",
    "same",
    "statements_in",
    "store",
    "subscript",
    "target_names",
    "tuple_of",
    "walk",
    "walk_scope",
]

Node = Any  # gast publishes no types


class Comment(gast.AST):  # type: ignore[misc]
    """A statement that is only a comment: `text` without the hash sign. It compiles to nothing."""

    _fields = ("text",)

    def __init__(self, text: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.text = text


_LOAD, _STORE, _PARAM = gast.Load(), gast.Store(), gast.Param()


def _name(name: str, ctx: Node) -> Node:
    node = gast.Name.__new__(gast.Name)  # its __init__ is slow, and there are very many names
    node.__dict__.update(id=name, ctx=ctx, annotation=None, type_comment=None)
    return node


def load(name: str) -> Node:
    return _name(name, _LOAD)


def store(name: str) -> Node:
    return _name(name, _STORE)


def param(name: str) -> Node:
    return _name(name, _PARAM)


def constant(value: object) -> Node:
    """A literal; negative numbers become `UnaryOp(USub, ...)`, as the parser has them."""
    if (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and (value < 0 or str(value) == "-0.0")
    ):
        return gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=-value, kind=None))
    return gast.Constant(value=value, kind=None)


def call(func: Node | str, /, *args: Node, **keywords: Node) -> Node:
    target = load(func) if isinstance(func, str) else func
    return gast.Call(
        func=target, args=list(args), keywords=[gast.keyword(arg=k, value=v) for k, v in keywords.items()]
    )


def attribute(value: Node, attr: str) -> Node:
    return gast.Attribute(value=value, attr=attr, ctx=_LOAD)


def subscript(value: Node, index: Node) -> Node:
    return gast.Subscript(value=value, slice=index, ctx=_LOAD)


def tuple_of(items: Iterable[Node], ctx: Node | None = None) -> Node:
    return gast.Tuple(elts=list(items), ctx=ctx or _LOAD)


def assign(target: Node | str, value: Node, like: Node | None = None) -> Node:
    """`target = value`, at the position of `like`."""
    node = gast.Assign(
        targets=[store(target) if isinstance(target, str) else target], value=value, type_comment=None
    )
    return located(node, like)


def for_each(target: Node, iterable: Node, body: list[Node]) -> Node:
    """A `for` loop without an `else`."""
    return gast.For(target=target, iter=iterable, body=body, orelse=[], type_comment=None)


def parameters(names: list[Node]) -> Node:
    """The arguments of a function without defaults."""
    return gast.arguments(
        args=names, posonlyargs=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
    )


def function(name: str, args: Node, body: list[Node]) -> Node:
    return gast.FunctionDef(
        name=name, args=args, body=body, decorator_list=[], returns=None, type_comment=None, type_params=[]
    )


def is_atom(node: Node) -> bool:
    """Whether the expression is a name or a literal (negative literals included)."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        node = node.operand
        return isinstance(node, gast.Constant)
    return isinstance(node, (gast.Name, gast.Constant))


def is_copy(s: Node) -> bool:
    """Whether a statement assigns a name to a name."""
    match s:
        case gast.Assign(targets=[gast.Name()], value=gast.Name()):
            return True
    return False


def defaults_of(function: Node) -> list[Node]:
    """The defaults of a function's parameters, which are read where it is defined."""
    return [d for d in (*function.args.defaults, *function.args.kw_defaults) if d is not None]


def has_stars(node: Node) -> bool:
    """Whether an expression is a call with `*` or `**`."""
    return isinstance(node, gast.Call) and (
        any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
    )


def same(a: Node, b: Node) -> bool:
    """Whether two trees are equal, positions aside."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, gast.AST):
        return all(
            same(getattr(a, f, None), getattr(b, f, None)) for f in a._fields if f not in ("ctx", "kind")
        )
    return bool(a == b) or (a != a and b != b)


@remembered
def _by_class(whole: Node) -> dict[type, list[Node]]:
    nodes = list(walk(whole))
    found: dict[type, list[Node]] = {gast.AST: nodes}  # all of them
    for node in nodes:
        kind = node.__class__
        if kind in found:
            found[kind].append(node)
        else:
            found[kind] = [node]
    return found


def classes_in(whole: Node) -> Set[type]:
    """The classes of the nodes in an expression or an assignment."""
    return _by_class(whole).keys()


@remembered
def _parts(tree: Node) -> list[Node]:
    """The expressions and assignments of a tree as wholes, and its other nodes, in source order."""
    if isinstance(tree, _WHOLE):
        return [tree]
    found = [tree]
    for child in children(tree):
        found += _parts(child)
    return found


@remembered
def _known(tree: Node) -> dict[tuple[type, ...], list[Node]]:
    """Nodes found in a tree before, by the classes searched for."""
    return {}


def find_nodes(tree: Node, *kinds: type) -> list[Node]:
    """The nodes of some classes in a finished tree, in source order."""
    known = _known(tree)
    found = known.get(kinds)
    if found is not None:
        return found
    found = known[kinds] = []
    parts = _parts(tree)
    if all(issubclass(kind, gast.stmt) for kind in kinds):
        found += [part for part in parts if part.__class__ in kinds]
        return found
    for part in parts:
        if isinstance(part, _WHOLE):  # shared by many trees
            nodes = _by_class(part)
            if len(kinds) == 1:
                found += nodes.get(kinds[0], ())
            else:
                found += [n for n in nodes[gast.AST] if n.__class__ in kinds]
        elif part.__class__ in kinds:
            found.append(part)
    return found


@remembered
def bound_counts(tree: Node) -> Counter[str]:
    """The number of bindings of each name in a finished tree as a target or parameter, nested functions
    included.
    """
    return Counter(n.id for n in find_nodes(tree, gast.Name) if n.ctx.__class__ is not gast.Load)


@remembered
def binding_counts(tree: Node) -> Counter[str]:
    """The number of bindings of each name in a finished tree, definitions of functions included."""
    return bound_counts(tree) + Counter(f.name for f in find_nodes(tree, gast.FunctionDef))


@remembered
def read_counts(tree: Node) -> Counter[str]:
    """The number of reads of each name in a finished tree, nested functions included."""
    return Counter(n.id for n in find_nodes(tree, gast.Name) if n.ctx.__class__ is gast.Load)


def walk_scope(node: Node | list[Node]) -> Iterator[Node]:
    """All nodes of a tree in its own scope; nested functions, lambdas and classes are yielded, but not
    entered.
    """
    todo = list(reversed(node)) if isinstance(node, list) else [node]
    while todo:
        current = todo.pop()
        yield current
        kind = current.__class__
        if kind is not gast.Name and (kind not in _SCOPES or current is node):
            todo.extend(children(current)[::-1])


_SCOPES = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef)


def names_read(node: Node | list[Node]) -> tuple[str, ...]:
    """The names that a tree loads, nested functions included, in order of first appearance."""
    if isinstance(node, _WHOLE):
        return _read(node)
    found: dict[str, None] = {}
    todo = node[::-1] if isinstance(node, list) else [node]
    while todo:
        current = todo.pop()
        if isinstance(current, _WHOLE):
            found.update(dict.fromkeys(_read(current)))
        else:
            todo.extend(children(current)[::-1])
    return tuple(found)


_WHOLE = (gast.expr, gast.Assign)  # finished when they are made


@remembered
def _read(whole: Node) -> tuple[str, ...]:
    return tuple(dict.fromkeys(loads(whole)))


@remembered
def loads(whole: Node) -> tuple[str, ...]:
    """The names that an expression or an assignment loads, in order, with repetitions."""
    return tuple([n.id for n in _by_class(whole).get(gast.Name, ()) if n.ctx.__class__ not in _BINDING])


_BINDING = (gast.Store, gast.Param)


def names_in(node: Node) -> frozenset[str]:
    """All names in a tree, nested functions included."""
    if isinstance(node, _WHOLE):
        return _names(node)
    return frozenset().union(*map(names_in, children(node)))


@remembered
def _names(whole: Node) -> frozenset[str]:
    return frozenset([n.id for n in _by_class(whole).get(gast.Name, ())])


def dotted(node: Node) -> list[str]:
    """The parts of a name with attributes: `a.b.c`."""
    return [node.id] if isinstance(node, gast.Name) else [*dotted(node.value), node.attr]


@remembered
def has_nested(function: Node) -> bool:
    """Whether a finished function defines functions."""
    return any(s.__class__ is gast.FunctionDef for s in own_statements(function.body))
