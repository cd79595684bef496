"""`hcpinn bench`: its table, its file, and what it refuses."""

import dataclasses
import json

import pytest

from command_line import assert_refused, hcpinn
from hcpinn.speed import BenchCase, Ceilings, Work, cells, measure_case, measure_ceilings, standard_cases

ROUND = Ceilings("float32", products=1e9, arithmetic=1e8, functions=1e7, bandwidth=1e6)
SMALL = BenchCase(points=32, width=4, depth=1, modes=1)


def test_the_floor_is_computing_or_moving_whichever_takes_longer():
    computing = Work(products=2e9, arithmetic=1e8, functions=1e7, bytes=1e6)
    assert ROUND.floor(computing) == pytest.approx(4.0)
    assert ROUND.floor(dataclasses.replace(computing, bytes=9e6)) == pytest.approx(9.0)


def test_ceilings_are_rates_above_zero():
    found = measure_ceilings("float32", rounds=1, seconds=1e-3)
    assert min(found.products, found.arithmetic, found.functions, found.bandwidth) > 1e6


def test_the_standard_cases_are_all_combinations():
    cases = standard_cases(64, 3)
    assert len(set(cases)) == 16
    assert {c.order for c in cases} == {2, 4}
    assert {c.runs for c in standard_cases(64, 1)} == {1}


def test_a_row_says_what_it_found_also_when_read_from_a_file():
    row = measure_case(SMALL, ROUND, rounds=2, limit=1.0)
    assert row.ratio == row.time / row.floor
    said = cells(json.loads(json.dumps(row.plain())))
    assert said[:4] == ("float32", "1", "2", "1")
    assert float(said[4]) == pytest.approx(1e3 * row.time, rel=0.01)
    assert float(said[7]) == pytest.approx(32 / row.time, rel=0.01)


def test_the_command_prints_a_table_and_leaves_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr("hcpinn.speed.measure_ceilings", lambda precision, **_: ROUND)
    monkeypatch.setattr("hcpinn.speed.standard_cases", lambda points, runs: [SMALL])
    file = tmp_path / "deep" / "bench.json"
    code, said, _ = hcpinn("bench", "--quick", "--out", file)
    assert code == 0
    assert "over floor" in said
    assert "1 GFLOP/s in matrix products" in said
    record = json.loads(file.read_text())
    assert record["rows"][0]["points"] == 32
    assert {"device", "versions", "commit", "load_average", "ceilings"} <= set(record)


@pytest.mark.parametrize("option", ["--points", "--runs"])
def test_nothing_to_measure_is_refused(option):
    code, _, complaint = hcpinn("bench", option, "0")
    assert_refused(code, complaint, option)


def test_a_file_that_cannot_be_written_is_refused_before_measuring(tmp_path):
    (tmp_path / "file").write_text("")
    code, _, complaint = hcpinn("bench", "--out", tmp_path / "file" / "bench.json")
    assert_refused(code, complaint, "Cannot write")
