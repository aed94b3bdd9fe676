"""Addresses as text, and back."""

from pathlib import Path

import pytest
from rhapsode_http import Address, TcpAddress, UnixAddress, is_loopback, parse_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("unix:/run/w/a.sock", UnixAddress(Path("/run/w/a.sock"))),
        ("tcp:127.0.0.1:0", TcpAddress("127.0.0.1", 0)),
        ("tcp:localhost:65535", TcpAddress("localhost", 65535)),
        ("tcp:[::1]:8080", TcpAddress("::1", 8080)),
        ("tcp:[::]:1", TcpAddress("::", 1)),
    ],
)
def test_an_address_is_read_and_written_alike(text: str, address: Address) -> None:
    assert parse_address(text) == address
    assert str(address) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/run/a.sock",
        "http://localhost:1",
        "unix:",
        "unix:a.sock",
        "unix:/a\0b",
        "tcp:",
        "tcp:1",
        "tcp::1",
        "tcp:::1:80",
        "tcp:[::1]",
        "tcp:[localhost]:1",
        "tcp:host:",
        "tcp:host:65536",
        "tcp:host:-1",
        "tcp:host:٣",
        "tcp:a b:1",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="address"):
        parse_address(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("unix:/a", True),
        ("tcp:127.0.0.1:1", True),
        ("tcp:127.8.8.8:1", True),
        ("tcp:[::1]:1", True),
        ("tcp:[::ffff:127.0.0.1]:1", True),
        ("tcp:LocalHost:1", True),
        ("tcp:0.0.0.0:1", False),
        ("tcp:[::]:1", False),
        ("tcp:192.0.2.1:1", False),
        ("tcp:localhost.example.com:1", False),
    ],
)
def test_loopback_is_what_only_this_machine_reaches(text: str, *, expected: bool) -> None:
    assert is_loopback(parse_address(text)) is expected
