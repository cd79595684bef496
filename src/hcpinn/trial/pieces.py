"""Lifts and factors on curved domains: prescribed values hold, other conditions are left to engines.

The data are functions of t, x, …, and so their own continuation into the domain. Where parts have different
ones, weights wᵢ = Π_{j≠i} gⱼ / Σₖ Π_{j≠k} gⱼ join them, with gⱼ the function that vanishes on part j.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..problem import Piece, Problem
from .function import columns
from .walls import Held, OpenCondition, Walls

Swing = Callable[[Array, Array, Callable[[], Array]], Array]
"""s(t − t₀, u₀, v₀): what starts at u₀, and for the second order in time with the velocity v₀."""


def held_parts(problem: Problem, field: int) -> tuple[str, ...]:
    """The parts on which the values of a field are prescribed."""
    return tuple(p.part for p in problem.pieces if p.value_of(field) is not None)


def on_pieces(
    problem: Problem, swing: Swing, parameters: Mapping[str, Any] | None = None
) -> Callable[[Array], Array]:
    """ψ = s(u₀, v₀) + Σ wᵢ (gᵢ(t) − s(gᵢ, ∂gᵢ/∂t at t₀)): all data on values, and the start."""
    groups = [_grouped(problem, field) for field in range(len(problem.fields))]

    def lift(points: Array) -> Array:
        t, *space = columns(problem, points)
        since = (t - problem.start)[:, None]
        value = swing(
            since,
            problem.to_components(problem.initial_values(space, parameters)),
            lambda: problem.to_components(problem.initial_velocities(space, parameters)),
        )
        added, at = [], 0
        for field, is_complex in enumerate(problem.complex_fields):
            total: Any = jnp.zeros_like(value[:, at : at + (2 if is_complex else 1)])
            for piece, weight in groups[field]:
                if _vanishes(piece, field):
                    continue
                moved = _moved(problem, piece, field, swing, t, space, parameters)
                total = total + weight(points[:, 1:])[:, None] * moved
            added.append(total)
            at += total.shape[1]
        return value + jnp.concatenate(added, axis=1)

    return lift


class Rim(Held):
    """What holds on the boundary of a curved domain: prescribed values."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.held = {
            (part, component)
            for component, field in enumerate(problem.component_fields)
            for part in held_parts(problem, field)
        }

    @property
    def bound(self) -> list[OpenCondition]:
        return [("boundary", None)]

    @property
    def left_open(self) -> list[OpenCondition]:
        open_ones = any(
            piece.conditions[field] and (piece.part, component) not in self.held
            for piece in self.problem.pieces
            for component, field in enumerate(self.problem.component_fields)
        )
        return self.bound if open_ones else []

    @property
    def terms(self) -> list[list[tuple[bool, ...]]]:
        return [[()] for _ in self.problem.components]

    @property
    def plain(self) -> bool:
        return len({held_parts(self.problem, field) for field in self.problem.component_fields}) == 1

    @property
    def shaped(self) -> bool:
        return False

    def factors(self, coordinates: Any) -> Any:
        fields = self.problem.component_fields[: 1 if self.plain else None]
        each = [
            self.problem.domain.edge_factor(held_parts(self.problem, field), coordinates[:, 1:])
            for field in fields
        ]
        return jnp.stack([value + 0 * coordinates[:, 0] for value in each], axis=1)


def holding(problem: Problem, *, even: bool = False) -> Held:
    """What holds by construction; with `even` the features of a box hold conditions on slopes too."""
    return Walls(problem, even=even) if problem.domain.product else Rim(problem)


def _moved(
    problem: Problem,
    piece: Piece,
    field: int,
    swing: Swing,
    t: Array,
    space: list[Array],
    parameters: Mapping[str, Any] | None,
) -> Array:
    """How far the data are from where they would be by their value and speed at t₀: real components."""
    number = piece.value_of(field)
    assert number is not None
    factor = piece.conditions[field][number].factors[0]

    def data(time: Array) -> Array:
        own = problem.data_on(piece, [time, *space], parameters=parameters)[field][number] / factor
        parts = [jnp.real(own), jnp.imag(own)] if problem.complex_fields[field] else [jnp.real(own)]
        return jnp.stack(parts, axis=1)

    begin = jnp.full_like(t, problem.start)
    first, speed = jax.jvp(data, (begin,), (jnp.ones_like(begin),))
    return data(t) - swing((t - problem.start)[:, None], first, lambda: speed)


def _vanishes(piece: Piece, field: int) -> bool:
    """Whether the data are zero for good."""
    number = piece.value_of(field)
    assert number is not None
    data = piece.conditions[field][number].data
    each = data if isinstance(data, tuple) else (data,)
    return not any(callable(d) or d for d in each)


def _grouped(problem: Problem, field: int) -> list[tuple[Piece, Callable[[Array], Array]]]:
    """For each different datum one piece that has it, and its weight."""
    found: dict[int, list[Piece]] = {}
    for piece in problem.pieces:
        number = piece.value_of(field)
        if number is not None:
            found.setdefault(id(piece.conditions[field][number].data), []).append(piece)
    domain, sets = problem.domain, [tuple(p.part for p in own) for own in found.values()]
    if len(sets) == 1:
        (own,) = found.values()
        return [(own[0], lambda points: jnp.ones_like(points[:, 0]))]

    def weight(number: int) -> Callable[[Array], Array]:
        def of(points: Array) -> Array:
            each = [domain.edge_factor(parts, points) for parts in sets]
            products = []
            for left in range(len(each)):
                product = jnp.ones_like(points[:, 0])
                for k, value in enumerate(each):
                    product = product if k == left else product * value
                products.append(product)
            return products[number] / sum(products[1:], start=products[0])

        return of

    return [(own[0], weight(k)) for k, own in enumerate(found.values())]
