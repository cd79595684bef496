"""Embeddings: what the network sees of a point (t, x)."""

from __future__ import annotations

import abc
from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array

from ..errors import MethodError
from ..problem import Periodic, Problem
from .part import Function


class Embedding(abc.ABC):
    """A choice of embedding; `bind` turns it into a function for one problem."""

    @abc.abstractmethod
    def bind(self, problem: Problem) -> Function:
        """The features of coordinates, one column each."""


@dataclass(frozen=True)
class Fourier(Embedding):
    """t/T and [1, cos(2πkx/P), sin(2πkx/P)], k = 1 … modes: exactly P-periodic in x."""

    modes: int = 10
    """m, the number of Fourier modes per axis."""

    def __post_init__(self) -> None:
        if not (isinstance(self.modes, int) and self.modes >= 1):
            raise MethodError(f"A Fourier embedding needs at least one mode, but modes = {self.modes!r}.")

    def bind(self, problem: Problem) -> Function:
        if not isinstance(problem.boundary, Periodic):
            raise MethodError(
                f"{problem.name} is not periodic, so a Fourier embedding would force it to be. "
                "Use embedding=Plain()."
            )

        def embed(coordinates: Array) -> Array:
            k = jnp.arange(1, self.modes + 1)
            features = [coordinates[:, :1] / problem.horizon]
            for axis, period in enumerate(problem.domain.lengths):
                phase = coordinates[:, axis + 1 : axis + 2] * (2 * jnp.pi / period) * k
                features += [jnp.ones_like(coordinates[:, :1]), jnp.cos(phase), jnp.sin(phase)]
            return jnp.concatenate(features, axis=1)

        return embed


@dataclass(frozen=True)
class Plain(Embedding):
    """t/T and the space coordinates scaled to −1 ≤ x ≤ 1."""

    def bind(self, problem: Problem) -> Function:
        low, high = jnp.asarray(problem.domain.lower), jnp.asarray(problem.domain.upper)

        def embed(coordinates: Array) -> Array:
            scaled = (2 * coordinates[:, 1:] - (low + high)) / (high - low)
            return jnp.concatenate([coordinates[:, :1] / problem.horizon, scaled], axis=1)

        return embed
