"""Empty figures in one style, their colours in light and dark, and writing them to files."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..errors import FileError
from ..machine.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Theme = Literal["light", "dark"]
"""What a figure will stand on."""

_DOTS = 150
"""Dots per inch."""

BLUE, ORANGE, GREY = "#1f5fa8", "#d1602b", "#8a8a8a"
COLORS = (BLUE, ORANGE, "#3a8f5c", "#7a4fa3", "#b3892f")

SIGNED, UNSIGNED, ERRORS = "RdBu_r", "viridis", "magma"
"""The colour maps of fields that change sign, of others, and of errors."""

_GROUND, _INK = "#1e2129", "#d8dbe2"
_IN_THE_DARK = {
    "#000000": _INK,
    BLUE: "#6fb1f5",
    ORANGE: "#ff9561",
    GREY: "#9aa0ac",
    COLORS[2]: "#6cc792",
    COLORS[3]: "#b795e0",
    COLORS[4]: "#e0b65c",
}
MAPS_IN_THE_DARK = {SIGNED: "berlin"}
"""Diverging from black rather than white."""


def subplots(rows: int, columns: int, size: tuple[float, float], **shared: Any) -> tuple[Figure, Any]:
    """An empty figure in the style of all figures here, and its grid of axes.

    It has a canvas of its own and pyplot does not know it, so the caller's backend, settings and figures stay
    as they are, and threads may draw side by side.

    Args:
        rows: of the grid.
        columns: of the grid.
        size: width and height in inches.
        shared: `sharex` and `sharey`, as Matplotlib has them.
    """
    figure = _figure_kind()(size, dpi=_DOTS, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **shared)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def put_on(figure: Figure, theme: Theme) -> None:
    """Give a finished figure the colours of a light page, which it has, or of a dark one."""
    if theme not in ("light", "dark"):
        raise FileError(f"A figure has the theme 'light' or 'dark', not {theme!r}.")
    if theme == "light":
        return
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import to_hex
    from matplotlib.lines import Line2D
    from matplotlib.spines import Spine
    from matplotlib.text import Text

    def lit(colour: Any) -> Any:
        return _IN_THE_DARK.get(to_hex(colour), colour) if isinstance(colour, str | tuple) else colour

    figure.set_facecolor(_GROUND)
    for artist in figure.findobj():
        if isinstance(artist, Axes):
            artist.set_facecolor(_GROUND)
            artist.tick_params(which="both", colors=_INK)
        if isinstance(artist, ScalarMappable) and artist.get_cmap().name in MAPS_IN_THE_DARK:
            artist.set_cmap(MAPS_IN_THE_DARK[artist.get_cmap().name])
        if isinstance(artist, Text | Line2D):
            artist.set_color(lit(artist.get_color()))
        elif isinstance(artist, Spine):
            artist.set_edgecolor(_INK)


def finish(figure: Figure, path: str | Path | None, theme: Theme = "light") -> Figure | Path:
    """Put a figure on its ground, and save it whole or not at all, or hand it over."""
    put_on(figure, theme)
    if path is None:
        return figure
    buffer = io.BytesIO()
    try:
        figure.savefig(buffer, format=Path(path).suffix.lstrip(".") or "png")
    except ValueError as error:
        raise FileError(f"Cannot draw {path}: {error}.") from error
    return write_bytes(path, buffer.getvalue())


def _as_written(artist: Any) -> None:
    """Show texts as they are: a `$` in a name begins no formula. Only numbers at ticks may be formulas."""
    from matplotlib.axis import Axis
    from matplotlib.text import Text
    from matplotlib.ticker import FuncFormatter

    if isinstance(artist, Text):
        artist.set_parse_math(False)
    kept: tuple[Any, ...] = ()
    if isinstance(artist, Axis) and not isinstance(artist.get_major_formatter(), FuncFormatter):
        kept = (*artist.get_major_ticks(), *artist.get_minor_ticks(), artist.get_offset_text())
    for child in artist.get_children():
        if child not in kept:
            _as_written(child)


@cache
def _figure_kind() -> type[Figure]:
    """Figures with a canvas of their own, which notebooks show."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    class OwnFigure(Figure):
        def __init__(self, *sizes: Any, **settings: Any):
            super().__init__(*sizes, **settings)
            FigureCanvasAgg(self)

        def draw(self, renderer: Any) -> None:
            _as_written(self)
            super().draw(renderer)

        def _repr_png_(self) -> bytes:
            stream = io.BytesIO()
            self.savefig(stream, format="png")
            return stream.getvalue()

    return OwnFigure
