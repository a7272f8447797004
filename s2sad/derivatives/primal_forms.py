"""The forms of functions that derivatives are generated from, each made once: normal form, single assignment
for arguments of some kinds, and the kinds and effects of calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from types import FunctionType
from typing import Any

import gast

from ..analysis.check_namespaces import refuse_method_changes
from ..analysis.constructors import has_maker, maker_of, replacer_of
from ..analysis.effect_summaries import CallEffects
from ..analysis.expression_facts import stays_starred
from ..analysis.facts import facts_of
from ..analysis.heap_facts import has_heap, nature_of
from ..analysis.inactive_calls import leave_inactive_calls
from ..analysis.kind_summaries import CallKinds
from ..analysis.object_facts import KnownObjects
from ..analysis.outer_bindings import declared_outside
from ..analysis.primitive_table import PRIMITIVES, NumPy
from ..analysis.records import Slot
from ..kinds import domain
from ..kinds.class_members import replaced_tuple
from ..kinds.join import join
from ..kinds.lattice import UNKNOWN, Array, Kind, Literal, Nothing, Record, Tuple
from ..kinds.memory import Memory
from ..kinds.static_lengths import want_length
from ..kinds.wrapped_functions import unwrapped
from ..lowering.callable_objects import CallableClasses, are_named, methods_to_objects
from ..lowering.checkpoint_loops import expand_checkpoint_loops
from ..lowering.dispatch import dispatch_methods
from ..lowering.expand_asdict import converter_of, is_converter
from ..lowering.gradient_blocks import expand_gradient_blocks
from ..lowering.guard_powers import guard_powers, without_needless_guards
from ..lowering.heap_functions import HeapCalls
from ..lowering.inline_closures import inline_known_functions
from ..lowering.inline_generators import is_list_of_items, refuse_generators, refuse_unknown_items
from ..lowering.inline_methods import (
    ROUNDS,
    asks_for_kinds,
    calls_of_functions,
    class_scope,
    classes_read,
    has_objects,
    has_starred_calls,
    hoist_reads,
    inline_changing_functions,
    inline_methods,
    without_untaken,
)
from ..lowering.lambda_lifting import lifted_closures
from ..lowering.linked_heap import shared_memory, with_shared_memory
from ..lowering.name_methods import name_methods
from ..lowering.outer_objects import (
    changes_outer_objects,
    outer_objects_first,
    reads_outer_objects,
    refuse_open_calls,
    with_outer_objects,
)
from ..lowering.pipeline import lowered
from ..lowering.returned_outputs import refuse_rebound, with_outputs
from ..lowering.self_recursion import is_within
from ..lowering.tables_to_arrays import tables_to_arrays
from ..lowering.unroll import LoopFacts, may_have_items_apart, with_items_apart
from ..primitives.code_reach import is_library_code, is_own
from ..primitives.record import stand_in, takes_arrays
from ..source.fixed_arity import call_method, call_star, has_stars, of_arity
from ..source.forwarders import is_class_method, of_class
from ..source.read import FunctionSource, defaults_of, has_written_defaults, read_source
from ..transforms import Watch, find_kinds, normalise, to_single_assignment, unwatched
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_kinds import CallFacts, Values
from ..transforms.analyses.steadiness import find_objects
from ..transforms.errors import S2sadError, describe
from ..transforms.lowering.fold_identities import fold_identities
from ..transforms.lowering.gather_appends import gather_appends
from ..transforms.lowering.merge_objects import merge_objects
from ..transforms.lowering.promote_fields import drop_unseen, promote_fields
from ..transforms.lowering.promote_items import promote_items
from ..transforms.normal_form.expand_stars import expand_stars, lower_stars
from ..transforms.normal_form.name_defaults import with_defaults
from ..transforms.normal_form.redefine_at_use import is_only_passed
from ..transforms.trees.generators import is_generator_function
from ..transforms.trees.nodes import find_nodes, statements_in
from ..transforms.trees.nodes import has_stars as has_star_arguments
from ..transforms.trees.program import MISSING, Program, Scope, names_of
from ..transforms.trees.rebuild import parameter_names
from ..values.custom_rule import rule_of
from .assumptions import Capture, calls_unknown, captured, rebound_in, unassigned, updated_in
from .deferred_refusals import Deferred

__all__ = ["Forms", "ReadsFar", "Style"]

Kinds = Mapping[str, Kind]
READ = 2000  # the most statements that the reading of a library function may lead to
MAKING = ("__init__", "__new__", "__post_init__")  # the methods that a call of a class calls
CALLING = (sorted, min, max)  # builtins that call an argument and do not keep it


@dataclass(frozen=True)
class Style:
    """How code is generated: with `real_powers`, powers of real numbers are assumed to be real; `flat` code
    calls no derivatives of other functions, where these can be inlined.
    """

    real_powers: bool = True
    flat: bool = False

    @property
    def inlined(self) -> int:
        """The most statements of a function that is inlined."""
        return 400 if self.flat else 40


class ReadsFar(Exception):
    """A library function led to more statements of libraries than are read."""


@dataclass
class Forms:
    """The forms of one function and of its callees.

    `captures` gains every free name that the forms depend on. `watch` sees each pass over the function
    `watched`.
    """

    watch: Watch = unwatched
    style: Style = field(default_factory=Style)
    rebound: set[tuple[int, str]] = field(default_factory=set)  # as in Scope
    updated: dict[Any, Capture] = field(default_factory=dict)  # names of these whose kinds matter
    watched: Any = None  # a FunctionType; as such it would look like a method to type checkers
    wrt: tuple[str, ...] = ()  # the parameters that `watched` is differentiated by
    captures: dict[Any, Capture] = field(default_factory=dict)
    deferred: Deferred = field(default_factory=Deferred)
    refused: set[Any] = field(default_factory=set)  # functions without a normal form
    reading: list[FunctionType] = field(default_factory=list)  # functions that are read, outermost first
    read_for: Counter[Any] = field(default_factory=Counter)  # statements read, by library function
    counted: set[Any] = field(default_factory=set)  # functions and kinds whose statements are counted
    recursive: set[Any] = field(default_factory=set)  # methods and closures that reach themselves
    far: dict[Any, str] = field(default_factory=dict)  # functions that are not read, with the reasons
    open_calls: set[Any] = field(default_factory=set)  # the functions, and heaps, that call dynamic functions
    programs: dict[Any, Program] = field(default_factory=dict)
    derivatives: dict[Any, Any] = field(default_factory=dict)
    whole: dict[Any, Facts] = field(default_factory=dict)  # of differentiated functions
    ready: dict[Any, Facts] = field(default_factory=dict)  # the same, lowered
    sharing: dict[Any, Facts] = field(default_factory=dict)  # the functions that share a heap, lowered for it
    linked: dict[Any, Any] = field(default_factory=dict)  # the derivatives of callees, by their requests
    outer: bool = False  # whether objects of outer scopes have variables
    derives: bool = False  # whether derivatives are taken in a function; those of closures need functions
    keeps_records: bool = True  # whether what is recorded outside has no derivative, as nothing reads it
    records: list[Slot] = field(default_factory=list)
    generated: list[tuple[Facts, tuple[str, ...]]] = field(default_factory=list)  # what may read them
    call_kinds: CallKinds = field(init=False)
    effects: CallEffects = field(init=False)
    heap_calls: HeapCalls = field(init=False)
    values: dict[Any, tuple[Scope, Values]] = field(default_factory=dict)  # closures may share their nodes

    def __post_init__(self) -> None:
        self.call_kinds, self.effects, self.heap_calls = CallKinds(self), CallEffects(self), HeapCalls(self)

    def again(self) -> Forms:
        """A `Forms` without forms that keeps the facts about names and functions, to start again with."""
        again = Forms(self.watch, self.style, self.rebound)
        again.watched, again.wrt = self.watched, self.wrt
        again.read_for, again.far = self.read_for, self.far
        again.deferred, again.keeps_records = self.deferred.again(), self.keeps_records
        return again

    def is_common(self) -> bool:
        """Whether other derivatives for arguments of these kinds would use the same forms."""
        return not self.rebound and not self.deferred.refusals and not self.call_kinds.widened

    def serves(self, wrt: tuple[str, ...], given: Kinds) -> bool:
        """Whether a derivative with respect to these parameters would use the same forms."""
        if set(wrt) == set(self.wrt):
            return True
        program = self.taken(self.normal_form(self.watched), given)
        return all(self.left(program, self.watched, given, names) is program for names in (self.wrt, wrt))

    # ------------------------------------------------------------ programs

    def read(self, function: FunctionType) -> tuple[FunctionSource, Program]:
        source = read_source(function)
        scope = replace(source.scope, rebound=self.rebound)
        names = names_of(source.tree, scope)
        text = source.filename, source.lines
        library, inlined = NumPy(), self.style.inlined
        return source, Program(source.tree, scope, *text, names=names, library=library, inlined=inlined)

    def plain(self, function: Any, args: list[Kind], keywords: dict[str, Kind]) -> Any:
        """The plain Python function that a call executes: for a derivative the code generated for these
        kinds, for a function with star parameters the one for this number of arguments.
        """
        make = getattr(type(function), "function_for_kinds", None)
        inner = unwrapped(function)
        if inner is not None:
            return self.plain(inner, args, keywords)
        if function in (replace, replaced_tuple) and len(args) == 1 and isinstance(args[0], (Record, Tuple)):
            function = replacer_of(args[0].cls, tuple(keywords)) or function
        if is_converter(function):
            function = converter_of(function, args, keywords) or function
        if has_maker(function):
            function = maker_of(function)
        if make is None:
            return self.of_arity(function, len(args), keywords)
        key = (id(function), tuple(args), tuple(keywords.items()))
        if key not in self.derivatives:
            made, captures = make(function, args, keywords, self.style)
            self.note(captures)
            self.derivatives[key] = made
        return self.derivatives[key]

    def of_arity(self, function: Any, count: int, keywords: Iterable[str]) -> Any:
        """The function itself; for one with star parameters, the one for calls with this number of arguments.
        """
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
            if function in self.far:
                what = f"{describe(function)} leads to more code of its library than is read"
                instead = f"declare a rule with `@s2sad.bprop({function.__name__})`"
                program.refuse(program.tree, what, self.far[function], instead)
            if not isinstance(program.tree, gast.FunctionDef):
                what, why = "`async def` is not differentiated", "it returns a coroutine, and no number"
                program.refuse(program.tree, what, why, "write a plain function")
            written = self.deferred.put_into(program)
            if written is not program:
                program = written
                self._watch_of(function)("defer_refusals", program)
            self.rebound |= set(rebound_in(program))
            self.updated.update({c.key(): c for c in updated_in(program)})
            program = program.with_tree(program.tree)  # which names are its own
            program = expand_checkpoint_loops(expand_gradient_blocks(program))
            program = self.normalised(program, function)
            refuse_method_changes(program)
            program = leave_inactive_calls(program, parameter_names(program.tree))
            self.note(captured(program))
            self.programs[key] = program
        return self.programs[key]

    def normalised(self, program: Program, function: FunctionType) -> Program:
        """The normal form of a function, with objects for its callables."""
        watch = self._watch_of(function)
        if not find_nodes(program.tree, gast.Nonlocal):
            called = [program.resolve(c.func) for c in find_nodes(program.tree, gast.Call)]
            self.derives |= any(isinstance(f, FunctionType) and is_own(f) for f in called)
            if self.derives or is_library_code(function) or is_own(function):
                return normalise(program, watch)
            if find_nodes(program.tree, gast.FunctionDef, gast.Lambda)[1:] and are_named(normalise(program)):
                return normalise(program, watch)
        return normalise(program, watch, CallableClasses(self.recursive))

    def is_outdated(self, known: set[tuple[int, str]]) -> bool:
        """Whether names outside of `known`, which were assumed constant, turned out to be assigned. A dynamic
        callee may assign every name that some function assigns.
        """
        if self.calls_open():
            declared = frozenset().union(*map(declared_outside, {p.lines for p in self.programs.values()}))
            captures = list(self.captures.values())
            self.rebound |= {c.name_key() for c in captures if c.may_be_assigned(declared)}
            self.note(unassigned(captures, self.rebound))
        found = self.rebound - known
        return bool(found) and any(c.name_key() in found for c in self.captures.values())

    def calls_open(self) -> bool:
        """Whether a differentiated function, or one that is called as it is, calls a dynamic function."""
        opens = {function for function, _ in self.open_calls}
        if not opens.isdisjoint(f for f, *_ in self.whole):
            return True
        todo, seen = [facts.program for facts, _ in self.generated], set[Any]()
        while todo:
            program = todo.pop()
            found = [program.resolve(n) for n in find_nodes(program.tree, gast.Name, gast.Attribute)]
            members = [vars(c).get(name) for c in found if isinstance(c, type) for name in MAKING]
            for function in {f for f in [*found, *members] if isinstance(f, FunctionType)} - seen:
                seen.add(function)
                if function in opens:
                    return True
                if function in self.programs:
                    todo.append(self.programs[function])
        return False

    def note(self, captures: Iterable[Capture]) -> None:
        self.captures.update({c.key(): c for c in captures})

    def inlinable(self, function: Any, call: Any) -> Program | None:
        """The normal form of the callee of a call; None for a primitive, or without source."""
        function = stand_in(function)
        if is_class_method(function) and PRIMITIVES.find_rule(function) is None:
            function = of_class(function.__self__, function.__func__)
        if (
            not isinstance(function, FunctionType)
            or PRIMITIVES.find_rule(function) is not None
            or PRIMITIVES.is_nondifferentiable(function)
            or PRIMITIVES.refusal(function) is not None
            or PRIMITIVES.is_dynamic(function, len(call.args), [])
            or PRIMITIVES.is_builder(function)
            or rule_of(function) is not None
            or function is replaced_tuple
            or is_converter(function)
        ):
            return None
        function = self.of_arity(function, len(call.args), [k.arg for k in call.keywords])
        if has_stars(function):
            return None
        if function in self.refused or (function in self.recursive and not is_generator_function(function)):
            return None
        try:
            if not has_written_defaults(function):
                return None
            return self.callee_form(function)
        except S2sadError:  # raised again where the function's derivative is generated
            self.refused.add(function)
            return None

    def callee_form(self, function: FunctionType) -> Program:
        """As `normal_form`, with the values of its defaults, and with variables for objects of outer scopes
        where the caller has these.
        """
        key = "callee", self.outer, function
        if key not in self.programs:
            program = with_defaults(self.normal_form(function), defaults_of(function))
            self.programs[key] = with_outer_objects(program) if self.outer else program
        return self.programs[key]

    def keeps(self, program: Program, call: Any, name: str, known: frozenset[Any] = frozenset()) -> bool:
        """Whether a function that a call gets as the argument `name` may escape: a primitive calls it, a
        user's function may pass it on. `known` are the callees that are being looked at.
        """
        function = program.resolve(call.func)
        if function is MISSING or has_star_arguments(call):
            return True
        if PRIMITIVES.find_rule(function) is not None:
            return not takes_arrays(function) and function not in CALLING
        called = self.inlinable(function, call)
        if called is None:
            return True
        if function in known:
            return False
        names = parameter_names(called.tree)
        given = {**dict(zip(names, call.args, strict=False)), **{k.arg: k.value for k in call.keywords}}
        taken = [p for p, a in given.items() if isinstance(a, gast.Name) and a.id == name]
        keeps = partial(self.keeps, called, known=known | {function})
        return not all(is_only_passed(called.tree.body, p, keeps) for p in taken)

    def single_assignment(
        self,
        function: FunctionType,
        kinds: Mapping[str, Kind],
        heap: str | None = None,
        outputs: str | tuple[str, ...] | None = None,
    ) -> Program:
        """The single-assignment form of a function for arguments of these kinds. With `heap`, "reads" or
        "writes" (whether it may change its arguments), all changes of objects are changes of a heap, and the
        function returns the parameters `outputs`, if any.
        """
        whole = self.normal_form(function)
        if is_generator_function(function):
            refuse_generators(whole)
        program = self.left(self.taken(whole, kinds), function, kinds)
        objects = has_objects(program, kinds) and not has_heap(program)
        depends = objects or program is not whole
        depends = depends or has_starred_calls(program)
        depends = depends or may_have_items_apart(program, kinds, self.style.flat)
        if not depends:
            depends = bool(calls_of_functions(self.inlined(program), self.inlinable))
        key = ("ssa", function, tuple(kinds.values()) if depends or heap else None, heap, outputs)
        if key not in self.programs:
            if heap is None:
                program = self.with_inlined_callees(program, kinds, True)
                if function in self.recursive and is_list_of_items(function):
                    refuse_unknown_items(self.facts(program, kinds))
            else:
                program = self.with_heap(program, kinds, heap == "writes", outputs)
            refuse_generators(program)
            program = to_single_assignment(program, partial(self.keeps, program), self._watch_of(function))
            if self.style.real_powers:
                program = guard_powers(program)
            if objects and heap is None:
                program = hoist_reads(self.facts(program, kinds))
            self.programs[key] = program
        return self.programs[key]

    def with_heap(
        self, whole: Program, kinds: Kinds, writes: bool, outputs: str | tuple[str, ...] | None
    ) -> Program:
        """A function in normal form with its callees inlined and a heap; first with the methods of objects
        whose classes the memory of the heap tells, and with variables for objects of outer scopes where it
        may change these.
        """
        program = self.prepared(whole, kinds, outputs)
        known: Kinds = {}
        is_known = False  # whether the memory has told kinds
        tests: Kinds = {}  # what it has told of tests of branches
        assumed = False  # whether that was of a program in which operators raise
        wrong: set[str] = set()  # names of which it has told too much
        has_outer = writes and not self.outer and reads_outer_objects(program)
        limit = 3 * len(statements_in(program.tree.body)) + 500  # what is put in may be recursive
        left: list[str] = []
        places: dict[Any, set[int]] = {}  # of calls, with the rounds in which they are met

        def met(function: Any, place: tuple[Any, ...]) -> None:
            """Notes a method whose class was told. One that is met again in what was put in is recursive."""
            rounds = places.setdefault(place, set())
            rounds.add(turn)
            is_again = len(rounds) > 2 or is_within(place[0], place[1], function)
            if isinstance(function, FunctionType) and is_again:
                self.recursive.add(function)

        for turn in range(ROUNDS):  # noqa: B007 - `met` reads it
            if has_outer and changes_outer_objects(program):
                return self.with_outer(whole, kinds, outputs)
            left = []
            lowered = self.heap_calls.lowered(program, kinds, writes, known, left)
            if lowered is program:
                break
            others = shared_memory(self.facts(lowered, kinds), kinds, self, self.heap_calls.made)
            facts, memory = others.pop(None)
            if has_outer and (memory is None or memory.stored):
                return self.with_outer(whole, kinds, outputs)
            if memory is None or len(statements_in(program.tree.body)) > limit:
                break
            self.note(Capture(class_scope(c), c.__name__, (name,)) for c, name in memory.defaults)
            own = self.facts(program, kinds, before=True)
            count = len(self.recursive)
            named = dispatch_methods(own, memory, met)
            is_told = self.dispatched(others, met)
            if len(self.recursive) > count:
                program, known, is_known = self.prepared(whole, kinds, outputs), {}, False
                self.heap_calls.cells.clear()
                continue
            if named is not program or is_told:
                program = self.prepared(named, kinds) if named is not program else program
                known, is_known = {}, False
                continue
            if known or is_known:
                found = memory.known_kinds(facts.kinds)
                reached = [(n, k) for n, k in known.items() if n in lowered.locals]
                checked = reached if assumed else [(n, k) for n, k in reached if n in tests]
                wrong = {n for n, k in checked if join(found.get(n, UNKNOWN), k) != k}
                if wrong and not left:
                    known = {n: k for n, k in known.items() if n not in wrong}
                    continue
                if not left and self.told_too_much(others):
                    continue
                break
            known, assumed = told_kinds(own, facts, memory), bool(left) or memory.raises
            tests = told_tests(own, facts, memory)
            known = {**known, **tests}
            if assumed:
                known = {n: k for n, k in known.items() if n in program.locals}
            is_known = self.told(others) or bool(known)
            if not is_known:
                break
        if left or wrong:
            lowered = self.heap_calls.lowered(program, kinds, writes, {})
        if self.outer and lowered is not program:
            refuse_open_calls(facts, memory, self.normal_form)
        return lowered

    def dispatched(self, found: Mapping[FunctionType, tuple[Facts, Memory]], met: Any) -> bool:
        """Tells the classes of objects in functions that share the heap; whether there were any."""
        is_told = False
        for function, (_, memory) in found.items():
            made = self.heap_calls.made[function]
            named = dispatch_methods(self.facts(made.source, made.kinds, before=True), memory, met)
            if named is not made.source:
                self.heap_calls.tell(function, named)
                is_told = True
        return is_told

    def told(self, found: Mapping[FunctionType, tuple[Facts, Memory]]) -> bool:
        """Tells the kinds that the memory has of names in such functions; whether there were any."""
        is_told = False
        for function, (facts, memory) in found.items():
            made = self.heap_calls.made[function]
            known = told_kinds(self.facts(made.source, made.kinds, before=True), facts, memory)
            if known:
                self.heap_calls.tell_kinds(function, known)
                is_told = True
        return is_told

    def told_too_much(self, found: Mapping[FunctionType, tuple[Facts, Memory]]) -> bool:
        """Takes back kinds told of names in such functions that no longer hold, as a function has calls now
        that another one had before; whether there were any.
        """
        is_wrong = False
        for function, (facts, memory) in found.items():
            key = self.heap_calls.made[function].key
            told, holds = self.heap_calls.known.get(key, {}), memory.known_kinds(facts.kinds)
            kept = {
                n: k
                for n, k in told.items()
                if n not in facts.kinds or join(holds.get(n, UNKNOWN), k) == k
            }
            if len(kept) < len(told):
                self.heap_calls.tell_kinds(function, kept)
                is_wrong = True
        return is_wrong

    def prepared(self, program: Program, kinds: Kinds, outputs: Any = None) -> Program:
        """A function in normal form with its callees inlined, for a heap."""
        self.programs["kept", id(program)] = program  # forms are found by `id`
        program = self.with_inlined_callees(program, kinds, False)
        program = self.without_unseen(kinds, partial(self.facts, kinds=kinds), program)
        if outputs is not None:
            refuse_rebound(program, outputs)
            program = with_outputs(program, outputs)
        return outer_objects_first(program) if self.outer else program

    def with_outer(self, whole: Program, kinds: Kinds, outputs: Any) -> Program:
        """As `with_heap`, with variables for objects of outer scopes, in callees, too."""
        self.outer = True
        try:
            return self.with_heap(with_outer_objects(whole), kinds, True, outputs)
        finally:
            self.outer = False

    def left(
        self, program: Program, function: FunctionType, given: Kinds, wrt: tuple[str, ...] | None = None
    ) -> Program:
        """A function in normal form with its inactive calls marked, for arguments of these kinds and a
        derivative with respect to `wrt`: see `leave_inactive_calls`.
        """
        carrying = {name for name, kind in given.items() if domain.is_differentiable(kind) is not False}
        if function is self.watched:
            carrying &= {*(self.wrt if wrt is None else wrt)}
        key = ("left", id(program), frozenset(carrying))
        if key not in self.programs:
            self.programs[key] = leave_inactive_calls(program, carrying)
        return self.programs[key]

    def with_inlined_callees(
        self, program: Program, kinds: Kinds, one_name: bool, places: tuple[frozenset[Any], ...] = ()
    ) -> Program:
        """A function in normal form with its callees inlined where that is possible; with `one_name`, the
        attributes of objects without aliases become variables. `places` are those of the calls that earlier
        rounds replaced: a function that is called again at one of them is recursive.
        """
        find, find_sure = partial(self.facts, kinds=kinds, before=True), partial(self.facts, kinds=kinds)
        program = self.unstarred(program, kinds)
        if has_heap(program) or not has_objects(program, kinds):
            inlined = self.inlined(program)
            program = self.unstarred(inlined, kinds)
            if program is not inlined:
                program = self.inlined(program)
        program = self.unstarred(with_items_apart(program, kinds, find_sure, self.style.flat), kinds)
        if not one_name:
            program = lifted_closures(program, only_writing=False)
        if has_objects(program, kinds) and not has_heap(program):
            find_made = partial(self.made, kinds)
            without_unseen = partial(self.without_unseen, kinds, find_made)
            loops = LoopFacts(find_made, without_unseen)
            program = inline_known_functions(program, self.inlinable, self.recursive)
            known = self.inlinable, self.recursive, one_name, loops
            program = inline_methods(find(program), find_sure(program), *known)
            program = name_methods(find(program))
            while (named := methods_to_objects(find(program))) is not program:
                program = inline_methods(find(named), find_sure(named), *known)
            if one_name:
                program = self.promoted(program, kinds)
            program = inline_known_functions(program, self.inlinable, self.recursive)
            program = lifted_closures(program, one_name)
        elif not calls_of_functions(program, self.inlinable) and not self.style.flat:
            return promote_items(program)
        now = set[Any]()

        def may_inline(function: Any, place: tuple[Any, ...]) -> bool:
            now.add(place)
            if sum(place in before for before in places) > 1:
                self.recursive.add(function)
            return function not in self.recursive

        whole = inline_changing_functions(find(program), self.inlinable, may_inline)
        is_users = not any(map(is_library_code, self.reading))
        if is_users and whole is not program and has_objects(whole, kinds) and not has_heap(whole):
            # with the methods that these call
            return self.with_inlined_callees(whole, kinds, one_name, (*places, frozenset(now)))
        whole = with_items_apart(whole, kinds, find_sure, self.style.flat)
        return promote_items(tables_to_arrays(find_sure(whole)) if self.style.flat else whole)

    def unstarred(self, program: Program, given: Kinds) -> Program:
        """A function in normal form with `f(*args)` expanded as far as kinds allow, where the callee has no
        such call itself. Asks for the length of an array that is expanded for a user's function or class.
        """
        if not has_starred_calls(program):
            return program
        key = ("unstarred", id(program), tuple(given.values()))
        if key in self.programs:
            return self.programs[key]
        kind = self.facts(program, given, before=True).kind

        def ends_there(call: Any) -> bool:
            function = program.resolve(call.func)
            if has_stars(function):
                return False
            called = self.inlinable(function, call)
            return called is None or not has_starred_calls(called)

        new = expand_stars(program, lambda atom: domain.shape_of(kind(atom)), ends_there)
        for call in find_nodes(new.tree, gast.Call):
            if isinstance(new.resolve(call.func), (FunctionType, type)):
                for k in map(kind, (a.value for a in call.args if isinstance(a, gast.Starred))):
                    if isinstance(k, Array) and k.dims:
                        want_length(k.dims[0])
        self.programs[key] = new
        return new

    def promoted(self, program: Program, given: Kinds) -> Program:
        """A function with variables for the attributes of its objects; those of objects that do not escape
        are promoted first.
        """
        find_sure = partial(self.facts, kinds=given)
        program = self.without_unseen(given, partial(self.made, given), program)
        objects = KnownObjects(find_sure(program), given)
        return promote_fields(program, objects, PRIMITIVES.helper)

    def without_unseen(self, given: Kinds, find: Callable[[Program], Facts], program: Program) -> Program:
        """A function with variables for the parts of objects, and of lists of objects, that do not escape;
        `find` finds the facts of a program, at least the classes of these objects.
        """

        def known(program: Program) -> KnownObjects:
            return KnownObjects(find(program), given)

        objects = known(program)
        while True:
            program = fold_identities(program, objects.made)
            new = drop_unseen(program, objects, PRIMITIVES.helper)
            if new is program:
                new = promote_items(gather_appends(program), objects.facts.of(find_objects))
            if new is program:
                return program
            objects = known(new)
            program = merge_objects(objects.facts)
            objects = objects if program is new else known(program)

    def taken(self, program: Program, given: Kinds) -> Program:
        """A function in normal form without the branches that the kinds of its arguments rule out, so that
        calls in these branches are not read.
        """
        if not any(isinstance(s, gast.If) for s in statements_in(program.tree.body)):
            return program
        is_generic = all(kind is UNKNOWN for kind in given.values())
        tells = any(isinstance(kind, Literal) for kind in given.values())
        if is_generic or not (tells or asks_for_kinds(program)):
            return program

        nothing = CallFacts(lambda *call: UNKNOWN, may_change=lambda *call: True)

        def find(program: Program) -> Kinds:
            return find_kinds(facts_of(program, given), nothing)

        key = ("taken", id(program), tuple(given.values()))
        if key not in self.programs:
            facts = facts_of(program, None, find_kinds=find)
            self.programs[key] = without_untaken(facts).program
        return self.programs[key]

    def inlined(self, program: Program) -> Program:
        """A function in normal form with small callees inlined."""
        key = ("inlined", id(program))
        if key not in self.programs:
            inlined = inline_known_functions(program, self.inlinable, self.recursive)
            self.programs[key] = lifted_closures(inlined)
        return self.programs[key]

    def settled(
        self,
        function: FunctionType,
        given: Mapping[str, Kind],
        heap: str | None = None,
        outputs: str | tuple[str, ...] | None = None,
    ) -> Facts:
        """As `expanded`, kept, for a function that is differentiated: the effects of its calls are final."""
        key = function, tuple(given.values()), heap, outputs
        if key not in self.whole:
            self.whole[key] = self.expanded(function, given, heap, outputs)
        return self.whole[key]

    def lowered(self, facts: Facts, watch: Watch, outer: bool) -> Facts:
        """The facts of a program, lowered; for a settled one this is done once."""
        if watch is not unwatched or not any(facts is settled for settled in self.whole.values()):
            return lowered(facts, watch, outer)
        key = id(facts), outer
        if key not in self.ready:
            self.ready[key] = lowered(facts, watch, outer)
        return self.ready[key]

    def expanded(
        self,
        function: FunctionType,
        given: Mapping[str, Kind],
        heap: str | None = None,
        outputs: str | tuple[str, ...] | None = None,
    ) -> Facts:
        """The facts of the function in single assignment, with `f(*args)` expanded as far as kinds allow."""
        if function in self.sharing:
            return self.sharing[function]
        with self.reads(function):
            facts = self.facts(self.single_assignment(function, given, heap, outputs), given)

            def shape_of(atom: Any) -> Any:
                return domain.shape_of(facts.kind(atom))

            while (new := expand_stars(facts.program, shape_of)) is not facts.program:
                facts = facts.again(new)
            facts = without_untaken(facts)
            self.count(facts.program, (function, tuple(given.values()), heap))
            facts = facts.after(without_needless_guards(facts))
            if calls_unknown(facts):
                self.open_calls.add((function, heap))
            stays = partial(stays_starred, facts=facts)
            facts = facts.again(lower_stars(facts.program, stays, call_star, call_method))
            if heap is not None:
                facts = with_shared_memory(facts, self, self.heap_calls.made)
            return facts

    @contextmanager
    def assuming(self) -> Iterator[None]:
        """While a kind is assumed: the forms and effects that are made meanwhile are dropped."""
        kept = [(table, set(table)) for table in (self.programs, self.effects.known)]
        try:
            yield
        finally:
            for table, keys in kept:
                for key in table.keys() - keys:
                    del table[key]

    @contextmanager
    def reads(self, function: FunctionType) -> Iterator[None]:
        """While a function is read."""
        self.reading.append(function)
        try:
            yield
        finally:
            self.reading.pop()

    def count(self, program: Program, key: Any) -> None:
        """Counts the statements of a library function that is read, once for each key; raises ReadsFar where
        the outermost library function has led to more than `READ`.
        """
        libraries = list(dict.fromkeys(filter(is_library_code, self.reading)))
        if libraries and libraries[-1] is self.reading[-1] and key not in self.counted:
            self.counted.add(key)
            self.read_for[libraries[0]] += len(statements_in(program.tree.body))
            if self.read_for[libraries[0]] > READ:
                names = ", ".join(f"`{f.__name__}`" for f in libraries)
                self.far[libraries[0]] = f"over {READ} statements would be read, among them those of {names}"
                raise ReadsFar

    def _watch_of(self, function: FunctionType) -> Watch:
        return self.watch if function is self.watched else unwatched

    # ------------------------------------------------------------ kinds

    def kinds(
        self,
        program: Program,
        kinds: Mapping[str, Kind],
        before: bool = False,
        made: dict[str, Kind] | None = None,
    ) -> dict[str, Kind]:
        """The kinds of a program's names. `before` says that calls are still to be inlined, so that they do
        not change objects yet; `made` gains the kinds that the names have before any change.
        """
        _, values = self.values.setdefault((id(program.scope), before), (program.scope, {}))
        forgets = self.effects.forgets
        calls = (
            CallFacts(self.call_kinds.of_hidden, self.call_kinds.of_cached, may_replace=self.effects.replaces)
            if before
            else CallFacts(self.call_kinds.of, self.call_kinds.of_cached, forgets, forgets)
        )
        found = find_kinds(facts_of(program, kinds), calls, values, made)
        read = classes_read(facts_of(program, found))
        self.note(Capture(class_scope(cls), cls.__name__, (name,)) for cls, name in read)
        return found

    def bind(
        self, function: FunctionType, args: list[Kind], keywords: dict[str, Kind]
    ) -> dict[str, Kind] | None:
        """The kinds of a function's parameters in a call, or None when the call does not fit."""
        return self.call_kinds.bind(function, args, keywords)

    def facts(self, program: Program, kinds: Kinds, before: bool = False) -> Facts:
        """The facts of a program: the kinds of its names and the effects of its calls."""
        find = partial(self.kinds, kinds=kinds, before=before)
        return facts_of(program, None, self.effects, find)

    def made(self, given: Kinds, program: Program) -> Facts:
        """The facts of a program with the kinds that its names have before any change."""
        made: dict[str, Kind] = {}
        self.kinds(program, given, before=True, made=made)
        return facts_of(program, made, self.effects)


def told_kinds(own: Facts, lowered: Facts, memory: Memory) -> Kinds:
    """The kinds of names that the memory of a program with a heap tells, and its own facts do not; unknown
    for those that only seemed to be constant.
    """
    found = {n: k for n, k in memory.known_kinds(lowered.kinds).items() if not isinstance(k, Nothing)}
    known = {n: k for n, k in found.items() if nature_of(own.kind_of_name(n)) == "unknown"}
    for name, held in memory.names.items():
        kind = own.kinds.get(name)
        varies = held.sites != frozenset() or (isinstance(kind, Literal) and found.get(name, kind) != kind)
        if kind is not None and varies and nature_of(kind) == "plain":
            known[name] = found.get(name, UNKNOWN)
    return known


def told_tests(own: Facts, lowered: Facts, memory: Memory) -> Kinds:
    """The truth values of tests of branches that the memory tells. Those in functions that share the heap are
    not told: another program may have other calls of them.
    """
    found = memory.known_kinds(lowered.kinds)
    tests = {getattr(s.test, "id", "") for s in find_nodes(own.program.tree, gast.If)}
    return {n: found[n] for n in tests if isinstance(found.get(n), Literal)}
