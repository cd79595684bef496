"""Formulas as tokens: `0.001 u_xx - 5 (u³ - u)` in ASCII or as printed, each token with its place."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from ...errors import ProblemError

LONGEST = 4000
"""Characters of a formula."""

MOST = 600
"""Tokens of a formula: each may be a sum deep in the calls that evaluate it."""


class FormulaError(ProblemError):
    """What is wrong with a formula, and at which of its characters, counted from 0."""

    def __init__(self, message: str, at: int):
        super().__init__(message)
        self.message, self.at = message, at


@dataclass(frozen=True)
class Token:
    """A number, a name, a sign, or the end."""

    kind: str
    """`number`, `name`, `end`, or the sign itself."""
    text: str
    at: int
    """Where it begins, in characters from 0."""
    spaced: bool = False
    """Whether blanks stand before it."""


_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ϵ": "epsilon", "ζ": "zeta",
    "η": "eta", "θ": "theta", "ϑ": "theta", "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "µ": "mu",
    "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma", "ς": "sigma", "τ": "tau", "υ": "upsilon",
    "φ": "phi", "ϕ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma", "Λ": "Lambda", "Φ": "Phi",
    "Ψ": "Psi", "Ω": "Omega", "Θ": "Theta", "Σ": "Sigma", "Π": "Pi", "Ξ": "Xi",
}  # fmt: skip
"""Greek letters by the names that stand for them."""

GREEK = {name: letter for letter, name in reversed(_GREEK.items())}
"""Names by the letters that they stand for."""

_SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉ₓₜₙₐₑₕᵢⱼₖₗₘₒₚᵣₛᵤᵥ", "0123456789xtnaehijklmoprsuv", strict=True))
_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True))
_SIGNS = {
    "−": "-",
    "–": "-",
    "·": "*",
    "×": "*",
    "⋅": "*",
    "∗": "*",
    "÷": "/",
    "≤": "<=",
    "≥": ">=",
    "Δ": "Δ",
    "∆": "Δ",
}
_NUMBER = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_LETTERS = re.compile(r"[A-Za-z][A-Za-z0-9]*", re.ASCII)
_SUFFIX = re.compile(r"_(?:\{([A-Za-z0-9]+)\}|([A-Za-z0-9]+))", re.ASCII)
_TWO = ("**", "<=", ">=", "∇²", "∇^2")
_ONE = "+-*/^()[]|&,=<>."


def spelled(name: str) -> str:
    """A name in ASCII, as formulas and Python know it: γ₁ is gamma1."""
    return _free(
        "".join(_GREEK.get(c) or _SUBSCRIPTS.get(c) or c for c in unicodedata.normalize("NFC", name))
    )


def _free(name: str) -> str:
    """A name that Python lets arguments have."""
    return "lambda_" if name == "lambda" else name


def tokenize(text: str, *, longest: int = LONGEST, most: int = MOST) -> list[Token]:
    """The tokens of a formula, the last of which is its end; `longest` and `most` limit their length."""
    if len(text) > longest:
        raise FormulaError(f"This formula has {len(text):,} characters; {longest:,} is the most.", longest)
    found: list[Token] = []
    at, spaced = 0, False
    while at < len(text):
        if text[at].isspace():
            at, spaced = at + 1, True
            continue
        tokens, end = _next(text, at, spaced)
        found += tokens
        if len(found) > most:
            raise FormulaError(f"This formula has more than {most} numbers, names and signs.", at)
        at, spaced = end, False
    return [*found, Token("end", "the end of the formula", len(text), spaced)]


def _next(text: str, at: int, spaced: bool) -> tuple[list[Token], int]:
    """The token that begins here, or the few that one character stands for, and where the next may begin."""
    character = text[at]
    number = _NUMBER.match(text, at)
    if number:
        return [Token("number", number[0], at, spaced)], number.end()
    if character in _SUPERSCRIPTS:
        end = at
        while end < len(text) and text[end] in _SUPERSCRIPTS:
            end += 1
        power = "".join(_SUPERSCRIPTS[c] for c in text[at:end])
        if not power.lstrip("-").isdecimal() or "-" in power[1:]:
            raise FormulaError("This exponent is not a number.", at)
        return [Token("^", "^", at), *_exponent(power, at)], end
    if character in _GREEK or _LETTERS.match(text, at):
        return _name(text, at, spaced)
    for sign in _TWO:
        if text.startswith(sign, at):
            kind = {"**": "^", "∇²": "Δ", "∇^2": "Δ"}.get(sign, sign)
            return [Token(kind, sign, at, spaced)], at + len(sign)
    if character == "_":
        suffix = _SUFFIX.match(text, at)
        if suffix:
            return [Token("_", suffix[1] or suffix[2], at, spaced)], suffix.end()
    if character in _SUBSCRIPTS:
        letters, end = _run(text, at)
        return [Token("_", letters, at, spaced)], end
    if character in _SIGNS:
        return [Token(_SIGNS[character], character, at, spaced)], at + 1
    if character in _ONE:
        return [Token(character, character, at, spaced)], at + 1
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    raise FormulaError(f"'{shown}' has no meaning in a formula.", at)


def _exponent(power: str, at: int) -> list[Token]:
    """A raised number; below zero in brackets, so that it stays together."""
    if not power.startswith("-"):
        return [Token("number", power, at)]
    return [Token("(", "(", at), Token("-", "-", at), Token("number", power[1:], at), Token(")", ")", at)]


def _run(text: str, at: int) -> tuple[str, int]:
    """Subscript characters from here on, as plain ones, and where they end."""
    end = at
    while end < len(text) and text[end] in _SUBSCRIPTS:
        end += 1
    return "".join(_SUBSCRIPTS[c] for c in text[at:end]), end


def _name(text: str, at: int, spaced: bool) -> tuple[list[Token], int]:
    """A name: Latin letters and digits or one Greek letter, then lowered digits and what stands after _."""
    letters = _LETTERS.match(text, at)
    if letters:
        name, end = letters[0], letters.end()
    else:
        name, end = _GREEK[text[at]], at + 1
        while end < len(text) and text[end].isdecimal() and text[end].isascii():
            name, end = name + text[end], end + 1
    while end < len(text):
        if text[end] in _SUBSCRIPTS:
            low, end = _run(text, end)
            digits = len(low) - len(low.lstrip("0123456789"))
            name += low[:digits] + (f"_{low[digits:]}" if low[digits:] else "")
        elif suffix := _SUFFIX.match(text, end):
            name, end = f"{name}_{suffix[1] or suffix[2]}", suffix.end()
        else:
            break
    return [Token("name", _free(name), at, spaced)], end
