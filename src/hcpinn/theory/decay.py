"""Decay of the mismatches under gradient descent: as a frozen kernel predicts it, and as measured.

With J frozen at its initial value and J = U S Vᵀ, gradient flow on half the loss gives

    ρ(τ) = U e^{−S²τ} Uᵀ ρ₀ + (what U does not reach),     θ(τ) = θ₀ − V S⁻¹ (1 − e^{−S²τ}) Uᵀ ρ₀.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from ..errors import MethodError
from ..machine.precision import double
from .kernel import Spectrum, rounding
from .systems import System, Tangent


@dataclass(frozen=True, eq=False)
class Frozen:
    """Training with the kernel frozen: J = U S Vᵀ and the mismatches ρ₀ at the start."""

    directions: Float[np.ndarray, "rows count"]
    """U: the eigenvectors of the kernel, in columns, the fastest first."""
    sizes: Float[np.ndarray, " count"]
    """S: the roots of the eigenvalues."""
    moves: Float[np.ndarray, "count parameters"]
    """Vᵀ: the direction of the parameters that moves each eigenvector."""
    rho: Float[np.ndarray, " rows"]
    """ρ₀."""

    @property
    def eigenvalues(self) -> Float[np.ndarray, " count"]:
        """λ = S²."""
        return self.sizes**2

    @cached_property
    def amplitudes(self) -> Float[np.ndarray, " count"]:
        """Uᵀ ρ₀: how much of the mismatch lies in each direction."""
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
        """The same for some of the rows: a term's own share of decay, which need not be monotone."""
        start = float(self.rho[rows] @ self.rho[rows])
        now = self.rho_at(tau)[rows]
        return float(now @ now) / (start or 1.0)

    def time_to(self, share: float) -> float:
        """The time λ₁τ at which the loss has fallen to a share of its start; infinite if it never does.

        In units of 1/λ₁, because gradient descent is stable for steps below 2/λ₁: half of this is the
        least number of steps it needs.
        """
        low, high = 0.0, 40.0  # of ln(1 + λ₁τ): e⁴⁰ steps are none at all
        if self.loss_at(math.expm1(high) / self.eigenvalues[0]) > share:
            return math.inf
        for _ in range(60):
            middle = (low + high) / 2
            too_early = self.loss_at(math.expm1(middle) / self.eigenvalues[0]) > share
            low, high = (middle, high) if too_early else (low, middle)
        return math.expm1(high)


def freeze(tangent: Tangent) -> Frozen:
    """The prediction that the kernel at these parameters makes."""
    import scipy.linalg

    with double():
        jacobian, rho = np.asarray(tangent.jacobian), np.asarray(tangent.rho)
    u, s, vt = scipy.linalg.svd(jacobian, full_matrices=False, check_finite=False)
    return Frozen(u, s, vt, rho)


def shown_directions(frozen: Frozen) -> list[int]:
    """A few directions, from the fastest on, spread evenly over the orders of magnitude of λ."""
    logs = np.log(np.maximum(frozen.eigenvalues / frozen.eigenvalues[0], 1e-300))
    wanted = np.linspace(0.0, math.log(1e-4), 6)
    return sorted({int(np.argmin(np.abs(logs - level))) for level in wanted})


@dataclass(frozen=True, eq=False)
class Descent:
    """Gradient descent from the initial parameters, seen at some of its steps."""

    step: float
    """η in θ ← θ − η Jᵀ ρ."""
    counts: tuple[int, ...]
    """The numbers of steps at which it was seen."""
    thetas: Float[np.ndarray, "seen parameters"]
    rhos: Float[np.ndarray, "seen rows"]

    @property
    def times(self) -> list[float]:
        """τ = η · steps."""
        return [self.step * count for count in self.counts]

    def deviations(self, frozen: Frozen) -> list[float]:
        """|ρ measured − ρ predicted| over |ρ predicted − ρ₀|, at each step seen."""
        found = []
        for tau, rho in zip(self.times, self.rhos, strict=True):
            predicted = frozen.rho_at(tau)
            moved = float(np.linalg.norm(predicted - frozen.rho))
            found.append(float(np.linalg.norm(rho - predicted)) / moved if moved else 0.0)
        return found


def descend(system: System, *, step: float, counts: Sequence[int]) -> Descent:
    """Measure gradient descent on half the loss, θ ← θ − η Jᵀ ρ, without freezing anything."""
    if not (step > 0 and math.isfinite(step)):
        raise MethodError(f"The step of gradient descent must be positive, but is {step!r}.")
    if list(counts) != sorted(set(counts)) or not counts or min(counts) < 1:
        raise MethodError(
            f"Steps to look at must be positive, growing whole numbers, but are {list(counts)}."
        )
    theta, done, thetas = system.theta, 0, []
    for count in counts:
        theta, done = system.descended(theta, step, count - done), count
        thetas.append(theta)
    rhos = np.stack([system.rho(theta) for theta in thetas])
    if not np.isfinite(rhos).all():
        raise MethodError(
            f"Gradient descent diverged: its step {step:.3g} is too long. It must stay below 2/λ₁."
        )
    return Descent(step, tuple(counts), np.stack(thetas), rhos)
