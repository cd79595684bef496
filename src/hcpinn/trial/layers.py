"""Layers at walls whose data the initial data do not meet: how heat spreads from a step or a bend there.

Where uₜ = ν uₓₓ + … starts with B u₀ ≠ g, the solution sets out as u₀ + m E, with m = g − B u₀ and, at the
distance d from the wall, s = t − t₀, z = d/√(4νs),

    u = g prescribed                E = E₀ = erfc z
    αu + β ∂u/∂n = g prescribed     E = (E₁ − α/β E₂)/β,   E₁ = √(4νs) (e^{−z²}/√π − z erfc z),
                                                           E₂ = νs ((1 + 2z²) erfc z − 2z e^{−z²}/√π)

They solve Eₜ = ν E_dd and vanish at the start away from the wall. What B E lacks of 1, α²νs/β² later and what
comes from the other wall, is smooth.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .. import jets
from ..equation.probes import evaluate
from ..equation.start import initial_jet
from ..machine.precision import double
from ..problem import Condition, Problem, Side
from .edges import Edges, along_normal

_MISMATCH = 1e-8
"""Of the sizes of B u₀ and g: what is rounding."""

_FARTHEST = 26.0
"""The largest z: beyond it erfc is zero."""

_SOONEST = 1e-15
"""The smallest s, over the duration."""

_PLACES, _IRRATIONAL = 33, np.array([0.8191725134, 0.7548776662, 0.5698402910])


@dataclass(frozen=True, eq=False)
class Layer:
    """One component at one wall."""

    side: Side
    component: int
    number: int
    """Of the condition, among those of its field there."""
    condition: Condition
    rate: float
    """ν."""

    def shape(self, distance: Array, since: Array) -> Array:
        """E."""
        width = jnp.sqrt(4 * self.rate * since)
        z = jnp.minimum(distance / width, _FARTHEST)
        step, bell = jax.scipy.special.erfc(z), jnp.exp(-(z**2)) / np.sqrt(np.pi)
        if not self.condition.order:
            return step / self.condition.factors[0]
        value, slope = self.condition.factors
        ramp = width * (bell - z * step)
        if value:
            ramp = ramp - value / slope * width**2 * ((1 + 2 * z**2) * step - 2 * z * bell) / 4
        return ramp / slope


_KNOWN: WeakKeyDictionary[Problem, list[Layer]] = WeakKeyDictionary()


def layers_of(problem: Problem) -> list[Layer]:
    """The layers that a problem starts with."""
    if problem.order == 2 or problem.continued or any(problem.complex_fields):
        return []
    if problem not in _KNOWN:
        with double(), jax.ensure_compile_time_eval():
            _KNOWN[problem] = [layer for side in problem.sides for layer in _at(problem, side)]
    return _KNOWN[problem]


def _at(problem: Problem, side: Side) -> list[Layer]:
    """The layers at one wall: of real fields that diffuse and have one condition there."""
    single = [own[0] if len(own) == 1 and own[0].order < 2 else None for own in side.conditions]
    highest = max(index[side.axis + 1] for index in problem.derivatives)
    if highest != 2 or not any(single):
        return []
    unit = (np.arange(1, _PLACES + 1)[:, None] * _IRRATIONAL[: problem.domain.dimension]) % 1
    normal = problem.domain.normal(side.part, None)

    @jax.jit
    def look(points: Array, inside: Array) -> tuple[list[Array], list[Array], list[Array]]:
        terms = [[] if c is None else c.terms(normal) for c in single]
        own = {index for each in terms for index, _ in each}
        jet = initial_jet(problem, points, {*problem.derivatives, *own})
        across = [x for axis, x in enumerate(points.T[1:]) if axis != side.axis]
        data = problem.boundary_components(side, points[:, 0], across)
        gaps, rates = [], []
        for field, each in enumerate(terms):
            total = sum(factor * jet[index][:, field] for index, factor in each)
            gaps.append(jnp.stack([total - data[field][0], data[field][0]]) if each else jnp.zeros((2, 1)))
            rates.append(_diffusion(problem, points, jet, field, side.axis))
        return gaps, rates, problem.initial_values(list(inside.T))

    face = np.column_stack([np.full(_PLACES, problem.start), problem.domain.on(side.part, unit[:, 1:])])
    gaps, rates, start = look(jnp.asarray(face), jnp.asarray(problem.domain.inside(unit)))
    length, found = problem.domain.lengths[side.axis], []
    for field, condition in enumerate(single):
        if condition is None:
            continue
        gap, known = np.abs(np.asarray(gaps[field]))
        size = max(
            abs(f) * float(jnp.abs(start[field]).max()) / length**k for k, f in enumerate(condition.factors)
        )
        if gap.max() > _MISMATCH * max(size, float(known.max())) and float(rates[field].min()) > 0:
            found.append(Layer(side, field, 0, condition, float(jnp.median(rates[field]))))
    return found


def _diffusion(problem: Problem, points: Array, jet: jets.Jet, field: int, axis: int) -> Array:
    """∂F/∂uₓₓ of one field at points."""
    bend = tuple(2 * (i == axis + 1) for i in range(len(problem.axes)))
    values = {
        (n, index): jet[index][:, n] for index in problem.derivatives for n in range(len(problem.fields))
    }
    if (field, bend) not in values:
        return jnp.zeros(len(points))

    def rate(bending: Array) -> Array:
        return evaluate(problem, {**values, (field, bend): bending}, list(points.T))[field]

    given = values[field, bend]
    return jax.jvp(rate, (given,), (jnp.ones_like(given),))[1]


def with_layers(
    problem: Problem, held: Collection[tuple[str, int]], parameters: Mapping[str, Any], start: Edges
) -> Edges:
    """A function that continues u₀ with the layers added at the sides `held`, axis after axis."""
    total = start
    for axis in range(len(problem.space)):
        own = [l for l in layers_of(problem) if l.side.axis == axis and (l.side.part, l.component) in held]
        if own:
            total = _layered(problem, axis, own, total, parameters)
    return total


def _layered(
    problem: Problem, axis: int, layers: list[Layer], before: Edges, parameters: Mapping[str, Any]
) -> Edges:
    low, high = problem.domain.bounds[axis]

    def edges(t: Array, space: list[Array]) -> Array:
        across = [x for i, x in enumerate(space) if i != axis]
        since = jnp.maximum(t - problem.start, _SOONEST * problem.duration)
        base = before(t, space)
        columns = list(base.T)
        for layer in layers:
            side = layer.side
            begin = jnp.full_like(t, problem.start)
            wanted = problem.boundary_components(side, begin, across, parameters=parameters)
            jet = along_normal(before, side, problem, t, space, layer.condition.order)
            missing = wanted[layer.component][layer.number]
            for k, factor in enumerate(layer.condition.factors):
                if factor:
                    missing = missing - factor * side.sign**k * jet[k][:, layer.component]
            distance = high - space[axis] if side.end else space[axis] - low
            columns[layer.component] = columns[layer.component] + missing * layer.shape(distance, since)
        return jnp.stack(columns, axis=1)

    return edges
