"""Trial functions of consecutive time windows join exactly and start from the initial data."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare, declare_dirichlet
from hcpinn import jets
from hcpinn.descent import Preparation
from hcpinn.descent.runs import Run
from hcpinn.descent.segments import window_edges
from hcpinn.errors import MethodError
from hcpinn.objective import residual
from hcpinn.trial import MarchedTrial, Trial, march

WALLS = declare_dirichlet(start=-0.5, initial=lambda x: (1 - x) / 4 + (np.cos(0.5) - 1) * (1 + x) / 2)
PLANE = declare(
    domain=hc.Box((0, 1), (0, 2)),
    horizon=0.6,
    rhs=lambda u, v: (u.yy + abs(v), 1j * v.xy - u),
    initial=lambda x, y: (jnp.sin(2 * jnp.pi * x), jnp.exp(1j * jnp.pi * y)),
)
PROBLEMS = {"line": declare(start=0.25, horizon=1.0), "walls": WALLS, "plane": PLANE}
WINDOWS = 3


@functools.cache
def marched(name, windows=WINDOWS):
    """A march over all windows with random networks, and these."""
    problem = PROBLEMS[name]
    periodic = any(ends.periodic for ends in problem.boundaries)

    def make(problem):
        return Trial(
            problem,
            lift=hc.Decay(0.7),
            gate=hc.LinearGate(),
            embedding=hc.Fourier(2) if periodic else hc.Plain(),
            network=hc.MLP(5, 1),
        )

    first = make(problem)
    networks = [
        jax.tree.map(
            lambda a, k=k: a + 0.3 * jax.random.normal(jax.random.key(a.size + k), a.shape),
            first.init(jax.random.key(k)),
        )
        for k in range(windows)
    ]
    trials = march(problem, window_edges(problem, windows), make, networks)
    return MarchedTrial(problem, trials), tuple(networks)


def space(problem, count=11):
    rng = np.random.default_rng(0)
    return np.stack([a + (b - a) * rng.random(count) for a, b in problem.domain.bounds], axis=1)


def at_time(problem, t):
    where = space(problem)
    return jnp.asarray(np.column_stack([np.full(len(where), t), where]))


def test_windows_cut_the_duration_evenly_and_each_time_belongs_to_one():
    trial, networks = marched("line")
    np.testing.assert_allclose([t.problem.start for t in trial.trials], [0.25, 0.5, 0.75], rtol=1e-15)
    np.testing.assert_allclose([t.problem.horizon for t in trial.trials], [0.5, 0.75, 1.0], rtol=1e-15)
    for before, after in zip(trial.trials[:-1], trial.trials[1:], strict=True):
        assert before.problem.horizon == after.problem.start
    for own, network in zip(trial.trials, networks, strict=True):
        points = at_time(trial.problem, (own.problem.start + own.problem.horizon) / 2)
        np.testing.assert_array_equal(trial(networks, points), own(network, points))


@pytest.mark.parametrize("name", PROBLEMS)
def test_windows_start_from_the_initial_data_and_join_exactly(name):
    trial, networks = marched(name)
    problem = PROBLEMS[name]
    points = at_time(problem, problem.start)
    exact = problem.to_components(problem.initial_values(list(points.T[1:])))
    np.testing.assert_allclose(trial(networks, points), exact, rtol=1e-14, atol=1e-14)
    for k in range(1, WINDOWS):
        points = at_time(problem, trial.trials[k].problem.start)
        before, after = (trial.trials[n](networks[n], points) for n in (k - 1, k))
        np.testing.assert_allclose(after, before, rtol=1e-14, atol=1e-14)
        np.testing.assert_array_equal(trial(networks, points), before)
        # Just before and just after, as close as the change of u itself allows.
        near = [trial(networks, points.at[:, 0].add(h)) for h in (-1e-12, 1e-12)]
        np.testing.assert_allclose(near[0], near[1], rtol=1e-9, atol=1e-9)


def test_boundary_data_hold_in_every_window():
    trial, networks = marched("walls")
    t = jnp.linspace(-0.5, 1.0, 13)
    for x, exact in ((-1.0, 1 + t), (1.0, jnp.cos(t) - 1)):
        points = jnp.stack([t, jnp.full_like(t, x)], axis=1)
        np.testing.assert_allclose(trial(networks, points)[:, 0], exact, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", ["line", "plane"])
def test_jets_of_a_marched_trial_are_its_derivatives(name):
    trial, networks = marched(name, windows=2)
    problem = PROBLEMS[name]
    share = (np.arange(8) + 0.5) / 8
    points = np.column_stack([problem.start + (problem.horizon - problem.start) * share, space(problem, 8)])

    @jax.jit
    def both(p):
        fixed = trial.fix(p)
        return trial.jet(networks, fixed), residual(trial, networks, fixed, problem.parameters)

    ours, whole = both(jnp.asarray(points))
    exact = jax.jit(lambda p: jets.nested(lambda q: trial(networks, q), p, trial.indices))(
        jnp.asarray(points)
    )
    assert set(ours) == set(trial.indices)
    for index in trial.indices:
        scale = float(jnp.abs(exact[index]).max()) + 1e-300
        np.testing.assert_allclose(
            ours[index], exact[index], rtol=1e-9, atol=1e-9 * scale, err_msg=str(index)
        )
    first = trial.trials[0]
    alone = jax.jit(lambda p: residual(first, networks[0], first.fix(p), problem.parameters))(points[:4])
    np.testing.assert_allclose(whole[:4], alone, rtol=1e-10, atol=1e-10)


def test_a_march_reaches_one_window_beyond_the_networks_it_has():
    problem, (_, networks) = PROBLEMS["line"], marched("line")
    make = lambda p: Trial(
        p, lift=hc.Decay(0.7), gate=hc.LinearGate(), embedding=hc.Fourier(2), network=hc.MLP(5, 1)
    )
    edges = window_edges(problem, WINDOWS)
    assert [len(march(problem, edges, make, networks[:n])) for n in range(WINDOWS + 1)] == [1, 2, 3, 3]
    (only,) = march(problem, window_edges(problem, 1), make, [])
    assert (only.problem.start, only.problem.horizon) == (0.25, 1.0)


def test_without_lift_and_gate_a_window_still_knows_where_the_one_before_ended():
    problem = declare()
    free = {"lift": hc.NoLift(), "gate": hc.NoGate(), "embedding": hc.Fourier(2), "network": hc.MLP(5, 1)}
    make = lambda p: Trial(p, **free)
    network = make(problem).init(jax.random.key(0))
    first, second = march(problem, window_edges(problem, 2), make, [network])
    points = at_time(problem, 0.5)
    np.testing.assert_array_equal(
        second.problem.initial_values([points[:, 1]])[0], first(network, points)[:, 0]
    )
    assert second.left_open == (("initial", None),)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"gate": hc.CustomGate(lambda t: t)}, r"gate does not vanish at the start: it is 0.5 at \(t = 0.5"),
        (
            {"lift": hc.CustomLift(lambda t, x: jnp.cos(jnp.pi * x))},
            r"does not start at the initial data: at \(t = 0.5",
        ),
    ],
)
def test_parts_of_ones_own_that_suit_only_the_first_window_are_refused_before_training(parts, message):
    settings = {"embedding": hc.Fourier(2), "network": hc.MLP(5, 1), "points": 64}
    with pytest.raises(MethodError, match=message):
        Preparation([Run(declare(), hc.Method(windows=2, **settings, **parts))])
    Preparation([Run(declare(), hc.Method(**settings, **parts))])


def test_a_gate_of_ones_own_that_vanishes_wherever_a_window_starts_is_taken():
    gate = hc.CustomGate(lambda t: jnp.sin(2 * jnp.pi * t))
    method = hc.Method(windows=2, gate=gate, embedding=hc.Fourier(2), network=hc.MLP(5, 1), points=64)
    Preparation([Run(declare(), method)])
