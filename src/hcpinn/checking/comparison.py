"""Comparing a solution with a trusted one, value by value."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..problem import Problem

_VANISHING = 1e-10
"""A field smaller than the largest by so much counts as zero, and is measured by the largest."""

_FAINT = 0.1
"""A component smaller than its complex field by so much is measured by this share of the field."""


def relative_errors(
    problem: Problem, predicted: Mapping[str, np.ndarray], exact: Mapping[str, np.ndarray]
) -> tuple[dict[str, float], dict[str, float]]:
    """Relative L2 and L1 errors per component: Σ|v − u|²/Σ|u|² under the root, and Σ|v − u|/Σ|u|.

    A component that vanishes beside its complex field, and a field that vanishes beside the others, has no
    relative error of its own: it is measured by its field, and by the largest.
    """
    predicted, exact = _inside(exact, predicted), _inside(exact, exact)
    rel_l2, rel_l1 = {}, {}
    sizes = {name: (float(np.linalg.norm(u)), float(np.abs(u).sum())) for name, u in exact.items()}
    most = [max(pair) for pair in zip(*sizes.values(), strict=True)]
    for field in problem.fields:
        own = [s if s > _VANISHING * m else m for s, m in zip(sizes[field], most, strict=True)]
        trusted = _parts(problem, field, exact)
        share = _FAINT if len(trusted) > 1 else 1.0
        for name, v in _parts(problem, field, predicted).items():
            u = trusted[name]
            rel_l2[name] = float(np.linalg.norm(v - u) / (max(np.linalg.norm(u), share * own[0]) or 1.0))
            rel_l1[name] = float(np.abs(v - u).sum() / (max(np.abs(u).sum(), share * own[1]) or 1.0))
    return rel_l2, rel_l1


def _inside(exact: Mapping[str, np.ndarray], values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The values where the trusted solution has any: on a curved domain's grid it has none outside."""
    return {name: v[~np.isnan(exact[name])] for name, v in values.items()}


def _parts(problem: Problem, field: str, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The real components of one field by name."""
    if problem.complex_fields[problem.fields.index(field)]:
        return {f"real({field})": np.real(values[field]), f"imag({field})": np.imag(values[field])}
    return {field: np.real(values[field])}
