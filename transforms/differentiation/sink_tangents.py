"""Sinks tangents that divide by a value which may be zero into the arm of a branch that alone reads them.

Form in and out: generated code of forward mode.

    d = math.sqrt(x)                  d = math.sqrt(x)
    dd = dx / (2 * d)                 if d > 0:
    if d > 0:                  ->         dd = dx / (2 * d)
        out, dout = d, dd                 out, dout = d, dd

So an infinite slope is not computed where the function guards against it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from typing import Any

import gast

from ..trees.nodes import (
    assign,
    assigned_names,
    find_nodes,
    header_of,
    located,
    names_read,
    read_counts,
    statements_in,
)
from ..trees.rebuild import map_blocks, rebuilt, substitute
from .choices import may_raise
from .rule_application import Emitter

__all__ = ["sink_tangents"]


Arm = tuple[int, str, int]  # the index of a branch, its test, and the arm's number


def sink_tangents(emitter: Emitter, body: list[Any], tangents: Set[str], result: Any) -> list[Any]:
    """The statements with such tangents moved; `tangents` are the scalar ones computed from numbers alone,
    `result` is the expression of the result's tangent.
    """
    statements = [*statements_in(body)][::-1]
    if not any(_divides(emitter, s, tangents) for s in statements):
        return body
    live, size = set(names_read(result)), -1
    while len(live) > size:
        size = len(live)
        for s in statements:
            if _is_live(s, tangents, live):
                live |= set(names_read(s))
    return _sunk(emitter, body, tangents, live, _reads(body, tangents, live) + Counter(names_read(result)))


def _divides(emitter: Emitter, s: Any, tangents: Set[str]) -> bool:
    """Whether a statement assigns such a tangent a quotient whose divisor may be zero."""
    match s:
        case gast.Assign(targets=[gast.Name(id=name)], value=value):
            return name in tangents and may_raise(emitter, value)
    return False


def _reads(body: list[Any], tangents: Set[str], live: set[str]) -> Counter[str]:
    """How often live statements read each name."""
    found: Counter[str] = Counter()
    for s in statements_in(body):
        if _is_live(s, tangents, live):
            for part in header_of(s):
                found.update(read_counts(part))
    return found


def _sunk(
    emitter: Emitter, body: list[Any], tangents: Set[str], live: set[str], total: Counter[str]
) -> list[Any]:
    here, made = _reads(body, tangents, live), {name for s in body if (name := _name_of(s)) is not None}
    own = {n for n in made & tangents if here[n] == total[n]}  # no other block reads them
    steep = _steep(emitter, body, own)
    body = [_as_branch(s, steep) for s in body]
    body = _put_in(body, steep, tangents, live)
    arms = _arms(body, steep, tangents, live)
    wanted = _needed(emitter, body, arms)
    moved = {body[k].targets[0].id for k in wanted}
    found = []
    for k, s in enumerate(body):
        if k in wanted or (not _is_live(s, tangents, live) and not moved.isdisjoint(names_read(s))):
            continue
        parts = [[body[m] for m in sorted(wanted) if arms[m][0] == k and arms[m][2] == n] for n in (0, 1)]
        if any(parts):
            s = rebuilt(s, body=[*parts[0], *s.body], orelse=[*parts[1], *s.orelse])
        found.append(s)
    return [map_blocks(s, lambda block: _sunk(emitter, block, tangents, live, total)) for s in found]


def _steep(emitter: Emitter, body: list[Any], tangents: Set[str]) -> set[str]:
    """The tangents that divide by a value that may be zero, and all that read these."""
    found: set[str] = set()
    for s in body:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if name in tangents:
                if may_raise(emitter, value) or not found.isdisjoint(names_read(value)):
                    found.add(name)
    return found


def _as_branch(s: Any, steep: set[str]) -> Any:
    """`dy = dd if c else 0.0` as a branch, where an arm reads such a tangent."""
    match s:
        case gast.Assign(
            targets=[gast.Name(id=name)], value=gast.IfExp(test=test, body=first, orelse=second)
        ):
            if not steep.isdisjoint(names_read([first, second])) and steep.isdisjoint(names_read(test)):
                arms = [[assign(name, value, s)] for value in (first, second)]
                return located(gast.If(test=test, body=arms[0], orelse=arms[1]), s)
    return s


def _put_in(body: list[Any], steep: set[str], tangents: Set[str], live: set[str]) -> list[Any]:
    """The statements with such tangents inlined into an arm of a conditional expression that alone reads
    them.
    """
    read = _reads(body, tangents, live)
    found: list[Any] = []
    for s in body:
        while isinstance(s, gast.Assign) and _is_live(s, tangents, live):
            chosen = {
                n
                for choice in find_nodes(s, gast.IfExp)
                for n in names_read([choice.body, choice.orelse])
                if n in steep and read[n] == 1
            }
            named = enumerate(found) if chosen else ()
            places = [k for k, d in named if _name_of(d) in chosen and _stays(d, found[k + 1 :])]
            if not places:
                break
            part = found.pop(places[0])
            s = substitute(s, {part.targets[0].id: part.value})
        found.append(s)
    return found


def _name_of(s: Any) -> str | None:
    """The name that a statement assigns, if it is the only target."""
    match s:
        case gast.Assign(targets=[gast.Name(id=name)]):
            return str(name)
    return None


def _stays(s: Any, others: list[Any]) -> bool:
    """Whether no other statement assigns a name that the statement reads."""
    return set(names_read(s.value)).isdisjoint(assigned_names(others))


def _arms(body: list[Any], steep: set[str], tangents: Set[str], live: set[str]) -> dict[int, Arm]:
    """For each statement that computes such a tangent, and may be moved, the arm that alone reads it; of
    several branches with one test, the arm of the first.
    """
    found: dict[int, Arm] = {}
    if not steep or not any(isinstance(s, gast.If) for s in body):
        return found
    readers: dict[str, list[int]] = {}
    for k, s in enumerate(body):
        for name in steep.intersection(names_read(s)) if _is_live(s, tangents, live) else ():
            readers.setdefault(name, []).append(k)
    bound = [frozenset(assigned_names(s)) for s in body]
    count = Counter(n for names in bound for n in names)
    once = {name for name in steep if count[name] == 1}

    def arms_of(k: int, name: str) -> set[Any]:
        """The arms of a statement that read a name, and None if the name is read outside of arms."""
        s = body[k]
        if k in found:
            return {found[k]}
        if not isinstance(s, gast.If) or name in names_read(s.test):
            return {None}
        is_lasting = isinstance(s.test, gast.Name) and count[s.test.id] < 2
        test = s.test.id if is_lasting else f"{k}"
        return {(k, test, n) for n, arm in enumerate((s.body, s.orelse)) if name in names_read(arm)}

    for k in range(len(body) - 1, -1, -1):
        match body[k]:
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if name in once:
                arms = set().union(*(arms_of(m, name) for m in readers.get(name, ()) if m != k))
                if None in arms or len({(test, n) for _, test, n in arms}) != 1:
                    continue
                first = min(arms)
                changed = frozenset().union(*bound[k + 1 : max(arms)[0] + 1])
                if first[0] > k and changed.isdisjoint(names_read(value)):
                    found[k] = first
    return found


def _is_live(s: Any, tangents: Set[str], live: set[str]) -> bool:
    """Whether a statement's target is live; only tangents and displays can be dead."""
    match s:
        case gast.Assign(targets=[gast.Name(id=name)], value=value):
            is_display = isinstance(value, (gast.Tuple, gast.List, gast.Dict))
            return name in live or not (is_display or name in tangents)
    return True


def _needed(emitter: Emitter, body: list[Any], arms: dict[int, Arm]) -> set[int]:
    """The statements that divide by a value that may be zero, and the ones that read them."""
    wanted, names = set(), set[str]()
    for k in sorted(arms):
        if may_raise(emitter, body[k].value) or not names.isdisjoint(names_read(body[k].value)):
            wanted.add(k)
            names.add(body[k].targets[0].id)
    return wanted
