"""Calls that change an argument: `c.sort()`, `np.copyto(c, v)`, `np.add(a, b, out=c)`, `items.pop()`.

Form: the single-assignment form. Such a call has no derivative, so its operands must be inactive; the
residuals that it overwrites are copied before. (`items.append(v)` and the stores `a[i] = v` are
differentiated elsewhere.)
"""

from __future__ import annotations

import functools
import re
from types import FunctionType
from typing import Any, NoReturn, TypeGuard

import gast

from ..trees.nodes import is_atom, names_read, own_statements
from ..trees.program import MISSING, Program
from .facts import Facts
from .find_bound_callables import bound_callables, bound_changes, bound_writers, partials
from .find_stores import Stores, find_stores, refuse_captured
from .liveness import free_names
from .operations import Alias, Apply, Call, Item, Operation, Pop, is_append, is_pop, known_method
from .primitive_table import Primitives
from .template_slots import uncovered_argument

__all__ = [
    "Calls",
    "changed_atoms",
    "changes_elsewhere",
    "changes_nothing",
    "find_changes_by_name",
    "find_changing_calls",
    "has_no_rule",
    "refuse_active_changes",
    "uncovered_by_rule",
]

Calls = list[tuple[Any, list[Any]]]


def changed_atoms(node: Any, facts: Facts, operation: Operation | None = None) -> list[Any] | None:
    """The atoms that a call changes in place; None when they are not known. Of a primitive without a rule all
    may be, and where a rule has no parameter for an argument (`overwrite_a=True`).
    """
    program, primitives, kind = facts.program, facts.primitives, facts.kind
    operation = operation or facts.operation(node)
    atoms = list(node.args)
    keywords = {k.arg or "": k.value for k in node.keywords}
    function = program.resolve(node.func)
    found: list[Any] | None = None
    if function is not MISSING:
        found = primitives.changed(function, len(atoms), keywords)
    elif isinstance(node.func, gast.Attribute):
        method = known_method(node, program)
        if method is not None and primitives.is_nondifferentiable(method.__func__):
            return []
        found = primitives.changed_by_method(kind(node.func.value), node.func.attr, len(atoms), keywords)
        atoms.insert(0, node.func.value)
    if found is None:
        return None
    is_unknown = has_no_rule(operation, primitives) and not primitives.writes_nothing(function)
    is_unknown |= uncovered_by_rule(operation, primitives) is not None
    if not found and is_unknown and isinstance(operation, Apply):
        return [a for a in operation.operands() if isinstance(a, gast.Name)]
    changed = [keywords[k] if isinstance(k, str) else atoms[k] for k in found]
    return [a for a in changed if not isinstance(a, gast.Constant)]


def has_no_rule(operation: Operation, primitives: Primitives) -> TypeGuard[Apply]:
    """Whether an operation is one of a primitive that is declared to have no rule."""
    if not isinstance(operation, Apply) or primitives.find_rule(operation.function) is not None:
        return False
    is_constant = primitives.is_nondifferentiable(operation.function)
    return not is_constant and primitives.refusal(operation.function) is not None


def uncovered_by_rule(operation: Operation, primitives: Primitives) -> str | None:
    """The first argument that the rule of a primitive has no parameter for, in words; None without any."""
    if not isinstance(operation, Apply):
        return None
    rule = primitives.find_rule(operation.function)
    return None if rule is None else uncovered_argument(operation, rule.template)


def changes_nothing(facts: Facts, value: Any) -> bool:
    """Whether the evaluation of an expression changes no object."""
    match facts.operation(value):
        case Apply(function=function):
            changed = changed_atoms(value, facts) if isinstance(value, gast.Call) else []
            return facts.primitives.is_pure(function) and changed == []
        case Alias() | Item():
            return True
    return False


def find_changing_calls(facts: Facts) -> Calls:
    """The statements with a call that may change something, each with the mutable atoms that it may change.

    Dynamic calls in assignments are left out, and so are changes of a nested function's own objects. Raises
    UnsupportedSyntaxError for a nested function that changes a captured object.
    """
    found = [
        (s, [a for a in atoms if not facts.domain.is_immutable(facts.kind(a))])
        for s, atoms in _changing_calls(facts)
    ]
    return [(s, atoms) for s, atoms in found if atoms]


def find_changes_by_name(facts: Facts) -> Stores:
    """The stores and the calls that may change something, each with the name that it changes it through."""
    calls = facts.of(find_changing_calls)
    changed = [(a.id, s) for s, atoms in calls for a in atoms if isinstance(a, gast.Name)]
    return facts.of(find_stores) + changed


def _changing_calls(facts: Facts) -> Calls:
    program, primitives, kind = facts.program, facts.primitives, facts.kind
    result = []
    bound = bound_callables(program)
    changers, applied, writers = bound_changes(facts), partials(program), bound_writers(facts)
    for s in own_statements(program.tree.body):
        if isinstance(s, gast.FunctionDef):
            _refuse_captured(program, s, _changing_calls(facts.after(program.with_tree(s))))
        if not isinstance(s, (gast.Assign, gast.Expr)) or not isinstance(s.value, gast.Call):
            continue
        if is_append(s, facts) or _pops(s, facts):
            continue
        atoms = changed_atoms(s.value, facts)
        if (atoms is None and isinstance(s, gast.Expr)) or (not atoms and facts.may_change(s.value)):
            function = s.value.func
            owner = [function.value] if isinstance(function, gast.Attribute) else []
            owner += [function] * (getattr(function, "id", "") in bound)
            atoms = [*owner, *s.value.args, *(k.value for k in s.value.keywords)]
        match s:
            case gast.Assign(value=gast.Call(func=gast.Attribute(value=base, attr="append" | "extend"))):
                is_known = primitives.is_object(kind(base)) and not primitives.is_unknown(kind(base))
                atoms = atoms or [base] * (not is_known)
        if program.resolve(s.value.func) is not functools.partial:
            passed = [s.value.func, *s.value.args, *(k.value for k in s.value.keywords)]
            # The arguments of a call in an assignment may be of a kind that is never changed; what has no
            # derivative may be a check of an argument.
            is_effect = isinstance(s, gast.Expr) and not _is_constant(facts.operation(s.value), primitives)
            may = changers | (applied if is_effect else writers)
            atoms = [*(atoms or ()), *(a for a in passed if getattr(a, "id", "") in may)]
        if atoms:
            result.append((s, atoms))
    return result


def _is_constant(operation: Operation, primitives: Primitives) -> bool:
    return isinstance(operation, Apply) and primitives.is_nondifferentiable(operation.function)


def changes_elsewhere(facts: Facts, active: frozenset[str]) -> list[tuple[str, Any]]:
    """The statements with a call that may change more than `find_changing_calls` reports, each with the name
    that it may change, or "" for objects outside the function.

    A dynamic callee that is inactive may change its arguments, a method its object, and a bound method or
    partial application its bound objects.
    """
    program = facts.program
    bound = bound_callables(program)
    found: list[tuple[str, Any]] = []
    for s in own_statements(program.tree.body):
        if not isinstance(s, (gast.Assign, gast.Expr)) or not isinstance(s.value, gast.Call):
            continue
        operation = facts.operation(s.value)
        if isinstance(operation, Call) and operation.function is not MISSING:
            found += [("", s)] * facts.may_change(s.value)
        elif isinstance(operation, Call):
            owner = [operation.callee.value] if isinstance(operation.callee, gast.Attribute) else []
            atoms = [*owner, *operation.args, *(v for _, v in operation.keywords)]
            names = [a.id for a in atoms if _may_be_changed(a, facts)]
            callee = getattr(operation.callee, "id", "")
            names += [callee] * (callee in bound)
            if active.isdisjoint(names_read(s.value)):
                found += [(n, s) for n in names if n in program.locals]
    return found


def _refuse_captured(program: Program, function: Any, calls: Calls) -> None:
    captured = free_names(function)
    for statement, atoms in calls:
        for atom in atoms:
            if isinstance(atom, gast.Name) and atom.id in captured & program.locals:
                refuse_captured(program, statement, atom.id)


def _may_be_changed(atom: Any, facts: Facts) -> bool:
    return isinstance(atom, gast.Name) and not facts.domain.is_immutable(facts.kind(atom))


def _pops(s: Any, facts: Facts) -> bool:
    """Whether a statement is `name = items.pop()` of a name that may hold a list."""
    return isinstance(s, gast.Assign) and is_pop(s.value) and isinstance(facts.operation(s.value), Pop)


def refuse_active_changes(facts: Facts, active: frozenset[str]) -> None:
    """Raises UnsupportedSyntaxError for a call that may change an object and has an active operand; for a
    call of a function with an unknown callee, the refusal of that.
    """
    program = facts.program
    for statement, atoms in facts.of(find_changing_calls):
        if any(name in active for name in names_read(statement)):
            refusal = facts.effect_at(statement.value)[0].unknown
            if refusal is not None:
                refusal.calls = (program.where(statement.value),)
                raise refusal
            if not bound_writers(facts).isdisjoint(getattr(a, "id", "") for a in atoms):
                program.refuse(
                    statement.value,
                    "a partial application or method that may change what it binds, and carries a derivative",
                    "its function is known at run time only",
                    "write a function: `lambda x: f(w, x)` in place of `functools.partial(f, w)`",
                )
            _refuse_changing(facts, statement)


def _refuse_changing(facts: Facts, statement: Any) -> NoReturn:
    """Raises UnsupportedSyntaxError for a call that changes an active argument, or may."""
    program, value = facts.program, statement.value
    where = program.where(value)
    written = re.match(r"[\w.]+", where.text[where.column :])
    name = getattr(value.func, "attr", getattr(value.func, "id", ""))
    callee = written[0] if written and (is_atom(value.func) or written[0].endswith(name)) else name
    operation = facts.operation(value)
    if changed_atoms(value, facts) or isinstance(getattr(operation, "function", None), FunctionType):
        program.refuse(
            value,
            f"`{callee}` changes an argument, and one carries a derivative",
            "the derivative of the change is not known",
            "compute the new value, and bind or return it, in place of changing the old one",
        )
    constants = f"`{callee}(s2sad.stop_gradient(...))`, if nothing that it does carries a derivative"
    rule = f"declare a rule for `{callee}`, or write it with functions that have one"
    program.refuse(
        value,
        f"a call that may change its arguments, one of which carries a derivative: `{callee}`",
        "what it does with them is not known",
        constants if isinstance(statement, gast.Expr) else rule,
    )
