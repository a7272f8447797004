"""Statements that write into the array `a`, of shape (3, 4), one group for each way of writing.

Beside it there are `v` of four, `w` of three, a float `s`, and the constants below. In `CALLS` the functions
and classes that a body begins with belong to the module.
"""

from __future__ import annotations

import numpy as np

__all__ = ["ALIASES", "AUGMENTED", "CALLS", "CONSTANTS", "FUNCTIONS", "STORES", "VIEWS"]

CONSTANTS = {
    "MASK": np.array([[True, False, True, False], [False, False, True, True], [True, True, False, False]]),
    "ROWS": np.array([True, False, True]),
    "Q": np.random.default_rng(3).uniform(0.2, 0.6, (4, 4)),
    "W": np.linspace(0.4, 1.9, 12).reshape(3, 4),
    "PLACES": np.array([[0], [3], [1]]),
}


def each_line(text: str) -> list[str]:
    """Bodies of one line."""
    return text.strip().splitlines()


def each_part(text: str) -> list[str]:
    """Bodies of several lines, with rules between them."""
    return text.strip().split("\n---\n")


STORES = each_line("""
a[0] = v
a[-1] = v * s
a[1, 2] = s
a[-1, -2] = v[0] * v[1]
a[1:] = v
a[::2] = w[:2, None] * s
a[::-1] = a * v
a[-2:, 1:3] = s
a[:, ::-2] = w[:, None]
a[...] = v
a[..., 0] = w
a[0, ...] = s
a[:, None] = v
a[None] = v
a[1:1] = s
a[slice(0, 2)] = v
a[(0, 1)] = s
a[np.int64(1)] = v
a[MASK] = s
a[ROWS] = v
a[a > 0.9] = s
a[MASK] = a[MASK] * s
a[ROWS, 1:] = v[1:]
a[[0, 2]] = v
a[[0, 0, 1]] = np.stack([v, v * s, v * v])
a[[0, 1], [2, 2]] = v[:2]
a[[1, 1], [2, 2]] = v[:2]
a[np.array([[0, 1], [1, 2]])] = v
a[:, [3, 0, 3]] = np.outer(w, v[:3])
a[[0, 2], 1:3] = s
a[np.ix_([0, 2], [1, 3])] = s
a[np.where(MASK)] = s
a[[0, 1]] = a[[1, 0]]
a[1:] = a[:-1]
a[:, 1:] = a[:, :-1] * s
a[0] = a[0]
a[0] = 3
a[0] = [s, 1.0, s * s, 2]
a[0] = (s, s, 1.0, v[0])
a[0] = True
a[0] = a[1] = v
a[0], a[1] = a[1].copy(), a[0].copy()
a[0], a[1] = v, a[0]
a[0, 0], a[0, 1] = a[0, 1], a[0, 0]
for i in range(3): a[i] = a[i - 1] * v
for i in range(0): a[i] = v
if s > 0: a[0] = v
""") + each_part("""
for i in range(3):
    for j in range(1, 4):
        a[i, j] = a[i, j - 1] * s + w[i]
---
k = 0
while k < 3:
    a[k, k] = s * a[k, k + 1]
    k += 1
---
for i in range(3):
    if i == 1:
        continue
    a[i] = v * w[i]
---
for i in range(3):
    a[i] = np.sin(a[i - 1])
    if i == 1:
        break
""")

AUGMENTED = each_line("""
a[0] += v
a[0, 1] += s
a[1:] -= a[:-1]
a[:-1] += a[1:]
a[0] *= v
a[1:] *= a[:-1]
a[0] /= v
a[0] **= 2
a[0] **= s
a[:, 1] //= 0.4
a[:, 1] %= 0.4
a[MASK] *= s
a[a > 0.9] -= s
a[[0, 0, 1]] += v
a[[0, 0, 1]] *= v
a[[0, 0], [1, 1]] += v[:2]
a[ROWS] /= v
a += v
a -= w[:, None]
a *= a
a *= s
a /= v
a /= 2
a **= 2
a //= 0.7
a %= 0.45
a @= Q
a += 1
a += True
a[...] += a
a += a.copy()
a += a[::-1]
a[0] += a[1]; a[1] += a[0]
for i in range(3): a[i] += a[i - 1] * s
for i in range(3): a *= v
for i in range(2): a[0] *= a[1]; a[1] *= a[0]
for i in range(3): a[i, i] -= s; a[i] /= a[i, i]
""")

FUNCTIONS = each_line("""
b = np.ndarray((3, 4)); b[...] = v; a *= b
b = np.ndarray(4, dtype=np.float64); b[:] = v * s; a += b
b = np.ndarray((3, 4), np.float64, a); b *= v
b = np.ndarray(shape=(3, 4), buffer=a); a[0] = s; a[1] = b[0] * v
np.sin(a, out=a)
np.sin(a, a)
np.exp(a, out=(a,))
np.sin(a, out=a, where=MASK)
np.add(a, v, out=a)
np.add(a, v, a)
np.add(a[1:], v, out=a[:-1])
np.add(v, 1.0, out=a[0])
np.multiply(a, a, out=a)
np.multiply(a, w[:, None], out=a, where=MASK)
np.divide(a, v, out=a)
np.subtract(a, a[::-1], out=a)
np.maximum(a, v, out=a)
np.power(a, 2, out=a)
np.add.at(a, [0, 0, 2], v)
np.add.at(a, ([0, 0], [1, 1]), s)
np.subtract.at(a, [0, 0, 2], v)
np.multiply.at(a, [0, 0, 2], v)
np.negative.at(a, [0, 0])
np.copyto(a, v)
np.copyto(a, s, where=MASK)
np.copyto(a[1:], a[:-1])
np.put(a, [0, 5, 0], [s, 2 * s, s * s])
np.put(a, [1, -1, 2], v[:2])
np.fill_diagonal(a, s)
np.fill_diagonal(a, w)
np.place(a, MASK, v)
np.putmask(a, MASK, a * s)
np.putmask(a, MASK, v)
np.put_along_axis(a, PLACES, w[:, None], axis=1)
a.fill(s)
a[0].fill(s)
a.sort()
a.sort(axis=0)
a[1].sort()
a.partition(2)
a.put([1, 2], [s, s * s])
a.clip(0.6, 1.2, out=a)
np.clip(a, 0.6, 1.2, out=a)
np.nan_to_num(a, copy=False)
np.round(a, 1, out=a)
np.cumsum(a, axis=0, out=a)
np.cumprod(a, axis=1, out=a)
np.add.accumulate(a, axis=1, out=a)
np.add.outer(w, v, out=a)
np.sum(a, axis=0, out=a[0])
np.mean(a[1:], axis=0, out=a[0])
np.max(a, axis=1, out=a[:, 0])
np.add.reduce(a, axis=0, out=a[1])
b = np.empty((3, 4)); np.matmul(a, Q, out=b); a[...] = b
b = np.empty((3, 4)); np.dot(a, Q, out=b); a += b
b = np.empty((3, 4)); np.einsum('ij,j->ij', a, v, out=b); a *= b
b = np.empty((6, 4)); np.concatenate([a, a * s], out=b); a[...] = b[1:4]
b = np.empty((2, 4)); np.stack([v, a[0]], out=b); a[1:] = b
b = np.empty((2, 4)); np.take(a, [2, 0], axis=0, out=b); a[1:] = b
b = np.empty((3, 4)); np.outer(w, v, out=b); a *= b
a.flat[3] = s
a.flat[1:3] = v[:2]
a.flat = s
a.__setitem__(0, v)
a.__iadd__(v)
np.ndarray.fill(a, s)
np.ndarray.sort(a)
b = np.array([3, 1, 2]); b.sort(); a[b[0]] = v
b = np.add(a, v, out=a); b *= s
b = np.multiply(v, s, out=a[0]); b += w[0]
for i in range(3): np.add(a[i], v, out=a[i - 1])
for i in range(3): np.sin(a, out=a)
""")

VIEWS = each_line("""
r = a[0]; r[1] = s
r = a[0]; r += v
r = a[0]; r *= r
r = a[1:, ::2]; r[...] = s
r = a[::-1, 1:]; r[0] = s
r = a[0]; a[0] = v; a[1] = r
r = a[0]; a *= s; a[1] += r
r = a[0]; a[0, 1] = s; a[1] = r * r
r = a[0] * s; a[0] = v; a[1] = r
r = a[1:][0][::-1]; r[:2] = v[:2]
r = a.reshape(-1); r[5] = s
r = a.reshape(4, 3); r[0] = w
r = a.T.reshape(-1); r[5] = s; a[0] += r[:4]
r = a.ravel(); r[1:3] = s
r = np.ravel(a); r *= s
r = a.T.ravel(); r *= s; a[0] = r[:4]
r = a.flatten(); r[5] = s; a[0] = r[4:8]
r = a.T; r[1] = w
r = a.T; r *= v[:, None]
r = np.transpose(a); r[0, 0] = s
r = a.swapaxes(0, 1); r[:, 0] = v
r = np.squeeze(a[None]); r[0] = v
r = a[None].squeeze(axis=0); r[0] = v
r = np.expand_dims(a, 1); r[0, 0] = v
r = np.atleast_1d(a); r[0] = v
r = np.atleast_3d(a); r[0] = s
r = np.moveaxis(a, 0, 1); r[0] = w
r = np.rollaxis(a, 1); r[0] = w
r = np.flip(a, 0); r[0] = v
r = np.flipud(a); r[0] = v
r = np.fliplr(a); r[:, 0] = w
r = np.rot90(a); r[0] = w
r = np.diagonal(a); a[0, 0] = s; a[1, :3] = r
r = a.diagonal(); a[0] = v; a[1, :3] *= r
r = np.broadcast_to(a[0], (2, 4)); a[0] = v; a[1:] = r
r = a.real; r[0] = v
a.real = v
a.real[0] = v
r = np.real(a); r[0] = v
p, q, r = np.split(a, 3); q *= s
p, q = np.array_split(a, 2); q[0, 0] = s
p, q = np.hsplit(a, 2); q[:, 0] = w
p, q, r = np.vsplit(a, 3); r[0] += v
parts = np.split(a, 3); parts[1][0, 0] = s
for row in a: row *= s
for row in a: row /= np.sum(row)
for row in a: row[1:] += row[:-1]
for row in a[::-1]: row[0] = s
for row in a.T: row += w
for i, row in enumerate(a): row[i] = s
for row, t in zip(a, w): row += t * row
rows = [row for row in a]; rows[1] += v
rows = list(a); rows[1] += v
r0, r1, r2 = a; r1 += v
first, *rest = a; rest[0][1] = s
r = a[0] if s > 0 else a[1]; r *= v
r = np.asarray(a); r[0] = v
r = np.asarray(a.T); r[0] = w
r = np.ascontiguousarray(a); r[0] = v
r = np.ascontiguousarray(a.T); r[0] = w; a[0, :3] = r[1]
r = np.array(a); r[0] = v; a[1] = r[0] * r[1]
r = np.array(a, copy=False); r[0] = v
r = a.view(); r[0] = v
r = a.astype(float, copy=False); r[0] = v
r = np.float64(a); r[0] = v; a[1] = r[0]
r = np.concatenate([a]); r[0] = v; a[1] = r[0]
r = np.resize(a, (3, 4)); r[0] = v; a[1] = r[0]
r = np.einsum('ij->ji', a); r[0] = w
r = np.linalg.matrix_power(a[:, :3], 1); r[0] = s
r = np.imag(a * 1j); r[0] = v; a[1] = r[0]
r = (+a); r[0] = v; a[1] = r[0]
r = np.positive(a); r[0] = v; a[1] = r[0]
r = np.broadcast_arrays(a, v)[0]; t = r * r; a[0] = v; a[1] += t[0]; a[2] *= r[0]
r = np.meshgrid(v, w)[0]; r[0] = s; a *= r
r = np.nan_to_num(a); r[0] = v; a[1] = r[0]
r = np.sort(a); r[0] = v; a[1] = r[0]
r = np.tril(a); r[0] = v; a[1] = r[0]
r = np.conj(a); r[0] = v; a[1] = r[0]
r = a.conj(); r[0] = v; a[1] = r[0]
r = np.where(MASK, a, 0.0); r[0] = v; a[1] = r[0]
r = np.average(a[:1], axis=0); r[0] = s; a[1] = r
r = a.astype(float); r[0] = v; a[1] = r[0]
r = a[1, 2, ...]; r[...] = s
r = a[0:2]; t = r[1]; t += v; r *= s
r = a[[0, 1]]; r[0] = v; a[2] = r[0] * r[1]
r = a[ROWS]; r[0] = v; a[1] = r[1]
r = np.lib.stride_tricks.sliding_window_view(v, 2); a[0, :2] = r[1]
r = np.lib.stride_tricks.sliding_window_view(a[0], 2); a[0] = v; a[1, :2] = r[1]
r = a[0]; r = r * s; r[0] = w[0]; a[1] = r
""") + each_part("""
for row in a:
    for k in range(4):
        row[k] *= v[k]
---
if s > 0: r = a[0]
else: r = a[1]
r += v
---
r = a[0]
for i in range(2): r *= v; r = a[i + 1]
""")

ALIASES = each_line("""
b = a; b += v
b = a; b[0] = v
b = a; a += v; b *= s
b = a; a = a * s; b += v; a[0] = b[0]
b = a; a = a + s; a[0] = v; b *= a
b = c = a; b[0] = v; c *= s
b = a if s > 0 else a.copy(); b[0] = v
b = a.copy(); a[0] = v; b *= a; a[1:] = b[1:]
b = a.copy(); b, c = a, b; b[0] = v; c *= s; a[1] += c[0]
h = [a, a]; h[0] += v
h = [a, a]; h[0][0] = v; h[1] *= s
h = [a[0], a[1]]; h[1] += v
h = [a]; h.append(a); h[-1][0] = v
h = []; h.append(a[1]); h[0] *= s
h = [a[0], a[1]]; h.pop()[...] = v
h = [a[0], a[1]]; g = list(h); g[0] += v
h = [a[0], a[1]]; g = h.copy(); g[1] *= v; h[0] += g[1]
h = [a[0], a[1]]; g = tuple(h); g[0][1:] = v[1:]; h[1] *= s
h = [a[0], a[1]]; g = list(reversed(h)); g[0] += v
h = [a[0], a[1]]; g = sorted(h, key=len); g[0] += v
h = [a[0], a[1]]; g = h + [a[2]]; g[2] += v
h = [a[0], a[1]]; g = h * 2; g[2] += v
h = [a[0], a[1]]; h[0], h[1] = h[1], h[0]; h[0] += v
rows = list(a[1:]); a[1] = s; rows[1] += rows[0] * v
rows = tuple(a); rows[2][...] = rows[0] * v
r = list(zip(a, a[::-1])); r[0][1][...] = v
r = list(enumerate(a)); r[1][1][...] = v
d = {'p': a[0], 'q': a[1]}; e = dict(d); e['p'] += v; d['q'] *= e['p']
d = {'p': a[0], 'q': a[1]}; e = d.copy(); e['p'] *= v; d['p'] *= s
d = {'p': a[0], 'q': a[1]}; e = {**d, 'r': a[2]}; e['r'] *= e['p']; e['q'] += v
d = {'p': a[0], 'q': a[1]}; p, q = d.values(); p *= q
d = {'p': a[0], 'q': a[1]}; d.get('p')[1:] = s
h = [a[0], a[1]]; h[0] = h[1]; h[0] += v
h = [[a[0]], [a[1]]]; h[1][0][2] = s
h = [a[i] for i in range(3)]; h[2] *= v
for b in [a, a]: b *= s
for b in (a[0], a[1]): b += v
for b in [a[0], a[0]]: b *= v
d = {'p': a, 'q': a}; d['p'][0] = v; d['q'] *= s
d = {'p': a[0]}; d['q'] = a[1]; d['q'] += d['p']
d = {i: a[i] for i in range(3)}; d[2] *= v
t = (a, a[0]); t[1][...] = v; t[0][1:] *= s
b, c = (a[0], a[1]); c += b
b = np.stack([a[0], a[1]]); b[0] = v; a[2] = b[0] * b[1]
""") + each_part("""
b = np.zeros_like(a)
for i in range(3): b[1:] = np.sin(a[:-1]); a, b = b, a
a += b
---
b = a.copy()
for i in range(2): b[:] = np.sin(a) * v; a[:] = b * b
---
b = np.zeros_like(a)
for i in range(2): b[1:-1, 1:] = a[1:-1, 1:] * a[:-2, :-1]; a[1:-1] = b[1:-1]
---
d = {'p': a[0], 'q': a[1]}
for b in d.values(): b *= v
---
d = {'p': a[0], 'q': a[1]}
for k, b in d.items(): b *= v if k == 'p' else s
---
d = {'p': a[0], 'q': a[1]}
for k in d: d[k] *= v
---
d = {'p': a[0], 'q': a[1]}
for k in ('p', 'q'): d[k][1:] = s
---
d = {'p': a[0], 'q': a[1]}
for k in d: d[k] -= s * d[k] * v
---
def bump(k): a[k] += s
bump(0); bump(0)
---
def bump(k): a[k] *= v
for i in range(3): bump(i)
---
def total(): return np.sum(a * a)
t = total(); a[0] = v; a *= total() / t
---
def bump(row): row += v * s
bump(a[0]); bump(a[1])
---
bump = lambda row: row.fill(s)
bump(a[1])
---
def outer():
    b = a[0]
    def inner(): b[1] = s
    inner()
outer()
""")

CALLS = each_part("""
def scale(p, t): p *= t
scale(a, s)
---
def scale(p, t): p *= t
scale(a[0], s)
---
def scale(p, t): p *= t
scale(t=v, p=a)
---
def scale(p, t): p *= t
scale(a, a)
---
def scale(p, t): p *= t
scale(a, a[0])
---
def scale(p, t): p[1:] *= t[:-1]
scale(a, a)
---
def scale(p, t): p *= t
for row in a: scale(row, v)
---
def scale(p, t): p *= t
for i in range(3): scale(a[i], a[i - 1])
---
def scale(p, t=2.0): p *= t
scale(a)
---
def first(p): return p[0]
r = first(a); r *= v
---
def first(p): return p[0]
first(a)[1] = s
---
def same(p): return p
b = same(a); b += v
---
def maybe(p, k): return p if k > 0 else p.copy()
b = maybe(a, s); b += v
---
def maybe(p, k): return p if k > 0 else p.copy()
b = maybe(a, -s); b += v; a *= b
---
def update(p, q):
    p[0] = q
    return np.sum(p * p)
a[1, 1] = update(a, v)
---
def update(p, q):
    p += q
    return p
b = update(a, v); b *= s
---
def update(p, q):
    p += q
    return p * p
b = update(a, v); b[0] = s; a *= b
---
def inner(p): p[0] *= p[1]
def outer(p, k):
    for i in range(k): inner(p)
outer(a, 2)
---
def fill(p, k, t):
    if k > 0:
        fill(p, k - 1, t * t)
        p[k - 1] *= t
fill(a, 3, s)
---
def relax(p, q, t):
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[0, 1:]
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[1, 1:]
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[2, 1:]
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[0, 1:]
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[1, 1:]
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[2, 1:]
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[0, 1:]
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[1, 1:]
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[2, 1:]
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[0, 1:]
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[1, 1:]
relax(a, v, s)
---
def relax(p, q, t):
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[0, 1:]
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[1, 1:]
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[2, 1:]
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[0, 1:]
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[1, 1:]
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[2, 1:]
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[0, 1:]
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[1, 1:]
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[2, 1:]
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[0, 1:]
    p[0] = 0.4 * p[1] + t * q; p[1] *= 0.8; p[1] += 0.1 * p[2] * q; q[1:] = 0.8 * q[1:] + 0.1 * p[1, 1:]
    return np.sum(p)
def run(p, q, t):
    total = 0.0
    for k in range(2): total += relax(p, q, t + 0.01 * total)
    q *= total
run(a, v, s)
---
def swap(p, q):
    t = p.copy()
    p[...] = q
    q[...] = t
swap(a[0], a[1])
---
def rows(p): return p[0], p[1:]
b, c = rows(a); c *= b
---
def rows(p): return [row for row in p]
h = rows(a); h[1] *= v
---
def keep(h, p): h.append(p)
h = []; keep(h, a[0]); keep(h, a[0]); h[0] *= v; h[1] += s
---
def apply(f, p): f(p)
def halve(p): p *= 0.5
apply(halve, a[0])
---
def apply(f, p): f(p)
apply(lambda p: p.fill(s), a[0])
---
def many(*parts):
    for p in parts: p *= p
many(a[0], a[1], a[0])
---
def named(**parts):
    for p in parts.values(): p *= p
named(p=a[0], q=a[1])
---
class State:
    def __init__(self, p): self.p = p
    def step(self, t): self.p[0] *= t
state = State(a); state.step(v); state.p[1] += v
---
class State:
    def __init__(self, p): self.p = p
state = State(a[0]); other = state; other.p *= v; state.p[0] = s
---
class State:
    def __init__(self, p): self.p = p
one = State(a); two = State(one.p); three = State(two.p); three.p[0] = v; two.p[-1] *= s
""")
