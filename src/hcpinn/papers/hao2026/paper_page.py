"""The paper's page: every published figure beside ours, every claim beside what was found."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.resources import files

from ...study import Results
from ...study.elements import facts
from ...study.numbers import duration, number
from ...study.origin import origin
from ...study.page import Chapter, Draw, StudyPage, provenance_chapter, table_chapter
from . import claim_cards
from .claims import CLAIMS
from .findings import Status, our_evidence, published_evidence, weigh
from .pictures import PaperGallery
from .reading import READING
from .reproduced import ReproducedTable
from .reproduced_tables import read_tables, reproduced_rows
from .theory_chapter import read_theory, theory_chapter


class PaperPage(StudyPage):
    """The parts of the paper's page."""

    title = "Stiff PDEs with exact initial data"
    lead = (
        "The study of Hao, Liu, Braga-Neto, Wang and Zhong, <i>Stability in Training PINNs for Stiff "
        "PDEs</i>, trained again with hcpinn: every published figure beside ours, every claim beside what "
        "was found."
    )

    def __init__(self, results: Results):
        self.results = results
        self.style, self.script = _asset("claims.css"), _asset("claims.js")
        self.tables = self.reproduced = read_tables(results.records)
        ours = our_evidence(self.reproduced, read_theory(results.store.folder / "theory"))
        published = published_evidence(self.reproduced)
        self.findings = [(claim, weigh(claim, ours), weigh(claim, published)) for claim in CLAIMS]

    def tiles(self) -> list[tuple[str, str]]:
        """Runs, rows, how many are as good as published, and claims."""
        records, rows = self.results.records, reproduced_rows(self.reproduced)
        run = [row for row in rows if row.done]
        ratios = [
            max(r for m in row.published if (r := row.ratio(m)) is not None)
            for row in run
            if row.found("rel_l2")
        ]
        good = sum(ratio <= 2 for ratio in ratios)
        failed = sum(not record.done for record in records)
        tested = [found for _, found, _ in self.findings if found.run]
        holding, partly = (
            sum(finding.status is status for finding in tested) for status in (Status.HOLDS, Status.IN_PART)
        )
        whole = len(tested) == len(self.findings)
        several = "claims" if whole else f"claims tested so far, of {len(self.findings)},"
        return [
            (f"{len(records) - failed}", "runs finished" + (f", {failed} failed" if failed else "")),
            (f"{len(run)} of {len(rows)}", "published rows run"),
            (f"{good} of {len(ratios)}", "of these within twice the published error, or below it"),
            (f"{holding} of {len(tested)}", f"{several} hold, {partly} more in part"),
            (duration(origin(records).seconds), "of device time"),
        ]

    def notes(self) -> list[str]:
        """Runs that are no reproduction, and rows of a single sample."""
        rows = reproduced_rows(self.reproduced)
        notes = []
        if any(row.deviations for row in rows):
            notes.append(
                "Some runs were trained with other settings than the paper's, such as fewer steps. Their "
                "rows say so in a note, and their errors are no reproduction of the published ones."
            )
        run = [row for row in rows if row.done]
        single = [row for row in run if len(row.done) == 1 < row.expected]
        if single:
            share = "Every row" if len(single) == len(run) else f"{len(single)} of {len(run)} published rows"
            notes.append(
                f"{share} that was run has one seed so far: a single sample. Rows with large errors depend "
                "on chance most, and a finding that rests on a small difference may turn with another seed."
            )
        return notes

    def chapters(self, draw: Draw) -> list[Chapter]:
        """At a glance, the claims, the tables, theory, provenance and how to read the page."""
        gallery = PaperGallery(self.results.store)
        overview = draw("At a glance", lambda: gallery.overview(self.reproduced))
        glance = f'<div class="beside">{_glance(self.reproduced)}{"".join(overview)}</div>'
        later = "Not yet run. Published figures"
        shown = [
            table_chapter(
                table, draw(table.title, partial(gallery.of, table)), later=later, short=_short(table.title)
            )
            for table in self.reproduced
        ]
        what = "What the paper claims, and what was found"
        claims = claim_cards.claims(self.findings)
        return [
            Chapter("overview", "At a glance", glance),
            Chapter("claims", what, claims, str(len(self.findings)), short="Claims"),
            Chapter("tables", "Tables and figures", "", inner=tuple(shown)),
            theory_chapter(self.results.store.folder),
            provenance_chapter(self.results, gallery.problems),
            Chapter("reading", "How to read this page", READING),
        ]


def _glance(tables: Sequence[ReproducedTable]) -> str:
    """For each table the row with the lowest error: found and published."""
    items = []
    for table in tables:
        found = [
            (spread.mean, row) for row in table.rows if row.published and (spread := row.found("rel_l2"))
        ]
        if not found or table.name == "expert":
            continue
        mean, best = min(found, key=lambda item: item[0])
        said = f"`{best.method}` {number(mean)} (published {number(best.published_error or 0)})"
        items.append((_short(table.title), said))
    return facts("Lowest error of each table", items) if items else ""


def _short(title: str) -> str:
    """A title for the narrow list of contents."""
    return title.replace("Ablation: ", "").replace("Number of Fourier modes: ", "Modes: ")


def _asset(name: str) -> str:
    return files("hcpinn.papers.hao2026").joinpath(name).read_text("utf-8")
