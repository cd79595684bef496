"""Typeset formulas when the site is built, as MathML, which browsers draw by themselves: a hook of MkDocs.

Pages write `$u_t = F$` in a line and `$$…$$` for a line of its own, as GitHub reads them too.
"""

import re
from html import unescape

from latex2mathml.converter import convert

_FORMULA = re.compile(r'<(span|div) class="arithmatex">(?:\\\(|\\\[)(.*?)(?:\\\)|\\\])</\1>', re.DOTALL)

_FUNCTION = re.compile(r"\\(sin|cos|max)(?![\w])(\s*(?=[\\\w]))?")
"""A function of TeX, and whether its argument follows without brackets."""


def on_page_content(html: str, **_) -> str:
    """Replace what `pymdownx.arithmatex` has marked."""
    return _FORMULA.sub(_typeset, html)


def _typeset(found: re.Match[str]) -> str:
    display = "block" if found[1] == "div" else "inline"
    return convert(_FUNCTION.sub(_spaced, unescape(found[2])), display=display)


def _spaced(function: re.Match[str]) -> str:
    """A function with the thin spaces that TeX sets around it."""
    return rf"\,\{function[1]}" + (r"\, " if function[2] is not None else "")
