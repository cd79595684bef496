"""What regions of the plane and solids share: a tree of simple shapes, and named pieces of boundary."""

from __future__ import annotations

import abc
from typing import Any, ClassVar

import numpy as np

from ...errors import ProblemError
from ..domain import Shape
from .checked import number
from .tree import Tree


class Combined(Shape):
    """A shape that a tree puts together from simple ones."""

    tree: Tree
    measure: ClassVar[str]
    """What its volume is called."""
    _pieces: Any
    """The boundary by part."""

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self._pieces)

    @property
    def signature(self) -> dict[str, Any]:
        return {"shape": self.tree.signature}

    def contains(self, points: np.ndarray) -> np.ndarray:
        return self.tree.member(np.asarray(points, float))

    def ends(self, axis: int) -> tuple[str, ...]:
        return ()

    def scale(self, factor: float) -> Any:
        """The shape with all coordinates multiplied by a factor."""
        size = number(factor, "The factor of a shape", positive=True)
        return self._mapped(size * np.eye(self.dimension), np.zeros(self.dimension), "scale", size)

    @abc.abstractmethod
    def _mapped(self, matrix: np.ndarray, shift: np.ndarray, method: str, *given: float) -> Any:
        """The image under x ↦ M x + s, which a method with these arguments makes."""

    def _of(self, part: str) -> Any:
        """The piece or pieces of a part."""
        if part not in self._pieces:
            raise ProblemError(f"The shape has no part '{part}'. Its boundary: {', '.join(self.parts)}.")
        return self._pieces[part]

    def __repr__(self) -> str:
        return f"{self.tree.words}: {self.measure} {self.volume:.6g}, boundary {', '.join(self.parts)}"
