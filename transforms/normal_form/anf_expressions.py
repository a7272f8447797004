"""Names the intermediate values of expressions, in Python's order of evaluation: part of `to_anf`.

Contract: each method writes the statements that an expression needs before it, and returns an atom or one
operation on atoms.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import gast

from ..errors import Refusal
from ..trees.evaluation_order import index_parts, string_fields, walrus_names, with_fields, with_parts
from ..trees.helpers import refuse_repeated
from ..trees.nodes import call, load, located
from ..trees.program import MISSING
from ..trees.rebuild import rebuilt
from .desugar_comprehensions import (
    collect,
    consume,
    consumes,
    is_iterator,
    kept_generator,
    listed,
    named_generator,
    reads_iterables,
    refuse_kept_generator,
    rewritten,
)
from .desugar_stars import dict_display, has_star, sequence_display
from .lazy_iterables import generator_of
from .statement_writer import StatementWriter

__all__ = ["ExpressionWriter"]

Node = Any  # gast publishes no types


class ExpressionWriter(StatementWriter):
    """Writes expressions as statements of one operation each."""

    # ------------------------------------------------------------ expressions

    def atom(self, node: Node) -> Node:
        """A name or literal with the expression's value."""
        if self.is_atom(node):
            return node
        match node:
            case gast.NamedExpr():
                return load(self.into(node.target.id, node.value))
            case gast.BoolOp() | gast.IfExp() | gast.Lambda():
                return load(self.into(None, node))
            case gast.Compare() if len(node.ops) > 1:
                return load(self.into(None, node))
            case gast.ListComp() | gast.SetComp() | gast.DictComp() | gast.Call():
                return load(self.into(None, node))
            case _:
                return self.temporary(self.op(node))

    def into(self, name: str | None, node: Node) -> str:
        """Assigns the expression's value to the name, or to a temporary, in the last statement; returns the
        name.
        """
        match node:
            case gast.IfExp():
                test = self.atom(node.test)
                return self.choose(test, name, node.body, node.orelse)
            case gast.BoolOp():
                first, *others = node.values
                left = self.atom(first)
                rest = others[0] if len(others) == 1 else rebuilt(node, values=others)
                return self.choose(
                    left, name, *((rest, left) if isinstance(node.op, gast.And) else (left, rest))
                )
            case gast.Compare() if len(node.ops) > 1:
                left, middle = self.atoms([node.left, node.comparators[0]], *node.comparators[1:])
                test = self.temporary(gast.Compare(left=left, ops=node.ops[:1], comparators=[middle]))
                rest = gast.Compare(left=middle, ops=node.ops[1:], comparators=node.comparators[1:])
                return self.choose(test, name, rest, test)
            case gast.Lambda():
                return self.define(name, node)
            case gast.GeneratorExp() if name is not None:
                return self.into(name, named_generator(self, node))
            case gast.ListComp() | gast.SetComp() | gast.DictComp():
                return collect(self, name, node)
            case gast.Call() if consumes(self, node):
                return consume(self, name, node)
            case gast.Call() if (new := rewritten(self, node)) is not None:
                return self.into(name, new)
        value = node if self.is_atom(node) else self.op(node)
        name = name or self.names.temporary(self.base)
        self.assign(name, value)
        return name

    def choose(self, test: Node, name: str | None, *values: Node) -> str:
        """An `if` whose arms assign one expression each."""
        name = name or self.names.temporary(self.base)
        blocks = []
        for value in values:
            outer, self.out = self.out, []
            self.into(name, value)
            blocks.append(self.out)
            self.out = outer
        self.emit(gast.If(test=test, body=blocks[0], orelse=blocks[1]))
        return name

    def define(self, name: str | None, node: Node) -> str:
        """Writes a lambda as a nested function of that name."""
        args = self.arguments(node.args)
        name = name or self.names.temporary("lambda")
        body = self.function_body([located(gast.Return(value=node.body), self.like)])
        self.emit(
            gast.FunctionDef(
                name=name,
                args=args,
                body=body,
                decorator_list=[],
                returns=None,
                type_comment=None,
                type_params=[],
            )
        )
        return name

    def arguments(self, args: Node) -> Node:
        """The parameters of a nested function, with defaults that are atoms."""
        given = [*args.defaults, *(d for d in args.kw_defaults if d is not None)]
        atoms = iter(self.atoms(given))
        return rebuilt(
            args,
            defaults=[next(atoms) for _ in args.defaults],
            kw_defaults=[None if d is None else next(atoms) for d in args.kw_defaults],
        )

    def op(self, node: Node) -> Node:
        """The expression as one operation on atoms, after the statements for its operands."""
        match node:
            case gast.BinOp():
                left, right = self.atoms([node.left, node.right])
                return rebuilt(node, left=left, right=right)
            case gast.UnaryOp():
                return rebuilt(node, operand=self.atom(node.operand))
            case gast.Compare() if len(node.ops) == 1:
                left, right = self.atoms([node.left, *node.comparators])
                return rebuilt(node, left=left, comparators=[right])
            case gast.Call(func=func) if isinstance(self.program.resolve(func), Refusal):
                self.emit(gast.Raise(exc=node, cause=None))
                return gast.Constant(value=None, kind=None)
            case gast.GeneratorExp() | gast.Call() if any(node is given for given in self.given):
                return self.op(kept_generator(self, generator_of(self.objects, node, self.kept)))
            case gast.Call():
                return self.call(node)
            case gast.Subscript():
                (base,), index = self.operands([node.value], node.slice)
                return rebuilt(node, value=base, slice=index)
            case gast.Attribute():
                return rebuilt(node, value=self.atom(node.value))
            case gast.Tuple() | gast.List() | gast.Set() if has_star(node):
                return self.op(sequence_display(self, node))
            case gast.Dict() if has_star(node):
                return self.op(dict_display(self, node))
            case gast.GeneratorExp():
                return refuse_kept_generator(self, node)
            case gast.Tuple() | gast.List() | gast.Set():
                return rebuilt(node, elts=self.atoms(node.elts))
            case gast.Dict():
                atoms = self.atoms([n for pair in zip(node.keys, node.values, strict=True) for n in pair])
                return self.display(node, [*zip(atoms[::2], atoms[1::2], strict=True)])
            case gast.JoinedStr():
                return self.string(node)
            case _:
                return self.atom(node)

    def display(self, node: Node, pairs: list[tuple[Node, Node]]) -> Node:
        """The display of a dict of atoms, without the earlier of equal keys."""
        shown: dict[Any, tuple[Node, Node]] = {}
        for key, value in pairs:
            known = self.known_key(key)
            found = id(key) if known is MISSING else known  # equal keys: the first key with the last value
            shown[found] = shown[found][0] if found in shown else key, value
        keys = [k for k, _ in shown.values()]
        if len(keys) > 1 and any(self.known_key(k) is MISSING for k in keys):
            self.emit(gast.Expr(value=call(self.objects.name(refuse_repeated), *keys)))
        return rebuilt(node, keys=keys, values=[v for _, v in shown.values()])

    def known_key(self, key: Node) -> Any:
        """The value of a literal or known key; MISSING for any other."""
        if isinstance(key, gast.Constant):
            return key.value
        if isinstance(key, gast.UnaryOp) and isinstance(key.operand, gast.Constant):
            return -key.operand.value
        found = self.program.resolve(key)
        return found if isinstance(found, Hashable) else MISSING

    def call(self, node: Node) -> Node:
        func = (isinstance(node.func, gast.Call) and rewritten(self, node.func)) or node.func
        node = rebuilt(node, func=func, args=[e for a in node.args for e in spread(a)])
        starred = [isinstance(a, gast.Starred) for a in node.args]
        args = [listed(self, a.value) if star else a for a, star in zip(node.args, starred, strict=True)]
        if reads_iterables(self.program.resolve(func)):
            self.given += [a for a in args if is_iterator(self.program, a)]
        parts = [*args, *(k.value for k in node.keywords)]
        if self.is_atom(node.func) and not (
            isinstance(node.func, gast.Name) and node.func.id in walrus_names(parts)
        ):
            func, atoms = node.func, self.atoms(parts)
        elif isinstance(node.func, gast.Attribute):
            owner, *atoms = self.atoms([node.func.value, *parts])
            func = rebuilt(node.func, value=owner)
        else:
            func, *atoms = self.atoms([node.func, *parts])
        keywords = [rebuilt(k, value=v) for k, v in zip(node.keywords, atoms[len(args) :], strict=True)]
        new = [
            rebuilt(a, value=atom) if star else atom
            for a, star, atom in zip(node.args, starred, atoms, strict=False)
        ]
        return rebuilt(node, func=func, args=new, keywords=keywords)

    def string(self, node: Node) -> Node:
        """An f-string whose values are atoms, those of its format specifications included."""
        fields = string_fields(node)
        return with_fields(
            node, dict(zip(map(id, fields), self.atoms([f.value for f in fields]), strict=True))
        )

    # ------------------------------------------------------------ several operands, from left to right

    def operands(self, nodes: list[Node], index: Node, *later: Node) -> tuple[list[Node], Node]:
        """Atoms for expressions, then for the parts of an index."""
        if has_star(index):
            if any(isinstance(e, gast.Slice) for e in index.elts):
                self.program.refuse(
                    index,
                    "`*` beside a slice in an index is not differentiated",
                    "how many positions of the index come before the slice is not known",
                    "write the slice as `slice(start, stop)`",
                )
            *atoms, whole = self.atoms([*nodes, index], *later)
            return atoms, whole
        atoms = self.atoms([*nodes, *index_parts(index)], *later)
        return atoms[: len(nodes)], with_parts(index, iter(atoms[len(nodes) :]))


def spread(argument: Node) -> list[Node]:
    """The arguments that an argument expands to: the elements of a display for `*(a, b)`."""
    match argument:
        case gast.Starred(value=gast.Tuple(elts=elts) | gast.List(elts=elts)):
            return [e for element in elts for e in spread(element)]
    return [argument]
