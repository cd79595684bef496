"""The error estimated from the residual is the error, where that can be known otherwise."""

import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.descent import Preparation
from hcpinn.machine.precision import double

PERIODIC = {"embedding": hc.Fourier(2), "network": hc.MLP(8, 1), "points": 64}
WALLS = {"embedding": hc.Plain(), "network": hc.MLP(8, 1), "points": 64}


def wave(x):
    return jnp.cos(jnp.pi * x)


CASES = {
    "decay": (
        declare(rhs=lambda u: -3 * u, initial=wave),
        PERIODIC,
        lambda t, x: np.exp(-3 * t) * np.cos(np.pi * x),
    ),
    "growth": (
        declare(rhs=lambda u: 4 * u, initial=wave),
        PERIODIC,
        lambda t, x: np.exp(4 * t) * np.cos(np.pi * x),
    ),
    "transport": (
        declare(rhs=lambda u: -9 * u.x, initial=wave),
        PERIODIC,
        lambda t, x: np.cos(np.pi * (x - 9 * t)),
    ),
    "heat": (
        declare(rhs=lambda u: 0.1 * u.xx, initial=wave),
        PERIODIC,
        lambda t, x: np.exp(-0.1 * np.pi**2 * t) * np.cos(np.pi * x),
    ),
    "fourth order": (
        declare(rhs=lambda u: -0.01 * u.xxxx, initial=wave),
        PERIODIC,
        lambda t, x: np.exp(-0.01 * np.pi**4 * t) * np.cos(np.pi * x),
    ),
    "heat between walls": (
        declare(boundary=hc.Dirichlet(0.0), rhs=lambda u: 0.1 * u.xx, initial=lambda x: jnp.sin(jnp.pi * x)),
        WALLS,
        lambda t, x: np.exp(-0.1 * np.pi**2 * t) * np.sin(np.pi * x),
    ),
    "a complex wave": (
        declare(rhs=lambda u: 0.3j * u.xx, initial=lambda x: jnp.exp(1j * jnp.pi * x)),
        PERIODIC,
        lambda t, x: np.exp(1j * np.pi * x - 0.3j * np.pi**2 * t),
    ),
    "a free start": (
        declare(rhs=lambda u: -3 * u, initial=wave),
        {**PERIODIC, "lift": hc.NoLift(), "gate": hc.NoGate(), "penalties": (hc.InitialPenalty(8),)},
        lambda t, x: np.exp(-3 * t) * np.cos(np.pi * x),
    ),
    "two windows": (
        declare(rhs=lambda u: 2 * u, initial=wave),
        {**PERIODIC, "windows": 2},
        lambda t, x: np.exp(2 * t) * np.cos(np.pi * x),
    ),
}
"""Linear equations, so that no error is too large to be carried to first order."""


def estimated_and_true(problem, settings, exact, seed=0):
    with double():
        preparation = Preparation([hc.Run(problem, hc.Method(**settings), seed)])
        windows = [0.3 * preparation.theta] * preparation.method.windows
        [estimate] = preparation.accuracy.over_all(windows)
        function = preparation.function(0, windows)
        t, x = np.meshgrid(np.linspace(0, 1, 101), np.linspace(-1, 1, 101)[:-1], indexing="ij")
        points = jnp.stack([jnp.asarray(t.ravel()), jnp.asarray(x.ravel())], axis=1)
        found = np.asarray(function.derivative(points, (0, 0)))
    values = exact(t.ravel(), x.ravel())
    true = np.stack([values.real, values.imag] if np.iscomplexobj(values) else [values], axis=1)
    return estimate, np.max(np.linalg.norm(found - true, axis=0) / np.linalg.norm(true, axis=0))


@pytest.mark.parametrize("case", CASES)
def test_the_estimate_is_the_error(case):
    estimate, true = estimated_and_true(*CASES[case])
    assert true > 1e-2
    assert estimate == pytest.approx(true, rel=0.05)


def test_where_a_condition_is_left_to_penalties_the_estimate_is_a_bound():
    problem = declare(
        boundary=hc.Robin(0.0, value=0.0), rhs=lambda u: 0.1 * u.xx, initial=lambda x: jnp.sin(jnp.pi * x / 2)
    )
    settings = {**WALLS, "penalties": (hc.BoundaryPenalty(16),)}
    estimate, true = estimated_and_true(
        problem, settings, lambda t, x: np.exp(-0.025 * np.pi**2 * t) * np.sin(np.pi * x / 2)
    )
    assert true < estimate < 100 * true


def test_parameters_that_are_nan_have_an_infinite_error():
    problem, settings, _ = CASES["decay"]
    with double():
        preparation = Preparation([hc.Run(problem, hc.Method(**settings))])
        assert preparation.accuracy.in_window(0, np.nan * preparation.theta, []) == [np.inf]


def test_runs_are_estimated_together_as_alone():
    problem, settings, exact = CASES["heat"]
    with double():
        together = Preparation([hc.Run(problem, hc.Method(**settings), seed) for seed in (0, 1)])
        both = together.accuracy.over_all([0.3 * together.theta])
    assert both == [estimated_and_true(problem, settings, exact, seed)[0] for seed in (0, 1)]
