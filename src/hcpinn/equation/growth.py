"""How fast a problem can change: the largest rate at which small waves on its initial state grow."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import numpy as np
from jaxtyping import Array

from ..machine.precision import double
from ..problem import Problem
from .derivatives import nested
from .probes import slopes, slots

_PLACES, _WAVES = 64, 48


def _start(problem: Problem, coordinates: Array) -> Array:
    return problem.to_components(problem.initial_values(list(coordinates.T[1:])))


def _slopes(problem: Problem, points: Array) -> list[dict[Any, Array]]:
    """The slopes of F on the initial state, and those with respect to conjugates."""
    jet = nested(lambda c: _start(problem, c), points, problem.derivatives)
    fields = {index: problem.to_fields(values) for index, values in jet.items()}
    values = {(n, i): fields[i][n] for n, i in slots(problem)}
    at = [points[:, i] for i in range(len(problem.axes))]
    return [slopes(problem, values, at, slots(problem), conjugate=c) for c in (False, True)]


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
        direct, mirrored = jax.jit(partial(_slopes, problem))(points)
    count = len(problem.fields)
    highest = 0.0
    shortest = min(problem.domain.lengths)
    for number in np.concatenate([[0.0], np.geomspace(1.0, 4096.0, _WAVES)]):
        wave = 2 * np.pi * number / shortest
        matrix = np.zeros((_PLACES, count, count), complex)
        for (target, (source, index)), slope in direct.items():
            # Only waves along the first axis: oblique ones grow no faster in the equations of the catalogue.
            if not any(index[2:]):
                matrix[:, target, source] += np.asarray(slope) * (1j * wave) ** index[1]
        rates = np.real(np.linalg.eigvals(matrix)).max(axis=1)
        for (target, (source, index)), slope in mirrored.items():
            if target == source and not any(index[1:]):
                rates = rates + np.abs(np.asarray(slope))
        highest = max(highest, float(np.max(rates)))
    return highest
