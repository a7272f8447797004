"""Arrays that containers hold, copies and views of these containers, and changes of the arrays."""

from __future__ import annotations

import numpy as np
import pytest

import s2sad
from tests.programs.array_stores import each_part
from tests.support.build import build
from tests.support.compare import is_sampled
from tests.support.compare_mutation import check_changing, check_changing_second

# What is done with `a`, an array, and with `h`, a list of two of its rows.
BODIES = each_part("""
for i in range(3):
    g = list(h)
    g[0] *= s
    g[1] += g[0] * v
---
for i in range(3):
    g = h + [a[2]]
    for p in g: p *= s
---
n = [[a[0]], [a[1]]]
g = list(n)
g[0].append(a[2])
n[0][1] *= s
g[1][0] += n[0][0]
---
n = [[a[0]], [a[1]]]
g = [list(r) for r in n]
g[0].append(a[2])
g[0][1] *= s
g[1][0] += n[0][0]
---
for p, (q, r) in zip(h, zip(a[1:], a[::-1])):
    p += s * q
    r *= 0.5
---
g = list(map(lambda r: r[1:], h))
g[0] *= s
---
g = list(reversed(h))
g[0] *= s
g[1] += g[0]
---
g = [np.array(s * 2), v[0] * 1.0]
g[0] += s
a[0] *= g[0] + g[1]
---
g = [x[0] * 1.0, np.arange(4)]
k = list(g)
k[1] += 2
k[0] *= k[1]
a[0] += g[0]
---
d = {'p': a[0]}
e = {'p': a[1], 'q': d['p']}
m = {**d, **e}
m['p'] *= s
m['q'] += m['p']
---
t = (a[0], [a[1], a[2]])
u = tuple(t)
u[1].append(v * 1.0)
u[1][2][0] = s
t[1][0] *= t[1][2]
---
def pair(p, q):
    return [p, q]
g = list(pair(a[0], a[1]))
g[0] *= s
---
def half(rows):
    for r in rows: r *= 0.5
half(list(a))
half(h)
---
g = list(h)
while np.sum(g[0]) < 20:
    g[0] *= 1.5
    h[1] += g[0]
---
g = list(h) if s > 0 else [v]
g[0] *= s
---
if s > 0:
    g = list(h)
else:
    g = [a[2]]
g[0] *= s
---
g = h
g = list(g)
g.append(a[2])
g[2] *= s
g[0] += g[2]
---
g = list(h)
g[0] = v * s
g[0] *= 2
h[0] += g[0]
g[1] *= s
---
g = h * 2
g[0] = v * s
g[2] *= s
g[1] += g[0]
---
g, k = list(h), tuple(h)
g[0] *= s
k[1][...] = g[0]
del g
---
for r, q in zip(a, a[::-1]):
    r *= s
    q += 1.0
---
for i, (r, q) in enumerate(zip(a, list(a))):
    r *= s
    q += i
---
b = a[:, ::-1]
for r, q in zip(a, b):
    q[0] = s * r[1]
---
g = list(h)
try:
    g[0] *= s
finally:
    h[1] += g[0]
---
import itertools
for r in itertools.chain(h, [a[2]]):
    r *= s
---
g = list(filter(lambda r: r[0] > -10, h))
g[0] *= s
---
c = {'rows': list(a)}
c['rows'][1] *= s
for r in c['rows']: r += 0.1
---
g = list(h)
k = g
k[0] *= s
g += [a[2]]
k[2] *= g[0]
---
w2 = [r.copy() for r in a]
g = list(w2)
g[0] *= s
a[1] += w2[0]
---
g = np.array(h)
g[0] *= s
a[2] = g[0]
---
o = list(np.split(a, 3))
o[0] *= s
o[1] += o[0]
---
o = list(a.T)
o[0] *= s
---
o = list(np.sin(a))
o[0] *= s
a[0] += o[0]
---
m = {k: 0.0 for k in 'pq'}
d = {'p': a[0], 'q': a[1]}
for k in d:
    m[k] = 0.9 * m[k] + s * np.sum(d[k])
    d[k] -= m[k]
---
d = {'p': a[0], 'q': a[1]}
m = {'p': np.zeros(4), 'q': np.zeros(4)}
for _ in range(2):
    for k in d:
        m[k] *= 0.9
        m[k] += s * d[k]
        d[k] -= m[k]
""")
ONCE = {"k[1] += 2"}  # whose second derivatives are refused

# Views of dicts have what these have got by the time they are gone over.
LIVE = each_part("""
vals = d.values()
d['p'] = v * 2
for b in vals:
    t += np.sum(b * b)
---
vals = d.items()
d['p'] = v * 2
for k, b in vals:
    t += np.sum(b * b)
---
vals = d.values()
d['z'] = v * 2
for b in vals:
    t += np.sum(b * b)
---
vals = d.values()
d['p'] *= v
t = sum(np.sum(b * b) for b in vals)
---
vals = d.values()
d['p'] = v * v
b, c = vals
t = np.sum(b * c)
---
vals = list(d.values())
d['p'] = v * v
b, c = vals
t = np.sum(b * c)
""")


def arguments() -> tuple[np.ndarray, np.ndarray, float]:
    rng = np.random.default_rng(5)
    return rng.uniform(0.5, 1.5, (3, 4)), rng.uniform(0.5, 1.5, 4), 0.7


@pytest.mark.parametrize("body", BODIES)
def test_changes(body: str) -> None:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    head = "def f(x, v, s):\n    a = x.copy()\n    h = [a[0], a[1]]\n"
    f = build(f"{head}{lines}    return np.sum(W * np.sin(a))\n", W=np.linspace(0.4, 1.9, 12).reshape(3, 4))
    check_changing(f, arguments(), (0, 1, 2), ())
    if not any(part in body for part in ONCE) and is_sampled(f):
        check_changing_second(f, arguments(), (0, 1, 2))


@pytest.mark.parametrize("body", LIVE)
def test_views_of_dicts(body: str) -> None:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    f = build(f"def f(x, v, s):\n    t = s\n    d = {{'p': x[0] * 1.0, 'q': v * s}}\n{lines}    return t\n")
    check_changing(f, arguments(), (0, 1, 2), ())


def test_a_change_of_a_dict_among_changes_through_its_view() -> None:
    f = build("""
def f(x, v):
    d = {'p': x[0], 'q': x[1]}
    vals = d.values()
    d['p'] = v * 2
    for b in vals:
        b *= 0.5
    return np.sum(d['p'] * x[0])
""")
    with pytest.raises(s2sad.S2sadError):
        s2sad.grad(f)(*arguments()[:2])


def test_lists_that_only_the_run_knows_joined() -> None:
    f = build("""
def two(m):
    return [m[0], m[1]]
def pick(k):
    return two if k else list
def f(x, s):
    a = x.copy()
    get = pick(1)
    k = get(a) + get(a * 2)
    k[0][...] = s
    return np.sum(np.sin(a))
""")
    with pytest.raises(s2sad.S2sadError):
        s2sad.grad(f)(arguments()[0], 0.7)


def test_arrays_of_integers_among_others() -> None:
    f = build("""
def f(x, v):
    k = [np.arange(4), np.ones(4)] + [x[0] * 1.0]
    k[0] += 1
    k[2] *= k[0] * k[1] * v
    return np.sum(k[2])
""")
    check_changing(f, arguments()[:2], (0, 1), ())


def test_an_element_that_is_a_view() -> None:
    f = build("""
def f(x, v):
    b = np.sin(x)
    np.copyto(b, np.sin(v * np.cos(b[..., 0, 0] - 0.7)))
    return np.sum(np.sin(b))
""")
    check_changing_second(f, arguments()[:2], (0, 1))
