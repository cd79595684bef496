"""What of F and the data depends on coordinates alone, as functions to be followed along an axis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..problem import Piece, Problem, Side
from ..problem.expression import watch_differentiated
from .bounds import Bounds, Complex, Real, exactly, has_rule
from .mesh import Mesh, cut
from .probes import slots
from .program import Name, Operation, Program, Use

_PROBES, _WAYS = 6, 16
"""Places of the other coordinates, besides all of them at once; ways through the space of states."""

_SWITCHES = {"lt", "le", "gt", "ge", "sign", "floor", "ceil", "round"}
_KINKS = {"max", "min", "abs", "clamp"}

_IRRATIONAL = (0.8191725134, 0.7548776662, 0.5698402910, 0.3247179572)


class Part:
    """Functions of the coordinates, to be followed along an axis."""

    def along(self, axis: int, ends: Sequence[tuple[float, float]]) -> tuple[Mesh, int] | None:
        """The mesh along an axis, and how many columns it has for each function; None if nothing varies."""
        raise NotImplementedError


class Traced(Part):
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

        blind = any(not has_rule(o.equation) for o in self.program.needed(wanted))
        return cut(evaluate, *ends[axis], blind=blind), columns

    def _others(self, ends: Sequence[tuple[float, float]], columns: int) -> list[Real]:
        """For each coordinate all of it, and then the probes."""
        shares = np.modf(np.outer(_IRRATIONAL[: len(self.axes)], np.arange(1, columns)))[0]
        found = []
        for axis, share in zip(self.axes, shares, strict=True):
            low, high = ends[axis]
            at = low + share * (high - low)
            found.append(Real(np.concatenate([[low], at]), np.concatenate([[high], at])))
        return found


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


class Sampled(Part):
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

        return cut(evaluate, *ends[axis], blind=True), columns


class Equation(Traced):
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
        """Whether F takes a derivative in space of what jumps there, or as a function of the state."""
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


def data_parts(problem: Problem) -> list[Part]:
    """Initial data as functions of space, boundary data as functions of time and of places along a face."""
    dimension = len(problem.space)
    parts = [_part(lambda at: problem.initial_values(at), range(1, dimension + 1))]
    for axis, ends in enumerate(problem.boundaries):
        if ends.bound:

            def faces(at: list[Any], sides: tuple[Side, ...] = ends.sides) -> list[Any]:
                data = [problem.boundary_values(side, at[0], at[1:]) for side in sides]
                return [v for each in data for own in each for v in own]

            parts.append(_part(faces, [0, *(a + 1 for a in range(dimension) if a != axis)]))
    for piece in problem.pieces:

        def data(at: list[Any], piece: Piece = piece) -> list[Any]:
            return [v for own in problem.data_on(piece, at) for v in own]

        parts.append(_part(data, range(1 + dimension)))
    return parts


def _part(function: Callable[[list[Any]], list[Any]], axes: Iterable[int]) -> Part:
    axes = list(axes)
    try:
        return Traced(Program(function, [0.5] * len(axes)), axes)
    except Exception:  # data by any library: only their values can be had
        return Sampled(function, axes)
