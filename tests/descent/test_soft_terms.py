"""Penalties become small beside the residual, and observations pull."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from descent.schemes import DECAY, FAMILY, SOFTLY, X, adam, method, trained

DRIVEN = dataclasses.replace(
    FAMILY.with_parameters(a=0.0, swing=1.0),
    horizon=0.25,
    initial=lambda x: 1 + x / 2,
    boundary=hc.Dirichlet(lambda t: 0.5 + jnp.sin(12 * t) / 12, lambda t: 1.5 + jnp.sin(12 * t) / 12),
)
SOFTLY_AT_EDGES = dataclasses.replace(
    SOFTLY,
    penalties=(hc.InitialPenalty(32, weight=10.0), hc.BoundaryPenalty(16, weight=2.0)),
    stages=SOFTLY.stages[:1],
)


@pytest.mark.parametrize(
    ("problem", "chosen", "names"),
    [
        (DECAY, SOFTLY, ["residual", "initial", "periodic"]),
        (DRIVEN, SOFTLY_AT_EDGES, ["residual", "initial", "boundary"]),
    ],
    ids=["periodic", "Dirichlet"],
)
def test_the_soft_baseline_makes_each_of_its_terms_small(problem, chosen, names):
    solution = trained(chosen, problem)
    terms, end = solution.history.terms, int(np.argmin(solution.history.loss))
    assert list(terms) == names
    for name, values in terms.items():
        assert values[end] < 0.1 * values[0], name
        assert values[end] == pytest.approx(float(solution.last.terms[name]), rel=1e-8), name
    weighted = sum(w * terms[name] for w, name in zip((1.0, 10.0, 2.0), names, strict=True))
    np.testing.assert_allclose(solution.history.loss, weighted, rtol=1e-12)
    assert solution.history.loss[end] == pytest.approx(float(solution.last.loss), rel=1e-10)


def test_self_adaptive_weights_cover_penalties_too():
    chosen = dataclasses.replace(SOFTLY, weights=hc.SelfAdaptive(), stages=(adam(12),))
    solution = trained(chosen)
    assert {n: len(w.weights) for n, w in solution.weights.items()} == {
        "residual": 64,
        "initial": 32,
        "periodic": 16,
    }
    assert (solution.weights["initial"].points[:, 0] == 0).all()
    assert (solution.weights["periodic"].points[:, 1] == -1).all()
    for found in solution.weights.values():
        assert (found.weights > 1).all()


def test_observations_pull_the_solution_towards_them():
    # Against the equation uₜ = 0, which leaves u₀ = 2 + cos πx, two observations say 4 at t = 1.
    still = FAMILY.with_parameters(a=0.0)
    seen = hc.DataPenalty(((1.0, -0.5, 4.0), (1.0, 0.5, 4.0)), weight=100.0)
    stages = (adam(200, rate=3e-2),)
    solution = trained(method(lift=hc.Decay(0.0), penalties=(seen,), stages=stages), still).solution
    np.testing.assert_allclose(solution(1.0, np.array([-0.5, 0.5])), 4.0, atol=0.2)
    np.testing.assert_allclose(solution(0.0, X[0]), 2 + np.cos(np.pi * X[0]), rtol=1e-14)
    assert list(solution.history.terms) == ["residual", "data"]
