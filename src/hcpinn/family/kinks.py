"""Kinks and jumps of a solution as a function of one parameter: whether there is one, and where.

Where u depends on μ analytically the interpolation's error falls geometrically; where it does not, it falls
like a power of the number of nodes at best. The place is then found by what nodes on either side predict.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ..evolution import lagrange
from .interpolation import Piece

_FASTER = 8.0
"""How many times smaller the error of smooth functions is, at least, with twice as many nodes."""

_NEIGHBOURS = 3
"""Nodes on one side that a prediction uses."""

_HALVINGS = 12


class Known(Protocol):
    """A solution at some parameters."""

    remainder: np.ndarray

    def error(self, change: np.ndarray) -> float:
        """The relative size of a change."""
        ...


def find_kink(
    piece: Piece, errors: np.ndarray, nodes: Sequence[Known], at: Callable[[float], Known]
) -> float | None:
    """The share of the way through the range where the solution has a kink; None if it seems smooth.

    Args:
        piece: the part of the range that was interpolated.
        errors: by how much each node was missed by those before it.
        nodes: the solutions there.
        at: gives the solution at a share of the way through the range.
    """
    half = len(errors) // 2
    if errors[-4:].max() < errors[half - 2 : half + 2].max() / _FASTER:
        return None
    shares = piece.shares(piece.grid.nodes)[:, 0]
    known = {float(s): n for s, n in zip(shares, nodes, strict=True)}
    low, high = _most_uneven(known)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        new = at(middle)
        from_left = _missed([s for s in known if s <= low], known, middle, new, left=True)
        from_right = _missed([s for s in known if s >= high], known, middle, new, left=False)
        if max(from_left, from_right) < 1e-9:
            return None
        known[middle] = new
        if from_left < from_right:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _missed(some: list[float], known: dict[float, Any], place: float, new: Known, *, left: bool) -> float:
    """By how much the nearest solutions on one side miss a new one."""
    nearest = sorted(some)[-_NEIGHBOURS:] if left else sorted(some)[:_NEIGHBOURS]
    weights = lagrange(np.array(nearest), np.array([place]))[0]
    said = sum(w * known[s].remainder for w, s in zip(weights, nearest, strict=True))
    return new.error(new.remainder - said)


def _most_uneven(known: dict[float, Any]) -> tuple[float, float]:
    """The neighbouring places between which the slopes to both sides differ most."""
    order = sorted(known)
    slopes = [(known[b].remainder - known[a].remainder) / (b - a) for a, b in itertools.pairwise(order)]
    bends = [np.linalg.norm(q - p) for p, q in itertools.pairwise(slopes)]
    at = int(np.argmax(bends))  # the bend at order[at + 1]
    before, after = (
        bends[at - 1] if at else 0.0,
        bends[at + 1] if at + 1 < len(bends) else 0.0,
    )
    return (order[at], order[at + 1]) if before > after else (order[at + 1], order[at + 2])
