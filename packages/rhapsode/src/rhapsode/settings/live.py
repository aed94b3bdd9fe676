"""The settings in use, some of which change while the core runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from rhapsode.settings.entry import EngineEntry
from rhapsode.settings.layers import Source
from rhapsode.settings.loaded import LoadedSettings, Origin, saved_of_server
from rhapsode.settings.model import Settings
from rhapsode.settings.setting import (
    ENGINE_SETTINGS,
    SETTINGS,
    Setting,
    engine_key,
    find_setting,
    overlay,
)

_KEEP_ALIVE = ENGINE_SETTINGS["keepAliveSeconds"]


@dataclass(frozen=True)
class _Declared:
    """An engine of this box."""

    entry: EngineEntry

    origin: Origin


class LiveSettings:
    """Owner of the settings in use, and of what the database holds: the two differ in what waits
    for the next start.
    """

    def __init__(self, loaded: LoadedSettings) -> None:
        """Begins with what the core starts with, and the engines that are in service then."""
        self._loaded = loaded
        self._current = loaded.settings
        self._saved = dict(loaded.saved)
        self._set_aside = dict(loaded.set_aside)
        self._engines: dict[str, _Declared] = {}
        self._watchers: list[Callable[[], None]] = []
        for engine, entry in loaded.beneath.settings.engines.items():
            if not entry.disabled:
                self.declare(engine, entry, loaded.origins[engine])

    @property
    def current(self) -> Settings:
        """Those in use now. Ask again whenever one is needed."""
        return self._current

    @property
    def base(self) -> Path:
        """What a relative path is relative to."""
        return self._loaded.base

    @property
    def saved(self) -> Mapping[str, object]:
        """What the database holds, as checked values by dotted key."""
        return self._saved

    @property
    def set_aside(self) -> Mapping[str, object]:
        """What the database holds besides, and this process is not to use."""
        return self._set_aside

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that have settings of their own."""
        return tuple(self._engines)

    @property
    def local_engines(self) -> tuple[str, ...]:
        """Those of them whose workers run on this machine."""
        return tuple(one for one, known in self._engines.items() if known.entry.url is None)

    def keep_alive_of(self, engine: str) -> int | None:
        """Returns an engine's own keep-alive in seconds, or None where it has none."""
        return cast("int | None", self.of_engine(engine, _KEEP_ALIVE))

    def of_engine(self, engine: str, setting: Setting) -> object:
        """Returns the value of an engine's own setting; None where nobody gave it one."""
        saved = self._saved.get(engine_key(engine, setting))
        if saved is not None or engine not in self._engines:
            return saved
        return getattr(self._engines[engine].entry, setting.attribute)

    def source(self, setting: Setting) -> Source:
        """Returns the layer that the value in use of a setting of the server came from."""
        held = self.held(setting)
        if held is not None and held == setting.of(self._current):
            return "database"
        if setting.applies == "live":
            return self._loaded.beneath.sources.get(setting.key, "default")
        return self._loaded.source(setting.key)

    def held(self, setting: Setting) -> object:
        """Returns what the database holds of a setting of the server, in use or not, or None."""
        return self._saved.get(setting.key, self._set_aside.get(setting.key))

    def source_of_engine(self, engine: str, setting: Setting) -> Source:
        """Returns the layer that the value of an engine's own setting came from."""
        if engine_key(engine, setting) in self._saved:
            return "database"
        declared = self._engines[engine]
        is_given = getattr(declared.entry, setting.attribute) is not None
        return declared.origin if is_given else "default"

    def beneath(self, setting: Setting) -> object:
        """Returns the value of a setting of the server once the database holds none."""
        return setting.of(self._loaded.beneath.settings)

    def watch(self, notify: Callable[[], None]) -> None:
        """Has `notify` called after each change that may have moved a live setting."""
        self._watchers.append(notify)

    def declare(self, engine: str, entry: EngineEntry, origin: Origin) -> None:
        """Takes note of an engine that this box has from now on, or whose entry is another now."""
        self._engines[engine] = _Declared(entry, origin)
        self._notify()

    def forget(self, engine: str) -> None:
        """Takes note that an engine is gone, and with it what the database held of its own."""
        self._engines.pop(engine, None)
        for setting in ENGINE_SETTINGS.values():
            self._saved.pop(engine_key(engine, setting), None)
            self._set_aside.pop(engine_key(engine, setting), None)
        self._notify()

    def note_saved(self, changes: Mapping[str, object]) -> None:
        """Takes note of what has been written to the database, and applies what is live.

        Args:
            changes: Checked values by dotted key; None where it was cleared.
        """
        for key, value in changes.items():
            self._set_aside.pop(key, None)
            if value is None:
                self._saved.pop(key, None)
                self._clear_in_entry(key)
            else:
                self._saved[key] = value
        wanted = overlay(self._loaded.beneath.settings, saved_of_server(self._saved))
        live = {
            key: setting.of(wanted)
            for key, setting in SETTINGS.items()
            if setting.applies == "live"
        }
        self._current = overlay(self._current, live)
        self._notify()

    def _clear_in_entry(self, key: str) -> None:
        """Clears an engine's own setting in an entry of the database, as the database has done."""
        setting, engine = find_setting(key) or (None, None)
        declared = self._engines.get(engine) if engine is not None else None
        if setting is None or engine is None or declared is None or declared.origin == "config":
            return
        entry = declared.entry.model_copy(update={setting.attribute: None})
        self._engines[engine] = _Declared(entry, declared.origin)

    def _notify(self) -> None:
        for notify in self._watchers:
            notify()
