"""A solution is handed over as labelled data and drawn."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest
from matplotlib.colors import to_rgb

import hcpinn as hc
from declarations import declare
from hcpinn.descent import History, PointWeights
from hcpinn.errors import HcpinnError
from hcpinn.solution.canvas import finish, subplots
from hcpinn.solution.figures import field_figure, slice_figure
from hcpinn.solution.shown import Shown, field_colours
from solutions import SOLUTION, SYSTEM, WAVE, heat_reference, make


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

    assert isinstance(SOLUTION.plot_history(), matplotlib.figure.Figure)


@pytest.mark.parametrize(
    ("values", "limits"), [((-1.0, 3.0), (-3.0, 3.0)), ((-1e-5, 3.0), (-1e-5, 3.0)), ((1.0, 3.0), (1.0, 3.0))]
)
def test_signed_fields_have_colours_centred_on_zero_and_others_do_not(values, limits):
    found = field_colours(np.array(values))
    assert (found["vmin"], found["vmax"]) == limits
    assert (found["cmap"] == "RdBu_r") == (limits[0] == -limits[1])


def test_a_field_that_is_zero_at_the_start_has_one_colour_and_no_relative_error_there():
    zero = np.zeros((3, 4, 5))
    zero[1:] = np.random.default_rng(0).random((2, 4, 5))
    noise = zero + 1e-18
    axes = np.arange(3.0), np.arange(4.0), np.arange(5.0)
    shown = Shown(*axes, {"u": noise}, {"u": zero})
    reference, solution, error, *_, last = [a for a in field_figure(shown).axes if a.get_title()]
    assert error.get_title() == "absolute error"
    assert last.get_title().startswith("absolute error, L2 ")
    [one], [other] = reference.collections, solution.collections
    assert one.get_clim() == other.get_clim() == (-0.1, 0.1)


def test_errors_are_shown_on_a_logarithmic_scale():
    t, x = np.linspace(0, 1, 3), np.linspace(0, 1, 4)
    exact = np.ones((3, 4))
    figure = field_figure(
        Shown(t, x, None, {"u": exact + np.outer([0.0, 1e-9, 1e-3], np.ones(4))}, {"u": exact})
    )
    (error,) = [axis for axis in figure.axes if axis.get_title().startswith("absolute error")]
    norm = error.collections[0].norm
    assert (norm.vmin, norm.vmax) == (pytest.approx(1e-7), pytest.approx(1e-3))
    assert norm([1e-5]) == pytest.approx(0.5)


def test_panels_of_a_plane_without_a_reference_stand_in_rows_of_three():
    t, x = np.linspace(0, 1, 3), np.linspace(0, 1, 4)
    figure = field_figure(Shown(t, x, x, {"u": np.ones((3, 4, 4)), "v": np.ones((3, 4, 4))}, None))
    panels = [axis for axis in figure.axes if axis.get_title()]
    assert len(panels) == 6
    assert panels[0].get_gridspec().get_geometry() == (2, 3)


def test_pictures_of_a_box_say_where_they_cut_it():
    t, x, ones = np.linspace(0, 1, 3), np.linspace(0, 1, 5), {"u": np.ones((3, 5, 5))}
    shown = Shown(t, x, x, ones, None, plane=", z = 0.25")
    titles = [axis.get_title() for axis in field_figure(shown).axes if axis.get_title()]
    assert titles[1] == "u at t = 0.5, z = 0.25"
    assert slice_figure(shown).axes[1].get_title() == "t = 0.5, y = 0.5, z = 0.25"


def test_the_history_shows_each_term_by_name():
    [axis] = WEIGHTED.plot_history().axes
    shown = [text.get_text() for text in axis.get_legend().get_texts()]
    assert shown == ["loss", "residual, mean square", "initial, mean square"]
    drawn = dict(zip(shown, (line.get_ydata() for line in axis.get_lines()), strict=False))
    np.testing.assert_array_equal(drawn["residual, mean square"], WEIGHTED.history.terms["residual"])


def test_the_figure_of_weights_has_a_panel_per_term_and_every_point_on_it():
    panels = [axis for axis in WEIGHTED.plot_weights().axes if axis.get_title()]
    assert [axis.get_title() for axis in panels] == ["residual: weights", "initial: weights"]
    assert [len(axis.collections[0].get_offsets()) for axis in panels] == [300, 20]
    with pytest.raises(HcpinnError, match=r"'custom' has no adaptive weights to draw.*SelfAdaptive\(\)"):
        SOLUTION.plot_weights()


def test_an_animation_shows_the_solution_in_time(tmp_path):
    from PIL import Image

    path = SOLUTION.animate(tmp_path / "new" / "film.gif", frames=4)
    assert path == tmp_path / "new" / "film.gif"
    with Image.open(path) as film:
        assert (film.format, getattr(film, "n_frames", 1)) == ("GIF", 4)
        pictures = []
        for number in range(4):
            film.seek(number)
            pictures.append(np.asarray(film.convert("RGB")))
    for one, other in itertools.pairwise(pictures):
        assert (one != other).any()


@pytest.mark.parametrize(("ending", "kind"), [("webp", "WEBP"), ("png", "PNG")])
def test_the_ending_of_a_film_decides_its_format(tmp_path, ending, kind):
    from PIL import Image

    with Image.open(SOLUTION.animate(tmp_path / f"film.{ending}", frames=3, theme="dark")) as film:
        assert (film.format, getattr(film, "n_frames", 1)) == (kind, 3)
        assert np.asarray(film.convert("RGB")).mean() < 80
    with pytest.raises(HcpinnError, match=r"film.avi: the name of a film ends with .gif, .png, .webp"):
        SOLUTION.animate(tmp_path / "film.avi")


def test_in_the_dark_a_figure_has_a_dark_ground_light_letters_and_zero_in_black():
    figure = COMPARED.plot(theme="dark")
    panels = [axis for axis in figure.axes if axis.get_title()]
    grounds = [np.mean(part.get_facecolor()[:3]) for part in (figure, *figure.axes)]
    assert max(grounds) < 0.2
    letters = [
        text for axis in figure.axes for text in (axis.title, axis.xaxis.label, *axis.get_xticklabels())
    ]
    assert min(np.mean(to_rgb(text.get_color())) for text in letters) > 0.7
    signed = panels[0].collections[0]
    assert np.mean(signed.to_rgba(0.0)[:3]) < 0.2 < np.mean(signed.to_rgba(signed.norm.vmax)[:3])
    with pytest.raises(HcpinnError, match="theme 'light' or 'dark', not 'sepia'"):
        SOLUTION.plot(theme="sepia")


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


def test_drawing_leaves_matplotlib_as_the_caller_has_it(tmp_path):
    import matplotlib
    import matplotlib.pyplot as plt

    before = matplotlib.get_backend()
    plt.switch_backend("svg")
    try:
        (own,) = [plt.figure().number]
        settings = dict(matplotlib.rcParams)
        COMPARED.plot(tmp_path / "a.png")
        figure = COMPARED.plot()
        SOLUTION.animate(tmp_path / "a.gif", frames=2)
        assert matplotlib.get_backend() == "svg"
        assert dict(matplotlib.rcParams) == settings
        assert plt.get_fignums() == [own]
        assert figure.canvas.get_width_height()[0] > 1000
        assert figure._repr_png_().startswith(b"\x89PNG")
    finally:
        plt.close("all")
        plt.switch_backend(before)


def test_threads_draw_side_by_side_as_one_after_the_other(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    alone = WEIGHTED.plot_history(tmp_path / "alone.png").read_bytes()
    with ThreadPoolExecutor(4) as threads:
        paths = list(threads.map(lambda n: WEIGHTED.plot_history(tmp_path / f"{n}.png"), range(8)))
    assert [path.read_bytes() == alone for path in paths] == [True] * 8


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_names_are_drawn_as_they_are_and_powers_of_ten_as_powers(tmp_path, ending):
    names = ["$$", r"$\frac", "co$t", "a$_b$"]
    figure, axes = subplots(1, 1, (4, 3))
    axis = axes[0][0]
    for name in names:
        axis.semilogx([1e-3, 1e3], [0, 3], label=name)
    axis.set(title=names[0], xlabel=names[1], ylabel=names[2])
    axis.set_yticks(range(4), names)
    axis.legend()
    finish(figure, tmp_path / f"a.{ending}")
    assert (tmp_path / f"a.{ending}").stat().st_size > 1000
    assert [text.get_parse_math() for text in axis.get_yticklabels()] == [False] * 4
    assert {text.get_parse_math() for text in axis.get_xticklabels()} == {True}
