"""The first answers of what may be a worker: whether it is one, and what it says of itself."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import anyio
from rhapsode_http import UpstreamError, UpstreamUnreachable

from rhapsode_conform.answer import as_object
from rhapsode_conform.subject import FirstLook
from rhapsode_conform.wire import Wire

_ADDRESS_RETRIES: Final = 50
_RETRY_SECONDS: Final = 0.1


class Unreachable(Exception):
    """There is no worker to check; the message says why."""


@contextmanager
def in_time(wire: Wire, seconds: float) -> Generator[None]:
    """Bounds the wait for the first answers.

    Raises:
        Unreachable: They did not come in time.
    """
    with anyio.move_on_after(seconds) as waiting:
        yield
    if waiting.cancelled_caught:
        why = wire.refusal or f"nothing came within {seconds:g} s"
        raise Unreachable(f"no worker answers at {wire.address}: {why}")


async def can_connect(wire: Wire) -> bool:
    """Whether a connection is accepted, whatever is answered then."""
    try:
        await wire.get("/health")
    except UpstreamUnreachable:
        return False
    except UpstreamError:
        pass  # it took the connection
    return True


def expect_a_worker(wire: Wire, first: FirstLook) -> None:
    """Goes on where something of what came could be a worker's, however bad a one.

    Raises:
        Unreachable: Nothing could: it is another kind of server.
    """
    answers = (first.health, first.capabilities, first.voices)
    if all(answer.json is None for answer in answers):
        raise Unreachable(f"no worker answers at {wire.address}: {first.capabilities}")


async def first_look(wire: Wire, variant: str | None) -> FirstLook:
    """Asks for health, capabilities and voices; a worker that is not there yet is asked again.

    Raises:
        Unreachable: Nothing answers, or the variant to be looked at is not there.
    """
    error: Exception | None = None
    for _ in range(_ADDRESS_RETRIES):
        try:
            first = FirstLook(
                await wire.get("/health"),
                await wire.get("/capabilities"),
                await wire.get("/voices"),
            )
        except UpstreamUnreachable as failure:
            error = failure
            await anyio.sleep(_RETRY_SECONDS)
            continue
        except UpstreamError as failure:
            error = failure
            break
        variants = as_object(first.capabilities.object.get("variants"))
        if variant is not None and variant not in variants:
            raise Unreachable(f"there is no variant {variant!r}; there are {list(variants)}")
        return first
    raise Unreachable(f"no worker answers at {wire.address}: {error}")
