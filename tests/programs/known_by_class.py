"""Objects whose methods are known by their classes alone, since what they hold changes: lists that objects
are appended to, dicts by name, settings by keyword.
"""

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

import numpy as np

from tests.programs.declare import positive, program, signed


class Dense:
    def __init__(self, n_in, n_out, act):
        self.W, self.b = np.ones((n_in, n_out)), np.zeros(n_out)
        self.act, self.seen = act, None

    def forward(self, x):
        self.seen = x
        z = x @ self.W + self.b
        return np.tanh(z) if self.act == "tanh" else z


class Net:
    def __init__(self, sizes):
        self.layers, self.history = [], []
        for k, (a, b) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):  # noqa: RUF007
            self.layers.append(Dense(a, b, "tanh" if k < len(sizes) - 2 else "linear"))

    def set_params(self, theta):
        i = 0
        for layer in self.layers:
            n = layer.W.size
            layer.W = theta[i : i + n].reshape(layer.W.shape)
            i += n

    def loss(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        out = np.mean(x**2) + sum(np.sum(layer.W**2) for layer in self.layers)
        self.history.append(float(out))
        return out


@program((signed(6), signed(3, 2)), wrt=(0, 1), quick=True)
def layers_appended(theta, x):
    net = Net([2, 2, 1])
    net.set_params(theta)
    return net.loss(x) + np.sum(net.layers[1].seen)


class Part:
    def __init__(self, name, a, b, value):
        self.name, self.a, self.b, self.value = name, a, b, value


class Resistor(Part):
    def stamp(self, G, current, index):
        g = 1.0 / self.value
        for p, q in ((self.a, self.b), (self.b, self.a)):
            if p in index:
                G[index[p], index[p]] += g
                if q in index:
                    G[index[p], index[q]] -= g


class Source(Part):
    def stamp(self, G, current, index):
        if self.a in index:
            current[index[self.a]] += self.value


class Circuit:
    def __init__(self):
        self.parts, self.nodes = {}, []

    def add(self, part):
        self.parts[part.name] = part
        for n in (part.a, part.b):
            if n != "gnd" and n not in self.nodes:
                self.nodes.append(n)
        return self

    def solve(self):
        index = {n: i for i, n in enumerate(self.nodes)}
        G, current = np.zeros((len(index), len(index))), np.zeros(len(index))
        for part in self.parts.values():
            part.stamp(G, current, index)
        v = np.linalg.solve(G, current)
        return {name: v[i] for name, i in index.items()}


@program((positive(3),), second=True, quick=True)
def parts_of_several_classes(r):
    circuit = Circuit()
    circuit.add(Source("I1", "a", "gnd", 2.0)).add(Resistor("R1", "a", "b", r[0]))
    circuit.add(Resistor("R2", "b", "gnd", r[1])).add(Resistor("R3", "a", "gnd", r[2]))
    v = circuit.solve()
    return v["a"] ** 2 + v["b"]


class Model:
    names = ("a", "b")

    def __init__(self, **params):
        self.params = {"a": 1.0, "b": 2.0, **params}
        self.reset()

    def reset(self):
        self.state = {"s": 0.5 * self.params["a"], "u": 0.0}

    def step(self, p):
        params, state = self.params, self.state
        state["s"] += p * params["b"]
        state["u"] += state["s"] * 0.1
        return state["u"]

    def simulate(self, inputs):
        self.reset()
        return np.array([self.step(p) for p in inputs])


@program((positive(2), positive(4)), wrt=(0, 1))
def settings_by_keyword(x, inputs):
    model = Model(**dict(zip(Model.names, x, strict=True)))
    return np.mean(model.simulate(inputs))


@program((positive(2), Model(), positive(4)), wrt=(0, 2))
def settings_changed(x, model, inputs):
    for name, v in zip(model.names, x, strict=True):
        model.params[name] = v
    return np.mean(model.simulate(inputs))


class Shape:
    def area(self):
        return self.size * 1.0

    def grow(self, by):
        self.size = self.size + by


class Square(Shape):
    def __init__(self, size):
        self.size = size

    def area(self):
        return self.size**2


class Round(Shape):
    def __init__(self, size):
        self.size = size

    @property
    def width(self):
        return 2.0 * self.size

    def area(self):
        return np.pi * self.size**2


class Line(Shape):
    def __init__(self, size):
        self.size, self.width = size, size


@program((0.7, 3), second=True)
def shapes_by_turns(x, n):
    shapes = []
    for k in range(n):
        if k % 2 == 0:
            shapes.append(Round(x * (k + 1.0)))
        else:
            shapes.append(Line(x))
    for s in shapes:
        s.grow(0.1 * x)
    return sum(s.area() * s.width for s in shapes)


class Counted:
    """An object of a list that links to the next one, with names of methods that containers have, too."""

    def __init__(self, value):
        self.value = value
        self.next = None

    def add(self, other):
        self.value = self.value + other

    def append(self, other):
        self.value = self.value * other

    def update(self, other):
        self.value = other - self.value


class Halved(Counted):
    def add(self, other):
        self.value = self.value - 0.5 * other


class Stack:
    def __init__(self):
        self.head = None

    def push(self, item):
        item.next = self.head
        self.head = item

    def add(self, other):
        item = self.head
        while item is not None:
            item.add(other)
            item = item.next


@program((1.3, 0.7), wrt=(0, 1))
def linked_objects(x, y):
    stack = Stack()
    stack.push(Halved(y))
    for k in range(2):
        stack.push(Counted(x * k))
    stack.add(x * y)
    stack.head.append(x)
    stack.head.next.update(y)
    return stack.head.next.next.value * stack.head.next.value + stack.head.value


@program((signed(3), 4), second=True)
def arrays_of_zeros_and_swaps(x, n):
    a, b = Line(np.zeros(3)), Line(np.zeros(3))
    for k in range(n):
        shape = a if k % 2 else b
        shape.size += x * k
        if k > 2:
            a.size, b.size = b.size, a.size
    return np.sum(a.size * x) - np.sum(b.size)


@program((signed(3), 0.9), wrt=(0, 1), second=True)
def arrays_moved_within_an_object(x, y):
    shapes = [Line(x * 1.0), Line(x[::-1] * y)]
    shapes[0].size -= 0.5 * (shapes[0].size * y)
    shapes[0].size += x * 2.0
    return sum(np.sum(s.size) * np.sum(s.width) for s in shapes)


class Tally:
    total, cached = 0.25, None

    def add(self, v):
        self.total += v

    def remembered(self, v):
        if self.cached is None:
            self.cached = v * v
        return self.cached * v


class LargeTally(Tally):
    total = 1.5

    def add(self, v):
        self.total = self.total + v * v


@program((1.3, 3), second=True)
def values_of_classes(x, n):
    tallies = [LargeTally() if k == 1 else Tally() for k in range(n)]
    for k, tally in enumerate(tallies * 2):
        if k % 3:
            tally.add(x * k)
    return sum(t.total * t.remembered(x) + t.remembered(2.0) for t in tallies)


def leaky(z):
    return np.where(z > 0, z, 0.1 * z)


class Unit:
    def __init__(self, name, w, act):
        self.name, self.w, self.act = name, w, act

    def __call__(self, z):
        z = self.w * z
        return z if self.act is None else self.act(z)


@program((0.8, 4), second=True)
def functions_in_attributes(x, n):
    units = []
    for k in range(n):
        units.append(Unit("u%d" % k, x * (k + 1), None if k == 1 else np.tanh if k % 2 else leaky))  # noqa: UP031
    named = {"-".join([u.name, "x"]).upper(): u for u in units}
    z = x
    for _ in range(2):
        for unit in units:
            z = unit(z)
            unit.w += 0.1 * z
    named["U{}-X".format(n - 1)].act = np.cos  # noqa: UP032
    return units[-1](z) + sum(u.w for u in named.values())


@program((1.2, 3), second=True)
def bonds_by_name(x, n):
    parts = {name: Part(name, k * x, 0.0, 1.0) for k, name in enumerate(("p", "q", "r"))}
    bonds = [("p", "q", 1.0), ("q", "r", 2.0 * x)]
    for _ in range(n):
        for i, j, k in bonds:
            force = k * (parts[i].a - parts[j].a)
            parts[i].b -= force
            parts[j].b += force
        for part in parts.values():
            part.a += 0.1 * part.b
    return sum(p.a * p.a for p in parts.values())


class Knot:
    def __init__(self, place, mass):
        self.place, self.force, self.mass = np.array(place, dtype=float), np.zeros(2), mass

    def pull(self, force):
        self.force += force


class Thread:
    def __init__(self, a, b, k):
        self.a, self.b, self.k = a, b, k

    def apply(self):
        force = self.k * (self.b.place - self.a.place)
        self.a.pull(force)
        self.b.pull(-force)


@program((1.3,))
def neighbours_that_a_dict_may_hold(x):
    knots = {}
    for i in range(2):
        for j in range(2):
            knots[(i, j)] = Knot([x * j, 1.0 * i], x)
    threads = []
    for (i, j), knot in knots.items():
        for di, dj in ((1, 0), (1, 1)):
            other = knots.get((i + di, j + dj))
            if other is not None:
                threads.append(Thread(knot, other, x))
    for knot in knots.values():
        knot.pull(knot.mass * np.array([0.3, x]))
    for thread in threads:
        thread.apply()
    return sum(k.force @ k.force for k in knots.values())


class Turn:
    def __init__(self, m=None):
        self.m = np.eye(2) if m is None else m

    def __matmul__(self, other):
        return Turn(self.m @ other.m)


class Hinge:
    def __init__(self, link):
        self.link, self.q = link, 0.0

    def __call__(self):
        return Turn(np.array([[self.q, 1.0], [-1.0, self.q * self.q]])) @ self.link


@program((1.3,))
def operators_of_objects_that_calls_return(x):
    hinges = [Hinge(Turn(np.ones((2, 2)) * x)), Hinge(Turn())]
    for k, hinge in enumerate(hinges):
        hinge.q = x + k
    turn = Turn()
    for hinge in hinges:
        turn = turn @ hinge()
    paths = {"a": [x], "b": [x * x]}
    for k in range(2):
        longer = {}
        for name in ("a", "b"):
            longer[name] = paths["a"] + [x * k]
        paths = longer
    return np.sum(turn.m * turn.m) * sum(paths["b"]) * len(paths["a"])


class Series:
    def __init__(self, values):
        self.values, self.count = values, 0

    def tail(self):
        self.count += 1
        return self.values[1:]

    def moment(self):
        self.count += 1
        first, second = self.values[:, 0], self.values[:, 1]
        return np.sum(first * second) * self.count


@program((1.3,), second=True)
def slices_of_what_objects_hold(x):
    series = [Series([x, 2 * x, 3.0]), Series([x * x, 1.0, x])]
    total = 0.0
    for one in series:
        tail = one.tail()
        tail.append(x)
        total += sum(tail) + sum(one.values)
        tail = one.tail()
        tail[0] = x * x
        total += sum(tail) * one.count
    points = np.array([[x, 2 * x], [1.0, x * x], [x, 1.0]])
    others = []
    for rows in ([0, 1, 2], [2, 1, 0]):
        others.append(Series(points[rows]))
    return total + sum(other.moment() for other in others)


class Mass:
    def __init__(self, place):
        self.place, self.force, self.trail = place, 0.0, []


@program((0.9, 4), second=True)
def objects_in_tuples(x, n):
    masses = [Mass(x * k) for k in range(n)]
    springs = [(masses[k], masses[k - 1] if k else None, x * (k + 1)) for k in range(n)]
    for t in range(3):
        for one, other, stiffness in springs:
            if other is not None:
                pull = stiffness * (one.place - other.place)
                one.force -= pull
                other.force += pull
        for mass in masses:
            mass.place += 0.1 * mass.force
            mass.force = 0.0
            mass.trail.append((t, mass.place))
    for end in springs:
        end[0].place += end[2]
    springs[0], springs[1] = springs[1], (masses[0], masses[1], x)
    return sum(m.place * v * t for m in masses for t, v in m.trail) + springs[1][0].place * springs[0][2]


class Numbered:
    made = 0

    def __init__(self, size):
        Numbered.made += 1
        self.size = size

    @property
    def doubled(self):
        return self.size * 2

    def grow(self, factor):
        self.size = self.size * factor


@program((1.3,), second=True)
def objects_that_their_class_counts(x):
    found = {}
    for k, name in enumerate("ab"):
        found[name] = Numbered(x + k)
    for one in found.values():
        one.grow(x)
    return sum(one.doubled * one.size for one in found.values())


class Polynomial:
    def __init__(self, *c):
        self.c = list(c)

    def __mul__(self, other):
        if not isinstance(other, Polynomial):
            return Polynomial(*(c * other for c in self.c))
        return Polynomial(self.c[0] * other.c[0], sum(self.c) * sum(other.c))

    def padded(self, n):
        return [0.0] * (n - len(self.c)) + self.c


@program((1.3, 0.4), wrt=(0, 1), second=True)
def polynomial_multiplied_by_another_or_a_number(x, y):
    both = [Polynomial(x), Polynomial(1.0, y)]
    both[0].c.append(y)
    product = both[0] * both[1] * x
    both[1].c = 2 * both[1].c
    return sum(a * b for a, b in zip(product.padded(4), both[1].padded(4), strict=True))


@program((1.3, 0.4), wrt=(0, 1), second=True)
def lists_that_objects_hold_joined_and_extended(x, y):
    both = [Polynomial(x), Polynomial(1.0, y)]
    paths = {0: [], 1: [x]}
    joined = []
    for k, s in enumerate(both):
        joined = joined + s.c
        joined += [x * k]
        both[0].c.append(joined[-1] * y)
        paths = {j: paths[1 - j] + [joined[0] * j + k] for j in (0, 1)}
    return sum(joined) + sum(both[0].c) + paths[0][0] * sum(paths[1])


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x=0.0, y=0.0):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, other):
        if isinstance(other, Vector):
            return self.x * other.x + self.y * other.y
        return Vector(self.x * other, self.y * other)

    __rmul__ = __mul__

    def __truediv__(self, scale):
        return Vector(self.x / scale, self.y / scale)

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __iadd__(self, other):
        self.x += other.x
        self.y += other.y
        return self

    def __abs__(self):
        return math.sqrt(self.x**2 + self.y**2)

    def __iter__(self):
        yield self.x
        yield self.y


class Star:
    def __init__(self, name, mass, place, speed):
        self.name, self.mass, self.place, self.speed = name, mass, place, speed
        self.pull = Vector()


@program((1.1,), second=True)
def vectors_with_operators(m):
    stars = [Star("a", m, Vector(0.0, 0.0), Vector(0.0, 0.1)), Star("b", m * m, Vector(1, 0.2), Vector(0, 1))]
    by_name = {star.name: star for star in stars}
    trail = {name: [] for name in by_name}
    for _ in range(3):
        for star in by_name.values():
            star.pull = Vector()
        names = list(by_name)
        for i, first in enumerate(names):
            for second in names[i + 1 :]:
                a, b = by_name[first], by_name[second]
                d = b.place - a.place
                pull = d / math.sqrt(d * d + 0.1) ** 3
                a.pull += pull * b.mass
                b.pull += -pull * a.mass
        for name, star in by_name.items():
            star.speed += 0.1 * star.pull
            star.place = star.place + 0.1 * star.speed
            trail[name].append(star.place)
    x, y = trail["b"][-1]
    return x * y + sum(abs(star.speed) + star.mass * star.place * star.speed for star in stars)


class Table:
    def __init__(self, n):
        self.rows, self.scale = [[0.0] * n for _ in range(n)], 1.0

    def __getitem__(self, place):
        return self.rows[place[0]][place[1]] * self.scale

    def __setitem__(self, place, value):
        self.rows[place[0]][place[1]] = value

    @property
    def trace(self):
        return sum(self.rows[k][k] for k in range(len(self.rows)))

    @trace.setter
    def trace(self, value):
        for k in range(len(self.rows)):
            self.rows[k][k] = value / len(self.rows)


@program((1.3,), second=True)
def items_and_properties_that_classes_set(x):
    tables = []
    for _ in range(2):
        tables.append(Table(2))
    for k, table in enumerate(tables):
        table[0, 0] = x * (k + 1)
        table[0, 1] += x * x
        table[1, 1] = table[0, 0] * table[0, 1]
        table.scale = table.scale * x
    tables[0].trace = x * x
    tables[1].trace *= 0.5
    return sum(table.trace * table[0, 1] for table in tables)


class Scaled:
    def __init__(self, values):
        self.values = values

    def __mul__(self, other):
        return Scaled(self.values * (other.values if isinstance(other, Scaled) else other))

    __rmul__ = __mul__


class Grown:
    def __init__(self, factor, state):
        self.factor, self.state = factor, state

    def grow(self):
        self.state = self.factor * self.state
        self.factor = self.factor * 1.1


@program((1.3,), second=True)
def factors_that_are_numbers_or_objects(x):
    grown = [Grown(x, Scaled(np.array([x, 1.0])))]
    grown.append(Grown(Scaled(np.array([x, x])), Scaled(np.array([1.0, x]))))
    for _ in range(2):
        for one in grown:
            one.grow()
    return grown[0].state.values @ grown[1].state.values


class Arrow:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        if not isinstance(other, Arrow):
            return NotImplemented
        return Arrow(self.x + other.x, self.y + other.y)

    def __iadd__(self, other):
        if not isinstance(other, Arrow):
            return NotImplemented
        self.x += other.x
        self.y += other.y
        return self

    def __mul__(self, scale):
        if isinstance(scale, (Arrow, str)):
            return NotImplemented
        return Arrow(self.x * scale, self.y * scale)

    __rmul__ = __mul__


class Moving:
    def __init__(self, mass, place, speed):
        self.mass, self.place, self.speed = mass, place, speed

    def push(self, force):
        self.speed += (1 / self.mass) * force
        self.place = self.place + 0.1 * self.speed

    def __iter__(self):
        yield self.place.x
        yield self.place.y


@program((1.3,), second=True)
def operators_that_decline_others(x):
    moving = [Moving(x, Arrow(x, 1.0), Arrow(0.1, x)), Moving(2.0 * x, Arrow(1.0, x), Arrow(x, x))]
    total = Arrow(0.0, 0.0)
    for _ in range(2):
        for one in moving:
            one.push(Arrow(0.3, x))
            total += one.mass * one.speed
    return total.x * total.y + sum(v for one in moving for v in one)


class Person:
    def __init__(self, trait, parent=None):
        self.trait, self.children = trait, []
        if parent is not None:
            parent.children.append(self)

    def spread(self, d):
        self.trait += d
        for child in self.children:
            child.spread(d * 0.3)


@program((0.7, 1.2), wrt=(0, 1), second=True)
def traits_updated_by_recursion_and_in_a_loop(x, y):
    first = Person(x)
    last = Person(0.5, Person(y, first))
    first.spread(x)
    total = last.trait
    for p in (first, last):
        p.trait += x
        total += p.trait
    first.spread(total)
    return total * last.trait


@dataclass(frozen=True)
class Holding:
    amount: float
    name: str = ""
    weights: object = None
    squared: float = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "squared", self.amount * self.amount)

    @property
    def twice(self):
        return 2.0 * self.amount


class Ledger:
    def __init__(self):
        self.entries, self.total = [], 0.0

    def add(self, entry):
        self.entries.append(entry)
        self.total = self.total + entry.squared


@program((positive(), signed(2)), wrt=(0, 1), quick=True)
def frozen_entries_appended(x, w):
    ledger = Ledger()
    for k in range(3):
        ledger.add(Holding(x * (k + 1), f"entry {k}", w * x))
    out = 0.0
    for entry in ledger.entries:
        out = out + entry.twice * ledger.total * np.sum(entry.weights)
        ledger.total = ledger.total - entry.squared * out
    return out + ledger.total


@program((positive(),))
def frozen_entries_replaced(x):
    held = {f"entry {k}": Holding(x + k) for k in range(3)}
    ledger = Ledger()
    for entry in held.values():
        ledger.add(replace(entry, amount=entry.amount * entry.squared))
    held["entry 0"] = Holding(x * x * x)
    return ledger.total + sum(e.squared for e in held.values()) + ledger.entries[-1].amount


class Notes:
    def __init__(self, x):
        self.counts, self.x = Counter(), x

    def note(self, key):
        self.counts["notes"] += 1
        self.counts[key] += self.x * key
        self.x = self.x * 1.1 + self.counts[key] * 0.01


@program((positive(),), second=True)
def counters_of_amounts(x):
    tally = Notes(x)
    for k in range(4):
        tally.note(k % 2)
    del tally.counts[1]
    tally.note(1)
    return tally.x + tally.counts[0] + tally.counts[1] * tally.counts["notes"] + tally.counts["other"]


class Bar:
    def __init__(self, length):
        self.length, self.seen = length, []

    @cached_property
    def area(self):
        return self.length * self.length

    def stretch(self):
        self.length = self.length + self.area
        self.seen.append(self.length)


@program((positive(),), second=True)
def cached_properties_of_objects_in_lists(x):
    bars, total = [], 0.0
    for k in range(3):
        bars.append(Bar(x * k + 1))
    for _ in range(2):
        for bar in bars:
            bar.stretch()
            total = total + bar.area * bar.length
    return total + sum(bars[0].seen)


@program((positive(),))
def cached_properties_that_are_dropped(x):
    bars = [Bar(x), Bar(2 * x)]
    named = {"a": bars[0], "b": bars[1]}
    bars[0].stretch()
    named["a"].length = x * 3
    del named["a"].area
    return named["a"].area + named["b"].area * bars[0].area


class Network:
    def __init__(self, x):
        self.x, self.seen = x, []

    def matrix(self):
        rows = []
        for i in range(2):
            rows.append([self.x * (i + 1) + j for j in range(2)])
        rows[0][1] = rows[0][1] * self.x
        rows.append([1.0, self.x])
        return np.array(rows)

    def relax(self):
        self.x = self.x + 0.01 * np.sum(self.matrix() ** 2)
        self.seen.append(self.x)


@program((positive(),), second=True)
def matrices_of_lists_in_objects(x):
    networks = []
    for k in range(2):
        networks.append(Network(x * (k + 1)))
    for _ in range(2):
        for network in networks:
            network.relax()
    return sum(network.x for network in networks) + networks[0].seen[1]


@program((positive(),), second=True)
def a_row_that_a_matrix_holds_twice(x):
    row = [x, 2 * x]
    rows, network = [row, row], Network(x)
    rows.append([network.x, x * x])
    network.seen.append(row)
    network.x = np.sum(np.array(rows) ** 2)
    row[0] = network.x
    rows.pop()
    network.x = network.x + np.sum(np.array(rows))
    return network.x * network.seen[0][0]


class Store:
    names = ("rate", "size")
    defaults = {"rate": 0.2, "size": 2.0}  # noqa: RUF012

    def __init__(self, **params):
        self.params = {**self.defaults, **params}
        if set(self.params) - set(self.names):
            raise ValueError("unknown")
        self.state, self.log = {"level": 0.5 * self.params["size"]}, []

    def step(self, inflow):
        self.state["level"] += inflow
        out = self.params["rate"] * min(self.state["level"], self.params["size"])
        self.state["level"] -= out
        self.log.append((out, inflow))
        return out


@program((positive(), positive(3)), wrt=(0, 1), second=True)
def settings_merged_with_those_of_the_class(rate, inflow):
    store = Store(rate=rate)
    total = sum([store.step(v) for v in inflow])
    return total * store.log[1][0] + store.defaults["rate"] * store.state["level"]


class Stage(Enum):
    SOWN, GREEN, RIPE = range(3)


NEXT = {Stage.SOWN: Stage.GREEN, Stage.GREEN: Stage.RIPE, Stage.RIPE: Stage.SOWN}
GROWTH = {Stage.SOWN: 2.0, Stage.GREEN: 3.0, Stage.RIPE: 0.5}


class Crop:
    def __init__(self, grain):
        self.stage, self.grain = Stage.SOWN, grain

    def advance(self):
        self.stage = NEXT[self.stage]

    def grow(self, warmth):
        self.grain = self.grain * GROWTH[self.stage] + warmth


@program((1.3,), second=True)
def states_from_a_table(x):
    crops = [Crop(x), Crop(x * x)]
    crop = crops[int(x)]
    for _ in range(4):
        crop.grow(x)
        crop.advance()
    return crop.grain * crops[0].grain


@program((1.3,), second=True)
def rows_of_numbers_beside_a_table(x):
    crop = [Crop(x), Crop(x)][int(x)]
    for _, (warmth, _, _) in enumerate([(15.0, "dry", 3.0)] * 4):
        crop.advance()
        crop.grow(warmth * x)
    for row in [(1.0, (2.0, 3))] * 2:
        crop.grain *= x * row[1][0]
    return crop.grain
