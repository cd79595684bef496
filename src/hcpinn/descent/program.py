"""One stage compiled for a batch of runs: the steps between two looks at the clock."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..objective import RESIDUAL, Batches, Data, Objective, WeightRule, take_batch
from ..objective.sampling import nearest
from ..outcome import Stop
from .optimisers.stage import Stage, Target

_DIVERGED = 1e6
"""Growth of the loss over its first value that counts as divergence."""

_BLOCK = {"cpu": (4e9, 200), "gpu": (4e11, 1000)}
"""Multiplications, in units of those of one layer, and steps, that run at once: about a second at most."""

IDLE = -np.inf
"""Stands in the record of losses for a step that a stopped run did not take."""


class Carry(eqx.Module):
    """The state of one run between steps."""

    theta: Float[Array, "*runs parameters"]
    state: Any
    weights: dict[str, Any]
    """What the weight rule remembers, by term."""
    best: Float[Array, "*runs parameters"]
    best_loss: Float[Array, "*runs"]
    first_loss: Float[Array, "*runs"]
    stop: Int[Array, "*runs"]


class Program:
    """A stage, an objective and a weight rule, mapped over runs and compiled in blocks of steps."""

    def __init__(
        self,
        objective: Objective,
        stage: Stage,
        axes: Any,
        *,
        runs: int,
        rule: WeightRule | None,
        batches: Batches | None,
    ):
        self.objective, self.stage, self.axes, self.runs, self.rule = objective, stage, axes, runs, rule
        self.batches = batches if stage.tolerant else None
        self.covered = [name for name in objective.terms if rule is not None and rule.covers(name)]
        # Where the objective moves, losses of different steps cannot be compared.
        self.moving = stage.tolerant and (rule is not None or batches is not None)
        self.devices = objective.devices
        self._advance = self.devices.compiled(
            lambda carry, data, first, count: self._map(
                lambda c, d: self._steps(c, d, first, count), carry, data
            ),
            static_argnums=3,
        )
        self._begin = self.devices.compiled(lambda start, data: self._map(self._first_carry, start, data))
        self._renew = self.devices.compiled(jax.vmap(self._renewed))

    def block(self, data: Data, span: int) -> int:
        """How many steps to run at once, of `span` steps until something else is done to the `data`.

        Long enough to hide the cost of a call, short enough to answer Ctrl-C; it must not
        depend on the clock, so that a resumed training runs the same programs.
        """
        points = self.batches.size if self.batches else data.blocks[RESIDUAL].share.shape[-1]
        work = self.stage.work(points, self.objective.size) * self.runs
        most_work, most_steps = _BLOCK.get(jax.default_backend(), _BLOCK["gpu"])
        return even_part(span, int(np.clip(most_work // work, 2, most_steps)))

    def begin(
        self, theta: np.ndarray, stop: np.ndarray, weights: Any, data: Data, before: Data | None = None
    ) -> Carry:
        """The state before the first step.

        Args:
            theta: the parameters of each run.
            stop: their stop codes; runs whose code is set do not change.
            weights: what the rule remembered in the phase before, or None to start from scratch.
            data: the points of this phase.
            before: those of the phase before.
        """
        start = (jnp.asarray(theta, self.stage.dtype), jnp.asarray(stop, jnp.int32))
        known = None if weights is None else cast(weights, self.stage.dtype)
        origins = None if weights is None or before is None else self._nearest(before, data)
        return self._begin(self.devices.everywhere((*start, known, origins)), data)

    def renew(self, carry: Carry, data: Data, before: Data, stop: np.ndarray | None = None) -> Carry:
        """The state after the points of the data `before` were replaced; `stop` are new stop codes."""
        codes = carry.stop if stop is None else jnp.asarray(stop, jnp.int32)
        origins = self.devices.everywhere(self._nearest(before, data))
        fresh = self._begin((carry.theta, codes, carry.weights, origins), data)
        return self._renew(carry, fresh)

    def advance(
        self, carry: Carry, data: Data, first: int, count: int
    ) -> tuple[Carry, Float[Array, "steps runs terms"]]:
        """`count` steps, the first of which has the number `first` in its stage."""
        carry, losses = self._advance(carry, data, jnp.int32(first), count)
        return carry, jnp.swapaxes(losses, 0, 1)

    def places(self, data: Data, term: str) -> Float[np.ndarray, "runs points axes"]:
        """The coordinates of a term's points, for each run."""
        found = np.asarray(self.devices.everywhere(data.blocks[term].fixed[0].coordinates))
        return np.broadcast_to(found, (self.runs, *found.shape[-2:]))

    def _nearest(self, before: Data, data: Data) -> dict[str, Array] | None:
        """Which of the points before is nearest to each point now, by term; None if none was replaced."""
        old, new = (
            {name: self.places(points, name).astype(self.stage.dtype) for name in self.covered}
            for points in (before, data)
        )
        if all(np.array_equal(old[name], new[name]) for name in self.covered):
            return None
        return {name: jnp.asarray(np.stack([*map(nearest, old[name], new[name])])) for name in self.covered}

    def factors(self, carry: Carry) -> dict[str, Array]:
        """The weights of all points, by term; runs first."""
        if self.rule is None:
            return {}
        rule = self.rule
        return {name: jax.vmap(rule.weights)(carry.weights[name]) for name in self.covered}

    def _map(self, function: Any, carry: Any, data: Data) -> Any:
        """`function` over all runs: mapped, or for a single run called directly, which is faster."""
        if self.runs > 1:
            return jax.vmap(function, in_axes=(0, self.axes))(carry, data)
        result = function(jax.tree.map(lambda a: a[0], carry), data)
        return jax.tree.map(lambda a: a[None], result)

    def _target(self, data: Data, weights: dict[str, Any], at: Array | None = None) -> Target:
        """The loss with the weights as they stand, over all points or over those of one mini-batch."""
        factors = {name: self.rule.weights(weights[name]) for name in self.covered} if self.rule else {}
        if at is not None:
            data = take_batch(data, at)
            if RESIDUAL in factors:
                factors[RESIDUAL] = factors[RESIDUAL][at]
        return Target(self.objective, data, factors)

    def _first_carry(self, start: tuple[Array, Array, Any, Any], data: Data) -> Carry:
        theta, stop, weights, origins = start
        if weights is None:
            weights = self._first_weights(theta, data)
        elif origins is not None:
            weights = self._suited(weights, data, origins)
        state = self.stage.init(self._target(data, weights), theta)
        infinite = jnp.asarray(jnp.inf, theta.dtype)
        return Carry(theta, state, weights, theta, infinite, infinite, stop)

    def _first_weights(self, theta: Array, data: Data) -> dict[str, Any]:
        """The rule's states, which know the mismatch at the initial parameters."""
        if self.rule is None:
            return {}
        squares = self.objective.measure(theta, data).squares
        return {
            name: self.rule.update(
                self.rule.init(data.when(name)), squares[name], data.blocks[name].share, None
            )
            for name in self.covered
        }

    def _renewed(self, before: Carry, fresh: Carry) -> Carry:
        """A fresh state that keeps what the optimiser learned; a run that has stopped keeps its best."""
        going = fresh.stop == 0
        best = jnp.where(going, fresh.best, before.best)
        best_loss = jnp.where(going, fresh.best_loss, before.best_loss)
        state = self.stage.renew(fresh.state, before.state)
        return Carry(fresh.theta, state, fresh.weights, best, best_loss, best_loss, fresh.stop)

    def _suited(self, weights: dict[str, Any], data: Data, origins: dict[str, Array]) -> dict[str, Any]:
        """The rule's states for new points in place of the old."""
        if self.rule is None:
            return weights
        return {name: self.rule.renew(weights[name], data.when(name), origins[name]) for name in self.covered}

    def _steps(self, carry: Carry, data: Data, first: Array, count: int) -> tuple[Carry, Array]:
        if self.batches is None:
            carry, losses = jax.lax.scan(lambda c, _: self._guarded_step(c, data, None), carry, length=count)
        else:
            points = data.blocks[RESIDUAL].share.size
            indices = self.batches.indices(data.key, points, first, count)
            carry, losses = jax.lax.scan(lambda c, at: self._guarded_step(c, data, at), carry, indices)
        # What the last step spoiled, no later loss within the block has shown.
        broken = (carry.stop == 0) & ~jnp.all(jnp.isfinite(carry.theta))
        stop = jnp.where(broken, Stop.NOT_FINITE.code, carry.stop).astype(jnp.int32)
        return eqx.tree_at(lambda c: c.stop, carry, stop), losses

    def _guarded_step(self, carry: Carry, data: Data, at: Array | None) -> tuple[Carry, Array]:
        """A step that keeps the best parameters, notices failure, and does nothing once stopped."""

        going = carry.stop == 0

        def go(carry: Carry) -> tuple[Carry, Array]:
            # Where runs train together, one that has stopped takes part without effect: see `strong_wolfe`.
            theta = carry.theta if self.stage.tolerant else jnp.where(going, carry.theta, jnp.nan)
            step = self.stage.step(self._target(data, carry.weights, at), theta, carry.state)
            first = jnp.where(jnp.isinf(carry.first_loss), step.loss, carry.first_loss)
            finite = jnp.isfinite(step.loss)
            if not self.stage.tolerant:  # elsewhere the next loss tells, and this step's start is the result
                finite = finite & jnp.all(jnp.isfinite(step.theta))
            better = finite if self.moving else step.loss < carry.best_loss
            weights = self._followed(carry.weights, step.squares, data, at)
            stop = self.stage.terminate(step.state)
            if self.rule is not None and step.squares:
                over = [self.rule.finished(state) for state in weights.values()]
                stop = jnp.where(jnp.any(jnp.stack(over)), Stop.CAUSAL.code, stop) if over else stop
            # Weights that grow make the loss grow too, so only without them is that a bad sign.
            if self.rule is None:
                stop = jnp.where(step.loss > _DIVERGED * first, Stop.DIVERGED.code, stop)
            stop = jnp.where(finite, stop, Stop.NOT_FINITE.code).astype(jnp.int32)
            best = jnp.where(better, step.evaluated, carry.best)
            best_loss = jnp.where(better, step.loss, carry.best_loss)
            record = jnp.stack([step.loss, *(step.terms[name] for name in self.objective.terms)])
            return Carry(step.theta, step.state, weights, best, best_loss, first, stop), record

        def rest(carry: Carry) -> tuple[Carry, Array]:
            return carry, jnp.full(1 + len(self.objective.terms), IDLE, carry.best_loss.dtype)

        if self.stage.costly and self.runs == 1:
            return jax.lax.cond(going, go, rest, carry)
        after, before = go(carry), rest(carry)
        held, record = jax.tree.map(lambda new, old: jnp.where(going, new, old), after, before)
        state = self.stage.hold(going, after[0].state, carry.state)
        return eqx.tree_at(lambda c: c.state, held, state), record

    def _followed(
        self, weights: dict[str, Any], squares: dict[str, Array], data: Data, at: Array | None
    ) -> dict[str, Any]:
        """The rule's states after a step; unchanged where the stage freezes them."""
        if self.rule is None or not squares:
            return weights
        result = dict(weights)
        for name in self.covered:
            share = data.blocks[name].share
            some = at if name == RESIDUAL else None
            part = share if some is None else jnp.full(some.shape, 1.0 / some.size, share.dtype)
            result[name] = self.rule.update(weights[name], squares[name], part, some)
        return result


def even_part(whole: int, most: int) -> int:
    """The largest part of some steps that goes into them evenly, or nearly; no larger than `most`.

    Parts of one length are one program, and a shorter last one would be compiled as well.
    """
    fewest = -(-whole // most)
    even = (whole // count for count in range(fewest, 2 * fewest) if whole % count == 0)
    return next(even, -(-whole // fewest))


def cast(tree: Any, dtype: Any) -> Any:
    """Floating-point arrays in another precision; whole numbers as they are."""
    return jax.tree.map(lambda a: a.astype(dtype) if jnp.issubdtype(a.dtype, jnp.floating) else a, tree)
