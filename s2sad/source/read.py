"""Reads the tree and the scope of a function object from the user's file.

Contract: the tree is the definition that the function was compiled from. The file is compiled again, and must
contain the function's code object; a stale source is refused, because its gradient would be wrong.
"""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import linecache
import sys
import threading
import weakref
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType, FunctionType, MethodType
from typing import Any

import gast

from ..transforms.errors import NoSourceError, SourceLocation
from ..transforms.trees.program import Scope
from ..values.code_state import cells_of
from .compiling import compile_function, nested_code, without_warnings
from .mangle import mangle_names
from .match_code import Span, contains, is_same_code, is_same_outside, positions, span_of

__all__ = ["FunctionSource", "code_of_tree", "defaults_of", "has_written_defaults", "read_source"]

Node = Any  # gast publishes no types
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_LAMBDA = "<lambda>"
_RULE = "give it a rule with @bprop"
_GONE = "no text is known for {!r}: the function was made by exec or eval, or its file is gone"
_REGISTER = (
    "write it in a file; or register its text (linecache.cache[filename] = len(text), None, "
    "text.splitlines(True), filename) and compile it with that filename"
)
_TIMED = (
    "`%time` and `%timeit` run text that IPython does not keep",
    "define the function in a cell of its own, and time the call",
)
_UNKNOWN = {  # for names that are no files: why there is no source, and what to do
    "<stdin>": (
        "no text is known for '<stdin>': the prompt of Python before 3.13 does not keep what is typed",
        "use IPython or Jupyter, write it in a file, or use Python 3.13",
    ),
    "<string>": (
        "no text is known for '<string>': `python -c`, exec and eval do not keep what they run",
        _REGISTER,
    ),
    "<timed exec>": _TIMED,
    "<timed eval>": _TIMED,
    "<magic-timeit>": _TIMED,
}


@dataclass(frozen=True, eq=False)
class FunctionSource:
    """The definition and scope of a function.

    `tree` is a gast.FunctionDef without decorators and type parameters (AsyncFunctionDef for a coroutine),
    located in the user's file; private names (`__x`) are mangled; a lambda is a `def lambda_` with one
    `return`. `lines` are the file's, without line ends. `defaults` maps parameters to their default objects.
    `bound_self` is the object that a method is bound to, or None.
    """

    function: FunctionType
    tree: Node
    filename: str
    lines: tuple[str, ...]
    scope: Scope
    defaults: Mapping[str, Any] = field(default_factory=dict)
    qualname: str = ""
    bound_self: Any = None


def read_source(f: object) -> FunctionSource:
    """The source of a function, lambda, method, staticmethod, classmethod, or derivative made by s2sad.

    Raises NoSourceError for anything else, and for a function whose source is unknown or stale.
    """
    function, bound_self = _underlying(f)
    found = _definition_of(function)
    scope = Scope(function.__globals__, cells_of(function))
    return FunctionSource(
        function,
        found.tree,
        function.__code__.co_filename,
        found.lines,
        scope,
        defaults_of(function),
        function.__qualname__,
        bound_self,
    )


def _underlying(f: object) -> tuple[FunctionType, object]:
    """The plain function that a call of `f` executes, and the object that it is bound to."""
    bound: object = None
    inner: Any = f
    # `__wrapped__` of a plain function is not followed: functools.wraps sets it, but the wrapper is executed.
    while not isinstance(inner, FunctionType):
        if isinstance(inner, MethodType) and bound is None:
            bound, inner = inner.__self__, inner.__func__
        elif isinstance(inner, (staticmethod, classmethod)):
            inner = inner.__func__
        elif inspect.getattr_static(inner, "__s2sad_function__", None) is not None:
            inner = inner.__s2sad_function__
        else:
            raise _not_a_function(f)
    return inner, bound


def _not_a_function(f: object) -> NoSourceError:
    name = getattr(f, "__qualname__", None) or repr(f)
    kind = f"{type(f).__module__}.{type(f).__qualname__}".removeprefix("builtins.")
    if isinstance(f, type):
        return NoSourceError(
            f"the class {name} has no single source to differentiate",
            why="calling it runs several functions",
            instead="pass a function or a method",
        )
    if isinstance(inspect.getattr_static(type(f), "__call__", None), FunctionType):
        return NoSourceError(
            f"{name} has no source of its own",
            why=f"it is an object of type {kind}, not a function",
            instead="pass its method __call__",
        )
    return NoSourceError(
        f"{name} has no Python source",
        why=f"it is of type {kind}, which is not a Python function",
        instead=_RULE,
    )


def defaults_of(function: FunctionType) -> dict[str, Any]:
    """The values of a function's defaults, by parameter."""
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    values = function.__defaults__ or ()
    found = dict(zip(positional[len(positional) - len(values) :], values, strict=True))
    return found | (function.__kwdefaults__ or {})


def has_written_defaults(function: FunctionType) -> bool:
    """Whether the function's defaults are those of its definition, and were not assigned since."""
    args = _definition_of(function).tree.args
    positional = [*args.posonlyargs, *args.args]
    written = [*zip(reversed(positional), reversed(args.defaults), strict=False)]
    written += zip(args.kwonlyargs, args.kw_defaults, strict=True)
    literals = {p.id: d.value for p, d in written if isinstance(d, gast.Constant)}
    found = defaults_of(function)
    has_default = {p.id for p, d in written if d is not None}
    return has_default == found.keys() and all(
        type(found[name]) is type(value) and found[name] == value for name, value in literals.items()
    )


# -------------------------------------------------------- from code objects to definitions


@dataclass(frozen=True, eq=False)
class _Found:
    tree: Node
    lines: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Place:
    """A definition: its node, the class that mangles its names, and the module-level function around it."""

    node: Definition
    class_name: str | None
    outermost: ast.FunctionDef | ast.AsyncFunctionDef | None


@dataclass(frozen=True, eq=False)
class _File:
    """A compiled file: its definitions and its code objects, by name and first line."""

    places: Mapping[tuple[str, int], list[_Place]]
    codes: Mapping[tuple[str, int], list[CodeType]]


_lock = threading.RLock()
# By identity, because code objects compare by value, without their file.
_known: dict[int, tuple[weakref.ref[CodeType], _Found]] = {}
_texts: dict[str, tuple[list[str], tuple[str, ...]]] = {}  # the lines of files, and without their ends


def _definition_of(function: FunctionType) -> _Found:
    code = function.__code__
    key = id(code)
    found = _recall(key, code)
    if found is None:
        with _lock:
            found = _recall(key, code)  # another thread may have found it
            if found is None:
                found = _find_definition(function)
                _known[key] = (weakref.ref(code, lambda dead: _forget(key, dead)), found)
    return found


def _recall(key: int, code: CodeType) -> _Found | None:
    entry = _known.get(key)
    return entry[1] if entry is not None and entry[0]() is code else None


def code_of_tree(tree: Node, filename: str, free: Collection[str], lines: tuple[str, ...]) -> CodeType:
    """The code of a function's tree with the names in `free` as free variables, as `compile_function`;
    `lines` are those of the file. The tree is the source of functions with this code.
    """
    code = compile_function(ast.fix_missing_locations(gast.gast_to_ast(tree)), filename, free)
    key = id(code)
    with _lock:
        _known[key] = (weakref.ref(code, lambda dead: _forget(key, dead)), _Found(tree, lines))
    return code


def _forget(key: int, dead: weakref.ref[CodeType]) -> None:
    entry = _known.get(key)
    if entry is not None and entry[0] is dead:  # else another code object has the same address now
        _known.pop(key, None)


def _find_definition(function: FunctionType) -> _Found:
    code = function.__code__
    lines = _lines(function)
    text = "\n".join(lines) + "\n"
    try:
        file = _read_file(code.co_filename, text, code.co_flags & __future__.annotations.compiler_flag)
    except (SyntaxError, ValueError):
        raise _stale(function, lines) from None
    place = _find_place(function, file, lines)
    if not _is_compiled_from(code, place, file):
        raise _stale(function, lines)
    return _Found(_tree(place), lines)


def _lines(function: FunctionType) -> tuple[str, ...]:
    """The present lines of the function's file."""
    filename = function.__code__.co_filename
    if not filename.startswith("<"):
        linecache.checkcache(filename)
    lines = linecache.getlines(filename, function.__globals__)
    if not lines:
        try:  # Python 3.13 keeps what is typed at its prompt elsewhere, and inspect knows where
            lines = inspect.findsource(function)[0]
        except (OSError, TypeError, IndexError):
            why, instead = _UNKNOWN.get(filename, (_GONE.format(filename), _REGISTER))
            raise NoSourceError(
                f"the source of {function.__qualname__} cannot be found",
                why=why,
                instead=f"{instead}; or {_RULE}",
            ) from None
    if filename.startswith("<"):
        return _without_ends(lines)
    known = _texts.get(filename)
    if known is None or known[0] is not lines:  # `linecache` returns the same list for an unchanged file
        known = _texts[filename] = lines, _without_ends(lines)
    return known[1]


def _without_ends(lines: list[str]) -> tuple[str, ...]:
    return tuple(line.rstrip("\r\n") for line in lines)


@functools.lru_cache(maxsize=8)
def _read_file(filename: str, text: str, future_flags: int) -> _File:
    with without_warnings(), _deeper():
        tree = ast.parse(text, filename)
        # Notebooks may await at the top level; functions are compiled the same either way.
        flags = future_flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        module = compile(tree, filename, "exec", flags=flags, dont_inherit=True)
    places: dict[tuple[str, int], list[_Place]] = {}
    for place in _places(tree):
        name = _LAMBDA if isinstance(place.node, ast.Lambda) else place.node.name
        places.setdefault((name, _first_line(place.node)), []).append(place)
    codes: dict[tuple[str, int], list[CodeType]] = {}
    for code in nested_code(module):
        codes.setdefault((code.co_name, code.co_firstlineno), []).append(code)
    return _File(places, codes)


@contextmanager
def _deeper() -> Iterator[None]:
    """Raises the recursion limit to the compiler's depth, so that one long sum in a file does not stop its
    other functions. The caller holds the lock.
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 10_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _places(tree: ast.AST) -> Iterator[_Place]:
    """All definitions in a tree of any depth, in order."""
    todo: list[tuple[ast.AST, str | None, Any]] = [(tree, None, None)]
    while todo:
        node, class_name, outermost = todo.pop()
        if isinstance(node, Definition | ast.ClassDef):
            outermost = outermost or node
        if isinstance(node, Definition):
            is_function = isinstance(outermost, ast.FunctionDef | ast.AsyncFunctionDef)
            yield _Place(node, class_name, outermost if is_function else None)
        inner: list[tuple[ast.AST, str | None, Any]] = []
        for name, value in ast.iter_fields(node):
            # Only a class's body mangles, not its bases or decorators.
            own_class = node.name if isinstance(node, ast.ClassDef) and name == "body" else class_name
            children = value if isinstance(value, list) else [value]
            inner += [(child, own_class, outermost) for child in children if isinstance(child, ast.AST)]
        todo += reversed(inner)


def _first_line(node: Definition) -> int:
    """The first line of a definition's code object: that of the first decorator, if there is one."""
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return decorators[0].lineno if decorators else node.lineno


def _find_place(function: FunctionType, file: _File, lines: tuple[str, ...]) -> _Place:
    """The definition with the code's name, first line and columns."""
    code = function.__code__
    candidates = file.places.get((code.co_name, code.co_firstlineno), [])
    if code.co_name == _LAMBDA:  # several may start on one line; a `def` never shares its line with another
        spans = positions(code)
        candidates = [c for c in candidates if all(contains(_body_span(c), span) for span in spans)]
        if spans:  # the innermost of the lambdas that contain the code
            candidates = sorted(candidates, key=lambda c: _body_span(c)[:2])[-1:]
        else:
            candidates = [c for c in candidates if is_same_code(code, _lambda_code(c.node))] or candidates
    if not candidates:
        raise _stale(function, lines)
    if len(candidates) > 1 and len({ast.dump(c.node) for c in candidates}) > 1:
        raise NoSourceError(
            "several lambdas stand on one line, and they cannot be told apart",
            _where(function, lines),
            why="their code has no column numbers",
            instead="write each on a line of its own, or use def",
        )
    return candidates[0]


def _lambda_code(node: Any) -> CodeType:
    """The code of a lambda compiled alone: the same if it has no free variables."""
    with without_warnings():
        expression = compile(ast.Expression(node), _LAMBDA, "eval", dont_inherit=True)
    return [c for c in expression.co_consts if isinstance(c, CodeType)][-1]  # after those of its defaults


def _body_span(place: _Place) -> Span:
    assert isinstance(place.node, ast.Lambda)
    return span_of(place.node.body)


# ---------------------------------------------------------------- is this text what runs?


def _is_compiled_from(code: CodeType, place: _Place, file: _File) -> bool:
    key = code.co_name, code.co_firstlineno
    compiled = list(file.codes.get(key, ()))
    if place.outermost is not None and code.co_freevars:
        # The text may have been compiled inside another function, as functions made by s2sad are.
        outer = compile_function(place.outermost, code.co_filename, code.co_freevars)
        compiled.extend(c for c in nested_code(outer) if (c.co_name, c.co_firstlineno) == key)
    asserts = [span_of(n) for n in ast.walk(place.node) if isinstance(n, ast.Assert)]
    return any(is_same_code(code, c) or (asserts and is_same_outside(code, c, asserts)) for c in compiled)


def _where(function: FunctionType, lines: tuple[str, ...]) -> SourceLocation:
    line = function.__code__.co_firstlineno
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    return SourceLocation(function.__code__.co_filename, line, len(text) - len(text.lstrip()), text)


def _stale(function: FunctionType, lines: tuple[str, ...]) -> NoSourceError:
    return NoSourceError(
        f"the source of {function.__qualname__} is not what runs",
        _where(function, lines),
        why="the file has changed since it was imported, or the code was rewritten",
        instead=f"reload the module (importlib.reload) or restart Python; or {_RULE}",
    )


# ---------------------------------------------------------------- the tree


def _tree(place: _Place) -> Node:
    node: Node = gast.ast_to_gast(place.node)
    if isinstance(node, gast.Lambda):
        node = _as_function(node)
    node.decorator_list = []
    for n in gast.walk(node):
        if getattr(n, "type_params", None):  # they mean nothing when it runs
            n.type_params = []
    return node if place.class_name is None else mangle_names(node, place.class_name)


def _as_function(node: Node) -> Node:
    """`lambda args: value` as `def lambda_(args): return value`, at the lambda's position."""
    body = gast.copy_location(gast.Return(value=node.body), node.body)
    function = gast.FunctionDef(
        name="lambda_",
        args=node.args,
        body=[body],
        decorator_list=[],
        returns=None,
        type_comment=None,
        type_params=[],
    )
    return gast.copy_location(function, node)
