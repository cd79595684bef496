"""References of pulses, jumps, corners and odd units: their estimates are earned, or there is none."""

import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.special import erf

import hcpinn as hc
from hcpinn.errors import NoReferenceError
from hcpinn.problem import apply
from hcpinn.reference import solve_reference

LINE = hc.Interval(0, 1)


def check(exact, *, domain=LINE, horizon=1.0, cache=False, **declared):
    """The reference's error is within three times its estimate, and both are small."""
    problem = hc.Problem(domain=domain, horizon=horizon, **declared)
    reference = solve_reference(problem, times=9, points=65, tolerance=1e-7, cache=cache)
    true = np.asarray(exact(*np.meshgrid(reference.times, *reference.coordinates, indexing="ij")))
    error = np.linalg.norm(reference.values["u"] - true) / np.linalg.norm(true)
    assert error <= max(3 * reference.error_estimate, 1e-11)
    assert reference.error_estimate < 1e-5
    return reference


def wave(t, x, rate, strength=1.0):
    return strength * np.exp(-rate * t) * np.sin(np.pi * x)


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("width", [1e-3, 1e-7])
def test_a_pulse_in_time_is_not_stepped_over(held, width):
    rate, at = 0.1, 0.503
    kick = lambda t: np.asarray(
        0.35 * np.exp(-rate * (t - at)) * (1 + erf((t - at) / width - rate * width / 2))
    )
    check(
        lambda t, x: (np.exp(-rate * t) + kick(t)) * np.sin(2 * np.pi * x),
        rhs=lambda u, t, x: 0.1 / (2 * np.pi) ** 2 * u.xx
        + 0.7 / (width * np.sqrt(np.pi)) * np.exp(-(((t - at) / width) ** 2)) * np.sin(2 * np.pi * x),
        initial=lambda x: np.sin(2 * np.pi * x),
        boundary=hc.Dirichlet(0.0) if held else hc.Periodic(),
    )  # fmt: skip


def test_fast_forcing_in_step_with_the_output_times_is_not_aliased():
    w = 2 * np.pi * 32
    check(
        lambda t, x: np.cos(2 * np.pi * x) + (1 - np.cos(w * t)) * np.ones_like(x),
        rhs=lambda u, t, x: 0.01 * u.xx + 0.01 * (2 * np.pi) ** 2 * np.cos(2 * np.pi * x) + w * np.sin(w * t),
        initial=lambda x: np.cos(2 * np.pi * x),
    )


def _lit(t, rate):
    """∫ e^{−rate (t − s)} over the time for which a lamp was lit, from 0.31 to 0.34."""
    since = lambda a: np.where(t > a, -np.expm1(-rate * np.maximum(t - a, 0)) / rate, 0.0)
    return 10 * (since(0.31) - since(0.34))


@pytest.mark.parametrize("wall", [hc.Dirichlet(0.0), hc.Neumann(0.0)])
def test_what_is_switched_on_for_a_moment_moves_what_was_at_rest(wall):
    shape = np.sin if isinstance(wall, hc.Dirichlet) else np.cos
    check(
        lambda t, x: _lit(t, 0.1 * np.pi**2) * shape(np.pi * x),
        rhs=lambda u, t, x: 0.1 * u.xx + np.where((t > 0.31) & (t < 0.34), 10.0, 0.0) * shape(np.pi * x),
        initial=0.0,
        boundary=wall,
    )


def test_a_square_at_rest_is_moved_too():
    problem = hc.Problem(
        domain=hc.Box((0, 1), (0, 1)),
        horizon=1.0,
        rhs=lambda u, t, x, y: (
            0.1 * u.laplacian
            + np.where((t > 0.31) & (t < 0.34), 10.0, 0.0) * np.sin(np.pi * x) * np.cos(np.pi * y)
        ),
        initial=0.0,
        boundary={"x": hc.Dirichlet(0.0), "y": hc.Neumann(0.0)},
    )
    reference = solve_reference(problem, times=9, points=17, tolerance=1e-7, cache=False)
    t, x, y = np.meshgrid(reference.times, *reference.coordinates, indexing="ij")
    exact = _lit(t, 0.2 * np.pi**2) * np.sin(np.pi * x) * np.cos(np.pi * y)
    assert np.abs(reference.values["u"] - exact).max() < 1e-7
    assert reference.error_estimate < 1e-6


def test_a_narrow_source_on_zero_data_is_seen():
    """uₜ = 0.2 uₓₓ + δ-like source: from zero data, which a grid that misses the source leaves at zero."""
    width, at = 1e-4, 0.3712

    def corner(x):
        z = (x - at) / width
        return width / 2 * (z * erf(z) + jnp.exp(-z * z) / jnp.sqrt(jnp.pi))

    shape = lambda x: corner(x) - corner(0.0) * (1 - x) - corner(1.0) * x
    check(
        lambda t, x: -(1 - np.exp(-t)) * np.asarray(shape(x)),
        rhs=lambda u, t, x: 0.2 * u.xx - np.exp(-t) * apply(shape, x)
        + 0.2 * (1 - np.exp(-t)) * np.exp(-(((x - at) / width) ** 2)) / (width * np.sqrt(np.pi)),
        initial=0.0, boundary=hc.Dirichlet(0.0),
    )  # fmt: skip


def test_a_jump_in_the_speed_is_met_by_an_edge():
    there = lambda x: np.where(x < 0.5, x, 0.5 + 4 * (x - 0.5)) / 2.5
    check(
        lambda t, x: np.sin(2 * np.pi * (there(x) - t / 2.5)),
        rhs=lambda u, x: -np.where(x < 0.5, 1.0, 0.25) * u.x,
        initial=lambda x: jnp.sin(2 * jnp.pi * jnp.where(x < 0.5, x, 0.5 + 4 * (x - 0.5)) / 2.5),
    )


def test_a_diffusivity_that_is_switched_in_time():
    spent = lambda t: np.where(t < 0.37, 0.01 * t, 0.0037 + 0.08 * (t - 0.37))
    check(
        lambda t, x: np.exp(-((2 * np.pi) ** 2) * spent(t)) * np.sin(2 * np.pi * x),
        rhs=lambda u, t: np.where(t < 0.37, 0.01, 0.08) * u.xx, initial=lambda x: np.sin(2 * np.pi * x),
    )  # fmt: skip


@pytest.mark.parametrize("top", [0.371])
def test_corners_and_kinks_do_not_fool_the_estimate(top):
    n = np.arange(1, 400)[:, None, None] * np.pi
    size = 2 * np.sin(n * top) / (n**2 * top * (1 - top))
    check(
        lambda t, x: np.where(t > 0, np.sum(size * np.sin(n * x) * np.exp(-0.05 * n**2 * t), axis=0),
                              np.minimum(x / top, (1 - x) / (1 - top))),
        rhs=lambda u: 0.05 * u.xx, initial=lambda x: jnp.minimum(x / top, (1 - x) / (1 - top)),
        boundary=hc.Dirichlet(0.0),
    )  # fmt: skip


def test_data_that_jump_take_the_mean_at_the_jump():
    def exact(t, x):
        spread = np.sqrt(0.04 * np.maximum(t, 1e-300))
        steps = [erf((x - 0.3 - n) / spread) - erf((x - 0.7 - n) / spread) for n in range(-2, 3)]
        return np.asarray(sum(steps)) / 2

    check(exact, rhs=lambda u: 0.01 * u.xx, initial=lambda x: jnp.where(abs(x - 0.5) < 0.2, 1.0, 0.0))


@pytest.mark.parametrize(("unit", "time", "length"), [(1e-8, 1.0, 1.0), (1e8, 1e6, 1e-6)])
def test_units_do_not_matter(unit, time, length):
    check(
        lambda t, x: wave(t / time, x / length, np.pi**2 * 0.1, unit),
        rhs=lambda u: 0.1 * length**2 / time * u.xx, initial=lambda x: unit * jnp.sin(jnp.pi * x / length),
        boundary=hc.Dirichlet(0.0), domain=hc.Interval(0, length), horizon=time,
    )  # fmt: skip


def test_a_field_that_stays_zero_has_a_reference():
    problem = hc.Problem(
        domain=LINE, horizon=0.5, rhs=lambda u, v: (0.05 * u.xx - u * v, 0.05 * v.xx - u * v),
        initial=lambda x: (np.cos(2 * np.pi * x), 0 * x),
    )  # fmt: skip
    assert solve_reference(problem, times=5, points=33, cache=False).error_estimate < 1e-8


def test_a_right_hand_side_that_jumps_in_the_solution_has_none():
    problem = hc.Problem(
        domain=LINE, horizon=1.0, rhs=lambda u: -np.sign(u), initial=lambda x: np.cos(2 * np.pi * x)
    )
    with pytest.raises(NoReferenceError, match="jumps as a function of the solution"):
        solve_reference(problem, cache=False)


def test_what_is_too_narrow_and_moves_is_refused():
    problem = hc.Problem(
        domain=LINE, horizon=1.0, initial=0.0,
        rhs=lambda u, t, x: 0.1 * u.xx + np.exp(-(((x - 0.2 - 0.5 * t) / 1e-6) ** 2)),
    )  # fmt: skip
    with pytest.raises(NoReferenceError, match="Fourier modes"):
        solve_reference(problem, cache=False)


def test_a_patch_that_an_earlier_problem_lacked_is_not_answered_from_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HCPINN_CACHE", str(tmp_path))
    rise = lambda t: np.clip((t - 0.4113) / 1e-4, 0, 1)

    def struck(strength):
        return (
            lambda u, t, x: 0.05 * (u.xx + (2 * np.pi) ** 2 * np.cos(2 * np.pi * x))
            + np.where(np.logical_and(t > 0.4113, t < 0.4114), 1e4 * strength, 0.0)
        )  # fmt: skip

    for strength in (0.0, 0.3):
        check(
            lambda t, x, s=strength: np.cos(2 * np.pi * x) + s * rise(t),
            rhs=struck(strength),
            initial=lambda x: np.cos(2 * np.pi * x),
            cache=True,
        )
