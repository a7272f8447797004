"""Writes a derivative as a Python module of its own, which needs NumPy alone.

Contract: the module's function gives what the derivative gives, to the last bit of its code for these kinds.
With example arguments it is the code for their kinds, and for what else that code is right for: numbers of
other kinds where there were numbers, other lengths, keys of dicts in other orders. It tests that it is given
such arguments. Without examples it is the generic code. The values of the module's constants are those of
now. Equal functions and options give equal bytes.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any, NoReturn

import gast
import numpy as np

from ..derivatives.argnums import Argnums
from ..derivatives.derivative import Derivative
from ..kinds.lattice import UNKNOWN, Kind
from ..runtime.border import at_border
from ..runtime.input_checks import cotangent_like, tangent_like, unshared
from ..targets import TARGETS
from ..targets.numba_target import check_types, helpers
from ..transforms.errors import NonDifferentiableError, UnsupportedSyntaxError
from ..transforms.trees.printer import to_source
from ..transforms.trees.program import Names
from .bundle import ERRORS, OWN, Bundle, function_text
from .kind_tests import described, in_order, kind_tests_of
from .literals import literal
from .widen_kinds import Widening

__all__ = ["code_of", "export", "module_text"]

FORMS = {
    "grad": "gradient",
    "value_and_grad": "value and gradient",
    "vjp": "value and `bprop`",
    "jvp": "value and tangent",
}


@at_border
def export(
    f: Callable[..., Any],
    *args: Any,
    argnums: Argnums = 0,
    form: str = "grad",
    file: str | os.PathLike[str] | None = None,
    compile: str | None = None,
) -> str:
    """The text of a module with the derivative of `f` that needs NumPy alone (and the libraries that `f`
    calls); with `file` it is written there, too.

    `form` is the transform, "grad", "value_and_grad", "vjp" or "jvp", with its `argnums`. The code is for
    arguments like the examples `args`, as that of a call, and for others that it is right for (an integer for
    a number that is not differentiated); the module's function raises TypeError for the rest.
    Without examples it is the generic code, which takes all, but only arrays of floats where `f` sets slices.
    (Annotations are not read: they do not tell the rank of an array, and nothing makes callers keep to them.)
    What `f` reads of its module is written out with the values of now. Raises UnsupportedSyntaxError for a
    derivative that reads source when it runs.

    With `compile="numba"` the module's functions are compiled by Numba when they are first called; examples
    of numbers and arrays are needed. It is tried here, and refused if Numba has no code for it, or if the
    derivative calls a helper that is none of NumPy's. Its gradients are those of NumPy up to rounding.

    >>> def f(x, y):
    ...     return x * x * y
    >>> names = {}
    >>> exec(export(f, 3.0, 2.0), names)
    >>> names["f_grad"](3.0, 2.0)
    12.0
    """
    if form not in FORMS:
        instead = f"name one of {', '.join(FORMS)}"
        raise NonDifferentiableError(f"form={form!r} is no transform", instead=instead)
    derivative = f if isinstance(f, Derivative) else Derivative(f, form, argnums, writes=True)
    how = f"export(..., argnums={derivative.argnums!r}, form={form!r}, compile={compile!r})"
    text = module_text(derivative, args, how, compile)
    if file is not None:
        Path(file).write_text(text, encoding="utf-8", newline="\n")
    return text


def module_text(derivative: Derivative, args: Sequence[Any], how: str, compiler: str | None = None) -> str:
    """The text of the module; `how` says how it was made."""
    if compiler is None:
        return _Module(derivative, how).text(args)
    if compiler not in TARGETS:
        raise NonDifferentiableError(
            f"compile={compiler!r} is no compiler that is known", instead=f"name one of {', '.join(TARGETS)}"
        )
    return _CompiledModule(derivative, how).text(args)


def code_of(text: str) -> str:
    """What the text of a module does, without its docstring, which says how it was made."""
    return "\n".join(text.splitlines()[ast.parse(text).body[0].end_lineno :])


class _Module:
    """The module of one derivative."""

    decorator = ""

    def __init__(self, derivative: Derivative, how: str) -> None:
        self.derivative, self.how = derivative, how
        target = derivative.target
        self.title = f"the derivative of `{derivative.__qualname__}`"
        if target.args or target.keywords:
            raise UnsupportedSyntaxError(
                f"{self.title} has arguments that are bound already",
                instead="export the derivative of the function itself",
            )

    def text(self, args: Sequence[Any]) -> str:
        """The module for these examples: what their kinds tell and the code does not use is left out."""
        generic = (UNKNOWN,) * len(self.derivative.parameters)
        if not args:
            return self.of_kinds(self.derivative.assumed_kinds())
        wide, kinds = Widening(self.derivative, self.code), self.derivative.kinds_of_call(*args)
        if self.decorator:  # whose integers overflow
            return self.of_kinds(wide.with_lengths(kinds))
        if wide.has_code(generic, self.code(kinds)):
            return self.of_kinds(generic)
        kinds = wide.with_lengths(wide.with_numbers(kinds))
        return self.of_kinds(kinds, wide.in_any_order(kinds))

    def code(self, kinds: tuple[Kind, ...]) -> tuple[str, str, str]:
        """The parts of the generated function for arguments of these kinds, with what it needs."""
        bundle, function = Bundle(self.title), self.derivative.version_for_kinds(kinds)[0]
        bundle.name_of(function, function.__name__, self.title, is_eager=True)
        return bundle.parts()

    def of_kinds(self, kinds: tuple[Kind, ...], any_order: Collection[int] = ()) -> str:
        """The module for arguments of these kinds, with dicts in any order for the parameters `any_order`."""
        derivative, form = self.derivative, self.derivative.form
        function, chosen = derivative.version_for_kinds(kinds)
        by = [derivative.parameters[k] for k in chosen]
        bundle = Bundle(self.title, self.decorator)
        public = f"{re.sub('[^a-zA-Z0-9_]', '_', str(derivative.__name__)).strip('_')}_{form}"
        names = self.parameters(function)
        bundle.names.taken.update(names)
        checker = None if set(kinds) == {UNKNOWN} else bundle.names.fresh("check_arguments")
        checks = [f"{checker}({', '.join(derivative.parameters)})"] if checker else []
        turned = {derivative.parameters[k]: kinds[k] for k in chosen if k in any_order and form != "jvp"}
        if self.decorator or turned or form in ("vjp", "jvp") or "except" in function_text(function)[0]:
            bundle.names.taken.add(public)
            first = self.border(bundle, function, by, public, checks, turned)
        else:
            public = bundle.name_of(function, public, self.title, is_eager=True)
            first = _with_head(bundle.definitions.pop(), self.docstring(by), checks)
        bundle.finish()
        checkers = [self.check(bundle, checker, kinds, any_order)] if checker else []
        bundle.definitions[:0] = [first, *checkers]
        self.add_imports(bundle)
        imports, constants, definitions = bundle.parts()
        libraries = " and ".join(sorted({"numpy", *bundle.libraries}))
        head = self.header(kinds, libraries).replace("\\", "\\\\").replace('"', '\\"')
        constants = f"\n\n{constants}" if constants else ""
        return f'"""{head}"""\n\n{imports}\n\n__all__ = ["{public}"]{constants}\n\n\n{definitions}'

    def add_imports(self, bundle: Bundle) -> None:
        """Adds what the decorator needs."""

    def parameters(self, function: FunctionType) -> list[str]:
        code = function.__code__
        return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])

    def docstring(self, by: list[str]) -> str:
        listed = ", ".join(f"`{name}`" for name in by)
        return f'"""The {FORMS[self.derivative.form]} of `{self.derivative.__name__}` by {listed}."""'

    def check(
        self, bundle: Bundle, checker: str, kinds: tuple[Kind, ...], any_order: Collection[int]
    ) -> str:
        """The function of this name that raises TypeError for arguments of other kinds."""
        names = self.derivative.parameters
        local = Names(("np",))  # a parameter may be called so, or `type`
        listed = tuple([local.fresh(name) for name in names])
        tests = kind_tests_of(listed, kinds, bundle.written, any_order)
        what = ", ".join(
            f"{n}: {described(kind, bundle.written, k in any_order)}"
            for k, (n, kind) in enumerate(zip(names, kinds, strict=True))
            if kind is not UNKNOWN
        )
        lines = [
            f"def {checker}({', '.join(listed)}):",
            '    """Raises TypeError for arguments of other kinds than those that the code was made for."""',
            "    if not (",
            *(f"        {'and ' if k else ''}{test}" for k, test in enumerate(tests)),
            "    ):",
            f"        raise TypeError({literal(f'made for {what}')})",
        ]
        return "\n".join(lines)

    def border(
        self,
        bundle: Bundle,
        function: FunctionType,
        by: list[str],
        public: str,
        checks: list[str],
        turned: Mapping[str, Kind],
    ) -> str:
        """The public function of a derivative whose results are checked, or put in the order of the arguments
        in `turned`: it calls the generated one.
        """
        form, names = self.derivative.form, self.parameters(function)
        tree, _ = bundle.with_defaults(function)
        keywords = {a.arg for a in tree.args.kwonlyargs}
        passed = ", ".join(f"{name}={name}" if name in keywords else name for name in names)
        called = f"{bundle.name_of(function, function.__name__, self.title)}({passed})"
        lines = [self.docstring(by), *checks]
        local = bundle.names.copy(names)
        out, dout, bprop, checked, met, made = map(
            local.fresh, ("out", "dout", "bprop", "checked", "met", "made")
        )
        tangents = names[len(self.derivative.parameters) :]
        if form == "jvp":
            check = bundle.name_of(tangent_like, "tangent_like", self.title)
            lines += [f"{t} = {check}({x}, {t}, {x!r})" for x, t in zip(by, tangents, strict=True)]
        if "except" in function_text(function)[0]:  # which may have caught a refusal
            refusals = bundle.name_of_own(ERRORS, "refusals")
            lines += [f"{met} = {refusals}.last", f"{made} = {called}"]
            lines += [f"if {refusals}.last is not {met}:", f"    {refusals}.raise_last()"]
            called = made
        if form == "jvp":
            copied = bundle.name_of(unshared, "unshared", self.title)
            lines += [f"{out}, {dout} = {called}"]
            lines += [f"return {out}, {copied}({dout}, ({', '.join(tangents)},))"]
        elif form == "vjp":
            check = bundle.name_of(cotangent_like, "cotangent_like", self.title)
            lines += [
                f"{out}, {bprop} = {called}",
                "",
                f"def {checked}({dout}):",
                f"    return {bprop}({check}({dout}, {out}, {self.derivative.__name__!r}))",
                "",
                f"return {out}, {checked}",
            ]
        elif turned:
            variables = local.fresh("k"), local.fresh("dv"), local.fresh("v")
            adjoints = [local.fresh(f"d{x}") for x in by]
            pairs = zip(by, adjoints, strict=True)
            found = [str(in_order(turned[x], dx, x, variables)) if x in turned else dx for x, dx in pairs]
            start, end = ("", "") if isinstance(self.derivative.argnums, (int, str)) else ("(", ",)")
            given, ordered = (f"{start}{', '.join(parts)}{end}" for parts in (adjoints, found))
            first = f"{out}, " if form == "value_and_grad" else ""
            lines += [f"{first}{given} = {called}", f"return {first}{ordered}"]
            lines = to_source(gast.parse("\n".join(lines))).splitlines()
        else:
            lines.append(f"return {called}")
        return f"def {public}({ast.unparse(tree.args)}):\n" + textwrap.indent("\n".join(lines), "    ")

    def header(self, kinds: tuple[Kind, ...], libraries: str) -> str:
        """The module's docstring: what it holds, for which arguments, and how it was made."""
        derivative = self.derivative
        place = f"{derivative.__module__}.{derivative.__qualname__}"
        pairs = zip(derivative.parameters, kinds, strict=True)
        shown = [f"    {n}: {described(k)}\n" for n, k in pairs] if set(kinds) != {UNKNOWN} else []
        return "\n".join(
            [
                f"The {FORMS[derivative.form]} of `{place}`, for {'these' if shown else 'any'} arguments.",
                "",
                *(["".join(shown)] if shown else []),
                f"Made by s2sad {sys.modules[OWN].__version__}: {self.how}",
                f"Do not edit it, but make it again. It imports {libraries}, and no s2sad.",
                "",
            ]
        )


class _CompiledModule(_Module):
    """The module of a derivative that Numba compiles."""

    decorator = '@njit(boundscheck=True, error_model="python")'

    def add_imports(self, bundle: Bundle) -> None:
        bundle.imports.add("from numba import njit")
        bundle.libraries.add("numba")

    def text(self, args: Sequence[Any]) -> str:
        if self.derivative.form == "vjp":
            raise NonDifferentiableError(
                "a `vjp` is not exported as compiled code",
                why="its result holds a function",
                instead='export value_and_grad or jvp, or leave `compile="numba"` out',
            )
        if not args or not all(isinstance(a, (bool, int, float, complex, np.ndarray)) for a in args):
            raise NonDifferentiableError(
                "compiled code is for arguments of certain types, which are numbers and arrays",
                instead="give examples of them all",
            )
        primals = self.derivative.bind(tuple(args), {})
        function, chosen = self.derivative.version_for_kinds(self.derivative.kinds_of_call(*args))
        check_types(primals, function)
        tangents = [primals[k] for k in chosen] if self.derivative.form == "jvp" else []
        text = super().text(args)
        names: dict[str, Any] = {}
        exec(compile(text, "<exported>", "exec", dont_inherit=True), names)
        numba = helpers().numba
        kernels = [value for value in names.values() if hasattr(value, "py_func")]
        kernel = next(k for k in kernels if k.py_func.__name__.startswith(function.__name__))
        used = [n for k in kernels for n in k.py_func.__code__.co_names]
        missing = [f"`{name}`" for name in dict.fromkeys(used) if isinstance(names.get(name), FunctionType)]
        if missing:
            shorter = any(isinstance(a, np.ndarray) and 1 in (*a.shape, a.ndim + 1) for a in args)
            self.refuse(
                f"it calls {', '.join(missing)}: Numba compiles no helpers of s2sad",
                "give examples whose axes are longer than 1, if such arguments are meant; or " * shorter,
            )
        try:
            kernel.compile(tuple(map(numba.typeof, (*primals, *tangents))))
        except Exception as error:  # Numba's, of many classes
            plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
            reasons = [line.strip() for line in plain.splitlines() if line.strip()]
            self.refuse(next((r for r in reasons if not r.startswith("Failed in")), type(error).__name__))
        return text

    def refuse(self, why: str, instead: str = "") -> NoReturn:
        instead += 'leave `compile="numba"` out, or use `grad(f, compile="numba")` with s2sad'
        raise UnsupportedSyntaxError(f"{self.title} cannot be compiled by Numba alone", None, why, instead)


def _with_head(text: str, doc: str, checks: list[str]) -> str:
    """The text of a function with lines at the start of its body."""
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    first, lines = function.body[0], text.split("\n")
    if ast.get_docstring(function) is not None:
        head, before = checks, first.end_lineno or first.lineno
    else:
        head, before = [doc, *checks], first.lineno - 1
        while lines[before - 1].lstrip().startswith("#"):  # the comment of its first statement
            before -= 1
    return "\n".join([*lines[:before], *(f"    {line}" for line in head), *lines[before:]])
