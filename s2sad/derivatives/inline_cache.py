"""The inline cache of a derivative: a function, written for it, that recognises calls like earlier ones and
runs their code.

Contract: a call is recognised only if the cache of versions would find the same code. The tests of a case
decide the kinds of the arguments: types, dtypes, ranks, and which axes are equally long, of length one, or
short. The tests of outer names decide that all assumptions hold. What has no such tests (sparse arrays,
objects with slots) is left to the cache of versions. A call that is not recognised returns MISSED.
"""

from __future__ import annotations

import ast
import copyreg
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import CellType, FunctionType, MethodType, SimpleNamespace
from typing import Any

import numpy as np

from ..kinds.abstraction import FUNCTIONS, MAX_ITEMS, MAX_SCANNED, MAX_TEXT, kind_of
from ..kinds.lattice import LARGE, MAX_DEPTH, OF_TYPES, Record
from ..runtime.input_checks import unshared
from ..source.compiling import compile_function, register_text
from ..source.locate import PACKAGE
from ..transforms.trees.program import MISSING, Names
from ..values.code_state import FunctionState
from ..values.objects import HAVE_RULES, is_named_tuple
from .assumptions import Assumption, Capture
from .signature import Parameters

__all__ = ["MISSED", "Case", "form_of", "inline_cache", "missed"]

MISSED: Any = object()  # the result of a call that is not recognised
FILE = f"{PACKAGE}derivatives/<inline cache>"  # tracebacks leave out the frames of the package
TEXT = "# s2sad looks for the derivative of this call, and calls it\n"  # which debuggers show
register_text(FILE, TEXT)
FEW = 3  # arrays whose axes are compared one by one
MAX_PARTS = 64  # numbers and arrays in the arguments of a call
CONTAINERS = (list, tuple, dict)

Value = tuple[str, Any]  # an expression, and what it is in the call that a case is made from
Level = tuple[list[str], list[str]]  # tests, and the assignments behind them, which later tests read


def missed(*args: Any, **keywords: Any) -> Any:
    """The inline cache without cases."""
    return MISSED


@dataclass(frozen=True)
class ArrayForm:
    """What a case keeps of an array, whose elements would stay in memory."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    layout: int  # the flags, as a number


@dataclass(frozen=True)
class ObjectForm:
    """What a case keeps of a plain object: its class, and the forms of its attributes."""

    cls: type
    fields: dict[str, Any]


@dataclass(frozen=True)
class FunctionForm:
    """A function in an attribute, whose identity is part of the object's kind."""

    function: Any


@dataclass(frozen=True)
class LongForm:
    """A long list of an outer name, or in an object: its items are no part of its kind."""


def form_of(value: Any, depth: int = MAX_DEPTH, held: bool = False) -> Any:
    """A value as it is now, which later changes of it do not reach: its containers copied, an array as its
    form, an object as the forms of its attributes, and a list of numbers as one number of each type. `held`
    says that it is the value of an outer name, or in an object.
    """
    if type(value) is np.ndarray:
        return ArrayForm(value.dtype, value.shape, value.flags.num)
    if held and type(value) is list and len(value) > MAX_SCANNED:
        return LongForm()
    if is_of_numbers(value):
        return [*{type(v): v for v in value}.values()]
    cls: type = type(value)
    if depth and isinstance(kind_of(value, "x"), Record) and not copyreg._slotnames(cls):  # type: ignore[attr-defined]
        return ObjectForm(cls, {name: field_form(v, depth - 1) for name, v in value.__dict__.items()})
    if not (depth and (cls in CONTAINERS or is_named_tuple(cls)) and len(value) <= MAX_ITEMS):
        return value
    parts = [form_of(v, depth - 1, held) for v in iterated(value)]
    if cls is dict:
        return dict(zip(value, parts, strict=True))
    return parts if cls is list else tuple.__new__(cls, parts)


def field_form(value: Any, depth: int) -> Any:
    """The form of an attribute."""
    is_fixed = type(value) in FUNCTIONS and not getattr(value, "__closure__", None)
    return FunctionForm(value) if is_fixed else form_of(value, depth, held=True)


@dataclass(frozen=True)
class Case:
    """A call: the forms of all arguments, those of the tangents by the positions of their primals, and the
    code that it runs. The first `count` arguments are passed by position, and the tangents of the positions
    `chosen`. With `tells_layouts`, arrays of other layouts make another case.
    """

    values: tuple[Any, ...]
    run: Callable[..., Any]
    count: int
    exact: frozenset[int]  # the lengths that kinds contain
    tangents: tuple[tuple[int, Any], ...] = ()
    chosen: tuple[int, ...] = ()
    tells_layouts: bool = False


def inline_cache(
    given: Parameters, assumed: Sequence[Assumption], cases: Sequence[Case]
) -> Callable[..., Any] | None:
    """The function that runs the code of the first case that a call is like, while all assumptions hold; None
    where calls like these cannot be recognised.
    """
    try:
        return _Writer(given, assumed, cases).function()
    except _NotSimpleError:
        return None


class _NotSimpleError(Exception):
    """Raised for a value or an assumption that has no test here."""


class _Writer:
    def __init__(self, given: Parameters, assumed: Sequence[Assumption], cases: Sequence[Case]) -> None:
        self.given, self.assumed, self.cases = given, assumed, cases
        function = given.target.function
        self.scope = function.__globals__ if isinstance(function, FunctionType) else {}
        self.names = Names((*given.names, *self.scope, *(k.capture.name for k in assumed)))
        self.cells: dict[str, CellType] = {}
        self.constants: dict[int, str] = {}
        self.parts = 0
        self.tells_layouts = False

    def constant(self, value: Any, base: str = "c") -> str:
        """The name of a constant."""
        name = self.constants.get(id(value))
        if name is None:
            name = self.constants[id(value)] = self.names.temporary(base)
            self.cells[name] = CellType(value)  # which keeps the object, and so its id, alive
        return name

    # ------------------------------------------------------------ the function

    def function(self) -> Callable[..., Any]:
        listed, variables, tangents = self.parameters()
        lines: list[str] = []
        indent = " "
        for level in self.of_assumptions():
            indent = write(level, lines, indent)
        for case in self.cases:
            at, self.tells_layouts = indent, case.tells_layouts
            for level in self.of_case(case, variables, tangents):
                at = write(level, lines, at)
            lines += (f"{at}{line}" for line in self.call(case, variables, tangents))
        lines.append(f" return {self.constant(MISSED)}")
        text = "\n".join((f"def recognised({', '.join(listed)}):", *lines))
        (tree,) = ast.parse(text).body
        assert isinstance(tree, ast.FunctionDef)
        for node in ast.walk(tree):  # one line, for debuggers that step through
            node.__dict__.update({n: 1 for n in ("lineno", "end_lineno") if n in node._attributes})
        code = compile_function(tree, FILE, self.cells)
        closure = tuple(self.cells[name] for name in code.co_freevars)
        made = FunctionType(code, self.scope, "recognised", None, closure)
        made.__defaults__, made.__kwdefaults__ = self.defaults, self.named
        return made

    def parameters(self) -> tuple[list[str], list[str], dict[int, str]]:
        """The parameters as they are written, the expressions of all values, and of tangents by position."""
        target, tangents = self.given.target, {}
        bound = [self.constant(v) for v in target.args]
        free = [*self.given.signature.parameters.values()][len(bound) :]
        preset = dict(target.keywords)
        defaults, named, listed = [], {}, []
        positional = True
        for p in free:
            default = preset.get(p.name, p.default)
            positional = positional and p.kind is not p.KEYWORD_ONLY and p.name not in preset
            if not positional and "*" not in listed:
                listed.append("*")
            has_default = default is not p.empty and self.given.form != "jvp"
            listed.append(f"{p.name}=None" if has_default else p.name)
            if p.kind is p.POSITIONAL_ONLY and positional:
                listed = [*(text for text in listed if text != "/"), "/"]
            if has_default and positional:
                defaults.append(default)
            elif has_default:
                named[p.name] = default
        self.defaults, self.named = tuple(defaults), named
        if self.given.form == "jvp":
            if not positional:
                raise _NotSimpleError
            tangents = {k: self.names.temporary("t") for k, _ in self.cases[0].tangents}
            listed = [*(text for text in listed if text != "/"), *tangents.values()]
            listed += ["/"] if listed else []
        return listed, [*bound, *(p.name for p in free)], tangents

    def call(self, case: Case, variables: list[str], tangents: dict[int, str]) -> Iterator[str]:
        """The statements that run the code of a case."""
        passed = variables[: case.count] + [f"{n}={n}" for n in variables[case.count :]]
        changes = [tangents[k] for k in case.chosen]
        call = f"{self.constant(case.run)}({', '.join([*passed, *changes])})"
        if any(type(t) is ArrayForm for _, t in case.tangents):
            out, dout, aux = (self.names.temporary(name) for name in ("out", "out", "aux"))
            rest = f", *{aux}" if self.given.has_aux else ""
            yield f"{out}, {dout}{rest} = {call}"
            call = f"{out}, {self.constant(unshared)}({dout}, ({', '.join(changes)},)){rest}"
        yield f"return {call}"

    # ------------------------------------------------------------ outer names

    def of_assumptions(self) -> Iterator[Level]:
        """The tests of the function's own state, and of the outer names."""
        function = self.given.target.function
        state = self.given.state
        if state is not None:
            own = list(self.of_state(self.constant(function), state))
        else:
            own = [f"{self.constant(function.current)}() is {self.constant(self.given.inner)}"]
        called = self.given.target.called
        own += [f"type({self.constant(x)}).__call__ is {self.constant(f)}" for x, f in called]
        tests: list[str] = []
        read: list[str] = []
        deeper: list[Value] = []
        for known in self.assumed:
            expression = self.outer(known.capture)
            if expression is None:
                tests.append(f"{self.constant(known.holds)}()")
                continue
            value = known.seen
            if isinstance(value, (np.ndarray, *CONTAINERS)) or type(known.key) is Record:
                name = self.names.temporary("v")
                read.append(f"{name} = {expression}")
                deeper.append((name, form_of(value, held=True)))
                if Assumption(known.capture).key != known.key:  # another thread has changed it
                    raise _NotSimpleError
            elif type(value) in (int, float):
                tests.append(f"{self.constant(type)}({expression}) is {self.constant(type(value))}")
            elif isinstance(value, MethodType):
                raise _NotSimpleError
            else:
                tests.append(f"{expression} is {self.constant(value)}")
                if isinstance(known.key, FunctionState):
                    tests += self.of_state(self.constant(value), known.key)
        yield own, []
        if tests or read:
            errors = ", ".join(self.constant(e) for e in (NameError, AttributeError, KeyError))
            escape = f"return {self.constant(MISSED)}"
            body = [f" if not ({' and '.join(tests)}):", f"  {escape}"] if tests else []
            body += (f" {line}" for line in read)
            yield [], ["try:", *body, f"except ({errors}):", f" {escape}"]
        for value in deeper:
            yield from self.of_values([value], frozenset())

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

    def of_case(self, case: Case, variables: list[str], tangents: dict[int, str]) -> Iterator[Level]:
        """The tests of the arguments of a case."""
        values = list(zip(variables, case.values, strict=True))
        flags = [f"{v} is {value}" for v, value in values if type(value) is bool]
        yield flags, []
        yield from self.of_values([(v, value) for v, value in values if type(value) is not bool], case.exact)
        for k, tangent in case.tangents:
            is_active = k in case.chosen
            tests = self.of_tangent if is_active else self.of_nothing
            yield [*tests(*values[k], tangents[k], tangent)], []

    def of_nothing(self, x: str, primal: Any, t: str, tangent: Any) -> Iterator[str]:
        """The tests that an inactive value has no tangent: None or zero."""
        if tangent is not None and type(tangent) not in (int, float):
            raise _NotSimpleError
        yield self.is_of(t, type(tangent))
        if tangent is not None:
            yield f"{t} == 0"

    def of_tangent(self, x: str, primal: Any, t: str, tangent: Any) -> Iterator[str]:
        """The tests that a tangent fits a number or array, and is passed on as it is."""
        if isinstance(primal, float) and isinstance(tangent, float):
            yield self.is_of(t, float, np.float64)
        elif type(primal) is type(tangent) is ArrayForm and primal.dtype is tangent.dtype:
            yield self.is_of(t, np.ndarray)
            yield f"{t}.dtype is {self.constant(primal.dtype)}"
            yield f"{t}.shape == {x}.shape"
            if self.tells_layouts:
                yield f"{t}.flags.num == {tangent.layout}"
        else:
            raise _NotSimpleError

    def of_values(self, values: list[Value], exact: frozenset[int]) -> Iterator[Level]:
        """The tests that values have the kinds that they have now."""
        arrays: list[Value] = []
        for _ in range(MAX_DEPTH):
            tests: list[str] = []
            read: list[str] = []
            parts: list[Value] = []
            for x, value in values:
                tests += self.of_value(x, value)
                if type(value) is ArrayForm:
                    arrays += [(x, value)] if value.shape else []
                elif type(value) is ObjectForm and value.fields:
                    items = [(self.names.temporary("v"), v) for v in value.fields.values()]
                    read.append(f"{''.join(f'{name}, ' for name, _ in items)}= {x}.__dict__.values()")
                    parts += items
                elif isinstance(value, CONTAINERS) and value and not is_of_numbers(value):
                    items = [(self.names.temporary("v"), v) for v in iterated(value)]
                    left = "".join(f"{name}, " for name, _ in items)
                    read.append(f"{left}= {x}.values()" if type(value) is dict else f"{left}= {x}")
                    parts += items
            yield tests, read
            values = parts
        if values:
            raise _NotSimpleError
        yield from self.of_lengths(arrays, exact)

    def of_value(self, x: str, value: Any) -> Iterator[str]:
        """The tests of a value, except for its parts and lengths."""
        self.parts += 1
        cls = type(value)
        if self.parts > MAX_PARTS:
            raise _NotSimpleError
        if cls in OF_TYPES:
            same = [c for c, kind in OF_TYPES.items() if kind is OF_TYPES[cls] and c not in (cls, bool)]
            yield self.is_of(x, cls, *same)
            return
        if cls is FunctionForm:
            yield f"{x} is {self.constant(value.function)}"
            return
        if cls is LongForm:
            yield f"{self.is_of(x, list)} and {self.constant(len)}({x}) > {MAX_SCANNED}"
            return
        if cls is ObjectForm:
            yield self.is_of(x, value.cls)
            held = self.constant(value.cls)
            if value.cls is not SimpleNamespace:
                yield f"{held}.__getattribute__ is {self.constant(object.__getattribute__)}"
            yield f"{held} not in {self.constant(HAVE_RULES)}"
            yield f"[*{x}.__dict__] == {self.constant([*value.fields])}"
            return
        if not (cls in (ArrayForm, str, *CONTAINERS) or is_named_tuple(cls)):
            raise _NotSimpleError
        yield self.is_of(x, np.ndarray if cls is ArrayForm else cls)
        if cls is ArrayForm:
            if value.dtype.kind not in "biufc" or not value.dtype.isnative:
                raise _NotSimpleError
            yield f"{x}.dtype is {self.constant(value.dtype)}"
            if not value.shape:
                yield f"{x}.ndim == 0"
            if self.tells_layouts:
                yield f"{x}.flags.num == {value.layout}"
        elif cls is str:
            is_short = len(value) <= MAX_TEXT
            yield f"{x} == {value!r}" if is_short else f"{self.constant(len)}({x}) > {MAX_TEXT}"
        elif is_of_numbers(value):
            types = self.constant({*map(type, value)})
            yield f"{{*{self.constant(map)}({self.constant(type)}, {x})}} == {types}"
        elif len(value) > MAX_ITEMS or (cls is dict and not all(type(key) is str for key in value)):
            raise _NotSimpleError
        else:
            size = f"{self.constant(len)}({x}) == {len(value)}"
            yield f"[*{x}] == {self.constant([*value])}" if cls is dict else size

    def is_of(self, x: str, *classes: type) -> str:
        """The test that a value is of one of these classes, and of no subclass."""
        tests = [f"{self.constant(type)}({x}) is {self.constant(cls)}" for cls in classes]
        return tests[0] if len(tests) == 1 else f"({' or '.join(tests)})"

    def of_lengths(self, arrays: list[Value], exact: frozenset[int]) -> Iterator[Level]:
        """The tests of the ranks, and of which axes are equally long, of length one, of an exact length, or
        short. Many arrays are first compared with the shapes that they have now, which is faster.
        """
        if not arrays:
            return
        read: list[str] = []
        axes: dict[int, list[str]] = {}
        for x, value in arrays:
            names = [self.names.temporary("n") for _ in value.shape]
            read.append(f"{', '.join(names)}, = {x}.shape")
            for name, n in zip(names, value.shape, strict=True):
                axes.setdefault(n, []).append(name)
        alike = self.names.temporary("alike")
        refused = f"except {self.constant(ValueError)}:", f" {alike} = False"  # of another rank
        lines = ["try:", *(f" {line}" for line in read), *refused, "else:"]
        lines.append(f" {alike} = {' and '.join(self.of_axes(axes, exact))}")
        if len(arrays) > FEW:
            shapes = self.constant(tuple([value.shape for _, value in arrays]))
            first = f"{alike} = ({', '.join(f'{x}.shape' for x, _ in arrays)}) == {shapes}"
            lines = [first, f"if not {alike}:", *(f" {line}" for line in lines)]
        yield [], lines
        yield [alike], []

    def of_axes(self, axes: dict[int, list[str]], exact: frozenset[int]) -> Iterator[str]:
        """The tests of the lengths of axes, given by their present lengths."""
        apart: dict[bool, list[str]] = {False: [], True: []}  # lengths that differ, short and long ones
        for n, (first, *others) in axes.items():
            yield from (f"{other} == {first}" for other in others)
            if n == 1 or n in exact:
                yield f"{first} == {n}"
                continue
            is_long = n >= LARGE
            yield f"{first} >= {LARGE}" if is_long else f"1 != {first} < {LARGE}"
            yield from (f"{first} != {e}" for e in sorted(exact) if (e >= LARGE) is is_long)
            apart[is_long].append(first)
        for names in apart.values():
            yield from (f"{a} != {b}" for a, b in combinations(names, 2))


def is_of_numbers(value: Any) -> bool:
    """Whether a value is a list of numbers, whose kind depends on their types alone."""
    return type(value) is list and all(type(v) in OF_TYPES for v in value)


def iterated(container: Any) -> Any:
    """The parts of a container."""
    return container.values() if type(container) is dict else container


def write(level: Level, lines: list[str], indent: str) -> str:
    """Appends the code of a level; returns the indentation of what its tests decide."""
    tests, read = level
    if tests:
        lines.append(f"{indent}if {' and '.join(tests)}:")
        indent += " "
    lines += (f"{indent}{line}" for line in read)
    return indent
