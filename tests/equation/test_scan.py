"""What F and the data do of their own accord is seen, however short it is, and nothing else is."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.equation import scan
from hcpinn.errors import HcpinnError, ProblemError
from hcpinn.problem import apply

LINE = hc.Interval(0, 1)


def along(rhs, axis=0, **settings):
    return scan(declare(rhs=rhs, domain=LINE, initial=lambda x: jnp.sin(2 * jnp.pi * x), **settings)).lines[
        axis
    ]


@pytest.mark.parametrize("width", [1e-3, 1e-5, 1e-9, 1e-12])
def test_a_pulse_of_any_width_is_found_where_it_is(width):
    line = along(lambda u, t: u.xx + np.exp(-(((t - 0.503) / width) ** 2)))
    (pulse,) = line.features
    assert pulse.begin < 0.503 < pulse.end
    assert width / 2 < pulse.length < 4 * width
    assert pulse.end - pulse.begin < 50 * width


TABLE = np.where(np.arange(20001) == 12345, 1e4, 0.0)


@pytest.mark.parametrize(
    "source",
    [
        lambda t: jnp.interp(t, np.linspace(0, 1, 20001), TABLE),
        lambda t: jax.lax.fori_loop(
            0, 3, lambda n, s: s + jnp.exp(-(((t - 0.61725 + 9 * n) * 1e5) ** 2)), 0 * t
        ),
        lambda t: jax.lax.cond(abs(t - 0.61725) < 1e-6, lambda: 1e5, lambda: 0.0),
        lambda t: jnp.piecewise(t, [abs(t - 0.61725) < 1e-6], [1e5, lambda t: 0 * t]),
        lambda t: jnp.dot(jnp.array([1.0, 2.0]), jnp.exp(-(((t - jnp.array([0.61725, 7.0])) * 1e5) ** 2))),
    ],
    ids=["table", "loop", "cond", "piecewise", "dot"],
)
def test_a_pulse_is_found_however_it_is_written(source):
    line = along(lambda u, t: u.xx + apply(source, t))
    assert any(abs(place - 0.61725) < 2e-4 for place in line.breaks)


def test_a_pulse_is_seen_beside_one_a_thousand_times_as_high():
    line = along(
        lambda u, t: (
            u.xx + 1e6 * np.exp(-(((t - 0.5) / 1e-6) ** 2)) + 1e3 * np.exp(-(((t - 0.2) / 1e-3) ** 2))
        )
    )
    assert [round(f.middle, 3) for f in line.features] == [0.2, 0.5]


def test_a_pulse_short_in_time_and_in_space_is_found_on_both_axes():
    rhs = lambda u, t, x: u.xx + np.exp(-(((x - 0.3) / 1e-7) ** 2) - ((t - 0.503) / 1e-6) ** 2)
    for axis, place in ((0, 0.503), (1, 0.3)):
        (pulse,) = along(rhs, axis).features
        assert pulse.begin < place < pulse.end


def test_jumps_are_found_to_rounding_and_kinks_too():
    line = along(
        lambda u, t: np.where(np.logical_and(t > 0.3, t < 0.3 + 1e-7), 2.0, 1.0) * u.xx + abs(t - 0.7)
    )
    assert np.allclose(line.jumps, [0.3, 0.3 + 1e-7, 0.7], rtol=0, atol=1e-14)


def test_a_jump_that_keeps_the_range_of_values_is_found():
    line = along(lambda u, t, x: u.xx + np.where(t < 0.4, np.sin(6.0 * x), np.cos(6.0 * x)))
    assert np.allclose(line.jumps, [0.4], atol=1e-14)


def test_initial_and_boundary_data_are_followed_too():
    problem = hc.Problem(
        rhs=lambda u: u.xx, initial=lambda x: jnp.abs(x - 0.3) * (1 - x) - 0.3 * (1 - x), domain=LINE,
        horizon=1.0, boundary=hc.Dirichlet(lambda t: jnp.where(t > 0.6, 1.0, 0.0), 0.0),
    )  # fmt: skip
    assert np.allclose(scan(problem).time.jumps, [0.6], atol=1e-14)
    assert np.allclose(scan(problem).space[0].jumps, [0.3], atol=1e-14)


def test_what_moves_is_no_break_but_its_length_is_known():
    rhs = lambda u, t, x: u.xx + np.exp(-(((x - 0.3 - 0.5 * t) / 1e-4) ** 2))
    assert along(rhs).breaks == []
    assert 5e-5 < along(rhs, 1).moving < 4e-4


def test_fast_forcing_counts_its_swings():
    line = along(lambda u, t: u.xx + np.sin(800 * np.pi * t))
    assert line.features == ()
    assert line.swings(0.0, line.high / 2) == pytest.approx(400, rel=0.05)


@pytest.mark.parametrize(
    "rhs",
    [
        lambda u: 0.1 * u.xx - u**3,
        lambda u, t, x: u.xx + np.sin(30 * t) * np.tanh((x - 0.5) / 0.05) / (1.1 + np.cos(9 * x)),
        lambda u, x: u.xx + apply(lambda z: jnp.exp(jnp.sin(6 * z)) - jnp.exp(jnp.sin(6 * z)), x),
        lambda u: u.xx + np.maximum(u, 0.0) + abs(u),
    ],
)
def test_what_is_smooth_has_no_features(rhs):
    assert [along(rhs, axis).features for axis in (0, 1)] == [(), ()]


def test_breaks_given_by_hand_are_added_and_checked():
    problem = declare(breaks={"t": [0.25], "x": (0.5,)})
    assert scan(problem).time.breaks == [0.25]
    assert scan(problem).space[0].breaks == [0.5]
    with pytest.raises(ProblemError, match="does not lie between"):
        declare(breaks={"x": [7.0]})
    with pytest.raises(HcpinnError, match="no axis with breaks 'y'"):
        declare(breaks={"y": [0.0]})


@pytest.mark.parametrize(
    ("rhs", "jumps"),
    [
        (lambda u: u.xx - np.sign(u), True),
        (lambda u: u.xx + np.where(u > 0.7, 1.0, 0.0), True),
        (lambda u: u.xx + np.where(u > 0.7, u - 0.7, 0.0), False),
        (lambda u: u.xx + np.sign(u) * u**2, False),
        (lambda u, x: np.where(x > 0.5, 1.0, 2.0) * u.xx, False),
    ],
)
def test_a_jump_of_F_in_the_solution_is_recognised(rhs, jumps):
    assert scan(declare(rhs=rhs)).jumps_in_state is jumps


@pytest.mark.parametrize(
    "rhs",
    [
        lambda u, x: (np.where(x < 0.5, 1.0, 0.1) * u.x).x,
        lambda u, x: (np.where(np.logical_and(x > 0.5, x < 0.50001), 1.0, 0.1) * u.x).x,
        lambda u, x: ((x < 0.5) * u).x,
        lambda u, x: np.where(x < 0.5, u, 2 * u).xx,
        lambda u: (np.where(u < 0.5, 1.0, 0.1) * u.x).x,
        lambda u: abs(u).xx,
    ],
)
def test_a_derivative_across_a_jump_is_refused(rhs):
    with pytest.raises(ProblemError, match="differentiates a quantity that jumps"):
        scan(declare(rhs=rhs))


@pytest.mark.parametrize(
    "rhs",
    [
        lambda u: (np.maximum(u, 0.1) * u.x).x,
        lambda u: (np.where(u > 0, u, 0) * u.x).x,
        lambda u, x: ((1 + abs(x - 0.5)) * u.x).x,
        lambda u, t: (np.where(t > 0.5, 1.0, 2.0) * u.x).x,
        lambda u, x: ((0.55 - 0.45 * np.tanh((x - 0.5) / 1e-3)) * u.x).x,
        lambda u, x: np.where(x < 0.5, 1.0, 0.1) * u.xx,
    ],
)
def test_a_derivative_of_what_does_not_jump_is_taken(rhs):
    scan(declare(rhs=rhs))
