"""The shape of the kernels: everything that is settled before they are compiled."""

from __future__ import annotations

from dataclasses import dataclass

from ...problem import Index
from ..taylor import Activation


class CompilerError(Exception):
    """A compiler is not there, or refuses the kernels."""


@dataclass(frozen=True)
class KernelPlan:
    """A network, the derivatives it carries along, and how many points there are."""

    activation: Activation
    indices: tuple[Index, ...]
    points: int
    features: int
    width: int
    depth: int
    """Hidden layers."""
    outputs: int
    precision: str
    """'float32' or 'float64'."""
    tile: int
    """Points that are taken through the network together."""
    parts: int
    """Into how many parts the points are divided, each with a gradient of its own; 0: a part per tile."""
    mixed: bool = False
    """Whether every layer mixes two encodings of the features, as in `ModifiedMLP`."""
    runs: int = 0
    """How many networks at once, along the leading axis of every array; 0: one, and no such axis."""
    own_features: bool = False
    """Whether each run has features of its own."""

    @property
    def streams(self) -> int:
        return len(self.indices)

    @property
    def tiles(self) -> int:
        return -(-self.points // self.tile)

    @property
    def padded(self) -> int:
        """Points, with those that fill up the last tile."""
        return self.tiles * self.tile

    @property
    def gradients(self) -> int:
        """Parts of the points, each with a gradient of its own."""
        return min(self.parts, self.tiles) if self.parts else self.tiles

    @property
    def firsts(self) -> int:
        """Layers that read the features: the first, and behind it those that encode."""
        return 3 if self.mixed else 1

    @property
    def layers(self) -> int:
        """Layers with an activation: the hidden ones, and behind them those that encode."""
        return self.depth - 1 + self.firsts

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """How many numbers the first, hidden, bias and last weights are."""
        square = self.width**2
        return (
            self.firsts * self.features * self.width,
            (self.depth - 1) * square,
            self.layers * self.width,
            self.outputs * self.width,
        )

    def constants(self) -> dict[str, int]:
        """What the sources of the kernels take as given."""
        names = {"S": self.streams, "W": self.width, "F": self.features, "D": self.depth, "C": self.outputs}
        return {**names, "TILE": self.tile, "MIXED": int(self.mixed)}
