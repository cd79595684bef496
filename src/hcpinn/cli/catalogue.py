"""Commands that tell what there is: `hcpinn list`, `hcpinn methods`, `hcpinn gallery`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .app import app, check_folder


@app.command("list")
def list_command() -> None:
    """Show the problems and the methods that can be named."""
    from rich.console import Console
    from rich.table import Table

    from ..catalog import ENTRIES

    console = Console()
    problems = Table("problem", "equation", "parameters", "T", box=None, header_style="bold", pad_edge=False)
    for entry in ENTRIES.values():
        values = ", ".join(f"{k} = {v:g}" for k, v in entry.problem.parameters.items())
        problems.add_row(entry.name, entry.equation, values, f"{entry.problem.horizon:g}")
    console.print(problems)
    console.print()
    console.print(_methods_table())


@app.command()
def methods(
    name: Annotated[
        str | None, typer.Argument(help="A method, to be shown in full; without it all are listed.")
    ] = None,
    problem: Annotated[
        str, typer.Option("--problem", "-p", help="The problem whose settings are shown.")
    ] = "allen-cahn-1",
) -> None:
    """Explain the methods by name, or print one as TOML, to be changed and given to --method.

    A name may also be put together from the study's switches, as in pbc+ic1+sa.

    Examples:

        hcpinn methods

        hcpinn methods pbc+ic1+sa

        hcpinn methods paper --problem gray-scott > mine.toml
    """
    from ..catalog import find_method, find_problem
    from ..descent import to_toml

    if name is not None:
        typer.echo(to_toml(find_method(name, find_problem(problem))), nl=False)
        return
    from rich.console import Console
    from rich.table import Table

    console = Console(soft_wrap=not sys.stdout.isatty(), highlight=False)
    console.print(_methods_table())
    switches = Table("switch", "what it turns on", box=None, header_style="bold", pad_edge=False)
    for switch, about in _SWITCHES.items():
        switches.add_row(switch, about)
    console.print(
        "\n[bold]Rows of the study's ablation[/bold] are named by their switches, as in pbc+ic1+sa:\n"
    )
    console.print(switches)
    console.print("\nhcpinn methods NAME prints one in full. --method also takes a .toml file.")


_SWITCHES = {
    "pbc": "the periodic embedding; without it a penalty on the values at both ends",
    "ic1, ic2": "the lift e^(-t) u0, or e^(-0.1 t) u0; without either a penalty on the initial data",
    "sa": "self-adaptive weights",
    "mb": "mini-batches, 5 of 3,280",
}


def _methods_table() -> Any:
    from rich.table import Table

    from ..catalog import DEFAULT, METHODS

    table = Table("method", "what it is", box=None, header_style="bold", pad_edge=False)
    for name, method in METHODS.items():
        about = (method.__doc__ or "").splitlines()[0]
        table.add_row(name, about + (" [bold](default)[/bold]" if name == DEFAULT else ""))
    return table


@app.command()
def gallery(
    out: Annotated[Path, typer.Option("--out", "-o", help="The picture to write.")] = Path("out/gallery.png"),
) -> None:
    """Compute every problem's classical reference and draw them all as one figure.

    Prints each reference's estimated error and the time it took; references are cached, so a
    second call is quick.
    """
    from rich.console import Console
    from rich.table import Table

    from ..catalog import ENTRIES
    from ..reference import solve_reference
    from ..solution.figures import finish, gallery_figure

    check_folder(out.parent)
    table = Table("problem", "estimated error", "seconds", box=None, header_style="bold", pad_edge=False)
    pictures = []
    console = Console(soft_wrap=not sys.stdout.isatty(), highlight=False)
    with console.status("Computing references"):
        for name, entry in ENTRIES.items():
            reference = solve_reference(entry.problem)
            pictures.append((entry.title, entry.problem, reference))
            table.add_row(name, f"{reference.error_estimate:.0e}", f"{reference.wall_s:.1f}")
    finish(gallery_figure(pictures), out)
    console.print(table)
    console.print(f"drawn in {out}", soft_wrap=True)
