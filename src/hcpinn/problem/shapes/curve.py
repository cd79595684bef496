"""Pieces of a boundary in the plane: x(s), 0 ≤ s ≤ 1, with the domain on the left."""

from __future__ import annotations

import abc
import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from .carrier import Carrier, Conic, Flat, Level

_STEPS = 64
"""Chords per quarter of a curve in rough searches."""


class Curve(abc.ABC):
    """A smooth piece of a boundary, of one named part."""

    part: str

    @abc.abstractmethod
    def at(self, s: np.ndarray) -> np.ndarray:
        """Points, a row each."""

    @abc.abstractmethod
    def slope(self, s: np.ndarray) -> np.ndarray:
        """x′(s), a row each."""

    @abc.abstractmethod
    def between(self, begin: float, end: float) -> Curve:
        """The piece from one parameter to another; backwards where the first is larger."""

    @abc.abstractmethod
    def mapped(self, matrix: np.ndarray, shift: np.ndarray) -> Curve:
        """The image under x ↦ M x + s, where M keeps orientation."""

    @property
    @abc.abstractmethod
    def carrier(self) -> Carrier:
        """Zero on the curve and positive to its left."""

    @property
    @abc.abstractmethod
    def signature(self) -> list[Any]:
        """Its identity as plain data."""

    @property
    def chords(self) -> int:
        """How many chords show its course."""
        return _STEPS

    @property
    def closed(self) -> bool:
        """Whether it ends where it begins."""
        begin, end = self.at(np.array([0.0, 1.0]))
        return bool(np.abs(end - begin).max() <= 1e-9 * max(self.length, 1e-300))

    @property
    def length(self) -> float:
        s, w = gauss_panels(np.linspace(0, 1, self.chords // 8 + 2), 8)
        return float(np.linalg.norm(self.slope(s), axis=1) @ w)

    def renamed(self, part: str) -> Curve:
        """The same curve as a part of another name."""
        return dataclasses.replace(self, part=part)  # type: ignore[type-var]

    def normal(self, s: np.ndarray) -> np.ndarray:
        """The outward unit normal: to the right."""
        dx, dy = self.slope(s).T
        return np.stack([dy, -dx], axis=1) / np.hypot(dx, dy)[:, None]

    def turns(self) -> np.ndarray:
        """The parameters where its tangent is vertical."""
        s = np.linspace(0, 1, 4 * self.chords + 1)
        x = self.slope(s)[:, 0]
        x = np.where(np.abs(x) < 1e-13 * np.abs(self.slope(s)).max(), 0.0, x)
        inside = (x[1:-1] == 0) & (x[:-2] * x[2:] < 0)
        exact = s[1:-1][inside]
        cross = np.flatnonzero(x[:-1] * x[1:] < 0)
        low, high, at_low = s[cross], s[cross + 1], x[cross]
        for _ in range(60):
            middle = (low + high) / 2
            same = self.slope(middle)[:, 0] * at_low > 0 if len(middle) else np.zeros(0, bool)
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        return np.sort(np.concatenate([exact, (low + high) / 2]))

    def height(self, x: np.ndarray) -> np.ndarray:
        """y where a curve that never turns back in x is at x."""
        rising = self.at(np.array([0.0, 1.0]))[:, 0]
        sign = np.sign(rising[1] - rising[0])
        low, high = np.zeros_like(x), np.ones_like(x)
        for _ in range(56):
            middle = (low + high) / 2
            short = sign * (self.at(middle)[:, 0] - x) < 0
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        return self.at((low + high) / 2)[:, 1]

    def nearest(self, points: np.ndarray) -> np.ndarray:
        """The parameters of the nearest points of the curve."""
        s = np.linspace(0, 1, 4 * self.chords + 1)
        known = self.at(s)
        found = s[np.argmin(((points[:, None] - known[None]) ** 2).sum(-1), axis=1)]
        reach = 1 / (4 * self.chords)
        low, high = np.clip(found - reach, 0, 1), np.clip(found + reach, 0, 1)
        for _ in range(50):  # the distance is convex there, or nearly so
            first, second = low + 0.382 * (high - low), low + 0.618 * (high - low)
            near = [((self.at(t) - points) ** 2).sum(1) for t in (first, second)]
            low = np.where(near[0] > near[1], first, low)
            high = np.where(near[0] > near[1], high, second)
        found = (low + high) / 2
        slope = self.slope(found)
        step = ((points - self.at(found)) * slope).sum(1) / np.maximum((slope**2).sum(1), 1e-300)
        return np.clip(found + np.where(np.abs(step) < reach, step, 0.0), 0, 1)


@dataclass(frozen=True, eq=False)
class Segment(Curve):
    """A straight piece from one point to another."""

    begin: np.ndarray
    end: np.ndarray
    part: str

    def at(self, s: np.ndarray) -> np.ndarray:
        return self.begin + s[:, None] * (self.end - self.begin)

    def slope(self, s: np.ndarray) -> np.ndarray:
        return np.broadcast_to(self.end - self.begin, (len(s), 2))

    def between(self, begin: float, end: float) -> Segment:
        a, b = self.at(np.array([begin, end]))
        return Segment(a, b, self.part)

    def mapped(self, matrix: np.ndarray, shift: np.ndarray) -> Segment:
        return Segment(matrix @ self.begin + shift, matrix @ self.end + shift, self.part)

    @property
    def carrier(self) -> Flat:
        dx, dy = self.end - self.begin
        return Flat(self.begin, np.array([-dy, dx]) / np.hypot(dx, dy))

    @property
    def signature(self) -> list[Any]:
        return ["segment", *(float(v).hex() for v in (*self.begin, *self.end))]

    @property
    def chords(self) -> int:
        return 1

    def turns(self) -> np.ndarray:
        return np.zeros(0)

    def height(self, x: np.ndarray) -> np.ndarray:
        share = (x - self.begin[0]) / (self.end[0] - self.begin[0])
        return self.begin[1] + share * (self.end[1] - self.begin[1])


@dataclass(frozen=True, eq=False)
class Arc(Curve):
    """A piece of an ellipse: m + M (cos θ, sin θ), θ from one angle to another."""

    centre: np.ndarray
    matrix: np.ndarray
    angles: tuple[float, float]
    part: str

    def at(self, s: np.ndarray) -> np.ndarray:
        angle = self._angle(s)
        return self.centre + np.stack([np.cos(angle), np.sin(angle)], axis=1) @ self.matrix.T

    def slope(self, s: np.ndarray) -> np.ndarray:
        angle, span = self._angle(s), self.angles[1] - self.angles[0]
        return span * np.stack([-np.sin(angle), np.cos(angle)], axis=1) @ self.matrix.T

    def _angle(self, s: np.ndarray) -> np.ndarray:
        return self.angles[0] + s * (self.angles[1] - self.angles[0])

    def between(self, begin: float, end: float) -> Arc:
        first, last = self._angle(np.array([begin, end]))
        return dataclasses.replace(self, angles=(float(first), float(last)))

    def mapped(self, matrix: np.ndarray, shift: np.ndarray) -> Arc:
        return dataclasses.replace(self, centre=matrix @ self.centre + shift, matrix=matrix @ self.matrix)

    @property
    def carrier(self) -> Carrier:
        whole = Conic(self.centre, np.linalg.inv(self.matrix))
        return whole if self.angles[1] > self.angles[0] else -whole

    @property
    def signature(self) -> list[Any]:
        numbers = (*self.centre, *self.matrix.ravel(), *self.angles)
        return ["arc", *(float(v).hex() for v in numbers)]


@dataclass(frozen=True, eq=False)
class Contour(Curve):
    """A piece of the zero level of a function, as a spline that follows it to rounding."""

    level: Level
    spline: Any
    """SciPy's, from 0 ≤ s ≤ 1 to points."""
    span: tuple[float, float]
    """Which parameters of the spline the piece covers; backwards where the first is larger."""
    part: str

    def at(self, s: np.ndarray) -> np.ndarray:
        return self.spline(self.span[0] + s * (self.span[1] - self.span[0]))

    def slope(self, s: np.ndarray) -> np.ndarray:
        width = self.span[1] - self.span[0]
        return width * self.spline(self.span[0] + s * width, 1)

    def between(self, begin: float, end: float) -> Contour:
        low, width = self.span[0], self.span[1] - self.span[0]
        return dataclasses.replace(self, span=(low + begin * width, low + end * width))

    def mapped(self, matrix: np.ndarray, shift: np.ndarray) -> Contour:
        inverse = np.linalg.inv(matrix)
        level = dataclasses.replace(
            self.level,
            scale=self.level.scale * float(np.sqrt(abs(np.linalg.det(matrix)))),
            inverse=self.level.inverse @ inverse,
            shift=self.level.shift - self.level.inverse @ inverse @ shift,
        )
        return dataclasses.replace(self, level=level, spline=_Moved(self.spline, matrix, shift))

    @property
    def carrier(self) -> Carrier:
        return self.level if self.span[1] > self.span[0] else -self.level

    @property
    def chords(self) -> int:
        return max(8, int(3 * _STEPS * abs(self.span[1] - self.span[0])))

    @property
    def signature(self) -> list[Any]:
        return ["contour", *(f"{v:.9g}" for v in self.at(np.linspace(0, 1, 17)).ravel())]


@dataclass(frozen=True, eq=False)
class _Moved:
    spline: Any
    matrix: np.ndarray
    shift: np.ndarray

    def __call__(self, s: np.ndarray, order: int = 0) -> np.ndarray:
        return self.spline(s, order) @ self.matrix.T + (0.0 if order else self.shift)


def gauss_panels(ends: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss points and weights of the panels between consecutive ends."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    half = np.diff(ends)[:, None] / 2
    return (ends[:-1, None] + half * (1 + nodes)).ravel(), (half * weights).ravel()
