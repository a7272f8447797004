"""Rewrites containers among a derivative's arguments and results as nested tuples.

Form in and out: the tree of a derivative of one sweep. `p["w"]` of an argument `{"b": ..., "w": ...}` becomes
`p[1]`, and a result `{"b": db, "w": dw}` the tuple `(db, dw)`. Dynamic keys and structures are refused.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from .flatten_values import Values, refuse
from .structures import LEAF, Structure, listed

__all__ = ["check_lengths", "flattened"]

def check_lengths(*sources: Any) -> None:
    """Raises ValueError, as a strict `zip` does, unless all have one length."""
    for _ in zip(*sources, strict=True):
        pass


def flattened(
    function: ast.FunctionDef,
    given: Mapping[str, Structure],
    meaning: Callable[[ast.expr], Any],
    fresh: Callable[[str], str],
    names: tuple[str, str, str],
) -> Structure:
    """Changes the function in place, given the structures of its parameters; returns that of its result.
    `meaning` gives the object outside that an expression refers to, and `fresh` makes names; `names` are
    those of the helpers that add two adjoints, make a zero one, and compare lengths. Raises NotFlat.
    """
    flattener = _Flattener({n: s for n, s in given.items() if not s.is_leaf}, meaning, fresh, names)
    flattener.block(function.body)
    return flattener.result


class _Flattener(Values):
    """Statements."""

    def block(self, statements: list[ast.stmt]) -> None:
        found: list[ast.stmt] = []
        new: dict[str, _NewObject] = {}

        def finish(names: set[str]) -> None:
            for name in [name for name in new if name in names]:
                whole, self.env[name] = new.pop(name).whole(self.env)
                found.append(whole)

        for s in statements:
            match s:
                case ast.Assign(
                    targets=[ast.Name(id=name)],
                    value=ast.Call(func=ast.Attribute(value=owner, attr="__new__"), args=[cls]),
                ) if isinstance(self.meaning(owner), type) and isinstance(made := self.meaning(cls), type):
                    new[name] = _NewObject(s, made, {})
                    continue
                case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name), attr=attr)]) if name in new:
                    finish(names_in(s.value))
                    if name in new:
                        variable = new[name].attributes[attr] = self.fresh(f"{name}_{attr}")
                        s.targets = [ast.copy_location(ast.Name(variable, ast.Store()), s)]
            finish(names_in(s))
            self.statement(s)
            found += [*self.checks(s), s]
        finish({*new})
        statements[:] = found

    def checks(self, s: ast.stmt) -> list[ast.stmt]:
        """What compares lengths before a loop over a strict `zip`, which is no strict one any more."""
        match s:
            case ast.For(iter=ast.Call(func=ast.Name(id="zip"), args=[_, _, *_] as args) as call):
                is_strict = any(getattr(k.value, "value", None) is True for k in call.keywords)
                call.keywords = [k for k in call.keywords if k.arg != "strict"]
                new: list[ast.stmt] = []
                for k, a in enumerate(args):
                    if is_strict and not isinstance(a, (ast.Name, ast.Subscript, ast.Attribute)):
                        name = self.fresh("zipped")
                        new.append(ast.Assign([ast.Name(name, ast.Store())], a))
                        args[k] = ast.Name(name, ast.Load())
                new.append(ast.Expr(ast.Call(ast.Name(self.checker, ast.Load()), args, [])))
                for node in (n for part in new for n in ast.walk(part)):
                    ast.copy_location(node, s)
                return new if is_strict else []
        return []

    def statement(self, s: ast.stmt) -> None:
        match s:
            case ast.Assign(targets=[target]):
                s.value, structure = self.value(s.value)
                self.bind(target, structure)
            case ast.AugAssign():
                s.value = self.leaf(s.value)
                self.stored(s.target)
            case ast.For():
                s.iter, structure = self.value(s.iter)
                self.bind(s.target, self.item_of(s, structure))
                self.block(s.body)
                self.block(s.orelse)
            case ast.While():
                s.test = self.leaf(s.test)
                self.block(s.body)
            case ast.If():
                s.test = self.leaf(s.test)
                before = dict(self.env)
                self.block(s.body)
                after, self.env = self.env, before
                self.block(s.orelse)
                self.env = {**after, **self.env}
            case ast.Return(value=ast.expr() as value):
                s.value, self.result = self.value(value, is_result=True)
            case ast.Expr():
                s.value = self.effect(s.value)
            case _:
                for name, old in ast.iter_fields(s):
                    if isinstance(old, ast.expr):
                        setattr(s, name, self.leaf(old))
                    elif isinstance(old, list) and old and isinstance(old[0], ast.stmt):
                        self.block(old)

    def bind(self, target: ast.expr, structure: Structure) -> None:
        if isinstance(target, ast.Name):
            self.env.pop(target.id, None)
            if not structure.is_leaf:
                self.env[target.id] = structure
        elif isinstance(target, ast.Tuple):
            parts = structure.parts or (LEAF,) * len(target.elts)
            if len(parts) != len(target.elts) or structure.cls is dict:
                refuse(target, "a container is unpacked into another number of names")
            for element, part in zip(target.elts, parts, strict=True):
                self.bind(element, part)
        else:
            base = self.stored(target)
            if not structure.is_leaf and base.item != structure:
                refuse(target, "a container is stored into another one")

    def stored(self, target: ast.expr) -> Structure:
        """The structure of what is stored to: it must be an array or a list, and no argument's list."""
        structure = LEAF
        if isinstance(target, (ast.Subscript, ast.Attribute)):
            target.value, structure = self.value(target.value)
            if structure.is_given:
                refuse(target, "a list that is an argument is changed")
            if not (structure.is_leaf or structure.is_list):
                refuse(target, "a container is used as a whole")
        if isinstance(target, ast.Subscript):
            target.slice = self.leaf(target.slice)
        return structure

    def effect(self, node: ast.expr) -> ast.expr:
        """A statement that is a call: an append may make a list one of structured items."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[arg]) if (
                not self.env.get(name, LEAF).is_given
            ):
                node.args[0], item = self.value(arg)
                if not item.is_leaf:
                    self.env[name] = listed(item)
                return node
        return self.leaf(node)


@dataclass
class _NewObject:
    """An object that the last statements make: their first one, its class, and the variables of its
    attributes.
    """

    made: ast.Assign
    cls: type
    attributes: dict[str, str]

    def whole(self, env: Mapping[str, Structure]) -> tuple[ast.stmt, Structure]:
        """The statement that makes it at once."""
        declared = [f.name for f in fields(self.cls)] if is_dataclass(self.cls) else []
        keys = [k for k in declared if k in self.attributes]
        keys += [k for k in self.attributes if k not in declared]
        values: list[ast.expr] = [ast.Name(self.attributes[k], ast.Load()) for k in keys]
        new = ast.copy_location(ast.Assign(self.made.targets, ast.Tuple(values, ast.Load())), self.made)
        parts = tuple(env.get(self.attributes[k], LEAF) for k in keys)
        return ast.fix_missing_locations(new), Structure(self.cls, tuple(keys), parts)


def names_in(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
