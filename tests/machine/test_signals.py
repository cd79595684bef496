"""A command answers Ctrl-C and SIGTERM at any moment, with its own exit code and a sentence."""

import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals to send")

BEGIN = "import hashlib, os, signal, sys, time; from hcpinn.machine import signals; signals.watch_over();"
STARTED = "signals.handle_by(signals.interrupt);"
STUCK = "print('ready', flush=True); hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)"
"""A call that lasts minutes, in which Python runs no handlers."""


def begun(code, *, by=()):
    command = [*by, sys.executable, "-c", code]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n", process.communicate(timeout=60)
    return process


def ended(process, number=None):
    """Exit code and errors, after a signal."""
    if number is not None:
        time.sleep(0.5)  # until what follows the announcement is under way
        process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    return process.returncode, errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "code",
    [
        f"{BEGIN} print('ready', flush=True); time.sleep(60)",
        f"{BEGIN} {STUCK}",
        f"{BEGIN} {STARTED} {STUCK}",
    ],
    ids=["while it starts", "in a long call while it starts", "in a long call"],
)
def test_a_signal_ends_it_with_a_sentence(number, code):
    assert ended(begun(code), number) == (130, "Interrupted.\n")


def test_a_signal_that_a_module_would_swallow_while_it_is_imported_counts(tmp_path):
    (tmp_path / "greedy.py").write_text(
        "import time\nprint('ready', flush=True)\ntry:\n    time.sleep(60)\nexcept BaseException: pass\n"
    )
    process = begun(f"{BEGIN} {STARTED} sys.path.insert(0, {str(tmp_path)!r}); import greedy")
    assert ended(process, signal.SIGINT) == (130, "Interrupted.\n")


def test_a_signal_elsewhere_raises_and_lets_clean_up():
    code = f"{BEGIN} {STARTED} print('ready', flush=True)\ntry: time.sleep(60)\nexcept KeyboardInterrupt: sys.exit(7)"
    assert ended(begun(code), signal.SIGTERM) == (7, "")


def test_one_who_keeps_results_is_waited_for_until_a_second_signal():
    code = f"{BEGIN} {STARTED}\nfrom hcpinn.machine.interrupt import patient_interrupt\n"
    process = begun(f"{code}with patient_interrupt(): {STUCK}")
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    time.sleep(3.0)
    assert process.poll() is None
    assert ended(process, signal.SIGINT) == (130, "Interrupted.\n")


def test_the_second_signal_counts_though_the_first_was_heard():
    code = f"{BEGIN} {STARTED}\nfrom hcpinn.machine.interrupt import patient_interrupt\n"
    wait = "print('ready', flush=True); os.kill(os.getpid(), signal.SIGINT); time.sleep(0.2)"
    process = begun(f"{code}with patient_interrupt(): {wait}; hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)")
    time.sleep(2.0)
    assert ended(process, signal.SIGINT) == (130, "Interrupted.\n")


def test_another_handler_takes_its_time():
    code = f"{BEGIN} {STARTED} signal.signal(signal.SIGTERM, lambda *_: (time.sleep(3), os._exit(7)));"
    assert ended(begun(f"{code} print('ready', flush=True); time.sleep(60)"), signal.SIGTERM) == (7, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_process_ends_changes_nothing(number):
    code = f"{BEGIN} {STARTED} import atexit; signals.ignore();"
    late = "atexit.register(lambda: (print('ready', flush=True), time.sleep(1)))"
    assert ended(begun(f"{code} {late}; sys.exit(3)"), number) == (3, "")


def test_a_background_job_goes_on_ignoring_ctrl_c():
    code = f"{BEGIN} {STARTED} print('ready', flush=True); time.sleep(1); sys.exit(3)"
    shell = ("sh", "-c", 'trap \'\' INT; exec "$0" "$@"')
    assert ended(begun(code, by=shell), signal.SIGINT) == (3, "")


def test_other_signals_are_not_ours():
    code = f"{BEGIN} {STARTED} heard = []; signal.signal(signal.SIGUSR1, lambda *_: heard.append(1));"
    process = begun(f"{code} print('ready', flush=True); time.sleep(2.5); sys.exit(len(heard))")
    assert ended(process, signal.SIGUSR1) == (1, "")
