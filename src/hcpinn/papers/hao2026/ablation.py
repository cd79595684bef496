"""The paper's ablation as methods: each row is a set of switches, and everything else is its protocol.

The protocol is what `Method()` has: 7 hidden layers of 32, 16,384 points, 50,000 steps of Adam, then 5,000
of L-BFGS.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...catalog import ENTRIES, Switches
from ...catalog.parts import edges
from ...descent import LBFGS, Adam, Method
from ...equation import fingerprint
from ...errors import MethodError, ProblemError
from ...objective import Batches, InitialPenalty, Penalty, PeriodicPenalty, SelfAdaptive
from ...problem import HORIZON, Problem
from ...trial import Decay, Fourier, LinearGate, NoGate, NoLift, Plain

_RATES = {"ic1": 1.0, "ic2": 0.1}


@dataclass(frozen=True)
class Setting:
    """What the paper chose for one problem."""

    best: str
    """The switches of its best row."""
    modes: int = 10
    """Fourier modes."""
    protocol: Mapping[str, Any] = field(default_factory=dict)
    """Where it departs from its usual protocol."""


_PLANE = {"points": 10_000, "windows": 2, "stages": (Adam(steps=25_000), LBFGS(steps=2_500))}
"""The paper does not say how many time segments it used, nor how it shared its steps among them."""

SETTINGS = {
    "advection": Setting("pbc+ic1+sa", modes=1),
    "allen-cahn-1": Setting("pbc+ic1+sa"),
    "allen-cahn-2": Setting("pbc+ic1+sa"),
    "allen-cahn-2d": Setting("pbc+ic1", protocol=_PLANE),
    "allen-cahn-dirichlet": Setting("ic1"),
    "cahn-hilliard": Setting("pbc+ic2+sa", modes=2),
    "gray-scott": Setting("pbc+ic2+sa+mb"),
    "kuramoto-sivashinsky": Setting("pbc+ic2+sa"),
    "schrodinger": Setting("pbc+ic1+sa+mb", modes=3),
}
"""By problem of the catalogue.

The paper does not state its Fourier modes. Small errors of high frequency grow fast in Cahn–Hilliard, travel
fast in advection and turn fast in Schrödinger: with ten modes training ends at another solution in the first
two and falls short in the third, while with the modes of the initial data, or their few longest waves, most
runs do better. Chosen after looking at errors; `hcpinn study explanations` has the runs with ten.
"""


def entry_of(problem: Problem) -> str | None:
    """The problem of the catalogue that this one is, under whatever name, parameters and horizon."""
    names = sorted(ENTRIES, key=lambda name: name != problem.name)  # its own name is the likeliest
    return next((name for name in names if _same(ENTRIES[name].problem, problem)), None)


def _same(entry: Problem, problem: Problem) -> bool:
    told = {name: value for name, value in problem.parameters.items() if name != HORIZON}
    if set(told) != set(entry.parameters) or any(
        getattr(entry, part) != getattr(problem, part) for part in ("domain", "fields", "derivatives")
    ):
        return False
    if all(getattr(entry, part) is getattr(problem, part) for part in ("rhs", "initial", "boundary")):
        return True
    try:
        alike = (each.with_parameters(**told, **{HORIZON: problem.horizon}) for each in (entry, problem))
        return len(set(map(fingerprint, alike))) == 1
    except ProblemError:  # parameters that the catalogue does not allow
        return False


def fourier_modes(problem: Problem) -> int:
    """How many Fourier modes the rows of a problem have."""
    name = entry_of(problem)
    return SETTINGS[name].modes if name in SETTINGS else Setting("").modes


def row(switches: str, problem: Problem, *, name: str | None = None) -> Method:
    """The method with these switches on, as in 'pbc+ic1+sa'; '' is the plain soft PINN.

    The problem decides what is left to penalties: for boundary data instead of periodicity there is no
    `pbc`, and where a lift does not carry them, as it does Dirichlet data, they get a penalty too.
    """
    known = ABLATION.parts
    on = set(switches.split("+")) if switches else set()
    unknown = sorted(on - set(known))
    if unknown or {"ic1", "ic2"} <= on:
        wrong = f"'{unknown[0]}' is none of them" if unknown else "ic1 and ic2 exclude each other"
        raise MethodError(f"A row's switches are {', '.join(known)}, joined by +, but {wrong}.")
    periodic = any(condition.periodic for condition in problem.boundaries)
    if "pbc" in on and not periodic:
        raise MethodError("The switch pbc has no meaning for a problem that is not periodic.")
    rates = [rate for switch, rate in _RATES.items() if switch in on]
    penalties: list[Penalty] = [] if rates else [InitialPenalty()]
    if periodic and "pbc" not in on:
        penalties.append(PeriodicPenalty())
    return Method(
        name=name or "+".join(switch for switch in known if switch in on) or "baseline",
        lift=Decay(rates[0]) if rates else NoLift(),
        gate=LinearGate() if rates else NoGate(),
        embedding=Fourier(fourier_modes(problem)) if "pbc" in on else Plain(),
        penalties=(*penalties, *edges(problem, exact=bool(rates))),
        weights=SelfAdaptive() if "sa" in on else None,
        batches=Batches(5, 3280) if "mb" in on else None,
    )


def best_settings(problem: Problem) -> Method:
    """The paper's best settings for this problem: 7×32 network, 16,384 points, Adam 50,000, L-BFGS 5,000."""
    name = entry_of(problem)
    if name in SETTINGS:
        chosen = SETTINGS[name]
        return replace(row(chosen.best, problem, name="paper"), **chosen.protocol)
    periodic = any(condition.periodic for condition in problem.boundaries)
    return row("pbc+ic1+sa" if periodic else "ic1+sa", problem, name="paper")


def baseline(problem: Problem) -> Method:
    """The plain soft PINN: penalties on initial data and boundary, no lift, no periodic embedding."""
    return row("", problem)


ABLATION = Switches(
    about="Rows of the ablation, such as pbc+ic1+sa,",
    parts={
        "pbc": "the periodic embedding; without it a penalty on the values at both ends",
        "ic1": "exact initial data by the lift e^(-t) u0; without ic1 and ic2 a penalty on them",
        "ic2": "the same by the lift e^(-0.1 t) u0",
        "sa": "self-adaptive weights",
        "mb": "mini-batches: 5 of 3,280 out of 16,384 points",
    },
    make=row,
)
SWITCHES = tuple(ABLATION.parts)
"""In the order in which a row's name gives them."""
