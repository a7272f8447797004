"""The `Program` that passes take and return: one function's tree, with the facts needed to read it.

Contract: a pass takes a `Program` and returns a new one; it changes nothing that it was given.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Container, Iterable, Mapping, Set
from dataclasses import dataclass, field
from keyword import iskeyword
from types import ModuleType
from typing import Any, NoReturn

import gast

from ..errors import SourceLocation, UnsupportedSyntaxError
from .modules import name_key
from .nodes import find_nodes, is_atom
from .rebuild import bound_names
from .shown_names import EMPTY, in_users_words

__all__ = [
    "EMPTY",
    "MISSING",
    "ArrayLibrary",
    "Names",
    "Program",
    "Scope",
    "identifier",
    "names_of",
    "program_of",
]

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "MISSING"})()


def identifier(text: str) -> str:
    """The name for code that is closest to the `__name__` of a function or class, which may be any text.

    >>> identifier("<lambda>"), identifier("Layer 1"), identifier("step")
    ('lambda_', 'Layer_1', 'step')
    """
    word = _word(text)
    return f"{word}_" if iskeyword(word) else word


def _word(text: str) -> str:
    """An identifier or keyword like a text."""
    if text.isidentifier():
        return text
    word = re.sub(r"\W+", "_", text).strip("_")
    return word if word.isidentifier() else f"function_{word}".rstrip("_")


class Names:
    """A deterministic source of fresh names: the base itself when it is free, else `base_1`, `base_2`, ...

    `taken` are the names of the program; `reserved` those of the enclosing scopes: a new name shadows none of
    these, so that a name whose definition is lost never refers to another object.
    """

    def __init__(self, taken: Iterable[str] = (), reserved: Set[str] = frozenset(vars(builtins))) -> None:
        self.taken, self.reserved = set(taken), reserved
        self._next: dict[tuple[str, int], int] = {}  # the first number that may be free

    def is_free(self, name: str) -> bool:
        return name not in self.taken and name not in self.reserved and not iskeyword(name)

    def fresh(self, base: str) -> str:
        """A new name: `base` when it is free, `base_` when only the scope has that name, else `base_2`,
        `base_3`, ... (the versions of a variable).
        """
        base = _word(base)
        is_reserved = base in self.reserved and base not in self.taken
        first = f"{base}_" if is_reserved or iskeyword(base) else base
        return self._claim(first, base, 2)

    def temporary(self, base: str) -> str:
        """A new name with a number: `base_1`, `base_2`, ... (the parts of a statement)."""
        return self._claim(None, _word(base), 1)

    def _claim(self, first: str | None, base: str, start: int) -> str:
        if first is not None and self.is_free(first):
            self.taken.add(first)
            return first
        stem = re.sub(r"_\d+$", "", base)
        count = self._next.get((stem, start), start)
        while not self.is_free(f"{stem}_{count}"):
            count += 1
        self._next[stem, start] = count + 1
        name = f"{stem}_{count}"
        self.taken.add(name)
        return name

    def copy(self, also: Iterable[str] = ()) -> Names:
        return Names(self.taken.union(also), self.reserved)


@dataclass(frozen=True)
class Scope:
    """The scope of a function's free names, which are looked up at each access as in Python.

    `rebound` are the names of modules and classes, by `name_key`, that are assigned while the function runs:
    their values are dynamic.
    """

    globals: Mapping[str, Any]
    cells: Mapping[str, Any] = field(default_factory=dict)  # name -> types.CellType
    rebound: Container[tuple[int, str]] = field(default=frozenset(), compare=False)

    def names(self) -> frozenset[str]:
        """All names that are bound in this scope."""
        return frozenset(self.globals).union(self.cells, vars(builtins))

    def lookup(self, name: str) -> Any:
        """The object that a free name refers to now, or MISSING."""
        if name in self.cells:
            try:
                return self.cells[name].cell_contents
            except ValueError:
                return MISSING
        if name in self.globals:
            return self.globals[name]
        scope = self.globals.get("__builtins__", builtins)
        return (scope if isinstance(scope, dict) else vars(scope)).get(name, MISSING)


class ArrayLibrary:
    """The functions of an array library that the normal form needs to know; by default, none.

    A loop over `indices(shape)` iterates over all indices of an array, one over `items(x)` over these and the
    elements there; `array(x)` converts to an array.
    """

    indices: Any = None
    items: Any = None
    array: Any = None

    def writes(self, function: Any) -> bool:
        """Whether a function changes an argument."""
        return False

    def takes_items(self, function: Any) -> bool:
        """Whether a function reads all items of its first argument."""
        return False

    def takes_arrays(self, function: Any) -> bool:
        """Whether a function takes arrays, and makes arrays of lists."""
        return False

    def written(self, function: Any, args: list[Any]) -> Any:
        """What the user wrote for a call of a helper that reads or checks a value; None for other functions.
        """
        return None

    def takes_outputs(self, function: Any) -> bool:
        """Whether a function of two operands has a third parameter for the array that its result is written
        to.
        """
        return False



@dataclass(frozen=True)
class Program:
    """A function on its way through the pipeline.

    `tree` is its gast.FunctionDef; `locals` the names that it binds, or has bound (parameters included),
    which never refer to an outer scope, even after a pass dropped their definitions; `bindings` the objects
    that passes have named (helpers, derivatives of callees); `origins` the variable that a name is a version
    of; `lines` the user's file from line 1, for errors and provenance comments; `effects` the stores to
    attributes, as (object, attribute), that are visible only to other holders of the object; `left` the
    functions, by identity, whose calls are treated as dynamic; `library` the facts of an array library;
    `inlined` the most statements of a function that is inlined; `memory` what objects hold, of a program that
    shares a heap with other functions.
    """

    tree: Any
    scope: Scope
    filename: str
    lines: tuple[str, ...]
    locals: frozenset[str] = frozenset()
    bindings: Mapping[str, Any] = field(default_factory=dict)
    names: Names = field(default_factory=lambda: Names(()))
    origins: Mapping[str, str] = field(default_factory=dict)
    effects: frozenset[tuple[str, str]] = frozenset()
    left: frozenset[int] = frozenset()
    library: ArrayLibrary = field(default_factory=ArrayLibrary)
    inlined: int = 40
    memory: Any = None

    def with_tree(self, tree: Any, **changes: Any) -> Program:
        """The program with another tree; its `locals` gain the tree's variables, unless they are given."""
        program = Program.__new__(Program)
        program.__dict__.update(self.__dict__, tree=tree, **changes)
        if "locals" not in changes and not (bound := bound_names(tree)) <= self.locals:
            program.__dict__["locals"] = self.locals | bound
        return program

    def resolve(self, node: Any) -> Any:
        """The object that an expression is known to refer to (a global, a cell, an attribute of a module or
        class), or MISSING.
        """
        if isinstance(node, gast.Name):
            if node.id in self.bindings:
                return self.bindings[node.id]
            return MISSING if node.id in self.locals else self.scope.lookup(node.id)
        if isinstance(node, gast.Attribute):
            owner = self.resolve(node.value)
            if isinstance(owner, (ModuleType, type)) and not self.rebinds(owner, node.attr):
                return getattr(owner, node.attr, MISSING)
        return MISSING

    def is_atom(self, node: Any) -> bool:
        """Whether an expression is an operand of the normal form: a name, a literal, or an attribute of a
        module or class, unless that holds an array or container: these have names, of which kinds are known.
        """
        if not isinstance(node, gast.Attribute):
            return is_atom(node)
        value = self.resolve(node)
        holds = isinstance(value, (list, tuple, dict)) or hasattr(type(value), "__array__")
        return value is not MISSING and not holds

    def leaves(self, function: Any) -> bool:
        """Whether calls of a function are treated as dynamic."""
        return bool(self.left) and id(function) in self.left

    def rebinds(self, owner: Any, name: str) -> bool:
        """Whether a name of a module or class is assigned while the function runs."""
        return bool(self.scope.rebound) and name_key(owner, name) in self.scope.rebound

    def source_line(self, node: Any) -> str:
        """The text of the user's statement at a node, on one line; of a compound statement its header."""
        line, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
        if line is None or not 0 < line <= len(self.lines):
            return ""
        parts = [part.encode() for part in self.lines[line - 1 : max(line, last or line)]]
        if last is not None and getattr(node, "end_col_offset", None) is not None and last <= len(self.lines):
            parts[-1] = parts[-1][: node.end_col_offset]  # offsets count bytes
        parts[0] = parts[0][node.col_offset :]
        texts = [part.decode(errors="replace").strip() for part in parts]
        header = (
            next((k for k, text in enumerate(texts) if text.endswith(":")), None) if len(texts) > 1 else None
        )
        text = " ".join(texts if header is None else texts[: header + 1])
        return text if len(text) <= 100 else text[:97] + "..."

    def where(self, node: Any) -> SourceLocation:
        line: int = getattr(node, "lineno", None) or getattr(self.tree, "lineno", None) or 1
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        column, inner = getattr(node, "col_offset", None) or 0, getattr(node, "inner", None)
        return SourceLocation(self.filename, line, column, text, inner and inner[:3])

    def extent(self, node: Any) -> tuple[Any, ...]:
        """Where a node begins and ends: its file, and lines and columns as in `where`. Of an inlined node of
        another file, where it was written.
        """
        place = (getattr(node, name, None) for name in EXTENT)
        return getattr(node, "inner", None) or (self.filename, *place)

    def refuse(self, node: Any, what: str, why: str = "", instead: str = "") -> NoReturn:
        """Raises UnsupportedSyntaxError at the node, in words of the user's."""
        what, why, instead = (in_users_words(self, text) for text in (what, why, instead))
        raise UnsupportedSyntaxError(what, self.where(node), why, instead)


EXTENT = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def names_of(tree: Any, scope: Scope) -> Names:
    """The names of a function as it was written: new ones differ from these, and from all names of the
    enclosing scopes, but may be its own variables.
    """
    bound = bound_names(tree)
    return Names(bound.union(n.id for n in find_nodes(tree, gast.Name)), scope.names() - bound)


def program_of(text: str, scope: Scope | None = None) -> Program:
    """The program of the first function that a text defines, for tests and examples."""
    tree = next(n for n in gast.parse(text).body if isinstance(n, gast.FunctionDef))
    scope = scope or Scope({})
    lines = tuple(text.splitlines())
    return Program(tree, scope, "<text>", lines, bound_names(tree), {}, names_of(tree, scope))
