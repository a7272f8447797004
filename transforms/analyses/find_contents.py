"""The statements that read the elements of arrays, and not only their shape and dtype.

Contract: a function definition and its `Uses` in, the `Uses` with one more name for each of some arrays out,
`contents(name)`, which stands for its elements. So liveness tells whether elements are read later:

    b = np.zeros(n)
    b[1:] = x                      contents(b) is not live here: nothing reads what is stored
    db = np.zeros_like(b)
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import gast

from ..trees.nodes import header_expressions, own_statements
from .find_overwrites import SHAPE_ATTRIBUTES
from .find_uses import Header, Uses
from .nested_scopes import children

__all__ = ["contents", "elements_read", "with_contents"]

Node = Any  # gast publishes no types
ShapeOnly = Callable[[Node], Sequence[int]]  # of a call: the arguments of which only the shape is read


def contents(name: str) -> str:
    """The name of the elements of an array, which is no identifier."""
    return f"{name}[]"


def with_contents(function: Node, uses: Uses, arrays: Iterable[str], shape_only: ShapeOnly) -> Uses:
    """The uses of a function with the contents of these arrays. A copy of a name to one of these arrays
    neither reads nor ends contents: they are those of its alias.
    """
    known = {name: contents(name) for name in arrays}
    if not known:
        return uses
    headers, captures, captured = dict(uses.headers), dict(uses.captures), dict(uses.captured)
    for s in own_statements(function.body):
        key = id(s)
        if key not in headers or (_is_copy(s) and known.keys() >= {*headers[key].binds}):
            continue
        found = {known[n] for n in elements_read(s, shape_only) if n in known}
        reads, binds = headers[key]
        headers[key] = Header(reads | found, (*binds, *(known[n] for n in binds if n in known)))
        if key in captures and found:
            captures[key] |= found
            for name in found:
                captured.setdefault(name, captured.get(name[:-2], 0))
    bound = uses.bound.copy()
    bound.update(known.values())
    return Uses(uses.parameters, bound, uses.read, captured, uses.fixed, headers, captures)


def elements_read(s: Node, shape_only: ShapeOnly) -> set[str]:
    """The names whose elements a statement may read, outside of its blocks."""
    return {name for part in _parts(s) for name in _read(part, shape_only)}


def _is_copy(s: Node) -> bool:
    match s:
        case gast.Assign(targets=[target], value=gast.Name()):
            return isinstance(target, gast.Name)
        case gast.Assign(targets=[gast.Tuple()], value=gast.Tuple(elts=elts)):
            return all(isinstance(e, gast.Name) for e in elts)
    return False


def _parts(s: Node) -> list[Node]:
    """The parts of a statement that it evaluates, outside of its blocks; of an element that is stored to,
    the index.
    """
    match s:
        case gast.Assign():
            return [s.value, *(_index(t) for t in s.targets if not isinstance(t, gast.Name))]
        case gast.AugAssign():
            return [s.value, _index(s.target)]
        case gast.FunctionDef():
            return [s.args, *s.body]
    return list(header_expressions(s))


def _index(target: Node) -> Node:
    match target:
        case gast.Subscript(value=gast.Name(), slice=index):
            return index
        case gast.Tuple(elts=elts):
            return gast.Tuple([_index(e) for e in elts if not isinstance(e, gast.Name)], gast.Load())
    return target


def _read(node: Node, shape_only: ShapeOnly) -> Iterator[str]:
    """The names whose elements an expression, or a statement of a nested function, may read."""
    match node:
        case gast.Name(id=name):
            yield name
        case gast.Attribute(value=gast.Name(), attr=attr) if attr in SHAPE_ATTRIBUTES:
            pass
        case gast.Call(args=args):
            spared = [args[k] for k in shape_only(node) if k < len(args) and isinstance(args[k], gast.Name)]
            for part in children(node):
                if not any(part is s for s in spared):
                    yield from _read(part, shape_only)
        case _:
            for part in children(node):
                yield from _read(part, shape_only)
