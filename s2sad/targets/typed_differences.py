"""Finds operations that compiled code does otherwise than NumPy, by the types that Numba has found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from numba.core import types
from numba.core.dispatcher import Dispatcher
from numba.core.ir import Assign, Expr, Var

__all__ = ["DifferentNumbersError", "differences"]

NARROW_FLOATS = frozenset((types.float32, types.complex64))
NARROW_INTEGERS = frozenset((
    types.int8, types.int16, types.int32, types.uint8, types.uint16, types.uint32,
))  # fmt: skip
ARITHMETIC = frozenset(("add", "sub", "mul", "floordiv", "mod", "pow", "neg", "pos", "lshift", "rshift"))


class DifferentNumbersError(Exception):
    """Compiled code would have other numbers, which `why` tells; the message names the line as Numba's errors
    do.
    """

    def __init__(self, why: str, loc: Any) -> None:
        super().__init__(f'{why}, File "{loc.filename}", line {loc.line}')
        self.why = why


def differences(compiled: Any) -> Iterator[DifferentNumbersError]:
    """The operations of a result of Numba's compiler, and of the functions that it calls, whose numbers are
    not NumPy's; none of one that was read from disk, where only what has none is kept.
    """
    annotation = compiled.type_annotation
    if annotation is None or isinstance(annotation, str):
        return
    assignments = [s for block in annotation.blocks.values() for s in block.body if isinstance(s, Assign)]
    booleans = _booleans(assignments, annotation.typemap)
    for s in assignments:
        why = _difference(s, annotation.typemap, booleans)
        if why:
            yield DifferentNumbersError(why, s.loc)
    function = annotation.func_id.func
    for name in function.__code__.co_names:
        inner = function.__globals__.get(name)
        if isinstance(inner, Dispatcher) and inner.py_func is not function:
            for found in inner.overloads.values():
                yield from differences(found)


def _booleans(assignments: list[Assign], typemap: Mapping[str, Any]) -> set[str]:
    """The variables that are booleans, and those with the type of a number that may hold one."""
    found = {name for name, t in typemap.items() if _number(t) is types.boolean}
    while True:
        count = len(found)
        for s in assignments:
            is_phi = isinstance(s.value, Expr) and s.value.op == "phi"
            joined = s.value.incoming_values if is_phi else [s.value]
            if any(isinstance(v, Var) and v.name in found for v in joined):
                found.add(s.target.name)
        if len(found) == count:
            return found


def _difference(s: Assign, typemap: Mapping[str, Any], booleans: set[str]) -> str:
    """How an assignment differs; empty if it does not."""
    made, value = _number(typemap.get(s.target.name)), s.value
    if made in NARROW_FLOATS:
        return "it computes with numbers of 32 bits, some of which Numba makes wider"
    is_arithmetic = isinstance(value, Expr) and value.op in ("binop", "inplace_binop", "unary")
    if not is_arithmetic or value.fn.__name__.removeprefix("i") not in ARITHMETIC:
        return ""
    operands = [v.name for v in value.list_vars()]
    if booleans.issuperset(operands):
        return "arithmetic of booleans, which NumPy does otherwise than Python and Numba"
    is_narrow = any(_number(typemap.get(v)) in NARROW_INTEGERS for v in operands)
    return "arithmetic of integers of less than 64 bits, which Numba makes wider" if is_narrow else ""


def _number(found: Any) -> Any:
    """The type of a number, or of the numbers of an array."""
    found = getattr(found, "literal_type", found)
    return found.dtype if isinstance(found, types.Array) else found
