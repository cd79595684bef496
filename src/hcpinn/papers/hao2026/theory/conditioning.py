"""Soft against hard training: whether conditioning explains what exact initial data gain.

The explanation has three parts: soft training is split unevenly between the equation and the data; the kernel
of hard training is better conditioned; and therefore hard training makes faster progress. All three can be
tested before training, the last with frozen kernels: by the share of the initial error of u that is left at
equal times λ₁τ. (The error itself says nothing, since a lift that carries u₀ starts with a smaller one.)
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ....errors import MethodError
from ....objective import RESIDUAL
from ....theory.decay import FrozenKernel
from ....theory.kernel import trace_shares
from ....theory.modes import ErrorProbe
from ....theory.systems import Tangent

TIMES = (0.0, 1.0, 1e2, 1e4, 1e6)
"""Times λ₁τ at which frozen kernels are compared."""

JUDGED = 1e4
"""The one of them that counts for the findings."""

_UNEVEN, CLEAR = 10.0, 1.5
"""The ratios from which trace shares count as uneven, and from which other numbers count as different."""


@dataclass(frozen=True)
class Indicators:
    """What a kernel says about training before the first step."""

    rows: int
    shares: dict[str, float]
    """Each term's share of the kernel's trace."""
    unscaled_shares: dict[str, float]
    """The same with all factors one: sums over points in place of means."""
    largest: float
    """λ₁."""
    condition: float
    """λ₁ over the smallest eigenvalue above rounding."""
    rank: int
    """Eigenvalues above rounding."""
    effective_rank: float
    spread: float
    """λ₁/λₙ for n an eighth of the residual's rows, which is the same n for soft and hard training."""
    loss_left: tuple[float, ...]
    """The loss relative to its initial value at each of `TIMES`, with the kernel frozen."""
    initial_left: tuple[float, ...] | None
    """The same for the penalty on initial data, if there is one."""
    errors: tuple[float, ...] | None
    """Relative errors of u at these times, if a reference is known."""


def indicators(tangent: Tangent, frozen: FrozenKernel, probe: ErrorProbe | None) -> Indicators:
    """The indicators of a linearised system."""
    spectrum, slices = frozen.spectrum, tangent.slices
    residual_rows = slices[RESIDUAL].stop - slices[RESIDUAL].start
    taus = [time / spectrum.largest for time in TIMES]
    initial = slices.get("initial")
    return Indicators(
        rows=len(frozen.rho),
        shares=trace_shares(tangent),
        unscaled_shares=trace_shares(tangent.unscaled()),
        **spectrum.figures,
        spread=spectrum.ratio(max(residual_rows // 8, 1)),
        loss_left=tuple(frozen.loss_at(tau) for tau in taus),
        initial_left=None if initial is None else tuple(frozen.part_at(tau, initial) for tau in taus),
        errors=None
        if probe is None
        else tuple(probe.relative(probe.frozen_error(frozen, tau)) for tau in taus),
    )


@dataclass(frozen=True)
class Findings:
    """Whether conditioning explains the gain of exact initial data, and why."""

    status: str
    """'borne out', 'in part' or 'not borne out'."""
    uneven: bool
    """Whether soft training is split unevenly."""
    better_conditioned: bool
    """Whether the hard kernel is better conditioned."""
    goes_further: bool | None
    """Whether hard training leaves a smaller share of its initial error; None without a reference."""
    reasons: tuple[str, ...]
    """A sentence on each of the three."""
    imbalance: float
    """Largest over smallest share of the trace in soft training."""
    spread_ratio: float
    """λ₁/λₙ, soft over hard: above one, the hard kernel is better conditioned."""
    left_ratio: float | None
    """Share of the initial error left at λ₁τ = 10⁴, soft over hard: above one, hard training gets further."""
    error_ratio: float | None
    """Error there, soft over hard: above one, the hard error is smaller, by its lift or by training."""


def compare_indicators(pairs: Sequence[tuple[Indicators, Indicators]]) -> Findings:
    """What the (soft, hard) indicators of one or more seeds say together; medians over seeds count."""
    if not pairs:
        raise MethodError("There is nothing to compare: give the indicators of at least one seed.")
    imbalance = _median([max(s.shares.values()) / max(min(s.shares.values()), 1e-300) for s, _ in pairs])
    spread = _median([s.spread / h.spread for s, h in pairs])
    at = TIMES.index(JUDGED)
    known = [(s.errors, h.errors) for s, h in pairs if s.errors and h.errors]
    left = [(s[at] / s[0], h[at] / h[0]) for s, h in known]
    error = _median([s[at] / max(h[at], 1e-300) for s, h in known]) if known else None
    ratio = _median([s / max(h, 1e-300) for s, h in left]) if left else None
    uneven, better = imbalance >= _UNEVEN, spread >= CLEAR
    further = None if ratio is None else ratio >= CLEAR
    small = min(pairs[0][0].shares, key=lambda name: pairs[0][0].shares[name])
    share = _median([s.shares[small] for s, _ in pairs])
    reasons = [
        f"Soft training is {'' if uneven else 'not '}split unevenly: its smallest term, '{small}', holds "
        f"{share:.2g} of the trace.",
        f"The hard kernel is {_word(spread, 'better', 'worse')} conditioned: λ₁/λₙ is "
        f"{_median([h.spread for _, h in pairs]):.2g} against {_median([s.spread for s, _ in pairs]):.2g}.",
    ]
    if ratio is not None:
        soft, hard = (_median([pair[i] for pair in left]) for i in (0, 1))
        soft_error, hard_error = (_median([pair[i][at] for pair in known]) for i in (0, 1))
        reasons.append(
            f"With kernels frozen until λ₁τ = 10⁴, hard training gets {_word(ratio, 'further', 'less far')}: "
            f"it leaves {hard:.0%} of its initial error (an error of {hard_error:.2g}), soft training "
            f"{soft:.0%} ({soft_error:.2g})."
        )
    held = [uneven, better, *([] if further is None else [further])]
    status = "borne out" if all(held) else "in part" if any(held) else "not borne out"
    return Findings(status, uneven, better, further, tuple(reasons), imbalance, spread, ratio, error)


def _word(ratio: float, above: str, below: str) -> str:
    """How two numbers compare, given their ratio."""
    if 1 / CLEAR < ratio < CLEAR:
        return f"neither {above} nor {below}" if above == "better" else "about as far"
    return above if ratio > 1 else below


def _median(values: Sequence[float]) -> float:
    finite = [v if math.isfinite(v) else 1e300 for v in values]
    return statistics.median(finite)
