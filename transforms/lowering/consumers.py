"""Writes statements that consume a generator as loops over it, in normal form.

    total = sum(g)        items = []
                    ->    for item in g:
                              items.append(item)
                          total = sum(items)

Contract: the loop consumes as much of the generator as Python does, and runs no other code between its items
than Python does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Any

import gast

from ..trees.bind_objects import Objects
from ..trees.generators import KEEPERS, METHODS, READERS
from ..trees.helpers import taken_while, transposed
from ..trees.nodes import assign, attribute, call, constant, load, loads, located, same, store, tuple_of
from ..trees.program import MISSING
from ..trees.rebuild import substitute

__all__ = ["ConsumerContext", "Generator", "as_loop", "takes_all"]

Node = Any  # gast publishes no types


@dataclass(frozen=True)
class Generator:
    """A named generator: `is_endless` if a `while` may keep it from ending, `is_changed` if it may change an
    item after its `yield`, `is_effect_free` if it has no effect outside its own variables, `keeps_items` if
    it changes no items of arrays and containers.
    """

    name: str
    is_endless: bool
    is_changed: bool
    is_effect_free: bool
    keeps_items: bool

    @property
    def ends_apart(self) -> bool:
        """Whether all its items may be made early: it ends, and has no outside effect."""
        return self.is_effect_free and not self.is_endless


@dataclass(frozen=True)
class ConsumerContext:
    """The context of a consuming statement: the other generators by name, whether statements have no outside
    effect, whether they change no items of arrays and containers, the number of a name that holds
    `range(number)`, and the names of displays without other readers.
    """

    others: Mapping[str, Generator]
    is_effect_free: Callable[[list[Node]], bool]
    keeps_items: Callable[[list[Node]], bool]
    range_of: Callable[[str], Node | None]
    displays: Set[str]

    def is_fixed(self, name: str) -> bool:
        """Whether no statement can change the items of a name."""
        return name in self.displays or self.range_of(name) is not None


def takes_all(objects: Objects, s: Node, name: str) -> bool:
    """Whether a statement takes all items of an iterator without running other code in between."""
    match s:
        case gast.For(iter=gast.Name(id=source), body=[gast.Expr(value=gast.Call(func=func, args=[item]))]):
            is_append = isinstance(func, gast.Attribute) and func.attr == "append"
            return is_append and source == name and same(item, load(getattr(s.target, "id", "")))
    value = getattr(s, "value", None)
    if loads(s).count(name) != 1 if isinstance(s, (gast.Assign, gast.Expr)) else True:
        return False
    if not isinstance(value, gast.Call):
        return False
    if any(isinstance(a, gast.Starred) and _is(a.value, name) for a in value.args):
        return True
    if not value.args or not _is(value.args[0], name):
        return False
    found = objects.program.resolve(value.func)
    if found is MISSING:
        return isinstance(value.func, gast.Attribute) and value.func.attr in METHODS
    return any(found is f for f in (*KEEPERS, *READERS, transposed)) or _is_fromiter(found)


def _is_fromiter(found: Any) -> bool:
    return getattr(found, "__name__", "") == "fromiter" and not hasattr(found, "__code__")


def as_loop(objects: Objects, s: Node, g: Generator, context: ConsumerContext) -> list[Node] | None:
    """The statement as a loop over the generator's name; None where it has no such form."""
    writer = _Writer(objects, s, g)
    match s:
        case gast.For(iter=gast.Name(id=name)) if name == g.name:
            return [s]
        case gast.For(iter=gast.Call(func=func, args=args) as source):
            found = objects.program.resolve(func)
            if found is enumerate and _is(args[0], g.name):
                return writer.counted(s, source.keywords[0].value if source.keywords else constant(0))
            is_strict = any(getattr(k.value, "value", True) for k in source.keywords)
            if found is zip and not is_strict and sum(_is(a, g.name) for a in args) == 1:
                return writer.zipped(s, args, context)
            return None
        case gast.Assign(targets=[gast.Tuple(elts=elts)], value=gast.Name(id=name)) if name == g.name:
            return writer.collected(s, most=len(elts) if g.is_endless else None)
    if takes_all(objects, s, g.name):
        found = objects.program.resolve(s.value.func)
        reads = any(found is f for f in READERS) or _is_fromiter(found)
        return writer.collected(s, as_new=reads and g.is_changed)
    match s:
        case gast.Assign(targets=[gast.Name(id=target)], value=gast.Call(args=args, keywords=[]) as value):
            found = objects.program.resolve(value.func)
            if (found is any or found is all) and len(args) == 1 and _is(args[0], g.name):
                return writer.decided(target, found is any)
            if found is next and _is(args[0], g.name) and len(args) < 3:
                return writer.first(target, args[1:])
            if found is taken_while and _is(args[1], g.name) and g.is_effect_free:
                return writer.taken(target, args[0])
    return None


def _is(node: Node, name: str) -> bool:
    return isinstance(node, gast.Name) and bool(node.id == name)


class _Writer:
    """Writes the loop for one statement."""

    def __init__(self, objects: Objects, s: Node, g: Generator) -> None:
        self.objects, self.names, self.like, self.g = objects, objects.names, s, g

    def put(self, *statements: Node) -> list[Node]:
        return [located(s, self.like) for s in statements]

    def set(self, name: str, value: Node) -> Node:
        return assign(name, value, self.like)

    def over(self, target: Node, body: list[Node]) -> Node:
        loop = gast.For(target=target, iter=load(self.g.name), body=body, orelse=[], type_comment=None)
        return located(loop, self.like)

    def leave(self, test: str) -> Node:
        return self.put(gast.If(test=load(test), body=self.put(gast.Break()), orelse=[]))[0]

    def append(self, items: str, item: str) -> Node:
        return self.put(gast.Expr(value=call(attribute(load(items), "append"), load(item))))[0]

    def collected(self, s: Node, most: int | None = None, as_new: bool = False) -> list[Node]:
        """The statement on the list of the items; with `most`, of one item more at most."""
        items, item = self.names.temporary("items"), self.names.temporary("item")
        body = []
        held = item
        if as_new:
            held = self.names.temporary("item")
            body.append(self.set(held, gast.UnaryOp(op=gast.UAdd(), operand=load(item))))
        body.append(self.append(items, held))
        if most is not None:
            size, stop = self.names.temporary("n"), self.names.temporary("stop")
            more = gast.Compare(left=load(size), ops=[gast.Gt()], comparators=[constant(most)])
            body += [self.set(size, call(self.objects.name(len), load(items))), self.set(stop, more)]
            body.append(self.leave(stop))
        new = substitute(s, {self.g.name: load(items)})
        empty = gast.List(elts=[], ctx=gast.Load())
        return [self.set(items, empty), self.over(store(item), body), new]

    def decided(self, target: str, is_any: bool) -> list[Node]:
        item, flag = self.names.temporary("item"), self.names.temporary("found" if is_any else "failed")
        settle = self.set(flag, constant(True))
        if is_any:
            test = self.put(gast.If(test=load(item), body=[settle], orelse=[]))
        else:
            nothing = self.put(gast.Pass())
            test = self.put(gast.If(test=load(item), body=nothing, orelse=[settle]))
        result = load(flag) if is_any else gast.UnaryOp(op=gast.Not(), operand=load(flag))
        loop = self.over(store(item), [*test, self.leave(flag)])
        return [self.set(flag, constant(False)), loop, self.set(target, result)]

    def first(self, target: str, default: list[Node]) -> list[Node]:
        item, found = self.names.temporary("item"), self.names.temporary("found")
        body = [self.set(target, load(item)), self.set(found, constant(True)), self.leave(found)]
        before = [self.set(target, default[0])] if default else []
        result = [self.set(found, constant(False)), *before, self.over(store(item), body)]
        if not default:
            missing = self.names.temporary("missing")
            fail = gast.Raise(exc=call(self.objects.name(StopIteration)), cause=None)
            result.append(self.set(missing, gast.UnaryOp(op=gast.Not(), operand=load(found))))
            result += self.put(gast.If(test=load(missing), body=self.put(fail), orelse=[]))
        return result

    def taken(self, target: str, test: Node) -> list[Node]:
        item, fits = self.names.temporary("item"), self.names.temporary("test")
        stop, items = self.names.temporary("stop"), self.names.temporary("items")
        body = [
            self.set(fits, call(test, load(item))),
            *self.put(gast.If(test=load(fits), body=[self.append(items, item)], orelse=[])),
            self.set(stop, gast.UnaryOp(op=gast.Not(), operand=load(fits))),
            self.leave(stop),
        ]
        empty = gast.List(elts=[], ctx=gast.Load())
        return [self.set(items, empty), self.over(store(item), body), self.set(target, load(items))]

    # ------------------------------------------------------------ loops over several iterables

    def counted(self, s: Node, start: Node) -> list[Node]:
        """`for k, v in enumerate(g, start)`."""
        counter, held = self.names.temporary("k"), self.names.temporary("k")
        step = gast.BinOp(left=load(held), op=gast.Add(), right=constant(1))
        if isinstance(s.target, gast.Tuple):
            index, item = s.target.elts
            first = [assign(index, load(held), self.like)]
        else:
            item = store(self.names.temporary("item"))
            pair = tuple_of([load(held), load(item.id)])
            first = [self.set(s.target.id, pair)]
        body = [self.set(held, load(counter)), *first, self.set(counter, step), *s.body]
        return [self.set(counter, start), self.over(item, body)]

    def zipped(self, s: Node, sources: list[Node], context: ConsumerContext) -> list[Node] | None:
        """`for a, v in zip(x, g)`: the items of the other iterables are read by index."""
        place = next(k for k, a in enumerate(sources) if _is(a, self.g.name))
        rest = [a.id for k, a in enumerate(sources) if k != place and isinstance(a, gast.Name)]
        made = [context.others[name] for name in rest if name in context.others]
        if made and not (
            self.g.is_effect_free and all(g.ends_apart for g in made) and context.is_effect_free(s.body)
        ):
            return None
        if not all(map(context.is_fixed, rest)) and not (
            self.g.keeps_items and context.keeps_items(s.body)
        ):
            return None
        counter, step = self.names.temporary("k"), self.names.temporary("k")
        before = [self.set(counter, constant(0))]
        lists: dict[int, str] = {}
        sizes: dict[int, Node] = {}
        for k, source in enumerate(sources):
            count = context.range_of(source.id) if isinstance(source, gast.Name) else None
            if count is not None:
                sizes[k] = count
            elif k != place:
                lists[k], size = self.names.temporary("items"), self.names.temporary("n")
                before.append(self.set(lists[k], located(call(self.objects.name(list), source), s.iter)))
                before.append(self.set(size, call(self.objects.name(len), load(lists[k]))))
                sizes[k] = load(size)
        if isinstance(s.target, gast.Tuple):
            targets, pair = list(s.target.elts), []
        else:
            targets = [store(self.names.temporary("item")) for _ in sources]
            pair = [self.set(s.target.id, tuple_of([load(t.id) for t in targets]))]
        item = self.names.temporary("item")

        def taken(k: int) -> Node:
            if k == place:
                return assign(targets[k], load(item), self.like)
            if k not in lists:
                return assign(targets[k], load(step), self.like)
            value = gast.Subscript(value=load(lists[k]), slice=load(step), ctx=gast.Load())
            return assign(targets[k], value, self.like)

        *body, last = s.body
        own = last.test if isinstance(last, gast.If) and isinstance(last.body[0], gast.Break) else None
        if own is None:
            body = s.body
        stop = self.names.temporary("stop")
        advance = [self.set(counter, gast.BinOp(left=load(step), op=gast.Add(), right=constant(1)))]
        advance += self.at_end(stop, counter, [sizes[k] for k in range(place)])
        if own is not None:
            settle = self.put(gast.If(test=own, body=[self.set(stop, constant(True))], orelse=advance))
            advance = settle
        inner = [
            *map(taken, range(len(sources))),
            *pair,
            *body,
            *advance,
        ]
        later = [sizes[k] for k in range(place + 1, len(sources))]
        start = [self.set(step, load(counter))]
        if later:
            start += self.at_end(stop, step, later)
            nothing = self.put(gast.Pass())
            inner = self.put(gast.If(test=load(stop), body=nothing, orelse=inner))
        loop = self.over(store(item), [*start, *inner, self.leave(stop)])
        if place == 0:
            return [*before, loop]
        none = self.names.temporary("stop")
        before += self.at_end(none, counter, [sizes[k] for k in range(place)])
        return [*before, *self.put(gast.If(test=load(none), body=self.put(gast.Pass()), orelse=[loop]))]

    def at_end(self, flag: str, counter: str, sizes: list[Node]) -> list[Node]:
        """Statements that set a flag if an index is past the end of one of the lists."""
        if not sizes:
            return [self.set(flag, constant(False))]
        size, *others = sizes
        test = gast.Compare(left=load(counter), ops=[gast.GtE()], comparators=[size])
        result = [self.set(flag, test)]
        for other in others:
            test = gast.Compare(left=load(counter), ops=[gast.GtE()], comparators=[other])
            arm = [self.set(flag, test)]
            result += self.put(gast.If(test=load(flag), body=self.put(gast.Pass()), orelse=arm))
        return result
