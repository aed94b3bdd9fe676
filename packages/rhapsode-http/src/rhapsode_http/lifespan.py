"""ASGI lifespan: an app's own start and stop, around everything it serves."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from starlette.types import ASGIApp, Message, Scope


class StartupFailed(Exception):
    """The app cannot start; the message is its own last line about it."""


@asynccontextmanager
async def lifespan(app: ASGIApp) -> AsyncGenerator[dict[str, Any]]:
    """Runs `app`'s lifespan around a block, and gives the state that it shares with requests.

    The app runs in one task from its start to its stop, so that it may hold task groups open. An
    app that knows no lifespan is served without one.

    Raises:
        StartupFailed: The app said that it cannot start, or raised while it did.
        Exception: Whatever the app raised while it stopped.
    """
    conversation = _Conversation(app)
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(conversation.run)
        await conversation.started.wait()
        if conversation.failure is None:
            try:
                yield conversation.state
            except Exception as error:
                failure = error  # raised below, where no task group wraps it
            finally:
                conversation.stop.set()
    if failure is None:
        failure = conversation.failure
    if failure is not None:
        raise failure


class _Conversation:
    """The lifespan messages of one app, in the order that ASGI gives them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.state: dict[str, Any] = {}
        self.started = anyio.Event()
        self.stop = anyio.Event()
        self.failure: Exception | None = None
        self._has_asked_to_start = False
        self._has_answered = False

    async def run(self) -> None:
        scope: Scope = {
            "type": "lifespan",
            "asgi": {"version": "3.0", "spec_version": "2.0"},
            "state": self.state,
        }
        try:
            await self._app(scope, self._receive, self._send)
        except Exception as error:
            if self.started.is_set():
                self.failure = error
            elif self._has_asked_to_start and self.failure is None:
                self.failure = StartupFailed(f"{type(error).__name__}: {error}")
                self.failure.__cause__ = error
            # Else ASGI: an app that has no lifespan raises at the unknown scope.
        finally:
            self.started.set()

    async def _receive(self) -> Message:
        if not self._has_asked_to_start:
            self._has_asked_to_start = True
            return {"type": "lifespan.startup"}
        await self.stop.wait()
        return {"type": "lifespan.shutdown"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "lifespan.startup.complete":
            self.started.set()
        elif message["type"] == "lifespan.startup.failed":
            reason = str(message.get("message", "")).strip().rpartition("\n")[2]
            self.failure = StartupFailed(reason or "the app cannot start")
