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
    """t/T and [1, cos(2πkx/P), sin(2πkx/P)], k = 1 … modes, for each periodic axis: exactly P-periodic.

    Axes that are not periodic enter as in `Plain`.
    """

    modes: int = 10
    """m, the number of Fourier modes per axis."""

    def __post_init__(self) -> None:
        if not (isinstance(self.modes, int) and self.modes >= 1):
            raise MethodError(f"A Fourier embedding needs at least one mode, but modes = {self.modes!r}.")

    def bind(self, problem: Problem) -> Function:
        if not any(isinstance(condition, Periodic) for condition in problem.boundaries):
            raise MethodError(
                f"{problem.name} is not periodic, so a Fourier embedding would force it to be. "
                "Use embedding=Plain()."
            )

        def embed(coordinates: Array) -> Array:
            k = jnp.arange(1, self.modes + 1)
            features = [coordinates[:, :1] / problem.horizon]
            for axis, condition in enumerate(problem.boundaries):
                x = coordinates[:, axis + 1 : axis + 2]
                if isinstance(condition, Periodic):
                    phase = x * (2 * jnp.pi / problem.domain.lengths[axis]) * k
                    features += [jnp.ones_like(x), jnp.cos(phase), jnp.sin(phase)]
                else:
                    features.append(_scaled(problem, axis, x))
            return jnp.concatenate(features, axis=1)

        return embed


@dataclass(frozen=True)
class Plain(Embedding):
    """t/T and the space coordinates scaled to −1 ≤ x ≤ 1."""

    def bind(self, problem: Problem) -> Function:
        def embed(coordinates: Array) -> Array:
            space = [
                _scaled(problem, axis, coordinates[:, axis + 1 : axis + 2])
                for axis in range(len(problem.space))
            ]
            return jnp.concatenate([coordinates[:, :1] / problem.horizon, *space], axis=1)

        return embed


def _scaled(problem: Problem, axis: int, x: Array) -> Array:
    low, high = problem.domain.bounds[axis]
    return (2 * x - (low + high)) / (high - low)
