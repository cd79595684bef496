"""What is measured, as a function of the fields and their derivatives, with its slopes."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..errors import ProblemError
from ..evolution.sensitivity import Named
from ..problem import Index, Problem
from ..problem.calling import call_by_name
from ..problem.expression import Expression, coordinate, field
from .measurements import Measurements


class Observation:
    """All that one experiment measured: rows in the order of names, then points; complex values are two."""

    def __init__(self, problem: Problem, named: Named, data: Measurements):
        """`problem` is closed at nominal values, with the experiment's settings."""
        self.problem, self.named, self.data = problem, named, data
        _check(problem, data)
        self.indices = self._touched()
        self.complex = {
            name: name in problem.fields
            and name not in data.observe
            and problem.complex_fields[problem.fields.index(name)]
            for name in data.values
        }
        parts, noises, labels = [], [], []
        for number, (name, values) in enumerate(data.values.items()):
            if np.iscomplexobj(values) and not self.complex[name]:
                raise ProblemError(
                    f"'{name}' was measured as complex numbers, but is real in {problem.name}."
                )
            own = [np.real(values), np.imag(values)] if self.complex[name] else [values]
            noise = data.noise[name]
            for part in own:
                parts.append(part)
                noises.append(np.full(len(part), np.nan) if noise is None else noise)
                labels.append(np.full(len(part), number))
        stacked = np.concatenate(parts)
        self.kept = np.flatnonzero(np.isfinite(stacked))
        self.values = stacked[self.kept]
        self.noise = np.concatenate(noises)[self.kept]
        """Standard deviations, NaN where they are to be estimated."""
        self.label = np.concatenate(labels)[self.kept]
        """The number of the name that each value belongs to."""
        self.row = (np.arange(len(stacked)) % len(data.points))[self.kept]
        """The point that each value belongs to."""

    def predict(self, theta: np.ndarray, fields: np.ndarray) -> np.ndarray:
        """What would be measured; fields are index × component × point."""
        return np.asarray(self._compiled(jnp.asarray(theta), fields))[self.kept]

    def slopes(self, theta: np.ndarray, fields: np.ndarray, tangents: np.ndarray) -> np.ndarray:
        """Its derivative by θ: value × parameter. Tangents have the parameters last."""
        found = self._compiled_slopes(jnp.asarray(theta), fields, np.moveaxis(tangents, -1, 0))
        return np.asarray(found).T[self.kept]

    def _touched(self) -> tuple[Index, ...]:
        zero: Index = (0,) * len(self.problem.axes)
        touched: set[Index] = {zero}

        def run(points: Array) -> list[Array]:
            def lookup(number: int, index: Index) -> Array:
                touched.add(index)
                return points[:, 0] * (1 + 1j if self.problem.complex_fields[number] else 1.0)

            return self._evaluated(lookup, points, self.problem.parameters)

        try:
            jax.eval_shape(run, jnp.ones((3, len(self.problem.axes))))
        except ProblemError as error:
            raise ProblemError(str(error).replace("The right-hand side", "observe")) from error
        return tuple(sorted(touched, key=lambda i: (sum(i), i)))

    def _evaluated(self, lookup: Any, points: Array, parameters: Any) -> list[Array]:
        problem, space = self.problem, self.problem.space
        available: dict[str, Any] = {
            name: field(lambda index, n=number: lookup(n, index), space)
            for number, name in enumerate(problem.fields)
        }
        for position, name in enumerate(problem.axes):
            available[name] = coordinate(points[:, position], position - 1, space)
        available.update(parameters)
        found = []
        for name in self.data.values:
            function = self.data.observe.get(name)
            if function is None:
                value = available[name]
            else:
                value = call_by_name(function, f"observe of '{name}'", available)
            value = jnp.asarray(value.value if isinstance(value, Expression) else value)
            value = jnp.broadcast_to(value, points.shape[:1])
            is_complex = function is None and problem.complex_fields[problem.fields.index(name)]
            if not is_complex and jnp.iscomplexobj(value):
                raise ProblemError(
                    f"observe gives complex numbers for '{name}'. Use abs(u), u.real or u.imag."
                )
            found += [value.real, value.imag] if is_complex else [value]
        return found

    def _rows(self, theta: Array, fields: Array) -> Array:
        known = {
            index: self.problem.to_fields(jnp.moveaxis(fields[number], 0, -1))
            for number, index in enumerate(self.indices)
        }
        parameters = {**self.problem.parameters, **self.named(theta)}
        points = jnp.asarray(self.data.points)
        return jnp.concatenate(self._evaluated(lambda n, i: known[i][n], points, parameters))

    @cached_property
    def _compiled(self) -> Any:
        return jax.jit(self._rows)

    @cached_property
    def _compiled_slopes(self) -> Any:
        def run(theta: Array, fields: Array, tangents: Array) -> Array:
            def along(unit: Array, tangent: Array) -> Array:
                return jax.jvp(self._rows, (theta, fields), (unit, tangent))[1]

            return jax.lax.map(lambda pair: along(*pair), (jnp.eye(len(theta)), tangents))

        return jax.jit(run)


def _check(problem: Problem, data: Measurements) -> None:
    """Refuse measurements that cannot be of this problem."""
    axes = problem.axes
    if data.points.shape[1] != len(axes):
        raise ProblemError(
            f"{problem.name} has the coordinates {', '.join(axes)}, but the {data.name} have "
            f"{data.points.shape[1]}: write Measurements({', '.join(axes)}, …)."
        )
    for name in data.values:
        if name not in problem.fields and name not in data.observe:
            raise ProblemError(
                f"'{name}' was measured, but {problem.name} has the fields {', '.join(problem.fields)}. "
                f"Say what it is: observe={{'{name}': lambda {problem.fields[0]}: …}}."
            )
    ends = [(problem.start, problem.horizon), *problem.domain.bounds]
    for axis, (low, high) in enumerate(ends):
        values, room = data.points[:, axis], 1e-9 * (high - low)
        outside = (values < low - room) | (values > high + room)
        if outside.any():
            raise ProblemError(
                f"{int(outside.sum())} of {len(values)} points of the {data.name} lie outside "
                f"{problem.name}: {axes[axis]} = {values[outside][0]:g}, but it goes from {low:g} to "
                f"{high:g}."
            )
