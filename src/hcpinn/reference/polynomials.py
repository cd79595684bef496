"""Bases along an axis of a box for Galerkin's method: polynomials that meet boundary conditions, and waves.

Each comes in the eigenfunctions of a symmetric operator Σ cₖ ∂ᵏ, k even, in which that operator is diagonal.
Polynomials are combinations φ of as few neighbouring Legendre polynomials as their conditions take, and the
operator is used in its weak form, ∫ φ φ″ = [φ φ′] − ∫ φ′ φ′ and ∫ φ φ⁗ = [φ φ‴ − φ′ φ″] + ∫ φ″ φ″, both of
which keep rounding from growing with the degree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.polynomial import legendre

Condition = tuple[int, tuple[float, ...]]
"""At the lower (0) or upper end (1), Σ factorₖ ∂ᵏu/∂nᵏ is prescribed, n outwards."""

_ROUNDING = 1e-11


@dataclass(frozen=True)
class Basis:
    """Functions along one axis, and the points and weights of a quadrature."""

    points: np.ndarray
    weights: np.ndarray
    functions: tuple[np.ndarray, ...]
    """The functions and their derivatives at the points: points × functions."""
    test: np.ndarray
    """Values at the points ↦ coefficients of the function's projection."""
    rates: np.ndarray
    """The operator's eigenvalues."""
    diagonals: Mapping[int, np.ndarray]
    """For each even order the diagonal of ∂ᵏ."""
    exact: frozenset[int]
    """The orders of which ∂ᵏ is diagonal."""
    spectrum: np.ndarray
    """Coefficients ↦ those by degree or wave number, whose last ones tell what is missing."""
    derivatives: tuple[np.ndarray, ...]
    """Values at the points ↦ values of the interpolant's derivatives there: orders 0, 1, …"""
    ends: np.ndarray
    """Values at the points ↦ the left sides of the conditions."""
    blends: tuple[np.ndarray, ...]
    """A function for each condition meeting it with 1, the others with 0; by order, points × conditions."""
    interpolation: _Interpolation

    @property
    def count(self) -> int:
        return self.functions[0].shape[1]


@dataclass(frozen=True)
class _Interpolation:
    """The interpolant through the points."""

    lower: float
    upper: float
    weights: np.ndarray
    periodic: bool

    def __call__(self, targets: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Values at the points ↦ values at the targets."""
        length = self.upper - self.lower
        if self.periodic:
            numbers = np.arange(1, (len(points) - 1) // 2 + 1) * (2 * np.pi / length)
            left, right = (np.exp(1j * np.outer(x, numbers)) for x in (targets, points))
            return (1 + 2 * np.real(left @ right.conj().T)) / len(points)
        top = len(points) - 1
        at = [legendre.legvander((2 * x - self.lower - self.upper) / length, top) for x in (targets, points)]
        scale = (2 * np.arange(top + 1) + 1) / length
        return (at[0] * scale) @ (at[1].T * self.weights)


def polynomials(
    lower: float,
    upper: float,
    *,
    degree: int,
    conditions: Sequence[Condition],
    operator: Mapping[int, float],
    order: int,
) -> Basis:
    """Polynomials up to a degree that meet the conditions, in the eigenfunctions of `operator`."""
    half = (upper - lower) / 2
    count = degree + 1
    rows = _condition_rows(conditions, count, half)
    combos = _combinations(rows)
    mass = _inner(combos, combos, half)
    forms = {0: mass, 2: _second(combos, half), 4: _fourth(combos, half)}
    wanted = {k: c for k, c in operator.items() if c} or {2: 1.0}
    total = np.sum([c * forms[k] for k, c in wanted.items()], axis=0)
    symmetric = (total + total.T) / 2
    # In the units of operator and length, else modes of small coefficients drown in those of the mass.
    unit = 2.0 ** np.floor(np.log2(max(abs(c) / half**k for k, c in wanted.items())))
    rates, vectors = _modes(symmetric / unit, mass)
    rates = rates * unit
    points, weights = legendre.leggauss(math.ceil(1.5 * count) + 2)
    table = [
        legendre.legvander(points, degree) @ _differentiated(combos, k) / half**k for k in range(order + 1)
    ]
    weights = weights * half
    left = scipy.linalg.solve(mass @ vectors, table[0].T * weights)
    inverse = np.linalg.inv(mass @ vectors)
    diagonals = {k: np.einsum("ij,ji->i", inverse, form @ vectors) for k, form in forms.items()}
    even = np.abs(total - total.T).max() <= 1e-9 * np.abs(total).max()
    exact = {0} | (set(wanted) if even and len(wanted) == 1 else set())
    at = lower + half * (points + 1)
    own = _Interpolation(lower, upper, weights, periodic=False)
    values = legendre.legvander(points, degree)  # higher ones carry little but rounding into derivatives
    transform = ((2 * np.arange(count) + 1) / (upper - lower))[:, None] * values.T * weights
    nodal = [values @ _differentiated(np.eye(count), k) @ transform / half**k for k in range(order + 1)]
    return Basis(
        points=at,
        weights=weights,
        functions=tuple(f @ vectors for f in table),
        test=left,
        rates=rates,
        diagonals=diagonals,
        exact=frozenset(exact),
        spectrum=np.sqrt(2 * half / (2 * np.arange(count) + 1))[:, None] * (combos @ vectors),
        derivatives=tuple(nodal),
        ends=rows @ transform,
        blends=_blends(rows, points, order, half),
        interpolation=own,
    )


def waves(lower: float, upper: float, *, modes: int, operator: Mapping[int, float], order: int) -> Basis:
    """cos and sin up to a wave number, orthonormal over the period."""
    length = upper - lower
    count = 2 * math.ceil(1.5 * modes) + 3
    points = lower + length * np.arange(count) / count
    numbers = np.repeat(np.arange(modes + 1), 2)[1:] * (2 * np.pi / length)
    shift = np.where(np.arange(2 * modes + 1) % 2, 0.0, np.pi / 2)  # cos, and sin = cos(· − π/2)
    shift[0] = 0.0
    angle = np.subtract.outer(points - lower, 0 * numbers) * numbers - shift
    size = np.sqrt(np.where(numbers > 0, 2.0, 1.0) / length)
    functions = [size * numbers**k * np.cos(angle + k * np.pi / 2) for k in range(order + 1)]
    test = functions[0].T * (length / count)
    top = (count - 1) // 2
    all_numbers = np.fft.rfftfreq(count, 1 / count) * (2 * np.pi / length)
    nodal = [np.eye(count)]
    for k in range(1, order + 1):
        spectrum = np.fft.rfft(np.eye(count), axis=0) * ((1j * all_numbers) ** k)[:, None]
        nodal.append(np.fft.irfft(spectrum[: top + 1], n=count, axis=0))
    diagonals = {k: (-1.0) ** (k // 2) * numbers**k for k in (0, 2, 4, 6)}
    return Basis(
        points=points,
        weights=np.full(count, length / count),
        functions=tuple(functions),
        test=test,
        rates=np.sum([c * diagonals[k] for k, c in operator.items()] or [0 * numbers], axis=0),
        diagonals=diagonals,
        exact=frozenset(diagonals),
        spectrum=np.eye(len(numbers)),
        derivatives=tuple(nodal),
        ends=np.zeros((0, count)),
        blends=tuple(np.zeros((count, 0)) for _ in range(order + 1)),
        interpolation=_Interpolation(lower, upper, np.full(count, length / count), periodic=True),
    )


def _differentiated(coefficients: np.ndarray, order: int) -> np.ndarray:
    """Legendre coefficients of the derivative, in as many rows; columns are functions."""
    if order == 0:
        return coefficients
    result = np.zeros_like(coefficients)
    found = legendre.legder(coefficients, order, axis=0)
    result[: len(found)] = found
    return result


def _inner(left: np.ndarray, right: np.ndarray, half: float) -> np.ndarray:
    return (left.T * (2 * half / (2 * np.arange(len(left)) + 1))) @ right


def _end_values(count: int, order: int, end: int) -> np.ndarray:
    """The derivatives of Legendre polynomials at −1 or 1."""
    k = np.arange(count, dtype=float)
    value = np.ones(count)
    for j in range(order):
        value = value * (k + j + 1) * (k - j) / (2 * (j + 1))
    return value if end else value * (-1.0) ** (k + order)


def _condition_rows(conditions: Sequence[Condition], count: int, half: float) -> np.ndarray:
    rows = np.zeros((len(conditions), count))
    for row, (end, factors) in zip(rows, conditions, strict=True):
        for k, factor in enumerate(factors):
            row += factor * (1.0 if end else (-1.0) ** k) * _end_values(count, k, end) / half**k
    return rows


def _combinations(rows: np.ndarray) -> np.ndarray:
    """Combinations of neighbouring Legendre polynomials that the conditions' rows map to zero."""
    number, count = rows.shape
    result = np.zeros((count, count - number))
    for k in range(count - number):
        block = rows[:, k : k + number + 1]
        size = np.abs(block).max(axis=1, keepdims=True)
        block = block / np.where(size > 0, size, 1.0)
        result[k : k + number + 1, k] = np.linalg.svd(block)[2][-1]
    sizes = np.linalg.svd(result / np.linalg.norm(result, axis=0), compute_uv=False)
    if sizes[-1] < 1e-9 * sizes[0]:  # neighbours do not span them all
        return scipy.linalg.null_space(rows / np.abs(rows).max(axis=1, keepdims=True))
    return result


def _at_end(combos: np.ndarray, order: int, end: int, half: float) -> np.ndarray:
    """Derivatives at an end; what is rounding is zero."""
    row = _end_values(len(combos), order, end) / half**order
    value = row @ combos
    return np.where(np.abs(value) > _ROUNDING * (np.abs(row) @ np.abs(combos)), value, 0.0)


def _bracket(combos: np.ndarray, left: int, right: int, half: float) -> np.ndarray:
    """[φᵢ⁽ˡ⁾ φⱼ⁽ʳ⁾] between the ends."""
    ends = [np.outer(_at_end(combos, left, end, half), _at_end(combos, right, end, half)) for end in (0, 1)]
    return ends[1] - ends[0]


def _second(combos: np.ndarray, half: float) -> np.ndarray:
    slopes = _differentiated(combos, 1) / half
    return _bracket(combos, 0, 1, half) - _inner(slopes, slopes, half)


def _fourth(combos: np.ndarray, half: float) -> np.ndarray:
    bends = _differentiated(combos, 2) / half**2
    return _bracket(combos, 0, 3, half) - _bracket(combos, 1, 2, half) + _inner(bends, bends, half)


def _modes(operator: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and vectors of operator v = λ mass v, the small ones to full relative accuracy.

    They are those of the inverse, largest first, of an operator shifted until it is definite.
    """
    sign = -1.0 if np.trace(operator) < 0 else 1.0
    size = 1 / np.sqrt(np.abs(np.diag(operator)) + np.diag(mass))
    scaled = sign * operator * np.outer(size, size)
    weight = mass * np.outer(size, size)
    shift = 1.0
    while True:
        try:
            lower = scipy.linalg.cholesky(scaled + shift * weight, lower=True)
            break
        except np.linalg.LinAlgError:
            shift *= 4.0
    inner = scipy.linalg.solve_triangular(lower, weight, lower=True)
    inner = scipy.linalg.solve_triangular(lower, inner.T, lower=True)
    small, turned = scipy.linalg.eigh((inner + inner.T) / 2)
    small, turned = np.maximum(small[::-1], 1e-300), turned[:, ::-1]
    vectors = scipy.linalg.solve_triangular(lower.T, turned) / np.sqrt(small)
    return sign * (1 / small - shift), size[:, None] * vectors


def _blends(rows: np.ndarray, points: np.ndarray, order: int, half: float) -> tuple[np.ndarray, ...]:
    """The smallest polynomials of low degree that meet one condition each."""
    count = min(rows.shape[1], rows.shape[0] + 2)
    weights = 1.0 / (1.0 + np.arange(count)) ** 2
    mix = weights[:, None] * np.linalg.pinv(rows[:, :count] * weights) if len(rows) else np.zeros((count, 0))
    return tuple(
        legendre.legvander(points, count - 1) @ _differentiated(mix, k) / half**k for k in range(order + 1)
    )
