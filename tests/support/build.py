"""Functions of text, whose source can be read back as if it stood in a file."""

from __future__ import annotations

import ast
import builtins
import hashlib
import linecache
import math
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["POISON", "build", "build_hostile", "cell", "execute", "hostile_names"]


def build(text: str, **names: Any) -> Callable[..., Any]:
    """The last function that the text defines; the names given are globals of it, beside np and math."""
    filename = f"<program {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    return execute(compile(text, filename, "exec"), ast.parse(text), names)


def build_hostile(text: str, **names: Any) -> Callable[..., Any]:
    """`build`, in a module that has a number under each name that generated code could take for its own."""
    return build(text, **{**hostile_names(ast.parse(text)), **names})


def cell(text: str, filename: str) -> dict[str, Any]:
    """The names that a notebook's cell binds; only linecache knows its text."""
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"__name__": "cell"}
    exec(compile(text, filename, "exec"), namespace)
    return namespace


POISON = 123.0
GENERATED = [
    "out", "dout", "value", "aux", "trace", "trips", "heap", "k", "n", "index", "item", "items", "key",
    "args", "kwargs", "place", "position", "stop", "done", "skip", "failed", "found", "matched",
    "context_1", "like", "add", "unbroadcast", "zeros_like", "unit_cotangent", "np_1", "math_1", "pull",
    "bprop", "function", "x", "y", "a", "b", "v", "w", "axis", "keepdims", "shape", "dtype", "indices",
    "values", "condition", "where", "initial", "start", "size", "order", "mode", "abs", "all", "any",
    "bool", "dict", "enumerate", "float", "getattr", "int", "isinstance", "iter", "len", "list", "map",
    "max", "min", "next", "print", "range", "repr", "reversed", "round", "set", "slice", "sorted", "str",
    "sum", "tuple", "type", "zip",
]  # fmt: skip


def hostile_names(tree: ast.Module) -> dict[str, float]:
    """Globals that have the names of generated variables and helpers, of the parameters of rules, and of
    builtins, as far as the text does not read these from around it.
    """
    names = [n for n in ast.walk(tree) if isinstance(n, ast.Name)]
    variables = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    variables |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    functions = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    made = {*GENERATED, *variables}
    made |= {f"{d}{v}{k}" for v in {*variables, "out"} for d in ("", "d") for k in ("", "_1", "_2", "_3")}
    builtin = {n for n in vars(builtins) if n in {n.id for n in names}}
    made |= {f"{f}_{form}" for f in functions for form in ("grad", "fprop", "bprop", "bprop_1", "jvp")}
    return dict.fromkeys(made - ({n.id for n in names} - variables) - builtin, POISON)


def execute(code: Any, tree: ast.Module, names: dict[str, Any]) -> Callable[..., Any]:
    """The last function that the module defines, run with the names given, `np` and `math`."""
    namespace = {"__name__": "random_program", "np": np, "math": math, **names}
    exec(code, namespace)
    last = [s.name for s in tree.body if isinstance(s, ast.FunctionDef)][-1]
    function: Callable[..., Any] = namespace[last]
    return function
