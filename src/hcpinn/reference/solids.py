"""Polynomials on a solid: a spectral Galerkin method in space, from the same declaration.

Products of Legendre polynomials in the bounding box, of total degree n, are made orthonormal over the solid.
For each component they are turned so that some of them vanish, with all their combinations, where values are
prescribed; the others carry these values, by least squares.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import scipy.linalg

from ..problem import Piece, Problem, Shape
from .space import Held, Space, Table, Wall

_NOTHING = 1e-9
"""Singular values of the functions on the boundary, over the largest, that count as zero."""


class Polynomials(Space):
    """Polynomials up to a total degree, turned for each component by where its values are prescribed."""

    def __init__(self, problem: Problem, degree: int):
        domain = cast(Shape, problem.domain)
        self.domain, self.degree = domain, degree
        count = (degree + 1) * (degree + 2) * (degree + 3) // 6
        self.words = f"a Galerkin method of polynomials of degree {degree}"
        points, self.weights = domain.quadrature(2 * (degree + 3) ** 3)
        self.points = points.T
        self.upper = np.linalg.qr(np.sqrt(self.weights)[:, None] * self._raw(points)[0], mode="r")
        on = {
            piece.part: domain.boundary_quadrature(piece.part, 6 * (degree + 1) ** 2)
            for piece in problem.pieces
        }
        known: dict[tuple[str, ...], tuple[np.ndarray, int, np.ndarray, list[tuple[Piece, np.ndarray]]]] = {}
        self.turns, self.sizes, self.tables, self.held = [], [], [], []
        for component, field in enumerate(problem.component_fields):
            pieces = [piece for piece in problem.pieces if piece.value_of(field) is not None]
            key = tuple(piece.part for piece in pieces)
            if key not in known:
                known[key] = self._turned(pieces, on)
            turn, free, reach, places = known[key]
            self.turns.append(turn)
            self.sizes.append(count)
            if pieces:
                self.held.append(Held(component, np.arange(free, count), places, reach))
        whole = {id(turn): self._tables(points, turn) for turn in self.turns}
        self.tables = [whole[id(turn)] for turn in self.turns]
        self.walls = []
        for piece in problem.pieces:
            places, weights, normals = on[piece.part]
            own = {id(turn): self._tables(places, turn) for turn in self.turns}
            tables = [own[id(turn)] for turn in self.turns]
            self.walls.append(Wall(piece, places.T, weights, normals.T, tables))

    def _turned(
        self, pieces: list[Piece], on: dict[str, Any]
    ) -> tuple[np.ndarray, int, np.ndarray, list[tuple[Piece, np.ndarray]]]:
        """Orthonormal functions, first those that vanish on the pieces; how many; how data reach the rest."""
        unit = scipy.linalg.solve_triangular(self.upper, np.eye(len(self.upper)))
        if not pieces:
            return unit, len(unit), np.zeros((0, 0)), []
        values = np.concatenate([self._raw(on[piece.part][0])[0] @ unit for piece in pieces])
        root = np.sqrt(np.concatenate([on[piece.part][1] for piece in pieces]))
        left, sizes, right = np.linalg.svd(root[:, None] * values)
        bound = int(np.sum(sizes > _NOTHING * sizes[0]))
        turn = unit @ np.concatenate([right[bound:], right[:bound]]).T
        reach = (left[:, :bound] / sizes[:bound]).T * root
        return turn, len(unit) - bound, reach, [(piece, on[piece.part][0].T) for piece in pieces]

    def _raw(self, points: np.ndarray) -> list[np.ndarray]:
        """The products and their slopes at rows of coordinates."""
        legendre = np.polynomial.legendre
        slope = legendre.legder(np.eye(self.degree + 1))
        values, slopes = [], []
        for axis in range(3):
            share = self.domain.scaled(axis, points[:, axis])
            values.append(legendre.legvander(share, self.degree))
            slopes.append(values[-1][:, : self.degree] @ slope * (2 / self.domain.lengths[axis]))
        powers = np.array(
            [p for p in itertools.product(range(self.degree + 1), repeat=3) if sum(p) <= self.degree]
        ).T
        found = []
        for along in (None, 0, 1, 2):
            each = [(slopes if axis == along else values)[axis][:, powers[axis]] for axis in range(3)]
            found.append(each[0] * each[1] * each[2])
        return found

    def _tables(self, points: np.ndarray, turn: np.ndarray) -> list[np.ndarray]:
        return [table @ turn for table in self._raw(points)]

    def start(
        self, problem: Problem, component: int, values: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        return self.tables[component][0].T @ (self.weights * values(self.points)[component])

    def at(self, places: np.ndarray, component: int) -> Table:
        return self._raw(places)[0] @ self.turns[component]
