"""Gives each variable a unique name.

Form in: a function that `check_syntax` accepts. Form out: no two variables anywhere in it share a name,
nested functions, lambdas and comprehensions included, and none is named like a global that is read in it. The
variables of the outermost function keep their names; the others are renamed where they collide. `locals` and
`names` of the program are set; annotations of parameters are dropped.

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> print(to_source(resolve_names(program_of('''
... def f(x: float):
...     g = lambda x: x * x
...     return g(x=x + 1)
... ''')).tree))
def f(x):
    g = lambda x_2: x_2 * x_2
    return g(x_2=x + 1)
<BLANKLINE>
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import gast

from ..trees.nodes import children, defaults_of, find_nodes, located, walk_scope
from ..trees.program import Names, Program
from ..trees.rebuild import bound_names, map_children, parameters, rebuilt

__all__ = ["resolve_names"]

Node = Any  # gast publishes no types
Function = (gast.FunctionDef, gast.Lambda)
Comprehension = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
Env = Mapping[str, str]  # a variable of the source, visible here -> its name


def resolve_names(program: Program) -> Program:
    """The program with one name for each variable, and with all names known."""
    tree = program.tree
    own = set(local_names(tree))
    declared = {name for n in find_nodes(tree, gast.Global, gast.Nonlocal) for name in n.names} - own
    free = set(global_names(tree, frozenset()))
    names = Names(own | free | declared | {tree.name} | set(program.bindings), program.names.reserved)
    renamer = _Renamer(program, names, own)
    body = renamer.statements(tree.body, {name: name for name in own})
    args = map_parameters(tree.args, plain)
    new = rebuilt(tree, args=args, body=body, returns=None, type_params=[])
    new = rename_keywords(program, new, renamer.renamed)
    names.taken |= {n.id for n in find_nodes(tree, gast.Name)}
    annotations = [n.annotation for n in find_nodes(tree, gast.Name) if n.annotation is not None]
    names.taken |= {n.id for a in annotations for n in gast.walk(a) if isinstance(n, gast.Name)}
    return program.with_tree(new, locals=bound_names(new) - declared, names=names)


def local_names(function: Node) -> list[str]:
    """The variables of a function or lambda, parameters first."""
    args = function.args
    stars = [p for p in (args.vararg, args.kwarg) if p is not None]
    found = dict.fromkeys(p.id for p in [*parameters(function), *stars])
    outside: set[str] = set()
    for n in scope_nodes(function.body if isinstance(function, gast.FunctionDef) else [function.body]):
        if isinstance(n, gast.Name) and isinstance(n.ctx, (gast.Store, gast.Del)):
            found[n.id] = None
        elif isinstance(n, gast.FunctionDef):
            found[n.name] = None
        elif isinstance(n, (gast.Import, gast.ImportFrom)):
            found.update(dict.fromkeys(map(imported_name, n.names)))
        elif isinstance(n, (gast.Global, gast.Nonlocal)):
            outside.update(n.names)
    return [name for name in found if name not in outside]


def imported_name(alias: Node) -> str:
    """The variable that a part of an import binds."""
    name: str = alias.asname or alias.name.partition(".")[0]
    return name


def comprehension_names(node: Node) -> list[str]:
    """The variables of a comprehension: the targets of its loops."""
    return list(
        dict.fromkeys(
            n.id
            for g in node.generators
            for n in gast.walk(g.target)
            if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)
        )
    )


def scope_nodes(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes in a function's own scope: of nested functions the defaults, of targets in comprehensions
    those of `:=`.
    """
    for node in nodes:
        yield node
        if isinstance(node, Function):
            yield from scope_nodes(defaults_of(node))
        elif isinstance(node, gast.AnnAssign):
            yield from scope_nodes([node.target, *([node.value] if node.value else [])])
        elif isinstance(node, gast.comprehension):
            yield from scope_nodes([node.iter, *node.ifs])
        else:
            yield from scope_nodes(children(node))


def global_names(function: Node, visible: frozenset[str]) -> Iterator[str]:
    """The names that a function reads and no enclosing function binds."""
    outside: set[str] = set()
    if find_nodes(function, gast.Global):
        outside = {name for n in walk_scope(function.body) if isinstance(n, gast.Global) for name in n.names}
    visible = (visible - outside) | set(local_names(function))
    yield from free_names(
        function.body if isinstance(function, gast.FunctionDef) else [function.body], visible
    )


def free_names(nodes: Iterable[Node], visible: frozenset[str]) -> Iterator[str]:
    for n in nodes:
        if isinstance(n, Function):
            yield from free_names(defaults_of(n), visible)
            yield from global_names(n, visible)
        elif isinstance(n, Comprehension):
            first, inner = n.generators[0].iter, visible | set(comprehension_names(n))
            yield from free_names([first], visible)
            yield from free_names([c for c in walk_comprehension(n) if c is not first], inner)
        elif isinstance(n, gast.Name):
            if n.id not in visible:
                yield n.id
        elif isinstance(n, gast.AnnAssign):
            yield from free_names([n.target, *([n.value] if n.value else [])], visible)
        else:
            yield from free_names(children(n), visible)


def walk_comprehension(node: Node) -> list[Node]:
    """The expressions directly in a comprehension."""
    values = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
    return [*values, *(e for g in node.generators for e in (g.target, g.iter, *g.ifs))]


def plain(parameter: Node) -> Node:
    """The parameter without its annotation."""
    return rebuilt(parameter, annotation=None, type_comment=None)


def map_parameters(args: Node, change: Callable[[Node], Node], **changes: Any) -> Node:
    """The parameters, star parameters included, each replaced by `change` of it."""
    listed = {f: [change(p) for p in getattr(args, f)] for f in ("args", "posonlyargs", "kwonlyargs")}
    stars = {f: change(p) for f in ("vararg", "kwarg") if (p := getattr(args, f)) is not None}
    return rebuilt(args, **listed, **stars, **changes)


class _Renamer:
    """Renames scope by scope; `renamed` maps a nested function's id to the new names of its parameters."""

    def __init__(self, program: Program, names: Names, own: set[str]) -> None:
        self.program, self.names, self.own = program, names, own
        self.renamed: dict[int, dict[str, str]] = {}
        self.kept: list[Node] = []  # keeps ids unique

    def statements(self, body: list[Node], env: Env) -> list[Node]:
        return [self.node(s, env) for s in body]

    def node(self, node: Node, env: Env) -> Node:
        match node:
            case gast.Name():
                name = env.get(node.id, node.id)
                return node if name == node.id else rebuilt(node, id=name)
            case gast.FunctionDef():
                return self.function(node, env, name=env[node.name], returns=None)
            case gast.ListComp() | gast.SetComp() | gast.DictComp() | gast.GeneratorExp():
                return self.comprehension(node, env)
            case gast.Import() | gast.ImportFrom():
                names = [self.imported(a, env, isinstance(node, gast.Import)) for a in node.names]
                return rebuilt(node, names=names)
            case gast.Global():
                for name in node.names:
                    if env.get(name, name) != name or name in self.own:
                        self.program.refuse(
                            node,
                            f"`global {name}` where a function around has a variable `{name}`",
                            "one name would mean two variables",
                            "rename the variable",
                        )
                return node
            case gast.Lambda():
                return self.function(node, env)
            case gast.Nonlocal():
                return rebuilt(node, names=[env.get(name, name) for name in node.names])
            case gast.AnnAssign():
                return rebuilt(
                    node, target=self.node(node.target, env), value=node.value and self.node(node.value, env)
                )
            case _:
                return map_children(node, lambda child: self.node(child, env))

    def imported(self, alias: Node, env: Env, whole: bool) -> Node:
        """The part of an import, binding the variable's new name."""
        old = imported_name(alias)
        if env[old] == old:
            return alias
        if whole and alias.asname is None and "." in alias.name:
            self.program.refuse(
                alias,
                f"`import {alias.name}` where another variable is named `{old}`",
                "one name would mean two variables",
                f"give the module a name: `import {alias.name} as ...`",
            )
        return rebuilt(alias, asname=env[old])

    def comprehension(self, node: Node, env: Env) -> Node:
        """The comprehension with its own variables; its first iterable is outside of their scope."""
        inner = {**env, **{name: self.names.fresh(name) for name in comprehension_names(node)}}
        loops = [
            rebuilt(
                g,
                target=self.node(g.target, inner),
                iter=self.node(g.iter, inner if k else env),
                ifs=[self.node(test, inner) for test in g.ifs],
            )
            for k, g in enumerate(node.generators)
        ]
        values = {f: self.node(getattr(node, f), inner) for f in ("elt", "key", "value") if f in node._fields}
        return rebuilt(node, generators=loops, **values)

    def function(self, node: Node, env: Env, **changes: Any) -> Node:
        own = {name: self.names.fresh(name) for name in local_names(node)}
        inner = {**env, **own}
        args = map_parameters(
            node.args,
            lambda p: rebuilt(plain(p), id=own[p.id]),
            defaults=[self.node(d, env) for d in node.args.defaults],
            kw_defaults=[d and self.node(d, env) for d in node.args.kw_defaults],
        )
        body = (
            self.node(node.body, inner)
            if isinstance(node, gast.Lambda)
            else self.statements(node.body, inner)
        )
        new = rebuilt(node, args=args, body=body, **changes)
        self.kept.append(new)
        self.renamed[id(new)] = {p.id: own[p.id] for p in [*node.args.args, *node.args.kwonlyargs]}
        return new


def rename_keywords(program: Program, tree: Node, renamed: dict[int, dict[str, str]]) -> Node:
    """The tree in which calls by keyword use the new names of nested functions' parameters."""
    if all(old == new for mapping in renamed.values() for old, new in mapping.items()):
        return tree
    known = definitions(tree, renamed)
    lost = {old for mapping in renamed.values() for old, new in mapping.items() if old != new}
    local = bound_names(tree)

    def change(node: Node) -> Node:
        new = map_children(node, change)
        if not isinstance(node, gast.Call) or not node.keywords:
            return new
        callee = getattr(node.func, "id", None)
        if callee in known:
            mapping = known[callee]
            return rebuilt(
                new,
                keywords=[
                    located(gast.keyword(arg=mapping.get(k.arg, k.arg), value=k.value), k)
                    for k in new.keywords
                ],
            )
        if callee in local or not isinstance(node.func, (gast.Name, gast.Attribute)):
            for k in node.keywords:
                if k.arg in lost:
                    program.refuse(
                        node,
                        f"the call passes `{k.arg}` by name to a dynamic function",
                        f"a nested function's parameter `{k.arg}` is renamed: another variable has its name",
                        "pass the argument by position, or give the parameter a name of its own",
                    )
        return new

    return rebuilt(tree, body=[change(s) for s in tree.body])


def definitions(tree: Node, renamed: dict[int, dict[str, str]]) -> dict[str, dict[str, str]]:
    """The renamed parameters of each name that is bound once, to a nested function or lambda."""
    bound: Counter[str] = Counter()
    found: dict[str, dict[str, str]] = {}
    for n in gast.walk(tree):
        if isinstance(n, gast.Name) and isinstance(n.ctx, (gast.Store, gast.Param)):
            bound[n.id] += 1
        elif isinstance(n, gast.FunctionDef) and n is not tree:
            bound[n.name] += 1
            found[n.name] = renamed[id(n)]
        if (
            isinstance(n, gast.Assign)
            and isinstance(n.value, gast.Lambda)
            and isinstance(n.targets[0], gast.Name)
            and len(n.targets) == 1
        ):
            found[n.targets[0].id] = renamed[id(n.value)]
    return {name: mapping for name, mapping in found.items() if bound[name] == 1}
