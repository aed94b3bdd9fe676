"""What can be named on the command line."""

from pathlib import Path

import pytest
from rhapsode_conform.target import NoTarget, parse_target
from rhapsode_http import TcpAddress, UnixAddress


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("unix:/run/a.sock", UnixAddress(Path("/run/a.sock"))),
        ("tcp:127.0.0.1:80", TcpAddress("127.0.0.1", 80)),
        ("http://box:8080", TcpAddress("box", 8080)),
        ("http://box:8080/", TcpAddress("box", 8080)),
        ("http://box", TcpAddress("box", 80)),
        ("http://[::1]:9", TcpAddress("::1", 9)),
    ],
)
def test_an_address_is_read(text: str, address: object) -> None:
    assert parse_target([text], None).address == address


@pytest.mark.parametrize(
    "text", ["box", "https://box", "http://", "http://box:port", "http://box/speak"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(NoTarget, match="http"):
        parse_target([text], None)


@pytest.mark.parametrize("text", ["unix:", "tcp:box"])
def test_an_address_of_one_kind_is_told_what_it_lacks_and_nothing_of_other_kinds(text: str) -> None:
    with pytest.raises(NoTarget, match="needs") as refused:
        parse_target([text], None)
    assert "http" not in str(refused.value)


def test_a_command_is_taken_as_it_stands() -> None:
    target = parse_target([], ["./worker", "--fast"])
    assert target.command == ("./worker", "--fast")
    assert target.engine is None


def test_a_module_of_ours_says_which_engine_it_is() -> None:
    assert parse_target([], ["python", "-m", "rhapsode_engine_tone"]).engine == "tone"


def test_what_is_said_wins() -> None:
    command = ["python", "-m", "rhapsode_engine_tone"]
    assert parse_target([], command, engine="bell").engine == "bell"


@pytest.mark.parametrize(
    ("words", "command"),
    [([], None), (["unix:/a", "unix:/b"], None), ([], []), (["unix:/a"], ["b"])],
)
def test_it_is_one_worker(words: list[str], command: list[str] | None) -> None:
    with pytest.raises(NoTarget):
        parse_target(words, command)
