"""Triangles for a region of the plane: a Delaunay mesh of points on its boundary and of a lattice inside.

Triangles are halved again and again towards re-entrant corners. Every triangle is a quartic image of the
reference triangle, so that edges on the boundary follow its curves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import Delaunay, KDTree
from skfem import ElementTriP4, MeshTri1, MeshTri2

from ..errors import NoReferenceError

_ROUNDS = 12
"""How often triangles at a re-entrant corner are divided."""

_TRIES = 4


@dataclass(repr=False)
class MeshTri4(MeshTri2):
    """Triangles whose edges are polynomials of degree 4."""

    elem: Any = ElementTriP4


def triangulate(region: Any, spacing: float) -> tuple[MeshTri4, dict[str, np.ndarray]]:
    """Triangles with sides of about `spacing`, and for each part of the boundary the facets on it."""
    for _ in range(_TRIES):
        mesh = _straight(region, spacing)
        if mesh is not None:
            for corner in region.corners:
                if corner.reentrant:
                    mesh = _towards(mesh, corner.place, region)
            return _curved(mesh, region)
        spacing *= 0.7
    raise NoReferenceError("No mesh of the domain was found: it has parts that are too close to each other.")


def _straight(region: Any, spacing: float) -> MeshTri1 | None:
    """A mesh with corners on the boundary; None if some edge of the boundary is not in it."""
    rings, edges, count = [], [], 0
    for loop in region.outline.loops:
        ring = []
        for piece in loop:
            s = np.linspace(0, 1, 33)
            turn = np.unwrap(np.arctan2(*piece.slope(s).T[::-1]))
            bends = float(np.abs(np.diff(turn)).sum())
            number = max(1, int(np.ceil(piece.length / spacing)), int(np.ceil(bends / 0.55)))
            number = max(number, 3 if len(loop) < 2 else 2 if len(loop) < 3 else 1)
            ring.append(_even(piece, number)[:-1])
        rings.append(np.concatenate(ring))
        own = count + np.arange(len(rings[-1]))
        edges += list(zip(own, np.roll(own, -1), strict=True))
        count += len(own)
    ring = np.concatenate(rings)
    inner = _lattice(region, spacing)
    lengths = np.array([np.linalg.norm(ring[a] - ring[b]) for a, b in edges])
    middles = np.array([(ring[a] + ring[b]) / 2 for a, b in edges])
    near, which = KDTree(np.concatenate([ring, middles])).query(inner)
    local = np.concatenate([lengths, lengths])[which]
    inner = inner[near > 0.6 * np.minimum(local, spacing)]
    points = np.concatenate([ring, inner])
    for _ in range(4):
        triangles = _kept(points, region)
        points[count:] = _relaxed(points, triangles)[count:]
    triangles = _kept(points, region)
    sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    each, times = np.unique(sides, axis=0, return_counts=True)
    if {tuple(e) for e in each[times == 1]} != {tuple(sorted(map(int, e))) for e in edges}:
        return None
    used = np.unique(triangles)
    if len(used) < len(points):
        return None
    return MeshTri1(points.T, np.sort(triangles, axis=1).T)


def _even(piece: Any, number: int) -> np.ndarray:
    """Points at equal distances along a curve."""
    s = np.linspace(0, 1, 40 * number + 1)
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(piece.at(s), axis=0), axis=1))])
    return piece.at(np.interp(np.linspace(0, way[-1], number + 1), way, s))


def _lattice(region: Any, spacing: float) -> np.ndarray:
    """A lattice of equilateral triangles inside."""
    (a, b), (c, d) = region.bounds
    rows = np.arange(c + spacing / 3, d, spacing * np.sqrt(3) / 2)
    shift = (np.arange(len(rows)) % 2) * spacing / 2
    columns = np.arange(a - spacing, b + spacing, spacing)
    points = np.stack(np.broadcast_arrays(columns[None] + shift[:, None], rows[:, None]), -1).reshape(-1, 2)
    return points[region.contains(points)]


def _kept(points: np.ndarray, region: Any) -> np.ndarray:
    """The triangles of the Delaunay mesh that lie inside."""
    triangles = Delaunay(points).simplices
    a, b, c = (points[triangles[:, k]] for k in range(3))
    area = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    flat = np.abs(area) < 1e-9 * np.abs(area).max()
    return triangles[region.contains((a + b + c) / 3) & ~flat]


def _relaxed(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Each point in the mean of its neighbours."""
    total, times = np.zeros_like(points), np.zeros(len(points))
    for k in range(3):
        for other in (1, 2):
            np.add.at(total, triangles[:, k], points[triangles[:, (k + other) % 3]])
            np.add.at(times, triangles[:, k], 1)
    return total / np.maximum(times, 1)[:, None]


def _towards(mesh: Any, corner: np.ndarray, region: Any) -> MeshTri1:
    """The mesh divided again and again where it touches a corner."""
    for _ in range(_ROUNDS):
        vertex = int(np.argmin(np.linalg.norm(mesh.p.T - corner, axis=1)))
        mesh = mesh.refined(np.flatnonzero((mesh.t == vertex).any(axis=0)))
        points = mesh.p.copy()
        for vertex in np.unique(mesh.facets[:, mesh.boundary_facets()]):
            points[:, vertex] = _onto(region, points[:, vertex])
        mesh = MeshTri1(points, mesh.t)
    return mesh


def _onto(region: Any, point: np.ndarray) -> np.ndarray:
    """The nearest point of the boundary."""
    found = [p.at(p.nearest(point[None]))[0] for p in region.outline.pieces]
    return min(found, key=lambda p: float(np.linalg.norm(p - point)))


def _curved(straight: Any, region: Any) -> tuple[MeshTri4, dict[str, np.ndarray]]:
    """Boundary edges curved onto their curves, and interior nodes moved accordingly."""
    mesh = MeshTri4.from_mesh(straight)
    facets = straight.boundary_facets()
    ends = straight.p[:, straight.facets[:, facets]]  # axes × 2 × facets
    middles = ends.mean(axis=1).T
    found = np.full(len(facets), np.inf)
    owner = np.zeros(len(facets), int)
    spans = np.zeros((2, len(facets)))
    for number, piece in enumerate(region.outline.pieces):
        s = [piece.nearest(ends[:, k].T) for k in range(2)]
        gaps = [np.linalg.norm(piece.at(s[k]) - ends[:, k].T, axis=1) for k in range(2)]
        middle = np.linalg.norm(piece.at(piece.nearest(middles)) - middles, axis=1)
        better = np.maximum(gaps[0], gaps[1]) * 1e6 + middle < found
        if _closes(piece):  # its two ends are one point
            wrap = np.abs(s[0] - s[1]) > 0.5
            low = s[0] < s[1]
            s = [np.where(wrap & low, s[0] + 1, s[0]), np.where(wrap & ~low, s[1] + 1, s[1])]
        found = np.where(better, np.maximum(gaps[0], gaps[1]) * 1e6 + middle, found)
        owner = np.where(better, number, owner)
        spans = np.where(better, np.array(s), spans)
    doflocs = mesh.doflocs.copy()
    reference = ElementTriP4.doflocs
    barycentric = np.stack([1 - reference.sum(1), reference[:, 0], reference[:, 1]], axis=1)
    pieces = region.outline.pieces
    for facet, number, s, e in zip(facets, owner, spans.T, straight.f2t[0, facets], strict=True):
        if pieces[number].chords == 1:
            continue
        vertices = straight.t[:, e]
        a, b = (int(np.flatnonzero(vertices == v)[0]) for v in straight.facets[:, facet])
        share = barycentric[:, a] + barycentric[:, b]
        inside = (barycentric[:, a] > 0) & (barycentric[:, b] > 0)
        t = barycentric[inside, b] / share[inside]
        place = pieces[number].at(np.mod(s[0] + t * (s[1] - s[0]), 1.0 + 1e-15))
        chord = (1 - t)[:, None] * straight.p[:, vertices[a]] + t[:, None] * straight.p[:, vertices[b]]
        dofs = mesh.dofs.element_dofs[inside.nonzero()[0], e]
        doflocs[:, dofs] += ((share[inside] ** 2)[:, None] * (place - chord)).T
    parts = {part: facets[[pieces[n].part == part for n in owner]] for part in region.parts}
    return MeshTri4(doflocs, straight.t), parts


def _closes(piece: Any) -> bool:
    return bool(piece.closed)
