"""The commands `hcpinn list`, `hcpinn methods` and `hcpinn gallery`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .app import app, check_file, console, make_table


@app.command("list")
def list_command() -> None:
    """List the problems and methods."""
    from rich.console import Console

    from ..catalog import ENTRIES

    shown = Console(highlight=False)
    problems = make_table("problem", "equation", "parameters", "T")
    for entry in ENTRIES.values():
        values = ", ".join(f"{k} = {v:g}" for k, v in entry.problem.parameters.items())
        problems.add_row(entry.name, entry.equation, values, f"{entry.problem.horizon:g}")
    shown.print(problems)
    shown.print()
    shown.print(_methods_table())


@app.command()
def methods(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="A method to print as TOML; without it, all methods are listed."
        ),
    ] = None,
    problem: Annotated[
        str, typer.Option("--problem", "-p", help="The problem for which settings are printed.")
    ] = "allen-cahn-1",
) -> None:
    """List the methods, or print one as TOML, ready to be edited and passed to --method.

    Some names are put together from switches, joined by +; the list ends with these.

    Examples:

        hcpinn methods

        hcpinn methods quick --problem gray-scott > mine.toml
    """
    from ..catalog import extensions, find_method, find_problem
    from ..descent import to_toml

    if name is not None:
        typer.echo(to_toml(find_method(name, find_problem(problem))), nl=False)
        return
    shown = console()
    shown.print(_methods_table())
    for switches in (found for added in extensions() for found in added.switches):
        parts = make_table("switch", "what it turns on")
        for switch, about in switches.parts.items():
            parts.add_row(switch, about)
        shown.print(f"\n[bold]{switches.about}[/bold] are named by their switches, joined by +:\n")
        shown.print(parts)
    shown.print("\nhcpinn methods NAME prints a method as TOML. --method also takes a TOML file.")


def _methods_table() -> Any:
    from ..catalog import DEFAULT, METHODS

    table = make_table("method", "what it is")
    for name, method in METHODS.items():
        about = (method.__doc__ or "").splitlines()[0]
        table.add_row(name, about + (" [bold](default)[/bold]" if name == DEFAULT else ""))
    return table


@app.command()
def gallery(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The picture to write.")] = Path(
        "out/gallery.png"
    ),
) -> None:
    """Compute the reference solution of every problem and draw them all in one figure.

    Prints the estimated error of each and the time it took. References are cached, so a second call is quick.
    """
    from ..catalog import ENTRIES
    from ..reference import solve_reference
    from ..solution.canvas import finish
    from ..solution.figures import gallery_figure

    check_file(out)
    table = make_table("problem", "estimated error", "seconds")
    pictures = []
    shown = console()
    with shown.status("Computing references"):
        for name, entry in ENTRIES.items():
            reference = solve_reference(entry.problem)
            pictures.append((entry.title, entry.problem, reference))
            table.add_row(name, f"{reference.error_estimate:.0e}", f"{reference.wall_s:.1f}")
    finish(gallery_figure(pictures), out)
    shown.print(table)
    shown.print(f"written to {out}", soft_wrap=True)
