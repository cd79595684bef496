"""Fits as files: one archive with estimates, data, the solution and all facts, and no code."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import HcpinnError, UnusableFileError
from ..machine.files import read_archive, write_archive
from ..problem import Problem
from ..solution import load
from .curve import Curve
from .measurements import Measurements
from .result import CurveEstimate, Estimate, Fit, Fitted, FitVerdict

_KIND, _VERSION, _MEMBER = "fit", 1, "solution.npz"


def save_fit(fit: Fit, path: str | Path) -> Path:
    """Write a fit to one file."""
    arrays: dict[str, Any] = {"correlations": fit.correlations}
    estimates = {}
    for name, e in fit.estimates.items():
        if isinstance(e, Estimate):
            estimates[name] = {"by": e.by}
            arrays[f"estimate.{name}"] = np.array([e.value, e.error, *e.interval])
        else:
            c = e.value
            estimates[name] = {"by": e.by, "positive": c.positive, "periodic": c.periodic}
            arrays[f"curve.{name}"] = np.array([c.low, c.high, *np.asarray(c.coefficients)])
            arrays[f"estimate.{name}"] = np.stack([e.at, e.values, e.error, *e.interval])
    for number, own in enumerate(fit.fitted):
        for part in ("points", "measured", "predicted", "error"):
            arrays[f"fitted.{number}.{part}"] = getattr(own, part)
    for number, data in enumerate(fit.data):
        arrays[f"data.{number}.points"] = data.points
        for name, values in data.values.items():
            arrays[f"data.{number}.values.{name}"] = values
            noise = data.noise[name]
            if noise is not None:
                arrays[f"data.{number}.noise.{name}"] = noise
    for name, rows in fit.profiles.items():
        arrays[f"profile.{name}"] = rows
    with tempfile.TemporaryDirectory() as folder:
        whole = fit.solution.save(Path(folder) / _MEMBER).read_bytes()
    arrays["solution"] = np.frombuffer(whole, np.uint8)
    header = {
        "problem": fit.problem.name,
        "estimates": estimates,
        "noise": dict(fit.noise),
        "fitted": [[f.experiment, f.name, f.noise, f.noise_known] for f in fit.fitted],
        "data": [[d.name, dict(d.settings), list(d.values)] for d in fit.data],
        "verdict": [fit.verdict.status, list(fit.verdict.reasons)],
        "level": fit.level,
        "facts": fit.facts,
        "profiles": list(fit.profiles),
        "seconds": fit.seconds,
    }
    return write_archive(path, kind=_KIND, version=_VERSION, header=header, arrays=arrays)


def load_fit(path: str | Path, *, problem: Problem) -> Fit:
    """Open a saved fit.

    Args:
        path: of the file.
        problem: with its unknowns open; files hold no code. Functions given as `observe` are not restored.
    """
    header, arrays = read_archive(path, kind=_KIND, version=_VERSION)
    try:
        return _rebuilt(header, arrays, problem)
    except HcpinnError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise UnusableFileError(f"{path} is incomplete: it has no valid {error}.") from error


def _rebuilt(header: dict[str, Any], arrays: dict[str, np.ndarray], problem: Problem) -> Fit:
    estimates: dict[str, Estimate | CurveEstimate] = {}
    for name, told in header["estimates"].items():
        own = arrays[f"estimate.{name}"]
        if f"curve.{name}" in arrays:
            low, high, *coefficients = arrays[f"curve.{name}"]
            curve = Curve(float(low), float(high), np.array(coefficients), told["positive"], told["periodic"])
            estimates[name] = CurveEstimate(curve, own[0], own[1], own[2], (own[3], own[4]), told["by"])
        else:
            value, error, low, high = map(float, own)
            estimates[name] = Estimate(value, error, (low, high), told["by"])
    data = []
    for number, (name, settings, names) in enumerate(header["data"]):
        noise = {n: arrays.get(f"data.{number}.noise.{n}") for n in names}
        values = {n: arrays[f"data.{number}.values.{n}"] for n in names}
        points = arrays[f"data.{number}.points"]
        data.append(Measurements(*points.T, noise=noise, settings=settings, name=name, **values))
    fitted = tuple(
        Fitted(
            experiment,
            name,
            *(arrays[f"fitted.{number}.{part}"] for part in ("points", "measured", "predicted", "error")),
            noise=noise,
            noise_known=known,
        )
        for number, (experiment, name, noise, known) in enumerate(header["fitted"])
    )
    found = {name: e.value for name, e in estimates.items()}
    closed = problem.with_parameters(**header["data"][0][1]).with_parameters(**found)
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / _MEMBER
        whole.write_bytes(arrays["solution"].tobytes())
        solution = load(whole, problem=closed)
    return Fit(
        problem=problem,
        data=tuple(data),
        estimates=estimates,
        correlations=arrays["correlations"],
        noise=header["noise"],
        fitted=fitted,
        verdict=FitVerdict(header["verdict"][0], tuple(header["verdict"][1])),
        solution=solution,
        level=header["level"],
        facts=header["facts"],
        profiles={name: arrays[f"profile.{name}"] for name in header["profiles"]},
        seconds=header["seconds"],
    )
