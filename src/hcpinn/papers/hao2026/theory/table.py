"""A table of many problems: trace balance and condition numbers, soft against hard, and the findings."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from .conditioning import JUDGED, TIMES

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
