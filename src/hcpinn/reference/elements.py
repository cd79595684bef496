"""Problems on curved domains in their weak form: by finite elements in the plane, by polynomials in space.

Prescribed values determine some of the unknowns, all other conditions enter the weak form. Time goes by an
implicit Runge–Kutta method of order 4. Space and steps are refined together, until two solutions agree; their
difference is the estimate of the error of the finer one.
"""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from ..equation import scan
from ..errors import NoReferenceError
from ..problem import Problem
from .esdirk import advance
from .result import HOPELESS, SolverResult, relative_change
from .solids import Polynomials
from .space import Space, Table, Wall
from .triangles import Triangles
from .weak import WeakForm

_FIRST, _FINER, _LEVELS = 140, 1.9, 6
"""Triangles of the first mesh, how many times as many the next one has, and how many meshes there are."""

_DEGREES = 7, 9, 11, 13
"""Of polynomials in space."""

_PATIENCE = 25.0
"""Seconds after which nothing finer is begun."""

_TARGET = 2e-6
"""The relative change at which refinement stops."""

_NEWTON = 8


def solve_elements(
    problem: Problem, times: np.ndarray, axes: list[np.ndarray], tolerance: float
) -> Iterator[SolverResult]:
    """Better and better ones, not numbers outside of the domain; the last is as good as it gets."""
    mesh = np.stack([m.ravel() for m in np.meshgrid(*axes, indexing="ij")], axis=1)
    inside = problem.domain.mask(mesh)
    form = WeakForm(problem)
    notes = tuple(
        f"The corner at ({c.place[0]:.4g}, {c.place[1]:.4g}) is re-entrant, {np.degrees(c.angle):.0f}°: "
        "solutions are singular there, and elements are crowded around it."
        for c in getattr(problem.domain, "corners", ())
        if c.reentrant
    )
    begun = clock.monotonic()
    found: list[np.ndarray] | None = None
    change, words = np.inf, ""
    for level, space in enumerate(_spaces(problem)):
        values = _System(problem, form, space).run(times, mesh[inside], 1e-5 / 10**level)
        if found is not None:
            change = relative_change(values, found)
        found, words = values, space.words
        if change < 10 * HOPELESS:
            grids = [_on_grid(v, inside, [len(a) for a in axes]) for v in found]
            yield SolverResult(grids, change, f"{words}, ESDIRK4(3)", notes)
        if change <= max(tolerance, _TARGET) or (level and clock.monotonic() - begun > _PATIENCE):
            break
    if not change < 10 * HOPELESS:
        raise NoReferenceError(
            f"The classical solutions of {problem.name} do not agree: {words} and one less fine differ by "
            f"{change:.1e}."
        )


def _spaces(problem: Problem) -> Iterator[Space]:
    """Finer and finer ones."""
    if len(problem.space) == 3:
        yield from (Polynomials(problem, degree) for degree in _DEGREES)
        return
    count = _FIRST
    for _ in range(_LEVELS):
        yield Triangles(problem, float(np.sqrt(problem.domain.volume / count * 4 / np.sqrt(3))))
        count = round(count * _FINER)


def _on_grid(values: np.ndarray, inside: np.ndarray, shape: list[int]) -> np.ndarray:
    whole = np.full((len(values), len(inside)), np.nan, values.dtype)
    whole[:, inside] = values
    return whole.reshape(len(values), *shape)


class _System:
    """The weak form on one space, as the integrator sees it: matrices, and the stages of a time step."""

    def __init__(self, problem: Problem, form: WeakForm, space: Space):
        self.problem, self.form, self.space = problem, form, space
        self.edges = np.concatenate([[0], np.cumsum(space.sizes)])
        self.stacked = [_stack(tables) for tables in space.tables]
        weights = sp.diags(space.weights)
        self.mass = _blocks(
            [
                [(own[0].T @ (weights @ own[0])) if a is b else None for b in range(form.count)]
                for a, own in enumerate(space.tables)
            ]
        )
        self.fixed = np.zeros(self.edges[-1], bool)
        for held in space.held:
            self.fixed[self.edges[held.component] + held.unknowns] = True
        self._known: tuple[float, Any] | None = None

    def _split(self, level: np.ndarray) -> list[np.ndarray]:
        return np.split(level, self.edges[1:-1])

    def prescribed(self, time: float, state: np.ndarray, order: int = 0) -> np.ndarray:
        """A state with its prescribed values, or with their rates of change, put in."""
        state, tick = state.copy(), 1e-5 * self.problem.duration
        for held in self.space.held:
            if order == 0:
                own = held.values(self.problem, time)
            else:
                after, before = (held.values(self.problem, time + way * tick) for way in (1, -1))
                own = (after - before) / (2 * tick)
            state[self.edges[held.component] + held.unknowns] = own
        return state

    def run(self, times: np.ndarray, places: np.ndarray, tolerance: float) -> list[np.ndarray]:
        """Each field at places, times × places."""
        problem, space = self.problem, self.space
        begin = [problem.initial_values]
        if problem.order == 2:
            begin.append(problem.initial_velocities)
        start = []
        for data in begin:

            def values(at: np.ndarray, data: Any = data) -> np.ndarray:
                return np.asarray(problem.to_components(data([jnp.asarray(c) for c in at]))).T

            start.append(np.concatenate([space.start(problem, c, values) for c in range(self.form.count)]))
        start[0] = self.prescribed(problem.start, start[0])
        self.scale = np.array([float(np.abs(s).max()) for s in start])
        longest = problem.duration / 20
        states = advance(self, np.concatenate(start), times, scan(problem).time.breaks, tolerance, longest)
        parts = []
        for component, (a, b) in enumerate(zip(self.edges, self.edges[1:], strict=False)):
            parts.append(space.at(places, component) @ states[:, a:b].T)
        return [np.asarray(v).T for v in problem.to_fields(np.stack(parts, -1))]

    def size(self, change: np.ndarray, state: np.ndarray) -> float:
        """Root mean square by level, relative to the largest so far."""
        worst = 0.0
        levels = zip(np.split(change, self.form.levels), np.split(state, self.form.levels), strict=True)
        for k, (part, own) in enumerate(levels):
            self.scale[k] = max(self.scale[k], float(np.sqrt(np.mean(own**2))))
            least = 1e-12 * max(self.scale) + 1e-300
            worst = max(worst, float(np.sqrt(np.mean(part**2))) / max(self.scale[k], least))
        return worst

    def slope(self, time: float, state: np.ndarray) -> np.ndarray:
        if self.form.levels == 2:
            place, speed = np.split(state, 2)
            return np.concatenate([speed, self._acceleration(time, place, speed)])
        return self._acceleration(time, state)

    def _acceleration(self, time: float, *levels: np.ndarray) -> np.ndarray:
        right = self.force(time, levels)
        held = self.prescribed(time, np.zeros_like(right), 1) if self.form.levels == 1 else 0 * right
        right = np.where(self.fixed, held, right - self.mass @ held)
        return _solver(self.mass, self.fixed)(right)

    def solve(
        self, time: float, known: np.ndarray, guess: np.ndarray, shift: float, tolerance: float
    ) -> np.ndarray | None:
        """y = known + shift · y′, by Newton's method with a matrix kept as long as it serves."""
        second = self.form.levels == 2
        base, target = (np.split(known, 2)) if second else (known, known)
        # For uₜₜ = F the unknown is the velocity v, and u = base + shift · v.
        unknown = np.split(guess, 2)[1] if second else guess

        def levels(v: np.ndarray) -> tuple[np.ndarray, ...]:
            return (base + shift * v, v) if second else (v,)

        if second:
            place = self.prescribed(time, base)
            unknown = np.where(self.fixed, (place - base) / shift, unknown)
        else:
            unknown = self.prescribed(time, unknown)
        for fresh in (False, True):
            v, last, factor = unknown, np.inf, self._known
            if fresh or factor is None or abs(factor[0] / shift - 1) > 1e-9:
                factor = self._known = shift, self._stage(time, levels(unknown), shift)
                fresh = True
            for _ in range(_NEWTON):
                left = self.mass @ (v - target) - shift * self.force(time, levels(v))
                change = factor[1](np.where(self.fixed, 0.0, left))
                v = v - change
                place = np.concatenate(levels(change) if not second else (shift * change, change))
                size = self.size(place, np.concatenate(levels(v)))
                if not np.isfinite(size) or size > 2 * last:
                    break
                if size <= 1e-2 * tolerance:
                    return np.concatenate(levels(v))
                last = size
            if fresh:
                return None
        return None

    def _stage(self, time: float, levels: tuple[np.ndarray, ...], shift: float) -> Any:
        matrices = self.jacobian(time, levels)
        total = self.mass - shift * matrices[0]
        if self.form.levels == 2:
            total = self.mass - shift * (shift * matrices[0] + matrices[1])
        return _solver(total, self.fixed)

    def values(self, levels: tuple[np.ndarray, ...], tables: list[list[Table]]) -> np.ndarray:
        """Level × component × (u, uₓ, …) × point."""
        each = [
            [[t @ own for t in tables[c]] for c, own in enumerate(self._split(level))] for level in levels
        ]
        return np.array(each)

    def force(self, time: float, levels: tuple[np.ndarray, ...]) -> np.ndarray:
        """∫ S v − q · ∇v + ∮ (q · n) v for all test functions."""
        space = self.space
        found = self.form.inside(self.values(levels, space.tables), _with_time(time, space.points))
        signs = np.array([1.0, *[-1.0] * len(space.points)])[None, :, None]
        weighted = (signs * found * space.weights).reshape(self.form.count, -1)
        total = np.concatenate([s.T @ own for s, own in zip(self.stacked, weighted, strict=True)])
        for wall in space.walls:
            if any(wall.conditions(self.problem)):
                flux = self._flux(wall, time, self.values(levels, wall.tables)) * wall.weights
                total = total + np.concatenate(
                    [own[0].T @ f for own, f in zip(wall.tables, flux, strict=True)]
                )
        return total

    def _flux(self, wall: Wall, time: float, values: np.ndarray) -> np.ndarray:
        """q · n, component × point."""
        data, conditions = wall.data(self.problem, time), wall.conditions(self.problem)
        return self.form.at_wall(conditions, values, _with_time(time, wall.points), wall.normal, data)

    def jacobian(self, time: float, levels: tuple[np.ndarray, ...]) -> list[Any]:
        """The derivative of the force by each level."""
        count, space = self.form.count, self.space
        width = 1 + len(space.points)
        values = self.values(levels, space.tables)
        slopes = self.form.slopes(values, _with_time(time, space.points))
        slopes = slopes.reshape(self.form.levels, count, width, count, width, -1) * space.weights
        signs = [1.0, *[-1.0] * len(space.points)]
        result = []
        for level in range(self.form.levels):
            blocks: list[list[Any]] = []
            for target in range(count):
                row = []
                for source in range(count):
                    inner = [
                        [sp.diags(signs[k] * slopes[level, source, j, target, k]) for j in range(width)]
                        for k in range(width)
                    ]
                    moved = sp.bmat(inner, format="csr") @ self.stacked[source]
                    row.append(self.stacked[target].T @ moved)
                blocks.append(row)
            result.append(_blocks(blocks))
        for wall in space.walls:
            if any(wall.conditions(self.problem)):
                result[0] = result[0] + self._wall_jacobian(wall, time, levels)
        return result

    def _wall_jacobian(self, wall: Wall, time: float, levels: tuple[np.ndarray, ...]) -> Any:
        """∂/∂u of the integral, by its own value there: what depends on slopes is left to Newton's method."""
        count, known = self.form.count, wall.conditions(self.problem)
        values = self.values(levels, wall.tables)
        still = self._flux(wall, time, values)
        blocks: list[list[Any]] = [[None] * count for _ in range(count)]
        for source in range(count):
            step = 1e-7 * max(float(np.abs(values[0, source, 0]).max()), 1e-3)
            moved = values.copy()
            moved[0, source, 0] += step
            slope = (self._flux(wall, time, moved) - still) / step
            for target in range(count):
                inner = sp.diags(wall.weights * slope[target] * (known[target] is not None))
                blocks[target][source] = wall.tables[target][0].T @ (inner @ wall.tables[source][0])
        return _blocks(blocks)


def _with_time(time: float, points: np.ndarray) -> np.ndarray:
    return np.concatenate([np.full((1, points.shape[1]), time), points])


def _stack(tables: list[Table]) -> Any:
    return sp.vstack(tables).tocsr() if sp.issparse(tables[0]) else np.concatenate(tables)


def _blocks(blocks: list[list[Any]]) -> Any:
    """One matrix of blocks, of which those off the diagonal may be missing."""
    if sp.issparse(blocks[0][0]):
        return sp.bmat(blocks, format="csc")
    sizes = [row[number].shape[0] for number, row in enumerate(blocks)]
    return np.block(
        [
            [np.zeros((sizes[i], sizes[j])) if own is None else own for j, own in enumerate(row)]
            for i, row in enumerate(blocks)
        ]
    )


def _solver(matrix: Any, fixed: np.ndarray) -> Any:
    """A solver, with rows and columns of prescribed values replaced by those of the identity."""
    if sp.issparse(matrix):
        free = sp.diags((~fixed).astype(float))
        return splu((free @ matrix @ free + sp.diags(fixed.astype(float))).tocsc()).solve
    matrix = np.where(fixed[:, None] | fixed, np.diag(fixed.astype(float)), matrix)
    factor = scipy.linalg.lu_factor(matrix, overwrite_a=True, check_finite=False)
    return lambda right: scipy.linalg.lu_solve(factor, right, check_finite=False)
