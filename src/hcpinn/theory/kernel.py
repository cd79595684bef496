"""Neural tangent kernels, K = J Jᵀ: blocks, traces and spectra."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..machine.precision import double
from .systems import Tangent


@dataclass(frozen=True, eq=False)
class Kernel:
    """K = J Jᵀ over the mismatches of all terms."""

    matrix: Float[Array, "rows rows"]
    slices: Mapping[str, slice]
    """Which rows, and columns, belong to which term."""

    def block(self, row: str, column: str) -> Float[Array, "some others"]:
        """The kernel between two terms: ('initial', 'residual') is the study's K₁₂."""
        return self.matrix[self.slices[row], self.slices[column]]


def kernel(tangent: Tangent) -> Kernel:
    """The tangent kernel; it holds rows² numbers, 2 GiB for 16,384 rows."""
    with double():
        return Kernel(_product(tangent.jacobian), tangent.slices)


def trace_shares(tangent: Tangent) -> dict[str, float]:
    """The share of the trace that each term holds: tr K = Σ |J_row|², so no kernel is needed."""
    with double():
        traces = {
            name: float(jnp.sum((tangent.roots[name][:, None] * rows) ** 2))
            for name, rows in tangent.jacobians.items()
        }
    total = sum(traces.values())
    return {name: trace / total for name, trace in traces.items()}


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The eigenvalues of a kernel, largest first, without those that must vanish."""

    eigenvalues: Float[np.ndarray, " count"]
    floor: float
    """Eigenvalues below this share of the largest are rounding."""

    @property
    def largest(self) -> float:
        """λ₁, which limits the step of gradient descent to 2/λ₁."""
        return float(self.eigenvalues[0])

    @property
    def trace(self) -> float:
        """Σ λ."""
        return float(self.eigenvalues.sum())

    @property
    def rank(self) -> int:
        """How many eigenvalues are above rounding."""
        return int(np.sum(self.eigenvalues > self.floor * self.largest))

    @property
    def condition(self) -> float:
        """λ₁ over the smallest eigenvalue above rounding."""
        return self.largest / float(self.eigenvalues[self.rank - 1])

    @property
    def effective_rank(self) -> float:
        """e^S, S = −Σ p ln p the entropy of p = λ/Σλ: how many directions share the trace."""
        p = self.eigenvalues[self.eigenvalues > 0] / self.trace
        return float(np.exp(-np.sum(p * np.log(p))))

    def ratio(self, number: int) -> float:
        """λ₁/λₙ: how much slower the n-th direction is learnt than the first."""
        return self.largest / float(self.eigenvalues[number - 1])


def spectrum(tangent: Tangent) -> Spectrum:
    """The spectrum from the singular values of J, which resolves λ/λ₁ down to about 1e-24."""
    return spectrum_of(np.asarray(tangent.jacobian))


def spectrum_of(jacobian: Float[np.ndarray, "rows parameters"]) -> Spectrum:
    """The spectrum of J Jᵀ and of Jᵀ J, from the singular values of J."""
    import scipy.linalg

    sizes = np.asarray(scipy.linalg.svdvals(jacobian, check_finite=False))
    return Spectrum(sizes**2, rounding(jacobian.shape))


def rounding(shape: tuple[int, ...]) -> float:
    """The share of λ₁ that rounding leaves of eigenvalues found from singular values."""
    return float(max(shape) * np.finfo(float).eps) ** 2


def gram_spectrum(tangent: Tangent) -> Spectrum:
    """The spectrum from the smaller of J Jᵀ and Jᵀ J, on the device: fast, down to λ/λ₁ of 1e-12 or so."""
    with double():
        jacobian = tangent.jacobian
        small = jacobian if jacobian.shape[0] <= jacobian.shape[1] else jacobian.T
        eigenvalues = np.asarray(jax.jit(jnp.linalg.eigvalsh)(_product(small)))[::-1]
    return Spectrum(np.maximum(eigenvalues, 0.0), max(jacobian.shape) * np.finfo(float).eps)


def norm(matrix: Float[np.ndarray, "rows columns"]) -> float:
    """The largest singular value, from the smaller Gram matrix."""
    small = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    return float(np.sqrt(max(np.linalg.eigvalsh(small @ small.T)[-1], 0.0)))


@jax.jit
def _product(rows: Array) -> Array:
    return rows @ rows.T
