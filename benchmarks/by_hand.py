"""The gradients of the programs as an expert writes them by hand in NumPy: the measure for generated code.

Each has the loops and the operations of its program: what would make the program faster, too (vectorised
loops, other formulas), is not the adjoint's. Otherwise it does as little as it can: it runs forwards only
what the way back reads, keeps only that, works in place and reuses what it has.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from .primals import DT

Array = NDArray[np.float64]


# ---------------------------------------------------------------- numbers


def chain(x: float, y: float) -> tuple[float, float]:
    sine = math.sin(x)
    u = sine * y
    bell = math.exp(-u * u)
    v = bell + x * y
    square = v * v
    w = math.log(1.0 + square)
    q = 1.0 + u * u
    part = math.cos(w) / q
    root = math.sqrt(square + w * w)
    z = part + root
    t = math.tanh(z * u)
    u2 = t + w
    v2 = u2 * v - z
    growth = math.exp(math.sin(v2))
    w2 = growth * u2
    dw2 = w2 / math.sqrt(1.0 + w2 * w2)
    dv2 = z + dw2 * w2 * math.cos(v2)
    du2 = dw2 * growth + dv2 * v
    dt = du2 * (1.0 - t * t)
    dz = v2 - dv2 + dt * u
    along = dz / root
    dw = du2 + along * w - dz * math.sin(w) / q
    dv = dv2 * u2 + along * v + dw * 2.0 * v / (1.0 + square)
    du = dt * z - 2.0 * u * (dz * part / q + dv * bell)
    return dv * y + du * math.cos(x) * y, dv * x + du * sine


def lotka_volterra(growth: float, hunting: float, feeding: float, decline: float,
                   steps: int) -> tuple[float, float, float, float]:
    x, y = 3.0, 1.0
    half, sixth = DT / 2, DT / 6
    trace = []
    for _ in range(steps):
        met = x * y
        a1, b1 = growth * x - hunting * met, feeding * met - decline * y
        x2, y2 = x + half * a1, y + half * b1
        met2 = x2 * y2
        a2, b2 = growth * x2 - hunting * met2, feeding * met2 - decline * y2
        x3, y3 = x + half * a2, y + half * b2
        met3 = x3 * y3
        a3, b3 = growth * x3 - hunting * met3, feeding * met3 - decline * y3
        x4, y4 = x + DT * a3, y + DT * b3
        met4 = x4 * y4
        a4, b4 = growth * x4 - hunting * met4, feeding * met4 - decline * y4
        trace.append((x, y, met, x2, y2, met2, x3, y3, met3, x4, y4, met4))
        x = x + sixth * (a1 + 2 * a2 + 2 * a3 + a4)
        y = y + sixth * (b1 + 2 * b2 + 2 * b3 + b4)
    x_end, y_end = x, y
    dx = dy = 0.0
    dgrowth = dhunting = dfeeding = ddecline = 0.0
    for x1, y1, met, x2, y2, met2, x3, y3, met3, x4, y4, met4 in reversed(trace):
        dx += 2 * DT * (x_end - 3.0)
        dy += 2 * DT * (y_end - 1.0)
        x_end, y_end = x1, y1
        # Through each stage: the adjoints of its slopes, of the product of the populations, and of these.
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
        dx += growth * da1 + dmet * y1 + dx2 + dx3 + dx4
        dy += dmet * x1 - decline * db1 + dy2 + dy3 + dy4
        dgrowth += da1 * x1 + da2 * x2 + da3 * x3 + da4 * x4
        dhunting -= da1 * met + da2 * met2 + da3 * met3 + da4 * met4
        dfeeding += db1 * met + db2 * met2 + db3 * met3 + db4 * met4
        ddecline -= db1 * y1 + db2 * y2 + db3 * y3 + db4 * y4
    return dgrowth, dhunting, dfeeding, ddecline


# ---------------------------------------------------------------- arrays, element by element


def rosenbrock(x: Array) -> Array:
    low = x[:-1]
    d = x[1:] - low * low
    d *= 200.0
    dx = np.empty_like(x)
    dx[0] = 0.0
    dx[1:] = d
    d *= low
    d -= low
    d += 1.0
    d *= 2.0
    dx[:-1] -= d
    return dx


def logistic(w: Array, b: float, x: Array, y: Array, penalty: float) -> tuple[Array, Any]:
    dz = x @ w
    dz += b
    special.expit(dz, out=dz)
    dz -= y
    dz /= len(y)
    return dz @ x + 2 * penalty * w, np.sum(dz)


def black_scholes(spot: Array, vol: Array, rate: float, strike: Array,
                  years: Array) -> tuple[Array, Array, Any]:
    root_years = np.sqrt(years)
    root = vol * root_years
    d1 = (np.log(spot / strike) + (rate + 0.5 * vol ** 2) * years) / root
    d2 = d1 - root
    discounted = strike * np.exp(-rate * years)
    here = special.erf(d1 / math.sqrt(2.0))
    here += 1.0
    here *= 0.5
    there = special.erf(d2 / math.sqrt(2.0))
    there += 1.0
    there *= 0.5
    there *= discounted
    discounted *= np.exp(-0.5 * d2 * d2)
    discounted /= math.sqrt(2 * math.pi)  # less the cotangent of d2
    change = np.exp(-0.5 * d1 * d1)
    change *= spot
    change /= math.sqrt(2 * math.pi)
    change -= discounted
    change /= root
    discounted -= change * d1  # the cotangent of root
    discounted *= root_years
    vol_years = vol * years
    vol_years *= change
    vol_years += discounted
    drate = change @ years + there @ years
    change /= spot
    here += change
    return here, vol_years, drate


# ---------------------------------------------------------------- networks


def mlp(params: tuple[Array, ...], x: Array, targets: Array) -> tuple[Array, ...]:
    w1, b1, w2, b2, w3, b3 = params
    h1 = np.tanh(x @ w1 + b1)
    h2 = np.tanh(h1 @ w2 + b2)
    derror = h2 @ w3 + b3 - targets
    derror *= 2 / derror.size
    dz2 = derror @ w3.T
    dz2 *= 1 - h2 * h2
    dz1 = dz2 @ w2.T
    dz1 *= 1 - h1 * h1
    return (x.T @ dz1, np.sum(dz1, axis=0), h1.T @ dz2, np.sum(dz2, axis=0),
            h2.T @ derror, np.sum(derror, axis=0))


def rnn(params: tuple[Array, ...], values: Array, targets: Array) -> tuple[Array, ...]:
    w_in, w_hidden, bias, w_out, b_out = params
    hidden = np.zeros((values.shape[1], bias.shape[0]))
    scale = 2 / targets.size
    trace = []
    for value, target in zip(values, targets, strict=True):
        before = hidden
        hidden = np.tanh(value @ w_in + hidden @ w_hidden + bias)
        trace.append((value, before, hidden, scale * (hidden @ w_out + b_out - target)))
    dhidden = np.zeros_like(hidden)
    dw_in, dw_hidden, dbias, dw_out, db_out = map(np.zeros_like, params)
    for value, before, hidden, derror in reversed(trace):
        db_out += np.sum(derror, axis=0)
        dw_out += hidden.T @ derror
        dhidden += derror @ w_out.T
        dhidden *= 1 - hidden * hidden
        dbias += np.sum(dhidden, axis=0)
        dw_hidden += before.T @ dhidden
        dw_in += value.T @ dhidden
        dhidden = dhidden @ w_hidden.T
    return dw_in, dw_hidden, dbias, dw_out, db_out


def lstm(params: dict[str, Array], values: Array, targets: Array) -> dict[str, Array]:
    w_in, w_hidden, bias, w_out = (params[name] for name in ("input", "recurrent", "bias", "output"))
    width = w_hidden.shape[0]
    hidden = np.zeros((values.shape[1], width))
    cell = np.zeros((values.shape[1], width))
    trace = []
    for value in values:
        gates = value @ w_in + hidden @ w_hidden + bias
        opened = 1.0 / (1.0 + np.exp(-gates[:, : 3 * width]))
        new = np.tanh(gates[:, 3 * width :])
        before, kept = hidden, cell
        cell = opened[:, width : 2 * width] * cell + opened[:, :width] * new
        shown = np.tanh(cell)
        hidden = opened[:, 2 * width :] * shown
        trace.append((value, before, kept, opened, new, shown))
    derror = hidden @ w_out - targets
    derror *= 2 / derror.size
    dw_out = hidden.T @ derror
    dhidden = derror @ w_out.T
    dcell = np.zeros_like(cell)
    dw_in, dw_hidden, dbias = np.zeros_like(w_in), np.zeros_like(w_hidden), np.zeros_like(bias)
    dgates = np.empty((len(cell), 4 * width))
    for value, before, kept, opened, new, shown in reversed(trace):
        entry, forget, output = opened[:, :width], opened[:, width : 2 * width], opened[:, 2 * width :]
        dcell += dhidden * output * (1 - shown * shown)
        np.multiply(dcell, new, out=dgates[:, :width])
        np.multiply(dcell, kept, out=dgates[:, width : 2 * width])
        np.multiply(dhidden, shown, out=dgates[:, 2 * width : 3 * width])
        dgates[:, : 3 * width] *= opened * (1 - opened)
        np.multiply(dcell * entry, 1 - new * new, out=dgates[:, 3 * width :])
        dw_in += value.T @ dgates
        dw_hidden += before.T @ dgates
        dbias += np.sum(dgates, axis=0)
        dhidden = dgates @ w_hidden.T
        dcell *= forget
    return {"input": dw_in, "recurrent": dw_hidden, "bias": dbias, "output": dw_out}


# ---------------------------------------------------------------- statistics and vision


def softmax(x: Array) -> Array:
    """The gradient of the logarithm of the sum of exponentials along the first axis."""
    weights: Array = np.exp(x - np.max(x, axis=0))
    weights /= np.sum(weights, axis=0)
    return weights


def gmm(alphas: Array, means: Array, factors: Array, x: Array, gamma: float,
        m: int) -> tuple[Array, Array, Array]:
    n, d = x.shape
    diagonal = np.arange(d)
    rows, columns = np.tril_indices(d, -1)
    scales = np.exp(factors[:, :d])
    triangles = np.zeros((len(means), d, d))
    triangles[:, diagonal, diagonal] = scales
    triangles[:, rows, columns] = factors[:, d:]
    centred = x - means[:, None, :]
    scaled = centred @ np.transpose(triangles, (0, 2, 1))
    logdets = np.sum(factors[:, :d], axis=1)
    weights = softmax((alphas + logdets)[:, None] - 0.5 * np.sum(scaled * scaled, axis=2))
    scaled *= weights[:, :, None]
    dtriangles = np.transpose(scaled, (0, 2, 1)) @ centred  # less, as is the one of the means
    counts = np.sum(weights, axis=1)
    dfactors = -gamma ** 2 * factors
    dfactors[:, d:] -= dtriangles[:, rows, columns]
    dscales = dtriangles[:, diagonal, diagonal] + gamma ** 2 * scales
    dfactors[:, :d] = (counts + m)[:, None] - scales * dscales
    dmeans = (np.sum(scaled, axis=1)[:, None, :] @ triangles)[:, 0, :]
    return counts - n * softmax(alphas), dmeans, dfactors


def add_rows(rows: Array, places: NDArray[np.int64], count: int) -> Array:
    """The sums of the rows that belong to each place."""
    return np.stack([np.bincount(places, column, count) for column in rows.T], axis=1)


def bundle_adjustment(cameras: Array, points: Array, weights: Array, which: NDArray[np.int64],
                      what: NDArray[np.int64], features: Array) -> tuple[Array, Array, Array]:
    camera = cameras[which]
    rotation = camera[:, :3]
    seen = points[what] - camera[:, 3:6]
    angle = np.sqrt(np.sum(rotation * rotation, axis=1, keepdims=True))
    axis = rotation / angle
    cosine, sine = np.cos(angle), np.sin(angle)
    rest = 1.0 - cosine
    dot = np.sum(axis * seen, axis=1, keepdims=True)
    along = dot * rest
    crossed = np.cross(axis, seen)
    turned = seen * cosine + crossed * sine + axis * along
    depth = turned[:, 2:]
    flat = turned[:, :2] / depth
    radius = np.sum(flat * flat, axis=1)
    distortion = 1.0 + camera[:, 9] * radius + camera[:, 10] * radius * radius
    scale = distortion * camera[:, 6]
    error = flat * scale[:, None] + camera[:, 7:9] - features
    dimage = error * (2.0 * weights * weights)[:, None]
    dweights = 2.0 * weights * np.sum(error * error, axis=1)

    dcamera = np.empty_like(camera)
    dcamera[:, 7:9] = dimage
    dscale = np.sum(dimage * flat, axis=1)
    dcamera[:, 6] = dscale * distortion
    dscale *= camera[:, 6]
    dcamera[:, 9] = dscale * radius
    dcamera[:, 10] = dcamera[:, 9] * radius
    dimage *= scale[:, None]
    dimage += flat * (2.0 * dscale * (camera[:, 9] + 2.0 * camera[:, 10] * radius))[:, None]
    dturned = np.empty_like(turned)
    dimage /= depth
    dturned[:, :2] = dimage
    dturned[:, 2] = -np.sum(dimage * flat, axis=1)
    dalong = np.sum(dturned * axis, axis=1, keepdims=True)
    dangle = cosine * np.sum(dturned * crossed, axis=1, keepdims=True)
    dangle += sine * (dalong * dot - np.sum(dturned * seen, axis=1, keepdims=True))
    dalong *= rest
    dcrossed = dturned * sine
    dseen = dturned * cosine + dalong * axis + np.cross(dcrossed, axis)
    daxis = dturned * along + dalong * seen + np.cross(seen, dcrossed)
    daxis /= angle
    daxis += (dangle - np.sum(daxis * axis, axis=1, keepdims=True)) * axis
    dcamera[:, :3] = daxis
    dcamera[:, 3:6] = -dseen
    return add_rows(dcamera, which, len(cameras)), add_rows(dseen, what, len(points)), dweights


def k_means(centers: Array, points: Array) -> Array:
    distances = np.sum((points[:, None, :] - centers[None, :, :]) ** 2, axis=2)
    nearest = np.argmin(distances, axis=1)
    members = (nearest == np.arange(len(centers))[:, None]).astype(float)
    dcenters = np.bincount(nearest, minlength=len(centers))[:, None] * centers
    dcenters -= members @ points
    dcenters *= 2.0
    return dcenters


def hidden_markov(start: Array, transition: Array, emission: Array,
                  observed: NDArray[np.int64]) -> tuple[Array, Array, Array]:
    belief = start + emission[:, observed[0]]
    trace = []
    for k in observed[1:]:
        scores = belief[:, None] + transition
        top = np.max(scores, axis=0)
        scores -= top
        np.exp(scores, out=scores)
        total = np.sum(scores, axis=0)
        belief = np.log(total) + top + emission[:, k]
        trace.append((k, scores, total))
    dbelief = softmax(belief)
    dtransition, demission = np.zeros_like(transition), np.zeros_like(emission)
    for k, scores, total in reversed(trace):
        demission[:, k] += dbelief
        scores *= dbelief / total
        dtransition += scores
        dbelief = np.sum(scores, axis=1)
    demission[:, observed[0]] += dbelief
    return dbelief, dtransition, demission


def kalman(F: Array, H: Array, Q: Array, R: Array, observed: Array) -> tuple[Array, Array, Array, Array]:
    x = np.zeros(F.shape[0])
    P = np.eye(F.shape[0])
    trace = []
    for y in observed:
        x_before, P_before = x, P
        x = F @ x
        FP = F @ P
        P = FP @ F.T + Q
        error = y - H @ x
        HP = H @ P
        inverse = np.linalg.inv(HP @ H.T + R)
        gain = HP.T @ inverse
        trace.append((x_before, P_before, FP, x, P, error, HP, inverse, gain))
        x = x + gain @ error
        P = P - gain @ HP
    dx, dP = np.zeros_like(x), np.zeros_like(P)
    dF, dH, dQ, dR = np.zeros_like(F), np.zeros_like(H), np.zeros_like(Q), np.zeros_like(R)
    for x_before, P_before, FP, x, P, error, HP, inverse, gain in reversed(trace):
        dgain = np.outer(dx, error) - dP @ HP.T
        derror = gain.T @ dx + inverse @ error
        dHP = inverse @ dgain.T - gain.T @ dP
        dS = 0.5 * inverse - inverse @ (0.5 * np.outer(error, error) + HP @ dgain) @ inverse
        dR += dS
        dHP += dS @ H
        dH += dS.T @ HP + dHP @ P - np.outer(derror, x)
        dx -= derror @ H
        dP += H.T @ dHP
        dQ += dP
        dFP = dP @ F
        dF += dP.T @ FP + dFP @ P_before + np.outer(dx, x_before)
        dP = F.T @ dFP
        dx = dx @ F
    return dF, dH, dQ, dR


def particles(x: Array, v: Array, masses: Array, dt: float, steps: int) -> tuple[Array, Array, Array]:
    trace = []
    for _ in range(steps):
        apart = x[:, None, :] - x[None, :, :]
        squares = np.sum(apart * apart, axis=2) + 0.01
        pull = masses / (squares * np.sqrt(squares))
        trace.append((apart, squares, pull))
        v = v - dt * np.sum(pull[:, :, None] * apart, axis=1)
        x = x + dt * v
    dx = np.zeros_like(x)
    dv = masses[:, None] * v
    dmasses = 0.5 * np.sum(v * v, axis=1)
    weighted = np.zeros_like(masses)
    for apart, squares, pull in reversed(trace):
        dv += dt * dx
        dforce = -dt * dv
        d = np.matmul(apart, dforce[:, :, None])[:, :, 0]
        d *= pull
        weighted += np.sum(d, axis=0)
        d /= squares
        d *= -3.0
        dx += dforce * np.sum(pull, axis=1)[:, None] - pull.T @ dforce
        dx += np.matmul((d + d.T)[:, None, :], apart)[:, 0, :]
    dmasses += weighted / masses
    return dx, dv, dmasses


# ---------------------------------------------------------------- stencils


def jacobi_1d(a: Array, b: Array, weights: Array, steps: int) -> tuple[Array, Array]:
    da, db = weights.copy(), np.zeros_like(b)
    d = np.empty_like(a[1:-1])
    for _ in range(steps):
        for to, of in ((da, db), (db, da)):
            np.divide(to[1:-1], 3, out=d)
            to[1:-1] = 0
            of[:-2] += d
            of[1:-1] += d
            of[2:] += d
    return da, db


def jacobi_2d(a: Array, b: Array, target: Array, steps: int) -> tuple[Array, Array]:
    a, b = a.copy(), b.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    da, db = a - target, np.zeros_like(b)
    d = np.empty_like(a[1:-1, 1:-1])
    for _ in range(steps):
        for to, of in ((da, db), (db, da)):
            np.multiply(0.2, to[1:-1, 1:-1], out=d)
            to[1:-1, 1:-1] = 0
            of[1:-1, 1:-1] += d
            of[1:-1, :-2] += d
            of[1:-1, 2:] += d
            of[2:, 1:-1] += d
            of[:-2, 1:-1] += d
    return da, db


def heat_3d(u: Array, conductivity: float, target: Array, steps: int) -> tuple[Array, Any]:
    u = u.copy()
    inside = u[1:-1, 1:-1, 1:-1]
    trace = []
    for _ in range(steps):
        flow = (u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
                + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2] - 6.0 * inside)
        trace.append(flow)
        inside += conductivity * flow
    du = u - target
    inside = du[1:-1, 1:-1, 1:-1]
    dconductivity = 0.0
    for flow in reversed(trace):
        dconductivity += np.sum(inside * flow)
        d = conductivity * inside
        du[2:, 1:-1, 1:-1] += d
        du[:-2, 1:-1, 1:-1] += d
        du[1:-1, 2:, 1:-1] += d
        du[1:-1, :-2, 1:-1] += d
        du[1:-1, 1:-1, 2:] += d
        du[1:-1, 1:-1, :-2] += d
        d *= 6.0
        inside -= d
    return du, dconductivity


def seidel_2d(a: Array, weights: Array, steps: int) -> Array:
    da = weights.copy()
    n = len(a)
    for _ in range(steps):
        for i in range(n - 2, 0, -1):
            for j in range(n - 2, 0, -1):
                d = da[i, j] / 9.0
                da[i, j] = d
                da[i - 1, j - 1] += d
                da[i - 1, j] += d
                da[i - 1, j + 1] += d
                da[i, j - 1] += d
                da[i, j + 1] += d
                da[i + 1, j - 1] += d
                da[i + 1, j] += d
                da[i + 1, j + 1] += d
    return da


def fdtd_2d(source: Array, ex: Array, ey: Array, hz: Array, target: Array) -> Array:
    ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
    for value in source:
        ey[0, :] = value
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    dsource = np.empty_like(source)
    dex, dey, dhz = np.zeros_like(ex), np.zeros_like(ey), hz - target
    for t in range(len(source) - 1, -1, -1):
        d = 0.7 * dhz[:-1, :-1]
        dex[:-1, 1:] -= d
        dex[:-1, :-1] += d
        dey[1:, :-1] -= d
        dey[:-1, :-1] += d
        d = 0.5 * dex[:, 1:]
        dhz[:, 1:] -= d
        dhz[:, :-1] += d
        d = 0.5 * dey[1:, :]
        dhz[1:, :] -= d
        dhz[:-1, :] += d
        dsource[t] = np.sum(dey[0, :])
        dey[0, :] = 0
    return dsource


# ---------------------------------------------------------------- linear algebra


def lu(a: Array, weights: Array) -> Array:
    a = a.copy()
    n = len(a)
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[:j, j]) / a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    da = weights.copy()
    for i in range(n - 1, -1, -1):
        for j in range(n - 1, i - 1, -1):
            d = da[i, j]
            da[i, :i] -= d * a[:i, j]
            da[:i, j] -= d * a[i, :i]
        for j in range(i - 1, -1, -1):
            d = da[i, j] / a[j, j]
            da[i, j] = d
            da[j, j] -= d * a[i, j]
            da[i, :j] -= d * a[:j, j]
            da[:j, j] -= d * a[i, :j]
    return da


def trisolv(triangle: Array, b: Array, target: Array) -> tuple[Array, Array]:
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - triangle[i, :i] @ x[:i]) / triangle[i, i]
    dx = x - target
    dtriangle = np.zeros_like(triangle)
    for i in range(len(b) - 1, -1, -1):
        d = dx[i] / triangle[i, i]
        dx[i] = d
        dtriangle[i, : i + 1] = -d * x[: i + 1]
        dx[:i] -= d * triangle[i, :i]
    return dtriangle, dx


def syrk(alpha: float, beta: float, c: Array, a: Array,
         weights: Array) -> tuple[Any, Any, Array, Array]:
    dalpha = dbeta = 0.0
    dc = weights.copy()
    da = np.zeros_like(a)
    for i in range(len(a) - 1, -1, -1):
        d = dc[i, : i + 1]
        for k in range(a.shape[1] - 1, -1, -1):
            dproduct = d @ a[: i + 1, k]
            dalpha += dproduct * a[i, k]
            da[i, k] += alpha * dproduct
            da[: i + 1, k] += alpha * a[i, k] * d
        dbeta += d @ c[i, : i + 1]
        d *= beta
    return dalpha, dbeta, dc, da


def gemm(alpha: float, beta: float, c: Array, a: Array, b: Array,
         weights: Array) -> tuple[Any, Any, Array, Array, Array]:
    dscaled = weights @ b.T
    dalpha = np.vdot(dscaled, a)
    dscaled *= alpha
    return dalpha, np.vdot(weights, c), beta * weights, dscaled, (alpha * a).T @ weights


def atax(a: Array, x: Array) -> tuple[Array, Array]:
    ax = a @ x
    dy = 2.0 * (ax @ a)
    dax = a @ dy
    return np.stack([ax, dax], axis=1) @ np.stack([dy, x]), dax @ a
