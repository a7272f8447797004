"""What `itertools` gives where it is consumed, and loops over iterables of which some carry nothing."""

import itertools
import operator

import numpy as np

from tests.programs.declare import positive, program, signed

WEIGHTS = np.array([2.0, -1.0, 0.5])


@program((positive(3),), second=True)
def running_sums(x):
    return sum(v * v for v in itertools.accumulate(x))


@program((positive(3),), second=True, quick=True)
def running_products(x):
    return sum(itertools.accumulate(x, operator.mul))


@program((positive(3), 0.7), wrt=(0, 1))
def running_from_a_start(x, start):
    total = 0.0
    for v in itertools.accumulate(x, lambda a, b: a * b + b, initial=start):
        total = total + v * v
    return total


@program((positive(0),), (positive(1),))
def running_over_few(x):
    return sum(itertools.accumulate(x), 1.0)


@program((positive(3), [0.3, 0.8]), wrt=(0, 1), second=True, quick=True)
def chained(x, more):
    return sum(k * v * v for k, v in enumerate(itertools.chain(x, more, [x[0] * x[1]])))


@program(([[0.3, 0.8], [], [1.2]],), quick=True)
def chained_from_one(rows):
    return sum(v * v for v in itertools.chain.from_iterable(rows))


@program((positive(2), positive(3, seed=1)), wrt=(0, 1), second=True, quick=True)
def every_pair_of_two(x, y):
    total = 0.0
    for a, b in itertools.product(x, y):
        total += a * b * b
    return total


@program((positive(2),))
def every_triple(x):
    return sum(a * b * c * c for a, b, c in itertools.product(x, x, [1.0, x[0]]))


@program((positive(4),), second=True, quick=True)
def every_combination(x):
    return sum(np.exp(-((a - b) ** 2)) for a, b in itertools.combinations(x, 2))


@program((positive(4),), quick=True)
def every_combination_of_three(x):
    return sum(a * b * b * c for a, b, c in itertools.combinations(list(x), 3))


@program((positive(3),), second=True)
def every_order_of_two(x):
    return sum(a * b * b for a, b in itertools.permutations(x, 2))


@program((positive(4),), (positive(1),), quick=True)
def neighbouring_items(x):
    return sum(((b - a) ** 2 for a, b in itertools.pairwise(x)), x[0])


@program((positive(4), 2), (positive(4), 9), (positive(4), 0), quick=True)
def first_few(x, n):
    return sum((v * v for v in itertools.islice(x, n)), x[3])


@program((0.7, 4))
def repeated_value(x, n):
    total = 1.0
    for v in itertools.repeat(x * x, n):
        total = total * v + v
    return total


@program((positive(3),))
def while_small(x):
    return sum(itertools.takewhile(lambda v: v < 1.2, np.array([0.1, 0.2, 2.0]) * x), x[0])


@program((positive(3),), second=True)
def counted_with_a_counter(x):
    return sum(v * v * k for k, v in zip(itertools.count(1), x, strict=False))


@program((positive(3),))
def counter_kept(x):
    numbers = itertools.count(2, 3)
    total = 0.0
    for k, v in zip(numbers, x, strict=False):
        total += k * v * v
    return total * next(numbers)


@program((positive(3),), second=True, quick=True)
def pairs_with_a_constant(x):
    total = 0.0
    for pair in zip(WEIGHTS, x, strict=True):
        total += pair[0] * pair[1] ** 2
    return total


@program((positive(3),), second=True)
def triples_with_constants(x):
    total = 0.0
    for k, row in enumerate(zip([1, 2, 3], x, WEIGHTS, strict=True)):
        total += row[0] * row[1] ** 2 * row[2] * k
    return total


@program((positive(3), positive(3, seed=1)), wrt=(0,), second=True)
def pairs_with_an_argument_that_is_given(x, y):
    rows = [pair for pair in zip(x, y, strict=True)]  # noqa: C416
    return sum(a * a * b for a, b in rows)


@program((positive(3), positive(3, seed=1)), wrt=(0, 1), quick=True)
def pairs_counted_from(x, y):
    return sum(n * pair[0] * pair[1] for n, pair in enumerate(zip(x, y, strict=True), 2))


@program((positive(4, seed=8),), quick=True)
def iterators_with_names(x):
    slopes = map(np.cos, x)
    large = filter(lambda v: v > 0.5, slopes)
    pairs = zip(large, x, strict=False)
    total = 0.0
    for a, b in pairs:
        total += a * b
    return total


@program((positive(3, seed=8),), quick=True)
def generators_with_names(x):
    factor = 2.0
    scaled = (v * factor for v in x)
    start, *rest = scaled
    order = reversed(rest)
    return sum(v * v for v in order) * start


@program((positive(3, seed=8),))
def iterators_named_in_a_loop(x):
    total = 0.0
    for k in range(3):
        scaled = (v * k for v in x)
        total += sum(scaled) ** 2
    return total


@program((positive(4),), second=True)
def first_that_fits(x):
    y = next(v * v for v in x if v > 0.8)
    return y * next((v for v in x if v > 50.0), x[1]) * next(a * b for a in x for b in x if a * b > 0.7)


@program((positive(4),), second=True, quick=True)
def first_of_iterators(x):
    parts = {"a": x[0] * x[1], "b": x[2]}
    first = next(iter(parts.values())) * parts[next(iter(parts))]
    return first + next(iter(x)) * next(iter([]), x[3]) * next(map(np.exp, x))


@program((positive(3),), second=True, quick=True)
def first_that_is_not_there(x):
    try:
        y = next(v for v in x if v > 50.0) + next(iter(()))
    except StopIteration:
        y = x[1] ** 2
    return y * x[0]


@program((0.8, 1.4), wrt=(0, 1), second=True)
def chosen_items(x, y):
    items = [x, y, x * y, y * y]
    total = sum(a * b for a, b in itertools.combinations_with_replacement(items, 2))
    total += sum(a * b * c for a, b, c in itertools.product(items[:2], repeat=3))
    total += sum(itertools.islice(items, 1, None)) * sum(itertools.islice(items, 0, 4, 2))
    total += sum(itertools.dropwhile(lambda v: v < 1.0, items)) * x
    total += sum(itertools.filterfalse(lambda v: v < 1.0, items)) * y
    return total + sum(itertools.compress(items, [1, 0, 0, 1])) * total


@program((positive(4),), second=True, quick=True)
def arrays_of_iterators(x):
    squares = np.fromiter((v * v for v in x), float)
    sines = np.fromiter(map(np.sin, x), dtype=np.float64, count=len(x))
    products = np.fromiter((a * b for a, b in itertools.pairwise(x)), float, count=2)
    return np.sum(squares * sines) + np.prod(products)


@program(({"a": 1.5, "b": 2.0, "n": 3},))
def array_of_the_values(p):
    return np.prod(np.fromiter(p.values(), float))


@program((signed(2, 3),), ([[1.0, 2.0, 3.0], [3.0, 4.0, 0.5]],), second=True)
def columns_stored(rows):
    out = np.zeros(2)
    for a, b in zip(*rows, strict=True):
        out[0] = out[1]
        out[1] = a * b * (1.0 + out[0])
    return np.sum(out**2)


@program(([[1.0, 2.0], [3.0, 4.0]],))
def columns_while_rows_change(rows):
    total = 1.0
    for a, b in zip(*rows, strict=False):
        rows[0][1] = 3 * b
        total = total * a + b
    return total


@program((positive(3), positive(4, seed=1), positive(3, seed=2)), wrt=(0, 1, 2), second=True)
def mapped_pairs_in_a_strict_zip(x, y, z):
    total = 0.0
    for product, v in zip(map(operator.mul, x, y), z, strict=True):
        total += product * v * v
    return total


@program(([[1.5, 0.5], [2.5]],), ([[0.7], [1.2, 0.4], []],), second=True)
def chain_of_a_list_of_lists(parts):
    total = 0.0
    for v in itertools.chain(*parts):
        total = total * v + v * v
    return total


@program((0.7, [1.2, 0.4], [[0.3], [1.1]]), wrt=(0, 1, 2), second=True)
def chain_of_some_starred(x, first, rest):
    return sum(v * v * x for v in itertools.chain(first, *rest, [x], *[[x], first]))


def sum_of_products(pairs):
    total = 0.0
    for a, b in pairs:
        total = total + a * b
    return total


@program((positive(3), positive(3, seed=1)), wrt=(0, 1), second=True)
def pairs_passed_on(x, y):
    found = sum_of_products(zip(x, y, strict=True)) * sum_of_products(enumerate(x, 2))
    found += sum_of_products(zip(x[::-1], map(np.sin, y), strict=True))
    return found * sum_of_products(zip(x[:2], y, strict=False))


class Steps:
    def __init__(self, pairs):
        self.sizes, self.factors = [0.0], [1.0]
        for size, rate in pairs:
            self.add(size, rate)

    def add(self, size, rate):
        self.sizes.append(size + self.sizes[-1])
        self.factors.append(self.factors[-1] / (1 + rate * size))


@program((positive(3), [1.0, 2.0, 3.0]), wrt=(0, 1), second=True)
def pairs_that_a_constructor_goes_over(rates, sizes):
    steps = Steps(zip(sizes, rates, strict=True))
    return sum(f * s for f, s in zip(steps.factors, steps.sizes, strict=True))


class Kept:
    def __init__(self, pairs):
        self.pairs = pairs

    def total(self):
        return sum(a * a * b for a, b in self.pairs)


@program((positive(3), [1.0, 2.0, 3.0]), wrt=(0, 1), second=True)
def pairs_kept_while_a_name_changes(x, y):
    kept = Kept(zip(x, y, strict=True))
    x = x * 2.0
    return kept.total() * x[0]


@program((positive(3), positive(3, seed=1)), wrt=(0, 1), second=True)
def iterables_read_when_they_are_made(x, y):
    function, start, count = np.sin, 2, 3
    mapped = Kept(zip(x, map(function, y), strict=True))
    squares = Kept(zip(y, (v * v for v in x), strict=True))
    counted = Kept(enumerate(y, start=start))
    chosen = Kept((x[k], y[k]) for k in range(count))
    x, y, function, start, count = x * 2.0, y * 3.0, np.cos, 7, 1
    total = mapped.total() + squares.total() + counted.total() + start * count
    return total * function(x[0]) * y[0] + chosen.total()
