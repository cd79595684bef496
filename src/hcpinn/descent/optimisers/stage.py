"""A stage of training: an optimiser with a step budget, written for a single run."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...objective import Data, Linearized, Measured, Objective


@dataclass(frozen=True)
class Target:
    """What is made small, as a function of the flat parameters: points and weights are settled."""

    objective: Objective
    data: Data
    factors: Mapping[str, Array]
    """Weights of points, by term."""

    def __call__(self, theta: Array) -> Measured:
        """Loss, gradient and mismatches."""
        return self.objective.measure(theta, self.data, self.factors)

    def linearize(self, theta: Array) -> Linearized:
        """Loss and normal equations."""
        return self.objective.linearize(theta, self.data, self.factors)


class Step(eqx.Module):
    """What one step did."""

    theta: Float[Array, " parameters"]
    """The parameters after it."""
    state: Any
    """The optimiser's state after it."""
    loss: Float[Array, ""]
    """The loss at `evaluated`."""
    terms: dict[str, Float[Array, ""]]
    """Its terms, without weights."""
    evaluated: Float[Array, " parameters"]
    """The parameters at which the loss is known."""
    squares: dict[str, Array]
    """The squared mismatch at each point, for rules that follow it; empty where weights are frozen."""


class Stage(abc.ABC):
    """An optimiser with its settings. The driver maps it over runs and compiles it in blocks."""

    tolerant: ClassVar[bool]
    """Whether the objective may change from step to step: by mini-batches and adaptive weights."""
    costly: ClassVar[bool] = False
    """Whether a step takes far longer than asking a device whether to take it."""
    steps: int
    """How many steps at most."""
    precision: str
    """'float32' or 'float64'."""

    @property
    def dtype(self) -> Any:
        """The JAX type for this stage's precision."""
        return jnp.dtype(self.precision)

    @property
    @abc.abstractmethod
    def label(self) -> str:
        """The name shown to users."""

    @abc.abstractmethod
    def init(self, target: Target, theta: Array) -> Any:
        """The optimiser's state before the first step."""

    @abc.abstractmethod
    def step(self, target: Target, theta: Array, state: Any) -> Step:
        """One step."""

    def hold(self, going: Array, new: Any, old: Any) -> Any:
        """The state after a step, or where `going` is false, that before it.

        Unless the stage is tolerant, a run that has stopped took its step from NaN parameters.
        """
        return jax.tree.map(lambda a, b: jnp.where(going, a, b), new, old)

    @abc.abstractmethod
    def renew(self, fresh: Any, before: Any) -> Any:
        """The state after the points were replaced: a fresh one that keeps what was learned of the shape."""

    @abc.abstractmethod
    def work(self, points: int, parameters: int) -> float:
        """About how many multiplications a step takes, in units of those of one layer."""

    @abc.abstractmethod
    def terminate(self, state: Any) -> Array:
        """The code of this optimiser's own reason to stop, or zero to go on."""
