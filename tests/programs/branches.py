"""Branches: joins, variables defined on one path, early returns, conditions of all kinds."""

import math

import numpy as np

from tests.programs.declare import positive, program, signed


@program((0.8,), (-0.8,), second=True)
def if_else(x):
    if x > 0:  # noqa: SIM108
        y = x * x
    else:
        y = math.sin(x)
    return y * 2.0


@program((0.8,), (-0.8,), second=True)
def if_without_else(x):
    y = x
    if x > 0:
        y = y * x
    return y * 3.0


@program((0.2,), (0.8,), (1.8,), (2.8,))
def elif_chain(x):
    if x < 0.5:
        y = x
    elif x < 1.0:
        y = x**2
    elif x < 2.0:
        y = x**3
    else:
        y = 1.0 / x
    return y * x


@program((0.2, 0.3), (0.2, 0.8), (0.8, 0.3), (0.8, 0.8), wrt=(0, 1))
def nested_branches(x, y):
    if x > 0.5:
        z = x * y
        if y > 0.5:
            z = z * z
        else:
            x = x * 2.0
    else:
        if y > 0.5:  # noqa: SIM108
            z = y
        else:
            z = x - y
        z = z * 3.0
    return z * x


@program((0.8,), (-0.8,), second=True)
def early_return(x):
    if x > 0:
        return x * x
    y = x * 3.0
    return y * y


@program((0.2,), (0.8,), (1.8,))
def returns_everywhere(x):
    if x < 0.5:
        return x
    elif x < 1.0:  # noqa: RET505
        y = x * x
        return y * 2.0
    else:
        y = math.sin(x)
    return y


@program((0.2, 1.0), (0.8, 1.0), (0.8, 3.0), wrt=(0, 1), quick=True)
def nested_returns(x, y):
    if x > 0.5:
        if y > 2.0:
            return x * y
        x = x * 2.0
    y = y * x
    return x + y


@program((0.8,), (-0.8,))
def both_arms_return(x):
    if x > 0:
        return x * 2.0
    else:  # noqa: RET505
        return x * 3.0


@program((0.8,), (-0.8,))
def defined_on_one_path(x):
    if x > 0:
        scale = x * 2.0
    if x > 0:
        return scale * x
    return x


@program((0.8,), (-0.8,))
def defined_on_one_path_only_there(x):
    y = x
    if x > 0:
        t = x * x
        u = t * x
        y = u + t
    return y


@program((0.8,), (-0.8,), quick=True)
def different_types_in_arms(x):
    if x > 0:  # noqa: SIM108
        y = x
    else:
        y = np.array([x, 2.0 * x])
    return np.sum(y * x)


@program((0.8,), (-0.8,))
def constant_in_one_arm(x):
    y = 0.0
    if x > 0:
        y = x * x
    return y + x


@program((0.8,), (-0.8,))
def constant_integer_in_one_arm(x):
    y = 1
    if x > 0:
        y = x * x
    return y * x


@program((0.8,), (-0.8,))
def none_until_set(x):
    y = None
    if x > 0:
        y = x * x
    if y is None:
        return x
    return y * x


@program((0.8, None), (0.8, 2.0), wrt=(0,))
def optional_argument(x, scale=None):
    if scale is None:
        scale = x
    return x * scale


@program((0.8, "sin"), (0.8, "cos"), (0.8, "none"), wrt=(0,), quick=True)
def string_modes(x, mode):
    if mode == "sin":
        return math.sin(x)
    if mode in ("cos", "cosine"):
        return math.cos(x)
    return x


@program((0.8, True), (0.8, False), wrt=(0,))
def flag_argument(x, double):
    if double:
        x = x * 2.0
    return x * x


@program((0.8,), (1.8,))
def stored_flag(x):
    large = x > 1.0
    y = x * x
    if large:
        y = y * x
    if not large:
        y = y + 1.0
    return y


@program((0.8,), (-0.8,))
def tested_value_is_changed(x):
    y = x * x
    if x > 0:
        x = -x
    if x > 0:
        y = y * 2.0
    return y * x


@program((0.8, 1.4), (1.4, 0.8), wrt=(0, 1))
def swap_in_branch(a, b):
    if a > b:
        a, b = b, a
    return b * b - a


@program((0.8, 1.4), wrt=(0, 1), quick=True)
def untaken_branch_would_fail(x, y):
    if x > 100.0:
        y = math.log(-x) + [1.0][5]
    return x * y


@program((signed(4),))
def array_condition(x):
    if np.all(x > -10.0) and x.any() and x.shape[0] == 4:
        return np.sum(x * x)
    return np.sum(x)


@program((positive(3),), (positive(2, 3),))
def branch_on_rank(x):
    if x.ndim == 1:
        return x * 2.0
    return np.sum(x * x, axis=0)


@program((positive(3),), (positive(0),))
def branch_on_size(x):
    if len(x) == 0:
        return 0.0
    return np.sum(x**2) / len(x)


@program((0.8, 1.4), (-0.8, 1.4), (-0.8, -1.4), wrt=(0, 1), quick=True)
def assigned_in_all_kinds_of_arms(x, y):
    if x > 0:
        a, b = x * y, y
    elif y > 0:
        a = b = x - y
    else:
        a, b = y, a_default(x)
    return a * b


def a_default(x):
    return x * 0.5


@program((0.8,), (0.3,), (-0.8,))
def ternary_of_ternaries(x):
    y = (x * 2.0 if x > 0.5 else math.sin(x)) if x > 0 else -x
    z = y if y > x else x
    return y * z


@program((0.8, 1.4), (1.4, 0.8), wrt=(0, 1))
def ternary_in_argument(x, y):
    return math.sin(x if x > y else y * 2.0) * (x if x < y else 1.0)


@program((0.8,), (-0.8,))
def assert_in_branch(x):
    if x > 0:
        assert x < 1.0, "too large"
        y = x * x
    else:
        y = x
    return y


@program((0.8,))
def raise_in_untaken_branch(x):
    if x < 0:
        raise ValueError(f"{x} is negative")
    return math.sqrt(x)


@program((positive(3), np.True_), (positive(3), np.False_), second=True, quick=True)
def functions_or_none(x, flag):
    f = None
    if flag:
        f = lambda v: v**3  # noqa: E731
    return np.sum(x**2 if f is None else f(x))


@program((positive(3), np.True_, "a"), (positive(3), np.False_, "a"), second=True, quick=True)
def definitions_or_none(x, flag, unused):
    if flag:

        def f(v):
            return v**3

    else:
        f = None
    return np.sum(x**2 if f is None else f(x))


@program((positive(3), np.True_), (positive(3), np.False_), second=True, quick=True)
def array_or_zero(x, flag):
    r = 0
    if flag:
        r = x * 3.0
    return np.sum(r * x + x**2)


@program((positive(3), np.True_), (positive(3), np.False_), second=True)
def limits_that_are_none(x, flag):
    lower = upper = None
    if flag:
        lower = x[0]
    else:
        upper = x[1] * 2.0
    pair = (None, x) if lower is None else (x * 2.0, lower)
    y = x
    if lower is not None:
        y = y + lower * x
    if upper is not None:
        y = y * upper
    first, second = pair
    return np.sum(y * second) if first is None else np.sum(first * y * second)


def halved_or_none(x, n, flag):
    if n == 0:
        return None if flag else x
    return halved_or_none(0.5 * x, n - 1, flag)


@program((positive(3), np.True_), (positive(3), np.False_), second=True)
def results_that_are_none(x, flag):
    y = halved_or_none(x, 2, flag)
    best = None
    for v in x:
        if best is None or v > best:
            best = v * v
    return best * (np.sum(x) if y is None else np.sum(y * x))
