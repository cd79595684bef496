"""The device and the versions something was computed with."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import jax

from .. import __version__
from .programs import choice_of_kernels


@dataclass(frozen=True)
class Provenance:
    """The device and the versions a solution was computed with."""

    device: str
    versions: Mapping[str, str]
    kernels: str | None = None
    """How the compiler chose among kernels: 'by rule', the same way every time, or 'by timing'. None in older
    files."""


def provenance(devices: int = 1) -> Provenance:
    """The device and the versions in use; `devices` is how many devices share the work."""
    device = jax.local_devices()[0]
    name = f"{device.platform}: {device.device_kind}"
    if device.platform == "cpu":
        name = f"cpu: {_processor()}, {os.cpu_count()} cores"
    if devices > 1:
        name += f", {devices} devices"
    if jax.process_count() > 1:
        name += f" in {jax.process_count()} processes"
    packages = ("jax", "jaxlib", "numpy", "equinox", "optax")
    versions = {
        "hcpinn": __version__,
        "python": platform.python_version(),
        **{p: version(p) for p in packages},
    }
    return Provenance(name, versions, choice_of_kernels(device.platform))


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
