"""The trial function u = ψ + φ · network, and its derivatives."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from .. import jets
from ..errors import MethodError
from ..jets import Jet
from ..problem import Index, Problem
from .checks import open_conditions
from .embedding import Embedding
from .function import Function
from .gate import Gate, NoGate
from .lift import Lift, NoLift
from .network import JetNetwork, Network, Parameters
from .pieces import holding
from .walls import OpenCondition


class Fixed(eqx.Module):
    """The parts of a trial's jet at given points that do not depend on its parameters."""

    coordinates: Float[Array, "*chunks points axes"]
    lift: Jet
    gate: Jet
    features: Jet | None
    """None where the network is differentiated as a whole."""


class Trial:
    """u(t, x) = ψ(t, x) + φ(t, x) · network(embed(t, x)), for one problem."""

    def __init__(
        self,
        problem: Problem,
        *,
        lift: Lift,
        gate: Gate,
        embedding: Embedding,
        network: Network,
        parameters: Mapping[str, Any] | None = None,
    ):
        if isinstance(lift, NoLift) != isinstance(gate, NoGate):
            raise MethodError(
                "NoLift() and NoGate() go together: with only one of them the initial data would neither "
                "hold exactly nor be free. Use both, or neither."
            )
        self.problem = problem
        self.network = network
        free = isinstance(lift, NoLift)
        if free and embedding.even:
            raise MethodError(
                f"{type(embedding).__name__}() holds slopes at walls, for which a lift carries the data. Use "
                "embedding=Plain() with NoLift(), or a lift and a gate."
            )
        self.walls = holding(problem, even=embedding.even)
        given = problem.parameters if parameters is None else parameters
        self.lift: Function = lift.bind(problem, given, self.walls)
        self.gate: Function = gate.bind(problem, self.walls)
        self.embed: Function = embedding.bind(problem)
        self.indices: tuple[Index, ...] = (*problem.derivatives, problem.leading)
        """The derivatives of u that the residual needs."""
        self.left_open: tuple[OpenCondition, ...] = open_conditions(self, free=free)
        """The conditions that do not hold by construction."""

    def with_network(self, network: Network) -> Trial:
        """The same lift, gate and embedding around another network."""
        other = copy.copy(self)
        other.network = network
        for compiled in ("fix_chunks", "derivative", "parts"):
            other.__dict__.pop(compiled, None)
        return other

    @property
    def outputs(self) -> int:
        """Number of real components of u."""
        return len(self.problem.components)

    @property
    def columns(self) -> int:
        """Number of outputs of the network: more than components where these differ in their walls."""
        return sum(len(parts) for parts in self.walls.terms)

    def begin(self, points: int, dtype: Any) -> None:
        """Start compiling, in the background, what training at so many points needs beyond XLA's programs."""
        if isinstance(self.network, JetNetwork):
            self.network.begin(
                self._features().shape[1], self.columns, jets.closure(self.indices), points, dtype
            )

    def init(self, key: PRNGKeyArray) -> Parameters:
        """Random initial parameters of the network, checked to give outputs of the right shape."""
        features = self._features()
        parameters = self.network.init(key, features.shape[1], self.columns)
        shape = jax.eval_shape(lambda p, f: jnp.asarray(self.network(p, f)), parameters, features).shape
        if shape != (1, self.columns):
            raise MethodError(
                f"The network maps 1 point to an array of shape {shape}, but {self.problem.name} needs "
                f"(1, {self.columns}): one row per point, one column per component "
                f"({', '.join(self.problem.components)})."
            )
        return parameters

    def _features(self) -> jax.ShapeDtypeStruct:
        """The shape of the features at one point."""
        probe = jax.ShapeDtypeStruct((1, len(self.problem.axes)), jnp.float64)
        return jax.eval_shape(self.embed, probe)

    def __call__(
        self, parameters: Parameters, coordinates: Float[Array, "points axes"]
    ) -> Float[Array, "points components"]:
        """u at coordinates, t in the first column."""
        inner = self.gate(coordinates) * self.network(parameters, self.embed(coordinates))
        return self.lift(coordinates) + self._gathered(inner)

    def _gathered(self, inner: Array) -> Array:
        """The sum of each component's networks."""
        owner = self.walls.gathering
        return inner if owner is None else inner @ jnp.asarray(owner, inner.dtype)

    def fix(self, coordinates: Float[Array, "points axes"], indices: Sequence[Index] | None = None) -> Fixed:
        """Everything at the points that training does not change, computed once."""
        wanted = self.indices if indices is None else tuple(indices)
        below = jets.closure(wanted)
        propagated = isinstance(self.network, JetNetwork)
        return Fixed(
            coordinates,
            jet_of(self.lift, coordinates, wanted),
            jet_of(self.gate, coordinates, below),
            jet_of(self.embed, coordinates, below) if propagated else None,
        )

    @cached_property
    def fix_chunks(self) -> Callable[[Array], Fixed]:
        """`fix` for points in chunks (leading axis), compiled, one chunk after the other."""
        return jax.jit(lambda chunks: jax.lax.map(self.fix, chunks))

    @cached_property
    def derivative(self) -> Callable[[Parameters, Array, Index], Array]:
        """`derivative_of` compiled; solutions that share a trial function share it."""
        return jax.jit(partial(derivative_of, self), static_argnums=2)

    @cached_property
    def parts(self) -> Callable[[Parameters, Array], tuple[Array, ...]]:
        """Lift, gate, features and network at coordinates, compiled."""

        def parts(parameters: Parameters, coordinates: Array) -> tuple[Array, ...]:
            features = self.embed(coordinates)
            network = self.network(parameters, features)
            return self.lift(coordinates), self.gate(coordinates), features, network

        return jax.jit(parts)

    def jet(self, parameters: Parameters, fixed: Fixed, indices: Sequence[Index] | None = None) -> Jet:
        """The jet of u, one column per component, over the residual's indices unless given."""
        wanted = self.indices if indices is None else tuple(indices)
        return jets.add(self._gated(parameters, fixed, wanted), fixed.lift)

    def beyond_lift(
        self, parameters: Parameters, coordinates: Float[Array, "points axes"], indices: Sequence[Index]
    ) -> Jet:
        """The jet of φ · network, which meets all conditions that hold by construction with zero data."""
        below = jets.closure(indices)
        features = jet_of(self.embed, coordinates, below) if isinstance(self.network, JetNetwork) else None
        fixed = Fixed(coordinates, {}, jet_of(self.gate, coordinates, below), features)
        return self._gated(parameters, fixed, tuple(indices))

    def _gated(self, parameters: Parameters, fixed: Fixed, wanted: tuple[Index, ...]) -> Jet:
        below = jets.closure(wanted)
        if isinstance(self.network, JetNetwork) and fixed.features is not None:
            inner = self.network.propagate(parameters, fixed.features, below)
        else:
            inner = jets.nested(lambda c: self.network(parameters, self.embed(c)), fixed.coordinates, below)
        gated = jets.product(fixed.gate, inner, wanted)
        return {index: self._gathered(value) for index, value in gated.items()}


def make_trial(problem: Problem, method: Any) -> Trial:
    """The trial function whose lift, gate, embedding and network a method names."""
    return Trial(
        problem, lift=method.lift, gate=method.gate, embedding=method.embedding, network=method.network
    )


def derivative_of(trial: Any, parameters: Any, coordinates: Array, index: Index) -> Array:
    """A derivative of a trial function, or its value, at coordinates."""
    if not any(index):
        return trial(parameters, coordinates)
    return trial.jet(parameters, trial.fix(coordinates, (index,)), (index,))[index]


def jet_of(function: Function, coordinates: Array, indices: Sequence[Index]) -> Jet:
    """The jet of a lift, gate or embedding: in closed form if it has one, else by nested forward mode."""
    own = getattr(function, "jet", None)
    return jets.nested(function, coordinates, indices) if own is None else own(coordinates, indices)


class MarchedFixed(eqx.Module):
    """The fixed parts of all windows, at the same points."""

    coordinates: Float[Array, "points axes"]
    windows: tuple[Fixed, ...]


class MarchedTrial:
    """Trial functions of consecutive time windows as one function; parameters are a tuple of theirs."""

    def __init__(self, problem: Problem, trials: Sequence[Trial]):
        self.problem, self.trials = problem, tuple(trials)
        self.indices = self.trials[0].indices

    @cached_property
    def derivative(self) -> Callable[[Any, Array, Index], Array]:
        """`derivative_of` compiled."""
        return jax.jit(partial(derivative_of, self), static_argnums=2)

    def __call__(
        self, parameters: Sequence[Parameters], coordinates: Float[Array, "points axes"]
    ) -> Float[Array, "points components"]:
        """u at coordinates, t in the first column."""
        values = [t(p, coordinates) for t, p in zip(self.trials, parameters, strict=True)]
        return self._select(coordinates, values)

    def fix(
        self, coordinates: Float[Array, "points axes"], indices: Sequence[Index] | None = None
    ) -> MarchedFixed:
        """Everything at the points that does not depend on the parameters."""
        return MarchedFixed(coordinates, tuple(t.fix(coordinates, indices) for t in self.trials))

    def jet(
        self,
        parameters: Sequence[Parameters],
        fixed: MarchedFixed,
        indices: Sequence[Index] | None = None,
    ) -> Jet:
        """The jet of u, one column per component."""
        each = [t.jet(p, f, indices) for t, p, f in zip(self.trials, parameters, fixed.windows, strict=True)]
        nothing = jnp.zeros((len(fixed.coordinates), self.trials[0].outputs), fixed.coordinates.dtype)
        wanted = self.indices if indices is None else tuple(indices)
        return {i: self._select(fixed.coordinates, [jet.get(i, nothing) for jet in each]) for i in wanted}

    def _select(self, coordinates: Array, values: Sequence[Array]) -> Array:
        """At each point the value of the window that its time lies in."""
        result = values[0]
        for trial, value in zip(self.trials[1:], values[1:], strict=True):
            result = jnp.where(coordinates[:, :1] > trial.problem.start, value, result)
        return result


def march(
    problem: Problem,
    edges: Sequence[float],
    make: Callable[[Problem], Trial],
    networks: Sequence[Parameters],
) -> list[Trial]:
    """The trials of the first time windows, one more than there are networks of finished windows.

    Window k lasts from `edges[k]` to `edges[k + 1]` and starts exactly from the end of the one before.
    """
    trials: list[Trial] = []
    for k in range(min(len(networks) + 1, len(edges) - 1)):
        own: list[Callable[[list[Array]], list[Array]]] = [problem.initial_values, problem.initial_velocities]
        if k:
            own = [_end_of(trials[-1], networks[k - 1], edges[k], order) for order in (0, 1)]
        trials.append(make(problem.restarted(edges[k], edges[k + 1], *own[: problem.order])))
    return trials


def _end_of(
    trial: Trial, network: Parameters, time: float, order: int
) -> Callable[[list[Array]], list[Array]]:
    """The state of a trial at a time, or its rate of change (`order` 1), as initial data."""
    index = (order, *(0 for _ in trial.problem.space))
    known = jax.tree.map(np.asarray, network)

    def state(coordinates: list[Array]) -> list[Array]:
        space = jnp.broadcast_arrays(*coordinates)
        columns = [jnp.full_like(space[0], time), *space]
        points = jnp.stack([c.reshape(-1) for c in columns], axis=1)
        # Inside a caller's program the caller's precision holds.
        own = jax.tree.map(lambda a: jnp.asarray(a, points.dtype), known)
        values = trial.problem.to_fields(derivative_of(trial, own, points, index))
        return [value.reshape(space[0].shape) for value in values]

    return state


def without_zeros(fixed: Fixed) -> Fixed:
    """Leave out the derivatives of lift and gate that vanish at every point."""
    parts = (fixed.lift, fixed.gate)
    present = jax.tree.map(bool, _any(parts))
    lift, gate = (
        {index: value for index, value in jet.items() if wanted[index]}
        for jet, wanted in zip(parts, present, strict=True)
    )
    return Fixed(fixed.coordinates, lift, gate, fixed.features)


@jax.jit
def _any(tree: Any) -> Any:
    """Whether each array has a value other than zero."""
    return jax.tree.map(lambda a: jnp.any(a != 0), tree)
