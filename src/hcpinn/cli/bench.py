"""The command `hcpinn bench`."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .app import app, check_file, console, make_table


@app.command()
def bench(
    points: Annotated[
        int | None, typer.Option(min=1, help="Residual points per run.", show_default="16384")
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(min=1, help="Runs in a batch; 1 leaves batches out.", show_default="8"),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Fewer points, runs and rounds: rougher, but done in half a minute."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE.json", help="Also write all numbers to this file."),
    ] = None,
) -> None:
    """Time training steps on this machine and compare them with the fastest possible.

    A step is the loss, its gradient and one update of Adam for a 7×32 network on a model problem. Its floor
    is the time its operations and memory traffic would take at the best rates measured on this machine for
    matrix products, elementwise arithmetic, tanh and memory. Run nothing else meanwhile.

    Examples:

        hcpinn bench

        hcpinn bench --quick

        hcpinn bench --points 100000 --runs 1 --out bench.json
    """
    from rich.console import Console

    from ..machine.files import write_bytes
    from ..speed import cells, measure_case, measure_ceilings, standard_cases
    from ..speed.bench import HEADS, circumstances

    if out is not None:
        check_file(out)
    record = circumstances("hcpinn", sys.argv[1:])
    _warn_if_busy(record["load_average"])
    cases = standard_cases(points or (2048 if quick else 16_384), runs or (4 if quick else 8))
    rounds = 3 if quick else 7
    table = make_table(*HEADS, right=HEADS[1:], whole=HEADS)
    ceilings, rows = {}, []
    with Console(stderr=True, highlight=False).status("Measuring") as status:
        for precision in ("float32", "float64"):
            status.update(f"best rates, {precision}")
            ceilings[precision] = measure_ceilings(precision, rounds=rounds)
        for case in cases:
            status.update(str(case))
            rows.append(measure_case(case, ceilings[case.precision], rounds=rounds).plain())
            table.add_row(*cells(rows[-1]))
    shown = console()
    shown.print(f"[bold]{record['device']}[/bold], best rates")
    for precision, found in ceilings.items():
        shown.print(f"  {precision}: {found}")
    shown.print()
    shown.print(table)
    if out is not None:
        record["ceilings"] = {name: dataclasses.asdict(found) for name, found in ceilings.items()}
        record["rows"] = rows
        write_bytes(out, (json.dumps(record, indent=1) + "\n").encode())
        shown.print(f"\nwritten to {out}", soft_wrap=True)


def _warn_if_busy(load: Any) -> None:
    """Warn if other processes are computing, since times are then too long."""
    cores = os.cpu_count() or 1
    if load is not None and load[0] > 0.5 * cores:
        busy = f"{load[0]:.1f} processes on {cores} cores"
        typer.echo(f"Warning: this machine is busy ({busy}), so times will be too long.", err=True)
