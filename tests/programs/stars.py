"""Calls with `*` and `**`, and functions with star parameters."""

import functools

import numpy as np

from tests.programs.declare import positive, program


def weighted(a, b):
    return a * b * b


def product(*factors):
    result = 1.0
    for factor in factors:
        result = result * factor
    return result


def polynomial(x, *coefficients, scale=1.0):
    if not coefficients:
        return 0.0
    return scale * coefficients[0] + x * polynomial(x, *coefficients[1:], scale=scale)


def named(**values):
    return values["a"] * values["b"] ** 2


def with_options(a, b=1.0, *, c=2.0):
    return a * b * c


def forwarded(*args, **options):
    return 2.0 * with_options(*args, **options)


@program((positive(3), positive(3, seed=1)), wrt=(0, 1))
def types_of_starred(x, y):
    arrays = [x, y]
    return np.array(arrays, dtype=np.common_type(*arrays)) ** 2


def doubled(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return 2.0 * f(*args, **kwargs)

    return wrapper


@doubled
def decorated(a, b=2.0):
    return a * b * b


def counted(scaled=False):
    def decorate(f):
        @functools.wraps(f)
        def wrapper(*args, verbose=False, **kwargs):
            if scaled and kwargs.get("physical", True):
                kwargs = {**kwargs, "b": 3.0}
            kwargs.pop("physical", None)
            return f(*args, **kwargs) * (len(args) + verbose)

        return wrapper

    return decorate


@counted()
def counts_arguments(a, b=2.0):
    return a * b


PAIR = np.array([1.0, 2.0])


class Gas:
    scale = 2.0

    @counted()
    @counted(scaled=True)
    def ratio(self, a, b=2.0):
        return self.scale * a * b

    @classmethod
    @counted()
    def of_class(cls, a, /, *, b=PAIR):
        return np.sum(a * b) * len(cls.__name__)

    @counted()
    def kept(self, a, b=2.0):
        return a * b * self.scale


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def apply(self, a, b=1.0):
        return a * b * b * 1.5


SCALE = Scale(2.0)


@program((0.8, 1.3), wrt=(0, 1), second=True)
def tuple_expanded(x, y):
    pair = (x, y)
    return weighted(*pair) + weighted(*pair[::-1])


@program(((0.5, 0.3), positive(3)), wrt=(0, 1), second=True)
def parameters_expanded(parameters, x):
    def predict(w, b, inputs):
        return np.tanh(w * inputs + b)

    return np.sum(predict(*parameters, x))


@program(([0.5, 0.3],), second=True, quick=True)
def list_expanded(pair):
    return weighted(*pair)


@program((positive(2),), second=True, quick=True)
def array_expanded(x):
    return weighted(*x)


@program(({"a": 0.5, "b": 0.7},), quick=True)
def dict_expanded(values):
    return weighted(**values) * named(**values)


@program((0.8, 1.3), wrt=(0, 1), second=True)
def star_parameters(x, y):
    return product(x, y, x) + product(y) + product()


@program((0.8, 1.3), wrt=(0, 1), second=True)
def star_parameters_of_a_recursion(x, y):
    return polynomial(x, y, 2.0, y * y, scale=y)


@program((0.8, 1.3), wrt=(0, 1), second=True)
def arguments_passed_on(x, y):
    return forwarded(x) + forwarded(x, y) * forwarded(x, b=y, c=x) + forwarded(y, c=x)


@program((0.8, 1.3), wrt=(0, 1), second=True)
def decorated_function(x, y):
    return decorated(x) + decorated(x, b=y)


@program((0.8, 1.3), wrt=(0, 1), quick=True)
def keywords_of_wrappers(x, y):
    gas = Gas()
    total = gas.ratio(x) + gas.ratio(x, physical=False, verbose=True) * y + Gas.of_class(y, verbose=True)
    return total + counts_arguments(x) * counts_arguments(x, y) + gas.of_class(x, b=y) + gas.kept(x)


program((1.5,))(counts_arguments)


@program((0.8, 1.3), wrt=(0, 1), second=True, quick=True)
def nested_star_function(x, y):
    def inner(*args, **options):
        return product(*args) * options["k"] * y

    def outer(*args, k):
        return inner(*args, k=k) * x

    return outer(x, y, k=x * x)


@program((0.8, 1.3), wrt=(0, 1), second=True)
def star_lambdas(x, y):
    functions = [lambda *a: a[0] * a[1], lambda *a: sum(a), lambda a, b=2.0: a - b * b]
    pair = [x, y]
    return sum(f(*pair) for f in functions)


@program((0.8, 1.3, 3), (0.8, 1.3, 0), wrt=(0, 1))
def list_of_any_length(x, y, n):
    factors = []
    for k in range(n):
        factors.append(x * y + k)
    return product(x, *factors, *factors)


@program((0.8, 1.3), (0.2, 1.3), wrt=(0, 1), second=True)
def one_of_two_tuples(x, y):
    pair = (x, y) if x > 0.5 else (y, x)
    more = (x, y)
    if x > 0.5:
        more = (x, y, x * y)
    return weighted(*pair) * product(*more)


@program((0.8, 1.3), wrt=(0, 1), second=True)
def tuple_reassigned_in_a_loop(x, y):
    total = 0.0
    pair = (x, y)
    for _ in range(3):
        total += weighted(*pair)
        x = x * 1.1
        pair = (x, total)
    return total


@program((0.8, 1.3), wrt=(0, 1), second=True, quick=True)
def dict_changed_between_calls(x, y):
    options = {"a": x}
    first = forwarded(**options)
    options["b"] = y
    return first * forwarded(**options)


@program((0.8, 1.3), wrt=(0, 1), second=True)
def keywords_of_several_kinds(x, y):
    options = {"b": y}
    return with_options(x, **options) * with_options(x, **options, c=y) + with_options(a=x, **options)


@program((0.8, 1.3), wrt=(0, 1), second=True, quick=True)
def primitives_expanded(x, y):
    pair = (x, y)
    values = [x, y, x * y]
    return np.multiply(*pair) * max(*values) + np.hypot(*values[:2]) + min(*values, 0.5)


@program((positive(4), [2, 2]), second=True, quick=True)
def shape_expanded(x, shape):
    y = x * x
    return np.sum(y.reshape(*shape) @ x.reshape(*shape)) * np.sum(np.ones((*shape, 1)))


@program(([0.8, 1.3],), second=True)
def method_expanded(pair):
    return SCALE.apply(*pair) + SCALE.apply(*pair[:1])


@program((0.8, 1.3), wrt=(0, 1), second=True)
def generator_expanded(x, y):
    return weighted(*(v * 2.0 for v in (x, y))) + product(*map(np.sin, (x, y)))


@program((0.8, 1.3), wrt=(0, 1), second=True)
def slices_of_the_arguments(x, y):
    def chained(*args):
        first, *rest = args
        if len(rest) == 0:
            return first
        return first * weighted(*args[:2]) + chained(*args[1:])

    return chained(x, y, x * y)


@program((0.8, 1.3), wrt=(0, 1))
def shadowed_keyword(x, y):
    def f(**options):
        total = options["y"] * x
        y = total + options["total"]
        return y * y

    return f(y=y, total=x)


@program((0.8, 1.3), wrt=(0, 1))
def zipped_columns(x, y):
    pairs = [(x, y), (y, x * y)]
    a, b = zip(*pairs, strict=True)
    total = a[0] * b[1] + a[1]
    for u, v in zip(*pairs, strict=True):
        total += u * v
    return total


@program(([[1.0, 2.0], [3.0, 4.0], [0.5, 0.7]],), quick=True)
def sums_of_columns(rows):
    columns = [sum(column) for column in zip(*rows, strict=True)]
    return columns[0] * columns[1]


@program((positive(2, 3),), quick=True)
def zipped_rows_of_an_array(x):
    return sum(a * b * b for a, b in zip(*x, strict=True))


@program((0.8, 1.3), wrt=(0, 1))
def uneven_rows(x, y):
    rows = [[x, y, x * y], (y, x)]
    return sum(k * a * b for k, a, b in zip([1, 2, 3], *rows, strict=False))


@program((0.8, 1.3, (1, 8, 3)), wrt=(0, 1), second=True)
def expanded_range(x, y, bounds):
    total = 0.0
    for k in range(*bounds):
        total += k * x * y
    return total


def rows_of(*args, **options):
    return list(zip(*args, strict=True, **options))


@program((positive(4), positive(4)), wrt=(0, 1))
def zip_with_given_options(x, y):
    return sum(a * b for a, b in rows_of(x, y))


class Line:
    def __init__(self, a, b, c=2.0):
        self.a, self.b, self.c = a, b, c

    def at(self, n):
        s = self.c
        for _ in range(n):
            s = s * self.a + self.b
        return s


NAMES = ("a", "b", "c")


@program((positive(3),), second=True)
def keywords_from_names_and_values(x):
    fields = {}
    for name in NAMES:
        if name == "c":
            break
        fields[name] = x[1] * len(fields)
    named = Line(**dict(zip(NAMES, x, strict=False)))
    return named.at(3) * named.a + Line(**fields, c=x[0]).at(2)
