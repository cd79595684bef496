"""A solution is called converged only on independent evidence."""

import itertools

import numpy as np
import pytest

from hcpinn import Reference, Verdict
from hcpinn.checking.verdict import judge
from hcpinn.descent import Stop


def reference(error_estimate=1e-8):
    x = np.linspace(-1, 1, 3)
    return Reference(
        problem_name="problem",
        times=np.linspace(0, 1, 2),
        coordinates=(x,),
        values={"u": np.zeros((2, 3))},
        error_estimate=error_estimate,
        solver="a classical solver",
    )


def verdict(**changes):
    """The verdict on a good solution, with changes to the evidence."""
    evidence = {
        "stop": Stop.BUDGET,
        "accuracy": 1e-2,
        "errors": {"u": 1e-3},
        "reference": reference(),
        "residual_trained": 1e-3,
        "residual_fresh": 1.1e-3,
    }
    return judge(**{**evidence, **changes})


def test_an_error_within_the_accuracy_is_converged_and_says_how_good_the_reference_is():
    good = verdict()
    assert good.converged
    assert good.status == "converged"
    assert good.error == 1e-3
    assert "relative L2 error about 1.0e-03" in str(good)
    assert "good to 1e-08" in str(good)


def test_the_worst_field_counts():
    errors = {"u": 1e-6, "v": 3e-3, "w": 2e-4}
    assert verdict(errors=errors).error == 3e-3
    assert verdict(errors=errors).converged
    assert not verdict(errors={**errors, "v": 3e-2}).converged


@pytest.mark.parametrize(
    ("error", "converged"), [(0.0, True), (1e-2, True), (1.001e-2, False), (np.inf, False)]
)
def test_the_accuracy_asked_for_is_the_border(error, converged):
    assert verdict(errors={"u": error}).converged is converged


@pytest.mark.parametrize("names", list(itertools.permutations("uv")))
def test_an_error_that_is_not_a_number_is_never_converged(names):
    errors = dict(zip(names, (1e-6, float("nan")), strict=True))
    assert not verdict(errors=errors).converged


def test_too_large_an_error_says_what_to_do():
    bad = verdict(errors={"u": 0.3})
    assert bad.status == "not converged"
    assert bad.error == 0.3
    assert "above the accuracy asked for (1e-02): train longer" in str(bad)


@pytest.mark.parametrize("stop", list(Stop))
@pytest.mark.parametrize("residual", [0.0, 1e-12, 1e-3])
def test_without_a_reference_nothing_is_converged_however_small_the_residual(stop, residual):
    blind = verdict(
        stop=stop,
        errors=None,
        reference="nobody computed one",
        residual_trained=residual,
        residual_fresh=residual,
    )
    assert not blind.converged
    assert blind.error is None
    assert blind.status == ("not converged" if stop.failed else "suspect")
    assert "nobody computed one" in str(blind)
    assert "no error figure" in str(blind)


def test_a_residual_that_hides_between_the_points_makes_an_error_suspect_and_is_named():
    hidden = verdict(errors={"u": 0.5}, residual_trained=1e-5, residual_fresh=1e-2)
    assert hidden.status == "suspect"
    assert "take more points" in str(hidden)
    blind = verdict(errors=None, reference="none", residual_trained=1e-5, residual_fresh=1e-2)
    assert blind.status == "suspect"
    assert "take more points" in str(blind)


def test_a_small_error_is_not_claimed_beyond_the_reference():
    modest = verdict(errors={"u": 1e-5}, reference=reference(2e-3))
    assert modest.converged
    assert modest.error == 2e-3
    assert "only good to 2.0e-03" in str(modest)
    exact = verdict(errors={"u": 1e-16}, reference=reference(2e-16))
    assert (exact.converged, exact.error) == (True, 2e-16)
    assert "larger than it seems" not in str(exact)


@pytest.mark.parametrize("estimate", [2e-2, np.inf, np.nan])
def test_a_reference_worse_than_the_accuracy_proves_nothing(estimate):
    assert not verdict(errors={"u": 1e-5}, reference=reference(estimate)).converged


@pytest.mark.parametrize("stop", [s for s in Stop if s.failed])
def test_a_breakdown_is_always_mentioned(stop):
    assert stop.value in str(verdict(stop=stop, errors={"u": 0.5}))
    assert stop.value in str(verdict(stop=stop, errors=None, reference="none"))


def test_only_the_status_converged_counts_as_converged():
    assert Verdict("converged", 0.0, ()).converged
    assert not Verdict("suspect", 0.0, ()).converged
    assert not Verdict("not converged", None, ()).converged


@pytest.mark.parametrize(
    ("unseen", "words"),
    [({"at_start": 0.02}, "Right after the start"), ({"between": 0.05}, "wiggles by 5e-02")],
)
def test_what_the_comparison_cannot_see_makes_a_small_error_suspect(unseen, words):
    found = verdict(**unseen)
    assert found.status == "suspect"
    assert found.error == max(unseen.values())
    assert words in str(found)
    assert verdict(**unseen, errors={"u": 1e-9}).status == "suspect"  # however good the rest
    assert verdict(**dict.fromkeys(unseen, 0.0001)).converged
