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

What else is known of a function stands beside its rule, as `Facts`. Those of functions without a rule are
said with `nondifferentiable`, `refuse` or `declare`. Everything here is immutable but for the tables, which
only ever gain entries.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from types import BuiltinFunctionType, EllipsisType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any, Literal, TypedDict, Unpack, cast

import numpy as np

from ..values.objects import HAVE_RULES
from .check_declarations import check_forward_rule, check_rule, is_rule
from .template import Template

__all__ = [
    "WANTED",
    "Facts",
    "Rule",
    "Sharing",
    "bprop",
    "count_declared",
    "declare",
    "displays",
    "fact",
    "find_rule",
    "for_instances",
    "for_methods_like",
    "is_display",
    "is_nondifferentiable",
    "is_pure",
    "nondifferentiable",
    "refusal",
    "refuse",
    "rules",
    "stand_in",
    "stands_in",
    "stores",
    "stores_at",
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


Sharing = Literal["fresh", "stored", "view", "maybe", "elements", "live", "unknown"]


class Facts(TypedDict, total=False):
    """What may be said of a function beside its derivative. Arguments are given by their positions.

    `pure`: a call changes nothing, and depends on nothing but its arguments.
    `sharing`: what the result shares memory with. "fresh": nothing; "view": it is a view of the first one,
    or a list of such; "maybe": it is one, or the argument itself, or new; "elements": a new container of what
    the arguments hold; "live": a view of a dict, which shows its changes; "unknown": anything; "stored": the
    caller stores it at once, so that it does not matter. A mapping gives the word for calls that pass a
    parameter, others being fresh; a function gives the word for a call. Without a word, ufuncs, functions of
    libraries with a rule and nondifferentiable ones (but for methods of arrays) are fresh, others unknown.
    `steady`: what it shares memory with does not depend on values.
    `read_only`: nobody can write to the result.
    `writes`: the arguments that it changes; a mapping gives those for calls that pass a parameter.
    `updates`: it changes its first argument, and returns it.
    `odd`: `f(-x) == -f(x)` for the first argument, in calls without a dtype or an initial value.
    `shape_only`: the arguments of which it reads the shape and dtype, or length, and nothing else.
    `likeness`: for these it takes what `like` keeps of an array.
    `runs`: the shape and dtype of a result follow from the kinds of the arguments, so that a run on stand-ins
    tells them. Without it: of functions of NumPy, `math` and the rules.
    `data`: of how many leading arguments no values, not even integers, decide the shape and dtype of a result
    (99: of all). Without it: of those that have a derivative.
    `like`: the argument that a result is just like, if that is an array of floats; `like_number`: or a float.
    """

    pure: bool
    sharing: Sharing | Mapping[str, Sharing] | Callable[[Any], Sharing]
    steady: bool
    read_only: bool
    writes: tuple[int, ...] | Mapping[str, tuple[int, ...]]
    updates: bool
    odd: bool
    shape_only: tuple[int, ...]
    likeness: bool
    runs: bool
    data: int
    like: int
    like_number: bool


class Record(Facts, total=False):
    """All that is known of a function."""

    rule: Rule
    nondifferentiable: bool
    refused: str  # why it has no rule, and what to use
    stand_in: Callable[..., Any]  # what a call of it means
    stores: Callable[..., Any]  # what a call of it means that writes into its first argument
    stores_number: Callable[..., Any]  # the same where what is written is a number
    stores_at: Callable[..., Any]  # what a call of its method `at` means


_RECORDS: dict[Any, Record] = {}
_OF_INSTANCES: dict[type, Callable[[Any], Rule | None]] = {}  # type -> what makes their rules
_PURE_INSTANCES: set[type] = set()
_DISPLAYS: set[str] = set()  # packages
_STANDING_FOR: dict[type, Callable[[Any], Any]] = {}  # type -> the object whose methods have the rules
_IMPORTED: set[str] = set()
_modules = 0  # how many modules there were when the rules were last looked for
_declarations = 0  # how many there were, those included that change others


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
    **facts: Unpack[Facts],
) -> Callable[[Callable[..., Any]], Rule]:
    """Decorator that declares the derivative of `functions`; the last of them may be the structure word.

    Functions in `in_place` have the same derivative but write their result into their first argument. The
    gradients of the parameters in `refused` are written as None but are not zero: to ask for one is an error.
    Of a result that is a dict or a tuple only the `parts` have a known derivative. For the parameters
    in `lists`, True for all as with `joins`, the rule returns lists of gradients for lists of arrays or
    numbers; for others arrays are made of lists before. `facts` are what else is known of the functions.
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
        _record(functions, rule=rule, **{"pure": True, **facts})
        _record(in_place, rule=rule, pure=False, writes=(0,), sharing="unknown")
        return rule

    return declare


def _update(rule: Rule, change: Callable[[Rule], Rule]) -> Rule:
    """Puts a changed rule in the place of `rule`, or of what it has been changed to since."""
    new = change(_RECORDS[rule.functions[0]]["rule"])
    _record(rule.functions, rule=new)
    return new


def _record(functions: Iterable[Any], **facts: Any) -> None:
    global _declarations
    _declarations += 1
    if not facts.keys() <= Record.__annotations__.keys():
        raise TypeError(f"no facts of a function are called {sorted(facts.keys() - Record.__annotations__)}")
    for f in functions:
        _RECORDS[f] = cast(Record, {**_RECORDS.get(f, {}), **facts})


def declare(functions: Iterable[Any], **facts: Unpack[Facts]) -> None:
    """Declares facts of functions that have a rule, or none."""
    _record(functions, **facts)


def nondifferentiable(functions: Iterable[Any], **facts: Unpack[Facts]) -> None:
    """Declares functions whose results carry no derivative, and are new objects rather than views of their
    arguments unless `facts` say otherwise; impure ones have side effects, or give another result each time.
    """
    if not isinstance(functions, Iterable):
        raise TypeError(f"nondifferentiable takes a list of functions: nondifferentiable([{functions!r}])")
    _record(functions, nondifferentiable=True, **{"pure": True, **facts})


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
        _record([made], stand_in=function)
        return function

    return declare


def stores(*functions: Any, of_number: Any = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the function is what calls of `functions`, which write into their first argument, mean as
    stores; `of_number` is that for a number.
    """

    def declare(template: Callable[..., Any]) -> Callable[..., Any]:
        _record(functions, stores=template, writes=(0,))
        _record([template], stores=template, stores_number=of_number)
        return template

    return declare


def stores_at(*ufuncs: np.ufunc) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the function is what calls of the method `at` of the ufuncs mean as stores."""

    def declare(template: Callable[..., Any]) -> Callable[..., Any]:
        _record(ufuncs, stores_at=template)
        return template

    return declare


def stand_in(f: Any) -> Any:
    """The Python function that stands for a function or class, or that itself."""
    found = fact(f, "stand_in")
    return f if found is None else found


def refuse(functions: Iterable[Any], reason: str) -> None:
    """Declares functions that have no rule, and why: what stands against it, or what to use instead."""
    _record(functions, refused=reason)


def refusal(f: Any) -> str | None:
    """Why a function, or a method of arrays, is declared to have no rule; None if it is not."""
    reason: str | None = fact(f, "refused")
    return reason


def takes_arrays(f: Any) -> bool:
    """Whether a function is one of NumPy's or SciPy's, for which lists and tuples of numbers are arrays."""
    owners = (f, type(f), type(getattr(f, "__self__", None)))
    return any(str(getattr(o, "__module__", "")).partition(".")[0] in LIBRARIES for o in owners)


def find_rule(f: Any) -> Rule | None:
    """The rule of a function, ufunc, method or attribute of arrays (bound ones: as of a function of the
    array first), or None.
    """
    rule: Rule | None = fact(f, "rule")
    return _of_instance(f) if rule is None and type(f) in _OF_INSTANCES else rule


@lru_cache(maxsize=1024)
def _of_instance(f: Any) -> Rule | None:
    return _OF_INSTANCES[type(f)](f)


def is_nondifferentiable(f: Any) -> bool:
    """Whether the function is declared to return what carries no derivative."""
    return fact(f, "nondifferentiable") is not None or is_display(f)


def displays(packages: Iterable[str]) -> None:
    """Declares packages whose functions and classes show or write down what they are given, and change none
    of it: they are not read, and their results carry no derivative.
    """
    _DISPLAYS.update(packages)


def is_display(f: Any) -> bool:
    """Whether a function, method or class is one of a package that shows what it is given."""
    if not isinstance(f, (FunctionType, MethodType, type)):
        return False
    return str(getattr(f, "__module__", "")).partition(".")[0] in _DISPLAYS


def is_pure(f: Any) -> bool:
    """Whether the function is declared, and calling it changes nothing and depends on nothing but its
    arguments.
    """
    return bool(fact(f, "pure")) or type(f) in _PURE_INSTANCES


def count_declared() -> int:
    """How many declarations were made: a number that grows."""
    return _declarations


def rules() -> list[Rule]:
    """All rules, in the order of their declaration."""
    _import_rules()
    return list(dict.fromkeys(r["rule"] for r in _RECORDS.values() if "rule" in r))


def fact(f: Any, name: str) -> Any:
    """What is declared of a function under the name; None if nothing is."""
    try:
        found = _declared(f, name)
    except TypeError:  # not hashable
        return None
    if found is not None:
        return found
    _import_rules()
    found = _declared(f, name)  # again in any case: another thread may have been importing
    if found is not None:
        return found
    if isinstance(getattr(f, "__self__", None), np.ndarray):
        return _fact_of_member(getattr(np.ndarray, f.__name__, None), name)
    if inspect.ismethod(f):
        standing_for = _STANDING_FOR.get(type(f.__self__))
        owner = None if standing_for is None else standing_for(f.__self__)
        return fact(f.__func__ if owner in (None, f.__self__) else getattr(owner, f.__name__), name)
    ufunc = getattr(f, "__self__", None)
    if isinstance(ufunc, np.ufunc) and f.__name__ == "outer" and _declared(ufunc, "nondifferentiable"):
        return _declared(ufunc, name)  # `np.less.outer`; other methods may hand on an element as it is
    if type(f) is BuiltinFunctionType and not isinstance(f.__self__, (ModuleType, type)):
        return _declared(getattr(type(f.__self__), f.__name__, None), name)
    return _fact_of_member(f, name) if getattr(f, "__objclass__", None) is np.ndarray else None


def _declared(f: Any, name: str) -> Any:
    record = _RECORDS.get(f)
    return None if record is None else record.get(name)


def _fact_of_member(descriptor: Any, name: str) -> Any:
    """Looks a fact of an array's method or attribute up, of itself or of the function that it stands for."""
    methods = importlib.import_module("s2sad.rules.methods")
    called = getattr(descriptor, "__name__", None)
    found = _declared(descriptor, name)
    if found is not None:
        return found
    return _declared(methods.METHODS.get(called, methods.ATTRIBUTES.get(called)), name)


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
