"""`Facts`, the program and its analyses, which every analysis and every pass after the normal form is given.

    def find_something(facts: Facts) -> Something: ...
    def rewrite_something(facts: Facts) -> Program: ...

    found = facts.of(find_something)     # computed when it is first asked for, and kept
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, Concatenate, ParamSpec, Protocol, Self, TypeVar

import gast

from ..trees.nodes import names_read
from ..trees.program import MISSING, Program
from .effects import ANYTHING, Effect, Given
from .kind_domain import Kind, KindDomain
from .operations import (
    Alias,
    Apply,
    Build,
    Call,
    Field,
    Item,
    Opaque,
    Operation,
    Pop,
    Primitives,
    classify,
)
from .template_slots import carrying_operands

__all__ = ["CallEffects", "Facts", "Kinds", "UnknownEffects"]

Kinds = Mapping[str, Kind]
P = ParamSpec("P")
T = TypeVar("T")


class CallEffects(Protocol):
    """The effects of calls of functions without a rule."""

    def of_call(self, operation: Operation, kind: Callable[[Any], Kind]) -> tuple[Effect, Given]: ...


class UnknownEffects:
    """Effects where nothing is known of calls, but that `copy.deepcopy` makes new objects."""

    @staticmethod
    def of_call(operation: Operation, kind: Callable[[Any], Kind]) -> tuple[Effect, Given]:
        is_copy = isinstance(operation, Call) and operation.function is copy.deepcopy
        return (_COPY if is_copy else ANYTHING), {}


_COPY = Effect(ANYTHING.changed, frozenset(), ANYTHING.results, True)


def _no_operation(value: Any) -> Operation | None:
    return None


class Facts:
    """A program with the kinds of its names, the primitives, the domain of kinds and the effects of calls,
    and the kept results of analyses. Names that are not in `kinds` are of unknown kind.
    """

    kinds: Kinds

    def __init__(
        self,
        program: Program,
        kinds: Kinds | None,
        primitives: Primitives,
        domain: KindDomain,
        effects: CallEffects | None = None,
        find_kinds: Callable[[Program], Kinds] | None = None,
    ) -> None:
        """`find_kinds` infers the kinds of the program, if they are not given, and of the programs that
        passes make.
        """
        self.program = program
        if kinds is not None:
            self.kinds = kinds
        self.primitives, self.domain = primitives, domain
        self.effects: CallEffects = effects or UnknownEffects()
        self.find_kinds = find_kinds
        self._found: dict[Any, Any] = {}
        self.known_operation: Callable[[Any], Operation | None] = _no_operation
        # keyed by the identity of the expression, which is kept alive here
        self._operations: dict[int, tuple[Any, Operation]] = {}
        self._sources: dict[int, tuple[str, ...]] = {}

    def of(self, analysis: Callable[Concatenate[Self, P], T], *args: P.args, **options: P.kwargs) -> T:
        """The result of an analysis of the program, kept."""
        key = analysis, args, *options.items()
        if key not in self._found:
            self._found[key] = analysis(self, *args, **options)
        found: T = self._found[key]
        return found

    def after(self, program: Program) -> Self:
        """The facts of a program with the same names and kinds; the operations of its expressions are
        kept.
        """
        if program is self.program:
            return self
        new = copy.copy(self)
        new.program, new._found = program, {}
        return new

    def again(self, program: Program) -> Self:
        """The facts of a program that a pass made, whose kinds are inferred again."""
        if program is self.program:
            return self
        assert self.find_kinds is not None
        new = copy.copy(self)
        new.program, new.kinds = program, self.find_kinds(program)
        new._found, new._operations, new._sources = {}, {}, {}
        new.known_operation = _no_operation
        return new

    def with_kinds(self, program: Program, kinds: Kinds) -> Self:
        """The facts of a program with more names, of the given kinds."""
        new = copy.copy(self)
        new.program, new.kinds, new._found, new._operations, new._sources = program, kinds, {}, {}, {}
        new.known_operation = _no_operation
        return new

    def __getattr__(self, name: str) -> Any:
        if name != "kinds" or self.find_kinds is None:
            raise AttributeError(name)
        self.kinds = self.find_kinds(self.program)
        return self.kinds

    def extended(self, kinds: Kinds) -> Self:
        """The same facts with a table of kinds that gains those of names which are made later."""
        new = copy.copy(self)
        new.kinds, new._found = kinds, {}
        return new

    # ------------------------------------------------------------ kinds

    def kind(self, atom: Any) -> Kind:
        """The kind of an atom: a name, a literal, or a known global or attribute."""
        match atom:
            case gast.Name(id=name) if name in self.kinds:
                return self.kinds[name]
            case gast.Constant(value=value):
                return self.domain.kind_of_literal(value)
            case gast.UnaryOp(operand=gast.Constant(value=value)):
                return self.domain.kind_of_literal(-value)
            case gast.Name() | gast.Attribute():
                found = self.program.resolve(atom)
                return self.domain.UNKNOWN if found is MISSING else self.domain.kind_of_static(atom, found)
        return self.domain.UNKNOWN

    def kind_of_name(self, name: str) -> Kind:
        """The kind of a variable."""
        return self.kinds.get(name, self.domain.UNKNOWN)

    # ------------------------------------------------------------ expressions

    def operation(self, value: Any) -> Operation:
        """The operation of the right-hand side of an assignment."""
        found = self._operations.get(id(value))
        if found is None:
            operation = self.known_operation(value) or classify(value, self)
            found = self._operations[id(value)] = value, operation
        return found[1]

    def sources(self, value: Any) -> tuple[str, ...]:
        """The names that the value of an expression may vary with."""
        found = self._sources.get(id(value))
        if found is None:
            found = self._sources[id(value)] = names_read(self._varying(self.operation(value)))
        return found

    def carrying(self, operation: Apply) -> list[Any]:
        """The operands that the derivative of a primitive flows through."""
        if self.primitives.is_nondifferentiable(operation.function):
            return []
        rule = self.primitives.find_rule(operation.function)
        return list(operation.operands()) if rule is None else carrying_operands(operation, rule)

    def _varying(self, operation: Operation) -> list[Any]:
        match operation:
            case Alias(source=source):
                return [source]
            case Apply():
                return self.carrying(operation)
            case Call():
                return [*operation.operands(), operation.callee]
            case Item(base=base) | Field(base=base) | Pop(base=base):
                return [base]
            case Build(items=items) | Opaque(items=items):
                return list(items)
        return []

    def sharing(self, operation: Apply) -> str:
        """How the result of a primitive shares memory with its arguments: "fresh" (not at all), "view"
        (always with the first), "maybe" (perhaps with that), "elements" (a new container of what the
        arguments hold), "live" (a view of what the first one holds), or "unknown".
        """
        return self.primitives.sharing_of(operation, [self.kind(o) for o in operation.operands()])

    def is_elementwise(self, value: Any) -> bool:
        """Whether an expression is computed element by element."""
        operation = self.operation(value)
        rule = self.primitives.find_rule(operation.function) if isinstance(operation, Apply) else None
        return rule is not None and rule.structure == "elementwise"

    # ------------------------------------------------------------ calls

    def effect_at(self, call: Any) -> tuple[Effect, Given]:
        """The effect of a call, and the atoms of the callee's parameters."""
        return self.effects.of_call(self.operation(call), self.kind)

    def may_change(self, call: Any) -> bool:
        """Whether a call of a user's function may change anything."""
        return bool(self.effect_at(call)[0].changed)

    def is_call_of(self, node: Any, helper: str) -> bool:
        """Whether an expression is a call of a helper of the run time."""
        return isinstance(node, gast.Call) and self.program.resolve(node.func) is self.primitives.helper(
            helper
        )
