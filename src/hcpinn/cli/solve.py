"""The command `hcpinn solve`."""

from __future__ import annotations

import contextlib
import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import HcpinnError, MethodError
from .app import (
    EXIT_NOT_CONVERGED,
    CheckpointEvery,
    Seed,
    app,
    check_folder,
    draw,
    left_early,
    show_facts,
)
from .declared import HELP, METAVAR, folder_name, problem_from

if TYPE_CHECKING:
    import threading

    from ..descent import Method
    from ..problem import Problem
    from ..solution.solution import Solution

_Name = Annotated[str, typer.Argument(metavar=METAVAR, help=HELP)]
_Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        "-m",
        metavar="NAME|FILE",
        help="A method of [bold]hcpinn methods[/bold], or a .toml file.",
        show_default="evolve",
    ),
]
_Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change a parameter of the problem, or its horizon; NAME=1..5 solves for a whole range, "
        "NAME=0.1..10,log for one in powers. Can be repeated.",
    ),
]
_Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="DIR", help="Output folder.", show_default="out/NAME"),
]
_Resume = Annotated[bool, typer.Option("--resume", help="Resume from the checkpoint in the output folder.")]
_Accuracy = Annotated[
    float,
    typer.Option(
        help="Relative L2 error to reach. Engines stop by their own estimate; the verdict checks it."
    ),
]
_Steps = Annotated[
    str | None,
    typer.Option(
        "--steps", metavar="N,N,…", help="Steps of each stage, overriding the method's, as in 2000,500."
    ),
]
_Points = Annotated[
    int | None, typer.Option(min=1, help="Number of residual points, overriding the method's.")
]
_MaxSeconds = Annotated[
    float | None,
    typer.Option(
        help="Seconds until there is a verdict, with compilation and comparison but without figures."
    ),
]
_Devices = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Number of devices to spread the points over.",
        show_default="all if each gets at least 8,192 points, else 1",
    ),
]
_Distributed = Annotated[
    str | None,
    typer.Option(
        "--distributed",
        metavar="ADDRESS",
        help="Train together with the same command in other processes: auto under Slurm or Open MPI, "
        "else HOST:PORT,N,I: the first one's address, how many there are, and which this is, from 0.",
    ),
]
_Animation = Annotated[bool, typer.Option("--animation", help="Also write an animated GIF of the solution.")]
_Progress = Annotated[
    bool | None,
    typer.Option("--progress/--quiet", help="Show a live line, or nothing.", show_default="in a terminal"),
]


@app.command()
def solve(
    name: _Name,
    method: _Method = None,
    set_: _Set = None,
    seed: Seed = 0,
    out: _Out = None,
    resume: _Resume = False,
    accuracy: _Accuracy = 1e-3,
    steps: _Steps = None,
    points: _Points = None,
    max_seconds: _MaxSeconds = None,
    checkpoint_every: CheckpointEvery = 30.0,
    devices: _Devices = None,
    distributed: _Distributed = None,
    animation: _Animation = False,
    progress: _Progress = None,
) -> None:
    """Solve a problem, check the solution against a reference, and draw it.

    Writes to the output folder: [bold]summary.json[/bold] (errors, verdict, settings),
    [bold]solution.npz[/bold] (open it with hcpinn.load), [bold]method.toml[/bold] (the method, to be passed
    to --method), and the figures [bold]fields.png[/bold] and [bold]slices.png[/bold], of a training also
    [bold]history.png[/bold] and, if weights adapt, [bold]weights.png[/bold].

    Results of another run in that folder are moved to a folder of their own inside it.

    Ctrl-C ends it within two seconds and keeps the best so far, without figures.

    Exit code: 0 if the solution converged, 1 if not, 2 for bad input, 130 if interrupted.

    Examples:

        hcpinn solve allen-cahn-2

        hcpinn solve mine.toml --accuracy 1e-7

        hcpinn solve mine.py:problem

        hcpinn solve allen-cahn-2 --set gamma2=1..5

        hcpinn solve allen-cahn-1 --method expert --accuracy 1e-4

        hcpinn solve allen-cahn-1 --method quick --set gamma2=4 --seed 3

        hcpinn solve allen-cahn-1 --out out/ac1 --resume

        hcpinn solve allen-cahn-1 --method mine.toml

        hcpinn solve allen-cahn-1 --distributed node0:1234,2,0
    """
    from ..machine.processes import is_first, join

    if distributed is not None:
        join(distributed)

    from .. import solving
    from ..catalog import TAKES_OVER, find_method
    from ..machine.files import written
    from ..machine.interrupt import patient_interrupt
    from ..machine.programs import keep_programs
    from ..outcome import Stop

    keep_programs()
    problem = problem_from(name).with_parameters(**assignments(set_ or [], ranges=True))
    folder = out or Path("out") / folder_name(name)
    if problem.open:
        from .family import solve_ranges

        options = {"seed": seed, "accuracy": accuracy, "max_seconds": max_seconds, "progress": progress}
        return solve_ranges(problem, method, folder, options)
    chosen = None if method is None else find_method(method, problem)
    if steps is not None or points is not None:
        chosen = _with_budget(chosen or find_method(TAKES_OVER, problem), steps, points)
    check_folder(folder)
    before = written(folder / solving.CHECKPOINT)
    with patient_interrupt() as interrupted:  # so that nothing is lost between the two
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
            devices=devices,
        )
        if is_first():
            if not resume:
                _spare(folder, solution)
            _write(solution, folder)
            _finish(solution, folder, interrupted, before, animation=animation, limited=bool(max_seconds))
    if solution.stop is Stop.INTERRUPTED or interrupted.is_set():
        raise left_early()
    if not solution.verdict.converged:
        raise typer.Exit(EXIT_NOT_CONVERGED)


def _finish(
    solution: Solution,
    folder: Path,
    interrupted: threading.Event,
    before: tuple[int, ...],
    *,
    animation: bool,
    limited: bool,
) -> None:
    """Draw and report what was saved, and remove the checkpoint of a training that is over.

    `before` identifies the checkpoint that was in the folder at first, `limited` tells that time was.
    """
    from ..descent import remove_checkpoints
    from ..machine.files import written
    from ..outcome import Stop
    from ..solving import CHECKPOINT

    checkpoint = folder / CHECKPOINT
    stopped_early = solution.stop in (Stop.INTERRUPTED, Stop.TIME)
    if not stopped_early and written(checkpoint) != before:  # else it is of another training
        remove_checkpoints(checkpoint)
    draw(lambda: _draw(solution, folder, animation), interrupted)
    _report(solution, folder)
    if stopped_early and checkpoint.exists():
        more = " and a larger --max-seconds." if limited else "."
        typer.echo(f"To continue, repeat the command with --resume{more}")


def assignments(texts: list[str], *, ranges: bool = False) -> dict[str, Any]:
    """Parameters from texts of the form NAME=VALUE, where ranges may be given from NAME=LOW..HIGH."""
    from ..problem import Between

    values: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        low, dots, high = value.partition("..")
        high, comma, log = high.partition(",")
        try:
            if dots and ranges and log.strip() in (("log",) if comma else ("",)):
                values[name.strip()] = Between(float(low), float(high), log=bool(comma))
            else:
                values[name.strip()] = float(value)
        except ValueError:
            sign = ""
        if not sign:
            raise MethodError(
                f"--set takes NAME=VALUE with a number, as in --set gamma2=4; not '{text}'."
                + (" A range is NAME=1..5, or NAME=1e-3..1e-1,log." if dots and ranges else "")
            )
    return values


def _with_budget(method: Method, steps: str | None, points: int | None) -> Method:
    """The method with the numbers of steps and points given on the command line."""
    from ..descent import with_budget

    try:
        counts = None if steps is None else [int(part) for part in steps.split(",")]
        return with_budget(method, steps=counts, points=points)
    except ValueError as error:
        raise MethodError(
            f"--steps takes {len(method.stages)} whole numbers, as in 2000,500; not '{steps}'."
        ) from error


_RESULTS = ("summary.json", "solution.npz", "method.toml", "solution.gif", "*.png")
"""What a run leaves in its folder."""


_PASSING = ("wall_s", "device", "versions", "kernels")
"""What a repeated run need not agree in."""


def _spare(folder: Path, solution: Solution) -> None:
    """Move what another run left in the folder out of the way; the same one is replaced."""
    from ..machine.files import read_json

    new = json.loads(json.dumps(solution.summary()))
    with contextlib.suppress(HcpinnError, AttributeError):
        old = read_json(folder / "summary.json")
        if all(old.get(key) == value for key, value in new.items() if key not in _PASSING):
            return
    found = [path for pattern in _RESULTS for path in sorted(folder.glob(pattern))]
    if not found:
        return
    number = next(n for n in itertools.count(1) if not (folder / f"earlier-{n}").exists())
    kept = folder / f"earlier-{number}"
    kept.mkdir()
    for path in found:
        path.rename(kept / path.name)
    typer.echo(f"Results of another run were in {folder}; they are now in {kept}.", err=True)


def _write(solution: Solution, folder: Path) -> None:
    """Save what must not be lost."""
    from ..descent import save_method
    from ..machine.files import write_bytes

    solution.save(folder / "solution.npz")
    write_bytes(folder / "summary.json", (json.dumps(solution.summary(), indent=2) + "\n").encode())
    save_method(solution.method, folder / "method.toml")


def _draw(solution: Solution, folder: Path, animation: bool) -> None:
    """Draw the figures of a solution."""
    solution.plot(folder / "fields.png")
    solution.plot_slices(folder / "slices.png")
    if solution.history.loss.size:
        solution.plot_history(folder / "history.png")
    if solution.weights:
        solution.plot_weights(folder / "weights.png")
    if animation:
        solution.animate(folder / "solution.gif")


def _report(solution: Solution, folder: Path) -> None:
    from ..machine.precision import double
    from ..trial import Semigroup

    facts: list[tuple[str, str]] = [
        ("problem", _describe(solution.problem)),
        ("method", solution.method.name),
    ]
    lift = getattr(solution.method, "lift", None)
    if isinstance(lift, Semigroup):
        with double():
            facts.append(("lift", str(lift.waves(solution.problem))))
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
        *(("note", note) for note in solution.notes),
        *([("estimated error", f"{solution.estimated_error:.1e}")] if solution.estimated_error else []),
        ("effort", f"{sum(n for _, n in solution.history.stages):,} steps in {solution.seconds:.1f} s"),
        ("stopped because", solution.stop.value),
        ("verdict", f"{solution.verdict.status}. {' '.join(solution.verdict.reasons)}"),
        ("results in", str(folder)),
    ]
    show_facts(facts)


def _describe(problem: Problem) -> str:
    values = ", ".join(f"{k} = {v:g}" for k, v in problem.parameters.items())
    return f"{problem.name} ({values})" if values else problem.name
