"""The error by which an answer that has begun is broken off."""

from typing import cast


class StreamAborted(Exception):
    """An answer that cannot be finished; the message says why, for the log.

    An app raises it once its answer has begun. The connection is then closed where it stands, so
    that the client sees a truncated body instead of a short success (contract § 6).
    """


def as_abort(error: BaseException) -> StreamAborted | None:
    """Returns the abort that `error` is, also where a task group has wrapped it."""
    if isinstance(error, StreamAborted):
        return error
    if isinstance(error, BaseExceptionGroup):
        inner = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return as_abort(inner[0]) if len(inner) == 1 else None
    return None
