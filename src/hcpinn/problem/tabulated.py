"""Functions of one coordinate that only NumPy or plain Python can evaluate, made differentiable.

Splines of SciPy, functions of the module `math`, or an `if` give numbers and nothing else. Between a few
places such a function is replaced by Chebyshev series that follow it to rounding, f(x) = Σ cₖ Tₖ(s(x)), on
intervals that are halved until they do, and start at the knots where the function has knots.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..errors import ProblemError

_DEGREE = 20
_TOLERANCE = 1e-13
"""Relative to the largest value."""

_MOST = 400
"""Intervals; one jump takes about forty."""

_NARROWEST = 1e-11
"""Of the whole: what still changes within so little is a jump."""


class Tabulated:
    """A function of one coordinate as Chebyshev series on intervals; JAX can trace and differentiate it."""

    def __init__(
        self,
        function: Callable[[float], Any],
        low: float,
        high: float,
        role: str,
        knots: Sequence[float] = (),
    ):
        """`function` takes a number and gives a number, or a tuple of them, one per field."""
        self.single = not isinstance(function(low), tuple | list)
        nodes = np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
        waves = np.cos(np.outer(np.arange(_DEGREE + 1), np.arccos(nodes)))
        to_series = 2 / (_DEGREE + 1) * waves
        to_series[0] /= 2
        between = np.linspace(-0.99, 0.99, 16)
        check = np.cos(np.outer(np.arccos(between), np.arange(_DEGREE + 1)))

        def values(x: np.ndarray) -> np.ndarray:
            found = [np.atleast_1d(_numbers(function(float(at)), role)) for at in x]
            return np.stack(found, axis=-1)

        edges = np.unique(np.clip([low, *knots, high], low, high))
        if len(edges) > _MOST:
            edges = np.array([low, high])
        scale = max(float(np.abs(values(np.linspace(low, high, 65))).max()), 1e-300)
        todo = list(itertools.pairwise(edges))[::-1]
        done: list[tuple[float, float, np.ndarray]] = []
        while todo:
            a, b = todo.pop()
            middle, half = (a + b) / 2, (b - a) / 2
            series = values(middle + half * nodes) @ to_series.T
            gap = np.abs(series @ check.T - values(middle + half * between)).max()
            if not np.isfinite(gap):
                raise ProblemError(f"{role} is not finite between {a:g} and {b:g}.")
            if gap <= _TOLERANCE * scale or b - a <= _NARROWEST * (high - low):
                done.append((a, b, series))
            elif len(done) + len(todo) >= _MOST:
                raise ProblemError(
                    f"{role} can be evaluated by NumPy alone, and varies too much to be interpolated to "
                    f"rounding: {_MOST} intervals do not suffice. Write it with jax.numpy."
                )
            else:
                todo += [(middle, b), (a, middle)]
        self.edges = np.array([done[0][0], *(b for _, b, _ in done)])
        self.series = np.stack([own for _, _, own in done])
        """Intervals × fields × coefficients."""

    @property
    def intervals(self) -> int:
        """How many there are."""
        return len(self.series)

    def __call__(self, x: Any) -> Any:
        """The value at x, or one for each field."""
        x = jnp.asarray(x)
        x = x if jnp.issubdtype(x.dtype, jnp.inexact) else x.astype(float)
        inner = jnp.asarray(self.edges[1:-1], x.dtype)
        place = jnp.sum(x[..., None] >= inner, axis=-1)
        low, high = (jnp.asarray(e, x.dtype)[place] for e in (self.edges[:-1], self.edges[1:]))
        s = (2 * x - low - high) / (high - low)
        found = [_clenshaw(own, s, place) for own in np.moveaxis(self.series, 1, 0)]
        return found[0] if self.single else tuple(found)


def _clenshaw(series: np.ndarray, s: Array, place: Array) -> Array:
    table = jnp.asarray(series, jnp.result_type(s.dtype, 1j) if np.iscomplexobj(series) else s.dtype)
    one: Array = jnp.zeros_like(s)
    two: Array = jnp.zeros_like(s)
    for k in range(series.shape[1] - 1, 0, -1):
        one, two = table[place, k] + 2 * s * one - two, one
    return table[place, 0] + s * one - two


def _numbers(value: Any, role: str) -> np.ndarray:
    """One value per field as an array."""
    parts = value if isinstance(value, tuple | list) else (value,)
    return np.array([_number(part, role) for part in parts])


def _number(value: Any, role: str) -> Any:
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "biufc":
        raise ProblemError(f"{role} gives {_shown(value)} where it should give a number.")
    return array.reshape(())[()]


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return f"{value!r}, of type {type(value).__name__}," if value is not None else "None"


def knots(function: Any) -> Sequence[float]:
    """Where a spline of SciPy, perhaps used by a lambda, passes from one polynomial to the next."""
    found: list[float] = []
    inner = [function, *(cell.cell_contents for cell in getattr(function, "__closure__", None) or ())]
    names = getattr(getattr(function, "__code__", None), "co_names", ())
    inner += [getattr(function, "__globals__", {}).get(name) for name in names]
    for own in inner:
        if type(own).__module__.startswith("scipy.interpolate"):
            get = getattr(own, "get_knots", None)
            knots = get() if get is not None else getattr(own, "t", getattr(own, "x", ()))
            if np.ndim(knots) == 1:
                found += np.asarray(knots, float).tolist()
    return found
