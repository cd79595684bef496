"""The PINN way: one loss of residual and misfit, unknowns trained along with the network, no intervals."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array

from ..checking import solution_of
from ..descent import Method, Piecewise, network_key
from ..descent.checks import check_trials
from ..descent.memory import Extent, check_memory
from ..descent.program import Program, cast
from ..errors import MethodError, NoReferenceError
from ..evolution.sensitivity import Opened
from ..jets import closure
from ..machine.provenance import provenance
from ..objective import Block, Data, Objective, Term, chunk_size, make_block, penalty_terms, sampling
from ..outcome import History, Outcome, Stop
from ..problem import Problem
from ..reference import Reference, solve_reference
from ..trial import Trial, make_trial
from .layout import Layout
from .measurements import Measurements
from .model import described
from .result import SUSPECT, Estimate, Fit, Fitted, FitVerdict

_ACCURACY = 1e-3
"""The relative L2 error up to which a trained network counts as a solution at the estimate."""

_LOOKED = 64


def fit_by_training(
    problem: Problem,
    data: Measurements,
    method: Method,
    *,
    seed: int,
    level: float,
    max_seconds: float | None,
    reference: bool,
    tell: Callable[[str], None],
) -> Fit:
    """Train a network and the unknowns of the equation on the sum of mean squared residual and misfit."""
    layout = Layout(problem)
    problem = problem.with_parameters(**data.settings)
    closed = layout.closed(problem, layout.start)
    trial = make_trial(closed, method)
    _check(layout, data, method, trial)
    training = _Training(layout, data, method, trial, seed)
    stop, seconds = training.run(max_seconds, tell)
    z, network = training.objective.unravel(jnp.asarray(training.theta))
    z = np.clip(np.asarray(z), layout.lower, layout.upper)
    found = layout.closed(problem, z)
    history = History(np.asarray(training.losses), tuple(training.stages))
    outcome = Outcome(
        Piecewise.make(found, [found.start, found.horizon], [trial], [network]), stop, history, seconds
    )
    solution = solution_of(
        outcome,
        _reference(found) if reference else "None was asked for.",
        problem=found,
        method=method,
        seed=seed,
        accuracy=_ACCURACY,
        provenance=provenance(1),
    )
    fitted = _fitted(found, data, outcome.function)
    estimates = {
        name: Estimate(float(unknown.from_z(float(z[i]))), np.inf, unknown.bounds, "bounds")
        for i, (name, unknown) in enumerate(layout.unknowns.items())
    }
    reasons = ["Training gives values without errors: fit by evolution for intervals."]
    if not solution.verdict.converged:
        reasons.append(f"The network is no solution at the estimate: {solution.verdict}")
    return Fit(
        problem=problem,
        data=(data,),
        estimates=estimates,
        correlations=np.full((layout.numbers, layout.numbers), np.nan),
        noise={own.name: own.noise for own in fitted},
        fitted=fitted,
        verdict=FitVerdict(SUSPECT, tuple(reasons)),
        solution=solution,
        level=level,
        facts={"values": int(sum(len(own.measured) for own in fitted)), "steps": len(history.loss)},
        seconds=seconds,
    )


class _Training:
    """Stage after stage on one loss; the vector that is trained starts with the unknowns."""

    def __init__(self, layout: Layout, data: Measurements, method: Method, trial: Trial, seed: int):
        self.layout, self.method = layout, method
        template = (jnp.asarray(layout.start), trial.init(network_key(seed)))
        self.theta = np.asarray(ravel_pytree(template)[0], np.float64)
        lower, upper = jnp.asarray(layout.lower), jnp.asarray(layout.upper)
        self.objective = Objective(
            trial,
            template,
            chunk=chunk_size(
                width=getattr(method.network, "width", 32),
                indices=len(closure(trial.indices)),
                itemsize=max(s.dtype.itemsize for s in method.stages),
                runs=1,
                platform=jax.default_backend(),
            ),
            penalties=[*penalty_terms(trial, method.penalties), _misfit(data, trial)],
            unknowns=lambda tree: (
                tree[1],
                layout.values(jnp.clip(tree[0], lower.astype(tree[0].dtype), upper.astype(tree[0].dtype))),
            ),
        )
        check_memory(method, Extent.of(trial, self.objective.size, points=method.points, runs=1))
        places = sampling.interior(trial.problem, method.points, seed=seed, sampler=method.sampler)
        self.data: Data = self.objective.data(places, seed=seed)
        self.losses: list[float] = []
        self.stages: list[tuple[str, int]] = []

    def run(self, max_seconds: float | None, tell: Callable[[str], None]) -> tuple[Stop, float]:
        """Train, and say why it ended and how long it took."""
        began, weights, code = time.monotonic(), None, 0
        for stage in self.method.stages:
            program = Program(
                self.objective, stage, None, runs=1, rule=self.method.weights, batches=self.method.batches
            )
            data = cast(self.data, stage.dtype)
            carry = program.begin(self.theta[None], np.zeros(1, np.int32), weights, data)
            done, block = 0, program.block(data, stage.steps)
            while done < stage.steps and not int(carry.stop[0]):
                count = min(block, stage.steps - done)
                carry, losses = program.advance(carry, data, done, count)
                taken = np.asarray(losses, np.float64)[:, 0, 0]
                self.losses += taken[np.isfinite(taken)].tolist()
                done += count
                if max_seconds is not None and time.monotonic() - began > max_seconds:
                    break
            self.theta = np.asarray(carry.best[0], np.float64)
            weights, code = carry.weights, int(carry.stop[0])
            self.stages.append((stage.label, done))
            tell(f"{stage.label}: {described(self.layout, self.theta[: self.layout.size])}.")
            if max_seconds is not None and time.monotonic() - began > max_seconds:
                return Stop.TIME, time.monotonic() - began
        return Stop.from_code(code) if code else Stop.BUDGET, time.monotonic() - began


def _misfit(data: Measurements, trial: Trial) -> Term:
    """The mean of |u − measured|² over all values that are not missing."""
    problem, zero = trial.problem, (0,) * len(trial.problem.axes)
    some = next(iter(data.values.values()))
    missing = np.full(len(some), np.nan)
    measured = [data.values.get(name, missing) for name in problem.fields]
    parts = []
    for values, is_complex in zip(measured, problem.complex_fields, strict=True):
        parts += [np.real(values), np.imag(values)] if is_complex else [values]
    table = np.stack(parts, axis=1)
    known = np.isfinite(table)
    scale = np.sqrt(len(table) / known.sum())
    count = table.shape[1]

    def block(trial: Trial, seed: int) -> Block:
        target = np.concatenate([np.where(known, table, 0.0), scale * known], axis=1)
        return make_block((trial.fix(jnp.asarray(data.points), (zero,)),), jnp.asarray(target))

    def mismatch(trial: Trial, network: Any, block: Block, parameters: Any) -> Array:
        assert block.target is not None
        found = trial.jet(network, block.fixed[0], (zero,))[zero]
        return (found - block.target[:, :count]) * block.target[:, count:]

    return Term("data", 1.0, None, mismatch, block)


def _check(layout: Layout, data: Measurements, method: Method, trial: Trial) -> None:
    """Refuse what this way cannot do."""
    problem = trial.problem
    check_trials([trial], method)
    if layout.curves:
        raise MethodError(
            f"Training finds numbers, but {', '.join(layout.curves)} is an UnknownFunction. Fit by evolution."
        )
    if method.windows > 1 or method.lessons > 1 or method.curriculum or method.resampling or method.growth:
        raise MethodError(
            f"A fit trains once, on one set of points, but {method.name} has windows, lessons, resampling or "
            "a curriculum. Take another method, such as 'quick'."
        )
    strange = [name for name in data.values if name not in problem.fields or name in data.observe]
    if strange:
        raise MethodError(
            f"Training compares fields with measurements, but '{strange[0]}' is derived from them. Fit by "
            "evolution."
        )
    shift = Opened(problem, layout.values, layout.start).shift((problem.leading,))
    points = jnp.asarray(sampling.interior(problem, _LOOKED, seed=0, purpose="probe"))
    other = make_trial(layout.closed(problem, layout.start + 0.1), method)
    if shift.moves or not np.array_equal(trial.lift(points), other.lift(points)):
        raise MethodError(
            "Training finds unknowns of the equation, but here initial data, boundary data or the lift use "
            "them. Fit by evolution, or take a lift such as Decay(1.0)."
        )


def _reference(problem: Problem) -> Reference | str:
    try:
        return solve_reference(problem)
    except NoReferenceError as error:
        return str(error)


def _fitted(problem: Problem, data: Measurements, function: Any) -> tuple[Fitted, ...]:
    """Measured values and the network's."""
    points = jnp.asarray(data.points)
    values = problem.to_fields(function.derivative(points, (0,) * len(problem.axes)))
    found = []
    for name, field in zip(problem.fields, values, strict=True):
        if name not in data.values:
            continue
        measured, predicted = data.values[name], np.asarray(field)
        kept = np.isfinite(measured)
        left = np.abs(predicted - measured)[kept]
        own = data.noise[name]
        noise = float(np.sqrt(np.mean(left**2))) if own is None else float(np.sqrt(np.mean(own[kept] ** 2)))
        found.append(
            Fitted(
                data.name,
                name,
                data.points[kept],
                measured[kept],
                predicted[kept],
                np.full(int(kept.sum()), np.nan),
                noise,
                own is not None,
            )
        )
    return tuple(found)
