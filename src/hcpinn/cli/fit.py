"""The command `hcpinn fit FILE --data FILE.csv`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import MethodError
from .app import EXIT_NOT_CONVERGED, Seed, app, check_folder, draw, left_early, show_facts
from .declared import HELP, METAVAR, folder_name, problem_from

if TYPE_CHECKING:
    from ..estimation import Fit
    from ..problem import Problem


@app.command()
def fit(
    name: Annotated[str, typer.Argument(metavar=METAVAR, help=HELP)],
    data: Annotated[
        list[Path],
        typer.Option(
            "--data",
            "-d",
            metavar="FILE",
            help="Measurements: CSV with columns t, x, …, u, or NetCDF. A column called like a parameter is "
            "its setting in each experiment. Can be repeated.",
        ),
    ],
    unknown: Annotated[
        list[str] | None,
        typer.Option(
            "--unknown",
            "-u",
            metavar="NAME=GUESS|LOW..HIGH",
            help="A parameter to find, with a guess or a range. Can be repeated. Its own ranges count.",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a known parameter. Can be repeated."),
    ] = None,
    noise: Annotated[
        float | None,
        typer.Option(help="Standard deviation of the measurements.", show_default="estimated"),
    ] = None,
    loss: Annotated[str, typer.Option(help="gaussian; huber or cauchy for outliers.")] = "gaussian",
    starts: Annotated[int, typer.Option(min=1, help="Searches from different places.")] = 3,
    seed: Seed = 0,
    max_seconds: Annotated[float | None, typer.Option(help="Seconds this may take.")] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Output folder.", show_default="out/NAME-fit"),
    ] = None,
) -> None:
    """Find unknown parameters of a problem from measurements, with errors and a verdict.

    Writes to the output folder: [bold]fit.json[/bold] (estimates with errors and intervals, noise, verdict),
    [bold]solution.npz[/bold] (the solution at the estimate), [bold]data.png[/bold], and where there is
    something to show [bold]corner.png[/bold], [bold]profiles.png[/bold] and [bold]functions.png[/bold].

    Exit code: 0 if estimates and errors are reliable, 1 if not, 2 for bad input, 130 if interrupted.

    Examples:

        hcpinn fit rod.toml --data rod.csv

        hcpinn fit allen-cahn-2 --data u.csv --unknown gamma1=0.01 --unknown gamma2=1..10
    """
    from ..estimation import fit as find
    from ..estimation.reading import read_experiments
    from ..machine.interrupt import patient_interrupt
    from ..machine.programs import keep_programs
    from .solve import assignments

    keep_programs()
    problem = problem_from(name).with_parameters(**assignments(set_ or []))
    problem = _opened(problem, unknown or [])
    options = {} if noise is None else {"noise": noise}
    experiments = [own for path in data for own in read_experiments(path, problem.parameters, **options)]
    folder = out or Path("out") / f"{folder_name(name)}-fit"
    check_folder(folder)
    with patient_interrupt() as interrupted:  # so that nothing is lost between the two
        found = find(
            problem,
            experiments,
            starts=starts,
            seed=seed,
            loss=loss,
            max_seconds=max_seconds,
            on_progress=lambda sentence: typer.echo(sentence, err=True),
        )
        found.save_summary(folder / "fit.json")
        found.solution.save(folder / "solution.npz")
        draw(lambda: _draw(found, folder), interrupted)
        _report(found, folder)
    if interrupted.is_set():
        raise left_early()
    if not found.verdict.reliable:
        raise typer.Exit(EXIT_NOT_CONVERGED)


def _opened(problem: Problem, texts: list[str]) -> Problem:
    """The problem with the parameters that the command line calls unknown."""
    from ..problem import Unknown

    values = {}
    for text in texts:
        name, sign, value = text.partition("=")
        low, dots, high = value.partition("..")
        try:
            least, most = float(low), float(high) if dots else None
        except ValueError:
            least, most = math.nan, None
        if not sign or math.isnan(least):
            raise MethodError(
                f"--unknown takes NAME=GUESS or NAME=LOW..HIGH, as in --unknown k=0.1; not '{text}'."
            )
        if most is None:
            values[name.strip()] = Unknown(least)
        else:
            middle = (least * most) ** 0.5 if least > 0 and most > 0 else (least + most) / 2
            values[name.strip()] = Unknown(middle, least, most)
    return problem.with_parameters(**values)


def _draw(found: Fit, folder: Path) -> None:
    found.plot(folder / "data.png")
    from ..estimation import Estimate

    numbers = {n: e for n, e in found.estimates.items() if isinstance(e, Estimate)}
    if any(e.determined for e in numbers.values()):
        found.plot_corner(folder / "corner.png")
    if found.profiles:
        found.plot_profiles(folder / "profiles.png")
    if len(numbers) < len(found.estimates):
        found.plot_functions(folder / "functions.png")


def _report(found: Fit, folder: Path) -> None:
    show_facts(
        [
            ("problem", found.problem.name),
            *((name, str(estimate)) for name, estimate in found.estimates.items()),
            *((f"noise of {name}", f"{value:.3g}") for name, value in found.noise.items()),
            ("verdict", str(found.verdict)),
            ("results in", str(folder)),
        ]
    )
