"""Programs in single assignment with what the analyses find of them, and the stages of derivatives."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import gast

from s2sad.analysis.primitive_table import PRIMITIVES
from s2sad.explanation import explain
from s2sad.kinds import domain
from s2sad.kinds.abstraction import kind_of
from s2sad.kinds.lattice import UNKNOWN
from s2sad.transforms.analyses.facts import Facts
from s2sad.transforms.analyses.find_active import find_active
from s2sad.transforms.analyses.find_aliases import Aliases, find_aliases
from s2sad.transforms.analyses.find_kinds import CallFacts, find_kinds
from s2sad.transforms.analyses.find_overwrites import Changes, find_changes
from s2sad.transforms.normal_form.to_anf import to_anf
from s2sad.transforms.normal_form.to_ssa import to_ssa
from s2sad.transforms.trees.nodes import call
from s2sad.transforms.trees.program import Program
from s2sad.transforms.trees.rebuild import parameter_names
from tests.support.build import build
from tests.support.compare import check_program
from tests.support.stages import executable, read, up_to

Node = Any  # gast publishes no types


class Analysed(Facts):
    """A program in single assignment, with kinds for some arguments; calls may do anything."""

    @property
    def aliases(self) -> Aliases:
        return self.of(find_aliases)

    @property
    def changes(self) -> Changes:
        return self.of(find_changes)

    def active(self, *wrt: str) -> str:
        """The active names, in alphabetical order."""
        return " ".join(sorted(self.of(find_active, wrt)))

    def statement(self, line: str) -> Node:
        """The one statement that stems from the user's line that begins so."""
        found = [
            n
            for n in gast.walk(self.program.tree)
            if isinstance(n, gast.stmt) and self.program.source_line(n).startswith(line)
        ]
        assert len(found) == 1, f"{len(found)} statements stem from {line!r}"
        return found[0]


def analysed(text: str, *args: Any, call_kind: Callable[..., Any] | None = None, **names: Any) -> Analysed:
    """The function `f` of the text for arguments of these kinds; `names` are globals beside np."""
    program = to_ssa(up_to(to_anf, read(text, **names)[1]))
    given = {p: kind_of(a, p) for p, a in zip(parameter_names(program.tree), args, strict=True)}
    calls = CallFacts(call_kind or (lambda operation, kinds, keywords: UNKNOWN))
    kinds = find_kinds(Facts(program, given, PRIMITIVES, domain), calls)
    return Analysed(program, kinds, PRIMITIVES, domain)


def stage(
    name: str, text: str, *args: Any, wrt: int | tuple[int, ...] = 0, form: str = "grad", **names: Any
) -> str:
    """The text of a derivative of the last function in `text` after a pass; "differentiate" is before
    simplification, "restore_names" the end.
    """
    return explain(build(text, **names), *args, argnums=wrt, form=form).stages[name].source


def locals_of(program: Program, args: tuple[Any, ...]) -> dict[str, Any]:
    """The values that the names of a program have when it returns."""
    tree = program.tree
    new = gast.FunctionDef(
        **{f: getattr(tree, f) for f in tree._fields if f != "body"},
        body=[*tree.body[:-1], gast.Return(value=call("locals"))],
    )
    found: dict[str, Any] = executable(program.with_tree(new))(*args)
    return found


def assert_derivative(
    text: str, expected: str, *args: Any, wrt: tuple[int, ...] = (0,), form: str = "grad", **names: Any
) -> None:
    """That the derivative of the last function in `text`, before it is simplified, holds the lines expected,
    and that it is right in both modes.
    """
    f = build(text, **names)
    written = explain(f, *args, argnums=wrt, form=form).stages["differentiate"].source
    lines = textwrap.dedent(expected).strip("\n")
    blocks = [textwrap.indent(lines, indent) for indent in ("", "    ", "        ", "            ")]
    assert any(f"\n{block}\n" in f"\n{written}" for block in blocks), written
    check_program(f, args, wrt)
