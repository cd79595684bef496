"""A problem's content as a short hexadecimal string: equal problems have equal ones, whatever their source.

Functions cannot be compared, so they are probed: F and its slopes at fixed irregular
arguments, the initial data and the boundary data at fixed irregular places. The name of the
problem does not count.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy as np

from ..machine.precision import double
from ..problem import Problem
from .probes import evaluate, probe_points, slopes, slots

_VERSION = 1
_DIGITS = 9
"""Digits of a probe that count. Machines and compilers differ in the last of sixteen digits, and
the more digits count, the likelier it is that such a difference crosses a rounding boundary."""


_KNOWN: WeakKeyDictionary[Problem, str] = WeakKeyDictionary()


def fingerprint(problem: Problem) -> str:
    """64 hexadecimal digits that stand for everything a solution of the problem depends on."""
    if problem not in _KNOWN:
        _KNOWN[problem] = _digest(problem)
    return _KNOWN[problem]


def _digest(problem: Problem) -> str:
    statement: dict[str, Any] = {
        "version": _VERSION,
        "axes": problem.axes,
        **problem.domain.signature,
        "horizon": float(problem.horizon).hex(),
        "boundary": [ends.signature for ends in problem.boundaries],
        "fields": problem.fields,
        "complex": [bool(c) for c in problem.complex_fields],
        "derivatives": problem.derivatives,
        "parameters": {name: _told(problem.parameters[name]) for name in sorted(problem.parameters)},
    }
    if problem.pieces:
        statement["pieces"] = [[piece.part, piece.signature] for piece in problem.pieces]
    if problem.order != 1:
        statement["order"] = problem.order
    if problem.start:
        statement["start"] = float(problem.start).hex()
    digest = hashlib.sha256(json.dumps(statement).encode())
    for values in _probes(problem):
        digest.update(_rounded(values))
    return digest.hexdigest()


def _told(parameter: Any) -> str:
    """A number; functions are known by what they do to the equation."""
    return "function" if callable(parameter) else repr(complex(parameter))


def _probes(problem: Problem) -> list[np.ndarray]:
    with double():
        arguments, coordinates = probe_points(problem, 32)
        wanted = slots(problem)

        @jax.jit
        def run() -> list[jax.Array]:
            found = slopes(problem, arguments, coordinates, wanted)
            # Each slope is rounded by its own size: a small coefficient counts as much as a large one.
            return [*evaluate(problem, arguments, coordinates), *(found[key] for key in sorted(found))]

        probes = [np.asarray(v) for v in run()]
        number = np.arange(1, 129)
        roots = np.sqrt([2.0, 3.0, 5.0][: problem.domain.dimension])
        space = list(jnp.asarray(problem.domain.inside(np.modf(np.outer(number, roots))[0])).T)
        probes += [np.asarray(v) for v in problem.initial_values(space)]
        if problem.order == 2:
            probes += [np.asarray(v) for v in problem.initial_velocities(space)]
        times = jnp.asarray(problem.start + problem.duration * np.modf(number * np.sqrt(7.0))[0])
        for side in problem.sides:
            across = [*space[: side.axis], *space[side.axis + 1 :]]
            probes += [np.asarray(v) for own in problem.boundary_values(side, times, across) for v in own]
        for piece in problem.pieces:
            unit = np.modf(np.outer(number, roots[1:]))[0]
            place = problem.domain.on(piece.part, unit).T
            data = problem.data_on(piece, [times, *map(jnp.asarray, place)])
            probes += [np.asarray(v) for own in data for v in own]
    return probes


def _rounded(values: np.ndarray) -> bytes:
    """The values as whole multiples of a power of ten that suits the largest of them."""
    parts = np.stack([np.real(values), np.imag(values)]).astype(float)
    finite = np.isfinite(parts)
    largest = float(np.abs(parts[finite]).max()) if finite.any() else 0.0
    # Powers of ten are common as largest values; 1.7 keeps the change of unit away from them.
    unit = 10.0 ** (np.floor(np.log10(1.7 * largest)) - _DIGITS) if largest > 0 else 1.0
    whole = np.full(parts.shape, np.iinfo(np.int64).min)
    whole[finite] = np.round(parts[finite] / unit).astype(np.int64)
    return f"{unit:.0e}".encode() + whole.astype("<i8").tobytes()
