"""The command `hcpinn export`: a saved solution in the formats of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import FileError
from .app import app, check_file
from .declared import METAVAR, problem_from


@app.command()
def export(
    source: Annotated[Path, typer.Argument(metavar="DIR|FILE.npz", help="The folder or file of a solution.")],
    target: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="The file to write: .nc, .pvd (ParaView), .csv, .npz, .mat or .stablehlo."
        ),
    ],
    problem: Annotated[
        str | None,
        typer.Option("--problem", "-p", metavar=METAVAR, help="What it solves, if its file does not say."),
    ] = None,
    times: Annotated[int, typer.Option(min=2, help="How many times, from start to horizon.")] = 51,
    points: Annotated[
        int | None,
        typer.Option(min=2, help="How many places along each axis.", show_default="257, 129 or 33"),
    ] = None,
) -> None:
    """Write a solution for another program: values on a grid, or the function itself.

    A .pvd file comes with one .vtu file for each time; ParaView opens it as an animation. A .stablehlo
    file is the function as a program of 1,024 points at once, without a grid.

    Examples:

        hcpinn export out/allen-cahn-2 solution.nc

        hcpinn export out/channel channel.pvd --times 101 --points 65
    """
    from ..solution import load

    file = source / "solution.npz" if source.is_dir() else source
    if not file.is_file():
        raise FileError(
            f"There is no solution in {source}. Solve a problem first: hcpinn solve allen-cahn-2."
        )
    check_file(target)
    solution = load(file, problem=None if problem is None else problem_from(problem))
    axes = [] if points is None else [points] * len(solution.problem.space)
    typer.echo(f"Wrote {solution.export(target, times, *axes)}.")
