"""Rules of the user's that are called at run time: `custom_vjp`, `custom_jvp`, `Function`, `numerical`.

All of them give a Python function a `CustomRule`: a forward part that returns `(out, residuals)`, and a
backward part that takes them. They are inlined nowhere, so they may do whatever Python does.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from .derivatives.custom_rules import forwarding, is_readable
from .primitives.record import refuse
from .runtime.border import at_border
from .runtime.custom_rules import as_tuple, check_pair, cotangent_at, marks_of, unmarked, zero_tangent
from .runtime.differences import difference_along, gradients_by_differences
from .source.compiling import make_function
from .transforms.trees.program import Names, Scope
from .values.context import Context
from .values.custom_rule import CustomRule, give_rule

__all__ = ["Function", "custom_jvp", "custom_vjp", "numerical", "once_differentiable"]

Callee = Callable[..., Any]
Parameter = inspect.Parameter
STARS = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


@at_border
def custom_vjp(f: Callee | None = None, *, nondiff_argnums: int | Iterable[int] = ()) -> Any:
    """Decorator: a function like `f`, whose reverse derivative is given by `defvjp(fwd, bwd)`, as in JAX.

    `fwd` takes the arguments of `f` and returns `(out, residuals)`: the value of `f`, and what the backward
    part reads, of whatever structure. `bwd(residuals, dout)` takes a cotangent with the shape and structure
    of `out` and returns a tuple with the gradient of each argument, of the argument's shape; None is zero.
    With `nondiff_argnums`, positions of arguments that carry no derivative, `bwd` takes these first, and
    returns gradients of the others.

    In forward mode and for higher derivatives, `fwd` and `bwd` are differentiated. A rule that returns
    something of another shape raises RuleError when it is called.

    >>> @custom_vjp
    ... def log1pexp(x):
    ...     return np.log1p(np.exp(x))
    >>> def forward(x):
    ...     return np.log1p(np.exp(x)), x
    >>> def backward(x, dout):
    ...     return (dout / (1 + np.exp(-x)),)
    >>> log1pexp.defvjp(forward, backward)
    >>> s2sad.grad(log1pexp)(100.0)
    1.0
    """
    if f is None:
        return functools.partial(custom_vjp, nondiff_argnums=nondiff_argnums)
    function = _own_copy(f)
    constants = _positions(nondiff_argnums)

    def defvjp(fwd: Callee, bwd: Callee) -> None:
        """Gives the function its derivative: `fwd(*args)` is `(out, residuals)`, `bwd(residuals, dout)` the
        gradients.
        """
        give_rule(_of_all(function, fwd, bwd, constants) if constants else CustomRule(
            function, function.__qualname__, fwd, bwd))

    vars(function)["defvjp"] = defvjp
    give_rule(CustomRule(function, function.__qualname__, constants=constants))
    return function


@at_border
def custom_jvp(f: Callee | None = None, *, nondiff_argnums: int | Iterable[int] = ()) -> Any:
    """Decorator: a function like `f`, whose forward derivative is given by `defjvp(jvp)`, as in JAX.

    `jvp(primals, tangents)` takes two tuples of equal length, and returns `(out, tangent of out)`. Tangents
    have the shapes of their arguments, and are zero for those without derivative. With `nondiff_argnums` the
    arguments at these positions come first, and are in neither tuple. `defjvps(*jvps)` takes for each
    argument a function `jvp(tangent, out, *primals)`, or None for zero; the tangent is their sum. `defjvp` is
    a decorator, too.

    Reverse mode transposes the rule: what it does to the tangents must be linear. A tangent of another shape
    than the result raises RuleError.

    >>> @custom_jvp
    ... def f(x, y):
    ...     return np.sin(x) * y
    >>> @f.defjvp
    ... def f_jvp(primals, tangents):
    ...     (x, y), (dx, dy) = primals, tangents
    ...     return f(x, y), np.cos(x) * dx * y + np.sin(x) * dy
    >>> float(s2sad.grad(f)(0.0, 3.0))
    3.0
    """
    if f is None:
        return functools.partial(custom_jvp, nondiff_argnums=nondiff_argnums)
    function = _own_copy(f)
    constants = _positions(nondiff_argnums)

    def defjvp(jvp: Callee) -> Callee:
        """Gives the function its derivative: `jvp(primals, tangents)` is `(out, tangent of out)`."""
        give_rule(CustomRule(function, function.__qualname__, push=_push_of(function, jvp, constants),
                             constants=constants))
        return jvp

    def defjvps(*jvps: Callee | None) -> None:
        """Gives the function its derivative, as a function for each argument, `jvp(tangent, out, *primals)`.
        """
        give_rule(CustomRule(function, function.__qualname__, push=_sum_of(function, jvps)))

    vars(function).update(defjvp=defjvp, defjvps=defjvps)
    give_rule(CustomRule(function, function.__qualname__, constants=constants))
    return function


@at_border
def numerical(f: Callee) -> Any:
    """A function like `f`, whose derivative is taken by central differences: for code that cannot be read and
    has no rule.

    Reverse mode calls `f` twice for each number in its arguments, forward mode twice. Derivatives have about
    ten digits in double precision. Gradients have the shapes of the arguments, of any structure; second
    derivatives are refused. `f` must be smooth, and return the same when it is called again.

    >>> import operator
    >>> cube = numerical(operator.methodcaller("__pow__", 3))
    >>> round(s2sad.grad(lambda x: 2 * cube(x))(2.0), 6)
    24.0
    """
    try:
        signature = inspect.signature(f)
    except (TypeError, ValueError):  # a C function without a signature
        signature = inspect.Signature([Parameter("args", Parameter.VAR_POSITIONAL)])
    function = forwarding(f, signature)
    bindings = {"f": function, "given_f": f, **{d.__name__: d for d in DIFFERENCES}}
    ahead, back, push = (make_function(t, n, Scope({}), bindings) for n, t in _BY_DIFFERENCES.items())
    give_rule(CustomRule(function, function.__name__, ahead, back, push))
    return function


_BY_DIFFERENCES = {
    "forward": "def forward(*args):\n    return f(*args), args\n",
    "backward": "def backward(args, dout):\n    return gradients_by_differences(given_f, args, dout)\n",
    "push": """def push(*given):
    count = len(given) // 2
    return f(*given[:count]), difference_along(given_f, given[:count], given[count:])
""",
}
DIFFERENCES = (gradients_by_differences, difference_along)
refuse(
    DIFFERENCES,
    "derivatives by differences are not differentiated: their differences have few digits",
    writes=(),
)


class Function:
    """A function with a derivative of its own, as in PyTorch: a subclass has the static methods `forward(ctx,
    *args)` and `backward(ctx, *douts)`, and is called by `apply`.

    `forward` returns the value, an array or number or a tuple of them. It keeps what `backward` reads by
    `ctx.save_for_backward(*arrays)`, to be read as `ctx.saved` (or `ctx.saved_tensors`), or as attributes of
    `ctx`. `backward` takes a cotangent for each result, and returns the gradient of each argument in the
    argument's shape, None for zero; for one argument the gradient itself will do.
    `ctx.mark_non_differentiable(*results)` declares results without derivative: their cotangents are zero.

    Forward mode and higher derivatives differentiate both methods; `once_differentiable` refuses this.
    A gradient of another shape raises RuleError.

    >>> class Square(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, dout):
    ...         x, = ctx.saved
    ...         return 2 * x * dout
    >>> s2sad.grad(Square.apply)(3.0)
    6.0
    """

    apply: Callee

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        forward, backward = (inspect.getattr_static(cls, n, None) for n in ("forward", "backward"))
        if forward is None or backward is None:  # a base class for others
            return
        for method in (forward, backward):
            if not isinstance(method, staticmethod):
                raise TypeError(f"{cls.__qualname__}.forward and .backward are static methods: @staticmethod")
        signature = inspect.signature(forward.__func__)
        _, *parameters = signature.parameters.values()
        own = inspect.Signature(parameters)
        text = _Text(own, cls.__name__)
        ctx, out = text.name("ctx"), text.name("out")
        makes = [
            f"{ctx} = {text.bind('Context', Context)}()",
            f"{out} = {text.bind('forward', forward.__func__)}({ctx}, {text.passed})",
        ]
        apply = text.function(cls.__name__, [*makes, f"return {out}"], forward.__func__)
        notes = f"{ctx}.marks = {text.bind('marks_of', marks_of)}({out}, {ctx}.marked)"
        lines = [*makes, notes, f"return {out}, {ctx}"]
        ahead = text.function(f"{cls.__name__}_forward", lines, forward.__func__)
        back = _backward_of(cls, backward.__func__)
        apply.__qualname__ = f"{cls.__qualname__}.apply"
        give_rule(CustomRule(apply, cls.__qualname__, ahead, back))
        cls.apply = staticmethod(apply)


def _backward_of(cls: type, backward: FunctionType) -> FunctionType:
    """The method `backward` of a `Function` as the backward part of a rule."""
    _, *douts = inspect.signature(backward).parameters.values()
    if any(p.kind in STARS for p in douts):
        bindings = {"backward": backward, "unmarked": unmarked}
        return make_function(_BACKWARD_OF_ANY, "backward_of", Scope({}), bindings)
    count = len(douts)
    text = _Text(inspect.Signature(), "backward")
    part = text.bind("cotangent_at", cotangent_at)
    lines = [
        f"dout = {text.bind('unmarked', unmarked)}(dout, ctx.marks)",
        *(f"dout_{k} = {part}(dout, {k}, {count}, {cls.__qualname__!r})" for k in range(count)),
        f"return {text.bind('backward', backward)}(ctx, {', '.join(f'dout_{k}' for k in range(count))})",
    ]
    return text.function(f"{cls.__name__}_backward", lines, backward, "ctx, dout")


_BACKWARD_OF_ANY = """def backward_of(ctx, dout):
    dout = unmarked(dout, ctx.marks)
    return backward(ctx, *dout) if isinstance(dout, tuple) else backward(ctx, dout)
"""


def once_differentiable(backward: Callee) -> Callee:
    """Decorator of the `backward` of a `Function` that is not to be differentiated: second derivatives, and
    forward mode, which differentiates it too, are refused. It must not change its arguments.
    """
    refuse([backward], "it is declared to be differentiable once only", writes=())
    return backward


# ---------------------------------------------------------------- parts


def _own_copy(f: Callee) -> FunctionType:
    """A function that does what `f` does, to be given a rule."""
    if not isinstance(f, FunctionType) or not is_readable(f):
        return forwarding(f)
    copy = FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    copy.__kwdefaults__, copy.__doc__, copy.__module__ = f.__kwdefaults__, f.__doc__, f.__module__
    copy.__qualname__, copy.__annotations__ = f.__qualname__, dict(f.__annotations__)
    return copy


def _positions(nondiff_argnums: int | Iterable[int]) -> frozenset[int]:
    return frozenset([nondiff_argnums] if isinstance(nondiff_argnums, int) else nondiff_argnums)


class _Text:
    """Writes functions with the parameters of a signature."""

    def __init__(self, signature: inspect.Signature, name: str) -> None:
        known = signature.parameters.values()
        self.parameters = [p.name for p in known]
        self.names = Names([*self.parameters, name])
        self.bindings: dict[str, Any] = {}
        listed: list[str] = []
        passed: list[str] = []
        for p in known:
            star = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
            if p.kind is p.KEYWORD_ONLY and not any(t.startswith("*") for t in listed):
                listed.append("*")
            listed.append(f"{star}{p.name}")
            passed.append(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else f"{star}{p.name}")
        self.listed, self.passed = ", ".join(listed), ", ".join(passed)
        self.has_stars = any(p.kind in STARS for p in known)

    def name(self, base: str) -> str:
        return self.names.fresh(base)

    def bind(self, base: str, value: Any) -> str:
        name = self.name(base)
        self.bindings[name] = value
        return name

    def function(
        self, name: str, lines: list[str], like: Callee, parameters: str | None = None
    ) -> FunctionType:
        given = self.listed if parameters is None else parameters
        name = name.replace("<lambda>", "lambda_")
        text = f"def {name}({given}):\n" + "".join(f"    {line}\n" for line in lines)
        return make_function(text, name, Scope({}), self.bindings, like=like)


def _of_all(function: FunctionType, fwd: Callee, bwd: Callee, constants: frozenset[int]) -> CustomRule:
    """The rule whose `bwd` takes the arguments at the positions `constants` first."""
    ahead = _Text(inspect.signature(function), function.__name__)
    first = [p for k, p in enumerate(ahead.parameters) if k in constants]
    kept = "".join(f"{p}, " for p in first)
    made, out, residuals = map(ahead.name, ("made", "out", "residuals"))
    check = ahead.bind("check_pair", check_pair)
    lines = [
        f"{made} = {ahead.bind('forward', fwd)}({ahead.passed})",
        f"{check}({made}, {function.__qualname__!r})",
        f"{out}, {residuals} = {made}",
        f"return {out}, ({residuals}, {kept})",
    ]
    forward = ahead.function(f"{function.__name__}_forward", lines, fwd)
    back = _Text(inspect.signature(function), "backward")
    saved, dout, gradients, left = map(back.name, ("saved", "dout", "gradients", "residuals"))
    count = len(ahead.parameters) - len(first)
    places = iter(range(count))
    given = [f"{gradients}[{next(places)}]" if p not in first else "None" for p in ahead.parameters]
    lines = [
        f"{left}, {kept}= {saved}",
        f"{gradients} = {back.bind('backward', bwd)}({kept}{left}, {dout})",
        f"{gradients} = {back.bind('as_tuple', as_tuple)}({gradients}, {count}, {function.__qualname__!r})",
        f"return {_tuple(given)}",
    ]
    backward = back.function(f"{function.__name__}_backward", lines, bwd, f"{saved}, {dout}")
    return CustomRule(function, function.__qualname__, forward, backward, constants=constants)


def _push_of(function: FunctionType, jvp: Callee, constants: frozenset[int]) -> Callee:
    """`push(*args, *tangents)`, which calls `jvp(*constants, primals, tangents)`."""
    text = _Text(inspect.signature(function), function.__name__)
    called = text.bind("jvp", jvp)
    if text.has_stars:
        if constants or len(text.parameters) > 1:
            raise TypeError(f"{function.__qualname__} takes {text.listed}: its rule takes a fixed number")
        lines = ["count = len(given) // 2", f"return {called}(given[:count], given[count:])"]
        return text.function(f"{function.__name__}_push", lines, jvp, "*given")
    own = [p for k, p in enumerate(text.parameters) if k not in constants]
    tangents = [text.name(f"d{p}") for p in own]
    first = [p for k, p in enumerate(text.parameters) if k in constants]
    given = ", ".join([*first, _tuple(own), _tuple(tangents)])
    listed = ", ".join([*text.parameters, *tangents])
    return text.function(f"{function.__name__}_push", [f"return {called}({given})"], jvp, listed)


def _sum_of(function: FunctionType, jvps: tuple[Callee | None, ...]) -> Callee:
    """`push(*args, *tangents)`, which adds up `jvp(tangent, out, *args)` for each argument."""
    text = _Text(inspect.signature(function), function.__name__)
    if text.has_stars or len(jvps) != len(text.parameters):
        raise TypeError(
            f"{function.__qualname__}({text.listed}) needs a jvp, or None, for each argument: not {len(jvps)}"
        )
    tangents, out = [text.name(f"d{p}") for p in text.parameters], text.name("out")
    primal = text.bind("primal", function)
    terms = [
        f"{text.bind('jvp', jvp)}({t}, {out}, {', '.join(text.parameters)})"
        for t, jvp in zip(tangents, jvps, strict=True)
        if jvp is not None
    ]
    zero = f"{text.bind('zero_tangent', zero_tangent)}({out})"
    lines = [f"{out} = {primal}({text.passed})", f"return {out}, {' + '.join(terms) or zero}"]
    listed = ", ".join([*text.parameters, *tangents])
    return text.function(f"{function.__name__}_push", lines, function, listed)


def _tuple(names: list[str]) -> str:
    return f"({''.join(f'{n}, ' for n in names)})"


refuse([custom_vjp, custom_jvp, numerical], "make the function outside of the one that is differentiated")
