"""What F, the sources and the data do of their own accord in time and in space.

The parts of F that depend on coordinates alone are picked out of its program and followed along each axis with
interval bounds, and so are initial and boundary data: jumps, kinks, pulses of any width, and how fast they change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..errors import ProblemError
from ..machine.precision import double
from ..problem import Problem
from ..problem.expression import watch_differentiated
from .bounds import Bounds, Complex, Real, exactly
from .mesh import Feature, Mesh, cut
from .probes import slots
from .program import Name, Operation, Program, Use

_PROBES, _WAYS = 6, 16
"""Places of the other coordinates, besides all of them at once; ways through the space of states."""

_SWITCHES = {"lt", "le", "gt", "ge", "sign", "floor", "ceil", "round"}
_KINKS = {"max", "min", "abs", "clamp"}

_BOTH = 1e-9
"""Relative distance within which two features are one."""


@dataclass(frozen=True)
class Line:
    """What happens along one axis."""

    low: float
    high: float
    features: tuple[Feature, ...]
    """Jumps, kinks and pulses that stay where they are, in order."""
    curves: tuple[tuple[np.ndarray, np.ndarray], ...]
    """For each part of F and each datum its cuts, and the sum of its changes up to there in units of its range."""
    moving: float
    """The shortest length of features that move along the axis in the course of another; infinite without."""

    @property
    def breaks(self) -> list[float]:
        """Where an integrator has to stop and a panel to end: jumps, and begin, middle and end of pulses."""
        places = {p for f in self.features for p in (f.begin, f.middle, f.end)}
        least = 1e-13 * max(abs(self.low), abs(self.high), self.high - self.low)
        found = [self.low]
        for place in sorted(places):
            if place - found[-1] > least and self.high - place > least:
                found.append(place)
        return found[1:]

    @property
    def jumps(self) -> list[float]:
        """Places of jumps and kinks."""
        return [f.begin for f in self.features if f.length == 0]

    @property
    def shortest(self) -> float:
        """The shortest length of a pulse; infinite without."""
        return min((f.length for f in self.features if f.length > 0), default=np.inf)

    def swings(self, begin: Any, end: Any) -> Any:
        """How often something goes through its whole range between two places: the most of all."""
        found: Any = np.zeros(np.broadcast_shapes(np.shape(begin), np.shape(end)))
        for edges, total in self.curves:
            found = np.maximum(found, np.interp(end, edges, total) - np.interp(begin, edges, total))
        return found


@dataclass(frozen=True)
class Scan:
    """What happens along each axis, time first."""

    lines: tuple[Line, ...]
    jumps_in_state: bool
    """Whether F jumps as a function of the solution, as `np.where(u > 0, 1, −1)` does."""

    @property
    def time(self) -> Line:
        return self.lines[0]

    @property
    def space(self) -> tuple[Line, ...]:
        return self.lines[1:]


_KNOWN: WeakKeyDictionary[Problem, Scan] = WeakKeyDictionary()


def scan(problem: Problem) -> Scan:
    """Follow F, the initial and the boundary data along every axis."""
    if problem not in _KNOWN:
        with double():
            _KNOWN[problem] = _scan(problem)
    return _KNOWN[problem]


def _scan(problem: Problem) -> Scan:
    equation = _Equation(problem)
    parts: list[_Part] = [equation, *_data(problem)]
    ends = [(problem.start, problem.horizon), *problem.domain.bounds]
    if equation.differentiates_jump(ends):
        raise ProblemError(
            f"The right-hand side of {problem.name} differentiates a quantity that jumps in space, such as "
            "(np.where(x < 0.5, 1, 0.1) * u.x).x. The derivative of a jump is a point source, which values "
            "at points cannot hold. Smooth the jump over a short length, as in "
            "0.55 - 0.45 * np.tanh((x - 0.5) / 0.01)."
        )
    lines = []
    for axis, (low, high) in enumerate(ends):
        meshes = [part.along(axis, ends) for part in parts]
        known = problem.breaks.get(problem.axes[axis], ())
        lines.append(_line(low, high, [m for m in meshes if m is not None], known))
    return Scan(tuple(lines), equation.jumps_in_state(ends))


def _line(low: float, high: float, meshes: list[tuple[Mesh, int]], known: Iterable[float]) -> Line:
    fixed = [Feature(float(p), float(p), 0.0) for p in known]
    curves, moving = [], np.inf
    for mesh, columns in meshes:
        found = mesh.features()
        for first in range(0, len(found), columns):
            whole, *probes = found[first : first + columns]
            fixed += whole
            for number, own in enumerate(probes):
                others = [f for n, p in enumerate(probes) if n != number for f in p] + whole
                for feature in own:
                    if any(_near(feature, o, high - low) for o in others):
                        fixed.append(feature)
                    else:
                        moving = min(moving, feature.length)
        total = np.cumsum(mesh.changes, axis=1)
        curves += [(mesh.edges, np.insert(row, 0, 0.0)) for row in total if row[-1] > 0]
    return Line(low, high, tuple(_united(fixed, high - low)), tuple(curves), moving)


def _near(one: Feature, other: Feature, span: float) -> bool:
    return one.begin <= other.end + _BOTH * span and other.begin <= one.end + _BOTH * span


def _united(features: list[Feature], span: float) -> list[Feature]:
    """Pulses that overlap as one; jumps each once."""
    found: list[Feature] = []
    for feature in sorted(features, key=lambda f: (f.length > 0, f.begin)):
        last = found[-1] if found else None
        if last and (last.length > 0) == (feature.length > 0) and feature.begin <= last.end + 1e-14 * span:
            found[-1] = Feature(last.begin, max(last.end, feature.end), min(last.length, feature.length))
        else:
            found.append(feature)
    return sorted(found, key=lambda f: f.begin)


class _Part:
    """Functions of the coordinates, to be followed along an axis."""

    def along(self, axis: int, ends: Sequence[tuple[float, float]]) -> tuple[Mesh, int] | None:
        """The mesh along an axis, and how many columns it has for each function; None if nothing varies."""
        raise NotImplementedError


class _Traced(_Part):
    """A program whose inputs number 0, 1, … are some coordinates, and then perhaps the state."""

    def __init__(self, program: Program, axes: Sequence[int]):
        self.program, self.axes = program, tuple(axes)
        self.depends = program.depend(program.inputs)
        self.coordinates = frozenset(program.inputs[: len(axes)])
        self.live = program.needed([o.name for o in program.outputs if isinstance(o, Use)])

    @cached_property
    def pieces(self) -> list[tuple[tuple[Name, ...], Callable[..., Bounds]]]:
        """The values that depend on coordinates alone and meet the state, and the conditions inside them."""
        found: dict[Any, tuple[tuple[Name, ...], Callable[..., Bounds]]] = {}

        def add(*names: Name, by: Callable[..., Bounds] = lambda a: a) -> None:
            found.setdefault(names, (names, by))

        for output in self.program.outputs:
            if isinstance(output, Use) and self._known(output.name):
                add(output.name)
        for operation in self.live:
            if not self._known(operation.outputs[0]):
                for name in operation.sources:
                    if self._known(name):
                        add(name)
            elif operation.name in _SWITCHES:
                add(operation.outputs[0])
            elif operation.name in _KINKS:
                for names, by in _sides(operation):
                    add(*names, by=by)
        return list(found.values())

    def _known(self, name: Name) -> bool:
        return bool(self.depends[name]) and self.depends[name] <= self.coordinates

    def along(self, axis: int, ends: Sequence[tuple[float, float]]) -> tuple[Mesh, int] | None:
        if axis not in self.axes:
            return None
        own = self.axes.index(axis)
        name = self.program.inputs[own]
        pieces = [p for p in self.pieces if any(name in self.depends[n] for n in p[0])]
        if not pieces:
            return None
        alone = all(self.depends[n] <= {name} for p in pieces for n in p[0])
        columns = 1 if alone else 1 + _PROBES
        others = self._others(ends, columns)
        wanted = sorted({n for names, _ in pieces for n in names})

        def evaluate(low: np.ndarray, high: np.ndarray) -> Real:
            count = len(low)
            given: dict[Name, Bounds] = {}
            for number, at in enumerate(others):
                repeated = Real(*(np.repeat(end, count) for end in at))
                given[self.program.inputs[number]] = repeated
            given[name] = Real(np.tile(low, columns), np.tile(high, columns))
            values = dict(zip(wanted, self.program.run(given, wanted), strict=True))
            rows = []
            for names, by in pieces:
                rows += _reals(by(*(values[n] for n in names)), columns, count)
            return Real(np.concatenate([r.low for r in rows]), np.concatenate([r.high for r in rows]))

        return cut(evaluate, *ends[axis]), columns

    def _others(self, ends: Sequence[tuple[float, float]], columns: int) -> list[Real]:
        """For each coordinate all of it, and then the probes."""
        shares = np.modf(np.outer(_IRRATIONAL[: len(self.axes)], np.arange(1, columns)))[0]
        found = []
        for axis, share in zip(self.axes, shares, strict=True):
            low, high = ends[axis]
            at = low + share * (high - low)
            found.append(Real(np.concatenate([[low], at]), np.concatenate([[high], at])))
        return found


_IRRATIONAL = (0.8191725134, 0.7548776662, 0.5698402910, 0.3247179572)


def _sides(operation: Operation) -> list[tuple[tuple[Name, ...], Callable[..., Bounds]]]:
    """Where a maximum, minimum, modulus or clamp changes from one side to the other, as conditions."""
    first, *rest = operation.inputs if operation.name != "clamp" else (
        operation.inputs[1], operation.inputs[0], operation.inputs[2],
    )  # fmt: skip
    if not rest:
        rest = [np.zeros(())]
    found = []
    for other in rest:
        pair = [first, other]
        names = tuple(p.name for p in pair if isinstance(p, Use))

        def above(*values: Bounds, pair: list[Any] = pair) -> Bounds:
            given = iter(values)
            a, b = (next(given) if isinstance(p, Use) else exactly(p[None]) for p in pair)
            if isinstance(a, Complex) or isinstance(b, Complex):
                return Real(np.zeros(1), np.zeros(1))
            return Real(a.low > b.high, a.high > b.low)

        if names:
            found.append((names, above))
    return found


def _reals(value: Bounds, columns: int, count: int) -> list[Real]:
    """A value as rows, columns × count; of an array the sum of its entries would hide things: each counts."""
    if isinstance(value, Complex):
        return [*_reals(value.real, columns, count), *_reals(value.imag, columns, count)]
    rows = []
    for number in range(int(np.prod(value.low.shape[1:], dtype=int))):
        pair = (
            np.broadcast_to(v.reshape(len(v), -1)[:, number], (columns * count,)).astype(float) for v in value
        )
        rows.append(Real(*(v.reshape(columns, count) for v in pair)))
    return rows


class _Sampled(_Part):
    """Data that JAX cannot trace: functions of one array per coordinate, known by their values only."""

    def __init__(self, function: Callable[[list[np.ndarray]], list[np.ndarray]], axes: Sequence[int]):
        self.function, self.axes = function, tuple(axes)

    def along(self, axis: int, ends: Sequence[tuple[float, float]]) -> tuple[Mesh, int] | None:
        if axis not in self.axes:
            return None
        columns = 1 if len(self.axes) == 1 else _PROBES
        shares = np.modf(np.outer(_IRRATIONAL[: len(self.axes)], np.arange(1, columns + 1)))[0]

        def values(places: np.ndarray) -> np.ndarray:
            at = []
            for own, share in zip(self.axes, shares, strict=True):
                low, high = ends[own]
                at.append(np.repeat(low + share * (high - low), len(places)))
            at[self.axes.index(axis)] = np.tile(places, columns)
            found = [np.asarray(v) for v in self.function(at)]
            parts = [f for v in found for f in ((np.real(v), np.imag(v)) if np.iscomplexobj(v) else (v,))]
            return np.concatenate([np.asarray(p, float).reshape(columns, -1) for p in parts])

        def evaluate(low: np.ndarray, high: np.ndarray) -> Real:
            ends = [values(low)] if low is high else [values(low), values((low + high) / 2), values(high)]
            return Real(np.minimum.reduce(ends), np.maximum.reduce(ends))

        return cut(evaluate, *ends[axis]), columns


class _Equation(_Traced):
    """F itself."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.slots = slots(problem)

        def run(given: tuple[list[Any], list[Any]]) -> list[Any]:
            coordinates, state = given
            known = dict(zip(self.slots, state, strict=True))
            with watch_differentiated() as watched:
                values = problem.evaluate_rhs(lambda number, index: known[number, index], coordinates)
            return [*values, *(w.value for w in watched)]

        state = [1.0 + 0j if problem.complex_fields[number] else 1.0 for number, _ in self.slots]
        program = Program(run, ([0.5] * len(problem.axes), state))
        super().__init__(program, range(len(problem.axes)))

    def jumps_in_state(self, ends: Sequence[tuple[float, float]]) -> bool:
        """Whether F jumps along some straight way through the states near the initial one."""
        count = len(self.problem.fields)
        return self._jump(self.program.outputs[:count], ends, still=True)

    def differentiates_jump(self, ends: Sequence[tuple[float, float]]) -> bool:
        """Whether F takes the derivative in space of something that jumps there, or as a function of the state."""
        return self._jump(self.program.outputs[len(self.problem.fields) :], ends, still=False)

    def _jump(self, outputs: list[Any], ends: Sequence[tuple[float, float]], *, still: bool) -> bool:
        """Whether values jump along straight ways through states and, unless they stay `still`, places."""
        program = self.program
        wanted = [o.name for o in outputs if isinstance(o, Use) and self.depends[o.name]]
        kinds = _SWITCHES if still else _SWITCHES | {"abs"}  # the slope of a modulus jumps
        inside = [o for o in program.needed(wanted) if o.name in kinds]
        if not wanted or all(still and self._known(o.outputs[0]) for o in inside):
            return False
        rng = np.random.default_rng(0)
        ways: dict[Name, tuple[np.ndarray, np.ndarray]] = {}
        for name, axis, (low, high) in zip(program.inputs, self.axes, ends, strict=False):
            begin = rng.uniform(low, high, _WAYS)
            moves = axis > 0 and not still
            ways[name] = (np.full(_WAYS, low), np.full(_WAYS, high)) if moves else (begin, begin)
        sizes, lengths = _sizes(self.problem), self.problem.domain.lengths
        state = dict(zip(program.inputs[len(ends) :], self.slots, strict=True))
        for name, (number, index) in state.items():
            middle, reach = sizes[number]
            slope = np.prod([(20 / n) ** k for n, k in zip(lengths, index[1:], strict=True)])
            ends_of_way = 2 * reach * slope * rng.uniform(-1, 1, (2, _WAYS))
            ways[name] = tuple((0.0 if any(index) else middle) + ends_of_way)

        def evaluate(low: np.ndarray, high: np.ndarray) -> Real:
            given: dict[Name, Bounds] = {}
            for name, (begin, end) in ways.items():
                there = [(begin[:, None] + (end - begin)[:, None] * s).ravel() for s in (low, high)]
                value: Bounds = Real(np.minimum(*there), np.maximum(*there))
                if name in state and self.problem.complex_fields[state[name][0]]:
                    value = Complex(value, value)
                given[name] = value
            rows = [r for v in program.run(given, wanted) for r in _reals(v, _WAYS, len(low))]
            return Real(np.concatenate([r.low for r in rows]), np.concatenate([r.high for r in rows]))

        return any(f.length == 0 for found in cut(evaluate, 0.0, 1.0).features() for f in found)


def _sizes(problem: Problem) -> list[tuple[float, float]]:
    """Middle and half the range of each field's initial data, at least its size."""
    shares = np.modf(np.outer(np.arange(257), _IRRATIONAL[: len(problem.space)]))[0]
    values = problem.initial_values(list(problem.domain.inside(shares).T))
    found = []
    for value in values:
        parts = np.abs(np.asarray(value)) if np.iscomplexobj(value) else np.asarray(value)
        low, high = float(parts.min()), float(parts.max())
        reach = max((high - low) / 2, abs(low), abs(high))
        found.append(((low + high) / 2, reach or 1.0))
    return found


def _data(problem: Problem) -> list[_Part]:
    """Initial data as functions of the space axes, boundary data as functions of time and of those along a face."""
    dimension = len(problem.space)
    parts = [_part(lambda at: problem.initial_values(at), range(1, dimension + 1))]
    for axis, condition in enumerate(problem.boundaries):
        if condition.sides:

            def faces(at: list[Any], axis: int = axis) -> list[Any]:
                return [v for side in problem.boundary_values(at[0], at[1:], axis=axis) for v in side]

            parts.append(_part(faces, [0, *(a + 1 for a in range(dimension) if a != axis)]))
    return parts


def _part(function: Callable[[list[Any]], list[Any]], axes: Iterable[int]) -> _Part:
    axes = list(axes)
    try:
        return _Traced(Program(function, [0.5] * len(axes)), axes)
    except Exception:  # data by any library: only their values can be had
        return _Sampled(function, axes)
