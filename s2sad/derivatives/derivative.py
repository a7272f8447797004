"""The objects that users hold: a derivative with the signature of its function, and code for kinds of
arguments.

A call runs the code generated for the kinds of its arguments; the first call with new kinds generates it. The
code's assumptions about outer names are checked at each call, by identity. After many different kinds, the
generic code, which assumes nothing of the arguments, runs for all others.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Self

import numpy as np

from ..kinds.abstraction import kinds_of, lengths_of
from ..kinds.lattice import UNKNOWN, Kind
from ..kinds.static_lengths import LengthWanted, lengths_offered
from ..primitives.provided import provide
from ..runtime.border import (
    at_border,
    name_wrapped,
    refuse_crash,
    refuse_failed_generation,
    show_users_frames,
)
from ..runtime.input_checks import Bprop, unshared
from ..runtime.real_power import ComplexPowerError
from ..source.pickling import reduce_derivative
from ..targets import Settings
from ..transforms.errors import NonDifferentiableError, S2sadError, refusals
from ..values.gc_pause import collection_paused
from .argnums import Argnums
from .assumed_kinds import assumed_kinds, told_assumptions
from .assumptions import Capture
from .cache import Made, Versions, share
from .docstrings import description
from .generator import Generator, Request
from .plain_objects import plain_form
from .primal_forms import Style
from .recognition import MISSED
from .rerunnable import is_repeatable
from .signature import Options, Parameters, note_call_of_jvp
from .unwrap import Target, bound_like

__all__ = ["Derivative"]

DOCUMENTED = (FunctionType, MethodType, BuiltinFunctionType, np.ufunc)  # others show their class's docstring
MANY_LENGTHS = 8  # the most lengths of arguments that kinds contain


class Derivative:
    """A derivative of a function: call it like the function (`jvp` takes the tangents after the arguments).

    `source` is the generic generated source, `source_for(*args)` the one for these arguments. `argnums` does
    not count the first `leading` parameters.
    """

    __name__: str
    __qualname__: str

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
        is_linked: bool = False,
        outlived: bool = False,
        compile: str | None = None,
        fastmath: bool = False,
        cache: bool = False,
        parallel: bool = False,
    ) -> None:
        self._f = f
        own = form, argnums, has_aux, leading, trailing, outputs, writes, careful, unchanged, is_linked
        self._options = Options(*own, outlived, compile, Settings(fastmath, cache, parallel))
        self._begin()

    def _begin(self) -> None:
        """Reads the function's signature, and forgets all generated code."""
        self._given = given = Parameters(self._f, self._options)
        self._versions = Versions()
        self._complex: set[tuple[Kind, ...]] = set()  # kinds for which a power of real numbers was complex
        self._exact: frozenset[int] = frozenset()  # lengths of arguments that kinds contain
        self._gives_bprop = given.form == "vjp"
        for name in ("__module__", "__name__", "__qualname__"):
            setattr(self, name, getattr(self._f, name, getattr(given.target.function, name, None)))
        wrt = None if given.argnums is None else [given.names[k] for k in given.wrt]
        primal = inspect.getdoc(self._f) if isinstance(self._f, DOCUMENTED) else None
        options = self._options
        self.__doc__ = description(
            options.form, str(self.__name__), wrt, options.is_bare, options.has_aux, primal or ""
        )
        self.__signature__ = given.signature_of_derivative()

    # ------------------------------------------------------------ calling

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        met = refusals.last
        try:
            try:
                bound = self._given.target.args
                made = MISSED if keywords else self._versions.recognised(*bound, *args)
                if made is MISSED:
                    made = self._run(args, keywords)
                if refusals.last is not met:  # the function's own `except` caught a refusal
                    refusals.raise_last()
            except ComplexPowerError:
                if not self._expects_complex(args, keywords):
                    raise
                refusals.last = met
                return self(*args, **keywords)
            except Exception as error:
                self._refuse(error, args)
                raise
        except Exception as error:
            show_users_frames(error)
            raise  # bare: it adds no frame
        if not self._gives_bprop or self._options.is_linked:
            return made
        out, bprop, *aux = made
        return out, Bprop(bprop, out, self.__name__, self.__qualname__), *aux

    def _run(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The result of a call that is not recognised. The next one of the same forms will be."""
        given = self.current()
        primals, tangents, taken = given.split(args, keywords, str(self.__name__))
        is_forward = given.form == "jvp"
        function = self.function_of(primals, taken if is_forward else None)
        run, count = self._code_for(function)
        place = given.kinds(primals, self._exact), taken if is_forward else None
        if is_forward:
            everything, start = (*primals, *tangents), len(primals)

            def push(*values: Any) -> Any:
                out, dout, *aux = run(*values)
                return out, unshared(dout, values[start:]), *aux

            if len(args) == len(everything) and all(map(operator.is_, args, everything)):
                self._versions.recognise(given, args, place, function, push)
            return push(*everything)
        if not keywords and given.takes(len(args)) and count == len(primals):
            self._versions.recognise(given, primals, place, function, run)
        named = dict(zip(self.parameters[count:], primals[count:], strict=True))
        return run(*primals[:count], **named)

    def _code_for(self, function: FunctionType) -> tuple[Callable[..., Any], int]:
        """What runs a generated function, and the number of arguments that it is given by position."""
        function = plain_form(function)
        return function, function.__code__.co_argcount

    def _refuse(self, error: Exception, args: tuple[Any, ...]) -> None:
        """Raises the refusal that an error of a call stands for, if any."""
        if self.form == "jvp":
            note_call_of_jvp(error, args)
        name_wrapped(error, self._f)
        refuse_crash(error, f"in the derivative of {self.__name__}")

    def _expects_complex(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
        """Whether the call is repeated with code for complex powers, after a power turned out to be complex:
        once for these kinds, and only if the function can be run again.
        """
        primals, _, _ = self.split(args, keywords)
        kinds = kinds_of(primals, self.parameters, self._exact)
        inner = self
        while not isinstance(function := inner.target.function, FunctionType):
            inner = function
        if kinds in self._complex or not is_repeatable(function, kinds[: len(inner.parameters)]):
            return False
        self._complex.add(kinds)
        self._versions = Versions()
        return True

    def current(self) -> Parameters:
        """The parameters, read again if the function's code or defaults have been replaced."""
        if not self._given.is_current():
            self._begin()
        return self._given

    def split(
        self, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[int, ...]]:
        """All arguments in the order of the parameters, the tangents of the differentiated ones, and the
        positions that `args` has tangents for.
        """
        return self.current().split(args, keywords, self.__name__)

    def bind(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> tuple[Any, ...]:
        """All arguments in the order of the parameters: bound ones, given ones and defaults."""
        return self.current().bind(args, keywords)

    def chosen(self, primals: tuple[Any, ...], taken: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """The positions of the differentiated parameters, among all parameters."""
        return self._given.chosen(primals, taken, str(self.__name__))

    def function_of(self, primals: tuple[Any, ...], taken: tuple[int, ...] | None = None) -> FunctionType:
        """The generated function for these values of all parameters; those at positions `taken` have tangents
        (None: all arguments).
        """
        given = self.current()
        found = self._versions.find((given.kinds(primals, self._exact), taken))
        if found is not None:
            return found
        chosen = given.chosen(primals, taken, str(self.__name__))

        def add(kinds: tuple[Kind, ...]) -> FunctionType:
            return self._versions.add(kinds, taken, chosen, lambda kinds: self._made(kinds, chosen))

        return self._with_lengths(primals, add)

    def _with_lengths(
        self, primals: tuple[Any, ...], make: Callable[[tuple[Kind, ...]], FunctionType]
    ) -> FunctionType:
        """The result of `make` for the kinds of these values, with the lengths that `make` asks for."""
        lengths = lengths_of(primals, self.parameters)
        while True:
            kinds = self._given.kinds(primals, self._exact)
            try:
                with lengths_offered(lengths if len(self._exact) < MANY_LENGTHS else {}):
                    return make(kinds)
            except LengthWanted as wanted:
                self._exact |= {wanted.length}
                lengths = {name: n for name, n in lengths.items() if n != wanted.length}

    # ------------------------------------------------------------ generating

    def _made(self, kinds: tuple[Kind, ...], chosen: tuple[int, ...], style: Style | None = None) -> Made:
        """The generated function for these kinds and differentiated parameters, and its captures; in a style,
        but that powers are not assumed to be real if one was complex for these kinds.
        """
        met = refusals.last
        style = style or Style(flat=self._options.compile is not None)
        if kinds in self._complex:
            style = replace(style, real_powers=False)
        function, before = self._plain(kinds, style)
        key = *self._options.key, chosen, kinds, style
        generator = Generator(style=style)

        def make() -> Made:
            return self._generate(function, kinds, chosen, generator)

        with collection_paused():
            made, captures = share(function, key, make, generator.assigns)
        refusals.last = met  # a refused attempt that was given up is no refusal
        return made, [*before, *captures]

    def _generate(
        self, function: FunctionType, kinds: tuple[Kind, ...], chosen: tuple[int, ...], generator: Generator
    ) -> Made:
        options, names = self._options, function.__code__.co_varnames
        request = Request(
            function,
            options.form,
            tuple(names[k] for k in chosen),
            options.is_bare,
            kinds,
            options.has_aux,
            options.outputs,
            options.writes,
            options.careful,
            tuple(names[k] for k in sorted(options.unchanged)),
            is_linked=options.is_linked,
            outlived=options.outlived,
            axes=options.axes,
            out_axis=options.out_axis,
        )
        try:
            made = generator.derivative(request)
        except (S2sadError, LengthWanted):
            raise
        except Exception as error:
            refuse_failed_generation(error, function)
        return made, generator.captures

    def _plain(self, kinds: tuple[Kind, ...], style: Style | None = None) -> Made:
        """The function to differentiate (for a derivative, its code for these kinds), and its captures."""
        inner = self.target.function
        if isinstance(inner, FunctionType):
            return inner, []
        found: Made = inner.made_for_kinds(kinds, style)
        return found

    def made_for_kinds(self, kinds: tuple[Kind, ...], style: Style | None = None) -> Made:
        """The generated function for arguments of these kinds (in forward mode followed by tangents)."""
        given = self.current()
        own = kinds[: len(given.names)]
        chosen = given.chosen_by_kinds(own)
        if self.form == "jvp" and len(kinds) != len(own) + len(chosen):
            raise NonDifferentiableError(
                f"{self!r} is differentiated, and some of its arguments carry no derivative",
                instead="give jvp the argnums of those that do",
            )
        return self._made(own, chosen, style)

    @property
    def gives_gradients(self) -> bool:
        """Whether a call returns gradients alone, and nothing that the function made."""
        return self.form == "grad" and not self.has_aux

    def function_for_kinds(
        self, args: list[Kind], keywords: dict[str, Kind], style: Style | None = None
    ) -> tuple[FunctionType | None, list[Capture]]:
        """The generated function for arguments of these kinds, and its captures; None where they do not fit.
        """
        kinds = None if self.is_dynamic else self._given.kinds_in_call(args, keywords)
        return (None, []) if kinds is None else self.made_for_kinds(kinds, style)

    # ------------------------------------------------------------ showing

    @property
    def __wrapped__(self) -> FunctionType:
        """The generic generated function, so that `inspect.getsource` and `help` show it."""
        met = refusals.last
        try:
            return self._generic()
        except S2sadError as error:  # `inspect.signature` looks for the attribute
            refusals.last = met
            raise AttributeError(str(error)) from None

    def _generic(self) -> FunctionType:
        kinds = self._unknown_kinds()
        return self._made(kinds, self._given.chosen_by_kinds(kinds))[0]

    def assumed_kinds(self) -> tuple[Kind, ...]:
        """The kinds of all parameters that code without examples is shown for."""
        inner = self.target.function
        is_plain = isinstance(inner, FunctionType)
        return assumed_kinds(inner, self.parameters) if is_plain else self._unknown_kinds()

    def _unknown_kinds(self) -> tuple[Kind, ...]:
        return tuple(UNKNOWN for _ in self.parameters)

    @property
    @at_border
    def source(self) -> str:
        """The generated source that assumes nothing of the arguments, but that slices are set of arrays: it
        says so.
        """
        kinds = self.assumed_kinds()
        source = inspect.getsource(self.version_for_kinds(kinds)[0])
        return told_assumptions(self.parameters, kinds) + source

    @at_border
    def source_for(self, *args: Any, **keywords: Any) -> str:
        """The generated source that a call with these arguments runs; tangents may be left out."""
        return inspect.getsource(self.function_for(*args, **keywords))

    @at_border
    def function_for(self, *args: Any, **keywords: Any) -> FunctionType:
        """The generated function that a call with these arguments runs: plain code, to compile or to read.
        Tangents may be left out.
        """
        given = self.current()
        if self.form == "jvp" and len(args) > given.count:
            primals, _, taken = given.split(args, keywords, self.__name__)
            return plain_form(self.function_of(primals, taken))
        return plain_form(self.function_of(given.bind(args, keywords)))

    def kinds_of_call(self, *args: Any, **keywords: Any) -> tuple[Kind, ...]:
        """The kinds of all parameters for which the code of a call with these arguments is generated."""
        primals = self.bind(args, keywords)
        self.function_of(primals)  # finds the lengths that kinds must contain
        return self._given.kinds(primals, self._exact)

    def version_for_kinds(self, kinds: tuple[Kind, ...]) -> tuple[FunctionType, tuple[int, ...]]:
        """The generated function for these kinds of all parameters, and the positions of those that it
        differentiates.
        """
        chosen = self._given.chosen_by_kinds(kinds)
        return plain_form(self._made(kinds, chosen)[0]), chosen

    def generate_with(self, generator: Generator, args: tuple[Any, ...] | None = None) -> Target:
        """Generates the code for these arguments (None: the code that is shown) again, with a generator that
        may watch passes; returns the function that it differentiates.
        """
        if args is None:
            kinds = self.assumed_kinds()
            chosen = self._given.chosen_by_kinds(kinds)
        else:
            kinds, chosen = self.kinds_of_call(*args), self.chosen(self.bind(args, {}))
        with collection_paused():
            self._generate(self._plain(kinds)[0], kinds, chosen, generator)
        return self.target

    # ------------------------------------------------------------ being differentiated

    @property
    def primal(self) -> Callable[..., Any]:
        """The callable that it is the derivative of, as the user passed it."""
        return self._f

    @property
    def primal_signature(self) -> inspect.Signature:
        """The signature of the function itself."""
        return self._given.primal_signature()

    @property
    def is_dynamic(self) -> bool:
        """Whether its calls are dynamic calls: some arguments are bound, or tangents follow the arguments."""
        return self.form == "jvp" or bool(self.target.args or self.target.keywords)

    @property
    def target(self) -> Target:
        return self.current().target

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of all parameters of the function behind it, bound ones first."""
        return self._given.names

    @property
    def defaults(self) -> tuple[str, ...]:
        """The names of the parameters that have a default."""
        return self._given.defaults

    @property
    def positions(self) -> tuple[int, ...]:
        """The positions that `argnums` names among all parameters."""
        return self._given.wrt

    @property
    def options(self) -> Options:
        return self._options

    @property
    def exact_lengths(self) -> frozenset[int]:
        """The lengths of arguments that kinds contain."""
        return self._exact

    @property
    def form(self) -> str:
        return self._options.form

    @property
    def argnums(self) -> Argnums:
        return self._options.argnums

    @property
    def has_aux(self) -> bool:
        return self._options.has_aux

    def without_last(self, count: int) -> Derivative:
        """The same derivative, whose last `count` parameters `argnums` does not count."""
        return self._with(self._f, replace(self._options, trailing=count)) if count else self

    def in_form(self, form: str, argnums: Argnums) -> Derivative:
        """A derivative of the same function in another form."""
        return self._with(self._f, replace(self._options, form=form, argnums=argnums))

    def of(self, f: Any, leading: int) -> Derivative:
        """The same derivative of another function, which takes `leading` more arguments in front."""
        options, trailing = self._options, len(self.parameters) - self._given.stop
        unchanged = frozenset(k + leading for k in options.unchanged)
        own = replace(options, leading=options.leading + leading, trailing=trailing, unchanged=unchanged)
        return self._with(f, own)

    # ------------------------------------------------------------ being an object

    def with_options(self, options: Options) -> Self:
        """A derivative of the same function with other options."""
        return self._with(self._f, options)

    @classmethod
    def _with(cls, f: Callable[..., Any], options: Options) -> Self:
        derivative = cls.__new__(cls)
        derivative._f, derivative._options = f, options
        derivative._begin()
        return derivative

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return bound_like(self._f, self, instance, owner)

    def __reduce__(self) -> Any:
        return reduce_derivative(self, self._with, (self._f, self._options))

    def __repr__(self) -> str:
        return f"<{self.form} of {self.__qualname__}>"


provide(Derivative=Derivative)
