"""The page of a study: one file that needs nothing else, with tables, figures, claims and provenance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from string import Template

from .. import __version__
from ..errors import FileError
from ..machine.files import write_bytes
from ..papers.hao2026.claimed import CLAIMS
from ..papers.hao2026.claims import Finding, Status, judge, our_evidence, published_evidence
from . import elements
from .columns import number
from .elements import anchor, facts, pictures, section
from .gallery import Gallery, Picture
from .provenance import Origin, duration, listed, origin, together
from .record import Record
from .store import Store
from .tables import Table, read_tables
from .theory import read_theory, theory_parts


def write_report(
    folder: str | Path,
    out: str | Path | None = None,
    *,
    figures: bool = True,
    tell: Callable[[str], None] | None = None,
) -> Path:
    """Write the page of the study in a folder.

    Args:
        folder: a study's store.
        out: the page to write; `report.html` in the folder if not given.
        figures: whether to draw figures, which takes most of the time: a reference is computed for each
            solution that is shown.
        tell: called with what is about to be drawn.
    """
    text = page(Store(folder), figures=figures, tell=tell)
    return write_bytes(out or Path(folder) / "report.html", text.encode())


def write_tables(folder: str | Path, out: str | Path) -> list[Path]:
    """Write every table of a study that was run as Markdown, CSV and LaTeX files into the folder `out`."""
    written = []
    for table in read_tables(_records(Store(folder))):
        if table.run:
            base = Path(out) / anchor(table.name)
            for suffix, text in ((".md", table.markdown()), (".csv", table.csv()), (".tex", table.latex())):
                written.append(write_bytes(base.with_suffix(suffix), text.encode()))
    return written


def page(store: Store, *, figures: bool = True, tell: Callable[[str], None] | None = None) -> str:
    """The page as text; `tell` is called with what is about to be drawn."""
    records = _records(store)
    tables = read_tables(records)
    gallery = Gallery(store)
    place = store.folder / "theory"
    ours, published = our_evidence(tables, read_theory(place)), published_evidence(tables)
    findings = [(claim, judge(claim, ours), judge(claim, published)) for claim in CLAIMS]
    source = origin(records)

    def drawn(title: str, pictures: Callable[[], list[Picture]]) -> list[str]:
        if not figures:
            return []
        if tell is not None:
            tell(title)
        return [elements.figure(picture) for picture in pictures()]

    overview = drawn("At a glance", lambda: gallery.overview(tables))
    shown = [(table, drawn(table.title, partial(gallery.of, table))) for table in tables]
    theory = theory_parts(place)
    body = [
        section("overview", "At a glance", f'<div class="beside">{_glance(tables)}{"".join(overview)}</div>'),
        section("claims", "What the study claims, and what was found", _claims(findings)),
        *(_table_section(table, images) for table, images in shown),
        section("theory", "Theory", theory or _LATER_THEORY),
        section("provenance", "Provenance", _provenance(records, source, gallery.problems)),
        section("reading", "How to read this page", _READING),
    ]
    inner = [(anchor(table.name), _short(table.title), _progress(table)) for table in tables]
    contents = elements.contents(
        [
            ("overview", "At a glance", "", ()),
            ("claims", "Claims", str(len(findings)), ()),
            (inner[0][0], "Tables and figures", "", inner),
            ("theory", "Theory", "" if theory else "not yet run", ()),
            ("provenance", "Provenance", "", ()),
            ("reading", "How to read this page", "", ()),
        ]
    )
    return Template(files("hcpinn.study").joinpath("page.html").read_text("utf-8")).substitute(
        version=__version__,
        title="Stiff PDEs with exact initial data",
        lead="The study of Hao, Liu, Braga-Neto, Wang and Zhong, <i>Stability in Training PINNs for Stiff "
        "PDEs</i>, trained again with hcpinn: every published figure beside ours, every claim beside what "
        "was found.",
        tiles=elements.tiles(_tiles(records, tables, [found for _, found, _ in findings], source)),
        notes=_notes(records, tables),
        contents=contents,
        body="\n".join(body),
        footer=f"Written by hcpinn {__version__}. This page is one file and loads nothing from elsewhere.",
    )


def _records(store: Store) -> list[Record]:
    records = store.records()
    if not records:
        raise FileError(
            f"{store.folder} holds no finished run yet, so there is nothing to report. `hcpinn study NAME "
            f"--out {store.folder}` runs one."
        )
    return records


def _published(tables: Sequence[Table]) -> list:
    """Rows that have a published figure, each training once."""
    return [row for table in tables if table.name != "expert" for row in table.rows if row.published]


def _tiles(
    records: Sequence[Record], tables: Sequence[Table], findings: Sequence[Finding], source: Origin
) -> list[tuple[str, str]]:
    rows = _published(tables)
    run = [row for row in rows if row.done]
    ratios = [
        max(r for m in row.published if (r := row.ratio(m)) is not None) for row in run if row.found("rel_l2")
    ]
    good = sum(ratio <= 2 for ratio in ratios)
    failed = sum(record.status == "failed" for record in records)
    tested = [finding for finding in findings if finding.run]
    holding, partly = (
        sum(finding.status is status for finding in tested) for status in (Status.HOLDS, Status.IN_PART)
    )
    several = "claims" if len(tested) == len(findings) else f"claims tested so far, of {len(findings)},"
    return [
        (f"{len(records) - failed}", "runs finished" + (f", {failed} failed" if failed else "")),
        (f"{len(run)} of {len(rows)}", "published rows run"),
        (f"{good} of {len(ratios)}", "of these within twice the published error, or below it"),
        (f"{holding} of {len(tested)}", f"{several} hold, {partly} more in part"),
        (duration(source.seconds), "of device time"),
    ]


def _notes(records: Sequence[Record], tables: Sequence[Table]) -> str:
    notes = []
    if any(row.deviations for row in _published(tables)):
        notes.append(
            "Some runs were trained with other settings than the study's, such as fewer steps. Their rows "
            "say so in a note, and their errors are no reproduction of the published ones."
        )
    run = [row for row in _published(tables) if row.done]
    single = [row for row in run if len(row.done) == 1 < row.expected]
    if single:
        share = "Every row" if len(single) == len(run) else f"{len(single)} of {len(run)} published rows"
        notes.append(
            f"{share} that was run has one seed so far: a single sample. Rows with large errors depend on "
            "chance most, and a finding that rests on a small difference may turn with another seed."
        )
    return "".join(f'<p class="note">{note}</p>' for note in notes)


def _glance(tables: Sequence[Table]) -> str:
    """For each table the row with the lowest error: found and published."""
    items = []
    for table in tables:
        rows = [row for row in table.rows if row.published and row.found("rel_l2")]
        if not rows or table.name == "expert":
            continue
        best = min(rows, key=lambda row: row.found("rel_l2").mean)  # type: ignore[union-attr]
        ours = best.found("rel_l2")
        mean = ours.mean if ours else 0.0
        items.append(
            (
                _short(table.title),
                f"`{best.method}` {number(mean)} (published {number(best.published_error or 0)})",
            )
        )
    return facts("Lowest error of each table", items) if items else ""


def _claims(findings: Sequence[tuple]) -> str:
    counts = Counter(found.status for _, found, _ in findings)
    topics: dict[str, list[str]] = {}
    for claim, found, published in findings:
        topics.setdefault(claim.topic, []).append(elements.claim(claim, found, published))
    parts = "".join(
        f'<section><p class="topic">{topic}</p><div class="claims">{"".join(cards)}</div></section>'
        for topic, cards in topics.items()
    )
    about = (
        '<p class="about">Each claim is broken down into comparisons of relative L2 errors: of several '
        "fields the largest, over seeds the median. An error counts as lower if it is lower by a tenth or "
        "more and the seeds agree. Where they overlap (≶), nothing is decided, and the comparison does not "
        'count as holding; <a href="#reading">the rule in full</a>. The same comparisons are put to the '
        "published figures.</p>"
    )
    return f'{about}{elements.chips(counts)}<div class="topics">{parts}</div>'


def _table_section(table: Table, drawn: Sequence[str]) -> str:
    about = f'<p class="about">{elements.code(table.about)}</p>'
    if not table.rows:
        return section(anchor(table.name), table.title, about, '<p class="about">Not yet run.</p>')
    if not table.run:
        shown = elements.table(table)
        body = f'<details class="later"><summary>Not yet run. Published figures</summary>{shown}</details>'
        return section(anchor(table.name), table.title, about, body)
    return section(anchor(table.name), table.title, about, elements.table(table), pictures(drawn))


def _short(title: str) -> str:
    """A title for the narrow list of contents."""
    for long, short in (("Ablation: ", ""), ("Number of Fourier modes: ", "Modes: ")):
        title = title.replace(long, short)
    return title


def _progress(table: Table) -> str:
    run = sum(bool(row.records) for row in table.rows)
    return f"{run}/{len(table.rows)}" if table.rows else "–"


def _provenance(records: Sequence[Record], source: Origin, unopened: Sequence[str]) -> str:
    failed = [record for record in records if record.status == "failed"]
    cards = [
        facts(
            "Runs",
            [
                ("Devices", listed(source.devices)),
                ("Ended", source.dates),
                (
                    "Device time",
                    f"{duration(source.seconds)}; runs that trained together or side by side share it",
                ),
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
    return f'<div class="facts">{"".join(cards)}</div>'


_LATER_THEORY = (
    '<p class="about">Not yet run: there are no numbers in the folder <code>theory</code> of this study. '
    "<code>hcpinn theory NAME --out DIR/theory/NAME</code> computes them.</p>"
)

_READING = (
    '<div class="facts">'
    + facts(
        "Switches",
        [
            ("`pbc`", "the periodic embedding; without it a penalty on the values at both ends"),
            (
                "`ic1`, `ic2`",
                "exact initial data by a lift that decays with C = 1, or C = 0.1; without either a penalty",
            ),
            ("`sa`", "self-adaptive weights"),
            ("`mb`", "mini-batches, 5 of 3,280 points"),
            ("`baseline`", "none of them: the plain soft PINN"),
            ("`paper`", "the study's best settings for a problem"),
        ],
    )
    + facts(
        "Figures",
        [
            ("L2, L1", "relative errors over all times and positions, against a classical reference"),
            (
                "ours",
                "the mean over the seeds, since the study averages too; point at it for the median, by "
                "which claims go",
            ),
            (
                "min–max",
                "the smallest and the largest over the seeds: errors lie decades apart, where a standard "
                "deviation says little",
            ),
            ("ours / published", "▼ less than half the published figure, ▲ more than twice, ≈ in between"),
            ("seeds", "how many seeds were trained, of how many, and how many of these failed"),
            ("verdict", "converged: error at most 1e-2, by an independent check"),
            ("seconds", "device time of a run, its share where several trained together or side by side"),
        ],
    )
    + facts(
        "Claims over several seeds",
        [
            ("shown", "the median, with the smallest and the largest error in brackets"),
            (
                "lower",
                "the median is lower by a tenth or more, and pairs of seeds, one of each row, agree: all of "
                "them but for so few that chance would do as well in at most 5 % of cases (one-sided rank "
                "test). That is all nine pairs of three seeds each, 73 of the hundred of ten each",
            ),
            ("within a factor", "neither row is above the other by more than the factor, by the same rule"),
            ("a limit", "all seeds are on one side of it; of ten, nine (sign test)"),
            (
                "best or worst of several",
                "against each other row, by pairs of seeds as above, without the tenth",
            ),
            ("gains, fields of a run", "each seed by itself, and as many have to agree as for a limit"),
            ("≶ seeds overlap", "neither a comparison nor its contrary gets so far"),
            ("one seed", "as it is: there is nothing to agree with. So it is with published figures"),
            ("no finite error", "counts as the worst one"),
            ("many comparisons", "each is judged by itself: of a hundred, some pass by chance"),
        ],
        wide=True,
    )
    + "</div>"
)
