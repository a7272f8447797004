"""Objects of the module, of a class and of an enclosing function, which the function changes and reads."""

import math
from collections import Counter, OrderedDict, deque
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np

from tests.programs.declare import positive, program, signed


class Model:
    scale = 1.5

    def __init__(self, n):
        self.w, self.b, self.last, self.terms, self.calls = np.ones(n), 0.5, None, [], 0

    def set_params(self, theta):
        self.w, self.b = theta[:-1], theta[-1]

    def predict(self, x):
        self.calls += 1
        self.last = np.tanh(x @ self.w + self.b)
        return self.last

    def weights(self):
        return self.w * self.scale


class Term:
    def __init__(self, model):
        self.model, self.factor = model, 2.0

    def value(self):
        return np.sum(self.model.w**2) * self.factor


class Config:
    model = Model(2)


MODEL = Config.model
OTHER_NAME = MODEL
MODEL.terms.append(Term(MODEL))
TABLE = {"w": np.ones(2), "calls": 0}
LOG = []


def penalty():
    return np.sum(MODEL.w**2) + OTHER_NAME.b


@program((signed(3), positive(4, 2), positive(4)), wrt=(0, 1), second=True, quick=True)
def model_of_the_module(theta, x, y):
    MODEL.set_params(theta)
    return np.mean((MODEL.predict(x) - y) ** 2) + 0.1 * penalty() * OTHER_NAME.last[0]


@program((signed(3), positive(4, 2)), wrt=(0, 1))
def model_of_a_class(theta, x):
    Config.model.set_params(theta)
    Config.model.w = Config.model.w * theta[2]
    return np.sum(Config.model.predict(x)) * np.sum(MODEL.weights())


def with_model(model):
    def model_of_a_closure(theta, x):
        model.set_params(theta)
        return np.mean(model.predict(x) ** 2) * model.b

    return model_of_a_closure


model_of_a_closure = program((signed(3), positive(4, 2)), wrt=(0, 1))(with_model(Model(2)))


@program((positive(2),), second=True)
def table_of_the_module(x):
    TABLE["w"] = x * 2
    TABLE["calls"] += 1
    LOG.append(x * TABLE["w"])
    return np.sum(TABLE["w"] * LOG[-1])


@program((positive(2),))
def arrays_in_place(x):
    MODEL.w = x * 1.0
    MODEL.w[0] = x[1]
    MODEL.w += x
    return np.sum(MODEL.weights() * x)


@program((positive(2),), second=True)
def terms_of_the_model(x):
    MODEL.w, MODEL.last = x**2, None
    for term in MODEL.terms:
        term.factor = x[0]
        if MODEL.last is None:
            MODEL.last = term.value()
        MODEL.last = MODEL.last * term.value()
    return MODEL.last


@contextmanager
def section(title):
    LOG.append(f"begin {title}")
    try:
        yield
    finally:
        LOG.append("end")


NAMES, DEFAULTS = ["a", "b"], {"factor": 1.5, "steps": 2}


class Compartments:
    def __init__(self, beta, **options):
        config = {**DEFAULTS, **options}
        self.config, self.beta, self.events = SimpleNamespace(**config), beta, []
        self.hits, self.levels = Counter(), OrderedDict((s, beta * k) for k, s in enumerate(NAMES, 1))

    def run(self):
        y = self.beta
        for event in self.events:
            y = y * math.sin(event) * self.config.factor + math.hypot(y, event)
            self.hits["n"] += 1
        for s in NAMES:
            self.levels[s] += y
            LOG.append(s)
        return y


@program((positive(4),), second=True)
def a_log_beside_a_model_with_options(x):
    model = Compartments(x[0], steps=x[1], factor=x[3])
    model.events += [x[1], x[2]]
    with section("run"):
        y = model.run() * model.config.steps
    return y + model.levels["a"] * model.levels["b"] * model.hits["n"]


class Ray:
    def __init__(self, y, u):
        self.y, self.u, self.alive, self.mark = y, u, True, None


class Gap:
    def __init__(self, width):
        self.width = width

    def trace(self, ray):
        ray.y = ray.y + self.width * math.tan(ray.u)
        LOG.append(type(self).__name__)
        return ray


class Lens(Gap):
    def trace(self, ray):
        if abs(ray.y) > 5:
            ray.alive = False
            return ray
        ray.u = math.asin(math.sin(ray.u) - 0.1 * ray.y * self.width)
        return ray


@program((positive(4),), second=True)
def functions_of_numbers_beside_a_log(x):
    ray = Ray(0.5, x[3] * 0.1)
    for element in [Gap(x[0]), Lens(x[1]), Gap(x[2])]:
        ray = element.trace(ray)
        if not ray.alive:
            break
    LOG.append(("done", ray.mark))
    return math.sqrt(ray.y**2 + 1)


@program((positive(4),), second=True)
def containers_of_generators_beside_a_table(x):
    TABLE["calls"] += 1
    rows = {s: deque(v * k for k in range(3)) for s, v in zip(NAMES, x[:2], strict=True)}
    rows["a"].append(x[2])
    rows["b"].appendleft(math.exp(x[3]))
    best, name = max(((sum(rows[s]), s) for s in NAMES), key=lambda t: t[0])
    return best * math.log(x[0]) + math.fsum(rows["a"]) * len(name)


@program((positive(4),), second=True)
def dicts_of_reversed_items_beside_a_table(x):
    found = dict(zip(NAMES, reversed([*x[:2]]), strict=True))
    names = SimpleNamespace(**found)
    names.a = names.a * math.cos(names.b)
    TABLE["last"] = names.a
    return TABLE["last"] * names.b + float(math.floor(names.a))
