"""Whether a derivative with a heap is preferred to one without: always, or if it is plain."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import gast

from ..kinds import domain
from ..kinds.lattice import UNKNOWN
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_aliases import NOTHING, find_aliases, is_outside
from ..transforms.analyses.operations import Call
from ..transforms.heap.heap_methods import READING
from ..transforms.trees.nodes import find_nodes, statements_in, target_names
from ..transforms.trees.program import MISSING
from .constructors import new_class
from .primitive_table import PRIMITIVES

__all__ = ["fills_dicts", "leaves_objects_unknown", "prefers_heap"]


def fills_dicts(facts: Facts, active: frozenset[str]) -> bool:
    """Whether the function stores into a dict of its own, whose keys are known at run time."""
    held = facts.of(find_aliases).held
    made, filled = set(), set()
    for s in statements_in(facts.program.tree.body):
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if _makes_dict(value, facts):
                made.add(name)
            case (
                gast.Assign(targets=[gast.Subscript(value=gast.Name() as base)])
                | gast.AugAssign(target=gast.Subscript(value=gast.Name() as base))
            ) if base.id in active and facts.kind(base) is UNKNOWN:
                filled.add(base.id)
    return any(roots and roots <= made for roots in (held.get(name, NOTHING)[0] for name in filled))


def leaves_objects_unknown(facts: Facts, active: frozenset[str]) -> bool:
    """Whether what an object is stays unknown that the memory of a heap may know: a known function, which may
    be recursive, returns it, or a method of it is called.
    """
    for s in statements_in(facts.program.tree.body):
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call(func=func)) if name in active:
                operation = facts.operation(s.value)
                function = operation.function if isinstance(operation, Call) else None
                if isinstance(function, FunctionType) and facts.kind_of_name(name) is UNKNOWN:
                    return True
                is_method = isinstance(func, gast.Attribute) and isinstance(func.value, gast.Name)
                if function is MISSING and is_method and facts.kind(func.value) is UNKNOWN:
                    return True
    return False


def _makes_dict(value: Any, facts: Facts) -> bool:
    function = facts.program.resolve(value.func) if isinstance(value, gast.Call) else None
    return isinstance(value, gast.Dict) or (isinstance(function, type) and issubclass(function, dict))


def _is_open(facts: Facts, node: Any) -> bool:
    operation = facts.operation(node)
    return isinstance(operation, Call) and operation.function is MISSING


def prefers_heap(facts: Facts, active: frozenset[str]) -> bool:
    """Whether the function makes a container with dynamic aliases or methods, which a heap follows: an array
    that an operator changes in it may have other holders, or its class is unknown where a method is called;
    or it makes an object whose class is not known any more, or not known for sure, where it is called.
    """
    is_generic = any(facts.kind(p) is UNKNOWN for p in facts.program.tree.args.args)

    def of_container(s: Any) -> bool:
        return isinstance(s, gast.Subscript) and not domain.is_array(facts.kind(s.value))

    made = dict[str, Any]()  # the names of objects, and their classes
    for s in find_nodes(facts.program.tree, gast.Assign):
        cls = new_class(s.value, facts.program, facts.kind)
        made.update(dict.fromkeys(target_names(s.targets[0]), cls) if cls is not MISSING else {})
    makes_callables = any(any("__call__" in vars(c) for c in cls.__mro__) for cls in made.values())
    bases = []
    guard = PRIMITIVES.helper("refuse_shared")
    for c in find_nodes(facts.program.tree, gast.Call):
        called = getattr(c.func, "value", c.func)
        if getattr(called, "id", "") in made and facts.kind(called) is UNKNOWN:
            return True
        if isinstance(c.func, gast.Name) and makes_callables and _is_open(facts, c):
            bases.append(c.func.id)
        if facts.program.resolve(c.func) is guard and not is_generic:
            bases.append(c.args[0].id)
        elif isinstance(c.func, gast.Attribute) and c.func.attr in READING:
            name = getattr(c.func.value, "id", "")
            bases += [name] if name in active and facts.kind_of_name(name) is UNKNOWN else []
    updates = [s for s in find_nodes(facts.program.tree, gast.AugAssign) if of_container(s.target)]
    if not bases and not updates:
        return False
    held = facts.of(find_aliases).held
    filled = {
        root
        for s in find_nodes(facts.program.tree, gast.Assign)
        if of_container(s.targets[0]) and domain.is_array(facts.kind(s.value))
        for root in held.get(s.targets[0].value.id, NOTHING)[0]
    }
    bases += [
        s.target.value.id
        for s in updates
        if domain.is_array(facts.kind(s.value))
        or (facts.kind(s.value) is UNKNOWN and not is_generic)
        or not filled.isdisjoint(held.get(s.target.value.id, NOTHING)[0])
    ]
    roots = (held[b][0] for b in bases if b in held and not domain.is_tuple(facts.kind_of_name(b)))
    return any(found and not any(map(is_outside, found)) for found in roots)
