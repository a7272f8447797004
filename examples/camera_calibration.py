"""Cameras calibrated from what they see: a small bundle adjustment by sparse least squares.

Run it with `python examples/camera_calibration.py`. Eight cameras of one make look at forty points from all
sides. From where the points are in the pictures, with errors of half a pixel, `least_squares` finds the
focal length and the distortion of the lens, how each camera stands, and the points (Triggs et al., "Bundle
adjustment: a modern synthesis", 2000). Each picture of a point depends on few of the unknowns: the Jacobian
is a sparse matrix, whose pattern s2sad finds.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

import s2sad

Array = NDArray[np.float64]
CAMERAS, POINTS = 8, 40
LENS = np.array([800.0, -0.1])  # the focal length in pixels, and the distortion
NOISE = 0.5  # pixels
CAMERA, POINT = (index.ravel() for index in np.indices((CAMERAS, POINTS)))  # of each picture of a point


def rotate(points: Array, rotations: Array) -> Array:
    """The points, each turned about a vector, by as many radians as that is long (Rodrigues' formula)."""
    angle = np.linalg.norm(rotations, axis=1, keepdims=True)
    axis = rotations / angle
    along = np.sum(axis * points, axis=1, keepdims=True) * axis
    turned: Array = along + np.cos(angle) * (points - along) + np.sin(angle) * np.cross(axis, points)
    return turned


def project(lens: Array, poses: Array, points: Array) -> Array:
    """Where each camera sees each point, in pixels from the middle of the picture."""
    seen = rotate(points[POINT], poses[CAMERA, :3]) + poses[CAMERA, 3:]
    flat = seen[:, :2] / seen[:, 2:]
    stretch = 1 + lens[1] * np.sum(flat**2, axis=1, keepdims=True)
    pixels: Array = lens[0] * stretch * flat
    return pixels


def residuals(params: Array, pictures: Array) -> Array:
    """The errors in all pictures, in units of their standard deviation."""
    lens = params[:2]
    poses = params[2 : 2 + 6 * CAMERAS].reshape(CAMERAS, 6)
    points = params[2 + 6 * CAMERAS :].reshape(POINTS, 3)
    return ((project(lens, poses, points) - pictures) / NOISE).ravel()


def look(angle: float, height: float) -> Array:
    """The pose (rotation vector, translation) of a camera that looks at the origin from a distance of 5."""
    place = 5 * np.array([np.cos(angle) * np.cos(height), np.sin(angle) * np.cos(height), np.sin(height)])
    forward = -place / 5
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    matrix: Array = np.stack([right, np.cross(forward, right), forward])
    turn = np.arccos((np.trace(matrix) - 1) / 2)
    axis = np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])
    return np.concatenate([turn * axis / (2 * np.sin(turn)), -matrix @ place])


@dataclass(frozen=True)
class Calibration:
    """The lens, the mean error in the pictures in pixels, and how full the Jacobian is."""

    lens: Array
    error: float
    shape: tuple[int, int]
    filled: float


def main() -> Calibration:
    """Calibrates the cameras, prints what was found, and returns it."""
    rng = np.random.default_rng(0)
    angles = 0.2 + 2 * np.pi * np.arange(CAMERAS) / CAMERAS
    poses = np.stack([look(angle, 0.4 * np.sin(3 * angle)) for angle in angles])
    points = rng.uniform(-1, 1, (POINTS, 3))
    pictures = project(LENS, poses, points) + NOISE * rng.normal(size=(CAMERAS * POINTS, 2))

    about = [poses + 0.02 * rng.normal(size=poses.shape), points + 0.05 * rng.normal(size=points.shape)]
    guess = np.concatenate([[700.0, 0.0], *(values.ravel() for values in about)])
    slopes = s2sad.jacobian(residuals, sparsity=True)
    found = least_squares(residuals, guess, slopes, args=(pictures,), x_scale="jac")
    matrix = slopes(found.x, pictures)
    rows, columns = matrix.shape
    error = NOISE * np.sqrt(np.mean(found.fun**2))
    result = Calibration(found.x[:2], float(error), (rows, columns), matrix.nnz / (rows * columns))
    print(f"Jacobian of {rows} x {columns}, {result.filled:.1%} of it filled")
    print(f"focal length {result.lens[0]:.1f} pixels (true: {LENS[0]})")
    print(f"distortion {result.lens[1]:.4f} (true: {LENS[1]})")
    print(f"mean error {result.error:.2f} pixels, after {found.njev} Jacobians")
    return result


if __name__ == "__main__":
    main()
