from __future__ import annotations

import pytest

from s2sad.transforms.normal_form.desugar_assignments import desugar_assignments
from tests.support.stages import assert_agree, body_after

PAIRS = {
    "flat targets stay": (
        """
def f(xs):
    for i, x in enumerate(xs):
        g(i, x)
""",
        """
def f(xs):
    for i, x in enumerate(xs):
        g(i, x)
""",
    ),
    "a nested target": (
        """
def f(xs):
    for i, (a, b) in xs:
        g(i, a, b)
""",
        """
def f(xs):
    for i, a_1 in xs:
        a, b = a_1
        g(i, a, b)
""",
    ),
    "an element as target": (
        """
def f(xs):
    for xs[0] in xs:
        g(xs)
""",
        """
def f(xs):
    for xs_1 in xs:
        xs[0] = xs_1
        g(xs)
""",
    ),
    "over all indices": (
        """
def f(a):
    for i, j in np.ndindex(a.shape):
        g(a[i, j])
""",
        """
def f(a):
    n_1, n_2 = a.shape
    for i in range(n_1):
        for j in range(n_2):
            g(a[i, j])
""",
    ),
    "over all indices, left by a break": (
        """
def f(a):
    for i, j in np.ndindex(a.shape):
        if g(a[i, j]):
            break
""",
        """
def f(a):
    for i, j in np.ndindex(a.shape):
        if g(a[i, j]):
            break
""",
    ),
    "over elements and their indices": (
        """
def f(a):
    for (i, j), v in np.ndenumerate(a):
        g(i, j, v)
""",
        """
def f(a):
    a_1 = asarray(a)
    n_1, n_2 = a_1.shape
    for i in range(n_1):
        for j in range(n_2):
            v = a_1[i, j]
            g(i, j, v)
""",
    ),
    "counting what is lazy": (
        """
def f(xs, ys):
    for i, (x, y) in enumerate(zip(xs, ys), 1):
        g(i, x, y)
""",
        """
def f(xs, ys):
    i_1 = 1
    for x, y in zip(xs, ys):
        i = i_1
        i_1 = i_1 + 1
        g(i, x, y)
""",
    ),
    "a zip of what is lazy": (
        """
def f(xs, ys):
    for (i, x), y in zip(enumerate(xs), map(g, ys)):
        g(i, x, y)
""",
        """
def f(xs, ys):
    i_1 = 0
    for x, ys_1 in zip(xs, ys):
        i = i_1
        i_1 = i_1 + 1
        y = g(ys_1)
        g(i, x, y)
""",
    ),
    "a zip taken as a whole": (
        """
def f(xs, ys):
    for pair in zip(xs, zip(ys, xs)):
        g(pair)
""",
        """
def f(xs, ys):
    for pair_1, ys_1, xs_1 in zip(xs, ys, xs):
        pair_2 = ys_1, xs_1
        pair = pair_1, pair_2
        g(pair)
""",
    ),
    "backwards through what changes": (
        """
def f(xs, ys):
    for x, y in zip(reversed(xs), ys):
        xs[0] = x * y
""",
        """
def f(xs, ys):
    for k_1, y in zip(range(len(xs) - 1, -1, -1), ys):
        x = xs[k_1]
        xs[0] = x * y
""",
    ),
    "items of a dict": (
        """
def f(xs, ys):
    for i, (k, v) in enumerate(xs.items()):
        g(i, k, v)
    for x, y in zip(ys.items(), xs.values()):
        g(x, y)
""",
        """
def f(xs, ys):
    i_1 = 0
    if not has_views_of_dict(xs):
        refuse_views(xs)
    for k in xs:
        i = i_1
        i_1 = i_1 + 1
        v = xs[k]
        g(i, k, v)
    if not has_views_of_dict(ys):
        refuse_views(ys)
    if not has_views_of_dict(xs):
        refuse_views(xs)
    for key_1, key_2 in zip(ys, xs):
        x = key_1, ys[key_1]
        y = xs[key_2]
        g(x, y)
""",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name: str) -> None:
    before, after = PAIRS[name]
    assert body_after(desugar_assignments, before).strip() == after.strip()


def test_behaviour() -> None:
    assert_agree(
        """
def f(xs, ys):
    log = []
    for i, (x, y) in enumerate(zip(xs, ys)):
        if x == 3:
            continue
        log.append((i, x, y))
    for k, (i, (x, *y)) in enumerate(enumerate(zip(xs, ys), 2), start=5):
        log.append((k, i, x, y))
    for (i, j), k in zip(enumerate(xs), reversed(ys)):
        log.append((i, j, k))
    for i, x in enumerate(reversed(xs)):
        log.append((i, x))
    for i, xs[i] in enumerate(ys[:2]):
        log.append(xs[:])
    for [(k,)] in [[[4]]]:
        log.append(k)
    for t in enumerate(zip(xs, ys)):
        log.append(t)
    for r in reversed(range(3)):
        log.append(r)
    return log
""",
        [([1, 2, 3], [4, 5, 6]), ([5, 3], [3, 1])],
    )


def test_a_local_named_like_a_builtin() -> None:
    assert_agree(
        """
def f(zip, xs):
    enumerate = lambda pairs: pairs
    total = 0
    for i, (a, b) in enumerate(zip(xs, xs)):
        total += i * a * b
    return total
""",
        [(lambda a, b: [(1, (2, 3)), (a[0], (4, b[1]))], [5, 6])],
    )
