"""Where elements end along an axis: at every jump, and close together around narrow features."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..equation.scan import Line

_STEEPEST = 1.5
"""Smallest ratio by which elements grow away from a narrow place."""


def panel_edges(
    line: Line, elements: int, *, corners: Sequence[float] = (), depth: float = 0.0
) -> np.ndarray:
    """Ends of elements no longer than the axis over `elements`.

    They end at jumps and kinks, and grow by a ratio away from pulses, from the length of these on, and from
    `corners`, from `depth` times the axis on. More elements grow more slowly.
    """
    low, high = line.low, line.high
    longest = (high - low) / elements
    ratio = max(_STEEPEST, 1 + 16 / elements)
    cuts = {low, high}
    for feature in line.features:
        if feature.length == 0:
            cuts.add(feature.begin)
            continue
        pieces = math.ceil((feature.end - feature.begin) / (4 * feature.length) * ratio)
        cuts.update(np.linspace(feature.begin, feature.end, pieces + 1).tolist())
        width = 4 * feature.length
        cuts.update(_away(feature.begin, -1, width, ratio, longest))
        cuts.update(_away(feature.end, 1, width, ratio, longest))
    for corner in corners:
        for side in (-1, 1):
            cuts.update(_away(corner, side, depth * (high - low), ratio, longest))
    kept = np.unique([c for c in cuts if low <= c <= high])
    apart = np.append(np.diff(kept) > 1e-12 * (high - low), True)
    apart[0] = True
    edges = kept[apart]
    edges[-1] = high
    pieces = np.ceil(np.diff(edges) / longest - 1e-9).astype(int)
    parts = [a + (b - a) * np.arange(n) / n for a, b, n in zip(edges[:-1], edges[1:], pieces, strict=True)]
    return np.append(np.concatenate(parts), high)


def _away(place: float, side: int, width: float, ratio: float, longest: float) -> list[float]:
    """Cuts at growing distances from a place, until they are as far apart as elements may be."""
    found, step, at = [], width, place
    while step < longest:
        at += side * step
        found.append(at)
        step *= ratio
    return found
