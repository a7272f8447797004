"""Single assignment: one name for each version of a variable.

Form in: the normal form. Form out: the same, with these additions.

- Every name is assigned by one statement, but for two cases that are visible copies: the join of an `if`
  (`y_3 = y` at the end of one arm, `y_3 = y_2` at the end of the other) and a variable carried by a loop
  (`x_2 = x` before it, `x_2 = x_3` at the end of its body).
- Copies that would overwrite each other are one parallel statement, `u, v = v, u`.
- `x += v` on a name is `x_2 = iadd(x, v)`, which is Python's own semantics. Only live variables get joins. A
  nested function reads the version that is current where it is defined; a variable that is assigned again
  while such a function is live is refused.

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> print(to_source(to_ssa(program_of('''
... def f(x, n):
...     for i in range(n):
...         y = x * x
...         x = y
...     return x
... ''')).tree), end="")
def f(x, n):
    x_2 = x
    for i in range(n):
        y = x_2 * x_2
        x_3 = y
        x_2 = x_3
    return x_2
"""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.liveness import arms_of, free_names, is_exit, is_test, live_before, loop_head
from ..analyses.operations import IN_PLACE_OPERATORS
from ..trees.nodes import assign, assigned_names, call, load, located, names_read, store, tuple_of, walk
from ..trees.program import Names, Program
from ..trees.rebuild import rebuilt, substitute
from .check_captures import check_captures
from .check_partial_effects import Following, check_final, stepwise

__all__ = ["to_ssa"]

Env = dict[str, str]  # variable -> the name of its current version


def to_ssa(program: Program, passing: frozenset[str] = frozenset()) -> Program:
    """The program with one name for each version of a variable; `passing` are the nested functions that do
    not escape and are defined before each use: see `redefine_at_use`.
    """
    tree = program.tree
    parameters = [n.id for n in walk(tree.args) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Param)]
    unassigned: frozenset[str] = frozenset()
    while True:  # again if a copy reads a name that is unbound on some path
        converter = _Converter(program, parameters, unassigned, passing)
        body = converter.block(tree.body, {p: p for p in parameters}, frozenset(), frozenset())
        if converter.copied <= unassigned:
            break
        unassigned |= converter.copied
    new = located(
        gast.FunctionDef(
            name=tree.name,
            args=tree.args,
            body=body,
            decorator_list=[],
            returns=tree.returns,
            type_comment=None,
            type_params=[],
        ),
        tree,
    )
    return program.with_tree(
        new,
        names=converter.names,
        bindings={**program.bindings, **converter.bindings},
        origins={**program.origins, **converter.origins},
    )


class _Converter:
    """Renames block by block.

    `maybe` are the names that are unbound on some path. Python raises when one is read; a copy into a join
    must not, so those that are `copied` get None on that path (`unassigned`, known from a first run).
    """

    def __init__(
        self, program: Program, parameters: list[str], unassigned: frozenset[str], passing: frozenset[str]
    ) -> None:
        self.program, self.passing = program, passing
        self.names: Names = program.names.copy()
        self.used = set(parameters)
        self.bindings: dict[str, Any] = {}
        self.origins: dict[str, str] = {}
        self.unassigned = unassigned
        self.maybe: set[str] = set()
        self.copied: frozenset[str] = frozenset()
        self.captured: dict[str, str] = {}
        self.following: list[Following] = []

    def version(self, variable: str) -> str:
        if variable not in self.used:
            self.used.add(variable)
            return variable
        name = self.names.fresh(variable)
        self.used.add(name)
        self.origins[name] = self.program.origins.get(variable, variable)
        return name

    def define(self, variable: str, env: Env, node: Any) -> str:
        if variable in self.captured:
            self.program.refuse(
                node,
                f"`{variable}` is assigned again after `{self.captured[variable]}` captured it",
                "the function would see the later value, Python's closures being by reference",
                f"pass `{variable}` to the function as an argument, or give the later value another name",
            )
        env[variable] = self.version(variable)
        return env[variable]

    def copy(self, target: str, source: str, like: Any) -> Any:
        if source in self.maybe:
            self.copied |= {source}
        return assign(target, load(source), like)

    def leave_unassigned(self, name: str, block: list[Any], like: Any) -> None:
        """Notes that `name` is unbound on the path that is `block`."""
        self.maybe.add(name)
        if name in self.unassigned:
            block.append(assign(name, gast.Constant(value=None, kind=None), like))

    # ------------------------------------------------------------ statements

    def block(
        self, statements: list[Any], env: Env, after: frozenset[str], at_break: frozenset[str]
    ) -> list[Any]:
        """The renamed block; `env` becomes the versions at its end."""
        live = live_before(statements, after, at_break)
        result: list[Any] = []
        for k, statement in enumerate(statements):
            self.following.append((statements[k + 1 :], after))
            result.extend(self.statement(statement, env, live[k + 1]))
            self.following.pop()
        return result

    def iteration(
        self, statements: list[Any], env: Env, after: frozenset[str], at_break: frozenset[str]
    ) -> list[Any]:
        """The renamed body of a loop."""
        outer, self.following = self.following, []
        result = self.block(statements, env, after, at_break)
        self.following = outer
        return result

    def statement(self, s: Any, env: Env, after: frozenset[str]) -> list[Any]:
        match s:
            case gast.Assign(targets=[target]):
                value = self.expression(s.value, env)
                if isinstance(target, (gast.Name, gast.Tuple)):
                    new: Any = (
                        store(self.define(target.id, env, s))
                        if isinstance(target, gast.Name)
                        else tuple_of([store(self.define(e.id, env, s)) for e in target.elts], gast.Store())
                    )
                else:
                    new = self.expression(target, env)
                return [assign(new, value, s)]
            case gast.AugAssign(target=gast.Name()):
                function = IN_PLACE_OPERATORS[type(s.op)]
                value = call(
                    self.bound(function),
                    self.expression(load(s.target.id), env),
                    self.expression(s.value, env),
                )
                return [assign(self.define(s.target.id, env, s), located(value, s), s)]
            case gast.AugAssign():
                return [
                    located(
                        gast.AugAssign(
                            target=self.expression(s.target, env),
                            op=s.op,
                            value=self.expression(s.value, env),
                        ),
                        s,
                    )
                ]
            case gast.If():
                return self.branch(s, env, after)
            case gast.For():
                return self.for_loop(s, env, after)
            case gast.While():
                return self.while_loop(s, env, after)
            case gast.With(items=[item]):
                context = self.expression(item.context_expr, env)
                target = item.optional_vars and store(self.define(item.optional_vars.id, env, s))
                item = rebuilt(item, context_expr=context, optional_vars=target)
                return [rebuilt(s, items=[item], body=self.block(s.body, env, after, after))]
            case gast.Try(handlers=[]):
                check_final(self.program, s)
                body = self.block(s.body, env, after | frozenset(names_read(s.finalbody)), after)
                return [rebuilt(s, body=body, finalbody=self.block(s.finalbody, env, after, after))]
            case gast.Try():
                return [self.attempt(s, env, after)]
            case gast.FunctionDef():
                return [self.function(s, env)]
            case _:
                return [substitute(s, {k: load(v) for k, v in env.items() if k != v})]

    def bound(self, function: Any) -> str:
        for name, value in self.bindings.items():
            if value is function:
                return name
        name = self.names.fresh(function.__name__)
        self.bindings[name] = function
        return name

    def expression(self, node: Any, env: Env) -> Any:
        read = [n for n in names_read(node) if env.get(n, n) != n]
        return substitute(node, {n: load(env[n]) for n in read}) if read else node

    def function(self, s: Any, env: Env) -> Any:
        free = free_names(s) - {s.name}
        for variable in sorted(free & set(env)):
            if s.name not in self.passing:
                self.captured.setdefault(variable, s.name)
            if env[variable] in self.maybe:
                self.copied |= {env[variable]}
        name = self.define(s.name, env, s)
        inner = to_ssa(self.program.with_tree(s, names=self.names), self.passing)
        self.names = inner.names
        self.bindings.update({k: v for k, v in inner.bindings.items() if k not in self.program.bindings})
        self.origins.update(inner.origins)
        tree = substitute(inner.tree, {k: load(env[k]) for k in free | {s.name} if k in env and env[k] != k})
        return rebuilt(tree, name=name)

    def branch(self, s: Any, env: Env, after: frozenset[str]) -> list[Any]:
        test = self.expression(s.test, env)
        arms: list[list[Any]] = []
        ends: list[Env | None] = []
        for block in (s.body, s.orelse):
            inner = dict(env)
            arms.append(self.block(block, inner, after, after))
            ends.append(None if leaves(block) else inner)
        self.join(s, env, after, arms, ends)
        return [located(gast.If(test=test, body=arms[0], orelse=arms[1]), s)]

    def attempt(self, s: Any, env: Env, after: frozenset[str]) -> Any:
        """A `try` with handlers, which run with the versions before the body: see `stepwise`."""
        s = stepwise(self.program, s, self.following)
        inner = dict(env)
        at_else = live_before(s.orelse, after, after)[0]
        body = self.block(s.body, inner, at_else, after)
        orelse = self.block(s.orelse, inner, after, after)
        arms, ends = [orelse or body], [inner]
        handlers = []
        for h in s.handlers:
            own = dict(env)
            name = h.name and store(self.define(h.name.id, own, s))
            arms.append(self.block(h.body, own, after, after))
            ends.append(own)
            handlers.append(
                rebuilt(h, type=h.type and self.expression(h.type, env), name=name, body=arms[-1])
            )
        kept = [None if leaves(arm) else end for arm, end in zip(arms_of(s), ends, strict=True)]
        self.join(s, env, after, arms, kept)
        return rebuilt(s, body=body, handlers=handlers, orelse=orelse)

    def join(
        self, s: Any, env: Env, after: frozenset[str], arms: list[list[Any]], ends: list[Env | None]
    ) -> None:
        """Gives the variables of several arms one name at their ends; an end of None is that of an arm that
        is left.
        """
        for variable in assigned_names(s):
            found = [end.get(variable) if end is not None else None for end in ends]
            if variable not in after or not any(found):
                env.pop(variable, None)
            elif len(set(found)) == 1:
                env[variable] = found[0] or ""
            else:
                joined = self.version(variable)
                for arm, end, name in zip(arms, ends, found, strict=True):
                    if name is not None:
                        arm.append(self.copy(joined, name, s))
                    elif end is not None:
                        self.leave_unassigned(joined, arm, s)
                env[variable] = joined

    def carried(self, s: Any, env: Env, head: frozenset[str], result: list[Any]) -> Env:
        """The loop names of the variables that the body assigns and that are live; the copies go to
        `result`.
        """
        names: Env = {}
        for variable in assigned_names(s.body):
            if variable in head:
                self.carry(variable, names, env, result, s)
        check_captures(self.program, s, names, self.passing)
        return names

    def carry(self, variable: str, names: Env, env: Env, result: list[Any], s: Any) -> None:
        names[variable] = self.define(variable, dict(env), s)
        if variable in env:
            result.append(self.copy(names[variable], env[variable], s))
        else:
            self.leave_unassigned(names[variable], result, s)

    def loop_end(self, s: Any, names: Env, env: Env, body: list[Any]) -> list[Any]:
        """The body with the copies of its carried variables before its last `if stop: break`."""
        leave = [body.pop()] if body and is_exit(body[-1]) else []
        copies = [(target, env[v]) for v, target in names.items() if v in env and env[v] != target]
        self.copied |= self.maybe.intersection(source for _, source in copies)
        return [*body, *(assign(target, load(source), s) for target, source in copies), *leave]

    def for_loop(self, s: Any, env: Env, after: frozenset[str]) -> list[Any]:
        head = loop_head(s, after)
        result: list[Any] = []
        iterable = self.expression(s.iter, env)
        targets = [n.id for n in walk(s.target) if isinstance(n, gast.Name)]
        names = self.carried(s, env, head, result)
        for target in targets:
            if target in after and target not in names:
                self.carry(target, names, env, result, s)
        inner = {**env, **names}
        loop_targets = [store(self.define(t, inner, s)) for t in targets]
        target = loop_targets[0] if isinstance(s.target, gast.Name) else tuple_of(loop_targets, gast.Store())
        body = self.loop_end(s, names, inner, self.iteration(s.body, inner, head | frozenset(names), after))
        env.update(names)
        result.append(
            located(gast.For(target=target, iter=iterable, body=body, orelse=[], type_comment=None), s)
        )
        return result

    def while_loop(self, s: Any, env: Env, after: frozenset[str]) -> list[Any]:
        head = loop_head(s, after)
        result: list[Any] = []
        position = next((k for k, n in enumerate(s.body) if is_test(n)), None)
        names = self.carried(s, env, head, result)
        inner = {**env, **names}
        if position is None:
            body = self.iteration(s.body, inner, head | frozenset(names), after)
            # A variable that each iteration assigns first has the value of the last iteration after the loop.
            last = {v: inner[v] for v in assigned_names(s.body) if v in after and v in inner}
            body = self.loop_end(s, names, inner, body)
            env.update(last)
            env.update(names)
        else:
            live = live_before(s.body, head, after)
            header = self.iteration(s.body[: position + 1], inner, live[position + 1] | after, after)
            # A variable that the header assigns has its last value there after the loop.
            outer = {v: inner[v] for v in assigned_names(s.body[:position]) if v in after and v in inner}
            rest = self.iteration(s.body[position + 1 :], inner, head | frozenset(names), after)
            if outer and rest and is_exit(rest[-1]):
                self.program.refuse(
                    s,
                    "a `while` with `break` whose test assigns a variable that is read after the loop",
                    "the variable would have two last values",
                    "assign the variable in the loop's body",
                )
            body = header + self.loop_end(s, names, inner, rest)
            env.update(names)
            env.update(outer)
        result.append(located(gast.While(test=gast.Constant(value=True, kind=None), body=body, orelse=[]), s))
        return result


def leaves(block: list[Any]) -> bool:
    """Whether no statement can follow a block."""
    return bool(block) and isinstance(block[-1], (gast.Raise, gast.Return, gast.Break))
