"""Problems as text are those that Python declares, to the bit, and their faults have lines and columns."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from hcpinn.catalog import ENTRIES
from hcpinn.equation import content_of, fingerprint
from hcpinn.problem.text.describe import initial_picture
from hcpinn.problem.text.places import TextError
from hcpinn.problem.text.shapes import read_domain, write_domain

EXAMPLES = Path(__file__).parents[3] / "examples"


def columns(name):
    x, values = np.loadtxt(EXAMPLES / f"{name}.csv", delimiter=",", skiprows=1).T
    return hc.Samples(values, x=x)


def declared():
    """The examples as a user of Python would declare them."""
    k, u0 = columns("diffusivity"), columns("profile")
    return {
        "rod": {
            "rhs": lambda u, x, kappa, q: kappa * u.xx + q * np.exp(-20 * (x - 0.7) ** 2),
            "initial": 0.0,
            "domain": hc.Interval(0, 1),
            "horizon": 1.0,
            "boundary": (hc.Dirichlet(lambda t: 1 - jnp.exp(-5 * t)), hc.Robin(0.0, value=2.0)),
            "parameters": {"kappa": 0.1, "q": 0.5},
        },
        "burgers": {
            "rhs": lambda u, nu: nu * u.xx - u * u.x,
            "initial": lambda x: -jnp.sin(jnp.pi * x),
            "domain": hc.Interval(-1, 1),
            "horizon": 1.0,
            "boundary": hc.Dirichlet(0.0),
            "parameters": {"nu": 0.03 / np.pi},
        },
        "kdv": {
            "rhs": lambda u: -6 * u * u.x - u.xxx,
            "initial": lambda x: 3 * (1 / jnp.cosh(x)) ** 2 + 1e-3 * jnp.cos(jnp.pi * x / 10),
            "domain": hc.Interval(-10, 10),
            "horizon": 1.0,
        },
        "swift_hohenberg": {
            "rhs": lambda u, r: r * u - (u + 2 * u.xx + u.xxxx) - u**3,
            "initial": lambda x: 0.1 * jnp.cos(x) + 0.05 * jnp.sin(x / 8),
            "domain": hc.Interval(0, 16 * np.pi),
            "horizon": 5.0,
            "parameters": {"r": 0.3},
        },
        "brusselator": {
            "rhs": lambda u, v, A, B: (
                0.01 * u.xx + A + u**2 * v - (B + 1) * u,
                0.005 * v.xx + B * u - u**2 * v,
            ),
            "initial": lambda x: (1 + 0.3 * jnp.cos(jnp.pi * x), 2 + 0.2 * jnp.cos(2 * jnp.pi * x)),
            "domain": hc.Interval(0, 1),
            "horizon": 4.0,
            "boundary": hc.Neumann(0.0),
            "parameters": {"A": 1.0, "B": 2.2},
        },
        "trap": {
            "rhs": lambda psi, x, g: (-1 / 2 * psi.xx + (1 - np.cos(x)) * psi + g * abs(psi) ** 2 * psi) / 1j,
            "initial": lambda x: jnp.exp(-2 * (1 - jnp.cos(x)) + 1j * jnp.sin(x)),
            "domain": hc.Interval(-np.pi, np.pi),
            "horizon": 2.0,
            "parameters": {"g": 1.0},
        },
        "string": {
            "rhs": lambda u, c: c**2 * u.xx - 0.2 * u.t,
            "initial": lambda x: jnp.sin(jnp.pi * x) + 0.3 * jnp.sin(3 * jnp.pi * x),
            "velocity": 0.0,
            "order": 2,
            "domain": hc.Interval(0, 1),
            "horizon": 5.0,
            "boundary": hc.Dirichlet(0.0),
            "parameters": {"c": 1.0},
        },
        "beam": {
            "rhs": lambda u: -0.05 * u.xxxx,
            "initial": lambda x: jnp.sin(jnp.pi * x) ** 3,
            "velocity": 0.0,
            "order": 2,
            "domain": hc.Interval(0, 1),
            "horizon": 1.0,
            "boundary": [hc.Dirichlet(0.0), hc.Derivative(0.0, order=2)],
        },
        "channel": {
            "rhs": lambda c, y, D: D * c.laplacian - (1 - y**2) * c.x,
            "initial": lambda x, y: (1 + jnp.cos(x)) * (1 - y) * (3 + y) / 4,
            "domain": hc.Box((0, 2 * np.pi), (-1, 1)),
            "horizon": 1.0,
            "boundary": {"x": hc.Periodic(), "y": (hc.Neumann(0.0), hc.Dirichlet(0.0))},
            "parameters": {"D": 0.05},
        },
        "pipe": {
            "rhs": lambda u: u.laplacian,
            "initial": 0.0,
            "domain": hc.Disk((0, 0), 1) - hc.Disk((0.3, 0), 0.25, name="rod"),
            "horizon": 0.3,
            "boundary": {
                "rod": hc.Dirichlet(lambda t: 1 - jnp.exp(-20 * t)),
                "disk": hc.Robin(0.0, value=2.0),
            },
        },
        "profile": {
            "rhs": lambda u, x: (hc.apply(k, x) * u.x).x,
            "initial": u0,
            "domain": hc.Interval(0, 1),
            "horizon": 0.5,
            "boundary": hc.Neumann(0.0),
        },
    }


def bits(problem):
    """F on random derivatives, initial and boundary data at points, every one to its last bit."""
    rng = np.random.default_rng(3)
    points = [
        jnp.asarray(a + (b - a) * rng.random(40))
        for a, b in zip((0, *problem.domain.lower), (1, *problem.domain.upper), strict=True)
    ]
    indices = [*problem.derivatives]
    values = {
        (n, i): jnp.asarray(rng.normal(size=40) + (1j * rng.normal(size=40) if c else 0))
        for n, c in enumerate(problem.complex_fields)
        for i in indices
    }
    found = problem.evaluate_rhs(lambda n, i: values[n, i], points)
    found += problem.initial_values(points[1:])
    found += problem.initial_velocities(points[1:]) if problem.order == 2 else []
    for piece in problem.pieces:
        found += [value for own in problem.data_on(piece, points) for value in own]
    for side in problem.sides:
        across = [p for i, p in enumerate(points[1:]) if i != side.axis]
        found += [value for own in problem.boundary_values(side, points[0], across) for value in own]
    return [np.asarray(jnp.broadcast_to(value, (40,))).tobytes() for value in found]


@pytest.mark.parametrize("name", declared())
def test_an_example_is_what_python_declares_to_the_bit(name):
    text = hc.read_problem(EXAMPLES / f"{name}.toml")
    python = hc.Problem(**declared()[name])
    assert bits(text) == bits(python)
    assert fingerprint(text) == fingerprint(python)
    assert content_of(text) is not None
    again = hc.parse_problem(text.to_text())
    assert bits(again) == bits(text)
    assert fingerprint(again) == fingerprint(text)


@pytest.mark.parametrize(
    "domain",
    [
        hc.Annulus(),
        (hc.Disk() | hc.Box((0, 2), (-0.3, 0.3))).move(1.0, 0.0).scale(0.5).turn(0.2),
        hc.Implicit(lambda x, y: 1 - x**2 - (1 + 0.3 * x) * y**2, ((-2, 2), (-2, 2))) - hc.Disk(radius=0.2),
        hc.Disk() & hc.Disk((1, 0), 1) & hc.Disk((0.5, 0.2), 1),
        hc.Ellipse((0, 0), (2, 1), 0.3) - (hc.Disk((0, 0), 0.3) | hc.Disk((0.2, 0), 0.3)),
        hc.Polygon([(-1, -1), (0, -1), (0, 0), (1, 0), (1, 1), (-1, 1)], name="room"),
        hc.Ball() - hc.Cylinder((0.1, 0), 0.2, (-2, 2)),
    ],
    ids=lambda domain: type(domain).__name__,
)
def test_a_shape_written_as_text_is_the_same_shape(domain):
    again = read_domain(write_domain(domain), None)
    assert again.signature == domain.signature
    assert again.parts == domain.parts


def test_a_domain_may_be_a_drawing_beside_the_text(tmp_path):
    (tmp_path / "room.svg").write_text('<svg><path d="M0 0 L2 0 L2 -1 L0 -1 Z"/></svg>')
    (tmp_path / "p.toml").write_text(text(**CURVED | {"domain": 'domain = "room.svg"'}))
    problem = hc.read_problem(tmp_path / "p.toml")
    assert problem.domain.volume == pytest.approx(2.0)
    assert problem.domain.parts == tuple(f"polygon.{n}" for n in range(1, 5))


def test_there_is_an_example_for_each_of_ten_kinds():
    assert {path.stem for path in EXAMPLES.glob("*.toml")} >= set(declared())


@pytest.mark.parametrize("name", ENTRIES)
def test_every_problem_of_the_catalogue_can_be_written_as_text(name):
    problem = ENTRIES[name].problem
    again = hc.parse_problem(problem.to_text())
    assert fingerprint(again) == fingerprint(problem)
    assert again.parameters == problem.parameters
    assert again.ranges == problem.ranges


def test_a_solution_from_text_equals_that_from_python_to_the_bit():
    python = hc.Problem(
        domain=hc.Interval(-1, 1),
        horizon=0.1,
        rhs=lambda u, gamma: gamma * u.xx - 5 * (u**3 - u),
        initial=lambda x: jnp.cos(jnp.pi * x),
        parameters={"gamma": 0.01},
    )
    text = hc.parse_problem(
        'equation = "u_t = gamma u_xx - 5 (u^3 - u)"\ndomain = [-1, 1]\nhorizon = 0.1\n'
        'initial = "cos(pi x)"\nparameters = { gamma = 0.01 }'
    )
    one, other = (hc.solve(p, hc.Evolution(features=32), reference=False) for p in (python, text))
    places = np.linspace(0, 0.1, 4)[:, None], np.linspace(-1, 1, 33)
    np.testing.assert_array_equal(one(*places), other(*places))
    assert one.history.stages == other.history.stages


LINES = {
    "equation": 'equation = "u_t = 0.1 u_xx - g u"',
    "domain": "domain = { x = [0, 1] }",
    "horizon": "horizon = 1",
    "initial": 'initial = "sin(pi x)"',
    "boundary": 'boundary = "u = 0"',
    "parameters": "parameters = { g = 1 }",
}


def text(**changes):
    return "\n".join(line for line in {**LINES, **changes}.values() if line) + "\n"


CURVED = {
    "equation": 'equation = "u_t = laplacian(u)"',
    "initial": "initial = 0",
    "parameters": None,
}

PARTS = """[boundary]
disk = "u = 0"
polygon.1 = "u_n = 0"
rest = "u_n = 1"
"""


@pytest.mark.parametrize(
    ("domain", "boundary", "line", "column", "words"),
    [
        ("disk((0, 0), -1)", None, 2, 11, "radius of a disk must be a positive"),
        ("disc((0, 0), 1)", None, 2, 11, "There are disk, ellipse"),
        ("disk((0, 0), 1", None, 2, 15, "never closed"),
        ("disk((0, 0), 1, 2)", None, 2, 11, "no more"),
        ("disk((0, 0), size=1)", None, 2, 11, "no argument 'size'"),
        ("disk((0, 0), 1) + disk((1, 0), 1)", None, 2, 27, "cannot stand here"),
        ("disk((0, 0), 1) - disk((9, 0), 1)", None, 2, 27, "changes nothing"),
        ("disk((0, 0), 1).open(1)", None, 2, 27, "not by 'open'"),
        ("polygon((0, 0), (1, 1), (1, 0), (0, 1))", None, 2, 11, "crosses itself"),
        ("implicit(1 - x^2 - z^2, ((-2, 2), (-2, 2)))", None, 2, 30, "'z' means nothing"),
        ("disk((0, 0), u)", None, 2, 24, "'u' means nothing in a number of a domain"),
        ("disk((0, 0), 1)", 'boundary = "periodic"', 5, 13, "A boundary is missing"),
        ("disk((0, 0), 1)", "boundary = { rim = 'u = 0' }", 5, 14, "'rim', which is not a part"),
        ("disk((0, 0), 1)", "boundary = { disk = 'u_x = 0' }", 5, 22, "not a derivative here"),
        ("disk((0, 0), 1)", PARTS, 7, 9, "'polygon.1', which is not a part"),
    ],
)
def test_faults_of_shapes_and_of_their_parts_have_places_too(domain, boundary, line, column, words):
    changes = {"domain": f'domain = "{domain}"'} | ({"boundary": boundary} if boundary else {})
    with pytest.raises(TextError) as caught:
        hc.parse_problem(text(**CURVED | changes))
    assert words in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    ("condition", "kind", "factors", "data"),
    [
        ("u = 0", "Dirichlet", (1.0,), 0.0),
        ("2 u = 3", "Dirichlet", (1.0,), 1.5),
        ("u_n = -2 (u - 1)", "Robin", (2.0, 1.0), 2.0),
        ("u_x = 2 u", "Robin", (2.0, 1.0), 0.0),
        ("3 u_n = 0", "Neumann", (0.0, 1.0), 0.0),
        ("u_x = 1", "Neumann", (0.0, 1.0), -1.0),
        ("u_nn = 0", "Derivative", (0.0, 0.0, 1.0), 0.0),
        ("u_nnn + 2 u_n - u = 1", "Linear", (-1.0, 2.0, 0.0, 1.0), 1.0),
    ],
)
def test_a_condition_is_read_with_the_normal_outwards(condition, kind, factors, data):
    lower = f'boundary.x.lower = "{condition}"\nboundary.x.upper = "u_n = 0"'
    # The initial data suit any value at the lower end.
    start = f'initial = "{data if factors == (1.0,) else 0}"'
    equation = 'equation = "u_t = -u_xxxx - g u"'
    side, other = hc.parse_problem(text(boundary=lower, initial=start, equation=equation)).sides
    [own] = side.conditions[0]
    assert (own.kind, own.factors, own.data) == (kind, factors, data)
    assert other.conditions[0][0].kind == "Neumann"


@pytest.mark.parametrize(
    ("changes", "line", "column", "words"),
    [
        ({"equation": 'equation = "u_t = u_xx + q"'}, 1, 26, "'q' means nothing in an equation"),
        ({"equation": 'equation = "u = u_xx"'}, 1, 13, "no time derivative on the left"),
        ({"equation": 'equation = "u_t - v_t = u_xx"'}, 1, 19, "two on the left"),
        ({"equation": 'equation = "u_t = u_xx = 0"'}, 1, 24, "'='"),
        ({"equation": 'equation = "u_ttt = u"'}, 1, 13, "order in time"),
        ({"equation": 'equation = "u_tt = u_xx"'}, 1, 13, "no velocity"),
        ({"equation": 'equation = ["u_t = u_xx", "u_t = u"]'}, 1, 28, "two equations for u"),
        ({"equation": "equation = 3"}, 1, 12, "equation is text"),
        ({"equation": 'equation = "x_t = x_xx"'}, 1, 13, "the name is taken"),
        ({"equation": 'equation = "u_t = u_xx - g w"'}, 1, 28, "'w' means nothing"),
        ({"equation": None}, 1, 1, "There is no equation"),
        ({"domain": "domain = { x = [1, 0] }"}, 2, 16, "no length along x"),
        ({"domain": "domain = { y = [0, 1] }"}, 2, 10, "axes of a domain"),
        ({"domain": "domain = { x = [0] }"}, 2, 16, "two ends"),
        ({"domain": 'domain = { x = [0, "pi x"] }'}, 2, 24, "'x' means nothing"),
        ({"horizon": "horizon = -1"}, 3, 11, "horizon must be a positive"),
        ({"horizon": 'horizon = "i"'}, 3, 12, "real"),
        ({"horizon": "horizon = nan"}, 3, 11, "finite"),
        ({"horizon": "horizon = "}, 3, 11, "not TOML"),
        ({"initial": 'initial = "1 + x"'}, 5, 13, "Initial and boundary data disagree"),
        ({"initial": 'initial = "1/x"'}, 4, 12, "not finite"),
        ({"initial": 'initial = "u"'}, 4, 12, "'u' means nothing in the initial data"),
        ({"initial": "initial = { v = 0 }"}, 4, 13, "'v' is not a field"),
        ({"boundary": 'boundary = "v = 0"'}, 5, 13, "'v' means nothing"),
        ({"boundary": 'boundary = "u^2 = 0"'}, 5, 14, "linear"),
        ({"boundary": 'boundary = "g u = 0"'}, 5, 13, "must be a number"),
        ({"boundary": 'boundary = "u"'}, 5, 14, "no '='"),
        ({"boundary": 'boundary.x.lower = "u = 0"'}, 5, 1, "no condition at the upper end"),
        ({"boundary": 'boundary.y = "u = 0"'}, 5, 10, "no axis 'y'"),
        ({"parameters": 'parameters = { g = "1/0" }'}, 6, 22, "division by zero"),
        ({"parameters": 'parameters = { g = "2..1" }'}, 6, 21, "A range goes from"),
        ({"parameters": "parameters = { sin = 1 }"}, 6, 16, "cannot be called"),
        ({"parameters": "parameter = { g = 1 }"}, 6, 1, "Did you mean 'parameters'?"),
        ({"parameters": "parameters = { g = { low = 1 } }"}, 6, 20, "needs a guess"),
        ({"parameters": "parameters = { g = { guess = 3, high = 1 } }"}, 6, 20, "must lie between"),
        ({"parameters": "parameters = { g = { guess = 3, most = 1 } }"}, 6, 33, "no 'most'"),
        ({"data": 'data = { f = "no.csv" }'}, 7, 15, "without a file of its own"),
    ],
)
def test_what_is_wrong_with_a_text_has_a_line_and_a_column(changes, line, column, words):
    with pytest.raises(TextError) as caught:
        hc.parse_problem(text(**changes), source="mine.toml")
    error = caught.value
    assert words in str(error)
    assert str(error).startswith(f"mine.toml, line {error.line}, column {error.column}: ")
    assert (error.line, error.column) == (line, column)


def test_an_unknown_has_a_guess_and_bounds():
    problem = hc.parse_problem(text(parameters='parameters = { g = { guess = "1/2", low = 0.1, high = 2 } }'))
    assert problem.parameters["g"] == hc.Unknown(0.5, 0.1, 2.0)
    assert hc.parse_problem(problem.to_text()).parameters == problem.parameters


def test_ranges_and_numbers_as_formulas():
    problem = hc.parse_problem(
        text(parameters='parameters = { g = "1e-3..0.1 log", "λ" = "2 pi" }', horizon='horizon = "1/4"')
    )
    assert problem.parameters["g"] == hc.Between(1e-3, 0.1, log=True)
    assert problem.parameters["lambda_"] == 2 * np.pi
    assert problem.horizon == 0.25
    assert hc.parse_problem(problem.to_text()).parameters == problem.parameters


def test_a_data_file_that_is_none_is_named_with_its_line(tmp_path):
    (tmp_path / "f.csv").write_text("x,f\n0,1\n1,two\n")
    (tmp_path / "p.toml").write_text(text(initial='initial = "f(x)"', data='data = { f = "f.csv" }'))
    with pytest.raises(TextError, match=r"f.csv, line 3: numbers are expected"):
        hc.read_problem(tmp_path / "p.toml")


def test_a_function_of_python_that_cannot_be_written_is_said_to_be_so():
    problem = hc.Problem(
        domain=hc.Interval(0, 1),
        horizon=1.0,
        rhs=lambda u: hc.apply(lambda w: jax.nn.gelu(w), u) + u.xx,
        initial=lambda x: jnp.cos(2 * jnp.pi * x),
    )
    with pytest.raises(hc.HcpinnError, match="rhs cannot be written as text"):
        problem.to_text()
    assert "F(u, uₓₓ)" in problem._repr_html_()


def test_operators_on_fields_are_written_and_those_without_a_word_are_not():
    def rhs(u, x):
        u2 = +u
        u2 += 1
        return u.xx + u2 % 2 - 3 / (1 + abs(u)) + 2**u * (x > 0.5)

    settings = {"domain": hc.Interval(0, 1), "horizon": 1.0, "initial": 0.0}
    again = hc.parse_problem(hc.Problem(rhs=rhs, **settings).to_text())
    lookup, at = (lambda field, index: jnp.asarray([0.7, -1.2])), [jnp.zeros(2), jnp.asarray([0.2, 0.8])]
    given = hc.Problem(rhs=rhs, **settings).evaluate_rhs(lookup, at)
    np.testing.assert_allclose(again.evaluate_rhs(lookup, at)[0], given[0], rtol=1e-15)
    equal = hc.Problem(rhs=lambda u: u.xx + np.where(u == 0, 1.0, 2.0), **settings)
    with pytest.raises(hc.HcpinnError, match="rhs cannot be written as text: it uses the function equal"):
        equal.to_text()


def test_a_problem_on_a_disk_is_shown_within_its_outline():
    problem = hc.Problem(
        domain=hc.Disk(),
        horizon=0.1,
        rhs=lambda u: 0.1 * u.laplacian,
        initial=lambda x, y: 1 - x**2 - y**2,
        boundary=hc.Dirichlet(0.0),
    )
    assert "u = 0 on disk" in problem._repr_html_()
    _, values = initial_picture(problem, [5, 5])
    assert np.isnan(values["u"][0, 0])
    assert values["u"][2, 2] == 1.0


def test_a_notebook_shows_equation_and_initial_data():
    shown = hc.read_problem(EXAMPLES / "rod.toml")._repr_html_()
    for part in ("<math", "<svg", "κ", "at the lower end of x"):
        assert part in shown
    assert "<script" not in shown
