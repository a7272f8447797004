"""Expands the `*` and `**` arguments of calls where their items are known.

Form: the normal form, before and after single assignment. `f(*t)` becomes `f(a, b)` where `t` is a display
that is not changed before, and `f(t[0], t[1])` where only its length is known; `**d` likewise. `lower_stars`
passes dynamic ones to a helper.

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> print(to_source(expand_stars(program_of('''
... def f(x, y, *t):
...     args = (x, y)
...     kwargs = {"z": x}
...     out = g(*args, *t, **kwargs)
...     return out
... ''')).tree))
def f(x, y, *t):
    args = x, y
    kwargs = {"z": x}
    out = g(x, y, *t, z=x)
    return out
<BLANKLINE>
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import Any

import gast

from ..trees.bind_objects import Objects
from ..trees.nodes import (
    assign,
    assigned_names,
    call,
    constant,
    find_nodes,
    has_stars,
    is_atom,
    load,
    located,
    names_read,
    tuple_of,
    walk,
)
from ..trees.program import MISSING, Program
from ..trees.rebuild import map_blocks, rebuilt, rewritten

__all__ = ["expand_stars", "lower_stars"]

Node = Any  # gast publishes no types
Shape = tuple[str | int, ...]  # the keys of a dict, or the positions of a sequence


def expand_stars(
    program: Program,
    shape_of: Callable[[Node], Shape | None] = lambda atom: None,
    is_wanted: Callable[[Node], bool] = lambda call: True,
) -> Program:
    """The program with its calls' starred arguments expanded, as far as they are known.

    `shape_of(atom)` gives the keys of a dict or the positions of a sequence, or None; calls that are not
    wanted stay.
    """
    if not any(map(has_stars, find_nodes(program.tree, gast.Call))):
        return program
    expander = _Expander(program, shape_of, is_wanted)
    tree = rebuilt(program.tree, body=expander.block(program.tree.body, {}))
    if not expander.changed:
        return program
    return program.with_tree(tree, names=expander.names)


class _Expander:
    """Follows the names of displays, block by block."""

    def __init__(
        self, program: Program, shape_of: Callable[[Node], Shape | None], is_wanted: Callable[[Node], bool]
    ) -> None:
        self.program, self.shape_of, self.is_wanted = program, shape_of, is_wanted
        self.names = program.names.copy()
        self.changed = False

    def block(self, statements: list[Node], known: dict[str, Node]) -> list[Node]:
        """The block with its calls expanded; `known` are the displays at its start, then those at its end."""
        result: list[Node] = []
        for s in statements:
            if isinstance(s, gast.FunctionDef):
                s = map_blocks(s, lambda body: self.block(body, {}))
            elif isinstance(s, (gast.Assign, gast.Expr)):
                if has_stars(s.value) and self.is_wanted(s.value):
                    s = rebuilt(s, value=self.expanded(s.value, known, result, s))
            else:
                if isinstance(s, (gast.For, gast.While)):
                    forget(known, s)
                s = map_blocks(s, lambda body: self.block(body, dict(known)))
            forget(known, s)
            note(known, s)
            result.append(s)
        return result

    def expanded(self, node: Node, known: Mapping[str, Node], out: list[Node], like: Node) -> Node:
        args: list[Node] = []
        for a in node.args:
            items = self.items(a.value, known, out, like) if isinstance(a, gast.Starred) else None
            args += [a] if items is None else [value for _, value in items]
        keywords: list[Node] = []
        for k in node.keywords:
            items = self.items(k.value, known, out, like) if k.arg is None else None
            keywords += [k] if items is None else [gast.keyword(arg=key, value=v) for key, v in items]
        new = rebuilt(node, args=args, keywords=keywords)
        if not fits(self.program.resolve(node.func), new):
            return node
        self.changed |= [*map(id, args), *(k.arg for k in keywords)] != [
            *map(id, node.args),
            *(k.arg for k in node.keywords),
        ]
        return new

    def items(
        self, atom: Node, known: Mapping[str, Node], out: list[Node], like: Node
    ) -> list[tuple[Any, Node]] | None:
        """The items of an atom, as atoms; statements that read them go to `out`."""
        display = known.get(atom.id) if isinstance(atom, gast.Name) else None
        if isinstance(display, gast.Dict):
            return [(k.value, v) for k, v in zip(display.keys, display.values, strict=True)]
        if display is not None:
            return list(enumerate(display.elts))
        shape = self.shape_of(atom)
        if shape is None:
            return None
        found = []
        for key in shape:
            name = self.names.temporary(atom.id)
            out.append(assign(name, gast.Subscript(value=atom, slice=constant(key), ctx=gast.Load()), like))
            found.append((key, load(name)))
        return found


def fits(function: Any, node: Node) -> bool:
    """Whether the call of a known function has its required arguments; one with stars may have them."""
    if not isinstance(function, FunctionType) or has_stars(node):
        return True
    signature = inspect.signature(function, follow_wrapped=False)
    try:
        signature.bind(*node.args, **{k.arg: k for k in node.keywords})
    except TypeError:
        return False
    return True


def note(known: dict[str, Node], s: Node) -> None:
    """Notes a display that a statement gives a name to."""
    match s:
        case gast.Assign(targets=[gast.Name(id=name)], value=gast.Tuple(elts=elts) | gast.List(elts=elts)):
            if name not in names_read(elts) and all(map(is_atom, elts)):
                known[name] = s.value
        case gast.Assign(targets=[gast.Name(id=name)], value=gast.Dict(keys=keys, values=values)):
            words = [k.value for k in keys if isinstance(k, gast.Constant) and isinstance(k.value, str)]
            if len(set(words)) == len(keys) and name not in names_read(values):
                known[name] = s.value


def forget(known: dict[str, Node], s: Node) -> None:
    """Drops the displays that a statement may change, or whose items it assigns."""
    assigned = set(assigned_names(s))
    used = {n for n in known if not isinstance(known[n], gast.Tuple)} & set(escaping(s))
    for name in list(known):
        if name in used or name in assigned or assigned & set(names_read(known[name])):
            del known[name]


def escaping(s: Node) -> Iterator[str]:
    """The names that a statement uses otherwise than to read an item or to call them."""
    harmless = set()
    for n in walk(s):
        if (isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Load)) or isinstance(n, gast.Starred):
            harmless.add(id(n.value))
        elif isinstance(n, gast.Call):
            harmless |= {id(k.value) for k in n.keywords if k.arg is None}
    yield from (n.id for n in walk(s) if isinstance(n, gast.Name) and id(n) not in harmless)


# ---------------------------------------------------------------- dynamic arguments


def lower_stars(program: Program, stays: Callable[[Node], bool], call_star: Any, call_method: Any) -> Program:
    """The program in which calls with `*` or `**` are calls of helpers, except those that `stays` accepts.

    `call_star` calls a function, `call_method` a method of an object, with a tuple of tuples of positional
    arguments and with dicts of named ones.
    """
    if not any(has_stars(n) and not stays(n) for n in find_nodes(program.tree, gast.Call)):
        return program
    names = program.names.copy()
    objects = Objects(program, names)

    def lowered(node: Node, out: list[Node], like: Node) -> Node:
        def held(value: Node) -> Node:
            name = names.temporary("args")
            out.append(assign(name, value, like))
            return load(name)

        parts: list[Node] = []
        run: list[Node] = []
        for a in node.args:
            if not isinstance(a, gast.Starred):
                run.append(a)
                continue
            parts += [held(tuple_of(run))] * bool(run)
            parts.append(held(call(objects.name(tuple), a.value)))
            run = []
        parts += [held(tuple_of(run))] * bool(run)
        args = held(tuple_of(parts))
        given = [k for k in node.keywords if k.arg is not None]
        mappings = [held(call(objects.name(dict), k.value)) for k in node.keywords if k.arg is None]
        if given:
            display = gast.Dict(keys=[constant(k.arg) for k in given], values=[k.value for k in given])
            mappings.insert(0, held(display))
        if isinstance(node.func, gast.Attribute) and program.resolve(node.func) is MISSING:
            owner = [node.func.value, constant(node.func.attr)]
            return located(call(objects.name(call_method), *owner, args, *mappings), node)
        return located(call(objects.name(call_star), node.func, args, *mappings), node)

    def statement(s: Node) -> list[Node] | None:
        if not isinstance(s, (gast.Assign, gast.Expr)) or not has_stars(s.value) or stays(s.value):
            return None
        result: list[Node] = []
        new = rebuilt(s, value=lowered(s.value, result, s))
        return [*result, new]

    tree = rewritten(program.tree, statement, nested=False)
    return program.with_tree(
        tree,
        names=names,
        bindings=objects.all_bindings(),
    )
