"""A worker on another machine: connected to, watched, asked to end, never signalled.

Its process is somebody else's business: told to end, it is expected back at the same address.
"""

import ssl
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

import anyio
from rhapsode_contract import (
    Capabilities,
    ContractMismatch,
    Internal,
    ModelUnavailable,
    RhapsodeError,
    check_answer,
)
from rhapsode_http import Client, TcpAddress, first_of

from rhapsode.registry import RemoteUrl
from rhapsode.workers.link import End
from rhapsode.workers.patience import Patience
from rhapsode.workers.session import Session, ask_to_terminate, first_capabilities, health_of
from rhapsode.workers.shortage import Shortage, file_shortage

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class RemoteLink:
    """The way to one worker on another machine."""

    def __init__(
        self, engine: str, origin: RemoteUrl, grace_seconds: float, patience: Patience
    ) -> None:
        """Args:
        engine: Its id.
        origin: Where it is.
        grace_seconds: What it may take to end once it was told to.
        patience: How often it is looked at, and what each look may take.
        """
        self._engine = engine
        self._origin = origin
        self._grace_seconds = grace_seconds
        self._patience = patience

    async def live(self, ready: Callable[[Session], None], ending: anyio.Event) -> End:
        """Connects, and watches until it is gone or should end."""
        try:
            new_client = clients_of(self._origin)
        except UnusableUrl as error:
            return End(Internal(f"the engine cannot be reached: {error}"), is_hopeless=True)
        except Shortage as error:
            return self._lost(error.message)
        async with new_client() as client:
            session = await self._greet(client, new_client)
            if isinstance(session, End):
                return session
            if not ending.is_set():
                ready(session)
                watch = _Watch(self, session)
                await first_of(ending.wait, watch.run, session.given_up.wait)
                if not ending.is_set():
                    return watch.end or self._lost("it does not say how it is")
            if not await self._end(client):
                return replace(self._lost("it did not hear that it should end"), is_unheard=True)
        return self._lost("it was told to end")

    def kill(self) -> None:
        """Does nothing: no signal reaches it."""

    async def _greet(self, client: Client, new_client: Callable[[], Client]) -> Session | End:
        seconds = self._patience.connect_seconds
        try:
            with anyio.fail_after(seconds):
                capabilities = await first_capabilities(client)
            if (stranger := self.stranger(capabilities)) is not None:
                return stranger
            # A model that it has already takes a place on the card.
            health = await health_of(client, seconds)
        except TimeoutError:
            return self._lost(f"it said nothing for {seconds:g} s")
        except RhapsodeError as error:
            return self._lost(error.message)
        answer_seconds = self._patience.answer_seconds
        return Session(
            self._engine, client, new_client, None, capabilities, answer_seconds, health=health
        )

    def stranger(self, capabilities: Capabilities) -> End | None:
        """Returns the end of a worker that is not the one that was meant, or not one we speak to;
        None where it is.
        """
        if capabilities.engine.id != self._engine:
            message = f"the worker is the engine {capabilities.engine.id!r}, not {self._engine!r}"
            return End(Internal(message), is_hopeless=True)
        try:
            check_answer(capabilities.contract)
        except ContractMismatch as error:
            return End(Internal(f"the worker is refused: {error}"), is_hopeless=True)
        return None

    async def look(self, session: Session) -> End | None:
        """Asks it how it is and who; returns the end of one that does not say, or is another."""
        seconds = self._patience.watch_seconds
        note = session.look()
        try:
            health = await health_of(session.client, seconds)
            if health is None:
                return self._lost("it does not say how it is")
            with anyio.fail_after(seconds):
                capabilities = await first_capabilities(session.client)
        except Shortage:
            return None  # it was not asked
        except (TimeoutError, RhapsodeError):
            return self._lost("it does not say what it can do")
        if (stranger := self.stranger(capabilities)) is not None:
            return stranger
        session.capabilities = capabilities
        note(health)
        return None

    async def until_next_look(self) -> None:
        """Returns when it is time."""
        await anyio.sleep(self._patience.watch_seconds)

    async def _end(self, client: Client) -> bool:
        """Tells it to end; returns once it is gone, or is back with nothing loaded, or its grace
        is over. False, at once, where it did not even hear it.
        """
        has_heard, seconds = False, self._patience.connect_seconds
        with anyio.move_on_after(seconds):
            # Not told into a link that hangs: it would hear of it when that hangs no more, and end
            # in the midst of what it is asked by then.
            is_there = await self._is_there(client, seconds)
            has_heard = is_there and await ask_to_terminate(client)
        if not has_heard:
            return False
        with anyio.move_on_after(self._grace_seconds):
            while True:
                if await self._has_gone(client):
                    break
                await anyio.sleep(self._patience.return_seconds)
        return True

    async def _is_there(self, client: Client, seconds: float) -> bool:
        try:
            return await health_of(client, seconds) is not None
        except Shortage:
            return False

    async def _has_gone(self, client: Client) -> bool:
        """Whether one that was told to end is gone, or back."""
        try:
            health = await health_of(client, self._patience.watch_seconds)
        except Shortage:
            return False
        return health is None or (health.process == "up" and health.model == "unloaded")

    def _lost(self, why: str) -> End:
        return End(ModelUnavailable(f"the engine at {self._origin.url} cannot be reached: {why}"))


class _Watch:
    """Looks at a worker from time to time, until it is lost or turns out to be another."""

    def __init__(self, link: RemoteLink, session: Session) -> None:
        self._link = link
        self._session = session
        self.end: End | None = None
        """How it was lost."""

    async def run(self) -> None:
        """Returns once it is lost: once it has twice in a row not said how it is, and has not been
        heard to speak meanwhile. One answer that goes astray would be no reason to cut off whoever
        it is speaking to.
        """
        has_missed = False
        while True:
            if not has_missed:
                await self._link.until_next_look()
            heard = self._session.pieces_heard
            end = await self._link.look(self._session)
            if end is not None and (has_missed or end.is_hopeless):
                self.end = end
                return
            has_missed = end is not None and self._session.pieces_heard == heard


class UnusableUrl(Exception):
    """No client can be made of an entry; one line that says why."""


def clients_of(origin: RemoteUrl) -> Callable[[], Client]:
    """Returns what makes clients of a worker's URL, none of them connected yet. The certificates
    are read here, once: the file may be another when the next client is made, or be gone.

    Raises:
        UnusableUrl: The file of certificates holds none, or the URL or the token is no such thing.
        Shortage: The file could not be opened.
    """
    parts = urlsplit(origin.url)
    assert parts.hostname is not None  # the entry has checked it
    tls = _tls(origin.ca_file) if parts.scheme == "https" else None
    headers: list[tuple[bytes, bytes]] = []
    if origin.token is not None:
        headers.append((b"authorization", b"Bearer " + origin.token.encode()))
    new_client = partial(
        Client,
        TcpAddress(parts.hostname, parts.port or _DEFAULT_PORTS[parts.scheme]),
        base=quote(parts.path.rstrip("/"), safe="/%"),
        headers=headers,
        tls=tls,
    )
    try:
        new_client()
    except ValueError as error:
        raise UnusableUrl(str(error)) from None
    return new_client


def _tls(ca_file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        what = f"caFile: {ca_file}"
        if (lack := file_shortage(what, error)) is not None:
            raise lack from None
        raise UnusableUrl(f"{what}: {error.strerror or error}") from None
