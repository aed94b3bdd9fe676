"""The settings that a core starts with, and where each came from."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, Self

from rhapsode.settings.contents import DatabaseContents
from rhapsode.settings.layers import MergedSettings, SettingsRefused, Source
from rhapsode.settings.model import Settings
from rhapsode.settings.setting import find_setting, overlay

logger = logging.getLogger(__name__)

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
    for key, value in contents.settings.items():
        found = find_setting(key)
        if found is None:
            logger.warning("%s: %r is no setting, and is ignored", contents.path, key)
            continue
        try:
            saved[key] = found[0].read(value, base)
        except ValueError as error:
            raise SettingsRefused(f"{contents.path}: {key}: {error}") from None
    return saved
