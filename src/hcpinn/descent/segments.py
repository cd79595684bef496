"""What descent trains: networks on consecutive stretches of time, which together are one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from ..machine.precision import double
from ..objective.residual import residual_of
from ..problem import Index, Problem
from ..trial import JetNetwork, MarchedTrial, Trial, derivative_of, make_trial, march
from .corrections import Corrected, Grown, Layers
from .method import Method


@dataclass(frozen=True, eq=False)
class Segment:
    """A stretch of time with its trial function, and the parameters of its network."""

    start: float
    end: float
    trial: Trial
    parameters: Any
    """A tree of arrays; segments may differ in its shape."""

    def squares(self, points: np.ndarray) -> np.ndarray:
        """|residual|² at points (t, x, …)."""
        found = [self._squares(jnp.asarray(part)) for part in np.array_split(points, -(-len(points) // 2048))]
        return np.concatenate([np.asarray(part) for part in found])

    @cached_property
    def _squares(self) -> Any:
        def derivative(points: Array, index: Index) -> Array:
            return derivative_of(self.trial, self.parameters, points, index)

        problem = self.trial.problem
        return jax.jit(lambda points: jnp.sum(residual_of(problem, derivative, points) ** 2, axis=1))


def window_edges(problem: Problem, count: int) -> list[float]:
    """Where `count` equal time windows begin and end."""
    return [problem.start + problem.duration * k / count for k in range(count)] + [problem.horizon]


def trials_of(problem: Problem, method: Method, edges: Sequence[float], known: Sequence[Any]) -> list[Trial]:
    """The trials of the windows whose parameters are `known`, and of the one after them.

    Each starts exactly from the end of the one before.
    """
    kinds = [isinstance(own, Grown) for own in known] + [False]
    made: list[Trial] = []

    def make(part: Problem) -> Trial:
        trial = make_trial(part, method)
        made.append(corrected(trial) if kinds[len(made)] else trial)
        return made[-1]

    if len(edges) == 2:
        return [make(problem)]
    return march(problem, edges, make, known)


def corrected(trial: Trial) -> Trial:
    """The same trial around its network and corrections of it."""
    assert isinstance(trial.network, JetNetwork)
    return trial.with_network(Corrected(trial.network))


@dataclass(frozen=True)
class Found:
    """The parameters that runs have in one time window."""

    theta: Float[np.ndarray, "runs parameters"]
    """Those of the network that is trained, as vectors."""
    corrections: tuple[tuple[Layers, ...], ...] = ()
    """Corrections of it, by run; empty where no run has any."""

    def of(self, run: int, unravel: Callable[[Array], Any], *, grown: bool = False) -> Any:
        """The parameters of one run: its network's, or `Grown` ones if it has corrections.

        Args:
            run: its number.
            unravel: makes parameters of a vector.
            grown: whether to give `Grown` ones in any case.
        """
        network = unravel(jnp.asarray(self.theta[run]))
        own = self.corrections[run] if self.corrections else ()
        return Grown(network, own) if own or grown else network

    def better(self, other: Found, where: np.ndarray) -> Found:
        """What `other` has for some runs, and this for the rest."""
        theta = np.where(where[:, None], other.theta, self.theta)
        none: tuple[tuple[Layers, ...], ...] = ((),) * len(theta)
        pairs = zip(self.corrections or none, other.corrections or none, where, strict=True)
        chosen = tuple(new if taken else old for old, new, taken in pairs)
        return Found(theta, chosen if any(chosen) else ())

    def to_arrays(self, name: str) -> dict[str, np.ndarray]:
        """Arrays for a checkpoint; `name` is that of the vectors."""
        arrays = {name: self.theta}
        for run, own in enumerate(self.corrections):
            arrays.update(_named(f"{_ADDED}{name}.{run}", own))
        return arrays

    @classmethod
    def from_arrays(cls, name: str, arrays: dict[str, np.ndarray]) -> Found:
        """What `to_arrays` described; its arrays are taken out."""
        theta = arrays.pop(name)
        own = tuple(_taken(f"{_ADDED}{name}.{run}", arrays) for run in range(len(theta)))
        return cls(theta, own if any(own) else ())


_ADDED = "correction."
"""With what the names of arrays of corrections begin."""


def _named(name: str, corrections: Sequence[Layers]) -> dict[str, np.ndarray]:
    """The arrays of corrections by name."""
    return {
        f"{name}.{number}.{depth}.{part}": np.asarray(array, np.float64)
        for number, layers in enumerate(corrections)
        for depth, layer in enumerate(layers)
        for part, array in layer.items()
    }


def _taken(name: str, arrays: dict[str, np.ndarray]) -> tuple[Layers, ...]:
    """The corrections that `_named` described, taken out of the arrays."""
    found: list[Layers] = []
    while f"{name}.{len(found)}.0.weight" in arrays:
        start = f"{name}.{len(found)}"
        parts = ("weight", "bias")
        found.append(
            [{part: jnp.asarray(arrays.pop(f"{start}.{depth}.{part}")) for part in parts} for depth in (0, 1)]
        )
    return tuple(found)


class Piecewise:
    """The segments of a problem as one function of t and x."""

    engine: ClassVar[str] = "descent"

    def __init__(self, problem: Problem, segments: Sequence[Segment]):
        """`segments` follow one another in time and fill the problem's duration."""
        self.problem, self.segments = problem, tuple(segments)

    @classmethod
    def make(
        cls, problem: Problem, edges: Sequence[float], trials: Sequence[Trial], parameters: Sequence[Any]
    ) -> Piecewise:
        """The function with these trials and parameters between each two neighbouring edges."""
        parts = zip(edges[:-1], edges[1:], trials, parameters, strict=True)
        return cls(problem, [Segment(*part) for part in parts])

    @classmethod
    def from_arrays(cls, problem: Problem, method: Method, arrays: Mapping[str, np.ndarray]) -> Piecewise:
        """The function that `to_arrays` described; unless `edges` are given, its windows are equally long."""
        with double(), jax.ensure_compile_time_eval():
            edges = [float(edge) for edge in arrays.get("edges", window_edges(problem, method.windows))]
            if len(edges) != method.windows + 1:
                raise ValueError(f"{len(edges) - 1} segments are no {method.windows} windows")
            first = make_trial(problem, method)
            unravel = ravel_pytree(first.init(jax.random.key(0)))[1]
            left = dict(arrays)
            parameters: list[Any] = []
            for own in jnp.asarray(arrays["theta"]).reshape(len(edges) - 1, -1):
                added = _taken(f"{_ADDED}{len(parameters)}", left)
                parameters.append(Grown(unravel(own), added) if added else unravel(own))
            trials = trials_of(problem, method, edges, parameters) if len(edges) > 2 else [first]
            if len(edges) == 2 and isinstance(parameters[0], Grown):
                trials = [corrected(first)]
            return cls.make(problem, edges, trials, parameters)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The networks' parameters as one vector, their corrections, and where segments begin and end."""
        networks, arrays = [], {}
        for number, own in enumerate(self.parameters):
            grown = own if isinstance(own, Grown) else Grown(own)
            networks.append(grown.network)
            arrays.update(_named(f"{_ADDED}{number}", grown.corrections))
        with double():
            theta = np.asarray(ravel_pytree(networks)[0], np.float64)
        edges = np.array([*(s.start for s in self.segments), self.segments[-1].end])
        return {"theta": theta, "edges": edges, **arrays}

    @property
    def parameters(self) -> tuple[Any, ...]:
        """The parameters of each segment."""
        return tuple(segment.parameters for segment in self.segments)

    @cached_property
    def trial(self) -> Trial | MarchedTrial:
        """The trial function, for use inside JAX programs together with `network`."""
        trials = [segment.trial for segment in self.segments]
        return trials[0] if len(trials) == 1 else MarchedTrial(self.problem, trials)

    @property
    def network(self) -> Any:
        """The parameters in the shape `trial` takes them: a tuple if there are several segments."""
        return self.parameters[0] if len(self.segments) == 1 else self.parameters

    def derivative(self, points: Array, index: Index) -> Array:
        """A derivative, or the value, at rows (t, x, …)."""
        if isinstance(points, Tracer):  # inside the caller's program the caller's precision holds
            network = jax.tree.map(lambda a: jnp.asarray(np.asarray(a, points.dtype)), self.network)
            return derivative_of(self.trial, network, points, index)
        return self.trial.derivative(self.network, points, index)
