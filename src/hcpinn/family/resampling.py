"""One set of time steps for all nodes: each was evolved with steps of its own."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from ..evolution import Solved, Track, lagrange, scheme

_STAGES = 7
_CHECKED = np.array([0.03, 0.17, 0.41, 0.62, 0.83, 0.97])
_DEEPEST = 40
"""How often a step is halved, at most."""


def resampled(nodes: Sequence[Solved], edges: Sequence[float], tolerance: float) -> Track:
    """The output weights of all nodes as one track, polynomials of degree 7 on steps halved until they fit.

    Args:
        nodes: the solutions, on one basis.
        edges: where steps must end, from the start to the horizon.
        tolerance: the error of u in L², relative to its size, that may be made.
    """
    places = np.concatenate([[0.0], scheme(_STAGES).nodes])
    to_checks = lagrange(places, _CHECKED)
    sizes = np.array([np.linalg.norm(n.projection.scale) for n in nodes])
    track = Track(_STAGES, [edges[0]], [])
    todo = [(a, b, 0) for a, b in itertools.pairwise(edges)][::-1]
    while todo:
        a, b, depth = todo.pop()
        inside = np.minimum(a + (b - a) * np.concatenate([places, _CHECKED]), b)
        # Steps contain their end, not their start: just behind it counts where they meet at a break.
        inside[0] = a if a == edges[0] else a + 1e-12 * (b - a)
        found = [n.track.at(inside) for n in nodes]
        gaps = [np.linalg.norm(to_checks @ f[: len(places)] - f[len(places) :], axis=1).max() for f in found]
        if depth < _DEEPEST and np.max(np.array(gaps) / sizes) > tolerance:
            middle = (a + b) / 2
            todo += [(middle, b, depth + 1), (a, middle, depth + 1)]
            continue
        track.values.append(np.concatenate([f[: len(places)] for f in found], axis=1))
        track.times.append(b)
    return track
