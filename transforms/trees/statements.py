"""The kinds of statements: the blocks of each, the targets that it binds, and the expressions that it
evaluates.

`FORMS` has one entry for each kind of statement that binds names or holds blocks; all passes and analyses go
through it. A new kind of statement is one more entry here, and a case in each pass that treats it specially.
A compound statement of two blocks, say:

    gast.While: Form(lambda s: [s.test], _no_nodes, lambda s: [s.body, s.orelse], _with_body_and_else)

A pass rewrites a function by `rewritten`, or as a `Rewriter` where it has state; it only names the statements
that it replaces.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import gast

from .children import located, rebuilt
from .remember import remembered

__all__ = [
    "FORMS",
    "Place",
    "Rewriter",
    "alike",
    "assigned_names",
    "blocks_of",
    "bound_here",
    "bound_in_header",
    "header_expressions",
    "header_of",
    "map_blocks",
    "own_statements",
    "places_of",
    "rewritten",
    "statements_in",
    "target_names",
    "with_blocks",
    "with_body",
]

Node = Any  # gast publishes no types
Blocks = list[list[Node]]


class Form(NamedTuple):
    """The expressions that a statement evaluates, in that order; the targets that it binds; its blocks in
    order; and a function that replaces its blocks.
    """

    evaluates: Callable[[Node], list[Node]]
    targets: Callable[[Node], list[Node]]
    blocks: Callable[[Node], Blocks] | None = None
    with_blocks: Callable[[Node, Iterator[list[Node]]], Node] | None = None


def _no_nodes(s: Node) -> list[Node]:
    return []


def _present(*nodes: Node) -> list[Node]:
    return [n for n in nodes if n is not None]


def _filled(block: list[Node], s: Node) -> list[Node]:
    """The block; `pass` in place of an empty one."""
    if block:
        return block
    return [located(gast.Pass(), s)]


def _with_body(s: Node, blocks: Iterator[list[Node]]) -> Node:
    return rebuilt(s, body=_filled(next(blocks), s))


def _with_body_and_else(s: Node, blocks: Iterator[list[Node]]) -> Node:
    return rebuilt(s, body=_filled(next(blocks), s), orelse=next(blocks))


def _with_handlers(s: Node, blocks: Iterator[list[Node]]) -> Node:
    body = _filled(next(blocks), s)
    handlers = [rebuilt(h, body=_filled(next(blocks), h)) for h in s.handlers]
    orelse, final = next(blocks), next(blocks)
    return rebuilt(
        s, body=body, handlers=handlers, orelse=orelse, finalbody=final if handlers else _filled(final, s)
    )


FORMS: dict[type, Form] = {
    gast.Assign: Form(
        lambda s: [s.value, *(t for t in s.targets if not isinstance(t, gast.Name))], lambda s: s.targets
    ),
    gast.AugAssign: Form(lambda s: [s.target, s.value], lambda s: [s.target]),
    gast.Return: Form(lambda s: _present(s.value), _no_nodes),
    gast.Expr: Form(lambda s: [s.value], _no_nodes),
    gast.Assert: Form(lambda s: _present(s.test, s.msg), _no_nodes),
    gast.Raise: Form(lambda s: _present(s.exc, s.cause), _no_nodes),
    gast.If: Form(lambda s: [s.test], _no_nodes, lambda s: [s.body, s.orelse], _with_body_and_else),
    gast.While: Form(lambda s: [s.test], _no_nodes, lambda s: [s.body, s.orelse], _with_body_and_else),
    gast.For: Form(
        lambda s: [s.iter], lambda s: [s.target], lambda s: [s.body, s.orelse], _with_body_and_else
    ),
    gast.With: Form(
        lambda s: [i.context_expr for i in s.items],
        lambda s: _present(*(i.optional_vars for i in s.items)),
        lambda s: [s.body],
        _with_body,
    ),
    gast.Try: Form(
        _no_nodes,
        lambda s: _present(*(h.name for h in s.handlers)),
        lambda s: [s.body, *(h.body for h in s.handlers), s.orelse, s.finalbody],
        _with_handlers,
    ),
}


def blocks_of(s: Node) -> Blocks:
    """The blocks of a compound statement, in source order; none for any other statement, nested functions
    included.
    """
    form = FORMS.get(s.__class__)
    return [] if form is None or form.blocks is None else form.blocks(s)


_COMPOUND = frozenset(kind for kind, form in FORMS.items() if form.blocks is not None)


def with_blocks(statement: Node, blocks: Sequence[list[Node]]) -> Node:
    """The compound statement with other blocks, in the order of `blocks_of`, and `pass` in those that must
    not be empty; itself where they hold the same statements.
    """
    if all(map(alike, blocks, blocks_of(statement))):
        return statement
    rebuild = FORMS[statement.__class__].with_blocks
    assert rebuild is not None
    return rebuild(statement, iter(blocks))


def map_blocks(statement: Node, change: Callable[[list[Node]], list[Node]]) -> Node:
    """The statement with `change` applied to its blocks, a nested function's body included."""
    if statement.__class__ is gast.FunctionDef:
        return with_body(statement, change(statement.body))
    blocks = blocks_of(statement)
    return with_blocks(statement, [change(block) for block in blocks]) if blocks else statement


def with_body(function: Node, body: list[Node]) -> Node:
    """The function with another body, `pass` if that is empty; itself where it holds the same statements."""
    if alike(body, function.body):
        return function
    return rebuilt(function, body=_filled(body, function.body[0] if function.body else function))


def alike(a: Sequence[Node], b: Sequence[Node]) -> bool:
    """Whether two lists hold the same nodes."""
    return len(a) == len(b) and all(map(operator.is_, a, b))


# ---------------------------------------------------------------- rewriting


class Rewriter:
    """Rewrites a function, statement by statement.

    A subclass overrides `statement`, which returns the statements that replace one; by default the statement
    with its blocks rewritten (`inside`). Nested functions stay unless `nested`.
    """

    nested = False

    def function(self, tree: Node) -> Node:
        """The function with its statements rewritten; itself where none is changed."""
        return with_body(tree, self.block(tree.body))

    def block(self, statements: list[Node]) -> list[Node]:
        return [new for s in statements for new in self.statement(s)]

    def statement(self, s: Node) -> list[Node]:
        return [self.inside(s)]

    def inside(self, s: Node) -> Node:
        """The statement with its blocks rewritten."""
        return s if s.__class__ is gast.FunctionDef and not self.nested else map_blocks(s, self.block)


def rewritten(
    tree: Node, change: Callable[[Node], list[Node] | None], nested: bool = True, inner_first: bool = False
) -> Node:
    """The function with the statements that `change` returns for a statement; None goes on into its blocks.
    With `inner_first` the blocks of the statement are rewritten before `change` gets it.
    """

    def block(statements: list[Node]) -> list[Node]:
        result: list[Node] = []
        for s in statements:
            enters = nested or s.__class__ is not gast.FunctionDef
            if inner_first:
                s = map_blocks(s, block) if enters else s
            new = change(s)
            if new is not None:
                result += new
            else:
                result.append(map_blocks(s, block) if enters and not inner_first else s)
        return result

    return with_body(tree, block(tree.body))


# ---------------------------------------------------------------- reads and bindings


def header_expressions(s: Node) -> list[Node]:
    """The expressions that a statement evaluates once, in order, outside of its blocks: no `while` test."""
    form = FORMS.get(s.__class__)
    return [] if form is None or s.__class__ is gast.While else form.evaluates(s)


def header_of(s: Node) -> list[Node]:
    """The parts that a statement reads outside of its blocks; itself where it has none."""
    return FORMS[s.__class__].evaluates(s) if s.__class__ in _COMPOUND else [s]


def bound_in_header(s: Node) -> list[Node]:
    """The targets that the header of a `with` or `try` binds: `as` names."""
    return FORMS[s.__class__].targets(s) if s.__class__ in (gast.With, gast.Try) else []


def bound_here(s: Node) -> list[str]:
    """The names that a statement binds outside of its blocks."""
    if s.__class__ is gast.FunctionDef or s.__class__ is gast.ClassDef:
        return [s.name]
    form = FORMS.get(s.__class__)
    targets = [] if form is None else form.targets(s)
    return target_names(targets[0]) if len(targets) == 1 else [n for t in targets for n in target_names(t)]


def target_names(target: Node) -> list[str]:
    """The names that an assignment to a target binds; an element or attribute binds none."""
    if target.__class__ is gast.Name:
        return [target.id]
    match target:
        case gast.Tuple(elts=elts) | gast.List(elts=elts):
            return [name for element in elts for name in target_names(element)]
        case gast.Starred(value=value):
            return target_names(value)
    return []


def assigned_names(statements: Node | list[Node]) -> list[str]:
    """The names that finished statements in normal form bind in their own scope (targets, loop variables,
    function definitions), in order of appearance.
    """
    if not isinstance(statements, list):
        return list(_assigned(statements))
    found: dict[str, None] = {}
    for s in statements:
        found.update(dict.fromkeys(_assigned(s)))
    return list(found)


@remembered
def _assigned(s: Node) -> tuple[str, ...]:
    found = dict.fromkeys(bound_here(s))
    for block in blocks_of(s):
        found.update(dict.fromkeys(assigned_names(block)))
    return tuple(found)


def statements_in(block: list[Node]) -> list[Node]:
    """All statements of a finished block in normal form, in source order, nested functions included."""
    found: list[Node] = []
    for s in block:
        if s.__class__ in _COMPOUND or s.__class__ is gast.FunctionDef:
            found += _with_inner(s)
        else:
            found.append(s)
    return found


@remembered
def _with_inner(s: Node) -> list[Node]:
    inner = [s.body] if s.__class__ is gast.FunctionDef else blocks_of(s)
    return [s, *(t for block in inner for t in statements_in(block))]


def own_statements(block: list[Node]) -> list[Node]:
    """All statements of a finished block, in source order, nested functions excluded."""
    found: list[Node] = []
    for s in block:
        if s.__class__ in _COMPOUND:
            found += _with_own(s)
        else:
            found.append(s)
    return found


class Place(NamedTuple):
    """The position of a statement: its number in source order, the loops around it, outermost first, and the
    branches around it, by identity, each with the number of the arm.
    """

    number: int
    loops: tuple[Node, ...]
    arms: dict[int, int]


@remembered
def places_of(function: Node) -> dict[int, Place]:
    """The places of a finished function's own statements, by their identity."""
    found: dict[int, Place] = {}

    def visit(block: list[Node], loops: tuple[Node, ...], arms: dict[int, int]) -> None:
        for s in block:
            found[id(s)] = Place(len(found), loops, arms)
            inner = (*loops, s) if isinstance(s, (gast.For, gast.While)) else loops
            for k, part in enumerate(blocks_of(s)):
                visit(part, inner, {**arms, id(s): k} if isinstance(s, gast.If) else arms)

    visit(function.body, (), {})
    return found


@remembered
def _with_own(s: Node) -> list[Node]:
    return [s, *(t for block in blocks_of(s) for t in own_statements(block))]
