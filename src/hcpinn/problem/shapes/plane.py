"""The simple regions of the plane."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...errors import ProblemError
from ...machine.precision import double
from .carrier import Level
from .checked import number, place
from .curve import Arc, Contour, Segment, gauss_panels
from .region import Region
from .tree import Branch, Leaf, Made

_RESOLUTION = 200
_TURN = (0.0, 2 * math.pi)


def _ellipse(centre: np.ndarray, matrix: np.ndarray, name: str, words: str, made: Made) -> Leaf:
    inverse = np.linalg.inv(matrix)
    return Leaf(
        name,
        (Arc(centre, matrix, _TURN, name),),
        lambda points: (((points - centre) @ inverse.T) ** 2).sum(axis=1) < 1,
        words,
        made,
    )


def _round(at: np.ndarray, size: float, name: str) -> Leaf:
    words = f"Disk(({at[0]:g}, {at[1]:g}), {size:g})"
    return _ellipse(at, size * np.eye(2), name, words, Made("disk", (tuple(map(float, at)), size)))


class Disk(Region):
    """The points nearer than `radius` to `center`. Its boundary is called `name`."""

    def __init__(self, center: Sequence[float] = (0.0, 0.0), radius: float = 1.0, *, name: str = "disk"):
        """
        Args:
            center: a pair of numbers.
            radius: a positive number.
            name: of its boundary, for conditions.
        """
        at = place(center, "The center of a disk", 2)
        size = number(radius, "The radius of a disk", positive=True)
        super().__init__(_round(at, size, name))


class Ellipse(Region):
    """An ellipse with two semi-axes, the first turned by `angle` from x. Its boundary is called `name`."""

    def __init__(
        self,
        center: Sequence[float] = (0.0, 0.0),
        axes: Sequence[float] = (2.0, 1.0),
        angle: float = 0.0,
        *,
        name: str = "ellipse",
    ):
        """
        Args:
            center: a pair of numbers.
            axes: the two semi-axes.
            angle: by which the first is turned from x, in radians, anticlockwise.
            name: of its boundary, for conditions.
        """
        at, (a, b) = (
            place(center, "The center of an ellipse", 2),
            place(axes, "The semi-axes of an ellipse", 2),
        )
        if min(a, b) <= 0:
            raise ProblemError(f"The semi-axes of an ellipse are positive, but are {a:g} and {b:g}.")
        turn = number(angle, "The angle of an ellipse")
        c, s = math.cos(turn), math.sin(turn)
        matrix = np.array([[c, -s], [s, c]]) @ np.diag([a, b])
        words = f"Ellipse(({at[0]:g}, {at[1]:g}), ({a:g}, {b:g}))"
        made = Made("ellipse", (tuple(map(float, at)), (float(a), float(b)), turn))
        super().__init__(_ellipse(at, matrix, name, words, made))


class Annulus(Region):
    """The points between two circles around `center`. The boundary has the parts `inner` and `outer`."""

    def __init__(self, center: Sequence[float] = (0.0, 0.0), inner: float = 0.5, outer: float = 1.0):
        """
        Args:
            center: a pair of numbers.
            inner: the smaller radius.
            outer: the larger radius.
        """
        at = place(center, "The center of an annulus", 2)
        small = number(inner, "The inner radius of an annulus", positive=True)
        large = number(outer, "The outer radius of an annulus", positive=True)
        if small >= large:
            raise ProblemError(
                f"The inner radius of an annulus, {small:g}, must be below the outer one, {large:g}."
            )
        super().__init__(Branch("-", _round(at, large, "outer"), _round(at, small, "inner")))


class Polygon(Region):
    """A polygon with straight edges between its vertices, in either sense of rotation.

    Its parts are its edges, `polygon.1` from the first vertex to the second, and so on; `name` replaces
    "polygon".
    """

    def __init__(self, vertices: Any, *, name: str = "polygon"):
        """
        Args:
            vertices: an array with a row (x, y) for each vertex; the last edge closes it.
            name: of its edges: `polygon.1`, `polygon.2`, ….
        """
        try:
            points = np.asarray(vertices, float)
        except (TypeError, ValueError):
            points = np.zeros(0)
        if points.ndim != 2 or points.shape[-1] != 2 or not np.isfinite(points).all():
            raise ProblemError(
                "The vertices of a polygon are rows of two finite numbers, as in [(0, 0), (1, 0), (0, 1)]."
            )
        following = np.roll(points, -1, axis=0)
        size = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
        points = points[np.linalg.norm(following - points, axis=1) > 1e-12 * size]
        if len(points) < 3:
            raise ProblemError(f"A polygon has at least 3 different vertices, but {len(points)} are given.")
        super().__init__(polygon(points, name, Made("polygon", tuple(map(tuple, points.tolist())))))

    @staticmethod
    def from_file(path: str | Path, *, name: str = "polygon") -> Region:
        """The polygon in a GeoJSON file, or in the first path of an SVG file; holes are taken away."""
        from .files import read_rings

        return _of_rings(read_rings(path), name)


def _of_rings(rings: list[np.ndarray], name: str) -> Region:
    """Rings by the even-odd rule: outer ones are added, those inside them taken away."""
    region: Any = Polygon(rings[0], name=name)
    for k, ring in enumerate(rings[1:], 1):
        hole = Polygon(ring, name=f"{name}.hole{k}" if len(rings) > 2 else f"{name}.hole")
        region = region - hole if region.contains(ring[:1]).all() else region | hole
    return region


def polygon(
    points: np.ndarray, name: str, made: Made | None = None, parts: Sequence[str] | None = None
) -> Leaf:
    """The leaf of a polygon whose edges do not cross; `parts` names its edges."""
    following = np.roll(points, -1, axis=0)
    _refuse_crossings(points, following)
    names = parts or [f"{name}.{k + 1}" for k in range(len(points))]
    edges = [Segment(a, b, part) for a, b, part in zip(points, following, names, strict=True)]
    area = float((points[:, 0] * following[:, 1] - points[:, 1] * following[:, 0]).sum())
    if area < 0:
        edges = [edge.between(1.0, 0.0) for edge in edges[::-1]]

    def member(places: np.ndarray) -> np.ndarray:
        x, y = places[:, :1], places[:, 1:]
        (ax, ay), (bx, by) = points.T, following.T
        spans = (ay > y) != (by > y)
        with np.errstate(divide="ignore", invalid="ignore"):
            left = x < ax + (y - ay) / (by - ay) * (bx - ax)
        return (spans & left).sum(axis=1) % 2 == 1

    return Leaf(name, tuple(edges), member, f"Polygon of {len(points)} vertices", made)


def _refuse_crossings(points: np.ndarray, following: np.ndarray) -> None:
    """A polygon that crosses or touches itself has no inside."""
    count = len(points)
    way = following - points
    for k in range(count):
        for j in range(k + 1, count):
            gap = points[j] - points[k]
            area = way[k][0] * way[j][1] - way[k][1] * way[j][0]
            near = j == k + 1 or (k == 0 and j == count - 1)
            if abs(area) < 1e-14 * np.abs(way[k]).max() * np.abs(way[j]).max():
                if near and way[k] @ way[j] < 0:
                    raise ProblemError(
                        f"Edges {k + 1} and {j + 1} of the polygon lie on each other: it turns back."
                    )
                continue
            if near:
                continue
            u = (gap[0] * way[j][1] - gap[1] * way[j][0]) / area
            v = (gap[0] * way[k][1] - gap[1] * way[k][0]) / area
            if -1e-12 <= u <= 1 + 1e-12 and -1e-12 <= v <= 1 + 1e-12:
                x, y = points[k] + u * way[k]
                raise ProblemError(
                    f"The polygon crosses itself: edges {k + 1} and {j + 1} meet at ({x:.6g}, {y:.6g}). Give "
                    "its vertices in order around it."
                )


class Implicit(Region):
    """The points of a box at which a function is positive. The boundary is called `name`.

    Where the function is positive at an edge of the box, that edge bounds the region too.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        box: Sequence[Sequence[float]],
        *,
        name: str = "implicit",
        resolution: int = _RESOLUTION,
    ):
        """
        Args:
            function: takes x and y; uses operators and elementwise functions of jax.numpy.
            box: ((a, b), (c, d)).
            name: of its boundary, for conditions.
            resolution: what is smaller than the box divided by it is not seen.
        """
        try:
            (a, b), (c, d) = ((float(v) for v in pair) for pair in getattr(box, "bounds", box))
        except (TypeError, ValueError) as error:
            raise ProblemError(
                f"The box of an implicit region is ((a, b), (c, d)), but is {box!r}."
            ) from error
        if not (a < b and c < d):
            raise ProblemError(
                f"The box of an implicit region has no inside: {a:g} to {b:g}, {c:g} to {d:g}."
            )
        corners = np.array([[a, c], [b, c], [b, d], [a, d]])
        edges = [f"box.{k}" for k in ("y.lower", "x.upper", "y.upper", "x.lower")]
        made = Made("implicit", (function, ((a, b), (c, d))))
        if resolution != _RESOLUTION:
            made = replace(made, named={"resolution": resolution})
        leaf = replace(_implicit(function, corners, name, resolution), made=made)
        super().__init__(Branch("&", leaf, polygon(corners, "box", parts=edges)))


def _implicit(function: Callable[..., Any], corners: np.ndarray, name: str, count: int) -> Leaf:
    import contourpy

    low, high = corners.min(0), corners.max(0)
    margin = 0.02 * (high - low)
    axes = [np.linspace(p, q, count + 1) for p, q in zip(low - margin, high + margin, strict=True)]
    mesh = np.stack(np.meshgrid(*axes, indexing="xy"), -1).reshape(-1, 2)
    try:
        with double():
            values = np.asarray(
                jnp.broadcast_to(jnp.asarray(function(*jnp.asarray(mesh).T)), len(mesh)), float
            )
    except Exception as error:  # of whatever kind the user's function raises
        raise ProblemError(
            f"The function of an implicit region failed with {type(error).__name__}: {error} It takes x and "
            "y and uses elementwise functions of jax.numpy or NumPy's operators."
        ) from error
    if not np.isfinite(values).all():
        where = mesh[~np.isfinite(values)][0]
        raise ProblemError(
            f"The function of an implicit region is not finite at ({where[0]:g}, {where[1]:g})."
        )
    grid = values.reshape(count + 1, count + 1)
    lines = contourpy.contour_generator(x=axes[0], y=axes[1], z=grid).lines(0.0)
    lines = [np.asarray(line) for line in lines if len(line) >= 8]
    slope = np.hypot(*np.gradient(grid, axes[1], axes[0]))
    near = np.abs(grid) < np.ptp(grid) * 3 / count
    scale = 1 / float(np.median(slope[near])) if near.any() else 1.0
    level = Level(function, scale, np.eye(2), np.zeros(2))
    pieces = []
    for line in lines:
        spline = _followed(level, line, float(np.ptp(axes[0])))
        contour = Contour(level, spline, (0.0, 1.0), name)
        # The region is on the left where the function grows to the left.
        (direction,) = spline(np.array([0.3]), 1)
        (inward,) = level.slope(contour.at(np.array([0.3])))
        left = direction[0] * inward[1] - direction[1] * inward[0] > 0
        pieces.append(contour if left else contour.between(1.0, 0.0))

    def member(points: np.ndarray) -> np.ndarray:
        return level(np.asarray(points, float)) > 0

    if not pieces and not (values > 0).any():
        raise ProblemError(
            "The function of an implicit region is positive nowhere in its box: the region is empty."
        )
    return Leaf(name, tuple(pieces), member, f"Implicit({getattr(function, '__name__', 'function')})")


def _followed(level: Level, line: np.ndarray, size: float) -> Any:
    """A spline through points of the zero level near a line, as many as it takes to follow it to rounding."""
    from scipy.interpolate import make_interp_spline

    closed = bool(np.allclose(line[0], line[-1]))
    steps = np.linalg.norm(np.diff(line, axis=0), axis=1)
    line, steps = line[np.insert(steps > 0, 0, True)], steps[steps > 0]
    way = np.concatenate([[0.0], np.cumsum(steps)])
    guess = make_interp_spline(way / way[-1], line, k=1)
    left = np.inf
    for count in (128, 128, 512, 512, 2048):
        nodes = _onto(level, guess(_evenly(guess, count)), size)
        if closed:
            nodes[-1] = nodes[0]
        s = np.linspace(0, 1, count + 1)
        guess = make_interp_spline(s, nodes, k=7, bc_type="periodic" if closed else None)
        left, before = np.abs(level(guess((s[1:] + s[:-1]) / 2))).max(), left
        if max(left, before) <= 1e-13 * size:
            break
    if left > 1e-11 * size:
        raise ProblemError(
            "The zero level of the function of an implicit region cannot be followed to rounding: it has a "
            "corner or no slope there. Combine smooth shapes with |, & and - instead."
        )
    return guess


def _evenly(spline: Any, count: int) -> np.ndarray:
    """Parameters at equal distances along a spline."""
    s = np.linspace(0, 1, 8 * count + 1)
    inner, weights = gauss_panels(s, 4)
    speed = np.linalg.norm(spline(inner, 1), axis=1) * weights
    way = np.concatenate([[0.0], np.cumsum(speed.reshape(-1, 4).sum(1))])
    return np.interp(np.linspace(0, way[-1], count + 1), way, s)


def _onto(level: Level, points: np.ndarray, size: float) -> np.ndarray:
    """Points near the zero level moved onto it along the slope."""
    for _ in range(20):
        value, slope = level(points), level.slope(points)
        step = (value / np.maximum((slope**2).sum(1), 1e-300))[:, None] * slope
        points = points - step
        if np.abs(step).max() <= 1e-15 * size:
            break
    return points
