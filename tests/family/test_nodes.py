"""Interpolation in parameters: grids, weights, pieces and kinks."""

import jax
import numpy as np
import pytest

from hcpinn.family.interpolation import Interpolation, Piece
from hcpinn.family.kinks import find_kink
from hcpinn.family.nodes import Grid, first_grid
from hcpinn.problem import Between


def test_a_grid_reproduces_the_polynomials_of_its_indices():
    grid = Grid([(a, b) for a in range(4) for b in range(4) if a + b < 4])
    places = np.random.default_rng(0).uniform(-1, 1, (20, 2))
    for a, b in grid.indices:
        values = grid.nodes[:, 0] ** a * grid.nodes[:, 1] ** b
        assert grid.weights(places) @ values == pytest.approx(places[:, 0] ** a * places[:, 1] ** b)


def test_the_interpolant_of_a_smooth_function_converges_geometrically():
    places = np.linspace(-1, 1, 201)[:, None]
    errors = []
    for count in (8, 16, 32):
        grid = Grid([(n,) for n in range(count)])
        values = 1 / (1 + 4 * grid.nodes[:, 0] ** 2)
        errors.append(np.abs(grid.weights(places) @ values - 1 / (1 + 4 * places[:, 0] ** 2)).max())
    assert errors[2] < 1e-5
    assert errors[1] / errors[2] > 10 * errors[0] / errors[1]


def test_a_surplus_is_what_the_nodes_before_were_off_by():
    grid = Grid([(n,) for n in range(6)])
    values = np.exp(grid.nodes[:, 0])
    before = Grid([(n,) for n in range(5)])
    off = values[5] - before.weights(grid.nodes[5:])[0] @ values[:5]
    assert grid.surpluses(values)[5] == pytest.approx(off)


def test_a_grid_grows_where_all_smaller_indices_are():
    grid = first_grid(2)
    assert all(sum(index) == 3 for index in grid.ahead())
    assert grid.grown([(3, 0)]).ahead() == [(0, 3), (1, 2), (2, 1), (4, 0)]


def test_weights_of_pieces_meet_where_the_range_is_split():
    grid = Grid([(n,) for n in range(5)])
    split = Interpolation([Between(1, 100, log=True)], (Piece(grid, 0.0, 0.3), Piece(grid, 0.3, 1.0)))
    kink = 100**0.3

    def kinked(values):
        return np.abs(np.log(values[:, 0] / kink))

    places = np.geomspace(1, 100, 31)[:, None]
    assert split.weights(places) @ kinked(split.nodes) == pytest.approx(kinked(places), abs=1e-12)
    slope = jax.jvp(lambda p: split.weights(p) @ split.nodes[:, 0], (places[4:5],), (np.ones((1, 1)),))[1]
    assert np.isfinite(slope).all()


class Told:
    def __init__(self, value):
        self.remainder = np.atleast_2d(value)

    def error(self, change):
        return float(np.abs(change).max())


@pytest.mark.parametrize(
    ("function", "where"),
    [
        (lambda s: max(s - 0.61803, 0.0), 0.61803),
        (lambda s: float(s > 0.2345), 0.2345),
        (lambda s: np.exp(3 * s), None),
    ],
)
def test_kinks_and_jumps_are_found(function, where):
    piece = Piece(Grid([(n,) for n in range(17)]))
    shares = piece.shares(piece.grid.nodes)[:, 0]
    values = np.array([function(s) for s in shares])
    errors = np.abs(piece.grid.surpluses(values))
    found = find_kink(piece, errors, [Told(v) for v in values], lambda s: Told(function(s)))
    assert found == (None if where is None else pytest.approx(where, abs=1e-3))
