"""Aliases: which names may hold the same array or list, and whether another name sees a change in place.

Form: the single-assignment form. Each name has two sets of roots: those of its object, and those of the
object's contents (a list's items). A root is the statement, by its target, that may have made the object,
`<a>` and `<a[]>` for the object that the caller passed as `a` and for its contents, or OUTSIDE for a global
or the result of a call. A view has the roots of its array. The sets over-approximate, as long as no two
arguments share memory, which is checked where one is stored into.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, cached_property
from typing import Any, NamedTuple

import gast

from ..trees.nodes import blocks_of, bound_in_header, load, names_read, places_of, statements_in, walk
from ..trees.program import EMPTY, Program
from .facts import Facts
from .find_exchanges import find_exchanges
from .find_live import Live, find_live
from .find_namespaces import NOT_CHANGING, find_namespaces
from .find_recency import Recency
from .find_uses import find_uses
from .operations import (
    IN_PLACE_OPERATORS,
    Alias,
    Apply,
    Build,
    Call,
    Field,
    Inert,
    Item,
    Opaque,
    Pop,
    is_append,
)

__all__ = ["OUTSIDE", "Aliases", "argument_of", "contents_of", "find_aliases", "is_outside"]

OUTSIDE = "<>"
_UPDATES = frozenset(IN_PLACE_OPERATORS.values())
Roots = frozenset[str]


def argument_root(name: str) -> str:
    return f"<{name}>"


def contents_root(name: str) -> str:
    return f"<{name}[]>"


def argument_of(root: str) -> str | None:
    """The parameter whose object has this root; else None."""
    inner = root[1:-1] if root.startswith("<") else ""
    return inner if inner.isidentifier() and root != OUTSIDE else None


def contents_of(root: str) -> str | None:
    """The parameter whose contents have this root; else None."""
    return root[1:-3] if root.startswith("<") and root.endswith("[]>") else None


def is_outside(root: str) -> bool:
    """Whether an object of this root is held outside the function."""
    return root.startswith("<")


Held = tuple[Roots, Roots]  # of the object, and of its contents
NOTHING: Held = frozenset(), frozenset()
ANYTHING: Held = frozenset({OUTSIDE}), frozenset({OUTSIDE})


def both(held: Held) -> Roots:
    return held[0] | held[1]


def union(found: Iterable[Held]) -> Held:
    found = list(found)
    return frozenset().union(*(h[0] for h in found)), frozenset().union(*(h[1] for h in found))


class AtOnce(NamedTuple):
    """Names without a common root in `together` hold distinct objects at any one time, though a loop may pass
    an object from one to the other.
    """

    together: dict[str, Held]
    recency: Recency


class Aliases:
    """The aliases of a program: `held` maps names to the roots that they hold at any time. What asks at which
    statement is computed when it is first asked for.
    """

    def __init__(self, tree: Any, held: dict[str, Held], at_once: Callable[[Live], AtOnce]) -> None:
        self.tree, self.held, self._at_once = tree, held, at_once

    @cached_property
    def live(self) -> Live:
        uses = find_uses(self.tree)
        assert uses is not None
        return find_live(self.tree, uses)

    @cached_property
    def iterated(self) -> dict[int, frozenset[str]]:
        return iterated(self.tree)

    @cached_property
    def outer(self) -> set[str]:
        """Names of the enclosing scope."""
        return self.held.keys() - self.live.bits.keys()

    @cached_property
    def at_once(self) -> AtOnce:
        return self._at_once(self.live)

    @property
    def recency(self) -> Recency:
        return self.at_once.recency

    def reaches(self, a: str, b: str) -> bool:
        """Whether the object of `b` may be that of `a`, or in the contents of that."""
        return bool(both(self.held.get(a, NOTHING)) & self.held.get(b, ANYTHING)[0])

    def loops_over(self, name: str, statement: Any) -> list[str]:
        """The iterables of loops around a statement that may hold the object of `name`."""
        return sorted(n for n in self.iterated[id(statement)] if n in self.held and self.reaches(n, name))

    def others(self, name: str, statement: Any, result: str | None = None) -> list[str]:
        """The aliases that see a change of the object of `name` at `statement`: roots outside the function,
        names that are live after it, and iterables of loops around it.
        """
        together = self.at_once.together
        mine, now = self.held.get(name, ANYTHING)[0], together.get(name, ANYTHING)[0]
        found = sorted(filter(is_outside, mine))
        found += sorted(
            other
            for other in self.live.names_after(statement) | self.iterated[id(statement)] | self.outer
            if other not in (name, result)
            and both(together.get(other, NOTHING)) & now
            and not self.recency.is_older(other, name, statement)
        )
        return found


def find_aliases(facts: Facts) -> Aliases:
    """The aliases among a program's names."""
    program, tree, domain = facts.program, facts.program.tree, facts.domain
    operation_of, is_in_place = facts.operation, facts.primitives.is_in_place
    is_call_of = facts.is_call_of
    spaces = find_namespaces(program)

    @cache
    def immutable(name: str) -> bool:
        return domain.is_immutable(facts.kind_of_name(name))

    def is_scalar_item(base: Any, index: Any) -> bool:
        return domain.is_scalar_item(facts.kind(base), index, facts.kind)

    def is_container(atom: Any) -> bool:
        """Whether an atom holds its items by reference."""
        return spaces.get(getattr(atom, "id", "")) is not None or domain.is_container(facts.kind(atom))

    def is_array(atom: Any) -> bool:
        """Whether a store into an atom copies the value."""
        return domain.item_nature(facts.kind(atom)) == "array"

    passing: frozenset[int] = frozenset()  # the copies that permute names, left out
    held: dict[str, Held] = {
        n.id: NOTHING
        if immutable(n.id)
        else (
            frozenset({argument_root(n.id)}),
            frozenset() if is_array(n) else frozenset({contents_root(n.id)}),
        )
        for n in walk(tree.args)
        if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Param)
    }

    def of(node: Any) -> Held:
        if isinstance(node, gast.Name):
            return held.get(node.id, NOTHING) if node.id in program.locals else ANYTHING
        return NOTHING if isinstance(node, (gast.Constant, gast.UnaryOp)) else ANYTHING

    def item(base: Held, kept: bool) -> Held:
        """The roots of an item: of an object in the contents, or of a view of the object itself (`kept` where
        it can be no view).
        """
        return (base[1] if kept else both(base)), base[1]

    def of_value(value: Any, site: str) -> Held:
        operation = operation_of(value)
        own = frozenset({site})
        match operation:
            case Alias(source=source):
                return of(source)
            case Item(base=base, index=index) if is_scalar_item(base, index):
                return NOTHING
            case Item(base=base, index=gast.Slice()) if is_container(base):  # a list with the same items
                return own, of(base)[1]
            case Item(base=base, index=index):
                found = item(of(base), is_container(base))
                may_slice = is_container(base) and isinstance(index, gast.Name)
                return (found[0] | own, found[1]) if may_slice else found
            case Pop(base=base):
                return item(of(base), True)
            case Field(base=base):
                found = item(of(base), is_container(base))
                return (found[0] | own, found[1]) if site in spaces else found
            case Build(items=items, node=gast.Call(args=[base, *_]) as node) if is_call_of(node, "holding"):
                return union([of(base), (frozenset(), both(union(map(of, items))))])
            case Build(items=items):
                return own, both(union(map(of, items)))
            case Apply(node=gast.Call(args=[gast.Name(id=name)]) as node) if is_call_of(node, "outer_array"):
                return frozenset({argument_root(name)}), frozenset()
            case Apply() if operation.function in _UPDATES or is_in_place(operation.function):
                first = of(operation.args[0])
                return first[0] | own, first[1]
            case Apply():
                shared = facts.sharing(operation)
                if shared == "fresh":
                    return own, frozenset({f"{site}[]"} if is_container(load(site)) else ())
                if shared == "live":
                    found = of(operation.args[0])
                    return found[0] | own, found[1]
                if shared == "elements":
                    return own, both(union(item(of(a), is_container(a)) for a in operation.operands()))
                found = union(map(of, operation.args[:1] if shared != "unknown" else operation.operands()))
                if shared == "view" and not is_container(load(site)):
                    return found
                return both(found) | own, both(found)
            case Call() if operation.function in EMPTY:
                return own, frozenset()
            case Call() if operation.function in (set, frozenset):
                return own, both(union(map(of, operation.operands())))
            case Call() if not facts.effect_at(operation.node)[0].shared:
                return own, frozenset({f"{site}[]"} if is_container(load(site)) else ())
            case Call(callee=gast.Attribute(value=gast.Name(id=name), attr=attr)) if (
                spaces.get(name) is not None and attr in NOT_CHANGING
            ):
                return held[name][1] | own, held[name][1]
            case Call():
                effect, given = facts.effect_at(operation.node)
                found = union([of(operation.callee), *map(of, operation.operands()), ANYTHING])
                if effect.shared <= given.keys():
                    found = union(of(given[p]) for p in effect.shared)
                return both(found) | own, both(found)
            case Opaque(items=items):
                found = union(map(of, items))
                return both(found) | own, both(found)
            case Inert(node=gast.Attribute()):  # a constant of a class
                return ANYTHING
            case _:
                return own, frozenset()

    def define(name: str, found: Held) -> None:
        before = held.get(name, NOTHING if name in program.locals else ANYTHING)
        held[name] = found if before is NOTHING else union([before, found])

    def visit(statements: list[Any]) -> None:
        for s in statements:
            match s:
                case _ if id(s) in passing:
                    continue
                case gast.Assign(targets=[gast.Name(id=name)]):
                    define(name, NOTHING if immutable(name) else of_value(s.value, name))
                case gast.Assign(targets=[gast.Tuple(elts=elts)]):
                    for target in elts:
                        found = item(of(s.value), is_container(s.value))
                        define(target.id, NOTHING if immutable(target.id) else found)
                case gast.Assign(targets=[gast.Attribute(value=gast.Name(id=base))]):
                    define(base, (frozenset(), both(of(s.value))))
                case gast.Assign(targets=[gast.Subscript(value=gast.Name(id=base))]):
                    if not is_array(s.targets[0].value):
                        define(base, (frozenset(), both(of(s.value))))
                case gast.Expr() if is_append(s, facts):
                    define(s.value.func.value.id, (frozenset(), both(union(map(of, s.value.args)))))
                case gast.If():
                    visit(s.body)
                    visit(s.orelse)
                case gast.For():
                    for target, over in taken_from(s, program):
                        sources = [n for a in over for n in walk(a) if isinstance(n, gast.Name)]
                        found = union(item(of(source), is_container(source)) for source in sources)
                        for n in walk(target):
                            if isinstance(n, gast.Name):
                                define(n.id, NOTHING if immutable(n.id) else found)
                    visit(s.body)
                case gast.While() | gast.With() | gast.Try():
                    for target in bound_in_header(s):
                        define(target.id, ANYTHING)
                    for block in blocks_of(s):
                        visit(block)
                case gast.FunctionDef():
                    captured = union(held.get(n, NOTHING) for n in names_read(s) if n in program.locals)
                    define(s.name, (frozenset({s.name}), both(captured)))

    def solve() -> dict[str, Held]:
        while True:
            before = dict(held)
            visit(tree.body)
            if held == before or not has_loops:
                return held

    has_loops = any(isinstance(s, (gast.For, gast.While)) for s in statements_in(tree.body))
    arguments = dict(held)
    found = solve()
    def may_keep(value: Any) -> bool:
        """Whether an expression may store an operand into a container."""
        match operation_of(value):
            case Call() | Opaque():
                return True
            case Apply(function=function, args=[first, *_]) if function in _UPDATES or is_in_place(function):
                return not is_array(first)
        return False

    def is_check(value: Any) -> bool:
        match operation_of(value):
            case Apply(function=function, args=args, keywords=keywords):
                is_constant = facts.primitives.is_nondifferentiable(function)
                return is_constant and not facts.primitives.changed(function, len(args), dict(keywords))
        return False

    def shared(value: Any) -> Roots:
        return both(of_value(value, ""))

    def at_once(live: Live) -> AtOnce:
        nonlocal held, passing
        together = found
        for exchange in find_exchanges(tree):
            held, passing = dict(arguments), exchange.copies
            for name in exchange.names:
                held[name] = frozenset({f"{name}~"}), frozenset()
            if exchange.keeps_apart(apart := solve(), live):
                together = apart
        held, passing = found, frozenset()  # `of_value` reads it
        return AtOnce(together, Recency(tree, found, shared, may_keep, is_check))

    return Aliases(tree, found, at_once)


def taken_from(loop: Any, program: Program) -> list[tuple[Any, list[Any]]]:
    """The targets of a loop, each with the iterables that its values come from."""
    match loop.target, loop.iter:
        case gast.Tuple(elts=targets), gast.Call(args=args, func=func) if (
            program.resolve(func) is zip and len(args) == len(targets)
        ):
            return [(t, [a]) for t, a in zip(targets, args, strict=True)]
        case _, gast.Call(args=args):
            return [(loop.target, args)]
    return [(loop.target, [loop.iter])]


def iterated(tree: Any) -> dict[int, frozenset[str]]:
    """For each statement the iterables of the loops around it."""
    return {
        key: frozenset(n for s in place.loops if isinstance(s, gast.For) for n in names_read(s.iter))
        for key, place in places_of(tree).items()
    }
