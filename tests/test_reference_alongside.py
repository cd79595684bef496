"""The reference is computed beside the training, which waits for it only where it is needed."""

import dataclasses
import functools
import signal
import threading
import time

import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from descent import small
from descent.small import DECAY, assert_same_bits
from hcpinn.descent import Progress, Stop
from hcpinn.errors import NoReferenceError
from hcpinn.machine import supervision
from hcpinn.machine.background import raise_if_abandoned

method = functools.partial(small.method, stages=(hc.Adam(steps=600, rate=1e-2, precision="float64"),))

LESSONS = method(lessons=3, stages=(hc.LBFGS(steps=10),))
"""It may end after the first or the second lesson."""

EASY = 10.0
"""An accuracy that any solution has."""


def exact(problem, times=11):
    """The solution of `DECAY`, or of a part of it, on a grid."""
    t, x = np.linspace(0, problem.horizon, times), np.linspace(-1, 1, 33)
    return hc.Reference(
        problem_name=problem.name,
        times=t,
        coordinates=(x,),
        values={"u": np.exp(-t)[:, None] * (2 + np.cos(np.pi * x))},
        error_estimate=1e-12,
        solver="the formula",
    )


class Watch(Progress):
    """Counts blocks of steps, and what is waited for."""

    def __init__(self):
        super().__init__(visible=False)
        self.blocks, self.awaited = 0, []
        self.second, self.waits = threading.Event(), threading.Event()

    def update(self, step, loss, terms=None):
        self.blocks += 1
        if self.blocks == 2:
            self.second.set()

    def waiting(self, what):
        self.awaited.append(what)
        self.waits.set()


@pytest.fixture
def solver(monkeypatch):
    """Put another solver of references, a function of the problem, in place of the real one."""

    def put(function):
        monkeypatch.setattr("hcpinn.solving.references.solve_reference", lambda p, **_: function(p))

    return put


def solve(chosen, watch=None, *, accuracy=EASY, **options):
    runs = [hc.Run(DECAY, chosen)]
    [solution] = hc.solve_batch(runs, progress=watch or Watch(), accuracy=accuracy, **options)
    return solution


def test_training_goes_on_before_the_reference_is_there_and_gives_the_same_bits(solver):
    watch = Watch()

    def slow(problem):
        assert jnp.zeros(()).dtype == jnp.float64
        assert watch.second.wait(60)
        return exact(problem)

    solver(slow)
    solution = solve(method(), watch)
    assert solution.rel_l2 is not None
    assert_same_bits(solution, solve(method(), reference=exact(DECAY)))
    assert_same_bits(solution, solve(method(), reference=False))


def test_what_goes_wrong_beside_the_training_ends_it(solver):
    def broken(problem):
        raise TypeError("cannot integrate this")

    solver(broken)
    watch, many = Watch(), method(stages=(hc.Adam(steps=1_000_000),))
    with pytest.raises(TypeError, match="cannot integrate this") as caught:
        solve(many, watch)
    assert "broken" in [frame.name for frame in caught.traceback]
    assert 1 <= watch.blocks < 1000


def test_a_reference_that_cannot_be_had_is_a_reason_and_no_error(solver):
    def helpless(problem):
        raise NoReferenceError("The solver gave up.")

    solver(helpless)
    solution = solve(LESSONS)
    assert solution.reference is None
    assert solution.stop is not Stop.ACCURACY
    assert "The solver gave up." in " ".join(solution.verdict.reasons)


def test_runs_of_one_problem_share_a_reference(solver):
    asked = []

    def counted(problem):
        asked.append(problem)
        return exact(problem)

    solver(counted)
    runs = [hc.Run(DECAY, method(), seed) for seed in (0, 1)]
    first, second = hc.solve_batch(runs, accuracy=EASY, progress=False)
    assert len(asked) == 1
    assert first.reference is second.reference


def test_a_method_that_stops_by_its_estimate_does_not_wait_for_the_reference(solver):
    watch = Watch()

    def late(problem):
        assert watch.waits.wait(60)
        return exact(problem)

    solver(late)
    solution = solve(LESSONS, watch)
    assert watch.awaited == ["the classical reference"]  # to be compared with
    assert len(solution.history.loss) == 10
    assert solution.stop is Stop.ACCURACY
    assert solve(LESSONS, reference=False).stop is Stop.ESTIMATE


def test_others_wait_only_at_the_end(solver):
    watch = Watch()

    def late(problem):
        assert watch.waits.wait(60)
        assert watch.blocks == 3
        return exact(problem)

    solver(late)
    assert solve(method(), watch).rel_l2 is not None
    assert watch.awaited == ["the classical reference"]


def test_a_bar_says_what_is_waited_for_also_when_it_has_come_to_its_end(capsys):
    with Progress(visible=True) as progress:
        progress.stage("Adam", 10, 0)
        progress.waiting("the post")
    progress.waiting("the bus")
    told = capsys.readouterr().err
    assert "Waiting for the post …" in told
    assert "Waiting for the bus …" in told


def test_ctrl_c_breaks_the_waiting_off_and_what_was_trained_is_kept(solver, tmp_path, monkeypatch):
    monkeypatch.setattr(supervision, "ANSWER", 0.2)
    watch, left = Watch(), threading.Event()

    def endless(problem):
        assert watch.waits.wait(60)
        time.sleep(0.2)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        try:
            while True:
                raise_if_abandoned()
                time.sleep(0.001)
        finally:
            left.set()

    solver(endless)
    solution = solve(LESSONS, watch, accuracy=1e-12, out=tmp_path, checkpoint_every=1e9)
    assert solution.stop is Stop.INTERRUPTED
    assert solution.verdict.status == "suspect"
    assert "Interrupted before it was compared" in str(solution.verdict)
    assert left.wait(60)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    solver(exact)
    again = solve(LESSONS, accuracy=1e-12, out=tmp_path, resume=True)
    assert_same_bits(again, solve(LESSONS, accuracy=1e-12))
    assert np.array_equal(solution.theta, again.theta)


def test_ctrl_c_keeps_the_best_so_far_and_compares_it_where_that_takes_no_time(solver, monkeypatch):
    monkeypatch.setattr(supervision, "ANSWER", 60.0)

    class Impatient(Watch):
        def update(self, step, loss, terms=None):
            super().update(step, loss, terms)
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.2)  # until the main thread has heard it

    watch = Impatient()

    def late(problem):
        assert watch.waits.wait(60)
        return exact(problem)

    solver(late)
    solution = solve(method(), watch)
    assert solution.stop is Stop.INTERRUPTED
    assert watch.blocks == 1
    assert solution.rel_l2 is not None


def test_a_reference_that_is_not_done_in_time_is_left_out(solver):
    left = threading.Event()

    def endless(problem):
        try:
            while True:
                raise_if_abandoned()
                time.sleep(0.001)
        finally:
            left.set()

    solver(endless)
    began = time.monotonic()
    solution = hc.solve(DECAY, "evolve", max_seconds=6.0, progress=False)
    assert time.monotonic() - began < 9
    assert left.wait(60)
    assert solution.estimated_error < 1e-3
    assert solution.verdict.status == "suspect"
    assert solution.verdict.error is None
    assert "was not done when the time was up" in str(solution.verdict)


def test_an_engine_that_is_not_done_in_time_is_left_and_what_it_had_is_kept(solver, monkeypatch):
    monkeypatch.setattr(supervision, "ANSWER", 0.2)
    solver(exact)
    held, began = threading.Event(), []

    class Stuck(Watch):
        """Stands for a compiler that takes its time after the first block."""

        def losses(self, first, names, values):
            if self.blocks == 1:
                began.append(time.monotonic())
                signal.pthread_kill(threading.main_thread().ident, signal.SIGTERM)
                held.wait(60)

    [solution] = hc.solve_batch([hc.Run(DECAY, method())], progress=Stuck(), accuracy=EASY)
    held.set()
    assert time.monotonic() - began[0] < 3
    assert solution.stop is Stop.INTERRUPTED
    assert 0 < len(solution.history.loss) < 600
    assert np.isfinite(solution(0.3, 0.1))


def test_a_reference_that_is_not_done_in_time_serves_as_it_is(monkeypatch):
    def endless(problem, keep):
        for worse in (1e-3, 1e-5):
            keep(dataclasses.replace(exact(problem), error_estimate=worse))
        while True:
            raise_if_abandoned()
            time.sleep(0.001)

    monkeypatch.setattr("hcpinn.solving.references.solve_reference", endless)
    solution = hc.solve(DECAY, "evolve", max_seconds=6.0, progress=False)
    assert solution.verdict.status == "converged"
    assert solution.reference.error_estimate == 1e-5
