"""Changes in place that are refused, as far as the function itself tells: of what carries a derivative, where
that is not followed.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

import gast

from ..kinds.lattice import Array, Kind, List, Numeric
from ..runtime.shadow_table import shallow_copy
from ..transforms.analyses.bind_methods import BINARY
from ..transforms.analyses.find_aliases import OUTSIDE
from ..transforms.analyses.find_effects import changed_atoms
from ..transforms.analyses.operations import Apply, Build, Call, Operation
from ..transforms.errors import missing_rule
from ..transforms.heap.heap_methods import CHANGING
from ..transforms.trees.nodes import find_nodes, names_read
from ..transforms.trees.program import MISSING, Program
from ..transforms.trees.shown_names import shown_name
from .aliasing import DICT_VIEWS
from .effects import sharing_of
from .primitive_table import PRIMITIVES

if TYPE_CHECKING:
    from .program_facts import Analysis

__all__ = [
    "check_known",
    "refuse_attribute",
    "refuse_in_place",
    "refuse_methods",
    "refuse_outside",
    "refuse_slices",
    "refuse_unknown",
]

CONTAINERS = (dict, deque, defaultdict, OrderedDict, Counter)


def refuse_unknown(found: Analysis, active: frozenset[str]) -> None:
    """Raises MissingRuleError for a call of an unknown C function with something active, and for one of a
    function whose changes are unknown the error that tells why.
    """
    program = found.program
    for statement, _ in found.calls:
        value = statement.value
        if active.isdisjoint(names_read(statement)):
            continue
        cause = found.effect_at(value)[0].cause
        if cause is not None:
            cause.calls = (program.where(value),)
            raise cause
        operation = found.operations.of(value)
        if not isinstance(operation, Call) or changed_atoms(value, program, PRIMITIVES, found.kind):
            continue
        function = operation.function
        if function is MISSING or isinstance(function, (FunctionType, type)):
            continue
        if not hasattr(type(function), "function_for_kinds"):
            raise missing_rule(function, PRIMITIVES.refusal(function), program.where(value))
        if found.may_change(value):
            program.refuse(
                value,
                "a call of a derivative that changes what it is given, where that carries a derivative",
                "what else holds what it changes is not followed",
                "give it arrays, each a copy of its own: `gradient(x.copy())`",
            )


def refuse_in_place(program: Program, value: Any, owner: Kind) -> None:
    """Raises UnsupportedSyntaxError for `x += v` by a method of x's class that could not be put in, given
    `x + v`: a class may answer that it does not apply.
    """
    name = f"__i{BINARY[type(value.op)]}__"
    member = PRIMITIVES.member(owner, name)
    if member is not None:
        program.refuse(
            value,
            f"an in-place operator by `{member.value.__qualname__}`",
            "whether it applies, or another operator, is known only at run time",
            f"call `x = x.{name}(v)`",
        )


def refuse_methods(program: Program, active: frozenset[str]) -> None:
    """Raises UnsupportedSyntaxError for a method that changes a container that carries a derivative, and
    whose adjoint is that of no list or array.
    """
    made = {
        s.targets[0].id: s.value
        for s in find_nodes(program.tree, gast.Assign)
        if isinstance(s.targets[0], gast.Name)
    }
    for s in find_nodes(program.tree, gast.Assign, gast.Expr):
        match s.value:
            case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=attr), args=args) if (
                attr in CHANGING and name in active and name in made
            ):
                value = made[name]
                function = program.resolve(getattr(value, "func", value))
                of_list = isinstance(value, (gast.List, gast.ListComp)) or function is list
                is_container = (
                    of_list or isinstance(value, gast.Dict) or any(function is c for c in CONTAINERS)
                )
                if is_container and not (of_list and (attr == "append" or (attr == "pop" and not args))):
                    program.refuse(
                        s,
                        f"`{attr}` of a container that carries a derivative",
                        "the derivative of the change is not known",
                        "build a new container",
                    )


def refuse_slices(found: Analysis, active: frozenset[str]) -> None:
    """Raises UnsupportedSyntaxError for a slice of a list that is set, to any number of items."""
    for s in find_nodes(found.program.tree, gast.Assign):
        match s.targets[0]:
            case gast.Subscript(value=gast.Name(id=name) as base, slice=gast.Slice(step=None)) if (
                name in active and isinstance(found.kind(base), List)
            ):
                found.program.refuse(
                    s,
                    f"a slice of the list `{shown_name(found.program, name)}` that is set",
                    "how many items it has then is not followed",
                    "set the items one by one, or build a new list",
                )


def check_known(found: Analysis, statement: Any, operation: Operation, shadowed: frozenset[str]) -> None:
    """Raises UnsupportedSyntaxError where a value may be a part of one that has a shadow, and how is not
    known.
    """
    match operation:
        case Apply(function=function) if PRIMITIVES.is_in_place(function) or function is shallow_copy:
            return  # of a container as it was only its arrays are read, by their adjoints
        case Apply(function=function, args=[gast.Name(id=base)]) if (
            any(function is view for view in DICT_VIEWS) and found.sets_items(base)
        ):
            operands = list(operation.args)
        case Apply(function=function) if sharing_of(operation, found.kind) == "unknown":
            is_constant = PRIMITIVES.is_nondifferentiable(function)
            operands = [*operation.operands()] if is_constant else found.operations.carrying(operation)
        case Apply() if sharing_of(operation, found.kind) in ("view", "maybe"):
            operands = found.operations.carrying(operation)[1:]
        case Build(node=gast.Call(), items=items):  # an object
            operands = list(items)
        case _:
            return
    for operand in operands:
        if isinstance(operand, gast.Name) and operand.id in shadowed:
            name = shown_name(found.program, operand.id)
            found.program.refuse(
                statement.value,
                f"changes in place of `{name}`, which the result of this call may be a part of",
                "whether the two share memory is not known",
                "call it with a copy, or change one",
            )


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
    program.refuse(
        statement,
        f"a change in place of `{name}`, which {who} holds too",
        "the change would be seen there, and following it is not supported",
        f"change a copy: `{name} = {name}.copy()`",
    )
