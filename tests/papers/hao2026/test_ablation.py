"""The study's tables: every row has its figures, and a problem and a method that reproduce it."""

import dataclasses
import functools
import json
from collections import Counter
from pathlib import Path

import jax.numpy as jnp
import pytest

import hcpinn as hc
from declarations import declare, declare_dirichlet
from hcpinn.catalog import ENTRIES
from hcpinn.descent import Preparation
from hcpinn.errors import MethodError
from hcpinn.objective import check_penalties
from hcpinn.papers.hao2026.ablation import SWITCHES, row
from hcpinn.papers.hao2026.published import published_rows, tables
from hcpinn.trial import make_trial

ROWS = published_rows()
FIGURES = json.loads((Path(hc.__file__).parent / "papers" / "hao2026" / "published.json").read_text("utf-8"))


def test_every_row_of_every_table_is_there():
    tables_of = Counter(r.table for r in ROWS)
    assert len(ROWS) == 113
    assert tables_of == {
        "ablation allen-cahn-1": 12,
        "ablation allen-cahn-2": 12,
        "ablation kuramoto-sivashinsky": 12,
        "ablation cahn-hilliard": 12,
        "ablation gray-scott": 14,
        "ablation schrodinger": 14,
        "ablation advection-c60": 8,
        "advection by speed": 12,
        "comparison": 15,
        "two dimensions": 1,
        "Dirichlet": 1,
    }
    assert len({(r.table, r.problem, r.method, tuple(r.parameters.items())) for r in ROWS}) == 113


def test_the_figures_are_those_of_the_file():
    assert tables() == FIGURES
    published = Counter(value for r in ROWS for value in r.figures.values() if isinstance(value, float))
    assert published == Counter(_numbers(FIGURES))


def _numbers(data, key=""):
    """Every figure in the file: numbers other than the speeds of advection."""
    if isinstance(data, dict):
        for name, value in data.items():
            yield from _numbers(value, name)
    elif isinstance(data, list):
        for value in data:
            yield from _numbers(value, key)
    elif isinstance(data, float) and key != "c":
        yield data


def found(table, method, problem=None, **parameters):
    """The one row of a table with this method."""
    [only] = [
        r
        for r in ROWS
        if r.table == table
        and r.method == method
        and problem in (None, r.problem)
        and parameters.items() <= dict(r.parameters).items()
    ]
    return only


@pytest.mark.parametrize(
    ("row", "figures"),
    [
        (found("ablation allen-cahn-1", "pbc+ic1+sa"), {"rel_l2": 0.000829, "rel_l1": 0.000534}),
        (found("ablation allen-cahn-2", "baseline"), {"rel_l2": 0.511, "rel_l1": 0.328}),
        (found("ablation gray-scott", "pbc+ic2+sa+mb"), {"rel_l2_u": 0.000205, "rel_l2_v": 0.000846}),
        (found("ablation schrodinger", "mb"), {"rel_l2_real": 0.066, "rel_l2_imag": 0.105}),
        (found("ablation advection-c60", "ic1+sa"), {"rel_l2": 0.0387, "rel_l1": 0.0547}),
        (found("advection by speed", "cinn", c=50.0), {"rel_l2": 0.5365, "rel_l1": 0.4692}),
        (found("comparison", "rba", "allen-cahn-1"), {"rel_l2": 5.7e-05}),
        (found("comparison", "causal-50k", "cahn-hilliard"), {"rel_l2": 0.349}),
        (found("two dimensions", "paper"), {"rel_l2 at t=0.5": 8.04e-05, "rel_l2 at t=1": 0.000133}),
        (found("Dirichlet", "paper"), {"rel_l2": 0.000505, "rel_l1": 0.000282}),
    ],
    ids=lambda case: f"{case.table} {case.method}" if hasattr(case, "table") else "",
)
def test_a_row_has_the_figures_that_stand_in_the_table(row, figures):
    assert dict(row.figures) == figures


# Problems and methods


def test_rows_are_of_their_tables_problem_with_its_parameters():
    for r in ROWS:
        problem = r.declare()
        table = r.table.removeprefix("ablation ")
        assert problem.name == (r.problem if table not in ENTRIES else table)
        changed = {
            k: v for k, v in problem.parameters.items() if ENTRIES[r.problem].problem.parameters.get(k) != v
        }
        assert changed.items() <= dict(r.parameters).items()
    assert found("ablation advection-c60", "pbc").declare().parameters["c"] == 60.0
    assert found("advection by speed", "paper", c=30.0, horizon=0.5).declare().parameters["c"] == 30.0
    # The rivals' own figures are those of their own problem, which is stiffer.
    assert found("comparison", "causal", "allen-cahn-1").declare().parameters["gamma1"] == 1e-4
    assert found("comparison", "causal-50k", "allen-cahn-1").declare().parameters["gamma1"] == 1e-3


@functools.cache
def fits(problem, lift, gate, embedding, penalties):
    parts = hc.Method(lift=lift, gate=gate, embedding=embedding, penalties=penalties)
    check_penalties(make_trial(problem, parts), penalties)
    return True


def test_every_row_has_a_method_whose_conditions_hold_exactly_or_by_a_penalty():
    problems = {}
    for r in ROWS:
        key = r.problem, tuple(r.parameters.items())
        problem = problems.setdefault(key, r.declare())
        method = r.train()
        assert method.name == r.method
        assert fits(problem, method.lift, method.gate, method.embedding, method.penalties)


def small(method):
    """The method with a small network and few points; mini-batches cut down alike."""
    batches = None if method.batches is None else hc.Batches(method.batches.count, 4)
    return dataclasses.replace(method, network=hc.MLP(4, 1), points=16, batches=batches)


@pytest.mark.parametrize(
    ("table", "method"),
    [
        ("ablation allen-cahn-1", "pbc+ic1+sa"),
        ("ablation allen-cahn-2", "sa"),
        ("ablation gray-scott", "mb"),
        ("ablation schrodinger", "pbc+ic1+sa+mb"),
        ("ablation advection-c60", "baseline"),
        ("two dimensions", "paper"),
        ("Dirichlet", "paper"),
    ],
)
def test_a_row_can_be_planned(table, method):
    r = found(table, method)
    chosen = small(r.train())
    preparation = Preparation([hc.Run(r.declare(), chosen)])
    assert [stage.label for stage in chosen.stages] == ["Adam", "L-BFGS"]
    prepared = preparation.prepare()
    wanted = ["residual", *(t.name for p in chosen.penalties for t in p.terms(r.declare()))]
    assert list(prepared.objective.terms) == wanted
    assert prepared.data.blocks["residual"].share.shape == (16,)


# Rows from their switches


PROTOCOL = hc.Method()


@pytest.mark.parametrize(
    "r", [r for r in ROWS if r.table.startswith("ablation")], ids=lambda r: f"{r.table} {r.method}"
)
def test_an_ablation_row_differs_from_the_protocol_by_its_switches_alone(r):
    method, on = r.train(), set(r.method.split("+")) - {"baseline"}
    assert on <= set(SWITCHES)
    lifted = on & {"ic1", "ic2"}
    modes = {"advection": 1, "cahn-hilliard": 2, "schrodinger": 3}.get(r.problem, 10)
    assert method.embedding == (hc.Fourier(modes) if "pbc" in on else hc.Plain())
    assert method.lift == (hc.Decay({"ic1": 1.0, "ic2": 0.1}[lifted.pop()]) if lifted else hc.NoLift())
    assert method.gate == (hc.NoGate() if isinstance(method.lift, hc.NoLift) else hc.LinearGate())
    assert method.weights == (hc.SelfAdaptive() if "sa" in on else None)
    assert method.batches == (hc.Batches(5, 3280) if "mb" in on else None)
    soft = [type(p) for p in method.penalties]
    assert (hc.InitialPenalty in soft) == (method.lift == hc.NoLift())
    assert (hc.PeriodicPenalty in soft) == ("pbc" not in on)
    for part in ("network", "points", "sampler", "stages", "windows", "horizons", "curriculum", "resampling"):
        assert getattr(method, part) == getattr(PROTOCOL, part), part


def test_switches_may_come_in_any_order_and_none_is_the_baseline():
    problem = declare()
    assert row("sa+pbc+ic1", problem) == row("pbc+ic1+sa", problem)
    assert row("", problem).name == "baseline"
    assert row("", problem, name="mine").name == "mine"


def test_the_same_problem_under_another_name_gets_the_same_methods():
    own = hc.find_problem("cahn-hilliard").with_parameters(epsilon1=2e-2, horizon=0.5)
    again = hc.Problem(
        name="heat",
        domain=hc.Interval(-1, 1),
        horizon=0.5,
        rhs=lambda u, epsilon1, epsilon2: -epsilon1 * (u.xx + epsilon2 * u.xxxx) + epsilon1 * (u**3).xx,
        initial=lambda x: -jnp.cos(2 * jnp.pi * x),
        parameters={"epsilon1": 2e-2, "epsilon2": 1e-4},
    )
    other = dataclasses.replace(declare(), name="cahn-hilliard")
    for name in ("paper", "pbc+ic1", "causal-50k"):
        assert hc.find_method(name, again) == hc.find_method(name, own)
        assert hc.find_method(name, other).embedding == hc.Fourier(10)
    assert hc.find_method("paper", own).embedding == hc.Fourier(2)


@pytest.mark.parametrize(
    ("switches", "message"),
    [
        ("pbc+ic3", r"switches are pbc, ic1, ic2, sa, mb, joined by \+, but 'ic3' is none of them"),
        ("ic1+ic2", "ic1 and ic2 exclude each other"),
        ("pbc,ic1", "'pbc,ic1' is none of them"),
        ("pbc+", "'' is none of them"),
    ],
)
def test_switches_that_make_no_row_are_refused(switches, message):
    with pytest.raises(MethodError, match=message):
        row(switches, declare())


def test_rows_of_a_problem_with_boundary_data_leave_to_penalties_what_a_lift_does_not_carry():
    dirichlet = declare_dirichlet()
    neumann = dataclasses.replace(dirichlet, boundary=hc.Neumann(0.0))
    assert row("ic1+sa", dirichlet).penalties == ()
    assert row("ic1+sa", neumann).penalties == (hc.BoundaryPenalty(),)
    assert row("sa", dirichlet).penalties == (hc.InitialPenalty(), hc.BoundaryPenalty())
    with pytest.raises(MethodError, match="pbc has no meaning for a problem that is not periodic"):
        row("pbc+ic1", dirichlet)


@pytest.mark.parametrize("name", [n for n in ENTRIES if any(r.table == f"ablation {n}" for r in ROWS)])
def test_the_paper_method_of_a_problem_is_the_best_row_of_its_table(name):
    def worst_error(r):
        return max(value for key, value in r.figures.items() if key.startswith("rel_l2"))

    best = min((r for r in ROWS if r.table == f"ablation {name}"), key=worst_error)
    assert hc.find_method("paper", ENTRIES[name].problem) == dataclasses.replace(best.train(), name="paper")


def test_the_paper_method_for_advection_is_the_best_row_at_its_speed():
    best = min((r for r in ROWS if r.table == "ablation advection-c60"), key=lambda r: r.figures["rel_l2"])
    advection = hc.find_problem("advection")
    assert hc.find_method("paper", advection) == dataclasses.replace(best.train(), name="paper")
    assert dict(best.declare().parameters) == {**advection.parameters, "horizon": 0.5}
    assert best.declare().horizon == 0.5
