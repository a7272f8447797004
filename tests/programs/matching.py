"""`match`: literals, captures, sequences, mappings, alternatives, guards."""

import math
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from tests.programs.declare import positive, program


@program((0.8, "sin"), (0.8, "square"), (0.8, "other"))
def by_literal(x, kind):
    match kind:
        case "sin":
            return math.sin(x)
        case "square" | "power":
            return x * x
        case _:
            return 3.0 * x


@program((("circle", 1.5),), ((0.4, 1.5),), ((0.3, 0.4, 0.5),), second=True)
def by_shape(shape):
    match shape:
        case ("circle", r):
            area = 3.0 * r * r
        case (a, b):
            area = a * b * b
        case [a, *rest]:
            area = a * rest[0] * rest[1]
    return area


@program((0.8, 1.3), (1.3, 0.8), wrt=(0, 1), second=True, quick=True)
def with_guards(x, y):
    match (x, y):
        case (a, b) if a < b:
            z = a * b
        case (a, b):
            z = a / b
    return z * x


@program(({"a": 0.4, "b": 1.5},), ({"c": 0.4},), ({"d": 0.7},), quick=True)
def by_keys(params):
    match params:
        case {"a": a, "b": b}:
            return a * b
        case {"c": c}:
            return c**3
        case {**rest}:
            return rest["d"] * 2.0


@program((0.8, None), (0.8, 2), (0.8, 2.5), (0.8, [1]), quick=True)
def by_class(x, option):
    match option:
        case None:
            return x
        case int():
            return x**option
        case float(power):
            return x**power
        case _:
            return x * len(option)


@program(((0.8, (1.3, 0.4)),), second=True, quick=True)
def nested_pattern(tree):
    match tree:
        case (x, (y, z)) as whole:
            return x * y + z * whole[0]
    return 0.0


@program((0.8, (0, 1.3)), (0.8, (1.3, 0)), wrt=(0, 1), quick=True)
def captures_in_alternatives(x, pair):
    match pair:
        case (0, y) | (y, 0):
            return x * y
    return x


@program(([0.8, 0.5, 1.2, 0.9],), second=True, quick=True)
def first_and_last(values):
    match values:
        case [first, *_, last]:
            return first * last
    return values[0]


@program((positive(3), [("scale", 2.0), ("shift", 0.5), ("stop",), ("scale", 9.0)]), wrt=(0,), quick=True)
def interpreter(x, steps):
    for step in steps:
        match step:
            case ("scale", a):
                x = x * a
            case ("shift", a):
                x = x + a
                continue
            case ("stop",):
                break
        x = x * 1.1
    return x


@program((0.8, 3), (0.8, 4), quick=True)
def guard_that_falls_through(x, n):
    match n:
        case k if k % 2 == 0:
            y = x * k
        case 3:
            y = x**3
        case _:
            y = 0.0
    return y


# ---------------------------------------------------------------- attributes


class Mode(Enum):
    LIN = 1
    QUAD = 2


@dataclass
class Op:
    mode: Mode
    c: float


class Circle:
    __match_args__ = ("r",)

    def __init__(self, r):
        self.r = r


class Box:
    def __init__(self, w, h):
        self.w, self.h = w, h

    @property
    def ratio(self):
        return self.w / self.h


class Spot(NamedTuple):
    x: float
    y: float


@program((0.7, 1.2), wrt=(0, 1), second=True, quick=True)
def attributes_of_a_class(x, c):
    total = 0.0
    for op in [Op(Mode.LIN, c), Op(Mode.QUAD, c * x), Op(Mode.LIN, 2.0)]:
        match op:
            case Op(mode=Mode.LIN, c=k):
                total += k * x
            case Op(Mode.QUAD, k) if k > 0:
                total += k * x**2
    return total


@program((0.7, 1.2), wrt=(0, 1), second=True)
def attributes_by_name_and_position(x, y):
    total = 0.0
    for s in (Circle(x), Box(x, y), Spot(x, y), [Circle(y), Spot(y, x)], 3.0, Box(y, 1.0)):
        match s:
            case Circle(r):
                total += math.pi * r**2
            case Box(depth=d):
                total += 1000.0 * d
            case Box(w=w, h=1.0):
                total += w
            case Box(w=w, h=q):
                total += w * q
            case Spot(x=a, y=b):
                total += a * b
            case [Circle(r=q), Spot(0.0, _) | Spot(y=_)]:
                total += q
            case float(v) | int(v):
                total += v * x
    return total


@program((Circle(0.7), Op("lin", 0.4)), wrt=(0, 1), second=True, quick=True)
def attributes_of_arguments(c, op):
    match c, op:
        case Circle(r), Op(Mode.QUAD, k):
            return r * k
        case Circle(r=r), Op(c=k):
            return r**2 * k


@program((0.7, 1.2), wrt=(0, 1), second=True)
def attributes_of_what_is_changed(x, y):
    held = [Circle(x), Box(x, y)]
    for h in held:
        match h:
            case Circle(r):
                h.r = r * y
            case Box(w=w):
                h.w = w * held[0].r
    return held[1].w * held[1].ratio
