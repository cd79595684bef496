"""Chebyshev points on an interval: their differentiation matrix and barycentric interpolation."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float


def chebyshev_points(lower: float, upper: float, degree: int) -> Float[np.ndarray, "nodes"]:
    """The degree + 1 Chebyshev points x_j = (a + b)/2 − (b − a)/2 cos(πj/degree), ends included."""
    points = (lower + upper) / 2 - (upper - lower) / 2 * np.cos(np.pi * np.arange(degree + 1) / degree)
    points[0], points[-1] = lower, upper
    return points


def differentiation_matrix(lower: float, upper: float, degree: int) -> Float[np.ndarray, "nodes nodes"]:
    """Values at the Chebyshev points ↦ values of the interpolant's derivative there.

    Differences of points are taken as x_i − x_j = (b − a) sin(½(i+j)π/n) sin(½(i−j)π/n), and
    the diagonal as minus the sum of its row: both keep rounding from growing with the degree.
    """
    j = np.arange(degree + 1)
    angle = np.pi / (2 * degree)
    gaps = (
        (upper - lower)
        * np.sin(angle * (j[:, None] + j[None, :]))
        * np.sin(angle * (j[:, None] - j[None, :]))
    )
    weights = _weights(degree)
    np.fill_diagonal(gaps, 1.0)
    matrix = weights[None, :] / weights[:, None] / gaps
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, -matrix.sum(axis=1))
    return matrix


def interpolation_matrix(
    points: Float[np.ndarray, "nodes"], targets: Float[np.ndarray, "targets"]
) -> Float[np.ndarray, "targets nodes"]:
    """Values at the Chebyshev points ↦ values of the interpolant at the targets (barycentric formula)."""
    gaps = targets[:, None] - points[None, :]
    hit = gaps == 0
    terms = _weights(len(points) - 1)[None, :] / np.where(hit, 1.0, gaps)
    matrix = terms / terms.sum(axis=1, keepdims=True)
    rows = hit.any(axis=1)
    matrix[rows] = hit[rows]
    return matrix


def _weights(degree: int) -> Float[np.ndarray, "nodes"]:
    weights = (-1.0) ** np.arange(degree + 1)
    weights[[0, -1]] /= 2
    return weights
