"""Does what a program does with literal strings alone, and leaves out the branches that this rules out.

Form: the normal form, in and out.

    test_1 = "w1".startswith("w")
    if test_1:                           ->    y = y + x
        y = y + x

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> print(to_source(fold_text(program_of('''
... def f(p):
...     first = "bias"[0]
...     test = first == "w"
...     if test:
...         p = 2 * p
...     return p
... ''')).tree))
def f(p):
    first = 'b'
    test = False
    return p
<BLANKLINE>
"""

from __future__ import annotations

import operator
from collections import Counter
from typing import Any

import gast

from ..trees.nodes import constant, find_nodes, located
from ..trees.program import Program
from ..trees.rebuild import map_blocks, rebuilt, substitute, with_body
from .drop_untaken import drop_untaken

__all__ = ["fold_text"]

METHODS = ("startswith", "endswith", "lower", "upper", "strip", "lstrip", "rstrip", "isdigit", "isupper")
COMPARED: dict[type, Any] = {
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
    gast.In: lambda part, whole: part in whole,
    gast.NotIn: lambda part, whole: part not in whole,
}


def fold_text(program: Program) -> Program:
    """The program without such operations."""
    bound = Counter(n.id for n in find_nodes(program.tree, gast.Name) if not isinstance(n.ctx, gast.Load))
    known: dict[str, Any] = {}

    def block(statements: list[Any]) -> list[Any]:
        found: list[Any] = []
        for s in statements:
            match s:
                case gast.FunctionDef():
                    found.append(s)
                case gast.Assign(targets=[gast.Name(id=name)]):
                    new = rebuilt(s, value=_folded(substitute(s.value, known)))
                    if bound[name] == 1 and isinstance(new.value, gast.Constant) and new.value is not s.value:
                        known[name] = new.value
                    found.append(new)
                case gast.If() | gast.For() | gast.While() | gast.With() | gast.Try():
                    found.append(map_blocks(s, block))
                case _:
                    found.append(substitute(s, known))
        return found

    def truth(test: Any) -> bool | None:
        value = getattr(known.get(getattr(test, "id", "")), "value", None)
        return value if isinstance(value, bool) else None

    return drop_untaken(program.with_tree(with_body(program.tree, block(program.tree.body))), truth)


def _folded(value: Any) -> Any:
    """The literal that an operation on literal strings gives; the operation itself if it gives none."""
    result: Any = None
    match value:
        case gast.Call(
            func=gast.Attribute(value=gast.Constant(value=str() as text), attr=method), args=args, keywords=[]
        ) if method in METHODS and all(_text(a) is not None for a in args):
            result = getattr(text, method)(*map(_text, args))
        case gast.Compare(
            left=gast.Constant(value=str() as left),
            ops=[op],
            comparators=[gast.Constant(value=str() as right)],
        ) if type(op) in COMPARED:
            result = COMPARED[type(op)](left, right)
        case gast.BinOp(
            left=gast.Constant(value=str() as left), op=gast.Add(), right=gast.Constant(value=str() as right)
        ):
            result = left + right
        case gast.JoinedStr(values=parts) if all(_written(p) is not None for p in parts):
            result = "".join(map(str, map(_written, parts)))
        case gast.Subscript(value=gast.Constant(value=str() as text), slice=gast.Constant(value=int() as k)):
            result = text[k] if -len(text) <= k < len(text) else None
        case gast.UnaryOp(op=gast.Not(), operand=gast.Constant(value=bool() as truth)):
            result = not truth
    return value if result is None else located(constant(result), value)


def _text(node: Any) -> str | None:
    value = getattr(node, "value", None)
    return value if isinstance(node, gast.Constant) and isinstance(value, str) else None


def _written(part: Any) -> str | None:
    """What stands for a part of an f-string that is a literal string."""
    if isinstance(part, gast.FormattedValue):
        return None if part.format_spec is not None or part.conversion != -1 else _text(part.value)
    return _text(part)
