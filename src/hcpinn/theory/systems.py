"""Training as a dynamical system: the vector ρ(θ) of mismatches, with loss |ρ|², and its Jacobian.

The rows of ρ are the mismatches of all terms, scaled by the roots of their weights and of 1/(number of
points), so that the loss is |ρ|². Under gradient descent on half the loss dρ/dτ = −J Jᵀ ρ: the tangent kernel
is K = J Jᵀ and the Gauss–Newton Hessian H = Jᵀ J, with the same nonzero eigenvalues.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..descent import Adam, Method, Preparation, Progress, train
from ..descent.runs import Run
from ..machine.precision import double
from ..objective import BoundaryPenalty, InitialPenalty, Penalty, PeriodicPenalty
from ..problem import Problem
from ..trial import Decay, LinearGate, NoGate, NoLift, make_trial

_STANDARD: dict[str, Penalty] = {
    "initial": InitialPenalty(),
    "periodic": PeriodicPenalty(),
    "boundary": BoundaryPenalty(),
}
"""The penalty for a condition that neither the trial function nor the method holds."""


@dataclass(frozen=True, eq=False)
class Tangent:
    """A system linearised about some parameters, ρ(θ + δ) ≈ ρ + J δ, term by term."""

    values: Mapping[str, Float[Array, " rows"]]
    """The mismatches of each term, unscaled."""
    jacobians: Mapping[str, Float[Array, "rows parameters"]]
    roots: Mapping[str, Float[Array, " rows"]]
    """The square root of each row's factor in the loss."""

    @property
    def rho(self) -> Float[Array, " all_rows"]:
        """ρ, the terms one after the other."""
        return jnp.concatenate([self.roots[name] * value for name, value in self.values.items()])

    @cached_property
    def jacobian(self) -> Float[Array, "all_rows parameters"]:
        """J, with the rows of ρ."""
        with double():
            parts = [self.roots[name][:, None] * rows for name, rows in self.jacobians.items()]
            return parts[0] if len(parts) == 1 else jnp.concatenate(parts)

    @property
    def slices(self) -> dict[str, slice]:
        """The rows of ρ that belong to each term."""
        ends = np.cumsum([0, *(len(v) for v in self.values.values())])
        return {n: slice(int(a), int(b)) for n, a, b in zip(self.values, ends, ends[1:], strict=False)}

    def unscaled(self) -> Tangent:
        """The same mismatches with all factors one: sums over points in place of means."""
        return Tangent(self.values, self.jacobians, {n: jnp.ones_like(r) for n, r in self.roots.items()})


class System:
    """The mismatches of one run as functions of the network's parameters."""

    def __init__(self, problem: Problem, method: Method, *, points: int | None = None, seed: int = 0):
        """Set up the loss of a method; adaptive weights, batches, windows and stages are left out.

        Args:
            problem: what is solved.
            method: its trial function, penalties and points define the loss.
            points: number of residual points, overriding the method's.
            seed: seed of the network and the points.
        """
        self.method = _still(method, points or method.points)
        self.problem, self.seed = problem, seed
        with double():
            preparation = Preparation([Run(problem, self.method, seed)])
            prepared = preparation.prepare()
            self.objective, self.data = prepared.objective, prepared.data
            self.trial = prepared.objective.trial
            self.theta: np.ndarray = preparation.theta[0]
            """The run's initial parameters."""

    def tangent(self, theta: np.ndarray | None = None) -> Tangent:
        """Mismatches and their Jacobian at parameters, by default the initial ones."""
        with double():
            at = jnp.asarray(self.theta if theta is None else theta)
            found, scales = self._rows(at, self.data), self.objective.scales(self.data)
            rows = {name: found[name] for name in self.objective.terms}  # compiled code sorts names
            return Tangent(
                {n: r.values.reshape(-1) for n, r in rows.items()},
                {n: r.jacobian.reshape(-1, at.size) for n, r in rows.items()},
                {n: jnp.repeat(jnp.sqrt(scales[n]), r.values.shape[1]) for n, r in rows.items()},
            )

    def rho(self, theta: np.ndarray) -> np.ndarray:
        """ρ at the parameters θ."""
        with double():
            return np.asarray(self._rho(jnp.asarray(theta), self.data))

    def slope(self, theta: Array) -> Array:
        """Jᵀ ρ, half the gradient of the loss."""
        return self.objective.measure(theta, self.data).gradient / 2

    def descended(self, theta: np.ndarray, step: float, count: int) -> np.ndarray:
        """The parameters after `count` steps θ ← θ − η Jᵀ ρ of gradient descent on half the loss."""
        with double():
            return np.asarray(self._descend(jnp.asarray(theta), jnp.asarray(step), jnp.asarray(count)))

    def trained(self, steps: int, *, rate: float = 1e-3) -> np.ndarray:
        """The parameters after `steps` steps of Adam from the initial ones, on the same points."""
        with double():
            method = dataclasses.replace(self.method, stages=(Adam(steps=steps, rate=rate),))
            preparation = Preparation([Run(self.problem, method, self.seed)])
            [outcome] = train(preparation, progress=Progress(visible=False))
            return outcome.function.to_arrays()["theta"]

    @cached_property
    def _rows(self) -> Any:
        return jax.jit(self.objective.rows)

    @cached_property
    def _descend(self) -> Any:
        def descend(theta: Array, step: Array, count: Array) -> Array:
            return jax.lax.fori_loop(0, count, lambda _, t: t - step * self.slope(t), theta)

        return jax.jit(descend)

    @cached_property
    def _rho(self) -> Any:
        def rho(theta: Array, data: Any) -> Array:
            values, scales = self.objective.mismatches(theta, data), self.objective.scales(data)
            return jnp.concatenate(
                [(jnp.sqrt(scales[n])[:, None] * v).reshape(-1) for n, v in values.items()]
            )

        return jax.jit(rho)


def hard_method(problem: Problem, method: Method) -> Method:
    """The method with exact initial data: with its own lift and gate, or e^(−t) u₀ and t/T if it has none."""
    if isinstance(method.lift, NoLift):
        method = dataclasses.replace(method, lift=Decay(1.0), gate=LinearGate())
    return _held(problem, method)


def soft_method(problem: Problem, method: Method) -> Method:
    """The method without lift and gate, with penalties for the conditions they hold."""
    return _held(problem, dataclasses.replace(method, lift=NoLift(), gate=NoGate()))


def _held(problem: Problem, method: Method) -> Method:
    """The method with one penalty for each condition that its trial function leaves open."""
    with double():
        trial = make_trial(problem, method)
    kinds = list(dict.fromkeys(kind for kind, _ in trial.left_open))
    kept = [p for p in method.penalties if all(t.closes is None for t in p.terms(problem))]
    for kind in kinds:
        own = [p for p in method.penalties if any((t.closes or ("",))[0] == kind for t in p.terms(problem))]
        kept += own or [_STANDARD[kind]]
    return dataclasses.replace(method, penalties=tuple(kept))


def _still(method: Method, points: int) -> Method:
    return dataclasses.replace(
        method,
        points=points,
        batches=None,
        weights=None,
        resampling=None,
        windows=1,
        horizons=(1.0,),
        curriculum=None,
        lessons=1,
        stages=(Adam(precision="float64"),),
    )
