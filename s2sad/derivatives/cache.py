"""The cache of generated code: versions by the kinds of arguments and by the state of outer names.

Contract: a version is found only while all its assumptions about outer names hold. Closures of the same code
share versions, each with its own cells. Thread-safe.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CellType, FunctionType
from typing import Any

from ..kinds.lattice import UNKNOWN, Kind, OtherArray, Record
from ..transforms.trees.program import Scope
from ..values.code_state import cells_of, rebuilt_function
from ..values.objects import has_operators
from .assumptions import Assumption, Capture, capture_key
from .plain_objects import PLAIN, plain_form
from .recognition import Case, missed, recogniser, recognition
from .signature import Parameters

__all__ = ["Made", "Versions", "share"]

MAX_VERSIONS = 32  # of one derivative, for different kinds of arguments
MAX_SHARED = 512
MAX_WRITTEN = 64  # functions that recognise calls of one derivative
MAX_CASES = 4

Made = tuple[FunctionType, list[Capture]]

class Versions:
    """The versions of one derivative."""

    def __init__(self) -> None:
        self._table: dict[Any, FunctionType] = {}
        self._assumed: tuple[list[Assumption], tuple[Any, ...]] = [], ()  # and their keys, replaced together
        self._lock = threading.RLock()
        self.recognised: Callable[..., Any] = missed  # runs calls like earlier ones
        self._cases: list[Case] = []
        self._written = 0

    def find(self, place: Any) -> FunctionType | None:
        """The version for a place, the kinds of arguments and the positions with tangents; None if missing.
        """
        return self._table.get((place, self._keys()))

    def recognise(
        self, given: Parameters, args: tuple[Any, ...], place: Any, function: FunctionType, run: Any
    ) -> None:
        """Lets `recognised` run calls with all arguments by position and of the same forms, whose version for
        a place was `function`, while all assumptions hold.
        """
        with self._lock:
            assumed, keys = self._assumed
            if self._written < MAX_WRITTEN and self._table.get((place, keys)) is function:
                self._written += 1
                case = recognition(args, run, given.form == "jvp")
                self._cases = [*([] if case is None else [case]), *self._cases[: MAX_CASES - 1]]
                self.recognised = recogniser([*given.tests(), *(k.holds for k in assumed)], self._cases)

    def _keys(self) -> tuple[Any, ...]:
        """The keys of the assumptions as they are now."""
        assumed, keys = self._assumed
        for known in assumed:
            if not known.holds():
                return self._assume([k if k.holds() else Assumption(k.capture) for k in assumed])
        return keys

    def _assume(self, assumed: list[Assumption]) -> tuple[Any, ...]:
        keys = tuple([known.key for known in assumed])
        self._assumed, self._cases, self.recognised = (assumed, keys), [], missed
        return keys

    def add(
        self, kinds: tuple[Kind, ...], taken: Any, chosen: Any, make: Callable[[tuple[Kind, ...]], Made]
    ) -> FunctionType:
        """The version for these kinds, made if it is missing; after MAX_VERSIONS, the generic one for the
        parameters `chosen`.
        """
        with self._lock:
            place: Any = kinds, taken
            if len(self._table) >= MAX_VERSIONS:
                kinds = tuple(map(_of_any_value, kinds))
                place = kinds, chosen
            found = self.find(place)
            if found is None:
                found, captures = make(kinds)
                assumed, keys = self._assumed
                known = {assumption.capture.key() for assumption in assumed}
                new = [Assumption(c) for c in captures if c.key() not in known]
                if new:
                    self._table.clear()
                    keys = self._assume([*assumed, *new])
                self._table[place, keys] = found
            return found


def _of_any_value(kind: Kind) -> Kind:
    """The kind of an argument of generic code: unknown, but for objects with operators, which are no numbers,
    and for arrays with operations of their own.
    """
    is_own = isinstance(kind, OtherArray) or (isinstance(kind, Record) and has_operators(kind.cls))
    return kind if is_own else UNKNOWN


# ---------------------------------------------------------------- closures of the same code


@dataclass(frozen=True)
class _Shared:
    """A version generated for one closure, without this closure's own cells."""

    functions: tuple[tuple[FunctionType, tuple[CellType | None, ...]], ...]  # and its plain form
    captures: tuple[tuple[Capture, bool], ...]  # and whether it is one of the closure's own cells
    keys: tuple[Any, ...]


_shared: OrderedDict[Any, list[_Shared]] = OrderedDict()
_lock = threading.Lock()


def share(
    function: FunctionType, key: Any, make: Callable[[], Made], assigns: Callable[[CellType], bool]
) -> Made:
    """The result of `make` for a function, or an earlier one for another closure of the same code under the
    same assumptions; `key` is all else that it depends on. Code that `assigns` a cell of the closure is not
    shared.
    """
    cells = cells_of(function)
    scope = Scope(function.__globals__, cells)
    key = function.__code__, id(function.__globals__), key
    for entry in tuple(_shared.get(key, ())):
        captures = [Capture(scope, c.name, c.path) if own else c for c, own in entry.captures]
        if all(capture_key(c.value(), c.name) == k for c, k in zip(captures, entry.keys, strict=True)):
            return _bound(entry, function, cells), captures
    made, captures = make()
    if any(map(assigns, cells.values())):
        return made, captures
    forms = [made] if plain_form(made) is made else [made, plain_form(made)]
    entry = _Shared(
        tuple((_unbound(f), tuple(_kept(cells_of(f), cells))) for f in forms),
        tuple(
            (Capture(Scope(scope.globals), c.name, c.path), True) if own else (_apart(c), False)
            for c in captures
            for own in [c.name in cells and c.scope.cells.get(c.name) is cells[c.name]]
        ),
        tuple(capture_key(c.value(), c.name) for c in captures),
    )
    with _lock:
        _shared.setdefault(key, []).append(entry)
        _shared.move_to_end(key)
        while len(_shared) > MAX_SHARED:
            _shared.popitem(last=False)
    return made, captures


def _apart(capture: Capture) -> Capture:
    """The capture without the other cells of its function, so that these are not kept alive."""
    if type(capture) is not Capture:
        return capture
    cells = {n: cell for n, cell in capture.scope.cells.items() if n == capture.name}
    return Capture(Scope(capture.scope.globals, cells), capture.name, capture.path)


def _unbound(made: FunctionType) -> FunctionType:
    return rebuilt_function(made, made.__code__, defaultdict(CellType))


def _kept(used: dict[str, CellType], own: dict[str, CellType]) -> Iterator[CellType | None]:
    """The cells that a version uses, with None for those of the closure's own."""
    return (None if own.get(name) is cell else cell for name, cell in used.items())


def _bound(entry: _Shared, function: FunctionType, cells: dict[str, CellType]) -> FunctionType:
    found = []
    for made, kept in entry.functions:
        names = made.__code__.co_freevars
        own = {n: cells[n] if cell is None else cell for n, cell in zip(names, kept, strict=True)}
        bound = rebuilt_function(made, made.__code__, own)
        if bound.__defaults__ is not None or bound.__kwdefaults__ is not None:
            bound.__defaults__, bound.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        found.append(bound)
    if len(found) > 1:
        setattr(found[0], PLAIN, found[1])
    return found[0]
