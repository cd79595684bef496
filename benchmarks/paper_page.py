"""Write what a rerun of the study found into docs/paper.md and README.md: tables, claims, figures.

    python benchmarks/paper_page.py
    python benchmarks/paper_page.py --prune

All of it comes from the store `results/paper`, for a few experiments from `results/experiments`, for `expert`
from `results/expert`, and for what was trained again from `results/recheck`. Sections of the pages between
`<!-- begin NAME -->` and `<!-- end NAME -->` are made anew. With `--prune` the store loses the solutions that
no figure of `hcpinn report` shows, which keeps it small.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from above_published import above, exact_rows, published_rows
from hcpinn.catalog import ENTRIES
from hcpinn.papers.hao2026.claimed import CLAIMS
from hcpinn.papers.hao2026.claims import Evidence, Finding, Status, judge, our_evidence, published_evidence
from hcpinn.papers.hao2026.paper import best_row
from hcpinn.study.columns import number
from hcpinn.study.cost import H200, foreseen
from hcpinn.study.figures import overview_figure, scatter_figure
from hcpinn.study.forecast import forecast
from hcpinn.study.formats import to_markdown
from hcpinn.study.gallery import Gallery
from hcpinn.study.provenance import listed, origin
from hcpinn.study.ready import find_study
from hcpinn.study.record import Record
from hcpinn.study.rows import Spread
from hcpinn.study.store import Store
from hcpinn.study.tables import Table, read_tables, row_of
from hcpinn.study.theory import read_theory
from pages import write_sections
from trained_again import again

ROOT = Path(__file__).parent.parent
STORE = ROOT / "results" / "paper"
EXPERIMENTS = ROOT / "results" / "experiments"
EXPERT = ROOT / "results" / "expert"
RECHECK = ROOT / "results" / "recheck"
IMAGES = ROOT / "docs" / "images"
_WIDE = 10
"""By what factor seeds may differ for their mean to speak for them."""
_ASIDE = ("seconds", "seeds")
"""Columns for which a page of documentation has no room."""

_SAID = {
    Status.HOLDS: "hold",
    Status.IN_PART: "hold in part",
    Status.FAILS: "do not hold",
    Status.OVERLAP: "open because seeds overlap",
    Status.NOT_RUN: "not yet run",
}
"""What became of several claims."""

PAGE, README = ROOT / "docs" / "paper.md", ROOT / "README.md"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--prune", action="store_true", help="drop solutions that no figure shows")
    store = Store(STORE)
    tables = all_tables(store.records())
    if parser.parse_args().prune:
        prune(store, tables)
    draw(store, tables)
    for path, own in sections().items():
        write_sections(path, own)


def sections() -> dict[Path, dict[str, str]]:
    """What the store has for each page, section by section."""
    records = Store(STORE).records()
    tables = all_tables(records)
    return {
        PAGE: {
            "summary": summary(records, tables),
            "tables": shown(tables),
            "above": above(tables),
            "claims": claims(tables),
            "recheck": again(RECHECK),
        },
        README: {"reproduction": reproduction(tables)},
    }


def all_tables(records: Sequence[Record]) -> list[Table]:
    """The tables of the study's store, and of experiments that were trained elsewhere and are not in it."""
    known = {record.key for record in records}
    besides = [record for record in Store(EXPERIMENTS).records() if record.key not in known]
    return read_tables([*records, *besides])


def prune(store: Store, tables: Sequence[Table]) -> None:
    """Drop the solutions that no figure of the report shows."""
    gallery = Gallery(store)
    gallery.overview(tables)
    for table in tables:
        gallery.of(table)
    for path in (store.folder / "solutions").glob("*.npz"):
        if path.stem not in gallery.shown:
            path.unlink()


def draw(store: Store, tables: Sequence[Table]) -> None:
    """The overview and the scatter of all rows, as files for the pages."""
    gallery = Gallery(store)
    problems = [(name, e.title) for name, e in ENTRIES.items() if len(e.problem.space) == 1]
    featured = [(title, gallery.featured(tables, name)) for name, title in problems]
    overview = overview_figure([(title, solution) for title, solution in featured if solution is not None])
    overview.savefig(IMAGES / "paper-overview.png", dpi=110)
    rows = published_rows(tables)
    both = [row for row in rows if row.published_error is not None and row.found("rel_l2") is not None]
    scatter_figure(both).savefig(IMAGES / "paper-errors.png", dpi=110)


def summary(records: Sequence[Record], tables: Sequence[Table]) -> str:
    """How much was run, how it compares with what was published, and where it comes from."""
    rows = published_rows(tables)
    run, exact = [row for row in rows if row.done], exact_rows(tables)
    lower, near = (sum(found <= limit for _, found in exact) for limit in (1, 3))
    study = find_study("paper")
    wanted, whole = study.wanted, forecast(study)
    own = [record for record in records if record.key in wanted]
    failed = sum(record.status == "failed" for record in own)
    sofar = " so far" if len(own) < whole.runs else ""
    lines = [
        f"- **Run{sofar}:** {len(own)} of {whole.runs} trainings"
        + (f", {failed} of which failed" if failed else "")
        + f"; {len(run)} of the {len(rows)} published rows. {len(records) - len(own)} runs besides.",
        f"- **Rows with exact initial data:** {lower} of {len(exact)} end at or below the published "
        f"error ({100 * lower / len(exact):.0f} %), {near} within three times it. "
        "[Those above it](#rows-above-the-published-error) stand beside experiments on them.",
        f"- **[Claims](#claims):** of {len(CLAIMS)}, {_became(tables)}.",
    ]
    pairs = foreseen(own, H200)
    expected, taken = (sum(part) / 60 for part in zip(*pairs, strict=True))
    more = f"; for the whole study it foresees {whole.seconds[1] / 60:.0f} min" if sofar else ""
    lines.append(
        f"- **Device time:** {taken:.1f} min{sofar}, for which the model behind `--dry-run` foresees "
        f"{expected:.1f} min{more}."
    )
    source = origin(records)
    lines.append(
        f"- **Where:** one {listed(source.devices).removeprefix('gpu: ')}, {source.dates}; commits "
        f"{listed(source.commits)}. [Kernels](#trained-again) chosen {listed(source.kernels)}."
    )
    return "\n".join(lines)


def shown(tables: Sequence[Table]) -> str:
    """Every table of which at least a third was run; some of others may have been run for another."""
    parts, missing = [], []
    for table in tables:
        if 3 * sum(bool(row.done) for row in table.rows) < max(len(table.rows), 1):
            missing += [table.title] if table.rows else []
            continue
        aside = set(_ASIDE)
        if table.name == "expert":
            aside.remove("seconds")
        if any(0 < len(row.done) < row.expected for row in table.rows):
            aside.remove("seeds")
        columns = [c for c in table.columns if not c.title.startswith("L1") and c.title not in aside]
        parts.append(f"### {table.title}\n\n{table.about}{_where(table)}\n\n{to_markdown(columns).rstrip()}")
    if missing:
        parts.append(f"Not yet run: {'; '.join(missing)}.")
    return "\n\n".join(parts)


def _where(table: Table) -> str:
    """On which devices its runs were trained, where these are several."""
    records = {record.key: record for row in table.rows for record in row.done}
    devices = origin(list(records.values())).devices
    named = Counter({name.partition(": ")[2]: count for name, count in devices.items()})
    return f" Trained on: {listed(named)}." if len(named) > 1 else ""


def claims(tables: Sequence[Table]) -> str:
    """Every claim with what was found; the comparisons folded away."""
    ours, published = _evidence(tables), published_evidence(tables)
    topics: dict[str, list[str]] = {}
    for claim in CLAIMS:
        found, theirs = judge(claim, ours), judge(claim, published)
        cases = "\n".join(f"- {_sign(case.holds)} {case.text}" for case in found.cases)
        topics.setdefault(claim.topic, []).append(
            f"**{claim.title}: {found.label}.** {claim.statement} {_counted(found, theirs)}\n\n"
            f'<details markdown="1"><summary>Comparisons</summary>\n\n{claim.criterion}\n\n{cases}\n\n'
            "</details>"
        )
    return "\n\n".join(f"### {topic}\n\n" + "\n\n".join(told) for topic, told in topics.items())


def _became(tables: Sequence[Table]) -> str:
    """How many claims hold, hold in part, and so on."""
    evidence = _evidence(tables)
    counts = Counter(judge(claim, evidence).status for claim in CLAIMS)
    return ", ".join(f"{counts[status]} {said}" for status, said in _SAID.items() if counts[status])


def _evidence(tables: Sequence[Table]) -> Evidence:
    return our_evidence(tables, read_theory(STORE / "theory"))


def reproduction(tables: Sequence[Table]) -> str:
    """One line per problem: the study's best row, the same row here, and `expert`."""
    heads = ["problem", "the study", "the same here", "`expert`, one H200", "`expert`, two CPU cores"]
    lines = ["| " + " | ".join(heads) + " |", "| --- |" + " ---: |" * (len(heads) - 1)]
    for name, entry in ENTRIES.items():
        best = best_row(entry.problem)
        row = row_of(tables, best) if best else None
        measures = list(best.figures) if best else []
        chosen = [m for m in measures if m.startswith("rel_l2")]
        published = " / ".join(number(best.figures[m]) for m in chosen) if best else ""
        found = [row.found(m) for m in chosen] if row else []
        ours = " / ".join(_told(f) for f in found if f is not None) or "not yet run"
        cells = [f"`{name}`", published, ours, _expert("h200", name), _expert("cpu-1e-3", name)]
        lines.append("| " + " | ".join(cells) + " |")
    lines.append(f"\nOf {len(CLAIMS)} [claims](docs/paper.md#claims) of the study, {_became(tables)}.")
    return "\n".join(lines)


def _told(found: Spread) -> str:
    """The mean over seeds, or their range where a mean would hide that some of them fail."""
    wide = found.high > _WIDE * found.low
    return f"{number(found.low)} to {number(found.high)}" if wide else number(found.mean)


def _expert(folder: str, name: str) -> str:
    path = EXPERT / folder / f"{name}.json"
    if not path.exists():
        return "not yet run"
    facts = json.loads(path.read_text("utf-8"))
    fields = list(facts[0]["rel_l2"])
    errors = " / ".join(f"{statistics.median(f['rel_l2'][n] for f in facts):.1e}" for n in fields)
    return f"{errors.replace('e-0', 'e-')} in {statistics.median(f['wall_s'] for f in facts):.0f} s"


def _counted(found: Finding, theirs: Finding) -> str:
    said = "Nothing was run for it"
    if found.run:
        said = f"{found.holding} of {found.run} comparisons hold{found.reservations}"
    published = (
        f" In the published figures {theirs.holding} of {theirs.decided} hold." if theirs.decided else ""
    )
    return f"{said}.{published}"


def _sign(holds: bool | None) -> str:
    return {True: "✓", False: "✗", None: "·"}[holds]


if __name__ == "__main__":
    main()
