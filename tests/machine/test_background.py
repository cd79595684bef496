"""Work beside the caller's gives its result, or its error, when it is asked for."""

import subprocess
import sys
import threading
import time
import traceback

import jax
import pytest

from hcpinn.machine.background import Abandoned, Beside, check_wanted


def test_it_goes_on_in_a_thread_while_the_caller_does_something_else():
    gate = threading.Event()

    def work():
        assert gate.wait(60)
        return threading.current_thread()

    beside = Beside(work)
    beside.start()
    beside.start()
    beside.check()
    assert not beside.done
    gate.set()
    assert beside.result() is not threading.current_thread()
    assert beside.done
    assert beside.result() is beside.result()


def test_what_was_never_started_is_done_when_it_is_asked_for():
    assert Beside(threading.current_thread).result() is threading.current_thread()
    assert Beside.known(3).done
    assert Beside.known(3).result() == 3


def test_its_error_is_raised_where_the_result_is_asked_for_and_says_where_it_comes_from():
    def careless():
        return {}["missing"]

    beside = Beside(careless)
    beside.start()
    beside.wait()
    for ask in (beside.check, beside.result):
        with pytest.raises(KeyError, match="missing") as caught:
            ask()
        assert "careless" in [frame.name for frame in traceback.extract_tb(caught.tb)]


def test_it_finds_the_default_device_of_the_caller():
    device = jax.local_devices(backend="cpu")[0]
    with jax.default_device(device):
        beside = Beside(lambda: jax.config.jax_default_device)
    beside.start()
    assert beside.result() is device


def test_work_that_nobody_wants_any_more_ends():
    check_wanted()

    def forever():
        while True:
            check_wanted()
            time.sleep(0.001)

    def leave(beside):
        with beside:
            beside.start()
            raise LookupError

    beside = Beside(forever)
    with pytest.raises(LookupError):
        leave(beside)
    with pytest.raises(Abandoned):
        beside.result()


def test_a_process_that_fails_meanwhile_ends_with_its_own_error():
    program = (
        "import jax.numpy as jnp\n"
        "from hcpinn.beside import Beside, check_wanted\n"
        "def work():\n"
        "    for size in range(1, 10_000):\n"
        "        check_wanted()\n"
        "        jnp.cumsum(jnp.arange(size)).block_until_ready()\n"
        "with Beside(work) as beside:\n"
        "    beside.start()\n"
        "    jnp.arange(4).sum().block_until_ready()\n"
        "    raise LookupError('as it should')\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == "LookupError: as it should"
