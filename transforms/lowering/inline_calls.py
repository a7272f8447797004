"""Inlines small functions.

Form in: the normal form. Form out: the normal form without the calls of nested functions, lambdas and global
functions that are known, small, not recursive, and whose free names mean the same here. A nested function
without uses is dropped. Statements keep the lines of the function that they come from when that is in the
same file.

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> print(to_source(inline_calls(program_of('''
... def f(a, b):
...     def affine(x):
...         x_1 = a * x
...         out = x_1 + b
...         return out
...     y = affine(b)
...     return y
... '''), lambda function, call: None).tree))
def f(a, b):
    x_2 = a * b
    y = x_2 + b
    return y
<BLANKLINE>
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import gast

from ..analyses.bind_methods import MethodCall
from ..trees.generators import is_generator
from ..trees.nodes import (
    assign,
    assigned_names,
    binding_counts,
    find_nodes,
    has_stars,
    is_atom,
    load,
    located,
    names_read,
    own_statements,
    read_counts,
    walk,
)
from ..trees.program import MISSING, Program
from ..trees.rebuild import (
    bound_names,
    map_blocks,
    parameters,
    rebuilt,
    relocated,
    substitute,
    without_statements,
)
from .inlinable import bind, calls_by_keyword, defines_functions, makes_closures, size, stays

__all__ = ["Finder", "Inliner", "bound_names_of", "inline_calls", "key_of", "without_unused"]

Node = Any  # gast publishes no types
Finder = Callable[[Any, Node], Program | None]
Key = tuple[str, str, int, int]
Active = frozenset[str | Key]

# How much a function may grow in all, as a multiple of the limit for one inlined function.
GROWTH = 5
# How many statements the functions that must be inlined may have in all.
NEEDED = 2000


def inline_calls(
    program: Program,
    find_function: Finder,
    max_statements: int | None = None,
    find_method: Callable[[Node], MethodCall | None] | None = None,
    always: Callable[[Any], bool] = lambda function: False,
    nested: bool = True,
    needed: Callable[[Node], bool] = lambda call: False,
    makes: Callable[[Node], bool] = lambda call: False,
    guards: Callable[[Node], list[Node]] = lambda value: [],
) -> Program:
    """The program with small callees inlined.

    `find_function(function, call)` gives the normal form of a function object for a call of it, or None
    for one that is not to be read; `find_method` the function that an expression calls as a method.
    `always(tree)` says that a method is inlined whatever its size, `needed(call)` that the callee of a
    call is, and `makes(call)` that it is although it defines functions. `guards(value)` are statements in
    front of a method that is inlined. Without `nested` the calls of nested functions stay. Small are
    functions of at most `max_statements`, by default `program.inlined`.
    """
    limit = program.inlined if max_statements is None else max_statements
    inliner = Inliner(program, find_function, limit, (key_of(program),), {})
    inliner.find_method, inliner.always, inliner.nested = find_method, always, nested
    inliner.needed, inliner.makes, inliner.guards = needed, makes, guards
    return inliner.run()


def key_of(program: Program) -> Key:
    tree = program.tree
    return program.filename, tree.name, getattr(tree, "lineno", 0), getattr(tree, "col_offset", 0)


class Inliner:
    """Inlines in one function.

    `stack` are the functions that are being read, this one last; `read` the results for functions read
    before, by identity and arguments.
    """

    def __init__(
        self,
        program: Program,
        find: Finder,
        limit: int,
        stack: tuple[Key, ...],
        read: dict[Any, tuple[Any, Program | None]],
    ) -> None:
        self.program = program
        self.find = find
        self.limit = limit
        self.stack = stack
        self.read = read
        self.names = program.names.copy()
        self.origins = dict(program.origins)
        self.find_method: Callable[[Node], MethodCall | None] | None = None
        self.always: Callable[[Any], bool] = lambda function: False
        self.needed: Callable[[Node], bool] = lambda call: False
        self.makes: Callable[[Node], bool] = lambda call: False
        self.guards: Callable[[Node], list[Node]] = lambda value: []
        self.nested = True
        self.in_loop = False
        self.reads_all = False  # what is inlined whatever its size must not be recursive
        self.left = GROWTH * limit
        self.reached = len(stack)  # the outermost function of the stack that this one may call
        self.defined = binding_counts(program.tree)
        functions = [f.name for f in program.tree.body if isinstance(f, gast.FunctionDef)]
        given = [p.id for p in parameters(program.tree)]
        self.fixed = {n for n in (*given, *functions) if self.defined[n] == 1}

    def run(self) -> Program:
        tree = rebuilt(self.program.tree, body=self.block(self.program.tree.body, {}, frozenset()))
        tree = without_unused(tree)
        return self.program.with_tree(tree, names=self.names, origins=self.origins)

    def block(self, statements: list[Node], known: dict[str, Node], active: Active) -> list[Node]:
        """The block with calls replaced.

        `known` are the nested functions defined before it, `active` the functions whose body it stands in:
        nested ones by name.
        """
        known = dict(known)
        result: list[Node] = []
        for s in statements:
            match s:
                case gast.FunctionDef():
                    new = rebuilt(s, body=self.block(s.body, known, active | {s.name}))
                    if self.defined[s.name] == 1 and self.nested:
                        held, new = self.hold_defaults(new)
                        result.extend(held)
                        known[s.name] = new
                    result.append(new)
                case gast.Assign(targets=[gast.Name() as target], value=value) if not is_atom(value):
                    body = self.expand(value, target, s, known, active)
                    result.extend([s] if body is None else body)
                case gast.Expr(value=gast.Call() as call):
                    body = self.expand(call, None, s, known, active)
                    result.extend([s] if body is None else body)
                case gast.For() | gast.While():
                    self.in_loop, before = True, self.in_loop
                    result.append(map_blocks(s, lambda inner: self.block(inner, known, active)))
                    self.in_loop = before
                case _:
                    result.append(map_blocks(s, lambda inner: self.arm(inner, known, active)))
        return result

    def arm(self, statements: list[Node], known: dict[str, Node], active: Active) -> list[Node]:
        """An arm with calls replaced, up to where it raises."""
        new = self.block(statements, known, active) or statements
        end = next((k for k, s in enumerate(new, 1) if isinstance(s, gast.Raise)), len(new))
        return new[:end]

    def hold_defaults(self, function: Node) -> tuple[list[Node], Node]:
        """Assignments that keep the values of defaults at the definition, and the function with these
        names.
        """
        held: list[Node] = []

        def hold(default: Node) -> Node:
            if not isinstance(default, gast.Name) or default.id in self.fixed:
                return default
            name = self.names.temporary(default.id)
            self.program = self.program.with_tree(self.program.tree, locals=self.program.locals | {name})
            held.append(assign(name, default, function))
            return load(name)

        args = rebuilt(
            function.args,
            defaults=[hold(d) for d in function.args.defaults],
            kw_defaults=[hold(d) for d in function.args.kw_defaults],
        )
        return held, rebuilt(function, args=args)

    # ------------------------------------------------------------ one call

    def expand(
        self, call: Node, target: Node, s: Node, known: dict[str, Node], active: Active
    ) -> list[Node] | None:
        """The statements that replace the call `target = f(...)`, or None where it stays a call."""
        written = call
        method, call = (self.find_method and self.find_method(call)) or (MISSING, call)
        if not isinstance(call, gast.Call) or has_stars(call):
            return None
        name = call.func.id if isinstance(call.func, gast.Name) and method is MISSING else ""
        wanted, callee = self.is_needed(call), None
        if name in known:
            function = known[name]
            if name in active or name in names_read(function.body):
                return None
            if self.in_loop and makes_closures(function):  # the iterations would share their variables
                return None
        else:
            called = self.program.resolve(call.func) if method is MISSING else method
            if self.program.leaves(called):
                return None
            reads_all = self.reads_all or wanted or method is not MISSING
            callee = self.callee(called, call, None if reads_all else self.limit)
            if callee is None or key_of(callee) in active:
                return None
            if defines_functions(callee.tree) and not self.makes(call):
                return None
            function = callee.tree
        if is_generator(function):
            return None
        given = bind(function.args, call, None if callee is None else callee.bindings)
        wanted = wanted or (method is not MISSING and self.always(function)) or self.makes(call)
        # A nested function that is not inlined is dynamic, which costs more than its statements.
        cost = size(function) if callee is not None else size(function) // 2
        if given is None or not (wanted or cost <= min(self.limit, self.left)) or calls_by_keyword(function):
            return None
        mapping = self.adopt(callee, given) if callee is not None else {}
        if mapping is None:
            return None
        if callee is not None and callee.filename != self.program.filename:
            function = relocated(function, s, callee.filename)
        self.left -= cost
        body = self.instance(function, given, mapping, target, s)
        inner = active | {name if callee is None else key_of(callee)}
        guards = [] if method is MISSING else [located(g, s) for g in self.guards(written)]
        return [*guards, *self.block(body, known, inner)] if body else [*guards, located(gast.Pass(), s)]

    def is_needed(self, call: Node) -> bool:
        return self.left > -NEEDED and self.needed(call)

    def instance(
        self, function: Node, given: dict[str, Node], mapping: dict[str, Node], target: Node, s: Node
    ) -> list[Node]:
        """A copy of the body with renamed variables, whose result is assigned to the target."""
        captured = {
            name
            for n in find_nodes(function, gast.FunctionDef)
            if n is not function
            for name in names_read(n)
        }
        rebound = set(assigned_names(function.body))
        mapping = dict(mapping)
        start = []
        for parameter, value in given.items():
            read_later = set() if self.is_lasting(value) else captured
            if parameter not in rebound and stays(parameter, value, function, read_later):
                mapping[parameter] = value
            else:
                mapping[parameter] = load(self.fresh(parameter))
                start.append(assign(mapping[parameter].id, value, s))
        for n in walk(function):
            bound = (
                n.name
                if isinstance(n, gast.FunctionDef) and n is not function
                else n.id
                if is_binding(n)
                else None
            )
            if bound is not None and bound not in mapping:
                mapping[bound] = load(self.own_name(bound, target))
        *body, last = substitute(function.body, mapping)
        self.program = self.program.with_tree(
            self.program.tree, locals=self.program.locals | bound_names_of([*start, *body])
        )
        final = function.body[-2] if body else None
        is_result = (
            isinstance(final, gast.Assign)
            and is_local_result(final, function)
            and final.targets[0].id not in captured
        )
        if target is None:
            if is_result and isinstance(body[-1].value, gast.Call):
                body[-1] = located(gast.Expr(value=body[-1].value), body[-1])
            return [*start, *body]
        if is_result:
            return [*start, *body[:-1], assign(target, body[-1].value, body[-1])]
        return [*start, *body, assign(target, last.value, s)]

    def is_lasting(self, atom: Node) -> bool:
        """Whether a name is bound once, as a parameter or function, or refers to a known object outside."""
        return getattr(atom, "id", "") in self.fixed or self.program.resolve(atom) is not MISSING

    def own_name(self, name: str, target: Node) -> str:
        """A name for a variable of a callee; parts of its result are named after the call's target."""
        if target is not None and (name == "out" or name.startswith("out_")):
            return self.names.temporary(target.id)
        return self.fresh(name)

    def fresh(self, variable: str) -> str:
        """A name for a variable of a callee; a new version where the caller has a variable of that name."""
        name = self.names.fresh(variable)
        if name != variable and not re.search(r"_\d+$", variable):
            self.origins[name] = variable
        return name

    # ------------------------------------------------------------ functions from outside

    def callee(self, function: Any, call: Node, limit: int | None) -> Program | None:
        """The normal form of a function with calls inlined; None when it is unknown, recursive, or has more
        statements than the limit before that.
        """
        if function is MISSING or not callable(function):
            return None
        called = id(function), len(call.args), *(k.arg for k in call.keywords)
        if called in self.read:
            return self.read[called][1]
        found = self.find(function, call)
        if found is None:
            return None
        key = key_of(found)
        if key in self.stack:
            self.reached = min(self.reached, self.stack.index(key))
            return None
        if limit is not None and len(own_statements(found.tree.body)) > limit:
            return None
        inner = Inliner(found, self.find, self.limit, (*self.stack, key), self.read)
        inner.reads_all = limit is None
        result: Program | None = inner.run()
        if inner.reached <= len(self.stack):
            self.reached = min(self.reached, inner.reached)
            result = None
        self.read[called] = function, result
        return result

    def adopt(self, callee: Program, given: dict[str, Node]) -> dict[str, Node] | None:
        """The names that the callee's free names have here, also in the defaults among its `given` arguments;
        None when one cannot be bound here.
        """
        mapping: dict[str, Node] = {}
        args = callee.tree.args
        defaults = [d for d in [*args.defaults, *args.kw_defaults] if isinstance(d, gast.Name)]
        taken = {name: d for name, d in given.items() if any(d is default for default in defaults)}
        bindings = dict(self.program.bindings)
        names = self.names.copy()
        for name in dict.fromkeys([*names_read(callee.tree.body), *(d.id for d in taken.values())]):
            if name in callee.locals:
                continue
            if name not in callee.bindings and self.shares(callee, name):
                names.taken.add(name)
                continue
            value = callee.resolve(load(name))
            if value is globals and callee.scope.globals is not self.program.scope.globals:
                return None
            is_fixed = name in callee.bindings or isinstance(value, ModuleType) or callable(value)
            if not is_fixed:
                return None  # a number, say, that may be rebound
            if self.program.resolve(load(name)) is value:
                names.taken.add(name)
                continue
            here = next((k for k, v in bindings.items() if v is value), None)
            if here is None:
                here = names.fresh(name)
                bindings[here] = value
            mapping[name] = load(here)
        self.names = names
        left = self.program.left | callee.left
        self.program = self.program.with_tree(self.program.tree, bindings=bindings, left=left)
        given |= {name: mapping.get(d.id, d) for name, d in taken.items()}
        return mapping

    def shares(self, callee: Program, name: str) -> bool:
        """Whether a free name of the callee is looked up in the same scope here."""
        if name in self.program.locals or name in self.program.bindings:
            return False
        cell = callee.scope.cells.get(name)
        return cell is self.program.scope.cells.get(name) and (
            cell is not None or callee.scope.globals is self.program.scope.globals
        )


def is_local_result(final: Node, function: Node) -> bool:
    """Whether the statement assigns the name that the function returns next."""
    result = function.body[-1].value
    return (
        isinstance(final.targets[0], gast.Name)
        and isinstance(result, gast.Name)
        and final.targets[0].id == result.id
    )


def bound_names_of(statements: list[Node]) -> frozenset[str]:
    return frozenset(name for s in statements for name in bound_names(s)) | set(assigned_names(statements))


def is_binding(node: Node) -> bool:
    return isinstance(node, gast.Name) and isinstance(node.ctx, (gast.Store, gast.Param))


def without_functions(tree: Node, names: set[str]) -> Node:
    return without_statements(tree, lambda s: isinstance(s, gast.FunctionDef) and s.name in names)


def without_unused(tree: Node) -> Node:
    """The function without nested functions that have no uses."""
    while True:
        nested = {n.name: n for n in find_nodes(tree, gast.FunctionDef) if n is not tree}
        read = read_counts(tree)  # without reads by the function itself
        unused = {name for name, n in nested.items() if read[name] == read_counts(n)[name]}
        if not unused:
            return tree

        tree = without_functions(tree, unused)
