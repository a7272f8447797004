"""Programs as text, for tests of passes: a pass on one must give the other, and both must compute the same.

A statement that is only a string starting with `#` stands for a comment.
"""
from __future__ import annotations

import copy
import textwrap
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sad.transforms.trees.nodes import Comment
from s2sad.transforms.trees.printer import to_source

Node = Any  # gast publishes no types

IMPURE = {"effect", "append", "extend", "pop", "add_at"}


def purity(node: Node) -> bool:
    """Calls of the functions and methods in IMPURE have side effects, others have none."""
    func = getattr(node, "func", None)
    return func is None or getattr(func, "attr", getattr(func, "id", None)) not in IMPURE


def parse(text: str) -> Node:
    """The function definition that a text holds."""
    return _with_comments(gast.parse(textwrap.dedent(text)).body[0])


def text_of(tree: Node) -> str:
    return str(to_source(tree))


def check(transform: Callable[[Node], Node], before: str, after: str, *inputs: tuple[Any, ...]) -> None:
    """The transform turns `before` into `after`, and keeps its input, the results and the effects."""
    tree = parse(before)
    untouched = gast.dump(tree)
    result = transform(tree)
    assert gast.dump(tree) == untouched
    assert text_of(result) == text_of(parse(after))
    assert text_of(transform(result)) == text_of(result)
    for args in inputs:
        expected, actual = run(tree, args), run(result, args)
        np.testing.assert_equal(actual, expected)


def run(tree: Node, args: tuple[Any, ...]) -> Any:
    """What a function returns (called, if it is a function), its arguments afterwards, and its effects."""
    effects: list[Any] = []

    def effect(*values: Any) -> Any:
        effects.append(copy.deepcopy(values))
        return values[0] if values else None

    scope: dict[str, Any] = {"np": np, "effect": effect}
    exec(compile(text_of(tree), "<test>", "exec"), scope)
    args = copy.deepcopy(args)
    result = scope[tree.name](*args)
    if callable(result):
        result = result(2.0), result(3.0)
    return result, args, effects


def _with_comments(node: Node) -> Node:
    for name, value in gast.iter_fields(node):
        if isinstance(value, list):
            setattr(node, name, [_with_comments(v) if isinstance(v, gast.AST) else v for v in value])
        elif isinstance(value, gast.AST):
            setattr(node, name, _with_comments(value))
    match node:
        case gast.Expr(value=gast.Constant(value=str(text))) if text.startswith("#"):
            return Comment(text[1:].strip())
    return node
