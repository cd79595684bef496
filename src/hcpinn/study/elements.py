"""Parts of a study's page as HTML: tables, figures, facts."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from html import escape

from .columns import Cell, Column
from .gallery import Picture
from .rows import Row
from .tables import Table

_SIMILAR = 2.0
"""Two figures within this factor count as alike."""


def anchor(name: str) -> str:
    """A name as an id of the page."""
    return re.sub(r"\W+", "-", name.lower()).strip("-")


def code(text: str) -> str:
    """Text whose `quoted` parts are set as code."""
    marked = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
    return re.sub(r"\b\d[\d.]*e-\d+\b", r'<span class="whole">\g<0></span>', marked)


def tiles(facts: Iterable[tuple[str, str]]) -> str:
    """The figures at the top: a number and what it counts."""
    items = "".join(f"<li><b>{escape(number)}</b><span>{escape(what)}</span></li>" for number, what in facts)
    return f'<ul class="tiles">{items}</ul>'


def table(found: Table) -> str:
    """A table with its tools: filter, sort, and files to download."""
    columns = [column for column in found.columns if column.shown]
    common = _common_note(columns)
    if common:
        columns = [column for column in columns if column.kind != "note"]
    heads = "".join(
        f'<th scope="col" class="{column.kind}"><button type="button">{escape(column.title)}</button></th>'
        for column in columns
    )
    lines = "".join(
        _line(columns, [column.cells[number] for column in columns], row)
        for number, row in enumerate(found.rows)
    )
    title = escape(found.title)
    return (
        f'<div class="table">{common}{_tools(found)}<div class="scroll" tabindex="0" role="region" '
        f'aria-label="{title}, table"><table class="rows"><caption>{title}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div></div>"
    )


def _common_note(columns: Sequence[Column]) -> str:
    """A note that every row shares, to be shown once above the table."""
    notes = {cell.text for column in columns if column.kind == "note" for cell in column.cells if cell.text}
    return f'<p class="note">All runs here: {escape(notes.pop())}.</p>' if len(notes) == 1 else ""


def _line(columns: Sequence[Column], cells: Sequence[Cell], row: Row) -> str:
    parts = []
    for number, (column, cell) in enumerate(zip(columns, cells, strict=True)):
        known = "" if cell.value is None or cell.value == "" else f' data-value="{escape(str(cell.value))}"'
        hint = f' title="{escape(cell.hint)}"' if cell.hint else ""
        if number == 0:
            parts.append(f'<th scope="row"{known}><code>{escape(cell.text)}</code></th>')
            continue
        classes, text = column.kind, escape(cell.text)
        if column.title == "method":
            text = f"<code>{text}</code>"
        elif column.kind == "ratio" and isinstance(cell.value, float):
            classes, text = f"ratio {_compared(cell.value)[0]}", text + _compared(cell.value)[1]
        elif column.kind == "verdict":
            classes += f" {anchor(cell.text)}"
        parts.append(f'<td class="{classes.strip()}"{known}{hint}>{text}</td>')
    absent = "" if row.records else ' class="absent"'
    return f'<tr{absent} data-verdict="{escape(row.verdict)}">{"".join(parts)}</tr>'


def _compared(ratio: float) -> tuple[str, str]:
    """The class of a ratio, and a sign that does not rely on colour."""
    if ratio > _SIMILAR:
        return "worse", ' <span aria-label="worse">▲</span>'
    if ratio < 1 / _SIMILAR:
        return "better", ' <span aria-label="better">▼</span>'
    return "", ' <span aria-label="alike">≈</span>'


def _tools(found: Table) -> str:
    verdicts = sorted({row.verdict for row in found.rows})
    files = " ".join(
        f'<a download="{anchor(found.name)}.{suffix}" href="data:{kind};base64,{_packed(text)}">{label}</a>'
        for label, suffix, kind, text in (
            ("CSV", "csv", "text/csv", found.csv()),
            ("LaTeX", "tex", "text/x-tex", found.latex()),
            ("Markdown", "md", "text/markdown", found.markdown()),
        )
    )
    options = "".join(f"<option>{escape(verdict)}</option>" for verdict in verdicts)
    return (
        '<div class="tools"><label>Filter <input type="search" placeholder="words …"></label>'
        f'<label>Verdict <select><option value="">any</option>{options}</select></label>'
        f'<output aria-live="polite"></output><span>Download {files}</span></div>'
    )


def _packed(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def figure(picture: Picture) -> str:
    """A figure that enlarges on a click."""
    drawn = picture.svg.replace("<svg", f'<svg role="img" aria-label="{escape(picture.alt)}"', 1)
    wide = ' class="wide"' if _is_wide(picture.svg) else ""
    return (
        f'<figure{wide}><button type="button" aria-label="Enlarge: {escape(picture.title)}">{drawn}</button>'
        f"<figcaption>{escape(picture.title)}</figcaption></figure>"
    )


def pictures(parts: Sequence[str]) -> str:
    """Figures side by side, as space allows."""
    return f'<div class="pictures">{"".join(parts)}</div>' if parts else ""


def facts(title: str, rows: Iterable[tuple[str, str]], *, wide: bool = False) -> str:
    """A titled list of names and values, over the whole width if it is wide."""
    lines = "".join(
        f'<tr><th scope="row">{code(name)}</th><td>{code(value)}</td></tr>' for name, value in rows
    )
    body = f"<h3>{escape(title)}</h3><table><tbody>{lines}</tbody></table>"
    return f'<div class="card{" wide" * wide}">{body}</div>'


def section(name: str, title: str, *inner: str) -> str:
    """A part of the page that the contents can point to."""
    head = f'<h2 id="{name}-title">{escape(title)}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-title">{head}{"".join(inner)}</section>'


def _is_wide(svg: str) -> bool:
    match = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    return match is not None and float(match[1]) > 700
