"""What simplification knows of the code that differentiation has made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from ..differentiation.generation import Generation

__all__ = ["Facts"]


@dataclass(frozen=True)
class Facts:
    """What simplification knows of generated code.

    `is_pure(call)`, `is_float(expression, is_one)` and `is_number(expression)`, of a name or an item of one,
    answer for the code, `is_one(name)` telling that a name has the one value that it had when kinds were
    found; `is_odd(call)` says that a function is odd in its first argument, `is_fresh(call)` that it makes a
    new object, `are_alike(a, b)` that two variables are arrays of one kind; `users` are the names of the
    user's own variables, which stay, and `origins` tells which variable a name is a version of; `reserved`
    are the names of the scope, which no variable gets, `captured` those that inner functions read. With
    `careful` somebody may take the code's exceptions.
    """

    generation: Generation
    is_pure: Callable[[Any], bool]
    is_float: Callable[[Any, Callable[[str], bool]], bool]
    is_number: Callable[[Any], bool]
    is_odd: Callable[[Any], bool]
    is_fresh: Callable[[Any], bool]
    are_alike: Callable[[str, str], bool]
    users: frozenset[str]
    origins: Mapping[str, str]
    scope: frozenset[str]
    reserved: Set[str]
    captured: frozenset[str]
    careful: bool

    def is_temporary(self, name: str) -> bool:
        return name not in self.users and name not in self.origins

    def may_go(self, name: str) -> bool:
        """Whether a name holds a derivative, or is no variable of the user's."""
        return name in self.generation.derivatives or self.is_temporary(name)

    def alike(self, a: str, b: str) -> bool:
        """Whether two names may become one: both hold derivatives or neither, and not of two variables of the
        user's.
        """
        derivatives = self.generation.derivatives
        if (a in derivatives) is not (b in derivatives):
            return False
        known = {self.origin(a), self.origin(b)} - {None}
        return len(known) < 2 or (a not in derivatives and len(known & self.users) < 2)

    def nature(self, name: str) -> tuple[bool, str | None]:
        """What `alike` asks of a name."""
        return name in self.generation.derivatives, self.origin(name)

    def are_temporary_arrays(self, a: str, b: str) -> bool:
        """Whether two names are temporaries that hold arrays of one kind, or adjoints of such."""
        if (a in self.variables) is not (b in self.variables):
            return False
        is_temporary = self.is_temporary(a) and self.is_temporary(b)
        return is_temporary and self.are_alike(self.variables.get(a, a), self.variables.get(b, b))

    def have_one_form(self, a: str, b: str) -> bool:
        """Whether two names are of adjoints that are arrays of one dtype and shape."""
        if not {a, b} <= self.variables.keys() or {a, b} & self.generation.spreading:
            return False
        x, y = self.variables[a], self.variables[b]
        return self.are_alike(x, y) and (x == y or frozenset((x, y)) in self.generation.same_shape)

    @property
    def variables(self) -> Mapping[str, str]:
        """The variables that adjoints are of, by name."""
        return self.generation.adjoint_of

    def origin(self, name: str) -> str | None:
        """The variable that a name is a version of, if any."""
        return self.origins.get(name, name if name in self.users else None)
