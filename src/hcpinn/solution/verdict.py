"""The verdict: whether a solution can be relied upon, why, and how wrong it may be."""

from __future__ import annotations

from dataclasses import dataclass

from ..outcome import Stop

_SETTLED = (Stop.ACCURACY, Stop.ESTIMATE, Stop.RANK, Stop.STALLED, Stop.STUCK, Stop.BLOWUP)
"""Reasons to stop that a converged solution turns into success."""


@dataclass(frozen=True)
class Verdict:
    """`converged`, `not converged` or `suspect`, with an error figure and the reasons."""

    status: str
    """One of the three."""
    error: float | None
    """Relative L2 error of the worst field, from an independent classical solution."""
    reasons: tuple[str, ...]
    """Sentences."""

    @property
    def converged(self) -> bool:
        """Whether the solution can be relied upon."""
        return self.status == "converged"

    def settles(self, stop: Stop) -> Stop:
        """The reason to stop in the light of this verdict, so that the two cannot contradict each other.

        The accuracy counts as reached only if the verdict is `converged`; otherwise it was only estimated.
        An evolution's own doubts do not count if the solution it kept is accurate.
        """
        if self.converged:
            return Stop.ACCURACY if stop in _SETTLED else stop
        return Stop.ESTIMATE if stop is Stop.ACCURACY else stop

    def __str__(self) -> str:
        figure = (
            "no error figure"
            if self.error is None
            else f"relative L2 error about {self.error:.1e} (independent check)"
        )
        return f"{self.status}: {figure}. " + " ".join(self.reasons)
