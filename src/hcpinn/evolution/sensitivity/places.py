"""Places and times at which solutions on a frame, and their sensitivities, are wanted."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from ...errors import MethodError
from ...problem import Index
from ..radau import Track
from ..regions import RegionBasis
from .systems import OpenRegion

if TYPE_CHECKING:
    from .frame import Frame

_ROWS = 512
"""Points evaluated at once."""


class Places(abc.ABC):
    """Points (t, x, …) of a frame's problem, at which derivatives are wanted."""

    def __init__(self, frame: Frame, points: np.ndarray, indices: Sequence[Index]):
        self.frame, self.points, self.indices = frame, points, tuple(indices)
        with_lift = [np.asarray(frame.carrier.derivative(jnp.asarray(points), i)) for i in self.indices]
        self.still = np.moveaxis(np.stack(with_lift), 2, 1)
        self.shift = frame.opened.shift(self.indices)

    def lift(self, theta: np.ndarray) -> np.ndarray:
        """ψ(θ): index × component × point."""
        found = self.still
        if self.shift.moves:
            found = found + np.moveaxis(self.shift.values(theta, self.frame.base, self.points), 2, 1)
        return found + self._carried(theta)

    def lift_slopes(self, theta: np.ndarray) -> np.ndarray | float:
        """∂ψ/∂θ: index × component × point × parameter."""
        found: Any = 0.0
        if self.shift.moves:
            found = np.moveaxis(self.shift.slopes(theta, self.points), 2, 1)
        return found + self._carried_slopes(theta)

    def values(self, track: Track, parameters: int) -> np.ndarray:
        """Q c for a track whose unknowns go with `parameters` columns: index × component × point × column."""
        count, times = len(self.frame.opened.problem.components), self.points[:, 0]
        result = np.empty((len(self.indices), count, len(times), parameters))
        order = np.argsort(times, kind="stable")
        for first in range(0, len(times), _ROWS):
            rows = order[first : first + _ROWS]
            states = [track.at(times[rows], slope=bool(k)) for k in range(self._levels)]
            for number, index in enumerate(self.indices):
                own = states[index[0]].reshape(len(rows), -1, parameters)
                result[number][:, rows] = self._spread(number, rows, own)
        return result

    @cached_property
    def _levels(self) -> int:
        """One more than the highest derivative in time."""
        highest = max(index[0] for index in self.indices)
        if highest > 1:
            raise MethodError("Measurements of derivatives in time are those of first order at most.")
        return highest + 1

    @abc.abstractmethod
    def _spread(self, number: int, rows: np.ndarray, states: np.ndarray) -> np.ndarray:
        """Q c at some points for one index; states are points × unknowns × columns."""

    def _carried(self, theta: np.ndarray) -> np.ndarray | float:
        """What the basis adds to the lift."""
        return 0.0

    def _carried_slopes(self, theta: np.ndarray) -> np.ndarray | float:
        return 0.0


class BoxPlaces(Places):
    """Those in an interval or a box, where functions are products."""

    def __init__(self, frame: Frame, points: np.ndarray, indices: Sequence[Index]):
        super().__init__(frame, points, indices)
        axes = [
            own.layers.derivatives(points[:, axis + 1], max(i[axis + 1] for i in indices))
            for axis, own in enumerate(frame.bases)
        ]
        self.tables = [[axes[axis][i[axis + 1]] for axis in range(len(axes))] for i in self.indices]

    def _spread(self, number: int, rows: np.ndarray, states: np.ndarray) -> np.ndarray:
        ranks = [own.rank for own in self.frame.bases]
        part = states.reshape(len(rows), -1, *ranks, states.shape[-1])
        for table in self.tables[number]:
            one = table.ndim == 2  # else a table for each component
            part = np.einsum("nr,ncr...->nc..." if one else "cnr,ncr...->nc...", table[..., rows, :], part)
        return np.moveaxis(part, 0, 1)


class RegionPlaces(Places):
    """Those in a region, with a basis for each component."""

    def __init__(self, frame: Frame, points: np.ndarray, indices: Sequence[Index]):
        super().__init__(frame, points, indices)
        self.bases: tuple[RegionBasis, ...] = frame.bases
        own = {id(b): self._tables(b) for b in self.bases}
        self.tables = [own[id(b)] for b in self.bases]
        self.edges = np.cumsum([0, *(b.rank for b in self.bases)])
        self.times, self.when = np.unique(points[:, 0], return_inverse=True)

    def _tables(self, basis: RegionBasis) -> list[tuple[np.ndarray, np.ndarray]]:
        """The functions at the points, and those that carry data, for each index."""
        found = basis.layer.at(self.points[:, 1:], [index[1:] for index in self.indices])
        mixed = [f @ basis.layer.mix for f in found]
        return [(f @ basis.null, f @ basis.reach) for f in mixed]

    def _spread(self, number: int, rows: np.ndarray, states: np.ndarray) -> np.ndarray:
        parts = np.split(states, self.edges[1:-1], axis=1)
        return np.stack(
            [
                np.einsum("nr,nrp->np", tables[number][0][rows], part)
                for tables, part in zip(self.tables, parts, strict=True)
            ]
        )

    def _carried(self, theta: np.ndarray) -> np.ndarray | float:
        system = OpenRegion(self.frame, theta)
        return self._carry(lambda component, order: system.missing(component, self.times, order)[..., None])[
            ..., 0
        ]

    def _carried_slopes(self, theta: np.ndarray) -> np.ndarray | float:
        system = OpenRegion(self.frame, theta)
        if not system.reaches:
            return 0.0
        return self._carry(lambda component, order: system.missing_slopes(component, self.times, order))

    def _carry(self, data: Callable[[int, int], np.ndarray]) -> np.ndarray:
        """R h at the points, with the times of each: index × component × point × column."""
        found = []
        for number, index in enumerate(self.indices):
            each = []
            for component, (basis, tables) in enumerate(zip(self.bases, self.tables, strict=True)):
                h = data(component, index[0]) if basis.held else np.zeros((0, len(self.times), 1))
                each.append(np.einsum("nh,hnp->np", tables[number][1], h[:, self.when]))
            found.append(np.stack(np.broadcast_arrays(*each)))
        return np.stack(found)
