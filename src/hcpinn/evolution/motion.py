"""How fast a solution of uₜₜ = F swings, read off its initial data."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..equation.derivatives import Jet
from ..equation.start import initial_jet
from ..machine.precision import double
from ..problem import Problem

_PLACES = 256
_FASTEST = 50.0
"""Of the rates at which a lift fades, over the duration: a faster one would make it stiff."""


def tempo(problem: Problem) -> float:
    """ω with ω² the size of ∂F/∂u · w over that of w, w = u₀ or uₜ(t₀): the larger, at least 1/duration."""
    found = [float(np.sqrt(size / w)) for w, size in _answers(problem) if w > 0 and np.isfinite(size)]
    return max([*found, 1 / problem.duration])


def fading(problem: Problem) -> float:
    """The rate at which a lift with the initial velocity fades; 0 where that is zero, and the lift stands."""
    (_, _), (speed, _) = _answers(problem)
    return min(tempo(problem), _FASTEST / problem.duration) if speed > 0 else 0.0


def calming(stiffness: np.ndarray, tempo: float) -> np.ndarray:
    """(1 + K/ω²)^(−1/2) with K the symmetric part of a matrix, where it is positive, and ω the tempo.

    What swings faster than the solution as a whole moves less for the same speed: so much its speed counts.
    """
    values, vectors = np.linalg.eigh((stiffness + stiffness.T) / 2)
    return (vectors / np.sqrt(1 + np.maximum(values, 0.0) / tempo**2)) @ vectors.T


def _answers(problem: Problem) -> list[tuple[float, float]]:
    """(size of w, size of ∂F/∂u · w) at t₀, for w = u₀ and w = uₜ(t₀)."""
    shares = (
        (np.arange(_PLACES)[:, None] + 0.5) / _PLACES + np.arange(problem.domain.dimension) * 0.381966
    ) % 1
    inside = problem.domain.inside(shares)
    zero = (0,) * (1 + inside.shape[1])
    spatial = {(0, *index[1:]) for index in problem.derivatives} | {zero}
    moving = {(1, *index[1:]) for index in spatial}

    @jax.jit
    def run(points: Array) -> list[tuple[Array, Array]]:
        start = initial_jet(problem, points, sorted(spatial | moving))

        def force(jet: Jet) -> Array:
            known = {i: problem.to_fields(values) for i, values in {**start, **jet}.items()}
            rates = problem.evaluate_rhs(lambda number, index: known[index][number], list(points.T))
            shape = points.shape[:1]
            return problem.to_components([jnp.broadcast_to(jnp.asarray(r) + 0.0, shape) for r in rates])

        found = []
        state = {index: start[index] for index in spatial}
        for order in (0, 1):
            change = {index: start[(order, *index[1:])] for index in spatial}
            along = jax.jvp(force, (state,), (change,))[1]
            found.append((jnp.linalg.norm(change[zero]), jnp.linalg.norm(along)))
        return found

    with double():
        points = np.column_stack([np.full(_PLACES, problem.start), inside])
        return [(float(w), float(size)) for w, size in run(jnp.asarray(points))]
