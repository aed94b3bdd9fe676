"""The first line of a server, and the command around it."""

import subprocess
import sys
from pathlib import Path

from rhapsode.cli.serve import greeting
from rhapsode.version import VERSION
from rhapsode_http import BoundSockets, TcpAddress


def said(host: str, engines: tuple[str, ...] = (), config: Path | None = None) -> str:
    return greeting(BoundSockets(TcpAddress(host, 8080), ()), engines, config)


def test_the_first_line_gives_an_address_that_can_be_followed() -> None:
    assert "http://localhost:8080, on every interface" in said("::")
    assert "http://localhost:8080, on every interface" in said("0.0.0.0")
    assert "http://[::1]:8080 (" in said("::1")


def test_the_first_line_names_the_engines_and_the_config() -> None:
    line = said("::1", ("tone", "hibari"), Path("/c/rhapsode.toml"))
    assert "tone, hibari" in line
    assert "/c/rhapsode.toml" in line
    assert VERSION in line
    assert "no engines yet" in said("::1")
    assert "no config file" in said("::1")


def test_the_module_is_the_command() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "rhapsode", "--version"],
        capture_output=True,
        check=True,
        text=True,
        timeout=30,
    )
    assert shown.stdout == f"rhapsode {VERSION}\n"
