"""What a study's page shows: its title, its figures in short, and its chapters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

from . import elements
from .elements import anchor, facts, pictures
from .gallery import Gallery, Picture
from .numbers import counted, duration, number
from .origin import listed, origin, together
from .results import Results
from .rows import measured
from .tables import Table, study_tables

Draw = Callable[[str, Callable[[], list[Picture]]], list[str]]
"""Draws pictures, announced by a title, as HTML; an empty list where no figures are wanted."""


@dataclass(frozen=True)
class Chapter:
    """A part of the page that the contents point to."""

    name: str
    """Its id on the page."""
    title: str
    html: str
    remark: str = ""
    """What the contents say next to its title."""
    short: str = ""
    """Its title in the contents, if that is another."""
    inner: tuple[Chapter, ...] = ()
    """Chapters that the contents show below it; it then has no content itself."""


class StudyPage:
    """All runs at a glance, a chapter for each section, and where the results come from.

    The page of an extension derives from it and overrides what is to differ.
    """

    style = script = ""
    """Additional CSS and JavaScript."""
    title: str
    lead: str
    """HTML below the title."""

    def __init__(self, results: Results):
        self.results = results
        self.tables: Sequence[Table] = study_tables(results)
        """Every table, for the page and for files."""
        self.title = escape(results.title)
        problems = dict.fromkeys(record.problem for record in results.records)
        methods = dict.fromkeys(record.method for record in results.records)
        self.lead = (
            f"{_named('Problem', list(problems))}, {_named('method', list(methods))}: errors, verdicts, "
            "times and figures of every run."
        )

    def tiles(self) -> list[tuple[str, str]]:
        """The figures at the top, a number and what it counts: runs, the smallest error, and time."""
        records = self.results.records
        done = [record for record in records if record.done]
        failed = len(records) - len(done)
        good = sum(record.summary.get("verdict") == "converged" for record in done)
        errors = [error for record in done if (error := measured(record, "rel_l2")) is not None]
        lowest = [(number(min(errors)), "lowest relative L2 error")] if errors else []
        return [
            (f"{len(done)}", "runs finished" + (f", {failed} failed" if failed else "")),
            (f"{good} of {len(done)}", "of these converged"),
            *lowest,
            (duration(origin(records).seconds), "of device time"),
        ]

    def notes(self) -> list[str]:
        """Remarks below them, as HTML: how many runs are still to come."""
        missing = sum(max(row.expected - len(row.records), 0) for table in self.tables for row in table.rows)
        return [
            f"{counted(missing, 'run')} of this study {'has' if missing == 1 else 'have'} not been run yet."
        ] * bool(missing)

    def chapters(self, draw: Draw) -> list[Chapter]:
        """A chapter for each table, then provenance and how to read the page."""
        gallery = Gallery(self.results.store)
        shown = [table_chapter(table, draw(table.title, partial(gallery.of, table))) for table in self.tables]
        chapters = shown if len(shown) == 1 else [Chapter("results", "Results", "", inner=tuple(shown))]
        return [
            *chapters,
            provenance_chapter(self.results, gallery.problems),
            Chapter(
                "reading", "How to read this page", f'<div class="facts">{facts("Figures", READING)}</div>'
            ),
        ]


READING = (
    ("L2, L1", "relative errors over all times and positions, against a classical reference"),
    ("error", "the median over the seeds; of several fields the largest error"),
    (
        "min–max",
        "the smallest and the largest over the seeds: errors lie decades apart, where a standard deviation "
        "says little",
    ),
    ("seeds", "how many seeds were trained, of how many, and how many of these failed"),
    ("verdict", "converged: the error is at most the accuracy asked for, by an independent check"),
    ("seconds", "device time of a run, its share where several trained together or side by side"),
)


def table_chapter(
    table: Table, drawn: Sequence[str], *, later: str = "Not yet run", short: str = ""
) -> Chapter:
    """A table with its figures, folded away if none of it was run.

    Args:
        table: the table.
        drawn: its figures, as HTML.
        later: the text shown instead.
        short: its title in the contents, if that is another.
    """
    about = f'<p class="about">{elements.code(table.about)}</p>' if table.about else ""
    if not table.rows:
        html = f'{about}<p class="about">Not yet run.</p>'
    elif not table.run:
        html = f'{about}<details class="later"><summary>{later}</summary>{elements.table(table)}</details>'
    else:
        html = about + elements.table(table) + pictures(drawn)
    run = sum(bool(row.records) for row in table.rows)
    remark = f"{run}/{len(table.rows)}" if table.rows else "–"
    return Chapter(anchor(table.name), table.title, html, remark, short)


def provenance_chapter(results: Results, unopened: Sequence[str]) -> Chapter:
    """Where the results come from, what failed, and what could not be drawn."""
    records = results.records
    source = origin(records)
    failed = [record for record in records if not record.done]
    shared = f"{duration(source.seconds)}; runs that trained together or side by side share it"
    cards = [
        facts(
            "Runs",
            [
                ("Devices", listed(source.devices)),
                ("Ended", source.dates),
                ("Device time", shared),
                ("Batched", together(records) or "no run ended"),
                ("Kernels chosen", listed(source.kernels)),
                ("Commits of hcpinn", listed(source.commits)),
            ],
        ),
        facts("Versions", [(name, listed(counts)) for name, counts in source.versions.items()]),
        facts("References", source.references.items(), wide=True),
    ]
    if failed:
        reasons = [(f"{r.problem}, {r.method}, seed {r.seed}", r.reason or "no reason given") for r in failed]
        cards.append(facts("Failed runs", reasons))
    if unopened:
        cards.append(facts("Solutions that could not be drawn", [("", text) for text in unopened]))
    return Chapter("provenance", "Provenance", f'<div class="facts">{"".join(cards)}</div>')


def contents(chapters: Sequence[Chapter]) -> str:
    """The navigation: each chapter with its title and remark, and those within it below."""

    def entry(name: str, part: Chapter) -> str:
        small = f"<small>{escape(part.remark)}</small>" if part.remark else ""
        return f'<a href="#{name}"><span>{escape(part.short or part.title)}</span>{small}</a>'

    lines = []
    for part in chapters:
        nested = "".join(f"<li>{entry(inner.name, inner)}</li>" for inner in part.inner)
        first = entry(part.inner[0].name if part.inner else part.name, part)
        lines.append(f"<li>{first}{f'<ul>{nested}</ul>' if nested else ''}</li>")
    return f"<ul>{''.join(lines)}</ul>"


def _named(kind: str, names: Sequence[str]) -> str:
    """One name, a few of them, or how many there are."""
    if len(names) > 4:
        return f"{len(names)} {kind.lower()}s"
    marked = ", ".join(f"<code>{escape(name)}</code>" for name in names)
    return f"{kind}{'s' * (len(names) > 1)} {marked}"
