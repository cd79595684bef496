"""Walls that the initial data do not meet: the layers there hold the data and solve the heat equation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import erfc

import hcpinn as hc
from hcpinn.errors import ProblemError
from hcpinn.evolution.lift import Carrier
from hcpinn.machine.precision import double
from hcpinn.trial import Trial
from hcpinn.trial.layers import layers_of


def rod(low, high, initial=0.0, rate=0.3, **changes):
    parts = {"domain": hc.Interval(0, 2), "horizon": 0.5, "boundary": (low, high), "initial": initial}
    return hc.Problem(**{**parts, "rhs": lambda u: rate * u.xx, **changes})


STEP = hc.Dirichlet(1.0, jump=True)
BEND = hc.Robin(0.4, value=2.0, slope=0.5)


@pytest.mark.parametrize("wall", [STEP, BEND, hc.Neumann(1.0)], ids=["step", "Robin", "Neumann"])
@pytest.mark.parametrize("end", [0, 1])
def test_layers_solve_the_heat_equation_and_hold_the_data(wall, end):
    pair = (wall, hc.Neumann(0.0)) if end == 0 else (hc.Neumann(0.0), wall)
    (layer,) = layers_of(rod(*pair))
    with double():
        d, s = jnp.linspace(0.0, 0.5, 40), jnp.full(40, 0.01)
        bend = jax.vmap(jax.grad(jax.grad(layer.shape)))(d, s)
        assert np.allclose(jax.vmap(jax.grad(layer.shape, 1))(d, s), 0.3 * bend, atol=1e-9)
        factors = layer.condition.factors
        at, soon = jnp.zeros(()), jnp.full((), 1e-10)
        slopes = [layer.shape(at, soon), -jax.grad(layer.shape)(at, soon)]
        assert sum(f * u for f, u in zip(factors, slopes, strict=False)) == pytest.approx(1.0, abs=1e-8)
        assert layer.shape(jnp.full((), 1e-3), jnp.full((), 1e-15)) < 1e-290


@pytest.mark.parametrize("pair", [(STEP, hc.Neumann(0.0)), (BEND, STEP)], ids=["step", "both"])
def test_lifts_start_from_the_initial_data_and_meet_the_walls(pair):
    problem = rod(*pair)
    carrier = Carrier(problem)
    x = np.linspace(0, 2, 41)
    assert np.abs(carrier.on_grid(np.zeros(1), [x[1:-1]], (0, 0))).max() < 1e-12
    trial = Trial(
        problem, lift=hc.Decay(0.5), gate=hc.LinearGate(), embedding=hc.Even(2), network=hc.MLP(5, 2)
    )
    assert trial.left_open == ()
    with double():
        points = jnp.stack([jnp.linspace(0.01, 0.5, 9), jnp.full(9, 2.0)], 1)
        for lift in (carrier.function, trial.lift):
            if pair[1] is STEP:
                assert np.abs(lift(points) - 1.0).max() < 1e-12


def test_a_wall_that_is_hot_at_once():
    """On a rod of length 2 the other end is not felt: u = erfc(x/√(4νt))."""
    problem = rod(STEP, hc.Neumann(0.0), horizon=0.05)
    warmed = lambda t, x: erfc(x / np.sqrt(1.2 * t))
    solution = hc.solve(problem, accuracy=1e-6, reference=False)
    t, x = np.linspace(0.001, 0.05, 30)[:, None], np.linspace(0, 2, 200)
    assert np.abs(solution(t, x) - warmed(t, x)).max() < 1e-6
    assert solution(0.0, 0.0) == pytest.approx(1.0)
    reference = hc.solve_reference(problem, times=6, points=41, tolerance=1e-4)
    t, x = reference.times[1:, None], reference.coordinates[0]
    assert reference.error_estimate < 1e-3
    assert np.abs(reference.values["u"][1:] - warmed(t, x)).max() < 3 * reference.error_estimate


def test_faces_that_jump_meet_at_an_edge():
    """A square of 1 that is 0 outside at once: while the far walls are not felt, the product of two rods."""
    cold = hc.Dirichlet(0.0, jump=True)
    square = hc.Problem(
        domain=hc.Box((0, 1), (0, 1)), horizon=0.02, boundary=cold, rhs=lambda u: u.laplacian, initial=1.0
    )
    t, x = 1e-3, np.linspace(0, 1, 21)
    near = [1 - erfc(d / np.sqrt(4 * t)) for d in (x, 1 - x)]
    line = near[0] + near[1] - 1
    lift = Carrier(square).on_grid(np.array([t]), [x, x], (0, 0, 0))[0, 0]
    assert np.abs(lift - np.outer(line, line)).max() < 1e-9


def test_a_jump_takes_diffusion_and_must_be_declared():
    with pytest.raises(ProblemError, match="jump=True"):
        rod(hc.Dirichlet(1.0), hc.Neumann(0.0))
    with pytest.raises(ProblemError, match="said to jump"):
        rod(STEP, hc.Neumann(0.0), rhs=lambda u: u.xx, order=2, velocity=0.0)
    assert layers_of(rod(hc.Dirichlet(0.0), hc.Neumann(0.0), lambda x: np.sin(np.pi * x / 4))) == []


def test_data_that_contradict_each_other_at_an_edge_are_refused():
    box = {"domain": hc.Box((0, 1), (0, 1)), "horizon": 1.0, "rhs": lambda u: u.laplacian, "initial": 0.0}
    with pytest.raises(ProblemError, match="contradict each other"):
        hc.Problem(**box, boundary={"x": hc.Dirichlet(0.0), "y": hc.Neumann(1.0)})
    hc.Problem(**box, boundary={"x": hc.Dirichlet(0.0), "y": hc.Neumann(lambda t, x: np.sin(np.pi * x))})
