"""A numerical check that u = ψ + φN solves an equation exactly when N solves the transformed one.

Inserted into uₜ = F(u), the trial function turns the equation into one for the network N,

    φ Nₜ + φₜ N + ψₜ = F(ψ + φN),

and at the start, where φ = 0, N = (uₜ − ψₜ)/φₜ follows. Here the transformed residual is put together from
separate derivatives of ψ, φ and N by JAX's nested forward mode and compared with the residual of training.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .... import jets
from ....checking.floor import kink_floor
from ....machine.precision import double
from ....objective import residual
from ....problem import Index
from ....trial import Trial


@dataclass(frozen=True)
class Consistency:
    """Maximum differences over points and components, relative to the largest value compared."""

    residual: float
    """Between the residual and the transformed residual."""
    initial: float
    """Between u at the start and the initial data."""
    recovery: float | None
    """Between N and (uₜ − ψₜ)/φₜ at the start; None if φₜ vanishes at every point."""
    steepest: float
    """max 1/|φₜ| over the points at the start: the factor by which an error in uₜ grows in N."""
    degenerate: bool
    """Whether φₜ vanishes at the start somewhere on the closed domain, so that N is not determined there."""
    floor: float | None
    """The smallest relative error that a kink of the lift allows; None if the lift is smooth."""


def check_consistency(trial: Trial, network: Any, points: Float[np.ndarray, "points axes"]) -> Consistency:
    """Compare both residuals at points, and both expressions for N at the same positions at the start.

    Args:
        trial: the trial function ψ + φN.
        network: the parameters of N.
        points: times and positions.
    """
    with double():
        where = jnp.asarray(points)
        run = jax.jit(lambda network, p, edges: _evaluate(trial, network, p, edges))
        found = {k: np.asarray(v) for k, v in run(network, where, jnp.asarray(_corners(trial))).items()}
        floor = kink_floor(trial)
    gate_t = found["gate_t"]
    usable = np.abs(gate_t[:, 0]) > 1e-12 * max(float(np.abs(gate_t).max()), 1e-300)
    recovered = (found["u_t"] - found["lift_t"])[usable] / gate_t[usable]
    slowest = max(float(np.abs(gate_t).max()), 1e-300)
    return Consistency(
        residual=_difference(found["residual"], found["transformed"]),
        initial=_difference(found["u"], found["start"]),
        recovery=_difference(recovered, found["network"][usable]) if usable.any() else None,
        steepest=float(1 / np.abs(gate_t[usable]).min()) if usable.any() else float("inf"),
        degenerate=bool(not usable.all() or np.abs(found["edge_t"]).min() <= 1e-12 * slowest),
        floor=floor,
    )


def _evaluate(trial: Trial, network: Any, points: Array, edges: Array) -> dict[str, Array]:
    """Both sides of every comparison, as one compiled program."""
    problem = trial.problem
    first = _unit(problem.axes, "t")
    begin = points.at[:, 0].set(problem.start)
    rate = lambda function, at: jets.nested(function, at, (first,))[first]
    return {
        "residual": residual(trial, network, trial.fix(points), dict(problem.parameters)),
        "transformed": transformed_residual(trial, network, points),
        "u": trial(network, begin),
        "start": problem.to_components(problem.initial_values([*begin.T[1:]])),
        "u_t": rate(lambda p: trial(network, p), begin),
        "lift_t": rate(trial.lift, begin),
        "gate_t": rate(trial.gate, begin),
        "network": _inner(trial, network)(begin),
        "edge_t": rate(trial.gate, edges),
    }


def transformed_residual(
    trial: Trial, network: Any, points: Float[Array, "points axes"]
) -> Float[Array, "points components"]:
    """φ Nₜ + φₜ N + ψₜ − F(ψ + φN), from separate derivatives of ψ, φ and N."""
    problem = trial.problem
    zero, first = _unit(problem.axes, None), _unit(problem.axes, "t")
    inner = _inner(trial, network)
    network_jet = jets.nested(inner, points, (zero, first))
    gate_jet = jets.nested(trial.gate, points, (zero, first))
    lift_t = jets.nested(trial.lift, points, (first,))[first]
    u = jets.nested(lambda p: trial.lift(p) + trial.gate(p) * inner(p), points, problem.derivatives)
    fields = {index: problem.to_fields(values) for index, values in u.items()}
    coordinates = [points[:, i] for i in range(len(problem.axes))]
    rates = problem.evaluate_rhs(lambda n, i: fields[i][n], coordinates)
    left = gate_jet[zero] * network_jet[first] + gate_jet[first] * network_jet[zero] + lift_t
    return left - problem.to_components([jnp.broadcast_to(r, points.shape[:1]) for r in rates])


def _inner(trial: Trial, network: Any) -> Any:
    return lambda points: trial.network(network, trial.embed(points))


def _corners(trial: Trial) -> np.ndarray:
    """The corners of the domain and its centre, at the start."""
    problem = trial.problem
    corners = list(itertools.product((0.0, 1.0), repeat=problem.domain.dimension))
    space = problem.domain.inside(np.array([*corners, (0.5,) * problem.domain.dimension]))
    return np.column_stack([np.full(len(space), problem.start), space])


def _unit(axes: tuple[str, ...], name: str | None) -> Index:
    return tuple(int(axis == name) for axis in axes)


def _difference(left: np.ndarray, right: np.ndarray) -> float:
    scale = max(float(np.abs(right).max(initial=0.0)), float(np.abs(left).max(initial=0.0)), 1e-300)
    return float(np.abs(left - right).max(initial=0.0)) / scale
