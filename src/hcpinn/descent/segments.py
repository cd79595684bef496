"""What descent trains: networks on consecutive stretches of time, which together are one function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.flatten_util import ravel_pytree
from jaxtyping import Array

from ..jets import Jet
from ..machine.precision import double
from ..problem import Index, Problem
from ..trial import MarchedTrial, Trial, derivative_of, make_trial, march
from .method import Method


@dataclass(frozen=True, eq=False)
class Segment:
    """A stretch of time with its trial function, and the parameters of its network."""

    start: float
    end: float
    trial: Trial
    parameters: Any
    """A tree of arrays; segments may differ in its shape."""


def window_edges(problem: Problem, count: int) -> list[float]:
    """Where `count` equal time windows begin and end."""
    return [problem.start + problem.duration * k / count for k in range(count)] + [problem.horizon]


def trials_of(problem: Problem, method: Method, edges: Sequence[float], known: Sequence[Any]) -> list[Trial]:
    """The trials of the windows whose parameters are `known`, and of the one after them.

    Each starts exactly from the end of the one before.
    """
    if len(edges) == 2:
        return [make_trial(problem, method)]
    return march(problem, edges, lambda part: make_trial(part, method), known)


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
            parameters = [unravel(own) for own in jnp.asarray(arrays["theta"]).reshape(len(edges) - 1, -1)]
            trials = trials_of(problem, method, edges, parameters) if len(edges) > 2 else [first]
            return cls.make(problem, edges, trials, parameters)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The networks' parameters as one vector, and where segments begin and end."""
        with double():
            theta = np.asarray(ravel_pytree(list(self.parameters))[0], np.float64)
        return {"theta": theta, "edges": np.array([*(s.start for s in self.segments), self.segments[-1].end])}

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

    def beyond_lift(self, points: Array, indices: Sequence[Index]) -> Jet:
        """The jet at points of u without its lift, where there is one segment."""
        [segment] = self.segments
        network = jax.tree.map(lambda a: jnp.asarray(np.asarray(a), points.dtype), segment.parameters)
        return segment.trial.beyond_lift(network, points, indices)
