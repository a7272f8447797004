"""Generates derivative functions: source, normal form, kinds, differentiation, simplification, compilation.

A `Generator` serves one request, and with it the derivatives of the user's functions that are called, each
for the kinds it is called with, linked directly. It notes every outer name that the result depends on
(`captures`), so that the caller can check later whether the result still holds.
"""

from __future__ import annotations

import copy
import inspect
import re
from dataclasses import dataclass, field
from functools import partial
from types import CellType, FunctionType
from typing import Any

import gast

from ..analysis.cached_properties import refuse_cached
from ..analysis.check_fields import check_fields, check_iteration
from ..analysis.check_libraries import check_libraries, check_shadows
from ..analysis.check_mutation import refuse_written, shadowed_names, unknown_calls
from ..analysis.check_namespaces import refuse_namespace_changes
from ..analysis.expression_facts import GeneratedExpressions, users_names
from ..analysis.heap_facts import has_heap
from ..analysis.object_copies import is_copier
from ..analysis.prefers_heap import fills_dicts, leaves_objects_unknown, prefers_heap
from ..analysis.primitive_table import PRIMITIVES
from ..analysis.records import are_read_back, with_records
from ..batching.batch import batch
from ..batching.find_batched import Batched
from ..kinds.abstraction import contains
from ..kinds.foreign import libraries_in
from ..kinds.lattice import UNKNOWN, Kind, Tuple
from ..lowering.callable_objects import refuse_changing_callables, refuse_changing_specials
from ..lowering.import_globals import reads_arrays
from ..lowering.inline_methods import without_untaken
from ..lowering.returned_outputs import is_no_pair, split_aux, with_outputs
from ..lowering.unroll import without_mixed_loops
from ..lowering.without_marks import without_marks
from ..runtime.custom_rules import Expected
from ..runtime.heap import new_heap
from ..runtime.mutation import NO_PAIR
from ..source.compiling import make_function
from ..source.fixed_arity import has_stars
from ..source.locate import origin_of, origins
from ..source.read import read_source
from ..transforms import (
    GeneratedFacts,
    Watch,
    differentiate_forward,
    differentiate_reverse,
    simplify,
    to_single_assignment,
    unwatched,
)
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_active import find_active
from ..transforms.analyses.find_overwrites import outer_arrays
from ..transforms.analyses.find_unbound import refuse_unbound
from ..transforms.analyses.operations import Call
from ..transforms.differentiation.generation import Link, Task
from ..transforms.errors import (
    MissingAttributeError,
    MissingRuleError,
    S2sadError,
    SourceLocation,
    UnsupportedSyntaxError,
    missing_rule,
)
from ..transforms.trees.modules import cell_key
from ..transforms.trees.printer import Places, to_source_with_places
from ..transforms.trees.program import MISSING, Program
from ..transforms.trees.rebuild import parameter_names
from ..transforms.trees.remember import forget
from ..values.code_state import cells_of
from ..values.custom_rule import CustomRule, rule_of
from .argnums import check_call
from .assumptions import Capture, Declared
from .custom_rules import by_rule
from .deferred_refusals import with_others
from .kept_forms import keep_forms, take_forms
from .plain_objects import PLAIN, Linked, Primal, is_plain, with_plain_objects
from .primal_forms import Forms, ReadsFar, Style

__all__ = ["Generated", "Generator", "Request"]


NAMES_HEAP = re.compile(rf"{new_heap.__name__}|`d?heap")  # what no user has written


@dataclass(frozen=True)
class Request:
    """A derivative to generate: its function, its form, the differentiated parameters `wrt`, and the kinds of
    all parameters.
    """

    function: FunctionType
    form: str  # "grad", "value_and_grad", "vjp", "jvp", or "batched": the function itself, for many `wrt`
    wrt: tuple[str, ...]
    bare: bool
    kinds: tuple[Kind, ...]
    has_aux: bool = False
    outputs: str | tuple[str, ...] | None = None  # the parameters whose changed values are the result
    writes: bool = False  # whether the function may change its arguments
    careful: bool = False  # whether a caller may catch its exceptions, so that all must be raised
    unchanged: tuple[str, ...] = ()  # the parameters that the function must not change
    is_linked: bool = True  # whether generated code calls it
    outlived: bool = False  # whether its objects may be changed before the reverse sweep
    results: tuple[bool, ...] | None = None  # which items of the returned tuple have cotangents, or the axis
    axes: tuple[int, ...] = ()  # of batched code: the axes of the parameters `wrt` (in front)
    out_axis: int = 0


@dataclass
class Generated:
    """A finished derivative."""

    name: str
    source: str
    program: Program
    places: Places = field(default_factory=dict)
    guarded: bool = False  # whether it may refuse at run time a change that a heap could follow
    fills: bool = False  # whether a heap may know more: what fills dicts, and what objects are
    function: Any = None  # a FunctionType; as such it would look like a method to type checkers


class Generator:
    """Generates derivatives of one function and of its callees; `watch` sees each pass. Code in the style of
    `real_powers` raises ComplexPowerError where the power of a real number is complex.
    """

    def __init__(self, watch: Watch = unwatched, style: Style | None = None) -> None:
        self._first: Request | None = None
        self._pending: list[tuple[FunctionType, str, Request]] = []
        self._begin(Forms(watch, style or Style()))

    def _begin(self, forms: Forms) -> None:
        """Starts with these forms, and nothing generated."""
        self.forms = forms
        self.made: dict[Request, Generated] = {}
        self.refused: dict[Request, tuple[S2sadError, tuple[SourceLocation, ...]]] = {}
        self._requests: dict[Request, Request] = {}
        self.alone: set[Request] = set()  # batched code that changes nothing else
        self.recursive: set[Request] = set()  # batched code that calls itself
        self.forms_of_results: dict[Request, Batched] = {}

    @property
    def captures(self) -> list[Capture]:
        """The free names that the result depends on."""
        return [*self.forms.captures.values(), *self.forms.updated.values()]

    @property
    def first(self) -> Request:
        """The request that this generator serves."""
        assert self._first is not None
        return self._first

    def assigns(self, cell: CellType) -> bool:
        """Whether the generated code assigns a cell, or reads one that may be assigned at run time."""
        return cell_key(cell) in self.forms.rebound

    def derivative(self, request: Request) -> FunctionType:
        """The derivative function, linked to those that it calls."""
        self._first = request
        try:
            if not self.generate_from_kept(request):
                self.forms.watched, self.forms.wrt = request.function, request.wrt
                self.generate_first(request)
        finally:
            forget()
        for request_, generated in list(self.made.items()):
            if generated.function is None:
                self.compile(request_, generated)
        for function, name, wanted in self._pending:
            target = self.made[wanted].function
            cell = cells_of(function)[name]
            cell.cell_contents = target
        self._pending.clear()
        if self.forms.watch is unwatched and self.forms.is_common():
            self.forms.linked = {r: g for r, g in self.made.items() if r != request}
            keep_forms(self.forms, request.function, request.kinds)
        made: FunctionType = self.made[request].function
        if self.forms.watch is unwatched:
            self.write_plainly(request, self.made[request])
        return made

    def write_plainly(self, request: Request, generated: Generated) -> None:
        """Compiles the form of a derivative with a heap that runs in place of it, and of the derivatives that
        share the heap; these functions themselves are differentiated again.
        """
        programs = self.plain_programs(request)
        functions = {one: self.plain_function(one, program) for one, program in programs.items()}
        for one, program in programs.items():
            cells = cells_of(functions[one])
            for name, value in program.bindings.items():
                if isinstance(value, Request) and name in cells:
                    cells[name].cell_contents = functions.get(value) or self.made[value].function
                elif isinstance(value, FunctionType) and Primal(value) in functions and name in cells:
                    cells[name].cell_contents = functions[Primal(value)]
        if functions:
            setattr(generated.function, PLAIN, functions[request])

    def plain_programs(self, request: Request) -> dict[Any, Program]:
        """The forms of a derivative with a heap, and of those that share it, that run in place of these; none
        where one has no such form.
        """
        programs: dict[Any, Program] = {}
        moves = False
        todo: list[Any] = [request]
        while todo:
            one = todo.pop()
            sharing = self.forms.sharing
            is_primal = isinstance(one, Primal)
            program = sharing[one.function].program if is_primal else self.made[one].program
            linked = {
                n: v if isinstance(v, Request) else Primal(v)
                for n, v in program.bindings.items()
                if isinstance(v, (Request, FunctionType)) and getattr(v, "function", v) in sharing
            }
            own = one if one.function in sharing else None
            plain = with_plain_objects(program, Linked(own, linked)) if linked or is_plain(program) else None
            if plain is None:
                return {}
            programs[one], moves = plain[0], moves or plain[1]
            if one == request:
                first = program, Linked(own, linked, moves=True)
            todo += [v for v in linked.values() if v not in programs]
        if moves and (plain := with_plain_objects(*first)) is not None:  # its table has rows
            programs[request] = plain[0]
        return programs

    def plain_function(self, request: Any, program: Program) -> FunctionType:
        refuse_unbound(program, program)
        text, places = to_source_with_places(program.tree)
        origin = origin_of(program, places, len(request.wrt) if request.form == "jvp" else 0)
        name, bindings = program.tree.name, program.bindings
        plain = make_function(text, name, program.scope, bindings, like=request.function, origin=origin)
        if request.form != "jvp":
            plain.__defaults__ = request.function.__defaults__
            plain.__kwdefaults__ = request.function.__kwdefaults__
        return plain

    def generate_from_kept(self, request: Request) -> bool:
        """Generates the derivative from the kept forms of the function; whether that was possible."""
        new = self.forms
        kept = take_forms(request.function, request.kinds, request.wrt, new.style)
        if kept is None or new.watch is not unwatched:
            return False
        self._begin(kept)
        kept.wrt = request.wrt
        self.made |= {r: g for r, g in kept.linked.items() if r != request}
        try:
            self.generate(request)
            if not kept.is_outdated(set()) and kept.is_common() and not self.reads_records():
                return True
        except (S2sadError, ReadsFar):  # raised again with new forms
            pass
        self._begin(new)
        return False

    def generate_first(self, request: Request) -> None:
        """Generates the requested derivative; again, where outer names that were assumed constant turned out
        to be assigned, or a refusal can be deferred.
        """
        known = set(self.forms.rebound)
        try:
            self.generate(request)
            if self.reads_records():
                self._begin(self.forms.again())
                self.forms.keeps_records = False
                self.generate_first(request)
                return
        except ReadsFar:
            self._begin(self.forms.again())
            self.generate_first(request)
        except S2sadError as refusal:
            if not self.forms.is_outdated(known):
                if request.form == "batched" or not self.forms.deferred.add(refusal):
                    raise
                met = self.captures
                self._begin(self.forms.again())
                self.forms.note([*met, Declared()])
                self.generate_first(request)
        if self.forms.is_outdated(known):
            self._begin(self.forms.again())
            self.generate_first(request)

    def generate(self, request: Request) -> Generated:
        if request in self.refused:
            known, calls = self.refused[request]
            known.calls = calls
            raise known
        if request not in self.made and (rule := rule_of(request.function)) is not None:
            self.made[request] = self.by_rule(rule, request)
        elif request not in self.made:
            with self.forms.reads(request.function):
                count = len(self.forms.generated)
                try:
                    self.attempt(request)
                except (UnsupportedSyntaxError, MissingRuleError, MissingAttributeError) as refusal:
                    self.made.pop(request, None)
                    self.forms.open_calls.discard((request.function, None))
                    del self.forms.generated[count:]
                    if request.form == "batched":
                        raise
                    self.attempt_otherwise(request, refusal)
            is_users = request.function.__code__.co_filename not in origins
            made = self.made[request]
            if is_users and (made.guarded or (made.fills and request is self._first)):
                self.prefer_heap(request)
        return self.made[request]

    def by_rule(self, rule: CustomRule, request: Request) -> Generated:
        """The derivative of a function with a rule of the user's, which is called at run time."""
        program = self.forms.read(request.function)[1]
        given = dict(zip(parameter_names(program.tree), request.kinds, strict=True))
        result = self.forms.call_kinds.of_bound(request.function, given)
        expected = Expected(lambda values: True, False)
        if not rule.is_own:
            expected = self.checked_rule(rule, request, given, result)
        made = by_rule(rule, request.form, request.wrt, request.bare, expected, request.outlived)
        return Generated(made.__name__, inspect.getsource(made), program, function=made)

    def checked_rule(
        self, rule: CustomRule, request: Request, given: dict[str, Kind], result: Kind
    ) -> Expected:
        """What a rule is to return for parameters `given`; its parts must not change their arguments."""
        self.refuse_changes(request.function, request.kinds)
        pair = self.refuse_changes(rule.forward, request.kinds)
        kept = pair.items[1] if isinstance(pair, Tuple) and len(pair.items) == 2 else UNKNOWN
        self.refuse_changes(rule.backward, (kept, result))

        def fits(values: tuple[Any, ...]) -> bool:
            return contains(Tuple((*request.kinds, result)), values)

        effect = self.forms.effects.of_function(request.function, given)
        return Expected(fits, not effect.shared)

    def refuse_changes(self, function: Any, kinds: tuple[Kind, ...]) -> Kind:
        """Raises UnsupportedSyntaxError for a part of a rule that changes its arguments in place; the kind of
        its result, as far as its source can be read.
        """
        if not isinstance(function, FunctionType) or has_stars(function):
            return UNKNOWN
        try:
            parameters = tuple(parameter_names(read_source(function).tree))
            given = dict(zip(parameters, kinds, strict=True))
            facts = self.forms.settled(function, given)
        except (S2sadError, ValueError):  # it need not be differentiable
            return UNKNOWN
        refuse_written(facts, parameters)
        kind: Kind = facts.kind(facts.program.tree.body[-1].value)
        return kind

    def attempt(self, request: Request, heap: str | None = None, refusal: Any = None) -> None:
        given = dict(zip(parameter_names(read_source(request.function).tree), request.kinds, strict=True))
        outputs = None if heap is None else request.outputs
        facts = self.forms.settled(request.function, given, heap, outputs)
        if heap is None:
            refuse_namespace_changes(facts)
        generated = self.made[request] = Generated("", "", facts.program)
        result = self.transform(facts, request, refusal)
        generated.program, generated.name = result, result.tree.name
        generated.source, generated.places = to_source_with_places(result.tree)

    def attempt_otherwise(self, request: Request, refusal: S2sadError) -> None:
        """Generates a derivative of a refused function in another way: with outer arrays as variables, or
        with a heap.
        """
        known = self.forms.whole.get((request.function, request.kinds, None, None))
        if request.writes and known is not None and reads_arrays(known.program):
            try:
                self.attempt(request, refusal=refusal)
                return
            except S2sadError:
                self.made.pop(request, None)
        self.attempt_with_heap(request, refusal)

    def attempt_with_heap(self, request: Request, refusal: S2sadError) -> None:
        """Generates a derivative with a heap. Where that is refused as well, it raises that refusal, or else
        the first one: of a missing rule, and where the last one would name the heap.
        """
        try:
            if libraries_in(request.kinds) or has_heap(self.forms.normal_form(request.function)):
                raise refusal
            self.attempt(request, "writes" if request.writes else "reads")
        except S2sadError as last:
            self.made.pop(request, None)
            is_users = request.function.__code__.co_filename not in origins
            is_known = isinstance(last, UnsupportedSyntaxError) and not NAMES_HEAP.search(last.what)
            if is_users and is_known and not isinstance(refusal, MissingRuleError):
                refusal = UnsupportedSyntaxError(last.what, last.given, last.why, last.instead)
            self.refused[request] = refusal, refusal.calls
            raise refusal from None

    def prefer_heap(self, request: Request) -> None:
        """Replaces a derivative by one with a heap, if that is possible; one that has to be plain, if it is.
        """
        if libraries_in(request.kinds):
            return
        plain, heap = self.made[request], "writes" if request.writes else "reads"
        try:
            self.attempt(request, heap)
            if plain.guarded or self.plain_programs(request):
                self.forms.open_calls.discard((request.function, None))
                return
        except S2sadError:
            pass
        self.made[request] = plain
        self.forms.open_calls.discard((request.function, heap))

    def changes(self, function: FunctionType) -> bool:
        """Whether a method may change its object, or anything else."""
        try:
            names = parameter_names(read_source(function).tree)
            given = dict.fromkeys(names, UNKNOWN)
            effect = self.forms.effects.of_function(function, given)
        except S2sadError:
            return False
        return bool(effect.changed)

    def transform(self, facts: Facts, request: Request, refusal: S2sadError | None) -> Program:
        """The derivative of a program; after a `refusal`, with the outer arrays that it writes to as
        variables.
        """
        program = facts.program
        if request.form == "batched":
            return self.batched(facts, request)
        given = dict(zip(parameter_names(program.tree), request.kinds, strict=True))
        if request.outputs is not None and not has_heap(program):
            program = with_outputs(program, request.outputs)
        aux = None
        if request.has_aux:
            returned = program.tree.body[-1]
            kind = facts.kind(returned.value)
            if is_no_pair(kind):
                program.refuse(returned, *NO_PAIR)
            program, aux = split_aux(program, kind)
        facts = facts.again(program)
        facts = self.with_records(facts, request)
        program = facts.program
        refuse_changing_callables(facts, self.changes)
        refuse_changing_specials(facts, self.forms.normal_form(request.function), self.changes)
        refuse_cached(program, given, request.wrt)
        check_libraries(facts, facts.of(find_active, request.wrt), request.form != "jvp")
        watch = self.forms.watch if request is self._first else unwatched
        before = facts
        facts = without_mixed_loops(
            facts, request.wrt, lambda p: to_single_assignment(p, partial(self.forms.keeps, p))
        )
        if facts is not before:
            facts = without_untaken(facts)
        facts = self.forms.lowered(facts, watch, refusal is not None)
        if refusal is not None and not outer_arrays(facts):
            raise refusal
        program = facts.program
        active = facts.of(find_active, request.wrt)
        made = self.made[request]
        made.guarded = prefers_heap(facts, active)
        made.fills = fills_dicts(facts, active) or leaves_objects_unknown(facts, active)
        check_iteration(facts, active)
        check_fields(facts, active, not request.writes)
        met = list(unknown_calls(facts, active))
        if met:
            raise with_others(facts, request.wrt, met)
        shadowed = shadowed_names(facts, active, request.writes, request.form != "jvp")
        check_shadows(facts, shadowed)
        refuse_written(facts, request.unchanged)

        def link(
            operation: Call,
            keys: list[int | str],
            args: list[Kind],
            keywords: dict[str, Kind],
            careful: bool = False,
            results: tuple[bool, ...] | None = None,
        ) -> Link:
            try:
                return self.link(program, request, operation, keys, args, keywords, careful, results)
            except S2sadError as refusal:
                known = copy.copy(refusal)  # another call of the function meets the same refusal
                known.calls += (program.where(operation.node),)
                met.append((known, operation.node))
                return Link(name_of_callee(operation), None, ())  # as of a dynamic callee, to meet the others

        task = Task(
            request.form,
            request.wrt,
            link,
            shadowed,
            request.bare,
            aux,
            request.careful,
            linked=request.is_linked,
            results=request.results,
            outlived=request.outlived and not has_heap(program),
            changing=request.outlived or has_heap(program),
        )
        differentiate = differentiate_forward if request.form == "jvp" else differentiate_reverse
        try:
            result, generation = differentiate(facts, task)
        except Exception:
            if not met:
                raise
        if met:
            raise with_others(facts, request.wrt, met)
        result = without_marks(result)
        watch("differentiate", result)
        expressions = GeneratedExpressions(result, generation)
        generated = GeneratedFacts(result, generation, expressions, users_names(program), request.careful)
        simplified = simplify(result, generated, watch)
        outside = refuse_unbound(simplified, program)
        self.forms.note(Capture(program.scope, name) for name in outside)
        return simplified

    def batched(self, facts: Facts, request: Request) -> Program:
        """A program itself, for many values of the parameters `wrt`."""
        facts = self.forms.lowered(facts, unwatched, False)
        if has_heap(facts.program):
            facts.program.refuse(facts.program.tree, "changes of objects in batched code")
        is_called = request is not self._first

        def as_computed() -> bool:
            return is_called and request not in self.recursive

        options = request.axes, request.results, request.out_axis
        made = batch(facts, self.link_batched, request.wrt, *options, as_computed)
        if made.is_alone:
            self.alone.add(request)
        elif is_called or request.results is None:
            facts.program.refuse(
                facts.program.tree,
                f"`{facts.program.tree.name}`, which changes what is around it, or draws random numbers",
                "it would do so once for all calls",
                "call the function in a loop",
            )
        self.forms_of_results[request] = made.form
        expressions = GeneratedExpressions(made.program, made.generation)
        names = users_names(facts.program)
        generated = GeneratedFacts(made.program, made.generation, expressions, names, False)
        simplified = simplify(made.program, generated, unwatched)
        outside = refuse_unbound(simplified, facts.program)
        self.forms.note(Capture(facts.program.scope, name) for name in outside)
        return simplified

    def link_batched(
        self, operation: Call, keys: list[int | str], args: list[Kind], keywords: dict[str, Kind]
    ) -> tuple[Link, Batched | None] | None:
        """The batched code of the callee of a call, for the arguments at `keys`, and the form of its result,
        None for one that is recursive; None without source.
        """
        function = self.forms.plain(operation.function, args, keywords)
        is_plain = isinstance(function, FunctionType) and rule_of(function) is None
        bound = self.forms.bind(function, args, keywords) if is_plain else None
        if bound is None:
            return None
        source = read_source(function)
        parameters = parameter_names(source.tree)
        wrt = tuple(parameters[k] if isinstance(k, int) else k for k in keys)
        wanted = Request(function, "batched", wrt, False, tuple(bound[p] for p in parameters))
        wanted = self._requests.setdefault(wanted, wanted)
        self.generate(wanted)
        if wanted not in self.forms_of_results:
            self.recursive.add(wanted)
        link = Link(source.tree.name, wanted, tuple((p, source.defaults.get(p)) for p in parameters))
        return link, self.forms_of_results.get(wanted)

    def with_records(self, facts: Facts, request: Request) -> Facts:
        """The program with its records marked, noted in the forms. Of a derivative that another one calls
        they are not, since what that reads is not known.
        """
        forms = self.forms
        if not self.first.writes or not forms.keeps_records:
            return facts
        facts, found = with_records(facts, request.wrt)
        forms.records += found
        forms.generated.append((facts, request.wrt))
        return facts

    def reads_records(self) -> bool:
        """Whether something in the derivative may read what it recorded."""
        return bool(self.forms.records) and are_read_back(self.forms.records, self.forms.generated)

    def link(
        self,
        program: Program,
        request: Request,
        operation: Call,
        keys: list[int | str],
        args: list[Kind],
        keywords: dict[str, Kind],
        careful: bool,
        results: tuple[bool, ...] | None,
    ) -> Link:
        """The derivative that a call in differentiated code uses."""
        function = operation.function
        if function is MISSING:
            return Link(name_of_callee(operation), None, ())
        function = self.forms.plain(function, args, keywords)
        if is_copier(function):
            program.refuse(
                operation.node,
                f"`copy.{function.__name__}` of a value whose contents are known at run time only",
                "the contents of the copy, and their aliases, are not followed",
                "copy its parts: `x.copy()` of an array, `list(x)`, `dict(x)`",
            )
        is_plain = isinstance(function, FunctionType)
        bound = self.forms.bind(function, args, keywords) if is_plain else None
        if bound is None or (isinstance(operation.function, type) and function is request.function):
            if bound is None and is_plain:
                check_call(function, len(args), list(keywords), program.where(operation.node))
            raise missing_rule(function, PRIMITIVES.refusal(function), program.where(operation.node))
        source = read_source(function)
        parameters = parameter_names(source.tree)
        wrt = tuple(parameters[k] if isinstance(k, int) else k for k in keys)
        form = "jvp" if request.form == "jvp" else "vjp"
        bare = len(wrt) == 1
        kinds = tuple(bound[p] for p in parameters)
        if function in self.forms.sharing:  # one for all calls
            kinds = tuple(map(self.forms.sharing[function].kind_of_name, parameters))
        results = None if rule_of(function) is not None else results
        outlived = form == "vjp" and (request.outlived or has_heap(program))
        wanted = Request(
            function, form, wrt, bare, kinds, careful=careful, results=results, outlived=outlived
        )
        wanted = self._requests.setdefault(wanted, wanted)
        self.generate(wanted)
        given = tuple((p, source.defaults.get(p)) for p in parameters)
        return Link(source.tree.name, wanted, given, results)

    def compile(self, request: Request, generated: Generated) -> None:
        bindings = dict(generated.program.bindings)
        waiting: dict[str, Request] = {}
        for name, value in bindings.items():
            if isinstance(value, Request):
                waiting[name] = value
                bindings[name] = None
        program = generated.program
        tangents = len(request.wrt) if request.form == "jvp" else 0
        origin = origin_of(program, generated.places, tangents)
        generated.function = make_function(
            generated.source, generated.name, program.scope, bindings, like=request.function, origin=origin
        )
        if request.form != "jvp":
            generated.function.__defaults__ = request.function.__defaults__
            generated.function.__kwdefaults__ = request.function.__kwdefaults__
        self._pending.extend(
            (generated.function, name, wanted)
            for name, wanted in waiting.items()
            if name in generated.function.__code__.co_freevars
        )


def name_of_callee(operation: Call) -> str:
    """The name of the function in a call: `f` for `f(x)` and for `a.f(x)`."""
    callee = operation.callee
    name: str = callee.attr if isinstance(callee, gast.Attribute) else callee.id
    return name
