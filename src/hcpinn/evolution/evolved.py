"""The outcome of an evolution: u(t, x) = ψ(t, x) + Σ cⱼ(t) φⱼ(x) as a function with all its derivatives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..errors import HcpinnError
from ..machine.precision import double
from ..outcome import History, Outcome, Stop
from ..problem import Index, Problem
from .features import Layer, Layers
from .lift import Added, Carrier
from .outcome import Pass
from .radau import Track

_ROOM = 1 << 21
"""Numbers held at once while points are evaluated."""


class Function(eqx.Module):
    """u(t, x), traceable: usable inside `jit`, `grad` and `vmap`."""

    layers: tuple[Layers, ...]
    """The hidden layers along each space axis."""
    edges: Any
    """The ends of the time steps."""
    powers: Any
    """c on each step in powers of 2 (t − tₖ)/h − 1: steps × powers × component × function along x, y, z."""
    carrier: Carrier = eqx.field(static=True)
    engine: ClassVar[str] = "evolution"

    @property
    def parameters(self) -> Any:
        """The output weights over time."""
        return self.powers

    def __call__(self, points: Float[Array, "points axes"]) -> Float[Array, "points components"]:
        """u at points, t in the first column."""
        return self.derivative(points, (0,) * points.shape[1])

    def derivative(
        self, points: Float[Array, "points axes"], index: Index
    ) -> Float[Array, "points components"]:
        """A derivative of u at points, by how often it is taken along t, x, …."""
        # A compiled program of one precision must not meet arrays of the other.
        own = jax.tree.map(lambda a: jnp.asarray(a, points.dtype), self)
        return _derivative(own, points, tuple(index))

    def _derivative(self, points: Array, index: Index) -> Array:
        dtype = points.dtype
        edges, powers = jnp.asarray(self.edges, dtype), jnp.asarray(self.powers, dtype)
        layers = jax.tree.map(lambda a: jnp.asarray(a, dtype), self.layers)
        count = powers.shape[1]
        factors = [math.perm(q, index[0]) for q in range(count)]

        def at(point: Array) -> Array:
            step = jnp.clip(jnp.searchsorted(edges, point[0], side="left") - 1, 0, len(edges) - 2)
            length = edges[step + 1] - edges[step]
            share = 2 * (point[0] - edges[step]) / length - 1
            zero = jnp.zeros_like(share)
            weights = jnp.stack(
                [f * share ** (q - index[0]) if q >= index[0] else zero for q, f in enumerate(factors)]
            )
            result = jnp.tensordot(weights * (2 / length) ** index[0], powers[step], 1)
            for axis, layer in reversed(list(enumerate(layers))):
                order = index[axis + 1]
                functions = layer.derivatives(point[axis + 1 : axis + 2], order)[order][..., 0, :]
                one = functions.ndim == 1
                result = result @ functions if one else jnp.einsum("c...r,cr->c...", result, functions)
            return result

        batch = max(1, _ROOM // max(1, math.prod(powers.shape[1:])))
        network = jax.lax.map(at, points, batch_size=min(batch, 1024))
        return network + self.carrier.derivative(points, index)

    def on_grid(self, times: np.ndarray, *axes: np.ndarray, index: Index | None = None) -> np.ndarray:
        """A derivative on the grid of all times and positions: component × time × x × y × z (NumPy)."""
        index = index or (0,) * (1 + len(axes))
        count = self.powers.shape[1]
        step = np.clip(np.searchsorted(self.edges, times, side="left") - 1, 0, len(self.edges) - 2)
        length = np.diff(self.edges)[step]
        share = 2 * (times - self.edges[step]) / length - 1
        weights = np.zeros((len(times), count))
        for q in range(index[0], count):
            weights[:, q] = math.perm(q, index[0]) * share ** (q - index[0]) * (2 / length) ** index[0]
        result = np.stack([np.tensordot(w, self.powers[k], 1) for w, k in zip(weights, step, strict=True)], 1)
        for axis, (layer, x) in enumerate(zip(self.layers, axes, strict=True)):
            functions = layer.derivatives(np.asarray(x, float), index[axis + 1])[index[axis + 1]]
            each = [functions] * len(result) if functions.ndim == 2 else functions
            result = np.stack(
                [
                    np.moveaxis(np.tensordot(f, own, (1, 1 + axis)), 0, 1 + axis)
                    for f, own in zip(each, result, strict=True)
                ]
            )
        return result + self.carrier.on_grid(times, axes, index)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything but the problem as plain arrays, for a file; `from_arrays` takes them back."""
        arrays = {"edges": np.asarray(self.edges), "powers": np.asarray(self.powers)}
        arrays["waves"] = np.asarray(self.carrier.most)
        for axis, own in enumerate(self.layers):
            arrays[f"layer.{axis}.of"] = np.asarray(own.of)
            for number, layer in enumerate(own.kinds):
                place = _place(axis, number)
                arrays |= {
                    f"{place}.weights": np.asarray(layer.weights),
                    f"{place}.biases": np.asarray(layer.biases),
                    f"{place}.mix": np.asarray(layer.mix),
                    f"{place}.polynomials": np.asarray(layer.polynomials),
                    f"{place}.kind": np.array([layer.low, layer.high, layer.periodic, *layer.powers]),
                }
        return arrays

    @classmethod
    def from_arrays(
        cls, problem: Problem, arrays: Mapping[str, np.ndarray], added: Added | None = None
    ) -> Function:
        """The function that `to_arrays` took apart, for the same problem and what was added to its lift."""
        layers = []
        for axis in range(len(problem.space)):
            # Older files have one kind for all components.
            of = tuple(map(int, arrays.get(f"layer.{axis}.of", [0] * len(problem.components))))
            layers.append(Layers(tuple(_layer(arrays, _place(axis, n)) for n in range(max(of) + 1)), of))
        with double():
            waves = {"waves": int(arrays["waves"])} if "waves" in arrays else {}
            carrier = Carrier(problem, added=added, **waves)
        return cls(tuple(layers), np.asarray(arrays["edges"]), np.asarray(arrays["powers"]), carrier)


def _place(axis: int, kind: int) -> str:
    """What the names of a layer's arrays begin with."""
    return f"layer.{axis}.{kind}" if kind else f"layer.{axis}"


def _layer(arrays: Mapping[str, np.ndarray], place: str) -> Layer:
    part = {name: np.asarray(arrays[f"{place}.{name}"]) for name in ("weights", "biases", "mix")}
    low, high, periodic, *powers = np.asarray(arrays[f"{place}.kind"])
    # Older files have no polynomials, and one power for both ends.
    polynomials = np.asarray(arrays.get(f"{place}.polynomials", np.zeros((0, 1))))
    return Layer(
        **part,
        polynomials=polynomials,
        low=float(low),
        high=float(high),
        periodic=bool(periodic),
        powers=(int(powers[0]), int(powers[-1])),
    )


@eqx.filter_jit
def _derivative(function: Function, points: Array, index: Index) -> Array:
    """Compiled once for each index and number of points."""
    return function._derivative(points, index)


def assemble(
    carrier: Carrier, layers: Sequence[Layers], track: Track, components: int, spare: float
) -> tuple[Function, float]:
    """The function that a track of output weights makes with its layers, and the L² norm of what it lacks.

    Functions that together contribute no more than `spare` to the L² norm at any time are left out: those of
    the smallest singular values, whose output weights are enormous.
    """
    powers = track.powers()
    powers = powers.reshape(*powers.shape[:2], components, *(layer.kinds[0].mix.shape[1] for layer in layers))
    known = np.stack(track.values)[..., : math.prod(powers.shape[2:])]
    states = known.reshape(-1, *powers.shape[2:])
    kept, lacking = [], 0.0
    for axis, layer in enumerate(layers):
        others = tuple(i for i in range(1, states.ndim) if i != axis + 2)
        weight = np.sum(states**2, axis=others).max(axis=0)
        ascending = np.argsort(weight)
        total = np.cumsum(weight[ascending])
        first = int(np.searchsorted(total, spare**2 / len(layers)))
        lacking += total[first - 1] if first else 0.0
        chosen = np.sort(ascending[first:])
        kept.append(layer.chosen(chosen))
        powers = np.take(powers, chosen, axis=axis + 3)
    return Function(tuple(kept), np.asarray(track.times), powers, carrier), math.sqrt(lacking)


@dataclass(frozen=True, eq=False)
class Evolved:
    """What `evolve` hands back."""

    problem: Problem
    function: Any
    """u(t, x); None if no pass finished."""
    estimated_error: float
    """The relative L2 error of u by the engine's own estimate; infinite where there is none."""
    stop: Stop
    passes: tuple[Pass, ...]
    seconds: float

    def derivative(self, points: Array, index: Index) -> Array:
        """A derivative of u at points (t in the first column): points × real components."""
        if self.function is None:
            raise HcpinnError(f"There is no solution. {self.stop.value}")
        return self.function.derivative(points, index)

    def outcome(self) -> Outcome | None:
        """The outcome of the engine; None if there is no solution."""
        if self.function is None:
            return None
        stages = tuple((f"{p.features} features, rank {p.rank}", p.steps) for p in self.passes)
        return Outcome(
            function=self.function,
            stop=self.stop,
            history=History(np.zeros(0), stages),
            seconds=self.seconds,
            estimated_error=self.estimated_error if math.isfinite(self.estimated_error) else None,
        )
