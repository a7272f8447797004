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
from collections.abc import Callable
from types import FunctionType
from typing import Any

import gast

from ..runtime import adjoints, heap, heap_adjoints, heap_keys, object_graph, slots
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
    read_counts,
    same,
    statements_in,
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
BIRTHS = frozenset(["born", "entered", "filled", "heap_admit", "heap_enter", "new_heap"])
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
TABLES = frozenset(["items_alone", "parts_alone", "scattered"])  # calls that make a table of their own
READ_TABLE = frozenset(["gathered", "items_at", "parts_at"])  # calls that read one


def plain_form(function: FunctionType) -> FunctionType:
    """The function that runs, and is shown, in place of a derivative; itself without one."""
    found: FunctionType = getattr(function, PLAIN, function)
    return found


class _Other(Exception):
    """A program that is not written so."""


def with_plain_objects(program: Program) -> Program | None:
    """The derivative with plain attributes and items; None where it has none, or cannot be written so."""
    marks = slots.born, slots.get_field, slots.get_item, slots.whole_field, slots.whole_item
    if not any(v is mark for v in program.bindings.values() for mark in marks):
        return None
    try:
        return _Writer(program).run()
    except _Other:
        return None


class _Writer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.names = program.names.copy(names_in(program.tree))
        self.objects = Objects(program, self.names)
        self.heaps: set[str] = set()
        self.heaps = self.bound_by(lambda name, args: name in CHANGES)
        self.tables = self.bound_by(self.makes_table)
        self.d = self.names.fresh("d" if self.names.is_free("d") else "shadows")
        self.count = itertools.count(1)
        self.current = 0  # the version of the adjoint that the shadows are
        self.versions: dict[str, int] = {}  # of each name
        self.ends: dict[int, tuple[list[Any], int]] = {}  # where a block ends a version, and its names so far
        self.log: list[str] = []  # the names that the block has bound
        self.before: list[Any] = []  # statements in front of the present one
        self.moves = False  # whether items of lists move
        self.earlier: set[str] = set()  # the names of reads that were moved

    # ------------------------------------------------------------ names

    def function_of(self, node: Any) -> str:
        """The name of the helper that a call calls; empty for other expressions."""
        if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name):
            return ""
        found = self.program.resolve(node.func)
        if found is adjoints.add:
            return "add"
        if found is adjoints.copy_adjoint:
            return "copy"
        if found is adjoints.zeros_like and not self.heaps.isdisjoint(names_read(node)):
            return "zeros"
        is_helper = found is not MISSING and getattr(found, "__module__", "") in MODULES
        return str(found.__name__) if is_helper else ""

    def bound_by(self, makes: Callable[[str, list[Any]], bool]) -> set[str]:
        """The names that are bound to the results of such calls, and to each other."""
        found: set[str] = set()
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
        body = self.with_table(self.block(tree.body))
        kept = {*names_read(body)}
        body = self.without_unread(body, kept)
        new = rebuilt(tree, body=_over_items(self, body))
        body = self.sharing(_without_copies(new))
        new = rebuilt(tree, body=body)
        read = {*names_read(new.body)}
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

    def without_unread(self, body: list[Any], read: set[str]) -> list[Any]:
        """The block without reads and snapshots of objects that nothing reads."""
        kept = []
        for s, after in itertools.zip_longest(body, body[1:]):
            value: Any = getattr(s, "value", None)
            if self.function_of(value) == "made_item":
                item = gast.Subscript(value=value.args[0], slice=value.args[1], ctx=gast.Load())
                if not isinstance(after, gast.Assign) or not same(after.value, item):
                    kept.append(rebuilt(s, value=item))
                continue
            if isinstance(s, gast.Expr) and isinstance(value, (gast.Attribute, gast.Subscript)):
                continue
            name = self.function_of(value)
            is_record = name in ("items_of", "key_of", "places_of")
            if is_record and (isinstance(s, gast.Expr) or s.targets[0].id not in read):
                continue
            kept.append(_map_bodies(s, lambda inner: self.without_unread(inner, read)))
        return kept

    def bound(self, value: Any) -> str:
        return self.objects.name(value)

    def block(self, statements: list[Any]) -> list[Any]:
        """The block in its plain form; reads of versions that are gone stand before the changes of these."""
        outer, self.ends, self.log = (self.ends, self.log), {}, []
        parts: list[list[Any]] = []
        for s in statements:
            before = self.before = []
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
            case _ if blocks_of(s):
                raise _Other
        return [self.expression(s)]

    def function(self, s: Any) -> Any:
        """A function within: the reverse sweep of a `vjp`, each of whose calls has a table, or one of the
        user's, which reads numbers.
        """
        if self.heaps.intersection(names_in(s)) or self.current:
            raise _Other
        versions, self.versions = self.versions, {}
        body = self.with_table(self.block(s.body))
        self.versions, self.current = versions, 0
        return rebuilt(s, body=body)

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
        for block in (s.body, s.orelse):
            self.versions, self.current = dict(before), current
            arms.append(self.block(block) if block else [])
            found = self.names_of(self.current)
            carried = found if carried is None else carried & found
        test = self.expression(s.test)
        if self.tables.intersection(assigned_names(s)):
            if not carried:
                raise _Other
            self.versions = {n: v for n, v in before.items() if n not in assigned_names(s)}
            self.start(carried)
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
        """A change of objects."""
        if isinstance(s.value, gast.Name):
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
        if isinstance(s.value, gast.Name) and s.value.id in self.versions:
            self.versions = {**self.versions, target: self.versions[s.value.id]}
            return []
        changes: list[tuple[str, Any, Any, Any]] = []  # a helper, object, key, and the value that is added
        self.changes(s.value, changes)
        code: list[Any] = []
        if changes:
            self.ends[self.current] = self.before, len(self.log)
            self.start({target})
        else:
            self.versions = {**self.versions, target: self.current}
        reads = [v for name, _, _, v in changes if v is not None and self.reads_shadows(v)]
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
            case "", _ if isinstance(node, gast.Name) and self.versions.get(node.id) == self.current:
                return
            case "", _ if isinstance(node, gast.Constant) and node.value is None and self.current == 0:
                return
            case "zeros", _ if self.current == 0:
                return
            case "add", [a, b]:
                makes = [self.is_made(x) for x in (a, b)]
                base, other = (b, a) if makes[0] and not makes[1] else (a, b)
                self.changes(base, found)
                self.added(other, found)
            case "copy", [base]:
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
        version = self.versions.get(getattr(args[0], "id", ""))
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
            case "heap_view", [_, x, _]:
                return x
        if self.heaps.intersection(names_read(given)) or name in CHANGES:
            raise _Other
        return rebuilt(node, args=given)


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
