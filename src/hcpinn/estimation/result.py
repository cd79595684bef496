"""What a fit found: estimates with their errors, the noise, the solution there, and a verdict."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import HcpinnError
from ..machine.files import write_bytes
from ..problem import Problem
from ..solution import Solution
from ..solution.canvas import Theme, finish
from ..solution.notebook import page_of
from .curve import Curve
from .measurements import Measurements

RELIABLE, FREE, WRONG, SUSPECT = "reliable", "not determined", "wrong model", "suspect"


@dataclass(frozen=True)
class Estimate:
    """One unknown: its value, one standard error, and an interval."""

    value: float
    """The best value."""
    error: float
    """Infinite where the data do not determine it, or the model does not describe the data."""
    interval: tuple[float, float]
    """It holds the truth with a probability of `Fit.level`."""
    by: str = "curvature"
    """Where the interval is from: the likelihood's curvature or profile, numerical error, or the bounds."""

    @property
    def determined(self) -> bool:
        """Whether there is a figure for the error."""
        return math.isfinite(self.error)

    def __str__(self) -> str:
        if not self.determined:
            return f"{self.value:.4g} (no interval)"
        digits = (
            max(0, 1 - math.floor(math.log10(self.error / max(abs(self.value), 1e-300)))) if self.error else 8
        )
        shown = min(max(digits + 1, 3), 10)
        low, high = self.interval
        return f"{self.value:.{shown}g} ± {self.error:.2g}, from {low:.{shown}g} to {high:.{shown}g}"


@dataclass(frozen=True, eq=False)
class CurveEstimate:
    """An unknown function: its values, one standard error, and a band that holds pointwise."""

    value: Curve
    """A function of numbers and arrays, and inside an equation of fields and coordinates."""
    at: np.ndarray
    """Places of the argument."""
    values: np.ndarray
    """At the places `at`."""
    error: np.ndarray
    """Infinite where the data do not determine it, or the model does not describe the data."""
    interval: tuple[np.ndarray, np.ndarray]
    """The lower and the upper edge of the band."""
    by: str = "smoothness by marginal likelihood"
    """How the band came about."""

    @property
    def determined(self) -> bool:
        """Whether there is a figure for the error everywhere."""
        return bool(np.isfinite(self.error).all())

    def __call__(self, s: Any) -> np.ndarray:
        """Its value anywhere."""
        return np.asarray(self.value(np.asarray(s, float)))

    def __str__(self) -> str:
        shown = f"a function from {self.values.min():.3g} to {self.values.max():.3g}"
        return (
            f"{shown}, ± {np.median(self.error):.2g}"
            if self.determined
            else f"{shown} (not known everywhere)"
        )


@dataclass(frozen=True)
class FitVerdict:
    """`reliable`, `not determined`, `wrong model` or `suspect`, and the reasons."""

    status: str
    """One of the four."""
    reasons: tuple[str, ...]
    """Sentences."""

    @property
    def reliable(self) -> bool:
        """Whether estimates and errors can be relied upon."""
        return self.status == RELIABLE

    def __str__(self) -> str:
        return f"{self.status}: " + " ".join(self.reasons)


@dataclass(frozen=True)
class Fitted:
    """One measured quantity of one experiment, and its fitted values."""

    experiment: str
    name: str
    points: np.ndarray
    """Rows (t, x, …), for the values that are not missing."""
    measured: np.ndarray
    predicted: np.ndarray
    error: np.ndarray
    """One standard deviation of the predicted value, by the errors of the estimates."""
    noise: float
    """The standard deviation of the measurements, as known (root mean square) or as estimated."""
    noise_known: bool

    @property
    def residuals(self) -> np.ndarray:
        """measured − predicted."""
        return self.measured - self.predicted


@dataclass(frozen=True, eq=False)
class Fit:
    """Unknowns of a problem found from measurements.

    fit.estimates["k"].value, fit.estimates["k"].error, fit.estimates["k"].interval
    fit.solution(t, x)              # the checked solution at the estimate
    print(fit.verdict)
    """

    problem: Problem
    """With its unknowns open."""
    data: tuple[Measurements, ...]
    """The measurements, one for each experiment."""
    estimates: Mapping[str, Estimate | CurveEstimate]
    """The unknowns by name."""
    correlations: np.ndarray
    """Between the estimates, in their order."""
    noise: Mapping[str, float]
    """The standard deviation of each measured quantity."""
    fitted: tuple[Fitted, ...]
    """Measured and predicted values."""
    verdict: FitVerdict
    """Whether estimates and errors can be relied upon, and why."""
    solution: Solution
    """At the estimate, in the first experiment, compared with a classical solution."""
    level: float = 0.95
    """The probability with which intervals hold the truth."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Tests and counts as plain data."""
    profiles: Mapping[str, np.ndarray] = field(default_factory=dict)
    """(value, rise of the misfit) for unknowns whose likelihood was followed."""
    seconds: float = 0.0
    """How long it took."""
    wobble: Callable[[np.ndarray], np.ndarray] | None = None
    """The standard deviation of u at rows (t, x, …), which neither files nor trained fits have."""

    def error(self, *coordinates: Any) -> np.ndarray:
        """One standard deviation of the solution at t, x, …, by the errors of the estimates.

        Components are the first axis where there are several.
        """
        if self.wobble is None:
            raise HcpinnError(
                "A fit from a file has errors at its measurements only, fit.fitted[0].error; one that was "
                "trained has none."
            )
        arrays = np.broadcast_arrays(*(np.asarray(c, float) for c in coordinates))
        found = self.wobble(np.stack([a.ravel() for a in arrays], axis=1))
        return found.reshape(*found.shape[:1], *arrays[0].shape)[0 if len(found) == 1 else slice(None)]

    @property
    def values(self) -> dict[str, Any]:
        """The estimates as numbers and functions, for `problem.with_parameters(**fit.values)`."""
        return {name: estimate.value for name, estimate in self.estimates.items()}

    def summary(self) -> dict[str, Any]:
        """The facts about this fit as plain data."""
        names = [name for name, e in self.estimates.items() if isinstance(e, Estimate)]
        return {
            "problem": self.problem.name,
            "estimates": {
                name: {
                    **({} if isinstance(e, Estimate) else {"at": e.at.tolist()}),
                    "value": _plain(e.value if isinstance(e, Estimate) else e.values),
                    "error": _plain(e.error),
                    "interval": [_plain(v) for v in e.interval],
                    "by": e.by,
                }
                for name, e in self.estimates.items()
            },
            "level": self.level,
            "correlations": {
                a: dict(zip(names, map(_number, row), strict=True))
                for a, row in zip(names, self.correlations, strict=True)
            },
            "noise": dict(self.noise),
            "verdict": self.verdict.status,
            "verdict_reasons": list(self.verdict.reasons),
            **self.facts,
            "solution": {
                "verdict": self.solution.verdict.status,
                "error": _number(self.solution.verdict.error),
            },
            "wall_s": round(self.seconds, 3),
            "device": self.solution.provenance.device,
            "versions": dict(self.solution.provenance.versions),
        }

    def save_summary(self, path: str | Path) -> Path:
        """Write the facts as JSON."""
        return write_bytes(path, json.dumps(self.summary(), indent=2).encode())

    def save(self, path: str | Path) -> Path:
        """Save everything to one file; `hcpinn.load_fit` opens it again."""
        from .storage import save_fit

        return save_fit(self, path)

    def plot(self, path: str | Path | None = None, *, theme: Theme = "light") -> Any:
        """Draw the data on the solution, and residuals; save to `path` or return the figure."""
        from .figures import data_figure

        return finish(data_figure(self), path, theme)

    def plot_corner(self, path: str | Path | None = None, *, theme: Theme = "light") -> Any:
        """Draw estimates and their correlations; save to `path` or return the figure."""
        from .figures import corner_figure

        return finish(corner_figure(self), path, theme)

    def plot_profiles(self, path: str | Path | None = None, *, theme: Theme = "light") -> Any:
        """Draw likelihoods that are no parabolas; save to `path` or return the figure."""
        from .figures import profile_figure

        return finish(profile_figure(self), path, theme)

    def plot_functions(self, path: str | Path | None = None, *, theme: Theme = "light") -> Any:
        """Draw unknown functions with their bands; save to `path` or return the figure."""
        from .figures import curve_figure

        return finish(curve_figure(self), path, theme)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        facts = {name: str(estimate) for name, estimate in self.estimates.items()}
        facts |= {f"noise of {name}": f"{value:.3g}" for name, value in self.noise.items()}
        return page_of(self.problem, {**facts, "verdict": str(self.verdict)}, self.plot())

    def __repr__(self) -> str:
        lines = [f"{name} = {estimate}" for name, estimate in self.estimates.items()]
        return "\n".join([f"Fit of {self.problem.name}: {self.verdict}", *lines])


def _plain(value: Any) -> Any:
    return _number(value) if np.ndim(value) == 0 else [_number(v) for v in value]


def _number(value: Any) -> float | None:
    return float(value) if value is not None and np.isfinite(value) else None
