"""Checks of angles before a loop that takes sines of them: those without branches are for angles that are not
too large.

`at_d = np.sin(w * x[i])` has before it a loop with `far |= abs(w * x[i]) > LARGEST`; where that holds, the
loop takes the functions of the library.
"""

from __future__ import annotations

import re

from .emit_alone import Alone
from .measure_axes import names_in
from .read_expressions import OPERATORS
from .steps import Loop, Step

__all__ = ["Angles"]


class Angles(Alone):
    """Writes checks of angles."""

    def value_text(self, s: Step) -> str:
        """The text of what an iteration of a step computes."""
        raise NotImplementedError

    def may_check_angles(self, loop: Loop, direct: list[Step]) -> bool:
        """Whether a loop takes sines that may be vectorized, of angles that are known before it stores."""
        if len(direct) < len(loop.body):
            return False
        stores = {s.target for s in direct if s.is_store and self.group.made_by(s.target) is None}
        if any(self.lowering.may_share(r.name, name) for s in direct for r in s.reads for name in stores):
            return False
        found: list[str] = []
        self.angles = found
        for s in direct:
            self.value_text(s)
        self.angles = None
        return bool(found)

    def check_angles(self, depth: int, steps: list[Step], far: str) -> None:
        """Notes whether an angle is larger than what the sines without branches are made for."""
        found: list[tuple[str, str]] = []  # what is assigned, and the text with it
        for s in steps:
            self.angles = []
            text = self.value_text(s)
            test = f"{far} |= abs({{}}) > {self.name_for('LARGEST')}"
            found += [("", test.format(angle)) for angle in self.angles]
            self.angles = None
            if s.is_computed or (s.is_store and self.group.made_by(s.target) is not None):
                found.append((self.own("at", s.target), f"{self.assigned(s)} {text}"))
        needed: set[str] = set()
        kept: list[str] = []
        for target, text in reversed(found):
            if (not target and text not in kept) or target in needed:
                kept.append(text)
                needed |= names_in(re.sub(r"^\w+ \S*= ", "", text))
        for text in reversed(kept):
            self.write(depth, text)

    def assigned(self, s: Step) -> str:
        """The text before the value of a step that makes an element, or changes it."""
        return f"{self.own('at', s.target)} {'' if s.op is None else OPERATORS[type(s.op)]}="
