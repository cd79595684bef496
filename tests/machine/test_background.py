"""A background task hands over its result, or its error, when asked."""

import subprocess
import sys
import threading
import time
import traceback

import jax
import pytest

from hcpinn.machine.background import Abandoned, BackgroundTask, raise_if_abandoned


def test_a_started_task_runs_in_a_thread_of_its_own():
    gate = threading.Event()

    def work():
        assert gate.wait(60)
        return threading.current_thread()

    task = BackgroundTask(work)
    task.start()
    task.start()
    task.raise_if_failed()
    assert not task.done
    gate.set()
    assert task.result() is not threading.current_thread()
    assert task.done
    assert task.result() is task.result()


def test_a_task_never_started_runs_in_the_callers_thread_when_its_result_is_needed():
    assert BackgroundTask(threading.current_thread).result() is threading.current_thread()
    assert BackgroundTask.completed(3).done
    assert BackgroundTask.completed(3).result() == 3


def test_an_error_is_raised_with_its_own_traceback():
    def careless():
        return {}["missing"]

    task = BackgroundTask(careless)
    task.start()
    task.wait()
    for ask in (task.raise_if_failed, task.result):
        with pytest.raises(KeyError, match="missing") as caught:
            ask()
        assert "careless" in [frame.name for frame in traceback.extract_tb(caught.tb)]


def test_a_task_runs_on_the_callers_default_device():
    device = jax.local_devices(backend="cpu")[0]
    with jax.default_device(device):
        task = BackgroundTask(lambda: jax.config.jax_default_device)  # type: ignore[attr-defined]
    task.start()
    assert task.result() is device


def test_an_abandoned_task_ends():
    raise_if_abandoned()

    def forever():
        while True:
            raise_if_abandoned()
            time.sleep(0.001)

    def leave(task):
        with task:
            task.start()
            raise LookupError

    task = BackgroundTask(forever)
    with pytest.raises(LookupError):
        leave(task)
    with pytest.raises(Abandoned):
        task.result()


def test_a_process_that_fails_while_a_task_runs_reports_its_own_error():
    program = (
        "import jax.numpy as jnp\n"
        "from hcpinn.machine.background import BackgroundTask, raise_if_abandoned\n"
        "def work():\n"
        "    for size in range(1, 10_000):\n"
        "        raise_if_abandoned()\n"
        "        jnp.cumsum(jnp.arange(size)).block_until_ready()\n"
        "with BackgroundTask(work) as task:\n"
        "    task.start()\n"
        "    jnp.arange(4).sum().block_until_ready()\n"
        "    raise LookupError('as it should')\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == "LookupError: as it should"
