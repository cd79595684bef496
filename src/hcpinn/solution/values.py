"""Values of a function at coordinates of any shape, and on grids."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

from ..errors import ProblemError
from ..machine.precision import double
from ..outcome import Function
from ..problem import Problem

_BATCH = 1 << 16
"""Points evaluated at once."""

_SLACK = 1e-6
"""How far beyond an end, as a share of the length, a coordinate may lie by rounding."""


def evaluate(
    problem: Problem, function: Callable[[Array], Array], coordinates: Sequence[Any]
) -> tuple[Any, ...]:
    """Each field of a function of rows (t, x, …), in the common shape of the coordinates.

    NumPy arrays for numbers, traced arrays for traced ones.
    """
    axes = problem.axes
    if len(coordinates) != len(axes):
        raise ProblemError(
            f"{problem.name} has the coordinates {', '.join(axes)}, but {len(coordinates)} were given."
        )
    if any(isinstance(value, Tracer) for value in coordinates):
        shape, points = _rows([jnp.asarray(v) for v in coordinates], jnp)
        found = function(points)
    else:
        with double():
            shape, points = _rows([real(v) for v in coordinates], np)
            parts = [
                np.asarray(function(jnp.asarray(points[i : i + _BATCH])))
                for i in range(0, max(len(points), 1), _BATCH)
            ]
        found = np.concatenate(parts)
    return tuple(value.reshape(shape) for value in problem.to_fields(found))


def on_grid(problem: Problem, function: Function, *axes: Any) -> dict[str, np.ndarray]:
    """Values on the grid of all given times and positions: field → array (times, x, …), NaN outside."""
    own = getattr(function, "on_grid", None)
    if own is not None:  # an engine whose function is a product over axes is far quicker on grids
        with double():
            values = problem.to_fields(jnp.moveaxis(own(*(real(axis) for axis in axes)), 0, -1))
        return {name: np.asarray(value) for name, value in zip(problem.fields, values, strict=True)}
    zero = (0,) * len(problem.axes)
    mesh = np.meshgrid(*(real(axis) for axis in axes), indexing="ij")
    values = evaluate(problem, lambda points: function.derivative(points, zero), mesh)
    if not problem.domain.product:
        inside = problem.domain.mask(np.stack([m.ravel() for m in mesh[1:]], axis=1)).reshape(mesh[0].shape)
        values = tuple(np.where(inside, value, np.nan) for value in values)
    return dict(zip(problem.fields, values, strict=True))


def warn_outside(problem: Problem, coordinates: Sequence[Any]) -> None:
    """Warn of numbers beyond the horizon or the ends of an axis, unless the solution repeats itself there.

    Traced coordinates are not known yet, and of a curved domain its bounding box counts.
    """
    domain = problem.domain
    spans = {
        "t": (float(problem.start), float(problem.horizon)),
        **dict(zip(problem.space, domain.bounds, strict=True)),
    }
    if domain.product:
        spans = {
            n: s
            for n, s in spans.items()
            if n == "t" or not problem.boundaries[problem.space.index(n)].periodic
        }
    for name, value in zip(problem.axes, coordinates, strict=False):
        if name not in spans or isinstance(value, Tracer) or np.size(value) == 0:
            continue
        (low, high), found = spans[name], real(value)
        slack = _SLACK * (high - low)
        if found.min() < low - slack or found.max() > high + slack:
            worst = found.min() if low - found.min() > found.max() - high else found.max()
            warnings.warn(
                f"{name} = {worst:g} lies outside of {low:g} ≤ {name} ≤ {high:g}, where {problem.name} was "
                "solved. The value there means nothing.",
                stacklevel=_outward(),
            )


def _outward() -> int:
    """How many calls up the one who calls hcpinn is, from where a warning is given."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("hcpinn."):
        frame, level = frame.f_back, level + 1
    return level


def real(value: Any) -> np.ndarray:
    """Coordinates as an array of numbers."""
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError) as error:
        raise ProblemError(
            f"A coordinate must be a number or an array of numbers, but is {value!r}."
        ) from error


def _rows(coordinates: Sequence[Any], module: Any) -> tuple[tuple[int, ...], Any]:
    """The common shape of the coordinates, and one row per point."""
    try:
        arrays = module.broadcast_arrays(*coordinates)
    except ValueError as error:
        shapes = ", ".join(str(np.shape(c)) for c in coordinates)
        raise ProblemError(
            f"The coordinates have shapes {shapes}, which do not broadcast together."
        ) from error
    return arrays[0].shape, module.stack([a.reshape(-1) for a in arrays], axis=1)
