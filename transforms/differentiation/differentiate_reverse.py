"""Reverse mode: a forward sweep that saves the residuals, and the reverse sweep.

Form in: the single-assignment form. Form out: generated code, in one of two shapes that the same walk yields:
flat (`grad`: the reverse sweep follows the forward sweep) or split (`vjp`: `fprop` returns the result and the
closure `bprop`, which can be called many times). `reverse` has the walk; this module has the function around
it.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import gast

from ..analyses.facts import Facts
from ..analyses.liveness import AssignedBefore
from ..trees.nodes import (
    assign,
    assigned_names,
    call,
    constant,
    function,
    load,
    names_read,
    param,
    parameters,
    store,
    tuple_of,
)
from ..trees.program import MISSING, Program
from ..trees.rebuild import map_children, parameter_names, substitute
from .adjoint import Display, Env, Plain, part_of
from .adjoints import accumulate, atom_for, gradient_of
from .generation import Generation, Task
from .reverse import reverse_block
from .reverse_parts import items_first, reverse_first_items
from .reverse_state import Reverse
from .shadows import shadow_of
from .shrink_residuals import shrink_residuals
from .traces import fill_unbound

__all__ = ["differentiate_reverse"]


def differentiate_reverse(facts: Facts, task: Task) -> tuple[Program, Generation]:
    """The derivative program of the form "grad", "value_and_grad" or "vjp", and the facts that simplification
    needs of it.
    """
    program, domain, form, aux, shadowed = facts.program, facts.domain, task.form, task.aux, task.shadowed
    reverse = Reverse(facts, task)
    tree = program.tree
    *statements, last = tree.body
    if form == "value_and_grad":
        reverse.kept = set(names_read([last, aux] if aux is not None else last))
    out = last.value
    seed: list[Any] = []
    env: Env = {n: shadow_of(d) for n, d in reverse.shadows.names.items()}
    given = [p.id for p in tree.args.args]
    start = [*reverse.shadows.parameters(given), *reverse.shadows.made(statements)]
    end: list[Any] = []
    if isinstance(out, gast.Name) and out.id in reverse.active:
        cotangent = _seed(reverse, out, form, seed)
        missing: frozenset[int] = frozenset()
        if task.results is not None:
            missing = frozenset(k for k, is_needed in enumerate(task.results) if not is_needed)
            cotangent = tuple_of(
                [
                    part_of(cotangent, constant(k)) if is_needed else reverse.zero_item(out.id, k)
                    for k, is_needed in enumerate(task.results)
                ]
            )
        if out.id in shadowed:
            added: list[Any] = []
            accumulate(reverse, env, out.id, cotangent, added)
            end, added = reverse.shadows.with_lookups(last, added, form == "vjp")
            start.extend(added)
        else:
            if form == "vjp" and reverse.is_as_number(out.id) and not domain.is_scalar(reverse.kind(out)):
                cotangent = reverse.array_call("sum", cotangent)  # of an array without axes a number
            env[out.id] = Display(cotangent, missing=missing) if missing else Plain(cotangent)
    elif form != "vjp" and not domain.is_real_scalar(reverse.kind(out)):
        seed.append(gast.Expr(value=call(reverse.helper("unit_cotangent"), out)))
    if form == "vjp":
        reverse.kept = set(names_read(start))
    count = items_first(statements, given)
    forward, backward = reverse_block(reverse, statements[count:], env)
    reads, parts = reverse_first_items(reverse, statements[:count], env, reverse_block)
    forward[:0], backward[len(backward) :] = reads, parts
    fill_unbound(reverse, forward)
    forward = [*reverse.shadows.arguments(given), *forward, *end]
    backward[:0] = [*reverse.shadows.new_table(), *start]
    if form == "vjp":
        keep_globals(reverse, forward, backward)
        keep_attributes(reverse, forward, backward)
        shrink_residuals(reverse, statements, forward, backward, out)
    gradients = [
        reverse.as_returned(gradient_of(reverse, env, n, backward), load(n), reverse.kind(load(n)))
        for n in task.wrt
    ]
    if task.outlived:
        start = [assign(n, constant(None), tree) for n in keep_objects(reverse, forward, backward, gradients)]
        forward[:0] = start
    result = gradients[0] if task.bare else tuple_of(gradients)
    name = reverse.names.fresh(f"{tree.name}_{'fprop' if form == 'vjp' else form}")
    bprop = None
    rest = [] if aux is None else [aux]
    if form == "vjp":
        bprop = reverse.names.fresh(f"{tree.name}_bprop")
        dout = seed[0] if seed else reverse.names.fresh("d" + getattr(out, "id", "out"))
        inner = function(bprop, parameters([param(dout)]), [*backward, gast.Return(value=result)])
        body = [*forward, inner, gast.Return(value=tuple_of([out, load(bprop), *rest]))]
    else:
        returned = tuple_of([result, *rest]) if rest else result
        if form == "value_and_grad":
            returned = tuple_of([tuple_of([out, *rest]) if rest else out, result])
        body = [*forward, *seed, *backward, gast.Return(value=returned)]
    new = function(name, tree.args, body)
    generation = Generation(
        frozenset(reverse.traces), frozenset(reverse.adjoint_names), reverse.kinds, bprop,
        reverse.adjoint_of, reverse.spreading, reverse.checks,
    )  # fmt: skip
    names, bindings, origins = reverse.names, reverse.bindings, reverse.origins
    return program.with_tree(new, names=names, bindings=bindings, origins=origins), generation


def keep_globals(reverse: Reverse, forward: list[Any], backward: list[Any]) -> None:
    """Saves the values of globals that bprop reads when fprop runs: they may be rebound before bprop is
    called.
    """
    outside = {
        n: reverse.program.resolve(load(n))
        for n in names_read(backward)
        if n not in reverse.program.locals and n not in reverse.bindings
    }
    kept = {
        n: reverse.names.temporary(n)
        for n, value in outside.items()
        if value is not MISSING and is_data(value)
    }
    forward.extend(assign(copy, load(n)) for n, copy in kept.items())
    backward[:] = [substitute(b, {n: load(copy) for n, copy in kept.items()}) for b in backward]


def keep_attributes(reverse: Reverse, forward: list[Any], backward: list[Any]) -> None:
    """Saves the attributes of modules and classes that bprop reads, for the same reason."""
    kept: dict[tuple[str, ...], tuple[str, Any]] = {}

    def replaced(node: Any) -> Any:
        path = path_of(node) if isinstance(node, gast.Attribute) else None
        if path is None or not is_data_of(reverse, path[0], node):
            return map_children(node, replaced)
        if path not in kept:
            kept[path] = reverse.names.temporary(path[-1]), node
        return load(kept[path][0])

    backward[:] = [replaced(b) for b in backward]
    forward.extend(assign(copy, node) for copy, node in kept.values())


def keep_objects(
    reverse: Reverse, forward: list[Any], backward: list[Any], gradients: list[Any]
) -> list[str]:
    """Copies the objects that bprop reads at the end of fprop, since the caller may change them before bprop
    is called; one copy of each. The names of those that may have none are to be bound before.
    """
    given = parameter_names(reverse.program.tree)
    read = set(names_read([*backward, *gradients])) - set(assigned_names(backward))
    bound = dict.fromkeys([*given, *assigned_names(forward)])
    names = [n for n in bound if n in read and may_be_object(reverse, n)]
    if not names:
        return []
    always = AssignedBefore(forward, given).at_end()
    copies = {n: reverse.names.temporary(n) for n in names}
    targets = tuple_of([store(copy) for copy in copies.values()], gast.Store())
    whole = call(reverse.helper("snapshot_of"), tuple_of(map(load, names)))
    forward.append(assign(targets, whole))
    mapping = {n: load(copy) for n, copy in copies.items()}
    backward[:] = [substitute(b, mapping) for b in backward]
    gradients[:] = [substitute(g, mapping) for g in gradients]
    return [n for n in names if n not in always]


def may_be_object(reverse: Reverse, name: str) -> bool:
    """Whether a name may be an object or container; a trace may hold some."""
    if name in reverse.traces:
        return True
    kind = reverse.kind(load(name))
    is_value = reverse.domain.is_numeric(kind) or reverse.domain.is_immutable(kind)
    return not is_value and name not in reverse.bprops


def path_of(node: Any) -> tuple[str, ...] | None:
    """The names of a dotted path; None for any other expression."""
    if isinstance(node, gast.Name):
        return (node.id,)
    inner = path_of(node.value) if isinstance(node, gast.Attribute) else None
    return None if inner is None else (*inner, node.attr)


def is_data_of(reverse: Reverse, root: str, node: Any) -> bool:
    """Whether a dotted path is an attribute of a module or class that holds data and may be rebound."""
    value = reverse.program.resolve(node)
    return (
        value is not MISSING
        and is_data(value)
        and not reverse.primitives.is_fixed(reverse.program.resolve(load(root)))
    )


def is_data(value: Any) -> bool:
    """Whether an object is neither a module nor a class nor a function."""
    return not isinstance(value, (ModuleType, type)) and not callable(value)


def _seed(reverse: Reverse, out: Any, form: str, seed: list[Any]) -> Any:
    """The adjoint of the result that the reverse sweep starts from. `seed` gets the name of bprop's parameter
    for "vjp", else the statement that makes the adjoint of a result that may be no number, or refuses it.
    """
    if form == "vjp":
        seed.append(reverse.adjoint_name(out.id))
        return load(seed[0])
    if reverse.domain.is_real_scalar(reverse.kind(out)):
        return constant(1.0)
    if reverse.is_reduced(out.id) and reverse.domain.is_foreign(reverse.kind(out)):
        return atom_for(reverse, out.id, reverse.array_call("ones_like", out), seed)
    name = reverse.adjoint_name(out.id)
    seed.append(assign(name, call(reverse.helper("unit_cotangent"), load(out.id))))
    return load(name)
