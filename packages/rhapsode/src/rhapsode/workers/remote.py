"""A worker on another machine: connected to, watched, asked to end, never signalled.

Its process is somebody else's business: told to end, it is expected back at the same address.
"""

import ssl
from collections.abc import Callable
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
            client = client_of(self._origin)
        except UnusableUrl as error:
            return End(Internal(f"the engine cannot be reached: {error}"), is_hopeless=True)
        async with client:
            capabilities = await self._greet(client)
            if isinstance(capabilities, End):
                return capabilities
            if not ending.is_set():
                stranger = partial(client_of, self._origin)
                session = Session(self._engine, client, stranger, None, capabilities)
                ready(session)
                await first_of(ending.wait, lambda: self._lose_sight_of(session))
            if not ending.is_set():
                return self._lost("it does not say how it is")
            await self._end(client)
        return self._lost("it was told to end")

    def kill(self) -> None:
        """Does nothing: no signal reaches it."""

    async def _greet(self, client: Client) -> Capabilities | End:
        try:
            with anyio.fail_after(self._patience.connect_seconds):
                capabilities = await first_capabilities(client)
            check_answer(capabilities.contract)
        except TimeoutError:
            return self._lost(f"it said nothing for {self._patience.connect_seconds:g} s")
        except RhapsodeError as error:
            return self._lost(error.message)
        except ContractMismatch as error:
            return End(Internal(f"the worker is refused: {error}"), is_hopeless=True)
        if capabilities.engine.id != self._engine:
            message = f"the worker is the engine {capabilities.engine.id!r}, not {self._engine!r}"
            return End(Internal(message), is_hopeless=True)
        return capabilities

    async def _lose_sight_of(self, session: Session) -> None:
        """Watches; returns once it has twice in a row not said how it is. One answer that is lost
        would be no reason to cut off whoever it is speaking to.
        """
        seconds = self._patience.watch_seconds
        has_missed = False
        while True:
            if not has_missed:
                await anyio.sleep(seconds)
            health = await health_of(session.client, seconds)
            if health is not None:
                session.seen(health)
            elif has_missed:
                return
            has_missed = health is None

    async def _end(self, client: Client) -> None:
        """Tells it to end; returns once it is gone, or is back with nothing loaded, or its grace
        is over. One that does not even hear it is left to itself.
        """
        has_heard = False
        with anyio.move_on_after(self._patience.connect_seconds):
            has_heard = await ask_to_terminate(client)
        if not has_heard:
            return
        with anyio.move_on_after(self._grace_seconds):
            while True:
                health = await health_of(client, self._patience.watch_seconds)
                is_back = health is not None and health.process == "up"
                if health is None or (is_back and health.model == "unloaded"):
                    return
                await anyio.sleep(self._patience.return_seconds)

    def _lost(self, why: str) -> End:
        return End(ModelUnavailable(f"the engine at {self._origin.url} cannot be reached: {why}"))


class UnusableUrl(Exception):
    """No client can be made of an entry; one line that says why."""


def client_of(origin: RemoteUrl) -> Client:
    """Returns a client of a worker's URL; nothing is connected yet.

    Raises:
        UnusableUrl: The file of certificates holds none, or the URL or the token is no such thing.
    """
    parts = urlsplit(origin.url)
    assert parts.hostname is not None  # the entry has checked it
    tls = _tls(origin.ca_file) if parts.scheme == "https" else None
    headers: list[tuple[bytes, bytes]] = []
    if origin.token is not None:
        headers.append((b"authorization", b"Bearer " + origin.token.encode()))
    try:
        return Client(
            TcpAddress(parts.hostname, parts.port or _DEFAULT_PORTS[parts.scheme]),
            base=quote(parts.path.rstrip("/"), safe="/%"),
            headers=headers,
            tls=tls,
        )
    except ValueError as error:
        raise UnusableUrl(str(error)) from None


def _tls(ca_file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise UnusableUrl(f"caFile: {ca_file}: {error.strerror or error}") from None
