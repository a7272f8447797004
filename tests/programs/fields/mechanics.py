"""Robotics, geodesy, ray tracing, structures, chemistry, images."""
import math
from typing import NamedTuple

import numpy as np
from numpy.linalg import norm

PI = math.pi


def dh(a, alpha, d, theta):
    ca, sa = np.cos(alpha), np.sin(alpha)
    ct, st = np.cos(theta), np.sin(theta)
    return np.array([
        [ct, -st * ca, st * sa, a * ct],
        [st, ct * ca, -ct * sa, a * st],
        [0, sa, ca, d],
        [0, 0, 0, 1],
    ])


DH_TABLE = [(0.0, PI / 2, 0.3), (0.5, 0.0, 0.0), (0.4, 0.0, 0.0), (0.1, -PI / 2, 0.05)]


def forward_kinematics(q):
    T = np.eye(4)
    frames = [T]
    for (a, alpha, d), theta in zip(DH_TABLE, q):
        T = T @ dh(a, alpha, d, theta)
        frames.append(T)
    return T, frames


def reach_cost(q, target, w_rot=0.1):
    T, frames = forward_kinematics(q)
    pos = T[:3, 3]
    err = pos - target
    rot = T[:3, :3]
    angle = np.arccos(np.clip((np.trace(rot) - 1) / 2, -1.0, 1.0))
    return err @ err + w_rot * angle**2 + 1e-3 * sum(norm(f[:3, 3]) for f in frames[1:])


def cartpole(x, u, p=(1.0, 0.1, 0.5, 9.81)):
    mc, mp, l, g = p
    _, th, dx, dth = x
    s, c = np.sin(th), np.cos(th)
    den = mc + mp * s**2
    ddx = (u + mp * s * (l * dth**2 + g * c)) / den
    ddth = (-u * c - mp * l * dth**2 * c * s - (mc + mp) * g * s) / (l * den)
    return np.array([dx, dth, ddx, ddth])


def ilqr_cost(U, x0, dt=0.05):
    x = x0
    Q = np.diag([1.0, 5.0, 0.1, 0.1])
    goal = np.array([0.0, np.pi, 0.0, 0.0])
    J = 0
    for u in U:
        x = x + dt * cartpole(x, u)
        J = J + 0.5 * (x - goal) @ Q @ (x - goal) * dt + 0.01 * u**2 * dt
    return J + 10 * np.sum((x - goal) ** 2)


def slam_residual(poses, landmarks, meas):
    """2-D pose graph: sum of squared range-bearing residuals."""
    cost = 0.0
    for (i, j, rng, brg) in meas:
        x, y, th = poses[i]
        lx, ly = landmarks[j]
        dx, dy = lx - x, ly - y
        r = np.hypot(dx, dy)
        b = np.arctan2(dy, dx) - th
        e = b - brg
        e = (e + np.pi) % (2 * np.pi) - np.pi
        cost += (r - rng) ** 2 / 0.1 + e**2 / 0.01
    for k in range(len(poses) - 1):
        d = poses[k + 1] - poses[k] - np.array([1.0, 0.1, 0.05])
        cost += d @ d
    return cost


def kepler_E(M, e, tol=1e-14):
    M = M % (2 * np.pi)
    E = M if e < 0.8 else np.pi
    d = 1.0
    n = 0
    while abs(d) > tol:
        d = (E - e * np.sin(E) - M) / (1 - e * np.cos(E))
        E -= d
        n += 1
        if n > 100:
            raise RuntimeError("Kepler: no convergence")
    return E


def radial_velocity(params, times, rv, err):
    K, P, e, w, tp, gamma = params
    chi2 = 0.0
    for t, v, s in zip(times, rv, err):
        M = 2 * np.pi * (t - tp) / P
        E = kepler_E(M, e)
        nu = 2 * np.arctan2(np.sqrt(1 + e) * np.sin(E / 2), np.sqrt(1 - e) * np.cos(E / 2))
        model = K * (np.cos(nu + w) + e * np.cos(w)) + gamma
        chi2 += ((v - model) / s) ** 2
    return chi2


def transit_uniform(z, k):
    """Flux of a uniform disk, Mandel & Agol, vectorised with masks."""
    F = np.ones_like(z)
    full = z <= 1 - k
    part = (z > 1 - k) & (z < 1 + k)
    F[full] = 1 - k**2
    zz = z[part]
    k0 = np.arccos((k**2 + zz**2 - 1) / (2 * k * zz))
    k1 = np.arccos((1 - k**2 + zz**2) / (2 * zz))
    area = k**2 * k0 + k1 - 0.5 * np.sqrt(4 * zz**2 - (1 + zz**2 - k**2) ** 2)
    F[part] = 1 - area / np.pi
    return F


def light_curve(theta, t, flux):
    t0, period, k, a = theta
    phase = ((t - t0) / period + 0.5) % 1.0 - 0.5
    z = a * np.abs(np.sin(2 * np.pi * phase))
    return np.sum((flux - transit_uniform(z, k)) ** 2) * 1e4


def geodetic_to_ecef(lat, lon, h, a=6378.137, f=1 / 298.257223563):
    e2 = f * (2 - f)
    N = a / math.sqrt(1 - e2 * math.sin(lat) ** 2)
    return (N + h) * math.cos(lat) * math.cos(lon), (N + h) * math.cos(lat) * math.sin(lon), (N * (1 - e2) + h) * math.sin(lat)


def ecef_to_geodetic(x, y, z, a=6378.137, f=1 / 298.257223563):
    e2 = f * (2 - f)
    lon = math.atan2(y, x)
    p = math.hypot(x, y)
    lat = math.atan2(z, p * (1 - e2))
    while True:
        N = a / math.sqrt(1 - e2 * math.sin(lat) ** 2)
        h = p / math.cos(lat) - N
        new = math.atan2(z, p * (1 - e2 * N / (N + h)))
        if abs(new - lat) < 1e-14:
            break
        lat = new
    return new, lon, h


class Ray(NamedTuple):
    o: np.ndarray
    d: np.ndarray


def refract(d, n, eta):
    cos_i = -np.dot(n, d)
    sin2_t = eta**2 * (1.0 - cos_i**2)
    if sin2_t > 1.0:
        return None
    cos_t = np.sqrt(1.0 - sin2_t)
    return eta * d + (eta * cos_i - cos_t) * n


def trace_lens(curvatures, thickness, heights, index=1.5168):
    """Spot size of a singlet with spherical surfaces."""
    spots = []
    for h in heights:
        ray = Ray(np.array([0.0, h, -1.0]), np.array([0.0, 0.0, 1.0]))
        z = 0.0
        n1 = 1.0
        lost = False
        for k, c in enumerate(curvatures):
            n2 = index if n1 == 1.0 else 1.0
            centre = np.array([0.0, 0.0, z + 1.0 / c])
            oc = ray.o - centre
            b = np.dot(oc, ray.d)
            disc = b**2 - (np.dot(oc, oc) - 1.0 / c**2)
            if disc < 0:
                lost = True
                break
            t = -b - np.sqrt(disc) if c > 0 else -b + np.sqrt(disc)
            p = ray.o + t * ray.d
            n = (p - centre) * c
            n = n / np.linalg.norm(n)
            if np.dot(n, ray.d) > 0:
                n = -n
            d = refract(ray.d, n, n1 / n2)
            if d is None:
                lost = True
                break
            ray = Ray(p, d)
            n1 = n2
            z += thickness[k]
        if lost:
            continue
        t = (10.0 - ray.o[2]) / ray.d[2]
        spots.append((ray.o + t * ray.d)[1])
    spots = np.asarray(spots)
    return np.sqrt(np.mean(spots**2))


def truss(areas, nodes, bars, loads, supports, E=70.0):
    """Planar truss compliance."""
    ndof = 2 * len(nodes)
    K = np.zeros((ndof, ndof))
    for A, (i, j) in zip(areas, bars):
        dx, dy = nodes[j] - nodes[i]
        L = np.sqrt(dx**2 + dy**2)
        c, s = dx / L, dy / L
        k = E * A / L * np.array([[c * c, c * s, -c * c, -c * s],
                                  [c * s, s * s, -c * s, -s * s],
                                  [-c * c, -c * s, c * c, c * s],
                                  [-c * s, -s * s, c * s, s * s]])
        d = np.array([2 * i, 2 * i + 1, 2 * j, 2 * j + 1])
        K[np.ix_(d, d)] += k
    free = np.setdiff1d(np.arange(ndof), supports)
    u = np.zeros(ndof)
    u[free] = np.linalg.solve(K[np.ix_(free, free)], loads[free])
    return loads @ u


def beam_frequencies(EI, rhoA, n=4, L=1.0):
    l = L / n
    ndof = 2 * (n + 1)
    K = np.zeros((ndof, ndof))
    M = np.zeros_like(K)
    ke0 = np.array([[12, 6 * l, -12, 6 * l], [6 * l, 4 * l**2, -6 * l, 2 * l**2], [-12, -6 * l, 12, -6 * l], [6 * l, 2 * l**2, -6 * l, 4 * l**2]]) / l**3
    me0 = l / 420 * np.array([[156, 22 * l, 54, -13 * l], [22 * l, 4 * l**2, 13 * l, -3 * l**2], [54, 13 * l, 156, -22 * l], [-13 * l, -3 * l**2, -22 * l, 4 * l**2]])
    for e in range(n):
        s = slice(2 * e, 2 * e + 4)
        K[s, s] += EI[e] * ke0
        M[s, s] += rhoA[e] * me0
    from scipy.linalg import eigh
    w2, _ = eigh(K[2:, 2:], M[2:, 2:])
    return np.sqrt(w2[:3])


R = np.random.default_rng(7)
nodes = np.array([[0.0, 0], [1, 0], [0.5, 0.8], [1.5, 0.7]])
bars = [(0, 1), (0, 2), (1, 2), (2, 3), (1, 3)]
t = np.linspace(0, 1, 17)
PROGRAMS = [
    (reach_cost, (R.normal(size=4), np.array([0.4, 0.3, 0.5])), (0, 1)),
    (ilqr_cost, (R.normal(size=6), np.array([0.1, 0.2, 0.0, 0.1])), (0, 1)),
    (slam_residual, (R.normal(size=(3, 3)), R.normal(size=(2, 2)) + 3, [(0, 0, 3.0, 0.5), (1, 1, 4.0, 0.4), (2, 0, 2.5, 0.9)]), (0, 1)),
    (radial_velocity, (np.array([10.0, 3.3, 0.3, 0.7, 0.2, 1.0]), np.array([0.1, 0.9, 2.2, 3.0]), R.normal(size=4) * 5, np.ones(4)), (0,)),
    (light_curve, (np.array([0.31, 0.83, 0.12, 3.0]), t, 1 - 0.01 * R.uniform(size=17)), (0,)),
    (geodetic_to_ecef, (0.7, 0.3, 0.2), (0, 1, 2)),
    (ecef_to_geodetic, (4000.0, 3000.0, 4000.0), (0, 1, 2)),
    (trace_lens, (np.array([0.2, -0.15]), np.array([0.5, 0.3]), np.array([0.1, 0.3, 0.5])), (0, 1)),
    (truss, (R.uniform(1, 2, 5), nodes, bars, np.array([0, 0, 0, 0, 0, -1.0, 0.5, -0.3]), [0, 1, 3]), (0, 1)),
    (beam_frequencies, (R.uniform(1, 2, 4), R.uniform(1, 2, 4)), (0, 1)),
]
