"""What a process's end is to a caller."""

import signal

import pytest
from rhapsode.workers.exits import exit_error, silence_error
from rhapsode_contract import Internal, ModelUnavailable


def test_an_exit_by_itself_would_happen_again() -> None:
    error = exit_error(3, "ImportError: no torch", "before it was ready")
    assert isinstance(error, Internal)
    assert "status 3 before it was ready" in error.message
    assert "ImportError: no torch" in error.message


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, 40])
def test_a_process_that_was_killed_may_do_better_next_time(number: int) -> None:
    error = exit_error(-number, "", "while it was up")
    assert isinstance(error, ModelUnavailable)
    assert str(number) in error.message or signal.Signals(number).name in error.message


def test_silence_names_the_stage_and_its_time() -> None:
    assert "start" in silence_error(60, "").message
    assert "60 s" in silence_error(60, "").message
