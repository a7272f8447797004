"""Splices generators into the statements that consume them.

Form in: the normal form. Form out: the normal form, without the calls of generator functions that are known
and whose result one statement consumes; nested generator functions without uses are dropped.

A loop over a generator becomes the generator's body with the loop's body for each `yield`, in the order in
which Python interleaves them. A `break` of the loop leaves the generator's body, too. Contexts of
`contextlib.contextmanager` are spliced likewise. A recursive generator becomes the list of its items
(`collect_items`), where that cannot be noticed.

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> print(to_source(splice_generators(program_of('''
... def f(x):
...     def halves(y):
...         while True:
...             more = y > 0.1
...             if not more:
...                 break
...             yield y
...             y = y / 2
...         return None
...     total = 0.0
...     g = halves(x)
...     for v in g:
...         total = total + v
...     return total
... '''), lambda function, call: None).tree))
def f(x):
    total = 0.0
    y = x
    while True:
        more = y > 0.1
        if not more:
            break
        v = y
        total = total + v
        y = y / 2
    return total
<BLANKLINE>
"""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Set
from dataclasses import dataclass
from functools import partial
from types import FunctionType, MemberDescriptorType
from typing import Any

import gast

from ..analyses.bind_methods import MethodCall
from ..errors import UnsupportedSyntaxError
from ..normal_form.check_loop_effects import Changes
from ..trees.bind_objects import Objects
from ..trees.generators import is_generator, is_yield, makes_generator
from ..trees.helpers import gives_items_lazily
from ..trees.nodes import (
    assign,
    binding_counts,
    blocks_of,
    find_nodes,
    has_stars,
    load,
    located,
    names_in,
    own_statements,
    read_counts,
    statements_in,
    store,
    walk,
)
from ..trees.program import MISSING, Names, Program
from ..trees.rebuild import (
    bound_names,
    map_blocks,
    map_children,
    rebuilt,
    relocated,
    rewritten,
    substitute,
    with_blocks,
)
from .consumers import ConsumerContext, Generator, as_loop, takes_all
from .inlinable import bind, calls_by_keyword, stays
from .inline_calls import Finder, Inliner, bound_names_of, key_of, without_unused

__all__ = ["MANAGED", "collect_items", "is_effect_free", "splice_generators"]

Node = Any  # gast publishes no types
Collector = Callable[[Any], Any]
Keeper = Callable[[Any, bool], bool]
Meeter = Callable[[Any, Any], bool]

# The code that all functions made by `contextlib.contextmanager` share; the generator is `__wrapped__`.
MANAGED = contextlib.contextmanager(lambda: iter(())).__code__
ALL = frozenset({"any"})  # in place of the names of attributes
HEAP_TYPE = 1 << 9  # the flag of classes that are written in Python
LIST_IT = "loop over a list: `list(...)` around the generator"
# Functions of a list whose results do not hold it.
COPYING = (sum, max, min, len, list, tuple, sorted)
# How many statements one loop may become.
LARGEST = 400


def splice_generators(
    program: Program,
    find_function: Finder,
    find_method: Callable[[Node], MethodCall | None] | None = None,
    collect: Collector = lambda function: None,
    keeps: Keeper = lambda function, stores_outside: False,
    recurs: Meeter = lambda function, place: False,
    guards: Callable[[Node], list[Node]] = lambda value: [],
) -> Program:
    """The program with generators spliced into their consumers; itself where there are none.

    `find_function`, `find_method` and `guards` are those of `inline_calls`; `collect(function)` gives the
    function that returns the list of a generator's items, or None; `keeps(function, stores_outside)` says
    that a `with` whose context the function makes stays; the second argument tells whether it stores into
    outside objects. `recurs(function, place)` says whether a generator function that is called at a place,
    as of `Program.extent`, was found to reach itself, through methods and loops of objects.
    """
    splicer = _Splicer(program, find_function, LARGEST, (key_of(program),), {})
    splicer.find_method, splicer.collect, splicer.keeps = find_method, collect, keeps
    splicer.recurs, splicer.guards = recurs, guards
    return splicer.spliced()


def is_effect_free(program: Program, find_function: Finder) -> bool:
    """Whether a function surely changes only variables and objects that it made."""
    splicer = _Splicer(program, find_function, LARGEST, (key_of(program),), {})
    splicer.functions, splicer.classes = {}, {}
    return splicer.is_effect_free(program, program.tree.body)


@dataclass(frozen=True)
class _Callee:
    """The callee of a generator call, with the call (of a method, with its object), its program (None for a
    nested function), and the function object.
    """

    tree: Node
    call: Node
    program: Program | None
    function: Any = None


class _Splicer(Inliner):
    """Splices in one function."""

    collect: Collector
    keeps: Keeper
    recurs: Meeter
    classes: dict[int, list[type]]  # those that modules know, by their names
    functions: dict[str, Node]  # the nested functions whose name has one binding

    def spliced(self) -> Program:
        self.unnamed: set[str] = set()
        self.classes: dict[int, list[type]] = {}
        tree = self.with_names()
        if self.unnamed:
            self.program = self.program.with_tree(tree)
        self.reads = read_counts(self.program.tree)
        self.objects = Objects(self.program, self.names)
        self.changed = False
        functions = [f for f in find_nodes(self.program.tree, gast.FunctionDef) if f is not self.program.tree]
        self.functions = nested = {f.name: f for f in functions if self.defined[f.name] == 1}
        self.named: dict[str, Generator] = {}
        self.callees: dict[str, _Callee] = {}
        for s in find_nodes(self.program.tree, gast.Assign):
            if isinstance(s.value, gast.Call) and isinstance(s.targets[0], gast.Name):
                callee = self.callee_of(s.value, nested)
                if callee is not None:
                    self.callees[s.targets[0].id] = callee
                    self.named[s.targets[0].id] = self.described(s.targets[0].id, callee)
        self.drop_checks()
        self.ranges: dict[str, Node] = {}
        self.displays: set[str] = set()
        self.lists: dict[str, str] = {}  # the functions for the item lists of recursive ones
        if not self.named and not find_nodes(self.program.tree, gast.With):
            return self.program
        body = self.blocks(self.program.tree.body, {})
        if not self.changed and not self.unnamed:
            return self.program
        tree = without_unused(rebuilt(self.program.tree, body=body))
        return self.program.with_tree(
            tree,
            locals=self.program.locals | bound_names(tree),
            names=self.names,
            origins=self.origins,
            bindings={**self.program.bindings, **self.objects.bindings},
        )

    def drop_checks(self) -> None:
        """Drops the checks that reading the items of a generator runs no code, where nobody could notice that
        it runs early; refuses the others.
        """
        tests: dict[str, Node] = {}
        for s in find_nodes(self.program.tree, gast.Assign):
            name = getattr(s.value.args[0], "id", "") if self.is_check(s.value) else ""
            if name in self.named:
                callee = self.callees[name]
                body, program = callee.tree.body, callee.program or self.program
                if not self.named[name].ends_apart or self.attributes_read(program, body):
                    self.program.refuse(
                        callee.call if hasattr(callee.call, "lineno") else s,
                        "a generator whose items are read early is not differentiated",
                        "what it runs may read or change what the loop does",
                        LIST_IT,
                    )
                tests[s.targets[0].id] = s

        def statement(s: Node) -> list[Node] | None:
            is_test = isinstance(s, gast.Assign) and any(s is test for test in tests.values())
            return [] if is_test or (isinstance(s, gast.If) and getattr(s.test, "id", "") in tests) else None

        if tests:
            self.program = self.program.with_tree(rewritten(self.program.tree, statement))
            self.reads, self.changed = read_counts(self.program.tree), True

    def is_check(self, value: Node) -> bool:
        return isinstance(value, gast.Call) and self.program.resolve(value.func) is gives_items_lazily

    def with_names(self) -> Node:
        """The function with names for the generators that loops iterate over."""

        def statement(s: Node) -> list[Node] | None:
            is_call = isinstance(s, gast.For) and isinstance(s.iter, gast.Call)
            if not is_call or not makes_generator(self.program, s.iter):
                return None
            name = self.names.temporary(getattr(s.iter.func, "id", "items"))
            self.unnamed.add(name)
            self.defined[name] = 1
            return [assign(name, s.iter, s), rebuilt(s, iter=load(name))]

        return rewritten(self.program.tree, statement, inner_first=True)

    def blocks(self, statements: list[Node], known: dict[str, Node]) -> list[Node]:
        """The block with generators spliced; `known` are the nested functions defined before it."""
        known, result, todo = dict(known), list[Node](), list(statements)
        inner = partial(self.blocks, known=known)
        while todo:
            s = todo.pop(0)
            match s:
                case gast.FunctionDef():
                    if self.defined[s.name] == 1:
                        known[s.name] = s
                        if is_generator(s) and self.is_recursive(_Callee(s, None, None)):
                            todo.insert(0, self.list_of(s))
                case gast.Assign(targets=[gast.Name(id=name)], value=gast.List() | gast.Tuple()):
                    self.note_source(name, s.value)
                case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call() as call):
                    self.note_source(name, call)
                    is_iter = self.program.resolve(call.func) is iter and len(call.args) == 1
                    if is_iter and self.renames(name, getattr(call.args[0], "id", ""), todo):
                        todo = substitute(todo, {name: call.args[0]})
                        self.changed = True
                        continue
                    callee = self.callee_of(call, known)
                    new = self.consumed(s, callee, todo, known) if callee is not None else None
                    if new is not None:
                        todo = [*self.guarded(s, call), *new]
                        self.changed = True
                        continue
                case gast.Assign(targets=[gast.Name(id=name)], value=gast.Name(id=other)) if self.renames(
                    name, other, todo
                ):
                    todo = substitute(todo, {name: s.value})
                    self.changed = True
                    continue
                case gast.With(items=[gast.withitem(context_expr=gast.Call() as call)]):
                    new = self.context(s, call)
                    if new is not None:
                        todo = [*new, *todo]
                        self.changed = True
                        continue
            result.append(map_blocks(s, inner))
        return result

    def guarded(self, s: Node, call: Node) -> list[Node]:
        """The checks in front of a generator that is a method."""
        is_method = self.find_method is not None and self.find_method(call) is not None
        return [located(g, s) for g in self.guards(call)] if is_method else []

    def is_alone(self, name: str) -> bool:
        """Whether a variable is assigned once and read once."""
        return self.reads[name] == self.defined[name] == 1

    def renames(self, name: str, other: str, rest: list[Node]) -> bool:
        """Whether another name replaces a generator's name in the rest of the block."""
        is_all = other in self.named and self.is_alone(name) and self.is_alone(other)
        return is_all and any(name in names_in(t) for t in rest)

    def note_source(self, name: str, node: Node) -> None:
        if isinstance(node, (gast.List, gast.Tuple)) and self.is_alone(name):
            self.displays.add(name)
        if not isinstance(node, gast.Call):
            return
        is_range = self.program.resolve(node.func) is range and len(node.args) == 1
        if is_range and self.defined[name] == 1 and self.is_fixed(node.args[0]):
            self.ranges[name] = node.args[0]

    def is_fixed(self, atom: Node) -> bool:
        """Whether an atom has one value only."""
        return isinstance(atom, gast.Constant) or (
            isinstance(atom, gast.Name) and atom.id in self.program.locals and self.defined[atom.id] == 1
        )

    # ------------------------------------------------------------ which generator

    def callee_of(self, call: Node, known: dict[str, Node]) -> _Callee | None:
        """The generator function that a call calls; None for other calls."""
        if has_stars(call):
            return None
        name = call.func.id if isinstance(call.func, gast.Name) else ""
        if name in known:
            return _Callee(known[name], call, None) if is_generator(known[name]) else None
        return self.read_generator(*self.called(call))

    def called(self, call: Node) -> MethodCall:
        """The callee, and the call of it."""
        found = self.find_method(call) if self.find_method is not None else None
        return found or (self.program.resolve(call.func), call)

    def read_generator(self, function: Any, call: Node) -> _Callee | None:
        if function is MISSING or not callable(function):
            return None
        program = self.find(function, call)
        if program is None or not is_generator(program.tree):
            return None
        return _Callee(program.tree, call, program, function)

    def described(self, name: str, callee: _Callee) -> Generator:
        """The facts of a named generator."""
        statements, program = own_statements(callee.tree.body), callee.program or self.program
        endless = any(isinstance(s, gast.While) for s in statements)
        quiet = self.is_effect_free(program, callee.tree.body)
        keeps = quiet or self.keeps_items(program, callee.tree.body)
        return Generator(name, endless, may_change_given(statements), quiet, keeps)

    def is_effect_free(self, program: Program, block: list[Node], seen: tuple[Any, ...] = ()) -> bool:
        """Whether statements surely change only variables of their function and objects that it made."""
        return self.keeps_items(program, block, seen, read=ALL)

    def keeps_items(
        self, program: Program, block: list[Node], seen: tuple[Any, ...] = (), read: Set[str] | None = None
    ) -> bool:
        """Whether statements surely change no items of arrays and containers that the function did not make,
        and, unless `read` is None, no attributes of these names and no variables of other functions.
        """
        changes, whole = Changes(program, store("_"), False), self.program
        changes.own = unshared_lists(program)
        changes.lists_are_own = read is None
        for s in statements_in(block):
            if read is not None and self.sets_elsewhere(program, s, read):
                return False
            is_call = isinstance(s, gast.Expr) and isinstance(s.value, gast.Call)
            if is_call and getattr(s.value.func, "attr", "") != "append":
                return False
            if isinstance(s, (gast.FunctionDef, gast.With)):
                return False
        for n in (n for s in block for n in walk(s)):
            name = getattr(getattr(n, "func", None), "id", "")
            nested = self.functions.get(name) if program is whole else None
            if nested is not None:
                key = nested.name, "", 0, 0
                if key not in seen and not self.keeps_items(program, nested.body, (*seen, key), read):
                    return False
                continue
            called = self.read_all(program, n)
            if called is None:
                return False
            for callee in called:
                key = key_of(callee)
                body = callee.tree.body
                if key not in seen and not self.keeps_items(callee, body, (*seen, key), read):
                    return False
            if (not called or not isinstance(n, gast.Call)) and changes.may_change(n):
                return False
        return True

    def sets_elsewhere(self, program: Program, s: Node, read: Set[str]) -> bool:
        """Whether a statement may set one of the attributes `read`, or a variable of another function."""
        if isinstance(s, (gast.Nonlocal, gast.Global, gast.Delete)):
            return True
        targets = s.targets if isinstance(s, gast.Assign) else [getattr(s, "target", None)]
        names = {t.attr for t in targets if isinstance(t, gast.Attribute)}
        if not names or not names.isdisjoint(read) or read is ALL:
            return bool(names)
        classes = self.classes_of(program)
        found = [inspect.getattr_static(c, n, None) for c in classes for n in names]
        plain: Any = object.__setattr__
        is_plain = all(c.__setattr__ is plain for c in classes)
        return not is_plain or any(hasattr(type(f), "__set__") and not _is_slot(f) for f in found)

    def attributes_read(self, program: Program, block: list[Node]) -> frozenset[str]:
        """The names of the attributes that statements without effects may read, also in functions that they
        call.
        """
        names, seen = set[str](), set[Any]()
        todo = [(program, block)]
        while todo:
            program, block = todo.pop()
            if program is self.program:
                block = [*block, *self.functions.values()]
            for n in (n for s in block for n in walk(s)):
                if isinstance(n, gast.Attribute):
                    names.add(n.attr)
                for callee in self.read_all(program, n) or []:
                    if key_of(callee) not in seen:
                        seen.add(key_of(callee))
                        todo.append((callee, callee.tree.body))
        return frozenset(names)

    def classes_of(self, program: Program) -> list[type]:
        """The classes that a function's module knows."""
        known = self.classes.setdefault(id(program.scope.globals), [])
        if not known:
            known += known_classes(program)
        return known

    def read_all(self, program: Program, call: Node) -> list[Program] | None:
        """The functions that an expression or loop may run, where these are known; a method of the name of
        the function that it stands in is one of any class that the module knows, as are properties and
        iterators. None where the source of one of these is not known.
        """
        match call:
            case gast.Attribute(ctx=gast.Load(), attr=attr) if program.resolve(call) is MISSING:
                return self.of_classes(program, attr, lambda f: getattr(f, "fget", getattr(f, "func", None)))
            case gast.For(iter=gast.Name() as source) if not _is_builtin(program, source.id):
                return self.of_classes(program, "__iter__", lambda f: f)
        if not isinstance(call, gast.Call):
            return []
        function = program.resolve(call.func)
        if function is not MISSING:
            read = self.find(function, call) if isinstance(function, FunctionType) else None
            return [] if read is None else [read]
        name = getattr(call.func, "attr", "")
        if name != program.tree.name or has_stars(call):
            return []
        classes = [c for c in self.classes_of(program) if hasattr(c, name)]
        given = [call.func.value, *call.args]
        whole = located(gast.Call(func=call.func, args=given, keywords=call.keywords), call)
        found = [self.find(getattr(c, name), whole) for c in classes]
        return [p for p in found if p is not None] if None not in found else []

    def is_recursive(self, callee: _Callee) -> bool | None:
        """Whether the generator function calls itself, also indirectly; None if it calls a method of its name
        of an object that may be of another class.
        """
        if callee.program is None:
            return callee.tree.name in names_in(rebuilt(callee.tree, name="", args=callee.tree.args))
        key, seen, todo = key_of(callee.program), set[Any](), [callee.program]
        may_be = False
        while todo:
            program = todo.pop()
            for n in find_nodes(program.tree, gast.Call):
                if isinstance(n.func, gast.Attribute) and n.func.attr == callee.tree.name:
                    may_be = True
                function = program.resolve(n.func)
                read = self.find(function, n) if isinstance(function, FunctionType) else None
                if read is None or key_of(read) in seen:
                    continue
                if key_of(read) == key:
                    return True
                seen.add(key_of(read))
                todo.append(read)
        return None if may_be else False

    def of_classes(
        self, program: Program, name: str, function_of: Callable[[Any], Any]
    ) -> list[Program] | None:
        """The functions behind a member of this name of the classes that the module knows; None where the
        source of one of them is not known.
        """
        members = [inspect.getattr_static(c, name, None) for c in self.classes_of(program)]
        functions = [f for f in map(function_of, members) if isinstance(f, FunctionType)]
        whole = gast.Call(func=load(name), args=[load("self")], keywords=[])
        found = [self.find(f, whole) for f in dict.fromkeys(functions)]
        return [p for p in found if p is not None] if None not in found else None

    # ------------------------------------------------------------ the consumers

    def consumed(
        self, s: Node, callee: _Callee, rest: list[Node], known: dict[str, Node]
    ) -> list[Node] | None:
        """The statements that replace `g = generator(...)` and the statements after it; None where it
        stays.
        """
        name = s.targets[0].id
        if not self.is_alone(name):
            return None
        recursive = self.is_recursive(callee)
        where = s.value if hasattr(s.value, "lineno") else s
        if callee.program is not None and self.recurs(callee.function, self.program.extent(where)):
            recursive = True
        if recursive is not False:
            new = self.listed(s, callee, rest, refuses=recursive is True)
            if new is not None or recursive:
                return new
        given = self.given(callee)
        if given is None:
            return None
        g = self.named[name]
        quiet = partial(self.is_effect_free, self.program)
        keeps = partial(self.keeps_items, self.program)
        context = ConsumerContext(self.named, quiet, keeps, self.ranges.get, self.displays)
        start: list[Node] = []

        def spliced(loop: Node) -> list[Node] | None:
            """The generator's body with the loop's body in it."""
            if not self.fits(callee, loop, is_unnamed=name in self.unnamed):
                return None
            made = self.made(callee, given, s)
            if made is None:
                return None
            start[:], body = made
            return self.turns(start, body, loop)

        def placed(block: list[Node]) -> list[Node] | None:
            for k, t in enumerate(block):
                if name not in names_in(t):
                    continue
                new = as_loop(self.objects, t, g, context)
                if new is not None:
                    inner = self.written(new, name, spliced)
                    return None if inner is None else [*block[:k], *inner, *block[k + 1 :]]
                if not isinstance(t, (gast.If, gast.With, gast.Try)):
                    return None
                for j, arm in enumerate(blocks_of(t)):
                    if any(name in names_in(u) for u in arm):
                        found = placed(arm)
                        if found is None:
                            return None
                        arms = [found if i == j else b for i, b in enumerate(blocks_of(t))]
                        return [*block[:k], with_blocks(t, arms), *block[k + 1 :]]
                return None
            return None

        found = placed(rest)
        return None if found is None else [*start, *found]

    def written(
        self, statements: list[Node], name: str, spliced: Callable[[Node], list[Node] | None]
    ) -> list[Node] | None:
        """The statements with the loop over the generator spliced; None where it cannot be."""
        found = True

        def block(inner: list[Node]) -> list[Node]:
            nonlocal found
            result: list[Node] = []
            for s in inner:
                text = spliced(s) if _goes_over(s, name) else [map_blocks(s, block)]
                found = found and text is not None
                result += text or []
            return result

        new = block(statements)
        return new if found else None

    def listed(self, s: Node, callee: _Callee, rest: list[Node], refuses: bool) -> list[Node] | None:
        """The list of a recursive generator's items in its place, where that cannot be noticed; with
        `refuses`, a loop where it may be is refused.
        """
        name = s.targets[0].id
        use = next((t for t in rest if name in names_in(t)), None)
        if use is None:
            return None
        is_loop = isinstance(use, gast.For) and name in names_in(use.iter)
        is_loop = is_loop and not takes_all(self.objects, use, name)
        if not is_loop and not takes_all(self.objects, use, name):
            return None
        if is_loop and _leaves(use):
            if refuses:
                self.program.refuse(
                    use,
                    "a loop over a recursive generator, left by `break` or `return`, is not differentiated",
                    "all its items are computed before the loop",
                    LIST_IT,
                )
            return None
        if is_loop or use is not rest[0]:
            between = [*rest[: rest.index(use)], *(use.body if is_loop else [])]
            program = callee.program or self.program
            quiet = self.is_effect_free(program, callee.tree.body)
            read = self.attributes_read(program, callee.tree.body)
            if not quiet or not self.keeps_items(self.program, between, read=read):
                if is_loop and refuses:
                    self.program.refuse(
                        use,
                        "a loop that may change what its recursive generator reads, or over one that has "
                        "effects, is not differentiated",
                        "all items are computed before the loop",
                        LIST_IT,
                    )
                return None
        if callee.program is None:
            items = self.lists[callee.tree.name]
            return [rebuilt(s, value=rebuilt(callee.call, func=load(items))), *rest]
        function = self.collect(callee.function)
        if function is None:
            return None
        items = self.objects.name(function, f"{callee.tree.name.strip('_')}_items")
        self.program = self.program.with_tree(
            self.program.tree, bindings={**self.program.bindings, **self.objects.bindings}
        )
        return [rebuilt(s, value=rebuilt(callee.call, func=load(items))), *rest]

    def list_of(self, function: Node) -> Node:
        """A nested function that returns the list of a nested generator's items."""
        self.lists[function.name] = name = self.fresh(f"{function.name}_items")
        bound = bound_names(rebuilt(function, body=function.body))
        items = self.fresh("items")
        mapping = {n: load(self.fresh(n)) for n in sorted(bound)}
        tree = collect_items(rebuilt(function, body=function.body[:-1]), items)
        new = bound_names(tree := substitute(tree, mapping)) | {name}
        self.program = self.program.with_tree(self.program.tree, locals=self.program.locals | new)
        names = find_nodes(tree, gast.Name)
        self.reads.update(n.id for n in names if isinstance(n.ctx, gast.Load))
        self.defined.update(n.id for n in names if not isinstance(n.ctx, gast.Load))
        return rebuilt(tree, name=name)

    # ------------------------------------------------------------ the generator's body

    def given(self, callee: _Callee) -> dict[str, Node] | None:
        """The argument of each parameter; None where the call does not fit, or defaults may have changed."""
        args = callee.tree.args
        kept = [d for d in [*args.defaults, *args.kw_defaults] if isinstance(d, gast.Name)]
        if calls_by_keyword(callee.tree) or (callee.program is None and not all(map(self.is_fixed, kept))):
            return None
        return bind(args, callee.call, None if callee.program is None else callee.program.bindings)

    def made(self, callee: _Callee, given: dict[str, Node], s: Node) -> tuple[list[Node], list[Node]] | None:
        """The statements that bind the parameters when the generator is made, and its body with renamed
        variables.
        """
        function, program = callee.tree, callee.program
        if program is not None and program.filename != self.program.filename:
            function = relocated(function, s, program.filename)
        mapping = self.adopt(program, given) if program is not None else {}
        if mapping is None:
            return None
        self.objects = Objects(self.program, self.names)
        captured = {
            n.id
            for f in find_nodes(function, gast.FunctionDef)
            if f is not function
            for n in find_nodes(f, gast.Name)
        }
        names = [n for b in function.body for n in find_nodes(b, gast.Name)]
        bound = {n.id for n in names if isinstance(n.ctx, gast.Store)}
        start: list[Node] = []
        for parameter, value in given.items():
            is_fixed = parameter not in bound and self.is_fixed(value)
            if is_fixed and stays(parameter, value, function, captured):
                mapping[parameter] = value
            else:
                mapping[parameter] = load(self.fresh(parameter))
                start.append(assign(mapping[parameter].id, value, s))
        for n in (n for b in function.body for n in walk(b)):
            binds = isinstance(n, gast.Name) and isinstance(n.ctx, (gast.Store, gast.Param))
            name = n.name if isinstance(n, gast.FunctionDef) else n.id if binds else None
            if name is not None and name not in mapping:
                mapping[name] = load(self.fresh(name))
        body = substitute(function.body[:-1], mapping)
        new = bound_names_of([*start, *body])
        self.program = self.program.with_tree(self.program.tree, locals=self.program.locals | new)
        return start, body

    def fits(self, callee: _Callee, loop: Node, is_unnamed: bool) -> bool:
        """Whether a loop's body may replace each `yield`."""
        body = callee.tree.body
        count = sum(map(is_yield, own_statements(body)))
        size = len(statements_in(body)) + count * len(statements_in(loop.body))
        has_functions = any(isinstance(s, gast.FunctionDef) for s in statements_in(loop.body))
        if size > LARGEST or (count > 1 and has_functions):
            return False
        for s in own_statements(body):
            if not isinstance(s, (gast.Try, gast.With)) or not any(map(is_yield, own_statements(s.body))):
                continue
            if isinstance(s, gast.Try) and s.handlers:
                return False  # handlers of the generator would catch its exceptions
            if not is_unnamed:
                return False  # its `finally` runs when the generator is freed
        return True

    def turns(self, start: list[Node], body: list[Node], loop: Node) -> list[Node]:
        """The generator's body with the loop's body for each `yield`."""
        *rest, last = loop.body
        stop = None
        if not _leaves(loop):
            rest = loop.body
        elif self.is_within(last.test, loop.body):
            stop = last.test.id
        else:
            stop = self.names.temporary("stop")
            rest = [*rest, assign(stop, last.test, last)]
        yields = [s for s in own_statements(body) if is_yield(s)]
        if len(yields) == 1 and self.is_same(loop, yields[0].value.value, [*start, *body]):
            same: list[Node] = substitute(rest, {loop.target.id: yields[0].value.value})

            def turn(s: Node) -> list[Node]:
                return same
        else:

            def turn(s: Node) -> list[Node]:
                new = [assign(loop.target, s.value.value, loop), *rest]
                if s is yields[0]:
                    return new
                return [_copied(t) for t in substitute(new, self.renamed(new, loop, stop))]

        if stop is None:
            return _replaced(body, turn)
        start = assign(stop, gast.Constant(value=False, kind=None), loop)
        return [start, *_left(body, turn, stop, self.names)[0]]

    def renamed(self, block: list[Node], loop: Node, kept: str | None) -> dict[str, Node]:
        """New names for the variables, but `kept` where only a loop's body has it and assigns it first."""
        seen = {kept}
        own: list[str] = []
        for s in block:
            match s:
                case gast.Assign(targets=[gast.Name(id=name)], value=value):
                    if name not in seen | names_in(value) and self.is_within(load(name), [loop]):
                        own.append(name)
            seen |= names_in(s)
        return {name: load(self.fresh(name)) for name in own}

    def is_within(self, atom: Node, block: list[Node]) -> bool:
        """Whether an atom is a variable that occurs in a block only."""
        if not isinstance(atom, gast.Name) or atom.id not in self.program.locals:
            return False
        found = [n for s in block for n in find_nodes(s, gast.Name) if n.id == atom.id]
        return bool(len(found) == self.reads[atom.id] + self.defined[atom.id])

    def is_same(self, loop: Node, value: Node, body: list[Node]) -> bool:
        """Whether a loop's variable equals one of the generator's wherever it is read: neither changes while
        the loop's body runs.
        """
        if not isinstance(loop.target, gast.Name) or not isinstance(value, gast.Name):
            return False
        if any(isinstance(s, gast.FunctionDef) for s in statements_in(loop.body)):
            return False
        stores = [n for s in body for n in find_nodes(s, gast.Name) if not isinstance(n.ctx, gast.Load)]
        is_own = self.defined[value.id] == 0 and sum(n.id == value.id for n in stores) != 1
        return is_own and self.defined[loop.target.id] == 1 and self.is_within(loop.target, [loop])

    # ------------------------------------------------------------ contexts

    def context(self, s: Node, call: Node) -> list[Node] | None:
        """The statements that replace a `with` whose context a generator makes."""
        function, call = self.called(call)
        if getattr(function, "__code__", None) is not MANAGED or has_stars(call):
            return None
        target = s.items[0].optional_vars
        try:
            callee = self.read_generator(function.__wrapped__, call)
        except UnsupportedSyntaxError:  # the context stays unknown
            return None
        if callee is None or not yields_once(callee.tree.body) or self.is_recursive(callee) is not False:
            return None
        if self.keeps(function, stores_outside(callee.program or self.program, callee.tree)):
            return None
        given = self.given(callee)
        if given is None:
            return None
        made = self.made(callee, given, s)
        if made is None:
            return None
        start, body = made

        def turn(y: Node) -> list[Node]:
            return [*([assign(target, y.value.value, s)] if target is not None else []), *s.body]

        return [*start, *_replaced(body, turn)]


def known_classes(program: Program) -> list[type]:
    """The classes that a function's module has names of, with their subclasses."""
    todo = [c for c in program.scope.globals.values() if isinstance(c, type)]
    found: dict[type, None] = {}
    while todo:
        cls = todo.pop(0)
        is_standard = cls.__module__.partition(".")[0] in sys.stdlib_module_names
        if cls not in found and cls.__flags__ & HEAP_TYPE and not is_standard:
            found[cls] = None
            todo += type.__subclasses__(cls)
    return list(found)


def _is_slot(member: Any) -> bool:
    return isinstance(member, MemberDescriptorType)


def _is_builtin(program: Program, name: str) -> bool:
    """Whether a name surely holds a list, tuple, dict or range."""
    displays = (gast.List, gast.Tuple, gast.Dict, gast.Set)
    bound = [s for s in find_nodes(program.tree, gast.Assign) if name in names_in(s.targets[0])]
    values = [s.value for s in bound if isinstance(s.targets[0], gast.Name)]
    is_assigned = binding_counts(program.tree)[name] == len(values) == len(bound)
    return is_assigned and all(
        isinstance(v, displays)
        or (isinstance(v, gast.Call) and any(program.resolve(v.func) is f for f in (range, *COPYING)))
        for v in values
    )


def unshared_lists(program: Program) -> set[str]:
    """The names of lists that a function makes and only appends to, and that nothing else holds."""
    made: set[str] = set()
    others: Counter[str] = Counter()
    for s in statements_in(program.tree.body):
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.List()):
                made.add(name)
                continue
            case gast.Expr(value=gast.Call(func=gast.Attribute(value=gast.Name(), attr="append"), args=args)):
                others.update(n for a in args for n in names_in(a))
                continue
            case gast.Return():
                continue
            case gast.Assign(
                targets=[gast.Name(id=name)], value=gast.Call(func=func, args=[gast.Name()])
            ) if _copies(program, program.resolve(func)):
                others[name] += 1
                continue
            case gast.Assign(
                targets=[gast.Name(id=name)], value=gast.Subscript(value=gast.Name(), slice=index)
            ):
                others.update({name} | names_in(index))
                continue
            case gast.For(iter=gast.Name()):
                others.update(names_in(s.target))
                continue
        own = map_blocks(s, lambda inner: [])
        others.update(names_in(own))
    return {name for name in made if not others[name]}


def _copies(program: Program, function: Any) -> bool:
    """Whether a function of a list returns something that does not hold it."""
    return any(function is f for f in COPYING) or program.library.takes_arrays(function)


def _goes_over(s: Node, name: str) -> bool:
    return isinstance(s, gast.For) and isinstance(s.iter, gast.Name) and bool(s.iter.id == name)


def _leaves(loop: Node) -> bool:
    last = loop.body[-1]
    return isinstance(last, gast.If) and isinstance(last.body[0], gast.Break)


def _copied(node: Node) -> Node:
    """A deep copy of a tree."""
    return rebuilt(map_children(node, _copied))


def _replaced(body: list[Node], turn: Callable[[Node], list[Node]]) -> list[Node]:
    """A block with statements for each `yield`."""
    result: list[Node] = []
    for s in body:
        if is_yield(s):
            result += turn(s)
        elif isinstance(s, gast.FunctionDef):
            result.append(s)
        else:
            result.append(map_blocks(s, lambda inner: _replaced(inner, turn)))
    return result


def _left(
    body: list[Node],
    turn: Callable[[Node], list[Node]],
    stop: str,
    names: Names,
    settle: list[Node] | None = None,
) -> tuple[list[Node], bool]:
    """A block with statements for each `yield` that may set a flag, after which only the statements of
    `settle` run; and whether there was a `yield`.
    """
    result: list[Node] = []
    for k, s in enumerate(body):
        if is_yield(s):
            result += turn(s)
        elif isinstance(s, gast.FunctionDef) or not any(map(is_yield, own_statements([s]))):
            result.append(s)
            continue
        elif isinstance(s, (gast.For, gast.While)):
            result.append(_left_loop(s, turn, stop, names))
        else:
            result.append(with_blocks(s, [_left(b, turn, stop, names)[0] for b in blocks_of(s)]))
        rest, _ = _left(body[k + 1 :], turn, stop, names, settle)
        if rest:
            arm = settle or [located(gast.Pass(), rest[0])]
            result.append(located(gast.If(test=load(stop), body=arm, orelse=rest), rest[0]))
        return result, True
    return result, False


def _left_loop(s: Node, turn: Callable[[Node], list[Node]], stop: str, names: Names) -> Node:
    """A loop with `yield` in it, which the flag ends, too."""
    if not _leaves(s) or len(s.body) < 2:
        body, flag = _left(s.body, turn, stop, names)[0], stop
    else:
        *rest, last = s.body
        flag = names.temporary("stop")
        settle = [assign(flag, gast.Constant(value=True, kind=None), last)]
        body, _ = _left([*rest, assign(flag, last.test, last)], turn, stop, names, settle)
    leave = located(gast.If(test=load(flag), body=[located(gast.Break(), s)], orelse=[]), s)
    return rebuilt(s, body=[*body, leave])


def yields_once(body: list[Node]) -> bool:
    """Whether a generator surely yields exactly once, also when its `yield` raises."""
    return _count(body) == 1


def _count(body: list[Node]) -> int | None:
    """The number of items that a block yields; None where it is not known."""
    total = 0
    for s in body:
        inner = own_statements([s])
        if not any(map(is_yield, inner)):
            continue
        match s:
            case gast.Expr():
                total += 1
            case gast.If():
                counts = {_count(s.body), _count(s.orelse)}
                if len(counts) != 1 or None in counts:
                    return None
                total += _count(s.body) or 0
            case gast.With():
                count = _count(s.body)
                if count is None:
                    return None
                total += count
            case gast.Try():
                if any(map(is_yield, (t for b in blocks_of(s)[1:] for t in own_statements(b)))):
                    return None
                if s.handlers and not is_yield(s.body[0]):
                    return None
                count = _count(s.body)
                if count is None:
                    return None
                total += count
            case _:
                return None
    return total


def stores_outside(program: Program, tree: Node) -> bool:
    """Whether a function stores into objects other than its own variables."""
    for s in own_statements(tree.body):
        target: Node = None
        match s:
            case (
                gast.Assign(targets=[gast.Subscript() | gast.Attribute() as target])
                | gast.AugAssign(target=target)
            ):
                target = getattr(target, "value", target)
            case gast.Expr(value=gast.Call(args=[gast.Attribute() as target, *_])):
                pass
        if target is not None and getattr(target, "id", "") not in program.locals:
            return True
    return False


def may_change_given(statements: list[Node]) -> bool:
    """Whether a generator may change an item after its `yield`: the item is neither new nor left alone."""
    given = {s.value.value.id for s in statements if is_yield(s) and isinstance(s.value.value, gast.Name)}
    made: dict[str, list[Node]] = {}
    for s in statements:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                made.setdefault(name, []).append(value)
    new = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Constant)
    fresh = {
        name
        for name in given
        if made.get(name)
        and all(isinstance(v, new) for v in made[name])
        and not any(isinstance(s, gast.AugAssign) and getattr(s.target, "id", "") == name for s in statements)
    }
    if given <= fresh:
        return False
    return any(map(_may_store, statements))


def _may_store(s: Node) -> bool:
    match s:
        case gast.AugAssign() | gast.Expr(value=gast.Call()):
            return True
        case gast.Assign(targets=[gast.Name() | gast.Tuple()], value=value):
            return isinstance(value, gast.Call) and any(k.arg == "out" for k in value.keywords)
        case gast.Assign():
            return True
    return False


def collect_items(tree: Node, items: str) -> Node:
    """The tree of a function that returns the list of a generator's items."""

    def change(node: Node) -> Node:
        if isinstance(node, (gast.FunctionDef, gast.Lambda)):
            return node
        if isinstance(node, gast.Return):
            return rebuilt(node, value=load(items))
        if isinstance(node, gast.Expr) and isinstance(node.value, (gast.Yield, gast.YieldFrom)):
            method = "append" if isinstance(node.value, gast.Yield) else "extend"
            value = node.value.value or gast.Constant(value=None, kind=None)
            func = gast.Attribute(value=load(items), attr=method, ctx=gast.Load())
            return rebuilt(node, value=located(gast.Call(func=func, args=[value], keywords=[]), node))
        return map_children(node, change)

    start = assign(items, gast.List(elts=[], ctx=gast.Load()), tree.body[0])
    end = located(gast.Return(value=load(items)), tree.body[-1])
    return rebuilt(tree, body=[start, *map(change, tree.body), end])
