"""The gradients of the programs as an expert writes them by hand for Numba: loops over elements.

Unlike those in `by_hand`, they reorder what a compiler makes fast in another order: loops are fused and run
along rows, the adjoints of stencils gather, and what is cheap is computed again and not kept. Cotangents of
stencils are held as an array that is zero at the border, and another one for the border alone.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from . import by_hand
from .primals import DT

Array = Any

written = njit(error_model="numpy")


def without_compiling(name: str) -> Callable[..., Any]:
    """The function as Python runs it."""
    found = globals()[name]
    return getattr(found, "py_func", found)


# ---------------------------------------------------------------- numbers

chain = written(by_hand.chain)


@written
def lotka_volterra(growth: float, hunting: float, feeding: float, decline: float, steps: int) -> Any:
    half, sixth = DT / 2, DT / 6
    kept = np.empty((steps, 2))
    x, y = 3.0, 1.0
    for k in range(steps):
        kept[k, 0] = x
        kept[k, 1] = y
        met = x * y
        a1, b1 = growth * x - hunting * met, feeding * met - decline * y
        x2, y2 = x + half * a1, y + half * b1
        met = x2 * y2
        a2, b2 = growth * x2 - hunting * met, feeding * met - decline * y2
        x3, y3 = x + half * a2, y + half * b2
        met = x3 * y3
        a3, b3 = growth * x3 - hunting * met, feeding * met - decline * y3
        x4, y4 = x + DT * a3, y + DT * b3
        met = x4 * y4
        a4, b4 = growth * x4 - hunting * met, feeding * met - decline * y4
        x += sixth * (a1 + 2 * a2 + 2 * a3 + a4)
        y += sixth * (b1 + 2 * b2 + 2 * b3 + b4)
    dx = dy = 0.0
    dgrowth = dhunting = dfeeding = ddecline = 0.0
    for k in range(steps - 1, -1, -1):
        dx += 2 * DT * (x - 3.0)
        dy += 2 * DT * (y - 1.0)
        x = kept[k, 0]
        y = kept[k, 1]
        met1 = x * y
        a1, b1 = growth * x - hunting * met1, feeding * met1 - decline * y
        x2, y2 = x + half * a1, y + half * b1
        met2 = x2 * y2
        a2, b2 = growth * x2 - hunting * met2, feeding * met2 - decline * y2
        x3, y3 = x + half * a2, y + half * b2
        met3 = x3 * y3
        a3, b3 = growth * x3 - hunting * met3, feeding * met3 - decline * y3
        x4, y4 = x + DT * a3, y + DT * b3
        met4 = x4 * y4
        da4, db4 = sixth * dx, sixth * dy
        dmet = feeding * db4 - hunting * da4
        dx4, dy4 = growth * da4 + dmet * y4, dmet * x4 - decline * db4
        da3, db3 = 2 * da4 + DT * dx4, 2 * db4 + DT * dy4
        dmet = feeding * db3 - hunting * da3
        dx3, dy3 = growth * da3 + dmet * y3, dmet * x3 - decline * db3
        da2, db2 = 2 * da4 + half * dx3, 2 * db4 + half * dy3
        dmet = feeding * db2 - hunting * da2
        dx2, dy2 = growth * da2 + dmet * y2, dmet * x2 - decline * db2
        da1, db1 = da4 + half * dx2, db4 + half * dy2
        dmet = feeding * db1 - hunting * da1
        dx += growth * da1 + dmet * y + dx2 + dx3 + dx4
        dy += dmet * x - decline * db1 + dy2 + dy3 + dy4
        dgrowth += da1 * x + da2 * x2 + da3 * x3 + da4 * x4
        dhunting -= da1 * met1 + da2 * met2 + da3 * met3 + da4 * met4
        dfeeding += db1 * met1 + db2 * met2 + db3 * met3 + db4 * met4
        ddecline -= db1 * y + db2 * y2 + db3 * y3 + db4 * y4
    return dgrowth, dhunting, dfeeding, ddecline


# ---------------------------------------------------------------- arrays, element by element


@written
def rosenbrock(x: Array) -> Any:
    n = len(x)
    dx = np.empty_like(x)
    dx[0] = 0.0
    before = 0.0
    for i in range(n - 1):
        low = x[i]
        d = 200.0 * (x[i + 1] - low * low)
        dx[i] = before - 2.0 * (d * low + 1.0 - low)
        before = d
    dx[n - 1] = before
    return dx


@written
def logistic(w: Array, b: float, x: Array, y: Array, penalty: float) -> Any:
    n, d = x.shape
    dw = np.zeros_like(w)
    db = 0.0
    for i in range(n):
        z = b
        for k in range(d):
            z += x[i, k] * w[k]
        dz = (1.0 / (1.0 + math.exp(-z)) - y[i]) / n
        db += dz
        for k in range(d):
            dw[k] += dz * x[i, k]
    for k in range(d):
        dw[k] += 2 * penalty * w[k]
    return dw, db


@written
def black_scholes(spot: Array, vol: Array, rate: float, strike: Array, years: Array) -> Any:
    dspot, dvol = np.empty_like(spot), np.empty_like(vol)
    drate = 0.0
    scale = 1.0 / math.sqrt(2 * math.pi)
    for i in range(len(spot)):
        s, v, k, t = spot[i], vol[i], strike[i], years[i]
        root_t = math.sqrt(t)
        root = v * root_t
        d1 = (math.log(s / k) + (rate + 0.5 * v * v) * t) / root
        d2 = d1 - root
        here = 0.5 * (1.0 + math.erf(d1 * math.sqrt(0.5)))
        discounted = k * math.exp(-rate * t)
        there = 0.5 * (1.0 + math.erf(d2 * math.sqrt(0.5)))
        dd2 = -scale * discounted * math.exp(-0.5 * d2 * d2)
        change = (scale * s * math.exp(-0.5 * d1 * d1) + dd2) / root
        dspot[i] = here + change / s
        dvol[i] = change * v * t - (dd2 + change * d1) * root_t
        drate += (change + discounted * there) * t
    return dspot, dvol, drate


# ---------------------------------------------------------------- networks


@written
def add_and_tanh(x: Array, bias: Array) -> None:
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] = math.tanh(x[i, j] + bias[j])


@written
def through_tanh(dx: Array, x: Array, dbias: Array) -> None:
    """From the cotangent of a tanh to that of its argument, whose rows are added to that of the bias."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            dx[i, j] *= 1.0 - x[i, j] * x[i, j]
            dbias[j] += dx[i, j]


@written
def mlp(params: tuple[Array, ...], x: Array, targets: Array) -> Any:
    w1, b1, w2, b2, w3, b3 = params
    h1 = np.dot(x, w1)
    add_and_tanh(h1, b1)
    h2 = np.dot(h1, w2)
    add_and_tanh(h2, b2)
    derror = np.dot(h2, w3)
    db1, db2, db3 = np.zeros_like(b1), np.zeros_like(b2), np.zeros_like(b3)
    scale = 2.0 / derror.size
    for i in range(derror.shape[0]):
        for j in range(derror.shape[1]):
            derror[i, j] = scale * (derror[i, j] + b3[j] - targets[i, j])
            db3[j] += derror[i, j]
    dz2 = np.dot(derror, w3.T)
    through_tanh(dz2, h2, db2)
    dz1 = np.dot(dz2, w2.T)
    through_tanh(dz1, h1, db1)
    return np.dot(x.T, dz1), db1, np.dot(h1.T, dz2), db2, np.dot(h2.T, derror), db3


@written
def add_to(total: Array, part: Array) -> None:
    for i in range(total.shape[0]):
        for j in range(total.shape[1]):
            total[i, j] += part[i, j]


@written
def rnn(params: tuple[Array, ...], values: Array, targets: Array) -> Any:
    w_in, w_hidden, bias, w_out, b_out = params
    steps, batch, _ = values.shape
    width = len(bias)
    hidden = np.zeros((steps + 1, batch, width))
    part = np.empty((batch, width))
    for k in range(steps):
        np.dot(values[k], w_in, hidden[k + 1])
        np.dot(hidden[k], w_hidden, part)
        add_to(part, hidden[k + 1])
        for i in range(batch):
            for j in range(width):
                hidden[k + 1, i, j] = math.tanh(part[i, j] + bias[j])
    scale = 2.0 / targets.size
    dw_in, dw_hidden, dw_out = np.zeros_like(w_in), np.zeros_like(w_hidden), np.zeros_like(w_out)
    part_in, part_hidden, part_out = np.empty_like(w_in), np.empty_like(w_hidden), np.empty_like(w_out)
    dbias, db_out = np.zeros_like(bias), np.zeros_like(b_out)
    derror = np.empty((batch, len(b_out)))
    dhidden = np.zeros((batch, width))
    for k in range(steps - 1, -1, -1):
        np.dot(hidden[k + 1], w_out, derror)
        for i in range(batch):
            for j in range(len(b_out)):
                derror[i, j] = scale * (derror[i, j] + b_out[j] - targets[k, i, j])
                db_out[j] += derror[i, j]
        np.dot(hidden[k + 1].T, derror, part_out)
        add_to(dw_out, part_out)
        np.dot(derror, w_out.T, part)
        add_to(dhidden, part)
        through_tanh(dhidden, hidden[k + 1], dbias)
        np.dot(hidden[k].T, dhidden, part_hidden)
        add_to(dw_hidden, part_hidden)
        np.dot(values[k].T, dhidden, part_in)
        add_to(dw_in, part_in)
        np.dot(dhidden, w_hidden.T, part)
        dhidden, part = part, dhidden
    return dw_in, dw_hidden, dbias, dw_out, db_out


@written
def lstm_arrays(w_in: Array, w_hidden: Array, bias: Array, w_out: Array, values: Array,
                targets: Array) -> Any:
    steps, batch, _ = values.shape
    width = w_hidden.shape[0]
    hidden, cells = np.zeros((steps + 1, batch, width)), np.zeros((steps + 1, batch, width))
    gates = np.empty((steps, batch, 4 * width))
    shown = np.empty((steps, batch, width))
    part = np.empty((batch, 4 * width))
    for k in range(steps):
        np.dot(values[k], w_in, gates[k])
        np.dot(hidden[k], w_hidden, part)
        for i in range(batch):
            for j in range(3 * width):
                gates[k, i, j] = 1.0 / (1.0 + math.exp(-(gates[k, i, j] + part[i, j] + bias[j])))
            for j in range(3 * width, 4 * width):
                gates[k, i, j] = math.tanh(gates[k, i, j] + part[i, j] + bias[j])
            for j in range(width):
                cell = gates[k, i, width + j] * cells[k, i, j] + gates[k, i, j] * gates[k, i, 3 * width + j]
                cells[k + 1, i, j] = cell
                shown[k, i, j] = math.tanh(cell)
                hidden[k + 1, i, j] = gates[k, i, 2 * width + j] * shown[k, i, j]
    derror = np.dot(hidden[steps], w_out)
    scale = 2.0 / derror.size
    for i in range(batch):
        for j in range(derror.shape[1]):
            derror[i, j] = scale * (derror[i, j] - targets[i, j])
    dw_out = np.dot(hidden[steps].T, derror)
    dhidden = np.dot(derror, w_out.T)
    dcell = np.zeros((batch, width))
    dw_in, dw_hidden, dbias = np.zeros_like(w_in), np.zeros_like(w_hidden), np.zeros_like(bias)
    part_in, part_hidden = np.empty_like(w_in), np.empty_like(w_hidden)
    for k in range(steps - 1, -1, -1):
        for i in range(batch):
            for j in range(width):
                entry, forget = gates[k, i, j], gates[k, i, width + j]
                output, new = gates[k, i, 2 * width + j], gates[k, i, 3 * width + j]
                tanh = shown[k, i, j]
                d = dcell[i, j] + dhidden[i, j] * output * (1.0 - tanh * tanh)
                part[i, j] = d * new * entry * (1.0 - entry)
                part[i, width + j] = d * cells[k, i, j] * forget * (1.0 - forget)
                part[i, 2 * width + j] = dhidden[i, j] * tanh * output * (1.0 - output)
                part[i, 3 * width + j] = d * entry * (1.0 - new * new)
                dcell[i, j] = d * forget
            for j in range(4 * width):
                dbias[j] += part[i, j]
        np.dot(values[k].T, part, part_in)
        add_to(dw_in, part_in)
        np.dot(hidden[k].T, part, part_hidden)
        add_to(dw_hidden, part_hidden)
        np.dot(part, w_hidden.T, dhidden)
    return dw_in, dw_hidden, dbias, dw_out


def lstm(params: dict[str, Array], values: Array, targets: Array) -> dict[str, Array]:
    names = "input", "recurrent", "bias", "output"
    return dict(zip(names, lstm_arrays(*(params[name] for name in names), values, targets), strict=True))


# ---------------------------------------------------------------- statistics and vision


@written
def gmm(alphas: Array, means: Array, factors: Array, x: Array, gamma: float, m: int) -> Any:
    n, d = x.shape
    k = len(alphas)
    triangles = np.zeros((k, d, d))
    logdets = np.zeros(k)
    for c in range(k):
        place = d
        for j in range(d):
            triangles[c, j, j] = math.exp(factors[c, j])
            logdets[c] += factors[c, j]
        for i in range(d):
            for j in range(i):
                triangles[c, i, j] = factors[c, place]
                place += 1
    dtriangles, sums, counts = np.zeros((k, d, d)), np.zeros((k, d)), np.zeros(k)
    centred, scaled, inner = np.empty((k, d)), np.empty((k, d)), np.empty(k)
    for p in range(n):
        top = -np.inf
        for c in range(k):
            for j in range(d):
                centred[c, j] = x[p, j] - means[c, j]
            squares = 0.0
            for i in range(d):
                z = 0.0
                for j in range(i + 1):
                    z += triangles[c, i, j] * centred[c, j]
                scaled[c, i] = z
                squares += z * z
            inner[c] = alphas[c] + logdets[c] - 0.5 * squares
            top = max(top, inner[c])
        total = 0.0
        for c in range(k):
            inner[c] = math.exp(inner[c] - top)
            total += inner[c]
        for c in range(k):
            weight = inner[c] / total
            counts[c] += weight
            for i in range(d):
                z = weight * scaled[c, i]
                sums[c, i] += z
                for j in range(i + 1):
                    dtriangles[c, i, j] += z * centred[c, j]
    top = np.max(alphas)
    dalphas = np.exp(alphas - top)
    dalphas *= -n / np.sum(dalphas)
    dmeans, dfactors = np.zeros((k, d)), np.empty_like(factors)
    for c in range(k):
        dalphas[c] += counts[c]
        place = d
        for i in range(d):
            scale = triangles[c, i, i]
            dfactors[c, i] = counts[c] + m - scale * (dtriangles[c, i, i] + gamma * gamma * scale)
            for j in range(i):
                dfactors[c, place] = -dtriangles[c, i, j] - gamma * gamma * factors[c, place]
                place += 1
            for j in range(i + 1):
                dmeans[c, j] += sums[c, i] * triangles[c, i, j]
    return dalphas, dmeans, dfactors


@written
def bundle_adjustment(cameras: Array, points: Array, weights: Array, which: Array, what: Array,
                      features: Array) -> Any:
    dcameras, dpoints, dweights = np.zeros_like(cameras), np.zeros_like(points), np.empty_like(weights)
    for k in range(len(weights)):
        camera, dcamera = cameras[which[k]], dcameras[which[k]]
        point, dpoint = points[what[k]], dpoints[what[k]]
        s0, s1, s2 = point[0] - camera[3], point[1] - camera[4], point[2] - camera[5]
        angle = math.sqrt(camera[0] * camera[0] + camera[1] * camera[1] + camera[2] * camera[2])
        a0, a1, a2 = camera[0] / angle, camera[1] / angle, camera[2] / angle
        cosine, sine = math.cos(angle), math.sin(angle)
        rest = 1.0 - cosine
        dot = a0 * s0 + a1 * s1 + a2 * s2
        along = dot * rest
        c0, c1, c2 = a1 * s2 - a2 * s1, a2 * s0 - a0 * s2, a0 * s1 - a1 * s0
        t0 = s0 * cosine + c0 * sine + a0 * along
        t1 = s1 * cosine + c1 * sine + a1 * along
        depth = s2 * cosine + c2 * sine + a2 * along
        f0, f1 = t0 / depth, t1 / depth
        radius = f0 * f0 + f1 * f1
        distortion = 1.0 + (camera[9] + camera[10] * radius) * radius
        scale = distortion * camera[6]
        e0 = f0 * scale + camera[7] - features[k, 0]
        e1 = f1 * scale + camera[8] - features[k, 1]
        w = weights[k]
        dweights[k] = 2.0 * w * (e0 * e0 + e1 * e1)
        e0 *= 2.0 * w * w
        e1 *= 2.0 * w * w
        dcamera[7] += e0
        dcamera[8] += e1
        dscale = e0 * f0 + e1 * f1
        dcamera[6] += dscale * distortion
        dscale *= camera[6]
        dcamera[9] += dscale * radius
        dcamera[10] += dscale * radius * radius
        dradius = 2.0 * dscale * (camera[9] + 2.0 * camera[10] * radius)
        d0, d1 = (e0 * scale + dradius * f0) / depth, (e1 * scale + dradius * f1) / depth
        d2 = -(d0 * f0 + d1 * f1)
        dalong = d0 * a0 + d1 * a1 + d2 * a2
        dangle = cosine * (d0 * c0 + d1 * c1 + d2 * c2)
        dangle += sine * (dalong * dot - (d0 * s0 + d1 * s1 + d2 * s2))
        dalong *= rest
        g0, g1, g2 = d0 * sine, d1 * sine, d2 * sine
        q0 = d0 * cosine + dalong * a0 + g1 * a2 - g2 * a1
        q1 = d1 * cosine + dalong * a1 + g2 * a0 - g0 * a2
        q2 = d2 * cosine + dalong * a2 + g0 * a1 - g1 * a0
        r0 = (d0 * along + dalong * s0 + s1 * g2 - s2 * g1) / angle
        r1 = (d1 * along + dalong * s1 + s2 * g0 - s0 * g2) / angle
        r2 = (d2 * along + dalong * s2 + s0 * g1 - s1 * g0) / angle
        dangle -= r0 * a0 + r1 * a1 + r2 * a2
        dcamera[0] += r0 + dangle * a0
        dcamera[1] += r1 + dangle * a1
        dcamera[2] += r2 + dangle * a2
        dcamera[3] -= q0
        dcamera[4] -= q1
        dcamera[5] -= q2
        dpoint[0] += q0
        dpoint[1] += q1
        dpoint[2] += q2
    return dcameras, dpoints, dweights


@written
def k_means(centers: Array, points: Array) -> Any:
    k, d = centers.shape
    dcenters = np.zeros_like(centers)
    for p in range(len(points)):
        best, nearest = np.inf, 0
        for c in range(k):
            distance = 0.0
            for j in range(d):
                apart = points[p, j] - centers[c, j]
                distance += apart * apart
            if distance < best:
                best, nearest = distance, c
        for j in range(d):
            dcenters[nearest, j] -= 2.0 * (points[p, j] - centers[nearest, j])
    return dcenters


@written
def hidden_markov(start: Array, transition: Array, emission: Array, observed: Array) -> Any:
    steps, n = len(observed), len(start)
    weights = np.empty((steps, n, n))
    belief = start + emission[:, observed[0]]
    top, total = np.empty(n), np.empty(n)
    for k in range(1, steps):
        top[:] = -np.inf
        for i in range(n):
            for j in range(n):
                top[j] = max(top[j], belief[i] + transition[i, j])
        total[:] = 0.0
        for i in range(n):
            for j in range(n):
                weights[k, i, j] = math.exp(belief[i] + transition[i, j] - top[j])
                total[j] += weights[k, i, j]
        for j in range(n):
            belief[j] = math.log(total[j]) + top[j] + emission[j, observed[k]]
            total[j] = 1.0 / total[j]
        for i in range(n):
            for j in range(n):
                weights[k, i, j] *= total[j]
    largest = np.max(belief)
    d = np.exp(belief - largest)
    d /= np.sum(d)
    dtransition, demission = np.zeros_like(transition), np.zeros_like(emission)
    for k in range(steps - 1, 0, -1):
        for j in range(n):
            demission[j, observed[k]] += d[j]
        for i in range(n):
            new = 0.0
            for j in range(n):
                part = weights[k, i, j] * d[j]
                dtransition[i, j] += part
                new += part
            belief[i] = new
        d, belief = belief, d
    for j in range(n):
        demission[j, observed[0]] += d[j]
    return d, dtransition, demission


@written
def times(a: Array, b: Array) -> Array:
    """a b, of small matrices."""
    out = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                out[i, j] += a[i, k] * b[k, j]
    return out


@written
def times_row(a: Array, x: Array) -> Array:
    """a x, of a small matrix."""
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i] += a[i, j] * x[j]
    return out


@written
def kalman(F: Array, H: Array, Q: Array, R: Array, observed: Array) -> Any:
    steps, m = observed.shape
    n = F.shape[0]
    xs_before, xs, errors = np.empty((steps, n)), np.empty((steps, n)), np.empty((steps, m))
    Ps_before, FPs, Ps = np.empty((steps, n, n)), np.empty((steps, n, n)), np.empty((steps, n, n))
    HPs, inverses, gains = np.empty((steps, m, n)), np.empty((steps, m, m)), np.empty((steps, n, m))
    x = np.zeros(n)
    P = np.eye(n)
    for k in range(steps):
        xs_before[k] = x
        Ps_before[k] = P
        x = times_row(F, x)
        FP = times(F, P)
        P = times(FP, F.T) + Q
        error = observed[k] - times_row(H, x)
        HP = times(H, P)
        inverse = np.linalg.inv(times(HP, H.T) + R)
        gain = times(HP.T, inverse)
        xs[k] = x
        FPs[k] = FP
        Ps[k] = P
        errors[k] = error
        HPs[k] = HP
        inverses[k] = inverse
        gains[k] = gain
        x = x + times_row(gain, error)
        P = P - times(gain, HP)
    dx, dP = np.zeros(n), np.zeros((n, n))
    dF, dH, dQ, dR = np.zeros_like(F), np.zeros_like(H), np.zeros_like(Q), np.zeros_like(R)
    for k in range(steps - 1, -1, -1):
        error, HP, inverse, gain = errors[k], HPs[k], inverses[k], gains[k]
        dgain = times(-dP, HP.T)
        for i in range(n):
            for j in range(m):
                dgain[i, j] += dx[i] * error[j]
        square = times(HP, dgain)
        for i in range(m):
            for j in range(m):
                square[i, j] += 0.5 * error[i] * error[j]
        derror = times_row(gain.T, dx) + times_row(inverse, error)
        dHP = times(inverse, dgain.T) - times(gain.T, dP)
        dS = 0.5 * inverse - times(times(inverse, square), inverse)
        dR += dS
        dHP += times(dS, H)
        dH += times(dS.T, HP) + times(dHP, Ps[k])
        for i in range(m):
            for j in range(n):
                dH[i, j] -= derror[i] * xs[k, j]
        dx -= times_row(H.T, derror)
        dP += times(H.T, dHP)
        dQ += dP
        dFP = times(dP, F)
        dF += times(dP.T, FPs[k]) + times(dFP, Ps_before[k])
        for i in range(n):
            for j in range(n):
                dF[i, j] += dx[i] * xs_before[k, j]
        dP = times(F.T, dFP)
        dx = times_row(F.T, dx)
    return dF, dH, dQ, dR


@written
def particles(x: Array, v: Array, masses: Array, dt: float, steps: int) -> Any:
    n = len(masses)
    places = np.empty((steps, n, 3))
    x, v = x.copy(), v.copy()
    for k in range(steps):
        places[k] = x
        for i in range(n):
            for j in range(i):
                p0, p1, p2 = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
                inverse = 1.0 / (p0 * p0 + p1 * p1 + p2 * p2 + 0.01)
                cube = dt * inverse * math.sqrt(inverse)
                to_i, to_j = cube * masses[j], cube * masses[i]
                v[i, 0] -= to_i * p0
                v[i, 1] -= to_i * p1
                v[i, 2] -= to_i * p2
                v[j, 0] += to_j * p0
                v[j, 1] += to_j * p1
                v[j, 2] += to_j * p2
        for i in range(n):
            for j in range(3):
                x[i, j] += dt * v[i, j]
    dx, dv, dmasses = np.zeros_like(x), np.empty_like(v), np.empty_like(masses)
    for i in range(n):
        dmasses[i] = 0.0
        for j in range(3):
            dv[i, j] = masses[i] * v[i, j]
            dmasses[i] += 0.5 * v[i, j] * v[i, j]
    for k in range(steps - 1, -1, -1):
        x = places[k]
        for i in range(n):
            for j in range(3):
                dv[i, j] += dt * dx[i, j]
        for i in range(n):
            for j in range(i):
                p0, p1, p2 = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
                inverse = 1.0 / (p0 * p0 + p1 * p1 + p2 * p2 + 0.01)
                cube = dt * inverse * math.sqrt(inverse)
                u0 = masses[j] * dv[i, 0] - masses[i] * dv[j, 0]
                u1 = masses[j] * dv[i, 1] - masses[i] * dv[j, 1]
                u2 = masses[j] * dv[i, 2] - masses[i] * dv[j, 2]
                dmasses[j] -= cube * (dv[i, 0] * p0 + dv[i, 1] * p1 + dv[i, 2] * p2)
                dmasses[i] += cube * (dv[j, 0] * p0 + dv[j, 1] * p1 + dv[j, 2] * p2)
                inward = 3.0 * inverse * (u0 * p0 + u1 * p1 + u2 * p2)
                u0 = cube * (inward * p0 - u0)
                u1 = cube * (inward * p1 - u1)
                u2 = cube * (inward * p2 - u2)
                dx[i, 0] += u0
                dx[i, 1] += u1
                dx[i, 2] += u2
                dx[j, 0] -= u0
                dx[j, 1] -= u1
                dx[j, 2] -= u2
    return dx, dv, dmasses


# ---------------------------------------------------------------- stencils


@written
def jacobi_1d(a: Array, b: Array, weights: Array, steps: int) -> Any:
    n = len(a)
    inside, other = weights.copy(), np.zeros(n)
    inside[0] = inside[n - 1] = 0.0
    da, db = np.zeros(n), np.zeros(n)
    da[0], da[n - 1] = weights[0], weights[n - 1]
    third = 1.0 / 3.0
    border, next_border = db, da
    for _ in range(2 * steps):
        border[0] += third * inside[1]
        border[n - 1] += third * inside[n - 2]
        for j in range(1, n - 1):
            other[j] = third * (inside[j - 1] + inside[j] + inside[j + 1])
        inside, other = other, inside
        border, next_border = next_border, border
    da[1 : n - 1] = inside[1 : n - 1]
    return da, db


@written
def mean_of_five(to: Array, of: Array) -> None:
    n, m = to.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            to[i, j] = 0.2 * (of[i, j] + of[i, j - 1] + of[i, j + 1] + of[i + 1, j] + of[i - 1, j])


@written
def jacobi_2d(a: Array, b: Array, target: Array, steps: int) -> Any:
    a, b = a.copy(), b.copy()
    for _ in range(steps):
        mean_of_five(b, a)
        mean_of_five(a, b)
    n, m = a.shape
    da, db = a - target, np.zeros_like(b)
    inside, other = np.zeros_like(a), np.zeros_like(a)
    inside[1 : n - 1, 1 : m - 1] = da[1 : n - 1, 1 : m - 1]
    border, next_border = db, da
    for _ in range(2 * steps):
        for j in range(1, m - 1):
            border[0, j] += 0.2 * inside[1, j]
            border[n - 1, j] += 0.2 * inside[n - 2, j]
        for i in range(1, n - 1):
            border[i, 0] += 0.2 * inside[i, 1]
            border[i, m - 1] += 0.2 * inside[i, m - 2]
        mean_of_five(other, inside)
        inside, other = other, inside
        border, next_border = next_border, border
    da[1 : n - 1, 1 : m - 1] = inside[1 : n - 1, 1 : m - 1]
    return da, db


@written
def heat_3d(u: Array, conductivity: float, target: Array, steps: int) -> Any:
    n, m, p = u.shape
    kept = np.empty((steps + 1, n, m, p))
    kept[:] = u
    for s in range(steps):
        u, new = kept[s], kept[s + 1]
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                for k in range(1, p - 1):
                    new[i, j, k] = u[i, j, k] + conductivity * (
                        u[i + 1, j, k] + u[i - 1, j, k] + u[i, j + 1, k] + u[i, j - 1, k]
                        + u[i, j, k + 1] + u[i, j, k - 1] - 6.0 * u[i, j, k])
    du = kept[steps] - target
    inside, other = np.zeros((n, m, p)), np.zeros((n, m, p))
    inside[1 : n - 1, 1 : m - 1, 1 : p - 1] = du[1 : n - 1, 1 : m - 1, 1 : p - 1]
    dconductivity = 0.0
    for s in range(steps - 1, -1, -1):
        u = kept[s]
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                dconductivity += u[i, j, 0] * inside[i, j, 1] + u[i, j, p - 1] * inside[i, j, p - 2]
                du[i, j, 0] += conductivity * inside[i, j, 1]
                du[i, j, p - 1] += conductivity * inside[i, j, p - 2]
                for k in range(1, p - 1):
                    flow = (inside[i + 1, j, k] + inside[i - 1, j, k]
                            + inside[i, j + 1, k] + inside[i, j - 1, k]
                            + inside[i, j, k + 1] + inside[i, j, k - 1] - 6.0 * inside[i, j, k])
                    dconductivity += u[i, j, k] * flow
                    other[i, j, k] = inside[i, j, k] + conductivity * flow
            for k in range(1, p - 1):
                dconductivity += u[i, 0, k] * inside[i, 1, k] + u[i, m - 1, k] * inside[i, m - 2, k]
                du[i, 0, k] += conductivity * inside[i, 1, k]
                du[i, m - 1, k] += conductivity * inside[i, m - 2, k]
        for j in range(1, m - 1):
            for k in range(1, p - 1):
                dconductivity += u[0, j, k] * inside[1, j, k] + u[n - 1, j, k] * inside[n - 2, j, k]
                du[0, j, k] += conductivity * inside[1, j, k]
                du[n - 1, j, k] += conductivity * inside[n - 2, j, k]
        inside, other = other, inside
    du[1 : n - 1, 1 : m - 1, 1 : p - 1] = inside[1 : n - 1, 1 : m - 1, 1 : p - 1]
    return du, dconductivity


@written
def seidel_2d(a: Array, weights: Array, steps: int) -> Any:
    n = len(a)
    da = weights.copy()
    d = np.zeros((n, n))
    ninth = 1.0 / 9.0
    for _ in range(steps):
        # Each new value is read by its neighbours to the right and below, each old one by all others.
        for i in range(n - 2, 0, -1):
            for j in range(1, n - 1):
                d[i, j] = ninth * (da[i, j] + d[i + 1, j - 1] + d[i + 1, j] + d[i + 1, j + 1])
            for j in range(n - 3, 0, -1):
                d[i, j] += ninth * d[i, j + 1]
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                da[i, j] = d[i, j] + d[i, j - 1] + d[i - 1, j - 1] + d[i - 1, j] + d[i - 1, j + 1]
        for j in range(n):
            for k in range(max(j - 1, 0), min(j + 2, n)):
                da[0, j] += d[1, k]
                da[n - 1, j] += d[n - 2, k]
        for i in range(1, n - 1):
            da[i, 0] += d[i - 1, 1] + d[i, 1] + d[i + 1, 1]
            da[i, n - 1] += d[i - 1, n - 2] + d[i, n - 2] + d[i + 1, n - 2]
    return da


@written
def fdtd_2d(source: Array, ex: Array, ey: Array, hz: Array, target: Array) -> Any:
    ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
    n, m = hz.shape
    for value in source:
        for j in range(m):
            ey[0, j] = value
        for i in range(1, n):
            for j in range(m):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(n):
            for j in range(1, m):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(n - 1):
            for j in range(m - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])
    dsource = np.empty_like(source)
    dex, dey, dhz = np.zeros_like(ex), np.zeros_like(ey), hz - target
    for t in range(len(source) - 1, -1, -1):
        for i in range(n - 1):
            dex[i, 0] += 0.7 * dhz[i, 0]
            for j in range(1, m - 1):
                dex[i, j] += 0.7 * (dhz[i, j] - dhz[i, j - 1])
            dex[i, m - 1] -= 0.7 * dhz[i, m - 2]
        for j in range(m - 1):
            dey[0, j] += 0.7 * dhz[0, j]
            dey[n - 1, j] -= 0.7 * dhz[n - 2, j]
        for i in range(1, n - 1):
            for j in range(m - 1):
                dey[i, j] += 0.7 * (dhz[i, j] - dhz[i - 1, j])
        total = 0.0
        for j in range(m):
            total += dey[0, j]
            dey[0, j] = 0.0
        dsource[t] = total
        for i in range(n):
            dhz[i, 0] += 0.5 * dex[i, 1]
            for j in range(1, m - 1):
                dhz[i, j] += 0.5 * (dex[i, j + 1] - dex[i, j])
            dhz[i, m - 1] -= 0.5 * dex[i, m - 1]
        for j in range(m):
            dhz[0, j] += 0.5 * dey[1, j]
            dhz[n - 1, j] -= 0.5 * dey[n - 1, j]
        for i in range(1, n - 1):
            for j in range(m):
                dhz[i, j] += 0.5 * (dey[i + 1, j] - dey[i, j])
    return dsource


# ---------------------------------------------------------------- linear algebra


@written
def lu(a: Array, weights: Array) -> Any:
    a = a.copy()
    n = len(a)
    for i in range(n):
        for k in range(i):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    da = weights.copy()
    for i in range(n - 1, -1, -1):
        for k in range(i - 1, -1, -1):
            factor = a[i, k]
            d = da[i, k]
            for j in range(k + 1, n):
                d -= da[i, j] * a[k, j]
                da[k, j] -= da[i, j] * factor
            d /= a[k, k]
            da[i, k] = d
            da[k, k] -= d * factor
    return da


@written
def trisolv(triangle: Array, b: Array, target: Array) -> Any:
    n = len(b)
    x = np.empty(n)
    for i in range(n):
        rest = b[i]
        for j in range(i):
            rest -= triangle[i, j] * x[j]
        x[i] = rest / triangle[i, i]
    dx = x - target
    dtriangle = np.zeros_like(triangle)
    for i in range(n - 1, -1, -1):
        d = dx[i] / triangle[i, i]
        dx[i] = d
        for j in range(i):
            dtriangle[i, j] = -d * x[j]
            dx[j] -= d * triangle[i, j]
        dtriangle[i, i] = -d * x[i]
    return dtriangle, dx


@written
def syrk(alpha: float, beta: float, c: Array, a: Array, weights: Array) -> Any:
    dalpha = dbeta = 0.0
    dc = weights.copy()
    da = np.zeros_like(a)
    for i in range(len(a)):
        for j in range(i + 1):
            d = dc[i, j]
            dbeta += d * c[i, j]
            dc[i, j] = d * beta
            scaled = alpha * d
            product = 0.0
            for k in range(a.shape[1]):
                product += a[i, k] * a[j, k]
                da[i, k] += scaled * a[j, k]
                da[j, k] += scaled * a[i, k]
            dalpha += d * product
    return dalpha, dbeta, dc, da


@written
def gemm(alpha: float, beta: float, c: Array, a: Array, b: Array, weights: Array) -> Any:
    da = np.dot(weights, b.T)
    dalpha = dbeta = 0.0
    dc = np.empty_like(c)
    for i in range(da.shape[0]):
        for j in range(da.shape[1]):
            dalpha += da[i, j] * a[i, j]
            da[i, j] *= alpha
        for j in range(c.shape[1]):
            dbeta += weights[i, j] * c[i, j]
            dc[i, j] = beta * weights[i, j]
    return dalpha, dbeta, dc, da, np.dot((alpha * a).T, weights)


@written
def atax(a: Array, x: Array) -> Any:
    ax = np.dot(a, x)
    dy = 2.0 * np.dot(ax, a)
    dax = np.dot(a, dy)
    da = np.empty_like(a)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            da[i, j] = ax[i] * dy[j] + dax[i] * x[j]
    return da, np.dot(dax, a)
