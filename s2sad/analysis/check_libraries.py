"""Refuses what is not exact for arrays of other libraries than NumPy.

Form: the single-assignment form, before writes are lowered. What kinds do not tell, the helpers ask at run
time.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import gast

from ..kinds import domain
from ..kinds.foreign import is_passed_on, libraries_in
from ..kinds.lattice import Array, Foreign, Kind, List, Scalar, Tuple, Unknown, as_numpy
from ..kinds.queries import is_integer, is_list_of_numbers
from ..primitives.code_reach import functions_of_rule
from ..primitives.record import fact, find_rule, is_nondifferentiable
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_aliases import find_aliases
from ..transforms.analyses.operations import IN_PLACE_OPERATORS, Apply, Item, index_items
from ..transforms.analyses.template_slots import array_operands_of
from ..transforms.errors import describe
from ..transforms.trees.nodes import own_statements
from ..transforms.trees.program import MISSING
from ..values.libraries import Library

__all__ = ["check_libraries"]

_UPDATES = frozenset(IN_PLACE_OPERATORS.values())


def check_libraries(facts: Facts, active: frozenset[str], is_reverse: bool) -> None:
    """Raises UnsupportedSyntaxError for an operation whose derivative would convert arrays of a library to
    NumPy's, or is not known there.
    """
    found = libraries_in(facts.kinds.values())
    if not found:
        return

    def is_active(node: Any) -> bool:
        return getattr(node, "id", None) in active

    lazy = next((library for library in found if library.is_lazy), None)
    for s in own_statements(facts.program.tree.body):
        match s:
            case gast.For(target=target, iter=iterable):
                _check_head(facts, s, target, _element_of(facts, iterable))
            case (
                gast.Assign(targets=[gast.Subscript(value=gast.Name() as base)], value=value)
                | gast.AugAssign(target=gast.Subscript(value=gast.Name() as base), value=value)
            ):
                _check_store(facts, active, s, base, value)
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Name(id=source)) if lazy is not None:
                is_known = not isinstance(facts.kind_of_name(name), Unknown)
                if source in active and not is_known and _is_apart(facts.kind_of_name(source), lazy):
                    _refuse_apart(facts, s, source, lazy)
            case gast.Assign(value=value) | gast.Expr(value=value) | gast.Return(value=value):
                operation = facts.operation(value)
                if isinstance(operation, Apply):
                    _check_call(facts, active, s, operation, is_reverse)
                elif isinstance(operation, Item) and is_reverse and is_active(operation.base):
                    _check_index(facts, s, operation.base, operation.index)
                    _check_mask(facts, s, operation)


def check_shadows(facts: Facts, shadowed: frozenset[str]) -> None:
    """Raises UnsupportedSyntaxError for an array of a library with a shadow: an adjoint found by its memory.
    """
    for s in own_statements(facts.program.tree.body):
        match s:
            case gast.Assign(targets=[gast.Name(id=name)]) if name in shadowed:
                kind = facts.kind_of_name(name)
                if isinstance(kind, Foreign):
                    facts.program.refuse(
                        s,
                        f"an array of {kind.library.name} in a list or dict that has several names",
                        "which arrays share memory is for that library to say",
                        "make a new list or dict in the place of the change",
                    )


def _element_of(facts: Facts, iterable: Any) -> Kind:
    """The kind of the elements that a loop binds."""
    match iterable:
        case gast.Call(func=func, args=args):
            kinds = [facts.kind(a) for a in args]
            return domain.iteration_kind(facts.program.resolve(func), kinds)
    return domain.element_kind(facts.kind(iterable))


def _check_head(facts: Facts, s: Any, target: Any, kind: Kind) -> None:
    """Raises for the head of a loop that takes an array of a library apart."""
    if isinstance(target, gast.Tuple) and isinstance(kind, Foreign):
        facts.program.refuse(
            s,
            f"an array of {kind.library.name}, taken apart in the head of a loop",
            "its gradient would have to be put together again",
            "name the array, and take it apart in the loop: `a, b = row`",
        )
    if isinstance(target, gast.Tuple):
        for part, held in zip(target.elts, domain.kinds_of_items(kind, len(target.elts)), strict=False):
            _check_head(facts, s, part, held)


def _check_store(facts: Facts, active: frozenset[str], s: Any, base: Any, value: Any) -> None:
    """Raises for a store into an array of a library that has aliases, or at places that may be one; and for
    one of such an array into NumPy's.
    """
    kind, stored = facts.kind(base), facts.kind(value)
    target = s.targets[0] if isinstance(s, gast.Assign) else s.target
    if isinstance(kind, Foreign):
        _check_alone(facts, s, base.id, base.id)
        _check_index(facts, s, base, target.slice)
    if getattr(value, "id", None) in active and isinstance(kind, (Array, Foreign)):
        if isinstance(stored, Foreign) and kind is not stored and isinstance(kind, Array):
            facts.program.refuse(
                s,
                f"an array of {stored.library.name}, stored into one of NumPy's",
                "it would be converted",
                f"make the array by a function of {stored.library.name}, or by `np.stack` of its parts",
            )
        if isinstance(kind, Foreign) and _is_apart(stored, kind.library):
            _refuse_apart(facts, s, value.id, kind.library)


def _check_alone(facts: Facts, s: Any, name: str, result: str) -> None:
    """Raises for a change of an array of a library that other names may hold, or share memory with."""
    kind, aliases = facts.kind_of_name(name), facts.of(find_aliases)
    if isinstance(kind, Foreign) and (aliases.others(name, s, result) or aliases.loops_over(name, s)):
        facts.program.refuse(
            s,
            f"a change in place of an array of {kind.library.name} that others may hold",
            "whether arrays that share its memory change is for that library to say",
            "change a copy, or make a new array: `np.where(condition, x, y)`, `x = x + ...`",
        )


def _refuse_apart(facts: Facts, s: Any, name: str, library: Library) -> None:
    facts.program.refuse(
        s,
        f"`{name}`, which carries a derivative, in an operation with an array of {library.name}",
        f"its gradient would be an array of {library.name}, or have to be converted",
        f"make it an array of {library.name}, too",
    )


def _check_call(facts: Facts, active: frozenset[str], s: Any, call: Apply, is_reverse: bool) -> None:
    operands = list(call.operands())
    kinds = [facts.kind(o) for o in operands]
    found = libraries_in(kinds)
    if not found:
        return
    library, program = found.pop(), facts.program
    changed = facts.primitives.changed(call.function, len(call.args), dict(call.keywords))
    named = dict(call.keywords)
    for place in changed:
        operand = call.args[place] if isinstance(place, int) else named[place]
        if isinstance(operand, gast.Name) and not (call.function in _UPDATES and library.rebinds):
            made = s.targets[0].id if isinstance(s, gast.Assign) else operand.id
            _check_alone(facts, s, operand.id, made)
    carrying = [o for o in operands if getattr(o, "id", None) in active]
    if not carrying or is_nondifferentiable(call.function) or not _is_of_arrays(call.function):
        return
    name = describe(call.function)
    if found:
        others = " and ".join(sorted(lib.name for lib in {library, *found}))
        why = "which of them decides is not known"
        program.refuse(s, f"{name} of arrays of {others}", why, "convert one of them")
    rule = find_rule(call.function)
    for operand in () if rule is None else array_operands_of(call, rule):
        if is_list_of_numbers(facts.kind(operand)):
            program.refuse(
                s,
                f"{name} of a list, with arrays of {library.name}",
                "the list would be made an array of NumPy's",
                f"make it an array of {library.name}: `np.stack(items)`",
            )
    for operand in carrying:
        if _is_apart(facts.kind(operand), library):
            _refuse_apart(facts, s, operand.id, library)
    is_method = isinstance(call.node, gast.Call) and facts.program.resolve(call.node.func) is MISSING
    reason = reason_against(library, call.function, is_reverse, is_method)
    if reason is not None:
        program.refuse(
            s,
            f"the derivative of {name} for arrays of {library.name}",
            reason,
            "convert the arrays to NumPy's, or write the computation out",
        )


def _is_of_arrays(function: Any) -> bool:
    """Whether a function computes with arrays, rather than puts them into containers."""
    if is_passed_on(function):
        return True
    module = str(getattr(function, "__module__", "")).partition(".")[0]
    return module in ("numpy", "scipy", "math") or function in (float, int, complex, abs, round, max, min)


def _is_apart(kind: Kind, library: Library, inside: bool = False) -> bool:
    """Whether an operand that carries a derivative is none of the library's, and cannot have a gradient of
    its own type: a float can, where values are computed at once, but not one that is `inside` a list.
    """
    match kind:
        case Array():
            return True
        case Scalar():
            return library.is_lazy or inside
        case Tuple(items) | List(tuple() as items, _):
            return any(_is_apart(k, library, True) for k in items)
        case List(_, element):
            return _is_apart(element, library, True)
    return False


def _check_index(facts: Facts, s: Any, base: Any, index: Any) -> None:
    """Raises for places in an array of a library that may be one place."""
    kind = facts.kind(base)
    for part in index_items(index) if isinstance(kind, Foreign) else ():
        place = as_numpy(facts.kind(part)) if not isinstance(part, gast.Slice) else None
        is_list = isinstance(place, List) or (
            isinstance(place, Array) and place.dtype != "bool" and place.dims != ()
        )
        if is_list or (isinstance(place, Tuple) and not all(map(is_integer, place.items))):
            facts.program.refuse(
                s,
                f"elements of an array of {kind.library.name} at a list of indices",
                "an index may be there twice: only of NumPy's arrays it is known what becomes of sums then",
                "index by integers, slices or a mask; or multiply by a matrix of zeros and ones",
            )


def _check_mask(facts: Facts, s: Any, item: Item) -> None:
    """Raises for elements that a mask chooses of an array that is computed later: how many is not known."""
    kind = facts.kind(item.base)
    for part in index_items(item.index) if isinstance(kind, Foreign) and kind.library.is_lazy else ():
        place = as_numpy(facts.kind(part)) if not isinstance(part, gast.Slice) else None
        if isinstance(place, Array) and place.dtype == "bool":
            facts.program.refuse(
                s,
                f"elements of an array of {kind.library.name} that a mask chooses",
                "how many they are is not known before they are computed, nor where their gradient belongs",
                "put zeros in the other places: `np.where(mask, x, 0.0)`",
            )


_CONVERSIONS = (float, complex)
_REASONS = {
    "numpy": "its rule is made for NumPy's arrays",
    "eager": "its rule asks for numbers, and values are computed later",
}


@lru_cache(maxsize=1024)
def reason_against(
    library: Library, function: Any, is_reverse: bool, is_method: bool = False
) -> str | None:
    """Why the derivative of a function is not known for arrays of a library; None where it is. `is_method`: a
    method is called, and the function only stands for it.
    """
    if function in _CONVERSIONS:
        return "the number would be computed at once" if library.is_lazy else None
    if not is_passed_on(function):
        return "the function converts its arguments to NumPy's arrays"
    words = [fact(function, "arrays"), fact(function, "arrays_in_reverse") if is_reverse else None]
    for word, why in _REASONS.items():
        if word in words and (word == "numpy" or library.is_lazy):
            return why
    rule = find_rule(function)
    named = () if rule is None else functions_of_rule(rule)
    for f in named if is_method else (function, *named):
        if not library.implements(f):
            return f"it calls `{f.__module__}.{f.__name__}`, which {library.name} does not have"
    return None
