"""Estimate what a group of runs, or a study, costs before it starts: a model of time and memory.

Time: each step costs a fixed overhead, and for each run `Stage.work` (about points × network
parameters) for each derivative that is carried along.

    seconds = stages · compiling + Σ steps · (overhead + runs · work · derivatives · evaluations / rate)

The constants are fits to Allen–Cahn, 7×32, 16,384 points: with fused kernels a step of Adam took 0.10, 0.95
and 4.8 ms for 1, 12 and 64 runs on one H200, one of L-BFGS in float64 0.44 and 3.4 ms for 1 and 12 runs; on
two CPU cores Adam took 17.7 ms (float64: 35 ms). Without them it took 27 ms there, and on the H200 whole
trainings of 1, 2 and 4 runs took 46 to 48 s, 80 to 94 s and 118 to 149 s.
Other shapes may be off by a factor of two: this holds for 102 of 114 groups measured on one H200, and a
factor of 2.5 for all. Three to six groups ran side by side there, and each second counts for all of them
alike; over all groups of a problem the factor is at most 1.6. A method that stops early takes less than its
whole budget, which is what is estimated.

Memory: the values of all layers at the points that are done at once, forward and backward; the arrays over
all points and the matrices (`descent.memory`); the state of the optimiser before, in and after a step. An
upper bound: what XLA says it needs for five shapes (Allen–Cahn alone and four together, Cahn–Hilliard,
Gray–Scott, `expert`) is 0.5 to 0.9 of it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jax
import jax.numpy as jnp

from ..descent import LBFGS, Extent, LevenbergMarquardt, Method, Stage, available_bytes, training_bytes
from ..descent.runs import Run
from ..jets import ACTIVATIONS, closure, fusible
from ..machine.precision import double
from ..objective import chunk_size
from ..problem import Problem
from ..trial import Embedding, LayeredNetwork, Network
from .declaration import Study
from .groups import Group, grouped
from .store import Store

_EVALUATIONS = 1.5
"""Evaluations of the loss per step with a line search, on average."""

_KEPT = 3
"""Copies of a layer's values, forward and backward."""

_STATES = 3
"""Copies of an optimiser's state."""

_USABLE = 0.6
"""Share of the free memory that a group may take; the rest covers what the model ignores."""

LARGEST = 16
"""Largest number of runs in a group: beyond it the device is busy, and nothing is gained."""


@dataclass(frozen=True)
class Speed:
    """How fast steps are, in one precision."""

    rate: float
    """Units of work per second."""
    overhead: float
    """Seconds per step."""


@dataclass(frozen=True)
class Machine:
    """How fast a device is."""

    name: str
    platform: str
    plain: dict[int, Speed]
    """By bytes per number."""
    fused: dict[int, Speed]
    """With fused kernels, where available."""
    compiling: float
    """Seconds per stage."""


_PLAIN = Speed(9.7e11, 2.4e-4)
_FUSED = {4: Speed(6.2e12, 3e-5), 8: Speed(2.6e12, 1.8e-4)}
H200 = Machine("one NVIDIA H200", "gpu", {4: _PLAIN, 8: _PLAIN}, _FUSED, 5.0)


def this_machine() -> Machine:
    """The device in use; any GPU counts as an H200."""
    if jax.default_backend() != "cpu":
        return H200
    cores = os.cpu_count() or 1

    def both(rate: float) -> dict[int, Speed]:
        return {4: Speed(rate * cores, 1e-4), 8: Speed(0.5 * rate * cores, 1e-4)}

    return Machine(f"{cores} CPU cores", "cpu", both(8.5e9), both(1.3e10), 3.0)


@dataclass(frozen=True)
class Cost:
    """What a group takes."""

    seconds: float
    bytes: int


_EVOLUTION = Cost(10.0, 1 << 30)
"""The approximate cost of an evolution on any machine."""


@cache
def _sizes(problem: Problem, embedding: Embedding, network: Network) -> tuple[int, int]:
    """Parameters of the network, and features that it sees."""
    with double():
        embed = embedding.bind(problem)
        features = jax.eval_shape(embed, jnp.zeros((1, len(problem.axes)))).shape[1]
        start = lambda key: network.init(key, features, len(problem.components))
        parameters = jax.eval_shape(start, jax.random.key(0))
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(parameters)), features


def cost(runs: Sequence[Run], machine: Machine) -> Cost:
    """Time and memory of `runs` that train together on a `machine`."""
    count, method = len(runs), runs[0].method
    if method.engine != Method.engine:
        return Cost(count * _EVOLUTION.seconds, _EVOLUTION.bytes)
    problem, network = runs[0].problem, method.network
    size, features = _sizes(problem, method.embedding, network)
    outputs, indices = len(problem.components), len(closure((*problem.derivatives, problem.leading)))
    width, depth = getattr(network, "width", 32), getattr(network, "depth", 4)
    lessons = method.windows * (len(method.horizons) - 1 + method.lessons)
    lessons *= len(method.curriculum.factors) if method.curriculum else 1
    seconds, states = 0.0, 0
    for stage in method.stages:
        points = method.batches.size if method.batches and stage.tolerant else method.points
        work = stage.work(points, size) * indices * (1.0 if stage.tolerant else _EVALUATIONS)
        speed = _speed(machine, network, stage)
        seconds += machine.compiling + lessons * stage.steps * (speed.overhead + count * work / speed.rate)
        vectors = 10 + (2 * stage.memory if isinstance(stage, LBFGS) else 0)
        states = max(states, _STATES * vectors * size * stage.dtype.itemsize)

    item = max(stage.dtype.itemsize for stage in method.stages)
    chunk = chunk_size(width=width, indices=indices, itemsize=item, runs=count, platform=machine.platform)
    layers = min(chunk, method.points) * width * indices * item * (depth + 1) * _KEPT
    extent = Extent(method.points, len(problem.axes), indices, features, outputs, size, count)
    return Cost(seconds, int(count * (layers + states)) + training_bytes(method, extent))


def _speed(machine: Machine, network: Network, stage: Stage) -> Speed:
    fused = isinstance(network, LayeredNetwork) and fusible(ACTIVATIONS[network.activation](), network.width)
    fused = fused and not isinstance(stage, LevenbergMarquardt)
    found = machine.fused.get(stage.dtype.itemsize) if fused else None
    return found or machine.plain[stage.dtype.itemsize]


def largest_group(runs: Sequence[Run], machine: Machine, *, most: int = LARGEST, abreast: int = 1) -> int:
    """How many of some runs of one shape fit into the memory that is free, at least one.

    Args:
        runs: those of the shape.
        machine: where they train.
        most: how many may train together.
        abreast: how many groups of that size are to fit at once.
    """
    free = available_bytes()
    size = min(most, len(runs))
    while size > 1 and free is not None and abreast * cost(runs[:size], machine).bytes > _USABLE * free:
        size -= 1
    return size


@dataclass(frozen=True)
class Share:
    """What is left to train of one section, without what earlier sections train; or of all."""

    section: str
    runs: int
    """Different ones."""
    kept: int
    """Those in the store."""
    groups: int
    """Groups to train whose first run is of this section."""
    largest: int
    """Runs in the largest of them."""
    seconds: tuple[float, ...]
    """Of those groups, by machine."""
    bytes: int
    """What the largest of them takes."""


def forecast(
    study: Study, out: str | Path | None = None, *, together: int | None = None, processes: int = 1
) -> tuple[list[Share], Share]:
    """What each section of a study has to train, and all of it, with how long that takes here and on an H200.

    Args:
        study: the study.
        out: the folder of its store, which may not exist yet.
        together: the largest number of runs that train together.
        processes: how many groups share the memory; times are for one group after another.
    """
    here = this_machine()
    kept = Store(out).keys() if out is not None and Store.at(out) else set()
    groups = grouped(
        study.wanted,
        study.wanted.keys() - kept,
        size=lambda runs: largest_group(runs, here, most=together or LARGEST, abreast=processes),
    )

    def share(name: str, keys: Collection[str], own: Sequence[Group]) -> Share:
        costs = [[cost(group.runs, machine) for group in own] for machine in (here, H200)]
        return Share(
            name,
            len(keys),
            len(kept.intersection(keys)),
            len(own),
            max(map(len, own), default=0),
            tuple(sum(each.seconds for each in found) for found in costs),
            max((each.bytes for each in costs[0]), default=0),
        )

    left, lines = list(groups), []
    for section in study.sections:
        own = [group for group in left if group.keys[0] in section.keys]
        left = [group for group in left if group not in own]
        lines.append(share(section.name, section.keys, own))
    return lines, share("", study.wanted, groups)
