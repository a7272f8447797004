"""Adjoints that are updated in place."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np
import pytest

from s2sad.transforms.simplification.code import apply_rules
from s2sad.transforms.simplification.update_in_place import update_in_place
from s2sad.transforms.trees.nodes import loads
from tests.support.before_after import check
from tests.support.generated_facts import generated_facts

UPDATED = {
    "a product": ("dx_1 = w * 2; dx_2 = dx_1 * w; return dx_2", "dx_1 = w * 2; dx_1 *= w; return dx_1"),
    "on the right": ("dx_1 = w * 2; dx_2 = w + dx_1; return dx_2", "dx_1 = w * 2; dx_1 += w; return dx_1"),
    "again and again": (
        "dx_1 = w * 2; dx_2 = dx_1 / w; dx_3 = dx_2 - w; dx = dx_3 * dout; return dx",
        "dx = w * 2; dx /= w; dx -= w; dx *= dout; return dx",
    ),
    "read before": (
        "dx_1 = w * 2; dy = np.sum(dx_1); dz = dx_1 * 3; dx_2 = dx_1 * w; return dx_2, dy, dz",
        "dx_1 = w * 2; dy = np.sum(dx_1); dz = dx_1 * 3; dx_1 *= w; return dx_1, dy, dz",
    ),
    "in a loop": (
        "for i in range(3):\n        dx_1 = w * i\n        dx_2 = dx_1 + w\n        w = w + dx_2; return w",
        "for i in range(3):\n        dx_1 = w * i\n        dx_1 += w\n        w = w + dx_1; return w",
    ),
    "updated before": (
        "dx_1 = w * 2; dx_1 -= w; dx_2 = dx_1 * w; return dx_2",
        "dx_1 = w * 2; dx_1 -= w; dx_1 *= w; return dx_1",
    ),
}

LEFT = {
    "updated after": "dx_1 = w * 2; dx_2 = dx_1 * w; dx_1 -= w; return dx_2 + dx_1",
    "updated in a loop": (
        "dx_1 = w * 2\n    for i in range(2):\n        dx_1 += w; dx_2 = dx_1 * w; dx_1 -= 1; return dx_2"
    ),
    "read after": "dx_1 = w * 2; dx_2 = dx_1 * w; return dx_2, dx_1",
    "read in the next iteration": (
        "dx_1 = w * 2; for i in range(3):\n        dx_2 = dx_1 * w\n        w = w + dx_2; return w"
    ),
    "subtracted from": "dx_1 = w * 2; dx_2 = w - dx_1; return dx_2",
    "read twice": "dx_1 = w * 2; dx_2 = dx_1 * dx_1; return dx_2",
    "a view of it": "dx_1 = w * 2; dv = dx_1[1:]; dx_2 = dx_1 * w; return dx_2, dv",
    "what may be a view of it": "dx_1 = w * 2; dv = np.ravel(dx_1); dx_2 = dx_1 * w; return dx_2, dv",
    "another name of it": "dx_1 = w * 2; dv = dx_1; dx_2 = dx_1 * w; return dx_2, dv",
    "in a list": "dx_1 = w * 2; dv = [dx_1]; dx_2 = dx_1 * w; return dx_2, dv",
    "appended": "dx_1 = w * 2; dv = []; dv.append(dx_1); dx_2 = dx_1 * w; return dx_2, dv",
    "an argument": "dx_2 = dout * w; return dx_2, dout",
    "of another shape": "ds_1 = w * 2; ds_2 = ds_1 * np.ones((2, 3)); return ds_2",
    "of a dtype that the caller has chosen": "dx_1 = dout * 2; dx_2 = dx_1 * w; return dx_2",
    "of another variable": "dx_1 = w * 2; dy_2 = dx_1 * w; return dy_2",
    "a closure's": "dx_1 = w * 2; dx_2 = dx_1 * w; def f():\n        return dx_1; return dx_2, f()",
    "on one path": (
        "dx_1 = w * 2; if w[0] > 0:\n        dx_2 = dx_1 * w; else:\n        dx_2 = w; return dx_2, dx_1"
    ),
}


def updated(tree: Any) -> Any:
    facts = generated_facts(
        is_of_form=lambda value, name: "w" in loads(value),
        have_one_form=lambda a, b: not a.startswith("ds"),
        is_fresh=lambda call: getattr(call.func, "attr", "") == "sum",
    )
    return apply_rules(tree, facts, {gast.Assign: (update_in_place,)})


@pytest.mark.parametrize("name", [*UPDATED, *LEFT])
def test_before_and_after(name: str) -> None:
    before, after = UPDATED.get(name) or (LEFT[name], LEFT[name])
    texts = ["def f(w, dout):\n    " + body.replace("; ", "\n    ") + "\n" for body in (before, after)]
    check(updated, texts[0], texts[1], (np.array([0.5, 1.5, 2.0]), np.array([2, 3, 5])))
