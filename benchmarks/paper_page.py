"""Write what a rerun of the study found into docs/paper.md and README.md: tables, claims, figures.

    python benchmarks/paper_page.py
    python benchmarks/paper_page.py --prune

All of it comes from the store `results/paper`, for `expert` from `results/expert`, and for what was trained
again from `results/recheck`; the tables of docs/guides/theory.md from `results/paper/theory`. Sections of
the pages between `<!-- begin NAME -->` and `<!-- end NAME -->` are made anew. With `--prune` the store loses
the solutions that no figure of `hcpinn report` shows, which keeps it small.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from hcpinn.catalog import ENTRIES
from hcpinn.programs import BY_RULE, BY_TIMING
from hcpinn.study.claimed import CLAIMS
from hcpinn.study.claims import Finding, judge, our_evidence, published_evidence
from hcpinn.study.columns import number, ratio
from hcpinn.study.cost import H200, foreseen
from hcpinn.study.figures import overview_figure, scatter_figure
from hcpinn.study.forecast import forecast
from hcpinn.study.formats import to_markdown
from hcpinn.study.gallery import Gallery
from hcpinn.study.matching import exact_start
from hcpinn.study.paper import best_row
from hcpinn.study.provenance import listed, origin
from hcpinn.study.ready import find_study
from hcpinn.study.record import Record
from hcpinn.study.rows import Row, Spread
from hcpinn.study.store import Store
from hcpinn.study.tables import Table, read_tables, row_of
from hcpinn.study.theory import read_theory
from hcpinn.theory.comparison import CLEAR
from hcpinn.theory.table import short
from hcpinn.theory.table import to_markdown as to_table
from pages import write_sections

ROOT = Path(__file__).parent.parent
STORE = ROOT / "results" / "paper"
EXPERT = ROOT / "results" / "expert"
RECHECK = ROOT / "results" / "recheck"
IMAGES = ROOT / "docs" / "images"
ACCURACY = 1e-2
"""The error up to which a run of the study counts as converged."""
_WIDE = 10
"""By what factor seeds may differ for their mean to speak for them."""
_ASIDE = ("seconds", "seeds")
"""Columns for which a page of documentation has no room."""

_CHOICES = [
    *((lift, "t/T") for lift in ("u0", "e^(-1t) u0", "e^(-10t) u0", "e^(tL) u0")),
    ("e^(-1t) u0", "1 - e^(-10t)"),
]
"""Lifts and gates of which a page tells."""

PAGE, README, THEORY = ROOT / "docs" / "paper.md", ROOT / "README.md", ROOT / "docs" / "guides" / "theory.md"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--prune", action="store_true", help="drop solutions that no figure shows")
    store = Store(STORE)
    tables = read_tables(store.records())
    if parser.parse_args().prune:
        prune(store, tables)
    draw(store, tables)
    for path, own in sections().items():
        write_sections(path, own)


def sections() -> dict[Path, dict[str, str]]:
    """What the store has for each page, section by section."""
    records = Store(STORE).records()
    tables = read_tables(records)
    return {
        PAGE: {
            "summary": summary(records, tables),
            "tables": shown(tables),
            "claims": claims(tables),
            "recheck": again(),
        },
        README: {"reproduction": reproduction(tables)},
        THEORY: {"choices": choices(), "theory": to_table(_theory()).rstrip(), "questions": questions()},
    }


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
    rows = _rows(tables)
    gallery = Gallery(store)
    problems = [(name, e.title) for name, e in ENTRIES.items() if len(e.problem.space) == 1]
    featured = [(title, gallery.featured(tables, name)) for name, title in problems]
    overview = overview_figure([(title, solution) for title, solution in featured if solution is not None])
    overview.savefig(IMAGES / "paper-overview.png", dpi=110)
    both = [row for row in rows if row.published_error is not None and row.found("rel_l2") is not None]
    scatter_figure(both).savefig(IMAGES / "paper-errors.png", dpi=110)


def summary(records: Sequence[Record], tables: Sequence[Table]) -> str:
    """How much was run, how it compares with what was published, and where it comes from."""
    rows = [row for row in _rows(tables) if row.published]
    run = [row for row in rows if row.done]
    once = {tuple(r.key for r in row.done): row for row in reversed(run)}  # some stand in two tables
    exact = [row for row in reversed(once.values()) if exact_start(row.done[0]) and not row.deviations]
    ratios = [(row, _ratio(row)) for row in exact]
    lower, near = (sum(found <= limit for _, found in ratios) for limit in (1, 3))
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
        f"error ({100 * lower / len(exact):.0f} %), {near} within three times it.",
    ]
    above = [f"`{row.method}` on `{row.problem}` ({ratio(found)}×)" for row, found in ratios if found > 1]
    if above:
        lines.append(f"- **Above the published error:** {', '.join(above)}.")
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
        aside = _ASIDE if table.name != "expert" else ("seeds",)
        columns = [c for c in table.columns if not c.title.startswith("L1") and c.title not in aside]
        parts.append(f"### {table.title}\n\n{table.about}\n\n{to_markdown(columns).rstrip()}")
    if missing:
        parts.append(f"Not yet run: {'; '.join(missing)}.")
    return "\n\n".join(parts)


def claims(tables: Sequence[Table]) -> str:
    """Every claim with what was found; the comparisons folded away."""
    ours, published = our_evidence(tables, read_theory(STORE / "theory")), published_evidence(tables)
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


def choices() -> str:
    """Lifts and gates beside each other on three problems."""
    lines = [
        "| problem | lift | gate | condition | λ₁/λₙ | λ₁τ to a tenth | lift leaves | size of N |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    found = read_theory(STORE / "theory")
    for name in ("advection", "allen-cahn-1", "cahn-hilliard"):
        told = [c for c in found[name]["choices"] if (c["lift"], c["gate"]) in _CHOICES]
        for place, choice in enumerate(told):
            figures = (choice[n] for n in ("condition", "spread", "time_to_tenth", "lift_loss", "task_size"))
            kind = [f"`{choice[part].replace('-1t', '-t')}`" for part in ("lift", "gate")]
            cells = ["" if place else f"`{name}`", *kind, *(short(value) for value in figures)]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def questions() -> str:
    """What the kernels of each problem say on the study's explanation, question by question."""
    lines = [
        "| problem | is soft training split unevenly? | is the hard kernel better conditioned? | "
        "does hard training, with frozen kernels, get further? |",
        "| --- | --- | --- | --- |",
    ]
    for row in _theory():
        found, shares = row["findings"], row["shares"]
        split = f"{_yes(found['uneven'])}, {short(found['imbalance'])} : 1"
        if min(shares, key=shares.get) == "residual":
            split += ", and the initial data hold the larger part"
        answers = [
            split,
            f"{_yes(found['better_conditioned'])}, {_compared(found['spread_ratio'])}",
            f"{_yes(found['goes_further'])}, {_compared(found['left_ratio'])}",
        ]
        lines.append(f"| `{row['problem']}` | {' | '.join(answers)} |")
    return "\n".join(lines)


def _theory() -> list[dict]:
    return json.loads((STORE / "theory" / "table.json").read_text("utf-8"))["rows"]


def _yes(answer: bool) -> str:
    return "yes" if answer else "no"


def _compared(gain: float) -> str:
    """By what factor hard is ahead of soft."""
    if 1 / CLEAR < gain < CLEAR:
        return "alike"
    return f"{gain:.2g} times" if gain > 1 else f"{1 / gain:.2g} times worse"


def again() -> str:
    """What `hcpinn recheck` found, row by row, and what compiling anew changes."""
    heads = ["problem", "method", "kernels", "trained at", "again at", "runs", "outcome", "error changed by"]
    lines = ["| " + " | ".join(heads) + " |", "| --- | --- | --- | --- | --- | ---: | --- | ---: |"]
    rows: dict[tuple[str, ...], list[dict]] = {}
    found = [json.loads(path.read_text("utf-8")) for path in sorted(RECHECK.glob("*.json"))]
    for recheck in (data for data in found if data["kind"] == "recheck"):
        for run in recheck["runs"]:
            if run["now"]:
                values = ", ".join(
                    f"{k} = {v:g}" for k, v in run["parameters"].items() if k in ("c", "horizon")
                )
                name = f"{run['problem']}, {values}" if values else run["problem"]
                commits = (run[when]["commit"][:7] for when in ("before", "now"))
                kernels = {run[when].get("kernels", BY_TIMING) for when in ("before", "now")}
                chosen = BY_RULE if kernels == {BY_RULE} else BY_TIMING
                rows.setdefault((name, run["method"], chosen, *commits), []).append(run)
    for (name, method, chosen, before, now), runs in rows.items():
        counts = Counter(run["agreement"] for run in runs)
        outcome = ", ".join(f"{count} {said}" if len(counts) > 1 else said for said, count in counts.items())
        factor = max(
            change["found"] for run in runs for measure, change in run["factors"].items() if _whole(measure)
        )
        changed = "–" if factor == 1 else f"up to {ratio(factor)}×"
        cells = [name, f"`{method}`", chosen, f"`{before}`", f"`{now}`", str(len(runs)), outcome, changed]
        lines.append("| " + " | ".join(cells) + " |")
    told = {"compilations": compiled, "anew": anew}
    counted = [told[data["kind"]](data) for data in found if data["kind"] in told]
    return "\n\n".join(["\n".join(lines), *counted])


def anew(data: dict) -> str:
    """How far the errors of runs moved that are in the store a second time, with other rounding."""
    pairs = [
        [max(v for m, v in run[when].items() if _whole(m)) for when in ("before", "now")]
        for run in data["runs"]
    ]
    factors = sorted(max(pair) / min(pair) for pair in pairs)
    close, near = (sum(factor <= limit for factor in factors) for limit in (1.1, 2))
    sides = sum(min(pair) <= ACCURACY < max(pair) for pair in pairs)
    far: dict[str, Counter[str]] = {}
    for run, pair in zip(data["runs"], pairs, strict=True):
        if max(pair) > 2 * min(pair):
            far.setdefault(run["problem"], Counter())[run["method"]] += 1
    moved = "; ".join(
        f"on `{problem}` " + ", ".join(f"{count} of `{method}`" for method, count in methods.items())
        for problem, methods in far.items()
    )
    commits = ", ".join(f"`{commit}`" for commit in data["now"]["commits"])
    return (
        f"Of the {len(pairs)} runs of {commits}, which replace earlier ones of the same seeds, "
        f"{close} have errors within 10 % of what they had, {near} within a factor of two, and "
        f"{len(pairs) - sides} are on the same side of {ACCURACY:g}. Further off are {moved}."
    )


def compiled(data: dict) -> str:
    """Of short trainings that were compiled several times, how many came out the same; and what they cost."""
    lines = [
        "| kernels | compiled | runs | with the same bits | seconds |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for chosen in (BY_TIMING, BY_RULE):
        outcomes = [[o for name, o in r["outcomes"].items() if name.startswith(chosen)] for r in data["runs"]]
        same = sum(all(other == first for other in others) for first, *others in outcomes)
        seconds = " + ".join(f"{group['wall_s'][chosen]:.1f}" for group in data["speed"])
        cells = [chosen, f"{len(outcomes[0])} times", str(len(outcomes)), str(same), seconds]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _whole(measure: str) -> bool:
    """Whether it is a relative L2 error over all times."""
    return measure.startswith("rel_l2") and " at " not in measure


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


def _rows(tables: Iterable[Table]) -> list[Row]:
    return [row for table in tables if table.name != "expert" for row in table.rows]


def _ratio(row: Row) -> float:
    """Ours over published, of several fields the worst."""
    return max(r for m in row.published if m.startswith("rel_l2") and (r := row.ratio(m)) is not None)


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
