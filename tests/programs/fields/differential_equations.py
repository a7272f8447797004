"""Finite differences, finite elements, relaxation."""
import numpy as np
from scipy.linalg import solve_banded


def heat_explicit(u0, alpha, nt=20, dx=0.1, dt=0.002):
    u = u0.copy()
    for n in range(nt):
        un = u.copy()
        u[1:-1] = un[1:-1] + alpha * dt / dx**2 * (un[2:] - 2 * un[1:-1] + un[:-2])
        u[0] = 0.0
        u[-1] = u[-2]
    return np.sum(u**2) * dx


def crank_nicolson(u, alpha, nt=5, dx=0.1, dt=0.01):
    n = len(u)
    r = alpha * dt / (2 * dx**2)
    ab = np.zeros((3, n))
    ab[0, 1:] = -r
    ab[1, :] = 1 + 2 * r
    ab[2, :-1] = -r
    for _ in range(nt):
        rhs = (1 - 2 * r) * u
        rhs[1:] += r * u[:-1]
        rhs[:-1] += r * u[1:]
        u = solve_banded((1, 1), ab, rhs)
    return u


def thomas(a, b, c, d):
    """Tridiagonal solve, in place on copies."""
    n = len(d)
    cp, dp = np.empty(n), np.empty(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m if i < n - 1 else 0.0
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


def adi(u, D, nt=2, h=0.2, dt=0.01):
    """Peaceman-Rachford ADI for 2-D diffusion with zero boundaries."""
    nx, ny = u.shape
    lam = D * dt / (2 * h * h)
    for step in range(nt):
        half = np.zeros_like(u)
        for j in range(1, ny - 1):
            rhs = u[1:-1, j] + lam * (u[1:-1, j + 1] - 2 * u[1:-1, j] + u[1:-1, j - 1])
            m = nx - 2
            half[1:-1, j] = thomas(-lam * np.ones(m), (1 + 2 * lam) * np.ones(m), -lam * np.ones(m), rhs)
        new = np.zeros_like(u)
        for i in range(1, nx - 1):
            rhs = half[i, 1:-1] + lam * (half[i + 1, 1:-1] - 2 * half[i, 1:-1] + half[i - 1, 1:-1])
            m = ny - 2
            new[i, 1:-1] = thomas(-lam * np.ones(m), (1 + 2 * lam) * np.ones(m), -lam * np.ones(m), rhs)
        u = new
    return np.sum(u[1:-1, 1:-1] ** 2)


def burgers_upwind(u, nu=0.02, nt=10, dt=0.01):
    nx = u.size
    dx = 2 * np.pi / nx
    for n in range(nt):
        un = u
        up = np.roll(un, -1)
        um = np.roll(un, 1)
        conv = np.where(un > 0, un * (un - um) / dx, un * (up - un) / dx)
        u = un - dt * conv + nu * dt / dx**2 * (up - 2 * un + um)
    return u


def burgers_godunov(u0, dt=0.01, dx=0.1, nt=8):
    u = np.array(u0)
    for _ in range(nt):
        ul, ur = u[:-1], u[1:]
        fl, fr = 0.5 * ul**2, 0.5 * ur**2
        flux = np.maximum(np.where(ul > 0, fl, 0), np.where(ur < 0, fr, 0))
        u[1:-1] -= dt / dx * (flux[1:] - flux[:-1])
    return u.sum() + np.dot(u, u)


def build_up_b(b, rho, dt, u, v, dx, dy):
    b[1:-1, 1:-1] = (rho * (1 / dt * ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx) + (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy))
                     - ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)) ** 2
                     - 2 * ((u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * dx))
                     - ((v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) ** 2))
    return b


def pressure_poisson(p, dx, dy, b, nit=4):
    pn = np.empty_like(p)
    pn = p.copy()
    for q in range(nit):
        pn = p.copy()
        p[1:-1, 1:-1] = (((pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2 + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2)
                         / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1])
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0
    return p


def cavity(lid, nu, nt=3, n=6, rho=1.0, dt=0.001):
    """Barba's lid-driven cavity."""
    dx = dy = 2.0 / (n - 1)
    u = np.zeros((n, n))
    v = np.zeros((n, n))
    p = np.zeros((n, n))
    b = np.zeros((n, n))
    for step in range(nt):
        un = u.copy()
        vn = v.copy()
        b = build_up_b(b, rho, dt, u, v, dx, dy)
        p = pressure_poisson(p, dx, dy, b)
        u[1:-1, 1:-1] = (un[1:-1, 1:-1] - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
                         - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[0:-2, 1:-1])
                         - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
                         + nu * (dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2])
                                 + dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[0:-2, 1:-1])))
        v[1:-1, 1:-1] = (vn[1:-1, 1:-1] - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, 0:-2])
                         - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[0:-2, 1:-1])
                         - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
                         + nu * (dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, 0:-2])
                                 + dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[0:-2, 1:-1])))
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = lid
        v[0, :] = v[-1, :] = v[:, 0] = v[:, -1] = 0
    return np.sum(u**2 + v**2) + p[2, 2]


def wave_2d(c, src, nt=8, h=1.0, dt=0.3):
    nx, nz = c.shape
    u_prev = np.zeros((nx, nz))
    u = np.zeros((nx, nz))
    seis = np.zeros((nt, nx))
    for it in range(nt):
        lap = np.zeros((nx, nz))
        lap[1:-1, 1:-1] = (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]) / h**2
        u_next = 2 * u - u_prev + (c * dt) ** 2 * lap
        u_next[nx // 2, 1] += src[it] * dt**2
        u_prev, u = u, u_next
        seis[it] = u[:, 2]
    return seis


def fem_bar(E, A, f, n_el=5, L=1.0):
    """1-D bar, linear elements, dense assembly."""
    n_nodes = n_el + 1
    h = L / n_el
    K = np.zeros((n_nodes, n_nodes))
    F = np.zeros(n_nodes)
    for e in range(n_el):
        ke = E[e] * A / h * np.array([[1, -1], [-1, 1]])
        dofs = [e, e + 1]
        for a in range(2):
            for b in range(2):
                K[dofs[a], dofs[b]] += ke[a, b]
            F[dofs[a]] += f * h / 2
    free = np.arange(1, n_nodes)
    u = np.zeros(n_nodes)
    u[free] = np.linalg.solve(K[np.ix_(free, free)], F[free])
    return u[-1]


def poisson_triangles(kappa, coords, tris, fixed):
    """P1 finite elements."""
    n = len(coords)
    K = np.zeros((n, n))
    b = np.zeros(n)
    for k, t in enumerate(tris):
        x = coords[t, 0]
        y = coords[t, 1]
        area = 0.5 * ((x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]))
        B = np.array([[y[1] - y[2], y[2] - y[0], y[0] - y[1]], [x[2] - x[1], x[0] - x[2], x[1] - x[0]]]) / (2 * area)
        K[np.ix_(t, t)] += kappa[k] * area * B.T @ B
        b[t] += area / 3
    K[fixed, :] = 0
    K[fixed, fixed] = 1
    b[fixed] = 0
    u = np.linalg.solve(K, b)
    return 0.5 * u @ K @ u + u.max()


def sor_poisson(f, omega=1.5, tol=1e-13, maxit=500):
    n = f.shape[0]
    h = 1.0 / (n - 1)
    u = np.zeros_like(f)
    res = 1.0
    it = 0
    while res > tol and it < maxit:
        res = 0.0
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                new = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] + h * h * f[i, j])
                d = omega * (new - u[i, j])
                u[i, j] += d
                res = max(res, abs(d))
        it += 1
    return u


def spectral_kdv(u0, nt=3, dt=1e-3, L=10.0):
    n = len(u0)
    k = 2 * np.pi / L * np.fft.fftfreq(n, 1.0 / n)
    E = np.exp(1j * k**3 * dt)
    v = np.fft.fft(u0)
    for _ in range(nt):
        v = E * v
        u = np.real(np.fft.ifft(v))
        v = v - 0.5j * k * dt * 6 * np.fft.fft(0.5 * u**2)
    u = np.fft.ifft(v).real
    return np.trapezoid(u**4, dx=L / n)


R = np.random.default_rng(5)
coords = np.array([[0, 0], [1, 0.1], [0.1, 1], [1, 1.1], [2, 0.2], [2, 1.0]])
tris = np.array([[0, 1, 2], [1, 3, 2], [1, 4, 3], [4, 5, 3]])
PROGRAMS = [
    (heat_explicit, (R.uniform(0.5, 1.5, 9), 0.7), (0, 1)),
    (crank_nicolson, (R.uniform(0.5, 1.5, 6), 0.7), (0, 1)),
    (adi, (R.uniform(0.5, 1.5, (5, 6)), 0.8), (0, 1)),
    (burgers_upwind, (R.uniform(0.5, 1.5, 8) * np.array([1, -1] * 4), 0.02), (0, 1)),
    (burgers_godunov, (R.uniform(0.5, 1.5, 8) * np.array([1, 1, 1, 1, -1, -1, -1, -1.0]),), (0,)),
    (cavity, (1.0, 0.1), (0, 1)),
    (wave_2d, (R.uniform(0.8, 1.2, (6, 7)), R.normal(size=8)), (0, 1)),
    (fem_bar, (R.uniform(1, 2, 5), 0.7, 1.1), (0, 1, 2)),
    (poisson_triangles, (R.uniform(1, 2, 4), coords, tris, np.array([0, 5])), (0, 1)),
    (sor_poisson, (R.uniform(0.5, 1.5, (5, 5)),), (0,)),
    (spectral_kdv, (R.uniform(0.5, 1.5, 8),), (0,)),
]
