"""The first Ctrl-C asks to stop, the second one insists, and an ignored signal stays ignored."""

import signal

import pytest

from hcpinn.machine.interrupt import patient_interrupt


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_sets_the_event_and_the_second_interrupts(number):
    before = signal.getsignal(number)
    with patient_interrupt() as event:
        signal.raise_signal(number)
        assert event.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert signal.getsignal(number) is before


def test_a_background_job_goes_on_ignoring_ctrl_c():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with patient_interrupt() as event:
            signal.raise_signal(signal.SIGINT)
            assert not event.is_set()
            signal.raise_signal(signal.SIGTERM)
            assert event.is_set()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
