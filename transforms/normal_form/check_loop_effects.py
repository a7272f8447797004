"""Refuses loops over items that are listed before the loop where the body may change the source of the items:
Python reads each item when its iteration begins.
"""

from __future__ import annotations

from typing import Any

import gast

from ..trees.program import MISSING, Program

__all__ = ["Changes", "check_changes", "may_change_items"]

Node = Any  # gast publishes no types

READERS = ("dot", "sum", "mean", "max", "min", "copy", "astype", "reshape", "ravel", "item", "get", "conj")
OPERATIONS = (gast.BinOp, gast.UnaryOp, gast.Compare)


def check_changes(program: Program, loop: Node, what: str, of_dict: bool = False) -> None:
    """Refuses a loop, over `what`, whose body may change the items that are still to be read."""
    if may_change_items(program, loop, of_dict):
        program.refuse(
            loop.iter,
            f"a loop over `{what}` is not differentiated where the loop's body may change its items",
            "its items are read before the loop",
            "loop over a list: `list(...)` around it, or over indices",
        )


def may_change_items(program: Program, loop: Node, of_dict: bool = False) -> bool:
    """Whether a loop's body may store into an array, list or object that existed before, or into a dict. Not
    counted are stores that change only numbers, the loop's items, or lists that the function made empty.
    """
    known = Changes(program, loop.target, of_dict)
    return any(known.may_change(n) for s in loop.body for n in gast.walk(s))


class Changes:
    """What a function's statements may change, the items that the target binds aside: `may_change(node)` is
    False where that is only numbers, these items, or lists that the function made empty.
    """

    def __init__(self, program: Program, target: Node, of_dict: bool) -> None:
        self.program, self.of_dict = program, of_dict
        self.items = {n.id for n in gast.walk(target) if isinstance(n, gast.Name)}
        self.own: set[str] = set()  # lists that only the function itself can read
        self.lists_are_own = True  # whether all lists that it made empty are taken to be such
        self.bindings: dict[str, list[Node | None]] = {}
        self.shared: set[str] = set()  # names whose objects may have aliases
        for node in gast.walk(program.tree):
            if not isinstance(node, (*OPERATIONS, gast.Return, gast.AugAssign)):
                children = gast.iter_child_nodes(node)
                names = (n for n in children if isinstance(n, gast.Name))
                self.shared |= {n.id for n in names if isinstance(n.ctx, gast.Load)}
            match node:
                case gast.Assign(targets=[gast.Name(id=name)], value=value):
                    self.bindings.setdefault(name, []).append(value)
                case gast.Assign(targets=targets):
                    self.unknown(targets)
                case gast.arguments():
                    self.unknown([*node.posonlyargs, *node.args, *node.kwonlyargs, node.vararg, node.kwarg])
                case gast.For(target=target) | gast.NamedExpr(target=target):
                    self.unknown([target])

    def unknown(self, targets: list[Node | None]) -> None:
        for target in targets:
            for n in gast.walk(target) if target is not None else ():
                if isinstance(n, gast.Name):
                    self.bindings.setdefault(n.id, []).append(None)

    def is_always(self, name: str, *kinds: type) -> bool:
        """Whether all values of a name are expressions of these kinds; a display must be empty."""
        values = self.bindings.get(name, [])
        return bool(values) and all(
            isinstance(v, kinds) and not getattr(v, "elts", getattr(v, "keys", [])) for v in values
        )

    def is_number(self, name: str) -> bool:
        """Whether a name holds numbers, or arrays without aliases."""
        values = self.bindings.get(name, [None])
        new = all(isinstance(v, (gast.Constant, *OPERATIONS)) or self.is_new(v) for v in values)
        is_alone = name not in self.shared and new
        return is_alone or self.is_always(name, gast.Constant)

    def is_new(self, value: Node | None) -> bool:
        """Whether an expression is a call whose result nothing else holds."""
        found = self.program.resolve(value.func) if isinstance(value, gast.Call) else MISSING
        return any(found is f for f in (sum, len, float, int))

    def may_change(self, node: Node) -> bool:
        match node:
            case gast.AugAssign(target=gast.Name(id=name), op=op):
                changes = isinstance(op, gast.BitOr) or not self.of_dict
                return changes and not self.is_own(name)
            case gast.AugAssign() | gast.Delete():
                return True
            case gast.Subscript(ctx=gast.Store()):
                root = _root(node.value)
                return root not in self.items and not self.is_always(root, gast.Dict)
            case gast.Call():
                return self.call_may_change(node)
        return False

    def call_may_change(self, node: Node) -> bool:
        found = self.program.resolve(node.func)
        if found is MISSING:
            if not isinstance(node.func, gast.Attribute):
                return True
            root = _root(node.func)
            if node.func.attr in ("append", "add"):
                is_made = self.lists_are_own and self.is_always(root, gast.List, gast.Set)
                return not is_made and root not in self.own
            return root not in self.items and node.func.attr not in READERS
        library = self.program.library
        if library.writes(found) or any(k.arg in ("out", None) for k in node.keywords):
            return True
        module = (getattr(found, "__module__", None) or "").partition(".")[0]
        given = [*node.args, *(k.value for k in node.keywords)]
        if isinstance(found, type) or module in ("builtins", "math"):
            return False
        if library.takes_outputs(found):
            given = given[2:]
        return not all(self.is_own(n.id) for a in given for n in gast.walk(a) if isinstance(n, gast.Name))

    def is_own(self, name: str) -> bool:
        return name in self.items or self.is_number(name)


def _root(node: Node) -> str:
    """The name at the root of a path of attributes and subscripts; empty for others."""
    while isinstance(node, (gast.Attribute, gast.Subscript)):
        node = node.value
    return node.id if isinstance(node, gast.Name) else ""
