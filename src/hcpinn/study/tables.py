"""A table in every format, and the tables of a study: one for each of its sections, and the runs besides.

tables = study_tables(read_results("out/study"))
print(tables[0].markdown())
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .columns import Column, columns_of
from .formats import to_csv, to_latex, to_markdown
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
        return to_markdown(self.columns)

    def csv(self) -> str:
        """The table as comma-separated values, with all digits, medians and extremes."""
        return to_csv(self.columns)

    def latex(self) -> str:
        """The table for LaTeX, with the rules of the package booktabs."""
        return to_latex(self.columns, self.title + self.remark)


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
        tables.append(_table(title.lower().replace(" ", "-"), title, _grouped(left.values())))
    return tables


def _table(name: str, title: str, rows: list[Row]) -> Table:
    alone = "" if len({row.problem for row in rows}) > 1 else f"Problem: `{rows[0].problem}`."
    return Table(name, title, alone, tuple(rows), columns_of(rows), ". Errors are medians over the seeds")


def _grouped(records: Iterable[Record]) -> list[Row]:
    """A row for all records that differ in their seeds alone."""
    groups: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        parameters = str(sorted(record.parameters.items()))
        key = (record.problem, record.method, parameters, record.method_text)
        groups.setdefault(key, []).append(record)
    return [
        Row(found[0].problem, found[0].method, found[0].parameters, by_seed(found), len(found))
        for _, found in sorted(groups.items())
    ]
