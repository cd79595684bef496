"""Neural tangent kernels, K = J Jᵀ: blocks, traces and spectra; and the curvature of the loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..machine.precision import double
from .systems import System, Tangent


@dataclass(frozen=True, eq=False)
class Kernel:
    """K = J Jᵀ for the mismatches of all terms."""

    matrix: Float[Array, "rows rows"]
    slices: Mapping[str, slice]
    """The rows, and columns, of each term."""

    def block(self, row: str, column: str) -> Float[Array, "some others"]:
        """The block of K between two terms, such as 'initial' and 'residual'."""
        return self.matrix[self.slices[row], self.slices[column]]


def kernel(tangent: Tangent) -> Kernel:
    """The tangent kernel. It takes rows² numbers: 2 GiB for 16,384 rows."""
    with double():
        return Kernel(jax.jit(lambda rows: rows @ rows.T)(tangent.jacobian), tangent.slices)


def trace_shares(tangent: Tangent) -> dict[str, float]:
    """Each term's share of tr K = Σ |J_row|², computed without forming K."""
    with double():
        traces = {
            name: float(jnp.sum((tangent.roots[name][:, None] * rows) ** 2))
            for name, rows in tangent.jacobians.items()
        }
    total = sum(traces.values())
    return {name: trace / total for name, trace in traces.items()}


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The eigenvalues of a kernel, largest first, without those that vanish because J has too few columns."""

    eigenvalues: Float[np.ndarray, " count"]
    floor: float
    """Eigenvalues below this share of the largest are rounding errors."""

    @property
    def largest(self) -> float:
        """λ₁. Gradient descent is stable for steps below 2/λ₁."""
        return float(self.eigenvalues[0])

    @property
    def trace(self) -> float:
        """Σ λ."""
        return float(self.eigenvalues.sum())

    @property
    def rank(self) -> int:
        """The number of eigenvalues above rounding."""
        return int(np.sum(self.eigenvalues > self.floor * self.largest))

    @property
    def condition(self) -> float:
        """λ₁ over the smallest eigenvalue above rounding."""
        return self.largest / float(self.eigenvalues[self.rank - 1])

    @property
    def effective_rank(self) -> float:
        """e^S with the entropy S = −Σ p ln p of p = λ/Σλ: how many directions share the trace."""
        p = self.eigenvalues[self.eigenvalues > 0] / self.trace
        return float(np.exp(-np.sum(p * np.log(p))))

    @property
    def figures(self) -> dict[str, Any]:
        """What says most about it, by name."""
        return {name: getattr(self, name) for name in ("largest", "condition", "rank", "effective_rank")}

    def ratio(self, number: int) -> float:
        """λ₁/λₙ: how much more slowly the n-th direction is learnt than the first."""
        return self.largest / float(self.eigenvalues[number - 1])


def spectrum(tangent: Tangent) -> Spectrum:
    """The spectrum from the singular values of J, which resolve λ/λ₁ down to about 1e-24."""
    return spectrum_of(np.asarray(tangent.jacobian))


def spectrum_of(jacobian: Float[np.ndarray, "rows parameters"]) -> Spectrum:
    """The spectrum of J Jᵀ and of Jᵀ J, from the singular values of J."""
    import scipy.linalg

    sizes = np.asarray(scipy.linalg.svdvals(jacobian, check_finite=False))
    return Spectrum(sizes**2, rounding(jacobian.shape))


def rounding(shape: tuple[int, ...]) -> float:
    """The share of λ₁ below which eigenvalues computed from singular values are rounding errors."""
    return float(max(shape) * np.finfo(float).eps) ** 2


def spectral_norm(matrix: Float[np.ndarray, "rows columns"]) -> float:
    """The largest singular value, from the smaller Gram matrix."""
    small = matrix if len(matrix) <= matrix.shape[1] else matrix.T
    return float(np.sqrt(max(np.linalg.eigvalsh(small @ small.T)[-1], 0.0)))


@dataclass(frozen=True)
class Curvature:
    """Extreme eigenvalues of the full Hessian of half the loss."""

    largest: float
    smallest: float
    """Negative where the loss curves downwards, which a Gauss–Newton Hessian never shows."""
    gauss_newton: float
    """The largest eigenvalue of Jᵀ J."""


def curvature(
    system: System, theta: np.ndarray | None = None, *, gauss_newton: float | None = None
) -> Curvature:
    """The extreme eigenvalues of the full Hessian, by the Lanczos method.

    Args:
        system: whose Hessian.
        theta: at these parameters, by default the initial ones.
        gauss_newton: the largest eigenvalue of Jᵀ J, if it is already known.
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    with double():
        at = jnp.asarray(system.theta if theta is None else theta)
        product = jax.jit(lambda v: jax.jvp(system.slope, (at,), (v,))[1])
        start = np.random.default_rng(0).standard_normal(at.size)
        make: Any = LinearOperator
        matvec = lambda v: np.asarray(product(jnp.asarray(v, float)))
        operator = make((at.size, at.size), matvec=matvec, dtype=np.float64)
        options: Any = {"which": "BE", "v0": start, "tol": 1e-3, "return_eigenvectors": False}
        low, high = eigsh(operator, k=2, **options)
        if gauss_newton is None:
            gauss_newton = spectral_norm(np.asarray(system.tangent(np.asarray(at)).jacobian)) ** 2
    return Curvature(float(high), float(low), gauss_newton)
