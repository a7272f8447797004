"""Nested functions that rebind variables of enclosing functions, as functions that take and return these
variables.

Form in: a function with resolved names. Form out: the same, without `nonlocal`. A function with `nonlocal`
that is used as a value is refused, since its calls are not known.

>>> from s2sad.transforms.normal_form.resolve_names import resolve_names
>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> print(to_source(desugar_nonlocals(resolve_names(program_of('''
... def f(x):
...     total = x
...     def add(v):
...         nonlocal total
...         total = total * v
...     add(x)
...     return total
... '''))).tree))
def f(x):
    total = x
<BLANKLINE>
    def add(total_2, v):
        total_2 = total_2 * v
        return total_2
    total = add(total, x)
    return total
<BLANKLINE>
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast

from ..trees.nodes import (
    assign,
    assigned_names,
    binding_counts,
    blocks_of,
    constant,
    find_nodes,
    has_stars,
    load,
    located,
    names_in,
    names_read,
    param,
    store,
    tuple_of,
    walk,
    walk_scope,
)
from ..trees.program import Program
from ..trees.rebuild import map_children, rebuilt, substitute
from .resolve_names import local_names

__all__ = ["desugar_nonlocals"]

Node = Any  # gast publishes no types


def desugar_nonlocals(program: Program) -> Program:
    """The program with calls that pass and assign the variables that nested functions rebind."""
    if not find_nodes(program.tree, gast.Nonlocal):
        return program
    rebinding = _rebinding(program)
    writer = _Writer(program, rebinding)
    writer.check()
    tree = rebuilt(program.tree, body=writer.block(program.tree.body))
    return program.with_tree(tree, names=writer.names)


@dataclass(frozen=True)
class Rebinding:
    """The enclosing variables that a nested function rebinds, itself or by calls, those of them that it may
    read before, and whether it returns a value other than None.
    """

    variables: tuple[str, ...]
    passed: tuple[str, ...]
    has_result: bool


def _rebinding(program: Program) -> dict[str, Rebinding]:
    """The nested functions that rebind variables, by name."""
    tree = program.tree
    functions: dict[str, list[Node]] = {}
    for n in find_nodes(tree, gast.FunctionDef):
        functions.setdefault(n.name, []).extend([n] if n is not tree else [])
    declared = {name: set().union(*map(_declared, ns)) for name, ns in functions.items()}
    called = {
        name: {_name_of(c) for n in ns for c in walk_scope(n.body)} & functions.keys()
        for name, ns in functions.items()
    }
    own = {name: {v for n in ns for v in local_names(n)} - declared[name] for name, ns in functions.items()}
    found = declared
    while True:
        larger = {n: found[n] | set().union(*(found[c] for c in called[n])) - own[n] for n in functions}
        if larger == found:
            break
        found = larger
    result = {}
    for name, ns in functions.items():
        variables = tuple(sorted(found[name]))
        passed = tuple(v for v in variables if not all(_binds_first(n, v, found) for n in ns))
        if variables:
            result[name] = Rebinding(variables, passed, any(map(_has_result, ns)))
    return result


def _declared(function: Node) -> set[str]:
    return {name for n in walk_scope(function.body) if isinstance(n, gast.Nonlocal) for name in n.names}


def _binds_first(function: Node, variable: str, rebound: dict[str, set[str]]) -> bool:
    """Whether a function assigns a variable before it reads it or returns: the variable may be unbound then.
    """
    for s in function.body:
        if isinstance(s, gast.Assign) and variable in assigned_names(s) and not names_read(s.targets):
            return variable not in _mentioned(s.value, rebound)
        if variable in _mentioned(s, rebound) or find_nodes(s, gast.Return):
            return False
    return False


def _mentioned(node: Node, rebound: dict[str, set[str]]) -> frozenset[str]:
    """The names in a tree, and the variables that functions of these names rebind."""
    names = names_in(node)
    return names.union(*(rebound.get(n, ()) for n in names))


def _holders_of_readers(tree: Node, variable: str, rebinders: set[str], inside: set[int]) -> set[str]:
    """The names that may hold a function that reads a variable, of the code that is not `inside` another."""
    found: set[str] = set()
    makers: set[str] = set()  # functions that may return one
    size = -1
    statements = [n for n in walk(tree) if isinstance(n, gast.stmt) and n is not tree and id(n) not in inside]

    def holds(*nodes: Node) -> bool:
        inner = [n for node in nodes for n in walk(node)]
        called = {id(c.func) for c in inner if isinstance(c, gast.Call) and _name_of(c) not in makers}
        if any(isinstance(n, gast.Name) and n.id in found and id(n) not in called for n in inner):
            return True
        return any(isinstance(n, gast.Lambda) and variable in names_in(n) for n in inner)

    while size < len(found) + len(makers):
        size = len(found) + len(makers)
        for s in statements:
            if isinstance(s, gast.FunctionDef):
                own = variable in local_names(s) or s.name in rebinders
                if not own and not (found | {variable}).isdisjoint(names_read(s.body)):
                    found.add(s.name)
                    nested = any(n is not s for n in find_nodes(s, gast.FunctionDef))
                    makers |= {s.name} if nested or holds(*s.body) else set()
            elif isinstance(s, gast.For):
                found |= names_in(s.target) if holds(s.iter) else set()
            elif not blocks_of(s) and not isinstance(s, gast.Return) and holds(s):
                found |= set(assigned_names(s)) if isinstance(s, gast.Assign) else names_in(s)
        found -= {variable, *rebinders}
    return found


def _has_result(function: Node) -> bool:
    returned = [n.value for n in walk_scope(function.body) if isinstance(n, gast.Return)]
    return any(v is not None and not (isinstance(v, gast.Constant) and v.value is None) for v in returned)


def _name_of(node: Node) -> str:
    return getattr(node.func, "id", "") if isinstance(node, gast.Call) else ""


class _Writer:
    def __init__(self, program: Program, rebinding: dict[str, Rebinding]) -> None:
        self.program, self.rebinding, self.names = program, rebinding, program.names.copy()

    def check(self) -> None:
        """Raises UnsupportedSyntaxError for uses of these functions other than plain calls."""
        tree = self.program.tree
        bound = binding_counts(tree)
        calls = [c for c in find_nodes(tree, gast.Call) if _name_of(c) in self.rebinding and not has_stars(c)]
        called = {id(c.func) for c in calls}
        for n in find_nodes(tree, gast.Name):
            if n.id in self.rebinding and (id(n) not in called or bound[n.id] > 1):
                self.refuse(n, "is used as a value", f"call `{n.id}` by its name")
        self.check_readers()
        for n in walk(tree):
            if isinstance(n, gast.Lambda):
                self.refuse_calls([n.body], "is called in a lambda", "call it in a `def`")
            elif isinstance(n, gast.Try) and n.handlers:
                self.refuse_calls(n.body, "is called in a `try`", "call it in the `else` of the `try`")

    def check_readers(self) -> None:
        """Raises UnsupportedSyntaxError where a function that rebinds a variable may call one that reads it:
        the new value is not passed there.
        """
        tree = self.program.tree
        for name, found in self.rebinding.items():
            definitions = [n for n in find_nodes(tree, gast.FunctionDef) if n.name == name]
            inside = {id(n) for d in definitions for n in walk(d)}
            given = [c for c in find_nodes(tree, gast.Call) if _name_of(c) == name]
            inside |= {id(n) for c in given for part in (*c.args, *c.keywords) for n in walk(part)}
            lambdas = {id(n) for c in given for f in find_nodes(c, gast.Lambda) for n in walk(f)}
            for variable in found.variables:
                rebinders = {n for n, other in self.rebinding.items() if variable in other.variables}
                holders = _holders_of_readers(tree, variable, rebinders, inside)
                for n in find_nodes(tree, gast.Name):
                    if id(n) in (lambdas if n.id == variable else inside if n.id in holders else ()):
                        self.program.refuse(
                            n,
                            f"a function that reads `{variable}`, where another rebinds it: `{n.id}`",
                            f"`{name}` may call it, and the new value is not passed there",
                            f"pass `{variable}` as an argument",
                        )

    def refuse_calls(self, inside: list[Node], what: str, instead: str) -> None:
        for n in (n for s in inside for n in walk(s)):
            if _name_of(n) in self.rebinding:
                self.refuse(n, what, instead)

    def refuse(self, node: Node, what: str, instead: str) -> None:
        name = getattr(node, "id", "") or _name_of(node)
        self.program.refuse(
            node,
            f"a nested function with `nonlocal`, `{name}`, that {what}",
            "when it changes its variables is not followed",
            instead,
        )

    # ------------------------------------------------------------ functions

    def block(self, statements: list[Node]) -> list[Node]:
        return [self.node(s) for s in statements]

    def function(self, node: Node) -> Node:
        """A nested function; one that rebinds variables has those as its first parameters that it may
        read before.
        """
        node = rebuilt(node, body=self.block(node.body))
        found = self.rebinding.get(node.name)
        if found is None:
            return node
        mapping = {name: load(self.names.fresh(name)) for name in found.variables}
        state = [mapping[name] for name in found.variables]
        end = located(gast.Return(value=None), node.body[-1])
        body = [returning(s, state, found.has_result) for s in substitute([*node.body, end], mapping)]
        args, given = node.args, [param(mapping[n].id) for n in found.passed]
        if args.posonlyargs:
            args = rebuilt(args, posonlyargs=[*given, *args.posonlyargs])
        else:
            args = rebuilt(args, args=[*given, *args.args])
        return rebuilt(node, args=args, body=body)

    # ------------------------------------------------------------ calls

    def node(self, node: Node) -> Node:
        match node:
            case gast.FunctionDef():
                return self.function(node)
            case gast.Nonlocal():
                return located(gast.Pass(), node)
            case gast.Expr(value=gast.Call() as call) if _name_of(call) in self.rebinding:
                found = self.rebinding[_name_of(call)]
                unused = [self.names.temporary("result")] if found.has_result else []
                return assign(self.targets(found, unused), self.passing(call), node)
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call() as call) if (
                _name_of(call) in self.rebinding and self.has_own_result(call, name)
            ):
                return assign(self.targets(self.rebinding[call.func.id], [name]), self.passing(call), node)
            case gast.Call() if _name_of(node) in self.rebinding:
                return self.value(node)
        return map_children(node, self.node)

    def has_own_result(self, call: Node, name: str) -> bool:
        found = self.rebinding[call.func.id]
        return found.has_result and name not in found.variables

    def targets(self, found: Rebinding, results: list[str]) -> Any:
        names = [*results, *found.variables]
        return names[0] if len(names) == 1 else tuple_of(map(store, names), gast.Store())

    def passing(self, call: Node) -> Node:
        """The call with the variables as arguments."""
        new = map_children(call, self.node)
        passed = self.rebinding[call.func.id].passed
        return rebuilt(new, args=[*(located(load(n), call) for n in passed), *new.args])

    def value(self, call: Node) -> Node:
        """A call in an expression, as `(r := g(s), s := r[1], r[0])[2]`."""
        found = self.rebinding[call.func.id]
        held = self.names.temporary(call.func.id)
        single = len(found.variables) == 1 and not found.has_result

        def part(k: int) -> Node:
            return load(held) if single else part_of(load(held), k)

        made = gast.NamedExpr(target=store(held), value=self.passing(call))
        rebound = [
            gast.NamedExpr(target=store(name), value=part(k))
            for k, name in enumerate(found.variables, int(found.has_result))
        ]
        result = part(0) if found.has_result else constant(None)
        return located(part_of(tuple_of([made, *rebound, result]), len(rebound) + 1), call)


def part_of(value: Node, k: int) -> Node:
    return gast.Subscript(value=value, slice=constant(k), ctx=gast.Load())


def returning(s: Node, state: list[Node], has_result: bool) -> Node:
    """A statement of a function with its returns extended by the state."""
    if isinstance(s, gast.Return):
        value = s.value if s.value is not None else constant(None)
        items = [*([value] if has_result else []), *state]  # the value comes first: it may rebind them
        return rebuilt(s, value=items[0] if len(items) == 1 else tuple_of(items))
    if isinstance(s, (gast.FunctionDef, gast.Lambda)) or not isinstance(s, (gast.stmt, gast.ExceptHandler)):
        return s
    return map_children(s, lambda child: returning(child, state, has_result))
