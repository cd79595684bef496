"""The command `hcpinn theory NAME`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import MethodError
from .app import app, check_folder, show_facts
from .solve import assignments

if TYPE_CHECKING:
    from ..theory import Analysis

_ALL = "all"


@app.command()
def theory(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="A problem, see [bold]hcpinn list[/bold], or [bold]all[/bold]."),
    ],
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            metavar="NAME|FILE.toml",
            help="The method that supplies lift, gate, embedding and network.",
        ),
    ] = "quick",
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Change a parameter of the problem, or its horizon. Can be repeated.",
        ),
    ] = None,
    points: Annotated[int, typer.Option(min=8, help="Number of residual points.")] = 512,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds the findings rest on.")] = 3,
    steps: Annotated[int, typer.Option(min=1, help="Number of gradient descent steps.")] = 1000,
    along: Annotated[
        str,
        typer.Option(
            "--along", metavar="N,N,…", help="Numbers of Adam steps after which kernels are computed again."
        ),
    ] = "100,1000",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Output folder.", show_default="out/theory/NAME"),
    ] = None,
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
    from ..catalog import ENTRIES
    from ..machine.programs import keep_programs

    keep_programs()
    folder = out or Path("out") / "theory" / ("" if name == _ALL else name)
    settings = {"points": points, "seed": seed, "seeds": seeds, "steps": steps, "along": _counts(along)}
    if name != _ALL:
        summary = _one(name, method, assignments(set_ or []), settings, folder)
        _report(summary, folder)
        return
    if set_:
        raise MethodError("--set changes a parameter of one problem: name the problem in place of 'all'.")
    from ..machine.files import write_bytes
    from ..theory.table import markdown_table, table_rows

    summaries = [_one(each, method, {}, settings, folder / each) for each in ENTRIES]
    rows = table_rows(summaries)
    record = {"settings": settings, **{k: summaries[0][k] for k in ("device", "versions")}, "rows": rows}
    write_bytes(folder / "table.json", (json.dumps(record, indent=1) + "\n").encode())
    write_bytes(folder / "table.md", markdown_table(rows).encode())
    _table(rows, folder)


def _one(name: str, method: str, values: dict[str, float], settings: dict[str, Any], folder: Path) -> Any:
    """The summary of one problem: read if it is there with the same settings, else computed and written."""
    from rich.console import Console

    from ..catalog import find_method, find_problem
    from ..descent import to_dict
    from ..machine.files import write_bytes
    from ..theory import analyse, hard_method
    from ..theory.figures import draw

    problem = find_problem(name).with_parameters(**values)
    chosen = find_method(method, problem)
    check_folder(folder)
    path = folder / "theory.json"
    same = {
        "problem": problem.name,
        "parameters": dict(problem.parameters),
        "method_settings": to_dict(hard_method(problem, chosen)),
        "settings": settings,
    }
    known = _known(path)
    if all(known.get(key) == json.loads(json.dumps(value)) for key, value in same.items()):
        return known
    console = Console(stderr=True, highlight=False)
    with console.status(f"{name}") as status:
        analysis: Analysis = analyse(
            problem, chosen, **settings, tell=lambda what: status.update(f"{name}: {what}")
        )
    summary = json.loads(json.dumps({**analysis.summary(), "settings": settings}))
    draw(summary, folder)
    write_bytes(path, (json.dumps(summary, indent=1) + "\n").encode())
    return summary


def _known(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _counts(text: str) -> list[int]:
    try:
        counts = [int(part) for part in text.split(",")]
    except ValueError:
        counts = [0]
    if min(counts) < 1:
        raise MethodError(f"--along takes positive whole numbers, as in 100,1000; not '{text}'.")
    return counts


def _report(summary: dict[str, Any], folder: Path) -> None:
    found, bounds = summary["findings"], summary["hessian_bounds"]
    soft, hard = (summary[side]["figures"] for side in ("soft", "hard"))
    shares = ", ".join(f"{term} {share:.2g}" for term, share in soft["shares"].items())
    moved = {side: summary[side]["along_training"][-1] for side in ("soft", "hard")}
    facts = [
        ("problem", summary["problem"]),
        ("kernels", f"{soft['rows']} and {hard['rows']} rows, {summary['parameters_trained']:,} parameters"),
        ("shares of the soft trace", shares),
        ("condition, soft / hard", f"{soft['condition']:.2g} / {hard['condition']:.2g}"),
        ("effective rank, soft / hard", f"{soft['effective_rank']:.3g} / {hard['effective_rank']:.3g}"),
        ("largest eigenvalue, soft / hard", f"{soft['largest']:.3g} / {hard['largest']:.3g}"),
        ("its bound, soft / hard", f"{bounds['soft_bound']:.3g} / {bounds['hard_bound']:.3g}"),
        (
            "measured decay",
            "; ".join(f"{side} {_deviations(summary[side]['decay'])}" for side in ("soft", "hard")),
        ),
        (
            f"kernel moved in {moved['soft']['steps']:,} steps of Adam",
            f"by {moved['soft']['drift']:.2g} / {moved['hard']['drift']:.2g} of its norm, soft / hard",
        ),
        ("explained by conditioning", f"{found['status']}. {' '.join(found['reasons'])}"),
        ("results in", str(folder)),
    ]
    show_facts(facts)


def _deviations(decay: dict[str, Any]) -> str:
    first, last = decay["deviations"][0], decay["deviations"][-1]
    return f"{first:.1%} from predicted after 1 step, {last:.0%} after {decay['steps'][-1]:,}"


def _table(rows: list[dict[str, Any]], folder: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    from ..theory.table import row_cells

    heads = ("problem", "initial share", "λ₁/λₙ soft / hard", "initial error left soft / hard", "explanation")
    table = Table(box=None, header_style="bold", pad_edge=False)
    for head in heads:
        table.add_column(head, no_wrap=head in ("problem", "explanation"))
    for row in rows:
        made = row_cells(row)
        table.add_row(*(made[number] for number in (0, 1, 3, 6, 8)))
    console = Console(soft_wrap=not sys.stdout.isatty(), highlight=False)
    console.print(table)
    console.print(f"results in {folder}", soft_wrap=True)
