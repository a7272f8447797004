"""The objects that users hold: a derivative that looks like its function, and makes code for the kinds it is
called with.

A call looks the kinds of its arguments up, and runs the code that was generated for them; the first call with
new kinds generates it. What the code assumed of the names around the function is checked at each call, by
identity. After many different kinds the generic code, which assumes nothing of the arguments, serves the
rest.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import FunctionType, MethodType
from typing import Any

from . import domain
from .arguments import Argnums, check_input, check_type, plain_parameters, positions
from .captures import Capture
from .function_state import state_of
from .generate import Generator, Request
from .getters import GETTERS
from .kind_values import kind_of, kinds_of
from .kinds import UNKNOWN, Kind
from .pause_collection import collection_paused
from .powers import ComplexPowerError
from .primitives import PRIMITIVES
from .repeatable import is_repeatable
from .tangents import checked_bprop, tangent_like, unshared
from .target import Target, target_of
from .transforms.differentiation.bind_captured import is_captured
from .transforms.errors import NonDifferentiableError, S2sadError, refusals
from .transforms.trees.program import Names
from .versions import Made, Versions, share

__all__ = ["Derivative"]


class Derivative:
    """A derivative of a function: call it like the function (`jvp` takes the tangents after the arguments).

    `source` is the generic generated source, `source_for(*args)` the one that these arguments run. The first
    `leading` parameters are no arguments that `argnums` counts.
    """

    __name__: str
    __qualname__: str
    checks = True  # whether its `bprop` may be called by users

    def __init__(
        self,
        f: Callable[..., Any],
        form: str,
        argnums: Argnums,
        has_aux: bool = False,
        leading: int = 0,
        trailing: int = 0,
        outputs: str | tuple[str, ...] | None = None,
        writes: bool = False,
        careful: bool = False,
        unchanged: frozenset[int] = frozenset(),
    ) -> None:
        self._outputs, self._writes, self._careful = outputs, writes, careful
        self._unchanged = unchanged
        self._f, self._form, self._argnums, self._has_aux = f, form, argnums, has_aux
        self._leading, self._trailing = leading, trailing
        self._begin()

    def _begin(self) -> None:
        """Reads the function's signature; nothing has been generated."""
        f, outputs = self._f, self._outputs
        self._target = target_of(f)
        function = self._target.function
        self._state = state_of(function) if isinstance(function, FunctionType) else None
        self._signature = getattr(function, "__signature__", None) or inspect.signature(function)
        self._parameters = tuple(plain_parameters(self._signature, function))
        self._start = len(self._target.args) + self._leading
        captured = [
            p.kind is p.KEYWORD_ONLY and is_captured(p.name) for p in self._signature.parameters.values()
        ]
        self._stop = len(self._parameters) - self._trailing - sum(captured)
        for output in (outputs,) if isinstance(outputs, str) else outputs or ():
            if output not in self._parameters:
                raise NonDifferentiableError(
                    f"`outputs` names `{output}`, which is no parameter of {getattr(f, '__name__', f)!r}",
                    why="outputs are parameters that the function changes in place",
                    instead=f"name one of {', '.join(self._parameters)}",
                )
        self._wrt = positions(self._argnums, self._parameters[: self._stop], self._start, f)
        self._versions = Versions()
        self._complex: set[tuple[Kind, ...]] = set()  # those for which a power of real numbers was complex
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(self, name, getattr(f, name, getattr(function, name, None)))
        self.__signature__ = self._own_signature()

    def _own_signature(self) -> inspect.Signature:
        """That of the function; in forward mode with a tangent for each differentiated parameter."""
        signature = self.primal_signature
        if self._form != "jvp":
            return signature
        wrt = self._wrt if self._argnums is not None else range(self._start, self._stop)
        names = Names(self._parameters)
        tangents = [
            inspect.Parameter(names.fresh(f"d{self._parameters[k]}"), inspect.Parameter.POSITIONAL_ONLY)
            for k in wrt
        ]
        primals = [
            p.replace(kind=inspect.Parameter.POSITIONAL_ONLY, default=inspect.Parameter.empty)
            for p in signature.parameters.values()
        ]
        return inspect.Signature([*primals, *tangents])

    @property
    def primal_signature(self) -> inspect.Signature:
        """That of the function itself."""
        is_primitive = not isinstance(self._f, FunctionType) and PRIMITIVES.find_rule(self._f) is not None
        return self._signature if is_primitive or isinstance(self._f, GETTERS) else inspect.signature(self._f)

    # ------------------------------------------------------------ calling

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        met = refusals.last
        try:
            if self._form == "jvp":
                made = self._push(args, keywords)
            elif keywords or len(args) != len(self._parameters) or self._target.args:
                made = self._bound_call(args, keywords)
            else:
                made = self._function(args)(*args)
            if refusals.last is not met:  # and the function took it for an exception of its own
                refusals.raise_last()
        except ComplexPowerError:
            if not self._expects_complex(args, keywords):
                raise
            refusals.last = met
            return self(*args, **keywords)
        if self._form != "vjp" or not self.checks:
            return made
        out, bprop = made
        return out, checked_bprop(bprop, out, self.__name__)

    def _expects_complex(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
        """Whether the derivative for these arguments, in which a power turned out to be complex, will be made
        without taking powers to be real: once, and of a function that can be run again.
        """
        primals, _, _ = self.split(args, keywords)
        kinds = kinds_of(primals, self._parameters)
        inner = self
        while not isinstance(function := inner._target.function, FunctionType):
            inner = function
        if kinds in self._complex or not is_repeatable(function, kinds[: len(inner._parameters)]):
            return False
        self._complex.add(kinds)
        self._versions = Versions()
        return True

    def _bound_call(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        primals = self.bind(args, keywords)
        function = self._function(primals)
        count = function.__code__.co_argcount
        named = dict(zip(self._parameters[count:], primals[count:], strict=True))
        return function(*primals[:count], **named)

    def _push(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        primals, tangents, taken = self.split(args, keywords)
        out, dout = self._function(primals, taken)(*primals, *tangents)
        return out, unshared(dout, tangents)

    def split(
        self, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[int, ...]]:
        """All arguments in the order of the parameters, the tangents among `args` of those that are
        differentiated, and the positions of the arguments that tangents were given for.
        """
        if self._form != "jvp":
            return self.bind(args, keywords), (), ()
        count, odd = (len(self._wrt), 0) if self._argnums is not None else divmod(len(args), 2)
        if odd or len(args) < count:
            wanted = f"{count} tangents" if self._argnums is not None else "a tangent for each of them"
            raise TypeError(f"{self.__name__}: jvp takes the arguments and then {wanted}")
        args, tangents = args[: len(args) - count], args[len(args) - count :]
        primals = self.bind(args, keywords)
        taken = self._wrt if self._argnums is not None else tuple(range(self._start, self._start + count))
        chosen = self._chosen(primals, taken)
        given = {
            k: tangent_like(primals[k], tangent, self._parameters[k])
            for k, tangent in zip(taken, tangents, strict=True)
        }
        return primals, tuple(given[k] for k in chosen), taken

    def bind(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> tuple[Any, ...]:
        """All arguments in the order of the parameters: bound ones, given ones and defaults."""
        if self._state is not None and not self._state.is_of(self._target.function):
            self._begin()
        bound = self._signature.bind(*self._target.args, *args, **{**dict(self._target.keywords), **keywords})
        bound.apply_defaults()
        return tuple(bound.arguments[p] for p in self._parameters)

    def _function(self, primals: tuple[Any, ...], taken: tuple[int, ...] | None = None) -> FunctionType:
        """The generated function for these arguments, of which those `taken` have tangents (None: all)."""
        if self._state is not None and not self._state.is_of(self._target.function):
            self._begin()
        kinds = kinds_of(primals, self._parameters)
        if UNKNOWN in kinds:
            for value, name in zip(primals, self._parameters, strict=True):
                check_type(name, value)
        found = self._versions.find((kinds, taken))
        if found is not None:
            return found
        chosen = self._chosen(primals, taken)
        return self._versions.add(kinds, taken, chosen, lambda kinds: self._made(kinds, chosen))

    def _chosen(self, primals: tuple[Any, ...], taken: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """The positions of the arguments to differentiate; raises NonDifferentiableError for one that carries
        no derivative.
        """
        if self._argnums is not None:
            for k in self._wrt:
                check_input(self._parameters[k], primals[k], str(self.__name__))
            return self._wrt
        return self._default_choice(kinds_of(primals, self._parameters), taken)

    def _default_choice(
        self, kinds: tuple[Kind, ...], taken: tuple[int, ...] | None = None
    ) -> tuple[int, ...]:
        """All arguments (with tangents): `vjp` gives None for those without derivative, `jvp` leaves them
        out.
        """
        return tuple(
            k
            for k in (range(self._start, self._stop) if taken is None else taken)
            if self._form != "jvp" or domain.is_differentiable(kinds[k]) is not False
        )

    # ------------------------------------------------------------ generating

    def _made(self, kinds: tuple[Kind, ...], chosen: tuple[int, ...], real_powers: bool = True) -> Made:
        """The generated function for these kinds and parameters, and what it assumes; with `real_powers` that
        powers of real numbers are real, unless they turned out not to be.
        """
        met = refusals.last
        real_powers = real_powers and kinds not in self._complex
        function, before = self._plain(kinds, real_powers)
        bare = isinstance(self._argnums, (int, str))
        options = self._has_aux, self._outputs, self._writes, self._careful, self._unchanged
        key = self._form, chosen, bare, options, kinds, real_powers

        def make() -> Made:
            return self._generate(function, kinds, chosen, Generator(real_powers=real_powers))

        with collection_paused():
            made, captures = share(function, key, make)
        refusals.last = met  # what was tried on the way, and given up, is no refusal
        return made, [*before, *captures]

    def _generate(
        self, function: FunctionType, kinds: tuple[Kind, ...], chosen: tuple[int, ...], generator: Generator
    ) -> Made:
        wrt = tuple(function.__code__.co_varnames[k] for k in chosen)
        bare = isinstance(self._argnums, (int, str))
        request = Request(
            function,
            self._form,
            wrt,
            bare,
            kinds,
            self._has_aux,
            self._outputs,
            self._writes,
            self._careful,
            tuple(function.__code__.co_varnames[k] for k in sorted(self._unchanged)),
        )
        made = generator.derivative(request)
        return made, generator.captures

    def _plain(self, kinds: tuple[Kind, ...], real_powers: bool = True) -> Made:
        """The function to differentiate (of a derivative, the code generated for these kinds) and what it
        assumes.
        """
        inner = self._target.function
        if isinstance(inner, FunctionType):
            return inner, []
        found: Made = inner.made_for_kinds(kinds, real_powers)
        return found

    def made_for_kinds(self, kinds: tuple[Kind, ...], real_powers: bool = True) -> Made:
        """The generated function for arguments of these kinds (in forward mode tangents after them)."""
        own = kinds[: len(self._parameters)]
        chosen = self._wrt if self._argnums is not None else self._default_choice(own)
        if self._form == "jvp" and len(kinds) != len(own) + len(chosen):
            raise NonDifferentiableError(
                f"{self!r} is differentiated, and some of its arguments carry no derivative",
                instead="give jvp the argnums of those that do",
            )
        return self._made(own, chosen, real_powers)

    @property
    def gives_gradients(self) -> bool:
        """Whether a call gives gradients alone, and nothing that the function made."""
        return self._form == "grad" and not self._has_aux

    def function_for_kinds(
        self, args: list[Kind], keywords: dict[str, Kind], real_powers: bool = True
    ) -> tuple[FunctionType | None, list[Capture]]:
        """The generated function for arguments of these kinds, and what it assumes; None when they do not
        fit.
        """
        if self.is_dynamic:
            return None, []
        kinds = dict(zip(self._parameters, args, strict=False))
        kinds.update({k: v for k, v in keywords.items() if k in self._parameters})
        for name, parameter in self._signature.parameters.items():
            if name not in kinds and parameter.default is not parameter.empty:
                kinds[name] = kind_of(parameter.default, name)
        if len(args) > len(self._parameters) or len(kinds) < len(self._parameters):
            return None, []
        return self.made_for_kinds(tuple(kinds[p] for p in self._parameters), real_powers)

    # ------------------------------------------------------------ showing

    @property
    def __wrapped__(self) -> FunctionType:
        """The generic generated function, so that `inspect.getsource` and `help` show it."""
        met = refusals.last
        try:
            return self._generic()
        except S2sadError as error:  # so that it can be asked for: `inspect.signature` does
            refusals.last = met
            raise AttributeError(str(error)) from error

    def _generic(self) -> FunctionType:
        kinds = tuple(UNKNOWN for _ in self._parameters)
        chosen = self._wrt if self._argnums is not None else self._default_choice(kinds)
        return self._made(kinds, chosen)[0]

    @property
    def source(self) -> str:
        """The generated source that assumes nothing of the arguments."""
        return inspect.getsource(self._generic())

    def source_for(self, *args: Any, **keywords: Any) -> str:
        """The generated source that a call with these arguments (without tangents) runs."""
        return inspect.getsource(self.function_for(*args, **keywords))

    def function_for(self, *args: Any, **keywords: Any) -> FunctionType:
        """The generated function that a call with these arguments (without tangents) runs: plain code, to
        compile or to read.
        """
        return self._function(self.bind(args, keywords))

    def generate_with(self, generator: Generator, args: tuple[Any, ...] | None = None) -> Target:
        """Makes the derivative for these arguments (the generic one for None) again, by a generator that may
        watch; returns what it is of.
        """
        kinds: tuple[Kind, ...] = tuple(UNKNOWN for _ in self._parameters)
        if args is None:
            chosen = self._wrt if self._argnums is not None else self._default_choice(kinds)
        else:
            primals = self.bind(args, {})
            kinds = kinds_of(primals, self._parameters)
            chosen = self._chosen(primals)
        with collection_paused():
            self._generate(self._plain(kinds)[0], kinds, chosen, generator)
        return self._target

    # ------------------------------------------------------------ being differentiated

    @property
    def primal(self) -> Callable[..., Any]:
        """What it is the derivative of, as it was given."""
        return self._f

    @property
    def is_dynamic(self) -> bool:
        """Whether a call is needed to tell the arguments: bound ones, and tangents behind the others."""
        return self._form == "jvp" or bool(self._target.args or self._target.keywords)

    @property
    def target(self) -> Target:
        return self._target

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of all parameters of the function behind it, bound ones first."""
        return self._parameters

    @property
    def arguments(self) -> range:
        """The positions of the parameters that are arguments: not bound ones, nor captured variables."""
        return range(len(self._target.args), self._stop)

    @property
    def positions(self) -> tuple[int, ...]:
        """The positions that `argnums` names among all parameters."""
        return self._wrt

    def of(self, f: Any, leading: int) -> Derivative:
        """The same derivative of a function that takes `leading` arguments before the own ones of this one's
        function.
        """
        trailing = len(self._parameters) - self._stop
        return Derivative(
            f,
            self._form,
            self._argnums,
            self._has_aux,
            self._leading + leading,
            trailing,
            self._outputs,
            self._writes,
            self._careful,
            frozenset(k + leading for k in self._unchanged),
        )

    def chosen(self, primals: tuple[Any, ...], taken: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """The positions among all parameters of those that are differentiated."""
        return self._chosen(primals, taken)

    @property
    def form(self) -> str:
        return self._form

    @property
    def argnums(self) -> Argnums:
        return self._argnums

    @property
    def has_aux(self) -> bool:
        return self._has_aux

    @property
    def defaults(self) -> tuple[str, ...]:
        """The names of the parameters that have a default."""
        empty = inspect.Parameter.empty
        return tuple(p.name for p in self._signature.parameters.values() if p.default is not empty)

    def function_of(self, primals: tuple[Any, ...], taken: tuple[int, ...] | None = None) -> FunctionType:
        """The generated function for these values of all parameters; those `taken` have tangents (None:
        all that are arguments).
        """
        return self._function(primals, taken)

    # ------------------------------------------------------------ being an object

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        made = self._f, self._form, self._argnums, self._has_aux, self._leading, self._trailing
        return Derivative, (*made, self._outputs, self._writes)

    def __repr__(self) -> str:
        return f"<{self._form} of {self.__qualname__}>"
