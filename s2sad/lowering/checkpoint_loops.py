"""Writes checkpointed loops as calls of a step function.

Form in: a function as written. Form out: the same, without `for` over `checkpointed(...)`. What the body
assigns and is read before or after is the state: it is passed on from step to step. Arrays that the body
stores into are copied first, and stored back after the loop.

    for i in checkpointed(range(n), snapshots=3):       def step(i, u, x):
        u[i] = x                                            u = u.copy()
        x = np.sin(x)                                       u[i] = x
                                                            x = np.sin(x)
                                                            return u, x
                                                        check_states((u, x), (0,), step)
                                                        state_1 = run_steps(step, range(n), 3, (u.copy(), x))
                                                        u_1 = state_1[0]
                                                        x = state_1[1]
                                                        u[...] = u_1
"""

from __future__ import annotations

from functools import partial
from typing import Any

import gast

from ..analysis.writes import CERTAIN
from ..runtime.checkpoints import check_states, checkpointed, run_steps
from ..transforms.trees.bind_objects import Objects
from ..transforms.trees.nodes import (
    assign,
    assigned_names,
    attribute,
    blocks_of,
    call,
    constant,
    find_nodes,
    load,
    located,
    names_read,
    param,
    target_names,
    tuple_of,
)
from ..transforms.trees.program import Program
from ..transforms.trees.rebuild import parameter_names, rebuilt
from ..transforms.trees.statements import map_blocks, with_body

__all__ = ["expand_checkpoint_loops"]

Node = Any  # gast publishes no types
REFUSED = (gast.Yield, gast.YieldFrom, gast.Global, gast.Nonlocal, gast.Delete, gast.NamedExpr)
WHY = "the body is a step, which the reverse sweep runs again"


def expand_checkpoint_loops(program: Program) -> Program:
    """The program with a call of a step function for each checkpointed loop."""
    if not any(program.resolve(c.func) is checkpointed for c in find_nodes(program.tree, gast.Call)):
        return program
    loops = Loops(program)
    tree = with_body(program.tree, loops.block(program.tree.body, frozenset()))
    program = program.with_tree(tree, names=loops.objects.names, bindings=loops.objects.all_bindings())
    for c in find_nodes(program.tree, gast.Call):
        if program.resolve(c.func) is checkpointed:
            program.refuse(
                c,
                "`checkpointed` other than as the iterable of a `for` statement",
                "the body of the loop is what is run again",
                "write `for i in checkpointed(range(n), snapshots=k):`",
            )
    return program


class Loops:
    """Rewrites the loops of one function."""

    def __init__(self, program: Program) -> None:
        self.program, self.objects = program, Objects(program, program.names.copy())
        self.bound = set(parameter_names(program.tree))

    def block(self, block: list[Node], after: frozenset[str]) -> list[Node]:
        """The statements of a block; `after` are the names that are read after it."""
        out: list[list[Node]] = []
        read = set(after)
        for s in reversed(block):
            inner = frozenset(read) | exposed(s)
            if self.is_checkpointed(s):
                new = self.call(s, frozenset(read))
            elif isinstance(s, gast.FunctionDef):
                new = [s]
            else:
                new = [map_blocks(s, partial(self.block, after=inner))]
            out.append(new)
            read |= set(names_read(s))
        return [s for part in reversed(out) for s in part]

    def is_checkpointed(self, s: Node) -> bool:
        match s:
            case gast.For(iter=gast.Call(func=func)):
                return self.program.resolve(func) is checkpointed
        return False

    def call(self, s: Node, after: frozenset[str]) -> list[Node]:
        names = self.objects.names
        self.check(s)
        s = rebuilt(s, body=self.block(s.body, after | exposed(s)))
        inner = list(statements_within(s.body))
        stored = [n for n in dict.fromkeys(map(stored_into, inner)) if n is not None]
        assigned = list(dict.fromkeys([*assigned_names(s.body), *target_names(s.target)]))
        both = [n for n in stored if n in assigned]
        own = [n for n in both if not self.binds_before(s, n)]  # arrays of the body's own
        if [n for n in both if n not in own]:
            self.refuse(
                s,
                f"`{both[0]}`, which the body of a checkpointed loop both assigns and changes in place",
                "other names may hold the array that is changed",
                f"store into it, as in `{both[0]}[:] = ...`, or assign it, and not both",
            )
        changed = [n for n in stored if n not in assigned]
        kept = [n for n in assigned if n in after or (self.binds_before(s, n) and reads_first(s.body, n))]
        for n in kept:
            if not self.binds_before(s, n):
                self.refuse(
                    s,
                    f"`{n}`, which is first assigned in a checkpointed loop and read after it",
                    "a loop without steps leaves it unbound",
                    f"assign `{n}` before the loop",
                )
        state = [*changed, *kept]
        if not state:
            return [rebuilt(s, iter=s.iter.args[0])]
        item = s.target.id if isinstance(s.target, gast.Name) else names.temporary("item")
        returned = gast.Return(value=tuple_of(map(load, state)))
        if item in state:  # the loop variable is read after the loop
            item = names.temporary("item")
        is_parameter = isinstance(s.target, gast.Name) and item == s.target.id
        start = [] if is_parameter else [assign(s.target, load(item), s)]
        copies = [assign(n, call(attribute(load(n), "copy")), s) for n in changed]
        step = names.fresh("step")
        arguments = gast.arguments(
            args=[param(item), *map(param, state)],
            posonlyargs=[],
            vararg=None,
            kwonlyargs=[],
            kw_defaults=[],
            kwarg=None,
            defaults=[],
        )
        definition = gast.FunctionDef(
            name=step,
            args=arguments,
            body=[*start, *copies, *with_returns(s.body, returned), returned],
            decorator_list=[],
            returns=None,
            type_comment=None,
            type_params=[],
        )
        found = {n: names.temporary(n) for n in changed}
        given = [call(attribute(load(n), "copy")) if n in changed else load(n) for n in state]
        run = self.objects.name(run_steps)
        made = call(run, load(step), *self.arguments(s.iter), tuple_of(given))
        check = call(
            self.objects.name(check_states),
            tuple_of(map(load, state)),
            tuple_of([constant(k) for k in range(len(changed))]),
            load(step),
        )
        checks = [gast.Expr(value=check)] if changed else []
        stores = [
            gast.Assign(
                targets=[gast.Subscript(value=load(n), slice=constant(...), ctx=gast.Store())],
                value=load(new),
                type_comment=None,
            )
            for n, new in found.items()
        ]
        after_loop = names.temporary("state")
        parts = [assign(found.get(n, n), item_of(after_loop, k)) for k, n in enumerate(state)]
        whole = [definition, *checks, assign(after_loop, made, s), *parts, *stores]
        return [located(node, s) for node in whole]

    def arguments(self, node: Node) -> tuple[Node, Node]:
        given = dict(zip(("iterable", "snapshots"), node.args, strict=False))
        given |= {k.arg: k.value for k in node.keywords}
        if given.keys() != {"iterable", "snapshots"}:
            self.refuse(node, "`checkpointed` takes an iterable and a number of snapshots")
        return given["iterable"], given["snapshots"]

    def binds_before(self, s: Node, name: str) -> bool:
        """Whether a name is a parameter, or assigned by a statement that stands before the loop."""
        if name in self.bound:
            return True
        found = [n for n in find_nodes(self.program.tree, gast.Name) if n.id == name]
        return any(isinstance(n.ctx, gast.Store) and n.lineno < s.lineno for n in found)

    def check(self, s: Node) -> None:
        """Raises UnsupportedSyntaxError for a loop that is no run of steps. It refuses the loop, not
        a statement inside: where that may not be reached, its refusal would be put off until the step runs.
        """
        if s.orelse:
            self.refuse(s, "an `else` of a checkpointed loop", instead="put its statements after the loop")
        for n in jumps_within(s.body):
            if not isinstance(n, gast.Continue):
                self.refuse(
                    s,
                    f"`{type(n).__name__.lower()}` in a checkpointed loop is not supported",
                    "the snapshots are laid out for the number of steps, which is known before the first",
                    "skip the rest of the steps with `if` and `continue`, or leave out `checkpointed`",
                )
        body = gast.Module(body=s.body, type_ignores=[])
        for n in find_nodes(body, *REFUSED):
            self.refuse(s, f"`{type(n).__name__.lower()}` in a checkpointed loop is not supported")
        own = assigned_names(s.body)
        for n in find_nodes(body, gast.Expr):
            match n.value:
                case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=method)):
                    if method in CERTAIN and name not in own:
                        self.refuse(
                            s,
                            f"`{name}.{method}(...)` in a checkpointed loop, a change of an outer object",
                            "a step is run again on the way back, and would change it again",
                            "write into an array that was made before the loop, or leave out `checkpointed`",
                        )

    def refuse(self, node: Node, what: str, why: str = WHY, instead: str = "") -> None:
        self.program.refuse(node, what, why, instead or "change the loop, or leave out `checkpointed`")


def item_of(name: str, k: int) -> Node:
    return gast.Subscript(value=load(name), slice=constant(k), ctx=gast.Load())


def exposed(s: Node) -> frozenset[str]:
    """The names that a loop reads from the iteration before, as far as can be told."""
    if not isinstance(s, (gast.For, gast.While)):
        return frozenset()
    test = names_read(s.test) if isinstance(s, gast.While) else ()
    return frozenset([*test, *(n for n in names_read(s) if reads_first(s.body, n))])


def statements_within(block: list[Node]) -> Any:
    for s in block:
        yield s
        if not isinstance(s, gast.FunctionDef):
            for inner in blocks_of(s):
                yield from statements_within(inner)


def stored_into(s: Node) -> str | None:
    """The name of the array that a statement stores into; None for other statements."""
    targets = s.targets if isinstance(s, gast.Assign) else [s.target] if isinstance(s, gast.AugAssign) else []
    for t in targets:
        while isinstance(t, gast.Subscript):
            t = t.value
            if isinstance(t, gast.Name):
                return t.id  # type: ignore[no-any-return]
    return None


def jumps_within(block: list[Node]) -> Any:
    """The jumps out of a block: `return`, and `break` and `continue` of the loop around it."""
    for s in block:
        match s:
            case gast.Break() | gast.Continue() | gast.Return():
                yield s
            case gast.FunctionDef():
                pass
            case gast.For() | gast.While():
                inner = [*jumps_within(s.body), *jumps_within(s.orelse)]
                yield from (n for n in inner if isinstance(n, gast.Return))
            case _:
                for part in blocks_of(s):
                    yield from jumps_within(part)


def with_returns(block: list[Node], returned: Node) -> list[Node]:
    """A block with returns in place of the `continue` of the loop around it."""
    new = []
    for s in block:
        match s:
            case gast.Continue():
                new.append(located(returned, s))
            case gast.For() | gast.While() | gast.FunctionDef():
                new.append(s)
            case _:
                new.append(map_blocks(s, lambda b: with_returns(b, returned)))
    return new


def reads_first(block: list[Node], name: str) -> bool:
    """Whether a block may read a name before it assigns it."""
    return first_use(block, name) == "read"


def first_use(block: list[Node], name: str) -> str | None:
    """Whether a block may "read" a name before it assigns it, or surely has it "assigned"; None: neither."""
    for s in block:
        match s:
            case gast.If(test=test, body=body, orelse=orelse):
                arms = [first_use(body, name), first_use(orelse, name)]
                if name in names_read(test) or "read" in arms:
                    return "read"
                if arms == ["assigned", "assigned"]:
                    return "assigned"
            case gast.For(iter=iterable, body=body, orelse=orelse):
                is_target = name in target_names(s.target)
                inside = None if is_target else first_use(body, name)
                if name in names_read(iterable) or "read" in (inside, first_use(orelse, name)):
                    return "read"
            case gast.Assign() if name not in names_read(s.value):
                if name in [n for t in s.targets for n in target_names(t)]:
                    return "assigned"
                if name in names_read(s):
                    return "read"
            case _:
                if name in names_read(s) or name in assigned_names([s]):
                    return "read"
    return None
