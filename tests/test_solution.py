"""A solution is a function of t and x that can be evaluated, differentiated, compared and drawn."""

import dataclasses
import itertools
import json
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.errors import HcpinnError, ProblemError
from hcpinn.solution import Provenance, relative_errors
from hcpinn.solving import provenance
from hcpinn.training import History, PointWeights, Stop

METHOD = hc.Method(lift=hc.Decay(1.3), embedding=hc.Fourier(2), network=hc.MLP(8, 2), points=128)
HEAT = declare(name="heat", rhs=lambda u, k: k * u.xx, parameters={"k": 0.1})
SYSTEM = declare(
    rhs=lambda u, v: (u.xx - v, v.x), initial=lambda x: (jnp.cos(jnp.pi * x), jnp.sin(jnp.pi * x) + 2)
)
WAVE = declare(rhs=lambda u: 1j * u.xx, initial=lambda x: jnp.exp(1j * jnp.pi * x))


def make(problem=HEAT, *, seed=0, **facts):
    """A solution with random parameters, as training might have left it."""
    method = facts.get("method", METHOD)
    size = make_size(problem, method.network.depth) * method.windows
    theta = 0.5 * np.random.default_rng(seed).standard_normal(size)
    settings = {
        "problem": problem,
        "method": METHOD,
        "seed": seed,
        "theta": theta,
        "history": History(np.geomspace(1.0, 1e-3, 30), (("Adam", 20), ("L-BFGS", 10))),
        "stop": Stop.BUDGET,
        "seconds": 1.25,
        "provenance": Provenance("cpu: a processor", {"hcpinn": "0"}),
        "verdict": hc.Verdict("suspect", None, ("Nobody looked.",)),
    }
    return hc.Solution(**{**settings, **facts})


def make_size(problem, depth=2):
    inputs, width, outputs = 1 + 1 + 2 * 2, 8, len(problem.components)
    return (inputs + 1) * width + (depth - 1) * (width + 1) * width + (width + 1) * outputs


def heat_reference(times=11, points=33):
    """The exact solution of `HEAT` on a grid: cos(πx) e^{−kπ²t}."""
    t, x = np.linspace(0, 1, times), np.linspace(-1, 1, points)
    return hc.Reference(
        problem_name="heat",
        times=t,
        coordinates=(x,),
        values={"u": np.exp(-0.1 * np.pi**2 * t)[:, None] * np.cos(np.pi * x)},
        error_estimate=1e-12,
        solver="the formula",
    )


SOLUTION = make()
T, X = np.meshgrid(np.linspace(0.1, 0.9, 3), np.linspace(-0.8, 0.7, 4), indexing="ij")


# Values


def test_values_are_those_of_the_trial_function():
    points = jnp.stack([jnp.asarray(T).ravel(), jnp.asarray(X).ravel()], axis=1)
    exact = SOLUTION.trial(SOLUTION.network, points)[:, 0].reshape(T.shape)
    got = SOLUTION(T, X)
    assert isinstance(got, np.ndarray)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, exact, rtol=1e-14)


def test_coordinates_broadcast():
    whole = SOLUTION(T, X)
    np.testing.assert_allclose(SOLUTION(T[:, :1], X[:1]), whole, rtol=1e-13)
    np.testing.assert_allclose(SOLUTION(T[1, 0], X[1]), whole[1], rtol=1e-13)
    assert SOLUTION(0.5, 0.5).shape == ()
    assert SOLUTION(np.zeros((2, 0)), 0.5).shape == (2, 0)
    assert SOLUTION([0.0, 1.0], [0.0, 0.5]).shape == (2,)
    assert SOLUTION(0, 1) == pytest.approx(-1.0)


def test_more_points_than_fit_at_once_give_the_same_values():
    x = np.linspace(-1, 1, 70_001)
    some = np.array([0, 1, 65_535, 65_536, 70_000])
    np.testing.assert_allclose(SOLUTION(0.3, x)[some], SOLUTION(0.3, x[some]), rtol=1e-13)


def test_systems_give_a_tuple_and_complex_fields_complex_values():
    u, v = make(SYSTEM)(0.0, X)
    np.testing.assert_allclose(u, np.cos(np.pi * X), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(v, np.sin(np.pi * X) + 2, rtol=1e-13)
    wave = make(WAVE)(0.0, X)
    assert wave.dtype == np.complex128
    np.testing.assert_allclose(wave, np.exp(1j * np.pi * X), rtol=1e-13)


def test_a_grid_has_one_value_for_every_time_and_position():
    times, x = [0.0, 0.4, 1.0], np.linspace(-1, 1, 5)
    grid = SOLUTION.on_grid(times, x)
    assert set(grid) == {"u"}
    assert grid["u"].shape == (3, 5)
    for i, t in enumerate(times):
        np.testing.assert_allclose(grid["u"][i], SOLUTION(t, x), rtol=1e-13)
    both = make(SYSTEM).on_grid(times, x)
    assert {name: value.shape for name, value in both.items()} == {"u": (3, 5), "v": (3, 5)}


# Derivatives


def difference(function, step, *, order=1):
    """A central difference of fourth order, at zero."""
    weights = {1: {-2: 1, -1: -8, 1: 8, 2: -1}, 2: {-2: -1, -1: 16, 0: -30, 1: 16, 2: -1}}[order]
    return sum(w * function(n * step) for n, w in weights.items()) / (12 * step**order)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dx", lambda u: difference(lambda h: u(T, X + h), 1e-3)),
        ("dt", lambda u: difference(lambda h: u(T + h, X), 1e-3)),
        ("dxx", lambda u: difference(lambda h: u(T, X + h), 1e-3, order=2)),
        ("dtx", lambda u: difference(lambda h: u.dx(T + h, X), 1e-3)),
        ("dxt", lambda u: difference(lambda h: u.dt(T, X + h), 1e-3)),
        ("dxxxx", lambda u: difference(lambda h: u.dxx(T, X + h), 1e-3, order=2)),
    ],
)
def test_derivatives_agree_with_finite_differences(name, expected):
    exact = expected(SOLUTION)
    scale = np.abs(exact).max()
    np.testing.assert_allclose(getattr(SOLUTION, name)(T, X), exact, rtol=1e-6, atol=1e-7 * scale)


def test_derivatives_of_systems_and_complex_fields():
    u, v = make(SYSTEM).dx(0.0, X)
    np.testing.assert_allclose(u, -np.pi * np.sin(np.pi * X), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(v, np.pi * np.cos(np.pi * X), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(make(WAVE).dxx(0.0, X), -(np.pi**2) * np.exp(1j * np.pi * X), rtol=1e-12)


def test_the_order_of_letters_does_not_matter_and_no_letters_mean_the_value():
    np.testing.assert_array_equal(SOLUTION.dtx(T, X), SOLUTION.dxt(T, X))
    np.testing.assert_array_equal(SOLUTION.derivative("", T, X), SOLUTION(T, X))
    np.testing.assert_array_equal(SOLUTION.derivative("xx", T, X), SOLUTION.dxx(T, X))


def test_the_residual_is_what_the_derivatives_leave():
    exact = SOLUTION.dt(T, X) - 0.1 * SOLUTION.dxx(T, X)
    np.testing.assert_allclose(SOLUTION.residual(T, X), exact, rtol=1e-10, atol=1e-12)
    system = make(SYSTEM)
    (_, v), (ut, vt) = system(T, X), system.dt(T, X)
    (uxx, _), (_, vx) = system.dxx(T, X), system.dx(T, X)
    first, second = system.residual(T, X)
    np.testing.assert_allclose(first, ut - uxx + v, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(second, vt - vx, rtol=1e-10, atol=1e-12)


# Time windows

MARCHED = make(method=dataclasses.replace(METHOD, windows=3, network=hc.MLP(8, 1)))
EDGES = (1 / 3, 2 / 3)
INNER = np.array([0.07, 0.2, 0.4, 0.6, 0.8, 0.93])[:, None]
"""Times inside the windows, farther from their edges than differences reach."""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dx", lambda u: difference(lambda h: u(INNER, X[0] + h), 1e-3)),
        ("dt", lambda u: difference(lambda h: u(INNER + h, X[0]), 1e-3)),
        ("dxx", lambda u: difference(lambda h: u(INNER, X[0] + h), 1e-3, order=2)),
        ("dtx", lambda u: difference(lambda h: u.dx(INNER + h, X[0]), 1e-3)),
    ],
)
def test_derivatives_in_time_windows_agree_with_finite_differences(name, expected):
    exact = expected(MARCHED)
    scale = np.abs(exact).max()
    np.testing.assert_allclose(getattr(MARCHED, name)(INNER, X[0]), exact, rtol=1e-6, atol=1e-6 * scale)


def test_time_windows_join_in_values_and_in_slopes_along_x():
    x = np.linspace(-1, 1, 9)
    for edge in EDGES:
        before, after = np.nextafter(edge, 0), np.nextafter(edge, 1)
        for part in ("", "x", "xx"):
            values = [MARCHED.derivative(part, t, x) for t in (before, after)]
            np.testing.assert_allclose(*values, rtol=1e-12, atol=1e-12)
        assert (np.abs(MARCHED.dt(before, x) - MARCHED.dt(after, x)) > 1e-3).any()
    np.testing.assert_allclose(MARCHED(0.0, x), np.cos(np.pi * x), rtol=1e-14, atol=1e-15)


def test_the_residual_in_time_windows_is_what_the_derivatives_leave():
    exact = MARCHED.dt(INNER, X[0]) - 0.1 * MARCHED.dxx(INNER, X[0])
    np.testing.assert_allclose(MARCHED.residual(INNER, X[0]), exact, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("precise", [True, False])
def test_time_windows_can_be_differentiated_by_jax_in_either_precision(precise):
    with jax.enable_x64(precise), warnings.catch_warnings():
        warnings.simplefilter("error")
        times, x = jnp.asarray(INNER[:, 0]), jnp.asarray(0.3)
        slope = jax.jit(jax.vmap(jax.grad(MARCHED, argnums=1), in_axes=(0, None)))(times, x)
        rate = jax.jit(jax.vmap(jax.grad(MARCHED), in_axes=(0, None)))(times, x)
    assert slope.dtype == (jnp.float64 if precise else jnp.float32)
    digits = 1e-10 if precise else 2e-3
    np.testing.assert_allclose(slope, MARCHED.dx(INNER[:, 0], 0.3), rtol=digits, atol=digits)
    np.testing.assert_allclose(rate, MARCHED.dt(INNER[:, 0], 0.3), rtol=digits, atol=digits)


def test_training_that_is_cut_short_in_its_first_window_gives_a_solution_up_to_the_horizon():
    method = dataclasses.replace(METHOD, windows=3, points=64, stages=(hc.Adam(steps=100_000),))
    solution = hc.solve(declare(rhs=lambda u: -u), method, max_seconds=0.0, reference=False)
    assert solution.stop is Stop.TIME
    [(label, count)] = solution.history.stages
    assert (label, count) == ("Adam, window 1/3", len(solution.history.loss))
    assert np.isfinite(solution(T, X)).all()
    for edge in EDGES:
        ends = [solution(t, X[0]) for t in (edge, np.nextafter(edge, 1))]
        np.testing.assert_allclose(*ends, rtol=1e-12, atol=1e-14)
    first, *others = solution.theta.reshape(3, -1)
    for other in others:
        np.testing.assert_array_equal(other, first)  # the latest network stands in


# Inside JAX


def in_jax():
    """Value, slope, slopes of a sum and values of a map, taken by JAX."""
    t, x = jnp.asarray(0.4), jnp.asarray(0.3)
    many = jnp.asarray(X[0])
    return [
        jax.jit(SOLUTION)(t, x),
        jax.jit(jax.grad(SOLUTION, argnums=1))(t, x),
        jax.jit(jax.grad(jax.grad(lambda x: SOLUTION(0.4, x))))(x),
        jax.jit(jax.vmap(lambda x: SOLUTION(0.4, x)))(many),
        jax.jit(jax.grad(lambda x: SOLUTION.dx(0.4, x)))(x),
        jax.jit(jax.jacfwd(lambda x: SOLUTION(0.4, x).sum()))(many),
    ]


def expected_in_jax():
    return [
        SOLUTION(0.4, 0.3),
        SOLUTION.dx(0.4, 0.3),
        SOLUTION.dxx(0.4, 0.3),
        SOLUTION(0.4, X[0]),
        SOLUTION.dxx(0.4, 0.3),
        SOLUTION.dx(0.4, X[0]),
    ]


def test_a_solution_can_be_compiled_differentiated_and_mapped():
    for got, exact in zip(in_jax(), expected_in_jax(), strict=True):
        np.testing.assert_allclose(got, exact, rtol=1e-11)


def test_it_can_in_single_precision_too_which_is_jaxs_default():
    with jax.enable_x64(False), warnings.catch_warnings():
        warnings.simplefilter("error")
        single = in_jax()
    for got, exact in zip(single, expected_in_jax(), strict=True):
        assert got.dtype == jnp.float32
        np.testing.assert_allclose(got, exact, rtol=2e-4)


def test_plain_arrays_give_double_precision_whatever_jax_is_set_to():
    with jax.enable_x64(False):
        got = SOLUTION(T, X)
        slope = SOLUTION.dxx(T, X)
    np.testing.assert_array_equal(got, SOLUTION(T, X))
    np.testing.assert_array_equal(slope, SOLUTION.dxx(T, X))
    assert got.dtype == slope.dtype == np.float64


def test_a_solution_can_be_made_and_used_first_inside_a_compiled_function():
    fresh = make(seed=4)
    inside = jax.jit(lambda x: fresh(0.2, x))(jnp.asarray(0.1))
    np.testing.assert_allclose(inside, fresh(0.2, 0.1), rtol=1e-12)


# Bad questions


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda s: s(0.1, 0.2, 0.3), "heat has the coordinates t, x, but 3 were given"),
        (lambda s: s.dx(0.1, 0.2, 0.3), "heat has the coordinates t, x, but 3 were given"),
        (lambda s: s.residual(0.1, 0.2, 0.3), "heat has the coordinates t, x, but 3 were given"),
        (lambda s: s.on_grid([0.1]), "heat has the coordinates t, x, but 1 w"),
        (lambda s: s.on_grid([0.1], [0.2], [0.3]), "heat has the coordinates t, x, but 3 were given"),
        (lambda s: s(np.zeros(3), np.zeros(4)), r"shapes \(3,\), \(4,\), which do not broadcast"),
        (lambda s: s.residual(np.zeros(3), np.zeros(4)), r"shapes \(3,\), \(4,\), which do not broadcast"),
        (lambda s: s("now", 0.2), "must be a number or an array of numbers, but is 'now'"),
        (lambda s: s(0.1, [1j]), "must be a number or an array of numbers"),
        (lambda s: s.dy(0.1, 0.2), r"'y' is not a derivative of heat: .* t, x"),
        (lambda s: s.derivative("q", 0.1, 0.2), "'q' is not a derivative of heat"),
        (lambda s: s.dxxxxxxx(0.1, 0.2), "up to 6 letters"),
        (lambda s: s.to_xarray(11, 5, 7), "heat has the"),
    ],
)
def test_wrong_questions_are_answered_in_a_sentence(ask, message):
    with pytest.raises(ProblemError, match=message):
        ask(SOLUTION)


def test_too_few_coordinates_are_an_error():
    with pytest.raises((ProblemError, TypeError), match=r"coordinates|argument"):
        SOLUTION(0.1)


def test_other_attributes_are_missing_as_usual():
    for name in ("plott", "d", "dq", "_compiled_value"):
        with pytest.raises(AttributeError, match=name):
            getattr(SOLUTION, name)
    assert not hasattr(SOLUTION, "__array__")


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
    assert promised | {"device", "versions"} <= set(summary)
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


# Labelled data and figures


def test_labelled_data_carry_names_axes_and_values():
    xarray = pytest.importorskip("xarray")
    data = SOLUTION.to_xarray(5, 9)
    assert isinstance(data, xarray.Dataset)
    assert data.u.dims == ("t", "x")
    np.testing.assert_allclose(data.t, np.linspace(0, 1, 5))
    np.testing.assert_allclose(data.x, np.linspace(-1, 1, 9))
    np.testing.assert_allclose(data.u.sel(t=0.25, x=0.5), SOLUTION(0.25, 0.5), rtol=1e-13)
    assert data.attrs["problem"] == "heat"
    own = make(SYSTEM).to_xarray([0.0, 0.1], [0.5])
    assert set(own.data_vars) == {"u", "v"}
    assert own.u.shape == (2, 1)


COMPARED = make(reference=heat_reference(), rel_l2={"u": 0.5}, rel_l1={"u": 0.4})


def weights(*sizes, axes=2):
    """Point weights of terms of these sizes."""
    rng = np.random.default_rng(0)
    names = ("residual", "initial", "periodic")
    return {n: PointWeights(rng.random((k, axes)), rng.random(k)) for n, k in zip(names, sizes, strict=False)}


WEIGHTED = make(
    weights=weights(300, 20),
    history=History(
        np.geomspace(1.0, 1e-3, 30),
        tuple((f"Adam, window {n}/6", 5) for n in range(1, 7)),
        {"residual": np.geomspace(1.0, 1e-4, 30), "initial": np.full(30, 0.1)},
    ),
)


@pytest.mark.parametrize(
    ("solution", "kind"),
    [
        (SOLUTION, "plot_history"),
        (COMPARED, "plot"),
        (COMPARED, "plot_slices"),
        (make(WAVE), "plot_slices"),
        (WEIGHTED, "plot_weights"),
        (WEIGHTED, "plot_history"),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_figures_are_written_and_not_blank(tmp_path, solution, kind):
    import matplotlib.image
    import matplotlib.pyplot as plt

    path = getattr(solution, kind)(tmp_path / "new" / "figure.png")
    assert path == tmp_path / "new" / "figure.png"
    assert path.read_bytes().startswith(b"\x89PNG")
    pixels = matplotlib.image.imread(path)[..., :3]
    assert min(pixels.shape[:2]) > 300
    assert (pixels.min(axis=2) < 0.95).mean() > 0.01
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 10
    assert plt.get_fignums() == []


def test_a_figure_without_a_path_is_handed_over():
    import matplotlib.figure
    import matplotlib.pyplot as plt

    figure = SOLUTION.plot_history()
    assert isinstance(figure, matplotlib.figure.Figure)
    plt.close(figure)


def test_the_history_shows_each_term_by_name():
    import matplotlib.pyplot as plt

    [axis] = WEIGHTED.plot_history().axes
    shown = [text.get_text() for text in axis.get_legend().get_texts()]
    assert shown == ["loss", "residual, mean square", "initial, mean square"]
    drawn = dict(zip(shown, (line.get_ydata() for line in axis.get_lines()), strict=False))
    np.testing.assert_array_equal(drawn["residual, mean square"], WEIGHTED.history.terms["residual"])
    plt.close("all")


def test_the_figure_of_weights_has_a_panel_per_term_and_every_point_on_it():
    import matplotlib.pyplot as plt

    panels = [axis for axis in WEIGHTED.plot_weights().axes if axis.get_title()]
    assert [axis.get_title() for axis in panels] == ["residual: weights", "initial: weights"]
    assert [len(axis.collections[0].get_offsets()) for axis in panels] == [300, 20]
    plt.close("all")
    with pytest.raises(HcpinnError, match=r"'custom' has no adaptive weights to draw.*SelfAdaptive\(\)"):
        SOLUTION.plot_weights()


def test_an_animation_shows_the_solution_in_time(tmp_path):
    from PIL import Image

    path = SOLUTION.animate(tmp_path / "new" / "film.gif", frames=4)
    assert path == tmp_path / "new" / "film.gif"
    with Image.open(path) as film:
        assert (film.format, film.n_frames) == ("GIF", 4)
        pictures = []
        for number in range(4):
            film.seek(number)
            pictures.append(np.asarray(film.convert("RGB")))
    for one, other in itertools.pairwise(pictures):
        assert (one != other).any()


def test_in_the_plane_weights_and_animations_are_drawn_over_x_and_y(tmp_path):
    plate = declare(
        domain=hc.Box((0, 1), (0, 1)),
        rhs=lambda u: -u,
        initial=lambda x, y: jnp.sin(2 * jnp.pi * x) * jnp.cos(2 * jnp.pi * y),
    )
    size = (1 + 2 * 5 + 1) * 8 + 9 * 8 + 9
    solution = make(plate, theta=np.zeros(size), weights=weights(50, axes=3))
    figure = solution.plot_weights()
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == ("x", "y")
    assert solution.animate(tmp_path / "film.gif", frames=2).stat().st_size > 1000
    solution.plot_weights(tmp_path / "weights.png")


def test_the_history_of_losses_that_broke_down_can_be_drawn(tmp_path):
    for losses in ([np.nan, np.nan], [1.0, np.inf], [0.0, 0.0]):
        make(history=History(np.array(losses), (("Adam", 2),))).plot_history(tmp_path / "h.png")


def test_a_figure_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(HcpinnError, match="Cannot write"):
        SOLUTION.plot_history(tmp_path / "file" / "h.png")
    with pytest.raises(HcpinnError, match="qqq"):
        SOLUTION.plot_history(tmp_path / "h.qqq")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
