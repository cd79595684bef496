"""The Gauss–Newton Hessians of soft and hard training, and bounds on their norms.

With h = ∂N/∂θ, the features of the network N at some parameters, define

    A = (∂ₜ − F′(u)) h  at residual points,    B = h  there,    C = h  at initial points,

where F′(u) is the derivative of the right-hand side. The Gauss–Newton Hessians of half the losses are
H_s = AᵀA/N + CᵀC/M and, with a gate φ(t),

    H_h = EᵀE/N,   E = Φ A + Φₜ B,   Φ = diag φ,  Φₜ = diag φₜ.

If the gate varies in space, F′(φh) ≠ φF′(h) and E has a further term, the commutator.
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

from ....machine.precision import double
from ....objective import RESIDUAL, Block, Objective, Term, residual_block
from ....problem import Index, Problem
from ....theory.kernel import spectral_norm
from ....theory.systems import System
from ....trial import Trial, jet_of

_LINEARIZED, _VALUES = "linearized", "values"


@dataclass(frozen=True, eq=False)
class Matrices:
    """A, B, C and E, with a row for every component at every point."""

    soft_operator: Float[np.ndarray, "rows parameters"]
    """A about the soft trial function, the network itself."""
    operator: Float[np.ndarray, "rows parameters"]
    """A about the hard trial function; the same for a linear equation."""
    features: Float[np.ndarray, "rows parameters"]
    """B."""
    penalties: Mapping[str, Float[np.ndarray, "some parameters"]]
    """C, and the like for soft boundary data: rows times the root of their factor in the loss."""
    hard: Float[np.ndarray, "rows parameters"]
    """E as training computes it, from the derivatives of the trial function."""
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
        """R with H_s = RᵀR."""
        return np.concatenate([self.soft_operator / np.sqrt(self.points), *self.penalties.values()])

    @property
    def hard_rows(self) -> Float[np.ndarray, "rows parameters"]:
        """R with H_h = RᵀR."""
        return self.hard / np.sqrt(self.points)


def matrices(soft: System, hard: System, theta: np.ndarray | None = None) -> Matrices:
    """A, B, C and E of a soft and a hard system with one network, by default at its initial parameters."""
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
    """Both sides of the bounds on |H_s| and |H_h|, and the numbers in them."""

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
    """L = |A|/|B| about the hard trial function."""
    soft_operator_norm: float
    """|A|/|B| about the soft trial function."""
    induced_norm: float
    """sup |Aδ|/|Bδ| over directions δ: the operator norm on the sampled trial space."""
    unseen: float
    """max |Aδ|/|A| over unit δ with Bδ = 0; above rounding, the induced norm is infinite."""
    commutator: float
    """|E − (ΦA + ΦₜB)| over |E|: rounding only if the gate depends on time alone."""


def bounds(found: Matrices) -> Bounds:
    """Evaluate both bounds."""
    c1, c2 = float(np.max(found.gate**2)), float(np.max(np.abs(found.gate * found.gate_t)))
    c3 = float(np.max(found.gate_t**2))
    b, a, a_soft = (
        spectral_norm(found.features),
        spectral_norm(found.operator),
        spectral_norm(found.soft_operator),
    )
    size, soft_size = a / b, a_soft / b
    penalties = sum(spectral_norm(rows) ** 2 for rows in found.penalties.values())
    induced, unseen = _induced(found.operator, found.features)
    return Bounds(
        soft_norm=spectral_norm(found.soft_rows) ** 2,
        soft_bound=(soft_size * b) ** 2 / found.points + penalties,
        hard_norm=spectral_norm(found.hard_rows) ** 2,
        hard_bound=(c1 * size**2 + 2 * c2 * size + c3) * b**2 / found.points,
        c1=c1,
        c2=c2,
        c3=c3,
        operator_norm=size,
        soft_operator_norm=soft_size,
        induced_norm=induced,
        unseen=unseen,
        commutator=spectral_norm(found.hard - found.composed) / spectral_norm(found.hard),
    )


def _induced(operator: np.ndarray, features: np.ndarray) -> tuple[float, float]:
    """sup |Aδ|/|Bδ|, and the share of A on the null space of B."""
    _, sizes, turned = scipy.linalg.svd(features, full_matrices=False, check_finite=False)
    seen = sizes > max(features.shape) * np.finfo(float).eps * sizes[0]
    basis = turned[seen]
    rest = operator - (operator @ basis.T) @ basis
    unseen = spectral_norm(rest) / spectral_norm(operator)
    if unseen > 1e-9:
        return float("inf"), unseen
    return spectral_norm((operator @ basis.T) / sizes[seen]), unseen


def _linearized(trial: Trial, network: Any, points: np.ndarray) -> Term:
    """A term with the linearised residual about the hard trial function, applied to the network itself."""
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
    """A term with the network's values at the residual points."""

    def block(free: Trial, seed: int) -> Block:
        return residual_block(free, points, chunk=len(points), pruned=False)

    def mismatch(free: Trial, theta: Any, part: Block, parameters: Mapping[str, Any]) -> Array:
        zero = _ends(free.problem)[0]
        return free.jet(theta, part.fixed[0], (zero,))[zero]

    return Term(_VALUES, 1.0, None, mismatch, block)


def _ends(problem: Problem) -> tuple[Index, Index]:
    """The indices of the value and of its time derivative."""
    return (0,) * len(problem.axes), (1, *(0 for _ in problem.space))
