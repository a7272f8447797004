"""Adjoints of kernels as an expert writes them by hand: the measure for generated code.

Each runs its kernel's own operations, in place where that works in place, and returns the outputs and
`bprop`, which takes a cotangent for each of them and returns those of the active arguments. It changes none
of what it is given, and can be called again.
"""

from __future__ import annotations

import numpy as np

from . import bodies, products, solvers, stencils, tables

__all__ = ["ADJOINTS"]


# ---------------------------------------------------------------- stencils: linear, so nothing is kept


def jacobi_1d(steps, A, B):
    stencils.jacobi_1d(steps, A, B)

    def bprop(dA, dB):
        dA, dB = dA.copy(), dB.copy()
        for _ in range(steps):
            for to, of in ((dA, dB), (dB, dA)):
                d = to[1:-1] / 3
                to[1:-1] = 0
                of[:-2] += d
                of[1:-1] += d
                of[2:] += d
        return dA, dB

    return (A, B), bprop


def jacobi_2d(steps, A, B):
    stencils.jacobi_2d(steps, A, B)

    def bprop(dA, dB):
        dA, dB = dA.copy(), dB.copy()
        for _ in range(steps):
            for to, of in ((dA, dB), (dB, dA)):
                d = 0.2 * to[1:-1, 1:-1]
                to[1:-1, 1:-1] = 0
                of[1:-1, 1:-1] += d
                of[1:-1, :-2] += d
                of[1:-1, 2:] += d
                of[2:, 1:-1] += d
                of[:-2, 1:-1] += d
        return dA, dB

    return (A, B), bprop


def heat_3d(steps, A, B):
    stencils.heat_3d(steps, A, B)

    def bprop(dA, dB):
        dA, dB = dA.copy(), dB.copy()
        for _ in range(steps):
            for to, of in ((dA, dB), (dB, dA)):
                d = 0.125 * to[1:-1, 1:-1, 1:-1]
                to[1:-1, 1:-1, 1:-1] = 0
                of[2:, 1:-1, 1:-1] += d
                of[:-2, 1:-1, 1:-1] += d
                of[1:-1, 2:, 1:-1] += d
                of[1:-1, :-2, 1:-1] += d
                of[1:-1, 1:-1, 2:] += d
                of[1:-1, 1:-1, :-2] += d
                of[1:-1, 1:-1, 1:-1] += 2 * d
        return dA, dB

    return (A, B), bprop


def fdtd_2d(steps, ex, ey, hz, source):
    stencils.fdtd_2d(steps, ex, ey, hz, source)

    def bprop(dex, dey, dhz):
        dex, dey, dhz = dex.copy(), dey.copy(), dhz.copy()
        dsource = np.zeros_like(source)
        for t in range(steps - 1, -1, -1):
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
        return dex, dey, dhz, dsource

    return (ex, ey, hz), bprop


def seidel_2d(steps, A):
    stencils.seidel_2d(steps, A)
    n = A.shape[0]

    def bprop(dA):
        dA = dA.copy()
        for _ in range(steps):
            for i in range(n - 2, 0, -1):
                for j in range(n - 2, 0, -1):
                    dA[i, j] /= 9.0
                    dA[i, j - 1] += dA[i, j]
                d = dA[i, 1:-1].copy()
                dA[i - 1, :-2] += d
                dA[i - 1, 1:-1] += d
                dA[i - 1, 2:] += d
                dA[i, 2:] += d
                dA[i + 1, :-2] += d
                dA[i + 1, 1:-1] += d
                dA[i + 1, 2:] += d
        return (dA,)

    return (A,), bprop


# ---------------------------------------------------------------- solvers: all that is read is in the result


def lu(A):
    solvers.lu(A)
    n = A.shape[0]

    def bprop(dA):
        dA = dA.copy()
        for i in range(n - 1, -1, -1):
            for j in range(n - 1, i - 1, -1):
                d = dA[i, j]
                dA[i, :i] -= d * A[:i, j]
                dA[:i, j] -= d * A[i, :i]
            for j in range(i - 1, -1, -1):
                dA[i, j] /= A[j, j]
                d = dA[i, j]
                dA[j, j] -= d * A[i, j]
                dA[i, :j] -= d * A[:j, j]
                dA[:j, j] -= d * A[i, :j]
        return (dA,)

    return (A,), bprop


def cholesky(A):
    solvers.cholesky(A)
    n = A.shape[0]

    def bprop(dA):
        dA = dA.copy()
        for i in range(n - 1, 0, -1):
            dA[i, i] /= 2 * A[i, i]
            dA[i, :i] -= 2 * dA[i, i] * A[i, :i]
            for j in range(i - 1, -1, -1):
                dA[i, j] /= A[j, j]
                d = dA[i, j]
                dA[j, j] -= d * A[i, j]
                dA[i, :j] -= d * A[j, :j]
                dA[j, :j] -= d * A[i, :j]
        dA[0, 0] /= 2 * A[0, 0]
        return (dA,)

    return (A,), bprop


def trisolv(L, x, b):
    solvers.trisolv(L, x, b)

    def bprop(dx):
        dx = dx.copy()
        dL = np.zeros_like(L)
        db = np.empty_like(b)
        for i in range(L.shape[0] - 1, -1, -1):
            d = dx[i] / L[i, i]
            db[i] = d
            dL[i, :i] = -d * x[:i]
            dL[i, i] = -d * x[i]
            dx[:i] -= d * L[i, :i]
        return dL, np.zeros_like(dx), db

    return (x,), bprop


# ---------------------------------------------------------------- products


def gemm(alpha, beta, C, A, B):
    C_in = C.copy()
    scaled = alpha * A
    C[:] = scaled @ B + beta * C

    def bprop(dC):
        dscaled = dC @ B.T
        return np.vdot(dscaled, A), np.vdot(dC, C_in), beta * dC, alpha * dscaled, scaled.T @ dC

    return (C,), bprop


def two_mm(alpha, beta, A, B, C, D):
    D_in = D.copy()
    scaled = alpha * A
    product = scaled @ B
    D[:] = product @ C + beta * D

    def bprop(dD):
        dproduct = dD @ C.T
        dscaled = dproduct @ B.T
        return (
            np.vdot(dscaled, A),
            np.vdot(dD, D_in),
            alpha * dscaled,
            scaled.T @ dproduct,
            product.T @ dD,
            beta * dD,
        )

    return (D,), bprop


def gesummv(alpha, beta, A, B, x):
    scaled_A = alpha * A
    scaled_B = beta * B

    def bprop(dout):
        outer = np.outer(dout, x)
        return (
            dout @ (A @ x),
            dout @ (B @ x),
            alpha * outer,
            beta * outer,
            dout @ scaled_A + dout @ scaled_B,
        )

    return (scaled_A @ x + scaled_B @ x,), bprop


def atax(A, x):
    Ax = A @ x

    def bprop(dout):
        dAx = A @ dout
        return np.outer(Ax, dout) + np.outer(dAx, x), dAx @ A

    return (Ax @ A,), bprop


def mvt(x1, x2, y1, y2, A):
    products.mvt(x1, x2, y1, y2, A)

    def bprop(dx1, dx2):
        return dx1.copy(), dx2.copy(), dx1 @ A, A @ dx2, np.outer(dx1, y1) + np.outer(y2, dx2)

    return (x1, x2), bprop


def doitgen(A, C4):
    A_in = A.copy()
    products.doitgen(A, C4)

    def bprop(dA):
        dA = dA.copy()
        dC4 = np.zeros_like(C4)
        for r in range(A.shape[0]):
            for q in range(A.shape[1]):
                dC4 += np.outer(A_in[r, q, :], dA[r, q, :])
                dA[r, q, :] = C4 @ dA[r, q, :]
        return dA, dC4

    return (A,), bprop


# ---------------------------------------------------------------- tables and fields


def covariance(float_n, data):
    out = tables.covariance(float_n, data)

    def bprop(dout):
        m = data.shape[1]
        ddata = np.zeros_like(data)
        for i in range(m):
            d = (dout[i, i:m] + dout[i:m, i]) / (float_n - 1.0)
            d[0] -= dout[i, i] / (float_n - 1.0)
            ddata[:, i] += data[:, i:m] @ d
            ddata[:, i:m] += np.outer(data[:, i], d)
        ddata -= np.mean(ddata, axis=0)
        return (ddata,)

    return (out,), bprop


def go_fast(a):
    values = []
    trace = 0.0
    for i in range(a.shape[0]):
        values.append(np.tanh(a[i, i]))
        trace += values[-1]

    def bprop(dout):
        da = dout.copy()
        dtrace = np.sum(dout)
        for i in range(a.shape[0]):
            da[i, i] += dtrace * (1 - values[i] ** 2)
        return (da,)

    return (a + trace,), bprop


def hdiff(in_field, out_field, coeff):
    here = in_field[2:-2, 2:-2]
    lap = 4.0 * in_field[1:-1, 1:-1] - (
        in_field[2:, 1:-1] + in_field[:-2, 1:-1] + in_field[1:-1, 2:] + in_field[1:-1, :-2]
    )
    flux = lap[1:, 1:-1] - lap[:-1, 1:-1]
    kept_i = flux * (in_field[2:-1, 2:-2] - in_field[1:-2, 2:-2]) <= 0
    flux_i = np.where(kept_i, flux, 0)
    flux = lap[1:-1, 1:] - lap[1:-1, :-1]
    kept_j = flux * (in_field[2:-2, 2:-1] - in_field[2:-2, 1:-2]) <= 0
    flux_j = np.where(kept_j, flux, 0)
    spread = flux_i[1:] - flux_i[:-1] + flux_j[:, 1:] - flux_j[:, :-1]
    out_field[...] = here - coeff * spread

    def bprop(dout):
        din = np.zeros_like(in_field)
        din[2:-2, 2:-2] += dout
        dspread = -dout * coeff
        dlap = np.zeros_like(lap)
        dflux = np.zeros_like(flux_j)
        dflux[:, 1:] += dspread
        dflux[:, :-1] -= dspread
        dflux *= kept_j
        dlap[1:-1, 1:] += dflux
        dlap[1:-1, :-1] -= dflux
        dflux = np.zeros_like(flux_i)
        dflux[1:] += dspread
        dflux[:-1] -= dspread
        dflux *= kept_i
        dlap[1:, 1:-1] += dflux
        dlap[:-1, 1:-1] -= dflux
        din[1:-1, 1:-1] += 4.0 * dlap
        din[2:, 1:-1] -= dlap
        din[:-2, 1:-1] -= dlap
        din[1:-1, 2:] -= dlap
        din[1:-1, :-2] -= dlap
        return din, np.zeros_like(dout), -dout * spread

    return (out_field,), bprop


# ---------------------------------------------------------------- networks


def softmax(x):
    out = bodies.softmax(x)

    def bprop(dout):
        dx = out * dout
        dx -= out * np.sum(dx, axis=-1, keepdims=True)
        return (dx,)

    return (out,), bprop


def mlp(x, w1, b1, w2, b2, w3, b3):
    h1 = bodies.relu(x @ w1 + b1)
    h2 = bodies.relu(h1 @ w2 + b2)
    out = bodies.softmax_of_rows(h2 @ w3 + b3)

    def bprop(dout):
        dz3 = out * dout
        dz3 -= out * np.sum(dz3, axis=-1, keepdims=True)
        dz2 = dz3 @ w3.T * (h2 > 0)
        dz1 = dz2 @ w2.T * (h1 > 0)
        return (
            dz1 @ w1.T,
            x.T @ dz1,
            np.sum(dz1, axis=0),
            h1.T @ dz2,
            np.sum(dz2, axis=0),
            h2.T @ dz3,
            np.sum(dz3, axis=0),
        )

    return (out,), bprop


def conv2d(x, weights, bias):
    out = bodies.conv2d(x, weights, bias)
    k = weights.shape[0]

    def bprop(dout):
        dx = np.zeros_like(x)
        dweights = np.zeros_like(weights)
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                d = dout[:, i, j, :]
                dx[:, i : i + k, j : j + k, :] += np.tensordot(d, weights, (1, 3))
                dweights += np.tensordot(x[:, i : i + k, j : j + k, :], d, (0, 0))
        return dx, dweights, np.sum(dout, axis=(0, 1, 2))

    return (out,), bprop


ADJOINTS = {
    "jacobi_1d": jacobi_1d,
    "jacobi_2d": jacobi_2d,
    "heat_3d": heat_3d,
    "fdtd_2d": fdtd_2d,
    "seidel_2d": seidel_2d,
    "lu": lu,
    "cholesky": cholesky,
    "trisolv": trisolv,
    "gemm": gemm,
    "2mm": two_mm,
    "gesummv": gesummv,
    "atax": atax,
    "mvt": mvt,
    "doitgen": doitgen,
    "covariance": covariance,
    "go_fast": go_fast,
    "hdiff": hdiff,
    "softmax": softmax,
    "mlp": mlp,
    "conv2d": conv2d,
}
