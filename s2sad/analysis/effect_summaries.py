"""The effects of calls of functions without a rule, found in the normal forms of their callees."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import gast

from ..kinds.class_members import attribute_kind, member_of
from ..kinds.lattice import Kind, Literal, Scalar, Text, Tuple
from ..transforms.analyses.effects import ANYTHING, Effect
from ..transforms.analyses.operations import Call, Operation, starred
from ..transforms.errors import NoSourceError, Refusal, UnsupportedSyntaxError
from ..transforms.lowering.splice_generators import is_effect_free
from ..transforms.trees.generators import is_generator_function
from ..transforms.trees.program import EMPTY, MISSING
from ..values.custom_rule import rule_of
from .effects import find_effect
from .function_forms import FunctionForms

__all__ = ["CallEffects"]

RESULT_UNKNOWN = replace(ANYTHING, changed=frozenset())
NOT_READ = (*EMPTY, MISSING, getattr, globals, copy.copy, copy.deepcopy)


def sees_data_only(function: Any, given: list[Kind]) -> bool:
    """Whether a C function of a module gets nothing but numbers and strings, so that it can change no
    argument.
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
    """Finds the effects of calls from the `forms` of callees; `known` keeps them by function and kinds."""

    forms: FunctionForms
    known: dict[Any, Effect] = field(default_factory=dict)
    met: set[Any] = field(default_factory=set)  # those that a recursive call asked for while they were found

    def may_change(self, operation: Operation, kind: Callable[[Any], Kind]) -> bool:
        """Whether a call of a known function without a rule may change its arguments."""
        return bool(self.of_call(operation, kind)[0].changed)

    def of_call(
        self, operation: Operation, kind: Callable[[Any], Kind]
    ) -> tuple[Effect, Mapping[str, Any]]:
        """The effect of a call of a known function without a rule, and the atom that each parameter is bound
        to.
        """
        if not isinstance(operation, Call) or operation.function in NOT_READ:
            return RESULT_UNKNOWN, {}
        if isinstance(operation.function, Refusal):  # it makes an error
            return Effect(refuses=True), {}
        if starred(operation):
            return ANYTHING, {}
        args, keywords = [kind(a) for a in operation.args], {k or "": kind(v) for k, v in operation.keywords}
        function, bound = self.forms.plain(operation.function, args, keywords), None
        if isinstance(function, FunctionType):
            try:
                bound = self.forms.bind(function, args, keywords)
            except NoSourceError:
                return ANYTHING, {}
        if bound is None:  # arguments that do not fit are refused when the call is linked
            known = isinstance(operation.function, (FunctionType, type))
            known = known or sees_data_only(operation.function, [*args, *keywords.values()])
            return RESULT_UNKNOWN if known else ANYTHING, {}
        if is_generator_function(function):  # the call itself runs none of its body
            program = self.forms.normal_form(function)
            return (RESULT_UNKNOWN if is_effect_free(program, self.forms.inlinable) else ANYTHING), {}
        rule = rule_of(function)
        effect = RESULT_UNKNOWN if rule is not None and rule.is_own else self.of_function(function, bound)
        if rule is not None and (effect is ANYTHING or effect.cause or effect.unknown):
            effect = RESULT_UNKNOWN  # a function with a rule need not be readable
        if getattr(operation.function, "gives_gradients", False):
            effect = replace(effect, runs=function)
        elif function is not operation.function:  # of a class, a derivative or a cached function
            effect = replace(effect, shared=ANYTHING.shared, results=ANYTHING.results, replaces=True)
        return effect, {**dict(zip(bound, operation.args, strict=False)), **dict(operation.keywords)}

    def of_function(self, function: FunctionType, bound: Mapping[str, Kind]) -> Effect:
        """The effect of a function on arguments of these kinds; of a recursive one the least fixed point."""
        key = (function, tuple(bound.items()))
        if key in self.known:
            self.met.add(key)
            return self.known[key]
        before = self.known.keys() | {key}
        self.known[key] = Effect()  # where the fixed point iteration starts
        while True:
            self.met.discard(key)
            found = self._found(function, bound)
            last, self.known[key] = self.known[key], found
            if key not in self.met or found == last:
                return found
            for made in self.known.keys() - before:  # found from the last assumption, which was too small
                del self.known[made]

    def _found(self, function: FunctionType, bound: Mapping[str, Kind]) -> Effect:
        """One iteration: the effect of a function, given the effects that are known now."""
        try:
            return find_effect(self.forms.expanded(function, bound))
        except NoSourceError:
            return ANYTHING
        except UnsupportedSyntaxError as error:
            return replace(ANYTHING, cause=error)

    def forgets(self, operation: Call, kind: Callable[[Any], Kind]) -> bool:
        """Whether a call may change its arguments, so that facts of them no longer hold."""
        return operation.function is MISSING or self.may_change(operation, kind)

    def replaces(self, operation: Call, kind: Callable[[Any], Kind]) -> bool:
        """Whether a call, which is to be inlined, may store other objects into its arguments."""
        held = operation.callee
        if operation.function is MISSING and isinstance(held, gast.Attribute):
            of_held = attribute_kind(kind(held.value), held.attr)
            called = member_of(of_held, "__call__")
            if called is not None and called.role == "method":
                call = replace(operation, function=called.value, args=(held, *operation.args))
                return self.replaces(call, lambda x: of_held if x is held else kind(x))
        effect = self.of_call(operation, kind)[0]
        return operation.function is MISSING or (bool(effect.changed) and effect.replaces)
