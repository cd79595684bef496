"""Studies by name, which extensions register, and as TOML files.

name = "first look"
problems = ["allen-cahn-1", "advection"]
methods = ["expert", "quick", "mine.toml"]
seeds = [0, 1]

[budget]
steps = [200, 50]
points = 1024
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..catalog import extensions, find_method, find_problem
from ..descent.runs import Run
from ..errors import HcpinnError, MethodError, unknown_name
from ..machine.files import read_toml
from ..problem import Problem
from .declaration import Section, Study
from .optimisers import optimisers

_SECTION = ("name", "title", "problems", "methods", "seeds", "parameters", "accuracy", "budget")
_STUDY = (*_SECTION, "include", "section")
_BUDGET = ("steps", "points")

_MOST = 100_000
"""The most runs of a section: more is probably a typing error."""


def grid(
    name: str,
    problems: Sequence[str | Problem],
    methods: Sequence[str],
    *,
    title: str = "",
    seeds: Sequence[int] = (0,),
    parameters: Mapping[str, Sequence[float]] | None = None,
    accuracy: float = 1e-2,
) -> Section:
    """A section of every problem with every combination of parameters, method and seed.

    Args:
        name: of the section.
        problems: names of the catalogue, or problems.
        methods: names of methods, or paths of `.toml` files.
        title: of its table; the name if empty.
        seeds: the seeds of each row.
        parameters: for each parameter of the problems the values to try.
        accuracy: the relative L2 error up to which a solution counts as converged.
    """
    count = math.prod((len(problems), len(methods), len(seeds), *map(len, (parameters or {}).values())))
    if count > _MOST:
        raise MethodError(f"The section '{name}' has {count:,} runs. Make sections of at most {_MOST:,}.")
    runs, labels = [], []
    values = [[(key, value) for value in choices] for key, choices in (parameters or {}).items()]
    for given in problems:
        base = find_problem(given) if isinstance(given, str) else given
        for changes in itertools.product(*values):
            problem = base.with_parameters(**dict(changes)) if changes else base
            at = "".join(f", {key} = {value:g}" for key, value in changes)
            for method in methods:
                for seed in seeds:
                    runs.append(Run(problem, find_method(method, problem), seed))
                    labels.append(f"{problem.name}{at}, {runs[-1].method.name}")
    return Section(name, title or name, tuple(runs), labels=tuple(labels), accuracy=accuracy)


def load_study(path: str | Path) -> Study:
    """The study in a TOML file. Paths of methods are relative to the file."""
    source = Path(path)
    data = read_toml(source)
    try:
        return _study(data, source)
    except HcpinnError as error:
        raise type(error)(f"{source}: {error}") from error


def _study(data: dict[str, Any], source: Path) -> Study:
    _check_names(data, _STUDY, "study")
    name = _typed(data, "name", str, source.stem)
    sections: list[Section] = []
    for other in _typed(data, "include", list, []):
        included = find_study(str(other))
        if "seeds" in data:
            included = included.with_seeds(_seeds(data["seeds"]))
        sections += _with_budget(included, data).sections
    own = _typed(data, "section", list, [])
    shared = {key: data[key] for key in _SECTION if key in data and key not in ("name", "title")}
    if own or "problems" in data or "methods" in data or not sections:
        for number, part in enumerate(own or [{"name": name}], start=1):
            if not isinstance(part, dict):
                raise MethodError("A section is a table, as in [[section]].")
            _check_names(part, _SECTION, "section")
            sections += _section({**shared, **part}, f"{name} {number}", source.parent).sections
    return Study(name, _typed(data, "title", str, name), tuple(sections))


def _section(data: dict[str, Any], default: str, folder: Path) -> Study:
    """A study of one section."""
    name = _typed(data, "name", str, default)
    for needed in ("problems", "methods"):
        if not _typed(data, needed, list, []):
            raise MethodError(f'The section \'{name}\' names no {needed}, as in {needed} = ["…", "…"].')
    methods = [_beside(folder, str(method)) for method in data["methods"]]
    parameters = _typed(data, "parameters", dict, {})
    section = grid(
        name,
        [str(problem) for problem in data["problems"]],
        methods,
        title=_typed(data, "title", str, name),
        seeds=_seeds(data.get("seeds", [0])),
        parameters={key: _numbers(key, value) for key, value in parameters.items()},
        accuracy=_typed(data, "accuracy", float, 1e-2),
    )
    return _with_budget(Study(name, name, (section,)), data)


def _with_budget(study: Study, data: Mapping[str, Any]) -> Study:
    budget = _typed(data, "budget", dict, {})
    _check_names(budget, _BUDGET, "budget")
    steps, points = budget.get("steps"), budget.get("points")
    if steps is not None and not (isinstance(steps, list) and all(_is_count(s) for s in steps)):
        raise MethodError(f"budget: steps is a list of whole numbers, one per stage, not {steps!r}.")
    if points is not None and not _is_count(points):
        raise MethodError(f"budget: points is a whole number, not {points!r}.")
    return study.with_budget(steps=steps, points=points)


def _seeds(value: Any) -> list[int]:
    """Seeds, given as a list or as a number of seeds."""
    if _is_count(value) and 0 < value <= _MOST:
        return list(range(value))
    if isinstance(value, list) and value and all(_is_count(seed) for seed in value):
        return value
    raise MethodError(
        f"seeds is a list of whole numbers of at least 0, or how many there are, up to {_MOST:,}; not "
        f"{value!r}."
    )


def _numbers(name: str, value: Any) -> list[float]:
    values = value if isinstance(value, list) else [value]
    if not values or not all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        raise MethodError(f"parameters: {name} is a number or a list of numbers, not {value!r}.")
    return [float(v) for v in values]


def _beside(folder: Path, method: str) -> str:
    return str(folder / method) if method.endswith(".toml") else method


def _typed(data: Mapping[str, Any], name: str, kind: type, default: Any) -> Any:
    value = data.get(name, default)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind):
        words = {str: "text", list: "a list", dict: "a table", float: "a number"}
        raise MethodError(f"{name} is {words[kind]}, not {value!r}.")
    return value


def _check_names(data: Mapping[str, Any], known: Sequence[str], kind: str) -> None:
    for name in data:
        if name not in known:
            raise unknown_name("setting", name, known, of=f"a {kind}")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def named_studies() -> dict[str, Callable[[], Study]]:
    """Every study that has a name; the docstring of each says what it is."""
    added = {name: make for part in extensions() for name, make in part.studies().items()}
    return {"optimisers": optimisers, **added}


def find_study(name: str) -> Study:
    """The study of this name."""
    known = named_studies()
    if name not in known:
        raise unknown_name("study", name, known)
    return known[name]()
