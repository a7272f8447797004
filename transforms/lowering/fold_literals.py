"""Folds operations on literal strings and integers, and drops the branches that this decides.

Form: the normal form, in and out.

    test_1 = "w1".startswith("w")
    if test_1:                           ->    y = y + x
        y = y + x

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> print(to_source(fold_literals(program_of('''
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

from typing import Any

import gast

from ..analyses.facts import Facts
from ..analyses.operations import OPERATORS
from ..trees.nodes import blocks_of, bound_counts, constant, located
from ..trees.program import Program
from ..trees.rebuild import rebuilt, rewritten, substitute
from .drop_untaken import drop_known

__all__ = ["fold_literals"]

METHODS = ("startswith", "endswith", "lower", "upper", "strip", "lstrip", "rstrip", "isdigit", "isupper")
COMPARED = {op: OPERATORS[op] for op in (gast.Eq, gast.NotEq, gast.Lt, gast.LtE, gast.Gt, gast.GtE)}
COMPUTED = {op: OPERATORS[op] for op in (gast.Add, gast.Sub, gast.Mult)}
FOUND: dict[type, Any] = {
    gast.In: lambda part, whole: part in whole,
    gast.NotIn: lambda part, whole: part not in whole,
}


def fold_literals(program: Program, facts: Facts | None = None) -> Program:
    """The program without such operations; facts tell the lengths of lists and tuples."""

    def length(atom: Any) -> int | None:
        """The length of a list or tuple that keeps it."""
        return None if facts is None else facts.domain.length_of(facts.kind(atom)) or None

    bound = bound_counts(program.tree)
    known: dict[str, Any] = {}

    def folded(value: Any) -> Any:
        match value:
            case gast.Call(func=gast.Name() as function, args=[gast.Name() as atom], keywords=[]):
                count = length(atom) if program.resolve(function) is len else None
                return value if count is None else located(constant(count), value)
            case gast.Subscript(
                value=gast.Name() as atom,
                slice=gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=int() as k)),
            ):
                place = (length(atom) or 0) - k
                return rebuilt(value, slice=located(constant(place), value)) if place >= 0 else value
        return _folded(value)

    def statement(s: Any) -> list[Any] | None:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)]):
                new = rebuilt(s, value=folded(substitute(s.value, known)))
                if bound[name] == 1 and isinstance(new.value, gast.Constant) and new.value is not s.value:
                    known[name] = new.value
                return [new]
        return None if blocks_of(s) or isinstance(s, gast.FunctionDef) else [substitute(s, known)]

    def truth(test: Any) -> bool | None:
        value = getattr(known.get(getattr(test, "id", "")), "value", None)
        return value if isinstance(value, bool) else None

    return drop_known(program.with_tree(rewritten(program.tree, statement, nested=False)), truth)


def _folded(value: Any) -> Any:
    """The literal result of an operation on literals; the operation itself if it has none."""
    result: Any = None
    match value:
        case gast.Call(func=gast.Attribute(value=text, attr=method), args=args, keywords=[]) if (
            method in METHODS and _is_text(text) and all(map(_is_text, args))
        ):
            result = getattr(text.value, method)(*(a.value for a in args))
        case gast.Compare(left=left, ops=[op], comparators=[right]) if _are_alike(left, right):
            table = COMPARED | FOUND if _is_text(left) else COMPARED
            result = table[type(op)](left.value, right.value) if type(op) in table else None
        case gast.BinOp(left=left, op=op, right=right) if _are_alike(left, right):
            is_sum = isinstance(op, gast.Add) or not _is_text(left)
            result = COMPUTED[type(op)](left.value, right.value) if type(op) in COMPUTED and is_sum else None
        case gast.BinOp(left=left, op=gast.Mod(), right=right) if _is_text(left) and _are_alike(right):
            result = _formatted(left.value, right.value)
        case gast.JoinedStr(values=parts) if all(_written(p) is not None for p in parts):
            result = "".join(map(str, map(_written, parts)))
        case gast.Subscript(value=text, slice=gast.Constant(value=int() as k)) if _is_text(text):
            result = text.value[k] if -len(text.value) <= k < len(text.value) else None
        case gast.UnaryOp(op=gast.Not(), operand=gast.Constant(value=bool() as truth)):
            result = not truth
    return value if result is None else located(constant(result), value)


def _formatted(text: str, value: Any) -> str | None:
    try:
        return str(text % value)
    except (TypeError, ValueError):  # it is raised when the program runs
        return None


def _is_text(node: Any) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, str)


def _are_alike(*nodes: Any) -> bool:
    """Whether all are literal strings, or all literal integers."""
    return all(map(_is_text, nodes)) or all(
        isinstance(n, gast.Constant) and type(n.value) is int for n in nodes
    )


def _written(part: Any) -> str | None:
    """The text of a part of an f-string that is a literal string or integer."""
    if isinstance(part, gast.FormattedValue):
        is_plain = part.format_spec is None and part.conversion == -1
        return str(part.value.value) if is_plain and _are_alike(part.value) else None
    return str(part.value) if _is_text(part) else None
