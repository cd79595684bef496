"""Conditions at walls hold to rounding, whatever the parameters of the network are."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn import jets
from hcpinn.errors import MethodError
from hcpinn.machine.precision import double
from hcpinn.problem import Side
from hcpinn.trial import Trial
from hcpinn.trial.walls import flat_feature

STATE = {
    1: lambda x: 0.3 + jnp.sin(1.3 * x + 0.4),
    2: lambda x, y: 0.3 + jnp.sin(1.3 * x + 0.4 - 0.7 * y),
    3: lambda x, y, z: 0.3 + jnp.sin(1.3 * x + 0.4 - 0.7 * y + 0.9 * z),
}
DECAY = 0.8


def exact(dimension, number=0):
    """A smooth function of t and x, …; the data of all conditions are made from it."""
    return lambda t, *space: jnp.exp(-DECAY * (1 + number) * t) * STATE[dimension](*space) * (1 + number)


def held(factors, axis, end, dimension, number=0):
    """The condition with these factors that `exact` meets at one end."""

    def data(*at):
        points = jnp.stack(jnp.broadcast_arrays(*map(jnp.asarray, at)), axis=-1).reshape(-1, dimension + 1)
        value = lambda p: exact(dimension, number)(*p.T)[:, None]
        indices = [tuple(k * (i == axis + 1) for i in range(dimension + 1)) for k in range(len(factors))]
        jet = jets.nested(value, points, indices)
        sign = 1.0 if end else -1.0
        parts = [f * sign**k * jet[i][:, 0] for k, (f, i) in enumerate(zip(factors, indices, strict=True))]
        total = jnp.stack(parts).sum(axis=0)
        return total.reshape(jnp.shape(jnp.broadcast_arrays(*map(jnp.asarray, at))[0]))

    names = ["t", *"xyz"[:dimension]]
    call = eval(f"lambda data: lambda {', '.join(names)}: data({', '.join(names)})")(jax.jit(data))
    return hc.Linear(call, factors=factors)


def violation(trial, seed=0, count=7):
    """The largest violation of any condition at fresh points, relative to the size of what it adds up."""
    problem, rng = trial.problem, np.random.default_rng(seed)
    with double():
        parameters = trial.init(jax.random.key(seed))
        parameters = jax.tree.map(
            lambda a: a + 0.3 * jax.random.normal(jax.random.key(seed), a.shape), parameters
        )
        worst = 0.0
        for side in problem.sides:
            points = np.column_stack(
                [rng.uniform(problem.start, problem.horizon, count), np.zeros((count, 0))]
            )
            unit = rng.random((count, problem.domain.dimension - 1))
            points = np.column_stack([points, problem.domain.on(side.part, unit)])
            worst = max(worst, _violated(trial, parameters, side, points))
    return worst


def _violated(trial, parameters, side: Side, points):
    problem = trial.problem
    normal = problem.domain.normal(side.part, points)
    terms = [[c.terms(normal) for c in side.conditions[f]] for f in problem.component_fields]
    indices = list(dict.fromkeys(i for own in terms for each in own for i, _ in each))
    if not indices:
        return 0.0
    at = jnp.asarray(points)
    jet = jax.jit(lambda p: trial.jet(parameters, trial.fix(p, indices), indices))(at)
    data = problem.boundary_components(side, at[:, 0], [x for i, x in enumerate(at.T[1:]) if i != side.axis])
    worst = 0.0
    for component, own in enumerate(terms):
        for each, g in zip(own, data[component], strict=True):
            parts = [f * np.asarray(jet[i])[:, component] for i, f in each]
            size = max(np.abs(parts).max(), np.abs(np.asarray(g)).max(), 1e-300)
            worst = max(worst, float(np.abs(np.sum(parts, axis=0) - g).max() / size))
    return worst


VALUE, SLOPE, MIXED, WEIRD = (1.0,), (0.0, 1.0), (2.0, 1.0), (-0.7, 1.3)
SECOND = {"value": [VALUE], "slope": [SLOPE], "Robin": [MIXED], "Robin -": [WEIRD], "free": []}
FOURTH = {
    "clamped": [VALUE, SLOPE],
    "supported": [VALUE, (0.0, 0.0, 1.0)],
    "no flux": [SLOPE, (0.0, 0.0, 0.0, 1.0)],
    "mixture": [(1.0, 2.0), (3.0, -1.0)],
}
EQUATION = {
    1: {2: lambda u: u.xx, 4: lambda u: -u.xxxx},
    2: {2: lambda u: u.laplacian},
    3: {2: lambda u: u.laplacian},
}


def make(problem, embedding=None, **changes):
    parts = {"lift": hc.Decay(0.5), "gate": hc.LinearGate(), "network": hc.MLP(5, 2), **changes}
    return Trial(problem, embedding=embedding or hc.Even(2), **parts)


def line(low, high, order=2):
    ends = tuple([held(f, 0, end, 1) for f in own] for end, own in enumerate((low, high)))
    return declare(
        domain=hc.Interval(-0.4, 1.1),
        rhs=EQUATION[1][order],
        boundary=ends,
        initial=lambda x: exact(1)(0.0, x),
    )


@pytest.mark.parametrize(
    ("low", "high", "order"),
    [
        ("value", "slope", 2),
        ("Robin", "Robin -", 2),
        ("free", "slope", 2),
        ("clamped", "supported", 4),
        ("no flux", "mixture", 4),
    ],
)
def test_conditions_hold_end_by_end(low, high, order):
    kinds = SECOND if order == 2 else FOURTH
    trial = make(line(kinds[low], kinds[high], order))
    assert trial.left_open == ()
    assert violation(trial) < 1e-12


def box(faces, dimension=2, **changes):
    """A box problem with conditions by face, axis after axis; None is periodic."""
    ends = {}
    for axis, (letter, own) in enumerate(zip("xyz", faces, strict=False)):
        if own is None:
            ends[letter] = hc.Periodic()
        else:
            ends[letter] = tuple(
                [held(f, axis, end, dimension) for f in each] for end, each in enumerate(own)
            )
    domain = hc.Box(*[(-0.4, 1.1), (0.0, 0.7), (0.2, 1.0)][:dimension])
    settings = {"rhs": EQUATION[dimension][2], "initial": initial_of(dimension)}
    return declare(domain=domain, boundary=ends, **{**settings, **changes})


def initial_of(dimension):
    state = STATE[dimension]
    return {2: lambda x, y: state(x, y), 3: lambda x, y, z: state(x, y, z)}[dimension]


def test_faces_of_a_box_hold_together_with_data_that_vary_along_them():
    trial = make(box([([VALUE], [SLOPE]), ([MIXED], [SLOPE])]))
    assert trial.left_open == ()
    assert violation(trial) < 1e-12


def system(low, high):
    """Two fields, each with its own conditions at the two ends."""
    ends = {
        name: ([held(f, 0, 0, 1, n) for f in low[n]], [held(f, 0, 1, 1, n) for f in high[n]])
        for n, name in enumerate("uv")
    }
    return declare(
        domain=hc.Interval(-0.4, 1.1),
        rhs=lambda u, v: (u.xx, v.xx - u),
        boundary=ends,
        initial=lambda x: (exact(1)(0.0, x), exact(1, 1)(0.0, x)),
    )


@pytest.mark.parametrize(
    ("low", "high"), [(([VALUE], [SLOPE]), ([MIXED], [VALUE])), (([VALUE], [VALUE]), ([VALUE], [SLOPE]))]
)
def test_fields_of_a_system_have_their_own_conditions(low, high):
    trial = make(system(low, high))
    assert trial.left_open == ()
    assert violation(trial) < 1e-12


def test_general_mixtures_are_left_to_a_penalty():
    elastic = [VALUE, (0.0, 1.0, 1.0)]
    trial = make(line(elastic, FOURTH["clamped"], 4))
    assert trial.left_open == (("boundary", 0),)


@pytest.mark.parametrize(("flat", "power"), [((1, 0), 3), ((1, 1), 3), ((2, 1), 5)])
def test_flat_features_start_at_their_power(flat, power):
    x = np.array([1e-2, 2e-2])
    rise = flat_feature(x, flat) + 1
    assert np.log2(rise[1] / rise[0]) == pytest.approx(power, abs=0.1)
    assert flat_feature(np.array([0.0, 1.0]), flat) == pytest.approx([-1.0, 1.0])


def test_even_features_go_with_a_lift():
    with pytest.raises(MethodError, match=r"Even\(\) holds slopes at walls"):
        Trial(
            line([SLOPE], [SLOPE]),
            lift=hc.NoLift(),
            gate=hc.NoGate(),
            embedding=hc.Even(),
            network=hc.MLP(4, 1),
        )
