"""What a line of a text executes, for tools that watch a program line by line."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["Executed", "base_of", "executed_at"]


@dataclass(frozen=True, eq=False)
class Executed:
    """The statements that a line belongs to; of a block's statement the header. `changed` are the names that
    they bind, or whose objects they may change.
    """

    expressions: tuple[ast.expr, ...]
    reads: tuple[str, ...]
    bound: frozenset[str]
    changed: frozenset[str]


def executed_at(filename: str, line: int) -> Executed | None:
    """What a line executes; None for a text that cannot be read."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return None
    parts = [part for s in _statements_at(tree.body, line) for part in _header(s)]
    names = [n for part in parts for n in ast.walk(part) if isinstance(n, ast.Name)]
    reads = [n.id for n in names if isinstance(n.ctx, ast.Load)]
    bound = frozenset(n.id for n in names if not isinstance(n.ctx, ast.Load))
    targets = [n for part in parts for n in ast.walk(part) if _is_stored(n)]
    calls = [part.value for part in parts if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call)]
    targets += [node for call in calls for node in (call.func, *call.args)]
    bases = frozenset(filter(None, map(base_of, targets)))
    updated = [part.target for part in parts if isinstance(part, ast.AugAssign)]
    reads += [target.id for target in updated if isinstance(target, ast.Name)]
    expressions = tuple(e for part in parts for e in _outermost(part))
    return Executed(expressions, tuple(dict.fromkeys(reads)), bound, bound | bases)


def _statements_at(body: list[Any], line: int) -> Iterator[Any]:
    """The innermost statements of a block, and of the blocks in it, that a line belongs to."""
    for s in body:
        if not min([s.lineno, *(d.lineno for d in getattr(s, "decorator_list", []))]) <= line <= s.end_lineno:
            continue
        inner = [found for block in _blocks(s) for found in _statements_at(block, line)]
        yield from inner or [s]


def _blocks(s: Any) -> Iterator[list[Any]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(s, name, [])
    for part in (*getattr(s, "handlers", []), *getattr(s, "cases", [])):
        yield part.body


def _header(s: Any) -> list[Any]:
    """What a statement itself evaluates and assigns."""
    match s:
        case ast.For() | ast.AsyncFor():
            return [s.iter, s.target]
        case ast.While() | ast.If():
            return [s.test]
        case ast.With() | ast.AsyncWith():
            return [part for item in s.items for part in (item.context_expr, item.optional_vars) if part]
        case ast.Match():
            return [s.subject]
        case ast.Try() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return []
    return [s]


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store)


def base_of(node: Any) -> str | None:
    """The variable at the root of a path of attributes and items."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _outermost(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions in a statement whose values are used, not those in them."""
    if isinstance(node, ast.expr):
        if not isinstance(getattr(node, "ctx", None), ast.Store):
            yield node
        return
    for child in ast.iter_child_nodes(node):
        yield from _outermost(child)
