"""Names: those that derivatives like to use themselves, shadowed modules and builtins, globals, aliases."""

import math
import math as m
from math import sqrt

import numpy as np
import numpy as xp
from numpy import cos, sin

from tests.programs.declare import positive, program

GAIN = 1.7
WEIGHTS = positive(3, seed=9)
SETTINGS = {"rate": 0.3}
out = 0.5
zeros_like = 2.0


@program((0.8, 1.3), wrt=(0, 1))
def adjoint_names(dx, dy):
    dout = dx * dy
    out = math.sin(dout) + dx
    return out * dout


@program((0.8, 4), wrt=(0,))
def trace_names(x, n):
    trace = x
    for stop in range(n):
        inner = trace * x
        if stop == 3:
            break
        trace = inner + 1.0
    return trace


@program((0.8, 1.3), wrt=(0, 1))
def numbered_names(x, x_2):
    out_1 = x * x_2
    x_1 = out_1 + x
    x_3 = x_1 * x_1
    x = x_3 * x_2
    out_2 = x + out_1
    return out_2 * x


@program((0.8,))
def versions_in_order(x_2):
    x = x_2 * 2.0
    x = x * x_2
    x_2 = x + 1.0
    return x * x_2


@program((0.8, 1.3), wrt=(0, 1))
def bprop_names(f_bprop, bprop):
    fprop = f_bprop * bprop
    dfprop = fprop + bprop
    return fprop * dfprop


@program((0.8,))
def flag_names(x):
    done, skip = 0.5, 2.0
    for i in range(4):
        if i == 1:
            continue
        if i == 3:
            return x * done * skip
        x = x * skip
    return x


@program((0.8,), second=True)
def local_np(x):
    np = x * 2.0
    return math.exp(np) * np


@program((0.8,), second=True)
def local_math(x):
    math = x * x
    return sin(math) + np.sqrt(math)


@program((positive(3),))
def local_np_beside_sum(x):
    np = x.sum()
    return sin(x) * np


@program((0.8, 1.3), wrt=(0, 1))
def parameter_np(np, numpy):
    return sin(np) * sqrt(numpy)


@program((0.8, 1.3), wrt=(0, 1))
def shadowed_builtins(sum, len):
    max = sum * len
    range = max + sum
    abs = sin(range)
    return abs * max


@program((positive(3),))
def shadowed_helpers(unbroadcast):
    zeros_like = unbroadcast * 2.0
    add_at = zeros_like[1]
    return np.sum(zeros_like) * add_at


@program((0.8,))
def named_as_itself(x):
    named_as_itself = x * x
    return named_as_itself * 2.0


@program((0.8,))
def globals_are_read(x):
    return x * GAIN + np.sum(WEIGHTS * x) + SETTINGS["rate"] * x + out * zeros_like * x


@program((0.8,))
def aliased_modules(x):
    return xp.sin(x) * m.cos(x) + np.linalg.norm(xp.array([x, 1.0]))


@program((0.8,))
def names_from_modules(x):
    return sin(x) * cos(x) + sqrt(x)


@program((0.8,))
def local_alias(x):
    f = np.sin
    g = f
    return f(x) * g(2.0 * x)


@program((0.8,))
def local_module_alias(x):
    lib = np
    return lib.sin(x) * lib.pi


@program((0.8,))
def unicode_names(α):
    β = α * α
    return β + α


@program((0.8,))
def underscores(_):
    __ = _ * 2.0
    _, _x = __, _ * __
    return _ * _x


@program((0.8, 1.3), wrt=(0, 1))
def inner_names_shadow(x, y):
    def inner(x):
        y = x * 2.0
        return y * y

    return inner(y) * x + y


@program((0.8, 1.3), wrt=(0, 1), quick=True)
def lambda_names_shadow(x, y):
    f = lambda y: x * y * y  # noqa: E731
    g = lambda x: f(x) + y  # noqa: E731
    return g(x) * f(y)


@program((0.8,))
def reused_for_other_types(x):
    y = x * 2.0
    s = y * y
    y = 3
    s = s * y
    y = np.array([x, s])
    s = np.sum(y * y)
    return s  # noqa: RET504


@program((positive(3),))
def loop_variable_shadows(x):
    s = 0.0
    for x in x:  # noqa: B020
        s = s + x * x
    return s * x


@program((0.8,))
def loop_variable_overwritten(x):
    s = 0.0
    for i in range(3):
        i = i * x
        s = s + i * i
    return s + i


@program((0.8,))
def iterated_name_reassigned(x):
    values = (x, x * 2.0)
    s = 0.0
    for v in values:
        values = (s, v)
        s = s + v * v
    return s + values[0]


@program((0.8,))
def keyword_like_names(x):
    match = x * 2.0
    case = match * match
    type = case + x
    return type * match


def helper_with_clashes(out, dout, trace=2.0):
    x = out * dout
    dx = x + trace
    return dx * x


@program((0.8, 1.3), wrt=(0, 1))
def clashing_inlined_names(x, dx):
    out = helper_with_clashes(x, dx)
    trace = helper_with_clashes(out, x, trace=dx)
    return out * trace


@program((0.8,), quick=True)
def attribute_of_same_name(T):
    x = np.array([[T, 1.0]])
    return np.sum(x.T * T) * x.size


@program((0.8, 1.3), wrt=(0, 1), second=True)
def adjoints_of_keyword_like_names(el, ef):
    for _ in range(2):
        el = el * np.sin(ef)
        ef = ef + el
    return el * ef
