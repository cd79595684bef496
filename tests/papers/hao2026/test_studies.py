"""The paper's studies: every row of its tables, and experiments on them."""

import dataclasses

import pytest

import hcpinn as hc
from hcpinn.catalog import find_method
from hcpinn.descent import to_dict
from hcpinn.errors import HcpinnError
from hcpinn.papers.hao2026.claims import CLAIMS
from hcpinn.papers.hao2026.findings import Evidence
from hcpinn.papers.hao2026.published import published_rows, tables
from hcpinn.papers.hao2026.studies import MODES, labelled_rows, paper
from hcpinn.study import find_study, named_studies
from hcpinn.study.cost import LARGEST
from hcpinn.study.groups import grouped


@pytest.fixture(scope="module")
def whole():
    return paper()


def published(section):
    """For each run of a section the published row, or None."""
    rows = labelled_rows(section.name)
    return [rows.get(label) for label in section.labels]


def test_the_paper_is_there_row_by_row(whole):
    beside = {
        (row.table, row.problem, row.method, tuple(row.parameters.items()))
        for section in whole.sections
        for row in published(section)
        if row
    }
    for row in published_rows():
        if row.method not in ("causal", "rba"):  # quoted from elsewhere, at six times the budget
            assert (row.table, row.problem, row.method, tuple(row.parameters.items())) in beside
    for section in whole.sections:
        for run, row in zip(section.runs, published(section), strict=True):
            if row is not None:
                assert dict(run.problem.parameters) == dict(row.declare().parameters)
                assert run.method == row.train()


def test_sections_have_the_size_of_the_tables(whole):
    sizes = {section.name: len(section.runs) for section in whole.sections}
    for table, entries in tables()["ablation"].items():
        assert sizes[f"ablation {table}"] == 3 * len(entries)
    assert sizes["advection by speed"] == 3 * 4 * 10
    assert sizes["comparison"] == 3 * 12
    assert sizes["two dimensions"] == sizes["Dirichlet"] == 3
    assert sizes["modes allen-cahn-1"] == sizes["modes allen-cahn-2"] == 3 * len(MODES)
    assert sizes["expert"] == 9


def test_every_row_that_carries_a_claim_has_three_seeds(whole):
    asked = set()

    class Recording(Evidence):
        def row(self, problem, method, /, **parameters):
            asked.add((problem, method, tuple(sorted(parameters.items()))))

        def modes(self, problem):
            asked.update((problem, f"m={count}", ()) for count in MODES)
            return {}

    for claim in CLAIMS:
        claim.cases(Recording({}, lambda row, name: None))
    seeds = {}
    for section in whole.sections:
        for run, row in zip(section.runs, published(section), strict=True):
            name, parameters = (row.method, row.parameters) if row else (run.method.name, {})
            if section.name != "expert":
                key = (run.problem.name, name, tuple(sorted(parameters.items())))
                seeds.setdefault(key, set()).add(run.seed)
    originals = {key for key in asked if key[1] in ("causal", "rba")}
    assert len(originals) == 3
    assert asked - originals == set(seeds)
    assert all(found >= {0, 1, 2} for found in seeds.values())
    assert {key[1] for key, found in seeds.items() if len(found) == 10} >= {"paper", "cinn", "baseline"}


def test_the_seeds_of_a_row_train_together(whole):
    groups = grouped(whole.wanted, whole.wanted, size=lambda runs: LARGEST)
    home = {key: number for number, group in enumerate(groups) for key in group.keys}
    for section in whole.sections:
        if section.name != "advection by speed":  # ten seeds at four speeds are more than a group holds
            rows = {}
            for label, key in zip(section.labels, section.keys, strict=True):
                rows.setdefault(label, set()).add(home[key])
            assert all(len(found) == 1 for found in rows.values()), section.name


def test_a_row_that_two_tables_share_is_trained_once(whole):
    keys = {
        section.name: dict(zip(section.labels[::-1], section.keys[::-1], strict=True))
        for section in whole.sections
    }
    best = keys["ablation allen-cahn-1"]["pbc+ic1+sa"]
    assert keys["modes allen-cahn-1"]["m = 10"] == best
    assert keys["comparison"]["allen-cahn-1, paper"] == best
    assert len(whole.wanted) < len(whole.runs)


def test_a_part_of_a_study_is_taken_by_the_names_of_problems_and_methods():
    whole = find_study("ablation")
    part = whole.only(problems=["cahn-hilliard", "allen-cahn-*"], methods=["pbc+ic2*", "sa"])
    assert [section.name for section in part.sections] == [
        f"ablation {name}" for name in ("allen-cahn-1", "allen-cahn-2", "cahn-hilliard")
    ]
    assert {run.method.name for run in part.runs} == {"pbc+ic2", "pbc+ic2+sa", "sa"}
    assert set(part.wanted) < set(whole.wanted)
    for section in part.sections:
        assert all(row.method == label for row, label in zip(published(section), section.labels, strict=True))
    assert whole.only() == whole
    speeds = find_study("advection-by-speed").only(methods=["paper"])
    assert {row.method for section in speeds.sections for row in published(section)} == {"paper"}


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ({"problems": ["cahn-hillard"]}, "no problem 'cahn-hillard' of the study .* Did you mean 'cahn-h"),
        ({"methods": ["pbc+ic3*"]}, "no method 'pbc\\+ic3\\*' of the study 'ablation'"),
        ({"problems": ["gray-scott"], "methods": ["pbc+sa"]}, "no run of such a problem with such a method"),
    ],
)
def test_a_part_that_is_not_there_is_answered_in_a_sentence(names, words):
    with pytest.raises(HcpinnError, match=words):
        find_study("ablation").only(**names)


def test_every_study_can_be_declared_and_says_what_it_is():
    for name, make in named_studies().items():
        assert (make.__doc__ or "").strip()
        if name not in ("paper", "expert"):
            assert find_study(name).runs
    assert {run.method.name for run in find_study("comparison-originals").runs} == {"causal", "rba"}


def test_explanations_differ_from_rows_of_the_study_in_what_they_are_about_alone():
    sections = find_study("explanations").sections
    for section in sections:
        own = [run for run in section.runs if "," not in run.method.name]
        assert all(run.method == find_method(run.method.name, run.problem) for run in own)
        assert own
    kink, diffusivity, slopes, modes, seeds, waves, plane, horizon, crossing = (
        [run for run in part.runs if "," in run.method.name] for part in sections
    )
    for run in kink:
        row = find_method("pbc+ic1", run.problem)
        assert dataclasses.replace(run.method, name=row.name, lift=row.lift) == row
        assert run.method.lift != row.lift
    for run in slopes:
        row = find_method(run.method.name.partition(",")[0], run.problem)
        changed = [name for name, value in to_dict(row).items() if to_dict(run.method)[name] != value]
        assert changed == ["name", "penalties"]
        assert [p.order for p in run.method.penalties if isinstance(p, hc.PeriodicPenalty)] == [1]
    for run in crossing:
        row = find_method(run.method.name.partition(",")[0], run.problem)
        changed = [name for name, value in to_dict(row).items() if to_dict(run.method)[name] != value]
        assert changed == ["name", "penalties"]
        assert run.problem.horizon == 0.5
        assert [p.weight for p in run.method.penalties if isinstance(p, hc.PeriodicPenalty)] == [100.0]
    for run in modes + waves:
        row = find_method(run.method.name.partition(",")[0], run.problem)
        changed = [name for name, value in to_dict(row).items() if to_dict(run.method)[name] != value]
        assert changed == ["name", "embedding"]
        assert run.method.embedding in (hc.Fourier(1), hc.Fourier(10))
    for run in seeds:
        row = find_method(run.method.name.partition(",")[0], run.problem)
        changed = [name for name, value in to_dict(row).items() if to_dict(run.method)[name] != value]
        assert changed in (["name", "stages"], ["name", "points"], ["name", "resampling"])
    assert {tuple(stage.steps for stage in run.method.stages) for run in seeds} == {
        (50_000, 5_000),
        (50_000, 20_000),
        (150_000, 5_000),
    }
    assert {run.method.points for run in seeds} == {16_384, 65_536}
    for run in plane:
        row = find_method("paper", run.problem)
        changed = [name for name, value in to_dict(row).items() if to_dict(run.method)[name] != value]
        assert changed in (["name", "embedding"], ["name", "windows", "stages"])
    for run in diffusivity:
        row = find_method(run.method.name.partition(",")[0], run.problem)
        assert dataclasses.replace(run.method, name=row.name) == row
        assert run.problem.parameters["gamma1"] == 1e-4
    for run in horizon:
        assert run.problem == hc.find_problem("advection")
        row = find_method(run.method.name.partition(",")[0], run.problem)
        changed = {name for name, value in to_dict(row).items() if to_dict(run.method)[name] != value}
        assert changed <= {"name", "embedding"}
