"""Refuses changes in place of active values where they are not followed, before generation."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator
from types import FunctionType
from typing import Any, NoReturn

import gast

from ..kinds.lattice import NUMERIC, UNKNOWN, Array, Kind, List, Numeric
from ..primitives.record import fact, is_display
from ..runtime.shadow_table import shallow_copy
from ..source.locate import origins
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_active import find_active
from ..transforms.analyses.find_aliases import (
    ANYTHING,
    NOTHING,
    OUTSIDE,
    argument_of,
    contents_of,
    find_aliases,
)
from ..transforms.analyses.find_effects import (
    changed_atoms,
    find_changes_by_name,
    find_changing_calls,
    has_no_rule,
    refuse_active_changes,
    uncovered_by_rule,
)
from ..transforms.analyses.find_shadowed import find_shadowed
from ..transforms.analyses.find_stores import find_stores
from ..transforms.analyses.operations import Apply, Build, Call, Item, Operation
from ..transforms.errors import S2sadError, UnsupportedSyntaxError, missing_rule, not_covered
from ..transforms.heap.heap_methods import CHANGING
from ..transforms.lowering.rematerialise_views import is_open_view
from ..transforms.trees.nodes import find_nodes, names_read, own_statements, target_names
from ..transforms.trees.program import MISSING, Program
from ..transforms.trees.shown_names import shown_name
from .primitive_table import PRIMITIVES

__all__ = [
    "refuse_attribute",
    "refuse_written",
    "shadowed_names",
    "unknown_calls",
]

CONTAINERS = (dict, deque, defaultdict, OrderedDict, Counter)


def unknown_calls(facts: Facts, active: frozenset[str]) -> Iterator[tuple[S2sadError, Any]]:
    """The calls with active arguments and unknown effect, each as an error and the call: of C functions
    without a rule and in forms that a rule does not have (MissingRuleError), and of functions whose effect
    could not be found (the cause).
    """
    program = facts.program
    for statement, _ in facts.of(find_changing_calls):
        value = statement.value
        if active.isdisjoint(names_read(statement)):
            continue
        cause = facts.effect_at(value)[0].cause
        if cause is not None:
            cause.calls = (program.where(value),)
            yield cause, value
            continue
        operation = facts.operation(value)
        uncovered = uncovered_by_rule(operation, PRIMITIVES)
        if isinstance(operation, Apply) and uncovered is not None:
            yield not_covered(operation.function, uncovered, program.where(value)), value
            continue
        if has_no_rule(operation, PRIMITIVES):
            function = operation.function
            yield missing_rule(function, PRIMITIVES.refusal(function), program.where(value)), value
        if not isinstance(operation, Call) or changed_atoms(value, facts):
            continue
        function = operation.function
        if function is MISSING or isinstance(function, (FunctionType, type)):
            continue
        if not hasattr(type(function), "function_for_kinds"):
            yield missing_rule(function, PRIMITIVES.refusal(function), program.where(value)), value
        elif facts.may_change(value):
            refusal = UnsupportedSyntaxError(
                "a call of a derivative that changes an argument, where that carries a derivative",
                program.where(value),
                "the aliases of the changed argument are not followed",
                "give it arrays, each a copy of its own: `gradient(x.copy())`",
            )
            yield refusal, value


def refuse_displayed(facts: Facts, active: frozenset[str]) -> None:
    """Raises UnsupportedSyntaxError where an active value is displayed and the result may depend on what the
    display gives back: `counts, edges, _ = plt.hist(x)`, or `ax.plot(x)` and then `ax.lines[0].get_ydata()`.
    """
    program = facts.program
    seeds: list[str] = []
    shown: tuple[Any, Any] | None = None
    for s in find_nodes(program.tree, gast.Assign, gast.Expr):
        operation = facts.operation(s.value) if isinstance(s.value, gast.Call) else None
        if not isinstance(operation, Apply) or not is_display(operation.function):
            continue
        seeds += target_names(s.targets[0]) if isinstance(s, gast.Assign) else []
        if not active.isdisjoint(names_read(s.value)):
            shown = shown or (s.value, operation.function)
            receiver = getattr(s.value.func, "value", None)
            seeds += [] if receiver is None else [n for n in names_read(receiver) if n in program.locals]
    if shown is None or find_active(facts, tuple(seeds)).isdisjoint(names_read(program.tree.body[-1])):
        return
    node, function = shown
    program.refuse(
        node,
        f"the result of `{function.__qualname__}`, which displays a value that carries a derivative",
        "what it gives back may carry a derivative, too, and the function returns a value that depends on it",
        "compute it beside the display, with NumPy",
    )


def refuse_methods(program: Program, active: frozenset[str]) -> None:
    """Raises UnsupportedSyntaxError for a method that changes an active container, other than `append` and
    `pop()` of a list.
    """
    maker = {
        s.targets[0].id: s.value
        for s in find_nodes(program.tree, gast.Assign)
        if isinstance(s.targets[0], gast.Name)
    }
    for s in find_nodes(program.tree, gast.Assign, gast.Expr):
        match s.value:
            case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=attr), args=args) if (
                attr in CHANGING and name in active and name in maker
            ):
                value = maker[name]
                function = program.resolve(getattr(value, "func", value))
                is_list = isinstance(value, (gast.List, gast.ListComp)) or function is list
                is_container = (
                    is_list or isinstance(value, gast.Dict) or any(function is c for c in CONTAINERS)
                )
                if is_container and not (is_list and (attr == "append" or (attr == "pop" and not args))):
                    program.refuse(
                        s,
                        f"`{attr}` of a container that carries a derivative",
                        "the derivative of the change is not known",
                        "build a new container",
                    )


def refuse_slices(facts: Facts, active: frozenset[str]) -> None:
    """Raises UnsupportedSyntaxError for a store to a slice of an active list: its length may change."""
    for s in find_nodes(facts.program.tree, gast.Assign):
        match s.targets[0]:
            case gast.Subscript(value=gast.Name(id=name) as base, slice=gast.Slice(step=None)) if (
                name in active and isinstance(facts.kind(base), List)
            ):
                facts.program.refuse(
                    s,
                    f"a slice of the list `{shown_name(facts.program, name)}` that is set",
                    "the number of items that it has afterwards is not followed",
                    "set the items one by one, or build a new list",
                )


def check_known(
    facts: Facts, statement: Any, operation: Operation, shadowed: frozenset[str], in_reverse: bool
) -> None:
    """Raises UnsupportedSyntaxError where a value may alias one that has a shadow, in an unknown way. The
    tangent of a view that a function returns is one, too; the adjoint that its bprop takes is not.
    """
    match operation:
        case Apply(function=function) if PRIMITIVES.is_in_place(function) or function is shallow_copy:
            return  # of the copy only the arrays are read: shadows are found by memory
        case Apply(function=function, args=[gast.Name(id=base)]) if (
            fact(function, "sharing") == "live" and _sets_items(facts, base)
        ):
            operands = list(operation.args)
        case Apply(function=function) if facts.sharing(operation) == "unknown":
            is_constant = PRIMITIVES.is_nondifferentiable(function)
            operands = [*operation.operands()] if is_constant else facts.carrying(operation)
        case Apply() if facts.sharing(operation) in ("view", "maybe"):
            operands = facts.carrying(operation)[1:]
        case Build(node=gast.Call(), items=items):  # an object
            operands = list(items)
        case Call(function=function, node=node) if in_reverse and function is not MISSING:
            effect, given = facts.effect_at(node)
            named = [given[p] for p in effect.shared if p in given]
            operands = list(operation.operands()) if effect.shared - given.keys() else named
        case _:
            return
    for operand in operands:
        if isinstance(operand, gast.Name) and operand.id in shadowed:
            name = shown_name(facts.program, operand.id)
            words = (
                f"changes in place of `{name}`, which the result of this call may be a part of",
                "whether the two share memory is not known",
                "call it with a copy, or change one",
            )
            facts.program.refuse(statement.value, *told(facts.program, name, words))


def refuse_attribute(program: Program, target: Any, kind: Kind) -> None:
    """Raises UnsupportedSyntaxError where an attribute of an array is set: `a.shape = (2, 3)`."""
    if isinstance(kind, (Array, Numeric)):
        name = shown_name(program, target.value.id)
        program.refuse(
            target,
            f"setting the attribute `{target.attr}` of the array `{name}`",
            "other names for the array would have another shape, or other elements, from then on",
            f"make another array: `{name} = {name}.reshape(...)` for `{name}.shape = ...`",
        )


def refuse_outside(program: Program, statement: Any, name: str, root: str) -> NoReturn:
    name = shown_name(program, name)
    who = "the caller" if root != OUTSIDE else "something outside of the function"
    words = (
        f"a change in place of `{name}`, which {who} holds too",
        "the change would be seen there, and following it is not supported",
        f"change a copy: `{name} = {name}.copy()`",
    )
    program.refuse(statement, *told(program, name, words))


def told(program: Program, name: str, words: tuple[str, str, str]) -> tuple[str, str, str]:
    """The words of a refusal of a change; others in a derivative, of a name that the user has not written."""
    origin = origins.get(program.filename)
    written = {word for line in origin.lines for word in re.findall(r"\w+", line)} if origin else set()
    if origin is None or written.issuperset(re.findall(r"\w+", name)):
        return words
    return (
        "a derivative of this derivative, which changes values in place that others may hold",
        "what else would see the changes is not known",
        "take the second derivative as `jvp` of `jvp`, or by differences of the first one",
    )


def shadowed_names(
    facts: Facts, active: frozenset[str], writes: bool, in_reverse: bool
) -> frozenset[str]:
    """The active names that have shadows.

    Raises UnsupportedSyntaxError for a change of an active value that is seen outside of the function; with
    `writes`, changes of arguments are accepted.
    """
    program, sharing = facts.program, facts.of(find_shadowed)
    refuse_displayed(facts, active)
    refuse_methods(program, active)
    refuse_slices(facts, active)
    refuse_active_changes(facts, active)
    for statement, name, root in sharing.outside:
        if name in active and (root == OUTSIDE or not writes):
            refuse_outside(program, statement, name, root)
    touched = frozenset(n for names in sharing.classes for n in names)
    found = touched & active
    copies = set()
    for s in find_nodes(program.tree, gast.Assign) if found else ():
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if name in touched:
                if is_read_at_once(facts, name, value):
                    copies.add(name)
                else:
                    check_known(facts, s, facts.operation(value), found, in_reverse)
    return found - copies


def refuse_written(facts: Facts, parameters: tuple[str, ...]) -> None:
    """Raises UnsupportedSyntaxError for a change in place of one of the parameters, or of a part of it."""
    if not parameters:
        return
    for name, statement in facts.of(find_changes_by_name):
        for root in facts.of(find_aliases).held.get(name, NOTHING)[0]:
            if (argument_of(root) or contents_of(root)) in parameters:
                refuse_outside(facts.program, statement, name, root)


def _sets_items(facts: Facts, name: str) -> bool:
    """Whether the function may store items into the object of a name."""
    held = facts.of(find_aliases).held
    mine = held.get(name, ANYTHING)[0]
    return any(held.get(changed, ANYTHING)[0] & mine for changed, _ in facts.of(find_stores))


def is_read_at_once(facts: Facts, name: str, value: Any) -> bool:
    """Whether a name is a view, or an item that may be one, that needs no shadow: it is only read, and before
    any of its aliases changes, so that it is as good as a copy.
    """
    stores, aliases = facts.of(find_stores), facts.of(find_aliases)
    is_undecided = facts.kind_of_name(name) in (UNKNOWN, NUMERIC) and _is_of_array(facts, value)
    if not (is_undecided or is_open_view(facts, value)) or any(name == changed for changed, _ in stores):
        return False
    users = [s for s in own_statements(facts.program.tree.body) if name in names_read(s)]
    if not all(isinstance(s, gast.Assign) and _is_fresh_array(facts, s.value) for s in users):
        return False
    return not any(name in aliases.others(changed, s) for changed, s in stores)


def _is_fresh_array(facts: Facts, value: Any) -> bool:
    operation = facts.operation(value)
    return isinstance(operation, Apply) and facts.sharing(operation) == "fresh"


def _is_of_array(facts: Facts, value: Any) -> bool:
    """Whether an expression is an item of an array."""
    match facts.operation(value):
        case Item(base=base):
            return isinstance(facts.kind(base), Array)
    return False
