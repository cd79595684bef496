"""The curvature of the loss: extreme eigenvalues of its full Hessian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..machine.precision import double
from .kernel import spectral_norm
from .systems import System


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
