"""What is found out of a function before it is differentiated: kinds, activity, aliases and changes."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any, NoReturn

import gast

from . import domain
from .effects import Effect, aliases_of, calls_that_change, sharing_of
from .kinds import UNKNOWN, Dict, Kind, List
from .memory import shallow_copy
from .outside import outside_of
from .primitives import PRIMITIVES
from .registry import takes_arrays
from .transforms import find_active
from .transforms.analyses.changes import Changes
from .transforms.analyses.classified import Operations
from .transforms.analyses.find_aliases import (
    ANYTHING,
    NOTHING,
    OUTSIDE,
    Aliases,
    argument_of,
    both,
    contents_of,
)
from .transforms.analyses.find_changed import Calls, changed_atoms, changes_elsewhere, refuse_active_changes
from .transforms.analyses.find_shared import Sharing, find_shared
from .transforms.analyses.find_stores import stores
from .transforms.analyses.operations import Apply, Build, Call, Operation
from .transforms.analyses.template_slots import array_operands_of
from .transforms.errors import missing_rule
from .transforms.heap.heap_methods import CHANGING
from .transforms.lowering.array_operands import array_operands
from .transforms.lowering.drop_same_stores import drop_same_stores
from .transforms.lowering.hoist_items import hoist_items
from .transforms.lowering.lower_updates import lower_updates
from .transforms.lowering.merge_versions import merge_versions
from .transforms.lowering.share_reads import share_reads
from .transforms.normal_form.expand_item_updates import expand_item_updates
from .transforms.trees.nodes import call, find_nodes, load, located, names_read, tuple_of
from .transforms.trees.program import MISSING, Program
from .transforms.trees.rebuild import rebuilt
from .transforms.trees.shown_names import shown_name
from .writing import lowered_writes
from .written_calls import lowered_calls

__all__ = ["Analysis", "lowered"]

CONTAINERS = (dict, deque, defaultdict, OrderedDict, Counter)
FindKinds = Callable[[Program], dict[str, Kind]]
FindEffect = Callable[[Operation, Callable[[Any], Kind]], tuple[Effect, Mapping[str, Any]]]


@dataclass(frozen=True)
class Analysis:
    """A program in single assignment with the kinds of its names, and what follows from these.

    `effect(operation, kind)` says what a call of a user's function may do, and what it is given.
    """

    program: Program
    kinds: Mapping[str, Kind]
    effect: FindEffect

    def of(self, program: Program) -> Analysis:
        """The analysis of a program with the same names, of the same kinds."""
        return self if program is self.program else replace(self, program=program)

    def kind(self, node: Any) -> Kind:
        return domain.kind_of_atom(node, self.kinds, self.program)

    def kind_of_name(self, name: str) -> Kind:
        return self.kinds.get(name, UNKNOWN)

    @cached_property
    def operations(self) -> Operations:
        return Operations(self.program, PRIMITIVES, self.kind)

    @cached_property
    def aliases(self) -> Aliases:
        return aliases_of(
            self.program, self.kinds, self.operations, lambda call: not self.effect_at(call)[0].shared
        )

    @cached_property
    def calls(self) -> Calls:
        """The calls that change something, or may."""
        return calls_that_change(self.program, self.kinds, self.may_change)

    def effect_at(self, call: Any) -> tuple[Effect, Mapping[str, Any]]:
        """What a call may do, and the atoms that its parameters stand for."""
        return self.effect(self.operations.of(call), self.kind)

    def may_change(self, call: Any) -> bool:
        """Whether a call of a user's function may change anything."""
        return bool(self.effect_at(call)[0].changed)

    def may_share(self, a: Any, b: Any) -> bool:
        """Whether an array may share memory with what another name holds, or (None) with what is not the
        function's. That arguments share none with each other, or with that, is checked elsewhere.
        """
        mine = both(self.aliases.held.get(a.id, ANYTHING))
        if b is None:
            return OUTSIDE in mine
        theirs = both(self.aliases.held.get(b.id, ANYTHING))
        return OUTSIDE in mine | theirs or bool(mine & theirs)

    @cached_property
    def stores(self) -> list[tuple[str, Any]]:
        """The statements that change an object in place, each with the name that it changes it through."""
        return stores(self.program, PRIMITIVES.is_in_place)

    @cached_property
    def sharing(self) -> Sharing:
        if not self.stores:
            return Sharing()
        return find_shared(
            self.aliases,
            self.stores,
            lambda name: not domain.is_tuple(self.kind_of_name(name)),
        )

    def active(self, wrt: tuple[str, ...]) -> frozenset[str]:
        """The names that vary with the parameters `wrt`."""
        return find_active(
            self.program,
            wrt,
            self.operations,
            lambda name: domain.is_differentiable(self.kind_of_name(name)) is not False,
            self.sharing.classes,
        )

    def varies(self, name: str, attr: str) -> bool:
        """Whether an attribute of the object of a name may carry a derivative."""
        return domain.is_differentiable(domain.attribute_kind(self.kind_of_name(name), attr)) is not False

    def listed(self, value: Any) -> list[Any]:
        """The lists and tuples of numbers among the operands of an operation on arrays, which takes them for
        arrays.
        """
        if not any(domain.is_list_of_numbers(self.kind(n)) for n in find_nodes(value, gast.Name)):
            return []
        operation = self.operations.of(value)
        if not isinstance(operation, Apply):
            return []
        rule = PRIMITIVES.find_rule(operation.function)
        if rule is None:
            return []
        if isinstance(value, gast.BinOp):
            of_arrays = any(domain.is_array(self.kind(o)) for o in operation.args)
        else:
            of_arrays = takes_arrays(operation.function)
        operands = array_operands_of(operation, rule) if of_arrays else []
        if all(domain.is_differentiable(self.kind(o)) is False for o in operands):
            return []
        return [o for o in operands if isinstance(o, gast.Name) and domain.is_list_of_numbers(self.kind(o))]

    def is_steady(self, name: str) -> bool:
        """Whether a name holds an array or a tuple that nobody changes."""
        kind = self.kind_of_name(name)
        return (domain.is_array(kind) or domain.is_tuple(kind)) and not self.changes.is_changed(name)

    def keys_of(self, name: str) -> tuple[Any, ...]:
        """The keys of a container with derivatives that nobody changes, while the function runs."""
        kind = self.kind_of_name(name)
        keys = domain.keys_of(kind)
        if not keys or domain.is_differentiable(kind) is False:
            return ()
        return () if self.changes.is_changed(name) or self.calls_unknown else keys

    @cached_property
    def calls_unknown(self) -> bool:
        """Whether a function is called that only the run knows."""
        calls = map(self.operations.of, find_nodes(self.program.tree, gast.Call))
        return any(isinstance(call, Call) and call.function is MISSING for call in calls)

    @cached_property
    def changes(self) -> Changes:
        """What is changed, whoever is differentiated."""
        return self.changes_beside(frozenset())

    def changes_beside(self, active: frozenset[str]) -> Changes:
        """What is changed, given what is active: a function that only the run knows, and that is
        differentiated, is refused when it changes an argument.
        """
        elsewhere = changes_elsewhere(
            self.program,
            self.operations.of,
            self.may_change,
            lambda atom: domain.is_immutable(self.kind(atom)),
            active,
        )
        return Changes(
            self.program,
            lambda: self.aliases,
            self.stores,
            self.calls,
            elsewhere,
            lambda name: domain.is_numeric(self.kind_of_name(name)),
            lambda name: domain.is_integer(self.kind_of_name(name)),
            self._is_free_data,
        )

    def nature(self, name: str, value: Any) -> str:
        """What `x += v` does, given the sum `value`."""
        operation = self.operations.of(value)
        assert isinstance(operation, Apply)
        kinds = [self.kind(a) for a in operation.args]
        return domain.update_nature(
            kinds[0], domain.call_kind(operation.function, kinds, {}, PRIMITIVES.is_pure)
        )

    def _refuse_unknown(self, active: frozenset[str]) -> None:
        """Raises MissingRuleError for a call of an unknown C function with something active."""
        for statement, _ in self.calls:
            operation = self.operations.of(statement.value)
            if (
                isinstance(operation, Call)
                and operation.function is not MISSING
                and not isinstance(operation.function, (FunctionType, type))
                and not changed_atoms(statement.value, self.program, PRIMITIVES, self.kind)
                and any(name in active for name in names_read(statement))
            ):
                refusal = PRIMITIVES.refusal(operation.function)
                raise missing_rule(operation.function, refusal, self.program.where(statement.value))

    def _refuse_methods(self, active: frozenset[str]) -> None:
        """Raises UnsupportedSyntaxError for a method that changes a container that carries a derivative, and
        whose adjoint is that of no list or array.
        """
        made = {
            s.targets[0].id: s.value
            for s in find_nodes(self.program.tree, gast.Assign)
            if isinstance(s.targets[0], gast.Name)
        }
        for s in find_nodes(self.program.tree, gast.Assign, gast.Expr):
            match s.value:
                case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=attr), args=args) if (
                    attr in CHANGING and name in active and name in made
                ):
                    value = made[name]
                    function = self.program.resolve(getattr(value, "func", value))
                    of_list = isinstance(value, (gast.List, gast.ListComp)) or function is list
                    is_container = (
                        of_list or isinstance(value, gast.Dict) or any(function is c for c in CONTAINERS)
                    )
                    if is_container and not (of_list and (attr == "append" or (attr == "pop" and not args))):
                        self.program.refuse(
                            s,
                            f"`{attr}` of a container that carries a derivative",
                            "the derivative of the change is not known",
                            "build a new container",
                        )

    def _refuse_slices(self, active: frozenset[str]) -> None:
        """Raises UnsupportedSyntaxError for a slice of a list that is set, to any number of items."""
        for s in find_nodes(self.program.tree, gast.Assign):
            match s.targets[0]:
                case gast.Subscript(value=gast.Name(id=name) as base, slice=gast.Slice(step=None)) if (
                    name in active and isinstance(self.kind(base), List)
                ):
                    self.program.refuse(
                        s,
                        f"a slice of the list `{shown_name(self.program, name)}` that is set",
                        "how many items it has then is not followed",
                        "set the items one by one, or build a new list",
                    )

    def shadowed(self, active: frozenset[str], writes: bool) -> frozenset[str]:
        """The active names that have shadows; raises UnsupportedSyntaxError for a change that is seen outside
        of the function and that carries a derivative, unless it is one of an argument and `writes`.
        """
        self._refuse_unknown(active)
        self._refuse_methods(active)
        self._refuse_slices(active)
        refuse_active_changes(self.program, self.calls, active)
        for statement, name, root in self.sharing.outside:
            if name in active and (root == OUTSIDE or not writes):
                self._refuse_outside(statement, name, root)
        touched = frozenset(n for names in self.sharing.classes for n in names)
        found = touched & active
        for s in find_nodes(self.program.tree, gast.Assign) if found else ():
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=value) if name in touched:
                    self._check_known(s, self.operations.of(value), found)
        return found

    def _check_known(self, statement: Any, operation: Operation, shadowed: frozenset[str]) -> None:
        """Raises UnsupportedSyntaxError where a value may be a part of one that has a shadow, and how is not
        known.
        """
        match operation:
            case Apply(function=function) if PRIMITIVES.is_in_place(function) or function is shallow_copy:
                return  # of a container as it was only its arrays are read, by their adjoints
            case Apply(function=function) if sharing_of(operation, self.kind) == "unknown":
                is_constant = PRIMITIVES.is_nondifferentiable(function)
                operands = [*operation.operands()] if is_constant else self.operations.carrying(operation)
            case Apply() if sharing_of(operation, self.kind) != "fresh":
                operands = self.operations.carrying(operation)[1:]
            case Build(node=gast.Call(), items=items):  # an object
                operands = list(items)
            case _:
                return
        for operand in operands:
            if isinstance(operand, gast.Name) and operand.id in shadowed:
                name = shown_name(self.program, operand.id)
                self.program.refuse(
                    statement.value,
                    f"changes in place of `{name}`, which the result of this call may be a part of",
                    "whether the two share memory is not known",
                    "call it with a copy, or change one",
                )

    def _refuse_outside(self, statement: Any, name: str, root: str) -> NoReturn:
        name = shown_name(self.program, name)
        who = "the caller" if root != OUTSIDE else "something outside of the function"
        self.program.refuse(
            statement,
            f"a change in place of `{name}`, which {who} holds too",
            "the change would be seen there, and following it is not supported",
            f"change a copy: `{name} = {name}.copy()`",
        )

    def refuse_written(self, parameters: tuple[str, ...]) -> None:
        """Raises UnsupportedSyntaxError for a change in place of what one of the parameters holds."""
        changed = list(self.stores)
        changed += [(a.id, s) for s, atoms in self.calls for a in atoms if isinstance(a, gast.Name)]
        for name, statement in changed if parameters else ():
            for root in self.aliases.held.get(name, NOTHING)[0]:
                if (argument_of(root) or contents_of(root)) in parameters:
                    self._refuse_outside(statement, name, root)

    def guarded(self) -> Program:
        """The program with a check, first of all, that what it writes to among its arguments shares memory
        with no other argument.
        """
        written = self.sharing.written
        program = self.program
        if not written:
            return program
        read = names_read(program.tree.body)
        others = [n.id for n in program.tree.args.args if n.id not in written and self._may_share(n.id, read)]
        outside = {n for n in read if n not in program.bindings and self._is_free_data(n)}
        seen = outside_of(program.resolve(load(n)) for n in read if n not in program.locals)
        contents = any(not domain.is_array(self.kind_of_name(n)) for n in written)
        if len(written) + len(others) + len(outside) + bool(seen) < 2 and not contents:
            return program
        name, bindings = program.names.copy(), dict(program.bindings)
        guard = name.fresh("refuse_overlap")
        bindings[guard] = PRIMITIVES.helper("refuse_overlap")
        rest = [*others, *sorted(outside)]
        if seen:
            rest.append(name.fresh("outside"))
            bindings[rest[-1]] = seen
        check = call(guard, tuple_of(map(load, written)), tuple_of(map(load, rest)))
        first = located(gast.Expr(value=check), program.tree.body[0])
        tree = rebuilt(program.tree, body=[first, *program.tree.body])
        return program.with_tree(tree, names=name, bindings=bindings)

    def _may_share(self, name: str, read: Any) -> bool:
        return name in read and not domain.is_immutable(self.kind_of_name(name))

    def _is_free_data(self, name: str) -> bool:
        """Whether a name is none of the function's, and that of something that can be changed."""
        if name in self.program.locals:
            return False
        value = self.program.resolve(load(name))
        if value is MISSING or callable(value) or isinstance(value, ModuleType):
            return False
        return not domain.is_immutable(self.kind(load(name)))


def lowered(
    program: Program,
    kinds: Mapping[str, Kind],
    find_kinds: FindKinds,
    effect: FindEffect,
    watch: Callable[[str, Program], None],
) -> Analysis:
    """The analysis of a program, its augmented assignments written as what they are for these kinds."""
    found = Analysis(program, kinds, effect)

    def follow(changed: Program) -> Analysis:
        return found if changed is found.program else Analysis(changed, find_kinds(changed), effect)

    found = follow(lowered_writes(program, kinds, find_kinds))
    found = follow(lowered_calls(found.program, found.kind, found.effect_at, found.may_share))
    found = follow(array_operands(found.program, found.listed, PRIMITIVES.helper("np")))
    guard = PRIMITIVES.helper("refuse_held")
    found = follow(
        expand_item_updates(found.program, lambda base: domain.item_nature(found.kind(base)), guard)
    )
    found = follow(lower_updates(found.program, lambda: found.aliases, found.nature, PRIMITIVES.helper))
    found = follow(drop_same_stores(found.program, lambda base: isinstance(found.kind(base), (List, Dict))))
    found = follow(merge_versions(found.program))
    found = found.of(share_reads(found.program, found.is_steady, found.changes.is_changed))
    program, alike = hoist_items(found.program, found.keys_of)
    if program is not found.program:
        kinds = {**found.kinds, **{new: found.kind_of_name(old) for new, old in alike.items()}}
        found = Analysis(program, kinds, effect)
    watch("lower_updates", found.program)
    return found.of(found.guarded())
