"""Corrections: wide layers of drawn neurons, their output weights solved for, added to a trained network.

The trained function v leaves a residual r = vₜ − F(v). A correction w = φ Σⱼ cⱼ tanh(aⱼ·E + bⱼ), behind the
same gate φ and on the same embedding E, should solve the linearised equation

    wₜ − F'(v) w = −r.

Its hidden weights are drawn at several scales, more of them where the residual is large. The output weights
c, in which the trial function is linear, are a least-squares problem (variable projection), solved again
as v moves (Gauss–Newton). The scale whose correction leaves the smallest residual at other points wins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jaxtyping import Array, Float

from .. import jets
from ..jets import Jet
from ..objective import linearized, residual_block, sampling
from ..problem import Index
from ..trial import MLP, Fixed, JetNetwork, Trial

Layers = list[dict[str, Array]]
"""The hidden and the output layer of a correction."""

_SLOPES = (0.25, 0.5, 1.0, 2.0)
"""How steep a neuron is, for features of unit variance."""
_STEEPEST = 16.0
"""How many times steeper the steepest neuron is where steepness varies."""
_FEW = 3
"""Features that a neuron looks at, where it does not look at all."""
_POINTS = 4
"""Points per neuron; a third as many again, elsewhere, tell which correction is best."""
_SCREENED = 3
"""Scales are compared with that many times fewer neurons."""
_NEWTON = 4
"""Gauss–Newton steps at most."""
_CUT = 1e-12
"""Directions weaker than this, relative to the strongest, are left out of the least squares."""
_CHUNK = 512
"""Points taken at once."""


class Grown(eqx.Module):
    """The parameters of a network and of its corrections."""

    network: Any
    corrections: tuple[Layers, ...] = ()


@dataclass(frozen=True)
class Corrected(JetNetwork):
    """The sum of a network and any number of corrections, whose parameters are `Grown`."""

    network: JetNetwork

    def init(self, key: Any, inputs: int, outputs: int) -> Any:
        return Grown(self.network.init(key, inputs, outputs))

    def __call__(self, parameters: Any, features: Array) -> Array:
        values = self.network(parameters.network, features)
        return sum((_LAYER(layers, features) for layers in parameters.corrections), values)

    def propagate(self, parameters: Any, features: Jet, indices: Sequence[Index]) -> Jet:
        jet = self.network.propagate(parameters.network, features, indices)
        for layers in parameters.corrections:
            jet = jets.add(jet, _LAYER.propagate(layers, features, indices))
        return jet


_LAYER = MLP(1, 1)
"""One hidden layer; how wide it is, its parameters say."""


class _Places(eqx.Module):
    """Points, what is fixed there, and the jet of the function that is corrected."""

    fixed: Fixed
    jet: Jet


class Corrector:
    """Finds corrections of trained functions that share an equation, a domain, a gate and an embedding."""

    def __init__(self, trial: Trial, *, width: int):
        """`trial` is that of the first time window; a correction has about `width` unknowns."""
        problem = trial.problem
        self.trial = trial
        gathering = trial.walls.gathering
        self.owner = np.eye(trial.outputs) if gathering is None else gathering
        """Networks × components, one where a network belongs to a component."""
        self.width = max(width // len(self.owner), 8)
        self.zero: Index = (0,) * len(problem.axes)
        self.first: Index = (1, *self.zero[1:])
        self.wanted = tuple(dict.fromkeys((self.first, *problem.derivatives)))
        self.below = jets.closure(self.wanted)

    def correct(
        self, trial: Trial, parameters: Any, *, sampler: str, seed: int, label: str
    ) -> tuple[Layers | None, float]:
        """The correction of a function, None where none lowers the residual, and what residual is left.

        Args:
            trial: the trial function, around a `Corrected` network.
            parameters: those of its network.
            sampler: how points are drawn.
            seed: that of the run.
            label: tells the random numbers of this correction from those of others.
        """
        count = _POINTS * self.width
        candidates, check = (
            sampling.interior(trial.problem, many, seed=seed, sampler=sampler, purpose=f"{label}, {what}")
            for many, what in ((3 * count, "candidates"), (count // 3, "check"))
        )
        everywhere = self._places(trial, parameters, candidates)
        values = {name: jnp.asarray(float(v)) for name, v in trial.problem.parameters.items()}
        squares = np.sum(np.asarray(self._linearize(everywhere, values)[0]) ** 2, axis=1)
        numbered = np.arange(len(candidates), dtype=float)[:, None]
        drawn = sampling.by_residual(numbered, squares, count, seed=seed, purpose=f"{label}, points")
        chosen = drawn[:, 0].astype(int)
        fit, apart = _some(everywhere, chosen), self._places(trial, parameters, check)
        rng = sampling.generator(seed, f"{label}, neurons")
        best, lowest = None, self._size(apart, values)
        for hidden in self._screened(fit, apart, values, rng):
            found, left = self._solve(hidden, fit, apart, values, most=_NEWTON)
            if left < lowest:
                best, lowest = found, left
        return best, lowest

    def _screened(
        self, fit: _Places, apart: _Places, values: dict[str, Array], rng: np.random.Generator
    ) -> Iterator[dict[str, np.ndarray]]:
        """Hidden layers of the two scales that do best with few neurons."""
        few = self.width // _SCREENED
        less = _some(fit, np.arange(_POINTS * few))
        weights = np.sqrt(np.sum(np.asarray(self._linearize(fit, values)[0]) ** 2, axis=1))
        features = np.asarray(fit.fixed.features[self.zero])  # type: ignore[index]
        scores = []
        for kind in ("all", "few", "graded"):
            for slope in _SLOPES:
                hidden = _drawn(features, weights, kind, slope, few, rng)
                scores.append((self._solve(hidden, less, apart, values, most=1)[1], kind, slope))
        for _, kind, slope in sorted(scores)[:2]:
            yield _drawn(features, weights, kind, slope, self.width, rng)

    def _solve(
        self,
        hidden: dict[str, np.ndarray],
        fit: _Places,
        apart: _Places,
        values: dict[str, Array],
        *,
        most: int,
    ) -> tuple[Layers | None, float]:
        """The output weights above a hidden layer, and the residual that the correction leaves elsewhere."""
        neurons, others = (self._neurons(hidden, places.fixed) for places in (fit, apart))
        outer = np.zeros((len(hidden["bias"]), len(self.owner)))
        found, lowest = None, self._size(apart, values)
        at, there = fit, apart
        for _ in range(most):
            residual, slopes = self._linearize(at, values)
            columns = np.asarray(self._columns(neurons, slopes)).reshape(residual.size, -1)
            change = _least_squares(columns, -np.asarray(residual).ravel()).reshape(outer.shape)
            outer = outer + change
            at, there = (self._moved(p, n, change) for p, n in ((at, neurons), (there, others)))
            left = self._size(there, values)
            if not left < lowest:
                break
            enough = left > 0.5 * lowest
            output = {"weight": outer, "bias": np.zeros(len(self.owner))}
            found, lowest = jax.tree.map(jnp.asarray, [hidden, output]), left
            if enough:
                break
        return found, lowest

    def _places(self, trial: Trial, parameters: Any, points: np.ndarray) -> _Places:
        fixed = residual_block(trial, points, chunk=_CHUNK, pruned=False).fixed[0]
        return _Places(fixed, self._jet(trial.network, parameters, fixed))

    def _size(self, places: _Places, values: dict[str, Array]) -> float:
        """The root mean square of the residual."""
        size = float(jnp.sqrt(jnp.mean(self._residual(places.fixed, places.jet, values) ** 2)))
        return size if np.isfinite(size) else np.inf

    def _moved(self, places: _Places, neurons: Jet, outer: np.ndarray) -> _Places:
        return _Places(places.fixed, jets.add(places.jet, self._change(neurons, outer)))

    # Compiled

    @cached_property
    def _jet(self) -> Any:
        def jet(network: Any, parameters: Any, fixed: Fixed) -> Jet:
            trial = self.trial.with_network(network)
            return _in_chunks(lambda part: trial.jet(parameters, part, self.wanted), fixed)

        return jax.jit(jet, static_argnums=0)

    @cached_property
    def _residual(self) -> Any:
        def residual(fixed: Fixed, jet: Jet, values: dict[str, Array]) -> Array:
            return linearized(self.trial.problem, jet, fixed.coordinates, values)[0]

        return jax.jit(residual)

    def _linearize(self, places: _Places, values: dict[str, Array]) -> tuple[Array, Array]:
        return self._linearized(places.fixed.coordinates, places.jet, values)

    @cached_property
    def _linearized(self) -> Any:
        return jax.jit(lambda points, jet, values: linearized(self.trial.problem, jet, points, values))

    @cached_property
    def _neurons(self) -> Any:
        """The jets of each factor of the gate times each neuron: (points, factors, neurons)."""

        def neurons(hidden: dict[str, Array], fixed: Fixed) -> Jet:
            def at(part: Fixed) -> Jet:
                assert part.features is not None
                inner = jets.linear(part.features, jnp.asarray(hidden["weight"]), jnp.asarray(hidden["bias"]))
                inner = jets.compose(jets.tanh(), inner, self.below)
                gate = {index: value[:, :, None] for index, value in part.gate.items()}
                each = {index: value[:, None, :] for index, value in inner.items()}
                return jets.product(gate, each, self.wanted)

            return _in_chunks(at, fixed)

        return jax.jit(neurons)

    @cached_property
    def _columns(self) -> Any:
        """How the residual answers to each output weight: (points, components, neurons, networks)."""
        owner, count = jnp.asarray(self.owner), len(self.owner)

        def columns(neurons: Jet, slopes: Float[Array, "arguments components points components"]) -> Array:
            def each(index: Index) -> Array:
                value = neurons[index]
                return jnp.broadcast_to(value, (len(value), count, value.shape[-1]))

            total = jnp.einsum("iqw,qn->inwq", each(self.first), owner)
            for number, index in enumerate(self.trial.problem.derivatives):
                if index in neurons:
                    total -= jnp.einsum("iqw,qm,min->inwq", each(index), owner, slopes[number])
            return total

        return jax.jit(columns)

    @cached_property
    def _change(self) -> Any:
        """The jet that output weights add to the function."""
        owner = jnp.asarray(self.owner)

        def change(neurons: Jet, outer: Array) -> Jet:
            return {
                index: jnp.einsum("iqw,wq->iq", jnp.broadcast_to(value, (len(value), *outer.T.shape)), outer)
                @ owner
                for index, value in neurons.items()
            }

        return jax.jit(change)


def work(width: int) -> float:
    """The work of a correction in the units of a stage's: that of its least squares, at most."""
    return 2 * _NEWTON * _POINTS * width**3 / 4


def _in_chunks(function: Any, fixed: Fixed) -> Any:
    """A function of points applied to some of them at a time."""
    return jax.lax.map(
        lambda one: jax.tree.map(lambda a: a[0], function(jax.tree.map(lambda a: a[None], one))),
        fixed,
        batch_size=_CHUNK,
    )


def _some(places: _Places, which: np.ndarray) -> _Places:
    """Some of the points."""
    return jax.tree.map(lambda a: a[which], places)


def _drawn(
    features: Float[np.ndarray, "points features"],
    odds: Float[np.ndarray, " points"],
    kind: str,
    slope: float,
    count: int,
    rng: np.random.Generator,
) -> dict[str, np.ndarray]:
    """A hidden layer whose neurons turn near some of the points, drawn with these odds or evenly."""
    spread = features.std(axis=0)
    live = np.flatnonzero(spread > 1e-12)
    weight = np.zeros((len(spread), count))
    weight[live] = rng.normal(size=(len(live), count))
    seen = len(live)
    if kind == "few" and seen > _FEW:
        seen = _FEW
        order = np.argsort(rng.random((len(live), count)), axis=0)
        weight[live] *= order < seen
    weight[live] *= slope / (np.sqrt(seen) * spread[live])[:, None]
    size = odds / odds.sum() if odds.sum() > 0 else np.full(len(odds), 1 / len(odds))
    if kind == "graded":
        weight *= np.exp(rng.uniform(0.0, np.log(_STEEPEST), size=count))
    half = 0.5 * size + 0.5 / len(size)
    centres = features[rng.choice(len(features), count, p=half)]
    return {"weight": weight, "bias": rng.normal(size=count) - np.sum(centres.T * weight, axis=0)}


def _least_squares(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The smallest c with |A c − b| as small as possible, columns being scaled to one length."""
    lengths = np.linalg.norm(matrix, axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)
    if not (np.all(np.isfinite(matrix)) and np.all(np.isfinite(right))):
        return np.zeros(matrix.shape[1])
    found = scipy.linalg.lstsq(
        matrix / lengths, right, cond=_CUT, lapack_driver="gelsy", overwrite_a=True, check_finite=False
    )
    assert found is not None
    return found[0] / lengths
