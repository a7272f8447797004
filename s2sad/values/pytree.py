"""Structured values (tuples, lists, dicts, named tuples, objects of numbers and arrays) as flat lists of
leaves, and back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .libraries import has_dtype, refuse_libraries
from .objects import dict_like, fields_of, is_mirrored, make, mirror

__all__ = [
    "basis_of",
    "flatten",
    "is_differentiable",
    "map_structure",
    "moved_structure",
    "rows_of",
    "tangents_of",
    "unflatten_columns",
    "unflatten_rows",
]


def map_structure(f: Callable[..., Any], x: Any, *others: Any) -> Any:
    """`x` with `f(leaf, *leaves of the others)` in place of each leaf, and with adjoint objects (`mirror`) in
    place of objects.
    """
    return _mapped(f, mirror, x, *others)


def moved_structure(f: Callable[..., Any], x: Any, *others: Any) -> Any:
    """As `map_structure`, with objects of the classes of those in `x`."""
    return _mapped(f, lambda x, values: make(type(x), values), x, *others)


def _mapped(f: Callable[..., Any], built: Callable[[Any, dict[str, Any]], Any], x: Any, *others: Any) -> Any:
    if isinstance(x, tuple):
        items = [_mapped(f, built, *parts) for parts in zip(x, *others, strict=True)]
        return type(x)._make(items) if hasattr(x, "_make") else tuple(items)
    if isinstance(x, list):
        return [_mapped(f, built, *parts) for parts in zip(x, *others, strict=True)]
    if isinstance(x, dict):
        return dict_like(x, {k: _mapped(f, built, v, *(o[k] for o in others)) for k, v in x.items()})
    if is_mirrored(x):
        held = fields_of(x).items()
        return built(x, {k: _mapped(f, built, v, *(getattr(o, k) for o in others)) for k, v in held})
    return f(x, *others)


def flatten(x: Any) -> list[Any]:
    """The leaves that carry a derivative: floats, complex numbers and arrays of them."""
    leaves: list[Any] = []
    map_structure(lambda leaf: leaves.append(leaf) if is_differentiable(leaf) else None, x)
    return leaves


def is_differentiable(leaf: Any) -> bool:
    """Whether a leaf carries a derivative: a float, a complex number or an array of them."""
    return isinstance(leaf, (float, complex)) or (has_dtype(leaf) and leaf.dtype.kind in ("f", "c"))


def _unit(leaf: Any, position: int) -> Any:
    if not np.shape(leaf):
        return np.ones_like(leaf) if has_dtype(leaf) and not isinstance(leaf, float) else 1.0
    unit = np.zeros_like(leaf)
    unit.reshape(-1)[position] = 1
    return unit


def basis_of(x: Any) -> Iterator[Any]:
    """For each number in a structure, the structure with 1 there and zeros elsewhere."""
    refuse_libraries(flatten(x), "a Jacobian", "use vjp, jvp or hvp; or pass NumPy's arrays")
    sizes = [int(np.size(leaf)) for leaf in flatten(x)]
    for chosen, size in enumerate(sizes):
        for position in range(size):
            count = iter(range(len(sizes)))

            def part(
                leaf: Any, position: int = position, chosen: int = chosen, count: Iterator[int] = count
            ) -> Any:
                if not is_differentiable(leaf):
                    return None
                return (
                    _unit(leaf, position)
                    if next(count) == chosen
                    else np.zeros_like(leaf)
                    if np.shape(leaf)
                    else 0.0
                )

            yield map_structure(part, x)


def unflatten_columns(columns: list[Any], out: Any, x: Any) -> Any:
    """The Jacobian from its columns, one tangent like `out` for each number in `x`; None for a part with
    unknown tangent.
    """
    leaves, inputs = flatten(out), flatten(x)
    starts = np.concatenate([[0], np.cumsum([np.size(leaf) for leaf in inputs])]).astype(int)
    parts = [tangents_of(out, column) for column in columns]

    def block(o: int, i: int) -> Any:
        tangents = [part[o] for part in parts[starts[i] : starts[i + 1]]]
        if any(t is None for t in tangents):
            return None
        values = np.array(list(map(np.asarray, tangents)), dtype=_dtype(leaves[o], inputs[i]))
        values = values.reshape((np.size(inputs[i]), *np.shape(leaves[o])))
        return _shaped(np.moveaxis(values, 0, -1), leaves[o], inputs[i])

    return _nested(out, x, block)


def tangents_of(out: Any, column: Any) -> list[Any]:
    """The tangent of each leaf of `out`, in a tangent of all."""
    if column is None:
        return [None] * len(flatten(out))
    if isinstance(out, (tuple, list)):
        pairs = list(zip(out, column, strict=True))
    elif isinstance(out, dict):
        pairs = [(v, column[k]) for k, v in out.items()]
    elif is_mirrored(out):
        pairs = [(v, getattr(column, k)) for k, v in fields_of(out).items()]
    else:
        return [column] if is_differentiable(out) else []
    return [t for pair in pairs for t in tangents_of(*pair)]


def rows_of(bprop: Callable[[Any], Any], out: Any, x: Any) -> list[Any]:
    """The rows of a Jacobian, one cotangent like `x` for each number in `out`. For a real argument and a
    complex result, the real part comes from the cotangent 1, the imaginary part from -i.
    """
    refuse_libraries(flatten(x), "a Jacobian", "use vjp, jvp or hvp; or pass NumPy's arrays")
    rows = [bprop(cotangent) for cotangent in basis_of(out)]
    if all(map(np.iscomplexobj, flatten(x))) or not any(map(np.iscomplexobj, flatten(out))):
        return rows

    def turned(c: Any, o: Any) -> Any:
        return c * -1j if np.iscomplexobj(o) else c

    def joined(v: Any, r: Any, i: Any) -> Any:
        return r + 1j * i if is_differentiable(v) and not np.iscomplexobj(v) else r

    found = []
    sizes = [(leaf, int(np.size(leaf))) for leaf in flatten(out)]
    is_complex = [np.iscomplexobj(leaf) for leaf, size in sizes for _ in range(size)]
    for row, cotangent, complex_ in zip(rows, basis_of(out), is_complex, strict=True):
        if complex_:
            row = map_structure(joined, x, row, bprop(map_structure(turned, cotangent, out)))
        found.append(row)
    return found


def unflatten_rows(rows: list[Any], out: Any, x: Any) -> Any:
    """The Jacobian from its rows, one cotangent like `x` for each number in `out`."""
    leaves = flatten(out)
    starts = np.concatenate([[0], np.cumsum([np.size(leaf) for leaf in leaves])]).astype(int)
    inputs = flatten(x)

    def block(o: int, i: int) -> Any:
        part = rows[starts[o] : starts[o + 1]]
        values = np.array([np.asarray(flatten(r)[i]) for r in part], dtype=_dtype(leaves[o], inputs[i]))
        return _shaped(values, leaves[o], inputs[i])

    return _nested(out, x, block)


def unstacked_columns(columns: Any, out: Any, x: Any) -> Any:
    """The Jacobian of one number or array from its columns, along the first axis of one array; `x` is one or
    a tuple of several.
    """
    parts = []
    start = 0
    for leaf in x if isinstance(x, tuple) else (x,):
        values = columns[start : start + np.size(leaf)]
        parts.append(_shaped(np.moveaxis(values, 0, -1), out, leaf))
        start += np.size(leaf)
    return tuple(parts) if isinstance(x, tuple) else parts[0]


def unstacked_rows(rows: tuple[Any, ...], out: Any, x: Any) -> Any:
    """The Jacobian of one number or array from its rows, along the first axis of an array for each number or
    array in `x`, which is one or a tuple of several.
    """
    leaves = x if isinstance(x, tuple) else (x,)
    parts = tuple(_shaped(values, out, leaf) for values, leaf in zip(rows, leaves, strict=True))
    return parts if isinstance(x, tuple) else parts[0]


def _dtype(out: Any, x: Any) -> Any:
    return np.result_type(np.asarray(out), np.asarray(x))


def _shaped(values: Any, out: Any, x: Any) -> Any:
    """A block of a Jacobian; a Python number for two Python numbers."""
    if not has_dtype(out) and not has_dtype(x):
        return values.item()
    return values.reshape(np.shape(out) + np.shape(x))[()]


def _nested(out: Any, x: Any, block: Callable[[int, int], Any]) -> Any:
    """The structure of `out`, with the structure of `x` in place of each leaf, filled with blocks."""
    rows = iter(range(len(flatten(out))))

    def row(leaf: Any) -> Any:
        if not is_differentiable(leaf):
            return None
        o = next(rows)
        columns = iter(range(len(flatten(x))))
        return map_structure(lambda i: block(o, next(columns)) if is_differentiable(i) else None, x)

    return map_structure(row, out)
