"""Nested functions that are stored or chosen become strings, and their calls branches.

Form in: the normal form, calls inlined. Form out: the same; a name or item that held such a function holds
its name as a string, and a call compares that.

    steps = [scale, shift]                  steps = ["scale", "shift"]
    for step in steps:                      for step in steps:
        step(2.0)                               if step == "scale":
                                                    scale(2.0)
                                                else:
                                                    shift(2.0)

So the functions can be inlined at the calls, and their stores are followed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..analyses.find_functions import Functions, find_functions, functions_in
from ..trees.nodes import assign, binding_counts, blocks_of, constant, find_nodes, load, located
from ..trees.program import Program
from ..trees.rebuild import Rewriter, map_blocks, map_children, rebuilt

__all__ = ["defined_apart", "name_functions"]


def name_functions(program: Program, is_wanted: Callable[[Any], bool]) -> Program:
    """The program in which calls name their functions, as far as these are known and `is_wanted`; with them
    functions held by the same names or containers.
    """
    defined = {f.name: f for f in find_nodes(program.tree, gast.FunctionDef) if f is not program.tree}
    if not any(map(is_wanted, defined.values())):
        return program
    program = defined_apart(program, is_wanted)
    defined = {f.name: f for f in find_nodes(program.tree, gast.FunctionDef)}
    functions = find_functions(program)
    wanted = {n for n in functions.known if is_wanted(defined[n])}
    while more := {n for n in beside(functions, wanted) if n not in wanted}:
        wanted |= more
    return _Writer(program, functions, frozenset(wanted)).run() if wanted else program


def defined_apart(program: Program, is_wanted: Callable[[Any], bool]) -> Program:
    """The program in which each wanted function has a name of its own and no branch defines it; a name with
    several values becomes a variable.
    """
    bound = binding_counts(program.tree)
    names = program.names.copy()
    defined: list[Any] = []

    def block(statements: list[Any]) -> list[Any]:
        """Moves the definitions out of branches of a function's or loop's block."""
        result: list[Any] = []
        for s in statements:
            new = statement(s, False)
            result += [*defined, *new]
            defined.clear()
        return result

    def statement(s: Any, in_branch: bool) -> list[Any]:
        match s:
            case gast.FunctionDef(name=name):
                if varies(s.args) or not (in_branch or bound[name] > 1) or not is_wanted(s):
                    return [s]
                own = names.fresh(name)
                defined.append(rebuilt(s, name=own))
                return [assign(name, load(own), s)]
            case gast.For() | gast.While():
                outer, defined[:] = list(defined), []
                new = map_blocks(s, block)
                defined[:] = outer
                return [new]
        return [map_blocks(s, lambda inner: [n for b in inner for n in statement(b, True)])]

    body = block(program.tree.body)
    tree = rebuilt(program.tree, body=body)
    return program.with_tree(tree, names=names)


def varies(args: Any) -> bool:
    """Whether a definition has defaults that are computed."""
    return any(
        d is not None and not isinstance(d, gast.Constant) for d in [*args.defaults, *args.kw_defaults]
    )


def beside(functions: Functions, wanted: set[str]) -> frozenset[str]:
    """The functions that names or containers hold together with wanted ones."""
    held = [functions_in(value) & functions.known for value in functions.held.values()]
    return frozenset().union(*(found for found in held if found & wanted))


class _Writer(Rewriter):
    def __init__(self, program: Program, functions: Functions, wanted: frozenset[str]) -> None:
        self.program = program
        self.functions = functions
        self.wanted = wanted
        self.names = program.names.copy()

    def run(self) -> Program:
        return self.program.with_tree(self.function(self.program.tree), names=self.names)

    def statement(self, s: Any) -> list[Any]:
        match s:
            case gast.FunctionDef():
                return [s]
            case (
                gast.Assign(targets=[gast.Name()], value=gast.Call(func=gast.Name(id=name)))
                | gast.Expr(value=gast.Call(func=gast.Name(id=name)))
            ) if name not in self.wanted:
                found = self.functions.called(name)
                if found & self.wanted:
                    return self.dispatch(s, name, sorted(found & self.wanted), found <= self.wanted)
        if isinstance(s, gast.For):
            s = rebuilt(s, iter=self.named(s.iter))
        return [self.inside(s) if blocks_of(s) else self.named(s)]

    def named(self, node: Any) -> Any:
        """A statement or expression with names, as strings, for functions."""
        if isinstance(node, gast.Name):
            is_function = node.id in self.wanted and isinstance(node.ctx, gast.Load)
            return constant(node.id) if is_function else node
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Name):
            return rebuilt(map_children(node, self.named), func=node.func)
        return map_children(node, self.named)

    def dispatch(self, s: Any, name: str, found: list[str], is_all: bool) -> list[Any]:
        *tested, last = found
        if not is_all:
            tested, code = found, [s]
        else:
            code = [direct(s, last)]
        for function in tested[::-1]:
            test = self.names.temporary(name)
            value = gast.Compare(left=load(name), ops=[gast.Eq()], comparators=[constant(function)])
            chosen = gast.If(test=load(test), body=[direct(s, function)], orelse=code)
            code = [assign(test, located(value, s), s), located(chosen, s)]
        return code


def direct(s: Any, name: str) -> Any:
    """The statement with a call by name for its dynamic call."""
    return rebuilt(s, value=rebuilt(s.value, func=load(name)))
