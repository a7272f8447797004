"""How errors name values: as the user wrote them."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import gast

from .nodes import call, constant, find_nodes, load, names_read
from .printer import to_source
from .rebuild import substitute

__all__ = ["EMPTY", "in_users_words", "is_users", "shown_name"]

EMPTY = (object.__new__, SimpleNamespace.__new__)  # make empty objects of a given class
Program = Any  # that of `program`, which shows names by these functions
SUFFIX = re.compile(r"_\d+$")  # of a version of a name, or of a name that a pass made of it


def in_users_words(program: Program, text: str) -> str:
    """A message with the names that passes made, where it shows code, as the user wrote them.

    >>> from .program import program_of
    >>> program = program_of("def f(x):\\n    y = x\\n    return y")
    >>> tree = substitute(program.tree, {"y": load("y_1")})
    >>> in_users_words(program.with_tree(tree, locals=frozenset({"x", "y_1"})), "`y_1` and `x[y_1]`, not y_1")
    '`y` and `x[y]`, not y_1'
    """

    def name(found: re.Match[str]) -> str:
        own = found[0]
        return own if own not in program.locals or is_users(program, own) else shown_name(program, own)

    return re.sub("`[^`]*`", lambda code: re.sub(r"\b[^\W\d]\w*", name, code[0]), text)


def shown_name(program: Program, name: str) -> str:
    """A name as the user wrote it; for one that a pass made, the expression that it stands for.

    >>> from .program import program_of
    >>> shown_name(program_of("def f(rows):\\n    first = rows[0]\\n    return first"), "first")
    'first'
    """
    return to_source(_shown(program, name))


def _shown(program: Program, name: str, within: frozenset[str] = frozenset()) -> Any:
    name = program.origins.get(name, name)
    if is_users(program, name):
        return load(name)
    for s in find_nodes(program.tree, gast.Assign):
        target = s.targets[0]
        if isinstance(target, gast.Name) and program.origins.get(target.id, target.id) == name:
            match s.value:
                case gast.Call(args=[gast.Name() as cls]) if program.resolve(s.value.func) in EMPTY:
                    return call(cls, constant(...))
                case gast.Attribute() | gast.Subscript() | gast.Call() as value if name not in within:
                    if isinstance(value, gast.Call):
                        value = program.library.written(program.resolve(value.func), value.args) or value
                    inner = within | {name}
                    return substitute(value, {n: _shown(program, n, inner) for n in names_read(value)})
    user = SUFFIX.sub("", name)
    return load(user if is_users(program, user) else name)


def is_users(program: Program, name: str) -> bool:
    """Whether the user's function has a name."""
    first, last = getattr(program.tree, "lineno", None), getattr(program.tree, "end_lineno", None)
    text = "\n".join(program.lines[first - 1 : last]) if first else ""
    return re.search(rf"(?<!\.)\b{re.escape(name)}\b", text) is not None  # no attribute
