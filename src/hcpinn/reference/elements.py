"""Problems on curved domains of the plane: finite elements of degree 4 on curved triangles, by scikit-fem.

Values are prescribed at nodes, all other conditions enter the weak form. Time goes by an implicit Runge–Kutta
method of order 4. Meshes and steps are refined together, until two solutions agree; their difference is the
estimate of the error of the finer one.
"""

from __future__ import annotations

import time as clock
from typing import Any

import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu
from scipy.spatial import KDTree
from skfem import CellBasis, ElementTriP4
from skfem.mapping import MappingIsoparametric

from ..equation import scan
from ..errors import NoReferenceError
from ..problem import Condition, Problem
from .esdirk import advance
from .meshing import triangulate
from .result import HOPELESS, SolverResult, relative_change
from .weak import WeakForm

_FIRST, _FINER, _LEVELS = 140, 1.9, 6
"""Triangles of the first mesh, how many times as many the next one has, and how many meshes there are."""

_PATIENCE = 25.0
"""Seconds after which no finer mesh is begun."""

_TARGET = 2e-6
"""The relative change at which refinement stops."""

_ORDER_OF_RULE = 8
_NEWTON = 8


def solve_elements(
    problem: Problem, times: np.ndarray, axes: list[np.ndarray], tolerance: float
) -> SolverResult:
    """Values on the grid, not numbers outside of the domain."""
    if len(axes) != 2:
        raise NoReferenceError(
            f"{problem.name} lives on a curved domain of space, for which there is no classical solver here. "
            "The solution has only the engine's own error estimate."
        )
    mesh = np.stack([m.ravel() for m in np.meshgrid(*axes, indexing="ij")], axis=1)
    inside = problem.domain.mask(mesh)
    form = WeakForm(problem)
    begun = clock.monotonic()
    found: list[np.ndarray] | None = None
    best, change, count = None, np.inf, _FIRST
    for level in range(_LEVELS):
        if level > 1 and clock.monotonic() - begun > _PATIENCE:
            break
        spacing = float(np.sqrt(problem.domain.volume / count * 4 / np.sqrt(3)))
        elements = _Elements(problem, form, spacing)
        values = elements.run(times, mesh[inside], 1e-5 / 10**level)
        if found is not None:
            change = relative_change(values, found)
            best = elements
        found = values
        if change <= max(tolerance, _TARGET):
            break
        count = round(count * _FINER)
    assert found is not None
    if best is None or not change < 10 * HOPELESS:
        raise NoReferenceError(
            f"Finite elements do not agree on a solution of {problem.name}: on two meshes they differ by "
            f"{change:.1e}."
        )
    notes = tuple(
        f"The corner at ({c.place[0]:.4g}, {c.place[1]:.4g}) is re-entrant, {np.degrees(c.angle):.0f}°: "
        "solutions are singular there, and elements are crowded around it."
        for c in problem.domain.corners  # type: ignore[attr-defined]
        if c.reentrant
    )
    return SolverResult(
        [_on_grid(v, inside, [len(a) for a in axes]) for v in found],
        change,
        f"finite elements of degree 4 on {best.triangles} curved triangles, ESDIRK4(3)",
        notes,
    )


def _on_grid(values: np.ndarray, inside: np.ndarray, shape: list[int]) -> np.ndarray:
    whole = np.full((len(values), len(inside)), np.nan, values.dtype)
    whole[:, inside] = values
    return whole.reshape(len(values), *shape)


class _Elements:
    """One mesh: matrices from nodal values to values at quadrature points, and the stages of a time step."""

    def __init__(self, problem: Problem, form: WeakForm, spacing: float):
        self.problem, self.form = problem, form
        self.mesh: Any
        self.mesh, parts = triangulate(problem.domain, spacing)
        self.triangles = self.mesh.t.shape[1]
        self.mapping = MappingIsoparametric(self.mesh, ElementTriP4())
        basis: Any = CellBasis(self.mesh, ElementTriP4(), mapping=self.mapping, intorder=_ORDER_OF_RULE)
        self.element_dofs = np.asarray(basis.element_dofs)
        self.size_of_field = int(basis.N)
        shape = basis.dx.shape
        self.weights = basis.dx.ravel()
        self.points = np.asarray(basis.global_coordinates()).reshape(2, -1)
        tables = [[np.broadcast_to(np.asarray(b[0]), shape) for b in basis.basis]]
        tables += [[np.broadcast_to(b[0].grad[k], shape) for b in basis.basis] for k in range(2)]
        rows = np.arange(self.weights.size).reshape(shape)
        self.tables = [self._matrix(rows, np.stack(t), np.arange(shape[0])) for t in tables]
        self.stacked = sp.vstack(self.tables).tocsr()
        mass = (self.tables[0].T @ sp.diags(self.weights) @ self.tables[0]).tocsc()
        self.mass = sp.block_diag([mass] * form.count, format="csc")
        self.walls = [_Wall(self, piece, parts[piece.part]) for piece in problem.pieces]
        self._hold()
        self._known: tuple[float, Any] | None = None

    def _matrix(self, rows: np.ndarray, values: np.ndarray, elements: np.ndarray) -> sp.csr_matrix:
        """Nodal values ↦ values at points; `values` are basis function × element × point."""
        columns = np.broadcast_to(self.element_dofs[:, elements][:, :, None], values.shape)
        where = np.broadcast_to(rows[None], values.shape)
        shape = int(rows.max()) + 1, self.size_of_field
        return sp.csr_matrix((values.ravel(), (where.ravel(), columns.ravel())), shape=shape)

    def _hold(self) -> None:
        """Which nodes have prescribed values, by component."""
        n = self.size_of_field
        self.held: list[tuple[np.ndarray, Any, int, np.ndarray]] = []
        fixed = np.zeros(n * self.form.count, bool)
        for wall in self.walls:
            for component, field in enumerate(self.problem.component_fields):
                which = wall.piece.value_of(field)
                if which is not None:
                    nodes = wall.nodes
                    self.held.append(
                        (nodes + component * n, wall.piece, component, self.mesh.doflocs[:, nodes])
                    )
                    fixed[nodes + component * n] = True
        self.fixed = fixed

    def prescribed(self, time: float, state: np.ndarray, order: int = 0) -> np.ndarray:
        """A state with its prescribed values, or with their rates of change, put in."""
        state = state.copy()
        tick = 1e-5 * self.problem.duration
        for dofs, piece, component, places in self.held:

            def data(
                t: float, piece: Any = piece, component: int = component, at: Any = places
            ) -> np.ndarray:
                columns = [jnp.full(at.shape[1], t), *jnp.asarray(at)]
                field = self.problem.component_fields[component]
                which = piece.value_of(field)
                own = self.problem.piece_components(piece, columns)[component][which]
                return np.asarray(own) / piece.conditions[field][which].factors[0]

            if order == 0:
                state[dofs] = data(time)
            else:
                state[dofs] = (data(time + tick) - data(time - tick)) / (2 * tick)
        return state

    def run(self, times: np.ndarray, places: np.ndarray, tolerance: float) -> list[np.ndarray]:
        """Each field at places, times × places."""
        problem = self.problem
        at = [jnp.asarray(c) for c in self.mesh.doflocs]
        start = [np.asarray(problem.to_components(problem.initial_values(at))).T.ravel()]
        if problem.order == 2:
            start.append(np.asarray(problem.to_components(problem.initial_velocities(at))).T.ravel())
        self.scale = np.array([float(np.abs(s).max()) for s in start])
        longest = problem.duration / 20
        states = advance(self, np.concatenate(start), times, scan(problem).time.breaks, tolerance, longest)
        table = self._at(places)
        n = self.size_of_field
        parts = [table @ states[:, c * n : (c + 1) * n].T for c in range(self.form.count)]
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
        matrix = self._with_identity(self.mass)
        held = self.prescribed(time, np.zeros_like(right), 1) if self.form.levels == 1 else 0 * right
        right = np.where(self.fixed, held, right)
        return splu(matrix).solve(right)

    def solve(
        self, time: float, known: np.ndarray, guess: np.ndarray, shift: float, tolerance: float
    ) -> np.ndarray | None:
        """y = known + shift · y′, by Newton's method with a matrix kept as long as it serves."""
        second = self.form.levels == 2
        base, kept = (np.split(known, 2)) if second else (known, known)
        # For uₜₜ = F the unknown is the velocity v, and u = base + shift · v.
        unknown = np.split(guess, 2)[1] if second else guess

        def levels(v: np.ndarray) -> tuple[np.ndarray, ...]:
            return (base + shift * v, v) if second else (v,)

        target = kept
        if second:
            place = self.prescribed(time, base)
            unknown = np.where(self.fixed, (place - base) / shift, unknown)
        else:
            unknown = np.where(self.fixed, self.prescribed(time, unknown), unknown)
        for fresh in (False, True):
            v, last = unknown, np.inf
            known_lu = self._known
            if fresh or known_lu is None or abs(known_lu[0] / shift - 1) > 1e-9:
                known_lu = self._known = shift, self._factorised(time, levels(unknown), shift)
                fresh = True
            for _ in range(_NEWTON):
                left = self.mass @ (v - target) - shift * self.force(time, levels(v))
                change = known_lu[1].solve(np.where(self.fixed, 0.0, left))
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

    def _factorised(self, time: float, levels: tuple[np.ndarray, ...], shift: float) -> Any:
        matrices = self.jacobian(time, levels)
        total = self.mass - shift * matrices[0]
        if self.form.levels == 2:
            total = self.mass - shift * (shift * matrices[0] + matrices[1])
        return splu(self._with_identity(total.tocsc()))

    def _with_identity(self, matrix: Any) -> sp.csc_matrix:
        """Rows and columns of prescribed values replaced by those of the identity."""
        free = sp.diags((~self.fixed).astype(float))
        return (free @ matrix @ free + sp.diags(self.fixed.astype(float))).tocsc()

    def _values(self, levels: tuple[np.ndarray, ...], tables: list[Any]) -> np.ndarray:
        """Level × component × (u, uₓ, u_y) × point."""
        each = [[[t @ own for t in tables] for own in np.split(level, self.form.count)] for level in levels]
        return np.array(each)

    def _coordinates(self, time: float, points: np.ndarray) -> np.ndarray:
        return np.concatenate([np.full((1, points.shape[1]), time), points])

    def force(self, time: float, levels: tuple[np.ndarray, ...]) -> np.ndarray:
        """∫ S v − q · ∇v + ∮ (q · n) v for all test functions."""
        found = self.form.inside(self._values(levels, self.tables), self._coordinates(time, self.points))
        signs = np.array([1.0, -1.0, -1.0])[None, :, None]
        weighted = (signs * found * self.weights).reshape(self.form.count, -1)
        total = np.concatenate([self.stacked.T @ own for own in weighted])
        for wall in self.walls:
            total = total + wall.force(time, levels)
        return total

    def jacobian(self, time: float, levels: tuple[np.ndarray, ...]) -> list[sp.csc_matrix]:
        """The derivative of the force by each level."""
        count = self.form.count
        values = self._values(levels, self.tables)
        slopes = self.form.slopes(values, self._coordinates(time, self.points))
        slopes = slopes.reshape(self.form.levels, count, 3, count, 3, -1) * self.weights
        signs = (1.0, -1.0, -1.0)
        result = []
        for level in range(self.form.levels):
            blocks: list[list[Any]] = []
            for target in range(count):
                row = []
                for source in range(count):
                    inner = [
                        [sp.diags(signs[k] * slopes[level, source, j, target, k]) for j in range(3)]
                        for k in range(3)
                    ]
                    row.append(self.stacked.T @ sp.bmat(inner, format="csr") @ self.stacked)
                blocks.append(row)
            total = sp.bmat(blocks, format="csc")
            if level == 0:
                for wall in self.walls:
                    total = total + wall.jacobian(time, levels)
            result.append(total.tocsc())
        return result

    def _at(self, places: np.ndarray) -> sp.csr_matrix:
        """Nodal values ↦ values at places: each in the triangle that it lies deepest in."""
        middles = self.mesh.p[:, self.mesh.t].mean(axis=1).T
        near = np.asarray(KDTree(middles).query(places, k=min(24, len(middles)))[1])
        corners = self.mesh.p[:, self.mesh.t]  # axes × 3 × triangles
        best, depth = np.zeros(len(places), int), np.full(len(places), -np.inf)
        for k in range(min(24, len(middles))):
            a, b, c = (corners[:, j, near[:, k]].T for j in range(3))
            area = _cross(b - a, c - a)
            shares = np.stack([_cross(b - places, c - places), _cross(c - places, a - places)]) / area
            own = np.minimum(shares.min(0), 1 - shares.sum(0))
            best, depth = np.where(own > depth, near[:, k], best), np.maximum(own, depth)
        local = self.mapping.invF(places.T[:, :, None], tind=best)[:, :, 0]
        element = ElementTriP4()
        values = np.stack([element.lbasis(local, i)[0] for i in range(len(self.element_dofs))])
        return self._matrix(np.arange(len(places))[:, None], values[:, :, None], best)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


class _Wall:
    """One part of the boundary: its nodes, and the integral over it."""

    def __init__(self, elements: _Elements, piece: Any, facets: np.ndarray):
        self.elements, self.piece = elements, piece
        mesh, mapping = elements.mesh, elements.mapping
        nodes, weights = np.polynomial.legendre.leggauss(6)
        share, weights = (nodes + 1) / 2, weights / 2
        owners = mesh.f2t[0, facets]
        ends = np.stack([[np.flatnonzero(mesh.t[:, e] == v)[0] for v in mesh.facets[:, f]] for f, e in
                         zip(facets, owners, strict=True)])  # fmt: skip
        corner = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        begin, way = corner[ends[:, 0]].T, (corner[ends[:, 1]] - corner[ends[:, 0]]).T
        local = begin[:, :, None] + way[:, :, None] * share  # axes × facets × points
        jacobian = mapping.DF(local, tind=owners)  # axes × axes × facets × points
        tangent = np.einsum("ijfp,jf->ifp", jacobian, way)
        length = np.linalg.norm(tangent, axis=0)
        normal = np.stack([tangent[1], -tangent[0]]) / length
        places = mapping.F(local, tind=owners)
        middles = mesh.p[:, mesh.t[:, owners]].mean(axis=1)
        out = np.sign(((places.mean(2) - middles) * normal.mean(2)).sum(0))
        self.normal = (normal * out[None, :, None]).reshape(2, -1)
        self.weights, self.points = (length * weights).ravel(), places.reshape(2, -1)
        element, inverse = ElementTriP4(), mapping.invDF(local, tind=owners)
        count = len(elements.element_dofs)
        both = [element.lbasis(local, i) for i in range(count)]
        values = [np.stack([np.broadcast_to(v, length.shape) for v, _ in both])]
        slopes = np.stack([np.einsum("jifp,jfp->ifp", inverse, g) for _, g in both])
        values += [slopes[:, 0], slopes[:, 1]]
        rows = np.arange(self.weights.size).reshape(length.shape)
        self.tables = [elements._matrix(rows, v, owners) for v in values]
        corners, between = np.unique(mesh.facets[:, facets]), mesh.dofs.facet_dofs[:, facets].ravel()
        self.nodes = np.concatenate([corners, between])
        conditions = [piece.conditions[f] for f in elements.problem.component_fields]
        self.conditions: list[Condition | None] = [
            next((c for c in own if c.order == 1), None) for own in conditions
        ]

    def _data(self, time: float) -> np.ndarray:
        problem = self.elements.problem
        at = [jnp.full(self.points.shape[1], time), *jnp.asarray(self.points)]
        found = problem.piece_components(self.piece, at)
        result = np.zeros((len(self.conditions), self.points.shape[1]))
        for component, condition in enumerate(self.conditions):
            if condition is not None:
                field = problem.component_fields[component]
                number = self.piece.conditions[field].index(condition)
                result[component] = np.asarray(found[component][number])
        return result

    def _flux(self, time: float, values: np.ndarray, data: np.ndarray) -> np.ndarray:
        at = self.elements._coordinates(time, self.points)
        return self.elements.form.at_wall(self.conditions, values, at, self.normal, data)

    def force(self, time: float, levels: tuple[np.ndarray, ...]) -> np.ndarray:
        """∮ (q · n) v."""
        found = np.zeros(self.elements.size_of_field * self.elements.form.count)
        if not any(c is not None for c in self.conditions):
            return found
        values = self.elements._values(levels, self.tables)
        flux = self._flux(time, values, self._data(time)) * self.weights
        return np.concatenate([self.tables[0].T @ own for own in flux])

    def jacobian(self, time: float, levels: tuple[np.ndarray, ...]) -> sp.csc_matrix:
        """∂/∂u of the integral, by its own value there: what depends on slopes is left to Newton's method."""
        count = self.elements.form.count
        values = self.elements._values(levels, self.tables)
        data = self._data(time)
        still = self._flux(time, values, data)
        blocks: list[list[Any]] = [[None] * count for _ in range(count)]
        size = self.elements.size_of_field
        for source in range(count):
            step = 1e-7 * max(float(np.abs(values[0, source, 0]).max()), 1e-3)
            moved = values.copy()
            moved[0, source, 0] += step
            slope = (self._flux(time, moved, data) - still) / step
            for target in range(count):
                known = self.conditions[target] is not None
                inner = sp.diags(self.weights * slope[target] * known)
                blocks[target][source] = self.tables[0].T @ inner @ self.tables[0]
        return sp.csc_matrix(sp.bmat(blocks, format="csc") if blocks else (size, size))
