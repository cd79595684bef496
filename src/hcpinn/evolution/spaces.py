"""What the engine needs to know of the kind of domain it solves on."""

from __future__ import annotations

from typing import Any, Protocol

from ..problem import Problem
from .axes import Axes
from .lift import Carrier
from .limits import Limits
from .pointwise import Pointwise
from .regions import RegionSpace


class Space(Protocol):
    """The bases of passes over a domain. Only it understands what it learns of fronts."""

    first: int
    """Features in the first pass."""
    most: int

    def places(self) -> Any:
        """Where features are needed before anything is solved."""
        ...

    def projection(self, count: int, found: Any, number: int) -> Any:
        """The projected equation on a fresh sample of features, for pass `number`: what `integrate` takes."""
        ...

    def adapted(self, solved: Any, given: Any, accuracy: float) -> Any:
        """Where the next pass needs features."""
        ...

    def difference(self, old: Any, new: Any) -> float:
        """‖u_new − u_old‖ / ‖u_new‖ of two passes."""
        ...

    def unseen(self, solved: Any) -> float:
        """An error that neither of two passes may see."""
        ...

    def function(self, solved: Any, spare: float) -> Any:
        """The solution as a function."""
        ...


def space_of(problem: Problem, carrier: Carrier, pointwise: Pointwise, limits: Limits, seed: int) -> Space:
    """The bases for a problem's domain."""
    kind = Axes if problem.domain.product else RegionSpace
    return kind(problem, carrier, pointwise, limits, seed)
