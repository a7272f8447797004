"""Finds which other arguments the code for some kinds of arguments is right for.

Contract: kinds in, wider kinds out, for which a derivative has the same code. For numbers that are not
differentiated it may be other code that is no longer, which multiplies by 1.0 where an integer may be.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile

from ..derivatives.derivative import Derivative
from ..kinds.lattice import Kind
from ..transforms.errors import S2sadError
from ..values.length_wanted import LengthWanted
from .kind_tests import has_order, in_order, reordered, with_numbers, without_lengths, without_minima

__all__ = ["Widening"]

Code = tuple[str, str, str]  # the texts of imports, constants and definitions


@dataclass(frozen=True)
class Widening:
    """The derivative, and its `code` for arguments of some kinds."""

    derivative: Derivative
    code: Callable[[tuple[Kind, ...]], Code]

    def has_code(self, kinds: tuple[Kind, ...], code: Code) -> bool:
        """Whether this is the code for arguments of these kinds."""
        with suppress(S2sadError, LengthWanted):
            return self.code(kinds) == code
        return False

    def with_lengths(self, kinds: tuple[Kind, ...]) -> tuple[Kind, ...]:
        """The kinds with arrays of all lengths that have the same code."""
        code = self.code(kinds)
        wider = (tuple(map(relax, kinds)) for relax in (without_lengths, without_minima))
        return next((k for k in wider if self.has_code(k, code)), kinds)

    def with_numbers(self, kinds: tuple[Kind, ...]) -> tuple[Kind, ...]:
        """The kinds with more kinds of numbers in arguments that are not differentiated, where the code for
        them has no more lines and calls.
        """
        chosen = self.derivative.version_for_kinds(kinds)[1]
        for k in range(len(kinds)):
            for dtype in ("real", "integer") if k not in chosen else ():
                wider = _replaced(kinds, k, with_numbers(kinds[k], dtype))
                if wider != kinds and self._is_as_short(wider, kinds, chosen):
                    kinds = wider
                    break
        return kinds

    def _is_as_short(
        self, wider: tuple[Kind, ...], kinds: tuple[Kind, ...], chosen: tuple[int, ...]
    ) -> bool:
        with suppress(S2sadError, LengthWanted):
            is_same = self.derivative.version_for_kinds(wider)[1] == chosen
            return is_same and _size(self.code(wider)) <= _size(self.code(kinds))
        return False

    def in_any_order(self, kinds: tuple[Kind, ...]) -> frozenset[int]:
        """The arguments that hold dicts, and for which the code is the same for all orders of their keys."""
        return frozenset(k for k, kind in enumerate(kinds) if has_order(kind) and self._any_order(kinds, k))

    def _any_order(self, kinds: tuple[Kind, ...], k: int) -> bool:
        function, chosen = self.derivative.version_for_kinds(kinds)
        form, own = self.derivative.form, function.__name__
        is_returned = k in chosen and form != "jvp"
        if is_returned and (form == "vjp" or in_order(kinds[k], "dx", "x") is None):
            return False
        code = _without_orders(self.code(kinds), own)
        others = (_replaced(kinds, k, reordered(kinds[k], turned)) for turned in (False, True))
        with suppress(S2sadError, LengthWanted):
            return all(_without_orders(self.code(other), own) == code for other in others)
        return False


def _replaced(kinds: tuple[Kind, ...], k: int, kind: Kind) -> tuple[Kind, ...]:
    return (*kinds[:k], kind, *kinds[k + 1 :])


def _size(code: Code) -> tuple[int, int]:
    """How many lines and calls a module has."""
    text = "\n".join(code)
    return text.count("\n"), sum(isinstance(node, ast.Call) for node in ast.walk(ast.parse(text)))


def _without_orders(code: Code, name: str) -> str:
    """The code of a module in a form that is the same when its generated function, of this name, reads the
    items of dicts in other orders first, and returns them in other orders.

    >>> f = "def f(p):\\n    a = p['a']\\n    b = p['b']\\n    return {'a': b, 'b': a}"
    >>> g = "def f(p):\\n    b = p['b']\\n    a = p['a']\\n    return {'b': a, 'a': b}"
    >>> _without_orders(("", "", f), "f") == _without_orders(("", "", g), "f")
    True
    """
    imports, constants, definitions = code
    tree = ast.parse(definitions)
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)
    first = [*takewhile(_is_item_read, function.body)]
    function.body[: len(first)] = sorted(first, key=ast.unparse)
    last = function.body[-1]
    if isinstance(last, ast.Return) and last.value is not None:
        for display in _displays(last.value):
            values = {ast.unparse(k): v for k, v in zip(display.keys, display.values, strict=True) if k}
            display.keys = [ast.Constant(key) for key in sorted(values)]
            display.values = [values[key] for key in sorted(values)]
    return "\n".join([imports, constants, ast.unparse(tree)])


def _is_item_read(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Name()], value=ast.Subscript(value=ast.Name(), slice=ast.Constant())):
            return True
    return False


def _displays(result: ast.expr) -> Iterator[ast.Dict]:
    """The dicts with literal keys that a result consists of."""
    if isinstance(result, ast.Dict) and result.keys and all(isinstance(k, ast.Constant) for k in result.keys):
        yield result
    parts = result.values if isinstance(result, ast.Dict) else getattr(result, "elts", ())
    for part in parts:
        yield from _displays(part)
