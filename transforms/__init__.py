"""AST to AST: the pipelines, as sequences of passes.

Everything here knows Python and nothing of NumPy: the rule table and the domain of kinds are handed in. Each
pipeline tells a `Watch` of the program after each of its passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Set
from functools import cache
from typing import Any

import gast

from .analyses.find_active import find_active
from .analyses.find_kinds import find_kinds
from .analyses.find_uses import find_uses
from .differentiation.differentiate_forward import differentiate_forward
from .differentiation.differentiate_reverse import differentiate_reverse
from .differentiation.generation import Generation
from .normal_form.bind_imports import bind_imports
from .normal_form.check_syntax import check_syntax
from .normal_form.desugar_assignments import desugar_assignments
from .normal_form.desugar_attributes import desugar_attributes
from .normal_form.desugar_containers import desugar_containers
from .normal_form.desugar_contexts import desugar_contexts
from .normal_form.desugar_globals import desugar_globals
from .normal_form.desugar_iterators import desugar_iterators
from .normal_form.desugar_jumps import desugar_jumps
from .normal_form.desugar_match import desugar_match
from .normal_form.desugar_methods import desugar_methods
from .normal_form.desugar_nonlocals import desugar_nonlocals
from .normal_form.desugar_zips import desugar_zips
from .normal_form.expand_stars import expand_stars
from .normal_form.order_definitions import order_definitions
from .normal_form.redefine_at_use import Keeps, redefine_at_use
from .normal_form.resolve_names import resolve_names
from .normal_form.to_anf import to_anf
from .normal_form.to_ssa import to_ssa
from .simplification.facts import Facts
from .simplification.fold_constants import fold_constants
from .simplification.inline_temporaries import inline_temporaries
from .simplification.join_exchanges import join_exchanges
from .simplification.meet_quotients import meet_quotients
from .simplification.merge_copies import merge_copies, put_constants, share_names
from .simplification.move_signs import move_signs
from .simplification.read_before_zero import read_before_zero
from .simplification.remove_dead_code import remove_dead_code
from .simplification.repeat_indices import repeat_indices
from .simplification.restore_names import restore_names
from .simplification.share_temporaries import share_temporaries
from .simplification.share_values import share_values
from .simplification.store_over_zero import store_over_zero
from .simplification.update_in_place import update_in_place
from .trees.nodes import load, names_in, names_read, statements_in, target_names
from .trees.program import Program

__all__ = [
    "NORMALISE",
    "SIMPLIFY",
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
Watch = Callable[[str, Program], None]  # is told of each pass's result


def unwatched(name: str, program: Program) -> None:
    """The `Watch` that nobody is behind."""


NORMALISE: tuple[Pass, ...] = (
    desugar_attributes,
    check_syntax,
    desugar_match,
    resolve_names,
    desugar_globals,
    desugar_nonlocals,
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
)


def normalise(program: Program, watch: Watch = unwatched) -> Program:
    """A function as its author wrote it, in normal form."""
    for step in NORMALISE:
        program = step(program)
        watch(step.__name__, program)
    return program


def to_single_assignment(program: Program, keeps: Keeps, watch: Watch = unwatched) -> Program:
    """Normal form, callees put in, to single assignment; `keeps` as in `redefine_at_use`."""
    watch("inline_calls", program)
    program = to_ssa(*redefine_at_use(program, keeps))
    watch("to_ssa", program)
    return program


def _assigned_once(tree: Any, facts: Facts) -> Callable[[str], bool]:
    """Tells the names that merging has not made the name of several values (a trace gives a name the value
    that it had; None or a number stands in for the value on a path that has none).
    """
    count: Counter[str] = Counter()

    def is_one(name: str) -> bool:
        if not count:
            count.update(_assignments(tree, facts))
        return count[name] == 1

    return is_one


def _assignments(tree: Any, facts: Facts) -> Iterator[str]:
    """The names that are given values, each as often as it is."""
    yield from (n.id for n in tree.args.args)
    counted: set[tuple[str, str]] = set()  # names of loops over a `range`: integers in each of them
    for s in statements_in(tree.body):
        match s:
            case gast.For(target=gast.Name(id=name), iter=gast.Call(func=gast.Name(id="range" as called))):
                if (name, called) not in counted:
                    yield name
                counted.add((name, called))
            case gast.Assign(targets=[target], value=source) | gast.For(target=target, iter=source):
                restored = (
                    isinstance(source, gast.Subscript)
                    and isinstance(source.value, gast.Name)
                    and source.value.id in facts.generation.traces
                ) or (isinstance(source, gast.Constant) and isinstance(source.value, (float, type(None))))
                if not restored:
                    yield from target_names(target)
            case gast.AugAssign(target=gast.Name(id=name)) | gast.FunctionDef(name=name):
                yield name
                if isinstance(s, gast.FunctionDef):
                    yield from (n.id for n in s.args.args)


def _fold_constants(tree: Any, facts: Facts) -> Any:
    """Before names are merged: kinds hold for all that is assigned to a name."""
    return _folded(tree, facts, lambda name: True)


def _fold_merged(tree: Any, facts: Facts) -> Any:
    folded = _folded(tree, facts, _assigned_once(tree, facts))
    placed = put_constants(folded, facts.captured)
    return folded if placed is folded else _folded(placed, facts, _assigned_once(placed, facts))


def _folded(tree: Any, facts: Facts, is_one: Callable[[str], bool]) -> Any:
    def is_number(e: Any) -> bool:
        """Whether an expression's value is a number, or a new object."""
        if isinstance(e, gast.Call):
            return facts.is_pure(e) and not e.keywords and all(map(is_number, e.args))
        if isinstance(e, (gast.Name, gast.Subscript)):
            return all(map(is_one, names_read(e))) and facts.is_number(e)
        return isinstance(e, gast.Constant)

    def is_derivative(e: Any) -> bool:
        return any(n in facts.generation.derivatives for n in names_read(e))

    return fold_constants(
        tree,
        facts.is_pure,
        lambda e: facts.is_float(e, is_one),
        is_number=is_number,
        is_derivative=is_derivative,
    )


def _remove_dead_code(tree: Any, facts: Facts) -> Any:
    return remove_dead_code(
        tree, facts.is_pure, facts.generation.traces, facts.careful, facts.generation.bprop
    )


def _remove_new_dead_code(tree: Any, facts: Facts) -> Any:
    """Once more, where inlining and folding left a name that nothing reads, or an empty arm."""
    uses = find_uses(tree)
    is_clean = uses is not None and all(uses.read[n] for n in uses.bound if n not in uses.parameters)
    if is_clean and not any(isinstance(s, gast.Pass) for s in statements_in(tree.body)):
        return tree
    return _remove_dead_code(tree, facts)


def _merge_copies(tree: Any, facts: Facts) -> Any:
    traces = facts.generation.traces
    return merge_copies(
        tree, facts.is_pure, facts.captured, traces, alike=facts.alike, nature=facts.nature
    )


def _meet_quotients(tree: Any, facts: Facts) -> Any:
    return meet_quotients(tree, lambda name: name in facts.generation.derivatives, facts.is_pure)


def _read_before_zero(tree: Any, facts: Facts) -> Any:
    return read_before_zero(tree, facts.is_pure, facts.generation.derivatives)


def _share_values(tree: Any, facts: Facts) -> Any:
    is_one = _assigned_once(tree, facts)
    return share_values(
        tree,
        facts.may_go,
        lambda name: is_one(name) and facts.is_number(load(name)),
        lambda name: facts.is_float(load(name), is_one),
        lambda name: name in facts.generation.derivatives,
        facts.is_pure,
    )


def _move_signs(tree: Any, facts: Facts) -> Any:
    is_one = _assigned_once(tree, facts)
    return move_signs(
        tree,
        lambda name: name in facts.generation.derivatives,
        facts.may_go,
        lambda name: is_one(name) and facts.is_number(load(name)),
        facts.is_odd,
    )


def _inline_temporaries(tree: Any, facts: Facts) -> Any:
    is_one = _assigned_once(tree, facts)
    last = {
        facts.origins[n]: n
        for s in statements_in(tree.body)
        if isinstance(s, gast.Assign)
        for t in s.targets
        for n in target_names(t)
        if n in facts.origins
    }

    def is_temporary(name: str) -> bool:
        """Also the parts of a sum of contributions: all versions of an adjoint but the last."""
        return facts.is_temporary(name) or (
            name in facts.generation.derivatives and last.get(facts.origins[name], name) != name
        )

    return inline_temporaries(
        tree,
        facts.is_pure,
        is_temporary,
        facts.generation.traces,
        lambda name: is_one(name) and facts.is_number(load(name)),
    )


def _repeat_indices(tree: Any, facts: Facts) -> Any:
    is_one = _assigned_once(tree, facts)
    return repeat_indices(tree, facts.is_temporary, lambda name: is_one(name) and facts.is_number(load(name)))


def _store_over_zero(tree: Any, facts: Facts) -> Any:
    variables = facts.variables
    return store_over_zero(
        tree,
        facts.is_pure,
        facts.generation.derivatives | variables.keys(),
        lambda name: facts.are_alike(variables.get(name, name), variables.get(name, name)),
        lambda name: facts.is_number(load(variables.get(name, name))),
    )


def _update_in_place(tree: Any, facts: Facts, wanted: Set[str] | None = None) -> Any:
    if wanted is not None and not wanted:
        return tree
    is_one, variables = _assigned_once(tree, facts), facts.variables

    def is_of_form(value: Any, name: str) -> bool:
        """Whether arithmetic reads an array, no adjoint, of the kind that a variable has."""
        match value:
            case gast.Name(id=read):
                is_primal = read not in facts.generation.derivatives and is_one(read)
                return is_primal and facts.are_alike(read, variables.get(name, ""))
            case gast.BinOp(left=left, op=gast.Add() | gast.Sub() | gast.Mult() | gast.Div(), right=right):
                return is_of_form(left, name) or is_of_form(right, name)
            case gast.UnaryOp(op=gast.USub(), operand=operand):
                return is_of_form(operand, name)
        return False

    def may_become(a: str, b: str) -> bool:
        return (wanted is None or b in wanted) and facts.have_one_form(a, b)

    return update_in_place(tree, is_of_form, may_become, facts.is_fresh)


def _share_names(tree: Any, facts: Facts) -> Any:
    return share_names(tree, facts.captured, facts.origin, facts.alike, facts.nature)


def _share_temporaries(tree: Any, facts: Facts) -> Any:
    protected, are_alike = facts.captured | facts.scope, facts.are_temporary_arrays
    return share_temporaries(tree, protected, lambda name: name in facts.variables, are_alike)


def _restore_names(tree: Any, facts: Facts) -> Any:
    temporaries = frozenset(filter(facts.is_temporary, names_in(tree)))
    fixed = facts.captured | facts.scope
    return restore_names(tree, facts.origins, temporaries, fixed, facts.reserved)


SIMPLIFY: tuple[tuple[str, Callable[[Any, Facts], Any]], ...] = (
    ("fold_constants", _fold_constants),
    ("remove_dead_code", _remove_dead_code),
    ("merge_copies", _merge_copies),
    ("join_exchanges", lambda tree, facts: join_exchanges(tree)),
    ("share_values", _share_values),
    ("meet_quotients", _meet_quotients),
    ("read_before_zero", _read_before_zero),
    # Sums with what broadcasting spreads: NumPy would not reuse the other term.
    ("update_stretched", lambda tree, facts: _update_in_place(tree, facts, facts.generation.stretched)),
    ("repeat_indices", _repeat_indices),
    ("inline_temporaries", _inline_temporaries),
    ("fold_constants_again", _fold_merged),
    ("move_signs", _move_signs),
    ("remove_dead_code_again", _remove_new_dead_code),
    ("store_over_zero", _store_over_zero),
    ("update_in_place", _update_in_place),
    ("share_names", _share_names),
    ("share_temporaries", _share_temporaries),
    ("restore_names", _restore_names),
)


def simplify(
    program: Program,
    generation: Generation,
    is_pure: Callable[[Any], bool],
    is_float: Callable[[Any, Callable[[str], bool]], bool],
    is_number: Callable[[Any], bool],
    is_odd: Callable[[Any], bool],
    is_fresh: Callable[[Any], bool],
    are_alike: Callable[[str, str], bool],
    users: frozenset[str],
    careful: bool = False,
    watch: Watch = unwatched,
) -> Program:
    """A derivative as a person would write it: nothing unneeded, no copies, expressions nested again."""
    tree, is_pure = program.tree, cache(is_pure)
    captured = frozenset(
        n
        for s in statements_in(tree.body)
        if isinstance(s, gast.FunctionDef) and s.name != generation.bprop
        for n in names_read(s)
    )
    facts = Facts(
        generation,
        is_pure,
        is_float,
        is_number,
        is_odd,
        is_fresh,
        are_alike,
        users,
        program.origins,
        frozenset(program.scope.cells),
        program.names.reserved,
        captured,
        careful,
    )
    for name, step in SIMPLIFY:
        program = program.with_tree(step(program.tree, facts))
        watch(name, program)
    return program
