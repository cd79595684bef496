"""Collocation in time: orders of convergence, stiffness, and a dense solution."""

import numpy as np
import pytest

from hcpinn.evolution.limits import Limits
from hcpinn.evolution.outcome import Halted
from hcpinn.evolution.radau import Track, integrate, scheme
from hcpinn.outcome import Stop


class Forced:
    """c′ = λ (c − cos t) − sin t, whose solution is cos t however stiff it is."""

    iterations = 12
    dense = True

    def __init__(self, rate):
        self.rate = rate

    def rates(self, times, states):
        return self.rate * (states - np.cos(times)) - np.sin(times)

    def linearised(self, time, state):
        return lambda shift: lambda right: right / (shift - self.rate)

    def size(self, change):
        return float(np.abs(change).max())


@pytest.mark.parametrize("stages", [3, 5, 7])
def test_the_weights_integrate_polynomials_exactly(stages):
    rule = scheme(stages)
    weights = np.linalg.inv(rule.inverse)[-1]
    for power in range(2 * stages - 1):
        assert weights @ rule.nodes**power == pytest.approx(1 / (power + 1), rel=1e-12)


@pytest.mark.parametrize("rate", [-1.0, -1e6])
@pytest.mark.parametrize("stages", [3, 5, 7])
def test_the_dense_solution_keeps_the_tolerance_however_stiff(rate, stages):
    track = Track(stages, [0.0], [])
    integrate(Forced(rate), np.ones(1), (0.0, 10.0), track, 1e-8)
    times = np.linspace(0, 10, 501)
    assert np.abs(track.at(times)[:, 0] - np.cos(times)).max() < 1e-6
    assert track.steps < {3: 400, 5: 80, 7: 40}[stages]


def test_powers_and_nodes_are_the_same_polynomials():
    track = Track(5, [0.0], [])
    integrate(Forced(-3.0), np.ones(1), (0.0, 2.0), track, 1e-6)
    ends = track.powers().sum(axis=1)
    assert np.allclose(ends[:, 0], [v[-1, 0] for v in track.values])


def test_a_solution_that_ends_is_reported():
    class Square(Forced):
        def rates(self, times, states):
            return states**2

        def linearised(self, time, state):
            return lambda shift: lambda right: right / (shift - 2 * state[0])

    with pytest.raises(Halted) as halted:
        integrate(Square(0.0), np.ones(1), (0.0, 2.0), Track(5, [0.0], []), 1e-8)
    assert halted.value.stop is Stop.STUCK
    assert halted.value.time == pytest.approx(1.0, abs=1e-3)


def test_tighter_tolerances_give_smaller_errors_where_newton_converges_slowly():
    class Slow(Forced):
        def linearised(self, time, state):
            return lambda shift: lambda right: right / (shift - 1.3 * self.rate)

    times = np.linspace(0, 10, 501)
    errors = []
    for tolerance in (1e-6, 1e-8):
        track = Track(5, [0.0], [])
        integrate(Slow(-50.0), np.ones(1), (0.0, 10.0), track, tolerance)
        errors.append(np.abs(track.at(times)[:, 0] - np.cos(times)).max())
    assert errors[0] < 2e-6
    assert errors[1] < 0.1 * errors[0]


@pytest.mark.parametrize("stop", [Stop.TIME, Stop.INTERRUPTED])
def test_what_ends_an_evolution_is_seen_inside_a_step(stop):
    class Endless(Forced):
        asked = 0

        def rates(self, times, states):
            self.asked += 1
            return super().rates(times, states)

    system = Endless(-1.0)
    limits = Limits(-1.0) if stop is Stop.TIME else Limits(interrupted=lambda: system.asked > 2)
    with pytest.raises(Halted) as halted:
        integrate(system, np.ones(1), (0.0, 10.0), Track(5, [0.0], []), 1e-8, limits=limits)
    assert halted.value.stop is stop
    assert system.asked <= 3
