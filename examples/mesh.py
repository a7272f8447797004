"""A tangled mesh made regular: the places of its nodes by the shapes of its triangles.

Run it with `python examples/mesh.py`. The nodes inside an L-shaped plate are moved at random, so far that
triangles are folded over. L-BFGS moves them until all triangles are as near to equilateral as they can be.
The measure of a shape is the mean ratio (Knupp, "Algebraic mesh quality metrics", 2001), with a smooth
stand-in for the area, by which folded triangles unfold (Escobar et al., "Simultaneous untangling and
smoothing of tetrahedral meshes", 2003).
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from plotting import Figure, run
from scipy.optimize import minimize

import s2sad

Array = NDArray[np.float64]
Index = NDArray[np.intp]
SIZE = 12  # squares along the longer sides of the plate


def make_plate() -> tuple[Array, Index, Index]:
    """Nodes, triangles (three nodes each, anticlockwise), and which nodes are inside."""
    y, x = np.indices((SIZE + 1, SIZE + 1)).reshape(2, -1)
    half = SIZE // 2
    corners = [i * (SIZE + 1) + j for i in range(SIZE) for j in range(SIZE) if i < half or j < half]
    triangles = []
    for a in corners:
        b, c, d = a + 1, a + SIZE + 1, a + SIZE + 2
        triangles += [(a, b, d), (a, d, c)] if (x[a] + y[a]) % 2 else [(a, b, c), (b, d, c)]
    inside = (x > 0) & (y > 0) & (x < SIZE) & (y < SIZE) & ((x < half) | (y < half))
    return np.stack([x, y], axis=1) / SIZE, np.array(triangles), np.flatnonzero(inside)


def edges(nodes: Array, triangles: Index) -> tuple[Array, Array, Array]:
    """The three sides of each triangle, one behind the other."""
    a, b, c = nodes[triangles[:, 0]], nodes[triangles[:, 1]], nodes[triangles[:, 2]]
    return b - a, c - b, a - c


def areas(nodes: Array, triangles: Index) -> Array:
    """Twice the area of each triangle, negative where it is folded over."""
    first, second, _ = edges(nodes, triangles)
    return first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]


def distortion(moved: Array, inside: Index, nodes: Array, triangles: Index, soft: float) -> float:
    """The mean over triangles of the squares of the sides by the area: 1 where all are equilateral."""
    nodes = nodes.copy()
    nodes[inside] = moved.reshape(-1, 2)
    squares = sum(np.sum(side**2, axis=1) for side in edges(nodes, triangles))
    area = areas(nodes, triangles)
    positive = 0.5 * (area + np.sqrt(area**2 + 4 * soft**2))
    mean: float = np.mean(squares / (2 * np.sqrt(3.0) * positive))
    return mean


def smallest_angle(nodes: Array, triangles: Index) -> float:
    """The smallest angle of all triangles, in degrees."""
    sides = edges(nodes, triangles)
    lengths = [np.linalg.norm(side, axis=1) for side in sides]
    cosines = [-np.sum(sides[k] * sides[k - 1], axis=1) / (lengths[k] * lengths[k - 1]) for k in range(3)]
    return float(np.degrees(np.arccos(np.max(cosines))))


@dataclass(frozen=True)
class Smoothed:
    """The nodes before and after, and the numbers of folded triangles and the smallest angles of both."""

    start: Array
    nodes: Array
    folded: tuple[int, int]
    angle: tuple[float, float]


def main() -> Smoothed:
    """Makes the mesh regular, prints how it went, and returns it."""
    nodes, triangles, inside = make_plate()
    nodes[inside] += np.random.default_rng(0).normal(0, 0.5 / SIZE, (len(inside), 2))
    start = nodes.copy()
    for soft in (1e-2, 1e-3, 1e-5):  # each time the stand-in is nearer to the area
        args = (inside, nodes, triangles, soft)
        objective = s2sad.value_and_grad(distortion)
        found = minimize(objective, nodes[inside].ravel(), args, jac=True, method="L-BFGS-B")
        nodes[inside] = found.x.reshape(-1, 2)
    folded = [int(np.sum(areas(state, triangles) <= 0)) for state in (start, nodes)]
    angle = [smallest_angle(state, triangles) for state in (start, nodes)]
    print(f"{len(triangles)} triangles, folded: {folded[0]} -> {folded[1]}")
    print(f"smallest angle: {angle[0]:.1f} -> {angle[1]:.1f} degrees; distortion {found.fun:.3f}")
    return Smoothed(start, nodes, (folded[0], folded[1]), (angle[0], angle[1]))


def plot(figure: Figure, smoothed: Smoothed) -> None:
    """Draws the mesh before and after."""
    _, triangles, _ = make_plate()
    for axes, nodes in zip(figure.subplots(1, 2), (smoothed.start, smoothed.nodes), strict=True):
        axes.triplot(*nodes.T, triangles, linewidth=1)
        axes.set(aspect="equal", xticks=[], yticks=[])


if __name__ == "__main__":
    run(main, plot)
