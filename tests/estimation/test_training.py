"""The PINN way: unknowns are trained along with a network."""

import numpy as np
import pytest

import hcpinn as hc
from hcpinn.errors import MethodError

METHOD = hc.Method(
    network=hc.MLP(12, 2),
    embedding=hc.Fourier(1),
    points=256,
    stages=(hc.Adam(steps=100, rate=1e-2), hc.LBFGS(steps=200)),
)


def problem(**parameters):
    return hc.Problem(
        name="decay",
        domain=hc.Interval(-1, 1),
        horizon=1.0,
        rhs=lambda u, k, r: k * u.xx - r * u,
        initial=lambda x: 1 + np.sin(np.pi * x),
        parameters={"k": 0.05, "r": 1.0, **parameters},
    )


def measured(count=200):
    rng = np.random.default_rng(0)
    t, x = rng.random(count), rng.uniform(-1, 1, count)
    u = np.exp(-t) * (1 + np.exp(-0.05 * np.pi**2 * t) * np.sin(np.pi * x))
    u[::10] = np.nan
    return hc.Measurements(t, x, u=u)


def test_unknowns_are_trained_along_and_have_no_intervals():
    fit = hc.fit(problem(k=hc.Unknown(0.2, log=True), r=hc.Unknown(0.3)), measured(), METHOD)
    assert fit.estimates["k"].value == pytest.approx(0.05, rel=0.05)
    assert fit.estimates["r"].value == pytest.approx(1.0, rel=0.02)
    assert not fit.estimates["k"].determined
    assert not fit.verdict.reliable
    assert fit.solution.problem.parameters["r"] == fit.estimates["r"].value


@pytest.mark.parametrize(
    ("own", "data", "method", "said"),
    [
        ({"k": hc.Unknown(0.2)}, {"observe": {"u": lambda u: u.x}}, METHOD, "derived"),
        ({"k": hc.Unknown(0.2)}, {}, "expert", "trains once"),
    ],
)
def test_what_training_cannot_do_is_said(own, data, method, said):
    t = np.linspace(0.1, 1, 5)
    with pytest.raises(MethodError, match=said):
        hc.fit(problem(**own), hc.Measurements(t, 0 * t, u=t, **data), method)


def test_functions_are_left_to_evolution():
    t = np.linspace(0.1, 1, 5)
    rod = hc.Problem(
        domain=hc.Interval(-1, 1),
        horizon=1.0,
        rhs=lambda u, x, k: (k(x) * u.x).x,
        initial=lambda x: np.sin(np.pi * x),
        parameters={"k": hc.UnknownFunction("x")},
    )
    with pytest.raises(MethodError, match="finds numbers"):
        hc.fit(rod, hc.Measurements(t, 0 * t, u=t), METHOD)
