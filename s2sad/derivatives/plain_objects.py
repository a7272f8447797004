"""Writes a derivative with a heap as the program that a person would write, which changes objects in place.

    vel_1 = get_field(heap, b, "vel")                           vel_1 = b.vel
    heap = set_field(heap, b, "vel", vel_2, 0.0)                b.vel = vel_2
    ...                                                         ...
    dheap_2 = without_field(dheap, b, "vel")                    dvel_1 = d[b].vel
    dvel_1 = field_at(dheap, b, "vel", 0.0)                     d[b].vel = 0.0
    dheap = add(dheap_2, field_alone(dvel_1, b, "m"))           d[b].m += dvel_1

The versions of the heap's adjoint become one table of shadows. So each version is read before the next is
made: a later read is moved in front of the change that ends the version. Derivatives in which this cannot be
done, and those that have other changes of a heap, stay as they are, as do the functions that are
differentiated again.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import Any

import gast

from ..kinds.memory import BIRTHS
from ..runtime import adjoints, heap, heap_adjoints, heap_keys, mutation, object_graph, slots
from ..transforms.trees.bind_objects import Objects
from ..transforms.trees.nodes import (
    Comment,
    assign,
    assigned_names,
    attribute,
    blocks_of,
    call,
    constant,
    find_nodes,
    load,
    located,
    names_in,
    names_read,
    param,
    read_counts,
    same,
    statements_in,
    tuple_of,
)
from ..transforms.trees.program import MISSING, Program
from ..transforms.trees.rebuild import map_blocks, map_children, rebuilt

__all__ = ["PLAIN", "plain_form", "with_plain_objects"]

PLAIN = "__s2sad_plain__"  # the attribute of a derivative with the function that runs in place of it

MODULES = frozenset(m.__name__ for m in (heap, heap_adjoints, heap_keys, object_graph, slots))
METHODS = {  # changes of lists and dicts that are calls of methods
    "append_item": "append",
    "clear_items": "clear",
    "hold_append": "append",
    "hold_clear": "clear",
    "hold_insert": "insert",
    "insert_item": "insert",
}
FUNCTIONS = {
    "hold_order": heap_keys.reorder,
    "hold_splice": slots.splice,
    "order_items": heap_keys.reorder,
    "splice_items": slots.splice,
}
STORES = frozenset(["delete_item", "hold_delete", "hold_field", "hold_item", "set_field", "set_item"])
CHANGES = BIRTHS | STORES | METHODS.keys() | FUNCTIONS.keys()
ALONE = frozenset(["field_alone", "field_whole", "item_alone", "item_whole"])
WITHOUT = frozenset(["without_field", "without_item"])
MOVES = {  # of the adjoints of the items of a list, with the methods of their shadows
    "cleared": "clear",
    "closed": "pop",
    "closed_at": "close",
    "opened": "insert",
    "opened_at": "open",
    "permuted": "reorder",
    "unpermuted": "restore",
}
AT = frozenset(["field_at", "item_at"])
# calls that make a table of their own
TABLES = frozenset(["items_alone", "parts_alone", "rows_alone", "scattered"])
READ_TABLE = frozenset(["gathered", "items_at", "parts_at", "rows_at"])  # calls that read one


def plain_form(function: FunctionType) -> FunctionType:
    """The function that runs, and is shown, in place of a derivative; itself without one."""
    found: FunctionType = getattr(function, PLAIN, function)
    return found


class _Other(Exception):
    """A program that is not written so."""


@dataclass(frozen=True)
class Linked:
    """How derivatives that share a heap call each other; in plain code, with the table of shadows in place of
    the heap and of its adjoint:

        found_1, f_bprop = f_fprop(heap, x)          out, f_bprop = f_fprop(x)
        heap, out = found_1
        dheap, dx = f_bprop((dheap, dout))           dx = f_bprop(d, dout)

        found_1, dfound_1 = f_jvp(heap, x, dheap, dx)       out, dout = f_jvp(d, x, dx)
        heap, out = found_1
        dheap, dout = dfound_1

    `own` is the request that the derivative serves, if others call it; `requests` are those of the
    derivatives that it calls, by name. Functions that nothing active is given are called themselves: they are
    their own requests, with the form "primal".
    """

    own: Any
    requests: Mapping[str, Any]
    moves: bool = False  # whether one of them moves items of lists


@dataclass(frozen=True)
class Primal:
    """A function that shares a heap, which is called itself."""

    function: Any
    form: str = "primal"
    wrt: tuple[str, ...] = ("",)


def is_plain(program: Program) -> bool:
    """Whether a program reads or sets attributes and items as they stand."""
    marks = slots.born, slots.get_field, slots.get_item, slots.whole_field, slots.whole_item
    return any(v is mark for v in program.bindings.values() for mark in marks)


def with_plain_objects(program: Program, linked: Linked) -> tuple[Program, bool] | None:
    """The derivative with plain attributes and items, and whether it moves items of lists; None where it
    cannot be written so.
    """
    writer = _Writer(program, linked)
    try:
        return writer.run(), writer.moves
    except _Other:
        return None


class _Writer:
    def __init__(self, program: Program, linked: Linked) -> None:
        self.program, self.linked = program, linked
        self.names = program.names.copy(names_in(program.tree))
        self.objects = Objects(program, self.names)
        self.calls = _LinkedCalls(program, linked)
        self.heaps: set[str] = set()
        self.heaps = self.bound_by(lambda name, args: name in CHANGES, self.calls.heaps)
        self.tables = self.bound_by(self.makes_table, self.calls.tables)
        self.d = self.names.fresh("d" if self.names.is_free("d") else "shadows")
        self.count = itertools.count(1)
        self.current = 0  # the version of the adjoint that the shadows are
        self.versions: dict[str, int] = {}  # of each name
        self.ends: dict[int, tuple[list[Any], int]] = {}  # where a block ends a version, and its names so far
        self.log: list[str] = []  # the names that the block has bound
        self.before: list[Any] = []  # statements in front of the present one
        self.present: Any = None
        self.moves = linked.moves  # whether items of lists move
        self.earlier: set[str] = set()  # the names of reads that were moved

    # ------------------------------------------------------------ names

    def function_of(self, node: Any) -> str:
        """The name of the helper that a call calls; empty for other expressions."""
        if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name):
            return ""
        found = self.program.resolve(node.func)
        if found is adjoints.add:
            return "add"
        is_operand = found is mutation.of_operand and not self.heaps.isdisjoint(names_read(node.args[1]))
        if found is adjoints.copy_adjoint or is_operand:
            return "copy"
        if found is adjoints.zeros_like and not self.heaps.isdisjoint(names_read(node)):
            return "zeros"
        is_helper = found is not MISSING and getattr(found, "__module__", "") in MODULES
        return str(found.__name__) if is_helper else ""

    def bound_by(self, makes: Callable[[str, list[Any]], bool], others: set[str]) -> set[str]:
        """The names that are bound to the results of such calls, and to each other and to `others`."""
        found = set(others)
        statements = [
            s
            for s in statements_in(self.program.tree.body)
            if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
        ]
        while True:
            before = len(found)
            for s in statements:
                name = self.function_of(s.value)
                source = s.value.args[0] if name == "copy" else s.value
                is_made = isinstance(s.value, gast.Call) and makes(name, s.value.args)
                if is_made or (isinstance(source, gast.Name) and source.id in found):
                    found.add(s.targets[0].id)
            if len(found) == before:
                return found

    def makes_table(self, name: str, args: list[Any]) -> bool:
        if name == "add":
            return any(self.makes_table(self.function_of(a), getattr(a, "args", [])) for a in args)
        if name in ("without_parts", "zeros") or name in MOVES:
            return True
        return name in ALONE or name in WITHOUT or name in TABLES

    # ------------------------------------------------------------ writing

    def run(self) -> Program:
        tree = self.program.tree
        if self.linked.own is None:
            body = self.with_table(self.block(tree.body))
        else:
            tree, body = self.shared_body()
        kept = {*names_read(body)}
        own = self.linked.own  # a function that is called may be called in a `try`
        body = self.without_unread(body, kept, own is not None and getattr(own, "careful", True))
        new = rebuilt(tree, body=_over_items(self, body))
        body = self.sharing(_without_copies(new))
        new = rebuilt(tree, body=body)
        read = {*names_read(new.body)}
        gone = self.heaps | self.tables | self.calls.results.keys() | self.calls.pairs.keys()
        if not gone.isdisjoint(read):
            raise _Other
        bindings = {n: v for n, v in self.objects.all_bindings().items() if n in read}
        return self.program.with_tree(new, names=self.names, bindings=bindings)

    def with_table(self, body: list[Any]) -> list[Any]:
        """The body of a function, which makes the table of shadows in front of its first use."""
        first = next((k for k, s in enumerate(body) if self.d in names_read(s)), None)
        if first is None or isinstance(body[first], gast.FunctionDef):
            return body
        rows = [load(self.bound(slots.Row))] if self.moves else []
        made = located(assign(self.d, call(self.bound(slots.Shadows), *rows)), body[first])
        while first and isinstance(body[first - 1], Comment):
            first -= 1
        return [*body[:first], made, *body[first:]]

    def sharing(self, body: list[Any]) -> list[Any]:
        """The block with one name for the shadow of an object that statements in turn read or set."""
        found: list[Any] = []
        run: list[Any] = []  # statements without blocks

        def flush() -> None:
            counts = Counter(x for s in run for x in self.slots_in(s))
            named = {x: self.names.fresh(f"d{x}") for x, count in counts.items() if count > 1}
            bound = {*assigned_names(run)}
            for s in run:
                for x in dict.fromkeys(self.slots_in(s)):
                    if x in named and x not in bound and x not in made:
                        made.add(x)
                        shadow = gast.Subscript(value=load(self.d), slice=load(x), ctx=gast.Load())
                        found.append(located(assign(named[x], shadow), s))
                found.append(self.with_shadows(s, {x: named[x] for x in made if x in named}))
            run.clear()
            made.clear()

        made: set[str] = set()
        for s in body:
            if blocks_of(s) or isinstance(s, gast.FunctionDef):
                flush()
                found.append(_map_bodies(s, self.sharing))
            else:
                run.append(s)
        flush()
        return found

    def is_slot(self, node: Any) -> bool:
        match node:
            case gast.Attribute(
                value=gast.Subscript(value=gast.Name(id=d), slice=gast.Name())
            ) | gast.Subscript(value=gast.Subscript(value=gast.Name(id=d), slice=gast.Name())):
                return bool(d == self.d)
        return False

    def slots_in(self, s: Any) -> list[str]:
        """The objects of the slots `d[x].name` and `d[x][key]` in a statement."""
        nodes = find_nodes(s, gast.Attribute, gast.Subscript)
        return [n.value.slice.id for n in nodes if self.is_slot(n)]

    def with_shadows(self, node: Any, named: dict[str, str]) -> Any:
        if self.is_slot(node) and node.value.slice.id in named:
            new = rebuilt(node, value=load(named[node.value.slice.id]))
            is_field = isinstance(node, gast.Attribute)
            return new if is_field else rebuilt(new, slice=self.with_shadows(node.slice, named))
        return map_children(node, lambda n: self.with_shadows(n, named)) if named else node

    def without_unread(self, body: list[Any], read: set[str], careful: bool) -> list[Any]:
        """The block without reads and snapshots of objects that nothing reads; where something may catch what
        they raise, reads are kept.
        """
        kept = []
        for s, after in itertools.zip_longest(body, body[1:]):
            value: Any = getattr(s, "value", None)
            if self.function_of(value) == "made_item":
                item = gast.Subscript(value=value.args[0], slice=value.args[1], ctx=gast.Load())
                if not isinstance(after, gast.Assign) or not same(after.value, item):
                    kept.append(rebuilt(s, value=item))
                continue
            is_read = isinstance(s, gast.Expr) and isinstance(value, (gast.Attribute, gast.Subscript))
            if is_read and not careful:
                continue
            name = self.function_of(value)
            is_record = name in ("items_of", "key_of", "places_of")
            if is_record and (isinstance(s, gast.Expr) or s.targets[0].id not in read):
                continue
            handled = careful or (isinstance(s, gast.Try) and bool(s.handlers))
            kept.append(_map_bodies(s, partial(self.without_unread, read=read, careful=handled)))
        return kept

    def bound(self, value: Any) -> str:
        return self.objects.name(value)

    def block(self, statements: list[Any]) -> list[Any]:
        """The block in its plain form; reads of versions that are gone stand before the changes of these."""
        outer, self.ends, self.log = (self.ends, self.log), {}, []
        parts: list[list[Any]] = []
        for s in statements:
            before = self.before = []
            self.present = s
            parts += [before, self.statement(s)]
            self.log += assigned_names(s)
        self.ends, self.log = outer
        result: list[Any] = []
        for s in itertools.chain.from_iterable(parts):
            if result and (joined := self.joined(result[-1], s)) is not None:
                result[-1] = joined
            else:
                result.append(s)
        while result and isinstance(result[-1], Comment):
            result.pop()
        return result or [gast.Pass()]

    def joined(self, before: Any, s: Any) -> Any:
        """`d[x].name = v` for `d[x].name = 0.0` and `d[x].name += v`, where v is new: sums are in place."""
        match before, s:
            case (
                gast.Assign(targets=[slot], value=gast.Constant(value=0.0)),
                gast.AugAssign(target=target, value=value)
                | gast.Assign(targets=[target], value=gast.Call(args=[_, value])),
            ) if self.is_slot(target) and same(slot, target) and not self.reads_shadows(value):
                if isinstance(value, (gast.BinOp, gast.Constant, gast.Tuple, gast.UnaryOp)):
                    return rebuilt(before, value=value)
                if isinstance(s, gast.Assign) and s.value.func.id == self.bound(slots.plus):
                    return rebuilt(before, value=rebuilt(s.value, args=[constant(0.0), value]))
        return None

    def statement(self, s: Any) -> list[Any]:
        match s:
            case gast.Assign() if id(s) in self.calls.dropped:
                self.versions = {**self.versions, **dict.fromkeys(self.calls.dropped[id(s)], self.current)}
                return []
            case gast.Assign(value=gast.Call(func=gast.Name(id=name))) if name in self.linked.requests:
                return [self.linked_call(s, self.linked.requests[name])]
            case gast.Assign(value=value) if (called := self.calls.back_of(value)) is not None:
                return self.linked_bprop(s, called)
            case gast.Return() if self.linked.own is not None:
                return self.linked_return(s)
            case gast.Assign(targets=[gast.Name(id=target)]) if target in self.heaps:
                return self.change(s)
            case gast.Expr(value=value) if self.function_of(value) in CHANGES:
                return self.change(s)
            case gast.Assign(targets=[gast.Name(id=target)]) if target in self.tables:
                return self.version(s, target)
            case gast.If():
                return [self.branch(s)]
            case gast.For() | gast.While():
                return [self.loop(s)]
            case gast.FunctionDef():
                return [self.function(s)]
            case gast.Try() if self.tables.isdisjoint([*names_read(s), *assigned_names([s])]):
                return [map_blocks(s, lambda block: self.block(block) if block else [])]
            case _ if blocks_of(s):
                raise _Other
        return [self.expression(s)]

    def function(self, s: Any) -> Any:
        """A function within: the reverse sweep of a `vjp`, each of whose calls has a table, or one of the
        user's, which reads numbers.
        """
        if self.current:
            raise _Other
        versions, self.versions = self.versions, {}
        if self.linked.own is None:
            new = rebuilt(s, body=self.with_table(self.block(s.body)))
        else:
            new = self.shared_bprop(s)
        self.versions, self.current = versions, 0
        return new

    # ------------------------------------------------------------ calls that share the heap

    def shared_body(self) -> tuple[Any, list[Any]]:
        """The definition, and the body, of a derivative that is given the table by its callers."""
        tree, request = self.program.tree, self.linked.own
        given: list[Any] = [*tree.args.posonlyargs, *tree.args.args]
        token, others = given[0], given[1:]
        if token.id not in self.calls.heaps:
            raise _Other
        if request.form == "jvp":
            if request.wrt[0] == token.id:
                tangent = others.pop(len(others) - len(request.wrt))
                self.start({tangent.id})
            others.insert(0, param(self.d))
        tree = rebuilt(tree, args=rebuilt(tree.args, posonlyargs=[], args=others))
        return tree, self.block(tree.body)

    def shared_bprop(self, s: Any) -> Any:
        """The reverse sweep of such a derivative."""
        calls, given = self.calls, s.args.args[0].id
        if any(calls.is_part(n, 0) for n in find_nodes(s, gast.Subscript)):
            self.start({given})
        name = calls.dresult or self.names.fresh(given)
        calls.dresult = name
        return rebuilt(s, args=rebuilt(s.args, args=[param(self.d), param(name)]), body=self.block(s.body))

    def linked_call(self, s: Any, request: Any) -> Any:
        """A call of a derivative that is given the heap."""
        found, other = getattr(s.targets[0], "elts", (s.targets[0], None))
        _, *args = s.value.args
        given: list[Any] = []
        if request.form == "jvp":
            token = args.pop(len(args) - len(request.wrt)) if self.calls.has_heap(request) else constant(None)
            self.check_current(token)
            self.start(set())
            given, other = [load(self.d)], self.calls.result(other)
        keywords = [rebuilt(k, value=self.expression(k.value)) for k in s.value.keywords]
        value = rebuilt(s.value, args=[*given, *map(self.expression, args)], keywords=keywords)
        if request.form == "primal":
            targets = [self.calls.result(found) if other is None else other]
        else:
            targets = [self.calls.result(found), other]
        return rebuilt(s, targets=[_targets(targets)], value=value)

    def linked_bprop(self, s: Any, request: Any) -> list[Any]:
        """A call of the reverse sweep of such a derivative."""
        value = self.linked_value(s.value)
        targets = getattr(s.targets[0], "elts", s.targets)
        if self.calls.has_heap(request):
            self.start({targets[0].id})
            targets = targets[1:]
        if not targets:
            return [located(gast.Expr(value=value), s)]
        return [rebuilt(s, targets=[_targets(targets)], value=value)]

    def linked_value(self, value: Any) -> Any:
        """The call of a reverse sweep, which changes the table; changes of its argument stand in front."""
        token, dresult = self.calls.parts(value.args[0])
        dresult, before = self.expression(dresult), self.before
        is_made = self.calls.back_of(token) is not None or self.is_made(token)
        if self.version_of(token) == self.current or (self.current == 0 and not is_made):
            self.check_current(token)
        else:
            if self.reads_shadows(dresult):
                before.append(located(assign(name := self.names.temporary("d"), dresult), self.present))
                dresult = load(name)
            elif any(self.function_of(c) in AT for c in find_nodes(self.present, gast.Call)):
                raise _Other  # these are read in front, too
            before += self.of_token(token)
        self.start(set())
        return rebuilt(value, args=[load(self.d), dresult])

    def of_token(self, token: Any) -> list[Any]:
        """The changes of the table that an expression of its next version stands for."""
        if self.calls.back_of(token) is not None:
            return [located(gast.Expr(value=self.linked_value(token)), self.present)]
        name = self.names.temporary("d")
        return self.version(located(assign(name, token), self.present), name)

    def linked_return(self, s: Any) -> list[Any]:
        """The result of a derivative, or of its reverse sweep, without the heap or its adjoint."""
        parts, request = getattr(s.value, "elts", [s.value]), self.linked.own
        if request.form == "primal":
            parts = [self.calls.parts(s.value)[1]]
        elif request.form == "jvp":
            (_, result), (token, dresult) = map(self.calls.parts, parts)
            self.check_current(token)
            parts = [result, dresult]
        elif getattr(parts[-1], "id", "") in self.calls.sweeps:
            parts = [self.calls.parts(parts[0])[1], parts[1]]
        elif self.calls.has_heap(request):
            self.check_current(parts[0])
            parts = parts[1:]
        parts = list(map(self.expression, parts))
        if not parts:
            return []
        return [rebuilt(s, value=parts[0] if len(parts) == 1 else tuple_of(parts))]

    def check_current(self, node: Any) -> None:
        """Checks that an expression is the present version of the adjoint."""
        changes: list[Any] = []
        self.changes(node, changes)
        if changes:
            raise _Other

    def loop(self, s: Any) -> Any:
        place = "iter" if isinstance(s, gast.For) else "test"
        header = {place: self.expression(getattr(s, place))}
        if self.tables.isdisjoint(names_read(s.body)):
            return rebuilt(s, body=self.block(s.body), **header)
        before, carried = self.versions, self.names_of(self.current)
        self.start(carried)
        body = self.block(s.body)
        carried &= self.names_of(self.current)
        if not carried:
            raise _Other
        self.versions = {n: v for n, v in before.items() if n not in assigned_names(s.body)}
        self.start(carried)
        return rebuilt(s, body=body, **header)

    def branch(self, s: Any) -> Any:
        before, current, arms = dict(self.versions), self.current, []
        carried: set[str] | None = None
        ends = set()
        for block in (s.body, s.orelse):
            self.versions, self.current = dict(before), current
            arms.append(self.block(block) if block else [])
            found = self.names_of(self.current)
            carried = found if carried is None else carried & found
            ends.add(self.current)
        test = self.expression(s.test)
        if ends != {current} or self.tables.intersection(assigned_names(s)):
            self.versions = {n: v for n, v in before.items() if n not in assigned_names(s)}
            self.start(carried or set())
        else:
            self.versions, self.current = before, current
        orelse = [] if all(isinstance(x, gast.Pass) for x in arms[1]) else arms[1]
        return rebuilt(s, test=test, body=arms[0], orelse=orelse)

    def names_of(self, version: int) -> set[str]:
        return {name for name, v in self.versions.items() if v == version}

    def start(self, names: set[str]) -> None:
        """Starts a new version, with these names."""
        self.current = next(self.count)
        self.versions = {**self.versions, **dict.fromkeys(names, self.current)}

    def change(self, s: Any) -> list[Any]:
        """A change of objects; a copy of the heap, or its absence, is none."""
        if isinstance(s.value, (gast.Name, gast.Constant)):
            return []
        name = self.function_of(s.value)
        if name in BIRTHS:
            return []
        args, changed = [self.expression(a) for a in s.value.args], None
        match name, args:
            case ("set_field" | "hold_field"), [_, x, key, value, *_]:
                target = gast.Attribute(value=x, attr=key.value, ctx=gast.Store())
            case ("set_item" | "hold_item"), [_, x, key, value, *_]:
                target = gast.Subscript(value=x, slice=key, ctx=gast.Store())
            case ("delete_item" | "hold_delete"), [_, x, key]:
                return [located(gast.Delete(targets=[gast.Subscript(value=x, slice=key, ctx=gast.Del())]), s)]
            case "append_item", [_, x, _, value, _]:
                changed = call(attribute(x, "append"), value)
            case "insert_item", [_, x, key, value, _]:
                changed = call(attribute(x, "insert"), key, value)
            case _, [_, x, *given] if name in METHODS:
                changed = call(attribute(x, METHODS[name]), *given)
            case _, [_, *given] if name in FUNCTIONS:
                changed = call(self.bound(FUNCTIONS[name]), *given)
            case _:
                raise _Other
        if changed is not None:
            return [located(gast.Expr(value=changed), s)]
        return [located(gast.Assign(targets=[target], value=value, type_comment=None), s)]

    def version(self, s: Any, target: str) -> list[Any]:
        """A statement that makes a new version of the adjoint, as changes of the shadows."""
        if (known := self.version_of(s.value)) is not None:
            self.versions = {**self.versions, target: known}
            return []
        changes: list[tuple[str, Any, Any, Any]] = []  # a helper, object, key, and the value that is added
        self.changes(s.value, changes)
        code: list[Any] = []
        if changes:
            self.ends[self.current] = self.before, len(self.log)
            self.start({target})
        else:
            self.versions = {**self.versions, target: self.current}
        added = [v for name, _, _, v in changes if name != "called" and v is not None]
        reads = [v for v in added if self.reads_shadows(v)]
        first = {}
        if reads and len(changes) > 1:
            for v in reads:
                name = first[id(v)] = self.names.temporary("d")
                code.append(assign(name, v))
        for name, x, key, value in changes:
            value = load(first[id(value)]) if id(value) in first else value
            if name == "items_alone":
                shadow = gast.Subscript(value=load(self.d), slice=x, ctx=gast.Load())
                code.append(gast.Expr(value=call(attribute(shadow, "add"), value)))
                continue
            if name == "called":
                if reads:
                    raise _Other
                code.append(gast.Expr(value=value))
                continue
            if name in ("emptied", "extended"):
                code.append(gast.Expr(value=call(self.bound(getattr(slots, name)), load(self.d), value)))
                continue
            if name in MOVES:
                code.append(gast.Expr(value=self.moved(name, x, key)))
                continue
            slot = self.slot(name, x, key, gast.Store())
            if name in WITHOUT:
                code.append(gast.Assign(targets=[slot], value=constant(0.0), type_comment=None))
                continue
            added = gast.AugAssign(target=slot, op=gast.Add(), value=value)
            if name.endswith("_set"):
                added = gast.Assign(targets=[slot], value=value, type_comment=None)
            elif name.endswith("_whole"):
                both = call(self.bound(slots.plus), self.slot(name, x, key, gast.Load()), value)
                added = gast.Assign(targets=[slot], value=both, type_comment=None)
            code.append(added)
        return [located(c, s) for c in code]

    def version_of(self, node: Any) -> int | None:
        """The version that a name stands for, or the adjoint of the heap that a reverse sweep is given."""
        if self.calls.is_part(node, 0):
            node = node.value
        return self.versions.get(getattr(node, "id", ""))

    def moved(self, name: str, x: Any, key: Any) -> Any:
        """A call that moves the adjoints of the items of a list."""
        self.moves = True
        shadow = gast.Subscript(value=load(self.d), slice=x, ctx=gast.Load())
        given = [] if name == "cleared" else [key, constant(0.0)] if name == "opened" else [key]
        return call(attribute(shadow, MOVES[name]), *given)

    def reads_shadows(self, node: Any) -> bool:
        return any(isinstance(n, gast.Name) and n.id == self.d for n in find_nodes(node, gast.Name))

    def changes(self, node: Any, found: list[tuple[str, Any, Any, Any]]) -> None:
        """The changes that lead from the present version to the value of an expression."""
        name, args = self.function_of(node), getattr(node, "args", [])
        match name, args:
            case "", _ if self.version_of(node) == self.current:
                return
            case "", _ if isinstance(node, gast.Constant) and node.value is None and self.current == 0:
                return
            case "zeros", _ if self.current == 0:
                return
            case "", _ if self.calls.back_of(node) is not None and self.current == 0:
                found.append(("called", None, None, self.linked_value(node)))
            case "add", [a, b]:
                makes = [self.is_made(x) for x in (a, b)]
                base, other = (b, a) if makes[0] and not makes[1] else (a, b)
                self.changes(base, found)  # also that of a reverse sweep, which sees no other changes
                self.added(other, found)
            case "copy", [base, *_]:
                self.changes(base, found)
            case "without_parts", [base, record]:
                self.changes(base, found)
                found.append(("emptied", None, None, self.expression(record)))
            case _ if name in WITHOUT or name in MOVES:
                base, x, *rest = args
                self.changes(base, found)
                key = self.expression(rest[0]) if rest else None
                found.append((name, self.expression(x), key, None))
            case _ if self.is_made(node) and self.current == 0:
                self.added(node, found)
            case _:
                raise _Other

    def is_made(self, node: Any) -> bool:
        """Whether an expression makes a table of its own."""
        name = self.function_of(node)
        if name == "add":
            return all(map(self.is_made, node.args))
        return name in ALONE or name in TABLES

    def added(self, node: Any, found: list[tuple[str, Any, Any, Any]]) -> None:
        name, args = self.function_of(node), getattr(node, "args", [])
        if name == "add":
            for part in args:
                self.added(part, found)
        elif name in ALONE:
            value, x, key, *like = map(self.expression, args)
            is_zero = isinstance(value, gast.Call) and self.program.resolve(value.func) is adjoints.zeros_like
            if is_zero or (isinstance(value, gast.Constant) and value.value is None):
                return
            if like and isinstance(like[0], gast.Constant):  # a number
                name = name.replace("whole", "alone")
                if found and found[-1][0] in WITHOUT and same(found[-1][1], x) and same(found[-1][2], key):
                    found.pop()
                    name = name.replace("alone", "set")
            found.append((name, x, key, value))
        elif name == "items_alone":
            value, x = map(self.expression, args)
            found.append((name, x, None, value))
        elif name in TABLES:
            found.append(("extended", None, None, self.expression(node)))
        else:
            raise _Other

    def read(self, node: Any, name: str, args: list[Any]) -> Any:
        """A read of the adjoint; of a version that is gone it stands before the change that ended it."""
        version = self.version_of(args[0])
        rest = [self.expression(a) for a in args[1:]]
        found = rebuilt(node, args=[load(self.d), *rest])
        if name == "items_at":
            shadow = gast.Subscript(value=load(self.d), slice=rest[0], ctx=gast.Load())
            found = call(attribute(shadow, "like"), rest[1])
        elif name not in READ_TABLE:
            found = self.slot(name, rest[0], rest[1], gast.Load())
            if not isinstance(rest[2], gast.Constant):
                found = call(self.bound(slots.shaped), found, rest[2])
        if version == self.current:
            return found
        if version not in self.ends:
            raise _Other
        before, so_far = self.ends[version]
        if {*self.log[so_far:], *self.earlier}.intersection(names_read(rest)):
            raise _Other
        earlier = self.names.temporary("d")
        self.earlier.add(earlier)
        before.append(located(assign(earlier, found), node if hasattr(node, "lineno") else self.program.tree))
        return load(earlier)

    def slot(self, name: str, x: Any, key: Any, ctx: Any) -> Any:
        shadow = gast.Subscript(value=load(self.d), slice=x, ctx=gast.Load())
        if name.startswith(("field", "without_field")):
            return gast.Attribute(value=shadow, attr=key.value, ctx=ctx)
        return gast.Subscript(value=shadow, slice=key, ctx=ctx)

    def expression(self, node: Any) -> Any:
        """An expression or statement with plain reads in place of calls of helpers."""
        name = self.function_of(node)
        if self.calls.is_part(node, 1):
            return load(self.calls.dresult)
        if self.calls.back_of(node) is not None and not self.calls.has_heap(self.calls.back_of(node)):
            return self.linked_value(node)
        if name in ("", "add", "copy"):
            if isinstance(node, gast.Name) and node.id in self.tables:
                raise _Other
            if isinstance(node, gast.Name) and node.id in self.heaps:
                return node
            return map_children(node, self.expression)
        args = node.args
        if name in AT or name in READ_TABLE:
            return self.read(node, name, args)
        given = [self.expression(a) for a in args]
        match name, given:
            case ("get_field" | "whole_field"), [_, x, key]:
                return attribute(x, key.value)
            case "held_field", [x, key]:
                return attribute(x, key.value)
            case (("get_item" | "whole_item"), [_, x, key]) | ("held_item", [x, key]):
                return gast.Subscript(value=x, slice=key, ctx=gast.Load())
            case "known", [x]:
                return x
            case "held_items", [x]:
                return call(self.bound(list), x)
            case "copy_items", [_, x]:
                return call(attribute(x, "copy"))
            case "has_key", [x, key]:
                return gast.Compare(left=key, ops=[gast.In()], comparators=[x])
            case "read_items", [_, x]:
                return call(self.bound(list), x)
            case "read_rows", [_, rows]:
                return call(self.bound(slots.rows_of), rows)
            case "heap_view", [_, x, _]:
                return x
        if self.heaps.intersection(names_read(given)) or name in CHANGES:
            raise _Other
        return rebuilt(node, args=given)


class _LinkedCalls:
    """What the statements of a derivative are to calls that share the heap."""

    def __init__(self, program: Program, linked: Linked) -> None:
        self.linked = linked
        self.heaps: set[str] = set()
        self.tables: set[str] = set()  # adjoints of the heap
        self.backs: dict[str, Any] = {}  # the reverse sweeps that are called, with the requests
        self.results: dict[str, str] = {}  # of calls, by the name of the pair with the heap
        self.pairs: dict[str, tuple[Any, Any]] = {}  # the adjoints that are given to reverse sweeps
        self.dropped: dict[int, tuple[str, ...]] = {}  # statements, with names that they bind to the adjoint
        self.sweeps: set[str] = set()  # the own reverse sweep
        self.given = self.dresult = ""  # its argument, and the adjoint of the result
        statements = [s for s in statements_in(program.tree.body) if isinstance(s, gast.Assign)]
        if linked.own is not None:
            self.begin(program.tree)
        for s in statements:
            match s:
                case gast.Assign(
                    targets=[gast.Tuple(elts=[gast.Name(id=found), gast.Name(id=other)])],
                    value=gast.Call(func=gast.Name(id=name)),
                ) if name in linked.requests:
                    if linked.requests[name].form == "primal":
                        self.heaps.add(found)
                        continue
                    self.results[found] = "_"
                    if linked.requests[name].form == "jvp":
                        self.results[other] = "_"
                        self.tables.add(other)
                    else:
                        self.backs[other] = linked.requests[name]
                case gast.Assign(
                    targets=[gast.Name(id=found)], value=gast.Call(func=gast.Name(id=name))
                ) if name in linked.requests:
                    self.results[found] = "_"
        for value in find_nodes(program.tree, gast.Call):
            if self.back_of(value) is not None and len(value.args) == 1:
                self.pairs[getattr(value.args[0], "id", "")] = (None, None)
        for s in statements:
            match s:
                case gast.Assign(
                    targets=[gast.Tuple(elts=[gast.Name(id=token), gast.Name(id=result)])],
                    value=gast.Name(id=found),
                ) if found in self.results:
                    self.results[found] = result
                    is_adjoint = found in self.tables
                    (self.tables if is_adjoint else self.heaps).add(token)
                    self.dropped[id(s)] = (token,) if is_adjoint else ()
                case gast.Assign(value=value) if (called := self.back_of(value)) is not None:
                    if self.has_heap(called):
                        self.tables.add(getattr(s.targets[0], "elts", s.targets)[0].id)
                case gast.Assign(targets=[gast.Name(id=target)], value=value) if self.is_part(value, 0):
                    self.tables.add(target)
                case gast.Assign(targets=[gast.Name(id=target)], value=value) if self.is_part(value, 1):
                    if not self.dresult:
                        self.dresult = target
                        self.dropped[id(s)] = ()
        for s in statements:
            match s:
                case gast.Assign(
                    targets=[gast.Name(id=target)], value=gast.Tuple(elts=[first, second])
                ) if target in self.pairs:
                    self.pairs[target] = first, second
                    self.dropped[id(s)] = ()
        self.heaps.discard("_")
        self.tables.discard("_")

    def begin(self, tree: Any) -> None:
        """Notes the parameters of a derivative that others call."""
        self.heaps.add([*tree.args.posonlyargs, *tree.args.args][0].id)
        for s in tree.body:
            if isinstance(s, gast.FunctionDef) and len(s.args.args) == 1:
                self.sweeps.add(s.name)
                self.given = s.args.args[0].id
        if self.linked.own.form == "primal":
            self.pairs[getattr(tree.body[-1].value, "id", "")] = (None, None)
        if self.linked.own.form == "jvp" and self.has_heap(self.linked.own):
            self.tables.add(tree.args.args[-len(self.linked.own.wrt)].id)

    def has_heap(self, request: Any) -> bool:
        """Whether a derivative has the adjoint, or tangent, of the heap that it is given."""
        return bool(request.wrt[0] == request.function.__code__.co_varnames[0])

    def back_of(self, node: Any) -> Any:
        """The request of the reverse sweep that an expression calls; None for others."""
        match node:
            case gast.Call(func=gast.Name(id=name)):
                return self.backs.get(name)
        return None

    def is_part(self, node: Any, k: int) -> bool:
        """Whether an expression is a part of what the own reverse sweep is given."""
        match node:
            case gast.Subscript(value=gast.Name(id=name), slice=gast.Constant(value=index)):
                return bool(name == self.given and name and index == k)
        return False

    def parts(self, node: Any) -> tuple[Any, Any]:
        """The two parts of a pair."""
        match node:
            case gast.Tuple(elts=[first, second]):
                return first, second
            case gast.Name(id=name) if self.pairs.get(name, (None, None))[0] is not None:
                return self.pairs[name]
        raise _Other

    def result(self, pair: Any) -> Any:
        """The name of the second part of a pair."""
        return load(self.results[pair.id]) if pair.id in self.results else pair


def _targets(names: Any) -> Any:
    """The target of an assignment to one or several names."""
    targets = [gast.Name(id=n.id, ctx=gast.Store(), annotation=None, type_comment=None) for n in names]
    return targets[0] if len(targets) == 1 else tuple_of(targets, gast.Store())


def _map_bodies(s: Any, function: Callable[[list[Any]], list[Any]]) -> Any:
    """A statement with other blocks, also those of a function that it defines."""
    return rebuilt(s, body=function(s.body)) if isinstance(s, gast.FunctionDef) else map_blocks(s, function)


def _over_items(writer: _Writer, body: list[Any]) -> list[Any]:
    """The statements with loops over the items of lists in place of those over their positions:

        keys = positions(x)                 for b in x:
        for key in keys:                        ...
            b = x[key]
            ...
    """
    read = read_counts(gast.Module(body=body, type_ignores=[]))
    iterables = [s.iter for s in statements_in(body) if isinstance(s, gast.For)]
    alone = {n.id for n in iterables if isinstance(n, gast.Name) and read[n.id] == 1}
    lists: dict[str, Any] = {}
    dicts: dict[str, Any] = {}

    def range_of(x: Any) -> Any:
        return call(writer.bound(range), call(writer.bound(len), x))

    def block(statements: list[Any]) -> list[Any]:
        found = []
        for s in statements:
            match s:
                case gast.Assign(targets=[gast.Name(id=keys)], value=gast.Call(func=func, args=[x])) if (
                    writer.program.resolve(func) is slots.positions
                ):
                    lists[keys] = x
                    if keys in alone:
                        continue
                    s = rebuilt(s, value=range_of(x))
                case gast.Assign(targets=[gast.Name(id=keys)], value=gast.Call(func=func, args=[x])) if (
                    writer.program.resolve(func) is slots.keys_in
                ):
                    if keys in alone:
                        dicts[keys] = x
                        continue
                    s = rebuilt(s, value=call(writer.bound(list), x))
                case gast.For(iter=gast.Name(id=keys)) if keys in dicts:
                    s = rebuilt(s, iter=dicts[keys])
                case gast.For(iter=gast.Name(id=keys), target=gast.Name(id=key)) if (
                    keys in lists and keys in alone
                ):
                    s = loop(s, lists[keys], key)
            found.append(_map_bodies(s, block))
        return found

    def loop(s: Any, x: Any, key: str) -> Any:
        match s.body[0]:
            case gast.Assign(
                targets=[gast.Name() as item],
                value=gast.Subscript(value=gast.Name(id=name), slice=gast.Name(id=index)),
            ) if name == x.id and index == key and name not in assigned_names(s.body):
                rest = s.body[1:] or [gast.Pass()]
                if read[key] == 1:
                    return rebuilt(s, target=item, iter=x, body=rest)
                both = gast.Tuple(elts=[s.target, item], ctx=gast.Store())
                return rebuilt(s, target=both, iter=call(writer.bound(enumerate), x), body=rest)
        return rebuilt(s, iter=range_of(x))

    return block(body)


def _without_copies(tree: Any) -> list[Any]:
    """The statements of a function with one name for an object: without copies of names that are bound once
    in the same block, and of those directly before that are read nowhere else.
    """
    read = read_counts(tree)
    bound = Counter(n.id for n in find_nodes(tree, gast.Name) if not isinstance(n.ctx, gast.Load))
    renamed: dict[str, str] = {}

    def renaming(name: str) -> str:
        while name in renamed:
            name = renamed[name]
        return name

    def block(statements: list[Any]) -> list[Any]:
        last, made, found = "", set(), []
        for s in statements:
            match s:
                case gast.Assign(targets=[gast.Name(id=target)], value=gast.Name(id=source)) if (
                    source == target
                ):
                    continue
                case gast.Assign(targets=[gast.Name(id=target)], value=gast.Name(id=source)) if (
                    source in made and (bound[target] == 1 or (source == last and read[source] == 1))
                ):
                    renamed[renaming(source)] = target
                    made |= {target} if bound[target] == 1 else set()
                    continue
                case gast.Assign(targets=[gast.Name(id=last)]):
                    made |= {last} if bound[last] == 1 else set()
                case _:
                    last = ""
            found.append(_map_bodies(s, block))
        return found

    def with_new_names(node: Any) -> Any:
        if not isinstance(node, gast.Name):
            return map_children(node, with_new_names)
        name = renaming(node.id)
        return node if name == node.id else rebuilt(node, id=name)

    found = block(tree.body)
    return list(map(with_new_names, found)) if renamed else found
