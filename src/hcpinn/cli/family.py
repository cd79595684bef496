"""`hcpinn solve NAME --set gamma2=1..5`: a family, its page, picture and summary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .app import EXIT_NOT_CONVERGED, check_folder, draw, left_early, show_facts

if TYPE_CHECKING:
    from ..problem import Problem
    from ..solution.family import Family


def solve_ranges(problem: Problem, method: str | None, folder: Path, options: dict[str, Any]) -> None:
    """Solve for all values of the open parameters; leave family.npz, summary.json, family.png and a page."""
    from .. import solving
    from ..machine.files import write_bytes
    from ..machine.interrupt import patient_interrupt

    check_folder(folder)
    with patient_interrupt() as interrupted:  # so that nothing is lost between the two
        family = solving.solve(problem, method, **options)
        family.save(folder / "family.npz")
        write_bytes(folder / "summary.json", (json.dumps(family.summary(), indent=2) + "\n").encode())
        if len(problem.space) == 1:
            draw(lambda: _draw(family, folder), interrupted)
        show_facts(_facts(family, folder))
    if interrupted.is_set():
        raise left_early()
    if not family.verdict.converged:
        raise typer.Exit(EXIT_NOT_CONVERGED)


def _draw(family: Family, folder: Path) -> None:
    family.plot(folder / "family.png")
    family.page(folder / "family.html")


def _facts(family: Family, folder: Path) -> list[tuple[str, str]]:
    ranges = ", ".join(
        f"{name} from {own.extremes[0]:g} to {own.extremes[-1]:g}"
        for name, own in family.problem.open.items()
    )
    worst = family.worst
    return [
        ("problem", f"{family.problem.name}, {ranges}"),
        ("nodes", str(len(family.function.interpolation))),
        *(("kink at", f"{family.names[0]} = {kink:.6g}") for kink in family.kinks),
        *([("worst relative L2 error", f"{worst.error:.2e}")] if worst else []),
        ("estimated error", f"{family.estimated_error:.1e}"),
        ("effort", f"{family.seconds:.1f} s"),
        *(("note", note) for note in family.notes),
        ("stopped because", family.stop.value),
        ("verdict", f"{family.verdict.status}. {' '.join(family.verdict.reasons)}"),
        ("results in", str(folder)),
    ]
