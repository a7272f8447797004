"""Bayesian models, time series, finance."""

import numpy as np
import scipy.linalg
import scipy.stats as stats
from scipy.special import logsumexp, expit
from scipy.stats import norm

LOG2PI = np.log(2 * np.pi)


def eight_schools(theta, y, sigma):
    """Non-centred hierarchical model, log posterior."""
    mu, log_tau, eta = theta[0], theta[1], theta[2:]
    tau = np.exp(log_tau)
    lp = stats.norm.logpdf(mu, 0, 5) + stats.halfnorm.logpdf(tau, scale=5) + log_tau
    lp += np.sum(stats.norm.logpdf(eta))
    school = mu + tau * eta
    lp += np.sum(stats.norm.logpdf(y, loc=school, scale=sigma))
    return lp


def hmm_forward(log_pi, log_A, mu, sigma, obs):
    """Log evidence of a Gaussian HMM."""
    log_pi = log_pi - logsumexp(log_pi)
    log_A = log_A - logsumexp(log_A, axis=1, keepdims=True)
    T = len(obs)
    K = len(mu)
    alpha = np.zeros((T, K))

    def emit(t):
        return -0.5 * ((obs[t] - mu) / sigma) ** 2 - np.log(sigma) - 0.5 * LOG2PI

    alpha[0] = log_pi + emit(0)
    for t in range(1, T):
        for j in range(K):
            alpha[t, j] = logsumexp(alpha[t - 1] + log_A[:, j])
        alpha[t] += emit(t)
    return logsumexp(alpha[-1])


class KalmanFilter:
    def __init__(self, F, H, Q, R, x0, P0):
        self.F, self.H, self.Q, self.R = F, H, Q, R
        self.x = x0
        self.P = P0

    def predict(self):
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.Q

    def update(self, z):
        y = z - self.H @ self.x
        S = self.H @ self.P @ self.H.T + self.R
        K = self.P @ self.H.T @ np.linalg.inv(S)
        self.x = self.x + K @ y
        I = np.eye(len(self.x))
        self.P = (I - K @ self.H) @ self.P
        _, logdet = np.linalg.slogdet(S)
        return -0.5 * (logdet + y @ np.linalg.solve(S, y) + len(y) * LOG2PI)


def kalman_loglik(params, zs, dt=0.1):
    q, r = np.exp(params)
    F = np.array([[1.0, dt], [0.0, 1.0]])
    H = np.array([[1.0, 0.0]])
    Q = q * np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]])
    kf = KalmanFilter(F, H, Q, r * np.eye(1), np.zeros(2), np.eye(2))
    ll = 0.0
    for z in zs:
        kf.predict()
        ll += kf.update(z)
    return ll


def rbf(X1, X2, ls, var):
    d2 = np.sum(X1**2, 1)[:, None] + np.sum(X2**2, 1)[None, :] - 2 * X1 @ X2.T
    return var * np.exp(-0.5 * np.maximum(d2, 0.0) / ls**2)


def gp_nlml(log_hyper, X, y):
    ls, sf, sn = np.exp(log_hyper)
    n = X.shape[0]
    K = rbf(X, X, ls, sf**2) + (sn**2 + 1e-8) * np.eye(n)
    try:
        L = np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        return np.inf
    alpha = scipy.linalg.cho_solve((L, True), y)
    return 0.5 * y.dot(alpha) + np.log(np.diag(L)).sum() + 0.5 * n * LOG2PI


def gmm_loglik(params, X):
    """Mixture of K Gaussians with Cholesky factors."""
    logits, means, chols = params["logits"], params["means"], params["chols"]
    K, D = means.shape
    logw = logits - logsumexp(logits)
    comp = []
    for k in range(K):
        L = np.tril(chols[k], -1) + np.diag(np.exp(np.diag(chols[k])))
        z = scipy.linalg.solve_triangular(L, (X - means[k]).T, lower=True)
        logdet = np.sum(np.diag(chols[k]))
        comp.append(logw[k] - 0.5 * np.sum(z * z, axis=0) - logdet - 0.5 * D * LOG2PI)
    return logsumexp(np.array(comp), axis=0).sum()


def garch_nll(theta, r):
    omega, alpha, beta, mu = theta
    eps = r - mu
    T = len(r)
    h = np.zeros(T)
    h[0] = np.var(r)
    for t in range(1, T):
        h[t] = omega + alpha * eps[t - 1] ** 2 + beta * h[t - 1]
    return 0.5 * np.sum(np.log(2 * np.pi * h) + eps**2 / h)


def arma_css(params, y, p=2, q=1):
    c = params[0]
    phi = params[1 : p + 1]
    theta = params[p + 1 : p + 1 + q]
    log_s2 = params[-1]
    e = np.zeros_like(y)
    for t in range(max(p, q), len(y)):
        ar = sum(phi[i] * y[t - 1 - i] for i in range(p))
        ma = sum(theta[j] * e[t - 1 - j] for j in range(q))
        e[t] = y[t] - c - ar - ma
    n = len(y) - max(p, q)
    return 0.5 * n * log_s2 + 0.5 * np.sum(e**2) / np.exp(log_s2)


def holt_winters(par, y, m=4):
    a, b, g = expit(par)
    level = y[:m].mean()
    trend = (y[m : 2 * m].mean() - y[:m].mean()) / m
    season = [y[i] - level for i in range(m)]
    sse = 0.0
    for t in range(m, len(y)):
        s = season[t % m]
        pred = level + trend + s
        err = y[t] - pred
        sse += err**2
        new_level = a * (y[t] - s) + (1 - a) * (level + trend)
        trend = b * (new_level - level) + (1 - b) * trend
        season[t % m] = g * (y[t] - new_level) + (1 - g) * s
        level = new_level
    return sse


def black_scholes(S, K, T, r, sigma, kind="call"):
    d1 = (np.log(S / K) + (r + 0.5 * sigma**2) * T) / (sigma * np.sqrt(T))
    d2 = d1 - sigma * np.sqrt(T)
    if kind == "call":
        return S * norm.cdf(d1) - K * np.exp(-r * T) * norm.cdf(d2)
    elif kind == "put":
        return K * np.exp(-r * T) * norm.cdf(-d2) - S * norm.cdf(-d1)
    raise ValueError(f"unknown kind {kind!r}")


def implied_vol(price, S, K, T, r, tol=1e-13):
    sigma = 0.3
    for _ in range(50):
        diff = black_scholes(S, K, T, r, sigma) - price
        d1 = (np.log(S / K) + (r + 0.5 * sigma**2) * T) / (sigma * np.sqrt(T))
        vega = S * norm.pdf(d1) * np.sqrt(T)
        sigma -= diff / vega
        if abs(diff) < tol:
            return sigma
    return float("nan")


def american_put(S0, K, T, r, sigma, N=12):
    dt = T / N
    u = np.exp(sigma * np.sqrt(dt))
    d = 1 / u
    p = (np.exp(r * dt) - d) / (u - d)
    disc = np.exp(-r * dt)
    S = S0 * d ** np.arange(N, -1, -1) * u ** np.arange(0, N + 1)
    V = np.maximum(K - S, 0)
    for i in range(N - 1, -1, -1):
        S = S0 * d ** np.arange(i, -1, -1) * u ** np.arange(0, i + 1)
        V[: i + 1] = disc * (p * V[1 : i + 2] + (1 - p) * V[: i + 1])
        V[: i + 1] = np.maximum(V[: i + 1], K - S)
    return V[0]


def sabr_vol(alpha, beta, rho, nu, F, K, T):
    """Hagan's lognormal formula."""
    eps = 1e-7
    logfk = np.log(F / K)
    fkbeta = (F * K) ** (1 - beta)
    a = (1 - beta) ** 2 * alpha**2 / (24 * fkbeta)
    b = 0.25 * rho * beta * nu * alpha / fkbeta**0.5
    c = (2 - 3 * rho**2) * nu**2 / 24
    d = fkbeta**0.5
    v = (1 - beta) ** 2 * logfk**2 / 24
    w = (1 - beta) ** 4 * logfk**4 / 1920
    z = nu * fkbeta**0.5 * logfk / alpha
    if abs(z) > eps:
        x = np.log((np.sqrt(1 - 2 * rho * z + z**2) + z - rho) / (1 - rho))
        return alpha * z * (1 + (a + b + c) * T) / (d * (1 + v + w) * x)
    else:
        return alpha * (1 + (a + b + c) * T) / (d * (1 + v + w))


def portfolio_cvar(w, returns, alpha=0.9, lam=0.5):
    w = np.exp(w) / np.sum(np.exp(w))
    pnl = returns @ w
    losses = np.sort(-pnl)[::-1]
    k = int(np.ceil((1 - alpha) * len(losses)))
    cvar = losses[:k].mean()
    cov = np.cov(returns, rowvar=False)
    return cvar + lam * np.sqrt(w @ cov @ w) - pnl.mean()


R = np.random.default_rng(6)
r4 = R.normal(size=(7,))
PROGRAMS = [
    (eight_schools, (R.normal(size=6), R.normal(size=4) * 8, R.uniform(8, 15, 4)), (0,)),
    (hmm_forward, (R.normal(size=3), R.normal(size=(3, 3)), R.normal(size=3), R.uniform(0.5, 1, 3), R.normal(size=6)), (0, 1, 2, 3)),
    (kalman_loglik, (np.array([0.1, -0.5]), R.normal(size=(5, 1))), (0, 1)),
    (gp_nlml, (np.array([0.1, 0.2, -1.0]), R.normal(size=(6, 2)), R.normal(size=6)), (0, 2)),
    (gmm_loglik, ({"logits": R.normal(size=2), "means": R.normal(size=(2, 2)), "chols": R.normal(size=(2, 2, 2)) * 0.3}, R.normal(size=(5, 2))), (0,)),
    (garch_nll, (np.array([0.1, 0.2, 0.6, 0.05]), R.normal(size=12)), (0,)),
    (arma_css, (np.array([0.1, 0.4, -0.2, 0.3, 0.1]), R.normal(size=12)), (0,)),
    (holt_winters, (np.array([0.1, -0.5, 0.4]), R.uniform(1, 2, 14)), (0,)),
    (black_scholes, (100.0, 95.0, 0.7, 0.03, 0.25, "put"), (0, 1, 2, 3, 4)),
    (implied_vol, (11.0, 100.0, 95.0, 0.7, 0.03), (0, 1, 2)),
    (american_put, (100.0, 103.0, 0.7, 0.03, 0.25), (0, 2, 3, 4)),
    (sabr_vol, (0.2, 0.7, -0.3, 0.4, 100.0, 110.0, 1.5), (0, 1, 2, 3)),
    (portfolio_cvar, (R.normal(size=3), R.normal(size=(15, 3))), (0,)),
]
