"""The command `hcpinn study NAME…`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import MethodError
from .app import (
    EXIT_INTERRUPTED,
    EXIT_NOT_CONVERGED,
    BarOrLines,
    CheckpointEvery,
    MaxSeconds,
    app,
    check_folder,
    console,
    make_table,
)

if TYPE_CHECKING:
    from ..study import Study, Tally

EXIT_UNFINISHED = 3

_Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME…|FILE.toml",
        help="Studies that [bold]--list[/bold] shows, or files.",
    ),
]
_List = Annotated[bool, typer.Option("--list", help="Show the studies that have a name, and stop.")]
_DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show runs, groups and their likely cost, and stop.")
]
_Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="Folder of the store.", show_default="out/study")
]
_Problems = Annotated[
    list[str] | None,
    typer.Option("--problem", metavar="NAME", help="Only this problem; repeatable."),
]
_Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="Only this method, or runs with this label; repeatable. In both, * matches anything.",
    ),
]
_Seeds = Annotated[
    str | None,
    typer.Option("--seeds", metavar="N,N|N-N", help="Seeds in place of the study's, as in 0,1,2 or 0-9."),
]
_Steps = Annotated[
    str | None,
    typer.Option("--steps", metavar="N,N,…", help="Steps of each stage in place of the methods'."),
]
_Points = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Residual points in place of the methods'.")
]
_Together = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Runs that train together at most.",
        show_default="what fits into memory, up to 16",
    ),
]
_RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Try failed runs again.")]
_Solutions = Annotated[
    bool, typer.Option("--solutions/--no-solutions", help="Keep solution files with the records.")
]
_Processes = Annotated[
    int,
    typer.Option(
        min=1,
        metavar="N",
        help="Processes that train side by side on this machine's device, each a group of its own. On a "
        "GPU one computes while another compiles; on a CPU they share its cores and gain little.",
    ),
]
_Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ray[:ADDRESS]",
        help="Train on a Ray cluster; without an address a local one.",
    ),
]
_Tensorboard = Annotated[
    Path | None, typer.Option("--tensorboard", metavar="DIR", help="Also write logs for TensorBoard.")
]


@app.command()
def study(
    names: _Names = None,
    list_: _List = False,
    dry_run: _DryRun = False,
    out: _Out = None,
    problems: _Problems = None,
    methods: _Methods = None,
    seeds: _Seeds = None,
    steps: _Steps = None,
    points: _Points = None,
    together: _Together = None,
    max_seconds: MaxSeconds = None,
    checkpoint_every: CheckpointEvery = 30.0,
    retry_failed: _RetryFailed = False,
    solutions: _Solutions = True,
    processes: _Processes = 1,
    cluster: _Cluster = None,
    tensorboard: _Tensorboard = None,
    progress: BarOrLines = None,
) -> None:
    """Train many runs as one resumable job; runs that the output folder already has are skipped.

    Stop it at any time and resume with the same command: finished runs are kept, and unfinished ones
    continue from their checkpoints. Several processes may share one folder.
    [bold]hcpinn report DIR[/bold] shows the results.

    Exit code: 0 if every run finished, whatever its verdict; 1 if some failed; 2 for bad input; 3 if time
    was up; 130 if interrupted.

    Examples:

        hcpinn study --list

        hcpinn study mine.toml --dry-run

        hcpinn study mine.toml --seeds 0-4 --max-seconds 3000

        hcpinn study mine.toml --problem cahn-hilliard --method 'qui*'

        hcpinn study mine.toml --processes 4

        hcpinn study mine.toml --cluster ray:auto
    """
    if cluster is not None or processes > 1:
        # This process plans; the memory of a GPU on this machine is for the workers that train on it.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    from ..machine.programs import keep_programs
    from ..study import Watch, run_study

    keep_programs()
    if list_:
        _list()
        return
    wanted = _named(names or []).only(problems=problems or (), methods=methods or ())
    if seeds is not None:
        wanted = wanted.with_seeds(_numbers("--seeds", seeds))
    wanted = wanted.with_budget(steps=None if steps is None else _numbers("--steps", steps), points=points)
    if dry_run:
        _forecast(wanted, out, together, processes)
        return
    folder = out or Path("out") / "study"
    check_folder(folder)
    tally = run_study(
        wanted,
        folder,
        solutions=solutions,
        retry_failed=retry_failed,
        together=together,
        max_seconds=max_seconds,
        checkpoint_every=checkpoint_every,
        processes=processes,
        cluster=cluster,
        watch=Watch.for_a_user(progress, tensorboard),
    )
    _conclude(tally, folder)


def _named(names: list[str]) -> Study:
    """The studies of these names and files as one."""
    from ..study import Study, find_study, load_study

    if not names:
        raise MethodError("Name a study: one that `hcpinn study --list` shows, or a .toml file.")
    found = [load_study(name) if name.endswith(".toml") else find_study(name) for name in names]
    if len(found) == 1:
        return found[0]
    sections = {section.name: section for part in found for section in part.sections}
    pages = {part.page for part in found}
    return Study(
        "+".join(part.name for part in found),
        ", ".join(part.title for part in found),
        tuple(sections.values()),
        pages.pop() if len(pages) == 1 else "",
    )


def _numbers(option: str, text: str) -> list[int]:
    """Whole numbers as in 0,1,2 or 0-9."""
    try:
        found = []
        for part in text.split(","):
            low, dash, high = part.partition("-")
            found += range(int(low), int(high) + 1) if dash else [int(part)]
        if found and min(found) >= 0:
            return found
    except ValueError:
        pass
    raise MethodError(f"{option} takes whole numbers, as in 0,1,2 or 0-9; not '{text}'.")


def _list() -> None:
    from ..study import named_studies

    table = make_table("study", "what it is")
    for name, make in named_studies().items():
        table.add_row(name, (make.__doc__ or "").splitlines()[0])
    console().print(table)


def _forecast(wanted: Study, out: Path | None, together: int | None, processes: int) -> None:
    """Print what a study has to do, and what that is likely to cost here and on an H200."""
    from ..study.cost import H200, forecast, this_machine
    from ..study.numbers import counted, duration

    lines, whole = forecast(wanted, out, together=together, processes=processes)
    figures = ("runs", "kept", "groups", "time here", "on an H200", "memory")
    table = make_table("section", *figures, right=figures, whole=("section",))
    for line in lines:
        times = [duration(seconds) if line.groups else "" for seconds in line.seconds]
        memory = f"{line.bytes / 2**30:.2f} GiB" if line.groups else ""
        table.add_row(line.section, str(line.runs), str(line.kept), str(line.groups), *times, memory)
    shown = console()
    shown.print(table)
    here, there = map(duration, whole.seconds)
    shown.print(
        f"\n{counted(whole.runs, 'different run')}, {whole.kept} of them in the store. To train: "
        f"{counted(whole.groups, 'group')}, the largest of {counted(whole.largest, 'run')}; "
        f"about {here} on {this_machine().name}, {there} on {H200.name}.\nRuns that several sections share "
        "are trained, and counted, with the first of them. Times come from a simple model of one group at a "
        "time, and may be off by a factor of two."
    )


def _conclude(tally: Tally, folder: Path) -> None:
    from ..descent import Stop
    from ..study.numbers import counted

    parts = [f"{counted(tally.done, 'run')} done"]
    parts += [f"{tally.failed} failed"] if tally.failed else []
    parts += [f"{tally.left} left"] if tally.left else []
    typer.echo(f"{', '.join(parts)}; kept in {folder}")
    if tally.failed:
        typer.echo("The report gives the reasons; --retry-failed tries failed runs again.")
    if tally.left:
        typer.echo("The same command resumes from here.")
    if tally.stop is Stop.INTERRUPTED:
        raise typer.Exit(EXIT_INTERRUPTED)
    if tally.left:
        raise typer.Exit(EXIT_UNFINISHED)
    if tally.failed:
        raise typer.Exit(EXIT_NOT_CONVERGED)
