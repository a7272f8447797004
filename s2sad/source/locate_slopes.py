"""Explains a division by zero in a derivative: the user's statement whose slope is not finite.

A division by zero of the user's own stays ZeroDivisionError. Nothing is searched before an error occurs.
"""

from __future__ import annotations

import ast
import linecache
from types import TracebackType

from ..transforms.errors import InfiniteSlopeError, SourceLocation, refusals
from .locate import PACKAGE, Span, origins, place_in_origin, span_of

__all__ = ["slope_error"]



def slope_error(error: ZeroDivisionError) -> InfiniteSlopeError | None:
    """The error for a division by zero in a derivative; None where the user's function raised it."""
    found = None if isinstance(error, InfiniteSlopeError) else _generated(error.__traceback__)
    if found is None or not _is_derivative(*found):
        return None
    filename, span = found
    met = refusals.last
    made = InfiniteSlopeError(
        "a slope that is infinite or undefined",
        SourceLocation(filename, span[0], span[1], ""),
        "the derivative of this divides by zero, and Python's floats have no infinity for that",
        "keep such arguments apart (`math.sqrt(x) if x > 0 else 0.0`), or pass NumPy's numbers to NumPy's "
        "functions, of which the slope is inf or nan there",
    )
    refusals.last = met  # the user may catch this one as an ArithmeticError
    return made


def _generated(traceback: TracebackType | None) -> tuple[str, Span] | None:
    """The generated text in which an error was raised, and the span; None if it was raised in a callee other
    than a helper of this package.
    """
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename in origins:
            found = code.co_filename, span_of(code, traceback.tb_lasti)
        elif not code.co_filename.startswith(PACKAGE):
            found = None
        traceback = traceback.tb_next
    return found


def _is_derivative(filename: str, span: Span) -> bool:
    """Whether a span of a generated text belongs to the derivative, and not to the primal computation."""
    is_found = divides = False
    while filename in origins:
        origin = origins[filename]
        lines = linecache.getlines(filename)
        if origin.tangents:
            function = ast.parse("".join(lines)).body[0]
            is_found = is_found or _has_tangent(function, origin.tangents, span)
        else:  # after the first comment
            is_found = is_found or any(line.lstrip().startswith("#") for line in lines[: span[0]])
        place = place_in_origin(filename, span)
        if place is None:
            return False
        filename, span = origin.filename, (*place, 0, 0)
        divides = filename not in origins and _divides(origin.lines, place)
    return is_found and not divides


def _divides(lines: tuple[str, ...], place: tuple[int, int]) -> bool:
    """Whether the user's code divides at a place; since there is an error, the divisor is zero."""
    try:
        tree = ast.parse("\n".join(line.rstrip("\n") for line in lines))
    except SyntaxError:
        return False
    return any(
        isinstance(n, (ast.BinOp, ast.AugAssign))
        and isinstance(n.op, (ast.Div, ast.FloorDiv, ast.Mod))
        and (n.lineno, n.col_offset) == place
        for n in ast.walk(tree)
    )


def _has_tangent(function: ast.AST, count: int, span: Span) -> bool:
    """Whether a span of a forward derivative reads tangents; its last `count` parameters are tangents."""
    assert isinstance(function, ast.FunctionDef)
    tangents = {a.arg for a in function.args.args[-count:]}
    pairs = [pair for s in ast.walk(function) for pair in _assigned(s)]
    while True:
        more = {n for targets, value in pairs if _reads(value, tangents) for n in _names(targets)}
        if more <= tangents:
            break
        tangents |= more
    return any(_contains(value, span) and _reads(value, tangents) for _, value in pairs)


def _assigned(s: ast.AST) -> list[tuple[ast.AST | None, ast.AST]]:
    """The pairs of target and value that a statement assigns; for a return, the value alone."""
    match s:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            return list(zip(targets, values, strict=False))
        case ast.Assign(targets=[target], value=value) | ast.AugAssign(target=target, value=value):
            return [(target, value)]
        case ast.For(target=target, iter=source):
            return [(target, source)]
        case ast.Return(value=ast.Tuple(elts=values)):
            return [(None, value) for value in values]
        case ast.Return(value=ast.AST() as value) | ast.Expr(value=value):
            return [(None, value)]
    return []


def _names(node: ast.AST | None) -> set[str]:
    return set() if node is None else {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _reads(value: ast.AST, names: set[str]) -> bool:
    return not names.isdisjoint(_names(value))


def _contains(value: ast.AST, span: Span) -> bool:
    start = value.lineno, value.col_offset  # type: ignore[attr-defined]
    end = value.end_lineno, value.end_col_offset  # type: ignore[attr-defined]
    return bool(start <= span[:2] < end)
