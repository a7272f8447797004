"""Lattice field theory and mechanics: actions, plaquettes, leapfrog, mean fields, N bodies."""
import itertools
import math

import numpy as np
from numpy import exp, log, cos, roll
from collections import namedtuple

Params = namedtuple("Params", ["kappa", "lam", "h"])


def phi4_action(phi, p):
    """S = sum_x [ -2 kappa phi_x sum_mu phi_{x+mu} + phi^2 + lam (phi^2-1)^2 - h phi ]"""
    S = phi**2 + p.lam * (phi**2 - 1) ** 2 - p.h * phi
    for mu in range(phi.ndim):
        S = S - 2 * p.kappa * phi * roll(phi, -1, axis=mu)
    return S.sum()


def plaq(theta, mu, nu):
    return theta[mu] + np.roll(theta[nu], -1, mu) - np.roll(theta[mu], -1, nu) - theta[nu]


def u1_wilson_action(theta, beta=1.2):
    """Wilson action of compact U(1), links theta[mu, x, y, z]."""
    D = theta.shape[0]
    S = 0
    for mu in range(D):
        for nu in range(mu + 1, D):
            S += np.sum(1 - cos(plaq(theta, mu, nu)))
    return beta * S


def dag(U):
    return np.conj(np.swapaxes(U, -1, -2))


SIGMA = np.array([[[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]])


def su2(a):
    """exp(i a.sigma) for an array of 3-vectors (..., 3)."""
    r = np.sqrt(np.sum(a**2, axis=-1))[..., None, None]
    n = np.einsum("...i,ijk->...jk", a, SIGMA)
    return np.cos(r) * np.eye(2) + 1j * np.sin(r) / r * n


def su2_action(a, beta=2.0):
    U = su2(a)  # mu, x, y, 2, 2
    action = 0.0
    ndim = U.shape[0]
    for mu, nu in itertools.combinations(range(ndim), 2):
        Umu, Unu = U[mu], U[nu]
        P = Umu @ np.roll(Unu, -1, axis=mu) @ dag(np.roll(Umu, -1, axis=nu)) @ dag(Unu)
        tr = np.trace(P, axis1=-2, axis2=-1)
        action += np.sum(1 - 0.5 * tr.real)
    return beta * action


def polyakov_loop(a):
    U = su2(a)
    L = U[0]
    loop = L[0]
    for t in range(1, L.shape[0]):
        loop = np.matmul(loop, L[t])
    return np.abs(np.mean(np.trace(loop, axis1=1, axis2=2))) ** 2


def hmc_trajectory(phi, pi, kappa, lam, eps=0.05, n_md=5):
    """Returns Delta H of one leapfrog trajectory with a hand-written force."""

    def force(phi):
        J = np.zeros_like(phi)
        for ax in (0, 1):
            J += np.roll(phi, 1, axis=ax) + np.roll(phi, -1, axis=ax)
        return 2 * kappa * J - 2 * phi - 4 * lam * (phi**2 - 1) * phi

    def hamiltonian(phi, pi):
        nb = np.roll(phi, 1, 0) + np.roll(phi, 1, 1)
        return 0.5 * np.sum(pi**2) + np.sum(-2 * kappa * phi * nb + phi**2 + lam * (phi**2 - 1) ** 2)

    h0 = hamiltonian(phi, pi)
    phi = phi.copy()
    pi = pi.copy()
    pi += 0.5 * eps * force(phi)
    for i in range(n_md):
        phi += eps * pi
        if i != n_md - 1:
            pi += eps * force(phi)
    pi += 0.5 * eps * force(phi)
    return hamiltonian(phi, pi) - h0


def ising_mean_field(J, h, T, tol=1e-13, maxiter=1000):
    m = np.full(len(h), 0.5)
    it = 0
    while True:
        m_new = np.tanh((J @ m + h) / T)
        err = np.max(np.abs(m_new - m))
        m = m_new
        it += 1
        if err < tol or it >= maxiter:
            break
    else:
        raise RuntimeError("no convergence")
    F = -0.5 * m @ J @ m - h @ m
    with np.errstate(divide="ignore", invalid="ignore"):
        s = -((1 + m) / 2 * np.log((1 + m) / 2) + (1 - m) / 2 * np.log((1 - m) / 2))
    return F - T * np.nansum(s)


def ising_transfer(J, h, N=6):
    T = np.array([[exp(J + h), exp(-J)], [exp(-J), exp(J - h)]])
    Z = np.trace(np.linalg.matrix_power(T, N))
    return -log(Z) / N


def nbody_arrays(pos, vel, mass, dt=0.01, steps=5, softening=0.1):
    """Princeton-style vectorised N-body code."""

    def getAcc(pos):
        x = pos[:, 0:1]
        y = pos[:, 1:2]
        z = pos[:, 2:3]
        dx = x.T - x
        dy = y.T - y
        dz = z.T - z
        inv_r3 = dx**2 + dy**2 + dz**2 + softening**2
        inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0] ** (-1.5)
        ax = (dx * inv_r3) @ mass
        ay = (dy * inv_r3) @ mass
        az = (dz * inv_r3) @ mass
        return np.hstack((ax, ay, az))

    vel -= np.mean(mass * vel, 0) / np.mean(mass)
    acc = getAcc(pos)
    t = 0
    for i in range(steps):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc = getAcc(pos)
        vel += acc * dt / 2.0
        t += dt
    KE = 0.5 * np.sum(np.sum(mass * vel**2))
    return KE, pos


def double_pendulum(state, l1=1.0, l2=0.7, m1=1.0, m2=0.5, g=9.81, dt=0.01, n=10):
    def deriv(s):
        th1, w1, th2, w2 = s
        d = th2 - th1
        den1 = (m1 + m2) * l1 - m2 * l1 * math.cos(d) ** 2
        dw1 = (m2 * l1 * w1**2 * math.sin(d) * math.cos(d) + m2 * g * math.sin(th2) * math.cos(d)
               + m2 * l2 * w2**2 * math.sin(d) - (m1 + m2) * g * math.sin(th1)) / den1
        den2 = (l2 / l1) * den1
        dw2 = (-m2 * l2 * w2**2 * math.sin(d) * math.cos(d) + (m1 + m2) * (g * math.sin(th1) * math.cos(d)
               - l1 * w1**2 * math.sin(d) - g * math.sin(th2))) / den2
        return np.array([w1, dw1, w2, dw2])

    traj = np.zeros((n + 1, 4))
    traj[0] = state
    for k in range(n):
        y = traj[k]
        k1 = deriv(y)
        k2 = deriv(y + dt / 2 * k1)
        k3 = deriv(y + dt / 2 * k2)
        k4 = deriv(y + dt * k3)
        traj[k + 1] = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return l1 * np.sin(traj[-1, 0]) + l2 * np.sin(traj[-1, 2])


R = np.random.default_rng(2)
PROGRAMS = [
    (phi4_action, (R.normal(size=(4, 5)), Params(0.2, 0.1, 0.05)), (0, 1)),
    (u1_wilson_action, (R.normal(size=(3, 3, 3, 3)), 1.2), (0, 1)),
    (su2_action, (R.normal(size=(2, 3, 3, 3)),), (0,)),
    (polyakov_loop, (R.normal(size=(2, 3, 3, 3)),), (0,)),
    (hmc_trajectory, (R.normal(size=(4, 4)), R.normal(size=(4, 4)), 0.2, 0.1), (0, 1, 2, 3)),
    (ising_mean_field, (0.2 * np.ones((4, 4)), R.uniform(0.1, 0.3, 4), 1.1), (0, 1, 2)),
    (ising_transfer, (0.4, 0.2), (0, 1)),
    (double_pendulum, (np.array([0.4, 0.1, -0.3, 0.2]), 1.0, 0.7), (0, 1, 2)),
]
CHANGING = (nbody_arrays, (R.normal(size=(4, 3)), R.normal(size=(4, 3)), R.uniform(1, 2, (4, 1))), (0, 1, 2))
