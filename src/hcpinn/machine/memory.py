"""How much memory this process may still take: what is free, within the limits of its control groups."""

from __future__ import annotations

from pathlib import Path

_SHARE = 0.8
"""Share of the free memory that may be planned for; estimates leave something out."""


def fits(needed: float) -> bool:
    """Whether so many bytes are available; yes if unknown."""
    free = free_bytes()
    return free is None or needed <= _SHARE * free


def free_bytes(root: Path = Path("/")) -> int | None:
    """The main memory that is free for this process; None where nobody says. `root` has /proc and /sys."""
    known = [_meminfo(root), *_groups(root)]
    return min((k for k in known if k is not None), default=None)


def held_bytes(root: Path = Path("/")) -> int:
    """The main memory that this process holds; 0 where nobody says."""
    for line in _text(root / "proc/self/status").splitlines():
        if line.startswith("VmRSS:"):
            return 1024 * int(line.split()[1])
    return 0


def _meminfo(root: Path) -> int | None:
    for line in _text(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return 1024 * int(line.split()[1])
    return None


def _groups(root: Path) -> list[int | None]:
    """What each control group that this process is in leaves, up to the root, of version 2 and 1."""
    found = []
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, controllers, name = line.split(":", 2)
        if number == "0" and not controllers:
            top, files = root / "sys/fs/cgroup", ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            top = root / "sys/fs/cgroup/memory"
            files = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        parts = [p for p in name.split("/") if p not in ("", "..")]
        # In a container the group's name is that outside, and its own folder is the top.
        found += [_left(top.joinpath(*parts[:count]), *files) for count in range(len(parts) + 1)]
    return found


def _left(folder: Path, limit: str, used: str, spare: str) -> int | None:
    most, now = _number(_text(folder / limit)), _number(_text(folder / used))
    if most is None or now is None:
        return None
    # Pages of files that nobody has touched lately are given back when memory is short.
    lines = (line.split() for line in _text(folder / "memory.stat").splitlines())
    idle = sum(int(own[1]) for own in lines if len(own) == 2 and own[0] == spare)
    return max(0, most - now + min(idle, now))


def _number(text: str) -> int | None:
    return int(text) if text.strip().isdecimal() else None


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
