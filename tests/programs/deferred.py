"""Statements that are refused, and not reached: all else is differentiated.

Each line that is refused ends with `# refused`: `tests/programs/test_deferred.py` reaches it.
"""

import zlib

import numpy as np

from tests.programs import elsewhere
from tests.programs.declare import positive, program, signed

# mypy: allow-untyped-defs
# ruff: noqa: SIM108

unruled = zlib.adler32  # which has neither a rule nor source
total = 0.0


class Scaled:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x, flag):
        if flag:
            return unruled(self.scale)  # refused
        return self.scale * x


def halved(x, n, flag):
    if n == 0:
        return unruled(x) if flag else x  # refused
    return halved(0.5 * x, n - 1, flag)


def always_refused(x):
    return unruled(x) * 2  # refused


def cos(x, flag):
    if any([flag]):
        return unruled(x)  # refused
    return np.cos(x)


def refused_in_each_branch(x, n):
    if n > 0:
        return refused_in_each_branch(0.5 * x, n - 1)
    if x[0] > 1:
        return unruled(x)  # refused
    return unruled(2 * x)  # refused


def filled_or_refused(out, x, n):
    if n > 0:
        filled_or_refused(out, x, n - 1)
    else:
        unruled(x, out)  # refused


@program((positive(3), np.False_), second=True)
def functions_with_the_name_of_a_primitive(x, flag):
    return np.sum(cos(x, flag) * cos(2.0 * x, flag))


@program((positive(3), np.False_), second=True)
def refused_in_every_branch(x, flag):
    return np.sum(refused_in_each_branch(x, 2)) if flag else np.sum(x**3)


@program((positive(3), np.False_), second=True)
def refused_before_an_array_is_filled(x, flag):
    out = np.ones(3)
    if flag:
        filled_or_refused(out, x, 2)
    return np.sum(out * x)


@program((positive(3), np.False_), second=True)
def variables_of_an_arm(x, flag):
    z = 1.0
    if flag:
        z = unruled(x)  # refused
        w = 3.0
    else:
        w = 2.0
    return np.sum(x**2 * z * w)


@program((signed(4), np.False_), second=True)
def refused_early_return(x, flag):
    if flag:
        for v in x:
            if v > -9:
                return unruled(v)  # refused
        return np.sum(x)
    return np.sum(x**3)


@program((signed(4), np.True_), second=True, quick=True)
def rest_of_the_function(x, usual):
    if usual:
        return np.sum(x**3)
    y = unruled(x)  # refused
    y[0] += 1
    return y


@program((positive(3), np.False_), second=True)
def choices_and_tests(x, flag):
    y = unruled(x) if flag else x * x  # refused
    return np.sum(y) if not flag and (flag or np.sum(x) > 0) else unruled(y)  # refused


@program((positive(3), np.False_), second=True, quick=True)
def tests_of_comprehensions(x, flag):
    ys = [unruled(v) if flag else v**2 for v in x]  # refused
    zs = [y for y in ys if not (flag and unruled(x) * y > 0)]  # refused
    return sum(zs, 0.0)


@program((signed(4), 3), second=True)
def later_turns(x, n):
    s = 0.0
    i = 0
    while i < n:
        if i > 4:
            s += unruled(x)  # refused
        s += np.sum(x**i)
        i += 1
    else:
        if n > 7:
            s = unruled(x)  # refused
    return s


@program((positive(4), np.False_), second=True, quick=True)
def elements_set_in_a_loop(x, flag):
    out = np.zeros_like(x)
    for i in range(len(x)):
        if flag and i > 1:
            out[i] = unruled(x[i])  # refused
        else:
            out[i] = x[i] ** 2
    return np.sum(out)


@program((positive(3), np.False_), second=True, quick=True)
def taken_exceptions(x, flag):
    try:
        if flag:
            y = unruled(x)  # refused
        else:
            y = x * 3.0
    except (KeyError, NotImplementedError):
        y = x * 0.0
    except Exception:
        y = x * 7.0
    return np.sum(y * y)


@program((positive(3), np.False_), quick=True)
def tried_until_it_works(x, flag):
    while True:
        try:
            y = halved(x, 2, flag)
            break
        except Exception:
            continue
    return np.sum(y * y)


@program((positive(3), np.False_), second=True, quick=True)
def handlers_and_final_blocks(x, flag):
    try:
        y = x * 2.0
        if flag:
            raise ValueError
    except ValueError:
        y = unruled(x)  # refused
    finally:
        if flag:
            x = unruled(x)  # refused
    return np.sum(y * x)


@program((positive(3), np.False_), second=True)
def contexts_and_cases(x, flag):
    with np.errstate(all="ignore"):
        match len(x), flag:
            case 7, _:
                x = unruled(x)
            case 3, v if v:
                x = unruled(x)  # refused
                z = 3
            case _:
                z = 2
    return np.sum(x**z)


@program((positive(3), np.False_), second=True)
def functions_of_its_own(x, flag):
    def inner(v):
        if flag:
            v = unruled(v)  # refused
        return v * 2

    chosen = (lambda v: unruled(v)) if flag else (lambda v: v**2)
    return np.sum(chosen(inner(x)))


@program((positive(3), np.False_), second=True, quick=True)
def refused_helpers(x, flag):
    scaled = Scaled(2.0 * x)(x, flag)
    if flag:
        scaled = always_refused(scaled)
    return np.sum(scaled**2) + np.sum(halved(x, 3, flag))


@program((positive(3), np.False_), second=True, quick=True)
def helpers_of_another_module(x, flag):
    return np.sum(elsewhere.tripled(x, False)) * np.sum(elsewhere.tripled(x, flag) ** 2)  # refused


@program((positive(3), np.False_), second=True, quick=True)
def refused_syntax(x, flag):
    if flag:

        class Local:  # refused
            pass

        def pairs():
            yield x  # refused

        return Local, list(pairs())
    if flag is None:
        return locals()
    return np.sum(x**2)


@program((positive(3), np.False_), second=True, quick=True)
def globals_of_an_arm(x, flag):
    if flag:
        global total
        total += unruled(x)  # refused
    return np.sum(x**2)


@program((positive(3), np.False_), second=True, quick=True)
def attributes_of_arrays(x, flag):
    if flag:
        x.shape = (3, 1)  # refused
    return np.sum(x**2)


@program((positive(3), 0), second=True)
def loops_without_turns(x, n):
    r = 0.0
    for _ in range(n):
        x = x.view(np.recarray)  # refused
        r += unruled(x)
    return r + np.sum(x**2)


def of_many(x, *others, **options):
    if others and x[0] > 9:
        return unruled(x)  # refused
    if options.get("flag"):
        return unruled(others)  # refused
    return sum([np.sum(y**2) for y in others], np.sum(x))


@program((positive(3), np.False_), second=True)
def stars(x, flag):
    return of_many(x, 2 * x, 3 * x, flag=flag)
