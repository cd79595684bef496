"""Values on a grid as data: exact at their places, smooth between, and refused where they do not reach."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from hcpinn.errors import ProblemError
from hcpinn.machine.precision import double

SHAPE = lambda x: np.exp(np.sin(2 * np.pi * x))


def heat(initial, **changes):
    parts = {"domain": hc.Interval(0, 1), "horizon": 0.1, "rhs": lambda u: 0.1 * u.xx}
    return hc.Problem(**{**parts, "initial": initial, **changes})


def test_values_are_met_and_the_function_between_them_is_smooth():
    rng = np.random.default_rng(0)
    x, y = np.sort(rng.random(23)), np.linspace(0, 1, 7)
    values = rng.standard_normal((23, 7))
    with double():
        u = hc.Samples(values, x=x, y=y)
        assert np.allclose(u(x[:, None], y), values, atol=1e-12)
        bend = jax.vmap(jax.jacfwd(jax.jacfwd(lambda s: u(s, 0.4))))
        knot = x[10]
        near = np.asarray(bend(jnp.array([knot - 1e-9, knot + 1e-9])))
        assert np.ptp(near) < 1e-4 * np.abs(near).max()


@pytest.mark.parametrize("closed", [True, False])
def test_periodic_samples_may_leave_out_the_last_place(closed):
    x = np.linspace(0, 1, 65 if closed else 64, endpoint=closed)
    for problem in (heat(SHAPE(x)), heat(hc.Samples(SHAPE(x), x=x))):
        at = np.linspace(0, 1, 301)
        with double():
            (u,) = problem.initial_values([jnp.asarray(at)])
        assert np.abs(u - SHAPE(at)).max() < 3e-6
        assert "degree 5" in problem.notes[0]
        assert "periodic" in problem.notes[0]


def test_measured_walls_and_starts_are_solved():
    """u = t + x² / 0.2 for a rod that warms by 1 in each unit of time, read at a few times and places."""
    times, places = np.linspace(0, 0.5, 6), np.linspace(0, 1, 9)
    rod = heat(
        hc.Samples(5 * places**2, x=places),
        horizon=0.5,
        boundary=(hc.Dirichlet(hc.Samples(times, t=times)), hc.Neumann(10.0)),
    )
    solution = hc.solve(rod, accuracy=1e-4, reference=False)
    assert solution(0.37, 0.6) == pytest.approx(0.37 + 5 * 0.36, rel=1e-4)
    assert len(solution.notes) == 2


@pytest.mark.parametrize(
    ("initial", "said"),
    [
        (hc.Samples([0.0, 1.0, 0.0], x=[0.1, 0.5, 1.0]), "x = 0.1 to 1"),
        (hc.Samples(np.zeros((3, 3)), x=[0, 1, 2], y=[0, 1, 2]), "along y"),
        (np.zeros((3, 4)), "shape (3, 4)"),
    ],
)
def test_what_does_not_suit_the_domain_is_refused(initial, said):
    with pytest.raises(ProblemError, match=said.replace("(", r"\(").replace(")", r"\)")):
        heat(initial, boundary=hc.Neumann(0.0))


@pytest.mark.parametrize(
    ("values", "grid", "said"),
    [
        ([0, 1], [0, 1, 2], "lengths x: 3"),
        ([0, np.nan], [0, 1], "finite"),
        ([0, 1], [1, 1], "larger than the last"),
    ],
)
def test_samples_that_make_no_sense_are_refused(values, grid, said):
    with pytest.raises(ProblemError, match=said):
        hc.Samples(values, x=grid)
