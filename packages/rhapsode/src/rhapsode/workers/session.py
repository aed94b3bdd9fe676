"""One process of a worker while it is up: who it is and how it is asked."""

from collections.abc import AsyncIterable, Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final, TypeVar

import anyio
from rhapsode_contract import (
    Capabilities,
    Health,
    Internal,
    ModelUnavailable,
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
    UpstreamUnreachable,
    request_id,
)

from rhapsode.workers.clock import Clock
from rhapsode.workers.shortage import connection_shortage
from rhapsode.workers.turns import Turns

_JSON_BYTES: Final = 4 * 1024 * 1024
"""More than any document of a worker's holds."""
EXIT_NOTICE_SECONDS: Final = 1.0
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

    stranger: Callable[[], Client]
    """Makes a client that has no connection yet, as whoever comes next would have none."""

    process_id: int | None
    """None where its process is none of ours."""

    capabilities: Capabilities
    """As the worker declared them at its start, or after its last load."""

    answer_seconds: float
    """What it may take over a question that needs no model."""

    turns: Turns = field(default_factory=Turns)

    ended: anyio.Event = field(default_factory=anyio.Event)
    """Set once the process is gone."""

    exit: RhapsodeError | None = None
    """What its end is to whoever was waiting for an answer."""

    health: Health | None = None
    """What it said of itself when it was met; None for one that has just been started."""

    given_up: anyio.Event = field(default_factory=anyio.Event)
    """Set once a worker on another machine counts as lost, since it does not answer."""

    pieces_heard: int = 0
    """Of audio, by all listeners together: one that is heard needs not be asked whether it is
    there. Counted and not timed, since a stream has many."""

    listeners: set[Clock] = field(default_factory=set[Clock])
    """The clocks of the streams that have begun. One that stands still waits for its client."""

    look: Callable[[], Callable[[Health], None]] = lambda: lambda health: None
    """Called by whoever watches it before they ask how it is; what it returns is called with the
    answer."""

    suspect: Callable[[], None] = lambda: None
    """Called when it may hang; whoever owns it finds out, and ends it if so."""

    condemn: Callable[[RhapsodeError], None] = lambda fault: None
    """Called with what is wrong when its engine hangs, however well its process answers."""

    @property
    def pid(self) -> int:
        """Of a process of ours."""
        assert self.process_id is not None
        return self.process_id

    def end(self, failure: RhapsodeError) -> None:
        """Takes note that the process is gone.

        Args:
            failure: What its end is to whoever was waiting for an answer.
        """
        self.exit = failure
        self.ended.set()

    async def open(
        self,
        method: str,
        target: str,
        body: bytes | AsyncIterable[bytes] = b"",
        more: Iterable[tuple[bytes, bytes]] = (),
    ) -> UpstreamResponse:
        """Asks the worker; returns once the head of its answer has come. Sets no deadline.

        Args:
            method: Such as `POST`.
            target: The worker's route.
            body: JSON, or pieces of something else, as `more` says.
            more: Headers.

        Raises:
            UpstreamError: It did not answer; `explain` says why.
        """
        headers = list(more)
        if isinstance(body, bytes) and body:
            headers.append((b"content-type", b"application/json"))
        if (current := request_id.get()) is not None:
            headers.append((REQUEST_ID_HEADER.lower().encode(), current.encode()))
        return await self.client.request(method, target, headers, body)

    async def ask(
        self, method: str, target: str, body: bytes = b"", *, seconds: float | None = None
    ) -> Answer:
        """Asks the worker and returns its whole answer.

        Args:
            method: Such as `GET`.
            target: The worker's route.
            body: JSON, or nothing.
            seconds: What it may take; `answer_seconds` where None.

        Raises:
            RhapsodeError: The worker refused, failed, broke off or took longer than that.
            ForeignError: It refused with a code that we do not know.
        """
        seconds = self.answer_seconds if seconds is None else seconds
        try:
            with anyio.fail_after(seconds):
                async with await self.open(method, target, body) as response:
                    whole = await read_whole(response, _JSON_BYTES)
        except UpstreamError as error:
            raise await self.explain(error) from None
        except TimeoutError:
            raise self.too_slow(f"{method} {target}", seconds) from None
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

    async def read(self, model: type[S], target: str, *, seconds: float) -> S:
        """Asks for a document and reads it, in so many seconds.

        Raises:
            RhapsodeError: As `ask`; `Internal` where it has not the shape.
            ForeignError: As `ask`.
        """
        return parse(model, (await self.ask("GET", target, seconds=seconds)).body, target)

    async def explain(self, error: UpstreamError) -> RhapsodeError:
        """Returns what a broken connection is to a caller: the process's end where that was it."""
        if (lack := connection_shortage(error)) is not None:
            return lack
        if await self.has_ended_by_itself():
            assert self.exit is not None
            return type(self.exit)(self.exit.message)
        self.suspect()
        if isinstance(error, UpstreamUnreachable):
            return ModelUnavailable(f"the engine lets nobody in: {error}")
        if self.process_id is None:  # most likely the network, and it is worth another try
            return ModelUnavailable(f"the engine was cut off: {error}")
        return Internal(f"the engine did not finish its answer: {error}")

    async def has_ended_by_itself(self) -> bool:
        """Whether the process is gone, once there was time to hear of it."""
        with anyio.move_on_after(EXIT_NOTICE_SECONDS):
            await self.ended.wait()
        return self.ended.is_set()

    def too_slow(self, stage: str, seconds: float) -> ModelUnavailable:
        """Returns the error of a stage that is late before there was any audio."""
        self.suspect()
        return ModelUnavailable(f"{stage}: not there within {seconds:g} s")

    @contextmanager
    def listener(self, clock: Clock) -> Generator[None]:
        """Counts a stream, for the length of the block, among those that may hold the engine up:
        it does, for all we know, while its client takes nothing.

        Args:
            clock: Of the stream; stopped while the client is waited for.
        """
        self.listeners.add(clock)
        try:
            yield
        finally:
            self.listeners.remove(clock)
            if not clock.is_running:
                self.pieces_heard += 1  # whom it held up has not been kept waiting by the engine

    def note_silence(self, stage: str, seconds: float, heard: int) -> None:
        """Takes note that audio is late. An engine that nobody has heard meanwhile hangs, and would
        keep whoever comes next waiting as long, though its process says that it is well.

        Args:
            stage: What is late.
            seconds: What it had.
            heard: `pieces_heard` when these began.
        """
        is_held_up = any(not clock.is_running for clock in self.listeners)
        if self.pieces_heard != heard or is_held_up:
            self.suspect()
        elif not self.ended.is_set():
            what = f"{stage}: the engine sent no audio to anybody for {seconds:g} s"
            self.condemn(ModelUnavailable(f"{what}, and is replaced"))


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
        Shortage: It was not asked.
    """
    try:
        async with await client.request("GET", "/capabilities") as response:
            body = await read_whole(response, _JSON_BYTES)
    except UpstreamError as error:
        if (lack := connection_shortage(error)) is not None:
            raise lack from None
        raise Internal(f"start: the engine did not say what it can do: {error}") from None
    if response.status != HTTPStatus.OK:
        error = read_error(response.status, body)
        raise Internal(f"start: the engine did not say what it can do: {error.message}")
    return parse(Capabilities, body, "/capabilities")


async def health_of(client: Client, seconds: float) -> Health | None:
    """Returns how a worker says it is; None where it does not within `seconds`.

    Raises:
        Shortage: It was not asked.
    """
    with anyio.move_on_after(seconds):
        try:
            async with await client.request("GET", "/health") as response:
                body = await read_whole(response, _JSON_BYTES)
        except UpstreamError as error:
            if (lack := connection_shortage(error)) is not None:
                raise lack from None
            return None
        except Internal:
            return None
        try:
            return read_shape(Health, body) if response.status == HTTPStatus.OK else None
        except ValueError:
            return None
    return None


async def ask_to_terminate(client: Client) -> bool:
    """Asks a worker to drain and end; returns whether it heard."""
    try:
        async with await client.request("POST", "/terminate") as response:
            return response.status == HTTPStatus.ACCEPTED
    except UpstreamError:
        return False
