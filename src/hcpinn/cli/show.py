"""The command `hcpinn show`: a problem in print, before anything runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from .app import app, escape
from .declared import HELP, METAVAR, problem_from

if TYPE_CHECKING:
    from ..problem import Problem

_WIDE, _HIGH = 60, 10
"""Characters of a picture."""

_SHADES = " ░▒▓█", " .:*#"
"""From the lowest value to the highest, and the same in ASCII."""


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar=METAVAR, help=HELP)],
    text: Annotated[
        bool, typer.Option("--text", help="Print it as TOML that can be edited and solved.")
    ] = False,
) -> None:
    """Show a problem: its equation, data and initial state, and what would solve and check it.

    Nothing is solved.

    Examples:

        hcpinn show allen-cahn-2

        hcpinn show examples/rod.toml

        hcpinn show gray-scott --text > mine.toml
    """
    problem = problem_from(name)
    if text:
        typer.echo(problem.to_text(), nl=False)
        return
    from rich.console import Console

    from ..problem.text.describe import equation_lines, facts

    shown = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
    shown.print(f"\n[bold]{escape(problem.name)}[/bold]\n")
    for line in equation_lines(problem):
        shown.print(f"    {escape(line)}")
    shown.print()
    for title, value in {**facts(problem), **_means(problem)}.items():
        for number, line in enumerate(value.split("\n")):
            shown.print(f"[bold]{'' if number else title:<14}[/bold]{escape(line)}")
    shown.print()
    for line in picture(problem, ascii_only=not _unicode()):
        shown.print(escape(line))


def _means(problem: Problem) -> dict[str, str]:
    """The engine and the reference that apply."""
    from ..catalog import DEFAULT, TAKES_OVER
    from ..evolution import applies
    from ..reference import planned

    why = applies(problem)
    engine = f"{DEFAULT}; if that fails, {TAKES_OVER}"
    if why is not None:
        engine = f"{TAKES_OVER}, which trains: {why}"
    return {"solved by": engine, "checked by": planned(problem)}


def _unicode() -> bool:
    return (sys.stdout.encoding or "utf-8").lower().replace("-", "").startswith("utf")


def picture(problem: Problem, *, ascii_only: bool = False) -> list[str]:
    """The initial data in characters: the curve of each field, or the first field as shades over x and y."""
    from ..problem.text.describe import initial_picture

    if len(problem.space) == 1:
        [x], values = initial_picture(problem, [2 * _WIDE])
        lines: list[str] = []
        for name, own in values.items():
            lines += [f"{name} at the start, {own.min():.4g} to {own.max():.4g}"]
            lines += _curve(own, ascii_only)
        return [*lines, f"{x[0]:<.4g}".ljust(_WIDE - 8) + f"{x[-1]:>8.4g}"]
    _, values = initial_picture(problem, [2 * _WIDE // 3, 2 * _HIGH])
    name, own = next(iter(values.items()))
    low, high = float(np.nanmin(own)), float(np.nanmax(own))
    shades = _SHADES[ascii_only]
    share = (own - low) / (high - low) if high > low else 0.5 + 0 * own
    steps = np.nan_to_num(share * (len(shades) - 1)).round().astype(int)
    rows = ["".join(" " if np.isnan(v) else shades[s] for s, v in zip(steps[:, j], own[:, j], strict=True))
            for j in range(own.shape[1] - 1, -1, -1)]  # fmt: skip
    span = f"{low:.4g}" if low == high else f"{low:.4g} (blank) to {high:.4g} ({shades[-1]})"
    return [f"{name} at the start, {span}", *rows]


def _curve(values: np.ndarray, ascii_only: bool) -> list[str]:
    """A curve in dots: of braille 2 × 4 to a character, in ASCII one."""
    low, span = float(values.min()), float(np.ptp(values)) or 1.0
    share = (values - low) / span
    if ascii_only:
        rows = np.full((_HIGH, _WIDE), " ")
        rows[(_HIGH - 1 - (share[::2] * (_HIGH - 1)).round()).astype(int), np.arange(_WIDE)] = "*"
        return ["".join(row).rstrip() for row in rows]
    dots = np.zeros((_HIGH * 4, _WIDE * 2), bool)
    dots[(_HIGH * 4 - 1 - (share * (_HIGH * 4 - 1)).round()).astype(int), np.arange(_WIDE * 2)] = True
    cells = dots.reshape(_HIGH, 4, _WIDE, 2)
    bits = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
    codes = np.einsum("rdcw,dw->rc", cells.astype(int), bits)
    return ["".join(chr(0x2800 + c) if c else " " for c in row).rstrip() for row in codes]
