"""Closures, methods and partial applications that are held and passed on, among changes of objects."""

import functools
import math

import numpy as np
from scipy.integrate import quad

from tests.programs.declare import positive, program

# ruff: noqa: B023 (functions that see the value of a later iteration, and lambdas with names)


class Pendulum:
    def __init__(self, k):
        self.k, self.calls = k, 0

    def rhs(self, t, y):
        self.calls += 1
        return [y[1], -self.k * math.sin(y[0]) + t]

    def parabola(self, t):
        return self.k * t * t

    def energy(self, y):
        return 0.5 * y[1] ** 2 - self.k * math.cos(y[0])


def euler(f, t, y, h):
    return [a + h * b for a, b in zip(y, f(t, y), strict=True)]


def midpoint(f, t, y, h):
    k = f(t, y)
    k = f(t + 0.5 * h, [a + 0.5 * h * b for a, b in zip(y, k, strict=True)])
    return [a + h * b for a, b in zip(y, k, strict=True)]


@program((0.7, 4), second=True, quick=True)
def method_as_a_value(x, n):
    body = Pendulum(x)
    y, t = [0.5, x], 0.0
    for k in range(n):
        step = euler if k % 2 else midpoint
        y = step(body.rhs, t, y, 0.1)
        t += 0.1
    return body.energy(y) * body.calls


class Solver:
    def __init__(self, f, h):
        self.f, self.h, self.t, self.history = f, h, 0.0, []

    def run(self, y, n):
        for _ in range(n):
            y = euler(self.f, self.t, y, self.h)
            self.t += self.h
            self.history.append(y)
        return y


@program((0.7, 4))
def method_held_by_a_solver(x, n):
    body = Pendulum(x)
    solver = Solver(body.rhs, 0.1)
    y = solver.run([0.5, x], n)
    return body.energy(y) + sum(a[0] for a in solver.history)


class Net:
    def __init__(self, w, kind):
        self.w, self.count = w, 0
        self.act = self.leak if kind == "leak" else self.bend
        self.table = {"a": self.leak, "b": self.bend}
        self.scaled = lambda v: v * self.w

    def leak(self, v):
        self.count += 1
        return v if v > 0 else 0.1 * v

    def bend(self, v):
        self.w = self.w * 1.01
        return math.tanh(self.w * v)


@program((0.7,))
def methods_in_a_table(x):
    one, other = Net(x, "bend"), Net(2.0 * x, "leak")
    out = 0.0
    for k in range(3):
        out += one.act(0.3 * k) + other.act(-0.2 * k * x)
        out += one.table["a" if k % 2 else "b"](x) * other.scaled(x)
    return out + one.w * other.count


@program((0.7,), second=True, quick=True)
def callables_in_a_list(x):
    log, body = [], Pendulum(x)
    hooks = [log.append, lambda v: log.append(v * x), functools.partial(record, body, log)]
    y = x
    for _ in range(3):
        y = 2.0 * math.sin(y)
        for hook in hooks:
            hook(y)
    return sum(log) * body.k


def record(body, log, v):
    body.k = body.k * v
    log.append(body.k)


@program((0.7,), second=True, quick=True)
def closures_bind_late(x):
    late = [lambda v: v * k + x for k in range(3)]
    early = [lambda v, k=k, *, w=x * x: v * k + w for k in range(3)]
    return sum(f(x) * g(x, w=2.0) * g(x) for f, g in zip(late, early, strict=True))


@program((0.7,), second=True)
def closures_of_each_evaluation(x):
    rows = [[lambda v: v * k * j + x for k in range(3)] for j in range(2)]
    table, late = {n: [lambda v: v * k + x * n for k in range(n)] for n in (1, 3)}, []
    for n in range(1, 4):
        late += [lambda v: v * k + n for k in range(n)]
    while (n := len(late)) < 8:
        late.append(lambda v: v * n)
    total = sum(f(x) for fs in rows for f in fs) * sum(f(x) for n in table for f in table[n])
    return total + sum(f(x) for f in late)


@program((0.7,), second=True)
def generators_that_rebind(x):
    s = x

    def powers(n):
        nonlocal s
        for k in range(n):
            s = s * x
            yield s + k

    total = 0.0
    for v in powers(3):
        total += v * s
    return total * s + sum(powers(2))


class Total:
    pass


class Adder:
    def __init__(self, total):
        self.total = total

    def add(self, v, n):
        self.total.value = v * n
        if n > 0:
            self.add(v * self.total.value, n - 1)
            self.total.value = self.total.value + v
        return self.total.value * v

    def __call__(self, v, n):
        return self.total.value if n == 0 else self(v * self.total.value, n - 1) + v


@program((0.7, 1.2), wrt=(0, 1), second=True)
def objects_called_again_by_themselves(x, y):
    total = Total()
    adder = Adder(total)
    z = adder.add(x, 2) * adder.add(y, 1) * adder(x, 2)
    z, total.value = z * total.value, None
    return z


@program((0.7,), second=True)
def counters_by_closures(x):
    log = []

    def counter(k):
        total = 0.0

        def add(v):
            nonlocal total
            total += v * k
            log.append(total)
            return total

        return add

    one, other = counter(x), counter(2.0)
    for add in [one, other, one]:
        add(x)
    try:
        one(3.0)
    except ValueError:
        x = 2.0 * x
    return sum(log) * log[-1] * other(1.0)


@program((0.7,), second=True)
def closures_that_call_themselves(x):
    body, memo = Pendulum(x), {}

    def even(n):
        body.k = body.k * x
        return 1.0 if n == 0 else odd(n - 1) * x

    def odd(n):
        body.k = body.k + x
        return 0.5 if n == 0 else even(n - 1) + body.k

    def fib(n):
        if n < 2:
            return x * (n + 1)
        if n not in memo:
            memo[n] = fib(n - 1) + fib(n - 2) * body.k
        return memo[n]

    chosen = {"even": even, "odd": odd, "fib": fib}
    return chosen["even"](4) * chosen["odd"](3) + chosen["fib"](5)


def applied(f, n):
    return f(n) if n < 100 else applied(f, n - 1)


@program((0.7,), second=True)
def closures_that_call_each_other(x):
    def even(n):
        return x if n == 0 else odd(n - 1) * x

    def odd(n):
        return 2.0 if n == 0 else even(n - 1) + x

    functions = [even, odd]
    return functions[0](5) * functions[1](4) + applied(even, 3) * odd(2)


class Node:
    def __init__(self, v, parent=None):
        self.v, self.parent, self.kids = v, parent, []
        if parent is not None:
            parent.kids.append(self)


def total_of(node):
    return node.v + sum(total_of(kid) for kid in node.kids)


def with_parents(node):
    v = node.v * (1.0 if node.parent is None else node.parent.v)
    return v + sum(with_parents(kid) for kid in node.kids)


@program((0.7,), second=True)
def objects_that_hold_each_other(x):
    root = Node(x)
    kid, other = Node(x * x, root), Node(2 * x, root)
    last, total = Node(x, kid), 0.0
    for f in [total_of, with_parents]:
        total += f(root) * f(kid)
    return total * sorted([kid, other, last], key=lambda node: -node.v)[0].v


@program((0.7,))
def functions_that_read_the_tree(x):
    tree = {"v": x, "kids": [{"v": 2 * x, "kids": []}, {"v": x * x, "kids": [{"v": x, "kids": []}]}]}
    weights, log = {0: 1.0, 1: 0.5, 2: x}, []

    def walk(node, depth):
        log.append(depth)
        return node["v"] * weights[depth] + sum(walk(kid, depth + 1) for kid in node["kids"])

    return walk(tree, 0) * len(log)


@program((np.array([0.5, -0.7, 1.2]), 0.7), wrt=(0, 1))
def arrays_that_closures_change(x, s):
    y = x * s

    def put(k, v):
        y[k] = v * y[k - 1]
        return v

    puts = [put, lambda k, v: put(k, v * s)]
    puts.reverse()
    for f in puts:
        f(1, s)
    return np.sum(y * x)


def composed(*functions):
    def run(v):
        for f in functions:
            v = f(v)
        return v

    return run


@program((0.7,), second=True)
def pipeline_of_closures(x):
    body = Pendulum(x)

    def tick(v):
        body.k = body.k + v
        return v * body.k

    f = composed(tick, lambda v: v + body.k, tick)
    stack = [(1.0, lambda: f(x)), (x, lambda: body.k * 2)]
    total = 0.0
    while stack:
        weight, g = stack.pop()
        body.k = body.k * x
        total += weight * g()
    return total


class Change:
    def __init__(self, body):
        self.body = body

    def __call__(self, v):
        body = self.body
        body.k = body.k * v


@program((0.7, 3.0), wrt=(0, 1), quick=True)
def changes_in_a_try(x, s):
    body, other = Pendulum(x), Pendulum(s)
    change = Change(body)
    try:
        change(s)
    except ValueError:
        s = 2.0 * s
    if s > 5:
        chosen = Change(other)
    try:
        chosen(x)
    except NameError:
        other.k = other.k + x
    return body.k * other.k


@program((0.7,))
def methods_for_primitives(x):
    bodies = [Pendulum(x), Pendulum(x * x)]
    first = bodies[0]
    bodies[0].k = first.k * 2.0
    area = quad(first.parabola, 0.0, 1.0)[0]
    bodies[0].k = first.k * x
    return area * quad(first.parabola, 0.0, x)[0] * sorted(bodies, key=lambda body: -body.k)[0].k


class Sensor:
    gain = 2.0

    def __init__(self, x):
        self.x, self.log = x, []

    def read(self, v):
        self.log.append(v)
        return self.x * v * v

    @staticmethod
    def raw(v):
        return 3.0 * v

    @classmethod
    def scaled(cls, v):
        return cls.gain * v


@program((0.8,), second=True)
def methods_of_all_sorts_in_a_table(x):
    s = Sensor(x)
    table = {"read": s.read, "raw": s.raw, "scaled": s.scaled}
    s.x = x * x
    return sum(table[name](x) for name in ("read", "raw", "scaled", "read")) * s.log[-1]


@program((positive(3), 0.7), (positive(3), 7.0))
def functions_that_change_arrays(x, s):
    y = x * s

    def change(v):
        y[0] = v * y[1]

    if s > 5:
        chosen = change
    try:
        chosen(s)
    except NameError:
        y[2] = s
    return np.sum(y * x)


class Gain:
    def __init__(self, body, w):
        self.body, self.w = body, w

    def __call__(self, v):
        self.body.k = self.body.k * v + self.w


@program((0.7,), second=True)
def callables_that_a_handler_chooses(x):
    body = Pendulum(x)
    change, gain = Change(body), Gain(body, x)
    table = {"change": change, "gain": gain}
    for key in ("gain", "none", "gain", "change"):
        try:
            chosen = table[key]
        except KeyError:
            chosen = change
        chosen(x)
    return body.k


class Bidder:
    def __init__(self, value):
        self.value, self.profit = value, 0.0

    def notify(self, price):
        self.profit += self.value - price


BIDDERS = {"once": lambda v: Bidder(v), "twice": lambda v: Bidder(2.0 * v)}
PAYOFFS = {"call": lambda s, k: max(s - k, 0.0), "put": lambda s, k: max(k - s, 0.0)}


@program((1.3,), second=True)
def lambdas_that_make_objects(x):
    bidders = [BIDDERS[k](x) for k in ("once", "twice")]
    for b in bidders:
        b.notify(x * x)
    return sum(b.profit * b.value for b in bidders)


@program((1.3,), second=True)
def lambdas_in_a_recursive_closure(x):
    memo = {}
    payoff, later = PAYOFFS["call"], functools.partial(PAYOFFS["put"], k=3.0)

    def value(i):
        if i not in memo:
            memo[i] = payoff(x, 0.5) if i == 3 else 0.5 * value(i + 1) + later(x * i)
        return memo[i]

    return value(0) * value(1)
