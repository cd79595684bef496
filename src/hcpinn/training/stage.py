"""A stage of training: an optimiser with a step budget, written for a single run."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

Loss = Callable[[Array], Array]
"""The loss as a function of the flat parameters, with an efficient gradient."""


class Step(eqx.Module):
    """What one step did."""

    theta: Float[Array, " parameters"]
    """The parameters after it."""
    state: Any
    """The optimiser's state after it."""
    loss: Float[Array, ""]
    """The loss at `evaluated`."""
    evaluated: Float[Array, " parameters"]
    """The parameters at which the loss is known."""


class Stage(abc.ABC):
    """An optimiser with its settings. The driver maps it over runs and compiles it in blocks."""

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
    def init(self, loss: Loss, theta: Array) -> Any:
        """The optimiser's state before the first step."""

    @abc.abstractmethod
    def step(self, loss: Loss, theta: Array, state: Any) -> Step:
        """One step."""

    @abc.abstractmethod
    def terminate(self, state: Any) -> Array:
        """The code of this optimiser's own reason to stop, or zero to go on."""
