"""One call gives a reference on the asked grid, from the cache where it is known."""

import errno
import os
import threading
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hcpinn.errors import NoReferenceError
from hcpinn.problem import Interval, Problem
from hcpinn.reference import cache, solve_reference


def declare(**changes):
    settings = {
        "domain": Interval(0, 2 * np.pi),
        "horizon": 1.0,
        "rhs": lambda u: 0.1 * u.xx,
        "initial": jnp.sin,
        "name": "small",
    }
    return Problem(**{**settings, **changes})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HCPINN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_values_lie_on_the_asked_grid_with_both_ends():
    problem = declare(
        rhs=lambda u, v: (0.1 * u.xx - v, 0.1j * v.xx),
        initial=lambda x: (jnp.sin(x), jnp.exp(1j * x)),
    )
    reference = solve_reference(problem, times=5, points=17, cache=False)
    np.testing.assert_array_equal(reference.times, np.linspace(0, 1, 5))
    np.testing.assert_array_equal(reference.coordinates[0], np.linspace(0, 2 * np.pi, 17))
    assert {name: v.shape for name, v in reference.values.items()} == {"u": (5, 17), "v": (5, 17)}
    assert all(isinstance(v, np.ndarray) and v.dtype == complex for v in reference.values.values())
    np.testing.assert_allclose(reference.values["v"][:, 0], reference.values["v"][:, -1], atol=1e-12)
    assert "ETDRK4" in reference.solver
    assert reference.problem_name == "small"
    assert reference.wall_s > 0


def test_the_callers_precision_does_not_matter():
    with jax.enable_x64(False):
        reference = solve_reference(declare(), times=5, points=17, cache=False)
    assert reference.values["u"].dtype == np.float64
    assert reference.error_estimate < 1e-9


def test_a_known_reference_comes_back_bit_for_bit(folder):
    first = solve_reference(declare(), times=5, points=17)
    (entry,) = folder.iterdir()
    written = entry.stat().st_mtime_ns
    second = solve_reference(declare(name="renamed"), times=5, points=17)
    assert entry.stat().st_mtime_ns == written
    assert second.problem_name == "renamed"
    for name, values in first.values.items():
        np.testing.assert_array_equal(second.values[name], values)
    for field in ("error_estimate", "solver", "notes", "wall_s"):
        assert getattr(first, field) == getattr(second, field)
    np.testing.assert_array_equal(first.coordinates[0], second.coordinates[0])


def test_other_settings_are_other_entries(folder):
    solve_reference(declare(), times=5, points=17)
    solve_reference(declare(), times=5, points=9)
    solve_reference(declare(horizon=0.5), times=5, points=17)
    assert len(list(folder.iterdir())) == 3


def test_a_damaged_entry_is_reported_and_computed_again(folder):
    first = solve_reference(declare(), times=5, points=17)
    (entry,) = folder.iterdir()
    content = entry.read_bytes()
    middle = len(content) // 2
    flipped = content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :]
    for damaged in (content[:middle], b"not a reference at all", flipped, b""):
        entry.write_bytes(damaged)
        with pytest.warns(UserWarning, match="cannot be used"):
            second = solve_reference(declare(), times=5, points=17)
        np.testing.assert_array_equal(first.values["u"], second.values["u"])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            solve_reference(declare(), times=5, points=17)


def test_a_folder_that_cannot_be_written_is_reported_once(tmp_path, monkeypatch):
    blocked = tmp_path / "a-file"
    blocked.write_text("in the way")
    monkeypatch.setenv("HCPINN_CACHE", str(blocked / "cache"))
    with pytest.warns(UserWarning, match="cannot write to its cache folder"):
        solve_reference(declare(), times=5, points=17)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solve_reference(declare(), times=5, points=17)


def test_a_full_disk_is_reported_once_for_all_references(folder, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for points in (9, 11, 13):
            solve_reference(declare(), times=3, points=points)
    (one,) = said
    assert "References cannot be kept in" in str(one.message)
    assert "(No space left on device)" in str(one.message)


def test_many_writers_leave_one_whole_entry(folder):
    reference = solve_reference(declare(), times=5, points=17, cache=False)
    writers = [threading.Thread(target=cache.store, args=("key", reference)) for _ in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [path.name for path in folder.iterdir()] == ["reference-key.npz"]
    known = cache.load("key", "small")
    assert known is not None
    np.testing.assert_array_equal(known.values["u"], reference.values["u"])


def test_without_a_folder_given_the_users_own_is_taken(monkeypatch):
    monkeypatch.delenv("HCPINN_CACHE")
    assert cache.cache_folder().name == "hcpinn"
    assert os.fspath(cache.cache_folder()) != "hcpinn"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"times": 1}, "at least 2 output times, but times = 1"),
        ({"points": 1}, "points = 1"),
        ({"points": (8, 8)}, "space axes x"),
        ({"tolerance": 0.1}, "lies between 0 and 1e-3, but is 0.1"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(NoReferenceError, match=message):
        solve_reference(declare(), **settings)


def test_a_tolerance_out_of_reach_is_noted_and_not_hidden():
    problem = declare(rhs=lambda u: 0.1 * u.xx - u**2)
    reference = solve_reference(problem, times=5, points=17, tolerance=1e-16, cache=False)
    assert any("was not reached" in note for note in reference.notes)
    assert 1e-16 < reference.error_estimate < 1e-11
