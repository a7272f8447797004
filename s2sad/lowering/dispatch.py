"""The methods of objects whose classes are known by what lists, dicts and attributes of other objects hold.

    for layer in net.layers:            for layer in net.layers:
        x = layer.forward(x)                layer_1 = reference(layer, Dense)
                                            x = layer_1.forward(x)
        x = layer.act(x)                    act_1 = layer.act  # a function in an attribute
                                            x = act_1(x)

`Memory` tells the classes, of the program as it would be with a heap. What methods that are still to be put
in may store there is not in it, so that each class is checked at run time; `plain_slots` drops the checks of
what the memory of the whole program knows. An object of several classes has a branch for each.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from types import FunctionType
from typing import Any

import gast

from ..analysis.declined_operands import may_decline
from ..kinds.class_members import member_of
from ..kinds.lattice import Instance, Record, Scalar, widen
from ..kinds.memory import ANYTHING, DICTS, Memory
from ..runtime.object_graph import check_function, check_number, reference
from ..transforms.analyses.bind_methods import BINARY, method_names
from ..transforms.analyses.facts import Facts
from ..transforms.trees.bind_objects import Objects
from ..transforms.trees.nodes import assign, attribute, call, find_nodes, is_atom, load, located, store
from ..transforms.trees.program import MISSING, Program
from ..transforms.trees.rebuild import rebuilt, rewritten, substitute
from ..values.objects import ABSENT, lookup
from .expand_iterators import is_consumer
from .name_methods import looked_up, names_called_only

__all__ = ["dispatch_methods"]

MANY = 6  # classes of which an object may be; of more, the method is a dynamic call
CONTAINERS = {list, deque, object, *DICTS}


def dispatch_methods(facts: Facts, memory: Memory, met: Callable[[Any, Any], None]) -> Program:
    """The program, in normal form, with names of a known class for objects whose methods or properties are
    used; `memory` is that of the program with a heap. The program itself where there is none. `met` is told
    each method that is called so, with the extent of the call. Tests of classes are decided first.
    """
    program = facts.program
    names = program.names.copy()
    objects = Objects(program, names)
    done = {  # what was named before, whose method or property cannot be put in
        s.targets[0].id
        for s in find_nodes(program.tree, gast.Assign)
        if isinstance(s.value, gast.Call) and program.resolve(s.value.func) is reference
    }

    only_called = names_called_only(program)

    def choices(x: Any) -> list[Any]:
        """The classes of an object that only the memory knows, and the functions that it may be."""
        if not isinstance(x, gast.Name) or x.id not in memory.names or program.resolve(x) is not MISSING:
            return []
        if x.id in done:
            return []
        held = memory.names[x.id]
        found = {memory.functions.get(site, memory.classes.get(site, object)) for site in held.sites or ()}
        is_known = held.is_object and found.isdisjoint(CONTAINERS) and len(found) <= MANY
        if not is_known or isinstance(facts.kind(x), (Record, Instance)):
            return []
        return sorted(found, key=_place)

    def of_each(s: Any, x: Any, choices: list[Any]) -> list[Any]:
        choice, *others = choices
        is_class = isinstance(choice, type)
        named = load(objects.name(choice))
        if is_class:
            one = names.temporary(x.id)
            check = assign(one, call(objects.name(reference), x, named), s)
            body = [check, *named_in(s, x.id, one)]
        else:
            check = located(gast.Expr(value=call(objects.name(check_function), x, named)), s)
            body = [rebuilt(s, value=rebuilt(s.value, func=named))]
        if not others:
            return body if is_class else [check, *body]
        test, asked = names.temporary("is_one"), x
        first = []
        if is_class:
            asked = load(names.temporary("cls"))
            first = [assign(asked.id, call(objects.name(type), x), s)]
        is_one = gast.Compare(left=asked, ops=[gast.Is()], comparators=[named])
        branch = gast.If(test=load(test), body=body, orelse=of_each(s, x, others))
        return [*first, assign(test, located(is_one, s), s), located(branch, s)]

    def is_held(x: Any, name: str) -> bool:
        """Whether an attribute surely is one of the object itself."""
        kind = facts.kind(x)
        found = [kind.cls] if isinstance(kind, (Record, Instance)) else choices(x)
        return bool(found) and all(isinstance(c, type) and lookup(c, name) is ABSENT for c in found)

    def is_number(x: Any) -> bool:
        """Whether only the memory knows that an operand is a number."""
        held = memory.names.get(getattr(x, "id", ""), ANYTHING)
        is_one = isinstance(held.kind, Scalar) and held.sites == frozenset() and not held.is_optional
        return is_one and not isinstance(widen(facts.kind(x)), Scalar)

    def statement(s: Any) -> list[Any] | None:
        value = s.value if isinstance(s, (gast.Assign, gast.Expr)) else None
        match value:
            case gast.Call(func=gast.Attribute(value=gast.Name() as x, attr=name)) if is_held(x, name):
                function = names.temporary(name)
                called = rebuilt(value, func=load(function))
                return [assign(function, value.func, s), rebuilt(s, value=called)]
            case gast.Call(func=func, args=[x]) if program.resolve(func) is replace and choices(x):
                return of_each(s, x, choices(x))
        by_text = looked_up(s, program, only_called)
        if by_text is not None and choices(by_text[0]):
            return of_each(s, by_text[0], choices(by_text[0]))
        looked = [value]
        if isinstance(value, gast.Call) and not is_atom(value.func):
            looked.append(value.func)
        asking = [(node, *asked) for node in looked for asked in method_names(node)]
        for node, x, members in [*asking, *((s, *asked) for asked in called_by(s, program))]:
            found = choices(x)
            known = [c for c in found if isinstance(c, type)]
            asked = [member_of(Instance(c), m) for c in known for m in members]
            used = [u for u in asked if u is not None and u.role in ("method", "property")]
            is_called = isinstance(node, gast.Call) and node.func is x
            is_computed = any(isinstance(lookup(c, m), cached_property) for c in known for m in members)
            if (used or is_computed) if known == found else is_called:
                for member in used:
                    met(member.value, program.extent(node if hasattr(node, "lineno") else s))
                return of_each(s, x, found) if not isinstance(node, gast.BinOp) else of_operand(s, x, found)
        return None

    def of_operand(s: Any, x: Any, classes: list[Any]) -> list[Any]:
        """The statement for an operand of these classes. Beside what only the memory knows to be a number the
        operator is a call of the method, if this does not decline numbers.
        """
        is_right = s.value.right is x
        other = s.value.left if is_right else s.value.right
        name = f"__{'r' if is_right else ''}{BINARY[type(s.value.op)]}__"
        found = [lookup(cls, name) for cls in classes]
        if not is_number(other) or not all(isinstance(f, FunctionType) for f in found):
            return of_each(s, x, classes)
        number = memory.names[other.id].kind
        if any(may_decline(f, [Instance(c), number]) for f, c in zip(found, classes, strict=True)):
            return of_each(s, x, classes)
        check = located(gast.Expr(value=call(objects.name(check_number), other)), s)
        return [check, *of_each(rebuilt(s, value=call(attribute(x, name), other)), x, classes)]

    def test(s: Any) -> list[Any] | None:
        match s:
            case gast.Assign(value=gast.Call(func=func, args=[x, _])) if program.resolve(func) is isinstance:
                found = choices(x)
                is_one = len(found) == 1 and isinstance(found[0], type) and not memory.names[x.id].is_optional
                return of_each(s, x, found) if is_one else None
        return None

    tree = rewritten(program.tree, test)
    if tree is program.tree:
        tree = rewritten(program.tree, statement)
    if tree is program.tree:
        return program
    return program.with_tree(tree, bindings=objects.all_bindings(), names=names)


def _place(choice: Any) -> tuple[str, ...]:
    """Where a class or function is defined: an order of them that is the same in each run, also of lambdas,
    which share one name.
    """
    code = getattr(choice, "__code__", None)
    named = (choice.__name__, choice.__module__ or "", choice.__qualname__)
    return named if code is None else (*named, f"{code.co_firstlineno:9}", str([*code.co_positions()]))


def called_by(s: Any, program: Program) -> list[tuple[Any, list[str]]]:
    """The objects whose classes may have a method or property that a statement calls, with the names of
    these.
    """
    match s:
        case gast.For(iter=gast.Call() as value) | gast.Assign(value=gast.Call() as value) if is_consumer(
            value, program
        ):
            return [(x, ["__iter__"]) for x in value.args if isinstance(x, gast.Name)]
        case gast.Assign(targets=[gast.Tuple()], value=gast.Name() as x) | gast.For(iter=gast.Name() as x):
            return [(x, ["__iter__"])]
        case gast.Assign(targets=[gast.Subscript(value=x)]) | gast.AugAssign(target=gast.Subscript(value=x)):
            return [(x, ["__setitem__"])]
        case gast.Assign(targets=[gast.Attribute(value=x, attr=name)]):
            return [(x, [name])]
        case gast.AugAssign(target=gast.Name(id=x), op=op):
            name = BINARY[type(op)]
            return [(load(x), [f"__i{name}__", f"__{name}__"])]
    return []


def named_in(s: Any, name: str, one: str) -> list[Any]:
    """A statement with `one` for an object with this name."""
    match s:
        case gast.AugAssign(target=gast.Name()):
            return [rebuilt(s, target=store(one)), assign(name, load(one), s)]
        case gast.For():
            return [rebuilt(s, iter=substitute(s.iter, {name: load(one)}))]
        case gast.Expr() | gast.Assign(targets=[gast.Name() | gast.Tuple()]):
            return [rebuilt(s, value=substitute(s.value, {name: load(one)}))]
    return [substitute(s, {name: load(one)})]
