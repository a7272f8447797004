"""Namespaces, and dataclasses as dicts and tuples."""

import types
from dataclasses import asdict, astuple, dataclass
from types import SimpleNamespace
from typing import ClassVar

import numpy as np

from tests.programs.declare import positive, program


@program((0.7, positive(3)), wrt=(0, 1), second=True)
def namespace_in_a_loop(a, b):
    s = SimpleNamespace(level=a, rate=0.1, log=[])
    for v in b:
        s.level = s.level + s.rate * (v - s.level)
        s.log.append(s.level)
    return s.level * np.sum(np.array(s.log))


@program((0.7, positive(2)), wrt=(0, 1))
def namespace_as_result(a, b):
    s = types.SimpleNamespace()
    s.x = a * b
    s.y = {"k": a}
    return s


@program((0.7, positive(2)), wrt=(0, 1), second=True)
def namespaces_in_a_list(a, b):
    parts = [SimpleNamespace(k=a * i, c=b) for i in range(3)]
    parts[1].k = 2.0 * parts[0].k + a
    return sum(p.k * np.sum(p.c) for p in parts)


@program((0.7, positive(2)), wrt=(0, 1), second=True)
def namespaces_in_a_namespace(a, b):
    m = SimpleNamespace(enc=SimpleNamespace(w=a), dec=SimpleNamespace(w=b))
    m.enc.w = m.enc.w**2
    kept = m.enc
    kept.w = kept.w + 1.0
    return np.sum(m.enc.w * m.dec.w)


@program((0.7, positive(2)), wrt=(0, 1))
def namespace_of_a_dict(a, b):
    config = {"rate": a, "w": b}
    p = SimpleNamespace(**config)
    return p.rate * np.sum(p.w)


@dataclass
class Body:
    mass: float
    place: np.ndarray
    name: str = "body"


@dataclass
class Pair:
    first: Body
    sizes: list
    limits: tuple


@program((Pair(Body(0.7, positive(2)), [0.3, 0.4], (0.2, positive(1))),), second=True)
def dataclass_as_dict(pair):
    d = asdict(pair)
    n = len(d["first"]["name"]) * np.sum(pair.first.place)
    return d["first"]["mass"] * np.sum(d["first"]["place"]) * d["sizes"][1] + d["limits"][0] * n


@program((Body(0.7, positive(2)),), second=True, quick=True)
def dataclass_as_tuple(body):
    mass, place, name = astuple(body)
    return mass * np.sum(place**2) * len(name)


@program((0.7, positive(2)), wrt=(0, 1))
def dataclasses_made_and_converted(a, b):
    rows = [astuple(body) for body in [Body(a * i, b) for i in range(2)]]
    return sum(mass * np.sum(place) for mass, place, _ in rows)


class Table:
    factors = np.arange(1.0, 6.0)
    powers = np.arange(5.0)
    points: ClassVar = [0.5, 1.5, 2.5]
    pairs = ((1.0, 2.0), (3.0, 4.0))
    scale = np.array(1.5)

    class Inner:
        weights = np.array([[0.2], [0.7]])


@program((1.3,), (np.float64(1.3),), (np.arange(2.0, 7.0),), second=True, quick=True)
def arrays_of_a_class(x):
    series = np.sum(Table.factors * np.log(x) ** Table.powers)
    return series + np.mean(x * Table.factors) + np.sum(Table.scale * x) + np.sum(x / Table.Inner.weights)


@program((1.3,), (np.float64(1.3),), second=True)
def lists_of_a_class(x):
    total = np.sum(np.multiply(Table.points, x)) + np.sum(Table.pairs @ np.array([x, 2.0]))
    for p in Table.points:
        total = total + np.sum(np.divide(x, Table.points)) * p
    return total * len(Table.points)


@program((1.3,), second=True)
def arrays_of_a_class_in_stores(x):
    y = np.zeros(5)
    y += Table.factors * x
    y[1:] *= Table.powers[1:]
    return np.var(y) + np.max(Table.factors - x)


class Library:
    """Functions by name, of which a dispatcher calls one: what they return is known at run time only."""


def dispatched(name):
    def called(*args, **keywords):
        return getattr(Manager.__dict__.get("library", Library), name)(*args, **keywords)

    return called


class Manager:
    library = Library


for function in (np.shape, np.reshape, np.mean):
    setattr(Library, function.__name__, staticmethod(function))
Library.context = staticmethod(lambda x: {"dtype": x.dtype})
Library.tensor = staticmethod(lambda data, dtype=None, **keywords: np.array(data, dtype=dtype))
shape, reshape, mean, context, tensor = map(dispatched, ("shape", "reshape", "mean", "context", "tensor"))


@program((positive(2, 3),))
def shape_by_a_dispatcher(y):
    sizes = list(shape(y))
    sizes[0] = 1
    return np.sum((y - reshape(mean(y, axis=0), sizes)) ** 3)


@program((positive(2, 2), positive(2, 3)), wrt=(0, 1))
def shape_unpacked_by_a_dispatcher(a, b):
    m, n = shape(a)
    k, p = shape(b)
    return np.sum(reshape(reshape(a, (m, 1, n)) @ reshape(b, (k, 1, p))[:, 0], (-1, p)) ** 2)


@program((positive(2),))
def dtype_by_a_dispatcher(x):
    return np.sum(x * x * tensor([0.5, 2.0], **context(x)))
