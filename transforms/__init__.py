"""The pipelines from tree to tree, as sequences of passes.

The transforms know Python and nothing of NumPy: the rule table and the domain of kinds are arguments. Each
pipeline calls a `Watch` with the program after each of its passes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from .analyses.find_active import find_active
from .analyses.find_kinds import find_kinds
from .analyses.find_uses import find_uses
from .differentiation.differentiate_forward import differentiate_forward
from .differentiation.differentiate_reverse import differentiate_reverse
from .normal_form.bind_imports import bind_imports
from .normal_form.check_syntax import check_syntax
from .normal_form.closures_to_objects import Classes, closures_to_objects
from .normal_form.desugar_assignments import desugar_assignments
from .normal_form.desugar_attributes import desugar_attributes
from .normal_form.desugar_containers import desugar_containers
from .normal_form.desugar_contexts import desugar_contexts
from .normal_form.desugar_globals import desugar_globals
from .normal_form.desugar_iterators import desugar_iterators
from .normal_form.desugar_jumps import desugar_jumps
from .normal_form.desugar_match import desugar_match
from .normal_form.desugar_methods import desugar_methods
from .normal_form.desugar_zips import desugar_zips
from .normal_form.expand_stars import expand_stars
from .normal_form.order_definitions import order_definitions
from .normal_form.raise_unbound import raise_unbound
from .normal_form.redefine_at_use import MayKeep, redefine_at_use
from .normal_form.resolve_names import resolve_names
from .normal_form.to_anf import to_anf
from .normal_form.to_ssa import to_ssa
from .simplification.cancel_divisions import cancel_division, find_quotients
from .simplification.coalesce_versions import coalesce_versions
from .simplification.code import Rules, apply_rules
from .simplification.common_subexpressions import read_uncopied, share_value
from .simplification.facts import GeneratedFacts
from .simplification.fold_constants import fold_constants
from .simplification.inline_temporaries import inline_temporaries
from .simplification.merge_copies import merge_copies, put_constants
from .simplification.move_signs import copy_array, move_sign, read_operands_uncopied, subtract
from .simplification.read_shapes import read_shape_of_source
from .simplification.remove_dead_code import remove_dead_code
from .simplification.repeat_indices import repeat_index
from .simplification.restore_names import restore_names
from .simplification.zeroed_stores import read_before_zero, store_first, store_over_zero
from .trees.nodes import statements_in
from .trees.program import Program

__all__ = [
    "NORMALISE",
    "SIMPLIFY",
    "GeneratedFacts",
    "Watch",
    "differentiate_forward",
    "differentiate_reverse",
    "find_active",
    "find_kinds",
    "normalise",
    "simplify",
    "to_single_assignment",
    "unwatched",
]

Pass = Callable[[Program], Program]
Watch = Callable[[str, Program], None]  # called with the result of each pass


def unwatched(name: str, program: Program) -> None:
    """The `Watch` that ignores the results."""


NORMALISE: tuple[Pass, ...] = (
    desugar_attributes,
    check_syntax,
    desugar_match,
    resolve_names,
    desugar_globals,
    bind_imports,
    desugar_methods,
    desugar_iterators,
    desugar_containers,
    desugar_contexts,
    desugar_zips,
    desugar_assignments,
    desugar_jumps,
    to_anf,
    expand_stars,
    order_definitions,
    raise_unbound,
)


def normalise(program: Program, watch: Watch = unwatched, classes: Classes | None = None) -> Program:
    """The normal form of a function as its author wrote it; with `classes`, closures are objects of these, as
    soon as names are resolved.
    """
    for step in NORMALISE:
        program = step(program)
        watch(step.__name__, program)
        if step is desugar_globals and classes is not None:
            program = closures_to_objects(program, classes)
            watch(closures_to_objects.__name__, program)
    return program


def to_single_assignment(program: Program, may_keep: MayKeep, watch: Watch = unwatched) -> Program:
    """The single-assignment form of a normal form with calls inlined; `may_keep` as in `redefine_at_use`."""
    watch("inline_calls", program)
    program = to_ssa(*redefine_at_use(program, may_keep))
    watch("to_ssa", program)
    return program


def share_computations(tree: Any, facts: GeneratedFacts) -> Any:
    """Shares repeated computations, and drops copies and divisions, before expressions are nested."""
    facts.quotients = find_quotients(tree, facts)
    return apply_rules(tree, facts, SHARING)


def nest_expressions(tree: Any, facts: GeneratedFacts) -> Any:
    """Nests temporaries, then folds constants and removes dead code."""
    tree = inline_temporaries(tree, facts)
    facts = facts.after(tree)
    facts.factored = False
    tree = fold_constants(tree, facts)
    if facts.factored:  # the factor may have become a temporary that is read once
        tree = inline_temporaries(tree, facts.after(tree))
        tree = fold_constants(tree, facts.after(tree))
    placed = put_constants(tree, facts)
    if placed is not tree:
        tree = fold_constants(placed, facts.after(placed))
    uses = find_uses(tree)
    is_clean = uses is not None and all(uses.read[n] for n in uses.bound if n not in uses.parameters)
    if is_clean and not any(isinstance(s, gast.Pass) for s in statements_in(tree.body)):
        return tree
    return remove_dead_code(tree, facts)


def update_adjoints(tree: Any, facts: GeneratedFacts) -> Any:
    """Subtracts or stores, in updates of adjoints, where that saves a sign, a sum or an array."""
    return apply_rules(tree, facts, UPDATING)


SHARING: Rules = {
    gast.Assign: (
        share_value,
        read_uncopied,
        read_shape_of_source,
        cancel_division,
        read_before_zero,
        repeat_index,
    )
}
UPDATING: Rules = {
    gast.Assign: (read_operands_uncopied, move_sign, copy_array),
    gast.AugAssign: (read_operands_uncopied, store_first, subtract, store_over_zero),
}

SIMPLIFY: tuple[Callable[[Any, GeneratedFacts], Any], ...] = (
    fold_constants,
    remove_dead_code,
    merge_copies,
    share_computations,
    nest_expressions,
    update_adjoints,
    coalesce_versions,
    restore_names,
)


def simplify(program: Program, facts: GeneratedFacts, watch: Watch = unwatched) -> Program:
    """A derivative as a person would write it: no dead code, no copies, expressions nested."""
    for step in SIMPLIFY:
        facts = facts.after(step(facts.tree, facts), step is merge_copies)
        if watch is not unwatched:
            watch(step.__name__, program.with_tree(facts.tree))
    return program.with_tree(facts.tree)
