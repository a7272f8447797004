"""Reads and sets attributes and items as they stand, where all objects of a program with a heap are known.

    pos_1 = heap_number(heap, b, "pos", True)      pos_1 = get_field(heap, b, "pos")
    heap = heap_set(heap, b, "pos", pos_2, True)   heap = set_field(heap, b, "pos", pos_2, 0.0)

The helpers of the heap ask at run time who may change an object, what its class does, and what a slot holds.
`Memory` answers this for the program as a whole: if one change is not known, all stay as they are.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from enum import Enum
from functools import cached_property
from typing import Any

import gast

from ..kinds.lattice import REALS, Array, Literal, Nothing, Numeric, Scalar, Text, Tuple, widen
from ..kinds.memory import ANYTHING, DICTS, EMPTY, ITEMS, Held, Memory, settled_memory
from ..kinds.shape_relations import is_differentiable
from ..runtime import heap, heap_arrays, heap_keys, object_graph, slots
from ..runtime.mutation import refuse_shared
from ..runtime.records import made_like
from ..transforms.analyses.facts import Facts
from ..transforms.trees.bind_objects import Objects
from ..transforms.trees.helpers import gives_items_lazily, has_views_of_dict
from ..transforms.trees.nodes import (
    assign,
    blocks_of,
    bound_here,
    call,
    constant,
    load,
    located,
    names_read,
    statements_in,
    tuple_of,
)
from ..transforms.trees.program import MISSING, Program
from ..transforms.trees.rebuild import map_blocks, rebuilt
from ..values.objects import ABSENT, is_plain, lookup, sets_plainly, shadows_fields
from .array_holders import ArrayHolders

__all__ = ["plain_slots"]

KEPT = frozenset({"arguments_of", "check_members", "heap_admit", "heap_view"})  # helpers that may stay
KEPT |= {"items_of", "mapped", "new_heap", "places_of", "set_element", "set_items", "the_list", "the_set"}
RESIZING = (
    heap.heap_append,
    heap.heap_clear,
    heap.heap_delete,
    heap.heap_insert,
    heap.heap_order,
    heap.heap_set,
    heap.heap_splice,
)
CHANGED = frozenset(function.__name__ for function in RESIZING)
SLOT = type(type("WithSlot", (), {"__slots__": ("slot",)}).__dict__["slot"])


class _Unknown(Exception):
    """Something that the memory does not tell."""


def plain_slots(facts: Facts) -> Program:
    """The program with slots that are read and set as they stand; itself where not all are known, and where
    other functions share its heap.
    """
    if facts.program.memory is not None:
        return facts.program
    return with_plain_slots(facts) or facts.program


def with_plain_slots(facts: Facts) -> Program | None:
    """The program with slots that are read and set as they stand; None where not all are known."""
    program = facts.program
    memory = settled_memory(program, facts.kinds, facts.kind)
    if memory is None or not _may_change_arguments(program):
        return None
    writer = _Writer(facts, memory)
    try:
        body = writer.block(program.tree.body)
    except _Unknown:
        return None
    if writer.copies and writer.others:  # these may hold objects of the copies, without their adjoints
        return None
    tree = rebuilt(program.tree, body=body)
    return program.with_tree(tree, names=writer.names, bindings=writer.objects.all_bindings())


def _may_change_arguments(program: Program) -> bool:
    """Whether a program may change the objects that it is given."""
    for s in statements_in(program.tree.body):
        match s:
            case gast.Assign(value=gast.Call(func=func, args=[_, _, _, _])) if (
                program.resolve(func) is heap.heap_enter
            ):
                return False
    return True


def _is_minus_one(node: Any) -> bool:
    match node:
        case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=1)):
            return True
    return getattr(node, "value", None) == -1


def bindings_of(program: Program) -> dict[str, list[Any]]:
    """The statements that bind each name."""
    found: dict[str, list[Any]] = {}
    for s in statements_in(program.tree.body):
        for name in bound_here(s):
            found.setdefault(name, []).append(s)
    return found


class _Writer:
    def __init__(self, facts: Facts, memory: Memory) -> None:
        self.facts, self.memory, self.program = facts, memory, facts.program
        self.names = facts.program.names.copy()
        self.objects = Objects(facts.program, self.names)
        self.steady = self.find_steady()
        self.keys: dict[str, Any] = {}  # the indices that normalised keys are made of
        self.same: dict[str, Any] = {}  # those that are indices already
        self.bound = bindings_of(facts.program)
        self.copies = self.others = False  # of lists of objects; whether other values enter the heap
        self.holders = ArrayHolders(facts, memory)
        self.before: list[Any] = []  # statements in front of the present one
        self.replaced: set[int] = set()  # replacements of arrays that the next store does as well

    def block(self, statements: list[Any]) -> list[Any]:
        found = []
        for k, s in enumerate(statements):
            if self.is_set_next(s, statements[k + 1 :]):
                self.replaced.add(id(s))
            match s:
                case gast.Expr(value=gast.Call(func=func)) if (
                    self.program.resolve(func) is heap_arrays.note_outside
                ):
                    continue
                case gast.Expr(value=gast.Call(func=func, args=[_, gast.Name(id=keys)])) if (
                    self.program.resolve(func) is heap_keys.same_length and keys in self.steady
                ):
                    continue
                case gast.Expr(value=gast.Call(func=func, args=[x])) if (
                    self.program.resolve(func) in (refuse_shared, object_graph.check_number)
                    and self.held(x).sites == frozenset()
                    and isinstance(widen(self.held(x).kind), Scalar)
                ):
                    continue
                case gast.Expr(value=gast.Call(func=func, args=[x, *members])) if (
                    self.program.resolve(func) is object_graph.check_members
                    and self.holds_none_of(x, {m.value for m in members})
                ):
                    continue
                case gast.Expr(value=gast.Call(func=func, args=[x, called])) if (
                    self.program.resolve(func) is object_graph.check_function
                    and self.held(x) == self.memory.of_kind(Literal(self.program.resolve(called)))
                ):
                    continue
                case gast.Expr(value=gast.Call(func=func, args=[x, *named])) if self.is_known(func, x, named):
                    continue
            found += self.made_first(s)
            others, s = self.replaced_elsewhere(s)
            found += others
            written = self.entered(s) or self.results(self.statement(map_blocks(s, self.block)))
            found += [*self.before, *written]
            self.before = []
        return found

    def is_known(self, func: Any, x: Any, named: list[Any]) -> bool:
        """Whether a check that an object is a dict, or a list, needs not be made; of a dict also that a
        method that is `named` is that of dicts.
        """
        function, sites = self.program.resolve(func), self.held(x).sites or ()
        if function is object_graph.mapped:
            is_own = bool(named) and self.may_be(x, Counter)
            return self.are_dicts(x) and not is_own and not self.held(x).is_optional
        is_list = bool(sites) and {self.memory.classes.get(site) for site in sites} <= {list, deque}
        return function is object_graph.the_list and is_list and not self.held(x).is_optional

    def made_first(self, s: Any) -> list[Any]:
        """In front of a read of a defaultdict the making of an item that is missing."""
        match s:
            case gast.Assign(value=gast.Call(func=func, args=[_, x, key])) if (
                self.program.resolve(func) in (heap.heap_get, heap.heap_number)
                and self.memory.names.get(x.id, ANYTHING).is_object
                and self.may_be(x, defaultdict)
            ):
                made = self.helper("made_item", x, self.same.get(getattr(key, "id", ""), key))
                return [located(gast.Expr(value=made), s)]
        return []

    def replaced_elsewhere(self, s: Any) -> tuple[list[Any], Any]:
        """The changes of other attributes in which an object may hold an array that is replaced, and the
        statement after them.
        """
        match s:
            case gast.Assign(value=gast.Call(func=func, args=[token, new, holders])) if (
                self.program.resolve(func) is heap.heap_replace
            ):
                pass
            case _:
                return [], s
        try:
            slot, keys = self.holders.holder(holders)
        except LookupError:  # `replace` meets it again
            return [], s
        if slot is None:
            return [], s
        code: list[Any] = []
        for key in keys:
            found, test = self.names.temporary(key), self.names.temporary("is_held")
            one, either = (load(self.names.temporary(token.id)) for _ in range(2))
            is_old = gast.Compare(
                left=load(found), ops=[gast.Is()], comparators=[self.holders.changed(holders)]
            )
            changed = self.store(token, load(slot.x), constant(key), new, True)
            body = [assign(one.id, changed, s), assign(either.id, one, s)]
            branch = gast.If(test=load(test), body=body, orelse=[assign(either.id, token, s)])
            code += [
                assign(found, self.helper("held_field", load(slot.x), constant(key)), s),
                assign(test, located(is_old, s), s),
                located(branch, s),
            ]
            token = either
        return code, rebuilt(s, value=rebuilt(s.value, args=[token, new, holders]))

    def entered(self, s: Any) -> list[Any]:
        """The birth of a display of numbers and objects, or of an object that is made with its attributes,
        part by part; empty for other statements.
        """
        match s:
            case gast.Assign(
                targets=[gast.Name(id=target)], value=gast.Call(func=func, args=[token, gast.Name(id=x), *_])
            ) if self.program.resolve(func) is heap.heap_enter and self.memory.site(x) in self.memory.classes:
                pass
            case _:
                return []
        helper = "entered"
        match self.bound.get(x):
            case [gast.Assign(value=gast.Call(func=func, keywords=given))] if (
                self.program.resolve(func) is made_like
            ):
                helper = "entered_field"
                keys, items = [constant(k.arg) for k in given], [k.value for k in given]
            case [gast.Assign(value=gast.List(elts=items))]:
                keys = [constant(k) for k in range(len(items))]
            case [gast.Assign(value=gast.Dict(keys=keys, values=items))] if self.are_distinct(keys):
                pass
            case _:
                return []
        held = [(k, v, self.held(v)) for k, v in zip(keys, items, strict=True)]
        for _, v, found in held:
            if isinstance(v, gast.Starred) or not (found.is_object or self.carries_nothing(found)):
                self.number(found)
        numbers = [(k, v, f) for k, v, f in held if not isinstance(v, gast.Constant)]
        carrying = [(k, v) for k, v, f in numbers if not self.carries_nothing(f)]
        tokens = [self.names.temporary(target) for _ in carrying[1:]]
        code = []
        for (k, v), name in zip(carrying, [*tokens, target], strict=False):
            code.append(assign(name, self.helper(helper, token, load(x), k, v, self.like(v)), s))
            token = load(name)
        return code or [assign(target, self.helper("born", token, load(x)), s)]

    def are_distinct(self, keys: list[Any]) -> bool:
        """Whether the keys of a display are constants, each another one."""
        found: list[Any] = []
        for key in keys:
            value = key.value if isinstance(key, gast.Constant) else self.program.resolve(key)
            if value is MISSING or value in found or not isinstance(value, (str, int, Enum, type)):
                return False
            found.append(value)
        return True

    def results(self, s: Any) -> list[Any]:
        """A statement; the object that a function returned is known as one."""
        match s:
            case gast.Assign(
                targets=[gast.Tuple(elts=[token, gast.Name(id=name) as result])], value=gast.Name(id=found)
            ) if found in self.memory.results and self.held(result).is_object:
                new = self.names.temporary(name)
                targets = gast.Tuple(elts=[token, rebuilt(result, id=new)], ctx=gast.Store())
                return [rebuilt(s, targets=[targets]), assign(name, self.helper("known", load(new)), s)]
        return [s]

    def is_set_next(self, s: Any, others: list[Any]) -> bool:
        """Whether a statement replaces an array in the slot that the next change sets to the same array."""
        match s:
            case gast.Assign(value=gast.Call(func=func, args=[_, new, holders])) if (
                self.program.resolve(func) is heap.heap_replace
            ):
                slot = self.holders.read_slot(holders)
            case _:
                return False
        for other in others:
            match other:
                case gast.Assign(targets=[gast.Name(id=token)], value=gast.Call(args=args) as value) if (
                    token in self.memory.heaps
                ):
                    if slot is None or self.holders.helper(value) != "heap_set":
                        return False
                    _, x, key, stored, *field = args
                    roots = [self.holders.root(v) for v in (stored, new) if isinstance(v, gast.Name)]
                    return roots[1:] == roots[:1] and self.holders.is_same(slot, x, key, bool(field))
            if blocks_of(other):
                return False
        return False

    def holds_none_of(self, x: Any, names: set[str]) -> bool:
        """Whether the objects that a name may be surely have no attributes of these names."""
        sites = self.held(x).sites
        held = {key for site, key in self.memory.slots if sites is None or site in sites}
        return bool(sites) and names.isdisjoint(held | self.memory.stored.keys())

    def find_steady(self) -> set[str]:
        """The names for the positions in lists that keep their lengths in the loops over them."""
        made, found = {}, set()
        loops: dict[str, list[Any]] = {}
        for s in statements_in(self.program.tree.body):
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call(func=func, args=[x])) if (
                    self.program.resolve(func) is heap_keys.keys_of
                ):
                    made[name] = self.held(x).sites
                case gast.For(iter=gast.Name(id=name)):
                    loops.setdefault(name, []).append(s)
        for name, sites in made.items():
            classes = {self.memory.classes.get(site) for site in sites or ()}
            if sites is None or not (classes == {list} or classes <= {*DICTS}):
                continue
            if not any(sites & self.resized(s) for s in loops.get(name, ())):
                found.add(name)
        return found

    def resized(self, loop: Any) -> frozenset[str]:
        """The lists and dicts that may get longer in a loop."""
        found: frozenset[str] = frozenset()
        for s in statements_in(loop.body):
            match s:
                case gast.Assign(value=gast.Call(func=func, args=[_, x, *_])) if (
                    self.program.resolve(func) in RESIZING
                ):
                    sites = self.held(x).sites or frozenset(self.memory.classes)
                    is_set = self.program.resolve(func) is heap.heap_set
                    found |= {site for site in sites if not is_set or self.memory.classes[site] in DICTS}
                case gast.Assign(value=gast.Call(func=func)) if (
                    self.memory.is_linked(self.program.resolve(func))
                ):
                    found |= self.memory.classes.keys()
        return found

    def statement(self, s: Any) -> Any:
        match s:
            case gast.Assign(
                targets=[gast.Name(id=target)],
                value=gast.Call(func=gast.Attribute(value=gast.Name() as x, attr="copy")),
            ) if x.id in self.memory.new and target in self.memory.new:  # which is a copy itself
                return assign(target, x, s)
            case gast.Assign(targets=[gast.Name(id=target)], value=gast.Call(func=func, args=args) as value):
                function = self.program.resolve(func)
                module = None if function is MISSING else getattr(function, "__module__", "")
                if function is heap_keys.keys_of and target in self.steady:
                    name = "keys_in" if self.are_dicts(args[0]) else "positions"
                    return assign(target, self.helper(name, args[0]), s)
                if function is has_views_of_dict and self.are_dicts(args[0]):
                    return assign(target, constant(True), s)
                if function is gives_items_lazily and self.are_among(args[0], (list, deque, *DICTS)):
                    return assign(target, constant(False), s)
                if function is object_graph.mapped and self.are_dicts(args[0]):
                    return assign(target, args[0], s)
                is_last = function is heap_keys.last_key or (
                    function is heap_keys.key_of and _is_minus_one(args[1])
                )
                if is_last and self.held(args[0]).sites and not self.are_dicts(args[0]):
                    self.check_lists(args[0])
                    count = call(load(self.objects.name(len)), args[0])
                    return assign(target, gast.BinOp(left=count, op=gast.Sub(), right=constant(1)), s)
                if function is heap_keys.key_of:
                    self.keys[target] = args[1]
                    if self.are_dicts(args[0]) or self.lowest(args[1]) >= 0:
                        self.same[target] = args[1]
                        return assign(target, args[1], s)
                if self.memory.is_linked(function):
                    return s
                if module in (heap.__name__, object_graph.__name__):
                    given = [self.same.get(getattr(a, "id", ""), a) for a in args]
                    new = self.plain(target, function.__name__, given, id(s) in self.replaced)
                    return s if new is None else assign(target, new, s)
                if function is heap_arrays.holders_of:
                    return assign(target, tuple_of([]), s)
                self.refuse_heaps(value)
            case gast.Assign(targets=[gast.Name(id=target)], value=gast.Name(id=source)):
                if (target in self.memory.heaps) != (source in self.memory.heaps):
                    raise _Unknown
            case gast.If() | gast.For() | gast.While() | gast.Try():
                pass
            case gast.Assign(targets=[gast.Tuple()], value=gast.Name(id=found)) if (
                found in self.memory.results
            ):
                pass
            case gast.Assign(value=gast.Tuple(elts=[token, result])) if self.is_result(token):
                self.refuse_heaps(result)
            case _:
                self.refuse_heaps(s)
        return s

    def is_result(self, token: Any) -> bool:
        """Whether a tuple with this name is the result of a function that shares the heap."""
        return self.memory.function is not None and getattr(token, "id", "") in self.memory.heaps

    def refuse_heaps(self, node: Any) -> None:
        if self.memory.heaps.intersection(names_read(node)):
            raise _Unknown

    def plain(self, target: str, name: str, args: list[Any], is_set_next: bool) -> Any:
        """The plain form of a call of a helper; None for one that may stay."""
        if name in CHANGED and not self.sites(args[1]).isdisjoint(self.memory.shared.inherited):
            raise _Unknown  # other objects of the class hold it as well
        match name, args:
            case "new_heap", [_, *_]:
                return call(load(self.objects.name(heap.new_heap, "new_heap")))
            case "heap_replace", [token, new, holders]:
                return self.replace(token, new, holders, is_set_next)
            case "reference", [x, *cls]:
                is_outer = self.program.resolve(x) is not MISSING
                given = self.memory.names.get(target, ANYTHING) if is_outer else self.held(x)
                if given == EMPTY:  # not reached
                    return None
                if not given.is_object:
                    raise _Unknown
                is_one = not cls or self.are_of(given, self.program.resolve(cls[0]))
                is_known = is_one and not given.is_optional
                return self.helper("known", x) if is_known else None
            case "plain_number", [x] if self.held(x).sites == frozenset():
                return x
            case ("heap_number" | "heap_get" | "heap_element"), [_, x, key] if self.is_value(x):
                return gast.Subscript(value=x, slice=key, ctx=gast.Load())
            case "heap_constant", [x, key] if self.is_value(x):
                return gast.Subscript(value=x, slice=key, ctx=gast.Load())
            case ("heap_number" | "heap_get"), [token, x, key, *field]:
                return self.read(x, key, bool(field), token, target in self.memory.held_cached)
            case ("heap_object" | "heap_constant"), [x, key, *options]:
                is_field = bool(options) and getattr(options[0], "value", None) is True
                found = self.slot(x, key, is_field)
                is_constant = is_differentiable(found.kind) is False
                if not is_constant or (name == "heap_constant" and not self.are_functions(found)):
                    raise _Unknown
                if len(options) > 1 and not self.are_of(found, self.program.resolve(options[1])):
                    raise _Unknown
                return self.helper("held_field" if is_field else "held_item", x, self.index(key))
            case "heap_set", [token, x, key, value, *field]:
                return self.store(token, x, key, value, bool(field))
            case "heap_append", [token, x, key, value]:
                self.slot(x, key, False)
                self.check_lists(x)
                if self.holds(x, ITEMS, value):
                    return self.helper("hold_append", token, x, value)
                return self.helper("append_item", token, x, key, value, self.like(value))
            case ("heap_copy" | "heap_view"), _ if self.memory.is_handed_on(target, args, self.facts.kind):
                return args[1]
            case ("heap_copy" | "heap_view"), [_, x, *_] if self.memory.is_inert(x, self.held(x).kind):
                return x
            case ("heap_copy" | "heap_view"), [token, x, _, *deep] if (
                name == "heap_copy" or (target in self.memory.unpacked_only and self.held(x).is_object)
            ):
                found = self.slot(x, None, False)
                if self.are_dicts(x):
                    for part in self.memory.parts(x, self.facts.kind):
                        if part.sites is None or not self.carries_nothing(part):
                            self.number(part)
                    self.copies = self.copies or found.sites != frozenset()
                    return self.helper("copy_items", token, x)
                self.check_lists(x)
                if found.is_optional:
                    raise _Unknown
                if self.holds_objects(x):
                    if deep and found.sites:
                        return self.rows(token, x, found)
                    self.copies = self.copies or found.sites != frozenset()
                    return self.helper("held_items", x)
                return self.helper("read_items", token, x)
            case "heap_insert", [token, x, key, value]:
                self.check_lists(x)
                if self.holds(x, ITEMS, value):
                    return self.helper("hold_insert", token, x, key, value)
                return self.helper("insert_item", token, x, key, value, self.like(value))
            case "heap_delete", [token, x, key]:
                self.slot(x, key, False)
                if self.may_be(x, defaultdict, Counter):  # a number made again has the adjoint of the old one
                    raise _Unknown
                is_held = self.are_dicts(x)  # the next item of this key has an adjoint of its own
                if not is_held:
                    self.check_lists(x)
                    is_held = self.holds_objects(x)
                return self.helper("hold_delete" if is_held else "delete_item", token, x, key)
            case "heap_clear", [token, x]:
                self.slot(x, None, False)
                if self.may_be(x, defaultdict, Counter):
                    raise _Unknown
                return self.helper("hold_clear" if self.holds_objects(x) else "clear_items", token, x)
            case "heap_order", [token, x, order]:
                self.check_lists(x)
                return self.helper("hold_order" if self.holds_objects(x) else "order_items", token, x, order)
            case "heap_splice", [token, x, items, record]:
                self.check_lists(x)
                if self.holds_objects(x):
                    return self.helper("hold_splice", token, x, items, record)
                new = self.memory.new.get(items.id)
                self.number(ANYTHING if new is None else new.items)
                return self.helper("splice_items", token, x, items, record)
            case "heap_element", [token, x, key]:
                if self.are_dicts(x):
                    self.keys[target] = key
                    return key
                return self.read(x, key, False, token)
            case "heap_enter", [token, gast.Name(id=x), *_] if self.held(args[1]).sites == frozenset():
                return token
            case "heap_enter", [token, gast.Name(id=x), *_]:
                held = self.memory.names.get(x)
                snapshot = self.made_by(args[2])
                is_made = held is not None and self.memory.site(x) in self.memory.classes
                if snapshot in (object_graph.items_of, object_graph.places_of) and is_made:
                    if self.holds_no_numbers(x):
                        return self.helper("born", token, args[1])
                    return self.helper("filled", token, args[1], args[2])
                known = (object_graph.arguments_of, object_graph.items_of)
                self.others = self.others or snapshot not in known
                return None
            case "places_of", [gast.Name(id=x)] if x in self.memory.new:  # made of what is in the heap
                return call(load(self.objects.name(object_graph.items_of, "items_of")), args[0])
            case _ if name in KEPT:
                return None
        raise _Unknown

    def made_by(self, node: Any) -> Any:
        """The function that returned the value of a name."""
        match self.bound.get(getattr(node, "id", "")):
            case [gast.Assign(value=gast.Call(func=func))]:
                return self.program.resolve(func)
        return None

    def check_lists(self, x: Any) -> None:
        """Checks that a name is a list, whose items may move: none is None beside numbers."""
        found = self.memory.read(x, ITEMS, self.facts.kind)
        if found.is_optional and not isinstance(found.kind, Nothing):
            raise _Unknown
        if not {self.memory.classes.get(site) for site in self.sites(x)} <= {list, deque}:
            raise _Unknown

    def are_dicts(self, x: Any) -> bool:
        return self.are_among(x, DICTS)

    def are_among(self, x: Any, classes: tuple[type, ...]) -> bool:
        found = self.held(x).sites
        return bool(found) and {self.memory.classes.get(site) for site in found or ()} <= {*classes}

    def may_be(self, x: Any, *classes: type) -> bool:
        """Whether a name may be an object of one of the classes."""
        return any(self.memory.classes.get(site) in classes for site in self.sites(x))

    def is_value(self, x: Any) -> bool:
        """Whether an atom is a tuple, text, array or list of texts: no object of the heap."""
        found = self.held(x)
        if self.memory.is_inert(x, found.kind):
            return True
        is_one = isinstance(found.kind, (Array, Literal, Text, Tuple)) and not found.is_optional
        return is_one and (found.sites == frozenset() or found.parts is not None)

    def holds_no_numbers(self, site: str) -> bool:
        """Whether an object has nothing in it when it is made, or only objects."""
        new = self.memory.new.get(site)
        return new is not None and isinstance(new.items.kind, Nothing) and new.items.sites is not None

    def read(self, x: Any, key: Any, is_field: bool, token: Any, is_held: bool = False) -> Any:
        found = self.slot(x, key, is_field, is_held)
        name = "field" if is_field else "item"
        if self.carries_nothing(found):
            return self.helper(f"held_{name}", x, self.index(key))
        self.number(found)
        is_whole = found.is_optional or isinstance(found.kind, Tuple)
        return self.helper(f"{'whole' if is_whole else 'get'}_{name}", token, x, key)

    def store(self, token: Any, x: Any, key: Any, value: Any, is_field: bool) -> Any:
        self.slot(x, key, is_field, is_held=True)
        if not self.sites(x).isdisjoint(self.memory.shared.inherited):
            raise _Unknown
        classes = set(map(self.memory.classes.get, self.sites(x)))
        if is_field:
            name = key.value
            for cls in classes:
                if cls is None:
                    raise _Unknown
                found = lookup(cls, name)
                is_set = sets_plainly(cls) and (not shadows_fields(found) or type(found) is SLOT)
                if not is_set:
                    raise _Unknown
        if self.holds(x, self.place(key, is_field), value):
            return self.helper("hold_field" if is_field else "hold_item", token, x, key, value)
        return self.helper("set_field" if is_field else "set_item", token, x, key, value, self.like(value))

    def replace(self, token: Any, new: Any, holders: Any, is_set_next: bool) -> Any:
        """The change of the slot that holds an array in place of which there is a new one."""
        try:
            changed = self.held(self.holders.changed(holders))
            kind = widen(changed.kind)
            if changed.sites == frozenset() and isinstance(kind, Scalar):  # a number stays
                return token
            slot, _ = self.holders.holder(holders)
        except LookupError:
            raise _Unknown from None
        if slot is None or is_set_next:
            return token
        if not isinstance(kind, Array):
            raise _Unknown
        return self.store(token, load(slot.x), slot.key, new, slot.is_field)

    # ------------------------------------------------------------ facts

    def holds(self, x: Any, key: Any, value: Any) -> bool:
        """Whether a slot holds objects and inactive values only; else the value must be a number."""
        if self.holds_objects(x, key):
            return True
        self.number(self.held(value))
        return False

    def holds_objects(self, x: Any, key: Any = ITEMS) -> bool:
        """Whether a slot holds objects and inactive values only; else it must hold numbers."""
        found = self.memory.read(x, key, self.facts.kind, self.is_computed(x, key))
        if self.carries_nothing(found) and found.sites is not None:
            return True
        self.number(found)
        return False

    def rows(self, token: Any, x: Any, found: Held) -> Any:
        """The copies of the lists of numbers that a list has."""
        if {self.memory.classes.get(site) for site in found.sites or ()} != {list}:
            raise _Unknown
        items = self.memory.items_of(found.sites or ())
        if items.sites != frozenset():
            raise _Unknown
        self.number(items)
        rows = self.names.temporary("rows")
        self.before.append(assign(rows, self.helper("held_items", x)))
        return self.helper("read_rows", token, load(rows))

    def is_computed(self, x: Any, name: Any) -> bool:
        """Whether a slot is that of a cached property, which is read where objects hold its value."""
        classes = map(self.memory.classes.get, self.sites(x)) if isinstance(name, str) else ()
        return any(isinstance(lookup(cls, name), cached_property) for cls in classes if cls is not None)

    def held(self, x: Any) -> Held:
        return self.memory.held(x, self.facts.kind)

    def sites(self, x: Any) -> frozenset[str]:
        """The objects that a name may be, which must be known; none where it is not reached."""
        found = self.held(x)
        if not found.is_object and found != EMPTY:
            raise _Unknown
        return found.sites or frozenset()

    def slot(self, x: Any, key: Any, is_field: bool, is_held: bool = False) -> Held:
        """What a slot holds; the classes of the objects must read and set it as it stands: a cached property
        where the objects hold its value.
        """
        if self.held(x).parts is not None:
            return self.memory.part(x, key, is_field, False, self.facts.kind) or ANYTHING
        for site in self.sites(x):
            cls = self.memory.classes.get(site)
            if not is_field:
                is_given = site in self.memory.shared.sites.values()  # which may be a cache
                is_plainly_read = cls in (list, deque, *DICTS)
                if cls in DICTS and is_given:
                    is_plainly_read = self.is_inactive(key)
            else:
                if cls is None or not isinstance(key, gast.Constant):
                    raise _Unknown
                found = lookup(cls, key.value)
                is_value = found is ABSENT or type(found) is SLOT or not hasattr(type(found), "__get__")
                is_value = is_value or (is_held and isinstance(found, cached_property))
                is_plainly_read = is_plain(cls) and is_value and lookup(cls, "__getattr__") is ABSENT
            if not is_plainly_read:
                raise _Unknown
        return self.memory.read(x, self.place(key, is_field), self.facts.kind, is_held)

    def place(self, key: Any, is_field: bool) -> Any:
        """The key of the slot of an attribute or item."""
        return ITEMS if key is None else self.memory.place(key, is_field, self.facts.kind)

    def is_inactive(self, key: Any) -> bool:
        """Whether a key carries no derivative."""
        key = self.index(key)
        if key is None or is_differentiable(self.held(key).kind) is False:
            return True
        return self.loop_over(key) is heap_keys.keys_of

    def index(self, key: Any) -> Any:
        """The index that a key is made of."""
        while isinstance(key, gast.Name):
            match self.keys.get(key.id), self.bound.get(key.id):
                case None, [gast.Assign(targets=[gast.Name()], value=gast.Name() as source)]:
                    key = source
                case None, _:
                    break
                case source, _:
                    key = source
        return key

    def loop_over(self, node: Any) -> Any:
        """The function whose result a loop with this target goes over."""
        match self.bound.get(getattr(node, "id", "")):
            case [gast.For(iter=gast.Name(id=name))]:
                match self.bound.get(name):
                    case [gast.Assign(value=gast.Call(func=func))]:
                        return self.program.resolve(func)
            case [gast.For(iter=gast.Call(func=func))]:
                return self.program.resolve(func)
        return None

    def lowest(self, node: Any) -> float:
        """A number that an index never is below."""
        match node:
            case gast.Constant(value=int() as value):
                return value
            case gast.BinOp(
                left=left, op=gast.Add() | gast.Sub() as op, right=gast.Constant(value=int() as by)
            ):
                return self.lowest(left) + (by if isinstance(op, gast.Add) else -by)
            case gast.Name(id=name):
                match self.bound.get(name):
                    case [gast.Assign(value=gast.BinOp() | gast.Name() as value)]:
                        return self.lowest(value)
                    case [gast.For(iter=gast.Call(args=args) as call_)]:
                        if self.program.resolve(call_.func) is not range or len(args) > 2:
                            return -math.inf
                        return 0 if len(args) == 1 else self.lowest(args[0])
                if self.loop_over(node) in (heap_keys.keys_of, slots.positions):
                    return 0
        return -math.inf

    def carries_nothing(self, found: Held) -> bool:
        """Whether values are objects, which have adjoints of their own, or inactive; or tuples of these."""
        parts = found.all_parts()
        if parts is None:
            return is_differentiable(found.kind) is False
        return all(map(self.carries_nothing, parts))

    def number(self, found: Held) -> None:
        """Checks that values are numbers, arrays of NumPy's or None, or tuples with these and objects."""
        for part in found.all_parts() or ():
            if part.sites is None or not self.carries_nothing(part):
                self.number(part)
        if found.all_parts() is not None:
            return
        kind = widen(found.kind)
        is_none = found.is_optional and isinstance(kind, Nothing)
        if found.sites != frozenset() or not (is_none or isinstance(kind, (Scalar, Array, Numeric))):
            raise _Unknown

    def are_functions(self, found: Held) -> bool:
        return found.sites is not None and found.sites <= self.memory.functions.keys()

    def are_of(self, found: Held, cls: Any) -> bool:
        return found.sites is not None and {self.memory.classes.get(s) for s in found.sites} == {cls}

    def like(self, value: Any) -> Any:
        """What has the zero of a value: 0.0 for a real number of Python's, else the value itself."""
        kind = widen(self.held(value).kind)
        is_real = isinstance(kind, Scalar) and kind.dtype in REALS
        return constant(0.0) if is_real or isinstance(kind, Literal) else value

    def helper(self, name: str, *args: Any) -> Any:
        return call(load(self.objects.name(getattr(slots, name), name)), *args)
