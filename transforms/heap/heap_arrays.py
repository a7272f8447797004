"""Changes of arrays in place in a program with a heap.

An array whose aliases are all names of the function is changed in place. Any other is replaced by a new array
wherever it is held:

    p.value += v            p_1 = p.value + v
                            p_2 = stored_in(p_1, p.value)
                            holders = holders_of(heap, p.value)
                            heap = heap_replace(heap, p_2, holders)

A later read of an alias that could not be replaced is refused at run time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gast

from ..analyses.find_live import Live, find_live
from ..analyses.find_overwrites import is_free_data
from ..analyses.find_uses import find_uses
from ..analyses.liveness import AssignedBefore, captured_names
from ..normal_form.expand_item_updates import index_value
from ..trees.nodes import attribute, call, find_nodes, header_of, load, names_read, statements_in
from ..trees.rebuild import parameter_names, parameters, rebuilt, substitute
from .heap_names import largest

if TYPE_CHECKING:
    from .heap_values import HeapValues
    from .heap_writer import Writer

__all__ = ["Arrays", "is_of_array"]

Node = Any  # gast publishes no types


class Arrays:
    """Writes changes of arrays in place into the program of `to`."""

    def __init__(self, to: Writer) -> None:
        self.to = to
        self.own = _own_arrays(to)
        self.follows = any(map(self.replaces, statements_in(to.program.tree.body)))
        self.live: Live | None = None
        self.assigned = AssignedBefore(to.program.tree.body, parameter_names(to.program.tree))
        self.unassigned: dict[str, None] = {}  # possible holders that may be unbound
        self.captured = {
            name
            for s in statements_in(to.program.tree.body)
            if isinstance(s, gast.FunctionDef)
            for name, _ in captured_names(s)
        }

    def replaces(self, s: Node) -> bool:
        """Whether a statement may replace an array."""
        match s:
            case gast.AugAssign(target=gast.Name() as x):
                return not self.is_own(x) and self.may_hold(x.id) and not self.is_checked(x)
            case gast.AugAssign(target=gast.Subscript(value=x)):
                return not self.is_own(x) and not (self.to.passes and self.to.nature(x) != "plain")
            case gast.Assign(targets=[gast.Subscript(value=x)]):
                index = s.targets[0].slice
                is_slice = isinstance(index, gast.Slice) and not self.to.values.is_list(x)
                return not self.is_own(x) and (self.to.nature(x) == "plain" or is_slice or is_of_array(index))
            case gast.Expr(value=gast.Call() as value):
                changed = self.to.values.changed_array(value)
                return changed is not None and changed not in self.own
        return False

    def is_checked(self, x: Node) -> bool:
        """Whether a name is checked at run time to be no array where an operator changes it in place: in a
        function that is given the heap.
        """
        return self.to.passes and self.to.values.of(x) == "unknown"

    def is_own(self, node: Node) -> bool:
        return isinstance(node, gast.Name) and node.id in self.own

    def update(self, s: Node) -> None:
        """`x += v` of a value that may be an array."""
        x = load(s.target.id)
        new = self.updated(s, x)
        self.replace(s, x, new)
        self.to.put(x.id, new)

    def updated(self, s: Node, x: Node) -> Node:
        """The value of `x` after an in-place operator."""
        to = self.to
        total = to.made(x.id, to.set_or_number(gast.BinOp(left=x, op=s.op, right=to.number(s.value))))
        return to.made(x.id, to.helper("stored_in", total, x))

    def store(self, s: Node) -> None:
        """`x[i] = v` or `x[i] += v` of an array."""
        to = self.to
        target = s.target if isinstance(s, gast.AugAssign) else s.targets[0]
        x, is_list = target.value, to.nature(s.value) == "object"
        value = self.array_of(s.value) if is_list else to.number(s.value)
        if not isinstance(x, gast.Name):
            to.refuse_array()
        if isinstance(s, gast.AugAssign):
            item = to.made(x.id, rebuilt(target, ctx=gast.Load()))
            value = to.made(x.id, gast.BinOp(left=item, op=s.op, right=value))
        place = index_value(target.slice, to.bound(slice, "slice"))
        new = to.made(x.id, to.helper("with_item", x, place, value))
        self.replace(s, x, new)
        to.put(x.id, new)

    def call(self, s: Node, value: Node) -> None:
        """A call that changes an array: one that other objects may hold is copied before."""
        to = self.to
        name = to.values.changed_array(value) if isinstance(s, gast.Expr) else None
        if name is None:
            to.refuse_array()
        x = load(name)
        args = [to.copy(a, deep=True) for a in value.args]
        keywords = [rebuilt(k, value=to.copy(k.value, deep=True)) for k in value.keywords]
        value = rebuilt(value, args=args, keywords=keywords)
        if self.is_own(x):
            to.emit(rebuilt(s, value=value))
            return
        new = to.made(name, call(attribute(x, "copy")))
        to.emit(rebuilt(s, value=substitute(value, {name: new})))
        self.replace(s, x, new)
        to.put(name, new)

    def array_of(self, items: Node) -> Node:
        """A new array of the numbers of a list."""
        known_as, library = self.to.values.facts.primitives.array_module()
        asarray = attribute(load(self.to.bound(library, known_as)), "asarray")
        return self.to.made(self.to.base(items), call(asarray, self.to.copy(items, deep=True)))

    def replace(self, s: Node, x: Node, new: Node) -> None:
        """Replaces the array `x` wherever it is held."""
        to = self.to
        if x.id in self.captured:
            to.refuse_array()
        to.near = s
        holders = to.made("holders", to.helper("holders_of", load(to.heap), x, *self.others(s, x.id)))
        to.put(to.heap, to.helper("heap_replace", load(to.heap), new, holders))

    def others(self, s: Node, name: str) -> list[Node]:
        """The other names that may hold the array that `s` changes and are live after it, or iterated over
        around it.
        """
        tree = self.to.program.tree
        if self.live is None:
            uses = find_uses(tree)
            if uses is None:
                self.to.refuse_array()
            self.live = find_live(tree, uses)
        around = {
            n
            for loop in find_nodes(tree, gast.For)
            if any(inner is s for inner in statements_in(loop.body))
            for n in names_read(loop.iter)
        }
        found = sorted((self.live.names_after(s) | around) - {name})
        found = [n for n in found if n in self.to.program.locals and self.may_hold(n)]
        is_assigned = self.assigned.at(s)
        self.unassigned.update(dict.fromkeys(n for n in found if not is_assigned(n)))
        return [load(n) for n in found]

    def may_hold(self, name: str) -> bool:
        to = self.to
        if name in to.lazy or name in self.own or to.nature(load(name)) == "object":
            return False
        return to.values.is_array(load(name)) or to.values.of(load(name)) == "unknown"

    def outside(self) -> list[Node]:
        """The values that may hold arrays with aliases outside of the function."""
        to = self.to
        given = [p for p in parameters(to.program.tree) if self.may_be_given(p.id)]
        free = sorted({n for n in names_read(to.program.tree.body) if n not in to.program.locals})
        read = to.values.outside([to.program.resolve(load(n)) for n in free])
        data = [n for n in free if n not in to.program.bindings and is_free_data(to.values.facts, n)]
        return [*(load(p.id) for p in given), *map(load, data), load(to.bound(read, "outside"))]

    def may_be_given(self, name: str) -> bool:
        return self.to.values.given(name) != "plain" or self.may_hold(name)


def is_of_array(index: Node) -> bool:
    """Whether an index is one that only arrays have: a tuple with slices."""
    return isinstance(index, gast.Tuple) and any(isinstance(n, gast.Slice) for n in index.elts)


def _own_arrays(to: Writer) -> set[str]:
    """The names of arrays that the function makes and whose aliases are all such names."""
    reads = _reads(to.program.tree)

    def is_own(name: str, names: set[str]) -> bool:
        made = all(_makes(v, names, to) for v in to.bound_to[name])
        return made and all(_keeps(s, names, to.values) for s in reads.get(name, ()))

    return largest({n for n in to.bound_to if to.values.is_array(load(n))}, is_own)


def _reads(tree: Node) -> dict[str, list[Node]]:
    """The statements that read each name, outside of their blocks."""
    found: dict[str, list[Node]] = {}
    for s in statements_in(tree.body):
        for name in names_read(header_of(s)):
            found.setdefault(name, []).append(s)
    return found


def _makes(value: Node, names: set[str], to: Writer) -> bool:
    """Whether an expression makes an array, or is an alias of one of these names."""
    match value:
        case gast.BinOp() | gast.UnaryOp():
            return True
        case gast.Name(id=name):
            return name in names
        case gast.Subscript(value=x) | gast.Attribute(value=x):
            return _makes(x, names, to)
        case gast.Call():
            sharing = to.values.sharing(value)
            given = {n for n in names_read(value) if n in to.program.locals}
            return sharing == "fresh" or (sharing in ("view", "maybe") and given <= names)
    return False


def _keeps(s: Node, names: set[str], values: HeapValues) -> bool:
    """Whether all aliases that a statement makes are among these names."""

    match s:
        case gast.Assign(targets=[gast.Name() as target], value=value):
            if values.is_number(target) or isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Compare)):
                return values.of(target) == "plain"
            if isinstance(value, gast.Attribute):
                return target.id in names or value.attr in ("shape", "ndim", "size", "dtype")
            fresh = isinstance(value, gast.Call) and values.sharing(value) == "fresh"
            return fresh or target.id in names
        case gast.AugAssign(target=gast.Name() as target):
            return values.of(target) == "plain"
        case gast.AugAssign(target=gast.Subscript(value=x)) | gast.Assign(targets=[gast.Subscript(value=x)]):
            return values.is_array(x)
        case gast.Expr(value=gast.Call() as value):
            return values.is_inert(value) or values.changed_array(value) is not None
    return isinstance(s, (gast.Return, gast.If, gast.While, gast.Assert))
