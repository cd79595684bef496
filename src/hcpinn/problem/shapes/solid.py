"""Solids: balls, cylinders and boxes in space, their intersections and differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import ProblemError
from .carrier import Carrier, Conic, Flat
from .checked import number, place
from .combined import Combined
from .curve import gauss_panels
from .tree import Leaf, Made, Tree

_SAMPLES = 8192
_ASIDE = 1e-6


@dataclass(frozen=True, eq=False)
class Surface:
    """One smooth face of a solid, x = M s(u, v) + m with s on a patch of a sphere, a cylinder or a plane."""

    patch: str
    """`sphere`, `side`, `disk` or `square`."""
    matrix: np.ndarray
    shift: np.ndarray
    carrier: Carrier
    """Zero on it and positive inside."""
    part: str

    def at(self, unit: np.ndarray) -> np.ndarray:
        """The unit square onto the face, area for area where M is a multiple of a rotation."""
        return _PATCHES[self.patch](unit) @ self.matrix.T + self.shift

    def quadrature(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """About `count` points and their weights: even around an axis, of Gauss across it."""
        around = max(8, 2 * math.ceil(math.sqrt(count / 2)))
        u, wu = gauss_panels(np.array([0.0, 1.0]), max(4, around // 2))
        turns = self.patch != "square"
        v, wv = ((np.arange(around) + 0.5) / around, np.full(around, 1 / around)) if turns else (u, wu)
        if self.patch == "disk":  # Gauss points in r, not in r²
            u, wu = u**2, 2 * u * wu
        unit = np.stack([np.repeat(u, len(v)), np.tile(v, len(u))], axis=1)
        weights = np.repeat(wu, len(v)) * np.tile(wv, len(u)) * _AREAS[self.patch]
        first, second = self.matrix[:, 0], self.matrix[:, 1]
        if self.patch == "side":
            scale = float(np.linalg.norm(first) * np.linalg.norm(self.matrix[:, 2]))
        elif self.patch == "sphere":
            scale = float(first @ first)
        else:
            scale = float(np.linalg.norm(np.cross(first, second)))
        return self.at(unit), weights * scale

    def normal(self, points: Any) -> Any:
        """The outward unit normal, a row each."""
        slope = self.carrier.slope(points)
        return -slope / ((slope**2).sum(axis=1) ** 0.5)[:, None]

    def mapped(self, matrix: np.ndarray, shift: np.ndarray) -> Surface:
        """The image under x ↦ M x + s, M a multiple of a rotation."""
        scale = float(abs(np.linalg.det(matrix))) ** (1 / 3)
        carrier = _moved(self.carrier, matrix, shift, scale)
        return replace(self, matrix=matrix @ self.matrix, shift=matrix @ self.shift + shift, carrier=carrier)

    def renamed(self, part: str) -> Surface:
        """The same surface as a part of another name."""
        return replace(self, part=part)

    @property
    def signature(self) -> list[Any]:
        return [self.patch, *(float(v).hex() for v in (*self.matrix.ravel(), *self.shift))]


def _moved(carrier: Carrier, matrix: np.ndarray, shift: np.ndarray, scale: float) -> Carrier:
    if isinstance(carrier, Conic):
        return Conic(matrix @ carrier.centre + shift, carrier.inverse @ np.linalg.inv(matrix))
    assert isinstance(carrier, Flat)
    return Flat(matrix @ carrier.place + shift, matrix @ carrier.inward / scale)


def _around(unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    angle = 2 * np.pi * unit[:, 1]
    return np.cos(angle), np.sin(angle)


def _sphere(unit: np.ndarray) -> np.ndarray:
    (c, s), z = _around(unit), 2 * unit[:, 0] - 1
    r = np.sqrt(1 - z * z)
    return np.stack([r * c, r * s, z], axis=1)


def _side(unit: np.ndarray) -> np.ndarray:
    c, s = _around(unit)
    return np.stack([c, s, unit[:, 0]], axis=1)


def _disk(unit: np.ndarray) -> np.ndarray:
    (c, s), r = _around(unit), np.sqrt(unit[:, 0])
    return np.stack([r * c, r * s, 0 * r], axis=1)


def _square(unit: np.ndarray) -> np.ndarray:
    return np.column_stack([unit, np.zeros(len(unit))])


_PATCHES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sphere": _sphere, "side": _side, "disk": _disk, "square": _square,
}  # fmt: skip
_AREAS = {"sphere": 4 * np.pi, "side": 2 * np.pi, "disk": np.pi, "square": 1.0}


class Solid(Combined):
    """A solid: `Ball`, `Cylinder`, `Box`, what two have in common (`&`), and one cut out of another (`-`)."""

    measure = "volume"

    def __init__(self, tree: Tree, filled: Callable[[int], tuple[np.ndarray, np.ndarray]] | None = None):
        """`filled` gives Gauss points and weights where the solid has some of its own."""
        self.tree, self._filled = tree, filled
        surfaces = [s for leaf in tree.leaves() for s in leaf.pieces]
        points = np.concatenate([s.quadrature(400)[0] for s in surfaces])
        self._size = float(np.ptp(points, axis=0).max())
        self._pieces: dict[str, Surface] = {}
        kept = []
        for surface in surfaces:
            own = surface.quadrature(2000)[0]
            own = own[self._bounds_it(surface, own)]
            if len(own):
                self._pieces[surface.part] = surface
                kept.append(own)
        if not kept:
            raise ProblemError("The shape is empty: no point lies in all that is to overlap. Move its parts.")
        low, high = (f(np.concatenate(kept), axis=0) for f in (np.min, np.max))
        margin = 0.02 * (high - low) if filled is None else 0.005 * (high - low)
        self.bounds = tuple((float(a), float(b)) for a, b in zip(low - margin, high + margin, strict=True))
        if self._samples.size == 0:
            raise ProblemError(f"{tree.words} is a sliver: it has next to no inside. Make it thicker.")

    def _bounds_it(self, surface: Surface, points: np.ndarray) -> np.ndarray:
        """Which points of a surface have the solid on one side only."""
        aside = _ASIDE * self._size * surface.normal(points)
        return self.tree.member(points - aside) != self.tree.member(points + aside)

    @property
    def volume(self) -> float:
        return self._volume

    @cached_property
    def _volume(self) -> float:
        return float(self.quadrature(1 << 16)[1].sum())

    def extent(self, part: str) -> float:
        """The area of a part."""
        return float(self.boundary_quadrature(part, 4000)[1].sum())

    def inside(self, unit: np.ndarray) -> np.ndarray:
        low, high = np.array(self.lower), np.array(self.upper)
        points = low + np.asarray(unit, float) * (high - low)
        out = ~self.contains(points)
        spare = self._samples
        points[out] = spare[np.arange(int(out.sum())) * 7919 % len(spare)]
        return points

    def on(self, part: str, unit: np.ndarray) -> np.ndarray:
        surface = self._of(part)
        points = surface.at(np.asarray(unit, float))
        out = ~self._bounds_it(surface, points)
        if out.any():
            spare = surface.at(_even(4096, 2))
            spare = spare[self._bounds_it(surface, spare)]
            points[out] = spare[np.arange(int(out.sum())) * 7919 % len(spare)]
        return points

    def boundary_quadrature(self, part: str, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """About `count` points on a part, their weights, and the outward normals there."""
        surface = self._of(part)
        points, weights = surface.quadrature(count)
        kept = self._bounds_it(surface, points)
        return points[kept], weights[kept], self._outward(surface, points[kept])

    def quadrature(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        if self._filled is not None:
            return self._filled(count)
        low, high = np.array(self.lower), np.array(self.upper)
        share = len(self._samples) / _SAMPLES
        points = low + _even(math.ceil(count / share), 3) * (high - low)
        inside = self.contains(points)
        return points[inside], np.full(int(inside.sum()), float(np.prod(high - low)) / len(points))

    def normal(self, part: str, points: Any) -> tuple[Any, ...]:
        return tuple(self._outward(self._of(part), points).T)

    def _outward(self, surface: Surface, points: Any) -> Any:
        """The outward normal of the solid: into a part cut out of it."""
        return surface.normal(points) * self._sides[surface.part]

    @cached_property
    def _sides(self) -> dict[str, float]:
        """1 where the solid lies inside of a surface, −1 where outside."""
        found = {}
        for part, surface in self._pieces.items():
            points = surface.quadrature(2000)[0]
            points = points[self._bounds_it(surface, points)][:1]
            inner = self.tree.member(points - _ASIDE * self._size * surface.normal(points))
            found[part] = 1.0 if inner[0] else -1.0
        return found

    def distance(self, part: str, points: Any) -> Any:
        return self._sides[part] * self._of(part).carrier.normalised(points)

    def edge_factor(self, parts: Collection[str], points: Any) -> Any:
        value: Any = 1.0
        for part in sorted(set(parts)):
            value = value * self._factor(part)(points)
        return value + 0 * points[:, 0]

    def _factor(self, part: str) -> Callable[[Any], Any]:
        if part not in self._factors:
            side, carrier = self._sides[part], self._of(part).carrier
            found = side * carrier(self._samples)
            if found.min() < -1e-9 * self._size:
                raise ProblemError(
                    f"The surface of '{part}' goes on inside the solid, so no values can be prescribed there."
                )
            most = float(found.max())
            self._factors[part] = lambda points: side * carrier(points) / most
        return self._factors[part]

    @cached_property
    def _factors(self) -> dict[str, Callable[[Any], Any]]:
        return {}

    def embedded(self, points: Any) -> Any:
        """What a network sees of points: their coordinates from −1 to 1."""
        low, high = np.array(self.lower), np.array(self.upper)
        return (2 * points - (low + high)) / (high - low)

    @cached_property
    def _samples(self) -> np.ndarray:
        low, high = np.array(self.lower), np.array(self.upper)
        points = low + _even(_SAMPLES, 3) * (high - low)
        return points[self.tree.member(points)]

    def move(self, x: float, y: float, z: float) -> Solid:
        """The solid moved by (x, y, z)."""
        return self._mapped(np.eye(3), place((x, y, z), "The way of a solid", 3), "move", x, y, z)

    def _mapped(self, matrix: np.ndarray, shift: np.ndarray, method: str, *given: float) -> Solid:
        move = method, tuple(float(value) for value in given)
        filled, scale = self._filled, abs(float(np.linalg.det(matrix)))

        def moved(count: int) -> tuple[np.ndarray, np.ndarray]:
            assert filled is not None
            points, weights = filled(count)
            return points @ matrix.T + shift, scale * weights

        tree = self.tree.each(lambda leaf: leaf.mapped(matrix, shift, move))
        return Solid(tree, None if filled is None else moved)


def _even(count: int, dimension: int) -> np.ndarray:
    """Evenly spread points of the unit cube."""
    shares = [[0.7548776662466927, 0.5698402909980532], [0.8191725134, 0.6710436067, 0.5497004779]]
    return np.modf(0.5 + np.outer(np.arange(1, count + 1), shares[dimension - 2]))[0]


class Ball(Solid):
    """The points of space nearer than `radius` to `center`. Its boundary is called `name`."""

    def __init__(self, center: Sequence[float] = (0.0, 0.0, 0.0), radius: float = 1.0, *, name: str = "ball"):
        """
        Args:
            center: a triple of numbers.
            radius: a positive number.
            name: of its boundary, for conditions.
        """
        at = place(center, "The center of a ball", 3)
        size = number(radius, "The radius of a ball", positive=True)
        matrix = size * np.eye(3)
        surface = Surface("sphere", matrix, at, Conic(at, np.eye(3) / size), name)
        words = f"Ball(({at[0]:g}, {at[1]:g}, {at[2]:g}), {size:g})"
        made = Made("ball", (tuple(map(float, at)), size))
        leaf = Leaf(name, (surface,), lambda p: ((p - at) ** 2).sum(axis=1) < size**2, words, made)

        def filled(count: int) -> tuple[np.ndarray, np.ndarray]:
            side = max(6, math.ceil((count / 2) ** (1 / 3)))
            r, wr = gauss_panels(np.array([0.0, 1.0]), side)
            on, weights = Surface("sphere", np.eye(3), np.zeros(3), surface.carrier, "").quadrature(
                2 * side**2
            )
            points = (r[:, None, None] * on[None]).reshape(-1, 3)
            return at + size * points, size**3 * ((wr * r**2)[:, None] * weights[None]).ravel()

        super().__init__(leaf, filled)


class Cylinder(Solid):
    """A round cylinder along z. Its parts are `cylinder.side`, `cylinder.bottom` and `cylinder.top`."""

    def __init__(
        self,
        center: Sequence[float] = (0.0, 0.0),
        radius: float = 1.0,
        height: Sequence[float] = (0.0, 1.0),
        *,
        name: str = "cylinder",
    ):
        """
        Args:
            center: a pair of numbers (x, y).
            radius: a positive number.
            height: the lower and the upper end along z.
            name: of its parts: `cylinder.side`, `cylinder.bottom` and `cylinder.top`.
        """
        x, y = place(center, "The center of a cylinder", 2)
        size = number(radius, "The radius of a cylinder", positive=True)
        low, high = place(height, "The height of a cylinder", 2)
        if not low < high:
            raise ProblemError(
                f"A cylinder has no inside from z = {low:g} to {high:g}. Give the lower end first."
            )
        at = np.array([x, y, low])
        up = np.array([0.0, 0.0, 1.0])
        matrix = np.diag([size, size, high - low])
        side = Conic(at, np.diag([1 / size, 1 / size, 0.0]))
        surfaces = (
            Surface("side", matrix, at, side, f"{name}.side"),
            Surface("disk", matrix, at, Flat(at, up), f"{name}.bottom"),
            Surface("disk", matrix, at + (high - low) * up, Flat(at + (high - low) * up, -up), f"{name}.top"),
        )

        def member(p: np.ndarray) -> np.ndarray:
            return (((p[:, :2] - at[:2]) ** 2).sum(axis=1) < size**2) & (p[:, 2] > low) & (p[:, 2] < high)

        def filled(count: int) -> tuple[np.ndarray, np.ndarray]:
            along = max(6, math.ceil((count / 2) ** (1 / 3)))
            z, wz = gauss_panels(np.array([low, high]), along)
            flat, weights = surfaces[1].quadrature(2 * along**2)
            points = np.repeat(flat[None], along, 0)
            points[..., 2] = z[:, None]
            return points.reshape(-1, 3), (wz[:, None] * weights[None]).ravel()

        words = f"Cylinder(({x:g}, {y:g}), {size:g}, ({low:g}, {high:g}))"
        made = Made("cylinder", ((float(x), float(y)), size, (float(low), float(high))))
        super().__init__(Leaf(name, surfaces, member, words, made), filled)


def brick(bounds: Sequence[tuple[float, float]]) -> Leaf:
    """A box of space as a leaf."""
    low, high = (np.array([pair[k] for pair in bounds]) for k in (0, 1))
    surfaces = []
    for axis, letter in enumerate("xyz"):
        first, second = (axis + 1) % 3, (axis + 2) % 3
        matrix = np.zeros((3, 3))
        matrix[first, 0], matrix[second, 1], matrix[axis, 2] = (high - low)[[first, second, axis]]
        inward = np.eye(3)[axis]
        top = low + (high - low)[axis] * inward
        for end, at, way in (("lower", low, inward), ("upper", top, -inward)):
            surfaces.append(Surface("square", matrix, at, Flat(at, way), f"{letter}.{end}"))

    def member(points: np.ndarray) -> np.ndarray:
        return np.all((points > low) & (points < high), axis=1)

    words = f"Box of {' × '.join(f'{v:g}' for v in high - low)}"
    return Leaf("box", tuple(surfaces), member, words, Made("box", tuple(bounds)))
