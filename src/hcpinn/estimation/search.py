"""The least misfit within bounds: Levenberg–Marquardt on residuals counted in units of the noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .model import Model
from .robust import Loss

FINE = 0.02
"""A step of so many standard errors ends the search."""

_FLAT = 0.1
"""The weight of standing still, in units of the noise: it counts only where the data say next to nothing."""

_LONGEST = 2.0
"""The longest step along an entry of z, which counts powers of e or typical sizes."""


@dataclass(frozen=True)
class Point:
    """A place z and all that is known there."""

    z: np.ndarray
    predicted: np.ndarray
    jacobian: np.ndarray
    """Slopes of the predicted values by z."""


@dataclass
class Misfit:
    """Residuals in units of the noise, under a loss, and what is asked of z beforehand."""

    values: np.ndarray
    sigma: np.ndarray
    loss: Loss
    prior: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    """Rows (residuals, slopes) that a smoothness prior adds at z."""

    def scaled(self, predicted: np.ndarray) -> np.ndarray:
        """(predicted − measured) / σ."""
        return (predicted - self.values) / self.sigma

    def cost(self, z: np.ndarray, predicted: np.ndarray) -> float:
        """Σ ρ(r) and the prior's square."""
        return float(self.loss.cost(self.scaled(predicted)) + np.sum(self.prior(z)[0] ** 2))

    def widened(self, factor: float) -> Misfit:
        """The same with a larger σ: likelihoods are flatter, and their maximum stays where it is."""

        def prior(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            before, slopes = self.prior(z)
            return before / factor, slopes / factor

        return Misfit(self.values, factor * self.sigma, self.loss, prior)

    def rows(self, point: Point) -> tuple[np.ndarray, np.ndarray]:
        """Residuals and slopes whose normal equations are those of the cost."""
        r = self.scaled(point.predicted)
        root = np.sqrt(self.loss.weights(r))
        before, slopes = self.prior(point.z)
        return (
            np.concatenate([root * r, before]),
            np.concatenate([(root / self.sigma)[:, None] * point.jacobian, slopes]),
        )


def descend(
    model: Model,
    start: Point,
    misfit: Misfit,
    *,
    known: bool,
    steps: int = 30,
    fine: float = FINE,
    free: np.ndarray | None = None,
    report: Callable[[np.ndarray, float], None] = lambda z, cost: None,
) -> Point:
    """The least cost from a start.

    `known` says that σ is the noise; else it is as large as the residuals say. `free` are the entries of z
    that move; by default all.
    """
    lower, upper = model.layout.lower, model.layout.upper
    point, cost = start, misfit.cost(start.z, start.predicted)
    damping, moving = 1e-3, np.ones(len(start.z), bool) if free is None else free
    for _ in range(steps):
        r, jacobian = misfit.rows(point)
        slope = jacobian.T @ r
        held = ((point.z <= lower) & (slope > 0)) | ((point.z >= upper) & (slope < 0)) | ~moving
        active = np.flatnonzero(~held)
        if not active.size:
            return point
        curvature = jacobian[:, active].T @ jacobian[:, active]
        size = np.diag(curvature) + 1e-12 * max(float(np.diag(curvature).max()), 1e-300)
        noise = 1.0 if known else max(float(np.sqrt(cost / max(len(r) - len(point.z), 1))), 1e-300)
        taken: np.ndarray | None = None
        while damping < 1e12:
            step = np.zeros(len(point.z))
            held_back = damping * size + _FLAT * noise**2
            step[active] = -np.linalg.solve(curvature + np.diag(held_back), slope[active])
            step *= min(1.0, _LONGEST / max(float(np.abs(step).max()), 1e-300))
            z = np.clip(point.z + step, lower, upper)
            moved = z - point.z
            promised = -float(2 * slope @ moved + np.sum((jacobian @ moved) ** 2))
            small = float(np.linalg.norm(jacobian @ moved)) < fine * noise
            if small and damping <= 1e-2:
                return point
            predicted = model.predict(z)
            found = np.inf if predicted is None else misfit.cost(z, predicted)
            if found < cost - 1e-4 * max(promised, 0.0):
                taken = z
                damping = max(damping / (10 if found < cost - 0.75 * promised else 3), 1e-9)
                break
            if small:
                return point
            damping *= 5
        there = None if taken is None else model.linearised(taken)
        if taken is None or there is None:
            return point
        point, cost = Point(taken, *there), misfit.cost(taken, there[0])
        report(point.z, cost)
    return point
