"""The interface of rules that weight points."""

from __future__ import annotations

import abc
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

State = Any
"""What a rule remembers between steps: any tree of arrays."""


class WeightRule(abc.ABC):
    """How the weight of each point changes while the network trains.

    The driver keeps one state per term of the loss that the rule covers. It measures the
    squared mismatch at the parameters a step starts from, lets the rule update its state, and
    the next step is taken with the new weights. Stages that need a fixed objective, such as
    L-BFGS, freeze them.
    """

    @abc.abstractmethod
    def covers(self, term: str) -> bool:
        """Whether the rule weights this term of the loss: "residual", "initial", …"""

    @abc.abstractmethod
    def init(self, when: Float[Array, " points"]) -> State:
        """The state before training, for points at these times (0 at the start, 1 at the horizon)."""

    @abc.abstractmethod
    def weights(self, state: State) -> Float[Array, " points"]:
        """The factor of each point's squared mismatch."""

    @abc.abstractmethod
    def update(
        self, state: State, squares: Float[Array, " some"], share: Float[Array, " some"], at: Any
    ) -> State:
        """The state after a step that found these squared mismatches.

        `share` is each point's part of the mean, and `at` says which points these are: their
        numbers, or None for all.
        """

    def renew(self, state: State, when: Float[Array, " points"], nearest: Int[Array, " points"]) -> State:
        """The state after points were replaced: each new point takes over the values of the nearest old one.

        `nearest` are the numbers of these old points. Scalars stay as they are. A rule whose arrays are not
        over points must override this.
        """
        return jax.tree.map(lambda values: values[nearest] if values.ndim else values, state)

    def finished(self, state: State) -> Bool[Array, ""]:
        """Whether the rule itself asks for the end of the stage."""
        return jnp.bool_(False)


def take(values: Array, at: Int[Array, " some"] | None) -> Array:
    """The values of some points."""
    return values if at is None else values[at]


def put(values: Array, at: Int[Array, " some"] | None, new: Array) -> Array:
    """All values, those of some points replaced."""
    return new if at is None else values.at[at].set(new)
