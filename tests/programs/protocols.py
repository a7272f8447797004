"""What classes define for Python to call: iteration, items, lengths; methods of classes and named tuples."""

import functools
import operator
from collections import namedtuple
from typing import NamedTuple

import numpy as np

from tests.programs.declare import positive, program


class Body:
    def __init__(self, m, x, v):
        self.m, self.x, self.v = m, x, v


class Group:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]

    def __contains__(self, v):
        return v in self.items


class Table:
    def __init__(self, a, b):
        self.parts = {"a": a, "b": b}

    def __iter__(self):
        return iter(self.parts.values())

    def __getitem__(self, k):
        return self.parts[k]

    def __setitem__(self, k, v):
        self.parts[k] = v


@program((positive(3, 2), 0.05), wrt=(0, 1), second=True)
def bodies_of_a_group(x0, dt):
    group = Group([])
    for x in x0:
        group.items.append(Body(1.0, x, x * 0.5))
    for b in group:
        b.x = b.x + dt * b.v
    return np.sum(group[0].x * group[1].x) * len(group)


@program((Group([0.3, 1.4]),), second=True)
def group_of_numbers(g):
    inside = 1.0 if 5.0 in g else 2.0
    return (sum(v**2 for v in g) + g[0] * g[-1] + max(g) + len(g)) * inside


@program((Group(positive(2)),))
def group_of_an_array(g):
    total = 0.0
    for i, v in enumerate(g):
        total += i * v**2
    a, b = g
    return total + sum([2 * v for v in g]) + a * b + np.sum(np.array(list(g)))


@program((0.3, 1.4), wrt=(0, 1), second=True)
def groups_zipped(x, y):
    a, b = Group([x, y]), Group([y, x * y])
    return sum(u * v for u, v in zip(a, b, strict=True)) + sum(a) * sum(v**2 for v in sorted(b))


@program((0.3, 1.4), wrt=(0, 1), second=True, quick=True)
def group_in_a_group_of_loops(x, y):
    g = Group([x, y])
    total = 0.0
    for u in g:
        for v in g:
            if u is v:
                continue
            total = total + u**2 * v
    return total + (1.0 if x in g else 0.0)


@program((0.3, 1.4), wrt=(0, 1), second=True)
def group_and_a_list_of_it(x, y):
    g = Group([Body(x, y, x), Body(y, x, x)])
    other = list(g)
    for b in g:
        b.x = b.x * b.m
    other[0].x = other[0].x + y
    return sum(b.x for b in g) * g[0].x * len(g)


@program((0.3, 1.4), wrt=(0, 1), second=True, quick=True)
def items_set_by_the_class(x, y):
    t = Table(x, y)
    t["a"] = x * y
    t["b"] += x
    return t["a"] ** 2 * t["b"]


@program((0.3, 1.4), wrt=(0, 1), second=True, quick=True)
def values_of_a_table(x, y):
    t = Table(x, y)
    total = 0.0
    for v in t:
        total += v**2
    return total * t["a"]


@program((0.3, 1.4), wrt=(0, 1), second=True)
def views_of_a_dict_with_names(x, y):
    parts = {"a": x, "b": y}
    values, pairs = parts.values(), parts.items()
    total = 0.0
    for v in values:
        total += v**2
    for _, v in pairs:
        total *= v
    return total + sum(values)


# ---------------------------------------------------------------- methods of classes


class Base:
    scale = 2.0

    def __init__(self, v):
        self.v = v

    @classmethod
    def make(cls, v):
        return cls(v * cls.scale)

    @classmethod
    def scaled(cls, v, *, by=1.0):
        return v * cls.scale * by

    def again(self):
        return self.make(self.v)


class Derived(Base):
    scale = 3.0


@program((0.7,), second=True)
def class_method_of_an_object(x):
    b = Derived(x)
    return b.make(x * b.v).v + b.again().v ** 2 + b.scaled(x, by=x) ** 2


@program((Derived(0.7),), second=True, quick=True)
def class_method_of_an_argument(b):
    return b.make(b.v**2).v + b.again().v ** 2 + b.again().make(3.0).v * b.v


@program((0.7,), second=True, quick=True)
def class_methods_of_different_classes(x):
    held = [Derived(x), Base(x)]
    for c in held:
        c.v = c.v * c.scaled(x)
    return held[0].v * held[1].v


# ---------------------------------------------------------------- named tuples

Pair = namedtuple("Pair", "a b")


class Limits(NamedTuple):
    low: float = -3.0
    high: float = 3.0


class Limited:
    def __init__(self, value, limits=None):
        self.value, self.limits = value, limits or Limits()

    def step(self, x):
        self.value = max(min(self.value * x, self.limits.high), self.limits.low)


@program((1.3,), second=True, quick=True)
def named_tuples_of_defaults(x):
    low, high = Limits()
    limits = Limits()
    for k in range(3):
        limits = Limits(limits.high * x, limits.low + x) if k else Limits()._replace(low=x)
    return min(x * x, Limits().high) * low + limits.low * limits.high * high


@program((1.3,), second=True)
def named_tuples_of_defaults_in_objects(x):
    values = [Limited(x), Limited(2.0 * x, Limits(high=x + 5.0))]
    for v in values + values[::-1]:
        v.step(x)
    return values[0].value * values[1].value


class State(NamedTuple):
    pos: float
    vel: float = 1.0

    @property
    def energy(self):
        return self.pos**2 + self.vel**2

    def moved(self, dt):
        return self._replace(pos=self.pos + dt * self.vel)


@program((Pair(0.7, 0.3), 0.5), wrt=(0, 1), second=True)
def items_of_a_named_tuple_replaced(p, y):
    q = p
    for _ in range(3):
        q = q._replace(a=q.a * y, b=y)
    return q.a * q.b + p._replace().a


@program((0.7, 0.5), wrt=(0, 1), quick=True)
def state_of_a_named_tuple(x, dt):
    s = State(x)
    for _ in range(3):
        s = s.moved(dt)._replace(vel=s.vel - dt * s.pos)
    return s.energy


@program((Pair(0.7, 0.3), 0.5), wrt=(0, 1), second=True)
def dict_of_a_named_tuple(p, y):
    return p._asdict()["a"] * y + sum(v**2 for v in p._asdict().values())


def shifted(p, y):
    return type(p)(p[0] + y, p[1] * y)


@program((Pair(0.7, 0.3), 0.5), wrt=(0, 1), second=True, quick=True)
def named_tuples_of_the_same_class(p, y):
    held = [shifted(p, y), shifted(State(y, p.a), y)]
    made = [State, Pair][int(y > 0.2)](held[1].vel, y)
    return made.a * held[1].pos * held[0].b


@program((0.7, 0.5), wrt=(0, 1), second=True, quick=True)
def named_tuples_replaced_in_a_list(x, dt):
    states = [State(x), Pair(x, dt)]
    states[0] = states[0]._replace(vel=dt)
    moved = [s._replace(pos=dt * s.pos) for s in states[:1]]
    return moved[0].pos * states[0].vel


class Grid:
    """Numbers in rows, by pairs of indices."""

    def __init__(self, rows, columns):
        self.columns = columns
        self.items = [0.0] * (rows * columns)

    def __getitem__(self, place):
        i, j = place
        return self.items[i * self.columns + j]

    def __setitem__(self, place, value):
        i, j = place
        self.items[i * self.columns + j] = value

    def trace(self):
        return sum(self[i, i] for i in range(self.columns))


@program((0.7, 1.3), wrt=(0, 1))
def items_by_pairs(x, y):
    grid = Grid(2, 2)
    for i in range(2):
        for j in range(2):
            grid[i, j] = x * (i + 1) + y * j
    grid[0, 1] += x * grid[1, 0]
    return grid.trace() * grid[0, 1]


@program((0.7, 1.3), wrt=(0, 1))
def items_by_pairs_of_two_names(x, y):
    grid = Grid(1, 2)
    grids = [grid]
    grid[0, 0] = x
    grids[0][0, 1] = y * grid[0, 0]
    return grid[0, 0] * grids[0][0, 1]


class Sheet:
    def __init__(self, values):
        self.values = values

    def __getitem__(self, place):
        return self.values[place]

    def __setitem__(self, place, value):
        self.values[place] = value


@program((positive(3, seed=4),), quick=True)
def items_by_slices(x):
    sheet = Sheet(np.outer(x, x))
    sheet[0, 1] = x[2]
    sheet[1:, 0] = x[0] * 2
    return np.sum(sheet[0, :] * sheet[:, 1]) + sheet[2, 2] + np.sum(sheet[1:][0])


@program((positive(2), 1.5), wrt=(0, 1), second=True, quick=True)
def made_of_items(x, y):
    pair, state = Pair._make(x), State._make([y, x[0]])
    return pair.a * pair.b + sum(getattr(pair, name) ** 2 * y for name in pair._fields) + sum(state) * y


class Pile:
    def __init__(self, height, weight):
        self.height, self.weight = height, weight

    def __add__(self, other):
        return Pile(self.height + other.height, self.weight * other.weight)

    def __rsub__(self, other):
        return Pile(other - self.height, self.weight)


@program((0.7, 1.3), wrt=(0, 1), second=True)
def operators_as_functions(x, y):
    piles = [Pile(v, v * y) for v in (x, y, x * y)]
    held = [piles[0], *piles[1:], *piles[:1]]
    held[-1].height = piles[1].height * x
    whole, other = functools.reduce(operator.add, held), operator.sub(2.0, piles[0])
    items = functools.reduce(operator.add, [[x], [x * y], operator.mul([y], 2)])
    return whole.height * whole.weight + other.height * other.weight + items[1] * items[3]


class Store:
    names = ("a", "b")

    def __init__(self, **values):
        self.values = values
        self.log = [self.values]

    def grow(self):
        if set(self.values) - set(self.names):
            raise TypeError(self.names)
        self.log[0]["a"] *= self.values["b"]
        return self.values["a"]


@program((0.7, 1.3), wrt=(0, 1))
def tuples_of_names(x, y):
    store = Store(a=x, b=y)
    return sum(store.grow() for _ in range(3))
