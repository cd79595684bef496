"""A study: many runs in sections, as one job."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from ..descent import Method, with_budget
from ..descent.runs import Run
from ..errors import MethodError, unknown_name
from ..solving import settled
from .record import run_key


@dataclass(frozen=True)
class Section:
    """The runs of one table."""

    name: str
    """By which commands and files know it."""
    title: str
    runs: tuple[Run, ...]
    labels: tuple[str, ...] = ()
    """What each run's row is called, as in 'without lift' or 'm = 5'; the method's name unless given.

    Runs that differ in their seed alone share a label.
    """
    accuracy: float = 1e-2
    """The relative L2 error up to which a solution counts as converged."""

    def __post_init__(self) -> None:
        if not self.runs:
            raise MethodError(f"The section '{self.name}' has no runs.")
        if not self.accuracy > 0:
            raise MethodError(f"{self.name}: accuracy must be positive, but is {self.accuracy!r}.")
        object.__setattr__(self, "runs", tuple(map(settled, self.runs)))
        if not self.labels:
            object.__setattr__(self, "labels", tuple(run.method.name for run in self.runs))
        if len(self.runs) != len(self.labels):
            raise MethodError(
                f"The section '{self.name}' has {len(self.runs)} runs, but {len(self.labels)} labels. Give "
                "one label per run."
            )

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The key of each run's record in a store."""
        return tuple(run_key(run, self.accuracy) for run in self.runs)

    @property
    def problems(self) -> tuple[str, ...]:
        """The names of its problems, each once."""
        return tuple(dict.fromkeys(run.problem.name for run in self.runs))

    @property
    def methods(self) -> tuple[tuple[str, ...], ...]:
        """What each run's method may be called: by its name, or by the run's label."""
        return tuple((run.method.name, label) for run, label in zip(self.runs, self.labels, strict=True))

    def picked(self, numbers: Sequence[int]) -> Section:
        """The section with these of its runs, in this order."""
        return dataclasses.replace(
            self,
            runs=tuple(self.runs[n] for n in numbers),
            labels=tuple(self.labels[n] for n in numbers),
        )


@dataclass(frozen=True)
class Study:
    """Many runs as one job: problems × methods × seeds, in sections."""

    name: str
    """What commands and files call it."""
    title: str
    """What its page is called."""
    sections: tuple[Section, ...]
    page: str = ""
    """The name of the page that an extension has for it; the usual page if empty."""

    def __post_init__(self) -> None:
        names = [section.name for section in self.sections]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise MethodError(
                f"The study '{self.name}' has two sections '{twice[0]}'. Give them different names."
            )
        if not names:
            raise MethodError(f"The study '{self.name}' has no sections.")

    @property
    def runs(self) -> tuple[Run, ...]:
        """All runs, section by section; sections may share some."""
        return tuple(run for section in self.sections for run in section.runs)

    @cached_property
    def wanted(self) -> dict[str, tuple[Run, float]]:
        """What is to be trained: each key once, with its run and accuracy."""
        found: dict[str, tuple[Run, float]] = {}
        for section in self.sections:
            for key, run in zip(section.keys, section.runs, strict=True):
                found.setdefault(key, (run, section.accuracy))
        return found

    def only(self, *, problems: Sequence[str] = (), methods: Sequence[str] = ()) -> Study:
        """The study restricted to some problems and methods.

        Args:
            problems: names, in which * matches anything; all problems if empty.
            methods: names of methods or labels of runs, likewise.
        """

        def chosen(section: Section) -> list[int]:
            return [
                number
                for number, (run, names) in enumerate(zip(section.runs, section.methods, strict=True))
                if _any(problems, [run.problem.name]) and _any(methods, names)
            ]

        known = {
            "problem": {name for section in self.sections for name in section.problems},
            "method": {name for section in self.sections for names in section.methods for name in names},
        }
        for kind, patterns in (("problem", problems), ("method", methods)):
            for pattern in patterns:
                if not _any([pattern], known[kind]):
                    raise unknown_name(kind, pattern, known[kind], of=f"the study '{self.name}'")
        picked = [(section, chosen(section)) for section in self.sections]
        kept = [section.picked(numbers) for section, numbers in picked if numbers]
        if not kept:
            raise MethodError(f"The study '{self.name}' has no run of such a problem with such a method.")
        return self._with_sections(kept)

    def with_seeds(self, seeds: Sequence[int]) -> Study:
        """The same study with other seeds."""

        def renewed(section: Section) -> Section:
            once: dict[Any, int] = {}
            for number, run in enumerate(section.runs):
                once.setdefault((section.labels[number], run.problem, repr(run.method)), number)
            picks = [(number, seed) for number in once.values() for seed in seeds]
            found = section.picked([number for number, _ in picks])
            runs = (dataclasses.replace(run, seed=s) for run, (_, s) in zip(found.runs, picks, strict=True))
            return dataclasses.replace(found, runs=tuple(runs))

        return self._with_sections(renewed(section) for section in self.sections)

    def with_budget(self, *, steps: Sequence[int] | None = None, points: int | None = None) -> Study:
        """The same study with other budgets, for a first look.

        Args:
            steps: for each stage in turn; a method with fewer stages takes the first of them, and one that
                trains nothing stays as it is.
            points: residual points.
        """

        def shortened(run: Run) -> Run:
            if run.method.engine != Method.engine:
                return run
            own = None if steps is None else tuple(steps)[: len(run.method.stages)]
            return dataclasses.replace(run, method=with_budget(run.method, steps=own, points=points))

        def renewed(section: Section) -> Section:
            return dataclasses.replace(section, runs=tuple(map(shortened, section.runs)))

        return self._with_sections(renewed(section) for section in self.sections)

    def _with_sections(self, sections: Iterable[Section]) -> Study:
        return dataclasses.replace(self, sections=tuple(sections))


def _any(patterns: Sequence[str], names: Iterable[str]) -> bool:
    """Whether a pattern matches a name; without patterns everything does."""
    return not patterns or any(fnmatchcase(name, pattern) for name in names for pattern in patterns)
