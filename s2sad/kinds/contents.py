"""What objects hold, in a program that makes or is given objects, before their changes are lowered.

`Memory` for statements as they were written: stores to attributes and items, methods of lists and dicts,
loops. It gives names kinds where these are lost to a change through another name: which class an object of a
list has, and so which method a call means.

    net.layers.append(Dense(3, 2))
    for layer in net.layers:        layer: an object of the class Dense
        x = layer.forward(x)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from types import FunctionType
from typing import Any

import gast

from ..runtime.object_graph import reference
from ..transforms.analyses.liveness import free_names
from ..transforms.trees.nodes import find_nodes, load
from ..transforms.trees.program import EMPTY, MISSING, Program
from ..values.objects import ABSENT, lookup, sets_plainly, shadows_fields
from .abstraction import kind_of
from .indexing import element_kind
from .lattice import (
    NOTHING,
    UNKNOWN,
    Dict,
    Instance,
    Instances,
    Kind,
    List,
    Object,
    Record,
    Unknown,
    widen,
)
from .memory import ANYTHING, ITEMS, Held, KindOf, Memory, holds_none

__all__ = ["Contents", "contents_of"]

NEW = Held(NOTHING, frozenset())  # of a name that no walk has reached
LISTS = (list, deque)
MANY = 6  # classes of which an object may be; of more, nothing is known
ADDING = {"append": 0, "appendleft": 0, "insert": 1}  # with the position of the item
SAME_ITEMS = frozenset(["clear", "remove", "reverse", "rotate", "sort", "index", "count", "pop", "popleft"])
OF_LISTS = SAME_ITEMS | ADDING.keys() | {"copy", "extend"}
OF_DICTS = frozenset(
    ["clear", "copy", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values"]
)


def contents_of(program: Program, given: Mapping[str, Kind]) -> Contents | None:
    """The contents of a program with parameters of these kinds; None for one without objects."""
    has_objects = any(map(_holds_object, given.values())) or any(
        isinstance(found := program.resolve(c.func), type) or found in EMPTY
        for c in find_nodes(program.tree, gast.Call)
    )
    if not has_objects:
        return None
    contents = Contents(program)
    for name, kind in given.items():
        contents.bind(name, contents.given(kind))
    return contents


def _holds_object(kind: Kind) -> bool:
    match kind:
        case Record():
            return True
        case List(_, element):
            return _holds_object(element)
        case Dict(pairs):
            return any(_holds_object(k) for _, k in pairs)
    return False


class Contents(Memory):
    """As `Memory`; `views` are the names of `d.items()` and the like, `lost` says that this walk has met a
    call that may change what objects hold.
    """

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.views: dict[str, tuple[str, Any]] = {}
        self.lost = False

    def has_grown(self, late: bool) -> bool:
        if super().has_grown(late):
            self.lost = False
            return True
        if self.lost and not self.is_lost:
            self.is_lost = True
            return True
        return False

    # ------------------------------------------------------------ statements

    def assigned(self, target: str, value: Any, kind: KindOf) -> Kind | None:
        return None

    def defined(self, target: str, value: Any, found: Kind, kind: KindOf) -> Kind:
        """Follows `target = value`, a value of kind `found`; the kind of the name."""
        self.bind(target, self.result(target, value, found, kind))
        return self.refined(target, found)

    def refined(self, name: str, found: Kind) -> Kind:
        """The kind of a name, which may be better known by what it refers to."""
        is_open = isinstance(found, (Unknown, Object))
        is_open = is_open or (isinstance(found, List) and isinstance(found.element, Unknown))
        if self.is_lost or not is_open:
            return found
        known = self.kind_of(self.names.get(name, ANYTHING), 0)
        return found if known is UNKNOWN else known

    def kind_of(self, held: Held, depth: int) -> Kind:
        """The kind of what a slot or name holds."""
        if held.sites == frozenset():
            return held.kind
        classes = {self.classes.get(s) for s in held.sites or ()}
        if held.kind is not NOTHING or not classes or depth > 3:
            return UNKNOWN
        cls = classes.pop()
        if 0 < len(classes) < MANY and classes.isdisjoint([None, list, dict, deque, object]):
            return Instances(tuple(sorted([cls, *classes], key=lambda c: c.__qualname__)))  # type: ignore[list-item]
        if classes:
            return UNKNOWN
        if cls is list:
            return List(None, self.kind_of(self.items_at(held.sites), depth + 1))
        return UNKNOWN if cls is None or cls in (dict, deque, object) else Instance(cls)

    def items_at(self, sites: frozenset[str] | None) -> Held:
        return self.together(self.slots.get((s, ITEMS), NEW) for s in sorted(sites or ()))

    def result(self, target: str, value: Any, found: Kind, kind: KindOf) -> Held:
        """What the value of an expression may be."""
        match value:
            case gast.Name():
                if value.id in self.views:
                    self.views[target] = self.views[value.id]
                return self.held(value, kind)
            case gast.List(elts=parts) | gast.Dict(values=parts):
                items = [
                    self.items(p.value, kind) if isinstance(p, gast.Starred) else self.held(p, kind)
                    for p in parts
                ]
                return self.born(target, list if isinstance(value, gast.List) else dict, self.together(items))
            case gast.Attribute(value=gast.Name() as x, attr=attr) if (
                self.program.resolve(value) is MISSING
            ):
                return self.field(x, attr, found, kind)
            case gast.Subscript(value=gast.Name() as x, slice=index):
                if not self.are(x, kind, list, dict):
                    return self.of_value(x, found, kind)
                held = self.items(x, kind)
                return self.born(target, list, held) if isinstance(index, gast.Slice) else held
            case gast.BinOp(left=a, op=op, right=b) if self.are(a, kind, list):
                if isinstance(op, gast.Mult) or self.are(b, kind, list):
                    others = [self.items(b, kind)] if isinstance(op, gast.Add) else []
                    return self.born(target, list, self.together([self.items(a, kind), *others]))
            case gast.Call():
                return self.called_result(target, value, found, kind)
        return self.own(found)

    def called_result(self, target: str, value: Any, found: Kind, kind: KindOf) -> Held:
        function = self.program.resolve(value.func)
        args = value.args
        if isinstance(function, type) or function in EMPTY:
            if function in (list, deque, sorted) and len(args) < 2:
                return self.born(target, function, self.items(args[0], kind) if args else NEW)
            if function is dict and not args and not value.keywords:
                return self.born(target, dict, NEW)
            if isinstance(found, (Record, Instance)):
                for name, k in found.fields if isinstance(found, Record) else ():
                    self.put(target, name, self.own(k))
                return self.born(target, found.cls, None)
        if function is sorted and len(args) == 1:
            return self.born(target, list, self.items(args[0], kind))
        if function is reference:
            return self.of_class(args, kind)
        if getattr(function, "__name__", "") == "holding" and args:
            return self.held(args[0], kind)
        match value.func:
            case gast.Attribute(value=gast.Name() as x, attr=attr) if function is MISSING:
                base = self.held(x, kind)
                if base == NEW:
                    return NEW
                if self.are(x, kind, *LISTS) and attr in OF_LISTS:
                    items = self.items(x, kind)
                    return self.born(target, list, items) if attr == "copy" else items
                if self.are(x, kind, dict) and attr in OF_DICTS:
                    return self.dict_result(target, x, attr, args, kind)
        return self.own(found)

    def dict_result(self, target: str, x: Any, attr: str, args: list[Any], kind: KindOf) -> Held:
        items = self.items(x, kind)
        if attr in ("items", "keys", "values"):
            self.views[target] = attr, x
            return ANYTHING
        if attr == "copy":
            return self.born(target, dict, items)
        if attr == "popitem":
            return ANYTHING
        return self.together([items, *(self.held(a, kind) for a in args[1:])])

    def born(self, site: str, cls: type, items: Held | None) -> Held:
        """A new object, with these items."""
        self.classes[site] = cls if self.classes.get(site, cls) is cls else object
        if items is not None:
            self.put(site, ITEMS, items)
        return Held(NOTHING, frozenset([site]))

    def own(self, found: Kind) -> Held:
        """What a value of a kind, of an unknown origin, may be."""
        known = widen(found)
        return Held(known, frozenset()) if holds_none(known) else ANYTHING

    def of_value(self, x: Any, found: Kind, kind: KindOf) -> Held:
        return NEW if self.held(x, kind) == NEW else self.own(found)

    def field(self, x: Any, attr: str, found: Kind, kind: KindOf) -> Held:
        """What an attribute may hold."""
        sites = self.held(x, kind).sites
        if not sites:
            return self.of_value(x, found, kind)
        held = self.read(x, attr, kind)
        for cls in {self.classes.get(s, object) for s in sites}:
            default = lookup(cls, attr)
            if hasattr(type(default), "__get__") or lookup(cls, "__getattr__") is not ABSENT:
                return self.own(found)
            if default is not ABSENT:
                held = held.joined(self.own(kind_of(default, f"{cls.__name__}.{attr}")))
        return held

    # ------------------------------------------------------------ items

    def items(self, x: Any, kind: KindOf) -> Held:
        """What the items of a list, or the values of a dict, may be."""
        base = self.held(x, kind)
        if base == NEW:
            return NEW
        if self.are(x, kind, list, dict, deque):
            return self.read(x, ITEMS, kind)
        return self.own(element_kind(kind(x)))

    def element(self, x: Any, kind: KindOf) -> Any:
        """What a loop over a value binds: for a tuple of targets a list."""
        if isinstance(x, gast.Name) and x.id in self.views:
            attr, base = self.views[x.id]
            items = self.items(base, kind)
            return items if attr == "values" else [ANYTHING, items] if attr == "items" else ANYTHING
        if isinstance(x, gast.Call):
            function = self.program.resolve(x.func)
            if function is zip:
                return [self.element(a, kind) for a in x.args]
            if function is enumerate and x.args:
                return [ANYTHING, self.element(x.args[0], kind)]
            return self.element(x.args[0], kind) if function is reversed and len(x.args) == 1 else ANYTHING
        if self.are(x, kind, dict):
            return ANYTHING
        return self.items(x, kind)

    def looped(self, target: Any, iterable: Any, kind: KindOf, kinds: dict[str, Kind]) -> None:
        """Follows the start of a loop; `kinds` gains the kinds of targets."""
        self.unpacked(target, self.element(iterable, kind), kinds)

    def unpacked(self, target: Any, found: Any, kinds: dict[str, Kind]) -> None:
        if isinstance(target, gast.Name):
            own = kinds.get(target.id, UNKNOWN)
            held = found if isinstance(found, Held) else ANYTHING
            self.bind(target.id, self.own(own) if held == ANYTHING else held)
            kinds[target.id] = self.refined(target.id, own)
            return
        parts = found if isinstance(found, list) and len(found) == len(target.elts) else None
        for k, t in enumerate(target.elts):
            self.unpacked(t, ANYTHING if parts is None else parts[k], kinds)

    # ------------------------------------------------------------ changes

    def set_field(self, x: Any, attr: str, value: Any, kind: KindOf) -> None:
        """Follows `x.attr = value`."""
        for site in self.held(x, kind).sites or ():
            cls = self.classes.get(site, object)
            if not sets_plainly(cls) or shadows_fields(lookup(cls, attr)):
                self.lost = True
        self.write(x, attr, self.held(value, kind))

    def set_item(self, x: Any, index: Any, value: Any, found: Kind, kind: KindOf) -> None:
        """Follows `x[index] = value`; the item is then of kind `found`."""
        base = self.held(x, kind)
        if base.sites == frozenset() and base != NEW:  # an array
            return
        if isinstance(index, gast.Slice):
            self.write(x, ITEMS, self.items(value, kind))
            return
        held = self.held(value, kind) if value is not None else self.own(found)
        self.write(x, ITEMS, held)

    def item(self, x: Any, kind: KindOf) -> Kind:
        """The kind of an item of a list or dict."""
        return UNKNOWN if self.is_lost else self.kind_of(self.items(x, kind), 0)

    def extended(self, x: str, value: Any, found: Kind, kind: KindOf) -> None:
        """Follows `x += value`, of kind `found` then."""
        if self.are(load(x), kind, *LISTS):
            self.write(load(x), ITEMS, self.items(value, kind))
        else:
            self.bind(x, self.own(found))

    def follows(self, call: Any, kind: KindOf) -> bool:
        """Follows a call that changes a list or dict by a method; False for other calls."""
        match call.func:
            case gast.Attribute(value=gast.Name() as x, attr=attr) if (
                self.program.resolve(call.func) is MISSING and not call.keywords
            ):
                base = self.held(x, kind)
                if base == NEW:
                    return True
                if self.are(x, kind, *LISTS) and attr in OF_LISTS:
                    if attr in ADDING and len(call.args) > ADDING[attr]:
                        self.write(x, ITEMS, self.held(call.args[ADDING[attr]], kind))
                    elif attr == "extend" and call.args:
                        self.write(x, ITEMS, self.items(call.args[0], kind))
                    return True
                if self.are(x, kind, dict) and attr in OF_DICTS:
                    if attr == "update":
                        known = call.args and self.are(call.args[0], kind, dict)
                        self.write(x, ITEMS, self.items(call.args[0], kind) if known else ANYTHING)
                    elif attr == "setdefault" and len(call.args) == 2:
                        self.write(x, ITEMS, self.held(call.args[1], kind))
                    return True
                if base.sites is None and attr in ("append", "appendleft", "insert", "add") and call.args:
                    self.write(x, ITEMS, self.held(call.args[-1], kind))
        return False

    def spoil(self, x: Any, kind: KindOf) -> None:
        """Follows a change of the items of a list or dict by a function."""
        base = self.held(x, kind)
        if base.sites != frozenset():
            self.write(x, ITEMS, ANYTHING)

    def is_dispatched(self, callee: Any, kind: KindOf) -> bool:
        """Whether a callee is a method of each of the classes that its object may have."""
        match callee:
            case gast.Attribute(value=gast.Name() as x, attr=attr) if isinstance(kind(x), Instances):
                found = (lookup(c, attr) for c in kind(x).classes)  # type: ignore[attr-defined]
                return all(isinstance(f, FunctionType) for f in found)
        return False

    def lose(self) -> None:
        """Notes a call that may change what objects hold."""
        self.lost = True

    def enclosed(self, function: Any, kind: KindOf) -> None:
        """Follows the definition of a nested function, which may change what it captures."""
        for name in free_names(function):
            if name in self.names and self.names[name].sites != frozenset():
                self.lost = True
        self.bind(function.name, ANYTHING)

