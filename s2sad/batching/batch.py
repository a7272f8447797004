"""Writes a program in single assignment for many calls at once: see `batch`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from ..kinds import domain
from ..kinds.lattice import (
    UNKNOWN,
    Array,
    Dict,
    Kind,
    Likeness,
    List,
    Literal,
    Numeric,
    Scalar,
    Text,
    Tuple,
    widen,
)
from ..kinds.queries import dtype_of, items_of
from ..runtime import adjoints, batches
from ..transforms.analyses.definitions import Definitions
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.operations import Apply, Build, Call, Item, index_items, is_append
from ..transforms.differentiation.generated_names import Objects
from ..transforms.differentiation.generation import Generation
from ..transforms.trees.nodes import (
    assign,
    assigned_names,
    attribute,
    call,
    constant,
    function,
    load,
    located,
    subscript,
    tuple_of,
)
from ..transforms.trees.program import Program
from ..transforms.trees.rebuild import rebuilt, substitute
from .batched_calls import batched_call, whole_axis
from .find_batched import Batched, Elements, FindBatched, Linker, part_of

__all__ = ["Batch", "Batcher", "batch"]

DTYPES = {"float": "float64", "complex": "complex128", "real": None, "number": None, "integer": None}
ZEROS = (np.zeros_like, adjoints.zeros_like)


@dataclass(frozen=True)
class Batch:
    """A batched program, what simplification needs of it, whether a run changes nothing that is there before
    it, and the form of its result.
    """

    program: Program
    generation: Generation
    is_alone: bool
    form: Batched


def batch(
    facts: Facts,
    link: Linker,
    wrt: tuple[str, ...],
    axes: tuple[int, ...] = (),
    results: tuple[bool, ...] | None = None,
    out_axis: int = 0,
    as_computed: Callable[[], bool] = lambda: False,
) -> Batch:
    """The program for many calls at once: the parameters `wrt` have an axis more, at `axes` (in front), along
    which each is the value of one call, and so has the result, at `out_axis`; of a tuple, `results` says
    which items do, or if it is to be `as_computed`, those that depend on the call.

    `link` gives the batched code of the callee of a call for the arguments that have the axis. Raises
    UnsupportedSyntaxError where calls would go different ways, or change what they share.
    """
    batcher = Batcher(facts, link, wrt, out_axis)
    return batcher.batch(axes or (0,) * len(wrt), results, as_computed)


class Batcher(Objects):
    """The names and statements of a batched program."""

    def __init__(self, facts: Facts, link: Linker, wrt: tuple[str, ...], out_axis: int) -> None:
        super().__init__(facts.program, facts.primitives)
        self.facts, self.kind = facts, facts.kind
        self.found = FindBatched(facts, wrt, link)
        self.form, self.refuse = self.found.atom, self.found.refuse
        self.wrt, self.out_axis = wrt, out_axis
        self.count = self.names.fresh("count")
        self.changes = bool(self.found.changed)
        self.definitions = Definitions(facts.program.tree)

    def batch(
        self, axes: tuple[int, ...], results: tuple[bool, ...] | None, as_computed: Callable[[], bool]
    ) -> Batch:
        tree = self.program.tree
        *statements, last = tree.body
        count = self.named(len) if len(self.wrt) == 1 else load(self.bind("same_length", batches.same_length))
        body = [assign(self.count, call(count, *map(load, self.wrt))), *self.block(statements)]
        form: Batched = self.form(last.value)
        if as_computed():
            value = last.value
        elif results is None:
            form = self.whole(self.kind(last.value), last)
            value = self.placed(self.lifted(last.value, form, last), form)
        else:
            value = self.items(last.value, results, last)
        body.append(located(gast.Return(value=value), last))
        kinds = {n: self.batched_kind(k, self.found.of.get(n, False)) for n, k in self.facts.kinds.items()}
        kinds[self.count] = Scalar("int")
        for name, axis in zip(self.wrt, axes, strict=True):
            if axis:
                moved = self.names.temporary(name)
                body = substitute(body, {name: load(moved)})
                kinds[moved] = kinds[name]
                front = self.applied(np.moveaxis, [load(name), constant(axis), constant(0)])
                body.insert(0, assign(moved, front))
        new = function(self.names.fresh(f"{tree.name}_batched"), tree.args, body)
        made = self.program.with_tree(new, names=self.names, bindings=self.bindings, origins=self.origins)
        return Batch(made, Generation(frozenset(), frozenset(), kinds), self.found.changes_nothing(), form)

    def items(self, value: Any, results: tuple[bool, ...], s: Any) -> Any:
        """The returned tuple with those items that have the axis."""
        items = self.items_of(value)
        if any(self.form(i) and not wanted for i, wanted in zip(items, results, strict=True)):
            self.refuse(s, "a result that all calls share")
        return tuple_of([self.lifted(i, w, s) if w else i for i, w in zip(items, results, strict=True)])

    def whole(self, kind: Kind, s: Any) -> Batched:
        """The form of a value of this kind whose numbers all have the axis."""
        match kind:
            case Tuple(items):
                return tuple(self.whole(k, s) for k in items)
            case List(_, element):
                return Elements(self.whole(element, s))
            case Dict(pairs):
                forms = {self.whole(k, s) for _, k in pairs}
                return Elements(forms.pop()) if len(forms) == 1 else self.refuse(s, "a result of this form")
            case Literal(None) | Text():
                return False
        return True

    def placed(self, value: Any, form: Batched) -> Any:
        """The result with its axis at `out_axis`."""
        if not self.out_axis or form is False:
            return value
        if isinstance(value, (gast.Name, gast.Subscript)) and isinstance(form, tuple):
            value = tuple_of([subscript(value, constant(k)) for k in range(len(form))])
        if isinstance(value, gast.Tuple) and isinstance(form, tuple):
            return rebuilt(value, elts=[self.placed(e, f) for e, f in zip(value.elts, form, strict=True)])
        if form is not True:
            self.refuse(value, "a result of this form, with its axis elsewhere than in front")
        return self.applied(np.moveaxis, [value, constant(0), constant(self.out_axis)])

    def items_of(self, value: Any) -> list[Any]:
        """The items of the tuple that is returned."""
        operation = self.value_of(value)
        if isinstance(operation, gast.Tuple):
            return list(operation.elts)
        self.refuse(value, "a result that is no tuple")
        return []

    def value_of(self, atom: Any) -> Any:
        """The expression that a name is assigned, if that is done once."""
        return self.definitions.value(atom.id) if isinstance(atom, gast.Name) else None

    def batched_kind(self, kind: Kind, form: Batched) -> Kind:
        """The kind of a value with the axis."""
        plain = widen(kind)
        match form:
            case False:
                return kind
            case True if isinstance(plain, Scalar):
                return Array(DTYPES.get(plain.dtype, plain.dtype), (None,))
            case True if isinstance(plain, Array):
                return Array(plain.dtype, None if plain.dims is None else (None, *plain.dims))
            case True if isinstance(plain, Numeric):
                return Array(None, None)
            case tuple() if isinstance(plain, Tuple) and len(plain.items) == len(form):
                items = zip(plain.items, form, strict=True)
                return Tuple(tuple(self.batched_kind(k, f) for k, f in items), plain.cls)
            case Elements(part) if isinstance(plain, List):
                held = None if plain.items is None else tuple(self.batched_kind(k, part) for k in plain.items)
                return List(held, self.batched_kind(plain.element, part))
            case Elements(part) if isinstance(plain, Dict):
                return Dict(tuple((key, self.batched_kind(k, part)) for key, k in plain.items))
        return UNKNOWN

    # ------------------------------------------------------------ statements

    def block(self, statements: list[Any]) -> list[Any]:
        return [new for s in statements for new in self.statement(s)]

    def statement(self, s: Any) -> list[Any]:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                want = self.found.of.get(name, False)
                if not want and not self.found.reads(value):
                    return [s]
                new, have = self.value(value)
                zeros = self.made(value, new) if want is True and have is False else None
                if zeros is not None:
                    new, have = zeros, True
                elif have != want and not self.is_new(value) and self.is_seen_to_change(load(name), want):
                    self.refuse(s, f"`{name}`, which changes and has the axis only sometimes,")
                return [assign(name, self.as_form(new, have, want, s), s)]
            case gast.Assign(targets=[gast.Subscript() as target]) | gast.AugAssign(
                target=gast.Subscript() as target
            ):
                return [self.store(s, target)]
            case gast.Expr(value=gast.Call(args=[item]) as value) if is_append(s, self.facts):
                form = self.form(value.func.value)
                if not isinstance(form, Elements):
                    return [s]
                lifted = self.lifted(item, form.each, s)
                return [rebuilt(s, value=rebuilt(value, args=[lifted]))]
            case gast.If():
                return [rebuilt(s, body=self.block(s.body) or [gast.Pass()], orelse=self.block(s.orelse))]
            case gast.For(target=target, iter=iterable):
                self.check_targets(target, self.found.items(iterable, s), s)
                new = self.iterable(iterable, target)
                return [rebuilt(s, iter=new, body=self.block(s.body) or [gast.Pass()])]
            case gast.While():
                return [rebuilt(s, body=self.block(s.body))]
            case gast.Assign(targets=[gast.Tuple(elts=elts)], value=value):
                self.check_targets(s.targets[0], self.form(value), s)
                return [self.unpacked(s, elts, value)]
            case _ if any(self.found.of.get(name, False) for name in assigned_names(s)):
                self.refuse(s, "a variable that this statement sets")
        return [s]

    def check_targets(self, target: Any, form: Batched, s: Any) -> None:
        """Refuses names that what is unpacked into them does not give the axis."""
        if isinstance(target, gast.Tuple):
            for k, part in enumerate(target.elts):
                self.check_targets(part, part_of(form, k), s)
        elif self.found.of.get(target.id, False) != form:
            self.refuse(s, f"`{target.id}`, which has the axis only sometimes,")

    def unpacked(self, s: Any, targets: list[Any], value: Any) -> Any:
        """`a, b = x` of an array: of its first axis behind that of the calls."""
        return rebuilt(s, value=self.moved(value)) if self.form(value) is True else s

    def iterable(self, node: Any, target: Any) -> Any:
        """What a loop goes over: the values of the first axis behind that of the calls."""
        parts = target.elts if isinstance(target, gast.Tuple) else []
        match node:
            case gast.Call(args=args) if self.program.resolve(node.func) is zip and len(parts) == len(args):
                return rebuilt(node, args=[self.iterable(a, t) for a, t in zip(args, parts, strict=True)])
            case gast.Call(args=[of]) if self.program.resolve(node.func) is reversed:
                return rebuilt(node, args=[self.iterable(of, target)])
            case gast.Call(args=[of, *rest]) if len(parts) == 2 and self.found.reads(of):
                return rebuilt(node, args=[self.iterable(of, parts[1]), *rest])
            case gast.Call():
                if self.found.reads(node):
                    self.refuse(node, "this loop")
                return node
        if any(isinstance(p, gast.Tuple) for p in parts) and self.form(node) is True:
            self.refuse(node, "a loop over parts of parts of an array")
        return self.moved(node, bool(parts)) if self.form(node) is True else node

    def moved(self, node: Any, twice: bool = False) -> Any:
        """The array with the axis of the calls behind its first one, or behind two that are unpacked."""
        rank = self.rank(node)
        if self.found.is_changed(node) and rank == 1 + twice:
            self.refuse(node, f"a loop over `{node.id}`, which changes,")
        if rank is None or rank < 1 + twice:
            self.refuse(node, f"a loop over `{node.id}`, whose axes are not known,")
        if twice:
            return self.applied(np.moveaxis, [node, constant(0), constant(2)])
        return self.applied(np.swapaxes, [node, constant(0), constant(1)])

    def store(self, s: Any, target: Any) -> Any:
        base = target.value
        match self.form(base):
            case False:
                return s
            case Elements(each):
                if isinstance(s, gast.AugAssign):
                    self.refuse(s, "a change of an item of a container")
                return rebuilt(s, value=self.lifted(s.value, each, s))
            case tuple():
                self.refuse(s, "a change of a tuple")
        if self.found.reads(target.slice):
            if self.is_mask(target.slice, base) and self.rank(s.value) == 0 and not self.form(s.value):
                return s
            index, moves = self.index_of_each(base, target.slice) or (None, ())
            index = None if moves else index
        else:
            index = self.index(base, target.slice)
        rank = self.rank_of_item(base, target.slice)
        is_known = rank is not None and self.rank(s.value) is not None
        if index is None or (self.form(s.value) and not is_known):
            self.refuse(s, "a store at indices that are not known")
        if self.form(s.value) and (self.rank(s.value) or 0) > (rank or 0):
            self.refuse(s, "a store of a value with more axes than its place")
        value = self.aligned(s.value, rank or 0)
        place = gast.Subscript(value=base, slice=index, ctx=gast.Store())
        if isinstance(s, gast.AugAssign):
            return rebuilt(s, target=place, value=value)
        return rebuilt(s, targets=[place], value=value)

    # ------------------------------------------------------------ expressions

    def numpy(self, name: str) -> Any:
        return attribute(load(self.bind(*self.primitives.array_module())), name)

    def rank(self, node: Any) -> int | None:
        """The number of axes of one call's value."""
        return domain.rank(self.kind(node))

    def literal(self, node: Any) -> tuple[Any] | None:
        """The value of an expression, in a tuple, if it is known; also of a tuple of known integers."""
        made = self.value_of(node) if isinstance(node, gast.Name) else node
        if isinstance(made, gast.Tuple):
            items = [self.literal(e) for e in made.elts]
            return None if None in items else (tuple(i[0] for i in items if i is not None),)
        return domain.literal_of(self.kind(node))

    def is_real(self, node: Any) -> bool:
        return bool(domain.is_real(self.kind(node)))

    def is_complex(self, node: Any) -> bool:
        return (dtype_of(self.kind(node)) or "").startswith("complex")

    def is_float_array(self, node: Any) -> bool:
        kind = self.kind(node)
        return isinstance(kind, Array) and kind.dtype == "float64"

    def is_number(self, node: Any) -> bool:
        """Whether a value is a number or array, or the shape of one."""
        return bool(domain.is_numeric(self.kind(node))) or isinstance(self.kind(node), Likeness)

    def is_integer(self, node: Any) -> bool:
        return bool(domain.is_integer(self.kind(node)))

    def rank_of_items(self, node: Any) -> int | None:
        """The number of axes of the items of a list or tuple; None where that is not known, or differs."""

        def rank(kind: Kind) -> int | None:
            parts = parts_of(kind)
            return domain.rank(kind) if parts is None else 1 if set(map(domain.rank, parts)) == {0} else None

        ranks = set(map(rank, parts_of(self.kind(node)) or ()))
        return ranks.pop() if len(ranks) == 1 else None

    def kind_of_part(self, node: Any) -> Kind:
        """The kind of an atom, or of an item of a tuple."""
        found: Kind = self.kind(node)
        if isinstance(node, gast.Subscript):
            found = domain.item_kind(self.kind_of_part(node.value), node.slice, self.kind)
        return found

    def aligned(self, node: Any, rank: int) -> Any:
        """An operand that broadcasts against values of this rank, behind the axis of the calls."""
        own = self.rank(node)
        if self.form(node) is not True or own is None or own >= rank:
            return node
        return self.with_axes(node, rank - own)

    def with_axes(self, node: Any, more: int) -> Any:
        """The value with axes of length one between that of the calls and its own."""
        return subscript(node, tuple_of([whole_axis(), *[constant(None)] * more]))

    def lifted(self, node: Any, want: Batched, s: Any) -> Any:
        """An atom in this form."""
        return self.as_form(node, self.form(node), want, s)

    def as_form(self, node: Any, have: Batched, want: Batched, s: Any) -> Any:
        """An expression of the form `have` in the form `want`."""
        if have == want:
            return node
        if isinstance(node, gast.Name) and self.is_seen_to_change(node, want):
            self.refuse(s, f"`{node.id}`, which changes and has the axis only sometimes,")
        match want:
            case True if have is False and self.kind(node) is Literal(0.0):
                return call(self.numpy("zeros"), load(self.count))
            case True if have is False and isinstance(self.kind_of_part(node), (List, Tuple)):
                made = self.applied(np.array, [node])
                return call(load(self.bind("replicate", batches.replicate)), made, load(self.count))
            case True if isinstance(have, Elements) and have.each is True:
                return self.applied(np.stack, [node], axis=constant(1))
            case True if have is False:
                return call(load(self.bind("replicate", batches.replicate)), node, load(self.count))
            case tuple() if isinstance(node, gast.Tuple):
                pairs = zip(node.elts, want, strict=True)
                return rebuilt(node, elts=[self.lifted(e, w, s) for e, w in pairs])
            case tuple() if isinstance(node, (gast.Name, gast.Subscript)):
                parts = have if isinstance(have, tuple) else (False,) * len(want)
                items = [subscript(node, constant(k)) for k in range(len(want))]
                triples = zip(items, parts, want, strict=True)
                return tuple_of([self.as_form(i, h, w, s) for i, h, w in triples])
            case Elements(each) if isinstance(node, gast.List):
                return rebuilt(node, elts=[self.lifted(e, each, s) for e in node.elts])
            case Elements(each) if isinstance(node, gast.Dict):
                return rebuilt(node, values=[self.lifted(e, each, s) for e in node.values])
        if have is False and is_whole(want):
            return call(load(self.bind("replicate_items", batches.replicate_items)), node, load(self.count))
        return self.refuse(s, "a container of another form")

    def is_seen_to_change(self, node: Any, want: Batched) -> bool:
        """Whether a value may change in place after a copy of it with the axis was made."""
        is_shared = want is not True and self.changes and not self.is_display(node)
        return self.found.is_changed(node) or is_shared

    def is_new(self, value: Any) -> bool:
        """Whether an expression surely makes a value that nothing else holds."""
        operation = self.facts.operation(value)
        if isinstance(operation, Apply):
            return self.facts.sharing(operation) == "fresh"
        return isinstance(value, (gast.Constant, gast.Tuple, gast.List, gast.Dict))

    def is_display(self, node: Any) -> bool:
        """Whether a name is a list, tuple or dict of numbers as it was written, which nobody else holds."""
        return isinstance(self.value_of(node), (gast.Tuple, gast.List, gast.Dict))

    def value(self, value: Any) -> tuple[Any, Batched]:
        """An expression for all calls, and its form."""
        operation = self.facts.operation(value)
        form = self.found.value(value)
        match operation:
            case Apply() if self.found.is_of_shape(operation):
                return self.of_shape(operation, value), form
            case Apply() if form:
                return batched_call(self, operation), form
            case Call() if form:
                return self.linked(operation), form
            case Item(base=base, index=index) if self.form(base) is True or self.found.reads(index):
                return self.item(base, index, value), form
            case Build(node=gast.Tuple() | gast.List() | gast.Dict()) if form:
                return self.built(value, form), form
        return value, form

    def made(self, value: Any, new: Any) -> Any:
        """Zeros with the axis, in place of zeros without; None for any other value."""
        match self.facts.operation(value):
            case Apply(function=function, args=[x], keywords=()) if function in ZEROS:
                if self.is_float_array(x):
                    shape = gast.Starred(value=self.applied(np.shape, [new.args[0]]), ctx=gast.Load())
                    return self.applied(np.zeros, [tuple_of([load(self.count), shape])])
        return None

    def linked(self, operation: Call) -> Any:
        """A call of a function's batched code."""
        link, _ = self.found.linked(operation)
        named = dict(operation.keywords)
        given = [*operation.args]
        for name, value in link.parameters[len(given) :]:
            given.append(named[name] if name in named else self.default(name, value))
        return call(load(self.bind(f"{link.name}_batched", link.function)), *given)

    def default(self, name: str, value: Any) -> Any:
        """The default of a parameter that a call does not pass."""
        is_literal = value is None or isinstance(value, (bool, int, float, str))
        return constant(value) if is_literal else load(self.bind(name, value))

    def built(self, node: Any, form: Batched) -> Any:
        """A display with its items in the form."""
        if isinstance(node, gast.Tuple):
            return node
        place = "values" if isinstance(node, gast.Dict) else "elts"
        each = form.each if isinstance(form, Elements) else form
        return rebuilt(node, **{place: [self.lifted(e, each, node) for e in getattr(node, place)]})

    def of_shape(self, operation: Apply, value: Any) -> Any:
        """A function of the shape of an operand: that of the value of the first call."""
        forms = [self.form(a) for a in operation.args]
        if not any(forms) or (operation.function is len and forms[0] is not True):
            return value
        if any(f not in (True, False) for f in forms):
            self.refuse(value, "the shape of a container")
        args = [subscript(a, constant(0)) if f else a for a, f in zip(operation.args, forms, strict=True)]
        return self.applied(operation.function, args, **dict(operation.keywords))

    def applied(self, function: Any, args: list[Any], **keywords: Any) -> Any:
        """A call of a function, by the name that generated code reads it by."""
        return call(self.named(function), *args, **keywords)

    def named(self, function: Any) -> Any:
        """The expression for a function: an attribute of NumPy, or a name."""
        name = getattr(function, "__name__", "function")
        module = self.primitives.array_module()[1]
        is_numpys = getattr(module, name, None) is function
        return self.numpy(name) if is_numpys else load(self.bind(name, function))

    def each(self, operation: Apply) -> Any:
        """The calls of a function one after the other."""
        kind = self.found.kind_of_value(operation.node)
        helper = batches.each_tuple if isinstance(kind, Tuple) else batches.each
        flags = []
        for a in operation.args:
            if self.form(a) not in (True, False):
                self.refuse(operation.node, "a container that is passed to a function")
            flags.append(constant(bool(self.form(a))))
        called = self.named(operation.function)
        keywords = dict(operation.keywords)
        helper_ = load(self.bind(helper.__name__, helper))
        return call(helper_, called, tuple_of(flags), *operation.args, **keywords)

    def item(self, base: Any, index: Any, value: Any) -> Any:
        is_other = self.found.reads(index)  # another one in each call
        rank = self.rank_of_item(base, index)
        if is_other and not (rank and self.found.is_changed(base)):
            new = self.item_of_each(base, index)
            if new is not None:
                return new
        new = None if is_other else self.index(base, index)
        if new is not None:
            return self.own(subscript(base, new), base, self.rank_of_item(base, index))
        if any(isinstance(i, gast.Slice) for i in index_items(index)) or isinstance(index, gast.Tuple):
            self.refuse(value, "indices that are not known")
        is_copy = rank == 0 or isinstance(self.kind(index), Array)
        if self.found.is_changed(base) and not is_copy:
            self.refuse(value, "a view at another place for each")
        return self.each(Apply(operator.getitem, (base, index), (), value))

    def item_of_each(self, base: Any, index: Any) -> Any:
        """The items that are at another place in each call; None as for `index_of_each`."""
        found = self.index_of_each(base, index)
        if found is None:
            return None
        item = subscript(base, found[0])
        return self.applied(np.moveaxis, [item, *map(constant, found[1])]) if found[1] else item

    def index_of_each(self, base: Any, index: Any) -> tuple[Any, tuple[int, ...]] | None:
        """The index of the items that are at another place in each call, and which axis of the result comes
        to which place; None for masks and slices of several lengths.
        """
        items = index_items(index)
        picks = [k for k, i in enumerate(items) if not isinstance(i, gast.Slice)]
        if any(self.found.reads(i) for i in items if isinstance(i, gast.Slice)):
            return None
        if not all(is_position(self.kind(items[k])) for k in picks):
            return None
        rank = max(self.rank(items[k]) or 0 for k in picks)
        first, last = picks[0], picks[-1]
        is_whole = self.form(base) is True
        if (rank or not is_whole) and (picks != list(range(first, last + 1)) or rank > 1):
            return None
        new = [self.aligned(i, rank) if k in picks else i for k, i in enumerate(items)]
        if is_whole:
            calls = self.applied(np.arange, [load(self.count)])
            new.insert(0, self.with_axes(calls, rank) if rank else calls)
        elif rank and first:
            return None
        moves: tuple[int, ...] = ()  # the indexed axis behind slices stands with that of the calls
        if first and (rank or not is_whole):
            moves = (1, 1 + first) if is_whole else (first, 0)
        return new[0] if len(new) == 1 else tuple_of(new), moves

    def is_mask(self, index: Any, base: Any) -> bool:
        """Whether an index is an array of truth values, one for each number of the base."""
        kind = self.kind(index)
        is_bool = isinstance(kind, Array) and kind.dtype == "bool"
        return is_bool and self.form(index) is True and self.rank(index) == self.rank(base) is not None

    def own(self, item: Any, base: Any, rank: int | None) -> Any:
        """An item, copied if it is a number in one call and its array changes in place: here it is a view."""
        if not self.found.is_changed(base) or (rank is not None and rank > 0):
            return item
        if rank is None:
            self.refuse(base, "an item that may be a number or an array")
        return call(attribute(item, "copy"))

    def index(self, base: Any, index: Any) -> Any:
        """The index behind the axis of the calls; None where the result would have its axes in another order,
        or is not known.
        """
        items = index_items(index)
        picks = [k for k, i in enumerate(items) if not isinstance(i, gast.Slice) and self.picks(i)]
        arrays = [k for k in picks if isinstance(self.kind(items[k]), (Array, List))]
        if any(self.picks(i) is None for i in items if not isinstance(i, gast.Slice)):
            return None
        if arrays and picks != list(range(picks[0], picks[-1] + 1)):
            return None
        return tuple_of([whole_axis(), *items])

    def picks(self, item: Any) -> bool | None:
        """Whether a part of an index is a number or array; None where that is not known."""
        kind = self.kind(item)
        literal = domain.literal_of(kind)
        if literal is not None and (literal[0] in (None, ...) or isinstance(literal[0], slice)):
            return False
        return True if isinstance(widen(kind), (Scalar, Array, List)) else None

    def rank_of_item(self, base: Any, index: Any) -> int | None:
        """The number of axes of `base[index]` in one call."""
        return domain.rank(domain.item_kind(self.kind(base), index, self.kind))


def parts_of(kind: Kind) -> tuple[Kind, ...] | None:
    """The kinds of the items of a list or tuple, or of each of them; None for other values."""
    return items_of(kind) or ((kind.element,) if isinstance(kind, List) else None)


def is_position(kind: Kind) -> bool:
    """Whether a part of an index is an integer, or an array of integers."""
    wide = widen(kind)
    return isinstance(wide, (Scalar, Array)) and (wide.dtype or "").startswith(("int", "uint"))


def is_whole(form: Batched) -> bool:
    """Whether all numbers of a value have the axis."""
    parts = form if isinstance(form, tuple) else (form.each,) if isinstance(form, Elements) else ()
    return form is True or (bool(parts) and all(map(is_whole, parts)))
