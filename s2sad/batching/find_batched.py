"""Which values of a program have an axis for the calls, if these parameters have one.

What a name holds is told by a form: False for a value that all calls share, True for a number or array with
the axis in front, a tuple of forms for a tuple, `Elements` for a list or dict.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import gast
import numpy as np

from ..kinds.lattice import UNKNOWN, Kind, Nothing, Tuple, Unknown
from ..runtime import mutation, records
from ..runtime.adjoints import like
from ..transforms.analyses.definitions import Definitions
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_aliases import find_aliases, is_outside
from ..transforms.analyses.operations import (
    Alias,
    Apply,
    Build,
    Call,
    Field,
    Inert,
    Item,
    Opaque,
    Pop,
    is_append,
)
from ..transforms.differentiation.generation import Link
from ..transforms.trees.nodes import binding_counts, names_read, read_counts, statements_in
from ..transforms.trees.program import MISSING

__all__ = ["Batched", "Elements", "FindBatched", "Linker", "joined", "part_of"]


@dataclass(frozen=True)
class Elements:
    """A list or dict whose items are all of the form `each`."""

    each: Any


CHECKS = (  # helpers that do nothing but raise
    mutation.refuse_element, mutation.refuse_elements, mutation.refuse_held, mutation.refuse_held_twice,
    mutation.refuse_key, mutation.refuse_lookup, mutation.refuse_new_key, mutation.refuse_no_array,
    mutation.refuse_no_list, mutation.refuse_no_pair, mutation.refuse_other_array, mutation.refuse_overlap,
    mutation.refuse_shared, records.refuse_held_object,
)  # fmt: skip

DESCRIBED = {
    gast.Assign: "an attribute that is set", gast.AugAssign: "an attribute that is set",
    gast.Try: "a `try` statement", gast.With: "a `with` statement", gast.Assert: "an assertion",
    gast.JoinedStr: "a text with values", gast.Set: "a set",
}  # fmt: skip
JOINING = (np.concatenate, np.hstack)

Batched = bool | tuple[Any, ...] | Elements
Linker = Callable[
    [Call, list[int | str], list[Kind], dict[str, Kind]], tuple[Link, Batched | None] | None
]


class FindBatched:
    """The forms of the names of a program in single assignment (`of`), for the `batched` parameters; `link`
    gives the batched code of callees.
    """

    def __init__(self, facts: Facts, batched: tuple[str, ...], link: Linker) -> None:
        self.facts, self.program, self.link = facts, facts.program, link
        self.aliases = facts.of(find_aliases)
        self.of: dict[str, Batched] = dict.fromkeys(batched, True)
        self.arguments = frozenset(n.id for n in facts.program.tree.args.args)
        self.parameters = self.arguments - {*batched}
        self.joined_displays = facts.of(_joined_displays)
        self.changed = frozenset(filter(None, map(_changed_name, statements_in(facts.program.tree.body))))
        while True:
            before = dict(self.of)
            self.block(facts.program.tree.body)
            if self.of == before and not self.begin_with():
                return

    def begin_with(self) -> bool:
        """Gives the axis to numbers and arrays that are made for a variable which has it, as zeros before a
        loop; whether there were any.
        """
        tree, found = self.program.tree, False
        bound, read = binding_counts(tree), read_counts(tree)
        for s in statements_in(tree.body):
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=gast.Name(id=source)):
                    is_only = bound[source] == 1 and read[source] == 1 and source not in self.parameters
                    if self.of.get(name) is True and is_only and not self.of.get(source, False):
                        self.of[source] = found = True
        return found

    def changes_nothing(self) -> bool:
        """Whether a run surely changes nothing that is there before it, and draws no random numbers."""
        return all(map(self.is_alone, statements_in(self.program.tree.body)))

    def is_alone(self, s: Any) -> bool:
        """Whether a statement changes nothing but what the function made."""
        target = s.targets[0] if isinstance(s, gast.Assign) else getattr(s, "target", None)
        if isinstance(target, gast.Attribute):
            return False
        if isinstance(target, gast.Subscript):
            return self.is_own(target.value)
        if isinstance(s, gast.Expr) and is_append(s, self.facts):
            return self.is_own(s.value.func.value)
        if isinstance(s, gast.Expr) and self.is_check(s.value):
            return True
        value = getattr(s, "value", None)
        operation = None if value is None or isinstance(s, gast.Return) else self.facts.operation(value)
        match operation:
            case Apply(function=function):
                return not isinstance(s, gast.Expr) and bool(self.facts.primitives.is_pure(function))
            case Call(function=function):  # one with the axis is linked to code that changes nothing
                return self.reads(value) and function is not MISSING
            case Pop(base=base):
                return self.is_own(base)
        return not isinstance(operation, Opaque)

    def is_own(self, node: Any) -> bool:
        """Whether the object of a name is one that the function made."""
        held = self.roots(node.id)
        given = {root for n in self.arguments for root in self.roots(n)}
        is_given = node.id in self.arguments or node.id not in self.program.locals or bool(held & given)
        return bool(held) and not is_given and not any(map(is_outside, held))

    def is_changed(self, node: Any) -> bool:
        """Whether the array of a name may be changed in place, by this name or another."""
        if not isinstance(node, gast.Name):
            return False
        held = self.roots(node.id)
        return node.id in self.changed or any(held & self.roots(n) for n in self.changed)

    def roots(self, name: str) -> frozenset[str]:
        """The objects that a name may hold."""
        return frozenset(self.aliases.held.get(name, (frozenset(), frozenset()))[0])

    # ------------------------------------------------------------ statements

    def block(self, statements: list[Any]) -> None:
        for s in statements:
            self.statement(s)

    def statement(self, s: Any) -> None:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                self.define(name, self.value(value), s)
            case gast.Assign(targets=[gast.Tuple(elts=elts)], value=value):
                self.unpack(elts, self.atom(value), s)
            case gast.Assign(targets=[gast.Subscript() as target]) | gast.AugAssign(
                target=gast.Subscript() as target
            ):
                self.store(target.value, target.slice, self.atom(s.value), s)
            case gast.Expr(value=gast.Call(func=gast.Attribute(value=gast.Name() as base), args=[item])) if (
                is_append(s, self.facts)
            ):
                form = Elements(self.atom(item)) if self.atom(item) else self.atom(base)
                if form:
                    self.mark(base.id, form, s)
            case gast.Expr(value=gast.Call() as value):
                if self.reads(value) and not self.is_check(value):
                    self.refuse(s, "a call for its effect")
            case gast.If(test=test):
                if self.reads(test):
                    self.program.refuse(
                        s if hasattr(s, "lineno") else self.program.tree,
                        "a branch that the values of the batch decide",
                        "calls of one batch may go different ways",
                        "use `np.where`, or call the function in a loop",
                    )
                self.block(s.body)
                self.block(s.orelse)
            case gast.For(target=target, iter=iterable):
                self.loop(target, iterable, s)
                self.block(s.body)
            case gast.While():
                self.block(s.body)
            case gast.Return() | gast.Pass() | gast.Break() | gast.Raise():
                return
            case gast.FunctionDef():
                self.program.refuse(
                    s if hasattr(s, "lineno") else self.program.tree,
                    "a function defined in batched code, and used as a value",
                    "what it captures may differ from call to call",
                    "define it outside, and give it what it captures as arguments",
                )
            case _:
                if self.reads(s):
                    self.refuse(s, DESCRIBED.get(type(s), "this statement"))
                for block in (b for b in vars(s).values() if isinstance(b, list)):
                    self.block([n for n in block if isinstance(n, gast.stmt)])

    def define(self, name: str, found: Batched, s: Any) -> None:
        self.of[name] = self.joined(self.of.get(name, False), found, s)

    def unpack(self, targets: list[Any], found: Batched, s: Any) -> None:
        for k, target in enumerate(targets):
            self.bind(target, part_of(found, k), s)

    def bind(self, target: Any, found: Batched, s: Any) -> None:
        """Defines the names of a target of a loop."""
        if isinstance(target, gast.Tuple):
            self.unpack(target.elts, found, s)
        else:
            self.define(target.id, found, s)

    def loop(self, target: Any, iterable: Any, s: Any) -> None:
        self.bind(target, self.items(iterable, s), s)

    def items(self, iterable: Any, s: Any) -> Batched:
        """The form of what a loop takes from an iterable."""
        if not isinstance(iterable, gast.Call):
            found = self.atom(iterable)
            match found:
                case Elements(each):
                    return each  # type: ignore[no-any-return]
                case tuple():
                    if any(form != found[0] for form in found):
                        self.refuse(s, "a loop over a tuple of both")
                    return found[0]  # type: ignore[no-any-return]
            return found
        function = self.program.resolve(iterable.func)
        if function is zip:
            parts = tuple(self.items(a, s) for a in iterable.args)
            return parts if any(parts) else False
        if function is enumerate and self.items(iterable.args[0], s):
            return False, self.items(iterable.args[0], s)
        if function is reversed:
            return self.items(iterable.args[0], s)
        if self.reads(iterable):
            self.refuse(s, "this loop")
        return False

    def store(self, base: Any, index: Any, value: Batched, s: Any) -> None:
        own, is_other = self.atom(base), self.reads(index)
        if value or own or is_other:
            domain = self.facts.domain
            is_container = domain.is_list(self.facts.kind(base)) or domain.is_dict(self.facts.kind(base))
            if is_other and is_container:
                self.refuse(s, "a store at another place for each")
            value = value or is_other
            self.mark(base.id, own if not value else Elements(value) if is_container else True, s)

    def mark(self, name: str, found: Batched, s: Any) -> None:
        """Notes what a change makes of an object, for all names of it."""
        self.define(name, found, s)
        held = self.roots(name)
        others = [n for n in self.aliases.held if self.roots(n) & held and n != name]
        for other in others:
            if other in self.parameters:
                self.refuse(s, "a change of an argument")
            self.define(other, found, s)
        if name in self.parameters or name not in self.program.locals or any(map(is_outside, held)):
            self.refuse(s, "a change of what is held outside")

    # ------------------------------------------------------------ expressions

    def atom(self, node: Any) -> Batched:
        return self.of.get(node.id, False) if isinstance(node, gast.Name) else False

    def reads(self, node: Any) -> bool:
        """Whether an expression reads a value with the axis."""
        return any(self.of.get(n, False) for n in names_read(node))

    def value(self, value: Any) -> Batched:
        """The form of the value of an expression."""
        operation = self.facts.operation(value)
        match operation:
            case Alias(source=source):
                if isinstance(source, gast.Attribute) and self.reads(source):
                    self.refuse(value, "a method as a value")
                return self.atom(source)
            case Build(items=items, node=gast.Tuple()):
                forms = tuple(map(self.atom, items))
                return forms if any(forms) else False
            case Build(items=items, node=gast.List() | gast.Dict()):
                found: Batched = False
                for item in items:
                    one = self.atom(item)
                    is_joined = id(value) in self.joined_displays and one == Elements(True)
                    found = self.joined(found, True if is_joined else one, value)
                return Elements(found) if found else False
            case Item(base=base, index=index):
                return self.item(self.atom(base), index, value)
            case Pop(base=base):
                found = self.atom(base)
                return found.each if isinstance(found, Elements) else False
            case Apply():
                return self.apply(operation, value)
            case Call() if operation.function is not MISSING and self.reads(value):
                _, form = self.linked(operation)
                return self.form_of(operation, value) if form is None else form
            case Inert(node=gast.Attribute()):
                return False
            case Call():
                if self.reads(value):
                    self.refuse(value, "a call of what is known at run time only")
            case Build() | Opaque() | Field() | Inert():
                if self.reads(value):
                    self.refuse(value, DESCRIBED.get(type(value), "an object that is made or read"))
        return False

    def linked(self, operation: Call) -> tuple[Link, Batched | None]:
        """The batched code of the callee of a call, and the form of its result; None while that is not known:
        then all its numbers have the axis.
        """
        if not all(isinstance(self.atom(o), bool) for o in operation.operands()):
            self.refuse(operation.node, "a container that is passed to a function")
        keys: list[int | str] = [k for k, a in enumerate(operation.args) if self.atom(a)]
        keys += [k for k, a in operation.keywords if self.atom(a)]
        kind = self.facts.kind
        args, keywords = [kind(a) for a in operation.args], {k: kind(v) for k, v in operation.keywords}
        found = self.link(operation, keys, args, keywords)
        return self.refuse(operation.node, "a call of a function without source") if found is None else found

    def item(self, base: Batched, index: Any, value: Any) -> Batched:
        if self.reads(index):
            if base not in (True, False):
                self.refuse(value, "another item for each")
            return True
        match base:
            case tuple():
                if isinstance(index, gast.Constant) and isinstance(index.value, int):
                    return base[index.value]  # type: ignore[no-any-return]
                self.refuse(value, "a part of a tuple of both")
            case Elements(each):
                literal = self.facts.domain.literal_of(self.facts.kind(index))
                is_slice = isinstance(index, gast.Slice) or (literal and isinstance(literal[0], slice))
                if not is_slice and isinstance(self.facts.kind(index), Unknown):
                    self.refuse(value, "an item at an index that is not known")
                return base if is_slice else each
        return base

    def apply(self, operation: Apply, value: Any) -> Batched:
        if self.is_of_shape(operation) or not any(map(self.atom, operation.operands())):
            return False
        return self.form_of(operation, value)

    def form_of(self, operation: Apply | Call, value: Any) -> Batched:
        """The form of a result whose numbers all have the axis."""
        domain = self.facts.domain

        def of_kind(kind: Kind) -> Batched:
            if isinstance(kind, Tuple):
                return tuple(map(of_kind, kind.items))
            if domain.is_container(kind) or isinstance(kind, Nothing):
                self.refuse(value, "a container that this makes")
            return True

        return of_kind(self.kind_of_value(value))

    def kind_of_value(self, value: Any) -> Kind:
        """The kind of an expression: that of the name which it defines."""
        kinds: dict[int, Kind] = self.facts.of(_kinds_of_values)
        return kinds.get(id(value), UNKNOWN)

    def is_of_shape(self, operation: Apply) -> bool:
        """Whether of operands with the axis a result depends on the shapes and dtypes alone."""
        shapes = (0,) if operation.function is like else self.facts.primitives.shape_only(operation.function)
        others = [a for k, a in enumerate(operation.args) if k not in shapes]
        others += [v for _, v in operation.keywords]
        return bool(shapes) and not any(map(self.atom, others))

    def is_check(self, value: Any) -> bool:
        """Whether a call does nothing but raise."""
        function = self.program.resolve(value.func)
        return any(function is check for check in CHECKS)

    # ------------------------------------------------------------ both

    def joined(self, a: Batched, b: Batched, s: Any) -> Batched:
        found = joined(a, b)
        return self.refuse(s, "containers of several forms") if found is None else found

    def refuse(self, s: Any, what: str) -> NoReturn:
        node = s if hasattr(s, "lineno") else self.program.tree
        self.program.refuse(
            node,
            f"{what} where the batch matters",
            "it is not computed for all calls at once",
            "call the function in a loop",
        )


def joined(a: Batched, b: Batched) -> Batched | None:
    """The form that holds values of both; None without one."""
    match a, b:
        case _ if a == b:
            return a
        case (False, form) | (form, False):
            return form
        case tuple(), tuple() if len(a) == len(b):
            parts = [joined(x, y) for x, y in zip(a, b, strict=True)]
            return None if None in parts else tuple(parts)
        case Elements(x), Elements(y):
            part = joined(x, y)
            return None if part is None else Elements(part)
    return None


def _changed_name(s: Any) -> str:
    """The name of the array or list that a statement changes in place: `a` in `a[i] = v`, `a.append(v)`."""
    match s:
        case gast.Assign(targets=[gast.Subscript(value=gast.Name(id=name))]) | gast.AugAssign(
            target=gast.Subscript(value=gast.Name(id=name))
        ):
            return str(name)
        case gast.Expr(value=gast.Call(func=gast.Attribute(value=gast.Name(id=name)))):
            return str(name)
        case gast.Assign(value=gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr="pop"))):
            return str(name)
    return ""


def part_of(form: Batched, k: int) -> Batched:
    """The form of an item of a value."""
    if isinstance(form, tuple):
        return form[k]  # type: ignore[no-any-return]
    return form.each if isinstance(form, Elements) else form


def _joined_displays(facts: Facts) -> frozenset[int]:
    """The lists that are only made to be concatenated: in these a list of numbers is like an array."""
    definitions, read = Definitions(facts.program.tree), read_counts(facts.program.tree)
    found = set()
    for s in statements_in(facts.program.tree.body):
        match s:
            case gast.Assign(value=gast.Call(args=[gast.Name(id=name), *_]) as value):
                function = facts.program.resolve(value.func)
                if any(function is f for f in JOINING) and read[name] == 1:
                    found.add(id(definitions.value(name)))
    return frozenset(found)


def _kinds_of_values(facts: Facts) -> dict[int, Kind]:
    """The kinds of the expressions that are assigned to names."""
    return {
        id(s.value): facts.kind_of_name(s.targets[0].id)
        for s in statements_in(facts.program.tree.body)
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
    }
