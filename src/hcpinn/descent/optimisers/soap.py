"""SOAP: Adam in the eigenbasis of Shampoo's preconditioner (Vyas et al., arXiv:2409.11321).

For each weight matrix with gradient G the averages L of G Gᵀ and R of Gᵀ G are kept, and now and then their
eigenvectors Q and P. Adam's second moments are those of Qᵀ G P; its step is turned back, Q (…) Pᵀ.
Biases, which are vectors, have no second side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int

from .rates import Constant, Schedule
from .stage import Stage, Step, Target

_FIRST, _SECOND = 0.95, 0.95
"""How much of the averages of the gradient and of its squares each step keeps."""
_TINY = 1e-8


class _Side(eqx.Module):
    """One side of a weight matrix."""

    average: Float[Array, "n n"]
    basis: Float[Array, "n n"]


class _State(eqx.Module):
    count: Int[Array, ""]
    mean: list[Array]
    """The averaged gradient of each array of parameters."""
    square: list[Array]
    """The averaged square of the turned gradient."""
    sides: list[list[_Side]]


@dataclass(frozen=True)
class SOAP(Stage):
    """Adam in a turned basis: fewer steps than Adam's, each dearer by two small products per layer."""

    steps: int = 20_000
    """Steps of the stage."""
    rate: float = 3e-3
    """The learning rate."""
    every: int = 10
    """Steps between two renewals of the basis."""
    schedule: Schedule = Constant()
    """How the rate changes: `Constant()`, `Exponential(…)` or `Cosine(…)`."""
    precision: str = "float32"
    """"float32" or "float64"."""
    label: ClassVar[str] = "SOAP"
    tolerant: ClassVar[bool] = True

    def init(self, target: Target, theta: Array) -> Any:
        leaves = jax.tree.leaves(target.objective.unravel(theta))
        zeros = [jnp.zeros_like(leaf) for leaf in leaves]
        sides = [
            [_Side(jnp.zeros((n, n), theta.dtype), jnp.eye(n, dtype=theta.dtype)) for n in leaf.shape]
            if leaf.ndim == 2
            else []
            for leaf in leaves
        ]
        return _State(jnp.int32(0), zeros, zeros, sides)

    def step(self, target: Target, theta: Array, state: Any) -> Step:
        here = target(theta)
        tree = target.objective.unravel(here.gradient)
        leaves, structure = jax.tree.flatten(tree)
        count = state.count + 1
        renewed = (count == 1) | (count % self.every == 0)
        sides = [
            [_followed(side, _outer(g, axis), renewed) for axis, side in enumerate(own)]
            for g, own in zip(leaves, state.sides, strict=True)
        ]
        mean = [_FIRST * m + (1 - _FIRST) * g for m, g in zip(state.mean, leaves, strict=True)]
        turned = [_turned(g, own) for g, own in zip(leaves, sides, strict=True)]
        square = [_SECOND * v + (1 - _SECOND) * t**2 for v, t in zip(state.square, turned, strict=True)]
        whole = 1 - jnp.asarray([_FIRST, _SECOND], theta.dtype) ** count
        changes = [
            _back(_turned(m, own) / whole[0] / (jnp.sqrt(v / whole[1]) + _TINY), own)
            for m, v, own in zip(mean, square, sides, strict=True)
        ]
        change = ravel_pytree(jax.tree.unflatten(structure, changes))[0]
        rate = jnp.asarray(self.schedule.rate(self.rate, self.steps)(state.count), theta.dtype)
        following = _State(count, mean, square, sides)
        return Step(theta - rate * change, following, here.loss, here.terms, theta, here.squares)

    def renew(self, fresh: Any, before: Any) -> Any:
        return before

    def work(self, points: int, parameters: int) -> float:
        return float(points * parameters)

    def terminate(self, state: Any) -> Array:
        return jnp.int32(0)


def _outer(gradient: Array, axis: int) -> Array:
    return gradient @ gradient.T if axis == 0 else gradient.T @ gradient


def _followed(side: _Side, outer: Array, renewed: Array) -> _Side:
    """The average with one more gradient, and its eigenvectors where they are due."""
    average = _SECOND * side.average + (1 - _SECOND) * outer
    basis = jax.lax.cond(renewed, _eigenvectors, lambda _, basis: basis, average, side.basis)
    return _Side(average, basis)


def _eigenvectors(average: Array, basis: Array) -> Array:
    vectors = jnp.linalg.eigh(average)[1]
    return jnp.where(jnp.all(jnp.isfinite(vectors)), vectors, basis)


def _turned(array: Array, sides: list[_Side]) -> Array:
    if not sides:
        return array
    left, right = sides
    return left.basis.T @ array @ right.basis


def _back(array: Array, sides: list[_Side]) -> Array:
    if not sides:
        return array
    left, right = sides
    return left.basis @ array @ right.basis.T
