"""What `hcpinn recheck` found, as a section of a page."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from hcpinn.machine.programs import BY_RULE, BY_TIMING
from hcpinn.study.columns import ratio

ACCURACY = 1e-2
"""The error up to which a run of the study counts as converged."""


def again(folder: Path) -> str:
    """What `hcpinn recheck` found, row by row, and what compiling anew changes."""
    heads = ["problem", "method", "kernels", "trained at", "again at", "on", "runs", "outcome"]
    heads.append("error changed by")
    lines = ["| " + " | ".join(heads) + " |", "| --- | --- | --- | --- | --- | --- | ---: | --- | ---: |"]
    rows: dict[tuple[str, ...], list[dict]] = {}
    found = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))}
    for recheck in (data for data in found.values() if data["kind"] == "recheck"):
        for run in recheck["runs"]:
            if run["now"]:
                values = ", ".join(
                    f"{k} = {v:g}" for k, v in run["parameters"].items() if k in ("c", "horizon")
                )
                name = f"{run['problem']}, {values}" if values else run["problem"]
                commits = (run[when]["commit"][:7] for when in ("before", "now"))
                kernels = {run[when].get("kernels", BY_TIMING) for when in ("before", "now")}
                chosen = BY_RULE if kernels == {BY_RULE} else BY_TIMING
                device = run["now"]["device"].partition(": ")[2].removeprefix("NVIDIA ")
                rows.setdefault((name, run["method"], chosen, *commits, device), []).append(run)
    for (name, method, chosen, before, now, device), runs in rows.items():
        counts = Counter(run["agreement"] for run in runs)
        outcome = ", ".join(f"{count} {said}" if len(counts) > 1 else said for said, count in counts.items())
        factor = max(
            change["found"] for run in runs for measure, change in run["factors"].items() if _whole(measure)
        )
        changed = "–" if factor == 1 else f"up to {ratio(factor)}×"
        cells = [name, f"`{method}`", chosen, f"`{before}`", f"`{now}`", device]
        cells += [str(len(runs)), outcome, changed]
        lines.append("| " + " | ".join(cells) + " |")
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
    far: dict[str, Counter[str]] = {}
    for run, pair in zip(data["runs"], pairs, strict=True):
        if max(pair) > 2 * min(pair):
            far.setdefault(run["problem"], Counter())[run["method"]] += 1
    moved = "; ".join(
        f"on `{problem}` " + ", ".join(f"{count} of `{method}`" for method, count in methods.items())
        for problem, methods in far.items()
    )
    commits = ", ".join(f"`{commit}`" for commit in data["now"]["commits"])
    differing = data["agreement"].get("differs", 0)
    return (
        f"Of the {len(pairs)} runs of {commits}, which replace earlier ones of the same seeds, "
        f"{close} have errors within 10 % of what they had, {near} within a factor of two, and "
        f"{len(pairs) - sides} are on the same side of {ACCURACY:g}. Further off are {moved}. "
        f"By the rule of `hcpinn recheck`, for which all errors count, {differing} of {len(pairs)} differ."
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
