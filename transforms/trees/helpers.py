"""Functions that passes write calls of, for operations that are no call in Python.

Only `accumulated`, `dropped_while`, `filtered_out`, `merged`, `selected`, `sliced`, `taken_while` and
`transposed` have derivatives: the others answer questions about values.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, MappingView, Sequence
from types import MappingProxyType
from typing import Any

from ..errors import UnsupportedSyntaxError
from .generators import is_generator_function

__all__ = [
    "accumulated",
    "dropped_while",
    "filtered_out",
    "gives_items_lazily",
    "has_views_of_dict",
    "is_among",
    "is_mapping",
    "is_not_among",
    "is_sequence",
    "merged",
    "order_of",
    "place_of_max",
    "place_of_min",
    "refuse_iterator",
    "refuse_repeated",
    "refuse_views",
    "selected",
    "sliced",
    "taken_while",
    "transposed",
]


CONTAINERS: tuple[Any, ...] = (list, tuple, dict, set, frozenset, str, bytes, range, deque)


def is_sequence(x: Any) -> bool:
    """Whether a sequence pattern of `match` may match the object."""
    return isinstance(x, Sequence) and not isinstance(x, (str, bytes, bytearray))


def is_among(x: Any, items: Any) -> bool:
    """`x in items`."""
    return x in items


def is_not_among(x: Any, items: Any) -> bool:
    """`x not in items`."""
    return x not in items


def is_mapping(x: Any) -> bool:
    """Whether a mapping pattern of `match` may match the object."""
    return isinstance(x, Mapping)


def gives_items_lazily(x: Any) -> bool:
    """Whether reading the items of an object runs code for each: an iterator, or an object whose class has a
    generator function for `__iter__`.

    >>> gives_items_lazily(iter([])), gives_items_lazily([])
    (True, False)
    """
    return isinstance(x, Iterator) or is_generator_function(getattr(type(x), "__iter__", None))


def has_views_of_dict(x: Any) -> bool:
    """Whether `items`, `keys` and `values` of the object show what it holds by its keys, as a dict's do.

    >>> has_views_of_dict({}), has_views_of_dict([])
    (True, False)
    """
    cls = type(x)
    if isinstance(x, dict) and (cls.__getitem__, cls.__iter__) != (dict.__getitem__, dict.__iter__):
        return cls is OrderedDict
    views, known = ("items", "keys", "values"), (dict, OrderedDict, Mapping, MappingProxyType)
    return any(all(getattr(cls, v, None) is getattr(k, v) for v in views) for k in known)


def refuse_views(x: Any) -> None:
    """Raises UnsupportedSyntaxError: a loop over `x.items()` or the like was taken for one over a dict."""
    raise UnsupportedSyntaxError(
        f"a loop over `items`, `keys` or `values` of a {type(x).__name__}, whose class defines them",
        why="the loop is differentiated as one over the keys of a dict",
        instead="name the list before the loop: `pairs = list(x.items())`",
    )


def merged(x: Mapping[Any, Any], y: Mapping[Any, Any]) -> dict[Any, Any]:
    """`{**x, **y}`."""
    return {**x, **y}


def transposed(rows: Iterable[Iterable[Any]], strict: bool = False) -> list[tuple[Any, ...]]:
    """`list(zip(*rows))`."""
    return list(zip(*rows, strict=strict))


def order_of(keys: list[Any], reverse: bool = False) -> list[int]:
    """The positions of the keys in sorted order; equal keys keep the order of `sorted`."""
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def place_of_max(keys: list[Any]) -> int:
    """The position of the first of the largest keys."""
    return max(range(len(keys)), key=keys.__getitem__)


def place_of_min(keys: list[Any]) -> int:
    """The position of the first of the smallest keys."""
    return min(range(len(keys)), key=keys.__getitem__)


def refuse_repeated(*keys: Any) -> None:
    """Raises UnsupportedSyntaxError if two keys of a dict display are equal."""
    if len(set(keys)) != len(keys):
        raise UnsupportedSyntaxError(
            "a dict display in which a key comes again",
            why="only the last value of the key is kept",
            instead="set the items one by one: `d[key] = value`",
        )


def refuse_iterator(x: Any) -> None:
    """Raises UnsupportedSyntaxError for an object that is neither an array nor a container of Python's:
    reading its items may have effects.
    """
    own = any(getattr(type(x), "__iter__", None) is kind.__iter__ for kind in CONTAINERS)
    if not own and not hasattr(x, "dtype") and not isinstance(x, MappingView):
        raise UnsupportedSyntaxError(
            f"the items of a {type(x).__name__}, where they are read early",
            why="the effect of reading them is not known",
            instead="pass the list of its items: `list(...)`",
        )


def accumulated(
    xs: Iterable[Any], function: Callable[[Any, Any], Any] | None = None, *, initial: Any = None
) -> list[Any]:
    """`list(itertools.accumulate(xs, function, initial=initial))`."""
    items = list(xs) if initial is None else [initial, *xs]
    if not items:
        return []
    total = items[0]
    found = [total]
    for x in items[1:]:
        total = total + x if function is None else function(total, x)
        found.append(total)
    return found


def taken_while(test: Callable[[Any], Any], xs: Iterable[Any]) -> list[Any]:
    """`list(itertools.takewhile(test, xs))`."""
    found = []
    for x in xs:
        if not test(x):
            break
        found.append(x)
    return found


def dropped_while(test: Callable[[Any], Any], xs: Iterable[Any]) -> list[Any]:
    """`list(itertools.dropwhile(test, xs))`."""
    found = []
    drops = True
    for x in xs:
        if drops:
            drops = bool(test(x))
        if not drops:
            found.append(x)
    return found


def filtered_out(test: Callable[[Any], Any] | None, xs: Iterable[Any]) -> list[Any]:
    """`list(itertools.filterfalse(test, xs))`."""
    found = []
    for x in xs:
        if not (x if test is None else test(x)):
            found.append(x)
    return found


def selected(xs: Iterable[Any], selectors: Iterable[Any]) -> list[Any]:
    """`list(itertools.compress(xs, selectors))`."""
    found = []
    for x, wanted in zip(xs, selectors):  # noqa: B905  (ends with the shorter one)
        if wanted:
            found.append(x)
    return found


def sliced(xs: Iterable[Any], start: int | None, stop: int | None, step: int | None = None) -> list[Any]:
    """`list(itertools.islice(xs, start, stop, step))`."""
    if stop is None:
        return list(xs)[start::step]
    found = []
    for _, x in zip(range(stop), xs):  # noqa: B905  (no more is asked for)
        found.append(x)
    return found[start::step]
