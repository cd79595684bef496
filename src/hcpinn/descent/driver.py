"""The one training loop: phases in turn, many runs at once, in compiled blocks of steps."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..machine.interrupt import patient_interrupt
from ..machine.processes import agreed, is_first
from .checkpoint import Checkpoint, Position, restore
from .phase import Plan, Prepared
from .program import IDLE, Carry, Program, cast
from .progress import Progress
from .stop import Stop

_CURVE = 200
"""Steps that a thinned history has, about."""


@dataclass(frozen=True)
class History:
    """The loss at every step of a run, or at those that were kept."""

    loss: np.ndarray
    """What was made small: one value per step, over all stages, with all weights in it."""
    stages: tuple[tuple[str, int], ...]
    """Name and number of steps of each stage, in order."""
    terms: Mapping[str, np.ndarray] = field(default_factory=dict)
    """The mean squared mismatch of each term (residual, initial, …), without weights."""
    at: np.ndarray | None = None
    """The numbers of the steps, from 1 on, where not all of them are kept."""

    @property
    def numbers(self) -> np.ndarray:
        """The number of each step that is kept, from 1 on."""
        return np.arange(1, len(self.loss) + 1) if self.at is None else self.at

    def thinned(self) -> History:
        """A few hundred steps of it, dense at the start, then evenly spaced, and the one of lowest loss.

        Values are not smoothed.
        """
        count = len(self.loss)
        if not count or self.at is not None:
            return self
        early, even = np.geomspace(1, count, _CURVE // 4), np.linspace(1, count, _CURVE - _CURVE // 4)
        lowest = 1 + np.argmin(np.where(np.isfinite(self.loss), self.loss, np.inf))
        at = np.unique(np.concatenate([early, even, [lowest]]).round().astype(int))
        terms = {name: np.asarray(values, float)[at - 1] for name, values in self.terms.items()}
        return History(np.asarray(self.loss, float)[at - 1], self.stages, terms, at)


@dataclass(frozen=True)
class PointWeights:
    """Where a weight rule put its weights: at the end of training, for one term of the loss."""

    points: np.ndarray
    """Coordinates (t, x, …), one row per point."""
    weights: np.ndarray


@dataclass(frozen=True)
class Trained:
    """What training gave one run."""

    theta: np.ndarray
    """The best parameters, flat, in float64; one row per time window."""
    history: History
    stop: Stop
    seconds: float
    weights: Mapping[str, PointWeights] = field(default_factory=dict)
    points: np.ndarray | None = None
    """The last points that were chosen by looking at the residual, if they were."""


def train(
    plan: Plan,
    *,
    progress: Progress,
    checkpoint: Checkpoint | None = None,
    resume: bool = False,
    max_seconds: float | None = None,
) -> list[Trained]:
    """Carry out a plan. Between blocks of steps it shows progress, saves checkpoints, looks for Ctrl-C."""
    return _Training(plan, progress, checkpoint, max_seconds).run(resume=resume)


class _Training:
    def __init__(
        self, plan: Plan, progress: Progress, checkpoint: Checkpoint | None, max_seconds: float | None
    ):
        self.plan, self.progress, self.checkpoint, self.max_seconds = plan, progress, checkpoint, max_seconds
        self.position = Position()
        self.theta = np.asarray(plan.theta)
        self.codes = np.zeros(len(plan.theta), np.int32)
        self.weights: Any = None
        self.stop: Stop | None = None
        self.over = False
        """Whether every run has ended for good, before the plan does."""
        self.names: list[str] = []
        self.last: tuple[Program, Prepared, Carry] | None = None
        self._programs: dict[Any, Program] = {}

    def run(self, *, resume: bool) -> list[Trained]:
        saved = None
        if self.checkpoint is not None and resume:
            self.position, saved = self.checkpoint.load()
        with patient_interrupt() as interrupted, self.progress:
            self.began = time.monotonic() - self.position.seconds
            while self.position.phase < len(self.plan.phases) and self.stop is None and not self.over:
                self._phase(saved, interrupted)
                saved = None
        return self._outcomes()

    def _phase(self, saved: list[np.ndarray] | None, interrupted: threading.Event) -> None:
        """One phase from where it stands to its end, or to an interruption."""
        position, number = self.position, self.position.phase
        phase = self.plan.phases[number]
        # On resuming, the points are those of the last step, even if they are due to be replaced.
        prepared = self._prepare(max(position.step - 1, 0))
        program = self._program(prepared)
        data = cast(prepared.data, phase.stage.dtype)
        self.names = list(prepared.objective.terms)
        if phase.continues and self.last is not None and self.last[0] is program:
            carry = program.renew(self.last[2], data, self.last[1].data, self.codes)
        else:
            known = None if phase.new_points else self.weights
            before = None if self.last is None else self.last[1].data
            carry = program.begin(self.theta, self.codes, known, data, before)
        if saved is not None and self.checkpoint is not None:
            carry = program.devices.everywhere(restore(carry, saved, self.checkpoint.path))
        self.progress.stage(phase.label, phase.stage.steps, position.step)
        block = program.block(data, phase.every or phase.stage.steps)
        while position.step < phase.stage.steps and not bool(jnp.all(carry.stop != 0)):
            if phase.every and position.step and position.step % phase.every == 0:
                self.theta = np.asarray(carry.theta, np.float64)
                position.points = None
                fresh = self._prepare(position.step)
                program = self._program(fresh)
                data = cast(fresh.data, phase.stage.dtype)
                carry = program.renew(carry, data, prepared.data)
                prepared = fresh
            left = phase.every - position.step % phase.every if phase.every else block
            count = min(block, left, phase.stage.steps - position.step)
            carry, losses = program.advance(carry, data, position.step, count)
            self._record(carry, np.asarray(losses, np.float64), count)
            self.stop = self._reason_to_stop(interrupted)
            if self.checkpoint is not None and is_first() and (self.checkpoint.due or self.stop is not None):
                self.checkpoint.save(position, carry)
            self.plan.stepped()
            if self.stop is not None:
                break
        if self.stop is None and number + 1 < len(self.plan.phases):
            self._expect(self.plan.pending(number), carry)
        self.theta, self.codes = np.asarray(carry.best, np.float64), np.asarray(carry.stop)
        self.weights, self.last = carry.weights, (program, prepared, carry)
        self._keep(number)
        if self.stop is None:
            self._close(number)

    def _expect(self, awaited: str, carry: Carry) -> None:
        """Say what the end of a phase waits for, and save first: a second Ctrl-C breaks the waiting off."""
        if awaited:
            if self.checkpoint is not None and is_first():
                self.checkpoint.save(self.position, carry)
            self.progress.waiting(awaited)

    def _reason_to_stop(self, interrupted: threading.Event) -> Stop | None:
        """Why training should break off now, if it should."""
        own = None
        if interrupted.is_set() or self.progress.interrupted:
            own = Stop.INTERRUPTED
        elif self.max_seconds is not None and self.position.seconds > self.max_seconds:
            own = Stop.TIME
        code = int(agreed(np.int32(own.code if own else 0)))
        return Stop.from_code(code) if code else None

    def _keep(self, number: int) -> None:
        """Remember the parameters that do best on points apart, over the phases that can be compared."""
        position = self.position
        scores = self.plan.score(number, self.theta, position.finished)
        if scores is None:
            return
        scores = np.asarray(agreed(scores))
        if position.kept is None or position.scores is None:
            position.kept, position.scores = self.theta, np.full(len(scores), np.inf)
        # A run that has stopped was kept when it did; one that broke down has no score.
        better = scores < position.scores
        position.kept = np.where(better[:, None], self.theta, position.kept)
        position.scores = np.where(better, scores, position.scores)

    def _prepare(self, step: int) -> Prepared:
        """The data that a step of the present phase trains on."""
        phase = self.plan.phases[self.position.phase]
        part = step // phase.every if phase.every else 0
        prepared = self.plan.prepare(
            self.position.phase, part, self.theta, self.position.finished, self.position.points
        )
        self.position.points = prepared.points
        return prepared

    def _program(self, prepared: Prepared) -> Program:
        """The compiled program of this phase; phases of one shape share it."""
        phase, runs = self.plan.phases[self.position.phase], len(self.theta)
        axes = prepared.axes
        key = (id(prepared.objective), phase.stage, jax.tree.structure(axes))
        if key not in self._programs:
            self._programs[key] = Program(
                prepared.objective,
                phase.stage,
                axes,
                runs=runs,
                rule=self.plan.weights,
                batches=self.plan.batches,
            )
        return self._programs[key]

    def _record(self, carry: Carry, losses: np.ndarray, count: int) -> None:
        self.progress.losses(sum(self.position.steps) + self.position.step, self.names, losses)
        self.position.step += count
        self.position.losses.append(losses)
        self.position.seconds = time.monotonic() - self.began
        last = losses[-1].min(axis=0, where=np.isfinite(losses[-1]), initial=np.inf)
        best = float(np.nanmin(np.asarray(carry.best_loss)))
        terms = dict(zip(self.names, last[1:], strict=True)) if len(self.names) > 1 else {}
        self.progress.update(self.position.step, best, terms)

    def _close(self, number: int) -> None:
        """A phase is over: what ended it need not end the next, unless the run broke down."""
        position = self.position
        position.steps.append(position.step)
        position.phase, position.step = number + 1, 0
        if self.plan.phases[number].closes:
            position.finished.append(self.theta if position.kept is None else position.kept)
            position.kept = position.scores = None
        if number + 1 < len(self.plan.phases):
            final = [s.code for s in Stop if s.failed or s is Stop.ACCURACY]
            self.codes = np.where(np.isin(self.codes, final), self.codes, 0)
            good = np.asarray(agreed(self.plan.satisfied(number, self.theta))) & (self.codes == 0)
            self.codes = np.where(good, Stop.ACCURACY.code, self.codes).astype(np.int32)
            if position.kept is not None and position.scores is not None:
                position.kept = np.where(good[:, None], self.theta, position.kept)
                position.scores = np.where(good, -np.inf, position.scores)
            self.over = bool(np.all(self.codes != 0))
            if self.plan.phases[number + 1].new_points and not self.over:
                position.points = None

    def _outcomes(self) -> list[Trained]:
        position = self.position
        losses = np.concatenate(position.losses)
        counts = [*position.steps, *([position.step] if self.stop is not None else [])]
        ends = np.cumsum(counts)
        done = list(position.finished)
        if self.stop is not None or (self.over and not self.plan.phases[position.phase - 1].closes):
            done.append(self.theta if position.kept is None else position.kept)
        results = []
        for run in range(len(self.theta)):
            taken = losses[:, run, 0] != IDLE
            steps = tuple(
                (phase.label, int(taken[end - count : end].sum()))
                for phase, count, end in zip(self.plan.phases, counts, ends, strict=False)
            )
            own = Stop.from_code(int(self.codes[run])) if self.codes[run] else (self.stop or Stop.BUDGET)
            terms = {name: losses[taken, run, i + 1] for i, name in enumerate(self.names)}
            history = History(losses[taken, run, 0], tuple(item for item in steps if item[1]), terms)
            theta = np.stack([window[run] for window in done])
            points = None if position.points is None else position.points[run]
            results.append(Trained(theta, history, own, position.seconds, self._weights_of(run), points))
        return results

    def _weights_of(self, run: int) -> dict[str, PointWeights]:
        if self.last is None:
            return {}
        program, prepared, carry = self.last
        found = {}
        for name, factors in program.factors(carry).items():
            own = program.places(prepared.data, name)[run]
            found[name] = PointWeights(own, np.asarray(factors[run], np.float64))
        return found
