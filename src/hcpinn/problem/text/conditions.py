"""Conditions at a wall as on paper, `u = 0` or `u_n + 2 (u - 1) = sin(t)`, as conditions of a declaration.

n is the outward normal. A condition is linear in one field, with numbers as factors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..conditions import Data, Derivative, Dirichlet, Linear, Neumann, Prescribed, Robin
from ..samples import Samples
from .formula import Formula
from .grammar import Scope, parse_all
from .tokens import FormulaError
from .tree import Chain, Derivative as Slope, Literal, Name, Negative, Node, constant_of, parts_of
from .typeset import PLAIN


@dataclass
class _Affine:
    """Σ factor · ∂ᵏ(field) + data."""

    factors: dict[tuple[str, int], float]
    data: list[tuple[str, Node]]
    """Terms with their signs."""


@dataclass(frozen=True)
class Wall:
    """Where conditions hold: everywhere, or at one end of one axis."""

    letter: str = ""
    sign: float = 1.0
    """The outward normal along the axis."""


def read_conditions(
    text: str, scope: Scope, wall: Wall, curves: Mapping[str, Samples]
) -> list[tuple[str, Prescribed]]:
    """The conditions that a text states, with the field that each is on."""
    scope = replace(scope, letters="n" + wall.letter, about="A condition")
    found = []
    for left, right in parse_all(text, scope):
        one, other = _affine(left, scope, wall), _affine(right, scope, wall)
        for key, factor in other.factors.items():
            one.factors[key] = one.factors.get(key, 0.0) - factor
        data = [*other.data, *((_MINUS[sign], node) for sign, node in one.data)]
        found.append(_condition(one.factors, data, scope, curves, left))
    return found


_MINUS = {"+": "-", "-": "+"}


def _condition(
    factors: dict[tuple[str, int], float],
    terms: list[tuple[str, Node]],
    scope: Scope,
    curves: Mapping[str, Samples],
    left: Node,
) -> tuple[str, Prescribed]:
    factors = {key: factor for key, factor in factors.items() if factor}
    names = {name for name, _ in factors}
    if len(names) != 1:
        wanted = f"one of {', '.join(scope.fields)}"
        which = f"uses {' and '.join(sorted(names))}" if names else "uses none"
        raise FormulaError(f"A condition is on {wanted}, but this one {which}.", max(left.at, 0))
    [field] = names
    by_order = {order: factor for (_, order), factor in factors.items()}
    highest = max(by_order)
    if len(by_order) == 1:
        data = _data(terms, by_order[highest], scope, curves)
        kinds = {0: Dirichlet, 1: Neumann}
        return field, kinds[highest](data) if highest in kinds else Derivative(data, order=highest)
    turn = -1.0 if by_order[highest] < 0 else 1.0
    data = _data(terms, turn, scope, curves)
    every = tuple(turn * by_order.get(order, 0.0) for order in range(highest + 1))
    if highest == 1:
        return field, Robin(data, value=every[0], slope=every[1])
    return field, Linear(data, factors=every)


def _data(terms: list[tuple[str, Node]], divisor: float, scope: Scope, curves: Mapping[str, Samples]) -> Data:
    """The data, divided by the factor of what they are of."""
    terms = [(sign, node) for sign, node in terms if constant_of(node) != 0]
    if not terms:
        return 0.0
    (sign, first), *rest = terms
    node: Node = Negative(first) if sign == "-" else first
    if rest:
        node = Chain(node, tuple(rest))
    if divisor == -1:
        node = Negative(node)
    elif divisor != 1:
        node = Chain(node, (("/", Literal(divisor)),))
    number = constant_of(node)
    if number is not None:
        return number if isinstance(number, complex) else float(number)  # type: ignore[return-value]
    return Formula((PLAIN.write(node),), replace(scope, fields=(), letters=""), dict(curves))


def _affine(node: Node, scope: Scope, wall: Wall) -> _Affine:
    """A formula as a sum of derivatives of fields, with numbers as factors, and of data."""
    if not any(isinstance(part, Name) and part.name in scope.fields for part in parts_of(node)):
        return _Affine({}, [("+", node)])
    match node:
        case Name():
            return _Affine({(node.name, 0): 1.0}, [])
        case Slope(inner=Name(name=name)) if name in scope.fields:
            sign = wall.sign ** sum(letter != "n" for letter in node.letters)
            return _Affine({(name, len(node.letters)): sign}, [])
        case Negative():
            return _scaled(_affine(node.inner, scope, wall), -1.0, Literal(-1))
        case Chain() if node.is_sum:
            found = _affine(node.first, scope, wall)
            for sign, term in node.rest:
                other = _affine(term, scope, wall)
                for key, factor in other.factors.items():
                    found.factors[key] = found.factors.get(key, 0.0) + (factor if sign == "+" else -factor)
                found.data += [(s if sign == "+" else _MINUS[s], n) for s, n in other.data]
            return found
        case Chain():
            return _product(node, scope, wall)
    raise FormulaError(
        f"A condition is linear in {' and '.join(scope.fields)}, but this is not.", max(node.at, 0)
    )


def _product(node: Chain, scope: Scope, wall: Wall) -> _Affine:
    inner: _Affine | None = None
    factor: Node = Literal(1)
    for sign, part in (("*", node.first), *node.rest):
        own = _affine(part, scope, wall)
        if own.factors:
            if inner is not None or sign == "/":
                raise FormulaError("A condition is linear in its field, but this is not.", max(part.at, 0))
            inner = own
        else:
            factor = Chain(factor, ((sign, part),))
    number = constant_of(factor)
    if number is None or isinstance(number, complex):
        raise FormulaError(
            "What a field is multiplied by in a condition must be a number, not a parameter or a function.",
            max(node.at, 0),
        )
    assert inner is not None
    return _scaled(inner, float(number), Literal(number))


def _scaled(found: _Affine, factor: float, written: Node) -> _Affine:
    data = [
        (_MINUS[sign], node) if factor == -1 else (sign, Chain(written, (("*", node),)))
        for sign, node in found.data
    ]
    return _Affine({key: factor * value for key, value in found.factors.items()}, data)
