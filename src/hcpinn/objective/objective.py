"""The loss of one run and of many runs of one shape, with its gradient, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, UInt32

from .. import sampling
from ..jets import Jet, closure
from ..trial import Fixed, JetNetwork, Trial
from .devices import Devices
from .residual import residual
from .term import Block, Term, repeat_last, residual_block

_CACHE_BYTES = {"cpu": 2 << 20, "gpu": 1 << 30}
"""Size of one layer's jet that keeps a chunk of points fast: in cache, or simply in memory."""

_JACOBIAN_BYTES = 1 << 28
"""Size of the part of a Jacobian that is held at once."""

RESIDUAL = "residual"
"""The name of the equation's own term."""


class Data(eqx.Module):
    """What the loss of one run is computed from."""

    blocks: dict[str, Block]
    """What each term is computed from."""
    parameters: dict[str, Array]
    """The problem's named parameters."""
    span: Float[Array, "*runs two"]
    """When the problem starts, and how long it lasts."""
    key: UInt32[Array, "*runs words"]
    """From which the order of mini-batches is drawn."""

    def when(self, term: str) -> Float[Array, "*runs points"]:
        """The times of a term's points, from 0 at the start to 1 at the horizon."""
        return (self.blocks[term].fixed[0].coordinates[..., 0] - self.span[..., 0]) / self.span[..., 1]


class Measured(eqx.Module):
    """The loss at some parameters, with everything that comes with it."""

    loss: Float[Array, ""]
    gradient: Float[Array, " parameters"]
    terms: dict[str, Float[Array, ""]]
    """The mean squared mismatch of each term, without any weights."""
    squares: dict[str, Float[Array, " points"]]
    """The squared mismatch at each point of each term."""


class Linearized(eqx.Module):
    """The loss near some parameters, Σ (ρ + J δ)², by its normal equations."""

    loss: Float[Array, ""]
    slope: Float[Array, " parameters"]
    """Jᵀ ρ, half the gradient."""
    gram: Float[Array, "parameters parameters"]
    """Jᵀ J."""


class Rows(eqx.Module):
    """A term's mismatches, and how each answers to the network's parameters."""

    values: Float[Array, "*points values"]
    jacobian: Float[Array, "*points values parameters"]


class Objective:
    """A sum of mean squares over fixed points, for runs that differ in data but not in shape.

        loss = Σ_terms weight · Σ_points share · (weight of the point) · |mismatch|²

    The first term is the equation's residual; the others are penalties. `measure(theta, data)`
    is for a single run, with the network's parameters as one flat vector; `stack` lays the data
    of several runs together for `jax.vmap`. Several devices share out the points of each term.
    """

    def __init__(
        self,
        trial: Trial,
        template: Any,
        *,
        chunk: int,
        penalties: Sequence[Term] = (),
        devices: Devices = Devices(),
    ):
        """`template` is any set of network parameters; `chunk` is how many points are done at once."""
        self.trial = trial
        self._quick_trial = trial.for_descent()
        self.chunk = chunk
        self.devices = devices
        flat, self.unravel = ravel_pytree(template)
        self.size: int = flat.size
        self.penalties = tuple(penalties)
        self.terms: dict[str, Term] = {
            term.name: term for term in (Term(RESIDUAL, 1.0, None, _residual), *penalties)
        }

    def data(
        self, coordinates: Float[np.ndarray, "points axes"], trial: Trial | None = None, *, seed: int = 0
    ) -> Data:
        """The data of one run, with its residual at the given points; `trial` if it is not the first's."""
        own = self.trial if trial is None else trial
        blocks = {RESIDUAL: residual_block(own, coordinates, chunk=self.chunk)}
        blocks.update({term.name: term.block(own, seed) for term in self.penalties if term.block})
        parameters = {name: jnp.asarray(float(v)) for name, v in own.problem.parameters.items()}
        span = jnp.asarray([float(own.problem.start), float(own.problem.duration)])
        words = sampling.generator(seed, "batches").integers(0, 2**32, 2, np.uint32)
        return Data(blocks, parameters, span, jnp.asarray(words))

    def place(self, data: Data, axes: Any) -> Data:
        """The data, as `stack` gives them, with each device holding its share of the points."""
        blocks = self.devices.place(data.blocks, None if axes is None else axes.blocks)
        return eqx.tree_at(lambda d: d.blocks, data, blocks)

    def measure(self, theta: Array, data: Data, weights: Mapping[str, Array] | None = None) -> Measured:
        """Loss, gradient and mismatches; `weights` are factors of each point's square, by term."""
        loss, gradient = jnp.zeros((), theta.dtype), jnp.zeros_like(theta)
        terms, squares = {}, {}
        for name, term in self.terms.items():
            block = data.blocks[name]
            scale = block.share if term.weight == 1.0 else term.weight * block.share
            if weights is not None and name in weights:
                scale = scale * weights[name]
            value, slope, squares[name] = self._descend(term, theta, block, scale, data.parameters)
            loss, gradient = loss + value, gradient + slope
            terms[name] = jnp.sum(block.share * squares[name])
        return Measured(loss, gradient, terms, squares)

    def penalty(self, theta: Array, trial: Trial, seed: int) -> float:
        """The part of a run's loss that stands for conditions."""
        if not self.penalties:
            return 0.0
        parameters = {name: jnp.asarray(float(v)) for name, v in trial.problem.parameters.items()}
        total = 0.0
        for term in self.penalties:
            block = term.block(trial, seed) if term.block else None
            if block is not None:
                mismatch = term.mismatch(trial, self.unravel(theta), block, parameters)
                total += term.weight * float(jnp.sum(block.share * jnp.sum(mismatch**2, axis=-1)))
        return total

    def linearize(self, theta: Array, data: Data, weights: Mapping[str, Array] | None = None) -> Linearized:
        """Loss and normal equations; the Jacobian is made, multiplied and dropped chunk by chunk."""
        loss = jnp.zeros((), theta.dtype)
        slope, gram = jnp.zeros_like(theta), jnp.zeros((theta.size, theta.size), theta.dtype)
        for name, term in self.terms.items():
            block = data.blocks[name]
            scale = term.weight * block.share
            if weights is not None and name in weights:
                scale = scale * weights[name]
            parts = self._normal_equations(term, theta, block, scale, data.parameters)
            loss, slope, gram = (a + b for a, b in zip((loss, slope, gram), parts, strict=True))
        return Linearized(loss, slope, gram)

    def rows(self, theta: Array, data: Data) -> dict[str, Rows]:
        """Each term's mismatches and their Jacobian, without weights, a chunk of points at a time."""
        chunk = self.jacobian_chunk(theta.dtype.itemsize)
        return {
            name: self._at_points(self._rows_of(term), theta, data.blocks[name], data.parameters, chunk)
            for name, term in self.terms.items()
        }

    def scales(self, data: Data) -> dict[str, Float[Array, " points"]]:
        """The factor of each point's squared mismatch in the loss, by term."""
        return {name: term.weight * data.blocks[name].share for name, term in self.terms.items()}

    def mismatches(self, theta: Array, data: Data) -> dict[str, Float[Array, "points values"]]:
        """What each term should make vanish, without weights."""
        return {
            name: self._at_points(
                self._mismatch_of(term), theta, data.blocks[name], data.parameters, self.chunk
            )
            for name, term in self.terms.items()
        }

    def jacobian_chunk(self, itemsize: int = 8) -> int:
        """How many points' rows of the Jacobian are held at once."""
        return jacobian_chunk(self.size, self.trial.outputs, itemsize)

    def _mismatch_of(self, term: Term) -> Callable[[Array, dict[str, Array], Block], Array]:
        """A function of the network's and the problem's parameters and points: a term's mismatch there."""
        return lambda theta, parameters, part: term.mismatch(
            self.trial, self.unravel(theta), part, parameters
        )

    def _rows_of(self, term: Term) -> Callable[[Array, dict[str, Array], Block], Rows]:
        """A function of the network's and the problem's parameters and points: a term's rows there."""
        mismatch = self._mismatch_of(term)

        def row(theta: Array, parameters: dict[str, Array], point: Block) -> Rows:
            alone = jax.tree.map(lambda a: a[None], point)
            values, back = jax.vjp(lambda t: mismatch(t, parameters, alone)[0], theta)
            jacobian = jax.vmap(lambda unit: back(unit)[0])(jnp.eye(values.size, dtype=values.dtype))
            return Rows(values, jacobian)

        return jax.vmap(row, in_axes=(None, None, 0))

    def _at_points(
        self,
        function: Callable[[Array, dict[str, Array], Block], Any],
        theta: Array,
        block: Block,
        parameters: dict[str, Array],
        chunk: int,
    ) -> Any:
        """What a function gives at each point of a block, a chunk of points at a time."""

        def own(theta: Array, parameters: dict[str, Array], block: Block, _: None) -> tuple[None, Any]:
            parts = jax.lax.map(lambda part: function(theta, parameters, part), _in_chunks(block, chunk))
            return None, jax.tree.map(lambda a: _join(a, block.share.size), parts)

        return self.devices.share_out(own, (theta, parameters), block)[1]

    def _normal_equations(
        self, term: Term, theta: Array, block: Block, scale: Array, parameters: dict[str, Array]
    ) -> tuple[Array, Array, Array]:
        rows = self._rows_of(term)

        def one(
            theta: Array, parameters: dict[str, Array], part: Block, scale: Array
        ) -> tuple[Array, Array, Array]:
            found = rows(theta, parameters, part)
            root = jnp.sqrt(scale)[:, None]
            flat = (root * found.values).reshape(-1)
            tall = (root[..., None] * found.jacobian).reshape(-1, theta.size)
            return jnp.sum(flat**2), tall.T @ flat, tall.T @ tall

        def own(theta: Array, parameters: Any, block: Block, scale: Array) -> tuple[Any, None]:
            blocks, scales = _in_chunks((block, scale), self.jacobian_chunk(theta.dtype.itemsize))
            scales = _without_filling(scales, block.share.size)
            first = jax.tree.map(lambda a: a[0], (blocks, scales))
            if len(scales) == 1:
                return one(theta, parameters, *first), None
            shapes = jax.eval_shape(one, theta, parameters, *first)
            zero = jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), shapes)

            def add(sums: Any, chunk: Any) -> tuple[Any, None]:
                return jax.tree.map(jnp.add, sums, one(theta, parameters, *chunk)), None

            return jax.lax.scan(add, zero, (blocks, scales))

        return self.devices.share_out(own, (theta, parameters), block, scale)[0]

    @cached_property
    def residual_squares(self) -> Any:
        """|residual|² at the points of a block, compiled: `residual_squares(theta, block, parameters)`."""
        mismatch = self._mismatch_of(self.terms[RESIDUAL])

        def one(theta: Array, parameters: dict[str, Array], part: Block) -> Array:
            return jnp.sum(mismatch(theta, parameters, part) ** 2, axis=-1)

        return self.devices.compiled(
            lambda theta, block, parameters: self._at_points(one, theta, block, parameters, self.chunk)
        )

    def _descent_chunk(self, itemsize: int) -> int:
        """How many points are taken forward and back at once."""
        network = self.trial.network
        if not isinstance(network, JetNetwork):
            return self.chunk
        return network.chunk(self.chunk, len(closure(self.trial.indices)), itemsize)

    def _descend(
        self, term: Term, theta: Array, block: Block, scale: Array, parameters: dict[str, Array]
    ) -> tuple[Array, Array, Array]:
        """A term's part of loss and gradient, summed chunk by chunk so that memory stays that of one."""

        def part(
            theta: Array, parameters: dict[str, Array], block: Block, scale: Array
        ) -> tuple[Array, Array]:
            values = term.mismatch(self._quick_trial, self.unravel(theta), block, parameters)
            squares = jnp.sum(values**2, axis=-1)
            return jnp.sum(scale * squares), squares

        both = jax.value_and_grad(part, has_aux=True)

        most = self._descent_chunk(theta.dtype.itemsize)

        def own(theta: Array, parameters: Any, block: Block, scale: Array) -> tuple[Any, Array]:
            count = block.share.size
            if count <= most or term.name != RESIDUAL:
                (value, squares), gradient = both(theta, parameters, block, scale)
                return (value, gradient), squares

            def add(sums: tuple[Array, Array], chunk: tuple[Block, Array]) -> tuple[Any, Array]:
                (value, squares), gradient = both(theta, parameters, *chunk)
                return (sums[0] + value, sums[1] + gradient), squares

            zero = (jnp.zeros((), theta.dtype), jnp.zeros_like(theta))
            blocks, scales = _in_chunks((block, scale), most)
            sums, squares = jax.lax.scan(add, zero, (blocks, _without_filling(scales, count)))
            return sums, _join(squares, count)

        (value, gradient), squares = self.devices.share_out(own, (theta, parameters), block, scale)
        return value, gradient, squares


def _residual(trial: Trial, network: Any, block: Block, parameters: Mapping[str, Any]) -> Array:
    return residual(trial, network, block.fixed[0], parameters)


def _in_chunks(tree: Any, chunk: int) -> Any:
    """Arrays over points as (chunks, points in a chunk, …); the last chunk repeats its last point."""
    count = jax.tree.leaves(tree)[0].shape[0]
    chunks = -(-count // chunk)
    size = -(-count // chunks)
    filled = repeat_last(tree, chunks * size)
    return jax.tree.map(lambda a: a.reshape(chunks, size, *a.shape[1:]), filled)


def _join(values: Array, count: int) -> Array:
    """The values at points from those in chunks, without the points that only fill up the last chunk."""
    return values.reshape(-1, *values.shape[2:])[:count]


def _without_filling(scales: Float[Array, "chunks points"], count: int) -> Float[Array, "chunks points"]:
    """The scales of points in chunks: those that only fill up the last chunk count for nothing."""
    return jnp.where(jnp.arange(scales.size).reshape(scales.shape) < count, scales, 0.0)


def jacobian_chunk(size: int, outputs: int, itemsize: int) -> int:
    """How many points' rows of a Jacobian with `size` columns are held at once."""
    return int(np.clip(_JACOBIAN_BYTES // (size * itemsize * outputs), 64, 4096))


def chunk_size(*, width: int, indices: int, itemsize: int, runs: int, platform: str) -> int:
    """How many points to take through the network at once."""
    budget = _CACHE_BYTES.get(platform, _CACHE_BYTES["gpu"])
    points = budget // (width * indices * itemsize * runs)
    return int(np.clip(2 ** int(np.log2(max(points, 1))), 256, 1 << 20))


def stack(runs: Sequence[Data]) -> tuple[Data, Any]:
    """Several runs' data as one tree, with the axes to map over: None for what all runs share."""
    if len(runs) == 1:
        return runs[0], None
    trees = _with_same_indices(runs)

    def same(*leaves: Any) -> bool:
        first = np.asarray(leaves[0])
        return all(np.array_equal(first, np.asarray(leaf)) for leaf in leaves[1:])

    shared = jax.tree.map(same, *trees)
    stacked = jax.tree.map(lambda s, *leaves: leaves[0] if s else jnp.stack(leaves), shared, *trees)
    return stacked, jax.tree.map(lambda s: None if s else 0, shared)


def _with_same_indices(runs: Sequence[Data]) -> list[Data]:
    """The data with zeros for derivatives of lift or gate that vanish in some runs but not in others."""

    def fill(jets: Sequence[Jet]) -> list[Jet]:
        like = {index: value for jet in jets for index, value in jet.items()}
        return [{i: jet[i] if i in jet else jnp.zeros_like(v) for i, v in like.items()} for jet in jets]

    def alike(fixed: Sequence[Fixed]) -> list[Fixed]:
        lifts, gates = fill([f.lift for f in fixed]), fill([f.gate for f in fixed])
        return [
            Fixed(f.coordinates, lift, gate, f.features)
            for f, lift, gate in zip(fixed, lifts, gates, strict=True)
        ]

    filled: list[dict[str, Block]] = [{} for _ in runs]
    for name in runs[0].blocks:
        blocks = [run.blocks[name] for run in runs]
        places = [alike([b.fixed[i] for b in blocks]) for i in range(len(blocks[0].fixed))]
        for number, block in enumerate(blocks):
            own = tuple(place[number] for place in places)
            filled[number][name] = Block(own, block.target, block.share)
    return [Data(blocks, run.parameters, run.span, run.key) for blocks, run in zip(filled, runs, strict=True)]
