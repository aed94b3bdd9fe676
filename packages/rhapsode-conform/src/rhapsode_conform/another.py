"""One more process of the worker under check."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from rhapsode_http import parse_address

from rhapsode_conform.outcome import undecided
from rhapsode_conform.spawned import Spawned
from rhapsode_conform.subject import Subject
from rhapsode_conform.wire import Wire


@asynccontextmanager
async def another(subject: Subject) -> AsyncGenerator[tuple[Spawned, Wire]]:
    """Starts one for a block, and yields it and a wire to it.

    Raises:
        Finding: It shook no hands, or this tool did not start the first one either.
    """
    async with subject.started() as worker:
        if not worker.handshake:
            raise undecided(f"another one did not start: {worker.last_words}")
        wire = subject.wire_to(parse_address(str(worker.handshake.get("listen"))))
        try:
            yield worker, wire
        finally:
            await wire.aclose()
