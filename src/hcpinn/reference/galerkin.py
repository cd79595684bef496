"""Periodic problems in any number of dimensions: Fourier–Galerkin in space, ETDRK4 in time.

The state is the Fourier coefficients with wave numbers −K…K per axis, an odd number, so
that no mode stands for two. Products are formed on a grid fine enough that none of their
aliases reaches a kept mode: M ≥ (p + 1) K + 1 points for p factors. F with more than three
factors, or not polynomial, is treated as three factors; refinement then shows what remains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex
from scipy.fft import next_fast_len

from ..equation.probes import Slot
from ..equation.projection import initial_on_grid, mode_numbers
from ..equation.split import Split
from ..machine.background import raise_if_abandoned
from ..problem import Index, Problem
from .etdrk4 import Coefficients, Linear, advance, coefficients
from .result import VANISHING

GRADED_LEVELS = 12
"""Halvings of the first output interval where the data are rough, so that early steps are short."""


_BATCH = 1 << 26
"""Bytes of coefficients that are evaluated together: one large product is cheaper than many small ones."""

_WORST_CONDITION = 1e6
"""Condition number up to which eigenvectors of a mode's matrix are used; it costs as many digits."""

_OVERFLOW = 1e100
_UNSTABLE_GROWTH, _UNSTABLE_TAIL = 1e3, 1e-2


Plan = list[list[tuple[float, float, int]]]
"""For each output interval the pieces between breaks: begin, end, and the fewest steps in it."""


class Tables:
    """The scheme's coefficients by step, those of the last few steps kept."""

    def __init__(self, linear: Linear):
        self._linear = linear
        self._known: dict[str, Coefficients] = {}

    def of(self, step: float) -> Coefficients:
        key = f"{step:.10e}"
        if key not in self._known:
            if len(self._known) > 2:
                self._known.pop(next(iter(self._known)))
            self._known[key] = coefficients(self._linear, step)
        return self._known[key]


class Galerkin:
    """One problem on one set of modes: transforms, the two parts of F, and time stepping."""

    def __init__(
        self, problem: Problem, modes: int, parts: Split, middle: list[dict[Index, complex]] | None = None
    ):
        """`parts` says what of F is linear; `middle` adds linear terms that N takes off again."""
        self.problem = problem
        self.modes = modes
        self.parts = parts
        self.half = not any(problem.complex_fields)
        self.dimensions = len(problem.space)
        self.points: int = next_fast_len((parts.factors + 1) * modes + 1, real=True)  # type: ignore[assignment]
        numbers = mode_numbers(modes, self.dimensions, self.half)
        self.wavenumbers = [
            (2 * np.pi / length * k).reshape([-1 if a == axis else 1 for a in range(self.dimensions)])
            for axis, (k, length) in enumerate(zip(numbers, problem.domain.lengths, strict=True))
        ]
        self.shape = (len(problem.fields), *map(len, numbers))
        added = np.zeros(self.shape, dtype=complex)
        for number, own in enumerate(middle or []):
            for index, coefficient in own.items():
                added[number] += coefficient * self.multiplier(index)
        self.added = jnp.asarray(added)
        self.linear, self.left = self._linear(added)
        self.advance = jax.jit(partial(advance, self.nonlinear))

    def _linear(self, added: np.ndarray) -> tuple[Linear, Array | None]:
        """L, and the coupling of fields that it leaves to N (shape fields, fields, modes…), if any.

        Modes whose matrix has no good eigenvectors, such as k = 0 of the wave equation, keep its
        diagonal only.
        """
        count = self.shape[0]
        matrix = np.zeros((count, *self.shape), dtype=complex)
        matrix[np.arange(count), np.arange(count)] = added
        for (number, (source, index)), coefficient in self.parts.linear.items():
            matrix[number, source] += coefficient * self.multiplier(index)
        diagonal = matrix[np.arange(count), np.arange(count)]
        if all(number == source for number, (source, _) in self.parts.linear):
            return Linear(diagonal), None
        each = np.moveaxis(matrix, (0, 1), (-2, -1))
        values, vectors = np.linalg.eig(each)
        bad = ~(np.linalg.cond(vectors) < _WORST_CONDITION)
        vectors[bad] = np.eye(count)
        values[bad] = np.moveaxis(diagonal, 0, -1)[bad]
        left = np.where(bad[..., None, None], each * (1 - np.eye(count)), 0)
        linear = Linear(np.moveaxis(values, -1, 0), vectors, np.linalg.inv(vectors))
        return linear, jnp.asarray(np.moveaxis(left, (-2, -1), (0, 1))) if left.any() else None

    def multiplier(self, index: Index) -> np.ndarray:
        """The derivative ∂^index as a factor on the coefficients, Π (i k)ⁿ."""
        factor = np.ones((1,) * self.dimensions, dtype=complex)
        for order, k in zip(index[1:], self.wavenumbers, strict=True):
            factor = factor * (1j * k) ** order
        return factor

    def to_grid(self, spectrum: Complex[Array, "..."]) -> Array:
        """Values on the product grid of the field with these coefficients."""
        k, axes = self.modes, range(-self.dimensions, 0)
        for axis in axes:
            if self.half and axis == -1:
                parts = [spectrum, self._gap(spectrum, axis, self.points // 2 - k)]
            else:
                low, high = jnp.split(spectrum, [k + 1], axis=axis)
                parts = [low, self._gap(spectrum, axis, self.points - 2 * k - 1), high]
            spectrum = jnp.concatenate(parts, axis=axis)
        if self.half:
            return jnp.fft.irfftn(spectrum, s=(self.points,) * self.dimensions, axes=axes, norm="forward")
        return jnp.fft.ifftn(spectrum, axes=axes, norm="forward")

    def from_grid(self, values: Array) -> Complex[Array, "..."]:
        """Coefficients of the kept modes of a function on the product grid."""
        k, axes = self.modes, range(-self.dimensions, 0)
        spectrum = (jnp.fft.rfftn if self.half else jnp.fft.fftn)(values, axes=axes, norm="forward")
        for axis in axes:
            low = jax.lax.slice_in_dim(spectrum, 0, k + 1, axis=axis)
            if self.half and axis == -1:
                spectrum = low
            else:
                size = spectrum.shape[axis]
                high = jax.lax.slice_in_dim(spectrum, size - k, size, axis=axis)
                spectrum = jnp.concatenate([low, high], axis=axis)
        return spectrum

    @staticmethod
    def _gap(spectrum: Array, axis: int, size: int) -> Array:
        shape = list(spectrum.shape)
        shape[axis] = size
        return jnp.zeros(shape, spectrum.dtype)

    @cached_property
    def grid(self) -> list[np.ndarray]:
        """Space coordinates of the product grid, each along its own axis."""
        axes = [
            a + length * np.arange(self.points) / self.points
            for a, length in zip(self.problem.domain.lower, self.problem.domain.lengths, strict=True)
        ]
        return list(np.meshgrid(*axes, indexing="ij", sparse=True))

    @cached_property
    def _high(self) -> np.ndarray:
        """Which modes are in the upper third along some axis."""
        reach = np.zeros((1,) * self.dimensions)
        for k in self.wavenumbers:
            reach = np.maximum(reach, np.abs(k) / np.abs(k).max())
        return reach > 2 / 3

    def arguments(self, state: Complex[Array, "..."], wanted: Sequence[Slot]) -> dict[Slot, Array]:
        """The wanted derivatives of the fields on the product grid, by one batched transform."""
        if not wanted:
            return {}
        spectra = jnp.stack([state[number] * self.multiplier(index) for number, index in wanted])
        values = self.to_grid(spectra)
        are_complex = self.problem.complex_fields
        return {s: v if are_complex[s[0]] else jnp.real(v) for s, v in zip(wanted, values, strict=True)}

    def nonlinear(self, time: Array, state: Complex[Array, "..."]) -> Complex[Array, "..."]:
        """N = F(u) − L u as coefficients.

        Arguments of F that are exactly linear are left at zero here, as L has them.
        """
        known = self.arguments(state, self.parts.remaining)
        zero = jnp.zeros(())
        coordinates = [time, *map(jnp.asarray, self.grid)]
        values = self.problem.evaluate_rhs(
            lambda number, index: known.get((number, index), zero), coordinates
        )
        shape = (self.points,) * self.dimensions
        whole = self.from_grid(jnp.stack([jnp.broadcast_to(jnp.asarray(v) + 0.0, shape) for v in values]))
        if self.left is not None:
            whole = whole + jnp.sum(self.left * state, axis=1)
        return whole - self.added * state

    def solve(
        self,
        initial: np.ndarray,
        times: np.ndarray,
        axes: list[np.ndarray],
        *,
        steps: int,
        plan: Plan,
        graded: bool,
    ) -> tuple[list[np.ndarray], float]:
        """Values at the times on the grid of `axes`, one array per field, and the size of the tail.

        The plan gives the pieces that each output interval is integrated in; `steps` multiplies their steps.

        The tail is the L² size of the upper third of the modes at the worst time after the
        start, relative to the largest size of the field; infinite where the steps were unstable,
        as growth out of the highest modes shows. Values are NaN after an overflow.
        """
        evaluate = self._evaluator(axes)
        state = jnp.asarray(initial)
        shape = (len(times), *(len(a) for a in axes))
        values = [np.full(shape, np.nan, dtype=complex if c else float) for c in self.problem.complex_fields]
        for array, start in zip(values, initial_on_grid(self.problem, axes), strict=True):
            array[0] = start
        tables = Tables(self.linear)
        off = 256 * np.spacing(np.abs(times).max())
        sizes, tails, pending = [], [], []
        for number in range(1, len(times)):
            for begin, end, least in plan[number - 1]:
                if begin == times[0] and graded:
                    state = self._graded_start(state, end - begin, least * steps, off)
                else:
                    table = tables.of((end - begin) / (least * steps))
                    state = self._steps(state, begin, end - begin, least * steps, table, off)
            spectrum = np.asarray(state)
            if not np.abs(spectrum).max() < _OVERFLOW:
                return values, np.inf
            sizes.append(np.linalg.norm(spectrum.reshape(len(spectrum), -1), axis=1))
            tails.append(np.linalg.norm(spectrum[:, self._high], axis=1))
            pending.append(spectrum)
            if number == len(times) - 1 or len(pending) * spectrum.nbytes > _BATCH:
                done = slice(number + 1 - len(pending), number + 1)
                for array, batch in zip(values, evaluate(np.stack(pending)), strict=True):
                    array[done] = batch
                pending.clear()
        largest = np.max(sizes, axis=0)
        largest = np.maximum(largest, max(VANISHING * float(largest.max()), 1e-300))
        tail = float(np.max(np.max(tails, axis=0) / largest))
        grown = float(largest.max()) > _UNSTABLE_GROWTH * max(float(np.linalg.norm(initial)), 1e-300)
        return values, np.inf if grown and tail > _UNSTABLE_TAIL else tail

    def _steps(
        self, state: Array, time: float, duration: float, steps: int, table: Coefficients, off: float
    ) -> Array:
        raise_if_abandoned()
        step = jnp.asarray(duration / steps)
        return self.advance(
            state, jnp.asarray(time), step, jnp.asarray(steps), table, jnp.asarray(min(off, 0.1 * duration))
        )

    def _graded_start(self, state: Array, interval: float, steps: int, off: float) -> Array:
        """The first piece in pieces whose lengths double, each with `steps` steps.

        Rough data make the time derivatives of N grow like powers of 1/t, so that a step in
        proportion to t keeps the scheme's order where equal steps would lose it.
        """
        time = float(self.problem.start)
        for level in (GRADED_LEVELS, *range(GRADED_LEVELS, 0, -1)):
            duration = interval * 0.5**level
            table = coefficients(self.linear, duration / steps)
            state = self._steps(state, time, duration, steps, table, off)
            time += duration
        return state

    def _evaluator(self, axes: list[np.ndarray]) -> Callable[[np.ndarray], list[np.ndarray]]:
        """Coefficients at some times ↦ values on the output grid, by direct sums along each axis."""
        waves = []
        for a, x, k in zip(self.problem.domain.lower, axes, self.wavenumbers, strict=True):
            waves.append(np.exp(1j * np.outer(k.ravel(), x - a)))
        if self.half:
            waves[-1][1:] *= 2  # each kept mode k > 0 stands for −k as well; the real part adds it

        def evaluate(spectra: np.ndarray) -> list[np.ndarray]:
            values = np.moveaxis(spectra, 1, 0)
            for wave in waves:  # the summed axis is always the first one left, its values go last
                values = np.tensordot(values, wave, axes=(2, 0))
            return [v if c else v.real for v, c in zip(values, self.problem.complex_fields, strict=True)]

        return evaluate
