"""The settings that a core starts with, and where each came from."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final, Literal, Self

from rhapsode.settings.contents import DatabaseContents
from rhapsode.settings.layers import MergedSettings, SettingsRefused, Source
from rhapsode.settings.model import Settings
from rhapsode.settings.setting import Setting, find_setting, overlay
from rhapsode.settings.start_refused import StartRefused

logger = logging.getLogger(__name__)

_WAY_OUT: Final = "; rhapsode serve --ignore-saved starts without what is saved"

Origin = Literal["config", "database"]
"""Who wrote an engine's entry: its operator, or an install."""


@dataclass(frozen=True)
class LoadedSettings:
    """What the layers say when a core starts."""

    beneath: MergedSettings
    """What the defaults and the config file say, with all engines."""

    base: Path
    """What relative paths are relative to."""

    origins: Mapping[str, Origin] = field(default_factory=dict[str, Origin])
    """Of each engine's entry."""

    saved: Mapping[str, object] = field(default_factory=dict[str, object])
    """Checked values from the database, by dotted key, those of engines too."""

    set_aside: Mapping[str, object] = field(default_factory=dict[str, object])
    """The same, where this core is not to use them."""

    places: Mapping[Source, Path] = field(default_factory=dict[Source, Path])
    """The files of the layers that have one."""

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Returns settings made in Python, for a core without a file."""
        origins: dict[str, Origin] = dict.fromkeys(settings.engines, "config")
        return cls(MergedSettings(settings, {}), Path.cwd(), origins)

    @cached_property
    def settings(self) -> Settings:
        """Those in force. An engine's own of the database are not in its entry."""
        return overlay(self.beneath.settings, saved_of_server(self.saved))

    def source(self, key: str) -> Source:
        """Returns the layer that a setting of the server came from."""
        return "database" if key in self.saved else self.beneath.sources.get(key, "default")

    def refusal(self, refused: StartRefused) -> SettingsRefused:
        """Returns what stopped a start with where each value came from, and the way out of it."""
        came: dict[Path, list[str]] = {}
        for key in refused.keys:
            place = self.places.get(self.source(key))
            if place is not None:
                came.setdefault(place, []).append(key)
        whence = ", ".join(f"{' and '.join(keys)} from {place}" for place, keys in came.items())
        way_out = _WAY_OUT if any(key in self.saved for key in refused.keys) else ""
        return SettingsRefused(f"{refused}{f' ({whence})' if whence else ''}{way_out}")


def saved_of_server(saved: Mapping[str, object]) -> dict[str, object]:
    """Returns the settings that are no engine's own."""
    located = ((key, find_setting(key)) for key in saved)
    return {key: saved[key] for key, found in located if found is not None and found[1] is None}


def read_saved(contents: DatabaseContents, base: Path) -> dict[str, object]:
    """Returns the settings of the database as checked values. One that there is not is left out:
    a newer core knew it.

    Raises:
        SettingsRefused: A value is not allowed.
    """
    saved: dict[str, object] = {}
    for key, setting, value in _known_in(contents):
        try:
            saved[key] = setting.read(value, base)
        except ValueError as error:
            raise SettingsRefused(f"{contents.path}: {key}: {error}{_WAY_OUT}") from None
    return saved


def read_set_aside(contents: DatabaseContents, base: Path) -> dict[str, object]:
    """Returns the same where nothing of it is to be used: a value that is not allowed is left out,
    too.
    """
    held: dict[str, object] = {}
    for key, setting, value in _known_in(contents):
        with suppress(ValueError):
            held[key] = setting.read(value, base)
    return held


def _known_in(contents: DatabaseContents) -> Iterator[tuple[str, Setting, object]]:
    for key, value in contents.settings.items():
        found = find_setting(key)
        if found is None:
            logger.warning("%s: %r is no setting, and is ignored", contents.path, key)
        else:
            yield key, found[0], value
