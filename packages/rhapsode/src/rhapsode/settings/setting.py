"""Every setting by its dotted key, `server.port`: its values, and when a change to it applies."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, cast

from pydantic import SecretStr, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from rhapsode.settings.entry import EngineEntry
from rhapsode.settings.field import Applies, FileOnly, Live, Section, applies
from rhapsode.settings.layers import reason
from rhapsode.settings.model import Settings

ENGINES: Final = "engines"
"""The section that has the settings of each engine, by its id."""

TOKEN_KEY: Final = "management.token"
ORIGINS_KEY: Final = "management.origins"


@dataclass(frozen=True)
class Setting:
    """One setting. Its values are checked ones, such as paths, or as JSON has them."""

    section: str
    """As it is spelt everywhere; `engines` for one of each engine's own."""

    name: str
    """Within its section, as files and clients spell it."""

    attribute: str
    """The same in Python."""

    field: FieldInfo

    adapter: TypeAdapter[Any]

    @property
    def key(self) -> str:
        """Dotted, and unique for a setting that is not an engine's own."""
        return f"{self.section}.{self.name}"

    @property
    def applies(self) -> Applies:
        """When a change takes effect."""
        return applies(self.field)

    @property
    def is_secret(self) -> bool:
        """Whether no answer and no message may hold its value."""
        return self.key == TOKEN_KEY

    def of(self, settings: Settings) -> object:
        """Returns the value that these settings have."""
        return getattr(getattr(settings, self.section), self.attribute)

    def read(self, value: object, base: Path) -> object:
        """Returns a value that the database holds, or is to hold, as a checked one.

        Args:
            value: One of JSON's own; a number may be a string.
            base: What a relative path is relative to.

        Raises:
            ValueError: It is not allowed; the message says why, with what came.
        """
        try:
            checked: object = self.adapter.validate_python(value)
        except ValidationError as failure:
            raise ValueError(reason(failure, is_secret=self.is_secret)) from None
        for mark in self.field.metadata:
            if isinstance(mark, FileOnly) and checked == mark.value:
                raise ValueError(f"{mark.value} may only stand in the config file")
        return base / checked.expanduser() if isinstance(checked, Path) else checked

    def written(self, value: object) -> Any:
        """Returns a checked value as JSON has it, for the database alone: a secret in clear."""
        if isinstance(value, SecretStr):
            return value.get_secret_value()
        return self.adapter.dump_python(value, mode="json")


def engine_key(engine: str, setting: Setting) -> str:
    """Returns the dotted key of an engine's own setting."""
    return f"{ENGINES}.{engine}.{setting.name}"


def find_setting(key: str) -> tuple[Setting, str | None] | None:
    """Returns the setting that a dotted key names, and the engine whose own it is, or None."""
    if key in SETTINGS:
        return SETTINGS[key], None
    # The id of an engine may have dots in it, the name of a setting has none.
    above, _, name = key.rpartition(".")
    engine = above.removeprefix(f"{ENGINES}.")
    if engine != above and name in ENGINE_SETTINGS:
        return ENGINE_SETTINGS[name], engine
    return None


def overlay(settings: Settings, values: Mapping[str, object]) -> Settings:
    """Returns settings with checked values laid over them, by dotted key."""
    updates: dict[str, dict[str, object]] = {}
    for key, value in values.items():
        setting = SETTINGS[key]
        updates.setdefault(setting.section, {})[setting.attribute] = value
    sections = {
        section: cast("Section", getattr(settings, section)).model_copy(update=update)
        for section, update in updates.items()
    }
    return settings.model_copy(update=sections)


def _settings_of(section: str, model: type[Section]) -> Iterator[Setting]:
    for attribute, field in model.model_fields.items():
        marks = (field.annotation, *field.metadata)
        kind: Any = Annotated[marks] if field.metadata else field.annotation
        yield Setting(section, field.alias or attribute, attribute, field, TypeAdapter(kind))


def _of_the_server() -> Iterator[Setting]:
    for section, field in Settings.model_fields.items():
        if section != ENGINES:
            yield from _settings_of(section, cast("type[Section]", field.annotation))


def _of_an_engine() -> Iterator[Setting]:
    for setting in _settings_of(ENGINES, EngineEntry):
        # The rest of an entry says where the engine is, and is no setting.
        if any(isinstance(mark, Live) for mark in setting.field.metadata):
            yield setting


SETTINGS: Final[Mapping[str, Setting]] = {one.key: one for one in _of_the_server()}
"""Those of the server by their keys, in the order of the model."""

ENGINE_SETTINGS: Final[Mapping[str, Setting]] = {one.name: one for one in _of_an_engine()}
"""Those that each engine has for itself, by name."""
