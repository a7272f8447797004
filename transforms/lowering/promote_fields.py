"""Makes variables of the attributes that a function sets (scalar replacement).

Form in: the normal form. Form out: the same, where `x.a = v` on an object that the function made, or was
given, is `a = v`, and a later `x.a` reads the variable. The object is still changed if it escapes; where it
is used as a whole it is `holding(x, a=a)`, which returns x and declares its attributes. An object that does
not escape is not made at all.

A change after the object escapes is refused, and `others(x)` names the possible aliases of a parameter's
object, which are checked at run time.
"""

from __future__ import annotations

from typing import Any

import gast

from ..trees import bind_objects
from ..trees.nodes import assign, attribute, call, constant, load, located, same
from ..trees.program import Program
from ..trees.rebuild import Rewriter, rebuilt, substitute
from .follow_fields import Fields, Objects

__all__ = ["drop_unseen", "promote_fields"]


def promote_fields(program: Program, objects: Objects, helper: Any) -> Program:
    """The program with variables for the attributes that it sets; `helper(name)` is a run-time helper."""
    fields = Fields(program, objects)
    if not fields.slots:
        return program
    fields.check()
    return _Promoter(program, fields, helper).run()


def drop_unseen(program: Program, objects: Objects, helper: Any) -> Program:
    """The program with variables for the attributes of those objects alone that never escape, as attributes
    of these may hold further ones. The program itself where there is none.
    """
    fields = Fields(program, objects)
    if fields.slots:
        fields.keep_unseen()
    made = _Promoter(program, fields, helper).run() if fields.slots else program
    return program if same(made.tree, program.tree) else made


class _Promoter(Rewriter):
    """Replaces the attributes of `fields` by variables."""

    def __init__(self, program: Program, fields: Fields, helper: Any) -> None:
        self.program, self.fields, self.objects, self.helper = program, fields, fields.objects, helper
        self.names = program.names.copy()
        self.named = bind_objects.Objects(program, self.names)
        self.replaced: dict[str, Any] = {}  # old names of attributes, and their variables

    def run(self) -> Program:
        program = self.program
        slots = [(x, a) for x, attrs in self.fields.slots.items() for a in attrs]
        self.variables = {slot: self.variable(*slot) for slot in slots}
        self.flags = {slot: self.names.temporary(slot[1]) for slot in slots if slot in self.fields.maybe}
        first = program.tree.body[0]
        start = []
        for name in self.fields.given:
            others = self.objects.others(name)
            if others is not None:
                check = call(self.bound("refuse_held_object"), load(name), *others)
                start.append(located(gast.Expr(value=check), first))
            held = self.objects.held(name) or ()
            start += [
                assign(self.variables[name, a], attribute(load(name), a), first)
                for a in self.fields.slots[name]
                if a in held
            ]
            start += self.unset(name, first)
        body = self.block(program.tree.body)
        replaced = {target: self.last(variable) for target, variable in self.replaced.items()}
        tree = rebuilt(program.tree, body=[*start, *substitute(body, replaced)])
        effects = frozenset(slot for slot in self.variables if slot[0] in self.fields.real)
        return program.with_tree(
            tree,
            names=self.names,
            bindings=self.named.all_bindings(),
            effects=program.effects | effects,
        )

    def last(self, variable: Any) -> Any:
        """The last name in a chain of replacements: for `b = B(a.p)`, `b.p` is the variable of `a.p`."""
        while variable.id in self.replaced:
            variable = self.replaced[variable.id]
        return variable

    def variable(self, name: str, attr: str) -> str:
        fields = self.fields
        value = fields.values[name, attr]
        if fields.is_one(name, attr) and isinstance(value, gast.Name) and value.id in fields.lasting:
            return str(value.id)
        return self.names.fresh(attr if self.names.is_free(attr) else f"{name}_{attr}")

    def unset(self, name: str, like: Any) -> list[Any]:
        """Statements for the attributes that an object does not have yet."""
        flags = [slot for slot in self.flags if slot[0] == name]
        return [
            new
            for slot in flags
            for new in (
                assign(self.flags[slot], constant(False), like),
                assign(self.variables[slot], constant(None), like),
            )
        ]

    def bound(self, name: str) -> str:
        return self.named.name(self.helper(name), name)

    def statement(self, s: Any) -> list[Any]:
        fields = self.fields
        before: list[Any] = []
        mapping: dict[str, Any] = {}
        for name in fields.slots:
            if (id(s), name) in fields.seen:
                mapping[name] = load(self.whole(s, name, before))
        match s:
            case gast.Assign(targets=[gast.Attribute(value=gast.Name(id=name), attr=attr) as target]) if (
                name,
                attr,
            ) in self.variables:
                value = substitute(s.value, mapping)
                effect = [assign(target, value, s)] if name in fields.real else []
                variable = self.variables[name, attr]
                held = [] if getattr(s.value, "id", None) == variable else [assign(variable, value, s)]
                if (name, attr) in self.flags:
                    held.append(assign(self.flags[name, attr], constant(True), s))
                return [*before, *held, *effect]
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if (
                name in fields.slots and self.objects.made(value)
            ):
                defaults = [
                    assign(self.variables[name, a], attribute(fields.classes[name], a), s)
                    for a in fields.slots[name]
                    if (name, a) in fields.defaults
                ]
                return [*([s] if name in fields.real else []), *self.unset(name, s), *defaults]
            case gast.Assign() if id(s) in fields.answers:
                slot, answer = self.objects.asked(s.value), fields.answers[id(s)]
                assert slot is not None
                return [rebuilt(s, value=load(self.flags[slot]) if answer is None else constant(answer))]
            case gast.Assign(targets=[target], value=value) if (
                (slot := self.objects.read(value)) is not None
                and slot[0] in fields.slots
                and slot[0] not in mapping
            ):
                name, attr = slot
                if slot in self.variables:
                    variable = load(self.variables[slot])
                    is_named = isinstance(target, gast.Name) and target.id in fields.once
                    if is_named and fields.is_one(name, attr):
                        self.replaced[target.id] = variable
                        return []
                    return [assign(target, variable, s)]
                if name not in fields.given and isinstance(value, gast.Attribute):
                    return [assign(target, attribute(fields.classes[name], attr), s)]
            case gast.If():
                return [*before, self.inside(s)]
            case gast.For():
                return [*before, self.inside(rebuilt(s, iter=substitute(s.iter, mapping)))]
            case gast.While():
                return [self.inside(s)]
        return [*before, substitute(s, mapping) if mapping else s]

    def whole(self, s: Any, name: str, before: list[Any]) -> str:
        """A name for an object that is used as a whole, with its attributes declared."""
        parts = {a: load(self.variables[name, a]) for a in self.fields.seen[id(s), name]}
        for attr in (self.objects.held(name) or ()) if name in self.fields.given else ():
            if attr not in self.fields.slots[name] and self.objects.varies(name, attr):
                part = self.names.temporary(attr)
                before.append(assign(part, attribute(load(name), attr), s))
                parts[attr] = load(part)
        whole = self.names.temporary(name)
        before.append(assign(whole, call(self.bound("holding"), load(name), **parts), s))
        return whole
