"""Shadows: the adjoints of objects that have aliases, or whose parts have, and that are changed in place.

The adjoints of aliases are aliases: the same view of the adjoint for a view of the array, and a list that
holds the adjoint for a list that holds the array. The reverse sweep rematerialises them by the statements
that made the objects, before anything is added to them: those of a block where its reverse begins, those of a
loop's body in each iteration of the reverse loop.

    row = A[i]                  drow = dA[i]
    B = np.zeros_like(A)        dB = np.zeros_like(B)
    rows = [A, B]               drows = [dA, dB]

Where that is impossible (`shadow_rematerialisation`), the traces keep the arrays, and each use looks up the
adjoint by the memory of the array; a container of arrays then has no adjoint:

    rows.append(row)            drow = adjoint_of(adjoints, row)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import gast

from ..analyses.operations import Alias, Apply, Build, Item
from ..trees.nodes import assign, blocks_of, call, constant, find_nodes, load, names_in, subscript, tuple_of
from ..trees.rebuild import substitute
from .adjoint import Adjoint, Env, Ownership, Plain, Shadow, Sweep
from .indices import is_basic
from .rule_application import Emitter

__all__ = ["Shadows", "shadow_of"]


class Shadows:
    """The shadows of a program; `names` maps each variable to the name of its shadow."""

    def __init__(self, emitter: Emitter, adjoint_name: Callable[[str], str]) -> None:
        self.emitter, self.adjoint_name = emitter, adjoint_name
        self.names = {n: adjoint_name(n) for n in sorted(emitter.shadowed - self._tables())}
        # The flags, set in the forward sweep, that tell whether a name is a view or a copy.
        self.is_view_of = {n: emitter.names.fresh(f"{n}_is_view") for n in self._undecided()}
        self.by_memory: frozenset[str] = frozenset()
        self.available: set[str] = set()  # names of `by_memory` that this block has looked up
        self.lasting: Env = {}  # the adjoints of `by_memory`, which have one name everywhere
        self.given: dict[str, str] = {}  # the names of the initial copies of container arguments
        self.table = ""

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def join_names(self) -> None:
        """Gives names that are always bound to one object one shadow."""
        if not self.names:
            return
        tree = self.emitter.program.tree
        bound = Counter(n.id for n in find_nodes(tree, gast.Name) if isinstance(n.ctx, gast.Store))
        for s in find_nodes(tree, gast.Assign):
            match s:
                case gast.Assign(targets=[gast.Name(id=name)]) if name in self.names and bound[name] == 1:
                    source = self._same_as(self.emitter.operation(s.value), name)
                    if source in self.names and bound[source] < 2 and not {name, source} & self.by_memory:
                        self.names[name] = self.names[source]

    def _same_as(self, operation: Any, name: str) -> str:
        """The name of the alias that an operation gives another name to, or of a container with the same
        shadow.
        """
        match operation:
            case Alias(source=gast.Name(id=source)):
                return str(source)
            case Apply(args=[gast.Name(id=source)]) if (
                self._holds_elements(operation) and self._is_same(operation, name)
            ):
                return str(source)
        return ""

    def _tables(self) -> set[str]:
        """The names of tables of adjoints by memory, which have no shadow."""
        return {
            s.targets[0].id
            for s in find_nodes(self.emitter.program.tree, gast.Assign)
            if isinstance(s.targets[0], gast.Name) and self._is_helper(s.value, "new_adjoints")
        }

    def is_found(self, value: Any) -> bool:
        """Whether an expression looks an adjoint up by memory."""
        return self._is_helper(value, "adjoint_of")

    def _is_helper(self, value: Any, name: str) -> bool:
        operation = self.emitter.operation(value)
        return isinstance(operation, Apply) and operation.function is self.emitter.primitives.helper(name)

    def _undecided(self) -> list[str]:
        """The names that may, or may not, be views of an object with a shadow."""
        found: list[str] = []
        for s in find_nodes(self.emitter.program.tree, gast.Assign) if self.names else ():
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=value) if name in self.names:
                    operation = self.emitter.operation(value)
                    if isinstance(operation, Apply) and any(
                        isinstance(a, gast.Name) and a.id in self.names for a in operation.args[:1]
                    ):
                        found += [name] * (self.emitter.primitives.sharing(operation) == "maybe")
        return found

    def of(self, node: Any) -> Any:
        """The shadow of an atom, or a zero."""
        if isinstance(node, gast.Name) and node.id in self.names:
            return load(self.names[node.id])
        return self.emitter.zero_of(node)

    # ------------------------------------------------------------ finding them by memory

    def is_container(self, name: str) -> bool:
        """Whether a name holds a container of arrays that are looked up one by one."""
        return name in self.by_memory and not self.emitter.is_any_array(name)

    def lookup(self, name: str, held: str | None = None, target: str | None = None) -> Any:
        """The statement that looks up the adjoint of a name; `held` is another name of the object, `target`
        one for the adjoint.
        """
        found = call(self.emitter.helper("adjoint_of"), load(self.table), load(held or name))
        return assign(target or self.names[name], found)

    def last_lookup(self, name: str, adjoint: Adjoint) -> tuple[list[Any], Adjoint]:
        """The last lookup of an object's adjoint, where the object is made; it gets a name of its own."""
        if name not in self.by_memory:
            return [], adjoint
        target = self.adjoint_name(name)
        return [self.lookup(name, target=target)], Plain(load(target), ownership=Ownership.OWNED)

    def is_lookup(self, s: Any) -> bool:
        """Whether a statement of the reverse sweep is a lookup."""
        return (
            isinstance(s, gast.Assign)
            and isinstance(s.value, gast.Call)
            and self.emitter.is_helper(s.value.func, "adjoint_of")
        )

    def with_lookups(self, s: Any, back: list[Any], given_away: bool = False) -> Sweep:
        """The reverse code of a statement after its lookups, and the forward statements that copy the
        containers that may be changed before then; a statement that has `given_away` a container always
        copies it.
        """
        if not self.by_memory or not back:
            return [], back
        used = {n for b in back for n in names_in(b)}
        ahead, found = [], []
        for name in sorted(n for n in self.by_memory if self.names[n] in used and n not in self.available):
            held = None
            if not self.is_container(name):
                self.available.add(name)
            elif given_away or self.emitter.changes.may_be_overwritten(s, load(name)):
                held = self.emitter.names.temporary(name)
                ahead.append(self.kept(name, held, s))
            found.append(self.lookup(name, held))
        return ahead, [*found, *back]

    def kept(self, name: str, copy: str, s: Any = None) -> Any:
        """The forward statement that keeps a shallow copy of a container."""
        return assign(copy, call(self.emitter.helper("shallow_copy"), load(name)), s)

    def new_table(self) -> list[Any]:
        """The statement that makes the table of adjoints, first in the reverse sweep."""
        return [assign(self.table, call(self.emitter.helper("new_adjoints")))] if self.by_memory else []

    def arguments(self, parameters: list[str]) -> list[Any]:
        """The first statements of the forward sweep: a check that no two arguments with changed arrays share
        memory, and shallow copies of container arguments.
        """
        found = [p for p in parameters if p in self.by_memory]
        containers = list(filter(self.is_container, found))
        self.given = {p: self.emitter.names.temporary(p) for p in containers}
        kept = [self.kept(p, copy) for p, copy in self.given.items()]
        if len(found) < 2 and not containers:
            return kept
        check = call(self.emitter.helper("refuse_overlap"), tuple_of([load(p) for p in found]), tuple_of([]))
        return [gast.Expr(value=check), *kept]

    # ------------------------------------------------------------ making them

    def parameters(self, parameters: list[str]) -> list[Any]:
        """The statements that make the shadows of a function's parameters."""
        made = [p for p in parameters if p in self.names and p not in self.by_memory]
        return [assign(self.names[p], self.emitter.zero(p)) for p in made]

    def made(self, statements: list[Any]) -> list[Any]:
        """The statements that make the shadows of a block's objects, without those of its loops."""
        result: list[Any] = []
        for s in statements:
            match s:
                case gast.Assign(targets=[gast.Name(id=name)]) if name in self.names:
                    result.extend(self._made(s, name) if name not in self.by_memory else ())
                case gast.Assign(targets=[gast.Tuple(elts=elts)], value=value):
                    result.extend(self._unpacked(s, [t.id for t in elts], value))
                case gast.If():
                    arms = self.made(s.body), self.made(s.orelse)
                    if any(arms):
                        result.append(gast.If(test=s.test, body=arms[0] or [gast.Pass()], orelse=arms[1]))
                case gast.With() | gast.Try():
                    for block in blocks_of(s):
                        result.extend(self.made(block))
        return result

    def element(self, s: Any, name: str, shadow: Any, position: Any) -> Any:
        """The statement that makes the shadow of a loop variable, an element of an iterable with this
        shadow.
        """
        return assign(self.names[name], part(shadow, position), s)

    def _made(self, s: Any, name: str) -> list[Any]:
        operation = self.emitter.operation(s.value)
        shadow = self.names[name]
        if self.names.get(self._same_as(operation, name)) == shadow:
            return []
        match operation:
            case Alias(source=source):
                return [assign(shadow, self.of(source))]
            case Item(base=base) if base.id in self.names and self.is_view(operation):
                return [assign(shadow, part(self.of(base), operation.index))]
            case Build(items=items, keys=keys):
                values = [self.of(i) for i in items]
                if isinstance(operation.node, gast.Dict):
                    return [assign(shadow, gast.Dict(keys=list(keys), values=values))]
                # The adjoints of numbers are stored into it, which a tuple does not allow.
                changes = not all(isinstance(i, gast.Name) and i.id in self.names for i in items)
                made = gast.List if changes else type(operation.node)
                return [assign(shadow, made(elts=values, ctx=gast.Load()))]
            case Apply() if self._holds_elements(operation):
                return [assign(shadow, self._elements(operation, name))]
            case Apply(args=[gast.Name(id=source), *_]) if source in self.names:
                view = substitute(operation.node, {source: load(self.names[source])})
                if self.emitter.primitives.is_read_only(operation.function):
                    view = call(self.emitter.helper("writable"), view)
                sharing = self.emitter.primitives.sharing(operation)
                if sharing == "view":
                    return [assign(shadow, view)]
                if sharing == "maybe":
                    test, new = load(self.is_view_of[name]), self.emitter.zero(name)
                    return [assign(shadow, gast.IfExp(test=test, body=view, orelse=new))]
        return [assign(shadow, self.emitter.zero(name))]

    def _elements(self, operation: Apply, name: str) -> Any:
        """The shadow of a new container of the items of others."""
        if self._is_same(operation, name):
            return self.of(operation.args[0])
        domain, kind = self.emitter.domain, self.emitter.kind
        held = {a.id: self.of(a) for a in operation.args if not domain.is_scalar(kind(a))}
        elements = substitute(operation.node, held)
        if domain.is_dict(kind(operation.args[0])) and not domain.is_dict(kind(load(name))):
            return call(self.emitter.bind("list", list), elements)
        return elements

    def _holds_elements(self, operation: Apply) -> bool:
        """Whether an operation makes a container of the items of others, or a view of a dict."""
        return self.emitter.primitives.sharing(operation) in ("elements", "live")

    def _is_same(self, operation: Apply, name: str) -> bool:
        """Whether a new container holds the items of one other at the same keys, so that both have one
        shadow: neither is changed.
        """
        domain, kinds = self.emitter.domain, list(map(self.emitter.kind, operation.args))
        is_one = len(kinds) == 1 and domain.is_container(kinds[0])
        return is_one and domain.is_dict(kinds[0]) == domain.is_dict(self.emitter.kind(load(name)))

    def is_apart(self, s: Any) -> bool:
        """Whether a statement makes a container that has a shadow of its own, and holds numbers beside
        arrays.
        """
        operation, name = self.emitter.operation(s.value), s.targets[0].id
        if not isinstance(operation, Apply) or not self._holds_elements(operation):
            return False
        holds_arrays = self.emitter.domain.holds_arrays(self.emitter.kind(load(name)))
        return not (holds_arrays or self._is_same(operation, name))

    def _unpacked(self, s: Any, targets: list[str], value: Any) -> list[Any]:
        pairs = [(t, part(self.of(value), constant(k))) for k, t in enumerate(targets)]
        return [assign(self.names[t], v) for t, v in pairs if t in self.names and t not in self.by_memory]

    def is_view(self, operation: Item) -> bool:
        """Whether an item is a view of its array, or an item of a container, rather than a copy."""
        kind = self.emitter.kind(operation.base)
        if self.emitter.domain.is_container(kind):
            return not self.may_be_slice(operation)
        return is_basic(self.emitter, operation.index)

    def may_be_slice(self, operation: Item) -> bool:
        """Whether an index of a container may be a slice."""
        domain = self.emitter.domain
        if domain.is_dict(self.emitter.kind(operation.base)):
            return False
        return isinstance(operation.index, gast.Slice) or not domain.is_integer(
            self.emitter.kind(operation.index)
        )

    # ------------------------------------------------------------ new objects

    def makes_object(self, s: Any, name: str) -> bool:
        """Whether a statement makes a new object, so that its adjoint goes on to the operands."""
        operation = self.emitter.operation(s.value)
        match operation:
            case Alias():
                return False
            case Apply() if self.is_found(s.value):
                return False
            case Item() | Build() if self.is_container(name):
                return False
            case Item(base=base):
                return not (base.id in self.names and self.is_view(operation))
            case Apply() if self._holds_elements(operation):
                return False
            case Apply(args=[gast.Name(id=source), *_]) if source in self.names:
                return self.emitter.primitives.sharing(operation) != "view"
        return True

    def view_flag(self, s: Any, name: str) -> list[Any]:
        """The forward statement that sets the flag whether a name is a view."""
        match self.emitter.operation(s.value):
            case Apply(args=[gast.Name(id=source), *_]) if name in self.is_view_of:
                test = call(self.emitter.array_function("may_share_memory"), load(name), load(source))
                return [assign(self.is_view_of[name], test, s)]
        return []


def shadow_of(name: str) -> Adjoint:
    """The adjoint held by a shadow of this name."""
    return Shadow(load(name))


def part(base: Any, index: Any) -> Any:
    return subscript(base, index)
