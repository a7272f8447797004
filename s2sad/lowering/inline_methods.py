"""Inlines methods whose objects have known kinds, and functions that change their arguments.

Form in and out: the normal form.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from types import BuiltinFunctionType, FunctionType, SimpleNamespace
from typing import Any

import gast
import numpy as np

from ..analysis.cached_properties import inline_cached_properties
from ..analysis.constructors import inline_constructors, makes_empty, makes_known
from ..analysis.object_copies import copier_of, is_copier
from ..analysis.object_facts import KnownObjects
from ..analysis.primitive_table import PRIMITIVES
from ..analysis.writes import sets_attributes
from ..kinds.class_members import field_kind, holds_object, member_of, setter_of
from ..kinds.decided_tests import TESTS
from ..kinds.lattice import Dict, Instance, Kind, List, Object, Record, Tuple, Unknown
from ..runtime.heap_keys import holds_attribute
from ..runtime.object_graph import check_members, reference
from ..transforms.analyses.bind_methods import LOOKING, MethodCall, called_method, in_place_call, method_names
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.operations import rule_of_one
from ..transforms.lowering.drop_untaken import drop_untaken
from ..transforms.lowering.hoist_fields import hoist_fields
from ..transforms.lowering.inline_calls import inline_calls
from ..transforms.lowering.merge_objects import merge_objects
from ..transforms.lowering.separate_loops import separate_loops
from ..transforms.trees.bind_objects import Objects
from ..transforms.trees.nodes import (
    assign,
    attribute,
    bound_here,
    call,
    constant,
    find_nodes,
    has_stars,
    is_atom,
    load,
    located,
    names_read,
    same,
    statements_in,
    store,
    tuple_of,
)
from ..transforms.trees.program import EMPTY, Program, Scope
from ..transforms.trees.rebuild import parameter_names, rebuilt, rewritten, without_statements
from ..values.objects import is_named_tuple, is_plain
from .expand_contexts import expand_contexts
from .expand_iterators import expand_iterators, without_iterators
from .inline_generators import inline_generators
from .self_recursion import calls_itself
from .unroll import LoopFacts, have_lengths, without_lengths, without_varied_loops

__all__ = [
    "ROUNDS",
    "asks_for_kinds",
    "calls_of_functions",
    "class_scope",
    "classes_read",
    "has_objects",
    "has_starred_calls",
    "hoist_reads",
    "inline_changing_functions",
    "inline_methods",
    "without_untaken",
]

FORM = ("ndim", "shape", "dtype", "__class__")
ASKING = TESTS | {type, len, np.ndim, np.shape}
ROUNDS = 16  # of inlining: a method may call others

Kinds = Callable[[Any], Kind]
Inlinable = Callable[[Any, Any], Program | None]


def has_objects(program: Program, kinds: Mapping[str, Kind]) -> bool:
    """Whether a function reads objects of the user's classes."""
    free = [n for n in find_nodes(program.tree, gast.Name) if n.id not in program.locals]
    found = {id(v): v for v in map(program.resolve, free)}
    reached = map(program.resolve, find_nodes(program.tree, gast.Attribute))
    found |= {id(v): v for v in reached if not is_of_library(v)}
    return any(map(holds_record, kinds.values())) or any(
        is_plain(type(v))
        or makes_known(v)
        or makes_empty(v)
        or v is replace
        or is_copier(v)
        or (isinstance(v, type) and is_named_tuple(v))
        for v in found.values()
    )


def is_of_library(value: Any) -> bool:
    """Whether a class is one of the standard library, such as a lock: its attributes are not followed."""
    module = getattr(value, "__module__", None) or ""
    is_class = isinstance(value, type) and value is not SimpleNamespace
    return is_class and module.partition(".")[0] in sys.stdlib_module_names


def holds_record(kind: Kind) -> bool:
    match kind:
        case Record() | Object() | Instance():
            return True
        case Tuple(items, cls):
            return cls is not None or any(map(holds_record, items))
        case List(_, element):
            return holds_record(element)
        case Dict(items):
            return any(holds_record(k) for _, k in items)
    return False


def inline_methods(
    facts: Facts,
    sure: Facts,
    inlinable: Inlinable,
    recursive: set[Any],
    one_name: bool = True,
    loops: LoopFacts | None = None,
) -> Program:
    """The program, in normal form, with small methods and constructors inlined.

    `facts` assume that calls to be inlined do not change objects, `sure` do not; `one_name` says that objects
    are changed through one name each, so that kinds of attributes hold; `recursive` is that of
    `inline_generators`. With `loops`, loops over objects that
    are of several classes, or changed, are unrolled.
    """
    first, program, lengths = facts, facts.program, dict[str, int]()
    called, stored = set[tuple[Any, str]](), set[tuple[Any, str]]()
    for _ in range(ROUNDS):
        facts = facts.again(separate_loops(program))
        if not one_name:
            facts = facts.again(drop_untaken(of_class_tests(facts)))
        elif drop_untaken(facts) is not program:
            facts = facts.again(without_untaken(sure.again(program)).program)
        program = before = facts.program
        kind = facts.kind
        program = inline_constructors(expand_contexts(program, kind), kind, inlinable)
        if program is before and loops is not None:
            program, written = without_varied_loops(program, loops)
            lengths |= written
        if program is before:
            program = expand_iterators(merge_objects(facts.after(program)), kind)
            program = set_properties(inline_cached_properties(program, kind), facts)
            open_kinds = (Instance,) if one_name else (Instance, Record)
            program, guards = class_guards(program, facts, open_kinds, called)
            stored |= {
                (getattr(kind(node.value), "cls", None), node.attr)
                for node in find_nodes(program.tree, gast.Attribute)
                if isinstance(node.ctx, gast.Store)
            }
            program = inline_calls(
                program,
                inlinable,
                find_method=partial(method_without_rule, facts=facts, sure=partial(sure.again, program)),
                always=sets_attributes,
                guards=guards,
            )
            find_method = partial(method_without_rule, facts=facts)
            program = without_iterators(program)
            program = inline_generators(program, inlinable, recursive, find_method, guards)
            if lengths and loops is not None and same(program.tree, before.tree):
                program = loops.without_unseen(before)
            if same(program.tree, before.tree):
                break
    if lengths and not have_lengths(sure.again(program), lengths):
        return inline_methods(first, sure, inlinable, recursive, one_name)
    if one_name:
        refuse_replaced(program, called, stored)
    return without_lookups(without_lengths(program, lengths))


def of_class_tests(facts: Facts) -> Facts:
    """The facts with the kinds alone of tests of classes of objects that the function makes, or that a check
    tells the class of: no change through another name can make them others.
    """
    program, resolve = facts.program, facts.program.resolve
    values: dict[str, list[Any]] = {p: [None] for p in parameter_names(program.tree)}
    for s in statements_in(program.tree.body):
        for name in bound_here(s):
            value = s.value if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name) else None
            values.setdefault(name, []).append(value)

    def is_of(value: Any, *functions: Any) -> bool:
        return isinstance(value, gast.Call) and resolve(value.func) in functions

    def is_told(value: Any, seen: frozenset[str] = frozenset()) -> bool:
        if not isinstance(value, gast.Name):
            return isinstance(value, gast.Constant) or is_of(value, *EMPTY, reference)
        found, inner = values.get(value.id, []), seen | {value.id}
        return value.id in seen or (bool(found) and all(is_told(v, inner) for v in found))

    def is_test(value: Any) -> bool:
        match value:
            case gast.UnaryOp(op=gast.Not(), operand=gast.Name(id=name)) if len(values.get(name, ())) == 1:
                return is_test(values[name][0])
        return is_of(value, isinstance) and is_told(value.args[0])

    tests = [name for name, found in values.items() if len(found) == 1 and is_test(found[0])]
    return facts.with_kinds(program, {name: facts.kind_of_name(name) for name in tests})


def refuse_replaced(program: Program, called: set[tuple[Any, str]], stored: set[tuple[Any, str]]) -> None:
    """Refuses a program that may store attributes in place of methods that were put in, by class and name."""
    for cls, name in sorted(called, key=lambda member: member[1]):
        if (cls, name) in stored or (None, name) in stored:
            program.refuse(
                program.tree,
                f"the attribute `{name}` of a {cls.__name__}, in place of the method",
                "which of them is called is known at run time only",
                "call the function by another name than that of a method",
            )


def class_guards(
    program: Program, facts: Facts, open_kinds: tuple[type, ...], called: set[tuple[Any, str]]
) -> tuple[Program, Callable[[Any], list[Any]]]:
    """The program, and a function from an expression that calls a method to the checks in front of what is
    put in its place: that an object of these kinds, which may get attributes elsewhere, has none in place of
    the method. `called` gains the methods, with the classes.
    """
    if not any(isinstance(k, (Instance, Record)) for k in facts.kinds.values()):
        return program, lambda value: []
    objects = Objects(program, program.names.copy())
    check = objects.name(check_members)

    def is_open(kind: Kind, name: str) -> bool:
        is_held = isinstance(kind, Record) and field_kind(kind, name) is not None
        return isinstance(kind, (Instance, Record)) and not is_held and not name.startswith("__")

    def guards(value: Any) -> list[Any]:
        looked_up = [value, value.func] if isinstance(value, gast.Call) else [value]
        found = [
            (base, name)
            for node in looked_up
            for base, names in method_names(node)
            for name in names
            if is_open(facts.kind(base), name)
        ]
        called.update((facts.kind(base).cls, name) for base, name in found)
        open_ones = [(base, name) for base, name in found if isinstance(facts.kind(base), open_kinds)]
        return [gast.Expr(value=call(check, base, constant(name))) for base, name in open_ones]

    return program.with_tree(program.tree, bindings=objects.all_bindings(), names=objects.names), guards


def without_lookups(program: Program) -> Program:
    """The program without unread results of `super`, `type` and `holds_attribute`, left over from inlining.
    """
    for function in (super, type, holds_attribute):
        reads = Counter(names_read(program.tree.body))

        resolve = program.resolve

        def is_unread(s: Any, function: Any = function, reads: Any = reads, resolve: Any = resolve) -> bool:
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call(func=func)):
                    return resolve(func) is function and not reads[name]
            return False

        if any(map(is_unread, statements_in(program.tree.body))):
            program = program.with_tree(without_statements(program.tree, is_unread))
    return program


def inline_changing_functions(
    facts: Facts, inlinable: Inlinable, may_inline: Callable[[Any, tuple[Any, ...]], bool]
) -> Program:
    """The program, in normal form, with known functions that may change their arguments inlined, of any size,
    where `may_inline(function, place)`: their stores are followed in the caller.
    """
    for _ in range(ROUNDS):
        program = facts.program
        changing = [
            c
            for c in calls_of_functions(program, inlinable)
            if facts.may_change(c) and may_inline(program.resolve(c.func), program.extent(c))
        ]
        if not changing:
            break
        inlined = inline_calls(program, inlinable, needed=partial(is_among, changing))
        if same(program.tree, inlined.tree):
            break
        facts = facts.again(inlined)
    return facts.program


def calls_of_functions(program: Program, inlinable: Inlinable) -> list[Any]:
    """The calls of known functions that the user wrote."""
    calls = [(program.resolve(c.func), c) for c in find_nodes(program.tree, gast.Call)]
    return [c for f, c in calls if not program.leaves(f) and inlinable(f, c) is not None]


def has_starred_calls(program: Program) -> bool:
    """Whether a call has `*` or `**` arguments."""
    return any(map(has_stars, find_nodes(program.tree, gast.Call)))


def is_among(nodes: list[Any], node: Any) -> bool:
    return any(node is n for n in nodes)


def asks_for_kinds(program: Program) -> bool:
    """Whether a function tests types, shapes, dtypes or lengths."""
    asked = any(a.attr in FORM for a in find_nodes(program.tree, gast.Attribute))
    compared = {type(c.ops[0]) for c in find_nodes(program.tree, gast.Compare)}
    called = map(program.resolve, (c.func for c in find_nodes(program.tree, gast.Call)))
    asked = asked or not compared.isdisjoint((gast.Is, gast.IsNot))
    return asked or any(isinstance(f, Hashable) and f in ASKING for f in called)


def without_untaken(facts: Facts) -> Facts:
    """The facts of the program without the branches that the kinds of its names rule out."""
    while (found := drop_untaken(facts)) is not facts.program:
        facts = facts.again(found)
    return facts


def method_without_rule(
    value: Any, facts: Facts, open_too: bool = True, sure: Callable[[], Facts] | None = None
) -> MethodCall | None:
    """The method that an expression calls, found by the class of its object; None for a primitive and for a
    recursive method, and unless `open_too` for one of an object that may hold another. What a copy copies is
    told by `sure` facts, of which calls that come before it may be a part.
    """
    program, kind = facts.program, facts.kind
    if isinstance(value, gast.Call) and is_copier(program.resolve(value.func)) and len(value.args) == 1:
        function = None
        if sure is not None:
            function = copier_of(program.resolve(value.func), sure().kind(value.args[0]))
        return None if function is None or value.keywords else (function, value)
    is_builtin = isinstance(value, gast.Call) and isinstance(program.resolve(value.func), BuiltinFunctionType)
    if not is_builtin and rule_of_one(value, program, PRIMITIVES) is not None:
        return None
    found = called_method(value, facts)
    if found is not None and found[1].args:
        function, owner = found[0], kind(found[1].args[0])
        if isinstance(owner, (Record, Instance)) and isinstance(function, FunctionType):
            asked = value.func.attr if isinstance(getattr(value, "func", None), gast.Attribute) else ""
            is_special = asked.startswith("__") and asked.endswith("__")  # looked up in the class alone
            is_left = isinstance(owner, Instance) and not open_too and not is_special
            return None if is_left or calls_itself(owner.cls, function) else found
    return found


def set_properties(program: Program, facts: Facts) -> Program:
    """The program with stores to properties and items, and in-place operators, of objects as calls of their
    methods; an object in an attribute gets a name where it is called.
    """
    kind, names = facts.kind, program.names.copy()
    objects = Objects(program, names)

    def has_method(base: Any, name: str) -> bool:
        member = member_of(kind(base), name)
        return member is not None and member.role == "method"

    def key(s: Any, index: Any) -> tuple[list[Any], Any]:
        """The statements that make an index, and its atom: `a:b` becomes `slice(a, b)`."""
        match index:
            case gast.Tuple(elts=parts):
                before, parts = zip(*(key(s, p) for p in parts), strict=True) if parts else ((), ())
                made, value = [b for bs in before for b in bs], tuple_of(parts)
            case gast.Slice():
                bounds = [b or constant(None) for b in (index.lower, index.upper, index.step)]
                made, value = [], call(objects.name(slice), *bounds)
            case _:
                return [], index
        name = names.temporary("key")
        return [*made, assign(name, located(value, s), s)], load(name)

    def set_item(s: Any, base: Any, index: Any, value: Any) -> Any:
        method = attribute(base, "__setitem__")
        return located(gast.Expr(value=located(call(method, index, value), s)), s)

    def statement(s: Any) -> list[Any] | None:
        match s:
            case gast.Assign(targets=[gast.Attribute(value=base, attr=attr)], value=value):
                setter = setter_of(kind(base), attr)
                if setter is not None:
                    return [located(gast.Expr(value=call(objects.name(setter), base, value)), s)]
            case gast.Assign(targets=[gast.Subscript(value=base, slice=index)], value=value) if (
                has_method(base, "__setitem__")
            ):
                made, index = key(s, index)
                return [*made, set_item(s, base, index, value)]
            case gast.Assign(targets=[target], value=gast.Subscript(value=base, slice=index)) if (
                not is_atom(index) and has_method(base, "__getitem__")
            ):
                made, index = key(s, index)
                return [*made, assign(target, located(rebuilt(s.value, slice=index), s.value), s)]
            case gast.AugAssign(target=gast.Subscript(value=base, slice=index), op=op, value=value) if (
                has_method(base, "__setitem__")
            ):
                made, index = key(s, index)
                item = names.temporary(base.id)
                read = assign(item, gast.Subscript(value=base, slice=index, ctx=gast.Load()), s)
                change = located(gast.AugAssign(target=store(item), op=op, value=value), s)
                return [*made, read, change, set_item(s, base, index, load(item))]
            case (
                gast.Assign(value=gast.Call(func=gast.Attribute(value=base, attr=attr) as func) as value)
                | gast.Expr(value=gast.Call(func=gast.Attribute(value=base, attr=attr) as func) as value)
            ) if holds_object(kind(base), attr):
                held = names.temporary(attr)
                return [assign(held, func, s), rebuilt(s, value=rebuilt(value, func=load(held)))]
            case gast.AugAssign(target=gast.Name(id=name), op=op, value=value):
                changed, is_open = in_place_call(s, facts)
                if changed is None and isinstance(kind(load(name)), (Instance, Record)):
                    changed = located(gast.BinOp(left=load(name), op=op, right=value), s)
                if changed is not None and not is_open:
                    return [assign(name, changed, s)]
        return None

    tree = rewritten(program.tree, statement)
    if same(tree, program.tree):
        return program
    return program.with_tree(tree, bindings=objects.all_bindings(), names=names)


def hoist_reads(facts: Facts) -> Program:
    """The program with repeated reads of attributes hoisted, unless a call may change the objects."""
    program, kind = facts.program, facts.kind
    objects = KnownObjects(facts, {})
    for s in statements_in(program.tree.body):
        value = getattr(s, "value", None)
        if isinstance(value, gast.Call) and objects.may_change(value):
            operands = [*value.args, *(k.value for k in value.keywords), getattr(value.func, "value", None)]
            if any(isinstance(n, gast.Name) and may_be_object(kind(n)) for n in operands):
                return program

    return hoist_fields(facts)


def may_be_object(kind: Kind) -> bool:
    return isinstance(kind, Unknown) or holds_record(kind)


@lru_cache(maxsize=1024)
def class_scope(cls: type) -> Scope:
    """A scope that holds a class by its name, so that a cached derivative looks up its members again."""
    return Scope({cls.__name__: cls})


def classes_read(facts: Facts) -> set[tuple[type, str]]:
    """The members of known classes, as class and name, that a program reads or uses as operators."""
    found: set[tuple[type, str]] = set()
    arrays = {n for n, kind in facts.kinds.items() if not isinstance(kind, (Record, Instance, Tuple))}
    for n in find_nodes(facts.program.tree, *LOOKING):
        for base, names in method_names(n):
            if getattr(base, "id", None) in arrays:
                continue
            owner = facts.kind(base)
            if isinstance(owner, (Record, Instance, Tuple)) and owner.cls is not None:
                found.update((owner.cls, name) for name in names)
    return found
