"""Writes the statements that read and change the contents of objects, for `lower_heap`."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Any, NoReturn

import gast

from ..errors import UnsupportedSyntaxError
from ..trees.bind_objects import Objects
from ..trees.nodes import assign, blocks_of, call, constant, load, located, names_read, store, tuple_of
from ..trees.program import Program
from .heap_names import bindings_of, find_displays, infer_natures
from .heap_values import HeapValues

__all__ = ["Writer"]

Node = Any  # gast publishes no types


class Writer:
    """The program being written, and the statement of the source that is being lowered.

    With `left`, which gains the objects that operators are applied to, the program is written to tell what
    is known of objects; there these operators raise. They are refused otherwise. It gains the heap where that
    is passed among changes of what may be arrays.
    """

    def __init__(
        self, program: Program, values: HeapValues, passes: bool = False, left: list[str] | None = None
    ) -> None:
        self.left = left
        self.program, self.values = program, values
        self.passes = passes  # whether the heap is an argument and part of the result
        self.names = program.names.copy()
        self.objects = Objects(program, self.names)
        self.heap = self.names.fresh("heap")
        self.code: list[Node] = []  # the output of that statement
        self.at: Node = None  # the statement
        self.near: Node = None  # the expression whose place new code gets
        self.bound_to = bindings_of(program)
        self.displays = find_displays(program, values)
        self.known_natures = infer_natures(program, values) | dict.fromkeys(self.displays, "plain")
        self.lazy: dict[
            str, tuple[Node, str]
        ] = {}  # the names of `d.items()` and the like: d, and the method
        read = {
            self.program.resolve(load(n))
            for n in names_read(program.tree.body)
            if _is_hashable(self.program, n)
        }
        has_module = any(getattr(v, "__name__", "") == "collections" for v in read)
        self.has_deques, self.has_made_items = deque in read or has_module, defaultdict in read or has_module

    # ------------------------------------------------------------ writing statements

    def begin(self, s: Node) -> None:
        self.code, self.at = [], s
        value = getattr(s, "value", None)
        self.near = value if hasattr(value, "lineno") and not blocks_of(s) else s

    def emit(self, s: Node) -> None:
        self.code.append(located(s, self.at))

    def put(self, target: str, value: Node) -> None:
        self.emit(assign(target, located(value, self.near)))

    def made(self, base: str, value: Node) -> Node:
        """A new name for a value."""
        name = self.names.temporary(base)
        self.put(name, value)
        return load(name)

    def helper(self, name: str, *args: Node) -> Node:
        return call(self.bound(self.values.helper(name), name), *args)

    def bound(self, value: Any, base: str) -> str:
        return self.objects.name(value, base)

    def change(self, name: str, *args: Node) -> None:
        """`heap = name(heap, x, ...)`."""
        made = self.names.taken - self.program.names.taken
        if (
            args[0].id
            not in self.program.locals | self.objects.all_bindings().keys() | made
        ):
            self.refuse(
                f"a change of `{args[0].id}`, which is outside of the function",
                "the function may read it again, and the change is not followed there",
                "pass it as an argument; a value without derivative is stored as `s2sad.stop_gradient(v)`",
            )
        self.put(self.heap, self.helper(name, load(self.heap), *args))

    def nature(self, node: Node) -> str:
        found = self.known_natures.get(node.id) if isinstance(node, gast.Name) else None
        return found or self.values.of(node)

    def class_of(self, name: str) -> list[Node]:
        """The class of a name's object, as an optional argument."""
        cls = self.values.class_of(load(name))
        return [] if cls is None else [load(self.bound(cls, cls.__name__))]

    def block(self, statements: list[Node]) -> list[Node]:
        result: list[Node] = []
        for s in statements:
            self.begin(s)
            self.statement(s)
            result.extend(self.code)
        return result

    def inner(self, statements: list[Node]) -> list[Node]:
        """Lowers an inner block."""
        code, at, near = self.code, self.at, self.near
        found = self.block(statements)
        self.code, self.at, self.near = code, at, near
        return found

    def statement(self, s: Node) -> None:
        """Lowers a statement."""
        raise NotImplementedError

    def refuse_array(self) -> NoReturn:
        self.refuse(
            "an array or set that is changed in place, among changes of objects",
            "which of them hold it is not followed",
            "make a new one: `a = a + v`",
        )

    def refuse(self, what: str, why: str, instead: str) -> NoReturn:
        raise UnsupportedSyntaxError(what, self.program.where(self.at), why, instead)

    # ------------------------------------------------------------ reading

    def base(self, node: Node) -> str:
        return str(getattr(node, "id", "value"))

    def view(
        self, node: Node, helper: str = "heap_view", *options: Node, snapshot: str = "places_of"
    ) -> Node:
        """An atom as a call is given it: with its present contents."""
        if self.nature(node) == "plain" or not isinstance(node, gast.Name):
            return node
        if node.id in self.lazy:  # a new list
            return node
        record = self.made(node.id, self.helper(snapshot, node))
        return self.made(node.id, self.helper(helper, load(self.heap), node, record, *options))

    def copy(self, node: Node, deep: bool = False, only_items: bool = False) -> Node:
        """An atom as a primitive reads it, whose reverse may read it again: a shallow copy of a container, or
        a `deep` one. With `only_items` the objects in it are handed on, and their contents not read.
        """
        snapshot = "items_of" if only_items else "places_of"
        return self.view(node, "heap_copy", *([constant(True)] if deep else []), snapshot=snapshot)

    def get(self, target: str, x: Node, key: Node, is_field: bool = False) -> None:
        """`target = x[key]`, or an attribute."""
        field = [constant(True)] if is_field else []
        match self.nature(load(target)):
            case "object" if self.has_made_items and not is_field:  # one that is made now is the heap's
                found = self.made(target, self.helper("heap_get", load(self.heap), x, key))
                self.put(target, self.helper("reference", found, *self.class_of(target)))
            case "object":
                cls = self.class_of(target)
                flag = [constant(is_field)] if is_field or cls else []
                self.put(target, self.helper("heap_object", x, key, *flag, *cls))
            case "plain" if self.values.is_constant(load(target)):
                self.put(target, self.helper("heap_constant", x, key, *field))
            case "plain":
                self.put(target, self.helper("heap_number", load(self.heap), x, key, *field))
            case _:
                self.put(target, self.helper("heap_get", load(self.heap), x, key, *field))

    def element(self, target: str, x: Node, key: Node) -> None:
        """Binds an element of `x`, as a loop does: the item of a list, the key of a dict."""
        if self.values.is_list(x):
            self.get(target, x, key)
        else:
            self.known(target, self.made(target, self.helper("heap_element", load(self.heap), x, key)))

    def key(self, x: Node, index: Node) -> Node:
        """An index as a key that stays valid when the list grows."""
        if isinstance(index, gast.Tuple):
            return self.made(self.base(x), index)
        plain = isinstance(index, gast.Constant)
        return index if plain else self.made("key", self.helper("key_of", x, index))

    def enter(self, target: str, value: Node, only_items: bool = True, is_made: bool = True) -> None:
        """`target = value`, a container or object that is made here, or the result of a call. With
        `only_items` the objects in it are in the heap already.
        """
        found = self.made(target, value)
        if self.nature(load(target)) == "plain":
            self.put(target, self.helper("plain_number", found))
            return
        record = self.made(target, self.helper("items_of" if only_items else "places_of", found))
        self.change("heap_enter", found, record)
        known = is_made or self.nature(load(target)) == "object"
        cls = [] if is_made else self.class_of(target)
        self.put(target, self.helper("reference", found, *cls) if known else found)

    def unpack(self, targets: list[str], value: Node) -> None:
        if isinstance(value, gast.Tuple):
            self.emit(self.at)
            return
        found = self.copy(value, only_items=True)
        if found is value:
            self.emit(self.at)
            return
        parts = [self.names.temporary(t) for t in targets]
        self.emit(assign(tuple_of(map(store, parts), gast.Store()), found))
        for target, part in zip(targets, parts, strict=True):
            self.known(target, load(part))

    def known(self, target: str, value: Node) -> None:
        """`target = value`, with a check that the value is of the target's nature."""
        match self.nature(load(target)):
            case "object":
                self.put(target, self.helper("reference", value, *self.class_of(target)))
            case "plain":
                self.put(target, self.helper("plain_number", value))
            case _:
                self.put(target, value)

    def set_or_number(self, value: Node) -> Node:
        """The value of a binary operator; one with a set gives a set, which is inactive."""
        if not any(map(self.values.is_set, (value.left, value.right))):
            return value
        return self.helper("the_set", self.made("found", value))

    def number(self, node: Node, taken_by: str = "an operator") -> Node:
        """An operand of an operator, or an argument of a function of numbers."""
        if self.nature(node) == "object" and self.left is not None:
            self.left.append(node.id)
        elif self.nature(node) == "object":
            self.refuse(
                f"{taken_by} on the object `{self.program.origins.get(node.id, node.id)}`, among changes of "
                "objects",
                "its use of the object's attributes is not followed",
                "call a method that computes the new value",
            )
        if self.nature(node) == "plain" or not isinstance(node, gast.Name):
            return node
        return self.made(node.id, self.helper("plain_number", node))


def _is_hashable(program: Program, name: str) -> bool:
    try:
        hash(program.resolve(load(name)))
    except TypeError:
        return False
    return True
