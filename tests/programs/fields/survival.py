"""Survival analysis and epidemiology."""
import logging
from dataclasses import dataclass

import numpy as np
import scipy.stats as st
from scipy.special import gammaln
from scipy.integrate import odeint

logger = logging.getLogger(__name__)


def cox_breslow(beta, X, time, event):
    """Negative Cox partial log-likelihood, Breslow's handling of ties."""
    order = np.argsort(-time, kind="stable")
    X, time, event = X[order], time[order], event[order]
    eta = X @ beta
    risk = np.exp(eta)
    cumrisk = np.cumsum(risk)
    # ties: the risk set of each event time includes all with the same time
    n = len(time)
    last = np.zeros(n, dtype=int)
    j = n - 1
    for i in range(n - 1, -1, -1):
        if time[i] != time[j]:
            j = i
        last[i] = j
    loglik = np.sum((eta - np.log(cumrisk[last]))[event == 1])
    return -loglik


def cox_efron(beta, X, t, d, ridge=0.1):
    times = np.unique(t[d == 1])
    eta = np.dot(X, beta)
    ll = 0.0
    for tj in times:
        at_risk = t >= tj
        dead = (t == tj) & (d == 1)
        m = int(dead.sum())
        s_risk = np.exp(eta[at_risk]).sum()
        s_dead = np.exp(eta[dead]).sum()
        ll += eta[dead].sum()
        for l in range(m):
            ll -= np.log(s_risk - l / m * s_dead)
    return -ll + 0.5 * ridge * np.linalg.norm(beta) ** 2


class WeibullAFT:
    """log T = x'b + sigma * W, right censoring."""

    def __init__(self, fit_intercept=True, penalizer=0.0):
        self.fit_intercept = fit_intercept
        self.penalizer = penalizer

    def _design(self, X):
        if self.fit_intercept:
            return np.hstack([np.ones((X.shape[0], 1)), X])
        return X

    def neg_log_likelihood(self, params, X, T, E):
        Xd = self._design(X)
        b, log_sigma = params[:-1], params[-1]
        sigma = np.exp(log_sigma)
        z = (np.log(T) - Xd @ b) / sigma
        logf = z - np.exp(z) - log_sigma - np.log(T)
        logS = -np.exp(z)
        ll = np.where(E, logf, logS)
        return -ll.mean() + self.penalizer * (b[1:] ** 2).sum()


def weibull_aft(params, X, T, E):
    model = WeibullAFT(penalizer=0.05)
    return model.neg_log_likelihood(params, X, T, E)


def km_smooth(bandwidth, times, events, grid):
    """Kernel-smoothed hazard from Nelson-Aalen increments."""
    order = np.argsort(times)
    times, events = times[order], events[order]
    n = len(times)
    S = 1.0
    surv = []
    H = []
    for i, (t, e) in enumerate(zip(times, events)):
        at_risk = n - i
        if e:
            S *= 1.0 - 1.0 / at_risk
            H.append((t, 1.0 / at_risk))
        surv.append(S)
    hazard = np.zeros_like(grid)
    for t, dh in H:
        u = (grid - t) / bandwidth
        k = np.where(np.abs(u) < 1, 0.75 * (1 - u**2), 0.0)
        hazard += k * dh / bandwidth
    return np.trapezoid(hazard, grid) + surv[-1] * bandwidth


def gompertz_frailty(theta, t, d):
    a, b, v = np.exp(theta)
    cumhaz = a / b * np.expm1(b * t)
    haz = a * np.exp(b * t)
    ll = d * (np.log(haz) - np.log1p(v * cumhaz)) - np.log1p(v * cumhaz) / v
    return -np.sum(ll)


@dataclass
class Scenario:
    N: float = 1000.0
    I0: float = 5.0
    days: int = 20
    dt: float = 0.5


def sir_rk4(params, obs, sc=Scenario()):
    """Sum of squared errors of an SIR model fitted to case counts."""
    beta, gamma = params

    def rhs(y):
        S, I, R = y
        new_inf = beta * S * I / sc.N
        return np.array([-new_inf, new_inf - gamma * I, gamma * I])

    y = np.array([sc.N - sc.I0, sc.I0, 0.0])
    traj = [y]
    n = int(sc.days / sc.dt)
    for _ in range(n):
        k1 = rhs(y)
        k2 = rhs(y + 0.5 * sc.dt * k1)
        k3 = rhs(y + 0.5 * sc.dt * k2)
        k4 = rhs(y + sc.dt * k3)
        y = y + sc.dt / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
        traj.append(y)
    traj = np.vstack(traj)
    pred = traj[:: int(1 / sc.dt), 1]
    return np.mean((pred[: len(obs)] - obs) ** 2) / sc.N


def seir(y, t, beta, sigma, gamma):
    S, E, I, R = y
    N = S + E + I + R
    dS = -beta * S * I / N
    dE = beta * S * I / N - sigma * E
    dI = sigma * E - gamma * I
    dR = gamma * I
    return dS, dE, dI, dR


def seir_fit(theta, data):
    beta, sigma, gamma = np.exp(theta)
    t = np.linspace(0, 10, len(data))
    y0 = [990.0, 5.0, 5.0, 0.0]
    sol = odeint(seir, y0, t, args=(beta, sigma, gamma), rtol=1e-10, atol=1e-10)
    I = sol[:, 2]
    mu = np.maximum(I, 1e-6)
    return -np.sum(data * np.log(mu) - mu - gammaln(data + 1)) / 100


def negbin_renewal(R0, k, w, cases):
    """Renewal-equation negative binomial log likelihood."""
    T = len(cases)
    lam = np.empty(T)
    for t in range(T):
        s = 0.0
        for tau in range(1, min(t, len(w)) + 1):
            s += w[tau - 1] * cases[t - tau]
        lam[t] = max(R0 * s, 1e-3)
    ll = st.nbinom.logpmf(cases, k, k / (k + lam))
    logger.debug("loglik %s", ll)
    return -ll[1:].sum()


R = np.random.default_rng(3)
X = R.normal(size=(12, 3))
T = np.array([5, 3, 3, 8, 8, 8, 1, 2, 9, 4, 4, 6.0])
E = np.array([1, 1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1])
PROGRAMS = [
    (cox_breslow, (R.normal(size=3) * 0.3, X, T, E), (0,)),
    (cox_efron, (R.normal(size=3) * 0.3, X, T, E), (0,)),
    (weibull_aft, (np.array([1.0, 0.1, -0.2, 0.3, -0.1]), X, T, E == 1), (0,)),
    (km_smooth, (1.3, T + np.arange(12) * 0.013, E, np.linspace(0, 10, 23)), (0,)),
    (gompertz_frailty, (np.log(np.array([0.1, 0.05, 0.3])), T, E), (0,)),
    (sir_rk4, (np.array([0.5, 0.2]), R.uniform(5, 50, 12)), (0,)),
    (seir_fit, (np.log(np.array([0.8, 0.5, 0.3])), np.array([5, 4, 6, 7, 8, 11.0])), (0,)),
    (negbin_renewal, (1.3, 4.0, np.array([0.3, 0.4, 0.2]), np.array([3, 4, 6, 8, 9, 13])), (0, 1, 2)),
]
