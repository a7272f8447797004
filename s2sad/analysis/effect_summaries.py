"""What calls of functions without a rule may do, found in the functions' own forms."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from ..kinds.lattice import Kind, Literal, Scalar, Text, Tuple
from ..transforms.analyses.effects import ANYTHING, Effect
from ..transforms.analyses.operations import Call, Operation, starred
from ..transforms.errors import NoSourceError, Refusal, UnsupportedSyntaxError
from ..transforms.lowering.splice_generators import is_quiet
from ..transforms.trees.generators import is_generator_function
from ..transforms.trees.program import EMPTY, MISSING
from .effects import find_effect
from .function_forms import FunctionForms

__all__ = ["CallEffects"]

RESULT_UNKNOWN = replace(ANYTHING, changed=frozenset())
NOT_READ = (*EMPTY, MISSING, getattr, globals, copy.copy, copy.deepcopy)


def sees_data_only(function: Any, given: list[Kind]) -> bool:
    """Whether a C function of a module is given nothing but numbers and texts, and so can change nothing that
    a function computes with.
    """
    if not isinstance(function, BuiltinFunctionType) or not isinstance(function.__self__, ModuleType):
        return False
    return function not in (eval, exec, compile, __import__) and all(map(is_data, given))


def is_data(kind: Kind) -> bool:
    match kind:
        case Literal(value):
            return isinstance(value, (bool, int, float, complex, str, bytes, type(None)))
        case Tuple(items):
            return all(map(is_data, items))
    return isinstance(kind, (Scalar, Text))


@dataclass
class CallEffects:
    """Finds the effects of calls; `forms` are those of all functions, `known` the effects found by function
    and kinds of arguments.
    """

    forms: FunctionForms
    known: dict[Any, Effect] = field(default_factory=dict)
    met: set[Any] = field(default_factory=set)  # those that were asked for since they were begun

    def may_change(self, operation: Operation, kind: Callable[[Any], Kind]) -> bool:
        """Whether a call of a function without a rule, known now, may change something that it is given."""
        return bool(self.of_call(operation, kind)[0].changed)

    def of_call(
        self, operation: Operation, kind: Callable[[Any], Kind]
    ) -> tuple[Effect, Mapping[str, Any]]:
        """What a call of a function without a rule, known now, may do; and the atoms that it is given."""
        if not isinstance(operation, Call) or operation.function in NOT_READ:
            return RESULT_UNKNOWN, {}
        if isinstance(operation.function, Refusal):  # it makes an error
            return Effect(), {}
        if starred(operation):
            return ANYTHING, {}
        args, keywords = [kind(a) for a in operation.args], {k or "": kind(v) for k, v in operation.keywords}
        function, bound = self.forms.plain(operation.function, args, keywords), None
        if isinstance(function, FunctionType):
            try:
                bound = self.forms.bind(function, args, keywords)
            except NoSourceError:
                return ANYTHING, {}
        if bound is None:  # a wrong call is told when it is linked
            known = isinstance(operation.function, (FunctionType, type))
            known = known or sees_data_only(operation.function, [*args, *keywords.values()])
            return RESULT_UNKNOWN if known else ANYTHING, {}
        if is_generator_function(function):  # nothing of it has run yet
            program = self.forms.normal_form(function)
            return (RESULT_UNKNOWN if is_quiet(program, self.forms.inlinable) else ANYTHING), {}
        effect = self.of_function(function, bound)
        if getattr(operation.function, "gives_gradients", False):
            effect = replace(effect, runs=function)
        elif function is not operation.function:  # the result of a class, a derivative, or one that is kept
            effect = replace(
                ANYTHING, changed=effect.changed, cause=effect.cause, unknown=effect.unknown
            )
        return effect, {**dict(zip(bound, operation.args, strict=False)), **dict(operation.keywords)}

    def of_function(self, function: FunctionType, bound: Mapping[str, Kind]) -> Effect:
        """What a call of a function on arguments of these kinds may do: of a recursive one the least that
        holds for its calls of itself.
        """
        key = (function, tuple(bound.items()))
        if key in self.known:
            self.met.add(key)
            return self.known[key]
        before = self.known.keys() | {key}
        self.known[key] = Effect()  # what a recursive call meets at first
        while True:
            self.met.discard(key)
            found = self._found(function, bound)
            last, self.known[key] = self.known[key], found
            if key not in self.met or found == last:
                return found
            for made in self.known.keys() - before:  # it stands on what was taken for granted
                del self.known[made]

    def _found(self, function: FunctionType, bound: Mapping[str, Kind]) -> Effect:
        """One look at what a call may do, given what is known of calls now."""
        try:
            return find_effect(self.forms.expanded(function, bound))
        except NoSourceError:
            return ANYTHING
        except UnsupportedSyntaxError as error:
            return replace(ANYTHING, cause=error)

    def forgets(self, operation: Call, kind: Callable[[Any], Kind]) -> bool:
        """Whether what is known of the objects that a call is given may not hold after it."""
        return operation.function is MISSING or self.may_change(operation, kind)

    def replaces(self, operation: Call, kind: Callable[[Any], Kind]) -> bool:
        """Whether objects and containers that a call is given may hold other objects after it."""
        effect = self.of_call(operation, kind)[0]
        return operation.function is MISSING or (bool(effect.changed) and effect.replaces)
