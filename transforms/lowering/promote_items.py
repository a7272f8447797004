"""Makes variables of the items of a dict with literal keys, and of a list of objects (scalar replacement).

Form in: the normal form. Form out: the same, where `d["a"]` is `a`, and the dict is made where it is used as
a whole, or not at all.

    log = {"E": [], "q": q}                E = []
    for _ in range(n):                     for _ in range(n):
        log["q"] = log["q"] * 0.9    ->        q_1 = q_1 * 0.9
        log["E"].append(log["q"])              E.append(q_1)
    return log                             return {"E": E, "q": q_1}

A dict that is used as a whole before its last read or store of an item is left alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterator, Mapping
from keyword import iskeyword
from typing import Any

import gast

from ..analyses.liveness import free_names
from ..trees.nodes import (
    assign,
    binding_counts,
    blocks_of,
    constant,
    find_nodes,
    load,
    located,
    names_read,
    store,
    target_names,
    walk,
)
from ..trees.program import Program
from ..trees.rebuild import Rewriter, map_children, rebuilt, rewritten, substitute
from .merge_objects import merge_copies_of

__all__ = ["promote_items"]

Item = tuple[str, Hashable]
SEQUENCES = (gast.List, gast.Tuple)


def promote_items(program: Program, objects: Container[str] = ()) -> Program:
    """The program with variables for the items of its dicts, and of its lists of the objects with these
    names.
    """

    def makes(s: Any) -> bool:
        return _makes(s) or _makes_list(s, objects)

    made = {s.targets[0].id: s for s in find_nodes(program.tree, gast.Assign) if makes(s)}
    if not made or find_nodes(program.tree, gast.Try):
        return program
    before, program = program, _item_by_item(program, made)
    unpacked = program
    while True:
        program = merge_copies_of(program, made)
        dicts = _Dicts(program, makes)
        items = dicts.items()
        if not items:
            return before if program is unpacked else program
        program = _Writer(program, dicts, items).run()


def _item_by_item(program: Program, made: Mapping[str, Any]) -> Program:
    """The program with `p = t[0]` and `q = t[1]` for `p, q = t` of such a tuple."""
    bound = binding_counts(program.tree)

    def statement(s: Any) -> list[Any] | None:
        match s:
            case gast.Assign(targets=[gast.Tuple(elts=targets)], value=gast.Name(id=name)) if (
                name in made and bound[name] == 1 and isinstance(made[name].value, gast.Tuple)
            ):
                if len(targets) == len(made[name].value.elts) and name not in target_names(s.targets[0]):
                    return [assign(p.id, item_of(name, k), s) for k, p in enumerate(targets)]
        return None

    return program.with_tree(rewritten(program.tree, statement))


def item_of(name: str, k: int) -> Any:
    return gast.Subscript(value=load(name), slice=constant(k), ctx=gast.Load())


def _makes(s: Any) -> bool:
    """Whether a statement names a dict with distinct literal keys."""
    match s:
        case gast.Assign(targets=[gast.Name()], value=gast.Dict(keys=[_, *_] as keys)):
            values = [k.value for k in keys if isinstance(k, gast.Constant)]
            return len(set(values)) == len(keys) and all(isinstance(v, (str, int)) for v in values)
    return False


def _makes_list(s: Any, objects: Container[str]) -> bool:
    """Whether a statement names a list or tuple of objects that have names."""
    match s:
        case gast.Assign(
            targets=[gast.Name()], value=gast.List(elts=[_, *_] as items) | gast.Tuple(elts=[_, *_] as items)
        ):
            return all(isinstance(item, gast.Name) and item.id in objects for item in items)
    return False


def _items(display: Any) -> dict[Hashable, Any]:
    """The items of a display by key or position."""
    if isinstance(display, SEQUENCES):
        return dict(enumerate(display.elts))
    return dict(zip((k.value for k in display.keys), display.values, strict=True))


def _access(node: Any) -> Item | None:
    """The name and the key of `d[key]` with a literal key."""
    match node:
        case gast.Subscript(value=gast.Name(id=name), slice=gast.Constant(value=str() | int() as key)):
            return name, key
    return None


class _Dicts:
    """The uses of the dicts and lists that a function makes."""

    def __init__(self, program: Program, makes: Callable[[Any], bool]) -> None:
        self.program, self.makes = program, makes
        body = program.tree.body
        self.bound = Counter(p.id for p in walk(program.tree.args) if isinstance(p, gast.Name))
        self.dicts: dict[str, Any] = {}  # the displays' statements
        self.last: dict[str, int] = {}  # the last statement of the body that reads or stores an item
        self.wholes: dict[str, list[int | None]] = {}  # uses as a whole; None: in a block
        self.stored: set[Item] = set()
        self.kept: set[str] = set()  # captured, or with an item beside the display's
        for k, s in enumerate(body):
            self.statement(s, k, s)

    def statement(self, s: Any, k: int, whole: Any) -> None:
        """Records the uses in a statement; `whole` is the k-th statement of the body, which it is part of."""
        if isinstance(s, gast.FunctionDef):
            self.bound[s.name] += 1
            self.kept |= free_names(s)
            return
        if self.makes(s):
            self.dicts[s.targets[0].id] = s
        targets = getattr(s, "targets", None) or [getattr(s, "target", None)]
        for target in (t for t in targets if t is not None):
            self.bound.update(target_names(target))
            if (item := _access(target)) is not None:
                self.stored.add(item)
                self.kept |= {item[0]} if isinstance(s, gast.Delete) else set()
        is_outer = s is whole and not blocks_of(s)
        for part in _parts(s):
            if isinstance(part, gast.stmt):
                self.statement(part, k, whole)
            else:
                self.expression(part, k, is_outer)

    def length(self, node: Any) -> int | None:
        """The value of `len` of one of these, whose keys do not change."""
        match node:
            case gast.Call(func=func, args=[gast.Name(id=name)]) if name in self.dicts:
                return len(_items(self.dicts[name].value)) if self.program.resolve(func) is len else None
        return None

    def expression(self, node: Any, k: int, is_outer: bool) -> None:
        item = _access(node)
        if item is not None:
            self.last[item[0]] = k
            self.note_key(item)
        elif self.length(node) is not None:
            self.last[node.args[0].id] = k
        elif isinstance(node, gast.Name):
            if not isinstance(node.ctx, gast.Store):
                self.wholes.setdefault(node.id, []).append(k if is_outer else None)
        else:
            for part in _parts(node):
                self.expression(part, k, is_outer)

    def note_key(self, item: Item) -> None:
        name, key = item
        made = self.dicts.get(name)
        if made is None or key not in _items(made.value):
            self.kept.add(name)

    def items(self) -> dict[str, dict[Hashable, Any]]:
        """The initial items of each dict whose items become variables."""
        return {
            name: _items(s.value)
            for name, s in self.dicts.items()
            if self.bound[name] == 1 and name not in self.kept and self.is_made_late(name)
        }

    def is_made_late(self, name: str) -> bool:
        """Whether a dict is used as a whole at most once, after all reads and stores of items."""
        wholes = self.wholes.get(name, [])
        if not wholes:
            return name in self.last  # a dict without any use is left alone
        (place,) = wholes if len(wholes) == 1 else (None,)
        return place is not None and name in self.last and self.last[name] < place

    def lasting(self, atom: Any, made: Any) -> bool:
        """Whether an atom keeps its value where it is read as an item that is never stored."""
        if not isinstance(atom, gast.Name):
            return isinstance(atom, gast.Constant)
        body = self.program.tree.body
        is_outer = any(s is made for s in body)
        once = self.bound[atom.id] == 1 and atom.id not in self.kept
        return is_outer and once and any(atom.id in target_names(t) for s in body for t in _targets(s))


def _targets(s: Any) -> list[Any]:
    return s.targets if isinstance(s, gast.Assign) else []


def _parts(node: Any) -> Iterator[Any]:
    for name in node._fields:
        value = getattr(node, name, None)
        yield from (v for v in (value if isinstance(value, list) else [value]) if isinstance(v, gast.AST))


class _Writer(Rewriter):
    """Replaces items by variables."""

    def __init__(self, program: Program, dicts: _Dicts, items: dict[str, dict[Hashable, Any]]) -> None:
        self.program, self.dicts, self.items = program, dicts, items
        self.names = program.names.copy()
        self.variables: dict[Item, Any] = {}
        self.given: set[Item] = set()  # items that have the name of their initial value
        self.replaced: dict[str, Any] = {}  # targets of reads, and their variables
        for name, held in items.items():
            for key, atom in held.items():
                item = name, key
                if item not in self.dicts.stored and self.dicts.lasting(atom, self.dicts.dicts[name]):
                    if isinstance(atom, gast.Name) and re.search(r"_\d+$", atom.id):  # not the user's name
                        atom = self.replaced.setdefault(atom.id, load(self.named(name, key)))
                    self.variables[item] = atom
                    self.given.add(item)
                else:
                    self.variables[item] = load(self.named(name, key))

    def named(self, name: str, key: Hashable) -> str:
        is_word = isinstance(key, str) and key.isidentifier() and not iskeyword(key)
        if not is_word:
            return self.names.fresh(f"{name}{key}" if isinstance(key, int) else name)
        return self.names.fresh(str(key) if self.names.is_free(str(key)) else f"{name}_{key}")

    def run(self) -> Program:
        body = self.block(self.program.tree.body)
        replaced = {name: self.last(atom) for name, atom in self.replaced.items()}
        tree = rebuilt(self.program.tree, body=substitute(body, replaced))
        return self.program.with_tree(tree, names=self.names)

    def last(self, atom: Any) -> Any:
        """The last atom in a chain of replacements."""
        while isinstance(atom, gast.Name) and atom.id in self.replaced:
            atom = self.replaced[atom.id]
        return atom

    def statement(self, s: Any) -> list[Any]:
        if isinstance(s, gast.FunctionDef):
            return [s]
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            name = s.targets[0].id
            if name in self.items:
                return [
                    assign(self.variables[name, key].id, atom, s)
                    for key, atom in self.items[name].items()
                    if (name, key) not in self.given
                ]
            item = _access(s.value)
            if item in self.given and self.dicts.bound[name] == 1 and name not in self.dicts.kept:
                variable = self.replaced.get(name)  # a variable of another dict's item
                self.replaced[name if variable is None else variable.id] = self.variables[item]
                return []
        if blocks_of(s):
            return [self.changed(self.inside(s))]
        new = self.changed(s)
        before = []
        for name in self.items.keys() & set(names_read(new)):
            made = self.dicts.dicts[name].value
            values = [self.variables[name, key] for key in _items(made)]
            field = "elts" if isinstance(made, SEQUENCES) else "values"
            before.append(assign(name, rebuilt(made, **{field: values}), s))
        return [*before, new]

    def changed(self, node: Any) -> Any:
        """A tree, without its blocks, with variables for items."""

        def change(part: Any) -> Any:
            if isinstance(part, gast.stmt):
                return part
            length = self.dicts.length(part)
            if length is not None and part.args[0].id in self.items:
                return located(constant(length), part)
            item = _access(part)
            if item is not None and item in self.variables:
                variable = self.variables[item]
                return variable if isinstance(part.ctx, gast.Load) else store(variable.id)
            return map_children(part, change)

        return map_children(node, change)
