"""The Hessians of soft and hard training to first order in the network, and the bounds on their norms.

With h = ∂N/∂θ the features of the network N at some parameters, the study's matrices are

    A = (∂ₜ − F′(u)) h  at residual points,    B = h  there,    C = h  at initial points,

F′(u) the derivative of the right-hand side (F itself, if that is linear). The Gauss–Newton Hessians of
half the losses are H_s = AᵀA/N + CᵀC/M, and with a gate φ(t)

    H_h = EᵀE/N,   E = Φ A + Φₜ B,   Φ = diag φ,  Φₜ = diag φₜ.

For a gate that varies in space, F′(φh) ≠ φF′(h), and E has a further part, the commutator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jaxtyping import Array, Float

from ..machine.precision import double
from ..objective import RESIDUAL, Block, Objective, Term, residual_block
from ..problem import Index, Problem
from ..trial import Trial, jet_of
from .kernel import norm
from .systems import System

_LINEARIZED, _VALUES = "linearized", "values"


@dataclass(frozen=True, eq=False)
class Matrices:
    """What the theorem is made of, rows for every component at every point."""

    soft_operator: Float[np.ndarray, "rows parameters"]
    """A about the soft trial function, which is the network."""
    operator: Float[np.ndarray, "rows parameters"]
    """A about the hard trial function; the same if the equation is linear."""
    features: Float[np.ndarray, "rows parameters"]
    """B."""
    penalties: Mapping[str, Float[np.ndarray, "some parameters"]]
    """C and, where boundary data are soft too, theirs: rows times the root of their factor in the loss."""
    hard: Float[np.ndarray, "rows parameters"]
    """E, the hard residual's Jacobian as training has it, from the trial function's own derivatives."""
    gate: Float[np.ndarray, " rows"]
    gate_t: Float[np.ndarray, " rows"]
    points: int
    """N."""

    @property
    def composed(self) -> Float[np.ndarray, "rows parameters"]:
        """Φ A + Φₜ B."""
        return self.gate[:, None] * self.operator + self.gate_t[:, None] * self.features

    @property
    def soft_rows(self) -> Float[np.ndarray, "all_rows parameters"]:
        """Rows whose Gram matrix is H_s."""
        return np.concatenate([self.soft_operator / np.sqrt(self.points), *self.penalties.values()])

    @property
    def hard_rows(self) -> Float[np.ndarray, "rows parameters"]:
        """Rows whose Gram matrix is H_h."""
        return self.hard / np.sqrt(self.points)


def matrices(soft: System, hard: System, theta: np.ndarray | None = None) -> Matrices:
    """A, B, C and E of a soft and a hard system with one network, at one set of parameters."""
    with double():
        at = jnp.asarray(hard.theta if theta is None else theta)
        points = np.asarray(hard.data.blocks[RESIDUAL].fixed[0].coordinates)
        terms = [_linearized(hard.trial, hard.objective.unravel(at), points), _values(points)]
        penalties = soft.objective.penalties
        probe = Objective(
            soft.trial, hard.objective.unravel(at), chunk=hard.objective.chunk, penalties=[*penalties, *terms]
        )
        data = probe.data(points, seed=soft.seed)
        rows, scales = jax.jit(probe.rows)(at, data), probe.scales(data)

        def tall(name: str) -> np.ndarray:
            return np.asarray(rows[name].jacobian).reshape(-1, at.size)

        held = {}
        for term in penalties:
            root = np.sqrt(np.asarray(scales[term.name]))
            held[term.name] = (root[:, None, None] * np.asarray(rows[term.name].jacobian)).reshape(
                -1, at.size
            )
        zero, first = _ends(hard.problem)
        gate = jet_of(hard.trial.gate, jnp.asarray(points), (zero, first))
        each = hard.trial.outputs
        return Matrices(
            tall(RESIDUAL),
            tall(_LINEARIZED),
            tall(_VALUES),
            held,
            np.asarray(hard.tangent(np.asarray(at)).jacobians[RESIDUAL]),
            np.repeat(np.asarray(gate[zero])[:, 0], each),
            np.repeat(np.asarray(gate[first])[:, 0], each),
            len(points),
        )


@dataclass(frozen=True)
class Bounds:
    """Both sides of the theorem's inequalities, and what they are made of."""

    soft_norm: float
    """|H_s|₂."""
    soft_bound: float
    """L²|B|²/N + |C|²/M."""
    hard_norm: float
    """|H_h|₂."""
    hard_bound: float
    """(C₁L² + 2C₂L + C₃)|B|²/N."""
    c1: float
    c2: float
    c3: float
    operator_norm: float
    """L = |A|/|B|, the smallest number with |A| ≤ L|B|, about the hard trial function."""
    soft_operator_norm: float
    """The same about the soft one."""
    induced_norm: float
    """sup |Aδ|/|Bδ| over parameters: what an operator norm on the sampled trial space would be."""
    unseen: float
    """|Aδ| over |A| for the worst δ that B does not see; above rounding, the induced norm is infinite."""
    commutator: float
    """|E − (ΦA + ΦₜB)| over |E|: nothing but rounding for a gate of time alone."""


def bounds(found: Matrices) -> Bounds:
    """Evaluate the theorem."""
    c1, c2 = float(np.max(found.gate**2)), float(np.max(np.abs(found.gate * found.gate_t)))
    c3 = float(np.max(found.gate_t**2))
    b, a, a_soft = norm(found.features), norm(found.operator), norm(found.soft_operator)
    size, soft_size = a / b, a_soft / b
    penalties = sum(norm(rows) ** 2 for rows in found.penalties.values())
    induced, unseen = _induced(found.operator, found.features)
    return Bounds(
        soft_norm=norm(found.soft_rows) ** 2,
        soft_bound=(soft_size * b) ** 2 / found.points + penalties,
        hard_norm=norm(found.hard_rows) ** 2,
        hard_bound=(c1 * size**2 + 2 * c2 * size + c3) * b**2 / found.points,
        c1=c1,
        c2=c2,
        c3=c3,
        operator_norm=size,
        soft_operator_norm=soft_size,
        induced_norm=induced,
        unseen=unseen,
        commutator=norm(found.hard - found.composed) / norm(found.hard),
    )


@dataclass(frozen=True)
class Curvature:
    """The whole Hessian of half the loss, with the network's own second derivatives in it."""

    largest: float
    smallest: float
    """Negative where the loss curves down, which no Gauss–Newton Hessian shows."""
    gauss_newton: float
    """The largest eigenvalue of Jᵀ J."""


def curvature(
    system: System, theta: np.ndarray | None = None, *, gauss_newton: float | None = None
) -> Curvature:
    """The extreme eigenvalues of the whole Hessian, by Lanczos' method on its products with vectors.

    `gauss_newton` is the largest eigenvalue of Jᵀ J, where that is known already.
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    with double():
        at = jnp.asarray(system.theta if theta is None else theta)
        whole = jax.jit(lambda v: jax.jvp(system.slope, (at,), (v,))[1])
        start = np.random.default_rng(0).standard_normal(at.size)
        product = lambda v: np.asarray(whole(jnp.asarray(v, float)))
        make: Any = LinearOperator
        operator = make((at.size, at.size), matvec=product, dtype=np.float64)
        options: Any = {"which": "BE", "v0": start, "tol": 1e-3, "return_eigenvectors": False}
        low, high = eigsh(operator, k=2, **options)
        if gauss_newton is None:
            gauss_newton = norm(np.asarray(system.tangent(np.asarray(at)).jacobian)) ** 2
    return Curvature(float(high), float(low), gauss_newton)


def _induced(operator: np.ndarray, features: np.ndarray) -> tuple[float, float]:
    """sup |Aδ|/|Bδ|, and how much of A lies where B is zero."""
    _, sizes, turned = scipy.linalg.svd(features, full_matrices=False, check_finite=False)
    seen = sizes > max(features.shape) * np.finfo(float).eps * sizes[0]
    basis = turned[seen]
    rest = operator - (operator @ basis.T) @ basis
    unseen = norm(rest) / norm(operator)
    if unseen > 1e-9:
        return float("inf"), unseen
    return norm((operator @ basis.T) / sizes[seen]), unseen


def _linearized(trial: Trial, network: Any, points: np.ndarray) -> Term:
    """The residual's derivative about the hard trial function, as a linear map of the plain network."""
    problem = trial.problem

    def block(free: Trial, seed: int) -> Block:
        own = residual_block(free, points, chunk=len(points), pruned=False)
        base = residual_block(trial, points, chunk=len(points), pruned=False)
        return Block((*own.fixed, *base.fixed), None, own.share)

    def mismatch(free: Trial, theta: Any, part: Block, parameters: Mapping[str, Any]) -> Array:
        moving = free.jet(theta, part.fixed[0])
        base = trial.jet(network, part.fixed[1])
        axes = [part.fixed[0].coordinates[:, i] for i in range(len(problem.axes))]
        nothing = jnp.zeros((len(axes[0]), trial.outputs), axes[0].dtype)
        indices = problem.derivatives

        def rates(values: list[Array]) -> Array:
            fields = {i: problem.to_fields(v) for i, v in zip(indices, values, strict=True)}
            given = problem.evaluate_rhs(lambda n, i: fields[i][n], axes, parameters)
            return problem.to_components([jnp.broadcast_to(g, axes[0].shape) for g in given])

        at = [base.get(i, nothing) for i in indices]
        along = [moving.get(i, nothing) for i in indices]
        return moving.get(_ends(problem)[1], nothing) - jax.jvp(rates, (at,), (along,))[1]

    return Term(_LINEARIZED, 1.0, None, mismatch, block)


def _values(points: np.ndarray) -> Term:
    """The network's values at the residual points."""

    def block(free: Trial, seed: int) -> Block:
        return residual_block(free, points, chunk=len(points), pruned=False)

    def mismatch(free: Trial, theta: Any, part: Block, parameters: Mapping[str, Any]) -> Array:
        zero = _ends(free.problem)[0]
        return free.jet(theta, part.fixed[0], (zero,))[zero]

    return Term(_VALUES, 1.0, None, mismatch, block)


def _ends(problem: Problem) -> tuple[Index, Index]:
    """The indices of the value and of its derivative in time."""
    return (0,) * len(problem.axes), (1, *(0 for _ in problem.space))
