"""Figures for a page: SVG whose text and lines take the colours of the page.

Lines and letters stay sharp at any size and follow a dark theme. Fields are embedded as pixels with 256
colours, as many as a colour map has.
"""

from __future__ import annotations

import base64
import io
import re
import threading
from typing import TYPE_CHECKING

from ..solution.canvas import BLUE, GREY, ORANGE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PIXELS = 110
"""Dots per inch of the pixels inside."""

_WIDEST = 1100
"""Pixels."""

_one_at_a_time = threading.Lock()
"""For settings that Matplotlib has for the whole process alone."""

NAMED = {"blue": BLUE, "orange": ORANGE, "grey": GREY}
"""Colours that a page may replace: its variables --blue, --orange and --grey."""


def to_svg(figure: Figure, name: str) -> str:
    """A figure as an `<svg>` element; `name` makes its ids unique on the page."""
    import matplotlib

    stream = io.StringIO()
    with _one_at_a_time, matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(stream, format="svg", transparent=True, dpi=_PIXELS, metadata={"Date": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->|<style.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r"data:image/png;base64,([A-Za-z0-9+/=\s]+)", _smaller, text)
    text = _own_ids(text, name)
    text = _page_colours(text)
    text = re.sub(r"<[^>]*>", _shorter, text)
    text = re.sub(r'<svg([^>]*?) width="[^"]*"', r"<svg\1", text, count=1)
    text = re.sub(r'<svg([^>]*?) height="[^"]*"', r"<svg\1", text, count=1)
    return re.sub(r"\n\s*", "\n", text).strip()


def small_png(content: bytes) -> bytes:
    """A PNG no wider than a page with a palette of 256 colours, or the original if that is smaller."""
    from PIL import Image

    with Image.open(io.BytesIO(content), formats=["PNG"]) as image:
        full = image.convert("RGBA")
        if full.width > _WIDEST:
            full = full.resize((_WIDEST, round(full.height * _WIDEST / full.width)), Image.Resampling.LANCZOS)
        if full.getchannel("A").getextrema() == (255, 255):
            opaque = full.convert("RGB")
            palette = opaque.quantize(256, Image.Quantize.MAXCOVERAGE)
            reduced = opaque.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG)  # else: bands
        else:
            reduced = full.quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        stream = io.BytesIO()
        reduced.save(stream, format="PNG", optimize=True)
    return min(stream.getvalue(), content, key=len)


def _smaller(match: re.Match[str]) -> str:
    content = small_png(base64.b64decode(re.sub(r"\s", "", match[1])))
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"


def _shorter(tag: re.Match[str]) -> str:
    """A tag with its coordinates rounded to two decimals; text between tags is left alone."""
    return re.sub(r"(\d+\.\d{2})\d+", r"\1", tag[0])


def _own_ids(text: str, name: str) -> str:
    """Drop ids that nothing refers to, and prefix the others with the figure's name."""
    used = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', text))
    wanted = {a or b for a, b in used}
    prefix = re.sub(r"\W+", "-", name)

    def renamed(match: re.Match[str]) -> str:
        return f' id="{prefix}-{match[1]}"' if match[1] in wanted else ""

    text = re.sub(r' id="([^"]+)"', renamed, text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", text)
    return re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', text)


def _page_colours(text: str) -> str:
    """Text and lines in the colours and fonts of the page."""
    text = re.sub(r"#000000\b", "currentColor", text)
    for name, colour in NAMED.items():
        text = text.replace(colour, f"var(--{name}, {colour})")
    return re.sub(r"font: (?:\w+ )?([\d.]+)px [^;\"]+", r"font-size: \1px", text)
