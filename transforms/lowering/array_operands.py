"""Converts lists and tuples of numbers, or of what is not known, to arrays where an operation on arrays takes
them, as NumPy does.

Form: the single-assignment form, in and out. Rules then only get numbers and arrays.

    y = np.dot(xs, ws)    ->    y_1 = np.asarray(xs)
                                y = np.dot(y_1, ws)

A copy that is read from the heap, and a tuple of unknown length, is asked for at run time: `as_operand(xs)`.
A list has no in-place operator with an array, so that `xs /= ws` is `xs = xs / ws`.
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.facts import Facts
from ..analyses.operations import IN_PLACE_OPERATORS, Apply
from ..analyses.template_slots import array_operands_of
from ..trees.bind_objects import Objects
from ..trees.nodes import assign, attribute, call, find_nodes, load, located, statements_in
from ..trees.program import Program
from ..trees.rebuild import rebuilt, rewritten

__all__ = ["array_operands"]


def array_operands(facts: Facts) -> Program:
    """The program with arrays for such operands."""
    program = facts.program

    copies = _copies(facts)

    def listed(value: Any) -> list[Any]:
        return _listed(facts, value, copies)

    def value(s: Any) -> Any:
        return _value(facts, s)

    if not any((found := value(s)) is not None and listed(found) for s in statements_in(program.tree.body)):
        return program
    names = program.names.copy()
    objects = Objects(program, names)
    known_as, library = facts.primitives.array_module()
    module = objects.name(library, known_as)

    def converter(a: Any) -> Any:
        """`np.asarray` of a list; what may be anything is asked for at run time."""
        if a.id in copies:
            return load(objects.name(facts.primitives.helper("as_operand"), "as_operand"))
        return attribute(load(module), "asarray")

    def statement(s: Any) -> list[Any] | None:
        operation = value(s)
        found = [] if operation is None else listed(operation)
        made = {id(a): names.temporary(s.targets[0].id) for a in found}
        code = [assign(made[id(a)], call(converter(a), a), s) for a in found]
        return [*code, rebuilt(s, value=_with(operation, made))] if made else None

    tree = rewritten(program.tree, statement)
    return program.with_tree(tree, names=names, bindings=objects.all_bindings())


def _copies(facts: Facts) -> set[str]:
    """The names of copies of what objects hold, and of tuples, of which it is not known what they are."""
    makers = facts.primitives.helper("heap_copy"), tuple
    found = set()
    for s in statements_in(facts.program.tree.body):
        match s:
            case gast.Assign(targets=[gast.Name() as target], value=gast.Call(func=func)):
                made = facts.program.resolve(func)
                if any(made is f for f in makers) and facts.kind(target) is facts.domain.UNKNOWN:
                    found.add(target.id)
    return found


def _listed(facts: Facts, value: Any, copies: set[str]) -> list[Any]:
    """The lists and tuples of numbers among the operands of an operation on arrays, and `copies`."""
    domain, kind, primitives = facts.domain, facts.kind, facts.primitives

    def is_listed(n: Any) -> bool:
        is_named = isinstance(n, gast.Name)
        return is_named and (n.id in copies or domain.is_list_of_numbers(kind(n), or_unknown=True))

    if not any(map(is_listed, find_nodes(value, gast.Name))):
        return []
    operation = facts.operation(value)
    if not isinstance(operation, Apply):
        return []
    rule = primitives.find_rule(operation.function)
    if rule is None:
        return []
    if isinstance(value, gast.BinOp) or _operator(operation.function) is not None:
        of_arrays = any(domain.is_array(kind(o)) for o in operation.args)
    else:
        of_arrays = primitives.takes_arrays(operation.function)
    operands = array_operands_of(operation, rule) if of_arrays else []
    if all(domain.is_differentiable(kind(o)) is False for o in operands):
        return []
    return list(filter(is_listed, operands))


def _operator(function: Any) -> Any:
    """The operator that an in-place operator is of; None for other functions."""
    return next((operator for operator, f in IN_PLACE_OPERATORS.items() if f is function), None)


def _value(facts: Facts, s: Any) -> Any:
    """The operation that a statement assigns to a name; None for other statements."""
    match s:
        case gast.Assign(targets=[gast.Name()], value=gast.Call(func=func, args=[x, other]) as value) if (
            (operator := _operator(facts.program.resolve(func))) is not None
            and facts.domain.is_list_of_numbers(facts.kind(x))
            and facts.domain.is_array(facts.kind(other))
        ):
            return located(gast.BinOp(left=x, op=operator(), right=other), value)
        case gast.Assign(targets=[gast.Name()], value=gast.Call() | gast.BinOp() as value):
            return value
    return None


def _with(value: Any, made: dict[int, str]) -> Any:
    """The operation with some operands replaced by names."""

    def atom(a: Any) -> Any:
        return load(made[id(a)]) if id(a) in made else a

    if isinstance(value, gast.BinOp):
        return rebuilt(value, left=atom(value.left), right=atom(value.right))
    keywords = [rebuilt(k, value=atom(k.value)) if id(k.value) in made else k for k in value.keywords]
    return rebuilt(value, args=[atom(a) for a in value.args], keywords=keywords)
