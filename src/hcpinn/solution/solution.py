"""A solution: a function of t and x that knows how it came about and how good it is."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from ..descent import Method
from ..errors import HcpinnError, ProblemError
from ..evolution import Evolution
from ..machine.provenance import Provenance
from ..objective.residual import residual_of
from ..outcome import Function, History, PointWeights, Stop
from ..problem import MAX_ORDER, Index, Problem
from .canvas import Theme, finish
from .values import evaluate, on_grid, real, warn_outside
from .verdict import Verdict

if TYPE_CHECKING:
    from ..reference import Reference


@dataclass(frozen=True, eq=False)
class Solution:
    """The function u(t, x) that was found, with its errors, history, stop reason and verdict.

        u = solution(t, x)              # any shapes that broadcast
        u_x = solution.dx(t, x)         # or .dt, .dxx, …

    For systems these return a tuple, one array per field.
    """

    problem: Problem
    """The problem it solves."""
    method: Method | Evolution
    """How it was found."""
    seed: int
    """Of everything random."""
    function: Function
    """What the engine found, at rows (t, x, …)."""
    history: History
    stop: Stop
    """Why the engine stopped; `ACCURACY` if by its own estimate, and the verdict agrees."""
    seconds: float
    """Time spent, without the reference."""
    provenance: Provenance
    """Device and versions."""
    verdict: Verdict
    """Whether it can be relied upon, and why."""
    estimated_error: float | None = None
    """The relative L2 error as the engine estimates it; the verdict does not use it."""
    rel_l2: Mapping[str, float] | None = None
    """Relative L2 error against the reference, per field (per part of a complex one)."""
    rel_l1: Mapping[str, float] | None = None
    """Relative L1 error, likewise."""
    reference: Reference | None = None
    """The classical solution it was compared with."""
    weights: Mapping[str, PointWeights] = field(default_factory=dict)
    """Where the method's weight rule put its weights in the end, by term of the loss."""
    notes: tuple[str, ...] = ()
    """Remarks, such as why one engine took over from another."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "stop", self.verdict.settles(self.stop))

    @cached_property
    def theta(self) -> np.ndarray:
        """The parameters of the function, as one vector."""
        leaves = [np.asarray(leaf, np.float64).ravel() for leaf in jax.tree.leaves(self.function.parameters)]
        return np.concatenate(leaves)

    def __call__(self, *coordinates: Any) -> Any:
        """u at t, x, …: NumPy arrays, or traced ones inside JAX transformations."""
        return self.derivative("", *coordinates)

    def derivative(self, name: str, *coordinates: Any) -> Any:
        """A derivative by name: "x", "xx", "t", "tx", or "" for the value itself."""
        index = self._index(name)
        return self._evaluated(lambda points: self.function.derivative(points, index), coordinates)

    def __getattr__(self, name: str) -> Any:
        if re.fullmatch(r"d[txyz]+", name) is None:
            raise AttributeError(f"'Solution' has no attribute '{name}'")
        return lambda *coordinates: self.derivative(name[1:], *coordinates)

    def on_grid(self, times: Any = 101, *axes: Any) -> dict[str, np.ndarray]:
        """Values on a grid: field → array (times, x, …); NaN outside a curved domain.

        Args:
            times: the times, or how many there are, equally spaced from start to horizon.
            axes: the places along x, … or how many there are.
        """
        found = grid_axes(self.problem, times, *axes)
        warn_outside(self.problem, found)
        return on_grid(self.problem, self.function, *found)

    def to_arrays(self, times: Any = 101, *axes: Any) -> dict[str, np.ndarray]:
        """The coordinates and the fields on a grid by name, as `on_grid` takes it."""
        found = grid_axes(self.problem, times, *axes)
        return {**dict(zip(self.problem.axes, found, strict=True)), **self.on_grid(*found)}

    def export(self, path: str | Path, times: Any = 51, *axes: Any) -> Path:
        """Write the solution on a grid for another program.

        Args:
            path: a file whose name ends with .nc (NetCDF), .pvd (a VTK series for ParaView), .csv, .npz, .mat
                (MATLAB), or .stablehlo (the function itself, as a program).
            times: as `on_grid` takes them.
            axes: likewise.
        """
        from .export import export

        return export(self, Path(path), times, *axes)

    def residual(self, *coordinates: Any) -> Any:
        """uₜ − F at t, x, …: zero where the equation holds."""
        return self._evaluated(self._compiled_residual, coordinates)

    def summary(self) -> dict[str, Any]:
        """The facts about this solution as plain data."""
        from ..descent import to_dict

        finite = self.history.loss[np.isfinite(self.history.loss)]
        return {
            "problem": self.problem.name,
            "parameters": dict(self.problem.parameters),
            "method": self.method.name,
            "method_settings": to_dict(self.method),
            "seed": self.seed,
            "rel_l2": None if self.rel_l2 is None else {k: _number(v) for k, v in self.rel_l2.items()},
            "rel_l1": None if self.rel_l1 is None else {k: _number(v) for k, v in self.rel_l1.items()},
            "estimated_error": _number(self.estimated_error),
            "verdict": self.verdict.status,
            "verdict_error": _number(self.verdict.error),
            "verdict_reasons": list(self.verdict.reasons),
            "engine": self.function.engine,
            "notes": list(self.notes),
            "stop_reason": self.stop.value,
            "steps": sum(count for _, count in self.history.stages),
            "final_loss": _number(finite.min() if finite.size else None),
            "parameters_trained": int(self.theta.size),
            "wall_s": round(self.seconds, 3),
            "reference": None
            if self.reference is None
            else {
                "solver": self.reference.solver,
                "error_estimate": _number(self.reference.error_estimate),
                "notes": list(self.reference.notes),
            },
            "device": self.provenance.device,
            "versions": dict(self.provenance.versions),
            "kernels": self.provenance.kernels,
        }

    def lean(self) -> Solution:
        """The same function and facts without what takes most room in a file.

        Left out are the reference, the weights of points, and the loss at all but a few hundred steps.
        """
        history = self.history.thinned()
        return dataclasses.replace(self, history=history, weights={}, reference=None)

    def save(self, path: str | Path) -> Path:
        """Save everything to one file; `hcpinn.load` opens it again."""
        from .storage import save_solution

        return save_solution(self, path)

    def plot(self, path: str | Path | None = None, *, theme: Theme = "light") -> Any:
        """Draw reference, solution and error side by side.

        Args:
            path: the file to write, a picture or PDF; without one the Matplotlib figure is returned.
            theme: "light" or "dark", the page it will stand on.
        """
        from .figures import field_figure
        from .shown import Shown

        return finish(field_figure(Shown.of(self)), path, theme)

    def plot_slices(self, path: str | Path | None = None, *, theme: Theme = "light") -> Any:
        """Draw profiles at the start, the middle and the end; arguments as for `plot`."""
        from .figures import slice_figure
        from .shown import Shown

        return finish(slice_figure(Shown.of(self)), path, theme)

    def plot_history(self, path: str | Path | None = None, *, theme: Theme = "light") -> Any:
        """Draw the loss at every step; arguments as for `plot`."""
        from .figures import history_figure

        return finish(history_figure(self), path, theme)

    def plot_weights(self, path: str | Path | None = None, *, theme: Theme = "light") -> Any:
        """Draw the final weights of the points over (t, x); arguments as for `plot`."""
        from .figures import weights_figure

        return finish(weights_figure(self), path, theme)

    def animate(self, path: str | Path, *, frames: int = 51, theme: Theme = "light") -> Path:
        """Write the solution in time as a moving picture.

        Args:
            path: the file to write; its name ends with .gif, .webp or .png (an animated PNG).
            frames: how many pictures, equally spaced in time.
            theme: "light" or "dark", the page it will stand on.
        """
        from ..machine.files import write_bytes
        from .animation import animation

        return write_bytes(path, animation(self, path, frames, theme))

    def to_xarray(self, times: Any = 101, *axes: Any) -> Any:
        """The solution on a grid as a labelled `xarray.Dataset` (needs the `data` extra)."""
        try:
            import xarray
        except ImportError as error:
            raise HcpinnError("to_xarray needs xarray: pip install xarray.") from error
        found = self.to_arrays(times, *axes)
        dims = self.problem.axes
        units = {name: {"units": unit} for name, unit in self.problem.units.items()}
        return xarray.Dataset(
            {name: (dims, value, units.get(name)) for name, value in found.items() if name not in dims},
            coords={name: (name, found[name], units.get(name)) for name in dims},
            attrs={"problem": self.problem.name, "method": self.method.name, "verdict": str(self.verdict)},
        )

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from .notebook import html_of

        return html_of(self)

    def page(self, path: str | Path) -> Path:
        """Write one self-contained page with sliders, which evaluates the network in the browser."""
        from .page import write_page

        return write_page(self, path)

    def __repr__(self) -> str:
        return f"Solution of {self.problem.name} by {self.method.name} (seed {self.seed}): {self.verdict}"

    def _index(self, name: str) -> Index:
        axes = self.problem.axes
        if any(letter not in axes for letter in name) or len(name) > MAX_ORDER:
            raise ProblemError(
                f"'{name}' is not a derivative of {self.problem.name}: use up to {MAX_ORDER} letters of "
                f"{', '.join(axes)}."
            )
        return tuple(name.count(axis) for axis in axes)

    @cached_property
    def _compiled_residual(self) -> Any:
        return jax.jit(lambda points: residual_of(self.problem, self.function.derivative, points))

    def _evaluated(self, function: Callable[[Any], Any], coordinates: Sequence[Any]) -> Any:
        values = evaluate(self.problem, function, coordinates)
        warn_outside(self.problem, coordinates)
        return values[0] if len(values) == 1 else values


_POINTS = {1: 257, 2: 129, 3: 33}
"""Places along an axis unless given, by number of space dimensions."""

_MOST = 200_000_000
"""Values that a grid may have: more would fill the memory."""


def grid_axes(problem: Problem, times: Any, *axes: Any) -> list[np.ndarray]:
    """Times and positions, given as arrays or as numbers of equally spaced points."""
    ends: list[tuple[float, float]] = [(problem.start, problem.horizon), *problem.domain.bounds]
    if len(axes) >= len(ends):
        raise ProblemError(
            f"{problem.name} has the coordinates {', '.join(problem.axes)}, but {len(axes) + 1} were given."
        )
    rest = len(ends) - 1 - len(axes)
    given: Sequence[Any] = [times, *axes, *[_POINTS[len(ends) - 1]] * rest]
    found = []
    for name, end, value in zip(problem.axes, ends, given, strict=True):
        counted = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if counted and value < 2:
            raise ProblemError(
                f"{value} is not a number of points along {name}: a grid has at least 2. For the place "
                f"{value} "
                f"write {float(value)}."
            )
        found.append(np.linspace(*end, int(value)) if counted else np.atleast_1d(real(value)))
    count = math.prod(axis.size for axis in found)
    if count > _MOST:
        raise ProblemError(
            f"A grid of {' × '.join(str(axis.size) for axis in found)} points is too large: give fewer than "
            f"{_MOST:.0e} in all."
        )
    return found


def _number(value: Any) -> float | None:
    """A number that JSON can hold, or None."""
    return float(value) if value is not None and np.isfinite(value) else None
