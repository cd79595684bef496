"""The reference of a periodic problem: modes and steps refined until the values stop changing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np

from ..equation import scan
from ..equation.probes import slots
from ..equation.projection import project
from ..equation.split import middle_slopes, split
from ..errors import NoReferenceError
from ..machine.memory import fits
from ..problem import Index, Problem
from .galerkin import Galerkin, Plan
from .result import HOPELESS, ROUNDING, SolverResult, relative_change, weighed
from .smoothness import needed_modes, sample, seam_notes

_LOOK_MODES = {1: 1024, 2: 96, 3: 32}
_FEWEST_MODES = {1: 64, 2: 12, 3: 8}
_PROJECTED_MODES = {1: 1024, 2: 32, 3: 8}
"""By number of dimensions: modes of the first look at the initial data, the fewest to compute with, and
the fewest to project on, from which smaller numbers are cut."""

_MOST_MODES = {1: 4096, 2: 384, 3: 96}
_MOST_STEPS, _MOST_WORK = 2e5, 1e9
"""Most steps, and largest product of steps and grid points, in one run: a minute or two for two cores."""


def solve_fourier(
    problem: Problem, times: np.ndarray, axes: list[np.ndarray], tolerance: float
) -> Iterator[SolverResult]:
    """Better and better ones; the last is as good as it gets."""
    return _Refinement(problem, times, axes, tolerance).run()


def _varied(problem: Problem) -> int:
    """The fewest modes per axis that hold what F and the data do of themselves."""
    most = _MOST_MODES[len(problem.space)]
    needed = 0
    for name, line in zip(problem.space, scan(problem).space, strict=True):
        length = line.high - line.low
        shortest = min(line.shortest, line.moving if line.moving > 0 else math.inf)
        own = max(1.2 * length / shortest, 2 * float(line.swings(line.low, line.high)))
        if own > most:
            raise NoReferenceError(
                f"F or the data of {problem.name} change within {length / own:.1g} of {name}, which takes "
                f"{own:.0f} Fourier modes; the reference can use {most}. Widen what is narrow."
            )
        needed = max(needed, math.ceil(own))
    return needed


def _plan(problem: Problem, times: np.ndarray) -> Plan:
    """Each output interval cut at breaks, with four steps for every swing of F or the data at the least."""
    line = scan(problem).time
    tapered, plan = line.tapered, []
    for begin, end in itertools.pairwise(times.tolist()):
        cuts = [begin, *(b for b in tapered if begin < b < end), end]
        plan.append([
            (a, b, max(1, math.ceil(4 * float(line.swings(a, b))))) for a, b in itertools.pairwise(cuts)
        ])  # fmt: skip
    return plan


class _Refinement:
    """Runs at different numbers of modes and steps, each computed once, and their outcomes."""

    def __init__(self, problem: Problem, times: np.ndarray, axes: list[np.ndarray], tolerance: float):
        self.problem, self.times, self.axes, self.tolerance = problem, times, axes, tolerance
        self.target = max(tolerance, ROUNDING)
        self.dimensions = len(problem.space)
        self.half = not any(problem.complex_fields)
        self.parts = split(problem)
        look = _LOOK_MODES[self.dimensions]
        seen = sample(problem, look, self.half)
        needed = needed_modes(seen, min(tolerance, 1e-8), self.half)
        self.graded = needed is None
        self.modes = max(_FEWEST_MODES[self.dimensions], look // 8 if needed is None else needed + 4)
        self.modes = max(self.modes, _varied(problem))
        if not fits(self._bytes(self.modes)):
            raise NoReferenceError(
                f"The Fourier reference of {problem.name} takes modes up to {self.modes} per axis, and about "
                f"{self._bytes(self.modes) / 2**30:.1f} GiB of memory, which are not free."
            )
        self.plan = _plan(problem, times)
        self.least_steps = sum(least for pieces in self.plan for *_, least in pieces)
        self.rough = any(line.jumps or line.moving == 0 for line in scan(problem).space)
        self.steps = 1
        self.notes = list(seam_notes(problem)) if self.graded else []
        if self.graded and not self.notes:
            size = float(np.abs(seen[..., -1]).max())
            self.notes.append(
                f"The initial data are not smooth, or vary very fast: their Fourier coefficients are still "
                f"{size:.1e} at mode {look}. The start is computed with graded steps."
            )
        self.projected: dict[int, np.ndarray] = {}
        self.middle = self._middle()
        self.solvers: dict[int, Galerkin] = {}
        self.runs: dict[tuple[int, int], tuple[list[np.ndarray], float]] = {}

    def _initial(self, modes: int) -> np.ndarray:
        """Coefficients of the initial data for K = modes, cut from a larger projection if there is one."""
        larger = [k for k in self.projected if k >= modes]
        if not larger:
            larger = [max(modes, _PROJECTED_MODES[self.dimensions])]
            self.projected[larger[0]] = project(self.problem, larger[0], self.half)
        values = self.projected[min(larger)]
        for axis in range(1, values.ndim):
            size = values.shape[axis]
            half = self.half and axis == values.ndim - 1
            keep = [*range(modes + 1), *([] if half else range(size - modes, size))]
            values = np.take(values, keep, axis=axis)
        return values

    def _middle(self) -> list[dict[Index, complex]]:
        """Linear terms near the slopes of F, over the initial state and the horizon."""
        galerkin = Galerkin(self.problem, self.modes, self.parts)
        wanted = slots(self.problem)
        known = jax.jit(lambda state: galerkin.arguments(state, wanted))(
            jnp.asarray(self._initial(self.modes))
        )
        times = jnp.linspace(self.problem.start, self.problem.horizon, 3).reshape(-1, *[1] * self.dimensions)
        coordinates = [times, *(jnp.asarray(g)[None] for g in galerkin.grid)]
        return middle_slopes(self.problem, self.parts, {s: v[None] for s, v in known.items()}, coordinates)

    def _solve(self, modes: int, steps: int) -> tuple[list[np.ndarray], float]:
        if (modes, steps) not in self.runs:
            if modes not in self.solvers:
                self.solvers[modes] = Galerkin(self.problem, modes, self.parts, self.middle)
            self.runs[modes, steps] = self.solvers[modes].solve(
                self._initial(modes), self.times, self.axes, steps=steps, plan=self.plan, graded=self.graded
            )
        return self.runs[modes, steps]

    def _change(self, one: tuple[int, int], other: tuple[int, int]) -> float:
        return relative_change(self._solve(*one)[0], self._solve(*other)[0])

    def _allowed(self, modes: int, steps: int) -> bool:
        points = ((self.parts.factors + 1) * modes) ** self.dimensions
        total = steps * self.least_steps
        return (
            fits(self._bytes(modes))
            and modes <= _MOST_MODES[self.dimensions]
            and total <= _MOST_STEPS
            and total * points <= _MOST_WORK
        )

    def _bytes(self, modes: int) -> float:
        """About how much memory the arguments of F and the stages of a step take."""
        points = ((self.parts.factors + 1) * modes) ** self.dimensions
        return 16.0 * points * (len(slots(self.problem)) + 8)

    def run(self) -> Iterator[SolverResult]:
        self._resolve()
        while True:
            in_time = self._refine_steps()
            wider = self._wider()
            change = self._change_in_space(wider)
            # Coefficients of what jumps fall like 1/k: half as many modes more remove a third of the error.
            in_space = 3 * change if self.rough else change
            if in_time + in_space <= HOPELESS:
                yield self._result(wider, in_time, in_space)
            if change <= self.target or not self._allowed(wider, 2 * self.steps):
                break
            self.modes = wider
        if not in_time + in_space <= HOPELESS:
            raise NoReferenceError(
                f"The Fourier reference of {self.problem.name} did not converge: with modes up to "
                f"{self.modes} "
                f"and {self.steps * 2} steps per output interval its relative change is still "
                f"{in_time + in_space:.1e}. The solution may blow up or form a shock; shorten the horizon, "
                "or add diffusion."
            )

    def _result(self, wider: int, in_time: float, in_space: float) -> SolverResult:
        values = self._solve(self.modes, 2 * self.steps)[0]
        points = " × ".join([str(self.solvers[self.modes].points)] * self.dimensions)
        start = " after a graded start" if self.graded else ""
        solver = (
            f"Fourier–Galerkin with modes up to {self.modes} per axis (products on {points} points), ETDRK4 "
            f"with {2 * self.steps * self.least_steps} steps{start}; "
            f"checked against half as many steps and modes up to {wider}."
        )
        return weighed(values, in_time, in_space, self.tolerance, solver, self.notes)

    def _resolve(self) -> None:
        """First guesses that are stable and hold the solution's spectrum."""
        while True:
            tail = self._solve(self.modes, self.steps)[1]
            if math.isfinite(tail):
                # The spectrum of a smooth solution falls off like e^{−ak}; aim below the tolerance.
                factor = math.log(self.target / 10) / math.log(max(min(tail, 0.5), 1e-300))
                wider = self._wider(factor=min(max(factor, 1.25), 4.0))
                allowed = self._allowed(wider, 2 * self.steps)
                if tail <= self.target or (tail < HOPELESS and not allowed):
                    return
                if not allowed:
                    raise NoReferenceError(
                        f"The Fourier reference of {self.problem.name} is not resolved: modes above "
                        f"{2 * self.modes // 3} still hold {tail:.1e} of the solution. It may form a shock; "
                        "add diffusion, or shorten the horizon."
                    )
                self.modes = wider
            elif self._allowed(self.modes, 4 * self.steps):
                self.steps *= 4
            else:
                raise NoReferenceError(
                    f"The Fourier reference of {self.problem.name} grows without bound even with "
                    f"{self.steps} steps per output interval. The solution may blow up within the horizon, "
                    "or the equation be ill-posed (as uₜ = −uₓₓ is); shorten the horizon or check the signs "
                    "in rhs."
                )

    def _refine_steps(self) -> float:
        """Raise `steps` until doubling it changes little; the estimated error of the finer run.

        That is the change itself, or a seventh of it once the changes are seen to fall at least
        with the third order (the scheme's fourth would allow a fifteenth). Where more steps no
        longer help, rounding has taken over, and the number of steps before counts.
        """
        change = self._change_in_time()
        error = change
        while error > self.target:
            # With the fourth order, this many doublings; the next round corrects a wrong guess.
            wanted = math.log2(change / 7 / self.target) / 4 if math.isfinite(change) else 2
            factor = 2 ** min(max(math.ceil(wanted), 1), 4)
            if not self._allowed(self.modes, 2 * factor * self.steps):
                break
            self.steps *= factor
            refined = self._change_in_time()
            if math.isfinite(change) and not refined < change:
                self.steps //= factor
                break
            error = refined / 7 if refined * factor**3 <= change < math.inf else refined
            change = refined
        return error

    def _change_in_time(self) -> float:
        return self._change((self.modes, 2 * self.steps), (self.modes, self.steps))

    def _change_in_space(self, wider: int) -> float:
        """The change when modes are added, with steps short enough for the added ones to be stable."""
        steps = self.steps
        while not math.isfinite(self._solve(wider, steps)[1]) and self._allowed(wider, 2 * steps):
            steps *= 2
        return self._change((wider, steps), (self.modes, steps))

    def _wider(self, factor: float = 1.5) -> int:
        """The next larger, even number of modes."""
        return 2 * math.ceil(factor * self.modes / 2)
