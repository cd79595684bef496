"""Initial and boundary data hold exactly, whatever the parameters."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare, declare_dirichlet
from hcpinn.catalog import ENTRIES
from hcpinn.errors import MethodError, UnknownNameError
from hcpinn.trial import Trial

NETWORK = hc.MLP(8, 2)


def make(problem, **parts):
    periodic = any(ends.periodic for ends in problem.boundaries)
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
MIXED = declare(
    domain=hc.Box((0, 1), (0, 2)),
    boundary={"x": hc.Dirichlet(lambda t, y: t * jnp.sin(jnp.pi * y), 0.0), "y": hc.Periodic()},
    rhs=lambda u: u.laplacian + u.xy,
    initial=lambda x, y: jnp.sin(jnp.pi * x) * jnp.cos(jnp.pi * y),
)
SPACE = declare(
    domain=hc.Box((0, 1), (0, 2), (-1, 1)),
    boundary=hc.Dirichlet(lambda t, x, y, z: x * y * z + t * jnp.sin(x * y + z)),
    rhs=lambda u: u.laplacian + u.xz,
    initial=lambda x, y, z: x * y * z,
)
CUBE = declare(
    domain=hc.Box((0, 1), (0, 1), (0, 1)),
    rhs=lambda u, v: (u.laplacian - v, v.laplacian + u),
    initial=lambda x, y, z: (jnp.cos(2 * jnp.pi * (x + y)), jnp.sin(2 * jnp.pi * z)),
)
LATE = declare(start=0.5, horizon=2.0)
LATE_WALLS = declare_dirichlet(
    start=0.5,
    horizon=2.0,
    boundary=hc.Dirichlet(lambda t: t**2, lambda t: 1 - t),
    initial=lambda x: (1 - x) / 8 + (1 + x) / 4 + 0.3 * jnp.sin(jnp.pi * x),
)
OWN = [declare(horizon=2.5), SYSTEM, WAVE, declare_dirichlet(), MIXED, SPACE, CUBE, LATE, LATE_WALLS]
PROBLEMS = [*OWN, *(hc.find_problem(name) for name in ENTRIES)]


def names(problem):
    late = "-late" if problem.start else ""
    return f"{problem.name}-{len(problem.space)}d-{'-'.join(problem.components)}{late}"


def places(problem, count=20, seed=0):
    """Random points (t, x, …) in the domain."""
    low = np.array([problem.start, *problem.domain.lower])
    high = np.array([problem.horizon, *problem.domain.upper])
    return low + np.random.default_rng(seed).random((count, len(low))) * (high - low)


@pytest.mark.parametrize("problem", PROBLEMS, ids=names)
def test_initial_data_hold_to_rounding_for_random_parameters(problem):
    trial = make(problem)
    points = places(problem)
    points[:, 0] = problem.start
    exact = problem.to_components(problem.initial_values(list(jnp.asarray(points).T[1:])))
    for seed in range(3):
        got = trial(random_parameters(trial, seed), jnp.asarray(points))
        np.testing.assert_allclose(got, exact, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("problem", PROBLEMS, ids=names)
def test_boundary_data_hold_to_rounding_for_random_parameters(problem):
    trial = make(problem)
    for axis, condition in enumerate(problem.boundaries):
        faces = []
        for edge in problem.domain.bounds[axis]:
            points = places(problem)
            points[:, axis + 1] = edge
            faces.append(jnp.asarray(points))
        for seed in range(3):
            low, high = (trial(random_parameters(trial, seed), points) for points in faces)
            if condition.periodic:
                np.testing.assert_allclose(low, high, rtol=1e-11, atol=1e-11)
                continue
            t, *space = faces[0].T
            across = [x for i, x in enumerate(space) if i != axis]
            for got, side in zip((low, high), condition.sides, strict=True):
                wanted = np.concatenate(problem.boundary_components(side, t, across)).T
                np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    "problem",
    [declare(initial=lambda x: jnp.cos(jnp.pi * x) ** 3), SYSTEM, WAVE, CUBE, hc.find_problem("gray-scott")],
    ids=names,
)
def test_periodic_trials_repeat_with_all_derivatives(problem):
    trial = make(problem)
    parameters = random_parameters(trial, 0)
    here = places(problem)
    jet = jax.jit(lambda points: trial.jet(parameters, trial.fix(points)))
    ours = jet(jnp.asarray(here))
    for axis, period in enumerate(problem.domain.lengths):
        there = here.copy()
        there[:, axis + 1] += period
        shifted = jet(jnp.asarray(there))
        for index in trial.indices:
            scale = float(jnp.abs(ours[index]).max())
            np.testing.assert_allclose(ours[index], shifted[index], rtol=1e-10, atol=1e-10 * scale)


@pytest.mark.parametrize("problem", PROBLEMS, ids=names)
def test_jets_of_the_trial_are_its_derivatives(problem):
    trial = make(problem)
    parameters = random_parameters(trial, 1)
    points = jnp.asarray(places(problem, 7))
    jet = jax.jit(lambda points: trial.jet(parameters, trial.fix(points)))(points)

    def derivative(index):
        function = lambda p: trial(parameters, p[None])[0]
        for direction, times in zip(np.eye(len(index)), index, strict=True):
            for _ in range(times):
                function = (lambda f, d: lambda p: jax.jvp(f, (p,), (d,))[1])(function, direction)
        return function

    exact = jax.jit(lambda points: {i: jax.vmap(derivative(i))(points) for i in trial.indices})(points)
    for index in trial.indices:
        scale = float(jnp.abs(exact[index]).max()) + 1e-300
        got = jet.get(index, jnp.zeros_like(exact[index]))
        np.testing.assert_allclose(got, exact[index], rtol=1e-9, atol=1e-10 * scale, err_msg=str(index))


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


def test_lift_gate_and_embedding_count_time_from_the_start():
    shifted = declare(horizon=1.5)
    for late, early in (
        (make(LATE), make(shifted)),
        (make(LATE, embedding=hc.Plain()), make(shifted, embedding=hc.Plain())),
    ):
        there = jnp.asarray(places(LATE))
        here = there - jnp.asarray([0.5, 0.0])
        for part in ("lift", "gate", "embed"):
            np.testing.assert_allclose(
                getattr(late, part)(there), getattr(early, part)(here), rtol=1e-12, atol=1e-14
            )
    walls = make(LATE_WALLS)
    x = np.linspace(-1, 1, 9)
    for t, gate in ((0.5, 0.0), (1.25, 0.5), (2.0, 1.0)):
        points = jnp.stack([jnp.full(9, t), x], axis=1)
        np.testing.assert_allclose(walls.gate(points)[:, 0], gate * (1 - x**2), rtol=1e-14, atol=1e-16)
        np.testing.assert_allclose(walls.lift(points)[jnp.array([0, -1]), 0], [t**2, 1 - t], rtol=1e-14)
        line = lambda t: (1 - x) / 2 * t**2 + (1 + x) / 2 * (1 - t)
        start = (1 - x) / 8 + (1 + x) / 4 + 0.3 * np.sin(np.pi * x)
        expected = line(t) + np.exp(-1.3 * (t - 0.5)) * (start - line(0.5))
        np.testing.assert_allclose(walls.lift(points)[:, 0], expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("problem", [declare(), WAVE, MIXED, declare(boundary=hc.Neumann(0.0))], ids=names)
def test_without_lift_and_gate_the_trial_is_the_plain_network(problem):
    trial = make(problem, lift=hc.NoLift(), gate=hc.NoGate())
    parameters = random_parameters(trial, 0)
    points = jnp.asarray(places(problem))
    network = trial.network(parameters, trial.embed(points))
    np.testing.assert_array_equal(trial(parameters, points), network)
    jet = jax.jit(lambda p: trial.jet(parameters, trial.fix(p)))(points)
    np.testing.assert_allclose(jet[(0,) * len(problem.axes)], network, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("parts", [{"lift": hc.NoLift()}, {"gate": hc.NoGate()}])
def test_no_lift_and_no_gate_go_together(parts):
    with pytest.raises(MethodError, match=r"NoLift\(\) and NoGate\(\) go together.*Use both, or neither"):
        make(declare(), **parts)


@pytest.mark.parametrize(
    ("problem", "parts", "left"),
    [
        (declare(), {}, []),
        (declare(), {"embedding": hc.Plain()}, [("periodic", 0)]),
        (declare(), {"lift": hc.NoLift(), "gate": hc.NoGate()}, [("initial", None)]),
        (declare_dirichlet(), {}, []),
        (declare(boundary=hc.Neumann(0.0)), {}, [("boundary", 0)]),
        (
            declare(boundary=hc.Robin(0.0)),
            {"lift": hc.NoLift(), "gate": hc.NoGate()},
            [("initial", None), ("boundary", 0)],
        ),
        (MIXED, {}, []),
        (MIXED, {"embedding": hc.Plain()}, [("periodic", 1)]),
        (MIXED, {"lift": hc.NoLift(), "gate": hc.NoGate()}, [("initial", None), ("boundary", 0)]),
    ],
)
def test_a_trial_says_which_conditions_it_leaves_open(problem, parts, left):
    assert list(make(problem, **parts).left_open) == left


def test_initial_data_hold_exactly_beside_slopes_that_do_not():
    problem = declare(boundary=hc.Robin(lambda t: t, value=2.0))
    trial = make(problem)
    points = places(problem)
    points[:, 0] = 0.0
    got = trial(random_parameters(trial, 0), jnp.asarray(points))[:, 0]
    np.testing.assert_allclose(got, np.cos(np.pi * points[:, 1]), rtol=1e-14, atol=1e-14)


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
        (declare(), {"gate": hc.CustomGate(lambda t: t + 0.1)}, r"does not vanish at the start: it is 0\.1"),
        (declare(), {"gate": hc.CustomGate(lambda t: t**2)}, r"gate_t\(0, x\) ≠ 0"),
        (declare(), {"gate": hc.CustomGate(lambda t, x: t * (2 + x))}, "gate is not periodic"),
        (declare(), {"lift": hc.CustomLift(lambda t, x: (x, x))}, r"2 value\(s\) for 1 field"),
        (declare(), {"lift": hc.CustomLift(lambda t, x: x / 0.0)}, "does not start at the initial data"),
        (
            declare_dirichlet(),
            {"gate": hc.CustomGate(lambda t: t)},
            "gate does not vanish at the lower end of x",
        ),
        (
            declare_dirichlet(),
            {"lift": hc.CustomLift(lambda t, x: (1 - x) / 2 + 0.3 * jnp.sin(jnp.pi * x))},
            "Dirichlet data at the lower end of x",
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
    with pytest.raises(MethodError, match="width and depth"):
        hc.ModifiedMLP(8, 0)
    with pytest.raises(UnknownNameError, match="Did you mean 'tanh'"):
        hc.MLP(8, 2, "tahn")
    with pytest.raises(MethodError, match="zero or positive"):
        hc.Decay(-1.0)
    wrong = hc.CustomNetwork(lambda key, i, o: 0.0, lambda p, f: f[:, :3])
    with pytest.raises(MethodError, match=r"needs \(1, 1\)"):
        make(declare(), network=wrong).init(jax.random.key(0))
