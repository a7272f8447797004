"""Lowers augmented assignments of names, once their kinds are known.

Form in: the single-assignment form, in which `x += v` is `x_2 = iadd(x, v)`. Form out: `x_2 = x + v` wherever
that is equivalent: for immutable values, and for arrays without aliases when the sum is an array like x
(`stored_in` makes it one where that is not known). An array with aliases is stored into. Where the case is
dynamic, a helper decides.

    x += v          x[...] += v          x *= v          x_1 = x * v
                    x_2 = x                              x[...] = x_1
                                                         x_2 = x

`x_2 = add_at(x, i, v)` of an array with aliases becomes a statement, and `x_2` an alias of the array.
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.bind_methods import BINARY
from ..analyses.facts import Facts
from ..analyses.find_aliases import find_aliases
from ..analyses.operations import IN_PLACE_OPERATORS, Apply
from ..trees.bind_objects import Objects
from ..trees.nodes import assign, call, constant, load, located
from ..trees.program import Program
from ..trees.rebuild import rewritten

__all__ = ["lower_augmented"]

_OPERATORS = {function: operator for operator, function in IN_PLACE_OPERATORS.items()}
_NAMES = [function.__name__ for function in _OPERATORS]


def lower_augmented(facts: Facts) -> Program:
    """The program without in-place operators."""
    program, helper = facts.program, facts.primitives.helper
    names = program.names.copy()
    objects = Objects(program, names)

    def bound(name: str) -> str:
        return objects.name(helper(name), name)

    def is_held_elsewhere(s: Any, x: str, name: str) -> bool:
        aliases = facts.of(find_aliases)
        return bool(aliases.others(x, s, name) or aliases.loops_over(x, s))

    def update(s: Any, name: str) -> list[Any]:
        function = program.resolve(s.value.func)
        x, value = s.value.args
        operator = _OPERATORS[function]()
        plain = assign(name, located(gast.BinOp(left=x, op=operator, right=value), s), s)
        found = _nature(facts, plain.value) if isinstance(x, gast.Name) else "immutable"
        if found == "immutable":
            return [plain]
        others = is_held_elsewhere(s, x.id, name)
        if not others:
            if found == "same":
                return [plain]
            result = names.temporary(x.id)
            return [
                assign(result, plain.value, s),
                assign(name, located(call(bound("stored_in"), load(result), x), s), s),
            ]
        if found == "unknown":
            return [located(gast.Expr(value=call(bound("refuse_shared"), x)), s), plain]
        whole = gast.Subscript(value=x, slice=constant(...), ctx=gast.Store())
        same = assign(name, x, s)
        if isinstance(operator, (gast.Add, gast.Sub)):
            return [located(gast.AugAssign(target=whole, op=operator, value=value), s), same]
        result = load(names.temporary(x.id))
        stored = [assign(whole, result, s), same]
        if found == "array":
            fitted = names.temporary(x.id)
            fit = assign(fitted, located(call(bound("stored_in"), result, x), s), s)
            stored = [fit, assign(whole, load(fitted), s), same]
        return [assign(result.id, plain.value, s), *stored]

    def is_seen(s: Any, name: str) -> bool:
        """Whether an addition changes an array that has live aliases."""
        match s.value.args:
            case [gast.Name(id=x), *_] if _is_addition(facts, s.value):
                return is_held_elsewhere(s, x, name)
        return False

    def statement(s: Any) -> list[Any] | None:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call()):
                if _is_operator(program.resolve(s.value.func)):
                    return update(s, name)
                if is_seen(s, name):
                    return [located(gast.Expr(value=s.value), s), assign(name, s.value.args[0], s)]
        return None

    known = [*program.bindings.values(), *map(program.scope.lookup, [*_NAMES, *program.scope.cells])]
    if not any(_is_operator(v) or v is helper("add_at") for v in known):
        return program
    tree = rewritten(program.tree, statement, nested=False)
    return program.with_tree(tree, bindings=objects.all_bindings(), names=names)


def _is_addition(facts: Facts, value: Any) -> bool:
    """Whether a call adds to an array in place, and returns it."""
    is_in_place = facts.primitives.is_in_place(facts.program.resolve(value.func))
    return is_in_place and facts.domain.is_array(facts.kind(value.args[0]))


def _nature(facts: Facts, value: Any) -> str:
    """The nature of `x += v`, given the sum `x + v`: no change of an "immutable" object; or a change of an
    array, where the sum is one like it ("same"), of the same dtype ("alike") or any "array"; or "unknown".
    """
    operation = facts.operation(value)
    if not isinstance(operation, Apply):
        _refuse_in_place(facts, value)
        return "immutable"
    kinds = [facts.kind(a) for a in operation.args]
    result = facts.domain.call_kind(operation.function, kinds, {}, facts.primitives.is_pure)
    return facts.domain.update_nature(kinds[0], result)


def _refuse_in_place(facts: Facts, value: Any) -> None:
    """Raises UnsupportedSyntaxError for `x += v` by a method of x's class that was not inlined, given `x +
    v`: it may return `NotImplemented`.
    """
    name = f"__i{BINARY[type(value.op)]}__"
    member = facts.primitives.member(facts.kind(value.left), name)
    if member is not None:
        facts.program.refuse(
            value,
            f"an in-place operator by `{member.value.__qualname__}`",
            "whether it applies, or another operator, is dynamic",
            f"call `x = x.{name}(v)`",
        )


def _is_operator(function: Any) -> bool:
    return any(function is own for own in _OPERATORS)  # what is called need not be hashable
