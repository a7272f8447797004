"""Machine learning from scratch."""
import logging

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

log = logging.getLogger("nn")


def softmax_cross_entropy(logits, labels):
    shifted = logits - logits.max(axis=1, keepdims=True)
    logp = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return -logp[np.arange(len(labels)), labels].mean()


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def lstm(params, xs, target):
    Wx, Wh, b, Wy = params
    H = Wh.shape[0]
    h = np.zeros(H)
    c = np.zeros(H)
    outs = []
    for t in range(xs.shape[0]):
        a = xs[t] @ Wx + h @ Wh + b
        i, f, o, g = np.split(a, 4)
        i, f, o = sigmoid(i), sigmoid(f + 1.0), sigmoid(o)
        g = np.tanh(g)
        c = f * c + i * g
        h = o * np.tanh(c)
        outs.append(h @ Wy)
    outs = np.array(outs)
    return 0.5 * np.sum((outs - target) ** 2) / len(outs)


def attention(q, k, v, mask=None):
    d = q.shape[-1]
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(d)
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    scores = scores - scores.max(axis=-1, keepdims=True)
    w = np.exp(scores)
    w /= w.sum(axis=-1, keepdims=True)
    return w @ v


def transformer_block(p, x, n_heads=2):
    B, T, C = x.shape
    hd = C // n_heads

    def ln(x, g, b):
        m = x.mean(-1, keepdims=True)
        s = x.var(-1, keepdims=True)
        return g * (x - m) / np.sqrt(s + 1e-5) + b

    h = ln(x, p["g1"], p["b1"])
    qkv = h @ p["Wqkv"]
    q, k, v = np.split(qkv, 3, axis=-1)
    heads = []
    causal = np.tril(np.ones((T, T), dtype=bool))
    for i in range(n_heads):
        s = slice(i * hd, (i + 1) * hd)
        heads.append(attention(q[..., s], k[..., s], v[..., s], causal))
    x = x + np.concatenate(heads, axis=-1) @ p["Wo"]
    h = ln(x, p["g2"], p["b2"])
    x = x + np.maximum(h @ p["W1"], 0) @ p["W2"]
    return x


def transformer_loss(p, x):
    return np.mean(transformer_block(p, x) ** 2)


def conv2d_loops(x, w, b, stride=1, pad=1):
    N, C, H, W = x.shape
    F, _, KH, KW = w.shape
    xp = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)), mode="constant")
    OH = (H + 2 * pad - KH) // stride + 1
    OW = (W + 2 * pad - KW) // stride + 1
    out = np.zeros((N, F, OH, OW))
    for i in range(OH):
        for j in range(OW):
            patch = xp[:, :, i * stride : i * stride + KH, j * stride : j * stride + KW]
            out[:, :, i, j] = np.tensordot(patch, w, axes=([1, 2, 3], [1, 2, 3])) + b
    return out


def maxpool(x, k=2):
    N, C, H, W = x.shape
    return x.reshape(N, C, H // k, k, W // k, k).max(axis=(3, 5))


def im2col_conv(x, w):
    win = sliding_window_view(x, (3, 3), axis=(1, 2))
    return np.einsum("nijab,fab->nfij", win, w)


def convnet(params, x, y):
    h = conv2d_loops(x, params["w1"], params["b1"])
    h = np.maximum(h, 0.01 * h)
    h = maxpool(h)
    h = h.reshape(h.shape[0], -1)
    logits = h.dot(params["fc"])
    return softmax_cross_entropy(logits, y)


def windows_loss(x, w):
    return np.sum(im2col_conv(x, w) ** 2)


def skipgram(E, Cx, pairs, negs):
    """word2vec with negative sampling."""
    loss = 0.0
    for (center, context), neg in zip(pairs, negs):
        v = E[center]
        loss -= np.log(sigmoid(v @ Cx[context]))
        for n in neg:
            loss -= np.log(sigmoid(-v @ Cx[n]))
    return loss / len(pairs)


def vae_elbo(params, x, eps):
    enc, dec = params["enc"], params["dec"]
    h = np.tanh(x @ enc["W"] + enc["b"])
    mu, logvar = h @ enc["Wm"], h @ enc["Wv"]
    z = mu + np.exp(0.5 * logvar) * eps
    d = np.tanh(z @ dec["W"])
    p = sigmoid(d @ dec["Wo"])
    p = np.clip(p, 1e-7, 1 - 1e-7)
    rec = np.sum(x * np.log(p) + (1 - x) * np.log(1 - p))
    kl = -0.5 * np.sum(1 + logvar - mu**2 - np.exp(logvar))
    return (kl - rec) / x.shape[0]


class Adam:
    def __init__(self, lr=0.05, b1=0.9, b2=0.999):
        self.lr, self.b1, self.b2 = lr, b1, b2
        self.m = None
        self.t = 0

    def update(self, w, g):
        if self.m is None:
            self.m = np.zeros_like(w)
            self.v = np.zeros_like(w)
        self.t += 1
        self.m = self.b1 * self.m + (1 - self.b1) * g
        self.v = self.b2 * self.v + (1 - self.b2) * g**2
        mh = self.m / (1 - self.b1**self.t)
        vh = self.v / (1 - self.b2**self.t)
        return w - self.lr * mh / (np.sqrt(vh) + 1e-8)


def unrolled_ridge(log_lam, w0, X, y, Xv, yv, steps=4):
    """Hyper-gradient through an optimiser."""
    lam = np.exp(log_lam)
    opt = Adam()
    w = w0
    for _ in range(steps):
        g = 2 * X.T @ (X @ w - y) / len(y) + 2 * lam * w
        w = opt.update(w, g)
    return np.mean((Xv @ w - yv) ** 2)


R = np.random.default_rng(8)
N = lambda *s: R.normal(size=s) * 0.5
C = 4
PROGRAMS = [
    (lstm, ([N(2, 12), N(3, 12), N(12), N(3, 1)], N(4, 2), N(4, 1)), (0,)),
    (transformer_loss, ({"g1": N(C), "b1": N(C), "g2": N(C), "b2": N(C), "Wqkv": N(C, 3 * C), "Wo": N(C, C), "W1": N(C, 6), "W2": N(6, C)}, N(2, 3, C)), (0, 1)),
    (convnet, ({"w1": N(2, 1, 3, 3), "b1": N(2), "fc": N(8, 3)}, N(2, 1, 4, 4), np.array([0, 2])), (0,)),
    (windows_loss, (N(2, 5, 5), N(2, 3, 3)), (0, 1)),
    (skipgram, (N(5, 3), N(5, 3), [(0, 1), (2, 3), (0, 4)], [[2, 3], [0, 0], [1, 2]]), (0, 1)),
    (vae_elbo, ({"enc": {"W": N(4, 3), "b": N(3), "Wm": N(3, 2), "Wv": N(3, 2)}, "dec": {"W": N(2, 3), "Wo": N(3, 4)}}, R.uniform(size=(3, 4)), N(3, 2)), (0,)),
    (unrolled_ridge, (-1.0, N(2), N(6, 2), N(6), N(5, 2), N(5)), (0, 1)),
]
