"""Lifts and gates compared: their effect on the kernel, on the initial mismatch, and on the network's task.

The gate multiplies the residual's Jacobian and so changes the kernel's spectrum. The lift does not enter the
Jacobian of a linear equation; there it only sets the initial mismatch and what the network has to represent,
N = (u − ψ)/φ.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....descent import Method
from ....machine.precision import double
from ....problem import Problem
from ....reference import Reference
from ....theory.decay import freeze
from ....theory.modes import amplitudes, reference_grid
from ....theory.systems import System, hard_method
from ....trial import Decay, ExponentialGate, Gate, Lift, LinearGate, Semigroup, Trial, has_waves, make_trial


@dataclass(frozen=True)
class Choice:
    """One lift and gate, and their effect."""

    lift: str
    gate: str
    largest: float
    """λ₁ of the kernel."""
    condition: float
    rank: int
    effective_rank: float
    spread: float
    """λ₁/λₙ for n an eighth of the rows: how much more slowly that direction is learnt."""
    loss: float
    """The mean squared residual before training."""
    lift_loss: float
    """The mean squared residual of the lift alone, with the network at zero."""
    time_to_tenth: float
    """The time λ₁τ in which a frozen kernel brings the loss down to a tenth."""
    task_size: float | None
    """Root mean square of N = (u − ψ)/φ over the reference's grid."""
    task_waves: float | None
    """Root mean square wave number of N, in periods per length."""


def compare_choices(
    problem: Problem,
    method: Method,
    *,
    points: int | None = None,
    seed: int = 0,
    reference: Reference | None = None,
    choices: Sequence[tuple[Lift, Gate]] | None = None,
) -> list[Choice]:
    """Compare lifts and gates with the same network and points.

    Args:
        problem: what is solved.
        method: supplies embedding, network and points.
        points: number of residual points, overriding the method's.
        seed: seed of the network and the points.
        reference: a trusted solution, from which the network's task is computed.
        choices: pairs of lift and gate; by default `standard_choices`.
    """
    base = hard_method(problem, method)
    return [
        _evaluate(problem, dataclasses.replace(base, lift=lift, gate=gate), points, seed, reference)
        for lift, gate in (standard_choices(problem) if choices is None else choices)
    ]


def standard_choices(problem: Problem) -> list[tuple[Lift, Gate]]:
    """Lifts of four decay rates and that of the linear part, if it has one, and three gates."""
    lifts: list[Lift] = [Decay(rate / problem.duration) for rate in (0.0, 0.1, 1.0, 10.0)]
    if has_waves(problem):
        lifts.append(Semigroup())
    gates = [ExponentialGate(rate / problem.duration) for rate in (1.0, 10.0)]
    return [*((lift, LinearGate()) for lift in lifts), *((Decay(1.0 / problem.duration), g) for g in gates)]


def _evaluate(
    problem: Problem, method: Method, points: int | None, seed: int, reference: Reference | None
) -> Choice:
    system = System(problem, method, points=points, seed=seed)
    tangent = system.tangent()
    frozen = freeze(tangent)
    spectrum = frozen.spectrum
    with double():
        size, waves = (None, None) if reference is None else _task(make_trial(problem, method), reference)
    return Choice(
        lift=part_label(method.lift),
        gate=part_label(method.gate),
        **spectrum.figures,
        spread=spectrum.ratio(max(len(frozen.sizes) // 8, 1)),
        loss=float(frozen.rho @ frozen.rho),
        lift_loss=float(np.sum(system.rho(np.zeros_like(system.theta)) ** 2)),
        time_to_tenth=frozen.time_to(0.1),
        task_size=size,
        task_waves=waves,
    )


def _task(trial: Trial, reference: Reference) -> tuple[float, float]:
    """Size and wave number of the function that the network must represent, (u − ψ)/φ."""
    problem = trial.problem
    points, exact, shape = reference_grid(problem, reference)
    where = jnp.asarray(points)
    lift, gate = (np.asarray(jax.jit(f)(where)) for f in (trial.lift, trial.gate))
    inside = np.abs(gate[:, 0]) > 1e-9
    wanted = np.where(inside[:, None], (exact - lift) / np.where(inside[:, None], gate, 1.0), 0.0)
    numbers, sizes = amplitudes(problem, wanted.reshape(shape))
    power = sizes**2
    waves = math.sqrt(float(np.sum(numbers**2 * power) / max(float(power.sum()), 1e-300)))
    return float(np.sqrt(np.mean(wanted[inside] ** 2))), waves


def part_label(part: Any) -> str:
    """A lift or gate in a few words."""
    if isinstance(part, Decay):
        return f"e^(-{part.rate:g}t) u0" if part.rate else "u0"
    if isinstance(part, Semigroup):
        return "e^(tL) u0" + ("" if part.parts == "auto" else f", {part.parts}")
    if isinstance(part, ExponentialGate):
        return f"1 - e^(-{part.rate:g}t)"
    if isinstance(part, LinearGate):
        return "t/T"
    return type(part).__name__
