"""Finite elements of degree 4 on curved triangles, by scikit-fem: functions on a region of the plane."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial import KDTree
from skfem import CellBasis, ElementTriP4
from skfem.mapping import MappingIsoparametric

from ..problem import Problem
from .meshing import triangulate
from .space import Held, Space, Wall

_ORDER_OF_RULE = 8


class Triangles(Space):
    """Functions on one mesh; the same for all components."""

    def __init__(self, problem: Problem, spacing: float):
        """`spacing` is about the length of the sides."""
        self.mesh: Any
        self.mesh, parts = triangulate(problem.domain, spacing)
        self.words = f"finite elements of degree 4 on {self.mesh.t.shape[1]} curved triangles"
        self.mapping = MappingIsoparametric(self.mesh, ElementTriP4())
        basis: Any = CellBasis(self.mesh, ElementTriP4(), mapping=self.mapping, intorder=_ORDER_OF_RULE)
        self.element_dofs, self.count = np.asarray(basis.element_dofs), int(basis.N)
        shape = basis.dx.shape
        self.weights = basis.dx.ravel()
        self.points = np.asarray(basis.global_coordinates()).reshape(2, -1)
        found = [[np.broadcast_to(np.asarray(b[0]), shape) for b in basis.basis]]
        found += [[np.broadcast_to(b[0].grad[k], shape) for b in basis.basis] for k in range(2)]
        rows, components = np.arange(self.weights.size).reshape(shape), len(problem.components)
        tables = [self._matrix(rows, np.stack(t), np.arange(shape[0])) for t in found]
        self.sizes, self.tables = [self.count] * components, [tables] * components
        self.walls, self.held = [], []
        for piece in problem.pieces:
            self.walls.append(self._wall(piece, parts[piece.part], components))
            corners = np.unique(self.mesh.facets[:, parts[piece.part]])
            nodes = np.concatenate([corners, self.mesh.dofs.facet_dofs[:, parts[piece.part]].ravel()])
            for component, field in enumerate(problem.component_fields):
                if piece.value_of(field) is not None:
                    self.held.append(Held(component, nodes, [(piece, self.mesh.doflocs[:, nodes])]))

    def _matrix(self, rows: np.ndarray, values: np.ndarray, elements: np.ndarray) -> sp.csr_matrix:
        """Nodal values ↦ values at points; `values` are basis function × element × point."""
        columns = np.broadcast_to(self.element_dofs[:, elements][:, :, None], values.shape)
        where = np.broadcast_to(rows[None], values.shape)
        shape = int(rows.max()) + 1, self.count
        return sp.csr_matrix((values.ravel(), (where.ravel(), columns.ravel())), shape=shape)

    def _wall(self, piece: Any, facets: np.ndarray, components: int) -> Wall:
        mesh, mapping = self.mesh, self.mapping
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
        element, inverse = ElementTriP4(), mapping.invDF(local, tind=owners)
        both = [element.lbasis(local, i) for i in range(len(self.element_dofs))]
        values = [np.stack([np.broadcast_to(v, length.shape) for v, _ in both])]
        slopes = np.stack([np.einsum("jifp,jfp->ifp", inverse, g) for _, g in both])
        values += [slopes[:, 0], slopes[:, 1]]
        rows = np.arange(length.size).reshape(length.shape)
        tables = [self._matrix(rows, v, owners) for v in values]
        normal = (normal * out[None, :, None]).reshape(2, -1)
        return Wall(piece, places.reshape(2, -1), (length * weights).ravel(), normal, [tables] * components)

    def start(self, problem: Problem, component: int, values: Any) -> np.ndarray:
        return values(self.mesh.doflocs)[component]

    def at(self, places: np.ndarray, component: int) -> sp.csr_matrix:
        """Each in the triangle that it lies deepest in."""
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
