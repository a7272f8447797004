"""Thermodynamics and chemical engineering."""
import math
import warnings

import numpy as np

R_GAS = 8.314462618

CRITICAL = {
    "methane": dict(Tc=190.56, Pc=4.599e6, omega=0.011),
    "propane": dict(Tc=369.83, Pc=4.248e6, omega=0.152),
}


def pr_params(T, Tc, Pc, omega):
    kappa = 0.37464 + 1.54226 * omega - 0.26992 * omega**2
    alpha = (1 + kappa * (1 - math.sqrt(T / Tc))) ** 2
    a = 0.45724 * R_GAS**2 * Tc**2 / Pc * alpha
    b = 0.07780 * R_GAS * Tc / Pc
    return a, b


def peng_robinson_Z(T, P, species="propane", phase="vapor", tol=1e-13, max_iter=100):
    """Compressibility factor by Newton iterations on the cubic."""
    c = CRITICAL[species]
    a, b = pr_params(T, **c)
    A = a * P / (R_GAS * T) ** 2
    B = b * P / (R_GAS * T)
    Z = 1.0 if phase == "vapor" else B
    for it in range(max_iter):
        f = Z**3 - (1 - B) * Z**2 + (A - 3 * B**2 - 2 * B) * Z - (A * B - B**2 - B**3)
        df = 3 * Z**2 - 2 * (1 - B) * Z + (A - 3 * B**2 - 2 * B)
        dZ = f / df
        Z -= dZ
        if abs(dZ) < tol:
            break
    else:
        warnings.warn("PR EOS did not converge")
    return Z


def ln_phi(T, P):
    Z = peng_robinson_Z(T, P)
    a, b = pr_params(T, **CRITICAL["propane"])
    A = a * P / (R_GAS * T) ** 2
    B = b * P / (R_GAS * T)
    s2 = np.sqrt(2)
    return Z - 1 - np.log(Z - B) - A / (2 * s2 * B) * np.log((Z + (1 + s2) * B) / (Z + (1 - s2) * B))


def vdw_work(V1, V2, T, n=1.0, a=0.364, b=4.27e-5, npts=201):
    V = np.linspace(V1, V2, npts)
    P = n * R_GAS * T / (V - n * b) - a * n**2 / V**2
    return np.trapezoid(P, V)


def rachford_rice(z, K, tol=1e-14):
    """Vapour fraction and phase compositions."""
    def g(beta):
        return np.sum(z * (K - 1) / (1 + beta * (K - 1)))

    def dg(beta):
        return -np.sum(z * (K - 1) ** 2 / (1 + beta * (K - 1)) ** 2)

    if g(0.0) < 0:
        return 0.0, z, K * z
    if g(1.0) > 0:
        return 1.0, z / K, z
    beta = 0.5
    delta = 1.0
    while abs(delta) > tol:
        delta = g(beta) / dg(beta)
        beta = beta - delta
    x = z / (1 + beta * (K - 1))
    y = K * x
    return beta, x, y


def flash_objective(z, T, P):
    Tb = np.array([231.0, 272.7, 309.2])
    K = np.exp(10.5 * (1 - Tb / T)) * 1.01325e5 / P
    beta, x, y = rachford_rice(z / z.sum(), K)
    return beta + (x * np.log(x)).sum() + y[0]


def wilson_gamma(x, Lam):
    n = len(x)
    lng = np.zeros(n)
    for i in range(n):
        s1 = sum(x[j] * Lam[i, j] for j in range(n))
        s2 = 0
        for k in range(n):
            s2 += x[k] * Lam[k, i] / sum(x[j] * Lam[k, j] for j in range(n))
        lng[i] = 1 - math.log(s1) - s2
    return np.exp(lng)


def excess_gibbs(x1, dlam, T=330.0):
    x = np.array([x1, 1 - x1])
    v = np.array([40.7, 18.1])
    Lam = np.ones((2, 2))
    Lam[0, 1] = v[1] / v[0] * np.exp(-dlam[0] / (1.987 * T))
    Lam[1, 0] = v[0] / v[1] * np.exp(-dlam[1] / (1.987 * T))
    return R_GAS * T * np.dot(x, np.log(wilson_gamma(x, Lam)))


def nrtl(x, tau, alpha=0.3):
    """ln gamma for NRTL (vectorised)."""
    G = np.exp(-alpha * tau)
    xG = x @ G
    xtG = x @ (tau * G)
    ratio = xtG / xG
    return ratio + (G * (tau - ratio[None, :])) @ (x / xG)


def equilibrium(T, n0, P=1.0):
    """Steam reforming style extent by Newton on ln K, log-sum constraint."""
    dG = -41000.0 + 42.0 * T
    K = np.exp(-dG / (R_GAS * T))
    nu = np.array([-1, -1, 1, 1])
    xi = 0.5 * min(n0[0], n0[1])
    for _ in range(60):
        n = n0 + nu * xi
        if np.any(n <= 0):
            xi *= 0.5
            continue
        y = n / n.sum()
        F = np.log(np.prod((y * P) ** nu)) - np.log(K)
        dF = np.sum(nu**2 / n)
        step = F / dF
        xi = xi - step
        if abs(step) < 1e-14:
            break
    return xi


def antoine(T, A, B, C):
    return 10 ** (A - B / (C + T))


def bubble_point(x, P=101.325):
    params = [(6.0, 1200.0, 220.0), (6.2, 1300.0, 215.0)]
    f = lambda T: sum(xi * antoine(T, *p) for xi, p in zip(x, params)) - P / 7.50062
    T = 60.0
    err = 1.0
    n = 0
    while err > 1e-12 and n < 50:
        h = 1e-4
        df = (f(T + h) - f(T - h)) / (2 * h)
        Tn = T - f(T) / df
        err = abs(Tn - T)
        T = Tn
        n += 1
    return T


def pfr(k, conv_T, nz=30):
    """Plug flow reactor, adiabatic, explicit Euler with config dict."""
    cfg = {"E": 8.0e3, "dH": -2.0e4, "cp": 75.0, "length": 1.0}
    C = np.array([1.0, 0.0, 0.0])
    T = conv_T
    dz = cfg["length"] / nz
    profile = np.zeros((nz + 1, 4))
    profile[0] = np.append(C, T)
    for i in range(nz):
        r1 = k[0] * np.exp(-cfg["E"] / R_GAS * (1 / T - 1 / 300.0)) * C[0]
        r2 = k[1] * C[1]
        dC = np.array([-r1, r1 - r2, r2])
        C = C + dz * dC
        T = T - dz * cfg["dH"] * r1 / cfg["cp"] / 100
        profile[i + 1, :3] = C
        profile[i + 1, 3] = T
    return profile[:, 1].max() + 1e-3 * profile[-1, 3]


R = np.random.default_rng(4)
PROGRAMS = [
    (peng_robinson_Z, (320.0, 1e5), (0, 1)),
    (ln_phi, (320.0, 1e5), (0, 1)),
    (vdw_work, (1e-3, 3e-3, 300.0), (0, 1, 2)),
    (flash_objective, (np.array([0.3, 0.4, 0.3]), 290.0, 2e5), (0, 1, 2)),
    (excess_gibbs, (0.3, np.array([200.0, 900.0])), (0, 1)),
    (nrtl, (np.array([0.2, 0.5, 0.3]), R.normal(size=(3, 3))), (0, 1)),
    (equilibrium, (700.0, np.array([1.0, 1.2, 0.1, 0.2])), (0, 1)),
    (bubble_point, (np.array([0.4, 0.6]),), (0,)),
    (pfr, (np.array([2.0, 0.7]), 310.0), (0, 1)),
]
