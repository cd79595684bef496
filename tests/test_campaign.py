"""The campaign of `make trust` draws the same problems for the same seed, and counts what must not happen."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="this copy has no benchmarks")


@pytest.fixture
def campaign(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import campaign

    return campaign


def result(status, **found):
    return {"kind": "drawn", "name": "one", "status": status, "wall_s": 1.0, "cpu_s": 1.0, **found}


@pytest.mark.parametrize(
    ("found", "what"),
    [
        (result("converged", true=5e-4, stop="ACCURACY"), ""),
        (result("converged", true=5e-3, stop="ACCURACY"), "falsely converged"),
        (result("converged", true=None, stop="ACCURACY"), "falsely converged"),
        (result("suspect", true=5e-4, stop="ACCURACY"), "stop contradicts verdict"),
        (result("converged", true=5e-4, stop="STUCK", failed=True), "stop contradicts verdict"),
        (result("refused"), ""),
        (result("hang"), "hang"),
        (result("raw error"), "raw error"),
        (result("told otherwise"), "not told"),
        (result("exit 0", wrongly="exit code 139"), "exit code 139"),
    ],
)
def test_what_must_not_happen_is_noticed(campaign, found, what):
    assert campaign.wrong(found) == what


def test_the_tally_counts_good_solutions_and_those_recognised(campaign):
    good, unknown = result("converged", true=1e-5, stop="ACCURACY"), result("suspect", true=2e-4, stop="TIME")
    counts = campaign.tally([good, unknown, result("not converged", true=0.3, stop="RANK")])
    assert (counts["runs"], counts["good"], counts["recognised"], counts["false"]) == (3, 2, 1, 0)


def test_a_seed_decides_what_is_drawn(campaign):
    from declared import declarations, truth_of

    first = declarations(5, 12)
    declarations.cache_clear()
    assert first == declarations(5, 12)
    assert first != declarations(6, 12)
    for declaration in first[::4]:
        truth = truth_of(declaration)
        assert truth.problem.horizon == declaration["horizon"]


@pytest.mark.parametrize("code", ["ENOSPC", "ESTALE"])
def test_a_fault_is_answered_by_a_sentence_and_costs_nothing(campaign, code):
    import errno

    import faults

    own = faults.scene("a report")
    outcomes = [
        faults.injected("a report", at, getattr(errno, code))
        for at in range(0, sum(own.operations.values()), 3)
    ]
    assert not [found for found in outcomes if found["status"] == "raw error" or found.get("wrongly")]
    assert {found["status"] for found in outcomes} >= {"told"}
