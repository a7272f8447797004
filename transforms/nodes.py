"""Small constructors and queries for gast trees, shared by all passes.

Passes never change a tree that they were given; what they build carries the line and column of the user's
statement it stems from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import gast

from .remember import remembered

__all__ = [
    "Comment",
    "assign",
    "assigned_names",
    "attribute",
    "blocks_of",
    "bound_in_header",
    "call",
    "children",
    "constant",
    "fields_of",
    "find_nodes",
    "is_atom",
    "load",
    "loads",
    "located",
    "names_in",
    "names_read",
    "own_statements",
    "param",
    "same",
    "statements_in",
    "store",
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


_LOAD, _STORE = gast.Load(), gast.Store()


def load(name: str) -> Node:
    return gast.Name(id=name, ctx=_LOAD, annotation=None, type_comment=None)


def store(name: str) -> Node:
    return gast.Name(id=name, ctx=_STORE, annotation=None, type_comment=None)


def param(name: str) -> Node:
    return gast.Name(id=name, ctx=gast.Param(), annotation=None, type_comment=None)


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


def tuple_of(items: Iterable[Node], ctx: Node | None = None) -> Node:
    return gast.Tuple(elts=list(items), ctx=ctx or _LOAD)


def assign(target: Node | str, value: Node, like: Node | None = None) -> Node:
    """`target = value`, located where `like` is."""
    node = gast.Assign(
        targets=[store(target) if isinstance(target, str) else target], value=value, type_comment=None
    )
    return located(node, like)


def located(node: Node, like: Node | None) -> Node:
    """The node, standing at the line and column of `like`."""
    if like is not None and hasattr(like, "lineno"):
        held = like.__dict__
        node.__dict__.update(
            lineno=held["lineno"],
            col_offset=held["col_offset"],
            end_lineno=held.get("end_lineno"),
            end_col_offset=held.get("end_col_offset"),
        )
    return node


def is_atom(node: Node) -> bool:
    """Whether the expression is a name or a literal (negative literals included)."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        node = node.operand
        return isinstance(node, gast.Constant)
    return isinstance(node, (gast.Name, gast.Constant))


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


_LEAVES = frozenset({"ctx", "op", "ops", "kind", "type_comment", "id", "attr", "arg"})
_CHILDREN: dict[type, Callable[[Node], list[Node]]] = {  # those of the nodes that there are most of
    gast.Constant: lambda n: [],
    gast.BinOp: lambda n: [n.left, n.right],
    gast.UnaryOp: lambda n: [n.operand],
    gast.Compare: lambda n: [n.left, *n.comparators],
    gast.Call: lambda n: [n.func, *n.args, *n.keywords],
    gast.keyword: lambda n: [n.value],
    gast.Attribute: lambda n: [n.value],
    gast.Subscript: lambda n: [n.value, n.slice],
    gast.Tuple: lambda n: [*n.elts],
    gast.List: lambda n: [*n.elts],
    gast.Assign: lambda n: [*n.targets, n.value],
    gast.Expr: lambda n: [n.value],
    gast.If: lambda n: [n.test, *n.body, *n.orelse],
}


@cache
def fields_of(kind: Any) -> tuple[str, ...]:
    """The fields of a class of nodes that may hold other nodes, operators and contexts aside."""
    return tuple(f for f in kind._fields if f not in _LEAVES)


def children(node: Node) -> list[Node]:
    """The nodes directly under a node, in the order of its fields, without operators and contexts."""
    known = _CHILDREN.get(node.__class__)
    if known is None:
        known = _CHILDREN[node.__class__] = _children_of(node.__class__)
    return known(node)


def _children_of(kind: Any) -> Callable[[Node], list[Node]]:
    """What gives the children of all nodes of a class."""
    fields = fields_of(kind)

    def children(node: Node) -> list[Node]:
        found: list[Node] = []
        held = node.__dict__
        for name in fields:
            value = held.get(name)
            if value is None:
                continue
            if value.__class__ is list:
                found.extend(v for v in value if isinstance(v, gast.AST))
            elif isinstance(value, gast.AST):
                found.append(value)
        return found

    return children


def walk(node: Node) -> Iterator[Node]:
    """All nodes of a tree, in the order in which they stand in it."""
    todo = [node]
    pop, extend = todo.pop, todo.extend
    name, constant = gast.Name, gast.Constant
    while todo:
        current = pop()
        yield current
        if current.__class__ is not name and current.__class__ is not constant:
            extend(children(current)[::-1])


@remembered
def _by_class(tree: Node) -> dict[type, list[Node]]:
    nodes = list(walk(tree))
    found: dict[type, list[Node]] = {gast.AST: nodes}  # all of them
    for node in nodes:
        kind = node.__class__
        if kind in found:
            found[kind].append(node)
        else:
            found[kind] = [node]
    return found


def find_nodes(tree: Node, *kinds: type) -> list[Node]:
    """The nodes of some classes in a finished tree, in the order in which they stand in it."""
    nodes = _by_class(tree)
    if len(kinds) == 1:
        return nodes.get(kinds[0], [])
    return [n for n in nodes[gast.AST] if n.__class__ in kinds] if any(k in nodes for k in kinds) else []


def walk_scope(node: Node | list[Node]) -> Iterator[Node]:
    """All nodes of a tree, but nothing inside nested functions, lambdas and classes (they are yielded, not
    entered).
    """
    todo = list(reversed(node)) if isinstance(node, list) else [node]
    while todo:
        current = todo.pop()
        yield current
        kind = current.__class__
        if kind is not gast.Name and (kind not in _SCOPES or current is node):
            todo.extend(children(current)[::-1])


_SCOPES = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef)


def names_read(node: Node | list[Node]) -> list[str]:
    """The names that a tree loads, nested functions included, in order of first appearance."""
    if isinstance(node, gast.expr):
        return list(dict.fromkeys(loads(node)))
    found: dict[str, None] = {}
    todo = list(reversed(node)) if isinstance(node, list) else [node]
    while todo:
        current = todo.pop()
        if isinstance(current, gast.expr):
            found.update(dict.fromkeys(loads(current)))
        else:
            todo.extend(children(current)[::-1])
    return list(found)


@remembered
def loads(expression: Node) -> tuple[str, ...]:
    """The names that an expression loads, each as often as it does, in order."""
    kind = expression.__class__
    if kind is gast.Name:
        return (expression.id,) if expression.ctx.__class__ not in _BINDING else ()
    if kind is gast.Constant:
        return ()
    found: list[str] = []
    for node in children(expression):
        found += loads(node)
    return tuple(found)


_BINDING = (gast.Store, gast.Param)


def names_in(node: Node) -> frozenset[str]:
    """All names in a tree, nested functions included."""
    found = set()
    todo = [node]
    while todo:
        current = todo.pop()
        if current.__class__ is gast.Name:
            found.add(current.id)
        else:
            todo.extend(children(current))
    return frozenset(found)


def assigned_names(statements: Node | list[Node]) -> list[str]:
    """The names that statements in normal form bind in their own scope (targets, loop variables, function
    definitions), in order of appearance.
    """
    found: dict[str, None] = {}
    for s in statements if isinstance(statements, list) else [statements]:
        _note_assigned(s, found)
    return list(found)


def _note_assigned(s: Node, found: dict[str, None]) -> None:
    match s:
        case gast.Assign():
            for target in s.targets:
                if target.__class__ is gast.Name:
                    found[target.id] = None
                else:
                    _note_target(target, found)
        case gast.AugAssign():
            _note_target(s.target, found)
        case gast.For():
            _note_target(s.target, found)
            for inner in s.body:
                _note_assigned(inner, found)
        case gast.If() | gast.While() | gast.With() | gast.Try():
            for target in bound_in_header(s):
                _note_target(target, found)
            for block in blocks_of(s):
                for inner in block:
                    _note_assigned(inner, found)
        case gast.FunctionDef() | gast.ClassDef():
            found[s.name] = None


def blocks_of(s: Node) -> list[list[Node]]:
    """The blocks of statements in a compound statement, in the order in which they stand in it; none of any
    other statement, nested functions included.
    """
    blocks = _BLOCKS.get(s.__class__)
    return [] if blocks is None else blocks(s)


_BLOCKS: dict[type, Callable[[Node], list[list[Node]]]] = {
    gast.If: lambda s: [s.body, s.orelse],
    gast.For: lambda s: [s.body, s.orelse],
    gast.While: lambda s: [s.body, s.orelse],
    gast.With: lambda s: [s.body],
    gast.Try: lambda s: [s.body, *(h.body for h in s.handlers), s.orelse, s.finalbody],
}


def bound_in_header(s: Node) -> list[Node]:
    """The targets that a `with` or `try` binds itself: `as` names."""
    match s:
        case gast.With(items=items):
            return [i.optional_vars for i in items if i.optional_vars is not None]
        case gast.Try(handlers=handlers):
            return [h.name for h in handlers if h.name is not None]
    return []


def _note_target(target: Node, found: dict[str, None]) -> None:
    for name in target_names(target):
        found[name] = None


def target_names(target: Node) -> list[str]:
    """The names that an assignment to a target binds."""
    match target:
        case gast.Name(id=name):
            return [name]
        case gast.Tuple(elts=elts) | gast.List(elts=elts):
            return [name for element in elts for name in target_names(element)]
        case gast.Starred(value=value):
            return target_names(value)
    return []


def statements_in(block: list[Node]) -> Iterator[Node]:
    """All statements of a block in normal form, in the order in which they stand in it, those of nested
    functions too.
    """
    for s in block:
        yield s
        if s.__class__ in _BLOCKS or isinstance(s, gast.FunctionDef):
            for inner in [s.body] if isinstance(s, gast.FunctionDef) else blocks_of(s):
                yield from statements_in(inner)


def own_statements(block: list[Node]) -> Iterator[Node]:
    """All statements of a block, in the order in which they stand in it, but those of nested functions."""
    for s in block:
        yield s
        if s.__class__ in _BLOCKS:
            for inner in blocks_of(s):
                yield from own_statements(inner)
