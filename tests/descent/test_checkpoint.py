"""The last two checkpoints are kept, and one that is damaged is put aside for the one before it."""

import numpy as np
import pytest

from hcpinn.descent.checkpoint import Checkpoint, remove_checkpoints, seconds_spent, set_aside
from hcpinn.errors import FileError, UnusableFileError
from hcpinn.machine.files import read_archive, write_archive


@pytest.fixture
def path(tmp_path):
    return tmp_path / "checkpoint.npz"


def save(path, seconds):
    facts = {"identity": "a", "seconds": seconds}
    write_archive(path, kind="checkpoint", version=1, header=facts, arrays={"losses": np.zeros(3)})


def spent(path):
    return read_archive(path, kind="checkpoint", version=99)[0]["seconds"]


def test_setting_aside_brings_back_the_one_before_and_deletes_nothing(path):
    save(path, 2.0)
    save(path.with_name("checkpoint.previous.npz"), 1.0)
    assert spent(set_aside(path)) == 2.0
    assert spent(path) == 1.0
    assert spent(set_aside(path)) == 1.0
    names = {f"checkpoint.unusable-{number}.npz" for number in (1, 2)}
    assert {place.name for place in path.parent.iterdir()} == names


def test_a_training_that_came_to_its_end_leaves_none(path):
    save(path, 2.0)
    save(path.with_name("checkpoint.previous.npz"), 1.0)
    remove_checkpoints(path)
    remove_checkpoints(path)
    assert not list(path.parent.iterdir())


def test_a_damaged_checkpoint_alone_stays_where_it_is(path):
    path.write_bytes(b"damaged")
    with pytest.raises(UnusableFileError, match="cannot be read as an hcpinn checkpoint"):
        Checkpoint(path, "a").load()
    assert path.read_bytes() == b"damaged"


@pytest.mark.parametrize("seconds", [None, "1", -1.0, [1.0]])
def test_a_time_that_is_none_is_refused(path, seconds):
    save(path, seconds)
    with pytest.raises(UnusableFileError, match="does not say how long training took"):
        seconds_spent(path)


def test_nothing_to_resume_is_said(path):
    with pytest.raises(FileError, match="nothing to resume"):
        Checkpoint(path, "a").load()
