"""Chemistry, images, signals, statistics, splines, optimisation layers."""
import functools
import math

import numpy as np
from scipy.special import betaln, ndtri, erf, expit
from scipy.integrate import solve_ivp


# ---------------- chemistry
def lennard_jones(pos, box, eps=1.0, sigma=1.0, rc=2.5):
    """LJ energy with the minimum image convention and a cut-off."""
    n = pos.shape[0]
    e = 0.0
    for i in range(n - 1):
        d = pos[i + 1 :] - pos[i]
        d -= box * np.round(d / box)
        r2 = np.sum(d * d, axis=1)
        mask = r2 < rc**2
        ir6 = (sigma**2 / r2[mask]) ** 3
        e += np.sum(4 * eps * (ir6**2 - ir6))
    return e


def md_verlet(pos, vel, box=3.0, dt=0.005, steps=3):
    def forces(x):
        F = np.zeros_like(x)
        for i in range(len(x)):
            for j in range(i + 1, len(x)):
                r = x[i] - x[j]
                r = r - box * np.rint(r / box)
                r2 = r @ r
                f = 24 * (2 / r2**7 - 1 / r2**4) * r
                F[i] += f
                F[j] -= f
        return F

    f = forces(pos)
    for _ in range(steps):
        vel = vel + 0.5 * dt * f
        pos = pos + dt * vel
        f = forces(pos)
        vel = vel + 0.5 * dt * f
    return np.sum(vel**2)


def boys0(t):
    return 0.5 * np.sqrt(np.pi / t) * erf(np.sqrt(t)) if t > 1e-6 else 1.0 - t / 3


def overlap(a, b, r2):
    p = a + b
    return (np.pi / p) ** 1.5 * np.exp(-a * b / p * r2)


def kinetic(a, b, r2):
    m = a * b / (a + b)
    return m * (3 - 2 * m * r2) * overlap(a, b, r2)


def h2_scf(R, zeta=1.24, max_iter=60, tol=1e-13):
    """Restricted Hartree-Fock of H2 in STO-3G."""
    alphas = np.array([0.109818, 0.405771, 2.22766]) * zeta**2
    coefs = np.array([0.444635, 0.535328, 0.154329])
    centers = [0.0, R]
    nb = 2
    S = np.zeros((nb, nb))
    H = np.zeros((nb, nb))
    for i in range(nb):
        for j in range(nb):
            r2 = (centers[i] - centers[j]) ** 2
            for a, ca in zip(alphas, coefs):
                for b, cb in zip(alphas, coefs):
                    na, nb_ = (2 * a / np.pi) ** 0.75, (2 * b / np.pi) ** 0.75
                    c = ca * cb * na * nb_
                    S[i, j] += c * overlap(a, b, r2)
                    H[i, j] += c * kinetic(a, b, r2)
                    p = a + b
                    P = (a * centers[i] + b * centers[j]) / p
                    for Z in centers:
                        H[i, j] -= c * 2 * np.pi / p * np.exp(-a * b / p * r2) * boys0(p * (P - Z) ** 2 + 1e-12)
    w, U = np.linalg.eigh(S)
    X = U @ np.diag(w**-0.5) @ U.T
    P = np.zeros((nb, nb))
    E_old = 0.0
    for it in range(max_iter):
        J = 0.35 * np.diag(np.diag(P)) + 0.2 * P
        F = H + J
        e, C = np.linalg.eigh(X.T @ F @ X)
        C = X @ C
        P = 2 * np.outer(C[:, 0], C[:, 0])
        E = 0.5 * np.sum(P * (H + F))
        if abs(E - E_old) < tol:
            break
        E_old = E
    return E + 1 / R


def kinetics(k, c0, t_end=1.0):
    """Robertson-like network by solve_ivp."""
    def rhs(t, c):
        a, b, d = c
        r1, r2, r3 = k[0] * a, k[1] * b * d, k[2] * b * b
        return [-r1 + r2, r1 - r2 - r3, r3]

    sol = solve_ivp(rhs, (0.0, t_end), c0, method="RK45", rtol=1e-9, atol=1e-11)
    return sol.y[0, -1] + 2 * sol.y[2, -1]


# ---------------- images
def horn_schunck(I1, I2, alpha=0.7, n_iter=5):
    Ix = 0.5 * (np.roll(I1, -1, 1) - np.roll(I1, 1, 1))
    Iy = 0.5 * (np.roll(I1, -1, 0) - np.roll(I1, 1, 0))
    It = I2 - I1
    u = np.zeros_like(I1)
    v = np.zeros_like(I1)
    for _ in range(n_iter):
        ub = (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)) / 4
        vb = (np.roll(v, 1, 0) + np.roll(v, -1, 0) + np.roll(v, 1, 1) + np.roll(v, -1, 1)) / 4
        der = (Ix * ub + Iy * vb + It) / (alpha**2 + Ix**2 + Iy**2)
        u = ub - Ix * der
        v = vb - Iy * der
    return u, v


def bilateral(img, sigma_s=1.0, sigma_r=0.3, radius=1):
    h, w = img.shape
    out = np.zeros_like(img)
    padded = np.pad(img, radius, mode="reflect")
    for i in range(h):
        for j in range(w):
            num = den = 0.0
            for di in range(-radius, radius + 1):
                for dj in range(-radius, radius + 1):
                    q = padded[i + radius + di, j + radius + dj]
                    wgt = math.exp(-(di**2 + dj**2) / (2 * sigma_s**2)) * np.exp(-((q - img[i, j]) ** 2) / (2 * sigma_r**2))
                    num += wgt * q
                    den += wgt
            out[i, j] = num / den
    return out


def tv_denoise(u, f, lam=0.3, eps=1e-3):
    gx = np.diff(u, axis=1, append=u[:, -1:])
    gy = np.diff(u, axis=0, append=u[-1:, :])
    return 0.5 * np.sum((u - f) ** 2) + lam * np.sum(np.sqrt(gx**2 + gy**2 + eps))


# ---------------- signals


def stft_loss(x, y, n=8, hop=4):
    win = np.hanning(n)
    loss = 0
    for s in range(0, len(x) - n + 1, hop):
        X = np.abs(np.fft.rfft(win * x[s : s + n]))
        Y = np.abs(np.fft.rfft(win * y[s : s + n]))
        loss += np.mean((np.log(X + 1e-3) - np.log(Y + 1e-3)) ** 2)
    return loss


# ---------------- statistics
def beta_regression(params, X, y):
    b, log_phi = params[:-1], params[-1]
    mu = expit(X @ b)
    phi = np.exp(log_phi)
    a, c = mu * phi, (1 - mu) * phi
    ll = (a - 1) * np.log(y) + (c - 1) * np.log1p(-y) - betaln(a, c)
    return -ll.sum()


def ordinal_logit(params, X, y, K=4):
    beta = params[: X.shape[1]]
    cuts = np.cumsum(np.concatenate([params[X.shape[1] : X.shape[1] + 1], np.exp(params[X.shape[1] + 1 :])]))
    eta = X @ beta
    cdf = expit(cuts[None, :] - eta[:, None])
    padded = np.column_stack([np.zeros(len(y)), cdf, np.ones(len(y))])
    p = padded[np.arange(len(y)), y + 1] - padded[np.arange(len(y)), y]
    return -np.sum(np.log(p))


def gaussian_copula(rho, u):
    z = ndtri(u)
    d = z.shape[1]
    Rm = rho * np.ones((d, d)) + (1 - rho) * np.eye(d)
    sign, logdet = np.linalg.slogdet(Rm)
    Ri = np.linalg.inv(Rm) - np.eye(d)
    return -0.5 * len(u) * logdet - 0.5 * np.einsum("ij,jk,ik->", z, Ri, z)


def clayton(theta, u, v):
    return np.sum(np.log1p(theta) - (1 + theta) * (np.log(u) + np.log(v)) - (2 + 1 / theta) * np.log(u**-theta + v**-theta - 1))


def irls_logistic(X, y, lam, iters=20):
    w = np.zeros(X.shape[1])
    for it in range(iters):
        p = expit(X @ w)
        s = p * (1 - p)
        H = X.T @ (s[:, None] * X) + lam * np.eye(len(w))
        g = X.T @ (p - y) + lam * w
        step = np.linalg.solve(H, g)
        w = w - step
        if np.linalg.norm(step) < 1e-13:
            break
    return w


# ---------------- splines, optimisation layers
def natural_cubic(x, y, xq):
    n = len(x) - 1
    h = np.diff(x)
    A = np.zeros((n + 1, n + 1))
    r = np.zeros(n + 1)
    A[0, 0] = A[n, n] = 1.0
    for i in range(1, n):
        A[i, i - 1] = h[i - 1]
        A[i, i] = 2 * (h[i - 1] + h[i])
        A[i, i + 1] = h[i]
        r[i] = 3 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])
    c = np.linalg.solve(A, r)
    b = (y[1:] - y[:-1]) / h - h * (2 * c[:-1] + c[1:]) / 3
    d = (c[1:] - c[:-1]) / (3 * h)
    k = np.clip(np.searchsorted(x, xq) - 1, 0, n - 1)
    t = xq - x[k]
    return y[k] + b[k] * t + c[k] * t**2 + d[k] * t**3


@functools.lru_cache(maxsize=None)
def binom(n, k):
    return math.comb(n, k)


def bezier_length(P, m=30):
    t = np.linspace(0, 1, m)
    n = len(P) - 1
    curve = sum(binom(n, k) * ((1 - t) ** (n - k) * t**k)[:, None] * P[k] for k in range(n + 1))
    return np.linalg.norm(np.diff(curve, axis=0), axis=1).sum()


def bspline_basis(i, k, t, x):
    """Cox-de Boor recursion."""
    if k == 0:
        return 1.0 if t[i] <= x < t[i + 1] else 0.0
    left = 0.0 if t[i + k] == t[i] else (x - t[i]) / (t[i + k] - t[i]) * bspline_basis(i, k - 1, t, x)
    right = 0.0 if t[i + k + 1] == t[i + 1] else (t[i + k + 1] - x) / (t[i + k + 1] - t[i + 1]) * bspline_basis(i + 1, k - 1, t, x)
    return left + right


def spline_fit(c, x, y):
    t = np.array([0, 0, 0, 0.3, 0.7, 1, 1, 1.0])
    pred = np.array([sum(c[i] * bspline_basis(i, 2, t, xi) for i in range(len(c))) for xi in x])
    return np.sum((pred - y) ** 2)


def qp_layer(Q, q, A, b):
    """Equality constrained QP by its KKT system."""
    n, m = len(q), len(b)
    K = np.block([[Q + np.eye(n), A.T], [A, np.zeros((m, m))]])
    sol = np.linalg.solve(K, np.concatenate([-q, b]))
    return sol[:n]


def sinkhorn(C, a, b, eps=0.3, n_iter=10):
    K = np.exp(-C / eps)
    u = np.ones_like(a)
    v = np.ones_like(b)
    for _ in range(n_iter):
        u = a / (K @ v)
        v = b / (K.T @ u)
    P = u[:, None] * K * v[None, :]
    return np.sum(P * C)


def fixed_point_deq(W, x, tol=1e-14):
    z = np.zeros_like(x)
    for k in range(200):
        z_new = np.tanh(W @ z + x)
        if np.linalg.norm(z_new - z) < tol:
            return z_new
        z = z_new
    return z


R = np.random.default_rng(9)
U = lambda *s: R.uniform(0.5, 1.5, s)
N = lambda *s: R.normal(size=s)
PROGRAMS = [
    (lennard_jones, (np.array([[0.1, 0.2, 0.0], [1.1, 0.1, 0.3], [0.2, 1.3, 0.4], [2.5, 2.5, 0.1]]), 3.0), (0, 1)),
    (md_verlet, (np.array([[0.1, 0.2], [1.2, 0.1], [0.2, 1.4]]), N(3, 2)), (0, 1)),
    (h2_scf, (1.4, 1.24), (0, 1)),
    (kinetics, (np.array([0.4, 1.1, 0.7]), np.array([1.0, 0.1, 0.05])), (0, 1)),
    (horn_schunck, (U(4, 5), U(4, 5)), (0, 1)),
    (bilateral, (U(4, 4), 1.0, 0.3), (0, 1, 2)),
    (tv_denoise, (U(4, 5), U(4, 5), 0.3), (0, 1, 2)),
    (stft_loss, (N(20), N(20)), (0,)),
    (beta_regression, (np.array([0.2, -0.3, 1.0]), N(8, 2), R.uniform(0.1, 0.9, 8)), (0,)),
    (ordinal_logit, (np.array([0.3, -0.2, -0.5, 0.1, 0.2]), N(9, 2), R.integers(0, 4, 9)), (0,)),
    (gaussian_copula, (0.4, R.uniform(0.1, 0.9, (6, 3))), (0, 1)),
    (clayton, (1.3, R.uniform(0.1, 0.9, 6), R.uniform(0.1, 0.9, 6)), (0, 1, 2)),
    (irls_logistic, (N(9, 2), R.integers(0, 2, 9).astype(float), 0.5), (0, 2)),
    (natural_cubic, (np.array([0, 0.4, 1.1, 1.7, 2.0]), N(5), np.array([0.2, 0.9, 1.3, 1.9])), (0, 1, 2)),
    (bezier_length, (N(4, 2),), (0,)),
    (spline_fit, (N(5), np.array([0.1, 0.35, 0.6, 0.9]), N(4)), (0, 1)),
    (qp_layer, (np.eye(3) * 2, N(3), N(1, 3), N(1)), (0, 1, 2, 3)),
    (sinkhorn, (U(3, 4), np.ones(3) / 3, np.ones(4) / 4), (0, 1, 2)),
    (fixed_point_deq, (0.2 * N(3, 3), N(3)), (0, 1)),
]
