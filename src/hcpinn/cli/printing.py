"""Tables in a terminal, alike in all commands."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


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
