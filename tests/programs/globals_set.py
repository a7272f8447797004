"""Globals that functions assign: counters, flags, settings, tables that are made once."""

import math
import types

import numpy as np

from tests.programs.declare import positive, program

CALLS = 0
RATE = 0.5
TABLE = None
WARNED = False
settings = types.ModuleType("settings")
settings.scale = 2.0


class Counter:
    count = 0


def bump(factor):
    global RATE, CALLS
    CALLS += 1
    RATE = RATE * factor


def descend(x, n):
    global RATE
    RATE = RATE + 0.25
    return x if n == 0 else math.sin(x * RATE) + descend(x * x, n - 1) * RATE


@program((0.8,))
def global_counter(x):
    global CALLS
    CALLS += 1
    return math.sin(x) * x


@program((0.8,))
def global_read_between_changes(x):
    global RATE
    RATE = 0.5
    y = x * RATE
    RATE = RATE * 3
    return y * y * RATE


@program((0.8,))
def global_of_a_function_called(x):
    global RATE
    RATE = 0.5
    y = math.sin(x * RATE)
    bump(3.0)
    z = y * RATE
    bump(0.5)
    return z * y * RATE


@program((positive(4, seed=5),))
def global_flag_in_a_loop(x):
    global WARNED
    WARNED = False
    total = 0.0
    for v in x:
        if v > 1.0 and not WARNED:
            WARNED = True
            total += v * v
        total += 2 * v if WARNED else v * v * v
    return total


@program((positive(3, seed=6),), quick=True)
def global_table_made_once(x):
    global TABLE
    if TABLE is None:
        TABLE = np.linspace(0.0, 1.0, 3)
    return np.sum(TABLE * x * x)


@program((0.8,))
def global_of_a_recursion(x):
    global RATE
    RATE = 0.1
    return descend(x, 3) * RATE


@program((0.8,))
def global_of_a_closure(x):
    def step(v):
        global RATE
        RATE = RATE + 0.5
        return v * RATE

    global RATE
    RATE = 1.0
    return step(x) * step(x * x)


@program((0.8,), quick=True)
def global_missing_at_first(x):
    global MADE
    try:
        _ = MADE
    except NameError:
        MADE = 1.5
    y = x * MADE
    del MADE
    return y * y


@program((0.8,))
def attributes_of_a_module_and_a_class_set(x):
    settings.scale = 2.0
    Counter.count = 1
    y = x * settings.scale
    settings.scale = 5.0
    Counter.count += 1
    return y * y * settings.scale * Counter.count


def declared_in_a_function():
    calls, rate = 0, 0.5

    def tick():
        nonlocal calls
        calls += 1

    @program((0.8,), quick=True)
    def variable_around_counter(x):
        nonlocal calls
        calls = 1
        y = x * calls
        tick()
        return y * y * calls

    @program((0.8,), quick=True)
    def variable_around_read_between_changes(x):
        nonlocal rate
        rate = 0.5
        y = math.sin(x * rate)
        rate *= 3
        return y * y * rate


declared_in_a_function()


HISTORY, LOG, BEST, SEEN = [], {"all": []}, {"value": 1e9}, types.SimpleNamespace(values=[])


def remember(value, values):
    values.append(value)


@program((np.array([0.8, 0.3]),), second=True)
def recorded_values(x):
    global LAST
    y = np.sin(x)
    HISTORY.append(y.copy())
    for k in range(2):
        y = y * np.sum(x) + k
        HISTORY.append(float(y @ y))
    value = np.sum(y)
    HISTORY.extend([float(value), 1.0])
    if value < BEST["value"]:
        BEST["value"] = float(value)
    LOG["all"].append((len(HISTORY), value))
    remember(value, SEEN.values)
    z = 2.0 * x
    HISTORY.append(z)
    z[0] = value
    LAST = value
    return value * np.sum(z)
