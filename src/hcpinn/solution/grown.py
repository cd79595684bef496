"""A trained network with neurons added whose output weights evolve, as one function of t and x."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Array

from ..descent import Method, Piecewise
from ..evolution import Function, RegionFunction
from ..problem import Index, Problem

_TRAINED = "trained."
"""With what the names of the trained network's arrays begin."""


class Grown:
    """u = ψ + φ · network + Σ cⱼ(t) φⱼ(x): all weights of the network trained, and c evolved around it."""

    engine: ClassVar[str] = "descent and evolution"

    def __init__(self, trained: Piecewise, evolved: Function | RegionFunction):
        """`evolved` is u, whose carrier holds what the network adds to the lift."""
        self.trained, self.evolved = trained, evolved

    @property
    def parameters(self) -> tuple[Any, Any]:
        """Those of the network, and the output weights of the added neurons over time."""
        return self.trained.parameters, self.evolved.parameters

    def derivative(self, points: Array, index: Index) -> Array:
        """A derivative, or the value, at rows (t, x, …)."""
        return self.evolved.derivative(points, index)

    def on_grid(self, times: np.ndarray, *axes: np.ndarray, index: Index | None = None) -> np.ndarray:
        """A derivative on a grid: component × time × x × y × z."""
        return self.evolved.on_grid(times, *axes, index=index)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Both parts as arrays."""
        trained = {f"{_TRAINED}{name}": array for name, array in self.trained.to_arrays().items()}
        return {**trained, **self.evolved.to_arrays()}

    @classmethod
    def from_arrays(cls, problem: Problem, method: Method, arrays: Mapping[str, np.ndarray]) -> Grown:
        """The function that `to_arrays` took apart."""
        trained = Piecewise.from_arrays(
            problem,
            method,
            {k.removeprefix(_TRAINED): v for k, v in arrays.items() if k.startswith(_TRAINED)},
        )
        kind = Function if problem.domain.product else RegionFunction
        return cls(trained, kind.from_arrays(problem, arrays, added=trained.beyond_lift))
