"""Output where the terminal's encoding lacks letters: u_t = gamma1 u_xx in place of uₜ = γ₁ uₓₓ."""

from __future__ import annotations

import codecs
import unicodedata

ASCII = "hcpinn-plain"
"""The name under which streams know what to write instead of what they cannot."""

_LOW = dict(zip("ₓₜₙₐₑₕᵢⱼₖₗₘₒₚᵣₛᵤᵥ", "xtnaehijklmoprsuv", strict=True))
_HIGH = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True))
_SIGNS = {
    "−": "-", "–": "-", "—": "-", "·": "*", "×": "x", "≤": "<=", "≥": ">=", "…": "...", "’": "'", "“": '"',
    "”": '"', "→": "->", "Δ": "Laplacian ", "√": "sqrt", "∞": "inf", "─": "-", "━": "-", "│": "|", "█": "#",
    "╭": "+", "╮": "+", "╰": "+", "╯": "+", "•": "*",
}  # fmt: skip


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text, found = error.object, ""
    for at in range(error.start, error.end):
        before = text[at - 1] if at else ""
        found += _instead(text[at], before)
    return found, error.end


def _instead(character: str, before: str) -> str:
    if character in _LOW:
        return ("" if before in _LOW else "_") + _LOW[character]
    if character in _HIGH:
        return ("" if before in _HIGH else "^") + _HIGH[character]
    if character in _SIGNS:
        return _SIGNS[character]
    name = unicodedata.name(character, "")
    if name.startswith("GREEK"):
        word = name.split("LETTER ")[-1].split(" ")[0].lower().replace("lamda", "lambda")
        return word.capitalize() if "CAPITAL" in name else word
    simple = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return simple or "?"


codecs.register_error(ASCII, _plain)
