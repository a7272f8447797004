"""Moves iterators that are named and used once to their use.

Form in: a function with resolved names. Form out: the same, where `map`, `zip`, generator expressions and the
like replace the only use of their name, if no statement between them has an effect on their items.

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> print(to_source(desugar_iterators(program_of('''
... def f(x):
...     squares = map(g, x)
...     total = 0.0
...     for s in squares:
...         total = total + s
...     return total
... ''')).tree), end="")
def f(x):
    total = 0.0
    for s in map(g, x):
        total = total + s
    return total
"""

from __future__ import annotations

from typing import Any

import gast

from ..trees.nodes import bound_counts, find_nodes, names_in, read_counts, walk
from ..trees.program import Program
from ..trees.rebuild import map_blocks, rebuilt, substitute
from .lazy_iterables import is_lazy

__all__ = ["desugar_iterators"]

Node = Any  # gast publishes no types

# Callees without effects.
OPERATORS = (gast.BinOp, gast.UnaryOp, gast.operator, gast.unaryop)
DISPLAYS = (gast.Tuple, gast.List, gast.Dict)
QUIET = (gast.Name, gast.Constant, gast.Subscript, gast.Slice, gast.expr_context, *OPERATORS, *DISPLAYS)
TARGETS = (gast.Name, gast.Tuple, gast.List, gast.Starred, gast.expr_context)


def desugar_iterators(program: Program) -> Program:
    """The program with iterators for their names."""

    def is_iterator(s: Node) -> bool:
        match s:
            case gast.Assign(targets=[gast.Name()], value=value):
                return isinstance(value, gast.GeneratorExp) or is_lazy(program, value)
        return False

    if not any(map(is_iterator, find_nodes(program.tree, gast.Assign))):
        return program
    read = read_counts(program.tree)
    bound = bound_counts(program.tree)

    def block(statements: list[Node]) -> list[Node]:
        result = [map_blocks(s, block) for s in statements]
        k = 0
        while k < len(result):
            s = result[k]
            if is_iterator(s) and read[s.targets[0].id] == bound[s.targets[0].id] == 1:
                j = place_of_use(result, k)
                if j is not None:
                    result[j] = substitute(result[j], {s.targets[0].id: s.value})
                    del result[k]
                    continue
            k += 1
        return result

    tree = rebuilt(program.tree, body=block(program.tree.body))
    return program.with_tree(tree)


def place_of_use(statements: list[Node], k: int) -> int | None:
    """The position of the statement that uses the iterator named by the k-th, before it evaluates anything
    else; None where another evaluation comes first.
    """
    name, read = statements[k].targets[0].id, names_in(statements[k].value)
    for j in range(k + 1, len(statements)):
        s = statements[j]
        match s:
            case gast.For(iter=value) | gast.Return(value=value) | gast.Expr(value=value):
                pass
            case gast.AugAssign(target=gast.Name(), value=value):
                pass
            case gast.Assign(targets=[target], value=value) if is_made_of(target, TARGETS):
                pass
            case _:
                return None
        if value is not None and name in names_in(value):
            return j if is_first(value, name) else None
        quiet = isinstance(s, gast.Assign) and is_made_of(value, QUIET)
        if not quiet or read & names_in(s.targets[0]):
            return None
    return None


def is_made_of(value: Node, kinds: tuple[type, ...]) -> bool:
    return all(isinstance(n, kinds) for n in walk(value))


def is_first(value: Node, name: str) -> bool:
    """Whether an expression evaluates the name once, and before anything else."""
    match value:
        case gast.Name():
            return bool(value.id == name)
        case gast.Call(func=func, args=args, keywords=keywords):
            parts = [func, *args, *(k.value for k in keywords)]
        case gast.BinOp(left=left, right=right):
            parts = [left, right]
        case gast.Tuple(elts=parts) | gast.List(elts=parts):
            pass
        case gast.GeneratorExp(generators=[g, *_]) | gast.ListComp(generators=[g, *_]):
            parts = [g.iter]
        case (
            gast.Attribute(value=inner)
            | gast.Starred(value=inner)
            | gast.Subscript(value=inner)
            | gast.YieldFrom(value=inner)
        ):
            parts = [inner]
        case _:
            return False
    for part in parts:
        if name in names_in(part):
            return is_first(part, name)
        is_function = (isinstance(part, gast.Lambda) and not part.args.defaults) or is_path(part)
        if not is_function and not is_made_of(part, QUIET):
            return False
    return False


def is_path(value: Node) -> bool:
    """Whether an expression is a name, or a path of attributes."""
    return isinstance(value, gast.Name) or (isinstance(value, gast.Attribute) and is_path(value.value))
