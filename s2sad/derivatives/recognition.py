"""Recognises calls like earlier ones, and runs their code.

Contract: a call is recognised only if the cache of versions would find the same code, as the forms of its
arguments are those of an earlier call, and all assumptions hold. No argument is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..kinds.abstraction import form_of
from ..kinds.lattice import OF_TYPES
from ..source.compiling import register_text
from ..source.locate import PACKAGE

__all__ = ["MISSED", "Case", "missed", "recogniser", "recognition"]

MISSED: Any = object()  # the result of a call that is not recognised
FILE = f"{PACKAGE}derivatives/<recognition>"  # tracebacks leave out the frames of the package
register_text(FILE, "# s2sad looks for the derivative of this call, and calls it\n")  # which debuggers show
Case = tuple[list[tuple[str, tuple[Any, ...]]], Callable[..., Any]]  # tests with their constants; what runs


def missed(*args: Any) -> Any:
    """Recognises no call."""
    return MISSED


def recognition(args: Sequence[Any], run: Callable[..., Any], tells_strides: bool = False) -> Case | None:
    """The tests that arguments have the forms of these, and with `tells_strides` the layouts of arrays among
    them; None if one has no form.
    """
    tests: list[tuple[str, tuple[Any, ...]]] = [(f"len(args) == {len(args)}", ())]
    for k, x in enumerate(args):
        form = form_of(x)
        if form is None:
            return None
        if type(x) is bool:
            tests.append((f"args[{k}] is {x}", ()))
        elif type(x) in OF_TYPES:
            tests.append((f"type(args[{k}]) is {{}}", (type(x),)))
        elif type(x) is np.ndarray:
            text = f"type(args[{k}]) is {{}} and args[{k}].dtype is {{}} and args[{k}].shape == {{}}"
            tests.append((text, (np.ndarray, *form)))
            if tells_strides:
                tests.append((f"args[{k}].strides == {{}}", (x.strides,)))
        else:
            tests.append((f"{{}}(args[{k}]) == {{}}", (form_of, form)))
    return tests, run


def recogniser(assumed: Sequence[Callable[[], bool]], cases: Sequence[Case]) -> Callable[..., Any]:
    """The function that recognises calls with positional arguments that are like one of the cases."""
    names: dict[str, Any] = {}

    def constant(value: Any) -> str:
        names[f"c{len(names)}"] = value
        return f"c{len(names) - 1}"

    holds = [f"{constant(test)}()" for test in assumed]
    texts = []
    for tests, run in cases:
        test = " and ".join([text.format(*map(constant, values)) for text, values in tests] + holds)
        texts.append(f"{constant(run)}(*args) if {test} else ")
    code = compile(f"lambda *args: {''.join(texts)}{constant(MISSED)}", FILE, "eval")
    made: Callable[..., Any] = eval(code, names)
    return made
