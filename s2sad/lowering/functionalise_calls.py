"""Functionalises calls of functions that change array arguments and cannot be inlined: the function copies
them and returns the changed copies, and the caller stores these.

    def scale(p, k):                        def scale(p, k):
        if k > 0:                               p = p.copy()
            p[k] *= 2.0                         if k > 0:
            scale(p, k - 1)                         p[k] *= 2.0
                                                    scale(p, k - 1)
                                                return p

    scale(a, 3)                             a_1 = scale(a, 3)
                                            a[...] = a_1

So the differentiated function has no side effects, and aliases of its arguments are followed at the stores.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import gast

from ..analysis.primitive_table import COPIED, PRIMITIVES
from ..kinds import domain
from ..kinds.lattice import Array, Kind
from ..runtime.reachable_arrays import outside_of
from ..source.fixed_arity import has_stars
from ..source.read import code_of_tree, read_source
from ..transforms.analyses.effects import ELSEWHERE, NONE, Effect
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_aliases import ANYTHING, OUTSIDE, both, find_aliases
from ..transforms.lowering.lower_effects import Writer, lower_effects
from ..transforms.trees.nodes import (
    assign,
    assigned_names,
    attribute,
    call,
    constant,
    is_atom,
    load,
    located,
    store,
    tuple_of,
)
from ..transforms.trees.program import Program, names_of
from ..transforms.trees.rebuild import parameter_names, rebuilt, rewritten
from ..values.code_state import cells_of, rebuilt_function

__all__ = ["lowered_calls", "returning"]

Parameters = tuple[str, ...]
# For each function those made from it, by the parameters that they return, and whether they have a result.
_made: WeakKeyDictionary[FunctionType, dict[tuple[Parameters, bool], FunctionType]] = WeakKeyDictionary()


def lowered_calls(facts: Facts) -> Program:
    """The program with calls of known functions that change arrays as calls that return the changed arrays,
    and stores of these.
    """
    kind = facts.kind

    def may_share(a: Any, b: Any) -> bool:
        return _may_share(facts, a, b)

    def check(s: Any, function: FunctionType, given: list[Any], count: int, writer: Writer) -> list[Any]:
        """The check that the first `count` of the atoms `given`, which the call writes to, share no memory
        with anything else that it reads; empty where they surely do not.
        """
        written = given[:count]
        rest = [o for o in given[count:] if any(may_share(a, o) for a in written)]
        outside = outside_of([function])
        if outside and any(may_share(a, None) for a in written):
            rest.append(writer.bound(outside, "outside"))
        others = any(may_share(a, b) for k, a in enumerate(written) for b in written[:k])
        if not others and not rest:
            return []
        refuse = writer.bound(PRIMITIVES.helper("refuse_overlap"), "refuse_overlap")
        return [located(gast.Expr(value=call(refuse, tuple_of(written), tuple_of(rest))), s)]

    def rewritten(s: Any, writer: Writer) -> list[Any] | None:
        match s:
            case gast.Expr(value=gast.Call() as node) | gast.Assign(
                targets=[gast.Name()], value=gast.Call() as node
            ):
                effect, given = facts.effect_at(node)
                function = effect.runs or facts.program.resolve(node.func)
                if isinstance(function, FunctionType) and _is_followed(function, effect, given, kind):
                    held = [a for a in given.values() if not domain.is_immutable(kind(a))]
                    held.sort(key=lambda a: all(a is not given[p] for p in effect.changed))
                    checks = check(s, function, held, len(effect.changed), writer)
                    return checks + _stores(s, function, effect, given, writer)
        return None

    return lower_effects(facts.program, rewritten)


def _may_share(facts: Facts, a: Any, b: Any) -> bool:
    """Whether an array may share memory with the value of another name, or for None with an outer scope. The
    function's own arguments count as disjoint: `guard_overlaps` checks them.
    """
    held = facts.of(find_aliases).held
    mine = both(held.get(a.id, ANYTHING))
    if b is None:
        return OUTSIDE in mine
    theirs = both(held.get(b.id, ANYTHING))
    return OUTSIDE in mine | theirs or bool(mine & theirs)


def _is_followed(
    function: FunctionType, effect: Effect, given: Any, kind: Callable[[Any], Kind]
) -> bool:
    """Whether a call changes only its array arguments, and its result is one of these or shares nothing with
    them.
    """
    result = effect.known_result
    followed = effect.changed if result in (None, NONE) else effect.changed | {result}
    if not followed or not followed <= given.keys() or has_stars(function):
        return False
    if result is None and effect.shared & (effect.changed | {ELSEWHERE}):
        return False
    return all(isinstance(given[p], gast.Name) and isinstance(kind(given[p]), Array) for p in followed)


def _stores(s: Any, function: FunctionType, effect: Effect, given: Any, writer: Writer) -> list[Any]:
    """The call of the functionalised function, and the stores of the arrays that it returns."""
    parameters = parameter_names(read_source(function).tree)
    written = [p for p in parameters if p in effect.changed]
    code: list[Any] = []
    if written:
        bases = [given[p] for p in written]
        has_result = effect.known_result is None
        made = returning(function, tuple(written), has_result)
        node = rebuilt(s.value, func=writer.bound(made, function.__name__))
        parts = [writer.names.temporary(base.id) for base in bases]
        targets = [*parts, *([_target(s, writer)] if has_result else [])]
        if len(targets) == 1:
            code.append(assign(parts[0], node, s))
        else:
            found = writer.names.temporary(bases[0].id)
            unpacked = tuple_of(map(store, targets), gast.Store())
            code += [assign(found, node, s), assign(unpacked, load(found), s)]
        for base, part in zip(bases, parts, strict=True):
            whole = gast.Subscript(value=base, slice=constant(...), ctx=gast.Store())
            code.append(assign(whole, load(part), s))
    else:
        code.append(located(gast.Expr(value=s.value), s))
    if isinstance(s, gast.Assign) and effect.known_result is not None:
        code.append(rebuilt(s, value=given.get(effect.known_result, constant(None))))
    return code


def _target(s: Any, writer: Writer) -> str:
    name: str = s.targets[0].id if isinstance(s, gast.Assign) else writer.names.temporary("result")
    return name


# ---------------------------------------------------------------- the function


def returning(function: FunctionType, written: Parameters, has_result: bool) -> FunctionType:
    """The function that changes copies of the arrays `written`, and returns the copies and its result, if it
    has one: a tuple if there are several.
    """
    known = _made.setdefault(function, {})
    if (written, has_result) in known:
        return known[written, has_result]
    made = rebuilt_function(function, _code(function, written, has_result), cells_of(function))
    setattr(made, COPIED, frozenset(written))
    return known.setdefault((written, has_result), made)


def _code(function: FunctionType, written: Parameters, has_result: bool) -> CodeType:
    source = read_source(function)
    names = names_of(source.tree, source.scope)
    rebound = set(assigned_names(source.tree.body))
    copies = {p: names.temporary(p) if p in rebound else p for p in written}
    body: list[Any] = []
    for p, name in copies.items():
        copied = located(call(attribute(load(p), "copy")), source.tree)
        body.append(assign(name, copied, source.tree))
        body += [assign(p, load(name), source.tree)] if name != p else []

    def statement(s: Any) -> list[Any] | None:
        if not isinstance(s, gast.Return):
            return None
        result = s.value if s.value is not None else constant(None)
        items = [*map(load, copies.values()), *([result] if has_result else [])]
        returned = rebuilt(s, value=items[0] if len(items) == 1 else tuple_of(items))
        runs = not has_result and not is_atom(result)
        return [located(gast.Expr(value=result), s), returned] if runs else [returned]

    last = located(gast.Return(value=None), source.tree.body[-1])
    tree = rewritten(rebuilt(source.tree, body=[*source.tree.body, last]), statement, nested=False)
    tree = rebuilt(tree, body=[*body, *tree.body])
    return code_of_tree(tree, source.filename, function.__code__.co_freevars, source.lines)
