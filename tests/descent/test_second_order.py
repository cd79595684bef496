"""Levenberg–Marquardt and self-scaled Broyden: their algebra, and what they reach."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.descent import Stop
from hcpinn.descent.optimisers.broyden import _applied, _update
from hcpinn.errors import MethodError
from hcpinn.objective import Objective, residual_block, sampling
from hcpinn.trial import make_trial

PROBLEM = declare(rhs=lambda u: 0.05 * u.xx - u**3, initial=lambda x: jnp.sin(jnp.pi * x))


def objective_of(points=37, chunk=64, problem=PROBLEM, weights=None):
    trial = make_trial(problem, hc.Method(embedding=hc.Fourier(2), network=hc.MLP(5, 2)))
    objective = Objective(trial, trial.init(jax.random.key(1)), chunk=chunk)
    data = objective.data(sampling.interior(problem, points, seed=3))
    theta = 0.3 * jax.random.normal(jax.random.key(2), (objective.size,))
    return objective, data, theta


def test_the_normal_equations_are_those_of_the_explicit_jacobian(monkeypatch):
    objective, data, theta = objective_of()
    weights = {"residual": jnp.linspace(0.5, 2.0, 37)}
    block = residual_block(objective.trial, sampling.interior(PROBLEM, 37, seed=3), chunk=64, pruned=False)
    term = objective.terms["residual"]

    def rho(t):
        values = term.mismatch(objective.trial, objective.unravel(t), block, data.parameters)
        return (jnp.sqrt(weights["residual"] / 37)[:, None] * values).ravel()

    jacobian, values = jax.jit(jax.jacrev(rho))(theta), jax.jit(rho)(theta)
    for rows in (64, 8):  # all points at once, and few at a time with a last chunk to fill
        monkeypatch.setattr(type(objective), "jacobian_chunk", lambda self, item=8, rows=rows: rows)
        found = jax.jit(lambda t, d, w: objective.linearize(t, d, w))(theta, data, weights)
        np.testing.assert_allclose(found.gram, jacobian.T @ jacobian, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.slope, jacobian.T @ values, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.loss, values @ values, rtol=1e-12)


def test_half_the_gradient_is_the_slope():
    objective, data, theta = objective_of()
    here = jax.jit(objective.measure)(theta, data)
    np.testing.assert_allclose(
        2 * jax.jit(objective.linearize)(theta, data).slope, here.gradient, rtol=1e-9, atol=1e-13
    )


def test_a_sketch_adds_up_rows_of_the_jacobian_with_random_signs():
    """On average over sketches, (SJ)ᵀ(SJ) is JᵀJ; a group of one leaves the rows alone but for their signs."""
    objective, data, theta = objective_of()
    whole = jax.jit(objective.linearize)(theta, data)
    alone = objective.sketch(theta, data, group=1, key=jax.random.key(5))
    np.testing.assert_allclose(alone.jacobian.T @ alone.jacobian, whole.gram, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(alone.jacobian.T @ alone.values, whole.slope, rtol=1e-9, atol=1e-12)
    sketch = jax.jit(lambda key: objective.sketch(theta, data, group=4, key=key))
    found = [sketch(jax.random.key(n)) for n in range(200)]
    assert found[0].jacobian.shape == (10, objective.size)
    mean = np.mean([f.jacobian.T @ f.jacobian for f in found], axis=0)
    assert np.linalg.norm(mean - whole.gram) < 0.15 * np.linalg.norm(whole.gram)
    assert np.mean([f.values @ f.values for f in found]) == pytest.approx(float(whole.loss), rel=0.15)


def test_normal_equations_of_the_last_parameters_are_a_corner_of_all():
    objective, data, theta = objective_of()
    whole = jax.jit(objective.linearize)(theta, data)
    last = objective.output_weights
    corner = jax.jit(lambda t, d: objective.linearize(t, d, last=last))(theta, data)
    assert last == 6
    np.testing.assert_allclose(corner.gram, whole.gram[-last:, -last:], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(corner.slope, whole.slope[-last:], rtol=1e-9, atol=1e-12)


def test_the_broyden_update_meets_the_secant_equation_and_stays_positive():
    rng = np.random.default_rng(0)

    @jax.jit
    def update(inverse, step, change, gradient, length):
        following = _update(inverse @ change, step, change, gradient, length)
        return _applied(following, inverse, share=1.0, diagonal=0.0, used=True)

    for number in range(50):
        size = (3, 8)[number % 2]
        root = rng.normal(size=(size, size))
        inverse = root @ root.T + 0.1 * np.eye(size)
        curved = rng.normal(size=(size, size))
        hessian = curved @ curved.T + 0.1 * np.eye(size)
        gradient = rng.normal(size=size)
        length = float(rng.uniform(0.1, 1.5))
        step = -length * inverse @ gradient
        change = hessian @ step
        updated = np.asarray(update(*map(jnp.asarray, (inverse, step, change, gradient, length))))
        np.testing.assert_allclose(updated @ change, step, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(updated, updated.T, atol=1e-9 * np.abs(updated).max())
        assert np.linalg.eigvalsh(updated).min() > 0


@pytest.mark.parametrize(
    ("stage", "target"),
    [
        (hc.LevenbergMarquardt(steps=25), 1e-5),
        (hc.Broyden(steps=300), 1e-4),
        (hc.SketchedGaussNewton(steps=60), 1e-4),
        (hc.Projected(hc.Broyden(steps=200)), 1e-4),
    ],
    ids=["levenberg-marquardt", "broyden", "sketched", "projected"],
)
def test_it_solves_a_small_problem_far_better_than_lbfgs_in_as_many_steps(stage, target):
    method = hc.Method(
        lift=hc.Semigroup(), embedding=hc.Fourier(2), network=hc.MLP(8, 2), points=256, stages=(stage,)
    )
    problem = declare(rhs=lambda u: 0.05 * u.xx - u**3, initial=lambda x: jnp.sin(jnp.pi * x))
    solution = hc.solve(problem, method)
    assert solution.rel_l2["u"] < 50 * target
    loss = solution.history.loss
    assert loss[-1] < 1e-3 * loss[0]
    assert (np.diff(loss) <= 0).all()  # every step is a descent


def test_a_lift_that_solves_the_equation_leaves_nothing_to_train():
    method = hc.Method(
        lift=hc.Semigroup(), embedding=hc.Fourier(1), network=hc.MLP(4, 1), points=64,
        stages=(hc.LevenbergMarquardt(steps=25),),
    )  # fmt: skip
    solution = hc.solve(hc.find_problem("advection"), method)
    assert solution.rel_l2["u"] < 1e-3


def test_variable_projection_wraps_what_compares_losses():
    with pytest.raises(MethodError, match="needs a stage that uses all points"):
        hc.Projected(hc.Adam())
    with pytest.raises(MethodError, match="takes a stage such as"):
        hc.Projected(hc.Projected(hc.Broyden()))
    stage = hc.Projected(hc.Broyden(steps=100))
    assert stage.with_steps(7) == hc.Projected(hc.Broyden(steps=7))
    assert (stage.steps, stage.precision, stage.label) == (100, "float64", "Broyden, projected")


def test_training_stops_once_the_accuracy_asked_for_is_reached():
    method = hc.Method(
        lift=hc.Semigroup(), embedding=hc.Fourier(2), network=hc.MLP(8, 2), points=256, lessons=4,
        horizons=(0.5, 1.0), resampling=hc.Resampling(every=0, by="residual"),
        stages=(hc.LevenbergMarquardt(steps=12),),
    )  # fmt: skip
    solution = hc.solve(PROBLEM, method, accuracy=3e-2)
    assert solution.stop is Stop.ACCURACY
    assert solution.estimated_error == pytest.approx(solution.verdict.error, rel=0.5)
    assert solution.verdict.converged
    assert solution.rel_l2["u"] <= 3e-2
    assert len(solution.history.stages) < 5
