"""Statements in a row: assignments of all kinds, docstrings, assertions, printing, annotations, walrus."""

import logging
import math

import numpy as np

from tests.programs.declare import positive, program

LOGGER = logging.getLogger(__name__)


@program((0.8, 1.4), wrt=(0, 1), second=True)
def temporaries(x, y):
    a = x * y
    b = math.sin(a)
    c = a + b
    return c * a


@program((0.8,), second=True)
def reassigned(x):
    y = x * 2.0
    y = y * y
    y = math.sin(y)
    return y  # noqa: RET504


@program((0.8,), second=True)
def reassigned_parameter(x):
    x = x * x
    x = x + 1.0
    return x * x


@program((0.8, 1.4), wrt=(0, 1), second=True)
def swapped(a, b):
    a, b = b, a
    return a * a * b


@program((0.8, 1.4, 0.3), wrt=(0, 1, 2))
def rotated(a, b, c):
    a, b, c = c, a, b
    a, b, c = c, a, b
    return a * a * b + c


@program((0.8, 1.4), wrt=(0, 1), second=True)
def parallel_assignment(a, b):
    a, b = a * b, a + b
    a, b = b - a, a
    return a / b


@program((0.8, 1.4), wrt=(0, 1), quick=True)
def chained_assignment(x, y):
    a = b = x * y
    a = a * x
    return a + b


@program((0.8, 1.4), wrt=(0, 1))
def nested_unpacking(x, y):
    (a, (b, c)), d = (x, (y, x * y)), 2.0
    return a * b + c * d


@program((0.8, 1.4), wrt=(0, 1), quick=True)
def unpacking_a_tuple(x, y):
    pair = (x * y, x - y)
    a, b = pair
    return a * b + pair[0]


@program((positive(3),))
def unpacking_an_array(x):
    a, b, c = x
    return a * b + c


@program((positive(2, 3),), quick=True)
def unpacking_rows(x):
    a, b = x
    return np.sum(a * b**2)


@program((0.8, 1.4), wrt=(0, 1), quick=True)
def starred_unpacking(x, y):
    a, *rest = (x, y, x * y)
    return a * rest[0] + rest[1]


@program((0.8, 1.4), wrt=(0, 1), second=True)
def augmented(x, y):
    s = x
    s += y * x
    s *= s
    s -= 0.5
    s /= y
    s **= 2
    return s


@program((5.8, 1.4), wrt=(0, 1))
def augmented_remainder(x, y):
    x %= y
    y //= 1.0
    return x * y


@program((0.8,))
def augmented_parameter(x):
    y = x
    x += 1.0
    return x * y


@program((positive(3), positive(3, seed=1)), wrt=(0, 1))
def augmented_fresh_array(x, y):
    z = x * 2.0
    z += y * x
    z *= y
    return np.sum(z * z)


@program((positive(3), positive(3, seed=1)), wrt=(0, 1))
def augmented_after_reads(x, y):
    z = x * y
    w = np.sin(z)
    z -= w
    z /= 2.0
    return np.sum(z * w)


@program((0.8,), second=True)
def with_docstring(x):
    """Squares, and adds one."""
    return x * x + 1.0


@program((0.8, 3), wrt=(0,), quick=True)
def with_assertions(x, n):
    assert x > 0
    assert n == 3, f"n is {n}"
    assert isinstance(x, float) and n in (1, 2, 3), "both"
    return x * n


@program((0.8,), quick=True)
def printing(x):
    y = x * x
    print("y is", y, end=".\n")
    print(f"{x:.3f} and {y!r} and {x + y:>{10}.2e} {{}} \\ ")
    return y


@program((0.8,), quick=True)
def formatted_string(x):
    label = f"<{x:.1f}>"
    return x * len(label)


@program((0.8,))
def string_methods(x):
    label = "a,b".split(",")  # noqa: SIM905
    return x * len(label)


@program((0.8,))
def expression_statements(x):
    x * 2.0
    math.sin(x)
    ...  # noqa: PIE790
    return x * 3.0


@program((0.8,))
def pass_statements(x):
    pass  # noqa: PIE790
    if x > 0.5:
        pass
    else:
        x = x * 2.0
    return x * 3.0


@program((0.8, 1.4), wrt=(0, 1), quick=True)
def annotated(x: float, y: "float" = 1.0) -> float:
    z: float = x * y
    w: float
    w = z * x
    return w


@program((0.8,), quick=True)
def walrus(x):
    return (y := x * x) * 2.0 + y * y


@program((0.8,), (0.2,))
def walrus_in_condition(x):
    if (y := x * x) > 0.3:
        return y * x
    return y


@program((0.8,), (0.2,))
def walrus_after_short_circuit(x):
    y = 2.0
    if x > 0.5 and (y := x * 3.0) > 1.0:
        x = x * y
    return x * y


@program((0.8,))
def dead_code(x):
    unused = math.exp(x)
    also = unused * 2.0  # noqa: F841
    return x * x


@program((0.8,))
def after_return(x):
    y = x * x
    return y  # noqa: RET504
    y = y * 2.0
    return y  # noqa: RET504


@program((0.8,))
def copies(x):
    a = x
    b = a
    c = b * a
    a = c
    return a * b


@program((0.8, 1.4), wrt=(0, 1))
def two_results(x, y):
    return x * y, x / y


@program((0.8, 1.4), wrt=(0, 1), second=True)
def nested_results(x, y):
    a = x * y
    return (a, (a * x, y)), [x, a]


@program((0.8,))
def result_with_an_integer(x):
    n = 3
    return x * n, n


@program((0.8,))
def repeated_result(x):
    y = x * x
    return y, y, x


@program((0.8, 1.4), wrt=(0, 1))
def dictionary_result(x, y):
    return {"product": x * y, "sum": x + y}


@program((0.8,))
def long_line(x):
    return (
        x * 2.0
        + math.sin(x)  # first
        * math.cos(x)
        - 1.0
    )


@program((0.8,))
def one_line(x): y = x * x; return y * 2.0  # noqa: E702


@program((0.8,))
def type_tests(x):
    if isinstance(x, (int, float)):  # noqa: SIM108
        y = x * 2.0
    else:
        y = x.sum()
    return y * x


@program((0.8,))
def scaled_by_bool(x):
    positive_x = x > 0
    return x * positive_x + (not positive_x) * 3.0


@program((0.8, 1.4), wrt=(0, 1), second=True, quick=True)
def attributes_by_name(x, y):
    sine = getattr(math, "sin")  # noqa: B009
    return sine(x) * getattr(y, "real") + getattr(np, "no_such_function", np.cos)(x)  # noqa: B009


@program((0.8, 1.4), wrt=(0, 1), second=True)
def logged(x, y):
    LOGGER.debug("x is %s", x)
    z = x * y
    LOGGER.log(1, f"z is {z}")
    return z * z


@program((0.8, 1.4), wrt=(0, 1), second=True)
def letters_and_numbers(x, y):
    total = 0.0
    for letter, v in zip("abc", (x, y, x * y)):  # noqa: B905
        if letter.upper() == "B":
            total += x
        total += v * x * ord(letter)
    return total


@program((0.8, 1.4), wrt=(0, 1), second=True, quick=True)
def sets_of_numbers(x, y):
    total = 0.0
    seen = set()
    for k in sorted({1, 2, 3} & {2, 3} | {7} - {2}):
        if k in seen:
            continue
        seen.add(k)
        total += x * k
    return total * y


@program((0.8, 1.3), wrt=(0, 1), second=True, quick=True)
def empty_constructors_and_stars_beside_values(x, y):
    items = list()  # noqa: C408
    table = dict()  # noqa: C408
    pair = tuple()  # noqa: C408
    for k in range(2):
        items.append(x * (k + 1))
        pair += (y**k,)
    table["a"] = x * y
    a, b, c = *items, 2
    d, *rest = *pair, a
    return a * b * c * d * sum(rest) * sum(table.values())
