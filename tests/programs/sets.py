"""Sets that tell what was seen, beside objects and lists that change."""

import heapq
import itertools

from tests.programs.declare import program


class Node:
    def __init__(self, value):
        self.value = value
        self.after = []
        self.total = 0.0


@program((0.7, 1.3), wrt=(0, 1), quick=True)
def shortest_way_with_a_set(x, y):
    ways = {"a": {"b": x, "c": y * 3}, "b": {"c": x * y, "d": 2.0}, "c": {"d": x}, "d": {}}
    distances, reached, heap = {"a": 0.0}, set(), [(0.0, "a")]
    while heap:
        distance, place = heapq.heappop(heap)
        if place in reached:
            continue
        reached.add(place)
        for other, length in ways[place].items():
            new = distance + length * length
            if other not in distances or new < distances[other]:
                distances[other] = new
                heapq.heappush(heap, (new, other))
    return distances["d"] + distances["c"] * len(reached)


@program((0.7, 1.3), wrt=(0, 1))
def nodes_seen(x, y):
    nodes = [Node(x), Node(y), Node(x * y)]
    nodes[0].after = [nodes[1], nodes[2]]
    nodes[1].after = [nodes[2]]
    seen, todo, total = set(), [nodes[0]], 0.0
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        node.total = node.value * len(seen)
        total += node.total * node.value
        todo.extend(node.after)
    return total * nodes[2].total


class Atom:
    def __init__(self, name, x):
        self.name, self.x, self.force = name, x, 0.0
        self.bonded = set()


class Bond:
    def __init__(self, a, b, k):
        self.a, self.b, self.k = a, b, k
        a.bonded.add(b.name)
        b.bonded.add(a.name)

    def push(self):
        force = self.k * (self.a.x - self.b.x)
        self.a.force += force
        self.b.force -= force


@program((0.7, 1.3), wrt=(0, 1), second=True)
def bonds_between_atoms(x, y):
    atoms = [Atom(f"A{k}", v) for k, v in enumerate([x, y, x * y, 0.4])]
    bonds = [Bond(a, b, 2.0) for a, b in itertools.pairwise(atoms)]
    for b in bonds:
        b.push()
    total = 0.0
    for a in atoms:
        for b in atoms:
            if b.name in a.bonded:
                continue
            total += a.force * b.x
    return total


class Graph:
    def __init__(self):
        self.edges, self.visited, self.values = {}, set(), {}

    def link(self, a, b):
        self.edges.setdefault(a, set()).add(b)
        self.edges.setdefault(b, set()).add(a)

    def visit(self, place, x):
        if place in self.visited:
            return
        self.visited.add(place)
        self.values[place] = x * (place + 1)
        for other in sorted(self.edges[place]):
            self.visit(other, x * x)


@program((0.7,))
def sets_in_a_dict_of_an_object(x):
    graph = Graph()
    graph.link(0, 1)
    graph.link(1, 2)
    graph.visit(0, x)
    return sum(graph.values[k] for k in sorted(graph.values))


@program((0.7,), second=True)
def sets_with_two_names(x):
    a, b = Atom("a", x), Atom("b", x * x)
    c, b.bonded = a, a.bonded
    a.bonded |= {"k", "l"}
    a.bonded.update({"m", "n"}, ["o"])
    b.bonded.discard("k")
    b.bonded -= {"n"}
    c.force = b.x * len(b.bonded)
    if "m" in c.bonded and a.bonded.isdisjoint({"z"}):
        c.x = a.x * len(c.bonded.intersection({"m", "o"}))
    last = b.bonded.pop()
    a.force = c.force + x * (last not in a.bonded)
    for name in sorted(a.bonded | {"p"}):
        a.force = a.force * c.x + x * len(name)
    return a.force


@program((0.7,))
def sets_of_objects(x):
    atoms = [Atom(k, x * (k + 1)) for k in range(3)]
    picked = set(atoms[:2])
    picked.add(atoms[0])
    named = {a for a in atoms if a.name}
    for a in picked:
        a.force = atoms[2].x * a.x
    for a in named:
        a.force = a.force + atoms[0].x
    return sum(a.force for a in atoms)


@program((0.7, ["a", "c"]))
def sets_of_keys(x, names):
    values = {"a": x, "b": x * x}
    held = [values, values]
    held[0]["a"] = values["b"] * 2
    for name in sorted(set(names) - values.keys()):
        values[name] = x**3
    return sum(values[name] for name in sorted(set(values) | {"b"})) * len(set(values))


class Particle:
    def __init__(self, name, x):
        self.name, self.x, self.linked = name, x, set()

    def __sub__(self, other):
        return self.x - other.x


class Spring:
    def __init__(self, a, b):
        self.a, self.b = a, b
        a.linked.add(b.name)

    def update(self):
        length = self.b - self.a
        self.energy = length * length

    def stretched(self):
        self.update()
        return self.energy


class Chain:
    def __init__(self, xs):
        self.parts = [Particle(f"P{k}", x) for k, x in enumerate(xs)]
        self.springs = [Spring(a, b) for a, b in itertools.pairwise(self.parts)]

    def apart(self):
        total = 0.0
        for a, b in itertools.combinations(self.parts, 2):
            if b.name not in a.linked:
                total += (a - b) ** 2
        return total

    def total(self):
        return sum(s.stretched() for s in self.springs) + 2 * self.apart()


@program((0.7, 1.3), wrt=(0, 1), second=True)
def chain_of_springs(x, y):
    return Chain([x, y, x * y]).total()
