"""The whole analysis of one problem and method: soft and hard training side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from ....descent import Method
from ....errors import MethodError, NoReferenceError
from ....machine.precision import double
from ....machine.provenance import Provenance, provenance
from ....objective import RESIDUAL
from ....problem import Problem
from ....reference import Reference, solve_reference
from ....theory.decay import Descent, FrozenKernel, descend, freeze
from ....theory.kernel import Curvature, Spectrum, curvature, kernel, spectrum, trace_shares
from ....theory.modes import ErrorProbe, ModeDecay, mode_decay
from ....theory.systems import System, Tangent, hard_method, soft_method
from .choices import Choice, compare_choices
from .conditioning import Findings, Indicators, compare_indicators, indicators
from .consistency import Consistency, check_consistency
from .hessian import Bounds, bounds, matrices

_STEP = 0.05
"""The step of gradient descent, in units of 1/λ₁."""

_PER_DECADE = (1, 2, 5)
"""Steps of a descent that are recorded in every decade."""

_CHOICE_POINTS = 256
"""The largest number of residual points with which lifts and gates are compared."""


@dataclass(frozen=True, eq=False)
class KernelState:
    """A kernel after some steps of Adam."""

    steps: int
    largest: float
    condition: float
    rank: int
    effective_rank: float
    eigenvalues: tuple[float, ...]
    shares: Mapping[str, float]
    """Each term's share of the trace."""
    losses: Mapping[str, float]
    """The mean square of each term."""
    drift: float
    """How far the kernel has moved: |K − K₀|/|K₀| in the Frobenius norm."""
    error: float | None
    """Relative error of u, if a reference is known."""


@dataclass(frozen=True, eq=False)
class TrainingAnalysis:
    """What was found about soft or hard training."""

    system: System
    indicators: Indicators
    states: tuple[KernelState, ...]
    """At the start and during training."""
    frozen: FrozenKernel
    descent: Descent
    deviations: list[float]
    """Of the measured from the predicted decay, at the recorded steps of the descent."""
    modes: ModeDecay | None
    curvature: Curvature


@dataclass(frozen=True, eq=False)
class Analysis:
    """Predictions and measurements for soft and hard training of one problem."""

    problem: Problem
    method: Method
    seed: int
    seeds: int
    points: int
    soft: TrainingAnalysis
    hard: TrainingAnalysis
    bounds: Bounds
    linear: bool
    """Whether the equation is linear: its linearisation is the same about both trial functions."""
    consistency: Consistency
    choices: list[Choice]
    pairs: list[tuple[Indicators, Indicators]]
    """Indicators of soft and hard training, one pair per seed."""
    findings: Findings
    reference: Reference | str
    """Or the reason why there is none."""
    seconds: float
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """All numbers as plain data, as in `theory.json`."""
        from .summary import summarise

        return summarise(self)


def analyse(
    problem: Problem,
    method: Method,
    *,
    points: int = 512,
    seed: int = 0,
    seeds: int = 3,
    steps: int = 1000,
    along: Sequence[int] = (100, 1000),
    reference: Reference | bool = True,
    tell: Callable[[str], None] = lambda message: None,
) -> Analysis:
    """Compare soft and hard training of a problem by kernels, decay and Hessians, and check consistency.

    Args:
        problem: what is solved.
        method: supplies lift, gate, embedding and network; soft training does without lift and gate.
        points: number of residual points; kernels have as many rows per component.
        seed: the seed of all results; the findings also use the `seeds` − 1 seeds after it.
        seeds: how many seeds the findings rest on.
        steps: number of gradient descent steps over which decay is measured.
        along: numbers of Adam steps after which kernels are computed again.
        reference: a trusted solution, from which errors are computed; True computes one, False does without.
        tell: called with a few words whenever the next part begins.
    """
    if min(points, seeds, steps) < 1 or any(n < 1 for n in along):
        raise MethodError("points, seeds, steps and every number in along must be at least 1.")
    began = time.monotonic()
    trusted = _trusted(problem, reference)
    known = trusted if isinstance(trusted, Reference) else None
    ways = {"soft": soft_method(problem, method), "hard": hard_method(problem, method)}
    sides = {}
    for name, way in ways.items():
        tell(f"{name} training")
        sides[name] = _analyse_training(System(problem, way, points=points, seed=seed), known, steps, along)
    soft, hard = sides["soft"], sides["hard"]
    tell("Hessians")
    found = matrices(soft.system, hard.system)
    gap = float(np.abs(found.operator - found.soft_operator).max() / np.abs(found.operator).max())
    tell("consistency")
    consistency = _consistency(hard.system)
    tell("lifts and gates")
    choices = compare_choices(problem, method, points=min(points, _CHOICE_POINTS), seed=seed, reference=known)
    pairs = [(soft.indicators, hard.indicators)]
    for other in range(seed + 1, seed + seeds):
        tell(f"seed {other}")
        pair = [_indicators(System(problem, way, points=points, seed=other), known) for way in ways.values()]
        pairs.append((pair[0], pair[1]))

    return Analysis(
        problem=problem,
        method=ways["hard"],
        seed=seed,
        seeds=seeds,
        points=points,
        soft=soft,
        hard=hard,
        bounds=bounds(found),
        linear=gap < 1e-10,
        consistency=consistency,
        choices=choices,
        pairs=pairs,
        findings=compare_indicators(pairs),
        reference=trusted,
        seconds=time.monotonic() - began,
        provenance=provenance(),
    )


def _analyse_training(
    system: System, reference: Reference | None, steps: int, along: Sequence[int]
) -> TrainingAnalysis:
    """Kernels at the start and during training, decay, modes and curvature of one system."""
    probe = None if reference is None else ErrorProbe(system, reference)
    tangent = system.tangent()
    frozen = freeze(tangent)
    counts = sorted({n * 10**d for d in range(8) for n in _PER_DECADE if n * 10**d < steps} | {steps})
    descent = descend(system, step=_STEP / float(frozen.eigenvalues[0]), counts=counts)
    modes = None if probe is None else mode_decay(probe, frozen, descent, system.theta)
    first = np.asarray(kernel(tangent).matrix)
    states = [_state(system, 0, system.theta, tangent, frozen.spectrum, first, probe)]
    for count in along:
        theta = system.trained(count)
        moved = system.tangent(theta)
        states.append(_state(system, count, theta, moved, spectrum(moved), first, probe))
    return TrainingAnalysis(
        system=system,
        indicators=indicators(tangent, frozen, probe),
        states=tuple(states),
        frozen=frozen,
        descent=descent,
        deviations=descent.deviations(frozen),
        modes=modes,
        curvature=curvature(system, gauss_newton=frozen.spectrum.largest),
    )


def _state(
    system: System,
    steps: int,
    theta: np.ndarray,
    tangent: Tangent,
    found: Spectrum,
    first: np.ndarray,
    probe: ErrorProbe | None,
) -> KernelState:
    """The kernel at parameters θ; `first` is the one at the start."""
    drift = np.linalg.norm(np.asarray(kernel(tangent).matrix) - first) / np.linalg.norm(first)
    with double():
        losses = {
            name: float(jnp.sum((tangent.roots[name] * values) ** 2) / system.objective.terms[name].weight)
            for name, values in tangent.values.items()
        }
    return KernelState(
        steps=steps,
        **found.figures,
        eigenvalues=tuple(found.eigenvalues),
        shares=trace_shares(tangent),
        losses=losses,
        drift=float(drift),
        error=None if probe is None else probe.relative(probe.error(theta)),
    )


def _indicators(system: System, reference: Reference | None) -> Indicators:
    tangent = system.tangent()
    return indicators(tangent, freeze(tangent), None if reference is None else ErrorProbe(system, reference))


def _consistency(system: System) -> Consistency:
    with double():
        network = system.objective.unravel(jnp.asarray(system.theta))
        points = np.asarray(system.data.blocks[RESIDUAL].fixed[0].coordinates)
    return check_consistency(system.trial, network, points)


def _trusted(problem: Problem, reference: Reference | bool) -> Reference | str:
    if isinstance(reference, Reference):
        return reference
    if not reference:
        return "No reference was requested, so errors are unknown."
    try:
        return solve_reference(problem)
    except NoReferenceError as error:
        return str(error)
