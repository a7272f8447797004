"""Shrinks the residuals of a closure with a reverse sweep.

An array that is only asked for its shape becomes that shape, or a parameter of the same shape; an array that
is only compared with numbers becomes the results of the comparisons, an eighth of its size.

    y = x @ w                            y = x @ w
    z = np.maximum(y, 0)                 y_1 = y >= 0
                                   ->    z = np.maximum(y, 0)
    def bprop(dz):
        dy = np.where(y >= 0, dz, 0)     def bprop(dz):
                                             dy = np.where(y_1, dz, 0)
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast

from ..analyses.operations import Apply
from ..trees.nodes import assign, assigned_names, call, load, names_read, same
from ..trees.rebuild import map_children, rebuilt, substitute
from .reverse_state import Reverse
from .traces import asked_for_shapes

__all__ = ["shrink_residuals"]


def shrink_residuals(
    reverse: Reverse, statements: list[Any], forward: list[Any], backward: list[Any], out: Any
) -> None:
    """Changes both sweeps in place; `statements` are the function's, `out` its result."""
    whole = arrays_made(reverse, statements)
    held = set(names_read(out))
    keep_comparisons(reverse, [n for n in whole if whole[n] == n and n not in held], forward, backward)
    keep_shapes(reverse, whole, forward, backward)


def keep_comparisons(reverse: Reverse, arrays: list[str], forward: list[Any], backward: list[Any]) -> None:
    """Moves comparisons with numbers into the forward sweep for arrays that the reverse sweep reads only in
    these, and for their shape.
    """
    read = set(names_read(backward))
    for n in arrays:
        if n not in read or reverse.changes.is_changed(n):
            continue
        found: list[Any] = []
        trial = [without_comparisons(b, n, found) for b in backward]
        left = set(names_read(trial))
        if not found or (n in left and n not in asked_for_shapes(reverse, {n: n}, trial)):
            continue
        names = [reverse.names.temporary(n) for _ in found]
        mapping = {mark(k): load(name) for k, name in enumerate(names)}
        backward[:] = [substitute(b, mapping) for b in trial]
        for name, comparison in zip(reversed(names), reversed(found), strict=True):
            put_behind(forward, n, assign(name, comparison))


def without_comparisons(code: Any, name: str, found: list[Any]) -> Any:
    """Code with placeholders for the comparisons of an array with numbers, which are added to `found`."""
    match code:
        case gast.Compare(left=gast.Name(id=left), ops=[_], comparators=[gast.Constant()]) if left == name:
            known = next((k for k, c in enumerate(found) if same(c, code)), None)
            if known is None:
                known = len(found)
                found.append(code)
            return load(mark(known))
    return map_children(code, lambda child: without_comparisons(child, name, found))


def mark(k: int) -> str:
    """A placeholder, which is no identifier."""
    return f"<{k}>"


def put_behind(forward: list[Any], name: str, s: Any) -> None:
    """Inserts a statement after the only assignment of an array, so that the array is freed early; at the end
    of the sweep, if there are several.
    """
    assigning = [k for k, f in enumerate(forward) if name in assigned_names(f)]
    forward.insert(assigning[0] + 1 if len(assigning) == 1 else len(forward), s)


def keep_shapes(reverse: Reverse, whole: dict[str, str], forward: list[Any], backward: list[Any]) -> None:
    """Makes bprop hold only the shape and dtype of arrays that it reads nothing else of, by any name."""
    zeros = [zeros_as_helper(reverse, b, whole) for b in backward]
    read = set(names_read(backward))
    shaped = asked_for_shapes(reverse, {n: n for n in whole if n in read}, zeros)
    needed = {whole[n] for n in whole if n in read and n not in shaped}
    kept: dict[str, str] = {}
    for n in [n for n in whole if n in shaped and whole[n] not in needed]:
        given = reverse.shapes.given_like(n)  # the closure holds it in any case
        if given is not None:
            backward[:] = [substitute(b, {n: load(given)}) for b in backward]
        else:
            kept[n] = reverse.names.temporary(n)
    for n, copy in kept.items():
        put_behind(forward, n, assign(copy, call(reverse.helper("like"), load(n))))
    copies = {n: load(copy) for n, copy in kept.items()}
    backward[:] = [substitute(zeros_as_helper(reverse, b, kept), copies) for b in backward]


def arrays_made(reverse: Reverse, statements: list[Any]) -> dict[str, str]:
    """The names of a block's new arrays, and of parts of these, each with the name of the whole array."""
    bound = Counter(n for s in statements for n in assigned_names(s))
    found: dict[str, str] = {}
    for s in statements:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if is_made(reverse, value):
                found[name] = name
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Subscript(value=gast.Name(id=base))):
                if base in found and bound[name] == bound[base] == 1:
                    found[name] = found[base]
    return found


def zeros_as_helper(reverse: Reverse, code: Any, names: Any) -> Any:
    """Code with `zeros_of(x)`, which also takes a shape record, for `np.zeros_like(x)`."""
    match code:
        case gast.Call(func=func, args=[gast.Name(id=name)], keywords=[]) if name in names:
            if reverse.is_array_function(func, "zeros_like"):
                return rebuilt(code, func=reverse.helper("zeros_of"))
    return map_children(code, lambda child: zeros_as_helper(reverse, child, names))


def is_made(reverse: Reverse, value: Any) -> bool:
    """Whether an expression makes a new object, and no view."""
    operation = reverse.operation(value)
    return isinstance(operation, Apply) and reverse.primitives.sharing(operation) == "fresh"
