"""Files for other programs hold the values of the solution, in full."""

import csv

import jax
import numpy as np
import pytest
import scipy.io
import xarray

import hcpinn as hc
from declarations import declare

SMALL = hc.Evolution(features=16)


@pytest.fixture(scope="module")
def line():
    """A system with a complex field."""
    problem = declare(
        rhs=lambda u, w: (1e-2 * u.xx, 1j * w.xx),
        initial=lambda x: (np.cos(np.pi * x), np.exp(1j * np.pi * x)),
        horizon=0.1,
    )
    return hc.solve(problem, SMALL, reference=False)


@pytest.fixture(scope="module")
def plane():
    problem = hc.Problem(
        domain=hc.Box((0, 2), (0, 1)),
        horizon=0.1,
        rhs=lambda u: 0.1 * u.laplacian,
        initial=lambda x, y: np.cos(np.pi * x) * np.cos(2 * np.pi * y),
    )
    return hc.solve(problem, SMALL, reference=False)


def test_counts_and_places_mean_the_same_everywhere(line):
    by_count, by_place = line.on_grid(3, 9), line.on_grid(np.linspace(0, 0.1, 3), np.linspace(-1, 1, 9))
    np.testing.assert_array_equal(by_count["u"], by_place["u"])
    labelled = line.to_xarray(3, 9)
    np.testing.assert_array_equal(labelled["w"].values, by_count["w"])
    np.testing.assert_array_equal(labelled["x"].values, np.linspace(-1, 1, 9))
    arrays = line.to_arrays(3, 9)
    assert [*arrays] == ["t", "x", "u", "w"]
    assert line.on_grid(0.05, 9)["u"].shape == (1, 9)
    with pytest.raises(hc.HcpinnError, match=r"0 is not a number of points along t.* write 0\.0"):
        line.on_grid(0, 9)
    with pytest.raises(hc.HcpinnError, match="give fewer than"):
        line.on_grid(100_000, 100_000)


@pytest.mark.parametrize("ending", ["nc", "npz", "mat"])
def test_arrays_are_read_again_as_they_are(line, ending, tmp_path):
    path = line.export(tmp_path / f"s.{ending}", 4, 7)
    if ending == "nc":
        with xarray.open_dataset(path, engine="scipy") as opened:
            found = {name: opened[name].values for name in ("t", "x", "u", "real_w", "imag_w")}
            assert opened["u"].dims == ("t", "x")
            assert opened.attrs["problem"] == "problem"
    else:
        found = dict(np.load(path)) if ending == "npz" else scipy.io.loadmat(path)
    values = line.on_grid(4, 7)
    np.testing.assert_array_equal(found["u"], values["u"])
    np.testing.assert_array_equal(found["imag_w"], values["w"].imag)
    np.testing.assert_array_equal(np.ravel(found["x"]), np.linspace(-1, 1, 7))


def test_a_table_has_a_row_for_every_point(line, tmp_path):
    path = line.export(tmp_path / "s.csv", 3, 5)
    with path.open() as stream:
        head, *rows = csv.reader(stream)
    assert head == ["t", "x", "u", "real_w", "imag_w"]
    t, x, u = np.array(rows, float).T[:3]
    np.testing.assert_array_equal(u.reshape(3, 5), line.on_grid(3, 5)["u"])
    np.testing.assert_array_equal(t.reshape(3, 5)[:, 0], np.linspace(0, 0.1, 3))
    assert len(x) == 15


def test_a_series_for_paraview_gives_the_values_again(plane, tmp_path):
    meshio = pytest.importorskip("meshio")
    path = plane.export(tmp_path / "film.pvd", 3, 9, 5)
    listed = path.read_text()
    assert listed.count("<DataSet") == 3
    assert 'timestep="0.05" file="film-0001.vtu"' in listed
    for step, time in enumerate((0.0, 0.05, 0.1)):
        mesh = meshio.read(tmp_path / f"film-{step:04d}.vtu")
        x, y, z = mesh.points.T
        np.testing.assert_allclose(mesh.point_data["u"], plane(time, x, y), rtol=0, atol=1e-12)
        assert not z.any()
        [cells] = mesh.cells
        assert (cells.type, len(cells.data)) == ("quad", 8 * 4)
        corners = mesh.points[cells.data]
        sides = np.roll(corners, -1, axis=1) - corners
        area = (sides[:, 0, 0] * sides[:, 1, 1] - sides[:, 0, 1] * sides[:, 1, 0]).sum()
        assert area == pytest.approx(2.0)


def test_the_function_itself_is_a_program(plane, tmp_path):
    pytest.importorskip("flatbuffers")
    path = plane.export(tmp_path / "u.stablehlo")
    program = jax.export.deserialize(bytearray(path.read_bytes()))
    points = np.random.default_rng(0).random((1024, 3)) * [0.1, 2, 1]
    np.testing.assert_allclose(program.call(points)[:, 0], plane(*points.T), rtol=0, atol=1e-12)


def test_an_unknown_ending_is_answered_with_those_that_are_known(line, tmp_path):
    with pytest.raises(hc.HcpinnError, match=r"no format '\.vtp'.*\.pvd"):
        line.export(tmp_path / "s.vtp")
