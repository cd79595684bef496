"""Initial and boundary data hold exactly, whatever the parameters."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare, declare_dirichlet
from hcpinn.errors import MethodError, UnknownNameError
from hcpinn.trial import Trial

NETWORK = hc.MLP(8, 2)


def make(problem, **parts):
    periodic = isinstance(problem.boundary, hc.Periodic)
    defaults = {
        "lift": hc.Decay(1.3),
        "gate": hc.LinearGate(),
        "embedding": hc.Fourier(3) if periodic else hc.Plain(),
        "network": NETWORK,
    }
    return Trial(problem, **{**defaults, **parts})


def random_parameters(trial, seed):
    template = trial.init(jax.random.key(seed))
    keys = iter(jax.random.split(jax.random.key(seed + 1), 100))
    return jax.tree.map(lambda a: 3 * jax.random.normal(next(keys), a.shape, a.dtype), template)


SYSTEM = declare(
    rhs=lambda u, v: (u.xx - v, v.x), initial=lambda x: (jnp.cos(jnp.pi * x), jnp.sin(jnp.pi * x) + 2)
)
WAVE = declare(rhs=lambda u: 1j * u.xx, initial=lambda x: jnp.exp(1j * jnp.pi * x))
PROBLEMS = [
    declare(horizon=2.5),
    SYSTEM,
    WAVE,
    declare_dirichlet(),
    *(hc.find_problem(n) for n in ("allen-cahn-1", "allen-cahn-2", "allen-cahn-dirichlet")),
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("problem", PROBLEMS)
def test_initial_data_hold_to_rounding(problem, seed):
    trial = make(problem)
    x = jnp.linspace(problem.domain.lower[0], problem.domain.upper[0], 31)
    points = jnp.stack([jnp.zeros_like(x), x], axis=1)
    exact = problem.to_components(problem.initial_values([x]))
    np.testing.assert_allclose(trial(random_parameters(trial, seed), points), exact, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("problem", [declare_dirichlet(), hc.find_problem("allen-cahn-dirichlet")])
def test_dirichlet_data_hold_to_rounding_at_all_times(problem, seed):
    trial = make(problem)
    t = jnp.linspace(0, problem.horizon, 17)
    for x, data in zip((-1.0, 1.0), problem.boundary_values(t), strict=True):
        points = jnp.stack([t, jnp.full_like(t, x)], axis=1)
        np.testing.assert_allclose(
            trial(random_parameters(trial, seed), points)[:, 0], data[0], rtol=1e-14, atol=1e-14
        )


@pytest.mark.parametrize("problem", [declare(initial=lambda x: jnp.cos(jnp.pi * x) ** 3), SYSTEM, WAVE])
def test_periodic_trials_repeat_with_all_derivatives(problem):
    trial = make(problem)
    parameters = random_parameters(trial, 0)
    t, x = jax.random.uniform(jax.random.key(3), (2, 20), minval=0.0, maxval=1.0)
    here = trial.fix(jnp.stack([t, x], axis=1))
    there = trial.fix(jnp.stack([t, x + 2.0], axis=1))
    ours, shifted = trial.jet(parameters, here), trial.jet(parameters, there)
    for index in trial.indices:
        scale = float(jnp.abs(ours[index]).max())
        np.testing.assert_allclose(ours[index], shifted[index], rtol=1e-11, atol=1e-11 * scale)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_jets_of_the_trial_are_its_derivatives(problem):
    trial = make(problem)
    parameters = random_parameters(trial, 1)
    t = jax.random.uniform(jax.random.key(3), (9,), maxval=problem.horizon)
    points = jnp.stack([t, jnp.linspace(-0.9, 0.7, 9)], axis=1)
    jet = trial.jet(parameters, trial.fix(points))

    def value(p, component):
        return trial(parameters, p[None])[0, component]

    for index in trial.indices:
        for component in range(trial.outputs):
            slope = lambda p, c=component: value(p, c)
            for axis, times in enumerate(index):
                for _ in range(times):
                    slope = (lambda f, a: lambda p: jax.grad(f)(p)[a])(slope, axis)
            exact = jax.vmap(slope)(points)
            scale = float(jnp.abs(exact).max()) + 1e-300
            np.testing.assert_allclose(jet[index][:, component], exact, rtol=1e-10, atol=1e-10 * scale)


def test_a_network_of_ones_own_falls_back_to_nested_forward_mode():
    problem = declare()
    own = hc.CustomNetwork(NETWORK.init, lambda parameters, features: NETWORK(parameters, features))
    fast, slow = make(problem), make(problem, network=own)
    parameters = random_parameters(fast, 0)
    points = jax.random.uniform(jax.random.key(0), (11, 2))
    ours, theirs = fast.jet(parameters, fast.fix(points)), slow.jet(parameters, slow.fix(points))
    for index in fast.indices:
        np.testing.assert_allclose(ours[index], theirs[index], rtol=1e-10, atol=1e-10)


def test_the_decay_lift_for_equal_constant_data_is_the_published_one():
    problem = hc.find_problem("allen-cahn-dirichlet")
    x = jnp.linspace(-1, 1, 9)
    points = jnp.stack([jnp.full_like(x, 0.4), x], axis=1)
    u0 = x**2 * jnp.cos(jnp.pi * x)
    expected = u0 * jnp.exp(-0.4) - (1 - jnp.exp(-0.4))
    np.testing.assert_allclose(make(problem, lift=hc.Decay(1.0)).lift(points)[:, 0], expected, rtol=1e-14)
    np.testing.assert_allclose(make(problem).gate(points)[:, 0], 0.4 * (1 - x**2), rtol=1e-14, atol=1e-16)


def test_the_fourier_embedding_is_the_published_one():
    problem = declare(horizon=4.0)
    x, k = 0.3, jnp.arange(1, 4)
    got = make(problem).embed(jnp.asarray([[1.0, x]]))[0]
    phase = 2 * jnp.pi * k * x / 2
    np.testing.assert_allclose(
        got, jnp.concatenate([jnp.asarray([0.25, 1.0]), jnp.cos(phase), jnp.sin(phase)])
    )


@pytest.mark.parametrize(
    ("problem", "parts", "message"),
    [
        (
            declare(),
            {"lift": hc.CustomLift(lambda t, x: jnp.cos(jnp.pi * x) + 1e-3)},
            r"lift\(0, x\) = u0\(x\)",
        ),
        (
            declare(),
            {"lift": hc.CustomLift(lambda t, x: jnp.cos(jnp.pi * x) + t * x)},
            "lift is not periodic",
        ),
        (declare(), {"gate": hc.CustomGate(lambda t: t + 0.1)}, r"does not vanish at t = 0: it is 0\.1"),
        (declare(), {"gate": hc.CustomGate(lambda t: t**2)}, r"gate_t\(0, x\) ≠ 0"),
        (declare(), {"gate": hc.CustomGate(lambda t, x: t * (2 + x))}, "gate is not periodic"),
        (declare(), {"lift": hc.CustomLift(lambda t, x: (x, x))}, r"2 value\(s\) for 1 field"),
        (declare(), {"lift": hc.CustomLift(lambda t, x: x / 0.0)}, "does not start at the initial data"),
        (declare_dirichlet(), {"gate": hc.CustomGate(lambda t: t)}, "gate does not vanish at the lower end"),
        (
            declare_dirichlet(),
            {"lift": hc.CustomLift(lambda t, x: (1 - x) / 2 + 0.3 * jnp.sin(jnp.pi * x))},
            "Dirichlet data at the lower end",
        ),
        (declare_dirichlet(), {"embedding": hc.Fourier(3)}, r"Use embedding=Plain\(\)"),
    ],
)
def test_lifts_and_gates_that_break_exactness_are_refused(problem, parts, message):
    with pytest.raises(MethodError, match=message):
        make(problem, **parts)


def test_a_sound_lift_and_gate_of_ones_own_are_taken():
    trial = make(
        declare(),
        lift=hc.CustomLift(lambda t, x: np.cos(np.pi * x) * np.exp(-3 * t)),
        gate=hc.CustomGate(lambda t: 1 - jnp.exp(-t)),
    )
    assert trial(trial.init(jax.random.key(0)), jnp.asarray([[0.0, 0.5]])).shape == (1, 1)


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(MethodError, match="at least one mode"):
        hc.Fourier(0)
    with pytest.raises(MethodError, match="width and depth"):
        hc.MLP(0, 3)
    with pytest.raises(UnknownNameError, match="Did you mean 'tanh'"):
        hc.MLP(8, 2, "tahn")
    with pytest.raises(MethodError, match="zero or positive"):
        hc.Decay(-1.0)
    wrong = hc.CustomNetwork(lambda key, i, o: 0.0, lambda p, f: f[:, :3])
    with pytest.raises(MethodError, match=r"needs \(1, 1\)"):
        make(declare(), network=wrong).init(jax.random.key(0))
