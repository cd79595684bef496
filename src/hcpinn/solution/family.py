"""A family: one function of t, x and parameters, which knows how good it is at the worst of them."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ..errors import ProblemError, unknown_name
from ..evolution import Evolution
from ..family import FamilyFunction
from ..machine.precision import double
from ..machine.provenance import Provenance
from ..outcome import History, Stop
from ..problem import HORIZON, MAX_ORDER, Problem, ranges_of
from .solution import Solution
from .values import real
from .verdict import Verdict

_AT_ONCE = 1 << 22
"""Numbers held at once while points meet the values at all nodes."""

_OVER = 1e-9
"""Of a range: how far a parameter may lie outside of it, which is rounding."""


@dataclass(frozen=True)
class Check:
    """A comparison with a classical solution at some parameters."""

    parameters: Mapping[str, float]
    error: float | None
    """The worst field's relative L2 error; None where there was nothing to compare with."""
    status: str
    why: str
    """How the parameters were chosen."""


@dataclass(frozen=True, eq=False)
class Family:
    """u(t, x; μ) for whole ranges of parameters μ.

        u = family(t, x, gamma2=3.3)            # any shapes that broadcast, parameters too
        family.dx(t, x, gamma2=3.3)             # or .dt, .dxx, …, and .dgamma2
        family.at(gamma2=3.3)                   # an ordinary `Solution`

    For systems these return a tuple, one array per field.
    """

    problem: Problem
    """With its open parameters."""
    method: Evolution
    """The settings of the evolutions."""
    seed: int
    """Of everything random."""
    function: FamilyFunction
    """The interpolated function; call the family itself instead."""
    stop: Stop
    """Why the engine stopped."""
    seconds: float
    """How long it took."""
    provenance: Provenance
    """Device and versions."""
    verdict: Verdict
    """Of the worst parameters that were checked."""
    estimated_error: float | None
    """The worst relative L2 error by the engine's own estimate, at held-out parameters."""
    checks: tuple[Check, ...] = ()
    """All comparisons with classical solutions."""
    kinks: tuple[float, ...] = ()
    """Where the range was split since the solution has a kink in the parameter."""
    notes: tuple[str, ...] = ()
    """Remarks on how it was solved."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "stop", self.verdict.settles(self.stop))

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters u depends on; an open horizon is none of them."""
        return self.function.exact.names

    @property
    def nodes(self) -> dict[str, np.ndarray]:
        """The parameters that were solved for and are interpolated between."""
        return dict(zip(self.names, self.function.interpolation.nodes.T, strict=True))

    @property
    def worst(self) -> Check | None:
        """The check with the largest error."""
        known = [check for check in self.checks if check.error is not None]
        return max(known, key=lambda check: check.error or 0.0, default=None)

    def __call__(self, *coordinates: Any, **parameters: Any) -> Any:
        """u at t, x, … and parameters: NumPy arrays, or traced ones inside JAX transformations."""
        return self.derivative("", *coordinates, **parameters)

    def derivative(self, name: str | Sequence[str], *coordinates: Any, **parameters: Any) -> Any:
        """A derivative along axes and parameters.

        `name` is made of letters, as "x", "xx" or "tx"; one parameter, "gamma2"; or a list of axes and
        parameters, ["x", "gamma2", "gamma2"].
        """
        index, along = self._index(name)
        axes = self.problem.axes
        if len(coordinates) != len(axes):
            raise ProblemError(
                f"{self.problem.name} has the coordinates {', '.join(axes)}, but {len(coordinates)} were "
                "given."
            )
        given = self._given(parameters)
        traced = any(isinstance(v, Tracer) for v in (*coordinates, *given))
        with contextlib.nullcontext() if traced else double():
            found = self._evaluated(coordinates, given, index, along, traced)
        values = self.function.exact.problem.to_fields(found)
        return values[0] if len(values) == 1 else tuple(values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("d") and "problem" in self.__dict__:
            rest = name[1:]
            if rest in self.names or (rest and set(rest) <= set(self.problem.axes)):
                return lambda *coordinates, **parameters: self.derivative(rest, *coordinates, **parameters)
        raise AttributeError(f"'Family' has no attribute '{name}'")

    def at(self, **parameters: float) -> Solution:
        """The solution at some parameters; where the horizon is open and not given, up to the latest."""
        chosen = {k: v for k, v in parameters.items() if k != HORIZON}
        values = [float(real(v)) for v in self._given(chosen)]
        closing = dict(zip(self.names, values, strict=True))
        if HORIZON in self.problem.open:
            closing[HORIZON] = parameters.get(HORIZON, self.problem.open[HORIZON].extremes[-1])
            self._check_within(HORIZON, closing[HORIZON])
        elif HORIZON in parameters:
            raise unknown_name("open parameter", HORIZON, self.names, of=self.problem.name)
        problem = self.problem.with_parameters(**closing)
        with double():
            function = self.function.at(values)
        return Solution(
            problem=problem,
            method=self.method,
            seed=self.seed,
            function=function,
            history=History(np.zeros(0), (("family", len(self.function.interpolation)),)),
            stop=self.stop,
            seconds=self.seconds,
            provenance=self.provenance,
            verdict=self.verdict,
            estimated_error=self.estimated_error,
            notes=("Of a family: the verdict is of the worst parameters that were checked.",),
        )

    def summary(self) -> dict[str, Any]:
        """The facts about this family as plain data."""
        worst = self.worst
        return {
            "problem": self.problem.name,
            "parameters": {k: v for k, v in self.problem.parameters.items() if k not in self.problem.open},
            "open": {k: dataclasses.asdict(v) for k, v in ranges_of(self.problem).items()},
            "method": self.method.name,
            "seed": self.seed,
            "nodes": len(self.function.interpolation),
            "kinks": list(self.kinks),
            "estimated_error": self.estimated_error,
            "verdict": self.verdict.status,
            "verdict_error": self.verdict.error,
            "verdict_reasons": list(self.verdict.reasons),
            "worst": None if worst is None else {"parameters": dict(worst.parameters), "rel_l2": worst.error},
            "checks": [dataclasses.asdict(check) for check in self.checks],
            "stop_reason": self.stop.value,
            "notes": list(self.notes),
            "wall_s": round(self.seconds, 3),
            "device": self.provenance.device,
            "versions": dict(self.provenance.versions),
        }

    def save(self, path: str | Path) -> Path:
        """Save everything to one file; `hcpinn.load` opens it again."""
        from .family_storage import save_family

        return save_family(self, path)

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the solution at the horizon against the first parameter; save to `path` or return the figure.

        The others are in the middle of their ranges. In one space dimension.
        """
        from .canvas import finish
        from .figures import family_figure

        return finish(family_figure(self), path)

    def page(self, path: str | Path) -> Path:
        """Write one self-contained page with sliders, which evaluates the network in the browser."""
        from .page import write_page

        return write_page(self, path)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from .notebook import html_of_family

        return html_of_family(self)

    def __repr__(self) -> str:
        return (
            f"Family of {self.problem.name} over {', '.join(self.names)} (seed {self.seed}): {self.verdict}"
        )

    def _index(self, name: str | Sequence[str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """How often a derivative is taken along each axis and each parameter."""
        axes = self.problem.axes
        parts = [name] if isinstance(name, str) and name in self.names else list(name)
        unknown = [part for part in parts if part not in (*axes, *self.names)]
        if unknown or len(parts) > MAX_ORDER:
            raise ProblemError(
                f"{name!r} is not a derivative of this family: use up to {MAX_ORDER} of "
                f"{', '.join([*axes, *self.names])}, as in ['x', '{self.names[0]}']."
            )
        return tuple(parts.count(a) for a in axes), tuple(parts.count(n) for n in self.names)

    def _given(self, parameters: Mapping[str, Any]) -> list[Any]:
        """The parameters in order, refused where one is missing, unknown or out of its range."""
        for name in parameters:
            if name not in self.names:
                raise unknown_name("open parameter", name, self.names, of=self.problem.name)
        missing = [name for name in self.names if name not in parameters]
        if missing:
            raise ProblemError(f"The family needs a value of {missing[0]}: give {missing[0]}=….")
        for name, value in parameters.items():
            if not isinstance(value, Tracer):
                self._check_within(name, value)
        return [parameters[name] for name in self.names]

    def _check_within(self, name: str, value: Any) -> None:
        own, values = self.problem.open[name], real(value)
        low, high = own.extremes
        over = _OVER * (high - low)
        bad = ~((values >= low - over) & (values <= high + over))
        if bad.any():
            first = float(values[bad].ravel()[0])
            raise ProblemError(
                f"This family holds for {name} from {low:g} to {high:g}, but {name} = {first:g} was asked "
                "for. Solve for a wider range."
            )

    def _evaluated(
        self, coordinates: Sequence[Any], given: Sequence[Any], index: Any, along: Any, traced: bool
    ) -> Any:
        """The derivative in the common shape, components last."""
        xp = jnp if traced else np
        arrays = [jnp.asarray(v) if traced else real(v) for v in (*coordinates, *given)]
        if traced:
            kind = jnp.result_type(float, *arrays)
            arrays = [a.astype(kind) for a in arrays]
        count = len(coordinates)
        try:
            points, values = (xp.broadcast_arrays(*arrays[:count]), xp.broadcast_arrays(*arrays[count:]))
            shape = np.broadcast_shapes(points[0].shape, values[0].shape)
        except ValueError as error:
            shapes = ", ".join(str(a.shape) for a in arrays)
            raise ProblemError(
                f"Coordinates and parameters have shapes {shapes}, which do not broadcast together."
            ) from error
        which = [
            np.broadcast_to(np.arange(own[0].size).reshape(own[0].shape), shape).ravel()
            for own in (points, values)
        ]
        points, values = (xp.stack([a.reshape(-1) for a in own], axis=1) for own in (points, values))
        if traced:
            found = self.function.derivative(
                jnp.asarray(points), jnp.asarray(values), (which[0], which[1]), index, along
            )
        else:
            found = self._in_parts(np.asarray(points), np.asarray(values), which, index, along)
        return found.reshape(*shape, -1)

    def _in_parts(
        self, points: np.ndarray, values: np.ndarray, which: list[np.ndarray], index: Any, along: Any
    ) -> np.ndarray:
        """NumPy's arrays, so many at once that the values at all nodes fit into memory."""
        if len(values) == 1 and not any(along):
            member = self._member(tuple(map(float, values[0])))
            batch = 1 << 16
            parts = [
                np.asarray(member.derivative(jnp.asarray(points[n : n + batch]), index))
                for n in range(0, max(len(points), 1), batch)
            ]
            return np.concatenate(parts)[which[0]]
        batch = max(1, _AT_ONCE // len(self.function.interpolation))
        parts = []
        for n in range(0, max(len(which[0]), 1), batch):
            own, first = np.unique(which[0][n : n + batch], return_inverse=True)
            used, second = np.unique(which[1][n : n + batch], return_inverse=True)
            found = self.function.derivative(
                jnp.asarray(points[own]), jnp.asarray(values[used]), (first, second), index, along
            )
            parts.append(np.asarray(found))
        return np.concatenate(parts)

    @cached_property
    def _members(self) -> dict[tuple[float, ...], Any]:
        return {}

    def _member(self, values: tuple[float, ...]) -> Any:
        """The function at some parameters; the last one is kept."""
        if values not in self._members:
            self._members.clear()
            self._members[values] = self.function.at(values)
        return self._members[values]
