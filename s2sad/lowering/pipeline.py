"""What a program does to arrays, written for the kinds of its names: stores, updates and views."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..analysis.identity_calls import copied_by, returned_by
from ..analysis.primitive_table import PRIMITIVES
from ..analysis.program_facts import Analysis, FindEffect, FindKinds
from ..analysis.store_facts import Stored, reads_of
from ..kinds import domain
from ..kinds.lattice import Dict, Kind, List
from ..transforms.lowering.add_in_place import add_in_place
from ..transforms.lowering.add_items import add_items
from ..transforms.lowering.array_operands import array_operands
from ..transforms.lowering.drop_conversions import drop_conversions
from ..transforms.lowering.drop_same_stores import drop_same_stores
from ..transforms.lowering.hoist_items import hoist_items
from ..transforms.lowering.join_item_stores import join_item_stores
from ..transforms.lowering.lower_augmented import lower_augmented
from ..transforms.lowering.merge_versions import merge_versions
from ..transforms.lowering.read_displays import read_displays
from ..transforms.lowering.rematerialise_views import rematerialise_views
from ..transforms.lowering.rename_overwritten import rename_overwritten
from ..transforms.lowering.share_reads import share_reads
from ..transforms.normal_form.expand_item_updates import expand_item_updates
from ..transforms.trees.program import Program
from .functionalise_calls import lowered_calls
from .import_globals import with_outer_arrays
from .writes_to_stores import lowered_writes

__all__ = ["lowered"]


def lowered(
    program: Program,
    kinds: Mapping[str, Kind],
    find_kinds: FindKinds,
    effect: FindEffect,
    watch: Callable[[str, Program], None],
    outer: bool = False,
) -> Analysis:
    """The analysis of a program, its augmented assignments written as what they are for these kinds; with
    `outer` arrays from outside that it writes to are variables.
    """
    found = Analysis(program, kinds, effect)

    def follow(changed: Program) -> Analysis:
        return found if changed is found.program else Analysis(changed, find_kinds(changed), effect)

    kind, operations = found.kind, found.operations
    program = drop_conversions(
        program,
        lambda call: returned_by(operations.of(call), kind),
        lambda call: copied_by(operations.of(call), kind),
        PRIMITIVES.helper("np"),
    )
    given = found = found.of(program)
    found = found.of(read_displays(found.program, found.operations.of, found.holds_steadily))
    if outer:
        found = follow(with_outer_arrays(found))
    found = follow(lowered_writes(found.program, found.kinds, find_kinds))
    if outer and found.calls_unknown:  # what is called may read them
        found = given
        found = follow(lowered_writes(program, kinds, find_kinds))
    found = follow(lowered_calls(found.program, found.kind, found.effect_at, found.may_share))
    found = found.of(
        rename_overwritten(found.program, lambda: found.aliases, found.is_elementwise, found.is_replaced)
    )
    found = follow(array_operands(found.program, found.listed, PRIMITIVES.helper("np")))
    found = follow(add_items(found.program, lambda atom: domain.is_floating(found.kind(atom))))
    stored = Stored(found.program, found.kind, found.operations)
    found = follow(
        join_item_stores(found.program, lambda base: domain.is_array(found.kind(base)), stored.is_inert)
    )
    guard = PRIMITIVES.helper("refuse_held")
    found = follow(
        expand_item_updates(
            found.program,
            lambda base: domain.item_nature(found.kind(base)),
            lambda item: domain.holds_array(found.kind(item.value), item.slice, found.kind),
            guard,
        )
    )
    found = follow(
        lower_augmented(
            found.program, lambda: found.aliases, found.nature, PRIMITIVES.helper, found.is_addition
        )
    )
    found = follow(drop_same_stores(found.program, lambda base: isinstance(found.kind(base), (List, Dict))))
    stored = Stored(found.program, found.kind, found.operations)
    found = found.of(add_in_place(found.program, stored.is_like, stored.is_basic, stored.is_inert))
    found = follow(merge_versions(found.program))
    reads = reads_of(found.kind, found.operations, found.changes.is_changed)
    found = follow(rematerialise_views(found.program, reads))
    program, alike = hoist_items(found.program, found.keys_of)
    if program is not found.program:
        kinds = {**found.kinds, **{new: found.kind_of_name(old) for new, old in alike.items()}}
        found = Analysis(program, kinds, effect)
    found = found.of(share_reads(found.program, found.is_steady, found.changes.is_changed))
    watch("lower_augmented", found.program)
    return found.of(found.guarded())
