"""How smooth periodic initial data are: how many modes they need, and what jumps where the period closes."""

from __future__ import annotations

import numpy as np

from ..equation.projection import initial_values, mode_numbers
from ..problem import Problem
from .nodes import chebyshev_points, differentiation_matrix

_PANEL_DEGREE = 12
_TRUST = (1e-8, 1e-6, 1e-4)
"""Relative gaps of value, slope and second derivative that rounding cannot explain."""


def sample(problem: Problem, modes: int, half: bool) -> np.ndarray:
    """Roughly the Fourier coefficients of u(0, ·), from samples: enough to see how they decay."""
    count = 2 * modes + 1
    axes = [
        a + length * np.arange(count) / count
        for a, length in zip(problem.domain.lower, problem.domain.lengths, strict=True)
    ]
    values = initial_values(problem, axes)
    transform = np.fft.rfftn if half else np.fft.fftn
    return transform(values, axes=range(1, values.ndim), norm="forward")


def needed_modes(coefficients: np.ndarray, tolerance: float, half: bool) -> int | None:
    """The smallest K beyond which the coefficients of every field are below the tolerance.

    None if even the highest ones given are not: the data are rough, or vary very fast.
    """
    dimensions = coefficients.ndim - 1
    modes = coefficients.shape[-1] - 1 if half else coefficients.shape[-1] // 2
    reach = np.zeros(coefficients.shape[1:], dtype=int)
    for axis, k in enumerate(mode_numbers(modes, dimensions, half)):
        reach = np.maximum(reach, np.abs(k).reshape([-1 if a == axis else 1 for a in range(dimensions)]))
    needed = 0
    for values in coefficients:
        energy = np.bincount(reach.ravel(), weights=np.abs(values.ravel()) ** 2, minlength=modes + 1)
        beyond = np.append(np.cumsum(energy[::-1])[::-1], 0.0)
        # A sum of energies cannot show less than rounding; treat anything below it as zero.
        small = beyond[1:] <= max(tolerance, 1e-15) ** 2 * max(beyond[0], 1e-300)
        needed = max(needed, int(np.argmax(small)))
    return needed if needed < 0.9 * modes else None


def seam_notes(problem: Problem) -> tuple[str, ...]:
    """A sentence for each field and axis whose periodic continuation is not smooth at the seam."""
    notes = []
    for axis, name in enumerate(problem.space):
        jumps = _seam_jumps(problem, axis)
        for field, jump in zip(problem.fields, jumps, strict=True):
            if jump is not None:
                order, size = jump
                what = ("jump", "slope jump", "jump in the second derivative")[order]
                notes.append(
                    f"The initial data of '{field}', continued periodically, have a {what} of {size:.4g} at "
                    f"{name} = {problem.domain.lower[axis]:g}; their Fourier coefficients decay only like "
                    f"k^-{order + 1}. The start is computed with graded steps; the data at t = 0 are exact."
                )
    return tuple(notes)


def _seam_jumps(problem: Problem, axis: int) -> list[tuple[int, float] | None]:
    """Per field, order and size of the first derivative of u₀ that differs at the ends of an axis.

    Derivatives come from interpolation at Chebyshev points of a short panel at each end,
    so that the data need not be traceable by JAX. Other axes are sampled on a few lines.
    """
    lower, upper = problem.domain.lower[axis], problem.domain.upper[axis]
    width = (upper - lower) / 32
    sections = [
        a + length * (np.arange(5) + 0.37) / 5
        for a, length in zip(problem.domain.lower, problem.domain.lengths, strict=True)
    ]

    def panel(start: float) -> np.ndarray:
        axes = list(sections)
        axes[axis] = chebyshev_points(start, start + width, _PANEL_DEGREE)
        values = np.moveaxis(initial_values(problem, axes), axis + 1, 1)
        return values.reshape(*values.shape[:2], -1)

    at_lower, at_upper = panel(lower), panel(upper - width)
    derivative = differentiation_matrix(0.0, width, _PANEL_DEGREE)
    found: list[tuple[int, float] | None] = [None] * len(problem.fields)
    for order, trust in enumerate(_TRUST):
        for number in range(len(found)):
            gap = float(np.abs(at_lower[number, 0] - at_upper[number, -1]).max())
            scale = max(float(np.abs(v[number]).max()) for v in (at_lower, at_upper))
            if found[number] is None and gap > trust * scale:
                found[number] = (order, gap)
        at_lower, at_upper = derivative @ at_lower, derivative @ at_upper
    return found
