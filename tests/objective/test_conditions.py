"""Every condition of a problem holds by construction or by a penalty, and none by both."""

import jax.numpy as jnp
import pytest

import hcpinn as hc
from declarations import declare, declare_dirichlet
from hcpinn.descent import Preparation
from hcpinn.errors import MethodError
from hcpinn.objective import check_penalties, penalty_terms
from hcpinn.trial import Trial

LINE = declare()
PLANE = declare(
    domain=hc.Box((0, 1), (-1, 1)),
    rhs=lambda u, v: (u.laplacian - v, v.laplacian + u),
    initial=lambda x, y: (jnp.cos(2 * jnp.pi * x), jnp.sin(jnp.pi * y) + 2),
)
HARD = {"lift": hc.Decay(1.0), "gate": hc.LinearGate(), "network": hc.MLP(4, 1)}
SOFT = {"lift": hc.NoLift(), "gate": hc.NoGate(), "network": hc.MLP(4, 1), "embedding": hc.Plain()}
NEUMANN = declare(boundary=hc.Neumann(0.0), name="insulated")


@pytest.mark.parametrize(
    ("problem", "parts", "penalties"),
    [
        (LINE, {**HARD, "embedding": hc.Fourier(2)}, ()),
        (LINE, {**HARD, "embedding": hc.Plain()}, (hc.PeriodicPenalty(),)),
        (LINE, {**SOFT, "embedding": hc.Fourier(2)}, (hc.InitialPenalty(),)),
        (LINE, SOFT, (hc.PeriodicPenalty(), hc.InitialPenalty())),
        (LINE, {**HARD, "embedding": hc.Fourier(2)}, (hc.DataPenalty(((0.5, 0.0, 1.0),)),)),
        (declare_dirichlet(), {**HARD, "embedding": hc.Plain()}, ()),
        (declare_dirichlet(), SOFT, (hc.InitialPenalty(), hc.BoundaryPenalty())),
        (NEUMANN, {**HARD, "embedding": hc.Plain()}, (hc.BoundaryPenalty(),)),
    ],
)
def test_every_condition_holds_by_construction_or_by_a_penalty(problem, parts, penalties):
    check_penalties(Trial(problem, **parts), penalties)


@pytest.mark.parametrize(
    ("problem", "parts", "penalties", "message"),
    [
        (
            LINE,
            {**SOFT, "embedding": hc.Fourier(2)},
            (),
            r"Nothing holds the initial data of problem.*Add InitialPenalty\(\).*lift=Decay",
        ),
        (
            LINE,
            {**HARD, "embedding": hc.Plain()},
            (),
            r"not be periodic along x.*embedding=Fourier\(modes\), or add PeriodicPenalty\(\)",
        ),
        (PLANE, {**HARD, "embedding": hc.Plain()}, (), "not be periodic along x"),
        (
            NEUMANN,
            {**HARD, "embedding": hc.Plain()},
            (),
            r"Nothing holds the boundary data of insulated along x. Add BoundaryPenalty\(\)",
        ),
        (
            declare_dirichlet(),
            SOFT,
            (hc.InitialPenalty(),),
            r"boundary data of problem along x. Add BoundaryPenalty\(\)",
        ),
        (
            LINE,
            {**HARD, "embedding": hc.Fourier(2)},
            (hc.InitialPenalty(),),
            r"initial data of problem hold exactly already.*Leave it out, or use lift=NoLift\(\)",
        ),
        (
            LINE,
            {**HARD, "embedding": hc.Fourier(2)},
            (hc.PeriodicPenalty(),),
            r"periodic along x already.*Leave it out, or use embedding=Plain\(\)",
        ),
        (
            declare_dirichlet(),
            {**HARD, "embedding": hc.Plain()},
            (hc.BoundaryPenalty(),),
            r"along x hold exactly already.*lift=NoLift\(\)",
        ),
        (
            LINE,
            {**HARD, "embedding": hc.Fourier(2)},
            (hc.BoundaryPenalty(),),
            "BoundaryPenalty has no effect on problem: leave it out",
        ),
        (
            declare_dirichlet(),
            {**HARD, "embedding": hc.Plain()},
            (hc.PeriodicPenalty(),),
            "PeriodicPenalty has no effect on problem",
        ),
        (
            NEUMANN,
            {**HARD, "embedding": hc.Plain()},
            (hc.BoundaryPenalty(), hc.BoundaryPenalty(weight=2.0)),
            "Two penalties stand for the same condition",
        ),
    ],
)
def test_conditions_that_are_missing_or_needless_are_named_with_the_way_out(
    problem, parts, penalties, message
):
    with pytest.raises(MethodError, match=message):
        check_penalties(Trial(problem, **parts), penalties)


def test_plain_coordinates_leave_periodicity_to_a_penalty():
    assert Trial(PLANE, **HARD, embedding=hc.Plain()).left_open == (("periodic", 0), ("periodic", 1))
    assert Trial(PLANE, **HARD, embedding=hc.Fourier(2)).left_open == ()
    assert Trial(LINE, **SOFT).left_open == (("initial", None), ("periodic", 0))
    assert Trial(declare_dirichlet(), **SOFT).left_open == (("initial", None), ("boundary", 0))


MIXED = declare(
    domain=hc.Box((0, 1), (-1, 1)),
    boundary={"x": hc.Dirichlet(0.0), "y": hc.Neumann(0.0)},
    rhs=lambda u: u.laplacian,
    initial=lambda x, y: jnp.sin(jnp.pi * x) * jnp.cos(jnp.pi * y),
)


def test_where_some_axes_hold_exactly_the_boundary_penalty_is_for_the_others():
    trial, penalties = Trial(MIXED, **HARD, embedding=hc.Plain()), (hc.BoundaryPenalty(points=8),)
    assert trial.left_open == (("boundary", 1),)
    check_penalties(trial, penalties)
    assert [term.name for term in penalty_terms(trial, penalties)] == ["boundary y"]
    soft = Trial(MIXED, **SOFT)
    both = (hc.InitialPenalty(), hc.BoundaryPenalty())
    assert [term.name for term in penalty_terms(soft, both)] == ["initial", "boundary x", "boundary y"]


def test_runs_with_different_robin_factors_do_not_train_together():
    method = hc.Method(**HARD, embedding=hc.Plain(), penalties=(hc.BoundaryPenalty(),))
    runs = [hc.Run(declare(boundary=hc.Robin(0.0, value=value)), method) for value in (1.0, 2.0)]
    with pytest.raises(MethodError, match="same kind of boundary"):
        Preparation(runs)
