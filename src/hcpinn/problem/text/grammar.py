"""The grammar of formulas: a Pratt parser, from tokens to a tree. Nothing is ever evaluated as code.

Signs bind as in Python: ^ before the sign of a number, that before * and /, those before + and −, and those
before < and >. Things side by side are multiplied. What could be read in two ways is refused.
"""

from __future__ import annotations

import difflib
import itertools
import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from ..expression import MAX_ORDER
from .tokens import FormulaError, Token, tokenize
from .tree import (
    ALIASES,
    CONSTANTS,
    FUNCTIONS,
    Call,
    Chain,
    Comparison,
    Derivative,
    Literal,
    Name,
    Negative,
    Node,
    Number,
    Power,
    chained,
    children,
    constant_of,
    is_number,
)

_DEEPEST = 40
"""Brackets within brackets."""

_COMPARE, _SUM, _PRODUCT, _SIGN, _POWER, _SUFFIX = 10, 20, 30, 35, 40, 50
_LEFT = {
    **dict.fromkeys(("<", ">", "<=", ">="), _COMPARE),
    **dict.fromkeys("+-", _SUM),
    **dict.fromkeys("*/", _PRODUCT),
    "^": _POWER,
    **dict.fromkeys("_.", _SUFFIX),
}
_BEGINS = ("name", "number", "(", "|", "Δ")
"""Tokens that multiply what stands before them."""


@dataclass(frozen=True)
class Scope:
    """What names mean in a formula."""

    fields: tuple[str, ...] = ()
    coordinates: tuple[str, ...] = ()
    parameters: Collection[str] = ()
    curves: Collection[str] = ()
    letters: str = ""
    """What derivatives may be taken along: coordinates, and n for the outward normal."""
    about: str = "This formula"
    """What it is, for messages."""

    @property
    def names(self) -> tuple[str, ...]:
        return *self.fields, *self.coordinates, *self.parameters


def parse(text: str, scope: Scope) -> Node:
    """The tree of a formula."""
    [node] = sides(text, scope, 1)
    return node


def sides(text: str, scope: Scope, count: int) -> list[Node]:
    """The trees on both sides of an equation, or the one of a formula."""
    parser = Parser(tokenize(text), scope)
    found = [parser.expression()]
    while parser.token.kind == "=" and len(found) < count:
        parser.advance()
        found.append(parser.expression())
    parser.finish()
    if len(found) < count:
        raise FormulaError(f"{scope.about} is an equation, but has no '='.", parser.token.at)
    for node in found:
        _check_numbers(node)
    return found


def parse_all(text: str, scope: Scope) -> list[tuple[Node, Node]]:
    """Both sides of each of several equations with commas between them."""
    parser = Parser(tokenize(text), scope)
    found = []
    while True:
        left = parser.expression()
        if parser.token.kind != "=":
            raise FormulaError(
                f"{scope.about} is an equation, such as u = 0, but has no '='.", parser.token.at
            )
        parser.advance()
        found.append((left, parser.expression()))
        if parser.token.kind != ",":
            break
        parser.advance()
    parser.finish()
    for node in (side for both in found for side in both):
        _check_numbers(node)
    return found


class Parser:
    """A walk through the tokens of formulas."""

    def __init__(self, tokens: list[Token], scope: Scope):
        self.tokens, self.scope = tokens, scope
        self.number, self.depth = 0, 0
        self.bars = [False]
        """For each open bracket whether it is a bar, which the next bar closes."""

    @property
    def token(self) -> Token:
        return self.tokens[self.number]

    def advance(self) -> Token:
        token = self.token
        self.number += token.kind != "end"
        return token

    def finish(self) -> None:
        token = self.token
        if token.kind == "end":
            return
        if token.kind in ")]":
            raise FormulaError(f"This '{token.text}' has no opening bracket.", token.at)
        if token.kind == "=":
            raise FormulaError("There is one '=' too many.", token.at)
        raise FormulaError(f"'{token.text}' cannot stand here.", token.at)

    def expression(self, binding: int = 0) -> Node:
        """Everything from here on that binds more tightly than `binding`."""
        self.depth += 1
        if self.depth > 4 * _DEEPEST or len(self.bars) > _DEEPEST:
            raise FormulaError("There are too many brackets within brackets here.", self.token.at)
        left = self.operand()
        divided = False
        while True:
            token = self.token
            if token.kind == "|" and self.bars[-1]:
                break
            implicit = token.kind in _BEGINS
            power = _PRODUCT if implicit else _LEFT.get(token.kind, 0)
            if power <= binding:
                break
            if implicit:
                self.check_product(left, token, divided)
                left = chained(left, "*", self.expression(_PRODUCT))
            else:
                left = self.infix(left, self.advance())
            divided = token.kind == "/"
        self.depth -= 1
        return left

    def infix(self, left: Node, sign: Token) -> Node:
        if sign.kind == "^":
            return Power(left, self.expression(_POWER - 1), at=sign.at)
        if sign.kind == "_":
            return self.differentiated(left, sign.text, sign.at)
        if sign.kind == ".":
            name = self.advance()
            if name.kind != "name":
                raise FormulaError("A dot is followed by a derivative, as in .xx.", sign.at)
            if name.text in ("conj", "real", "imag", "laplacian"):
                if self.token.kind == "(":
                    self.advance()
                    self.expect(")", sign)
                return Call(name.text, (left,), at=sign.at)
            return self.differentiated(left, name.text, sign.at)
        other = self.expression(_LEFT[sign.kind])
        if _LEFT[sign.kind] == _COMPARE:
            if isinstance(left, Comparison):
                return Comparison(left.first, (*left.rest, (sign.kind, other)), at=left.at)
            return Comparison(left, ((sign.kind, other),), at=sign.at)
        return chained(left, sign.kind, other, sign.at)

    def check_product(self, left: Node, token: Token, divided: bool) -> None:
        """Refuse a product without a sign where a sign may be missing, or where it is not clear."""
        if token.kind == "number":
            raise FormulaError(f"A sign is missing before {token.text}, such as * or +.", token.at)
        if divided:
            plain = isinstance(left, Chain) and all(_is_plain(n) for n in children(left))
            if not (plain and token.spaced):
                raise FormulaError(
                    "This may be read in two ways: a / b c is either (a / b) c or a / (b c). Add brackets.",
                    token.at,
                )
        last = left.rest[-1][1] if isinstance(left, Chain) and not left.is_sum else left
        inside = self.tokens[self.number + 1 : self.number + 3]
        if token.kind == "(" and isinstance(last, Name) and len(inside) == 2 and not token.spaced:
            name, close = inside
            if name.text in self.scope.coordinates and close.kind in (")", ",") and last.name not in "txyz":
                raise FormulaError(
                    f"{last.name}({name.text}…) may be a product or a value at a place. Write {last.name} "
                    f"alone, or {last.name} * {name.text}.",
                    token.at,
                )

    def operand(self) -> Node:
        token = self.advance()
        if token.kind == "number":
            return Literal(_number(token), at=token.at)
        if token.kind == "name":
            return self.named(token)
        if token.kind == "-":
            return Negative(self.expression(_SIGN), at=token.at)
        if token.kind == "+":
            return self.expression(_SIGN)
        if token.kind == "Δ":
            inner = self.expression(_POWER)
            if self.token.kind == "^" and self.tokens[self.number - 1].kind != ")":
                raise FormulaError("Add brackets: Δ(u^2) or (Δu)^2.", self.token.at)
            return Call("laplacian", (inner,), at=token.at)
        if token.kind in "([":
            return self.bracketed(token, {"(": ")", "[": "]"}[token.kind])
        if token.kind == "|":
            self.bars.append(True)
            inner = self.expression()
            self.expect("|", token)
            self.bars.pop()
            return Call("abs", (inner,), at=token.at)
        if token.kind == "end":
            raise FormulaError("The formula ends too early: something is missing here.", token.at)
        raise FormulaError(f"A number, a name or a bracket is missing before '{token.text}'.", token.at)

    def bracketed(self, opening: Token, closing: str) -> Node:
        self.bars.append(False)
        inner = self.expression()
        self.expect(closing, opening)
        self.bars.pop()
        return inner

    def expect(self, kind: str, opening: Token) -> None:
        token = self.token
        if token.kind != kind:
            if token.kind == "end":
                raise FormulaError(f"This '{opening.text}' is never closed.", opening.at)
            raise FormulaError(f"'{kind}' is missing before '{token.text}'.", token.at)
        self.advance()

    def named(self, token: Token) -> Node:
        """What a name stands for."""
        name, scope = token.text, self.scope
        if name in scope.names:
            return Name(name, at=token.at)
        if name in scope.curves:
            return self.called(token, name, 1, 4)
        base, _, letters = name.rpartition("_")
        if base in scope.fields:
            return self.differentiated(Name(base, at=token.at), letters, token.at)
        if name in CONSTANTS:
            return Literal(CONSTANTS[name], name, at=token.at)
        known = ALIASES.get(name.lower(), name.lower())
        if known in FUNCTIONS:
            return self.called(token, known, FUNCTIONS[known].fewest, FUNCTIONS[known].most)
        raise FormulaError(self.unknown(name), token.at)

    def called(self, token: Token, function: str, fewest: int, most: int) -> Node:
        """A function with its arguments in brackets; sin^2(x) is (sin x)²."""
        power: Node | None = None
        if self.token.kind == "^" and self.tokens[self.number + 1].kind == "number":
            self.advance()
            exponent = self.advance()
            power = Literal(_number(exponent), at=exponent.at)
        if self.token.kind != "(":
            raise FormulaError(
                f"{token.text} takes its argument in brackets: {token.text}(…).", self.token.at
            )
        opening = self.advance()
        self.bars.append(False)
        arguments = [self.expression()]
        while self.token.kind == ",":
            self.advance()
            arguments.append(self.expression())
        self.expect(")", opening)
        self.bars.pop()
        if not fewest <= len(arguments) <= most:
            wanted = f"{fewest}" if fewest == most else f"{fewest} to {most}"
            raise FormulaError(
                f"{token.text} takes {wanted} argument(s), but {len(arguments)} are given.", token.at
            )
        call = Call(function, tuple(arguments), at=token.at)
        return call if power is None else Power(call, power, at=token.at)

    def differentiated(self, inner: Node, letters: str, at: int) -> Node:
        allowed = self.scope.letters
        wrong = [letter for letter in letters if letter not in allowed]
        if not allowed:
            raise FormulaError(f"{self.scope.about} can use no derivatives.", at)
        if wrong:
            why = "the domain has no such axis" if wrong[0] in "xyz" else "there is no such axis"
            if wrong[0] == "t":
                why = "the time derivative stands once, on the left of the equation"
            raise FormulaError(
                f"'_{letters}' is not a derivative here: '{wrong[0]}' is not among {', '.join(allowed)}, for "
                f"{why}.",
                at,
            )
        if isinstance(inner, Derivative):
            inner, letters = inner.inner, inner.letters + letters
        if len(letters) > MAX_ORDER:
            raise FormulaError(
                f"A derivative of order {len(letters)} is too high: {MAX_ORDER} is the most. Write the "
                "equation as a system of lower order.",
                at,
            )
        return Derivative(inner, letters, at=at)

    def unknown(self, name: str) -> str:
        """Why a name cannot stand here, with what may have been meant."""
        scope = self.scope
        can = ", ".join((*scope.names, *scope.curves)) or "numbers"
        said = f"'{name}' means nothing in {scope.about[0].lower()}{scope.about[1:]}, which can use {can}."
        parts = _split(name, [*scope.names, *CONSTANTS])
        if parts:
            return f"{said} For a product write {' '.join(parts)}."
        near = difflib.get_close_matches(name, [*scope.names, *scope.curves, *FUNCTIONS, *ALIASES], n=1)
        if near:
            return f"{said} Did you mean '{near[0]}'?"
        return f"{said} If it is a constant, give its value under [parameters]."


def _split(name: str, known: Iterable[str]) -> list[str] | None:
    """The known names that a name is put together from."""
    choices = set(known)
    for cut in itertools.count(1):
        if cut >= len(name):
            return None
        if name[:cut] in choices:
            rest = name[cut:]
            more = [rest] if rest in choices or _base(rest) in choices else _split(rest, choices)
            if more:
                return [name[:cut], *more]
    return None


def _base(name: str) -> str:
    return name.rpartition("_")[0]


def _is_plain(node: Node) -> bool:
    """Whether it is a number in digits, perhaps with a sign."""
    inner = node.inner if isinstance(node, Negative) else node
    return isinstance(inner, Literal) and not inner.name


def _number(token: Token) -> int | float:
    value = float(token.text)
    if not math.isfinite(value):
        raise FormulaError(f"The number {token.text} is too large.", token.at)
    return int(token.text) if token.text.isdecimal() and value < 2**53 else value


def _check_numbers(node: Node) -> Number | None:
    """The number that a formula stands for, if any; refuse division by zero, and the like, anywhere."""
    inner = [_check_numbers(part) for part in children(node)]
    if any(value is None for value in inner):
        return None
    try:
        with np.errstate(all="ignore"):
            value = constant_of(node)
    except OverflowError as error:
        raise FormulaError("This number is too large.", node.at) from error
    except (ArithmeticError, ValueError, TypeError) as error:
        raise FormulaError(f"This is not a number: {error}.", node.at) from error
    if value is None:
        return None
    if is_number(value) and not np.isfinite(value):
        raise FormulaError("This number is not finite.", node.at)
    if isinstance(value, complex) and not any(isinstance(v, complex) for v in inner) and inner:
        raise FormulaError("This is a root of a negative number. Write i for the imaginary unit.", node.at)
    return value
