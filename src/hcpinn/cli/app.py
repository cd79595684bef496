"""What the commands share: their program, exit codes, options, and a look at the output folder."""

from __future__ import annotations

import inspect
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand

from ..errors import FileError, HcpinnError

_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Command(TyperCommand):
    """A command whose help fills the terminal's lines, whatever lines it has in the source."""

    def __init__(self, *args: Any, help: str | None = None, **options: Any):
        super().__init__(*args, help=help and _reflow(help), **options)


class _Program(typer.Typer):
    """The program with its commands."""

    def command(self, *args: Any, **options: Any) -> Callable[[_Function], _Function]:
        return super().command(*args, cls=_Command, **options)


def _reflow(text: str) -> str:
    """Each paragraph on one line; examples, which are indented, below each other."""
    paragraphs = [
        part if part.startswith(" ") else " ".join(part.split("\n"))
        for part in inspect.cleandoc(text).split("\n\n")
    ]
    return "\n\n".join(paragraphs).replace("\n\n    ", "\n    ")


app = _Program(
    name="hcpinn",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

EXIT_NOT_CONVERGED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130

MaxSeconds = Annotated[
    float | None, typer.Option(min=0, help="Stop after this time; the same command goes on later.")
]
CheckpointEvery = Annotated[float, typer.Option(help="Seconds between two checkpoints.")]
BarOrLines = Annotated[
    bool | None,
    typer.Option(
        "--progress/--quiet", help="Show a bar, or nothing.", show_default="a bar in a terminal, else lines"
    ),
]
"""Options of commands that train many runs."""


def _show_version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

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


def main() -> None:
    """Run the command line; what goes wrong is said in a sentence, without a traceback."""
    try:
        app()
    except HcpinnError as error:
        from rich.console import Console

        Console(stderr=True, soft_wrap=True, highlight=False).print(
            f"[bold red]Error:[/] {escape(str(error))}"
        )
        sys.exit(EXIT_BAD_INPUT)
    except KeyboardInterrupt:
        typer.echo("Interrupted.", err=True)
        sys.exit(EXIT_INTERRUPTED)


def check_folder(folder: Path) -> None:
    """Find out before training, not after, whether results can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise FileError(
            f"Cannot write to the folder {folder}: {error.strerror}. Choose another with --out."
        ) from error


def show_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Print names and what there is to say of each, in two columns."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for label, value in facts:
        table.add_row(label, escape(value))
    Console(soft_wrap=not sys.stdout.isatty(), highlight=False).print(table)


def escape(text: Any) -> str:
    from rich.markup import escape as escaped

    return escaped(str(text))
