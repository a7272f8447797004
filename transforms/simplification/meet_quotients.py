"""Multiplies by a quotient that is known where a numerator and its divisor stand apart.

Contract: a function definition in, one that does the same out, up to rounding: where `q = e / t` is known,
and read, `(a / t + b / t) * e` is `(a + b) * q`, which rounds less often, and neither `e` nor `t` is needed.
That is the adjoint of what is divided by its own sum, as in a softmax.

    da = dout / total                                        da = dout
    dtotal = -np.sum(dout * out, axis=1) / total      ->     dtotal = -np.sum(dout * out, axis=1)
    de = da + dtotal                                         de = dout + dtotal
    dx = de * e                                              dx = de * out
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import gast

from ..trees.nodes import Comment, find_nodes, is_atom, load, loads, names_read, statements_in, target_names
from ..trees.rebuild import rebuilt

__all__ = ["meet_quotients"]

Node = Any  # gast publishes no types


def meet_quotients(tree: Node, is_derivative: Callable[[str], bool], may_go: Callable[[Node], bool]) -> Node:
    """The function with such quotients; `may_go(call)` says that a call has no effects."""
    meeting = _Meeting(tree, is_derivative, may_go)
    return rebuilt(tree, body=meeting.block(tree.body)) if meeting.known else tree


class _Meeting:
    """`known` has the names of quotients by those of their operands."""

    def __init__(
        self, tree: Node, is_derivative: Callable[[str], bool], may_go: Callable[[Node], bool]
    ) -> None:
        self.is_derivative, self.may_go = is_derivative, may_go
        self.known: dict[str, dict[str, str]] = {}  # what numerators are divided by, with the quotients
        for s in tree.body:
            match s:
                case gast.Assign(
                    targets=[gast.Name(id=name)],
                    value=gast.BinOp(left=gast.Name(id=over), op=gast.Div(), right=gast.Name(id=under)),
                ) if not any(map(is_derivative, (name, over, under))):
                    self.known.setdefault(over, {})[under] = name
        if self.known:
            self.read = Counter(
                n.id for n in find_nodes(tree, gast.Name) if isinstance(n.ctx, gast.Load)
            )
            self.bound = Counter(n for s in statements_in(tree.body) for n in _bound(s))
            self.bound.update(p.id for p in tree.args.args)

    def block(self, statements: list[Node]) -> list[Node]:
        """A block whose products with numerators are products with quotients, and the one of a nested
        function.
        """
        result: list[Node] = []  # None for what is left out
        since: dict[str, int] = {}  # the positions of names, assigned since when nothing has been changed
        for s in statements:
            if isinstance(s, gast.FunctionDef):
                s = rebuilt(s, body=self.block(s.body))
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=value) if self.is_calm(value):
                    found = self.product(value, since, result)
                    s = s if found is None else rebuilt(s, value=found)
                    since[name] = len(result)
                case Comment():
                    pass
                case _:
                    since.clear()
            result.append(s)
        return [s for s in result if s is not None]

    def is_calm(self, value: Node) -> bool:
        return all(map(self.may_go, find_nodes(value, gast.Call)))

    def product(self, value: Node, since: dict[str, int], code: list[Node]) -> Node | None:
        """`d * q` for `d * e`, with the divisions left out in the code before; None for all else."""
        match value:
            case gast.BinOp(left=gast.Name(id=d), op=gast.Mult(), right=gast.Name(id=over)):
                pass
            case _:
                return None
        for under, quotient in self.known.get(over, {}).items():
            if any(self.bound[n] != 1 for n in (over, under, quotient)):
                continue
            new: dict[int, Node] = {}
            if self.without_division(d, under, since, code, new) and any(
                s is not None and quotient in loads(s) for s in new.values()
            ):
                for k, s in new.items():
                    code[k] = s
                return rebuilt(value, right=load(quotient))
        return None

    def without_division(
        self, name: str, under: str, since: dict[str, int], code: list[Node], new: dict[int, Node]
    ) -> bool:
        """Whether what a name is assigned is divided, term by term, and needed for nothing else; `new` has
        the statements without the division, None for those that are not needed.
        """
        if name not in since or self.read[name] != 1 or self.bound[name] != 1 or not self.is_derivative(name):
            return False
        k = since[name]
        s = code[k]
        match s.value:
            case gast.BinOp(left=left, op=gast.Div(), right=gast.Name(id=divisor)) if divisor == under:
                new[k] = rebuilt(s, value=left)
                return True
            case gast.BinOp(left=gast.Name(id=a), op=gast.Add() | gast.Sub(), right=gast.Name(id=b)):
                if not all(self.without_division(n, under, since, code, new) for n in (a, b)):
                    return False
                parts = {n: new[since[n]].value for n in (a, b)}
                new.update({since[n]: None for n, part in parts.items() if is_atom(part)})
                first, second = (part if is_atom(part) else load(n) for n, part in parts.items())
                new[k] = rebuilt(s, value=rebuilt(s.value, left=first, right=second))
                return True
        return False


def _bound(s: Node) -> Sequence[str]:
    """The names that a statement binds itself, or changes."""
    match s:
        case gast.Assign(targets=targets):
            return [n for t in targets for n in (target_names(t) or names_read(t)[:1])]
        case gast.AugAssign(target=target) | gast.For(target=target):
            return target_names(target) or names_read(target)[:1]
        case gast.FunctionDef(args=args):
            return [s.name, *(p.id for p in args.args)]
    return []
