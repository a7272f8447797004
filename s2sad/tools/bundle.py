"""Writes functions out into one text, with all that they need of their modules.

Contract: the text imports NumPy, the standard library and the libraries that the functions call, and never
s2sad or a module of the user's. Equal functions give equal bytes. What cannot stand without s2sad or the
user's modules is refused with an `UnsupportedSyntaxError`.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import os
import sys
import textwrap
from collections import namedtuple
from dataclasses import dataclass, field
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any, NoReturn

import gast
import numpy as np

from ..primitives.code_reach import is_library_module
from ..runtime.reachable_arrays import Outside
from ..source.read import read_source
from ..transforms.errors import Refusal, SourceLocation, UnsupportedSyntaxError
from ..transforms.trees.printer import to_source
from ..transforms.trees.program import MISSING, Names, Scope
from ..values.objects import is_named_tuple
from .literals import literal
from .outer_names import OuterName, outer_names, replaced

__all__ = ["ERRORS", "OWN", "Bundle", "function_text"]

OWN = __name__.partition(".")[0]
# The modules whose functions and classes are written out; others of s2sad read source or generate code.
WRITTEN = (f"{OWN}.runtime.", f"{OWN}.values.", f"{OWN}.rules.", f"{OWN}.transforms.trees.helpers")
ERRORS = f"{OWN}.transforms.errors"
OUTSIDE = "return it, and assign it outside"
OF_MODULE = ("__name__", "__file__", "__package__")


@dataclass
class Bundle:
    """The definitions written so far; `name_of` adds one."""

    title: str  # of what is exported, for errors
    decorator: str = ""  # of functions that are not s2sad's own
    names: Names = field(default_factory=lambda: Names(("np",)))
    imports: set[str] = field(default_factory=set)  # lines
    libraries: set[str] = field(default_factory=set)
    constants: list[str] = field(default_factory=list)
    definitions: list[str] = field(default_factory=list)
    _known: dict[Any, str] = field(default_factory=dict)
    _waiting: dict[str, tuple[Any, ...]] = field(default_factory=dict)  # definitions that nothing runs yet
    _own_classes: dict[tuple[str, str], str] = field(default_factory=dict)
    _held: list[Any] = field(default_factory=list)  # objects whose ids are keys of `_known`

    def finish(self) -> None:
        """Writes the definitions that nothing runs yet."""
        while self._waiting:
            self._write_waiting(next(iter(self._waiting)))

    def written(self, cls: type) -> str | None:
        """The name of a class that is written out."""
        return self._known.get(id(cls)) if not self._is_library(cls) else None

    def parts(self) -> tuple[str, str, str]:
        """The texts of the imports, the constants and the definitions; what a definition runs at once stands
        above it.
        """
        self.finish()
        own = [name for (module, _), name in self._own_classes.items() if module != ERRORS]
        known = self._known.get((f"{OWN}.values.objects", "HAVE_RULES"))
        if own and known is not None:
            self.definitions.append(f"{known}.update([{', '.join(own)}])  # these are no objects of users")
        lines = sorted({"import numpy as np", *self.imports}, key=_order_of_import)
        imports = "\n".join(["from __future__ import annotations", "", *_grouped(lines)])
        return imports, "\n".join(self.constants), "\n\n\n".join(self.definitions) + "\n"

    def _write_waiting(self, name: str) -> None:
        if name in self._waiting:
            self._write(name, *self._waiting.pop(name))

    # ------------------------------------------------------------ objects

    def name_of(self, value: Any, wanted: str, user: str, is_eager: bool = False) -> str:
        """The name in the text for an object that `user` calls `wanted`."""
        found = literal(value)
        if found is not None and not isinstance(value, (set, frozenset, dict, list, np.ndarray)):
            key: Any = ("literal", wanted, found)
        else:
            key = id(value)
            self._held.append(value)
        if key in self._known:
            return self._ready(self._known[key], is_eager)
        if found is not None:
            name = self._known[key] = self.names.fresh(wanted)
            self.constants.append(to_source(gast.parse(f"{name} = {found}")).rstrip("\n"))
            return name
        if isinstance(value, ModuleType):
            return self._import_module(value, wanted, user)
        if isinstance(value, FunctionType) and not self._is_library(value):
            return self._function(value, key, is_eager)
        if isinstance(value, Refusal):
            return self._refusal(value, wanted, key)
        if isinstance(value, Outside):
            return self._outside(value, wanted, key, user)
        module = str(getattr(value, "__module__", None) or "")
        if isinstance(value, type) and not self._is_library(value):
            return self._class(value, key, user, is_eager)
        if module.partition(".")[0] == OWN:
            name = str(getattr(value, "__name__", type(value).__name__))
            return self._own(module, name, value, user, is_eager)
        return self._import_from(value, wanted, key, user)

    def _refusal(self, refusal: Refusal, wanted: str, key: Any) -> str:
        """A refused statement, whose error is raised where it is reached."""
        error, made = (self._own(ERRORS, c.__name__, c, wanted, True) for c in (refusal.error, Refusal))
        where = None
        if refusal.where is not None:
            place = self._own(ERRORS, "SourceLocation", SourceLocation, wanted, True)
            at, file = refusal.where, os.path.basename(refusal.where.filename)
            where = f"{place}({file!r}, {at.line}, {at.column}, {at.text!r})"
        name = self._known[key] = self.names.fresh(wanted)
        parts = [error, str(where), repr(refusal.why), repr(refusal.instead)]
        listed = "".join(f"\n    {part}," for part in parts)
        self.definitions.append(f"{name} = {made}({listed}\n)")
        return name

    def _outside(self, outside: Outside, wanted: str, key: Any, user: str) -> str:
        """The arrays around a function that an argument must not share memory with: the text's constants."""
        made = self._own(Outside.__module__, Outside.__name__, Outside, wanted, True)
        held = [place() for place in outside.places]
        names = [self.name_of(value, f"array_{k}", user, is_eager=True) for k, value in enumerate(held)]
        name = self._known[key] = self.names.fresh(wanted)
        self.definitions.append(f"{name} = {made}([{', '.join(f'lambda: {n}' for n in names)}])")
        return name

    def _ready(self, name: str, is_eager: bool) -> str:
        """The name, whose definition is written if something runs it at once."""
        if is_eager:
            self._write_waiting(name)
        return name

    def _is_library(self, value: Any) -> bool:
        module = str(getattr(value, "__module__", None) or "")
        if isinstance(value, FunctionType) and value.__code__.co_filename.startswith("<"):
            return False
        return module.partition(".")[0] != OWN and is_library_module(sys.modules.get(module))

    def _import_module(self, module: ModuleType, wanted: str, user: str) -> str:
        name = module.__name__
        root = name.partition(".")[0]
        if root == OWN or not is_library_module(module):
            self._refuse(f"`{user}` reads the module `{name}` itself", "import from it what is read")
        if name == "numpy":
            self._known[id(module)] = "np"
            return "np"
        found = self._known[id(module)] = self.names.fresh(wanted)
        self.imports.add(f"import {name}" if name == found else f"import {name} as {found}")
        self._needs(root)
        return found

    def _import_from(self, value: Any, wanted: str, key: Any, user: str) -> str:
        for module, name in _places(value):
            if getattr(sys.modules.get(module), name, MISSING) is value:
                break
        else:
            self._refuse(
                f"`{user}` reads `{wanted}`, which is a {type(value).__name__}",
                "pass it as an argument, or read numbers, texts, arrays and containers of them",
            )
        if getattr(builtins, name, None) is value:
            return name
        found = self._known[key] = self.names.fresh(wanted)
        self.imports.add(f"from {module} import {name}" + (f" as {found}" if found != name else ""))
        self._needs(module.partition(".")[0])
        return found

    def _needs(self, root: str) -> None:
        if root not in sys.stdlib_module_names:
            self.libraries.add(root)

    def _function(self, function: FunctionType, key: Any, is_eager: bool) -> str:
        module = function.__module__
        if str(module).partition(".")[0] == OWN and not function.__code__.co_filename.startswith("<"):
            return self._own(module, function.__qualname__, function, function.__name__, is_eager)
        tree, text = self.with_defaults(function)
        own = tree.name
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        scope = Scope(function.__globals__, cells)
        name = self._known[key] = self.names.fresh(own)
        self._define(name, tree, text, scope.lookup, is_eager, itself=own)
        return name

    def with_defaults(self, function: FunctionType) -> tuple[Any, str]:
        """The tree and the text of a function with the defaults that it has now."""
        text, tree = function_text(function)
        args = tree.args
        positional = [*args.posonlyargs, *args.args]
        values = dict(zip(reversed(positional), reversed(function.__defaults__ or ()), strict=False))
        written = dict(zip(reversed(positional), reversed(args.defaults), strict=False))
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            if default is not None:
                written[arg] = default
                values[arg] = (function.__kwdefaults__ or {}).get(arg.arg, MISSING)
        edits = []
        for arg, default in written.items():
            value = values.get(arg, MISSING)
            if isinstance(default, ast.Constant) and literal(value) == literal(default.value):
                continue
            new = None if value is MISSING else literal(value)
            if new is None:
                self._refuse(
                    f"the default of `{arg.arg}` in `{function.__name__}` is no number, text or array",
                    "pass it as an argument",
                )
            edits.append((*_span(default), new))
        return (_parsed(text := replaced(text, edits)), text) if edits else (tree, text)

    def _class(self, cls: type, key: Any, user: str, is_eager: bool) -> str:
        if cls.__module__.partition(".")[0] == OWN:
            return self._own(cls.__module__, cls.__qualname__, cls, user, is_eager)
        if is_named_tuple(cls) and "class " not in _source_of(cls):
            name = self._known[key] = self.names.fresh(cls.__name__)
            make = self._import_from(namedtuple, "namedtuple", id(namedtuple), user)
            fields = cls.__dict__["_fields"]
            self.constants.append(f"{name} = {make}({cls.__name__!r}, {list(fields)!r})")
            return name
        text = _source_of(cls)
        if "<locals>" in cls.__qualname__ or "." in cls.__qualname__ or not text:
            self._refuse(
                f"`{user}` reads the class `{cls.__qualname__}`, which no module has by its name",
                "define it in the module",
            )
        name = self._known[key] = self.names.fresh(cls.__name__)
        scope = Scope(vars(sys.modules[cls.__module__]))
        self._define(name, _parsed(text), text, scope.lookup, is_eager, itself=cls.__name__)
        return name

    # ------------------------------------------------------------ s2sad's own

    def name_of_own(self, module: str, name: str) -> str:
        """The name in the text for what a module of s2sad's has under a name."""
        return self._own(module, name, getattr(sys.modules[module], name), self.title, False)

    def _own(self, module: str, name: str, value: Any, user: str, is_eager: bool) -> str:
        """A function, class or constant of s2sad's, by its name in its module."""
        key = module, name
        if key in self._known:
            return self._ready(self._known[key], is_eager)
        if getattr(sys.modules.get(module), name, MISSING) is not value:
            self._refuse_own(user, name)
        if not module.startswith(WRITTEN) and module != ERRORS:
            self._refuse_own(user, name)
        text, tree = _statement_of(module, name)
        if text is None or tree is None:
            self._refuse_own(user, name)
        found = self._known[key] = self.names.fresh(name)
        scope = Scope(vars(sys.modules[module]))
        if isinstance(value, type):
            self._own_classes[key] = found
        is_definition = isinstance(tree, (ast.FunctionDef, ast.ClassDef))
        if not is_definition and any(n.name in OF_MODULE for n in outer_names(tree)):
            text = f"{name} = {literal(value)}"  # a module's name is another one there
            tree = _parsed(text)
        self._define(found, tree, text, scope.lookup, is_eager, module, name)
        return found

    def _own_name(self, module: str, name: str, user: str, is_eager: bool) -> str:
        """What a name means in a module of s2sad's."""
        place = _import_of(module, name)
        if place is None:
            value = getattr(sys.modules[module], name)
            return self._own(module, name, value, user, is_eager)
        source, original = place
        if source.partition(".")[0] == OWN and original is not None:
            return self._own_name(source, original, user, is_eager)
        if source == "numpy" and original is None:
            return "np"
        key = source, original
        if key not in self._known:
            found = self._known[key] = self.names.fresh(name)
            if original is None:
                self.imports.add(f"import {source}" if source == found else f"import {source} as {found}")
            else:
                renamed = f" as {found}" if found != original else ""
                self.imports.add(f"from {source} import {original}{renamed}")
            self._needs(source.partition(".")[0])
        return self._known[key]

    # ------------------------------------------------------------ texts

    def _define(
        self,
        name: str,
        tree: ast.stmt,
        text: str,
        look: Any,
        is_eager: bool,
        module: str | None = None,
        itself: str | None = None,
    ) -> None:
        """Adds a definition: at once if it runs something, behind the others if it does not."""
        if is_eager:
            self._write(name, tree, text, look, module, itself)
        else:
            self._waiting[name] = tree, text, look, module, itself

    def _write(
        self, name: str, tree: ast.stmt, text: str, look: Any, module: str | None, itself: str | None
    ) -> None:
        edits = []
        if isinstance(tree, (ast.FunctionDef, ast.ClassDef)):
            if itself != name:
                keyword = "def " if isinstance(tree, ast.FunctionDef) else "class "
                start = tree.lineno, tree.col_offset + len(keyword)
                edits.append((start, (start[0], start[1] + len(str(itself).encode())), name))
            for decorator in tree.decorator_list if module else ():
                if self._registers(decorator, module):
                    (line, column), end = _span(decorator)
                    edits.append(((line, column - 1), (end[0] + 1, 0), ""))
        dropped = [(start, end) for start, end, new in edits if new == ""]
        outer = outer_names(tree)
        variables = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - {n.name for n in outer}
        given = {n for node in ast.walk(tree) if isinstance(node, ast.Nonlocal) for n in node.names}
        for read in outer:
            if any(start <= read.start < end for start, end in dropped):
                continue
            if read.name in given:
                self._refuse(
                    f"`{name}` assigns `{read.name}`, a variable of the function around it",
                    "return it, or make it an attribute of an argument",
                )
            renamed = self._resolved(read, name, look, module, itself)
            if renamed and renamed[0][2] in variables:
                self._refuse(f"`{name}` has a variable `{renamed[0][2]}`, as something else", "rename it")
            edits += renamed
        written = replaced(text, edits).rstrip("\n")
        is_decorated = self.decorator and module is None and isinstance(tree, ast.FunctionDef)
        self.definitions.append(f"{self.decorator}\n{written}" if is_decorated else written)

    def _registers(self, decorator: ast.expr, module: str | None) -> bool:
        """Whether a decorator declares something to s2sad, and leaves the function as it is."""
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        value = getattr(sys.modules[str(module)], getattr(called, "id", ""), None)
        return str(getattr(value, "__module__", "")).partition(".")[0] == OWN

    def _resolved(
        self, read: OuterName, user: str, look: Any, module: str | None, itself: str | None
    ) -> list[tuple[tuple[int, int], tuple[int, int], str]]:
        """The edit that gives an outer name its name in the text."""
        name, end = read.name, read.ends[0]
        if name == itself:
            found = user
        elif module is not None:
            if not hasattr(sys.modules[module], name):
                return []  # a builtin
            found = self._own_name(module, name, user, read.is_eager)
        else:
            value = look(name)
            if value is MISSING and read.is_annotation:
                return []
            if value is MISSING:
                self._refuse(f"`{user}` reads `{name}`, which nothing defines", "define it before the export")
            if value is getattr(builtins, name, MISSING):
                return []
            for attribute, after in zip(read.path, read.ends[1:], strict=True):
                if not isinstance(value, ModuleType) or is_library_module(value):
                    break
                if not hasattr(value, attribute):
                    self._refuse(f"`{value.__name__}` has no `{attribute}`", "define it before the export")
                if read.is_store and attribute == read.path[-1]:
                    self._refuse(f"`{user}` assigns `{attribute}` of `{value.__name__}`", OUTSIDE)
                value, end, name = getattr(value, attribute), after, f"{name}_{attribute}"
            if read.is_store and not read.path:
                self._refuse(f"`{user}` assigns the global `{name}`", OUTSIDE)
            found = self.name_of(value, name, user, read.is_eager)
        return [] if (found == name and end == read.ends[0]) else [(read.start, end, found)]

    def _refuse_own(self, user: str, name: str) -> NoReturn:
        self._refuse(
            f"it calls `{name}`, which reads or generates source when it runs",
            "give example arguments, for whose kinds more callees are known, or use s2sad's derivative",
        )

    def _refuse(self, why: str, instead: str) -> NoReturn:
        raise UnsupportedSyntaxError(f"{self.title} cannot stand without its modules", None, why, instead)


def function_text(function: FunctionType) -> tuple[str, Any]:
    """The text of a function without decorators, and its tree."""
    found = read_source(function)
    tree = found.tree
    lines = found.lines[tree.lineno - 1 : tree.end_lineno]
    text = textwrap.dedent("\n".join(lines)) + "\n"
    if tree.name == "lambda_" or not text.startswith("def ") or "__" in text:
        text = to_source(tree)  # private names are mangled
    return text, _parsed(text)


def _parsed(text: str) -> Any:
    return ast.parse(text).body[0]


def _span(node: ast.expr) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)


def _source_of(cls: type) -> str:
    try:
        return textwrap.dedent(inspect.getsource(cls))
    except (OSError, TypeError):
        return ""


def _places(value: Any) -> list[tuple[str, str]]:
    """The modules and names under which a library may have an object."""
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    found = []
    if isinstance(name, str):
        found = [(str(module), name)] if module else []
        public = str(module).split("._")[0]
        found = [(public, name), *found, ("numpy", name), ("math", name), ("builtins", name)]
    return found


def _order_of_import(line: str) -> tuple[bool, bool, str]:
    return _root(line) not in sys.stdlib_module_names, line.startswith("from"), line


def _root(line: str) -> str:
    return line.split()[1].partition(".")[0]


def _grouped(lines: list[str]) -> list[str]:
    """Import lines, those of the standard library apart."""
    merged: dict[str, list[str]] = {}
    for line in lines:
        head, _, name = line.partition(" import ")
        merged.setdefault(head if name else line, []).extend([name] if name else [])
    joined = [f"{head} import {', '.join(sorted(n))}" if n else head for head, n in merged.items()]
    first = [line for line in joined if _root(line) in sys.stdlib_module_names]
    rest = [line for line in joined if line not in first]
    return [*first, *([""] if first and rest else []), *rest]


# ---------------------------------------------------------------- the text of s2sad's modules


@lru_cache(maxsize=64)
def _module(name: str) -> tuple[str, ast.Module]:
    text = inspect.getsource(sys.modules[name])
    return text, ast.parse(text)


def _statement_of(module: str, name: str) -> tuple[str, Any] | tuple[None, None]:
    """The text and tree of the statement that binds a name in a module, without its comment."""
    text, tree = _module(module)
    for statement in tree.body:
        if name in _binds(statement):
            first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
            lines = text.split("\n")[first - 1 : statement.end_lineno]
            own = "\n".join(lines) + "\n"
            return own, _parsed(own)
    return None, None


def _binds(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
    return set()


def _import_of(module: str, name: str) -> tuple[str, str | None] | None:
    """The module and the name there from which a module of s2sad imports a name."""
    for node in ast.walk(_module(module)[1]):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    if (alias.asname or alias.name) == name:
                        return alias.name, None
            case ast.ImportFrom(module=source, names=names, level=level):
                for alias in names:
                    if (alias.asname or alias.name) == name:
                        package = module.rsplit(".", level)[0] + "." if level else ""
                        return f"{package}{source or ''}".rstrip("."), alias.name
    return None
