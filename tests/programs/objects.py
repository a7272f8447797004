"""Objects of the user's classes: attributes, methods, properties, operators."""

from dataclasses import dataclass, field
from functools import singledispatchmethod
from typing import NamedTuple

import numpy as np

from tests.programs.declare import positive, program, signed


class Linear:
    """A plain class with parameters, settings and methods that call each other."""

    gain = 0.5

    def __init__(self, w, b, steps=3):
        self.w = w
        self.b = b
        self.steps = steps
        self.activation = np.tanh
        self.label = "linear"

    def forward(self, x):
        return self.activation(self.w * x + self.b) * self.gain

    def __call__(self, x):
        return self.forward(x)

    @property
    def size(self):
        return np.sum(self.w**2)

    @staticmethod
    def square(y):
        return y * y

    def loss(self, x):
        total = 0.0
        for _ in range(self.steps):
            total = total + np.sum(self.square(self.forward(x)))
        return total + self.size * self.b


class Scaled(Linear):
    """Overrides one method, uses another's."""

    gain = 1.5

    def forward(self, x):
        return self.w * x - self.b


@dataclass
class Particle:
    position: np.ndarray
    velocity: np.ndarray
    mass: float = 1.0
    name: str = "p"

    def energy(self):
        return 0.5 * self.mass * np.sum(self.velocity**2) + np.sum(np.cos(self.position))


@dataclass(frozen=True)
class Frozen:
    a: float
    b: float

    @property
    def product(self):
        return self.a * self.b


class Slotted:
    __slots__ = ("bias", "scale")

    def __init__(self, scale, bias):
        self.scale = scale
        self.bias = bias

    def apply(self, x):
        return np.sin(self.scale * x) + self.bias


@dataclass
class Network:
    layers: list = field(default_factory=list)
    scale: float = 1.0

    def predict(self, x):
        for layer in self.layers:
            x = layer(x)
        return x * self.scale


def linear():
    return Linear(signed(3), 0.4)


def network():
    return Network([Linear(signed(3), 0.4), Linear(positive(3, seed=2), -0.2)], 1.3)


@program((linear(), positive(3)), wrt=(0, 1), second=True)
def attribute_of_argument(model, x):
    return np.sum(model.w * x) + model.b * model.b


@program((linear(), positive(3)), wrt=(0, 1), second=True)
def method_of_argument(model, x):
    return model.loss(x)


@program((Scaled(signed(3), 0.4), positive(3)), wrt=(0, 1), second=True)
def inherited_method(model, x):
    return model.loss(x)


@program((linear(), positive(3)), wrt=(0, 1))
def object_called(model, x):
    return np.sum(model(x) ** 2) + model.size


@program((linear(), positive(3)), wrt=(0,))
def object_not_all_read(model, x):
    return np.sum(x) * model.b


@program((Particle(positive(2), signed(2), 1.7), 0.3), wrt=(0, 1), second=True)
def dataclass_argument(particle, shift):
    return particle.energy() + shift * particle.mass * particle.position[0]


@program((Frozen(0.8, 1.3),), second=True)
def property_of_frozen(point):
    return point.product * point.a + point.b


@program((Slotted(0.8, 0.1), positive(3)), wrt=(0, 1), second=True)
def object_with_slots(model, x):
    return np.sum(model.apply(x))


@program((network(), positive(3)), wrt=(0, 1))
def objects_in_a_list(network, x):
    return np.sum(network.predict(x))


@program(((linear(), {"other": Slotted(0.8, 0.1)}), positive(3)), wrt=(0, 1))
def objects_in_containers(models, x):
    first, named = models
    return np.sum(first(x) * named["other"].apply(x))


@program((linear(), positive(3)), wrt=(0, 1))
def attribute_in_a_branch(model, x):
    y = model.w * x if model.steps > 2 else model.b * x
    if model.label == "linear":
        y = y * model.b
    return np.sum(y)


@program((linear(), positive(3)), wrt=(0, 1), quick=True)
def method_as_value(model, x):
    apply = model.forward
    return np.sum(apply(apply(x)))


MODEL = linear()


@program((positive(3),), second=True)
def global_object(x):
    return np.sum(MODEL(x)) + MODEL.loss(x)


@program((0.8, Particle(positive(2), signed(2))), wrt=(0, 1))
def method_in_a_loop(x, particle):
    total = x
    for k in range(3):
        total = total + particle.energy() * total / (k + 2)
    return total


# ---------------------------------------------------------------- objects that the function makes


class Tank:
    def __init__(self, level):
        self.level = level

    def pour(self, rate):
        self.level = self.level * (1 - rate)
        return self.level**2


class Filter:
    """A Kalman filter of one number: a class that changes itself, as many are."""

    def __init__(self, state, variance, noise):
        self.state = state
        self.variance = variance
        self.noise = noise
        self.count = 0

    def predict(self):
        self.state = 0.9 * self.state
        self.variance = 0.81 * self.variance + self.noise

    def update(self, z):
        gain = self.variance / (self.variance + 0.5)
        self.state += gain * (z - self.state)
        self.variance *= 1 - gain
        self.count += 1

    def run(self, zs):
        total = 0.0
        for z in zs:
            self.predict()
            self.update(z)
            total += self.state**2
        return total


class Loud(Filter):
    """Uses what it overrides."""

    def __init__(self, state):
        super().__init__(state, 1.0, 0.1)
        self.factor = 1.5

    def predict(self):
        super().predict()
        self.state = self.state * self.factor


@dataclass
class State:
    q: float
    p: float
    steps: int = 0

    def kick(self, h):
        self.p = self.p - h * np.sin(self.q)

    def drift(self, h):
        self.q = self.q + h * self.p
        self.steps += 1

    def after(self, h):
        return State(self.q + h * self.p, self.p - h * np.sin(self.q), self.steps + 1)


class Vector:
    """Operators of the user's own."""

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    def __rmul__(self, factor):
        return self * factor

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __getitem__(self, k):
        return self.x if k == 0 else self.y

    def __abs__(self):
        return np.sqrt(self.x**2 + self.y**2)


class Celsius:
    def __init__(self, degrees):
        self.degrees = degrees

    @property
    def kelvin(self):
        return self.degrees + 273.0

    @kelvin.setter
    def kelvin(self, value):
        self.degrees = value - 273.0


@program((2.0, 0.1), wrt=(0, 1), second=True)
def drain(level, rate):
    tank = Tank(level)
    total = 0.0
    for _ in range(3):
        total = total + tank.pour(rate)
    return total


@program((0.7, positive(4)), wrt=(0, 1), second=True)
def kalman(state, zs):
    return Filter(state, 1.0, 0.2).run(zs)


@program((0.7, positive(4)), wrt=(0, 1), second=True)
def kalman_of_a_subclass(state, zs):
    return Loud(state).run(zs)


@program((0.7, 0.4), wrt=(0, 1), second=True)
def leapfrog(q, p):
    state = State(q, p)
    for _ in range(4):
        state.kick(0.1)
        state.drift(0.2)
        state.kick(0.1)
    return state.q * state.p + state.steps


@program((0.7, 0.4), wrt=(0, 1), second=True)
def states_replaced(q, p):
    state = State(q, p)
    for _ in range(3):
        state = state.after(0.2)
    return state.q * state.p


@program((0.7, 0.4), wrt=(0, 1))
def state_in_branches(q, p):
    state = State(q, p) if q > 0.5 else State(p, q)
    if p > 0:
        state.kick(0.3)
    else:
        state.q = p
    return state.q * state.p


@program((0.7, 0.4), wrt=(0, 1), second=True)
def vector_operators(x, y):
    a = Vector(x, y)
    b = 2.0 * a + a * x + -a
    return abs(b) * b[0] + b[1]


@program((0.7,), second=True, quick=True)
def property_set(x):
    t = Celsius(x * x)
    t.kelvin = t.kelvin * 1.1
    return t.degrees


@program((0.7, 0.4), wrt=(0, 1), quick=True)
def returns_an_object(q, p):
    state = State(q, p)
    state.kick(0.3)
    return state


@program((0.7, 0.4), wrt=(0, 1))
def objects_in_results(q, p):
    states = [State(q * k, p) for k in range(3)]
    return {"last": states[-1], "tank": Tank(q * p)}


@program((positive(3),))
def list_of_made_objects(xs):
    vectors = [Vector(x, x * x) for x in xs]
    total = 0.0
    for v in vectors:
        total = total + abs(v) * v.x
    return total


@program((0.7, 0.4), wrt=(0, 1))
def object_passed_on(q, p):
    return energy_of(State(q, p)) + energy_of(State(p, q))


def energy_of(state):
    return 0.5 * state.p**2 - np.cos(state.q)


# ---------------------------------------------------------------- named tuples


class Point(NamedTuple):
    x: float
    y: float = 2.0

    def norm(self):
        return self.x**2 + self.y

    def moved(self, by):
        return Point(self.x + by, self.y * by)


@program((Point(0.7, 0.3), 1.2), wrt=(0, 1), second=True)
def named_tuple(p, scale):
    a, b = p
    return p.norm() * p.x + p[1] * scale * a * b


@program((0.7, 0.3), wrt=(0, 1), second=True)
def named_tuples_made(x, y):
    p = Point(x * y)
    for _ in range(3):
        p = p.moved(y)
    q = Point(y=x, x=y)
    return p.norm() * p.y + q.x * q.norm()


@program((0.7, 0.3), wrt=(0, 1), quick=True)
def named_tuple_as_result(x, y):
    return Point(x * y), [Point(x, y)]


@program(({"a": 0.7}, 0.3), wrt=(0, 1), second=True)
def dicts_united(named, y):
    both = named | {"b": y} | {"a": named["a"] * y}
    return both["a"] * both["b"]


class Valve:
    def __init__(self, opening):
        self._opening = opening

    @property
    def opening(self):
        return self._opening

    @opening.setter
    def opening(self, value):
        self._opening = 0.5 * value

    def turn(self, angle):
        self._opening = self._opening + 0.1 * angle
        self.turned = angle


class Pipe:
    def __init__(self, valve):
        self.valve = valve


@program((0.7, 1.3), wrt=(0, 1), second=True)
def property_of_a_held_object(opening, x):
    pipe = Pipe(Valve(opening))
    for _ in range(2):
        pipe.valve.opening = pipe.valve.opening * x + x
    pipe.valve.opening += x
    return pipe.valve.opening


@program((0.7, 1.3), wrt=(0, 1), second=True)
def held_object_changed_in_a_loop(opening, x):
    pipe = Pipe(Valve(opening))
    for k in range(3):
        pipe.valve.turn(x * k)
    return pipe.valve.opening * pipe.valve.turned


@program((Pipe(Valve(0.7)), 1.3), wrt=(1,), second=True)
def property_of_an_argument(pipe, x):
    for _ in range(2):
        pipe.valve.opening = pipe.valve.opening * x
    return pipe.valve.opening * x


class Labelled:
    def __init__(self):
        self.scale = 1.0


@program((positive(3), np.True_), (positive(3), np.False_), second=True)
def attributes_of_one_path(x, flag):
    held = Labelled()
    if hasattr(held, "weight"):
        return np.sum(x**5)
    if flag:
        held.weight = 2.0
    if hasattr(held, "weight"):
        return np.sum(held.scale * x**2) * held.weight
    return held.scale * np.sum(x**3)


class Spring:
    def __init__(self, stiffness):
        self.stiffness = stiffness

    def force(self, x, *, rest=0.0):
        return -self.stiffness * (x - rest) ** 3

    def soften(self, x):
        self.stiffness = self.stiffness * 0.9
        return x

    def stepped(self, x, rest):
        return euler(self.force, x, 0.1) + called(self.force, x, rest)


def euler(force, x, h):
    return x + h * force(x)


def called(force, x, rest):
    return force(x, rest=rest)


@program((0.7, 1.2), wrt=(0, 1), second=True, quick=True)
def methods_as_values(x, k):
    spring = Spring(k)
    force, other = spring.force, Spring(x).force
    for _ in range(3):
        x = euler(spring.soften, euler(spring.force, x, 0.1), 0.01)
        x = x + 0.1 * spring.stepped(x, k)
    return force(x) * other(x)


@dataclass(order=True)
class Ranked:
    value: float
    weight: float = 1.0


class Dispatching:
    scale = 2.0

    @singledispatchmethod
    def measure(self, x):
        return x * 5.0 * self.scale

    @measure.register
    def _(self, x: list):
        return x[0] * 3.0


@program((np.array([0.1, 0.5, 0.3]),), quick=True)
def extremal_objects(x):
    largest = max([Ranked(v, v * v) for v in x])
    least = min(Ranked(x[0], x[1]), Ranked(x[1]), largest, Ranked(x[2]))
    return largest.weight * least.weight * least.value


@program((0.8, 1.3), wrt=(0, 1))
def methods_by_the_type_of_an_argument(x, y):
    box = Dispatching()
    return box.measure(x) * box.measure([y, x])


class Frame:
    def __init__(self, x):
        self.m, self.tags = np.eye(3) * x, {}


@program((0.7,))
def parts_of_an_array_of_an_object(x):
    frames = [Frame(x), Frame(x * x)]
    for k, f in enumerate(frames):
        f.m[:2, 2] = [x * k, np.sin(x)]
        f.m[1:, 0] += x
        f.tags["sum"] = np.sum(f.m)
        for other in [o for o in frames if not o.tags]:
            other.m[0, :] = f.m[0, :] * x
    rest = np.setdiff1d(np.arange(3), [1])
    return sum(f.tags["sum"] * np.sum(f.m[rest] ** 2) for f in frames)
