"""The same programs' values and gradients as an expert writes them by hand: the measure for generated code.

Each runs the program's own operations forwards, keeps what the way back reads, and computes nothing in vain.
"""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from primals import DT

Array = NDArray[np.float64]


def runge_kutta(growth: float, hunting: float, feeding: float, decline: float,
                steps: int) -> tuple[float, tuple[float, float, float, float]]:
    x, y = 3.0, 1.0
    total = 0.0
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
        total = total + (x - 3.0) ** 2 + (y - 1.0) ** 2
    x_end, y_end = x, y
    dx = dy = 0.0
    dgrowth = dhunting = dfeeding = ddecline = 0.0
    for x1, y1, met, x2, y2, met2, x3, y3, met3, x4, y4, met4 in trace[::-1]:
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
    return total * DT, (dgrowth, dhunting, dfeeding, ddecline)


def recurrent(params: tuple[Array, ...], values: Array,
              targets: Array) -> tuple[float, tuple[Array, ...]]:
    w_in, w_hidden, bias, w_out, b_out = params
    hidden = np.zeros((values.shape[1], bias.shape[0]))
    total = 0.0
    trace = []
    for value, target in zip(values, targets, strict=True):
        before = hidden
        hidden = np.tanh(value @ w_in + hidden @ w_hidden + bias)
        error = hidden @ w_out + b_out - target
        total = total + np.mean(error ** 2)
        trace.append((value, before, hidden, error))
    scale = 2 / (targets[0].size * len(values))
    dhidden = np.zeros_like(hidden)
    dw_in, dw_hidden, dbias, dw_out, db_out = map(np.zeros_like, params)
    for value, before, hidden, error in trace[::-1]:
        derror = scale * error
        db_out += np.sum(derror, axis=0)
        dw_out += hidden.T @ derror
        dhidden = (dhidden + derror @ w_out.T) * (1 - hidden ** 2)
        dbias += np.sum(dhidden, axis=0)
        dw_hidden += before.T @ dhidden
        dw_in += value.T @ dhidden
        dhidden = dhidden @ w_hidden.T
    return total / len(values), (dw_in, dw_hidden, dbias, dw_out, db_out)


def perceptron(params: tuple[Array, ...], x: Array, targets: Array) -> tuple[float, tuple[Array, ...]]:
    w1, b1, w2, b2, w3, b3 = params
    h1 = np.tanh(x @ w1 + b1)
    h2 = np.tanh(h1 @ w2 + b2)
    error = h2 @ w3 + b3 - targets
    derror = 2 / error.size * error
    dz2 = derror @ w3.T * (1 - h2 ** 2)
    dz1 = dz2 @ w2.T * (1 - h1 ** 2)
    value: float = np.mean(error ** 2)  # type: ignore[assignment]
    return value, (x.T @ dz1, np.sum(dz1, axis=0), h1.T @ dz2, np.sum(dz2, axis=0),
                   h2.T @ derror, np.sum(derror, axis=0))


def logistic(w: Array, b: float, x: Array, y: Array, penalty: float) -> tuple[float, tuple[Array, Any]]:
    z = x @ w + b
    softplus = np.logaddexp(0.0, z)
    dz = (np.exp(z - softplus) - y) / z.size
    value: float = np.mean(softplus - y * z) + penalty * np.sum(w ** 2)
    return value, (x.T @ dz + 2 * penalty * w, np.sum(dz))
