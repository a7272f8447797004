"""Generator functions of the user's own, and contexts that they make."""

import contextlib
import heapq
import itertools
from collections import Counter

import numpy as np

from tests.programs.declare import positive, program


def halves(x, least=0.1):
    while x > least:
        yield x
        x = x / 2


def multiples(x):
    k = 1
    while True:
        yield k * x
        k += 1


def pair(x):
    yield x
    yield x * x


def scaled(items, c):
    for v in items:
        yield c * v


def limited(items, most):
    for v in items:
        if v > most:
            return
        yield v


def in_order(tree):
    if tree is None:
        return
    yield from in_order(tree[0])
    yield tree[1]
    yield from in_order(tree[2])


class Node:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    def __iter__(self):
        yield self.value
        yield 2 * self.value

    def values(self):
        if self.left is not None:
            yield from self.left.values()
        yield self.value
        if self.right is not None:
            yield from self.right.values()


@contextlib.contextmanager
def squared(x):
    y = x * x
    yield 2 * y


@contextlib.contextmanager
def doubled(box):
    old = box.value
    box.value = 2 * box.value
    try:
        yield
    finally:
        box.value = old


@contextlib.contextmanager
def forgiving():
    try:
        yield
    except ZeroDivisionError:
        print("divided by zero")


class Doubled:
    def __init__(self, node):
        self.node = node

    def __enter__(self):
        self.node.value = self.node.value * 2
        return self.node.value

    def __exit__(self, *details):
        self.node.value = self.node.value / 2


@program((1.3,), (0.01,), second=True)
def loop_over_a_generator(x):
    total = x
    for v in halves(x):
        total += v * v
    return total


@program((1.3,), second=True, quick=True)
def consumers_of_generators(x):
    first, second = pair(x)
    values = [*pair(x)]
    total = sum(halves(x)) * max(pair(x)) + min(halves(x), default=x) * sorted(pair(x))[0]
    total += np.prod(list(pair(x))) + sum(v * v for v in halves(x)) + np.hypot(*pair(x))
    table = dict(zip("ab", pair(x), strict=False))
    return total + first * second + values[0] * values[1] + table["b"] * tuple(pair(x))[1]


@program((1.3,), (0.05,), second=True, quick=True)
def questions_to_generators(x):
    if any(v > 0.6 for v in halves(x)):
        x = x * x
    if all(pair(x)):
        x = x * next(halves(x), 5.0) + next(multiples(x))
    return x


@program((1.3,), second=True, quick=True)
def endless_generators(x):
    total = sum(v * v for v in itertools.islice(multiples(x), 3))
    total += sum(itertools.takewhile(lambda v: v < 5.0, multiples(x)))
    for a, b in zip([1.0, 2.0, x], multiples(x), strict=False):
        total += a * b * b
    for k, v in enumerate(multiples(x)):
        if k == 1:
            continue
        if v > 6.0:
            break
        total += k * v
    return total


@program((1.3,), second=True, quick=True)
def generators_of_generators(x):
    def rows():
        for k in range(3):
            yield scaled(halves(x), k * x)

    pipeline = limited(scaled(multiples(x), x), 9.0)
    return sum(v * v for v in pipeline) + sum(v * v for row in rows() for v in row)


@program((1.3,), second=True)
def delegating_generator(x):
    def parts():
        yield x
        yield from halves(x * x)
        yield from [x, 2 * x]
        yield from (v * v for v in pair(x))

    return sum(v * v for v in parts())


@program((1.3,), (0.3,))
def return_from_a_loop_over_a_generator(x):
    for v in halves(x):
        for w in halves(2 * v):
            if w < 0.4:
                return v * w
    else:
        x = x * x
    return x


@program((1.3,), second=True, quick=True)
def generator_passed_on(x):
    def total(items):
        s = 0.0
        for v in items:
            s = s + v * v
        return s

    return total(halves(x)) * total([x, x]) + total(iter(scaled(pair(x), x)))


@program((1.3,), second=True)
def captured_variables_change_before_the_items(x):
    c, n = x, 3

    def items(n):
        for k in range(n):
            yield c * k * n

    found = items(n)
    c, n = x * x, 7
    return sum(found) * c * n


@program((1.3,), second=True)
def loop_body_and_generator_in_turns(x):
    xs, state = [x, x * x], Node(x)

    def items():
        for v in xs:
            state.value = state.value * v
            yield v * state.value

    total = 0.0
    y = x
    for v in items():
        y = y + v
        total += v * y * state.value
        if len(xs) < 4:
            xs.append(v * x)
            state.value = x
    return total * y


@program((positive(3),), second=True, quick=True)
def generator_of_arrays(x):
    def sweeps(n):
        u = x.copy()
        for _ in range(n):
            u[1:] += 0.5 * u[:-1] * x[1:]
            yield u

    total = np.sum(sum(sweeps(3)) ** 2)
    for u in sweeps(2):
        total += u[1] * u[2]
    kept = list(sweeps(3))
    return total + kept[0][1] * kept[2][2]


@program((1.3, 5), (1.3, 0), quick=True)
def recursive_generators(x, n):
    def down(n):
        if n > 0:
            yield x * n
            yield from down(n - 1)

    tree = ((None, x, None), x * x, (None, x**3, (None, 2 * x, None)))
    total = 0.0
    for k, v in enumerate(in_order(tree)):
        total += k * v * v
    return total + sum(down(n)) * sum(v * v for v in in_order(tree))


@program((Node(0.7, Node(1.2), Node(0.4, Node(0.9))),))
def generator_methods(node):
    total = 0.0
    for v in node:
        total += v * v
    return total * sum(node.values()) + max(node.right)


@program((1.3,), second=True, quick=True)
def finally_in_a_generator(x):
    left = [0.0]

    def items():
        try:
            yield x
            yield x * x
        finally:
            left.append(x)

    total = 0.0
    for v in items():
        total += v * v
        if v > x:
            break
    return total * left[1] * len(left)


@program((1.3,), second=True, quick=True)
def contexts_of_generators(x):
    node = Node(x)
    with squared(x) as y, doubled(node):
        z = y * node.value
    with forgiving():
        w = z * x
    return z * w * node.value


@program((1.3,))
def early_ends_of_contexts_of_generators(x):
    node = Node(x)
    for k in range(4):
        with doubled(node):
            if k == 0:
                continue
            if node.value * k > 4.0:
                return node.value * k * x
    return x


def log_sum_exp(values):
    values = list(values)
    largest = max(values)
    return largest + np.log(sum(np.exp(v - largest) for v in values))


def first_above(values, least):
    for v in values:
        if v > least:
            return v
    return 0.0


@program((1.3,), second=True)
def generator_expressions_passed_on(x):
    total = log_sum_exp(x * k for k in range(3)) + log_sum_exp(map(np.sin, [x, 2.0]))
    for j in range(3):
        total += first_above((x * k + y for k in range(1, 9) if k != 2 for y in (0.1 * x, 0.3)), least=j)
    return total


@program((1.3,), second=True)
def generators_and_views_whose_names_are_bound_again(x):
    table = {"a": x, "b": x * x}
    items = table.values()
    table["c"] = x**3
    items = list(items)
    powers = halves(x)
    powers = tuple(powers)
    means = [{"a": x, "b": x * x}]
    for t in range(2):
        means.append({})
        for s in "ab":
            means[t + 1][s] = log_sum_exp(means[t][r] * x for r in "ab")
    return sum(items) * len(items) + powers[1] + log_sum_exp(means[-1].values())


@program((1.3,), second=True)
def generator_expressions_with_names(x):
    n, y, items = 3, x, [x, x * x]
    powers = (y * k * k for k in range(n))
    later = (v * y for v in items if v > 0)
    n, y = 5, x * x
    items.append(y)
    items = [x]
    total = y * n
    for v in powers:
        total += v * x
    return total + sum(v * v for v in later) + len(items)


class Branch:
    def __init__(self, length, children=()):
        self.length, self.children = length, list(children)

    def __iter__(self):
        yield self
        for child in self.children:
            yield from child

    def leaves(self):
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()

    def depths(self, above=0.0):
        yield above + self.length
        for child in self.children:
            for depth in child.depths(above + self.length):
                yield 2 * depth


def tree_of(x):
    inner = Branch(x * x, [Branch(2.0), Branch(x, [Branch(3 * x)])])
    return Branch(x, [inner, Branch(0.5, [Branch(x**3)])])


@program((1.3,), second=True, quick=True)
def objects_that_iterate_over_their_parts(x):
    tree = tree_of(x)
    total = sum(b.length**2 for b in tree)
    for k, b in enumerate(tree):
        total += k * b.length
    root, *others = tree
    return total * root.length * max(b.length for b in tree) + len(others)


@program((1.3,), second=True)
def generator_methods_of_parts(x):
    tree = tree_of(x)
    return sum(b.length**3 for b in tree.leaves()) * sum(d * d for d in tree.depths())


@program((1.3,), second=True)
def loops_over_parts_that_change_what_is_not_read(x):
    tree = tree_of(x)
    for b in tree:
        for child in b.children:
            child.length = child.length * b.length
    for b in list(tree.leaves()):
        b.children.append(Branch(b.length * x))
    return sum(b.length for b in tree)


class Agent:
    def __init__(self, energy, kind):
        self.energy, self.kind = energy, kind

    def eat(self, food):
        self.energy += food

    def species(self):
        return self.kind


@program((1.3,), second=True)
def counters_of_generators(x):
    agents = [Agent(x, "hawk"), Agent(x * x, "dove"), Agent(2.0, "hawk")]
    for agent in agents:
        agent.eat(x)
    counts = Counter(agent.kind for agent in agents)
    others = Counter(map(Agent.species, agents))
    return counts["hawk"] * agents[0].energy + others["dove"] * agents[1].energy


class Queue:
    def __init__(self, rate):
        self.events, self.counter, self.rate, self.now = [], itertools.count(), rate, 0.0

    def schedule(self, delay, kind):
        heapq.heappush(self.events, (self.now + delay, next(self.counter), kind))

    def run(self):
        total = 0.0
        while self.events:
            self.now, number, kind = heapq.heappop(self.events)
            total += self.now * self.rate * (number + 1)
            if kind == "arrive":
                self.schedule(self.now * 0.7, "depart")
        return total


@program((1.3,), second=True)
def events_with_numbers_of_a_counter(x):
    queue = Queue(x)
    queue.schedule(x * x, "arrive")
    queue.schedule(0.8, "arrive")
    return queue.run()


class Layer:
    def __init__(self, weight):
        self.values = {"weight": weight}

    def parameters(self):
        for key in self.values:
            yield self, key


class Layers:
    def __init__(self, *layers):
        self.layers = layers

    def parameters(self):
        for layer in self.layers:
            yield from layer.parameters()


class Descent:
    def __init__(self, parameters, rate):
        self.parameters, self.rate = list(parameters), rate

    def step(self):
        for layer, key in self.parameters:
            layer.values[key] = layer.values[key] - self.rate * layer.values[key] ** 2


@program((1.3,), second=True)
def parameters_given_to_a_constructor(x):
    net = Layers(Layer(x), Layer(x * x))
    descent = Descent(net.parameters(), 0.1 * x)
    descent.step()
    descent.step()
    return net.layers[0].values["weight"] * net.layers[1].values["weight"]
