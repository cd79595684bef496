"""Measurements: values of fields, or of quantities derived from them, at times and places."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ProblemError

NOISE = "noise"


@dataclass(frozen=True, eq=False, init=False)
class Measurements:
    """Measured values at times t and places x, …, scattered or on a grid.

        Measurements(t, x, u=values)                                  # one value per point, or times × places
        Measurements(t, x, u=u, v=v, noise={"u": 0.01, "v": 0.1})       # NaN marks what is missing
        Measurements(t, x, flux=q, observe=lambda u, k: -k * u.x)       # a derived quantity

    Args:
        t, *space: coordinates: all of one length, one entry per point; or the axes of a grid, where values
            have the shape (times, x, …). A number counts for all points.
        noise: the standard deviation where it is known: a number, an array, or either for each name. What
            has none is estimated, for each name apart.
        observe: what is measured if it is not a field: a function of fields, coordinates and parameters, or
            one for each name.
        settings: values of the problem's known parameters in this experiment.
        name: what messages call the experiment.
        **values: the measured values by field or by the name of what `observe` gives.
    """

    points: np.ndarray
    """Rows (t, x, …)."""
    values: Mapping[str, np.ndarray]
    """For each name one number per point, NaN where it is missing."""
    noise: Mapping[str, np.ndarray | None]
    """The standard deviation of each value; None where it is to be estimated."""
    observe: Mapping[str, Callable[..., Any]]
    settings: Mapping[str, float] = field(default_factory=dict)
    name: str = "measurements"

    def __init__(
        self,
        t: Any,
        *space: Any,
        noise: Any = None,
        observe: Any = None,
        settings: Mapping[str, float] | None = None,
        name: str = "measurements",
        **values: Any,
    ):
        if not values:
            raise ProblemError("Measurements hold values by name, as in Measurements(t, x, u=values).")
        axes = [_numbers(c, f"coordinate {i}") for i, c in enumerate((t, *space))]
        given = {key: _numbers(v, f"'{key}'", complex_too=True) for key, v in values.items()}
        points, count = _points(axes, given)
        flat = {
            key: np.broadcast_to(v, count).ravel() if v.ndim == 0 else v.ravel() for key, v in given.items()
        }
        if not np.isfinite(points).all():
            raise ProblemError("A coordinate of the measurements is not finite. Leave such points out.")
        for key, v in flat.items():
            if np.isinf(v).any():
                raise ProblemError(f"A measured value of '{key}' is infinite. Mark missing values by NaN.")
            if np.isnan(v).all():
                raise ProblemError(f"All measured values of '{key}' are missing.")
        for name_, value in {
            "points": points,
            "values": flat,
            "noise": {key: _noise(noise, key, given[key].shape, flat) for key in flat},
            "observe": _observed(observe, flat),
            "settings": dict(settings or {}),
            "name": name,
        }.items():
            object.__setattr__(self, name_, value)

    @classmethod
    def read(cls, path: str | Path, **options: Any) -> Measurements:
        """Measurements from a CSV or NetCDF file: columns t, x, …, and one for each measured field.

        Columns `noise` or `u_noise` are standard deviations; empty cells are missing.
        """
        from .reading import read_measurements

        return read_measurements(path, **options)

    @classmethod
    def from_xarray(cls, data: Any, **options: Any) -> Measurements:
        """Measurements from an `xarray.Dataset` with coordinates t, x, …."""
        from .reading import from_xarray

        return from_xarray(data, **options)

    @property
    def count(self) -> int:
        """How many numbers were measured."""
        return int(sum(np.isfinite(v).sum() for v in self.values.values()))

    def __repr__(self) -> str:
        return f"Measurements({self.name}: {', '.join(self.values)} at {len(self.points)} points)"


def _numbers(given: Any, what: str, *, complex_too: bool = False) -> np.ndarray:
    try:
        array = np.asarray(given)
        return array.astype(complex if complex_too and np.iscomplexobj(array) else float)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"{what} of the measurements is not an array of numbers.") from error


def _points(axes: list[np.ndarray], values: Mapping[str, np.ndarray]) -> tuple[np.ndarray, tuple[int, ...]]:
    """Rows (t, x, …) and the shape of the values they go with."""
    shapes = {v.shape for v in values.values() if v.ndim}
    if len(shapes) > 1:
        told = ", ".join(f"'{k}' has shape {v.shape}" for k, v in values.items())
        raise ProblemError(f"Measured values must have one shape, but {told}. Mark missing values by NaN.")
    shape = shapes.pop() if shapes else np.broadcast_shapes(*(a.shape for a in axes))
    grid = tuple(len(a) if a.ndim == 1 else 0 for a in axes)
    if len(axes) > 1 and shape == grid:
        mesh = np.meshgrid(*axes, indexing="ij")
        return np.stack([m.ravel() for m in mesh], axis=1), shape
    try:
        return np.stack([np.broadcast_to(a, shape).ravel() for a in axes], axis=1), shape
    except ValueError:
        raise ProblemError(
            f"Values of shape {shape} do not go with coordinates of shapes "
            f"{', '.join(str(a.shape) for a in axes)}: give one value per point, or times × places on a grid."
        ) from None


def _noise(given: Any, name: str, shape: tuple[int, ...], values: Mapping[str, Any]) -> np.ndarray | None:
    if isinstance(given, Mapping):
        unknown = [key for key in given if key not in values]
        if unknown:
            raise ProblemError(f"The noise of '{unknown[0]}' is given, but it was not measured.")
        given = given.get(name)
    if given is None:
        return None
    noise = _numbers(given, f"the noise of '{name}'")
    try:
        noise = np.broadcast_to(noise, shape).ravel()
    except ValueError:
        raise ProblemError(f"The noise of '{name}' has shape {noise.shape}, its values {shape}.") from None
    if not ((noise > 0) & np.isfinite(noise)).all():
        raise ProblemError(
            f"The noise of '{name}' must be positive standard deviations. Leave it out to have it estimated."
        )
    return noise


def _observed(given: Any, values: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    if given is None:
        return {}
    if callable(given):
        if len(values) != 1:
            raise ProblemError(
                f"observe is one function, but {', '.join(values)} were measured: give "
                "observe={name: function}."
            )
        return {next(iter(values)): given}
    for key, function in dict(given).items():
        if key not in values or not callable(function):
            raise ProblemError(
                f"observe gives functions by the names of measured values, but '{key}' is none."
            )
    return dict(given)
