"""The one training loop: lesson after lesson, stage after stage, many runs at once, in compiled blocks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..machine.background import raise_if_abandoned
from ..machine.interrupt import patient_interrupt
from ..machine.processes import agreed, is_first
from ..objective import Data
from ..outcome import History, Outcome, PointWeights, Stop
from .accuracy import is_final
from .checkpoint import Checkpoint, Position, restore
from .growth import Grower
from .lessons import Report
from .memory import process_bytes
from .optimisers.stage import Stage
from .preparation import Preparation, Prepared
from .program import IDLE, Carry, Program, cast
from .progress import Progress


def train(
    preparation: Preparation,
    *,
    progress: Progress,
    checkpoint: Checkpoint | None = None,
    resume: bool = False,
    max_seconds: float | None = None,
    after_block: Callable[[], None] = lambda: None,
    estimate: bool = False,
    keep: Callable[[Callable[[Stop], list[Outcome]]], None] = lambda so_far: None,
    grower: Grower | None = None,
) -> list[Outcome]:
    """Train runs together, lesson after lesson, and return the outcome of each.

    Args:
        preparation: the runs, and what they train on.
        progress: told of every stage and block of steps.
        checkpoint: where to save the state from time to time.
        resume: continue from that checkpoint.
        max_seconds: stop after this time, in all sittings together, and keep the best so far.
        after_block: called after each block of steps.
        estimate: whether to estimate the error in the end also where no schedule depends on it.
        keep: handed a function after each block, for callers that cannot wait for the next. It saves a
            checkpoint and gives the outcome of each run as it stands, with the reason to stop it is told.
        grower: adds neurons where the method says so; without one, training goes on instead.
    """
    training = _Training(preparation, progress, checkpoint, max_seconds, after_block)
    training.keep, training.grower = keep, grower
    training.estimates = estimate or preparation.estimates
    return training.run(resume=resume)


class _Training:
    def __init__(
        self,
        preparation: Preparation,
        progress: Progress,
        checkpoint: Checkpoint | None,
        max_seconds: float | None,
        after_block: Callable[[], None],
    ):
        self.preparation, self.method = preparation, preparation.method
        self.progress, self.checkpoint, self.max_seconds = progress, checkpoint, max_seconds
        self.after_block = after_block
        self.estimates = True
        self.keep: Callable[[Callable[[Stop], list[Outcome]]], None] = lambda so_far: None
        self.grower: Grower | None = None
        self.position = Position(preparation.schedule.first)
        self.theta = np.asarray(preparation.theta)
        self.codes = np.zeros(len(self.theta), np.int32)
        self.weights: Any = None
        self.stop: Stop | None = None
        self.over = False
        """Whether the schedule, or every run, has ended."""
        self.names: list[str] = []
        self.last: tuple[Program, Prepared, Carry] | None = None
        self.ended: tuple[Position, Carry] | None = None
        """Where the last stage ended."""
        self._programs: dict[Any, Program] = {}

    @property
    def stage(self) -> Stage:
        """The present stage of the method."""
        return self.method.stages[self.position.stage]

    @property
    def every(self) -> int:
        """Steps after which points are replaced; 0 for never."""
        return self.method.resampling.every if self.method.resampling else 0

    def run(self, *, resume: bool) -> list[Outcome]:
        saved = None
        if self.checkpoint is not None and resume:
            self.position, saved = self.checkpoint.load()
        with patient_interrupt() as interrupted, self.progress:
            self.began = time.monotonic() - self.position.seconds
            if self.preparation.bytes >= 1 << 30:
                most = process_bytes(self.preparation.bytes) / 2**30
                self.progress.say(f"This will take about {most:.1f} GiB of memory.")
            while self.stop is None and not self.over:
                if self.position.lesson.growing:
                    self._grow(interrupted)
                else:
                    self._stage(saved, interrupted)
                saved = None
            return self._outcomes()

    def _stage(self, saved: list[np.ndarray] | None, interrupted: threading.Event) -> None:
        """One stage of a lesson, from the present step to the last or to an interruption."""
        position, stage, every = self.position, self.stage, self.every
        # On resuming, the points are those of the last step, even if they are due to be replaced.
        prepared = self._prepare(max(position.step - 1, 0))
        program = self._program(prepared)
        data = cast(prepared.data, stage.dtype)
        self.names = list(prepared.objective.terms)
        carry = self._begin(program, prepared, data)
        if saved is not None and self.checkpoint is not None:
            carry = program.devices.everywhere(restore(carry, saved, self.checkpoint.path))
        label = self.method.label(position.lesson, stage)
        self.progress.stage(label, stage.steps, position.step)
        block = program.block(data, every or stage.steps)
        while position.step < stage.steps and not bool(jnp.all(carry.stop != 0)):
            if every and position.step and position.step % every == 0:
                self.theta = np.asarray(carry.theta, np.float64)
                position.points = None
                fresh = self._prepare(position.step)
                program = self._program(fresh)
                data = cast(fresh.data, stage.dtype)
                carry = program.renew(carry, data, prepared.data)
                prepared = fresh
            left = every - position.step % every if every else block
            count = min(block, left, stage.steps - position.step)
            carry, losses = program.advance(carry, data, position.step, count)
            best = float(np.nanmin(np.asarray(carry.best_loss)))
            self._record(np.asarray(losses, np.float64), count, best)
            self.stop = self._reason_to_stop(interrupted)
            raise_if_abandoned()
            if self.checkpoint is not None and is_first() and (self.checkpoint.due or self.stop is not None):
                self.checkpoint.save(position, carry)
            self.keep(self._so_far(carry))
            self.after_block()
            if self.stop is not None:
                break
        self.theta, self.codes = np.asarray(carry.best, np.float64), np.asarray(carry.stop)
        self.weights, self.last = carry.weights, (program, prepared, carry)
        self.ended = _copied(position), carry
        position.stages.append((label, position.step))
        if self.stop is None:
            self._close_stage()
        if self.over:
            self._save_ended()  # what follows may be interrupted too

    def _grow(self, interrupted: threading.Event) -> None:
        """Add neurons to the network of each run that is still going."""
        position, best = self.position, self.position.kept
        assert best is not None
        self.progress.stage(self.method.label(position.lesson, self.stage), 1, 0)
        errors = np.full(len(best), np.inf)
        for run in np.flatnonzero(~is_final(self.codes)).tolist():
            if self.grower is not None and not interrupted.is_set():
                try:
                    found = self.grower.grow(run, self.preparation.function(run, [best]), self._left())
                except KeyboardInterrupt:
                    interrupted.set()
                    break
                if found is not None and found.error < self._error(run):
                    position.grown[run] = found
            errors[run] = self._error(run)
        position.seconds, position.step = time.monotonic() - self.began, 0
        good = agreed(errors) <= self.preparation.accuracy.goal(position.lesson.window)
        self.codes = np.where(good, Stop.ESTIMATE.code, self.codes).astype(np.int32)
        self.after_block()
        self.stop = self._reason_to_stop(interrupted)
        self._close_lesson(best)
        if self.over or self.stop is not None:
            self._save_ended()

    def _left(self) -> float | None:
        """Seconds left, if they are limited."""
        spent = time.monotonic() - self.began
        return None if self.max_seconds is None else max(self.max_seconds - spent, 0.0)

    def _error(self, run: int) -> float:
        """The lowest estimated error of a run, with or without neurons that were added."""
        position = self.position
        trained = np.inf if position.scores is None else float(position.scores[run])
        return min(trained, position.grown[run].error) if run in position.grown else trained

    def _save_ended(self) -> None:
        """Save the end of the last stage, from which a resumed training finds out what comes next."""
        if self.checkpoint is not None and is_first() and self.ended is not None:
            position, carry = self.ended
            self.checkpoint.save(replace(position, seconds=self.position.seconds), carry, over=self.over)

    def _so_far(self, carry: Carry) -> Callable[[Stop], list[Outcome]]:
        """What there is after this block: see `train`."""
        now = self.position
        position = _copied(now)
        label = self.method.label(now.lesson, self.stage)

        def outcomes(stop: Stop) -> list[Outcome]:
            if self.checkpoint is not None and is_first():
                self.checkpoint.save(position, carry)
            # Which network is best the estimates of this time window have told, if there were any.
            latest = np.asarray(carry.best, np.float64) if position.kept is None else position.kept
            windows = [*position.finished, latest]
            losses, stages = np.concatenate(position.losses), (*position.stages, (label, position.step))
            # An estimate is known where it is one of the whole solution.
            known = position.scores if self.method.windows == 1 else None
            errors = np.full(len(latest), np.nan) if known is None else known
            return [
                self._grown_outcome(
                    run,
                    Outcome(
                        self.preparation.function(run, windows),
                        stop,
                        self._history(run, losses, stages),
                        position.seconds,
                        estimated_error=None if not np.isfinite(errors[run]) else float(errors[run]),
                    ),
                )
                for run in range(len(latest))
            ]

        return outcomes

    def _begin(self, program: Program, prepared: Prepared, data: Data) -> Carry:
        """The state before the first step, with what can be kept of the stage before."""
        lesson = self.position.lesson
        # A first-order stage starts anew, with its schedule and its weights.
        continues = len(self.method.stages) == 1 and lesson.number > 0 and not self.stage.tolerant
        if continues and self.last is not None and self.last[0] is program:
            return program.renew(self.last[2], data, self.last[1].data, self.codes)
        new_points = self.position.stage == 0 and (lesson.window, lesson.number) != (0, 0)
        known = None if new_points else self.weights
        before = None if self.last is None else self.last[1].data
        return program.begin(self.theta, self.codes, known, data, before)

    def _reason_to_stop(self, interrupted: threading.Event) -> Stop | None:
        """Why training should break off now, if it should."""
        own = None
        if interrupted.is_set() or self.progress.interrupted:
            own = Stop.INTERRUPTED
        elif self.max_seconds is not None and self.position.seconds > self.max_seconds:
            own = Stop.TIME
        code = int(agreed(np.int32(own.code if own else 0)))
        return Stop.from_code(code) if code else None

    def _prepare(self, step: int) -> Prepared:
        """The data that a step of the present stage trains on."""
        position = self.position
        part = step // self.every if self.every else 0
        prepared = self.preparation.prepare(
            position.lesson, part, self.theta, position.finished, position.points
        )
        position.points = prepared.points
        return prepared

    def _program(self, prepared: Prepared) -> Program:
        """The compiled program of this stage; stages of one shape share it."""
        axes = prepared.axes
        key = (id(prepared.objective), self.stage, jax.tree.structure(axes))
        if key not in self._programs:
            self._programs[key] = Program(
                prepared.objective,
                self.stage,
                axes,
                runs=len(self.theta),
                rule=self.method.weights,
                batches=self.method.batches,
            )
        return self._programs[key]

    def _record(self, losses: np.ndarray, count: int, best: float) -> None:
        taken = sum(steps for _, steps in self.position.stages)
        self.progress.losses(taken + self.position.step, self.names, losses)
        self.position.step += count
        self.position.losses.append(losses)
        self.position.seconds = time.monotonic() - self.began
        last = losses[-1].min(axis=0, where=np.isfinite(losses[-1]), initial=np.inf)
        terms = dict(zip(self.names, last[1:], strict=True)) if len(self.names) > 1 else {}
        self.progress.update(self.position.step, best, terms)

    def _close_stage(self) -> None:
        """A stage is over: what ended it need not end the next, unless the run broke down."""
        position = self.position
        position.step = 0
        if position.stage + 1 < len(self.method.stages):
            position.stage += 1
            self.codes = np.where(is_final(self.codes), self.codes, 0)
        else:
            self._close_lesson(self.theta)

    def _close_lesson(self, found: np.ndarray) -> None:
        """See how good each run's network is, and ask the schedule what comes next."""
        position, lesson, stalled = self.position, self.position.lesson, False
        if self.preparation.estimates and lesson.whole and not lesson.growing:
            accuracy = self.preparation.accuracy
            self.codes, error = accuracy.compare(position, found, self.codes)
            stalled = accuracy.stalled(position, error)
        final = is_final(self.codes)
        following = self.preparation.schedule.next(Report(lesson, bool(np.all(final)), stalled))
        if following is None or following.window != lesson.window:
            position.finished.append(found if position.kept is None else position.kept)
            position.kept = position.scores = position.before = position.grown_from = None
            if following is not None:  # the next window has to become good on its own
                self.codes = np.where(self.codes == Stop.ESTIMATE.code, 0, self.codes)
                final = is_final(self.codes)
        self.over = following is None or bool(np.all(final))
        if following is not None and not self.over:
            self.codes = np.where(final, self.codes, 0).astype(np.int32)
            position.lesson, position.stage, position.points = following, 0, None

    def _outcomes(self) -> list[Outcome]:
        position = self.position
        losses = np.concatenate(position.losses)
        windows = list(position.finished)
        if len(windows) == position.lesson.window:
            windows.append(self.theta if position.kept is None else position.kept)
        errors: Sequence[float | None] = [None] * len(self.theta)
        if self.estimates:
            errors = self.preparation.accuracy.over_all(windows)
        results = []
        for run in range(len(self.theta)):
            own = Stop.from_code(int(self.codes[run])) if self.codes[run] else (self.stop or Stop.BUDGET)
            points = None if position.points is None else position.points[run]
            function = self.preparation.function(run, windows)
            residuals = self.preparation.residuals(run, function, points)
            outcome = Outcome(
                function,
                own,
                self._history(run, losses, position.stages),
                position.seconds,
                residuals,
                estimated_error=errors[run],
                weights=self._weights_of(run),
                trial=function.segments[0].trial,
            )
            results.append(self._grown_outcome(run, outcome))
        return results

    def _grown_outcome(self, run: int, trained: Outcome) -> Outcome:
        """The outcome of a run with the neurons that were added, where that is the better one."""
        grown, error = self.position.grown.get(run), trained.estimated_error
        if grown is None or self.grower is None or (error is not None and error <= grown.error):
            return trained
        came = "" if error is None else f" at an estimated error of {error:.0e}"
        return replace(
            trained,
            function=self.grower.revive(run, grown),
            residuals=None,
            estimated_error=grown.error,
            notes=(f"Training stalled{came}; neurons whose output weights evolve were added.",),
        )

    def _history(self, run: int, losses: np.ndarray, stages: Sequence[tuple[str, int]]) -> History:
        """The steps that a run took of all that were taken, with their terms."""
        taken = losses[:, run, 0] != IDLE
        ends = np.cumsum([count for _, count in stages])
        steps = ((n, int(taken[end - k : end].sum())) for (n, k), end in zip(stages, ends, strict=True))
        terms = {name: losses[taken, run, i + 1] for i, name in enumerate(self.names)}
        return History(losses[taken, run, 0], tuple(item for item in steps if item[1]), terms)

    def _weights_of(self, run: int) -> dict[str, PointWeights]:
        if self.last is None:
            return {}
        program, prepared, carry = self.last
        found = {}
        for name, factors in program.factors(carry).items():
            own = program.places(prepared.data, name)[run]
            found[name] = PointWeights(own, np.asarray(factors[run], np.float64))
        return found


def _copied(position: Position) -> Position:
    """A copy of the position, which stays unchanged as training continues."""
    lists = {name: [*getattr(position, name)] for name in ("losses", "stages", "finished")}
    return replace(position, **lists, grown={**position.grown})
