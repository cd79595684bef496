"""`hcpinn pack DIR`: a study's results in few files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import app


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
