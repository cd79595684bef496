"""Dense matrices of a projected equation: solvers for Newton's method, and how fast rounding grows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import get_lapack_funcs

_RISE = 10.0
"""e to this power is what rounding may grow to over the horizon by a basis alone."""

Solvers = Callable[[complex], Callable[[np.ndarray], np.ndarray]]
"""From a shift μ, and a right side b, to the solution of (μ − J) x = b."""


def shifted_solvers(matrix: np.ndarray, damping: np.ndarray | None, order: int) -> Solvers:
    """Solvers of (μ − J) x = b for c′ = A c, or with order 2 for c″ = A c + D c′ as the pair (c, c′).

    Args:
        matrix: A.
        damping: D; None where there is none.
        order: the order in time.
    """

    def solver(shift: complex) -> Callable[[np.ndarray], np.ndarray]:
        real = np.imag(shift) == 0
        shift = np.real(shift) if real else shift
        shifted = (-matrix).astype(float if real else complex)
        if damping is not None:
            shifted -= shift * damping
        shifted[np.diag_indices(len(matrix))] += shift**order
        factor, solve = get_lapack_funcs(("getrf", "getrs"), (shifted,))
        lu, pivots, _ = factor(shifted, overwrite_a=True)

        def apply(right: np.ndarray) -> np.ndarray:
            right = np.real(right) if real else right
            if order == 1:
                return solve(lu, pivots, right)[0]
            first, second = np.split(right, 2)
            drag = 0.0 if damping is None else damping @ first
            place = solve(lu, pivots, second + shift * first - drag)[0]
            return np.concatenate([place, shift * place - first])

        return apply

    return solver


def growth_rate(matrix: np.ndarray, damping: np.ndarray | None = None) -> float:
    """The largest real part of the eigenvalues; of the symmetric part's, where that is no more than zero.

    With `damping` those of x″ = matrix x + damping x′.
    """
    if damping is not None:
        if not damping.any():
            return float(np.real(np.sqrt(np.linalg.eigvals(matrix).astype(complex))).max())
        unit = np.eye(len(matrix))
        return float(np.linalg.eigvals(np.block([[0 * unit, unit], [matrix, damping]])).real.max())
    bound = float(np.linalg.eigvalsh((matrix + matrix.T) / 2)[-1])
    return bound if bound <= 0 else float(np.real(np.linalg.eigvals(matrix)).max())


def tolerable_growth(even: float, duration: float) -> float:
    """The rate of growth that a basis with fronts may have: twice that with even features, and a little."""
    return 2 * max(even, 0.0) + _RISE / duration
