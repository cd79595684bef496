"""Trainings of one small network by the schemes that tests of training compare."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np

import hcpinn as hc
from declarations import declare
from descent import small
from hcpinn.descent import History, Progress, Stop, train
from hcpinn.machine.provenance import Provenance
from hcpinn.objective import RESIDUAL
from hcpinn.planning import TrainingPlan

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
    plan = TrainingPlan(runs)
    outcomes = train(plan, progress=Progress(visible=False))
    return [Outcome(plan, own.theta, own.history, own.stop, own.weights) for own in outcomes]


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What training gave a run, and the plan it followed."""

    plan: TrainingPlan
    theta: np.ndarray
    history: History
    stop: Stop
    weights: dict

    @functools.cached_property
    def last(self):
        """The objective at the end, over the points of the last phase."""
        prepared = self.plan.prepare(len(self.plan.phases) - 1, 0, self.theta, [], None)
        return jax.jit(prepared.objective.measure)(jnp.asarray(self.theta[0]), prepared.data)

    @property
    def squares(self):
        """|r|² at each point at the end."""
        return np.asarray(self.last.squares[RESIDUAL])

    @functools.cached_property
    def solution(self):
        """The function that was trained, which nobody has judged."""
        [run] = self.plan.runs
        return hc.Solution(
            problem=run.problem,
            method=run.method,
            seed=run.seed,
            theta=self.theta.ravel(),
            history=self.history,
            stop=self.stop,
            seconds=0.0,
            provenance=Provenance("", {}),
            verdict=hc.Verdict("suspect", None, ()),
        )


def relative(values, exact):
    return np.linalg.norm(values - exact) / np.linalg.norm(exact)


def coordinates(plan, phase, part=0, theta=None, finished=()):
    """The residual points of a phase, of the first run."""
    prepared = plan.prepare(phase, part, plan.theta if theta is None else theta, list(finished), None)
    places = np.asarray(prepared.data.blocks[RESIDUAL].fixed[0].coordinates)
    return places if places.ndim == 2 else places[0]


def assert_continuous(solution):
    """Each window starts exactly where the one before ends, and the first from the initial data."""
    trials, networks = solution.trial.trials, solution.network
    x = np.linspace(*solution.problem.domain.bounds[0], 17)
    edges = [trial.problem.start for trial in trials[1:]]
    assert len(edges) == solution.method.windows - 1
    for number, edge in enumerate(edges):
        points = jnp.stack([jnp.full(17, edge), jnp.asarray(x)], axis=1)
        before, after = (trials[k](networks[k], points) for k in (number, number + 1))
        np.testing.assert_allclose(after, before, rtol=1e-14, atol=1e-15)
        np.testing.assert_array_equal(solution.trial(networks, points), before)
    points = jnp.stack([jnp.full(17, solution.problem.start), jnp.asarray(x)], axis=1)
    initial = solution.problem.initial_values([jnp.asarray(x)])[0]
    np.testing.assert_allclose(solution.trial(networks, points)[:, 0], initial, rtol=1e-14, atol=1e-15)
