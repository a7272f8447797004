"""What objects hold, in a program with a heap: the kinds of their attributes and items, and which objects.

Objects are told apart by the site that made them: a name of the program; those of arguments by their class.
A name refers to a set of sites; a slot (a site with the name of an attribute, an Item for a key that is
literal, or ITEMS for the items with other keys) has the kind of the values in it and the sites of the objects
in it. The order of changes does not matter: a slot joins all that is stored there. What is not known may be
anything.

    bodies = [B(x), B(0.0)]        bodies -> list of the site B, whose `pos` is a float
    bodies[k].pos = 1.5
"""

from __future__ import annotations

import operator
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import product
from types import FunctionType
from typing import Any, NamedTuple

import gast

from ..runtime import heap, heap_arrays, heap_keys, object_graph, slots
from ..runtime.containers import copied_lists, dict_items, dict_values
from ..runtime.mutation import repeated, stored_in
from ..runtime.records import held_by, made_like
from ..transforms.analyses.operations import OPERATORS
from ..transforms.trees.helpers import merged
from ..transforms.trees.nodes import (
    blocks_of,
    bound_here,
    header_of,
    is_atom,
    load,
    names_read,
    statements_in,
)
from ..transforms.trees.program import EMPTY as EMPTY_OF
from ..transforms.trees.program import MISSING, Program
from ..values.objects import is_plain
from .abstraction import FUNCTIONS, kind_of
from .class_members import attribute_kind
from .decided_tests import truth_kind
from .indexing import element_kind, subscript_kind, unpack_kinds
from .join import inherited_kind, join
from .lattice import (
    NOTHING,
    REFERENCE,
    UNKNOWN,
    Array,
    Dict,
    EnumMember,
    Instance,
    Kind,
    List,
    Literal,
    Nothing,
    Numeric,
    Record,
    Reference,
    Scalar,
    Set,
    Text,
    Tuple,
    Unknown,
    widen,
)
from .queries import truth_of
from .result_kinds import call_kind
from .shape_relations import is_differentiable

__all__ = [
    "ANYTHING", "BIRTHS", "CHANGES", "DICTS", "EMPTY", "ITEMS", "OF_HEAP", "READS", "Held", "Memory",
    "Shared", "memory_of", "settled_memory",
]  # fmt: skip

ITEMS, KEYS = "[]", "{}"  # the keys of the slots of items, and of all keys of a dict
DICTS = (dict, defaultdict, OrderedDict, Counter)
KindOf = Callable[[Any], Kind]


class Held(NamedTuple):
    """What a slot or name may hold: values of a kind, the objects of some sites (None: any objects), and
    whether also None; of tuples with objects also what their `parts` may be.
    """

    kind: Kind
    sites: frozenset[str] | None
    is_optional: bool = False
    parts: tuple[Held, ...] | None = None

    def joined(self, other: Held) -> Held:
        either = None if self.sites is None or other.sites is None else self.sites | other.sites
        is_optional = self.is_optional or other.is_optional
        return Held(join(self.kind, other.kind), either, is_optional, self.joined_parts(other))

    def joined_parts(self, other: Held) -> tuple[Held, ...] | None:
        if self.parts == other.parts or isinstance(other.kind, Nothing):
            return self.parts
        if isinstance(self.kind, Nothing):
            return other.parts
        mine, theirs = self.all_parts(), other.all_parts()
        if mine is None or theirs is None or len(mine) != len(theirs):
            return None
        return tuple(a.joined(b) for a, b in zip(mine, theirs, strict=True))

    def all_parts(self) -> tuple[Held, ...] | None:
        """What the parts of a tuple may be; None of others."""
        if self.parts is None and self.sites == frozenset() and isinstance(self.kind, Tuple):
            return tuple(Held(widen(kind), frozenset()) for kind in self.kind.items)
        return self.parts

    @property
    def is_object(self) -> bool:
        """Whether it surely holds an object, or None."""
        return bool(self.sites) and isinstance(self.kind, Nothing)


class Item(NamedTuple):
    """The key of the slot of the item with a literal key."""

    key: Any


EMPTY, ANYTHING, OPTIONAL = Held(NOTHING, frozenset()), Held(UNKNOWN, None), Held(NOTHING, frozenset(), True)


class New(NamedTuple):
    """A new object or container that is not in the heap yet: its class, all its items and keys, of a dict
    the items by their slots, where these are known, and what makes missing ones.
    """

    cls: type
    items: Held = EMPTY
    keys: Held = EMPTY
    parts: Mapping[Any, Held] | None = None
    factory: Any = None


@dataclass
class Shared:
    """What the functions that are given one heap share. Of each of `functions`, a parameter's Held joins all
    calls; the first parameter is the heap, and the result the heap with a value.
    """

    functions: Mapping[Any, tuple[str, ...]] = field(default_factory=dict)  # with their parameters
    slots: dict[tuple[str, Any], Held] = field(default_factory=dict)
    stored: dict[Any, Held] = field(default_factory=dict)  # by key: what is stored into unknown objects
    classes: dict[str, type] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)  # the functions that are objects, by site
    factories: dict[str, Any] = field(default_factory=dict)  # what makes missing items of dicts, by site
    items: dict[str, list[Item]] = field(default_factory=dict)  # the literal keys that items have, by site
    given: dict[tuple[Any, str], Held] = field(default_factory=dict)  # by function and parameter
    returned: dict[Any, Held] = field(default_factory=dict)
    unread: set[tuple[str, Any]] = field(default_factory=set)  # slots that were read while empty
    defaults: set[tuple[Any, str]] = field(default_factory=set)  # attributes of classes that are read
    inherited: set[str] = field(default_factory=set)  # the sites of objects that classes hold
    sites: dict[Any, str] = field(default_factory=dict)  # of arguments, by class or kind
    entered: set[Kind] = field(default_factory=set)  # the kinds of arguments that are looked at
    is_cut: bool = False  # whether parts of arguments are not looked at: these may be in other places, too
    is_lost: bool = False  # whether a function that is not looked into has the heap
    waits: bool = False  # whether a list was copied whose items were not found yet
    is_filled: bool = False  # whether lists whose items were not found are empty
    count: int = 0  # how often it has grown

    def grow(self, table: dict[Any, Held], key: Any, found: Held) -> bool:
        """Joins what is found to one of the tables; whether that is new."""
        is_new = _grown(table, key, found)
        self.count += is_new
        return is_new

    def settle(self) -> bool:
        """Follows what nothing was found of, when no walk finds more. Slots that were read, and that nothing
        is stored in, have what the class tells: nothing, where reading them raises, and anything in items of
        unknown classes. Other lists without items are empty. Whether that is new.
        """
        before = self.count
        for slot in self.unread - self.slots.keys():
            cls, key = self.classes.get(slot[0]), slot[1]
            is_known = cls is not None and key not in (ITEMS, KEYS)
            if is_known:  # also that the class has no such attribute
                self.defaults.add((cls, key))
            found = self.default(cls, key) if is_known else ANYTHING
            is_held = is_known and isinstance(found.kind, (Dict, List, Record))  # `read` knows what it holds
            self.grow(self.slots, slot, EMPTY if is_held else found)
        self.unread.clear()
        if self.count == before and self.waits and not self.is_filled:
            self.is_filled = True
            self.count += 1
        self.waits = False
        return self.count != before

    def default(self, cls: type | None, key: Any) -> Held:
        """What the class holds, which is read where an object does not hold an attribute itself."""
        found = NOTHING if cls is None or key in (ITEMS, KEYS) else inherited_kind(cls, key)
        if not isinstance(found, (Nothing, Unknown)):
            self.defaults.add((cls, key))
        return self.of_kind(found)

    def of_kind(self, kind: Kind) -> Held:
        """What a value of a kind, that is no object with a site yet, may be. Functions are objects."""
        known = widen(kind)
        if isinstance(known, Reference):
            return ANYTHING
        if isinstance(known, Literal) and known.value is None:
            return OPTIONAL
        if not isinstance(known, Literal) or not _is_alone(known.value):
            return Held(known, frozenset() if _holds_none(known) else None)
        site = next((s for s, f in self.values.items() if f is known.value), f"({len(self.values)})")
        self.values[site], self.classes[site] = known.value, type(known.value)
        return Held(NOTHING, frozenset([site]))

    def as_kind(self, held: Held) -> Kind:
        """The kind of values that may be this."""
        if held == OPTIONAL:
            return Literal(None)
        if held.parts is not None:
            return UNKNOWN if held.is_optional else Tuple(tuple(map(self.as_kind, held.parts)))
        functions = [self.values[site] for site in held.sites or () if site in self.values]
        if len(functions) == 1 and held == self.of_kind(Literal(functions[0])):
            return Literal(functions[0])
        if held.is_object:
            return REFERENCE
        return held.kind if held.sites == frozenset() and not held.is_optional else UNKNOWN


def _grown(table: dict[Any, Held], key: Any, found: Held) -> bool:
    """Joins what is found to what a table has; whether that is new."""
    old = table.get(key, EMPTY)
    new = old.joined(found)
    if new == old and key in table:
        return False
    table[key] = new
    return True


def memory_of(program: Program, given: Mapping[str, Kind]) -> Memory | None:
    """The memory of a program that makes a heap, or is given one, with parameters of these kinds; None for
    others.
    """
    shared, function = program.memory or (None, None)
    if function is None and all(v is not heap.new_heap for v in program.bindings.values()):
        return None
    memory = Memory(program, shared or Shared(), function)
    for name, kind in given.items():
        if isinstance(kind, (List, Dict, Record)):
            memory.bind(name, memory.given(kind))
    return memory


def settled_memory(program: Program, kinds: Mapping[str, Kind], kind: KindOf) -> Memory | None:
    """The memory of a program with a heap whose names are of these kinds; None where nothing is known."""
    memory = memory_of(program, {p.id: kinds[p.id] for p in program.tree.args.args if p.id in kinds})
    while memory is not None and not memory.is_lost:
        for s in _taken(program.tree.body, kind):
            match s:
                case gast.Assign(targets=[gast.Name(id=name) as target]):
                    found = memory.assigned(name, s.value, kind)
                    memory.defined(name, kind(target) if found is None else found)
                case gast.Assign(targets=[gast.Tuple(elts=elts)]):
                    memory.unpacked(elts, s.value, kind)
                case gast.Expr(value=gast.Call()):
                    memory.passed(s.value)
        if not memory.has_grown(False):
            break
    return None if memory is None or memory.is_lost else memory


def _taken(statements: list[Any], kind: KindOf) -> Iterator[Any]:
    """The statements and those in them, but for branches that the kinds of their tests rule out."""
    for s in statements:
        yield s
        taken = truth_of(kind(s.test)) if isinstance(s, gast.If) and is_atom(s.test) else None
        for block in blocks_of(s):
            if taken is None or block is (s.body if taken else s.orelse):
                yield from _taken(block, kind)


class Memory:
    """The sites and slots of a program."""

    def __init__(self, program: Program, shared: Shared, function: Any = None) -> None:
        self.program, self.shared, self.function = program, shared, function
        self.names: dict[str, Held] = {}
        self.slots, self.stored, self.classes = shared.slots, shared.stored, shared.classes
        self.defaults, self.unread = shared.defaults, shared.unread
        self.results: dict[str, Any] = {}  # the names of results of functions that share the heap
        self.new: dict[str, New] = {}
        self.functions = shared.values  # the functions that are objects, by site
        self.operands, self.unpacked_only = _only_operands(program)
        assigned = Counter(name for s in statements_in(program.tree.body) for name in bound_here(s))
        self.several = {name for name, count in assigned.items() if count > 1}
        self.open = {  # names that loops and in-place operators set
            name
            for s in statements_in(program.tree.body)
            if not self.is_followed(s)
            for name in bound_here(s)
        }
        self.shallow: set[str] = set()  # the records of containers without the contents of their objects
        self.sources = _sources(program, self.several)
        self.held_cached = _held_cached(program)  # names of values of cached properties that objects hold
        self.followed = ""  # the name that the present assignment has bound
        self.heaps: set[str] = set()
        self.growth = self.seen = 0  # how often something new was found; at the last look
        self.is_told = False  # whether a walk has begun with nothing known
        self.raises = False  # whether an operator that is not followed has an object as operand
        if function is not None:
            token, *others = shared.functions[function]
            self.heaps.add(token)
            self.names.update((p, shared.given.get((function, p), EMPTY)) for p in others)

    @property
    def is_lost(self) -> bool:
        return self.shared.is_lost

    @is_lost.setter
    def is_lost(self, value: bool) -> None:
        self.shared.is_lost = value

    def has_grown(self, late: bool) -> bool:
        """Whether a walk over the program has found more, so that another is needed; if that is `late`,
        nothing is known from then on. Slots that were read and never written have what the class tells.
        """
        if self.growth == self.seen and not self.shared.functions:
            self.growth += self.shared.settle()
        found, self.seen = self.growth > self.seen and not self.is_lost, self.growth
        self.is_lost = self.is_lost or (found and late)
        is_told, self.is_told = self.is_told, self.is_lost
        return found or is_told is not self.is_lost

    def is_followed(self, s: Any) -> bool:
        """Whether a statement binds no names but those that this memory binds."""
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                if isinstance(value, gast.Call) and self.is_linked(found := self.program.resolve(value.func)):
                    self.results[name] = found
                return True
            case gast.Assign(targets=[gast.Tuple()]):
                return True
        return False

    def is_linked(self, function: Any) -> bool:
        """Whether a function shares the heap."""
        return isinstance(function, FunctionType) and function in self.shared.functions

    def defined(self, target: str, found: Kind) -> None:
        """Follows an assignment of a value of this kind to a name, which others may set, too."""
        if target in self.several and target != self.followed:
            self.bind(target, self.of_kind(found))

    # ------------------------------------------------------------ statements

    def assigned(self, target: str, value: Any, kind: KindOf) -> Kind | None:
        """Follows `target = value`; the kind of the value where the heap tells it, else None."""
        self.followed = ""
        match value:
            case gast.UnaryOp() | gast.Compare() | gast.Attribute() | gast.Subscript() if self.is_early(
                value, kind
            ):
                return NOTHING
            case gast.Compare(left=a, ops=[gast.Is() | gast.IsNot() as op], comparators=[b]):
                return self.decided(OPERATORS[type(op)], [a, b], kind)
            case gast.Constant():
                self.bind(target, self.of_kind(kind(value)))
            case gast.Attribute() if self.program.resolve(value) is not MISSING:
                self.bind(target, self.of_kind(kind(value)))
            case gast.Name():
                if value.id not in self.new or value.id in self.names:  # a new list enters the heap later
                    self.bind(target, self.held(value, kind))
                if value.id in self.heaps:
                    self.heaps.add(target)
                if value.id in self.new:
                    self.new[target] = self.new[value.id]
            case gast.Tuple(elts=[gast.Name(id=token), result]) if token in self.heaps:
                self.grow(self.shared.returned, self.function, self.held(result, kind))
            case gast.BinOp(left=left, op=op, right=right):
                return self.operated(OPERATORS[type(op)], [left, right], kind)
            case gast.Tuple(elts=items):
                parts = tuple(self.held(a, kind) for a in items)
                is_made = any(isinstance(kind(a), (Dict, List, Record)) for a in items)  # not in the heap yet
                if not is_made and any(p.sites != frozenset() or p.is_optional for p in parts):
                    sites = self.together(parts).sites
                    kinds = Tuple(tuple(map(self.as_kind, parts)))
                    self.bind(target, Held(kinds, sites, False, parts))
                    return kinds
            case gast.List(elts=items):
                self.new[target] = New(list, self.together(self.held(a, kind) for a in items))
            case gast.Dict(keys=keys, values=items):
                held = [self.held(a, kind) for a in items]
                places = [item_of(kind(k)) for k in keys]
                by_key = None if ITEMS in places else {ITEMS: EMPTY, **dict(zip(places, held, strict=True))}
                all_keys = self.together(self.held(k, kind) for k in keys)
                self.new[target] = New(dict, self.together(held), all_keys, by_key)
            case gast.Subscript(value=gast.Name(id=base), slice=gast.Slice()) if base in self.new:
                self.new[target] = self.new[base]._replace(parts=None)
            case gast.Subscript(value=gast.Name() as x, slice=index) if self.held(x, kind).parts is not None:
                self.bind(target, found := self.part(x, index, False, False, kind) or ANYTHING)
                return self.as_kind(found)
            case gast.Call(func=func, args=args):
                function = self.program.resolve(func)
                if self.is_linked(function):
                    return self.linked(function, value, kind)
                if function in EMPTY_OF and isinstance(cls := self.program.resolve(args[0]), type):
                    self.new[target] = New(cls)
                    return None
                if function is stored_in:
                    return self.operated(stored_in, args, kind)
                if function is not MISSING and getattr(function, "__module__", "") in OF_HEAP:
                    return self.called(target, function, args, kind)
                self.passed(value)
                if self.is_early(value, kind):
                    return NOTHING
                if function is isinstance:
                    return self.decided(function, args, kind)
                if function is made_like and (blank := self.program.resolve(args[0])) is not MISSING:
                    fields = {k.arg: self.held(k.value, kind) for k in value.keywords}
                    self.new[target] = New(type(blank), self.together(fields.values()), EMPTY, fields)
                    return None
                if makes_dict(value, self.program):
                    self.new[target] = New(function, factory=self.program.resolve(args[0]) if args else None)
                    return None
                if (copied := self.copied_dict(function, value)) is not None:
                    self.new[target] = copied
                    return None
                if function in (dict_items, dict_values) and self.new_of(args[0], *DICTS) is not None:
                    return self.parts_of_dict(target, args[0].id, function is dict_values)
                if function in (operator.concat, repeated, copied_lists, list, deque, sorted):
                    made = [self.new_of(a, list, *DICTS) for a in args]
                    known = [new.items if new.cls is list else new.keys for new in made if new is not None]
                    if function in (list, deque) and len(args) == 1:  # of a tuple
                        of_tuple = self.held(args[0], kind).all_parts()
                        known = known if of_tuple is None else [self.together(of_tuple)]
                        if isinstance(kind(args[0]), Array) or self.is_inert(args[0], kind(args[0])):
                            known = [self.of_kind(element_kind(kind(args[0])))]
                    if len(known) == (2 if function is operator.concat else min(len(args), 1)):
                        cls = deque if function is deque else list
                        self.new[target] = New(cls, self.together(known))
                        if known and known[0].sites == frozenset() and function in (list, sorted):
                            return List(None, self.as_kind(known[0]))
        return None

    def decided(self, function: Any, args: list[Any], kind: KindOf) -> Kind | None:
        """The truth value of a test that the classes of objects decide."""
        choices: list[list[Kind]] = []
        for a in args:
            held = self.held(a, kind)
            sites = sorted(held.sites or ())
            classes = [self.classes[site] for site in sites if site in self.classes]
            if not held.is_object or held.is_optional or any(site in self.functions for site in sites):
                choices.append([kind(a)])
            elif len(classes) < len(sites) or not {deque, *DICTS}.isdisjoint(classes):
                return None
            else:
                choices.append([List(None, UNKNOWN) if cls is list else Instance(cls) for cls in classes])
        first, *others = [truth_kind(function, combination) for combination in product(*choices)]
        return first if all(other == first for other in others) else None

    def new_of(self, atom: Any, *classes: type) -> New | None:
        """The new container of one of the classes that an atom is; None for others."""
        found = self.new.get(getattr(atom, "id", ""))
        return found if found is not None and found.cls in classes else None

    def copied_dict(self, function: Any, value: Any) -> New | None:
        """What `x.copy()`, `dict(x)` or `merged(x, y)` of new containers make; None for other calls."""
        match value:
            case gast.Call(func=gast.Attribute(value=x, attr="copy"), args=[], keywords=[]):
                return self.new_of(x, list, *DICTS)
            case gast.Call(args=[x], keywords=[]) if function is dict:
                new = self.new_of(x, *DICTS)
                return None if new is None else new._replace(cls=dict, factory=None)
            case gast.Call(args=[x, y]) if function is merged:
                a, b = self.new_of(x, *DICTS), self.new_of(y, *DICTS)
                if a is None or b is None:
                    return None
                joined = None
                if a.parts is not None and b.parts is not None:
                    places = dict.fromkeys([*a.parts, *b.parts])
                    joined = {k: a.parts.get(k, EMPTY).joined(b.parts.get(k, EMPTY)) for k in places}
                return New(dict, a.items.joined(b.items), a.keys.joined(b.keys), joined)
        return None

    def parts_of_dict(self, target: str, x: str, only_values: bool) -> Kind | None:
        """Follows `target = dict_values(x)`, or `dict_items(x)`, of a new dict."""
        new = self.new[x]
        kinds = [UNKNOWN if h.is_object else self.as_kind(h) for h in (new.keys, new.items)]
        if only_values:
            self.new[target] = New(list, new.items)
            return List(None, kinds[1])
        return List(None, Tuple(tuple(kinds)))

    def unpacked(self, targets: list[Any], value: Any, kind: KindOf) -> list[Kind]:
        """Follows `a, b = value`; the kinds of the targets."""
        if isinstance(value, gast.Name) and value.id in self.results:  # the heap, and a result
            self.heaps.add(targets[0].id)
            self.bind(targets[1].id, found := self.shared.returned.get(self.results[value.id], EMPTY))
            return [UNKNOWN, self.as_kind(found)]
        if isinstance(value, gast.Tuple):
            parts: Any = [self.held(a, kind) for a in value.elts]
        else:
            parts = self.held(value, kind).all_parts()
            if (new := self.new_of(value, list)) is not None:
                parts = (new.items,) * len(targets)
        if parts is None or len(parts) != len(targets):
            parts = [self.of_kind(k) for k in unpack_kinds(kind(value), len(targets))]
        for target, part in zip(targets, parts, strict=True):
            self.bind(target.id, part)
        return [self.as_kind(part) for part in parts]

    def linked(self, function: FunctionType, value: Any, kind: KindOf) -> Kind:
        """Follows a call of a function that shares the heap; the kind of the heap and the result."""
        parameters = self.shared.functions[function]
        given = {p: self.held(a, kind) for p, a in zip(parameters, value.args, strict=False)}
        given |= {k.arg: self.held(k.value, kind) for k in value.keywords}
        positional = parameters[: function.__code__.co_argcount][::-1]
        defaults = dict(zip(positional, (function.__defaults__ or ())[::-1], strict=False))
        defaults |= function.__kwdefaults__ or {}
        for p in parameters[1:]:
            found = given.get(p) or (self.of_kind(kind_of(defaults[p], p)) if p in defaults else ANYTHING)
            self.grow(self.shared.given, (function, p), found)
        return Tuple((UNKNOWN, self.as_kind(self.shared.returned.get(function, EMPTY))))

    def is_early(self, value: Any, kind: KindOf) -> bool:
        """Whether an expression reads what this walk has not found a value of."""
        found = [self.held(load(name), kind) for name in names_read(value) if name in self.program.locals]
        return any(f == EMPTY for f in found)

    def operated(self, function: Any, args: list[Any], kind: KindOf) -> Kind | None:
        """The kind of an operator's result where an operand may be None, for which the operator raises."""
        operands = [self.held(a, kind) for a in args]
        if EMPTY in operands or any(map(self.has_operators, operands)):
            return NOTHING
        if not any(o.is_optional for o in operands) or any(o.sites != frozenset() for o in operands):
            return None
        return call_kind(function, [o.kind for o in operands], {}, lambda function: True)

    def has_operators(self, held: Held) -> bool:
        """Whether an operand is an object of the user's: its operators are put in before this, or raise."""
        classes = {self.classes.get(site) for site in held.sites or ()}
        is_users = classes.isdisjoint((list, deque, *DICTS))
        return held.is_object and is_users and all(cls is not None and is_plain(cls) for cls in classes)

    def passed(self, value: Any) -> None:
        """Follows a call that may be given the heap."""
        given = [*getattr(value, "args", ()), *(k.value for k in getattr(value, "keywords", ()))]
        function = self.program.resolve(value.func)
        is_helper = function is not MISSING and getattr(function, "__module__", "") in OF_HEAP
        if not is_helper and any(isinstance(a, gast.Name) and a.id in self.heaps for a in given):
            self.is_lost = True

    def called(self, target: str, function: Any, args: list[Any], kind: KindOf) -> Kind | None:
        """Follows `target = function(*args)` of a helper."""
        name = function.__name__
        if name in ("reference", "known"):
            self.bind(target, found := self.of_class(args, kind))
            return self.as_kind(found)
        if name == "heap_element" and self.are(args[1], kind, *DICTS):
            self.bind(target, self.held(args[2], kind))
            return None
        if name in READS:
            x, key = args[READS[name]], args[READS[name] + 1]
            is_field = name.endswith("_field") or any(map(_is_true, args[READS[name] + 2 :]))
            if not is_field and self.are(x, kind, defaultdict):
                self.add_key(x, key, kind)
            part = self.part(x, key, is_field, name == "heap_element", kind)
            is_held = target in self.held_cached
            place = self.place(key, is_field, kind)
            found = self.read(x, place, kind, is_held) if part is None else part
            if found.is_optional and target in self.operands:
                found = Held(found.kind, found.sites)
            self.bind(target, found)
            return self.as_kind(found)
        if name == "items_of":
            self.shallow.add(target)
        if name in ("heap_copy", "heap_view") and self.is_inert(args[1], self.held(args[1], kind).kind):
            return kind(args[1])
        if name in ("heap_copy", "heap_view") and self.is_handed_on(target, args, kind):
            self.bind(target, found := self.held(args[1], kind))
            return self.as_kind(found)
        if name == "heap_copy" and args[3:] and self.are(args[1], kind, list):
            whole = self.copied_whole(self.held(args[1], kind))
            if isinstance(whole, Nothing) and not self.shared.is_filled:
                self.shared.waits = True
                return NOTHING
            if whole is not UNKNOWN and not isinstance(whole, Nothing):
                return whole
        is_unpacked = name == "heap_view" and target in self.unpacked_only
        if is_unpacked or name in ("heap_copy", "read_items", "copy_items"):
            return self.copied(target, args[1], kind)
        if name == "held_items":
            return self.copied(target, args[0], kind)
        if name == "read_rows" and (rows := self.new_of(args[1], list)) is not None:
            return List(None, self.copied_whole(rows.items))
        if name in ("keys_of", "keys_in", "positions"):
            return List(None, self.as_kind(self.keys_of(args[0], kind)))
        if name == "key_of":
            key = kind(args[1])
            is_itself = isinstance(item_of(key), Item) and self.are(args[0], kind, *DICTS)
            return key if is_itself else self.as_kind(self.held(args[1], kind))
        if name == "plain_number":
            held = self.held(args[0], kind)
            if held.is_object and not held.is_optional:
                self.raises = True
                return NOTHING
            if held.parts is not None:
                self.bind(target, held)
            return self.as_kind(held) if held.is_optional or held.parts is not None else held.kind
        if name in CHANGES:
            self.heaps.add(target)
            self.change(name, args, kind)
        return None

    def is_handed_on(self, target: str, args: list[Any], kind: KindOf) -> bool:
        """Whether a copy is the value itself: no object, or a tuple whose objects are not copied."""
        found = self.held(args[1], kind)
        is_shallow = isinstance(args[2], gast.Name) and args[2].id in self.shallow
        is_shallow = is_shallow or target in self.unpacked_only
        return found.sites == frozenset() or (found.parts is not None and is_shallow)

    def of_class(self, args: list[Any], kind: KindOf) -> Held:
        """What `reference(x, cls)` may be: the objects of the class."""
        found = self.held(args[0], kind)
        if self.is_outer(args[0]):
            found = self.given(kind(args[0]))
        if found.sites is None or len(args) == 1:
            return found
        cls = self.program.resolve(args[1])
        return Held(NOTHING, frozenset(s for s in found.sites if self.classes.get(s) in (cls, None)))

    def change(self, name: str, args: list[Any], kind: KindOf) -> None:
        """Follows a change of the heap."""
        match name, args[1:]:
            case ("born" | "entered" | "entered_field" | "filled" | "heap_enter"), [gast.Name(id=x), *_]:
                self.enter(x, kind)
            case "heap_set", [x, key, value, *field]:
                self.write(x, self.place(key, any(map(_is_true, field)), kind), self.held(value, kind))
                self.add_key(x, key, kind)
            case ("set_field" | "set_item" | "hold_field" | "hold_item"), [x, key, value, *_]:
                self.write(x, self.place(key, name.endswith("_field"), kind), self.held(value, kind))
                self.add_key(x, key, kind)
            case _, [x, _, value, *_] if name in PUTS:
                self.write(x, ITEMS, self.held(value, kind))
            case "hold_append", [x, value]:
                self.write(x, ITEMS, self.held(value, kind))
            case ("heap_splice" | "splice_items" | "hold_splice"), [x, gast.Name(id=items), *_]:
                self.write(x, ITEMS, self.new[items].items if items in self.new else ANYTHING)
            case _ if name in KEEPS:
                pass
            case _:
                self.is_lost = True

    def add_key(self, x: Any, key: Any, kind: KindOf) -> None:
        """Follows a store in what may be a dict."""
        for site in sorted(self.held(x, kind).sites or ()):
            if self.classes.get(site) in DICTS:
                self.put(site, KEYS, self.held(key, kind))

    def enter(self, x: str, kind: KindOf) -> None:
        """Follows `heap_enter(heap, x, record)`: the birth of an object, or what a call has returned."""
        found = kind(gast.Name(id=x, ctx=gast.Load(), annotation=None, type_comment=None))
        if isinstance(found, Tuple) or _holds_none(found):
            return
        new = self.new.get(x)
        if new is None and isinstance(found, Record) and not found.fields:
            new = New(found.cls)
        if new is None and isinstance(found, List) and _holds_none(found.element):
            new = New(list, Held(found.element, frozenset()))
        if new is None:
            self.bind(x, ANYTHING)
            return
        self.new[x] = new
        site = self.site(x)
        self.classes.setdefault(site, new.cls)
        self.shared.factories[site] = new.factory
        is_container = new.cls in (list, deque, *DICTS)
        for key, part in {**({ITEMS: new.items} if is_container else {}), **(new.parts or {})}.items():
            self.put(site, key, part)
        if new.cls in DICTS:
            self.put(site, KEYS, new.keys)
        if new.cls is defaultdict:
            self.put(site, ITEMS, self.made_by(x))
        if new.cls is Counter:  # reads zero for a key that is missing
            self.put(site, ITEMS, Held(Scalar("int"), frozenset()))
        self.bind(x, Held(NOTHING, frozenset([site])))

    def site(self, x: str) -> str:
        """The site of the objects that a statement with this name makes."""
        return x if self.function is None else f"{x} of {id(self.function)}"

    def made_by(self, x: str) -> Held:
        """What a new defaultdict holds for a key that is missing."""
        factory = self.new[x].factory
        if factory in (int, float, complex):
            return Held(Scalar(factory.__name__), frozenset())
        if factory not in (list, dict):
            return EMPTY if factory is None else ANYTHING
        site = f"{self.site(x)}[]"
        self.classes[site], self.shared.factories[site] = factory, None
        self.put(site, ITEMS, EMPTY)
        self.put(site, KEYS, EMPTY)
        return Held(NOTHING, frozenset([site]))

    def keys_of(self, x: Any, kind: KindOf) -> Held:
        """The positions of the items of a list, or the keys of a dict."""
        if self.are(x, kind, list, deque):
            return Held(Scalar("int"), frozenset())
        return self.read(x, KEYS, kind) if self.are(x, kind, *DICTS) else ANYTHING

    def copied(self, target: str, x: Any, kind: KindOf) -> Kind:
        found = self.read(x, ITEMS, kind)
        is_list = self.are(x, kind, list, deque)
        classes = {self.classes.get(site) for site in self.held(x, kind).sites or ()}
        if is_list:
            self.new[target] = New(list, found)
            if found == EMPTY and not self.shared.is_filled:
                self.shared.waits = True
                return NOTHING
        elif len(classes) == 1 and self.are(x, kind, *DICTS):
            sites = self.held(x, kind).sites or frozenset()
            made = {self.shared.factories.get(site, ANYTHING) for site in sites}
            factory = made.pop() if len(made) == 1 else ANYTHING
            cls = next(cls for cls in DICTS if cls in classes)
            places = [key for site in sorted(sites) for key in self.shared.items.get(site, ())]
            parts = {key: self.read(x, key, kind) for key in places}
            rest = self.together(self.slots.get((site, ITEMS), EMPTY) for site in sites)
            self.new[target] = New(cls, found, self.keys_of(x, kind), {**parts, ITEMS: rest}, factory)
        return List(None, self.as_kind(found)) if is_list and found.sites == frozenset() else UNKNOWN

    def copied_whole(self, found: Held) -> Kind:
        """The kind of a copy in which lists are copied as well; nothing where one has no items yet."""
        if found.sites == frozenset() or not found.is_object or found.is_optional:
            return self.as_kind(found) if found.sites == frozenset() else UNKNOWN
        sites = sorted(found.sites or ())
        if any(self.classes.get(site) is not list for site in sites):
            return UNKNOWN
        items = self.copied_whole(self.items_of(sites))
        return items if items is UNKNOWN or isinstance(items, Nothing) else List(None, items)

    def items_of(self, sites: Iterable[str]) -> Held:
        """What the items of lists of these sites may be."""
        return self.stored.get(ITEMS, EMPTY).joined(
            self.together(self.slots.get((site, ITEMS), EMPTY) for site in sites)
        )

    def are(self, x: Any, kind: KindOf, *classes: type) -> bool:
        """Whether an atom surely is an object of one of the classes."""
        sites = self.held(x, kind).sites
        return bool(sites) and all(self.classes.get(s) in classes for s in sites or ())

    def known_kinds(self, kinds: Mapping[str, Kind]) -> dict[str, Kind]:
        """The kinds of names that the memory tells: those found with it, and of objects the classes."""
        found = {n: k for n, k in kinds.items() if not isinstance(k, Unknown)}
        for name, held in self.names.items():
            classes = {self.classes.get(site) for site in held.sites or ()}
            if not self.functions.keys().isdisjoint(held.sites or ()):
                if isinstance(kind := self.as_kind(held), Literal):
                    found.setdefault(name, kind)
            elif held.is_object and not held.is_optional and name not in found:
                cls = classes.pop() if len(classes) == 1 else None
                if cls is list:
                    found[name] = List(None, UNKNOWN)
                else:
                    found[name] = REFERENCE if cls in (None, deque, *DICTS) else Instance(cls)
        return found

    # ------------------------------------------------------------ names and slots

    def of_kind(self, kind: Kind) -> Held:
        """What a value of a kind, that is no object with a site yet, may be."""
        return self.shared.of_kind(kind)

    def as_kind(self, held: Held) -> Kind:
        """The kind of what is no object, and of one function."""
        return self.shared.as_kind(held)

    def held(self, atom: Any, kind: KindOf) -> Held:
        """What an atom may be."""
        if isinstance(atom, gast.Name) and atom.id in self.names:
            found = self.names[atom.id]
            return found.joined(self.of_kind(kind(atom))) if atom.id in self.open else found
        known = kind(atom)
        if isinstance(known, (Dict, List, Record)) and self.is_outer(atom) and not _is_inert(known):
            return self.given(known)
        return self.of_kind(known)

    def is_outer(self, atom: Any) -> bool:
        """Whether an atom is an object of an outer scope."""
        return isinstance(atom, (gast.Name, gast.Attribute)) and self.program.resolve(atom) is not MISSING

    def bind(self, name: str, found: Held) -> None:
        self.followed = name
        self.growth += _grown(self.names, name, found)

    def put(self, site: str, key: Any, found: Held) -> None:
        if isinstance(key, Item):
            if self.classes.get(site) not in DICTS:
                key = ITEMS
            elif key not in (known := self.shared.items.setdefault(site, [])):
                known.append(key)
        self.grow(self.slots, (site, key), found)

    def grow(self, table: dict[Any, Held], key: Any, found: Held) -> None:
        self.growth += self.shared.grow(table, key, found)

    def together(self, parts: Any) -> Held:
        found = EMPTY
        for part in parts:
            found = found.joined(part)
        return found

    def place(self, key: Any, is_field: bool, kind: KindOf) -> Any:
        """The key of the slot of an attribute, where it is known, or of an item: an Item, a set of these, or
        ITEMS.
        """
        if is_field:
            return key.value if isinstance(key, gast.Constant) else None
        while (found := item_of(kind(key))) is ITEMS and getattr(key, "id", "") in self.sources:
            is_looped, key = self.sources[key.id]
            if is_looped:
                match kind(key):
                    case Tuple(items) | List(items) if items:
                        places = frozenset(map(item_of, items))
                        return ITEMS if ITEMS in places else places
                return ITEMS
        return found

    def read(self, x: Any, key: Any, kind: KindOf, is_held: bool = False) -> Held:
        """What a slot of an object may hold; with ITEMS, any item. Where the object holds it (`is_held`), its
        class is not asked.
        """
        if isinstance(key, frozenset):
            return self.together(self.read(x, k, kind) for k in key)
        base, sites, *_ = self.held(x, kind)
        if self.is_lost or key is None or sites is None or not isinstance(base, Nothing):
            return ANYTHING
        is_item = isinstance(key, Item)
        found = self.stored.get(ITEMS if is_item else key, EMPTY)
        for site in sorted(sites):
            keys = [ITEMS] if is_item else [key]
            if is_item and self.classes.get(site) in DICTS:
                keys.append(key)
            elif key == ITEMS:
                keys += self.shared.items.get(site, ())
            if (site, keys[0]) not in self.slots:
                self.unread.add((site, keys[0]))
            for slot in keys:
                found = found.joined(self.slots.get((site, slot), EMPTY))
            if not is_held:
                found = found.joined(self.from_class(site, keys[0]))
        return found

    def from_class(self, site: str, key: Any) -> Held:
        """What is read where an object does not hold an attribute itself; containers like arguments."""
        found = self.shared.default(self.classes.get(site), key)
        if isinstance(found.kind, (Dict, List, Record)) and not _is_inert(found.kind):
            found = self.given(found.kind)
            self.shared.inherited |= found.sites or frozenset()
        return found

    def parts(self, x: Any, kind: KindOf) -> list[Held]:
        """What the slots for items of an object may hold, each."""
        sites = self.held(x, kind).sites
        if sites is None:
            return [ANYTHING]
        keys = dict.fromkeys(key for site in sorted(sites) for key in self.shared.items.get(site, ()))
        return [self.read(x, key, kind) for key in keys] or [self.read(x, ITEMS, kind)]

    def part(self, x: Any, key: Any, is_field: bool, is_element: bool, kind: KindOf) -> Held | None:
        """An attribute, item or element of a value that is no object; None of others."""
        base = self.held(x, kind)
        if not is_field and self.is_inert(x, base.kind):
            return Held(element_kind(base.kind), frozenset())
        if base.parts is not None and not is_field and not base.is_optional:
            position = key.value if isinstance(key, gast.Constant) else None
            if isinstance(position, int) and position < len(base.parts):
                return base.parts[position]
            return self.together(base.parts)
        if base.sites != frozenset() or not isinstance(base.kind, (Array, Numeric, Scalar, Text, Tuple)):
            return None
        if is_field:
            found = attribute_kind(base.kind, key.value) if isinstance(key, gast.Constant) else UNKNOWN
        else:
            found = element_kind(base.kind) if is_element else subscript_kind(base.kind, [kind(key)])
        return self.of_kind(found)

    def is_inert(self, x: Any, kind: Kind) -> bool:
        """Whether an atom of a kind is a list of values without derivatives that the heap does not hold."""
        return _is_inert(kind) and x.id not in self.names and ITEMS not in self.stored

    def write(self, x: Any, key: Any, value: Held) -> None:
        if key is None:  # an attribute whose name is dynamic
            self.is_lost = True
            return
        if isinstance(key, frozenset):
            for k in sorted(key, key=repr):
                self.write(x, k, value)
            return
        is_known = isinstance(x, gast.Name) and x.id not in self.open
        found = self.names.get(x.id, ANYTHING) if is_known else ANYTHING
        shared = self.shared
        is_given = found.sites is not None and not found.sites.isdisjoint(shared.sites.values())
        is_inherited = found.sites is not None and not found.sites.isdisjoint(shared.inherited)
        if found.sites is None or is_inherited or (shared.is_cut and is_given):
            self.grow(self.stored, ITEMS if isinstance(key, Item) else key, value)
        for site in sorted(found.sites or ()):
            self.put(site, key, value)

    def given(self, kind: Kind) -> Held:
        """An argument, or a part of one, with all that it holds. One object may be held in several places, so
        that all objects of a class are one site, and all lists or dicts of one kind.
        """
        if not isinstance(kind, (List, Dict, Record)):
            known = self.of_kind(kind)
            self.shared.is_cut = self.shared.is_cut or known.sites is None
            return known
        cls = _class_of(kind)
        sites = self.shared.sites
        site = sites.setdefault(cls if isinstance(kind, Record) else kind, f"<{len(sites)}>")
        self.classes[site] = cls
        if kind not in self.shared.entered:
            self.shared.entered.add(kind)
            parts: list[tuple[Any, Kind]] = []
            match kind:
                case List(items, element):
                    parts = [(ITEMS, k) for k in ([element] if items is None else items)]
                case Dict(pairs):
                    parts = [(Item(key), k) for key, k in pairs]
                    parts += [(KEYS, kind_of(key, "")) for key, _ in pairs] + [(ITEMS, NOTHING)]
                case Record(_, fields):
                    parts = [*fields]
            for key, k in parts:
                self.put(site, key, self.given(k))
        return Held(NOTHING, frozenset([site]))


OF_HEAP = tuple(m.__name__ for m in (heap, heap_arrays, heap_keys, object_graph, slots))
READS = {  # with the position of the object
    "get_field": 1,
    "get_item": 1,
    "heap_constant": 0,
    "heap_element": 1,
    "heap_get": 1,
    "heap_number": 1,
    "heap_object": 0,
    "held_field": 0,
    "held_item": 0,
    "whole_field": 1,
    "whole_item": 1,
}
KEEPS = frozenset(  # changes that store nothing, or what is of the same kind as before
    [
        "clear_items", "delete_item", "heap_admit", "heap_clear", "heap_delete", "heap_order", "heap_replace",
        "hold_clear", "hold_delete", "hold_order", "new_heap", "order_items",
    ]
)
BIRTHS = frozenset(["born", "entered", "entered_field", "filled", "heap_admit", "heap_enter", "new_heap"])
CHANGES = KEEPS | BIRTHS | frozenset(
    [
        "append_item", "heap_append", "heap_insert",
        "heap_set", "heap_splice", "hold_append", "hold_field", "hold_insert", "hold_item",
        "hold_splice", "insert_item", "set_field", "set_item", "splice_items",
    ]
)
PUTS = frozenset(["append_item", "heap_append", "heap_insert", "hold_insert", "insert_item"])


def _sources(program: Program, several: set[str]) -> dict[str, tuple[bool, Any]]:
    """What the names that are bound once are bound to, or go over in a loop, as far as these may be keys."""
    found: dict[str, tuple[bool, Any]] = {}
    for s in statements_in(program.tree.body):
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Name() as source):
                found[name] = False, source
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call(func=func, args=[_, source])) if (
                program.resolve(func) is heap_keys.key_of
            ):
                found[name] = False, source
            case gast.For(target=gast.Name(id=name), iter=gast.Name() as source):
                found[name] = True, source
    return {name: source for name, source in found.items() if name not in several}


def _held_cached(program: Program) -> set[str]:
    """The names of what is read where a test says that an object holds it: `if holds_attribute(x, "a"):` in
    front of a read of `x.a`.
    """
    asked: dict[str, tuple[str, str]] = {}
    found = set()
    for s in statements_in(program.tree.body):
        match s:
            case gast.Assign(
                targets=[gast.Name(id=test)],
                value=gast.Call(func=func, args=[gast.Name(id=x), gast.Constant(value=str() as name)]),
            ) if program.resolve(func) is heap_keys.holds_attribute:
                asked[test] = x, name
            case gast.Assign(
                targets=[gast.Name(id=test)], value=gast.Call(func=func, args=[gast.Name(id=source)])
            ) if program.resolve(func) is bool and source in asked:
                asked[test] = asked[source]
            case gast.If(
                test=gast.Name(id=test),
                body=[
                    gast.Assign(
                        targets=[gast.Name(id=target)],
                        value=gast.Call(args=[_, gast.Name(id=x), gast.Constant(value=name), *_]),
                    ),
                    *_,
                ],
            ) if asked.get(test) == (x, name):
                found.add(target)
    return found


def makes_dict(value: Any, program: Program) -> bool:
    """Whether an expression makes an empty dict by a call of its class."""
    if not isinstance(value, gast.Call) or value.keywords or any(map(_is_starred, value.args)):
        return False
    function = program.resolve(value.func)
    return function in DICTS and len(value.args) == (function is defaultdict)


def _is_starred(node: Any) -> bool:
    return isinstance(node, gast.Starred)


def _only_operands(program: Program) -> tuple[set[str], set[str]]:
    """The names that are read by operators only, which raise for None, and by helpers behind these; those
    that are read only where they are unpacked.
    """
    behind = (stored_in, heap_arrays.holders_of, heap_arrays.with_item)
    operands: set[str] = set()
    unpacked: set[str] = set()
    others: set[str] = set()
    copies: list[tuple[str, str]] = []
    for s in statements_in(program.tree.body):
        match s:
            case gast.Assign(value=gast.BinOp() as value):
                operands.update(names_read(value))
                continue
            case gast.Assign(targets=[gast.Tuple()], value=gast.Name(id=name)):
                unpacked.add(name)
                continue
            case gast.Assign(value=gast.Subscript(value=gast.Name(id=base), slice=index)):
                operands.add(base)
                others.update(names_read(index))
                continue
            case gast.Assign(value=gast.Call(func=func)) if program.resolve(func) in behind:
                continue
            case gast.Assign(
                targets=[gast.Name(id=target)], value=gast.Call(func=func, args=[gast.Name(id=name)])
            ) if program.resolve(func) is object_graph.plain_number:
                copies.append((target, name))
                continue
        others.update(names_read(header_of(s)))
    for target, name in copies[::-1]:
        (operands if target in operands - others else others).add(name)
    return operands - others - unpacked, unpacked - others - operands


def _is_true(node: Any) -> bool:
    return isinstance(node, gast.Constant) and node.value is True


def item_of(key: Kind) -> Any:
    """The key of the slot of the item with a key of this kind."""
    match key:
        case Literal(value) if value is None or isinstance(value, (bytes, int, str, Enum)):
            return Item(value)
        case Tuple(items) if all(isinstance(item_of(k), Item) for k in items):
            return Item(tuple(item_of(k).key for k in items))
        case Nothing():  # of a key that is not found yet
            return Item(NOTHING)
    return ITEMS


def _class_of(kind: Kind) -> type:
    return kind.cls if isinstance(kind, Record) else list if isinstance(kind, List) else dict


def _holds_none(kind: Kind) -> bool:
    """Whether values of a kind surely are no objects and hold none."""
    match kind:
        case Tuple(items):
            return all(map(_holds_none, items))
        case Literal(value):
            return isinstance(value, (bool, int, float, complex, str, Enum)) or _is_alone(value)
    return isinstance(kind, (Scalar, Array, Numeric, EnumMember, Text, Set, Nothing))


def _is_inert(kind: Kind) -> bool:
    return isinstance(kind, List) and _holds_none(kind.element) and is_differentiable(kind.element) is False


def _is_alone(value: Any) -> bool:
    """Whether a value is a function without values of its own, but for classes and functions of modules."""
    is_function = isinstance(value, FUNCTIONS)
    return is_function and all(isinstance(x, (type, FUNCTIONS)) and not _holds_any(x) for x in held_by(value))


def _holds_any(value: Any) -> bool:
    return not isinstance(value, type) and any(True for _ in held_by(value))
