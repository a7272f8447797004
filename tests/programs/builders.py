"""Objects whose methods return the object itself: models and series built call by call."""

import numpy as np

from tests.programs.declare import positive, program


class Dense:
    def __init__(self, weights, bias):
        self.weights, self.bias = weights, bias

    def forward(self, x):
        return np.tanh(x @ self.weights + self.bias)


class Model:
    def __init__(self):
        self.layers = []

    def add(self, layer):
        self.layers.append(layer)
        return self

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x


@program((positive(2, 3), positive(3), positive(3, 1, seed=1)), wrt=(0, 1, 2), second=True)
def model_of_layers(a, b, c):
    model = Model().add(Dense(a, b)).add(Dense(c, np.zeros(1)))
    return np.sum(model.forward(np.array([[0.5, -0.2], [0.1, 0.9]])))


@program((positive(2, 3), positive(3), positive(3, 1, seed=1)), wrt=(0, 1, 2))
def model_added_to(a, b, c):
    model = Model()
    model.add(Dense(a, b)).add(Dense(c, np.zeros(1)))
    return np.sum(model.forward(np.array([[0.5, -0.2], [0.1, 0.9]])))


class Series:
    def __init__(self):
        self.terms = []
        self.scale = 1.0

    def term(self, c, p=1):
        if p < 0:
            raise ValueError("a negative power")
        self.terms.append((c, p))
        return self

    def scaled(self, s):
        self.scale *= s
        return self

    def __call__(self, x):
        return self.scale * sum(c * x**p for c, p in self.terms)


@program((0.3, 0.8, 1.2), wrt=(0, 1, 2), second=True)
def series_in_a_loop(a, b, x):
    series = Series().term(a, 1).scaled(b)
    for k in range(3):
        series = series.term(a * k, p=k).scaled(1.1)
        series.term(b)
    other = series
    other.term(a * b)
    return series(x)


@program((0.3, 0.8, 1.2), wrt=(0, 1, 2), second=True)
def series_in_a_branch(a, b, x):
    series = Series()
    series = series.term(a) if a > 0.1 else Series().term(b, p=2)
    both = [series, series.term(b, 3)]
    return both[0](x) + both[1](a)
