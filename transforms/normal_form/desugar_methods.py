"""Names of containers' methods, replaced where they are called.

Form in: a function with resolved names. Form out: the same, without names for methods of lists, dicts and the
like that the function made, where such a name is only called.

>>> from s2sad.transforms.trees.printer import to_source
>>> from s2sad.transforms.trees.program import program_of
>>> print(to_source(desugar_methods(program_of('''
... def f(x):
...     items = []
...     push = items.append
...     for v in x:
...         push(v)
...     return items
... ''')).tree), end="")
def f(x):
    items = []
    for v in x:
        items.append(v)
    return items
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import gast

from ..trees.nodes import bound_counts, find_nodes, located, read_counts
from ..trees.program import Program
from ..trees.rebuild import map_blocks, map_children, rebuilt, with_body

__all__ = ["desugar_methods"]

Node = Any  # gast publishes no types

DISPLAYS = (gast.List, gast.ListComp, gast.Dict, gast.DictComp, gast.Set, gast.SetComp)
MAKERS = (list, dict, set, deque, defaultdict, OrderedDict)
DEFERRED = (gast.FunctionDef, gast.Lambda, gast.GeneratorExp)


def desugar_methods(program: Program) -> Program:
    """The program with method calls for calls of their names."""
    if not any(map(is_named_method, find_nodes(program.tree, gast.Assign))):
        return program
    bound = bound_counts(program.tree)
    read = read_counts(program.tree)
    made = Counter(
        s.targets[0].id
        for s in find_nodes(program.tree, gast.Assign)
        if len(s.targets) == 1 and isinstance(s.targets[0], gast.Name) and makes_container(program, s.value)
    )

    def can_go(s: Node, rest: list[Node]) -> bool:
        """Whether the statements after an assignment have all uses of its name, and all are calls."""
        name, base = s.targets[0].id, s.value.value.id
        stays = made[base] > 0 and made[base] == bound[base] and bound[name] == 1
        names = [n for s in rest for n in find_nodes(s, gast.Name)]
        is_bound = any(n.id == base and not isinstance(n.ctx, gast.Load) for n in names)
        return stays and not is_bound and sum(count_calls(s, name) for s in rest) == read[name]

    def block(statements: list[Node]) -> list[Node]:
        result: list[Node] = []
        todo = list(statements)
        while todo:
            s = todo.pop(0)
            if is_named_method(s) and can_go(s, todo):
                todo = [called(t, s.targets[0].id, s.value) for t in todo]
            else:
                result.append(map_blocks(s, block))
        return result

    return program.with_tree(with_body(program.tree, block(program.tree.body)))


def is_named_method(s: Node) -> bool:
    match s:
        case gast.Assign(targets=[gast.Name()], value=gast.Attribute(value=gast.Name())):
            return True
    return False


def makes_container(program: Program, value: Node) -> bool:
    if isinstance(value, gast.Call):
        return program.resolve(value.func) in MAKERS
    return isinstance(value, DISPLAYS)


def count_calls(node: Node, name: str) -> int:
    """The number of calls of a name, without those in nested functions."""
    if isinstance(node, DEFERRED):
        return 0
    is_call = isinstance(node, gast.Call) and getattr(node.func, "id", None) == name
    return is_call + sum(count_calls(n, name) for n in gast.iter_child_nodes(node))


def called(node: Node, name: str, method: Node) -> Node:
    """The node with method calls for calls of the name."""
    new = map_children(node, lambda child: called(child, name, method))
    if isinstance(new, gast.Call) and getattr(new.func, "id", None) == name:
        return rebuilt(new, func=located(rebuilt(method), new.func))
    return new
