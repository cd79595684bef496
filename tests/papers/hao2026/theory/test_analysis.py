"""What kernels say about the explanation by conditioning, and the command that writes everything down."""

import dataclasses
import json

import jax.numpy as jnp
import pytest
from typer.testing import CliRunner

import hcpinn as hc
from equations import LINEAR, method
from hcpinn.cli.commands import app
from hcpinn.errors import MethodError
from hcpinn.papers.hao2026.theory import Indicators, analyse, choices, compare_indicators
from hcpinn.papers.hao2026.theory.stored import markdown_table, row_cells, table_rows

INDICATORS = Indicators(
    rows=100,
    shares={"residual": 0.5, "initial": 0.5},
    unscaled_shares={"residual": 0.5, "initial": 0.5},
    largest=1.0,
    condition=1e6,
    rank=100,
    effective_rank=5.0,
    spread=100.0,
    loss_left=(1.0, 0.9, 0.5, 0.2, 0.1),
    initial_left=None,
    errors=(1.0,) * 5,
)
UNEVEN = {"residual": 0.99, "initial": 0.01}


def varied(**changes):
    return dataclasses.replace(INDICATORS, **changes)


@pytest.mark.parametrize(
    ("soft", "hard", "status"),
    [
        (varied(shares=UNEVEN), varied(spread=10.0, errors=(1.0, *[0.1] * 4)), "borne out"),
        (varied(shares=UNEVEN), varied(), "in part"),
        (varied(), varied(spread=10.0), "in part"),
        (
            varied(),
            varied(errors=(0.1,) * 5),
            "not borne out",
        ),  # a lower error that training did not bring about
        (varied(), varied(spread=1000.0, errors=(1.0, *[9.0] * 4)), "not borne out"),
        (varied(shares=UNEVEN, errors=None), varied(spread=10.0, errors=None), "borne out"),
    ],
)
def test_the_explanation_is_judged_by_balance_conditioning_and_error(soft, hard, status):
    found = compare_indicators([(soft, hard)])
    assert found.status == status
    assert len(found.reasons) == (2 if soft.errors is None else 3)
    assert (found.goes_further is None) == (soft.errors is None)


def test_the_median_over_seeds_decides():
    good = (varied(shares=UNEVEN), varied(spread=10.0, errors=(1.0, *[0.1] * 4)))
    bad = (varied(), varied(spread=1000.0, errors=(1.0, *[9.0] * 4)))
    assert compare_indicators([good, good, bad]).status == "borne out"
    assert compare_indicators([good, bad, bad]).status == "not borne out"
    with pytest.raises(MethodError, match="at least one seed"):
        compare_indicators([])


def test_hcpinn_theory_writes_numbers_and_figures_and_does_nothing_twice(tmp_path, monkeypatch):
    monkeypatch.setattr(choices, "standard_choices", lambda problem: [(hc.Decay(1.0), hc.LinearGate())])
    tiny = tmp_path / "tiny.toml"
    hc.save_method(method(LINEAR["advection"], network=hc.MLP(4, 1)), tiny)
    command = ["theory", "advection", "--set", "c=3", "--method", str(tiny), "--points", "16", "--seeds", "1"]
    command += ["--steps", "12", "--along", "2", "--out", str(tmp_path / "out")]
    outcome = CliRunner().invoke(app, command)
    assert outcome.exit_code == 0, outcome.output
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {
        "theory.json",
        *(f"{n}.png" for n in ("spectra", "balance", "decay", "modes", "hessian", "choices")),
    }
    path = tmp_path / "out" / "theory.json"
    summary = json.loads(path.read_text())
    assert summary["problem"] == "advection"
    assert summary["parameters"] == {"c": 3.0}
    assert summary["linear"]
    assert len(summary["by_seed"]) == 1
    assert [s["steps"] for s in summary["soft"]["along_training"]] == [0, 2]
    assert summary["hard"]["along_training"][1]["drift"] > 0
    assert summary["soft"]["decay"]["steps"] == [1, 2, 5, 10, 12]
    assert summary["hessian_bounds"]["hard_norm"] <= summary["hessian_bounds"]["hard_bound"]
    assert summary["consistency"]["residual"] < 1e-11
    assert set(summary["versions"]) >= {"hcpinn", "jax"}
    (row,) = table_rows([summary])
    assert row["soft"]["condition"] > 1
    assert row_cells(row)[-1] == summary["findings"]["status"]
    assert markdown_table([row]).count("\n") == 3
    stamp = path.stat().st_mtime_ns
    assert CliRunner().invoke(app, command).exit_code == 0
    assert path.stat().st_mtime_ns == stamp


def test_budgets_that_make_no_sense_are_refused():
    problem = LINEAR["advection"]
    with pytest.raises(MethodError, match="at least 1"):
        analyse(problem, method(problem), points=0)
    outcome = CliRunner().invoke(app, ["theory", "advection", "--along", "ten"])
    assert isinstance(outcome.exception, MethodError)
    outcome = CliRunner().invoke(app, ["theory", "all", "--set", "c=3"])
    assert isinstance(outcome.exception, MethodError)


def test_a_custom_problem_with_sloped_walls_and_a_late_start_is_analysed():
    problem = hc.Problem(
        name="insulated rod",
        domain=hc.Interval(0, 1),
        start=1.0,
        horizon=2.0,
        boundary=hc.Neumann(0.0),
        rhs=lambda u: 0.1 * u.xx - u**3,
        initial=lambda x: jnp.cos(jnp.pi * x),
    )
    small = method(problem, network=hc.MLP(4, 1))
    found = analyse(problem, small, points=16, seeds=1, steps=2, along=(), reference=False)
    assert set(found.soft.indicators.shares) == {"residual", "initial", "boundary"}
    assert set(found.hard.indicators.shares) == {"residual", "boundary"}
    assert found.consistency.residual < 1e-11
    assert not found.linear
