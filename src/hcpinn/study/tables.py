"""Tables as Markdown, CSV and LaTeX; a study has one for each section, and one for all other runs.

tables = study_tables(read_results("out/study"))
print(tables[0].markdown())
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .columns import Cell, Column, columns_of
from .record import DIGITS, Record
from .results import Results
from .rows import Row, by_seed


@dataclass(frozen=True)
class Table:
    """Rows that belong together."""

    name: str
    title: str
    about: str
    """What a reader should know first; parts in `backticks` are set as code."""
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    remark: str = ""
    """What its caption in LaTeX adds to the title."""

    @property
    def run(self) -> bool:
        """Whether any of it was run."""
        return any(row.records for row in self.rows)

    def markdown(self) -> str:
        """The table in Markdown."""
        shown = [column for column in self.columns if column.shown]
        lines = [
            [column.title for column in shown],
            ["---:" if column.numeric else "---" for column in shown],
            *([cell.text for cell in cells] for cells in _rows(shown)),
        ]
        safe = [[text.replace("|", "\\|") for text in line] for line in lines]
        return "".join(f"| {' | '.join(line)} |\n" for line in safe)

    def csv(self) -> str:
        """The table as comma-separated values, with all digits, medians and extremes; empty where missing."""
        wanted = [column for column in self.columns if column.data]
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([_inert(column.title) for column in wanted])
        writer.writerows([[_inert(c.value) for c in cells] for cells in _rows(wanted)])
        return stream.getvalue()

    def latex(self) -> str:
        """The table for LaTeX, with the rules of the package booktabs."""
        shown = [column for column in self.columns if column.shown]
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex(self.title + self.remark)}}}",
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


def _inert(value: Any) -> Any:
    """A value of a table that no spreadsheet takes for a formula."""
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return "" if value is None else value


def study_tables(results: Results) -> list[Table]:
    """A table for each section of the studies in a store, and one of the runs that belong to none."""
    known = {record.key[:DIGITS]: record for record in results.records}
    left = dict(known)
    tables = []
    for section in results.sections:
        rows = []
        for line in section.lines:
            records = by_seed(known[key] for key in line.keys if key in known)
            for record in records:
                left.pop(record.key[:DIGITS], None)
            rows.append(
                Row(line.problem, line.method, line.parameters, records, len(line.keys), label=line.label)
            )
        tables.append(_table(section.name, section.title, rows))
    if left:
        title = "Other runs" if tables else "Runs"
        rows = [
            Row(found[0].problem, found[0].method, found[0].parameters, by_seed(found), len(found))
            for found in alike(left.values())
        ]
        tables.append(_table(title.lower().replace(" ", "-"), title, rows))
    return tables


def _table(name: str, title: str, rows: list[Row]) -> Table:
    alone = "" if len({row.problem for row in rows}) > 1 else f"Problem: `{rows[0].problem}`."
    return Table(name, title, alone, tuple(rows), columns_of(rows), ". Errors are medians over the seeds")


def alike(records: Iterable[Record]) -> list[list[Record]]:
    """Records that differ in their seeds alone, together."""
    groups: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        parameters = str(sorted(record.parameters.items()))
        key = (record.problem, record.method, parameters, record.method_text)
        groups.setdefault(key, []).append(record)
    return [found for _, found in sorted(groups.items())]


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


def latex(text: str) -> str:
    """Text escaped for LaTeX, with powers of ten typeset."""
    parts = re.split(r"(?<![\w.])(\d+(?:\.\d+)?)e(-?\d+)(?!\w)", text)
    safe = ["".join(_LATEX.get(letter, letter) for letter in part) for part in parts[::3]]
    powers = [rf"${m}\times 10^{{{e}}}$" for m, e in zip(parts[1::3], parts[2::3], strict=True)]
    return "".join(piece for pair in zip(safe, [*powers, ""], strict=True) for piece in pair)


def _rows(columns: Sequence[Column]) -> Iterator[tuple[Cell, ...]]:
    return zip(*(column.cells for column in columns), strict=True)
