"""What is found out of a function before it is differentiated: kinds, activity, aliases and changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType
from typing import Any

import gast

from ..kinds import domain
from ..kinds.lattice import UNKNOWN, Dict, Kind, List, Tuple
from ..primitives.record import takes_arrays
from ..runtime.reachable_arrays import outside_of
from ..transforms import find_active
from ..transforms.analyses.classified import Operations
from ..transforms.analyses.find_aliases import (
    ANYTHING,
    NOTHING,
    OUTSIDE,
    Aliases,
    argument_of,
    both,
    contents_of,
    is_outside,
)
from ..transforms.analyses.find_effects import Calls, changes_elsewhere, refuse_active_changes
from ..transforms.analyses.find_overwrites import Changes
from ..transforms.analyses.find_shadowed import Sharing, find_shadowed
from ..transforms.analyses.find_shift_invariance import find_shift_invariance
from ..transforms.analyses.find_stores import stores
from ..transforms.analyses.operations import Apply, Call, Operation
from ..transforms.analyses.template_slots import array_operands_of
from ..transforms.heap.heap_methods import READING
from ..transforms.trees.nodes import call, find_nodes, load, located, names_read, tuple_of
from ..transforms.trees.program import MISSING, Program
from ..transforms.trees.rebuild import rebuilt
from .check_mutation import (
    check_known,
    refuse_in_place,
    refuse_methods,
    refuse_outside,
    refuse_slices,
    refuse_unknown,
)
from .effects import Effect, aliases_of, calls_that_change
from .outer_arrays import outer_arrays
from .primitive_table import PRIMITIVES
from .store_facts import is_read_at_once

__all__ = ["Analysis", "FindEffect", "FindKinds"]

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
    known: Operations | None = None

    def of(self, program: Program) -> Analysis:
        """The analysis of a program with the same names, of the same kinds."""
        return self if program is self.program else replace(self, program=program, known=self.operations)

    def kind(self, node: Any) -> Kind:
        return domain.kind_of_atom(node, self.kinds, self.program)

    def kind_of_name(self, name: str) -> Kind:
        return self.kinds.get(name, UNKNOWN)

    @cached_property
    def operations(self) -> Operations:
        return Operations(self.program, PRIMITIVES, self.kind, self.known)

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
        return find_shadowed(
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
            lambda name: name not in self.cancelled
            and domain.is_differentiable(self.kind_of_name(name)) is not False,
            self.sharing.classes,
        )

    @cached_property
    def cancelled(self) -> frozenset[str]:
        """The names with respect to which all derivatives are zero, because they cancel."""
        return find_shift_invariance(
            self.program,
            self.operations,
            lambda atom: domain.axes_of(self.kind(atom)),
            lambda atom: domain.literal_of(self.kind(atom)),
            lambda name: self.changes.is_changed(name),
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

    def sets_items(self, name: str) -> bool:
        """Whether items of the object of a name may be set, rather than what they are be changed."""
        mine = self.aliases.held.get(name, ANYTHING)[0]
        return any(self.aliases.held.get(changed, ANYTHING)[0] & mine for changed, _ in self.stores)

    def is_steady(self, name: str) -> bool:
        """Whether a name holds an array or a tuple that nobody changes."""
        kind = self.kind_of_name(name)
        return (domain.is_array(kind) or domain.is_tuple(kind)) and not self.changes.is_changed(name)

    def holds_steadily(self, name: str) -> bool:
        """Whether a name holds a tuple, list or dict that nobody changes while the function runs."""
        kind = self.kind_of_name(name)
        if isinstance(kind, (List, Dict)):
            return not self.calls_unknown and not self.changes.is_changed(name)
        return isinstance(kind, Tuple)

    def keys_of(self, name: str) -> tuple[Any, ...]:
        """The keys of a container with derivatives that nobody changes, while the function runs."""
        kind = self.kind_of_name(name)
        keys = domain.keys_of(kind)
        if not keys or domain.is_differentiable(kind) is False:
            return ()
        return () if self.changes.is_changed(name) or self.calls_unknown else keys

    @cached_property
    def calls_unknown(self) -> bool:
        """Whether a function is called that only the run knows; the methods of lists are known."""
        calls = find_nodes(self.program.tree, gast.Call)
        return any(self._is_unknown(self.operations.of(call)) for call in calls)

    def _is_unknown(self, operation: Operation) -> bool:
        if not isinstance(operation, Call) or operation.function is not MISSING:
            return False
        match operation.callee:
            case gast.Attribute(value=base) if not operation.keywords:
                return not isinstance(self.kind(base), List)
        return True

    @cached_property
    def changes(self) -> Changes:
        """What is changed, whoever is differentiated."""
        return self.changes_beside(frozenset())

    def changes_beside(self, active: frozenset[str], outlives: bool = False) -> Changes:
        """What is changed, given what is active: a function that only the run knows, and that is
        differentiated, is refused when it changes an argument. If the reverse `outlives` the run, arrays from
        outside that this writes to may be those of another run by then.
        """
        elsewhere = changes_elsewhere(
            self.program,
            self.operations.of,
            self.may_change,
            lambda atom: domain.is_immutable(self.kind(atom)),
            active,
        )
        if outlives:
            elsewhere += [(name, self.program.tree.body[-1]) for name in outer_arrays(self.program)]
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
        if not isinstance(operation, Apply):
            refuse_in_place(self.program, value, self.kind(value.left))
            return "immutable"
        kinds = [self.kind(a) for a in operation.args]
        return domain.update_nature(
            kinds[0], domain.call_kind(operation.function, kinds, {}, PRIMITIVES.is_pure)
        )

    def is_addition(self, function: Any, name: str) -> bool:
        """Whether a function adds to the array of a name in place, and returns it."""
        return PRIMITIVES.is_in_place(function) and domain.is_array(self.kind_of_name(name))

    def is_elementwise(self, value: Any) -> bool:
        """Whether an expression is computed element by element."""
        operation = self.operations.of(value)
        rule = PRIMITIVES.find_rule(operation.function) if isinstance(operation, Apply) else None
        return rule is not None and rule.structure == "elementwise"

    def is_replaced(self, name: str, result: str) -> bool:
        """Whether what is computed of an array element by element is one of its shape and dtype, given that
        it can be stored into it.
        """
        return domain.update_nature(self.kind_of_name(name), self.kind_of_name(result)) == "same"

    def shadowed(self, active: frozenset[str], writes: bool) -> frozenset[str]:
        """The active names that have shadows; raises UnsupportedSyntaxError for a change that is seen outside
        of the function and that carries a derivative, unless it is one of an argument and `writes`.
        """
        refuse_unknown(self, active)
        refuse_methods(self.program, active)
        refuse_slices(self, active)
        refuse_active_changes(self.program, self.calls, active, lambda call: self.effect_at(call)[0].unknown)
        for statement, name, root in self.sharing.outside:
            if name in active and (root == OUTSIDE or not writes):
                refuse_outside(self.program, statement, name, root)
        touched = frozenset(n for names in self.sharing.classes for n in names)
        found = touched & active
        copies = set()
        for s in find_nodes(self.program.tree, gast.Assign) if found else ():
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=value) if name in touched:
                    if is_read_at_once(self, name, value):
                        copies.add(name)
                    else:
                        check_known(self, s, self.operations.of(value), found)
        return found - copies

    def refuse_written(self, parameters: tuple[str, ...]) -> None:
        """Raises UnsupportedSyntaxError for a change in place of what one of the parameters holds."""
        changed = list(self.stores)
        changed += [(a.id, s) for s, atoms in self.calls for a in atoms if isinstance(a, gast.Name)]
        for name, statement in changed if parameters else ():
            for root in self.aliases.held.get(name, NOTHING)[0]:
                if (argument_of(root) or contents_of(root)) in parameters:
                    refuse_outside(self.program, statement, name, root)

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
        outside = {n for n in read if n not in program.bindings and self._is_free_data(n)} - {*written}
        seen = outside_of(program.resolve(load(n)) for n in read if n not in program.locals)
        contents = any(not domain.is_array(self.kind(load(n))) for n in written)
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

    def prefers_heap(self, active: frozenset[str]) -> bool:
        """Whether the run has to find out what a heap knows, of a container that the function made: who else
        holds an array that an operator changes in it, or which method of it is called.
        """
        is_generic = any(self.kind(p) is UNKNOWN for p in self.program.tree.args.args)

        def of_container(s: Any) -> bool:
            return isinstance(s, gast.Subscript) and not domain.is_array(self.kind(s.value))

        bases = []
        guard = PRIMITIVES.helper("refuse_shared")
        for c in find_nodes(self.program.tree, gast.Call):
            if self.program.resolve(c.func) is guard and not is_generic:
                bases.append(c.args[0].id)
            elif isinstance(c.func, gast.Attribute) and c.func.attr in READING:
                name = getattr(c.func.value, "id", "")
                bases += [name] if name in active and self.kind_of_name(name) is UNKNOWN else []
        updates = [s for s in find_nodes(self.program.tree, gast.AugAssign) if of_container(s.target)]
        if not bases and not updates:
            return False
        held = self.aliases.held
        filled = {
            root
            for s in find_nodes(self.program.tree, gast.Assign)
            if of_container(s.targets[0]) and domain.is_array(self.kind(s.value))
            for root in held.get(s.targets[0].value.id, NOTHING)[0]
        }
        bases += [
            s.target.value.id
            for s in updates
            if domain.is_array(self.kind(s.value))
            or (self.kind(s.value) is UNKNOWN and not is_generic)
            or not filled.isdisjoint(held.get(s.target.value.id, NOTHING)[0])
        ]
        roots = (held[b][0] for b in bases if b in held and not domain.is_tuple(self.kind_of_name(b)))
        return any(found and not any(map(is_outside, found)) for found in roots)

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
