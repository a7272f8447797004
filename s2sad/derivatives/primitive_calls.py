"""A call of a callable without Python source (a primitive, a class, a C function) as a generated function.

Contract: `function_of_call(f, args, keywords)` has one line, the call; arguments that are not constants are
its parameters. Calls of one form share it. `grad(partial(np.linalg.norm, ord=1))(x)` differentiates

    def norm(x):
        return np.linalg.norm(x, ord=1)
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from keyword import iskeyword
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any

import numpy as np

from ..analysis.primitive_table import PRIMITIVES
from ..kinds.class_members import FIXED
from ..kinds.wrapped_functions import unwrapped
from ..primitives.record import fact, find_rule, is_display, stand_in
from ..rules.methods import METHODS
from ..runtime.containers import DICT_METHODS, LIST_METHODS
from ..source.compiling import make_function
from ..source.getters import GETTERS
from ..transforms.errors import NonDifferentiableError, missing_rule
from ..transforms.trees.program import Names, Scope
from ..values.custom_rule import rule_of

__all__ = [
    "BY_POSITION",
    "CallFunction",
    "Key",
    "MethodOf",
    "Opened",
    "check_known",
    "function_of_call",
    "is_known",
    "is_primitive",
    "opened",
    "parameters_of",
    "required",
    "unbound",
]

Key = int | str
Parameter = inspect.Parameter
BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
MANY = 32  # different constants in calls of one form, after which numbers become parameters
STRUCTURAL = frozenset({"builtins", "_functools", "functools", "itertools", "_operator"})  # known to passes
ALIASES = {"numpy": "np"}
TEXTS = (FunctionType, MethodType, functools.partial, staticmethod, classmethod, *GETTERS)
CONTAINER_METHODS: dict[Any, dict[str, Any]] = {dict: DICT_METHODS, list: LIST_METHODS}


@dataclass(frozen=True)
class MethodOf:
    """The method of this name of a NumPy scalar, as a function whose first argument is the scalar."""

    __name__: str


# ---------------------------------------------------------------- what has no text


def is_primitive(f: Any) -> bool:
    """Whether a callable is called as it is, and its source is not read."""
    if is_known(f):
        return True
    if isinstance(f, TEXTS) or unwrapped(f) is not None or not callable(f):
        return False
    is_made = any(hasattr(type(f), name) for name in ("lift_call", "function_for_kinds"))
    return not is_made and not isinstance(inspect.getattr_static(type(f), "__call__", None), FunctionType)


@dataclass(frozen=True)
class Opened:
    """A primitive, and the arguments that partial applications and methods bind before those of a call."""

    function: Any
    args: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)


def opened(f: Any) -> Opened | None:
    """The primitive behind a callable; None for one with Python source.

    Raises MissingRuleError for a C function without a rule.
    """
    args: tuple[Any, ...] = ()
    keywords: dict[str, Any] = {}
    while True:
        method = unbound(f)
        if method is not None:
            f, args = method, (f.__self__, *args)
        if is_known(f):
            break
        if isinstance(f, functools.partial):
            f, args, keywords = f.func, (*f.args, *args), {**f.keywords, **keywords}
        else:
            inner = f.__wrapped__ if isinstance(f, staticmethod) else unwrapped(f)
            if inner is None:
                break
            f = inner
    if not is_primitive(f):
        return None
    check_known(f)
    return Opened(f, args, keywords)


def unbound(f: Any) -> Any:
    """The primitive whose first argument a bound method binds; None for other callables."""
    if isinstance(f, MethodType):
        rule = PRIMITIVES.find_rule(f)
        return f.__func__ if rule is not None and rule is PRIMITIVES.find_rule(f.__func__) else None
    if not isinstance(f, (BuiltinFunctionType, MethodWrapperType)):
        return None
    owner, name = f.__self__, f.__name__
    if isinstance(owner, np.generic):
        return MethodOf(name) if name in METHODS else None
    if isinstance(owner, (dict, list)):
        return CONTAINER_METHODS.get(type(owner), {}).get(name)
    method = getattr(type(owner), name, None)
    return method if isinstance(method, MethodDescriptorType) and is_known(method) else None


def is_known(f: Any) -> bool:
    """Whether a function is declared: with a rule, or as one without derivative."""
    if isinstance(f, MethodOf) or rule_of(f) is not None:
        return True
    if is_display(f) and fact(f, "nondifferentiable") is None:  # who reads its result is unknown
        return False
    return PRIMITIVES.find_rule(f) is not None or PRIMITIVES.is_nondifferentiable(f)


def check_known(f: Any) -> None:
    """Raises MissingRuleError for a primitive that has no rule and is unknown to passes."""
    is_structural = isinstance(f, type) or getattr(f, "__module__", None) in STRUCTURAL
    is_structural = is_structural or stand_in(f) is not f
    is_known_kind = type(f).__hash__ is not None and (is_known(f) or is_structural)
    if PRIMITIVES.refusal(f) is not None or not is_known_kind:
        raise missing_rule(f, PRIMITIVES.refusal(f))


@lru_cache(maxsize=1024)
def parameters_of(f: Any) -> tuple[inspect.Parameter, ...] | None:
    """The parameters of a primitive, by its signature or rule; None without either."""
    try:
        return tuple(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        pass
    rule = find_rule(f)
    if rule is None:
        return None
    own = rule.template
    kind = Parameter.POSITIONAL_ONLY
    found = [
        Parameter(p, kind, default=own.defaults.get(p, Parameter.empty))
        for p in own.parameters[: own.positional]
    ]
    return (*found, *(Parameter(v, Parameter.VAR_POSITIONAL) for v in [own.vararg] if v is not None))


def required(f: Any) -> int:
    """The number of arguments that a primitive requires by position, at least one."""
    known = parameters_of(f) or ()
    return max(1, sum(p.kind in BY_POSITION and p.default is Parameter.empty for p in known))


# ---------------------------------------------------------------- one call


@dataclass(frozen=True)
class CallFunction:
    """A generated function, and the arguments of the call that it takes, by position or name, in its order.
    """

    function: FunctionType
    keys: tuple[Key, ...]


def function_of_call(
    f: Any,
    args: tuple[Any, ...],
    keywords: Mapping[str, Any],
    own: Container[Key] = (),
    arguments: Container[Key] = (),
) -> CallFunction:
    """The function for the call `f(*args, **keywords)` of a primitive.

    Constants among the keywords, and among the arguments `own` that the callable itself binds, are in its
    text, unless `arguments` names them.
    """
    form = f, len(args), tuple(keywords)
    constants: dict[Key, str | _Held] = {}
    given: list[tuple[Key, Any]] = [*enumerate(args), *keywords.items()]
    for key, value in given:
        is_named = isinstance(key, str) or key in own
        constant = _constant(value, key in own) if is_named and key not in arguments else None
        if constant is not None:
            constants[key] = constant
    chosen = tuple(constants.items())
    known = _known_constants(form)
    if chosen not in known:
        if len(known) >= MANY:
            chosen = tuple((k, v) for k, v in chosen if v in ("None", "True", "False"))
        known.add(chosen)
    return _function_of_call(*form, chosen)


class _Held:
    """An object that a generated text names, compared by identity."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def _constant(value: Any, is_own: bool) -> str | _Held | None:
    """The text of a constant, or an object that a text names; None for a value that becomes a parameter."""
    text = _literal(value)
    if text is not None:
        return text
    is_function = isinstance(value, (FunctionType, BuiltinFunctionType, np.ufunc, ModuleType))
    return _Held(value) if isinstance(value, (type, np.dtype)) or (is_own and is_function) else None


def _literal(value: Any) -> str | None:
    """The literal of a value without floats; None for other values."""
    if value is None or value is Ellipsis or type(value) in (bool, int, str, bytes):
        return repr(value) if value is not Ellipsis else "..."
    if type(value) not in (tuple, list):
        return None
    items = [_literal(v) for v in value]
    if any(text is None for text in items):
        return None
    inner = ", ".join(map(str, items))
    return f"[{inner}]" if isinstance(value, list) else f"({inner},)" if len(items) == 1 else f"({inner})"


@lru_cache(maxsize=1024)
def _known_constants(form: Any) -> set[Any]:
    """The constants in the calls of a form so far; the caller adds to it."""
    return set()


@lru_cache(maxsize=4096)
def _function_of_call(
    f: Any, count: int, names: tuple[str, ...], constants: tuple[tuple[Key, str | _Held], ...]
) -> CallFunction:
    _check_fit(f, count, names)
    fixed = dict(constants)
    taken = Names(names)
    given: list[tuple[Key, str]] = [*enumerate(_names(f, count, taken)), *((n, n) for n in names)]
    parameters = {k: n for k, n in given if k not in fixed}
    own = f.__name__ if isinstance(getattr(f, "__name__", None), str) else ""
    own = own if _is_name(own) else "function"
    bindings: dict[str, Any] = {}

    def said(key: Key) -> str:
        constant = fixed.get(key)
        if not isinstance(constant, _Held):
            return constant or parameters[key]
        return bound(constant.value, "given")

    def bound(value: Any, default: str) -> str:
        """The text for an object: its path in a library, or a new name."""
        text, root, owner = _path_of(value) or ("", "", None)
        name = getattr(value, "__name__", "")
        if root in parameters.values() or bindings.get(root, owner) is not owner or not text:
            text = root = taken.fresh(name if _is_name(name) else default)
            owner = value
        bindings[root] = owner
        return text

    passed = [*map(said, range(count)), *(f"{n}={said(n)}" for n in names)]
    if isinstance(f, MethodOf):
        callee, passed = f"{passed[0]}.{f.__name__}", passed[1:]
    else:
        callee = bound(f, "primitive")
    name = own if own not in bindings else f"{own}_"
    text = f"def {name}({', '.join(parameters.values())}):\n    return {callee}({', '.join(passed)})\n"
    function = make_function(text, name, Scope(bindings), {})
    return CallFunction(function, tuple(parameters))


def _check_fit(f: Any, count: int, names: tuple[str, ...]) -> None:
    """Raises TypeError or NonDifferentiableError for a call that does not fit the signature."""
    odd = [n for n in names if not _is_name(n)]
    if odd:
        raise NonDifferentiableError(
            f"{getattr(f, '__name__', f)} is given `{odd[0]}=`, which is no name",
            instead="wrap the call in a function of your own",
        )
    if not isinstance(f, MethodOf):
        try:
            signature = inspect.signature(f)
        except (TypeError, ValueError):
            return
        signature.bind(*[None] * count, **dict.fromkeys(names))


def _names(f: Any, count: int, taken: Names) -> list[str]:
    """The names of the first parameters of a primitive: those of its rule where they are positional-only."""
    known = [p for p in parameters_of(f) or () if p.kind in (*BY_POSITION, Parameter.VAR_POSITIONAL)]
    rule = find_rule(f)
    own = rule.template.parameters[: rule.template.positional] if rule is not None else ()
    found: list[str] = []
    for k in range(count):
        p = known[min(k, len(known) - 1)] if known else None
        if p is not None and p.kind is Parameter.POSITIONAL_OR_KEYWORD:
            found.append(taken.fresh(p.name))
        elif k < len(own):
            found.append(taken.fresh(own[k]))
        elif p is not None and p.kind is Parameter.POSITIONAL_ONLY:
            found.append(taken.fresh(p.name))
        else:
            found.append(taken.temporary(p.name if p is not None else "x"))
    return found


def _is_name(text: str) -> bool:
    return text.isidentifier() and not iskeyword(text)


@lru_cache(maxsize=1024)
def _path_of(f: Any) -> tuple[str, str, Any] | None:
    """The path of a library object in a program, the root of the path and its module; None for other objects.

    >>> _path_of(np.linalg.norm)[:2]
    ('np.linalg.norm', 'np')
    """
    name = getattr(f, "__name__", getattr(f, "name", None))
    if not isinstance(name, str) or not _is_name(name):
        return None
    owner = getattr(f, "__objclass__", getattr(f, "__self__", None))
    if owner is not None and not isinstance(owner, ModuleType):
        found = _path_of(owner) if type(owner).__hash__ is not None else None
        is_there = found is not None and getattr(owner, name, None) == f
        return (f"{found[0]}.{name}", *found[1:]) if found is not None and is_there else None
    for module in _modules_of(f):
        if getattr(sys.modules.get(module), name, None) is f:
            root, *path = module.split(".")
            if root == "builtins":
                return name, name, f
            if root in FIXED:
                alias = ALIASES.get(root, root)
                return ".".join([alias, *path, name]), alias, sys.modules[root]
    return None


def _modules_of(f: Any) -> Iterator[str]:
    """The modules in which a program may find an object, by their public names."""
    for module in (getattr(f, "__module__", None), type(f).__module__):
        root, *path = str(module).split(".")
        public = [root.lstrip("_")]
        for part in path:
            if part.startswith("_"):
                break
            public.append(part)
        yield ".".join(public)
    yield from ("numpy", "scipy.special")
