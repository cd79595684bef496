"""Counting operations: what a function computes at least, read off its trace.

A trace is turned into a graph of values. The same operation on the same values counts once, however
often it is written down or recomputed, and what no result depends on does not count.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from jax.extend.core import Literal


@dataclass(frozen=True)
class Operations:
    """Numbers of operations."""

    products: float = 0.0
    """Multiplications and additions within matrix products."""
    arithmetic: float = 0.0
    """Additions, multiplications, comparisons, elsewhere."""
    functions: float = 0.0
    """tanh and its like, square roots, divisions."""

    def __add__(self, other: Operations) -> Operations:
        return Operations(
            self.products + other.products,
            self.arithmetic + other.arithmetic,
            self.functions + other.functions,
        )

    def times(self, factor: float) -> Operations:
        """As many repeated `factor` times."""
        return Operations(factor * self.products, factor * self.arithmetic, factor * self.functions)


def operations(function: Callable[..., Any], *arguments: Any) -> Operations:
    """What `function` computes from arguments of these shapes."""
    closed = jax.make_jaxpr(function)(*arguments)
    graph = _Graph()
    inputs = [graph.leaf(("input", number)) for number in range(len(closed.jaxpr.invars))]
    return graph.total(graph.follow(closed.jaxpr, closed.consts, inputs))


@dataclass
class _Graph:
    """Values by number; each knows the values it is made from and what that takes."""

    known: dict[Any, int] = field(default_factory=dict)
    made_from: list[tuple[int, ...]] = field(default_factory=list)
    takes: list[Operations] = field(default_factory=list)

    def leaf(self, name: Any) -> int:
        return self._node(name, (), Operations())

    def follow(self, jaxpr: Any, constants: Any, inputs: list[int]) -> list[int]:
        """The values of a trace's outputs, from those of its inputs."""
        values: dict[Any, int] = dict(zip(jaxpr.invars, inputs, strict=True))
        for variable, constant in zip(jaxpr.constvars, constants, strict=True):
            values[variable] = self.leaf(_literal(constant))

        def value(atom: Any) -> int:
            return self.leaf(_literal(atom.val)) if isinstance(atom, Literal) else values[atom]

        for equation in jaxpr.eqns:
            results = self._results(equation, [value(atom) for atom in equation.invars])
            values.update(zip(equation.outvars, results, strict=True))
        return [value(atom) for atom in jaxpr.outvars]

    def total(self, outputs: list[int]) -> Operations:
        """What all values take that the outputs depend on."""
        needed, waiting, sum_ = set(), list(outputs), Operations()
        while waiting:
            node = waiting.pop()
            if node not in needed:
                needed.add(node)
                sum_ += self.takes[node]
                waiting += self.made_from[node]
        return sum_

    def _results(self, equation: Any, inputs: list[int]) -> list[int]:
        name = equation.primitive.name
        inner = _inner(equation)
        if inner is not None:
            return self.follow(inner[0], inner[1], inputs)
        if name in _LOOPS:
            raise ValueError(f"Operations within '{name}' cannot be counted from a trace.")
        if name == "mul":
            for one, other in (inputs, inputs[::-1]):
                if one == self.known.get(_ONE):
                    return [other]
        operands = tuple(sorted(inputs) if name in _COMMUTING else inputs)
        settings = str(sorted((k, str(v)) for k, v in equation.params.items()))
        takes = _cost(equation)
        first = self._node((name, settings, operands, 0), operands, takes)
        others = range(1, len(equation.outvars))
        return [first, *(self._node((name, settings, operands, n), (first,), Operations()) for n in others)]

    def _node(self, key: Any, made_from: tuple[int, ...], takes: Operations) -> int:
        if key not in self.known:
            self.known[key] = len(self.made_from)
            self.made_from.append(made_from)
            self.takes.append(takes)
        return self.known[key]


_LOOPS = {"scan", "while", "cond"}
_COMMUTING = {"mul", "add", "add_any", "max", "min"}
_FUNCTIONS = {
    *("tanh", "exp", "exp2", "log", "log1p", "expm1", "sin", "cos", "tan", "sinh", "cosh", "logistic"),
    *("erf", "erfc", "sqrt", "rsqrt", "cbrt", "pow", "div", "atan2", "asin", "acos", "atan"),
}
_MOVES = {
    *("broadcast_in_dim", "reshape", "transpose", "squeeze", "slice", "concatenate", "convert_element_type"),
    *("copy", "copy_p", "pad", "iota", "gather", "dynamic_slice", "stop_gradient", "rev", "expand_dims"),
    *("real", "imag", "complex", "reduce_precision", "optimization_barrier", "split"),
}
"""Operations that only lay values out anew."""


def _literal(value: Any) -> Any:
    array = np.asarray(value)
    return ("constant", str(array.dtype.kind), array.shape, array.tobytes())


_ONE = _literal(np.float64(1.0))


def _inner(equation: Any) -> tuple[Any, Any] | None:
    """The trace that an equation calls, if it is a call."""
    if equation.primitive.name in _LOOPS:
        return None
    for key in ("jaxpr", "call_jaxpr", "fun_jaxpr"):
        inner = equation.params.get(key)
        if inner is not None:
            return (inner.jaxpr, inner.consts) if hasattr(inner, "consts") else (inner, ())
    return None


def _cost(equation: Any) -> Operations:
    name = equation.primitive.name
    size = math.prod(equation.outvars[0].aval.shape)
    if name in _MOVES:
        return Operations()
    if name == "dot_general":
        (contracted, _), _ = equation.params["dimension_numbers"]
        shape = equation.invars[0].aval.shape
        return Operations(products=2.0 * size * math.prod(shape[axis] for axis in contracted))
    if name in _FUNCTIONS:
        return Operations(functions=size)
    if name == "integer_pow":
        power = abs(equation.params["y"])
        steps = power.bit_length() - 1 + power.bit_count() - 1
        return Operations(arithmetic=size * steps, functions=size * (equation.params["y"] < 0))
    if name.startswith("reduce_"):
        return Operations(arithmetic=math.prod(equation.invars[0].aval.shape) - size)
    return Operations(arithmetic=size)
