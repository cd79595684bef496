"""A solution is compared with a reference, and says in plain data what it is."""

import json

import jax
import numpy as np
import pytest

import hcpinn as hc
from hcpinn.checking import relative_errors
from hcpinn.descent import History, Stop
from hcpinn.machine.provenance import provenance
from solutions import HEAT, SOLUTION, SYSTEM, WAVE, heat_reference, make

# Errors


def test_errors_are_those_of_the_study():
    reference = heat_reference()
    v, u = SOLUTION.on_grid(reference.times, *reference.coordinates)["u"], reference.values["u"]
    rel_l2, rel_l1 = relative_errors(HEAT, {"u": v}, reference.values)
    assert rel_l2["u"] == pytest.approx(np.sqrt(np.sum((v - u) ** 2) / np.sum(u**2)), rel=1e-13)
    assert rel_l1["u"] == pytest.approx(np.sum(np.abs(v - u)) / np.sum(np.abs(u)), rel=1e-13)


def test_errors_of_complex_fields_are_given_for_both_parts_and_of_systems_for_all_fields():
    exact = np.array([1 + 2j, 3 - 4j])
    rel_l2, rel_l1 = relative_errors(WAVE, {"u": exact + np.array([0.1, 0.2j])}, {"u": exact})
    assert rel_l2 == pytest.approx({"real(u)": 0.1 / np.sqrt(10), "imag(u)": 0.2 / np.sqrt(20)})
    assert rel_l1 == pytest.approx({"real(u)": 0.1 / 4, "imag(u)": 0.2 / 6})
    fields = {"u": np.ones(3), "v": np.full(3, 2.0)}
    rel_l2, rel_l1 = relative_errors(SYSTEM, {"u": np.full(3, 1.5), "v": np.full(3, 2.5)}, fields)
    assert rel_l2 == pytest.approx({"u": 0.5, "v": 0.25})
    assert rel_l1 == pytest.approx({"u": 0.5, "v": 0.25})


def test_a_field_that_should_vanish_has_an_error_without_dividing_by_zero():
    fields = {"u": np.ones(3), "v": np.zeros(3)}
    for off in (0.0, 1e-3):
        for errors in relative_errors(SYSTEM, {"u": np.ones(3), "v": np.full(3, off)}, fields):
            assert errors["u"] == 0
            assert np.isfinite(errors["v"])
            assert (errors["v"] == 0) == (off == 0)


def test_a_part_that_vanishes_is_measured_by_its_field_and_in_any_units():
    for unit in (1e-8, 1.0, 1e8):
        exact = unit * np.array([1.0 + 0j, -1.0])
        rel_l2, _ = relative_errors(WAVE, {"u": exact + 1e-4j * unit}, {"u": exact})
        assert rel_l2["imag(u)"] == pytest.approx(1e-3)
        fields = {"u": unit * np.ones(3), "v": np.zeros(3)}
        rel_l2, _ = relative_errors(SYSTEM, {"u": unit * np.ones(3), "v": np.full(3, 1e-4 * unit)}, fields)
        assert rel_l2["v"] == pytest.approx(1e-4)


def test_solving_with_a_reference_gives_the_errors_against_it():
    reference = heat_reference()
    stages = (hc.Adam(steps=10, rate=1e-2),)
    method = hc.Method(embedding=hc.Fourier(1), network=hc.MLP(6, 1), points=128, stages=stages)
    solution = hc.solve(HEAT, method, reference=reference, accuracy=10.0)
    predicted = solution.on_grid(reference.times, *reference.coordinates)
    rel_l2, rel_l1 = relative_errors(HEAT, predicted, reference.values)
    assert (solution.rel_l2, solution.rel_l1) == (rel_l2, rel_l1)
    assert solution.verdict.converged
    assert solution.verdict.error == rel_l2["u"]


# Facts


def test_the_summary_is_plain_data_with_all_that_was_promised():
    solution = make(rel_l2={"u": 0.5}, rel_l1={"u": 0.4}, reference=heat_reference(), provenance=provenance())
    summary = json.loads(json.dumps(solution.summary(), allow_nan=False))
    promised = {"problem", "method", "seed", "rel_l2", "rel_l1", "verdict", "stop_reason", "steps", "wall_s"}
    assert promised | {"device", "versions", "estimated_error"} <= set(summary)
    assert summary["problem"] == "heat"
    assert summary["rel_l2"] == {"u": 0.5}
    assert summary["steps"] == 30
    assert summary["final_loss"] == pytest.approx(1e-3)
    assert summary["versions"]["hcpinn"] == hc.__version__
    assert summary["versions"]["jax"] == jax.__version__
    assert summary["kernels"] == "by rule"
    assert summary["stop_reason"] == Stop.BUDGET.value


@pytest.mark.parametrize("error", [np.nan, np.inf])
def test_the_summary_stays_readable_by_others_when_an_error_is_no_number(error):
    broken = make(
        rel_l2={"u": error},
        rel_l1={"u": error},
        verdict=hc.Verdict("not converged", error, ()),
        history=History(np.array([np.nan, np.inf]), (("Adam", 2),)),
    )
    json.dumps(broken.summary(), allow_nan=False)


def test_a_solution_shows_what_it_is():
    assert repr(SOLUTION) == f"Solution of heat by custom (seed 0): {SOLUTION.verdict}"
