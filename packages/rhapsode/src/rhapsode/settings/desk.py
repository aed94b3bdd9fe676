"""Where the settings are read and changed while the core runs."""

from collections.abc import Mapping
from typing import Any, Protocol

import anyio
import anyio.to_thread
from rhapsode_contract import SettingsDocument, Unsupported

from rhapsode.settings.caller import Caller, check_stays_admitted
from rhapsode.settings.document import document
from rhapsode.settings.live import LiveSettings
from rhapsode.settings.patch import SettingsPatch, read_patch
from rhapsode.settings.setting import find_setting


class SettingsStore(Protocol):
    """What keeps settings; the state database is one."""

    def write_settings(self, changes: Mapping[str, Any]) -> None:
        """Sets and clears settings, all of them or none; blocks.

        Raises:
            RhapsodeError: It can't; nothing has changed.
        """
        ...


class SettingsDesk:
    """Takes one change after the other: checked, then written, then in use."""

    def __init__(self, live: LiveSettings, store: SettingsStore | None) -> None:
        """Args:
        live: What is in use.
        store: Where changes are kept; None where nothing can be changed.
        """
        self._live = live
        self._store = store
        # Held across the write: what the next change is checked against has to be in use by then.
        self._turn = anyio.Lock()

    def document(self) -> SettingsDocument:
        """Returns the settings in use and what waits. Asks nobody."""
        return document(self._live)

    async def change(self, patch: SettingsPatch, caller: Caller) -> SettingsDocument:
        """Writes a patch, applies what can be, and returns the document as it is then.

        Raises:
            Unsupported: There is nowhere to keep it.
            BadRequest: There is no such setting, or it may not have this value.
            UnknownEngine: There is no such engine.
            Conflict: It would lock its caller out.
            RhapsodeError: It can't be written. Whatever is raised, nothing has changed.
        """
        if self._store is None:
            raise Unsupported("this server has no state database, and so nowhere to keep a setting")
        async with self._turn:
            changes = read_patch(patch, self._live.engines, self._live.base)
            check_stays_admitted(caller, changes, self._live)
            if changes:
                # A client that leaves can't part the two: what is written is in use.
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(self._store.write_settings, _written(changes))
                    self._live.note_saved(changes)
            return self.document()


def _written(changes: Mapping[str, object]) -> dict[str, Any]:
    """Returns changes as the database keeps them."""
    written: dict[str, Any] = {}
    for key, value in changes.items():
        found = find_setting(key)
        assert found is not None  # read from a patch, which has no others
        written[key] = None if value is None else found[0].written(value)
    return written
