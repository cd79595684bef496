"""What a weak form is solved on: functions on a domain, and sums over points that stand for integrals."""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..problem import Condition, Piece, Problem

Table = Any
"""Points × functions, sparse or not."""


@dataclass(frozen=True, eq=False)
class Wall:
    """A part of the boundary at points: coordinates and normals are axes × points."""

    piece: Piece
    points: np.ndarray
    weights: np.ndarray
    normal: np.ndarray
    tables: list[list[Table]]
    """By component u, uₓ, …."""

    def conditions(self, problem: Problem) -> list[Condition | None]:
        """By component the condition on the slope."""
        each = (self.piece.conditions[field] for field in problem.component_fields)
        return [next((c for c in own if c.order == 1), None) for own in each]

    def data(self, problem: Problem, time: float) -> np.ndarray:
        """The data of these conditions, component × point; zero where there is none."""
        found = problem.piece_components(self.piece, at(time, self.points))
        result = np.zeros((len(problem.components), self.points.shape[1]))
        for component, condition in enumerate(self.conditions(problem)):
            if condition is not None:
                own = self.piece.conditions[problem.component_fields[component]]
                result[component] = np.asarray(found[component][own.index(condition)])
        return result


@dataclass(frozen=True, eq=False)
class Held:
    """Unknowns of one component that prescribed values determine."""

    component: int
    unknowns: np.ndarray
    pieces: list[tuple[Piece, np.ndarray]]
    """With the places of the data, axes × points."""
    reach: np.ndarray | None = None
    """From the data to the unknowns, where they are not the data themselves."""

    def values(self, problem: Problem, time: float) -> np.ndarray:
        """The unknowns at a time."""
        field, found = problem.component_fields[self.component], []
        for piece, places in self.pieces:
            number = piece.value_of(field)
            assert number is not None
            own = problem.piece_components(piece, at(time, places))[self.component][number]
            found.append(np.asarray(own) / piece.conditions[field][number].factors[0])
        data = np.concatenate(found)
        return data if self.reach is None else self.reach @ data


class Space(abc.ABC):
    """Functions of each component; `tables` are their values and slopes at the points."""

    words: str
    """How it is called."""
    points: np.ndarray
    """Axes × points."""
    weights: np.ndarray
    sizes: list[int]
    """Unknowns by component."""
    tables: list[list[Table]]
    walls: list[Wall]
    held: list[Held]

    @abc.abstractmethod
    def start(
        self, problem: Problem, component: int, values: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """The unknowns of a function given by its `values(places)`, component × place."""

    @abc.abstractmethod
    def at(self, places: np.ndarray, component: int) -> Table:
        """Unknowns ↦ values at places, rows of coordinates."""


def at(time: float, points: np.ndarray) -> list[Any]:
    """Coordinates t, x, … as a problem takes them."""
    return [jnp.full(points.shape[1], time), *jnp.asarray(points)]
