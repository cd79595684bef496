"""A smooth function that vanishes on some pieces of a boundary in the plane and is positive elsewhere.

It is the product of the pieces' carriers, which is analytic. Where a carrier would vanish inside the region
too, as the lines through a re-entrant corner do, two ways are left: r^(π/ω) sin(πθ/ω) around a corner between
straight edges, which behaves as solutions do there, or carriers trimmed to their pieces (Rvachev), joined so
that the whole vanishes like the distance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .carrier import Carrier, module_of
from .curve import Curve
from .outline import Corner

Function = Callable[[Any], Any]

_MOST = 4
"""Corners with coordinates of their own."""


@dataclass(frozen=True, eq=False)
class Wedge:
    """The coordinates z^α of a re-entrant corner, α = π/ω: all that is singular there is smooth in them."""

    corner: Corner
    size: float

    @property
    def power(self) -> float:
        return np.pi / self.corner.angle

    def polar(self, points: Any) -> tuple[Any, Any]:
        """r over the size, and θ from 0 to ω inside; its cut lies in the middle of the outside."""
        xp, (c, s) = module_of(points), self.corner.direction
        x, y = ((points - self.corner.place) / self.size).T
        half = self.corner.angle / 2
        turned = c * x + s * y, c * y - s * x
        mid = (
            np.cos(half) * turned[0] + np.sin(half) * turned[1],
            np.cos(half) * turned[1] - np.sin(half) * turned[0],
        )
        return xp.sqrt(x * x + y * y), half + xp.arctan2(mid[1], mid[0])

    def cosine(self, points: Any) -> Any:
        """r^α cos αθ."""
        r, angle = self.polar(points)
        return r**self.power * module_of(points).cos(self.power * angle)

    def sine(self, points: Any) -> Any:
        """r^α sin αθ."""
        r, angle = self.polar(points)
        return r**self.power * module_of(points).sin(self.power * angle)


@dataclass(frozen=True, eq=False)
class Trimmed:
    """√(f² + ((√(t² + f⁴) − t)/2)²): zero where f = 0 and t ≥ 0."""

    carrier: Carrier
    trim: Function

    def __call__(self, points: Any) -> Any:
        xp, f, t = module_of(points), self.carrier(points), self.trim(points)
        return xp.sqrt(f**2 + ((xp.sqrt(t**2 + f**4) - t) / 2) ** 2)


def trimmed(piece: Curve) -> Trimmed:
    """The carrier of a piece, zero on the piece alone."""
    begin, middle, end = piece.at(np.array([0.0, 0.5, 1.0]))
    centre, chord = (begin + end) / 2, end - begin
    length = float(np.hypot(*chord))
    across = np.array([-chord[1], chord[0]]) / length
    bulge = float((middle - centre) @ across)
    if abs(bulge) > 1e-9 * length:
        return Trimmed(piece.carrier, lambda p: ((p - centre) @ across) * np.sign(bulge))
    return Trimmed(piece.carrier, lambda p: (length**2 / 4 - ((p - centre) ** 2).sum(axis=1)) / length)


def wedges(corners: Sequence[Corner], size: float, samples: np.ndarray) -> list[Wedge]:
    """Coordinates of the re-entrant corners, unless there are many of them or the region winds around one."""
    found = [Wedge(c, size) for c in corners if c.reentrant]
    if len(found) > _MOST:
        return []
    kept = []
    for wedge in found:
        angle = wedge.polar(samples)[1]
        if angle.min() > -1e-9 and angle.max() < wedge.corner.angle + 1e-9:
            kept.append(wedge)
    return kept


def gate(pieces: Sequence[Curve], own: Sequence[Wedge], samples: np.ndarray, size: float) -> Function:
    """The function for some pieces of a region's boundary; `samples` are points inside."""
    factors: list[Function] = []
    left = list(pieces)
    for wedge in own:
        edges = [p for p in left if p.part in wedge.corner.parts and p.chords == 1]
        if len(edges) == 2 and {p.part for p in edges} == set(wedge.corner.parts):
            factors.append(wedge.sine)
            left = [p for p in left if p not in edges]
    rest: list[Trimmed] = []
    done: set[str] = set()
    for piece in left:
        carrier = piece.carrier
        if carrier(samples).min() < -1e-9 * size:
            rest.append(trimmed(piece))
        elif piece.part not in done:
            done.add(piece.part)
            factors.append(carrier)
    return _Product(tuple(factors), tuple(rest))


@dataclass(frozen=True, eq=False)
class _Product:
    factors: tuple[Function, ...]
    rest: tuple[Trimmed, ...]

    def __call__(self, points: Any) -> Any:
        xp = module_of(points)
        value = xp.ones_like(points[:, 0])
        for factor in self.factors:
            value = value * factor(points)
        if self.rest:
            each = [f(points) for f in self.rest]
            total: Any = 0.0
            for number in range(len(each)):
                others = [f for k, f in enumerate(each) if k != number]
                term = xp.ones_like(value)
                for other in others:
                    term = term * other
                total = total + term**2
            product = xp.ones_like(value)
            for f in each:
                product = product * f
            value = value * product / xp.sqrt(total) if len(each) > 1 else value * product
        return value
