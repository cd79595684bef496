"""The page of a study: one file that needs nothing else, with tables, figures and provenance."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from string import Template

from .. import __version__
from ..catalog import extensions
from ..errors import unknown_name
from ..machine.files import answering, write_bytes
from . import elements
from .gallery import Picture
from .optimisers import PAGE, OptimisersPage
from .page import StudyPage, contents
from .results import Results, read_results


def write_report(
    folder: str | Path,
    out: str | Path | None = None,
    *,
    figures: bool = True,
    tell: Callable[[str], None] | None = None,
) -> Path:
    """Write the page of the study in a folder.

    Args:
        folder: a study's store.
        out: the page to write; `report.html` in the folder if not given.
        figures: whether to draw figures, which takes most of the time.
        tell: called with the title of what is drawn next.
    """
    with answering(folder):
        text = page_text(read_results(folder), figures=figures, tell=tell)
    return write_bytes(out or Path(folder) / "report.html", text.encode())


def write_tables(folder: str | Path, out: str | Path) -> list[Path]:
    """Write every table of a study that was run as Markdown, CSV and LaTeX files.

    Args:
        folder: a study's store.
        out: the folder to write to.
    """
    written = []
    with answering(folder):
        tables = page_parts(read_results(folder)).tables
    for table in tables:
        if table.run:
            base = Path(out) / elements.anchor(table.name)
            for suffix, text in ((".md", table.markdown()), (".csv", table.csv()), (".tex", table.latex())):
                written.append(write_bytes(base.with_suffix(suffix), text.encode()))
    return written


def page_parts(results: Results) -> StudyPage:
    """What the page of a store shows: the usual parts, or those that an extension has for its studies."""
    pages: dict[str, Callable[[Results], StudyPage]] = {PAGE: OptimisersPage}
    pages |= {name: make for added in extensions() for name, make in added.pages.items()}
    if not results.page:
        return StudyPage(results)
    if results.page not in pages:
        raise unknown_name("page of studies", results.page, pages)
    return pages[results.page](results)


def page_text(results: Results, *, figures: bool = True, tell: Callable[[str], None] | None = None) -> str:
    """The page as HTML; the arguments are those of `write_report`."""
    parts = page_parts(results)

    def draw(title: str, make: Callable[[], list[Picture]]) -> list[str]:
        if not figures:
            return []
        if tell is not None:
            tell(title)
        return [elements.figure(picture) for picture in make()]

    chapters = parts.chapters(draw)
    flat = [part for chapter in chapters for part in (chapter.inner or (chapter,))]
    return Template(files("hcpinn.study").joinpath("page.html").read_text("utf-8")).substitute(
        version=__version__,
        title=parts.title,
        lead=parts.lead,
        style=parts.style,
        script=parts.script,
        tiles=elements.tiles(parts.tiles()),
        notes="".join(f'<p class="note">{note}</p>' for note in parts.notes()),
        contents=contents(chapters),
        body="\n".join(elements.section(part.name, part.title, part.html) for part in flat),
        footer=f"Written by hcpinn {__version__}. This page is one file and loads nothing from elsewhere.",
    )
