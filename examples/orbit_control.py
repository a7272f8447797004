"""A spacecraft steered to a higher orbit with the least fuel: impulses through a Runge-Kutta integrator.

Run it with `python examples/orbit_control.py`. In units in which the planet's gravity and the radius of the
first orbit are 1, the spacecraft is to reach the circle of radius 1.5. The engine may fire at the start, at
the end, and twice on the way. SLSQP minimises the sum of the impulses' lengths, under the condition that the
spacecraft then stays on the circle; the Jacobian of the condition goes through all Runge-Kutta steps. The
least fuel is known: Hohmann's transfer fires twice, at both ends of half an ellipse.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from plotting import Figure, run
from scipy.optimize import minimize

import s2sad

Vector = NDArray[np.float64]
Field = Callable[[Vector], Vector]
TARGET = 1.5  # the radius of the second orbit
IMPULSES, STEPS = 4, 15  # moments to fire at, and steps from one to the next
SMOOTH = 1e-3  # of the impulses' lengths at 0


def gravity(attraction: float) -> Field:
    """The rate of change of the state, a position and a velocity in the plane, of shape (4,)."""

    def field(state: Vector) -> Vector:
        position, velocity = state[:2], state[2:]
        r = np.linalg.norm(position)
        return np.concatenate([velocity, -attraction * position / r**3])

    return field


def runge_kutta(field: Field, h: float) -> Field:
    """The state after a step of length `h`, by the classical method of fourth order."""

    def step(state: Vector) -> Vector:
        k1 = field(state)
        k2 = field(state + h / 2 * k1)
        k3 = field(state + h / 2 * k2)
        k4 = field(state + h * k3)
        return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    return step


def fly(plan: Vector) -> Vector:
    """The state after the last impulse. A plan is the time of the flight and the impulses, of shape
    (1 + 2 * IMPULSES,).
    """
    duration, impulses = plan[0], plan[1:].reshape(IMPULSES, 2)
    step = runge_kutta(gravity(1.0), duration / (STEPS * (IMPULSES - 1)))
    state = np.array([1.0, 0.0, 0.0, 1.0])
    state[2:] += impulses[0]
    for impulse in impulses[1:]:
        for _ in range(STEPS):
            state = step(state)
        state[2:] += impulse
    return state


def off_target(plan: Vector) -> Vector:
    """The errors of the radius, of the velocity outwards and of the velocity along the circle."""
    x, y, u, v = fly(plan)
    outwards, along = (x * u + y * v) / TARGET, (x * v - y * u) / TARGET
    return np.array([np.hypot(x, y) - TARGET, outwards, along - TARGET**-0.5])


def fuel(plan: Vector) -> float:
    """The sum of the impulses' lengths, smoothed at 0."""
    impulses = plan[1:].reshape(IMPULSES, 2)
    total: float = np.sum(np.sqrt(np.sum(impulses**2, axis=1) + SMOOTH**2) - SMOOTH)
    return total


def hohmann() -> float:
    """The least fuel, by Hohmann's formula."""
    middle = (1 + TARGET) / 2
    return float(np.sqrt(TARGET / middle) - 1 + (1 - np.sqrt(1 / middle)) / np.sqrt(TARGET))


@dataclass(frozen=True)
class Flight:
    """The plan that was found, the lengths of its impulses, and by how much it misses the second orbit."""

    plan: Vector
    lengths: Vector
    error: float
    iterations: int


def main() -> Flight:
    """Finds the plan, prints its impulses, and returns it."""
    guess = np.concatenate([[4.0], np.random.default_rng(0).normal(0, 0.01, 2 * IMPULSES)])
    found = minimize(
        s2sad.value_and_grad(fuel),
        guess,
        jac=True,
        method="SLSQP",
        constraints={"type": "eq", "fun": off_target, "jac": s2sad.jacobian(off_target)},
        options={"maxiter": 200, "ftol": 1e-8},
    )
    impulses = found.x[1:].reshape(IMPULSES, 2)
    lengths = np.linalg.norm(impulses, axis=1)
    flight = Flight(found.x, lengths, float(np.max(np.abs(off_target(found.x)))), found.nit)
    for k, ((u, v), length) in enumerate(zip(impulses, lengths, strict=True)):
        time = found.x[0] * k / (IMPULSES - 1)
        print(f"at {time:.2f}: impulse ({u:7.4f}, {v:7.4f}), length {length:.4f}")
    print(f"fuel {lengths.sum():.4f} (the least: {hohmann():.4f}), {found.nit} iterations")
    return flight


def plot(figure: Figure, flight: Flight) -> None:
    """Draws both orbits, the flight between, and where the engine fires."""
    axes = figure.subplots()
    angle = np.linspace(0, 2 * np.pi, 200)
    for radius in (1.0, TARGET):
        axes.plot(radius * np.cos(angle), radius * np.sin(angle), "--", color="gray")
    path, firing = [np.array([1.0, 0.0, 0.0, 1.0])], []
    step = runge_kutta(gravity(1.0), flight.plan[0] / (STEPS * (IMPULSES - 1)))
    for k, impulse in enumerate(flight.plan[1:].reshape(IMPULSES, 2)):
        firing.append((*path[-1][:2], *impulse))
        path.append(path[-1] + np.array([0.0, 0.0, *impulse]))
        for _ in range(STEPS if k < IMPULSES - 1 else 0):
            path.append(step(path[-1]))
    axes.plot(*np.array(path)[:, :2].T)
    axes.quiver(*np.array(firing).T, color="tab:red", zorder=3)
    axes.set_aspect("equal")


if __name__ == "__main__":
    run(main, plot)
