"""Compiles generated text to a function whose lines `inspect.getsource`, tracebacks and pdb show.

Contract: the text has one top-level function. Its free names are looked up in the bindings, then in the
user's closure cells, then in the user's globals, the last two at run time. The text stays in `linecache` as
long as any part of the function (an inner function too) is alive. Thread-safe.
"""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import linecache
import threading
import warnings
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from types import CellType, CodeType, FunctionType
from typing import Any

from ..transforms.trees.program import Scope
from .locate import Origin, origins

__all__ = [
    "compile_function",
    "definition",
    "make_function",
    "nested_code",
    "register_text",
    "without_warnings",
]

_count = itertools.count(1)
_texts: dict[str, tuple[int, None, list[str], str]] = {}  # as in linecache
_quiet = threading.RLock()  # two threads must not restore the warning filters out of order


class _Text:
    """A token for a text in linecache; alive as long as code compiled from the text."""


def definition(name: str, arguments: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    """A function definition with the fields that this Python's definitions have."""
    tree = ast.parse("def f(): pass").body[0]
    assert isinstance(tree, ast.FunctionDef)
    tree.name, tree.args, tree.body = name, arguments, body
    return tree


def make_function(
    source_text: str,
    name: str,
    scope: Scope,
    bindings: Mapping[str, object],
    defaults: tuple[object, ...] | None = None,
    kwdefaults: Mapping[str, object] | None = None,
    like: Callable[..., Any] | None = None,
    origin: Origin | None = None,
) -> FunctionType:
    """The function `name` that the text defines, reading `bindings` and `scope`.

    `defaults` and `kwdefaults` become `__defaults__` and `__kwdefaults__`: default expressions in the text
    are for readers, and are not evaluated. The module, the prefix of the qualified name and (if the text has
    none) the docstring are those of `like`.

    >>> double = make_function("def double(x):\\n    return two * x\\n", "double", Scope({}), {"two": 2})
    >>> double(21)
    42
    """
    if not isinstance(scope.globals, dict):
        raise TypeError("a function's globals are a dict")
    scope.globals.setdefault("__builtins__", builtins)  # C code that imports looks for them there
    filename = f"<s2sad {name} {next(_count)}>"
    code = compile_function(_only_function(source_text, name, filename), filename, {*bindings, *scope.cells})
    prefix = like.__qualname__.rpartition(".")[0] if like is not None else ""
    qualname = f"{prefix}.{name}" if prefix else name
    code = _requalified(code, code.co_qualname, qualname)
    _remember(filename, source_text, code, origin)

    cells = {**scope.cells, **{free: CellType(value) for free, value in bindings.items()}}
    closure = tuple(cells[free] for free in code.co_freevars)
    function = FunctionType(code, scope.globals, name, defaults, closure)
    function.__kwdefaults__ = dict(kwdefaults) if kwdefaults else None
    function.__qualname__ = qualname
    if like is not None:
        function.__module__ = like.__module__
        if function.__doc__ is None:
            function.__doc__ = like.__doc__
    return function


def compile_function(
    function: ast.FunctionDef | ast.AsyncFunctionDef, filename: str, free: Collection[str]
) -> CodeType:
    """The code of a module-level function in which the names in `free` are free variables, not globals."""
    # The function is nested in another one whose parameters are the free names, in its tree, so that lines
    # stay
    # where they are. Only the inner code object is used. The function's own name is declared global, so that
    # it
    # is no variable of the outer one.
    own_name = "" if function.name in free else f"global {function.name}"
    module = ast.parse(f"def __factory({', '.join(sorted(free))}):\n {own_name}\n pass")
    factory = module.body[0]
    assert isinstance(factory, ast.FunctionDef)
    factory.body[-1] = function
    with without_warnings():
        compiled = compile(module, filename, "exec", dont_inherit=True)
    _, *inner = nested_code(next(_code_constants(compiled)))  # with type parameters it is one deeper
    return next(code for code in inner if code.co_name == function.name)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Silences warnings of the compiler (`x is 1`) for text that has been compiled before."""
    with _quiet, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def nested_code(code: CodeType) -> Iterator[CodeType]:
    """The code object and all nested ones."""
    yield code
    for constant in _code_constants(code):
        yield from nested_code(constant)


def _code_constants(code: CodeType) -> Iterator[CodeType]:
    return (constant for constant in code.co_consts if isinstance(constant, CodeType))


def _only_function(source_text: str, name: str, filename: str) -> ast.FunctionDef:
    with without_warnings():
        module = ast.parse(source_text, filename)
    match module.body:
        case [ast.FunctionDef(name=found) as function] if found == name:
            return function
    raise ValueError(f"the text of {filename} is not one function called {name!r}")


def _requalified(code: CodeType, old: str, new: str) -> CodeType:
    """The code, with the prefix `old` of its own and its inner functions' qualified names replaced."""
    if not code.co_qualname.startswith(old):
        return code
    constants = tuple(_requalified(c, old, new) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(co_qualname=new + code.co_qualname[len(old) :], co_consts=constants)


def _remember(filename: str, text: str, code: CodeType, origin: Origin | None) -> None:
    """Keeps the text in linecache, and its origin, as long as code compiled from it is alive."""
    register_text(filename, text)
    token = _Text()
    weakref.finalize(token, _forget, filename).atexit = False
    if origin is not None:
        origins[filename] = origin
        weakref.finalize(token, origins.pop, filename, None).atexit = False
    for part in nested_code(code):  # an inner function (a bprop) outlives the function that made it
        weakref.finalize(part, _release, token).atexit = False


def register_text(filename: str, text: str) -> None:
    """Makes `linecache` know a text by the name of a file that does not exist."""
    # No modification time: linecache.checkcache leaves such an entry alone.
    linecache.cache[filename] = _texts[filename] = (len(text), None, text.splitlines(keepends=True), filename)


def _forget(filename: str) -> None:
    _texts.pop(filename, None)
    linecache.cache.pop(filename, None)


def _with_texts(updatecache: Callable[..., list[str]]) -> Callable[..., list[str]]:
    """`linecache.updatecache`, which is called for the lines of files that are not in the cache, for texts,
    too: they outlive `linecache.clearcache()`.
    """

    @functools.wraps(updatecache)
    def lines_of(filename: str, module_globals: dict[str, Any] | None = None) -> list[str]:
        entry = _texts.get(filename)
        if entry is None:
            return updatecache(filename, module_globals)
        linecache.cache[filename] = entry
        return entry[2]

    return lines_of


linecache.updatecache = _with_texts(linecache.updatecache)


def _release(token: _Text) -> None:
    """Called when a code object dies: the token was held by this call's argument."""
