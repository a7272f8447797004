"""The facts that simplification has of generated code."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, Self

import gast

from ..differentiation.generation import Generation
from ..trees.nodes import load, names_read, statements_in, target_names
from ..trees.program import Program

Quotients = Mapping[str, Mapping[str, str]]

__all__ = ["Expressions", "GeneratedFacts"]

Node = Any  # gast publishes no types


class Expressions(Protocol):
    """The facts of expressions in generated code, from primitives and kinds."""

    def is_pure(self, call: Node) -> bool:
        """Whether a call, a `for` loop or an unpacking has no effect but its result."""

    def is_module(self, path: Node) -> bool:
        """Whether a name or dotted path is known to be a module or class."""

    def is_float(self, expression: Node, is_one: Callable[[str], bool]) -> bool:
        """Whether a value is a float, or an array of floats; `is_one(name)` tells that a name still has the
        only value that it had when kinds were inferred.
        """

    def is_number(self, expression: Node) -> bool:
        """Whether a name, or an item of one, is a number."""

    def is_odd(self, call: Node) -> bool:
        """Whether a function is odd in its first argument."""

    def is_fresh(self, call: Node) -> bool:
        """Whether a call makes a new object."""

    def are_alike(self, a: str, b: str) -> bool:
        """Whether two variables are arrays of one kind."""

    def sum_of_outer(self, a: Node, b: Node, is_one: Callable[[str], bool]) -> Node | None:
        """The sum of two outer products that are contributions to one adjoint, as one product of matrices;
        None for other terms.
        """

    def is_matrix(self, node: Node, is_one: Callable[[str], bool]) -> bool:
        """Whether an expression is a matrix of floats: a name, a transposed one, or a product of such."""

    def shape_only(self, call: Node) -> tuple[int, ...]:
        """The positions of arguments whose shape and dtype alone a function reads."""


class GeneratedFacts:
    """The facts of the generated program that a pass is given.

    `users` are the names of the user's own variables, which stay; `origins` maps a name to the variable that
    it is a version of; `captured` are the names that inner functions read. With `careful`, exceptions may be
    caught.
    """

    def __init__(
        self,
        program: Program,
        generation: Generation,
        expressions: Expressions,
        users: frozenset[str],
        careful: bool = False,
    ) -> None:
        self.tree, self.generation, self.users, self.careful = program.tree, generation, users, careful
        self.expressions, self.origins = expressions, program.origins
        self.is_odd, self.is_fresh = expressions.is_odd, expressions.is_fresh
        self.is_module = expressions.is_module
        self.shape_only = expressions.shape_only
        self.derivatives, self.traces = generation.derivatives, generation.traces
        self.variables: Mapping[str, str] = generation.adjoint_of  # the variable of each adjoint
        self.scope, self.reserved = frozenset(program.scope.cells), program.names.reserved
        self.captured = frozenset(
            n
            for s in statements_in(program.tree.body)
            if isinstance(s, gast.FunctionDef) and s.name != generation.bprop
            for n in names_read(s)
        )
        self._pure: dict[int, tuple[Node, bool]] = {}  # by the node's identity
        self._assigned: Counter[str] | None = None
        self.are_merged = False  # whether coalescing may have given a name several values
        self.quotients: Quotients = {}  # by numerator and divisor; see `cancel_divisions`
        # Expressions that fold to themselves, by identity and context: names only lose values by folding.
        self.folded: dict[tuple[int, bool, bool, bool], Node] = {}
        self.factored = False  # whether folding has taken a factor out of a sum

    def after(self, tree: Node, are_merged: bool = False) -> Self:
        """The facts of the tree that a pass made; `are_merged` says that it may have given several values one
        name.
        """
        new = copy.copy(self)
        new.tree, new._assigned, new.are_merged = tree, None, self.are_merged or are_merged
        return new

    # ------------------------------------------------------------ expressions

    def is_pure(self, node: Node) -> bool:
        """Whether a call, a `for` loop or an unpacking has no effect but its result."""
        found = self._pure.get(id(node))
        if found is None:
            found = self._pure[id(node)] = node, self.expressions.is_pure(node)
        return found[1]

    def is_float(self, expression: Node) -> bool:
        """Whether a value is a float, or an array of floats."""
        return self.expressions.is_float(expression, self.is_one)

    def sum_of_outer(self, a: Node, b: Node) -> Node | None:
        """The sum of two outer products that are contributions to one adjoint, as one product of matrices;
        None for other terms.
        """
        return self.expressions.sum_of_outer(a, b, self.is_one)

    def is_matrix(self, node: Node) -> bool:
        """Whether an expression is a matrix of floats: a name, a transposed one, or a product of such."""
        return self.expressions.is_matrix(node, self.is_one)

    def is_number(self, node: Node) -> bool:
        """Whether the value of a name, item, literal or pure call of such is a number."""
        if isinstance(node, gast.Call):
            return self.is_pure(node) and not node.keywords and all(map(self.is_number, node.args))
        if isinstance(node, (gast.Name, gast.Subscript)):
            return all(map(self.is_one, names_read(node))) and self.expressions.is_number(node)
        return isinstance(node, gast.Constant)

    def holds_number(self, name: str) -> bool:
        """Whether a name always holds a number."""
        return self.is_one(name) and self.expressions.is_number(load(name))

    def is_one(self, name: str) -> bool:
        """Whether a name has one value, which coalescing may change. (The targets of a trace have the values
        of the names saved; a placeholder stands for an unbound one.)
        """
        if not self.are_merged:
            return True
        if self._assigned is None:
            self._assigned = Counter(_assignments(self.tree, self.traces))
        return self._assigned[name] == 1

    # ------------------------------------------------------------ names

    def is_derivative(self, name: str) -> bool:
        """Whether a name holds an adjoint or a tangent, whose aliases are all adjoints or tangents."""
        return name in self.derivatives

    def is_temporary(self, name: str) -> bool:
        """Whether a name is no version of a user's variable."""
        return name not in self.users and name not in self.origins

    def may_go(self, name: str) -> bool:
        """Whether a name holds a derivative, or is no user's variable."""
        return name in self.derivatives or self.is_temporary(name)

    def alike(self, a: str, b: str) -> bool:
        """Whether two names may become one: both hold derivatives or neither does, and they are not of two
        users' variables.
        """
        if (a in self.derivatives) is not (b in self.derivatives):
            return False
        known = {self.origin(a), self.origin(b)} - {None}
        return len(known) < 2 or (a not in self.derivatives and len(known & self.users) < 2)

    def nature(self, name: str) -> tuple[bool, str | None]:
        """The properties of a name that `alike` compares."""
        return name in self.derivatives, self.origin(name)

    def origin(self, name: str) -> str | None:
        """The variable that a name is a version of, if any."""
        return self.origins.get(name, name if name in self.users else None)

    def is_number_adjoint(self, name: str) -> bool:
        """Whether a name, or the variable that it is an adjoint of, holds a number."""
        return self.expressions.is_number(load(self.variables.get(name, name)))

    # ------------------------------------------------------------ arrays

    def is_array(self, name: str) -> bool:
        """Whether a name, or the variable that it is an adjoint of, holds an array of a known kind."""
        variable = self.variables.get(name, name)
        return self.expressions.are_alike(variable, variable)

    def makes_array(self, value: Node) -> bool:
        """Whether the value of an expression, if it is an array, shares no memory with another."""
        match value:
            case gast.Call(func=gast.Attribute(value=gast.Name(), attr="copy"), args=[], keywords=[]):
                return True
            case gast.Call():
                return self.is_pure(value) and self.is_fresh(value)
        return isinstance(value, (gast.BinOp, gast.UnaryOp))

    def are_temporary_arrays(self, a: str, b: str) -> bool:
        """Whether two names are temporaries that hold arrays of one kind, or adjoints of such arrays."""
        if (a in self.variables) is not (b in self.variables):
            return False
        is_temporary = self.is_temporary(a) and self.is_temporary(b)
        return is_temporary and self.expressions.are_alike(
            self.variables.get(a, a), self.variables.get(b, b)
        )


def _assignments(tree: Node, traces: frozenset[str]) -> Iterator[str]:
    """The names that are assigned, with repetitions."""
    yield from (n.id for n in tree.args.args)
    counted: set[tuple[str, str]] = set()  # targets of loops over a `range`: always integers
    for s in statements_in(tree.body):
        match s:
            case gast.For(target=gast.Name(id=name), iter=gast.Call(func=gast.Name(id="range" as called))):
                if (name, called) not in counted:
                    yield name
                counted.add((name, called))
            case gast.Assign(targets=[target], value=source) | gast.For(target=target, iter=source):
                restored = (
                    isinstance(source, gast.Subscript)
                    and isinstance(source.value, gast.Name)
                    and source.value.id in traces
                ) or (isinstance(source, gast.Constant) and isinstance(source.value, (float, type(None))))
                if not restored:
                    yield from target_names(target)
            case gast.AugAssign(target=gast.Name(id=name)) | gast.FunctionDef(name=name):
                yield name
                if isinstance(s, gast.FunctionDef):
                    yield from (n.id for n in s.args.args)
