"""Rewrites containers among a derivative's arguments and results as nested tuples.

Form in and out: the tree of a derivative of one sweep. `p["w"]` of an argument `{"b": ..., "w": ...}` becomes
`p[1]`, and a result `{"b": db, "w": dw}` the tuple `(db, dw)`. Dynamic keys and structures are refused.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from .structures import LEAF, Structure, Trace, sequence

__all__ = ["NotFlat", "check_lengths", "constant_of", "flattened"]

# Helpers whose result has the structure of their first argument.
MIRRORS = frozenset({"zeros_like", "copy_adjoint", "own_tangent", "add", "add_at"})

Value = tuple[ast.expr, Structure]


def check_lengths(*sources: Any) -> None:
    """Raises ValueError, as a strict `zip` does, unless all have one length."""
    for _ in zip(*sources, strict=True):
        pass


class NotFlat(Exception):
    """A use of a container without an equivalent for tuples."""

    def __init__(self, node: ast.AST, why: str) -> None:
        super().__init__(why)
        self.node, self.why = node, why


def flattened(
    function: ast.FunctionDef,
    given: Mapping[str, Structure],
    helper: Callable[[str], bool],
    names: tuple[str, str, str],
) -> Structure:
    """Changes the function in place, given the structures of its parameters; returns that of its result.
    `helper` tells whether a name means a function of this package; `names` are those of the helpers that add
    two adjoints, make a zero one, and compare lengths. Raises NotFlat.
    """
    flattener = _Flattener({n: s for n, s in given.items() if not s.is_leaf}, helper, names)
    flattener.block(function.body)
    return flattener.result


class _Flattener:
    def __init__(
        self, env: dict[str, Structure], helper: Callable[[str], bool], names: tuple[str, str, str]
    ) -> None:
        self.env, self.helper = env, helper
        self.adder, self.zeros, self.checker = names
        self.result = LEAF

    # ------------------------------------------------------------ statements

    def block(self, statements: list[ast.stmt]) -> None:
        found: list[ast.stmt] = []
        for s in statements:
            self.statement(s)
            found += [*self.checks(s), s]
        statements[:] = found

    def checks(self, s: ast.stmt) -> list[ast.stmt]:
        """What compares lengths before a loop over a strict `zip`, which is no strict one any more."""
        match s:
            case ast.For(iter=ast.Call(func=ast.Name(id="zip"), args=[_, _, *_] as args) as call) if all(
                isinstance(a, (ast.Name, ast.Subscript, ast.Attribute)) for a in args
            ):
                is_strict = any(getattr(k.value, "value", None) is True for k in call.keywords)
                call.keywords = [k for k in call.keywords if k.arg != "strict"]
                check = ast.Call(ast.Name(self.checker, ast.Load()), args, [])
                new = ast.fix_missing_locations(ast.copy_location(ast.Expr(check), s))
                return [new] if is_strict else []
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
                item = LEAF if structure.is_leaf else structure.item
                if item is None or structure.cls is dict:
                    refuse(s, "a loop over parts of different kinds, or over the keys of a dict")
                self.bind(s.target, item)
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
            self.stored(target)
            if not structure.is_leaf:
                refuse(target, "a container is stored into another one")

    def stored(self, target: ast.expr) -> None:
        """Checks the target of a store: it must be an array or a list."""
        if isinstance(target, (ast.Subscript, ast.Attribute)):
            target.value = self.leaf(target.value)
        if isinstance(target, ast.Subscript):
            target.slice = self.leaf(target.slice)

    def effect(self, node: ast.expr) -> ast.expr:
        """A statement that is a call: an append may make a list a trace of structured items."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[arg]):
                node.args[0], item = self.value(arg)
                if not item.is_leaf:
                    self.env[name] = Structure(Trace, (0,), (item,))
                return node
        return self.leaf(node)

    # ------------------------------------------------------------ expressions

    def leaf(self, node: ast.expr) -> ast.expr:
        """An expression that must be no container."""
        new, structure = self.value(node)
        if not structure.is_leaf:
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
            case ast.Call(func=ast.Name(id=name), args=[_, *_]) if name in MIRRORS and self.helper(name):
                return self.mirror(node)
            case ast.Call(func=ast.Name(id="adjoint_like"), args=[base]) if self.helper("adjoint_like"):
                return self.adjoint(node, base)
            case ast.Call(func=ast.Name(id="len" | "reversed" as name), args=[first]):
                node.args[0], structure = self.value(first)
                return node, LEAF if name == "len" else structure
        for name, old in ast.iter_fields(node):
            if isinstance(old, ast.expr):
                setattr(node, name, self.leaf(old))
            elif isinstance(old, list):
                setattr(node, name, [self.within(x) for x in old])
        return node, LEAF

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
        if isinstance(index, slice) and structure.cls is Trace:
            return node, structure
        if isinstance(index, slice) and structure.cls in (list, tuple):
            return node, sequence(structure.cls, structure.parts[index])
        if isinstance(index, str) and index in structure.keys and structure.cls is dict:
            return part(node, node.value, structure, structure.keys.index(index))
        count = len(structure.parts)
        if type(index) is int and structure.cls not in (dict, Trace) and -count <= index < count:
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
        structure = values[0][1]
        node.args = [v for v, _ in values]
        if not structure.is_leaf and isinstance(node.func, ast.Name) and node.func.id == "add_at":
            index = constant_of(node.args[1])
            if isinstance(index, str) and index in structure.keys:
                node.args[1] = ast.copy_location(ast.Constant(structure.keys.index(index)), node.args[1])
            elif isinstance(index, slice) and structure.cls is not dict:
                return self.added_to_slice(node, structure, range(len(structure.parts))[index])
            elif structure.cls is dict:
                refuse(node, "an item of a container that is not known before the run")
        elif structure.is_leaf and any(not s.is_leaf for _, s in values):
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
            structures.append(kind)
        result = Structure(structure.cls, structure.keys, tuple(structures))
        return ast.copy_location(ast.Tuple(parts, ast.Load()), node), result

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


def part(node: ast.expr, base: ast.expr, structure: Structure, position: int) -> Value:
    """The part of a container at a position."""
    index = ast.copy_location(ast.Constant(position), node)
    return ast.copy_location(ast.Subscript(base, index, ast.Load()), node), structure.parts[position]


def constant_of(node: ast.expr | None) -> Any:
    """The value of a literal index; None for others."""
    match node:
        case ast.Slice(lower=lower, upper=upper, step=step):
            return slice_of([lower, upper, step])
        case ast.Call(func=ast.Name(id="slice"), args=args):
            return slice_of(args)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
        case ast.Constant(value=value):
            return value
    return None


def slice_of(bounds: Sequence[ast.expr | None]) -> slice | None:
    """The slice with these literal bounds; None for others."""
    values = [constant_of(b) for b in bounds]
    is_known = all(v is not None or is_none(b) for v, b in zip(values, bounds, strict=True))
    return slice(*values) if is_known else None


def is_none(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def refuse(node: ast.AST, why: str) -> NoReturn:
    raise NotFlat(node, why)
