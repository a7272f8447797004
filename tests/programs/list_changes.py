"""Lists that change by position or as a whole."""

import numpy as np

from tests.programs.declare import positive, program


@program((0.7, 1.3), wrt=(0, 1), second=True)
def inserted_in_places(x, y):
    items = [x, y]
    items.insert(0, x * y)
    items.insert(-1, y**3)
    items.insert(99, x**2)
    items.insert(-99, 2 * y)
    return sum(k * v * v for k, v in enumerate(items, 1))


@program((positive(4),))
def queue_of_values(x):
    waiting = list(x)
    total = 0.0
    while len(waiting) > 1:
        first = waiting.pop(0)
        waiting[0] = waiting[0] * first
        total = total + first * waiting[-1]
    return total + waiting[0]


@program((positive(4), 1), (positive(4), -2), (positive(4), -1), (positive(4), 0))
def popped_from_a_place(x, k):
    items = [v * v for v in x]
    taken = items.pop(k)
    return taken * items[0] + items[1] * items[2] * len(items)


@program((positive(3),), quick=True)
def popped_for_nothing(x):
    items = [x[0], x[1], x[2]]
    items.pop(1)
    items.pop()
    items.append(x[2] ** 2)
    return items[0] * items[1]


@program(([0.9, -0.3, 0.5],), second=True, quick=True)
def sorted_in_place(x):
    items = [v * 2 for v in x]
    items.sort()
    return items[0] + 2 * items[1] ** 2 + 3 * items[2] ** 3


@program(([0.9, -0.3, 0.5],), quick=True)
def sorted_in_place_by_key(x):
    items = list(x)
    items.sort(key=abs, reverse=True)
    return items[0] + 2 * items[1] ** 2 + 3 * items[2] ** 3


@program((positive(3),), second=True)
def reversed_in_place(x):
    items = [x[0] * x[1], x[1], x[2]]
    items.reverse()
    return items[0] + 2 * items[1] ** 2 + 3 * items[2] ** 3


@program((positive(3),))
def cleared_and_filled(x):
    items = []
    total = 0.0
    for v in x:
        if len(items) > 1:
            total = total + items[0] * items[1]
            items.clear()
        items.append(v * v)
    return total + items[0]


@program((positive(3), positive(3)), wrt=(0, 1), second=True, quick=True)
def window_that_slides(x, y):
    window = [0.0, 0.0, 0.0]
    total = 0.0
    for v in x:
        window.insert(0, v * y[0])
        window.pop()
        total = total + window[0] * window[1] + np.sin(window[2])
    return total


@program((positive(3), positive(3)), wrt=(0, 1), second=True, quick=True)
def slice_of_a_list_set(x, y):
    rows = [x, y, x * y]
    rows[0:2] = [y * y, x * x, x]
    rows[:0] = [y]
    return np.sum(rows[0] * rows[1]) + np.sum(rows[2] ** 3 + rows[3] * rows[4])


@program((positive(3), positive(3)), wrt=(0, 1), second=True, quick=True)
def slices_of_a_shared_list_set(x, y):
    rows = [[x, y, x * y, y, x]]
    same = rows[0]
    rows[0][4:2] = [y * 2]
    rows[0][-2:] = (2 * x, x * y, y * y)
    same[1:1] = []
    same[:2] = same
    same[::3] = [r * r for r in same[::3]]
    same[::-1] = [r + 1.0 for r in same]
    return sum(np.sum(v * k) + np.sum(np.sin(v * v)) for k, v in enumerate(same))


@program((positive(3), positive(3)), wrt=(0, 1), second=True)
def slices_set_in_a_loop(x, y):
    rows = [x[0], x[1], y[0], y[1], y[2]]
    kept = [rows]
    for i in range(3):
        rows[i : i + 2] = [rows[i + 1] * y[i], rows[i] + 1.0, x[2]]
        kept[0].extend([rows[i] * x[i]])
    return sum(k * r**2 for k, r in enumerate(rows))


@program((positive(4),), second=True, quick=True)
def methods_with_names(x):
    items = []
    names = {}
    push = items.append
    put = names.update
    take = items.pop
    for k, v in enumerate(x):
        push(v * v)
        put({k: v * items[0]})
    return take() * take(0) + names[1] * names[2]


@program((positive(4),), second=True)
def result_of_append(x):
    items = []

    def push(v):
        return items.append(v * v)

    for v in x:
        push(v)
        last = items.append(v)
    return items[0] * items[2] + items[-1] * items[1] if last is None else 0.0


@program((positive(4),), second=True)
def shortened_result_of_a_method(x):
    left = x.tolist()
    while len(left) > 2:
        left.pop(0)
    left[0] = left[0] * left[1]
    return left[0] ** 2


@program((positive(6),), second=True)
def shortened_result_of_a_function(x):
    parts = np.split(x, 3)
    while len(parts) > 2:
        parts.pop(0)
    parts.append(parts[0] * parts[1])
    return np.sum(parts[-1] ** 2)
