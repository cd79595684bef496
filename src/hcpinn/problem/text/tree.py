"""Formulas as trees, and their values: on hcpinn's fields and coordinates, on arrays, and on numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
import jax.scipy.special
import numpy as np
import scipy.special
from jaxtyping import Array

from ..expression import Expression, apply

Number = int | float | complex


@dataclass(frozen=True)
class Node:
    """A part of a formula."""

    at: int = field(default=-1, compare=False, kw_only=True)
    """Where it begins, in characters."""


@dataclass(frozen=True)
class Literal(Node):
    """A number that is written out, or a constant such as π by its `name`."""

    value: Number
    name: str = ""


@dataclass(frozen=True)
class Name(Node):
    """A field, a coordinate or a parameter."""

    name: str


@dataclass(frozen=True)
class Derivative(Node):
    """∂ of `inner`, once for each of the letters."""

    inner: Node
    letters: str


@dataclass(frozen=True)
class Call(Node):
    """A function of its arguments."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class Negative(Node):
    """−inner."""

    inner: Node


@dataclass(frozen=True)
class Power(Node):
    """base ^ exponent."""

    base: Node
    exponent: Node


@dataclass(frozen=True)
class Chain(Node):
    """Terms or factors from left to right: the first, then each with the sign before it."""

    first: Node
    rest: tuple[tuple[str, Node], ...]
    """Signs are + and −, or * and /."""

    @property
    def is_sum(self) -> bool:
        return self.rest[0][0] in "+-"


@dataclass(frozen=True)
class Comparison(Node):
    """first < second < …, true where all hold."""

    first: Node
    rest: tuple[tuple[str, Node], ...]


CONSTANTS: Mapping[str, Number] = {"pi": math.pi, "e": math.e, "i": 1j}


def _of(name: str, special: Any = None) -> Callable[..., Any]:
    """An elementwise function for whatever it is given."""

    def apply(*values: Any) -> Any:
        if any(isinstance(v, Expression) or hasattr(v, "is_symbol") for v in values):
            return (getattr(np, name) if special is None else special)(*values)
        if any(isinstance(v, Array | np.ndarray) for v in values):
            return getattr(jnp if special is None else jax.scipy.special, name)(*values)
        found = (getattr(np, name) if special is None else special)(*values)
        return found.item() if hasattr(found, "item") else found

    return apply


_where, _minimum, _maximum = _of("where"), _of("minimum"), _of("maximum")
_real, _imag, _conj, _cosh = _of("real"), _of("imag"), _of("conj"), _of("cosh")


def _step(value: Any) -> Any:
    return _where(value >= 0, 1.0, 0.0)


def _laplacian(value: Any) -> Any:
    return getattr(value, "laplacian", 0.0)


def _conjugate(value: Any) -> Any:
    return value.conj() if isinstance(value, Expression) else _conj(value)


def _folded(of_two: Callable[..., Any]) -> Callable[..., Any]:
    def apply(first: Any, *rest: Any) -> Any:
        for other in rest:
            first = of_two(first, other)
        return first

    return apply


@dataclass(frozen=True)
class Function:
    """A function that formulas know."""

    apply: Callable[..., Any]
    fewest: int = 1
    most: int = 1


_NUMPY = (
    "sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "log10", "sqrt", "sign", "arcsin", "arccos",
    "arctan", "arcsinh", "arctanh",
)  # fmt: skip

FUNCTIONS: Mapping[str, Function] = {
    **{name: Function(_of(name)) for name in _NUMPY},
    "abs": Function(abs),
    "erf": Function(_of("erf", scipy.special.erf)),
    "sech": Function(lambda value: 1 / _cosh(value)),
    "real": Function(_real),
    "imag": Function(_imag),
    "conj": Function(_conjugate),
    "step": Function(_step),
    "arctan2": Function(_of("arctan2"), 2, 2),
    "mod": Function(_of("mod"), 2, 2),
    "min": Function(_folded(_minimum), 2, 9),
    "max": Function(_folded(_maximum), 2, 9),
    "where": Function(_where, 3, 3),
    "and": Function(_folded(_of("logical_and")), 2, 9),
    "or": Function(_folded(_of("logical_or")), 2, 9),
    "not": Function(_of("logical_not")),
    "laplacian": Function(_laplacian),
}

ALIASES = {
    "ln": "log", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "re": "real",
    "im": "imag", "conjugate": "conj", "heaviside": "step", "if": "where", "minimum": "min",
    "maximum": "max", "sgn": "sign", "asinh": "arcsinh", "atanh": "arctanh",
}  # fmt: skip

_BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip


def value_of(node: Node, names: Mapping[str, Any], curves: Mapping[str, Callable[[Any], Any]]) -> Any:
    """The value of a formula, worked out as Python would work out the same formula.

    `names` are the values of fields, coordinates and parameters, `curves` the functions from data files.
    """

    def value(node: Node) -> Any:
        match node:
            case Literal():
                return node.value
            case Name():
                return names[node.name]
            case Negative():
                return -value(node.inner)
            case Power():
                return power(value(node.base), value(node.exponent))
            case Chain():
                found = value(node.first)
                for sign, other in node.rest:
                    found = _BINARY[sign](found, value(other))
                return found
            case Derivative():
                inner = value(node.inner)
                return 0.0 if is_number(inner) else getattr(inner, node.letters)
            case Comparison():
                return _compared(value(node.first), [(sign, value(other)) for sign, other in node.rest])
            case Call():
                arguments = [value(a) for a in node.arguments]
                own = curves.get(node.function)
                if own is None:
                    return FUNCTIONS[node.function].apply(*arguments)
                if any(isinstance(a, Expression) for a in arguments):
                    return apply(own, *arguments)
                return own(*arguments)
            case _:
                raise TypeError(type(node))

    return value(node)


def is_number(value: Any) -> bool:
    """Whether it is one of Python's numbers."""
    return isinstance(value, int | float | complex)


def power(base: Any, exponent: Any) -> Any:
    """base ^ exponent; of two numbers as floats, which cannot grow without bound as whole numbers do."""
    if is_number(base) and base == math.e:
        return FUNCTIONS["exp"].apply(exponent)
    if is_number(base) and is_number(exponent):
        found = complex(base) ** exponent if isinstance(base, complex) else float(base) ** exponent
        return int(found) if isinstance(found, float) and found.is_integer() and abs(found) < 2**53 else found
    return base**exponent


def _compared(first: Any, rest: list[tuple[str, Any]]) -> Any:
    found, last = None, first
    for sign, other in rest:
        this = _BINARY[sign](last, other)
        found = this if found is None else FUNCTIONS["and"].apply(found, this)
        last = other
    return found


def chained(left: Node, sign: str, right: Node, at: int = -1) -> Node:
    """left sign right; a longer chain where left is one of the same kind."""
    if isinstance(left, Chain) and left.is_sum == (sign in "+-"):
        return Chain(left.first, (*left.rest, (sign, right)), at=left.at)
    return Chain(left, ((sign, right),), at=at if at >= 0 else left.at)


def constant_of(node: Node) -> Number | None:
    """The number that a formula without names stands for; None where it has names."""
    if any(isinstance(part, Name) for part in parts_of(node)):
        return None
    found = value_of(node, {}, {})
    return found if is_number(found) else None


def children(node: Node) -> tuple[Node, ...]:
    """The parts that a part is made of."""
    match node:
        case Negative() | Derivative():
            return (node.inner,)
        case Power():
            return node.base, node.exponent
        case Chain() | Comparison():
            return node.first, *(other for _, other in node.rest)
        case Call():
            return node.arguments
        case _:
            return ()


def parts_of(node: Node) -> list[Node]:
    """A formula and all its parts."""
    found = [node]
    for part in found:
        found += children(part)
    return found
