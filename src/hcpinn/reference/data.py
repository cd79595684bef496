"""The boundary data of a box, and a function G that takes them on: G = Σ h(x) (g − B G₋), axis after axis.

B is a condition's left side and h the small polynomial with B h = 1 that meets the axis' other conditions
with zero; G₋ is what the axes before have added. Corners where data disagree make G miss them there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..problem import Index, Problem
from .polynomials import Basis, Condition

if TYPE_CHECKING:
    from .modal import Modal


class BoundaryData:
    """Conditions and data of one problem, by real component."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self._fields = [n for n, c in enumerate(problem.complex_fields) for _ in range(2 if c else 1)]

    def conditions(self, component: int, axis: int) -> list[Condition]:
        """The conditions on a component along an axis, the lower end's first."""
        found = []
        for side in self.problem.boundaries[axis].sides:
            for condition in side.conditions[self._fields[component]]:
                found.append((side.end, tuple(condition.factors)))
        return found

    def signature(self, component: int) -> Any:
        """What components must share to share bases."""
        return tuple(tuple(self.conditions(component, axis)) for axis in range(len(self.problem.space)))

    @cached_property
    def empty(self) -> bool:
        """Whether all data are the number zero, so that G = 0."""
        data = [c.data for side in self.problem.sides for own in side.conditions for c in own]
        return all(d == 0 for each in data for d in (each if isinstance(each, tuple) else (each,)))

    def on(self, modal: Modal, times: np.ndarray, indices: Sequence[Index]) -> list[np.ndarray]:
        """Derivatives of G at the points: one array times × components × points for each."""
        shape = (len(times), modal.count, *modal.shape)
        if self.empty:
            return [np.zeros(shape)] * len(indices)
        terms = self._terms(modal, times, max(index[0] for index in indices))
        found = []
        for index in indices:
            total = np.zeros(shape)
            for axis, component, place, rest in terms:
                part = rest[index[0]]
                for other, k in enumerate(index[1:]):
                    if other != axis and k:
                        part = _apply(modal.basis(component, other).derivatives[k], part, other)
                total[:, component] += part * _along(
                    modal.basis(component, axis), axis, place, index, part.ndim
                )
            found.append(total)
        return found

    def _terms(self, modal: Modal, times: np.ndarray, top: int) -> list[tuple[int, int, int, np.ndarray]]:
        """(axis, component, which condition, g − B G₋ for the time derivatives up to `top`)."""
        terms: list[tuple[int, int, int, np.ndarray]] = []
        zero = (0,) * (1 + len(modal.shape))
        for axis, ends in enumerate(self.problem.boundaries):
            before, place = list(terms), [0] * modal.count
            for side in ends.sides:
                data = self._sampled(modal, side, times, top)
                for component, own in enumerate(data):
                    basis = modal.basis(component, axis)
                    for values in own:
                        rest = np.array(values)
                        for other, of, which, known in before:
                            if of != component:
                                continue
                            face = _apply(basis.ends[[place[component]]], known, axis, lead=2)
                            blend = _along(modal.basis(of, other), other, which, zero, known.ndim - 1)
                            rest = rest - face * blend
                        terms.append((axis, component, place[component], rest))
                        place[component] += 1
        return terms

    def _sampled(self, modal: Modal, side: Any, times: np.ndarray, top: int) -> list[list[np.ndarray]]:
        """By component and condition the data at the nodes along the face: time orders × times × points."""
        across = [x for i, x in enumerate(modal.points) if i != side.axis]
        mesh = [m.ravel() for m in np.meshgrid(*across, indexing="ij")]
        count = len(mesh[0]) if mesh else 1
        t = np.repeat(times, count)
        rows = np.stack([t, *(np.tile(m, len(times)) for m in mesh)])
        room = max(64, 1 << (rows.shape[1] - 1).bit_length())
        padded = np.concatenate([rows, np.repeat(rows[:, -1:], room - rows.shape[1], axis=1)], axis=1)
        found = self._compiled[side.axis, side.end](padded)
        shape = (top + 1, len(times), *(1 if i == side.axis else n for i, n in enumerate(modal.shape)))
        return [[np.asarray(v)[: top + 1, : rows.shape[1]].reshape(shape) for v in own] for own in found]

    @cached_property
    def _compiled(self) -> dict[tuple[int, int], Any]:
        return {(s.axis, s.end): jax.jit(self._evaluator(s)) for s in self.problem.sides}

    def _evaluator(self, side: Any) -> Any:
        order = self.problem.order

        def values(rows: Array) -> list[list[Array]]:
            found = self.problem.boundary_components(side, rows[0], list(rows[1:]))
            return [[jnp.broadcast_to(v, rows[0].shape) for v in own] for own in found]

        def run(rows: Array) -> list[list[Array]]:
            functions, derivatives = values, [values(rows)]
            for _ in range(order):
                functions = _rate(functions)
                derivatives.append(functions(rows))
            return jax.tree.map(lambda *parts: jnp.stack(parts), *derivatives)

        return run


def _rate(function: Any) -> Any:
    def along(rows: Array) -> Any:
        direction = jnp.zeros_like(rows).at[0].set(1.0)
        return jax.jvp(function, (rows,), (direction,))[1]

    return along


def _apply(matrix: np.ndarray, array: np.ndarray, axis: int, lead: int = 1) -> np.ndarray:
    """A matrix along one space axis, of size 1 where nothing depends on it."""
    return np.moveaxis(np.moveaxis(array, lead + axis, -1) @ matrix.T, -1, lead + axis)


def _along(basis: Basis, axis: int, place: int, index: Index, dimensions: int) -> np.ndarray:
    """A blend's derivative along its axis, shaped to multiply an array with times first."""
    shape = [1] * dimensions
    shape[axis + 1] = -1
    return basis.blends[index[axis + 1]][:, place].reshape(shape)
