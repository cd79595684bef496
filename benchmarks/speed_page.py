"""Write tables and figures from benchmarks/results into docs/guides/speed.md.

    python benchmarks/speed_page.py

Sections between `<!-- begin NAME -->` and `<!-- end NAME -->` are replaced by what the files
`benchmarks/results/NAME-*.json` hold; NAME is one of `SECTIONS`, and each file has the command that made it.
"""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import compile_time
import growth
import stages
import step_time
import time_to_accuracy
from hcpinn.speed import Ceilings, cells
from hcpinn.speed.bench import HEADS
from pages import write_sections

HERE = Path(__file__).parent
RESULTS = HERE / "results"
PAGE = HERE.parent / "docs" / "guides" / "speed.md"
IMAGES = HERE.parent / "docs" / "images"


def main() -> None:
    for path in files("growth"):
        growth.draw(Namespace(file=path, out=IMAGES / f"{path.stem}.png"))
    for path in files("time_to_accuracy"):
        time_to_accuracy.draw(Namespace(file=path, out=IMAGES / f"{path.stem}.png"))
    write_sections(PAGE, sections())


def sections() -> dict[str, str]:
    """The sections of the page as the files have them."""
    return {
        name: "\n\n".join(make(p, json.loads(p.read_text("utf-8"))) for p in files(name))
        for name, make in SECTIONS.items()
    }


def files(name: str) -> list[Path]:
    return sorted(RESULTS.glob(f"{name}-*.json"))


def bench(path: Path, record: dict[str, Any]) -> str:
    rates = [f"- {name}: {Ceilings(**found)}" for name, found in record["ceilings"].items()]
    rows = [cells(plain) for plain in record["rows"] if plain["fields"] == plain["runs"] == 1]
    shown = [place for place, head in enumerate(HEADS) if head not in ("runs", "fields", "points per s")]
    found = [[row[place] for place in shown] for row in (HEADS, ["---"] + ["--:"] * (len(HEADS) - 1), *rows)]
    lines = ["| " + " | ".join(row) + " |" for row in found]
    points = sorted({plain["points"] for plain in record["rows"]})
    about = f"{' and '.join(f'{p:,}' for p in points)} points a run, 7×32 network; at best"
    return "\n".join([source(record, about), "", *rates, "", *lines])


def growing(path: Path, record: dict[str, Any]) -> str:
    picture = f"![Cost of a step against what grows, with the floor](../images/{path.stem}.png)"
    return "\n".join(
        [source(record, "one quantity grows at a time"), "", picture, "", *growth.markdown(record)]
    )


def compiling(path: Path, record: dict[str, Any]) -> str:
    about = "seconds to the first step; in brackets until the reference is ready too"
    lines = [line.split("|") for line in compile_time.markdown(record)]
    shown = [place for place, head in enumerate(lines[0]) if "`paper`" not in head]  # much like `expert`
    return "\n".join([source(record, about), "", *("|".join(line[p] for p in shown) for line in lines)])


def stepping(path: Path, record: dict[str, Any]) -> str:
    return "\n".join([source(record, "one step of `allen-cahn-1`"), "", *step_time.markdown(record)])


def staging(path: Path, record: dict[str, Any]) -> str:
    return "\n".join([source(record, "16,384 points a run"), "", *stages.markdown(record)])


def racing(path: Path, record: dict[str, Any]) -> str:
    about = f"peers {record['limit_s']:.0f} s each"
    others = [row["others"] for row in record["rows"] if row.get("others") is not None]
    shared = f" Other work took at most {100 * max(others):.0f} % of the machine." if others else ""
    above = source(record, about) + shared
    picture = f"![Error against seconds](../images/{path.stem}.png)"
    return "\n".join([above, "", picture, "", time_to_accuracy.as_table(record)])


SECTIONS = {
    "bench": bench,
    "growth": growing,
    "compile_time": compiling,
    "step_time": stepping,
    "stages": staging,
    "time_to_accuracy": racing,
}


def source(record: dict[str, Any], about: str) -> str:
    """Where figures come from, and whether other work may have shared the machine."""
    device, date = record["device"].partition(": ")[2], record["started"][:10]
    text = f"**{device}**, {about} (commit {record['commit']}, {date})."
    load = record.get("load_average")
    if load is None or load[0] < 0.5:
        return text
    return f"{text} Load average at the start: {load[0]:g}."


if __name__ == "__main__":
    main()
