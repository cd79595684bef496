"""A stage of training: an optimiser with a step budget, written for a single run."""

from __future__ import annotations

import abc
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...errors import MethodError
from ...objective import Data, Linearized, Measured, Objective, Rows
from .rates import Schedule

LARGEST_COUNT = 2**31 - 1
"""Of anything that is counted while a compiled program runs."""


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

    def linearize(self, theta: Array, *, last: int | None = None) -> Linearized:
        """Loss and normal equations, of all parameters, or of the `last` ones."""
        return self.objective.linearize(theta, self.data, self.factors, last=last)

    def sketch(self, theta: Array, *, group: int, number: Array) -> Rows:
        """Random sums of `group` weighted mismatches, and their gradients; `number` tells draws apart."""
        key = jax.random.fold_in(jax.random.wrap_key_data(self.data.key), number)
        return self.objective.sketch(theta, self.data, self.factors, group=group, key=key)

    def mismatches(self, theta: Array) -> Array:
        """All mismatches as one vector, weighted so that the loss is the sum of its squares."""
        found = self.objective.mismatches(theta, self.data)
        scales = self.objective.scales(self.data, self.factors)
        return jnp.concatenate([(jnp.sqrt(scales[n])[:, None] * v).ravel() for n, v in found.items()])


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

    label: ClassVar[str]
    """The name shown to users."""
    tolerant: ClassVar[bool]
    """Whether the objective may change from step to step: by mini-batches and adaptive weights."""
    costly: ClassVar[bool] = False
    """Whether a step takes far longer than asking a device whether to take it."""
    copies: ClassVar[int] = 1
    """How many times the data of all points are laid out anew, in chunks, while a step is taken."""
    steps: int
    """How many steps at most."""
    precision: str
    """'float32' or 'float64'."""

    def __post_init__(self) -> None:
        """Raise a `MethodError` for settings that no optimiser can work with."""
        own: Any = self
        name = type(own).__name__
        if own.precision not in ("float32", "float64"):
            raise MethodError(f"{name}: precision must be 'float32' or 'float64', but is {own.precision!r}.")
        for item in fields(own):
            value, what = getattr(own, item.name), f"{name}: {item.name} must be"
            if item.name == "schedule":
                if not isinstance(value, Schedule):
                    raise MethodError(f"{what} one such as Exponential(), but is {value!r}.")
                value.rate(own.rate, own.steps)  # says what is wrong, if anything is
            elif item.name != "precision":
                if not (isinstance(value, int | float) and math.isfinite(value) and value > 0):
                    raise MethodError(f"{what} positive, but is {value!r}.")
                if item.type == "int" and not (isinstance(value, int) and value <= LARGEST_COUNT):
                    raise MethodError(f"{what} a whole number up to {LARGEST_COUNT:,}, but is {value!r}.")

    @property
    def dtype(self) -> Any:
        """The JAX type for this stage's precision."""
        return jnp.dtype(self.precision)

    def with_steps(self, steps: int) -> Stage:
        """The same stage with another number of steps."""
        return replace(self, steps=steps)  # type: ignore[type-var]

    @abc.abstractmethod
    def init(self, target: Target, theta: Array) -> Any:
        """The optimiser's state before the first step."""

    @abc.abstractmethod
    def step(self, target: Target, theta: Array, state: Any) -> Step:
        """One step.

        Args:
            target: the function to minimise.
            theta: the parameters it starts from.
            state: what the optimiser remembers, from `init` or from the step before.
        """

    def hold(self, going: Array, new: Any, old: Any) -> Any:
        """The state after a step, `new`, or where `going` is false, that before it, `old`.

        Unless the stage is tolerant, a run that has stopped took its step from NaN parameters.
        """
        return jax.tree.map(lambda a, b: jnp.where(going, a, b), new, old)

    @abc.abstractmethod
    def renew(self, fresh: Any, before: Any) -> Any:
        """The state after the points were replaced.

        Args:
            fresh: the state that `init` gives at the new points.
            before: the state at the old ones, which knows the shape of the objective.
        """

    @abc.abstractmethod
    def work(self, points: int, parameters: int) -> float:
        """About how many multiplications a step takes, in units of those of one layer.

        Args:
            points: how many points it looks at.
            parameters: how many the network has.
        """

    def numbers(self, points: int, outputs: int, parameters: int) -> int:
        """About how many numbers its matrices hold, where those are large.

        Args:
            points: residual points of a run.
            outputs: of the network.
            parameters: of the network.
        """
        return 0

    @abc.abstractmethod
    def terminate(self, state: Any) -> Array:
        """The code of this optimiser's own reason to stop, or zero to continue."""
