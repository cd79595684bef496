"""Soft conditions: penalties on initial data, periodicity, boundary data and observations."""

from __future__ import annotations

import abc
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..errors import MethodError
from ..problem import Index, Problem, Shape, Side
from ..trial import Trial
from . import sampling
from .term import Block, Term, make_block


class Penalty(abc.ABC):
    """A condition that the loss enforces, because the trial function does not."""

    def __post_init__(self) -> None:
        name, weight = type(self).__name__, getattr(self, "weight", 1.0)
        if not (isinstance(weight, int | float) and math.isfinite(weight) and weight > 0):
            raise MethodError(f"{name}: weight must be positive, but is {weight!r}.")
        points = getattr(self, "points", 1)
        if not (isinstance(points, int) and points >= 1):
            raise MethodError(f"{name}: points must be a whole number of at least 1, but is {points!r}.")
        order = getattr(self, "order", 0)
        if not (isinstance(order, int) and 0 <= order <= 6):
            raise MethodError(f"{name}: order must be a whole number from 0 to 6, but is {order!r}.")

    @abc.abstractmethod
    def terms(self, problem: Problem) -> list[Term]:
        """Its terms of the loss for a problem, one per condition."""


@dataclass(frozen=True)
class InitialPenalty(Penalty):
    """The mean of |u(t₀, x) − u₀(x)|² over points at the start, and of |uₜ − v₀|² where v₀ is given."""

    points: int = 128
    """Points at the start."""
    weight: float = 1.0
    """Its factor in the loss."""

    def terms(self, problem: Problem) -> list[Term]:
        indices = [(k, *(0 for _ in problem.space)) for k in range(problem.order)]

        def block(trial: Trial, seed: int) -> Block:
            own = trial.problem
            points = sampling.at_start(own, self.points, seed=seed, purpose="initial")
            place = [jnp.asarray(c) for c in points.T[1:]]
            wanted = [own.initial_values(place), *([own.initial_velocities(place)] if own.order == 2 else [])]
            target = jnp.concatenate([own.to_components(values) for values in wanted], axis=1)
            return make_block((trial.fix(jnp.asarray(points), indices),), target)

        def mismatch(trial: Trial, network: Any, block: Block, parameters: Any) -> Array:
            assert block.target is not None
            jet = trial.jet(network, block.fixed[0], indices)
            return jnp.concatenate([jet[index] for index in indices], axis=1) - block.target

        return [Term("initial", self.weight, ("initial", None), mismatch, block)]


@dataclass(frozen=True)
class PeriodicPenalty(Penalty):
    """The mean of |∂ᵏu(t, a) − ∂ᵏu(t, b)|², k = 0 … order, over points at both ends of each periodic axis."""

    points: int = 128
    """Pairs of points at the ends of each periodic axis."""
    weight: float = 1.0
    """Its factor in the loss."""
    order: int = 0
    """The highest derivative along the axis that is matched; 0 for values alone."""

    def terms(self, problem: Problem) -> list[Term]:
        axes = [a for a, condition in enumerate(problem.boundaries) if condition.periodic]
        return [self._term(problem, axis, alone=len(problem.space) == 1) for axis in axes]

    def _term(self, problem: Problem, axis: int, *, alone: bool) -> Term:
        name = "periodic" if alone else f"periodic {problem.space[axis]}"
        indices: list[Index] = [
            tuple(k if i == axis + 1 else 0 for i in range(len(problem.axes))) for k in range(self.order + 1)
        ]

        def block(trial: Trial, seed: int) -> Block:
            own = trial.problem
            ends = sampling.on_parts(own, own.domain.ends(axis), self.points, seed=seed, purpose=name)
            return make_block(tuple(trial.fix(jnp.asarray(end), indices) for end in ends))

        def mismatch(trial: Trial, network: Any, block: Block, parameters: Any) -> Array:
            low, high = (trial.jet(network, fixed, indices) for fixed in block.fixed)
            gaps = [low[i] - high[i] for i in indices if i in low and i in high]
            return jnp.concatenate(gaps, axis=1)

        return Term(name, self.weight, ("periodic", axis), mismatch, block)


@dataclass(frozen=True)
class BoundaryPenalty(Penalty):
    """The mean of |Σ αₖ ∂ᵏu/∂nᵏ − g|² over points at both ends of each axis with boundary data.

    On a curved domain it is that over points on all parts, of conditions that do not hold by construction.
    """

    points: int = 128
    """Half of them at either end of an axis; on a curved boundary by length or area."""
    weight: float = 1.0
    """Its factor in the loss."""

    def terms(self, problem: Problem) -> list[Term]:
        if problem.pieces:
            return [Term("boundary", self.weight, ("boundary", None), _rim_mismatch, self._rim)]
        axes = [axis for axis, ends in enumerate(problem.boundaries) if ends.bound]
        return [self._term(problem, axis, alone=len(problem.space) == 1) for axis in axes]

    def _rim(self, trial: Trial, seed: int) -> Block:
        """Points on a curved boundary, with the factors and data of the conditions there."""
        problem, domain = trial.problem, cast(Shape, trial.problem.domain)
        held = set() if ("initial", None) in trial.left_open else trial.walls.held
        total = sum(domain.extent(part) for part in domain.parts)
        indices = _rim_indices(problem)
        places, factors, targets = [], [], []
        for number, piece in enumerate(problem.pieces):
            count = max(4, math.ceil(self.points * domain.extent(piece.part) / total))
            (points,) = sampling.on_parts(
                problem, [piece.part], count, seed=seed, purpose=f"boundary {number}"
            )
            data = problem.piece_components(piece, [jnp.asarray(c) for c in points.T])
            normal = domain.normal(piece.part, points[:, 1:])
            own = np.zeros((count, len(problem.components), len(indices)))
            target = np.zeros(own.shape[:2])
            for component, field in enumerate(problem.component_fields):
                if (piece.part, component) in held:
                    continue
                for condition, g in zip(piece.conditions[field], data[component], strict=True):
                    target[:, component] = np.asarray(g)
                    for index, factor in condition.terms(normal):
                        own[:, component, indices.index(index)] += np.asarray(factor)
            places.append(points)
            factors.append(own)
            targets.append(target)
        fixed = trial.fix(jnp.asarray(np.concatenate(places)), indices)
        made = make_block((fixed,), jnp.asarray(np.concatenate(targets)))
        return Block(made.fixed, made.target, made.share, jnp.asarray(np.concatenate(factors)))

    def _term(self, problem: Problem, axis: int, *, alone: bool) -> Term:
        name = "boundary" if alone else f"boundary {problem.space[axis]}"
        sides, domain = problem.boundaries[axis].sides, problem.domain
        fields = problem.component_fields

        def terms(side: Side, points: Any) -> list[list[list[tuple[Index, Any]]]]:
            """The left-hand side of each condition, by component."""
            normal = domain.normal(side.part, points)
            return [[condition.terms(normal) for condition in side.conditions[field]] for field in fields]

        def block(trial: Trial, seed: int) -> Block:
            own, count = trial.problem, (self.points + 1) // 2
            ends = sampling.on_parts(own, domain.ends(axis), count, seed=seed, purpose=name)
            t = jnp.asarray(ends[0][:, 0])
            across = [jnp.asarray(c) for i, c in enumerate(ends[0].T[1:]) if i != axis]
            data = [
                g for side in own.boundaries[axis].sides for g in own.boundary_components(side, t, across)
            ]
            target = jnp.stack([g for each in data for g in each], axis=1)
            fixed = []
            for side, end in zip(sides, ends, strict=True):
                sums = itertools.chain(*itertools.chain(*terms(side, end[:, 1:])))
                indices = dict.fromkeys(index for index, _ in sums)
                fixed.append(trial.fix(jnp.asarray(end), list(indices) or [(0,) * len(problem.axes)]))
            return make_block(tuple(fixed), target)

        def mismatch(trial: Trial, network: Any, block: Block, parameters: Any) -> Array:
            found = []
            for side, fixed in zip(sides, block.fixed, strict=True):
                each = terms(side, fixed.coordinates[:, 1:])
                indices = dict.fromkeys(index for index, _ in itertools.chain(*itertools.chain(*each)))
                jet = trial.jet(network, fixed, list(indices)) if indices else {}
                zero = jnp.zeros(len(fixed.coordinates), fixed.coordinates.dtype)
                for component, conditions in enumerate(each):
                    for condition in conditions:
                        known = (f * jet[i][:, component] for i, f in condition if i in jet)
                        found.append(sum(known, start=zero))
            # Both ends of a pair belong to one point of the mean: half of each.
            assert block.target is not None
            return (jnp.stack(found, axis=1) - block.target) * math.sqrt(0.5)

        return Term(name, self.weight, ("boundary", axis), mismatch, block)


def _rim_indices(problem: Problem) -> list[Index]:
    """The derivatives of u that conditions on a curved boundary use."""
    normal = (1.0,) * problem.domain.dimension
    conditions = (c for piece in problem.pieces for own in piece.conditions for c in own)
    return list(dict.fromkeys(index for condition in conditions for index, _ in condition.terms(normal)))


def _rim_mismatch(trial: Trial, network: Any, block: Block, parameters: Any) -> Array:
    indices = _rim_indices(trial.problem)
    jet = trial.jet(network, block.fixed[0], indices)
    assert block.target is not None
    assert block.factors is not None
    found = -block.target
    for number, index in enumerate(indices):
        if index in jet:
            found = found + block.factors[..., number] * jet[index]
    return found


@dataclass(frozen=True)
class DataPenalty(Penalty):
    """The mean of |u − measured|² over observations: rows (t, x, …, one value per real component)."""

    rows: tuple[tuple[float, ...], ...]
    """One row of numbers per observation."""
    weight: float = 1.0
    """Its factor in the loss."""

    def __post_init__(self) -> None:
        try:
            table = np.asarray(self.rows, float)
        except (TypeError, ValueError) as error:
            raise MethodError("DataPenalty takes rows of numbers: (t, x, …, values), …") from error
        if table.ndim != 2 or not len(table) or not np.isfinite(table).all():
            raise MethodError(
                f"DataPenalty takes at least one row of finite numbers (t, x, …, values), all of one length; "
                f"not an array of shape {table.shape}"
                f"{'' if np.isfinite(table).all() else ' with NaN or infinite numbers'}."
            )
        object.__setattr__(self, "rows", tuple(tuple(float(v) for v in row) for row in table))
        super().__post_init__()

    def check_inside(self, problem: Problem) -> None:
        """Refuse observations outside the problem's time and space."""
        ends = [(problem.start, problem.horizon), *problem.domain.bounds]
        for axis, (name, (low, high)) in enumerate(zip(problem.axes, ends, strict=True)):
            for row in self.rows:
                if not low <= row[axis] <= high:
                    raise MethodError(
                        f"An observation of {problem.name} lies at {name} = {row[axis]:g}, outside "
                        f"{low:g} ≤ {name} ≤ {high:g}."
                    )

    def terms(self, problem: Problem) -> list[Term]:
        table = np.asarray(self.rows)
        axes, parts = len(problem.axes), len(problem.components)
        if table.shape[1] != axes + parts:
            raise MethodError(
                f"Each observation of {problem.name} is a row of {axes + parts} numbers ("
                f"{', '.join((*problem.axes, *problem.components))}), but {table.shape[1]} were given."
            )
        zero = (0,) * axes

        def block(trial: Trial, seed: int) -> Block:
            # Of a longer table, the rows that lie in this time window.
            here = (table[:, 0] >= trial.problem.start) & (table[:, 0] <= trial.problem.horizon)
            kept = table[here] if here.any() else table[:1]  # which then has no share
            made = make_block((trial.fix(jnp.asarray(kept[:, :axes]), (zero,)),), jnp.asarray(kept[:, axes:]))
            return made if here.any() else Block(made.fixed, made.target, jnp.zeros_like(made.share))

        return [Term("data", self.weight, None, _value_mismatch, block)]


def penalty_terms(trial: Trial, penalties: Sequence[Penalty]) -> list[Term]:
    """The terms that penalties add to the loss of a trial: for conditions it leaves open, and for data."""
    terms = [term for penalty in penalties for term in penalty.terms(trial.problem)]
    return [term for term in terms if term.closes is None or term.closes in trial.left_open]


def check_penalties(trial: Trial, penalties: Sequence[Penalty]) -> None:
    """Every condition must hold either by construction or by a penalty, and not by both.

    A penalty for several conditions is needless only if all of them already hold.
    """
    problem = trial.problem
    found = [term.closes for term in penalty_terms(trial, penalties) if term.closes]
    for kind, axis in trial.left_open:
        if (kind, axis) not in found:
            raise MethodError(_MISSING[kind].format(along=_along(problem, axis), name=problem.name))
    for penalty in penalties:
        terms = penalty.terms(problem)
        if not terms:
            raise MethodError(f"{type(penalty).__name__} has no effect on {problem.name}: leave it out.")
        if not penalty_terms(trial, [penalty]) and terms[0].closes:
            kind, axis = terms[0].closes
            raise MethodError(_NEEDLESS[kind].format(along=_along(problem, axis), name=problem.name))
    if len(found) != len(set(found)):
        raise MethodError("Two penalties stand for the same condition: leave one out.")
    names = [term.name for term in penalty_terms(trial, penalties)]
    if len(names) != len(set(names)):
        raise MethodError("Two penalties stand for observations: put all rows into one DataPenalty.")


def _along(problem: Problem, axis: int | None) -> str:
    return "" if axis is None else f" along {problem.space[axis]}"


_MISSING = {
    "initial": (
        "Nothing holds the initial data of {name}: the method has no lift. Add InitialPenalty() to its "
        "penalties, or use lift=Decay(…) and gate=LinearGate()."
    ),
    "periodic": (
        "The embedding differs between the two ends, so the network would not be periodic{along}, as {name} "
        "is. Use embedding=Fourier(modes), or add PeriodicPenalty() to the penalties."
    ),
    "boundary": (
        "Nothing holds the boundary data of {name}{along}. Add BoundaryPenalty() to the method's penalties."
    ),
}

_NEEDLESS = {
    "initial": (
        "The initial data of {name} hold exactly already, so InitialPenalty() would do nothing. Leave it "
        "out, or use lift=NoLift() and gate=NoGate()."
    ),
    "periodic": (
        "The embedding is periodic{along} already, so PeriodicPenalty() would do nothing. Leave it "
        "out, or use embedding=Plain()."
    ),
    "boundary": (
        "The boundary data of {name}{along} hold exactly already, so BoundaryPenalty() would do "
        "nothing. Leave it out, or use lift=NoLift() and gate=NoGate()."
    ),
}


def _value_mismatch(trial: Trial, network: Any, block: Block, parameters: Any) -> Array:
    zero = (0,) * len(trial.problem.axes)
    assert block.target is not None
    return trial.jet(network, block.fixed[0], (zero,))[zero] - block.target
