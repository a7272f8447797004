"""The names that a text reads of what is around it, with their places.

Contract: the text is one statement of a module. What an inner scope binds is no outer name; the names that
the statement itself defines are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

__all__ = ["OuterName", "outer_names", "replaced"]

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class OuterName:
    """A name with the attributes that are read of it, `path`; `ends` are the ends of the name and of each
    attribute, as (line, column in bytes). `is_eager`: it is read when the statement runs, not later.
    `is_store`: the name or its last attribute is assigned.
    """

    name: str
    path: tuple[str, ...]
    start: tuple[int, int]
    ends: tuple[tuple[int, int], ...]
    is_eager: bool
    is_annotation: bool = False
    is_store: bool = False


@dataclass(frozen=True)
class _Scope:
    """The names that a function, class or comprehension binds, and those that it takes from the module."""

    bound: frozenset[str]
    of_module: frozenset[str] = frozenset()
    is_class: bool = False


@dataclass(frozen=True)
class _Place:
    """The scopes around an expression, outer ones first, and when it is evaluated."""

    scopes: tuple[_Scope, ...] = field(default=())
    is_eager: bool = True
    is_annotation: bool = False

    def inside(self, scope: _Scope, is_eager: bool) -> _Place:
        return replace(self, scopes=(*self.scopes, scope), is_eager=self.is_eager and is_eager)

    def is_outer(self, name: str) -> bool:
        for scope in reversed(self.scopes):
            if scope.is_class and scope is not self.scopes[-1]:
                continue
            if name in scope.of_module:
                return True
            if name in scope.bound:
                return False
        return True


def outer_names(tree: ast.AST) -> list[OuterName]:
    """The outer names of a statement or module, in the order of the text.

    >>> tree = ast.parse("def f(x, k=size):\\n    return [np.sin(v) for v in f(x)]")
    >>> [(n.name, n.path, n.is_eager) for n in outer_names(tree)]
    [('size', (), True), ('np', ('sin',), False), ('f', (), False)]
    """
    return sorted(_names(tree, _Place()), key=lambda n: n.start)


def _names(node: ast.AST | None, place: _Place) -> Iterator[OuterName]:
    match node:
        case None:
            return
        case ast.Name() | ast.Attribute():
            yield from _read(node, place)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            yield from _of_function(node, place)
        case ast.ClassDef():
            for part in (*node.decorator_list, *node.bases, *node.keywords):
                yield from _names(part, place)
            inner = place.inside(_scope(node.body, is_class=True), True)
            for statement in node.body:
                yield from _names(statement, inner)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            first, *others = node.generators
            yield from _names(first.iter, place)
            bound = frozenset(n for g in node.generators for n in _bound(g.target))
            inner = place.inside(_Scope(bound), True)
            rest = (n for g in node.generators for n in (g.target, *g.ifs))
            values = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
            for part in (*rest, *(g.iter for g in others), *values):
                yield from _names(part, inner)
        case ast.AnnAssign():
            yield from _names(node.annotation, replace(place, is_annotation=True, is_eager=False))
            yield from _names(node.target, place)
            yield from _names(node.value, place)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _names(child, place)


def _read(node: ast.Name | ast.Attribute, place: _Place) -> Iterator[OuterName]:
    path: list[ast.Attribute] = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        path.append(inner)
        inner = inner.value
    if not isinstance(inner, ast.Name):
        yield from _names(inner, place)
    elif place.is_outer(inner.id):
        nodes = [inner, *reversed(path)]
        ends = tuple((n.end_lineno or 0, n.end_col_offset or 0) for n in nodes)
        attributes = tuple(n.attr for n in reversed(path))
        start = inner.lineno, inner.col_offset
        is_store = not isinstance(node.ctx, ast.Load)
        yield OuterName(
            inner.id, attributes, start, ends, place.is_eager, place.is_annotation, is_store
        )


def _of_function(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, place: _Place
) -> Iterator[OuterName]:
    args = node.args
    listed = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
    for default in (*args.defaults, *args.kw_defaults):
        yield from _names(default, place)
    body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else [*node.body]
    if not isinstance(node, ast.Lambda):
        for decorator in node.decorator_list:
            yield from _names(decorator, place)
        for annotation in (*(a.annotation for a in listed), node.returns):
            yield from _names(annotation, replace(place, is_annotation=True, is_eager=False))
    inner = place.inside(_scope(body, [a.arg for a in listed]), False)
    for statement in body:
        yield from _names(statement, inner)


def _scope(body: Sequence[ast.AST], parameters: Sequence[str] = (), is_class: bool = False) -> _Scope:
    bound = {*parameters, *(name for part in body for name in _bound(part))}
    declared = [n for part in body for n in _own_parts(part) if isinstance(n, (ast.Global, ast.Nonlocal))]
    of_module = {name for n in declared if isinstance(n, ast.Global) for name in n.names}
    around = {name for n in declared for name in n.names}
    return _Scope(frozenset(bound - around), frozenset(of_module), is_class)


def _own_parts(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope, without those of inner functions and classes."""
    yield node
    if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        for child in ast.iter_child_nodes(node):
            yield from _own_parts(child)


def _bound(node: ast.AST, in_comprehension: bool = False) -> Iterator[str]:
    """The names that a statement or target binds in its scope."""
    match node:
        case ast.Name(ctx=ast.Store() | ast.Del()) if not in_comprehension:
            yield node.id
        case ast.NamedExpr():
            yield from _bound(node.target)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
            return
        case ast.Lambda():
            return
        case ast.alias():
            yield (node.asname or node.name).partition(".")[0]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
    in_comprehension = in_comprehension or isinstance(node, COMPREHENSIONS)
    for child in ast.iter_child_nodes(node):
        yield from _bound(child, in_comprehension)


def replaced(text: str, edits: list[tuple[tuple[int, int], tuple[int, int], str]]) -> str:
    """The text with other texts in place of its parts; each part is given by its start and its end, (line,
    column in bytes), as in syntax trees.

    >>> replaced("a + b\\n", [((1, 4), (1, 5), "beta")])
    'a + beta\\n'
    """
    lines = [f"{line}\n".encode() for line in text.split("\n")]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    whole = b"".join(lines)
    for start, end, new in sorted(edits, reverse=True):
        first, last = starts[start[0] - 1] + start[1], starts[end[0] - 1] + end[1]
        whole = whole[:first] + new.encode() + whole[last:]
    return whole.decode()[:-1]
