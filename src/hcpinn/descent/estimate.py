"""The error of a trained function, estimated from its residual without any other solution.

The error e = u − v of a function v with residual r = vₜ − F(v) obeys, to first order,

    eₜ = F'(v) e − r,    e(t₀) = u₀ − v(t₀).

For uₜₜ = F(v) it is the same with eₜₜ and r = vₜₜ − F(v).

It is projected onto a few dozen smooth functions of x that meet the homogeneous conditions: the trial's
own gate times random neurons on its own embedding, made orthonormal. The implicit midpoint rule carries it
through time. Where some boundary condition is left to penalties, those functions do not meet it; then the
norm of the residual is carried along with the growth rate of the equation, which is a bound, and a crude one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jaxtyping import Array, Float

from ..equation.growth import growth_rate
from ..jets import taylor
from ..objective import linearized, sampling
from ..problem import Index
from ..trial import MLP, Fixed, Trial, jet_of
from ..trial.trial import derivative_of

_TIMES = {1: 60, 2: 30, 3: 20}
_PLACES = {1: 512, 2: 36, 3: 12}
"""Places along each axis."""
_NEURONS = {1: 200, 2: 400, 3: 400}
_SLOPE = 1.5
"""How steep a neuron is, for features of unit variance."""
_STEEPEST = 60.0
"""How many times steeper, at most, where the features are the coordinates alone."""

_LEAST = 1e-4
"""Functions whose part in the neurons is smaller than this, relative to the largest, are left out."""


@dataclass(frozen=True)
class Carried:
    """An error carried to the end of a time window."""

    state: Float[np.ndarray, "..."]
    """What is left of it at the end, for the window after."""
    squares: Float[np.ndarray, " components"]
    """The mean square of the error over the window."""
    sizes: Float[np.ndarray, " components"]
    """The mean square of the solution, as far as the error is known."""


def relative_error(windows: Sequence[Carried]) -> float:
    """The relative L2 error of the worst component over equally long windows."""
    squares, sizes = (np.sum([getattr(w, name) for w in windows], axis=0) for name in ("squares", "sizes"))
    error = np.max(np.sqrt(squares / np.where(sizes > 0, sizes, 1.0)))
    return float(error) if np.isfinite(error) else np.inf


class Estimator:
    """Carries errors of runs that share an equation, a domain, a gate and an embedding."""

    def __init__(self, trial: Trial):
        """`trial` is that of the first time window."""
        self.trial = trial
        problem = trial.problem
        self.zero: Index = (0,) * len(problem.axes)
        self.arguments = problem.derivatives
        # One basis serves all components where their walls are alike.
        self.closed = all(kind == "initial" for kind, _ in trial.left_open) and trial.walls.plain
        axis = (np.arange(_PLACES[problem.domain.dimension]) + 0.5) / _PLACES[problem.domain.dimension]
        grid = np.meshgrid(*[axis] * problem.domain.dimension, indexing="ij")
        self.places = problem.domain.inside(np.stack([a.ravel() for a in grid], axis=1))

    def fix(self, trial: Trial) -> Fixed:
        """What of a window's trial does not depend on the network, at all times and places."""
        problem, count = trial.problem, _TIMES[self.trial.problem.domain.dimension]
        times = problem.start + problem.duration * (np.arange(count) + 0.5) / count
        wanted = tuple(dict.fromkeys((*trial.indices, self.zero)))
        points = np.stack([self._at(time) for time in times])
        return jax.jit(lambda part: jax.lax.map(lambda p: trial.fix(p, wanted), part))(jnp.asarray(points))

    def carry(
        self,
        network: Any,
        trial: Trial,
        fixed: Fixed,
        *,
        conditions: float = 0.0,
        before: Carried | None = None,
    ) -> Carried:
        """The error of a run at the end of a time window.

        Args:
            network: the parameters of the window's network.
            trial: the window's trial function.
            fixed: what `fix` gives for it.
            conditions: the part of the loss from penalties.
            before: the error at the end of the window before.
        """
        parameters = {name: jnp.asarray(float(v)) for name, v in trial.problem.parameters.items()}
        found = self._linearized(network, fixed, parameters)
        residual, slopes, values = (np.asarray(a) for a in found)
        step = trial.problem.duration / len(residual)
        if self.closed:
            start = self._start(network, trial) if before is None else before.state
            return self._projected(residual, slopes, values, step, start)
        start = np.sqrt(conditions) if before is None else before.state
        state, squares = self._bounded(np.sqrt(np.mean(residual**2, axis=1)), step, start)
        return Carried(state, squares, np.mean(values**2, axis=(0, 1)))

    def _projected(
        self, residual: np.ndarray, slopes: np.ndarray, values: np.ndarray, step: float, state: np.ndarray
    ) -> Carried:
        basis, waves = self._basis
        count, outputs = basis.shape[1], residual.shape[2]
        test = basis.T / len(basis)
        order, size = self.trial.problem.order, outputs * count
        unit, squares, sizes = np.eye(order * size), np.zeros(outputs), np.zeros(outputs)
        matrix = np.zeros((order * size, order * size))
        matrix[: (order - 1) * size, size:] = np.eye((order - 1) * size, size * (order - 1))
        for r, slope, value in zip(residual, slopes, values, strict=True):
            for level in range(order):
                # slope: arguments, components of u, places, components of F
                own = [i for i, index in enumerate(self.arguments) if index[0] == level]
                spread = np.einsum("ibma,imn->abmn", slope[own], waves[own], optimize=True)
                block = (test @ spread).transpose(0, 2, 1, 3).reshape(size, size)
                matrix[-size:, level * size : (level + 1) * size] = block
            force = np.concatenate([np.zeros((order - 1) * size), (test @ r).T.ravel()])
            right = state + step / 2 * (matrix @ state) - step * force
            if not (np.all(np.isfinite(matrix)) and np.all(np.isfinite(right))):
                return Carried(np.full_like(state, np.nan), np.full(outputs, np.nan), sizes)
            after = scipy.linalg.solve(unit - step / 2 * matrix, right, check_finite=False)
            error = ((state + after) / 2)[:size].reshape(outputs, count)
            squares += np.sum(error**2, axis=1) / len(residual)
            sizes += np.mean((value + basis @ error.T) ** 2, axis=0) / len(residual)
            state = after
        return Carried(state, squares, sizes)

    def _bounded(self, norms: np.ndarray, step: float, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        growth = np.exp(step * max(self._growth, 0.0))
        squares = np.zeros(norms.shape[1])
        state = np.broadcast_to(state, squares.shape)
        for norm in norms:
            state = growth * (state + step * norm)
            squares += state**2
        return state, squares / len(norms)

    @cached_property
    def _growth(self) -> float:
        return growth_rate(self.trial.problem)

    def _at(self, time: float) -> np.ndarray:
        return np.column_stack([np.full(len(self.places), time), self.places])

    def _start(self, network: Any, trial: Trial) -> np.ndarray:
        """What the trial leaves of the initial data."""
        outputs, (basis, _) = trial.outputs, self._basis
        problem = trial.problem
        if not trial.left_open:
            return np.zeros(problem.order * outputs * basis.shape[1])
        points, found = jnp.asarray(self._at(problem.start)), []
        for order, data in enumerate((problem.initial_values, problem.initial_velocities)[: problem.order]):
            own = derivative_of(trial, network, points, (order, *self.zero[1:]))
            given = problem.to_components(data(list(jnp.asarray(self.places.T))))
            found.append((basis.T @ np.asarray(given - own) / len(basis)).T.ravel())
        return np.concatenate(found)

    @cached_property
    def _linearized(self) -> Any:
        """The residual, the slopes of F and the values of u, at each time and place."""
        trial, problem = self.trial, self.trial.problem
        wanted = tuple(dict.fromkeys((*trial.indices, self.zero)))

        def at(network: Any, fixed: Fixed, parameters: dict[str, Array]) -> tuple[Array, Array, Array]:
            jet = trial.jet(network, fixed, wanted)
            return (*linearized(problem, jet, fixed.coordinates, parameters), jet[self.zero])

        def run(network: Any, fixed: Fixed, parameters: dict[str, Array]) -> tuple[Array, Array, Array]:
            return jax.lax.map(lambda part: at(network, part, parameters), fixed)

        return jax.jit(run)

    @cached_property
    def _basis(self) -> tuple[np.ndarray, np.ndarray]:
        """Functions of x, orthonormal in the mean over the places, and F's arguments of each."""
        trial, many = self.trial, _NEURONS[self.trial.problem.domain.dimension]
        points = jnp.asarray(self._at(trial.problem.horizon))
        rng = sampling.generator(0, "error estimate")
        features = np.asarray(trial.embed(points))
        spread = features.std(axis=0)
        varies = spread > 1e-12
        weight = np.where(varies[:, None], rng.normal(size=(len(spread), many)), 0.0)
        weight *= _SLOPE / (np.sqrt(varies.sum()) * np.where(varies, spread, 1.0)[:, None])
        if varies.sum() <= len(self.zero) - 1:  # the coordinates themselves: neurons at all places and scales
            weight *= np.exp(rng.uniform(0.0, np.log(_STEEPEST), size=many))
            bias = -np.sum(features[rng.integers(len(features), size=many)].T * weight, axis=0)
        else:
            bias = rng.normal(size=many) - features.mean(axis=0) @ weight
        spatial = [(0, *index[1:]) for index in self.arguments]
        wanted = tuple(dict.fromkeys((self.zero, *spatial)))
        below = taylor.closure(wanted)

        @jax.jit
        def neurons(points: Array, weight: Array, bias: Array) -> dict[Index, Array]:
            eye = {"weight": jnp.eye(many), "bias": jnp.zeros(many)}
            inner = MLP(many, 1).propagate(
                [{"weight": weight, "bias": bias}, eye], jet_of(trial.embed, points, below), below
            )
            return taylor.product(jet_of(trial.gate, points, below), inner, wanted)

        jet = neurons(points, jnp.asarray(weight), jnp.asarray(bias))
        left, values, right = np.linalg.svd(
            np.asarray(jet[self.zero]) / np.sqrt(len(points)), full_matrices=False
        )
        kept = int(np.sum(values > _LEAST * values[0]))
        mixed = right[:kept].T / values[:kept]
        nothing = np.zeros((len(points), kept))
        waves = [np.asarray(jet[i]) @ mixed if i in jet else nothing for i in spatial]
        return left[:, :kept] * np.sqrt(len(points)), np.stack(waves)
