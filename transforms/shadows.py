"""Shadows: the adjoints of objects that several names hold, or hold parts of, and that are changed in place.

Where names share an object their adjoints share one in the same way: a view of the array has the same view of
its adjoint, a list that holds the array a list that holds its adjoint. They are made in the reverse sweep, by
the statements that made the objects, before anything is added to them: those of a block where its reverse
begins, those of a loop's body in each iteration of the reverse loop.

    row = A[i]                  drow = dA[i]
    B = np.zeros_like(A)        dB = np.zeros_like(B)
    rows = [A, B]               drows = [dA, dB]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gast

from .find_aliases import NOTHING, Aliases, both
from .nodes import (
    assign,
    assigned_names,
    blocks_of,
    call,
    constant,
    find_nodes,
    load,
    located,
    substitute,
    walk,
)
from .operations import Alias, Apply, Build, Item

if TYPE_CHECKING:
    from .reverse import Reverse

__all__ = ["Shadows"]


class Shadows:
    """The shadows of a program; `names` gives the name of each variable's."""

    def __init__(self, reverse: Reverse, shadowed: frozenset[str], aliases: Aliases | None) -> None:
        self.reverse = reverse
        self.names = {n: reverse.adjoint_name(n) for n in sorted(shadowed)}
        # The flags, set in the forward sweep, of what only the run knows to be a view or a copy.
        self.is_view_of = {
            n: reverse.names.fresh(f"{n}_is_view") for n in self._undecided()
        }
        if aliases is not None and shadowed:
            self._check(reverse.program.tree.body, aliases)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def _undecided(self) -> list[str]:
        """The names of what may be a view of something that has a shadow."""
        found: list[str] = []
        for s in find_nodes(self.reverse.program.tree, gast.Assign) if self.names else ():
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=value) if name in self.names:
                    operation = self.reverse.operation(value)
                    if isinstance(operation, Apply) and any(
                        isinstance(a, gast.Name) and a.id in self.names for a in operation.args[:1]
                    ):
                        found += [name] * (self.reverse.primitives.sharing(operation) == "maybe")
        return found

    def of(self, node: Any) -> Any:
        """The shadow of an atom, or the zero of one without."""
        if isinstance(node, gast.Name) and node.id in self.names:
            return load(self.names[node.id])
        return self.reverse.zero_of(node)

    # ------------------------------------------------------------ making them

    def parameters(self, parameters: list[str]) -> list[Any]:
        """The statements that make the shadows of a function's arguments."""
        return [assign(self.names[p], self.reverse.zero(p)) for p in parameters if p in self.names]

    def made(self, statements: list[Any]) -> list[Any]:
        """The statements that make the shadows of what a block makes, loops in it left out."""
        result: list[Any] = []
        for s in statements:
            match s:
                case gast.Assign(targets=[gast.Name(id=name)]) if name in self.names:
                    result.extend(self._made(s, name))
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

    def element(self, s: Any, name: str, source: Any, position: Any) -> Any:
        """The statement that makes the shadow of a loop variable, an element of `source`."""
        return assign(self.names[name], part(self.of(source), position), s)

    def _made(self, s: Any, name: str) -> list[Any]:
        operation = self.reverse.operation(s.value)
        shadow = self.names[name]
        match operation:
            case Alias(source=source):
                return [assign(shadow, self.of(source))]
            case Item(base=base) if base.id in self.names and self.is_view(operation):
                return [assign(shadow, part(self.of(base), operation.index))]
            case Build(items=items, keys=keys):
                values = [self.of(i) for i in items]
                if isinstance(operation.node, gast.Dict):
                    return [assign(shadow, gast.Dict(keys=list(keys), values=values))]
                # The adjoints of numbers are put in place: that a tuple does not allow.
                changes = not all(isinstance(i, gast.Name) and i.id in self.names for i in items)
                made = gast.List if changes else type(operation.node)
                return [assign(shadow, made(elts=values, ctx=gast.Load()))]
            case Apply(args=[gast.Name(id=source), *_]) if source in self.names:
                view = substitute(operation.node, {source: load(self.names[source])})
                if self.reverse.primitives.is_read_only(operation.function):
                    view = call(self.reverse.helper("writable"), view)
                if self.reverse.primitives.sharing(operation) == "view":
                    return [assign(shadow, view)]
                if self.reverse.primitives.sharing(operation) == "maybe":
                    test, new = load(self.is_view_of[name]), self.reverse.zero(name)
                    return [assign(shadow, gast.IfExp(test=test, body=view, orelse=new))]
        return [assign(shadow, self.reverse.zero(name))]

    def _unpacked(self, s: Any, targets: list[str], value: Any) -> list[Any]:
        if isinstance(value, gast.Tuple):
            pairs = list(zip(targets, map(self.of, value.elts), strict=True))
        else:
            pairs = [(t, part(self.of(value), constant(k))) for k, t in enumerate(targets)]
        return [assign(self.names[t], v) for t, v in pairs if t in self.names]

    def is_view(self, operation: Item) -> bool:
        """Whether an item is a view of its array, or what a container holds, rather than a copy."""
        kind = self.reverse.kind(operation.base)
        if self.reverse.domain.is_container(kind):
            return not self.may_be_slice(operation)
        return self.reverse.is_basic(operation.index)

    def may_be_slice(self, operation: Item) -> bool:
        """Whether an index of a container may make a new one."""
        domain = self.reverse.domain
        if domain.is_dict(self.reverse.kind(operation.base)):
            return False
        return isinstance(operation.index, gast.Slice) or not domain.is_integer(
            self.reverse.kind(operation.index)
        )

    # ------------------------------------------------------------ what they are adjoints of

    def is_made_there(self, s: Any, name: str) -> bool:
        """Whether a statement makes a new object, so that its adjoint goes on to what it was made from."""
        operation = self.reverse.operation(s.value)
        match operation:
            case Alias():
                return False
            case Item(base=base):
                return not (base.id in self.names and self.is_view(operation))
            case Apply(args=[gast.Name(id=source), *_]) if source in self.names:
                return self.reverse.primitives.sharing(operation) != "view"
        return True

    def noted(self, s: Any, name: str) -> list[Any]:
        """The statement of the forward sweep that notes whether what may be a view is one."""
        match self.reverse.operation(s.value):
            case Apply(args=[gast.Name(id=source), *_]) if name in self.is_view_of:
                test = call(self.reverse.numpy("may_share_memory"), load(name), load(source))
                return [assign(self.is_view_of[name], test, s)]
        return []

    def _check(self, statements: list[Any], aliases: Aliases) -> None:
        """Raises UnsupportedSyntaxError where the reverse sweep cannot make a shadow."""
        reverse = self.reverse
        for name in self.names:
            kind = reverse.kind(load(name))
            if not (reverse.domain.is_array(kind) or reverse.domain.is_container(kind)):
                self._refuse(name, "what it is is known only at run time")
        for p in reverse.program.tree.args.args:
            if p.id in self.names and reverse.domain.is_tuple_of_numbers(reverse.kind(p)):
                self._refuse(p.id, "it is a tuple that holds numbers too")
        for s in walk(reverse.program.tree):
            match s:
                case gast.For() | gast.While():
                    self._check_loop(s, aliases)
                case gast.Assign(targets=[gast.Name(id=name)], value=gast.Subscript()) if name in self.names:
                    self._check_item(s, name)
                case gast.Try(handlers=[_, *_]):
                    for name in assigned_names(s):
                        if name in self.names:
                            self._refuse(name, "whether it is made, an exception decides", s)
                case gast.Assign(targets=[gast.Subscript(value=gast.Name(id=base))]) if base in self.names:
                    if reverse.domain.is_container(reverse.kind(load(base))):
                        self._refuse(base, "what it holds is changed, and is changed itself", s)
                case gast.Expr(value=gast.Call(func=gast.Attribute(value=gast.Name(id=base)))) if (
                    base in self.names
                ):
                    self._refuse(base, "what it holds is changed, and is changed itself", s)

    def _check_item(self, s: Any, name: str) -> None:
        """A slice of a list holds what the list holds: only of numbers it has adjoints of its own."""
        operation = self.reverse.operation(s.value)
        domain = self.reverse.domain
        if not isinstance(operation, Item) or not isinstance(operation.base, gast.Name):
            return
        kind = self.reverse.kind(operation.base)
        may_be_slice = domain.is_container(kind) and self.may_be_slice(operation)
        if may_be_slice and not domain.is_scalar(domain.element_kind(kind)):
            self._refuse(name, "a slice of a list holds the same objects as the list", s)

    def _check_loop(self, loop: Any, aliases: Aliases) -> None:
        """What is made in an iteration must not be held by a later one, nor after the loop."""
        inside = set(assigned_names(loop))
        here = {id(n) for n in walk(loop)}
        outside = {
            n.id
            for n in find_nodes(self.reverse.program.tree, gast.Name)
            if not isinstance(n.ctx, gast.Load) and id(n) not in here
        }
        for name in self.names:
            if name in inside and name in outside:
                self._refuse(name, "a loop gives the name to another array that is changed in place", loop)
            for other in self.names if name in inside else ():
                if other not in inside and name in both(aliases.held.get(other, NOTHING)):
                    self._refuse(name, f"`{other}` holds it after the iteration that made it", loop)

    def _refuse(self, name: str, why: str, s: Any = None) -> None:
        program = self.reverse.program
        shown = program.origins.get(name, name)
        program.refuse(
            s if s is not None else located(gast.Pass(), program.tree),
            f"changes in place of `{shown}` that are seen through other names",
            why,
            f"change a copy: `{shown} = {shown}.copy()`",
        )


def part(base: Any, index: Any) -> Any:
    return gast.Subscript(value=base, slice=index, ctx=gast.Load())
