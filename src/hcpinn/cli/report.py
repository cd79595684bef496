"""`hcpinn report DIR`: a study's results as one page; `hcpinn pack DIR`: in few files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import app, escape


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a study.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The page to write.", show_default="DIR/report.html")
    ] = None,
    tables: Annotated[
        Path | None,
        typer.Option(
            "--tables", metavar="DIR", help="Also write every table here, as Markdown, CSV and LaTeX files."
        ),
    ] = None,
    figures: Annotated[bool, typer.Option(help="Draw figures.")] = True,
) -> None:
    """Show the results of a study on one page that needs no network.

    The page has the tables and figures of every section, and where the results come from. What was not run
    is shown as such. A study that an extension provides may have a page of its own.

    Examples:

        hcpinn report out/study --out out/report.html

        hcpinn report out/study --tables out/tables
    """
    from rich.console import Console

    from ..machine.programs import keep_programs
    from ..study.report import write_report, write_tables

    keep_programs()
    with Console(stderr=True).status("Reading") as status:  # shown in a terminal only
        page = write_report(
            folder, out, figures=figures, tell=lambda title: status.update(f"Drawing: {escape(title)}")
        )
    typer.echo(f"Page in {page} ({page.stat().st_size / 1e6:.1f} MB)")
    if tables is not None:
        written = write_tables(folder, tables)
        typer.echo(f"{len(written)} table files in {tables}")


@app.command()
def pack(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a study.", show_default=False)],
) -> None:
    """Put a study's results into few files, for version control or for someone else.

    All records go into runs.jsonl, a line each, and all solutions into solutions.zip. Every command reads
    them as before, and a study still adds what is missing. Packing again takes in what was added.

    Examples:

        hcpinn pack out/study
    """
    from ..study import Store

    store = Store(folder)
    store.pack()
    typer.echo(f"{len(store.keys())} runs packed in {folder}")
