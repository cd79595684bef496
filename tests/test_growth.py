"""Sweeps go from small to large, stop in time, and their slopes are those of powers."""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

from hcpinn.speed import BenchCase, BenchRow, Ceilings

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
from growth import BASE, SWEEPS, Left, slope, sweep

ROUND = Ceilings("float32", products=1e9, arithmetic=1e8, functions=1e7, bandwidth=1e6)
SMALL = BenchCase(points=16, width=4, depth=1, modes=1)


def test_every_sweep_changes_a_thing_that_a_case_has():
    assert set(SWEEPS) <= {field.name for field in dataclasses.fields(BenchCase)}
    assert all(values[0] >= 1 and list(values) == sorted(values) for values in SWEEPS.values())
    assert max(SWEEPS["points"]) == 10_000_000
    assert BASE.points * max(SWEEPS["runs"]) < 1_000_000


def test_only_one_thing_changes_and_the_floor_grows_with_it():
    rows = list(sweep("points", ROUND, base=SMALL, values=(16, 32), rounds=1))
    assert [row.case for row in rows] == [SMALL, dataclasses.replace(SMALL, points=32)]
    assert rows[0].floor < rows[1].floor < 2 * rows[0].floor


def test_what_would_take_too_long_is_left_out_with_the_reason():
    first, second = sweep("points", ROUND, base=SMALL, values=(16, 10**9), rounds=1, limit=1e-3)
    assert isinstance(first, BenchRow)
    assert isinstance(second, Left)
    assert second.case.points == 10**9
    assert "would take" in second.why


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_the_slope_of_a_power_is_the_power(power):
    values = np.array([1, 2, 4, 8, 16])
    assert slope(values, 3 * values**power) == pytest.approx(power, abs=1e-12)


def test_small_values_do_not_bend_the_slope():
    values = 2 ** np.arange(8)
    assert slope(values, np.maximum(values, 4.0)) > 0.9
