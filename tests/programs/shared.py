"""Objects and containers that several names hold, and that are changed through one of them."""

import heapq
from abc import ABC, abstractmethod
from bisect import insort
from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from tests.programs.declare import positive, program, signed


class Cell:
    def __init__(self, v):
        self.v = v

    def get(self):
        return self.v

    def put(self, v):
        self.v = v


class Outer:
    def __init__(self, a):
        self.inner = Cell(a)
        self.count = 2

    def grow(self, x):
        self.inner.v = self.inner.v * x


@program((0.7, 1.3), wrt=(0, 1), second=True)
def object_in_an_object_set(x, y):
    outer = Outer(x)
    outer.inner.v = outer.inner.v * y
    outer.grow(y)
    return outer.inner.v**outer.count


@program((Outer(0.7), 1.3), wrt=(0, 1), second=True)
def object_in_an_argument_set(outer, y):
    outer.inner.v = outer.inner.v * y
    return outer.inner.v**2 + y


@program((0.7, 1.3), wrt=(0, 1), second=True)
def objects_in_two_lists(x, y):
    a, b = Cell(x), Cell(y)
    first, second = [a, b, a], [b, a]
    for p in first:
        p.v = p.v * y + 1
    for p, q in zip(first, second, strict=False):
        p.v = p.v + q.v * x
    return sum(p.v for p in second) * a.get()


@program((0.7, 1.3), wrt=(0, 1))
def attributes_of_items_exchanged(x, y):
    a, b = Cell(x), Cell(y)
    cells = [a, b]
    for _ in range(3):
        cells[0].v, cells[1].v = cells[1].v, cells[0].v * x
        cells.reverse()
    return a.v * 3 + b.v


@program((positive(3), 1.3), wrt=(0, 1))
def arrays_in_shared_objects(x, y):
    cells = [Cell(x), Cell(x * y)]
    other = cells[0]
    other.v = other.v * cells[1].v
    cells.append(other)
    cells[2].v = cells[2].v[::-1] + 1
    return np.sum(cells[0].v * cells[1].v)


@program(([Cell(0.7), Cell(1.3)], 0.3), wrt=(0, 1), second=True)
def items_of_an_argument_changed(cells, y):
    for c in cells:
        c.v = c.v * y
    cells[0].v += cells[1].v
    return cells[0].v * cells[1].v + y


@program(([Cell(0.7), Cell(1.3)],))
def item_set_to_a_constant(cells):
    cells[0].v = 2.0
    return cells[0].v * cells[1].v


@program(({"a": [0.7, 1.1], "b": Cell(1.3)}, 0.3), wrt=(0, 1))
def nested_argument_changed(d, y):
    d["a"][1] = d["a"][0] * y
    d["a"].append(d["b"].v)
    d["c"] = d["a"]
    d["b"].v = d["c"][2] * y
    return sum(d["a"]) * d["b"].v


@program(([0.7, 1.1, 0.3], 0.3), wrt=(0, 1), second=True, quick=True)
def items_replaced_while_enumerated(xs, y):
    ys = xs
    for i, v in enumerate(ys):
        ys[i] = v * y
    return xs[0] * xs[1] + xs[2]


@program(({"a": 0.7, "b": 1.1}, 0.3), wrt=(0, 1))
def values_replaced_while_gone_through(d, y):
    other = d
    for k, v in other.items():
        d[k] = v * y + v
    return sum(v * v for v in d.values())


@program((0.7, 1.3), wrt=(0, 1), quick=True)
def tuples_in_a_shared_list(x, y):
    queue = [(x, "a")]
    other = queue
    other.append((x * y, "b"))
    v, name = queue.pop()
    queue.insert(0, (v * v, name))
    total = 0.0
    for value, _ in other:
        total = total * y + value
    return total


@program((0.7, 1.3), wrt=(0, 1))
def shared_objects_returned(x, y):
    a = Cell(x)
    cells = [a, a]
    cells[0].v = y * x
    return {"cells": cells, "a": a, "pair": (a.v, 3)}


def made(x, y):
    return [Cell(x * y), Cell(x + y)]


def total_of(cells, y):
    total = 0.0
    for c in cells:
        total = total + c.v * c.v * y
    return total


@program((0.7, 1.3), wrt=(0, 1))
def shared_objects_passed_on(x, y):
    cells = made(x, y)
    first = cells[0]
    first.v = first.v * y
    cells[1].v = first.v + cells[1].v
    return total_of(cells, y) * cells[0].v


@program((0.7, 1.3), (0.3, 1.3), wrt=(0, 1))
def one_of_two_objects(x, y):
    a, b = Cell(x), Cell(y)
    c = a if x > 0.5 else b
    cells = [c]
    c.v = y * y
    cells[0].v *= x
    return a.v * 2 + b.v + c.v


@program((0.7, 1.3), wrt=(0, 1))
def shared_object_in_a_while(x, y):
    a = Cell(x)
    cells = [a]
    while cells[0].v < 5:
        a.v = cells[0].v * 1.5 + y
        if a.v > 4:
            break
    return a.v


@program((positive(3), 1.3), wrt=(0, 1))
def loops_over_nothing(x, y):
    cells, named = [], {}
    for c in cells:
        c.v = y
    for k in named:
        named[k] = y
    cells.append(Cell(x))
    held = [cells]
    held[0][0].v = held[0][0].v * y
    return np.sum(cells[0].v)


@program((np.float32(0.7), np.float32(1.3)), wrt=(0, 1))
def shared_single_precision(x, y):
    a = Cell(x)
    cells = [a]
    cells[0].v = a.v * y
    return a.v * a.v


@program((positive(3) * (1 + 1j), 1.3), wrt=(0, 1))
def shared_complex(x, y):
    a = Cell(x)
    cells = [a]
    cells[0].v = a.v * y * 1j
    return np.sum(np.abs(a.v) ** 2)


@program((np.zeros(0), 1.3), (np.array(0.7), 1.3), wrt=(0, 1))
def shared_empty_or_without_axes(x, y):
    a = Cell(x)
    cells = [a]
    cells[0].v = a.v * y
    return np.sum(a.v * y)


@program((0.7, 3))
def integers_among_shared_values(x, n):
    a = Cell(n)
    cells = [a]
    cells[0].v = a.v + 1
    b = Cell(x)
    cells.append(b)
    for c in cells:
        c.v = c.v * 2
    return a.v * b.v


# ---------------------------------------------------------------- containers


@program((positive(4),), second=True, quick=True)
def item_deleted(x):
    items = [x[0], x[1] * x[0], x[2]]
    del items[1]
    return items[0] * items[1]


@program((positive(4),), quick=True)
def items_deleted_by_slice(x):
    items = [v * v for v in x]
    del items[1:3]
    return items[0] * items[1]


@program((positive(4),))
def key_deleted(x):
    d = {"a": x[0], "b": x[1]}
    d["c"] = d["a"] * d["b"]
    del d["a"]
    return sum(d.values())


@program((0.7, 1.3), wrt=(0, 1), quick=True)
def deleted_through_another_name(x, y):
    d = {"a": x, "b": y}
    other = d
    del other["a"]
    d["a"] = y * 2
    return other["a"] * d["b"]


@program((0.7, 1.3), wrt=(0, 1), quick=True)
def attribute_deleted(x, y):
    a = Cell(x)
    cells = [a]
    a.w = y
    del cells[0].w
    a.w = a.v * y
    return cells[0].w


@program((positive(4),), second=True, quick=True)
def popped_from_a_dict(x):
    d = {"a": x[0], "b": x[1] * x[0]}
    v = d.pop("a")
    w = d.pop("missing", x[2])
    key, u = d.popitem()
    return v * w * u**2 if key == "b" else v


@program((positive(5),))
def last_few(x):
    window = deque(maxlen=3)
    total = 0.0
    for v in x:
        window.append(v * v)
        total = total + sum(window) * v
    return total


@program((positive(5),), second=True, quick=True)
def lists_by_key(x):
    d = {}
    for k in range(4):
        d.setdefault(k % 2, []).append(x[k] * x[k])
    return sum(d[0]) * d[1][0]


@program((positive(5),))
def default_lists(x):
    d = defaultdict(list)
    for k, v in enumerate(x):
        d[k % 2].append(v * v)
    return sum(d[0]) * sum(d[1])


@program((positive(5),), quick=True)
def default_numbers(x):
    d = defaultdict(float)
    for k, v in zip("ababa", x, strict=True):
        d[k] += v * v
    return d["a"] * d["b"]


@program((positive(5),), quick=True)
def ordered_dict(x):
    d = OrderedDict([("c", x[2])])
    d["a"] = x[0]
    d["b"] = x[1] * x[0]
    d.move_to_end("a")
    total = 1.0
    for v in d.values():
        total = total * v + v
    return total


@program((positive(5),), second=True)
def rows_of_a_list(x):
    rows = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            rows[i][j] = x[i] * x[j]
    rows[0][1] += rows[1][0]
    return sum(sum(r) for r in rows) * rows[0][1]


@program((positive(5),), quick=True)
def window_of_a_deque(x):
    window = deque(maxlen=3)
    other = window
    total = 0.0
    for v in x:
        other.append(v * v)
        window[0] = window[0] * 1.1
        total += sum(other) * window[-1]
    return total


@program((positive(5),), quick=True)
def queue_at_both_ends(x):
    queue = deque([x[0]])
    queue.append(x[1] * x[0])
    queue.appendleft(x[2])
    queue.rotate(1)
    total = 0.0
    while queue:
        v = queue.popleft()
        total = total + v * v * (len(queue) + 1)
    return total


@program((positive(5),), quick=True)
def heap_of_numbers(x):
    heap = []
    for v in x:
        heapq.heappush(heap, v * v)
    total = 1.0
    while heap:
        total = total * heapq.heappop(heap) + 1
    return total


@program((positive(5),), quick=True)
def heap_of_a_list(x):
    heap = list(x * x)
    heapq.heapify(heap)
    return heapq.heappop(heap) * heap[0]


@program((positive(5),), quick=True)
def sorted_as_it_grows(x):
    items = []
    for v in x:
        insort(items, v * v)
    return items[0] * items[-1]


@program(([0.7, 1.1, 0.3, 0.9],), second=True, quick=True)
def list_sorted_through_another_name(xs):
    other = xs
    other.sort()
    total = 0.0
    for k, v in enumerate(xs):
        total = total + (k + 1) * v**2
    xs.reverse()
    return total * other[0]


@program((positive(5),))
def list_of_two_names(x):
    a = [x[0], x[1]]
    b = a
    b.append(x[2])
    c = a.copy()
    c.append(x[3])
    a[0] = a[0] * 2
    return sum(a) * sum(c) * b[0]


@program((positive(5),))
def shortest_way(x):
    edges = {0: [(1, x[0]), (2, x[1])], 1: [(3, x[2])], 2: [(3, x[3])], 3: []}
    best = {0: 0.0}
    waiting = [(0.0, 0)]
    while waiting:
        d, u = heapq.heappop(waiting)
        if d > best.get(u, 1e9):
            continue
        for v, w in edges[u]:
            if d + w < best.get(v, 1e9):
                best[v] = d + w
                heapq.heappush(waiting, (d + w, v))
    return best[3]


# ---------------------------------------------------------------- programs as people write them


class Adam:
    def __init__(self, params, lr):
        self.params = params
        self.lr = lr
        self.m = [0.0 for _ in params]
        self.t = 0

    def step(self, grads):
        self.t += 1
        for i, (p, g) in enumerate(zip(self.params, grads, strict=True)):
            self.m[i] = 0.9 * self.m[i] + 0.1 * g
            p.v = p.v - self.lr * self.m[i] / (1 - 0.9**self.t)


@program((0.7, 1.3, 0.1), wrt=(0, 1, 2), second=True)
def optimiser_with_state(x, y, lr):
    params = [Cell(x), Cell(y)]
    adam = Adam(params, lr)
    for _ in range(3):
        adam.step([p.v * 2 * params[0].v for p in params])
    return params[0].v * params[1].v


class Momentum:
    def __init__(self, lr):
        self.lr = lr
        self.state = {}

    def step(self, params, grads):
        for k in params:
            v = 0.9 * self.state.get(k, 0.0) - self.lr * grads[k]
            self.state[k] = v
            params[k] = params[k] + v
        return params


@program((0.7, 0.1), wrt=(0, 1), second=True)
def optimiser_of_named_parameters(x, lr):
    optimiser = Momentum(lr)
    params = {"a": x, "b": x * x}
    for _ in range(3):
        params = optimiser.step(params, {"a": params["a"] * 2, "b": params["b"]})
    return params["a"] * params["b"]


class Graph:
    def __init__(self):
        self.nodes = {}
        self.edges = []

    def add(self, name, v):
        self.nodes[name] = Cell(v)
        return self.nodes[name]

    def link(self, a, b, w):
        self.edges.append((a, b, w))

    def relax(self):
        for a, b, w in self.edges:
            self.nodes[b].v = self.nodes[b].v + w * self.nodes[a].v


@program((0.7, 1.3), wrt=(0, 1))
def graph_of_objects(x, y):
    graph = Graph()
    a = graph.add("a", x)
    graph.add("b", y)
    graph.link("a", "b", y)
    graph.link("b", "a", x)
    graph.relax()
    a.v = a.v * 2
    graph.relax()
    return graph.nodes["a"].v * graph.nodes["b"].v


class Stack:
    def __init__(self):
        self.items = []

    def push(self, v):
        self.items.append(v)

    def pop(self):
        return self.items.pop()


@program((0.7, 1.3), wrt=(0, 1))
def stack_machine(x, y):
    stack = Stack()
    for token in ["x", "y", "*", "x", "+"]:
        if token == "x":
            stack.push(x)
        elif token == "y":
            stack.push(y)
        else:
            b, a = stack.pop(), stack.pop()
            stack.push(a * b if token == "*" else a + b)
    return stack.pop()


class Layer:
    """Keeps what it is given, for a derivative of its own."""

    def __init__(self, w):
        self.w = w
        self.x = None

    def forward(self, x):
        self.x = x
        return np.tanh(self.w @ x)

    def backward(self, g):
        y = np.tanh(self.w @ self.x)
        self.dw = np.outer(g * (1 - y**2), self.x)
        return self.w.T @ (g * (1 - y**2))


@program(([Layer(signed(3, 3)), Layer(signed(3, 3, seed=3))], positive(3)), wrt=(0, 1), quick=True)
def layers_that_keep_their_input(layers, x):
    h = x
    for layer in layers:
        h = layer.forward(h)
    g = h
    for layer in reversed(layers):
        g = layer.backward(g)
    return np.sum(layers[0].dw ** 2) + np.sum(g)


class Dense:
    def __init__(self, w, b):
        self.w = w
        self.b = b

    def __call__(self, x):
        return np.tanh(self.w @ x + self.b)


class Leaky:
    def __init__(self, slope=0.1):
        self.slope = slope

    def __call__(self, x):
        return np.where(x > 0, x, self.slope * x)


class Net:
    def __init__(self, layers):
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@program(
    (Net([Dense(signed(3, 3), positive(3)), Leaky(), Dense(signed(2, 3), positive(2))]), positive(3)),
    wrt=(0, 1),
)
def layers_of_different_classes(net, x):
    return np.sum(net.forward(x) ** 2)


@program((signed(3, 3), positive(3)), wrt=(0, 1))
def layers_made_in_a_loop(w, x):
    layers = []
    for k in range(2):
        layers.append(Dense(w * k, x))
        layers.append(Leaky())
    return np.sum(Net(layers).forward(x))


@program((Net([Dense(signed(3, 3), positive(3)), Leaky()]), positive(3)), wrt=(0, 1), quick=True)
def weights_of_a_layer_set(net, x):
    for layer in net.layers:
        if isinstance(layer, Dense):
            layer.w = layer.w * 0.5
    net.layers[0].b = net.layers[0].b * x[0]
    return np.sum(net.forward(x))


class Point:
    def __init__(self, x, y=0.5):
        self.x = x
        self.y = y

    def dot(self, other):
        return self.x * other.x + self.y * other.y * 2


@program((0.7, 1.3), wrt=(0, 1))
def objects_made_of_tuples(x, y):
    points = [Point(*p) for p in [(x, y), (y, x * x)]]
    return points[0].dot(points[1])


@program((0.7, {"x": 1.3, "y": 0.3}), wrt=(0, 1))
def object_made_of_a_dict(x, config):
    point = Point(**config)
    return point.dot(point) * x


class Settings:
    def __init__(self, **values):
        self.__dict__.update(values)
        for name, value in values.items():
            setattr(self, name + "_squared", value * value)


@program((0.7, Point(1.3, 0.3)))
def attributes_read_by_name(x, point):
    kept = vars(point).copy()
    kept["x"] = x
    return kept["x"] * kept["y"]


@program((0.7, Point(1.3, 0.3)))
def attributes_of_another(x, point):
    other = Point(0.5)
    other.__dict__.update(vars(point))
    other.x = x * x
    return other.x * other.y


@program((0.7, 1.3), wrt=(0, 1), quick=True)
def attributes_of_any_name(x, y):
    settings = Settings(a=x, b=y)
    total = 0.0
    for name in ("a", "b_squared"):
        total = total + getattr(settings, name) ** 2
    return total


@dataclass(frozen=True)
class Spring:
    stiffness: float
    length: float = 1.0
    label: str = "spring"

    def stretched(self, by):
        return replace(self, length=self.length * by)

    def energy(self):
        return 0.5 * self.stiffness * self.length**2


@program((0.7, 1.3), wrt=(0, 1), second=True, quick=True)
def frozen_objects_replaced(x, y):
    spring = Spring(x)
    for _ in range(3):
        spring = spring.stretched(y)
    other = replace(spring, stiffness=spring.length * y, label="other")
    return spring.energy() * other.energy() * len(other.label)


@program((Spring(0.7, 1.2), 1.3), wrt=(0, 1), second=True, quick=True)
def frozen_argument_replaced(spring, y):
    spring = replace(spring, stiffness=spring.stiffness * y)
    return spring.stretched(y)


@program(([{"k": 0.7, "l": 0.4}, {"k": 1.3, "l": 0.2}], 1.1), wrt=(0, 1))
def objects_made_of_settings(settings, y):
    springs = [Spring(stiffness=s["k"], length=s["l"]) for s in settings]
    points = [Point(x=s["k"], y=s["l"]) for s in settings]
    points[0].x = points[1].y * y
    return sum(s.energy() for s in springs) * points[0].dot(points[1])


@program((positive(3),), quick=True)
def list_changed_after_its_product(x):
    rows = [x[0], x[1]]
    kept = [rows]
    product = np.prod(rows)
    largest = max(rows)
    kept[0][0] = x[2]
    return product * largest * rows[0]


@program((positive(3),), second=True)
def rows_changed_after_an_array_of_them(x):
    rows = [[x[0], x[1]], [x[1], x[2]]]
    same = rows[1]
    a = np.array(rows)
    same[0] = x[0] * 3
    same.append(2.0)
    return np.prod(a) * rows[1][0]


@program((positive(3), positive(3)), wrt=(0, 1), second=True)
def dict_changed_after_its_values(x, y):
    found = {}
    for i, v in enumerate(x):
        found[i] = v * y[i]
    values, items = list(found.values()), list(found.items())
    del found[0]
    found[9] = x[1]
    return values[0] * values[1] + values[2] * sum(found.values()) + items[1][1] ** 2


@program((positive(3),), second=True)
def lists_changed_after_they_were_copied(x):
    rows, others = [x[0], x[1]], [x[2]]
    kept = [rows, others]
    joined = list(rows)
    twice = others[:]
    end = rows[1:]
    kept[0].append(x[1] ** 2)
    kept[1][0] = x[0] * 5
    kept[0].insert(0, x[2])
    return joined[0] * joined[1] + twice[0] ** 2 + end[0] * rows[0] + sum(rows)


@program((0.3, 1.4), wrt=(0, 1), second=True)
def list_turned_before_its_objects_change(x, y):
    outers = [Outer(x), Outer(y), Outer(x * y)]
    for outer in outers:
        outer.parts = [outer.inner.v, y]
    outers.reverse()
    outers[-1].inner.v = outers[-1].parts.pop() * outers[0].inner.v
    turned = list(outers)[::-1]
    turned[1].parts.insert(0, x * x)
    outers.append(outers.pop(0))
    return sum(outer.inner.v * outer.parts[0] for outer in outers) * turned[0].parts[-1]


@program((0.3, 1.4), wrt=(0, 1), second=True)
def tuples_with_objects_copied(x, y):
    pairs = [(x, Cell(x)), (y, Cell(y))]
    pairs.append((x * y, pairs[0][1]))
    for v, cell in pairs:
        cell.v = cell.v * v
    turned = pairs[::-1]
    turned[0][1].v = turned[1][0] * x
    kept = list(turned)
    kept.pop(0)
    return kept[0][0] * kept[1][1].v + pairs[2][1].v


@program((0.3, 1.4), wrt=(0, 1), second=True)
def queues_of_objects_and_numbers(x, y):
    cells, numbers = deque([Cell(x), Cell(y)]), [x, y, x * y]
    same = numbers
    for k in range(5):
        cell = cells.popleft()
        cell.v = cell.v * same.pop(0) + y
        cells.append(cell)
        cells.rotate(k)
        numbers.insert(k % 2, cell.v)
        heapq.heapify(same)
        heapq.heappush(numbers, cells[0].v * x)
        numbers[1:2] = [heapq.heappop(same), y]
        numbers.sort(reverse=True)
        del same[3:]
    return numbers[0] * numbers[-1] + cells[0].v * cells[1].v


def unchanged(cell):
    return cell


@program((0.3, 1.4, unchanged), wrt=(0, 1), second=True)
def object_that_a_dynamic_call_returns(x, y, same):
    cell = Cell(x)
    cell.v = cell.v * y
    _ = same(cell)
    cell.v = cell.v * x + y
    return cell.v * y


class Phase(Enum):
    BEGIN = 1
    END = 2


@program((0.7,), second=True, quick=True)
def records_as_dicts(x):
    pet = {"kind": "cat", "weight": 3.0 * x}
    people = [
        {"name": "a", "age": x, "tags": ["u"], "pet": None},
        {"name": "b", "age": x * x, "tags": [], "pet": pet},
    ]
    for p in people:
        p["age"] = p["age"] * 1.5
        if p["pet"] is not None:
            p["pet"]["weight"] += p["age"]
    by_name = {p["name"]: p for p in people}
    by_name["a"]["age"] += by_name["b"]["pet"]["weight"]
    return sum(p["age"] for p in people) * pet["weight"]


@program((0.7,), second=True)
def configurations_as_dicts(x):
    layers = {
        "first": {"W": np.array([[x, 1.0], [0.5, x]]), "b": np.zeros(2)},
        "second": {"W": np.ones((2, 2)) * x, "b": np.ones(2)},
        "rate": 0.1,
        "steps": 3,
        Phase.END: [x],
        ("to", 1): {"scale": x},
    }
    h = np.array([1.0, 2.0])
    for _ in range(layers["steps"]):
        for name in ("first", "second"):
            layer = layers[name]
            h = np.tanh(layer["W"] @ h + layer["b"])
            layer["b"] = layer["b"] - layers["rate"] * h
        layers["first"]["W"] = layers["first"]["W"] * 0.9
        layers[Phase.END].append(layers[("to", 1)]["scale"] * h[0])
        layers["to", 1]["scale"] *= x
    return np.sum(h) + np.sum(layers["first"]["b"]) * sum(layers[Phase.END])


@program((0.7,), second=True, quick=True)
def changed_keys_of_dicts(x):
    d = {"v": x, "items": [x, 1.0], "n": 2, "name": "d"}
    other = d
    for i in range(4):
        v = other.pop("v")
        d.update({"n": i, "v": v * x})
        w = d.setdefault("w", v)
        other["w"] = w * 1.1
        copied = {**d, "n": 3}
        copied["v"] += d.get("missing", 2.0)
        d["items"].append(dict(copied)["v"])
        if "extra" in other:
            v = other["extra"]
    return d["v"] * sum(other["items"]) * d["n"] + d["w"]


@program((0.7,), second=True)
def trees_of_closures(x):
    def grow(depth, v):
        if depth == 0:
            return {"v": v, "kids": [], "name": "leaf"}
        return {"v": v * 0.5, "kids": [left(depth, v), grow(depth - 1, np.sin(v))], "name": "node"}

    def left(depth, v):
        return grow(depth - 1, v * x)

    def total(tree):
        s = tree["v"] ** 2
        for kid in tree["kids"]:
            s = s + total(kid)
        return s

    tree = grow(2, x)
    tree["kids"][0]["v"] = tree["kids"][1]["v"] * 2
    return total(tree)


class Player:
    def __init__(self, name, rating):
        self.name, self.rating, self.games = name, rating, []

    def expected(self, other, scale):
        return 1.0 / (1.0 + 10.0 ** ((other.rating - self.rating) / scale))


class League:
    def __init__(self):
        self.players = {}

    def __getitem__(self, name):
        try:
            return self.players[name]
        except KeyError:
            player = self.players[name] = Player(name, 1.5)
            return player


@program((0.7, 2.0), wrt=(0, 1), second=True)
def objects_made_where_a_key_is_missing(k, scale):
    league = League()
    for line in ["1 ann bob 1", "1 cat dan 0", "2 ann cat 0.5", "2 bob dan 1"]:
        number, a, b, score = line.split()
        first, second, points = league[a], league[b], float(score)
        change = k * (points - first.expected(second, scale))
        first.rating += change
        second.rating -= change
        for player, won in ((first, points), (second, 1 - points)):
            player.games.append((int(number), won, player.rating))
    order = sorted(league.players.values(), key=lambda p: -p.rating)
    return order[0].rating * order[-1].rating + sum(p.games[-1][2] for p in order[1:])


class Shape(ABC):
    @abstractmethod
    def area(self): ...

    def __or__(self, other):
        return Pair(self, other)


class Square(Shape):
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side**2


class Pair(Shape):
    def __init__(self, a, b):
        self.parts = (a, b)

    def area(self):
        return sum(p.area() for p in self.parts)


@program((0.7,), second=True)
def operators_of_abstract_classes(x):
    both = Square(x) | Square(2.0 * x)
    other = both | Square(x)
    both.parts[0].side = other.area() * x
    return other.area() * both.area()


class Named:
    def __init__(self, value, name):
        self.value, self.name = value, name


class NamedOnes:
    def __init__(self):
        self.by, self.last = {}, None

    def add(self, one):
        self.by[one.name] = one
        self.last = one


@program((1.3,), second=True)
def text_that_is_changed_through_a_dict(x):
    one, both = Named(x, "a"), NamedOnes()
    both.add(one)
    both.by["a"].name = "b"
    both.last.value = x * 3
    if one.name == "a":
        return one.value
    return one.value * x


class Delay:
    def __init__(self, gain, lag):
        self.gain, self.line = gain, deque([0.0] * lag, maxlen=lag)

    def step(self, signal):
        self.line.append(signal * self.gain)
        return sum(self.line) / len(self.line)


@program((1.3, 3), second=True)
def deques_of_a_given_length(x, lag):
    delay, total = Delay(x, lag), 0.0
    for k in range(5):
        total += delay.step(float(k)) * x
    last = deque((v * x for v in (1.0, x, 3.0)), maxlen=2)
    last.append(last[0] * total)
    return last[0] * last[1]


@program((1.3,), second=True)
def last_items_of_a_list(x):
    last = deque([x, 2.0 * x, x * x], 2)
    rest = deque(np.array([x, x * x]), maxlen=3)
    return last[0] * last[1] + rest[0] * rest[1]


@program((1.3,), second=True)
def ordered_dicts_of_keywords(x):
    cells = [Cell(x), Cell(2.0 * x)]
    cell = cells[int(x)]
    named = OrderedDict(a=x, b=x * x)
    cell.v += named["a"]
    merged = OrderedDict(named, c=cell.v, a=x**3)
    named["b"] *= cell.v
    return sum(v * (k + 1) for k, v in enumerate(merged.values())) * named["b"] * cells[0].v


class Bond(ABC):
    def __init__(self, k):
        self.k = k

    @abstractmethod
    def energy(self, x):
        """The energy of the term at a distance."""


class Harmonic(Bond):
    def energy(self, x):
        return self.k * x * x


class Linear(Bond):
    def energy(self, x):
        return self.k * x


@program((1.3,), second=True)
def sums_by_the_name_of_a_class(x):
    terms = [Harmonic(x), Linear(2.0), Harmonic(3.0 * x)]
    chosen, sums, found = terms[int(x)], defaultdict(float), {}
    chosen.k *= x
    for t in terms:
        sums[type(t).__name__] += t.energy(x)
        found[t.__class__.__qualname__ + "_k"] = t.k
    weight = {"Harmonic": x, "Linear": x * x}[type(chosen).__name__]
    return sums["Harmonic"] * sums["Linear"] * found["Linear_k"] * weight
