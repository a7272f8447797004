"""Objects that functions and methods make, read and change by recursion: trees, memories, expressions."""

from __future__ import annotations

from typing import Any

from tests.programs.declare import program


class Node:
    def __init__(self, key, value):
        self.key, self.value = key, value
        self.left: Any = None
        self.right: Any = None

    def put(self, key, value):
        if key < self.key:
            if self.left is None:
                self.left = Node(key, value)
            else:
                self.left.put(key, value)
        elif self.right is None:
            self.right = Node(key, value)
        else:
            self.right.put(key, value)

    def total(self):
        s = self.value**2
        if self.left is not None:
            s += self.left.total()
        if self.right is not None:
            s += 2 * self.right.total()
        return s


def insert(node, key, value=1.5, *, scale=0.5):
    if node is None:
        return Node(key, value * scale)
    if key < node.key:
        node.left = insert(node.left, key, value, scale=scale)
    else:
        node.right = insert(node.right, key, value)
    return node


def total(node, w=2.0):
    if node is None:
        return 0.0
    return node.value * node.value + total(node.left) + w * total(node.right)


def scale_all(node, x):
    if node is None:
        return
    node.value = node.value * x
    scale_all(node.left, x * 1.1)
    scale_all(node.right, x)


def depth(node):
    if node is None:
        return 0
    return 1 + max(depth(node.left), depth(node.right))


@program((0.7,), second=True, quick=True)
def tree_by_a_function(x):
    root = None
    for i, k in enumerate([5, 2, 8, 1, 9, 3]):
        root = insert(root, k, x * (i + 1))
    return total(root) * depth(root)


@program((0.7,), second=True)
def tree_by_a_method(x):
    root = Node(5, x)
    for i, k in enumerate([2, 8, 1, 9, 3]):
        root.put(k, x * (i + 1))
    return root.total()


@program((0.7,), second=True)
def inactive_tree_scaled(x):
    root = None
    for k in [5, 2, 8, 1, 9, 3]:
        root = insert(root, k)
    scale_all(root, x)
    return total(root)


@program((0.7,), second=True)
def trees_that_share_a_part(x):
    a, b = insert(None, 5, x), insert(None, 5, 2.0)
    for k in [2, 7]:
        insert(a, k, x * k)
        insert(b, k, 1.0, scale=2.0)
    b.left = a.left
    scale_all(b, x)
    return total(a, w=x) + total(b)


class Tree:
    def __init__(self, value, kids):
        self.value, self.kids = value, kids

    def weigh(self, x):
        s = self.value * x
        for k in self.kids:
            s = s + k.weigh(x * self.value)
        return s


def grown(n, x):
    return Tree(x * (0.5 + 0.1 * n), [grown(n - 1, x), grown(n - 1, x)] if n else [])


@program((0.7,), second=True)
def tree_that_a_function_makes(x):
    return grown(3, x).weigh(1.3)


class Memory:
    def __init__(self, x):
        self.known, self.x = {}, x

    def value(self, n):
        if n in self.known:
            return self.known[n]
        r = self.x if n < 2 else self.value(n - 1) * 0.5 + self.value(n - 2) * self.x
        self.known[n] = r
        return r


@program((0.7,), second=True)
def memory_of_an_object(x):
    m = Memory(x)
    return m.value(8) + m.known[4]


class Shape:
    def area(self):
        raise NotImplementedError


class Square(Shape):
    def __init__(self, a):
        self.a = a

    def area(self):
        return self.a**2


class Group(Shape):
    def __init__(self):
        self.items: list[Shape] = []

    def add(self, s):
        self.items.append(s)
        return self

    def area(self):
        return sum(s.area() for s in self.items)


class Scaled(Shape):
    def __init__(self, shape, k):
        self.shape, self.k = shape, k

    def area(self):
        return self.k**2 * self.shape.area()


@program((0.7,), second=True)
def shapes_of_shapes(x):
    inner = Group().add(Square(x * x)).add(Scaled(Group().add(Square(x)), 3.0))
    return Group().add(Square(x)).add(Scaled(Square(2.0), x)).add(inner).area()


class Heap:
    def __init__(self):
        self.a: list[float] = []

    def push(self, v):
        self.a.append(v)
        self.up(len(self.a) - 1)

    def up(self, i):
        if i == 0:
            return
        p = (i - 1) // 2
        if self.a[i] < self.a[p]:
            self.a[i], self.a[p] = self.a[p], self.a[i]
            self.up(p)


@program((0.7,), second=True)
def a_heap_of_ones_own(x):
    h = Heap()
    for v in [3 * x, x, 2.0, x * x, 0.5]:
        h.push(v)
    return sum(v * (i + 1) for i, v in enumerate(h.a))


def even(n, y, log):
    log.append(y)
    return y if n == 0 else odd(n - 1, y * 1.1, log)


def odd(n, y, log):
    log[0] = log[0] + y
    return -y if n == 0 else even(n - 1, y * y, log)


@program((0.7,), second=True)
def two_functions_that_call_each_other(x):
    log = [x]
    return even(4, x, log) + sum(log)


@program((0.7,), second=True)
def a_graph_searched(x):
    graph = {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}
    weights = {"a": x, "b": 2 * x, "c": x * x, "d": 1.0}
    seen = {}

    def visit(n):
        if n in seen:
            return seen[n]
        s = weights[n]
        for m in graph[n]:
            s += visit(m) * weights[n]
        seen[n] = s
        return s

    return visit("a") + seen["d"]


class Arm:
    def __init__(self, p, d):
        self.p, self.v, self.n, self.d = p, 0.0, 0, d
        self.kids: list[Arm] = []

    def expand(self):
        self.kids = [Arm(self.p * (0.5 + 0.2 * i), self.d - 1) for i in range(2)]

    def simulate(self, r):
        self.n += 1
        if self.d == 0:
            v = self.p * r
        else:
            if not self.kids:
                self.expand()
            v = 0.9 * self.kids[self.n % 2].simulate(r)
        self.v += (v - self.v) / self.n
        return v


@program((0.7,))
def a_search_tree(x):
    r = Arm(x, 3)
    for t in range(6):
        r.simulate(x * (t + 1))
    return r.v + sum(k.v for k in r.kids)


class Path:
    def __init__(self, y):
        self.ys = [y]
        self.next: Path | None = None


def followed(rhs, y, n):
    path, k = Path(y), 0
    while k < n:
        path.ys.append(rhs(path.ys[-1]))
        k += 1
    return path, k


def linked_paths(rhs, y, n):
    path, other = Path(y), Path(rhs(y))
    path.next = other
    other.ys.append(y * n)
    return path, other


SOLVERS = {"followed": followed, "linked": linked_paths}


@program((0.7, "followed"), (0.7, "linked"))
def objects_in_the_tuple_that_a_chosen_function_returns(x, name):
    path, other = SOLVERS[name](lambda y: y * x, x, 3)
    total = path.ys[0] * path.ys[-1] * (3.0 if path.next is None else path.next.ys[1])
    return total * (other if isinstance(other, int) else other.ys[0])


class Employee:
    def __init__(self, pay, team=()):
        self.pay, self.team, self.boss = pay, list(team), None

    def adopt(self):
        for one in self.team:
            one.boss = self
            one.adopt()

    def cost(self):
        return self.pay + sum(one.cost() for one in self.team)

    def above(self):
        return 0.0 if self.boss is None else self.boss.pay + self.boss.above()


@program((0.7,), second=True)
def sums_over_trees(x):
    head = Employee(10 * x, [Employee(5 * x, [Employee(x)]), Employee(3.0)])
    head.adopt()
    head.team[0].pay = head.team[0].pay * x
    return head.cost() * x + head.team[0].team[0].above()


class Number:
    def __init__(self, v):
        self.v = v


class Product:
    def __init__(self, a, b):
        self.a, self.b = a, b


FORMULA = Product(Product(Number(2.0), None), Product(None, Product(None, Number(1.5))))


def walked(node, x, seen):
    seen.append(x)
    if isinstance(node, Product):
        return walked(node.a, x * 1.1, seen) * walked(node.b, x, seen)
    if isinstance(node, Number):
        return node.v + seen[-1]
    return x


@program((0.7,), second=True)
def a_tree_of_the_module(x):
    seen = []
    return walked(FORMULA, x, seen) + sum(seen)


class Member:
    def __init__(self, value, parent=None):
        self.value, self.parent, self.children = value, parent, []
        if parent is not None:
            parent.children.append(self)


def of_line(member):
    return member.value if member.parent is None else of_line(member.parent) * member.value


def of_family(member):
    return member.value + sum(of_family(child) for child in member.children)


@program((1.3,), second=True)
def parents_that_may_be_none(x):
    first = Member(x)
    second, third = Member(x * x, first), Member(2 * x, first)
    last = Member(x, second)
    second.value = second.value * x
    return of_family(first) * of_line(last) + of_line(third)
