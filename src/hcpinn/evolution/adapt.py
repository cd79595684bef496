"""Where an axis needs fronts: a density of features from a coarse solution."""

from __future__ import annotations

import numpy as np

from .projection import Projection
from .radau import Track

_PLACES, _TIMES = 2001, 60


def densities(projection: Projection, track: Track, accuracy: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each axis (positions, density): the largest over time of |wₓ| and √|wₓₓ|, over max |w|, w = u − ψ.

    The density is the reciprocal of the shortest length on which w changes; the rest of the axis gets at
    least a third of its mean. Anything below `accuracy` relative to u may be rounding, and is ignored.
    """
    times = np.unique(np.concatenate([track.times, np.linspace(track.times[0], track.times[-1], _TIMES)[1:]]))
    times = times[:: max(1, len(times) // (2 * _TIMES))]
    states = track.at(times).T
    result = []
    for axis, bases in enumerate(projection.bases):
        low, high = projection.problem.domain.bounds[axis]
        x = np.linspace(low, high, _PLACES if len(projection.bases) == 1 else 401)
        shape = (projection.count, *projection.ranks, len(times))
        array = np.moveaxis(states.reshape(shape), axis + 1, 1)
        largest = np.zeros((3, len(x)))
        for kind, layer in enumerate(bases.layers.kinds):
            flat = np.moveaxis(array[np.equal(bases.of, kind)], 1, 0).reshape(bases.rank, -1)
            if (
                len(projection.bases) > 1
            ):  # the other axes' functions are orthonormal: their norm is that of c
                top = np.linalg.svd(flat, full_matrices=False)
                keep = top[1] > 1e-10 * max(top[1][0], 1e-300)
                flat = top[0][:, keep] * top[1][keep]
            found = [np.abs(f @ flat).max(axis=1, initial=0.0) for f in layer.derivatives(x, 2)]
            largest = np.maximum(largest, found)
        value, slope, bend = largest
        least = accuracy * float(projection.scale.max()) / np.sqrt(high - low)
        size = max(float(value.max()), least, 1e-300)
        local = np.maximum(slope / size, np.sqrt(bend / size))
        width = max(len(x) // 400, 1)
        around = np.lib.stride_tricks.sliding_window_view(np.pad(local, width, mode="edge"), 2 * width + 1)
        local = around.max(axis=1)
        result.append((x, local + local.mean() / 3))
    return result
