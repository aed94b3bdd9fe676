"""A result that several requests wait for, each free to give up its wait."""

from typing import Generic, TypeVar

import anyio
from rhapsode_contract import ForeignError, RhapsodeError

Failure = RhapsodeError | ForeignError
"""What a caller can be told."""

T = TypeVar("T")


class Outcome(Generic[T]):
    """How something ends that is done once for everybody."""

    def __init__(self) -> None:
        self._settled = anyio.Event()
        self._value: T | None = None
        self._failure: Failure | None = None

    @property
    def is_settled(self) -> bool:
        return self._settled.is_set()

    def succeed(self, value: T) -> None:
        """Ends it well. The first word counts."""
        if not self.is_settled:
            self._value = value
            self._settled.set()

    def fail(self, failure: Failure) -> None:
        """Ends it badly. The first word counts."""
        if not self.is_settled:
            self._failure = failure
            self._settled.set()

    async def settled(self) -> None:
        """Waits for the end, whichever it is."""
        await self._settled.wait()

    async def result(self) -> T:
        """Waits for the end and returns the value.

        Raises:
            RhapsodeError: It failed; an exception of its own for each who waits.
            ForeignError: So, with a code that we do not know.
        """
        await self._settled.wait()
        if self._failure is not None:
            raise _copy(self._failure)
        assert self._value is not None
        return self._value


def _copy(failure: Failure) -> Failure:
    if isinstance(failure, RhapsodeError):
        return type(failure)(failure.message, field=failure.field)
    return ForeignError(
        failure.code, failure.message, retryable=failure.retryable, status=failure.status
    )
