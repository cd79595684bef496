"""The claims of the paper: what each says, in `claims.toml`, and the comparisons that decide it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from importlib.resources import files

from . import cases, theorems
from .findings import Claim, ClaimCase, Evidence, fine_tuned

_CASES: dict[str, Callable[[Evidence], list[ClaimCase]]] = {
    "hard-beats-soft": cases.hard_against_soft,
    "most-decisive": cases.worst_without_initial_data,
    "soft-is-lost": cases.soft_periodic_lost,
    "essential": cases.no_soft_row_accurate,
    "baseline-fails": cases.baseline_fails,
    "full-is-best": cases.full_scheme_best,
    "each-part-helps": cases.each_part_helps,
    "periodic-embedding": lambda errors: [
        *cases.gain(errors, "pbc", given=frozenset({"ic1"})),
        *cases.gain(errors, "pbc", given=frozenset({"ic2"})),
    ],
    "only-periodic-in-ch": cases.only_these_in_cahn_hilliard,
    "weights-help": lambda errors: [
        *cases.gain(errors, "sa", given=frozenset({"pbc", "ic1"})),
        *cases.gain(errors, "sa", given=frozenset({"pbc", "ic2"})),
    ],
    "weights-are-second": cases.weights_matter_less,
    "batches-help": lambda errors: cases.gain(errors, "mb", only=cases.SYSTEMS),
    "schrodinger-needs-both": cases.schrodinger_needs_both,
    "second-field-harder": cases.v_is_harder,
    "fine-tuning": fine_tuned,
    "fast-decay-allen-cahn-1": lambda errors: cases.decay(
        errors, "allen-cahn-1", "ic1", "ic2", given=frozenset({"pbc"})
    ),
    "even-decay-allen-cahn-2": lambda errors: cases.decay_even(errors, "allen-cahn-2"),
    "slow-decay-kuramoto-sivashinsky": lambda errors: cases.decay(
        errors, "kuramoto-sivashinsky", "ic2", "ic1", given=frozenset({"pbc"})
    ),
    "slow-decay-cahn-hilliard": lambda errors: cases.decay(errors, "cahn-hilliard", "ic2", "ic1"),
    "slow-decay-gray-scott": lambda errors: cases.decay(errors, "gray-scott", "ic2", "ic1"),
    "even-decay-schrodinger": lambda errors: cases.decay_even(errors, "schrodinger"),
    "advection-ahead": cases.advection_ahead,
    "advection-growth": cases.advection_grows,
    "advection-at-fifty": cases.advection_at_fifty,
    "advection-slow": cases.slow_advection_easy,
    "equal-budget": cases.ahead_at_equal_budget,
    "attention-at-full-budget": cases.attention_wins_in_the_end,
    "short-budget": cases.short_budget_hurts_rivals,
    "plane": cases.plane_reproduced,
    "modes": cases.few_modes_stable,
    "dirichlet": cases.dirichlet_reproduced,
    "dirichlet-below-periodic": cases.dirichlet_below_periodic,
    "kernel-uneven": theorems.uneven_trace,
    "kernel-conditioning": theorems.better_conditioned,
    "kernel-decay": theorems.goes_further,
    "hessian-bounds": theorems.hessian_bounded,
    "consistency": theorems.consistent,
}

_TEXTS = tomllib.loads(files("hcpinn.papers.hao2026").joinpath("claims.toml").read_text("utf-8"))["claim"]

CLAIMS = tuple(Claim(**texts, cases=_CASES[texts["name"]]) for texts in _TEXTS)
"""Every claim of the paper that can be put to the test, in the order of its parts."""
