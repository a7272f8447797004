"""Multiplies by a known quotient where its numerator and its divisor stand apart.

Where `q = e / t` is computed already, `(a / t + b / t) * e` is `(a + b) * q` up to rounding: it rounds less
often, and needs neither `e` nor `t`. The adjoint of a value divided by its own sum has this form, as in a
softmax.

    da = dout / total                                        da = dout
    dtotal = -np.sum(dout * out, axis=1) / total      ->     dtotal = -np.sum(dout * out, axis=1)
    de = da + dtotal                                         de = dout + dtotal
    dx = de * e                                              dx = de * out
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import gast

from ..analyses.find_uses import is_pure
from ..trees.nodes import Comment, is_atom, load, loads, names_read, statements_in, target_names
from ..trees.rebuild import rebuilt
from .code import Code, Line
from .facts import GeneratedFacts, Quotients

__all__ = ["cancel_division", "find_quotients"]

Node = Any  # gast publishes no types



def find_quotients(tree: Node, facts: GeneratedFacts) -> Quotients:
    """The quotients of names that a function computes, adjoints aside, each assigned once."""
    found: dict[str, dict[str, str]] = {}
    for s in tree.body:
        match s:
            case gast.Assign(
                targets=[gast.Name(id=name)],
                value=gast.BinOp(left=gast.Name(id=over), op=gast.Div(), right=gast.Name(id=under)),
            ) if not any(map(facts.is_derivative, (name, over, under))):
                found.setdefault(over, {})[under] = name
    if not found:
        return {}
    bound = Counter(p.id for p in tree.args.args)
    bound.update(n for s in statements_in(tree.body) for n in _bound(s))
    return {
        over: {under: n for under, n in names.items() if bound[over] == bound[under] == bound[n] == 1}
        for over, names in found.items()
    }


def _bound(s: Node) -> Sequence[str]:
    """The names that a statement binds, or whose objects it changes, outside of its blocks."""
    match s:
        case gast.Assign(targets=targets):
            return [n for t in targets for n in (target_names(t) or names_read(t)[:1])]
        case gast.AugAssign(target=target) | gast.For(target=target):
            return target_names(target) or names_read(target)[:1]
        case gast.FunctionDef(args=args):
            return [s.name, *(p.id for p in args.args)]
    return []


def cancel_division(code: Code, line: Line) -> bool:
    """Replaces `d * e` by `d * q`, and drops the divisions in the definition of `d`."""
    match line.node:
        case gast.Assign(
            targets=[gast.Name()],
            value=gast.BinOp(left=gast.Name(id=d), op=gast.Mult(), right=gast.Name(id=over)) as value,
        ) if over in code.facts.quotients:
            for under, quotient in code.facts.quotients[over].items():
                new: dict[Line, Node | None] = {}
                is_divided = _without_division(code, d, under, line, new)
                if is_divided and any(s is not None and quotient in loads(s) for s in new.values()):
                    for changed, s in new.items():
                        if s is None:
                            code.delete(changed)
                        else:
                            code.replace(changed, s)
                    code.replace(line, rebuilt(line.node, value=rebuilt(value, right=load(quotient))))
                    return True
    return False


def _without_division(code: Code, name: str, under: str, reader: Line, new: dict[Line, Node | None]) -> bool:
    """Whether all terms of a name's value, which has one reader right after it, are quotients with the
    divisor; `new` maps statements to those without the division, and to None where they become dead.
    """
    line = code.definer(name)
    if line is None or code.read[name] != 1 or not code.is_own(name) or not code.facts.is_derivative(name):
        return False
    if line.block is not reader.block or line.place > reader.place:
        return False
    if not all(_only_assigns(code, i.node) for i in (line, *code.lines_between(line, reader))):
        return False
    s = line.node
    match s.value:
        case gast.BinOp(left=left, op=gast.Div(), right=gast.Name(id=divisor)) if divisor == under:
            new[line] = rebuilt(s, value=left)
            return True
        case gast.BinOp(left=gast.Name(id=a), op=gast.Add() | gast.Sub(), right=gast.Name(id=b)):
            if not all(_without_division(code, n, under, line, new) for n in (a, b)):
                return False
            terms = []
            for n in (a, b):
                definer = code.definer(n)
                assert definer is not None
                part = new[definer].value  # type: ignore[union-attr]
                if is_atom(part):
                    new[definer] = None
                terms.append(part if is_atom(part) else load(n))
            new[line] = rebuilt(s, value=rebuilt(s.value, left=terms[0], right=terms[1]))
            return True
    return False


def _only_assigns(code: Code, s: Node) -> bool:
    """Whether a statement's only effect is to assign a name."""
    match s:
        case gast.Assign(targets=[gast.Name()], value=value):
            return is_pure(value, code.facts.is_pure)
    return isinstance(s, Comment)
