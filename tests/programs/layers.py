"""Lists of objects of several classes that keep what they computed: layers of networks, chains of filters."""

import numpy as np

from tests.programs.declare import positive, program, signed


class Dense:
    def __init__(self, w, b):
        self.w, self.b = w, b

    def forward(self, x):
        self.x = x
        return x @ self.w + self.b

    def backward(self, g):
        self.dw = self.x.T @ g
        return g @ self.w.T


class Tanh:
    def forward(self, x):
        self.y = np.tanh(x)
        return self.y

    def backward(self, g):
        return g * (1 - self.y**2)


class Scale(Dense):
    def forward(self, x):
        return 0.5 * super().forward(x) * getattr(self, "factor", 2.0)


class Network:
    def __init__(self, layers):
        self.layers, self.seen = layers, 0.0

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
            self.seen = self.seen + np.sum(x)
        return x

    def backward(self, g):
        for layer in reversed(self.layers):
            g = layer.backward(g)
        return g


class Pair:
    def __init__(self, first, then):
        self.first, self.then = first, then

    def __call__(self, x):
        return self.then.forward(self.first.forward(x))


class Gain:
    def __init__(self, gain):
        self.gain, self.last = gain, 0.0

    def step(self, x):
        self.last = self.gain * x + 0.5 * self.last
        return self.last


class Clip:
    limit = 2.0

    def step(self, x):
        self.passed = self.limit * np.tanh(x / self.limit)
        return self.passed


def network(w, b):
    return Network([Dense(w, b), Tanh(), Scale(w.T, b), Tanh()])


@program((0.5 * signed(3, 3), signed(3), signed(4, 3)), wrt=(0, 1, 2), second=True, quick=True)
def layers_that_keep(w, b, x):
    return np.sum(network(w, b).forward(x) ** 2)


@program((0.5 * signed(3, 3), signed(3), signed(4, 3)), wrt=(0, 1, 2))
def layers_and_their_backward_pass(w, b, x):
    net = network(w, b)
    g = net.backward(2 * net.forward(x))
    return np.sum(g * x) + np.sum(net.layers[0].dw ** 2) + net.seen


@program((Network([Dense(0.5 * signed(3, 3), signed(3)), Tanh()]), signed(4, 3)), wrt=(1,), second=True)
def layers_of_an_argument(net, x):
    return np.sum(net.forward(x) * net.layers[1].y)


@program((0.5 * signed(3, 3), signed(3), signed(4, 3)), wrt=(0, 1, 2), second=True)
def layers_as_attributes(w, b, x):
    pair = Pair(Dense(w, b), Tanh())
    return np.sum(pair(pair(x)) + pair.then.y * pair.first.x)


@program((0.7, positive(5)), wrt=(0, 1), second=True)
def chain_of_filters(gain, signal):
    chain = [Gain(gain), Clip(), Gain(gain * gain)]
    total = 0.0
    for x in signal:
        for part in chain:
            x = part.step(x)
        total = total + x * chain[0].last
    return total


@program((0.7, 1.3), (2.7, 1.3), wrt=(0, 1), second=True, quick=True)
def chain_that_is_left(gain, x):
    for k, part in enumerate([Gain(gain), Clip(), Gain(x)]):
        x = part.step(x) * (k + 1)
        if x > 1.5:
            break
    return x * gain


@program((0.7, 1.2), wrt=(0, 1), second=True)
def one_object_twice_in_a_chain(gain, x):
    own = Gain(gain)
    chain = (own, Clip(), own)
    for part, y in zip(chain, [x, 2 * x, gain], strict=True):
        gain = gain + part.step(y)
    return gain * own.last + sum(part.step(0.3) for part in chain if isinstance(part, Gain))


@program((0.7, 1.1), wrt=(0, 1), second=True)
def chain_within_a_chain(gain, x):
    chain = [Gain(gain), Clip()]
    for outer in chain:
        for inner in chain:
            x = 0.5 * outer.step(x) + inner.step(x)
    return x


class Residual:
    def __init__(self, inner):
        self.inner = inner

    def forward(self, x):
        self.added = self.inner.forward(x)
        return x + self.added


@program((0.5 * signed(3, 3), signed(3), signed(4, 3)), wrt=(0, 1, 2), second=True)
def networks_within_layers(w, b, x):
    net = Network([Residual(Network([Dense(w, b), Tanh()])), Tanh(), Dense(w.T, b)])
    return np.sum(net.forward(x) ** 2) + net.layers[0].inner.seen


class Soft:
    def __init__(self):
        self.scale = 1.5

    def __call__(self, x):
        return np.log1p(np.exp(self.scale * x))


class Counting:
    def __init__(self):
        self.calls = 0.0

    def __call__(self, x):
        self.calls = self.calls + 1.0
        return np.tanh(x) * self.calls


class Activated:
    def __init__(self, w, act, b=None):
        self.w, self.act, self.b = w, act, b

    def __call__(self, x):
        x = x @ self.w
        if self.b is not None:
            x = x + self.b
        return self.act(x)


def swish(x):
    return x * np.tanh(x)


@program(
    ([Activated(0.5 * signed(3, 3), np.tanh), Activated(0.5 * signed(3, 3), swish, signed(3))], signed(4, 3)),
    ([Activated(0.5 * signed(3, 3), Soft()), Activated(signed(3, 3), Soft())], signed(4, 3)),
    ([Activated(0.5 * signed(3, 3), Soft()), Activated(signed(3, 3), np.sin, signed(3))], signed(4, 3)),
    ([Activated(0.5 * signed(3, 3), Counting()), Activated(signed(3, 3), Counting())], signed(4, 3)),
    wrt=(0, 1),
    second=True,
)
def layers_with_functions(layers, x):
    for layer in layers:
        x = layer(x)
    return np.sum(x**2)


@program(([Activated(signed(3, 3), np.tanh), Activated(signed(3, 3), np.sin)], signed(4, 3)), wrt=(0, 1))
def functions_that_are_replaced(layers, x):
    for layer in layers:
        x = layer(x)
        layer.act = swish
    for layer in layers:
        x = layer(x)
    return np.sum(x**2)
