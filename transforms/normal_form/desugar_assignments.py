"""Gives every assignment one target: a name, a flat tuple of names, or an element.

Form in: a function with resolved names. Form out: flat loop targets (by `desugar_loops`); no chained,
annotated, nested or starred assignment, and no tuple that is made only to be unpacked. Expressions stay
whole. The order of evaluation is kept.

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> print(to_source(desugar_assignments(program_of('''
... def f(u, v):
...     u, v = v, u
...     a, (b, *c) = u
...     return a + b
... ''')).tree))
def f(u, v):
    u_1 = u
    u = v
    v = u_1
    a, b_1 = u
    b_2 = list(b_1)
    (b,) = b_2[:1]
    c = b_2[1:]
    return a + b
<BLANKLINE>
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.liveness import free_names
from ..trees.bind_objects import Objects
from ..trees.nodes import (
    assign,
    call,
    constant,
    find_nodes,
    is_atom,
    load,
    names_read,
    store,
    tuple_of,
)
from ..trees.program import Names, Program
from ..trees.rebuild import Rewriter
from .desugar_loops import desugar_loops
from .lazy_iterables import base_name

__all__ = ["desugar_assignments"]

Node = Any  # gast publishes no types


def desugar_assignments(program: Program) -> Program:
    """The program whose assignments and loops have one simple target each."""
    program = desugar_loops(program)
    writer = _Writer(program)
    tree = writer.function(program.tree)
    return program.with_tree(
        tree,
        names=writer.names,
        bindings=writer.objects.all_bindings(),
    )


class _Writer(Rewriter):
    nested = True

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names: Names = program.names.copy()
        self.objects = Objects(program, self.names)
        self.captured = captured_names(program.tree)

    def statement(self, s: Node) -> list[Node]:
        match s:
            case gast.Assign():
                return self.chain(s.targets, s.value, s)
            case gast.AnnAssign():
                return self.single(s.target, s.value, s) if s.value else []
            case gast.TypeAlias():
                return []
        return [self.inside(s)]

    def chain(self, targets: list[Node], value: Node, like: Node) -> list[Node]:
        """`a = b = value`: the value is evaluated once, the targets are assigned from left to right."""
        if len(targets) == 1:
            return self.single(targets[0], value, like)
        first, *others = targets
        if isinstance(value, (gast.Name, gast.Constant)) and not stored_names(targets) & set(
            names_read(value)
        ):
            return [s for target in targets for s in self.single(target, value, like)]
        if isinstance(first, gast.Name) and first.id not in stored_names(others):
            return [
                assign(first, value, like),
                *(s for target in others for s in self.single(target, load(first.id), like)),
            ]
        whole = self.names.temporary(base_name(first))
        return [
            assign(whole, value, like),
            *(s for target in targets for s in self.single(target, load(whole), like)),
        ]

    def single(self, target: Node, value: Node, like: Node) -> list[Node]:
        """`target = value` as statements."""
        if not isinstance(target, (gast.Tuple, gast.List)):
            return [assign(target, value, like)]
        if isinstance(value, (gast.Tuple, gast.List)):
            values = paired(target.elts, value.elts)
            if values is not None:
                targets = [t.value if isinstance(t, gast.Starred) else t for t in target.elts]
                return self.parallel(targets, values, like)
        if any(isinstance(e, gast.Starred) for e in target.elts):
            return self.starred(target.elts, value, like)
        return self.unpack(target.elts, value, like)

    # ------------------------------------------------------------ unpacking

    def unpack(self, targets: list[Node], value: Node, like: Node) -> list[Node]:
        """`a, (b, c) = value`, the value being any expression: a flat unpacking, then the parts."""
        flat: list[Node] = []
        parts: list[Node] = []
        touched: set[str] = set()
        for target in targets:
            if isinstance(target, gast.Name) and not (
                parts and (target.id in touched or target.id in self.captured)
            ):
                flat.append(target)
                continue
            part = self.names.temporary(base_name(target))
            flat.append(store(part))
            parts.extend(self.single(target, load(part), like))
            touched |= set(names_read(target)) | stored_names([target])
        return [assign(tuple_of(flat, gast.Store()), value, like), *parts]

    def starred(self, targets: list[Node], value: Node, like: Node) -> list[Node]:
        """`a, *b, c = value`, by slices: too few values raise Python's ValueError."""
        star = next(i for i, t in enumerate(targets) if isinstance(t, gast.Starred))
        before, after = targets[:star], targets[star + 1 :]
        whole = self.names.temporary(base_name(targets[0]))
        result = [assign(whole, call(self.objects.name(list), value), like)]
        rest = slice_of(load(whole), star or None, None)
        if before:
            result += self.unpack(before, slice_of(load(whole), None, star), like)
        if not after:
            return result + self.single(targets[star].value, rest, like)
        tail = self.names.temporary(base_name(targets[star]))
        result.append(assign(tail, rest, like))
        result += self.single(targets[star].value, slice_of(load(tail), None, -len(after)), like)
        return result + self.unpack(after, slice_of(load(tail), -len(after), None), like)

    # ------------------------------------------------------------ a, b = x, y

    def parallel(self, targets: list[Node], values: list[Node], like: Node) -> list[Node]:
        """`a, b = x, y` without the tuple: values that an earlier target would change are assigned to
        temporaries first.
        """
        kept = self.kept(targets, values)
        # Names come first: reading one early has no effect, and the other values keep their order.
        order = (
            kept
            if binds_inside([*targets, *values])
            else sorted(kept, key=lambda k: not isinstance(values[k], gast.Name))
        )
        names = {
            k: self.names.temporary(base_name(values[k] if isinstance(values[k], gast.Name) else targets[k]))
            for k in kept
        }
        result = [assign(names[k], values[k], like) for k in order]
        for k, (target, value) in enumerate(zip(targets, values, strict=True)):
            result.extend(self.single(target, load(names[k]) if k in names else value, like))
        return result

    def kept(self, targets: list[Node], values: list[Node]) -> list[int]:
        """The values that must be evaluated before the first target is assigned."""
        if binds_inside([*targets, *values]):
            return [k for k, value in enumerate(values) if not isinstance(value, gast.Constant)]
        disturbed = [
            any(self.disturbs(target, value) for target in targets[:k]) for k, value in enumerate(values)
        ]
        # Values before a disturbed one are evaluated before it.
        last = max(
            (k for k, value in enumerate(values) if disturbed[k] and not isinstance(value, gast.Name)),
            default=-1,
        )
        return [k for k, value in enumerate(values) if disturbed[k] or (k < last and not is_atom(value))]

    def disturbs(self, target: Node, value: Node) -> bool:
        """Whether an assignment to `target` may change the value of the expression `value`."""
        if is_atom(value):
            return isinstance(value, gast.Name) and value.id in stored_names([target])
        return (
            not isinstance(target, gast.Name)
            or target.id in self.captured
            or bool(set(names_read(value)) & stored_names([target]))
        )


def paired(targets: list[Node], values: list[Node]) -> list[Node] | None:
    """One value for each target, for a starred one a list; None when the numbers do not fit, or are not
    known.
    """
    if any(isinstance(v, gast.Starred) for v in values):
        return None
    star = next((i for i, t in enumerate(targets) if isinstance(t, gast.Starred)), None)
    if star is None:
        return values if len(values) == len(targets) else None
    extra = len(values) - len(targets) + 1
    if extra < 0:
        return None
    return [
        *values[:star],
        gast.List(elts=values[star : star + extra], ctx=gast.Load()),
        *values[star + extra :],
    ]


def slice_of(value: Node, lower: int | None, upper: int | None) -> Node:
    bounds = [None if bound is None else constant(bound) for bound in (lower, upper)]
    return gast.Subscript(
        value=value, slice=gast.Slice(lower=bounds[0], upper=bounds[1], step=None), ctx=gast.Load()
    )


def stored_names(targets: list[Node]) -> set[str]:
    """The names that an assignment to the targets binds, by a walrus in an index, too."""
    return {
        n.id
        for t in targets
        for n in gast.walk(t)
        if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)
    }


def binds_inside(expressions: list[Node]) -> bool:
    """Whether an expression binds a name by `:=`."""
    return any(isinstance(n, gast.NamedExpr) for e in expressions for n in gast.walk(e))


def captured_names(tree: Node) -> frozenset[str]:
    """The variables of a function that its nested functions read."""
    nested = (n for n in find_nodes(tree, gast.FunctionDef, gast.Lambda) if n is not tree)
    return frozenset().union(*map(free_names, nested))
