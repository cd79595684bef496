"""Processes that train together: they find each other, agree, and leave one set of results."""

import multiprocessing
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hcpinn as hc
from command_line import assert_refused, hcpinn
from hcpinn.errors import MethodError
from hcpinn.machine import processes

PROGRAM = Path(__file__).parent / "in_two_processes.py"


@pytest.fixture
def address():
    """A free port of this machine."""
    with socket.socket() as here:
        here.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{here.getsockname()[1]}"


def start(*arguments):
    flags = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count=2"
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, "XLA_FLAGS": flags},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_processes_stop_go_on_and_end_where_one_does(address, tmp_path):
    both = [start(PROGRAM, address, number, tmp_path) for number in (0, 1)]
    outputs = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    two = hc.load(tmp_path / "solution.npz")
    assert two.provenance.device.endswith(", 4 devices in 2 processes")
    one = hc.solve(two.problem, two.method, reference=False)
    np.testing.assert_allclose(two.history.loss, one.history.loss, rtol=1e-9)
    np.testing.assert_allclose(two.theta, one.theta, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(two.weights["residual"].weights, one.weights["residual"].weights, rtol=1e-9)


def test_a_command_joins_before_it_computes(address):
    process = start("-m", "hcpinn.cli", "solve", "nothing", "--distributed", f"{address},1,0")
    _, complaint = process.communicate(timeout=300)
    assert_refused(process.returncode, complaint, "There is no problem 'nothing'")


@pytest.mark.parametrize(
    "text", ["node0", "node0:1234", "node0:1234,2", "node0:1234,2,2", "node0:1234,two,0", "node0:99999,2,1"]
)
def test_a_wrong_way_to_name_the_others_is_refused(text):
    code, _, complaint = hcpinn("solve", "advection", "--distributed", text)
    assert_refused(code, complaint, "as in node0:1234,2,0", f"not by '{text}'")


def test_a_process_that_no_scheduler_started_is_told_so():
    process = start("-m", "hcpinn.cli", "solve", "advection", "--distributed", "auto")
    _, complaint = process.communicate(timeout=300)
    assert_refused(process.returncode, complaint, "Slurm or Open MPI, or give HOST:PORT,COUNT,NUMBER")


def test_a_platform_that_is_not_there_is_said(monkeypatch):
    def missing():
        raise AssertionError

    monkeypatch.setattr(processes.jax, "local_devices", missing)
    monkeypatch.setenv("JAX_PLATFORMS", "cuda")
    with pytest.raises(MethodError, match="no device of JAX_PLATFORMS=cuda. Unset"):
        processes.check_devices()


def test_a_platform_that_is_not_there_is_said_wherever_computing_begins():
    found = subprocess.run(
        [sys.executable, "-c", "import hcpinn; hcpinn.find_problem('advection')"],
        env={**os.environ, "JAX_PLATFORMS": "cuda"},
        capture_output=True,
        text=True,
    )
    assert "MethodError: JAX finds no device of JAX_PLATFORMS=cuda. Unset" in found.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
def test_a_copy_of_a_process_that_has_computed_says_so_instead_of_waiting():
    hc.find_problem("advection")
    child = multiprocessing.get_context("fork").Process(target=_declare_in_a_copy)
    child.start()
    child.join(30)
    child.kill()
    assert child.exitcode == 7


def _declare_in_a_copy():
    try:
        hc.solve("advection")
    except MethodError as error:
        os._exit(7 if "forked from one in which JAX had already computed" in str(error) else 1)
