"""Runs the imports of a function before it is called.

Form in: a function with resolved names. Form out: the same without imports, whose names are bound in the
program as if the imports stood at the module's top.

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> program = bind_imports(program_of('''
... def f(x):
...     from math import sin
...     return sin(x)
... '''))
>>> print(to_source(program.tree), program.resolve(program.tree.body[-1].value.func))
def f(x):
    pass
    return sin(x)
 <built-in function sin>
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from ..trees.bind_objects import Objects
from ..trees.nodes import call, constant, find_nodes, located
from ..trees.program import Program
from ..trees.rebuild import bound_names, rewritten
from .resolve_names import imported_name

__all__ = ["bind_imports"]

Node = Any  # gast publishes no types


def bind_imports(program: Program) -> Program:
    """The program with its imports run."""
    imports = find_nodes(program.tree, gast.Import, gast.ImportFrom)
    if not imports:
        return program
    assigned = bound_names(program.tree)
    found: dict[str, Any] = {}
    failing: dict[int, ImportError] = {}
    for s in imports:
        try:
            names = list(imported(program, s))
        except ImportError as error:
            failing[id(s)] = error
            continue
        for name, value in names:
            if name in assigned or found.setdefault(name, value) is not value:
                program.refuse(
                    s,
                    f"an import of `{name}`, which is assigned elsewhere, too",
                    "the meaning of the name is dynamic",
                    "import it under a name of its own",
                )

    def statement(s: Node) -> list[Node] | None:
        if not isinstance(s, (gast.Import, gast.ImportFrom)):
            return None
        return [failure(failing[id(s)], s) if id(s) in failing else located(gast.Pass(), s)]

    def failure(error: ImportError, s: Node) -> Node:
        """The statement for an import that fails, which raises when it is reached."""
        return located(gast.Raise(exc=call(objects.name(type(error)), constant(str(error))), cause=None), s)

    objects = Objects(program, program.names.copy())
    tree = rewritten(program.tree, statement)
    return program.with_tree(
        tree,
        bindings={**objects.all_bindings(), **found},
        names=objects.names,
        locals=program.locals - set(found),
    )


def imported(program: Program, s: Node) -> Iterator[tuple[str, Any]]:
    """The names that an import statement binds, with their objects."""
    scope = dict(program.scope.globals)
    if isinstance(s, gast.ImportFrom):
        module = __import__(s.module or "", scope, None, [a.name for a in s.names], s.level or 0)
        for a in s.names:
            try:
                yield imported_name(a), getattr(module, a.name)
            except AttributeError:
                raise ImportError(f"cannot import name {a.name!r} from {module.__name__!r}") from None
        return
    for a in s.names:
        found = __import__(a.name, scope)
        for part in a.name.split(".")[1:] if a.asname else []:
            found = getattr(found, part)
        yield imported_name(a), found
