"""What a caller hears of a worker's process that ended."""

import signal

from rhapsode_contract import Internal, ModelUnavailable


def exit_error(status: int, last_words: str, when: str) -> Internal | ModelUnavailable:
    """Returns the error that a process's end is to whoever waited for it.

    A process that was killed may do better next time (out of memory, an operator); one that
    exited by itself would exit again.

    Args:
        status: Its exit status, or the negated number of the signal that ended it.
        last_words: The end of its standard error; empty where it may say nothing to a caller.
        when: Such as `before it was ready`.
    """
    if status < 0:
        message = f"the engine's process was killed by {_signal(-status)} {when}"
        return ModelUnavailable(_with_last_words(message, last_words))
    message = f"the engine's process exited with status {status} {when}"
    return Internal(_with_last_words(message, last_words))


def unmet_error(status: int, last_words: str) -> ModelUnavailable:
    """Returns the error that a process's end is which came between its handshake and its first
    answer. It was up, so this is a crash like any later one, after which it is started again.

    Args:
        status: As for `exit_error`.
        last_words: As for `exit_error`.
    """
    return ModelUnavailable(exit_error(status, last_words, "before its first answer").message)


def silence_error(seconds: float, last_words: str) -> ModelUnavailable:
    """Returns the error that a worker is which does not become ready."""
    message = f"start: the engine's process was not ready within {seconds:g} s"
    return ModelUnavailable(_with_last_words(message, last_words))


def _with_last_words(message: str, last_words: str) -> str:
    return f"{message}; its last words: {last_words}" if last_words else message


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"  # a real-time signal has no name
