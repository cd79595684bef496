"""Galerkin's method on a box in the eigenfunctions of the linear part, one set of them per axis.

u = G + w: G takes on the boundary data, and w is a sum of products of functions that meet the conditions
without data, polynomials along axes with walls and waves along periodic ones. What of F is linear with
constant coefficients and diagonal in them is Λ, with a small matrix per mode that couples components, and
uₜ with uₜₜ; N is the rest. For uₜₜ = F the state is w and wₜ.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..equation.split import Split
from ..problem import Index, Problem
from .data import BoundaryData
from .polynomials import Basis, polynomials, waves

_CHUNK = 4096
_WORST_CONDITION = 1e6


class Pointwise:
    """F in real components at points, compiled once for a fixed number of them."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self._compiled = jax.jit(self._evaluate)

    def __call__(self, values: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        """F, components × points, from derivatives × components × points, at axes × points."""
        total = values.shape[-1]
        parts = []
        for first in range(0, total, _CHUNK):
            v, c = values[..., first : first + _CHUNK], coordinates[..., first : first + _CHUNK]
            missing = _CHUNK - v.shape[-1]
            if missing:
                v = np.concatenate([v, np.repeat(v[..., -1:], missing, -1)], -1)
                c = np.concatenate([c, np.repeat(c[..., -1:], missing, -1)], -1)
            parts.append(np.asarray(self._compiled(v, c)))
        return np.concatenate(parts, -1)[..., :total]

    def _evaluate(self, values: Array, coordinates: Array) -> Array:
        problem = self.problem
        known = {
            index: problem.to_fields(jnp.moveaxis(values[number], 0, -1))
            for number, index in enumerate(problem.derivatives)
        }
        found = problem.evaluate_rhs(lambda n, index: known[index][n], list(coordinates))
        shape = coordinates[0].shape
        rates = [jnp.broadcast_to(jnp.asarray(r) + 0.0, shape) for r in found]
        return jnp.moveaxis(problem.to_components(rates), -1, 0)


Coupling = dict[tuple[int, int, Index], float]
"""(component of F, component of u, derivative) ↦ the number with which it enters."""


def component_coupling(problem: Problem, linear: Any) -> Coupling:
    """The linear part of F between real components: a complex number is a rotation of two of them."""
    first = np.cumsum([0, *(2 if c else 1 for c in problem.complex_fields)])
    found: Coupling = {}
    for (target, (source, index)), number in linear.items():
        block = [[number.real, -number.imag], [number.imag, number.real]]
        for i, j in itertools.product(
            *(range(2 if problem.complex_fields[n] else 1) for n in (target, source))
        ):
            if block[i][j]:
                key = (int(first[target]) + i, int(first[source]) + j, index)
                found[key] = found.get(key, 0.0) + block[i][j]
    return found


@dataclass
class _Group:
    """Components whose conditions are the same along every axis, and so share bases."""

    members: list[int]
    bases: list[Basis]
    place: slice
    """Its part of the state."""
    vectors: np.ndarray | None = None
    inverse: np.ndarray | None = None
    rates: np.ndarray | None = None
    known: np.ndarray | None = None
    """The matrix that Λ stands for: modes × unknowns × unknowns."""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(b.count for b in self.bases)


class Modal:
    """One problem on one number of functions per axis."""

    def __init__(
        self,
        problem: Problem,
        size: int,
        parts: Split,
        pointwise: Pointwise,
        data: BoundaryData,
        middle: Coupling,
    ):
        self.problem, self.parts, self.pointwise, self.data = problem, parts, pointwise, data
        self.order, self.count = problem.order, len(problem.components)
        self.middle = middle
        self.linear = component_coupling(problem, parts.linear)
        self.orders = list(problem.derivatives)
        self.groups = self._groups(size)
        first = self.groups[0].bases
        self.shape = tuple(len(b.points) for b in first)
        self.points = [b.points for b in first]
        self.coordinates = np.stack([m.ravel() for m in np.meshgrid(*self.points, indexing="ij")])
        self._diagonalise()

    def _groups(self, size: int) -> list[_Group]:
        found: dict[Any, list[int]] = {}
        for number in range(self.count):
            found.setdefault(self.data.signature(number), []).append(number)
        groups, at = [], 0
        for members in found.values():
            bases = [self._basis(members, axis, size) for axis in range(len(self.problem.space))]
            group = _Group(members, bases, slice(0))
            length = self.order * len(members) * int(np.prod(group.shape))
            group.place = slice(at, at + length)
            at += length
            groups.append(group)
        return groups

    def _basis(self, members: list[int], axis: int, size: int) -> Basis:
        """The eigenfunctions of what F holds of even derivatives along the axis."""
        operator: dict[int, float] = {}
        for (target, source, index), number in [*self.linear.items(), *self.middle.items()]:
            pure = index[0] == 0 and not any(k for i, k in enumerate(index[1:]) if i != axis)
            order = index[axis + 1]
            if target in members and source in members and pure and order in (2, 4):
                alone = len(members) == 1
                operator[order] = operator.get(order, 0.0) + number if alone else 1.0
        if len(members) > 1 and len(operator) > 1:
            operator = {max(operator): 1.0}
        top = max(max(index[axis + 1] for index in self.orders), 2)
        low, high = self.problem.domain.bounds[axis]
        if self.problem.boundaries[axis].periodic:
            return waves(low, high, modes=size // 2, operator=operator or {2: 1.0}, order=top)
        conditions = self.data.conditions(members[0], axis)
        return polynomials(low, high, degree=size, conditions=conditions, operator=operator, order=top)

    def _diagonalise(self) -> None:
        """Λ: for each mode a matrix that couples the group's components, and their velocities."""
        self.handled: set[tuple[int, int, Index]] = set()
        for group in self.groups:
            members, modes = group.members, int(np.prod(group.shape))
            count = len(members)
            whole = np.zeros((modes, self.order * count, self.order * count))
            if self.order == 2:
                whole[:, np.arange(count), count + np.arange(count)] = 1.0
            for added, table in ((False, self.linear), (True, self.middle)):
                for (target, source, index), number in table.items():
                    if target not in members or source not in members:
                        continue
                    diagonal, exact = self._diagonal(group, index)
                    if diagonal is None:
                        continue
                    row = (self.order - 1) * count + members.index(target)
                    column = index[0] * count + members.index(source)
                    whole[:, row, column] += number * diagonal
                    if exact and not added:
                        self.handled.add((target, source, index))
            group.known = whole
            self._decompose(group, whole)

    def _diagonal(self, group: _Group, index: Index) -> tuple[np.ndarray | None, bool]:
        """The diagonal of a derivative in the group's modes, and whether it is nothing but diagonal."""
        if any(k % 2 for k in index[1:]):
            return None, False
        if any(k not in b.diagonals for b, k in zip(group.bases, index[1:], strict=True)):
            return None, False
        total = np.ones(group.shape)
        for axis, (basis, k) in enumerate(zip(group.bases, index[1:], strict=True)):
            shape = [1] * len(group.bases)
            shape[axis] = -1
            total = total * basis.diagonals[k].reshape(shape)
        exact = all(k in b.exact for b, k in zip(group.bases, index[1:], strict=True))
        return total.ravel(), exact

    def _decompose(self, group: _Group, whole: np.ndarray) -> None:
        size = whole.shape[1]
        if size == 1:
            group.rates = whole[:, 0, 0]
            return
        for mended in (False, True):
            values, vectors = np.linalg.eig(whole.astype(complex))
            half, scaled = size // 2, vectors
            if self.order == 2:  # the velocities of a mode by its frequency
                pace = np.abs(values).max(axis=1, initial=1 / self.problem.duration)
                scaled = vectors * np.where(np.arange(size) < half, 1.0, 1 / pace[:, None])[..., None]
            norm = np.linalg.norm(scaled, axis=1, keepdims=True)
            vectors = vectors / norm
            bad = ~(np.linalg.cond(scaled / norm) < _WORST_CONDITION)
            if mended or not bad.any():
                group.rates, group.vectors, group.inverse = values, vectors, np.linalg.inv(vectors)
                return
            # A mode without a basis of eigenvectors, such as one at rest: N takes off what is added here.
            added = np.diag(1.0 + np.arange(size)) / self.problem.duration**self.order
            if self.order == 2:
                added = np.roll(added, -half, axis=1) * np.where(np.arange(size) < half, 0.0, -1.0)[:, None]
            whole[bad] += added

    @cached_property
    def rates(self) -> np.ndarray:
        """Λ of all unknowns."""
        found = [np.asarray(g.rates).ravel() for g in self.groups]
        return np.concatenate(found)

    def _levels(self, group: _Group, states: np.ndarray) -> np.ndarray:
        """Coefficients in the modes: times × (order · members) × modes, real."""
        part = states[:, group.place].reshape(len(states), -1, self.order * len(group.members))
        if group.vectors is not None:
            part = np.einsum("mij,tmj->tmi", group.vectors, part)
        return np.real(np.moveaxis(part, 2, 1))

    def _state(self, group: _Group, levels: np.ndarray) -> np.ndarray:
        part = np.moveaxis(levels, 1, 2)
        if group.inverse is not None:
            part = np.einsum("mij,tmj->tmi", group.inverse, part)
        return part.reshape(len(levels), -1)

    def along(self, array: np.ndarray, matrices: Sequence[np.ndarray]) -> np.ndarray:
        """Matrices along the last axes of an array, as few and as large products as possible."""
        for axis, matrix in enumerate(matrices, array.ndim - len(matrices)):
            before, after = array.shape[:axis], array.shape[axis + 1 :]
            if after:
                flat = matrix @ array.reshape(math.prod(before), -1, math.prod(after))
            else:
                flat = array.reshape(math.prod(before), -1) @ matrix.T
            array = flat.reshape(*before, len(matrix), *after)
        return array

    def start(self) -> np.ndarray:
        """The state at the start."""
        begin = np.array([float(self.problem.start)])
        space = [jnp.asarray(c) for c in self.coordinates]
        given = [self.problem.initial_values(space)]
        if self.order == 2:
            given.append(self.problem.initial_velocities(space))
        zero = (0,) * len(self.problem.space)
        carried = self.data.on(self, begin, [(k, *zero) for k in range(self.order)])
        parts = []
        for values, lift in zip(given, carried, strict=True):
            exact = np.asarray(self.problem.to_components(values)).T
            parts.append(exact.reshape(1, self.count, *self.shape) - lift)
        return self._project(parts)[0]

    def _project(self, levels: Sequence[np.ndarray]) -> np.ndarray:
        """The state of functions at the points, times × components × points, one for each time order."""
        found = []
        for group in self.groups:
            tests = [b.test for b in group.bases]
            parts = [self.along(level[:, group.members], tests) for level in levels]
            flat = np.concatenate([p.reshape(*p.shape[:2], -1) for p in parts], axis=1)
            found.append(self._state(group, flat))
        return np.concatenate(found, axis=1)

    def arguments(
        self, times: np.ndarray, states: np.ndarray, indices: Sequence[Index], *, whole: bool = True
    ) -> dict[Index, np.ndarray]:
        """Derivatives of u at the points, times × components × points.

        Unless they are wanted whole, what Λ has all of is left to the lift.
        """
        found = dict(zip(indices, self.data.on(self, times, indices), strict=True))
        for index in indices:
            lost = set() if whole else self._missing(index)
            found[index] = np.array(found[index])
            for group in self.groups:
                chosen = [i for i, m in enumerate(group.members) if m not in lost]
                if not chosen or index[0] >= self.order:
                    continue
                levels = self._levels(group, states)
                part = levels[:, [index[0] * len(group.members) + i for i in chosen]]
                part = part.reshape(len(times), len(chosen), *group.shape)
                matrices = [b.functions[k] for b, k in zip(group.bases, index[1:], strict=True)]
                found[index][:, [group.members[i] for i in chosen]] += self.along(part, matrices)
        return found

    def force(self, times: np.ndarray, states: np.ndarray) -> np.ndarray:
        """N at several times."""
        leading = self.problem.leading
        known = self.arguments(times, states, [*self.orders, leading], whole=False)
        values = np.stack([known[index] for index in self.orders])
        flat = np.moveaxis(values, 1, 2).reshape(len(self.orders), self.count, -1)
        points = self.coordinates.shape[1]
        at = np.concatenate([np.repeat(times, points)[None], np.tile(self.coordinates, len(times))])
        rate = self.pointwise(flat, at).reshape(self.count, len(times), *self.shape)
        rate = np.moveaxis(rate, 0, 1) - known[leading]
        found = []
        for group in self.groups:
            tested = self.along(rate[:, group.members], [b.test for b in group.bases])
            top = tested.reshape(*tested.shape[:2], -1)
            whole = np.concatenate([np.zeros_like(top)] * (self.order - 1) + [top], axis=1)
            found.append(self._state(group, whole - self._excess(group, self._levels(group, states))))
        return np.concatenate(found, axis=1)

    def _missing(self, index: Index) -> set[int]:
        """The components whose derivative F need not be given, as Λ has all that F does with it.

        F is linear in it, so that only what the lift holds of it is still looked at.
        """
        lost = set()
        for source in range(self.count):
            entering = [key for key in self.linear if key[1:] == (source, index)]
            fields = [n for n, c in enumerate(self.problem.complex_fields) for _ in range(2 if c else 1)]
            touched = (fields[source], index) in self.parts.remaining
            if entering and not touched and all(key in self.handled for key in entering):
                lost.add(source)
        return lost

    def _excess(self, group: _Group, levels: np.ndarray) -> np.ndarray:
        """What Λ does besides F's own, handled terms."""
        excess = self._surplus[id(group)]
        return np.einsum("mij,tjm->tim", excess, levels) if excess.any() else np.zeros_like(levels)

    @cached_property
    def _surplus(self) -> dict[int, np.ndarray]:
        """For each group its matrices less the terms that N does not see."""
        found = {}
        for group in self.groups:
            count = len(group.members)
            excess = np.array(group.known)
            if self.order == 2:
                excess[:, np.arange(count), count + np.arange(count)] -= 1.0
            for target, source, index in self.handled:
                if target in group.members and source in self._missing(index):
                    diagonal, _ = self._diagonal(group, index)
                    assert diagonal is not None  # else it would not be handled
                    row = (self.order - 1) * count + group.members.index(target)
                    column = index[0] * count + group.members.index(source)
                    excess[:, row, column] -= self.linear[target, source, index] * diagonal
            size = np.abs(np.array(group.known)).max(axis=(1, 2), keepdims=True)
            found[id(group)] = np.where(np.abs(excess) > 1e-13 * size, excess, 0.0)
        return found

    def basis(self, component: int, axis: int) -> Basis:
        """A component's basis along an axis."""
        return next(g.bases[axis] for g in self.groups if component in g.members)

    def onto(self, axes: Sequence[np.ndarray]) -> list[np.ndarray]:
        """For each axis a matrix from values at the points to values at the targets."""
        return [b.interpolation(x, b.points) for b, x in zip(self.groups[0].bases, axes, strict=True)]

    def values(self, times: np.ndarray, states: np.ndarray) -> np.ndarray:
        """u at the points: times × components × points."""
        zero = (0,) * len(self.problem.axes)
        return self.arguments(times, states, [zero])[zero]

    def tail(self, states: np.ndarray) -> float:
        """The size of the last coefficients by degree or wave number, relative to all, the worst axis."""
        worst = 0.0
        for group in self.groups:
            part = self._levels(group, states)[:, : len(group.members)]
            part = part.reshape(len(states), len(group.members), *group.shape)
            whole = np.sqrt(np.sum(part**2, axis=tuple(range(1, part.ndim)))).max()
            for axis, basis in enumerate(group.bases):
                matrices = [np.eye(b.count) for b in group.bases]
                matrices[axis] = basis.spectrum[-max(4, basis.count // 12) :]
                last = self.along(part, matrices)
                norm = np.sqrt(np.sum(last**2, axis=tuple(range(1, last.ndim)))).max()
                worst = max(worst, norm / max(whole, 1e-300))
        return float(worst)
