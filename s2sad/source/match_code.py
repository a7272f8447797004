"""Compares code objects, to tell a current source file from a stale one.

Contract: both were compiled by this Python. Positions count, so an edit that only moves a column is noticed.
"""

from __future__ import annotations

import ast
import dis
import inspect
from collections.abc import Collection, Iterator
from types import CodeType

from .compiling import nested_code

__all__ = ["Span", "contains", "is_same_code", "is_same_outside", "positions", "span_of"]

Span = tuple[int, int, int, int]  # first line, first column, last line, last column


def is_same_code(one: CodeType, other: CodeType) -> bool:
    """Whether both have the same instructions at the same positions; names of files do not count."""
    return _fingerprint(one) == _fingerprint(other)


def is_same_outside(one: CodeType, other: CodeType, ignored: Collection[Span]) -> bool:
    """Whether both have the same instructions outside of the ignored spans.

    These are `assert` statements, which pytest rewrites when it imports test modules.
    """
    return _parameters(one) == _parameters(other) and _facts(one, ignored) == _facts(other, ignored)


def span_of(node: ast.expr | ast.stmt) -> Span:
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return node.lineno, node.col_offset, end_line, end_column


def contains(outer: Span, inner: Span) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def positions(code: CodeType) -> frozenset[Span]:
    """The spans of text that the instructions come from; empty when Python runs without column numbers."""
    spans = (_position(dis.Positions(*position)) for position in code.co_positions())
    return frozenset(span for span in spans if span is not None)


def _position(at: dis.Positions | None) -> Span | None:
    match at:
        case dis.Positions(int(line), int(end_line), int(column), int(end_column)):
            is_empty = (line, column) == (end_line, end_column)  # an instruction without source text
            return None if is_empty else (line, column, end_line, end_column)
    return None


def _fingerprint(code: CodeType) -> object:
    names = code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    constants = tuple(map(_constant_key, code.co_consts))
    instructions = code.co_code, code.co_exceptiontable, tuple(code.co_positions())
    return _parameters(code), names, constants, instructions


def _parameters(code: CodeType) -> object:
    stars = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    count = code.co_argcount + code.co_kwonlyargcount + stars.bit_count()
    return code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, stars, code.co_varnames[:count]


def _constant_key(value: object) -> object:
    """Equal for equal constants of equal types: 1, 1.0 and True differ, 0.0 and -0.0 differ."""
    match value:
        case CodeType():
            return _fingerprint(value)
        case tuple():
            return tuple, tuple(map(_constant_key, value))
        case frozenset():  # its order depends on its history
            return frozenset, frozenset(map(_constant_key, value))
    return type(value), repr(value)


def _facts(code: CodeType, ignored: Collection[Span]) -> frozenset[object]:
    """The instructions of the code and its inner functions with their positions, unordered."""
    return frozenset(fact for part in nested_code(code) for fact in _instructions(part, ignored))


def _instructions(code: CodeType, ignored: Collection[Span]) -> Iterator[object]:
    # An ignored statement affects its neighbours' layout (jumps, no-ops, copies of short blocks) and their
    # checks
    # for unbound locals. Leave these out.
    for instruction in dis.get_instructions(code):
        name, value = instruction.opname, instruction.argval
        span = _position(instruction.positions)
        if span is None or name in ("NOP", "EXTENDED_ARG") or any(contains(i, span) for i in ignored):
            continue
        if instruction.opcode in dis.haslocal:
            yield code.co_name, span, "local", value
        elif instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs:
            if "IF" in name:
                yield code.co_name, span, name.replace("FORWARD_", "").replace("BACKWARD_", "")
        else:
            yield code.co_name, span, name, "code" if isinstance(value, CodeType) else _constant_key(value)
