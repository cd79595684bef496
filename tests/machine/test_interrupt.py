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


def test_a_handler_that_python_could_not_put_back_stays(monkeypatch):
    """That of a program around Python, which Python knows as None."""
    monkeypatch.setattr(signal, "getsignal", lambda number: None)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with patient_interrupt() as event, pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert not event.is_set()
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interpreter_that_may_set_no_handlers_sets_none(monkeypatch):
    def refuse(*_):
        raise ValueError("signal only works in main thread of the main interpreter")

    monkeypatch.setattr(signal, "signal", refuse)
    with patient_interrupt() as event:
        assert not event.is_set()


def test_an_outer_block_hears_what_an_inner_one_answers():
    with patient_interrupt() as outer:
        with patient_interrupt() as inner:
            signal.raise_signal(signal.SIGINT)
        assert inner.is_set()
        assert outer.is_set()
        with pytest.raises(KeyboardInterrupt):  # the second
            signal.raise_signal(signal.SIGINT)
