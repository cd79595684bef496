"""An analysis as plain data, the content of `theory.json`."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ....descent import to_dict
from ....theory.decay import shown_directions
from .conditioning import TIMES

if TYPE_CHECKING:
    from .analysis import Analysis, TrainingAnalysis


def summarise(analysis: Analysis) -> dict[str, Any]:
    """All results of an analysis, with the device and versions that produced them."""
    found, reference = analysis, analysis.reference
    return {
        "problem": found.problem.name,
        "parameters": dict(found.problem.parameters),
        "method": found.method.name,
        "method_settings": to_dict(found.method),
        "seed": found.seed,
        "seeds": found.seeds,
        "points": found.points,
        "parameters_trained": int(found.hard.system.theta.size),
        "linear": found.linear,
        "findings": _plain(found.findings),
        "frozen_times": list(TIMES),
        "by_seed": [{"soft": _plain(s), "hard": _plain(h)} for s, h in found.pairs],
        "soft": _training(found.soft),
        "hard": _training(found.hard),
        "hessian_bounds": _plain(found.bounds),
        "consistency": _plain(found.consistency),
        "choices": [_plain(choice) for choice in found.choices],
        "reference": reference
        if isinstance(reference, str)
        else {"solver": reference.solver, "error_estimate": _plain(reference.error_estimate)},
        "wall_s": round(found.seconds, 3),
        "device": found.provenance.device,
        "versions": dict(found.provenance.versions),
        "kernels": found.provenance.kernels,
    }


def _training(side: TrainingAnalysis) -> dict[str, Any]:
    frozen, descent = side.frozen, side.descent
    start = frozen.amplitudes
    shown = shown_directions(frozen)
    measured = (descent.rhos @ frozen.directions)[:, shown]
    largest = float(frozen.eigenvalues[0])
    return {
        "figures": _plain(side.indicators),
        "along_training": _plain(side.states),
        "decay": {
            "step_times_largest": _plain(descent.step * largest),
            "steps": list(descent.counts),
            "deviations": _plain(side.deviations),
            "loss_measured": _plain([float(r @ r / (frozen.rho @ frozen.rho)) for r in descent.rhos]),
            "loss_predicted": _plain([frozen.loss_at(tau) for tau in descent.times]),
            "directions": [
                {
                    "number": int(i) + 1,
                    "eigenvalue": _plain(frozen.eigenvalues[i]),
                    "start": _plain(start[i]),
                    "measured": _plain(list(measured[:, n])),
                    "predicted": _plain(
                        [start[i] * math.exp(-frozen.eigenvalues[i] * t) for t in descent.times]
                    ),
                }
                for n, i in enumerate(shown)
            ],
        },
        "modes": _plain(side.modes),
        "curvature": _plain(side.curvature),
    }


def _plain(value: Any) -> Any:
    """Data that JSON can hold: numbers with six digits, None in place of numbers that are not finite."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(f"{float(value):.6g}") if math.isfinite(value) else None
    return value
