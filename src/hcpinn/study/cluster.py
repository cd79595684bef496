"""Training the groups of a study on the workers of a Ray cluster.

Each group takes one GPU if the cluster has any, else one CPU. A group whose worker dies goes to another.
Results return to this process, which alone writes to the store, so workers need no shared disk; where they
have one, a group that is tried again resumes from its checkpoint.

A cluster that is started here listens on this machine alone and asks for a token. One that is reached by its
address runs whatever anybody who reaches it, with its token where it has one, asks for.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import secrets
import socket
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..descent import Progress
from ..errors import HcpinnError, MethodError, unknown_name
from ..machine.files import write_bytes
from ..machine.programs import keep_programs
from .groups import Group
from .workers import RETRIES, GroupOutcome, Task, attempt, sign

_TOKEN = "token"
"""A file that tells a worker whether it can see the folder of its group."""

_PRIVATE = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_AUTH_MODE": "token"}
"""Environment variables that make Ray listen on 127.0.0.1, as it always does on Windows and macOS, and, from
Ray 2.52 on, refuse connections without its token."""


@contextlib.contextmanager
def ray_workers(cluster: str) -> Iterator[RayWorkers]:
    """The workers of a cluster, 'ray' or 'ray:ADDRESS'; a cluster that was started for them is shut down."""
    kind, _, address = cluster.partition(":")
    if kind != "ray":
        raise unknown_name("kind of cluster", kind, ["ray"])
    with contextlib.ExitStack() as stack:
        for name, value in _PRIVATE.items() if not address else ():
            if name not in os.environ:  # also for the programs that Ray starts
                os.environ[name] = value
                stack.callback(os.environ.pop, name, None)
        try:
            import ray
        except ImportError as error:
            raise HcpinnError("--cluster ray needs Ray: pip install 'ray[default]'.") from error
        if not ray.is_initialized():
            if address:
                _check_address(address)
            _begin(ray, address)
            stack.callback(ray.shutdown)
        yield RayWorkers(ray)


def _begin(ray: Any, address: str) -> None:
    """Start a cluster here, or join that at an address."""
    constants: Any = importlib.import_module("ray._private.ray_constants")
    before = getattr(constants, "ENABLE_RAY_CLUSTER", None)
    settings: dict[str, Any] = {"address": address} if address else {"include_dashboard": False}
    try:
        if not address:  # Ray reads its environment when it is imported, which may be long ago
            constants.ENABLE_RAY_CLUSTER = False
            with contextlib.suppress(AttributeError):
                importlib.import_module("ray._raylet").Config.initialize("")
        with warnings.catch_warnings():
            # JAX warns of forks, but a new program is started right after this one.
            warnings.simplefilter("ignore", RuntimeWarning)
            ray.init(**settings, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = str(error).strip().partition("\n")[0]
        where = f"at '{address}'" if address else "to be had on this machine"
        raise HcpinnError(f"There is no Ray cluster {where}: {reason}") from error
    finally:
        constants.ENABLE_RAY_CLUSTER = before


def _check_address(address: str) -> None:
    """Find out in seconds that nothing listens at HOST:PORT; Ray takes minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except OSError as error:
        raise HcpinnError(f"There is no Ray cluster at '{address}': {error.strerror or error}.") from error


class RayWorkers:
    """The workers of a Ray cluster, each of which has a device to itself."""

    abreast = 1
    interrupted = False

    def __init__(self, ray: Any):
        self._ray = ray
        self._running: dict[Any, Group] = {}
        self._resource = "GPU" if self._amount("GPU") else "CPU"
        needs = {"num_gpus": 1} if self._resource == "GPU" else {"num_cpus": 1}
        self._remote = ray.remote(max_retries=RETRIES, **needs)(_train)
        if not self.devices:
            raise MethodError("The Ray cluster has neither a GPU nor a CPU to train on.")

    def _amount(self, resource: str) -> int:
        return int(self._ray.cluster_resources().get(resource, 0))

    @property
    def devices(self) -> int:
        """How many devices there are: the GPUs, or the CPUs."""
        return self._amount(self._resource)

    @property
    def free(self) -> int:
        """How many more groups can start now."""
        return self.devices - len(self._running)

    def start(self, task: Task, progress: Progress) -> None:
        """Give a group to a worker. Its progress is not shown."""
        token = secrets.token_hex(8)
        write_bytes(task.folder / _TOKEN, token.encode())
        self._running[self._remote.remote(task, task.left, token)] = task.group

    def wait(self) -> tuple[Group, GroupOutcome]:
        """The next group that has ended, and its outcome."""
        ready, _ = self._ray.wait(list(self._running), num_returns=1)
        group = self._running.pop(ready[0])
        try:
            return group, self._ray.get(ready[0])
        except self._ray.exceptions.RayTaskError as error:
            # A disk that is full, say: attempt() answers for everything else.
            cause = error.cause if isinstance(error.cause, HcpinnError) else None
            raise cause or HcpinnError(f"A worker broke down: {error.cause or error}") from error
        except self._ray.exceptions.RayError as error:
            reason = str(error).strip().partition("\n")[0]
            return group, GroupOutcome(trouble=f"Its worker died {RETRIES + 1} times: {reason}")


def _train(task: Task, seconds: float | None, token: str) -> GroupOutcome:
    """What a worker does: `attempt`, with a deadline by its own clock."""
    keep_programs()  # its process is hcpinn's own
    task = replace(task, deadline=None if seconds is None else time.monotonic() + seconds)
    seen = task.folder / _TOKEN
    if seen.exists() and seen.read_text() == token:
        sign(task.folder)
        return attempt(task, Progress(visible=False))
    with tempfile.TemporaryDirectory(prefix="hcpinn-") as folder:
        return attempt(replace(task, folder=Path(folder)), Progress(visible=False))
