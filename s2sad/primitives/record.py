"""Derivative rules, found by the function object that they are for.

A rule is a template: a plain Python function with the primitive's own parameters, then `out` and `dout`,
that returns one gradient for each leading parameter as a literal tuple. It can be called, and it is parsed
(once, when first needed) so that transforms can inline its lines. One structure word says how forward mode
is built from it:

- "elementwise": the template with `dout` replaced by a tangent, one term for each active argument; reverse
  mode adds `unbroadcast`.
- "linear": the primitive itself on the tangents of its leading parameters, which it is linear in jointly.
- "bilinear": `f(dx, y) + f(x, dy)`.
- none: a forward template of its own, given with `@rule.jvp`. One that is given wins over the word.

Everything here is immutable but for the two tables, which only ever gain entries.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from types import BuiltinFunctionType, EllipsisType, MappingProxyType, ModuleType
from typing import Any, cast

import numpy as np

from ..values.objects import HAVE_RULES
from .check_declarations import check_forward_rule, check_rule, is_rule
from .template import Template

__all__ = [
    "WANTED",
    "Rule",
    "bprop",
    "count_declared",
    "find_rule",
    "for_instances",
    "for_methods_like",
    "is_nondifferentiable",
    "is_pure",
    "nondifferentiable",
    "refusal",
    "refuse",
    "rules",
    "stand_in",
    "stands_in",
    "takes_arrays",
]

WANTED = None  # in a template: which of the variadic arguments get a gradient, a tuple; here: all
AXES = frozenset({"axis", "axes", "axis1", "axis2", "source", "destination"})
STRUCTURES = ("elementwise", "linear", "bilinear")
LIBRARIES = ("numpy", "scipy")


@dataclass(frozen=True, eq=False)
class Rule:
    """The derivative of `functions`, in both modes.

    `domain` is `(low, high)` for all arguments, or one such pair for each; `samples` are argument tuples,
    `(arguments, keywords)` pairs, or functions of a NumPy random generator that return either. They feed the
    tests of the rule and nothing else.
    `ranks` holds simpler reverse templates for leading parameters of known numbers of dimensions, if these
    are real and of one dtype, or integers beside floats of 64 bits; `reals` one for arguments known to be
    real, elementwise, so that it serves both modes.
    `rows` holds simpler reverse templates, for a list and for a tuple of floats of which the result is a
    vector of floats (in forward mode the function then is linear), or for a list of floats of which it is a
    number or another one.
    `refused` names parameters that the result does depend on, by a derivative that is not known: one of them
    that carries a derivative is an error, which may say in words of its own what is refused.
    `parts` names those parts of a result, a dict or a tuple, that have a derivative that is known; None: all.
    `lists` names the parameters whose lists and tuples of numbers the rule itself gives their derivatives.
    `joins(ranks, *options)` says along which axis of a result the arrays and numbers of a list stand, and the
    number of its axes, from theirs and from the parameters behind the list; None where it depends on more.
    `widens` says that an elementwise result may be of another dtype than arguments that are all of one.
    `scaling` says how the function answers when something is added to its argument, or multiplied with it:
    "exp" makes a product of a sum, "log" a sum of a product, "sum" and "mean" reduce, "cumsum" adds up,
    "where" chooses.
    `defined` gives zero for what is undefined in a result: elements that hold whatever was left in memory.
    """

    name: str
    functions: tuple[Any, ...]
    structure: str | None
    template: Template
    jvp_template: Template | None = None
    domain: Any = None
    samples: Any = None
    ranks: Mapping[tuple[int, ...], Template] = field(default_factory=lambda: MappingProxyType({}))
    uniform: Template | None = None
    spread: Template | None = None
    rows: Mapping[type, Template] = field(default_factory=lambda: MappingProxyType({}))
    reals: Template | None = None
    refused: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    parts: tuple[str | int, ...] | None = None
    lists: frozenset[str] = frozenset()
    joins: Callable[..., tuple[int, int] | None] | None = None
    widens: bool = False
    scaling: str | None = None
    defined: Callable[[Any], Any] | None = None

    @property
    def integers(self) -> frozenset[str]:
        """The parameters that are integers, or the call is an error: they never carry a derivative."""
        return AXES & set(self.template.parameters)

    def jvp(self, function: Callable[..., Any]) -> Rule:
        """Decorator: `function` is the forward template; its parameters are those of the primal's that it
        reads, `out`, and then the tangents.
        """
        template = Template(function)
        check_forward_rule(template, self.template)
        return _update(self, lambda rule: replace(rule, jvp_template=template))

    def for_uniform(self, function: Callable[..., Any]) -> Rule:
        """Decorator: the reverse template of a reduction of all of an array to one number, when every element
        gets the same cotangent: it returns that number.
        """
        return _update(self, lambda rule: replace(rule, uniform=Template(function)))

    def for_spread(self, function: Callable[..., Any]) -> Rule:
        """Decorator: the reverse template of a reduction over axes, when broadcasting may repeat along them
        what it returns.
        """
        return _update(self, lambda rule: replace(rule, spread=Template(function)))

    def for_ranks(self, *ranks: int | EllipsisType) -> Callable[[Callable[..., Any]], Rule]:
        """Decorator: a simpler reverse template for leading parameters with these numbers of dimensions; with
        (0, 0) for two Python floats and nothing else, with (0, ...) for two or more.
        """
        return self._entry("ranks", ranks)

    def for_rows(self, kind: type) -> Callable[[Callable[..., Any]], Rule]:
        """Decorator: a simpler reverse template for a vector, made of the floats in a container of this
        `kind`; or for a number, or a list of floats, made of those in a list.
        """
        return self._entry("rows", kind)

    def _entry(self, table: str, key: Any) -> Callable[[Callable[..., Any]], Rule]:
        def declare(function: Callable[..., Any]) -> Rule:
            new, frozen = {key: Template(function)}, cast(Any, MappingProxyType)
            return _update(self, lambda rule: replace(rule, **{table: frozen(getattr(rule, table) | new)}))

        return declare

    def for_reals(self, function: Callable[..., Any]) -> Rule:
        """Decorator: a simpler elementwise template, right where no argument is complex."""
        return _update(self, lambda rule: replace(rule, reals=Template(function)))


_RULES: dict[Any, Rule] = {}
_NONDIFFERENTIABLE: dict[Any, bool] = {}  # function -> whether it is pure
_REFUSED: dict[Any, str] = {}  # function -> why it has no rule, and what to use
_OF_INSTANCES: dict[type, Callable[[Any], Rule | None]] = {}  # type -> what makes their rules
_PURE_INSTANCES: set[type] = set()
_STANDING_FOR: dict[type, Callable[[Any], Any]] = {}  # type -> the object whose methods have the rules
_STAND_INS: dict[Any, Callable[..., Any]] = {}  # function or class -> what a call of it means
_IMPURE: set[Any] = set()
_IMPORTED: set[str] = set()
_modules = 0  # how many modules there were when the rules were last looked for


def bprop(
    *functions: Any,
    domain: Any = None,
    samples: Any = None,
    in_place: Iterable[Any] = (),
    refused: Iterable[str] | Mapping[str, str] = (),
    parts: Iterable[str | int] | None = None,
    lists: bool | Iterable[str] = False,
    joins: Callable[..., tuple[int, int] | None] | None = None,
    widens: bool = False,
    scaling: str | None = None,
    defined: Callable[[Any], Any] | None = None,
    pure: bool = True,
) -> Callable[[Callable[..., Any]], Rule]:
    """Decorator that declares the derivative of `functions`; the last of them may be the structure word.

    Functions in `in_place` have the same derivative but write their result into their first argument. The
    gradients of the parameters in `refused` are written as None but are not zero: to ask for one is an error.
    Of a result that is a dict or a tuple only the `parts` have a known derivative. For the parameters
    in `lists`, True for all as with `joins`, the rule returns lists of gradients for lists of arrays or
    numbers; for others arrays are made of lists before. Impure functions change something other than their
    result, or read what others may change.
    """
    structure = functions[-1] if functions and isinstance(functions[-1], str) else None
    if structure is not None:
        functions = functions[:-1]
        if structure not in STRUCTURES:
            raise ValueError(f"unknown structure {structure!r}: it is one of {', '.join(STRUCTURES)}")
    if not functions or any(map(is_rule, functions)):
        raise TypeError("bprop needs the function that the rule is for, as in @bprop(my_function)")
    in_place = tuple(in_place)
    unknown = dict(refused) if isinstance(refused, Mapping) else dict.fromkeys(refused, "")
    known = None if parts is None else tuple(parts)

    def declare(function: Callable[..., Any]) -> Rule:
        template = Template(function)
        if not unknown.keys() <= {*template.parameters, template.vararg, template.kwarg}:
            raise TypeError(
                f"{function.__qualname__}: what is refused, {sorted(unknown)}, is not a parameter"
            )
        every = (*template.parameters, *filter(None, (template.vararg, template.kwarg)))
        named = () if isinstance(lists, bool) else lists
        if template.tangents != ("dout",):
            raise TypeError(f"{function.__qualname__}: the last parameters of a rule are `out, dout`")
        check_rule(template, functions)
        name = function.__name__.rstrip("_")
        rule = Rule(
            name,
            (*functions, *in_place),
            structure,
            template,
            domain=domain,
            samples=samples,
            refused=MappingProxyType(unknown),
            parts=known,
            lists=frozenset(every if lists is True or joins is not None else named),
            joins=joins,
            widens=widens,
            scaling=scaling,
            defined=defined,
        )
        for f in rule.functions:
            _RULES[f] = rule
        _IMPURE.update(in_place if pure else rule.functions)
        return rule

    return declare


def _update(rule: Rule, change: Callable[[Rule], Rule]) -> Rule:
    """Puts a changed rule in the place of `rule`, or of what it has been changed to since."""
    new = change(_RULES[rule.functions[0]])
    for f in rule.functions:
        _RULES[f] = new
    return new


def nondifferentiable(functions: Iterable[Any], *, pure: bool = True) -> None:
    """Declares functions whose results carry no derivative, and are new objects rather than views of their
    arguments; impure ones have side effects, or give another result each time.
    """
    if not isinstance(functions, Iterable):
        raise TypeError(f"nondifferentiable takes a list of functions: nondifferentiable([{functions!r}])")
    for f in functions:
        _NONDIFFERENTIABLE[f] = pure


Maker = Callable[[Any], Rule | None]


def for_instances(kind: type, *, pure: bool = False) -> Callable[[Maker], Maker]:
    """Decorator: the function makes the rule of an instance of `kind`, an object that is called, or None."""

    def declare(make: Maker) -> Maker:
        _OF_INSTANCES[kind] = make
        if pure:
            _PURE_INSTANCES.add(kind)
        HAVE_RULES.add(kind)
        return make

    return declare


def for_methods_like(owner: Any, same: Callable[[Any, Any], bool]) -> None:
    """Gives the methods of objects of the class of `owner` the rules of its own, if they are the `same`."""
    _STANDING_FOR[type(owner)] = lambda other: owner if same(owner, other) else None


def stands_in(made: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the Python function is what a call of `made` means within a differentiated function."""

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        _STAND_INS[made] = function
        return function

    return declare


def stand_in(f: Any) -> Any:
    """The Python function that stands for a function or class, or that itself."""
    found = _find(_STAND_INS, f)
    return f if found is None else found


def refuse(functions: Iterable[Any], reason: str) -> None:
    """Declares functions that have no rule, and why: what stands against it, or what to use instead."""
    for f in functions:
        _REFUSED[f] = reason


def refusal(f: Any) -> str | None:
    """Why a function, or a method of arrays, is declared to have no rule; None if it is not."""
    reason: str | None = _find(_REFUSED, f)
    return reason


def takes_arrays(f: Any) -> bool:
    """Whether a function is one of NumPy's or SciPy's, for which lists and tuples of numbers are arrays."""
    owners = (f, type(f), type(getattr(f, "__self__", None)))
    return any(str(getattr(o, "__module__", "")).partition(".")[0] in LIBRARIES for o in owners)


def find_rule(f: Any) -> Rule | None:
    """The rule of a function, ufunc, method or attribute of arrays (bound ones: as of a function of the
    array first), or None.
    """
    rule: Rule | None = _find(_RULES, f)
    return _of_instance(f) if rule is None and type(f) in _OF_INSTANCES else rule


@lru_cache(maxsize=1024)
def _of_instance(f: Any) -> Rule | None:
    return _OF_INSTANCES[type(f)](f)


def is_nondifferentiable(f: Any) -> bool:
    """Whether the function is declared to return what carries no derivative."""
    return _find(_NONDIFFERENTIABLE, f) is not None


def is_pure(f: Any) -> bool:
    """Whether the function is declared, and calling it changes nothing and depends on nothing but its
    arguments.
    """
    pure = _find(_NONDIFFERENTIABLE, f)
    if pure is not None:
        return bool(pure)
    return type(f) in _PURE_INSTANCES or (_find(_RULES, f) is not None and f not in _IMPURE)


def count_declared() -> int:
    """How many functions are declared: a number that grows."""
    return len(_RULES) + len(_NONDIFFERENTIABLE)


def rules() -> list[Rule]:
    """All rules, in the order of their declaration."""
    _import_rules()
    return list(dict.fromkeys(_RULES.values()))


def _find(table: dict[Any, Any], f: Any) -> Any:
    try:
        found = table.get(f)
    except TypeError:  # not hashable
        return None
    if found is not None:
        return found
    _import_rules()
    found = table.get(f)  # again in any case: another thread may have been importing
    if found is not None:
        return found
    if isinstance(getattr(f, "__self__", None), np.ndarray):
        return _find_member(table, getattr(np.ndarray, f.__name__, None))
    if inspect.ismethod(f):
        standing_for = _STANDING_FOR.get(type(f.__self__))
        owner = None if standing_for is None else standing_for(f.__self__)
        return _find(table, f.__func__ if owner in (None, f.__self__) else getattr(owner, f.__name__))
    if table is _NONDIFFERENTIABLE and isinstance(getattr(f, "__self__", None), np.ufunc):
        # `np.less.outer`; others may hand on an element as it is.
        return table.get(f.__self__) if f.__name__ == "outer" else None
    if type(f) is BuiltinFunctionType and not isinstance(f.__self__, (ModuleType, type)):
        return table.get(getattr(type(f.__self__), f.__name__, None))
    return _find_member(table, f) if getattr(f, "__objclass__", None) is np.ndarray else None


def _find_member(table: dict[Any, Any], descriptor: Any) -> Any:
    """Looks an array's method or attribute up, itself or as the function that it stands for."""
    methods = importlib.import_module("s2sad.rules.methods")
    name = getattr(descriptor, "__name__", None)
    function = methods.METHODS.get(name, methods.ATTRIBUTES.get(name))
    return table.get(descriptor, table.get(function))


def _import_rules() -> None:
    """Imports the rules, and those for optional libraries once these have been imported by someone else."""
    global _modules
    count = len(sys.modules)
    if count == _modules:  # nothing has been imported since
        return
    if not _IMPORTED:
        importlib.import_module("s2sad.rules")
        _IMPORTED.add("numpy")
    for module, library in _optional_rules():
        if module not in _IMPORTED and (found := sys.modules.get(library)) is not None:
            if getattr(found.__spec__, "_initializing", False):
                return  # to be looked for again
            importlib.import_module(module)
            _IMPORTED.add(module)
    _modules = count


_LIBRARIES = {"scipy_dispatch": "scipy._lib._array_api"}


@cache
def _optional_rules() -> tuple[tuple[str, str], ...]:
    """The rule modules that are imported on demand, each with its library: `scipy_special` and
    `scipy_special_bessel` hold the rules of `scipy.special`, `scipy_dispatch` those of what lies under all,
    `transform_rules` those of the public transforms.
    """
    package = importlib.import_module("s2sad.rules")
    names = sorted(info.name for info in pkgutil.iter_modules(package.__path__))
    of_scipy = (
        (f"{package.__name__}.{n}", _LIBRARIES.get(n, ".".join(n.split("_")[:2])))
        for n in names
        if n.startswith("scipy_")
    )
    return (("s2sad.transform_rules", "s2sad.api"), *of_scipy)
