"""Activity: which names depend differentiably on the parameters of interest.

A name is active when a differentiable path leads to it from one of these parameters. An inactive name needs
neither tangent nor adjoint. (Whether the result depends on a name needs no analysis: the reverse sweep makes
adjoints only along such paths.)
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Any

import gast

from ..trees.nodes import blocks_of, is_atom, names_read, statements_in, walk
from .facts import Facts
from .find_shadowed import find_shadowed
from .find_shift_invariance import find_shift_invariance
from .liveness import captured_names
from .operations import Apply

__all__ = ["find_active", "loop_elements"]


def loop_elements(s: Any) -> list[tuple[Any, Any]]:
    """The targets of a `for` loop, each with the iterable that its values come from."""
    function = s.iter.func.id if isinstance(s.iter, gast.Call) and isinstance(s.iter.func, gast.Name) else ""
    if isinstance(s.target, gast.Tuple):
        if function == "zip" and len(s.iter.args) == len(s.target.elts):
            return list(zip(s.target.elts, s.iter.args, strict=True))
        if function == "enumerate" and len(s.target.elts) == 2:
            return [(s.target.elts[1], s.iter.args[0])]
    return [(s.target, s.iter)]


def find_active(facts: Facts, wrt: tuple[str, ...]) -> frozenset[str]:
    """The active names with respect to the parameters `wrt`. Of aliases of a changed object all are active,
    or none; integers, strings and shift-invariant names (`find_shift_invariance`) are not.
    """
    program, domain = facts.program, facts.domain
    cancelled = facts.of(find_shift_invariance)

    def can_vary(name: str) -> bool:
        return name not in cancelled and domain.is_differentiable(facts.kind_of_name(name)) is not False

    active = {name for name in wrt if can_vary(name)}

    def reads_active(nodes: Iterable[Any]) -> bool:
        return any(name in active for node in nodes for name in names_read(node))

    def may_store(operation: Any) -> bool:
        """Whether a statement may store into its first argument, as `add_at` does and a check does not."""
        is_call = isinstance(operation, Apply)
        return is_call and not facts.primitives.is_nondifferentiable(operation.function)

    def gives_keys(source: Any) -> bool:
        """Whether a loop iterates over the keys of a dict, which are inactive."""
        while isinstance(source, gast.Call) and source.args:  # `reversed(d)`, `enumerate(d)`
            source = source.args[0]
        return is_atom(source) and domain.is_dict(facts.kind(source))

    def mark(target: Any) -> None:
        for n in walk(target):
            if isinstance(n, gast.Name) and can_vary(n.id):
                active.add(n.id)

    def visit(statements: list[Any]) -> None:
        for s in statements:
            match s:
                case gast.Assign(targets=[target]):
                    if not active.isdisjoint(facts.sources(s.value)):
                        mark(target.value if isinstance(target, gast.Subscript) else target)
                case gast.AugAssign(target=gast.Subscript(value=base)):
                    if reads_active([s.value]):
                        mark(base)
                case gast.Expr(value=gast.Call(func=gast.Attribute(value=base), args=args)):
                    is_module = isinstance(program.resolve(base), ModuleType)
                    if isinstance(base, gast.Name) and not is_module and reads_active(args):
                        mark(base)
                case gast.Expr(value=gast.Call(func=gast.Name(), args=[base, _, value])):
                    if may_store(facts.operation(s.value)) and reads_active([value]):
                        mark(base)
                case gast.If():
                    visit(s.body)
                    visit(s.orelse)
                case gast.For():
                    for target, source in loop_elements(s):
                        if reads_active([source]) and not gives_keys(source):
                            mark(target)
                    visit(s.body)
                case gast.While() | gast.With():
                    visit(s.body)
                case gast.Try():
                    for block in blocks_of(s):
                        visit(block)
                    if reads_active(s.body):  # the exception may hold a value of the body
                        active.update(h.name.id for h in s.handlers if h.name is not None)
                case gast.FunctionDef():
                    if any(name in active for _, name in captured_names(s)):
                        active.add(s.name)

    functions = {s.name for s in statements_in(program.tree.body) if isinstance(s, gast.FunctionDef)}
    while True:
        size = len(active)
        visit(program.tree.body)
        for names in facts.of(find_shadowed).classes:
            if names & active:
                active |= set(filter(can_vary, names)) - functions
        if len(active) == size:
            return frozenset(active)
