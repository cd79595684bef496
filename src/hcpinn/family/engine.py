"""The engine of families: one basis for all parameters, and nodes where the interpolation still errs.

Ordinary evolutions at a few parameters, the pilots, find out how many features it takes and where. On one
basis for all, every node is then evolved, and tested against what the nodes before it said. Pilots are
independent of that basis, so the difference is about its error.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from threadpoolctl import threadpool_limits

from ..errors import NoSolutionError, OutOfTimeError, ProblemError
from ..evolution import (
    Carrier,
    Density,
    Engine,
    Evolution,
    Halted,
    Limits,
    Pointwise,
    PointwiseAt,
    Projection,
    Solved,
    difference,
    fading,
    larger,
    unseen,
    walled,
)
from ..machine.interrupt import patient_interrupt
from ..machine.precision import double
from ..outcome import Stop
from ..problem import HORIZON, Between, Problem, ranges_of
from ..problem.calling import argument_names
from .exact import Exact, Remains
from .function import FamilyFunction, join
from .interpolation import Interpolation, Piece
from .kinks import find_kink
from .nodes import MOST, Grid, first_grid

_TIMES = 41
"""Times at which solutions are compared."""

_PLACES = 3000
"""Points at which they are, at most."""

_SHARE = 0.25
"""Of the accuracy asked for: what each node is solved to."""

_MARGIN = 0.7

_AT_ONCE = 3
"""Nodes that are added to a grid in one parameter before the next look."""

_ROUND = 24
"""Nodes that are added to another grid."""

_NODES = {1: 2 * MOST}
_ANY = 600
"""Nodes in all, in one parameter and in several."""

_HELD_OUT = 4
"""Parameters drawn at random that test the whole interpolation."""


@dataclass
class Node:
    """The solution at some parameters."""

    values: tuple[float, ...]
    carrier: Carrier
    breaks: list[float]
    solved: Solved
    remainder: np.ndarray
    """S at the times and places of comparison, weighted: components × places."""
    sizes: np.ndarray
    """‖u‖ of each component there."""

    def error(self, change: np.ndarray) -> float:
        """The relative size of a change of S, the worst component."""
        floor = 1e-3 * self.sizes.max()
        sizes = np.maximum(self.sizes, max(floor, 1e-300))
        return float(np.max(np.linalg.norm(change, axis=1) / sizes))


@dataclass(frozen=True)
class Evolved:
    """What the engine hands back."""

    function: FamilyFunction
    estimate: float
    """The worst relative L2 error found at parameters that were no nodes then."""
    worst: tuple[float, ...]
    """The parameters where it was found."""
    stop: Stop
    kinks: tuple[float, ...]
    """Where the range was split."""
    seconds: float
    features: int
    notes: tuple[str, ...] = ()


def span(problem: Problem) -> Problem:
    """The problem up to the latest horizon, its other parameters open as before."""
    horizon = problem.open.get(HORIZON)
    if not isinstance(horizon, Between):
        return problem
    if HORIZON in problem.parameters and HORIZON in argument_names(problem.rhs, "rhs"):
        raise ProblemError(
            f"The horizon of {problem.name} is open, and rhs uses it too. "
            "Give rhs a parameter by another name."
        )
    return problem.with_parameters(horizon=horizon.high)


def evolve_family(
    problem: Problem,
    *,
    accuracy: float,
    seed: int = 0,
    max_seconds: float | None = None,
    method: Evolution = Evolution(),
    report: Callable[[str, float], None] = lambda said, estimate: None,
) -> Evolved:
    """Solve a problem with open parameters at all of them, to a relative L2 error of `accuracy`."""
    with double(), threadpool_limits(1, user_api="blas"), patient_interrupt() as interrupted:
        limits = Limits(np.inf if max_seconds is None else max_seconds, interrupted.is_set)
        return _Families(span(problem), accuracy, seed, limits, method, report).run()


@dataclass
class _Families:
    problem: Problem
    accuracy: float
    seed: int
    limits: Limits
    method: Evolution
    report: Callable[[str, float], None]
    known: dict[tuple[float, ...], Node] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ranges = ranges_of(self.problem)
        self.names, self.ranges = tuple(ranges), list(ranges.values())
        inner = [name for name in self.names if name in self.problem.parameters and name != HORIZON]
        self.varied = tuple(inner)
        self.pointwise = Pointwise(self.problem.nominal.varying(self.varied), self.names)
        self.kinks: list[float] = []
        self.last: Piece | None = None
        self.estimate, self.worst = np.inf, tuple(r.nominal for r in self.ranges)

    def closed(self, values: Sequence[float]) -> Problem:
        """The problem at some parameters."""
        closed = self.problem.with_parameters(**dict(zip(self.names, map(float, values), strict=True)))
        return closed.varying(self.varied)

    def _engine(self, values: Sequence[float]) -> Engine:
        own = PointwiseAt(self.pointwise, values)
        accuracy = max(_SHARE * self.accuracy, 1e-12)
        return Engine(
            self.closed(values), accuracy, self.seed, self.limits, None, self.method, lambda s: None, own
        )

    def run(self) -> Evolved:
        """Pilots, a basis, and nodes until the held-out parameters agree."""
        pilots = self._pilots()
        tails = [p.carrier.waves.tail_rate for p in pilots if p.carrier.waves is not None]
        self.tail = max(tails) if tails else None
        self.fading = fading(self.problem.nominal) if self.problem.order == 2 else 0.0
        # The error of the last pass but one is what the estimate of the last tells.
        count, basis = max(pilot.passes[-2:][0].features for pilot in pilots), np.inf
        for attempt in range(3):
            self._choose_basis(pilots, count, attempt)
            basis = max(self._against(pilot) for pilot in pilots)
            if basis <= _MARGIN * self.accuracy:
                break
            count = int(1.4 * count)
        stop = Stop.ESTIMATE
        pieces: list[Piece] = []
        todo = [(0.0, 1.0)]
        try:
            while todo:
                low, high = todo.pop()
                piece, kink = self._piece(low, high, split=len(pieces) + len(todo) < 4)
                if kink is not None:
                    self.kinks.append(kink)
                    todo += [(kink, high), (low, kink)]
                else:
                    pieces.append(piece)
        except Halted as halted:
            stop = halted.stop
            if stop is Stop.INTERRUPTED:
                raise KeyboardInterrupt from None
            if pieces or todo or self.last is None:  # a part of the range would be missing
                raise OutOfTimeError(
                    "There was no time for the nodes of this family. Allow more time."
                ) from None
            pieces = [self.last]
            errors = self._errors(self.last)
            self._note(float(errors.max()), self._snapshots(self.last)[int(errors.argmax())].values)
        interpolation = Interpolation(self.ranges, tuple(sorted(pieces, key=lambda p: p.low)))
        self.estimate = max(self.estimate, basis)
        if stop is Stop.ESTIMATE and self.estimate > self.accuracy:
            stop = Stop.RANK
        nodes = [self.known[tuple(values)] for values in interpolation.nodes]
        exact = Exact(self.problem.nominal, self.names, self.tail, self.fading)
        edges = sorted({t for n in nodes for t in n.breaks})
        function = join(
            exact,
            interpolation,
            [n.solved for n in nodes],
            [n.carrier for n in nodes],
            edges,
            0.02 * self.accuracy,
        )
        kinks = tuple(
            float(interpolation.parameters(np.full((1, len(self.names)), k))[0, 0]) for k in self.kinks
        )
        return Evolved(function, self.estimate, self.worst, stop, kinks, self.limits.spent, count)

    def _pilots(self) -> list[Engine]:
        """Evolutions at the middle and at some corners of the ranges."""
        dimension = len(self.names)
        corners = list(itertools.product((0.0, 1.0), repeat=dimension))
        if dimension > 2:  # opposite ones, and two between
            chosen = [0, -1, len(corners) // 3, -1 - len(corners) // 3]
            corners = [corners[n] for n in chosen]
        found = []
        for shares in [(0.5,) * dimension, *corners]:
            values = [own.at(share) for own, share in zip(self.ranges, shares, strict=True)]
            engine = self._engine(values)
            self.report(f"alone at {self.said(values)}", np.inf)
            evolved = engine.run()
            if engine.best is None:
                if evolved.stop is Stop.TIME:
                    raise OutOfTimeError("There was no time for one solution of this family. Allow more.")
                raise NoSolutionError(
                    f"There is no solution of {self.problem.name} at {self.said(values)}: "
                    f"{evolved.stop.value} Narrow the range."
                )
            found.append(engine)
        return found

    def said(self, values: Sequence[float]) -> str:
        """Parameters in words."""
        return ", ".join(f"{n} = {v:.4g}" for n, v in zip(self.names, values, strict=True))

    def _choose_basis(self, pilots: list[Engine], count: int, attempt: int) -> None:
        """One basis with the features of the pilot that has most, dense where any of them says."""
        self.known.clear()
        density: list[Density | None] = [None] * len(self.problem.space)
        for pilot in pilots:
            density = [larger(a, b) for a, b in zip(density, pilot.density, strict=True)]
        leader = max(pilots, key=lambda p: p.passes[-1].features)
        self.bases = leader.project(count, density, len(leader.passes) + attempt).bases

    def _against(self, pilot: Engine) -> float:
        """How far a pilot and the node at its parameters differ."""
        values = [pilot.problem.parameters[name] for name in self.names]
        node = self._node(values)
        assert pilot.best is not None  # pilots without a solution are refused
        return difference(pilot.problem, pilot.best[1], node.solved)

    def _node(self, values: Sequence[float]) -> Node:
        """The solution at some parameters, on the common basis."""
        key = tuple(map(float, values))
        if key not in self.known:
            engine = self._engine(key)
            problem = engine.problem
            carrier = Carrier(problem, engine.accuracy)
            if carrier.waves is not None and self.tail is not None:
                carrier.waves.tail_rate = self.tail
            elif problem.order == 2:
                carrier.function = walled(problem, problem.parameters, self.fading)
            engine.prepare(carrier, engine.shared)
            projection = Projection(problem, engine.shared, carrier, self.bases)
            try:
                solved = engine.advance(projection, 1)
            except Halted as halted:
                if halted.stop in (Stop.TIME, Stop.INTERRUPTED):
                    raise
                raise NoSolutionError(
                    f"There is no solution of {self.problem.name} at {self.said(key)} beyond t = "
                    f"{halted.time:.4g}: {halted.stop.value} Narrow the range."
                ) from None
            self.known[key] = Node(
                key, carrier, engine.breaks, solved, *self._compared(problem, carrier, solved)
            )
        return self.known[key]

    def _compared(self, problem: Problem, carrier: Carrier, solved: Solved) -> tuple[np.ndarray, np.ndarray]:
        """S and the sizes of u at the times and places of comparison."""
        projection, track = solved.projection, solved.track
        times = np.linspace(problem.start, problem.horizon, _TIMES)
        states = track.at(times).T
        some = slice(None, None, -(-len(projection.weights) // _PLACES))
        weights = np.sqrt(projection.weights[some])[:, None]
        change = projection._spread(states, (0,) * len(self.bases))[:, some]
        values = change + projection.psi(times)[0][:, some]
        if carrier.waves is not None and self.tail is not None:
            own = Remains.of([carrier], self.tail, 0.0)
            zero = (0,) * len(problem.axes)
            waves = own.on_grid(times, [projection.space[some, 0]], zero)
            change = change + np.swapaxes(waves, 1, 2)
        flat = (change * weights).reshape(len(change), -1)
        return flat, np.linalg.norm((values * weights).reshape(len(change), -1), axis=1)

    def _piece(self, low: float, high: float, split: bool) -> tuple[Piece, float | None]:
        """A grid for a part of the range, grown until it is accurate; or a kink to split the range at."""
        dimension, target = len(self.names), 0.5 * self.accuracy
        grid = first_grid(dimension)
        most = _NODES.get(dimension, _ANY)
        while True:
            piece = Piece(grid, low, high)
            errors = self._errors(piece)
            self.last = piece
            open_ = self._to_add(grid, errors, target)
            if not open_:
                held, values = self._held_out(piece)
                if held <= _MARGIN * self.accuracy or target < 0.02 * self.accuracy:
                    self._note(held, values)
                    return piece, None
                target /= 3
                continue
            if dimension == 1 and split and len(grid) >= 17:
                kink = find_kink(piece, errors, self._snapshots(piece), self._at_share)
                if kink is not None:
                    return piece, kink
            if len(grid) + len(open_) > min(most, MOST if dimension == 1 else most):
                self._note(*self._held_out(piece))
                return piece, None
            self.report(f"{len(grid) + len(open_)} nodes", float(np.max(errors[-len(open_) :])))
            grid = grid.grown(open_)

    def _note(self, error: float, values: tuple[float, ...]) -> None:
        """Keep the worst of all pieces."""
        if error > self.estimate or np.isinf(self.estimate):
            self.estimate, self.worst = error, values

    def _snapshots(self, piece: Piece) -> list[Node]:
        """The solutions at the nodes of a piece."""
        shares = piece.shares(piece.grid.nodes)
        return [self._node(v) for v in Interpolation(self.ranges, ()).parameters(shares)]

    def _at_share(self, share: float) -> Node:
        """The solution at a share of the way through the range of the only parameter."""
        return self._node([self.ranges[0].at(share)])

    def _errors(self, piece: Piece) -> np.ndarray:
        """How far the interpolant of the nodes before it was off at each node."""
        nodes = self._snapshots(piece)
        surpluses = piece.grid.surpluses(np.stack([n.remainder for n in nodes]))
        return np.array([n.error(s) for n, s in zip(nodes, surpluses, strict=True)])

    def _to_add(self, grid: Grid, errors: np.ndarray, target: float) -> list[tuple[int, ...]]:
        """The indices to be added: none where the last ones were small."""
        if grid.dimension == 1:
            return [] if errors[-2:].max() <= target else grid.ahead(_AT_ONCE)
        known = {tuple(i): e for i, e in zip(grid.indices.tolist(), errors, strict=True)}
        hoped = {}
        for index in grid.ahead():
            before = [
                known[(*index[:a], index[a] - 1, *index[a + 1 :])] for a in range(len(index)) if index[a]
            ]
            hoped[index] = min(before)
        wanted = [index for index, error in hoped.items() if error > target / 2]
        return sorted(wanted, key=lambda i: -hoped[i])[:_ROUND]

    def _held_out(self, piece: Piece) -> tuple[float, tuple[float, ...]]:
        """The worst error at random parameters of a piece, and at the one where nodes are thinnest."""
        rng = np.random.default_rng([self.seed, len(piece.grid)])
        places = rng.uniform(-1, 1, (200, len(self.names)))
        thin = places[np.argmax(np.abs(piece.grid.weights(places)).sum(axis=1))]
        places = np.concatenate(
            [places[: _HELD_OUT - 1 if len(self.names) == 1 else 2 * _HELD_OUT], thin[None]]
        )
        nodes = np.stack([n.remainder for n in self._snapshots(piece)])
        weights = piece.grid.weights(places)
        found = []
        for values, own in zip(
            Interpolation(self.ranges, ()).parameters(piece.shares(places)), weights, strict=True
        ):
            node = self._node(values)
            error = node.error(node.remainder - np.tensordot(own, nodes, 1))
            hidden = unseen(node.carrier.problem, node.solved.projection.pointwise, node.carrier, node.solved)
            found.append((max(error, hidden), node.values))
        return max(found)
