"""The parameters of a differentiated function: which are differentiated, and how a call binds them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import Any

from ..analysis.primitive_table import PRIMITIVES
from ..kinds import domain
from ..kinds.abstraction import kind_of, kinds_of
from ..kinds.lattice import Kind, Literal, Scalar
from ..runtime.input_checks import tangent_like
from ..source.getters import GETTERS
from ..targets import Settings
from ..transforms.differentiation.bind_captured import is_captured
from ..transforms.errors import NonDifferentiableError
from ..transforms.trees.program import Names
from ..values.code_state import own_signature, signature_of, state_of
from .argnums import Argnums, bound_arguments, check_input, misfit, plain_parameters, positions
from .unwrap import Target, target_of

__all__ = ["Options", "Parameters", "note_call_of_jvp", "wrong_number"]

_FLAG = Scalar("bool")
CALLING_JVP = "call jvp(f)(*primals, *tangents), as in jvp(f)(x, y, dx, dy); or jvp(f, (x, y), (dx, dy))"


DEFAULTS = Settings()


@dataclass(frozen=True)
class Options:
    """The options of a derivative. `argnums` does not count the first `leading` and the last `trailing`
    parameters; the function must not change the arguments at the positions `unchanged`.
    """

    form: str
    argnums: Argnums
    has_aux: bool = False
    leading: int = 0
    trailing: int = 0
    outputs: str | tuple[str, ...] | None = None
    writes: bool = False
    careful: bool = False
    unchanged: frozenset[int] = frozenset()
    is_linked: bool = False  # whether generated code calls it, and its `bprop`
    outlived: bool = False  # whether its objects may be changed before `bprop` is called
    compile: str | None = None  # the compiler: "numba"
    settings: Settings = DEFAULTS
    axes: tuple[int, ...] = ()  # of batched code: those of the parameters `argnums`
    out_axis: int = 0

    @property
    def is_bare(self) -> bool:
        """Whether the one gradient is returned as such, and not in a tuple."""
        return isinstance(self.argnums, (int, str))

    @property
    def key(self) -> tuple[Any, ...]:
        """The options that the generated code depends on, other than the differentiated positions."""
        options = self.has_aux, self.outputs, self.writes, self.careful, self.unchanged, self.is_linked
        return self.form, self.is_bare, *options, self.outlived, self.axes, self.out_axis


class Parameters:
    """The parameters of the function behind a callable, as it is now."""

    def __init__(self, f: Callable[..., Any], options: Options) -> None:
        self.f, self.form, self.argnums = f, options.form, options.argnums
        self.has_aux = options.has_aux
        self.target: Target = target_of(f)
        function = self.target.function
        is_plain = isinstance(function, FunctionType)
        self.state = state_of(function) if is_plain else None
        self.inner: Parameters | None = None if is_plain else function.current()
        self.signature = own_signature(function)
        self.names = tuple(plain_parameters(self.signature, function))
        self.start = len(self.target.args) + options.leading
        by_keyword = [p.name for p in self.signature.parameters.values() if p.kind is p.KEYWORD_ONLY]
        # The trailing parameters of a derivative of this one are its captured variables, too.
        self.stop = len(self.names) - max(options.trailing, sum(map(is_captured, by_keyword)))
        is_plain = not (by_keyword or self.target.keywords)
        self._plain = self.count if is_plain else None  # arguments of a call that needs no binding
        self._check_outputs(options.outputs)
        self.wrt = positions(self.argnums, self.names[: self.stop], self.start, f)

    def _check_outputs(self, outputs: str | tuple[str, ...] | None) -> None:
        for output in (outputs,) if isinstance(outputs, str) else outputs or ():
            if output not in self.names:
                name = getattr(self.f, "__name__", self.f)
                raise NonDifferentiableError(
                    f"`outputs` names `{output}`, which is no parameter of {name!r}",
                    why="outputs are parameters that the function changes in place",
                    instead=f"name one of {', '.join(self.names)}",
                )

    def is_current(self) -> bool:
        """Whether the callable still leads to this function, with the code and the defaults that it had."""
        function = self.target.function
        is_same = function.current() is self.inner if self.state is None else self.state.is_of(function)
        return is_same and self.target.is_current()

    def tests(self) -> list[Callable[[], bool]]:
        """Functions that are all true while `is_current`."""
        if self.state is None or self.target.called:
            return [self.is_current]
        return [partial(self.state.is_of, self.target.function)]

    # ------------------------------------------------------------ signatures

    def primal_signature(self) -> inspect.Signature:
        """The signature of the function itself."""
        is_primitive = not isinstance(self.f, FunctionType) and PRIMITIVES.find_rule(self.f) is not None
        if is_primitive or isinstance(self.f, GETTERS):
            return self.signature
        try:
            return signature_of(self.f.__func__ if isinstance(self.f, classmethod) else self.f)
        except ValueError as error:  # a partial application of arguments that do not fit
            raise misfit(self.f, self.signature, TypeError(str(error))) from None

    def signature_of_derivative(self) -> inspect.Signature:
        """The function's signature; in forward mode followed by a tangent for each differentiated parameter.
        """
        signature = self.primal_signature()
        if self.form != "jvp":
            return signature
        wrt = self.wrt if self.argnums is not None else range(self.start, self.stop)
        names = Names(self.names)
        tangents = [
            inspect.Parameter(names.fresh(f"d{self.names[k]}"), inspect.Parameter.POSITIONAL_ONLY)
            for k in wrt
        ]
        primals = [
            p.replace(kind=inspect.Parameter.POSITIONAL_ONLY, default=inspect.Parameter.empty)
            for p in signature.parameters.values()
        ]
        return inspect.Signature([*primals, *tangents])

    @property
    def defaults(self) -> tuple[str, ...]:
        """The names of the parameters that have a default."""
        empty = inspect.Parameter.empty
        return tuple(p.name for p in self.signature.parameters.values() if p.default is not empty)

    # ------------------------------------------------------------ the values of a call

    @property
    def count(self) -> int:
        """The number of parameters that are not bound."""
        return len(self.names) - len(self.target.args)

    def takes(self, count: int) -> bool:
        """Whether a call with `count` positional arguments needs no binding."""
        return count == self._plain

    def bind(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> tuple[Any, ...]:
        """All arguments in the order of the parameters: bound ones, given ones and defaults."""
        if self.takes(len(args)) and not keywords:
            return (*self.target.args, *args)
        given = {**dict(self.target.keywords), **keywords}
        calling = CALLING_JVP if self.form == "jvp" else ""
        bound = bound_arguments(self.signature, self.f, (*self.target.args, *args), given, calling)
        return tuple(bound.arguments[p] for p in self.names)

    def split(
        self, args: tuple[Any, ...], keywords: Mapping[str, Any], name: str
    ) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[int, ...]]:
        """All arguments in the order of the parameters, the tangents of the differentiated ones, and the
        positions that `args` has tangents for.
        """
        if self.form != "jvp":
            return self.bind(args, keywords), (), ()
        count, odd = (len(self.wrt), 0) if self.argnums is not None else divmod(len(args), 2)
        if odd or len(args) < count:
            raise wrong_number(name, len(args), self.argnums, count)
        args, tangents = args[: len(args) - count], args[len(args) - count :]
        primals = self.bind(args, keywords)
        taken = self.wrt if self.argnums is not None else tuple(range(self.start, self.start + count))
        chosen = self.chosen(primals, taken, name)
        given = {
            k: tangent_like(primals[k], tangent, self.names[k])
            for k, tangent in zip(taken, tangents, strict=True)
        }
        return primals, tuple(given[k] for k in chosen), taken

    def kinds(self, primals: tuple[Any, ...], exact: frozenset[int] = frozenset()) -> tuple[Kind, ...]:
        """The kinds of the values of all parameters, with the values of booleans and of the lengths `exact`.
        """
        kinds = kinds_of(primals, self.names, exact)
        if _FLAG in kinds:
            pairs = zip(kinds, primals, strict=True)
            kinds = tuple([Literal(v) if k is _FLAG and type(v) is bool else k for k, v in pairs])
        return kinds

    def kinds_in_call(self, args: list[Kind], keywords: Mapping[str, Kind]) -> tuple[Kind, ...] | None:
        """The kinds of all parameters in a call with arguments of these kinds; None when they do not fit."""
        kinds = dict(zip(self.names, args, strict=False))
        kinds.update({k: v for k, v in keywords.items() if k in self.names})
        for name, parameter in self.signature.parameters.items():
            if name not in kinds and parameter.default is not parameter.empty:
                kinds[name] = kind_of(parameter.default, name)
        if len(args) > len(self.names) or len(kinds) < len(self.names):
            return None
        return tuple(kinds[p] for p in self.names)

    # ------------------------------------------------------------ what is differentiated

    def chosen(self, primals: tuple[Any, ...], taken: tuple[int, ...] | None, name: str) -> tuple[int, ...]:
        """The positions of the arguments to differentiate, among those `taken`.

        Raises NonDifferentiableError, which names the function `name`, for an inactive argument.
        """
        if self.argnums is not None:
            for k in self.wrt if self.form != "batched" else ():
                check_input(self.names[k], primals[k], name)
            return self.wrt
        return self.chosen_by_kinds(kinds_of(primals, self.names), taken)

    def chosen_by_kinds(
        self, kinds: tuple[Kind, ...], taken: tuple[int, ...] | None = None
    ) -> tuple[int, ...]:
        """As `chosen`, from kinds. Without argnums these are all arguments, in forward mode without the
        inactive ones.
        """
        if self.argnums is not None:
            return self.wrt
        return tuple(
            k
            for k in (range(self.start, self.stop) if taken is None else taken)
            if self.form != "jvp" or domain.is_differentiable(kinds[k]) is not False
        )


def wrong_number(name: str, given: int, argnums: Argnums, count: int) -> NonDifferentiableError:
    """The error for a `jvp` of the function `name` with so many arguments."""
    wanted = "a tangent for each of them"
    if argnums is not None:
        wanted = f"{count} tangent{'s' if count > 1 else ''}"
    return NonDifferentiableError(
        f"{name}: jvp takes the arguments and then {wanted}, and was given {given} altogether",
        instead=CALLING_JVP,
    )


def note_call_of_jvp(error: Exception, args: tuple[Any, ...]) -> None:
    """Adds a note on how to call `jvp` to an error, if an argument is a tuple or list."""
    if any(isinstance(a, (tuple, list)) for a in args) and CALLING_JVP not in str(error):
        notes = getattr(error, "__notes__", ())
        if CALLING_JVP not in notes:
            error.add_note(CALLING_JVP)
