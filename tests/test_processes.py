"""Processes that train together: they find each other, agree, and leave one set of results."""

import json
import os
import socket
import subprocess
import sys

import numpy as np
import pytest

import hcpinn as hc
from command_line import assert_refused, hcpinn

MINE = """
points = 40
weights = {kind = "SelfAdaptive"}
network = {kind = "MLP", width = 4, depth = 1}
embedding = {kind = "Fourier", modes = 1}
stages = [{kind = "Adam", steps = 12, precision = "float64"}]
"""


@pytest.fixture
def command(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(MINE)
    return ["solve", "advection", "--set", "c=2", "--method", str(file), "--accuracy", "10", "--out"]


def free_port():
    with socket.socket() as here:
        here.bind(("127.0.0.1", 0))
        return here.getsockname()[1]


def start(*arguments):
    flags = "--xla_force_host_platform_device_count=2 --xla_backend_optimization_level=0"
    return subprocess.Popen(
        [sys.executable, "-m", "hcpinn.cli", *map(str, arguments)],
        env={**os.environ, "XLA_FLAGS": flags},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_processes_with_two_devices_each_give_what_one_gives(command, tmp_path):
    port, together = free_port(), tmp_path / "together"
    both = [start(*command, together, "--distributed", f"127.0.0.1:{port},2,{n}") for n in (0, 1)]
    outputs = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert "converged" in outputs[0][0]
    assert "verdict" not in outputs[1][0]  # the first speaks for both
    two = hc.load(together / "solution.npz")
    one = hc.solve(two.problem, two.method, reference=False)
    np.testing.assert_allclose(two.history.loss, one.history.loss, rtol=1e-9)
    np.testing.assert_allclose(two.theta, one.theta, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(two.weights["residual"].weights, one.weights["residual"].weights, rtol=1e-9)
    device = json.loads((together / "summary.json").read_text())["device"]
    assert device.endswith(", 4 devices in 2 processes")


@pytest.mark.parametrize(
    "text", ["node0", "node0:1234", "node0:1234,2", "node0:1234,2,2", "node0:1234,two,0"]
)
def test_a_wrong_way_to_name_the_others_is_refused(text, command, tmp_path):
    code, _, complaint = hcpinn(*command, tmp_path, "--distributed", text)
    assert_refused(code, complaint, "as in node0:1234,2,0", f"not by '{text}'")


def test_processes_that_no_scheduler_started_are_told_so(command, tmp_path):
    process = start(*command, tmp_path, "--distributed", "auto")
    _, complaint = process.communicate(timeout=300)
    assert_refused(process.returncode, complaint, "Slurm or Open MPI, or give HOST:PORT,COUNT,NUMBER")
