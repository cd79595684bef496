"""What a figure shows: real components on a grid, and panels of them in colours that do not mislead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .canvas import ERRORS, SIGNED, UNSIGNED

if TYPE_CHECKING:
    from .solution import Solution

_UNSIGNED = 1e-3
"""The share of its largest value up to which a field may cross zero and still count as of one sign."""

_CONSTANT = 1e-12
"""The share of its largest value by which a constant field may vary."""

_DECADES = 4
"""How far below the largest error the colours of errors reach."""

_SLENDER = 4.0
"""Up to this ratio of its sides a plane is drawn to scale."""


@dataclass(frozen=True)
class Shown:
    """What a figure shows: each real component on the grid; of three dimensions, the middle plane of z."""

    times: np.ndarray
    """Those that are drawn: all on an interval, else the start, the middle and the end."""
    x: np.ndarray
    y: np.ndarray | None
    """None on an interval."""
    predicted: Mapping[str, np.ndarray]
    exact: Mapping[str, np.ndarray] | None
    label: Callable[[str], str] = str
    """What axes and components are called, with their units."""
    plane: str = ""
    """Which plane of three dimensions, as titles have it."""
    cut: Any = None
    """What pictures in the plane are cut out by, where the domain is curved."""

    @classmethod
    def of(cls, solution: Solution) -> Shown:
        """What a figure of a solution shows: on the grid of its reference, if it has one."""
        from .solution import grid_axes

        problem, reference = solution.problem, solution.reference
        dimensions = len(problem.space)
        if reference is None:
            times, *space = grid_axes(problem, 101 if dimensions == 1 else 3)
        else:
            times, space = reference.times, list(reference.coordinates)
        keep = np.arange(len(times)) if dimensions == 1 else np.array([0, len(times) // 2, len(times) - 1])
        plane = len(space[2]) // 2 if dimensions == 3 else None
        drawn = [*space[:2], space[2][plane : plane + 1]] if plane is not None else space
        predicted = problem.real_parts(solution.on_grid(times[keep], *drawn))
        exact = None
        if reference is not None:
            values = {
                n: v[keep] if plane is None else v[keep][..., plane : plane + 1]
                for n, v in reference.values.items()
            }
            exact = problem.real_parts(values)
        if plane is not None:
            predicted = {n: v[..., 0] for n, v in predicted.items()}
            exact = None if exact is None else {n: v[..., 0] for n, v in exact.items()}
        second = space[1] if dimensions > 1 else None
        where = "" if plane is None else f", z = {space[2][plane]:.3g}"
        return cls(times[keep], space[0], second, predicted, exact, problem.label, where, problem.domain.cut)

    @property
    def picks(self) -> tuple[int, int, int]:
        """Which of the times are the start, the middle and the end."""
        return 0, len(self.times) // 2, len(self.times) - 1

    @property
    def line(self) -> str:
        """Where profiles along x are taken, as titles have it."""
        return "" if self.y is None else f", y = {self.y[len(self.y) // 2]:.3g}{self.plane}"

    def profile(self, values: np.ndarray, pick: int) -> np.ndarray:
        """The values along x at one of the times."""
        return values[pick] if values.ndim == 2 else values[pick][:, values.shape[2] // 2]

    def panel(
        self, axis: Any, values: np.ndarray, title: str, colours: Mapping[str, Any], *, bar: bool = True
    ) -> None:
        """Draw values over (t, x), or over (x, y), with a bar that says what the colours mean."""
        across, up = (self.times, self.x) if self.y is None else (self.x, self.y)
        image = axis.pcolormesh(across, up, filled(values), shading="gouraud", rasterized=True, **colours)
        if self.cut is not None:
            image.set_clip_path(self.cut, axis.transData)
        if bar:
            bar_beside(axis, image)
        axis.set_title(title)
        axis.set_xlabel(self.label("t" if self.y is None else "x"))
        axis.set_ylabel(self.label("x" if self.y is None else "y"))
        if self.y is not None:
            to_scale(axis, self.x, self.y)

    def error_panel(self, axis: Any, difference: np.ndarray, title: str) -> None:
        """Draw the absolute value of a difference on a logarithmic scale."""
        from matplotlib.colors import LogNorm

        error = np.abs(difference)
        largest = float(np.nanmax(error)) or 1.0
        smallest = largest / 10**_DECADES
        colours = {"cmap": ERRORS, "norm": LogNorm(smallest, largest)}
        self.panel(axis, np.maximum(error, smallest), title, colours)


def filled(values: np.ndarray) -> np.ndarray:
    """Values with those missing outside a curved domain filled in from the nearest, before clipping."""
    missing = np.isnan(values)
    if not missing.any() or missing.all():
        return values
    from scipy.ndimage import distance_transform_edt

    nearest = distance_transform_edt(missing, return_distances=False, return_indices=True)
    return values[tuple(np.asarray(nearest))]


def field_colours(values: np.ndarray) -> dict[str, Any]:
    """How to colour a field: a diverging map centred on zero if it is signed, else a sequential one."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    most = max(abs(low), abs(high))
    if low < -_UNSIGNED * most and high > _UNSIGNED * most:
        return {"cmap": SIGNED, "vmin": -most, "vmax": most}
    if high - low <= _CONSTANT * most:  # one colour, and numbers around it at the bar
        margin = 0.1 * (most or 1.0)
        return {"cmap": UNSIGNED, "vmin": low - margin, "vmax": high + margin}
    return {"cmap": UNSIGNED, "vmin": low, "vmax": high}


def bar_beside(axis: Any, image: Any) -> None:
    """A bar as high as the panel, whatever its shape, that says what the colours of an image mean."""
    axis.figure.colorbar(image, cax=axis.inset_axes((1.03, 0.0, 0.05, 1.0)))


def to_scale(axis: Any, x: np.ndarray, y: np.ndarray) -> None:
    """Draw a plane with equal units along both axes, unless it is long and thin."""
    ratio = float(np.ptp(x) / np.ptp(y))
    if 1 / _SLENDER <= ratio <= _SLENDER:
        axis.set_aspect("equal")
