"""Losses: how much a residual r, in units of the noise, counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import MethodError

LOSSES = ("gaussian", "huber", "cauchy")

_TURN = {"huber": 1.345, "cauchy": 2.385}
"""Where outliers begin: 95% efficiency if there are none."""


@dataclass(frozen=True)
class Loss:
    """r², or for outliers something that grows slower: |r| (huber) or log r (cauchy)."""

    name: str = "gaussian"

    def __post_init__(self) -> None:
        if self.name not in LOSSES:
            raise MethodError(f"The loss must be one of {', '.join(LOSSES)}, but is {self.name!r}.")

    @property
    def robust(self) -> bool:
        """Whether outliers count for less."""
        return self.name != "gaussian"

    def cost(self, r: np.ndarray) -> float:
        """Σ ρ(r), with ρ = r² near zero."""
        k = _TURN.get(self.name, np.inf)
        if self.name == "huber":
            return float(np.sum(np.where(np.abs(r) <= k, r**2, 2 * k * np.abs(r) - k**2)))
        if self.name == "cauchy":
            return float(np.sum(k**2 * np.log1p((r / k) ** 2)))
        return float(np.sum(r**2))

    def weights(self, r: np.ndarray) -> np.ndarray:
        """ρ′(r) / 2r."""
        k = _TURN.get(self.name, np.inf)
        if self.name == "huber":
            return np.minimum(1.0, k / np.maximum(np.abs(r), 1e-300))
        if self.name == "cauchy":
            return 1 / (1 + (r / k) ** 2)
        return np.ones_like(r)

    def inflation(self, r: np.ndarray) -> float:
        """The variance of an estimate relative to (Jᵀ W J)⁻¹: mean ψ² · mean w / (mean ψ′)², ψ = w r."""
        if not self.robust:
            return 1.0
        k, w = _TURN[self.name], self.weights(r)
        slope = (np.abs(r) <= k).astype(float) if self.name == "huber" else w**2 * (1 - (r / k) ** 2)
        return float(np.mean((w * r) ** 2) * np.mean(w) / max(float(np.mean(slope)), 1e-6) ** 2)

    def scale(self, residuals: np.ndarray, freedom: float) -> float:
        """The standard deviation of residuals, of the bulk where outliers count for less."""
        if not self.robust:
            return float(np.sqrt(np.sum(residuals**2) / freedom))
        middle = np.median(np.abs(residuals - np.median(residuals)))
        return float(1.4826 * middle * np.sqrt(len(residuals) / freedom))
