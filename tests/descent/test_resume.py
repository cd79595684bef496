"""A training that is killed, interrupted or out of time goes on with the same bits."""

import functools
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from descent import small
from descent.small import DECAY, RELAX, assert_same_bits
from hcpinn.descent import Checkpoint, Preparation, Progress, Stop, train
from hcpinn.errors import FileError
from hcpinn.machine.background import Abandoned, current_task
from hcpinn.machine.files import read_archive, write_archive
from hcpinn.machine.locks import Lock
from hcpinn.solving import CHECKPOINT

STAGES = (hc.Adam(steps=400, rate=1e-2), hc.LBFGS(steps=400, memory=20))
method = functools.partial(small.method, stages=STAGES)


def solve(folder, *, problem=DECAY, seed=0, **options):
    chosen = options.pop("method", method())
    [solution] = hc.solve_batch([hc.Run(problem, chosen, seed)], out=folder, reference=False, **options)
    return solution


class Impatient(Progress):
    """Someone who watches the progress and presses Ctrl-C."""

    def __init__(self, *, presses):
        super().__init__(visible=False)
        self.presses = presses

    def update(self, step, loss, terms=None):
        for _ in range(self.presses):
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.2)  # until the main thread has heard it


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    return solve(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    """What Ctrl-C left: the solution so far, and the folder of its checkpoint."""
    folder = tmp_path_factory.mktemp("interrupted")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hcpinn.solving.calls.Progress", lambda **_: Impatient(presses=1))
        return solve(folder), folder


@pytest.fixture
def folder(interrupted, tmp_path):
    """A copy of that folder, to go on from or to spoil."""
    return shutil.copytree(interrupted[1], tmp_path / "run")


# Within one process


def test_ctrl_c_keeps_the_best_so_far(uninterrupted, interrupted):
    early, _ = interrupted
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert early.stop is Stop.INTERRUPTED
    count = len(early.history.loss)
    assert 0 < count < 400
    assert early.history.loss.tobytes() == uninterrupted.history.loss[:count].tobytes()
    assert early.history.stages == (("Adam", count),)
    assert np.isfinite(early.theta).all()


def test_going_on_block_by_block_gives_the_same_bits(uninterrupted, folder):
    for _ in range(2):
        assert solve(folder, resume=True, max_seconds=0.0).stop is Stop.TIME
    assert_same_bits(solve(folder, resume=True), uninterrupted)


def test_a_second_ctrl_c_breaks_off(tmp_path, monkeypatch):
    monkeypatch.setattr("hcpinn.solving.calls.Progress", lambda **_: Impatient(presses=2))
    with pytest.raises(KeyboardInterrupt):
        solve(tmp_path)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# Every scheme

ADAM, LBFGS = hc.Adam(steps=400, rate=1e-2), hc.LBFGS(steps=20, memory=20)
SCHEMES = {
    "self-adaptive": {"weights": hc.SelfAdaptive(), "stages": (ADAM, LBFGS)},
    "self-adaptive in mini-batches": {"weights": hc.SelfAdaptive(), "batches": hc.Batches(3, 50)},
    "attention": {"weights": hc.Attention(0.05, 0.95)},
    "causal": {"weights": hc.Causal(8, (1.0, 10.0))},
    "penalties": {
        **{"lift": hc.NoLift(), "gate": hc.NoGate(), "embedding": hc.Plain()},
        "penalties": (hc.InitialPenalty(16), hc.PeriodicPenalty(16, order=1)),
        "weights": hc.SelfAdaptive(),
    },
    "windows": {"windows": 2},
    "horizons": {"horizons": (0.5, 1.0), "stages": (LBFGS,)},
    "lessons in windows": {
        **{"windows": 2, "lessons": 2, "resampling": hc.Resampling(0, "residual")},
        "stages": (LBFGS,),
    },
    "curriculum": {"curriculum": hc.Curriculum("a", (0.5, 1.0)), "stages": (ADAM, LBFGS)},
    # Blocks of 125 steps: every other one ends where points are replaced, …
    "points by residual": {
        **{"resampling": hc.Resampling(250, "residual"), "weights": hc.Causal(8)},
        "stages": (hc.Adam(steps=500, rate=1e-2), LBFGS),
    },
    # … and here the last one as well.
    "fresh points": {
        **{"resampling": hc.Resampling(20), "weights": hc.Causal(8)},
        "stages": (hc.Adam(steps=40), hc.Adam(steps=40, precision="float64")),
    },
    "fresh points with weights": {
        **{"resampling": hc.Resampling(20), "weights": hc.SelfAdaptive()},
        "stages": (hc.Adam(steps=40), LBFGS),
    },
    "everything": {
        **{"windows": 2, "horizons": (0.5, 1.0), "curriculum": hc.Curriculum("a", (0.5, 1.0))},
        **{"weights": hc.Causal(8), "batches": hc.Batches(2, 64)},
        "resampling": hc.Resampling(20, "residual"),
        "stages": (hc.Adam(steps=20, rate=1e-2, schedule=hc.Cosine(0.1, 5)),),
    },
}


SITTINGS = {
    "windows": (1, 2),  # the second ends in the second window, lesson or stage
    "lessons in windows": (1, 2),
    "curriculum": (1, 3),
    "fresh points": (1, 2),
    "everything": (1, 4),
}
"""How many blocks of steps the first sittings take; another goes on to the end."""


class Blocks(Progress):
    """Ends a sitting after so many blocks of steps."""

    def __init__(self, left):
        super().__init__(visible=False)
        self.left = left

    def update(self, step, loss, terms=None):
        self.left -= 1

    @property
    def interrupted(self):
        return self.left == 0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_goes_on_with_the_same_bits(scheme, tmp_path):
    runs = [hc.Run(RELAX, method(**{"stages": (ADAM,), **SCHEMES[scheme]}))]

    def sitting(blocks=-1, **options):
        [outcome] = train(Preparation(runs), progress=Blocks(blocks), **options)
        return outcome

    checkpoint = Checkpoint(tmp_path / CHECKPOINT, "this training")
    first, second = SITTINGS.get(scheme, (1, 1))
    assert sitting(first, checkpoint=checkpoint).stop is Stop.INTERRUPTED
    assert sitting(second, checkpoint=checkpoint, resume=True).stop is Stop.INTERRUPTED
    assert_same_bits(sitting(checkpoint=checkpoint, resume=True), sitting())


# Checkpoints that cannot be resumed


def lift_a(t, x):
    return jnp.exp(-t) * (2 + jnp.cos(jnp.pi * x))


def lift_b(t, x):
    return jnp.exp(-2 * t) * (2 + jnp.cos(jnp.pi * x))


lift_b.__qualname__ = lift_a.__qualname__  # as two lambdas on one line would have


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"method": method(lift=hc.Decay(0.4))},
        {"method": method(stages=(hc.Adam(steps=401, rate=1e-2), STAGES[1]))},
        {"method": method(points=64)},
        {"problem": declare(rhs=lambda u: -2 * u, initial=DECAY.initial)},
        {"problem": declare(rhs=DECAY.rhs, initial=lambda x: 2 + jnp.sin(jnp.pi * x))},
        {"problem": declare(rhs=DECAY.rhs, initial=DECAY.initial, horizon=2.0)},
    ],
    ids=["seed", "lift", "stages", "points", "equation", "initial data", "horizon"],
)
def test_the_checkpoint_of_another_training_is_refused(folder, change):
    with pytest.raises(
        FileError, match=r"checkpoint\.npz belongs to another training.*problem, .*method or seed"
    ):
        solve(folder, resume=True, **change)


def test_the_checkpoint_of_another_function_of_ones_own_is_refused(tmp_path):
    stages = (hc.Adam(steps=201),)
    first, second = (method(lift=hc.CustomLift(f), stages=stages) for f in (lift_a, lift_b))
    assert solve(tmp_path, method=first, max_seconds=0.0).stop is Stop.TIME
    with pytest.raises(FileError, match="belongs to another training"):
        solve(tmp_path, method=second, resume=True)


def test_the_checkpoint_before_a_damaged_one_is_resumed(folder, uninterrupted):
    path = folder / CHECKPOINT
    path.with_name("checkpoint.previous.npz").write_bytes(path.read_bytes())
    path.write_bytes(b"damaged")
    with pytest.warns(UserWarning, match=r"kept as checkpoint\.unusable-1\.npz.*from the checkpoint before"):
        assert_same_bits(solve(folder, resume=True), uninterrupted)
    assert (folder / "checkpoint.unusable-1.npz").read_bytes() == b"damaged"


def test_a_truncated_checkpoint_is_refused(folder):
    path = folder / CHECKPOINT
    path.with_name("checkpoint.previous.npz").unlink(missing_ok=True)
    content = path.read_bytes()
    for length in (10, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(FileError, match=r"checkpoint\.npz cannot be read as an hcpinn checkpoint"):
            solve(folder, resume=True)


def test_a_foreign_checkpoint_is_refused(folder):
    (folder / CHECKPOINT).write_text("stage: 1\n")
    with pytest.raises(FileError, match=r"checkpoint\.npz cannot be read as an hcpinn checkpoint"):
        solve(folder, resume=True)
    write_archive(folder / CHECKPOINT, kind="solution", version=1, header={}, arrays={})
    with pytest.raises(FileError, match="holds a solution, not a checkpoint"):
        solve(folder, resume=True)


def rewritten(folder, *, version=None, header=None, arrays=None):
    """The checkpoint in `folder`, written anew with changes."""
    path = folder / CHECKPOINT
    old_header, old_arrays = read_archive(path, kind="checkpoint", version=6)
    write_archive(
        path,
        kind="checkpoint",
        version=old_header["version"] if version is None else version,
        header={k: v for k, v in {**old_header, **(header or {})}.items() if k not in ("kind", "version")},
        arrays=old_arrays if arrays is None else arrays(old_arrays),
    )


def test_a_checkpoint_of_a_newer_version_says_to_update(folder):
    rewritten(folder, version=99)
    with pytest.raises(FileError, match=r"version 99 of the checkpoint format.*Update hcpinn"):
        solve(folder, resume=True)


@pytest.mark.parametrize(
    "arrays",
    [
        lambda a: {name: value for name, value in a.items() if name != "losses"},
        lambda a: {**a, "state.0": a["state.0"][:, :-1]},
        lambda a: {name: value for name, value in a.items() if name != "state.0"},
    ],
    ids=["no losses", "too short", "one missing"],
)
def test_a_checkpoint_that_lacks_something_is_refused(folder, arrays):
    rewritten(folder, arrays=arrays)
    with pytest.raises(FileError, match=r"checkpoint\.npz"):
        solve(folder, resume=True)


def test_resuming_without_a_folder_or_a_checkpoint_is_refused(tmp_path):
    with pytest.raises(FileError, match="resume needs the folder"):
        solve(None, resume=True)
    with pytest.raises(FileError, match=r"nothing to resume"):
        solve(tmp_path / "never", resume=True)


# The command line, killed and interrupted for real

COMMAND = [sys.executable, "-m", "hcpinn.cli", "solve", "advection", "--set", "c=2", "--quiet"]
TINY = method(name="tiny", stages=(hc.Adam(steps=8_000),))


class Sitting:
    """One run of the command, as a process of its own."""

    def __init__(self, folder):
        self.checkpoint = folder / CHECKPOINT
        self.before = self._stamp()
        settings = ["--method", hc.save_method(TINY, folder.parent / "tiny.toml"), "--checkpoint-every", "0"]
        settings += ["--accuracy", "1e-9"]  # which so small a budget does not reach
        resume = [] if self.before is None else ["--resume"]
        self.process = subprocess.Popen(
            [*COMMAND, *settings, "--out", folder, *resume],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _stamp(self):
        try:
            return self.checkpoint.stat().st_mtime_ns
        except FileNotFoundError:
            return None

    def wait_for_progress(self):
        """Wait until it has saved a checkpoint of its own, or ended."""
        deadline = time.monotonic() + 300
        while self._stamp() == self.before and self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)

    def end(self, number=None):
        """Exit code, output and errors, after sending a signal if one is given."""
        if number is not None and self.process.poll() is None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=300)
        return self.process.returncode, out, err


def test_a_run_killed_at_random_moments_and_interrupted_ends_with_the_same_bits(no_programs_kept, tmp_path):
    chance, folder = random.Random(0), tmp_path / "run"
    sitting = Sitting(folder)  # it may be killed while it compiles
    time.sleep(chance.uniform(0.0, 2.0))
    assert sitting.end(signal.SIGKILL)[0] == -signal.SIGKILL

    problem = hc.find_problem("advection").with_parameters(c=2)
    whole = hc.solve(problem, TINY, reference=False)

    sitting = Sitting(folder)
    sitting.wait_for_progress()
    time.sleep(chance.uniform(0.0, 0.1))
    assert sitting.end(signal.SIGKILL)[0] == -signal.SIGKILL
    assert not (folder / "solution.npz").exists()

    sitting = Sitting(folder)
    sitting.wait_for_progress()
    code, said, _ = sitting.end(signal.SIGINT)
    assert code == 130
    assert "Interrupted" in said
    assert "--resume" in said
    assert (folder / CHECKPOINT).exists()
    early = hc.load(folder / "solution.npz")
    assert early.stop is Stop.INTERRUPTED
    results = {"summary.json", "solution.npz", "method.toml"}
    assert results <= set(os.listdir(folder))

    code, _, errors = Sitting(folder).end()
    assert (code, errors) == (1, "")
    assert {n for n in os.listdir(folder) if not n.startswith(".")} == {
        *results,
        *("fields.png", "slices.png", "history.png"),
    }

    assert_same_bits(hc.load(folder / "solution.npz"), whole)
    assert early.history.loss.tobytes() == whole.history.loss[: len(early.history.loss)].tobytes()


def test_another_training_keeps_the_checkpoint_that_is_there(interrupted, tmp_path):
    """It was silently replaced, and with it what may have taken hours."""
    folder = shutil.copytree(interrupted[1], tmp_path / "copy")
    before = (folder / CHECKPOINT).read_bytes()
    with pytest.warns(UserWarning, match=r"is of another training.*kept as checkpoint\.earlier-1\.npz"):
        other = solve(folder, seed=5)
    assert (folder / "checkpoint.earlier-1.npz").read_bytes() == before
    again = solve(folder, seed=5)  # its own, which came to its end, may be replaced
    assert_same_bits(other, again)
    assert len(list(folder.glob("*earlier*"))) == 1
    os.replace(folder / "checkpoint.earlier-1.npz", folder / CHECKPOINT)
    resumed = solve(folder, resume=True)
    assert resumed.stop is not Stop.INTERRUPTED


def test_one_training_at_a_time_has_a_folder(tmp_path):
    held = Lock.take(tmp_path / "training.lock")
    with pytest.raises(FileError, match=r"Another training is under way in .*choose another folder"):
        solve(tmp_path)
    assert not (tmp_path / CHECKPOINT).exists()
    held.release()
    solve(tmp_path, max_seconds=1e-3)
    assert (tmp_path / CHECKPOINT).exists()
    assert not (tmp_path / "training.lock").exists()


def test_a_call_that_is_left_before_it_has_its_folder_does_not_keep_it(tmp_path, monkeypatch):
    """A signal or the end of its time may come while the lock is being taken, in another thread."""
    task, take = [], Lock.take

    def late(path):
        lock = take(path)
        task.append(current_task())
        task[0].abandon()
        return lock

    with monkeypatch.context() as patch:
        patch.setattr(Lock, "take", late)
        with pytest.raises(Abandoned):
            solve(tmp_path)
    lock = Lock.take(tmp_path / "training.lock")
    assert lock is not None
    lock.release()
