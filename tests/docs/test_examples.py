"""The examples run, and what they find is right."""
from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """An example as a module, from its file."""
    monkeypatch.syspath_prepend(EXAMPLES)
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)  # where dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def assert_plots(example: ModuleType, result: Any, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Fails unless the example draws a result into the file that its command line names."""
    file = folder / "found.png"
    monkeypatch.setattr(sys, "argv", [f"{example.__name__}.py", "--plot", str(file)])
    example.run(lambda: result, example.plot)
    assert file.read_bytes().startswith(b"\x89PNG")
    assert file.stat().st_size > 3000  # more than an empty figure


def test_every_example_is_tested() -> None:
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {path.stem for path in EXAMPLES.glob("*.py")} <= tested


def test_logistic_regression(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    example = load("logistic_regression", monkeypatch)
    x, labels = example.read_iris()
    assert x.shape == (150, 4)
    assert np.bincount(labels).tolist() == [50, 50, 50]
    # The two flowers that other copies have wrong, and the means of the paper's table.
    assert x[34].tolist() == [4.9, 3.1, 1.5, 0.2]
    assert x[37].tolist() == [4.9, 3.6, 1.4, 0.1]
    paper = [[5.006, 3.428, 1.462, 0.246], [5.936, 2.770, 4.260, 1.326], [6.588, 2.974, 5.552, 2.026]]
    np.testing.assert_allclose([x[labels == k].mean(axis=0) for k in range(3)], paper, rtol=1e-12)

    fit = example.main()
    assert fit.accuracy >= 0.97
    assert fit.loss < 0.14
    assert np.max(np.abs(fit.gradient)) < 1e-5  # BFGS stops there
    scaled = (x - x.mean(axis=0)) / x.std(axis=0)
    elsewhere = np.linspace(-1, 1, fit.weights.size)
    _, gradient = example.s2sad.value_and_grad(example.loss)(elsewhere, scaled, labels, 1e-3)
    by_steps = approx_fprime(elsewhere, example.loss, 1e-7, scaled, labels, 1e-3)
    np.testing.assert_allclose(gradient, by_steps, rtol=1e-4, atol=1e-5)

    printed = capsys.readouterr().out
    assert fit.source in printed
    assert "def loss_value_and_grad(params, x, labels, penalty):" in printed
    assert f"{fit.accuracy:.1%} of 150 flowers" in printed


def test_recurrent(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    training = load("recurrent", monkeypatch).main()
    assert training.losses[-1] < training.losses[0] / 50
    assert training.unseen < 2 * training.losses[-1]  # it has learned waves, and not these waves
    assert training.unseen < training.repeating / 10
    assert "on unseen waves" in capsys.readouterr().out


def test_lotka_volterra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    example = load("lotka_volterra", monkeypatch)
    fit = example.main()
    np.testing.assert_allclose(fit.rates, example.TRUE_RATES, rtol=0.05)
    assert fit.misfit < fit.true_misfit  # the best rates fit the noise a little better than the true ones
    assert "growth: " in capsys.readouterr().out


def test_iris_network(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    example = load("iris_network", monkeypatch)
    network, losses = example.main()
    x, labels = example.read_iris()
    assert losses[-1] < losses[0] / 8
    assert network.accuracy(x, labels) >= 0.97

    gradient = example.s2sad.grad(example.Network.loss)(network, x, labels)
    weights = network.layers[0].weights

    def at(values: np.ndarray) -> float:
        network.layers[0].weights = values.reshape(weights.shape)
        return float(network.loss(x, labels))

    by_steps = approx_fprime(weights.ravel().copy(), at, 1e-7)
    np.testing.assert_allclose(gradient.layers[0].weights.ravel(), by_steps, rtol=1e-3, atol=1e-6)
    assert "def loss_value_and_grad(self, x, labels):" in capsys.readouterr().out


def test_reaction_rates(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    example = load("reaction_rates", monkeypatch)
    fit = example.main()
    assert np.all(np.abs(fit.rates - example.TRUE_RATES) < 3 * fit.errors)
    first, second = fit.rates
    assert fit.maximum == pytest.approx(np.log(first / second) / (first - second), rel=1e-10)

    measured = np.linspace(0.5, 0.1, example.TIMES.size)
    by_steps = approx_fprime(fit.rates, example.misfit, 1e-6, measured)
    np.testing.assert_allclose(example.s2sad.grad(example.misfit)(fit.rates, measured), by_steps, rtol=1e-4)
    by_steps = approx_fprime(fit.rates, example.time_of_maximum, 1e-6)
    np.testing.assert_allclose(example.s2sad.grad(example.time_of_maximum)(fit.rates), by_steps, rtol=1e-4)
    assert "most of B after" in capsys.readouterr().out


def test_heat_inverse(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    example = load("heat_inverse", monkeypatch)
    fit = example.main()
    assert_plots(example, fit, monkeypatch, tmp_path)
    np.testing.assert_allclose(fit.conductivity, example.TRUE, rtol=0.15)
    np.testing.assert_allclose(fit.conductivity[:2], example.TRUE[:2], rtol=0.02)
    assert fit.misfit < fit.true_misfit

    elsewhere = np.log([0.5, 0.4, 0.3, 0.2, 0.1])
    measured = np.ones((example.STEPS // example.EVERY, len(example.THERMOMETERS)))
    by_steps = approx_fprime(elsewhere, example.misfit, 1e-6, measured)
    np.testing.assert_allclose(example.s2sad.grad(example.misfit)(elsewhere, measured), by_steps, rtol=1e-4)
    assert "layer 5: conductivity" in capsys.readouterr().out


def test_gaussian_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    example = load("gaussian_process", monkeypatch)
    fit = example.main()
    assert fit.after < fit.before - 30
    assert np.argmin(fit.params[2:]) == 2  # the petal's length says most
    assert fit.error < fit.deviation / 4
    assert 0.85 < fit.covered <= 1

    x, y = example.read_iris()
    data = (x[::5], y[::5] - 1.2)
    loss = example.negative_log_likelihood
    elsewhere = np.array([0.1, -2.0, 0.3, 0.5, -0.2])
    by_steps = approx_fprime(elsewhere, loss, 1e-6, *data)
    np.testing.assert_allclose(example.s2sad.grad(loss)(elsewhere, *data), by_steps, rtol=1e-4, atol=1e-4)
    assert "negative log marginal likelihood" in capsys.readouterr().out


def test_hamiltonian_monte_carlo(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    example = load("hamiltonian_monte_carlo", monkeypatch)
    posterior = example.main()
    assert_plots(example, posterior, monkeypatch, tmp_path)
    assert posterior.accepted > 0.8
    # What Stan finds for this model.
    assert posterior.mean.mean() == pytest.approx(4.4, abs=0.25)
    assert posterior.mean.std() == pytest.approx(3.3, abs=0.3)
    assert posterior.spread.mean() == pytest.approx(3.6, abs=0.35)
    assert np.argmin(posterior.gains) == 4
    assert set(np.argsort(posterior.gains)[-2:]) == {0, 6}

    # Leapfrog steps can be taken back.
    rng = np.random.default_rng(1)
    q, p = rng.normal(size=(2, 3, 10))
    new_q, new_p = example.leapfrog(q, p)
    back, _ = example.leapfrog(new_q, -new_p)
    assert np.max(np.abs(new_q - q)) > 0.1
    np.testing.assert_allclose(back, q, rtol=1e-9, atol=1e-12)
    assert "school H: measured  12.0" in capsys.readouterr().out


def test_kalman_filter(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    example = load("kalman_filter", monkeypatch)
    assert example.FLOWS.sum() == 91_935
    fit = example.main()
    np.testing.assert_allclose(fit.variances, [1469.1, 15_099], rtol=1e-3)  # Durbin and Koopman, table 2.1
    assert fit.log_likelihood == pytest.approx(-632.54, abs=0.02)
    assert np.all(fit.errors < fit.variances)
    assert "variance of the level: 1469" in capsys.readouterr().out


def test_hidden_markov(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    example = load("hidden_markov", monkeypatch)
    fit = example.main()
    np.testing.assert_allclose(fit.rates, [13.146, 19.721, 29.714], rtol=1e-3)  # Zucchini and MacDonald, 3.4
    assert fit.negative_log_likelihood == pytest.approx(329.4603, abs=1e-3)
    np.testing.assert_allclose(fit.changes.sum(axis=1), 1)
    assert "negative log likelihood 329.46" in capsys.readouterr().out


def test_camera_calibration(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    example = load("camera_calibration", monkeypatch)
    result = example.main()
    np.testing.assert_allclose(result.lens, example.LENS, rtol=0.05)
    assert result.lens[0] == pytest.approx(example.LENS[0], rel=0.005)
    assert 0.4 < result.error < 0.5  # a little less than the errors of the pictures
    assert result.shape == (640, 170)
    assert result.filled < 0.07

    rng = np.random.default_rng(2)
    params = rng.normal(size=170) + np.where(np.arange(170) % 6 == 1, 5.0, 0.0)
    pictures = rng.normal(size=(320, 2))
    sparse = example.s2sad.jacobian(example.residuals, sparsity=True)(params, pictures)
    dense = example.s2sad.jacobian(example.residuals)(params, pictures)
    np.testing.assert_allclose(sparse.toarray(), dense, rtol=1e-9, atol=1e-9 * np.abs(dense).max())
    assert "Jacobian of 640 x 170" in capsys.readouterr().out


def test_survival(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    example = load("survival", monkeypatch)
    accelerated, hazards = example.main()
    # What R's `survreg` and `coxph(ties="breslow")` find.
    np.testing.assert_allclose(accelerated.params, [2.248, 1.267, -0.312], atol=1e-3)
    np.testing.assert_allclose(accelerated.errors, [0.166, 0.311, 0.147], atol=1e-3)
    assert accelerated.log_likelihood == pytest.approx(-106.6, abs=0.05)
    np.testing.assert_allclose(hazards.params, [-1.509], atol=1e-3)
    np.testing.assert_allclose(hazards.errors, [0.410], atol=1e-3)
    assert "Cox, drug: -1.509 ± 0.410" in capsys.readouterr().out


def test_deblur(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    example = load("deblur", monkeypatch)
    result = example.main()
    assert_plots(example, result, monkeypatch, tmp_path)
    assert result.after < result.before / 3
    rng = np.random.default_rng(0)
    data = (rng.normal(size=(6, 5)), rng.uniform(size=(6, 3)))
    pixels = rng.normal(size=30)
    by_steps = approx_fprime(pixels, example.objective, 1e-6, *data)
    gradient = example.s2sad.grad(example.objective)(pixels, *data)
    np.testing.assert_allclose(gradient, by_steps, rtol=1e-3, atol=1e-4)
    assert "root mean squared error" in capsys.readouterr().out


def test_mesh(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    example = load("mesh", monkeypatch)
    smoothed = example.main()
    assert_plots(example, smoothed, monkeypatch, tmp_path)
    assert smoothed.folded[0] > 20
    assert smoothed.folded[1] == 0
    assert smoothed.angle[1] > 40
    assert smoothed.nodes.min() == 0
    assert smoothed.nodes.max() == 1
    assert "216 triangles, folded:" in capsys.readouterr().out


def test_dask_workers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: pip install s2sad[dask]")
    monkeypatch.syspath_prepend(str(EXAMPLES))  # where workers import it from, too
    example = importlib.import_module("dask_workers")
    fit = example.main()
    np.testing.assert_allclose(fit.params, fit.alone, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(fit.params, example.TRUE, atol=0.05)
    assert fit.evaluations >= example.KILLED_AT
    with pytest.raises(ProcessLookupError):
        os.kill(fit.killed, 0)

    part = example.make_part(3)
    by_steps = approx_fprime(example.TRUE, example.loss, 1e-6, part)
    _, gradient = example.loss_and_gradient(example.TRUE, part)
    np.testing.assert_allclose(gradient, by_steps, rtol=1e-4, atol=1e-2)
    assert f"process {fit.killed} was killed" in capsys.readouterr().out


def test_orbit_control(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    example = load("orbit_control", monkeypatch)
    flight = example.main()
    assert_plots(example, flight, monkeypatch, tmp_path)
    assert flight.error < 1e-6
    least = example.hohmann()
    assert least == pytest.approx(0.181645, abs=1e-6)
    assert 0.999 * least < flight.lengths.sum() < 1.002 * least
    assert flight.lengths[1:-1].max() < 0.01  # it fires at both ends

    # The spacecraft stays on the circle without any impulse.
    plan = np.concatenate([[2.0], np.zeros(2 * example.IMPULSES)])
    x, y, u, v = example.fly(plan)
    assert [np.hypot(x, y), np.hypot(u, v), np.arctan2(y, x)] == pytest.approx([1, 1, 2], abs=1e-5)
    plan = np.random.default_rng(2).normal([3.0] + [0.0] * 8, 0.05)
    by_steps = approx_fprime(plan, example.off_target, 1e-7)
    jacobian = example.s2sad.jacobian(example.off_target)(plan)
    np.testing.assert_allclose(jacobian, by_steps, rtol=1e-4, atol=1e-5)
    assert "fuel 0.18" in capsys.readouterr().out


def test_digits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    example = load("digits", monkeypatch)
    images, labels = example.read_digits()
    assert images.shape == (1797, 8, 8)
    assert (images.min(), images.max()) == (0, 1)
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]

    reading = example.main()
    assert_plots(example, reading, monkeypatch, tmp_path)
    assert reading.trained > 0.97
    assert reading.unseen > 0.95
    gradient = example.s2sad.grad(example.loss)(reading.params, images[:9], labels[:9])
    for name, value in reading.params.items():

        def at(values: np.ndarray, name: str = name, shape: tuple[int, ...] = value.shape) -> float:
            params = reading.params | {name: values.reshape(shape)}
            return float(example.loss(params, images[:9], labels[:9]))

        by_steps = approx_fprime(value.ravel(), at, 1e-7)
        np.testing.assert_allclose(gradient[name].ravel(), by_steps, rtol=1e-3, atol=1e-6)
    assert "that was read as a" in capsys.readouterr().out


def test_plotting(monkeypatch: pytest.MonkeyPatch) -> None:
    plotting = load("plotting", monkeypatch)
    found = []
    monkeypatch.setattr(sys, "argv", ["example.py"])
    plotting.run(lambda: found.append("run"), lambda figure, result: found.append("drawn"))
    assert found == ["run"]
