"""Layers of settings, and what is allowed in them."""

from pathlib import Path
from typing import Any

import pytest
from rhapsode.settings.entry import EngineEntry
from rhapsode.settings.field import applies
from rhapsode.settings.folders import Folders
from rhapsode.settings.layers import Layer, MergedSettings, SettingsRefused, merge
from rhapsode.settings.model import (
    InstallSettings,
    LogSettings,
    ManagementSettings,
    ResidencySettings,
    ServerSettings,
    UpdateSettings,
    WorkerSettings,
)

FOLDERS = Folders(
    config=Path("/c"), data=Path("/d"), runtime=Path("/r"), sources=Path("/src/packages")
)
DEFAULT = Layer("default", FOLDERS.as_layer(), "default")


def loaded(config: dict[str, Any], database: dict[str, Any] | None = None) -> MergedSettings:
    layers = [DEFAULT, Layer("config", config, "/c/rhapsode.toml")]
    if database is not None:
        layers.append(Layer("database", database, "rhapsode.db"))
    return merge(layers)


def refusal(config: dict[str, Any]) -> str:
    with pytest.raises(SettingsRefused) as refused:
        loaded(config)
    return str(refused.value)


def test_the_defaults_are_those_of_the_contract() -> None:
    settings = merge([DEFAULT]).settings
    document = settings.model_dump(mode="json", by_alias=True)
    assert document["server"] == {"host": "::", "port": 8080, "shutdownGraceMs": 20000}
    assert document["log"] == {"level": "info"}
    assert document["residency"] == {
        "maxResidentModels": 1,
        "evictionWaitSeconds": 30,
        "keepAliveSeconds": 300,
    }
    assert document["workers"] == {
        "socketDir": "/r",
        "voiceDir": "/d/voices",
        "startupTimeoutSeconds": 60,
        "drainGraceMs": 10000,
        "maxRestarts": 5,
        "restartDecaySeconds": 300,
    }
    assert document["install"]["venvDir"] == "/d/venvs"
    assert document["install"]["sourceDir"] == "/src/packages"
    assert document["management"] == {"token": None, "origins": []}
    assert document["update"] == {"check": True}
    assert document["engines"] == {}


def test_each_layer_wins_over_the_one_before_and_is_remembered() -> None:
    result = loaded(
        {"server": {"port": 81, "host": "::1"}, "residency": {"keepAliveSeconds": 5}},
        {"server": {"port": 82}},
    )
    assert (result.settings.server.port, result.settings.server.host) == (82, "::1")
    assert result.sources["server.port"] == "database"
    assert result.sources["server.host"] == "config"
    assert result.sources["workers.socketDir"] == "default"
    assert "server.shutdownGraceMs" not in result.sources


def test_a_list_replaces_the_one_below_it() -> None:
    result = loaded(
        {"management": {"origins": ["http://a"]}}, {"management": {"origins": ["http://b"]}}
    )
    assert result.settings.management.origins == ("http://b",)


def test_a_number_may_be_written_as_a_string_but_not_as_a_boolean() -> None:
    assert loaded({"server": {"port": "8081"}}).settings.server.port == 8081
    assert "server.port" in refusal({"server": {"port": True}})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("server.port", 65536),
        ("server.port", -1),
        ("server.host", "http://x"),
        ("server.shutdownGraceMs", -1),
        ("log.level", "loud"),
        ("residency.maxResidentModels", 0),
        ("residency.evictionWaitSeconds", -0.1),
        ("residency.keepAliveSeconds", -2),
        ("residency.keepAliveSeconds", 1.5),
        ("workers.startupTimeoutSeconds", 0),
        ("workers.drainGraceMs", -1),
        ("workers.maxRestarts", -1),
        ("workers.restartDecaySeconds", float("inf")),
        ("management.origins", ["*"]),
        ("update.check", "perhaps"),
        ("update.chekc", True),
        ("sever", {}),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_with_its_file_and_key(key: str, value: Any) -> None:
    config: Any = value
    for part in reversed(key.split(".")):
        config = {part: config}
    message = refusal(config)
    assert message.startswith(f"/c/rhapsode.toml: {key}")
    assert "\n" not in message


def test_the_limits_themselves_are_allowed() -> None:
    settings = loaded(
        {
            "server": {"port": 65535, "shutdownGraceMs": 0},
            "residency": {"evictionWaitSeconds": 0, "keepAliveSeconds": -1},
            "workers": {"maxRestarts": 0},
        }
    ).settings
    assert settings.residency.keep_alive_seconds == -1


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://Speech.Example", "https://speech.example"),
        ("http://10.0.0.2:5173", "http://10.0.0.2:5173"),
        ("http://[::1]:80", "http://[::1]"),
        ("https://a.example:443", "https://a.example"),
    ],
)
def test_an_origin_is_kept_as_a_browser_would_send_it(text: str, origin: str) -> None:
    assert loaded({"management": {"origins": [text]}}).settings.management.origins == (origin,)


@pytest.mark.parametrize(
    "text",
    [
        *("ftp://a", "https://a/", "https://a/b", "https://a?q", "https://u@a", "https://a:0"),
        *("https://a:99999", "https://", "a.example", "null", "https://a b", "https://a:"),
    ],
)
def test_what_is_no_origin_is_refused(text: str) -> None:
    assert "management.origins.0" in refusal({"management": {"origins": [text]}})


@pytest.mark.parametrize("engine", ["tone", "a.b", "A_1-x:y", "9", "x" * 64])
def test_an_engine_id_may_be(engine: str) -> None:
    assert engine in loaded({"engines": {engine: {"venv": "/v"}}}).settings.engines


@pytest.mark.parametrize("engine", ["", "-a", ".a", "a/b", "a b", "ä", "x" * 65])
def test_an_engine_id_may_not_be(engine: str) -> None:
    assert "engine id" in refusal({"engines": {engine: {"venv": "/v"}}})


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"venv": "/v", "url": "http://x"},
        {"command": []},
        {"command": "serve"},
        {"command": [""]},
        {"module": "m"},
        {"command": ["x"], "module": "m"},
        {"venv": "/v", "module": "a-b"},
        {"url": "unix:/x"},
        {"url": "http://box:99999"},
        {"url": "http://box:0"},
        {"venv": "/v", "deadlines": {"stallSeconds": 0}},
        {"venv": "/v", "deadlines": {"loadsSeconds": 1}},
        {"venv": "/v", "keepAliveSeconds": -2},
        {"venv": "/v", "pull": True},
    ],
)
def test_an_entry_that_makes_no_sense_is_refused_naming_the_engine(entry: dict[str, Any]) -> None:
    assert "engines.tone" in refusal({"engines": {"tone": entry}})


@pytest.mark.parametrize("command", [[], "serve", [""], [7], {}])
def test_a_command_that_is_none_is_told_what_a_command_is(command: object) -> None:
    message = refusal({"engines": {"tone": {"command": command}}})
    assert "engines.tone.command: should be a list of words" in message


def test_a_secret_is_in_no_message_and_in_no_repr() -> None:
    secret = "correct horse"
    message = refusal(
        {"engines": {"e": {"venv": "/v", "token": [secret], "env": {"KEY": [secret]}}}}
    )
    assert secret not in message
    settings = loaded(
        {
            "management": {"token": secret},
            "engines": {"e": {"venv": "/v", "token": secret}},
        }
    ).settings
    assert secret not in repr(settings)


def test_every_setting_says_when_a_change_applies() -> None:
    sections = (ServerSettings, LogSettings, ResidencySettings, WorkerSettings, InstallSettings)
    live = {
        field
        for section in (*sections, ManagementSettings, UpdateSettings)
        for field, info in section.model_fields.items()
        if applies(info) == "live"
    }
    assert live == {
        "max_resident_models",
        "eviction_wait_seconds",
        "keep_alive_seconds",
        "check",
    }
    assert applies(EngineEntry.model_fields["keep_alive_seconds"]) == "live"


def test_settings_cannot_be_changed_in_place() -> None:
    settings = merge([DEFAULT]).settings
    with pytest.raises(ValueError, match="frozen"):
        settings.server.port = 1  # pyright: ignore[reportAttributeAccessIssue]
