"""What objects hold: the kinds of attributes and items in programs with a heap."""

from __future__ import annotations

import pytest

import s2sad

# mypy: allow-untyped-defs


class Body:
    def __init__(self, pos, vel):
        self.pos, self.vel = pos, vel

    def drift(self, dt):
        self.pos = self.pos + self.vel * dt


def bodies(x, n):
    found = [Body(x * k, 1.0) for k in range(n)]
    for _ in range(3):
        for body in found:
            body.drift(0.1)
    return sum(body.pos * body.pos for body in found)


def mixed_items(x, n):
    rows = [[0.0] * n for _ in range(2)]
    rows[0][1] = x
    rows.append([1, x])
    return rows[0][1] * rows[2][0] * rows[2][1]


def through_another_name(x, k):
    boxes = [Body(x, 0.0), Body(1.0, 0.0)]
    boxes[k].vel = [x, x]
    held = boxes[k].vel
    held[0] = x * x
    boxes[1 - k].vel = 2.0
    return boxes[k].vel[0] * boxes[1 - k].vel * boxes[0].pos


def test_numbers_in_objects_need_no_guards() -> None:
    source = s2sad.grad(bodies).source_for(1.0, 3)
    assert "unbroadcast" not in source
    assert "d = Shadows()" in source and "heap" not in source


PROGRAMS = [(bodies, (1.5, 4)), (mixed_items, (1.5, 3)), (through_another_name, (1.5, 0))]


@pytest.mark.parametrize(("f", "args"), PROGRAMS)
def test_gradients(f, args) -> None:
    x, *rest = args
    h = 1e-6
    difference = (f(x + h, *rest) - f(x - h, *rest)) / (2 * h)
    assert s2sad.grad(f)(*args) == pytest.approx(difference, rel=1e-6)
    assert s2sad.jvp(f, args, (1.0,), argnums=(0,))[1] == pytest.approx(difference, rel=1e-6)
