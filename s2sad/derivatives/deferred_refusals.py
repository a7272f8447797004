"""What is refused where it is reached, and not before: which statements of which functions.

Contract: a refusal belongs to a statement. Where that may not be reached, or the call of the function that it
stands in, a `raise` of the refusal is put in its place, and all is made again: what is differentiated is the
program with the `raise`, which is the user's as far as that is not reached.
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
    """The refusals by their places, in the order in which they were met; `programs` are those that were read,
    as their authors wrote them.
    """

    refusals: dict[Place, tuple[Refusal, str]] = field(default_factory=dict)
    programs: list[Program] = field(default_factory=list)

    def again(self) -> Deferred:
        """The same refusals, for functions that are read again."""
        return Deferred(self.refusals)

    def put_into(self, program: Program) -> Program:
        """The program with what is refused in it raised where it is reached; itself where nothing is."""
        self.programs.append(program)
        for place, (refusal, what) in self.refusals.items():
            program = put(program, place, refusal, what) or program
        errors = {refusal.error for refusal, _ in self.refusals.values()}
        return let_out(program, errors) if errors and find_nodes(program.tree, gast.Try) else program

    def add(self, error: S2sadError) -> bool:
        """Whether an error that was met, or one of those met with it, can be raised where it is reached; all
        that can are noted for that.
        """
        if len(self.refusals) >= MANY or isinstance(error, InternalError):
            return False
        added = [self.add_one(one) for one in (error, *error.others)]
        return any(added) or self.add_unknown_calls()

    def add_one(self, error: S2sadError) -> bool:
        for place, where in self.places(error):
            refusal = Refusal(type(error), where, error.why, error.instead)
            is_new = place not in self.refusals
            if is_new and any(put(p, place, refusal, error.what) is not None for p in self.programs):
                self.refusals[place] = refusal, error.what
                return True
        return False

    def add_unknown_calls(self) -> bool:
        """Whether calls of which nothing is known may not be reached: these may be why something else is
        refused.
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
                if place not in self.refusals and put(program, place, refusal, error.what) is not None:
                    self.refusals[place] = refusal, error.what
        return len(self.refusals) > before

    def places(self, error: S2sadError) -> Iterator[tuple[Place, SourceLocation | None]]:
        """Where the refusal may be raised, the innermost place first: that of the error, and of calls that
        led there. With each the place that the error names, None for where the run is then.
        """
        met: set[Place] = set()
        for where in (error.given, *error.calls):
            if where is not None and where.inner is not None:
                yield from ((p, None) for p in self.with_calls(where.inner, met))
            if where is not None:
                place = where.filename, where.line, where.column
                yield from ((p, error.where) for p in self.with_calls(place, met))

    def with_calls(self, place: Place, met: set[Place]) -> Iterator[Place]:
        """A place, and those of the calls of the function around it, which may have been put in there; each
        once.
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
    """The first of the refusals of some calls, with those of the others that would be met, too, where it is
    deferred: they are given something that is active without the statements that stand beside refused calls.
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


def put(program: Program, place: Place, refusal: Refusal, what: str) -> Program | None:
    """The program with a refusal at a place of its file; None where it cannot stand there."""
    filename, line, column = place
    return defer_refusal(program, (line, column), refusal, what) if filename == program.filename else None


def is_known(function: Any) -> bool:
    """Whether a function has a rule, or is one of a class that a user wrote."""
    if PRIMITIVES.find_rule(function) is not None or PRIMITIVES.is_nondifferentiable(function):
        return True
    return not isinstance(function, BuiltinFunctionType) and not isinstance(function, np.ufunc)


def contains(tree: Any, line: int) -> bool:
    return bool(tree.lineno <= line <= (tree.end_lineno or line))


def is_call(program: Program, function: Program, callee: Any) -> bool:
    """Whether what is called may be a function: by its name, where it is a method."""
    name = function.tree.name
    if isinstance(callee, gast.Attribute) and callee.attr == name:
        return True
    found = MISSING if getattr(callee, "id", None) in program.locals else program.resolve(callee)
    if isinstance(found, type):
        return name in MAKERS
    code = getattr(getattr(found, "__func__", found), "__code__", None)
    return code is not None and (code.co_filename, code.co_name) == (function.filename, name)
