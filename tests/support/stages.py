"""What the tests of the passes share: running a pass on text, and comparing what functions do."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import gast
import numpy as np

from s2sad.analysis.primitive_table import NumPy
from s2sad.transforms import NORMALISE as FRONT
from s2sad.transforms.trees.printer import to_source
from s2sad.transforms.trees.program import Program, Scope, program_of

Pass = Callable[[Program], Program]


def read(text: str, name: str = "f", **names: Any) -> tuple[Callable[..., Any], Program]:
    """The function of that name that a text defines, and its program; `names` are globals beside np."""
    namespace: dict[str, Any] = {"__name__": "module", "np": np, **names}
    exec(text, namespace)
    program = program_of(text, Scope(namespace))
    tree = next(n for n in gast.parse(text).body if isinstance(n, gast.FunctionDef) and n.name == name)
    return namespace[name], Program(
        tree, program.scope, "module.py", tuple(text.splitlines()), library=NumPy()
    )


def up_to(last: Pass, program: Program) -> Program:
    """The program after all passes up to that one."""
    for step in FRONT:
        program = step(program)
        if step is last:
            break
    return program


def executable(program: Program) -> Callable[..., Any]:
    """The function that a program is, compiled from its printed text."""
    namespace = {**program.scope.globals, **program.bindings}
    exec(to_source(program.tree), namespace)
    function: Callable[..., Any] = namespace[program.tree.name]
    return function


def effect(function: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """What a call gives or raises, and what it makes of its arguments, as text."""
    args = copy.deepcopy(args)
    try:
        result: Any = function(*args)
    except Exception as error:
        result = type(error)
    return repr((result, args))


def assert_agree(text: str, calls: Iterable[tuple[Any, ...]], steps: Iterable[Pass] = FRONT) -> Program:
    """Asserts that after each pass `f` does what it did; the program after the last."""
    function, program = read(text)
    calls = list(calls)
    for step in steps:
        program = step(program)
        after = executable(program)
        for args in calls:
            assert effect(function, args) == effect(after, args), (
                f"{step.__name__} {args}\n{to_source(program.tree)}"
            )
        for statement in gast.walk(program.tree):
            if isinstance(statement, gast.stmt):
                assert isinstance(statement.lineno, int) and isinstance(statement.col_offset, int)
    return program


def body_after(last: Pass, text: str) -> str:
    """The text of `f` after the passes up to the last."""
    return to_source(up_to(last, read(text)[1]).tree)
