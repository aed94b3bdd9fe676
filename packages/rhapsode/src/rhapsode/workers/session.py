"""One process of a worker while it is up: who it is and how it is asked."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final, TypeVar

import anyio
from rhapsode_contract import (
    Capabilities,
    Internal,
    RhapsodeError,
    Shape,
    read_error,
    read_shape,
)
from rhapsode_http import (
    REQUEST_ID_HEADER,
    Client,
    UpstreamError,
    UpstreamResponse,
    UpstreamTooLong,
    request_id,
)

from rhapsode.workers.turns import Turns

_JSON_BYTES: Final = 4 * 1024 * 1024
"""More than any document of a worker's holds."""
_EXIT_NOTICE_SECONDS: Final = 1.0
"""A connection's end is seen before the process's own, which explains it."""

S = TypeVar("S", bound=Shape)


@dataclass(frozen=True)
class Answer:
    """A worker's whole answer."""

    status: int
    content_type: str
    body: bytes


@dataclass(eq=False)
class Session:
    """What is known of one running process. Kept by whoever uses it; it says when it has ended."""

    engine: str

    client: Client

    pid: int

    capabilities: Capabilities
    """As the worker declared them at its start, or after its last load."""

    turns: Turns = field(default_factory=Turns)

    ended: anyio.Event = field(default_factory=anyio.Event)
    """Set once the process is gone."""

    exit: RhapsodeError | None = None
    """What its end is to whoever was waiting for an answer."""

    def end(self, failure: RhapsodeError) -> None:
        """Takes note that the process is gone.

        Args:
            failure: What its end is to whoever was waiting for an answer.
        """
        self.exit = failure
        self.ended.set()

    async def open(
        self, method: str, target: str, body: bytes = b"", more: Iterable[tuple[bytes, bytes]] = ()
    ) -> UpstreamResponse:
        """Asks the worker; returns once the head of its answer has come. Sets no deadline.

        Raises:
            UpstreamError: It did not answer; `explain` says why.
        """
        headers = list(more)
        if body:
            headers.append((b"content-type", b"application/json"))
        if (current := request_id.get()) is not None:
            headers.append((REQUEST_ID_HEADER.lower().encode(), current.encode()))
        return await self.client.request(method, target, headers, body)

    async def ask(self, method: str, target: str, body: bytes = b"") -> Answer:
        """Asks the worker and returns its whole answer. Sets no deadline.

        Raises:
            RhapsodeError: The worker refused, failed or broke off.
            ForeignError: It refused with a code that we do not know.
        """
        try:
            async with await self.open(method, target, body) as response:
                whole = await read_whole(response, _JSON_BYTES)
        except UpstreamError as error:
            raise await self.explain(error) from None
        if response.status >= HTTPStatus.BAD_REQUEST:
            raise read_error(response.status, whole)
        return Answer(response.status, response.header("content-type") or "", whole)

    async def document(self, model: type[Shape], target: str) -> bytes:
        """Asks for a document and returns it as it came, with fields that we do not know.

        Raises:
            RhapsodeError: As `ask`; `Internal` where it has not the shape.
            ForeignError: As `ask`.
        """
        body = (await self.ask("GET", target)).body
        parse(model, body, target)
        return body

    async def read(self, model: type[S], target: str) -> S:
        """Asks for a document and reads it.

        Raises:
            RhapsodeError: As `ask`; `Internal` where it has not the shape.
            ForeignError: As `ask`.
        """
        return parse(model, (await self.ask("GET", target)).body, target)

    async def explain(self, error: UpstreamError) -> RhapsodeError:
        """Returns what a broken connection is to a caller: the process's end where that was it."""
        with anyio.move_on_after(_EXIT_NOTICE_SECONDS):
            await self.ended.wait()
        if self.exit is not None:
            return type(self.exit)(self.exit.message)
        return Internal(f"the engine did not finish its answer: {error}")


def parse(model: type[S], body: bytes, target: str) -> S:
    """Reads a worker's document.

    Raises:
        Internal: It has not the shape.
    """
    try:
        return read_shape(model, body)
    except ValueError as error:
        first = str(error).splitlines()[0]
        raise Internal(f"the engine's answer to {target} has a wrong shape: {first}") from None


async def read_whole(response: UpstreamResponse, limit_bytes: int) -> bytes:
    """Returns the rest of an answer.

    Raises:
        Internal: It is longer than `limit_bytes`.
        UpstreamError: It breaks off.
    """
    try:
        return await response.read_all(limit_bytes=limit_bytes)
    except UpstreamTooLong:
        raise Internal(f"the engine sent more than {limit_bytes} bytes") from None


async def first_capabilities(client: Client) -> Capabilities:
    """Asks a process that has just become ready what it can do. Starts no model.

    Raises:
        Internal: It does not say.
    """
    try:
        async with await client.request("GET", "/capabilities") as response:
            body = await read_whole(response, _JSON_BYTES)
    except UpstreamError as error:
        raise Internal(f"start: the engine did not say what it can do: {error}") from None
    if response.status != HTTPStatus.OK:
        error = read_error(response.status, body)
        raise Internal(f"start: the engine did not say what it can do: {error.message}")
    return parse(Capabilities, body, "/capabilities")


async def ask_to_terminate(client: Client) -> bool:
    """Asks a worker to drain and end; returns whether it heard."""
    try:
        async with await client.request("POST", "/terminate") as response:
            return response.status == HTTPStatus.ACCEPTED
    except UpstreamError:
        return False
