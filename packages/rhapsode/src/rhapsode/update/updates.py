"""Whether this core is current: what is known, and when to ask again (contract § 9)."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

import anyio
from anyio.abc import TaskGroup
from rhapsode_contract import UpdateStatus

from rhapsode.update.asking import LATEST_RELEASE_URL, latest_release
from rhapsode.update.distribution import MARKER, Distribution, read_distribution
from rhapsode.update.release import NoAnswer, Release, is_newer
from rhapsode.version import VERSION

logger = logging.getLogger(__name__)

VARIABLE: Final = "RHAPSODE_UPDATE_CHECK"
"""`0` in the environment turns the check off, whatever the setting says; nothing turns it on."""

CHECK_SECONDS: Final = 10.0
"""What one check may take in all, and so what who asks for it may wait."""

STANDS_SECONDS: Final = 24 * 60 * 60
"""How long an answer stands where nobody asks for a new one."""

RETRY_SECONDS: Final = 6 * 60 * 60
"""The same for a check that failed."""

SPARED_SECONDS: Final = 5 * 60
"""How long nobody can make the box ask again: what lets an open route start outbound traffic."""


@dataclass(frozen=True)
class Outcome:
    """How the last check ended."""

    ended_seconds: float
    """On the clock that never goes back."""

    checked_at: datetime

    release: Release | None
    """None: it failed."""


def is_due(last: Outcome | None, now_seconds: float) -> bool:
    """Says whether a caller who only looks should set off a check."""
    if last is None:
        return True
    stands_seconds = RETRY_SECONDS if last.release is None else STANDS_SECONDS
    return now_seconds - last.ended_seconds >= stands_seconds


def may_ask(last: Outcome | None, now_seconds: float) -> bool:
    """Says whether a caller who asks for a check gets a new one."""
    return last is None or now_seconds - last.ended_seconds >= SPARED_SECONDS


class Updates:
    """What is known of newer releases. It is kept in memory, and nothing runs by itself."""

    def __init__(
        self,
        settings_check: Callable[[], bool],
        environ: Mapping[str, str],
        tasks: TaskGroup,
        *,
        version: str = VERSION,
        release_url_of_api: str = LATEST_RELEASE_URL,
        clock: Callable[[], float] = time.monotonic,
        check_seconds: float = CHECK_SECONDS,
        marker: Path = MARKER,
    ) -> None:
        """Args:
        settings_check: Says what `update.check` is now.
        environ: The core's environment.
        tasks: Where a check runs; its end cuts a check off.
        version: Which release this is.
        release_url_of_api: Whom to ask.
        clock: Seconds; never goes back.
        check_seconds: What one check may take in all.
        marker: What the published image carries and nobody else.
        """
        self._settings_check = settings_check
        self._may_ever_ask = environ.get(VARIABLE, "").strip() != "0"
        self._tasks = tasks
        self._version = version
        self._url = release_url_of_api
        self._clock = clock
        self._check_seconds = check_seconds
        self._distribution: Distribution = read_distribution(marker)
        self._last: Outcome | None = None
        self._flight: anyio.Event | None = None

    def look(self) -> UpdateStatus:
        """Returns what is known, and sets off a check where that is missing or old.

        Never waits: the first call tells of a check that is pending.
        """
        if self._is_on and self._flight is None and is_due(self._last, self._clock()):
            self._set_off()
        return self._status()

    async def check(self) -> UpdateStatus:
        """Returns what is known once a check has ended: the one in flight, else a new one.

        Without one where the last ended less than five minutes ago, or checks are turned off.
        Waits as long as a check may take, and no longer; giving up the wait stops nothing.
        """
        if self._is_on:
            flight = self._flight
            if flight is None and may_ask(self._last, self._clock()):
                flight = self._set_off()
            if flight is not None:
                await flight.wait()
        return self._status()

    @property
    def _is_on(self) -> bool:
        return self._may_ever_ask and self._settings_check()

    def _status(self) -> UpdateStatus:
        if not self._is_on:
            return self._told("off")
        if self._last is None:
            return self._told("pending")
        release = self._last.release
        if release is None:
            return self._told("failed")
        return UpdateStatus(
            version=self._version,
            check="ok",
            latest=release.version,
            update_available=is_newer(release.tag, self._version),
            release_url=release.page,
            checked_at=self._last.checked_at,
            distribution=self._distribution,
        )

    def _told(self, check: Literal["off", "pending", "failed"]) -> UpdateStatus:
        return UpdateStatus(version=self._version, check=check, distribution=self._distribution)

    def _set_off(self) -> anyio.Event:
        self._flight = flight = anyio.Event()
        self._tasks.start_soon(self._run, flight)
        return flight

    async def _run(self, flight: anyio.Event) -> None:
        try:
            release = await self._ask()
            self._last = Outcome(self._clock(), datetime.now(UTC), release)
        finally:
            self._flight = None
            flight.set()

    async def _ask(self) -> Release | None:
        """Returns the latest release, or None where that is not to be learned. Logs why."""
        reason = f"no answer within {self._check_seconds:g} s"
        with anyio.move_on_after(self._check_seconds):
            try:
                return await latest_release(self._url, self._version)
            except NoAnswer as error:
                reason = str(error)
            except Exception:
                # It runs beside the workers, which must not end for the sake of some news.
                logger.exception("the check for a newer release broke")
                return None
        logger.info("the check for a newer release failed: %s", reason)
        return None
