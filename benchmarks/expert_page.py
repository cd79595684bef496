"""Write how accurate `expert` is and how far a verdict can be trusted into docs/expert.md.

    python benchmarks/expert_page.py

The tables come from `results/expert`, measured by `benchmarks/expert.py`, and `results/trust`, by
`benchmarks/trust.py`.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import hybrid
from hcpinn.catalog import ENTRIES
from pages import write_sections

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "expert.md"
EXPERT = ROOT / "results" / "expert"
OWN = EXPERT / "own-cpu.json"
HYBRID = ROOT / "benchmarks" / "results" / "hybrid-cpu.json"
TRUST = ROOT / "results" / "trust" / "cpu.json"
_ACCURACY = 1e-3
"""What the runs in `results/trust` were asked for."""


def sections() -> dict[str, str]:
    """What the data have for the page, section by section."""
    others = [name for name in sorted(_measured("cpu-1e-3")) if name not in ENTRIES]
    return {
        "h200": on_gpu(),
        "cpu": on_cpu(ENTRIES),
        "others": on_cpu(others),
        "own": on_own(),
        "hybrid": hybrid.table(json.loads(HYBRID.read_text("utf-8"))["rows"]),
        "trust": trust(),
    }


def on_gpu() -> str:
    """Accuracy 1e-6 on one H200: medians over the seeds, and the worst."""
    heads = ["problem", "median error", "worst", "seconds", "steps", "parameters"]
    lines = []
    for name in ENTRIES:
        runs = _measured("h200")[name]
        lines.append([f"`{name}`", _errors(runs, statistics.median), _errors(runs, max), *_effort(runs)])
        lines[-1].append(f"{runs[0]['parameters_trained']:,}")
    return _table(heads, lines)


def on_cpu(names: Iterable[str], *files: str) -> str:
    """Accuracy 1e-3 and 1e-6 on two CPU cores."""
    files = files or ("cpu-1e-3", "cpu-1e-6")
    heads = ["problem"]
    for file in files:
        heads += [f"error, asked for {file.removeprefix('cpu-')}", "seconds", "steps"]
    lines = []
    for name in names:
        found = [_measured(file)[name] for file in files]
        lines.append([f"`{name}`"])
        for runs in found:
            lines[-1] += [_errors(runs, statistics.median), *_effort(runs)]
    return _table(heads, lines)


def on_own() -> str:
    """True errors beside estimates on manufactured problems."""
    found = json.loads(OWN.read_text("utf-8"))
    reached = [row for row in found if row["stop"] == "ESTIMATE"]
    ratios = sorted(row["error"] / row["estimate"] for row in reached)
    honest = sum(ratio <= 3 for ratio in ratios)
    seconds = sorted(row["seconds"] for row in found)
    grown = sum("evolution" in row["engine"] for row in reached)
    return (
        f"Of {len(found)} problems, asked for {found[0]['asked']:g}, {len(reached)} stop by their estimate, "
        f"{grown} of them grown. Their true error is at most {ratios[-1]:.1f} times the estimate, "
        f"{statistics.median(ratios):.2f} times in the median, and at most 3 times in {honest}. "
        f"Seconds: {statistics.median(seconds):.0f} in the median, {seconds[-1]:.0f} at most."
    )


def trust() -> str:
    """Verdicts and true errors of runs with handicaps, and what they come to."""
    found = json.loads(TRUST.read_text("utf-8"))
    heads = ["handicap", "problems", "runs", "smallest loss", "true error", "verdicts"]
    lines = []
    for handicap in dict.fromkeys(f["handicap"] for f in found):
        own = [f for f in found if f["handicap"] == handicap]
        problems = len({f["problem"] for f in own})
        true = sorted(f["true"] for f in own)
        verdicts = Counter(f["verdict"] for f in own)
        loss = f"{min(f['loss'] for f in own):.0e}".replace("e-0", "e-")
        cells = [handicap, str(problems), str(len(own)), loss, f"{_short(true[0])} to {_short(true[-1])}"]
        lines.append([*cells, ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())])
    called = [f for f in found if f["verdict"] == "converged"]
    good = [f for f in found if f["true"] <= _ACCURACY]
    excess = max(f["true"] / f["claimed"] for f in called)
    agreed = sum(f["verdict"] == "converged" for f in good)
    said = (
        f"- {len(called)} of {len(found)} runs are called converged. Their true error is at most "
        f"{excess:.2f} times the claimed one.\n"
        f"- {len(good)} runs have a true error of at most {_ACCURACY:g}. {agreed} of these are "
        "called converged."
    )
    return f"{_table(heads, lines)}\n\n{said}"


def _measured(file: str) -> dict[str, list[dict]]:
    return json.loads((EXPERT / f"{file}.json").read_text("utf-8"))


def _errors(runs: Sequence[dict], over_seeds: Callable[[list[float]], float]) -> str:
    """Relative L2 errors, one for each field."""
    return " / ".join(
        _short(over_seeds([run["rel_l2"][field] for run in runs])) for field in runs[0]["rel_l2"]
    )


def _effort(runs: Sequence[dict]) -> list[str]:
    return [
        f"{statistics.median(run['wall_s'] for run in runs):.0f}",
        f"{statistics.median(run['steps'] for run in runs):,.0f}",
    ]


def _short(value: float) -> str:
    return f"{value:.1e}".replace("e-0", "e-").replace("e+00", "")


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    marks = ["---", *["---:"] * (len(heads) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (heads, marks, *lines))


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    write_sections(PAGE, sections())
