"""Union, intersection and difference of domains, boxes among them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import ProblemError
from ..domain import Box, Domain
from .plane import polygon
from .region import Region
from .solid import Solid, brick
from .tree import OPERATIONS, Leaf, Made, Tree, joined


def combined(operation: str, left: Domain, right: Any) -> Any:
    """The union (`|`), intersection (`&`) or difference (`-`) of two domains of the plane or of space."""
    word = OPERATIONS[operation][0]
    if not isinstance(right, Domain):
        raise ProblemError(f"The {word} takes two shapes, but one is {right!r}.")
    if left.dimension != right.dimension or left.dimension == 1:
        raise ProblemError(
            f"The {word} takes two shapes of the plane, or two of space, but these have {left.dimension} and "
            f"{right.dimension} dimension{'s' if right.dimension > 1 else ''}."
        )
    if left.dimension == 3 and operation == "|":
        raise ProblemError("Solids have no union here: only & and - join them.")
    return (Solid if left.dimension == 3 else Region)(joined(operation, _tree(left), _tree(right)))


def shape_of(domain: Domain) -> Region | Solid:
    """The domain as a shape, which can be moved, scaled and turned; a box is one by its faces."""
    if isinstance(domain, Region | Solid):
        return domain
    return (Solid if domain.dimension == 3 else Region)(_tree(domain))


def _tree(domain: Domain) -> Tree:
    own = getattr(domain, "tree", None)
    if own is not None:
        return own
    assert isinstance(domain, Box)
    return _rectangle(domain) if domain.dimension == 2 else brick(domain.bounds)


def _rectangle(box: Box) -> Leaf:
    """A box of the plane by its faces."""
    (a, b), (c, d) = box.bounds
    corners = np.array([[a, c], [b, c], [b, d], [a, d]])
    return polygon(corners, "box", Made("box", box.bounds), ["y.lower", "x.upper", "y.upper", "x.lower"])
