"""Photonics: FDTD, transfer matrices, FDFD, plane-wave expansion, beam propagation."""
import numpy as np
import scipy.linalg as la
from dataclasses import dataclass

C0 = 299792458.0
EPS0 = 8.854e-12
MU0 = 4e-7 * np.pi
IMP0 = np.sqrt(MU0 / EPS0)


# ---------- 1D FDTD, Schneider style


# ---------- 2D TMz FDTD with objective
class Grid2D:
    def __init__(self, eps, dx=1.0, courant=0.5):
        self.eps = eps
        self.nx, self.ny = eps.shape
        self.ez = np.zeros((self.nx, self.ny))
        self.hx = np.zeros((self.nx, self.ny))
        self.hy = np.zeros((self.nx, self.ny))
        self.dt = courant * dx
        self.t = 0

    def update_h(self):
        self.hx[:, :-1] -= self.dt * (self.ez[:, 1:] - self.ez[:, :-1])
        self.hy[:-1, :] += self.dt * (self.ez[1:, :] - self.ez[:-1, :])

    def update_e(self):
        curl = (self.hy[1:-1, 1:-1] - self.hy[:-2, 1:-1]) - (self.hx[1:-1, 1:-1] - self.hx[1:-1, :-2])
        self.ez[1:-1, 1:-1] += self.dt / self.eps[1:-1, 1:-1] * curl

    def step(self, source=None):
        self.update_h()
        self.update_e()
        if source is not None:
            i, j, fn = source
            self.ez[i, j] += fn(self.t)
        self.t += 1


def ricker(t, fp=0.1, t0=8.0):
    a = (np.pi * fp * (t - t0)) ** 2
    return (1 - 2 * a) * np.exp(-a)


def fdtd_2d(eps, nt=15):
    grid = Grid2D(eps)
    power = 0.0
    for _ in range(nt):
        grid.step(source=(3, 4, ricker))
        power += grid.ez[-3, 4] ** 2
    return power


# ---------- transfer matrix method
def snell(n1, n2, th):
    return np.arcsin(n1 * np.sin(th) / n2 + 0j)


def tmm(n_list, d_list, lam, theta0=0.0, pol="s"):
    """Reflectance and transmittance of a multilayer (Byrnes)."""
    num_layers = len(n_list)
    if len(d_list) != num_layers:
        raise ValueError("need as many thicknesses as indices")
    th = [theta0]
    for i in range(1, num_layers):
        th.append(snell(n_list[0], n_list[i], theta0))
    th = np.array(th)
    kz = 2 * np.pi * n_list * np.cos(th) / lam
    delta = kz * d_list
    M = np.eye(2, dtype=complex)
    for i in range(num_layers - 1):
        ni, nj = n_list[i], n_list[i + 1]
        ci, cj = np.cos(th[i]), np.cos(th[i + 1])
        if pol == "s":
            den = ni * ci + nj * cj
            r = (ni * ci - nj * cj) / den
            t = 2 * ni * ci / den
        elif pol == "p":
            den = nj * ci + ni * cj
            r = (nj * ci - ni * cj) / den
            t = 2 * ni * ci / den
        else:
            raise ValueError("pol")
        if 0 < i:
            P = np.array([[np.exp(-1j * delta[i]), 0], [0, np.exp(1j * delta[i])]], dtype=complex)
            M = M @ P
        M = M @ np.array([[1, r], [r, 1]], dtype=complex) / t
    r = M[1, 0] / M[0, 0]
    t = 1 / M[0, 0]
    R = abs(r) ** 2
    T = abs(t) ** 2 * np.real(n_list[-1] * np.cos(th[-1])) / np.real(n_list[0] * np.cos(th[0]))
    return {"r": r, "t": t, "R": R, "T": T, "A": 1 - R - T}


def coating_merit(d, n=np.array([1.0, 2.3, 1.38, 2.3, 1.52]), lams=np.linspace(0.45, 0.65, 4)):
    dl = np.concatenate([[0.0], d, [0.0]])
    return sum(tmm(n, dl, lam, theta0=0.3, pol=pol)["R"] for lam in lams for pol in ("s", "p")) / (2 * len(lams))


# ---------- FDFD
def fdfd_1d(eps, omega=0.8, npml=4, sigma_max=1.5):
    n = eps.size
    sigma = np.zeros(n)
    for i in range(npml):
        sigma[i] = sigma_max * ((npml - i) / npml) ** 3
        sigma[n - 1 - i] = sigma[i]
    s = 1 + 1j * sigma / omega
    D = np.zeros((n, n), dtype=complex)
    for i in range(n):
        D[i, i] = -1.0
        if i + 1 < n:
            D[i, i + 1] = 1.0
    Sinv = np.diag(1 / s)
    A = Sinv @ (-D.T) @ Sinv @ D + np.diag(omega**2 * eps)
    b = np.zeros(n, dtype=complex)
    b[npml + 2] = 1j * omega
    e = np.linalg.solve(A, b)
    return np.abs(e[-npml - 3]) ** 2


# ---------- plane wave expansion: band structure of a 1-D photonic crystal
def band_edges(eps, k=0.3, nbands=3):
    N = len(eps)
    ghat = np.fft.fft(1 / eps) / N
    G = np.arange(-3, 4)
    M = np.empty((len(G), len(G)), dtype=complex)
    for a, ga in enumerate(G):
        for b, gb in enumerate(G):
            M[a, b] = ghat[(ga - gb) % N] * (k + ga) * (k + gb)
    w2 = np.linalg.eigvalsh(M)
    freqs = np.sqrt(np.abs(w2[:nbands]))
    return freqs[1] - freqs[0]


# ---------- RCWA-like eigenproblem, general eig
def convmat(a, P):
    A = np.fft.fftshift(np.fft.fft(a)) / len(a)
    c = len(a) // 2
    half = P // 2
    out = np.zeros((P, P), dtype=complex)
    for r in range(P):
        for s in range(P):
            out[r, s] = A[c + r - s]
    return out


def rcwa_modes(eps, kx0=0.4, P=5, thickness=0.7):
    E = convmat(eps, P)
    m = np.arange(-(P // 2), P // 2 + 1)
    Kx = np.diag(kx0 + 0.9 * m).astype(complex)
    A = Kx @ Kx - E
    lam2, W = np.linalg.eig(A)
    q = np.sqrt(lam2 + 0j)
    X = np.diag(np.exp(-q * thickness))
    inc = np.zeros(P)
    inc[P // 2] = 1
    c = np.linalg.solve(W, inc)
    out = W @ X @ c
    return float(np.real(np.vdot(out, out)))


# ---------- split-step beam propagation
@dataclass
class BPMConfig:
    wavelength: float = 1.0
    n0: float = 1.45
    dz: float = 0.5
    steps: int = 6
    window: float = 16.0
    absorber: bool = True


def bpm(dn, width=1.0, cfg=BPMConfig()):
    N = dn.shape[0]
    x = np.linspace(-cfg.window / 2, cfg.window / 2, N, endpoint=False)
    kx = 2 * np.pi * np.fft.fftfreq(N, d=x[1] - x[0])
    k0 = 2 * np.pi / cfg.wavelength
    psi = np.exp(-(x / width) ** 2).astype(np.complex128)
    psi /= np.sqrt(np.sum(np.abs(psi) ** 2))
    H = np.exp(-1j * kx**2 / (2 * k0 * cfg.n0) * cfg.dz)
    if cfg.absorber:
        edge = np.exp(-((np.abs(x) / (cfg.window / 2)) ** 8))
    else:
        edge = np.ones_like(x)
    for _ in range(cfg.steps):
        psi = np.fft.ifft(H * np.fft.fft(psi))
        psi *= np.exp(1j * k0 * dn * cfg.dz)
        psi *= edge
    target = np.exp(-((x - 1.0) / width) ** 2)
    overlap = np.vdot(target, psi)
    return np.abs(overlap) ** 2 / np.sum(target**2)


# ---------- coupled-mode / ring resonator with scipy expm
def coupler_chain(kappas, beta=1.2, L=0.8):
    n = len(kappas) + 1
    H = np.zeros((n, n))
    H[np.arange(n), np.arange(n)] = beta
    for i, k in enumerate(kappas):
        H[i, i + 1] = H[i + 1, i] = k
    U = la.expm(-1j * H * L)
    a_in = np.eye(n)[:, 0]
    a_out = U @ a_in
    p = np.abs(a_out) ** 2
    return p[-1] / p.sum()


R = np.random.default_rng(1)
PROGRAMS = [
    (fdtd_2d, (R.uniform(1, 2, (8, 9)),), (0,)),
    (coating_merit, (np.array([0.11, 0.09, 0.12]),), (0,)),
    (tmm, (np.array([1.0, 2.3, 1.38 + 0.1j, 1.52]), np.array([0, 0.1, 0.12, 0]), 0.55, 0.2, "p"), (0, 1, 2, 3)),
    (fdfd_1d, (R.uniform(1, 2, 16), 0.8), (0, 1)),
    (band_edges, (R.uniform(1, 3, 12),), (0,)),
    (rcwa_modes, (R.uniform(1, 3, 16), 0.4), (0, 1)),
    (bpm, (R.uniform(0, 0.05, 32), 1.1), (0, 1)),
    (coupler_chain, (np.array([0.4, 0.7, 0.5]),), (0,)),
]
