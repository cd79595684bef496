"""The command `hcpinn bench`."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .app import app, check_folder


@app.command()
def bench(
    points: Annotated[
        int | None, typer.Option(min=1, help="Residual points of each run.", show_default="16384")
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(min=1, help="Runs in a batch; with 1 there are no batches.", show_default="8"),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer points, runs and rounds: half a minute, and rougher.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE.json", help="Also write all figures here.")
    ] = None,
) -> None:
    """Time training steps on this machine, and compare with what it could do at best.

    A step is loss, gradient and update of Adam, with the study's 7×32 network on a model problem. Its
    floor is the time that its operations and its data would take at the best rates this machine shows in
    matrix products, elementwise arithmetic, tanh and memory traffic. Nothing else should run meanwhile.

    Examples:

        hcpinn bench

        hcpinn bench --quick

        hcpinn bench --points 100000 --runs 1 --out bench.json
    """
    from rich.console import Console
    from rich.table import Table

    from ..machine.files import write_bytes
    from ..speed.bench import HEADS, all_ceilings, ceiling_words, cells, measure, standard_cases
    from ..speed.record import origin

    if out is not None:
        check_folder(out.parent)
    record = origin("hcpinn", sys.argv[1:])
    console = Console(soft_wrap=not sys.stdout.isatty(), highlight=False)
    _warn_if_busy(record["load_average"])
    cases = standard_cases(points or (2048 if quick else 16_384), runs or (4 if quick else 8))
    rounds = 3 if quick else 7
    table = Table(box=None, header_style="bold", pad_edge=False)
    for head in HEADS:
        table.add_column(head, justify="left" if head == "precision" else "right", no_wrap=True)
    rows = []
    with Console(stderr=True, highlight=False).status("Measuring") as status:
        ceilings = all_ceilings(rounds=rounds, tell=status.update)
        for row in measure(cases, ceilings, rounds=rounds, tell=status.update):
            rows.append(row)
            table.add_row(*cells(row))
    console.print(f"[bold]{record['device']}[/bold], at best")
    for precision, found in ceilings.items():
        console.print(f"  {precision}: {ceiling_words(found)}")
    console.print()
    console.print(table)
    if out is not None:
        record["ceilings"] = {name: dataclasses.asdict(found) for name, found in ceilings.items()}
        record["rows"] = [row.plain() for row in rows]
        write_bytes(out, (json.dumps(record, indent=1) + "\n").encode())
        console.print(f"\nwritten to {out}")


def _warn_if_busy(load: Any) -> None:
    """Say so if others are computing, since times are then too long."""
    cores = os.cpu_count() or 1
    if load is not None and load[0] > 0.5 * cores:
        busy = f"This machine is busy: {load[0]:.1f} processes on {cores} cores. Times will be too long."
        typer.echo(busy, err=True)
