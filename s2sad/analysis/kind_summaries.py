"""The kinds of the results of calls of users' functions, found in the normal forms of their callees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

import gast

from ..kinds import domain
from ..kinds.abstraction import kind_of
from ..kinds.class_members import field_kind, super_of
from ..kinds.join import join
from ..kinds.lattice import PENDING, SET, UNKNOWN, Array, Instance, Kind, Literal, Record, Scalar, widen
from ..kinds.wrapped_functions import unwrapped
from ..source.fixed_arity import has_stars
from ..source.read import FunctionSource, read_source
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.operations import Call, starred
from ..transforms.errors import NoSourceError, Refusal, UnsupportedSyntaxError
from ..transforms.trees.nodes import assigned_names, find_nodes
from ..transforms.trees.program import EMPTY, Program
from ..transforms.trees.rebuild import parameter_names
from ..values.custom_rule import rule_of
from .cached_properties import computed_by
from .constructors import makes_empty
from .function_forms import FunctionForms

__all__ = ["CallKinds"]

NONE = Literal(None)
ROUNDS = 4  # after which the kind of the result of a recursive function is unknown
MANY_LENGTHS = 6  # of a function's arguments, after which lengths are unknown
MANY_KINDS = 12  # of a function's arguments, after which the kinds are unknown


@dataclass
class CallKinds:
    """Finds the kinds of calls from the `forms` of callees. `results` keeps them by function and kinds,
    `seen` the kinds that each function was called with; `widened` says whether those of a call were widened
    because of other calls.
    """

    forms: FunctionForms
    results: dict[Any, Kind] = field(default_factory=dict)
    seen: dict[Any, set[Any]] = field(default_factory=dict)
    widened: bool = False
    open: set[Any] = field(default_factory=set)  # functions, with kinds, that are being looked at
    recursive: set[Any] = field(default_factory=set)  # those of them that are called again

    def of_hidden(self, operation: Call, args: list[Kind], keywords: dict[str, Kind]) -> Kind:
        """As `of`, for a call that will be inlined: a function that returns an argument has its kind."""
        program = self.forms.inlinable(operation.function, operation.node)
        if program is not None and not starred(operation):
            given = {**dict(zip(parameter_names(program.tree), args, strict=False)), **keywords}
            result = program.tree.body[-1].value
            name = result.id if isinstance(result, gast.Name) else ""
            if name in given and name not in assigned_names(program.tree.body):
                return given[name]
        return self.of(operation, args, keywords)

    def of_cached(self, owner: Kind, name: str) -> Kind:
        """The kind of a cached property, computed or held; Unknown for other attributes."""
        function = computed_by(owner, name)
        if function is None:
            return UNKNOWN
        computed = self.of(Call(function, None, (), (), None), [owner], {})
        held = field_kind(owner, name) if isinstance(owner, Record) else None
        return computed if held is None else join(computed, held)

    def of(self, operation: Call, args: list[Kind], keywords: dict[str, Kind]) -> Kind:
        """The kind of the result of a user's function for arguments of these kinds."""
        found, made = self._of(operation, args, keywords), operation.function
        return Instance(made) if found is UNKNOWN and makes_empty(made) else found

    def _of(self, operation: Call, args: list[Kind], keywords: dict[str, Kind]) -> Kind:
        if operation.function in EMPTY and isinstance(made := getattr(args[0], "value", None), type):
            return Record(made, ()) if makes_empty(made) else UNKNOWN
        if operation.function is replace and len(args) == 1 and isinstance(args[0], Record):
            kind: Kind = args[0]
            for name, value in keywords.items():
                kind = domain.with_field(kind, name, value)
            return kind
        if operation.function is super and len(args) == 2:
            classes = [getattr(kind, "value", None) for kind in args]
            return Literal(super_of(*classes)) if all(isinstance(c, type) for c in classes) else UNKNOWN
        if operation.function is set or operation.function is frozenset:
            return SET
        function = self.forms.plain(operation.function, args, keywords)
        if not isinstance(function, FunctionType) or has_stars(function) or starred(operation):
            return UNKNOWN
        try:
            bound = self.bind(function, args, keywords)
        except NoSourceError:
            return UNKNOWN
        return UNKNOWN if bound is None else self.of_bound(function, bound)

    def of_bound(self, function: FunctionType, bound: Mapping[str, Kind]) -> Kind:
        """The kind of the result of a user's function for parameters of these kinds."""
        key = (function, tuple(bound.items()))
        rule = rule_of(function)
        if rule is not None and rule.is_own:
            return UNKNOWN
        if key in self.results:
            if key in self.open:
                self.recursive.add(key)
            return self.results[key]
        before = dict(self.results)
        self.results[key] = UNKNOWN  # the result of a recursive call
        self.open.add(key)
        try:
            facts = self.forms.expanded(function, bound)
            result = facts.kind(facts.program.tree.body[-1].value)
            if key in self.recursive and domain.is_immutable(result) is False:
                least = self.of_recursive(key, facts, bound, before)
                result = result if least is UNKNOWN else least
        except UnsupportedSyntaxError:  # raised again where the function's derivative is generated
            return UNKNOWN
        finally:
            self.open.discard(key)
        is_lost = result == NONE and refuses(facts.program)  # perhaps in every branch
        self.results[key] = UNKNOWN if is_lost else result
        return self.results[key]

    def of_recursive(
        self, key: Any, facts: Facts, bound: Mapping[str, Kind], others: Mapping[Any, Kind]
    ) -> Kind:
        """The kind of the result of a recursive function: the least that its own calls, of this kind, give.
        `others` are the results that do not depend on it.
        """
        known = self.results
        result: Kind = PENDING
        try:
            for _ in range(ROUNDS):
                self.results = {**others, key: result}
                with self.forms.assuming():
                    kinds = self.forms.kinds(facts.program, bound)
                found = facts.with_kinds(facts.program, kinds).kind(facts.program.tree.body[-1].value)
                new = join(result, found)
                if new is UNKNOWN:
                    break
                if new == result is not PENDING:
                    known = self.results
                    return result
                result = new
            return UNKNOWN
        finally:
            self.results = known

    def bind(
        self, function: FunctionType, args: list[Kind], keywords: dict[str, Kind]
    ) -> dict[str, Kind] | None:
        """The kinds of a function's parameters in a call, or None when the call does not fit."""
        source = read_source(function)
        parameters = parameter_names(source.tree)
        by_position = parameters[: len(parameters) - len(source.tree.args.kwonlyargs)]
        bound = dict(zip(by_position, args, strict=False))
        if len(args) > len(by_position) or set(bound) & set(keywords) or not set(keywords) <= set(parameters):
            return None
        bound.update(keywords)
        for name in parameters:
            if name not in bound:
                if name not in source.defaults:
                    return None
                bound[name] = kind_of_default(source.defaults[name], f"{function.__qualname__}.{name}")
        seen = self.seen.setdefault(function, set())
        given = key = tuple(bound[name] for name in parameters)
        if key not in seen and _calls_itself(source):
            key = tuple(_of_other_calls(_uncounted(kind), {k[i] for k in seen}) for i, kind in enumerate(key))
        if key not in seen and len(seen) >= MANY_LENGTHS:  # of a recursion on ever shorter slices
            key = tuple(map(of_any_length, key))
        if key not in seen and len(seen) >= MANY_KINDS:  # of a recursion that builds them up
            self.widened = True
            return dict.fromkeys(parameters, UNKNOWN)
        self.widened = self.widened or key != given
        seen.add(key)
        return dict(zip(parameters, key, strict=True))


def refuses(program: Program) -> bool:
    """Whether a refused statement of a program is deferred."""
    return any(isinstance(value, Refusal) for value in program.bindings.values())


def _calls_itself(source: FunctionSource) -> bool:
    """Whether a function calls itself by a global name or a free variable."""
    names = {getattr(call.func, "id", "") for call in find_nodes(source.tree, gast.Call)}
    code = source.function.__code__
    called = map(source.scope.lookup, names)
    return any(getattr(unwrapped(f) or f, "__code__", None) is code for f in called)


def _of_other_calls(kind: Kind, others: set[Kind]) -> Kind:
    """The kind of an argument of a recursive function, joined with the kinds in other calls where these are
    numbers or arrays of the same dtype and rank. Booleans stay known.
    """
    if isinstance(kind, Literal) and isinstance(kind.value, bool):
        return kind
    for other in others:
        joined = join(kind, other)
        if isinstance(joined, (Scalar, Array)) and _form(joined) == _form(widen(kind)):
            kind = joined
    return kind


def _uncounted(kind: Kind) -> Kind:
    """The kind of an argument of a recursive function, without the value of an integer."""
    return widen(kind) if isinstance(kind, Literal) and type(kind.value) is int else kind


def _form(kind: Kind) -> Any:
    """The dtype and rank of numbers and arrays."""
    return getattr(kind, "dtype", None), len(getattr(kind, "dims", None) or ())


def of_any_length(kind: Kind) -> Kind:
    """The kind without the lengths of an array; other kinds as they are."""
    if isinstance(kind, Array) and kind.dims is not None:
        return Array(kind.dtype, (None,) * len(kind.dims))
    return kind


def kind_of_default(value: Any, prefix: str) -> Kind:
    """The kind of the default of a parameter; a boolean stays known."""
    return Literal(value) if isinstance(value, bool) else kind_of(value, prefix)
