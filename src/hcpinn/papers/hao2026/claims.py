"""The claims of the paper, one entry each: what it says, in our words, and what decides it here."""

from __future__ import annotations

from . import cases, theorems
from .findings import Claim, fine_tuned

_IC, _PBC, _SA, _RATE, _REST, _THEORY = (
    "Exact initial data",
    "Periodic embedding",
    "Weights and batches",
    "Decay rate of the lift",
    "Beyond the ablation",
    "Theory",
)

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "hard-beats-soft",
        _IC,
        "Exact initial data beat a penalty",
        "Building the initial data into the trial function improves on a penalty, all else equal, across all "
        "problems.",
        "Of two rows that differ only in ic1 or ic2, the one with exact data has the lower error.",
        cases.hard_against_soft,
    ),
    Claim(
        "most-decisive",
        _IC,
        "Exact initial data are the most decisive part",
        "Of all parts of the scheme, leaving out the exact initial data hurts most.",
        "Leaving one part out at a time, the error is largest without ic1 or ic2.",
        cases.worst_without_initial_data,
    ),
    Claim(
        "soft-is-lost",
        _IC,
        "Without them, the periodic embedding ends near error 1",
        "On Allen–Cahn and Cahn–Hilliard, periodic networks with a penalty on the initial data end with "
        "errors near 0.99.",
        "The rows pbc and pbc+sa have errors above 0.5.",
        cases.soft_periodic_lost,
    ),
    Claim(
        "essential",
        _IC,
        "Exact initial data are essential",
        "Exact initial data are not only of use but needed for reliable training on stiff problems.",
        "No row without ic1 or ic2 gets its error down to 1e-2.",
        cases.no_soft_row_accurate,
    ),
    Claim(
        "baseline-fails",
        _IC,
        "The plain network fails",
        "A plain soft PINN does not solve these problems.",
        "The baseline's error is above 0.05 on every problem.",
        cases.baseline_fails,
    ),
    Claim(
        "full-is-best",
        _IC,
        "The full scheme is the best row",
        "With every part in place, and the better decay rate, the error is the lowest of each table.",
        "No other row of the problem's ablation has a lower error.",
        cases.full_scheme_best,
    ),
    Claim(
        "each-part-helps",
        _IC,
        "Each part helps",
        "Leaving any one part out of the full scheme makes the error larger.",
        "On Allen–Cahn, Gray–Scott and Schrödinger the full row has a lower error than each row with one "
        "part less.",
        cases.each_part_helps,
    ),
    Claim(
        "periodic-embedding",
        _PBC,
        "The periodic embedding helps exact initial data",
        "With exact initial data, Fourier features in place of a periodic penalty lower the error.",
        "Of two rows with ic1 or ic2 that differ only in pbc, the one with it has the lower error.",
        lambda errors: [
            *cases.gain(errors, "pbc", given=frozenset({"ic1"})),
            *cases.gain(errors, "pbc", given=frozenset({"ic2"})),
        ],
    ),
    Claim(
        "only-periodic-in-ch",
        _PBC,
        "Cahn–Hilliard yields to three rows only",
        "Besides the full scheme, only the periodic embedding with the slow decay gets an accurate solution.",
        "Errors are at most 1e-2 for pbc+ic1+sa, pbc+ic2+sa and pbc+ic2, and above it for all other rows.",
        cases.only_these_in_cahn_hilliard,
    ),
    Claim(
        "weights-help",
        _SA,
        "Self-adaptive weights help the full scheme",
        "With exact initial data and the periodic embedding, self-adaptive weights lower the error further.",
        "Of two rows with pbc and ic1 or ic2 that differ only in sa, the one with it has the lower error.",
        lambda errors: [
            *cases.gain(errors, "sa", given=frozenset({"pbc", "ic1"})),
            *cases.gain(errors, "sa", given=frozenset({"pbc", "ic2"})),
        ],
    ),
    Claim(
        "weights-are-second",
        _SA,
        "Weights matter less than exact data",
        "In the second Allen–Cahn case the gain by weights is small beside the gain by exact data and "
        "embedding.",
        "The error falls by a larger factor from baseline to pbc+ic1 than from there to pbc+ic1+sa.",
        cases.weights_matter_less,
    ),
    Claim(
        "batches-help",
        _SA,
        "Mini-batches help systems",
        "On Gray–Scott and Schrödinger mini-batches lower the error.",
        "Of two rows that differ only in mb, the one with it has the lower error.",
        lambda errors: cases.gain(errors, "mb", only=cases.SYSTEMS),
    ),
    Claim(
        "schrodinger-needs-both",
        _SA,
        "Schrödinger needs weights and batches",
        "Without self-adaptive weights and mini-batches the solution is hard to get; with both it is "
        "accurate.",
        "With both, errors are at most 1e-3; with neither, above 1e-2.",
        cases.schrodinger_needs_both,
    ),
    Claim(
        "second-field-harder",
        _SA,
        "In Gray–Scott the field v is harder than u",
        "The errors of u are typically smaller than those of v, which has sharper features.",
        "The error of u is below that of v in each row.",
        cases.v_is_harder,
    ),
    Claim(
        "fine-tuning",
        _SA,
        "L-BFGS goes on where Adam stops",
        "Training has two stages: Adam, then L-BFGS, which refines what Adam found.",
        "In every run L-BFGS ends with a lower loss than Adam left. The paper gives no figures for this.",
        fine_tuned,
    ),
    Claim(
        "fast-decay-allen-cahn-1",
        _RATE,
        "Allen–Cahn I: fast decay is better",
        "In the first Allen–Cahn case a lift that decays with C = 1 does better than one with C = 0.1.",
        "Of two rows with pbc that differ only in the rate, ic1 has the lower error than ic2.",
        lambda errors: cases.decay(errors, "allen-cahn-1", "ic1", "ic2", given=frozenset({"pbc"})),
    ),
    Claim(
        "even-decay-allen-cahn-2",
        _RATE,
        "Allen–Cahn II: the rate hardly matters",
        "In the second case there is hardly a difference between the two rates.",
        "Errors with ic1 and ic2, with pbc, are within a factor of two.",
        lambda errors: cases.decay_even(errors, "allen-cahn-2"),
    ),
    Claim(
        "slow-decay-kuramoto-sivashinsky",
        _RATE,
        "Kuramoto–Sivashinsky: slow decay is better",
        "With the periodic embedding the slow decay is always better.",
        "Of two rows with pbc that differ only in the rate, ic2 has the lower error.",
        lambda errors: cases.decay(errors, "kuramoto-sivashinsky", "ic2", "ic1", given=frozenset({"pbc"})),
    ),
    Claim(
        "slow-decay-cahn-hilliard",
        _RATE,
        "Cahn–Hilliard: slow decay is better",
        "Rows with the slow decay do better than those with the fast one.",
        "Of two rows that differ only in the rate, ic2 has the lower error.",
        lambda errors: cases.decay(errors, "cahn-hilliard", "ic2", "ic1"),
    ),
    Claim(
        "slow-decay-gray-scott",
        _RATE,
        "Gray–Scott: slow decay is better",
        "Over long times the fast decay takes the initial data away too early; the slow one is always "
        "better.",
        "Of two rows that differ only in the rate, ic2 has the lower error.",
        lambda errors: cases.decay(errors, "gray-scott", "ic2", "ic1"),
    ),
    Claim(
        "even-decay-schrodinger",
        _RATE,
        "Schrödinger: the rate hardly matters",
        "There is no significant difference between the two rates.",
        "Errors with ic1 and ic2, with pbc, are within a factor of two.",
        lambda errors: cases.decay_even(errors, "schrodinger"),
    ),
    Claim(
        "advection-ahead",
        "Advection",
        "Ahead at every speed",
        "At every speed the paper's scheme is more accurate than the characteristic network and the "
        "baseline.",
        "Its error is the lower one at c = 30, 40, 50 and 60.",
        cases.advection_ahead,
    ),
    Claim(
        "advection-growth",
        "Advection",
        "Speed hurts the baseline more",
        "Errors grow with the speed, the baseline's much faster.",
        "From c = 30 to c = 60 both errors grow, the baseline's by the larger factor.",
        cases.advection_grows,
    ),
    Claim(
        "advection-at-fifty",
        "Advection",
        "At c = 50 the baseline is lost, the scheme is not",
        "At c = 50 the baseline fails to approximate the solution while the scheme stays accurate.",
        "The baseline's error is above 0.5, the scheme's at most 0.05.",
        cases.advection_at_fifty,
    ),
    Claim(
        "advection-slow",
        "Advection",
        "Slow transport is in reach of both",
        "At low speed both the scheme and the baseline converge.",
        "At c = 30 both errors are at most 0.2.",
        cases.slow_advection_easy,
    ),
    Claim(
        "equal-budget",
        "Comparison",
        "Ahead of causal training and attention at equal budget",
        "With 50,000 steps of Adam and 5,000 of L-BFGS for all, the paper's scheme has the lowest errors.",
        "Its error is below those of causal-50k and rba-50k on both Allen–Cahn cases, Cahn–Hilliard and "
        "Kuramoto–Sivashinsky.",
        cases.ahead_at_equal_budget,
    ),
    Claim(
        "attention-at-full-budget",
        "Comparison",
        "Attention with 300,000 steps matches or surpasses it",
        "At its authors' budget attention is at least as good on the first Allen–Cahn case. (Their figure "
        "is for a smaller γ₁ than the paper's, a stiffer problem.)",
        "The error of rba is at most that of paper.",
        cases.attention_wins_in_the_end,
    ),
    Claim(
        "short-budget",
        "Comparison",
        "The shorter budget costs the rivals accuracy",
        "The rivals may do worse at 50,000 steps than at their authors' 300,000.",
        "Errors at 300,000 steps are lower than at 50,000.",
        cases.short_budget_hurts_rivals,
    ),
    Claim(
        "plane",
        _REST,
        "Two dimensions",
        "The scheme carries over to Allen–Cahn in the plane, with errors near 1e-4.",
        "The errors at t = 0.5 and t = 1 are at most twice the published ones.",
        cases.plane_reproduced,
    ),
    Claim(
        "modes",
        _REST,
        "Few Fourier modes are stable, too many break it",
        "The error is low and stable for small m and gets much worse once m passes a threshold.",
        "Up to m = 10 errors stay within a factor of three; at the largest m the error is ten times the "
        "best or more.",
        cases.few_modes_stable,
    ),
    Claim(
        "dirichlet",
        _REST,
        "Dirichlet data work as well",
        "With Dirichlet data built into lift and gate, a plain network without Fourier features gets to "
        "5e-4.",
        "Relative L2 and L1 errors are at most twice the published ones.",
        cases.dirichlet_reproduced,
    ),
    Claim(
        "dirichlet-below-periodic",
        _REST,
        "Dirichlet errors are slightly below the periodic ones",
        "The error with Dirichlet data is slightly lower than in the periodic first case.",
        "The error of allen-cahn-dirichlet is below that of allen-cahn-1.",
        cases.dirichlet_below_periodic,
    ),
    Claim(
        "kernel-uneven",
        _THEORY,
        "Soft training is pulled by competing parts",
        "With penalties, one kernel of several parts governs training, and their imbalance makes it stiff.",
        "The largest part holds at least ten times the smallest one's share of the kernel's trace.",
        theorems.uneven_trace,
    ),
    Claim(
        "kernel-conditioning",
        _THEORY,
        "Exact initial data ease the kernel's spectrum",
        "Without the part of the initial data the kernel's eigenvalues lie closer together: less spectral "
        "bias.",
        "λ₁/λₙ, with n an eighth of the number of residuals, is smaller by a factor of 1.5 or more.",
        theorems.better_conditioned,
    ),
    Claim(
        "kernel-decay",
        _THEORY,
        "Exact initial data train faster by the kernel's account",
        "The residual decays by the kernel alone, which favours exact initial data.",
        "With kernels frozen until λ₁τ = 10⁴, hard training leaves less of its starting error than soft "
        "training, by a factor of 1.5 or more.",
        theorems.goes_further,
    ),
    Claim(
        "hessian-bounds",
        _THEORY,
        "Hessians are bounded as stated",
        "For linear equations the norms of both Hessians stay below bounds made of the operator and the "
        "gate.",
        "Both inequalities hold for the linearised network at its start.",
        theorems.hessian_bounded,
    ),
    Claim(
        "consistency",
        _THEORY,
        "The transformed problem is the original one",
        "The trial function solves the equation exactly if the network solves the transformed one, and it "
        "starts from the initial data.",
        "Both residuals agree, and so do the initial values, to 1e-8.",
        theorems.consistent,
    ),
)
"""Every claim of the paper that can be put to the test, in the order of its parts."""
