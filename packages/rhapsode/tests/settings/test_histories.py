"""Whatever is patched in whatever order, the settings are those of three dicts."""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

import anyio
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from rhapsode.settings.caller import Caller
from rhapsode.settings.contents import DatabaseContents
from rhapsode.settings.desk import SettingsDesk
from rhapsode.settings.file import load_settings
from rhapsode.settings.folders import Folders
from rhapsode.settings.live import LiveSettings
from rhapsode.settings.patch import SettingsPatch
from rhapsode.start_checks import start_checks
from rhapsode_contract import RhapsodeError, SettingsDocument, parse_request

ENGINE: Final = "engines.a.b.keepAliveSeconds"
DEFAULTS: Final[Mapping[str, Any]] = {
    "server.port": 8080,
    "log.level": "info",
    "workers.maxRestarts": 5,
    "management.origins": [],
    "residency.keepAliveSeconds": 300,
    "residency.evictionWaitSeconds": 30,
    "update.check": True,
    ENGINE: None,
}
LIVE: Final = {ENGINE, "update.check"} | {key for key in DEFAULTS if key.startswith("residency")}
VALUES: Final = {
    "server.port": st.sampled_from([8080, 8081, 8082]),
    "log.level": st.sampled_from(["info", "warn"]),
    "workers.maxRestarts": st.integers(4, 6),
    "management.origins": st.lists(st.sampled_from(["http://a", "http://b"]), max_size=2),
    "residency.keepAliveSeconds": st.integers(-1, 300),
    "residency.evictionWaitSeconds": st.sampled_from([0, 30, 2.5]),
    "update.check": st.booleans(),
    ENGINE: st.integers(-1, 2),
}
BAD_PARTS: Final[list[Any]] = [{"sever": {}}, {"log": {"level": 1}}, {"engines": {"c": {}}}]
RESTART: Final = "restart"

some_values = st.fixed_dictionaries({}, optional=VALUES)
some_changes = st.fixed_dictionaries(
    {}, optional={key: st.none() | values for key, values in VALUES.items()}
)
refused_changes = st.tuples(some_changes, st.sampled_from(BAD_PARTS))
steps: st.SearchStrategy[Any] = st.one_of(
    some_changes, some_changes, st.just(RESTART), refused_changes
)


def parts_of(key: str) -> list[str]:
    return ["engines", "a.b", "keepAliveSeconds"] if key == ENGINE else key.split(".")


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns values by dotted key as a file, or a patch, spells them."""
    document: dict[str, Any] = {}
    for key, value in values.items():
        table = document
        *sections, name = parts_of(key)
        for section in sections:
            table = table.setdefault(section, {})
        table[name] = value
    return document


class Model:
    """The three layers, and what was in use at the start."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = config
        self.saved: dict[str, Any] = {}
        self.restart()

    def restart(self) -> None:
        self.at_start = {key: self.layered(key) for key in DEFAULTS}

    def layered(self, key: str) -> tuple[Any, str]:
        if key in self.saved:
            return self.saved[key], "database"
        if key in self.config:
            return self.config[key], "config"
        return DEFAULTS[key], "default"

    def patch(self, changes: Mapping[str, Any]) -> None:
        self.saved |= changes
        self.saved = {key: value for key, value in self.saved.items() if value is not None}

    def expected(self, key: str) -> tuple[Any, str, Any]:
        """Returns the value in use, whence it came, and what waits."""
        in_use, source = self.layered(key) if key in LIVE else self.at_start[key]
        saved = self.saved.get(key)
        if saved is not None and saved == in_use:
            return in_use, "database", None
        return in_use, source, saved


class Box:
    """A core as far as its settings go, with a dict for a database."""

    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        document = nested(config)
        document.setdefault("engines", {}).setdefault("a.b", {})["venv"] = "/v"
        self._file = folder / "rhapsode.config.json"
        self._file.write_text(json.dumps(document), encoding="utf-8")
        self._folders = Folders(folder, folder, folder, None)
        self.store: dict[str, Any] = {}
        self.restart()

    def restart(self) -> None:
        contents = DatabaseContents(Path("rhapsode.db"), {}, self.store)
        live = LiveSettings(load_settings(self._file, self._folders, contents))
        self.desk = SettingsDesk(live, self, start_checks)

    def write_settings(self, changes: Mapping[str, Any]) -> None:
        written: dict[str, Any] = json.loads(json.dumps({**self.store, **changes}))
        self.store = {key: value for key, value in written.items() if value is not None}

    async def patch(self, body: Any) -> SettingsDocument:
        patch = parse_request(SettingsPatch, json.dumps(body))
        return await self.desk.change(patch, Caller(is_local=True))


def shown(document: SettingsDocument, key: str) -> tuple[Any, str, Any]:
    value: Any = document.values
    for part in parts_of(key):
        value = value.get(part)
    (field,) = [one for one in document.fields if one.key == key]
    return value, field.source, field.saved


async def live_through(box: Box, model: Model, history: list[Any]) -> None:
    for step in history:
        if step == RESTART:
            box.restart()
            model.restart()
        elif isinstance(step, tuple):
            changes, bad_part = cast("tuple[dict[str, Any], dict[str, Any]]", step)
            before = box.desk.document()
            with pytest.raises(RhapsodeError):
                await box.patch({**nested(changes), **bad_part})
            assert box.desk.document() == before
        else:
            answered = await box.patch(nested(step))
            model.patch(step)
            assert answered == box.desk.document()
        document = box.desk.document()
        for key in DEFAULTS:
            assert shown(document, key) == model.expected(key), key
        assert box.store == model.saved


@pytest.mark.contract("10.settings.layers", "10.settings.waiting", "10.settings.atomic")
@hypothesis_settings(max_examples=60, deadline=None)
@given(config=some_values, history=st.lists(steps, max_size=8))
def test_any_sequence_of_patches_and_restarts_is_that_of_three_dicts(
    config: dict[str, Any], history: list[Any]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(live_through, Box(Path(folder), config), Model(config), history)
