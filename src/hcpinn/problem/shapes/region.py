"""Regions of the plane enclosed by curves, and their combinations."""

from __future__ import annotations

import math
from collections.abc import Collection
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import ProblemError
from .carrier import module_of
from .checked import number, place
from .combined import Combined
from .curve import Curve, gauss_panels
from .gate import Function, Wedge, gate, wedges
from .outline import Corner, Outline, outline
from .slices import Slices
from .tree import Branch, Tree

_SAMPLES = 4096
_SLIVER = 1e-6
"""Area over the square of the perimeter below which a region is too thin to be meant."""


class Region(Combined):
    """A region of the plane: `Disk`, `Ellipse`, `Polygon`, `Annulus`, `Implicit` and what they combine to.

    `|` is the union, `&` the intersection, `-` the difference; `move`, `scale` and `turn` give other regions.
    The parts of its boundary have the names of the shapes they come from.
    """

    measure = "area"

    def __init__(self, tree: Tree):
        """`tree` combines the simple shapes."""
        self.tree = tree
        pieces = self.outline.pieces
        ends = np.concatenate([p.at(np.concatenate([[0.0, 1.0], p.turns()])) for p in pieces])
        low, high = ends.min(0), ends.max(0)
        dense = np.concatenate([p.at(np.linspace(0, 1, 4 * p.chords + 1)) for p in pieces])
        low, high = np.minimum(low, dense.min(0)), np.maximum(high, dense.max(0))
        self.bounds = tuple((float(a), float(b)) for a, b in zip(low, high, strict=True))
        outer = sum(_signed_area(loop) > 0 for loop in self.outline.loops)
        if outer > 1:
            raise ProblemError(
                f"{tree.words} falls into {outer} separate pieces, which know nothing of each other. Solve a "
                "problem on each of them, or let them overlap."
            )
        if not self.volume > _SLIVER * self.perimeter**2:
            raise ProblemError(
                f"{tree.words} is a sliver: its area is {self.volume:.3g} and its boundary "
                f"{self.perimeter:.3g} long. Make it wider, or solve the problem on an Interval."
            )
        if isinstance(tree, Branch) and tree.operation == "-":
            gone = {leaf.name for leaf in tree.right.leaves()}
            parts = {p.part for leaf in tree.right.leaves() for p in leaf.pieces}
            if not parts & set(self.parts):
                raise ProblemError(
                    f"What is taken away, {' and '.join(sorted(gone))}, lies outside of the shape and "
                    "changes nothing. Move it inside, or leave it out."
                )

    @cached_property
    def outline(self) -> Outline:
        """The boundary: loops of curves with the region on their left."""
        curves = [piece for leaf in self.tree.leaves() for piece in leaf.pieces]
        return outline(curves, self.tree.member)

    @cached_property
    def slices(self) -> Slices:
        return Slices(self.outline.pieces, [c.place for c in self.outline.corners if c.reentrant])

    @cached_property
    def _pieces(self) -> dict[str, list[Curve]]:
        known: dict[str, list[Curve]] = {}
        for leaf in self.tree.leaves():
            for piece in leaf.pieces:
                own = [p for p in self.outline.pieces if p.part == piece.part]
                if own:
                    known[piece.part] = own
        return known

    @property
    def corners(self) -> tuple[Corner, ...]:
        """Where the boundary has corners, with the angle inside."""
        return self.outline.corners

    @property
    def volume(self) -> float:
        return self.slices.area

    @property
    def area(self) -> float:
        """The area."""
        return self.volume

    @cached_property
    def perimeter(self) -> float:
        """The length of the whole boundary, holes included."""
        return sum(self.extent(part) for part in self.parts)

    def extent(self, part: str) -> float:
        """The length of a part."""
        return sum(p.length for p in self._of(part))

    def inside(self, unit: np.ndarray) -> np.ndarray:
        return self.slices.inside(np.asarray(unit, float))

    def on(self, part: str, unit: np.ndarray) -> np.ndarray:
        pieces = self._of(part)
        tables = []
        for piece in pieces:
            s = np.linspace(0, 1, 8 * piece.chords + 1)
            middle = (s[1:] + s[:-1]) / 2
            speed = np.linalg.norm(piece.slope(middle), axis=1)
            tables.append((s, np.concatenate([[0.0], np.cumsum(speed * np.diff(s))])))
        lengths = np.array([t[1][-1] for t in tables])
        begins = np.concatenate([[0.0], np.cumsum(lengths)])
        way = np.asarray(unit, float)[:, 0] * begins[-1]
        which = np.clip(np.searchsorted(begins, way, side="right") - 1, 0, len(pieces) - 1)
        points = np.empty((len(way), 2))
        for k, (piece, (s, table)) in enumerate(zip(pieces, tables, strict=True)):
            here = which == k
            points[here] = piece.at(np.interp(way[here] - begins[k], table, s))
        return points

    def boundary_quadrature(self, part: str, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """About `count` Gauss points on a part, their weights, and the outward normals there."""
        pieces = self._of(part)
        total = sum(p.length for p in pieces)
        points, weights, normals = [], [], []
        for piece in pieces:
            own = max(8, math.ceil(count * piece.length / total))
            s, w = gauss_panels(np.linspace(0, 1, -(-own // 16) + 1), min(own, 16))
            points.append(piece.at(s))
            weights.append(w * np.linalg.norm(piece.slope(s), axis=1))
            normals.append(piece.normal(s))
        return np.concatenate(points), np.concatenate(weights), np.concatenate(normals)

    def quadrature(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        return self.slices.quadrature(count)

    def normal(self, part: str, points: Any) -> tuple[Any, ...]:
        carrier = self._of(part)[0].carrier
        slope = carrier.slope(points)
        return tuple((-slope / ((slope**2).sum(axis=1) ** 0.5)[:, None]).T)

    def distance(self, part: str, points: Any) -> Any:
        return self._of(part)[0].carrier.normalised(points)

    def edge_factor(self, parts: Collection[str], points: Any) -> Any:
        return self._gate(tuple(sorted(set(parts))))(points)

    def _gate(self, parts: tuple[str, ...]) -> Function:
        if parts not in self._gates:
            pieces = [p for part in parts for p in self._of(part)]
            raw = gate(pieces, self.wedges, self._samples, self.size)
            most = float(raw(self._samples).max()) if pieces else 1.0
            self._gates[parts] = lambda points: raw(points) / most
        return self._gates[parts]

    @cached_property
    def _gates(self) -> dict[tuple[str, ...], Function]:
        return {}

    @cached_property
    def wedges(self) -> tuple[Wedge, ...]:
        """The coordinates of re-entrant corners, in which solutions are smooth there."""
        return tuple(wedges(self.corners, self.size, self._samples))

    def embedded(self, points: Any) -> Any:
        """What a network sees of points: their coordinates from −1 to 1, and those of re-entrant corners."""
        xp = module_of(points)
        columns = [self.scaled(axis, points[:, axis]) for axis in range(2)]
        for wedge in self.wedges:
            columns += [wedge.cosine(points), wedge.sine(points)]
        return xp.stack(columns, axis=1)

    @property
    def size(self) -> float:
        """The longest side of the bounding box."""
        return max(self.lengths)

    @property
    def remarks(self) -> tuple[str, ...]:
        """A sentence on each re-entrant corner."""
        known = {id(w.corner) for w in self.wedges}
        found = []
        for corner in self.corners:
            if corner.reentrant:
                x, y = corner.place
                eased = (
                    "features are smooth functions of r^α, α = π/angle, there, which eases it"
                    if id(corner) in known
                    else "which limits the accuracy"
                )
                found.append(
                    f"The domain has a re-entrant corner of {np.degrees(corner.angle):.0f}° at "
                    f"({x:.4g}, {y:.4g}): slopes grow without bound there; {eased}."
                )
        return tuple(found)

    @cached_property
    def cut(self) -> Any:
        """The boundary as a path of matplotlib."""
        from .picture import outline_path

        return outline_path(self)

    @cached_property
    def _samples(self) -> np.ndarray:
        number = np.arange(1, _SAMPLES + 1)
        return self.inside(np.modf(np.outer(number, [0.7548776662466927, 0.5698402909980532]))[0])

    def move(self, x: float, y: float) -> Region:
        """The region moved by (x, y)."""
        return self._mapped(np.eye(2), place((x, y), "The way of a shape", 2), "move", x, y)

    def turn(self, angle: float) -> Region:
        """The region turned anticlockwise around the origin by an angle in radians."""
        turn = number(angle, "The angle of a shape")
        c, s = math.cos(turn), math.sin(turn)
        return self._mapped(np.array([[c, -s], [s, c]]), np.zeros(2), "turn", turn)

    def _mapped(self, matrix: np.ndarray, shift: np.ndarray, method: str, *given: float) -> Region:
        move = method, tuple(float(value) for value in given)
        return Region(self.tree.each(lambda leaf: leaf.mapped(matrix, shift, move)))

    def plot(self, path: Any = None) -> Any:
        """Draw it with the names and normals of its parts; save to `path` or return the figure."""
        from .picture import picture

        return picture(self, path)


def _signed_area(loop: tuple[Curve, ...]) -> float:
    total = 0.0
    for piece in loop:
        s, w = gauss_panels(np.linspace(0, 1, piece.chords // 8 + 2), 8)
        (x, y), (dx, dy) = piece.at(s).T, piece.slope(s).T
        total += float(((x * dy - y * dx) / 2) @ w)
    return total
