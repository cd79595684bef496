"""The error of u during training and its Fourier modes: which of them are learnt, and how soon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.fft
from jaxtyping import Float

from ..machine.precision import double
from ..problem import Problem
from ..reference import Reference
from .decay import Descent, FrozenKernel
from .systems import System

_TIMES, _POSITIONS = 16, {1: 128, 2: 32, 3: 16}
"""Times, and positions per axis by dimension, at which the error is computed."""


class ErrorProbe:
    """The error u(θ) − u on part of a reference's grid, for any parameters of a system."""

    def __init__(self, system: System, reference: Reference):
        self.problem = system.problem
        points, self.exact, self.shape = reference_grid(system.problem, reference)
        zero = (0,) * len(system.problem.axes)
        with double():
            fixed = jax.jit(lambda c: system.trial.fix(c, (zero,)))(jnp.asarray(points))
            self._origin = jnp.asarray(system.theta)

            def u(theta: Any) -> Any:
                return system.trial.jet(system.objective.unravel(theta), fixed, (zero,))[zero]

            self._value = jax.jit(u)
            self._along = jax.jit(lambda theta, change: jax.jvp(u, (theta,), (change,)))

    def error(self, theta: np.ndarray) -> Float[np.ndarray, "points components"]:
        """u(θ) − u."""
        with double():
            return np.asarray(self._value(jnp.asarray(theta))) - self.exact

    def frozen_error(self, frozen: FrozenKernel, tau: float) -> Float[np.ndarray, "points components"]:
        """The error at θ(τ) of a frozen kernel, with u linearised in the parameters."""
        with double():
            value, change = self._along(self._origin, jnp.asarray(frozen.change_at(tau)))
            return np.asarray(value + change) - self.exact

    def relative(self, error: Float[np.ndarray, "points components"]) -> float:
        """|error| over |u|, over all components."""
        return float(np.linalg.norm(error) / (np.linalg.norm(self.exact) or 1.0))

    def modes(self, error: Float[np.ndarray, "points components"]) -> Float[np.ndarray, " modes"]:
        """The amplitudes of the error's modes."""
        return amplitudes(self.problem, error.reshape(self.shape))[1]


@dataclass(frozen=True, eq=False)
class ModeDecay:
    """Amplitudes of the error's modes, root mean square over time, at the recorded steps of a descent."""

    start: Float[np.ndarray, " modes"]
    """By wave number |k| = 0, 1, …: periods per length, or half periods along axes that are not periodic."""
    measured: Float[np.ndarray, "recorded modes"]
    predicted: Float[np.ndarray, "recorded modes"]


def mode_decay(probe: ErrorProbe, frozen: FrozenKernel, descent: Descent, theta: np.ndarray) -> ModeDecay:
    """The modes of the error along a descent from θ, measured and predicted by a frozen kernel."""
    return ModeDecay(
        probe.modes(probe.error(theta)),
        np.stack([probe.modes(probe.error(theta)) for theta in descent.thetas]),
        np.stack([probe.modes(probe.frozen_error(frozen, tau)) for tau in descent.times]),
    )


def amplitudes(
    problem: Problem, values: Float[np.ndarray, "times *space components"]
) -> tuple[Float[np.ndarray, " modes"], Float[np.ndarray, " modes"]]:
    """Rounded wave numbers |k|, and the root mean square over time of all modes with each of them.

    The squares add up to the mean over times and points of Σ |values|², except for wave numbers too high to
    be resolved in every direction. Along axes that are not periodic the modes are cosines of half periods.
    """
    modes = values.astype(complex)
    numbers: list[np.ndarray] = []
    for axis, condition in enumerate(problem.boundaries, 1):
        count = values.shape[axis]
        if condition.periodic:
            modes = np.fft.fft(modes, axis=axis) / count
            numbers.append(np.abs(np.fft.fftfreq(count, 1 / count)))
        else:
            parts = [
                scipy.fft.dct(part, axis=axis, norm="ortho") for part in (np.real(modes), np.imag(modes))
            ]
            modes = (np.asarray(parts[0]) + 1j * np.asarray(parts[1])) / np.sqrt(count)
            numbers.append(np.arange(count, dtype=float))
    mesh = np.meshgrid(*numbers, indexing="ij")
    shell = np.rint(np.sqrt(sum(m**2 for m in mesh))).astype(int)
    power = np.mean(np.sum(np.abs(modes) ** 2, axis=-1), axis=0)
    most = int(min(n.max() for n in numbers))
    found = np.sqrt([power[shell == k].sum() for k in range(most + 1)])
    return np.arange(most + 1, dtype=float), found


def reference_grid(problem: Problem, reference: Reference) -> tuple[np.ndarray, np.ndarray, tuple[int, ...]]:
    """Points on part of the reference's grid, its values there, and the shape; the start is left out."""
    most = _POSITIONS[len(problem.space)]
    picks = [np.unique(np.linspace(1, len(reference.times) - 1, _TIMES).round().astype(int))]
    for condition, axis in zip(problem.boundaries, reference.coordinates, strict=True):
        stride = max(1, len(axis) // most)
        if condition.periodic:  # the last point repeats the first
            whole = len(axis) - 1
            divisors = [n for n in range(stride, whole // 16 + 1) if whole % n == 0]
            picks.append(np.arange(0, whole, divisors[0] if divisors else 1))
        else:
            picks.append(np.arange(0, len(axis), stride))
    grids = [g[p] for g, p in zip((reference.times, *reference.coordinates), picks, strict=True)]
    points = np.stack([m.ravel() for m in np.meshgrid(*grids, indexing="ij")], axis=1)
    values = {name: v[np.ix_(*picks)] for name, v in reference.values.items()}
    exact = np.stack([v.ravel() for v in problem.real_parts(values).values()], axis=1)
    return points, exact, (*(len(g) for g in grids), exact.shape[1])
