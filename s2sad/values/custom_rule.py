"""Rules of the user's that are called at run time: a function's derivative as a pair of functions.

Contract: a rule is an attribute of the function that it is for; a copy of the function has none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

__all__ = ["CustomRule", "give_rule", "rule_of"]

ATTRIBUTE = "__s2sad_rule__"
TEXT = "__s2sad_text__"  # the first code object: the text of a generated function lives as long as that
Function = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class CustomRule:
    """The derivative of `function`, which is called `name` in errors.

    `forward(*args)` is `(out, residuals)` and `backward(residuals, dout)` a tuple with the gradient of each
    argument, None for zero, or one gradient alone. `push(*args, *tangents)` is `(out, tangent of out)`; its
    tangents are those of the parameters outside of `constants`, which carry no derivative. Where one of the
    two is missing it is the transpose of the other. A rule of s2sad itself `is_own`: it is not checked.
    """

    function: FunctionType
    name: str
    forward: Function | None = None
    backward: Function | None = None
    push: Function | None = None
    constants: frozenset[int] = frozenset()
    is_own: bool = False

    def of(self, function: FunctionType) -> FunctionType:
        """The function, with this rule as its own."""
        vars(function)[ATTRIBUTE] = replace(self, function=function)
        return function


def rule_of(f: Any) -> CustomRule | None:
    """The rule of a function; None without one. `functools.wraps` copies attributes to functions that the
    rule is not for.
    """
    found = vars(f).get(ATTRIBUTE) if isinstance(f, FunctionType) else None
    return found if isinstance(found, CustomRule) and found.function is f else None


def give_rule(rule: CustomRule) -> None:
    """Gives the function its rule; derivatives that have read the function before are made again."""
    function, code = rule.function, rule.function.__code__
    vars(function)[ATTRIBUTE] = rule
    vars(function).setdefault(TEXT, code)
    function.__code__ = code.replace()  # the state of a function is the identity of its code
