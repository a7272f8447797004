"""Programs as users of PyTorch write them, where a copy with `torch` in NumPy's place would not run."""
from __future__ import annotations

from typing import Any

import torch

Tensor = Any


def gmm(alphas: Tensor, means: Tensor, factors: Tensor, x: Tensor, gamma: float, m: int) -> Tensor:
    n, d = x.shape
    diagonal = torch.arange(d)
    rows, columns = torch.tril_indices(d, d, -1)
    scales = torch.exp(factors[:, :d])
    triangles = torch.zeros((len(means), d, d))
    triangles[:, diagonal, diagonal] = scales
    triangles[:, rows, columns] = factors[:, d:]
    logdets = torch.sum(factors[:, :d], dim=1)
    scaled = (x - means[:, None, :]) @ triangles.transpose(1, 2)
    inner = (alphas + logdets)[:, None] - 0.5 * torch.sum(scaled ** 2, dim=2)
    squares = torch.sum(scales ** 2) + torch.sum(factors[:, d:] ** 2)
    prior = 0.5 * gamma ** 2 * squares - m * torch.sum(logdets)
    return torch.sum(torch.logsumexp(inner, 0)) - n * torch.logsumexp(alphas, 0) - prior


def logistic(w: Tensor, b: Tensor, x: Tensor, y: Tensor, penalty: float) -> Tensor:
    z = x @ w + b
    return torch.mean(torch.logaddexp(torch.zeros(()), z) - y * z) + penalty * torch.sum(w ** 2)


def black_scholes(spot: Tensor, vol: Tensor, rate: Tensor, strike: Tensor, years: Tensor) -> Tensor:
    root = vol * torch.sqrt(years)
    d1 = (torch.log(spot / strike) + (rate + 0.5 * vol ** 2) * years) / root
    return torch.sum(spot * torch.special.ndtr(d1)
                     - strike * torch.exp(-rate * years) * torch.special.ndtr(d1 - root))


def bundle_adjustment(cameras: Tensor, points: Tensor, weights: Tensor, which: Tensor, what: Tensor,
                      features: Tensor) -> Tensor:
    camera = cameras[which]
    rotation = camera[:, :3]
    seen = points[what] - camera[:, 3:6]
    angle = torch.linalg.norm(rotation, dim=1, keepdim=True)
    axis = rotation / angle
    cosine = torch.cos(angle)
    along = torch.sum(axis * seen, dim=1, keepdim=True) * (1.0 - cosine)
    turned = seen * cosine + torch.linalg.cross(axis, seen) * torch.sin(angle) + axis * along
    flat = turned[:, :2] / turned[:, 2:]
    radius = torch.sum(flat ** 2, dim=1)
    distortion = 1.0 + camera[:, 9] * radius + camera[:, 10] * radius ** 2
    image = flat * (distortion * camera[:, 6])[:, None] + camera[:, 7:9]
    return torch.sum((weights[:, None] * (image - features)) ** 2)


def k_means(centers: Tensor, points: Tensor) -> Tensor:
    distances = torch.sum((points[:, None, :] - centers[None, :, :]) ** 2, dim=2)
    return torch.sum(torch.amin(distances, dim=1))


def hidden_markov(start: Tensor, transition: Tensor, emission: Tensor, observed: Tensor) -> Tensor:
    belief = start + emission[:, observed[0]]
    for k in observed[1:]:
        belief = torch.logsumexp(belief[:, None] + transition, 0) + emission[:, k]
    return torch.logsumexp(belief, 0)
