"""Objects of the user's classes: attributes, methods, properties, operators."""

from dataclasses import dataclass, field

import numpy as np

from tests.corpus_programs.declare import positive, program, signed


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


@program((network(), positive(3)), wrt=(0, 1), second=True)
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


@program((linear(), positive(3)), wrt=(0, 1))
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
