"""The operations that one run of a function executes, with their values.

The function is run in normal form, one operation a statement; each is noted when it has run. The trace is a
program without loops and branches as well, which can be run again: it asserts that the branches are those of
the traced run.
"""

from __future__ import annotations

import ast
import html
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from ..derivatives.primal_forms import Forms
from ..derivatives.unwrap import target_of
from ..derivatives.variadic import fixed, is_variadic, nothing_for
from ..runtime.border import at_border
from ..source.compiling import definition, make_function
from ..source.executed import base_of
from ..transforms.errors import NonDifferentiableError, UnsupportedSyntaxError
from ..transforms.trees.printer import to_source_with_places
from ..transforms.trees.program import Names

__all__ = ["Step", "Trace", "trace"]

MANY = 10_000  # operations that a trace holds
WIDTH = 60  # characters of a value that is shown
APART = (ast.Try, ast.With, ast.FunctionDef, ast.Lambda, ast.ClassDef)  # what no straight line holds


@dataclass(frozen=True)
class Step:
    """An operation that has run: its text, in which each value has a name of its own, the value that it made
    or changed (a copy of an array), the steps whose values it read, by number, and the user's line.
    """

    text: str
    value: Any
    reads: tuple[int, ...]
    line: int | None

    def __str__(self) -> str:
        return f"{self.text}  # {shown(self.value)}"


@dataclass(frozen=True, repr=False)
class Trace:
    """The steps of a run, arguments first, and its result. `source` is the run as a program without loops and
    branches, `function` that program.
    """

    name: str
    steps: tuple[Step, ...]
    result: Any
    _lines: tuple[str, ...] = ()
    _make: Callable[[str], FunctionType] | None = None
    _apart: str = ""

    def __repr__(self) -> str:
        return f"<trace of {self.name}: {len(self.steps)} steps>"

    def __str__(self) -> str:
        wide = min(WIDTH, max((len(step.text) for step in self.steps), default=0))
        return "\n".join(f"{step.text:{wide}}  # {shown(step.value)}" for step in self.steps)

    @property
    def source(self) -> str:
        """The run as a program. Raises UnsupportedSyntaxError where it holds what has a block of its own."""
        if self._apart:
            raise UnsupportedSyntaxError(
                f"the trace of {self.name} is no straight line",
                why=f"the function has a `{self._apart}`, whose block is run as a whole",
                instead="read its `steps`",
            )
        return "\n".join(self._lines) + "\n"

    @property
    def function(self) -> Callable[..., Any]:
        """The program: it takes the function's parameters, and raises AssertionError where the function would
        take another branch, or another number of turns.
        """
        assert self._make is not None
        return self._make(self.source)

    def dot(self) -> str:
        """The graph of the steps in the language of Graphviz."""
        nodes = [f'  n{k} [label="{_dot(text)}\\n{_dot(value)}"];' for k, text, value in self._shown()]
        edges = [f"  n{read} -> n{k};" for k, step in enumerate(self.steps) for read in step.reads]
        head = f'digraph "{_dot(self.name)}" {{'
        return "\n".join([head, "  node [shape=box];", *nodes, *edges, "}"]) + "\n"

    def mermaid(self) -> str:
        """The graph of the steps in the language of Mermaid."""
        nodes = [f'  n{k}["{_mermaid(text)}<br/>{_mermaid(value)}"]' for k, text, value in self._shown()]
        edges = [f"  n{read} --> n{k}" for k, step in enumerate(self.steps) for read in step.reads]
        return "\n".join(["flowchart TD", *nodes, *edges]) + "\n"

    def _shown(self) -> Iterator[tuple[int, str, str]]:
        return ((k, step.text, shown(step.value)) for k, step in enumerate(self.steps))


def shown(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, np.ndarray):
        text = np.array2string(value, threshold=8, edgeitems=3, precision=6, separator=", ")
        text = f"{value.dtype}{list(value.shape)} {text}"
    else:
        text = repr(value)
    text = " ".join(text.split())
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."


def _dot(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _mermaid(text: str) -> str:
    return html.escape(text).replace("#", "&#35;").replace("&", "#").replace("##35;", "#35;")


@at_border
def trace(f: Callable[..., Any], *args: Any) -> Trace:
    """The operations that `f(*args)` executes, with their values: the function is run once.

    Functions that it calls are one operation each; what their inner functions do is not seen. The function
    must be one that s2sad reads; it need not be differentiable. Raises NonDifferentiableError for more than
    10,000 operations.

    >>> def power(x, n):
    ...     y = 1.0
    ...     for i in range(n):
    ...         y = y * x
    ...     return y
    >>> traced = trace(power, 3.0, 2)
    >>> print(traced)
    x              # 3.0
    n              # 2
    y = 1.0        # 1.0
    i = 0          # 0
    y_2 = y * x    # 3.0
    i_2 = 1        # 1
    y_3 = y_2 * x  # 9.0
    >>> traced.function(5.0, 2)
    25.0
    """
    if is_variadic(f):
        f = fixed(f, args or nothing_for(f), {}).function
    target = target_of(f)
    function, given = target.function, (*target.args, *args)
    while not isinstance(function, FunctionType):  # the trace of a derivative is that of its code
        function, given = function.function_for(*given), given
    program = Forms().normal_form(function)
    source, places = to_source_with_places(program.tree)
    tree = ast.parse(source).body[0]
    assert isinstance(tree, ast.FunctionDef)
    lines = {k: place[0] for k, (place, *_) in places.items() if place is not None}
    if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(tree)):
        raise UnsupportedSyntaxError(
            f"{tree.name} is a generator function",
            why="its operations run when somebody asks for the next value",
            instead="trace the function that reads it",
        )
    recorder = _Recorder(tree, lines)
    text = ast.unparse(ast.fix_missing_locations(recorder.instrumented()))
    defaults = function.__defaults__, function.__kwdefaults__
    make = partial(_made, name=tree.name, program=program, defaults=defaults, like=function)
    result = make(text, extra={recorder.note_name: recorder.note})(*given, **dict(target.keywords))
    found = [type(n).__name__ for s in tree.body for n in ast.walk(s) if isinstance(n, APART)]
    apart = {"FunctionDef": "def", "ClassDef": "class"}.get(found[0], found[0].lower()) if found else ""
    return Trace(tree.name, tuple(recorder.steps), result, tuple(recorder.lines), make, apart)


def _made(
    text: str, name: str, program: Any, defaults: Any, like: FunctionType, extra: dict[str, Any] | None = None
) -> FunctionType:
    bindings = {**program.bindings, **(extra or {})}
    positional, by_keyword = defaults
    return make_function(text, name, program.scope, bindings, positional, by_keyword, like)


@dataclass
class _Recorder:
    """Notes what an instrumented function executes."""

    tree: ast.FunctionDef
    places: dict[int, int]
    steps: list[Step] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)  # the program of the run

    def __post_init__(self) -> None:
        tree, args = self.tree, self.tree.args
        names = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name)]
        self.parameters = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
        self.names = Names({*names, *self.parameters})
        self.note_name = self.names.fresh("note")
        self.noted: list[ast.stmt] = []  # statements by number
        self.renamed: dict[str, str] = {}  # the present name of each variable
        self.holders: dict[str, int] = {}  # the step that made or changed its value
        self.iterators: dict[int, str] = {}  # of loops, by number
        self.variables = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and _is_store(n)}

    # ------------------------------------------------------------ instrumenting

    def instrumented(self) -> ast.FunctionDef:
        """The function with a call of `note` for each statement, argument, branch and turn."""
        head = self.call("begin", ast.Pass(), self.parameters)
        body = [head, *self.block(self.tree.body)]
        return definition(self.tree.name, self.tree.args, body)

    def call(self, what: str, s: ast.stmt, values: list[str], number: int | None = None) -> ast.stmt:
        """The call of `note` for a statement, which gets a number unless it has one."""
        if number is None:
            number = len(self.noted)
            self.noted.append(s)
        listed = ", ".join(values) + ("," if values else "")
        return ast.parse(f"{self.note_name}({what!r}, {number}, ({listed}))").body[0]

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        return [new for s in statements for new in self.statement(s)]

    def statement(self, s: ast.stmt) -> list[ast.stmt]:
        match s:
            case ast.If(test, body, orelse):
                taken = [self.call("branch", s, []), *self.block(body)]
                return [ast.If(test, taken, [self.call("other", s, []), *self.block(orelse)])]
            case ast.For(target, iterable, body, orelse):
                before, number = self.call("loop", s, []), len(self.noted) - 1
                turn = self.call("turn", s, _stored(target), number)
                end = self.call("end", s, [], number)
                inner = [turn, *self.block(body)]
                return [before, ast.For(target, iterable, inner, [end, *self.block(orelse)], None)]
            case ast.While(test, body, orelse):
                return [ast.While(test, self.block(body), self.block(orelse))]
            case ast.With(items, body):
                return [ast.With(items, self.block(body), None)]
            case ast.Try(body, handlers, orelse, finalbody):
                caught = [ast.ExceptHandler(h.type, h.name, self.block(h.body)) for h in handlers]
                return [ast.Try(self.block(body), caught, self.block(orelse), self.block(finalbody))]
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Expr() | ast.Assert():
                return [s, self.call("did", s, self.changed(s))]
            case ast.Return():
                return [self.call("return", s, []), s]
        return [s]

    def changed(self, s: ast.stmt) -> list[str]:
        """The variables that a statement binds, or whose values it may change."""
        match s:
            case ast.Assign(targets=targets):
                found = [name for t in targets for name in _changed(t)]
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                found = _changed(target)
            case ast.Expr(ast.Call(func=func)):
                found = _changed(func)
            case _:
                found = []
        return [name for name in found if name in self.variables or name in self.parameters]

    # ------------------------------------------------------------ noting

    def note(self, what: str, number: int, values: tuple[Any, ...]) -> None:
        """Called by the instrumented function when a statement has run."""
        if len(self.steps) >= MANY:
            raise NonDifferentiableError(
                f"{self.tree.name} runs more than {MANY} operations", instead="trace a smaller case"
            )
        s = self.noted[number]
        match what:
            case "begin":
                self.lines.append(f"def {self.tree.name}({ast.unparse(self.tree.args)}):")
                for name, value in zip(self.parameters, values, strict=True):
                    self.bind(name)
                    self.add(name, value, (), None, [name])
            case "branch" | "other":
                assert isinstance(s, ast.If)
                test = self.rewritten(s.test)
                opposite = test.removeprefix("not ") if test.startswith("not ") else f"not {test}"
                self.lines.append(f"    assert {test if what == 'branch' else opposite}")
            case "loop":
                assert isinstance(s, ast.For)
                name = self.iterators[number] = self.names.fresh("items")
                self.lines.append(f"    {name} = iter({self.rewritten(s.iter)})")
            case "turn":
                assert isinstance(s, ast.For)
                self.turn(s, self.iterators[number], values)
            case "end":
                self.lines.append(f"    assert not list({self.iterators[number]})")
            case "return":
                self.lines.append(f"    {self.rewritten(s)}")
            case "did":
                self.did(s, values)

    def turn(self, loop: ast.For, iterator: str, values: tuple[Any, ...]) -> None:
        reads, line = self.reads(loop.iter), self.places.get(loop.lineno)
        names = _stored(loop.target)
        for name in names:
            self.bind(name)
        self.lines.append(f"    {self.rewritten(loop.target)} = next({iterator})")
        for name, value in zip(names, values, strict=True):
            self.add(f"{self.renamed[name]} = {shown(value)}", value, reads, line, [name])

    def did(self, s: ast.stmt, values: tuple[Any, ...]) -> None:
        reads, changed = self.reads(s), self.changed(s)
        if isinstance(s, ast.Assign):
            value = self.rewritten(s.value)
            for name in (name for t in s.targets for name in _stored(t)):
                self.bind(name)
            text = " = ".join([*map(self.rewritten, s.targets), value])
        else:
            text = self.rewritten(s)
        self.lines.append(f"    {text}")
        if not isinstance(s, ast.Assert):
            made = values[0] if len(values) == 1 else values or None
            self.add(text, made, reads, self.places.get(s.lineno), changed)

    def add(
        self, text: str, value: Any, reads: tuple[int, ...], line: int | None, changed: list[str]
    ) -> None:
        kept = value.copy() if isinstance(value, (np.ndarray, list, dict, set)) else value
        self.steps.append(Step(text, kept, reads, line))
        self.holders |= dict.fromkeys(changed, len(self.steps) - 1)

    def bind(self, name: str) -> None:
        """Gives a variable a new name: its own the first time."""
        self.renamed[name] = name if name not in self.renamed else self.names.fresh(name)

    def reads(self, node: ast.AST) -> tuple[int, ...]:
        read = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in self.holders]
        if isinstance(node, ast.Assign):
            fresh = {name for t in node.targets for name in _stored(t)}
            inside = [n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)]
            read = [name for name in read if name not in fresh or name in inside]
        return tuple(dict.fromkeys(self.holders[name] for name in read))

    def rewritten(self, node: ast.AST) -> str:
        """The text of a node with the present names of variables."""
        text = ast.unparse(node)
        tree = ast.parse(text)
        for n in ast.walk(tree):
            if isinstance(n, ast.Name):
                n.id = self.renamed.get(n.id, n.id)
        return ast.unparse(tree)


def _is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _stored(target: ast.AST) -> list[str]:
    """The names that a target binds."""
    return [n.id for n in ast.walk(target) if isinstance(n, ast.Name) and _is_store(n)]


def _changed(target: ast.AST) -> list[str]:
    """The variables that a target binds, or whose value it may change: `x` for `x[i]` and for `x.append`."""
    if isinstance(target, ast.Subscript | ast.Attribute):
        base = base_of(target)
        return [] if base is None else [base]
    return _stored(target)
