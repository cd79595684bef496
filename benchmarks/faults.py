"""Faults of the file system, injected one at a time: what a call does, what it says, and what is left.

`injected(scene, number, code)` lets one file operation fail, in a copy of the scene's folder: each kind of
operation on each file is as likely as any other, however often it happens.
A fault may cost the work since the last checkpoint and nothing else: it is answered by a sentence, or made
up for; nothing that was there is gone without a word; and the same call without the fault comes to the same
end as ever, to the bit.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import fcntl
import functools
import io
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

import hcpinn as hc
from hcpinn.errors import HcpinnError
from hcpinn.machine.files import read_archive
from hcpinn.solving import solve_batch
from hcpinn.study import Section, Store, Study, run_study
from hcpinn.study.report import write_report

CODES = (
    errno.ESTALE,
    errno.ETIMEDOUT,
    errno.EMFILE,
    errno.ENOMEM,
    errno.ENOSPC,
    errno.EIO,
    errno.EACCES,
    errno.EROFS,
    errno.EDQUOT,
    errno.ENOLCK,
)

_CALLS = (
    "open",
    "replace",
    "link",
    "unlink",
    "rename",
    "mkdir",
    "fsync",
    "stat",
    "lstat",
    "fstat",
    "ftruncate",
    "write",
    "chmod",
    "rmdir",
    "scandir",
    "listdir",
)
"""Functions of `os` that may fail."""

_OWN_NAME = re.compile(r"[.-][a-z0-9_]{8}(?=\.part|/|$)|[0-9a-f]{20,}|tmp\w{8}")
"""What differs between two runs in the names of files."""


_stat = os.stat


def _is_there(path: Path) -> bool:
    """Whether there is a file: a look of the one who calls, which never fails."""
    with contextlib.suppress(FileNotFoundError):
        return bool(_stat(path))
    return False


class Faults:
    """Counts operations on files below a folder, and lets one of them fail: the n-th of its kind."""

    def __init__(self, folder: Path, kind: str = "", nth: int = 0, code: int = 0):
        self.folder, self.kind, self.nth, self.code, self.failed = str(folder), kind, nth, code, ""
        self.counts: dict[str, int] = {}
        self.handles: dict[int, str] = {}

    def meet(self, call: str, given: Any) -> None:
        """Count an operation, which fails if its turn has come."""
        by_handle = isinstance(given, int)
        path = self.handles[given] if by_handle else os.fspath(given)
        kind = f"{call} {_OWN_NAME.sub('', path.removeprefix(self.folder)) or '/'}"
        before = self.counts.get(kind, 0)
        self.counts[kind] = before + 1
        if kind == self.kind and before == self.nth and not self.failed:
            self.failed = kind
            # The operating system names a file that was given by its name.
            raise OSError(self.code, os.strerror(self.code), *([] if by_handle else [path]))

    def concerns(self, given: Any) -> bool:
        if isinstance(given, int):
            return given in self.handles
        return isinstance(given, str | os.PathLike) and os.fspath(given).startswith(self.folder)

    @contextlib.contextmanager
    def under_way(self) -> Iterator[None]:
        """Within the block operations are counted, and the chosen one fails."""
        own = {name: getattr(os, name) for name in _CALLS}
        plain, stream_of, close, flock = builtins.open, os.fdopen, os.close, fcntl.flock

        def wrapped(name: str) -> Callable[..., Any]:
            def call(given: Any = ".", *others: Any, **options: Any) -> Any:
                if self.concerns(given):
                    self.meet(name, given)
                found = own[name](given, *others, **options)
                if name == "open" and self.concerns(given):
                    self.handles[found] = os.fspath(given)
                return found

            return call

        def opened(given: Any, *others: Any, **options: Any) -> Any:
            if self.concerns(given) and "opener" not in options:
                self.meet("open", given)
            return plain(given, *others, **options)

        def streamed(handle: int, *others: Any, **options: Any) -> Any:
            stream = stream_of(handle, *others, **options)
            return _Failing(stream, handle, self) if handle in self.handles and "b" in stream.mode else stream

        def closed(handle: int) -> None:
            self.handles.pop(handle, None)
            close(handle)

        def locked(handle: Any, how: int) -> None:
            if self.concerns(handle):
                self.meet("flock", handle)
            flock(handle, how)

        for name in _CALLS:
            setattr(os, name, wrapped(name))
        builtins.open = io.open = opened  # type: ignore[assignment]
        os.fdopen, os.close, fcntl.flock = streamed, closed, locked
        try:
            yield
        finally:
            for name, function in own.items():
                setattr(os, name, function)
            builtins.open = io.open = plain  # type: ignore[assignment]
            os.fdopen, os.close, fcntl.flock = stream_of, close, flock


class _Failing:
    """A stream whose writing may fail."""

    def __init__(self, stream: Any, handle: int, faults: Faults):
        self._stream, self._handle, self._faults = stream, handle, faults

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __enter__(self) -> _Failing:
        return self

    def __exit__(self, *_: object) -> None:
        self._faults.handles.pop(self._handle, None)
        self._stream.close()

    def write(self, content: Any) -> int:
        self._faults.meet("write", self._handle)
        return self._stream.write(content)


@dataclass(frozen=True)
class Scene:
    """A folder as it is before a call, the call, and what it leads to."""

    name: str
    before: Path
    call: Callable[[Path], Any]
    """The call, given a copy of the folder."""
    outcome: Callable[[Path], Any]
    """What it came to, to be compared."""
    operations: dict[str, int]
    """Which operations on files it takes, and how many of each."""
    expected: Any


DECAY = hc.Problem(
    name="decay",
    rhs=lambda u, k: -k * u,
    initial=lambda x: 1.5 + jnp.cos(jnp.pi * x),
    domain=hc.Interval(-1, 1),
    horizon=1.0,
    parameters={"k": 1.0},
)
SMALL = hc.Method(
    name="small",
    lift=hc.Decay(0.3),
    embedding=hc.Fourier(1),
    network=hc.MLP(6, 1),
    points=64,
    stages=(hc.Adam(steps=600, rate=1e-2, precision="float64"),),
)
STUDY = Study("faults", "faults", (Section("only", "The only section", (hc.Run(DECAY, SMALL, 0),)),))


@functools.cache
def scene(name: str) -> Scene:
    """A scene by its name, prepared once."""
    folder = Path(tempfile.mkdtemp(prefix="hcpinn-faults-")) / "scene"
    folder.mkdir()
    prepare, call, outcome = SCENES[name]
    prepare(folder)
    calm = Path(tempfile.mkdtemp(prefix="hcpinn-faults-")) / "scene"
    shutil.copytree(folder, calm)
    faults = Faults(calm)
    with faults.under_way():
        call(calm)
    return Scene(name, folder, call, outcome, faults.counts, outcome(calm))


def _train(folder: Path) -> Any:
    return hc.solve(
        DECAY,
        SMALL,
        out=folder,
        resume=_is_there(folder / "checkpoint.npz"),
        checkpoint_every=0.0,
        reference=False,
        progress=False,
    ).save(folder / "solution.npz")


def _begin_training(folder: Path) -> None:
    for _ in range(2):
        solve_batch(
            [hc.Run(DECAY, SMALL, 0)],
            out=folder,
            resume=(folder / "checkpoint.npz").exists(),
            checkpoint_every=0.0,
            reference=False,
            progress=False,
            max_seconds=1e-3,
        )


def _solution(folder: Path) -> list[bytes]:
    solution = hc.load(folder / "solution.npz", problem=DECAY, method=SMALL)
    return [np.asarray(solution(t, np.linspace(-1, 1, 9))).tobytes() for t in (0.3, 1.0)]


def _study(folder: Path) -> Any:
    return run_study(STUDY, folder / "study", checkpoint_every=0.0)


def _begin_study(folder: Path) -> None:
    for _ in range(2):
        run_study(STUDY, folder / "study", max_seconds=1e-3, checkpoint_every=0.0)


def _record(folder: Path) -> list[Any]:
    return [
        (r.key, r.status, {k: v.tobytes() for k, v in r.history.items()})
        for r in Store(folder / "study").records()
    ]


def _page(folder: Path) -> bytes:
    return (folder / "study" / "report.html").read_bytes()


SCENES: dict[str, tuple[Callable[[Path], Any], Callable[[Path], Any], Callable[[Path], Any]]] = {
    "a study": (lambda folder: None, _study, _record),
    "a study that is resumed": (_begin_study, _study, _record),
    "a training": (lambda folder: None, _train, _solution),
    "a training that is resumed": (_begin_training, _train, _solution),
    "a report": (_study, lambda folder: write_report(folder / "study", figures=False), _page),
}


def injected(name: str, at: int, code: int) -> dict[str, Any]:
    """What comes of one fault."""
    own = scene(name)
    with tempfile.TemporaryDirectory(prefix="hcpinn-fault-") as scratch:
        folder = Path(scratch) / "scene"
        shutil.copytree(own.before, folder)
        known, steps = _contents(folder), _steps(folder)
        kinds = sorted(own.operations)
        kind = kinds[at % len(kinds)]
        faults = Faults(folder, kind, at // len(kinds) % own.operations[kind], code)
        found: dict[str, Any] = {"status": "made up for", "message": ""}
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                with faults.under_way():
                    own.call(folder)
            except HcpinnError as error:
                found |= {"status": "told", "message": str(error)}
            except Exception as error:
                found |= {"status": "raw error", "message": f"{type(error).__name__}: {error}"}
        found["message"] += " ".join(str(w.message) for w in said)
        found["name"] = f"{name}: {errno.errorcode[code]} at {faults.failed or kind}"
        lost = [path for path, content in known.items() if content not in _contents(folder).values()]
        if _steps(folder) < steps and not (folder / "study" / "runs").exists():
            found["wrongly"] = f"went back from step {steps} to {_steps(folder)}"
        if (
            found["status"] != "made up for"
            and any(_precious(path) for path in lost)
            and not _steps(folder) >= steps
        ):
            found["wrongly"] = f"lost {', '.join(lost)}"
        try:
            if found["status"] != "made up for":
                own.call(folder)
            if own.outcome(folder) != own.expected:
                found["wrongly"] = "another outcome afterwards"
        except Exception as error:
            found["wrongly"] = f"cannot go on afterwards: {type(error).__name__}: {error}"
    return found


def _precious(path: str) -> bool:
    return "checkpoint" in path or path.endswith((".json", "solution.npz"))


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def _steps(folder: Path) -> int:
    """The furthest step that a checkpoint knows; the whole if there is a result."""
    if list(folder.glob("solution.npz")) or list(folder.glob("study/runs/*.json")):
        return 1 << 30
    steps = [0]
    for path in folder.rglob("*checkpoint*.npz"):
        with contextlib.suppress(HcpinnError):
            steps.append(int(read_archive(path, kind="checkpoint", version=99)[0]["step"]))
    return max(steps)
