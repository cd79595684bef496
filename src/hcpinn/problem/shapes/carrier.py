"""Smooth functions whose zero sets carry pieces of a boundary: lines, conics, and levels of any function.

A carrier is positive on one side of its zero set, of about the size of the distance near it, and analytic,
so that quotients by it stay smooth. Points are rows, in NumPy or JAX arrays.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...machine.precision import double


def module_of(points: Any) -> Any:
    """NumPy for NumPy's arrays, else JAX's."""
    return np if isinstance(points, np.ndarray) else jnp


class Carrier(abc.ABC):
    """f with f = 0 on a piece of the boundary."""

    @abc.abstractmethod
    def __call__(self, points: Any) -> Any:
        """f at points."""

    @abc.abstractmethod
    def slope(self, points: Any) -> Any:
        """∇f at points, a row each."""

    def normalised(self, points: Any) -> Any:
        """f / √(f² + |∇f|²): the distance near the zero set, with its sign."""
        xp, value, slope = module_of(points), self(points), self.slope(points)
        return value / xp.sqrt(value**2 + (slope**2).sum(axis=1))

    def __neg__(self) -> Carrier:
        return Opposite(self)


@dataclass(frozen=True, eq=False)
class Opposite(Carrier):
    """−f."""

    other: Carrier

    def __call__(self, points: Any) -> Any:
        return -self.other(points)

    def slope(self, points: Any) -> Any:
        return -self.other.slope(points)

    def __neg__(self) -> Carrier:
        return self.other


@dataclass(frozen=True, eq=False)
class Flat(Carrier):
    """n · (x − a), a line or a plane; n has length 1."""

    place: np.ndarray
    inward: np.ndarray

    def __call__(self, points: Any) -> Any:
        return (points - self.place) @ self.inward

    def slope(self, points: Any) -> Any:
        return module_of(points).broadcast_to(self.inward, points.shape)


@dataclass(frozen=True, eq=False)
class Conic(Carrier):
    """k (1 − |A (x − m)|²): an ellipse or a ball, and with a singular A a cylinder."""

    centre: np.ndarray
    inverse: np.ndarray
    """A."""

    @property
    def _scale(self) -> float:
        return 0.5 / float(np.linalg.norm(self.inverse, 2))

    def __call__(self, points: Any) -> Any:
        return self._scale * (1 - (((points - self.centre) @ self.inverse.T) ** 2).sum(axis=1))

    def slope(self, points: Any) -> Any:
        return -2 * self._scale * (points - self.centre) @ (self.inverse.T @ self.inverse)


@dataclass(frozen=True, eq=False)
class Level(Carrier):
    """A function of the coordinates, over a number that makes its slope about one."""

    function: Callable[..., Any]
    scale: float
    inverse: np.ndarray
    shift: np.ndarray
    """The function takes A x + s."""

    def __call__(self, points: Any) -> Any:
        if isinstance(points, np.ndarray):
            return self._padded(self._values, points)
        return self._value(points)

    def slope(self, points: Any) -> Any:
        if isinstance(points, np.ndarray):
            return self._padded(self._slopes, points)
        return self._slope(points)

    def _padded(self, function: Callable[[Any], Any], points: np.ndarray) -> np.ndarray:
        """By a compiled program for few sizes."""
        size = 1 << max(6, (max(len(points), 1) - 1).bit_length())
        more = np.concatenate([points, np.broadcast_to(points[:1], (size - len(points), points.shape[1]))])
        with double(), jax.ensure_compile_time_eval():  # a gate may be made while a function is traced
            return np.asarray(function(jnp.asarray(more)))[: len(points)]

    @cached_property
    def _values(self) -> Any:
        return jax.jit(self._value)

    @cached_property
    def _slopes(self) -> Any:
        return jax.jit(self._slope)

    def _value(self, points: Any) -> Any:
        own = points @ self.inverse.T + self.shift
        return self.scale * jnp.broadcast_to(self.function(*own.T), points.shape[:1])

    def _slope(self, points: Any) -> Any:
        return jax.vmap(jax.grad(lambda p: self._value(p[None])[0]))(points)
