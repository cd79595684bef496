"""The verdict: whether a solution can be relied upon, why, and how wrong it may be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """`converged`, `not converged` or `suspect`, with an error figure and the reasons."""

    status: str
    error: float | None
    """Relative L2 error of the worst field, from an independent classical solution."""
    reasons: tuple[str, ...]

    @property
    def converged(self) -> bool:
        """Whether the solution can be relied upon."""
        return self.status == "converged"

    def __str__(self) -> str:
        figure = (
            "no error figure"
            if self.error is None
            else f"relative L2 error about {self.error:.1e} (independent check)"
        )
        return f"{self.status}: {figure}. " + " ".join(self.reasons)
