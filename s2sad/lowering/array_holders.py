"""Which slot of an object holds an array that a program with a heap changes in place.

    force_1 = heap_number(heap, p, "force", True)
    force_2 = stored_in(force_1 + f, force_1)
    holders_1 = holders_of(heap, force_1, f)
    heap = heap_replace(heap, force_2, holders_1)

An array is told apart by the statement that makes it. If that statement's block stores it once, each such
array is held by one object: the one that it was read from. Other attributes of this object may hold it, too,
where it was read from one and stored in another: `self.prev = self.u`. Form: single assignment.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import gast

from ..kinds import domain
from ..kinds.lattice import Nothing, Random
from ..kinds.memory import ITEMS, OF_HEAP, READS, Memory
from ..runtime.mutation import stored_in
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.operations import Apply
from ..transforms.trees.nodes import blocks_of, bound_here, load, names_read, statements_in
from ..transforms.trees.program import EMPTY, MISSING

__all__ = ["ArrayHolders", "Slot"]

OUTSIDE = "<outside>"  # the arrays that something outside of the function may hold
NONE: frozenset[str] = frozenset()
Arrays = frozenset[str]


class Slot(NamedTuple):
    """An attribute or item, as the name of an object, a key, and whether that is an attribute's."""

    x: str
    key: Any
    is_field: bool


class Store(NamedTuple):
    """Where an array is stored: the block, the slot (of an unknown one, a statement), the position of the
    statement, and whether the same object held the array in another attribute already.
    """

    block: int
    slot: Any
    position: int
    is_moved: bool = False


class ArrayHolders:
    """The arrays that the names and slots of a program may hold; `memory` tells the objects."""

    def __init__(self, facts: Facts, memory: Memory) -> None:
        self.facts, self.program, self.memory = facts, facts.program, memory
        self.names: dict[str, Arrays] = {}
        self.slots: dict[tuple[str, Any], Arrays] = defaultdict(frozenset)
        self.stores: dict[str, set[Store]] = defaultdict(set)  # by array
        self.born: dict[str, int] = {}  # the block that makes each array
        self.escaped = {OUTSIDE}
        self.values: dict[str, list[Any]] = defaultdict(list)  # what is assigned to each name
        self.positions: dict[int, int] = {}  # of statements in the program
        self.loops: dict[int, Any] = {}  # the innermost loop around each statement
        self.bound: dict[str, list[Any]] = defaultdict(list)  # the statements that bind each name
        for p in self.program.tree.args.args:
            self.names[p.id] = NONE if domain.is_immutable(facts.kind(p)) else frozenset([OUTSIDE])
        for position, s in enumerate(statements_in(self.program.tree.body)):
            self.positions[id(s)] = position
            for name in bound_here(s):
                self.bound[name].append(s)
            if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
                self.values[s.targets[0].id].append(s.value)
            if isinstance(s, (gast.For, gast.While)):  # after those around it
                self.loops.update((id(inner), s) for inner in statements_in(s.body))
        size = -1
        while size != (size := self.size()):
            self.block(self.program.tree.body)

    def size(self) -> int:
        found = [*self.names.values(), *self.slots.values(), *self.stores.values()]
        return sum(map(len, found)) + len(found) + len(self.escaped)

    # ------------------------------------------------------------ queries

    def holder(self, holders: Any) -> tuple[Slot | None, list[str]]:
        """The slot that holds the array of which `holders` are the holders, None where no slot does; and the
        other attributes of that object that may hold it.

        Raises LookupError where that is not known.
        """
        token, x, *others = self.given(holders)
        arrays = self.of(x)
        if not arrays or not self.escaped.isdisjoint(arrays):
            raise LookupError
        if any(not arrays.isdisjoint(self.of(other)) for other in others):
            raise LookupError
        if not any(self.stores[a] for a in arrays) or self.is_not_stored_yet(x, arrays, holders):
            return None, []
        stores = frozenset().union(*(self.stores[a] for a in arrays))
        for a in arrays:
            made = {(store.block, store.slot) for store in self.stores[a] if not store.is_moved}
            if len(made) > 1 or any(block != self.born[a] for block, _ in made):
                raise LookupError
        read = self.read_of(self.value(x))
        if read is None or read[0] != self.root(token):
            raise LookupError
        if not any(store.is_moved for store in stores):
            return read[1], []
        if not all(isinstance(store.slot, Slot) and store.slot.is_field for store in stores):
            raise LookupError
        sites = self.memory.held(load(read[1].x), self.facts.kind).sites or NONE
        held = [slot for slot, found in self.slots.items() if not found.isdisjoint(arrays)]
        return read[1], sorted({key for site, key in held if site in sites} - {self.key(read[1].key)})

    def is_not_stored_yet(self, x: Any, arrays: Arrays, holders: Any) -> bool:
        """Whether an array, which is made in the same turn of the same loop, is stored after this alone."""
        (s,) = self.bound[holders.id]
        loop, position = self.loops.get(id(s)), self.positions[id(s)]
        if any(store.position < position for a in arrays for store in self.stores[a]):
            return False
        todo, seen = [x.id], set()
        while todo:
            name = todo.pop()
            if name in seen:
                continue
            seen.add(name)
            for made in self.bound[name] or [None]:
                if made is None or self.positions[id(made)] > position or not self.is_in(made, loop):
                    return False
                match made:
                    case gast.Assign(value=gast.Name(id=source)):
                        todo.append(source)
                    case gast.Assign(value=gast.Call(func=func, args=[gast.Name(id=source), _])) if (
                        self.program.resolve(func) is stored_in
                    ):
                        todo.append(source)
                    case _ if self.names[name] != {name}:
                        return False
        return True

    def is_in(self, s: Any, loop: Any) -> bool:
        """Whether a statement is in a loop, or in none where there is None."""
        return loop is None or any(inner is s for inner in statements_in(loop.body))

    def given(self, holders: Any) -> list[Any]:
        """The arguments of the call that finds holders."""
        value = self.value(holders)
        if self.helper(value) != "holders_of":
            raise LookupError
        return list(value.args)

    def changed(self, holders: Any) -> Any:
        """The array of which these are the holders."""
        return self.given(holders)[1]

    def read_slot(self, holders: Any) -> Slot | None:
        """The slot that the array was read from."""
        read = self.read_of(self.value(self.changed(holders)))
        return None if read is None else read[1]

    def value(self, node: Any) -> Any:
        """What a name stands for."""
        while isinstance(node, gast.Name) and len(self.values[node.id]) == 1:
            node = self.values[node.id][0]
            if isinstance(node, gast.Call) and self.helper(node) in ("known", "plain_number", "reference"):
                node = node.args[0]
        return node

    def root(self, node: Any) -> str:
        """The first name of a value."""
        while len(self.values[node.id]) == 1:
            found = self.values[node.id][0]
            if isinstance(found, gast.Call) and self.helper(found) in ("known", "plain_number", "reference"):
                found = found.args[0]
            if not isinstance(found, gast.Name):
                break
            node = found
        return str(node.id)

    def read_of(self, value: Any) -> tuple[str, Slot] | None:
        """The heap and slot that a value is read from."""
        name = self.helper(value)
        if name not in ("heap_get", "heap_number"):
            return None
        token, x, key, *field = value.args
        return self.root(token), Slot(self.root(x), key, bool(field))

    def is_same(self, a: Slot, x: Any, key: Any, is_field: bool) -> bool:
        """Whether a slot is that of an attribute or item."""
        return a.x == self.root(x) and a.is_field == is_field and self.key(a.key) == self.key(key)

    def key(self, node: Any) -> Any:
        return node.value if isinstance(node, gast.Constant) else self.root(node)

    def helper(self, value: Any) -> str:
        """The name of the helper that a call calls; empty for other expressions."""
        if not isinstance(value, gast.Call):
            return ""
        function = self.program.resolve(value.func)
        is_helper = function is not MISSING and getattr(function, "__module__", "") in OF_HEAP
        return str(function.__name__) if is_helper else ""

    # ------------------------------------------------------------ statements

    def block(self, statements: list[Any]) -> None:
        for s in statements:
            match s:
                case gast.Assign(targets=[gast.Name(id=target)], value=value):
                    self.assign(target, value, id(statements), s)
                case gast.Assign(targets=[gast.Tuple(elts=elts)], value=value):
                    for e in elts:
                        self.bind(e.id, self.of(value))
                case gast.Expr(value=gast.Call() as value) if not self.helper(value):
                    self.called("", value, id(statements))
                case gast.For(iter=source):
                    found = self.together(names_read(source))
                    for name in bound_here(s):
                        self.bind(name, found)
                case gast.FunctionDef():
                    self.escape(self.together(n for n in names_read(s.body) if n in self.program.locals))
            for inner in blocks_of(s):
                if not isinstance(s, gast.FunctionDef):
                    self.block(inner)

    def assign(self, target: str, value: Any, block: int, s: Any) -> None:
        name = self.helper(value)
        if name.startswith(("heap_", "born", "new_heap")) and target in self.memory.heaps:
            self.change(name, value.args[1:], block, s)
            return
        found = self.called(target, value, block) if isinstance(value, gast.Call) else self.of(value)
        if isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Compare)):
            found = self.make(target, block)
        if domain.is_immutable(self.facts.kind(load(target))):
            found = NONE
        self.bind(target, found)

    def called(self, target: str, value: Any, block: int) -> Arrays:
        """The arrays in the result of a call."""
        name, args = self.helper(value), value.args
        if name in READS:
            x, key = args[READS[name]], args[READS[name] + 1]
            is_field = any(getattr(a, "value", None) is True for a in args[READS[name] + 2 :])
            return self.read(x, key, is_field)
        if name in ("known", "plain_number", "reference", "heap_view", "heap_copy"):
            x = args[0] if name in ("known", "plain_number", "reference") else args[1]
            held = self.memory.held(x, self.facts.kind)
            if held.is_object and name in ("known", "reference"):  # its slots hold the arrays
                return NONE
            return self.of(x) if held.sites == NONE or held.parts is not None else self.read(x, None, False)
        if name == "with_item":
            return self.make(target, block)
        if name or self.program.resolve(value.func) in EMPTY:
            return NONE
        given = self.together(names_read([*args, *(k.value for k in value.keywords)]))
        if self.program.resolve(value.func) is stored_in:
            return self.make(target, block) | self.of(args[0])
        operation = self.facts.operation(value)
        if isinstance(operation, Apply):
            given = self.together(names_read(list(operation.operands())))
            match self.facts.sharing(operation):
                case "fresh":
                    return self.make(target, block)
                case "view" | "maybe" | "elements":
                    return self.make(target, block) | given
            return given | {OUTSIDE}
        if isinstance(value.func, gast.Attribute) and isinstance(self.facts.kind(value.func.value), Random):
            return self.make(target, block)
        self.escape(given | self.together(names_read(value.func)))
        for x in [*args, *(k.value for k in value.keywords), getattr(value.func, "value", None)]:
            if isinstance(x, gast.Name) and self.memory.held(x, self.facts.kind).sites != NONE:
                # an object: what it holds is seen there
                self.escape(frozenset().union(*self.slots.values()))
        return frozenset([OUTSIDE])

    def change(self, name: str, args: list[Any], block: int, s: Any) -> None:
        match name, args:
            case "heap_set", [x, key, value, *field]:
                slot = Slot(self.root(x), self.key(key), bool(field))
                read = self.read_of(self.value(value))
                is_moved = read is not None and read[1].x == slot.x
                place = Store(block, slot, self.positions[id(s)], is_moved)
                self.store(x, slot.key if field else ITEMS, self.of(value), place)
            case ("heap_append" | "heap_insert"), [x, _, value, *_]:
                self.store(x, ITEMS, self.of(value), Store(block, id(s), self.positions[id(s)]))
            case "heap_enter", [gast.Name(id=x), *_]:
                found = self.of(args[0])
                if self.memory.names.get(x) is None or self.memory.names[x].sites is None:
                    self.escape(found)
                self.store(args[0], ITEMS, found, Store(block, id(s), self.positions[id(s)]))
            case "heap_replace", [new, holders]:
                x = self.changed(holders)
                read, old, found = self.read_of(self.value(x)), self.of(x), self.of(new)
                held = [where for where, arrays in self.slots.items() if not old.isdisjoint(arrays)]
                for where in held:
                    self.slots[where] |= found
                by = id(s) if read is None else Slot(read[1].x, self.key(read[1].key), read[1].is_field)
                for a in found if held else ():
                    self.stores[a].add(Store(block, by, self.positions[id(s)]))
            case "new_heap", _:
                pass
            case _, [*given]:
                self.escape(self.together(names_read(given)))

    # ------------------------------------------------------------ names and slots

    def of(self, node: Any) -> Arrays:
        """The arrays in the value of an expression."""
        if isinstance(node, gast.Constant):
            return NONE
        return self.together(names_read(node))

    def together(self, names: Any) -> Arrays:
        found = NONE
        for name in names:
            if name not in self.program.locals:
                is_data = not callable(self.program.resolve(load(name)))
                found |= {OUTSIDE} if is_data else NONE
            else:
                found |= self.names.get(name, NONE)
        return found

    def read(self, x: Any, key: Any, is_field: bool) -> Arrays:
        held = self.memory.held(x, self.facts.kind)
        if held.sites == NONE:  # a part of a value
            return self.of(x)
        if held.sites is None or self.memory.stored:
            return frozenset([OUTSIDE])
        found = NONE
        for site in held.sites:
            slot = self.key(key) if is_field else ITEMS
            found |= self.slots[site, slot]
            default = self.memory.shared.default(self.memory.classes.get(site), slot).kind
            is_of_class = not isinstance(default, Nothing) and not domain.is_immutable(default)
            if is_of_class or site in self.memory.shared.sites.values():  # of an argument
                found |= {OUTSIDE}
        return found

    def make(self, target: str, block: int) -> Arrays:
        self.born[target] = block
        return frozenset([target])

    def bind(self, name: str, found: Arrays) -> None:
        self.names[name] = self.names.get(name, NONE) | found

    def escape(self, arrays: Arrays) -> None:
        self.escaped |= arrays

    def store(self, x: Any, key: Any, found: Arrays, place: Store) -> None:
        held = self.memory.held(x, self.facts.kind)
        if held.sites is None:
            self.escape(found)
        for site in held.sites or ():
            self.slots[site, key] |= found
        for a in found:
            self.stores[a].add(place)
