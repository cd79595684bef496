"""How to read the paper's page."""

from __future__ import annotations

from ...study.elements import facts

READING = (
    '<div class="facts">'
    + facts(
        "Switches",
        [
            ("`pbc`", "the periodic embedding; without it a penalty on the values at both ends"),
            (
                "`ic1`, `ic2`",
                "exact initial data by a lift that decays with C = 1, or C = 0.1; without either a penalty",
            ),
            ("`sa`", "self-adaptive weights"),
            ("`mb`", "mini-batches, 5 of 3,280 points"),
            ("`baseline`", "none of them: the plain soft PINN"),
            ("`paper`", "the paper's best settings for a problem"),
        ],
    )
    + facts(
        "Figures",
        [
            ("L2, L1", "relative errors over all times and positions, against a classical reference"),
            (
                "ours",
                "the mean over the seeds, since the paper averages too; point at it for the median, by "
                "which claims go",
            ),
            (
                "min–max",
                "the smallest and the largest over the seeds: errors lie decades apart, where a standard "
                "deviation says little",
            ),
            ("ours / published", "▼ less than half the published figure, ▲ more than twice, ≈ in between"),
            ("seeds", "how many seeds were trained, of how many, and how many of these failed"),
            ("verdict", "converged: error at most 1e-2, by an independent check"),
            ("seconds", "device time of a run, its share where several trained together or side by side"),
        ],
    )
    + facts(
        "Claims over several seeds",
        [
            ("shown", "the median, with the smallest and the largest error in brackets"),
            (
                "lower",
                "the median is lower by a tenth or more, and pairs of seeds, one of each row, agree: all of "
                "them but for so few that chance would do as well in at most 5 % of cases (one-sided rank "
                "test). That is all nine pairs of three seeds each, 73 of the hundred of ten each",
            ),
            ("within a factor", "neither row is above the other by more than the factor, by the same rule"),
            ("a limit", "all seeds are on one side of it; of ten, nine (sign test)"),
            (
                "best or worst of several",
                "against each other row, by pairs of seeds as above, without the tenth",
            ),
            ("gains, fields of a run", "each seed by itself, and as many have to agree as for a limit"),
            ("≶ seeds overlap", "neither a comparison nor its contrary gets so far"),
            ("one seed", "as it is: there is nothing to agree with. So it is with published figures"),
            ("no finite error", "counts as the worst one"),
            ("many comparisons", "each is judged by itself: of a hundred, some pass by chance"),
        ],
        wide=True,
    )
    + "</div>"
)
