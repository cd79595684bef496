"""An orthonormal basis over a region whose functions meet the homogeneous conditions on its boundary.

Features with the gate meet those on values. For all others the features are made orthonormal first; their
conditions at points of the boundary are a matrix B, and what it sends to (nearly) zero is kept: c = V₀ a,
with V₀ the null space. What B can reach carries the data: B R h = h with its pseudo-inverse R.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import jax.numpy as jnp
import numpy as np
import scipy.linalg

from ...machine.precision import double
from ...problem import Index, Problem, Shape
from .layer import RegionLayer

_CUT = 1e-11
"""Singular values of features, over the largest, below which there is nothing but rounding."""

_ON_BOUNDARY = {2: 8.0, 3: 14.0}
"""Points on the boundary at which conditions are looked at, over the features to the power of its share of
the dimensions: by their number."""

_NULL = 1e-10
"""Singular values of the conditions, over the largest, that count as zero."""

_FIRM = 1e-7
"""Those through which data are carried: weaker ones would magnify rounding in the data."""

Conditions = tuple[tuple[str, tuple[tuple[float, ...], ...]], ...]
"""By part the factors of the conditions on one field: fields with equal ones share a basis."""


def conditions_of(problem: Problem, field: int) -> Conditions:
    """The conditions on a field, by part."""
    return tuple((p.part, tuple(c.factors for c in p.conditions[field])) for p in problem.pieces)


def gated_parts(conditions: Conditions) -> tuple[str, ...]:
    """The parts on which values are prescribed."""
    return tuple(part for part, own in conditions if any(len(factors) == 1 for factors in own))


@dataclass(frozen=True)
class Held:
    """One condition at points of one part, that the null space holds."""

    part: str
    number: int
    """Among the conditions on the field there."""
    points: np.ndarray
    root: np.ndarray
    """Square roots of the weights that make sums integrals, over the size of the condition."""
    terms: list[tuple[Index, np.ndarray]]
    """The derivatives that the condition uses, in space, with their factors at the points."""


@dataclass(frozen=True)
class RegionBasis:
    """Functions orthonormal in the weighted sum over points."""

    layer: RegionLayer
    """Its functions are those before the null space is taken."""
    points: np.ndarray
    weights: np.ndarray
    values: dict[Index, np.ndarray]
    """Q and its derivatives at the points."""
    null: np.ndarray
    """V₀: what of the layer's functions each function is made of."""
    held: tuple[Held, ...]
    reach: np.ndarray
    """R, from data at the points of `held`, times their roots, to the layer's functions."""
    carried: dict[Index, np.ndarray]
    """The derivatives of the layer's functions times R: what data become at the points."""

    @property
    def rank(self) -> int:
        return self.null.shape[1]


def held_on(problem: Problem, conditions: Conditions, count: int) -> tuple[Held, ...]:
    """The conditions with slopes at about `count` points."""
    domain, found = cast(Shape, problem.domain), []
    gated = gated_parts(conditions)
    total = sum(domain.extent(part) for part, _ in conditions)
    size = max(domain.lengths)
    for part, own in conditions:
        if part in gated and len(own) == 1:
            continue
        share = max(12, math.ceil(count * domain.extent(part) / total))
        points, weights, normals = domain.boundary_quadrature(part, share)
        for number, factors in enumerate(own):
            if len(factors) == 1:
                continue
            terms = _terms(factors, normals)
            scale = max(abs(f) * size**-k for k, f in enumerate(factors))
            found.append(Held(part, number, points, np.sqrt(weights) / (scale * size), terms))
    return tuple(found)


def _terms(factors: Sequence[float], normals: np.ndarray) -> list[tuple[Index, np.ndarray]]:
    """Σ factorₖ (n · ∇)ᵏ at points, as derivatives along the axes."""
    count, dimension = normals.shape
    zero = (0,) * dimension
    power: dict[Index, np.ndarray] = {zero: np.ones(count)}
    found: dict[Index, np.ndarray] = {}
    for order, factor in enumerate(factors):
        if order:
            higher: dict[Index, np.ndarray] = {}
            for index, value in power.items():
                for axis in range(dimension):
                    up = tuple(n + (i == axis) for i, n in enumerate(index))
                    higher[up] = higher.get(up, 0.0) + value * normals[:, axis]
            power = higher
        for index, value in power.items():
            if factor:
                found[index] = found.get(index, 0.0) + factor * value
    return list(found.items())


def make_basis(
    problem: Problem,
    conditions: Conditions,
    layer: RegionLayer,
    points: np.ndarray,
    weights: np.ndarray,
    indices: Sequence[Index],
) -> RegionBasis:
    """The basis of a layer's features at points."""
    zero = (0,) * problem.domain.dimension
    order = [zero, *(i for i in indices if i != zero)]
    neurons = layer.at(points, order)
    root = np.sqrt(weights)[:, None]
    columns, sizes, rows = scipy.linalg.svd(root * neurons[0], full_matrices=False, check_finite=False)
    rank = int(np.sum(sizes > _CUT * sizes[0]))
    layer = dataclasses.replace(layer, mix=rows[:rank].T / sizes[:rank])
    values: dict[Index, np.ndarray] = {zero: columns[:, :rank] / root}
    values |= {i: f @ layer.mix for i, f in zip(order[1:], neurons[1:], strict=True)}
    many, dimension = len(rows), problem.domain.dimension
    held = held_on(problem, conditions, round(_ON_BOUNDARY[dimension] * many ** (1 - 1 / dimension)) + 64)
    null, reach = np.eye(rank), np.zeros((rank, 0))
    carried: dict[Index, np.ndarray] = {}
    if held:
        conditioned = _rows(layer, held)
        left, found, right = np.linalg.svd(conditioned)
        full = int(np.sum(found > _NULL * found[0]))
        null = right[full:].T
        reach = _reach(conditioned, sizes[:rank] / sizes[0], (left, found, right))
        carried = {i: v @ reach for i, v in values.items()}
        values = {i: v @ null for i, v in values.items()}
    return RegionBasis(layer, points, weights, values, null, held, reach, carried)


def _reach(
    rows: np.ndarray, sizes: np.ndarray, parts: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> np.ndarray:
    """R with B R h = h: functions that carry data h, as smooth as the basis has them.

    The smallest function that has given slopes at the boundary is a layer that no point of the region sees.
    So functions that need large output weights, those with small singular values, count more; what is left
    of the data, by the smallest function after all.
    """
    smooth = np.sqrt(sizes)
    left, found, right = np.linalg.svd(rows * smooth, full_matrices=False)
    firm = int(np.sum(found > _FIRM * found[0]))
    first = smooth[:, None] * (right[:firm].T / found[:firm]) @ left[:, :firm].T
    left, found, right = parts
    firm = int(np.sum(found > _FIRM * found[0]))
    second = (right[:firm].T / found[:firm]) @ left[:, :firm].T
    return first + second - second @ (rows @ first)


def moved(basis: RegionBasis, points: np.ndarray, weights: np.ndarray) -> RegionBasis:
    """The same functions at other points."""
    indices = list(basis.values)
    tables = [f @ basis.layer.mix for f in basis.layer.at(points, indices)]
    values = {i: t @ basis.null for i, t in zip(indices, tables, strict=True)}
    carried = {i: t @ basis.reach for i, t in zip(indices, tables, strict=True)} if basis.held else {}
    return dataclasses.replace(basis, points=points, weights=weights, values=values, carried=carried)


def _rows(layer: RegionLayer, held: Sequence[Held]) -> np.ndarray:
    """B: what the conditions make of each function of the layer."""
    found = []
    for own in held:
        tables = layer.at(own.points, [index for index, _ in own.terms])
        value = sum(f[:, None] * t for (_, f), t in zip(own.terms, tables, strict=True))
        found.append(own.root[:, None] * (value @ layer.mix))
    return np.concatenate(found)


def wanted(problem: Problem, piece_of: Held, component: int, times: np.ndarray) -> np.ndarray:
    """The data of a condition at its points, points × times."""
    piece = next(p for p in problem.pieces if p.part == piece_of.part)
    count = len(piece_of.points)
    columns = [np.tile(times, count), *np.repeat(piece_of.points, len(times), axis=0).T]
    with double():
        data = problem.piece_components(piece, [jnp.asarray(c) for c in columns])
    return np.asarray(data[component][piece_of.number]).reshape(count, len(times))
