"""What an engine's entry is refused for when the settings are read, and not when it is used."""

from pathlib import Path
from typing import Any

import pytest
from rhapsode.settings.entry import EngineEntry
from rhapsode.settings.folders import Folders
from rhapsode.settings.layers import Layer, SettingsRefused, merge

FOLDERS = Folders(config=Path("/c"), data=Path("/d"), runtime=Path("/r"), sources=None)

SECRET = "correct-horse"


def refusal(entry: dict[str, Any]) -> str:
    file = Layer("config", {"engines": {"tone": entry}}, "/c/rhapsode.toml")
    with pytest.raises(SettingsRefused) as refused:
        merge([Layer("default", FOLDERS.as_layer(), "default"), file])
    message = str(refused.value)
    assert message.isprintable()  # one line, and nothing that a terminal would obey
    return message


@pytest.mark.parametrize(
    "url",
    [
        "http://a..b:8080",
        f"http://{'a' * 64}:8080",
        "http://.a",
        "http://a b",
        "http://",
        "http://[::1",
        "http://[box]",
        "http://bü..cher",
        f"http://{'ü' * 63}",
        "http://box\0/",
        "http://box:80\n80",
        "http://box:port",
        "http://box:0",
        "ftp://box",
        "box:8080",
        "",
    ],
)
def test_a_url_that_no_connection_can_be_made_to_is_refused(url: str) -> None:
    assert refusal({"url": url}).startswith("/c/rhapsode.toml: engines.tone.url: should be ")


@pytest.mark.parametrize(
    "url",
    [
        "http://box:8080",
        "HTTPS://Box.Example./under/a@path",
        "http://127.0.0.1",
        "http://[::1]:80/",
        "http://[fe80::1%25eth0]:80",
        "http://bücher.example",
        "http://speech_box",
        f"http://{'a' * 63}",
    ],
)
def test_a_url_may_name_any_host_that_the_resolver_can_be_asked_for(url: str) -> None:
    assert EngineEntry(url=url).url == url


@pytest.mark.parametrize(
    "url",
    [
        f"http://user:{SECRET}@box",
        f"http://{SECRET}@box:8080",
        f"http://user:{SECRET}@[::1",
        f"http://box/?token={SECRET}",
        f"http://box#{SECRET}",
        "http://box/?",
        "http://box/#",
    ],
)
def test_what_is_never_sent_is_refused_and_not_repeated(url: str) -> None:
    message = refusal({"url": url})
    assert message.startswith("/c/rhapsode.toml: engines.tone.url: should ")
    assert SECRET not in message


@pytest.mark.parametrize("url", ["http://user@box", "http://box/?token=x"])
def test_whoever_puts_a_token_into_a_url_is_told_where_it_belongs(url: str) -> None:
    assert "a token has a field of its own" in refusal({"url": url})


@pytest.mark.parametrize(
    ("field", "entry"),
    [
        ("venv", {"venv": "/v\0"}),
        ("command", {"command": ["serve", "a\0b"]}),
        ("cwd", {"venv": "/v", "cwd": "/a\0b"}),
        ("cwd", {"venv": "/v", "cwd": "~no-such-user/x"}),
        ("caFile", {"url": "https://box", "caFile": "a\0.pem"}),
        ("token", {"url": "http://box", "token": "a\0b"}),
        ("token", {"url": "http://box", "token": "a\r\nX-Other: b"}),
        ("env.KEY", {"venv": "/v", "env": {"KEY": "a\0b"}}),
        ("env.'KEY\\x00'", {"venv": "/v", "env": {"KEY\0": "a"}}),
        ("env.A=B", {"venv": "/v", "env": {"A=B": "c"}}),
        ("env.", {"venv": "/v", "env": {"": "c"}}),
    ],
)
def test_what_no_process_and_no_header_can_be_given_is_refused(
    field: str, entry: dict[str, Any]
) -> None:
    assert refusal(entry).startswith(f"/c/rhapsode.toml: engines.tone.{field}: ")


def test_a_folder_of_the_server_that_cannot_be_is_refused_too() -> None:
    file = Layer("config", {"workers": {"socketDir": "/s\0"}}, "/c/rhapsode.toml")
    with pytest.raises(SettingsRefused, match=r"workers\.socketDir: should be a path"):
        merge([Layer("default", FOLDERS.as_layer(), "default"), file])
