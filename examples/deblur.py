"""A picture that is out of focus made sharp: deconvolution with a penalty on its total variation.

Run it with `python examples/deblur.py`. The picture is blurred by a Gaussian, through the Fourier
transform, and has noise. L-BFGS finds the picture that would have been blurred to that, and whose
brightness changes at few places (Rudin, Osher and Fatemi, "Nonlinear total variation based noise removal
algorithms", 1992).
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from plotting import Figure, run
from scipy.optimize import minimize

import s2sad

Image = NDArray[np.float64]
SIZE, WIDTH, NOISE = 64, 1.5, 0.01  # in pixels, in pixels, and in units of the brightness
PENALTY, SMOOTH = 1e-3, 1e-3


def transfer() -> Image:
    """The Fourier transform of a Gaussian of standard deviation `WIDTH`."""
    y, x = np.fft.fftfreq(SIZE)[:, None], np.fft.rfftfreq(SIZE)[None, :]
    values: Image = np.exp(-2 * (np.pi * WIDTH) ** 2 * (x**2 + y**2))
    return values


def blur(image: Image, response: Image) -> Image:
    """The picture out of focus."""
    return np.fft.irfft2(response * np.fft.rfft2(image), s=image.shape)


def variation(image: Image) -> float:
    """The sum of the lengths of the brightness's slopes, smoothed at 0."""
    down = image[1:, :-1] - image[:-1, :-1]
    right = image[:-1, 1:] - image[:-1, :-1]
    total: float = np.sum(np.sqrt(down**2 + right**2 + SMOOTH**2))
    return total


def objective(pixels: Image, blurred: Image, response: Image) -> float:
    """Half the squared error of the blurred picture, and the penalty; `pixels` is flat."""
    image = pixels.reshape(blurred.shape)
    error = blur(image, response) - blurred
    return 0.5 * np.sum(error**2) + PENALTY * variation(image)


def draw() -> Image:
    """A disc, a frame, bars and a ramp."""
    y, x = np.indices((SIZE, SIZE))
    image = np.zeros((SIZE, SIZE))
    image[(y - 18) ** 2 + (x - 18) ** 2 < 100] = 1.0
    image[8:28, 36:56] = 0.7
    image[12:24, 40:52] = 0.2
    for left in (8, 16, 24):
        image[36:56, left : left + 4] = 1.0
    image[36:56, 36:56] = np.linspace(0, 1, 20)
    return image


@dataclass(frozen=True)
class Result:
    """The three pictures, and the root mean squared errors of the second and the third."""

    true: Image
    blurred: Image
    sharp: Image
    before: float
    after: float


def show(image: Image) -> str:
    """The picture as text, of a character for each two pixels in a column."""
    shades = np.array(list(" .:-=+*#%@"))
    levels = np.clip(image[::2] * 9 + 0.5, 0, 9).astype(int)
    return "\n".join("".join(row).rstrip() for row in shades[levels])


def main() -> Result:
    """Makes the picture sharp, prints it, and returns it with the others."""
    true, response = draw(), transfer()
    blurred = blur(true, response) + NOISE * np.random.default_rng(0).normal(size=true.shape)
    found = minimize(
        s2sad.value_and_grad(objective),
        blurred.ravel(),
        (blurred, response),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 200},
    )
    sharp = found.x.reshape(true.shape)
    before, after = (float(np.sqrt(np.mean((image - true) ** 2))) for image in (blurred, sharp))
    print(show(sharp))
    print(f"root mean squared error {before:.3f} -> {after:.3f}, {found.nit} iterations")
    return Result(true, blurred, sharp, before, after)


def plot(figure: Figure, result: Result) -> None:
    """Draws the three pictures."""
    pictures = {"true": result.true, "out of focus": result.blurred, "sharp": result.sharp}
    for axes, (title, picture) in zip(figure.subplots(1, 3), pictures.items(), strict=True):
        axes.imshow(picture, cmap="gray", vmin=0, vmax=1)
        axes.set(title=title, xticks=[], yticks=[])


if __name__ == "__main__":
    run(main, plot)
