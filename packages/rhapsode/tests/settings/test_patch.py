"""What a change to settings may hold."""

import json
from pathlib import Path
from typing import Any

import pytest
from rhapsode.settings.patch import SettingsPatch, read_patch
from rhapsode_contract import BadRequest, UnknownEngine, parse_request


def read(body: Any) -> dict[str, object]:
    patch = parse_request(SettingsPatch, json.dumps(body))
    return read_patch(patch, ("tone", "a.b"), Path("/base"))


def refusal(body: Any) -> str:
    with pytest.raises(BadRequest) as refused:
        read(body)
    return refused.value.message


def test_a_patch_becomes_checked_values_by_dotted_key() -> None:
    assert read(
        {
            "server": {"port": "8080", "host": None},
            "workers": {"voiceDir": "v"},
            "engines": {"a.b": {"keepAliveSeconds": 7.0}, "tone": {}},
        }
    ) == {
        "server.port": 8080,
        "server.host": None,
        "workers.voiceDir": Path("/base/v"),
        "engines.a.b.keepAliveSeconds": 7,
    }


def test_what_is_refused_is_shown_unless_it_is_secret_or_long() -> None:
    assert refusal({"log": {"level": "loud"}}).endswith("not 'loud'")
    assert len(refusal({"log": {"level": "loud" * 9999}})) < 300
    assert len(refusal({"server": {"x" * 9999: 1}})) < 1000
    assert "hush" not in refusal({"management": {"token": ["hush"]}})


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"management": {"origins": "https://a"}}, "should be a list, not 'https://a'"),
        ({"management": {"origins": [None]}}, "should be a valid string, not null"),
        ({"residency": {"evictionWaitSeconds": True}}, "not true"),
        ({"server": {"port": False}}, "not false"),
        ({"server": 7}, "server: should be an object, not 7"),
        ({"engines": {"tone": True}}, "engines.tone: should be an object, not true"),
    ],
)
def test_what_is_refused_is_told_in_the_words_of_json(body: Any, said: str) -> None:
    assert refusal(body).endswith(said)


@pytest.mark.parametrize("token", ["a b", "ü", "x" * 4096, ""])
def test_a_token_may_be_whatever_a_header_carries(token: str) -> None:
    assert read({"management": {"token": token}})


def test_an_engine_that_is_not_here_is_unknown() -> None:
    for values in ({}, {"keepAliveSeconds": 1}, {"keepAliveSecs": 1}):
        with pytest.raises(UnknownEngine, match="tone, a.b"):
            read({"engines": {"piper": values}})


@pytest.mark.contract("10.settings.ranges")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("server.port", 0),
        ("server.port", 65536),
        ("server.port", -1),
        ("server.port", 80.5),
        ("server.port", True),
        ("server.port", "http"),
        ("server.host", ""),
        ("server.host", 7),
        ("server.shutdownGraceMs", -1),
        ("server.shutdownGraceMs", 10**400),
        ("log.level", "loud"),
        ("residency.maxResidentModels", 0),
        ("residency.maxResidentModels", {}),
        ("residency.evictionWaitSeconds", -0.1),
        ("residency.evictionWaitSeconds", 1e300),
        ("residency.keepAliveSeconds", -2),
        ("residency.keepAliveSeconds", []),
        ("workers.drainGraceMs", -1),
        ("workers.startupTimeoutSeconds", -1),
        ("workers.startupTimeoutSeconds", 1e-320),
        ("workers.maxRestarts", -1),
        ("workers.restartDecaySeconds", -1),
        ("workers.voiceDir", ""),
        ("workers.voiceDir", "a\0b"),
        ("workers.socketDir", 7),
        ("install.python", ""),
        ("install.python", "-c"),
        ("install.venvDir", "~nobody-of-this-name/v"),
        ("management.origins", "https://a"),
        ("management.origins", ["*"]),
        ("management.origins", ["https://a/b"]),
        ("management.origins", ["ftp://a"]),
        ("management.origins", [None]),
        ("update.check", "perhaps"),
        ("update.check", 2),
        ("engines.tone.keepAliveSeconds", -2),
        ("engines.tone.keepAliveSeconds", True),
    ],
)
def test_a_value_out_of_range_is_refused_naming_the_setting(key: str, value: Any) -> None:
    body: Any = value
    for part in reversed(key.split(".")):
        body = {part: body}
    message = refusal(body)
    assert message.startswith(f"{key}: ")
    assert "\n" not in message and len(message) < 300


@pytest.mark.contract("10.settings.unknown-key")
@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"sever": {"port": 1}}, "sever"),
        ({"server": {"prot": 1}}, "server.prot"),
        ({"server": {"prot": None}}, "server.prot"),
        ({"server": {"shutdown_grace_ms": 1}}, "server.shutdown_grace_ms"),
        ({"server": {"": 1}}, "server."),
        ({"server": {"\x1b[2J": 1}}, r"server.'\x1b[2J'"),
        ({"server.port": 1}, "server.port"),
        ({"server": None}, "server"),
        ({"server": 7}, "server"),
        ({"engines": {"tone": None}}, "engines.tone"),
        ({"engines": {"tone": {"venv": "/v"}}}, "engines.tone.venv"),
        ({"engines": {"tone": {"disabled": True}}}, "engines.tone.disabled"),
    ],
)
def test_what_is_no_setting_is_refused(body: dict[str, Any], named: str) -> None:
    assert refusal({"residency": {"keepAliveSeconds": 1}, **body}).startswith(f"{named}: ")
