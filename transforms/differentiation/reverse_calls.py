"""Reverse mode of a call: the forward sweep calls the callee's fprop, and the reverse sweep the bprop that it
returned.
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.operations import Apply, Call, Operation
from ..trees.nodes import assign, call, constant, load, store, subscript, tuple_of
from ..trees.program import MISSING
from ..trees.rebuild import rebuilt, substitute
from .adjoint import Adjoint, Display, Env, Sweep
from .adjoints import accumulate, full_adjoint
from .discarded_calls import may_have_effect
from .reverse_state import Reverse

__all__ = ["discarded_call", "reverse_call"]


def reverse_call(reverse: Reverse, s: Any, operation: Call, out: str, adjoint: Adjoint, env: Env) -> Sweep:
    """Both sweeps of a call of a function with a linked derivative, or of a dynamic callee."""
    if not any(reverse.is_active(o) for o in operation.operands()):
        return [s], []
    active = active_arguments(reverse, operation)
    needed: tuple[bool, ...] | None = None
    if isinstance(adjoint, Display) and adjoint.missing:
        needed = tuple(k not in adjoint.missing for k in range(len(adjoint.value.elts)))
    ahead, bprop, results = forward_call(reverse, s, operation, active, out, needed)
    back: list[Any] = []
    result = call(bprop, cotangent_of(reverse, out, adjoint, results, back))
    if operation.function is MISSING:
        owner = callee_owner(operation)
        shown = owner
        if reverse.changing and is_read_again(reverse, operation):  # it may change before the reverse sweep
            shown = load(reverse.names.temporary(owner.id))
            ahead.insert(0, assign(shown.id, call(reverse.helper("snapshot_of"), owner), s))
        return ahead, _spread_unknown(reverse, operation, shown, result, active, env, back)
    names = [reverse.adjoint_name(atom.id) for _, atom in active]
    target = store(names[0]) if len(names) == 1 else tuple_of([store(n) for n in names], gast.Store())
    back.append(assign(target, result))
    for name, (_, atom) in zip(names, active, strict=True):
        accumulate(reverse, env, atom.id, load(name), back)
    return ahead, back


def discarded_call(reverse: Reverse, s: Any, out: str) -> list[Any]:
    """The forward sweep of a statement whose result has no adjoint."""
    operation = reverse.operation(s.value)
    if reverse.is_constant(load(out)):
        check_constant(reverse, operation)
    if not may_have_effect(operation, reverse):
        return [s]
    return forward_call(reverse, s, operation, active_arguments(reverse, operation), out)[0]


def cotangent_of(
    reverse: Reverse, out: str, adjoint: Adjoint, results: tuple[bool, ...] | None, back: list[Any]
) -> Any:
    """What a bprop is called with: of a tuple, the adjoints of the items that `results` says are needed, and
    None for the others.
    """
    if results is None:
        return full_adjoint(reverse, out, adjoint, back)
    parts = zip(adjoint.value.elts, results, strict=True)
    return tuple_of([part if is_needed else constant(None) for part, is_needed in parts])


def check_constant(reverse: Reverse, operation: Operation) -> None:
    """Raises where an object whose parts have no derivative is made of what carries one."""
    match operation:
        case Apply(function=function) if not reverse.primitives.is_nondifferentiable(function):
            if any(reverse.is_active(o) and not reverse.is_constant(o) for o in operation.operands()):
                rule = reverse.rule(operation)
                reverse.arguments(operation, rule.template, rule)
        case Call() if operation.function is not MISSING and (active := active_arguments(reverse, operation)):
            kinds, named = reverse.linked_operands(operation)
            reverse.link(operation, [key for key, _ in active], kinds, named, reverse.careful)


def active_arguments(reverse: Reverse, operation: Call) -> list[tuple[Any, Any]]:
    """The active arguments of a call, each with its position or name."""
    given = [*enumerate(operation.args), *operation.keywords]
    return [(key, atom) for key, atom in given if reverse.is_active(atom)]


def forward_call(
    reverse: Reverse,
    s: Any,
    operation: Call,
    active: list[tuple[Any, Any]],
    out: str,
    results: tuple[bool, ...] | None = None,
) -> tuple[list[Any], str, tuple[bool, ...] | None]:
    """The forward sweep of a call, the name of the bprop that it returns, and which items of the result
    this takes the adjoints of: the `results`, or None for all.
    """
    kinds, named = reverse.linked_operands(operation)
    link = reverse.link(operation, [key for key, _ in active], kinds, named, reverse.careful, results)
    copied = reverse.primitives.copied(operation.function)
    given = dict(zip((p for p, _ in link.parameters), operation.args, strict=False))
    given |= dict(operation.keywords)
    ahead, node = kept_arguments(reverse, s, operation, [given[p] for p in copied if p in given])
    base = link.name
    bprop = reverse.names.fresh(f"{base}_bprop")
    reverse.bprops.add(bprop)
    if operation.function is MISSING:
        options: dict[str, Any] = {}
        if reverse.is_active(callee_owner(operation)):
            options["own"] = constant(True)
        if len(active) < len(operation.args) + len(operation.keywords):
            options["keys"] = tuple_of([constant(key) for key, _ in active])
        if reverse.careful:
            options["careful"] = constant(True)
        if reverse.changing:
            options["outlived"] = constant(True)
        fprop: Any = call(reverse.helper("fprop_of"), node.func, **options)
    else:
        fprop = load(reverse.bind(f"{base}_fprop", link.function))
    given_to = reverse.names.temporary(out) if is_changed_later(reverse, s, out) else out
    made = tuple_of([store(given_to), store(bprop)], gast.Store())
    ahead.append(assign(made, rebuilt(node, func=fprop), s))
    if given_to != out:
        ahead.append(assign(out, call(reverse.helper("kept"), load(given_to)), s))
    return ahead, bprop, link.results


def is_changed_later(reverse: Reverse, s: Any, out: str) -> bool:
    """Whether the result of a call is changed in place after it: its bprop may read it."""
    may_change = not reverse.domain.is_immutable(reverse.kind(load(out)))
    return may_change and reverse.changes.may_be_overwritten(s, load(out))


def kept_arguments(reverse: Reverse, s: Any, operation: Call, copied: list[Any]) -> tuple[list[Any], Any]:
    """The call with copies of the arguments that may be changed after it, which its bprop may read, and the
    statements that make them. Arguments that the function has `copied` itself are passed as they are.
    """
    atoms = [*operation.args, *(v for _, v in operation.keywords)]
    if operation.function is MISSING:
        atoms.append(callee_owner(operation))
    kept = {
        a.id: reverse.names.temporary(a.id)
        for a in atoms
        if not any(a is c for c in copied)
        and reverse.changes.may_be_overwritten(s, a) and not reverse.domain.is_immutable(reverse.kind(a))
    }
    copies = [assign(copy, call(reverse.helper("kept"), load(name)), s) for name, copy in kept.items()]
    return copies, substitute(operation.node, {name: load(copy) for name, copy in kept.items()})


def callee_owner(operation: Call) -> Any:
    """The atom that the adjoint of a dynamic callee belongs to: the object of a bound method, or the
    callee.
    """
    callee = operation.callee
    return callee.value if isinstance(callee, gast.Attribute) else callee


def is_read_again(reverse: Reverse, operation: Call) -> bool:
    """Whether the reverse of a call of a dynamic callee reads the object that has it as an attribute."""
    owner = callee_owner(operation)
    is_object = owner is not operation.callee and not reverse.domain.is_numeric(reverse.kind(owner))
    return is_object and reverse.is_active(owner)


def _spread_unknown(
    reverse: Reverse, operation: Call, shown: Any, result: Any, active: list[Any], env: Env, back: list[Any]
) -> list[Any]:
    """The contributions of a call of a dynamic callee: its bprop returns the callee's own adjoint, then a
    dict of the arguments' adjoints by position and name. The object that has the callee is read as `shown`.
    """
    owner = callee_owner(operation)
    dfunction, dargs = reverse.names.temporary("dfunction"), reverse.names.temporary("dargs")
    reverse.function_adjoints.add(dfunction)
    back.append(assign(tuple_of([store(dfunction), store(dargs)], gast.Store()), result))
    if reverse.is_active(owner):
        given: Any = load(dfunction)
        if is_read_again(reverse, operation):
            given = call(reverse.helper("callee_adjoint"), given, shown, constant(operation.callee.attr))
        accumulate(reverse, env, owner.id, given, back)
    for key, atom in active:
        part = subscript(load(dargs), constant(key))
        accumulate(reverse, env, atom.id, part, back)
    return back
