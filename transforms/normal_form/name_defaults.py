"""The defaults of a function as the values that they had when it was defined.

    def price(self, style=Style.CALL, rate=RATE, shift=-1, taken=()): ...

    def price(self, style=style_1, rate=0.05, shift=-1, taken=taken_1): ...

Values that cannot change become literals, or names that are bound to them; other defaults stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum
from typing import Any

import gast

from ..trees.bind_objects import Objects
from ..trees.nodes import constant, load, located
from ..trees.program import Program
from ..trees.rebuild import rebuilt

__all__ = ["with_defaults"]

LITERALS = (bool, int, str, bytes, type(None))


def with_defaults(program: Program, values: Mapping[str, Any]) -> Program:
    """The program with the defaults of its parameters, whose values are given, as literals and names."""
    args = program.tree.args
    if all(d is None or isinstance(d, gast.Constant) for d in [*args.defaults, *args.kw_defaults]):
        return program
    objects = Objects(program, program.names.copy())

    def known(parameter: Any, default: Any) -> Any:
        if default is None or isinstance(default, gast.Constant) or parameter.id not in values:
            return default
        value = values[parameter.id]
        if type(value) in LITERALS or (type(value) is float and math.isfinite(value)):
            return located(constant(value), default)
        if is_immutable(value):
            return located(load(objects.name(value, parameter.id)), default)
        return default

    positional = [*args.posonlyargs, *args.args]
    first = len(positional) - len(args.defaults)
    defaults = [known(p, d) for p, d in zip(positional[first:], args.defaults, strict=True)]
    by_keyword = [known(p, d) for p, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    tree = rebuilt(program.tree, args=rebuilt(args, defaults=defaults, kw_defaults=by_keyword))
    return program.with_tree(tree, bindings=objects.all_bindings(), names=objects.names)


def is_immutable(value: Any) -> bool:
    """Whether a value cannot change; attributes of classes are looked up when they are read."""
    if type(value) is tuple:
        return all(map(is_immutable, value))
    return isinstance(value, (*LITERALS, float, complex, Enum)) or callable(value)
