"""Records: stores of active values into objects around the function that nothing reads back, such as
`history.append(float(loss))`.

Form: the single-assignment form. A recorded value has no derivative, so that the store happens as it is
written. Whether something reads it back is asked of all functions that one derivative runs: each read and
each record has a `Slot`, which says what kind of object is read, where, and what kind of value is found
there. Slots that differ are never one.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

import gast

from ..kinds.lattice import (
    UNKNOWN,
    Array,
    Dict,
    Foreign,
    Kind,
    List,
    Literal,
    Numeric,
    Record,
    Scalar,
    Set,
    Text,
    Tuple,
)
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_active import find_active, loop_elements
from ..transforms.analyses.find_aliases import ANYTHING, find_aliases, is_outside
from ..transforms.analyses.find_effects import changed_atoms, find_changes_by_name
from ..transforms.analyses.operations import Alias, Apply, Build, Call, Field, Inert, Item
from ..transforms.trees.bind_objects import Objects
from ..transforms.trees.nodes import (
    assign,
    bound_in_header,
    call,
    find_nodes,
    is_atom,
    load,
    names_read,
    own_statements,
    target_names,
)
from ..transforms.trees.program import MISSING
from ..transforms.trees.rebuild import rewritten, substitute
from ..values.objects import is_plain
from .object_facts import sets_plainly
from .open_calls import may_run_users_code
from .primitive_table import PRIMITIVES

__all__ = ["Slot", "are_read_back", "with_records"]

CONTAINERS = (list, dict, set, deque, OrderedDict, defaultdict, Counter)
ANY = object()  # any key


@dataclass(frozen=True)
class Slot:
    """A place in an object: what the object is ("list", "dict", "attribute", ...; "" if not known), its key
    there, and the kind of the value.
    """

    nature: str
    key: Any = ANY
    kind: Kind = UNKNOWN

    def may_be(self, other: Slot) -> bool:
        """Whether the two may be one place of one object."""
        if self.nature and other.nature and self.nature != other.nature:
            return False
        if ANY not in (self.key, other.key) and self.key != other.key:
            return False
        mine, others = _class_of(self.kind), _class_of(other.kind)
        return mine is None or others is None or mine == others


def _class_of(kind: Kind) -> Any:
    """The class of the values of a kind; None where it is not known."""
    match kind:
        case Scalar() | Literal(value=int() | float() | complex()):
            return "number"
        case Literal():
            return type(kind.value)
        case Record(cls) | Tuple(_, cls):
            return cls or tuple
        case Array() | Foreign() | List() | Dict() | Set() | Text():
            return str if isinstance(kind, Text) else type(kind)
    return None


EVERYTHING = Slot("")


def with_records(facts: Facts, wrt: tuple[str, ...]) -> tuple[Facts, list[Slot]]:
    """The program with `recorded(v)` in place of the active values that it stores into objects around it,
    and the slots of these.
    """
    found: dict[int, list[Any]] = {}
    slots = []
    active = None
    for s, values, slot in _stores(facts):
        active = facts.of(find_active, wrt) if active is None else active
        carrying = [v for v in values if isinstance(v, gast.Name) and v.id in active]
        if carrying:
            found[id(s)] = carrying
            slots.append(slot)
    if not found:
        return facts, []
    program = facts.program
    names = program.names.copy()
    objects = Objects(program, names)
    mark = objects.name(PRIMITIVES.helper("recorded"))

    def marked(s: Any) -> list[Any] | None:
        if id(s) not in found:
            return None
        made = {v.id: names.temporary(v.id) for v in found[id(s)]}
        before = [assign(new, call(mark, load(old)), s) for old, new in made.items()]
        return [*before, substitute(s, {old: load(new) for old, new in made.items()})]

    tree = rewritten(program.tree, marked, nested=False)
    return facts.again(program.with_tree(tree, names=names, bindings=objects.all_bindings())), slots


def _stores(facts: Facts) -> Iterator[tuple[Any, list[Any], Slot]]:
    """The stores into objects around the function that change nothing else: each with the stored atoms, and
    the slot.
    """
    for s in own_statements(facts.program.tree.body):
        match s:
            case gast.Expr(
                value=gast.Call(
                    func=gast.Attribute(value=gast.Name() as base, attr=attr), args=args, keywords=[]
                )
            ):
                cls = _container(facts, base)
                if cls is not None and attr in vars(cls) and all(map(is_atom, args)):
                    kind = facts.kind(args[0]) if attr in ("append", "appendleft", "add") else UNKNOWN
                    yield s, args, Slot(_nature(cls), kind=kind)
            case gast.Assign(targets=[gast.Subscript(value=gast.Name() as base, slice=index)], value=value):
                cls = _container(facts, base)
                if cls is not None and is_atom(index) and is_atom(value):
                    key = ANY if isinstance(index, gast.Name) else getattr(index, "value", ANY)
                    yield s, [value], Slot(_nature(cls), key if cls is dict else ANY, facts.kind(value))
            case gast.Assign(targets=[gast.Attribute(value=gast.Name() as base, attr=attr)], value=value):
                if is_atom(value) and _is_around(facts, base) and _sets_plainly(facts, base, attr):
                    yield s, [value], Slot("attribute", attr, facts.kind(value))


def _is_around(facts: Facts, base: Any) -> bool:
    """Whether a name surely holds an object that the function has from its scope, or a part of one."""
    roots = facts.of(find_aliases).held.get(base.id, ANYTHING)[0]
    return base.id not in facts.program.locals or roots == ANYTHING[0]


def _container(facts: Facts, base: Any) -> type | None:
    """The class of the container around the function that a name holds; None for anything else."""
    if not _is_around(facts, base):
        return None
    value = facts.program.resolve(base)
    if value is not MISSING:
        return type(value) if type(value) in CONTAINERS else None
    classes: dict[type, type] = {List: list, Dict: dict, Set: set}
    return classes.get(type(facts.kind(base)))


def _sets_plainly(facts: Facts, base: Any, attr: str) -> bool:
    """Whether a store to an attribute of the object of a name runs no code."""
    owner = facts.program.resolve(base)
    kind = facts.kind(base) if owner is MISSING else Record(type(owner), ())
    is_module = isinstance(owner, ModuleType)
    return is_module or (sets_plainly(kind, attr) and isinstance(kind, Record) and is_plain(kind.cls))


def _nature(cls: type) -> str:
    return "dict" if issubclass(cls, dict) else cls.__name__


# ---------------------------------------------------------------- reads


def are_read_back(records: Iterable[Slot], programs: Iterable[tuple[Facts, tuple[str, ...]]]) -> bool:
    """Whether a result of one of the programs, with the parameters that each is differentiated by, may depend
    on a record. What is read to be recorded again does not count.
    """
    slots = {*records}
    found = [(facts, [*_reads(facts, facts.of(find_active, wrt))]) for facts, wrt in programs]
    while True:
        more: set[Slot] = set()
        for facts, reads in found:
            seeds = {n for names, slot in reads if any(map(slot.may_be, slots)) for n in names}
            dependent = facts.of(find_active, tuple(sorted(seeds))) if seeds else frozenset()
            stores = {id(s): (values, slot) for s, values, slot in _stores(facts)}
            if not dependent.isdisjoint(_leaving(facts, stores)):
                return True
            more |= {slot for values, slot in stores.values() if not dependent.isdisjoint(names_read(values))}
        if more <= slots:
            return False
        slots |= more


def _leaving(facts: Facts, stores: Container[int]) -> Iterator[str]:
    """The names that a program returns, those whose objects it changes, and those that it stores where others
    see it, but in the statements `stores`.
    """
    program = facts.program
    yield from names_read(program.tree.body[-1])
    yield from (name for name, s in facts.of(find_changes_by_name) if id(s) not in stores)
    for s in own_statements(program.tree.body):
        match s:
            case _ if id(s) in stores:
                continue
            case (
                gast.Assign(targets=[gast.Subscript(value=base) | gast.Attribute(value=base)])
                | gast.AugAssign(target=gast.Subscript(value=base))
            ) if _may_be_around(facts, base):
                yield from names_read(s.value)
            case gast.Expr(value=gast.Call()) if changed_atoms(s.value, facts) != []:
                yield from names_read(s.value)


def _may_be_around(facts: Facts, node: Any) -> bool:
    """Whether an atom may hold an object from outside of the function, or a part of one."""
    if not isinstance(node, gast.Name) or facts.domain.is_immutable(facts.kind(node)):
        return False
    if node.id in facts.program.locals:
        return any(map(is_outside, facts.of(find_aliases).held.get(node.id, ANYTHING)[0]))
    value = facts.program.resolve(node)
    return not isinstance(value, (ModuleType, type)) and not callable(value)


def _reads(facts: Facts, active: frozenset[str]) -> Iterator[tuple[list[str], Slot]]:
    """What a program may read from objects around it: the names that depend on it, and the slot."""
    for s in own_statements(facts.program.tree.body):
        match s:
            case gast.Assign(targets=[target], value=value):
                made = [*(target_names(target) or names_read(target))]
                yield from _reads_of(facts, value, made, active)
            case gast.AugAssign(target=target, value=value):
                made = [*(target_names(target) or names_read(target))]
                yield from _reads_of(facts, value, made, active)
            case gast.Expr(value=gast.Call(func=gast.Attribute(value=gast.Name() as owner), args=args)) if (
                _nature_of(facts, owner)
            ):
                for base in filter(partial(_may_be_around, facts), args):
                    yield [owner.id], _whole(facts, base)
            case gast.Expr(value=gast.Call() as value):
                changed = changed_atoms(value, facts)
                made = [*names_read([value] if changed is None else changed)]
                yield from _reads_of(facts, value, [n for n in made if n in facts.program.locals], active)
            case gast.For():
                for target, source in loop_elements(s):
                    for base in filter(partial(_may_be_around, facts), find_nodes(source, gast.Name)):
                        yield target_names(target), _slot(facts, base, ANY, target_names(target))
            case gast.With():
                yield [n.id for n in bound_in_header(s)], EVERYTHING
            case gast.FunctionDef():
                yield [s.name], EVERYTHING
            case gast.Return(value=value) if _may_be_around(facts, value):
                yield [value.id], _whole(facts, value)


def _reads_of(
    facts: Facts, value: Any, made: list[str], active: frozenset[str]
) -> Iterator[tuple[list[str], Slot]]:
    """The reads of an expression whose value the names `made` depend on."""
    for node in find_nodes(value, gast.Attribute):
        yield made, Slot("attribute", node.attr, facts.kind(load(made[0])) if len(made) == 1 else UNKNOWN)
    operation = facts.operation(value)
    match operation:
        case Item(base=base, index=index) if _may_be_around(facts, base):
            is_key = isinstance(index, gast.Constant) and _nature_of(facts, base) == "dict"
            yield made, _slot(facts, base, index.value if is_key else ANY, made)
        case Alias() | Build() | Item() | Inert() | Field():
            pass
        case Call(function=FunctionType()) if not active.isdisjoint(names_read(value)):
            pass  # a derivative of its own, whose reads are found there
        case Call():
            yield made, EVERYTHING
        case Apply() if isinstance(value, gast.Call) and may_run_users_code(facts, value):
            yield made, EVERYTHING
        case _:
            for base in filter(partial(_may_be_around, facts), find_nodes(value, gast.Name)):
                yield made, _whole(facts, base)


def _nature_of(facts: Facts, base: Any) -> str:
    """The nature of the object of a name; "" if not known."""
    value = facts.program.resolve(base)
    if type(value) in CONTAINERS:
        return _nature(type(value))
    natures: dict[type, str] = {List: "list", Dict: "dict", Set: "set", Tuple: "tuple"}
    arrays = (Array, Foreign, Numeric, Scalar)
    return "array" if isinstance(facts.kind(base), arrays) else natures.get(type(facts.kind(base)), "")


def _slot(facts: Facts, base: Any, key: Any, made: list[str]) -> Slot:
    """The slot of an item of `base` that the names `made` get."""
    return Slot(_nature_of(facts, base), key, facts.kind(load(made[0])) if len(made) == 1 else UNKNOWN)


def _whole(facts: Facts, base: Any) -> Slot:
    """The slot of all that the object of a name holds."""
    return Slot("array") if _nature_of(facts, base) == "array" else EVERYTHING
