"""Drops the arms of branches whose tests are known: an argument is None, a flag is set.

Form: the normal form or the single-assignment form, in and out. A branch that ends a loop stays. A read of a
variable that only untaken arms bind becomes a `raise`.

    test_1 = weights is None        test_1 = weights is None
    if test_1:                      out_2 = np.mean(x)
        out_2 = np.mean(x)    ->
    else:
        out_2 = average(x, weights)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gast

from ..analyses.facts import Facts
from ..normal_form.raise_unbound import raise_unbound
from ..trees.nodes import assigned_names, blocks_of
from ..trees.program import Program
from ..trees.rebuild import bound_names, map_blocks, with_body

__all__ = ["drop_known", "drop_untaken"]


def drop_untaken(facts: Facts) -> Program:
    """The program with each branch whose test the kinds decide replaced by the arm taken; the program itself
    where there is none.
    """
    return drop_known(facts.program, lambda test: facts.domain.truth_of(facts.kind(test)))


def drop_known(program: Program, truth: Callable[[Any], bool | None]) -> Program:
    """The same, where `truth` decides tests."""
    decided: list[Any] = []
    untaken: set[str] = set()  # the variables that arms which are dropped bind

    def block(statements: list[Any], own: frozenset[str] = frozenset()) -> list[Any]:
        """The block without untaken arms; `own` are the parameters and variables of nested functions, whose
        kinds are unknown.
        """
        result: list[Any] = []
        for s in statements:
            is_open = not isinstance(s, gast.If) or getattr(s.test, "id", "") in own or _leaves(s)
            taken = None if is_open else truth(s.test)
            if taken is not None:
                decided.append(s)
                untaken.update([] if own else assigned_names(s.orelse if taken else s.body))
                result.extend(block(s.body if taken else s.orelse, own))
            else:
                names = own | bound_names(s) if isinstance(s, gast.FunctionDef) else own
                result.append(map_blocks(s, partial(block, own=names)))
        return result

    tree = with_body(program.tree, block(program.tree.body))
    if not decided:
        return program
    program = program.with_tree(tree)
    return raise_unbound(program, frozenset(untaken)) if untaken else program


def _leaves(statement: Any) -> bool:
    """Whether a branch holds a `break` of a loop around it."""
    return any(
        isinstance(s, gast.Break) or (not isinstance(s, (gast.For, gast.While)) and _leaves(s))
        for block in blocks_of(statement)
        for s in block
    )
