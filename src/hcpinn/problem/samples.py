"""Measured values on a grid as data of a problem: a smooth function through all of them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..errors import ProblemError

_DEGREES = (5, 3, 1)
_NEAR = 1e-9
"""Of an axis: what a grid may miss of it."""


class Samples:
    """Values on a grid, interpolated by splines of degree 5: four times differentiable, exact at every place.

    initial=hcpinn.Samples(values, x=positions)
    boundary=hcpinn.Dirichlet(hcpinn.Samples(readings, t=times))
    initial=hcpinn.Samples(table, x=positions, y=heights)      # table[i, j] at x[i], y[j]
    """

    def __init__(self, values: Any, *, periodic: Sequence[str] = (), **grids: Any):
        """Args:
        values: an array with one axis for each grid, in the order in which they are given.
        periodic: the coordinates along which they repeat. Initial data know it from the problem.
        grids: by coordinate (`t`, `x`, `y`, `z`) the increasing places of the values.
        """
        table = np.asarray(values)
        if table.dtype.kind not in "biufc" or not np.isfinite(table).all():
            raise ProblemError("The values of Samples must be finite numbers. Leave gaps in the data out.")
        self.given, self.periodic = table, tuple(periodic)
        self.grids = {name: np.asarray(grid, float) for name, grid in grids.items()}
        shape = tuple(np.size(grid) for grid in self.grids.values())
        if not grids or table.shape != shape:
            said = ", ".join(f"{name}: {size}" for name, size in zip(grids, shape, strict=True)) or "none"
            raise ProblemError(
                f"Samples has values of shape {table.shape} on grids of lengths {said}. Give one grid for "
                "each axis of the values, in their order: Samples(values, x=positions)."
            )
        for name, grid in self.grids.items():
            if len(grid) < 2 or not (np.isfinite(grid).all() and (np.diff(grid) > 0).all()):
                raise ProblemError(
                    f"The grid {name} of Samples needs at least two places, each larger than the last."
                )
        self.splines, self.coefficients = [], table
        for axis, (name, grid) in enumerate(self.grids.items()):
            spline, self.coefficients = _fit(grid, self.coefficients, axis, name in self.periodic)
            self.splines.append(spline)

    @property
    def __signature__(self) -> inspect.Signature:
        """Its arguments are its coordinates."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(name, kind) for name in self.grids])

    def __call__(self, *places: Any) -> Array:
        """The value at places, traceable and differentiable."""
        shape = jnp.broadcast_shapes(*(jnp.shape(p) for p in places))
        flat = [jnp.broadcast_to(jnp.asarray(p, jnp.result_type(float, p)), shape).ravel() for p in places]
        found = [spline.functions(at) for spline, at in zip(self.splines, flat, strict=True)]
        index: list[Array] = []
        for number, (first, values) in enumerate(found):
            own = first[:, None] + jnp.arange(values.shape[1])
            index.append(own.reshape(len(own), *(-1 if i == number else 1 for i in range(len(found)))))
        total = jnp.asarray(self.coefficients)[tuple(index)]
        for _, values in reversed(found):
            total = jnp.einsum("n...k,nk->n...", total, values)
        return total.reshape(shape)

    def along(self, bounds: Mapping[str, tuple[float, float]], periodic: Sequence[str]) -> Samples:
        """The same values repeating along some axes, of which the last place may be left out."""
        values, grids = self.given, dict(self.grids)
        for axis, name in enumerate(self.grids):
            if name not in periodic or name in self.periodic:
                continue
            grid, length = grids[name], bounds[name][1] - bounds[name][0]
            first = np.take(values, [0], axis=axis)
            if grid[-1] - grid[0] < length * (1 - _NEAR):
                grids[name] = np.append(grid, grid[0] + length)
                values = np.concatenate([values, first], axis=axis)
        return Samples(values, periodic=[n for n in grids if n in periodic or n in self.periodic], **grids)

    def check(self, role: str, bounds: Mapping[str, tuple[float, float]]) -> None:
        """Refuse coordinates that the data cannot depend on, and grids that cover only part of an axis."""
        for name, grid in self.grids.items():
            if name not in bounds:
                raise ProblemError(
                    f"{role} has samples along {name}, but can depend on {', '.join(bounds)} alone."
                )
            low, high = bounds[name]
            slack = _NEAR * (high - low)
            if name not in self.periodic and (grid[0] > low + slack or grid[-1] < high - slack):
                raise ProblemError(
                    f"{role} has samples from {name} = {grid[0]:g} to {grid[-1]:g}, but needs them from "
                    f"{low:g} to {high:g}. Nothing is assumed outside of the samples."
                )

    def note(self, role: str) -> str:
        """What was made of them, in a sentence."""
        axes = [
            f"{len(grid)} along {name}{', periodic' if name in self.periodic else ''}"
            for name, grid in self.grids.items()
        ]
        return (
            f"{role}: values on a grid ({' × '.join(axes)}) are taken as exact, noise included, and "
            f"joined by splines of degree {' and '.join(dict.fromkeys(str(s.degree) for s in self.splines))}."
        )


@dataclass(frozen=True, eq=False)
class _Spline:
    """B-splines along one axis, as polynomials between knots."""

    knots: np.ndarray
    pieces: np.ndarray
    """Powers of the distance from a knot, highest first, × intervals × the splines there."""
    period: float
    """0 where they do not repeat."""

    @property
    def degree(self) -> int:
        return len(self.pieces) - 1

    def functions(self, x: Array) -> tuple[Array, Array]:
        """For each place the number of the first spline that is not zero there, and all values."""
        knots = jnp.asarray(self.knots, x.dtype)
        if self.period:
            x = x - self.period * jnp.floor((x - knots[0]) / self.period)
        place = jnp.clip(jnp.searchsorted(knots, x, side="right") - 1, 0, len(self.knots) - 2)
        since = (x - knots[place])[:, None]
        value: Any = 0.0
        for power in self.pieces:
            value = value * since + jnp.asarray(power, x.dtype)[place]
        return place, value


def _fit(grid: np.ndarray, values: np.ndarray, axis: int, periodic: bool) -> tuple[_Spline, np.ndarray]:
    """The splines along one axis, and their coefficients in place of the values."""
    # SciPy takes long to import.
    from scipy.interpolate import BSpline, make_interp_spline

    degree = next(k for k in _DEGREES if len(grid) > k)
    found = make_interp_spline(
        grid, np.moveaxis(values, axis, 0), k=degree, bc_type="periodic" if periodic else None
    )
    knots = found.t[degree : len(found.t) - degree]
    nodes = (np.arange(degree + 1) + 0.5) / (degree + 1)
    at = knots[:-1, None] + nodes * np.diff(knots)[:, None]
    table = BSpline.design_matrix(at.ravel(), found.t, degree).data.reshape(*at.shape, degree + 1)
    powers = np.einsum("pq,iqs->pis", np.linalg.inv(np.vander(nodes)), table)
    powers /= np.diff(knots)[None, :, None] ** np.arange(degree, -1, -1)[:, None, None]
    spline = _Spline(knots, powers, float(grid[-1] - grid[0]) if periodic else 0.0)
    return spline, np.moveaxis(found.c, 0, axis)


def settled(data: Any, problem: Any, role: str) -> Any:
    """Initial data with arrays as samples on an even grid over the domain, and periodic where it is."""
    axes, bounds = problem.space, dict(zip(problem.space, problem.domain.bounds, strict=True))
    ends = problem.boundaries or (None,) * len(axes)  # which curved domains lack
    repeats = [axis for axis, own in zip(axes, ends, strict=True) if own is not None and own.periodic]
    if isinstance(data, tuple | list):
        return type(data)(settled(item, problem, role) for item in data)
    if isinstance(data, np.ndarray | Array) and np.ndim(data):
        values = np.asarray(data)
        if values.ndim == len(axes) + 1 and len(values) == len(problem.fields):
            return tuple(settled(own, problem, role) for own in values)
        if values.ndim != len(axes):
            raise ProblemError(
                f"{role} is an array of shape {values.shape}, but {problem.name} has the space axes "
                f"{', '.join(axes)}: give an array with one axis for each, or "
                f"Samples(values, {', '.join(f'{a}=…' for a in axes)})."
            )
        grids = {}
        for axis, size in zip(axes, values.shape, strict=True):
            low, high = bounds[axis]
            at_ends = np.take(values, [0, -1], axis=axes.index(axis))
            closed = np.abs(np.diff(at_ends, axis=axes.index(axis))).max() <= _NEAR * np.abs(values).max()
            grids[axis] = np.linspace(low, high, size, endpoint=axis not in repeats or bool(closed))
        data = Samples(values, **grids)
    if isinstance(data, Samples):
        data = data.along(bounds, repeats)
        data.check(role, bounds)
    return data


def samples_in(data: Any) -> list[Samples]:
    """All samples among some data."""
    if isinstance(data, tuple | list):
        return [found for item in data for found in samples_in(item)]
    return [data] if isinstance(data, Samples) else []
