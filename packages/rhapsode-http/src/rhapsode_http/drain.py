"""What is in flight, and the refusal of new work once a server is leaving (contract § 2)."""

import asyncio
from collections.abc import Callable
from typing import Final

from rhapsode_contract.errors import Overloaded
from starlette.types import ASGIApp, Receive, Scope, Send

from rhapsode_http.envelope import error_response

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Answered to the end: health and listings are how a leaving server is watched."""


class Drain:
    """ASGI middleware that counts requests and, once begun, refuses what would be new work."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._work = 0
        self._safe = 0
        self._has_changed = asyncio.Event()
        self.begun = asyncio.Event()
        """Set by `begin()`; whoever serves endless answers, such as events, ends them then."""

    @property
    def in_flight(self) -> int:
        """Requests whose app has not returned."""
        return self._work + self._safe

    def begin(self) -> None:
        """Refuses new work from now on. May be called again."""
        self.begun.set()

    async def work_done(self) -> None:
        """Waits until nothing but safe requests is in flight."""
        await self._until(lambda: self._work == 0)

    async def all_done(self) -> None:
        """Waits until nothing is in flight."""
        await self._until(lambda: self.in_flight == 0)

    async def _until(self, is_true: Callable[[], bool]) -> None:
        while not is_true():
            self._has_changed.clear()
            await self._has_changed.wait()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["method"] in SAFE_METHODS:
            self._safe += 1
            try:
                await self._app(scope, receive, send)
            finally:
                self._safe -= 1
                self._has_changed.set()
        elif self.begun.is_set():
            refusal = error_response(
                Overloaded("this server is finishing its work and takes no more"),
                {"Connection": "close"},
            )
            await refusal(scope, receive, send)
        else:
            self._work += 1
            try:
                await self._app(scope, receive, send)
            finally:
                self._work -= 1
                self._has_changed.set()
