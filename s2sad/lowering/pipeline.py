"""The passes that lower stores, in-place updates and views of arrays, given the kinds of names."""

from __future__ import annotations

from ..transforms import Watch
from ..transforms.analyses.facts import Facts
from ..transforms.analyses.steadiness import calls_unknown
from ..transforms.lowering.add_in_place import add_in_place
from ..transforms.lowering.add_items import add_items
from ..transforms.lowering.array_operands import array_operands
from ..transforms.lowering.drop_conversions import drop_conversions
from ..transforms.lowering.hoist_items import hoist_items
from ..transforms.lowering.join_item_stores import join_item_stores
from ..transforms.lowering.lower_augmented import lower_augmented
from ..transforms.lowering.merge_versions import merge_versions
from ..transforms.lowering.read_displays import read_displays
from ..transforms.lowering.rematerialise_views import rematerialise_views
from ..transforms.lowering.rename_overwritten import rename_overwritten
from ..transforms.lowering.share_reads import share_reads
from ..transforms.normal_form.expand_item_updates import expand_item_updates
from .functionalise_calls import lowered_calls
from .guard_overlaps import guard_overlaps
from .import_globals import with_outer_arrays
from .plain_slots import plain_slots
from .writes_to_stores import lowered_writes

__all__ = ["lowered"]


def lowered(facts: Facts, watch: Watch, outer: bool = False) -> Facts:
    """The facts of a program with stores, in-place updates and views lowered for these kinds; with `outer`,
    arrays of outer scopes that it writes to become variables.
    """
    facts = facts.again(plain_slots(facts))
    facts = given = facts.after(drop_conversions(facts))
    facts = facts.after(read_displays(facts))
    if outer:
        facts = facts.again(with_outer_arrays(facts))
    facts = facts.again(lowered_writes(facts))
    if outer and facts.of(calls_unknown):  # the callee may read the outer arrays
        facts = given.again(lowered_writes(given))
    facts = facts.again(lowered_calls(facts))
    facts = facts.after(rename_overwritten(facts))
    for step in (array_operands, add_items, join_item_stores, expand_item_updates, lower_augmented):
        facts = facts.again(step(facts))
    facts = facts.after(add_in_place(facts))
    facts = facts.again(merge_versions(facts.program))
    facts = facts.again(rematerialise_views(facts))
    program, alike = hoist_items(facts)
    if program is not facts.program:
        kinds = {**facts.kinds, **{new: facts.kind_of_name(old) for new, old in alike.items()}}
        facts = facts.with_kinds(program, kinds)
    facts = facts.after(share_reads(facts))
    watch("lower_augmented", facts.program)
    return facts.after(guard_overlaps(facts))
