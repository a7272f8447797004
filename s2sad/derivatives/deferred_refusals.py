"""Deferred refusals: a refused statement that may not be reached becomes a `raise` of the refusal.

Contract: the program with the `raise` is differentiated in place of the user's. The two agree on all paths
that do not reach the statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from types import BuiltinFunctionType, FunctionType
from typing import Any

import gast
import numpy as np

from ..analysis.primitive_table import PRIMITIVES
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_active import find_active
from ..transforms.errors import InternalError, Refusal, S2sadError, SourceLocation, missing_rule
from ..transforms.normal_form.defer_refusals import calls_of, defer_refusal, let_out
from ..transforms.trees.nodes import find_nodes, names_read
from ..transforms.trees.program import MISSING, Program
from ..transforms.trees.rebuild import bound_names, map_blocks, rebuilt

__all__ = ["Deferred"]

MANY = 12  # refusals, after which the next one is raised at once

Place = tuple[str, int, int]  # a file, a line and a column
MAKERS = ("__init__", "__post_init__", "__new__", "__call__")


@dataclass
class Deferred:
    """The refusals by place, in the order in which they were met; `programs` are the functions read so far,
    as the user wrote them.
    """

    refusals: dict[Place, tuple[Refusal, str]] = field(default_factory=dict)
    programs: list[Program] = field(default_factory=list)

    def again(self) -> Deferred:
        """The same refusals, with no functions read yet."""
        return Deferred(self.refusals)

    def put_into(self, program: Program) -> Program:
        """The program with its refused statements as `raise`; the program itself without any."""
        self.programs.append(program)
        for place, (refusal, what) in self.refusals.items():
            program = with_raise(program, place, refusal, what) or program
        errors = {refusal.error for refusal, _ in self.refusals.values()}
        return let_out(program, errors) if errors and find_nodes(program.tree, gast.Try) else program

    def add(self, error: S2sadError) -> bool:
        """Notes an error, and those met with it, to be raised where they are reached; whether any can be."""
        if len(self.refusals) >= MANY or isinstance(error, InternalError):
            return False
        added = [self.add_one(one) for one in (error, *error.others)]
        return any(added) or self.add_unknown_calls()

    def add_one(self, error: S2sadError) -> bool:
        for place, where in self.places(error):
            refusal = Refusal(type(error), where, error.why, error.instead)
            is_new = place not in self.refusals
            if is_new and any(with_raise(p, place, refusal, error.what) is not None for p in self.programs):
                self.refusals[place] = refusal, error.what
                return True
        return False

    def add_unknown_calls(self) -> bool:
        """Notes calls of unknown C functions, which may be why another statement is refused; whether there is
        any.
        """
        before = len(self.refusals)
        for program in self.programs:
            local = bound_names(program.tree)
            for call in find_nodes(program.tree, gast.Call):
                function = MISSING if getattr(call.func, "id", None) in local else program.resolve(call.func)
                if function is MISSING or isinstance(function, (FunctionType, type)) or is_known(function):
                    continue
                error = missing_rule(function, PRIMITIVES.refusal(function), program.where(call))
                refusal = Refusal(type(error), error.where, error.why, error.instead)
                place = program.filename, call.lineno, call.col_offset
                if place in self.refusals:
                    continue
                if with_raise(program, place, refusal, error.what) is not None:
                    self.refusals[place] = refusal, error.what
        return len(self.refusals) > before

    def places(self, error: S2sadError) -> Iterator[tuple[Place, SourceLocation | None]]:
        """The places where the refusal may be raised, innermost first: the error's, and those of the calls
        that led there. With each the place that the error names; None stands for the place of the `raise`.
        """
        met: set[Place] = set()
        for where in (error.given, *error.calls):
            if where is not None and where.inner is not None:
                yield from ((p, None) for p in self.with_calls(where.inner, met))
            if where is not None:
                place = where.filename, where.line, where.column
                yield from ((p, error.where) for p in self.with_calls(place, met))

    def with_calls(self, place: Place, met: set[Place]) -> Iterator[Place]:
        """A place, and the places of calls of the function around it, which may have been inlined; each once.
        """
        if place in met:
            return
        met.add(place)
        yield place
        for function in self.programs:
            if function.filename == place[0] and contains(function.tree, place[1]):
                for caller in self.programs:
                    for line, column in calls_of(caller.tree, partial(is_call, caller, function)):
                        yield from self.with_calls((caller.filename, line, column), met)


def with_others(facts: Facts, wrt: tuple[str, ...], met: list[tuple[S2sadError, Any]]) -> S2sadError:
    """The first of the refusals of some calls, and as its `others` those that would be met after it was
    deferred: their arguments stay active without the refused calls of other branches.
    """

    def is_met(call: Any) -> bool:
        others = [c for _, c in met if c is not call]

        def block(statements: list[Any]) -> list[Any]:
            values = [getattr(s, "value", None) for s in statements]
            is_own = any(value is call for value in values)
            if not is_own and any(value is other for value in values for other in others):
                return [gast.Pass()]
            return [map_blocks(s, block) for s in statements]

        tree = rebuilt(facts.program.tree, body=[map_blocks(s, block) for s in facts.program.tree.body])
        active = facts.after(facts.program.with_tree(tree)).of(find_active, wrt)
        return not active.isdisjoint(names_read(call))

    (first, _), *rest = met
    first.others = tuple(error for error, call in rest if is_met(call))
    return first


def with_raise(program: Program, place: Place, refusal: Refusal, what: str) -> Program | None:
    """The program with a `raise` of a refusal at a place of its file; None where none can stand there."""
    filename, line, column = place
    return defer_refusal(program, (line, column), refusal, what) if filename == program.filename else None


def is_known(function: Any) -> bool:
    """Whether a callable is a primitive, or an object that is neither a C function nor a ufunc."""
    if PRIMITIVES.find_rule(function) is not None or PRIMITIVES.is_nondifferentiable(function):
        return True
    return not isinstance(function, BuiltinFunctionType) and not isinstance(function, np.ufunc)


def contains(tree: Any, line: int) -> bool:
    return bool(tree.lineno <= line <= (tree.end_lineno or line))


def is_call(program: Program, function: Program, callee: Any) -> bool:
    """Whether a callee may be this function; a method of an unknown object is compared by its name."""
    name = function.tree.name
    root = callee
    while isinstance(root, gast.Attribute):
        root = root.value
    found = MISSING if getattr(root, "id", None) in program.locals else program.resolve(callee)
    if found is MISSING:
        return isinstance(callee, gast.Attribute) and callee.attr == name
    if isinstance(found, type):
        return name in MAKERS
    code = getattr(getattr(found, "__func__", found), "__code__", None)
    return code is not None and (code.co_filename, code.co_name) == (function.filename, name)
