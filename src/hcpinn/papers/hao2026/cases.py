"""The comparisons that decide the paper's claims, made of the rows of its tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ...study.numbers import number
from .ablation import SETTINGS, SWITCHES
from .findings import (
    ClaimCase,
    Evidence,
    above,
    below,
    compared,
    lower,
    relation,
    reproduced,
    similar,
    within,
)
from .published import ADVECTION_HORIZON, PublishedRow, published_rows
from .seeds import contrary, every, lies_below, seed_by_seed

_ABLATION = "ablation "
_ACCURATE = 1e-2
"""An error up to which a solution counts as accurate."""
_LOST = 0.5
"""An error from which on a solution counts as lost."""
_SCALAR = ("allen-cahn-1", "allen-cahn-2", "kuramoto-sivashinsky", "cahn-hilliard")
SYSTEMS = ("gray-scott", "schrodinger")
_SPEEDS = (30.0, 40.0, 50.0, 60.0)


def _ablations() -> Iterator[tuple[str, dict[str, float], set[frozenset[str]]]]:
    """Problem, parameters and the sets of switches of each ablation."""
    tables: dict[str, list[PublishedRow]] = {}
    for published in published_rows():
        if published.table.startswith(_ABLATION):
            tables.setdefault(published.table, []).append(published)
    for rows in tables.values():
        yield rows[0].problem, dict(rows[0].parameters), {_switches(r.method) for r in rows}


def _switches(method: str) -> frozenset[str]:
    return frozenset() if method == "baseline" else frozenset(method.split("+"))


def _name(switches: frozenset[str]) -> str:
    return "+".join(s for s in SWITCHES if s in switches) or "baseline"


def gain(
    errors: Evidence, switch: str, *, given: frozenset[str] = frozenset(), only: tuple[str, ...] = ()
) -> list[ClaimCase]:
    """Every pair of rows that differ in this switch alone: whether the one that has it is better."""
    return [
        lower(errors, problem, _name(on), _name(on - {switch}), **parameters)
        for problem, parameters, rows in _ablations()
        if not only or problem in only
        for on in sorted(rows, key=_name)
        if switch in on and on - {switch} in rows and given <= on
    ]


def hard_against_soft(errors: Evidence) -> list[ClaimCase]:
    """Rows with exact initial data against the same rows with a penalty."""
    return gain(errors, "ic1") + gain(errors, "ic2")


def soft_periodic_lost(errors: Evidence) -> list[ClaimCase]:
    """Whether penalised initial data with the periodic embedding end far off."""
    problems = ("allen-cahn-1", "allen-cahn-2", "cahn-hilliard")
    return [above(errors, problem, method, _LOST) for problem in problems for method in ("pbc", "pbc+sa")]


def no_soft_row_accurate(errors: Evidence) -> list[ClaimCase]:
    """Whether every row with penalised initial data misses the accuracy."""
    return [
        above(errors, problem, _name(on), _ACCURATE, **parameters)
        for problem, parameters, rows in _ablations()
        for on in sorted(rows, key=_name)
        if not on & {"ic1", "ic2"}
    ]


def worst_without_initial_data(errors: Evidence) -> list[ClaimCase]:
    """Each row with one part left out at a time: whether leaving out the exact data costs most."""
    cases = []
    for problem, parameters, rows in _ablations():
        for on in sorted(rows, key=_name):
            hard = on & {"ic1", "ic2"}
            without = {switch: on - {switch} for switch in on}
            if not hard or "pbc" not in on or not all(rest in rows for rest in without.values()):
                continue
            found = {s: errors(problem, _name(rest), **parameters) for s, rest in without.items()}
            where = f"{problem}: {_name(on)}"
            known = {s: value for s, value in sorted(found.items()) if value is not None}
            if len(known) < len(found):
                cases.append(ClaimCase(f"{where} with one part left out", None))
                continue
            listed = ", ".join(f"without {s} {value}" for s, value in known.items())
            (worst,) = (known[s] for s in hard)
            others = (value for s, value in known.items() if s not in hard)
            cases.append(compared(f"{where}: {listed}", every(lies_below(v, worst) for v in others)))
    return cases


def full_scheme_best(errors: Evidence) -> list[ClaimCase]:
    """Whether the paper's best settings have the lowest error of their table; all rows have to be run."""
    cases = []
    for problem, parameters, rows in _ablations():
        full = SETTINGS[problem].best
        mine = errors(problem, full, **parameters)
        others = {n: errors(problem, n, **parameters) for n in map(_name, rows) if n != full}
        known = {name: value for name, value in others.items() if value is not None}
        if mine is None or not known:
            cases.append(ClaimCase(f"{problem}: {full} against all other rows", None))
            continue
        beaten = {name: contrary(lies_below(value, mine)) for name, value in known.items()}
        holds = every(beaten.values())
        if holds is not False and len(known) < len(others):
            cases.append(ClaimCase(f"{problem}: {full} against all other rows", None))
            continue
        rival = min((n for n in known if beaten[n] is holds), key=lambda name: known[name].median)
        text = f"{problem}: {full} {mine} {relation(holds, '≤', '>')} best other row, {rival} {known[rival]}"
        cases.append(compared(text, holds))
    return cases


def each_part_helps(errors: Evidence) -> list[ClaimCase]:
    """The full scheme against itself with one part less."""
    cases = []
    for problem, _, rows in _ablations():
        if problem in ("allen-cahn-1", "allen-cahn-2", *SYSTEMS):
            full = SETTINGS[problem].best
            less = [_switches(full) - {switch} for switch in SWITCHES if switch in _switches(full)]
            cases += [lower(errors, problem, full, _name(on)) for on in less if on in rows]
    return cases


def baseline_fails(errors: Evidence) -> list[ClaimCase]:
    """Whether the plain soft PINN stays far off on every problem."""
    return [above(errors, problem, "baseline", 0.05, **parameters) for problem, parameters, _ in _ablations()]


def decay(
    errors: Evidence, problem: str, better: str, worse: str, *, given: frozenset[str] = frozenset()
) -> list[ClaimCase]:
    """Rows that differ in the decay rate alone."""
    (rows,) = [rows for name, _, rows in _ablations() if name == problem]
    return [
        lower(errors, problem, _name(on), _name(on - {better} | {worse}))
        for on in sorted(rows, key=_name)
        if better in on and given <= on and on - {better} | {worse} in rows
    ]


def decay_even(errors: Evidence, problem: str) -> list[ClaimCase]:
    """Rows with the periodic embedding that differ in the decay rate alone: whether that hardly matters."""
    (rows,) = [rows for name, _, rows in _ablations() if name == problem]
    return [
        within(errors, problem, _name(on), _name(on - {"ic1"} | {"ic2"}), 2.0)
        for on in sorted(rows, key=_name)
        if {"pbc", "ic1"} <= on
    ]


def weights_matter_less(errors: Evidence) -> list[ClaimCase]:
    """The factor won by exact data and embedding against the one won by weights."""
    soft, hard, weighted = (errors("allen-cahn-2", name) for name in ("baseline", "pbc+ic1", "pbc+ic1+sa"))
    if soft is None or hard is None or weighted is None:
        return [ClaimCase("allen-cahn-2: baseline, then pbc+ic1, then pbc+ic1+sa", None)]
    text = (
        f"allen-cahn-2: from {soft} a factor of {soft.median / hard.median:.3g} by exact data, then "
        f"{hard.median / weighted.median:.3g} by weights"
    )
    return [compared(text, seed_by_seed((soft, hard, weighted), lambda s, h, w: s / h > h / w))]


def only_these_in_cahn_hilliard(errors: Evidence) -> list[ClaimCase]:
    """Which rows of Cahn–Hilliard get accurate."""
    good = {"pbc+ic1+sa", "pbc+ic2+sa", "pbc+ic2"}
    (rows,) = [rows for name, _, rows in _ablations() if name == "cahn-hilliard"]
    return [
        (below if name in good else above)(errors, "cahn-hilliard", name, _ACCURATE)
        for name in sorted(map(_name, rows))
    ]


def v_is_harder(errors: Evidence) -> list[ClaimCase]:
    """The errors of the two fields of Gray–Scott, row by row."""
    cases = []
    (rows,) = [rows for name, _, rows in _ablations() if name == "gray-scott"]
    for name in sorted(map(_name, rows)):
        found = errors.row("gray-scott", name)
        pair = None if found is None else [errors.figure(found, f"rel_l2_{part}") for part in "uv"]
        if pair is None or pair[0] is None or pair[1] is None:
            cases.append(ClaimCase(f"gray-scott: {name}, u against v", None))
            continue
        holds = seed_by_seed((pair[0], pair[1]), lambda u, v: u < v)
        text = f"gray-scott: {name}, u {pair[0]} {relation(holds, '<', '≥')} v {pair[1]}"
        cases.append(compared(text, holds))
    return cases


def schrodinger_needs_both(errors: Evidence) -> list[ClaimCase]:
    """Schrödinger with both weights and batches, and with neither."""
    both = [below(errors, "schrodinger", f"pbc+{ic}+sa+mb", 1e-3) for ic in ("ic1", "ic2")]
    return both + [above(errors, "schrodinger", f"pbc+{ic}", _ACCURATE) for ic in ("ic1", "ic2")]


def advection_ahead(errors: Evidence) -> list[ClaimCase]:
    """The scheme against both rivals at every speed."""
    return [
        lower(errors, "advection", "paper", rival, c=speed, **ADVECTION_HORIZON)
        for speed in _SPEEDS
        for rival in ("cinn", "baseline")
    ]


def advection_grows(errors: Evidence) -> list[ClaimCase]:
    """By what factor errors grow from the slowest to the fastest transport."""
    found = [
        errors("advection", method, c=c, **ADVECTION_HORIZON)
        for method in ("paper", "baseline")
        for c in (30.0, 60.0)
    ]
    known = [sample for sample in found if sample is not None]
    if len(known) < len(found):
        return [ClaimCase("advection: growth of the error from c = 30 to c = 60", None)]
    slow, fast, plain_slow, plain_fast = known
    text = (
        f"advection: from c = 30 to 60 the error grows {fast.median / slow.median:.2g} times (paper), "
        f"{plain_fast.median / plain_slow.median:.2g} times (baseline)"
    )
    return [compared(text, seed_by_seed(known, lambda a, b, c, d: 1 < b / a < d / c))]


def advection_at_fifty(errors: Evidence) -> list[ClaimCase]:
    """The baseline lost and the scheme accurate at c = 50."""
    return [
        above(errors, "advection", "baseline", _LOST, c=50.0, **ADVECTION_HORIZON),
        below(errors, "advection", "paper", 0.05, c=50.0, **ADVECTION_HORIZON),
    ]


def slow_advection_easy(errors: Evidence) -> list[ClaimCase]:
    """Both within reach at the lowest speed."""
    return [
        below(errors, "advection", method, 0.2, c=30.0, **ADVECTION_HORIZON)
        for method in ("paper", "baseline")
    ]


def ahead_at_equal_budget(errors: Evidence) -> list[ClaimCase]:
    """The scheme against both rivals on four problems."""
    return [
        lower(errors, problem, "paper", rival) for problem in _SCALAR for rival in ("causal-50k", "rba-50k")
    ]


def attention_wins_in_the_end(errors: Evidence) -> list[ClaimCase]:
    """Attention at its authors' budget against the scheme."""
    rba, paper = errors("allen-cahn-1", "rba", gamma1=1e-4), errors("allen-cahn-1", "paper")
    if rba is None or paper is None:
        return [ClaimCase("allen-cahn-1: rba at 300,000 steps against paper", None)]
    holds = contrary(lies_below(paper, rba))
    between = relation(holds, "≤", ">")
    text = f"allen-cahn-1: rba at 300,000 steps (γ₁ = 1e-4) {rba} {between} paper (γ₁ = 1e-3) {paper}"
    return [compared(text, holds)]


def short_budget_hurts_rivals(errors: Evidence) -> list[ClaimCase]:
    """The rivals at their authors' budget and at the paper's."""
    cases = []
    for problem, rival, parameters in (
        ("allen-cahn-1", "causal", {"gamma1": 1e-4}),
        ("allen-cahn-1", "rba", {"gamma1": 1e-4}),
        ("kuramoto-sivashinsky", "causal", {}),
    ):
        long, short = errors(problem, rival, **parameters), errors(problem, f"{rival}-50k")
        if long is None or short is None:
            cases.append(ClaimCase(f"{problem}: {rival} at 300,000 and at 50,000 steps", None))
            continue
        holds = lies_below(long, short)
        text = f"{problem}: {rival} {long} {relation(holds, '<', '≥')} {rival}-50k {short}"
        cases.append(compared(text, holds))
    return cases


def plane_reproduced(errors: Evidence) -> list[ClaimCase]:
    """The errors in the plane against the published ones."""
    return [reproduced(errors, "allen-cahn-2d", "paper", f"rel_l2 at t={time}") for time in ("0.5", "1")]


def dirichlet_reproduced(errors: Evidence) -> list[ClaimCase]:
    """The errors with Dirichlet data against the published ones."""
    return [reproduced(errors, "allen-cahn-dirichlet", "paper", measure) for measure in ("rel_l2", "rel_l1")]


def dirichlet_below_periodic(errors: Evidence) -> list[ClaimCase]:
    """The error with Dirichlet data against the periodic one."""
    edge, periodic = errors("allen-cahn-dirichlet", "paper"), errors("allen-cahn-1", "pbc+ic1+sa")
    if edge is None or periodic is None:
        return [ClaimCase("allen-cahn-dirichlet against allen-cahn-1, the paper's best settings", None)]
    holds = lies_below(edge, periodic)
    text = f"allen-cahn-dirichlet {edge} {relation(holds, '<', '≥')} allen-cahn-1 {periodic}"
    return [compared(text, holds)]


def few_modes_stable(errors: Evidence) -> list[ClaimCase]:
    """Errors close together for few Fourier modes, and far off for many."""
    cases = []
    for problem in ("allen-cahn-1", "allen-cahn-2"):
        found = errors.modes(problem)
        if len(found) < 3:
            cases += [
                ClaimCase(f"{problem}: errors at few modes lie close together", None),
                ClaimCase(f"{problem}: errors at many modes are far above the best", None),
            ]
            continue
        few = [sample for m, sample in found.items() if m <= 10]
        best, most = min(found.values(), key=lambda sample: sample.median), max(found)
        if len(few) < 2:
            cases.append(ClaimCase(f"{problem}: errors at few modes lie close together", None))
        else:
            medians = sorted(sample.median for sample in few)
            text = f"{problem}: up to m = 10 from {number(medians[0])} to {number(medians[-1])}"
            pairs = itertools.combinations(few, 2)
            cases.append(compared(text, every(similar(one, other, 3.0) for one, other in pairs)))
        times = found[most].median / best.median
        text = f"{problem}: {found[most]} at m = {most}, {times:.2g} times the best, {best}"
        cases.append(compared(text, contrary(lies_below(found[most], best.times(10.0)))))
    return cases
