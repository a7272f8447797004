"""Functions that call themselves, and change what they are given or capture: what is remembered or grown."""

import gc
import sys

import numpy as np

from tests.programs.declare import positive, program, signed


@program((0.7, 1.3), wrt=(0, 1), second=True, quick=True)
def remembered_values(a, b):
    memo = {0: a, 1: b}

    def value(n):
        if n not in memo:
            memo[n] = value(n - 1) * 0.5 + np.sin(value(n - 2))
        return memo[n]

    return value(6) + value(3) * memo[5]


@program((positive(3, 3),), second=True)
def cheapest_way(cost):
    memo = {}

    def best(i, j):
        key = (i, j)
        if key in memo:
            return memo[key]
        if i == 0 and j == 0:
            value = cost[0, 0]
        elif i == 0:
            value = cost[0, j] + best(0, j - 1)
        elif j == 0:
            value = cost[i, 0] + best(i - 1, 0)
        else:
            value = cost[i, j] - 0.1 * np.log(np.exp(-9 * best(i - 1, j)) + np.exp(-9 * best(i, j - 1)))
        memo[key] = value
        return value

    return best(2, 2)


def product_of_two(n, a, b, memo=None):
    if memo is None:
        memo = {}
    if n in memo:
        return memo[n]
    if n < 2:
        return a if n == 0 else b
    memo[n] = product_of_two(n - 1, a, b, memo) * product_of_two(n - 2, a, b, memo)
    return memo[n]


@program((0.7, 1.3), wrt=(0, 1), second=True)
def memo_passed_on(a, b):
    return product_of_two(5, a, b)


@program((0.7, 1.3), wrt=(0, 1))
def remembered_pairs(a, b):
    memo = {}

    def step(n):
        if n in memo:
            return memo[n]
        if n == 0:
            pair = (a, b)
        else:
            p, q = step(n - 1)
            pair = (p + 0.1 * q, q - 0.1 * np.sin(p))
        memo[n] = pair
        return pair

    p, q = step(4)
    return p * q + step(2)[0]


def even(n, memo, a):
    if n == 0:
        return a
    memo[n] = odd(n - 1, memo, a) * a
    return memo[n]


def odd(n, memo, a):
    if n == 0:
        return a * a
    memo[n] = np.sin(even(n - 1, memo, a))
    return memo[n]


@program((0.7,), second=True)
def remembered_in_turn(a):
    memo = {}
    return even(4, memo, a) + memo[1] * memo[4]


@program((positive(3),), second=True)
def table_that_grows(x):
    table = [np.ones_like(x), x]

    def legendre(n):
        if n < len(table):
            return table[n]
        table.append(((2 * n - 1) * x * legendre(n - 1) - (n - 1) * legendre(n - 2)) / n)
        return table[n]

    return np.sum(legendre(4))


class Series:
    def __init__(self, a):
        self.a = a
        self.memo = {}
        self.calls = 0

    def term(self, n):
        self.calls += 1
        if n in self.memo:
            return self.memo[n]
        value = self.a if n < 2 else self.term(n - 1) + np.sin(self.term(n - 2) * self.a)
        self.memo[n] = value
        return value


@program((0.7,), second=True)
def object_that_remembers(a):
    series = Series(a)
    return series.term(4) + series.memo[3] * series.calls


class Node:
    def __init__(self, key, value):
        self.key, self.value = key, value
        self.left = self.right = None


def insert(node, key, value):
    if node is None:
        return Node(key, value)
    if key < node.key:
        node.left = insert(node.left, key, value)
    elif key > node.key:
        node.right = insert(node.right, key, value)
    else:
        node.value = node.value + value
    return node


def visit(node, out):
    if node is not None:
        visit(node.left, out)
        out.append(node.value)
        visit(node.right, out)


@program((signed(4),), second=True)
def search_tree(x):
    root = None
    for key, v in zip([3, 1, 4, 1], x, strict=True):
        root = insert(root, key, v * v)
    out = []
    visit(root, out)
    return sum((i + 1) * v for i, v in enumerate(out)) * out[0]


@program((0.4, 0.9), wrt=(0, 1), second=True, quick=True)
def tree_grown(a, b):
    def grow(node, depth):
        for k in range(2 if depth else 0):
            kid = {"v": node["v"] * b + k, "kids": []}
            node["kids"].append(kid)
            grow(kid, depth - 1)

    def total(node):
        s = node["v"]
        for kid in node["kids"]:
            s = s + np.sin(total(kid))
        return s

    tree = {"v": a, "kids": []}
    grow(tree, 2)
    return total(tree)


def quick_sort(v, low, high):
    if low < high:
        pivot, i = v[high], low
        for j in range(low, high):
            if v[j] < pivot:
                v[i], v[j] = v[j], v[i]
                i += 1
        v[i], v[high] = v[high], v[i]
        quick_sort(v, low, i - 1)
        quick_sort(v, i + 1, high)


@program((signed(4),))
def sorted_by_recursion(x):
    v = [t * t for t in x]
    quick_sort(v, 0, len(v) - 1)
    return v[0] + 2 * v[1] * v[3]


@program((positive(2),), second=True)
def filled_on_the_way(x):
    seen = []

    def visit(k):
        if k >= 0:
            return 0.0
        seen.append(x[0])
        return x[k] + visit(k + 1)

    return visit(-2) + seen[0] * seen[1]


def sorted_parts(values):
    if len(values) < 2:
        return values
    pivot = values[0]
    low = [v for v in values[1:] if v < pivot]
    high = [v for v in values[1:] if v >= pivot]
    return sorted_parts(low) + [pivot] + sorted_parts(high)  # noqa: RUF005  (what is tested)


@program(([0.9, 0.3, 0.7, 0.5],), second=True)
def lists_joined_by_recursion(values):
    return sum(k * v * v for k, v in enumerate(sorted_parts(values)))


@program(([0.9, 0.3, 0.7, 0.5],), second=True)
def lists_joined_by_a_recursive_closure(values):
    def ordered(rest):
        if len(rest) <= 1:
            return rest
        pivot, *rest = rest
        low, high = [v for v in rest if v < pivot], [v for v in rest if v >= pivot]
        return ordered(low) + [pivot] + ordered(high)  # noqa: RUF005  (what is tested)

    return sum(k * v for k, v in enumerate(ordered(values)))


def noted(x, n, mode):
    gc.isenabled()
    if n == 0:
        return x * (2.0 if sys.intern(mode) == "twice" else 3.0)
    return noted(x * x, n - 1, mode)


@program((positive(3), "twice"), second=True)
def functions_of_the_library_that_see_numbers_only(x, mode):
    return np.sum(noted(x, 2, mode))


def halved(x, n):
    if n == 0:
        return np.sin(x), np.sqrt(x), x * x
    a, b, c = halved(x, n - 1)
    return a * c, b / 2, c * a


@program((positive(3),), second=True, quick=True)
def one_result_of_three(x):
    return np.sum(halved(x, 2)[0])


@program((positive(3),), second=True)
def two_results_of_three(x):
    t = halved(x, 2)
    return np.sum(t[0]) + np.sum(t[-1] * t[2])


@program((positive(3), 2), wrt=(0,), second=True)
def results_in_turn(x, rounds):
    total = 0.0
    for k in range(rounds):
        found = halved(x, 1 + k)
        if k == 0:
            _, b, _ = found
            total = total + np.sum(b)
        else:
            a, _, c = found
            total = total + a @ c
    return total
