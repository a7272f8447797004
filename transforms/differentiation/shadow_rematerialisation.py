"""Finds the shadows that the reverse sweep cannot rematerialise by the statements that made the objects.

Form: the single-assignment form. A list that is changed, an array that outlives its iteration, and a name
that loops assign several arrays have no such statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import gast

from ..analyses.find_aliases import NOTHING, Aliases, both
from ..analyses.find_shadowed import classes_of
from ..analyses.operations import Item
from ..trees.nodes import assigned_names, find_nodes, load, located, walk
from ..trees.program import Program
from ..trees.shown_names import shown_name
from .rule_application import Emitter
from .shadows import Shadows, shadow_of

__all__ = ["shadows_of"]


@dataclass(frozen=True)
class Obstacle:
    """A reason why the shadow of a name cannot be rematerialised; a `final` one rules out any adjoint of
    it.
    """

    name: str
    why: str
    statement: Any = None
    final: bool = False


def shadows_of(emitter: Emitter, adjoint_name: Callable[[str], str]) -> Shadows:
    """The shadows of a program; those that cannot be rematerialised are looked up by memory."""
    shadows = Shadows(emitter, adjoint_name)
    if emitter.shadowed:
        _find_by_memory(shadows, emitter.changes.aliases)
    shadows.join_names()
    return shadows


def _find_by_memory(shadows: Shadows, aliases: Aliases) -> None:
    """Notes the alias classes whose shadows cannot all be rematerialised."""
    emitter = shadows.emitter
    for o in obstacles(shadows, aliases):
        if o.name in shadows.by_memory:
            continue
        names = [n for c in classes_of(aliases, [o.name]) for n in c if n in shadows.names]
        kinds = [emitter.kind(load(n)) for n in names]
        if o.final or not all(map(emitter.domain.holds_arrays, kinds)):
            _refuse(emitter.program, o)
        shadows.by_memory |= frozenset(names)
    shadows.lasting = {n: shadow_of(shadows.names[n]) for n in shadows.by_memory}
    if shadows.by_memory:
        shadows.table = emitter.names.fresh("adjoints")


def _refuse(program: Program, o: Obstacle) -> NoReturn:
    shown = shown_name(program, o.name)
    program.refuse(
        o.statement if o.statement is not None else located(gast.Pass(), program.tree),
        f"changes in place of `{shown}` that are seen through other names",
        o.why,
        f"change a copy: `{shown} = {shown}.copy()`",
    )


def obstacles(shadows: Shadows, aliases: Aliases) -> Iterator[Obstacle]:
    """All reasons against rematerialising shadows."""
    emitter = shadows.emitter
    domain, tree = emitter.domain, emitter.program.tree
    for name in shadows.names:
        kind = emitter.kind(load(name))
        if not (emitter.is_any_array(name) or domain.is_container(kind)):
            yield Obstacle(name, "whether it is an array or a container is dynamic")
        elif domain.may_hold_integers(kind):
            yield Obstacle(name, "which of its arrays hold integers is dynamic", final=True)
    for p in tree.args.args:
        if p.id in shadows.names and domain.is_tuple_of_numbers(emitter.kind(p)):
            yield Obstacle(p.id, "it is a tuple that holds numbers too")
    for s in walk(tree):
        match s:
            case gast.For() | gast.While():
                yield from _of_loop(shadows, s, aliases)
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Subscript()) if name in shadows.names:
                if _is_part_of_list(shadows, s):
                    yield Obstacle(name, "a slice of a list holds the same objects as the list", s)
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call() as value) if (
                name in shadows.names and shadows.is_found(value)
            ):
                yield Obstacle(name, "which array it is the adjoint of is dynamic", s)
            case gast.Assign(targets=[gast.Name(id=name)]) if name in shadows.names and shadows.is_apart(s):
                yield Obstacle(name, "it holds numbers too", s, final=True)
            case gast.Try(handlers=[_, *_]):
                for name in assigned_names(s):
                    if name in shadows.names:
                        yield Obstacle(name, "an exception decides whether it is bound", s, final=True)
            case (
                gast.Assign(targets=[gast.Subscript(value=gast.Name(id=base))])
                | gast.Expr(value=gast.Call(func=gast.Attribute(value=gast.Name(id=base))))
            ) if base in shadows.names and not emitter.is_any_array(base):
                yield Obstacle(base, "it is changed, and so are its items", s)


def _is_part_of_list(shadows: Shadows, s: Any) -> bool:
    """Whether a statement makes a slice of a list whose items are no numbers."""
    operation, domain = shadows.emitter.operation(s.value), shadows.emitter.domain
    if not isinstance(operation, Item) or not isinstance(operation.base, gast.Name):
        return False
    kind = shadows.emitter.kind(operation.base)
    may_be_slice = domain.is_container(kind) and shadows.may_be_slice(operation)
    return may_be_slice and not domain.is_scalar(domain.element_kind(kind))


def _of_loop(shadows: Shadows, loop: Any, aliases: Aliases) -> Iterator[Obstacle]:
    """An object of one iteration must have no alias in a later one, nor after the loop."""
    inside = set(assigned_names(loop))
    here = {id(n) for n in walk(loop)}
    tree = shadows.emitter.program.tree
    elsewhere = [n for n in find_nodes(tree, gast.Name) if id(n) not in here]
    bound = {n.id for n in elsewhere if not isinstance(n.ctx, gast.Load)}
    read = {n.id for n in elsewhere if isinstance(n.ctx, gast.Load)}
    for name in shadows.names:
        if name not in inside:
            continue
        if name in bound:
            yield Obstacle(name, "a loop gives the name to another array that is changed in place", loop)
        elif name in read:
            yield Obstacle(name, "it is read after the loop that makes it", loop)
        for other in shadows.names:
            if other not in inside and name in both(aliases.held.get(other, NOTHING)):
                yield Obstacle(name, f"`{other}` holds it after the iteration that made it", loop)
