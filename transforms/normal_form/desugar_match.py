"""Turns `match` into `if`.

Form in: a function that `check_syntax` accepts. Form out: the same without `match`: patterns are tests, and
their captures are assigned once the whole pattern matches, before its guard is evaluated.

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> print(to_source(desugar_match(program_of('''
... def f(shape):
...     match shape:
...         case ("circle", r):
...             area = 3 * r * r
...         case (a, b) if a > 0:
...             area = a * b
...         case _:
...             area = 0.0
...     return area
... ''')).tree))
def f(shape):
    if is_sequence(shape) and len(shape) == 2 and shape[0] == "circle":
        r = shape[1]
        area = 3 * r * r
    else:
        match_1 = is_sequence(shape) and len(shape) == 2
        if match_1:
            a = shape[0]
            b = shape[1]
            match_1 = a > 0
        if match_1:
            area = a * b
        else:
            area = 0.0
    return area
<BLANKLINE>
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import gast

from ..trees.bind_objects import Objects
from ..trees.helpers import is_mapping, is_sequence
from ..trees.nodes import assign, call, constant, find_nodes, load, located, store, tuple_of, walk
from ..trees.program import Names, Program
from ..trees.rebuild import Rewriter, bound_names

__all__ = ["desugar_match"]

Node = Any  # gast publishes no types


@dataclass(frozen=True)
class Alternative:
    """One way for a pattern to match: all `tests` hold; `binds` are then assigned, in order."""

    tests: tuple[Node, ...] = ()
    binds: tuple[tuple[str, Node], ...] = ()

    def then(self, other: Alternative) -> Alternative:
        return Alternative(self.tests + other.tests, self.binds + other.binds)


def desugar_match(program: Program) -> Program:
    """The program without `match` statements."""
    if not find_nodes(program.tree, gast.Match):
        return program
    taken = {n.id for n in find_nodes(program.tree, gast.Name)} | captures(program.tree)
    local = bound_names(program.tree) | captures(program.tree)
    writer = _Writer(replace(program, locals=local), program.names.copy(taken))
    tree = writer.function(program.tree)
    return program.with_tree(tree, bindings=writer.objects.all_bindings())


def captures(tree: Node) -> set[str]:
    """The names that patterns bind."""
    found = set()
    for n in walk(tree):
        if isinstance(n, (gast.MatchAs, gast.MatchStar)):
            found.add(n.name)
        elif isinstance(n, gast.MatchMapping):
            found.add(n.rest)
    return found - {None}


class _Writer(Rewriter):
    nested = True

    def __init__(self, program: Program, names: Names) -> None:
        self.program, self.names = program, names
        self.objects = Objects(program, names)

    def statement(self, s: Node) -> list[Node]:
        return self.match(s) if isinstance(s, gast.Match) else [self.inside(s)]

    def match(self, s: Node) -> list[Node]:
        subject = s.subject
        before: list[Node] = []
        if not isinstance(subject, gast.Name) or subject.id in captures(s):
            name = self.names.temporary(subject.id if isinstance(subject, gast.Name) else "match")
            before.append(assign(name, subject, s))
            subject = load(name)
        return before + (self.cases(s.cases, subject, s) or [located(gast.Pass(), s)])

    def cases(self, cases: list[Node], subject: Node, s: Node) -> list[Node]:
        """The statements for the first of the cases that matches."""
        if not cases:
            return []
        case, *others = cases
        like = self.header(case, s)
        found = self.alternatives(case.pattern, subject)
        body = self.block(case.body)
        if not any(a.binds for a in found):
            tests = all_of([any_of([all_of(list(a.tests)) for a in found]), case.guard])
            return [self.branch(tests, body, others, subject, s, like)] if tests is not None else body
        if len(found) == 1 and (case.guard is None or not found[0].tests):
            binds = self.assignments(found[0], like)
            if not found[0].tests:
                return [
                    *binds,
                    *([self.branch(case.guard, body, others, subject, s, like)] if case.guard else body),
                ]
            return [self.branch(all_of(list(found[0].tests)), [*binds, *body], others, subject, s, like)]
        matched = self.names.temporary("match")
        before = self.flagged(matched, found, case.guard, like)
        return [*before, self.branch(load(matched), body, others, subject, s, like)]

    def branch(
        self, test: Node, body: list[Node], others: list[Node], subject: Node, s: Node, like: Node
    ) -> Node:
        return located(gast.If(test=test, body=body, orelse=self.cases(others, subject, s)), like)

    def flagged(self, matched: str, found: list[Alternative], guard: Node, like: Node) -> list[Node]:
        """Statements that assign the captures of the first alternative that matches, and a flag whether one
        did.
        """
        if len(found) == 1:
            bound = [*self.assignments(found[0], like), assign(matched, guard, like)]
            test = all_of(list(found[0].tests))
            return [
                assign(matched, test, like),
                located(gast.If(test=load(matched), body=bound, orelse=[]), like),
            ]
        chain: list[Node] = [assign(matched, constant(False), like)]
        for a in reversed(found):
            value = constant(True) if guard is None else guard
            body = [*self.assignments(a, like), assign(matched, value, like)]
            test = all_of(list(a.tests))
            chain = body if test is None else [located(gast.If(test=test, body=body, orelse=chain), like)]
        return chain

    def assignments(self, found: Alternative, like: Node) -> list[Node]:
        return [assign(name, value, like) for name, value in found.binds]

    def header(self, case: Node, s: Node) -> Node:
        """A node with the position of the case's line."""
        line = getattr(case.pattern, "lineno", s.lineno)
        text = self.program.lines[line - 1] if 0 < line <= len(self.program.lines) else ""
        node = gast.Pass()
        node.lineno, node.col_offset = line, len(text) - len(text.lstrip()) if text else s.col_offset
        node.end_lineno, node.end_col_offset = line, len(text.rstrip().encode())
        return node

    # ------------------------------------------------------------ patterns

    def alternatives(self, pattern: Node, subject: Node) -> list[Alternative]:
        """The ways for the pattern to match the value of the expression `subject`."""
        match pattern:
            case gast.MatchValue():
                return [Alternative((compared(subject, gast.Eq(), pattern.value),))]
            case gast.MatchSingleton():
                return [Alternative((compared(subject, gast.Is(), constant(pattern.value)),))]
            case gast.MatchAs():
                inner = (
                    self.alternatives(pattern.pattern, subject)
                    if pattern.pattern is not None
                    else [Alternative()]
                )
                bind = Alternative((), ((pattern.name, subject),) if pattern.name is not None else ())
                return [a.then(bind) for a in inner]
            case gast.MatchOr():
                return [a for p in pattern.patterns for a in self.alternatives(p, subject)]
            case gast.MatchSequence():
                return self.sequence(pattern.patterns, subject)
            case gast.MatchMapping():
                return self.mapping(pattern, subject)
            case _:
                return self.attributes(pattern, subject)

    def attributes(self, pattern: Node, subject: Node) -> list[Alternative]:
        """The ways to match a class and attributes of its objects; numbers and containers have themselves as
        only part.
        """
        test = call(self.objects.name(isinstance), subject, pattern.cls)
        cls = self.program.resolve(pattern.cls)
        if pattern.patterns and not hasattr(cls, "__match_args__"):
            return self.all_parts(Alternative((test,)), [(p, subject) for p in pattern.patterns])
        by_position = zip(getattr(cls, "__match_args__", ()), pattern.patterns, strict=False)
        named = [*by_position, *zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True)]
        tests = [
            call(self.objects.name(hasattr), subject, constant(name))
            for name, _ in named
            if name not in getattr(cls, "__dataclass_fields__", ())
        ]
        parts = [(p, gast.Attribute(value=subject, attr=name, ctx=gast.Load())) for name, p in named]
        return self.all_parts(Alternative((test, *tests)), parts)

    def sequence(self, patterns: list[Node], subject: Node) -> list[Alternative]:
        star = next((k for k, p in enumerate(patterns) if isinstance(p, gast.MatchStar)), None)
        length = call(self.objects.name(len), subject)
        count = len(patterns) if star is None else len(patterns) - 1
        tests = [call(self.objects.name(is_sequence), subject)]
        if star is None or count:
            tests.append(compared(length, gast.Eq() if star is None else gast.GtE(), constant(count)))
        parts = []
        binds: tuple[tuple[str, Node], ...] = ()
        for k, p in enumerate(patterns):
            if isinstance(p, gast.MatchStar):
                after = len(patterns) - k - 1
                rest = gast.Slice(
                    lower=constant(k) if k else None, upper=constant(-after) if after else None, step=None
                )
                if p.name is not None:
                    binds += ((p.name, call(self.objects.name(list), item(subject, rest))),)
            else:
                parts.append(
                    (p, item(subject, constant(k if star is None or k < star else k - len(patterns))))
                )
        return [a.then(Alternative((), binds)) for a in self.all_parts(Alternative(tuple(tests)), parts)]

    def mapping(self, pattern: Node, subject: Node) -> list[Alternative]:
        tests = [call(self.objects.name(is_mapping), subject)]
        tests += [compared(key, gast.In(), subject) for key in pattern.keys]
        found = self.all_parts(
            Alternative(tuple(tests)),
            [(p, item(subject, key)) for key, p in zip(pattern.keys, pattern.patterns, strict=True)],
        )
        if pattern.rest is None:
            return found
        key, value = self.names.temporary("key"), self.names.temporary("value")
        items = call(gast.Attribute(value=subject, attr="items", ctx=gast.Load()))
        others = compared(load(key), gast.NotIn(), tuple_of(pattern.keys))
        loop = gast.comprehension(
            target=tuple_of([store(key), store(value)], gast.Store()),
            iter=items,
            ifs=[others] if pattern.keys else [],
            is_async=0,
        )
        rest = gast.DictComp(key=load(key), value=load(value), generators=[loop])
        return [a.then(Alternative((), ((pattern.rest, rest),))) for a in found]

    def all_parts(self, first: Alternative, parts: list[tuple[Node, Node]]) -> list[Alternative]:
        """The ways for all parts to match, after the tests of `first`."""
        found = []
        for chosen in product(*(self.alternatives(p, subject) for p, subject in parts)):
            whole = first
            for a in chosen:
                whole = whole.then(a)
            found.append(whole)
        return found


def item(subject: Node, index: Node) -> Node:
    return gast.Subscript(value=subject, slice=index, ctx=gast.Load())


def compared(left: Node, op: Node, right: Node) -> Node:
    return gast.Compare(left=left, ops=[op], comparators=[right])


def all_of(tests: list[Node]) -> Node:
    """The conjunction of the tests that are not None; None when there are none."""
    found = [t for t in tests if t is not None]
    return gast.BoolOp(op=gast.And(), values=found) if len(found) > 1 else found[0] if found else None


def any_of(tests: list[Node]) -> Node:
    """The disjunction of the tests; None when one of them is None, and so always holds."""
    if any(t is None for t in tests):
        return None
    return gast.BoolOp(op=gast.Or(), values=tests) if len(tests) > 1 else tests[0]
