"""From parameters to the weights of nodes: ranges mapped to the cube, and split where there is a kink."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..problem import Between
from .nodes import Grid


@dataclass(frozen=True)
class Piece:
    """A part of the range of the first parameter, from a share of the way to another, with its own grid."""

    grid: Grid
    low: float = 0.0
    high: float = 1.0

    def shares(self, places: np.ndarray) -> np.ndarray:
        """Places in the cube [−1, 1]ᵈ as shares of the way through each range."""
        found = (np.asarray(places, float) + 1) / 2
        found[:, 0] = self.low + (self.high - self.low) * found[:, 0]
        return found


@dataclass(frozen=True, eq=False)
class Interpolation:
    """The weights of all nodes, those of one piece after those of another."""

    ranges: Sequence[Between]
    pieces: Sequence[Piece] = field(default_factory=tuple)

    def __len__(self) -> int:
        return sum(len(piece.grid) for piece in self.pieces)

    @property
    def nodes(self) -> np.ndarray:
        """The parameters of each node: nodes × parameters."""
        return self.parameters(np.concatenate([p.shares(p.grid.nodes) for p in self.pieces]))

    def parameters(self, shares: np.ndarray) -> np.ndarray:
        """Parameters at shares of the way through each range."""
        return np.stack([own.at(s) for own, s in zip(self.ranges, np.asarray(shares).T, strict=True)], axis=1)

    def shares(self, parameters: Any) -> Any:
        """How far through its range each parameter is, as rows; traceable."""
        xp = np if isinstance(parameters, np.ndarray) else jnp
        found = []
        for number, own in enumerate(self.ranges):
            value = parameters[:, number]
            if own.log:
                found.append(xp.log(value / own.low) / np.log(own.high / own.low))
            else:
                found.append((value - own.low) / (own.high - own.low))
        return xp.stack(found, axis=1)

    def weights(self, parameters: Any) -> Any:
        """What each node counts for at rows of parameters: rows × nodes; traceable."""
        xp = np if isinstance(parameters, np.ndarray) else jnp
        shares, found = self.shares(parameters), []
        for number, piece in enumerate(self.pieces):
            first = (shares[:, :1] - piece.low) / (piece.high - piece.low)
            weights = piece.grid.weights(2 * xp.concatenate([first, shares[:, 1:]], axis=1) - 1)
            inside = (shares[:, :1] >= piece.low) | (number == 0)
            inside &= (shares[:, :1] < piece.high) | (number == len(self.pieces) - 1)
            found.append(xp.where(inside, weights, 0.0))
        return xp.concatenate(found, axis=1)
