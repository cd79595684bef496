"""The command `hcpinn recheck DIR`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import MethodError
from .app import EXIT_INTERRUPTED, BarOrLines, CheckpointEvery, MaxSeconds, app, console, escape, make_table
from .study import EXIT_UNFINISHED

if TYPE_CHECKING:
    from ..study import Comparison, Pair, Recheck, Record
    from ..study.recheck import Selection

EXIT_DIFFERS = 1

_REASONS = 3
"""How many are told in full."""

_WIDE = 200
"""Letters in a line that all columns fit into."""


_Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a study.", show_default=False)]
_Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Folder for the new results and recheck.json.", show_default=False),
]
_Sample = Annotated[
    int | None,
    typer.Option(
        min=1, help="Smallest number of runs to compare; whole groups are trained.", show_default="10"
    ),
]
_Groups = Annotated[int | None, typer.Option(min=1, help="Number of groups to train instead.")]
_Key = Annotated[
    list[str] | None,
    typer.Option(
        "--key",
        metavar="KEY",
        help="A run to train instead, by the first digits of its key; repeatable.",
    ),
]
_Seed = Annotated[int | None, typer.Option(help="Draw the sample at random, regardless of cost.")]
_Alone = Annotated[
    bool,
    typer.Option("--alone", help="Train each run by itself: for another device, where bits differ anyway."),
]
_Against = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Train nothing: compare with another study's folder."),
]
_DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be trained and how long it took, and stop.")
]


@app.command()
def recheck(
    folder: _Folder,
    out: _Out = None,
    sample: _Sample = None,
    groups: _Groups = None,
    key: _Key = None,
    seed: _Seed = None,
    alone: _Alone = False,
    against: _Against = None,
    dry_run: _DryRun = False,
    max_seconds: MaxSeconds = None,
    checkpoint_every: CheckpointEvery = 30.0,
    progress: BarOrLines = None,
) -> None:
    """Train a sample of a study again and compare the errors.

    Runs are trained in their original groups, or one by one with --alone. Each has the
    [bold]same bits[/bold]; or is the [bold]same to rounding[/bold], 1 part in 1,000; or, if the device, the
    versions, the code or the group have changed, or kernels were chosen by timing, is
    [bold]within the seed spread[/bold]: errors changed by at most a factor of two, or as much as the row's
    other seeds differ; or it [bold]differs[/bold]. All figures are in recheck.json in the output folder.

    Exit code: 0 if no run differs; 1 if one does; 2 for bad input; 3 if time was up; 130 if interrupted.

    Examples:

        hcpinn recheck out/study --out out/recheck

        hcpinn recheck out/study --groups 9 --dry-run

        hcpinn recheck out/study --sample 30 --max-seconds 600 --out out/recheck

        hcpinn recheck out/study --key 020281af --alone --out out/recheck

        hcpinn recheck out/study --against out/other
    """
    from ..machine.programs import keep_programs
    from ..study import Watch, recheck as train_again
    from ..study.compare import FILE
    from ..study.recheck import select

    if against is not None:
        if any(option is not None for option in (sample, groups, key, seed, max_seconds)) or alone or dry_run:
            raise MethodError(
                "With --against nothing is trained, so leave out options that choose or limit runs."
            )
        _compare(folder, against, out)
        return
    keep_programs()
    which = {"sample": sample, "groups": groups, "keys": key or (), "seed": seed, "alone": alone}
    if dry_run:
        _show_selection(select(folder, **which))
        return
    if out is None:
        raise MethodError("Name a folder for the new results, as in --out out/recheck.")
    limits = {"max_seconds": max_seconds, "checkpoint_every": checkpoint_every}
    found = train_again(folder, out, watch=Watch.for_a_user(progress), **limits, **which)
    _show(found, found.pairs, out / FILE)
    _show_left_out(found.selection.left_out)
    _conclude(found)


def _compare(folder: Path, against: Path, out: Path | None) -> None:
    from ..study import compare

    compared = compare(folder, against)
    known = [pair for pair in compared.pairs if pair.now is not None]
    _show(compared, known, compared.write(out) if out is not None else None)
    if not compared.agrees:
        raise typer.Exit(EXIT_DIFFERS)


def _show_selection(chosen: Selection) -> None:
    from ..study.numbers import counted, duration

    sizes = ("compared", "in the group", "took")
    table = make_table("problems", "methods", *sizes, right=sizes)
    for group in chosen.groups:
        found = (str(len(group.records)), str(len(group.keys)), duration(group.seconds))
        table.add_row(", ".join(group.problems), escape(", ".join(group.methods)), *found)
    shown = console(wide=_WIDE)
    shown.print(table)
    runs, groups = counted(len(chosen.records), "run"), counted(len(chosen.groups), "group")
    shown.print(f"\n{runs} in {groups}, which took {duration(chosen.seconds)} at the time.")
    _show_left_out(chosen.left_out)


def _show(found: Comparison, shown: Sequence[Pair], file: Path | None) -> None:
    from ..study import Agreement
    from ..study.numbers import counted, number
    from ..study.rows import measured

    def error(record: Record | None) -> str:
        value = None if record is None else measured(record, "rel_l2")
        return "–" if value is None else number(value)

    figures = ("seed", "error before", "error now", "difference")
    table = make_table("problem", "method", *figures, "verdict", "changed since", right=figures)
    names = _labels([pair.before for pair in shown])
    for pair, name in zip(shown, names, strict=True):
        known = pair.now is not None and pair.now.done
        table.add_row(
            name,
            escape(pair.before.method),
            str(pair.before.seed),
            error(pair.before),
            error(pair.now),
            (f"{pair.difference:.1e}" if pair.difference else "0") if known else "–",
            escape(pair.agreement.value if known or pair.now is None else f"failed: {pair.now.reason}"),
            ", ".join(pair.changed),
        )
    printed = console(wide=_WIDE)
    printed.print(table)
    counts = ", ".join(f"{found.counts[v]} {v.value}" for v in Agreement if found.counts[v])
    where = f" All figures are in {file}." if file else ""
    printed.print(f"\n{counted(len(found.pairs), 'run')}: {counts}.{where}")


def _show_left_out(reasons: Sequence[str]) -> None:
    for reason in reasons[:_REASONS]:
        typer.echo(f"Left out: {reason}")
    if len(reasons) > _REASONS:
        typer.echo(f"Left out for such reasons: {len(reasons) - _REASONS} more.")


def _labels(records: Sequence[Record]) -> list[str]:
    """The problem of each, with the parameters in which those of one name differ."""
    values: dict[tuple[str, str], set[float]] = {}
    for record in records:
        for name, value in record.parameters.items():
            values.setdefault((record.problem, name), set()).add(value)
    return [
        record.problem
        + "".join(
            f", {n} = {v:g}" for n, v in record.parameters.items() if len(values[record.problem, n]) > 1
        )
        for record in records
    ]


def _conclude(found: Recheck) -> None:
    from ..descent import Stop

    if found.tally.left:
        typer.echo("The same command resumes from here.")
    if found.tally.stop is Stop.INTERRUPTED:
        raise typer.Exit(EXIT_INTERRUPTED)
    if not found.agrees:
        raise typer.Exit(EXIT_DIFFERS)
    if found.tally.left:
        raise typer.Exit(EXIT_UNFINISHED)
