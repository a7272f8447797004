"""Calls of the user's classes, written out: an object is made, and what its class does with it follows.

Form in and out: the normal form. `t = Tank(level)` becomes `t = object.__new__(Tank)` and the text of
`__init__`; the constructor that a dataclass was given becomes stores of attributes. Classes that make their
objects in another way are left alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache, partial
from types import FunctionType, SimpleNamespace
from typing import Any

import gast

from ..kinds.class_members import super_of
from ..primitives.code_reach import leads_far
from ..primitives.record import find_rule, is_nondifferentiable, refusal
from ..runtime.records import made_like
from ..source.compiling import make_function
from ..source.forwarders import forwarder
from ..transforms.analyses.bind_methods import MethodCall
from ..transforms.lowering.inline_calls import inline_calls
from ..transforms.trees.bind_objects import Objects
from ..transforms.trees.nodes import (
    assign,
    attribute,
    call,
    constant,
    is_atom,
    load,
    located,
    names_read,
    statements_in,
)
from ..transforms.trees.program import EMPTY, MISSING, Program, Scope
from ..transforms.trees.rebuild import rebuilt, rewritten
from ..values.objects import is_named_tuple, is_plain, lookup, make, sets_plainly

__all__ = [
    "has_maker",
    "maker_of",
    "makes_empty",
    "makes_known",
    "new_class",
    "put_in_constructors",
    "replacer_of",
]

ROUNDS = 8  # of constructors that call each other's
CONSTRUCTORS = ("__init__", "__post_init__")


def makes_plainly(cls: Any) -> bool:
    """Whether calling a class makes an empty object for `__init__`, and nothing else is declared of it."""
    return (
        isinstance(cls, type)
        and is_plain(cls)
        and lookup(type(cls), "__call__") is lookup(type, "__call__")
        and lookup(cls, "__new__") is lookup(object, "__new__")
        and sets_plainly(cls)
        and not inspect.isabstract(cls)
        and not hasattr(cls, "__del__")
        and find_rule(cls) is None
        and refusal(cls) is None
        and not is_nondifferentiable(cls)
    )


def makes_known(cls: Any) -> bool:
    """Whether what calling a class does can be written out, and is worth reading."""
    return (makes_plainly(cls) or is_frozen(cls)) and not leads_far(cls)


def makes_empty(cls: Any) -> bool:
    """Whether objects of a class are made empty, and then given their attributes."""
    return cls is SimpleNamespace or makes_plainly(cls)


def is_frozen(cls: Any) -> bool:
    """Whether a class is a dataclass whose objects are made by their constructor alone, and never changed."""
    if not isinstance(cls, type) or not is_dataclass(cls) or not is_plain(cls) or not is_generated(cls):
        return False
    setter = lookup(cls, "__setattr__")
    return (
        cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
        and isinstance(setter, FunctionType)
        and setter.__qualname__.endswith("__setattr__")
        and setter.__code__.co_filename == "<string>"
        and lookup(cls, "__new__") is lookup(object, "__new__")
        and isinstance(getattr(cls, "__post_init__", made_like), FunctionType)
        and find_rule(cls) is None
    )


@lru_cache(maxsize=1024)
def blank(cls: Any) -> Any:
    """An object of a frozen dataclass that holds nothing yet."""
    return make(cls, dict.fromkeys(f.name for f in fields(cls)))


def is_generated(cls: type) -> bool:
    """Whether the class has the constructor that `dataclass` made for it."""
    init = lookup(cls, "__init__")
    return is_dataclass(cls) and isinstance(init, FunctionType) and init.__code__.co_filename == "<string>"


def has_maker(function: Any) -> bool:
    """Whether a callable is a class of which `maker_of` makes the objects."""
    return isinstance(function, type) and (makes_known(function) or is_named_tuple(function))


@lru_cache(maxsize=1024)
def maker_of(cls: type) -> FunctionType:
    """A function that makes an object of a class, with the parameters of its constructor."""
    return forwarder(f"{cls.__name__}_made", inspect.signature(cls), "made_class", "", {"made_class": cls})


@lru_cache(maxsize=1024)
def replacer_of(cls: Any, names: tuple[str, ...]) -> FunctionType | None:
    """`dataclasses.replace` for objects of a class and these attributes, or `_replace` for named tuples, as a
    function that calls the constructor; None where what that does is not known.
    """
    if is_named_tuple(cls):
        kept = list(cls._fields)
    elif makes_known(cls) and is_generated(cls):
        kept = [f.name for f in fields(cls) if f.init]
    else:
        return None
    parameters = ", ".join(["obj", *(["*"] if names else []), *names])
    values = {name: name if name in names else f"obj.{name}" for name in kept}
    passed = ", ".join(f"{name}={value}" for name, value in values.items())
    text = f"def replace_{cls.__name__}({parameters}):\n    return made_class({passed})\n"
    return make_function(text, f"replace_{cls.__name__}", Scope({}), {"made_class": cls})


def new_class(node: Any, program: Program, kind: Callable[[Any], Any]) -> Any:
    """The class of `object.__new__(C)`, or MISSING."""
    match node:
        case gast.Call(func=gast.Attribute() as func, args=[made]) if program.resolve(func) in EMPTY:
            return class_of(made, program, kind)
    return MISSING


def class_of(node: Any, program: Program, kind: Callable[[Any], Any]) -> Any:
    """The class that an expression means, or MISSING."""
    found = program.resolve(node)
    if found is MISSING:
        found = getattr(kind(node), "value", MISSING)
    return found if isinstance(found, type) else MISSING


def put_in_constructors(
    program: Program, kind: Callable[[Any], Any], inlinable: Callable[[Any, Any], Program | None]
) -> Program:
    """The program with its calls of plain classes written out; the program itself where there is none, or one
    whose constructor cannot be put in.
    """
    writer = _Writer(program, kind)
    tree = rewritten(program.tree, writer.statement)
    if not writer.made and not writer.made_whole:
        return program
    made = program.with_tree(
        tree,
        names=writer.objects.names,
        bindings=writer.objects.all_bindings(),
    )
    for _ in range(ROUNDS):
        found = constructor_calls(made, writer.made)
        if not found:
            return set_in_frozen(made, writer.made)
        made = inline_calls(made, inlinable, find_method=partial(find, found), always=lambda tree: True)
    return program


def frozen_object(objects: Objects, cls: type, values: dict[str, Any]) -> Any:
    """The expression that makes an object of a frozen dataclass, which holds these values."""
    name = objects.name(blank(cls), f"blank_{cls.__name__}")
    return call(objects.name(made_like), load(name), **values)


def set_in_frozen(program: Program, made: dict[str, type]) -> Program:
    """The program in which `object.__setattr__` of a frozen object that is being made makes another one."""
    objects = Objects(program, program.names.copy())

    def statement(s: Any) -> list[Any] | None:
        match s:
            case gast.Expr(
                value=gast.Call(func=func, args=[gast.Name(id=name), gast.Constant(value=attr), value])
            ) if name in made and is_frozen(made[name]) and program.resolve(func) is object.__setattr__:
                held = {f.name: objects.names.temporary(f.name) for f in fields(made[name])}
                if held.pop(attr, None) is None:
                    program.refuse(
                        s,
                        f"`{attr}` of a frozen dataclass is set, which is no field of it",
                        "objects of the class are made of their fields alone",
                        f"declare it: `{attr}: object = field(init=False)`",
                    )
                reads = [assign(k, attribute(load(name), n)) for n, k in held.items()]
                values = {attr: value, **{n: load(k) for n, k in held.items()}}
                new = assign(name, frozen_object(objects, made[name], values))
                return [located(b, s) for b in (*reads, new)]
        return None

    tree = rewritten(program.tree, statement)
    return program.with_tree(
        tree,
        names=objects.names,
        bindings=objects.all_bindings(),
    )


def find(calls: dict[int, MethodCall | None], value: Any) -> MethodCall | None:
    return calls.get(id(value))


def constructor_calls(program: Program, made: dict[str, type]) -> dict[int, MethodCall | None]:
    """The calls of constructors, by identity, each with its function; None for one that is not known."""
    types: dict[str, type] = {}
    above: dict[str, Any] = {}
    found: dict[int, MethodCall | None] = {}
    for s in statements_in(program.tree.body):
        match s:
            case gast.Assign(
                targets=[gast.Name(id=name)], value=gast.Call(func=func, args=[gast.Name(id=of)])
            ) if program.resolve(func) is type and of in made:
                types[name] = made[of]
            case gast.Assign(
                targets=[gast.Name(id=name)], value=gast.Call(func=func, args=[base, gast.Name(id=own)])
            ) if program.resolve(func) is super and own in types:
                above[name] = super_of(program.resolve(base), types[own])
            case gast.Expr(
                value=gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=attr)) as node
            ) if attr in CONSTRUCTORS:
                function = getattr(above.get(name), attr, None)
                if name in made:
                    function = lookup(made[name], attr)
                    node = located(rebuilt(node, args=[load(name), *node.args]), node)
                if isinstance(function, FunctionType):
                    found[id(s.value)] = function, node
                elif name in made or name in above:
                    found[id(s.value)] = None
    return found


def attribute_of(name: str, attr: str) -> Any:
    """An attribute that is to be set."""
    return gast.Attribute(value=load(name), attr=attr, ctx=gast.Store())


class _Writer:
    def __init__(self, program: Program, kind: Callable[[Any], Any]) -> None:
        self.program, self.kind = program, kind
        self.objects = Objects(program, program.names.copy())
        self.made: dict[str, type] = {}  # by name the classes of what is made
        self.made_whole = False  # whether frozen objects are

    def statement(self, s: Any) -> list[Any] | None:
        """What stands in place of a statement that makes an object; None for all else."""
        is_named = isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
        return self.written(s, s.targets[0].id) if is_named else None

    def written(self, s: Any, target: str) -> list[Any] | None:
        """What `target = C(...)` stands for; None for all else."""
        node = s.value
        if not isinstance(node, gast.Call) or not isinstance(node.func, (gast.Name, gast.Attribute)):
            return None
        replaced = self.replaced(s, target)
        if replaced is not None:
            return replaced
        cls = class_of(node.func, self.program, self.kind)
        if cls is MISSING or not (makes_known(cls) or makes_empty(cls)):
            return None
        given = [*node.args, *(k.value for k in node.keywords)]
        if any(isinstance(a, gast.Starred) for a in given) or any(k.arg is None for k in node.keywords):
            return None
        taken = target in names_read(node) or self.made.get(target, cls) is not cls
        name = self.objects.names.fresh(target) if taken else target
        init = lookup(cls, "__init__")
        if is_frozen(cls):
            return self.frozen(s, cls, target)
        body: list[Any] | None = None
        if cls is SimpleNamespace and not node.args:
            body = [assign(attribute_of(name, k.arg), k.value) for k in node.keywords]
        elif is_generated(cls):
            body = self.stores(cls, node, name)
        elif isinstance(init, FunctionType):
            body = [self.calls(name, "__init__", node.args, node.keywords)]
        elif init is lookup(object, "__init__") and not given:
            body = []
        if body is None:
            return None
        self.made[name] = cls
        owner = cls if cls is SimpleNamespace else object
        new = call(attribute(load(self.objects.name(owner)), "__new__"), node.func)
        last = [] if name == target else [assign(target, load(name))]
        return [located(b, s) for b in (assign(name, new), *body, *last)]

    def replaced(self, s: Any, target: str) -> list[Any] | None:
        """What `target = dataclasses.replace(x, a=v)` stands for: a constructor, given all attributes."""
        node = s.value
        if self.program.resolve(node.func) is not replace or len(node.args) != 1:
            return None
        cls: Any = getattr(self.kind(node.args[0]), "cls", None)
        named = {k.arg: k.value for k in node.keywords}
        if None in named or not makes_known(cls) or not is_generated(cls):
            return None
        before: list[Any] = []
        for f in fields(cls):
            if f.init and f.name not in named:
                held = self.objects.names.temporary(f.name)
                before.append(assign(held, attribute(node.args[0], f.name)))
                named[f.name] = load(held)
        made = located(call(self.objects.name(cls), **named), s)
        written = self.written(assign(target, made, s), target)
        return None if written is None else [*(located(b, s) for b in before), *written]

    def frozen(self, s: Any, cls: type, target: str) -> list[Any] | None:
        """The object that the constructor of a frozen dataclass makes, at once."""
        body = self.stores(cls, s.value, target)
        if body is None:
            return None
        self.made_whole = True
        if hasattr(cls, "__post_init__"):
            *body, checks = body
            name = self.objects.names.temporary(target)
            self.made[name] = cls
            checks = rebuilt(checks, value=call(attribute(load(name), "__post_init__"), *checks.value.args))
            after = [checks, assign(target, load(name))]
        else:
            name, after = target, []
        values = {b.targets[0].attr: b.value for b in body if isinstance(b.targets[0], gast.Attribute)}
        before = [b for b in body if not isinstance(b.targets[0], gast.Attribute)]
        new = assign(name, frozen_object(self.objects, cls, values))
        return [located(b, s) for b in (*before, new, *after)]

    def calls(self, name: str, method: str, args: list[Any], keywords: list[Any]) -> Any:
        func = attribute(load(name), method)
        return gast.Expr(value=gast.Call(func=func, args=list(args), keywords=list(keywords)))

    def stores(self, cls: Any, node: Any, name: str) -> list[Any] | None:
        """What the constructor of a dataclass does; None for a call that does not fit."""
        signature = inspect.signature(cls)
        try:
            bound = signature.bind(*node.args, **{k.arg: k.value for k in node.keywords}).arguments
        except TypeError:
            return None
        body: list[Any] = []
        declared = {f.name: f for f in fields(cls)}
        for f in declared.values():
            if f.init and f.name in bound:
                value = bound[f.name]
            elif f.default is not NO_DEFAULT:
                value = self.atom(f.default, f.name)
            elif f.default_factory is not NO_DEFAULT:
                value = self.made_by(f.default_factory)
            elif f.init:
                return None
            else:
                continue
            if not is_atom(value):
                made = self.objects.names.temporary(f.name)
                body.append(assign(made, value))
                value = load(made)
            body.append(assign(attribute_of(name, f.name), value))
        if hasattr(cls, "__post_init__"):
            extra = [
                bound.get(p.name, None if p.default is p.empty else self.atom(p.default, p.name))
                for p in signature.parameters.values()
                if p.name not in declared
            ]
            body.append(self.calls(name, "__post_init__", extra, []))
        return body

    def made_by(self, factory: Any) -> Any:
        """The call of a default factory, or the display that says the same."""
        if factory is list:
            return gast.List(elts=[], ctx=gast.Load())
        if factory is dict:
            return gast.Dict(keys=[], values=[])
        name = getattr(factory, "__name__", "")
        return call(self.objects.name(factory, name if name.isidentifier() else "make"))

    def atom(self, value: Any, base: str) -> Any:
        if value is None or isinstance(value, (bool, int, float, str)):
            return constant(value)
        return load(self.objects.name(value, base))
