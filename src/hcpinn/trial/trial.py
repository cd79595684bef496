"""The trial function u = ψ + φ · network: what is trained, and its derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .. import jets
from ..errors import MethodError
from ..jets import Jet
from ..problem import Index, Problem
from .embedding import Embedding
from .gate import Gate
from .lift import Lift
from .network import JetNetwork, Network, Parameters
from .part import Function


class Fixed(eqx.Module):
    """What of a trial's jet does not depend on its parameters, at given points."""

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
        from .checks import check_conditions

        self.problem = problem
        self.network = network
        self.lift: Function = lift.bind(problem, problem.parameters if parameters is None else parameters)
        self.gate: Function = gate.bind(problem)
        self.embed: Function = embedding.bind(problem)
        self.indices: tuple[Index, ...] = (*problem.derivatives, _first(0, len(problem.axes)))
        """The derivatives of u that the residual needs."""
        check_conditions(self)

    @property
    def outputs(self) -> int:
        """Number of real components of u."""
        return len(self.problem.components)

    def init(self, key: PRNGKeyArray) -> Parameters:
        """Random initial parameters of the network, checked to give outputs of the right shape."""
        probe = jnp.asarray([[0.0, *self.problem.domain.lower]])
        features = self.embed(probe)
        parameters = self.network.init(key, features.shape[1], self.outputs)
        shape = jnp.shape(self.network(parameters, features))
        if shape != (1, self.outputs):
            raise MethodError(
                f"The network maps 1 point to an array of shape {shape}, but {self.problem.name} needs "
                f"(1, {self.outputs}): one row per point, one column per component "
                f"({', '.join(self.problem.components)})."
            )
        return parameters

    def __call__(
        self, parameters: Parameters, coordinates: Float[Array, "points axes"]
    ) -> Float[Array, "points components"]:
        """u at coordinates, t in the first column."""
        return self.lift(coordinates) + self.gate(coordinates) * self.network(
            parameters, self.embed(coordinates)
        )

    def fix(self, coordinates: Float[Array, "points axes"], indices: Sequence[Index] | None = None) -> Fixed:
        """Everything at the points that training does not change, computed once."""
        wanted = self.indices if indices is None else tuple(indices)
        below = jets.closure(wanted)
        propagated = isinstance(self.network, JetNetwork)
        return Fixed(
            coordinates,
            jets.nested(self.lift, coordinates, wanted),
            jets.nested(self.gate, coordinates, below),
            jets.nested(self.embed, coordinates, below) if propagated else None,
        )

    @cached_property
    def fix_chunks(self) -> Callable[[Array], Fixed]:
        """`fix` for points in chunks (leading axis), compiled, one chunk after the other."""
        return jax.jit(lambda chunks: jax.lax.map(self.fix, chunks))

    def jet(self, parameters: Parameters, fixed: Fixed, indices: Sequence[Index] | None = None) -> Jet:
        """The jet of u, one column per component, over the residual's indices unless given."""
        wanted = self.indices if indices is None else tuple(indices)
        below = jets.closure(wanted)
        if isinstance(self.network, JetNetwork) and fixed.features is not None:
            inner = self.network.propagate(parameters, fixed.features, below)
        else:
            inner = jets.nested(lambda c: self.network(parameters, self.embed(c)), fixed.coordinates, below)
        return jets.add(jets.product(fixed.gate, inner, wanted), fixed.lift)


def _first(axis: int, axes: int) -> Index:
    return tuple(int(i == axis) for i in range(axes))


def without_zeros(fixed: Fixed) -> Fixed:
    """Leave out the derivatives of lift and gate that vanish at every point."""

    def kept(jet: Jet) -> Jet:
        return {index: value for index, value in jet.items() if bool(jnp.any(value != 0))}

    return Fixed(fixed.coordinates, kept(fixed.lift), kept(fixed.gate), fixed.features)
