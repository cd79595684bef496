"""A condition says itself what it asks for, so that a new one needs nothing but its class."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.equation import fingerprint
from hcpinn.machine.precision import double
from hcpinn.objective import penalty_terms
from hcpinn.problem import Prescribed
from hcpinn.trial import Trial


@dataclass(frozen=True)
class Impedance(Prescribed):
    """u + z ∂u/∂n = data: a condition that hcpinn does not have."""

    z: float = 2.0

    @property
    def coefficients(self):
        return 1.0, self.z


@pytest.mark.parametrize(
    ("condition", "normal", "terms"),
    [
        (hc.Dirichlet(0.0), (1.0,), [((0, 0), 1.0)]),
        (hc.Neumann(0.0), (-1.0,), [((0, 1), -1.0)]),
        (hc.Robin(0.0, value=3.0, slope=2.0), (0.0, -1.0), [((0, 0, 0), 3.0), ((0, 0, 1), -2.0)]),
        (hc.Robin(0.0, value=0.0), (0.6, 0.8), [((0, 1, 0), 0.6), ((0, 0, 1), 0.8)]),
        (Impedance(0.0), (1.0,), [((0, 0), 1.0), ((0, 1), 2.0)]),
        (hc.Derivative(0.0), (-1.0,), [((0, 2), 1.0)]),
        (hc.Linear(0.0, factors=(2, 0, 0, 1)), (-1.0,), [((0, 0), 2.0), ((0, 3), -1.0)]),
        (hc.Derivative(0.0), (2.0, 3.0), [((0, 2, 0), 4.0), ((0, 1, 1), 12.0), ((0, 0, 2), 9.0)]),
    ],
)
def test_a_side_is_a_sum_of_derivatives(condition, normal, terms):
    for end in (0, 1):
        assert condition.at(end).terms(normal) == terms


def test_a_normal_that_varies_is_taken_along():
    angle = np.linspace(0, 1, 5)
    (_, along_x), (_, along_y) = hc.Neumann(0.0).at(0).terms((np.cos(angle), np.sin(angle)))
    np.testing.assert_array_equal(along_x, np.cos(angle))
    np.testing.assert_array_equal(along_y, np.sin(angle))


def test_conditions_say_what_can_hold_them():
    assert hc.Periodic().periodic
    prescribed = [hc.Dirichlet(0.0), hc.Neumann(0.0), hc.Robin(0.0), Impedance(0.0), hc.Derivative(0.0)]
    assert [c.at(0).order for c in prescribed] == [0, 1, 1, 1, 2]
    assert not any(c.periodic for c in prescribed)
    mixed = declare(
        domain=hc.Box((0, 1), (-1, 1)),
        boundary={"x": hc.Periodic(), "y": hc.Dirichlet(0.0)},
        rhs=lambda u: u.laplacian,
        initial=lambda x, y: jnp.cos(2 * jnp.pi * x) * jnp.cos(jnp.pi * y / 2),
    )
    assert (mixed.periodic, mixed.prescribed_axes) == (False, [1])
    assert [side.part for side in mixed.sides] == ["y.lower", "y.upper"]


def heat(boundary):
    """uₜ = uₓₓ from cos x on [0, 1], whose solution is e^{−t} cos x."""
    return hc.Problem(
        domain=hc.Interval(0, 1),
        horizon=0.5,
        boundary=boundary,
        rhs=lambda u: u.xx,
        initial=lambda x: jnp.cos(x),
    )


def exact(z):
    return Impedance(lambda t: jnp.exp(-t), lambda t: jnp.exp(-t) * (jnp.cos(1.0) - z * jnp.sin(1.0)), z)


def test_a_new_condition_is_penalised_solved_and_told_apart():
    with double():
        problem = heat(exact(2.0))
        solution = hc.CustomNetwork(
            lambda *_: (), lambda _, f: jnp.exp(-(f[:, :1]) / 2) * jnp.cos((f[:, 1:] + 1) / 2)
        )
        trial = Trial(problem, lift=hc.NoLift(), gate=hc.NoGate(), embedding=hc.Plain(), network=solution)
        _, term = penalty_terms(trial, [hc.InitialPenalty(8), hc.BoundaryPenalty(8)])
        assert np.abs(term.mismatch(trial, (), term.block(trial, 0), {})).max() < 1e-12
    assert len({fingerprint(heat(exact(z))) for z in (2.0, 3.0)} | {fingerprint(heat(hc.Robin(0.0)))}) == 3


def test_a_new_condition_has_a_reference():
    reference = hc.solve_reference(heat(exact(2.0)), times=5, points=33, tolerance=1e-8, cache=False)
    t, x = np.meshgrid(reference.times, *reference.coordinates, indexing="ij")
    assert np.abs(reference.values["u"] - np.exp(-t) * np.cos(x)).max() < 1e-8


def test_a_new_condition_can_be_trained_with():
    method = hc.Method(
        embedding=hc.Plain(),
        network=hc.MLP(6, 2),
        penalties=(hc.BoundaryPenalty(8),),
        points=32,
        stages=(hc.Adam(steps=2),),
    )
    solution = hc.solve(heat(exact(2.0)), method, reference=False)
    assert jnp.isfinite(jax.numpy.asarray(solution(0.1, 0.5)))
