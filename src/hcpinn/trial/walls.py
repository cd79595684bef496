"""Which conditions at walls a trial function holds by construction, and the factors and features that do it.

With d the distance from a wall and w the network, a component is u = ψ + dᵖ h w there. The power p holds
u = … = ∂ᵖ⁻¹u/∂nᵖ⁻¹ = 0. For conditions on higher derivatives, w depends on x only through features whose odd
derivatives below order 2r vanish at the wall:

    Neumann             u = w                 w′ = 0
    Robin               u = h w               w′ = 0, h > 0, α h + β ∂h/∂n = 0
    simply supported    u = sin(πξ/2) w       w′ = 0
    no flux             u = w                 w′ = w‴ = 0

The features are c, a cosine, and p ~ d²ʳ⁺¹ near the wall: every smooth w of that kind is a smooth function of
both, as every power series without odd terms below t²ʳ⁺¹ is one in t² and t²ʳ⁺¹.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..problem import Condition, Problem

OpenCondition = tuple[str, int | None]
"""What does not hold by construction: ("initial", None), ("periodic" or "boundary", axis), or on a curved
domain ("boundary", None)."""


@dataclass(frozen=True)
class Shape:
    """How a component behaves at one end: u = dᵖ h w, with w′ = w‴ = … = 0 below order 2r."""

    power: int = 0
    """p."""
    flat: int = 0
    """r."""
    rate: float = 0.0
    """−∂h/∂n / h = α/β of a Robin condition."""


FREE = Shape()


def shape_of(conditions: Sequence[Condition]) -> Shape | None:
    """The shape whose functions meet the homogeneous conditions; None if there is none."""
    if not conditions:
        return FREE
    if len(conditions) == 1 and conditions[0].order == 1 and conditions[0].factors[0]:
        return Shape(flat=1, rate=conditions[0].factors[0] / conditions[0].factors[1])
    orders = _orders(conditions)
    if orders is None:
        return None
    power = next((n for n, order in enumerate(orders) if order != n), len(orders))
    rest = [order - power for order in orders[power:]]
    return Shape(power, len(rest)) if rest == list(range(1, 2 * len(rest), 2)) else None


def _orders(conditions: Sequence[Condition]) -> list[int] | None:
    """The orders of single derivatives that the conditions, combined, set to zero; None for mixtures."""
    width = 1 + max(condition.order for condition in conditions)
    rows = np.zeros((len(conditions), width))
    for row, condition in zip(rows, conditions, strict=True):
        row[: condition.order + 1] = condition.factors
    found = []
    for at in range(width - 1, -1, -1):
        pivot = int(np.argmax(np.abs(rows[:, at])))
        if abs(rows[pivot, at]) <= 1e-12 * np.abs(rows).max():
            continue
        own = rows[pivot] / rows[pivot, at]
        rows = np.delete(rows, pivot, axis=0)
        rows = rows - rows[:, at : at + 1] * own
        if np.abs(own[:at]).max(initial=0.0) > 1e-12:
            found.append((at, own))
        else:
            found.append((at, None))
        if not len(rows):
            break
    single = {at for at, own in found if own is None}
    for at, own in found:
        if own is not None and any(abs(own[k]) > 1e-12 and k not in single for k in range(at)):
            return None
    return sorted(at for at, _ in found)


@dataclass(frozen=True)
class Wall:
    """One axis for one component: its shape at the lower end and at the upper."""

    shapes: tuple[Shape, Shape]

    def factor(self, share: tuple[Any, Any], length: float) -> Any:
        """dᵖ h over both ends, at most about 1, at the shares ξ = (x − a)/(b − a) and 1 − ξ."""
        (low, high), even = self.shapes, any(s.flat for s in self.shapes)
        near = tuple(jnp.sin(jnp.pi / 2 * d) for d in share) if even else share
        p, q = low.power, high.power
        largest = p**p * q**q / (p + q) ** (p + q) if p + q else 1.0
        value: Any = 1 / (math.sqrt(largest) if even else largest)
        for shape, distance in zip(self.shapes, near, strict=True):
            if shape.power:
                value = value * distance**shape.power
            if shape.rate:
                slope = abs(shape.rate) * length * 2 / math.pi
                grown = (1 + slope * distance) / (1 + slope)
                value = value * grown if shape.rate > 0 else value / (grown * (1 + slope))
        return value


class Held(abc.ABC):
    """Which boundary conditions hold by construction, and the factors of the network that see to it."""

    problem: Problem
    held: set[tuple[str, int]]
    """The part and the component of all conditions that hold."""

    @property
    @abc.abstractmethod
    def bound(self) -> list[OpenCondition]:
        """Every condition at walls, as a loss knows it."""

    @property
    @abc.abstractmethod
    def left_open(self) -> list[OpenCondition]:
        """Those of which something does not hold."""

    @property
    @abc.abstractmethod
    def terms(self) -> list[list[tuple[bool, ...]]]:
        """For each component the products of multipliers of its networks, by axis whether one is there."""

    @property
    @abc.abstractmethod
    def plain(self) -> bool:
        """Whether all components share one factor."""

    @property
    @abc.abstractmethod
    def shaped(self) -> bool:
        """Whether features must be flat at some wall."""

    @abc.abstractmethod
    def factors(self, coordinates: Any) -> Any:
        """The factor of each network at points (t, x, …): one column for all, or one for each."""

    @cached_property
    def gathering(self) -> np.ndarray | None:
        """Networks × components, one where a network belongs to a component; None if each has one."""
        if all(len(parts) == 1 for parts in self.terms):
            return None
        owner = [c for c, parts in enumerate(self.terms) for _ in parts]
        return np.eye(len(self.terms))[owner]


class Walls(Held):
    """What holds at the walls of a box, and how."""

    def __init__(self, problem: Problem, *, even: bool = False):
        """With `even`, the network sees axes through features that hold conditions on slopes too."""
        self.problem = problem
        self.held = set()
        fields = problem.component_fields
        self.by_axis: list[list[Wall]] = []
        """By axis, then component."""
        for ends in problem.boundaries:
            own = []
            for component, field in enumerate(fields):
                shapes = [FREE, FREE]
                for side in ends.sides:
                    shape = shape_of(side.conditions[field])
                    if shape is not None and (even or not shape.flat):
                        shapes[side.end] = shape
                        self.held.add((side.part, component))
                own.append(Wall((shapes[0], shapes[1])))
            self.by_axis.append(own)

    @property
    def bound(self) -> list[OpenCondition]:
        return [("boundary", axis) for axis, ends in enumerate(self.problem.boundaries) if ends.bound]

    @property
    def left_open(self) -> list[OpenCondition]:
        found: dict[OpenCondition, None] = {}
        for side in self.problem.sides:
            for component, field in enumerate(self.problem.component_fields):
                if side.conditions[field] and (side.part, component) not in self.held:
                    found["boundary", side.axis] = None
        return list(found)

    @property
    def shaped(self) -> bool:
        return any(self.flat(axis) != (0, 0) for axis in range(len(self.by_axis)))

    def flat(self, axis: int) -> tuple[int, int]:
        """r of the features along an axis, at either end: the largest that any component needs."""
        low, high = ([wall.shapes[end].flat for wall in self.by_axis[axis]] for end in (0, 1))
        return max(low), max(high)

    @property
    def terms(self) -> list[list[tuple[bool, ...]]]:
        """Where features are flatter than a component is, it is the sum of two networks, w₁ + p(ξ) w₂."""
        found: list[list[tuple[bool, ...]]] = []
        for component in range(len(self.problem.components)):
            parts: list[tuple[bool, ...]] = [()]
            for axis, walls in enumerate(self.by_axis):
                own = tuple(shape.flat for shape in walls[component].shapes)
                more = own != self.flat(axis)
                parts = [(*part, extra) for part in parts for extra in ((False, True) if more else (False,))]
            found.append(parts)
        return found

    @property
    def plain(self) -> bool:
        return all(len(set(walls)) == 1 for walls in self.by_axis)

    def factors(self, coordinates: Any) -> Any:
        domain, space = self.problem.domain, coordinates[:, 1:]
        shares = []
        for axis, (low, high) in enumerate(domain.bounds):
            x = space[:, axis]
            shares.append(((x - low) / (high - low), (high - x) / (high - low)))
        columns = []
        for component, parts in enumerate(self.terms):
            base: Any = jnp.ones_like(coordinates[:, 0])
            for axis, walls in enumerate(self.by_axis):
                base = base * walls[component].factor(shares[axis], domain.lengths[axis])
            for part in parts:
                value = base
                for axis, extra in enumerate(part):
                    if extra:
                        flat = tuple(shape.flat for shape in self.by_axis[axis][component].shapes)
                        value = value * flat_feature(shares[axis][0], flat)
                columns.append(value)
            if self.plain:
                break
        return jnp.stack(columns, axis=1)

    def features(self, axis: int, coordinates: Any) -> Any:
        """What the network sees of x: x itself, or c and p where some component needs a flat end."""
        flat, (low, high) = self.flat(axis), self.problem.domain.bounds[axis]
        x = coordinates[:, axis + 1]
        if flat == (0, 0):
            return self.problem.domain.scaled(axis, x)[:, None]
        xi, rest = (x - low) / (high - low), (high - x) / (high - low)
        if all(flat):
            cosine = jnp.cos(jnp.pi * xi)
        else:
            cosine = 2 * jnp.cos(jnp.pi / 2 * (xi if flat[0] else rest)) - 1
        return jnp.stack([cosine, flat_feature(xi, flat)], axis=1)


def flat_feature(xi: Any, flat: tuple[int, ...]) -> Any:
    """p from −1 to 1 with p′ ∝ ξ²ʳ (1 − ξ)²ˢ, by powers of the distance from the nearer end."""

    def risen(share: Any, low: int, high: int) -> Any:
        powers = [(-1) ** k * math.comb(high, k) / (low + k + 1) for k in range(high + 1)]
        return sum(p / sum(powers) * share ** (low + k + 1) for k, p in enumerate(powers))

    low, high = 2 * flat[0], 2 * flat[1]
    return jnp.where(xi <= 0.5, 2 * risen(xi, low, high) - 1, 1 - 2 * risen(1 - xi, high, low))
