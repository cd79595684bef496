"""Write the outcome of the paper's study into docs/paper.md, the pages behind it, and README.md.

    python benchmarks/paper_page.py
    python benchmarks/paper_page.py --prune

The figures come from the stores `results/paper` and `results/experiments`, from `results/expert` and from
`results/recheck`. Sections between `<!-- begin NAME -->` and `<!-- end NAME -->` are replaced. With `--prune`
the store `results/paper` loses the solutions that no figure of `hcpinn report` shows.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import evolve_page
import paper_page_tables
from above_published import above, exact_rows
from foreseen import foreseen
from hcpinn.catalog import ENTRIES
from hcpinn.papers.hao2026.claims import CLAIMS
from hcpinn.papers.hao2026.findings import Evidence, Status, our_evidence, published_evidence, weigh
from hcpinn.papers.hao2026.pictures import PaperGallery
from hcpinn.papers.hao2026.reproduced import ReproducedTable as Table
from hcpinn.papers.hao2026.reproduced_figures import scatter_figure
from hcpinn.papers.hao2026.reproduced_tables import read_tables, reproduced_rows, row_of
from hcpinn.papers.hao2026.studies import best_row
from hcpinn.papers.hao2026.theory_chapter import read_theory
from hcpinn.study.cost import H200
from hcpinn.study.from_toml import find_study
from hcpinn.study.numbers import number
from hcpinn.study.origin import listed, origin
from hcpinn.study.record import Record
from hcpinn.study.rows import Spread
from hcpinn.study.store import Store
from pages import write_sections
from trained_again import again

ROOT = Path(__file__).parent.parent
STORE = ROOT / "results" / "paper"
EXPERIMENTS = ROOT / "results" / "experiments"
EXPERT = ROOT / "results" / "expert"
RECHECK = ROOT / "results" / "recheck"
README = ROOT / "README.md"
PAGE = ROOT / "docs" / "paper.md"
BEHIND = ROOT / "docs" / "paper"
IMAGES = ROOT / "docs" / "images"
_WIDE = 10
"""By what factor seeds may differ for their mean to speak for them."""

_SAID = {
    Status.HOLDS: "hold",
    Status.IN_PART: "hold in part",
    Status.FAILS: "do not hold",
    Status.OVERLAP: "is undecided because the seeds overlap",
    Status.NOT_RUN: "not yet run",
}
"""What became of several claims."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--prune", action="store_true", help="drop solutions that no figure shows")
    store = Store(STORE)
    tables = all_tables(store.records())
    if parser.parse_args().prune:
        prune(store, tables)
    draw(tables)
    for path, own in sections().items():
        write_sections(path, own)


def sections() -> dict[Path, dict[str, str]]:
    """What the stores have for each page, section by section."""
    records = Store(STORE).records()
    tables = all_tables(records)
    found = {"reproduction": reproduction(tables)}
    tried = {
        t.name.split(" ")[1]: paper_page_tables.variants(t)
        for t in tables
        if t.name.startswith("explanation")
    }
    return {
        README: found,
        PAGE: {**found, "summary": summary(records, tables)},
        BEHIND / "tables.md": paper_page_tables.published(tables),
        BEHIND / "experiments.md": {"above": above(tables), **tried},
        BEHIND / "claims.md": {"claims": claims(tables)},
        BEHIND / "repeats.md": {"recheck": again(RECHECK)},
    }


def all_tables(records: Sequence[Record]) -> list[Table]:
    """The tables of the study's store, and of experiments that were trained elsewhere and are not in it."""
    known = {record.key for record in records}
    besides = [record for record in Store(EXPERIMENTS).records() if record.key not in known]
    return read_tables([*records, *besides])


def prune(store: Store, tables: Sequence[Table]) -> None:
    """Drop the solutions that no figure of the report shows."""
    gallery = PaperGallery(store)
    gallery.overview(tables)
    for table in tables:
        gallery.of(table)
    store.pack(solutions=gallery.shown)


def draw(tables: Sequence[Table]) -> None:
    """Published errors against ours, as a file for the page."""
    rows = reproduced_rows(tables)
    both = [row for row in rows if row.published_error is not None and row.found("rel_l2") is not None]
    scatter_figure(both).savefig(IMAGES / "paper-errors.png", dpi=110)


def summary(records: Sequence[Record], tables: Sequence[Table]) -> str:
    """How much was run, how it compares with what was published, and where it comes from."""
    rows = reproduced_rows(tables)
    run, exact = [row for row in rows if row.done], exact_rows(tables)
    lower, near = (sum(found <= limit for _, found in exact) for limit in (1, 3))
    study = find_study("paper")
    own = [record for record in records if record.key in study.wanted]
    pairs = foreseen(own, H200)
    expected, taken = (sum(part) / 60 for part in zip(*pairs, strict=True))
    source = origin(records)
    lines = [
        f"- **Runs:** {len(own)} of {len(study.wanted)}, covering {len(run)} of the {len(rows)} published "
        f"rows; {len(records) - len(own)} further runs.",
        f"- **Rows with exact initial data:** {lower} of {len(exact)} ({100 * lower / len(exact):.0f} %) end "
        f"at or below the published error, {near} within three times it.",
        f"- **[Claims](paper/claims.md):** of {len(CLAIMS)}, {_became(tables)}.",
        f"- **Device time:** {taken:.1f} min; the cost model of `--dry-run` predicts {expected:.1f} min.",
        f"- **Origin:** one {listed(source.devices).removeprefix('gpu: ')}, {source.dates}; commits "
        f"{listed(source.commits)}. [Kernels chosen](paper/repeats.md) {listed(source.kernels)}.",
    ]
    return "\n".join(lines)


def claims(tables: Sequence[Table]) -> str:
    """Every claim with what was found, topic by topic."""
    ours, published = _evidence(tables), published_evidence(tables)
    heads = ["claim", "here", "comparisons that hold", "undecided", "published"]
    lines, topic = [heads, ["---"] * len(heads)], ""
    for claim in CLAIMS:
        found, theirs = weigh(claim, ours), weigh(claim, published)
        if claim.topic != topic:
            topic = claim.topic
            lines.append([f"**{topic}**", *[""] * (len(heads) - 1)])
        of = f"{theirs.holding}/{theirs.decided}" if theirs.decided else "–"
        undecided = str(len(found.cases) - found.decided or "–")
        lines.append([claim.title, found.label, f"{found.holding}/{len(found.cases)}", undecided, of])
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _became(tables: Sequence[Table]) -> str:
    """How many claims hold, hold in part, and so on."""
    evidence = _evidence(tables)
    counts = Counter(weigh(claim, evidence).status for claim in CLAIMS)
    return ", ".join(f"{counts[status]} {said}" for status, said in _SAID.items() if counts[status])


def _evidence(tables: Sequence[Table]) -> Evidence:
    return our_evidence(tables, read_theory(STORE / "theory"))


def reproduction(tables: Sequence[Table]) -> str:
    """One line per problem: the paper's best row, the same row here, `expert` and `evolve`."""
    heads = ["problem", "the paper", "the same here", "`expert`, one H200", "`expert`, two CPU cores"]
    heads.append("`evolve`, two CPU cores")
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
        lines.append("| " + " | ".join([*cells, evolve_page.reached(name)]) + " |")
    return "\n".join(lines)


def _told(found: Spread) -> str:
    """The mean over seeds, or their range where a mean would hide that some of them fail."""
    wide = found.high > _WIDE * found.low
    return f"{number(found.low)} to {number(found.high)}" if wide else number(found.mean)


def _expert(file: str, name: str) -> str:
    found = json.loads((EXPERT / f"{file}.json").read_text("utf-8"))
    if name not in found:
        return "not yet run"
    facts = found[name]
    fields = list(facts[0]["rel_l2"])
    errors = " / ".join(f"{statistics.median(f['rel_l2'][n] for f in facts):.1e}" for n in fields)
    return f"{errors.replace('e-0', 'e-')} in {statistics.median(f['wall_s'] for f in facts):.0f} s"


if __name__ == "__main__":
    main()
