"""Trainings of one small network by the schemes that tests of training compare."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np

import hcpinn as hc
from declarations import declare
from descent import small
from hcpinn.descent import History, Piecewise, Preparation, Progress, Report, Stop, train
from hcpinn.machine.provenance import Provenance
from hcpinn.objective import RESIDUAL

FAMILY = declare(
    rhs=lambda u, t, x, a, b, swing, waves: (
        a * u * (1 - b * u) + swing * np.cos(12 * t) + waves * np.sin(20 * np.pi * x) * (x > 0)
    ),
    initial=lambda x: 2 + jnp.cos(jnp.pi * x),
    parameters={"a": -1.0, "b": 0.0, "swing": 0.0, "waves": 0.0},
)
"""Decay, growth and driven motion at every x: equations that differ in data alone are compiled once."""

DECAY = FAMILY
RELAX = FAMILY.with_parameters(a=-2.0)
T, X = np.meshgrid(np.linspace(0, 1, 41), np.linspace(-1, 1, 21), indexing="ij")


def method(**changes):
    return small.method(**{"network": hc.MLP(8, 1), "points": 64, "stages": (adam(12),), **changes})


def adam(steps, **settings):
    return hc.Adam(steps=steps, **{"rate": 1e-2, "precision": "float64", **settings})


def lbfgs(steps, **settings):
    return hc.LBFGS(steps=steps, memory=20, **settings)


EASY = method(weights=hc.Causal(8, (1e-3, 0.1), threshold=0.95), stages=(adam(5000), lbfgs(4)))
"""Ends each time when the causal weights have passed, long before its steps are used up."""

SOFTLY = method(
    lift=hc.NoLift(),
    gate=hc.NoGate(),
    embedding=hc.Plain(),
    penalties=(hc.InitialPenalty(32, weight=10.0), hc.PeriodicPenalty(16, weight=2.0)),
    stages=(adam(200, rate=3e-2), lbfgs(60)),
)


@functools.cache
def trained(chosen, problem=DECAY, seed=0):
    [outcome] = train_together([hc.Run(problem, chosen, seed)])
    return outcome


def train_together(runs):
    preparation = Preparation(runs)
    outcomes = train(preparation, progress=Progress(visible=False))
    return [
        Outcome(preparation, own.function, own.history, own.stop, own.weights, own.estimated_error)
        for own in outcomes
    ]


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What training gave a run, and what it was made of."""

    preparation: Preparation
    function: Piecewise
    history: History
    stop: Stop
    weights: dict
    estimated_error: float | None

    @property
    def theta(self):
        """The parameters, one row per time window."""
        return self.function.to_arrays()["theta"].reshape(len(self.function.segments), -1)

    @functools.cached_property
    def last(self):
        """The objective at the end, over the points of the last lesson."""
        *_, lesson = lessons(self.preparation)
        prepared = self.preparation.prepare(lesson, 0, self.theta)
        return jax.jit(prepared.objective.measure)(jnp.asarray(self.theta[0]), prepared.data)

    @property
    def squares(self):
        """|r|² at each point at the end."""
        return np.asarray(self.last.squares[RESIDUAL])

    @functools.cached_property
    def solution(self):
        """The function that was trained, which nobody has judged."""
        [run] = self.preparation.runs
        return hc.Solution(
            problem=run.problem,
            method=run.method,
            seed=run.seed,
            function=self.function,
            history=self.history,
            stop=self.stop,
            seconds=0.0,
            provenance=Provenance("", {}),
            verdict=hc.Verdict("suspect", None, ()),
        )


def relative(values, exact):
    return np.linalg.norm(values - exact) / np.linalg.norm(exact)


def lessons(preparation, good=False):
    """All lessons in order, if each is reported to have gone well or not."""
    lesson = preparation.schedule.first
    while lesson is not None:
        yield lesson
        lesson = preparation.schedule.next(Report(lesson, good))


def coordinates(preparation, lesson, part=0, theta=None, finished=()):
    """The residual points of a lesson, of the first run."""
    prepared = preparation.prepare(lesson, part, theta, list(finished))
    places = np.asarray(prepared.data.blocks[RESIDUAL].fixed[0].coordinates)
    return places if places.ndim == 2 else places[0]


def assert_continuous(solution):
    """Each window starts exactly where the one before ends, and the first from the initial data."""
    function = solution.function
    trials, networks = function.trial.trials, function.network
    x = np.linspace(*solution.problem.domain.bounds[0], 17)
    edges = [trial.problem.start for trial in trials[1:]]
    assert len(edges) == solution.method.windows - 1
    for number, edge in enumerate(edges):
        points = jnp.stack([jnp.full(17, edge), jnp.asarray(x)], axis=1)
        before, after = (trials[k](networks[k], points) for k in (number, number + 1))
        np.testing.assert_allclose(after, before, rtol=1e-14, atol=1e-15)
        np.testing.assert_array_equal(function.trial(networks, points), before)
    points = jnp.stack([jnp.full(17, solution.problem.start), jnp.asarray(x)], axis=1)
    initial = solution.problem.initial_values([jnp.asarray(x)])[0]
    np.testing.assert_allclose(function.trial(networks, points)[:, 0], initial, rtol=1e-14, atol=1e-15)
