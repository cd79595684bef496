"""The command line: `hcpinn list`, `hcpinn methods`, `hcpinn solve NAME`, `hcpinn gallery`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .errors import FileError, HcpinnError, MethodError

if TYPE_CHECKING:
    from .method import Method
    from .problem import Problem
    from .solution import Solution

app = typer.Typer(
    name="hcpinn",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

EXIT_NOT_CONVERGED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130


def _show_version(wanted: bool) -> None:
    if wanted:
        from . import __version__

        typer.echo(f"hcpinn {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop."),
    ] = False,
) -> None:
    """Solve stiff, time-dependent PDEs with networks that meet initial and boundary data exactly.

    Start with [bold]hcpinn list[/bold], then [bold]hcpinn solve allen-cahn-2[/bold].
    """


@app.command("list")
def list_command() -> None:
    """Show the problems and the methods that can be named."""
    from rich.console import Console
    from rich.table import Table

    from .catalog import ENTRIES

    console = Console()
    problems = Table("problem", "equation", "parameters", "T", box=None, header_style="bold", pad_edge=False)
    for entry in ENTRIES.values():
        values = ", ".join(f"{k} = {v:g}" for k, v in entry.problem.parameters.items())
        problems.add_row(entry.name, entry.equation, values, f"{entry.problem.horizon:g}")
    console.print(problems)
    console.print()
    console.print(_methods_table())


@app.command()
def solve(
    name: Annotated[str, typer.Argument(help="A problem of the catalogue; see [bold]hcpinn list[/bold].")],
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            "-m",
            metavar="NAME|FILE.toml",
            help="How to train: a name or a set of switches, see [bold]hcpinn methods[/bold], or a file.",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Change a parameter of the problem; repeat for more."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for the results.", show_default="out/NAME")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Go on from the checkpoint in the output folder.")] = False,
    accuracy: Annotated[
        float, typer.Option(help="Relative L2 error up to which the solution counts as converged.")
    ] = 1e-2,
    steps: Annotated[
        str | None,
        typer.Option(metavar="N,N,…", help="Steps of each stage in place of the method's, as in 2000,500."),
    ] = None,
    points: Annotated[
        int | None, typer.Option(min=1, help="Residual points in place of the method's.")
    ] = None,
    max_seconds: Annotated[float | None, typer.Option(help="Stop training after this time.")] = None,
    checkpoint_every: Annotated[float, typer.Option(help="Seconds between two checkpoints.")] = 30.0,
    animation: Annotated[bool, typer.Option(help="Also write a GIF of the solution in time.")] = False,
    progress: Annotated[
        bool | None,
        typer.Option("--progress/--quiet", help="Show a progress bar.", show_default="in a terminal"),
    ] = None,
) -> None:
    """Solve a problem, check the solution against a classical one, and draw it.

    Leaves in the output folder: [bold]summary.json[/bold] (errors, verdict, settings),
    [bold]solution.npz[/bold] (open it with hcpinn.load), [bold]method.toml[/bold] (the method, for
    --method), and the figures [bold]fields.png[/bold], [bold]slices.png[/bold],
    [bold]history.png[/bold] and, for adaptive weights, [bold]weights.png[/bold].

    Exit code: 0 if the solution converged, 1 if not, 2 for bad input, 130 if interrupted.

    Examples:

        hcpinn solve allen-cahn-2

        hcpinn solve allen-cahn-1 --method paper --set gamma2=4 --seed 3 --out results/ac1

        hcpinn solve allen-cahn-1 --method paper --set gamma2=4 --seed 3 --out results/ac1 --resume

        hcpinn solve allen-cahn-1 --method pbc+ic1+sa
    """
    from . import solving
    from .catalog import DEFAULT, find_method, find_problem
    from .training import Stop

    problem = find_problem(name).with_parameters(**_assignments(set_ or []))
    chosen = _with_budget(find_method(method or DEFAULT, problem), steps, points)
    folder = out or Path("out") / name
    _check_folder(folder)
    solution = solving.solve(
        problem,
        chosen,
        seed=seed,
        accuracy=accuracy,
        out=folder,
        resume=resume,
        checkpoint_every=checkpoint_every,
        max_seconds=max_seconds,
        progress=progress,
    )
    _write(solution, folder)
    if animation:
        solution.animate(folder / "solution.gif")
    stopped_early = solution.stop in (Stop.INTERRUPTED, Stop.TIME)
    if not stopped_early:
        (folder / solving.CHECKPOINT).unlink(missing_ok=True)
    _report(solution, folder)
    if stopped_early:
        typer.echo(
            "Go on with the same command and --resume" + (" and more --max-seconds." if max_seconds else ".")
        )
    if solution.stop is Stop.INTERRUPTED:
        raise typer.Exit(EXIT_INTERRUPTED)
    if not solution.verdict.converged:
        raise typer.Exit(EXIT_NOT_CONVERGED)


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

    Examples:

        hcpinn methods

        hcpinn methods paper --problem gray-scott > mine.toml
    """
    from .catalog import find_method, find_problem
    from .method import to_toml

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

    from .catalog import DEFAULT, METHODS

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

    from .catalog import ENTRIES
    from .figures import finish, gallery_figure
    from .reference import solve_reference

    _check_folder(out.parent)
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


def main() -> None:
    """Run the command line; what goes wrong is said in a sentence, without a traceback."""
    try:
        app()
    except HcpinnError as error:
        from rich.console import Console

        Console(stderr=True, soft_wrap=True, highlight=False).print(
            f"[bold red]Error:[/] {_escape(str(error))}"
        )
        sys.exit(EXIT_BAD_INPUT)
    except KeyboardInterrupt:
        typer.echo("Interrupted.", err=True)
        sys.exit(EXIT_INTERRUPTED)


def _assignments(texts: list[str]) -> dict[str, float]:
    values = {}
    for text in texts:
        name, sign, value = text.partition("=")
        try:
            values[name.strip()] = float(value)
        except ValueError:
            sign = ""
        if not sign:
            raise MethodError(f"--set takes NAME=VALUE with a number, as in --set gamma2=4; not '{text}'.")
    return values


def _with_budget(method: Method, steps: str | None, points: int | None) -> Method:
    """The method with the step and point budgets given on the command line."""
    from dataclasses import replace

    if points is not None:
        batches = method.batches and replace(method.batches, size=-(-points // method.batches.count))
        method = replace(method, points=points, batches=batches)
    if steps is not None:
        try:
            counts = [int(part) for part in steps.split(",")]
        except ValueError:
            counts = []
        if len(counts) != len(method.stages) or min(counts) < 0:
            names = ", ".join(stage.label for stage in method.stages)
            raise MethodError(
                f"--steps takes {len(method.stages)} whole numbers, one for each of {names}; not '{steps}'. "
                "A zero leaves a stage out."
            )
        kept = tuple(
            replace(stage, steps=count)  # type: ignore[type-var]
            for stage, count in zip(method.stages, counts, strict=True)
            if count
        )
        method = replace(method, stages=kept)
    return method


def _check_folder(folder: Path) -> None:
    """Find out before training, not after, whether results can be written."""
    probe = folder / ".writable"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise FileError(
            f"Cannot write to the folder {folder}: {error.strerror}. Choose another with --out."
        ) from error


def _write(solution: Solution, folder: Path) -> None:
    from .files import write_bytes
    from .method import save_method

    solution.save(folder / "solution.npz")
    write_bytes(folder / "summary.json", (json.dumps(solution.summary(), indent=2) + "\n").encode())
    solution.plot(folder / "fields.png")
    solution.plot_slices(folder / "slices.png")
    solution.plot_history(folder / "history.png")
    if solution.weights:
        solution.plot_weights(folder / "weights.png")
    save_method(solution.method, folder / "method.toml")


def _report(solution: Solution, folder: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    from .precision import double
    from .trial import Semigroup

    facts: list[tuple[str, str]] = [
        ("problem", _describe(solution.problem)),
        ("method", solution.method.name),
    ]
    if isinstance(solution.method.lift, Semigroup):
        with double():
            facts.append(("lift", str(solution.method.lift.waves(solution.problem))))
    for label, errors in (("relative L2 error", solution.rel_l2), ("relative L1 error", solution.rel_l1)):
        if errors is not None:
            single = len(errors) == 1
            facts.append((label, "  ".join(f"{'' if single else k + ' '}{v:.2e}" for k, v in errors.items())))
    if solution.reference is not None:
        facts.append(
            (
                "checked against",
                f"{solution.reference.solver} (error about {solution.reference.error_estimate:.0e})",
            )
        )
        facts += [("note", note) for note in solution.reference.notes]
    facts += [
        ("training", f"{sum(n for _, n in solution.history.stages):,} steps in {solution.seconds:.1f} s"),
        ("stopped because", solution.stop.value),
        ("verdict", f"{solution.verdict.status}. {' '.join(solution.verdict.reasons)}"),
        ("results in", str(folder)),
    ]
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for label, value in facts:
        table.add_row(label, _escape(value))
    Console(soft_wrap=not sys.stdout.isatty(), highlight=False).print(table)


def _describe(problem: Problem) -> str:
    values = ", ".join(f"{k} = {v:g}" for k, v in problem.parameters.items())
    return f"{problem.name} ({values})" if values else problem.name


def _escape(text: Any) -> str:
    from rich.markup import escape

    return escape(str(text))


if __name__ == "__main__":
    main()
