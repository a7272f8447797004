"""Functions of installed packages, differentiated as they are: nothing of them is declared or wrapped.

A row is a call, written as its user would. What of its arguments are floats, or hold floats alone, is
differentiated; the rest is handed on. Steps and tolerances are relative to the arguments and derivatives:
engineering formulas mix lengths of a micrometre with pressures of a megapascal.
"""

from __future__ import annotations

import ast
import copy
import importlib
import inspect
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad
from tests.support.compare import (
    assert_same,
    dot,
    flatten,
    is_real_scalar,
    map_leaves,
    numeric_jvp,
    random_like,
)

v = np.array([0.36, 0.71, 1.12, 1.57, 0.93])
w = np.array([1.32, 0.54, 0.87, 1.05, 1.61])
p, q = v / v.sum(), w / w.sum()
wide = np.array([[0.3, -1.2, 0.8, 1.1], [2.1, 0.4, -0.6, 0.9], [-0.7, 1.5, 0.2, 1.9]])
square = np.array(
    [[0.3, -1.2, 0.8, 1.1], [2.1, 0.4, -0.6, 0.9], [-0.7, 1.5, 0.2, 1.9], [1.3, 0.6, 1.7, -0.4]]
)
steep = square @ square.T + 4 * np.eye(4)
grid = np.cumsum(np.array([0.3, 0.6, 0.9, 0.5, 0.7, 0.8, 0.6, 0.95, 0.55]))
heights = np.sin(grid)

CALLS = {
    "colorsys": """
        rgb_to_hsv(0.2, 0.4, 0.7)
        hsv_to_rgb(0.3, 0.4, 0.7)
        rgb_to_hls(0.2, 0.4, 0.7)
        hls_to_rgb(0.2, 0.4, 0.7)
        rgb_to_yiq(0.2, 0.4, 0.7)
        yiq_to_rgb(0.5, 0.1, 0.1)
    """,
    "statistics": """
        correlation(list(v), list(w))
        covariance(list(v), list(w))
    """,
    "numpy.polynomial.polynomial": """
        polyval(0.3, v)
        polymul(v, w)
        polyvander(v, 3)
        polyvalfromroots(0.3, v)
    """,
    "numpy.polynomial.chebyshev": "chebval(0.3, v)",
    "numpy.polynomial.hermite": "hermval(0.3, v)",
    "numpy.polynomial.legendre": "legval(0.3, v)",
    "scipy.special": """
        softmax(v)
        softmax(wide, axis=0)
        log_softmax(wide, axis=1)
        multigammaln(5.3, 3)
        sinc(v)
        polygamma(1, v)
        perm(5.5, 2)
    """,
    "scipy.stats._continuous_distns": """
        _norm_pdf(v)
        _norm_logpdf(v)
        _norm_cdf(v)
        _norm_logcdf(v)
        _norm_sf(v)
        _beta_mle_a(2.0, 3.0, 5.0, 1.0)
    """,
    "scipy.signal": """
        gausspulse(v, 1.3)
        resample(v, 4)
        resample(wide, 3, axis=1)
        chirp(v, 1.0, 2.0, 3.0)
        chirp(v, 1.0, 2.0, 3.0, "logarithmic")
        chirp(v, 1.0, 2.0, 3.0, method="hyperbolic")
        sweep_poly(v, w)
        convolve(v, w)
        correlate(v, w, mode="same")
        kaiser_beta(55.0)
        kaiser_atten(11, 0.3)
        square(v)
    """,
    "scipy.signal.windows": """
        kaiser(7, 2.5)
        gaussian(7, 1.5, sym=False)
        tukey(9, 0.4)
    """,
    "scipy.integrate": "fixed_quad(np.sin, 0.3, 1.2)",
    "scipy.integrate._quadrature": """
        _cumulative_simpson_unequal_intervals(heights, np.diff(grid))
        _cumulative_simpson_equal_intervals(heights, np.diff(grid))
    """,
    "scipy.integrate._ivp.common": "norm(v)",
    "scipy.linalg": """
        norm(steep)
        norm(v, 3)
        toeplitz(v, w)
        circulant(v)
        hankel(v)
        companion(v)
        convolution_matrix(v, 4)
        expm(square)
        sinm(square)
        cosm(square)
        solve_continuous_lyapunov(steep, steep)
    """,
    "scipy.spatial.distance": """
        sqeuclidean(v, w)
        cityblock(v, w)
        correlation(v, w)
        minkowski(v, w, 3)
        minkowski(v, w, 3, w=p)
        chebyshev(v, w)
        canberra(v, w)
        braycurtis(v, w)
        mahalanobis(square[0], square[1], steep)
        jensenshannon(p, q)
    """,
    "scipy.spatial": """
        minkowski_distance(v, w, 3)
        distance_matrix(wide, steep, 3)
        distance_matrix(steep, steep)
    """,
    "scipy.ndimage._filters": """
        _gaussian_kernel1d(1.3, 0, 4)
        _gaussian_kernel1d(1.3, 2, 4)
    """,
    "scipy.optimize": """
        rosen(v)
        rosen_der(v)
        rosen_hess_prod(v, w)
    """,
    "scipy.optimize._lsq.common": """
        evaluate_quadratic(square, square[0], square[1], square[2])
        build_quadratic_1d(square, square[0], square[1], square[2])
        minimize_quadratic_1d(1.2, -0.7, -1.0, 2.0, 0.3)
        intersect_trust_region(np.array([0.1, 0.2]), np.array([1.0, 0.4]), 2.0)
        CL_scaling_vector(v, w - 1, v - 3, v + 2)
        reflective_transformation(v, v - 0.3, v + 0.4)
        compute_grad(square, square[0])
    """,
    "scipy.optimize._linesearch": """
        _cubicmin(0.1, 1.0, -2.0, 1.0, 0.3, 2.0, 1.3)
        _quadmin(0.1, 1.0, -2.0, 1.0, 0.3)
    """,
    "scipy.optimize._optimize": "vecnorm(v, 3)",
    "scipy.optimize._tstutils": """
        f1(0.3)
        f2(0.3)
        f4(0.3)
        f5(0.3)
        aps01_f(0.3)
        aps02_fpp(0.3)
        aps03_f(0.3, 1.2, 0.4)
        aps08_f(0.3, 2)
        aps13_f(0.3)
        aps15_f(0.0003, 5)
        cplx01_f(0.3, 2, 0.5)
    """,
    "fluids.core": """
        Grashof(L=0.9144, beta=0.000933, T1=178.2, rho=1.1613, mu=1.9E-5)
        Fourier_heat(t=1.5, L=2, rho=1000., Cp=4000., k=0.6)
        nu_mu_converter(998., nu=1.0E-6)
        gravity(55, 1E4)
        Reynolds(2.5, 0.25, 1.1613, 1.9E-5)
        c_ideal_gas(T=303., k=1.4, MW=28.96)
    """,
    "fluids.friction": """
        Clamond(1E5, 1E-4)
        Haaland(1E5, 1E-4)
        Serghides_2(1E5, 1E-4)
        Zigrang_Sylvester_2(1E5, 1E-4)
        ft_Crane(.1)
        helical_Re_crit(Di=0.02, Dc=0.5)
        roughness_Farshad('Cr13, bare', 0.05)
        one_phase_dP_acceleration(m=1., D=0.1, rho_o=827.1, rho_i=830.)
        friction_plate_Muley_Manglik(Re=2100., chevron_angle=45, plate_enlargement_factor=1.2)
    """,
    "fluids.drag": """
        Almedeij(200.)
        Barati_high(200.)
        Ceylan(200.)
        Clift_Gauvin(200.)
        Khan_Richardson(200.)
        Mikhailov_Freire(200.)
        Morrison(200.)
        Song_Xu(30.)
        Swamee_Ojha(200.)
    """,
    "fluids.fittings": """
        Hooper2K(Di=2., Re=10000., name='Valve, Globe, Standard')
        Darby3K(Di=.0533, Re=10000., name='Valve, Angle valve, 45°, full line size, β = 1')
        K_run_diverging_Crane(0.146, 0.152, 0.02525, 0.01583, angle=45)
        contraction_beveled(Di1=0.5, Di2=0.1, l=.7*.1, angle=120.)
        contraction_conical_Crane(Di1=0.0779, Di2=0.0525, l=0.03)
        diffuser_sharp(Di1=.5, Di2=1., Re=1e5, fd=1e-3, method='Hooper')
        v_lift_valve_Crane(rho=998.2, D1=0.0627, D2=0.0779, style='lift check straight')
        entrance_rounded(Di=0.1, rc=0.0235)
    """,
    "fluids.compressible": """
        P_isothermal_critical_flow(P=1E6, fd=0.00185, L=1000., D=0.5)
        isentropic_T_rise_compression(286.8, 54050., 432400., 1.4)
        polytropic_exponent(1.4, eta_p=0.78)
        T_stagnation(286.8, 54050., 432400., 1.4)
    """,
    "fluids.geometry": """
        A_multiple_hole_cylinder(0.01, 0.1, [(0.005, 1)])
        A_partial_circle(D=96., h=22.0)
        SA_partial_vertical_conical_head(D=72., a=48.0, h=24.0)
        V_vertical_spherical_concave(D=113., a=-33., h=15.)
        a_torispherical(D=96., f=0.9, k=0.2)
        SA_tank(D=1., L=5., sideA='spherical', sideA_a=0.49, sideB='spherical', sideB_a=0.48)
    """,
    "fluids.two_phase_voidage": """
        Baroczy(.4, 800., 2.5, 1E-3, 1E-5)
        Domanski_Didion(.4, 800., 2.5, 1E-3, 1E-5)
        Sun_Duffey_Peng(0.4, 800., 2.5, sigma=0.02, m=1., D=0.3, P=1E5, Pc=7E6)
        Woldesemayat_Ghajar(0.4, 800., 2.5, sigma=0.2, m=1., D=0.3, P=1E6, angle=45.)
    """,
    "fluids.flow_meter": """
        C_ISA_1932_nozzle(D=0.07391, Do=0.0422, rho=1.2, mu=1.8E-5, m=0.1)
        C_wedge_meter_Miller(D=0.1524, H=0.3*0.1524)
        differential_pressure_meter_beta(D=0.2575, D2=0.184, meter_type='cone meter')
        dP_orifice(D=0.07366, Do=0.05, P1=200000.0, P2=183000.0, C=0.61512)
    """,
    "fluids.packed_bed": """
        Ergun(dp=8E-4, voidage=0.4, vs=1E-3, rho=1E3, mu=1E-3)
        Harrison_Brunner_Hecker(dp=8E-4, voidage=0.4, vs=1E-3, rho=1E3, mu=1E-3, Dt=1E-2)
    """,
    "ht.conv_internal": """
        turbulent_Gnielinski(Re=1E5, Pr=1.2, fd=0.0185)
        helical_turbulent_Nu_Xin_Ebadian(2E5, 0.7, 0.01, .2)
        laminar_entry_Seider_Tate(Re=100000., Pr=1.1, L=5., Di=.5)
    """,
    "ht.conv_external": """
        Nu_cylinder_Zukauskas(7992., 0.707, 0.69)
        Nu_cylinder_Sanitjai_Goldstein(6071., 0.7)
    """,
    "ht.conv_tube_bank": """
        Nu_HEDH_tube_bank(Re=1E4, Pr=7., tube_rows=10, pitch_normal=.05, pitch_parallel=.05, Do=.03)
        baffle_correction_Bell(0.82)
    """,
    "ht.conduction": "S_isothermal_pipe_to_isothermal_pipe(.1, .2, 1., 1.)",
    "ht.hx": "calc_Cr(mh=22., mc=5.5, Cph=2200., Cpc=4300.)",
    "ht.radiation": "blackbody_spectral_radiance(800., 4E-6)",
}

ROWS = [f"{module}:{line.strip()}" for module, calls in CALLS.items() for line in calls.strip().splitlines()]
# Those that are differentiated twice, too.
SECOND = frozenset(
    """
    rgb_to_yiq polyval chebval multigammaln _norm_logpdf minimize_quadratic_1d correlation minkowski
    _cubicmin rosen f1 aps03_f aps13_f Clamond ft_Crane Grashof Almedeij Baroczy A_partial_circle
    a_torispherical contraction_beveled Nu_cylinder_Zukauskas blackbody_spectral_radiance
    """.split()  # noqa: SIM905
)


def carries(x: Any) -> bool:
    """Whether an argument is differentiated: a float, or floats alone."""
    if isinstance(x, (list, tuple)):
        return len(x) > 0 and all(map(carries, x))
    return isinstance(x, float) or (isinstance(x, np.ndarray) and x.dtype == float)


def read(row: str) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], tuple[int, ...]]:
    """The function of a row, its arguments by position, those by keyword, and which are differentiated."""
    module, text = row.split(":", 1)
    pytest.importorskip(module.split(".")[0])
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    function = getattr(importlib.import_module(module), call.func.id)
    positional = [eval(ast.unparse(a)) for a in call.args]
    bound = inspect.signature(function).bind(
        *positional, **{str(k.arg): eval(ast.unparse(k.value)) for k in call.keywords}
    )
    given = set(bound.arguments)
    bound.apply_defaults()
    positions = zip(range(len(bound.args)), bound.arguments, bound.args, strict=False)
    return function, bound.args, bound.kwargs, tuple(i for i, k, a in positions if k in given and carries(a))


def close(found: Any, expected: Any, rtol: float) -> bool:
    """Equality up to rtol of the largest of all leaves."""
    left, right = ([np.ravel(leaf) for leaf in flatten(x)] for x in (found, expected))
    a, b = np.concatenate(left), np.concatenate(right)
    return a.shape == b.shape and bool(np.max(np.abs(a - b)) <= rtol * np.max(np.abs(b)))


@pytest.mark.filterwarnings("ignore:`distance_matrix`:DeprecationWarning")
@pytest.mark.parametrize("row", ROWS)
def test_function(row: str) -> None:
    function, args, keywords, wrt = read(row)
    assert wrt

    def f(*a: Any) -> Any:
        return function(*copy.deepcopy(a), **keywords)

    rng = np.random.default_rng(0)
    tangents = tuple(map_leaves(lambda x: x * rng.uniform(0.5, 1.5, np.shape(x)), args[i]) for i in wrt)
    expected = f(*args)
    cotangent = random_like(expected, rng)

    out, bprop = s2sad.vjp(function, argnums=wrt)(*copy.deepcopy(args), **keywords)
    assert_same(out, expected)
    gradient = bprop(cotangent)
    assert_same(bprop(cotangent), gradient)
    given = tuple(t if isinstance(t, (np.ndarray, list, tuple)) else float(t) for t in tangents)
    out, tangent = s2sad.jvp(function, argnums=wrt)(*copy.deepcopy(args), *given, **keywords)
    assert_same(out, expected)

    numeric = numeric_jvp(f, args, wrt, tangents, 1e-4)
    assert close(tangent, numeric, 1e-6), (tangent, numeric)
    forward, reverse = dot(cotangent, tangent), dot(gradient, tangents)
    size = sum(
        np.sum(np.abs(np.multiply(a, b))) for a, b in zip(flatten(gradient), flatten(tangents), strict=True)
    )
    assert abs(forward - reverse) <= 1e-10 * float(size), (forward, reverse)

    if row.split(":")[1].split("(")[0] in SECOND and is_real_scalar(expected):
        first = s2sad.grad(function, argnums=wrt)
        _, second = s2sad.jvp(first, argnums=wrt)(*copy.deepcopy(args), *given, **keywords)
        numeric = numeric_jvp(lambda *a: first(*a, **keywords), args, wrt, tangents, 1e-4)
        assert close(second, numeric, 1e-5), (second, numeric)


def test_reading_a_library_ends() -> None:
    stats = pytest.importorskip("scipy.stats")
    with pytest.raises(s2sad.S2sadError, match="over 2000 statements would be read"):
        s2sad.grad(lambda x: stats.wilcoxon.__wrapped__(x).statistic)(np.arange(12.0))


@pytest.mark.parametrize("name", ["wilcoxon", "jarque_bera", "tmean"])
def test_functions_of_scipy_that_look_for_nan_are_refused_by_name(name: str) -> None:
    stats = pytest.importorskip("scipy.stats")
    with pytest.raises(s2sad.MissingRuleError, match=rf"\.{name}` has no rule(.|\n)*made at run time"):
        s2sad.grad(lambda x: np.sum(getattr(stats, name)(x)))(np.arange(12.0))


def test_a_multivariate_distribution_with_active_parameters_is_refused_by_name() -> None:
    stats = pytest.importorskip("scipy.stats")
    assert s2sad.grad(lambda x: stats.multivariate_normal(0.0, 4.0).logpdf(x))(1.0) == -0.25
    with pytest.raises(s2sad.MissingRuleError, match=r"has no rule(.|\n)*multivariate_normal\.logpdf"):
        s2sad.grad(lambda x: stats.multivariate_normal(x, 4.0).logpdf(1.0))(1.0)


def shuffled(x: float) -> float:
    items = [x, 2 * x]
    random.shuffle(items)
    return items[0]


@pytest.mark.parametrize("derivative", [s2sad.grad, lambda f: lambda x: s2sad.jvp(f)(x, 1.0)])
def test_shuffling_a_list_is_refused(derivative: Any) -> None:
    with pytest.raises(s2sad.MissingRuleError, match=r"shuffle` has no rule(.|\n)*shuffle the indices"):
        derivative(shuffled)(2.0)


def test_a_stencil_of_numba_has_no_rule() -> None:
    numba = pytest.importorskip("numba")
    total = numba.stencil(lambda a: a[0] + a[1])
    with pytest.raises(s2sad.MissingRuleError, match="`total` has no rule"):
        s2sad.grad(lambda x: np.sum(total(x)))(v)
