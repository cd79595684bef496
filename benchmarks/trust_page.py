"""Write what `benchmarks/campaign.py` and `benchmarks/announced.py` found into docs/trust.md.

python benchmarks/trust_page.py
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

from campaign import ACCURACY, MOMENTS, SECONDS, tally, wrong
from pages import write_sections

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "trust.md"
RESULTS = ROOT / "benchmarks" / "results"
MEMORY = {"": RESULTS / "memory-cpu.json", "with 8 GiB": RESULTS / "memory-8gib-cpu.json"}

ANY = "any"
"""The moment of signals before the campaign told moments apart."""

_ROWS = (
    ("runs", "problems with known truth"),
    ("false", "called `converged` with an error above the accuracy"),
    ("good", f"true error at most {ACCURACY:g}"),
    ("recognised", "of these, called `converged`"),
    ("contradictions", "reason to stop and verdict contradict each other"),
    ("hangs", "never came back"),
    ("raw", "errors that are no sentence of hcpinn"),
    ("untold", "clumsy calls that neither work nor are explained"),
    ("reasonable", "reasonable problems"),
    ("within", f"of these, called `converged` within {SECONDS:g} s of CPU or wall time"),
    ("faults", "injected faults of the file system"),
    ("files", "damaged files"),
    ("taken", "most memory that reading a damaged file took, in MiB"),
    ("over", "longest overshoot of `max_seconds`, in seconds"),
    ("signals", "commands that were sent Ctrl-C or SIGTERM"),
    ("answer", "longest wait for an answer to Ctrl-C or SIGTERM, in seconds"),
)


def sections() -> dict[str, str]:
    """The tables of the page."""
    record = json.loads((RESULTS / "trust-cpu.json").read_text("utf-8"))
    seeds = {seed: [*results.values()] for seed, results in record["seeds"].items()}
    tallies = {seed: tally(found) for seed, found in seeds.items()}
    head = "| | " + " | ".join(f"seed {seed}" for seed in seeds) + " |\n|---|" + "---:|" * len(seeds)
    lines = [head]
    for name, text in _ROWS:
        lines.append(f"| {text} | " + " | ".join(_cell(t[name]) for t in tallies.values()) + " |")
    origin = f"Measured on {record['device'].removeprefix('cpu: ')}, JAX {record['versions']['jax']}."
    return {
        "campaign": f"{origin}\n\n" + "\n".join(lines),
        "what went wrong": _wrong(seeds),
        "signals": _signals(seeds),
        "kinds": _kinds(seeds),
        "memory": _memory(),
    }


def _cell(value: Any) -> str:
    return "–" if value is None else str(value) if isinstance(value, int) else f"{value:.1f}"


def _wrong(seeds: dict[str, list[dict[str, Any]]]) -> str:
    lines = [
        f"- {wrong(r)}: {r['name'][:120]}" + (f" (seed {seed})" if len(seeds) > 1 else "")
        for seed, found in seeds.items()
        for r in found
        if wrong(r)
    ]
    return "\n".join(lines) if lines else "Nothing that must not happen has happened."


def _kinds(seeds: dict[str, list[dict[str, Any]]]) -> str:
    found = [r for own in seeds.values() for r in own]
    lines = ["| kind | tasks | CPU time, median | longest |", "|---|---:|---:|---:|"]
    for kind in dict.fromkeys(r["kind"] for r in found):
        spent = [r["cpu_s"] for r in found if r["kind"] == kind and "cpu_s" in r]
        if spent:
            lines.append(f"| {kind} | {len(spent)} | {statistics.median(spent):.1f} s | {max(spent):.1f} s |")
    return "\n".join(lines)


def _signals(seeds: dict[str, list[dict[str, Any]]]) -> str:
    sent = [r for own in seeds.values() for r in own if r.get("answer") is not None]
    lines = [
        "| moment | signals | exit 130 | exit 0 or 1 | other | answer, median | longest |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for moment in (*MOMENTS, ANY):
        found = [r for r in sent if r.get("moment", ANY) == moment]
        if not found:
            continue
        codes = [r["status"] for r in found]
        broken_off, ended = codes.count("exit 130"), codes.count("exit 0") + codes.count("exit 1")
        answers = [r["answer"] for r in found]
        lines.append(
            f"| {moment} | {len(found)} | {broken_off} | {ended} | {len(found) - broken_off - ended} "
            f"| {statistics.median(answers):.1f} s | {max(answers):.1f} s |"
        )
    return "\n".join(lines)


def _memory() -> str:
    lines = ["| training | announced, GiB | taken, GiB |", "|---|---:|---:|"]
    for where, path in MEMORY.items():
        for key, found in json.loads(path.read_text("utf-8")).items():
            name = f"{key}, {where}" if where else key
            announced = "refused" if "refused" in found else f"{found['announced'] / 2**30:.2f}"
            lines.append(f"| {name} | {announced} | {found['peak'] / 2**30:.2f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    write_sections(PAGE, sections())
