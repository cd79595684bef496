"""What `hcpinn recheck` found of the paper's runs, as a section of a page."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from hcpinn.machine.programs import BY_RULE, BY_TIMING
from hcpinn.study.numbers import ratio

ACCURACY = 1e-2
"""The error up to which a run of the study counts as converged."""

OUTCOMES = ("same bits", "within the seed spread", "differs")
"""What `hcpinn recheck` found of the runs here."""


def again(folder: Path) -> str:
    """How runs came out a second time, by kernels and device, and what compiling anew changes."""
    heads = ["kernels", "device", "rows", "runs", *OUTCOMES, "largest change in error"]
    lines = ["| " + " | ".join(heads) + " |", "| --- | --- |" + " ---: |" * (len(heads) - 2)]
    groups: dict[tuple[str, str], list[dict]] = {}
    found = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))}
    for recheck in (data for data in found.values() if data["kind"] == "recheck"):
        for run in (run for run in recheck["runs"] if run["now"]):
            kernels = {run[when].get("kernels", BY_TIMING) for when in ("before", "now")}
            chosen = BY_RULE if kernels == {BY_RULE} else BY_TIMING
            device = run["now"]["device"].partition(": ")[2].removeprefix("NVIDIA ")
            groups.setdefault((chosen, device), []).append(run)
    for (chosen, device), runs in groups.items():
        rows = {(run["problem"], run["method"], str(run["parameters"])) for run in runs}
        counts = Counter(run["agreement"] for run in runs)
        factor = max(
            change["found"] for run in runs for measure, change in run["factors"].items() if _whole(measure)
        )
        cells = [chosen, device, len(rows), len(runs), *(counts[outcome] or "–" for outcome in OUTCOMES)]
        cells.append("none" if factor == 1 else f"{ratio(factor)}×")
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n\n".join(["\n".join(lines), anew(found["anew"]), compiled(found["compilations"])])


def anew(data: dict) -> str:
    """How far the errors of runs moved that are in the store a second time, with other rounding."""
    pairs = [
        [max(v for m, v in run[when].items() if _whole(m)) for when in ("before", "now")]
        for run in data["runs"]
    ]
    factors = sorted(max(pair) / min(pair) for pair in pairs)
    close, near = (sum(factor <= limit for factor in factors) for limit in (1.1, 2))
    sides = sum(min(pair) <= ACCURACY < max(pair) for pair in pairs)
    commits = ", ".join(f"`{commit}`" for commit in data["now"]["commits"])
    differing = data["agreement"].get("differs", 0)
    return (
        f"The {len(pairs)} runs of {commits} replaced earlier runs of the same seeds, trained with other "
        f"kernels: {close} errors changed by at most 10 %, {near} by at most a factor of two, and "
        f"{len(pairs) - sides} stayed on the same side of {ACCURACY:g}. `hcpinn recheck`, which also "
        f"compares L1 errors and those at T/2 and T, calls {differing} of the {len(pairs)} different."
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
