"""The envelope of every answer that is not a success (contract § 6, "Errors")."""

from rhapsode_contract.errors import ForeignError, RhapsodeError
from rhapsode_contract.shape import Shape


class ErrorDetail(Shape):
    """One failure, as a client branches on it."""

    code: str
    """A word of `ErrorCode`, or one that a newer peer knows."""

    message: str
    """For a person; clients never parse it."""

    retryable: bool
    """Whether the same request may succeed later."""


class ErrorBody(Shape):
    """`{"error": {"code", "message", "retryable"}}`, and nothing else in it."""

    error: ErrorDetail

    @classmethod
    def of(cls, error: RhapsodeError | ForeignError) -> "ErrorBody":
        """Returns the envelope that says `error`."""
        # A message may quote a file name or an engine's output, which need not be valid Unicode;
        # JSON must be, and an error that cannot be told is worse than one with a `?` in it.
        message = error.message.encode("utf-8", "replace").decode("utf-8")
        detail = ErrorDetail(code=str(error.code), message=message, retryable=error.retryable)
        return cls(error=detail)
