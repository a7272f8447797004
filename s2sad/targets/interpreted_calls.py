"""Statements that stay interpreted: what Numba has no code for runs as Python within compiled code.

`y = np.stack([a, b], axis=1)` becomes `y = interpreted("...", a, b)`, whose function returns what the
statement computes. Numba must know the type of its result, which is found by running the function on
stand-ins: so a statement is interpreted only if it reads nothing but its variables.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ..kinds.eval_guard import is_known
from ..source.compiling import compile_function, definition
from ..transforms.errors import Refusal
from .interpreted_functions import FUNCTIONS, Interpreted

__all__ = ["Interpreter"]

BUILTINS = frozenset(
    (abs, min, max, sum, len, range, list, tuple, float, int, bool, complex, zip, enumerate, slice)
)
METHODS = frozenset(dir(np.ndarray)) - {"dump", "dumps", "tofile", "setflags", "resize"}


@dataclass(frozen=True)
class Interpreter:
    """Makes interpreted functions of the statements of a function with these variables, whose other names
    mean what `scope` says; `name` is a name for `interpreted`.
    """

    variables: frozenset[str]
    scope: Mapping[str, Any]
    meaning: Callable[[ast.expr], Any]
    filename: str
    name: str

    def replace(self, statements: list[ast.stmt], lines: Collection[int]) -> bool:
        """Makes statements that stand at these lines interpreted ones, in place; whether there are some."""
        found = False
        for k, s in enumerate(statements):
            inner = [body for _, body in ast.iter_fields(s) if isinstance(body, list) and body]
            for body in [body for body in inner if isinstance(body[0], ast.stmt)]:
                found |= self.replace(body, lines)
            last = s.test.end_lineno if isinstance(s, ast.If) else s.end_lineno
            if not isinstance(s, (ast.For, ast.While)) and {*range(s.lineno, (last or 0) + 1)} & {*lines}:
                new = self.statement(s)
                if new is not None:
                    statements[k], found = new, True
        return found

    def defer(self, statements: list[ast.stmt]) -> None:
        """Makes a `raise` of a refusal of s2sad's an interpreted statement, in place."""
        for k, s in enumerate(statements):
            for _, inner in ast.iter_fields(s):
                if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                    self.defer(inner)
            if isinstance(s, ast.Raise) and isinstance(s.exc, ast.Call):
                call = self.call([s], s) if isinstance(self.meaning(s.exc.func), Refusal) else None
                if call is not None:
                    never = ast.parse("if True: raise RuntimeError").body[0]
                    assert isinstance(never, ast.If)
                    never.body.insert(0, ast.Expr(call))
                    located = [n for n in ast.walk(never) if isinstance(n, (ast.stmt, ast.expr))]
                    statements[k] = ast.copy_location(never, s)
                    for n in located:
                        ast.copy_location(n, s)

    def statement(self, s: ast.stmt) -> ast.stmt | None:
        """The statement with the call of an interpreted function; None if it has to be compiled."""
        call: ast.expr | None = None
        new: ast.stmt | None = None
        match s:
            case ast.Assign(targets=[target], value=value) if is_names(target):
                call = self.call([ast.Return(value)], s)
                new = ast.Assign([target], call or value)
            case ast.Return(value=ast.expr() as value):
                call = self.call([ast.Return(value)], s)
                new = ast.Return(call)
            case ast.If(test=test):
                call = self.call([ast.Return(test)], s)
                new = ast.If(call or test, s.body, s.orelse)
            case ast.AugAssign(target=ast.Name(id=target)):
                call = self.call([s, ast.Return(ast.Name(target, ast.Load()))], s)
                new = ast.Assign([ast.Name(target, ast.Store())], call or s.value)
            case ast.Assign(targets=[ast.Subscript()]) | ast.AugAssign(target=ast.Subscript()) | ast.Expr():
                call = self.call([s], s)
                new = ast.Expr(call or s)  # type: ignore[arg-type]
        return None if call is None or new is None else ast.copy_location(new, s)

    def call(self, body: list[ast.stmt], at: ast.stmt) -> ast.expr | None:
        """The call of an interpreted function with this body."""
        reader = _Reader(self)
        for s in body:
            reader.visit(s)
        read = [*reader.read]
        if not reader.is_known or not reader.computes or (reader.bound - {*read}):
            return None
        arguments = ast.arguments([], [ast.arg(n) for n in read], None, [], [], None, [])
        tree = ast.copy_location(definition(self.name, arguments, body), at)
        for n in ast.walk(tree):
            if isinstance(n, (ast.stmt, ast.expr, ast.arg)) and not hasattr(n, "lineno"):
                ast.copy_location(n, at)
        outside = [f"{n} is {origin_of(v)}" for n, v in sorted(reader.constants.items())]
        key = hashlib.sha256("\n".join([ast.unparse(tree), *outside]).encode()).hexdigest()
        if key not in FUNCTIONS:
            code = compile_function(tree, self.filename, ())
            function = FunctionType(code, dict(self.scope), self.name)
            result = body[-1].value if isinstance(body[-1], ast.Return) else None
            FUNCTIONS[key] = Interpreted(function, tuple(read), result, self.meaning)
        values: list[ast.expr] = [ast.Constant(key), *(ast.Name(n, ast.Load()) for n in read)]
        call = ast.Call(ast.Name(self.name, ast.Load()), values, [])
        return ast.fix_missing_locations(ast.copy_location(call, at))


class _Reader(ast.NodeVisitor):
    """What a statement reads, and whether all that it calls may be run on stand-ins."""

    def __init__(self, interpreter: Interpreter) -> None:
        self.interpreter = interpreter
        self.read: dict[str, None] = {}
        self.bound: set[str] = set()
        self.constants: dict[str, Any] = {}
        self.is_known = True
        self.computes = False  # a display of names is no code that Numba lacks

    def generic_visit(self, node: ast.AST) -> None:
        self.computes |= isinstance(node, ast.expr) and not isinstance(node, (ast.Tuple, ast.Constant))
        super().generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in self.interpreter.variables:
            self.read[node.id] = None
        if isinstance(node.ctx, ast.Store):
            self.bound.add(node.id)
        elif node.id not in self.interpreter.variables:
            value = self.interpreter.meaning(node)
            self.constants[node.id] = value
            self.is_known &= origin_of(value) != ""

    def visit_Call(self, node: ast.Call) -> None:
        function = self.interpreter.meaning(node.func)
        if function is None:
            self.is_known &= isinstance(node.func, ast.Attribute) and node.func.attr in METHODS
        else:
            self.is_known &= isinstance(function, Refusal) or function in BUILTINS or is_known(function)
        self.generic_visit(node)


def origin_of(value: Any) -> str:
    """Where a module or function is found, or what a refusal says; nothing for other values."""
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, Refusal):
        return repr(value)
    name, module = getattr(value, "__qualname__", None), getattr(value, "__module__", None)
    if isinstance(value, np.ufunc):
        return f"numpy.{value.__name__}"
    return f"{module}.{name}" if name and "<" not in name else ""


def is_names(target: ast.expr) -> bool:
    """Whether a target binds names alone."""
    elts = target.elts if isinstance(target, ast.Tuple) else [target]
    return all(isinstance(e, ast.Name) for e in elts)
