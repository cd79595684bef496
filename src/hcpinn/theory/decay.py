"""How mismatches decay under gradient descent: predicted by a frozen kernel, and measured.

With J frozen at its initial value and J = U S Vᵀ, gradient flow on half the loss gives

    ρ(τ) = U e^{−S²τ} Uᵀ ρ₀ + (what U does not reach),     θ(τ) = θ₀ − V S⁻¹ (1 − e^{−S²τ}) Uᵀ ρ₀.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.optimize
from jaxtyping import Float

from ..errors import MethodError
from ..machine.precision import double
from .kernel import Spectrum, rounding
from .systems import System, Tangent


@dataclass(frozen=True, eq=False)
class FrozenKernel:
    """Training with the kernel held fixed: J = U S Vᵀ and the initial mismatches ρ₀."""

    directions: Float[np.ndarray, "rows count"]
    """U: the eigenvectors of the kernel as columns, the fastest first."""
    sizes: Float[np.ndarray, " count"]
    """S: the square roots of the eigenvalues."""
    moves: Float[np.ndarray, "count parameters"]
    """Vᵀ: for each eigenvector, the direction in parameter space that changes it."""
    rho: Float[np.ndarray, " rows"]
    """ρ₀."""

    @property
    def eigenvalues(self) -> Float[np.ndarray, " count"]:
        """λ = S²."""
        return self.sizes**2

    @cached_property
    def amplitudes(self) -> Float[np.ndarray, " count"]:
        """Uᵀ ρ₀: the initial mismatch along each eigenvector."""
        return self.directions.T @ self.rho

    @property
    def spectrum(self) -> Spectrum:
        """The kernel's spectrum."""
        shape = (len(self.directions), self.moves.shape[1])
        return Spectrum(self.eigenvalues, rounding(shape))

    def rho_at(self, tau: float) -> Float[np.ndarray, " rows"]:
        """ρ(τ)."""
        return self.rho + self.directions @ (np.expm1(-self.eigenvalues * tau) * self.amplitudes)

    def change_at(self, tau: float) -> Float[np.ndarray, " parameters"]:
        """θ(τ) − θ₀."""
        safe = np.where(self.sizes > 0, self.sizes, 1.0)
        gain = np.where(self.sizes > 0, np.expm1(-self.eigenvalues * tau) / safe, 0.0)
        return self.moves.T @ (gain * self.amplitudes)

    def loss_at(self, tau: float) -> float:
        """|ρ(τ)|² over |ρ₀|²."""
        squares = self.amplitudes**2
        rest = max(float(self.rho @ self.rho - squares.sum()), 0.0)
        return (float(np.sum(squares * np.exp(-2 * self.eigenvalues * tau))) + rest) / float(
            self.rho @ self.rho
        )

    def part_at(self, tau: float, rows: slice) -> float:
        """|ρ(τ)|² over |ρ₀|² for some rows, such as those of one term; it need not fall monotonically."""
        start = float(self.rho[rows] @ self.rho[rows])
        now = self.rho_at(tau)[rows]
        return float(now @ now) / (start or 1.0)

    def time_to(self, share: float) -> float:
        """The time λ₁τ in which the loss falls to a share of its initial value, or infinity.

        Gradient descent is stable for steps below 2/λ₁, so it needs at least half as many steps.
        """

        def excess(log: float) -> float:
            return self.loss_at(math.expm1(log) / self.eigenvalues[0]) - share

        latest = 40.0  # in ln(1 + λ₁τ): e⁴⁰ steps are out of reach
        if excess(latest) > 0:
            return math.inf
        return math.expm1(scipy.optimize.brentq(excess, 0.0, latest))  # type: ignore[arg-type]


def freeze(tangent: Tangent) -> FrozenKernel:
    """The prediction of the kernel at these parameters."""
    with double():
        jacobian, rho = np.asarray(tangent.jacobian), np.asarray(tangent.rho)
    u, s, vt = scipy.linalg.svd(jacobian, full_matrices=False, check_finite=False)
    return FrozenKernel(u, s, vt, rho)


def shown_directions(frozen: FrozenKernel) -> list[int]:
    """Numbers of a few directions, the fastest first, spread evenly over the orders of magnitude of λ."""
    logs = np.log(np.maximum(frozen.eigenvalues / frozen.eigenvalues[0], 1e-300))
    wanted = np.linspace(0.0, math.log(1e-4), 6)
    return sorted({int(np.argmin(np.abs(logs - level))) for level in wanted})


@dataclass(frozen=True, eq=False)
class Descent:
    """Gradient descent from the initial parameters, recorded after some of its steps."""

    step: float
    """η in θ ← θ − η Jᵀ ρ."""
    counts: tuple[int, ...]
    """The numbers of steps after which it was recorded."""
    thetas: Float[np.ndarray, "recorded parameters"]
    rhos: Float[np.ndarray, "recorded rows"]

    @property
    def times(self) -> list[float]:
        """τ = η · steps."""
        return [self.step * count for count in self.counts]

    def deviations(self, frozen: FrozenKernel) -> list[float]:
        """|ρ measured − ρ predicted| over |ρ predicted − ρ₀|, at each recorded step."""
        found = []
        for tau, rho in zip(self.times, self.rhos, strict=True):
            predicted = frozen.rho_at(tau)
            moved = float(np.linalg.norm(predicted - frozen.rho))
            found.append(float(np.linalg.norm(rho - predicted)) / moved if moved else 0.0)
        return found


def descend(system: System, *, step: float, counts: Sequence[int]) -> Descent:
    """Run gradient descent on half the loss, θ ← θ − η Jᵀ ρ, with the kernel free to change.

    Args:
        system: what to train, from its initial parameters.
        step: η, which must stay below 2/λ₁.
        counts: the numbers of steps after which to record θ and ρ, in increasing order.
    """
    if not (step > 0 and math.isfinite(step)):
        raise MethodError(f"The step of gradient descent must be positive, but is {step!r}.")
    if list(counts) != sorted(set(counts)) or not counts or min(counts) < 1:
        raise MethodError(
            f"counts must be positive whole numbers in increasing order, but is {list(counts)}."
        )
    theta, done, thetas = system.theta, 0, []
    for count in counts:
        theta, done = system.descended(theta, step, count - done), count
        thetas.append(theta)
    rhos = np.stack([system.rho(theta) for theta in thetas])
    if not np.isfinite(rhos).all():
        raise MethodError(f"Gradient descent diverged: its step {step:.3g} is too long. Keep it below 2/λ₁.")
    return Descent(step, tuple(counts), np.stack(thetas), rhos)
