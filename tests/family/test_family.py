"""Families: exact data, agreement with members and closed forms, derivatives, files, messages."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from browser import Browser
from command_line import assert_refused, hcpinn
from hcpinn.checking import families
from hcpinn.errors import HcpinnError, MethodError, ProblemError


def decay(**changes):
    """uₜ = ν uₓₓ − c u with walls that move: u = c e^{−ct} (1 + x)."""
    given = {
        "domain": hc.Interval(0, 1),
        "horizon": 1.0,
        "boundary": (
            hc.Dirichlet(lambda t, c: c * jnp.exp(-c * t)),
            hc.Neumann(lambda t, c: c * jnp.exp(-c * t)),
        ),
        "rhs": lambda u, nu, c: nu * u.xx - c * u,
        "initial": lambda x, c: c * (1 + x),
        "parameters": {"nu": 0.2, "c": hc.Between(0.5, 2)},
    }
    return hc.Problem(**{**given, **changes})


def waves():
    return hc.Problem(
        domain=hc.Interval(0, 2 * np.pi),
        horizon=hc.Between(0.3, 0.5),
        rhs=lambda u, nu, a: nu * u.xx - a * u,
        initial=lambda x, a: np.exp(-a) * np.sin(x) + np.cos(2 * x),
        parameters={"nu": hc.Between(0.05, 0.5, log=True), "a": hc.Between(0, 1)},
    )


def closed_form(t, x, nu, a):
    return np.exp(-a * t) * (np.exp(-a - nu * t) * np.sin(x) + np.exp(-4 * nu * t) * np.cos(2 * x))


@pytest.fixture(scope="module")
def two():
    return hc.solve(waves(), accuracy=1e-5, reference=False)


PLACES = (np.array([0.0, 0.11, 0.5])[:, None], np.linspace(0, 6, 7))


def test_a_notebook_shows_equation_ranges_and_a_picture(two):
    shown = two._repr_html_()
    for part in ("<math", "horizon: 0.3 to 0.5, nu: 0.05 to 0.5, a: 0 to 1", "data:image/png;base64"):
        assert all(piece in shown for piece in part.split(", "))


def test_a_family_agrees_with_the_closed_form(two):
    assert two.estimated_error < 1e-5
    t, x = PLACES
    rng = np.random.default_rng(3)
    for nu, a in zip(0.05 * 10 ** rng.random(6), rng.random(6), strict=True):
        assert two(t, x, nu=nu, a=a) == pytest.approx(closed_form(t, x, nu, a), abs=2e-5)


def test_initial_data_are_exact_at_every_parameter(two):
    x = np.linspace(0, 6, 7)
    for a in (0.123, 0.77):
        assert two(0.0, x, nu=0.2, a=a) == pytest.approx(closed_form(0.0, x, 0.2, a), abs=1e-14)


def test_parameters_broadcast_and_members_agree(two):
    t, x = PLACES
    a = np.array([0.1, 0.4, 0.9])[:, None, None]
    found = two(t, x, nu=0.1, a=a)
    assert found.shape == (3, 3, 7)
    member = two.at(nu=0.1, a=0.4)
    assert isinstance(member, hc.Solution)
    assert member(t, x) == pytest.approx(found[1], abs=1e-12)
    assert member.on_grid(t[:, 0], x)["u"] == pytest.approx(found[1], abs=1e-12)
    assert member.problem.horizon == 0.5
    assert two.at(nu=0.1, a=0.4, horizon=0.3).problem.horizon == 0.3


def test_derivatives_in_coordinates_and_parameters(two):
    t, x, nu, a = 0.2, 1.3, 0.2, 0.4
    slope = -t * np.exp(-a * t) * (np.exp(-a - nu * t) * np.sin(x) + 4 * np.exp(-4 * nu * t) * np.cos(2 * x))
    assert two.dnu(t, x, nu=nu, a=a) == pytest.approx(slope, abs=1e-3)
    step = 1e-4
    for name in ("", "x", "tx"):
        ahead = two.derivative(name, t, x, nu=nu, a=a + step) - two.derivative(name, t, x, nu=nu, a=a - step)
        assert two.derivative([*name, "a"], t, x, nu=nu, a=a) == pytest.approx(ahead / (2 * step), rel=1e-5)


def test_a_family_lives_inside_jax(two):
    with jax.enable_x64(True):
        slope = jax.jit(jax.grad(lambda a: two(0.2, 1.3, nu=0.2, a=a)))(0.4)
        assert slope == pytest.approx(float(two.da(0.2, 1.3, nu=0.2, a=0.4)))
        values = jax.vmap(lambda a: two(0.2, 1.3, nu=0.2, a=a))(jnp.array([0.1, 0.4]))
        assert values == pytest.approx(two(0.2, 1.3, nu=0.2, a=np.array([0.1, 0.4])))


def test_files_hold_a_family_and_a_member(two, tmp_path):
    t, x = PLACES
    again = hc.load(two.save(tmp_path / "family.npz"), problem=waves())
    assert again(t, x, nu=0.3, a=0.2) == pytest.approx(two(t, x, nu=0.3, a=0.2), abs=1e-13)
    assert again.summary() == two.summary()
    member = two.at(nu=0.3, a=0.2)
    loaded = hc.load(member.save(tmp_path / "one.npz"), problem=member.problem)
    assert loaded(t, x) == pytest.approx(member(t, x), abs=1e-13)


@pytest.mark.parametrize(
    ("ask", "match"),
    [
        (lambda f: f(0.1, 1.0, nu=0.2), "needs a value of a"),
        (lambda f: f(0.1, 1.0, nu=0.2, a=3.0), "holds for a from 0 to 1, but a = 3"),
        (lambda f: f(0.1, 1.0, nu=0.2, a=0.3, b=1), "'b'"),
        (lambda f: f(0.1, nu=0.2, a=0.3), "but 1 were given"),
        (lambda f: f.derivative("q", 0.1, 1.0, nu=0.2, a=0.3), "is not a derivative of this family"),
        (lambda f: f(np.zeros(2), np.zeros(3), nu=0.2, a=0.3), "do not broadcast"),
        (lambda f: f.dq, "has no attribute 'dq'"),
    ],
)
def test_what_makes_no_sense_gets_a_sentence(two, ask, match):
    with pytest.raises((HcpinnError, AttributeError), match=match):
        ask(two)


def test_boundary_data_with_a_parameter_are_exact_and_the_worst_is_named(monkeypatch):
    monkeypatch.setattr(families, "_RANDOM", 1)  # each takes a second
    monkeypatch.setattr(families, "_CORNERS", 1)
    family = hc.solve(decay(), accuracy=1e-4)
    assert family.verdict.converged
    assert "at c =" in family.verdict.reasons[0]
    assert family.worst.error == family.verdict.error == max(check.error for check in family.checks)
    t = np.linspace(0, 1, 5)
    assert family(t, 0.0, c=1.234) == pytest.approx(1.234 * np.exp(-1.234 * t), abs=1e-14)
    assert family.dx(t, 1.0, c=1.234) == pytest.approx(1.234 * np.exp(-1.234 * t), abs=1e-12)
    assert family(0.7, 0.3, c=1.7) == pytest.approx(1.7 * np.exp(-1.19) * 1.3, abs=1e-4)


@pytest.mark.parametrize("whole", [True, False])
def test_a_page_evaluates_the_network_as_python_does(two, whole, tmp_path):
    shown = two if whole else two.at(nu=0.2, a=0.6)
    browser = Browser(tmp_path / "profile")
    try:
        browser.open(shown.page(tmp_path / "page.html"))
        t, x, nu, a = np.random.default_rng(1).random((4, 1000)) * [[0.5], [6.2], [0.4], [1]] + [
            [0],
            [0],
            [0.06],
            [0],
        ]
        given = {"nu": nu, "a": a} if whole else {}
        rows = np.stack([t, x, *given.values()], axis=1).tolist()
        found = browser.run(f"{rows}.map(([t, x, ...mu]) => evaluate(t, x, mu)[0])")
        assert found == pytest.approx(shown(t, x, **given), abs=1e-9)
        assert browser.messages == []
        browser.run(
            "const s = document.querySelectorAll('input'); s[0].value = 200; s[0].dispatchEvent(new Event('input'))"
        )
        assert browser.run("document.querySelector('output').textContent") == "0.1000"
    finally:
        browser.close()


def test_a_range_is_split_at_a_kink():
    problem = hc.Problem(
        domain=hc.Interval(0, 2 * np.pi),
        horizon=1.0,
        rhs=lambda u, c: -jnp.maximum(c - 0.37, 0.0) * u,
        initial=lambda x: jnp.sin(x),
        parameters={"c": hc.Between(0, 1)},
    )
    family = hc.solve(problem, accuracy=1e-4, reference=False)
    assert family.kinks == pytest.approx((0.37,), abs=1e-3)
    assert family(1.0, 1.0, c=0.8) == pytest.approx(np.sin(1) * np.exp(-0.43), abs=1e-4)
    assert family(1.0, 1.0, c=0.2) == pytest.approx(np.sin(1), abs=1e-4)


@pytest.mark.parametrize(
    ("solve", "match"),
    [
        (lambda: hc.solve(decay(), hc.find_method("quick", decay().nominal)), "solved by evolution"),
        (
            lambda: hc.solve(decay(parameters={"nu": 0.2, "c": 1.0}, horizon=hc.Between(1, 2))),
            "Only the horizon",
        ),
    ],
)
def test_what_is_no_family_is_refused(solve, match):
    with pytest.raises((MethodError, ProblemError), match=match):
        solve()


def test_the_command_line_takes_ranges(tmp_path, monkeypatch):
    for name in ("_RANDOM", "_CORNERS"):
        monkeypatch.setattr(families, name, 1)
    code, _, complaint = hcpinn("solve", "advection", "--set", "c=1..1.5", "--out", tmp_path)
    assert code == 0, complaint
    facts = json.loads((tmp_path / "summary.json").read_text())
    assert facts["open"] == {"c": {"low": 1.0, "high": 1.5, "log": False}}
    assert facts["worst"]["rel_l2"] < 1e-3
    assert {p.name for p in tmp_path.iterdir()} >= {"family.npz", "family.png", "family.html"}
    assert hc.load(tmp_path / "family.npz").names == ("c",)


def test_a_range_that_makes_no_sense_is_refused():
    code, _, complaint = hcpinn("solve", "advection", "--set", "c=1..x")
    assert_refused(code, complaint, "A range is NAME=1..5")


def test_parameters_as_inputs_pose_the_same_problem_at_every_share():
    problem = decay(parameters={"nu": hc.Between(0.02, 0.2, log=True), "c": hc.Between(0.5, 2)})
    inputs = hc.parameters_as_inputs(problem)
    assert inputs.axes == ("t", "x", "y", "z")
    assert not inputs.parameters
    member = problem.with_parameters(nu=0.02 * 10**0.3, c=0.5 + 1.5 * 0.6)
    x = jnp.linspace(0, 1, 5)
    y, z = 0.3 * jnp.ones(5), 0.6 * jnp.ones(5)
    for larger, own in zip(inputs.initial_values([x, y, z]), member.initial_values([x]), strict=True):
        assert np.allclose(larger, own)

    def second(number, index):
        return 2 + x if not any(index) else 3 * x

    larger = inputs.evaluate_rhs(second, [0 * x, x, y, z])
    assert np.allclose(larger, member.evaluate_rhs(second, [0 * x, x]))


def test_parameters_as_inputs_can_be_trained():
    inputs = hc.parameters_as_inputs(decay())
    method = hc.Method(
        lift=hc.Decay(0.0),
        embedding=hc.Plain(),
        network=hc.MLP(12, 2),
        penalties=(hc.BoundaryPenalty(),),
        points=1000,
        stages=(hc.Broyden(steps=150),),
    )
    trained = hc.solve(inputs, method, reference=False)
    t, x, share = np.random.default_rng(0).random((3, 200))
    c = 0.5 + 1.5 * share
    exact = c * np.exp(-c * t) * (1 + x)
    assert np.linalg.norm(trained(t, x, share) - exact) < 3e-2 * np.linalg.norm(exact)
    wall = trained(t, 0 * x, share)
    assert np.allclose(wall, c * np.exp(-c * t), atol=1e-12)


def test_functions_that_become_inputs_keep_their_defaults():
    factor = 3.0
    problem = decay(rhs=lambda u, nu, c, k=factor: k * nu * u.xx - c * u)
    inputs = hc.parameters_as_inputs(problem)
    (found,) = inputs.evaluate_rhs(
        lambda number, index: jnp.ones(1), [jnp.zeros(1), jnp.zeros(1), jnp.ones(1)]
    )
    assert found == pytest.approx(3 * 0.2 - 2)


@pytest.mark.parametrize("problem", [waves(), decay().nominal], ids=["horizon", "no range"])
def test_what_cannot_be_an_input_is_said(problem):
    with pytest.raises(ProblemError, match="Parameters become inputs where"):
        hc.parameters_as_inputs(problem)


def test_the_middle_of_a_range_may_be_zero():
    problem = hc.Problem(
        domain=hc.Interval(0, 1),
        horizon=0.5,
        rhs=lambda u, v: 0.02 * u.xx - v * u.x,
        initial=lambda x: np.sin(2 * np.pi * x),
        parameters={"v": hc.Between(-1, 1)},
    )
    family = hc.solve(problem, accuracy=1e-3, reference=False, progress=False)
    t, x, v = 0.5, np.linspace(0, 1, 9), 0.7
    exact = np.exp(-0.02 * 4 * np.pi**2 * t) * np.sin(2 * np.pi * (x - v * t))
    np.testing.assert_allclose(family(t, x, v=v), exact, atol=2e-3)
