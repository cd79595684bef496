"""The claims of the study, one entry each: what it says, in our words, and what decides it here."""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog import SWITCHES, published_rows
from .claims import Case, Claim, Evidence, above, below, fine_tuned, lower, reproduced, within
from .columns import number

_ABLATION = "ablation "
_ACCURATE = 1e-2
"""An error up to which a solution counts as accurate."""
_LOST = 0.5
"""An error from which on a solution counts as lost."""
_SCALAR = ("allen-cahn-1", "allen-cahn-2", "kuramoto-sivashinsky", "cahn-hilliard")
_SYSTEMS = ("gray-scott", "schrodinger")
_SPEEDS = (30.0, 40.0, 50.0, 60.0)


def _ablations() -> Iterator[tuple[str, dict[str, float], set[frozenset[str]]]]:
    """Problem, parameters and the sets of switches of each ablation."""
    tables: dict[str, list] = {}
    for row in published_rows():
        if row.table.startswith(_ABLATION):
            tables.setdefault(row.table, []).append(row)
    for rows in tables.values():
        yield rows[0].problem, dict(rows[0].parameters), {_switches(row.method) for row in rows}


def _switches(method: str) -> frozenset[str]:
    return frozenset() if method == "baseline" else frozenset(method.split("+"))


def _name(switches: frozenset[str]) -> str:
    return "+".join(s for s in SWITCHES if s in switches) or "baseline"


def _gain(
    errors: Evidence, switch: str, *, given: frozenset[str] = frozenset(), only: tuple[str, ...] = ()
) -> list[Case]:
    """Every pair of rows that differ in this switch alone: whether the one that has it is better."""
    return [
        lower(errors, problem, _name(on), _name(on - {switch}), **parameters)
        for problem, parameters, rows in _ablations()
        if not only or problem in only
        for on in sorted(rows, key=_name)
        if switch in on and on - {switch} in rows and given <= on
    ]


def _hard_against_soft(errors: Evidence) -> list[Case]:
    return _gain(errors, "ic1") + _gain(errors, "ic2")


def _soft_periodic_lost(errors: Evidence) -> list[Case]:
    problems = ("allen-cahn-1", "allen-cahn-2", "cahn-hilliard")
    return [above(errors, problem, method, _LOST) for problem in problems for method in ("pbc", "pbc+sa")]


def _no_soft_row_accurate(errors: Evidence) -> list[Case]:
    return [
        above(errors, problem, _name(on), _ACCURATE, **parameters)
        for problem, parameters, rows in _ablations()
        for on in sorted(rows, key=_name)
        if not on & {"ic1", "ic2"}
    ]


def _worst_without_initial_data(errors: Evidence) -> list[Case]:
    """For each full row whose single omissions were all run: whether leaving out the exact data costs most."""
    cases = []
    for problem, parameters, rows in _ablations():
        for on in sorted(rows, key=_name):
            hard = on & {"ic1", "ic2"}
            without = {switch: on - {switch} for switch in on}
            if not hard or "pbc" not in on or not all(rest in rows for rest in without.values()):
                continue
            found = {s: errors(problem, _name(rest), **parameters) for s, rest in without.items()}
            where = f"{problem}: {_name(on)}"
            if any(value is None for value in found.values()):
                cases.append(Case(f"{where} with one part left out", None))
                continue
            listed = ", ".join(f"without {s} {number(v or 0)}" for s, v in sorted(found.items()))
            cases.append(Case(f"{where}: {listed}", max(found, key=lambda s: found[s] or 0) in hard))
    return cases


def _full_scheme_best(errors: Evidence) -> list[Case]:
    best = {
        "allen-cahn-1": "pbc+ic1+sa",
        "allen-cahn-2": "pbc+ic1+sa",
        "kuramoto-sivashinsky": "pbc+ic2+sa",
        "cahn-hilliard": "pbc+ic2+sa",
        "gray-scott": "pbc+ic2+sa+mb",
        "schrodinger": "pbc+ic1+sa+mb",
        "advection": "pbc+ic1+sa",
    }
    cases = []
    for problem, parameters, rows in _ablations():
        mine = errors(problem, best[problem], **parameters)
        others = {n: errors(problem, n, **parameters) for n in map(_name, rows) if n != best[problem]}
        known = {name: value for name, value in others.items() if value is not None}
        if mine is None or not known:
            cases.append(Case(f"{problem}: {best[problem]} against all other rows", None))
            continue
        rival = min(known, key=known.__getitem__)
        sign = "≤" if mine <= known[rival] else ">"
        text = f"{problem}: {best[problem]} {number(mine)} {sign} the best other row, {rival} {number(known[rival])}"
        cases.append(Case(text, mine <= known[rival]))
    return cases


def _each_part_helps(errors: Evidence) -> list[Case]:
    full = {
        "allen-cahn-1": "pbc+ic1+sa",
        "allen-cahn-2": "pbc+ic1+sa",
        "gray-scott": "pbc+ic2+sa+mb",
        "schrodinger": "pbc+ic1+sa+mb",
    }
    return [
        lower(errors, problem, full[problem], _name(_switches(full[problem]) - {switch}))
        for problem, _, rows in _ablations()
        if problem in full
        for switch in SWITCHES
        if switch in _switches(full[problem]) and _switches(full[problem]) - {switch} in rows
    ]


def _baseline_fails(errors: Evidence) -> list[Case]:
    return [above(errors, problem, "baseline", 0.05, **parameters) for problem, parameters, _ in _ablations()]


def _decay(
    errors: Evidence, problem: str, better: str, worse: str, *, given: frozenset[str] = frozenset()
) -> list[Case]:
    """Rows that differ in the decay rate alone."""
    (rows,) = [rows for name, _, rows in _ablations() if name == problem]
    return [
        lower(errors, problem, _name(on), _name(on - {better} | {worse}))
        for on in sorted(rows, key=_name)
        if better in on and given <= on and on - {better} | {worse} in rows
    ]


def _decay_even(errors: Evidence, problem: str) -> list[Case]:
    (rows,) = [rows for name, _, rows in _ablations() if name == problem]
    return [
        within(errors, problem, _name(on), _name(on - {"ic1"} | {"ic2"}), 2.0)
        for on in sorted(rows, key=_name)
        if {"pbc", "ic1"} <= on
    ]


def _weights_matter_less(errors: Evidence) -> list[Case]:
    found = [errors("allen-cahn-2", name) for name in ("baseline", "pbc+ic1", "pbc+ic1+sa")]
    if None in found:
        return [Case("allen-cahn-2: baseline, then pbc+ic1, then pbc+ic1+sa", None)]
    soft, hard, weighted = (value or 0.0 for value in found)
    text = f"allen-cahn-2: from {number(soft)} a factor of {soft / hard:.3g} by exact data, then {hard / weighted:.3g} by weights"
    return [Case(text, soft / hard > hard / weighted)]


def _only_these_in_cahn_hilliard(errors: Evidence) -> list[Case]:
    good = {"pbc+ic1+sa", "pbc+ic2+sa", "pbc+ic2"}
    (rows,) = [rows for name, _, rows in _ablations() if name == "cahn-hilliard"]
    return [
        (below if name in good else above)(errors, "cahn-hilliard", name, _ACCURATE)
        for name in sorted(map(_name, rows))
    ]


def _v_is_harder(errors: Evidence) -> list[Case]:
    cases = []
    (rows,) = [rows for name, _, rows in _ablations() if name == "gray-scott"]
    for name in sorted(map(_name, rows)):
        row = errors.row("gray-scott", name)
        pair = None if row is None else [errors.figure(row, f"rel_l2_{part}") for part in "uv"]
        if pair is None or pair[0] is None or pair[1] is None:
            cases.append(Case(f"gray-scott: {name}, u against v", None))
            continue
        sign = "<" if pair[0] < pair[1] else "≥"
        cases.append(
            Case(f"gray-scott: {name}, u {number(pair[0])} {sign} v {number(pair[1])}", pair[0] < pair[1])
        )
    return cases


def _schrodinger_needs_both(errors: Evidence) -> list[Case]:
    both = [below(errors, "schrodinger", f"pbc+{ic}+sa+mb", 1e-3) for ic in ("ic1", "ic2")]
    return both + [above(errors, "schrodinger", f"pbc+{ic}", _ACCURATE) for ic in ("ic1", "ic2")]


def _advection_ahead(errors: Evidence) -> list[Case]:
    return [
        lower(errors, "advection", "paper", rival, c=speed)
        for speed in _SPEEDS
        for rival in ("cinn", "baseline")
    ]


def _advection_grows(errors: Evidence) -> list[Case]:
    growth = {}
    for method in ("paper", "baseline"):
        slow, fast = errors("advection", method, c=30.0), errors("advection", method, c=60.0)
        if slow is None or fast is None:
            return [Case("advection: growth of the error from c = 30 to c = 60", None)]
        growth[method] = fast / slow
    text = f"advection: from c = 30 to 60 the error grows {growth['paper']:.2g} times (paper), {growth['baseline']:.2g} times (baseline)"
    return [Case(text, 1 < growth["paper"] < growth["baseline"])]


def _advection_at_fifty(errors: Evidence) -> list[Case]:
    return [
        above(errors, "advection", "baseline", _LOST, c=50.0),
        below(errors, "advection", "paper", 0.05, c=50.0),
    ]


def _slow_advection_easy(errors: Evidence) -> list[Case]:
    return [below(errors, "advection", method, 0.2, c=30.0) for method in ("paper", "baseline")]


def _ahead_at_equal_budget(errors: Evidence) -> list[Case]:
    return [
        lower(errors, problem, "paper", rival) for problem in _SCALAR for rival in ("causal-50k", "rba-50k")
    ]


def _attention_wins_in_the_end(errors: Evidence) -> list[Case]:
    rba, paper = errors("allen-cahn-1", "rba", gamma1=1e-4), errors("allen-cahn-1", "paper")
    if rba is None or paper is None:
        return [Case("allen-cahn-1: rba at 300,000 steps against paper", None)]
    sign = "≤" if rba <= paper else ">"
    text = f"allen-cahn-1: rba at 300,000 steps (γ₁ = 1e-4) {number(rba)} {sign} paper (γ₁ = 1e-3) {number(paper)}"
    return [Case(text, rba <= paper)]


def _short_budget_hurts_rivals(errors: Evidence) -> list[Case]:
    cases = []
    for problem, rival, parameters in (
        ("allen-cahn-1", "causal", {"gamma1": 1e-4}),
        ("allen-cahn-1", "rba", {"gamma1": 1e-4}),
        ("kuramoto-sivashinsky", "causal", {}),
    ):
        long, short = errors(problem, rival, **parameters), errors(problem, f"{rival}-50k")
        if long is None or short is None:
            cases.append(Case(f"{problem}: {rival} at 300,000 and at 50,000 steps", None))
            continue
        sign = "<" if long < short else "≥"
        cases.append(
            Case(f"{problem}: {rival} {number(long)} {sign} {rival}-50k {number(short)}", long < short)
        )
    return cases


def _plane(errors: Evidence) -> list[Case]:
    return [reproduced(errors, "allen-cahn-2d", "paper", f"rel_l2 at t={time}") for time in ("0.5", "1")]


def _dirichlet(errors: Evidence) -> list[Case]:
    return [reproduced(errors, "allen-cahn-dirichlet", "paper", measure) for measure in ("rel_l2", "rel_l1")]


def _dirichlet_below_periodic(errors: Evidence) -> list[Case]:
    edge, periodic = errors("allen-cahn-dirichlet", "paper"), errors("allen-cahn-1", "pbc+ic1+sa")
    if edge is None or periodic is None:
        return [Case("allen-cahn-dirichlet against allen-cahn-1, the study's best settings", None)]
    sign = "<" if edge < periodic else "≥"
    text = f"allen-cahn-dirichlet {number(edge)} {sign} allen-cahn-1 {number(periodic)}"
    return [Case(text, edge < periodic)]


def _modes(errors: Evidence) -> list[Case]:
    cases = []
    for problem in ("allen-cahn-1", "allen-cahn-2"):
        found = errors.modes(problem)
        if len(found) < 3:
            cases += [
                Case(f"{problem}: errors at few modes lie close together", None),
                Case(f"{problem}: errors at many modes are far above the best", None),
            ]
            continue
        few = [error for m, error in found.items() if m <= 10]
        best, most = min(found.values()), max(found)
        if len(few) < 2:
            cases.append(Case(f"{problem}: errors at few modes lie close together", None))
        else:
            text = f"{problem}: up to m = 10 from {number(min(few))} to {number(max(few))}"
            cases.append(Case(text, max(few) <= 3 * min(few)))
        text = f"{problem}: {number(found[most])} at m = {most}, {found[most] / best:.2g} times the best"
        cases.append(Case(text, found[most] >= 10 * best))
    return cases


_IC, _PBC, _SA, _RATE, _REST = (
    "Exact initial data",
    "Periodic embedding",
    "Weights and batches",
    "Decay rate of the lift",
    "Beyond the ablation",
)

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "hard-beats-soft",
        _IC,
        "Exact initial data beat a penalty",
        "Building the initial data into the trial function improves on a penalty, all else equal, across all "
        "problems.",
        "Of two rows that differ only in ic1 or ic2, the one with exact data has the lower error.",
        _hard_against_soft,
    ),
    Claim(
        "most-decisive",
        _IC,
        "Exact initial data are the most decisive part",
        "Of all parts of the scheme, leaving out the exact initial data hurts most.",
        "Leaving one part out at a time, the error is largest without ic1 or ic2.",
        _worst_without_initial_data,
    ),
    Claim(
        "soft-is-lost",
        _IC,
        "Without them, the periodic embedding ends near error 1",
        "On Allen–Cahn and Cahn–Hilliard, periodic networks with a penalty on the initial data end with errors "
        "near 0.99.",
        "The rows pbc and pbc+sa have errors above 0.5.",
        _soft_periodic_lost,
    ),
    Claim(
        "essential",
        _IC,
        "Exact initial data are essential",
        "Exact initial data are not only of use but needed for reliable training on stiff problems.",
        "No row without ic1 or ic2 gets its error down to 1e-2.",
        _no_soft_row_accurate,
    ),
    Claim(
        "baseline-fails",
        _IC,
        "The plain network fails",
        "A plain soft PINN does not solve these problems.",
        "The baseline's error is above 0.05 on every problem.",
        _baseline_fails,
    ),
    Claim(
        "full-is-best",
        _IC,
        "The full scheme is the best row",
        "With every part in place, and the better decay rate, the error is the lowest of each table.",
        "No other row of the problem's ablation has a lower error.",
        _full_scheme_best,
    ),
    Claim(
        "each-part-helps",
        _IC,
        "Each part helps",
        "Leaving any one part out of the full scheme makes the error larger.",
        "On Allen–Cahn, Gray–Scott and Schrödinger the full row has a lower error than each row with one part less.",
        _each_part_helps,
    ),
    Claim(
        "periodic-embedding",
        _PBC,
        "The periodic embedding helps exact initial data",
        "With exact initial data, Fourier features in place of a periodic penalty lower the error.",
        "Of two rows with ic1 or ic2 that differ only in pbc, the one with it has the lower error.",
        lambda errors: [
            *_gain(errors, "pbc", given=frozenset({"ic1"})),
            *_gain(errors, "pbc", given=frozenset({"ic2"})),
        ],
    ),
    Claim(
        "only-periodic-in-ch",
        _PBC,
        "Cahn–Hilliard yields to three rows only",
        "Besides the full scheme, only the periodic embedding with the slow decay gets an accurate solution.",
        "Errors are at most 1e-2 for pbc+ic1+sa, pbc+ic2+sa and pbc+ic2, and above it for all other rows.",
        _only_these_in_cahn_hilliard,
    ),
    Claim(
        "weights-help",
        _SA,
        "Self-adaptive weights help the full scheme",
        "With exact initial data and the periodic embedding, self-adaptive weights lower the error further.",
        "Of two rows with pbc and ic1 or ic2 that differ only in sa, the one with it has the lower error.",
        lambda errors: [
            *_gain(errors, "sa", given=frozenset({"pbc", "ic1"})),
            *_gain(errors, "sa", given=frozenset({"pbc", "ic2"})),
        ],
    ),
    Claim(
        "weights-are-second",
        _SA,
        "Weights matter less than exact data",
        "In the second Allen–Cahn case the gain by weights is small beside the gain by exact data and embedding.",
        "The error falls by a larger factor from baseline to pbc+ic1 than from there to pbc+ic1+sa.",
        _weights_matter_less,
    ),
    Claim(
        "batches-help",
        _SA,
        "Mini-batches help systems",
        "On Gray–Scott and Schrödinger mini-batches lower the error.",
        "Of two rows that differ only in mb, the one with it has the lower error.",
        lambda errors: _gain(errors, "mb", only=_SYSTEMS),
    ),
    Claim(
        "schrodinger-needs-both",
        _SA,
        "Schrödinger needs weights and batches",
        "Without self-adaptive weights and mini-batches the solution is hard to get; with both it is accurate.",
        "With both, errors are at most 1e-3; with neither, above 1e-2.",
        _schrodinger_needs_both,
    ),
    Claim(
        "second-field-harder",
        _SA,
        "In Gray–Scott the field v is harder than u",
        "The errors of u are typically smaller than those of v, which has sharper features.",
        "The error of u is below that of v in each row.",
        _v_is_harder,
    ),
    Claim(
        "fine-tuning",
        _SA,
        "L-BFGS goes on where Adam stops",
        "Training has two stages: Adam, then L-BFGS, which refines what Adam found.",
        "The loss at the end of L-BFGS is below the one that Adam left. The study gives no figures for this.",
        fine_tuned,
    ),
    Claim(
        "fast-decay-allen-cahn-1",
        _RATE,
        "Allen–Cahn I: fast decay is better",
        "In the first Allen–Cahn case a lift that decays with C = 1 does better than one with C = 0.1.",
        "Of two rows with pbc that differ only in the rate, ic1 has the lower error than ic2.",
        lambda errors: _decay(errors, "allen-cahn-1", "ic1", "ic2", given=frozenset({"pbc"})),
    ),
    Claim(
        "even-decay-allen-cahn-2",
        _RATE,
        "Allen–Cahn II: the rate hardly matters",
        "In the second case there is hardly a difference between the two rates.",
        "Errors with ic1 and ic2, with pbc, are within a factor of two.",
        lambda errors: _decay_even(errors, "allen-cahn-2"),
    ),
    Claim(
        "slow-decay-kuramoto-sivashinsky",
        _RATE,
        "Kuramoto–Sivashinsky: slow decay is better",
        "With the periodic embedding the slow decay is always better.",
        "Of two rows with pbc that differ only in the rate, ic2 has the lower error.",
        lambda errors: _decay(errors, "kuramoto-sivashinsky", "ic2", "ic1", given=frozenset({"pbc"})),
    ),
    Claim(
        "slow-decay-cahn-hilliard",
        _RATE,
        "Cahn–Hilliard: slow decay is better",
        "Rows with the slow decay do better than those with the fast one.",
        "Of two rows that differ only in the rate, ic2 has the lower error.",
        lambda errors: _decay(errors, "cahn-hilliard", "ic2", "ic1"),
    ),
    Claim(
        "slow-decay-gray-scott",
        _RATE,
        "Gray–Scott: slow decay is better",
        "Over long times the fast decay takes the initial data away too early; the slow one is always better.",
        "Of two rows that differ only in the rate, ic2 has the lower error.",
        lambda errors: _decay(errors, "gray-scott", "ic2", "ic1"),
    ),
    Claim(
        "even-decay-schrodinger",
        _RATE,
        "Schrödinger: the rate hardly matters",
        "There is no significant difference between the two rates.",
        "Errors with ic1 and ic2, with pbc, are within a factor of two.",
        lambda errors: _decay_even(errors, "schrodinger"),
    ),
    Claim(
        "advection-ahead",
        "Advection",
        "Ahead at every speed",
        "At every speed the study's scheme is more accurate than the characteristic network and the baseline.",
        "Its error is the lower one at c = 30, 40, 50 and 60.",
        _advection_ahead,
    ),
    Claim(
        "advection-growth",
        "Advection",
        "Speed hurts the baseline more",
        "Errors grow with the speed, the baseline's much faster.",
        "From c = 30 to c = 60 both errors grow, the baseline's by the larger factor.",
        _advection_grows,
    ),
    Claim(
        "advection-at-fifty",
        "Advection",
        "At c = 50 the baseline is lost, the scheme is not",
        "At c = 50 the baseline fails to approximate the solution while the scheme stays accurate.",
        "The baseline's error is above 0.5, the scheme's at most 0.05.",
        _advection_at_fifty,
    ),
    Claim(
        "advection-slow",
        "Advection",
        "Slow transport is in reach of both",
        "At low speed both the scheme and the baseline converge.",
        "At c = 30 both errors are at most 0.2.",
        _slow_advection_easy,
    ),
    Claim(
        "equal-budget",
        "Comparison",
        "Ahead of causal training and attention at equal budget",
        "With 50,000 steps of Adam and 5,000 of L-BFGS for all, the study's scheme has the lowest errors.",
        "Its error is below those of causal-50k and rba-50k on both Allen–Cahn cases, Cahn–Hilliard and "
        "Kuramoto–Sivashinsky.",
        _ahead_at_equal_budget,
    ),
    Claim(
        "attention-at-full-budget",
        "Comparison",
        "Attention with 300,000 steps matches or surpasses it",
        "At its authors' budget attention is at least as good on the first Allen–Cahn case. (Their figure is for a "
        "smaller γ₁ than the study's, a stiffer problem.)",
        "The error of rba is at most that of paper.",
        _attention_wins_in_the_end,
    ),
    Claim(
        "short-budget",
        "Comparison",
        "The shorter budget costs the rivals accuracy",
        "The rivals may do worse at 50,000 steps than at their authors' 300,000.",
        "Errors at 300,000 steps are lower than at 50,000.",
        _short_budget_hurts_rivals,
    ),
    Claim(
        "plane",
        _REST,
        "Two dimensions",
        "The scheme carries over to Allen–Cahn in the plane, with errors near 1e-4.",
        "The errors at t = 0.5 and t = 1 are at most twice the published ones.",
        _plane,
    ),
    Claim(
        "modes",
        _REST,
        "Few Fourier modes are stable, too many break it",
        "The error is low and stable for small m and gets much worse once m passes a threshold.",
        "Up to m = 10 errors stay within a factor of three; at the largest m the error is ten times the best or more.",
        _modes,
    ),
    Claim(
        "dirichlet",
        _REST,
        "Dirichlet data work as well",
        "With Dirichlet data built into lift and gate, a plain network without Fourier features gets to 5e-4.",
        "Relative L2 and L1 errors are at most twice the published ones.",
        _dirichlet,
    ),
    Claim(
        "dirichlet-below-periodic",
        _REST,
        "Dirichlet errors are slightly below the periodic ones",
        "The error with Dirichlet data is slightly lower than in the periodic first case.",
        "The error of allen-cahn-dirichlet is below that of allen-cahn-1.",
        _dirichlet_below_periodic,
    ),
)
"""Every claim of the study that trainings can decide, in the order of its parts."""
