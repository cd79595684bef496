"""The loss of one run and of many runs of one shape, with its gradient, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from ..errors import MethodError
from ..jets import closure, differentiated_once
from ..trial import JetNetwork, LayeredNetwork, Trial
from . import sampling
from .chunks import in_chunks, jacobian_chunk, join_chunks, summed
from .data import Data, Linearized, Measured, Rows
from .devices import Devices
from .residual import residual
from .term import RESIDUAL, Block, Term, residual_block


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
        unknowns: Callable[[Any], tuple[Any, Mapping[str, Any]]] = lambda tree: (tree, {}),
    ):
        """`template` is any set of network parameters; `chunk` is how many points are done at once.

        Where parameters of the problem are trained along, `unknowns` takes the template's tree apart into the
        network's and those.
        """
        self.trial = trial
        self.chunk = chunk
        self.devices = devices
        self._unknowns = unknowns
        flat, self.unravel = ravel_pytree(template)
        self.size: int = flat.size
        self.penalties = tuple(penalties)
        self.terms: dict[str, Term] = {
            term.name: term for term in (Term(RESIDUAL, 1.0, None, _residual), *penalties)
        }

    @property
    def output_weights(self) -> int:
        """How many of the last parameters are those of the linear last layer."""
        network = self.trial.network
        if not isinstance(network, LayeredNetwork):
            raise MethodError(
                f"A {type(network).__name__} does not separate its output weights from the others. Use an "
                "MLP."
            )
        return (network.width + 1) * self.trial.outputs

    def data(
        self, coordinates: Float[np.ndarray, "points axes"], trial: Trial | None = None, *, seed: int = 0
    ) -> Data:
        """The data of one run.

        Args:
            coordinates: where its residual is looked at.
            trial: its trial function, if that is not the objective's.
            seed: of the points of penalties and the order of mini-batches.
        """
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
        """Loss, gradient and mismatches of a run.

        Args:
            theta: the network's parameters.
            data: the run's.
            weights: factors of each point's square, by term.
        """
        loss, gradient = jnp.zeros((), theta.dtype), jnp.zeros_like(theta)
        terms, squares = {}, {}
        for name, term in self.terms.items():
            block, scale = data.blocks[name], self._scale(name, data, weights)
            value, slope, squares[name] = self._descend(term, theta, block, scale, data.parameters)
            loss, gradient = loss + value, gradient + slope
            terms[name] = jnp.sum(block.share * squares[name])
        return Measured(loss, gradient, terms, squares)

    def penalty(self, theta: Array, trial: Trial, seed: int) -> float:
        """The part of a run's loss from penalties."""
        if not self.penalties:
            return 0.0
        parameters = {name: jnp.asarray(float(v)) for name, v in trial.problem.parameters.items()}
        total = 0.0
        for term in self.penalties:
            block = term.block(trial, seed) if term.block else None
            if block is not None:
                mismatch = self._mismatch(term, theta, block, parameters, trial)
                total += term.weight * float(jnp.sum(block.share * jnp.sum(mismatch**2, axis=-1)))
        return total

    def linearize(
        self,
        theta: Array,
        data: Data,
        weights: Mapping[str, Array] | None = None,
        *,
        last: int | None = None,
    ) -> Linearized:
        """Loss and normal equations; the Jacobian is made, multiplied and dropped chunk by chunk.

        Args:
            theta: the network's parameters.
            data: the run's.
            weights: factors of each point's square, by term.
            last: how many of the last parameters may change; all unless given.
        """
        size = theta.size if last is None else last
        loss = jnp.zeros((), theta.dtype)
        slope, gram = jnp.zeros(size, theta.dtype), jnp.zeros((size, size), theta.dtype)
        for name, term in self.terms.items():
            block, scale = data.blocks[name], self._scale(name, data, weights)
            parts = self._normal_equations(term, theta, block, scale, data.parameters, size)
            loss, slope, gram = (a + b for a, b in zip((loss, slope, gram), parts, strict=True))
        return Linearized(loss, slope, gram)

    def sketch(
        self,
        theta: Array,
        data: Data,
        weights: Mapping[str, Array] | None = None,
        *,
        group: int,
        key: Array,
    ) -> Rows:
        """S ρ and S J: mismatches, weighted as in the loss, added up with random signs in random groups.

        A group's row is one gradient, so the Jacobian itself is never made.

        Args:
            theta: the network's parameters.
            data: that of the run.
            weights: factors of each point's square, by term.
            group: how many points make a row; terms of fewer points make one row.
            key: from which groups and signs are drawn.
        """
        found = []
        for number, (name, term) in enumerate(self.terms.items()):
            block, scale = data.blocks[name], self._scale(name, data, weights)
            own = jax.random.fold_in(key, number)
            found.append(self._sketched(term, theta, block, jnp.sqrt(scale), data.parameters, group, own))
        return jax.tree.map(lambda *parts: jnp.concatenate(parts), *found)

    def rows(self, theta: Array, data: Data) -> dict[str, Rows]:
        """Each term's mismatches and their Jacobian, without weights, a chunk of points at a time."""
        chunk = self.jacobian_chunk(theta.dtype.itemsize)
        return {
            name: self._at_points(self._rows_of(term), theta, data.blocks[name], data.parameters, chunk)
            for name, term in self.terms.items()
        }

    def scales(
        self, data: Data, weights: Mapping[str, Array] | None = None
    ) -> dict[str, Float[Array, " points"]]:
        """The factor of each point's squared mismatch in the loss, by term."""
        return {name: self._scale(name, data, weights) for name in self.terms}

    def _scale(self, name: str, data: Data, weights: Mapping[str, Array] | None) -> Float[Array, " points"]:
        share, weight = data.blocks[name].share, self.terms[name].weight
        scale = share if weight == 1.0 else weight * share
        return scale if weights is None or name not in weights else scale * weights[name]

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
        return lambda theta, parameters, part: self._mismatch(term, theta, part, parameters)

    def _mismatch(
        self, term: Term, theta: Array, block: Block, parameters: dict[str, Array], trial: Trial | None = None
    ) -> Array:
        network, own = self._unknowns(self.unravel(theta))
        return term.mismatch(trial or self.trial, network, block, {**parameters, **own})

    def _rows_of(
        self, term: Term, last: int | None = None
    ) -> Callable[[Array, dict[str, Array], Block], Rows]:
        """A function of the network's and the problem's parameters and points: a term's rows there."""
        mismatch = self._mismatch_of(term)

        def row(theta: Array, parameters: dict[str, Array], point: Block) -> Rows:
            alone = jax.tree.map(lambda a: a[None], point)
            rest, free = jnp.split(theta, [0 if last is None else theta.size - last])
            values, back = jax.vjp(lambda t: mismatch(jnp.concatenate([rest, t]), parameters, alone)[0], free)
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
            parts = jax.lax.map(lambda part: function(theta, parameters, part), in_chunks(block, chunk))
            return None, jax.tree.map(lambda a: join_chunks(a, block.share.size), parts)

        return self.devices.share_out(own, (theta, parameters), block)[1]

    def _normal_equations(
        self,
        term: Term,
        theta: Array,
        block: Block,
        scale: Array,
        parameters: dict[str, Array],
        size: int,
    ) -> tuple[Array, Array, Array]:
        rows = self._rows_of(term, size)

        def some(theta: Array, parameters: dict[str, Array], part: Block, scale: Array) -> tuple[Any, None]:
            found = rows(theta, parameters, part)
            root = jnp.sqrt(scale)[:, None]
            flat = (root * found.values).reshape(-1)
            tall = (root[..., None] * found.jacobian).reshape(-1, size)
            return (jnp.sum(flat**2), tall.T @ flat, tall.T @ tall), None

        chunk = jacobian_chunk(size, self.trial.outputs, theta.dtype.itemsize)
        own = partial(summed, some, chunk=chunk)
        return self.devices.share_out(own, (theta, parameters), block, scale)[0]

    def _sketched(
        self,
        term: Term,
        theta: Array,
        block: Block,
        root: Array,
        parameters: dict[str, Array],
        group: int,
        key: Array,
    ) -> Rows:
        mismatch = self._mismatch_of(term)

        first = jax.tree.map(lambda a: a[:1], block)
        values = jax.eval_shape(mismatch, theta, parameters, first).shape[-1]

        def row(theta: Array, parameters: dict[str, Array], part: Block, factors: Array) -> Rows:
            def total(theta: Array) -> Array:
                return jnp.sum(factors * mismatch(theta, parameters, part))

            return Rows(*jax.value_and_grad(total)(theta))

        def own(theta: Array, parameters: Any, block: Block, root: Array) -> tuple[None, Rows]:
            count = block.share.size
            size = min(group, count)
            groups = -(-count // size)
            order, signs = jax.random.split(key)
            places = jax.random.permutation(order, count)
            places = jnp.concatenate([places, places[: groups * size - count]])
            filling = (jnp.arange(groups * size) < count).astype(theta.dtype)
            sign = jax.random.rademacher(signs, (groups * size, values), theta.dtype)
            factors = sign * (filling * root[places])[:, None]
            parts = jax.tree.map(lambda a: a[places], block)
            grouped = jax.tree.map(lambda a: a.reshape(groups, size, *a.shape[1:]), (parts, factors))
            many = max(self.jacobian_chunk(theta.dtype.itemsize) // size, 1)
            found = jax.lax.map(lambda g: row(theta, parameters, *g), grouped, batch_size=min(many, groups))
            return None, found

        return self.devices.share_out(own, (theta, parameters), block, root)[1]

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
        return network.points_at_once(self.chunk, len(closure(self.trial.indices)), itemsize)

    def _descend(
        self, term: Term, theta: Array, block: Block, scale: Array, parameters: dict[str, Array]
    ) -> tuple[Array, Array, Array]:
        """A term's part of loss and gradient, summed chunk by chunk so that memory stays that of one."""

        def part(
            theta: Array, parameters: dict[str, Array], block: Block, scale: Array
        ) -> tuple[Array, Array]:
            with differentiated_once():
                values = self._mismatch(term, theta, block, parameters)
            squares = jnp.sum(values**2, axis=-1)
            return jnp.sum(scale * squares), squares

        def some(*given: Any) -> tuple[Any, Array]:
            (value, squares), gradient = jax.value_and_grad(part, has_aux=True)(*given)
            return (value, gradient), squares

        whole = block.share.size if term.name != RESIDUAL else 0
        own = partial(summed, some, chunk=max(self._descent_chunk(theta.dtype.itemsize), whole))
        (value, gradient), squares = self.devices.share_out(own, (theta, parameters), block, scale)
        return value, gradient, squares


def _residual(trial: Trial, network: Any, block: Block, parameters: Mapping[str, Any]) -> Array:
    return residual(trial, network, block.fixed[0], parameters)
