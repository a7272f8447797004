"""Derivatives written as Python functions, whose lines are inlined into generated code."""

from __future__ import annotations

import builtins
import inspect
import textwrap
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType, MappingProxyType
from typing import Any

import gast
import numpy as np

from ..values.code_state import cells_of

__all__ = ["Template"]

Node = Any  # gast publishes no types


@dataclass(frozen=True, eq=False)
class Template:
    """A derivative written as Python: a function whose lines are inlined into derivatives.

    `parameters` are the primitive's own, without `vararg` and `kwarg`; `tangents` are those after `out`:
    `("dout",)` in reverse templates.
    """

    function: Any  # a Python function: types.FunctionType

    def __post_init__(self) -> None:
        if not isinstance(self.function, FunctionType) or self.function.__name__ == "<lambda>":
            raise TypeError(f"{self.function!r}: a rule is written as a `def`")
        names = self._names
        if "out" not in names or names.index("out") == len(names) - 1:
            raise TypeError(
                f"{self.function.__qualname__}: the parameters of a rule are the primitive's own, then `out, "
                "dout` (in a forward rule: `out`, then `d` and the name of each differentiable parameter)"
            )

    @cached_property
    def _names(self) -> tuple[str, ...]:
        code = self.function.__code__
        names: tuple[str, ...] = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        return names

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        return self._names[: self._names.index("out")]

    @cached_property
    def tangents(self) -> tuple[str, ...]:
        return self._names[self._names.index("out") + 1 :]

    @cached_property
    def vararg(self) -> str | None:
        code = self.function.__code__
        return code.co_varnames[len(self._names)] if code.co_flags & inspect.CO_VARARGS else None

    @cached_property
    def kwarg(self) -> str | None:
        code = self.function.__code__
        place = len(self._names) + (self.vararg is not None)
        return code.co_varnames[place] if code.co_flags & inspect.CO_VARKEYWORDS else None

    @cached_property
    def positional(self) -> int:
        """The number of `parameters` that can be passed by position."""
        return sum(p in self.parameters for p in self._names[: self.function.__code__.co_argcount])

    @cached_property
    def defaults(self) -> Mapping[str, object]:
        f = self.function
        values = f.__defaults__ or ()
        count = f.__code__.co_argcount
        found = dict(zip(self._names[count - len(values) : count], values, strict=True))
        return MappingProxyType({**found, **(f.__kwdefaults__ or {})})

    @cached_property
    def globals(self) -> Mapping[str, Any]:
        """The values of the template's free names."""
        return ChainMap(dict(self._closed_over), self.function.__globals__, vars(builtins))

    @cached_property
    def _closed_over(self) -> Mapping[str, Any]:
        return {name: cell.cell_contents for name, cell in cells_of(self.function).items()}

    @cached_property
    def words(self) -> Mapping[str, Node]:
        """The strings that the template closes over, as literals for generated code."""
        return {k: gast.Constant(v, None) for k, v in self._closed_over.items() if isinstance(v, str)}

    def name_of(self, free: str) -> str:
        """The name in generated code for a free name of the template; a captured function has its own name.
        """
        found = self._closed_over.get(free)
        own = getattr(found, "__name__", free)
        owner = getattr(getattr(found, "__self__", None), "name", None)  # for a distribution's method
        own = f"{owner}_{own}" if isinstance(owner, str) else own
        return own if own.isidentifier() else free

    @cached_property
    def body(self) -> list[Node]:
        """The template's statements as gast nodes, without its docstring; do not change them. They have no
        positions, since they are inlined into other files.
        """
        tree = self._parsed[0]
        body: list[Node] = tree.body
        first = body[0].value if isinstance(body[0], gast.Expr) else None
        return body[1:] if isinstance(first, gast.Constant) and isinstance(first.value, str) else body

    @cached_property
    def _parsed(self) -> tuple[Node, Mapping[int, int], bool]:
        """The definition without positions, for each statement its line, counted from the first one, and
        whether it returns one gradient without a tuple; here it is in a tuple.
        """
        tree = gast.parse(textwrap.dedent(inspect.getsource(self.function))).body[0]
        if not isinstance(tree, gast.FunctionDef):
            raise TypeError(f"{self.function.__qualname__}: a rule is written as a `def`")
        returned = [n for n in gast.walk(tree) if isinstance(n, gast.Return)]
        is_bare = self._has_one_gradient and all(self._is_single(n.value, tree.body) for n in returned)
        for n in returned if is_bare else ():
            n.value = gast.Tuple(elts=[n.value], ctx=gast.Load())
        lines = {id(n): n.lineno - 1 for n in gast.walk(tree) if isinstance(n, gast.stmt)}
        for node in gast.walk(tree):
            for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
                node.__dict__.pop(name, None)
        return tree, lines, is_bare

    @property
    def is_bare(self) -> bool:
        """Whether the function returns its one gradient without a tuple."""
        return self._parsed[2]

    @cached_property
    def _has_one_gradient(self) -> bool:
        """Whether this is the reverse template of a function of one argument: it may return the gradient
        without a tuple.
        """
        is_reverse = self.tangents == ("dout",)
        return is_reverse and len(self.parameters) == 1 and self.vararg is None and self.kwarg is None

    def _is_single(self, value: Node, body: list[Node]) -> bool:
        """Whether an expression that a template returns is surely one gradient, and no tuple of gradients."""
        match value:
            case gast.Name(id=name) if name in (*self.parameters, "out", *self.tangents):
                return True
            case gast.Name(id=name):
                assigned = [n for s in body for n in gast.walk(s) if isinstance(n, gast.Assign)]
                values = [n.value for n in assigned if any(getattr(t, "id", "") == name for t in n.targets)]
                return bool(values) and all(self._is_single(v, body) for v in values)
            case gast.BinOp(left=left, right=right):
                return not isinstance(left, (gast.Tuple, gast.List)) and self._is_single(right, body)
            case gast.UnaryOp() | gast.Constant() | gast.Subscript():
                return True
            case gast.IfExp(body=one, orelse=other):
                return self._is_single(one, body) and self._is_single(other, body)
            case gast.Call(func=gast.Name(id=name)):
                return is_of_numbers(self.globals.get(name))
            case gast.Call(func=gast.Attribute(value=gast.Name(id=base), attr=name)) if base in self.globals:
                return is_of_numbers(getattr(self.globals[base], name, None))
            case gast.Call(func=gast.Attribute()) | gast.Attribute():
                return True  # of an array
        return False

    def gradients_at(self, *args: Any, **keywords: Any) -> Any:
        """The gradients that a reverse template returns, as a tuple."""
        found = self.function(*args, **keywords)
        return (found,) if self.is_bare else found

    def line_of(self, statement: Node) -> int:
        """The line of a statement, counted from the first line of the rule."""
        return self._parsed[1][id(statement)]

    @cached_property
    def gradients(self) -> int:
        """The number of gradients that the template returns."""
        returned = [n.value for s in self.body for n in gast.walk(s) if isinstance(n, gast.Return)]
        lengths = {len(value.elts) if isinstance(value, gast.Tuple) else 0 for value in returned}
        if len(lengths) != 1 or not all(lengths):
            raise TypeError(
                f"{self.function.__qualname__}: a rule returns a literal tuple, one entry for "
                "each leading parameter, of the same length wherever it returns: `return (dx,)`"
            )
        return lengths.pop()


def is_of_numbers(f: Any) -> bool:
    """Whether a function is one of NumPy's or of `math`, whose results are arrays and numbers."""
    module = getattr(f, "__module__", None) or ""
    return isinstance(f, np.ufunc) or module.partition(".")[0] in ("numpy", "math")
