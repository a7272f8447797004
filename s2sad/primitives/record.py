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

Other facts of a function are declared beside its rule: see `Facts`. For functions without a rule there are
`nondifferentiable`, `refuse` and `declare`. Everything here is immutable but the tables, which only gain
entries.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from types import BuiltinFunctionType, EllipsisType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any, Literal, TypedDict, Unpack, cast

import numpy as np

from ..values.libraries import is_other_array
from ..values.objects import HAVE_RULES
from .check_declarations import check_forward_rule, check_rule, is_rule
from .provided import provided
from .template import Template

__all__ = [
    "WANTED",
    "Facts",
    "Rule",
    "Sharing",
    "Slope",
    "bprop",
    "computes",
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

WANTED = None  # in a template: a tuple of the variadic arguments that get a gradient; here None: all
AXES = frozenset({"axis", "axes", "axis1", "axis2", "source", "destination"})
STRUCTURES = ("elementwise", "linear", "bilinear")
INERT = AXES | {"dtype"}
LIBRARIES = ("numpy", "scipy")
_OF_ARRAYS = ("rules.arithmetic", "rules.choices", "rules.math", "rules.methods", "rules.places",
              "rules.reductions", "runtime.builtin_reductions", "runtime.real_power")
_NUMERIC = (abs, complex, divmod, float, max, min, pow, round, sum)
COMPUTING = ("_operator", "math", "cmath", *(f"{__name__.partition('.')[0]}.{name}" for name in _OF_ARRAYS))


@dataclass(frozen=True, eq=False)
class Rule:
    """The derivative of `functions`, in both modes.

    `domain` is `(low, high)` for all arguments, or one such pair for each; `samples` are argument tuples,
    `(arguments, keywords)` pairs, or functions of a NumPy random generator that return either. They are for
    the tests of the rule only.
    `ranks` holds simpler reverse templates for leading parameters of known ranks that are real and of one
    dtype, or integers beside float64; `reals` one for real arguments of an elementwise function, for both
    modes.
    `rows` holds simpler reverse templates for a list or tuple of floats, by type: the result is a vector of
    floats (the function then is linear), or for a list also a number or another list.
    `refused` names parameters whose derivative is unknown though the result depends on them: an active one is
    an error, with a message of its own where it is a mapping.
    `parts` names the parts of a result, a dict or tuple, that have a known derivative; None: all.
    `lists` names the parameters for which the rule itself returns gradients as lists and tuples.
    `joins(ranks, *options)` is the axis of the result along which the elements of a list lie, and the rank of
    the result; None where it depends on more.
    `widens`: an elementwise result may have another dtype than its arguments, though all of these have one.
    `scaling` is the behaviour under sums and products: "exp" maps a sum to a product, "log" a product to a
    sum, "sum" and "mean" reduce, "cumsum" accumulates, "where" chooses.
    `defined` sets undefined elements of a result, such as uninitialised memory, to zero.
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
    picks: Template | None = None
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
    def inert(self) -> frozenset[str]:
        """The parameters that take no floats, so that they are inactive: axes and dtypes. A user's own
        parameters may have the same names.
        """
        is_own = self.template.function.__module__.partition(".")[0] == __name__.partition(".")[0]
        return INERT & set(self.template.parameters) if is_own else frozenset()

    def jvp(self, function: Callable[..., Any]) -> Rule:
        """Decorator: `function` is the forward template; its parameters are the primal's that it reads,
        `out`, and then the tangents.
        """
        template = Template(function)
        check_forward_rule(template, self.template)
        return _update(self, lambda rule: replace(rule, jvp_template=template))

    def for_uniform(self, function: Callable[..., Any]) -> Rule:
        """Decorator: the reverse template of a reduction of a whole array to a number, if every element has
        the same cotangent: it returns that number.
        """
        return _update(self, lambda rule: replace(rule, uniform=Template(function)))

    def for_spread(self, function: Callable[..., Any]) -> Rule:
        """Decorator: the reverse template of a reduction over axes, if its result may be broadcast along
        these.
        """
        return _update(self, lambda rule: replace(rule, spread=Template(function)))

    def for_picks(self, function: Callable[..., Any]) -> Rule:
        """Decorator: the template of the elements of the first argument that a result is picked from, as an
        array of truth values, or of shares: others have no gradient, whatever the slope before.
        """
        return _update(self, lambda rule: replace(rule, picks=Template(function)))

    def for_ranks(self, *ranks: int | EllipsisType) -> Callable[[Callable[..., Any]], Rule]:
        """Decorator: a simpler reverse template for leading parameters of these ranks; (0, 0) is for exactly
        two Python floats, (0, ...) for two or more.
        """
        return self._entry("ranks", ranks)

    def for_rows(self, kind: type) -> Callable[[Callable[..., Any]], Rule]:
        """Decorator: a simpler reverse template for a list or tuple (`kind`) of floats: see `rows`."""
        return self._entry("rows", kind)

    def _entry(self, table: str, key: Any) -> Callable[[Callable[..., Any]], Rule]:
        def declare(function: Callable[..., Any]) -> Rule:
            new, frozen = {key: Template(function)}, cast(Any, MappingProxyType)
            return _update(self, lambda rule: replace(rule, **{table: frozen(getattr(rule, table) | new)}))

        return declare

    def for_reals(self, function: Callable[..., Any]) -> Rule:
        """Decorator: a simpler elementwise template for real arguments."""
        return _update(self, lambda rule: replace(rule, reals=Template(function)))


Slope = Literal["constant", "finite", "any"]
Sharing = Literal["fresh", "stored", "view", "maybe", "elements", "live", "unknown"]


class Facts(TypedDict, total=False):
    """The facts that may be declared of a function beside its derivative. Arguments are given by position.

    `pure`: a call has no side effects, and depends on nothing but its arguments.
    `sharing`: how the result shares memory. "fresh": with nothing; "view": a view of the first argument, or a
    list of views; "maybe": a view, the argument itself, or new; "elements": a new container of the arguments'
    elements; "live": a view of a dict; "unknown": with anything; "stored": the caller stores it at once, so
    that it does not matter. A mapping gives the word for calls that pass a parameter, others being fresh; a
    function gives the word for a call. Without a word, ufuncs, library functions with a rule and
    nondifferentiable ones (except for methods of arrays) are fresh, others unknown.
    `steady`: values do not affect which arguments it shares memory with.
    `read_only`: the result is not writable.
    `writes`: the arguments that it changes; a mapping gives those for calls that pass a parameter.
    `updates`: it changes its first argument, and returns it.
    `selects`: the result may lack elements of an argument, at which its gradient is zero.
    `slope`: of an elementwise function: "finite" at finite arguments, unlike that of a root; "constant": the
    same for all elements, of whatever values. A function gives the word for a call, from its first two
    arguments and a test whether one is a number. By default: "any", also infinite.
    `moves`: gradients are elements of the cotangent, or sums of them, in another shape or order, as where the
    result has elements of an argument. Views do so.
    `odd`: `f(-x) == -f(x)` for the first argument, in calls without a dtype or an initial value.
    `shape_only`: the arguments whose shape and dtype, or length, it reads, and nothing else.
    `likeness`: for these it accepts the result of `like`.
    `objects`: it takes objects, whose tangents its rule computes nothing with.
    `runs`: the shape and dtype of a result follow from the kinds of the arguments, so that it is run on
    stand-ins. By default: for functions of NumPy, `math` and the rules.
    `data`: the number of leading arguments whose values, even integers, do not affect the shape and dtype of
    a result (99: all). By default: those that have a derivative.
    `arrays`: the arrays that its rule is right for: "numpy", "eager" (those of libraries that compute at
    once), or by default those of any library; `arrays_in_reverse`: the same for reverse mode alone.
    `like`: the argument with the result's kind, if that is an array of floats; `like_number`: or a float.
    """

    pure: bool
    sharing: Sharing | Mapping[str, Sharing] | Callable[[Any], Sharing]
    steady: bool
    read_only: bool
    writes: tuple[int, ...] | Mapping[str, tuple[int, ...]]
    updates: bool
    selects: bool
    slope: Slope | Callable[..., Slope]
    moves: bool
    odd: bool
    shape_only: tuple[int, ...]
    likeness: bool
    objects: bool
    runs: bool
    data: int
    arrays: Literal["numpy", "eager"]
    arrays_in_reverse: Literal["numpy", "eager"]
    like: int
    like_number: bool


class Record(Facts, total=False):
    """The facts of a function, with the reason for a refusal and stand-ins."""

    rule: Rule
    nondifferentiable: bool
    refused: str  # why it has no rule, and what to use
    stand_in: Callable[..., Any]  # the Python function that is differentiated in its place
    stores: Callable[..., Any]  # the template with its stores to its first argument
    stores_number: Callable[..., Any]  # the same for the store of a number
    stores_at: Callable[..., Any]  # the template with the stores of its method `at`


_RECORDS: dict[Any, Record] = {}
_OF_INSTANCES: dict[type, Callable[[Any], Rule | None]] = {}  # type -> a function that makes their rules
_PURE_INSTANCES: set[type] = set()
_DISPLAYS: set[str] = set()  # packages
_STANDING_FOR: dict[type, Callable[[Any], Any]] = {}  # type -> the object whose methods have the rules
_IMPORTED: set[str] = set()
_modules = 0  # the number of imported modules when rules were last imported
_declarations = 0  # the number of declarations, with those that change others


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
    forward: Callable[..., Any] | None = None,
    **facts: Unpack[Facts],
) -> Callable[[Callable[..., Any]], Any]:
    """Decorator that declares the derivative of `functions`; the last of them may be the structure word.

    With `forward`, a function of the same parameters that returns `(out, residuals)`, the decorated function
    is the backward part: `backward(residuals, dout)` returns the tuple of gradients, one for each argument in
    its shape, None for zero. Both are called, and not inlined; a wrong shape raises RuleError. Without
    `forward`, the rule's parameters are those of the function, then `out, dout`; its lines are inlined. The
    rule of a function of one argument may return its gradient without a tuple.

    >>> def solution(A, b):
    ...     return np.linalg.solve(A, b)
    >>> def forward(A, b):
    ...     inverse = np.linalg.inv(A)
    ...     out = inverse @ b
    ...     return out, (inverse, out)
    >>> @s2sad.bprop(solution, forward=forward)
    ... def backward(residuals, dout):
    ...     inverse, out = residuals
    ...     db = inverse.T @ dout
    ...     return -np.outer(db, out), db
    >>> s2sad.grad(lambda A, b: np.sum(solution(A, b)), argnums=1)(2 * np.eye(2), np.ones(2))
    array([0.5, 0.5])

    Functions in `in_place` have the same derivative but write their result into their first argument. The
    gradients of the parameters in `refused` are written as None but are not zero: to ask for one is an error.
    In a result that is a dict or a tuple, only the `parts` have a known derivative. For the parameters in
    `lists` (True, or with `joins`: all) the rule returns lists of gradients for lists; for others lists are
    converted to arrays first. `facts` are other facts of the functions: see `Facts`.
    """
    structure = functions[-1] if functions and isinstance(functions[-1], str) else None
    if structure is not None:
        functions = functions[:-1]
        if structure not in STRUCTURES:
            raise ValueError(f"unknown structure {structure!r}: it is one of {', '.join(STRUCTURES)}")
    if not functions or any(map(is_rule, functions)):
        raise TypeError("bprop needs the function that the rule is for, as in @bprop(my_function)")
    if forward is not None:
        if structure is not None or facts or len(functions) != 1:
            raise TypeError("bprop with a forward part takes one function, and no word or facts")
        return partial(provided("give_residual_rule"), functions[0], forward)
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
    """Replaces `rule`, or its latest version, by a changed one."""
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
    """Declares functions whose results carry no derivative. The results are new objects, not views, unless
    `facts` say otherwise; impure functions have side effects, or return another result each time.
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
    """Decorator: the Python function is differentiated in place of `made`."""

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        _record([made], stand_in=function)
        return function

    return declare


def stores(*functions: Any, of_number: Any = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the function is the template with the stores of `functions` to their first argument;
    `of_number` is the one for a number.
    """

    def declare(template: Callable[..., Any]) -> Callable[..., Any]:
        _record(functions, stores=template, writes=(0,))
        _record([template], stores=template, stores_number=of_number)
        return template

    return declare


def stores_at(*ufuncs: np.ufunc) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the function is the template with the stores of the method `at` of the ufuncs."""

    def declare(template: Callable[..., Any]) -> Callable[..., Any]:
        _record(ufuncs, stores_at=template)
        return template

    return declare


def stand_in(f: Any) -> Any:
    """The Python function that is differentiated in place of a function or class; itself without any."""
    found = fact(f, "stand_in")
    return f if found is None else found


def refuse(functions: Iterable[Any], reason: str, **facts: Unpack[Facts]) -> None:
    """Declares functions that have no rule, with the reason or an alternative. They may change all of their
    arguments, unless `facts` say otherwise.
    """
    _record(functions, refused=reason, **facts)


def refusal(f: Any) -> str | None:
    """Why a function, or a method of arrays, is declared to have no rule; None if it is not."""
    reason: str | None = fact(f, "refused")
    return reason


def takes_arrays(f: Any) -> bool:
    """Whether a function is NumPy's or SciPy's, so that it converts lists and tuples of numbers to arrays."""
    owners = (f, type(f), type(getattr(f, "__self__", None)))
    return any(str(getattr(o, "__module__", "")).partition(".")[0] in LIBRARIES for o in owners)


def computes(f: Any) -> bool:
    """Whether a function computes with numbers and arrays, rather than that it puts them into containers, or
    takes them out.
    """
    module = str(getattr(f, "__module__", ""))
    return takes_arrays(f) or module in COMPUTING or f in _NUMERIC


def find_rule(f: Any) -> Rule | None:
    """The rule of a function, ufunc, method or attribute of arrays, or None; a bound method has the rule of
    the function of the array.
    """
    rule: Rule | None = fact(f, "rule")
    return _of_instance(f) if rule is None and type(f) in _OF_INSTANCES else rule


@lru_cache(maxsize=1024)
def _of_instance(f: Any) -> Rule | None:
    return _OF_INSTANCES[type(f)](f)


def is_nondifferentiable(f: Any) -> bool:
    """Whether the function is declared to return inactive results."""
    return fact(f, "nondifferentiable") is not None or is_display(f)


def displays(packages: Iterable[str]) -> None:
    """Declares packages whose functions and classes display or log their arguments and do not change them:
    they are not read, and their results carry no derivative.
    """
    _DISPLAYS.update(packages)


def is_display(f: Any) -> bool:
    """Whether a function, method or class is of a package declared with `displays`."""
    if not isinstance(f, (FunctionType, MethodType, type)):
        return False
    return str(getattr(f, "__module__", "")).partition(".")[0] in _DISPLAYS


def is_pure(f: Any) -> bool:
    """Whether the function is declared to be pure: no side effects, and no inputs but its arguments."""
    return bool(fact(f, "pure")) or type(f) in _PURE_INSTANCES


def count_declared() -> int:
    """The number of declarations so far."""
    return _declarations


def rules() -> list[Rule]:
    """All rules, in the order of their declaration."""
    _import_rules()
    return list(dict.fromkeys(r["rule"] for r in _RECORDS.values() if "rule" in r))


_BOUND_TO_NOTHING = (FunctionType, type, np.ufunc)


def fact(f: Any, name: str) -> Any:
    """The declared fact of a function under this name; None without any."""
    try:
        found = _declared(f, name)
    except TypeError:  # not hashable
        return None
    if found is not None:
        return found
    _import_rules()
    found = _declared(f, name)  # look again: another thread may have imported rules
    if found is not None or type(f) in _BOUND_TO_NOTHING:
        return found
    owner = getattr(f, "__self__", None)
    if isinstance(owner, np.ndarray) and not is_other_array(type(owner)):
        return _fact_of_member(getattr(np.ndarray, f.__name__, None), name)
    if inspect.ismethod(f):
        standing_for = _STANDING_FOR.get(type(f.__self__))
        owner = None if standing_for is None else standing_for(f.__self__)
        return fact(f.__func__ if owner in (None, f.__self__) else getattr(owner, f.__name__), name)
    ufunc = getattr(f, "__self__", None)
    if isinstance(ufunc, np.ufunc) and f.__name__ == "outer" and _declared(ufunc, "nondifferentiable"):
        return _declared(ufunc, name)  # `np.less.outer`; other methods may return an element itself
    if type(f) is BuiltinFunctionType and not isinstance(f.__self__, (ModuleType, type)):
        return _declared(getattr(type(f.__self__), f.__name__, None), name)
    return _fact_of_member(f, name) if getattr(f, "__objclass__", None) is np.ndarray else None


def _declared(f: Any, name: str) -> Any:
    record = _RECORDS.get(f)
    return None if record is None else record.get(name)


def _fact_of_member(descriptor: Any, name: str) -> Any:
    """The fact of an array's method or attribute, its own or that of the equivalent function."""
    methods = importlib.import_module("s2sad.rules.methods")
    called = getattr(descriptor, "__name__", None)
    found = _declared(descriptor, name)
    if found is not None:
        return found
    return _declared(methods.METHODS.get(called, methods.ATTRIBUTES.get(called)), name)


def _import_rules() -> None:
    """Imports the rules, and those for each optional library that has been imported."""
    global _modules
    count = len(sys.modules)
    if count == _modules:  # no new imports
        return
    if not _IMPORTED:
        importlib.import_module("s2sad.rules")
        _IMPORTED.add("numpy")
    for module, library in _optional_rules():
        if module not in _IMPORTED and (found := sys.modules.get(library)) is not None:
            if getattr(found.__spec__, "_initializing", False):
                return  # try again next time
            importlib.import_module(module)
            _IMPORTED.add(module)
    _modules = count


_LIBRARIES = {"scipy_dispatch": "scipy._lib._array_api"}


@cache
def _optional_rules() -> tuple[tuple[str, str], ...]:
    """The rule modules that are imported on demand, each with its library: `scipy_special` for
    `scipy.special`, `scipy_dispatch` for all of SciPy, `transform_rules` for the public transforms.
    """
    package = importlib.import_module("s2sad.rules")
    names = sorted(info.name for info in pkgutil.iter_modules(package.__path__))
    of_scipy = (
        (f"{package.__name__}.{n}", _LIBRARIES.get(n, ".".join(n.split("_")[:2])))
        for n in names
        if n.startswith("scipy_")
    )
    return (("s2sad.transform_rules", "s2sad.api"), *of_scipy)
