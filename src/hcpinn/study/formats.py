"""A table's columns as Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence

from .columns import Cell, Column

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "×": r"$\times$",
    "γ": r"$\gamma$",
}


def to_markdown(columns: Sequence[Column]) -> str:
    """A pipe table."""
    shown = [column for column in columns if column.shown]
    lines = [
        [column.title for column in shown],
        ["---:" if column.numeric else "---" for column in shown],
        *([cell.text for cell in cells] for cells in _rows(shown)),
    ]
    safe = [[text.replace("|", "\\|") for text in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in safe)


def to_csv(columns: Sequence[Column]) -> str:
    """One line per row, numbers with all digits; missing values are empty."""
    wanted = [column for column in columns if column.data]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([column.title for column in wanted])
    writer.writerows([["" if c.value is None else c.value for c in cells] for cells in _rows(wanted)])
    return stream.getvalue()


def to_latex(columns: Sequence[Column], caption: str) -> str:
    """A floating table with the rules of booktabs."""
    shown = [column for column in columns if column.shown]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex(caption)}}}",
        rf"\begin{{tabular}}{{{''.join('r' if column.numeric else 'l' for column in shown)}}}",
        r"\toprule",
        " & ".join(latex(column.title) for column in shown) + r" \\",
        r"\midrule",
        *(" & ".join(latex(cell.text) for cell in cells) + r" \\" for cells in _rows(shown)),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def latex(text: str) -> str:
    """Text escaped for LaTeX, with powers of ten typeset."""
    parts = re.split(r"(?<![\w.])(\d+(?:\.\d+)?)e(-?\d+)(?!\w)", text)
    safe = ["".join(_LATEX.get(letter, letter) for letter in part) for part in parts[::3]]
    powers = [rf"${m}\times 10^{{{e}}}$" for m, e in zip(parts[1::3], parts[2::3], strict=True)]
    return "".join(piece for pair in zip(safe, [*powers, ""], strict=True) for piece in pair)


def _rows(columns: Sequence[Column]) -> Iterator[tuple[Cell, ...]]:
    return zip(*(column.cells for column in columns), strict=True)
