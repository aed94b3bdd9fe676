"""What uv and pip are told."""

import re
from pathlib import Path

import pytest
from rhapsode.installs.tools import BUILD_LOCK, Uv, VenvAndPip, find_uv

ROOT = Path(__file__).parents[4]
HOSTS = ("a.example", "b.example")


def test_uv_makes_and_fills_a_virtualenv() -> None:
    uv = Uv("/bin/uv", ())
    create = uv.create(">=3.11,<3.13", Path("/v/tone"))
    assert create == ("/bin/uv", "venv", "--no-project", "--python", ">=3.11,<3.13", "/v/tone")
    install = uv.install(Path("/v/tone"), ("it",))
    assert install == ("/bin/uv", "pip", "install", "--python", "/v/tone/bin/python", "it")


def test_without_uv_the_interpreter_makes_it_and_its_pip_fills_it() -> None:
    tool = VenvAndPip(())
    assert tool.create("/bin/python3", Path("/v/t")) == ("/bin/python3", "-m", "venv", "/v/t")
    install = tool.install(Path("/v/t"), ("it",))
    assert install == ("/v/t/bin/python", "-I", "-m", "pip", "install", "it")


@pytest.mark.contract("10.building.trusted-hosts")
def test_trusted_hosts_are_told_to_both() -> None:
    uv = Uv("/bin/uv", HOSTS)
    told = ("--allow-insecure-host", "a.example", "--allow-insecure-host", "b.example")
    assert set(told) <= set(uv.install(Path("/v"), ()))
    assert set(told) <= set(uv.create("3.12", Path("/v")))  # it may fetch an interpreter
    pip = VenvAndPip(HOSTS).install(Path("/v"), ())
    assert pip[5:] == ("--trusted-host", "a.example", "--trusted-host", "b.example")


def test_uv_is_looked_for_on_the_path_and_then_beside_the_core(tmp_path: Path) -> None:
    on_path, beside = tmp_path / "path", tmp_path / "beside"
    for folder in (on_path, beside):
        folder.mkdir()
    assert find_uv({"PATH": str(on_path)}, beside) is None
    assert find_uv({}, beside) is None
    (beside / "uv").touch(0o755)
    assert find_uv({"PATH": str(on_path)}, beside) == str(beside / "uv")
    (on_path / "uv").touch(0o755)
    assert find_uv({"PATH": str(on_path)}, beside) == str(on_path / "uv")


@pytest.mark.parametrize(
    ("installed", "is_told"),
    [
        ("25.3", True),
        ("26.3", True),
        ("25.2", False),
        ("23.2.1", False),
        ("odd", False),
        ("", False),
    ],
)
def test_a_pip_too_old_for_locked_builds_is_not_told_of_them(
    tmp_path: Path, installed: str, is_told: bool
) -> None:
    metadata = tmp_path / "lib" / "python3.11" / "site-packages" / f"pip-{installed}.dist-info"
    if installed:
        metadata.mkdir(parents=True)
    assert bool(VenvAndPip(()).build_lock(tmp_path)) is is_told


def test_our_packages_are_built_with_what_the_checkout_pins() -> None:
    pinned = blocks(ROOT / "constraints.txt")
    used = blocks(BUILD_LOCK)
    assert "hatchling" in used
    assert used.items() <= pinned.items(), "pin what builds our packages as constraints.txt does"


def blocks(lock: Path) -> dict[str, str]:
    """Returns each pin of a lock with its hashes, by the package's name."""
    found = re.findall(r"^\S.*\n(?:^\s.*\n)*", lock.read_text("utf-8"), flags=re.MULTILINE)
    return {block.partition("==")[0]: block for block in found}
