"""Derivative functions, made: source, normal form, kinds, differentiation, simplification, a function.

A `Generator` serves one request and what it leads to: the derivatives of the user's functions that are
called, each for the kinds it is called with, linked directly. It notes every outside name that the result
depends on (`captures`), so that the caller can tell later whether the result still holds.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import gast

from . import domain
from .analysis import lowered
from .arguments import check_call, check_type
from .arity import call_method, call_star, has_stars, of_arity
from .compiled import make_function
from .constructors import makes_plainly
from .effects import changes_outside
from .function_state import state_of
from .judgements import is_float, is_number, is_pure_call, stays_starred, users_names
from .kind_values import kind_of
from .kinds import UNKNOWN, Kind, Literal, Record
from .members import super_of
from .primitives import PRIMITIVES
from .promoted import KnownObjects, is_unseen
from .source import FunctionSource, has_written_defaults, read_source
from .specialise import class_scope, classes_read, has_objects, hoist_reads, put_in_methods
from .transforms import (
    Watch,
    differentiate_forward,
    differentiate_reverse,
    find_kinds,
    normalise,
    simplify,
    to_single_assignment,
    unwatched,
)
from .transforms.check_fields import check_fields, check_iteration
from .transforms.emit import Link
from .transforms.errors import NoSourceError, S2sadError, UnsupportedSyntaxError, missing_rule
from .transforms.expand_stars import expand_stars, lower_stars
from .transforms.nodes import assign, constant, load, located, tuple_of, walk
from .transforms.operations import Call, Operation, classify
from .transforms.printer import to_source
from .transforms.program import MISSING, Names, Program, Scope
from .transforms.promote_fields import drop_holding, promote_fields
from .transforms.rebuild import rebuilt

__all__ = ["Capture", "Generated", "Generator", "Request", "capture_key"]


MANY_KINDS = 12  # of arguments of one function, after which they are taken as unknown


@dataclass(frozen=True)
class Request:
    """A derivative to make: of which function, in which form, for which parameters, and for which kinds of
    all of them.
    """

    function: FunctionType
    form: str  # "grad", "value_and_grad", "vjp" or "jvp"
    wrt: tuple[str, ...]
    bare: bool
    kinds: tuple[Kind, ...]
    has_aux: bool = False
    outputs: str | tuple[str, ...] | None = None  # the parameters whose changed values are the result
    writes: bool = False  # whether the function may change its arguments
    careful: bool = False  # whether somebody may take the exceptions of its forward sweep: all are raised


@dataclass
class Generated:
    """A finished derivative."""

    name: str
    source: str
    program: Program
    function: Any = None  # a FunctionType; as such it would look like a method to type checkers


@dataclass(frozen=True)
class Capture:
    """A free name that a derivative was generated under the assumption of."""

    scope: Scope
    name: str
    path: tuple[str, ...] = ()  # of attributes of a module or class

    def value(self) -> Any:
        found = self.scope.lookup(self.name)
        for attribute in self.path:
            found = getattr(found, attribute, MISSING)
        return found

    def key(self) -> Any:
        return id(self.scope.globals), id(self.scope.cells.get(self.name)), self.name, self.path


FIXED = frozenset(
    {"numpy", "scipy", "math", "cmath", "operator", "functools", "itertools", "s2sad"}
)  # nobody rebinds what is in these


def dotted(node: Any) -> list[str]:
    """The parts of a dotted path."""
    return [node.id] if isinstance(node, gast.Name) else [*dotted(node.value), node.attr]


def capture_key(value: Any, name: str) -> Any:
    """What a derivative assumes of the object that a free name means: a builtin or module itself, of a
    function its state, else only the kind.
    """
    if isinstance(value, FunctionType):
        return state_of(value)
    if isinstance(value, (BuiltinFunctionType, ModuleType, type, property)):
        return value
    if isinstance(value, MethodType):  # a class method: bound anew whenever it is looked up
        function = value.__func__
        return state_of(function) if isinstance(function, FunctionType) else function
    kind = kind_of(value, name)
    if kind is UNKNOWN:
        check_type(name, value)
        return id(value) if callable(value) else type(value)
    return kind


@dataclass
class Generator:
    """Makes derivatives of one function and of those that it calls."""

    captures: dict[Any, Capture] = field(default_factory=dict)
    made: dict[Request, Generated] = field(default_factory=dict)
    programs: dict[Any, Program | None] = field(default_factory=dict)
    result_kinds: dict[Any, Kind] = field(default_factory=dict)
    changing: dict[Any, bool] = field(default_factory=dict)
    derivatives: dict[Any, Any] = field(default_factory=dict)
    requests: dict[Request, Request] = field(default_factory=dict)
    seen_kinds: dict[Any, set[Any]] = field(default_factory=dict)
    watch: Watch = unwatched  # is told of the passes of the first request
    _first: Request | None = None
    _pending: list[tuple[FunctionType, str, Request]] = field(default_factory=list)

    # ------------------------------------------------------------ programs

    def read(self, function: FunctionType) -> tuple[FunctionSource, Program]:
        source = read_source(function)
        names = {n.id for n in walk(source.tree) if isinstance(n, gast.Name)}
        return source, Program(source.tree, source.scope, source.filename, source.lines, names=Names(names))

    def plain(self, function: Any, args: list[Kind], keywords: dict[str, Kind]) -> Any:
        """The plain function that a call runs: of a derivative, the code generated for these kinds; of a
        function with star parameters, the one for this number of arguments.
        """
        make = getattr(type(function), "function_for_kinds", None)
        if isinstance(function, functools._lru_cache_wrapper):
            return self.plain(function.__wrapped__, args, keywords)
        if make is None:
            return self.of_arity(function, len(args), keywords)
        key = (id(function), tuple(args), tuple(keywords.items()))
        if key not in self.derivatives:
            made, captures = make(function, args, keywords)
            self.captures.update({c.key(): c for c in captures})
            self.derivatives[key] = made
        return self.derivatives[key]

    def of_arity(self, function: Any, count: int, keywords: Iterable[str]) -> Any:
        """The function itself; of one with star parameters, that for calls with so many arguments."""
        if not has_stars(function):
            return function
        key = (function, count, tuple(keywords))
        if key not in self.derivatives:
            try:
                self.derivatives[key] = of_arity(*key)
            except S2sadError:
                raise
            except TypeError:  # a call that raises when it is reached
                self.derivatives[key] = function
        return self.derivatives[key]

    def normal_form(self, function: FunctionType) -> Program:
        """The function in normal form, before calls are inlined; its free names are noted."""
        key = function
        if key not in self.programs:
            _, program = self.read(function)
            program = normalise(program, self._watch_of(function))
            self.note_captures(program)
            self.programs[key] = program
        found = self.programs[key]
        assert found is not None
        return found

    def note_captures(self, program: Program) -> None:
        for n in walk(program.tree):
            if isinstance(n, gast.Name) and n.id not in program.locals and n.id not in program.bindings:
                scope = program.scope
                if n.id in scope.cells or n.id in scope.globals:
                    self.note(Capture(scope, n.id))
            elif isinstance(n, gast.Attribute) and program.resolve(n) is not MISSING:
                root, *path = dotted(n)
                if getattr(program.scope.lookup(root), "__name__", "").partition(".")[0] not in FIXED:
                    self.note(Capture(program.scope, root, tuple(path)))

    def note(self, capture: Capture) -> None:
        self.captures[capture.key()] = capture

    def inlinable(self, function: Any, call: Any) -> Program | None:
        """The normal form of a user's function for a call, or None for what is declared or has no source."""
        if (
            not isinstance(function, FunctionType)
            or PRIMITIVES.find_rule(function) is not None
            or PRIMITIVES.is_nondifferentiable(function)
            or PRIMITIVES.refusal(function) is not None
            or PRIMITIVES.is_dynamic(function, len(call.args), [])
            or PRIMITIVES.is_builder(function)
        ):
            return None
        function = self.of_arity(function, len(call.args), [k.arg for k in call.keywords])
        if has_stars(function):
            return None
        try:
            return self.normal_form(function) if has_written_defaults(function) else None
        except NoSourceError:
            return None

    def single_assignment(self, function: FunctionType, kinds: Mapping[str, Kind]) -> Program:
        """The single-assignment form of a function for arguments of these kinds."""
        program = self.normal_form(function)
        objects = has_objects(program, kinds)
        key = ("ssa", function, tuple(kinds.values()) if objects else None)
        if key not in self.programs:

            def put_in(program: Program) -> Program:
                program = put_in_methods(program, lambda p: self.kinds(p, kinds), self.inlinable)
                known = KnownObjects(program, kinds, self.kinds(program, kinds), self.may_change)
                return promote_fields(program, known, PRIMITIVES.helper)

            program = to_single_assignment(
                program, self.inlinable, self._watch_of(function), put_in if objects else None
            )
            if objects:
                program = hoist_reads(program, self.kinds(program, kinds), self.may_change)
            self.programs[key] = program
        found = self.programs[key]
        assert found is not None
        return found

    def expanded(self, function: FunctionType, given: Mapping[str, Kind]) -> tuple[Program, dict[str, Kind]]:
        """The function in single assignment with its calls with stars written out as far as kinds allow, and
        the kinds of its names.
        """
        program = self.single_assignment(function, given)
        kinds = self.kinds(program, given)

        def kind(node: Any) -> Kind:
            return domain.kind_of_atom(node, kinds, program)

        while (new := expand_stars(program, lambda atom: domain.shape_of(kind(atom)))) is not program:
            program, kinds = new, self.kinds(new, given)
        new = lower_stars(program, lambda call: stays_starred(call, program, kind), call_star, call_method)
        return (program, kinds) if new is program else (new, self.kinds(new, given))

    @property
    def first(self) -> Request:
        """The request that this generator serves."""
        assert self._first is not None
        return self._first

    def _watch_of(self, function: FunctionType) -> Watch:
        return self.watch if self._first is not None and function is self._first.function else unwatched

    # ------------------------------------------------------------ kinds

    def kinds(self, program: Program, kinds: Mapping[str, Kind]) -> dict[str, Kind]:
        found = find_kinds(program, kinds, PRIMITIVES, domain, self.kind_of_call)
        for cls, name in classes_read(program, found):
            self.note(Capture(class_scope(cls), cls.__name__, (name,)))
        return found

    def kind_of_call(self, operation: Call, args: list[Kind], keywords: dict[str, Kind]) -> Kind:
        """The kind of what a user's function returns for arguments of these kinds."""
        if operation.function is object.__new__ and isinstance(made := getattr(args[0], "value", None), type):
            return Record(made, ()) if makes_plainly(made) else UNKNOWN
        if operation.function is super and len(args) == 2:
            classes = [getattr(kind, "value", None) for kind in args]
            return Literal(super_of(*classes)) if all(isinstance(c, type) for c in classes) else UNKNOWN
        function = self.plain(operation.function, args, keywords)
        if not isinstance(function, FunctionType) or has_stars(function) or starred(operation):
            return UNKNOWN
        try:
            bound = self.bind_kinds(function, args, keywords)
        except NoSourceError:
            return UNKNOWN
        if bound is None:
            return UNKNOWN
        key = (function, tuple(bound.items()))
        if key not in self.result_kinds:
            self.result_kinds[key] = UNKNOWN  # what a recursive call meets
            try:
                program, found = self.expanded(function, bound)
            except UnsupportedSyntaxError:  # to be raised where the function's derivative is made
                return UNKNOWN
            result = program.tree.body[-1].value
            self.result_kinds[key] = domain.kind_of_atom(result, found)
        return self.result_kinds[key]

    def may_change(self, operation: Operation, kind: Callable[[Any], Kind]) -> bool:
        """Whether a call of a function without a rule, known now, may change something that it is given."""
        if not isinstance(operation, Call) or operation.function in (MISSING, object.__new__, getattr):
            return False
        if starred(operation):
            return True
        args, keywords = [kind(a) for a in operation.args], {k or "": kind(v) for k, v in operation.keywords}
        function = self.plain(operation.function, args, keywords)
        bound = self.bind_kinds(function, args, keywords) if isinstance(function, FunctionType) else None
        if bound is None:  # a wrong call is told when it is linked
            return not isinstance(operation.function, (FunctionType, type))
        key = (function, tuple(bound.items()))
        if key not in self.changing:
            self.changing[key] = False  # what a recursive call meets
            try:
                program, kinds = self.expanded(function, bound)

                def inner(node: Any) -> Kind:
                    return domain.kind_of_atom(node, kinds, program)

                self.changing[key] = changes_outside(
                    program,
                    kinds,
                    lambda call: self.may_change(classify(call, program, PRIMITIVES, inner), inner),
                )
            except (NoSourceError, UnsupportedSyntaxError):
                self.changing[key] = True
        return self.changing[key]

    def bind_kinds(
        self, function: FunctionType, args: list[Kind], keywords: dict[str, Kind]
    ) -> dict[str, Kind] | None:
        """The kinds of a function's parameters in a call, or None when the call does not fit."""
        source = read_source(function)
        parameters = parameter_names(source.tree)
        by_position = parameters[: len(parameters) - len(source.tree.args.kwonlyargs)]
        bound = dict(zip(by_position, args, strict=False))
        if len(args) > len(by_position) or set(bound) & set(keywords) or not set(keywords) <= set(parameters):
            return None
        bound.update(keywords)
        for name in parameters:
            if name not in bound:
                if name not in source.defaults:
                    return None
                bound[name] = kind_of(source.defaults[name], f"{function.__qualname__}.{name}")
        seen = self.seen_kinds.setdefault(function, set())
        key = tuple(bound[name] for name in parameters)
        if key not in seen and len(seen) >= MANY_KINDS:  # of a recursion that builds them up
            return dict.fromkeys(parameters, UNKNOWN)
        seen.add(key)
        return {name: bound[name] for name in parameters}

    # ------------------------------------------------------------ derivatives

    def derivative(self, request: Request) -> FunctionType:
        """The derivative function; those that it calls are made too."""
        if self._first is None:
            self._first = request
        self.generate(request)
        for request_, generated in list(self.made.items()):
            if generated.function is None:
                self.compile(request_, generated)
        for function, name, wanted in self._pending:
            target = self.made[wanted].function
            cell = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))[name]
            cell.cell_contents = target
        self._pending.clear()
        made: FunctionType = self.made[request].function
        return made

    def generate(self, request: Request) -> Generated:
        if request not in self.made:
            given = dict(
                zip(parameter_names(read_source(request.function).tree), request.kinds, strict=True)
            )
            program, kinds = self.expanded(request.function, given)
            generated = self.made[request] = Generated("", "", program)
            result = self.transform(program, kinds, request)
            generated.program, generated.name, generated.source = (
                result,
                result.tree.name,
                to_source(result.tree),
            )
        return self.made[request]

    def transform(self, program: Program, kinds: Mapping[str, Kind], request: Request) -> Program:
        given = dict(zip(parameter_names(program.tree), request.kinds, strict=True))
        before = program
        if request.outputs is not None:
            program = with_outputs(program, request.outputs)
        program, aux = split_aux(program) if request.has_aux else (program, None)
        if program is not before:
            kinds = self.kinds(program, given)
        watch = self.watch if request is self._first else unwatched
        analysis = lowered(program, kinds, lambda p: self.kinds(p, given), self.may_change, watch)
        program, kinds, changes = analysis.program, analysis.kinds, analysis.changes
        active = analysis.active(request.wrt)
        check_iteration(program, active, lambda node: PRIMITIVES.is_object(analysis.kind(node)))
        unseen = partial(is_unseen, program, analysis.kind)
        check_fields(program, active, analysis.varies, unseen, not request.writes)
        shadowed = analysis.shadowed(active, request.writes)

        def link(
            operation: Call,
            keys: list[int | str],
            args: list[Kind],
            keywords: dict[str, Kind],
            careful: bool = False,
        ) -> Link:
            return self.link(program, request, operation, keys, args, keywords, careful)

        if request.form == "jvp":
            result, generation = differentiate_forward(
                program, kinds, active, list(request.wrt), PRIMITIVES, domain, link, changes, shadowed
            )
        else:
            result, generation = differentiate_reverse(
                program,
                kinds,
                active,
                list(request.wrt),
                PRIMITIVES,
                domain,
                link,
                request.form,
                request.bare,
                aux,
                changes,
                shadowed,
                request.careful,
            )
        result = drop_holding(result, PRIMITIVES.helper("holding"))
        watch("differentiate", result)
        return simplify(
            result,
            generation,
            lambda call: is_pure_call(call, result),
            lambda e, is_one: is_float(e, is_one, result, kinds, generation.derivatives),
            lambda e: is_number(e, kinds),
            users_names(program),
            request.careful,
            watch,
        )

    def link(
        self,
        program: Program,
        request: Request,
        operation: Call,
        keys: list[int | str],
        args: list[Kind],
        keywords: dict[str, Kind],
        careful: bool,
    ) -> Link:
        """The derivative that a call in differentiated code uses."""
        function = operation.function
        if function is MISSING:
            name = (
                operation.callee.attr if isinstance(operation.callee, gast.Attribute) else operation.callee.id
            )
            return Link(name, None, ())
        function = self.plain(function, args, keywords)
        bound = self.bind_kinds(function, args, keywords) if isinstance(function, FunctionType) else None
        if bound is None:
            if isinstance(function, FunctionType):
                check_call(function, len(args), list(keywords), program.where(operation.node))
            raise missing_rule(function, PRIMITIVES.refusal(function), program.where(operation.node))
        source = read_source(function)
        parameters = parameter_names(source.tree)
        wrt = tuple(parameters[k] if isinstance(k, int) else k for k in keys)
        form = "jvp" if request.form == "jvp" else "vjp"
        bare = len(wrt) == 1
        wanted = Request(function, form, wrt, bare, tuple(bound[p] for p in parameters), careful=careful)
        wanted = self.requests.setdefault(wanted, wanted)
        self.generate(wanted)
        return Link(source.tree.name, wanted, tuple((p, source.defaults.get(p)) for p in parameters))

    def compile(self, request: Request, generated: Generated) -> None:
        bindings = dict(generated.program.bindings)
        waiting: dict[str, Request] = {}
        for name, value in bindings.items():
            if isinstance(value, Request):
                waiting[name] = value
                bindings[name] = None
        generated.function = make_function(
            generated.source, generated.name, generated.program.scope, bindings, like=request.function
        )
        if request.form != "jvp":
            generated.function.__defaults__ = request.function.__defaults__
            generated.function.__kwdefaults__ = request.function.__kwdefaults__
        self._pending.extend(
            (generated.function, name, wanted)
            for name, wanted in waiting.items()
            if name in generated.function.__code__.co_freevars
        )


def starred(operation: Call) -> bool:
    """Whether what a call passes is known at run time only."""
    return any(isinstance(a, gast.Starred) for a in operation.args) or None in dict(operation.keywords)


def with_outputs(program: Program, outputs: str | tuple[str, ...]) -> Program:
    """The program that returns what it has made of parameters, in the place of its own result."""
    names = (outputs,) if isinstance(outputs, str) else outputs
    result = load(outputs) if isinstance(outputs, str) else tuple_of(map(load, names))
    *body, last = program.tree.body
    if isinstance(result, gast.Name):
        return program.with_tree(
            rebuilt(program.tree, body=[*body, located(gast.Return(value=result), last)])
        )
    out = program.names.copy()
    name = out.fresh("out")
    built = [assign(name, result, last), located(gast.Return(value=load(name)), last)]
    return program.with_tree(
        rebuilt(program.tree, body=[*body, *built]), names=out, locals=program.locals | {name}
    )


def split_aux(program: Program) -> tuple[Program, Any]:
    """A program that returns `(value, aux)` made one that returns the value, and the atom that holds aux."""
    names = program.names.copy()
    *body, last = program.tree.body
    value, aux = names.fresh("value"), names.fresh("aux")
    items = [
        assign(name, gast.Subscript(value=last.value, slice=constant(k), ctx=gast.Load()), last)
        for k, name in enumerate((value, aux))
    ]
    tree = gast.FunctionDef(
        **{f: getattr(program.tree, f) for f in program.tree._fields if f != "body"},
        body=[*body, *items, located(gast.Return(value=load(value)), last)],
    )
    return program.with_tree(
        located(tree, program.tree), names=names, locals=program.locals | {value, aux}
    ), load(aux)


def parameter_names(tree: Any) -> list[str]:
    """The names of a function's parameters, positional ones first."""
    return [n.id for n in [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]]
