"""What is installed from a folder of packages."""

from pathlib import Path

import pytest
from rhapsode.installs.sources import find_sources
from rhapsode_contract import Internal

PACKAGES = Path(__file__).parents[3]


def write(folder: Path, name: str, *needs: str) -> None:
    """Writes a package's metadata."""
    (folder / name).mkdir()
    listed = ", ".join(f'"{need}"' for need in needs)
    text = f'[project]\nname = "{name}"\ndependencies = [{listed}]\n'
    (folder / name / "pyproject.toml").write_text(text, encoding="utf-8")


def test_a_package_brings_those_of_ours_that_it_needs(tmp_path: Path) -> None:
    write(tmp_path, "engine", "worker==0.1.0", "numpy>=1.26", "espeak ; sys_platform == 'linux'")
    write(tmp_path, "worker", "http>=1,<2", "contract[all]")
    write(tmp_path, "http", "contract")
    write(tmp_path, "contract", "engine")  # a ring ends
    write(tmp_path, "other")
    sources = find_sources("engine", tmp_path)
    assert sources is not None
    assert sources.folders[0] == tmp_path / "engine"
    assert sorted(sources.packages) == ["contract", "engine", "http", "worker"]
    assert sources.lock is None


@pytest.mark.contract("10.building.sources")
def test_an_engine_of_this_checkout_brings_the_sdk_and_what_it_stands_on() -> None:
    sources = find_sources("rhapsode-engine-kokoro-espeak", PACKAGES)
    assert sources is not None
    assert sorted(sources.packages) == [
        "rhapsode-contract",
        "rhapsode-engine-kokoro",
        "rhapsode-engine-kokoro-espeak",
        "rhapsode-http",
        "rhapsode-worker",
    ]
    assert sources.lock == PACKAGES / "rhapsode-engine-kokoro-espeak" / "constraints.txt"


def test_what_is_not_in_the_folder_is_not_installed_from_there(tmp_path: Path) -> None:
    assert find_sources("engine", None) is None
    assert find_sources("engine", tmp_path) is None
    assert find_sources("engine", tmp_path / "nowhere") is None


def test_a_folder_without_metadata_is_still_where_it_is_installed_from(tmp_path: Path) -> None:
    (tmp_path / "engine").mkdir()
    sources = find_sources("engine", tmp_path)
    assert sources is not None
    assert sources.folders == (tmp_path / "engine",)


@pytest.mark.parametrize("metadata", [b"[project", b"\xff"])
def test_metadata_that_cannot_be_read_is_named(tmp_path: Path, metadata: bytes) -> None:
    write(tmp_path, "engine")
    (tmp_path / "engine" / "pyproject.toml").write_bytes(metadata)
    with pytest.raises(Internal, match=r"engine/pyproject\.toml"):
        find_sources("engine", tmp_path)
