"""Equations as on paper, solved for the time derivative: `u_t + u u_x = nu u_xx` is uₜ = ν uₓₓ − u uₓ."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from .grammar import Scope, sides
from .tokens import FormulaError, tokenize
from .tree import Chain, Derivative, Literal, Name, Negative, Node, parts_of

_RATE = re.compile(r"(.+)_(t+)")
_ONE = Literal(1)


@dataclass(frozen=True)
class Equation:
    """fields[order t] = right."""

    field: str
    order: int
    right: Node


def stated_field(text: str) -> str:
    """The field whose time derivative an equation states."""
    found: list[tuple[str, int]] = []
    tokens = tokenize(text)
    for token, after, last in zip(
        tokens, [*tokens[1:], tokens[-1]], [*tokens[2:], *[tokens[-1]] * 2], strict=False
    ):
        rate = _RATE.fullmatch(token.text) if token.kind == "name" else None
        if token.kind == "name" and after.kind == "." and set(last.text) == {"t"}:
            found.append((token.text, token.at))
        elif rate:
            found.append((rate[1], token.at))
        elif token.kind == "=":
            break
    else:
        raise FormulaError("This is not an equation. Write it as u_t = F(u, u_x).", len(text))
    if not found:
        raise FormulaError(
            "There is no time derivative on the left. Write the equation as u_t = F(u, u_x).", 0
        )
    others = [at for name, at in found if name != found[0][0]]
    if others:
        raise FormulaError(
            "An equation states one time derivative, but there are two on the left.", others[0]
        )
    return found[0][0]


def read_equation(text: str, field: str, scope: Scope) -> Equation:
    """The equation for one of the fields."""
    both = replace(scope, letters="t" + scope.letters, about="An equation")
    left, right = sides(text, both, 2)
    orders = [_rate_order(part, field) for part in parts_of(left)]
    order = max(orders)
    if order > 2:
        raise FormulaError("The order in time is 1 or 2. Write the equation as a system.", max(left.at, 0))
    factor, others = _isolate(left, field, order)
    for sign, term in others:
        right = Chain(right, ((_MINUS[sign], term),)) if not _is_zero(right) else _signed(_MINUS[sign], term)
    if factor is not None:
        right = Chain(right, (("/", factor),))
    for part in parts_of(right):
        if isinstance(part, Derivative) and "t" in part.letters:
            plain = isinstance(part.inner, Name) and order == 2 and part.letters.count("t") == 1
            if not plain:
                raise FormulaError(
                    f"The equation states {field}_{'t' * order}, so no other time "
                    "derivative of that order may appear in it. Solve it for this one.",
                    max(part.at, 0),
                )
    return Equation(field, order, right)


_MINUS = {"+": "-", "-": "+"}


def _is_zero(node: Node) -> bool:
    return getattr(node, "value", None) == 0


def _signed(sign: str, node: Node) -> Node:
    return Negative(node) if sign == "-" else node


def _rate_order(part: Node, field: str) -> int:
    """How often it differentiates the field along t, and along nothing else."""
    if isinstance(part, Derivative) and isinstance(part.inner, Name) and part.inner.name == field:
        return len(part.letters) if set(part.letters) == {"t"} else 0
    return 0


def _isolate(left: Node, field: str, order: int) -> tuple[Node | None, list[tuple[str, Node]]]:
    """What the rate is multiplied by, if anything, and the other terms on the left, with their signs."""
    summed = isinstance(left, Chain) and left.is_sum
    terms = [("+", left.first), *left.rest] if summed else [("+", left)]  # type: ignore[union-attr]
    mine = [
        n
        for n, (_, term) in enumerate(terms)
        if any(_rate_order(part, field) == order for part in parts_of(term))
    ]
    if len(mine) != 1:
        raise FormulaError(f"{field}_{'t' * order} stands more than once on the left.", max(left.at, 0))
    sign, term = terms.pop(mine[0])
    factor = _factor(term, field, order)
    if sign == "-":
        factor = Negative(factor) if factor is not None else Negative(_ONE)
    return factor, terms


def _factor(term: Node, field: str, order: int) -> Node | None:
    if _rate_order(term, field) == order:
        return None
    if isinstance(term, Negative):
        inner = _factor(term.inner, field, order)
        return Negative(_ONE if inner is None else inner)
    if isinstance(term, Chain) and not term.is_sum:
        factors = [("*", term.first), *term.rest]
        others = [(s, part) for s, part in factors if _rate_order(part, field) != order]
        if (
            len(others) == len(factors) - 1
            and ("*", next(p for _, p in factors if _rate_order(p, field))) in factors
        ):
            found: Node | None = None
            for sign, part in others:
                if found is None:
                    found = part if sign == "*" else Chain(_ONE, (("/", part),))
                else:
                    found = Chain(found, ((sign, part),))
            return found
    raise FormulaError(
        f"Solve the equation for {field}_{'t' * order}: it may only be multiplied by a factor.",
        max(term.at, 0),
    )
