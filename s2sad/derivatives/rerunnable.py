"""Decides whether a function has no side effects, so that it can be run a second time."""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Any

import gast

from ..analysis.primitive_table import HELPERS, PRIMITIVES
from ..analysis.purity import Purity
from ..kinds.lattice import Kind
from ..runtime.checkpoints import check_states, run_steps
from ..source.read import read_source
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.operations import Call, starred
from ..transforms.trees.nodes import find_nodes
from ..transforms.trees.program import MISSING, Program
from ..transforms.trees.rebuild import parameter_names
from ..transforms.trees.remember import forget
from .primal_forms import Forms

__all__ = ["is_repeatable"]

Kinds = Mapping[str, Kind]


def is_repeatable(function: FunctionType, kinds: tuple[Kind, ...]) -> bool:
    """Whether a run on arguments of these kinds surely has no side effects: it changes no argument or outer
    variable, and consumes no iterator.
    """
    forms, parameters = Forms(), parameter_names(read_source(function).tree)
    try:
        return _is_repeatable(function, dict(zip(parameters, kinds, strict=True)), forms)
    finally:
        forget()


def _is_repeatable(function: FunctionType, given: Kinds, forms: Forms) -> bool:
    todo: list[tuple[FunctionType, Kinds]] = [(function, given)]
    seen: set[Any] = set()
    while todo:
        function, given = todo.pop()
        key = function, tuple(given.items())
        if key in seen:
            continue
        seen.add(key)
        if forms.effects.of_function(function, given).changed:
            return False
        facts = forms.expanded(function, given)
        program, is_pure = facts.program, Purity(facts)
        for node in find_nodes(program.tree, gast.Call, gast.For, gast.Assign):
            if is_pure(node) or _changes_alone(node, program):
                continue
            called = _called(node, facts, forms)
            if called is None:
                return False
            todo.append(called)
    return not forms.rebound


def _changes_alone(node: Any, program: Program) -> bool:
    """Whether a call only writes to its arguments, which the function's effect includes, or is of a helper.
    """
    if not isinstance(node, gast.Call):
        return False
    named = {k.arg or "": k.value for k in node.keywords}
    function = program.resolve(node.func)
    if function in (run_steps, check_states):  # an inner loop, whose steps are checked as well
        return True
    if function is MISSING:
        return isinstance(node.func, gast.Attribute) and node.func.attr == "append"
    is_helper = any(getattr(m, getattr(function, "__name__", ""), None) is function for m in HELPERS)
    return is_helper or bool(PRIMITIVES.changed(function, len(node.args), named))


def _called(node: Any, facts: Facts, forms: Forms) -> tuple[FunctionType, Kinds] | None:
    """The user's function that is called, and the kinds of its parameters; None for other calls."""
    kind = facts.kind
    operation = facts.operation(node) if isinstance(node, gast.Call) else None
    if not isinstance(operation, Call) or starred(operation):
        return None
    args, keywords = [kind(a) for a in operation.args], {k or "": kind(v) for k, v in operation.keywords}
    function = forms.plain(operation.function, args, keywords)
    bound = forms.bind(function, args, keywords) if isinstance(function, FunctionType) else None
    return None if bound is None else (function, bound)
