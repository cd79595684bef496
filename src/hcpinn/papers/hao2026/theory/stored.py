"""Analyses in a folder each, computed once and read when asked for again, and a table of many problems.

The table has trace balance and condition numbers, soft against hard, and the findings.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ....descent import Method, to_dict
from ....errors import FileError
from ....machine.files import read_json, write_bytes
from ....problem import Problem
from ....theory import hard_method
from .analysis import analyse
from .conditioning import JUDGED, TIMES
from .theory_figures import draw

HEADS = (
    "problem",
    "trace held by the initial data, soft",
    "condition number, soft / hard",
    "λ₁/λₙ, soft / hard",
    "effective rank, soft / hard",
    "λ₁, soft / hard",
    "frozen kernels: starting error left, soft / hard",
    "error after Adam, soft / hard",
    "explanation",
)


def table_rows(summaries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row of plain numbers for each analysis, given as its summary; medians over seeds."""
    return [_row(summary) for summary in summaries]


def _row(summary: Mapping[str, Any]) -> dict[str, Any]:
    at = TIMES.index(JUDGED)

    def median(side: str, pick: Any) -> float | None:
        values = [pick(pair[side]) for pair in summary["by_seed"]]
        known = [v for v in values if v is not None]
        return statistics.median(known) if known else None

    row: dict[str, Any] = {
        "problem": summary["problem"],
        "initial_share": median("soft", lambda f: f["shares"]["initial"]),
        "shares": {
            term: median("soft", lambda f, term=term: f["shares"][term])
            for term in summary["by_seed"][0]["soft"]["shares"]
        },
        "unscaled_initial_share": median("soft", lambda f: f["unscaled_shares"]["initial"]),
    }
    for side in ("soft", "hard"):
        last = summary[side]["along_training"][-1]
        row[side] = {
            **{
                name: median(side, lambda f, name=name: f[name])
                for name in ("largest", "condition", "rank", "rows", "effective_rank", "spread")
            },
            "frozen_error": median(side, lambda f: f["errors"] and f["errors"][at]),
            "error_left": median(side, lambda f: f["errors"] and f["errors"][at] / f["errors"][0]),
            "trained_error": last["error"],
            "trained_steps": last["steps"],
            "drift": last["drift"],
        }
    row["findings"] = summary["findings"]
    return row


def markdown_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The table in Markdown."""
    lines = ["| " + " | ".join(HEADS) + " |", "|" + " --- |" * len(HEADS)]
    lines += ["| " + " | ".join(row_cells(row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def row_cells(row: Mapping[str, Any]) -> list[str]:
    """A row's cells as text, in the order of `HEADS`."""

    def both(name: str) -> str:
        return " / ".join(short(row[side][name]) for side in ("soft", "hard"))

    return [
        str(row["problem"]),
        short(row["initial_share"]),
        *(both(name) for name in ("condition", "spread", "effective_rank", "largest")),
        *(both(name) for name in ("error_left", "trained_error")),
        str(row["findings"]["status"]),
    ]


def short(value: float | None) -> str:
    """A number with two digits, without padding zeros in its exponent."""
    if value is None:
        return "–"
    text = f"{value:.2g}"
    mantissa, sign, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if sign else text


FILE = "theory.json"


def analysed(
    problem: Problem,
    method: Method,
    folder: Path,
    settings: Mapping[str, Any],
    *,
    tell: Callable[[str], None] = lambda message: None,
) -> dict[str, Any]:
    """The summary of an analysis: read if it is there with the same settings, else computed and written.

    Args:
        problem: what is solved.
        method: supplies lift, gate, embedding and network.
        folder: where `theory.json` and the figures are, or go.
        settings: points, seed, seeds, steps and along, as `analyse` takes them.
        tell: called with a few words whenever the next part begins.
    """
    same = {
        "problem": problem.name,
        "parameters": dict(problem.parameters),
        "method_settings": to_dict(hard_method(problem, method)),
        "settings": settings,
    }
    known = _known(folder / FILE)
    if all(known.get(key) == json.loads(json.dumps(value)) for key, value in same.items()):
        return known
    analysis = analyse(problem, method, **settings, tell=tell)
    summary = json.loads(json.dumps({**analysis.summary(), "settings": settings}))
    draw(summary, folder)
    _write(folder / FILE, summary)
    return summary


def write_table(summaries: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """Write `table.json` and `table.md` of several analyses, and return the rows."""
    rows = table_rows(summaries)
    shared = {name: summaries[0][name] for name in ("settings", "device", "versions")}
    _write(folder / "table.json", {**shared, "rows": rows})
    write_bytes(folder / "table.md", markdown_table(rows).encode())
    return rows


def in_short(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a reader should know first, as labels and values."""
    findings, bounds, size = summary["findings"], summary["hessian_bounds"], summary["parameters_trained"]
    soft, hard = summary["soft"], summary["hard"]
    first, second = soft["figures"], hard["figures"]
    last = {name: side["along_training"][-1] for name, side in (("soft", soft), ("hard", hard))}
    return [
        ("problem", summary["problem"]),
        (
            "kernels",
            f"{first['rows']} and {second['rows']} rows, {size:,} parameters",
        ),
        ("shares of the soft trace", ", ".join(f"{term} {s:.2g}" for term, s in first["shares"].items())),
        ("condition, soft / hard", f"{first['condition']:.2g} / {second['condition']:.2g}"),
        ("effective rank, soft / hard", f"{first['effective_rank']:.3g} / {second['effective_rank']:.3g}"),
        ("largest eigenvalue, soft / hard", f"{first['largest']:.3g} / {second['largest']:.3g}"),
        ("its bound, soft / hard", f"{bounds['soft_bound']:.3g} / {bounds['hard_bound']:.3g}"),
        ("measured decay", f"soft {_deviations(soft['decay'])}; hard {_deviations(hard['decay'])}"),
        (
            f"kernel moved in {last['soft']['steps']:,} steps of Adam",
            f"by {last['soft']['drift']:.2g} / {last['hard']['drift']:.2g} of its norm, soft / hard",
        ),
        ("explained by conditioning", f"{findings['status']}. {' '.join(findings['reasons'])}"),
    ]


def short_table(rows: list[dict[str, Any]]) -> list[list[str]]:
    """The table's heads and lines, for a terminal."""
    heads = ["problem", "initial share", "λ₁/λₙ soft / hard", "initial error left soft / hard", "explanation"]
    return [heads, *([row_cells(row)[number] for number in (0, 1, 3, 6, 8)] for row in rows)]


def _deviations(decay: Mapping[str, Any]) -> str:
    first, last = decay["deviations"][0], decay["deviations"][-1]
    return f"{first:.1%} from predicted after 1 step, {last:.0%} after {decay['steps'][-1]:,}"


def _known(path: Path) -> dict[str, Any]:
    try:
        found = read_json(path)
    except FileError:
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: Path, content: Mapping[str, Any]) -> None:
    write_bytes(path, (json.dumps(content, indent=1) + "\n").encode())
