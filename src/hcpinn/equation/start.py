"""The derivatives of the initial data, of u₀ and of the initial velocity, and the slopes of F on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jaxtyping import Array

from ..problem import Index, Problem
from .derivatives import Jet, nested
from .probes import Slot, slopes, slots


def initial_jet(problem: Problem, coordinates: Array, indices: Iterable[Index]) -> Jet:
    """Derivatives of u in real components at the start, at coordinates (t, which does not count, first).

    Those of order 1 in time are of the velocity, for an equation of second order in time.
    """
    found: Jet = {}
    for order, data in enumerate((problem.initial_values, problem.initial_velocities)):
        own = [index for index in indices if index[0] == order]
        if own:
            still = [(0, *index[1:]) for index in own]

            def values(c: Array, data: Any = data) -> Array:
                return problem.to_components(data(list(c.T[1:])))

            jet = nested(values, coordinates, still)
            found |= {index: jet[place] for index, place in zip(own, still, strict=True)}
    return found


def initial_slopes(
    problem: Problem, coordinates: Array, *, conjugate: bool = False
) -> dict[tuple[int, Slot], Array]:
    """∂F_f/∂D on the initial state at coordinates (t, x, …), by field f and argument D; see `slopes`."""
    jet = initial_jet(problem, coordinates, problem.derivatives)
    fields = {index: problem.to_fields(values) for index, values in jet.items()}
    values = {(n, i): fields[i][n] for n, i in slots(problem)}
    return slopes(problem, values, list(coordinates.T), slots(problem), conjugate=conjugate)
