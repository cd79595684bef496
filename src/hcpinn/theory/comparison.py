"""Soft against hard: whether exact initial data do to a problem's training what the study says they do.

The study's explanation has three parts that can be tested before any training. Soft training is
split unevenly between the equation and the data; the kernel of hard training is better conditioned;
and because of that training goes better. The last is tested with frozen kernels, the regime in which
the explanation is made: by what is left of the starting error of u at equal times λ₁τ. (The error itself
is no measure of that, since a lift that carries u₀ starts with a lower one.)
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import MethodError
from ..objective import RESIDUAL
from .decay import Frozen
from .kernel import trace_shares
from .modes import ErrorProbe
from .systems import Tangent

TIMES = (0.0, 1.0, 1e2, 1e4, 1e6)
"""λ₁τ at which frozen kernels are compared; JUDGED among them counts for the verdict."""

JUDGED = 1e4

_UNEVEN, CLEAR = 10.0, 1.5
"""Ratio of trace shares from which they count as uneven, and of other figures from which they differ."""


@dataclass(frozen=True)
class Figures:
    """What a kernel says of training, before any step is taken."""

    rows: int
    shares: dict[str, float]
    """Each term's share of the trace of the kernel that training has, weights and means included."""
    unscaled_shares: dict[str, float]
    """The same with every mismatch counted alike, as the study writes its kernels."""
    largest: float
    """λ₁."""
    condition: float
    """λ₁ over the smallest eigenvalue above rounding."""
    rank: int
    """Eigenvalues above rounding."""
    effective_rank: float
    spread: float
    """λ₁/λₙ for the same n, an eighth of the residual's rows, on both sides."""
    loss_left: tuple[float, ...]
    """The loss over its start, with the kernel frozen, at the times λ₁τ."""
    initial_left: tuple[float, ...] | None
    """The same for the initial data alone, where they are soft."""
    errors: tuple[float, ...] | None
    """Relative errors of u there."""


def figures(tangent: Tangent, frozen: Frozen, probe: ErrorProbe | None) -> Figures:
    """Read them off a system at its initial parameters."""
    spectrum, slices = frozen.spectrum, tangent.slices
    residual_rows = slices[RESIDUAL].stop - slices[RESIDUAL].start
    taus = [time / spectrum.largest for time in TIMES]
    initial = slices.get("initial")
    return Figures(
        rows=len(frozen.rho),
        shares=trace_shares(tangent),
        unscaled_shares=trace_shares(tangent.unscaled()),
        largest=spectrum.largest,
        condition=spectrum.condition,
        rank=spectrum.rank,
        effective_rank=spectrum.effective_rank,
        spread=spectrum.ratio(max(residual_rows // 8, 1)),
        loss_left=tuple(frozen.loss_at(tau) for tau in taus),
        initial_left=None if initial is None else tuple(frozen.part_at(tau, initial) for tau in taus),
        errors=None
        if probe is None
        else tuple(probe.relative(probe.frozen_error(frozen, tau)) for tau in taus),
    )


@dataclass(frozen=True)
class Findings:
    """Whether the study's explanation is borne out, and why."""

    status: str
    """'borne out', 'in part' or 'not borne out'."""
    uneven: bool
    better_conditioned: bool
    goes_further: bool | None
    """Whether hard training leaves less of its starting error; None where errors are not known."""
    reasons: tuple[str, ...]
    imbalance: float
    """The largest term's share of the trace over the smallest's, soft."""
    spread_ratio: float
    """Soft over hard: above one, the hard kernel is better conditioned."""
    left_ratio: float | None
    """Soft over hard, of the share of the starting error left at λ₁τ = 10⁴: above one, hard goes further."""
    error_ratio: float | None
    """Soft over hard, of the error there: above one, the hard error is lower, by training or by its lift."""


def judge(pairs: Sequence[tuple[Figures, Figures]]) -> Findings:
    """The verdict on (soft, hard) figures of one or more seeds; medians over seeds count."""
    if not pairs:
        raise MethodError("There is nothing to judge: give the figures of at least one seed.")
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
        f"Soft training is {'split unevenly' if uneven else 'not split unevenly'}: its smallest part, "
        f"'{small}', holds {share:.2g} of the trace.",
        f"The hard kernel is {_word(spread, 'better', 'worse')} conditioned: λ₁/λₙ is "
        f"{_median([h.spread for _, h in pairs]):.2g} against {_median([s.spread for s, _ in pairs]):.2g}.",
    ]
    if ratio is not None:
        soft, hard = (_median([pair[i] for pair in left]) for i in (0, 1))
        soft_error, hard_error = (_median([pair[i][at] for pair in known]) for i in (0, 1))
        reasons.append(
            f"With kernels frozen until λ₁τ = 10⁴, hard training gets {_word(ratio, 'further', 'less far')}: "
            f"it leaves {hard:.0%} of its starting error (an error of {hard_error:.2g}), soft training "
            f"{soft:.0%} ({soft_error:.2g})."
        )
    held = [uneven, better, *([] if further is None else [further])]
    status = "borne out" if all(held) else "in part" if any(held) else "not borne out"
    return Findings(status, uneven, better, further, tuple(reasons), imbalance, spread, ratio, error)


def _word(ratio: float, above: str, below: str) -> str:
    """How two figures compare, in a word."""
    if 1 / CLEAR < ratio < CLEAR:
        return f"neither {above} nor {below}" if above == "better" else "about as far"
    return above if ratio > 1 else below


def _median(values: Sequence[float]) -> float:
    finite = [v if math.isfinite(v) else 1e300 for v in values]
    return statistics.median(finite)
