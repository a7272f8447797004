"""Unrolls short loops over containers of known length whose items differ in class, rank, shape or activity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gast

from ..kinds import domain
from ..kinds.join import join_all
from ..kinds.lattice import Array, Dict, Kind, List, Literal, Record, Scalar, Tuple, widen
from ..kinds.queries import items_of, share_lengths_apart
from ..kinds.static_lengths import want_length
from ..transforms.analyses.definitions import Definitions
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.find_active import find_active
from ..transforms.analyses.operations import Alias, Build
from ..transforms.lowering.fold_literals import fold_literals
from ..transforms.lowering.gather_appends import gather_appends
from ..transforms.lowering.promote_items import promote_items
from ..transforms.lowering.unroll_loops import GROWTH, unroll_loops
from ..transforms.trees.nodes import (
    assigned_names,
    blocks_of,
    constant,
    find_nodes,
    is_atom,
    located,
    names_in,
    statements_in,
    target_names,
)
from ..transforms.trees.program import Program
from ..transforms.trees.rebuild import parameter_names, without_statements

__all__ = [
    "LoopFacts",
    "have_lengths",
    "may_have_items_apart",
    "with_items_apart",
    "without_lengths",
    "without_mixed_loops",
    "without_varied_loops",
]

Kinds = Mapping[str, Kind]
ROUNDS = 4  # of unrolling: a later loop may go over a list that an unrolled one made
APART = 60  # the most statements of an unrolled loop over arrays


@dataclass(frozen=True)
class LoopFacts:
    """Functions of a program with loops to unroll: `find_made` finds the facts with the kinds of names before
    any change, `without_unseen` replaces containers without aliases by variables.
    """

    find_made: Callable[[Program], Facts]
    without_unseen: Callable[[Program], Program]


def without_varied_loops(program: Program, loops: LoopFacts) -> tuple[Program, dict[str, int]]:
    """The program with loops over objects unrolled, and the lengths of lists that this assumes, by name."""
    if not any(isinstance(s, gast.For) for s in statements_in(program.tree.body)):
        return program, {}
    program = gather_appends(program)
    facts = loops.find_made(program)
    kind = facts.kind

    def items(atom: Any) -> tuple[Kind, ...]:
        found = _items(kind(atom))
        return found if all(isinstance(item, Record) for item in found) else ()

    def may_change(loop: Any) -> bool:
        """Whether a loop changes the objects that it iterates over."""
        names = target_names(loop.target)
        is_set = any(getattr(target.value, "id", None) in names for target in _stores(loop))
        return is_set or any(map(facts.may_change, find_nodes(loop, gast.Call)))

    wide = [s for s in find_nodes(program.tree, gast.For) if any(map(items, find_nodes(s.iter, gast.Name)))]
    changes = any(map(may_change, wide))

    def is_wanted(loop: Any) -> bool:
        found = [items(atom) for atom in find_nodes(loop.iter, gast.Name)]
        return any(_classes(kinds) > 1 or (changes and bool(kinds)) for kinds in found)

    return unroll_loops(program, lambda atom: _reads(atom, range(len(_items(kind(atom))))), is_wanted)


def may_have_items_apart(program: Program, kinds: Kinds, of_one_type: bool = False) -> bool:
    """Whether there may be loops that `with_items_apart` unrolls, by the kinds of the parameters."""
    loops = [s for s in statements_in(program.tree.body) if isinstance(s, gast.For)]
    if not any(find_nodes(s.iter, gast.Name) and (of_one_type or not _is_range(s.iter)) for s in loops):
        return False
    displays = find_nodes(program.tree, gast.Dict, gast.List, gast.Tuple)
    is_made = any(not isinstance(getattr(d, "ctx", None), gast.Store) for d in displays)
    return is_made or any(isinstance(k, (Dict, List, Tuple, Record)) for k in kinds.values())


def _is_range(source: Any) -> bool:
    return isinstance(source, gast.Call) and getattr(source.func, "id", "") == "range"


def with_items_apart(
    program: Program, given: Kinds, find: Callable[[Program], Facts], of_one_type: bool = False
) -> Program:
    """The program with short loops over arrays of different ranks, or over the keys of a dict of these,
    unrolled, so that each array has its own kind. If all are to be `of_one_type`, also loops over any items
    that differ in type, and those that compute keys or fill a list with objects. `given` are the kinds of the
    parameters; `find` finds the facts of a program.
    """
    for _ in range(ROUNDS):
        if not may_have_items_apart(program, given, of_one_type):
            break
        new = _apart(find(program), of_one_type)
        if new is program:
            break
        program = new
    return program


def _apart(facts: Facts, of_one_type: bool) -> Program:
    program, kind = facts.program, facts.kind

    def items(atom: Any) -> Sequence[Any] | None:
        match kind(atom):
            case Dict(pairs) if all(isinstance(key, str) for key, _ in pairs):
                return [located(constant(key), atom) for key, _ in pairs]
            case List(tuple() as found) | Tuple(found) if all(_is_text(k) for k in found):
                return [located(constant(k.value), atom) for k in found if isinstance(k, Literal)]
            case List(tuple() as found) | Tuple(found):
                return _reads(*sliced(atom, range(len(found))))
            case Literal(str() as text):
                return [located(constant(character), atom) for character in text]
            case Array() as array:
                return _reads(atom, range(len(domain.shape_of(array) or ())))
        return None

    def sliced(atom: Any, order: range) -> tuple[Any, range]:
        """For a slice of a list, the list and the positions of its items, if nothing changes either."""
        match made_by(atom):
            case [gast.Subscript(value=gast.Name() as base, slice=gast.Slice() as part)]:
                bounds = [_bound(b, kind) for b in (part.lower, part.upper, part.step)]
                items = items_of(kind(base))
                is_one = base.id in (given if not made_by(base) else once)
                if "unknown" not in bounds and items and is_one and is_only_read(program, {base.id, atom.id}):
                    return base, range(len(items))[slice(*bounds)]
        return atom, order

    def made_by(atom: Any) -> list[Any]:
        """The values assigned to a name; None for one bound by a statement with a block."""
        bound = (s for s in statements_in(program.tree.body) if atom.id in assigned_names([s]))
        return [getattr(s, "value", None) for s in bound]

    given = parameter_names(program.tree)
    last = Counter(n for s in statements_in(program.tree.body) for n in assigned_names([s]))
    outer = {n for s in program.tree.body for n in assigned_names([s]) if not blocks_of(s)}
    once = {n for n in outer if last[n] == 1 and n not in given}  # names bound to one object

    def is_wanted(loop: Any) -> bool:
        if (of_one_type and any(map(is_object, _appended(loop)))) or fills_dict(loop):
            return True
        sources = [kind(n) for n in find_nodes(loop.iter, gast.Name)]
        read = [n for n in find_nodes(loop, gast.Subscript) if is_atom(n.value)]
        if _is_range(loop.iter):
            keyed = (n for n in read if isinstance(n.slice, gast.Name) and isinstance(kind(n.value), Dict))
            return of_one_type and any(keyed)
        sources += [kind(n.value) for n in read]
        return any(map(_is_varied, sources)) or (of_one_type and any(map(_is_mixed, sources)))

    def is_object(atom: Any) -> bool:
        return isinstance(kind(atom), Record)

    def fills_dict(loop: Any) -> bool:
        """Whether a loop over texts stores by them into a dict that is empty at first."""
        names = target_names(loop.target)
        for s in find_nodes(loop, gast.Assign):
            match s.targets[0]:
                case gast.Subscript(value=gast.Name() as base, slice=gast.Name(id=key)) if key in names:
                    match made_by(base):
                        case [gast.Dict(keys=[])]:
                            return are_known([kind(n) for n in find_nodes(loop.iter, gast.Name)])
        return False

    def are_known(sources: list[Kind]) -> bool:
        """Whether texts are among the sources of a loop; asks for the lengths of arrays beside them."""
        if not any(map(_are_texts, sources)):
            return False
        for source in sources:
            if isinstance(source, Array) and source.dims:
                want_length(source.dims[0])
        return True

    growth = GROWTH if of_one_type else APART
    new, _ = unroll_loops(program, items, is_wanted, is_sure=True, growth=growth)
    if new is program:
        return program
    new = gather_appends(fold_literals(new, facts))
    read = {n.id for n in find_nodes(new.tree, gast.Name) if isinstance(n.ctx, gast.Load)}
    new = new.with_tree(without_statements(new.tree, lambda s: _is_slice(s) and s.targets[0].id not in read))
    return promote_items(new, names_in(new.tree))


def _are_texts(kind: Kind) -> bool:
    """Whether a kind is a known text, or a list or tuple of such."""
    items = kind.items if isinstance(kind, (List, Tuple)) else None
    return _is_text(kind) or (bool(items) and all(map(_is_text, items or ())))


def without_mixed_loops(facts: Facts, wrt: tuple[str, ...], to_ssa: Callable[[Program], Program]) -> Facts:
    """The facts of the program, in single assignment, with short loops over displays of active and inactive
    items unrolled; the parameters `wrt` are active, and `to_ssa` restores single assignment.
    """
    for _ in range(ROUNDS):
        program = facts.program
        definitions = Definitions(program.tree)
        loops = (s for s in statements_in(program.tree.body) if isinstance(s, gast.For))
        sources = {n.id for s in loops for n in find_nodes(s.iter, gast.Name)}
        if not any(isinstance(definitions.value(n), (gast.Tuple, gast.List, gast.Dict)) for n in sources):
            break
        new = _unmixed(facts, wrt)
        if new is program:
            break
        facts = facts.again(to_ssa(gather_appends(new)))
    return facts


def _unmixed(facts: Facts, wrt: tuple[str, ...]) -> Program:
    program = facts.program
    definitions, active = Definitions(program.tree), facts.of(find_active, wrt)

    def display(atom: Any) -> Build | None:
        """The display that an atom is bound to."""
        value = definitions.value(atom.id) if isinstance(atom, gast.Name) else None
        match None if value is None else facts.operation(value):
            case Alias(source=source):
                return display(source)
            case Build(node=gast.Tuple() | gast.List() | gast.Dict()) as found:
                return found
        return None

    def items(atom: Any) -> tuple[Any, ...]:
        found = display(atom)
        return () if found is None else found.items

    def is_mixed(atoms: Sequence[Any], by_kind: bool = False) -> bool:
        """Whether some of these items are active and others not; of items that have kinds of their own, as
        those of a tuple do, integers are known to be inactive.
        """
        numbers = [a for a in atoms if domain.may_hold_numbers(facts.kind(a), only_floats=by_kind)]
        inner = [items(a) for a in atoms]
        is_table = len({*map(len, inner)}) == 1
        return (
            len({getattr(a, "id", "") in active for a in numbers}) > 1
            or any(is_mixed(found, is_table) for found in inner)
            or (is_table and any(map(is_mixed, zip(*inner, strict=True))))
        )

    def rounds(atom: Any) -> Sequence[Any] | None:
        match facts.kind(atom):
            case Dict(pairs) if all(isinstance(key, str) for key, _ in pairs):
                return [located(constant(key), atom) for key, _ in pairs]
            case List(tuple() as found) | Tuple(found):
                return _reads(atom, range(len(found)))
        made = display(atom)
        is_tuple = made is not None and isinstance(made.node, gast.Tuple)
        return _reads(atom, range(len(items(atom)))) if is_tuple else None

    def is_wanted(loop: Any) -> bool:
        return any(is_mixed(items(atom)) for atom in find_nodes(loop.iter, gast.Name))

    return unroll_loops(program, rounds, is_wanted, is_sure=True, growth=APART)[0]


def _is_slice(s: Any) -> bool:
    """Whether a statement binds a name to a slice of a sequence."""
    match s:
        case gast.Assign(targets=[gast.Name()], value=gast.Subscript(slice=gast.Slice())):
            return True
    return False


def _is_varied(kind: Kind) -> bool:
    """Whether joining the kinds of a container's arrays loses facts: their ranks differ, or the arrays of
    each inner container have lengths in common that those of the others have not.
    """
    found = items_of(kind)
    arrays = [k for k in found if isinstance(k, Array) and k.dims is not None]
    if arrays:
        joined = join_all(found)
        is_plain = all(k in arrays or isinstance(k, Scalar) for k in found)
        return is_plain and (not isinstance(joined, Array) or joined.dims is None)
    return share_lengths_apart(found)


def _appended(loop: Any) -> list[Any]:
    """What a loop appends to lists."""
    calls = find_nodes(loop, gast.Call)
    return [c.args[0] for c in calls if getattr(c.func, "attr", "") == "append" and len(c.args) == 1]


def _is_mixed(kind: Kind) -> bool:
    """Whether the items of a container differ in type, or are texts or found by these."""
    found = items_of(kind)
    return isinstance(kind, Dict) or any(map(_is_text, found)) or len({*map(_type_of, found)}) > 1


def _type_of(kind: Kind) -> Any:
    """What kinds have in common whose values have one type in compiled code."""
    match widen(kind):
        case Array(dtype=dtype, dims=dims):
            return dtype, None if dims is None else len(dims)
        case List(tuple() as found):
            types = [*map(_type_of, found)]
            return (List, types[0]) if len({*types}) == 1 else (List, *types)
        case List(None, element):
            return List, _type_of(element)
        case Tuple(found, cls=cls):
            return (cls, *map(_type_of, found))
        case Dict(pairs):
            return (Dict, *((key, _type_of(k)) for key, k in pairs))
        case Scalar("int" | "float" | "bool"):
            return Scalar  # an integer among floats has a derivative
        case Record(cls=cls, fields=fields):
            return (cls, *((name, _type_of(k)) for name, k in fields))
        case other:
            return other


def _bound(bound: Any, kind: Callable[[Any], Kind]) -> Any:
    return None if bound is None else domain.literal_int(kind(bound))


def is_only_read(program: Program, names: Collection[str]) -> bool:
    """Whether a program only reads items of these names, iterates over them, and takes their lengths."""
    taken = Counter(n.id for n in find_nodes(program.tree, gast.Name) if n.id in names)
    for node in find_nodes(program.tree, gast.Subscript):
        if isinstance(node.ctx, gast.Load) and isinstance(node.value, gast.Name):
            taken[node.value.id] -= 1
    for node in find_nodes(program.tree, gast.For):
        sources = node.iter.args if isinstance(node.iter, gast.Call) else [node.iter]
        taken.subtract(n.id for n in sources if isinstance(n, gast.Name))
    for node in find_nodes(program.tree, gast.Call):
        if program.resolve(node.func) is len:
            taken.subtract(n.id for n in node.args if isinstance(n, gast.Name))
    bound = [n for s in statements_in(program.tree.body) for n in assigned_names([s]) if not blocks_of(s)]
    taken.subtract([*bound, *parameter_names(program.tree)])
    return not any(taken[n] for n in names)


def _is_text(kind: Kind) -> bool:
    return isinstance(kind, Literal) and isinstance(kind.value, str)


def _reads(sequence: Any, places: Iterable[int]) -> list[Any] | None:
    """The expressions of items of a list; None for no items."""
    items = [gast.Subscript(value=sequence, slice=constant(k), ctx=gast.Load()) for k in places]
    return [located(item, sequence) for item in items] or None


def _classes(kinds: Iterable[Kind]) -> int:
    """The number of objects among kinds that run other code: of other classes, or with other functions."""
    return len({_code_of(k) for k in kinds if isinstance(k, Record)})


def _code_of(kind: Kind) -> Any:
    """What the code depends on that an object of this kind runs."""
    match kind:
        case Record(cls, pairs):
            return cls, tuple([(name, _code_of(part)) for name, part in pairs])
        case Literal(value) if value is None or callable(value):
            return value
    return type(kind)


def _stores(loop: Any) -> list[Any]:
    """The attributes that a loop stores to."""
    return [t for s in find_nodes(loop, gast.Assign) for t in s.targets if isinstance(t, gast.Attribute)]


def have_lengths(facts: Facts, lengths: Mapping[str, int]) -> bool:
    """Whether the assumed lengths hold: the list has become variables, or has that length and objects of
    several classes.
    """

    def holds(s: Any) -> bool:
        match s:
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if name in lengths:
                if isinstance(value, gast.Constant):
                    return bool(value.value == lengths[name])
                items = _items(facts.kind(value.args[0]))
                return len(items) == lengths[name] and _classes(items) != 1
        return True

    return all(map(holds, statements_in(facts.program.tree.body)))


def without_lengths(program: Program, lengths: Collection[str]) -> Program:
    """The program without the assignments to these names."""

    def is_one(s: Any) -> bool:
        return isinstance(s, gast.Assign) and getattr(s.targets[0], "id", None) in lengths

    return program.with_tree(without_statements(program.tree, is_one)) if lengths else program


def _items(kind: Kind) -> tuple[Kind, ...]:
    """The kinds of the items of a list or tuple of known length."""
    return kind.items or () if isinstance(kind, (List, Tuple)) else ()
