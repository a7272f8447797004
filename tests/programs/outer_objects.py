"""Objects of the module, of a class and of an enclosing function, which the function changes and reads."""

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
