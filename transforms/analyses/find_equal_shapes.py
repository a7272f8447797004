"""Arrays of equal shape: the operands and results of elementwise operations.

    d = x[i:] - x[0]
    s = np.sqrt(d) * 2.0 - d        # d, s and all in between

Form: the single-assignment form, with kinds. A name that one place assigns has one value wherever it is read,
and so have the names computed from it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast

from ..trees.nodes import bound_here, own_statements
from .facts import Facts
from .operations import Alias, Apply

__all__ = ["find_equal_shapes"]


def find_equal_shapes(facts: Facts) -> dict[str, str]:
    """Maps each array to the first array of the same shape: arrays with the same one have one shape."""
    program = facts.program

    def is_array(atom: Any) -> bool:
        """Whether an atom has axes."""
        return facts.domain.is_array(facts.kind(atom))

    statements = own_statements(program.tree.body)
    times = Counter(a.id for a in program.tree.args.args)
    times.update(n for s in statements for n in bound_here(s))
    first: dict[str, str] = {}
    for s in statements:
        match s:
            case gast.Assign(targets=[gast.Name(id=name) as target], value=value) if (
                times[name] == 1 and is_array(target)
            ):
                shaping = _shaping(facts, value)
                known = [a.id for a in shaping if getattr(a, "id", None) in times and is_array(a)]
                found = {first.get(n, n) for n in known if times[n] == 1}
                if len(found) == 1 and len(known) == len(shaping) and all(times[n] == 1 for n in known):
                    first[name] = found.pop()
    return first


def _shaping(facts: Facts, value: Any) -> list[Any]:
    """The operands that determine the shape of an elementwise result."""
    match facts.operation(value):
        case Alias(source=gast.Name() as source):
            return [source]
        case Apply(args=args, keywords=()) if facts.is_elementwise(value):
            return [a for a in args if not facts.domain.is_scalar(facts.kind(a))]
    return []
