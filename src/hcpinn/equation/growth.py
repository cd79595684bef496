"""How fast a problem can change: the largest rate at which small waves on its initial state grow."""

from __future__ import annotations

import jax
import numpy as np

from ..machine.precision import double
from ..problem import Problem
from .start import initial_slopes

_PLACES, _WAVES = 64, 48


def growth_rate(problem: Problem) -> float:
    """max Re s over waves e^{st + iκx} on u₀, with F linearised and frozen at each of some places.

    It is the rate at which an error made early can grow: stiff fronts, pattern formation and
    focusing have a large one, diffusion and transport none.
    """
    rng = np.random.default_rng(0)
    # Away from the ends, where continued data may have a kink.
    inside = problem.domain.inside(0.01 + 0.98 * rng.random((_PLACES, problem.domain.dimension)))
    with double():
        points = np.column_stack([np.full(_PLACES, problem.start), inside])
        direct, mirrored = jax.jit(
            lambda at: [initial_slopes(problem, at, conjugate=c) for c in (False, True)]
        )(points)
    count, order = len(problem.fields), problem.order
    highest = 0.0
    shortest = min(problem.domain.lengths)
    for number in np.concatenate([[0.0], np.geomspace(1.0, 4096.0, _WAVES)]):
        wave = 2 * np.pi * number / shortest
        # With u_t an unknown of its own for the second order: its rate is F, and that of u is it.
        matrix = np.zeros((_PLACES, order * count, order * count), complex)
        for field in range((order - 1) * count):
            matrix[:, field, count + field] = 1.0
        for (target, (source, index)), slope in direct.items():
            # Only waves along the first axis: oblique ones grow no faster in the equations of the catalogue.
            if not any(index[2:]):
                row, column = (order - 1) * count + target, index[0] * count + source
                matrix[:, row, column] += np.asarray(slope) * (1j * wave) ** index[1]
        # Data with a kink, such as √max(x, 0), have no slopes in places.
        smooth = np.isfinite(matrix).all(axis=(1, 2))
        rates = np.zeros(_PLACES)
        rates[smooth] = np.real(np.linalg.eigvals(matrix[smooth])).max(axis=1, initial=-np.inf)
        for (target, (source, index)), slope in mirrored.items():
            if target == source and not any(index[1:]):
                rates = rates + np.abs(np.asarray(slope))
        highest = max(highest, float(np.nanmax(rates)))
    return highest
