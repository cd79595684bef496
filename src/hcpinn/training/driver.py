"""The one training loop: stages in turn, many runs at once, in compiled blocks of steps."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..objective import Data, Objective
from .checkpoint import Checkpoint, Position, restore
from .progress import Progress
from .stage import Stage
from .stop import Stop

_DIVERGED = 1e6
"""Growth of the loss over its first value that counts as divergence."""


_IDLE = -np.inf
"""Stands in the record of losses for a step that a stopped run did not take."""


class Carry(eqx.Module):
    """The state of one run between steps."""

    theta: Float[Array, "*runs parameters"]
    state: Any
    best: Float[Array, "*runs parameters"]
    best_loss: Float[Array, "*runs"]
    first_loss: Float[Array, "*runs"]
    stop: Int[Array, "*runs"]


@dataclass(frozen=True)
class History:
    """The loss at every step of a run."""

    loss: np.ndarray
    """One value per step, over all stages."""
    stages: tuple[tuple[str, int], ...]
    """Name and number of steps of each stage, in order."""


@dataclass(frozen=True)
class Trained:
    """What training gave one run."""

    theta: np.ndarray
    """The best parameters, flat, in float64."""
    history: History
    stop: Stop
    seconds: float


def train(
    objective: Objective,
    stages: Sequence[Stage],
    theta: Float[np.ndarray, "runs parameters"],
    data: Data,
    axes: Any,
    *,
    progress: Progress,
    checkpoint: Checkpoint | None = None,
    resume: bool = False,
    max_seconds: float | None = None,
) -> list[Trained]:
    """Train runs of one shape together; `data` and `axes` come from `objective.stack`.

    Between blocks of steps it shows progress, saves checkpoints, and looks for Ctrl-C.
    """
    position, saved = Position(), None
    if checkpoint is not None and resume:
        position, saved = checkpoint.load()
    current, stop = np.asarray(theta), None
    codes = np.zeros(len(theta), np.int32)
    with _patient_interrupt() as interrupted, progress:
        began = time.monotonic() - position.seconds
        while position.stage < len(stages) and stop is None:
            stage = stages[position.stage]
            program = _Program(objective, stage, data, axes, runs=len(theta))
            carry = program.begin(current, codes)
            if saved is not None and checkpoint is not None:
                carry, saved = restore(carry, saved, checkpoint.path), None
            progress.stage(stage.label, stage.steps, position.step)
            while position.step < stage.steps and not bool(jnp.all(carry.stop != 0)):
                count = min(program.block, stage.steps - position.step)
                carry, losses = program.advance(carry, count)
                losses = np.asarray(losses)
                position.step += count
                position.losses.append(losses.astype(np.float64))
                position.seconds = time.monotonic() - began
                progress.update(position.step, float(np.nanmin(np.asarray(carry.best_loss))))
                if interrupted.is_set():
                    stop = Stop.INTERRUPTED
                elif max_seconds is not None and position.seconds > max_seconds:
                    stop = Stop.TIME
                if checkpoint is not None and (checkpoint.due or stop is not None):
                    checkpoint.save(position, carry)
                if stop is not None:
                    break
            current = np.asarray(carry.best, np.float64)
            codes = np.asarray(carry.stop)
            if stop is None and position.stage + 1 < len(stages):
                # What ended this stage need not end the next, unless the run broke down.
                codes = np.where(np.isin(codes, [s.code for s in Stop if s.failed]), codes, 0)
            if stop is None:
                position.stages.append(position.step)
                position.stage, position.step = position.stage + 1, 0
    return _outcomes(stages, position, current, codes, stop)


class _Program:
    """One stage compiled for a batch of runs."""

    def __init__(self, objective: Objective, stage: Stage, data: Data, axes: Any, *, runs: int):
        self.stage = stage
        self.runs = runs
        self.axes = axes
        self.objective = objective
        self.data = jax.tree.map(lambda a: a.astype(stage.dtype), data)
        # Long enough to hide the cost of a call, short enough to answer Ctrl-C; it must not
        # depend on the clock, so that a resumed training runs the same programs.
        work = data.share.size * objective.size * runs
        self.block = int(np.clip(4e9 // work, 10, 200))

        def advance(carry: Carry, data: Data, count: int) -> tuple[Carry, Array]:
            def one(carry: Carry, data: Data) -> tuple[Carry, Array]:
                return jax.lax.scan(lambda c, _: self._guarded_step(c, data), carry, length=count)

            return self._map(one)(carry, data)

        self._advance = jax.jit(advance, static_argnums=2)
        self._begin = jax.jit(lambda start, data: self._map(self._first_carry)(start, data))

    def begin(self, theta: np.ndarray, stop: np.ndarray) -> Carry:
        """The state before the first step; runs whose stop code is set stay as they are."""
        return self._begin((jnp.asarray(theta, self.stage.dtype), jnp.asarray(stop, jnp.int32)), self.data)

    def advance(self, carry: Carry, count: int) -> tuple[Carry, Float[Array, "steps runs"]]:
        """`count` steps."""
        carry, losses = self._advance(carry, self.data, count)
        return carry, jnp.swapaxes(losses, 0, 1)

    def _map(self, function: Any) -> Any:
        """`function` over all runs: mapped, or for a single run called directly, which is faster."""
        if self.runs > 1:
            return jax.vmap(function, in_axes=(0, self.axes))

        def single(carry: Any, data: Data) -> Any:
            result = function(jax.tree.map(lambda a: a[0], carry), data)
            return jax.tree.map(lambda a: a[None], result)

        return single

    def _first_carry(self, start: tuple[Array, Array], data: Data) -> Carry:
        theta, stop = start
        state = self.stage.init(lambda p: self.objective.loss(p, data), theta)
        infinite = jnp.asarray(jnp.inf, theta.dtype)
        return Carry(theta, state, theta, infinite, infinite, stop)

    def _guarded_step(self, carry: Carry, data: Data) -> tuple[Carry, Array]:
        """A step that keeps the best parameters, notices failure, and does nothing once stopped."""

        def go(carry: Carry) -> tuple[Carry, Array]:
            step = self.stage.step(lambda p: self.objective.loss(p, data), carry.theta, carry.state)
            first = jnp.where(jnp.isinf(carry.first_loss), step.loss, carry.first_loss)
            finite = jnp.isfinite(step.loss) & jnp.all(jnp.isfinite(step.theta))
            better = step.loss < carry.best_loss
            stop = self.stage.terminate(step.state)
            stop = jnp.where(step.loss > _DIVERGED * first, Stop.DIVERGED.code, stop)
            stop = jnp.where(finite, stop, Stop.NOT_FINITE.code).astype(jnp.int32)
            best = jnp.where(better, step.evaluated, carry.best)
            best_loss = jnp.where(better, step.loss, carry.best_loss)
            return Carry(step.theta, step.state, best, best_loss, first, stop), step.loss

        def rest(carry: Carry) -> tuple[Carry, Array]:
            return carry, jnp.full_like(carry.best_loss, _IDLE)

        return jax.lax.cond(carry.stop == 0, go, rest, carry)


def _outcomes(
    stages: Sequence[Stage], position: Position, theta: np.ndarray, codes: np.ndarray, stop: Stop | None
) -> list[Trained]:
    losses = np.concatenate(position.losses)
    counts = [*position.stages, *([position.step] if stop is not None else [])]
    ends = np.cumsum(counts)
    results = []
    for run in range(len(theta)):
        taken = losses[:, run] != _IDLE
        steps = tuple(
            (stage.label, int(taken[end - count : end].sum()))
            for stage, count, end in zip(stages, counts, ends, strict=False)
        )
        own = Stop.from_code(int(codes[run])) if codes[run] else (stop or Stop.BUDGET)
        history = History(losses[taken, run], tuple(item for item in steps if item[1]))
        results.append(Trained(theta[run], history, own, position.seconds))
    return results


@contextlib.contextmanager
def _patient_interrupt() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C (or SIGTERM) into a flag that the loop looks at; a second one breaks off."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return

    def handle(number: int, frame: Any) -> None:
        if event.is_set():
            raise KeyboardInterrupt
        event.set()

    previous = {s: signal.signal(s, handle) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield event
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
