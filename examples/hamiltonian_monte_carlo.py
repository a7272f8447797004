"""The eight schools, a Bayesian model of real data, sampled by Hamiltonian Monte Carlo.

Run it with `python examples/hamiltonian_monte_carlo.py`. Eight schools measured what coaching gains their
pupils in a test (Rubin, "Estimation in parallel randomized experiments", 1981; Gelman et al., "Bayesian Data
Analysis", section 5.5). The gains of the schools are taken to be normal around a common mean, with a spread
of which the data tell little. Leapfrog steps (Neal, "MCMC using Hamiltonian dynamics", 2011) move all chains
at once.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from plotting import Figure, run

import s2sad

Array = NDArray[np.float64]
GAINS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
CHAINS, WARM_UP, SAMPLES = 50, 100, 400
STEP, LEAPS = 0.3, 8


def schools(q: Array) -> tuple[Array, Array, Array]:
    """The mean, the spread and the schools' gains, of positions of shape (chains, 10)."""
    mean, spread = 5 * q[:, 0], np.exp(q[:, 1])
    return mean, spread, mean[:, None] + spread[:, None] * q[:, 2:]


def log_density(q: Array) -> Array:
    """The logarithm of the posterior density at each chain's position, but for a constant.

    The mean is normal(0, 5); the spread is half-Cauchy(0, 5), and its logarithm is sampled.
    """
    _, spread, gains = schools(q)
    prior = -0.5 * q[:, 0] ** 2 - 0.5 * np.sum(q[:, 2:] ** 2, axis=1)
    prior = prior - np.log1p((spread / 5) ** 2) + q[:, 1]
    density: Array = prior - 0.5 * np.sum(((GAINS - gains) / ERRORS) ** 2, axis=1)
    return density


force = s2sad.grad(lambda q: np.sum(log_density(q)))


def leapfrog(q: Array, p: Array) -> tuple[Array, Array]:
    """Position and momentum after `LEAPS` steps."""
    p = p + 0.5 * STEP * force(q)
    for leap in range(LEAPS):
        q = q + STEP * p
        p = p + (STEP if leap < LEAPS - 1 else 0.5 * STEP) * force(q)
    return q, p


@dataclass(frozen=True)
class Posterior:
    """Draws of the mean and the spread, the means of the schools' gains, and how many moves were accepted."""

    mean: Array
    spread: Array
    gains: Array
    accepted: float


def sample(rng: np.random.Generator) -> Posterior:
    """Moves the chains, and keeps what came after the warm-up."""
    q = rng.normal(size=(CHAINS, 10))
    kept, accepted = [], []
    for turn in range(WARM_UP + SAMPLES):
        p = rng.normal(size=q.shape)
        new_q, new_p = leapfrog(q, p)
        change = log_density(new_q) - log_density(q) - 0.5 * np.sum(new_p**2 - p**2, axis=1)
        accept = np.log(rng.uniform(size=CHAINS)) < change
        q = np.where(accept[:, None], new_q, q)
        if turn >= WARM_UP:
            kept.append(q)
            accepted.append(accept.mean())
    mean, spread, gains = schools(np.concatenate(kept))
    return Posterior(mean, spread, gains.mean(axis=0), float(np.mean(accepted)))


def main() -> Posterior:
    """Samples the posterior, prints its means, and returns it."""
    posterior = sample(np.random.default_rng(0))
    print(f"{CHAINS} chains, {posterior.accepted:.0%} of the moves accepted")
    print(f"mean gain {posterior.mean.mean():.2f} ± {posterior.mean.std():.2f}")
    print(f"spread of the schools {posterior.spread.mean():.2f} ± {posterior.spread.std():.2f}")
    for name, seen, gain in zip("ABCDEFGH", GAINS, posterior.gains, strict=True):
        print(f"school {name}: measured {seen:5.1f}, expected {gain:.1f}")
    return posterior


def plot(figure: Figure, posterior: Posterior) -> None:
    """Draws the posterior of the mean and the spread, and the schools' gains as measured and as expected."""
    density, gains = figure.subplots(1, 2)
    density.hexbin(posterior.mean, np.log(posterior.spread), gridsize=40, mincnt=1)
    density.set(xlabel="mean gain", ylabel="logarithm of the spread")
    places = np.arange(len(GAINS))
    gains.errorbar(places, GAINS, ERRORS, fmt="o", label="measured")
    gains.plot(places, posterior.gains, "o", label="expected")
    gains.set_xticks(places, "ABCDEFGH")
    gains.set(xlabel="school", ylabel="gain")
    gains.legend()


if __name__ == "__main__":
    run(main, plot)
