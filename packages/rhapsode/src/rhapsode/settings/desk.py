"""Where the settings are read and changed while the core runs."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeVar

import anyio
import anyio.to_thread
from rhapsode_contract import BadRequest, SettingsDocument, Unsupported
from rhapsode_contract.quoting import shown

from rhapsode.settings.caller import Caller, check_stays_admitted
from rhapsode.settings.document import document
from rhapsode.settings.live import LiveSettings
from rhapsode.settings.patch import SettingsPatch, read_patch
from rhapsode.settings.setting import find_setting
from rhapsode.settings.start_refused import StartRefused

CHECK_SECONDS: Final = 5.0
"""How long a look at a value may take: a resolver, or a disk on a network, may not answer."""

_Value = TypeVar("_Value", contravariant=True)


class SettingsStore(Protocol):
    """What keeps settings; the state database is one."""

    def write_settings(self, changes: Mapping[str, Any]) -> None:
        """Sets and clears settings, all of them or none; blocks.

        Raises:
            RhapsodeError: It can't; nothing has changed.
        """
        ...


class StartCheck(Protocol[_Value]):
    """Looks whether a start would take a value that is allowed by itself. Runs on a thread."""

    def __call__(self, value: _Value, /) -> None:
        """Blocks.

        Raises:
            StartRefused: It would not.
        """
        ...


StartChecks = Callable[[LiveSettings], Mapping[str, StartCheck[Any]]]
"""Gives the checks that there are, by dotted key."""


class SettingsDesk:
    """Takes one change after the other: checked, then written, then in use."""

    def __init__(
        self,
        live: LiveSettings,
        store: SettingsStore | None,
        start_checks: StartChecks,
        *,
        check_seconds: float = CHECK_SECONDS,
    ) -> None:
        """Args:
        live: What is in use.
        store: Where changes are kept; None where nothing can be changed.
        start_checks: What is asked of values before they are saved. What was saved wins over the
            file, so a value that no core starts with would be there for good.
        check_seconds: How long each of them may take.
        """
        self._live = live
        self._store = store
        self._start_checks = start_checks
        self._check_seconds = check_seconds
        # Held across the write: what the next change is checked against has to be in use by then.
        self._turn = anyio.Lock()

    def document(self) -> SettingsDocument:
        """Returns the settings in use and what waits. Asks nobody."""
        return document(self._live)

    async def change(self, patch: SettingsPatch, caller: Caller) -> SettingsDocument:
        """Writes a patch, applies what can be, and returns the document as it is then.

        Raises:
            Unsupported: There is nowhere to keep it.
            BadRequest: There is no such setting, or it may not have this value, or no core could
                start with it here.
            UnknownEngine: There is no such engine.
            Conflict: It would lock its caller out.
            RhapsodeError: It can't be written. Whatever is raised, nothing has changed.
        """
        if self._store is None:
            raise Unsupported("this server has no state database, and so nowhere to keep a setting")
        async with self._turn:
            changes = read_patch(patch, self._live.engines, self._live.base)
            check_stays_admitted(caller, changes, self._live)
            await self._check_starts(changes)
            if changes:
                # A client that leaves can't part the two: what is written is in use.
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(self._store.write_settings, _written(changes))
                    self._live.note_saved(changes)
            return self.document()

    async def _check_starts(self, changes: Mapping[str, object]) -> None:
        for key, check in self._start_checks(self._live).items():
            value = changes.get(key)
            if value is None:
                continue
            try:
                with anyio.fail_after(self._check_seconds):
                    await anyio.to_thread.run_sync(check, value, abandon_on_cancel=True)
            except StartRefused as refused:
                raise BadRequest(str(refused), field=key) from None
            except TimeoutError:
                raise BadRequest(
                    f"{key}: {shown(str(value))} could not be looked at in"
                    f" {self._check_seconds:g} s",
                    field=key,
                ) from None


def _written(changes: Mapping[str, object]) -> dict[str, Any]:
    """Returns changes as the database keeps them."""
    written: dict[str, Any] = {}
    for key, value in changes.items():
        found = find_setting(key)
        assert found is not None  # read from a patch, which has no others
        written[key] = None if value is None else found[0].written(value)
    return written
