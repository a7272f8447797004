"""The inline cache of a derivative: a function, written for it, that recognises calls like earlier ones and
runs their code.

Contract: a call is recognised only if the cache of versions would find the same code. The tests of a case are
of types, dtypes and shapes, which decide the kinds; those of outer names, that all assumptions hold. What has
no such tests (sparse arrays, objects with slots) is left to the cache of versions. A call that is not
recognised returns MISSED.
"""

from __future__ import annotations

import ast
import copyreg
from collections.abc import Callable, Iterator, Sequence
from types import CellType, FunctionType, MethodType, SimpleNamespace
from typing import Any

import numpy as np

from ..kinds.abstraction import FUNCTIONS, MAX_ITEMS, MAX_SCANNED, MAX_TEXT, kind_of
from ..kinds.lattice import MAX_DEPTH, OF_TYPES, Record
from ..runtime.input_checks import unshared
from ..source.compiling import compile_function, register_text
from ..source.locate import PACKAGE
from ..transforms.trees.program import MISSING, Names
from ..values.code_state import FunctionState
from ..values.objects import HAVE_RULES, is_named_tuple
from .assumptions import Assumption, Capture
from .signature import Parameters

__all__ = ["MISSED", "InlineCache", "NotSimpleError", "missed"]

MISSED: Any = object()  # the result of a call that is not recognised
FILE = f"{PACKAGE}derivatives/<inline cache>"  # tracebacks leave out the frames of the package
TEXT = "# s2sad looks for the derivative of this call, and calls it\n"  # which debuggers show
register_text(FILE, TEXT)
MAX_CASES = 4
MAX_PARTS = 64  # numbers and arrays in the arguments of a call
CONTAINERS = (list, tuple, dict)

Level = tuple[list[str], list[str]]  # tests, and the statements behind them, which later tests read


def missed(*args: Any, **keywords: Any) -> Any:
    """The inline cache without cases."""
    return MISSED


class NotSimpleError(Exception):
    """Raised for a value or an assumption that has no test here."""


class InlineCache:
    """The cases of one derivative under the same assumptions, which keep no argument."""

    def __init__(self, given: Parameters, assumed: Sequence[Assumption]) -> None:
        self.given, self.assumed = given, assumed
        function = given.target.function
        self.scope = function.__globals__ if isinstance(function, FunctionType) else {}
        self.names = Names((*given.names, *self.scope, *(k.capture.name for k in assumed)))
        self.cells: dict[str, CellType] = {}
        self.constants: dict[int, str] = {}
        self.parts = 0
        self.defaults: list[Any] = []
        self.named: dict[str, Any] = {}
        self.changes: dict[int, str] = {}  # the names of tangents
        self.cases: list[list[Level]] = []
        self.start = list(self.of_assumptions())

    def constant(self, value: Any) -> str:
        """The name of a constant."""
        name = self.constants.get(id(value))
        if name is None:
            name = self.constants[id(value)] = self.names.temporary("c")
            self.cells[name] = CellType(value)  # which keeps the object, and so its id, alive
        return name

    def with_case(
        self,
        values: Sequence[Any],
        run: Callable[..., Any],
        count: int,
        tangents: Sequence[tuple[int, Any]],
        chosen: Sequence[int],
        tells_layouts: bool,
    ) -> Callable[..., Any]:
        """The function that recognises calls like this one, of all arguments and of tangents by the positions
        of their primals, and the cases before. `run` is given the first `count` arguments by position, and
        the tangents of the positions `chosen`. With `tells_layouts`, arrays of other layouts make another
        case.
        """
        self.parts = 0
        listed, variables = self.parameters()
        given = {k: self.changes.get(k) or self.names.temporary("t") for k, _ in tangents}
        self.changes.update(given)
        if self.given.form == "jvp":  # whose arguments are all given by position
            if "*" in listed:
                raise NotSimpleError
            self.defaults = []
            listed = [*(text.partition("=")[0] for text in listed if text != "/"), *given.values()]
            listed += ["/"] if listed else []
        levels = [*self.of_values([*zip(variables, values, strict=True)], tells_layouts)]
        for k, tangent in tangents:
            of = self.of_tangent if k in chosen else self.of_nothing
            levels.append(([*of(variables[k], values[k], given[k], tangent, tells_layouts)], []))
        changes = [given[k] for k in chosen]
        passed = [*variables[:count], *(f"{n}={n}" for n in variables[count:]), *changes]
        call = f"{self.constant(run)}({', '.join(passed)})"
        if any(type(t) is np.ndarray for _, t in tangents):
            out, dout, aux = map(self.names.temporary, ("out", "dout", "aux"))
            rest = f", *{aux}" if self.given.has_aux else ""
            levels.append(([], [f"{out}, {dout}{rest} = {call}"]))
            call = f"{out}, {self.constant(unshared)}({dout}, ({', '.join(changes)},)){rest}"
        self.cases = [[*levels, ([], [f"return {call}"])], *self.cases[: MAX_CASES - 1]]
        return self.function(listed)

    def parameters(self) -> tuple[list[str], list[str]]:
        """The parameters as they are written, and the expressions of all arguments."""
        target = self.given.target
        bound, preset = [*map(self.constant, target.args)], dict(target.keywords)
        self.defaults, self.named = [], {}
        listed: list[str] = []
        free = [*self.given.signature.parameters.values()][len(bound) :]
        for p in free:
            default = preset.get(p.name, p.default)
            if "*" not in listed and (p.kind is p.KEYWORD_ONLY or p.name in preset):
                listed.append("*")
            listed.append(p.name if default is p.empty else f"{p.name}=None")
            if "*" in listed:
                self.named.update({} if default is p.empty else {p.name: default})
                continue
            self.defaults += [] if default is p.empty else [default]
            if p.kind is p.POSITIONAL_ONLY:
                listed = [*(text for text in listed if text != "/"), "/"]
        return listed, [*bound, *(p.name for p in free)]

    def function(self, listed: list[str]) -> Callable[..., Any]:
        """The function of all cases, with these parameters."""
        lines: list[str] = []
        indent = write(self.start, lines, " ")
        for case in self.cases:
            write(case, lines, indent)
        lines.append(f" return {self.constant(MISSED)}")
        (tree,) = ast.parse("\n".join((f"def recognised({', '.join(listed)}):", *lines))).body
        assert isinstance(tree, ast.FunctionDef)
        for node in ast.walk(tree):  # one line, for debuggers that step through
            node.__dict__.update({n: 1 for n in ("lineno", "end_lineno") if n in node._attributes})
        code = compile_function(tree, FILE, self.cells)
        closure = tuple(self.cells[name] for name in code.co_freevars)
        made = FunctionType(code, self.scope, "recognised", None, closure)
        made.__defaults__, made.__kwdefaults__ = tuple(self.defaults), self.named
        return made

    # ------------------------------------------------------------ outer names

    def of_assumptions(self) -> Iterator[Level]:
        """The tests of the function's own state, and of the outer names."""
        function = self.given.target.function
        if self.given.state is not None:
            own = list(self.of_state(self.constant(function), self.given.state))
        else:
            own = [f"{self.constant(function.current)}() is {self.constant(self.given.inner)}"]
        called = self.given.target.called
        own += [f"type({self.constant(x)}).__call__ is {self.constant(f)}" for x, f in called]
        tests: list[str] = []
        read: list[str] = []
        deeper: list[tuple[str, Any]] = []
        for known in self.assumed:
            expression, value = self.outer(known.capture), known.seen
            if expression is None:
                tests.append(f"{self.constant(known.holds)}()")
            elif isinstance(value, (np.ndarray, *CONTAINERS)) or type(known.key) is Record:
                deeper.append((self.names.temporary("v"), value))
                read.append(f"{deeper[-1][0]} = {expression}")
            elif type(value) in (int, float):
                tests.append(self.is_of(expression, type(value)))
            elif isinstance(value, MethodType):
                raise NotSimpleError
            else:
                tests.append(f"{expression} is {self.constant(value)}")
                if isinstance(known.key, FunctionState):
                    tests += self.of_state(self.constant(value), known.key)
        yield own, []
        if tests or read:
            errors = ", ".join(self.constant(e) for e in (NameError, AttributeError, KeyError))
            escape = f"return {self.constant(MISSED)}"
            body = [f" if not ({' and '.join(tests)}):", f"  {escape}"] if tests else []
            yield [], ["try:", *body, *(f" {line}" for line in read), f"except ({errors}):", f" {escape}"]
        yield from self.of_values(deeper, False)
        if any(not k.holds() and Assumption(k.capture).key != k.key for k in self.assumed):
            raise NotSimpleError  # another thread has changed it

    def outer(self, capture: Capture) -> str | None:
        """The expression of an outer name; None for what is asked of the assumption itself."""
        name, scope = capture.name, capture.scope
        if type(capture) is not Capture:
            return None
        if name in scope.cells:
            cell = scope.cells[name]
            name = self.names.temporary("cell")
            self.cells[name] = cell
        elif scope.globals is not self.scope or name in self.given.names:
            if name not in scope.globals:
                return None
            name = f"{self.constant(scope.globals)}[{name!r}]"
        if capture.value() is not MISSING or not capture.path:
            return ".".join((name, *capture.path))
        *path, last = capture.path
        missing = self.constant(MISSING)
        return f"{self.constant(getattr)}({'.'.join((name, *path))}, {last!r}, {missing})"

    def of_state(self, f: str, state: FunctionState) -> Iterator[str]:
        """The tests that a function is in this state."""
        yield f"{f}.__code__ is {self.constant(state.code)}"
        yield f"{f}.__defaults__ is {self.constant(state.defaults)}"
        yield f"{f}.__kwdefaults__ is None" if state.named is None else f"{self.constant(state.is_of)}({f})"

    # ------------------------------------------------------------ values

    def of_nothing(self, x: str, primal: Any, t: str, tangent: Any, tells_layouts: bool) -> Iterator[str]:
        """The tests that an inactive value has no tangent: None or zero."""
        if tangent is not None and type(tangent) not in (int, float):
            raise NotSimpleError
        yield self.is_of(t, type(tangent))
        if tangent is not None:
            yield f"{t} == 0"

    def of_tangent(self, x: str, primal: Any, t: str, tangent: Any, tells_layouts: bool) -> Iterator[str]:
        """The tests that a tangent fits a number or array, and is passed on as it is."""
        if isinstance(primal, float) and isinstance(tangent, float):
            yield self.is_of(t, float, np.float64)
        elif type(primal) is type(tangent) is np.ndarray and primal.dtype is tangent.dtype:
            yield from self.of_value(t, tangent, tells_layouts, False)
        else:
            raise NotSimpleError

    def of_values(self, values: list[tuple[str, Any]], tells_layouts: bool) -> Iterator[Level]:
        """The tests that values, given by expressions, have the kinds that they have now."""
        flags = [f"{x} is {value}" for x, value in values if type(value) is bool]
        values = [(x, value) for x, value in values if type(value) is not bool]
        for depth in range(MAX_DEPTH):
            tests, flags = flags, []
            read: list[str] = []
            parts: list[tuple[str, Any]] = []
            for x, value in values:
                tests += self.of_value(x, value, tells_layouts, depth > 0)
                items: Any = ()
                if isinstance(value, CONTAINERS):
                    items = () if is_of_numbers(value) else value
                elif type(value) not in (np.ndarray, *FUNCTIONS):
                    x, items = f"{x}.__dict__", getattr(value, "__dict__", ())
                if type(items) is dict:
                    x, items = f"{x}.values()", items.values()
                if items:
                    names = [self.names.temporary("v") for _ in items]
                    read.append(f"{', '.join(names)}, = {x}")
                    parts += zip(names, items, strict=True)
            yield tests, read
            values = parts
        if values:
            raise NotSimpleError

    def of_value(self, x: str, value: Any, tells_layouts: bool, is_part: bool) -> Iterator[str]:
        """The tests of a value, except for its parts."""
        self.parts += 1
        cls: type = type(value)
        if self.parts > MAX_PARTS:
            raise NotSimpleError
        if cls in OF_TYPES:
            same = [c for c, kind in OF_TYPES.items() if kind is OF_TYPES[cls] and c not in (cls, bool)]
            yield self.is_of(x, cls, *same)
        elif cls is np.ndarray and value.dtype.kind in "biufc" and value.dtype.isnative:
            yield self.is_of(x, cls)
            yield f"{x}.dtype is {self.constant(value.dtype)} and {x}.shape == {value.shape}"
            if tells_layouts:
                yield f"{x}.flags.num == {value.flags.num}"
        elif is_part and cls in FUNCTIONS and not getattr(value, "__closure__", None):
            yield f"{x} is {self.constant(value)}"
        elif cls is str and len(value) <= MAX_TEXT:
            yield f"{self.is_of(x, cls)} and {x} == {value!r}"
        elif is_of_numbers(value):
            types = self.constant({*map(type, value)})
            yield f"{self.is_of(x, cls)} and {{*{self.constant(map)}({self.constant(type)}, {x})}} == {types}"
        elif cls is dict and len(value) <= MAX_ITEMS and all(type(key) is str for key in value):
            yield f"{self.is_of(x, cls)} and [*{x}] == {self.constant([*value])}"
        elif (cls in CONTAINERS or is_named_tuple(cls)) and cls is not dict and len(value) <= MAX_ITEMS:
            yield f"{self.is_of(x, cls)} and {self.constant(len)}({x}) == {len(value)}"
        elif isinstance(kind_of(value, "x"), Record) and not copyreg._slotnames(cls):  # type: ignore[attr-defined]
            yield self.is_of(x, cls)
            if cls is not SimpleNamespace:
                yield f"{self.constant(cls)}.__getattribute__ is {self.constant(object.__getattribute__)}"
            yield f"{self.constant(cls)} not in {self.constant(HAVE_RULES)}"
            yield f"[*{x}.__dict__] == {self.constant([*vars(value)])}"
        else:
            raise NotSimpleError

    def is_of(self, x: str, *classes: type) -> str:
        """The test that a value is of one of these classes, and of no subclass."""
        tests = [f"{self.constant(type)}({x}) is {self.constant(cls)}" for cls in classes]
        return tests[0] if len(tests) == 1 else f"({' or '.join(tests)})"


def is_of_numbers(value: Any) -> bool:
    """Whether a value is a list of numbers, whose kind depends on their types alone, also in an object."""
    return type(value) is list and len(value) <= MAX_SCANNED and all(type(v) in OF_TYPES for v in value)


def write(levels: Sequence[Level], lines: list[str], indent: str) -> str:
    """Appends the code of levels; returns the indentation of what their tests decide."""
    for tests, read in levels:
        if tests:
            lines.append(f"{indent}if {' and '.join(tests)}:")
            indent += " "
        lines += (f"{indent}{line}" for line in read)
    return indent
