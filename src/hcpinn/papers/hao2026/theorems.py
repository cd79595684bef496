"""The comparisons that decide what the paper says of theory, made of the numbers of `hcpinn theory`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...catalog import ENTRIES
from ...study.numbers import number
from .findings import ClaimCase, Evidence

_ROUNDING = 1e-8
"""Up to this relative difference two expressions agree in float64."""


def _each(
    errors: Evidence, what: str, look: Callable[[Mapping[str, Any]], ClaimCase | None]
) -> list[ClaimCase]:
    """One case for each problem of the catalogue; what has not been computed is open."""
    cases = []
    for problem in ENTRIES:
        found = errors.theory.get(problem)
        case = None if found is None else look(found)
        cases.append(case or ClaimCase(f"{problem}: {what}", None))
    return cases


def _finding(errors: Evidence, name: str, position: int, what: str) -> list[ClaimCase]:
    """A yes or no of the findings, with the sentence that explains it."""

    def look(summary: Mapping[str, Any]) -> ClaimCase | None:
        findings = summary["findings"]
        reasons = findings.get("reasons") or ()
        if findings.get(name) is None or len(reasons) <= position:
            return None
        return ClaimCase(f"{summary['problem']}: {reasons[position]}", bool(findings[name]))

    return _each(errors, what, look)


def uneven_trace(errors: Evidence) -> list[ClaimCase]:
    """Whether the parts of the soft loss share the kernel's trace unevenly."""
    return _finding(errors, "uneven", 0, "shares of the trace")


def better_conditioned(errors: Evidence) -> list[ClaimCase]:
    """Whether the hard kernel is the better conditioned one."""
    return _finding(errors, "better_conditioned", 1, "spread of the eigenvalues")


def goes_further(errors: Evidence) -> list[ClaimCase]:
    """Whether training with frozen kernels gets further with exact initial data."""
    return _finding(errors, "goes_further", 2, "errors of frozen kernels")


def hessian_bounded(errors: Evidence) -> list[ClaimCase]:
    """Both inequalities of the theorem on Hessians."""

    def look(summary: Mapping[str, Any]) -> ClaimCase | None:
        bounds = summary.get("hessian_bounds") or {}
        sides = [(side, bounds.get(f"{side}_norm"), bounds.get(f"{side}_bound")) for side in ("soft", "hard")]
        known = [(side, norm, bound) for side, norm, bound in sides if norm is not None and bound is not None]
        if len(known) < len(sides):
            return None
        said = ", ".join(f"{side} {number(norm)} of at most {number(bound)}" for side, norm, bound in known)
        holds = all(norm <= bound * (1 + _ROUNDING) for _, norm, bound in known)
        return ClaimCase(f"{summary['problem']}: {said}", holds)

    return _each(errors, "norms of the Hessians and their bounds", look)


def consistent(errors: Evidence) -> list[ClaimCase]:
    """The transformed equation against the original one, and the initial data."""

    def look(summary: Mapping[str, Any]) -> ClaimCase | None:
        found = summary.get("consistency") or {}
        gaps = {name: found.get(name) for name in ("residual", "initial")}
        if None in gaps.values():
            return None
        said = ", ".join(f"{name} {number(gap or 0.0)}" for name, gap in gaps.items())
        return ClaimCase(
            f"{summary['problem']}: {said}", all((gap or 0.0) <= _ROUNDING for gap in gaps.values())
        )

    return _each(errors, "both forms of the equation", look)
