"""Formulas as functions, which stand in a declaration where a user of Python writes a lambda."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.interpolate import CubicSpline

from ...errors import ProblemError
from ..expression import Expression, apply
from .grammar import Scope, parse
from .tree import Name, Node, parts_of, value_of


@dataclass(frozen=True, eq=False)
class Curve:
    """A function of one variable through points of a data file: the cubic spline."""

    knots: np.ndarray
    values: np.ndarray
    coefficients: np.ndarray
    """Of (x − knot)³, …, 1, for each piece."""

    @classmethod
    def through(cls, points: Sequence[tuple[float, float]], source: str) -> Curve:
        """The spline through points in any order, smooth across the ends where these have one value.

        `source` is what messages call it.
        """
        if len(points) < 4:
            raise ProblemError(f"{source} has {len(points)} points; a curve takes at least 4.")
        x, values = np.array(sorted(points), float).T
        if not np.isfinite([x, values]).all():
            raise ProblemError(f"{source} has numbers that are not finite.")
        twice = np.diff(x) <= 0
        if twice.any():
            raise ProblemError(f"{source} has two values at {x[:-1][twice][0]:g}.")
        if abs(values[0] - values[-1]) < 1e-12 * np.abs(values).max():
            spline = CubicSpline(x, np.append(values[:-1], values[0]), bc_type="periodic")
        else:
            spline = CubicSpline(x, values)
        return cls(x, values, np.asarray(spline.c))

    def __call__(self, x: Any) -> Any:
        """The value at a number, at an array, or of an expression."""
        if isinstance(x, Expression):
            return apply(self.at, x)
        if isinstance(x, int | float):
            return float(self.at(np.float64(x)))
        return self.at(x)

    def at(self, x: Any) -> Any:
        """The values at an array."""
        x = jnp.asarray(x)
        place = jnp.sum(x[..., None] >= jnp.asarray(self.knots[1:-1], x.dtype), axis=-1)
        found, offset = jnp.zeros_like(x), x - jnp.asarray(self.knots, x.dtype)[place]
        for row in self.coefficients:
            found = found * offset + jnp.asarray(row, x.dtype)[place]
        return found


@dataclass(frozen=True)
class Formula:
    """One formula, or one for each field, as a function of the names in it.

    Everything else in hcpinn sees a function: its arguments are those that `inspect.signature` gives.
    """

    sources: tuple[str, ...]
    """The formulas as text that the grammar reads."""
    scope: Scope
    curves: Mapping[str, Curve] = field(default_factory=dict)

    @property
    def trees(self) -> tuple[Node, ...]:
        return tuple(_tree(source, self.scope) for source in self.sources)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The fields, and the coordinates and parameters that are used."""
        used = {part.name for tree in self.trees for part in parts_of(tree) if isinstance(part, Name)}
        others = (n for n in (*self.scope.coordinates, *self.scope.parameters) if n in used)
        return *self.scope.fields, *others

    @property
    def __signature__(self) -> inspect.Signature:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(name, kind) for name in self.arguments])

    def __call__(self, *values: Any, **named: Any) -> Any:
        names = {**dict(zip(self.arguments, values, strict=False)), **named}
        try:
            found = tuple(value_of(tree, names, self.curves) for tree in self.trees)
        except RecursionError as error:
            raise ProblemError("A formula is too long to be evaluated. Split it.") from error
        return found[0] if len(found) == 1 else found


@lru_cache(maxsize=1024)
def _tree(source: str, scope: Scope) -> Node:
    return parse(source, scope)


Data = float | Formula | Callable[..., Any]
