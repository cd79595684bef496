"""What the commands share: the program, exit codes, options, checks of where results go, and tables."""

from __future__ import annotations

import contextlib
import inspect
import io
import sys
import threading
import warnings
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from ..errors import FileError, HcpinnError
from ..machine.signals import INTERRUPTED
from .plain import ASCII

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Command(TyperCommand):
    """A command whose help is wrapped to the width of the terminal."""

    def __init__(self, *args: Any, help: str | None = None, **options: Any):
        super().__init__(*args, help=help and _reflow(help), **options)


class _Program(typer.Typer):
    """The program `hcpinn`."""

    def command(self, *args: Any, **options: Any) -> Callable[[_Function], _Function]:
        return super().command(*args, cls=_Command, **options)


_ORDER = (
    "new", "show", "solve", "fit", "export", "list", "methods", "gallery", "study", "report", "recheck",
    "pack", "theory", "bench",
)  # fmt: skip
"""Commands in the order of use; others come last."""


class _Group(TyperGroup):
    """All commands, in the order of use."""

    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # of which Typer says nothing
            typer.echo("Interrupted.", err=True)
            raise typer.Exit(EXIT_INTERRUPTED) from None


def _reflow(text: str) -> str:
    """Join the lines of each paragraph; indented examples keep theirs."""
    paragraphs = [
        part if part.startswith(" ") else " ".join(part.split("\n"))
        for part in inspect.cleandoc(text).split("\n\n")
    ]
    return "\n\n".join(paragraphs).replace("\n\n    ", "\n    ")


app = _Program(
    name="hcpinn",
    cls=_Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

EXIT_NOT_CONVERGED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = INTERRUPTED

MaxSeconds = Annotated[
    float | None,
    typer.Option(min=0, metavar="S", help="Stop after this many seconds; the same command resumes."),
]
Seed = Annotated[int, typer.Option(min=0, help="Random seed.")]
CheckpointEvery = Annotated[float, typer.Option(metavar="S", help="Seconds between checkpoints.")]
BarOrLines = Annotated[
    bool | None,
    typer.Option(
        "--progress/--quiet",
        help="Show progress, or nothing.",
        show_default="a bar in a terminal, else lines",
    ),
]
"""Options shared by commands that train many runs."""


def _show_version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        typer.echo(f"hcpinn {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Solve stiff, time-dependent PDEs with networks that meet initial and boundary data exactly.

    Start with [bold]hcpinn solve allen-cahn-2[/bold], or write your own: [bold]hcpinn new mine.toml[/bold].
    """


def run() -> None:
    """Run the command line. Errors and warnings appear as sentences, without tracebacks or file names."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ASCII)
    format_before = warnings.formatwarning
    warnings.formatwarning = lambda message, *_, **__: f"Warning: {message}\n"
    try:
        app()
    except HcpinnError as error:
        _refuse(str(error))
    except OSError as error:
        if error.filename is None:
            raise
        _refuse(f"Cannot use {error.filename}: {error.strerror or error}.")
    except KeyboardInterrupt:
        typer.echo("Interrupted.", err=True)
        sys.exit(EXIT_INTERRUPTED)
    finally:
        warnings.formatwarning = format_before


def _refuse(why: str) -> NoReturn:
    from rich.console import Console

    Console(stderr=True, soft_wrap=True, highlight=False).print(f"[bold red]Error:[/] {escape(why)}")
    sys.exit(EXIT_BAD_INPUT)


def check_folder(folder: Path) -> None:
    """Make the output folder and raise a `FileError` if nothing can be written there."""
    from ..machine.files import check_folder as check  # NumPy takes a moment to import

    check(folder, "--out")


def check_file(path: Path) -> None:
    """Make the folder of an output file and raise a `FileError` if the file cannot be written."""
    if path.is_dir():
        raise FileError(f"Cannot write {path}: it is a folder. Name a file with --out.")
    check_folder(path.parent)


def draw(figures: Callable[[], Any], interrupted: threading.Event) -> None:
    """Draw figures of results that are kept, unless a signal came before, or comes meanwhile."""
    from ..machine.supervision import Left, supervised

    if not interrupted.is_set():
        with contextlib.suppress(Left):
            supervised(figures)


def left_early() -> typer.Exit:
    """What a command raises that was interrupted once there was something to keep."""
    typer.echo("Interrupted. What was found is kept; figures may be missing.", err=True)
    return typer.Exit(EXIT_INTERRUPTED)


def show_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Print labels and values in two columns."""
    table = make_table("label", "value", whole=("label",))
    table.show_header = False
    for label, value in facts:
        table.add_row(f"[bold]{label}[/]", escape(value))
    console().print(table)


def escape(text: Any) -> str:
    """The text with square brackets that Rich does not read as markup."""
    from rich.markup import escape as escaped

    return escaped(str(text))


def make_table(*heads: str, right: Collection[str] = (), whole: Collection[str] = ()) -> Table:
    """An empty table.

    Args:
        heads: the titles of its columns.
        right: those whose cells stand to the right.
        whole: those whose cells are never broken into lines.
    """
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for head in heads:
        table.add_column(head, justify="right" if head in right else "left", no_wrap=head in whole)
    return table


def console(*, wide: int | None = None) -> Console:
    """Where tables are printed: lines are as long as they need to be where there is no terminal.

    `wide` gives tables this width there, for those with more columns than fit in a usual one.
    """
    from rich.console import Console

    terminal = sys.stdout.isatty()
    if wide is not None:
        return Console(width=None if terminal else wide, highlight=False)
    return Console(soft_wrap=not terminal, highlight=False)
