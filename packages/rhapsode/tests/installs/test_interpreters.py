"""Which Python a virtualenv is made with."""

import sys
from pathlib import Path
from platform import python_version

import anyio
import pytest
from rhapsode.installs.interpreters import ask_version, find_interpreter, is_inside
from rhapsode_contract import Internal


@pytest.mark.parametrize(
    ("version", "python", "inside"),
    [
        ("3.11.0", ">=3.11,<3.14", True),
        ("3.13.9", ">=3.11,<3.14", True),
        ("3.14.0", ">=3.11,<3.14", False),
        ("3.10.13", ">=3.11", False),
        ("3.9.1", ">=3.11", False),
        ("3.12.4", "==3.12.*", True),
        ("nonsense", ">=3.11", False),
        ("3.12.4", "nonsense", False),
    ],
)
def test_a_version_is_in_a_range_or_not(version: str, python: str, inside: bool) -> None:
    assert is_inside(version, python) is inside


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A `PATH` with a few programs."""
    for name in ("python3.12", "python3", "pypy3"):
        program = tmp_path / name
        program.touch()
        program.chmod(0o755)
    return str(tmp_path)


@pytest.mark.contract("10.building.interpreter-setting")
@pytest.mark.parametrize(
    ("python", "found"),
    [("3.12", "python3.12"), ("3.12.4", "python3.12"), ("3", "python3"), ("pypy3", "pypy3")],
)
def test_a_version_or_a_name_is_looked_for_on_the_path(path: str, python: str, found: str) -> None:
    assert find_interpreter(python, path) == f"{path}/{found}"


def test_a_path_is_taken_as_it_is(path: str) -> None:
    assert find_interpreter("/opt/python", path) == "/opt/python"
    assert find_interpreter("~/python", path) == str(Path.home() / "python")


def test_the_cores_own_interpreter_need_not_be_on_the_path(tmp_path: Path) -> None:
    own = ".".join(python_version().split(".")[:2])
    assert find_interpreter(own, str(tmp_path)) == sys.executable
    assert find_interpreter(python_version(), str(tmp_path)) == sys.executable


@pytest.mark.parametrize("python", ["3.1", "2.7", "no-such-python"])
def test_what_is_nowhere_is_not_found(path: str, python: str) -> None:
    assert find_interpreter(python, path) is None


@pytest.mark.anyio
async def test_an_interpreter_says_its_version(tmp_path: Path) -> None:
    with anyio.fail_after(20):
        said = await ask_version(sys.executable, {}, tmp_path)
    assert said == python_version()


@pytest.mark.anyio
async def test_what_says_no_version_is_no_interpreter(tmp_path: Path) -> None:
    with anyio.fail_after(20), pytest.raises(Internal, match="no version of Python"):
        await ask_version("/bin/echo", {}, tmp_path)
