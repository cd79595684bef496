"""Measurements: shapes, files, and sentences on what is wrong."""

import numpy as np
import pytest

import hcpinn as hc
from hcpinn.estimation.reading import read_experiments

T, X = np.linspace(0, 1, 4), np.linspace(-1, 1, 5)
GRID = np.outer(T, X)


def test_a_grid_and_its_points_are_the_same_measurements():
    grid = hc.Measurements(T, X, u=GRID)
    t, x = np.meshgrid(T, X, indexing="ij")
    points = hc.Measurements(t.ravel(), x.ravel(), u=GRID.ravel())
    np.testing.assert_array_equal(grid.points, points.points)
    np.testing.assert_array_equal(grid.values["u"], points.values["u"])


def test_missing_values_are_not_counted():
    values = GRID.copy()
    values[1, 2] = np.nan
    assert hc.Measurements(T, X, u=values).count == values.size - 1


def test_a_table_is_read_with_noise_and_missing_cells(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("# a comment\nt, x, u, u_noise, v\n0.5, 0.1, 2.0, 0.1, 7\n0.6, 0.2, , 0.1, 8\n")
    data = hc.Measurements.read(path)
    np.testing.assert_array_equal(data.points, [[0.5, 0.1], [0.6, 0.2]])
    assert data.count == 3
    assert data.noise["v"] is None
    np.testing.assert_array_equal(data.noise["u"], [0.1, 0.1])


def test_an_xarray_dataset_and_netcdf_coordinates_are_read():
    xarray = pytest.importorskip("xarray")
    data = xarray.Dataset({"u": (("x", "t"), GRID.T)}, coords={"t": T, "x": X})
    found = hc.Measurements.from_xarray(data)
    order = np.lexsort(found.points.T[::-1])
    np.testing.assert_array_equal(found.values["u"][order], GRID.ravel())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda: hc.Measurements(T, X), "by name"),
        (lambda: hc.Measurements(T, X, u=np.zeros((3, 3))), "shape"),
        (lambda: hc.Measurements(T, T, u=T * np.nan), "missing"),
        (lambda: hc.Measurements(T, T, u=T, noise=0.0), "positive"),
        (lambda: hc.Measurements(T, T, u=T, noise={"v": 1.0}), "'v'"),
        (lambda: hc.Measurements(T, T, u=T, v=T, observe=lambda u: u.x), "observe"),
        (lambda: hc.Unknown(-1.0, log=True), "positive"),
        (lambda: hc.Unknown(3.0, high=2.0), "between"),
        (lambda: hc.Unknown(float("nan")), "nan"),
    ],
)
def test_what_is_wrong_is_said(given, said):
    with pytest.raises(hc.HcpinnError, match=said):
        given()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("t,x,u\n", "no measurements"),
        ("t,x,u\n1,2\n", "Row 2"),
        ("t,x,u\n1,2,a\n", "'a'"),
        ("x,u\n1,2\n", "needs t"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(tmp_path, text, said):
    path = tmp_path / "data.csv"
    path.write_text(text)
    with pytest.raises(hc.HcpinnError, match=said):
        hc.Measurements.read(path)


def test_columns_named_like_parameters_are_settings_of_experiments(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("t,x,r,u\n0,0,2,1\n0.5,0.1,1,3\n1,0.2,2,\n0.5,0,2,4\n")
    first, second = read_experiments(path, {"r", "k"})
    assert (first.settings, second.settings) == ({"r": 1.0}, {"r": 2.0})
    np.testing.assert_array_equal(second.points[:, 0], [0, 1, 0.5])
    np.testing.assert_array_equal(second.values["u"], [1, np.nan, 4])
    assert "r = 2" in second.name
    (alone,) = read_experiments(path, {"k"})
    assert set(alone.values) == {"r", "u"}
    path.write_text("t,x,r,u\n0,0,2,1\n0.5,0.1,,3\n")
    with pytest.raises(hc.HcpinnError, match="every row needs a value"):
        read_experiments(path, {"r"})
