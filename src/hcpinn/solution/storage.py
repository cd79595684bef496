"""Solutions as files: one archive with parameters, history, reference and all facts, and no code."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..catalog import ENTRIES
from ..descent import Method, Piecewise, from_dict, to_dict
from ..equation import fingerprint
from ..errors import FileError, HcpinnError, UnusableFileError
from ..evolution import Function as Evolved, RegionFunction
from ..family import Member
from ..machine.files import read_archive, write_archive
from ..machine.provenance import Provenance
from ..outcome import Function, History, PointWeights, Stop
from ..problem import Problem, parse_problem
from ..reference import Reference
from .family_storage import KIND as FAMILY, rebuild_family
from .grown import Grown
from .solution import Solution
from .verdict import Verdict

_KIND, _VERSION = "solution", 3

_ENGINES: dict[str, Callable[[Problem, Method, Mapping[str, np.ndarray]], Function]] = {
    Piecewise.engine: Piecewise.from_arrays,
    RegionFunction.engine: lambda problem, _, arrays: RegionFunction.from_arrays(problem, arrays),
    Evolved.engine: lambda problem, _, arrays: Evolved.from_arrays(problem, arrays),
    Grown.engine: Grown.from_arrays,
    Member.engine: lambda problem, _, arrays: Member.from_arrays(problem, arrays),
}
"""How the arrays of each engine become a function again."""

_MISFIT = (
    "{path} does not give the function that was saved: its parameters do not fit the method '{method}'. "
    "Give the method it was trained with."
)


def save_solution(solution: Solution, path: str | Path) -> Path:
    """Write a solution to one file."""
    arrays: dict[str, Any] = {
        **{f"function.{name}": array for name, array in solution.function.to_arrays().items()},
        "loss": solution.history.loss,
        "probes": _probes(solution),
    }
    header: dict[str, Any] = {
        "problem": {
            "name": solution.problem.name,
            "parameters": {k: v for k, v in solution.problem.parameters.items() if not callable(v)},
            "fingerprint": fingerprint(solution.problem),
            "text": solution.problem.to_text() if solution.problem.from_text else None,
        },
        "engine": solution.function.engine,
        "method": to_dict(solution.method),
        "seed": solution.seed,
        "stages": [list(item) for item in solution.history.stages],
        "stop": solution.stop.name,
        "seconds": solution.seconds,
        "device": solution.provenance.device,
        "versions": dict(solution.provenance.versions),
        "kernels": solution.provenance.kernels,
        "verdict": [solution.verdict.status, solution.verdict.error, list(solution.verdict.reasons)],
        "estimated_error": solution.estimated_error,
        "notes": list(solution.notes),
        "rel_l2": None if solution.rel_l2 is None else dict(solution.rel_l2),
        "rel_l1": None if solution.rel_l1 is None else dict(solution.rel_l1),
        "reference": None,
    }
    if solution.history.at is not None:
        arrays["steps"] = solution.history.at
    for name, values in solution.history.terms.items():
        arrays[f"terms.{name}"] = values
    for name, found in solution.weights.items():
        arrays[f"weights.points.{name}"], arrays[f"weights.values.{name}"] = found.points, found.weights
    if solution.reference is not None:
        header["reference"], reference_arrays = solution.reference.to_plain()
        arrays.update({f"reference.{name}": value for name, value in reference_arrays.items()})
    return write_archive(path, kind=_KIND, version=_VERSION, header=header, arrays=arrays)


def load(
    path: str | Path | zipfile.Path, *, problem: Problem | None = None, method: Method | None = None
) -> Any:
    """Open a saved `Solution` or `Family`.

    Args:
        path: the file, or a member of a ZIP.
        problem: what it solves. Only a problem of the catalogue is found by its name; files hold no code.
        method: how it was trained, needed if the method has custom parts.
    """
    header, arrays = read_archive(path, kind=(_KIND, FAMILY), version=_VERSION)
    try:
        if header["kind"] == FAMILY:
            own = _problem(path, header["problem"], None if problem is None else problem.nominal)
            given: Any = from_dict(header["method"]) if method is None else method
            return rebuild_family(path, header, arrays, own, given)
        solution = _rebuild(path, header, arrays, problem, method)
        _check_function(path, solution, arrays["probes"])
        return solution
    except HcpinnError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        raise UnusableFileError(f"{path} is incomplete: it has no valid {error}.") from error


def _rebuild(
    path: object,
    header: dict[str, Any],
    arrays: dict[str, Any],
    problem: Problem | None,
    method: Any,
) -> Solution:
    reference = None
    if header["reference"] is not None:
        reference = Reference.from_plain(header["reference"], _under("reference.", arrays))
    status, error, reasons = header["verdict"]
    problem = _problem(path, header["problem"], problem)
    method = from_dict(header["method"]) if method is None else method
    return Solution(
        problem=problem,
        method=method,
        seed=header["seed"],
        function=_function(path, header, arrays, problem, method),
        history=History(
            arrays["loss"],
            tuple((name, count) for name, count in header["stages"]),
            _under("terms.", arrays),
            arrays.get("steps"),
        ),
        stop=Stop[header["stop"]],
        seconds=header["seconds"],
        provenance=Provenance(header["device"], header["versions"], header.get("kernels")),
        verdict=Verdict(status, error, tuple(reasons)),
        estimated_error=header.get("estimated_error"),
        notes=tuple(header.get("notes", ())),
        rel_l2=header["rel_l2"],
        rel_l1=header["rel_l1"],
        reference=reference,
        weights={
            name: PointWeights(points, arrays[f"weights.values.{name}"])
            for name, points in _under("weights.points.", arrays).items()
        },
    )


def _function(
    path: object, header: dict[str, Any], arrays: dict[str, Any], problem: Problem, method: Any
) -> Function:
    """Before version 3 there was one engine, and its vector of parameters went by the name of theta."""
    old = header["version"] < 3
    own = {"theta": arrays["theta"]} if old else _under("function.", arrays)
    engine = "descent" if old else header["engine"]
    if engine not in _ENGINES:
        raise FileError(f"{path} was made by the engine '{engine}', which this hcpinn does not have.")
    try:
        return _ENGINES[engine](problem, method, own)
    except (TypeError, ValueError) as error:
        raise FileError(_MISFIT.format(path=path, method=method.name)) from error


def _under(prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """The arrays whose names begin with a prefix, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _probes(solution: Solution) -> np.ndarray:
    """Values of the solution at fixed irregular points, by which a file's function is recognised."""
    rng = np.random.default_rng(0)
    ends = [(solution.problem.start, solution.problem.horizon), *solution.problem.domain.bounds]
    values = solution(*(low + (high - low) * rng.random(16) for low, high in ends))
    return np.stack(values if isinstance(values, tuple) else (values,))


def _check_function(path: object, solution: Solution, saved: np.ndarray) -> None:
    """Refuse parameters that do not give the function that was saved."""
    try:
        now = _probes(solution)
        same = now.shape == saved.shape and np.allclose(now, saved, rtol=1e-6, atol=1e-9, equal_nan=True)
    except (TypeError, ValueError):
        same = False
    if not same:
        raise FileError(_MISFIT.format(path=path, method=solution.method.name))


def _problem(path: object, saved: dict[str, Any], given: Problem | None) -> Problem:
    name = saved["name"]
    if given is None:
        text = saved.get("text")
        if name not in ENTRIES and text is not None:
            given = parse_problem(text, source=f"the problem in {path}").with_parameters(
                **saved["parameters"]
            )
        elif name not in ENTRIES:
            raise FileError(
                f"{path} solves '{name}', which is not in the catalogue. Files hold no code: "
                "give the problem again, load(path, problem=…)."
            )
        else:
            given = ENTRIES[name].problem.with_parameters(**saved["parameters"])
    if fingerprint(given) != saved["fingerprint"]:
        raise FileError(
            f"{path} was solved for a different problem than '{given.name}' as it stands now: its equation, "
            "data, domain or parameters differ."
        )
    return given
