"""Signals stop a run like Ctrl-C, and wait while something paid for is at stake."""

import os
import signal
import threading

import pytest

from dawa.host import interrupts


@pytest.fixture(autouse=True)
def usual():
    """Signals as a shell leaves them, not as one leaves them to what it runs in its background."""
    before = {number: signal.getsignal(number) for number in interrupts.SIGNALS}
    for number in before:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def send(number):
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_every_signal_is_an_interruption_that_says_which(number):
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt) as caught, interrupts.raised():
        send(number)
    assert caught.value.signal == number
    assert signal.getsignal(number) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_waits(number):
    told = []
    with interrupts.raised(), interrupts.held(lambda: told.append(1)) as hold:
        send(number)
        assert hold.asked == [number]
    assert told == [1]


def test_who_asks_twice_means_it_until_there_is_something_to_keep():
    with interrupts.held():
        send(signal.SIGTERM)
        with pytest.raises(interrupts.Interrupted):
            send(signal.SIGINT)
    with interrupts.held() as hold:
        send(signal.SIGINT)
        hold.close()
        for _ in range(5):
            send(signal.SIGTERM)
    assert len(hold.asked) == 6


def test_what_the_shell_ignores_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interrupts.raised(), interrupts.held() as hold:
            send(signal.SIGHUP)
        assert not hold.asked
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_other_threads_get_no_handlers():
    failed = []

    def work():
        try:
            with interrupts.raised(), interrupts.held() as hold:
                hold.close()
        except ValueError as error:  # Python's own, for signals outside the main thread
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not failed
