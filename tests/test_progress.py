"""What a solve tells while it works."""

import io
import re
import sys

import pytest

import hcpinn as hc
from declarations import declare


@pytest.fixture(scope="module")
def told():
    seen = []
    solution = hc.solve(declare(horizon=0.2), accuracy=1e-4, reference=False, on_progress=seen.append)
    return seen, solution


def test_an_evolution_tells_its_passes_the_time_reached_and_the_estimate(told):
    seen, solution = told
    assert [*dict.fromkeys(s.stage for s in seen)] == [
        f"pass {n}, {name.split(', ')[1]}" for n, (name, _) in enumerate(solution.history.stages, 1)
    ]
    assert all(0 <= s.share <= 1 and 0 <= s.time <= 0.2 and s.loss is None for s in seen)
    assert seen[0].estimate is None
    assert seen[-1].estimate == pytest.approx(solution.estimated_error, rel=0.1)
    assert {s.accuracy for s in seen} == {1e-4}
    assert [s.seconds for s in seen] == sorted(s.seconds for s in seen)


def test_a_training_tells_its_steps_and_its_loss():
    seen = []
    method = hc.Method(network=hc.MLP(6, 1), embedding=hc.Fourier(1), points=64, stages=(hc.Adam(steps=40),))
    hc.solve(declare(horizon=0.2), method, reference=False, on_progress=seen.append)
    assert seen[-1].step == 40
    assert seen[-1].share == 1.0
    assert seen[-1].loss > 0
    assert seen[-1].time is None


def test_what_the_function_raises_ends_the_solve():
    def refuse(status):
        raise KeyError(status.stage)

    with pytest.raises(KeyError):
        hc.solve(declare(horizon=0.2), reference=False, on_progress=refuse)


def test_a_terminal_shows_one_line_within_eighty_columns(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", screen)
    hc.solve(declare(horizon=0.2), accuracy=1e-4, reference=False, progress=True)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())
    lines = [line.strip() for line in re.split(r"[\r\n]+", plain) if line.strip()]
    assert lines
    assert all(len(line) <= 80 and line.startswith("pass ") for line in lines)
    assert any("t = 0.2" in line and re.search(r"error about \de-\d\d, asked 1e-04", line) for line in lines)
    assert "\n" not in plain.strip("\n")  # one line, drawn again in its place
