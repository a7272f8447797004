"""Small constructors and queries for gast trees, shared by all passes.

Passes never change a tree that they were given; what they build carries the line and column of the user's
statement it stems from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import gast

from .children import children, fields_of, walk
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
    "dotted",
    "fields_of",
    "find_nodes",
    "has_nested",
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


_LOAD, _STORE, _PARAM = gast.Load(), gast.Store(), gast.Param()


def _name(name: str, ctx: Node) -> Node:
    node = gast.Name.__new__(gast.Name)  # whose __init__ takes most of the time: there are very many names
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
def _by_class(expression: Node) -> dict[type, list[Node]]:
    nodes = list(walk(expression))
    found: dict[type, list[Node]] = {gast.AST: nodes}  # all of them
    for node in nodes:
        kind = node.__class__
        if kind in found:
            found[kind].append(node)
        else:
            found[kind] = [node]
    return found


@remembered
def _index(tree: Node) -> tuple[list[Node], dict[tuple[type, ...], list[Node]]]:
    """The expressions of a tree as wholes and its other nodes, in the order in which they stand in it, and
    what was found in them, for a start the other nodes by their classes.
    """
    parts, todo = [], [tree]
    found: dict[tuple[type, ...], list[Node]] = {}
    while todo:
        current = todo.pop()
        parts.append(current)
        if not isinstance(current, gast.expr):
            found.setdefault((current.__class__,), []).append(current)
            todo.extend(children(current)[::-1])
    return parts, found


def find_nodes(tree: Node, *kinds: type) -> list[Node]:
    """The nodes of some classes in a finished tree, in the order in which they stand in it."""
    parts, known = _index(tree)
    found = known.get(kinds)
    if found is not None:
        return found
    found = known[kinds] = []
    if not any(issubclass(kind, gast.expr) for kind in kinds):
        found += [part for part in parts if part.__class__ in kinds] if len(kinds) > 1 else []
        return found
    for part in parts:
        if isinstance(part, gast.expr):  # these are parts of many trees
            nodes = _by_class(part)
            if len(kinds) == 1:
                found += nodes.get(kinds[0], ())
            else:
                found += [n for n in nodes[gast.AST] if n.__class__ in kinds]
        elif part.__class__ in kinds:
            found.append(part)
    return found


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
    if isinstance(node, _WHOLE):
        return list(dict.fromkeys(loads(node)))
    found: dict[str, None] = {}
    todo = node[::-1] if isinstance(node, list) else [node]
    while todo:
        current = todo.pop()
        if isinstance(current, _WHOLE):
            found.update(dict.fromkeys(loads(current)))
        else:
            todo.extend(children(current)[::-1])
    return list(found)


_WHOLE = (gast.expr, gast.Assign)  # what is finished when it is made


@remembered
def loads(expression: Node) -> tuple[str, ...]:
    """The names that an expression or an assignment loads, each as often as it does, in order."""
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
    if isinstance(node, _WHOLE):
        return _names(node)
    return frozenset().union(*map(names_in, children(node)))


@remembered
def _names(whole: Node) -> frozenset[str]:
    if whole.__class__ is gast.Name:
        return frozenset([whole.id])
    return frozenset().union(*map(names_in, children(whole)))


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


def dotted(node: Node) -> list[str]:
    """The parts of a name with attributes: `a.b.c`."""
    return [node.id] if isinstance(node, gast.Name) else [*dotted(node.value), node.attr]


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


def has_nested(function: Node) -> bool:
    """Whether functions are defined in a function."""
    return any(s.__class__ is gast.FunctionDef for s in own_statements(function.body))


def own_statements(block: list[Node]) -> list[Node]:
    """All statements of a block, in the order in which they stand in it, but those of nested functions."""
    found = []
    todo = block[::-1]
    while todo:
        s = todo.pop()
        found.append(s)
        if s.__class__ in _BLOCKS:
            for inner in reversed(blocks_of(s)):
                todo.extend(inner[::-1])
    return found
