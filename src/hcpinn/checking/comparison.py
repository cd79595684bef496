"""Comparing a solution with a trusted one, value by value."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..problem import Problem


def relative_errors(
    problem: Problem, predicted: Mapping[str, np.ndarray], exact: Mapping[str, np.ndarray]
) -> tuple[dict[str, float], dict[str, float]]:
    """Relative L2 and L1 errors per component: Σ|v − u|²/Σ|u|² under the root, and Σ|v − u|/Σ|u|."""
    rel_l2, rel_l1 = {}, {}
    trusted = problem.real_parts(exact)
    for name, v in problem.real_parts(predicted).items():
        u = trusted[name]
        # A field that should vanish has no relative error; its absolute one is given.
        size_l2, size_l1 = np.linalg.norm(u) or 1.0, np.abs(u).sum() or 1.0
        rel_l2[name] = float(np.linalg.norm(v - u) / size_l2)
        rel_l1[name] = float(np.abs(v - u).sum() / size_l1)
    return rel_l2, rel_l1
