"""Formulas for reading: as text that the grammar reads again, in Unicode for terminals, and in MathML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from .tokens import GREEK
from .tree import Call, Chain, Comparison, Derivative, Literal, Name, Negative, Node, Number, Power

_COMPARE, _SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(6)
_LOW = str.maketrans("0123456789xtnaehijklmoprsuv", "₀₁₂₃₄₅₆₇₈₉ₓₜₙₐₑₕᵢⱼₖₗₘₒₚᵣₛᵤᵥ")
_HIGH = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


class Style:
    """How each kind of part is written; this one as text for files."""

    times, plus, minus, equals = " * ", "+", "-", " = "
    less: ClassVar[Mapping[str, str]] = {}

    def number(self, value: Number) -> str:
        if isinstance(value, complex):
            imag = self.number(value.imag)
            return f"{imag} * i" if value.real == 0 else f"({self.number(value.real)} + {imag} * i)"
        return repr(value)

    def name(self, name: str) -> str:
        return "lambda" if name == "lambda_" else name

    def constant(self, name: str) -> str:
        return name

    def derivative(self, inner: Node, letters: str) -> str:
        shown = self.write(inner, _ATOM)
        return f"{shown}_{letters}"

    def power(self, base: str, exponent: Node) -> str:
        return f"{base}^{self.write(exponent, _POWER)}"

    def call(self, function: str, arguments: Sequence[Node]) -> str:
        inner = ", ".join(self.write(a) for a in arguments)
        return f"{function}({inner})"

    def bracket(self, text: str) -> str:
        return f"({text})"

    def product(self, node: Chain) -> str:
        found = self.write(node.first, _PRODUCT)
        for sign, other in node.rest:
            shown = self.write(other, _SIGN)
            found += (self.times if sign == "*" else " / ") + shown
        return found

    def write(self, node: Node, least: int = _COMPARE) -> str:
        """A part as text, in brackets where it binds less tightly than `least`."""
        text, binding = self._write(node)
        return self.bracket(text) if binding < least else text

    def _write(self, node: Node) -> tuple[str, int]:
        match node:
            case Literal():
                if node.name:
                    return self.constant(node.name), _ATOM
                if isinstance(node.value, complex) and node.value == 1j:
                    return self.constant("i"), _ATOM
                plain = isinstance(node.value, int | float)
                negative = plain and str(node.value).startswith("-")
                return self.number(node.value), _SIGN if negative else _ATOM if plain else _PRODUCT
            case Name():
                return self.name(node.name), _ATOM
            case Derivative():
                return self.derivative(node.inner, node.letters), _ATOM
            case Negative():
                return f"{self.minus}{self.write(node.inner, _SIGN)}", _SIGN
            case Power():
                return self.power(self.write(node.base, _ATOM), node.exponent), _POWER
            case Call():
                return self.call(node.function, node.arguments), _ATOM
            case Comparison():
                found = self.write(node.first, _SUM)
                for sign, other in node.rest:
                    found += f" {self.less.get(sign, sign)} {self.write(other, _SUM)}"
                return found, _COMPARE
            case Chain() if node.is_sum:
                found = self.write(node.first, _SUM)
                for sign, other in node.rest:
                    found += f" {self.minus if sign == '-' else self.plus} {self.write(other, _PRODUCT)}"
                return found, _SUM
            case Chain():
                return self.product(node), _PRODUCT
        raise TypeError(type(node))


class Terminal(Style):
    """In Unicode: uₜ = γ₁ uₓₓ − 5 (u³ − u)."""

    times, minus = " ", "−"
    less: ClassVar[Mapping[str, str]] = {"<=": "≤", ">=": "≥"}

    def number(self, value: Number) -> str:
        return super().number(value) if isinstance(value, complex) else f"{value:.6g}"

    def name(self, name: str) -> str:
        name = super().name(name)
        letters = name.rstrip("0123456789")
        return GREEK.get(letters, letters) + name[len(letters) :].translate(_LOW)

    def constant(self, name: str) -> str:
        return GREEK.get(name, name)

    def derivative(self, inner: Node, letters: str) -> str:
        lowered = letters.translate(_LOW)
        shown = self.write(inner, _ATOM)
        return shown + (lowered if not set(lowered) & set(letters) else f"_{letters}")

    def power(self, base: str, exponent: Node) -> str:
        text = self.write(exponent, _POWER)
        plain = text.strip("()").replace("−", "-")
        return base + plain.translate(_HIGH) if plain.lstrip("-").isdecimal() else f"{base}^{text}"

    def call(self, function: str, arguments: Sequence[Node]) -> str:
        if function == "abs":
            return f"|{self.write(arguments[0])}|"
        if function == "laplacian":
            return f"Δ{self.write(arguments[0], _ATOM)}"
        return super().call(function, arguments)


class MathML(Style):
    """As MathML, which browsers and notebooks typeset."""

    times, minus = "<mo>&#x2062;</mo>", "<mo>−</mo>"
    less: ClassVar[Mapping[str, str]] = {
        "<": "<mo>&lt;</mo>",
        ">": "<mo>&gt;</mo>",
        "<=": "<mo>≤</mo>",
        ">=": "<mo>≥</mo>",
    }
    plus, equals = "<mo>+</mo>", "<mo>=</mo>"

    def number(self, value: Number) -> str:
        if isinstance(value, complex):
            return super().number(value).replace(" * i", "<mi>i</mi>")
        mantissa, e, exponent = f"{value:.6g}".partition("e")
        if not e:
            return f"<mn>{mantissa}</mn>"
        power = f"<msup><mn>10</mn><mn>{int(exponent)}</mn></msup>"
        return power if mantissa == "1" else f"<mn>{mantissa}</mn><mo>·</mo>{power}"

    def name(self, name: str) -> str:
        first, *rest = super().name(name).split("_")
        letters = first.rstrip("0123456789")
        low = ",".join([part for part in (first[len(letters) :], *rest) if part])
        shown = f"<mi>{GREEK.get(letters, letters)}</mi>"
        return f"<msub>{shown}<mi>{low}</mi></msub>" if low else shown

    def constant(self, name: str) -> str:
        return f"<mi>{GREEK.get(name, name)}</mi>"

    def derivative(self, inner: Node, letters: str) -> str:
        low = "".join(f"<mi>{letter}</mi>" for letter in letters)
        return f"<msub><mrow>{self.write(inner, _ATOM)}</mrow><mrow>{low}</mrow></msub>"

    def power(self, base: str, exponent: Node) -> str:
        return f"<msup><mrow>{base}</mrow><mrow>{self.write(exponent)}</mrow></msup>"

    def bracket(self, text: str) -> str:
        return f"<mrow><mo>(</mo>{text}<mo>)</mo></mrow>"

    def call(self, function: str, arguments: Sequence[Node]) -> str:
        inner = "<mo>,</mo>".join(self.write(a) for a in arguments)
        if function == "abs":
            return f"<mrow><mo>|</mo>{inner}<mo>|</mo></mrow>"
        if function == "sqrt":
            return f"<msqrt>{inner}</msqrt>"
        if function == "laplacian":
            return f"<mi>Δ</mi>{self.write(arguments[0], _ATOM)}"
        return f"<mi>{function}</mi>{self.bracket(inner)}"

    def product(self, node: Chain) -> str:
        if any(sign == "/" for sign, _ in node.rest[:-1]) or node.rest[-1][0] == "*":
            return super().product(node).replace(" / ", "<mo>/</mo>")
        above = node.first if len(node.rest) == 1 else Chain(node.first, node.rest[:-1])
        below = self.write(node.rest[-1][1])
        return f"<mfrac><mrow>{self.write(above)}</mrow><mrow>{below}</mrow></mfrac>"


PLAIN, TERMINAL, MATHML = Style(), Terminal(), MathML()
