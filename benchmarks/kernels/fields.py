"""Weather and flow: parts of dynamical cores, and incompressible flow by a pressure equation."""

from __future__ import annotations

import numpy as np

from .declare import kernel

__all__ = ["cavity_flow", "channel_flow", "hdiff", "vadv"]


@kernel(
    lambda rng, i, j, k: (
        rng.uniform(size=(i + 4, j + 4, k)),
        np.zeros((i, j, k)),
        rng.uniform(size=(i, j, k)),
    ),
    size={"i": 4, "j": 3, "k": 2},
    active="in_field out_field coeff",
    outputs="out_field",
)
def hdiff(in_field, out_field, coeff):
    """Horizontal diffusion with limited fluxes of the Laplacian."""
    ni, nj = out_field.shape[:2]
    lap = 4.0 * in_field[1 : ni + 3, 1 : nj + 3, :] - (
        in_field[2 : ni + 4, 1 : nj + 3, :]
        + in_field[0 : ni + 2, 1 : nj + 3, :]
        + in_field[1 : ni + 3, 2 : nj + 4, :]
        + in_field[1 : ni + 3, 0 : nj + 2, :]
    )
    flux = lap[1:, 1 : nj + 1, :] - lap[:-1, 1 : nj + 1, :]
    slope = in_field[2 : ni + 3, 2 : nj + 2, :] - in_field[1 : ni + 2, 2 : nj + 2, :]
    flux_i = np.where(flux * slope > 0, 0, flux)
    flux = lap[1 : ni + 1, 1:, :] - lap[1 : ni + 1, :-1, :]
    slope = in_field[2 : ni + 2, 2 : nj + 3, :] - in_field[2 : ni + 2, 1 : nj + 2, :]
    flux_j = np.where(flux * slope > 0, 0, flux)
    out_field[:, :, :] = in_field[2 : ni + 2, 2 : nj + 2, :] - coeff[:, :, :] * (
        flux_i[1:, :, :] - flux_i[:-1, :, :] + flux_j[:, 1:, :] - flux_j[:, :-1, :]
    )


@kernel(
    lambda rng, i, j, k: (
        *(rng.uniform(size=(i, j, k)) for _ in range(2)),
        rng.uniform(size=(i + 1, j, k)),
        *(rng.uniform(size=(i, j, k)) for _ in range(2)),
        3.0 / 20.0,
    ),
    size={"i": 2, "j": 3, "k": 5},
    active="utens_stage u_stage wcon u_pos utens",
    outputs="utens_stage",
)
def vadv(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    """Vertical advection: an implicit step, one tridiagonal system for each column (Thomas's algorithm)."""
    bet_m, bet_p = 0.5, 0.5
    ni, nj, nk = utens_stage.shape
    ccol = np.ndarray((ni, nj, nk), dtype=utens_stage.dtype)
    dcol = np.ndarray((ni, nj, nk), dtype=utens_stage.dtype)
    data_col = np.ndarray((ni, nj), dtype=utens_stage.dtype)

    for k in range(1):
        gcv = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
        cs = gcv * bet_m
        ccol[:, :, k] = gcv * bet_p
        bcol = dtr_stage - ccol[:, :, k]
        correction = -cs * (u_stage[:, :, k + 1] - u_stage[:, :, k])
        dcol[:, :, k] = dtr_stage * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + correction
        divided = 1.0 / bcol
        ccol[:, :, k] = ccol[:, :, k] * divided
        dcol[:, :, k] = dcol[:, :, k] * divided
    for k in range(1, nk - 1):
        gav = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
        gcv = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
        as_ = gav * bet_m
        cs = gcv * bet_m
        acol = gav * bet_p
        ccol[:, :, k] = gcv * bet_p
        bcol = dtr_stage - acol - ccol[:, :, k]
        correction = -as_ * (u_stage[:, :, k - 1] - u_stage[:, :, k]) - cs * (
            u_stage[:, :, k + 1] - u_stage[:, :, k]
        )
        dcol[:, :, k] = dtr_stage * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + correction
        divided = 1.0 / (bcol - ccol[:, :, k - 1] * acol)
        ccol[:, :, k] = ccol[:, :, k] * divided
        dcol[:, :, k] = (dcol[:, :, k] - dcol[:, :, k - 1] * acol) * divided
    for k in range(nk - 1, nk):
        gav = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
        as_ = gav * bet_m
        acol = gav * bet_p
        bcol = dtr_stage - acol
        correction = -as_ * (u_stage[:, :, k - 1] - u_stage[:, :, k])
        dcol[:, :, k] = dtr_stage * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + correction
        divided = 1.0 / (bcol - ccol[:, :, k - 1] * acol)
        dcol[:, :, k] = (dcol[:, :, k] - dcol[:, :, k - 1] * acol) * divided

    for k in range(nk - 1, nk - 2, -1):
        column = dcol[:, :, k]
        data_col[:] = column
        utens_stage[:, :, k] = dtr_stage * (column - u_pos[:, :, k])
    for k in range(nk - 2, -1, -1):
        column = dcol[:, :, k] - ccol[:, :, k] * data_col[:, :]
        data_col[:] = column
        utens_stage[:, :, k] = dtr_stage * (column - u_pos[:, :, k])


def build_up_b(b, rho, dt, u, v, dx, dy):
    """The right-hand side of the pressure equation, into b."""
    b[1:-1, 1:-1] = rho * (
        1 / dt * ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx) + (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy))
        - ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)) ** 2
        - 2 * ((u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * dx))
        - ((v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) ** 2
    )


def pressure_poisson(nit, p, dx, dy, b):
    """Jacobi's iterations for the pressure, into p: no flow through the walls, zero at the lid."""
    pn = np.empty_like(p)
    pn = p.copy()
    for _ in range(nit):
        pn = p.copy()
        p[1:-1, 1:-1] = (
            (pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2 + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2
        ) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


def flow_inputs(rng, n, steps, nit):
    """A fluid close to rest in a square of side two, and the physical constants."""
    u, v, p = (0.1 * rng.uniform(-1.0, 1.0, (n, n)) for _ in range(3))
    return n, n, steps, nit, u, v, 0.1 / n, 2 / (n - 1), 2 / (n - 1), p, 1.0, 0.1


@kernel(
    flow_inputs,
    size={"n": 6, "steps": 2, "nit": 3},
    active="u v p rho nu",
    outputs="u v p",
)
def cavity_flow(nx, ny, nt, nit, u, v, dt, dx, dy, p, rho, nu):
    """Flow in a closed square below a moving lid: explicit steps, each with a pressure equation."""
    un = np.empty_like(u)
    vn = np.empty_like(v)
    b = np.zeros((ny, nx))
    for _ in range(nt):
        un = u.copy()
        vn = v.copy()
        build_up_b(b, rho, dt, u, v, dx, dy)
        pressure_poisson(nit, p, dx, dy, b)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[0:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
            + nu
            * (
                dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2])
                + dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[0:-2, 1:-1])
            )
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[0:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
            + nu
            * (
                dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, 0:-2])
                + dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[0:-2, 1:-1])
            )
        )
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0


def around(a, axis):
    """The inner rows of a, and those before and behind each, along a periodic second axis."""
    return a[1:-1, :], np.roll(a, 1, axis)[1:-1, :], np.roll(a, -1, axis)[1:-1, :]


def periodic_rhs(rho, dt, dx, dy, u, v):
    """The right-hand side of the pressure equation of a channel without ends."""
    b = np.zeros_like(u)
    _, u_west, u_east = around(u, 1)
    _, v_west, v_east = around(v, 1)
    du_dx = (u_east - u_west) / (2 * dx)
    du_dy = (u[2:, :] - u[0:-2, :]) / (2 * dy)
    dv_dx = (v_east - v_west) / (2 * dx)
    dv_dy = (v[2:, :] - v[0:-2, :]) / (2 * dy)
    b[1:-1, :] = rho * (1 / dt * (du_dx + dv_dy) - du_dx**2 - 2 * (du_dy * dv_dx) - dv_dy**2)
    return b


def periodic_pressure(nit, p, dx, dy, b):
    """Jacobi's iterations for the pressure in a channel without ends, into p."""
    for _ in range(nit):
        pn = p.copy()
        _, west, east = around(pn, 1)
        p[1:-1, :] = (
            (east + west) * dy**2 + (pn[2:, :] + pn[0:-2, :]) * dx**2 - dx**2 * dy**2 * b[1:-1, :]
        ) / (2 * (dx**2 + dy**2))
        p[-1, :] = p[-2, :]
        p[0, :] = p[1, :]


@kernel(
    lambda rng, n, steps, nit: (nit, *flow_inputs(rng, n, steps, nit)[4:], 1.0, steps),
    size={"n": 6, "steps": 3, "nit": 3},
    active="u v p rho nu F",
    outputs="u v p",
)
def channel_flow(nit, u, v, dt, dx, dy, p, rho, nu, F, most):
    """Flow in a channel without ends, driven by a force F, until it is steady; returns the steps taken."""
    udiff = 1.0
    stepcount = 0
    while udiff > 1e-3 and stepcount < most:
        un = u.copy()
        vn = v.copy()
        b = periodic_rhs(rho, dt, dx, dy, u, v)
        periodic_pressure(nit, p, dx, dy, b)
        _, p_west, p_east = around(p, 1)
        u_here, u_west, u_east = around(un, 1)
        v_here, v_west, v_east = around(vn, 1)
        u[1:-1, :] = (
            u_here
            - u_here * dt / dx * (u_here - u_west)
            - v_here * dt / dy * (u_here - un[0:-2, :])
            - dt / (2 * rho * dx) * (p_east - p_west)
            + nu
            * (
                dt / dx**2 * (u_east - 2 * u_here + u_west)
                + dt / dy**2 * (un[2:, :] - 2 * u_here + un[0:-2, :])
            )
            + F * dt
        )
        v[1:-1, :] = (
            v_here
            - u_here * dt / dx * (v_here - v_west)
            - v_here * dt / dy * (v_here - vn[0:-2, :])
            - dt / (2 * rho * dy) * (p[2:, :] - p[0:-2, :])
            + nu
            * (
                dt / dx**2 * (v_east - 2 * v_here + v_west)
                + dt / dy**2 * (vn[2:, :] - 2 * v_here + vn[0:-2, :])
            )
        )
        u[0, :] = 0
        u[-1, :] = 0
        v[0, :] = 0
        v[-1, :] = 0
        udiff = (np.sum(u) - np.sum(un)) / np.sum(u)
        stepcount += 1
    return stepcount
