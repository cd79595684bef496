"""Unknown functions of one quantity: cubic splines with a prior that prefers them smooth."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import ProblemError
from ..problem import Open, Problem, apply
from ..problem.expression import Expression

_KNOWN = ("t", "x", "y", "z")


@dataclass(frozen=True, eq=False)
class Curve:
    """A cubic spline on even knots, or its exponential; straight on outside of [low, high]."""

    low: float
    high: float
    coefficients: Any
    positive: bool = False
    periodic: bool = False

    def __call__(self, s: Any) -> Any:
        """Its value at numbers, arrays, or at a field or coordinate inside an equation."""
        return apply(self._values, s) if isinstance(s, Expression) else self._values(jnp.asarray(s, float))

    def _values(self, s: Any) -> Any:
        found = self.exponent(s)
        return jnp.exp(found) if self.positive else found

    def exponent(self, s: Any) -> Any:
        """The spline itself."""
        c = jnp.asarray(self.coefficients)
        return sum(share * c[at] for at, share in self._shares(s, jnp))

    def weights(self, s: np.ndarray) -> np.ndarray:
        """The spline's dependence on its coefficients: places × coefficients."""
        table = np.zeros((len(s), len(self.coefficients)))
        for at, share in self._shares(np.asarray(s, float), np):
            np.add.at(table, (np.arange(len(s)), at), share)
        return table

    def _shares(self, s: Any, xp: Any) -> list[tuple[Any, Any]]:
        """The four coefficients that count at s, by their numbers, and how much each does."""
        pieces = len(self.coefficients) - (0 if self.periodic else 3)
        v = (s - self.low) * (pieces / (self.high - self.low))
        inside = v if self.periodic else xp.clip(v, 0.0, pieces)
        first = xp.floor(inside) if self.periodic else xp.clip(xp.floor(inside), 0, pieces - 1)
        w, beyond = inside - first, 0.0 if self.periodic else v - inside
        shares = (
            ((1 - w) ** 3) / 6 - beyond * (1 - w) ** 2 / 2,
            (3 * w**3 - 6 * w**2 + 4) / 6 + beyond * (3 * w**2 - 4 * w) / 2,
            (-3 * w**3 + 3 * w**2 + 3 * w + 1) / 6 + beyond * (-3 * w**2 + 2 * w + 1) / 2,
            w**3 / 6 + beyond * w**2 / 2,
        )
        at = first.astype(int)
        return [((at + k) % pieces if self.periodic else at + k, share) for k, share in enumerate(shares)]

    def grid(self, count: int = 101) -> np.ndarray:
        """Places from `low` to `high`."""
        return np.linspace(self.low, self.high, count)


@dataclass(frozen=True)
class _Level:
    """A constant as a function of anything."""

    value: float

    def __call__(self, s: Any) -> Any:
        return s * 0.0 + self.value


@dataclass(frozen=True)
class UnknownFunction(Open):
    """A function of one quantity to find from measurements: k(x), s(t), f(u), or initial data a(x).

    It is a cubic spline with the prior that its second derivative is small: of all functions that fit, the
    smoothest. How much smoothness counts is chosen by the marginal likelihood of the data.

        rhs=lambda u, x, k: (k(x) * u.x).x, parameters={"k": hc.UnknownFunction("x", positive=True)}

    Args:
        of: what it is a function of: a coordinate, or the name of a field or anything else.
        guess: its typical value, or a function to start from.
        positive: whether it is positive; its logarithm is then the spline.
        low, high: the range of its argument; for a coordinate by default that of the problem.
        pieces: of the spline.
    """

    of: str
    guess: float | Callable[..., Any] = 1.0
    positive: bool = False
    low: float | None = None
    high: float | None = None
    pieces: int = 20

    def __post_init__(self) -> None:
        if self.of not in _KNOWN and (self.low is None or self.high is None):
            raise ProblemError(
                f"An UnknownFunction of '{self.of}' needs the range of its argument: give low=… and high=…."
            )
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise ProblemError(f"The range {self.low:g} to {self.high:g} of an UnknownFunction is empty.")
        if not callable(self.guess) and (
            not math.isfinite(self.guess) or (self.positive and self.guess <= 0)
        ):
            raise ProblemError(
                f"The guess of {'a positive' if self.positive else 'an'} UnknownFunction cannot be "
                f"{self.guess}."
            )
        if not 1 <= self.pieces <= 200:
            raise ProblemError(f"A spline has 1 to 200 pieces, but pieces = {self.pieces!r}.")

    @property
    def nominal(self) -> Any:
        return self.guess if callable(self.guess) else _Level(float(self.guess))

    @property
    def extremes(self) -> tuple[float, ...]:
        return ()

    def start(self, problem: Problem) -> Curve:
        """The spline that the search starts from, for a problem whose coordinates it may be of."""
        low, high, periodic = self.low, self.high, False
        if self.of in problem.axes:
            axis = problem.axes.index(self.of)
            ends = [(problem.start, problem.horizon), *problem.domain.bounds][axis]
            around = axis > 0 and problem.domain.product and problem.boundaries[axis - 1].periodic
            periodic = around and (low, high) == (None, None)
            low, high = ends[0] if low is None else low, ends[1] if high is None else high
        assert low is not None
        assert high is not None
        count = self.pieces if periodic else self.pieces + 3
        flat = Curve(float(low), float(high), np.zeros(count), self.positive, periodic)
        places = flat.grid(4 * self.pieces + 1)
        values = np.array([float(self.nominal(s)) for s in places])
        if self.positive and (values <= 0).any():
            raise ProblemError("The guess of a positive UnknownFunction is not positive everywhere.")
        target = np.log(values) if self.positive else values
        found = np.linalg.lstsq(flat.weights(places), target, rcond=None)[0]
        return Curve(flat.low, flat.high, found, self.positive, periodic)

    @property
    def unit(self) -> float:
        """What coefficients count in: 1 for a logarithm, else the guess where it is a number but zero."""
        if self.positive or callable(self.guess) or not self.guess:
            return 1.0
        return abs(float(self.guess))


def roughness(count: int, *, periodic: bool) -> np.ndarray:
    """Second differences of coefficients, scaled as the second derivative over the whole range."""
    if periodic:
        rows = np.roll(np.eye(count), -1, 1) - 2 * np.eye(count) + np.roll(np.eye(count), 1, 1)
        pieces = count
    else:
        rows, pieces = np.diff(np.eye(count), 2, axis=0), count - 3
    return rows * pieces**1.5
