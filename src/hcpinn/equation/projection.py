"""Fourier coefficients of the initial data, by quadrature.

The coefficients are projections, c_k = 1/P ∫ u₀(x) e^{−2πik(x−a)/P} dx, and not a transform
of samples: data such as x² cos(πx) on [−1, 1] have a slope jump where the period closes, and
sampling would fold their slowly decaying coefficients (∝ k⁻²) onto the low ones.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from ..problem import Problem
from .scan import Line, scan

_NODES = 12
"""Gauss nodes per panel. A panel holds at most one wavelength of the highest mode: error < 1e-18."""

_FEWEST_PANELS = {1: 64, 2: 16, 3: 8}
"""Panels per axis, by number of dimensions."""

_MOST_PANELS = 1 << 17

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
    panels = max(_FEWEST_PANELS[dimensions], modes, *map(_needed, scan(problem).space))
    panels += panels % 2
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
        values = initial_values(problem, [axes[0][start : start + rows], *axes[1:]])
        for axis in range(dimensions - 1, 0, -1):
            values = transform(values, axis)
        blocks.append(values)
    return transform(np.concatenate(blocks, axis=1), 0)


def _needed(line: Line) -> int:
    """Panels that hold the narrowest pulse; where data jump, so many that one panel decides little."""
    if not line.features:
        return 1
    return _MOST_PANELS if line.jumps else min(int(2 * (line.high - line.low) / line.shortest), _MOST_PANELS)


def initial_values(problem: Problem, axes: list[np.ndarray]) -> np.ndarray:
    """u(0, ·) on the tensor grid of the axes: shape (fields, …)."""
    grid = jnp.meshgrid(*map(jnp.asarray, axes), indexing="ij", sparse=True)
    return np.stack([np.asarray(v) for v in problem.initial_values(grid)])


def initial_on_grid(problem: Problem, axes: list[np.ndarray]) -> list[np.ndarray]:
    """u(0, ·) on the tensor grid of the axes, one array per field, complex where the field is."""
    flags = problem.complex_fields
    return [
        v.astype(complex) if c else v.real for v, c in zip(initial_values(problem, axes), flags, strict=True)
    ]
