"""The version of the SDK in an engine's virtualenv (contract § 9)."""

import sys
from pathlib import Path

import pytest
from rhapsode.version import VERSION
from rhapsode.workers.installed import is_outdated, worker_version_in


def _venv(folder: Path, **metadata: str) -> Path:
    """Makes as much of a virtualenv as is looked at; names have `_` where a version has `.`."""
    site = folder / "lib" / "python3.12" / "site-packages"
    site.mkdir(parents=True)
    for name, text in metadata.items():
        (info := site / f"{name}.dist-info").mkdir()
        (info / "METADATA").write_text(text)
    return folder


def _metadata(version: str) -> str:
    return f"Metadata-Version: 2.4\nName: rhapsode-worker\nVersion: {version}\n"


@pytest.mark.contract("9.versions.worker-version")
def test_the_version_is_read_from_the_virtualenv(tmp_path: Path) -> None:
    assert worker_version_in(_venv(tmp_path, rhapsode_worker=_metadata("0.0.9"))) == "0.0.9"


def test_the_virtualenv_that_runs_this_has_the_version_of_this_core() -> None:
    assert worker_version_in(Path(sys.prefix)) == VERSION


@pytest.mark.contract("9.versions.worker-version-absent")
def test_what_nobody_can_say_is_absent(tmp_path: Path) -> None:
    assert worker_version_in(tmp_path / "nowhere") is None
    assert worker_version_in(_venv(tmp_path / "a")) is None
    assert worker_version_in(_venv(tmp_path / "b", rhapsode_worker="")) is None
    assert (
        worker_version_in(_venv(tmp_path / "c", rhapsode_worker="Name: rhapsode-worker\n")) is None
    )
    two = {"rhapsode_worker_1": _metadata("1.0"), "rhapsode_worker_2": _metadata("2.0")}
    assert worker_version_in(_venv(tmp_path / "d", **two)) is None


@pytest.mark.contract("9.versions.outdated")
@pytest.mark.parametrize(
    ("version", "outdated"), [(VERSION, False), ("0.0.1", True), ("99.0.0", True), (None, None)]
)
def test_outdated_is_a_version_that_differs(version: str | None, outdated: bool | None) -> None:
    assert is_outdated(version) is outdated
