"""Many runs train at once as each does alone, and schemes of training combine."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from descent.schemes import (
    RELAX,
    T,
    X,
    adam,
    assert_continuous,
    lbfgs,
    lessons,
    method,
    relative,
    train_together,
    trained,
)
from hcpinn.descent import Preparation, Stop
from hcpinn.errors import MethodError


def assert_as_alone(runs, *, atol=1e-9):
    for run, one in zip(runs, train_together(runs), strict=True):
        other = trained(run.method, run.problem, run.seed)
        assert one.stop is other.stop
        np.testing.assert_allclose(one.history.loss, other.history.loss, rtol=1e-8)
        np.testing.assert_allclose(one.theta, other.theta, rtol=1e-7, atol=atol)
        for name, values in one.history.terms.items():
            np.testing.assert_allclose(values, other.history.terms[name], rtol=1e-8)
        for name, found in one.weights.items():
            np.testing.assert_allclose(found.points, other.weights[name].points, rtol=1e-14, atol=1e-15)
            np.testing.assert_allclose(found.weights, other.weights[name].weights, rtol=1e-8)


@pytest.mark.parametrize(
    "scheme",
    [
        {"weights": hc.SelfAdaptive()},
        {"weights": hc.SelfAdaptive(), "batches": hc.Batches(3, 25)},
        {"windows": 2, "horizons": (0.5, 1.0)},
    ],
    ids=["self-adaptive", "mini-batches", "windows"],
)
def test_runs_train_together_as_they_do_alone(scheme):
    runs = [
        hc.Run(RELAX, method(**scheme), 0),
        hc.Run(RELAX.with_parameters(a=1.0), method(lift=hc.Decay(1.5), **scheme), 1),
    ]
    assert_as_alone(runs)


def test_runs_that_share_their_points_part_when_these_are_chosen_by_residual():
    chosen = method(resampling=hc.Resampling(4, "residual"))
    assert_as_alone([hc.Run(RELAX, chosen), hc.Run(RELAX, dataclasses.replace(chosen, lift=hc.Decay(1.5)))])


def test_problems_of_one_equation_train_together_whoever_declared_it():
    runs = [hc.Run(hc.find_problem(name), method()) for name in ("allen-cahn-1", "allen-cahn-2")]
    assert_as_alone(runs)


def test_problems_of_other_equations_do_not_train_together():
    first = declare(rhs=lambda u, a: -a * u, parameters={"a": 2.0})
    others = [
        declare(name="stronger", rhs=lambda u, a: -2 * a * u, parameters={"a": 2.0}),
        declare(name="driven", rhs=lambda u, a, t: -a * u * t, parameters={"a": 2.0}),
        declare(name="renamed", rhs=lambda u, b: -b * u, parameters={"b": 2.0}),
    ]
    for other in others:
        with pytest.raises(MethodError, match=f"must share their equation, but {other.name} and problem"):
            Preparation([hc.Run(first, method()), hc.Run(other, method())])


def test_a_network_of_ones_own_does_not_train_together_on_features_that_differ():
    own = hc.CustomNetwork(hc.MLP(4, 1).init, lambda p, features: hc.MLP(4, 1)(p, features))
    chosen = hc.Method(
        lift=hc.NoLift(),
        gate=hc.NoGate(),
        embedding=hc.Characteristic(),
        network=own,
        points=16,
        penalties=(hc.InitialPenalty(8), hc.PeriodicPenalty(8)),
        curriculum=hc.Curriculum("c", (0.5, 1.0)),
    )
    slow, fast = (hc.find_problem("advection").with_parameters(c=c) for c in (2.0, 4.0))
    with pytest.raises(MethodError, match="With a CustomNetwork.*must have the same embedding"):
        Preparation([hc.Run(slow, chosen), hc.Run(fast, chosen)])
    preparation = Preparation([hc.Run(fast, chosen)])
    point = jnp.asarray([[0.5, 0.0]])
    embedded = [preparation.prepare(k).objective.trial.embed(point) for k in lessons(preparation)]
    np.testing.assert_allclose(np.ravel(embedded), [-1.0 / np.pi - 1, -2.0 / np.pi - 1])


def test_a_run_that_breaks_down_keeps_its_best_parameters_while_others_go_on_with_new_points():
    root = declare(
        rhs=lambda u, a: np.sqrt(u - a), initial=lambda x: 3 + jnp.cos(jnp.pi * x), parameters={"a": 0.0}
    )
    chosen = method(resampling=hc.Resampling(4))
    runs = [hc.Run(p, chosen) for p in (root, root.with_parameters(a=100.0))]
    sound, broken = train_together(runs)
    assert (sound.stop, broken.stop) == (Stop.BUDGET, Stop.NOT_FINITE)
    assert (len(sound.history.loss), len(broken.history.loss)) == (12, 1)
    np.testing.assert_array_equal(broken.theta[0], broken.preparation.theta[1])


def test_schemes_combine():
    chosen = method(
        windows=2,
        horizons=(0.5, 1.0),
        curriculum=hc.Curriculum("a", (0.5, 1.0)),
        weights=hc.Causal(8),
        batches=hc.Batches(2, 32),
        resampling=hc.Resampling(50, "residual"),
        stages=(adam(200, schedule=hc.Cosine(0.1)), lbfgs(50)),
    )
    outcome = trained(chosen, RELAX)
    solution = outcome.solution
    assert_continuous(solution)
    labels = [label for label, _ in solution.history.stages]
    assert labels[:2] == [f"{s}, window 1/2, a × 0.5, to 50% of T" for s in ("Adam", "L-BFGS")]
    assert labels[-1] == "L-BFGS, window 2/2, a × 1, to 100% of T"
    assert len(labels) == 2 * 2 * 2 * 2
    assert relative(solution(T, X), RELAX.initial(X) * np.exp(-2 * T)) < 1e-2
    assert (outcome.weights["residual"].points[:, 0] >= 0.5).all()
