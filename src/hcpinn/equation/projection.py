"""Fourier coefficients of the initial data by quadrature, and how smooth their continuation is.

The coefficients are projections, c_k = 1/P ∫ u₀(x) e^{−2πik(x−a)/P} dx, and not a transform
of samples: data such as x² cos(πx) on [−1, 1] have a slope jump where the period closes, and
sampling would fold their slowly decaying coefficients (∝ k⁻²) onto the low ones.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from ..problem import Problem
from .nodes import chebyshev_points, differentiation_matrix

_NODES = 12
"""Gauss nodes per panel. A panel holds at most one wavelength of the highest mode: error < 1e-18."""

_FEWEST_PANELS = {1: 64, 2: 16, 3: 8}
"""Panels per axis, by number of dimensions."""

_PANEL_DEGREE = 12
_TRUST = (1e-8, 1e-6, 1e-4)
"""Relative gaps of value, slope and second derivative that rounding cannot explain."""

_BLOCK = 1 << 22
"""Quadrature points evaluated at once, to bound memory in three dimensions."""


def mode_numbers(modes: int, dimensions: int, half: bool) -> list[np.ndarray]:
    """Wave numbers −K…K per axis in the order of the FFT; the last axis keeps 0…K if `half`."""
    full = np.concatenate([np.arange(modes + 1), np.arange(-modes, 0)])
    return [full] * (dimensions - 1) + [full[: modes + 1] if half else full]


def project(problem: Problem, modes: int, half: bool) -> np.ndarray:
    """Fourier coefficients of u(0, ·): shape (fields, modes per axis…).

    Each axis is cut into equal panels with Gauss–Legendre nodes. The panels' ends meet the
    ends of the period, where continued data may not be smooth, and for one Gauss node at a
    time the sum over panels is an FFT.
    """
    dimensions = len(problem.space)
    panels = max(_FEWEST_PANELS[dimensions], modes + modes % 2)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    places, weights = (nodes + 1) / 2, weights / 2
    axes = [
        a + length * (np.arange(panels)[:, None] + places[None, :]).ravel() / panels
        for a, length in zip(problem.domain.lower, problem.domain.lengths, strict=True)
    ]
    numbers = mode_numbers(modes, dimensions, half)

    def transform(values: np.ndarray, axis: int) -> np.ndarray:
        k = numbers[axis]
        moved = np.moveaxis(values, axis - dimensions, -1)
        spectrum = np.fft.fft(moved.reshape(*moved.shape[:-1], panels, _NODES), axis=-2, norm="forward")
        phases = weights * np.exp(-2j * np.pi * np.outer(k, places) / panels)
        return np.moveaxis(np.sum(spectrum[..., k % panels, :] * phases, axis=-1), -1, axis - dimensions)

    rest = [len(a) for a in axes[1:]]
    rows = max(1, _BLOCK // int(np.prod(rest, dtype=int)))
    blocks = []
    for start in range(0, len(axes[0]), rows):
        values = _initial(problem, [axes[0][start : start + rows], *axes[1:]])
        for axis in range(dimensions - 1, 0, -1):
            values = transform(values, axis)
        blocks.append(values)
    return transform(np.concatenate(blocks, axis=1), 0)


def sample(problem: Problem, modes: int, half: bool) -> np.ndarray:
    """Roughly the Fourier coefficients of u(0, ·), from samples: enough to see how they decay."""
    count = 2 * modes + 1
    axes = [
        a + length * np.arange(count) / count
        for a, length in zip(problem.domain.lower, problem.domain.lengths, strict=True)
    ]
    values = _initial(problem, axes)
    transform = np.fft.rfftn if half else np.fft.fftn
    return transform(values, axes=range(1, values.ndim), norm="forward")


def _initial(problem: Problem, axes: list[np.ndarray]) -> np.ndarray:
    """u(0, ·) on the tensor grid of the axes: shape (fields, …)."""
    grid = jnp.meshgrid(*map(jnp.asarray, axes), indexing="ij", sparse=True)
    return np.stack([np.asarray(v) for v in problem.initial_values(grid)])


def initial_on_grid(problem: Problem, axes: list[np.ndarray]) -> list[np.ndarray]:
    """u(0, ·) on the tensor grid of the axes, one array per field, complex where the field is."""
    flags = problem.complex_fields
    return [v.astype(complex) if c else v.real for v, c in zip(_initial(problem, axes), flags, strict=True)]


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
        values = np.moveaxis(_initial(problem, axes), axis + 1, 1)
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
