"""The boundary of a combination of shapes: pieces of their own boundaries, in loops, with corners.

Every curve is cut where it meets another. A piece belongs to the boundary where one of its sides is inside
and the other is not; it is reversed if its inside is on the right.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...errors import ProblemError
from .curve import Curve

_SAME = 1e-9
"""Points nearer than this share of the whole are one."""

_ASIDE = 1e-6
"""How far from a piece, as a share of its length, its two sides are looked at."""

_STRAIGHT = 1e-6
"""Angles of corners nearer to π are none."""


@dataclass(frozen=True)
class Corner:
    """Where two pieces meet at an angle."""

    place: np.ndarray
    angle: float
    """Of the domain there: more than π where it is re-entrant."""
    parts: tuple[str, str]
    """The part that ends there, and the one that begins."""
    direction: np.ndarray
    """Along the piece that begins: the angle is counted from here, anticlockwise."""

    @property
    def reentrant(self) -> bool:
        return self.angle > np.pi + _STRAIGHT


@dataclass(frozen=True)
class Outline:
    """The boundary of a region of the plane."""

    loops: tuple[tuple[Curve, ...], ...]
    """Each closed, with the region on the left."""

    @cached_property
    def pieces(self) -> tuple[Curve, ...]:
        return tuple(piece for loop in self.loops for piece in loop)

    @cached_property
    def corners(self) -> tuple[Corner, ...]:
        found = []
        for loop in self.loops:
            for before, after in zip((loop[-1], *loop[:-1]), loop, strict=True):
                (come,), (go,) = before.slope(np.ones(1)), after.slope(np.zeros(1))
                turn = np.arctan2(come[0] * go[1] - come[1] * go[0], come @ go)
                if abs(turn) > _STRAIGHT:
                    place = after.at(np.zeros(1))[0]
                    go = go / np.linalg.norm(go)
                    found.append(Corner(place, float(np.pi - turn), (before.part, after.part), go))
        return tuple(found)


def outline(curves: Sequence[Curve], inside: Callable[[np.ndarray], np.ndarray]) -> Outline:
    """The boundary of a region, all of it on the curves; `inside` tells which points are of the region."""
    samples = np.concatenate([c.at(np.linspace(0, 1, 9)) for c in curves])
    size = float(np.ptp(samples, axis=0).max())
    kept: list[Curve] = []
    middles: list[np.ndarray] = []
    for number, curve in enumerate(curves):
        cuts = [0.0, *_cuts(curve, [c for k, c in enumerate(curves) if k != number], size), 1.0]
        for begin, end in itertools.pairwise(cuts):
            piece = curve if len(cuts) == 2 else curve.between(begin, end)
            length = piece.length
            if length <= 10 * _SAME * size:
                continue
            share = np.array([0.4871])
            middle, aside = piece.at(share), min(_ASIDE * length, _ASIDE * size) * piece.normal(share)
            left, right = inside(middle - aside)[0], inside(middle + aside)[0]
            if left == right or any(np.abs(m - middle).max() <= _SAME * size for m in middles):
                continue
            middles.append(middle)
            kept.append(piece if left else piece.between(1.0, 0.0))
    if not kept:
        raise ProblemError("The shape is empty: no point lies in all that is to overlap. Move its parts.")
    return Outline(tuple(_loops(kept, size)))


def _cuts(curve: Curve, others: Sequence[Curve], size: float) -> list[float]:
    """The parameters where a curve meets others, or where others that run along it begin or end."""
    found = []
    for other in others:
        found += _crossings(curve, other, size)
        ends = other.at(np.array([0.0, 1.0]))
        near = curve.nearest(ends)
        found += list(near[np.linalg.norm(curve.at(near) - ends, axis=1) <= _SAME * size])
    cuts: list[float] = []
    for s in sorted(found):
        if 1e-9 < s < 1 - 1e-9 and (not cuts or s - cuts[-1] > 1e-9):
            cuts.append(float(s))
    return cuts


def _crossings(one: Curve, other: Curve, size: float) -> list[float]:
    """The parameters of the first curve where it crosses the second: by chords, then by Newton's method."""
    s, t = (np.linspace(0, 1, c.chords + 1) for c in (one, other))
    p, q = one.at(s), other.at(t)
    a, b = np.diff(p, axis=0)[:, None], np.diff(q, axis=0)[None]
    gap = q[None, :-1] - p[:-1, None]
    area = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        u = (gap[..., 0] * b[..., 1] - gap[..., 1] * b[..., 0]) / area
        v = (gap[..., 0] * a[..., 1] - gap[..., 1] * a[..., 0]) / area
    room = 0.3 if max(one.chords, other.chords) > 1 else 1e-9
    rows, columns = np.nonzero((np.abs(u - 0.5) <= 0.5 + room) & (np.abs(v - 0.5) <= 0.5 + room))
    if not len(rows):
        return []
    su = s[rows] + u[rows, columns] * (s[1] - s[0])
    tv = t[columns] + v[rows, columns] * (t[1] - t[0])
    for _ in range(12):
        gap = other.at(tv) - one.at(su)
        a, b = one.slope(su), other.slope(tv)
        area = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
        area = np.where(np.abs(area) > 1e-14 * size**2, area, np.inf)
        su = su + (gap[:, 0] * b[:, 1] - gap[:, 1] * b[:, 0]) / area
        tv = tv + (gap[:, 0] * a[:, 1] - gap[:, 1] * a[:, 0]) / area
    gap = np.linalg.norm(other.at(np.clip(tv, 0, 1)) - one.at(np.clip(su, 0, 1)), axis=1)
    good = (gap <= _SAME * size) & (np.abs(su - 0.5) <= 0.5 + 1e-9) & (np.abs(tv - 0.5) <= 0.5 + 1e-9)
    return list(np.clip(su[good], 0, 1))


def _loops(pieces: list[Curve], size: float) -> list[tuple[Curve, ...]]:
    """Pieces joined end to end; where several could follow, the one that turns furthest left."""
    loops = []
    left = list(pieces)
    while left:
        loop = [left.pop(0)]
        begin = loop[0].at(np.zeros(1))[0]
        while True:
            (end,) = loop[-1].at(np.ones(1))
            (come,) = loop[-1].slope(np.ones(1))
            near = [p for p in left if np.linalg.norm(p.at(np.zeros(1))[0] - end) <= 100 * _SAME * size]
            if np.linalg.norm(begin - end) <= 100 * _SAME * size and not near:
                break
            if np.linalg.norm(begin - end) <= 100 * _SAME * size and near:
                near = [loop[0], *near]
            if not near:
                raise ProblemError(
                    f"The boundary of the shape does not close near ({end[0]:.6g}, {end[1]:.6g}): curves "
                    "touch there without crossing. Move one of them a little."
                )

            def turn(piece: Curve, come: np.ndarray = come) -> float:
                (go,) = piece.slope(np.zeros(1))
                return float(np.arctan2(come[0] * go[1] - come[1] * go[0], come @ go))

            following = max(near, key=turn)
            if following is loop[0]:
                break
            left.remove(following)
            loop.append(following)
        loops.append(tuple(_joined(loop)))
    return loops


def _joined(loop: list[Curve]) -> list[Curve]:
    """The pieces with their ends moved together: rounding leaves gaps between straight ones."""
    found = list(loop)
    for k, piece in enumerate(found):
        following = found[(k + 1) % len(found)]
        if hasattr(piece, "end") and hasattr(following, "begin"):
            found[k] = dataclasses.replace(piece, end=following.begin)  # type: ignore[type-var]
    return found
