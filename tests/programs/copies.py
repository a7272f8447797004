"""`copy.copy` and `copy.deepcopy` of objects, arrays and containers, which are changed then."""

import copy

import numpy as np

from tests.programs.declare import positive, program


class Body:
    def __init__(self, place, speed):
        self.place = place
        self.speed = speed

    def clone(self):
        return copy.deepcopy(self)

    def step(self, dt):
        self.place = self.place + dt * self.speed
        self.speed = self.speed - dt * self.place


@program((0.7, 1.3), wrt=(0, 1))
def best_so_far(x, y):
    body = Body(x, y)
    best = copy.copy(body)
    for _ in range(4):
        body.step(0.5)
        if body.place > best.place:
            best = copy.copy(body)
    return best.place * body.speed


@program((0.7, 1.3), wrt=(0, 1), second=True, quick=True)
def clone_moved(x, y):
    body = Body(x, y)
    other = body.clone()
    other.step(y)
    return body.place * other.place + other.speed


@program((positive(3, seed=2),), quick=True)
def arrays_of_a_deep_copy(x):
    body = Body(x * 2, np.outer(x, x))
    other = copy.deepcopy(body)
    other.place[0] = x[1]
    other.speed -= 0.1 * body.speed
    return np.sum(body.place * other.place) + np.sum(body.speed * other.speed)


@program((positive(3, 2), positive(2)), wrt=(0, 1), quick=True)
def copy_changed_beside_its_source(a, v):
    weights = np.array([[1.0, -0.5], [0.3, 1.2], [-1.0, 0.7]])
    changed = a.copy()
    changed[0:2] = v[0]
    return np.sum(changed * weights) + np.sum(2.0 * a * weights)


@program((0.7, 1.3), wrt=(0, 1), quick=True)
def deep_copy_of_a_dict(x, y):
    weights = {"w": x, "b": [y, x]}
    held = copy.deepcopy(weights)
    weights["w"] = weights["w"] * y
    weights["b"][0] = weights["w"] * 2
    return weights["w"] * held["w"] + weights["b"][0] * held["b"][0]


@program((positive(3, seed=2),), quick=True)
def copies_of_a_list(x):
    values = [v * v for v in x]
    other = copy.copy(values)
    other[0] = other[1] * 2
    return values[0] * other[0] + sum(other)


class Fitted:
    def __init__(self, weights):
        self.weights = weights
        self.link = None

    def fit(self):
        self.norm = self.weights @ self.weights
        return self

    def get(self):
        return getattr(self, "norm", 0.0)

    def link_to(self, other):
        self.link = other


@program((positive(3, seed=3),), second=True, quick=True)
def fitted_before_it_is_copied(x):
    model = Fitted(x).fit()
    other = copy.copy(model)
    other.weights = x * 2
    return model.get() * other.get() + np.sum(other.weights)


@program((positive(3, seed=4),), quick=True)
def fitted_in_a_list_and_copied(x):
    models = [Fitted(v * x) for v in x]
    for m in models:
        m.fit()
    return sum([copy.deepcopy(m).get() for m in models])


@program((positive(3, seed=5),), quick=True)
def one_of_those_copied_has_more(x):
    models = [Fitted(x), Fitted(2 * x)]
    models[0].scale = x[2]
    others = [copy.copy(m) for m in models]
    return sum([m.scale * m.weights[0] if hasattr(m, "scale") else m.weights[1] for m in others])
