"""Processes that train together through `jax.distributed`: the first one decides and writes files.

All of them must run the same programs in the same order, so one process settles whatever depends on a
clock, a signal or rounding.
"""

from __future__ import annotations

import os
from typing import Any

import jax

from ..errors import MethodError

AUTOMATIC = "auto"
"""Stands in for an address that the cluster's scheduler knows."""


def is_first() -> bool:
    """Whether this process is the first or only one."""
    return jax.process_index() == 0


def agreed(value: Any) -> Any:
    """The first process's value, for every process."""
    if jax.process_count() == 1:
        return value
    from jax.experimental import multihost_utils

    return multihost_utils.broadcast_one_to_all(value)


def join(text: str) -> None:
    """Join the other processes, before anything computes and so before problems are declared or imported.

    Args:
        text: `HOST:PORT,COUNT,NUMBER` with the address of the first process, or `auto` to ask the scheduler.
    """
    if text == AUTOMATIC:
        try:
            jax.distributed.initialize()
        except ValueError as error:
            raise MethodError(
                f"No scheduler told this process about the others ({error}). "
                "Start it with Slurm or Open MPI, or give HOST:PORT,COUNT,NUMBER."
            ) from error
        return
    address, count, number = _parts(text)
    jax.distributed.initialize(address, count, number)


def check_devices() -> None:
    """Raise a `MethodError` where JAX cannot start on the platform it was told to use, or would only wait."""
    if _forked:
        raise MethodError(
            "This process was forked from one in which JAX had already computed, so computing here would "
            "never end. Start it afresh instead, with multiprocessing.get_context('spawn')."
        )
    try:
        jax.local_devices()
    except (RuntimeError, AssertionError) as error:
        asked = os.environ.get("JAX_PLATFORMS", "")
        why = str(error).strip().partition("\n")[0]
        raise MethodError(
            f"JAX finds no device{f' of JAX_PLATFORMS={asked}' if asked else ''}{': ' + why if why else ''}. "
            "Unset JAX_PLATFORMS to compute on the CPU, or install what the device needs: "
            "pip install 'hcpinn[gpu]'."
        ) from error


def has_started() -> bool:
    """Whether JAX has looked for devices."""
    from jax._src import xla_bridge  # nothing public tells without looking

    return getattr(xla_bridge, "backends_are_initialized", bool)()


def _note_fork() -> None:
    global _forked
    _forked = has_started()


_forked = False
"""Whether this process was forked from one with JAX threads, which a fork does not inherit."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def _parts(text: str) -> tuple[str, int, int]:
    parts = text.split(",")
    if len(parts) == 3 and ":" in parts[0] and all(part.strip().isdecimal() for part in parts[1:]):
        count, number = int(parts[1]), int(parts[2])
        port = parts[0].rpartition(":")[2]
        if number < count and port.isdecimal() and 0 < int(port) < 1 << 16:
            return parts[0], count, number
    raise MethodError(
        "Processes are joined by the first one's address, how many there are, and this one's number from 0 "
        f"on, as in node0:1234,2,0, with a port up to 65535; not by '{text}'."
    )
