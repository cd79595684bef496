"""Fourier modes of the error while training goes on: which of them a kernel learns, and how soon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import scipy.fft
from jaxtyping import Float

from ..precision import double
from ..problem import Periodic, Problem
from ..reference import Reference
from .decay import Descent, Frozen
from .systems import System

_TIMES, _MOST = 16, {1: 128, 2: 32, 3: 16}
"""Times, and positions per axis, at which the error is looked at."""


@dataclass(frozen=True, eq=False)
class ModeDecay:
    """Amplitudes of the error's modes, root mean square over times and components."""

    numbers: Float[np.ndarray, " modes"]
    """Wave numbers, rounded |k|: periods, or half periods where an axis is not periodic, per length."""
    start: Float[np.ndarray, " modes"]
    measured: Float[np.ndarray, "seen modes"]
    predicted: Float[np.ndarray, "seen modes"]


def mode_decay(system: System, frozen: Frozen, descent: Descent, reference: Reference) -> ModeDecay:
    """Follow the modes of u(θ) − u along a descent, and along the one that a frozen kernel predicts."""
    problem = system.problem
    points, exact, shape = reference_grid(problem, reference)
    with double():
        where, unravel = jnp.asarray(points), system.objective.unravel
        zero = (0,) * len(problem.axes)
        fixed = jax.jit(lambda c: system.trial.fix(c, (zero,)))(where)

        def u(theta: jax.Array) -> jax.Array:
            return system.trial.jet(unravel(theta), fixed, (zero,))[zero]

        value = jax.jit(u)
        along = jax.jit(lambda theta, change: jax.jvp(u, (theta,), (change,))[1])
        origin = jnp.asarray(system.theta)
        begin = np.asarray(value(origin))
        measured = [np.asarray(value(jnp.asarray(theta))) for theta in descent.thetas]
        predicted = [
            begin + np.asarray(along(origin, jnp.asarray(frozen.change_at(tau)))) for tau in descent.times
        ]
    numbers, start = amplitudes(problem, (begin - exact).reshape(shape))
    both = [
        np.stack([amplitudes(problem, (values - exact).reshape(shape))[1] for values in each])
        for each in (measured, predicted)
    ]
    return ModeDecay(numbers, start, *both)


def amplitudes(
    problem: Problem, values: Float[np.ndarray, "times *space components"]
) -> tuple[Float[np.ndarray, " modes"], Float[np.ndarray, " modes"]]:
    """Wave numbers |k|, rounded, and the root mean square over times of all modes of that number.

    The squares add up to the mean square of the values along periodic axes. Along others the modes
    are cosines of half periods.
    """
    modes = values.astype(complex)
    numbers: list[np.ndarray] = []
    for axis, condition in enumerate(problem.boundaries, 1):
        count = values.shape[axis]
        if isinstance(condition, Periodic):
            modes = np.fft.fft(modes, axis=axis) / count
            numbers.append(np.abs(np.fft.fftfreq(count, 1 / count)))
        else:
            parts = [scipy.fft.dct(part, axis=axis, norm="ortho") for part in (modes.real, modes.imag)]
            modes = (parts[0] + 1j * parts[1]) / np.sqrt(count)
            numbers.append(np.arange(count, dtype=float))
    mesh = np.meshgrid(*numbers, indexing="ij")
    shell = np.rint(np.sqrt(sum(m**2 for m in mesh))).astype(int)
    power = np.mean(np.sum(np.abs(modes) ** 2, axis=-1), axis=0)
    most = min(len(n) for n in numbers) // 2 if len(numbers) == 1 else int(min(n.max() for n in numbers))
    found = [np.sqrt(power[shell == k].sum()) for k in range(most + 1)]
    return np.arange(most + 1, dtype=float), np.asarray(found)


def reference_grid(problem: Problem, reference: Reference) -> tuple[np.ndarray, np.ndarray, tuple[int, ...]]:
    """Points after the start on a part of the reference's grid, its values there, and the grid's shape."""
    most = _MOST[len(problem.space)]
    picks: list[Sequence[int]] = [
        np.unique(np.linspace(1, len(reference.times) - 1, _TIMES).round().astype(int))
    ]
    for condition, axis in zip(problem.boundaries, reference.coordinates, strict=True):
        whole = len(axis) - 1 if isinstance(condition, Periodic) else len(axis)
        stride = max(1, whole // most)
        picks.append(
            np.arange(0, whole - whole % stride if isinstance(condition, Periodic) else whole, stride)
        )
    grids = [g[p] for g, p in zip((reference.times, *reference.coordinates), picks, strict=True)]
    points = np.stack([m.ravel() for m in np.meshgrid(*grids, indexing="ij")], axis=1)
    values = {name: v[np.ix_(*picks)] for name, v in reference.values.items()}
    exact = np.stack([v.ravel() for v in problem.real_parts(values).values()], axis=1)
    return points, exact, (*(len(g) for g in grids), exact.shape[1])
