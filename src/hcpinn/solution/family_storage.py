"""Families as files: one archive with the network at all nodes and all facts, and no code."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..descent import to_dict
from ..equation import fingerprint
from ..errors import FileError
from ..evolution import Evolution
from ..family import FamilyFunction, Grid, Interpolation, Network, Piece, exact_of, span
from ..machine.files import write_archive
from ..machine.precision import double
from ..machine.provenance import Provenance
from ..outcome import Stop
from ..problem import Between, Problem, ranges_of
from .family import Check, Family
from .verdict import Verdict

KIND, _VERSION = "family", 1


def save_family(family: Family, path: str | Path) -> Path:
    """Write a family to one file."""
    function, problem = family.function, family.problem
    tail, fading = function.exact.tail, function.exact.fading
    pieces = function.interpolation.pieces
    arrays: dict[str, Any] = {
        **{f"function.{name}": array for name, array in function.network.to_arrays().items()},
        "function.exact": np.array([np.nan if tail is None else tail, fading]),
        "function.pieces": np.array([[piece.low, piece.high] for piece in pieces]),
        "probes": _probes(family),
    }
    for number, piece in enumerate(pieces):
        arrays[f"function.grid.{number}"] = piece.grid.indices
    header: dict[str, Any] = {
        "problem": {
            "name": problem.name,
            "parameters": dict(problem.nominal.parameters),
            "fingerprint": fingerprint(problem.nominal),
        },
        "open": {name: dataclasses.asdict(own) for name, own in ranges_of(problem).items()},
        "method": to_dict(family.method),
        "seed": family.seed,
        "stop": family.stop.name,
        "seconds": family.seconds,
        "device": family.provenance.device,
        "versions": dict(family.provenance.versions),
        "verdict": [family.verdict.status, family.verdict.error, list(family.verdict.reasons)],
        "estimated_error": family.estimated_error,
        "checks": [dataclasses.asdict(check) for check in family.checks],
        "kinks": list(family.kinks),
        "notes": list(family.notes),
    }
    return write_archive(path, kind=KIND, version=_VERSION, header=header, arrays=arrays)


def rebuild_family(
    path: object,
    header: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    nominal: Problem,
    method: Evolution,
) -> Family:
    """The family that was saved, of a problem with every open parameter at its nominal value."""
    problem = nominal.with_parameters(**{name: Between(**own) for name, own in header["open"].items()})
    status, error, reasons = header["verdict"]
    family = Family(
        problem=problem,
        method=method,
        seed=header["seed"],
        function=_function(problem, arrays),
        stop=Stop[header["stop"]],
        seconds=header["seconds"],
        provenance=Provenance(header["device"], header["versions"]),
        verdict=Verdict(status, error, tuple(reasons)),
        estimated_error=header["estimated_error"],
        checks=tuple(Check(**check) for check in header["checks"]),
        kinks=tuple(header["kinks"]),
        notes=tuple(header["notes"]),
    )
    if not np.allclose(_probes(family), arrays["probes"], rtol=1e-6, atol=1e-9, equal_nan=True):
        raise FileError(f"{path} does not give the family that was saved: the problem's data differ.")
    return family


def _function(problem: Problem, arrays: Mapping[str, np.ndarray]) -> FamilyFunction:
    own = {k.removeprefix("function."): v for k, v in arrays.items() if k.startswith("function.")}
    whole = span(problem)
    names = tuple(whole.open)
    pieces = tuple(
        Piece(Grid(map(tuple, own[f"grid.{number}"].tolist())), float(low), float(high))
        for number, (low, high) in enumerate(own["pieces"])
    )
    ranges = list(ranges_of(whole).values())
    with double():
        network = Network.from_arrays(whole.nominal, own)
        exact = exact_of(whole.nominal, names, own)
    return FamilyFunction(network, Interpolation(ranges, pieces), exact)


def _probes(family: Family) -> np.ndarray:
    """Values at fixed irregular points and parameters, by which a file's function is recognised."""
    rng, problem = np.random.default_rng(0), family.function.exact.problem
    ends = [(problem.start, problem.horizon), *problem.domain.bounds]
    places = [low + (high - low) * rng.random(16) for low, high in ends]
    ranges = ranges_of(family.problem)
    given = {name: ranges[name].at(rng.random(16)) for name in family.names}
    values = family(*places, **given)
    return np.stack(values if isinstance(values, tuple) else (values,))
