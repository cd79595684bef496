"""Tables of studies: which runs stand in which row, what the figures are, and how they are written."""

import csv
import dataclasses
import io

import pytest

from hcpinn.catalog import find_method, find_problem
from hcpinn.papers.hao2026.ablation import ABLATION
from hcpinn.papers.hao2026.explanations import explanations
from hcpinn.papers.hao2026.published import published_rows
from hcpinn.papers.hao2026.reproduced_tables import own_rows, read_tables
from hcpinn.study.rows import Spread
from hcpinn.trial import Fourier
from recorded import record


def table(records, name):
    return next(table for table in read_tables(records) if table.name == name)


def row(records, name, method, **parameters):
    rows = [r for r in table(records, name).rows if r.method == method and dict(r.parameters) == parameters]
    (found,) = rows
    return found


def test_every_published_row_is_there_run_or_not():
    tables = {t.name: t for t in read_tables([])}
    for published in published_rows():
        rows = [
            r for r in tables[published.table].rows
            if (r.problem, r.method, r.parameters) == (published.problem, published.method, published.parameters)
        ]  # fmt: skip
        assert [r.published for r in rows] == [published.figures]
    assert not any(t.run for t in tables.values())


def test_experiments_have_a_table_once_one_was_made_with_the_rows_they_are_about():
    own = record("allen-cahn-1", "pbc+ic1", 1e-3)
    assert "explanation kink" not in [t.name for t in read_tables([own])]
    tried = next(run.method for run in explanations().runs if run.method.name == "pbc+ic1, C = 10")
    found = table([own, record("allen-cahn-1", tried, 5e-4)], "explanation kink")
    assert {r.method for r in found.rows if r.done} == {"pbc+ic1", "pbc+ic1, C = 10"}
    assert "m" not in [column.title for column in found.columns]


def test_an_experiment_on_the_budget_is_no_deviating_run_of_its_row():
    tried = next(run.method for run in explanations().runs if run.method.name == "pbc+ic2, L-BFGS × 4")
    records = [record("cahn-hilliard", method, 1e-3) for method in ("pbc+ic2", tried)]
    records.append(record("cahn-hilliard", "pbc+ic2", 0.5, steps=[100, 10]))
    (own, short) = (r for r in table(records, "ablation cahn-hilliard").rows if r.done)
    assert (own.records, own.deviations) == (tuple(records[:1]), ())
    assert short.deviations == ("steps 100 + 10 instead of 50,000 + 5,000",)
    found = [r for r in table(records, "explanation seeds").rows if r.done]
    assert [(r.method, r.records) for r in found if not r.deviations] == [
        ("pbc+ic2", tuple(records[:1])),
        ("pbc+ic2, L-BFGS × 4", tuple(records[1:2])),
    ]


def test_the_studys_own_rows_are_neither_rivals_nor_experiments():
    experiments = (run.method for run in explanations().runs if run.problem.name == "allen-cahn-2")
    tried = next(method for method in experiments if not ABLATION.fits(method.name))
    methods = ["pbc+ic1", "causal-50k", "expert", tried]
    records = [record("allen-cahn-2", method, 1e-3) for method in methods]
    assert {r.method for r in own_rows(read_tables(records)) if r.done} == {"pbc+ic1"}


def test_figures_are_means_over_seeds_and_ratios_compare_with_the_published_figure():
    errors = [1e-2, 2e-2, 6e-2]
    found = row(
        [record("advection", "paper", e, l1=e / 2, seed=i, c=40, horizon=0.5) for i, e in enumerate(errors)],
        "advection by speed", "paper", c=40.0, horizon=0.5,
    )  # fmt: skip
    spread = found.found("rel_l2")
    assert (spread.mean, spread.median, spread.low, spread.high) == pytest.approx((3e-2, 2e-2, 1e-2, 6e-2))
    assert found.ratio("rel_l2") == pytest.approx(3e-2 / 0.0159)
    assert found.ratio("rel_l1") == pytest.approx(1.5e-2 / 0.0141)
    assert found.runs == "3 of 10"


def test_expert_stands_below_the_studys_best_row_in_the_same_measure():
    records = [
        record("gray-scott", "pbc+ic2+sa+mb", {"u": 1e-4, "v": 5e-4}),
        record("gray-scott", "expert", {"u": 1e-8, "v": 4e-7}),
    ]
    found = table(records, "expert")
    best, own = (r for r in found.rows if r.problem == "gray-scott")
    assert (best.method, own.method) == ("pbc+ic2+sa+mb", "expert")
    assert best.published == own.published == {"rel_l2": 8.46e-4}  # of both fields the larger error
    assert best.ratio("rel_l2") == pytest.approx(5e-4 / 8.46e-4)
    assert own.ratio("rel_l2") == pytest.approx(4e-7 / 8.46e-4)
    assert sum(r.method == "expert" for r in found.rows) == len({r.problem for r in found.rows}) == 9


def test_one_training_stands_in_every_table_it_belongs_to():
    records = [record("allen-cahn-1", "paper", 1e-3)]
    assert row(records, "ablation allen-cahn-1", "pbc+ic1+sa").done == records
    assert table(records, "comparison").rows[2].done == records
    assert [r.done for r in table(records, "modes allen-cahn-1").rows if r.modes == 10] == [records]
    speeds = [record("advection", "pbc+ic1+sa", 0.1, horizon=0.5)]
    assert row(speeds, "advection by speed", "paper", c=60.0, horizon=0.5).done == speeds
    assert not row(speeds, "advection by speed", "paper", c=50.0, horizon=0.5).records
    longer = [record("advection", "pbc+ic1+sa", 0.1)]
    assert not row(longer, "advection by speed", "paper", c=60.0, horizon=0.5).records


def test_runs_at_another_budget_are_told_apart():
    own, small = (
        record("allen-cahn-1", "pbc+ic1", 1e-3),
        record("allen-cahn-1", "pbc+ic1", 0.5, steps=(20, 10)),
    )
    first, second = (r for r in table([small, own], "ablation allen-cahn-1").rows if r.method == "pbc+ic1")
    assert (first.done, first.deviations) == ([own], ())
    assert (second.done, second.deviations) == ([small], ("steps 20 + 10 instead of 50,000 + 5,000",))
    (only,) = (r for r in table([small], "ablation allen-cahn-1").rows if r.method == "pbc+ic1")
    assert only.deviations


def test_other_modes_and_other_parameters_are_no_runs_of_a_row():
    paper = find_method("paper", find_problem("allen-cahn-1"))
    sweep = record("allen-cahn-1", dataclasses.replace(paper, name="m=5", embedding=Fourier(5)), 1e-3)
    stiff = record("allen-cahn-1", "pbc+ic1", 1e-3, gamma1=2e-4)
    records = [sweep, stiff]
    assert not table(records, "ablation allen-cahn-1").run
    assert [r.modes for r in table(records, "modes allen-cahn-1").rows if r.done] == [5]
    assert [r.done for r in table(records, "others").rows] == [[stiff]]


def test_failed_runs_and_lost_errors_are_shown_as_such():
    broken = record("allen-cahn-1", "pbc", seed=1, reason="The loss became infinite.")
    lost = record("allen-cahn-1", "baseline")
    shown = table([broken, lost], "ablation allen-cahn-1").markdown().splitlines()
    (failed,) = [line for line in shown if line.startswith("| pbc |")]
    assert "| failed |" in failed
    assert "0 of 3, 1 failed" in failed
    assert "The loss became infinite." in failed
    (unknown,) = [line for line in shown if line.startswith("| baseline |")]
    assert "no figure" in unknown
    assert "no error known for seed 0" in unknown
    assert any("not yet run" in line for line in shown)


def test_fields_parts_and_times_are_found_by_the_names_of_the_published_figures():
    gray = row([record("gray-scott", "pbc+ic1", {"u": 1e-3, "v": 2e-3})], "ablation gray-scott", "pbc+ic1")
    assert (gray.found("rel_l2_u").mean, gray.found("rel_l2_v").mean) == (1e-3, 2e-3)
    waves = record("schrodinger", "pbc", {"real(u)": 0.1, "imag(u)": 0.2})
    assert row([waves], "ablation schrodinger", "pbc").found("rel_l2_imag") == Spread((0.2,))
    plane = record("allen-cahn-2d", "paper", 1e-3, at={"t=0.5": {"u": 1e-4}, "t=1": {"u": 3e-4}})
    (flat,) = table([plane], "two dimensions").rows
    assert flat.found("rel_l2 at t=1").mean == 3e-4
    assert flat.ratio("rel_l2 at t=0.5") == pytest.approx(1e-4 / 8.04e-5)


def test_csv_has_all_digits_and_markdown_and_latex_have_every_row():
    error = 0.00123456789
    shown = table(
        [record("allen-cahn-2", "pbc", error, l1=error, seed=s) for s in (0, 1)], "ablation allen-cahn-2"
    )
    lines = list(csv.DictReader(io.StringIO(shown.csv())))
    (line,) = [line for line in lines if line["method"] == "pbc"]
    assert float(line["L2 ours"]) == float(line["L2 median"]) == error
    assert float(line["L2 ours / published"]) == error / 0.999
    assert len(lines) == len(shown.rows) == shown.markdown().count("\n") - 2
    assert shown.latex().count(r" \\") == len(shown.rows) + 1
    assert r"$1.23\times 10^{-3}$" in shown.latex()


def test_a_row_of_several_seeds_shows_the_published_figure_ours_with_its_spread_their_ratio_and_the_seeds():
    records = [
        record("allen-cahn-2", "pbc", error, l1=0.5, seed=s) for s, error in enumerate((0.2, 0.3, 0.7))
    ]
    shown = table([*records, record("allen-cahn-2", "sa", 0.1, l1=0.1)], "ablation allen-cahn-2")
    head, _, *lines = shown.markdown().splitlines()
    assert head.startswith(
        "| method | L2 published | L2 ours | L2 min–max | L2 ours / published | L1 published"
    )
    (several,) = [line for line in lines if line.startswith("| pbc |")]
    assert several.startswith("| pbc | 0.999 | 0.400 | 0.200 – 0.700 | 0.40 |")
    assert several.endswith("| 3 | not converged | 120 |")
    (single,) = [line for line in lines if line.startswith("| sa |")]
    assert single.startswith("| sa | 0.402 | 0.100 | – | 0.25 |")
    assert single.endswith("| 1 of 3 | not converged | 120 |")
    assert "Ours: the mean over the seeds, the smallest and the largest value}" in shown.latex()
    (line,) = [line for line in csv.DictReader(io.StringIO(shown.csv())) if line["method"] == "pbc"]
    assert (line["L2 median"], line["L2 low"], line["L2 high"], line["seeds"]) == ("0.3", "0.2", "0.7", "3")
