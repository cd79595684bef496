"""The command `hcpinn theory NAME`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import MethodError
from .app import Seed, app, check_folder, console, make_table, show_facts
from .solve import assignments

_ALL = "all"


_Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="A problem, see [bold]hcpinn list[/bold], or [bold]all[/bold]."),
]
_Method = Annotated[
    str,
    typer.Option(
        "--method",
        "-m",
        metavar="NAME|FILE.toml",
        help="The method that supplies lift, gate, embedding and network.",
    ),
]
_Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change a parameter of the problem, or its horizon. Can be repeated.",
    ),
]
_Points = Annotated[int, typer.Option(min=8, help="Number of residual points.")]
_Seeds = Annotated[int, typer.Option(min=1, help="Number of seeds the findings rest on.")]
_Steps = Annotated[int, typer.Option(min=1, help="Number of gradient descent steps.")]
_Along = Annotated[
    str,
    typer.Option(
        "--along", metavar="N,N,…", help="Numbers of Adam steps after which kernels are computed again."
    ),
]
_Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="DIR", help="Output folder.", show_default="out/theory/NAME"),
]


@app.command()
def theory(
    name: _Name,
    method: _Method = "quick",
    set_: _Set = None,
    points: _Points = 512,
    seed: Seed = 0,
    seeds: _Seeds = 3,
    steps: _Steps = 1000,
    along: _Along = "100,1000",
    out: _Out = None,
) -> None:
    """Compare soft and hard training of a problem by their tangent kernels and Hessians.

    Writes to the output folder [bold]theory.json[/bold] (all numbers) and the figures
    [bold]spectra.png[/bold], [bold]balance.png[/bold], [bold]decay.png[/bold], [bold]modes.png[/bold],
    [bold]hessian.png[/bold] and [bold]choices.png[/bold]; with [bold]all[/bold], a folder for each problem
    and the tables [bold]table.json[/bold] and [bold]table.md[/bold]. Results already there with the same
    settings are not computed again.

    Examples:

        hcpinn theory allen-cahn-1

        hcpinn theory advection --set c=30 --points 1024 --out out/slow

        hcpinn theory all --points 256
    """
    from rich.console import Console

    from ..catalog import ENTRIES, extensions, find_method, find_problem
    from ..machine.programs import keep_programs

    keep_programs()
    explanation, *_ = [added.theory() for added in extensions() if added.theory is not None]
    folder = out or Path("out") / "theory" / ("" if name == _ALL else name)
    settings = {"points": points, "seed": seed, "seeds": seeds, "steps": steps, "along": _counts(along)}

    def summary(name: str, folder: Path) -> dict[str, Any]:
        problem = find_problem(name).with_parameters(**assignments(set_ or []))
        check_folder(folder)
        with Console(stderr=True, highlight=False).status(name) as status:
            tell = lambda what: status.update(f"{name}: {what}")
            return explanation.analysed(problem, find_method(method, problem), folder, settings, tell=tell)

    if name != _ALL:
        show_facts([*explanation.in_short(summary(name, folder)), ("results in", str(folder))])
        return
    if set_:
        raise MethodError("--set changes a parameter of one problem: name the problem in place of 'all'.")
    rows = explanation.write_table([summary(each, folder / each) for each in ENTRIES], folder)
    _show(explanation.short_table(rows), folder)


def _counts(text: str) -> list[int]:
    try:
        counts = [int(part) for part in text.split(",")]
    except ValueError:
        counts = [0]
    if min(counts) < 1:
        raise MethodError(f"--along takes positive whole numbers, as in 100,1000; not '{text}'.")
    return counts


def _show(lines: list[list[str]], folder: Path) -> None:
    table = make_table(*lines[0], whole=(lines[0][0], lines[0][-1]))
    for line in lines[1:]:
        table.add_row(*line)
    shown = console()
    shown.print(table)
    shown.print(f"results in {folder}", soft_wrap=True)
