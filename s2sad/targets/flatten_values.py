"""Rewrites expressions of containers as expressions of nested tuples and lists; the base of the rewriting of
statements (`flatten_containers.py`).
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable
from typing import Any, NoReturn

from ..values.objects import is_named_tuple
from .literal_indices import constant_of
from .structures import LEAF, Structure, listed, owned, sequence, structure_of

__all__ = ["NotFlat", "Values", "refuse"]

# Helpers whose result has the structure of their first argument.
MIRRORS = frozenset({"zeros_like", "copy_adjoint", "own_tangent", "add", "add_at", "without_integers"})

Value = tuple[ast.expr, Structure]


class NotFlat(Exception):
    """A use of a container without an equivalent for tuples."""

    def __init__(self, node: ast.AST, why: str) -> None:
        super().__init__(why)
        self.node, self.why = node, why


class Values:
    """Expressions, given the structures `env` of variables; the others are as in `flattened`."""

    def __init__(
        self,
        env: dict[str, Structure],
        meaning: Callable[[ast.expr], Any],
        fresh: Callable[[str], str],
        names: tuple[str, str, str],
    ) -> None:
        self.env, self.meaning, self.fresh = env, meaning, fresh
        self.adder, self.zeros, self.checker = names
        self.result = LEAF

    def is_helper(self, name: str) -> bool:
        """Whether a name means a function of this package."""
        found = self.meaning(ast.Name(name, ast.Load()))
        return getattr(found, "__module__", "").partition(".")[0] == __name__.partition(".")[0]

    def leaf(self, node: ast.expr) -> ast.expr:
        """An expression that must be no container."""
        new, structure = self.value(node)
        if not owned(structure).is_leaf:
            refuse(node, "a container is used as a whole")
        return new

    def value(self, node: ast.expr, is_result: bool = False) -> Value:
        match node:
            case ast.Name():
                return node, self.env.get(node.id, LEAF)
            case ast.Subscript(value=base):
                node.value, structure = self.value(base)
                return self.item(node, structure)
            case ast.Attribute(value=base, attr=attr):
                node.value, structure = self.value(base)
                if structure.is_leaf:
                    return node, LEAF
                if attr not in structure.keys or structure.cls is dict:
                    refuse(node, f"the method or attribute `{attr}` of a container")
                return part(node, node.value, structure, structure.keys.index(attr))
            case ast.Dict(keys=keys):
                return self.display_of_dict(node, keys)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return self.display(node, elts, is_result)
            case ast.Call(func=ast.Name(id=name), args=[_, *_]) if name in MIRRORS and self.is_helper(name):
                return self.mirror(node)
            case ast.Call(func=ast.Name(id="adjoint_like"), args=[base]) if self.is_helper("adjoint_like"):
                return self.adjoint(node, base)
            case ast.Call(func=ast.Name(id="values_adjoint"), args=[parts, base]) if self.is_helper(
                "values_adjoint"
            ):
                return self.of_values(node, parts, base)
            case ast.Call(func=ast.Name(id="merged"), args=[base, over]) if self.is_helper("merged"):
                return self.merged(node, base, over)
            case ast.Call(func=ast.Name(id="kept_items"), args=[dout, base, over]) if self.is_helper(
                "kept_items"
            ):
                return self.kept_items(node, dout, base, over)
            case ast.Call(
                func=ast.Attribute(value=base, attr="values" | "keys" | "items" as of), args=[]
            ) if (found := self.parts_of_dict(node, base, of)) is not None:
                return found
            case ast.Call(func=ast.Name(id="made_like"), args=[base]) if self.is_helper("made_like"):
                return self.replaced(node, base)
            case ast.Call(func=ast.Name() as func) if (
                isinstance(cls := self.meaning(func), type) and is_named_tuple(cls)
            ):
                return self.named_tuple(node, cls)
            case ast.Call(func=ast.Name(id="len"), args=[first]):
                node.args[0], _ = self.value(first)
                return node, LEAF
            case ast.Call(func=ast.Name(id="reversed"), args=[first]):
                node.args[0], structure = self.value(first)
                if structure.is_leaf:
                    return node, LEAF
                back = ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1)))
                new = ast.fix_missing_locations(
                    ast.copy_location(ast.Subscript(node.args[0], back, ast.Load()), node)
                )
                return self.item(new, structure)
            case ast.Call(func=ast.Name(id="list"), args=[first]):
                node.args[0], structure = self.value(first)
                if structure.is_leaf or structure.is_list:
                    return node, owned(structure)
                if structure.cls in (list, tuple):
                    return node.args[0], sequence(list, structure.parts)
            case ast.Call(func=ast.Name(id="zip" | "enumerate" as name), args=args):
                if name == "enumerate":  # compilers take `start` by its position
                    args, node.keywords = [*args, *(k.value for k in node.keywords)], []
                values = [self.value(a) for a in args]
                node.args = [v for v, _ in values]
                items = [self.item_of(node, s) for _, s in values]
                items = [LEAF, *items[:1]] if name == "enumerate" else items
                return node, LEAF if all(s.is_leaf for s in items) else listed(sequence(tuple, items))
            case ast.Call(func=ast.Attribute(value=base, attr=attr)) if (
                method := self.method(node, base, attr)
            ) is not None:
                return method
        for name, old in ast.iter_fields(node):
            if isinstance(old, ast.expr):
                setattr(node, name, self.leaf(old))
            elif isinstance(old, list):
                setattr(node, name, [self.within(x) for x in old])
        return node, LEAF

    def method(self, node: ast.Call, base: ast.expr, attr: str) -> Value | None:
        """The call of a method of a list; None for all others."""
        new, structure = self.value(base)
        if not structure.is_list or not isinstance(node.func, ast.Attribute):
            return None
        node.func.value = new
        node.args = [self.leaf(a) for a in node.args]
        if attr in ("copy", "index", "count"):
            return node, owned(structure) if attr == "copy" else LEAF
        if structure.is_given:
            refuse(node, "a list that is an argument is changed")
        return (node, structure.parts[0]) if attr == "pop" else (node, LEAF)

    def within(self, node: Any) -> Any:
        """A part of an expression that is in a list of parts."""
        match node:
            case ast.expr():
                return self.leaf(node)
            case ast.keyword():
                node.value = self.leaf(node.value)
            case ast.comprehension():
                node.iter = self.leaf(node.iter)
        return node

    def item(self, node: ast.Subscript, structure: Structure) -> Value:
        if structure.is_leaf:
            node.slice = self.leaf(node.slice)
            return node, LEAF
        index = constant_of(node.slice)
        if structure.is_list:
            node.slice = self.leaf(node.slice)
            is_part = isinstance(node.slice, ast.Slice)
            return node, listed(structure.parts[0]) if is_part else structure.parts[0]
        if isinstance(index, slice) and structure.cls in (list, tuple):
            return node, sequence(structure.cls, structure.parts[index])
        if isinstance(index, str) and index in structure.keys and structure.cls is dict:
            return part(node, node.value, structure, structure.keys.index(index))
        count = len(structure.parts)
        if type(index) is int and structure.cls is not dict and -count <= index < count:
            return part(node, node.value, structure, index % count)
        if structure.cls is dict or index is not None or structure.item is None:
            refuse(node, "an item of a container that is not known before the run")
        node.slice = self.leaf(node.slice)
        return node, structure.item

    def display_of_dict(self, node: ast.Dict, keys: list[ast.expr | None]) -> Value:
        names = [key.value if isinstance(key, ast.Constant) else None for key in keys]
        if not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
            refuse(node, "a dict whose keys are not all strings that the text names")
        values = [self.value(v) for v in node.values]
        new = ast.copy_location(ast.Tuple([v for v, _ in values], ast.Load()), node)
        return new, Structure(dict, tuple(names), tuple(s for _, s in values))

    def display(self, node: ast.Tuple | ast.List, elts: list[ast.expr], is_result: bool) -> Value:
        values = [self.value(e, is_result) for e in elts]
        node.elts = [v for v, _ in values]
        parts = [s for _, s in values]
        is_list = isinstance(node, ast.List)
        if not (is_result or any(not s.is_leaf for s in parts)):
            return node, LEAF
        new = ast.copy_location(ast.Tuple(node.elts, ast.Load()), node)
        return new, sequence(list if is_list else tuple, parts)

    def mirror(self, node: ast.Call) -> Value:
        values = [self.value(a) for a in node.args]
        structure = owned(values[0][1])
        node.args = [v for v, _ in values]
        if structure.is_list:
            return node, structure
        if not structure.is_leaf and isinstance(node.func, ast.Name) and node.func.id == "add_at":
            index = constant_of(node.args[1])
            if isinstance(index, str) and index in structure.keys:
                node.args[1] = ast.copy_location(ast.Constant(structure.keys.index(index)), node.args[1])
            elif isinstance(index, slice) and structure.cls is not dict:
                return self.added_to_slice(node, structure, range(len(structure.parts))[index])
            elif structure.cls is dict:
                refuse(node, "an item of a container that is not known before the run")
        elif structure.is_leaf and any(not owned(s).is_leaf for _, s in values):
            refuse(node, "a container meets what is none")
        return node, structure

    def adjoint(self, node: ast.Call, base: ast.expr) -> Value:
        """`adjoint_like(x, w=dw)`: the parts that are given, and zeros for the others."""
        new, structure = self.value(base)
        given = {k.arg: self.value(k.value) for k in node.keywords}
        if structure.is_leaf or not given.keys() <= {*structure.keys}:
            refuse(node, "the adjoint of an object that is not known before the run")
        parts, structures = [], []
        for k, name in enumerate(structure.keys):
            own, kind = part(node, new, structure, k)
            zero = ast.copy_location(ast.Call(ast.Name(self.zeros, ast.Load()), [own], []), node)
            value, kind = given.get(name, (zero, kind))
            parts.append(value)
            structures.append(owned(kind))
        result = Structure(structure.cls, structure.keys, tuple(structures))
        return ast.copy_location(ast.Tuple(parts, ast.Load()), node), result

    def parts_of_dict(self, node: ast.Call, base: ast.expr, of: str) -> Value | None:
        """The values, keys or items of a dict as a tuple; None for what is no dict."""
        new, structure = self.value(base)
        if structure.cls is not dict:
            return None
        if of == "values":
            return new, sequence(tuple, structure.parts)
        keys: list[ast.expr] = [ast.Constant(key) for key in structure.keys]
        parts = [LEAF] * len(keys)
        if of == "items":
            values = [part(node, new, structure, k)[0] for k in range(len(keys))]
            keys = [ast.Tuple([*pair], ast.Load()) for pair in zip(keys, values, strict=True)]
            parts = [sequence(tuple, (LEAF, s)) for s in structure.parts]
        made = ast.fix_missing_locations(ast.copy_location(ast.Tuple(keys, ast.Load()), node))
        return made, sequence(tuple, parts)

    def of_values(self, node: ast.Call, parts: ast.expr, base: ast.expr) -> Value:
        """`values_adjoint(parts, x)`: a dict with the keys of `x`."""
        new, given = self.value(parts)
        _, structure = self.value(base)
        if structure.cls is not dict or not (given.is_leaf or len(given.parts) == len(structure.parts)):
            refuse(node, "a dict that is not known before the run")
        items = given.parts or (LEAF,) * len(structure.parts)
        if not given.is_leaf:
            return new, Structure(dict, structure.keys, items)
        made: list[ast.expr] = [
            ast.Subscript(copy.deepcopy(new), ast.Constant(k), ast.Load()) for k in range(len(items))
        ]
        tuple_ = ast.fix_missing_locations(ast.copy_location(ast.Tuple(made, ast.Load()), node))
        return tuple_, Structure(dict, structure.keys, items)

    def merged(self, node: ast.Call, base: ast.expr, over: ast.expr) -> Value:
        """`merged(x, y)`: the dict `{**x, **y}`."""
        found: dict[str, Value] = {}
        for of in (base, over):
            new, structure = self.value(of)
            if structure.cls is not dict or not is_read(new):
                refuse(node, "a dict that is not known before the run")
            for k, key in enumerate(structure.keys):
                found[key] = part(node, copy.deepcopy(new), structure, k)
        return dict_of(node, found)

    def kept_items(self, node: ast.Call, dout: ast.expr, base: ast.expr, over: ast.expr) -> Value:
        """`kept_items(d, x, y)`: the parts of `d` for the keys of `x`, zeros for those that `y` has."""
        (d, given), (x, structure), (_, other) = map(self.value, (dout, base, over))
        known = {given.cls, structure.cls, other.cls} == {dict} and {*structure.keys} <= {*given.keys}
        if not (known and is_read(d) and is_read(x)):
            refuse(node, "a dict that is not known before the run")
        found: dict[str, Value] = {}
        for k, key in enumerate(structure.keys):
            if key in other.keys:
                own, kind = part(node, copy.deepcopy(x), structure, k)
                zero = ast.copy_location(ast.Call(ast.Name(self.zeros, ast.Load()), [own], []), node)
                found[key] = zero, owned(kind)
            else:
                found[key] = part(node, copy.deepcopy(d), given, given.keys.index(key))
        return dict_of(node, found)

    def replaced(self, node: ast.Call, base: ast.expr) -> Value:
        """`made_like(x, w=w)`: an object with these attributes, and those of `x` for the others."""
        given = {k.arg: self.value(k.value) for k in node.keywords}
        new, structure = self.value(base)
        known = self.meaning(base)
        if structure.is_leaf and known is not None and None not in given:
            structure = structure_of(known)
            keys = [*structure.keys, *(k for k in given if k not in structure.keys)]
            structure = Structure(type(known), tuple(keys))
        if structure.is_leaf or not given.keys() <= {*structure.keys}:
            refuse(node, "an object that is not known before the run")
        values = [given.get(key) or part(node, new, structure, k) for k, key in enumerate(structure.keys)]
        result = Structure(structure.cls, structure.keys, tuple(s for _, s in values))
        return ast.copy_location(ast.Tuple([v for v, _ in values], ast.Load()), node), result

    def named_tuple(self, node: ast.Call, cls: Any) -> Value:
        """A named tuple that is made of its items."""
        names = {k.arg: k.value for k in node.keywords}
        try:
            if any(isinstance(a, ast.Starred) for a in node.args):
                raise TypeError
            bound = inspect.signature(cls).bind(*node.args, **names)  # type: ignore[arg-type]
        except TypeError:
            refuse(node, "a named tuple that is not made of its items")
        bound.apply_defaults()
        items = [v if isinstance(v, ast.expr) else ast.Constant(v) for v in bound.arguments.values()]
        values = [self.value(v) for v in items]
        new = ast.copy_location(ast.Tuple([v for v, _ in values], ast.Load()), node)
        ast.fix_missing_locations(new)
        return new, Structure(cls, cls._fields, tuple(s for _, s in values))

    def added_to_slice(self, node: ast.Call, structure: Structure, positions: range) -> Value:
        """`add_at(d, slice, v)` of tuples, item by item."""
        base, _, added = node.args
        if not (isinstance(base, ast.Name) and isinstance(added, ast.Name)):
            refuse(node, "an item of a container that is not known before the run")
        parts: list[ast.expr] = []
        for k in range(len(structure.parts)):
            own, _ = part(node, base, structure, k)
            if k in positions:
                other, _ = part(node, added, sequence(tuple, [LEAF] * len(positions)), positions.index(k))
                own = ast.copy_location(ast.Call(ast.Name(self.adder, ast.Load()), [own, other], []), node)
            parts.append(own)
        return ast.copy_location(ast.Tuple(parts, ast.Load()), node), structure

    def item_of(self, node: ast.AST, structure: Structure) -> Structure:
        """The structure of each item of what is iterated over."""
        if structure.is_leaf:
            return LEAF
        if structure.item is None or structure.cls is dict:
            refuse(node, "a loop over parts of different kinds, or over the keys of a dict")
        return structure.item


def part(node: ast.expr, base: ast.expr, structure: Structure, position: int) -> Value:
    """The part of a container at a position."""
    index = ast.copy_location(ast.Constant(position), node)
    return ast.copy_location(ast.Subscript(base, index, ast.Load()), node), structure.parts[position]


def is_read(node: ast.expr) -> bool:
    """Whether an expression only reads variables and their parts, so that it may stand several times."""
    plain = (ast.Name, ast.Subscript, ast.Tuple, ast.Constant, ast.Load)
    return all(isinstance(n, plain) for n in ast.walk(node))


def dict_of(node: ast.expr, found: dict[str, Value]) -> Value:
    """The dict with these items."""
    new = ast.copy_location(ast.Tuple([v for v, _ in found.values()], ast.Load()), node)
    ast.fix_missing_locations(new)
    return new, Structure(dict, tuple(found), tuple(s for _, s in found.values()))


def refuse(node: ast.AST, why: str) -> NoReturn:
    raise NotFlat(node, why)
