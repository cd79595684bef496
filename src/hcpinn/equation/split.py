"""Splitting a right-hand side for an exponential integrator, by differentiating it.

F(u, uₓ, uₓₓ, …, t, x) = Σ c D + G(…): some arguments D of F enter only as c D with a number c
and are exactly linear; the others stay in G. Of G, a part with constant coefficients c̄ near
the solution's slopes can be moved to the linear side too. Any c̄ give an exact split, since
what they add on one side is taken off on the other; good ones leave little stiffness behind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import jax
import jax.extend.core as jex
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..problem import Index, Problem
from .probes import Slot, evaluate, probe_points, slopes, slots

_ROUNDING = 1e-9
"""Relative size below which a difference of values of F counts as rounding."""


@dataclass(frozen=True)
class Split:
    """What is known of F; `linear[f, D]` is the number c with which the argument D enters F_f."""

    linear: Mapping[tuple[int, Slot], complex]
    remaining: tuple[Slot, ...]
    """The arguments that G depends on."""
    factors: int
    """How many factors that vary in space the products in G have: 1, 2, or 3 for more or any."""


_KNOWN: WeakKeyDictionary[Problem, Split] = WeakKeyDictionary()


def split(problem: Problem) -> Split:
    """Find the exactly linear arguments of F, the others, and how nonlinear F is."""
    if problem not in _KNOWN:
        _KNOWN[problem] = _split(problem)
    return _KNOWN[problem]


def _split(problem: Problem) -> Split:
    values, coordinates = probe_points(problem, 8)
    touched = _touched(problem, values, coordinates)
    numeric = [slot for slot in touched if _has_constant_slope(problem, slot, values, coordinates)]
    run = jax.jit(
        lambda v, c: (slopes(problem, v, c, numeric), slopes(problem, v, c, numeric, conjugate=True))
    )
    found, conjugate = run(values, coordinates)
    linear = {}
    for slot in list(numeric):
        keys = [(number, slot) for number in range(len(problem.fields))]
        if any(np.asarray(conjugate[key]).any() for key in keys):  # JAX finds nothing in [0.5j]
            numeric.remove(slot)  # a conjugate, ū, is linear over the reals only: it stays in G
        else:
            linear |= {key: complex(found[key][0]) for key in keys if found[key][0] != 0}
    remaining = tuple(slot for slot in touched if slot not in numeric)
    rest = {s: v if s in remaining else jnp.zeros_like(v) for s, v in values.items()}
    return Split(linear, remaining, _factors(problem, rest, coordinates))


def middle_slopes(
    problem: Problem, parts: Split, values: Mapping[Slot, Array], coordinates: Sequence[Array]
) -> list[dict[Index, complex]]:
    """For each field, coefficients c̄ for its own derivatives in G: the middle of each slope's range.

    For a diffusivity a(u, x) > 0 the middle c̄ keeps |a − c̄| ≤ c̄, so that the explicit
    remainder never outweighs the linear part. The outermost twentieths of the sampled slopes
    are left out, as a kink in the data makes spikes there.
    """
    if not parts.remaining:
        return [{} for _ in problem.fields]
    found = jax.jit(lambda v, c: slopes(problem, v, c, parts.remaining))(dict(values), list(coordinates))
    coefficients: list[dict[Index, complex]] = [{} for _ in problem.fields]
    for number, index in parts.remaining:
        slope = np.asarray(found[number, (number, index)], dtype=complex).ravel()
        slope = slope[np.isfinite(slope)]
        if slope.size:
            coefficients[number][index] = complex(_middle(np.real(slope)), _middle(np.imag(slope)))
    return coefficients


def _middle(values: np.ndarray) -> float:
    low, high = np.percentile(values, [5, 95])
    return float(low + high) / 2


def _touched(problem: Problem, values: Mapping[Slot, Array], coordinates: Sequence[Array]) -> list[Slot]:
    found = set()

    def lookup(number: int, index: Index) -> Array:
        found.add((number, index))
        return values[number, index]

    problem.evaluate_rhs(lookup, coordinates)
    return [slot for slot in slots(problem) if slot in found]


def _has_constant_slope(
    problem: Problem, slot: Slot, values: Mapping[Slot, Array], coordinates: Sequence[Array]
) -> bool:
    """Whether ∂F/∂D is a number, whatever the state and the point, for every field.

    This is read off the program that computes it, not off samples of it.
    """

    def run(known: dict[Slot, Array], at: list[Array]) -> dict[tuple[int, Slot], Array]:
        return slopes(problem, known, at, [slot])

    return not _depends(run, dict(values), list(coordinates))


def _depends(function: Callable[..., Any], *arguments: Any) -> bool:
    """Whether any result of the function depends on the values of its arguments."""
    program = jax.make_jaxpr(function)(*arguments).jaxpr
    varying = set(program.invars)
    for equation in program.eqns:
        if any(not isinstance(v, jex.Literal) and v in varying for v in equation.invars):
            varying.update(equation.outvars)
    return any(not isinstance(v, jex.Literal) and v in varying for v in program.outvars)


def _factors(problem: Problem, values: Mapping[Slot, Array], coordinates: Sequence[Array]) -> int:
    """Degree of G as a polynomial along rays s ↦ G(s D), plus one if it depends on where it is taken.

    If the differences of order p + 1 of G(s D) vanish, the degree is p.
    """
    scale = jnp.arange(5.0)[:, None] / 4
    probes = coordinates[0].shape[0]

    def run() -> tuple[list[Array], list[Array]]:
        along = evaluate(
            problem, {s: scale * v[None, :] for s, v in values.items()}, [c[None] for c in coordinates]
        )
        moved = evaluate(
            problem, {s: jnp.broadcast_to(v[0], (probes,)) for s, v in values.items()}, coordinates
        )
        return along, moved

    along, moved = (list(map(np.asarray, part)) for part in jax.jit(run)())
    depends = any(np.ptp(m) > _ROUNDING * np.abs(m).max() for m in moved if np.isfinite(m).all())
    return min(max(map(_degree, along)) + depends, 3)


def _degree(values: np.ndarray) -> int:
    good = values[:, np.isfinite(values).all(axis=0)]
    if not good.size:
        return 3
    for degree in (1, 2):
        if np.abs(np.diff(good, degree + 1, axis=0)).max() <= _ROUNDING * max(np.abs(good).max(), 1e-300):
            return degree
    return 3
