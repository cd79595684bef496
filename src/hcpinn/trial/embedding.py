"""Embeddings: what the network sees of a point (t, x)."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array

from ..errors import MethodError, unknown_name
from ..problem import Index, Problem, Shape
from .function import Function
from .walls import Walls


class Embedding(abc.ABC):
    """A choice of embedding; `bind` turns it into a function for one problem."""

    even: ClassVar[bool] = False
    """Whether its features hold conditions on slopes at walls."""

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
        if not any(condition.periodic for condition in problem.boundaries):
            raise MethodError(
                f"{problem.name} is not periodic, so a Fourier embedding would force it to be. "
                "Use embedding=Plain()."
            )

        def embed(coordinates: Array) -> Array:
            features = [_time(problem, coordinates)]
            for axis, ends in enumerate(problem.boundaries):
                if ends.periodic:
                    features.append(self.waves(problem, axis, coordinates))
                else:
                    features.append(problem.domain.scaled(axis, coordinates[:, axis + 1 : axis + 2]))
            return jnp.concatenate(features, axis=1)

        return embed

    def waves(self, problem: Problem, axis: int, coordinates: Array) -> Array:
        """1, cosines and sines along one axis."""
        k = jnp.arange(1, self.modes + 1)
        x = coordinates[:, axis + 1 : axis + 2]
        phase = x * (2 * jnp.pi / problem.domain.lengths[axis]) * k
        return jnp.concatenate([jnp.ones_like(x), jnp.cos(phase), jnp.sin(phase)], axis=1)


@dataclass(frozen=True)
class Even(Embedding):
    """Features that hold conditions on derivatives at walls: along such an axis [cos πξ, p(ξ)] in place of x.

    Any function of them has no slope at the wall, which holds Neumann conditions; with the gate's factors it
    holds Robin conditions and those of higher order (see `Walls`). Periodic axes enter as in `Fourier`, axes
    without such conditions as in `Plain`.
    """

    even: ClassVar[bool] = True
    modes: int = 10
    """m, the number of Fourier modes per periodic axis."""

    def bind(self, problem: Problem) -> Function:
        if problem.pieces:
            raise MethodError(
                f"Even() holds slopes at the walls of a box, but {problem.name} lives on a curved domain. "
                "Use embedding=Plain() and penalties=(BoundaryPenalty(),)."
            )
        walls = Walls(problem, even=True)
        periodic = Fourier(self.modes)

        def embed(coordinates: Array) -> Array:
            features = [_time(problem, coordinates)]
            for axis, ends in enumerate(problem.boundaries):
                one = periodic.waves(problem, axis, coordinates) if ends.periodic else None
                features.append(walls.features(axis, coordinates) if one is None else one)
            return jnp.concatenate(features, axis=1)

        return embed


@dataclass(frozen=True)
class Plain(Embedding):
    """t/T and the space coordinates scaled to −1 ≤ x ≤ 1.

    On a curved domain also r^α cos αθ and r^α sin αθ, α = π/ω, at re-entrant corners of angle ω: what is
    singular there is smooth in them.
    """

    def bind(self, problem: Problem) -> Function:
        domain = problem.domain

        def embed(coordinates: Array) -> Array:
            if isinstance(domain, Shape):
                return jnp.concatenate(
                    [_time(problem, coordinates), domain.embedded(coordinates[:, 1:])], axis=1
                )
            space = [
                problem.domain.scaled(axis, coordinates[:, axis + 1 : axis + 2])
                for axis in range(len(problem.space))
            ]
            return jnp.concatenate([_time(problem, coordinates), *space], axis=1)

        return embed


@dataclass(frozen=True)
class Characteristic(Embedding):
    """x − ct alone, scaled as in `Plain`: whatever the network is, it solves uₜ + c uₓ = 0."""

    speed: str = "c"
    """The name of the problem's parameter that is the speed c."""

    def bind(self, problem: Problem) -> Function:
        self._check(problem)
        speed = problem.parameters[self.speed]

        def embed(coordinates: Array) -> Array:
            t, x = coordinates[:, :1] - problem.start, coordinates[:, 1:2]
            return problem.domain.scaled(0, x - speed * t)

        return embed

    def _check(self, problem: Problem) -> None:
        """Refuse equations that functions of x − ct do not solve."""
        if self.speed not in problem.parameters:
            raise unknown_name("parameter", self.speed, problem.parameters, of=problem.name)
        x = jnp.linspace(0.1, 1.3, 7)
        jet: dict[Index, Array] = {(0, 0): jnp.sin(3 * x), (0, 1): 3 * jnp.cos(3 * x)}
        fits = len(problem.space) == len(problem.components) == 1 and set(problem.derivatives) <= set(jet)
        if fits:
            (rate,) = problem.evaluate_rhs(lambda _, index: jet[index], [x, x])
            fits = bool(jnp.allclose(rate, -problem.parameters[self.speed] * jet[0, 1], rtol=1e-6))
        if not fits:
            raise MethodError(
                f"A characteristic embedding needs the transport equation uₜ = −{self.speed} uₓ in one "
                f"dimension, which {problem.name} is not. Use embedding=Fourier(modes) or Plain()."
            )


def _time(problem: Problem, coordinates: Array) -> Array:
    """Time, from 0 at the start to 1 at the horizon."""
    return (coordinates[:, :1] - problem.start) / problem.duration
