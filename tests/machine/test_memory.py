"""Free memory is what the machine has and control groups allow; engines and references stay within it."""

import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.errors import NoReferenceError
from hcpinn.evolution import evolve
from hcpinn.machine import memory
from hcpinn.machine.memory import free_bytes
from hcpinn.outcome import Stop

GIB = 2**30


def machine(root, groups, files):
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/meminfo").write_text(f"MemTotal: 99999999 kB\nMemAvailable: {64 * GIB // 1024} kB\n")
    (root / "proc/self/cgroup").write_text(groups)
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def limits(place, most, now, idle=0):
    return {
        f"{place}memory.max": f"{most}\n",
        f"{place}memory.current": f"{now}\n",
        f"{place}memory.stat": f"anon 1\ninactive_file {idle}\n",
    }


@pytest.mark.parametrize(
    ("groups", "files", "free"),
    [
        ("0::/\n", {}, 64),
        ("0::/a/b\n", limits("a/b/", "max", GIB), 64),
        ("0::/a/b\n", limits("a/b/", "max", GIB) | limits("a/", 8 * GIB, 3 * GIB), 5),
        ("0::/a\n", limits("a/", 8 * GIB, 3 * GIB, 2 * GIB), 7),
        ("0::/outside/name\n", limits("", 8 * GIB, 3 * GIB), 5),
        ("0::/a\n", limits("a/", 8 * GIB, 9 * GIB), 0),
        (
            "4:memory,cpu:/a\n3:pids:/a\n",
            {"memory/a/memory.limit_in_bytes": str(4 * GIB), "memory/a/memory.usage_in_bytes": str(GIB)},
            3,
        ),
    ],
)
def test_the_tightest_limit_counts(tmp_path, groups, files, free):
    machine(tmp_path, groups, files)
    assert free_bytes(tmp_path) == free * GIB


def test_an_evolution_ends_with_the_largest_basis_that_fits_into_memory(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 100)
    found = evolve(declare(), accuracy=1e-11)
    assert found.stop is Stop.RANK
    assert len(found.passes) == 1
    assert found.function is not None


def test_a_reference_that_does_not_fit_into_memory_is_not_begun(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 1000)
    with pytest.raises(NoReferenceError, match="GiB of memory"):
        hc.solve_reference(declare(), points=9, times=3, cache=False)
