"""Follows the objects whose attributes become variables: which attributes are set on which paths, and where
the objects escape.

No change of such an object may be lost: a change after it escapes is refused here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Protocol

import gast

from ..analyses.liveness import free_names
from ..trees.nodes import assigned_names, names_read, target_names, walk
from ..trees.program import Program
from ..trees.rebuild import parameters
from ..trees.shown_names import shown_name

__all__ = ["Fields", "Objects"]

Slot = tuple[str, str]  # the name of an object, and an attribute


class Objects(Protocol):
    """The facts about a program's objects that promotion needs."""

    def made(self, value: Any) -> bool:
        """Whether an expression makes an empty object."""

    def held(self, name: str) -> list[str] | None:
        """The attributes that a parameter's object or its class has; None when unknown."""

    def is_plain(self, name: str, attr: str) -> bool:
        """Whether `x.attr = v` only sets an attribute."""

    def varies(self, name: str, attr: str) -> bool:
        """Whether an attribute may be active."""

    def is_cached(self, name: str, attr: str) -> bool:
        """Whether the attribute caches a property's value: it is no part of a gradient."""

    def of_class(self, name: str, attr: str) -> bool:
        """Whether the class of an object has the attribute."""

    def is_method(self, name: str, attr: str) -> bool:
        """Whether the attribute is a method, static or not."""

    def asked(self, value: Any) -> Slot | None:
        """The attribute whose presence an expression tests, as `hasattr` does."""

    def read(self, value: Any) -> Slot | None:
        """The attribute of an object that an expression reads."""

    def only_looks(self, value: Any) -> bool:
        """Whether an expression depends only on an object's identity and class."""

    def passes_on(self, statement: Any) -> bool:
        """Whether a call may keep an object that it is given, or return it."""

    def may_change(self, value: Any) -> bool:
        """Whether a call may change its arguments."""

    def others(self, name: str) -> list[Any] | None:
        """Other objects that may be, or hold, a parameter's object; None if that cannot be promoted at
        all.
        """


@dataclass
class _State:
    """The state at a point: attributes set on all paths (`always`), or on some (`ever`); the `escaped`
    objects; attributes that may still have the class's value (`default`).
    """

    always: set[Slot] = field(default_factory=set)
    ever: set[Slot] = field(default_factory=set)
    escaped: set[str] = field(default_factory=set)
    default: set[Slot] = field(default_factory=set)

    def copy(self) -> _State:
        return _State(set(self.always), set(self.ever), set(self.escaped), set(self.default))

    def join(self, other: _State) -> None:
        self.always &= other.always
        self.ever |= other.ever
        self.escaped |= other.escaped
        self.default |= other.default

    def made(self, name: str) -> None:
        self.always = {s for s in self.always if s[0] != name}
        self.ever = {s for s in self.ever if s[0] != name}
        self.escaped.discard(name)


def _set_in(s: Any) -> list[Slot]:
    """The attributes that are set in the blocks of a statement."""
    return [
        (n.targets[0].value.id, n.targets[0].attr)
        for n in walk(s)
        if isinstance(n, gast.Assign)
        and isinstance(n.targets[0], gast.Attribute)
        and isinstance(n.targets[0].value, gast.Name)
    ]


class Fields:
    """The attributes that become variables, `slots`, and the uses of their objects."""

    def __init__(self, program: Program, objects: Objects) -> None:
        self.program, self.objects = program, objects
        tree = program.tree
        bound = Counter(n.id for n in walk(tree.args) if isinstance(n, gast.Name))
        made: Counter[str] = Counter()
        stored: dict[str, list[str]] = {}
        captured: set[str] = set()
        values: dict[Slot, Any] = {}
        self.classes: dict[str, Any] = {}
        for n in walk(tree):
            match n:
                case gast.Assign(targets=[gast.Attribute(value=gast.Name(id=name), attr=attr)]):
                    stored.setdefault(name, []).append(attr)
                    values[name, attr] = n.value
                case gast.Assign(targets=[gast.Name(id=name)], value=value) if objects.made(value):
                    bound[name] += 1
                    made[name] += 1
                    self.classes[name] = value.args[0]
                case gast.Assign(targets=targets):
                    bound.update(name for t in targets for name in target_names(t))
                case gast.For(target=target) | gast.AugAssign(target=target):
                    bound.update(target_names(target))
                case gast.FunctionDef() if n is not tree:
                    bound[n.name] += 1
                    captured |= free_names(n)
        given = {p.id for p in parameters(tree)}
        self.slots: dict[str, list[str]] = {}  # the attributes that become variables, by object
        self.given: list[str] = []
        for name in dict.fromkeys([*stored, *made]):
            attrs = [a for a in dict.fromkeys(stored.get(name, [])) if objects.is_plain(name, a)]
            if name in captured or len(attrs) < len(set(stored.get(name, []))):
                continue
            if bound[name] == made[name]:
                self.slots[name] = attrs
            elif name in given and bound[name] == 1 and objects.held(name) is not None:
                attrs = [a for a in attrs if objects.varies(name, a)]
                if attrs:
                    self.slots[name] = attrs
                    self.given.append(name)
        self.once = {name for name, count in bound.items() if count == 1 and name not in captured}
        self.values = values
        loops = [s for s in walk(tree) if isinstance(s, (gast.For, gast.While))]
        again = {name for s in loops for name in assigned_names(s)}
        self.lasting = self.once - again - {*stored, *made}  # names with one value
        in_loops = {slot for s in loops for slot in _set_in(s)}
        self.single = {
            (name, attr)
            for name, attrs in stored.items()
            for attr in attrs
            if attrs.count(attr) == 1 and made[name] == 1 and (name, attr) not in in_loops
        }
        self.defaults: set[Slot] = set()  # the attributes that are read before they are set
        self.seen: dict[tuple[int, str], list[str]] = {}  # the attributes an object has at a use as a whole
        self.answers: dict[int, bool | None] = {}  # the answer of a test for an attribute; None: dynamic
        self.maybe: set[Slot] = set()  # the attributes that may be unset, which is dynamic
        self.real = set(self.given)
        self.is_strict = True  # whether to refuse changes that cannot be followed

    def keep_unseen(self) -> None:
        """Keeps only the objects that are never used as a whole."""
        self.is_strict = False
        self.check()
        self.slots = {name: attrs for name, attrs in self.slots.items() if name not in self.real}
        self.given = []

    # ------------------------------------------------------------ the uses of the objects

    def check(self) -> None:
        """Refuses programs in which the variables would differ from the attributes."""
        start = _State()
        for name in self.given:
            held = self.objects.held(name) or []
            start.always |= {(name, a) for a in self.slots[name] if a in held}
        start.ever |= start.always
        self.flow(self.program.tree.body, start)

    def flow(self, statements: list[Any], state: _State) -> None:
        for s in statements:
            self.uses(s, state)
            match s:
                case gast.Assign(targets=[gast.Attribute(value=gast.Name(id=name), attr=attr)]):
                    self.store(s, name, attr, state)
                case gast.Assign(targets=[gast.Name(id=name)], value=value) if (
                    name in self.slots and self.objects.made(value)
                ):
                    state.made(name)
                    default = {(name, a) for a in self.slots[name] if self.objects.of_class(name, a)}
                    state.always |= default
                    state.default |= default
                case gast.If():
                    other = state.copy()
                    self.flow(s.body, state)
                    self.flow(s.orelse, other)
                    state.join(other)
                case gast.For() | gast.While():
                    for _ in range(2):  # the second round starts with the state at the end of an iteration
                        inside = state.copy()
                        self.flow(s.body, inside)
                        state.join(inside)
                case gast.Try() | gast.With():  # which uses objects as a whole
                    for name, attr in _set_in(s):
                        state.escaped |= {name} & self.slots.keys()
                        self.store(s, name, attr, state)

    def store(self, s: Any, name: str, attr: str, state: _State) -> None:
        if attr not in self.slots.get(name, ()):
            escaped = [x for x in state.escaped if attr in self.slots[x]]
            if escaped:
                self.refuse(s, escaped[0], f"`{attr}` is set on an object that may be")
            return
        if name in self.given and self.objects.is_cached(name, attr):
            self.refuse(s, name, f"`{attr}` is computed once for the argument")
        if name in state.escaped:
            self.refuse(s, name, f"`{attr}` is set after something else may hold")
        state.always.add((name, attr))
        state.default.discard((name, attr))
        state.ever.add((name, attr))

    def refuse(self, s: Any, name: str, what: str) -> None:
        self.real.add(name)
        if not self.is_strict:
            return
        name = shown_name(self.program, name)
        self.program.refuse(
            s,
            f"{what} `{name}`",
            "the change would be seen there, and following it is not supported",
            "make a new object in the place of the change",
        )

    def uses(self, s: Any, state: _State) -> None:
        """Records the uses of objects as a whole, and the reads of class attributes."""
        for n in walk(s) if not isinstance(s, (gast.If, gast.For, gast.While, gast.FunctionDef)) else ():
            if isinstance(n, gast.Attribute) and isinstance(n.ctx, gast.Load):
                self.defaults |= state.default & {(getattr(n.value, "id", ""), n.attr)}
        slot = self.objects.asked(getattr(s, "value", None))
        if slot is not None and slot[1] in self.slots.get(slot[0], ()):
            self.ask(s, slot, state)
        for name in self.wholes(s):
            value = getattr(s, "value", None)
            self.real.add(name)
            if isinstance(s, (gast.If, gast.While)) or self.objects.only_looks(value):
                continue
            partly = sorted(a for x, a in state.ever - state.always if x == name)
            if partly:
                self.refuse(s, name, f"`{partly[0]}` is set on some paths only, and the whole is used, of")
            if isinstance(value, gast.Call) and self.objects.may_change(value):
                self.refuse(s, name, "a call that may change its arguments is given")
            self.defaults |= {slot for slot in state.default if slot[0] == name}
            self.seen[id(s), name] = [a for a in self.slots[name] if (name, a) in state.always]
            if not isinstance(s, gast.Return) and self.objects.passes_on(s):
                state.escaped.add(name)
        if (
            isinstance(getattr(s, "value", None), gast.Call)
            and state.escaped
            and self.objects.may_change(s.value)
        ):
            self.refuse(
                s, min(state.escaped), "a call that may change objects, after something else may hold"
            )

    def ask(self, s: Any, slot: Slot, state: _State) -> None:
        """Records the answer of a test for an attribute."""
        answer = True if slot in state.always else None if slot in state.ever else False
        if self.answers.setdefault(id(s), answer) != answer:
            answer = self.answers[id(s)] = None
        if answer is None:
            self.maybe.add(slot)

    def wholes(self, s: Any) -> list[str]:
        """The objects that a statement uses as a whole, outside of its blocks."""
        match s:
            case gast.If(test=node) | gast.For(iter=node):
                parts = [node]
            case gast.Assign(targets=[gast.Attribute()], value=value):
                parts = [value]
            case gast.Assign(targets=[target], value=value):
                parts = [value, target]
            case gast.While() | gast.FunctionDef():
                parts = []
            case _:
                parts = [s]
        found: dict[str, None] = {}
        for part in parts:
            for name in names_read(part):
                if name in self.slots and not self.is_access(part, name):
                    found[name] = None
        return list(found)

    def is_access(self, node: Any, name: str) -> bool:
        """Whether an expression reads or tests one attribute of an object, or calls one that is no method."""
        slot = self.objects.asked(node) or self.objects.read(node)
        if slot is not None and slot[1] in self.slots.get(slot[0], ()):
            return True
        if isinstance(node, gast.Call) and name in self.given:
            func = node.func
            others = [*node.args, *(k.value for k in node.keywords)]
            return (
                isinstance(func, gast.Attribute)
                and not any(name in names_read(o) for o in others)
                and not self.objects.is_method(name, func.attr)
                and func.attr not in self.slots[name]
            )
        if not isinstance(node, gast.Attribute) or not isinstance(node.value, gast.Name):
            return False
        if name in self.given:
            return node.attr in (self.objects.held(name) or ())
        return self.objects.of_class(name, node.attr) and not self.objects.is_method(name, node.attr)

    def is_one(self, name: str, attr: str) -> bool:
        """Whether an attribute is set exactly once, so that the variable may be a name for the value."""
        return (name, attr) in self.single and (name, attr) not in self.defaults
