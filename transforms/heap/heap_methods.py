"""Methods that change lists, dicts and deques, `heapq` and `bisect`, as changes of the heap."""

from __future__ import annotations

import bisect
import heapq
import inspect
import operator
from typing import TYPE_CHECKING, Any

import gast

from ..trees.nodes import assign, bound_counts, call, constant, load, read_counts, store, tuple_of
from ..trees.program import MISSING

if TYPE_CHECKING:
    from .heap_values import HeapValues
    from .heap_writer import Writer

__all__ = ["CHANGING", "READING", "Methods", "is_list_change"]

Node = Any  # gast publishes no types

CHANGING = frozenset(
    [
        "append",
        "appendleft",
        "insert",
        "extend",
        "pop",
        "popleft",
        "popitem",
        "clear",
        "reverse",
        "sort",
        "rotate",
        "remove",
        "update",
        "setdefault",
        "move_to_end",
    ]
)
READING = frozenset({"get", "items", "keys", "values"})
OF_SETS = frozenset(  # that no other container has
    ["add", "difference_update", "discard", "intersection_update", "symmetric_difference_update"]
)
SPECIAL = (
    operator.delitem,
    operator.setitem,
    delattr,
    setattr,
    getattr,
    heapq.heappush,
    heapq.heappop,
    heapq.heapify,
    bisect.insort,
    bisect.insort_left,
)


def is_list_change(value: Node, values: HeapValues) -> bool:
    """Whether a call may change a container."""
    if not isinstance(value, gast.Call):
        return False
    function = values.facts.program.resolve(value.func)
    if function is MISSING:
        is_method = isinstance(value.func, gast.Attribute) and value.func.attr in CHANGING
        return is_method and not values.is_object(value.func.value)
    return any(function is f for f in SPECIAL if f is not getattr)


class Methods:
    """Writes calls of methods into the program of `to`."""

    def __init__(self, to: Writer) -> None:
        self.to = to
        tree = to.program.tree
        self.resizes = any(is_list_change(n, to.values) for n in gast.walk(tree))
        self.bound, self.read = bound_counts(tree), read_counts(tree)
        self.attributes: dict[str, Node] = {}  # the names of `x.__dict__`, with x

    def written(self, target: str | None, value: Node) -> bool:
        """Writes a call of such a method or function; False for any other call."""
        function = self.to.program.resolve(value.func)
        if any(isinstance(a, gast.Starred) for a in value.args) or any(k.arg is None for k in value.keywords):
            return False
        special = next((f for f in SPECIAL if f is function), None)
        if special is not None and value.args and self.to.nature(value.args[0]) != "plain":
            name = special.__name__.replace("insort_right", "insort")
            if name == "insort_left" or special is bisect.insort:
                return not value.keywords and self.insort(value.args, name)
            return not value.keywords and bool(getattr(self, name)(target, *value.args))
        if function is not MISSING or not isinstance(value.func, gast.Attribute):
            return False
        x, name = value.func.value, value.func.attr
        if isinstance(x, gast.Name) and not value.keywords and self.changed_set(target, x, name, value.args):
            return True
        if name not in CHANGING | READING or not isinstance(x, gast.Name) or self.to.nature(x) == "plain":
            return False
        if self.to.values.is_object(x):
            return False
        if name in READING and target is None:
            return False
        keywords = {k.arg: k.value for k in value.keywords}
        method = getattr(self, f"_{name}")
        try:
            inspect.signature(method).bind(target, x, *value.args, **keywords)
        except TypeError:  # the arguments do not fit the method
            return False
        if keywords and name not in ("sort", "update"):
            return False
        return bool(method(target, x, *value.args, **keywords))

    # ------------------------------------------------------------ sets

    def changed_set(self, target: str | None, x: Node, name: str, args: list[Node]) -> bool:
        """Writes a call of a method that changes a set; False for others, and for what may be no set."""
        to = self.to
        is_set = to.values.is_set(x)
        if is_set and name == "pop" and target is not None:
            to.put(target, to.helper("last_key", x))
            return True
        may_be_set = is_set or to.nature(x) == "unknown"
        changes = name in OF_SETS or (name in CHANGING and is_set) or (name == "update" and len(args) != 1)
        if target is not None or not may_be_set or not changes:
            return False
        to.emit(gast.Expr(value=to.helper("change_set", x, constant(name), *map(to.view, args))))
        return True

    # ------------------------------------------------------------ lists and deques

    def grow(self, x: Node) -> None:
        """Drops the item that a full deque loses by an append."""
        to = self.to
        if to.has_deques and not to.values.is_list(x):
            full = to.made("full", to.helper("is_full", x))
            lost = assign(to.heap, to.helper("heap_delete", load(to.heap), x, constant(0)), to.at)
            to.emit(gast.If(test=full, body=[lost], orelse=[]))

    def _append(self, target: str | None, x: Node, value: Node) -> bool:
        to = self.to
        self.grow(x)
        if not to.values.is_list(x):
            to.emit(gast.Expr(value=to.helper("the_list", x)))
        key = to.made("key", call(to.bound(len, "len"), x))
        to.change("heap_append", x, key, value)
        return self.none(target)

    def _appendleft(self, target: str | None, x: Node, value: Node) -> bool:
        to = self.to
        if not to.has_deques:
            return False
        full = to.made("full", to.helper("is_full", x))
        key = to.names.temporary("key")
        last = assign(key, to.helper("last_key", x), to.at)
        lost = assign(to.heap, to.helper("heap_delete", load(to.heap), x, load(key)), to.at)
        to.emit(gast.If(test=full, body=[last, lost], orelse=[]))
        to.change("heap_insert", x, constant(0), value)
        return self.none(target)

    def _insert(self, target: str | None, x: Node, index: Node, value: Node) -> bool:
        key = self.to.made("key", self.to.helper("key_of_insert", x, index))
        self.to.change("heap_insert", x, key, value)
        return self.none(target)

    def set_slice(self, x: Node, index: Node, items: Node) -> None:
        """`x[a:b] = items`: the old items are deleted, and the new ones inserted."""
        to = self.to
        shown = self.listed(items)
        parts = [constant(None) if p is None else p for p in (index.lower, index.upper, index.step)]
        place = to.made("place", call(to.bound(slice, "slice"), *parts))
        record = to.made(to.base(x), to.helper("record_of_slice", x, place, shown))
        self.ordered(x, "order_without", place)
        to.change("heap_splice", x, shown, record)

    def listed(self, items: Node) -> Node:
        """A new list of the elements of an iterable."""
        shown = self.to.copy(items, only_items=True)
        return self.to.made(self.to.base(items), call(self.to.bound(list, "list"), shown))

    def extend(self, x: Node, items: Node) -> None:
        to = self.to
        shown = self.listed(items)
        if to.values.is_list(x) or not to.has_deques:
            record = to.made(to.base(x), to.helper("record_of_end", x, shown))
            to.change("heap_splice", x, shown, record)
            return
        item = to.names.temporary("item")
        code, to.code = to.code, []
        self._append(None, x, load(item))
        body, to.code = to.code, code
        to.emit(gast.For(target=store(item), iter=shown, body=body, orelse=[], type_comment=None))

    def _extend(self, target: str | None, x: Node, items: Node) -> bool:
        self.extend(x, items)
        return self.none(target)

    def _pop(self, target: str | None, x: Node, index: Node = None, default: Node = None) -> bool:
        to = self.to
        if default is not None:
            found = to.made("found", to.helper("has_key", x, index))
            code, to.code = to.code, []
            self.take(target, x, index)
            body, to.code = to.code, code
            other = [assign(target, default, to.at)] if target else []
            to.emit(gast.If(test=found, body=body, orelse=other))
            return True
        key = to.made("key", to.helper("last_key", x) if index is None else to.helper("key_of", x, index))
        if index is None and target is not None:
            to.element(target, x, key)
            target = None
        self.take(target, x, key)
        return True

    def take(self, target: str | None, x: Node, key: Node) -> None:
        if target is not None:
            self.to.get(target, x, key)
        self.to.change("heap_delete", x, key)

    def _popleft(self, target: str | None, x: Node) -> bool:
        self.take(target, x, constant(0))
        return True

    def _popitem(self, target: str | None, x: Node) -> bool:
        to = self.to
        key = to.made("key", to.helper("last_key", x))
        if target is None:
            to.change("heap_delete", x, key)
            return True
        item = to.made("item", to.helper("heap_get", load(to.heap), x, key))
        to.change("heap_delete", x, key)
        to.put(target, tuple_of([key, item]))
        return True

    def _clear(self, target: str | None, x: Node) -> bool:
        self.to.change("heap_clear", x)
        return self.none(target)

    def ordered(self, x: Node, helper: str, *args: Node) -> None:
        self.to.change("heap_order", x, self.to.made("order", self.to.helper(helper, x, *args)))

    def _reverse(self, target: str | None, x: Node) -> bool:
        self.ordered(x, "order_of_reverse")
        return self.none(target)

    def _rotate(self, target: str | None, x: Node, count: Node = None) -> bool:
        self.ordered(x, "order_of_rotation", *([] if count is None else [count]))
        return self.none(target)

    def _sort(self, target: str | None, x: Node, key: Node = None, reverse: Node = None) -> bool:
        self.ordered(
            x, "order_of_sort", *(constant(v) if d is None else d for d, v in ((key, None), (reverse, False)))
        )
        return self.none(target)

    def _remove(self, target: str | None, x: Node, value: Node) -> bool:
        key = self.to.made("key", self.to.helper("key_of_item", x, value))
        self.to.change("heap_delete", x, key)
        return self.none(target)

    def none(self, target: str | None) -> bool:
        """Binds the target of a method without result to None."""
        if target is not None:
            self.to.put(target, constant(None))
        return True

    # ------------------------------------------------------------ dicts

    def _update(self, target: str | None, x: Node, other: Node = None, **named: Node) -> bool:
        to = self.to
        is_field = x.id in self.attributes
        if other is not None and not named and to.nature(x) == "unknown" and not is_field:
            test, code = to.made("is_set", to.helper("is_set", x)), to.code
            to.code = []
            to.emit(gast.Expr(value=to.helper("change_set", x, constant("update"), to.view(other))))
            body, to.code = to.code, []
            self.check_dict(x, "update")
            self.merge(x, other)
            orelse, to.code = to.code, code
            to.emit(gast.If(test=test, body=body, orelse=orelse))
        else:
            if not is_field:
                self.check_dict(x, "update")
            if other is not None:
                self.merge(x, other)
        for name, value in named.items():
            self.set(x, constant(name), value, is_field)
        return self.none(target)

    def merge(self, x: Node, other: Node) -> None:
        """Stores the items of another dict."""
        to = self.to
        is_field = x.id in self.attributes
        match to.bound_to.get(getattr(other, "id", "")):
            case [gast.Dict(keys=keys)] if (
                self.read[other.id] == 1 and all(isinstance(k, gast.Constant) for k in keys)
            ):
                for key in keys:
                    item = to.made("item", to.helper("heap_get", load(to.heap), other, key))
                    self.set(x, key, item, is_field)
                return
        keys = to.made("keys", to.helper("keys_of", to.made(to.base(other), to.helper("mapped", other))))
        key = to.names.temporary("key")
        code, to.code = to.code, []
        item = to.made("item", to.helper("heap_get", load(to.heap), other, load(key)))
        self.set(x, load(key), item, is_field)
        body, to.code = to.code, code
        to.emit(gast.For(target=store(key), iter=keys, body=body, orelse=[], type_comment=None))

    def set(self, x: Node, key: Node, value: Node, is_field: bool) -> None:
        owner = self.attributes[x.id] if is_field else x
        self.to.change("heap_set", owner, key, value, *([constant(True)] if is_field else []))

    def _setdefault(self, target: str | None, x: Node, key: Node, default: Node = None) -> bool:
        to = self.to
        found = to.made("found", to.helper("has_key", x, key))
        missing = to.made("missing", gast.UnaryOp(op=gast.Not(), operand=found))
        value = constant(None) if default is None else default
        added = assign(to.heap, to.helper("heap_set", load(to.heap), x, key, value), to.at)
        to.emit(gast.If(test=missing, body=[added], orelse=[]))
        if target is not None:
            to.get(target, x, key)
        return True

    def _move_to_end(self, target: str | None, x: Node, key: Node) -> bool:
        item = self.to.made("item", self.to.helper("heap_get", load(self.to.heap), x, key))
        self.to.change("heap_delete", x, key)
        self.to.change("heap_set", x, key, item)
        return self.none(target)

    def _get(self, target: str, x: Node, key: Node, default: Node = None) -> bool:
        to = self.to
        found = to.made("found", to.helper("has_key", x, key))
        code, to.code = to.code, []
        to.get(target, x, key)
        body, to.code = to.code, []
        to.known(target, constant(None) if default is None else default)
        other, to.code = to.code, code
        to.emit(gast.If(test=found, body=body, orelse=other))
        return True

    def _items(self, target: str, x: Node) -> bool:
        return self.later(target, x, "items")

    def _keys(self, target: str, x: Node) -> bool:
        return self.later(target, x, "keys")

    def _values(self, target: str, x: Node) -> bool:
        return self.later(target, x, "values")

    def later(self, target: str, x: Node, method: str) -> bool:
        """`t = d.items()`, which is written where t is read."""
        self.check_one_value(target, method)
        self.check_dict(x)
        if self.count(x.id) != 1:
            nature = self.to.nature(x)
            x = self.to.made(x.id, x)
            self.to.known_natures[x.id] = nature
        self.to.lazy[target] = (x, method)
        return True

    def check_one_value(self, target: str, method: str) -> None:
        if self.count(target) != 1:
            self.to.refuse(
                f"a name for `.{method}()` that has other values as well, among changes of objects",
                "the dict that it belongs to is not followed",
                "write it where its items are used",
            )

    def check_dict(self, x: Node, *method: str) -> None:
        """Checks at run time that x is a dict, whose method was taken for that of its name."""
        if not self.to.values.is_dict(x):
            self.to.emit(gast.Expr(value=self.to.helper("mapped", x, *map(constant, method))))

    def count(self, name: str) -> int:
        """The number of bindings of a name."""
        return self.bound[name]

    def note_attributes(self, target: str, x: Node) -> None:
        """`t = x.__dict__`, where its only use is `t.update(...)`."""
        tree = self.to.program.tree
        reads = [n for n in gast.walk(tree) if isinstance(n, gast.Name) and n.id == target]
        updates = [
            n
            for n in gast.walk(tree)
            if isinstance(n, gast.Attribute) and n.attr == "update" and getattr(n.value, "id", "") == target
        ]
        if len(reads) != 2 or len(updates) != 1:
            self.to.refuse(
                "`__dict__`, among changes of objects",
                "changes of it are not followed",
                "name the attributes, or call `setattr`",
            )
        self.attributes[target] = x

    # ------------------------------------------------------------ functions

    def delitem(self, target: str | None, x: Node, index: Node) -> bool:
        to = self.to
        if self.is_slice(index):
            self.ordered(x, "order_without", index)
        else:
            to.change("heap_delete", x, to.key(x, index))
        return self.none(target)

    def is_slice(self, index: Node) -> bool:
        match self.to.bound_to.get(getattr(index, "id", ""), [index]):
            case [gast.Call(func=func)]:
                return self.to.program.resolve(func) is slice
        return False

    def setitem(self, target: str | None, x: Node, index: Node, value: Node) -> bool:
        self.to.change("heap_set", x, self.to.key(x, index), value)
        return self.none(target)

    def delattr(self, target: str | None, x: Node, name: Node) -> bool:
        self.to.change("heap_delete", x, name, constant(True))
        return self.none(target)

    def setattr(self, target: str | None, x: Node, name: Node, value: Node) -> bool:
        self.to.change("heap_set", x, name, value, constant(True))
        return self.none(target)

    def getattr(self, target: str | None, x: Node, name: Node, default: Node = None) -> bool:
        to = self.to
        if target is None:
            return False
        if default is None:
            to.get(target, x, name, is_field=True)
            return True
        found = to.made("found", call(to.bound(hasattr, "hasattr"), x, name))
        code, to.code = to.code, []
        to.get(target, x, name, is_field=True)
        body, to.code = to.code, []
        to.known(target, default)
        other, to.code = to.code, code
        to.emit(gast.If(test=found, body=body, orelse=other))
        return True

    def heappush(self, target: str | None, x: Node, value: Node) -> bool:
        self._append(None, x, value)
        self.ordered(x, "order_of_push")
        return self.none(target)

    def heappop(self, target: str | None, x: Node) -> bool:
        self.to.emit(gast.Expr(value=self.to.helper("last_key", x)))
        self.ordered(x, "order_of_pop")
        return self._pop(target, x)

    def heapify(self, target: str | None, x: Node) -> bool:
        self.ordered(x, "order_of_heap")
        return self.none(target)

    def insort(self, args: list[Node], name: str) -> bool:
        if len(args) != 2:
            return False
        to = self.to
        function = bisect.bisect_left if name == "insort_left" else bisect.bisect_right
        key = to.made("key", call(to.bound(function, function.__name__), *args))
        to.change("heap_insert", args[0], key, args[1])
        return True
