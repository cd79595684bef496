"""Several devices share out the points of a training, with the results of one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.errors import MethodError
from hcpinn.machine.provenance import provenance

HERE = Path(__file__).parent
OPTIONS = ("-q", "-x", "-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib")
"""Types are checked in the process that tests everything else."""


def test_eight_devices_give_what_one_gives():
    flags = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count=8"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *OPTIONS, HERE / "on_eight_devices.py"],
        env={**os.environ, "XLA_FLAGS": flags},
        capture_output=True,
        text=True,
        cwd=HERE.parents[1],
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("devices", [0, -1, 1.5, "all"])
def test_a_number_of_devices_that_makes_no_sense_is_refused(devices):
    with pytest.raises(MethodError, match="devices must be a whole number of at least 1"):
        hc.solve(declare(), "quick", devices=devices)


def test_a_single_device_is_called_by_no_number():
    assert "device" not in provenance().device
